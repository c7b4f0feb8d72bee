use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use flate2::write::GzEncoder;
use zip::write::SimpleFileOptions;

use super::*;
use data::NoProgress;

/// Collects rows as `line: a|b`.
#[derive(Default)]
struct CollectedRows {
    wanted: Vec<&'static str>,
    rows: Vec<String>,
    bad: Vec<String>,
    doubts: Vec<String>,
    notes: Vec<String>,
    /// Names of all columns.
    names: Vec<String>,
    format: InputFormat,
}

impl RowReceiver for CollectedRows {
    fn header(&mut self, names: &[String]) -> Result<Vec<Option<usize>>, SourceError> {
        self.names = names.to_vec();
        let names: Vec<String> = names.iter().map(|name| column_name(name)).collect();
        Ok(self.wanted.iter().map(|wanted| names.iter().position(|name| name == wanted)).collect())
    }

    fn row(&mut self, row: &InputRow) -> Result<(), SourceError> {
        let fields: Vec<&str> = (0..self.wanted.len()).map(|index| row.get(index)).collect();
        self.rows.push(format!("{}: {}", row.line, fields.join("|")));
        Ok(())
    }

    fn bad_row(&mut self, row: &InputRow, problem: String) {
        self.bad.push(format!("{}: {problem}", row.line));
    }

    fn doubt(&mut self, line: u64, problem: String) {
        self.doubts.push(format!("{line}: {problem}"));
    }

    fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn format(&mut self, format: &InputFormat) {
        self.format = format.clone();
    }

    fn wanted(&self) -> Vec<String> {
        self.wanted.iter().map(|name| (*name).to_owned()).collect()
    }
}

fn rows(path: &Path, format: &InputFormat, wanted: &[&'static str]) -> (Vec<String>, Vec<String>) {
    let rows = collected(path, format, wanted).unwrap();
    (rows.rows, rows.bad)
}

fn collected(path: &Path, format: &InputFormat, wanted: &[&'static str]) -> Result<CollectedRows, SourceError> {
    let mut rows = CollectedRows { wanted: wanted.to_vec(), ..CollectedRows::default() };
    for member in Member::list(&[path.to_owned()])? {
        read_rows(&member, format, &NoProgress, &mut rows)?;
    }
    Ok(rows)
}

fn file(folder: &tempfile::TempDir, name: &str, content: &[u8]) -> std::path::PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn columns_are_found_by_name_and_bad_rows_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let text = b"\xef\xbb\xbfName,\"Main\n Office  City\",Other\n A ,Oslo,x\n\"B\nC\",Rome\nD,E,F,G\nH,\xff,I\nJ,K,\xff\nL,M,,\n\n";
    let wanted = ["main office city", "name", "none"];
    let found = collected(&file(&folder, "a.csv", text), &InputFormat::default(), &wanted).unwrap();
    assert_eq!(found.names, ["Name", "Main Office City", "Other"]);
    assert_eq!(found.rows, ["3: Oslo|A|", "4: Rome|B\nC|", "7: ÿ|H|", "8: K|J|", "9: M|L|"]);
    assert_eq!(found.bad, ["6: 4 fields, the header has 3"]);
    assert!(found.doubts[0].starts_with("7: Main Office City: 0xFF is not UTF-8"), "{:?}", found.doubts);
}

#[test]
fn marks_of_formulas_are_removed_only_where_the_mapping_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "a.csv", "name,city\n'=HYPERLINK(1),Oslo\n''@b,'t Veen\n'＝c,d\n".as_bytes());
    let format = |has_marked_formulas| InputFormat { has_marked_formulas, ..InputFormat::default() };
    let found = |format| rows(&path, &format, &["name", "city"]).0;
    assert_eq!(found(format(true)), ["2: =HYPERLINK(1)|Oslo", "3: '@b|'t Veen", "4: ＝c|d"]);
    assert_eq!(found(format(false)), ["2: '=HYPERLINK(1)|Oslo", "3: ''@b|'t Veen", "4: '＝c|d"]);
}

