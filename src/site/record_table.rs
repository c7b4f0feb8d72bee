//! The table of a list: one row for each record, whose name stays in place, and columns in the order of their priority.
//!
//! The server does not know how wide a window is. It estimates how much room the columns of a page take; each gets the class of the
//! least width at which it fits after those of higher priority. The style sheet shows it from that width on (`at42`: 42rem), and
//! names it above the table below that width (`no42`). On a phone each record is a block with all values; in print all columns are there.

use askama::Template;

use crate::browse::{Browse, Heading, at_page};
use data::PartialDate;
use view::charts::text;
use view::columns::{COLUMNS, Column, ColumnChoice};
use view::format;

/// Room of two lines of names or text in rem, at most.
const MAX_ROOM: f64 = 10.5;
/// Room of the column of names in rem: of short ones, and at most.
const NAME_ROOM: (f64, f64) = (13.0, 18.0);
/// Room of the column with checkboxes in rem.
const PICK_ROOM: f64 = 2.4;
/// Space to the next column, in rem.
const PADDING: f64 = 0.7;
/// The font size of these tables in rem; that of [`text::width`] is 12 CSS pixels.
const FONT: f64 = 0.875;
/// Letters are narrower than those of the wide font that [`text::width`] estimates; names are bold.
const PLAIN: f64 = 0.94;
const BOLD: f64 = 1.03;
/// The widest table that the style sheet knows, in rem.
const WIDEST: f64 = 80.0;
const NARROWEST: f64 = 24.0;

/// The table of one kind of record.
pub(crate) struct TableConfig {
    /// The name of the table, and the heading of its names.
    pub label: &'static str,
    pub name: &'static str,
    /// From left to right.
    pub columns: &'static [Column],
    /// The parameter of the comparison that the checkboxes of the rows add to; empty if there are none.
    pub pick: &'static str,
}

/// One text of a cell.
struct CellPart {
    text: String,
    href: Option<String>,
    /// A word in a frame next to it, such as `led`; empty if there is none.
    mark: &'static str,
}

/// The value of a column in one row; the default one is unknown.
#[derive(Default)]
pub(crate) struct TableCell {
    parts: Vec<CellPart>,
    /// Number of further values of the record that are not shown.
    more: usize,
    /// HTML of a drawing, in place of texts.
    drawing: String,
    may_wrap: bool,
    /// The least width of its content, in rem.
    room: f64,
}

impl TableCell {
    /// A number, an amount or a date, which stays on one line.
    pub(crate) fn number(text: String) -> Self {
        let room = width(&text, PLAIN);
        Self { parts: vec![CellPart { text, href: None, mark: "" }], room, ..Self::default() }
    }

    pub(crate) fn day(date: Option<PartialDate>) -> Self {
        date.map_or_else(Self::default, |date| Self::number(format::day(date)))
    }

    /// A text of at most two lines.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::names([(text.into(), None, "")], 1)
    }

    /// As many of the first names as fit into two lines, at least one, and the number of the others of `total`. A name has its path and
    /// a mark, such as `led`.
    pub(crate) fn names(named: impl IntoIterator<Item = (String, Option<String>, &'static str)>, total: usize) -> Self {
        let (mut cell, mut sum, mut longest) = (Self { may_wrap: true, ..Self::default() }, 0.0, 0.0_f64);
        for (text, href, mark) in named {
            if text.is_empty() {
                continue;
            }
            let own = width(&text, PLAIN) + if mark.is_empty() { 1.0 } else { 2.0 + width(mark, PLAIN) };
            let more = if cell.parts.len() + 1 < total { 2.0 } else { 0.0 };
            let word = longest.max(longest_word(&text));
            if !cell.parts.is_empty() && room_of_two_lines(sum + own + more, word) > MAX_ROOM {
                break;
            }
            (sum, longest) = (sum + own, word);
            cell.parts.push(CellPart { text, href, mark });
        }
        cell.more = if cell.parts.is_empty() { 0 } else { total.saturating_sub(cell.parts.len()) };
        cell.room = room_of_two_lines(sum + if cell.more > 0 { 2.0 } else { 0.0 }, longest).min(MAX_ROOM);
        cell
    }

    /// A drawing of a width in rem.
    pub(crate) fn drawn(drawing: String, room: f64) -> Self {
        Self { drawing, room, may_wrap: true, ..Self::default() }
    }

    /// Adds a word in a frame.
    pub(crate) fn marked(mut self, mark: &'static str) -> Self {
        self.room += width(mark, PLAIN) + 2.0;
        if let Some(last) = self.parts.last_mut() {
            last.mark = mark;
        }
        self
    }

    fn is_unknown(&self) -> bool {
        self.parts.is_empty() && self.drawing.is_empty()
    }
}

