//! Collects the statements of rows and groups them by entity.

use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;

use crate::sources::convert::{ConvertedValue, Converter, Dropped, meets, slug};
use crate::sources::evidence::ImportEvidence;
use crate::sources::field::FieldForm;
use crate::sources::import::summary::{ImportSummary, RowEvent};
use crate::sources::input::InputRow;
use crate::sources::mapping::{KeyForm, Mapping, MappingSection};
use crate::sources::money::Rates;
use crate::sources::sort::{Sorter, put_text, take_text};
use crate::sources::{EntityId, EntityKind, NewStatement, SourceError, Update};
use data::import::csv_row::MAX_LINE;
use data::parameter_error::shortened_to;
use data::vocabulary::Vocabulary as _;

/// Maximum number of sectors of a source. A column with more values does not contain sectors.
const MAX_SECTORS: usize = 10_000;

/// Maximum number of created entities to remember, so that they are not created again for each row.
const MAX_CREATED: usize = 100_000;

/// Terminator of the entity in sort keys. No text of a source contains it.
const END: u8 = 0;

/// Section of entities that fields create: sectors, and those of `create`.
const CREATED: u16 = u16::MAX;

pub(super) struct StatementCollector<'a> {
    mapping: &'a Mapping,
    folder: &'a Path,
    pub summary: ImportSummary,
    /// Names of all fields, sorted. Statements refer to them by index.
    fields: Vec<String>,
    /// Fields of each section: index of the name, and converter.
    converters: Vec<Vec<(u16, Converter<'a>)>>,
    sectors: HashSet<String>,
    created: HashSet<String>,
    sorter: Sorter,
    key: Vec<u8>,
    value: Vec<u8>,
    converted: Vec<ConvertedValue>,
    dropped: Vec<Dropped>,
}

impl<'a> StatementCollector<'a> {
    pub(super) fn new(
        mapping: &'a Mapping,
        folder: &'a Path,
        rates: &'a Rates,
        evidence: &ImportEvidence,
        summary: ImportSummary,
    ) -> Self {
        let names = mapping.sections.iter().flat_map(|section| &section.fields).map(|field| field.target.name());
        let mut fields: Vec<String> = names.chain(["name".to_owned()]).collect();
        fields.sort();
        fields.dedup();
        let index = |name: &str| fields.iter().position(|known| known == name).unwrap_or_default() as u16;
        let converters = mapping.sections.iter().map(|section| {
            let fields = section.fields.iter();
            fields.map(|field| (index(&field.target.name()), Converter::new(field, rates, evidence))).collect()
        });
        Self {
            mapping,
            folder,
            summary,
            converters: converters.collect(),
            fields,
            sectors: HashSet::new(),
            created: HashSet::new(),
            sorter: Sorter::new(folder),
            key: Vec::new(),
            value: Vec::new(),
            converted: Vec::new(),
            dropped: Vec::new(),
        }
    }

    pub(super) fn evidence(&self) -> ImportEvidence {
        let mut evidence = ImportEvidence::default();
        for (_, converter) in self.converters.iter().flatten() {
            evidence.add(&converter.field.value, &converter.seen);
        }
        evidence
    }

    pub(super) fn add(&mut self, sections: &[usize], row: &InputRow) -> Result<(), SourceError> {
        let mapping = self.mapping;
        for index in sections.iter().copied() {
            let section = &mapping.sections[index];
            self.summary.sections[index].rows += 1;
            if !meets(row, &section.when) {
                self.summary.sections[index].left_out += 1;
                self.summary.note(row, || RowEvent::Unused { section: Some(index) });
                continue;
            }
            let (key, text) = match self.key(index, section, row) {
                Ok(key) => key,
                Err(reason) => {
                    self.summary.without_key(index, row, reason.into());
                    continue;
                }
            };
            self.summary.note(row, || RowEvent::Entity { section: index });
            let entity = format!("{}:{key}", section.kind);
            let source_key = section.source_key.as_ref().and_then(|value| value.text(row)).unwrap_or(text);
            let source_key = shortened_to(MAX_LINE - 1, &source_key);
            self.value.clear();
            put_text(&mut self.value, &source_key);
            for (at, field) in section.fields.iter().enumerate() {
                let (name, converter) = &mut self.converters[index][at];
                let name = *name;
                self.converted.clear();
                converter.values(row, &mut self.converted, &mut self.dropped);
                // A missing amount would falsify the sum; an empty value marks it as unknown.
                if field.is_sum && self.converted.is_empty() && !self.dropped.is_empty() {
                    put_value(&mut self.value, name, "", "");
                }
                for dropped in self.dropped.drain(..) {
                    self.summary.add_dropped(index, at, row, dropped);
                }
                let converted = std::mem::take(&mut self.converted);
                for found in &converted {
                    let (mut value, original) = (found.value.as_str(), &found.original);
                    let reference;
                    if field.target.form() == FieldForm::Sector {
                        match self.sector(value)? {
                            Ok(sector) => reference = sector,
                            Err(reason) => {
                                let dropped = Dropped { text: value.to_owned(), reason: reason.into() };
                                self.summary.add_dropped(index, at, row, dropped);
                                continue;
                            }
                        }
                        value = &reference;
                    } else if field.reference.as_ref().is_some_and(|reference| reference.is_created) {
                        let key = || value.split_once(':').map_or("", |(_, key)| key);
                        self.create(value, if original.is_empty() { key() } else { original })?;
                    }
                    put_value(&mut self.value, name, value, original);
                    self.summary.add_value(index, at, row, found);
                }
                self.converted = converted;
            }
            self.key.clear();
            self.key.extend_from_slice(entity.as_bytes());
            self.key.push(END);
            self.key.extend_from_slice(&(index as u16).to_be_bytes());
            if let Some(latest_by) = &section.latest_by {
                self.key.extend_from_slice(latest_by.order(row).as_bytes());
            }
            // Equal rows keep the order of the files, which joins change.
            self.key.push(END);
            self.key.extend_from_slice(&row.file.to_be_bytes());
            self.key.extend_from_slice(&row.line.to_be_bytes());
            self.sorter.push(&self.key, &self.value).map_err(|error| SourceError::io(self.folder, error))?;
        }
        Ok(())
    }

