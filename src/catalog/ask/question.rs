//! The words of a question and what they may mean. Nothing here depends on how the words before were read.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::{Deref, Range};
use std::rc::Rc;

use once_cell::sync::Lazy;

use crate::ask::amount::{QuestionAmount, amount};
use crate::ask::language;
use crate::ask::lexicon::{Lexicon, PhraseMeaning, is_slip};
use crate::ask::order::group_by;
use crate::ask::period::{Period, period};
use crate::ask::sector::startups_of;
use crate::ask::token::{QuestionToken, tokens};
use crate::ask::words::{Phrase, is_in, meaning_of, phrases, phrases_from};
use crate::{Catalog, Resource};
use data::fold::fold;
use data::{Country, Facet, Table};

/// Maximum number of words that are read; the rest is unread.
pub(super) const MAX_WORDS: usize = 64;

/// Maximum number of words of a phrase for kinds of records.
const MAX_RECORD_WORDS: usize = 4;

/// Sections of words that may follow a word for records.
const WITH_RECORDS: [&str; 6] = ["called", "relations", "orders", "invested", "leads", "sizes of rounds"];

/// A number of at least so much is money, also without a currency: `we need 2 million`.
const LEAST_MONEY: Option<u64> = Some(10_000);

/// Tables of records with names.
const NAMED: [Table; 3] = [Table::Firms, Table::Startups, Table::People];

/// Minimum length of a word that may be misspelled.
pub(super) const MIN_MISSPELT: usize = 6;

/// A role that is also a kind of firm.
const INVESTOR: &str = "investor";

static RECORDS: Lazy<BTreeMap<&str, Table>> = Lazy::new(|| {
    let table_named = |name: &str| Table::ALL.into_iter().find(|table| table.name() == name).expect("a table");
    phrases("records").iter().map(|phrase| (phrase.text, table_named(phrase.meaning))).collect()
});

pub(super) fn records_meant(phrase: &str) -> Option<Table> {
    RECORDS.get(phrase).copied()
}

/// The property that a date or an amount refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Founding,
    Raising,
    /// The last round rather than any.
    LastRound,
    Investing,
}

/// The longest phrase of the lexicon that begins at a word: the number of its words and its meanings.
type LongestMeaning<'a> = Option<(usize, &'a [PhraseMeaning])>;

/// The parameter, the slug and the number of words of a name that needs no other word.
pub(super) type OwnName = Option<(&'static str, String, usize)>;

/// The longest name of a record of a table that begins at a word: its slug and the number of its words.
pub(super) type NameAt = Option<(String, usize)>;

/// The words of a question and what begins at each, whatever list it is asked of.
pub(super) struct QuestionWords<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) lexicon: &'a Lexicon,
    pub(super) text: &'a str,
    pub(super) tokens: Vec<QuestionToken>,
    /// The words beyond [`MAX_WORDS`], as they were written.
    pub(super) rest: Option<&'a str>,
    /// True for a noun phrase alone.
    pub(super) is_phrase: bool,
    /// True if it is in another language than English.
    pub(super) is_foreign: bool,
    /// The first word for the investors of startups at a place, and the word behind it: `who backed startups in Boston`.
    pub(super) investors: Option<(usize, usize)>,
    pub(super) memory: Vec<WordMemory<'a>>,
}

/// The values that begin at a word, once they are known.
#[derive(Default)]
pub(super) struct WordMemory<'a> {
    meaning: OnceCell<LongestMeaning<'a>>,
    period: OnceCell<Option<(Period, usize)>>,
    amount: OnceCell<Option<(QuestionAmount, usize)>>,
    /// By table.
    pub(super) names: [OnceCell<NameAt>; Table::ALL.len()],
}

/// A question about the records of a list.
pub(super) struct Question<'a> {
    words: Rc<QuestionWords<'a>>,
    pub(super) table: Table,
    pub(super) resource: Resource,
    pub(super) of_list: Vec<ListMemory>,
}

