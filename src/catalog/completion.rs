//! Completion of names of all kinds for search boxes: names that equal the text, those that begin with it, those with a
//! later word that does, each by prominence, which is comparable between kinds; if these are few, also similar names.

use std::collections::HashSet;
use std::ops::Range;

use crate::param_error::wrong_term;
use crate::{Catalog, ParameterError, TextIndexes};
use data::fold::fold;
use data::number::counted;
use data::vocabulary::normal;
use data::{Country, Facet, MAX_PROMINENCE, Table};
use platform::pause;
use search::{Completed, Completion, MatchClass, texts, typed_part};

#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    pub table: Table,
    pub row: u32,
    pub matched_by: MatchClass,
    /// The matching alias or initials, if the name does not match.
    pub alias: Option<String>,
    /// The typed part of the name or alias, in characters.
    pub matched: Option<Range<usize>>,
    /// Distinguishes records with the same name: place and size, or title and organization.
    pub note: Option<String>,
    /// From 0 to 1; suggestions are in descending order.
    pub score: f32,
}

impl Suggestion {
    /// Words for kinds of records: those of responses, and `vc` for a firm.
    pub const KINDS: [(&'static str, Table); 5] = [
        ("vc", Table::Firms),
        ("firm", Table::Firms),
        ("startup", Table::Startups),
        ("person", Table::People),
        ("sector", Table::Sectors),
    ];

    /// Parses the parameter `kind`: one or several kinds, separated by commas; all kinds if it is empty.
    pub fn tables(kinds: &str) -> Result<Vec<Table>, ParameterError> {
        let kinds = kinds.split(',').map(normal).filter(|kind| !kind.is_empty());
        let read = |kind: String| match Self::KINDS.iter().find(|(name, _)| *name == kind) {
            Some((_, table)) => Ok(*table),
            None => Err(wrong_term("kind", &kind, "kind of record", Self::KINDS.map(|(name, _)| name).to_vec())),
        };
        let chosen: Vec<Table> = kinds.map(read).collect::<Result<_, _>>()?;
        let is_chosen = |table: &Table| chosen.is_empty() || chosen.contains(table);
        Ok(TextIndexes::TABLES.into_iter().filter(is_chosen).collect())
    }
}

/// Maximum number of sectors among suggestions of several kinds.
const MAX_SECTORS: usize = 2;
const ENOUGH: usize = 5;
/// Minimum score of a similar name: one letter in four may be wrong.
const MIN_NEAR: f32 = 0.7;
/// Minimum number of letters or digits of a text that may have a typo.
const MIN_TYPO: usize = 3;
/// A name that begins with the text precedes an equal one if this much more prominent: 300 rounds against one round.
const FAR_MORE_PROMINENT: u32 = MAX_PROMINENCE / 10 * 4;

struct CompletionHit {
    table: Table,
    row: u32,
    score: f32,
    /// `None` if the name is only similar.
    completed: Option<Completed>,
}

impl CompletionHit {
    fn new(table: Table, completed: Completed) -> Self {
        let floor = match completed.completion {
            Completion::Equal => 0.8,
            Completion::Begins => 0.55,
            Completion::Includes => 0.3,
        };
        let prominence = completed.prominence as f32 / MAX_PROMINENCE as f32;
        Self { table, row: completed.row, score: floor + 0.2 * prominence, completed: Some(completed) }
    }

    fn completion(&self) -> Option<Completion> {
        self.completed.map(|completed| completed.completion)
    }
}

impl Catalog {
    /// Suggests names of these tables that complete `text`, best first.
    pub fn suggest(&self, text: &str, tables: &[Table], limit: usize) -> Vec<Suggestion> {
        let mut found = self.completions(text, tables, limit);
        if found.len() < ENOUGH && fold(text).replace(' ', "").len() >= MIN_TYPO {
            self.add_near(text, tables, limit, &mut found);
        }
        // The sort is stable: ties keep the order of tables, and within a table the order of the index.
        found.sort_by(|left, right| right.score.total_cmp(&left.score));
        put_leader_first(&mut found);
        let (mut names, mut sectors, mut suggestions) = (HashSet::new(), 0, Vec::new());
        for found in found {
            if suggestions.len() == limit {
                break;
            }
            let is_sector = found.table == Table::Sectors && tables.len() > 1;
            // Of records with the same name only the most prominent is suggested, unless the whole name is typed.
            let is_equal = found.completion() == Some(Completion::Equal);
            let note = is_equal.then(|| self.distinguishing_note(found.table, found.row));
            let is_new = names.insert((found.table, fold(self.snapshot().name(found.table, found.row)), note));
            if is_new && !(is_sector && sectors == MAX_SECTORS) {
                sectors += usize::from(is_sector);
                suggestions.push(self.suggestion(text, &found));
            }
        }
        suggestions
    }

