//! Reads the tables of a Markdown document as rows of CSV, on the same lines.

use std::io::{self, BufRead, Read};
use std::sync::LazyLock;

use regex::Regex;

/// Around a text that is struck out.
const STRUCK: &str = "~~";

/// Bytes of a line that are read at once.
const MAX_LINE: u64 = 1 << 22;

/// The document as CSV: what is not in a table is an empty line.
pub(super) struct MarkdownTables<R> {
    lines: R,
    row: Vec<u8>,
    at: usize,
}

impl<R: BufRead> MarkdownTables<R> {
    pub(super) fn new(lines: R) -> Self {
        Self { lines, row: Vec::new(), at: 0 }
    }
}

impl<R: BufRead> Read for MarkdownTables<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.row.len() {
            let mut line = Vec::new();
            if (&mut self.lines).take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
                return Ok(0);
            }
            // All markup is ASCII: as one character each, the bytes of any encoding stay as they are.
            let text: String = line.iter().map(|byte| char::from(*byte)).collect();
            let row = row(&text);
            (self.row, self.at) = (row.chars().filter_map(|char| u8::try_from(char).ok()).collect(), 0);
        }
        let rest = &self.row[self.at..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.at += length;
        Ok(length)
    }
}

/// A line of a table as one of CSV.
fn row(line: &str) -> String {
    let cells = cells(trimmed(line));
    let is_rule = |cell: &String| !cell.is_empty() && cell.chars().all(|char| matches!(char, '-' | ':' | ' '));
    if cells.is_empty() || cells.iter().all(is_rule) {
        return "\n".to_owned();
    }
    // A row that is struck out is none, which the reader of the rows tells.
    let is_struck = |cell: &&String| cell.len() > 4 && cell.starts_with(STRUCK) && cell.ends_with(STRUCK);
    if let Some(first) = cells.iter().find(|cell| !cell.is_empty()).filter(is_struck) {
        return format!("\"{}\"\n", first.replace('"', "\"\""));
    }
    let cells: Vec<String> = cells.iter().map(|cell| format!("\"{}\"", plain(cell).replace('"', "\"\""))).collect();
    format!("{}\n", cells.join(","))
}

/// The cells between the bars of a line; none if it is not of a table.
fn cells(line: &str) -> Vec<String> {
    let Some(line) = line.strip_prefix('|') else { return Vec::new() };
    let (mut cells, mut cell, mut chars) = (Vec::new(), String::new(), line.chars());
    while let Some(char) = chars.next() {
        match char {
            '\\' => cell.push(chars.next().unwrap_or('\\')),
            '|' => cells.push(trimmed(&std::mem::take(&mut cell)).to_owned()),
            char => cell.push(char),
        }
    }
    cells.extend(Some(trimmed(&cell).to_owned()).filter(|cell| !cell.is_empty()));
    cells
}

/// A cell without its markup. What is struck out does not count.
fn plain(cell: &str) -> String {
    static MARKUP: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        [r"~~.*?~~|\[\^[^\]]*\]", r"!?\[([^\]]*)\]\([^)]*\)", r"\*\*(.+?)\*\*|__(.+?)__|`(.+?)`|\*(\S.*?)\*"]
            .map(|pattern| Regex::new(pattern).expect("a valid expression"))
    });
    let [removed, links, marks] = &*MARKUP;
    let text = links.replace_all(cell, "$1");
    let text = removed.replace_all(&text, "");
    trimmed(&marks.replace_all(&text, "$1$2$3$4")).to_owned()
}

/// A text without blanks around it. Other white space may be a part of a letter.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|char: char| char.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_rows_on_their_lines_and_markup_is_no_text() {
        let text = "# Deals\n\nSome *words*.\n\n| Company | Round |\n|:---|---:|\n| [Alder](https://alder.example) | **Seed** |\n\
                    | Birch \\| Co[^1] | `A` \"x\" |\n| ~~Cedar~~ | Seed |\n\n[^1]: A note\n";
        let text = text.replace("Alder", "Voil\u{e0}");
        let mut csv = String::new();
        MarkdownTables::new(text.as_bytes()).read_to_string(&mut csv).unwrap();
        let expected =
            "\n\n\n\n\"Company\",\"Round\"\n\n\"Alder\",\"Seed\"\n\"Birch | Co\",\"A \"\"x\"\"\"\n\"~~Cedar~~\"\n\n\n";
        assert_eq!(csv, expected.replace("Alder", "Voil\u{e0}"));
    }
}
