//! Sectors in questions: other meanings of their words, and sectors that are required together.

use std::ops::Range;

use crate::Catalog;
use crate::ask::lexicon::{MIN_STARTUPS, PhraseMeaning};
use crate::ask::path::{Path, PathPart};
use data::{Facet, Table};

/// At least one in this many startups has a sector that `tech` means; otherwise `tech` applies to all listed startups.
const TECH_SHARE: u32 = 100;

/// The sector with the most startups among several with the same meaning.
pub(super) fn largest_sector(catalog: &Catalog, slugs: &str) -> String {
    slugs.split(',').max_by_key(|slug| startups_of(catalog, slug)).unwrap_or_default().to_owned()
}

pub(super) fn startups_of(catalog: &Catalog, slug: &str) -> Option<u32> {
    count_of_sector(catalog, Table::Startups, slug)
}

fn count_of_sector(catalog: &Catalog, table: Table, slug: &str) -> Option<u32> {
    let snapshot = catalog.snapshot();
    let sector = snapshot.find(Table::Sectors, slug)?;
    Some(snapshot.facet_count(table, Facet::Sector, sector))
}

impl Path<'_, '_> {
    /// True if a word without a meaning of its own is a sector: `space startups`, but not `startups in the AI space`.
    pub(super) fn is_glue_sector(&self, at: usize, meanings: &[PhraseMeaning]) -> bool {
        let is_room = self.follows(at, "rooms") || self.follows_sector(at);
        (self.is_at(at, &["space"]) && self.record_at(at + 1).is_some() && !is_room)
            || (self.is_in(at, "tech") && self.is_usual(meanings))
    }

    /// True if a sector is the name of a startup: `Facebook's rounds`, `Facebook funding`.
    pub(super) fn is_owner(&self, at: usize, length: usize) -> bool {
        let is_marked = self.tokens[at + length - 1].is_possessive
            || (self.names_record(at, length) && self.is_rare_sector(&self.tokens[at].word));
        is_marked && self.name_at(at, &[Table::Startups]).is_some_and(|(_, named)| named == length)
    }

    /// Number of words of an unwanted startup, which no parameter excludes: `not Delivery Hero`.
    pub(super) fn unwanted_startup(&self, at: usize, length: usize) -> Option<usize> {
        if !self.is_negated() || self.table != Table::Startups {
            return None;
        }
        self.name_at(at, &[Table::Startups]).map(|(_, named)| named).filter(|named| *named > length)
    }

    /// True if the words of a sector mean something else: `founded before Facebook`, `founded by students`.
    pub(super) fn is_no_sector(&self, range: &Range<usize>) -> bool {
        let at = range.start;
        // `platforms that finance startups`
        let is_verb = self.is_at(at, &["finance"]) && self.follows(at, "before a verb");
        // `women-led`, `family-friendly`
        let is_compound = self.is_hyphenated(range.end - 1) && self.is_in(range.end, "compounds");
        self.is_compared(at) || is_verb || is_compound || self.is_doer(at) || self.is_said_of_people(range)
    }

    /// True if others are compared with a value: `founded before Facebook`, `the largest country after the US`.
    pub(super) fn is_compared(&self, at: usize) -> bool {
        let before = at - usize::from(self.is_after(at, &["the"]));
        // `in other countries than Germany`
        let is_other = || (before.saturating_sub(4)..before).any(|at| self.is_at(at, &["other"]));
        // `la più vecchia di Torino` is the oldest of Turin.
        let is_of = || self.is_foreign && self.is_after(before, &["than"]);
        self.follows(before, "compared") && !is_other() && !is_of()
    }

    /// True if a sector describes people, not startups: `that are hiring`, `backed by angels`, `women partners`.
    fn is_said_of_people(&self, range: &Range<usize>) -> bool {
        let is_subject = self.follows(range.start, "before a subject");
        let is_hiring = self.is_at(range.start, &["hiring"])
            && !self.is_in(range.end, "products")
            && !self.is_in(range.end, "products of hiring")
            && !is_subject;
        // `a good reputation`, `cold emails`
        let is_praised = self.follows(range.start, "praise");
        let is_group = self.is_in(range.start, "people") && self.is_in(range.end, "after people");
        let is_person = is_group || self.is_in(range.start, "angel") || self.tokens[range.start].raw == "GPs";
        is_hiring || is_praised || (range.len() == 1 && is_person)
    }

    /// True if no listed record has one of some sectors: texts may have the words.
    pub(super) fn is_without_records(&self, slugs: &str) -> bool {
        let has_records = |slug: &str| count_of_sector(self.catalog, self.table, slug) > Some(0);
        self.table.facets().contains(&Facet::Sector) && !slugs.split(',').any(has_records)
    }

    /// True if a word is the slug of a sector with hardly any startups.
    pub(super) fn is_rare_sector(&self, slug: &str) -> bool {
        startups_of(self.catalog, slug).is_some_and(|startups| startups < MIN_STARTUPS)
    }

    /// True if enough startups have one of the sectors that a word means.
    fn is_usual(&self, meanings: &[PhraseMeaning]) -> bool {
        let min = self.catalog.snapshot().rows(Table::Startups) / TECH_SHARE;
        meanings.iter().any(|meaning| match meaning {
            PhraseMeaning::Sector(slugs) => slugs.split(',').any(|slug| startups_of(self.catalog, slug) >= Some(min)),
            _ => true,
        })
    }

    fn follows_sector(&self, at: usize) -> bool {
        self.parts.last().is_some_and(|(range, part)| range.end == at && part.parameter == "sector")
    }

    /// True if a word names the product of the sector before it: `language learning apps`, `payments technology`.
    pub(super) fn is_product(&self, at: usize) -> bool {
        self.follows_sector(at) && self.is_in(at, "products")
    }

    /// Requires all sectors that qualify each other (`AI startups for dentists`); `AI or fintech` requires any of the
    /// two. Among sectors with the same meaning any is enough, so the word with the most sectors stays as it is.
    pub(super) fn require_all_sectors(&mut self) {
        let of_sector = |part: &PathPart| part.1.parameter == "sector";
        let mut places: Vec<usize> = (0..self.parts.len()).filter(|index| of_sector(&self.parts[*index])).collect();
        let is_joined = |pair: &[usize]| {
            let (from, to) = (self.parts[pair[0]].0.end, self.parts[pair[1]].0.start);
            self.tokens[from - 1].ends_clause
                || (from..to).any(|between| self.is_in(between, "joints") || self.is_in(between, "versus"))
        };
        if places.len() < 2 || places.windows(2).any(is_joined) || self.resource.parameter("sector_all").is_none() {
            return;
        }
        let meant = |place: &usize| self.parts[*place].1.value.split(',').count();
        if let Some(most) = places.iter().copied().filter(|place| meant(place) > 1).max_by_key(meant) {
            places.retain(|place| *place != most);
        }
        let parts = self.parts.clone();
        self.require(&places);
        if self.lists_any(self.values().collect()) {
            return;
        }
        // `consumer hardware`: no record has both, and the first word only qualifies the other.
        self.parts = parts;
        let is_next = |place: &usize| {
            let next = self.parts.get(place + 1).filter(|next| of_sector(next));
            next.is_some_and(|next| next.0.start == self.parts[*place].0.end)
        };
        if let Some(qualifier) = (0..self.parts.len()).filter(|place| of_sector(&self.parts[*place])).find(is_next) {
            let (range, _) = self.parts.remove(qualifier);
            self.unread.push(range.clone());
            self.content.push(range);
        } else {
            self.require(&places);
        }
    }
}
