//! A pass over an input, for all sections that use it with the same joins.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use crate::sources::convert::first_unmet;
use crate::sources::import::account::{Account, split_remedy};
use crate::sources::import::records::StatementCollector;
use crate::sources::import::rejects::Reject;
use crate::sources::import::summary::{FileSummary, JoinSummary, MAX_WARNINGS, RowEvent, UnusedColumn, add_omission};
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

/// Columns of each input that any pass reads, by their names for comparison.
pub(super) type ReadColumns = Vec<HashSet<String>>;

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

    /// Inputs that the pass reads, the joined ones after the first.
    fn parts(&self) -> impl Iterator<Item = &InputColumns> {
        let joined = self.groups.iter().flat_map(|group| group.parts.iter().map(|(part, _)| part));
        std::iter::once(&self.from).chain(joined)
    }

    /// Collects the columns that passes read of each input.
    pub(super) fn read_columns(passes: &[Self], mapping: &Mapping) -> ReadColumns {
        let mut read = vec![HashSet::new(); mapping.inputs.len()];
        for part in passes.iter().flat_map(Self::parts) {
            read[part.input].extend(part.columns.iter().map(|column| column_name(&column.name)));
        }
        for (read, input) in read.iter_mut().zip(&mapping.inputs) {
            let others = input.names.iter().filter(|(name, _)| read.contains(&column_name(name)));
            let others: Vec<String> =
                others.flat_map(|(_, others)| others.iter().map(|name| column_name(name))).collect();
            read.extend(others);
        }
        read
    }

    /// Leaves out the passes that have no rows, unless only they read an input that they join.
    pub(super) fn needed(passes: Vec<Self>, files: &[Vec<usize>]) -> Vec<Self> {
        let has_files = |part: &InputColumns| !files[part.input].is_empty();
        let (mut needed, idle): (Vec<Self>, Vec<Self>) = passes.into_iter().partition(|pass| has_files(&pass.from));
        let read: HashSet<usize> = needed.iter().flat_map(Self::parts).map(|part| part.input).collect();
        let is_sole = |part: &InputColumns| has_files(part) && !read.contains(&part.input);
        needed.extend(idle.into_iter().filter(|pass| pass.parts().any(is_sole)));
        needed
    }

    /// Counts the passes and joins that read each input.
    pub(super) fn readers(passes: &[Self], mapping: &Mapping) -> Vec<usize> {
        let mut readers = vec![0; mapping.inputs.len()];
        passes.iter().flat_map(Self::parts).for_each(|part| readers[part.input] += 1);
        readers
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
                lookups.push(Lookup::new(rows, part, *key, context).map_err(io)?);
            }
            context.progress.step("join", 0);
            let next = self.groups.get(index + 1);
            let mut rows = std::mem::replace(&mut sorter, Sorter::new(context.folder)).finish().map_err(io)?;
            let (mut row, mut bytes) = (InputRow::default(), Vec::new());
            while let Some((key, value)) = rows.next().map_err(io)? {
                row.decode(value);
                for lookup in &mut lookups {
                    lookup.add(key, &mut row, &mut records.account).map_err(io)?;
                }
                match next {
                    Some(next) => push_row(&mut sorter, &row, next.column, &mut bytes).map_err(io)?,
                    None => records.add(&self.sections, &row)?,
                }
            }
            for lookup in lookups {
                lookup.finish(&mut records.account).map_err(io)?;
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
struct Lookup<'a> {
    rows: SortedRecords,
    /// Key and bytes of the next or current row.
    current: Option<(Vec<u8>, Vec<u8>)>,
    /// True if a row has the key of the current one.
    is_used: bool,
    width: usize,
    /// Name of the key column.
    column: &'a str,
    counts: JoinSummary,
    /// True if no other pass or section reads the input, so that its rows are accounted for here.
    is_sole: bool,
}

impl<'a> Lookup<'a> {
    fn new(
        mut rows: SortedRecords,
        part: &'a InputColumns,
        key: usize,
        context: &PassContext<'_>,
    ) -> std::io::Result<Self> {
        let current = rows.next()?.map(|(key, value)| (key.to_vec(), value.to_vec()));
        let input = context.mapping.inputs[part.input].name.clone();
        Ok(Self {
            rows,
            current,
            is_used: false,
            width: part.columns.len(),
            column: part.columns.get(key).map_or("", |column| &column.name),
            counts: JoinSummary { input, ..JoinSummary::default() },
            is_sole: context.readers[part.input] == 1,
        })
    }

    /// Adds the columns of the first row with this key, or empty columns if there is none. Keys must ascend.
    fn add(&mut self, key: &[u8], row: &mut InputRow, account: &mut Account<'_>) -> std::io::Result<()> {
        while self.current.as_ref().is_some_and(|(known, _)| known.as_slice() < key) {
            self.advance(account)?;
        }
        match &self.current {
            Some((known, value)) if known == key && !key.is_empty() => {
                self.is_used = true;
                row.append(value);
            }
            _ => (0..self.width).for_each(|_| row.push("")),
        }
        Ok(())
    }

