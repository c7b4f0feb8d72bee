//! Collects records and rounds from the statements of sources.

use std::collections::HashMap;
use std::path::Path;

use crate::resolve::record::SourceRecord;
use crate::resolve::rounds::{RoundStatements, SourceRound};
use crate::sources::{EntityId, EntityKind, Source, SourceError, Standing, Statement, Suppressed};
use data::identifier::{self, normalize};
use data::{Country, Progress};

#[derive(Clone, Debug, Default)]
pub struct SourceRecords {
    pub records: Vec<SourceRecord>,
    pub rounds: Vec<SourceRound>,
}

/// Reads the records of sources in a folder from their current statements, with their former names as aliases. For an entity
/// that its source no longer has, the last statements count, so that a record which another source still has keeps its slug.
pub fn read_records(
    folder: &Path,
    sources: &[Source],
    suppressed: &Suppressed,
    progress: &dyn Progress,
) -> Result<SourceRecords, SourceError> {
    let mut collected = SourceRecords::default();
    for (number, source) in (0..).zip(sources) {
        progress.step(&format!("read {}", source.id), 0);
        let mut reader = RecordCollector { source: &source.id, number, ..RecordCollector::default() };
        for statement in source.statements(folder)? {
            let statement = statement?;
            match statement.standing {
                Standing::Former if statement.field == "name" => {
                    reader.former.push((statement.entity, statement.value))
                }
                Standing::Former => {}
                _ => reader.add(statement, suppressed),
            }
        }
        reader.finish(&mut collected);
        progress.done();
    }
    Ok(collected)
}

#[derive(Default)]
struct RecordCollector<'a> {
    source: &'a str,
    number: u32,
    records: Vec<SourceRecord>,
    rows: HashMap<EntityId, usize>,
    rounds: Vec<RoundStatements>,
    sectors: HashMap<EntityId, String>,
    /// Rows of people with their organizations.
    members: Vec<(usize, EntityId)>,
    /// Names that the source once gave to its entities.
    former: Vec<(EntityId, String)>,
    entity: Option<EntityId>,
    /// Last field of the entity. The first value counts for a field that takes one value, as in the view.
    field: String,
}

impl RecordCollector<'_> {
    fn add(&mut self, statement: Statement, suppressed: &Suppressed) {
        // A round that is gone may have been replaced by another one.
        let kind = statement.entity.kind;
        if kind == EntityKind::Review || kind == EntityKind::Round && statement.standing == Standing::Gone {
            return;
        }
        if self.entity.as_ref() != Some(&statement.entity) {
            let is_suppressed = suppressed.names(self.source, &statement.entity);
            self.begin(&statement.entity, statement.standing == Standing::Gone, is_suppressed);
        }
        let Statement { entity, field, value, first_seen, last_seen, .. } = statement;
        if entity.kind == EntityKind::Round {
            if let Some(round) = self.rounds.last_mut() {
                round.add(field, &value);
            }
            return;
        }
        let is_first = self.field != field;
        self.field.clone_from(&field);
        if entity.kind == EntityKind::Sector {
            if field == "name" {
                self.sectors.insert(entity, value);
            }
            return;
        }
        let row = self.records.len().wrapping_sub(1);
        let Some(record) = self.records.last_mut() else { return };
        let (first, last) = record.seen.unwrap_or((first_seen, last_seen));
        record.seen = Some((first.min(first_seen), last.max(last_seen)));
        if let Some(scheme) = field.strip_prefix(identifier::FIELD) {
            record.identifiers.extend(normalize(scheme, &value).ok().map(|value| (scheme.to_owned(), value)));
            return;
        }
        match field.as_str() {
            "aliases" => record.aliases.push(value),
            "sectors" => record.sectors.push(value),
            "organization" => self.members.extend(value.parse().ok().map(|entity| (row, entity))),
            _ if !is_first => {}
            "name" => record.name = value,
            "website" => record.website = Some(value),
            "country" => record.country = Country::read(&value),
            "city" => record.city = Some(value),
            "founded_year" => record.founded_year = value.parse().ok(),
            _ => {}
        }
    }

    fn begin(&mut self, entity: &EntityId, is_gone: bool, is_suppressed: bool) {
        self.entity = Some(entity.clone());
        self.field.clear();
        match entity.kind {
            EntityKind::Firm | EntityKind::Startup | EntityKind::Person => {}
            EntityKind::Round => {
                let id = format!("{}/{entity}", self.source);
                return self.rounds.push(RoundStatements::new(id, self.number));
            }
            EntityKind::Review | EntityKind::Sector => return,
        }
        self.rows.insert(entity.clone(), self.records.len());
        let record = SourceRecord::new(entity.kind.table(), format!("{}/{entity}", self.source), self.number);
        self.records.push(SourceRecord { is_gone, is_suppressed, ..record });
    }

    /// Adds the records that have a name, with their links, and the rounds of known startups.
    fn finish(mut self, collected: &mut SourceRecords) {
        for RoundStatements { mut round, startup, investors, .. } in std::mem::take(&mut self.rounds) {
            let find = |entity: &EntityId| self.rows.get(entity).copied();
            let Some(startup) = startup.as_ref().and_then(find) else { continue };
            let investors: Vec<usize> = investors.iter().filter_map(find).collect();
            let record = &mut self.records[startup];
            record.size += 1;
            record.links.add_round(round.announced_on, round.amount_usd);
            round.startup.clone_from(&record.id);
            collected.rounds.push(round);
            for investor in investors {
                self.records[investor].size += 1;
                self.link(startup, investor);
            }
        }
        for (entity, name) in std::mem::take(&mut self.former) {
            if let Some(row) = self.rows.get(&entity)
                && self.records[*row].name != name
            {
                self.records[*row].aliases.push(name);
            }
        }
        for (person, organization) in std::mem::take(&mut self.members) {
            let Some(organization) = self.rows.get(&organization).copied() else { continue };
            self.link(person, organization);
            let SourceRecord { website, size, .. } = &self.records[organization];
            let (website, size) = (website.clone(), *size);
            let person = &mut self.records[person];
            person.size = person.size.max(size);
            website.iter().for_each(|address| person.links.add_website(address));
        }
        for sector in self.records.iter_mut().flat_map(|record| &mut record.sectors) {
            let name = sector.parse().ok().and_then(|entity: EntityId| self.sectors.get(&entity));
            name.into_iter().for_each(|name| sector.clone_from(name));
        }
        collected.records.extend(self.records.into_iter().filter(|record| !record.name.is_empty()));
    }

    /// Links two records, each by the id and the name of the other.
    fn link(&mut self, left: usize, right: usize) {
        for (from, to) in [(left, right), (right, left)] {
            let SourceRecord { table, name, id, .. } = &self.records[to];
            let (table, name, id) = (*table, name.clone(), id.clone());
            let links = &mut self.records[from].links;
            links.add_name(table, &name);
            links.add_record(&id);
        }
    }
}
