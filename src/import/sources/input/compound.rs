//! Checks an `.xls` workbook against the limits, before `calamine` reads all of its sheets into memory.
//!
//! The file is a compound file ([MS-CFB]): sectors in chains, one of which is the stream of the workbook. The stream is a
//! sequence of records ([MS-XLS]). `calamine` follows a chain that is a circle for ever, and takes as much memory for a sheet
//! as the rectangle of its cells needs.

use crate::sources::input::limits;
use crate::sources::input::workbook_parts::Hidden;
use crate::sources::input::xml_scan::PartFault;

pub(super) const SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

const END_OF_CHAIN: u32 = 0xffff_fffe;
/// Greater numbers are not those of sectors.
const MAX_SECTOR: u32 = 0xffff_fffa;
const MINI_SECTOR: usize = 64;
/// Shorter streams are in mini sectors.
const MIN_STREAM: usize = 4_096;
const ENTRY: usize = 128;

/// A dimension record states at most the sheet of the format, for which `calamine` reserves memory that it does not use.
const MAX_STATED: u64 = 65_536 * 256;

const CUT_OFF: PartFault = PartFault::Damaged("is cut off");
const CIRCLE: PartFault = PartFault::Damaged("has a chain of sectors without end");

/// Checks a file that begins with [`SIGNATURE`].
pub(super) fn check(bytes: &[u8]) -> Result<Hidden, PartFault> {
    check_records(&Compound::open(bytes)?.workbook()?)
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk::<2>().map(|bytes| u16::from_le_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes))
}

fn longs(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).filter_map(|bytes| long(bytes, 0))
}

/// A sector of `size` bytes; the last one may be shorter.
fn piece(bytes: &[u8], size: usize, index: usize) -> Result<&[u8], PartFault> {
    let rest = bytes.get(index.saturating_mul(size)..).filter(|rest| !rest.is_empty()).ok_or(CUT_OFF)?;
    Ok(&rest[..rest.len().min(size)])
}

/// Content of a chain of at most `count` sectors, up to a length.
fn follow<'c>(
    next: &[u32],
    count: usize,
    start: u32,
    length: usize,
    sector: impl Fn(u32) -> Result<&'c [u8], PartFault>,
) -> Result<Vec<u8>, PartFault> {
    let (mut content, mut number, mut steps) = (Vec::new(), start, 0);
    while number != END_OF_CHAIN && content.len() < length {
        if steps > count {
            return Err(CIRCLE);
        }
        steps += 1;
        content.extend_from_slice(sector(number)?);
        number = *next.get(number as usize).ok_or(CUT_OFF)?;
    }
    content.truncate(length);
    Ok(content)
}

struct Compound<'b> {
    bytes: &'b [u8],
    sector: usize,
    /// Next sector of each sector.
    next: Vec<u32>,
}

impl<'b> Compound<'b> {
    fn open(bytes: &'b [u8]) -> Result<Self, PartFault> {
        let sector = match short(bytes, 30) {
            Some(9) => 512,
            Some(12) => 4_096,
            _ => return Err(PartFault::Damaged("has sectors of an unknown size")),
        };
        let mut compound = Self { bytes, sector, next: Vec::new() };
        // Sectors of the table of chains: some in the header, others in a chain of their own.
        let header = bytes.get(76..512).ok_or(CUT_OFF)?;
        let mut tables: Vec<u32> = longs(header).collect();
        let mut more = long(bytes, 68).ok_or(CUT_OFF)?;
        let count = bytes.len() / sector + 1;
        for step in 0.. {
            if more >= MAX_SECTOR {
                break;
            }
            if step > count {
                return Err(CIRCLE);
            }
            tables.extend(longs(compound.sector_at(more)?));
            more = tables.pop().unwrap_or(END_OF_CHAIN);
        }
        for table in tables.into_iter().filter(|table| *table < MAX_SECTOR) {
            let content = compound.sector_at(table)?;
            compound.next.extend(longs(content));
            // A table that is listed again and again would need more memory than the file has.
            if compound.next.len() > 4 * (count + MIN_STREAM) {
                return Err(CIRCLE);
            }
        }
        Ok(compound)
    }

