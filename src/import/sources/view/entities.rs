//! Entities of all sources with their records and slugs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use crate::sources::convert::slug;
use crate::sources::field::SourceField;
use crate::sources::view::Clusters;
use crate::sources::view::ledger::{Ledger, LedgerLine, NewLines, has_page};
use crate::sources::{EntityId, EntityKind, Result, Source, Standing, Suppressed};
use data::Date;
use data::vocabulary::Vocabulary as _;
use data::written::identity;

pub(super) struct Entities {
    /// Grouped by source, in the order of its statements.
    entities: Vec<ViewEntity>,
    /// First entity of each source, and the end.
    pub(super) starts: Vec<usize>,
    /// Record of each entity, as a number in the order of kinds and slugs.
    pub(super) record_numbers: Vec<u32>,
    /// Also incomplete ones.
    pub(super) records: Vec<EntityRecord>,
    /// Slug of each entity: that of its record, or one that was merged away.
    slugs: Vec<String>,
    /// The sources that are used.
    is_used: Vec<bool>,
    ledger: Ledger,
    /// Number in the ledger of each entity's slug.
    numbers: Vec<Option<u32>>,
    /// Records by the slugs to which others lead in the ledger.
    of_roots: HashMap<u32, u32>,
}

pub(super) struct EntityRecord {
    pub kind: EntityKind,
    pub slug: String,
    /// True if a source that is used has it, or had it.
    is_known: bool,
    is_current: bool,
    /// True if it has a current name and is not suppressed. Without a name it is not in the view.
    pub is_named: bool,
    pub is_suppressed: bool,
}

impl EntityRecord {
    /// True if a source has the record and it is not suppressed. It may be incomplete.
    pub(super) fn is_published(&self) -> bool {
        self.is_current && !self.is_suppressed
    }
}

struct ViewEntity {
    id: EntityId,
    first_seen: Date,
    /// Name by which it was first known.
    name: Option<Box<str>>,
    /// Slug that it keeps.
    slug: Option<Box<str>>,
    is_current: bool,
    is_named: bool,
    is_suppressed: bool,
}

/// Reserved slugs, which are paths of the API.
const RESERVED: [&str; 2] = ["aggregate", "facets"];

impl Entities {
    pub(super) fn read(folder: &Path, sources: &[Source], clusters: &Clusters, hidden: &Suppressed) -> Result<Self> {
        let mut entities: Vec<ViewEntity> = Vec::new();
        let mut starts = Vec::new();
        for source in sources {
            starts.push(entities.len());
            let first = entities.len();
            let mut first_named = None;
            for statement in source.statements(folder)? {
                let statement = statement?;
                if entities.len() == first || entities.last().is_some_and(|entity| entity.id != statement.entity) {
                    first_named = None;
                    entities.push(ViewEntity {
                        is_suppressed: hidden.covers(&source.id, &statement.entity),
                        id: statement.entity,
                        first_seen: statement.first_seen,
                        name: None,
                        slug: None,
                        is_current: false,
                        is_named: false,
                    });
                }
                let Some(entity) = entities.last_mut() else { continue };
                let is_current = statement.standing == Standing::Current;
                entity.first_seen = entity.first_seen.min(statement.first_seen);
                entity.is_current |= is_current;
                if statement.field == SourceField::SLUG.name {
                    entity.slug = Some(statement.value.into_boxed_str());
                } else if statement.field == "name" {
                    entity.is_named |= is_current;
                    // Of two names of the same day, the earlier import has the first; the other is a correction.
                    let order = (statement.first_seen, statement.last_import);
                    if first_named.is_none_or(|first| order < first) {
                        first_named = Some(order);
                        entity.name = Some(statement.value.into_boxed_str());
                    }
                }
            }
        }
        starts.push(entities.len());
        let mut all = Self {
            numbers: vec![None; entities.len()],
            entities,
            starts,
            record_numbers: Vec::new(),
            records: Vec::new(),
            slugs: Vec::new(),
            is_used: Vec::new(),
            ledger: Ledger::read(folder)?,
            of_roots: HashMap::new(),
        };
        all.assign_slugs(sources, clusters);
        Ok(all)
    }

