//! Writes archives and workbooks byte by byte, with what a library would not write: sizes that are wrong, links, circles.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// A member of a zip archive, and what the archive states of it.
#[derive(Clone)]
pub(super) struct ZipMember {
    pub name: Vec<u8>,
    pub flags: u16,
    pub method: u16,
    pub crc: u32,
    pub size: u32,
    pub packed: Vec<u8>,
}

impl ZipMember {
    pub(super) fn stored(name: &str, content: &[u8]) -> Self {
        let mut crc = Crc::new();
        crc.update(content);
        let (crc, size) = (crc.sum(), content.len() as u32);
        Self { name: name.into(), flags: 0x800, method: 0, crc, size, packed: content.to_vec() }
    }

    pub(super) fn deflated(name: &str, content: &[u8]) -> Self {
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
        deflate.write_all(content).unwrap();
        Self { method: 8, packed: deflate.finish().unwrap(), ..Self::stored(name, content) }
    }

    /// The fields that local and central headers have in common, up to the length of the name.
    fn fields(&self) -> Vec<u8> {
        let [version, time, date] = [20_u16, 0, 33];
        let mut fields = Vec::new();
        [version, self.flags, self.method, time, date].iter().for_each(|field| fields.extend(field.to_le_bytes()));
        [self.crc, self.packed.len() as u32, self.size].iter().for_each(|field| fields.extend(field.to_le_bytes()));
        fields.extend((self.name.len() as u16).to_le_bytes());
        fields
    }
}

pub(super) fn zip(members: &[ZipMember]) -> Vec<u8> {
    let (mut archive, mut folder) = (Vec::new(), Vec::new());
    for member in members {
        let start = archive.len() as u32;
        let fields = member.fields();
        archive.extend([&b"PK\x03\x04"[..], &fields, &[0; 2], &member.name, &member.packed].concat());
        // Lengths of extra fields and comment, disk and kind; attributes of the system; start.
        let rest = [&[0_u8; 12][..], &start.to_le_bytes(), &member.name].concat();
        folder.extend([&b"PK\x01\x02\x14\x00"[..], &fields, &rest].concat());
    }
    let (start, length) = (archive.len() as u32, folder.len() as u32);
    let count = (members.len().min(0xffff) as u16).to_le_bytes();
    archive.extend(folder);
    let numbers = [&count[..], &count, &length.to_le_bytes(), &start.to_le_bytes(), &[0; 2]].concat();
    archive.extend([&b"PK\x05\x06\0\0\0\0"[..], &numbers].concat());
    archive
}

pub(super) fn tar(entries: &[Vec<u8>]) -> Vec<u8> {
    [entries.concat(), vec![0; 1_024]].concat()
}

/// A header that states any size.
pub(super) fn tar_header(name: &str, kind: u8, size: u64) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    match size < 1 << 33 {
        true => header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes()),
        false => {
            header[124] = 0x80;
            header[128..136].copy_from_slice(&size.to_be_bytes());
        }
    }
    header[136..148].copy_from_slice(b"00000000000\0");
    header[148..156].fill(b' ');
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar  \0");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

pub(super) fn tar_entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let padding = vec![0; content.len().next_multiple_of(512) - content.len()];
    [tar_header(name, kind, content.len() as u64), content.to_vec(), padding].concat()
}

pub(super) fn tar_file(name: &str, content: &[u8]) -> Vec<u8> {
    tar_entry(name, b'0', content)
}

