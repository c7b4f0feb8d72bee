//! Collects the statements of rows and groups them by entity.

use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;

use crate::sources::convert::{ConvertedValue, Converter, Dropped, first_unmet, slug};
use crate::sources::evidence::ImportEvidence;
use crate::sources::field::{FieldForm, SourceField};
use crate::sources::import::account::{Account, Lost};
use crate::sources::import::summary::RowEvent;
use crate::sources::input::{InputRow, Place};
use crate::sources::mapping::date_format::DateEvidence;
use crate::sources::mapping::{KeyForm, Mapping, MappingSection};
use crate::sources::money::Rates;
use crate::sources::sort::{Sorter, put_text, take_text};
use crate::sources::{EntityId, EntityKind, NewStatement, SourceError, Update};
use data::import::csv_row::MAX_LINE;
use data::import::suspicions::{Settled, Suspicions};
use data::parameter_error::shortened_to;
use data::vocabulary::Vocabulary as _;

/// Maximum number of sectors of a source. A column with more values does not contain sectors.
const MAX_SECTORS: usize = 10_000;

/// Maximum number of created entities to remember, so that they are not created again for each row.
const MAX_CREATED: usize = 100_000;

/// Terminator of the entity in sort keys. No text of a source contains it.
const END: u8 = 0;

/// Section of entities that fields create: sectors, and those of `create`.
const CREATED: u16 = u16::MAX - 1;

/// Section of references to an entity, which come after all of its rows.
const REFERENCED: u16 = u16::MAX;