    /// A sector; the last one of the file may be shorter.
    fn sector_at(&self, number: u32) -> Result<&'b [u8], PartFault> {
        piece(self.bytes, self.sector, (number as usize).saturating_add(1))
    }

    /// Content of a chain of sectors, up to a length.
    fn chain(&self, start: u32, length: usize) -> Result<Vec<u8>, PartFault> {
        follow(&self.next, self.bytes.len() / self.sector + 1, start, length, |number| self.sector_at(number))
    }

    /// The stream of the workbook. All chains that lead there have an end.
    fn workbook(&self) -> Result<Vec<u8>, PartFault> {
        let folder = self.chain(long(self.bytes, 48).ok_or(CUT_OFF)?, usize::MAX)?;
        let entry = |name: &str| {
            folder.chunks_exact(ENTRY).find(|entry| {
                let units = entry[..64].chunks_exact(2).filter_map(|unit| short(unit, 0));
                let found: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
                String::from_utf16_lossy(&found).eq_ignore_ascii_case(name)
            })
        };
        let place = |entry: &[u8]| {
            let length = match self.sector {
                512 => long(entry, 120).map(u64::from),
                _ => entry.get(120..).and_then(|rest| rest.first_chunk()).map(|bytes| u64::from_le_bytes(*bytes)),
            };
            let length = usize::try_from(length.ok_or(CUT_OFF)?).unwrap_or(usize::MAX);
            Ok::<_, PartFault>((long(entry, 116).ok_or(CUT_OFF)?, length))
        };
        let (mini_start, mini_length) = place(folder.get(..ENTRY).ok_or(CUT_OFF)?)?;
        let mini_tables = long(self.bytes, 64).ok_or(CUT_OFF)? as usize;
        let (mut mini, mut mini_next) = (Vec::new(), Vec::new());
        if mini_tables > 0 {
            mini = self.chain(mini_start, mini_length)?;
            let start = long(self.bytes, 60).ok_or(CUT_OFF)?;
            mini_next = longs(&self.chain(start, mini_tables.saturating_mul(self.sector))?).collect();
        }
        let stream = entry("Workbook").or_else(|| entry("Book"));
        let missing = PartFault::Damaged("has no workbook; remove the password, if it has one");
        let (start, length) = place(stream.ok_or(missing)?)?;
        if length >= MIN_STREAM {
            return self.chain(start, length);
        }
        follow(&mini_next, mini_next.len(), start, length, |number| piece(&mini, MINI_SECTOR, number as usize))
    }
}

/// A record of the workbook.
struct Record<'s> {
    kind: u16,
    content: &'s [u8],
}

/// Records up to the end of the stream, or to one that is cut off.
fn records(mut stream: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        let (kind, length) = (short(stream, 0)?, usize::from(short(stream, 2)?));
        let content = stream.get(4..4 + length)?;
        stream = &stream[4 + length..];
        Some(Record { kind, content })
    })
}

const BEGIN: u16 = 0x0809;
const END: u16 = 0x000a;
const SHEET: u16 = 0x0085;
const DIMENSIONS: u16 = 0x0200;
const ROW: u16 = 0x0208;
const COLUMN: u16 = 0x007d;
const FORMULA: u16 = 0x0006;
const SEVERAL_NUMBERS: u16 = 0x00bd;
/// Records that begin with row and column: formula, number, label, error, number in short, label of the shared texts,
/// label with formats.
const CELLS: [u16; 7] = [FORMULA, 0x0203, 0x0204, 0x0205, 0x027e, 0x00fd, 0x00d6];
/// Text of the formula before.
const FORMULA_TEXT: u16 = 0x0207;

