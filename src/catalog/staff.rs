//! People by their organization: `founder of stripe`, `lenskart ceo`. Used if a text is not the name of a person: some of
//! its words must be the name of a firm or startup, all others must be in the title.

use std::cmp::Reverse;

use crate::coverage::MIN_NOTED;
use crate::{Catalog, Filter, RowFilter};
use data::fold::fold;
use data::number::grouped;
use data::vocabulary::Vocabulary;
use data::{Facet, Names, OrganizationKind, Table};
use search::{Explanation, Hit, MatchClass, ScorePart};

/// Score of such a match, which is not a sure one.
const SCORE: f32 = 0.65;
const MAX_WORDS: usize = 6;
const CONNECTING: [&str; 5] = ["at", "by", "from", "of", "the"];

impl Catalog {
    /// A sentence on how few of the organizations that conditions on people leave have known people, unless nearly all have.
    pub(crate) fn note_on_people(&self, filters: &[Filter]) -> Option<String> {
        let is_place = |filter: &&Filter| matches!(filter, Filter::AnyOf(Facet::Country | Facet::City, _));
        let places: Vec<Filter> = filters.iter().filter(is_place).cloned().collect();
        let is_asked = |kind: OrganizationKind| {
            let is_other = |filter: &Filter| match filter {
                Filter::AnyOf(Facet::Kind, kinds) => !kinds.contains(&(kind.index() as u32)),
                _ => false,
            };
            !filters.iter().any(is_other)
        };
        let [of_startups, of_firms] = self.organizations_with_people();
        let tables = [
            (Table::Startups, OrganizationKind::Startup, of_startups),
            (Table::Firms, OrganizationKind::Firm, of_firms),
        ];
        let counted = tables.into_iter().filter(|(_, kind, _)| is_asked(*kind)).map(|(table, _, with_people)| {
            let rows = RowFilter::new(self, table, &places);
            let known = with_people.iter().filter(|row| rows.contains(**row)).count() as u64;
            (table, known, self.count(table, &places, &rows))
        });
        let counted: Vec<(Table, u64, u64)> = counted.filter(|(.., all)| *all > 0).collect();
        let is_partial = |(_, known, all): &(Table, u64, u64)| (all - known) * MIN_NOTED > *all;
        let (the, there) = if places.is_empty() { ("", "") } else { ("the ", " there") };
        let named = |(table, known, all): &(Table, u64, u64)| {
            format!("{} of {the}{} {}{there}", grouped(*known), grouped(*all), table.plural())
        };
        let texts: Vec<String> = counted.iter().map(named).collect();
        counted.iter().any(is_partial).then(|| format!("people are known of {}", texts.join(" and of ")))
    }

    /// The startups and the firms with known people.
    fn organizations_with_people(&self) -> &[Vec<u32>; 2] {
        self.cached.with_people.get_or_init(|| {
            [(Table::Startups, Facet::Startup), (Table::Firms, Facet::Firm)].map(|(table, facet)| {
                let has_people = |row: &u32| self.snapshot().facet_count(Table::People, facet, *row) > 0;
                (0..self.snapshot().rows(table)).filter(has_people).collect()
            })
        })
    }

    /// A sentence on how few organizations have known people, if none of these has.
    pub(crate) fn note_without_people(&self, firms: &[u32], startups: &[u32]) -> Option<String> {
        let snapshot = self.snapshot();
        let has_people = |facet: Facet, row: u32| snapshot.facet_count(Table::People, facet, row) > 0;
        let is_known = firms.iter().any(|row| has_people(Facet::Firm, *row))
            || startups.iter().any(|row| has_people(Facet::Startup, *row));
        let [of_startups, of_firms] = self.organizations_with_people();
        let counted = |known: &[u32], table: Table| {
            format!("{} of {} {}", grouped(known.len()), grouped(snapshot.rows(table)), table.plural())
        };
        let (firms, startups) = (counted(of_firms, Table::Firms), counted(of_startups, Table::Startups));
        (!is_known).then(|| format!("people are known of {firms} and of {startups}, and of none of these"))
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
