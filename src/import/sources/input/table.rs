//! The rows of a table: those of its records go to the receiver, cleaned; lines of sums, notes, repeated headers and other
//! tables below the first are left out and told.

use std::collections::{BTreeMap, HashSet};

use crate::sources::Result;
use crate::sources::guess::names_records;
use crate::sources::input::archive::listed;
use crate::sources::input::header::is_value;
use crate::sources::input::words::{
    is_alone, is_count, is_count_of, is_error, is_footer, is_heading, is_marked_note, is_missing, is_partial_total,
    is_total,
};
use crate::sources::input::{InputFormat, InputRow, Member, RowReceiver, cell_text, column_name};
use data::formula;
use data::import::diagnostics::quoted;

/// Rows that tell of which kind the values of a column are.
const EVIDENCE_ROWS: u64 = 1_000;

/// Cells of a row.
pub(super) trait Cells {
    fn get(&self, column: usize) -> &str;

    /// Visits the cells, of which some may be empty.
    fn each<'c>(&'c self, visit: &mut dyn FnMut(usize, &'c str));
}

impl Cells for csv::StringRecord {
    fn get(&self, column: usize) -> &str {
        Self::get(self, column).unwrap_or_default()
    }

    fn each<'c>(&'c self, visit: &mut dyn FnMut(usize, &'c str)) {
        self.iter().enumerate().for_each(|(column, cell)| visit(column, cell));
    }
}

#[derive(Clone, Copy, Default)]
struct ColumnSeen {
    filled: u64,
    values: u64,
    sums: ColumnSums,
}

/// The numbers of a column so far: of all rows, and of those behind the last line that is no row.
#[derive(Clone, Copy, Default)]
struct ColumnSums {
    all: f64,
    group: f64,
    rows_of_group: u64,
    rows: u64,
}

/// Rows whose numbers are added up: longer tables are written by programs, which name their lines of sums.
const SUMMED_ROWS: u64 = 5_000;

impl ColumnSums {
    fn add(&mut self, number: f64) {
        self.all += number;
        self.group += number;
        self.rows += 1;
        self.rows_of_group += 1;
    }

    fn begin_group(&mut self) {
        (self.group, self.rows_of_group) = (0.0, 0);
    }

    /// True if a number is the sum of several rows.
    fn is_sum(self, number: f64) -> bool {
        let is = |sum: f64, rows: u64| rows > 1 && number != 0.0 && (sum - number).abs() <= number.abs() * 1e-6;
        is(self.group, self.rows_of_group) || is(self.all, self.rows)
    }
}

/// The number that a cell is, apart from the sign of a currency: `$1,250`.
fn plain_number(cell: &str) -> Option<f64> {
    const MAX_LENGTH: usize = 32;
    let cell = cell.trim().trim_start_matches(['$', '€', '£', '₹', '¥']).trim_start();
    let is_plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-' | b' ');
    if cell.len() > MAX_LENGTH || cell.is_empty() || !cell.bytes().all(is_plain) {
        return None;
    }
    cell.replace([',', ' '], "").parse().ok()
}

/// Why a line of sums is left out.
const SUMS: &str = "is a line of sums, not a row of the table; delete it, or name the record if it is one";

/// Why another header is left out.
const REPEATED: &str = "repeats the names of the columns; delete the line";

/// Why the foot of a page is left out.
const PAGE_FOOT: &str =
    "is the foot of a page: it lacks most columns, and the names of the columns follow; delete it, or fill the row";

/// A row whose successor says what it is.
enum Pending {
    /// A line of sums if no row follows it.
    Sums(InputRow),
    /// The foot of a page if the names of the columns follow.
    PageFoot(InputRow),
}

impl ColumnSeen {
    /// True if most cells are numbers, days or addresses.
    fn has_values(self) -> bool {
        self.filled > 0 && self.values * 5 >= self.filled * 4
    }
}

/// Errors in the cells of a column.
struct ErrorCells {
    count: u64,
    line: u64,
    first: String,
}

pub(super) struct TableRows<'a> {
    member: &'a Member,
    to: &'a mut dyn RowReceiver,
    names: Vec<String>,
    /// The cells of the header as they are written.
    header: Vec<String>,
    /// Positions of the wanted columns.
    positions: Vec<Option<usize>>,
    has_marked_formulas: bool,
    has_headings: bool,
    /// True if values behind the last column of the header make a row wrong, as in delimited text.
    is_strict: bool,
    columns: Vec<ColumnSeen>,
    rows: u64,
    /// True after an empty row, and after a title below it.
    is_apart: bool,
    /// True after a note in one cell: what follows in one cell belongs to it.
    is_below_note: bool,
    /// True if the last row is a line of the sums of all rows.
    is_below_sums: bool,
    /// Line of the header of another table.
    other: Option<u64>,
    pending: Option<Pending>,
    /// Columns that are [filled down](InputFormat::fill_down), with their cells in the row above.
    above: BTreeMap<usize, String>,
    errors: BTreeMap<usize, ErrorCells>,
    /// Values behind the last column: their number and the line of the first.
    beyond: (u64, u64),
    row: InputRow,
}