fn check_records(stream: &[u8]) -> Result<Hidden, PartFault> {
    let sheets = records(stream).take_while(|record| record.kind != END).filter(|record| record.kind == SHEET);
    let starts: Vec<u32> = sheets.filter_map(|record| long(record.content, 0)).collect();
    limits::SHEETS.check(starts.len() as u64)?;
    let (mut cells, mut scanned, mut hidden) = (0_u64, 0, Hidden::default());
    for start in starts {
        let sheet = stream.get(start as usize..).ok_or(CUT_OFF)?;
        let mut area = Area::default();
        let (mut depth, mut has_formula) = (0_u32, false);
        for Record { kind, content } in records(sheet) {
            scanned += content.len() + 4;
            // The records of a sheet belong to no other sheet.
            if scanned > stream.len() {
                return Err(PartFault::Damaged("has sheets that overlap"));
            }
            match kind {
                BEGIN => depth += 1,
                END if depth <= 1 => break,
                END => depth -= 1,
                // Charts within the sheet have cells of their own.
                _ if depth > 1 => {}
                DIMENSIONS => check_dimensions(content)?,
                ROW => hidden.rows += u64::from(short(content, 12).is_some_and(|flags| flags & 0x20 != 0)),
                COLUMN => hidden.has_columns |= short(content, 8).is_some_and(|flags| flags & 1 != 0),
                // Without a formula, it belongs to the first cell.
                FORMULA_TEXT if !has_formula => area.add(0, 0),
                SEVERAL_NUMBERS => {
                    let last = content.len().checked_sub(2).and_then(|at| short(content, at));
                    for column in [short(content, 2), last] {
                        area.add(short(content, 0).ok_or(CUT_OFF)?, column.ok_or(CUT_OFF)?);
                    }
                }
                _ if CELLS.contains(&kind) => {
                    has_formula |= kind == FORMULA;
                    area.add(short(content, 0).ok_or(CUT_OFF)?, short(content, 2).ok_or(CUT_OFF)?);
                }
                _ => {}
            }
        }
        cells += area.cells();
        limits::HELD_CELLS.check(cells)?;
    }
    Ok(hidden)
}

/// Checks the area that a sheet states.
fn check_dimensions(content: &[u8]) -> Result<(), PartFault> {
    let number = |at: usize, is_long: bool| match is_long {
        true => long(content, at).map(u64::from),
        false => short(content, at).map(u64::from),
    };
    let is_long = content.len() >= 14;
    let [rows, columns] = if is_long { [(0, 4), (8, 10)] } else { [(0, 2), (4, 6)] };
    let (first, last) = (number(rows.0, is_long).ok_or(CUT_OFF)?, number(rows.1, is_long).ok_or(CUT_OFF)?);
    let end = number(columns.1, false).ok_or(CUT_OFF)?;
    let start = number(columns.0, false).filter(|start| *start <= 0xff && *start <= end).unwrap_or(0);
    // The last row and column are the ones behind it; zero if the sheet is empty.
    let is_empty = last == 0 || end == 0;
    if !is_empty && (last <= first || end <= start || (last - first) * (end - start) > MAX_STATED) {
        return Err(PartFault::Damaged("has a sheet with impossible dimensions"));
    }
    Ok(())
}

/// The rectangle of the cells so far, first and last row and column.
#[derive(Default)]
struct Area {
    rows: Option<(u16, u16)>,
    columns: Option<(u16, u16)>,
}

impl Area {
    fn add(&mut self, row: u16, column: u16) {
        let widen = |range: Option<(u16, u16)>, at: u16| {
            let (first, last) = range.unwrap_or((at, at));
            Some((first.min(at), last.max(at)))
        };
        self.rows = widen(self.rows, row);
        self.columns = widen(self.columns, column);
    }

