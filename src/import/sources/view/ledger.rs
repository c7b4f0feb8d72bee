//! The identity ledger: `ledger.csv`, next to the folders of the sources.
//!
//! It has the slug of every entity that was published, the id of a round, which slugs were merged into others, and the last
//! name of every record. So addresses stay the same whatever sources, filters and decisions a later build has, and no record gets the
//! address of another one. A build only adds lines; of lines that contradict each other, the last one counts.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use crate::sources::statement::source_entity;
use crate::sources::suppressed::{Suppressed, with_hashed_key};
use crate::sources::update::append;
use crate::sources::{EntityId, EntityKind, SourceError, read_edited};
use data::Date;
use data::import::csv_row::CsvRow;
use data::import::csv_table::TableRow;
use data::vocabulary::Vocabulary as _;

/// Kinds of records that have an address of their own.
const KINDS: [EntityKind; 4] = [EntityKind::Firm, EntityKind::Startup, EntityKind::Person, EntityKind::Round];

/// True if records of the kind have an address of their own.
pub(super) fn has_page(kind: EntityKind) -> bool {
    KINDS.contains(&kind)
}

/// One of: the slug of an entity, the slug into which another was merged, the name of a record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LedgerLine {
    kind: EntityKind,
    slug: String,
    /// Source and entity, as decisions name them. The keys of people are hashed.
    entity: String,
    into: String,
    name: String,
}

impl TableRow for LedgerLine {
    const NOUN: &'static str = "line";
    const FILE: &'static str = "ledger.csv";
    const HEADER: &'static str = "kind,slug,entity,into,name,on";
    const REQUIRED: &'static str = "kind,slug,entity,into,name";
}

impl LedgerLine {
    fn read(row: &mut CsvRow<'_, '_>) -> Option<Self> {
        row.date("on");
        let kind = row.required("kind", |row, column| row.word(column))?;
        let mut text = |column: &'static str| row.field(column).to_owned();
        let [slug, entity, into, name] = ["slug", "entity", "into", "name"].map(&mut text);
        if !KINDS.contains(&kind) || slug.is_empty() {
            row.error(
                "slug",
                "has no slug of a firm, a startup, a person or a round; restore the line from a copy of the file"
                    .to_owned(),
            );
            return None;
        }
        if let (false, Err(problem)) = (entity.is_empty(), source_entity(&entity, &[kind])) {
            row.error("entity", format!("{problem}; restore the line from a copy of the file"));
            return None;
        }
        Some(Self { kind, slug, entity, into, name })
    }

    fn new(kind: EntityKind, slug: &str) -> Self {
        let [entity, into, name] = Default::default();
        Self { kind, slug: slug.to_owned(), entity, into, name }
    }

    pub(super) fn of_entity(kind: EntityKind, slug: &str, source: &str, entity: &EntityId) -> Self {
        Self { entity: entity_text(source, entity), ..Self::new(kind, slug) }
    }

    pub(super) fn merged(kind: EntityKind, slug: &str, into: &str) -> Self {
        Self { into: into.to_owned(), ..Self::new(kind, slug) }
    }

    pub(super) fn named(kind: EntityKind, slug: &str, name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::new(kind, slug) }
    }
}

fn entity_text(source: &str, entity: &EntityId) -> String {
    match entity.kind {
        EntityKind::Person => format!("{source}/{}", with_hashed_key(source, entity)),
        _ => format!("{source}/{entity}"),
    }
}

/// A slug of the ledger.
#[derive(Debug)]
struct LedgerSlug {
    kind: EntityKind,
    slug: String,
    /// Slug into which it was merged; its own one if it was not, or is not any more.
    into: u32,
    name: String,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// In the order of their first lines.
    slugs: Vec<LedgerSlug>,
    numbers: HashMap<EntityKind, HashMap<String, u32>>,
    /// Slugs of entities.
    entities: HashMap<String, u32>,
}

impl Ledger {
    /// Reads the file in `folder`; a missing file is an empty ledger.
    pub(super) fn read(folder: &Path) -> Result<Self, SourceError> {
        read_edited(folder, LedgerLine::read, |lines, _| Self::new(lines))
    }

