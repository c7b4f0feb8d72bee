//! The statements of rows, brought together by entity.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::sources::convert::{Converter, Dropped, Said, meets, slug};
use crate::sources::evidence::Evidence;
use crate::sources::field::{Field, Form};
use crate::sources::import::summary::Summary;
use crate::sources::input::Row;
use crate::sources::mapping::{KeyForm, Mapping, Section, Target};
use crate::sources::money::Rates;
use crate::sources::sort::Sorter;
use crate::sources::{EntityKind, NewStatement, SourceError, Update};
use data::vocabulary::Vocabulary as _;

/// Different sectors of a source; more are not sectors.
const MAX_SECTORS: usize = 10_000;

/// Entities that fields created and that are remembered, so that they are not created for each row.
const MAX_CREATED: usize = 100_000;

/// Follows the entity in keys; no text of a source has it.
const END: u8 = 0;

/// The section of entities that a field created: sectors and those of `create`.
const CREATED: u16 = u16::MAX;

pub(super) struct Records {
    folder: PathBuf,
    /// The names of all fields in order; statements have their indexes.
    fields: Vec<String>,
    /// For each section its fields: the index of the name, and what converts the texts.
    converters: Vec<Vec<(u16, Converter)>>,
    sectors: HashSet<String>,
    created: HashSet<String>,
    sorter: Sorter,
    key: Vec<u8>,
    value: Vec<u8>,
    said: Vec<Said>,
    dropped: Vec<Dropped>,
}

