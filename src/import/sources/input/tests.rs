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
    doubts: Vec<u64>,
}

impl RowReceiver for CollectedRows {
    fn header(&mut self, names: &[String]) -> Result<Vec<Option<usize>>, SourceError> {
        let names: Vec<String> = names.iter().map(|name| column_name(name)).collect();
        Ok(self.wanted.iter().map(|wanted| names.iter().position(|name| name == wanted)).collect())
    }

    fn row(&mut self, row: &InputRow) -> Result<(), SourceError> {
        let fields: Vec<&str> = (0..self.wanted.len()).map(|index| row.get(index)).collect();
        self.rows.push(format!("{}: {}", row.line, fields.join("|")));
        Ok(())
    }

    fn bad_row(&mut self, line: u64, problem: String) {
        self.bad.push(format!("{line}: {problem}"));
    }

    fn doubt(&mut self, line: u64, _problem: String) {
        self.doubts.push(line);
    }

    fn wanted(&self) -> Vec<String> {
        self.wanted.iter().map(|name| (*name).to_owned()).collect()
    }
}

fn rows(path: &Path, format: &InputFormat, wanted: &[&'static str]) -> (Vec<String>, Vec<String>) {
    let mut rows = CollectedRows { wanted: wanted.to_vec(), ..CollectedRows::default() };
    for member in Member::list(&[path.to_owned()]).unwrap() {
        read_rows(&member, format, &NoProgress, &mut rows).unwrap();
    }
    (rows.rows, rows.bad)
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
    let (found, bad) = rows(&file(&folder, "a.csv", text), &InputFormat::default(), &wanted);
    assert_eq!(found, ["3: Oslo|A|", "4: Rome|B\nC|", "8: K|J|", "9: M|L|"]);
    assert_eq!(bad[0], "6: 4 fields, the header has 3");
    assert!(bad[1].starts_with("7: Main\n Office  City: is not UTF-8"), "{bad:?}");
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
    let format = |encoding| InputFormat { encoding, delimiter: Some(b';'), skip: 1, ..InputFormat::default() };
    let path = file(&folder, "a.csv", b"Report of today\nname;city\nCaf\xe9;Li\xe8ge\n");
    assert_eq!(rows(&path, &format(Encoding::Windows1252), &["name", "city"]).0, ["3: Café|Liège"]);
    let utf16: Vec<u8> =
        "\u{feff}x\nname;city\nCafé;Łódź\n".encode_utf16().flat_map(|unit| unit.to_le_bytes()).collect();
    let path = file(&folder, "b.csv", &utf16);
    assert_eq!(rows(&path, &format(Encoding::Utf16), &["name", "city"]).0, ["3: Café|Łódź"]);
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
    for path in [array, lines] {
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
fn archives_and_folders_are_lists_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut zip = zip::ZipWriter::new(File::create(folder.path().join("a.zip")).unwrap());
    for (name, text) in [("in/b.tsv", "name\tcity\nB\tRome\n"), ("in/a.tsv", "name\tcity\nA\tOslo\n")] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
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
    assert_eq!(paths, ["d.csv", "export/c.csv", "in/a.tsv", "in/b.tsv"]);
    let (found, _) = rows(folder.path(), &InputFormat::default(), &["name", "city"]);
    assert_eq!(found, ["2: D|Kyiv", "2: C|Bonn", "2: A|Oslo", "2: B|Rome"]);
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

/// Writes a minimal workbook with one sheet. Style 1 is a date.
fn workbook(path: &Path, cells: &str) {
    let mut zip = zip::ZipWriter::new(File::create(path).unwrap());
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006";
    for (name, text) in [
        (
            "[Content_Types].xml",
            format!(
                r#"<Types xmlns="{package}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>"#
            ),
        ),
        (
            "_rels/.rels",
            format!(
                r#"<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>"#
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                r#"<workbook xmlns="{main}" xmlns:r="{relations}"><sheets><sheet name="Funds" sheetId="1" r:id="r1"/></sheets></workbook>"#
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                r#"<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{relations}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="{relations}/styles" Target="styles.xml"/></Relationships>"#
            ),
        ),
        (
            "xl/styles.xml",
            format!(
                r#"<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!(r#"<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>"#),
        ),
    ] {
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
    workbook(&path, &cells);
    let (found, _) = rows(&path, &InputFormat::default(), &["fund", "since", "size"]);
    assert_eq!(found, ["3: Alder|2024-01-01|2500000", "5: Birch||0.5"]);
    let format = InputFormat { sheet: Some("Deals".to_owned()), ..InputFormat::default() };
    let mut to = CollectedRows { wanted: vec!["fund"], ..CollectedRows::default() };
    let member = &Member::list(&[path]).unwrap()[0];
    let error = read_rows(member, &format, &NoProgress, &mut to).unwrap_err().to_string();
    assert!(error.contains("has no sheet \"Deals\"; its sheets are: Funds"), "{error}");
}