#[test]
fn encodings_are_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let format = |label| InputFormat { encoding: encoding::named(label), skip: Some(1), ..InputFormat::default() };
    let path = file(&folder, "a.csv", b"Report of today\nname;city\nCaf\xe9;Li\xe8ge\n");
    assert_eq!(rows(&path, &format("latin1"), &["name", "city"]).0, ["3: Café|Liège"]);
    let text = "\u{feff}x\nname;city\nCafé;Łódź\n";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let path = file(&folder, "b.csv", &utf16);
    assert_eq!(rows(&path, &format("utf-16"), &["name", "city"]).0, ["3: Café|Łódź"]);
    let found = collected(&path, &InputFormat::default(), &["name", "city"]).unwrap();
    assert_eq!((found.rows, found.format.skip), (vec!["3: Café|Łódź".to_owned()], Some(1)));
    assert_eq!(found.notes[0], "encoding utf-16le, detected");
}

#[test]
fn the_layout_of_a_file_is_detected_and_written_for_a_mapping() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[&str], &[&str]); 8] = [
        ("name,city\nAlder,Oslo\n", &[], &["2: Alder|Oslo"]),
        (
            "sep=;\nName;City\n=\"Alder\";\"Oslo  \"\n=\"Birch & \"\"Co\"\"\";=\"007\"\n",
            &["delimiter = \";\"", "skip = 1"],
            &["3: Alder|Oslo", "4: Birch & \"Co\"|007"],
        ),
        ("List,,\nof 2026,,\n,,\nName,City,Site\nAlder,Oslo,x\n", &["skip = 3"], &["5: Alder|Oslo"]),
        (
            "Firm\t\tCheck\t\nName\tCity\tMin\tMax\nAlder\tOslo\t1\t2\n",
            &["delimiter = \"\\t\"", "header = 2"],
            &["3: Alder|Oslo"],
        ),
        ("name|city\nAlder|Oslo\n", &["delimiter = \"|\""], &["2: Alder|Oslo"]),
        ("\n\nname,city\n\nAlder,Oslo\n", &[], &["5: Alder|Oslo"]),
        ("name\tcity\nx\t\"open\ny\tz\n", &["delimiter = \"\\t\"", "quote = \"none\""], &["2: x|\"open", "3: y|z"]),
        (" Name\u{a0}, \u{feff}City\nAl\u{a0} der,\"Oslo  \n  N\"\n", &[], &["2: Al der|Oslo  \n  N"]),
    ];
    for (text, lines, expected) in cases {
        let path = file(&folder, "a.csv", text.as_bytes());
        for wanted in [["name", "city"], ["name", "none"]] {
            let found = collected(&path, &InputFormat::default(), &wanted).unwrap();
            assert_eq!(found.format.toml_lines(), lines, "{text}");
            // What is written for a mapping gives the same rows.
            assert_eq!(rows(&path, &found.format, &["name", "city"]).0, expected, "{text}");
        }
    }
    let path = file(&folder, "b.csv", b"Alder,https://alder.example\nBirch,https://birch.example\n");
    let error = collected(&path, &InputFormat::default(), &["a"]).err().unwrap().to_string();
    assert!(error.contains("b.csv:1:") && error.contains("header = false"), "{error}");
    let format = InputFormat { header_rows: Some(0), ..InputFormat::default() };
    assert_eq!(rows(&path, &format, &["a"]).0, ["1: Alder", "2: Birch"]);
}

