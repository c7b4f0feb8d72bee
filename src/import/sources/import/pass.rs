//! A pass over an input, for all sections that use it with the same joins.

use std::collections::BTreeSet;
use std::path::Path;

use crate::sources::convert::meets;
use crate::sources::import::records::StatementCollector;
use crate::sources::import::summary::{FileSummary, MAX_WARNINGS, RowEvent, add_omission};
use crate::sources::input::archive::listed;
use crate::sources::input::{self, InputRow, Member, RowReceiver, column_name};
use crate::sources::mapping::document::LineColumn;
use crate::sources::mapping::{ColumnRef, Condition, Mapping, MappingInput};
use crate::sources::sort::{SortedRecords, Sorter};
use crate::sources::{Result, SourceError};
use data::Progress;

pub(super) struct Pass {
    from: InputColumns,
    /// Joins, each by one column. Inputs with the same column are joined together.
    groups: Vec<JoinGroup>,
    sections: Vec<usize>,
}

struct InputColumns {
    input: usize,
    columns: Vec<ColumnRef>,
    when: Vec<Condition>,
}

struct JoinGroup {
    /// Position of the key column in the rows joined so far.
    column: usize,
    /// Joined inputs, each with the position of its key.
    parts: Vec<(InputColumns, usize)>,
}

impl InputColumns {
    /// Position of a column; a new column is added.
    fn position(&mut self, column: &ColumnRef) -> usize {
        let name = column_name(&column.name);
        let known = self.columns.iter().position(|known| column_name(&known.name) == name);
        known.unwrap_or_else(|| {
            self.columns.push(column.clone());
            self.columns.len() - 1
        })
    }
}

impl Pass {
    /// Plans the passes of a mapping and sets the positions of its columns in the rows.
    pub(super) fn plan(mapping: &mut Mapping) -> Vec<Self> {
        let mut passes: Vec<(_, Vec<usize>)> = Vec::new();
        for (index, section) in mapping.sections.iter().enumerate() {
            let joins = section.joins.iter().map(|join| (column_name(&join.column.name), join.input));
            let signature = (section.from, joins.collect::<BTreeSet<_>>());
            match passes.iter_mut().find(|(known, _)| *known == signature) {
                Some((_, sections)) => sections.push(index),
                None => passes.push((signature, vec![index])),
            }
        }
        passes.into_iter().map(|(_, sections)| Self::new(mapping, sections)).collect()
    }

    fn new(mapping: &mut Mapping, sections: Vec<usize>) -> Self {
        let first = &mapping.sections[sections[0]];
        let (from, mut joins) = (first.from, first.joins.clone());
        joins.sort_by_key(|join| (column_name(&join.column.name), join.input));
        let inputs = std::iter::once(from).chain(joins.iter().map(|join| join.input));
        let mut parts: Vec<InputColumns> =
            inputs.map(|input| InputColumns { input, columns: Vec::new(), when: Vec::new() }).collect();
        // The rows of each input begin with the columns that joins and conditions need.
        let keys: Vec<usize> = joins.iter().map(|join| parts[0].position(&join.column)).collect();
        let key_of = |input: usize| mapping.inputs[input].key.as_ref();
        let own_key = |part: &mut InputColumns| key_of(part.input).map_or(0, |key| part.position(key));
        let own_keys: Vec<usize> = parts[1..].iter_mut().map(own_key).collect();
        for part in &mut parts {
            let mut when = mapping.inputs[part.input].when.clone();
            when.iter_mut().for_each(|condition| condition.column.index = part.position(&condition.column));
            part.when = when;
        }
        let part_of = |parts: &[InputColumns], column: &ColumnRef| {
            parts.iter().position(|part| part.input == column.input).unwrap_or_default()
        };
        for section in &sections {
            for column in mapping.sections[*section].columns_mut() {
                let part = part_of(&parts, column);
                column.index = parts[part].position(column);
            }
        }
        let mut end = 0;
        let start_of = |part: &InputColumns| {
            end += part.columns.len();
            end - part.columns.len()
        };
        let starts: Vec<usize> = parts.iter().map(start_of).collect();
        let none: Vec<String> = parts.iter().flat_map(|part| mapping.inputs[part.input].none.clone()).collect();
        for section in &sections {
            let section = &mut mapping.sections[*section];
            for column in section.columns_mut() {
                let part = part_of(&parts, column);
                column.index += starts[part];
            }
            section.parts_mut().1.for_each(|value| value.none.extend(none.iter().cloned()));
        }
        let from = parts.remove(0);
        let mut groups: Vec<JoinGroup> = Vec::new();
        for ((part, own_key), column) in parts.into_iter().zip(own_keys).zip(keys) {
            match groups.last_mut().filter(|group| group.column == column) {
                Some(group) => group.parts.push((part, own_key)),
                None => groups.push(JoinGroup { column, parts: vec![(part, own_key)] }),
            }
        }
        Self { from, groups, sections }
    }

