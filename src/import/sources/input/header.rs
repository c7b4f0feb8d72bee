//! Finds the names of the columns among the first rows of a table: below titles, in one row or in two.

use std::collections::HashSet;

use crate::sources::guess::names_field;
use crate::sources::input::{cell_text, column_name};
use crate::sources::money::{MoneyCell, normalized};

/// Rows that are looked at.
pub(super) const SAMPLE_ROWS: usize = 200;

/// Cells of a row that are looked at.
pub(super) const SAMPLE_CELLS: usize = 1_000;

/// Bytes of the longest number, day or address.
const MAX_VALUE: usize = 300;

/// Where the header is: rows before it, and its rows, of which the first of two has groups of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeaderPlace {
    pub skip: usize,
    pub rows: u8,
}

/// A row with its position in the file.
pub(super) struct SampleRow {
    pub position: usize,
    /// Line in messages.
    pub line: u64,
    pub cells: Vec<String>,
}

impl SampleRow {
    pub(super) fn new(position: usize, line: u64, cells: Vec<String>) -> Self {
        let cells = cells.iter().take(SAMPLE_CELLS).map(|cell| cell_text(cell).into_owned()).collect();
        Self { position, line, cells }
    }

    fn get(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }

    fn filled(&self) -> impl Iterator<Item = (usize, &str)> {
        self.cells.iter().map(String::as_str).enumerate().filter(|(_, cell)| !cell.is_empty())
    }

    pub(super) fn count(&self) -> usize {
        self.filled().count()
    }

    /// Number of wanted columns that the row names.
    pub(super) fn named(&self, wanted: &HashSet<String>) -> usize {
        self.filled().filter(|(_, cell)| wanted.contains(&column_name(cell))).count()
    }