/// What the cells of a row are.
#[derive(Default)]
struct RowShape<'c> {
    filled: usize,
    /// Cells that are texts, not numbers, days or addresses; all of them are counted behind an empty row, otherwise two.
    texts: usize,
    first: &'c str,
    label: &'c str,
    repeats_header: bool,
    /// Number of texts in columns of values.
    misfits: usize,
    /// Columns up to the last cell with a value.
    width: usize,
}

/// True if a row with so many cells, of which some are texts, may be a heading in a table of this width: it has nothing but a
/// first cell, and perhaps a few numbers.
pub(crate) fn may_be_heading(filled: usize, texts: usize, width: usize) -> bool {
    width > 2 && (filled == 1 || texts <= 1 && filled * 3 <= width)
}

impl<'a> TableRows<'a> {
    pub(super) fn new(
        member: &'a Member,
        to: &'a mut dyn RowReceiver,
        format: &InputFormat,
        names: Vec<String>,
        header: Vec<String>,
        is_strict: bool,
    ) -> Result<Self> {
        let positions = to.header(&names)?;
        let mut above = BTreeMap::new();
        for column in &format.fill_down {
            let Some(position) = names.iter().position(|name| column_name(name) == *column) else {
                let problem = format!(
                    "has no column {}, which `fill_down` names; its columns: {}",
                    quoted(column),
                    listed(names.iter())
                );
                return Err(member.error(1, problem));
            };
            above.insert(position, String::new());
        }
        Ok(Self {
            member,
            to,
            header: header.into_iter().map(|cell| cell.trim().to_owned()).collect(),
            positions,
            has_marked_formulas: format.has_marked_formulas,
            has_headings: format.has_headings,
            is_strict,
            columns: vec![ColumnSeen::default(); names.len()],
            names,
            rows: 0,
            is_apart: false,
            is_below_note: false,
            is_below_sums: false,
            other: None,
            pending: None,
            above,
            errors: BTreeMap::new(),
            beyond: (0, 0),
            row: InputRow { file: member.index, ..InputRow::default() },
        })
    }

    pub(super) fn is_wanted(&self, column: usize) -> bool {
        self.positions.contains(&Some(column))
    }

    pub(super) fn doubt(&mut self, line: u64, problem: String) {
        self.to.doubt(line, problem);
    }

    /// Name of a column in messages.
    pub(super) fn name(&self, column: usize) -> &str {
        self.names.get(column).map_or("", String::as_str)
    }