#[test]
fn what_is_no_row_of_the_table_is_left_out_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let table = "Name,Land,AUM\nAlder,DE,10\nBirch,FR,20\n";
    for (rest, kept, bad) in [
        ("Total,,30\n,,\nGrand total:,,30\n", 2, "4 6"),
        ("Total,FR,30\n", 3, ""),
        ("Cedar,ES,#REF!\nName,Land,AUM\nDorn,PT,#WERT!\n", 4, "5"),
        ("\nSource: own list, of today\n* estimates,,\n", 2, "5 6"),
        ("\nNotes follow\n\nCedar,ES,5\n", 3, "5"),
        ("\n,,\nDeals,,\nStartup,Round,Amount\nAmpelo,Seed,5\nCor,Seed,6\n", 2, "6 7 8 9"),
        ("\nCedar,ES,n/a\nDorn,PT,7\n", 4, ""),
        ("Cedar,ES\nDorn\n", 4, ""),
        ("Cedar,ES,5,extra\n", 2, "4"),
        ("3i,GB,7\nTotalEnergies,,\n", 4, ""),
        ("Seed,,\nCedar,ES,5\nSeed subtotal,,5\nGrowth equity,,\nDorn,PT,7\nTotal Capital,GB,9\n", 5, "4 6 7"),
        ("2 firms,,\n500 Startups,,\n", 3, "4"),
        ("n.c. : non communiqué,,\n", 2, "4"),
        ("Total,,30\nNames may be those of funds\n", 2, "4 5"),
        ("Names may be those of funds\n", 3, ""),
    ] {
        let path = file(&folder, "a.csv", format!("{table}{rest}").as_bytes());
        let found = collected(&path, &InputFormat::default(), &["name", "aum"]).unwrap();
        let lines: Vec<&str> = found.bad.iter().filter_map(|row| row.split(':').next()).collect();
        assert_eq!((found.rows.len(), lines.join(" ").as_str()), (kept, bad), "{rest} {:?}", found.bad);
        let errors = rest.matches('#').count();
        assert_eq!(found.notes.iter().any(|note| note.contains("2 cells with an error")), errors == 2, "{rest}");
    }
    // Without another column, only the end of a table tells a line of sums from a firm.
    for (text, kept) in [("Name,AUM\nTotal,7\nAlder,10\n", 2), ("Name,AUM\nAlder,10\nTotal,10\n", 1)] {
        assert_eq!(rows(&file(&folder, "a.csv", text.as_bytes()), &InputFormat::default(), &["name"]).0.len(), kept);
    }
}

#[test]
fn values_that_are_written_once_are_those_of_the_rows_below() {
    let folder = tempfile::tempdir().unwrap();
    let text = "Name,Stage,Firm\nAlder,Seed,Oak\n,,Elm\nBirch,,Oak\n,,Ash\n,B,Fir\n";
    let path = file(&folder, "a.csv", text.as_bytes());
    let format = |columns: &[&str]| InputFormat {
        fill_down: columns.iter().map(|name| (*name).to_owned()).collect(),
        ..InputFormat::default()
    };
    let found = rows(&path, &format(&["name", "stage"]), &["name", "stage", "firm"]).0;
    assert_eq!(found, ["2: Alder|Seed|Oak", "3: Alder|Seed|Elm", "4: Birch||Oak", "5: Birch||Ash", "6: |B|Fir"]);
    let error = collected(&path, &format(&["nome"]), &["name"]).err().unwrap().to_string();
    assert!(error.contains("a.csv:1: has no column \"nome\", which `fill_down` names; its columns: Name"), "{error}");
}

#[test]
fn the_foot_of_a_page_is_no_row_if_the_names_of_the_columns_follow() {
    let folder = tempfile::tempdir().unwrap();
    let table = "Name,Land,Day,Kind,AUM\nAlder,DE,1,VC,10\nBirch,FR,2,VC,20\nCedar,ES,3,CVC,30\nReport,,,,31\n";
    for (rest, kept, bad) in [
        ("Name,Land,Day,Kind,AUM\nDorn,PT,4,VC,40\n", 4, "5 6"),
        ("Dorn,PT,4,VC,40\n", 5, ""),
        ("", 4, ""),
        ("\nTotal,,,,9\n", 4, "7"),
    ] {
        let path = file(&folder, "a.csv", format!("{table}{rest}").as_bytes());
        let found = collected(&path, &InputFormat::default(), &["name", "aum"]).unwrap();
        let lines: Vec<&str> = found.bad.iter().filter_map(|row| row.split(':').next()).collect();
        assert_eq!((found.rows.len(), lines.join(" ").as_str()), (kept, bad), "{rest} {:?}", found.bad);
    }
}