/// A workbook with one sheet.
pub(super) fn xlsx(cells: &str, strings: &str) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    let relations = |relations: &[(&str, &str, &str)]| {
        let relation = |(id, kind, target): &(&str, &str, &str)| {
            format!(r#"<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{target}"/>"#)
        };
        let relations: String = relations.iter().map(relation).collect();
        format!(r#"<Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>"#)
    };
    let sheets = format!(
        r#"<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>"#
    );
    let parts = [
        ("[Content_Types].xml", format!(r#"<Types xmlns="{PACKAGE}/content-types"/>"#)),
        ("_rels/.rels", relations(&[("r1", "officeDocument", "xl/workbook.xml")])),
        ("xl/workbook.xml", sheets),
        ("xl/_rels/workbook.xml.rels", relations(&[("r1", "worksheet", "worksheets/sheet1.xml")])),
        ("xl/sharedStrings.xml", strings.to_owned()),
        (
            "xl/worksheets/sheet1.xml",
            format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>"#),
        ),
    ];
    zip(&parts.map(|(name, text)| ZipMember::deflated(name, text.as_bytes())))
}

/// An OpenDocument workbook with one sheet.
pub(super) fn ods(rows: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"A\">{rows}</table:table>\
         </office:spreadsheet></office:body></office:document-content>"
    );
    zip(&[
        ZipMember::stored("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
        ZipMember::deflated("META-INF/manifest.xml", b"<manifest:manifest/>"),
        ZipMember::deflated("content.xml", content.as_bytes()),
    ])
}

fn record(kind: u16, content: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &(content.len() as u16).to_le_bytes(), content].concat()
}

/// A workbook of Excel 97 with one sheet: cells by row and column, and the stated rows and columns, each up to the one behind
/// the last.
pub(super) fn xls(cells: &[(u16, u16, &str)], rows: [u32; 2], columns: [u16; 2]) -> Vec<u8> {
    const END: u32 = 0xffff_fffe;
    let begin = |kind: u8| record(0x0809, &[0, 6, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let end = record(0x000a, &[]);
    let sheet = |start: u32| record(0x0085, &[&start.to_le_bytes()[..], &[0, 0, 1, 0, b'A']].concat());
    let globals = begin(5).len() + sheet(0).len() + end.len();
    let [rows, columns] = [rows.map(u32::to_le_bytes).concat(), columns.map(u16::to_le_bytes).concat()];
    let stated = [rows, columns, vec![0; 2]].concat();
    let mut stream = [begin(5), sheet(globals as u32), end.clone(), begin(16), record(0x0200, &stated)].concat();
    for (row, column, text) in cells {
        let numbers = [*row, *column, 0, text.len() as u16].map(u16::to_le_bytes).concat();
        stream.extend(record(0x0204, &[&*numbers, &[0], text.as_bytes()].concat()));
    }
    stream.extend(end);
    stream.resize(stream.len().max(4_096).next_multiple_of(512), 0);
    let sectors = (stream.len() / 512) as u32;

    let mut header = vec![0; 512];
    header[..8].copy_from_slice(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1");
    for (at, value) in [(24, 0x3e_u16), (26, 3), (28, 0xfffe), (30, 9), (32, 6)] {
        header[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    for (at, value) in [(44, 1_u32), (48, 1), (56, 4_096), (60, END), (64, 0), (68, END)] {
        header[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    header[76..].fill(0xff);
    header[76..80].fill(0);
    // The table of chains, the folder, then the stream.
    let mut table: Vec<u32> = vec![0xffff_fffd, END];
    table.extend((0..sectors).map(|sector| if sector + 1 < sectors { sector + 3 } else { END }));
    table.resize(128, u32::MAX);
    let entry = |name: &str, kind: u8, start: u32, length: u32| {
        let mut entry: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        entry.resize(128, 0);
        entry[64] = (name.len() as u8 + 1) * 2;
        entry[66] = kind;
        entry[68..80].fill(0xff);
        entry[116..120].copy_from_slice(&start.to_le_bytes());
        entry[120..124].copy_from_slice(&length.to_le_bytes());
        entry
    };
    let mut folder = [entry("Root Entry", 5, END, 0), entry("Workbook", 2, 2, stream.len() as u32)].concat();
    folder.resize(512, 0);
    let table: Vec<u8> = table.into_iter().flat_map(u32::to_le_bytes).collect();
    [header, table, folder, stream].concat()
}