    /// Assigns slugs and records. Slugs of the ledger stay with their entities. Of the others, entities that keep a slug choose
    /// first, then those that were first seen earlier.
    fn assign_slugs(&mut self, sources: &[Source], clusters: &Clusters) {
        let entities_of = |source: usize| self.starts[source]..self.starts[source + 1];
        let mut order: Vec<(usize, usize)> =
            (0..sources.len()).flat_map(|source| entities_of(source).map(move |entity| (source, entity))).collect();
        order.sort_by_key(|(source, entity)| {
            let known = &self.entities[*entity];
            (known.slug.is_none(), known.first_seen, Reverse(sources[*source].priority), *source, *entity)
        });
        // First entity of each cluster, and of each sector.
        let mut firsts: HashMap<(EntityKind, u32), usize> = HashMap::new();
        let mut sectors: HashMap<&str, usize> = HashMap::new();
        let mut owners: Vec<usize> = (0..self.entities.len()).collect();
        // Entities by their slugs of the ledger.
        let mut holders: HashMap<u32, usize> = HashMap::new();
        for (source, entity) in order.iter().copied() {
            let known = &self.entities[entity];
            let first = match known.id.kind {
                EntityKind::Sector => Some(*sectors.entry(&known.id.key).or_insert(entity)),
                kind => clusters
                    .cluster_of(&sources[source].id, &known.id)
                    .map(|cluster| *firsts.entry((kind, cluster)).or_insert(entity)),
            };
            owners[entity] = first.unwrap_or(entity);
            if let Some(number) = self.ledger.of_entity(&sources[source].id, &known.id) {
                self.numbers[entity] = Some(number);
                holders.entry(number).or_insert(owners[entity]);
            }
        }
        let mut taken: HashMap<EntityKind, HashMap<String, u32>> = HashMap::new();
        for kind in EntityKind::ALL.iter().copied() {
            taken.insert(kind, self.ledger.slugs_of(kind).map(|slug| (slug.to_owned(), 2)).collect());
        }
        self.slugs = vec![String::new(); self.entities.len()];
        for (_, entity) in order.iter().copied() {
            let known = &self.entities[entity];
            let kind = known.id.kind;
            if kind == EntityKind::Sector && owners[entity] != entity {
                continue;
            }
            // A source that keeps a slug of the ledger, such as our own export, has its record, unless another one holds it.
            let kept = known.slug.as_deref().and_then(|slug| self.ledger.number(kind, slug));
            let kept = kept.filter(|number| *holders.entry(*number).or_insert(owners[entity]) == owners[entity]);
            self.numbers[entity] = self.numbers[entity].or(kept);
            self.slugs[entity] = match self.numbers[entity] {
                Some(number) => self.ledger.slug(number).to_owned(),
                None => claim_slug(taken.entry(kind).or_default(), self.wanted_slug(entity)),
            };
        }
        self.assign_records(&order, &owners, &mut taken);
        self.restrict(&vec![true; sources.len()]);
    }

    /// The slug of an entity, unless it is taken.
    fn wanted_slug(&self, entity: usize) -> String {
        let known = &self.entities[entity];
        let kept = known.slug.as_deref().map(str::to_owned);
        let name = || known.name.as_deref().filter(|_| has_page(known.id.kind)).and_then(slug);
        let name = kept.or_else(name).or_else(|| slug(&known.id.key));
        name.unwrap_or_else(|| known.id.kind.name().to_owned())
    }