#[test]
fn json_objects_are_rows() {
    let folder = tempfile::tempdir().unwrap();
    let objects = [
        r#"{"name": "A", "place": {"city": "Oslo"}, "tags": ["x", "y", null], "size": 7, "open": true, "none": null}"#,
        r#"{"name": "B", "place.city": "Rome"}"#,
        "3",
    ];
    let wanted = ["name", "place.city", "tags", "size", "open", "none"];
    let expected = ["1: A|Oslo|x|y|7|true|", "2: B|Rome||||"];
    let array = file(&folder, "a.json", format!("\n [{}]", objects.join(",\n")).as_bytes());
    let lines = file(&folder, "a.jsonl", objects.join("\n").as_bytes());
    let answer = format!("{{\"meta\": {{\"pages\": [1]}}, \"data\": [{}], \"next\": null}}", objects.join(","));
    let answer = file(&folder, "c.json", answer.as_bytes());
    for path in [array, lines, answer] {
        let (found, bad) = rows(&path, &InputFormat::default(), &wanted);
        assert_eq!(found, expected);
        assert_eq!(bad, ["3: is not an object"]);
    }
    let broken = file(&folder, "b.json", b"[{\"name\": \"A\"},\n{\"name\": }]");
    let mut to = CollectedRows { wanted: vec!["name"], ..CollectedRows::default() };
    let member = &Member::list(&[broken]).unwrap()[0];
    let error = read_rows(member, &InputFormat::default(), &NoProgress, &mut to).unwrap_err().to_string();
    assert!(error.contains("b.json:2: cannot be read as JSON"), "{error}");
}

#[test]
fn columns_of_json_are_those_of_all_rows_and_of_objects_in_lists() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"{"data": [{"name": "A"}, {"name": "B", "investors": [{"name": "X"}, {"name": "Y", "id": 3}]}]}"#;
    let path = file(&folder, "a.json", text.as_bytes());
    let found = collected(&path, &InputFormat::default(), &[]).unwrap();
    assert_eq!(found.names, ["name", "investors.name", "investors.id"]);
    assert_eq!(found.format.toml_lines(), ["path = \"data\""]);
    let found = rows(&path, &found.format, &["name", "investors.name", "investors.id"]);
    assert_eq!(found.0, ["1: A||", "2: B|X|Y|3"]);
    let text = r#"[{"type": "header"}, {"type": "table", "data": [{"name": "A"}, {"name": "B"}, {"name": "C"}]}]"#;
    let path = file(&folder, "b.json", text.as_bytes());
    let found = collected(&path, &InputFormat::default(), &["name"]).unwrap();
    assert_eq!((found.rows.len(), found.format.toml_lines()), (3, vec!["path = \"[*].data\"".to_owned()]));
    let several = file(&folder, "c.json", text.replacen('[', "[{\"data\": [{}]}, ", 1).as_bytes());
    let error = collected(&several, &found.format, &["name"]).err().unwrap().to_string();
    assert!(error.contains("several lists"), "{error}");
    let path = file(&folder, "a.json", r#"{"data": [{"name": "A"}]}"#.as_bytes());
    let format = InputFormat { path: JsonPath::parse("items"), ..InputFormat::default() };
    let error = collected(&path, &format, &["name"]).err().unwrap().to_string();
    assert!(error.contains("has no list at `items`"), "{error}");
}