pub(super) struct StatementCollector<'a> {
    mapping: &'a Mapping,
    folder: &'a Path,
    pub account: Account<'a>,
    /// Names of all fields, sorted. Statements refer to them by index.
    fields: Vec<String>,
    /// Fields of each section: index of the name, and converter.
    converters: Vec<Vec<(u16, Converter<'a>)>>,
    /// Evidence about the dates of `latest_by`, for each section: known, and seen in this run.
    latest: Vec<(DateEvidence, DateEvidence)>,
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
        account: Account<'a>,
    ) -> Self {
        let names = mapping.sections.iter().flat_map(|section| &section.fields).map(|field| field.target.name());
        let mut fields: Vec<String> = names.chain(["name".to_owned()]).collect();
        fields.sort();
        fields.dedup();
        let index = |name: &str| fields.iter().position(|known| known == name).unwrap_or_default() as u16;
        let converters = mapping.sections.iter().map(|section| {
            let fields = section.fields.iter();
            let converters = fields.map(|field| {
                let mut converter = Converter::new(field, rates, evidence);
                converter.is_of_person = section.kind == EntityKind::Person && field.target.name() == "name";
                (index(&field.target.name()), converter)
            });
            converters.collect()
        });
        let latest = mapping.sections.iter().map(|section| {
            let known = section.latest_by.as_ref().map(|value| evidence.for_value(value).dates).unwrap_or_default();
            (known, DateEvidence::default())
        });
        Self {
            mapping,
            folder,
            account,
            converters: converters.collect(),
            latest: latest.collect(),
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
            converter.field.rate_on.iter().for_each(|day| evidence.add_dates(day, &converter.seen_days));
        }
        for (section, (_, seen)) in self.mapping.sections.iter().zip(&self.latest) {
            section.latest_by.iter().for_each(|value| evidence.add_dates(value, seen));
        }
        evidence
    }

    pub(super) fn add(&mut self, sections: &[usize], row: &InputRow) -> Result<(), SourceError> {
        let mapping = self.mapping;
        let (mut unmet, mut is_taken) = (None, false);
        // A row may be a startup, and still no round.
        let (mut unmet_round, mut is_round) = (None, false);
        for index in sections.iter().copied() {
            let section = &mapping.sections[index];
            self.account.rows(index, row.file).rows += 1;
            if let Some(condition) = first_unmet(row, &section.when) {
                self.account.rows(index, row.file).left_out += 1;
                self.account.summary.note(row, || RowEvent::Unused { input: section.from, section: Some(index) });
                unmet = unmet.or(Some((condition, section.kind)));
                unmet_round = unmet_round.or(Some(condition).filter(|_| section.kind == EntityKind::Round));
                continue;
            }
            is_taken = true;
            is_round |= section.kind == EntityKind::Round;
            let (key, text) = match self.key(index, section, row) {
                Ok(key) => key,
                Err(reason) => {
                    self.account.without_key(index, row, &reason);
                    continue;
                }
            };
            self.account.summary.note(row, || RowEvent::Entity { section: index });
            let entity = [section.kind.name(), ":", &key].concat();
            let source_key = section.source_key.as_ref().and_then(|value| value.text(row)).unwrap_or(text);
            let source_key = shortened_to(MAX_LINE - 1, &source_key);
            self.value.clear();
            put_text(&mut self.value, &source_key);
            for (at, field) in section.fields.iter().enumerate() {
                let (name, converter) = &mut self.converters[index][at];
                let name = *name;
                self.converted.clear();
                let read = converter.values(row, &mut self.converted, &mut self.dropped);
                self.account.summary.sections[index].fields[at].read += read;
                for noted in converter.noted.drain(..) {
                    self.account.noted(index, at, row, &noted);
                }
                // A missing amount would falsify the sum; an empty value marks it as unknown.
                if field.is_sum && self.converted.is_empty() && !self.dropped.is_empty() {
                    put_value(&mut self.value, name, "", "");
                }
                for dropped in self.dropped.drain(..) {
                    self.account.dropped(index, at, row, &dropped);
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
                                self.account.dropped(index, at, row, &dropped);
                                continue;
                            }
                        }
                        value = &reference;
                    } else if field.reference.as_ref().is_some_and(|reference| reference.is_created) {
                        let key = || value.split_once(':').map_or("", |(_, key)| key);
                        self.create(value, if original.is_empty() { key() } else { original })?;
                    } else if field.reference.is_some() {
                        self.refer(value, (index, at), row.place(), original)?;
                    }
                    put_value(&mut self.value, name, value, original);
                    self.account.summary.add_value(index, at, row, found);
                }
                self.converted = converted;
            }
            self.key.clear();
            self.key.extend_from_slice(entity.as_bytes());
            self.key.push(END);
            self.key.extend_from_slice(&(index as u16).to_be_bytes());
            if let Some(latest_by) = &section.latest_by {
                let (known, seen) = &mut self.latest[index];
                self.key.extend_from_slice(latest_by.order(row, known, seen).as_bytes());
            }
            // Equal rows keep the order of the files, which joins change.
            self.key.push(END);
            self.key.extend_from_slice(&row.place().bytes());
            self.sorter.push(&self.key, &self.value).map_err(|error| SourceError::io(self.folder, error))?;
        }
        match (unmet, unmet_round) {
            (Some((condition, kind)), _) if !is_taken => self.account.left_out(row, condition, kind),
            (_, Some(condition)) if !is_round => self.account.left_out(row, condition, EntityKind::Round),
            _ => {}
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
            // Its texts are counted with the field.
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

    /// Adds a reference, which is reported if no row names the entity.
    fn refer(
        &mut self,
        entity: &str,
        (section, field): (usize, usize),
        place: Place,
        original: &str,
    ) -> Result<(), SourceError> {
        self.key.clear();
        self.key.extend_from_slice(entity.as_bytes());
        self.key.push(END);
        for number in [REFERENCED, section as u16, field as u16] {
            self.key.extend_from_slice(&number.to_be_bytes());
        }
        self.key.extend_from_slice(&place.bytes());
        self.sorter.push(&self.key, original.as_bytes()).map_err(|error| SourceError::io(self.folder, error))
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

    /// Writes the statements. The inner result tells whether the sums of the account are right.
    pub(super) fn write(
        self,
        update: &mut Update,
        settled: &Settled,
    ) -> Result<(Account<'a>, Result<(), SourceError>), SourceError> {
        let Self { mapping, folder, mut account, fields, sorter, converters, .. } = self;
        let io = |error| SourceError::io(folder, error);
        let mut output = EntityOutput::new(mapping, &fields, &converters, &mut account, update);
        let mut entity = EntityStatements { sums: output.sums.clone(), ..EntityStatements::default() };
        let mut sorted = sorter.finish().map_err(io)?;
        while let Some((key, value)) = sorted.next().map_err(io)? {
            let end = key.iter().position(|byte| *byte == END).unwrap_or(key.len());
            let (name, rest) = key.split_at(end);
            let number =
                |at: usize| rest.get(at..at + 2).map_or(CREATED, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
            if name != entity.name.as_bytes() {
                entity.write(&mut output)?;
                entity.name.push_str(std::str::from_utf8(name).unwrap_or_default());
            } else if number(1) == CREATED && entity.has_named_sector(&fields) {
                continue;
            }
            match number(1) {
                CREATED => entity.begin(CREATED, None, value),
                REFERENCED => {
                    if !entity.has(output.name) && !output.update.keeps(&entity.name)? {
                        let text = std::str::from_utf8(value).unwrap_or_default();
                        let text = if text.is_empty() { entity.key() } else { text };
                        let place = Place::of_key(key).unwrap_or_default();
                        output.account.dangling(usize::from(number(3)), usize::from(number(5)), place, text);
                    }
                }
                section => {
                    let place = Place::of_key(key).unwrap_or_default();
                    let is_next = entity.section == Some(section);
                    entity.rows = if is_next { entity.rows + 1 } else { 1 };
                    output.account.grouped(usize::from(section), place, entity.rows, entity.key());
                    let is_latest =
                        mapping.sections.get(usize::from(section)).is_some_and(|known| known.latest_by.is_some());
                    if is_next && is_latest {
                        entity.replace(place, value, &mut output);
                    } else if is_next {
                        entity.add(Some(place), value);
                    } else {
                        entity.begin(section, Some(place), value);
                    }
                }
            }
        }
        entity.write(&mut output)?;
        let suspicions = output.suspicions.finish(settled);
        account.summary.suspicions = suspicions;
        let finished = account.finish();
        Ok((account, finished))
    }
}

/// What the statements of all entities are written to, with what is known of the fields.
struct EntityOutput<'o, 'a> {
    account: &'o mut Account<'a>,
    update: &'o mut Update,
    /// Names of the fields, sorted.
    fields: &'o [String],
    /// Field `name`.
    name: u16,
    sums: HashSet<u16>,
    /// Fields with one value.
    single: Vec<bool>,
    /// Fields whose values are entities.
    refers: Vec<bool>,
    /// Names of each section's fields.
    of_sections: Vec<Vec<u16>>,
    /// Required fields of each kind that has sections; the index is missing if no section has the field.
    required: Vec<Vec<(Option<u16>, &'static str)>>,
    suspicions: Suspicions,
}

impl<'o, 'a> EntityOutput<'o, 'a> {
    fn new(
        mapping: &'a Mapping,
        fields: &'o [String],
        converters: &[Vec<(u16, Converter<'_>)>],
        account: &'o mut Account<'a>,
        update: &'o mut Update,
    ) -> Self {
        let sums = converters.iter().flatten().filter(|(_, converter)| converter.field.is_sum).map(|(name, _)| *name);
        // A name means the same in all kinds.
        let known = |name: &String| EntityKind::ALL.iter().find_map(|kind| SourceField::named(*kind, name));
        let is_single = |name: &String| known(name).is_some_and(|field| !field.is_list);
        let refers = |name: &String| {
            known(name).is_some_and(|field| matches!(field.form, FieldForm::Reference(_) | FieldForm::Sector))
        };
        let index = |name: &str| fields.iter().position(|known| known == name).map(|at| at as u16);
        let required = EntityKind::ALL.iter().map(|kind| {
            let has_section = mapping.sections.iter().any(|section| section.kind == *kind);
            let names = SourceField::required(*kind).iter().filter(|_| has_section);
            names.map(|name| (index(name), *name)).collect()
        });
        Self {
            account,
            update,
            fields,
            name: index("name").unwrap_or_default(),
            sums: sums.collect(),
            single: fields.iter().map(is_single).collect(),
            refers: fields.iter().map(refers).collect(),
            of_sections: converters.iter().map(|of| of.iter().map(|(name, _)| *name).collect()).collect(),
            required: required.collect(),
            suspicions: Suspicions::default(),
        }
    }

    /// Tells of a value that another row of the entity replaces.
    fn lose(&mut self, lost: &RowStatement, name: &str, key: &str, is_older: bool) {
        let section = usize::from(lost.section);
        let field = self.of_sections.get(section).and_then(|of| of.iter().position(|name| *name == lost.field));
        let (Some(field), Some(place)) = (field, lost.place) else { return };
        let refers = self.refers.get(usize::from(lost.field)).is_some_and(|refers| *refers);
        let value = match (lost.original.as_str(), lost.value.split_once(':')) {
            ("", Some((_, key))) if refers => key,
            ("", _) => &lost.value,
            (original, _) => original,
        };
        self.account.lost(&Lost { section, field, place, value, name, key, is_older });
    }
}

#[derive(Default)]
struct EntityStatements {
    name: String,
    statements: Vec<RowStatement>,
    section: Option<u16>,
    /// Number of rows of that section so far.
    rows: u64,
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
    section: u16,
    /// Place of its row; `None` if a field created the entity.
    place: Option<Place>,
}

impl EntityStatements {
    fn key(&self) -> &str {
        self.name.split_once(':').map_or("", |(_, key)| key)
    }

    fn has(&self, field: u16) -> bool {
        self.statements.iter().any(|statement| statement.field == field)
    }

    /// Adds the first row of a section.
    fn begin(&mut self, section: u16, place: Option<Place>, row: &[u8]) {
        self.section = Some(section);
        self.first = self.statements.len();
        self.add(place, row);
    }

    /// Adds a later row, which replaces the fields of earlier rows of its section.
    fn replace(&mut self, place: Place, row: &[u8], output: &mut EntityOutput<'_, '_>) {
        let earlier = self.statements.split_off(self.first);
        self.add(Some(place), row);
        let later = self.statements.split_off(self.first);
        for statement in earlier {
            let mut same = later.iter().filter(|known| known.field == statement.field).peekable();
            if same.peek().is_none() {
                self.statements.push(statement);
            } else if same.all(|known| known.value != statement.value) {
                let names = later.iter().chain(&self.statements);
                let name = names.filter(|known| known.field == output.name).map(|known| &*known.value).next();
                output.lose(&statement, name.unwrap_or(self.key()), self.key(), true);
            }
        }
        self.statements.extend(later);
    }

    fn add(&mut self, place: Option<Place>, mut row: &[u8]) {
        let section = self.section.unwrap_or(CREATED);
        let Some(source_key) = take_text(&mut row).map(Rc::<str>::from) else { return };
        while let Some((field, rest)) = row.split_first_chunk::<2>() {
            row = rest;
            let (Some(value), Some(original)) = (take_text(&mut row), take_text(&mut row)) else { return };
            let (value, original) = (value.to_owned(), original.to_owned());
            let (field, source_key) = (u16::from_le_bytes(*field), source_key.clone());
            self.statements.push(RowStatement { field, value, original, source_key, section, place });
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
    fn write(&mut self, output: &mut EntityOutput<'_, '_>) -> Result<(), SourceError> {
        self.sort();
        if let (false, Ok(EntityId { kind, key })) = (self.statements.is_empty(), self.name.parse::<EntityId>()) {
            kind.count(&mut output.account.summary.entities);
            let place = self.statements.iter().filter_map(|statement| statement.place).min();
            for at in 0..output.required[kind.index()].len() {
                let (field, name) = output.required[kind.index()][at];
                if !field.is_some_and(|field| self.has(field)) && !output.update.keeps(&self.name)? {
                    output.account.incomplete(kind, name, place, &key);
                }
            }
            self.observe(kind, output);
        }
        let name = self.statements.iter().find(|statement| statement.field == output.name);
        let name = name.map_or(self.key(), |statement| &*statement.value).to_owned();
        for same in self.statements.chunk_by(|left, right| left.field == right.field) {
            let is_sum = self.sums.contains(&same[0].field);
            if !is_sum && output.single.get(usize::from(same[0].field)).is_some_and(|is_single| *is_single) {
                // A record takes the first value.
                same[1..].iter().for_each(|lost| output.lose(lost, &name, self.key(), false));
            }
            for statements in same.chunks(if is_sum { same.len() } else { 1 }) {
                let RowStatement { field, value, original, source_key, .. } = &statements[0];
                let values = statements.iter().map(|statement| statement.value.as_str());
                let sum = match is_sum {
                    true if values.clone().any(str::is_empty) => continue,
                    true => values.filter_map(|value| value.parse().ok()).fold(0, u64::saturating_add).to_string(),
                    false => String::new(),
                };
                output.update.add(NewStatement {
                    entity: &self.name,
                    field: &output.fields[usize::from(*field)],
                    value: if is_sum { &sum } else { value },
                    original: if statements.len() > 1 { "" } else { original },
                    source_key,
                })?;
            }
        }
        self.name.clear();
        self.statements.clear();
        (self.section, self.rows, self.first, self.limit) = (None, 0, 0, 0);
        Ok(())
    }

    /// Passes the values on to the rules about whole columns.
    fn observe(&self, kind: EntityKind, output: &mut EntityOutput<'_, '_>) {
        let Some(tally) = output.suspicions.of(kind.name()) else { return };
        // A record begins with its name; further names become aliases.
        let mut names = self.statements.iter().filter(|statement| statement.field == output.name);
        tally.begin(names.next().map_or("", |statement| &statement.value));
        names.for_each(|statement| tally.alias(&statement.value));
        for RowStatement { field, value, .. } in &self.statements {
            match output.fields[usize::from(*field)].as_str() {
                "aliases" => tally.alias(value),
                "website" => tally.website(value),
                "founded_year" => tally.founded(value.parse().unwrap_or_default(), output.update.year()),
                column if column.ends_with("_usd") && !self.sums.contains(field) => {
                    value.parse().into_iter().for_each(|amount| tally.amount(column, amount));
                }
                _ => {}
            }
        }
    }
}

fn put_value(bytes: &mut Vec<u8>, field: u16, value: &str, original: &str) {
    bytes.extend_from_slice(&field.to_le_bytes());
    put_text(bytes, value);
    put_text(bytes, original);
}