    pub(super) fn run(&self, context: &PassContext<'_>, records: &mut StatementCollector<'_>) -> Result<()> {
        let io = |error| SourceError::io(context.folder, error);
        let Some(first) = self.groups.first() else {
            let add = &mut |row: &InputRow, records: &mut StatementCollector<'_>| records.add(&self.sections, row);
            return context.read_input(&self.from, context.most, records, add);
        };
        let mut sorter = context.sort_input(&self.from, first.column, records)?;
        for (index, group) in self.groups.iter().enumerate() {
            let mut lookups = Vec::new();
            for (part, key) in &group.parts {
                let rows = context.sort_input(part, *key, records)?.finish().map_err(io)?;
                lookups.push(Lookup::new(rows, part.columns.len()).map_err(io)?);
            }
            context.progress.step("join", 0);
            let next = self.groups.get(index + 1);
            let mut rows = std::mem::replace(&mut sorter, Sorter::new(context.folder)).finish().map_err(io)?;
            let (mut row, mut bytes) = (InputRow::default(), Vec::new());
            while let Some((key, value)) = rows.next().map_err(io)? {
                row.decode(value);
                for lookup in &mut lookups {
                    lookup.add(key, &mut row).map_err(io)?;
                }
                match next {
                    Some(next) => push_row(&mut sorter, &row, next.column, &mut bytes).map_err(io)?,
                    None => records.add(&self.sections, &row)?,
                }
            }
            context.progress.done();
        }
        Ok(())
    }
}

/// Adds a row by the text of a column. `bytes` is a buffer.
fn push_row(sorter: &mut Sorter, row: &InputRow, column: usize, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    bytes.clear();
    row.encode(bytes);
    sorter.push(row.get(column).as_bytes(), bytes)
}

/// Rows of a joined input, read in the order of their keys.
struct Lookup {
    rows: SortedRecords,
    /// Key and bytes of the next or current row.
    current: Option<(Vec<u8>, Vec<u8>)>,
    width: usize,
}

impl Lookup {
    fn new(mut rows: SortedRecords, width: usize) -> std::io::Result<Self> {
        let current = rows.next()?.map(|(key, value)| (key.to_vec(), value.to_vec()));
        Ok(Self { rows, current, width })
    }

    /// Adds the columns of the first row with this key, or empty columns if there is none. Keys must ascend.
    fn add(&mut self, key: &[u8], row: &mut InputRow) -> std::io::Result<()> {
        while let Some((known, value)) = self.current.as_mut().filter(|(known, _)| known.as_slice() < key) {
            match self.rows.next()? {
                // Skip further rows of a key.
                Some((next, _)) if next == known.as_slice() => {}
                Some((next, bytes)) => {
                    next.clone_into(known);
                    bytes.clone_into(value);
                }
                None => self.current = None,
            }
        }
        match &self.current {
            Some((known, value)) if known == key && !key.is_empty() => row.append(value),
            _ => (0..self.width).for_each(|_| row.push("")),
        }
        Ok(())
    }
}

pub(super) struct PassContext<'a> {
    pub mapping: &'a Mapping,
    pub members: &'a [Member],
    /// Files of each input, as indexes of `members`.
    pub files: &'a [Vec<usize>],
    pub folder: &'a Path,
    /// Rows of a file that are read, unless it is joined.
    pub most: u64,
    pub progress: &'a dyn Progress,
}