/// The values that begin at a word and depend on the list, once they are known.
#[derive(Default)]
pub(super) struct ListMemory {
    property: OnceCell<Option<&'static str>>,
    /// Unless, or if, it continues a list of names.
    pub(super) own_names: [OnceCell<OwnName>; 2],
}

impl<'a> Deref for Question<'a> {
    type Target = QuestionWords<'a>;

    fn deref(&self) -> &QuestionWords<'a> {
        &self.words
    }
}

impl<'a> Question<'a> {
    pub(super) fn new(words: Rc<QuestionWords<'a>>, resource: Resource) -> Self {
        let of_list = words.tokens.iter().map(|_| ListMemory::default()).collect();
        Self { words, table: resource.table(), resource, of_list }
    }

    /// The question with other words in place of misspelled ones.
    pub(super) fn corrected(&self, words: Vec<(usize, String)>) -> Self {
        let written = QuestionWords { tokens: self.tokens.clone(), memory: Vec::new(), ..*self.words };
        Self::new(Rc::new(written.corrected(words)), self.resource)
    }

    /// The property of `group_by` that a word names.
    pub(super) fn property_at(&self, at: usize) -> Option<&'static str> {
        *self.of_list.get(at)?.property.get_or_init(|| group_by(self.resource, &self.tokens[at].word))
    }

    pub(super) fn topic_of(&self, token: &QuestionToken) -> Option<Topic> {
        let word = token.word.as_str();
        Some(match meaning_of("topics", word)? {
            "founding" => Topic::Founding,
            "raising" => Topic::Raising,
            // Investing in startups gives them money.
            _ if self.table == Table::Startups && word != "active" => Topic::Raising,
            _ => Topic::Investing,
        })
    }
}

/// True if one letter of a long word is another.
pub(super) fn has_other_letter(word: &str, known: &str) -> bool {
    const MIN_LENGTH: usize = 8;
    let differing = || word.bytes().zip(known.bytes()).filter(|(one, other)| one != other).count();
    word.len() >= MIN_LENGTH
        && word.len() == known.len()
        && word.as_bytes()[0] == known.as_bytes()[0]
        && differing() == 1
}

impl<'a> QuestionWords<'a> {
    pub(super) fn new(catalog: &'a Catalog, lexicon: &'a Lexicon, text: &'a str) -> Rc<Self> {
        let is_name = |word: &str| {
            [Table::Firms, Table::Startups].into_iter().any(|table| !catalog.rows_named(table, word).is_empty())
        };
        let (mut tokens, is_foreign) = language::to_english(tokens(text), lexicon, &is_name);
        let rest = tokens.get(MAX_WORDS).map(|token| text[token.place.start..].trim_end());
        tokens.truncate(MAX_WORDS);
        let (is_phrase, memory) = (false, Vec::new());
        let words = Self { catalog, lexicon, text, tokens, rest, is_phrase, is_foreign, investors: None, memory };
        let correct = |at: usize| words.misspelt_part(at).or_else(|| words.misspelt_kind(at));
        let parts = (0..words.tokens.len()).filter_map(|at| Some((at, correct(at)?))).collect();
        Rc::new(words.corrected(parts))
    }

    /// Replaces misspelled words.
    fn corrected(mut self, corrections: Vec<(usize, String)>) -> Self {
        for (at, word) in corrections {
            self.tokens[at].word = word;
        }
        self.memory = self.tokens.iter().map(|_| WordMemory::default()).collect();
        self.is_phrase = self.is_noun_phrase();
        self.investors = self.find_investors();
        self
    }

    /// Finds the words for [`QuestionWords::investors`]. Firms have no parameter for the places of their startups.
    fn find_investors(&self) -> Option<(usize, usize)> {
        let (_, Range { start, end }) = self.subject_words().filter(|(table, _)| *table == Table::Firms)?;
        let startups = (end..self.tokens.len()).find(|at| self.record_at(*at) == Some(Table::Startups))?;
        let invests = |at: &usize| self.is_investing(*at) || self.is_at(*at, &["portfolio"]);
        // `investors in robotics startups in Boston`
        let verb = (start..startups).find(invests).or_else(|| self.is_at(end, &["in", "of"]).then_some(end))?;
        let is_place = |at: usize| {
            let meanings = self.longest_meaning(at).map_or(&[] as &[_], |(_, meanings)| meanings);
            meanings.iter().any(PhraseMeaning::is_place)
        };
        let is_denied = (end..startups).any(|at| meaning_of("negations", &self.tokens[at].word).is_some());
        (!is_denied && (verb + 1..self.tokens.len()).any(is_place)).then_some((start, end))
    }

