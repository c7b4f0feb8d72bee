//! One record of the view, composed of statements.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::sources::field::{Field, Form};
use crate::sources::view::entities::Entities;
use crate::sources::view::files::Files;
use crate::sources::{EntityId, EntityKind, Source, SourceError, Standing, Statement};
use data::Date;
use data::identifier;
use data::import::csv_row::MAX_VALUES;
use data::vocabulary::Vocabulary as _;

/// A statement about a record. A reference has the place of the record that it means, in front of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub source: u16,
    /// Whether the source says so now.
    pub is_current: bool,
    pub reference: Option<u32>,
    pub first_seen: Date,
    pub last_seen: Date,
    pub field: String,
    pub value: String,
    pub original: String,
    pub source_key: String,
}

/// Why a statement is not part of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unsaid {
    /// It refers to something that is not in the view.
    Dangling,
    /// It names the startup or organization of the record, which is suppressed.
    Orphaned,
    /// It refers to something else that is suppressed, does not count any more, or its field is not known.
    Irrelevant,
}

impl Said {
    /// A statement of a source.
    pub(super) fn of(source: usize, statement: Statement, entities: &Entities) -> Result<Self, Unsaid> {
        let Statement { entity, field, value, original, source_key, first_seen, last_seen, standing, .. } = statement;
        let is_current = standing == Standing::Current;
        let known = Field::named(entity.kind, &field);
        let mut reference = None;
        if known.is_some_and(|field| matches!(field.form, Form::Reference(_) | Form::Sector)) {
            let target = value.parse::<EntityId>().ok().and_then(|id| entities.find(source, &id));
            let target = target.map(|target| entities.place(target));
            if target.is_some_and(|place| entities.is_named(place)) {
                reference = target;
            } else {
                let is_suppressed = target.is_some_and(|place| entities.is_suppressed(place));
                return Err(match &*field {
                    _ if !is_current => Unsaid::Irrelevant,
                    "startup" | "organization" if is_suppressed => Unsaid::Orphaned,
                    _ if is_suppressed => Unsaid::Irrelevant,
                    _ => Unsaid::Dangling,
                });
            }
        } else if known.is_none() && !field.starts_with(identifier::FIELD) {
            return Err(Unsaid::Irrelevant);
        }
        let source = source as u16;
        Ok(Self { source, is_current, reference, first_seen, last_seen, field, value, original, source_key })
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.source.to_le_bytes());
        bytes.push(u8::from(self.is_current));
        bytes.extend_from_slice(&self.reference.map_or(u32::MAX, |place| place).to_le_bytes());
        bytes.extend_from_slice(&self.first_seen.days().to_le_bytes());
        bytes.extend_from_slice(&self.last_seen.days().to_le_bytes());
        for text in [&self.field, &self.value, &self.original, &self.source_key] {
            bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (source, rest) = bytes.split_first_chunk::<2>()?;
        let (is_current, rest) = rest.split_first()?;
        let (reference, rest) = rest.split_first_chunk::<4>()?;
        let (first_seen, rest) = rest.split_first_chunk::<4>()?;
        let (last_seen, mut rest) = rest.split_first_chunk::<4>()?;
        let mut text = || {
            let (length, after) = rest.split_first_chunk::<4>()?;
            let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = after;
            String::from_utf8(text.to_vec()).ok()
        };
        let [field, value, original, source_key] = [text()?, text()?, text()?, text()?];
        Some(Self {
            source: u16::from_le_bytes(*source),
            is_current: *is_current == 1,
            reference: Some(u32::from_le_bytes(*reference)).filter(|place| *place != u32::MAX),
            first_seen: Date::from_days(i32::from_le_bytes(*first_seen)),
            last_seen: Date::from_days(i32::from_le_bytes(*last_seen)),
            field,
            value,
            original,
            source_key,
        })
    }

    /// The best first.
    fn rank(&self, other: &Self, sources: &[Source]) -> Ordering {
        let priority = |said: &Self| sources[usize::from(said.source)].priority;
        priority(other)
            .cmp(&priority(self))
            .then_with(|| other.last_seen.cmp(&self.last_seen))
            .then_with(|| self.source.cmp(&other.source))
            .then_with(|| self.value.cmp(&other.value))
    }
}

pub(super) struct Record {
    pub place: u32,
    pub kind: EntityKind,
    pub said: Vec<Said>,
}

impl Record {
    pub(super) fn new(place: u32, kind: EntityKind) -> Self {
        Self { place, kind, said: Vec::new() }
    }

    /// Writes the record; `false` if something required is unknown.
    pub(super) fn write(
        &mut self,
        entities: &Entities,
        sources: &[Source],
        files: &mut Files,
    ) -> Result<bool, SourceError> {
        self.said.sort_by(|left, right| left.field.cmp(&right.field).then_with(|| left.rank(right, sources)));
        self.add_aliases();
        let slug = entities.slug(self.place);
        let mut row = vec![slug.to_owned()];
        for field in Field::of(self.kind) {
            let said = self.said.iter().filter(|said| said.is_current && said.field == field.name);
            let mut values: Vec<&str> = Vec::new();
            let mut kind = "";
            for said in said.take(if field.is_list { usize::MAX } else { 1 }) {
                let value = said.reference.map_or(&*said.value, |place| entities.slug(place));
                kind = said.reference.map_or("", |place| entities.kind(place).name());
                if values.len() < MAX_VALUES && !values.contains(&value) {
                    values.push(value);
                }
            }
            let is_required = match self.kind {
                EntityKind::Round => ["startup", "stage"].contains(&field.name),
                _ => ["name", "organization"].contains(&field.name),
            };
            if is_required && values.is_empty() {
                return Ok(false);
            }
            if field.name == "organization" {
                row.push(kind.to_owned());
            }
            row.push(values.join("|"));
        }
        files.row(self.kind, &row)?;
        let identifiers = self.said.iter().filter(|said| said.is_current);
        let identifiers =
            identifiers.filter_map(|said| Some((said.field.strip_prefix(identifier::FIELD)?, &*said.value)));
        for (scheme, value) in identifiers.collect::<BTreeSet<_>>() {
            files.identifier(self.kind, slug, scheme, value)?;
        }
        for said in &self.said {
            let Some(place) = said.reference else {
                files.provenance(self.kind, slug, said, &said.value, &said.original)?;
                continue;
            };
            if said.field == "organization" {
                let kind = Said { field: "organization_kind".to_owned(), ..said.clone() };
                files.provenance(self.kind, slug, &kind, entities.kind(place).name(), "")?;
            }
            let key = said.value.split_once(':').map_or("", |(_, key)| key);
            let original = if said.original.is_empty() { key } else { &said.original };
            files.provenance(self.kind, slug, said, entities.slug(place), original)?;
        }
        Ok(true)
    }

    /// Adds the names that are not the record's as aliases, and removes the name from the aliases.
    fn add_aliases(&mut self) {
        if Field::named(self.kind, "aliases").is_none() {
            return;
        }
        let mut names = self.said.iter().filter(|said| said.is_current && said.field == "name");
        let Some(name) = names.next().map(|said| said.value.clone()) else { return };
        let others: Vec<Said> = names.map(|said| Said { field: "aliases".to_owned(), ..said.clone() }).collect();
        self.said.retain(|said| said.field != "aliases" || said.value != name);
        // Before `city` and the other fields, which come in the order of their names.
        let end = self.said.partition_point(|said| *said.field <= *"aliases");
        self.said.splice(end..end, others.into_iter().filter(|said| said.value != name));
    }
}