    /// Moves on to the next row with another key, and counts what became of those before it.
    fn advance(&mut self, account: &mut Account<'_>) -> std::io::Result<()> {
        let Some((known, value)) = &mut self.current else { return Ok(()) };
        let (column, is_sole) = (self.column, self.is_sole);
        let mut reject = |key: &[u8], row: &[u8], reason: &str, remedy: &str| {
            let place = InputRow::encoded_place(row).unwrap_or_default();
            let value = String::from_utf8_lossy(key);
            if is_sole {
                account.reject(&Reject { place, column, value: &value, reason, remedy });
            }
        };
        match self.is_used {
            true => self.counts.used += 1,
            false => {
                self.counts.unmatched += 1;
                reject(known, value, "has a key to which no row refers", "see the `join` of the mapping");
            }
        }
        self.is_used = false;
        loop {
            match self.rows.next()? {
                Some((next, bytes)) if next == known.as_slice() => {
                    self.counts.repeated += 1;
                    reject(next, bytes, "has the key of an earlier row, which is joined", "give each row its own key");
                }
                Some((next, bytes)) => {
                    next.clone_into(known);
                    bytes.clone_into(value);
                    return Ok(());
                }
                None => {
                    self.current = None;
                    return Ok(());
                }
            }
        }
    }

    fn finish(mut self, account: &mut Account<'_>) -> std::io::Result<()> {
        while self.current.is_some() {
            self.advance(account)?;
        }
        if self.is_sole {
            account.joined(self.counts);
        }
        Ok(())
    }
}

pub(super) struct PassContext<'a> {
    pub mapping: &'a Mapping,
    pub members: &'a [Member],
    /// Files of each input, as indexes of `members`.
    pub files: &'a [Vec<usize>],
    /// Columns of each input that any pass reads.
    pub read: &'a ReadColumns,
    /// Number of passes and joins that read each input.
    pub readers: &'a [usize],
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
            let counts = FileSummary { file: input.format.name_in(&member.name), ..FileSummary::default() };
            let (unused, sampled) = (Vec::new(), 0);
            let read = &self.read[part.input];
            let mut reader = InputReader {
                mapping: self.mapping,
                input,
                member,
                part,
                counts,
                records,
                read,
                unused,
                sampled,
                most,
                each,
            };
            let is_read = input::read_rows(member, &input.format, self.progress, &mut reader);
            let InputReader { mut counts, unused, records, .. } = reader;
            // Enough rows stop the reader with an error.
            if counts.rows <= most {
                is_read?;
            } else {
                counts.rows = most;
                records.account.summary.is_part = true;
            }
            records.account.add_file(&input.name, *index, counts, unused);
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
    /// Columns that any pass reads of the input.
    read: &'a HashSet<String>,
    /// Columns that none reads.
    unused: Vec<UnusedColumn>,
    /// Number of rows whose values of unused columns were seen.
    sampled: u32,
    each: &'a mut dyn FnMut(&InputRow, &mut StatementCollector<'r>) -> Result<()>,
}

/// Number of rows of a file, and of its columns, that are looked at for the values of columns that are not used.
const MAX_SAMPLED: u32 = 200;
const MAX_UNUSED: usize = 1_000;

impl InputReader<'_, '_> {
    /// True if a pass reads the column, or the mapping ignores it.
    fn is_read(&self, column: &str) -> bool {
        let name = column_name(column);
        name.is_empty() || self.read.contains(&name) || self.input.ignore.contains(&name)
    }
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
        if row.is_blank() && !self.part.columns.is_empty() {
            self.counts.blank += 1;
            self.records.account.summary.note(row, || RowEvent::Blank { input: self.part.input });
            let (reason, remedy) = ("has no value in a column that is used", "fill the row, or delete it");
            self.records.account.reject(&Reject { place: row.place(), column: "", value: "", reason, remedy });
            return Ok(());
        }
        if let Some(condition) = first_unmet(row, &self.part.when) {
            self.counts.left_out += 1;
            let (column, value) = (&*condition.column.name, row.get(condition.column.index));
            self.records.account.summary.note(row, || RowEvent::Unused { input: self.part.input, section: None });
            let (reason, remedy) = ("is left out by `when` of the input", "correct `when` if the row is wanted");
            self.records.account.reject(&Reject { place: row.place(), column, value, reason, remedy });
            return Ok(());
        }
        self.counts.used += 1;
        (self.each)(row, self.records)
    }

    fn bad_row(&mut self, row: &InputRow, problem: String) {
        self.counts.rows += 1;
        let (reason, remedy) = split_remedy(&problem, "correct the row: its delimiters and quotation marks");
        let value = row.cells().find(|cell| !cell.is_empty()).unwrap_or_default();
        self.records.account.reject(&Reject { place: row.place(), column: "", value, reason, remedy });
        add_omission(&mut self.counts.bad, reason, remedy, || format!("{}:{}", self.member.name, row.line));
    }

    fn doubt(&mut self, line: u64, problem: String) {
        if self.counts.warnings.len() < MAX_WARNINGS {
            self.counts.warnings.push(format!("{}:{line}: {problem}", self.member.name));
        } else {
            self.counts.more_warnings += 1;
        }
    }

    fn note(&mut self, note: String) {
        self.counts.notes.push(note);
    }

    fn is_sampling(&self) -> bool {
        self.sampled < MAX_SAMPLED
    }

    fn sample(&mut self, column: &str, value: &str) {
        let is_column = |known: &&mut UnusedColumn| known.column == column;
        if let Some(known) = self.unused.iter_mut().find(is_column) {
            known.add(value);
        } else if self.unused.len() < MAX_UNUSED && !self.is_read(column) {
            let mut unused =
                UnusedColumn { input: self.input.name.clone(), column: column.to_owned(), ..Default::default() };
            unused.add(value);
            self.unused.push(unused);
        }
    }

    fn end_sample(&mut self) {
        self.sampled += 1;
    }

    fn wanted(&self) -> Vec<String> {
        self.part.columns.iter().map(|column| column.name.clone()).collect()
    }
}
