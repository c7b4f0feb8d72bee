//! Names of all kinds that complete a text, for search boxes.
//!
//! Those that equal the text come first, then those that begin with it, then those with a later word that begins so, each
//! by prominence, which is comparable between kinds. Only if these are few, names that are near follow.

pub(crate) use std::collections::HashSet;
use std::ops::Range;

use crate::param_error::wrong_term;
use crate::{Catalog, ParameterError, Texts};
use data::fold::fold;
use data::number::counted;
use data::vocabulary::normal;
use data::{Country, Facet, MAX_PROMINENCE, Table};
use search::{Completed, Completion, Hit, MatchClass, texts, typed_part};

/// A record whose name completes a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    pub table: Table,
    pub row: u32,
    pub matched_by: MatchClass,
    /// The alias or the initials that match, if the name does not.
    pub alias: Option<String>,
    /// The part of the name, or of the alias, that was typed, in characters.
    pub matched: Option<Range<usize>>,
    /// Tells records of one name apart: place and size, or title and organization.
    pub note: Option<String>,
    /// From 0 to 1, descending.
    pub score: f32,
}

impl Suggestion {
    /// The words for kinds of records: those of responses, and `vc` for a firm.
    pub const KINDS: [(&'static str, Table); 5] = [
        ("vc", Table::Firms),
        ("firm", Table::Firms),
        ("startup", Table::Startups),
        ("person", Table::People),
        ("sector", Table::Sectors),
    ];

    /// Reads the parameter `kind`: one or several kinds, separated by commas; all if it is empty.
    pub fn tables(kinds: &str) -> Result<Vec<Table>, ParameterError> {
        let mut chosen = Vec::new();
        for kind in kinds.split(',').map(normal).filter(|kind| !kind.is_empty()) {
            let known = Self::KINDS.iter().find(|(name, _)| *name == kind);
            let kinds = || Self::KINDS.map(|(name, _)| name).to_vec();
            let unknown = || wrong_term("kind", &kind, "kind of record", kinds());
            chosen.push(known.ok_or_else(unknown)?.1);
        }
        let is_chosen = |table: &Table| chosen.is_empty() || chosen.contains(table);
        Ok(Texts::TABLES.into_iter().filter(is_chosen).collect())
    }
}

/// Suggestions of sectors among those of several kinds.
const MAX_SECTORS: usize = 2;
/// If fewer names complete a text, names that are near are suggested.
const ENOUGH: usize = 5;
/// The minimum score of a name that is near: one of four letters may be wrong.
const MIN_NEAR: f32 = 0.7;
/// The minimum number of letters or digits of a text that may have a typo.
const MIN_TYPO: usize = 3;
/// A name that begins with the text precedes those that equal it if it is more prominent by this much: who types
/// `light` rather means a firm of 300 rounds than a startup of one.
const FAR_MORE_PROMINENT: u32 = MAX_PROMINENCE / 10 * 4;

/// A row whose name completes the text, or is near it.
struct Found {
    table: Table,
    row: u32,
    score: f32,
    /// `None` if the name is only near.
    completed: Option<Completed>,
}

impl Found {
    fn new(table: Table, completed: Completed) -> Self {
        let floor = match completed.completion {
            Completion::Equal => 0.8,
            Completion::Begins => 0.55,
            Completion::Includes => 0.3,
        };
        #[expect(clippy::cast_precision_loss, reason = "prominence has seven digits")]
        let prominence = completed.prominence as f32 / MAX_PROMINENCE as f32;
        Self { table, row: completed.row, score: floor + 0.2 * prominence, completed: Some(completed) }
    }

    fn near(table: Table, hit: Hit) -> Self {
        Self { table, row: hit.row, score: 0.2 * hit.score.min(1.0), completed: None }
    }

    fn completion(&self) -> Option<Completion> {
        self.completed.map(|completed| completed.completion)
    }
}

impl Catalog {
    /// Names of these tables that complete `text`, best first.
    pub fn suggest(&self, text: &str, tables: &[Table], limit: usize) -> Vec<Suggestion> {
        let mut found = self.completions(text, tables, limit);
        if found.len() < ENOUGH && fold(text).replace(' ', "").len() >= MIN_TYPO {
            self.add_near(text, tables, limit, &mut found);
        }
        // The sort is stable: ties stay in the order of tables, and within a table in that of the index.
        found.sort_by(|left, right| right.score.total_cmp(&left.score));
        put_leader_first(&mut found);
        let mut names = HashSet::new();
        let mut sectors = 0;
        let mut suggestions = Vec::new();
        for found in found {
            if suggestions.len() == limit {
                break;
            }
            let is_sector = found.table == Table::Sectors && tables.len() > 1;
            // Of records with one name only the most prominent, unless the name is typed entirely: then the notes tell them
            // apart.
            let is_equal = found.completion() == Some(Completion::Equal);
            let note = is_equal.then(|| self.note(found.table, found.row));
            let is_new = names.insert((found.table, fold(self.snapshot().name(found.table, found.row)), note));
            if is_new && !(is_sector && sectors == MAX_SECTORS) {
                sectors += usize::from(is_sector);
                suggestions.push(self.suggestion(text, &found));
            }
        }
        suggestions
    }

