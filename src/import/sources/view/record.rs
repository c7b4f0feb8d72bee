//! A record of the view, composed of statements.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use crate::sources::field::{FieldForm, SourceField};
use crate::sources::sort::{put_text, take_text};
use crate::sources::view::LeftOut;
use crate::sources::view::entities::Entities;
use crate::sources::view::files::Files;
use crate::sources::{EntityId, EntityKind, Result, Source, Standing, Statement};
use data::Date;
use data::fold::fold;
use data::identifier;
use data::import::csv_row::MAX_VALUES;
use data::import::identifiers::RecordIdentifier;
use data::vocabulary::Vocabulary as _;
use data::written::identity;
use search::edit_distance::distance_within;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ViewStatement {
    pub source: u16,
    pub is_current: bool,
    /// Number of the record to which the value refers.
    pub reference: Option<u32>,
    pub first_seen: Date,
    pub last_seen: Date,
    pub field: String,
    pub value: String,
    pub original: String,
    pub source_key: String,
}

/// Reason why a statement is not part of a view.
pub(super) enum StatementExclusion {
    /// It refers to a record that is not in the view.
    Dangling(Box<LeftOut>),
    /// It refers to the startup or organization of the record, which is suppressed.
    Orphaned,
    /// It refers to another suppressed record, is an outdated reference to a missing one, or has an unknown field.
    Irrelevant,
}

impl ViewStatement {
    pub(super) fn new(source: usize, statement: Statement, entities: &Entities) -> Result<Self, StatementExclusion> {
        let Statement { entity, field, value, original, source_key, first_seen, last_seen, standing, .. } = statement;
        let is_current = standing == Standing::Current;
        let known = SourceField::named(entity.kind, &field);
        let mut reference = None;
        if known.is_some_and(|field| matches!(field.form, FieldForm::Reference(_) | FieldForm::Sector)) {
            let target = value.parse::<EntityId>().ok().and_then(|id| entities.find(source, &id));
            let target = target.map(|target| entities.record_numbers[target]);
            if target.is_some_and(|number| entities.record(number).is_named) {
                reference = target;
            } else {
                let is_suppressed = target.is_some_and(|number| entities.record(number).is_suppressed);
                return Err(match &*field {
                    _ if !is_current => StatementExclusion::Irrelevant,
                    "startup" | "organization" | "firm" if is_suppressed => StatementExclusion::Orphaned,
                    _ if is_suppressed => StatementExclusion::Irrelevant,
                    _ => StatementExclusion::Dangling(Box::new(LeftOut {
                        kind: entity.kind.name(),
                        record: String::new(),
                        source: String::new(),
                        key: source_key,
                        field: field.clone(),
                        value: value.clone(),
                    })),
                });
            }
        } else if known.is_none() && !field.starts_with(identifier::FIELD) {
            return Err(StatementExclusion::Irrelevant);
        }
        let source = source as u16;
        Ok(Self { source, is_current, reference, first_seen, last_seen, field, value, original, source_key })
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.source.to_le_bytes());
        bytes.push(u8::from(self.is_current));
        bytes.extend_from_slice(&self.reference.unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend_from_slice(&self.first_seen.days().to_le_bytes());
        bytes.extend_from_slice(&self.last_seen.days().to_le_bytes());
        for text in [&self.field, &self.value, &self.original, &self.source_key] {
            put_text(bytes, text);
        }
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (source, rest) = bytes.split_first_chunk::<2>()?;
        let (is_current, rest) = rest.split_first()?;
        let (reference, rest) = rest.split_first_chunk::<4>()?;
        let (first_seen, rest) = rest.split_first_chunk::<4>()?;
        let (last_seen, mut rest) = rest.split_first_chunk::<4>()?;
        let mut text = || take_text(&mut rest).map(str::to_owned);
        let [field, value, original, source_key] = [text()?, text()?, text()?, text()?];
        Some(Self {
            source: u16::from_le_bytes(*source),
            is_current: *is_current == 1,
            reference: Some(u32::from_le_bytes(*reference)).filter(|number| *number != u32::MAX),
            first_seen: Date::from_days(i32::from_le_bytes(*first_seen)),
            last_seen: Date::from_days(i32::from_le_bytes(*last_seen)),
            field,
            value,
            original,
            source_key,
        })
    }

    /// Orders statements of a field, the best first.
    fn rank(&self, other: &Self, sources: &[Source]) -> Ordering {
        let priority = |statement: &Self| Reverse(sources[usize::from(statement.source)].priority);
        let key = |statement: &Self| (priority(statement), Reverse(statement.last_seen), statement.source);
        key(self).cmp(&key(other)).then_with(|| self.value.cmp(&other.value))
    }
}

pub(super) struct ViewRecord {
    pub number: u32,
    pub kind: EntityKind,
    pub statements: Vec<ViewStatement>,
}

