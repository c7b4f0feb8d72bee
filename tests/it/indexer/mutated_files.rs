//! Files as other programs would have written them: with other line ends, quotation marks, encodings, and order of columns. The
//! dataset stays the same, or the import is refused. Of a file that was cut no value is falsified.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use data::fold::fold;

use crate::commands::doctor::copy_folder;
use crate::support::harness::one_of;

/// A table as its cells.
struct Table {
    delimiter: u8,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads a file; `None` if rows have different numbers of cells, so that it is no plain table.
    fn read(text: &str) -> Option<Self> {
        let header = text.lines().next()?;
        let count = |delimiter: &u8| header.bytes().filter(|byte| byte == delimiter).count();
        let delimiter = [b',', b';', b'\t', b'|'].into_iter().max_by_key(count)?;
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.has_headers(false).delimiter(delimiter).from_reader(text.as_bytes());
        let rows: Result<Vec<Vec<String>>, _> =
            reader.records().map(|row| row.map(|row| row.iter().map(str::to_owned).collect())).collect();
        Some(Self { delimiter, rows: rows.ok()? })
    }

    fn write(&self, style: csv::QuoteStyle) -> String {
        let mut writer = csv::WriterBuilder::new();
        let mut writer = writer.delimiter(self.delimiter).quote_style(style).from_writer(Vec::new());
        self.rows.iter().for_each(|row| writer.write_record(row).unwrap());
        String::from_utf8(writer.into_inner().unwrap()).unwrap()
    }

    fn has_columns_reversed(&self) -> Self {
        let rows = self.rows.iter().map(|row| row.iter().rev().cloned().collect()).collect();
        Self { delimiter: self.delimiter, rows }
    }
}

type Mutation = fn(&str) -> Option<Vec<u8>>;

const MUTATIONS: [(&str, Mutation); 7] = [
    ("lines that end in CRLF", |text| Some(text.replace("\r\n", "\n").replace('\n', "\r\n").into_bytes())),
    ("all cells quoted", |text| Some(Table::read(text)?.write(csv::QuoteStyle::Always).into_bytes())),
    ("columns reversed", |text| {
        Some(Table::read(text)?.has_columns_reversed().write(csv::QuoteStyle::Necessary).into_bytes())
    }),
    ("a byte order mark", |text| Some(format!("\u{feff}{}", text.trim_start_matches('\u{feff}')).into_bytes())),
    ("UTF-16", |text| Some(format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect())),
    ("UTF-16 without a mark", |text| Some(text.encode_utf16().flat_map(u16::to_be_bytes).collect())),
    ("Windows-1252", |text| {
        let (bytes, _, is_lossy) = encoding_rs::WINDOWS_1252.encode(text);
        (!is_lossy).then(|| bytes.into_owned())
    }),
];

/// Files of a folder and its folders that are tables.
fn tables(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.extension().and_then(|ending| ending.to_str()) {
            _ if path.is_dir() => found.extend(tables(&path)),
            Some("csv" | "tsv") => found.push(path),
            _ => {}
        }
    }
    found
}

/// The dataset of an import, by file; the error if it is refused.
fn dataset(preset: &str, input: &Path) -> Result<BTreeMap<String, String>, String> {
    let to = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
    command.args(["import", preset, "--on", "2026-11-20"]).arg(input).arg("--dataset").arg(to.path());
    let ran = command.output().unwrap();
    if !ran.status.success() {
        return Err(String::from_utf8(ran.stderr).unwrap());
    }
    let entries = fs::read_dir(to.path()).unwrap().map(|entry| entry.unwrap().path());
    let of = entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path));
    let of = of.filter(|(name, _)| name.ends_with(".csv"));
    Ok(of.map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect())
}

fn presets() -> Vec<(String, PathBuf)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import");
    let mut presets: Vec<(String, PathBuf)> = fs::read_dir(fixtures)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path().join("input")))
        .collect();
    presets.sort();
    presets.retain(|(_, input)| !tables(input).is_empty());
    presets
}

/// The text of a file in UTF-8.
fn text_of(path: &Path) -> Option<String> {
    String::from_utf8(fs::read(path).unwrap()).ok()
}

/// A copy of the input in which each table is changed; `None` if no table can be.
fn mutated(input: &Path, mutation: Mutation) -> Option<tempfile::TempDir> {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(input, &copy.path().join("input"));
    let mut is_changed = false;
    for path in tables(copy.path()) {
        if let Some(bytes) = text_of(&path).and_then(|text| mutation(&text)) {
            fs::write(&path, bytes).unwrap();
            is_changed = true;
        }
    }
    is_changed.then_some(copy)
}

#[test]
fn a_table_that_another_program_wrote_is_the_same_or_refused() {
    let (mut problems, mut equal) = (Vec::new(), 0);
    for (number, (preset, input)) in presets().into_iter().enumerate() {
        let original = dataset(&preset, &input).unwrap();
        // The gate tries half of them in turns.
        for (name, mutation) in MUTATIONS.into_iter().skip(number % one_of(2)).step_by(one_of(2)) {
            let Some(copy) = mutated(&input, mutation) else { continue };
            match dataset(&preset, &copy.path().join("input")) {
                Ok(found) if found == original => equal += 1,
                Ok(found) => {
                    let file = found.iter().find(|(file, text)| original.get(*file) != Some(text));
                    problems.push(format!("{preset} with {name} is another dataset: {file:?}"));
                }
                Err(error) => {
                    if !error.contains(".csv:") && !error.contains(".tsv:") && !error.contains("; ") {
                        problems.push(format!("{preset} with {name}: the error has neither place nor remedy: {error}"));
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(equal > 40 / one_of(2), "only {equal} are the same");
}

#[test]
fn a_table_that_was_cut_has_no_value_that_was_not_in_it() {
    let (mut problems, mut turns) = (Vec::new(), 0..);
    for (preset, input) in presets() {
        let cells = |found: &BTreeMap<String, String>| -> BTreeSet<String> {
            let rows = found.values().flat_map(|text| {
                let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
                reader.records().map(Result::unwrap).collect::<Vec<_>>()
            });
            rows.flat_map(|row| row.iter().flat_map(|cell| cell.split('|')).map(fold).collect::<Vec<_>>()).collect()
        };
        let known = cells(&dataset(&preset, &input).unwrap());
        for path in tables(&input) {
            let Some(text) = text_of(&path) else { continue };
            let Some(last) = text.trim_end().rfind('\n') else { continue };
            let Some(delimiter) = Table::read(&text).map(|table| char::from(table.delimiter)) else { continue };
            let row = text[last + 1..].trim_end();
            // In the middle of the last row, before its last cell.
            let Some(end) = row.rfind(delimiter).filter(|end| *end > 2) else { continue };
            // The gate tries one of them in turns.
            let turn = turns.next().unwrap_or(0) % one_of(3);
            for cut in [end / 3, end / 2, end].into_iter().skip(turn).step_by(one_of(3)) {
                let at = (last + 1..=last + 1 + cut).rev().find(|at| text.is_char_boundary(*at)).unwrap();
                let copy = tempfile::tempdir().unwrap();
                let copied = copy.path().join("input");
                copy_folder(&input, &copied);
                fs::write(copied.join(path.strip_prefix(&input).unwrap()), &text[..at]).unwrap();
                let Ok(found) = dataset(&preset, &copied) else { continue };
                let part = fold(text[..at].rsplit(['\n', delimiter]).next().unwrap());
                if !part.is_empty() && cells(&found).contains(&part) && !known.contains(&part) {
                    problems.push(format!("{preset}: {} cut in {row:?} has {part:?}", path.display()));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