    /// Assigns records and their slugs. A record has the earliest of the slugs to which those of its entities lead in the
    /// ledger. After a split, such a slug stays with the entity whose own it is.
    fn assign_records(
        &mut self,
        order: &[(usize, usize)],
        owners: &[usize],
        taken: &mut HashMap<EntityKind, HashMap<String, u32>>,
    ) {
        let root_of = |entity: usize| self.numbers[entity].map(|number| self.ledger.root(number));
        let with_roots = || order.iter().filter_map(|(_, entity)| Some((*entity, root_of(*entity)?)));
        // Owners of the records that get a slug of the ledger.
        let mut winners: HashMap<u32, usize> = HashMap::new();
        for (entity, root) in with_roots().filter(|(entity, root)| self.numbers[*entity] == Some(*root)) {
            winners.entry(root).or_insert(owners[entity]);
        }
        for (entity, root) in with_roots() {
            winners.entry(root).or_insert(owners[entity]);
        }
        let mut chosen: HashMap<usize, u32> = HashMap::new();
        for (root, owner) in &winners {
            let known = chosen.entry(*owner).or_insert(*root);
            *known = (*known).min(*root);
        }
        // Records that lost theirs take back a slug that was merged away.
        let mut returned: HashMap<u32, usize> = HashMap::new();
        let lost = with_roots().filter(|(entity, _)| !chosen.contains_key(&owners[*entity]));
        let own = lost.filter_map(|(entity, root)| Some((entity, self.numbers[entity].filter(|own| *own != root)?)));
        for (entity, own) in own {
            returned.entry(own).or_insert(owners[entity]);
        }
        for (own, owner) in returned {
            let known = chosen.entry(owner).or_insert(own);
            *known = (*known).min(own);
        }
        let mut records: Vec<usize> = (0..self.entities.len()).filter(|entity| owners[*entity] == *entity).collect();
        let mut slugs: HashMap<usize, String> = HashMap::new();
        for owner in records.iter().copied() {
            let slug = match chosen.get(&owner) {
                Some(number) => self.ledger.slug(*number).to_owned(),
                None if self.numbers[owner].is_none() => self.slugs[owner].clone(),
                // Another record has its slug.
                None => claim_slug(taken.entry(self.entities[owner].id.kind).or_default(), self.wanted_slug(owner)),
            };
            slugs.insert(owner, slug);
        }
        records.sort_by(|left, right| {
            let key = |entity: &usize| (self.entities[*entity].id.kind, &slugs[entity]);
            key(left).cmp(&key(right))
        });
        let mut numbers = vec![0; self.entities.len()];
        for (number, entity) in records.iter().enumerate() {
            numbers[*entity] = number as u32;
        }
        self.of_roots = winners.into_iter().map(|(root, owner)| (root, numbers[owner])).collect();
        self.record_numbers = owners.iter().map(|owner| numbers[*owner]).collect();
        let record = |entity: &usize| {
            let (kind, slug) = (self.entities[*entity].id.kind, slugs.remove(entity).unwrap_or_default());
            EntityRecord { kind, slug, is_known: false, is_current: false, is_named: false, is_suppressed: false }
        };
        self.records = records.iter().map(record).collect();
        // Slugs that stay with another record.
        for entity in 0..self.entities.len() {
            let record = self.record_numbers[entity];
            let is_lost = |number: &u32| {
                self.ledger.root(*number) == *number && self.of_roots.get(number).is_some_and(|of| *of != record)
            };
            if self.numbers[entity].as_ref().is_some_and(is_lost) {
                self.numbers[entity] = None;
                self.slugs[entity].clone_from(&self.records[record as usize].slug);
            }
        }
    }

    /// Tells of the records only what the used sources say. Records and slugs stay.
    pub(super) fn restrict(&mut self, is_used: &[bool]) {
        for record in &mut self.records {
            [record.is_known, record.is_current, record.is_named, record.is_suppressed] = [false; 4];
        }
        self.is_used = is_used.to_vec();
        for (source, bounds) in self.starts.windows(2).enumerate() {
            for index in bounds[0]..bounds[1] {
                let (entity, record) = (&self.entities[index], &mut self.records[self.record_numbers[index] as usize]);
                record.is_suppressed |= entity.is_suppressed;
                if is_used[source] {
                    record.is_known = true;
                    record.is_current |= entity.is_current;
                    record.is_named |= entity.is_named;
                }
            }
        }
        self.records.iter_mut().for_each(|record| record.is_named &= !record.is_suppressed);
    }

    pub(super) fn record(&self, number: u32) -> &EntityRecord {
        &self.records[number as usize]
    }

    /// Index of an entity of a source, usually `at` or the next one.
    pub(super) fn advance(&self, source: usize, at: usize, id: &EntityId) -> Option<usize> {
        let near = (at..at + 2).find(|index| self.entities.get(*index).is_some_and(|entity| entity.id == *id));
        near.filter(|index| *index < self.starts[source + 1]).or_else(|| self.find(source, id))
    }

    pub(super) fn find(&self, source: usize, id: &EntityId) -> Option<usize> {
        let of_source = &self.entities[self.starts[source]..self.starts[source + 1]];
        of_source.binary_search_by(|entity| entity.id.cmp(id)).ok().map(|index| self.starts[source] + index)
    }