impl Records {
    pub(super) fn new(mapping: &Mapping, folder: &Path, evidence: &Evidence) -> Self {
        let names = mapping.sections.iter().flat_map(|section| &section.fields).map(|field| field.target.name());
        let mut fields: Vec<String> = names.chain(["name".to_owned()]).collect();
        fields.sort();
        fields.dedup();
        let index = |name: &str| fields.iter().position(|known| known == name).unwrap_or_default() as u16;
        let converters = mapping.sections.iter().map(|section| {
            section.fields.iter().map(|field| (index(&field.target.name()), Converter::of(field, evidence))).collect()
        });
        Self {
            folder: folder.to_owned(),
            converters: converters.collect(),
            fields,
            sectors: HashSet::new(),
            created: HashSet::new(),
            sorter: Sorter::new(folder),
            key: Vec::new(),
            value: Vec::new(),
            said: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// The evidence of all columns, as far as their cells were read.
    pub(super) fn evidence(&self, mapping: &Mapping) -> Evidence {
        let mut evidence = Evidence::default();
        for (section, converters) in mapping.sections.iter().zip(&self.converters) {
            for (field, (_, converter)) in section.fields.iter().zip(converters) {
                evidence.add(&field.value, &converter.seen);
            }
        }
        evidence
    }

    /// Adds what a row says, by the sections of a pass.
    pub(super) fn add(
        &mut self,
        mapping: &Mapping,
        sections: &[usize],
        row: &Row,
        rates: &Rates,
        summary: &mut Summary,
    ) -> Result<(), SourceError> {
        for index in sections {
            let section = &mapping.sections[*index];
            summary.sections[*index].rows += 1;
            if !meets(row, &section.when) {
                summary.sections[*index].left_out += 1;
                continue;
            }
            let (key, text) = match self.key(*index, section, row, rates) {
                Ok(key) => key,
                Err(reason) => {
                    summary.without_key(*index, row, reason.into());
                    continue;
                }
            };
            let entity = format!("{}:{key}", section.kind);
            let source_key = section.source_key.as_ref().and_then(|value| value.text(row)).unwrap_or(text);
            self.value.clear();
            put(&mut self.value, &source_key);
            for (at, field) in section.fields.iter().enumerate() {
                let (name, converter) = &mut self.converters[*index][at];
                let name = *name;
                self.said.clear();
                converter.values(field, row, rates, &mut self.said, &mut self.dropped);
                // A sum without one of its amounts is another amount.
                if field.is_sum && self.said.is_empty() && !self.dropped.is_empty() {
                    self.value.extend_from_slice(&name.to_le_bytes());
                    put(&mut self.value, "");
                    put(&mut self.value, "");
                }
                for dropped in self.dropped.drain(..) {
                    summary.drop(*index, at, row, dropped);
                }
                let form = match &field.target {
                    Target::Field(Field { form, .. }) => *form,
                    Target::Identifier(_) => Form::Identifier,
                };
                let said = std::mem::take(&mut self.said);
                for Said { value, original } in &said {
                    let mut value = value.as_str();
                    let reference;
                    if form == Form::Sector {
                        match self.sector(value)? {
                            Ok(sector) => reference = sector,
                            Err(reason) => {
                                let dropped = Dropped { text: value.to_owned(), reason: reason.into() };
                                summary.drop(*index, at, row, dropped);
                                continue;
                            }
                        }
                        value = &reference;
                    } else if field.reference.as_ref().is_some_and(|reference| reference.is_created) {
                        let name = if original.is_empty() {
                            value.split_once(':').map_or("", |(_, key)| key)
                        } else {
                            original
                        };
                        self.create(value, name)?;
                    }
                    self.value.extend_from_slice(&name.to_le_bytes());
                    put(&mut self.value, value);
                    put(&mut self.value, original);
                    summary.sections[*index].fields[at].values += 1;
                }
                self.said = said;
            }
            self.key.clear();
            self.key.extend_from_slice(entity.as_bytes());
            self.key.push(END);
            self.key.extend_from_slice(&(*index as u16).to_be_bytes());
            if let Some(latest_by) = &section.latest_by {
                self.key.extend_from_slice(latest_by.order(row).as_bytes());
            }
            // Of equal rows in the order of the files: joins change it.
            self.key.push(END);
            self.key.extend_from_slice(&row.file.to_be_bytes());
            self.key.extend_from_slice(&row.line.to_be_bytes());
            self.push()?;
        }
        Ok(())
    }

    /// The key of a row's entity, and the text that it was made from.
    fn key(&mut self, index: usize, section: &Section, row: &Row, rates: &Rates) -> Result<(String, String), String> {
        if let Some((value, form)) = &section.key {
            let mut dropped = Vec::new();
            let text = value.texts(row, &mut dropped).into_iter().next();
            let text = text.ok_or_else(|| match dropped.pop() {
                Some(Dropped { reason, .. }) => format!("its key {reason}"),
                None => "its key is empty".to_owned(),
            })?;
            let key = form.key(&text.value).map_err(|reason| format!("its key {reason}"))?;
            return Ok((key, text.value.into_owned()));
        }
        let field = |name: &str| section.fields.iter().position(|field| field.target.name() == name);
        let name = field("name").and_then(|at| section.fields[at].value.text(row));
        let name = name.ok_or_else(|| "its name is empty".to_owned())?;
        let mut country = Vec::new();
        if let Some(at) = field("country") {
            let converter = &mut self.converters[index][at].1;
            converter.values(&section.fields[at], row, rates, &mut country, &mut Vec::new());
        }
        let country = country.first().map_or("", |said| &said.value);
        let key = KeyForm::Name.key(&name).map_err(|reason| format!("its name {reason}"))?;
        Ok((format!("{key}|{country}"), name))
    }

    /// The entity of a sector, which is created if it is new.
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

    /// Creates an entity with a name.
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
        put(&mut value, entity.split_once(':').map_or("", |(_, key)| key));
        value.extend_from_slice(&field.to_le_bytes());
        put(&mut value, name);
        put(&mut value, "");
        self.sorter.push(&key, &value).map_err(|error| SourceError::io(&self.folder, error))
    }

    fn push(&mut self) -> Result<(), SourceError> {
        self.sorter.push(&self.key, &self.value).map_err(|error| SourceError::io(&self.folder, error))
    }

    /// Writes the statements of all entities.
    pub(super) fn write(
        self,
        mapping: &Mapping,
        update: &mut Update,
        summary: &mut Summary,
    ) -> Result<(), SourceError> {
        let Self { folder, fields, sorter, converters, .. } = self;
        let io = |error| SourceError::io(&folder, error);
        let mut sums = HashSet::new();
        for (section, converters) in mapping.sections.iter().zip(&converters) {
            let summed = section.fields.iter().zip(converters).filter(|(field, _)| field.is_sum);
            sums.extend(summed.map(|(_, (name, _))| *name));
        }
        let mut sorted = sorter.finish().map_err(io)?;
        let mut entity = Entity { sums, ..Entity::default() };
        while let Some((key, value)) = sorted.next().map_err(io)? {
            let end = key.iter().position(|byte| *byte == END).unwrap_or(key.len());
            let (name, rest) = key.split_at(end);
            let section = rest.get(1..3).map_or(CREATED, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
            if name != entity.name.as_bytes() {
                entity.write(&fields, update, summary)?;
                entity.name.push_str(std::str::from_utf8(name).unwrap_or_default());
            }
            let is_latest_only =
                mapping.sections.get(usize::from(section)).is_some_and(|known| known.latest_by.is_some());
            if is_latest_only && entity.section == Some(section) {
                summary.sections[usize::from(section)].replaced += 1;
                entity.replace(value);
            } else {
                entity.section = Some(section);
                entity.first = entity.said.len();
                entity.add(value);
            }
        }
        entity.write(&fields, update, summary)
    }
}

/// What is said of an entity.
#[derive(Default)]
struct Entity {
    name: String,
    bytes: Vec<u8>,
    said: Vec<Entry>,
    /// The section of the last row, and the first entry of it.
    section: Option<u16>,
    first: usize,
    /// Fields whose amounts are added.
    sums: HashSet<u16>,
    /// The number of entries from which duplicates are removed: an entity of many rows says the same again and again.
    limit: usize,
}

/// A statement; the ranges are of `Entity::bytes`.
#[derive(Clone, Copy)]
struct Entry {
    field: u16,
    value: Range,
    original: Range,
    source_key: Range,
}

#[derive(Clone, Copy)]
struct Range {
    start: usize,
    end: usize,
}

impl Entity {
    /// Adds what a later row says, in place of what the earlier rows of its section say of the same fields.
    fn replace(&mut self, value: &[u8]) {
        let earlier = self.said.split_off(self.first);
        self.add(value);
        let later = self.said.split_off(self.first);
        let is_kept = |entry: &Entry| later.iter().all(|known| known.field != entry.field);
        self.said.extend(earlier.into_iter().filter(is_kept));
        self.said.extend(later);
    }

    /// Adds what a row says.
    fn add(&mut self, value: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(value);
        let mut at = start;
        let Some(source_key) = self.text(&mut at) else { return };
        while let Some(field) = self.bytes.get(at..at + 2) {
            let field = u16::from_le_bytes([field[0], field[1]]);
            at += 2;
            let (Some(value), Some(original)) = (self.text(&mut at), self.text(&mut at)) else { return };
            self.said.push(Entry { field, value, original, source_key });
        }
        if self.said.len() > self.limit.max(10_000) {
            self.sort();
            let mut kept = Vec::new();
            let mut bytes = Vec::new();
            for entry in &self.said {
                let mut keep = |range: Range| {
                    let start = bytes.len();
                    bytes.extend_from_slice(&self.bytes[range.start..range.end]);
                    Range { start, end: bytes.len() }
                };
                let [value, original, source_key] = [entry.value, entry.original, entry.source_key].map(&mut keep);
                kept.push(Entry { field: entry.field, value, original, source_key });
            }
            (self.said, self.bytes) = (kept, bytes);
            self.limit = self.said.len() * 2;
            self.first = self.said.len();
        }
    }

    /// The text at a position, which moves behind it.
    fn text(&self, at: &mut usize) -> Option<Range> {
        let length = self.bytes.get(*at..)?.first_chunk::<4>()?;
        let start = *at + 4;
        let end = start + u32::from_le_bytes(*length) as usize;
        *at = end;
        (end <= self.bytes.len()).then_some(Range { start, end })
    }

    /// Sorts the entries by field and value; of equal ones the first stays, unless their amounts are added.
    fn sort(&mut self) {
        let Self { bytes, said, sums, .. } = self;
        let key = |entry: &Entry| (entry.field, &bytes[entry.value.start..entry.value.end]);
        said.sort_by(|left, right| key(left).cmp(&key(right)));
        said.dedup_by(|second, first| key(second) == key(first) && !sums.contains(&first.field));
    }

    fn str(&self, range: Range) -> &str {
        std::str::from_utf8(&self.bytes[range.start..range.end]).unwrap_or_default()
    }

    /// Writes the statements in order and begins with the next entity.
    fn write(&mut self, fields: &[String], update: &mut Update, summary: &mut Summary) -> Result<(), SourceError> {
        self.sort();
        let mut index = 0;
        while let Some(entry) = self.said.get(index) {
            let same = self.said[index..].iter().take_while(|other| other.field == entry.field).count();
            let is_sum = self.sums.contains(&entry.field);
            let count = if is_sum { same } else { 1 };
            let values = self.said[index..index + count].iter().map(|entry| self.str(entry.value));
            index += count;
            let sum = match is_sum {
                true if values.clone().any(str::is_empty) => continue,
                true => values.filter_map(|value| value.parse().ok()).fold(0, u64::saturating_add).to_string(),
                false => String::new(),
            };
            update.add(NewStatement {
                entity: &self.name,
                field: &fields[usize::from(entry.field)],
                value: if is_sum { &sum } else { self.str(entry.value) },
                original: if count > 1 { "" } else { self.str(entry.original) },
                source_key: self.str(entry.source_key),
            })?;
        }
        if !self.said.is_empty()
            && let Some(kind) = self.name.split_once(':').and_then(|(kind, _)| EntityKind::read(kind))
        {
            summary.count_entity(kind);
        }
        self.name.clear();
        self.bytes.clear();
        self.said.clear();
        (self.section, self.first, self.limit) = (None, 0, 0);
        Ok(())
    }
}

/// Adds a text with its length.
fn put(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}