    /// True for a verb that states who invests.
    pub(super) fn is_investing(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| meaning_of("topics", &token.word) == Some("investing"))
    }

    /// Table of the first word for records, or of the verb behind `who`, and the words that name it.
    pub(super) fn subject(&self) -> Option<(Table, String)> {
        let (table, range) = self.subject_words()?;
        let name = match self.is_at(0, &["who"]) && range.start == 0 {
            true if range.end > 1 => format!("{} {}", self.tokens[0].raw, self.tokens[range.end - 1].raw),
            _ => self.written(&range),
        };
        Some((table, name))
    }

    /// True for words that people say for firms of any kind, but that also name a kind: `VCs`, `venture funds`.
    pub(super) fn subject_is_venture_capital(&self) -> bool {
        self.subject_words().is_some_and(|(_, mut range)| range.any(|at| self.is_in(at, "venture capital")))
    }

    pub(super) fn subject_words(&self) -> Option<(Table, Range<usize>)> {
        // `who invests in`, `who writes checks of`
        // `who has backed`
        let is_verb = |at: usize| self.is_investing(at) || self.is_in(at, "invested");
        let invests = |who: usize| {
            let at = who + 1 + usize::from(self.is_in(who + 1, "before a verb of firms"));
            is_verb(at).then_some(who..at + 1)
        };
        // `a fashion startup: who can invest?`
        let begins = |at: &usize| self.is_at(*at, &["who"]) && (*at == 0 || self.tokens[*at - 1].ends_clause);
        if let Some(range) = (0..self.tokens.len()).filter(begins).find_map(invests) {
            return Some((Table::Firms, range));
        }
        if let Some(at) = (1..self.tokens.len()).find(|at| self.is_at(0, &["who"]) && self.is_in(*at, "check")) {
            return Some((Table::Firms, 0..at + 1));
        }
        if let Some(sought) = self.sought_investors() {
            return Some((Table::Firms, sought));
        }
        // `who is Jane Doe`
        let is_person = |length: usize| {
            let name = self.phrase_at(2, length).filter(|_| self.tokens.len() == length + 2);
            name.is_some_and(|name| !self.catalog.rows_named(Table::People, &name).is_empty())
        };
        if self.starts(0, &["who", "is"]) && (1..=4).any(is_person) {
            return Some((Table::People, 0..2));
        }
        // `partners at Acme`: people, rather than the record of this name.
        let is_role = |at: usize| {
            let mut roles = self.lexicon.meanings(&self.tokens[at].word).iter();
            roles.any(|meaning| matches!(meaning, PhraseMeaning::Role(role) if *role != INVESTOR))
                && !(at.saturating_sub(2)..=at).any(|from| (2..4).any(|length| self.is_name_of_firm(from, length)))
                && (self.is_in(at + 1, "at") || self.tokens[at].word.ends_with('s') && !self.is_at(at + 1, &["of"]))
        };
        // `accelerators in Berlin`
        let is_kind = |at: usize| {
            let word = self.tokens[at].word.as_str();
            let is_of_firms = |meaning: &PhraseMeaning| matches!(meaning, PhraseMeaning::Kind(_));
            word.ends_with('s') && self.lexicon.meanings(word).iter().any(is_of_firms)
        };
        // `grants for biotech`
        let is_rounds = |at: usize| {
            let word = self.tokens[at].word.as_str();
            word.ends_with('s') && self.is_stage(at, at + 1) && self.lexicon.meanings(word).len() == 1
        };
        let named = |at: usize| {
            // `without rounds`
            let is_excluded = at > 0 && meaning_of("negations", &self.tokens[at - 1].word).is_some();
            let records = self.records_at(at).filter(|(_, length)| !is_excluded && !self.is_qualifier(at, *length));
            let records = records.map(|(table, length)| (table, at..at + length));
            let of_word = |table: Table| (table, at..at + 1);
            let other = || match at {
                _ if is_role(at) => Some(Table::People),
                _ if is_kind(at) => Some(Table::Firms),
                _ => is_rounds(at).then_some(Table::Rounds),
            };
            records.or_else(|| other().map(of_word))
        };
        (0..self.tokens.len()).find_map(named)
    }

    /// The words for investors that a founder looks for: `we are a startup looking for seed investors`, `who should I pitch`.
    fn sought_investors(&self) -> Option<Range<usize>> {
        let is_own = (0..self.tokens.len()).any(|at| self.is_in(at, "founder speaks"));
        let seeks = |at: usize| {
            let end = at + self.find_phrase(at, "seeking")?.words.len();
            let is_money = self.amount_at(end).is_some_and(|(found, _)| found.is_money || found.min >= LEAST_MONEY);
            let investors = (end..end + MAX_RECORD_WORDS).find(|at| self.record_at(*at) == Some(Table::Firms));
            investors.or(is_money.then_some(end)).map(|last| at..last + 1)
        };
        let raises = |at: usize| {
            let phrase = self.find_phrase(at, "seeking money").filter(|_| is_own)?;
            Some(at..at + phrase.words.len())
        };
        (0..self.tokens.len()).find_map(seeks).or_else(|| (0..self.tokens.len()).find_map(raises))
    }

    /// True for the amount that a founder looks for: `we need 2 million`.
    pub(super) fn is_sought(&self, at: usize) -> bool {
        let is_large = self.amount_at(at).is_some_and(|(found, _)| found.is_money || found.min >= LEAST_MONEY);
        is_large && self.sought_investors().is_some()
    }

    /// True if a word for records in the singular qualifies a noun: `round tables`, `fund accounting`.
    fn is_qualifier(&self, at: usize, length: usize) -> bool {
        let (last, next) = (&self.tokens[at + length - 1], at + length);
        let is_noun = |token: &QuestionToken| {
            token.word.len() > 3
                && token.word.bytes().all(|byte| byte.is_ascii_lowercase())
                && !token.is_capitalized()
                && !self.is_understood(&token.word)
                && !self.is_structural(next)
                && !WITH_RECORDS.iter().any(|section| token.is_in(section) || self.find_phrase(next, section).is_some())
        };
        length == 1
            && !last.word.ends_with('s')
            && !last.ends_clause
            && !last.is_possessive
            && (at == 0 || !self.is_in(at - 1, "determiners"))
            && self.tokens.get(next).is_some_and(is_noun)
    }

    pub(super) fn is_name_of_firm(&self, at: usize, length: usize) -> bool {
        let name = self.phrase_at(at, length);
        name.is_some_and(|name| !self.catalog.rows_named(Table::Firms, &name).is_empty())
    }

    /// True for `how many startups`, `number of rounds`.
    pub(super) fn asks_for_count(&self) -> bool {
        let begins = |at: usize| {
            let fits = |words: &[&str]| words.iter().enumerate().all(|(index, word)| self.is_at(at + index, &[*word]));
            // `the highest number of rounds`, `by number of rounds`
            let is_order = self.follows(at, "before a number") || self.starts(at.saturating_sub(2), &["by", "the"]);
            phrases_from("counting", &self.tokens[at].word).any(|phrase| fits(&phrase.words)) && !is_order
                || self.starts(at, &["how", "much"]) && self.counted_records(at + 2)
        };
        (0..self.tokens.len()).any(begins)
    }

    /// True for a figure of records: `the average round`, but not `average joes`.
    pub(super) fn is_measure(&self, at: usize) -> bool {
        !self.is_phrase && self.find_phrase(at, "measures").is_some()
    }

    /// True for `how much did startups raise`, `total raised by startups`: a sum of rounds. What a firm invested is not known.
    pub(super) fn asks_for_sum(&self) -> bool {
        let is_filler = |at: usize| self.tokens[at].is_glue() || self.is_at(at, &["total"]);
        // `how much startups are there` counts them.
        let counts = |at: usize| self.starts(at, &["how", "much"]) && self.counted_records(at + 2);
        let is_sum = |at: &usize| self.find_phrase(*at, "sums").is_some() && !counts(*at);
        let first = (0..self.tokens.len()).find(|at| is_sum(at) || !is_filler(*at));
        let has = |is_one: &dyn Fn(usize) -> bool| (0..self.tokens.len()).any(is_one);
        let is_paid = |at: usize| self.is_investing(at) && !self.is_money(at);
        let is_firm = |at: usize| {
            let is_named = || (1..4).any(|length| self.is_name_of_firm(at, length));
            self.record_at(at) == Some(Table::Firms) || self.tokens[at].is_capitalized() && is_named()
        };
        first.is_some_and(|at| is_sum(&at))
            && has(&|at| {
                self.is_money(at)
                    || self.record_at(at) == Some(Table::Rounds)
                    || self.is_stage(at, at + 2)
                    // `total invested in Portuguese startups`
                    || is_paid(at)
            })
            && !(has(&is_paid) && has(&is_firm))
    }

    /// True for a word for records that are counted, not paid.
    fn counted_records(&self, at: usize) -> bool {
        matches!(self.record_at(at), Some(table) if table != Table::Rounds) && self.tokens[at].word.ends_with('s')
    }

    /// True for a word for what startups raised: `funding`, `money`.
    pub(super) fn is_money(&self, at: usize) -> bool {
        let word = self.tokens.get(at).map_or("", |token| token.word.as_str());
        meaning_of("about a record", word) == Some("startups total_raised_usd")
    }

    /// True for `the most funding`, `raised the most`, but not `the most funding rounds`.
    pub(super) fn compares_amounts(&self) -> bool {
        let is_most = |at: usize| self.is_at(at, &["most"]);
        let is_behind = |at: usize| self.is_money(at + 1) && self.record_at(at + 2).is_none();
        let is_before = |at: usize| {
            let verb = at.wrapping_sub(1 + usize::from(self.is_after(at, &["the"])));
            self.is_money(verb) && self.record_at(at + 1).is_none()
        };
        (0..self.tokens.len()).any(|at| is_most(at) && (is_behind(at) || is_before(at)))
    }

    /// The first word of a range that was corrected, as it was written and as it was read.
    pub(super) fn misspelling(&self, range: &Range<usize>) -> Option<(&str, &str)> {
        let is_letters = |text: &str| text.chars().all(char::is_alphabetic);
        let mut words = self.tokens[range.clone()].iter().map(|token| (token.raw.as_str(), token.word.as_str()));
        words.find(|(raw, word)| is_letters(raw) && is_letters(word) && fold(raw) != *word)
    }

    /// Corrects a misspelled word: one that no record uses, and that differs in a letter: `fitech`.
    pub(super) fn misspelt(&self, at: usize) -> Option<String> {
        let word = self.unknown_word(at)?;
        let signs = ["grammar", "negations", "topics"].into_iter().flat_map(phrases).map(|phrase| phrase.text);
        let nearest = self.lexicon.nearest(word, RECORDS.keys().copied().chain(signs))?;
        let is_country = |meaning: &PhraseMeaning| matches!(meaning, PhraseMeaning::Country(_));
        let is_long = word.len() >= MIN_MISSPELT || self.lexicon.meanings(nearest).iter().any(is_country);
        (is_long && !self.is_known_word(word, nearest)).then(|| nearest.to_owned())
    }

    /// The same for a word for records, which decides what list is meant. One of its letters may be another: `investers`.
    fn misspelt_kind(&self, at: usize) -> Option<String> {
        let word = self.unknown_word(at).filter(|_| !language::is_english(&self.tokens[at]))?;
        let nearest = RECORDS.keys().find(|kind| is_slip(word, kind) || has_other_letter(word, kind))?;
        // Descriptions misspell the most frequent words most often.
        let is_known = if is_slip(word, nearest) { self.is_known_word(word, nearest) } else { self.is_name(word) };
        (!is_known).then(|| (*nearest).to_owned())
    }

    /// The same for a word of a phrase: `angel netwrok`.
    fn misspelt_part(&self, at: usize) -> Option<String> {
        let word = self.unknown_word(at)?;
        let word_at = |at: usize| self.tokens.get(at).map_or("", |token| token.word.as_str());
        let nearest = self.lexicon.nearest_part(word_at(at.wrapping_sub(1)), word, word_at(at + 1), word_at(at + 2))?;
        (!self.is_described(word, nearest)).then(|| nearest.to_owned())
    }

    /// A word without a meaning that is long enough to be misspelled. The name of a country may be shorter: `in Inda`.
    fn unknown_word(&self, at: usize) -> Option<&str> {
        let word = self.tokens[at].word.as_str();
        let is_place = self.tokens[at].is_capitalized() && self.follows(at, "before a city");
        let is_word = word.len() >= if is_place { MIN_MISSPELT - 2 } else { MIN_MISSPELT }
            && word.bytes().all(|byte| byte.is_ascii_lowercase());
        (is_word && !self.is_understood(word)).then_some(word)
    }

    /// True for a word with a meaning, or with none in any question.
    pub(super) fn is_understood(&self, word: &str) -> bool {
        is_in("glue", word) || !self.lexicon.meanings(word).is_empty() || records_meant(word).is_some()
    }

    fn is_name(&self, word: &str) -> bool {
        NAMED.into_iter().any(|table| !self.catalog.rows_named(table, word).is_empty())
    }

    /// True if a record has a word as its name, or descriptions have it.
    fn is_known_word(&self, word: &str, instead: &str) -> bool {
        self.is_name(word) || self.is_described(word, instead)
    }

    /// True if descriptions have a word that often next to the word that it may be: people misspell words there, too. A
    /// country or a sector is as frequent as its startups.
    fn is_described(&self, word: &str, instead: &str) -> bool {
        const TIMES_RARER: u64 = 100;
        let snapshot = self.catalog.snapshot();
        let of_city = |name: &str| {
            let city = snapshot.find_term(Facet::City, name);
            city.map_or(0, |city| u64::from(snapshot.facet_count(Table::Startups, Facet::City, city)))
        };
        let count = |meaning: &PhraseMeaning| match meaning {
            PhraseMeaning::Country(code) => {
                let country = Country::from_alpha2(code).map(|country| country.index() as u32);
                let count = |country| snapshot.facet_count(Table::Startups, Facet::Country, country);
                country.map_or(0, count).into()
            }
            PhraseMeaning::City { names, .. } => names.split(',').map(of_city).sum(),
            PhraseMeaning::Sector(slugs) => {
                slugs.split(',').filter_map(|slug| startups_of(self.catalog, slug)).sum::<u32>().into()
            }
            _ => 0,
        };
        let records = self.lexicon.meanings(instead).iter().map(count).max().unwrap_or_default();
        NAMED.into_iter().filter_map(|table| self.catalog.text_index(table)).any(|index| {
            let count = index.descriptions.word_frequency(word);
            count > 0 && count.saturating_mul(TIMES_RARER) >= index.descriptions.word_frequency(instead).max(records)
        })
    }

    pub(super) fn phrase_at(&self, at: usize, length: usize) -> Option<String> {
        let words = self.tokens.get(at..at + length)?;
        // A sign neither begins nor ends a phrase, and is not a word: `hardware + software`.
        if words.first()?.raw == "+" || words.last()?.raw == "+" {
            return None;
        }
        // Phrases do not extend over commas.
        let is_split = words[..length - 1].iter().any(|token| token.ends_clause);
        let words = words.iter().filter(|token| token.raw != "+");
        let words: Vec<&str> = words.map(|token| token.word.as_str()).collect();
        (!is_split).then(|| words.join(" "))
    }

    pub(super) fn is_at(&self, at: usize, words: &[&str]) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(words))
    }

    pub(super) fn is_after(&self, at: usize, words: &[&str]) -> bool {
        at > 0 && self.is_at(at - 1, words)
    }

    /// True if a section of the words has the word at a place.
    pub(super) fn is_in(&self, at: usize, section: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_in(section))
    }

    /// True if a section of the words has the word before a place.
    pub(super) fn follows(&self, at: usize, section: &str) -> bool {
        at > 0 && self.is_in(at - 1, section)
    }

    pub(super) fn record_at(&self, at: usize) -> Option<Table> {
        self.tokens.get(at).and_then(|token| records_meant(&token.word))
    }

    /// Table of the records that the longest such phrase names, and the number of its words.
    pub(super) fn records_at(&self, at: usize) -> Option<(Table, usize)> {
        (1..=MAX_RECORD_WORDS).rev().find_map(|length| Some((records_meant(&self.phrase_at(at, length)?)?, length)))
    }

    /// True if these words follow in order from `at` on.
    pub(super) fn starts(&self, at: usize, words: &[&str]) -> bool {
        let is_split = |index: usize| index > 0 && self.tokens[at + index - 1].ends_clause;
        words.iter().enumerate().all(|(index, word)| self.is_at(at + index, &[*word]) && !is_split(index))
    }

    /// The first phrase of a section that begins at a word.
    pub(super) fn find_phrase(&self, at: usize, section: &str) -> Option<&'static Phrase> {
        phrases_from(section, &self.tokens.get(at)?.word).find(|phrase| self.starts(at, &phrase.words))
    }

    pub(super) fn written(&self, range: &Range<usize>) -> String {
        let (first, last) = (&self.tokens[range.start].place, &self.tokens[range.end - 1].place);
        self.text[first.start..last.end].to_owned()
    }

    /// The longest phrase of the lexicon that begins at a word.
    pub(super) fn longest_meaning(&self, at: usize) -> LongestMeaning<'a> {
        *self.memory.get(at)?.meaning.get_or_init(|| self.find_longest_meaning(at))
    }

    fn find_longest_meaning(&self, at: usize) -> LongestMeaning<'a> {
        (1..=self.lexicon.longest).rev().find_map(|length| {
            let phrase = self.phrase_at(at, length)?;
            let meanings = self.lexicon.meanings(&phrase);
            // In a sector such as `AI startups`, the last word is the kind of records.
            let names_records = length > 1
                && records_meant(&self.tokens[at + length - 1].word).is_some()
                && meanings.iter().all(|meaning| matches!(meaning, PhraseMeaning::Sector(_)))
                && self.phrase_at(at, length - 1).is_some_and(|phrase| !self.lexicon.meanings(&phrase).is_empty());
            (!meanings.is_empty() && !names_records).then_some((length, meanings))
        })
    }

    pub(super) fn is_hyphenated(&self, at: usize) -> bool {
        let between = |next: &QuestionToken| self.text.get(self.tokens[at].place.end..next.place.start);
        self.tokens.get(at + 1).and_then(between).is_some_and(|between| between == "-")
    }

    pub(super) fn is_stage(&self, from: usize, to: usize) -> bool {
        let phrase = self.phrase_at(from, to - from).unwrap_or_default();
        self.lexicon.meanings(&phrase).iter().any(|meaning| matches!(meaning, PhraseMeaning::Stage(_)))
    }

    pub(super) fn has_meaning(&self, at: usize, length: usize) -> bool {
        self.longest_meaning(at).is_some_and(|(longest, _)| longest >= length)
    }

    /// True if some word of the question is in a section.
    pub(super) fn mentions(&self, section: &str) -> bool {
        self.tokens.iter().any(|token| token.is_in(section))
    }

    pub(super) fn period_at(&self, at: usize) -> Option<(Period, usize)> {
        let today = || self.catalog.snapshot().released_on();
        *self.memory.get(at)?.period.get_or_init(|| period(&self.tokens[at..], today()))
    }

    pub(super) fn amount_at(&self, at: usize) -> Option<(QuestionAmount, usize)> {
        *self.memory.get(at)?.amount.get_or_init(|| amount(&self.tokens[at..]))
    }

    pub(super) fn is_date(&self, at: usize) -> bool {
        self.period_at(at).is_some()
    }
}