    /// Adds a row. `is_apart` is true if an empty line precedes it.
    pub(super) fn add(&mut self, line: u64, cells: &impl Cells, is_apart: bool) -> Result<()> {
        self.is_apart |= is_apart;
        let shape = self.shape(cells);
        if shape.filled == 0 {
            self.is_apart = true;
            return Ok(());
        }
        let width = self.names.len();
        // A note may have the delimiter.
        let is_long =
            shape.filled > (width / 2).max(1) && (shape.filled >= width || !shape.first.contains([':', '：']));
        let is_single_note = || is_marked_note(shape.first) || width > 2 && self.rows > 0 && is_alone(shape.first);
        let is_note = width > 1 && (!is_long && is_footer(shape.first) || shape.filled == 1 && is_single_note());
        let is_labelled = || shape.texts == 1 && shape.first == shape.label && self.lacks_usual(cells);
        let is_count = shape.filled == 1 && is_count_of(shape.first, self.rows)
            || (shape.filled == 1 || is_labelled()) && is_count(shape.label);
        // `Total`, with a text in another cell.
        let is_wide_sum = || shape.texts > 1 && shape.filled > 2 && self.lacks_usual(cells) && is_total(shape.first);
        let is_sum = width > 1 && (shape.texts == 1 && is_total(shape.label) || is_count || is_wide_sum());
        // `Deals` below the names of companies, with nothing but numbers.
        let names_rows = || shape.filled > 2 && shape.first == shape.label && names_records(shape.label);
        let is_label = || is_partial_total(shape.label) || names_rows();
        let is_partial_sum = || shape.texts == 1 && shape.filled > 1 && is_label();
        let reason = if shape.repeats_header {
            self.other = None;
            REPEATED
        } else if self.other.is_some() {
            "is part of another table below the first; save each table as a file of its own"
        } else if is_note {
            "is a note about the table, not a row of it; delete it, or fill the row"
        } else if self.has_headings && may_be_heading(shape.filled, shape.texts, width)
            || shape.filled == 1 && shape.width == 1 && width > 2 && is_heading(shape.first)
        {
            // `Week total` below the rows of a week.
            let is_sum_of_group = shape.filled > 1 && (is_total(shape.label) || is_partial_total(shape.label));
            let heading = "is a heading within the table, not a row of it; delete it, or fill the row";
            if is_sum_of_group { SUMS } else { heading }
        } else if self.lacks_usual(cells) && shape.texts <= 1 && (is_sum || is_partial_sum())
            || shape.texts <= 1 && self.adds_up(cells)
        {
            SUMS
        } else if width > 2
            && self.rows > 0
            && shape.filled == 1
            && (self.is_apart || self.is_below_note || self.is_remark(&shape))
        {
            return self.leave_out(
                line,
                cells,
                "is alone below an empty row, a note or the rows, as a title or a note is; delete it, or fill the row",
            );
        } else if self.is_apart && self.rows > 0 && (self.is_other_header(cells, &shape) || self.lacks_most(cells, 0.9))
        {
            self.other = Some(line);
            "begins another table below the first, of which nothing is read; save each table as a file of its own"
        } else if self.is_strict && shape.width > width {
            self.settle(true, false)?;
            self.is_apart = false;
            self.fill(line, cells);
            self.to.bad_row(&self.row, format!("{} fields, the header has {width}", shape.width));
            return Ok(());
        } else {
            self.is_below_note = false;
            return self.add_record(line, cells, &shape, is_sum);
        };
        self.is_below_note = is_note && shape.filled == 1;
        self.is_below_sums = reason == SUMS && is_total(shape.label);
        self.is_apart = false;
        self.leave_out(line, cells, reason)
    }

    /// True for a text without other cells that is a remark, by two of three signs: it is a sentence, the other rows have
    /// values in its place, or it is below a line of sums.
    fn is_remark(&self, shape: &RowShape<'_>) -> bool {
        const MIN_ROWS: u64 = 3;
        let is_sentence = shape.first.chars().count() >= 25 && shape.first.split_whitespace().count() >= 4;
        let signs = [is_sentence, shape.misfits == 1 && self.rows >= MIN_ROWS, self.is_below_sums];
        shape.texts == 1 && signs.iter().filter(|sign| **sign).count() >= 2
    }

