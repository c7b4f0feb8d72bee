//! Checks the parts of a zipped workbook against the limits, before `calamine` reads some of them into memory.

use std::fs::File;
use std::io::{BufReader, Read};

use calamine::Dimensions;
use zip::ZipArchive;
use zip::read::ZipFile;

use crate::sources::Result;
use crate::sources::input::Member;
use crate::sources::input::archive::printable;
use crate::sources::input::contained::contain;
use crate::sources::input::limits::{self, LimitExceeded};
use crate::sources::input::sheet_rows::{damaged, open};
use crate::sources::input::unpacked::{UnpackReader, check_unpacked};
use crate::sources::input::xml_scan::{PartFault, XmlEvent, XmlScan, XmlTag};
use data::parameter_error::shortened;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkbookKind {
    Xlsx,
    Xlsb,
    Ods,
}

/// Hidden rows and columns, and merged cells.
#[derive(Default)]
pub(super) struct PartsFound {
    pub hidden: Hidden,
    pub has_merged: bool,
    /// Of an `.ods` workbook, the cells that are merged over several rows of a column, each with the number of its sheet from 0.
    pub merged: Vec<(usize, Dimensions)>,
}

impl PartsFound {
    fn add(&mut self, other: Self) {
        self.hidden.add(other.hidden);
        self.has_merged |= other.has_merged;
        self.merged.extend(other.merged);
    }
}

/// Rows and columns of all sheets that a spreadsheet does not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hidden {
    pub rows: u64,
    pub has_columns: bool,
}

impl Hidden {
    pub(super) fn message(self) -> Option<String> {
        let Self { rows, has_columns } = self;
        let found = match (rows, has_columns) {
            (0, false) => return None,
            (0, true) => "hidden columns".to_owned(),
            (rows, false) => format!("hidden rows ({rows})"),
            (rows, true) => format!("hidden rows ({rows}) and hidden columns"),
        };
        Some(format!("the workbook has {found}, which are read like the others; delete what is not meant"))
    }

    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.has_columns |= other.has_columns;
    }
}

/// Checks all parts, since the parts themselves decide which ones are read.
pub(super) fn check(member: &Member, file: &File) -> Result<(WorkbookKind, PartsFound)> {
    let refused = |problem: &dyn std::fmt::Display| damaged(member, 1, problem);
    let shared = file.try_clone().map_err(|error| member.fault(1, error))?;
    let packed = file.metadata().map_err(|error| member.fault(1, error))?.len();
    let mut archive = open(member, || ZipArchive::new(BufReader::new(shared)))?;
    limits::MEMBERS.check(archive.len() as u64).map_err(|exceeded| member.error(1, exceeded))?;
    let (mut unpacked, mut kind, mut found) = (0_u64, WorkbookKind::Xlsx, PartsFound::default());
    for index in 0..archive.len() {
        let source = &mut archive;
        let part = open(member, move || source.by_index(index))?;
        let name = part.name().map_err(|error| refused(&error))?.replace('\\', "/").to_ascii_lowercase();
        let shown = printable(&shortened(&name)).into_owned();
        unpacked = unpacked.saturating_add(part.size());
        check_unpacked(unpacked, packed).map_err(|exceeded| member.error(1, exceeded))?;
        match &*name {
            "content.xml" => kind = WorkbookKind::Ods,
            "xl/workbook.bin" => kind = WorkbookKind::Xlsb,
            _ => {}
        }
        let checked = contain(|| check_part(&name, part)).map_err(|panic| refused(&format!("{shown}: {panic}")))?;
        found.add(checked.map_err(|error| match error {
            PartError::Fault(PartFault::Limit(exceeded)) => member.error(1, format!("{shown}: {exceeded}")),
            PartError::Fault(fault) => refused(&format!("{shown}: {fault}")),
            PartError::Io(error) => member.fault(1, error),
        })?);
    }
    Ok((kind, found))
}

enum PartError {
    Fault(PartFault),
    Io(std::io::Error),
}

impl From<PartFault> for PartError {
    fn from(fault: PartFault) -> Self {
        Self::Fault(fault)
    }
}