    fn cells(&self) -> u64 {
        let length = |range: Option<(u16, u16)>| range.map_or(0, |(first, last)| u64::from(last - first) + 1);
        length(self.rows) * length(self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u16, content: &[u8]) -> Vec<u8> {
        [&kind.to_le_bytes()[..], &(content.len() as u16).to_le_bytes(), content].concat()
    }

    fn cell(row: u16, column: u16) -> Vec<u8> {
        let content: Vec<u8> = [row, column, 0].into_iter().flat_map(u16::to_le_bytes).chain([0; 8]).collect();
        record(0x0203, &content)
    }

    /// A stream of a workbook with one sheet.
    fn stream(records: &[Vec<u8>]) -> Vec<u8> {
        let globals = record(BEGIN, &[0; 8]).len() + record(SHEET, &[0; 8]).len() + record(END, &[]).len();
        let sheet = [&(globals as u32).to_le_bytes()[..], &[0; 4]].concat();
        let [begin, end] = [record(BEGIN, &[0; 8]), record(END, &[])];
        [&begin, &record(SHEET, &sheet), &end, &begin, &records.concat(), &end].map(|part| part.as_slice()).concat()
    }

    fn fault(stream: &[u8]) -> String {
        check_records(stream).err().map(|fault| fault.to_string()).unwrap_or_default()
    }

    #[test]
    fn the_rectangle_of_the_cells_of_a_sheet_is_limited() {
        assert_eq!(fault(&stream(&[cell(0, 0), cell(9_999, 199)])), "");
        assert!(fault(&stream(&[cell(0, 0), cell(9_999, 200)])).contains("`held-cells`"));
        assert!(fault(&stream(&[cell(65_535, 0), cell(0, 65_535)])).contains("`held-cells`"));
        let dimensions = |rows: [u32; 2], columns: [u16; 2]| {
            let rows = rows.into_iter().flat_map(u32::to_le_bytes);
            let content: Vec<u8> = rows.chain(columns.into_iter().flat_map(u16::to_le_bytes)).chain([0; 2]).collect();
            fault(&stream(&[record(DIMENSIONS, &content), cell(0, 0)]))
        };
        assert_eq!(dimensions([0, 65_536], [0, 256]), "");
        assert_eq!(dimensions([0, 0], [0, 0]), "");
        assert!(dimensions([0, u32::MAX], [0, 256]).contains("impossible dimensions"));
        assert!(dimensions([9, 3], [0, 256]).contains("impossible dimensions"));
    }

    #[test]
    fn sheets_that_overlap_are_refused() {
        let sheet = [&36_u32.to_le_bytes()[..], &[0; 4]].concat();
        let globals = [record(SHEET, &sheet), record(SHEET, &sheet), record(SHEET, &sheet)].concat();
        let all = [globals, cell(0, 0), cell(1, 1), cell(2, 2)].concat();
        assert!(fault(&all).contains("overlap"));
    }

    #[test]
    fn a_chain_that_is_a_circle_has_an_end() {
        let mut file = vec![0; 512 * 4];
        file[..8].copy_from_slice(SIGNATURE);
        file[30] = 9;
        file[48..52].copy_from_slice(&1_u32.to_le_bytes());
        file[68..72].copy_from_slice(&END_OF_CHAIN.to_le_bytes());
        file[76..512].fill(0xff);
        file[76..80].copy_from_slice(&0_u32.to_le_bytes());
        // In the table, sector 1 leads to sector 2, and that one back.
        file[512 + 4..512 + 8].copy_from_slice(&2_u32.to_le_bytes());
        file[512 + 8..512 + 12].copy_from_slice(&1_u32.to_le_bytes());
        assert_eq!(check(&file), Err(CIRCLE));
        file[68..72].copy_from_slice(&0_u32.to_le_bytes());
        assert!(check(&file).is_err());
        assert_eq!(check(&file[..300]), Err(CUT_OFF));
    }
}
