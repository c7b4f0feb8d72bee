//! Files that were made to break the importer: each is refused with a sentence that names it, or read, in a few seconds and
//! little memory.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use data::{Date, NoProgress};
use flate2::write::GzEncoder;
use flate2::{Compress, Compression, Crc, FlushCompress};
use import::sources::SourceError;
use import::sources::import::Import;
use tempfile::TempDir;

use crate::indexer::hostile_formats::{self as formats, ZipMember};
use crate::support::harness::{Numbers, one_of, runs_long_tests};

const MAPPING: &str = r#"[source]
id = "list"
title = "List"
license = "CC0-1.0"

[input.list]
optional = ["city"]

[[firm]]
key = "name"
name = "name"
city = "city"
"#;

const MAX_TIME: Duration = Duration::from_secs(5);
const MAX_MEMORY_MIB: &str = "300";

#[derive(Clone, Copy, Debug)]
enum Expected {
    /// With an error that contains this.
    Refused(&'static str),
    Read,
    /// Refused or read: the file is damaged at a place that may not matter.
    Either,
}

use Expected::{Either, Read, Refused};

struct Case {
    name: String,
    expected: Expected,
}

/// Writes cases into a folder.
struct Cases {
    folder: TempDir,
    cases: Vec<Case>,
}

impl Cases {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn add(&mut self, name: &str, content: &[u8], expected: Expected) {
        let name = format!("{:03}-{name}", self.cases.len());
        fs::write(self.path(&name), content).unwrap();
        self.cases.push(Case { name, expected });
    }

    /// Adds a folder that `fill` fills.
    fn add_folder(&mut self, name: &str, expected: Expected, fill: impl FnOnce(&Path)) {
        let name = format!("{:03}-{name}", self.cases.len());
        fs::create_dir(self.path(&name)).unwrap();
        fill(&self.path(&name));
        self.cases.push(Case { name, expected });
    }

