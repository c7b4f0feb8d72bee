//! Limits of input files. Files of strangers state sizes that are not theirs, and a kilobyte can unpack to terabytes: each
//! limit bounds memory or time whatever a file states, and is well above what publishers write.

use std::error::Error;
use std::io::Read;
use std::{fmt, io};

use data::import::csv_reader::{CsvLimit, MAX_COLUMNS, MAX_FIELD, MAX_ROW};
use data::number::grouped;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitUnit {
    Bytes,
    Count,
    /// Unpacked bytes for each packed one.
    Times,
}

/// A limit, as messages and the documentation state it.
#[derive(Debug, PartialEq, Eq)]
pub struct Limit {
    pub name: &'static str,
    pub max: u64,
    pub unit: LimitUnit,
    /// Completes `… more than MAX`, such as `a field has`.
    subject: &'static str,
    /// Things that are counted, such as `members`; empty for bytes.
    things: &'static str,
    remedy: &'static str,
}

const SPLIT: &str = "split the file, or leave the column out";
const AS_CSV: &str = "save the sheet as CSV";

/// A cell of a table, or a text of JSON or of a workbook. A description of a company has a few kilobytes.
pub(crate) static FIELD: Limit =
    bytes("field", MAX_FIELD, "a field has", "shorten it, close its quotation mark, or leave the column out");
/// A row or an object. Readers hold one in memory, JSON as up to 25 times its bytes.
pub(crate) static ROW: Limit =
    bytes("row", MAX_ROW, "a row has", "break the lines of the file, close the quotation mark, or leave columns out");
/// As many as a sheet of Excel.
pub(crate) static COLUMNS: Limit = count("columns", MAX_COLUMNS, "a row has", "columns", SPLIT);
/// A column of nested JSON objects has a path, which repeats the names above it.
pub(crate) static COLUMN_NAME: Limit =
    bytes("column-name", 8 << 10, "the name of a column has", "shorten it, or name the wanted columns in a mapping");
/// Arrays and objects within each other. The parser of JSON is recursive.
pub(crate) static JSON_DEPTH: Limit =
    count("json-depth", 100, "the JSON has", "levels of arrays and objects", "flatten it before the import");
/// A file such as `datapackage.json`, which is read whole.
pub(crate) static DOCUMENT: Limit =
    bytes("document", 4 << 20, "the document has", "remove from it what does not describe the files");

/// Files that a data package describes. A sample of each is read.
pub(crate) static RESOURCES: Limit =
    count("resources", 1_000, "the data package has", "resources", "import a part of them with a mapping");

/// Files of all inputs together. Each is opened, and has a line in the summary.
pub(crate) static MEMBERS: Limit =
    count("members", 100_000, "the inputs have", "files and members", "join small files, or import a part of them");
pub(crate) static MEMBER_NAME: Limit =
    bytes("member-name", 1 << 10, "the name of a member has", "pack the archive again with shorter names");
/// Headers of a member in a tar archive before its content: long names and attributes.
pub(crate) static MEMBER_HEADER: Limit =
    bytes("member-header", 1 << 20, "the header of a member has", "pack the archive again without extended attributes");
pub(crate) static FOLDER_DEPTH: Limit =
    count("folder-depth", 32, "the folder has", "folders within each other", "name the inner folder as the input");
/// Content of an archive or a packed file. It is read from the disk piece by piece.
pub(crate) static UNPACKED: Limit =
    bytes("unpacked", 64 << 30, "the file unpacks to", "unpack it and name its files as inputs");
/// Counts above [`RATIO_FROM`]. Texts that repeat a lot are packed to a hundredth, bombs to a thousandth.
pub(crate) static RATIO: Limit = Limit {
    name: "ratio",
    max: 250,
    unit: LimitUnit::Times,
    subject: "the file unpacks to",
    things: "its size",
    remedy: "it is most likely a bomb; if not, unpack it and name its files as inputs",
};
/// Unpacked bytes for which no ratio is too high.
pub(crate) const RATIO_FROM: u64 = 64 << 20;

/// As many as Excel and LibreOffice have.
pub(crate) static SHEET_ROWS: Limit = count("sheet-rows", 1 << 20, "a sheet has", "rows", AS_CSV);
/// Cells with a value of a sheet that is read row by row: `.xlsx`, `.xlsm`, `.xlsb`.
pub(crate) static SHEET_CELLS: Limit = count("sheet-cells", 50_000_000, "a sheet has", "cells with a value", AS_CSV);
/// Cells of all sheets of a workbook that is read into memory, at about 90 bytes each: the rectangles of `.xls` and `.ods`
/// sheets from A1 to the last used cell, empty ones included.
pub(crate) static HELD_CELLS: Limit =
    count("held-cells", 2_000_000, "the sheets have", "cells", "save the sheet as XLSX or CSV");
/// Texts of the cells of an `.ods` workbook, repeated ones counted as often as they are repeated.
pub(crate) static HELD_TEXT: Limit =
    bytes("held-text", 32 << 20, "the texts of the sheets have", "save the sheet as XLSX or CSV");
/// An `.xls` file, which is read into memory up to three times.
pub(crate) static XLS: Limit = bytes("xls", 64 << 20, "the workbook has", "save the sheet as XLSX or CSV");
pub(crate) static SHEETS: Limit = count("sheets", 1_000, "the workbook has", "sheets", AS_CSV);
/// Texts that the cells of a workbook share.
pub(crate) static SHARED_STRINGS: Limit =
    count("shared-strings", 4_000_000, "the workbook has", "shared texts", AS_CSV);
