//! Columns that say of each row what kind of record it is, and columns that mark rows as none.

use std::collections::BTreeSet;

use crate::sources::EntityKind;
use crate::sources::guess::header::words;
use crate::sources::guess::quote;
use crate::sources::guess::table::{Column, Outline};
use crate::sources::guess::values::{self, is_of_list, share};
use data::FirmKind;
use data::meaning::Meaning as _;

/// A column with the kinds of the records, and its values for startups and for firms. Rows with other ones are neither.
#[derive(Clone, Debug)]
pub(super) struct KindColumn {
    pub column: usize,
    startups: Vec<String>,
    firms: Vec<String>,
}

/// What a kind of records is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Startup,
    Firm,
    Person,
    Other,
}

impl Label {
    fn read(value: &str) -> Option<Self> {
        let lists = [
            ("kinds of people", Self::Person),
            ("kinds of others", Self::Other),
            ("kinds of startups", Self::Startup),
            ("kinds of firms", Self::Firm),
        ];
        let listed = lists.into_iter().find(|(list, _)| is_of_list(list, value)).map(|(_, label)| label);
        listed.or_else(|| FirmKind::meaning(value).map(|_| Self::Firm))
    }
}

impl KindColumn {
    /// The column that tells startups, investors, people and others apart, if there is one.
    pub(super) fn find(columns: &[Column<'_>]) -> Option<Self> {
        let height = columns.iter().map(|column| column.texts.len()).max()?;
        let is_named =
            |column: &Column<'_>| column.is_named && (column.meaning.has("type") || is_of_list("kinds", column.header));
        let read = |(at, column): (usize, &Column<'_>)| {
            if !is_named(column) || column.values.len() * 10 < height * 9 {
                return None;
            }
            let distinct = values::distinct(&column.values);
            let labels: BTreeSet<Label> = distinct.iter().filter_map(|value| Label::read(value)).collect();
            // Without startups and people its words are kinds of firms.
            let tells = labels.contains(&Label::Startup) && labels.len() > 1
                || labels.contains(&Label::Firm) && labels.contains(&Label::Person);
            // Of the others it is not known what they are; they are none of these records.
            let is_read = share(&column.values, |value| Label::read(value).is_some()) >= 0.5;
            let of = |wanted: Label| {
                let wanted = distinct.iter().filter(|value| Label::read(value) == Some(wanted));
                wanted.map(|value| (*value).to_owned()).collect::<Vec<_>>()
            };
            (tells && is_read).then(|| Self { column: at, startups: of(Label::Startup), firms: of(Label::Firm) })
        };
        columns.iter().enumerate().find_map(read)
    }

    /// The values of the rows of a kind.
    pub(super) fn values_of(&self, kind: EntityKind) -> &[String] {
        match kind {
            EntityKind::Startup => &self.startups,
            EntityKind::Firm => &self.firms,
            _ => &[],
        }
    }
}

/// Conditions of the rows that are records: a column may mark others as deleted, archived, tests, or not public.
pub(super) fn conditions_of_records(outline: &Outline<'_>) -> Vec<String> {
    let condition = |index: &usize| {
        let column = outline.columns.get(*index)?;
        let header = words(column.header).join(" ");
        let [marks, is_public] = ["marks of no records", "marks of records"].map(|list| is_of_list(list, &header));
        let (unwanted, is_unwanted): (&str, fn(&str) -> bool) = match (marks, is_public) {
            (true, _) => ("yes", |value| values::is_of_flag("yes", value)),
            (_, true) => ("no", |value| values::is_of_flag("no", value)),
            _ => return None,
        };
        let is_day = |value: &str| value.contains(|char: char| char.is_ascii_digit()) && values::is_date(value);
        let marked: Vec<&str> = column.texts.iter().copied().filter(|text| is_unwanted(text) || is_day(text)).collect();
        let are_all = marked.len() == outline.height;
        if are_all || marked.is_empty() {
            return None;
        }
        let test = if unwanted == "yes" && share(&column.values, is_day) >= 0.9 {
            "matches_not = \"[0-9]{4}\"".to_owned()
        } else if share(&column.texts, values::is_flag) >= 0.9 {
            let texts: Vec<String> = values::distinct(&marked).into_iter().map(quote).collect();
            format!("not = [{}]", texts.join(", "))
        } else {
            return None;
        };
        Some(format!("{} = {{ {test} }}", quote(column.header)))
    };
    outline.all(|_| true).iter().filter_map(condition).collect()
}