fn check_part<R: Read>(name: &str, part: ZipFile<'_, R>) -> Result<PartsFound, PartError> {
    let mut from = UnpackReader::of_member(part);
    let mut check = PartCheck::new(name);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer).map_err(PartError::Io)? {
            0 => {
                check.finish()?;
                return Ok(check.found());
            }
            read => check.add(&buffer[..read])?,
        }
    }
}

struct PartCheck {
    form: PartForm,
    bytes: u64,
    xml: XmlScan,
    sizes: PartSizes,
}

enum PartForm {
    Xml,
    /// Records of an `.xlsb` workbook, which are read one by one.
    Records(RecordScan),
    /// Pictures and other parts that no reader parses.
    Other,
}

impl PartCheck {
    fn new(name: &str) -> Self {
        let file = name.rsplit('/').next().unwrap_or_default();
        let form = if name.starts_with("customxml/") {
            PartForm::Other
        } else if name.ends_with(".xml") || name.ends_with(".rels") {
            PartForm::Xml
        } else if ["workbook.bin", "styles.bin", "sharedstrings.bin"].contains(&file)
            || name.ends_with(".bin") && name.contains("worksheets/")
        {
            PartForm::Records(RecordScan::default())
        } else {
            PartForm::Other
        };
        let sizes = PartSizes {
            holds_all: file == "content.xml",
            is_shared: file == "sharedstrings.xml",
            is_streamed: name.contains("worksheets/"),
            ..PartSizes::default()
        };
        Self { form, bytes: 0, xml: XmlScan::new(), sizes }
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), PartFault> {
        self.bytes += bytes.len() as u64;
        match &mut self.form {
            PartForm::Xml => {
                if self.sizes.is_shared {
                    limits::SHARED_TEXT.check(self.bytes)?;
                }
                self.xml.scan(bytes, &mut |event| self.sizes.add(event))
            }
            PartForm::Records(records) => {
                if !self.sizes.is_streamed {
                    limits::PART.check(self.bytes)?;
                }
                records.scan(bytes)
            }
            PartForm::Other => Ok(limits::PART.check(self.bytes)?),
        }
    }

    fn finish(&self) -> Result<(), PartFault> {
        match self.form {
            PartForm::Xml => self.xml.finish(),
            _ => Ok(()),
        }
    }

    fn found(self) -> PartsFound {
        let has_merged =
            self.sizes.has_merged || matches!(self.form, PartForm::Records(RecordScan { has_merged: true, .. }));
        PartsFound { hidden: self.sizes.hidden, has_merged, merged: self.sizes.held.merged }
    }
}

/// Elements that readers keep: formats, names, relations and sheets.
const KEPT: [&[u8]; 11] = [
    b"xf",
    b"font",
    b"fill",
    b"border",
    b"numFmt",
    b"rgbColor",
    b"definedName",
    b"Relationship",
    b"style",
    b"named-range",
    b"named-expression",
];

/// Sizes of what a reader holds in memory of a part.
#[derive(Default)]
struct PartSizes {
    /// True for the sheets of an `.ods` workbook, whose cells are all held.
    holds_all: bool,
    is_shared: bool,
    is_streamed: bool,
    sheets: u64,
    shared: u64,
    kept: u64,
    kept_bytes: u64,
    is_kept: bool,
    is_in_cell: bool,
    /// Bytes of the texts of the cell.
    text: u64,
    held: HeldSizes,
    hidden: Hidden,
    has_merged: bool,
}

impl PartSizes {
    fn add(&mut self, event: XmlEvent<'_>) -> Result<(), PartFault> {
        match event {
            XmlEvent::Start(tag) => self.start(tag),
            XmlEvent::End(name) => self.end(name),
            XmlEvent::Text(bytes) => self.add_text(bytes),
        }
    }