impl PassContext<'_> {
    fn sort_input(&self, part: &InputColumns, column: usize, records: &mut StatementCollector<'_>) -> Result<Sorter> {
        let (mut sorter, mut bytes) = (Sorter::new(self.folder), Vec::new());
        // A part of the rows would join other rows than all do.
        self.read_input(part, u64::MAX, records, &mut |row, _| {
            push_row(&mut sorter, row, column, &mut bytes).map_err(|error| SourceError::io(self.folder, error))
        })?;
        Ok(sorter)
    }

    fn read_input<'r>(
        &self,
        part: &InputColumns,
        most: u64,
        records: &mut StatementCollector<'r>,
        each: &mut dyn FnMut(&InputRow, &mut StatementCollector<'r>) -> Result<()>,
    ) -> Result<()> {
        let input = &self.mapping.inputs[part.input];
        for index in &self.files[part.input] {
            let member = &self.members[*index];
            let mut counts = FileSummary::default();
            counts.file.clone_from(&member.name);
            let mut reader = InputReader { mapping: self.mapping, input, member, part, most, counts, records, each };
            let is_read = input::read_rows(member, &input.format, self.progress, &mut reader);
            let mut counts = reader.counts;
            // Enough rows stop the reader with an error.
            if counts.rows <= most {
                is_read?;
            } else {
                counts.rows = most;
                records.summary.is_part = true;
            }
            records.summary.add_file(&input.name, *index, counts);
        }
        Ok(())
    }
}

struct InputReader<'a, 'r> {
    mapping: &'a Mapping,
    input: &'a MappingInput,
    member: &'a Member,
    part: &'a InputColumns,
    /// Number of rows that are read.
    most: u64,
    counts: FileSummary,
    records: &'a mut StatementCollector<'r>,
    each: &'a mut dyn FnMut(&InputRow, &mut StatementCollector<'r>) -> Result<()>,
}

impl RowReceiver for InputReader<'_, '_> {
    fn header(&mut self, names: &[String]) -> Result<Vec<Option<usize>>> {
        let known: Vec<String> = names.iter().map(|name| column_name(name)).collect();
        let mut problems = Vec::new();
        let mut positions = Vec::new();
        for column in &self.part.columns {
            let name = column_name(&column.name);
            let others = self.input.names.iter().filter(|(known, _)| column_name(known) == name);
            let others = others.flat_map(|(_, others)| others.iter().map(|other| column_name(other)));
            let mut accepted = std::iter::once(name.clone()).chain(others);
            let position = accepted.find_map(|name| known.iter().position(|known| *known == name));
            if position.is_none() && !self.input.optional.contains(&name) {
                let hint = search::nearest(&name, known.iter().map(String::as_str)).map_or_else(
                    || format!("; its columns: {}", listed(names)),
                    |near| format!("; did you mean `{near}`?"),
                );
                let LineColumn { line, column: at } = column.position;
                problems.push(format!(
                    "{}:1: no column `{}`, which {}:{line}:{at} names{hint}",
                    self.member.name, column.name, self.mapping.name
                ));
            }
            positions.push(position);
        }
        if problems.is_empty() { Ok(positions) } else { Err(SourceError::Problems(problems)) }
    }

    fn row(&mut self, row: &InputRow) -> Result<()> {
        self.counts.rows += 1;
        if self.counts.rows > self.most {
            return Err(SourceError::Problems(Vec::new()));
        }
        if !meets(row, &self.part.when) {
            self.counts.left_out += 1;
            self.records.summary.note(row, || RowEvent::Unused { section: None });
            return Ok(());
        }
        (self.each)(row, self.records)
    }

    fn bad_row(&mut self, line: u64, problem: String) {
        self.counts.rows += 1;
        add_omission(&mut self.counts.bad, problem.into(), || format!("{}:{line}", self.member.name));
    }

    fn doubt(&mut self, line: u64, problem: String) {
        if self.counts.warnings.len() < MAX_WARNINGS {
            self.counts.warnings.push(format!("{}:{line}: {problem}", self.member.name));
        } else {
            self.counts.more_warnings += 1;
        }
    }

    fn wanted(&self) -> Vec<String> {
        self.part.columns.iter().map(|column| column.name.clone()).collect()
    }
}