    /// Number of records that no source has any more, and number of suppressed ones.
    pub(super) fn left_out(&self) -> (u64, u64) {
        let is_gone =
            |record: &&EntityRecord| record.is_known && !record.is_current && record.kind != EntityKind::Sector;
        let gone = self.records.iter().filter(is_gone);
        let suppressed = self.records.iter().filter(|record| record.is_current && record.is_suppressed);
        (gone.count() as u64, suppressed.count() as u64)
    }

    /// Entities of the record with a slug, or with one that was merged away.
    pub(super) fn of_slug(&self, sources: &[Source], kind: EntityKind, slug: &str) -> Vec<(String, EntityId)> {
        let entities = || self.entities.iter().enumerate().filter(|(_, entity)| entity.id.kind == kind);
        let first = entities().find(|(index, _)| self.slugs[*index] == slug);
        let merged = || self.of_roots.get(&self.ledger.root(self.ledger.number(kind, slug)?)).copied();
        let Some(number) = first.map(|(index, _)| self.record_numbers[index]).or_else(merged) else {
            return Vec::new();
        };
        let of_record = entities().filter(|(index, _)| self.record_numbers[*index] == number);
        let source = |index: usize| self.starts.partition_point(|start| *start <= index) - 1;
        of_record.map(|(index, entity)| (sources[source(index)].id.clone(), entity.id.clone())).collect()
    }

    pub(super) fn slugs(&self, kind: EntityKind) -> impl Iterator<Item = &str> {
        self.records.iter().filter(move |record| record.kind == kind).map(|record| record.slug.as_str())
    }

    /// Published firms by what a person may call them.
    pub(super) fn firms(&self) -> FirmIndex {
        let mut firms = FirmIndex::default();
        let entities = self.entities.iter().zip(&self.record_numbers).zip(&self.slugs);
        for ((entity, number), slug) in entities.filter(|((entity, _), _)| entity.id.kind == EntityKind::Firm) {
            if !self.record(*number).is_published() || !self.record(*number).is_named {
                continue;
            }
            firms.slugs.insert(slug.clone(), *number);
            let name = entity.name.as_deref().map(|name| (&mut firms.names, identity(name)));
            for (texts, text) in name.into_iter().chain([(&mut firms.keys, entity.id.key.clone())]) {
                let known = texts.entry(text).or_insert(Some(*number));
                *known = known.filter(|known| known == number);
            }
        }
        firms
    }

    /// True for the slug of a written record.
    fn is_own(&self, kind: EntityKind, slug: &str, is_written: &[bool]) -> bool {
        let found = self.records.binary_search_by(|record| (record.kind, record.slug.as_str()).cmp(&(kind, slug)));
        found.is_ok_and(|number| is_written[number])
    }