    /// Key of a row's entity, and the text from which it was made.
    fn key(&mut self, index: usize, section: &MappingSection, row: &InputRow) -> Result<(String, String), String> {
        if let Some((value, form)) = &section.key {
            let mut dropped = Vec::new();
            let text = value.texts(row, &mut dropped).into_iter().next();
            let text = text.ok_or_else(|| match dropped.pop() {
                Some(Dropped { reason, .. }) => format!("its key {reason}"),
                None => "its key is empty".to_owned(),
            })?;
            let key = form.make_key(&text.value).map_err(|reason| format!("its key {reason}"))?;
            return Ok((key, text.value.into_owned()));
        }
        let field = |name: &str| section.fields.iter().position(|field| field.target.name() == name);
        let name = field("name").and_then(|at| section.fields[at].value.text(row));
        let name = name.ok_or_else(|| "its name is empty".to_owned())?;
        let mut country = Vec::new();
        if let Some(at) = field("country") {
            self.converters[index][at].1.values(row, &mut country, &mut Vec::new());
        }
        let country = country.first().map_or("", |converted| &converted.value);
        let key = KeyForm::Name.make_key(&name).map_err(|reason| format!("its name {reason}"))?;
        Ok((format!("{key}|{country}"), name))
    }

    /// Entity of a sector; a new one is created. The inner error is the reason to drop the value.
    fn sector(&mut self, name: &str) -> Result<Result<String, String>, SourceError> {
        let Some(slug) = slug(name) else { return Ok(Err("has no letter or digit".to_owned())) };
        let entity = format!("{}:{slug}", EntityKind::Sector);
        if !self.sectors.contains(&slug) {
            if self.sectors.len() >= MAX_SECTORS {
                return Ok(Err(format!("is one of more than {MAX_SECTORS} sectors; map them with `map`")));
            }
            self.sectors.insert(slug);
            self.push_name(&entity, name)?;
        }
        Ok(Ok(entity))
    }

    fn create(&mut self, entity: &str, name: &str) -> Result<(), SourceError> {
        if self.created.contains(entity) {
            return Ok(());
        }
        if self.created.len() < MAX_CREATED {
            self.created.insert(entity.to_owned());
        }
        self.push_name(entity, name)
    }

    fn push_name(&mut self, entity: &str, name: &str) -> Result<(), SourceError> {
        let field = self.fields.iter().position(|known| known == "name").unwrap_or_default() as u16;
        let mut key = entity.as_bytes().to_vec();
        key.push(END);
        key.extend_from_slice(&CREATED.to_be_bytes());
        let mut value = Vec::new();
        put_text(&mut value, entity.split_once(':').map_or("", |(_, key)| key));
        put_value(&mut value, field, name, "");
        self.sorter.push(&key, &value).map_err(|error| SourceError::io(self.folder, error))
    }