    fn is_label(&self) -> bool {
        self.filled().all(|(_, cell)| value_kind(cell).is_none())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Number,
    Year,
    Date,
    Address,
}

/// Kind of a value that is no name of a column.
fn value_kind(text: &str) -> Option<ValueKind> {
    if text.contains("://") || text.starts_with("www.") || text.contains('@') && !text.contains(' ') {
        return Some(ValueKind::Address);
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_numeric = |char: char| char.is_ascii_digit() || char.is_whitespace() || " .,'’-–+()%/:$€£¥₹".contains(char);
    if digits == 0 || !text.chars().all(is_numeric) {
        return None;
    }
    if text.len() == 4 && digits == 4 && (text.starts_with("19") || text.starts_with("20")) {
        return Some(ValueKind::Year);
    }
    let parts = text.split(['-', '/', '.', ' ', ':']).filter(|part| !part.is_empty()).count();
    let is_date = parts >= 3 && !text.contains(['$', '€', '£', ',', '\'', '’']) && (6..=8).contains(&digits.min(8));
    Some(if is_date { ValueKind::Date } else { ValueKind::Number })
}

/// True for a value such as a number, a day or an address, which is neither a name of a column nor the label of a sum.
pub(crate) fn is_value(text: &str) -> bool {
    if text.len() > MAX_VALUE {
        return false;
    }
    // `R$ 5`, `EUR 5`, but not `A16 Capital`.
    let is_amount = || {
        let has_number = text.bytes().take(5).any(|byte| byte.is_ascii_digit());
        has_number && text.starts_with(char::is_alphabetic) && MoneyCell::read(text).is_some()
    };
    let first = text.trim_start_matches(|char: char| "$€£¥₹~<>+-–−(≈ ".contains(char)).chars().next();
    // `٤٤٫٤٥ مليون`
    let is_digit = |char: char| {
        char.is_numeric() && normalized(char.encode_utf8(&mut [0; 4])).starts_with(|char: char| char.is_ascii_digit())
    };
    first.is_some_and(|char| char.is_ascii_digit() || !char.is_ascii() && is_digit(char))
        || is_amount()
        || text.contains(':') && text.contains("://")
        || !text.contains(' ') && text.contains(['@', '.']) && !text.ends_with('.')
}

/// Finds the header. `wanted` are the columns that a mapping names, if there is one. The error is a row of values where
/// the header should be.
pub(super) fn find<'r>(rows: &'r [SampleRow], wanted: &HashSet<String>) -> Result<HeaderPlace, (u64, &'r str)> {
    let rows: Vec<&SampleRow> = rows.iter().filter(|row| row.count() > 0).collect();
    let most = rows.iter().map(|row| row.named(wanted)).max().unwrap_or_default();
    if most > 0 {
        let found = rows.iter().position(|row| row.named(wanted) == most).unwrap_or_default();
        return Ok(place(&rows, found));
    }
    let mut counts: Vec<usize> = rows.iter().map(|row| row.count()).collect();
    counts.sort_unstable_by(|left, right| right.cmp(left));
    // One row may be broken into too many cells.
    let full = counts.get(1).or(counts.first()).copied().unwrap_or_default();
    let found = (0..rows.len()).find(|index| !is_title(&rows, *index, full)).unwrap_or_default();
    let place = place(&rows, found);
    let header = found + usize::from(place.rows == 2 && rows.get(found).is_some_and(|row| row.position == place.skip));
    match rows.get(header).and_then(|row| value_instead_of_name(row, rows.get(header + 1..).unwrap_or_default())) {
        Some(value) => Err((rows[header].line, value)),
        None => Ok(place),
    }
}

/// True for a row above the header that has far fewer cells than the others, `full`.
fn is_title(rows: &[&SampleRow], index: usize, full: usize) -> bool {
    let (Some(row), Some(next)) = (rows.get(index), rows.get(index + 1)) else { return false };
    match row.count() {
        count if count * 2 < full => true,
        1 if full >= 2 => row.cells.len() == 1 || next.position > row.position + 1 || names_values(rows, index + 1),
        _ => false,
    }
}

/// The rows of the header at `found`, with a row of groups above or below it.
fn place(rows: &[&SampleRow], found: usize) -> HeaderPlace {
    let Some(row) = rows.get(found) else { return HeaderPlace { skip: 0, rows: 1 } };
    let adjacent = |upper: &SampleRow, lower: &SampleRow| upper.position + 1 == lower.position;
    let above = found.checked_sub(1).and_then(|above| rows.get(above)).filter(|above| adjacent(above, row));
    let begins_left = |above: &SampleRow| above.filled().next().is_some_and(|(column, _)| column == 0);
    if let Some(above) = above.filter(|above| above.is_label() && above.count() < row.count())
        && (above.count() > 1 || !begins_left(above))
    {
        return HeaderPlace { skip: above.position, rows: 2 };
    }
    // Groups above columns, each once at its first column or at all of them.
    if let Some(below) = rows.get(found + 1).filter(|below| adjacent(row, below)) {
        let fills = row.count() < below.count() && below.filled().any(|(column, _)| row.get(column).is_empty());
        let repeats = row.cells.windows(2).any(|pair| !pair[0].is_empty() && pair[0] == pair[1]);
        let names: Vec<&str> = below.filled().map(|(_, cell)| cell).collect();
        let distinct: HashSet<&&str> = names.iter().collect();
        let is_named = below.count() >= row.count() && (fills || distinct.len() == names.len());
        let is_header = || names_values(rows, found + 1) || names_fields(below);
        if (fills || repeats) && row.is_label() && is_named && is_header() {
            return HeaderPlace { skip: row.position, rows: 2 };
        }
    }
    HeaderPlace { skip: row.position, rows: 1 }
}

/// Kind of most values in a column of rows; at least one.
fn column_kind(rows: &[&SampleRow], column: usize) -> Option<ValueKind> {
    let kinds: Vec<Option<ValueKind>> =
        rows.iter().map(|row| row.get(column)).filter(|cell| !cell.is_empty()).map(value_kind).collect();
    let first = kinds.iter().flatten().next().copied()?;
    let alike = kinds.iter().filter(|kind| **kind == Some(first)).count();
    (alike * 5 >= kinds.len() * 4).then_some(first)
}

/// True if the row has names of columns whose values are numbers, days or addresses, and no such value itself.
fn names_values(rows: &[&SampleRow], index: usize) -> bool {
    let Some(row) = rows.get(index).filter(|row| row.is_label()) else { return false };
    let below = rows.get(index + 1..).unwrap_or_default();
    row.filled().any(|(column, _)| column_kind(below, column).is_some())
}

/// True if most cells of a row are the usual names of columns: below them a few cells may be of any kind.
fn names_fields(row: &SampleRow) -> bool {
    const LEAST: usize = 3;
    let names = row.filled().filter(|(_, cell)| names_field(cell)).count();
    row.is_label() && names >= LEAST && names * 2 > row.count()
}

/// A value of the row that shows that it is no header: of the same kind as those below it.
fn value_instead_of_name<'r>(row: &'r SampleRow, below: &[&SampleRow]) -> Option<&'r str> {
    let mut found = None;
    for (column, cell) in row.filled() {
        let Some(kind) = column_kind(below, column) else { continue };
        if value_kind(cell) != Some(kind) {
            // A column of numbers may be named by a year, but here a column of values has a name.
            return None;
        }
        found = found.or(Some(cell));
    }
    found
}

/// Names of the columns from one or two rows: the lower row, after its group where names are equal. Equal names get numbers.
pub(super) fn names(groups: Option<&[String]>, lower: &[String]) -> Vec<String> {
    let width = lower.len().max(groups.map_or(0, <[String]>::len));
    let at = |row: &[String], column: usize| row.get(column).map(|cell| one_line(cell)).unwrap_or_default();
    let lower: Vec<String> = (0..width).map(|column| at(lower, column)).collect();
    let mut group = String::new();
    let mut names = Vec::with_capacity(width);
    let mut equal: HashSet<String> = HashSet::new();
    let mut seen: HashSet<String> = HashSet::new();
    for name in lower.iter().map(|name| column_name(name)).filter(|name| !name.is_empty()) {
        if !seen.insert(name.clone()) {
            equal.insert(name);
        }
    }
    for (column, name) in lower.into_iter().enumerate() {
        let own = groups.map(|groups| at(groups, column)).unwrap_or_default();
        group = if own.is_empty() { group } else { own.clone() };
        names.push(if name.is_empty() {
            own
        } else if equal.contains(&column_name(&name)) && !group.is_empty() {
            format!("{group} {name}")
        } else {
            name
        });
    }
    number(&mut names);
    names
}