impl ViewRecord {
    /// Writes the record. Returns the name of a required field that is missing.
    pub(super) fn write(
        &mut self,
        entities: &Entities,
        sources: &[Source],
        files: &mut Files<'_>,
    ) -> Result<Option<&'static str>> {
        self.statements.sort_by(|left, right| left.field.cmp(&right.field).then_with(|| left.rank(right, sources)));
        self.add_aliases();
        let slug = &entities.record(self.number).slug;
        let mut row = vec![slug.to_owned()];
        for field in SourceField::of_kind(self.kind) {
            let statements = self.statements.iter().filter(|found| found.is_current && found.field == field.name);
            let mut values: Vec<&str> = Vec::new();
            let mut kind = "";
            for statement in statements.take(if field.is_list { usize::MAX } else { 1 }) {
                let reference = statement.reference.map(|number| entities.record(number));
                let value = reference.map_or(&*statement.value, |record| &*record.slug);
                kind = reference.map_or("", |record| record.kind.name());
                if values.len() < MAX_VALUES && !values.contains(&value) {
                    values.push(value);
                }
            }
            if SourceField::required(self.kind).contains(&field.name) && values.is_empty() {
                return Ok(Some(field.name));
            }
            if field.name == "organization" {
                row.push(kind.to_owned());
            }
            row.push(values.join("|"));
        }
        files.write_row(self.kind, &row)?;
        let current = self.statements.iter().filter(|statement| statement.is_current);
        let identifiers =
            current.filter_map(|statement| Some((statement.field.strip_prefix(identifier::FIELD)?, &*statement.value)));
        for (scheme, value) in identifiers.collect::<BTreeSet<_>>() {
            files.line::<RecordIdentifier>(&[self.kind.name(), slug, scheme, value])?;
        }
        for statement in &self.statements {
            let Some(number) = statement.reference else {
                files.write_provenance(self.kind, slug, statement, &statement.value, &statement.original)?;
                continue;
            };
            if statement.field == "organization" {
                let kind = ViewStatement { field: "organization_kind".to_owned(), ..statement.clone() };
                files.write_provenance(self.kind, slug, &kind, entities.record(number).kind.name(), "")?;
            }
            let key = statement.value.split_once(':').map_or("", |(_, key)| key);
            let original = if statement.original.is_empty() { key } else { &statement.original };
            files.write_provenance(self.kind, slug, statement, &entities.record(number).slug, original)?;
        }
        Ok(None)
    }

    /// The current name, once the record was written.
    pub(super) fn name(&self) -> Option<&str> {
        let mut names = self.statements.iter().filter(|statement| statement.is_current && statement.field == "name");
        names.next().map(|statement| &*statement.value)
    }

    /// Turns further names into aliases, and removes the record's name from the aliases.
    fn add_aliases(&mut self) {
        if SourceField::named(self.kind, "aliases").is_none() {
            return;
        }
        let mut names = self.statements.iter().filter(|statement| statement.is_current && statement.field == "name");
        let Some(name) = names.next().map(|statement| statement.value.clone()) else { return };
        let alias = |statement: &ViewStatement| ViewStatement { field: "aliases".to_owned(), ..statement.clone() };
        let others: Vec<ViewStatement> = names.map(alias).collect();
        let former: Vec<ViewStatement> = self.former_names(&name).map(alias).collect();
        self.statements.retain(|statement| statement.field != "aliases" || statement.value != name);
        // Fields are sorted by name: insert after `aliases`.
        let end = self.statements.partition_point(|statement| *statement.field <= *"aliases");
        self.statements.splice(end..end, others.into_iter().filter(|statement| statement.value != name));
        for statement in former {
            let is_known = |known: &ViewStatement| {
                known.field == "aliases" && identity(&known.value) == identity(&statement.value)
            };
            if !self.statements.iter().any(is_known) {
                let end = self.statements.partition_point(|known| *known.field <= *"aliases");
                self.statements.insert(end, ViewStatement { is_current: true, ..statement });
            }
        }
    }

    /// Names that sources gave to the record on earlier days than its present one. One that was corrected on the day it came,
    /// or that differs by letters only, was a mistake.
    fn former_names(&self, name: &str) -> impl Iterator<Item = &ViewStatement> {
        let names = || self.statements.iter().filter(|statement| statement.field == "name");
        let is_former = move |former: &&ViewStatement| {
            let is_replaced = |present: &ViewStatement| {
                present.is_current && present.source == former.source && present.first_seen > former.first_seen
            };
            let length = |text: &str| text.chars().count().min(9) as u8;
            let is_misspelled =
                |present: &str| distance_within(&fold(&former.value), &fold(present), length(present) / 4).is_some();
            !former.is_current && names().any(is_replaced) && !is_misspelled(name)
        };
        names().filter(is_former)
    }
}
