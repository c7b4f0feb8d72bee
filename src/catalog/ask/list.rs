//! Which list answers a question: the one that it names, or else the one whose reading leaves the least of it over.

use crate::aggregate::GroupOrder;
use crate::amounts::amount_field;
use crate::ask::names::SEARCHED;
use crate::ask::question::QuestionWords;
use crate::ask::{Interpretation, ReadPart};
use crate::{Catalog, Resource};
use data::vocabulary::{Vocabulary, vocabulary};
use data::{Role, Table};

vocabulary! {
    AnswerKind, "kind of answer", {
        List = "list",
        Record = "record",
        Count = "count",
    }
}

/// The lists that answer questions, in the order in which equal readings are preferred.
pub const ASKED: [Resource; 4] = [Resource::Startups, Resource::Firms, Resource::Rounds, Resource::People];

#[derive(Clone, Debug)]
pub struct AskedList {
    pub resource: Resource,
    pub kind: AnswerKind,
    pub interpretation: Interpretation,
    /// Why this list answers.
    pub why: String,
    /// The startups to count by investor, if the question is about the firms that backed them: these have no parameter for
    /// places of startups.
    pub counted: Option<Interpretation>,
    /// True if the question asks for the sum of rounds.
    pub is_sum: bool,
}

/// Cost of a list that another word of the question names.
const OTHER_LIST: u32 = 600;

/// Cost of a reading that sets nothing, or of one that answers a question about firms with other records.
const NOTHING_READ: u32 = 100_000;

/// The part with the name of a record, if the question is about one.
fn record_part(interpretation: &Interpretation) -> Option<&ReadPart> {
    let is_name = |part: &&ReadPart| part.parameter == "slug" || part.parameter == "q" && part.why != SEARCHED;
    interpretation.parts.iter().find(is_name)
}

