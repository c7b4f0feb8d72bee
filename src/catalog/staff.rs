//! People by their organization: `founder of stripe`, `lenskart ceo`. Used if a text is not the name of a person: some of
//! its words must be the name of a firm or startup, all others must be in the title.

use std::cmp::Reverse;

use crate::{Catalog, Filter, RowFilter};
use data::fold::fold;
use data::number::grouped;
use data::{Facet, Names, Table};
use search::{Explanation, Hit, MatchClass, ScorePart};

/// Score of such a match, which is not a sure one.
const SCORE: f32 = 0.65;
const MAX_WORDS: usize = 6;
const CONNECTING: [&str; 5] = ["at", "by", "from", "of", "the"];

impl Catalog {
    /// A sentence on how few organizations have known people, if none of these has.
    pub(crate) fn note_without_people(&self, firms: &[u32], startups: &[u32]) -> Option<String> {
        let snapshot = self.snapshot();
        let has_people = |facet: Facet, row: u32| snapshot.facet_count(Table::People, facet, row) > 0;
        let is_known = firms.iter().any(|row| has_people(Facet::Firm, *row))
            || startups.iter().any(|row| has_people(Facet::Startup, *row));
        let counted = |table: Table, facet: Facet| {
            let all = snapshot.rows(table);
            let known = (0..all).filter(|row| has_people(facet, *row)).count();
            format!("{} of {} {}", grouped(known), grouped(all), table.plural())
        };
        let note = || {
            let (firms, startups) = (counted(Table::Firms, Facet::Firm), counted(Table::Startups, Facet::Startup));
            format!("people are known of {firms} and of {startups}, and of none of these")
        };
        (!is_known).then(|| self.cached.without_people.get_or_init(note).clone())
    }

    /// Finds people by title and organization, most prominent first.
    pub(super) fn staff(&self, text: &str) -> Vec<Hit> {
        let folded = fold(text);
        let words: Vec<&str> = folded.split(' ').filter(|word| !word.is_empty()).collect();
        if !(2..=MAX_WORDS).contains(&words.len()) {
            return Vec::new();
        }
        // The organization is at the beginning or at the end; try the longest name first.
        let splits = (1..words.len()).flat_map(|rest| {
            let (title, organization) = words.split_at(rest);
            [words.split_at(words.len() - rest), (organization, title)]
        });
        let found = splits.map(|(organization, title)| self.staff_of(&organization.join(" "), title));
        let rows = found.into_iter().find(|rows| !rows.is_empty()).unwrap_or_default();
        rows.into_iter().map(|row| Hit { row, score: SCORE }).collect()
    }

    fn staff_of(&self, organization: &str, title: &[&str]) -> Vec<u32> {
        let title: Vec<&str> = title.iter().copied().filter(|word| !CONNECTING.contains(word)).collect();
        let [firms, startups] = [Table::Firms, Table::Startups].map(|table| self.rows_named(table, organization));
        if title.is_empty() || (firms.is_empty() && startups.is_empty()) {
            return Vec::new();
        }
        let people = RowFilter::new(self, Table::People, &[Filter::MemberOf { firms, startups }]);
        let has_title = |row: &u32| {
            let own = self.text_field((Table::People, *row), "title").map(|title| fold(&title)).unwrap_or_default();
            // `founders` matches everyone who is a founder.
            let is_own = |word: &&str| own.split(' ').any(|own| own == *word || word.strip_suffix('s') == Some(own));
            title.iter().all(is_own)
        };
        let mut rows: Vec<u32> = people.rows_from(0).filter(has_title).collect();
        let names = self.snapshot().names(Table::People);
        rows.sort_by_key(|row| (Reverse(names.prominence(*row)), *row));
        rows
    }

    pub(super) fn explain_staff(&self, row: u32) -> Explanation {
        let part = ScorePart { strategy: "organization", ceiling: SCORE, similarity: 1.0, points: SCORE };
        Explanation::new(vec![part], self.organization_of(row).0.name, MatchClass::Relaxed, 0.0)
    }
}