    /// Slugs that were merged away. `keeps`: slugs to list of those in the ledger.
    pub(super) fn redirects(&self, is_written: &[bool], keeps: &dyn Fn(EntityKind, &str) -> bool) -> FormerSlugs<'_> {
        let mut redirects = FormerSlugs::new();
        let used = self.starts.windows(2).zip(&self.is_used).filter(|(_, is_used)| **is_used);
        for index in used.flat_map(|(bounds, _)| bounds[0]..bounds[1]) {
            let (kind, number, slug) = (self.entities[index].id.kind, self.record_numbers[index], &self.slugs[index]);
            let target = self.record(number).slug.as_str();
            if has_page(kind) && slug != target && is_written[number as usize] {
                redirects.insert((kind, slug), FormerSlug { target, is_of_used_source: true });
            }
        }
        // Of entities that no source has any more; of which sources they were is not known.
        for (number, kind) in self.ledger.numbers() {
            let slug = self.ledger.slug(number);
            if let Some(record) = self.of_roots.get(&self.ledger.root(number))
                && is_written[*record as usize]
                && keeps(kind, slug)
            {
                let target = self.record(*record).slug.as_str();
                redirects.entry((kind, slug)).or_insert(FormerSlug { target, is_of_used_source: false });
            }
        }
        redirects.retain(|(kind, slug), _| !self.is_own(*kind, slug, is_written));
        redirects
    }

    /// Slugs of the ledger that lead to no written record, which are those that are neither its own nor `redirects`, with kind
    /// and last name. People and suppressed records are left out: nobody learns that they were there.
    pub(super) fn gone(
        &self,
        is_written: &[bool],
        redirects: &FormerSlugs<'_>,
        hidden: &Suppressed,
    ) -> Vec<(EntityKind, &str, &str)> {
        let hidden: HashSet<u32> = self.ledger.named_by(hidden).map(|number| self.ledger.root(number)).collect();
        let mut gone = Vec::new();
        for (number, kind) in self.ledger.numbers().filter(|(_, kind)| *kind != EntityKind::Person) {
            let (root, slug) = (self.ledger.root(number), self.ledger.slug(number));
            let is_suppressed = self.of_roots.get(&root).is_some_and(|record| self.record(*record).is_suppressed);
            let is_hidden = is_suppressed || hidden.contains(&root);
            let leads_on = redirects.contains_key(&(kind, slug)) || self.is_own(kind, slug, is_written);
            if !is_hidden && !leads_on {
                gone.push((kind, slug, self.ledger.name(root)));
            }
        }
        gone
    }

    /// Lines to add to the ledger for the written records. `names` has the changed names, each with its record.
    pub(super) fn new_lines(&self, sources: &[Source], is_written: &[bool], names: &[(u32, String)]) -> NewLines {
        let mut lines = BTreeSet::new();
        for (source, bounds) in self.starts.windows(2).enumerate() {
            for index in bounds[0]..bounds[1] {
                let (id, record) = (&self.entities[index].id, self.record_numbers[index]);
                if !has_page(id.kind) || !is_written[record as usize] {
                    continue;
                }
                let now = self.record(record).slug.as_str();
                let own = self.slugs[index].as_str();
                let kept = self.ledger.of_entity(&sources[source].id, id);
                if kept.is_none_or(|number| self.ledger.slug(number) != own) {
                    lines.insert(LedgerLine::of_entity(id.kind, own, &sources[source].id, id));
                }
                let number = self.ledger.number(id.kind, own);
                let root = number.map(|number| self.ledger.root(number));
                let before = root.map_or(own, |root| self.ledger.slug(root));
                if before != now {
                    // All that leads to the slug comes along, if it is that of this record.
                    let is_moved = root.is_none_or(|root| self.of_roots.get(&root) == Some(&record));
                    lines.insert(LedgerLine::merged(id.kind, if is_moved { before } else { own }, now));
                }
            }
        }
        let named = names.iter().map(|(record, name)| (self.record(*record), name));
        lines.extend(named.map(|(record, name)| LedgerLine::named(record.kind, &record.slug, name)));
        NewLines(lines)
    }

    /// The last name that the ledger has for a record; `None` if the name is not kept.
    pub(super) fn kept_name(&self, record: u32) -> Option<&str> {
        let EntityRecord { kind, slug, .. } = self.record(record);
        let number = self.ledger.number(*kind, slug);
        (has_page(*kind) && *kind != EntityKind::Person).then(|| number.map_or("", |number| self.ledger.name(number)))
    }
}

/// Slugs that were merged away, by kind and slug.
type FormerSlugs<'e> = BTreeMap<(EntityKind, &'e str), FormerSlug<'e>>;

pub(super) struct FormerSlug<'e> {
    /// Slug of the record to which it leads.
    pub target: &'e str,
    /// True if an entity of a used source has it. Otherwise it may be made of a name that only other sources have.
    pub is_of_used_source: bool,
}

/// Records of firms by slug, also by one that was merged away, by key and by name; `None` for a text of several.
#[derive(Default)]
pub(super) struct FirmIndex {
    slugs: HashMap<String, u32>,
    keys: HashMap<String, Option<u32>>,
    names: HashMap<String, Option<u32>>,
}

impl FirmIndex {
    /// Record of the firm with this slug, key or name, or the reason why there is none.
    pub(super) fn find(&self, text: &str) -> Result<u32, &'static str> {
        let by_slug = self.slugs.get(text).map(|number| Some(*number));
        let found =
            by_slug.or_else(|| self.keys.get(text).copied()).or_else(|| self.names.get(&identity(text)).copied());
        found.ok_or("is no firm of the sources")?.ok_or("names several firms; write the slug of one")
    }
}

/// Claims the next free slug: `name`, `name-2`, …
fn claim_slug(taken: &mut HashMap<String, u32>, name: String) -> String {
    let mut number = taken.get(&name).copied().unwrap_or(2);
    let mut slug = name.clone();
    while taken.contains_key(&slug) || RESERVED.contains(&&*slug) {
        slug = format!("{name}-{number}");
        number += 1;
    }
    taken.insert(name, number);
    taken.entry(slug.clone()).or_insert(2);
    slug
}