    /// Adds the beginnings of a file, and copies with flipped bits.
    fn add_damaged(&mut self, name: &str, content: &[u8], cuts: usize, flips: usize) {
        for part in 1..=cuts {
            self.add(name, &content[..content.len() * part / (cuts + 1)], Either);
        }
        let mut numbers = Numbers(content.len() as u64);
        for _ in 0..flips {
            let mut flipped = content.to_vec();
            for _ in 0..=numbers.below(3) {
                flipped[numbers.below(content.len())] ^= 1 << numbers.below(8);
            }
            self.add(name, &flipped, Either);
        }
    }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(content).unwrap();
    gzip.finish().unwrap()
}

/// A text that ends in 80 megabytes of one byte, which are packed to a thousandth.
fn bomb(beginning: &[u8], byte: u8) -> Vec<u8> {
    const PIECES: usize = 80;
    let piece = vec![byte; 1 << 20];
    let mut packer = Compress::new(Compression::best(), false);
    let mut pack = |content: &[u8], flush: FlushCompress| {
        let mut packed = Vec::with_capacity(content.len() / 4 + 1_024);
        packer.compress_vec(content, &mut packed, flush).unwrap();
        packed
    };
    // After a full flush each piece is packed alike, so that it is packed once.
    let beginning_packed = pack(beginning, FlushCompress::Full);
    let pieces = pack(&piece, FlushCompress::Full).repeat(PIECES);
    let end = pack(&[], FlushCompress::Finish);
    let mut sum = Crc::new();
    sum.update(beginning);
    (0..PIECES).for_each(|_| sum.update(&piece));
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let trailer = [sum.sum().to_le_bytes(), sum.amount().to_le_bytes()].concat();
    [&header[..], &*beginning_packed, &*pieces, &*end, &*trailer].concat()
}

/// Delimited text, alone and in archives.
fn add_texts(cases: &mut Cases) {
    let filled = |byte: &str, count: usize| byte.repeat(count);
    let texts: Vec<(&str, Vec<u8>, Expected)> = vec![
        ("plain", b"name,city\nAlder,Bonn\n".to_vec(), Read),
        ("long-field", format!("name,city\nAlder,{}\n", filled("x", 3 << 20)).into(), Refused("limit `field`")),
        ("long-quoted", format!("name,city\n\"{}", filled("\n", 3 << 20)).into(), Refused("limit `field`")),
        ("long-row", format!("name,city\n{}", filled("xxxxxxxxxx ,", 600_000)).into(), Refused("limit `columns`")),
        (
            "wide-row",
            format!("name,city{}\n", filled(&format!(",{}", filled("x", 1_000)), 6_000)).into(),
            Refused("limit `row`"),
        ),
        ("wide-header", format!("name,city{}\n", filled(",", 20_000)).into(), Refused("limit `columns`")),
        (
            "unclosed",
            b"name,city\n\"Alder\",Bonn\n\"Birch,Kiel\nCedar,Ulm\n".to_vec(),
            Refused(":3: a quotation mark opens"),
        ),
        ("quotes", format!("name,city\n{}", filled("\"", 999_999)).into(), Either),
        ("not-utf8", b"name,city\n\xff\xfe,\xc3\x28\nAlder,Bonn\n".to_vec(), Either),
        ("utf16", "\u{feff}name,city\nAlder,Bonn\n".encode_utf16().flat_map(u16::to_le_bytes).collect(), Read),
        ("zeros", vec![0; 100_000], Refused(":1: ")),
        ("empty", Vec::new(), Refused("file is empty")),
        ("mark", b"\xef\xbb\xbf".to_vec(), Refused("file is empty")),
        ("header", b"name,city\n".to_vec(), Refused("no row became an entity")),
        ("returns", b"name,city\rAlder,Bonn\rBirch,\"Ki\nel\"\r".to_vec(), Read),
        ("line-ends", format!("name,city\n{}Alder,Bonn\n", filled("\n", 3 << 20)).into(), Read),
        (
            "widths",
            format!("name,city\nAlder,Bonn\n{}", filled("a,b,c\n", 10_000)).into(),
            Refused("cannot be read; check delimiter"),
        ),
    ];
    for (number, (name, text, expected)) in texts.iter().enumerate() {
        let member = format!("in/{name}.csv");
        let tabs = || text.iter().map(|byte| if *byte == b',' { b'\t' } else { *byte }).collect::<Vec<u8>>();
        let zip = || formats::zip(&[ZipMember::deflated(&member, text)]);
        let tar = || formats::tar(&[formats::tar_file(&member, text)]);
        let forms: [(&str, &dyn Fn() -> Vec<u8>); 6] = [
            ("csv", &|| text.clone()),
            ("tsv", &tabs),
            ("csv.gz", &|| gzip(text)),
            ("zip", &zip),
            ("tar", &tar),
            ("tar.gz", &|| gzip(&tar())),
        ];
        // The gate tries each long text in two forms, and so all forms of long texts.
        let few = if text.len() > 1 << 20 { one_of(3) } else { 1 };
        for (form, content) in forms.iter().skip(number % few).step_by(few) {
            cases.add(&format!("{name}.{form}"), &content(), *expected);
        }
    }
}

fn add_json(cases: &mut Cases) {
    let row = r#"{"name": "Alder", "city": "Bonn"}"#;
    let texts: Vec<(&str, Vec<u8>, Expected)> = vec![
        ("plain", row.into(), Read),
        ("deep-array", "[".repeat(200_000).into(), Refused("limit `json-depth`")),
        ("deep-object", r#"{"name":"#.repeat(200_000).into(), Refused("limit `json-depth`")),
        ("long-text", format!(r#"{{"name": "{}"}}"#, "x".repeat(3 << 20)).into(), Refused("limit `field`")),
        ("long-row", format!(r#"{{"name": [{}]}}"#, "[],".repeat(2 << 20)).into(), Refused("limit `row`")),
        ("cut-off", row.as_bytes()[..20].to_vec(), Refused("cannot be read as JSON")),
        ("wrong-escape", br#"{"name": "\ud800"}"#.to_vec(), Refused("cannot be read as JSON")),
        ("not-utf8", b"{\"name\": \"\xff\"}".to_vec(), Either),
        ("number", b"1e999999".to_vec(), Refused("cannot be read as JSON")),
        ("garbage", format!("{row} }}").into(), Refused("cannot be read as JSON")),
        ("scalars", format!("[1, null, \"x\", [], {row}]").into(), Refused("is not an object")),
        ("repeated", format!("{{{}\"name\": \"Alder\"}}", r#""name": "x", "#.repeat(1_000)).into(), Read),
    ];
    for (name, text, expected) in &texts {
        cases.add(&format!("{name}.json"), text, *expected);
        cases.add(&format!("{name}.jsonl"), text, *expected);
        cases.add(&format!("{name}.json.gz"), &gzip(text), *expected);
    }
    cases.add_damaged("list.json", format!("[{row}, {row}]").as_bytes(), 4, 8);
}

fn add_archives(cases: &mut Cases) {
    let text: &[u8] = b"name,city\nAlder,Bonn\nBirch,Kiel\n";
    cases.add("line-bomb.csv.gz", &bomb(b"name,city\n", b'x'), Refused("limit `field`"));
    cases.add("row-bomb.csv.gz", &bomb(b"name,city\nAlder,Bonn\n", b'\n'), Refused("limit `ratio`"));
    cases.add("bomb.tar.gz", &bomb(&formats::tar_header("a.csv", b'0', 1 << 40), b'x'), Refused("limit `ratio`"));
    cases.add("bomb.json.gz", &bomb(b"[", b' '), Refused("limit `ratio`"));
    cases.add_damaged("list.csv.gz", &gzip(text), 4, 10);

    let member = || ZipMember::deflated("list.csv", text);
    let zip = formats::zip(&[member(), ZipMember::deflated("other.csv", text)]);
    cases.add("plain.zip", &zip, Read);
    cases.add_damaged("list.zip", &zip, 6, 14);
    cases.add("size.zip", &formats::zip(&[ZipMember { size: 5, ..member() }]), Refused("list.csv"));
    cases.add(
        "great-size.zip",
        &formats::zip(&[ZipMember { size: u32::MAX - 1, ..member() }]),
        Refused("limit `ratio`"),
    );
    cases.add("checksum.zip", &formats::zip(&[ZipMember { crc: 1, ..member() }]), Refused("list.csv"));
    cases.add("locked.zip", &formats::zip(&[ZipMember { flags: 1, ..member() }]), Refused("list.csv"));
    cases.add("method.zip", &formats::zip(&[ZipMember { method: 97, ..member() }]), Refused("list.csv"));
    cases.add("outside.zip", &formats::zip(&[ZipMember::deflated("../../list.csv", text)]), Read);
    cases.add(
        "control.zip",
        &formats::zip(&[ZipMember::deflated("\u{1b}[2J\r.csv", b"a,b\n")]),
        Refused("\\u{1b}[2J\\r.csv:1"),
    );
    cases.add("not-utf8.zip", &formats::zip(&[ZipMember { name: b"\xff\xfe.csv".to_vec(), ..member() }]), Either);
    let long = format!("{}.csv", "n".repeat(5_000));
    cases.add("long-name.zip", &formats::zip(&[ZipMember::deflated(&long, text)]), Refused("limit `member-name`"));
    let filled = "x".repeat(3 << 20);
    cases.add(
        "line.zip",
        &formats::zip(&[ZipMember::deflated("a.csv", filled.as_bytes())]),
        Refused("a.csv:1: a field"),
    );
    let packed = ZipMember::deflated("bomb.csv", &vec![b'\n'; 4 << 20]);
    let bombs: Vec<ZipMember> =
        (0..30).map(|number| ZipMember { name: format!("{number}.csv").into(), ..packed.clone() }).collect();
    cases.add("bombs.zip", &formats::zip(&bombs), Refused("limit `ratio`"));
    let many = |count: usize| -> Vec<ZipMember> {
        (0..count).map(|number| ZipMember::stored(&format!("{number}.csv"), b"name\nAlder\n")).collect()
    };
    cases.add("many.zip", &formats::zip(&many(2_000)), Read);
    cases.add("inner.zip", &formats::zip(&[member(), ZipMember::stored("inner.zip", &zip)]), Read);

    let tar = formats::tar(&[formats::tar_file("list.csv", text), formats::tar_file("other.csv", text)]);
    cases.add("plain.tar", &tar, Read);
    cases.add_damaged("list.tar", &tar, 4, 8);
    cases.add_damaged("list.tar.gz", &gzip(&tar), 4, 8);
    for (name, entry, expected) in [
        ("great-size", formats::tar_header("list.csv", b'0', 1 << 50), Refused("the archive ends before")),
        ("links", formats::tar_header("list.csv", b'2', 0), Refused("no file matches")),
        ("pipes", formats::tar_header("list.csv", b'6', 0), Refused("no file matches")),
        ("devices", formats::tar_header("list.csv", b'3', 0), Refused("no file matches")),
        ("attributes", formats::tar_entry("a", b'x', &vec![b'1'; 3 << 20]), Refused("limit `member-header`")),
        ("long-name", formats::tar_entry("a", b'L', &vec![b'n'; 3 << 20]), Refused("limit `member-header`")),
        ("sparse", formats::tar_header("list.csv", b'S', 1 << 50), Either),
    ] {
        let tar = formats::tar(&[entry]);
        cases.add(&format!("{name}.tar"), &tar, expected);
        cases.add(&format!("{name}.tar.gz"), &gzip(&tar), expected);
    }
    let name = [formats::tar_entry("a", b'L', &vec![b'n'; 5_000]), formats::tar_file("a.csv", text)];
    cases.add("member-name.tar", &formats::tar(&name), Refused("limit `member-name`"));
}

#[cfg(unix)]
fn add_folders(cases: &mut Cases) {
    use std::os::unix::fs::symlink;
    let outside = cases.path("outside.txt");
    fs::write(&outside, "secret\n").unwrap();
    let list = |folder: &Path| fs::write(folder.join("list.csv"), "name\nAlder\n").unwrap();
    cases.add_folder("pipe", Refused("f.csv: is a named pipe"), |folder| {
        list(folder);
        assert!(Command::new("mkfifo").arg(folder.join("f.csv")).status().unwrap().success());
    });
    cases.add_folder("socket", Refused("s.csv: is a socket"), |folder| {
        drop(std::os::unix::net::UnixListener::bind(folder.join("s.csv")).unwrap());
    });
    cases.add_folder("link-out", Refused("p.csv: is a link that leads out of the folder"), |folder| {
        symlink(&outside, folder.join("p.csv")).unwrap();
    });
    cases.add_folder("link-device", Refused("z.csv: is a link that leads out of the folder"), |folder| {
        symlink("/dev/zero", folder.join("z.csv")).unwrap();
    });
    cases.add_folder("link-circle", Refused("c.csv: is a link that leads to no file"), |folder| {
        symlink(folder.join("c.csv"), folder.join("c.csv")).unwrap();
    });
    cases.add_folder("link-folder", Refused("d: is a link to a folder"), |folder| {
        list(folder);
        symlink(folder, folder.join("d")).unwrap();
    });
    cases.add_folder("link-inside", Read, |folder| {
        fs::create_dir(folder.join("e")).unwrap();
        list(&folder.join("e"));
        symlink(folder.join("e/list.csv"), folder.join("l.csv")).unwrap();
    });
    cases.add_folder("deep", Refused("limit `folder-depth`"), |folder| {
        let deep: PathBuf = std::iter::repeat_n("d", 40).collect();
        fs::create_dir_all(folder.join(deep)).unwrap();
    });
}

#[cfg(not(unix))]
fn add_folders(_cases: &mut Cases) {}

fn add_workbooks(cases: &mut Cases) {
    let text = |cell: &str, text: &str| format!(r#"<c r="{cell}" t="inlineStr"><is><t>{text}</t></is></c>"#);
    let header = format!("<row r=\"1\">{}{}</row>", text("A1", "name"), text("B1", "city"));
    let row = format!("<row r=\"2\">{}{}</row>", text("A2", "Alder"), text("B2", "Bonn"));
    let plain = formats::xlsx(&format!("{header}{row}"), "<sst/>");
    cases.add("plain.xlsx", &plain, Read);
    let long = "x".repeat(2 << 20);
    let runs = "<r><t>0123456789</t></r>".repeat(200_000);
    for (name, cells, strings, expected) in [
        (
            "sparse",
            format!("{header}{row}<row r=\"1048576\">{}</row>", text("XFD1048576", "x")),
            "<sst/>".to_owned(),
            Read,
        ),
        (
            "far-row",
            format!("{header}<row r=\"4294967295\">{}</row>", text("A4294967295", "x")),
            "<sst/>".into(),
            Refused("list"),
        ),
        (
            "far-column",
            format!("{header}<row r=\"2\">{}</row>", text("ZZZZZZ2", "x")),
            "<sst/>".into(),
            Refused("columns"),
        ),
        (
            "below",
            format!("{header}<row r=\"1048577\">{}</row>", text("A1048577", "x")),
            "<sst/>".into(),
            Refused("limit `sheet-rows`"),
        ),
        ("overflow", format!("{header}<row r=\"99999999999\">{}</row>", text("A1", "x")), "<sst/>".into(), Either),
        (
            "order",
            format!("{header}<row r=\"9\">{}</row>{row}", text("A9", "x")),
            "<sst/>".into(),
            Refused("rows are not in order"),
        ),
        (
            "long-cell",
            format!("{header}<row r=\"2\">{}</row>", text("A2", &long)),
            "<sst/>".into(),
            Refused("limit `field`"),
        ),
        (
            "long-runs",
            format!("{header}<row r=\"2\"><c r=\"A2\" t=\"inlineStr\"><is>{runs}</is></c></row>"),
            "<sst/>".into(),
            Refused("limit `field`"),
        ),
        ("strings", header.clone(), "<sst uniqueCount=\"4000000000\"/>".into(), Refused("limit `shared-strings`")),
        ("string", header.clone(), format!("<sst><si>{runs}</si></sst>"), Refused("limit `field`")),
        (
            "index",
            format!("{header}<row r=\"2\"><c r=\"A2\" t=\"s\"><v>7</v></c></row>"),
            "<sst/>".into(),
            Refused("list"),
        ),
        (
            "nested",
            format!("{header}<row r=\"2\"><c r=\"A2\"><c r=\"A2\"/></c></row>"),
            "<sst/>".into(),
            Refused("a cell within a cell"),
        ),
        ("deep", "<row>".repeat(300), "<sst/>".into(), Refused("limit `xml-depth`")),
        ("open", header[..header.len() - 6].to_owned(), "<sst/>".into(), Refused("does not end where it should")),
        (
            "entities",
            header.clone(),
            "<!DOCTYPE sst [<!ENTITY a \"b\">]><sst>&a;</sst>".into(),
            Refused("a document type"),
        ),
        ("empty", String::new(), "<sst/>".into(), Refused("sheet is empty")),
    ] {
        cases.add(&format!("list-{name}.xlsx"), &formats::xlsx(&cells, &strings), expected);
    }
    cases.add_damaged("list.xlsx", &plain, 6, 14);
    cases.add("packed.xlsx.gz", &gzip(&plain), Read);
    cases.add("in.zip", &formats::zip(&[ZipMember::stored("list.xlsx", &plain)]), Read);
    cases.add("text.xlsx", b"name,city\nAlder,Bonn\n", Refused("neither an Excel nor"));
    cases.add("nothing.xlsx", b"", Refused("neither an Excel nor"));
    cases.add(
        "zip.xlsx",
        &formats::zip(&[ZipMember::stored("a.csv", b"name\nAlder\n")]),
        Refused("cannot be read as a workbook"),
    );
    cases.add("bomb.xlsx.gz", &bomb(b"PK", 0), Refused("limit `ratio`"));
    for (name, sheet) in [("zeros", vec![0; 1_000]), ("length", vec![0x94, 0x01, 0xff, 0xff, 0xff, 0x7f])] {
        let parts = [
            ZipMember::stored("xl/workbook.bin", b"\x99\x01\x00"),
            ZipMember::stored("xl/worksheets/sheet1.bin", &sheet),
        ];
        cases.add(&format!("list-{name}.xlsb"), &formats::zip(&parts), Refused("list"));
    }

    let cell = |text: &str| {
        format!(r#"<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>"#)
    };
    let row = |cells: &str| format!("<table:table-row>{cells}</table:table-row>");
    let header = row(&format!("{}{}", cell("name"), cell("city")));
    let plain = format!("{header}{}", row(&format!("{}{}", cell("Alder"), cell("Bonn"))));
    let repeated = |rows: u64, columns: u64, text: &str| {
        format!(
            "<table:table-row table:number-rows-repeated=\"{rows}\"><table:table-cell office:value-type=\"string\" \
             table:number-columns-repeated=\"{columns}\"><text:p>{text}</text:p></table:table-cell></table:table-row>"
        )
    };
    for (name, rows, expected) in [
        ("plain", plain.clone(), Read),
        ("columns", format!("{plain}{}", repeated(1, 4_000_000_000, "x")), Either),
        ("rows", format!("{plain}{}", repeated(1_048_570, 100, "x")), Refused("limit `held-")),
        ("both", format!("{plain}{}", repeated(u64::MAX, u64::MAX, "x")), Refused("limit `held-")),
        ("texts", format!("{plain}{}", repeated(100, 10_000, &"x".repeat(10_000))), Refused("limit `held-text`")),
        (
            "trailing",
            format!("{plain}{}", repeated(1_048_574, 16_384, "").replace(" office:value-type=\"string\"", "")),
            Read,
        ),
        ("spaces", format!("{plain}{}", row(&cell("<text:s text:c=\"4000000000\"/>"))), Refused("limit `field`")),
        ("long", format!("{plain}{}", row(&cell(&long))), Refused("limit `field`")),
        ("nested", format!("{plain}{}", row(&cell(&cell("x")))), Refused("a cell within a cell")),
    ] {
        cases.add(&format!("list-{name}.ods"), &formats::ods(&rows), expected);
    }
    cases.add_damaged("list.ods", &formats::ods(&plain), 4, 10);

    let cells = [(0, 0, "name"), (0, 1, "city"), (1, 0, "Alder"), (1, 1, "Bonn")];
    let plain = formats::xls(&cells, [0, 2], [0, 2]);
    cases.add("plain.xls", &plain, Read);
    let far = [(0, 0, "name"), (65_535, 255, "x")];
    cases.add("far.xls", &formats::xls(&far, [0, 65_536], [0, 256]), Refused("limit `held-cells`"));
    let farther = [(0, 0, "name"), (65_535, 65_535, "x")];
    cases.add("farther.xls", &formats::xls(&farther, [0, 2], [0, 2]), Refused("limit `held-cells`"));
    cases.add("rows.xls", &formats::xls(&cells, [0, u32::MAX], [0, 256]), Refused("impossible dimensions"));
    cases.add("backwards.xls", &formats::xls(&cells, [7, 2], [0, 2]), Refused("impossible dimensions"));
    for (name, at, value, expected) in [
        // The chain of the folder is a circle.
        ("folder", 48, 1_u32, Refused("without end")),
        ("tables", 68, 0, Either),
        ("mini", 64, u32::MAX, Either),
        ("sector", 30, 0x0c, Refused("cannot be read as a workbook")),
        ("start", 48, 0xffff, Refused("is cut off")),
    ] {
        let mut changed = plain.clone();
        changed[at..at + 4].copy_from_slice(&value.to_le_bytes());
        if name == "folder" {
            changed[512 + 4..512 + 8].copy_from_slice(&1_u32.to_le_bytes());
        }
        cases.add(&format!("list-{name}.xls"), &changed, expected);
    }
    cases.add_damaged("list.xls", &plain, 8, 16);
}

fn all_cases() -> Cases {
    let mut cases = Cases { folder: tempfile::tempdir().unwrap(), cases: Vec::new() };
    fs::write(cases.path("map.toml"), MAPPING).unwrap();
    add_texts(&mut cases);
    add_json(&mut cases);
    add_archives(&mut cases);
    add_folders(&mut cases);
    add_workbooks(&mut cases);
    cases
}

/// The fault of the outcome of a case; `error` is `None` if it was read.
fn complaint(case: &Case, error: Option<&str>, took: Duration) -> Option<String> {
    let name = &case.name;
    let is_expected = match (case.expected, error) {
        (Refused(part), Some(error)) => error.contains(part),
        (Read, None) | (Either, _) => true,
        (Refused(_), None) | (Read, Some(_)) => false,
    };
    let names_file = error.is_none_or(|error| error.contains(name.as_str()) || error.contains("map.toml:"));
    let is_sentence = error.is_none_or(|error| (20..4_000).contains(&error.len()));
    let is_fine = is_expected && names_file && is_sentence && took < MAX_TIME;
    (!is_fine).then(|| format!("{name}: expected {:?} after {took:?}, found {error:?}", case.expected))
}

/// Runs the program on a case: the exit code, the printed JSON and the messages.
fn program(cases: &Cases, input: &Path, to: &Path) -> (Option<i32>, serde_json::Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
    command.args(["import", "--json", "--on", "2026-11-20", "--max-memory", MAX_MEMORY_MIB, "--mapping"]);
    command.arg(cases.path("map.toml")).arg(input).arg("--dataset").arg(to);
    let ended = command.output().unwrap();
    let messages = String::from_utf8_lossy(&ended.stderr).into_owned();
    (ended.status.code(), serde_json::from_slice(&ended.stdout).unwrap_or_default(), messages)
}

#[test]
fn hostile_files_are_refused_with_a_sentence_or_read_in_little_memory() {
    let cases = all_cases();
    assert!(cases.cases.len() >= 200, "{}", cases.cases.len());
    let on: Date = "2026-11-20".parse().unwrap();
    let mut wrong = Vec::new();
    for case in &cases.cases {
        let sources = tempfile::tempdir().unwrap();
        let start = Instant::now();
        let import = Import::mapping(&cases.path("map.toml"), vec![cases.path(&case.name)]).unwrap();
        let error = import.run(sources.path(), on, &NoProgress).err();
        let is_io = matches!(error, Some(SourceError::Io { .. }));
        let error = error.map(|error| error.to_string());
        wrong.extend(complaint(case, error.as_deref(), start.elapsed()));
        wrong.extend(is_io.then(|| format!("{}: an error of the disk: {error:?}", case.name)));
    }
    // The limit of memory is that of a process. The gate tries one of several.
    for case in cases.cases.iter().step_by(one_of(15)) {
        let to = tempfile::tempdir().unwrap();
        let start = Instant::now();
        let (code, printed, messages) = program(&cases, &cases.path(&case.name), &to.path().join("dataset"));
        let error = (code != Some(0)).then(|| printed["message"].as_str().unwrap_or("no message"));
        wrong.extend(complaint(case, error, start.elapsed()));
        let is_clean = ["panicked", "overflowed", "memory allocation"].iter().all(|word| !messages.contains(word));
        if !matches!(code, Some(0 | 1)) || printed["code"] == "memory" || !is_clean {
            wrong.push(format!("{}: code {code:?}: {printed} {messages}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{} complaints of {} cases:\n{}", wrong.len(), cases.cases.len(), wrong.join("\n"));
}

#[test]
fn an_import_above_its_limit_of_memory_is_refused_with_the_file() {
    let cases = Cases { folder: tempfile::tempdir().unwrap(), cases: Vec::new() };
    fs::write(cases.path("map.toml"), MAPPING).unwrap();
    let list = cases.path("list.csv");
    let mut file = std::io::BufWriter::new(File::create(&list).unwrap());
    writeln!(file, "name,city").unwrap();
    // Sorting takes 48 MiB.
    (0..900_000).for_each(|row| writeln!(file, "Alder Capital {row},Bonn").unwrap());
    file.into_inner().unwrap();
    let to = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
    command.args(["import", "--json", "--max-memory", "64", "--mapping"]).arg(cases.path("map.toml")).arg(&list);
    let ended = command.arg("--dataset").arg(to.path().join("dataset")).output().unwrap();
    if cfg!(target_os = "linux") {
        let printed: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!((ended.status.code(), printed["code"].as_str()), (Some(1), Some("memory")), "{printed}");
        let message = printed["message"].as_str().unwrap();
        assert!(message.contains("more memory than 64 MiB"), "{message}");
    }
}

#[test]
fn sixty_thousand_members_are_read_in_seconds() {
    if !runs_long_tests() {
        return;
    }
    let mut cases = Cases { folder: tempfile::tempdir().unwrap(), cases: Vec::new() };
    fs::write(cases.path("map.toml"), MAPPING).unwrap();
    let members = |number: usize| (format!("{}.csv", 60_000 - number), format!("name\nAlder {number}\n"));
    let zipped: Vec<ZipMember> =
        (0..60_000).map(members).map(|(name, text)| ZipMember::stored(&name, text.as_bytes())).collect();
    let tarred: Vec<Vec<u8>> =
        (0..60_000).map(members).map(|(name, text)| formats::tar_file(&name, text.as_bytes())).collect();
    let tar = formats::tar(&tarred);
    for (name, content) in [("many.zip", formats::zip(&zipped)), ("many.tar", tar.clone()), ("many.tar.gz", gzip(&tar))]
    {
        cases.add(name, &content, Read);
    }
    for case in &cases.cases {
        let to = tempfile::tempdir().unwrap();
        let start = Instant::now();
        let (code, printed, messages) = program(&cases, &cases.path(&case.name), &to.path().join("dataset"));
        assert_eq!(code, Some(0), "{}: {} {messages}", case.name, printed["message"]);
        assert_eq!(printed["files"].as_array().map(Vec::len), Some(60_000), "{}", case.name);
        // The program of the tests is not optimized as that of a release.
        assert!(start.elapsed() < 3 * MAX_TIME, "{}: {:?}", case.name, start.elapsed());
    }
}
