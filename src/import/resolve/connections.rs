//! Names of what records are connected with, for people who compare them: the sources are read again for these records only.
//! A resolution itself has hashes of the names.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::resolve::rounds::RoundStatements;
use crate::sources::statement::Standing;
use crate::sources::{EntityId, EntityKind, Source, SourceError};
use data::Progress;
use data::number::grouped;
use data::vocabulary::Vocabulary as _;

/// Connections of one record, without repetition and in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Such as `2024-05-17 seed 1,250,000 USD`, of a startup.
    pub rounds: Vec<String>,
    pub investors: Vec<String>,
    pub startups: Vec<String>,
    pub people: Vec<String>,
    pub organizations: Vec<String>,
}

impl Connections {
    fn names_mut(&mut self, role: Role) -> &mut Vec<String> {
        match role {
            Role::Investor => &mut self.investors,
            Role::Startup => &mut self.startups,
            Role::Person => &mut self.people,
            Role::Organization => &mut self.organizations,
        }
    }

    fn sort(&mut self) {
        let Self { rounds, investors, startups, people, organizations } = self;
        for list in [rounds, investors, startups, people, organizations] {
            list.sort_unstable();
            list.dedup();
        }
    }
}

/// What the other record of a connection is.
#[derive(Clone, Copy)]
enum Role {
    Investor,
    Startup,
    Person,
    Organization,
}

/// Reads the connections of the records with these ids, such as `gleif/firm:lei:5493…`.
pub fn read_connections(
    folder: &Path,
    sources: &[Source],
    ids: &HashSet<&str>,
    progress: &dyn Progress,
) -> Result<HashMap<String, Connections>, SourceError> {
    let mut found = HashMap::new();
    for source in sources {
        let own = ids.iter().filter_map(|id| id.strip_prefix(&source.id)?.strip_prefix('/')?.parse().ok());
        let wanted: HashSet<EntityId> = own.collect();
        if wanted.is_empty() {
            continue;
        }
        progress.step(&format!("read {}", source.id), 0);
        let mut collector = ConnectionCollector { wanted, ..ConnectionCollector::default() };
        collector.collect_links(folder, source)?;
        let names = collector.read_names(folder, source)?;
        for (entity, role, other) in &collector.links {
            let name = names.get(other).filter(|name| !name.is_empty());
            let list = collector.found.entry(entity.clone()).or_default().names_mut(*role);
            list.extend(name.cloned());
        }
        for (entity, mut connections) in collector.found {
            connections.sort();
            found.insert(format!("{}/{entity}", source.id), connections);
        }
        progress.done();
    }
    Ok(found)
}

#[derive(Default)]
struct ConnectionCollector {
    wanted: HashSet<EntityId>,
    found: HashMap<EntityId, Connections>,
    /// A wanted record, the role of the other, and the other.
    links: Vec<(EntityId, Role, EntityId)>,
}

impl ConnectionCollector {
    fn collect_links(&mut self, folder: &Path, source: &Source) -> Result<(), SourceError> {
        let mut round: Option<(EntityId, RoundStatements)> = None;
        for statement in source.statements(folder)? {
            let statement = statement?;
            let is_current = statement.standing == Standing::Current;
            match statement.entity.kind {
                EntityKind::Person if statement.field == "organization" && statement.standing != Standing::Former => {
                    if let Ok(organization) = statement.value.parse::<EntityId>() {
                        self.link(&statement.entity, Role::Person, &organization, Role::Organization);
                    }
                }
                EntityKind::Round if is_current => {
                    if round.as_ref().is_none_or(|(entity, _)| *entity != statement.entity) {
                        self.end_round(round.take());
                    }
                    let (_, parts) = round.get_or_insert_with(|| (statement.entity, RoundStatements::default()));
                    parts.add(statement.field, &statement.value);
                }
                _ => {}
            }
        }
        self.end_round(round);
        Ok(())
    }

    fn end_round(&mut self, round: Option<(EntityId, RoundStatements)>) {
        let Some((_, RoundStatements { startup: Some(startup), investors, round, .. })) = round else { return };
        for investor in &investors {
            self.link(&startup, Role::Startup, investor, Role::Investor);
        }
        if self.wanted.contains(&startup) {
            let date = round.announced_on.map(|date| date.to_string());
            let stage = round.stage.map(|stage| stage.name().to_owned());
            let amount = round.amount_usd.map(|amount| format!("{} USD", grouped(amount)));
            let parts: Vec<String> = [date, stage, amount].into_iter().flatten().collect();
            self.found.entry(startup).or_default().rounds.push(parts.join(" "));
        }
    }

    /// Links two entities, each with its own role for the other.
    fn link(&mut self, left: &EntityId, left_role: Role, right: &EntityId, right_role: Role) {
        for (own, other, role) in [(left, right, right_role), (right, left, left_role)] {
            if self.wanted.contains(own) {
                self.links.push((own.clone(), role, other.clone()));
            }
        }
    }

    fn read_names(&self, folder: &Path, source: &Source) -> Result<HashMap<EntityId, String>, SourceError> {
        let mut names: HashMap<EntityId, String> =
            self.links.iter().map(|(.., other)| (other.clone(), String::new())).collect();
        for statement in source.statements(folder)? {
            let statement = statement?;
            if statement.field != "name" || statement.standing == Standing::Former {
                continue;
            }
            if let Some(name) = names.get_mut(&statement.entity).filter(|name| name.is_empty()) {
                *name = statement.value;
            }
        }
        Ok(names)
    }
}