    fn completions(&self, text: &str, tables: &[Table], limit: usize) -> Vec<Found> {
        let of_table = |table: Table| {
            let index = self.text_index(table)?;
            // Some are left out because another record has the same name.
            let completed = index.complete(&self.snapshot().names(table), text, 2 * limit);
            // Nobody is searched for by initials.
            let is_meant = move |completed: &Completed| table != Table::People || !completed.by_initials;
            Some(completed.into_iter().filter(is_meant).map(move |completed| Found::new(table, completed)))
        };
        tables.iter().copied().filter_map(of_table).flatten().collect()
    }

    /// Adds names that a search finds. Of sectors there are few, and most words are near one.
    fn add_near(&self, text: &str, tables: &[Table], limit: usize, found: &mut Vec<Found>) {
        let known: HashSet<(Table, u32)> = found.iter().map(|found| (found.table, found.row)).collect();
        for table in tables.iter().copied().filter(|table| *table != Table::Sectors || tables.len() == 1) {
            let Some(index) = self.text_index(table) else { continue };
            let names = self.snapshot().names(table);
            let hits = index.search(&names, text).hits.into_iter().take(2 * limit);
            let hits = hits.filter(|hit| hit.score >= MIN_NEAR && !known.contains(&(table, hit.row)));
            // A name may begin with the text but for its spaces.
            found.extend(hits.map(|hit| match index.completion(&names, text, hit.row) {
                Some(completed) => Found::new(table, completed),
                None => Found::near(table, hit),
            }));
        }
    }

    fn suggestion(&self, text: &str, found: &Found) -> Suggestion {
        let Found { table, row, score, completed } = *found;
        let note = self.note(table, row);
        let names = self.snapshot().names(table);
        let of_search = || self.match_classes(table, text, &[row]).first().copied().unwrap_or(MatchClass::Relaxed);
        let matched_by = if completed.is_some() { MatchClass::Prefix } else { of_search() };
        let suggestion = Suggestion { table, row, matched_by, alias: None, matched: None, note, score };
        let Some(completed) = completed else {
            let nearest = self.text_index(table).map(|index| index.explain(&names, text, row).text);
            return Suggestion {
                alias: nearest.filter(|nearest| nearest != self.snapshot().name(table, row)),
                ..suggestion
            };
        };
        let name = texts(&names, row).nth(completed.text).unwrap_or_default();
        if completed.by_initials {
            let initials = fold(text).replace(' ', "").to_uppercase();
            let matched = Some(0..initials.len());
            return Suggestion { matched_by: MatchClass::Alias, alias: Some(initials), matched, ..suggestion };
        }
        Suggestion {
            matched_by: match (completed.completion, completed.text) {
                (Completion::Equal, 0) => MatchClass::Exact,
                (Completion::Equal, _) => MatchClass::Alias,
                (Completion::Begins | Completion::Includes, _) => MatchClass::Prefix,
            },
            alias: (completed.text > 0).then(|| name.to_owned()),
            matched: typed_part(text, name),
            ..suggestion
        }
    }

    /// What tells a record from others of its name: `London · 44 rounds`, `Founder, Cred`.
    fn note(&self, table: Table, row: u32) -> Option<String> {
        let rows = |table: Table, facet: Facet, one: &str, many: &str| {
            let count = self.snapshot().facet_count(table, facet, row);
            (count > 0).then(|| counted(count, one, many))
        };
        let rounds = |facet: Facet| rows(Table::Rounds, facet, "round", "rounds");
        let parts = match table {
            Table::Firms => [self.place(table, row), rounds(Facet::Investor)],
            Table::Startups => [self.place(table, row), rounds(Facet::Startup)],
            Table::People => {
                let (organization, _) = self.organization_of(row);
                let title = self.text_field((table, row), "title");
                return Some(title.into_iter().chain([organization.name]).collect::<Vec<_>>().join(", "));
            }
            Table::Sectors => [rows(Table::Startups, Facet::Sector, "startup", "startups"), None],
            Table::Rounds | Table::Reviews => [None, None],
        };
        let note = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        (!note.is_empty()).then_some(note)
    }

    /// The city of a firm or startup, or else its country.
    fn place(&self, table: Table, row: u32) -> Option<String> {
        let country = || self.text_field((table, row), "country").and_then(|code| Country::from_alpha2(&code));
        self.text_field((table, row), "city").or_else(|| country().map(|country| country.name().to_owned()))
    }
}

/// If the first name equals the text, and one that begins with it is far more prominent, puts that one first.
fn put_leader_first(found: &mut [Found]) {
    let Some(equal) = found.first().filter(|first| first.completion() == Some(Completion::Equal)) else { return };
    let score = equal.score;
    let leader = found.iter().position(|found| found.completion() == Some(Completion::Begins));
    let prominence = |found: &Found| found.completed.map_or(0, |completed| completed.prominence);
    if let Some(leader) = leader
        && prominence(&found[leader]) >= prominence(equal) + FAR_MORE_PROMINENT
    {
        found[..=leader].rotate_right(1);
        found[0].score = score;
    }
}