/// A record, with one cell for each column of the table.
pub(crate) struct TableRow {
    pub slug: String,
    pub name: String,
    pub href: String,
    /// Kind, status or place, next to the name.
    pub about: String,
    /// An excerpt, or what the record has in common with another; true marks a matched word.
    pub remark: Vec<(String, bool)>,
    pub cells: Vec<TableCell>,
}

/// A column that is not shown, or not at every width: label, class, path of the list that shows it first.
type NamedColumn = (&'static str, String, Option<String>);

#[derive(Template)]
#[template(path = "record_table.html")]
pub(crate) struct RecordTable {
    config: &'static TableConfig,
    name_heading: Heading,
    /// The shown columns: their place in the cells of a row, class, heading.
    shown: Vec<(usize, String, Heading)>,
    rows: Vec<TableRow>,
    /// Columns that do not fit, at some widths at least, and the class of the list of them.
    beyond: Vec<NamedColumn>,
    beyond_class: String,
    /// True if columns that do not fit are reached by scrolling.
    is_scrolled: bool,
    /// Columns that were not chosen.
    left_out: Vec<NamedColumn>,
    /// Columns without a value in any row.
    unknown: Vec<&'static str>,
    chooser: Option<ColumnChooser>,
}

/// The form that chooses columns.
struct ColumnChooser {
    path: &'static str,
    fields: Vec<(String, String)>,
    /// Name and label of each column; true if it was chosen.
    options: Vec<(&'static str, &'static str, bool)>,
    /// The list with all columns, and the one with those that fit.
    all: Option<String>,
    fitting: Option<String>,
}

impl RecordTable {
    /// The table of rows that are not a list of their own: its columns can be neither sorted nor chosen.
    pub(crate) fn new(config: &'static TableConfig, rows: Vec<TableRow>) -> Self {
        Self::with_list(config, rows, None)
    }

    /// The table of a list, whose columns are sorted by their headings and chosen in its address.
    pub(crate) fn of_list(rows: Vec<TableRow>, list: &Browse) -> Self {
        Self::with_list(&list.config.table, rows, Some(list))
    }

    fn with_list(config: &'static TableConfig, rows: Vec<TableRow>, list: Option<&Browse>) -> Self {
        let columns = config.columns;
        let default = ColumnChoice::default();
        let choice = list.map_or(&default, |list| &list.columns);
        let is_known =
            |place: usize| rows.iter().any(|row| row.cells.get(place).is_some_and(|cell| !cell.is_unknown()));
        let (known, unknown): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(|place| is_known(*place));
        let (mut ranked, left_out): (Vec<usize>, Vec<usize>) =
            known.into_iter().partition(|place| choice.contains(columns[*place].name));
        // Scrolled columns are read from left to right.
        ranked.sort_by_key(|place| if choice.is_all() { *place } else { choice.rank(&columns[*place]) });

        let name_room = rows.iter().map(room_of_name).fold(NAME_ROOM.0, f64::max).min(NAME_ROOM.1);
        let name_room = half_rems(name_room);
        let mut width = name_room + if config.pick.is_empty() { 0.5 } else { PICK_ROOM };
        let mut places = Vec::with_capacity(ranked.len());
        for place in &ranked {
            let column = &columns[*place];
            let head = column.label.split(' ').chain(column.note.split(' ')).map(longest_word).fold(0.0, f64::max);
            let cells = rows.iter().filter_map(|row| row.cells.get(*place)).map(|cell| cell.room);
            let room = half_rems(cells.fold(head, f64::max) + PADDING);
            width += room;
            places.push((*place, room, width));
        }
        let path_with = |place: usize| list.map(|list| list.with_first_column(columns[place].name).href());
        let named = |place: usize, class: String| (columns[place].label, class, path_with(place));
        let beyond: Vec<NamedColumn> =
            places.iter().map(|(place, _, width)| named(*place, class_of("no", *width))).collect();
        let beyond_class = places.last().map_or_else(String::new, |(.., width)| class_of("no", *width));
        places.sort_by_key(|(place, ..)| *place);
        let heading = |(place, room, width): (usize, f64, f64)| {
            let column = &columns[place];
            let hidden = if choice.is_all() { String::new() } else { class_of(" at", width) };
            let class = format!("{}{hidden}", if column.is_number { "right" } else { "" }).trim_start().to_owned();
            let may_wrap = rows.iter().filter_map(|row| row.cells.get(place)).any(|cell| cell.may_wrap);
            let sorted =
                if may_wrap { format!("{class} {}", room_class(room)).trim_start().to_owned() } else { class.clone() };
            let heading = match list {
                Some(list) if !column.sort.is_empty() => list.heading(column.label, sorted, column.sort),
                _ => Heading::plain(column.label, sorted),
            };
            (place, class, heading.explained(column))
        };
        let name_class = room_class(name_room);
        Self {
            name_heading: match list {
                Some(list) if list.has_order("name") => list.heading(config.name, name_class, "name"),
                _ => Heading::plain(config.name, name_class),
            },
            shown: places.into_iter().map(heading).collect(),
            is_scrolled: choice.is_all(),
            left_out: left_out.into_iter().map(|place| named(place, String::new())).collect(),
            unknown: unknown.into_iter().map(|place| columns[place].label).collect(),
            chooser: list.map(|list| ColumnChooser::new(columns, list)),
            config,
            rows,
            beyond,
            beyond_class,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// True if another row has the same name, so that the name alone does not tell which record a link leads to.
    fn has_namesake(&self, row: &TableRow) -> bool {
        self.rows.iter().any(|other| other.name == row.name && other.href != row.href)
    }

    /// What the drawings of the shown columns mean.
    fn legends(&self) -> impl Iterator<Item = &'static str> {
        self.shown.iter().filter_map(|(place, ..)| self.config.columns[*place].legend.map(|(_, words)| words))
    }

    fn has_marks(&self, mark: &str) -> bool {
        self.has_cell(|cell| cell.parts.iter().any(|part| part.mark == mark))
    }

    /// True if a line below the table explains signs of its cells.
    fn has_signs(&self) -> bool {
        let has_marks = self.has_marks("led") || self.has_marks("suspect");
        has_marks || self.has_more() || self.has_unknown() || self.legends().next().is_some()
    }

    fn has_more(&self) -> bool {
        self.has_cell(|cell| cell.more > 0)
    }

    fn has_unknown(&self) -> bool {
        self.has_cell(TableCell::is_unknown)
    }

    /// True if any cell of a shown column is such.
    fn has_cell(&self, is_such: impl Fn(&TableCell) -> bool) -> bool {
        self.rows.iter().any(|row| self.shown.iter().any(|(place, ..)| is_such(&row.cells[*place])))
    }
}

impl ColumnChooser {
    fn new(columns: &[Column], list: &Browse) -> Self {
        let choice = &list.columns;
        Self {
            path: list.config.path,
            fields: at_page(&list.link, list.pager.page).others(&[COLUMNS]),
            options: columns.iter().map(|column| (column.name, column.label, choice.names(column.name))).collect(),
            all: (!choice.is_all()).then(|| list.with_columns(ColumnChoice::ALL).href()),
            fitting: (*choice != ColumnChoice::default()).then(|| list.with_columns("").href()),
        }
    }
}

/// The width of a text in rem.
fn width(text: &str, weight: f64) -> f64 {
    text::width(text) / text::SIZE * FONT * weight
}

fn longest_word(text: &str) -> f64 {
    text.split_whitespace().map(|word| width(word, PLAIN)).fold(0.0, f64::max)
}

/// The width at which a text takes two lines, whatever its words are.
fn room_of_two_lines(width: f64, longest_word: f64) -> f64 {
    ((width + longest_word) / 2.0).max(longest_word)
}

fn room_of_name(row: &TableRow) -> f64 {
    let words = longest_word(&row.name).max(longest_word(&row.about));
    room_of_two_lines(width(&row.name, BOLD) + width(&row.about, PLAIN) + 0.3, words) + PADDING
}

/// The class that is shown, or not, from a width in rem on, of those that the style sheet has.
fn class_of(prefix: &str, width: f64) -> String {
    let step = (width / 2.0).ceil() * 2.0;
    format!("{prefix}{}", step.clamp(NARROWEST, WIDEST + 2.0))
}

/// The class of a column of at least this room in rem: `w23` has 11.5rem.
fn room_class(room: f64) -> String {
    format!("w{}", room * 2.0)
}

fn half_rems(room: f64) -> f64 {
    (room * 2.0).ceil() / 2.0
}