pub(crate) static SHARED_TEXT: Limit = bytes("shared-text", 128 << 20, "the shared texts have", AS_CSV);
/// A part of a workbook that a reader keeps, such as styles and names; also a picture or another part without XML.
pub(crate) static PART: Limit = bytes("part", 64 << 20, "a part of the workbook has", AS_CSV);
/// Elements that a reader keeps. A style needs as much as 300 bytes of memory.
pub(crate) static ELEMENTS: Limit =
    count("elements", 500_000, "a part of the workbook has", "formats, names and relations", AS_CSV);
pub(crate) static XML_DEPTH: Limit =
    count("xml-depth", 256, "a part of the workbook has", "elements within each other", AS_CSV);

/// A tag of a workbook's XML. A formula has 8 KB.
pub(crate) static MARKUP: Limit = bytes("markup", 1 << 20, "a tag of the workbook has", AS_CSV);

/// Memory of `indexer import`, in MiB, unless an option sets another limit: several times the need of large inputs.
pub const MEMORY_MIB: u32 = 2_048;

/// All limits, in the order of the documentation.
pub static LIMITS: [&Limit; 25] = [
    &FIELD,
    &ROW,
    &COLUMNS,
    &COLUMN_NAME,
    &JSON_DEPTH,
    &DOCUMENT,
    &RESOURCES,
    &MEMBERS,
    &MEMBER_NAME,
    &MEMBER_HEADER,
    &FOLDER_DEPTH,
    &UNPACKED,
    &RATIO,
    &SHEET_ROWS,
    &SHEET_CELLS,
    &HELD_CELLS,
    &HELD_TEXT,
    &XLS,
    &SHEETS,
    &SHARED_STRINGS,
    &SHARED_TEXT,
    &PART,
    &ELEMENTS,
    &XML_DEPTH,
    &MARKUP,
];

const fn bytes(name: &'static str, max: u64, subject: &'static str, remedy: &'static str) -> Limit {
    Limit { name, max, unit: LimitUnit::Bytes, subject, things: "", remedy }
}

const fn count(
    name: &'static str,
    max: u64,
    subject: &'static str,
    things: &'static str,
    remedy: &'static str,
) -> Limit {
    Limit { name, max, unit: LimitUnit::Count, subject, things, remedy }
}

impl Limit {
    /// The maximum as people read it, such as `1 MiB`, `100,000` or `250 times`.
    pub fn amount(&self) -> String {
        match self.unit {
            LimitUnit::Bytes => {
                const UNITS: [(u32, &str); 3] = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
                let whole = UNITS.iter().find(|(shift, _)| self.max.trailing_zeros() >= *shift);
                whole.map_or_else(
                    || format!("{} bytes", self.max),
                    |(shift, unit)| format!("{} {unit}", self.max >> shift),
                )
            }
            LimitUnit::Count => grouped(self.max),
            LimitUnit::Times => format!("{} times", self.max),
        }
    }

    pub(crate) const fn exceeded(&'static self) -> LimitExceeded {
        LimitExceeded { limit: self, line: None }
    }

    /// Reads all bytes; more than the maximum are an error.
    pub(crate) fn read(&'static self, from: impl Read) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        from.take(self.max + 1).read_to_end(&mut bytes)?;
        self.check(bytes.len() as u64)?;
        Ok(bytes)
    }

    /// Checks an amount.
    pub(crate) fn check(&'static self, amount: u64) -> Result<(), LimitExceeded> {
        if amount > self.max { Err(self.exceeded()) } else { Ok(()) }
    }
}

/// Error of a file that is above a limit. Whoever reports it adds file, line and member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitExceeded {
    pub limit: &'static Limit,
    /// The line, if the reader that noticed counts lines.
    pub line: Option<u64>,
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limit { name, subject, things, remedy, .. } = self.limit;
        write!(f, "{subject} more than {}", self.limit.amount())?;
        if !things.is_empty() {
            write!(f, " {things}")?;
        }
        write!(f, ", which is the limit `{name}`; {remedy}")
    }
}

impl Error for LimitExceeded {}

impl LimitExceeded {
    pub(crate) const fn at_line(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }

    /// The limit that made a reader fail, if one did.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()).copied()
    }
}

impl From<LimitExceeded> for io::Error {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::other(exceeded)
    }
}

impl From<CsvLimit> for LimitExceeded {
    fn from(limit: CsvLimit) -> Self {
        match limit {
            CsvLimit::Field => FIELD.exceeded(),
            CsvLimit::Row => ROW.exceeded(),
            CsvLimit::Columns => COLUMNS.exceeded(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_names_of_their_own_and_sentences() {
        for (index, limit) in LIMITS.iter().enumerate() {
            assert!(LIMITS[..index].iter().all(|other| other.name != limit.name), "{}", limit.name);
        }
        let message = |limit: &'static Limit| limit.exceeded().to_string();
        assert_eq!(
            message(&FIELD),
            "a field has more than 1 MiB, which is the limit `field`; shorten it, close its quotation mark, or leave the \
             column out"
        );
        assert!(
            message(&MEMBERS).starts_with("the inputs have more than 100,000 files and members, which is the limit")
        );
        assert!(message(&RATIO).starts_with("the file unpacks to more than 250 times its size, which is the limit"));
        let error = io::Error::from(ROW.exceeded().at_line(7));
        assert_eq!(LimitExceeded::of(&error), Some(LimitExceeded { limit: &ROW, line: Some(7) }));
        assert_eq!(LimitExceeded::of(&io::Error::other("x")), None);
    }
}
