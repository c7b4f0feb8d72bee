//! Names that fit several records: `Sequoia` may name a small firm although a larger one is meant, and gets a note.

use std::cmp::Reverse;

use crate::Catalog;
use data::fold::fold;
use data::name::{WordKind, without_script_form};
use data::number::{counted, grouped};
use data::written::spelled_out;
use data::{Facet, Table};

const MAX_LISTED: usize = 3;
/// A record with this many times the size of the next one is meant by a name that several have.
const TIMES_LARGER: u32 = 10;
/// Maximum number of names read to find namesakes. A full name that begins more names than this is a common word.
const MAX_READ: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameMatch {
    Nothing,
    One(u32),
    /// Several records have this name, none has it as its slug, and none is far larger than the others.
    Several(Vec<u32>),
}

/// A name without the legal form at its end, folded; `None` if it has none.
fn without_legal_form(name: &str) -> Option<String> {
    let folded = fold(&without_script_form(name).0);
    let words: Vec<&str> = folded.split(' ').collect();
    let kinds = WordKind::classify(&words);
    let legal = kinds.iter().rev().take_while(|kind| **kind == WordKind::Legal).count();
    (legal > 0 || folded != fold(name)).then(|| words[..words.len() - legal].join(" "))
}

/// True if a text is a legal form alone: `Inc.`
pub(crate) fn is_legal_form(text: &str) -> bool {
    !fold(text).is_empty() && without_legal_form(&format!("name {text}")).is_some_and(|rest| rest == "name")
}

impl Catalog {
    /// Finds the record with exactly this slug, otherwise this name, otherwise this slug in another letter case, otherwise
    /// this alias, or this name or alias apart from spaces, with or without a legal form at its end.
    pub fn match_name(&self, table: Table, text: &str) -> NameMatch {
        if let Some(row) = self.snapshot().find(table, text) {
            return NameMatch::One(row);
        }
        let mut rows = self.rows_named(table, text);
        if rows.is_empty() {
            if let Some(row) = self.find(table, text) {
                return NameMatch::One(row);
            }
            rows = self.rows_called(table, text);
        }
        if rows.is_empty()
            && let Some(without) = without_legal_form(text)
        {
            rows = self.rows_called(table, &without);
        }
        // `Gründerfonds` is written `Gruenderfonds`, too.
        if rows.is_empty()
            && let Some(spelled) = spelled_out(text)
        {
            return self.match_name(table, &spelled);
        }
        self.main_of_namesakes(table, rows)
    }

    pub(crate) fn rows_called(&self, table: Table, text: &str) -> Vec<u32> {
        let index = self.text_index(table);
        index.map(|index| index.rows_called(&self.snapshot().names(table), text)).unwrap_or_default()
    }

    /// The only one of some rows, or one that is far larger than the others.
    fn main_of_namesakes(&self, table: Table, mut rows: Vec<u32>) -> NameMatch {
        rows.sort_by_key(|row| Reverse(self.size(table, *row)));
        match rows[..] {
            [] => NameMatch::Nothing,
            [row] => NameMatch::One(row),
            [first, second, ..] => {
                let bound = TIMES_LARGER.saturating_mul(self.size(table, second).max(1));
                if self.size(table, first) >= bound { NameMatch::One(first) } else { NameMatch::Several(rows) }
            }
        }
    }

    /// The record that a text means: `row`, which has this name, or one with a name that begins with it and has ten times
    /// the size. A slug means its own record.
    pub(crate) fn meant_by(&self, table: Table, text: &str, row: u32) -> u32 {
        if text == self.snapshot().slug(table, row) {
            return row;
        }
        let larger = self.namesakes(table, text, row).into_iter().next();
        let bound = TIMES_LARGER.saturating_mul(self.size(table, row).max(1));
        larger.filter(|larger| self.size(table, *larger) >= bound).unwrap_or(row)
    }

    /// Other records that `text` may mean than `row`, largest first: of this name, or larger ones that it is short for.
    pub fn namesakes(&self, table: Table, text: &str, row: u32) -> Vec<u32> {
        if self.is_copied_slug(table, text, row) {
            return Vec::new();
        }
        let (folded, own) = (fold(text), self.size(table, row));
        let mut others = self.short_for(table, &folded);
        let called = self.rows_called(table, text);
        others.extend(called.iter().filter(|row| !others.contains(row)).copied().collect::<Vec<u32>>());
        others.retain(|other| *other != row && (self.size(table, *other) > own || called.contains(other)));
        others.sort_by_key(|other| Reverse(self.size(table, *other)));
        others
    }