#[test]
fn archives_and_folders_are_lists_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut zip = zip::ZipWriter::new(File::create(folder.path().join("a.zip")).unwrap());
    let mut inner = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    inner.start_file("e.csv", SimpleFileOptions::default()).unwrap();
    inner.write_all("name,city\nÉ,Évry\n".as_bytes()).unwrap();
    let inner = inner.finish().unwrap().into_inner();
    for (name, content) in [
        ("in/b.tsv", &b"name\tcity\nB\tRome\n"[..]),
        ("in/a.tsv", b"name\tcity\nA\tOslo\n"),
        ("in/more.ZIP", &inner),
        ("__MACOSX/in/._a.tsv", b"\0\x05\x16\x07"),
        ("in/.DS_Store", b"\0\0\0\x01Bud1"),
        ("in/Thumbs.db", b"x"),
        ("in/~$list.xlsx", b"x"),
    ] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
    let gzip = GzEncoder::new(File::create(folder.path().join("c.tar.gz")).unwrap(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(gzip);
    let text = b"name,city\nC,Bonn\n";
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    tar.append_data(&mut header, "export/c.csv", &text[..]).unwrap();
    tar.into_inner().unwrap().finish().unwrap();
    let mut gzip = GzEncoder::new(File::create(folder.path().join("d.csv.gz")).unwrap(), flate2::Compression::fast());
    gzip.write_all(b"name,city\nD,Kyiv\n").unwrap();
    gzip.finish().unwrap();
    fs::write(folder.path().join(".hidden"), "x").unwrap();

    let members = Member::list(&[folder.path().to_owned()]).unwrap();
    let paths: Vec<&str> = members.iter().map(|member| &*member.path).collect();
    assert_eq!(paths, ["d.csv", "export/c.csv", "in/a.tsv", "in/b.tsv", "in/more.ZIP/e.csv"]);
    let (found, _) = rows(folder.path(), &InputFormat::default(), &["name", "city"]);
    assert_eq!(found, ["2: D|Kyiv", "2: C|Bonn", "2: A|Oslo", "2: B|Rome", "2: É|Évry"]);
}

#[test]
fn an_encoded_row_is_decoded_as_it_was() {
    let mut row = InputRow { file: 3, ..InputRow::default() };
    row.line = 7;
    ["a", "", " bé "].iter().for_each(|field| row.push(field));
    let (mut bytes, mut other) = (Vec::new(), InputRow::default());
    row.encode(&mut bytes);
    other.decode(&bytes);
    other.append(&bytes);
    assert_eq!((other.line, other.file), (7, 3));
    assert_eq!([0, 1, 2, 3, 4, 5].map(|index| other.get(index)), ["a", "", "bé", "a", "", "bé"]);
}

/// Writes a minimal workbook. A sheet has a name, attributes and rows. Style 1 is a date.
pub(crate) fn workbook(path: &Path, sheets: &[(&str, &str, &str)]) {
    let mut zip = zip::ZipWriter::new(File::create(path).unwrap());
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006";
    let relation = |id: &str, kind: &str, target: &str| {
        format!(r#"<Relationship Id="{id}" Type="{relations}/{kind}" Target="{target}"/>"#)
    };
    let listed =
        |relations: &str| format!(r#"<Relationships xmlns="{package}/relationships">{relations}</Relationships>"#);
    let types = r#"<Default Extension="xml" ContentType="application/xml"/>"#;
    let (mut names, mut targets) = (String::new(), relation("s", "styles", "styles.xml"));
    for (number, (name, attributes, _)) in sheets.iter().enumerate() {
        names += &format!(r#"<sheet name="{name}" sheetId="{}" r:id="r{number}" {attributes}/>"#, number + 1);
        targets += &relation(&format!("r{number}"), "worksheet", &format!("worksheets/sheet{number}.xml"));
    }
    let mut parts = vec![
        ("[Content_Types].xml".to_owned(), format!(r#"<Types xmlns="{package}/content-types">{types}</Types>"#)),
        ("_rels/.rels".to_owned(), listed(&relation("r1", "officeDocument", "xl/workbook.xml"))),
        (
            "xl/workbook.xml".to_owned(),
            format!(r#"<workbook xmlns="{main}" xmlns:r="{relations}"><sheets>{names}</sheets></workbook>"#),
        ),
        ("xl/_rels/workbook.xml.rels".to_owned(), listed(&targets)),
        (
            "xl/styles.xml".to_owned(),
            format!(
                r#"<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#
            ),
        ),
    ];
    for (number, (_, _, rows)) in sheets.iter().enumerate() {
        let sheet = format!(r#"<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>"#);
        parts.push((format!("xl/worksheets/sheet{number}.xml"), sheet));
    }
    for (name, text) in parts {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

#[test]
fn workbooks_are_rows_with_dates_and_whole_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("funds.xlsx");
    let text = |cell: &str, text: &str| format!(r#"<c r="{cell}" t="inlineStr"><is><t>{text}</t></is></c>"#);
    let cells = format!(
        r#"<row r="2">{}{}{}</row><row r="3">{}<c r="B3" s="1"><v>45292</v></c><c r="C3"><v>2500000</v></c></row>
           <row r="5">{}<c r="C5"><v>0.5</v></c></row>"#,
        text("A2", "Fund"),
        text("B2", "Since"),
        text("C2", "Size"),
        text("A3", "Alder"),
        text("A5", "Birch"),
    );
    workbook(&path, &[("Funds", "", &cells)]);
    let (found, _) = rows(&path, &InputFormat::default(), &["fund", "since", "size"]);
    assert_eq!(found, ["3: Alder|2024-01-01|2500000", "5: Birch||0.5"]);
    let format = InputFormat { sheet: Some("Deals".to_owned()), ..InputFormat::default() };
    let mut to = CollectedRows { wanted: vec!["fund"], ..CollectedRows::default() };
    let member = &Member::list(&[path]).unwrap()[0];
    let error = read_rows(member, &format, &NoProgress, &mut to).unwrap_err().to_string();
    assert!(error.contains("has no sheet \"Deals\"; its sheets are: Funds"), "{error}");
}

/// Rows of a sheet from lines of cells.
pub(crate) fn sheet(lines: &str) -> String {
    let cell = |(column, text): (usize, &str)| {
        let letter = char::from(b'A' + column as u8);
        (letter, if text.is_empty() { String::new() } else { format!("<is><t>{text}</t></is>") })
    };
    let row = |(index, line): (usize, &str)| {
        let cells = line.split(',').enumerate().map(cell).filter(|(_, text)| !text.is_empty());
        let cells = cells.map(|(letter, text)| format!(r#"<c r="{letter}{}" t="inlineStr">{text}</c>"#, index + 1));
        let hidden = if line.contains("hidden") { r#" hidden="1""# } else { "" };
        format!(r#"<row r="{}"{hidden}>{}</row>"#, index + 1, cells.collect::<String>())
    };
    lines.split('\n').enumerate().map(row).collect()
}

#[test]
fn merged_cells_have_their_value_in_each_row_unless_it_is_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deals.xlsx");
    let merged = |ranges: &[&str]| {
        let ranges: String = ranges.iter().map(|range| format!(r#"<mergeCell ref="{range}"/>"#)).collect();
        format!("</sheetData><mergeCells>{ranges}</mergeCells><sheetData>")
    };
    let rows_of = sheet("Deals\nDate,Startup,Amount\n2026-05-04,Alder,500\n,Birch,\n,Cedar,\n2026-05-06,Dorn,700");
    let rows_of = rows_of + &merged(&["A1:C1", "A3:A4", "C3:C4"]);
    workbook(&path, &[("Deals", "", &rows_of)]);
    let (found, _) = rows(&path, &InputFormat::default(), &["date", "startup", "amount"]);
    assert_eq!(found, ["3: 2026-05-04|Alder|500", "4: 2026-05-04|Birch|", "5: |Cedar|", "6: 2026-05-06|Dorn|700"]);
}

#[test]
fn sums_without_a_label_are_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let csv = "Startup,Round,Closed,Amount,Lead\nAlder,Seed,2024-01-11,1800000,Fjord\nBirch,Seed,2024-01-30,7400000,Elm\n\
               Cedar,Seed,2024-02-14,500000,Oak\n,,2024-01-11 to 2024-02-14,9700000,\n\nDorn,Seed,2024-04-09,31000000,Ash\n\
               Elm,Seed,2024-05-02,3300000,Oak\n,,,34300000,\nFir,Seed,2024-06-01,1000000,Ash\n,,2024-06-02,77,\n";
    let path = file(&folder, "rounds.csv", csv.as_bytes());
    let found = collected(&path, &InputFormat::default(), &["startup", "amount"]).unwrap();
    let rows = ["2: Alder|1800000", "3: Birch|7400000", "4: Cedar|500000", "7: Dorn|31000000", "8: Elm|3300000"];
    assert_eq!(found.rows[..5], rows);
    assert_eq!(found.rows[5..], ["10: Fir|1000000", "11: |77"]);
    let sums: Vec<&str> = found.bad.iter().map(|row| row.split(": ").next().unwrap()).collect();
    assert_eq!(sums, ["5", "9"]);
}

#[test]
fn merged_cells_of_open_documents_have_their_value_in_each_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deals.ods");
    let cell = |text: &str, spans: &str| {
        format!("<table:table-cell{spans} office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>")
    };
    let plain = |texts: &[&str]| texts.iter().map(|text| cell(text, "")).collect::<String>();
    let row = |cells: String| format!("<table:table-row>{cells}</table:table-row>");
    let covered = "<table:covered-table-cell/>";
    let rows_of = [
        row(plain(&["Date", "Startup"])),
        row(cell("2026-05-04", " table:number-rows-spanned=\"2\"") + &plain(&["Alder"])),
        row(covered.to_owned() + &plain(&["Birch"])),
        row(plain(&["2026-05-06", "Dorn"])),
    ];
    let notes = row(plain(&["Notes"]));
    let content = format!(
        "<office:document-content xmlns:office=\"o\" xmlns:table=\"t\" xmlns:text=\"x\"><office:body><office:spreadsheet>\
         <table:table table:name=\"Notes\">{notes}</table:table><table:table table:name=\"Deals\">{}</table:table>\
         </office:spreadsheet></office:body></office:document-content>",
        rows_of.concat()
    );
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    let parts = [
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", "<manifest/>"),
        ("content.xml", &content),
    ];
    for (name, text) in parts {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    let (found, _) = rows(&path, &InputFormat::default(), &["date", "startup"]);
    assert_eq!(found, ["2: 2026-05-04|Alder", "3: 2026-05-04|Birch", "4: 2026-05-06|Dorn"]);
}

#[test]
fn the_sheet_with_the_table_is_read_and_all_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xlsx");
    let table = sheet("List of firms\n\n,Name,City\n,Alder,Oslo\n,hidden,Rome\n,Cedar,#N/A,right\n,Total,\n");
    let deals = sheet("Startup,Round\nAmpelo,Seed\nCor,Seed");
    let hidden = (r"Old", r#"state="hidden""#, &*sheet("Name,City\nA,B\nC,D"));
    workbook(&path, &[hidden, ("Read me", "", &sheet("Notes of today")), ("Firms", "", &table), ("Deals", "", &deals)]);
    let found = collected(&path, &InputFormat::default(), &["name", "city"]).unwrap();
    assert_eq!(found.rows, ["4: Alder|Oslo", "5: hidden|Rome", "6: Cedar|"]);
    assert_eq!(found.bad, ["7: is a line of sums, not a row of the table; delete it, or name the record if it is one"]);
    assert_eq!(found.format.toml_lines(), ["sheet = \"Firms\"", "skip = 2"]);
    let notes = found.notes.join("\n");
    for part in ["of Old (hidden), Read me, Firms, Deals", "hidden rows (1)", "1 cell with an error", "a.xlsx:6"] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    assert_eq!(rows(&path, &InputFormat::default(), &["startup"]).0, ["2: Ampelo", "3: Cor"]);
    let format = InputFormat { sheet: Some("Old".to_owned()), ..InputFormat::default() };
    assert_eq!(rows(&path, &format, &["name"]).0, ["2: A", "3: C"]);
    // The ending may be wrong.
    fs::rename(&path, folder.path().join("a.csv")).unwrap();
    assert_eq!(rows(&folder.path().join("a.csv"), &InputFormat::default(), &["startup"]).0.len(), 2);
    let text = file(&folder, "b.xls", b"name\tcity\nAlder\tOslo\n");
    assert_eq!(rows(&text, &InputFormat::default(), &["name", "city"]).0, ["2: Alder|Oslo"]);
}