    fn completions(&self, text: &str, tables: &[Table], limit: usize) -> Vec<CompletionHit> {
        let of_table = |table: Table| {
            // Twice the limit, because records with the same name are left out.
            let completed = self.text_index(table)?.complete(&self.snapshot().names(table), text, 2 * limit);
            // People are not searched for by initials.
            let is_meant = move |completed: &Completed| table != Table::People || !completed.by_initials;
            Some(completed.into_iter().filter(is_meant).map(move |completed| CompletionHit::new(table, completed)))
        };
        tables.iter().copied().filter_map(of_table).flatten().collect()
    }

    /// Adds names found by a search, but of several kinds no sectors: most words are similar to one.
    fn add_near(&self, text: &str, tables: &[Table], limit: usize, found: &mut Vec<CompletionHit>) {
        let known: HashSet<(Table, u32)> = found.iter().map(|found| (found.table, found.row)).collect();
        for table in tables.iter().copied().filter(|table| *table != Table::Sectors || tables.len() == 1) {
            let Some(index) = self.text_index(table) else { continue };
            pause::point();
            let names = self.snapshot().names(table);
            let hits = index.search(&names, text).hits.into_iter().take(2 * limit);
            let hits = hits.filter(|hit| hit.score >= MIN_NEAR && !known.contains(&(table, hit.row)));
            // A name may begin with the text apart from its spaces.
            found.extend(hits.map(|hit| match index.completion(&names, text, hit.row) {
                Some(completed) => CompletionHit::new(table, completed),
                None => CompletionHit { table, row: hit.row, score: 0.2 * hit.score.min(1.0), completed: None },
            }));
        }
    }

    fn suggestion(&self, text: &str, found: &CompletionHit) -> Suggestion {
        let CompletionHit { table, row, score, completed } = *found;
        let note = self.distinguishing_note(table, row);
        let names = self.snapshot().names(table);
        let of_search = || self.match_classes(table, text, &[row]).first().copied().unwrap_or(MatchClass::Relaxed);
        let matched_by = completed.map_or_else(of_search, |_| MatchClass::Prefix);
        let suggestion = Suggestion { table, row, matched_by, alias: None, matched: None, note, score };
        let Some(completed) = completed else {
            let nearest = self.text_index(table).map(|index| index.explain(&names, text, row).text);
            let alias = nearest.filter(|nearest| nearest != self.snapshot().name(table, row));
            return Suggestion { alias, ..suggestion };
        };
        if completed.by_initials {
            let initials = fold(text).replace(' ', "").to_uppercase();
            let matched = Some(0..initials.len());
            return Suggestion { matched_by: MatchClass::Alias, alias: Some(initials), matched, ..suggestion };
        }
        let name = texts(&names, row).nth(completed.text).unwrap_or_default();
        let matched_by = match (completed.completion, completed.text) {
            (Completion::Equal, 0) => MatchClass::Exact,
            (Completion::Equal, _) => MatchClass::Alias,
            _ => MatchClass::Prefix,
        };
        let alias = (completed.text > 0).then(|| name.to_owned());
        Suggestion { matched_by, alias, matched: typed_part(text, name), ..suggestion }
    }

    /// Distinguishes a record from others with the same name: `London · 44 rounds`, `Founder, Cred`.
    fn distinguishing_note(&self, table: Table, row: u32) -> Option<String> {
        let number_of = |table: Table, facet: Facet| {
            let count = self.snapshot().facet_count(table, facet, row);
            let (one, many) = if table == Table::Rounds { ("round", "rounds") } else { ("startup", "startups") };
            (count > 0).then(|| counted(count, one, many))
        };
        let parts = match table {
            Table::Firms => [self.city_or_country(table, row), number_of(Table::Rounds, Facet::Investor)],
            Table::Startups => [self.city_or_country(table, row), number_of(Table::Rounds, Facet::Startup)],
            Table::People => {
                let (organization, _) = self.organization_of(row);
                let title = self.text_field((table, row), "title");
                return Some(title.into_iter().chain([organization.name]).collect::<Vec<_>>().join(", "));
            }
            Table::Sectors => [number_of(Table::Startups, Facet::Sector), None],
            Table::Rounds | Table::Reviews => return None,
        };
        let note = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        (!note.is_empty()).then_some(note)
    }

    fn city_or_country(&self, table: Table, row: u32) -> Option<String> {
        let country = || self.text_field((table, row), "country").and_then(|code| Country::from_alpha2(&code));
        self.text_field((table, row), "city").or_else(|| country().map(|country| country.name().to_owned()))
    }
}

/// If the first name equals the text and a far more prominent name begins with it, moves that one to the front.
fn put_leader_first(found: &mut [CompletionHit]) {
    let Some(equal) = found.first().filter(|first| first.completion() == Some(Completion::Equal)) else { return };
    let score = equal.score;
    let leader = found.iter().position(|found| found.completion() == Some(Completion::Begins));
    let prominence = |found: &CompletionHit| found.completed.map_or(0, |completed| completed.prominence);
    if let Some(leader) = leader
        && prominence(&found[leader]) >= prominence(equal) + FAR_MORE_PROMINENT
    {
        found[..=leader].rotate_right(1);
        found[0].score = score;
    }
}