    /// True for slugs of several words, which are copied, not guessed, so that they mean no other record.
    fn is_copied_slug(&self, table: Table, text: &str, row: u32) -> bool {
        text.contains('-') && text.eq_ignore_ascii_case(self.snapshot().slug(table, row))
    }

    /// Records with a name that is a folded text, begins with it or has it as initials; largest first.
    pub(crate) fn short_for(&self, table: Table, folded: &str) -> Vec<u32> {
        if folded.is_empty() {
            return Vec::new();
        }
        let snapshot = self.snapshot();
        let names = self.names_from(table, folded).iter().take(MAX_READ);
        let names = names.map(|row| (*row, fold(snapshot.name(table, *row))));
        let begun = names.take_while(|(_, name)| name.starts_with(folded));
        let whole = begun.filter(|(_, name)| matches!(name.as_bytes().get(folded.len()), None | Some(b' ')));
        let mut found: Vec<u32> = whole.map(|(row, _)| row).collect();
        if let Some(index) = self.text_index(table) {
            found.extend(index.rows_with_initials(&snapshot.names(table), folded, MAX_READ));
        }
        self.largest_first(table, found)
    }

    /// Rows once, the largest records first.
    pub(crate) fn largest_first(&self, table: Table, mut rows: Vec<u32>) -> Vec<u32> {
        rows.sort_unstable_by_key(|row| (Reverse(self.size(table, *row)), *row));
        rows.dedup();
        rows
    }

    /// Size of a record: the portfolio of a firm, the rounds of a startup, the startups of a sector.
    pub fn size(&self, table: Table, row: u32) -> u32 {
        match table {
            Table::Firms => self.snapshot().facet_count(Table::Startups, Facet::Investor, row),
            Table::Startups => self.snapshot().facet_count(Table::Rounds, Facet::Startup, row),
            Table::Sectors => self.snapshot().facet_count(Table::Startups, Facet::Sector, row),
            _ => 0,
        }
    }

    /// A note that a parameter's value was read as `row` although it may mean others; `None` if it is unambiguous.
    pub fn namesake_note(&self, parameter: &str, table: Table, text: &str, row: u32) -> Option<String> {
        let mut others = self.namesakes(table, text, row);
        if !self.is_copied_slug(table, text, row) {
            others.extend(self.near_names(table, row));
        }
        self.others_note(parameter, table, row, &self.largest_first(table, others))
    }

    /// A note that a parameter's value was read as `row` and might also be others; `None` without others.
    pub(crate) fn others_note(&self, parameter: &str, table: Table, row: u32, others: &[u32]) -> Option<String> {
        let chosen = || format!("`{parameter}` was read as {}", self.slug_and_size(table, row));
        self.with_sizes(table, others).map(|listed| format!("{}; also {listed}", chosen()))
    }

    /// The first of some records with their sizes: `alder (12), aldern (3)`; `None` without any.
    pub(crate) fn with_sizes(&self, table: Table, rows: &[u32]) -> Option<String> {
        let with_size =
            |row: &u32| format!("{} ({})", self.snapshot().slug(table, *row), grouped(self.size(table, *row)));
        let listed: Vec<String> = rows.iter().take(MAX_LISTED).map(with_size).collect();
        (!listed.is_empty()).then(|| listed.join(", "))
    }

    /// Other records that a name may mean, as far as they are not far smaller: `alder-partners (12)`.
    pub(crate) fn other_records(&self, table: Table, text: &str, row: u32) -> Option<String> {
        let least = self.size(table, row).div_ceil(TIMES_LARGER).max(1);
        let mut others = self.short_for(table, &fold(text));
        others.extend(self.namesakes(table, text, row));
        others.extend(self.near_names(table, row));
        others.retain(|other| *other != row && self.size(table, *other) >= least);
        self.with_sizes(table, &self.largest_first(table, others))
    }

    /// A record with its size: `alder (12 startups)`.
    pub(crate) fn slug_and_size(&self, table: Table, row: u32) -> String {
        let (one, many) = if table == Table::Startups { ("round", "rounds") } else { ("startup", "startups") };
        format!("{} ({})", self.snapshot().slug(table, row), counted(self.size(table, row), one, many))
    }
}