/// Appends numbers to equal names: `Investor`, `Investor 2`, `Investor 3`.
fn number(names: &mut [String]) {
    let given: HashSet<String> = names.iter().map(|name| column_name(name)).collect();
    let (mut seen, mut next) = (HashSet::new(), std::collections::HashMap::new());
    for name in names.iter_mut().filter(|name| !name.is_empty()) {
        let folded = column_name(name);
        if seen.insert(folded.clone()) {
            continue;
        }
        let number: &mut u32 = next.entry(folded.clone()).or_insert(2);
        while given.contains(&format!("{folded} {number}")) {
            *number += 1;
        }
        name.push_str(&format!(" {number}"));
        seen.insert(format!("{folded} {number}"));
        *number += 1;
    }
}

/// Names of columns without a header, as in a sheet: A, B, C.
pub(super) fn letters(column: usize) -> String {
    let (mut letters, mut rest) = (Vec::new(), column + 1);
    while rest > 0 {
        letters.push(char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    letters.into_iter().rev().collect()
}

/// A name on one line, with single blanks.
fn one_line(text: &str) -> String {
    cell_text(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<SampleRow> {
        let cells = |line: &str| line.split(',').map(str::to_owned).collect();
        let rows = text.split('\n').enumerate().filter(|(_, line)| !line.is_empty());
        rows.map(|(index, line)| SampleRow::new(index, index as u64 + 1, cells(line))).collect()
    }

    #[test]
    fn the_header_is_found_below_titles_and_in_two_rows() {
        for (text, skip, header) in [
            ("Name,Country\nAlder,DE\nBirch,FR", 0, 1),
            ("Name,\nAlder,DE\nBirch,FR", 0, 1),
            (",name,country\n0,Alder,DE\n1,Birch,FR", 0, 1),
            ("List of firms,,,\nAs of today,,,\n,,,\nName,Site,Country,Stage\nAlder,https://a.example,DE,Seed", 3, 1),
            ("List of firms\n\nName,Country\nAlder,DE\nBirch,FR", 2, 1),
            ("Investor,,,Check (USD),\nName,Site,Country,Min,Max\nA,https://a.example,DE,1,2\nB,,FR,3,4", 0, 2),
            ("Firm,,Check,\nName,Country,Min,Max\nAlder,DE,1,2\nBirch,FR,3,4", 0, 2),
            ("Firm,Firm,Check,Check\nName,Country,Min,Max\nAlder,DE,1,2\nBirch,FR,3,4", 0, 2),
            ("Company,Date,Investor,Investor\nAmpelo,2024-03-01,Alder,Birch\nCor,2024-05-01,Alder,", 0, 1),
            ("Company,2019,2020\nAlder,5,7\nBirch,6,8", 0, 1),
            ("Deal,,Money,\nCompany,City,Amount,Date\nAlder,Ulm,€5m,soon\nBirch,,n/a,May", 0, 2),
            ("Company,Founded\nAlder,2009\nBirch,2010", 0, 1),
            ("Name\nAlder\nBirch", 0, 1),
            ("Name,Country", 0, 1),
        ] {
            let rows = rows(text);
            let found = find(&rows, &HashSet::new());
            assert_eq!(found, Ok(HeaderPlace { skip, rows: header }), "{text}");
        }
        let rows = rows("Investors of 2026,x,y\nInvestor,Country,Stage\nAlder,DE,seed");
        let wanted = ["country".to_owned(), "stage".to_owned()].into();
        assert_eq!(find(&rows, &wanted).map(|place| place.skip), Ok(1));
    }

    #[test]
    fn a_file_without_a_header_is_noticed() {
        for text in [
            "Alder,https://alder.example,DE\nBirch,https://birch.example,FR",
            "Alder,2009\nBirch,2010\nCedar,2014",
            "1,Alder,2024-01-01\n2,Birch,2024-05-01",
        ] {
            assert!(find(&rows(text), &HashSet::new()).is_err(), "{text}");
        }
    }

    #[test]
    fn names_of_columns_are_distinct() {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let lower = texts(&["\u{feff}Investor", " Investor\u{a0}", "investor 2", "", "INVESTOR", "Amount\n (USD)"]);
        let expected = ["Investor", "Investor 3", "investor 2", "", "INVESTOR 4", "Amount (USD)"];
        assert_eq!(names(None, &lower), expected);
        let groups = texts(&["Firm", "", "Check", "", "Stage"]);
        let lower = texts(&["Name", "Country", "Min", "Name", ""]);
        assert_eq!(names(Some(&groups), &lower), ["Firm Name", "Country", "Min", "Check Name", "Stage"]);
        assert_eq!([0, 25, 26].map(letters), ["A", "Z", "AA"]);
    }
}