    pub(super) fn write(self, update: &mut Update) -> Result<ImportSummary, SourceError> {
        let Self { mapping, folder, mut summary, fields, sorter, converters, .. } = self;
        let io = |error| SourceError::io(folder, error);
        let sums = converters.iter().flatten().filter(|(_, converter)| converter.field.is_sum).map(|(name, _)| *name);
        let mut entity = EntityStatements { sums: sums.collect(), ..EntityStatements::default() };
        let mut sorted = sorter.finish().map_err(io)?;
        while let Some((key, value)) = sorted.next().map_err(io)? {
            let end = key.iter().position(|byte| *byte == END).unwrap_or(key.len());
            let (name, rest) = key.split_at(end);
            let section = rest.get(1..3).map_or(CREATED, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
            if name != entity.name.as_bytes() {
                entity.write(&fields, update, &mut summary)?;
                entity.name.push_str(std::str::from_utf8(name).unwrap_or_default());
            } else if section == CREATED && entity.has_named_sector(&fields) {
                continue;
            }
            let is_latest = mapping.sections.get(usize::from(section)).is_some_and(|known| known.latest_by.is_some());
            if is_latest && entity.section == Some(section) {
                summary.sections[usize::from(section)].replaced += 1;
                entity.replace(value);
            } else {
                entity.section = Some(section);
                entity.first = entity.statements.len();
                entity.add(value);
            }
        }
        entity.write(&fields, update, &mut summary)?;
        Ok(summary)
    }
}

#[derive(Default)]
struct EntityStatements {
    name: String,
    statements: Vec<RowStatement>,
    section: Option<u16>,
    /// Index of the first statement of that section.
    first: usize,
    sums: HashSet<u16>,
    /// Number of statements at which duplicates are removed, because many rows of an entity repeat the same ones.
    limit: usize,
}

struct RowStatement {
    field: u16,
    value: String,
    original: String,
    source_key: Rc<str>,
}

impl EntityStatements {
    /// Adds a later row, which replaces the fields of earlier rows of its section.
    fn replace(&mut self, row: &[u8]) {
        let earlier = self.statements.split_off(self.first);
        self.add(row);
        let later = self.statements.split_off(self.first);
        let is_kept = |statement: &RowStatement| later.iter().all(|known| known.field != statement.field);
        self.statements.extend(earlier.into_iter().filter(is_kept));
        self.statements.extend(later);
    }

    fn add(&mut self, mut row: &[u8]) {
        let Some(source_key) = take_text(&mut row).map(Rc::<str>::from) else { return };
        while let Some((field, rest)) = row.split_first_chunk::<2>() {
            row = rest;
            let (Some(value), Some(original)) = (take_text(&mut row), take_text(&mut row)) else { return };
            let (value, original) = (value.to_owned(), original.to_owned());
            let (field, source_key) = (u16::from_le_bytes(*field), source_key.clone());
            self.statements.push(RowStatement { field, value, original, source_key });
        }
        if self.statements.len() > self.limit.max(10_000) {
            self.sort();
            self.limit = self.statements.len() * 2;
            self.first = self.statements.len();
        }
    }

    /// True for a sector with a name of its own, of which the texts in other columns are only references.
    fn has_named_sector(&self, fields: &[String]) -> bool {
        let names =
            |statement: &RowStatement| fields.get(usize::from(statement.field)).is_some_and(|name| name == "name");
        self.name.starts_with(EntityKind::Sector.name())
            && self.section.is_some_and(|section| section != CREATED)
            && self.statements.iter().any(names)
    }

    /// Sorts the statements by field and value. Duplicates are removed, except in fields that add up their amounts.
    fn sort(&mut self) {
        let Self { statements, sums, .. } = self;
        statements.sort_by(|left, right| (left.field, &left.value).cmp(&(right.field, &right.value)));
        statements.dedup_by(|second, first| {
            second.field == first.field && second.value == first.value && !sums.contains(&first.field)
        });
    }

    /// Writes the statements in order and resets for the next entity.
    fn write(&mut self, fields: &[String], update: &mut Update, counts: &mut ImportSummary) -> Result<(), SourceError> {
        self.sort();
        for same in self.statements.chunk_by(|left, right| left.field == right.field) {
            let is_sum = self.sums.contains(&same[0].field);
            for statements in same.chunks(if is_sum { same.len() } else { 1 }) {
                let RowStatement { field, value, original, source_key } = &statements[0];
                let values = statements.iter().map(|statement| statement.value.as_str());
                let sum = match is_sum {
                    true if values.clone().any(str::is_empty) => continue,
                    true => values.filter_map(|value| value.parse().ok()).fold(0, u64::saturating_add).to_string(),
                    false => String::new(),
                };
                update.add(NewStatement {
                    entity: &self.name,
                    field: &fields[usize::from(*field)],
                    value: if is_sum { &sum } else { value },
                    original: if statements.len() > 1 { "" } else { original },
                    source_key,
                })?;
            }
        }
        if let (false, Ok(EntityId { kind, .. })) = (self.statements.is_empty(), self.name.parse::<EntityId>()) {
            kind.count(&mut counts.entities);
        }
        self.name.clear();
        self.statements.clear();
        (self.section, self.first, self.limit) = (None, 0, 0);
        Ok(())
    }
}

fn put_value(bytes: &mut Vec<u8>, field: u16, value: &str, original: &str) {
    bytes.extend_from_slice(&field.to_le_bytes());
    put_text(bytes, value);
    put_text(bytes, original);
}