impl Catalog {
    /// Decides which list answers a question, and reads it for that list: the cheapest reading, except that a word for
    /// records counts for their list.
    pub fn ask(&self, text: &str) -> AskedList {
        let words = QuestionWords::new(self, self.lexicon(), text);
        let named = words.subject();
        // In `investors of Acme`, `investors` alone is no reading of people.
        let are_firms = named.as_ref().is_some_and(|(table, _)| *table == Table::Firms);
        let reads_nothing = |interpretation: &Interpretation| {
            let is_empty = |part: &ReadPart| {
                let is_investor = part.parameter == "role" && part.value == Role::Investor.name();
                part.parameter == "text" || are_firms && is_investor && !interpretation.unread.is_empty()
            };
            interpretation.parts.iter().all(is_empty)
        };
        let mut read = ASKED.map(|resource| (resource, self.interpret_words(resource, &words)));
        // `who invested in the series A of Acme`, `the largest series B in France`, `which country raised the most`
        let (sizes_a_round, states_startups) = (words.sizes_a_round(), words.states_startups());
        let (asks_for_sum, compares_amounts) = (words.asks_for_sum(), words.compares_amounts());
        let is_of_rounds = read.iter().any(|(resource, read)| {
            let has = |names: &[&str]| read.parts.iter().any(|part| names.contains(&part.parameter.as_str()));
            let is_sized = read.parts.iter().any(|part| part.parameter == "sort" && part.value.contains("amount"));
            let is_round = is_sized || has(&["since", "until", "min_amount_usd", "max_amount_usd"]);
            let is_of_stage =
                has(&["stage"]) && (has(&["startup"]) || (named.is_none() && is_round && !states_startups));
            // `co-investors of Acme`, `the most active investors in biotech`
            let names_firms = named.as_ref().is_some_and(|(table, _)| *table == Table::Firms);
            let are_firms = names_firms && read.groups() == Some("investor") && read.conditions() > 1;
            let is_compared = compares_amounts && read.groups().is_some();
            // `startups that raised a series A of more than $10m`
            let is_of_size = sizes_a_round && !names_firms && has(&["min_amount_usd", "max_amount_usd"]);
            // `who invested in Acme in 2014`
            let is_of_startup = names_firms && has(&["startup"]) && has(&["since", "until"]) && read.unread.is_empty();
            let is_counted = are_firms && read.unread.is_empty();
            let is_one = is_of_stage || is_compared || is_of_size || is_of_startup || is_counted;
            *resource == Resource::Rounds && is_one
        });
        let is_of_name = |interpretation: &Interpretation| {
            named.as_ref().is_some_and(|(_, word)| interpretation.parts.iter().any(|part| part.text.contains(word)))
        };
        let cost = |(resource, interpretation): &(Resource, Interpretation)| {
            let is_other = match asks_for_sum {
                _ if is_of_rounds => *resource != Resource::Rounds,
                true => {
                    let is_record = record_part(interpretation).is_some() && interpretation.unread.is_empty();
                    *resource != Resource::Rounds && !is_record
                }
                false => named.as_ref().is_some_and(|(table, _)| *table != resource.table()),
            };
            // Then the costs of what was not understood tell nothing.
            let read = if reads_nothing(interpretation) { NOTHING_READ } else { interpretation.cost };
            // `which investors led more than 20 rounds`: startups are no answer, however well the rest fits them, and rounds
            // are one if they are those of a startup.
            let answers = match resource {
                // `portfolio of Acme Venture Capital`: the word for firms is that of a name.
                Resource::Startups => record_part(interpretation).is_some() || is_of_name(interpretation),
                Resource::Rounds => interpretation.parts.iter().any(|part| part.parameter == "startup"),
                _ => true,
            };
            let is_wrong = is_other && are_firms && !answers;
            read + u32::from(is_other) * OTHER_LIST + u32::from(is_wrong) * NOTHING_READ
        };
        // The first of equal ones.
        read.sort_by_key(cost);
        let is_counted = |(resource, read): &&(Resource, Interpretation)| {
            *resource == Resource::Startups && read.unread.is_empty() && read.groups() == Some("investor")
        };
        let counted = read.iter().find(is_counted).map(|(_, counted)| counted.clone());
        let [(resource, mut interpretation), ..] = read;
        let counted = counted.filter(|_| resource == Resource::Firms && !interpretation.unread.is_empty());
        let plural = resource.table().plural();
        let record = record_part(&interpretation);
        let is_sum = asks_for_sum && resource == Resource::Rounds;
        let why = match (&record, named) {
            (Some(record), _) => format!("`{}` is a name of {plural}", record.text),
            (None, Some((Table::Firms, word))) if resource == Resource::Firms && words.subject_is_venture_capital() => {
                format!("`{word}` names {plural} of any kind; with `kind=vc`, venture capital firms alone")
            }
            (None, Some((Table::Firms, word))) if interpretation.groups() == Some("investor") => {
                format!("`{word}` names firms, which are counted by their {plural}")
            }
            (None, Some((table, word))) if table == resource.table() => format!("`{word}` names {plural}"),
            (None, _) if sizes_a_round && resource == Resource::Rounds => {
                format!("the amount is that of {plural}, which name their startups")
            }
            (None, _) if is_sum => format!("the question asks for a sum of {plural}"),
            (None, _) if reads_nothing(&interpretation) => {
                format!("nothing of the question is understood; its words are searched in descriptions of {plural}")
            }
            (None, _) => format!("read for {plural}, most of the question is understood"),
        };
        let kind = match interpretation.groups() {
            _ if record.is_some_and(|part| part.parameter == "q" || !part.value.contains(',')) => AnswerKind::Record,
            Some(_) => AnswerKind::Count,
            None if asks_for_sum || words.asks_for_count() => AnswerKind::Count,
            None => AnswerKind::List,
        };
        let compares_amounts = compares_amounts
            && amount_field(resource.table()).is_some()
            // What a firm paid is not known.
            && interpretation.groups() != Some("investor");
        interpretation.group_order = compares_amounts.then_some(GroupOrder::SumUsd);
        AskedList { resource, kind, interpretation, why, counted, is_sum }
    }
}