    fn shape<'c>(&self, cells: &'c impl Cells) -> RowShape<'c> {
        let mut shape = RowShape { repeats_header: true, ..RowShape::default() };
        cells.each(&mut |column, cell| {
            let cell = cell.trim();
            if cell.is_empty() {
                return;
            }
            shape.filled += 1;
            shape.width = column + 1;
            shape.repeats_header &= self.header.get(column).is_some_and(|name| name == cell);
            if shape.filled == 1 {
                shape.first = cell;
            }
            // Lines of sums have one text; the other counts are for what follows an empty row.
            if (shape.texts < 2 || self.is_apart) && !is_value(cell) {
                (shape.texts, shape.label) = (shape.texts + 1, cell);
                shape.misfits += usize::from(self.columns.get(column).is_some_and(|seen| seen.has_values()));
            }
        });
        shape.repeats_header &= shape.filled > 1;
        shape
    }

    /// True if a column that most rows fill is empty.
    fn lacks_usual(&self, cells: &impl Cells) -> bool {
        let is_usual = |seen: &ColumnSeen| seen.filled * 2 > self.rows.min(EVIDENCE_ROWS);
        let mut columns = self.columns.iter().enumerate();
        columns.any(|(column, seen)| is_usual(seen) && cells.get(column).trim().is_empty())
    }

    /// True if most of the columns that this share of the rows fills are empty.
    fn lacks_most(&self, cells: &impl Cells, share: f64) -> bool {
        let rows = self.rows.min(EVIDENCE_ROWS);
        let is_filled = |seen: &ColumnSeen| seen.filled as f64 >= rows as f64 * share;
        let filled: Vec<usize> = (0..self.columns.len()).filter(|column| is_filled(&self.columns[*column])).collect();
        let empty = filled.iter().filter(|column| cells.get(**column).trim().is_empty()).count();
        rows >= 3 && filled.len() >= 3 && empty * 2 > filled.len()
    }

    /// True if all cells are texts that could be names of columns, and one is where the table has values.
    fn is_other_header(&self, cells: &impl Cells, shape: &RowShape<'_>) -> bool {
        if shape.filled < 2 || shape.texts < shape.filled || shape.misfits == 0 {
            return false;
        }
        let (mut seen, mut is_header) = (HashSet::new(), true);
        cells.each(&mut |_, cell| {
            let cell = cell.trim();
            is_header &= cell.is_empty() || !is_missing(cell) && !is_error(cell) && seen.insert(cell);
        });
        is_header
    }

    /// True if a row lacks most columns, such as that of names, and has the sum of one: a line of sums without a label.
    fn adds_up(&self, cells: &impl Cells) -> bool {
        let mut is_sum = false;
        if self.rows <= SUMMED_ROWS && self.lacks_most(cells, 0.9) {
            cells.each(&mut |column, cell| {
                let seen = self.columns.get(column);
                is_sum |= seen.zip(plain_number(cell)).is_some_and(|(seen, number)| seen.sums.is_sum(number));
            });
        }
        is_sum
    }

    fn leave_out(&mut self, line: u64, cells: &impl Cells, reason: &str) -> Result<()> {
        // What follows a line of sums is no row.
        self.settle(false, reason == REPEATED)?;
        self.columns.iter_mut().for_each(|seen| seen.sums.begin_group());
        self.fill(line, cells);
        self.to.bad_row(&self.row, reason.to_owned());
        Ok(())
    }

    /// Makes `row` one that is left out.
    fn fill(&mut self, line: u64, cells: &impl Cells) {
        self.row.clear(line);
        for position in &self.positions {
            self.row.push(position.map(|column| cells.get(column)).unwrap_or_default());
        }
    }

    /// Passes a pending row on, or leaves it out; `is_row` is true if a row follows, `is_header` if the names of the columns do.
    fn settle(&mut self, is_row: bool, is_header: bool) -> Result<()> {
        let reason = match &self.pending {
            Some(Pending::Sums(_)) if !is_row => SUMS,
            Some(Pending::PageFoot(_)) if is_header => PAGE_FOOT,
            _ => "",
        };
        match self.pending.take() {
            Some(Pending::Sums(row) | Pending::PageFoot(row)) if reason.is_empty() => self.to.row(&row)?,
            Some(Pending::Sums(row) | Pending::PageFoot(row)) => self.to.bad_row(&row, reason.to_owned()),
            None => {}
        }
        Ok(())
    }

    fn add_record(&mut self, line: u64, cells: &impl Cells, shape: &RowShape<'_>, is_sum: bool) -> Result<()> {
        self.settle(!self.is_apart, false)?;
        self.is_apart = false;
        self.is_below_sums = false;
        let width = shape.width;
        let is_continued =
            !self.above.is_empty() && self.above.keys().all(|column| cells.get(*column).trim().is_empty());
        let may_be_foot = !is_continued && shape.filled * 2 < self.names.len() && self.lacks_most(cells, 0.75);
        if !is_continued {
            self.above.iter_mut().for_each(|(column, above)| cells.get(*column).trim().clone_into(above));
        }
        if width > self.names.len() {
            self.beyond = (self.beyond.0 + 1, if self.beyond.0 == 0 { line } else { self.beyond.1 });
        }
        if self.rows < SUMMED_ROWS && !is_sum {
            let (columns, is_evidence) = (&mut self.columns, self.rows < EVIDENCE_ROWS);
            cells.each(&mut |column, cell| {
                let cell = cell.trim();
                let Some(seen) = columns.get_mut(column).filter(|_| !cell.is_empty()) else { return };
                if is_evidence {
                    seen.filled += 1;
                    seen.values += u64::from(is_value(cell));
                }
                if let Some(number) = plain_number(cell) {
                    seen.sums.add(number);
                }
            });
        }
        self.rows += u64::from(!is_sum);
        if self.to.is_sampling() {
            let Self { to, names, positions, .. } = self;
            cells.each(&mut |column, cell| {
                if let Some(name) = names.get(column).filter(|_| !positions.contains(&Some(column))) {
                    to.sample(name, cell);
                }
            });
            to.end_sample();
        }
        self.row.clear(line);
        for index in 0..self.positions.len() {
            let position = self.positions.get(index).copied().flatten();
            let cell = position.map(|column| cells.get(column)).unwrap_or_default();
            let above = position.filter(|_| is_continued).and_then(|column| self.above.get(&column)).cloned();
            self.push(line, position.unwrap_or_default(), above.as_deref().unwrap_or(cell));
        }
        if is_sum {
            self.pending = Some(Pending::Sums(self.row.clone()));
            return Ok(());
        }
        if may_be_foot {
            self.pending = Some(Pending::PageFoot(self.row.clone()));
            return Ok(());
        }
        self.to.row(&self.row)
    }

    fn push(&mut self, line: u64, column: usize, cell: &str) {
        let text = cell_text(if self.has_marked_formulas { formula::restore(cell) } else { cell });
        if is_error(&text) {
            let first = || ErrorCells { count: 0, line, first: text.to_string() };
            self.errors.entry(column).or_insert_with(first).count += 1;
            return self.row.push("");
        }
        if !text.is_ascii() && text.contains('\u{fffd}') {
            let problem = "has bytes that are no letters in the encoding of the file, or were lost before";
            let problem = format!("{}: {} {problem}; the cell is left empty", self.name(column), quoted(&text));
            self.to.doubt(line, problem);
            return self.row.push("");
        }
        self.row.push(&text);
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.settle(false, false)?;
        for (column, ErrorCells { count, line, first }) in std::mem::take(&mut self.errors) {
            let name = quoted(self.name(column));
            let cells = if count == 1 { "1 cell".to_owned() } else { format!("{count} cells") };
            let place = &self.member.name;
            self.to.note(format!(
                "column {name}: {cells} with an error of a spreadsheet, read as empty; the first: {place}:{line}: {first}"
            ));
        }
        let (count, line) = self.beyond;
        if count > 0 {
            self.to.note(format!(
                "values right of the last named column are not read, in {count} rows; the first: {}:{line}",
                self.member.name
            ));
        }
        Ok(())
    }
}