    fn start(&mut self, tag: XmlTag<'_>) -> Result<(), PartFault> {
        match tag.local_name() {
            b"c" | b"si" | b"table-cell" | b"covered-table-cell" => {
                if self.is_in_cell {
                    return Err(PartFault::Damaged("has a cell within a cell"));
                }
                (self.is_in_cell, self.text) = (true, 0);
                self.shared += u64::from(self.is_shared);
                limits::SHARED_STRINGS.check(self.shared)?;
                if self.holds_all {
                    self.held.begin_cell(tag)?;
                }
            }
            b"sst" => limits::SHARED_STRINGS.check(tag.number(b"uniqueCount").unwrap_or(0))?,
            b"sheet" | b"table" => {
                self.sheets += 1;
                limits::SHEETS.check(self.sheets)?;
            }
            // Spaces of a text in an `.ods` workbook, with their number.
            b"s" if self.is_in_cell => self.add_text(tag.number(b"c").unwrap_or(1))?,
            b"table-row" => {
                self.hidden.rows += u64::from(tag.has(b"visibility", &[b"collapse", b"filter"]));
                self.held.begin_row(tag);
            }
            b"mergeCell" => self.has_merged = true,
            b"row" if self.is_streamed => self.hidden.rows += u64::from(tag.has(b"hidden", &[b"1", b"true"])),
            b"col" if self.is_streamed => self.hidden.has_columns |= tag.has(b"hidden", &[b"1", b"true"]),
            b"table-column" => self.hidden.has_columns |= tag.has(b"visibility", &[b"collapse", b"filter"]),
            name if KEPT.contains(&name) => {
                (self.is_kept, self.kept) = (true, self.kept + 1);
                limits::ELEMENTS.check(self.kept)?;
                self.keep(tag.bytes().len() as u64)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &[u8]) -> Result<(), PartFault> {
        match name {
            b"c" | b"si" | b"table-cell" | b"covered-table-cell" => {
                self.is_in_cell = false;
                if self.holds_all {
                    self.held.end_cell(self.text);
                }
            }
            b"table-row" if self.holds_all => return Ok(self.held.end_row()?),
            b"table" => self.held.end_table(),
            name if KEPT.contains(&name) => self.is_kept = false,
            _ => {}
        }
        Ok(())
    }

    fn add_text(&mut self, bytes: u64) -> Result<(), PartFault> {
        if self.is_in_cell {
            self.text = self.text.saturating_add(bytes);
            limits::FIELD.check(self.text)?;
        }
        if self.is_kept { self.keep(bytes) } else { Ok(()) }
    }

    fn keep(&mut self, bytes: u64) -> Result<(), PartFault> {
        self.kept_bytes += bytes;
        Ok(limits::PART.check(self.kept_bytes)?)
    }
}

/// Cells of an `.ods` workbook as it is read: a dense rectangle for each sheet, repeated cells and rows written out.
#[derive(Default)]
struct HeldSizes {
    /// Cells of earlier sheets.
    cells: u64,
    /// Bytes of all texts.
    text: u64,
    /// Rows of the sheet so far, and up to the last one with a value.
    rows: u64,
    used_rows: u64,
    width: u64,
    row: HeldRow,
    cell: HeldCell,
    /// Number of the sheet.
    sheet: usize,
    merged: Vec<(usize, Dimensions)>,
}

#[derive(Default)]
struct HeldRow {
    repeats: u64,
    /// Cells of the row so far, and up to the last one with a value.
    cells: u64,
    used_cells: u64,
    text: u64,
}

#[derive(Default)]
struct HeldCell {
    repeats: u64,
    has_value: bool,
    /// Bytes of a formula or value in the tag.
    tag: u64,
}

impl HeldSizes {
    fn begin_row(&mut self, tag: XmlTag<'_>) {
        let repeats = tag.number(b"number-rows-repeated").unwrap_or(1).min(limits::SHEET_ROWS.max);
        self.row = HeldRow { repeats, ..HeldRow::default() };
    }

    fn begin_cell(&mut self, tag: XmlTag<'_>) -> Result<(), LimitExceeded> {
        let bytes = tag.bytes();
        let span = |name| tag.number(name).unwrap_or(1);
        if let Some(below) = span(b"number-rows-spanned").checked_sub(2)
            && span(b"number-columns-spanned") == 1
        {
            let place = |row: u64| Some((u32::try_from(row).ok()?, u32::try_from(self.row.cells).ok()?));
            let ends = place(self.rows).zip(place(self.rows.saturating_add(below + 1)));
            self.merged.extend(ends.map(|(start, end)| (self.sheet, Dimensions { start, end })));
            limits::ELEMENTS.check(self.merged.len() as u64)?;
        }
        let has = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
        self.cell = HeldCell {
            repeats: tag.number(b"number-columns-repeated").unwrap_or(1).min(limits::COLUMNS.max),
            has_value: has(b":value") || has(b"-value") || has(b":formula"),
            tag: if has(b":formula") || has(b"string-value") { bytes.len() as u64 } else { 0 },
        };
        Ok(())
    }

    fn end_cell(&mut self, text: u64) {
        let HeldCell { repeats, has_value, tag } = self.cell;
        self.row.cells += repeats;
        if has_value || text > 0 {
            self.row.used_cells = self.row.cells;
            self.row.text = self.row.text.saturating_add(repeats.saturating_mul(text + tag));
        }
    }

    fn end_row(&mut self) -> Result<(), LimitExceeded> {
        let HeldRow { repeats, used_cells, text, .. } = self.row;
        self.rows = self.rows.saturating_add(repeats);
        if used_cells > 0 {
            self.used_rows = self.rows;
            self.width = self.width.max(used_cells);
        }
        self.text = self.text.saturating_add(repeats.saturating_mul(text));
        limits::HELD_TEXT.check(self.text)?;
        limits::HELD_CELLS.check(self.cells.saturating_add(self.used_rows.saturating_mul(self.width)))
    }

    fn end_table(&mut self) {
        self.cells = self.cells.saturating_add(self.used_rows.saturating_mul(self.width));
        (self.rows, self.used_rows, self.width) = (0, 0, 0);
        self.sheet += 1;
    }
}

/// Reads the lengths of the records of a part. Each is a type of one or two bytes, a length in up to four bytes of seven
/// bits, and the content, for which readers take as much memory as the length states.
#[derive(Default)]
struct RecordScan {
    state: RecordState,
    /// The first byte of the type.
    first: u8,
    has_merged: bool,
    /// Length so far, or bytes of the content that are left.
    length: u64,
}

/// Type of the record of a merged cell.
const MERGED_CELL: [u8; 2] = [0xb0, 0x01];

#[derive(Clone, Copy, Default)]
enum RecordState {
    #[default]
    Type,
    TypeEnd,
    /// Number of bytes of the length so far.
    Length(u32),
    Content,
}

impl RecordScan {
    fn scan(&mut self, mut bytes: &[u8]) -> Result<(), PartFault> {
        while let [first, rest @ ..] = bytes {
            let is_continued = first & 0x80 != 0;
            match self.state {
                RecordState::Content => {
                    let skipped = usize::try_from(self.length).unwrap_or(usize::MAX).min(bytes.len());
                    self.length -= skipped as u64;
                    bytes = &bytes[skipped..];
                    if self.length == 0 {
                        self.state = RecordState::Type;
                    }
                    continue;
                }
                RecordState::Type => {
                    (self.length, self.first) = (0, *first);
                    self.state = if is_continued { RecordState::TypeEnd } else { RecordState::Length(0) };
                }
                RecordState::TypeEnd => {
                    self.has_merged |= [self.first, *first] == MERGED_CELL;
                    self.state = RecordState::Length(0);
                }
                RecordState::Length(count) => {
                    self.length |= u64::from(first & 0x7f) << (7 * count);
                    if is_continued && count < 3 {
                        self.state = RecordState::Length(count + 1);
                    } else {
                        limits::ROW.check(self.length)?;
                        self.state = if self.length > 0 { RecordState::Content } else { RecordState::Type };
                    }
                }
            }
            bytes = rest;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(name: &str, content: &[u8]) -> String {
        let mut check = PartCheck::new(name);
        let result = content.chunks(1_000).try_for_each(|piece| check.add(piece)).and_then(|()| check.finish());
        result.err().map(|fault| fault.to_string()).unwrap_or_default()
    }

    fn sheet(rows: &str) -> String {
        format!("<o:body><t:table t:name='a'>{rows}</t:table></o:body>")
    }

    #[test]
    fn repeated_cells_of_a_sheet_count_as_often_as_they_are_repeated() {
        let cell = |rows: u64, columns: u64, text: &str| {
            let row = format!(
                "<t:table-row t:number-rows-repeated='{rows}'><t:table-cell t:number-columns-repeated='{columns}'>\
                 <p>{text}</p></t:table-cell></t:table-row>"
            );
            fault("content.xml", sheet(&row).as_bytes())
        };
        assert_eq!(cell(1_000, 2_000, "x"), "");
        assert!(cell(1_000, 2_001, "x").contains("`held-cells`"));
        assert!(cell(u64::MAX, u64::MAX, "x").contains("`held-"));
        assert_eq!(cell(1_048_576, 16_384, ""), "");
        assert!(cell(100, 16_384, &"x".repeat(1_000)).contains("`held-text`"));
        let far = "<t:table-row t:number-rows-repeated='1048575'/><t:table-row><t:table-cell \
                   t:number-columns-repeated='16383'/><t:table-cell o:value='1'/></t:table-row>";
        assert!(fault("content.xml", sheet(far).as_bytes()).contains("`held-cells`"));
        let spaces = sheet("<t:table-row><t:table-cell><p><s t:c='4000000000'/></p></t:table-cell></t:table-row>");
        assert!(fault("content.xml", spaces.as_bytes()).contains("`field`"));
    }

    #[test]
    fn merged_cells_of_open_documents_have_their_sheets_and_rows() {
        let spanned = "<t:table t:name='a'><t:table-row t:number-rows-repeated='2'/><t:table-row><t:table-cell/><t:table-cell \
                       t:number-rows-spanned='3'/><t:table-cell t:number-rows-spanned='2' t:number-columns-spanned='2'/>\
                       </t:table-row></t:table><t:table t:name='b'><t:table-row><t:table-cell t:number-rows-spanned='2'/>\
                       <t:table-cell t:number-rows-spanned='1'/></t:table-row></t:table>";
        let mut check = PartCheck::new("content.xml");
        check.add(format!("<body>{spanned}</body>").as_bytes()).unwrap_or_else(|fault| panic!("{fault}"));
        let ranges = [(0, Dimensions { start: (2, 1), end: (4, 1) }), (1, Dimensions { start: (0, 0), end: (1, 0) })];
        assert_eq!(check.found().merged, ranges);
        let many = "<t:table-cell t:number-rows-spanned='2'/>".repeat(500_001);
        assert!(
            fault("content.xml", sheet(&format!("<t:table-row>{many}</t:table-row>")).as_bytes())
                .contains("`elements`")
        );
        for (record, has_merged) in [([0xb0, 0x01, 0x02, 0, 0], true), ([0xb1, 0x01, 0x02, 0, 0], false)] {
            let mut check = PartCheck::new("xl/worksheets/sheet1.bin");
            check.add(&record).unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!(check.found().has_merged, has_merged);
        }
    }

    #[test]
    fn the_kept_elements_of_a_part_are_limited() {
        for (name, content, limit) in [
            ("xl/sharedstrings.xml", "<sst uniqueCount='4000000000'/>".to_owned(), "`shared-strings`"),
            ("xl/styles.xml", format!("<a>{}</a>", "<xf/>".repeat(500_001)), "`elements`"),
            ("xl/workbook.xml", format!("<a>{}</a>", "<sheet/>".repeat(1_001)), "`sheets`"),
            ("xl/worksheets/a.xml", format!("<c>{}</c>", "<t>0123456789</t>".repeat(110_000)), "`field`"),
            ("xl/worksheets/a.xml", "<c><c/></c>".to_owned(), "a cell within a cell"),
            ("xl/media/a.png", "x".repeat((64 << 20) + 1), "`part`"),
        ] {
            assert!(fault(name, content.as_bytes()).contains(limit), "{name} {limit}");
        }
        assert_eq!(fault("xl/worksheets/a.xml", b"<row><c><t>01234</t></c><c><v>5</v></c></row>"), "");
    }

    #[test]
    fn records_that_state_a_great_length_are_refused() {
        let part = "xl/worksheets/sheet1.bin";
        assert_eq!(fault(part, &[0x01, 0x02, 0xaa, 0xbb, 0x81, 0x01, 0x00, 0x05, 0x80, 0x01]), "");
        assert!(fault(part, &[0x01, 0xff, 0xff, 0xff, 0x7f]).contains("`row`"));
    }
}