    fn new(lines: Vec<LedgerLine>) -> Self {
        let mut ledger = Self::default();
        for LedgerLine { kind, slug, entity, into, name } in lines {
            let number = ledger.add(kind, slug);
            if !entity.is_empty() {
                ledger.entities.insert(entity, number);
            }
            if !into.is_empty() {
                let into = ledger.add(kind, into);
                ledger.slugs[number as usize].into = into;
            }
            if !name.is_empty() {
                ledger.slugs[number as usize].name = name;
            }
        }
        ledger
    }

    fn add(&mut self, kind: EntityKind, slug: String) -> u32 {
        let next = self.slugs.len() as u32;
        let number = *self.numbers.entry(kind).or_default().entry(slug.clone()).or_insert(next);
        if number == next {
            self.slugs.push(LedgerSlug { kind, slug, into: next, name: String::new() });
        }
        number
    }

    /// All slugs of a kind, which no other entity gets.
    pub(super) fn slugs_of(&self, kind: EntityKind) -> impl Iterator<Item = &str> {
        self.numbers.get(&kind).into_iter().flatten().map(|(slug, _)| slug.as_str())
    }

    pub(super) fn number(&self, kind: EntityKind, slug: &str) -> Option<u32> {
        self.numbers.get(&kind)?.get(slug).copied()
    }

    pub(super) fn slug(&self, number: u32) -> &str {
        &self.slugs[number as usize].slug
    }

    /// Number of the slug that an entity has.
    pub(super) fn of_entity(&self, source: &str, entity: &EntityId) -> Option<u32> {
        (!self.slugs.is_empty()).then(|| self.entities.get(&entity_text(source, entity)).copied())?
    }

    /// The slug to which that of a number leads in the end.
    pub(super) fn root(&self, number: u32) -> u32 {
        let next = |number: u32| self.slugs[number as usize].into;
        let (mut slow, mut fast) = (number, next(number));
        while next(fast) != fast {
            (slow, fast) = (next(slow), next(next(fast)));
            // Edited lines that go round lead to the first slug of the circle.
            if slow == fast {
                let circle = std::iter::successors(Some(next(slow)), |number| Some(next(*number)));
                return circle.take_while(|number| *number != slow).fold(slow, u32::min);
            }
        }
        fast
    }

    /// Numbers of all slugs with their kinds.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (u32, EntityKind)> {
        (0..).zip(&self.slugs).map(|(number, known)| (number, known.kind))
    }

    /// Numbers of the slugs of entities that are suppressed.
    pub(super) fn named_by(&self, hidden: &Suppressed) -> impl Iterator<Item = u32> {
        let is_hidden = |text: &str| {
            let entity = source_entity(text, &KINDS);
            entity.is_ok_and(|(source, entity)| hidden.names(source, &entity))
        };
        self.entities.iter().filter(move |(text, _)| is_hidden(text)).map(|(_, number)| *number)
    }

    /// The last name of the record with the slug; empty if it is not known.
    pub(super) fn name(&self, number: u32) -> &str {
        &self.slugs[number as usize].name
    }
}

/// Lines that a build adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewLines(pub(super) BTreeSet<LedgerLine>);

impl NewLines {
    /// Adds the lines to the ledger of the sources in `folder`.
    pub fn append(&self, folder: &Path, on: Date) -> Result<(), SourceError> {
        let on = on.to_string();
        let line = |LedgerLine { kind, slug, entity, into, name }: &LedgerLine| {
            [kind.name(), slug, entity, into, name, &on].map(str::to_owned)
        };
        let lines: Vec<[String; 6]> = self.0.iter().map(line).collect();
        let lines: Vec<[&str; 6]> = lines.iter().map(|line| line.each_ref().map(String::as_str)).collect();
        if lines.is_empty() { Ok(()) } else { append(&folder.join(LedgerLine::FILE), LedgerLine::HEADER, &lines) }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
