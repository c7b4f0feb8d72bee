//! The records of a list as people write them: one per line, by slug, id, page, website or name, or as CSV.

use csv::WriterBuilder;

use crate::look_up::sheet::{RowEnds, Sheet, SheetOptions, SheetRow};
use crate::{Catalog, Item, LookUpAnswer, Resource};
use data::{Table, formula};

/// Columns with slugs, ids or page URLs, most reliable first.
const KEYS: [&str; 6] = ["venturedex_slug", "slug", "id", "venturedex_url", "page", "url"];

pub struct ListedLines {
    sheet: Sheet,
    rows: Vec<SheetRow>,
    is_plain: bool,
    table: Table,
}

impl ListedLines {
    /// Parses CSV if the first line names columns, else a record per line. A look-up has up to `candidates` candidates.
    pub fn parse(text: &str, table: Table, base: &str, candidates: usize) -> Self {
        let tables = Item::TABLES.into_iter().filter(|known| *known == table).collect();
        let options = SheetOptions { tables, candidates, base: base.to_owned() };
        let mut ends = RowEnds::default();
        let end = text.bytes().position(|byte| ends.push(byte)).map_or(text.len(), |end| end + 1);
        let (header, rest) = text.split_at(end);
        // A column of slugs is sufficient.
        let named = KEYS.map(|key| vec![("name_column".to_owned(), key.to_owned())]);
        let open = |named: Vec<(String, String)>| Sheet::open(header.as_bytes(), &named, options.clone()).ok();
        if let Some(mut sheet) = std::iter::once(Vec::new()).chain(named).find_map(open) {
            let rows = sheet.rows(rest.as_bytes());
            return Self { sheet, rows, is_plain: false, table };
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let quoted = |line: &str| match line.trim() {
            "" => "\n".to_owned(),
            line => format!("\"{}\"\n", line.replace('"', "\"\"")),
        };
        let lines: String = text.lines().map(quoted).collect();
        let mut sheet = Sheet::open(b"name\n", &[], options).expect("`name` is a column that is looked up");
        let rows = sheet.rows(lines.as_bytes());
        Self { sheet, rows, is_plain: true, table }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of a line in the text, from 1.
    pub fn number(&self, index: usize) -> u64 {
        self.rows[index].line - u64::from(self.is_plain)
    }

    pub fn label(&self, index: usize) -> String {
        self.sheet.label(&self.rows[index])
    }

    pub fn row(&self, catalog: &Catalog, index: usize) -> Option<u32> {
        let columns: &[&str] = if self.is_plain { &["name"] } else { &KEYS };
        let texts = self.sheet.texts(&self.rows[index], columns);
        texts.into_iter().find_map(|text| row_of(catalog, self.table, &self.sheet.options.base, text))
    }

    pub fn look_up(&self, catalog: &Catalog, index: usize) -> LookUpAnswer {
        self.sheet.answer(catalog, &self.rows[index])
    }
}

/// The rest of a path after the version of the API, if it has one. The path begins without a slash.
pub fn without_version(path: &str) -> &str {
    let path = path.strip_prefix("api/").unwrap_or(path);
    ["v1/", "v2/", "v3/"].into_iter().find_map(|version| path.strip_prefix(version)).unwrap_or(path)
}

/// Finds a record by slug, id, or URL below `base`. A name is no slug: `Acme` may be several records.
pub fn row_of(catalog: &Catalog, table: Table, base: &str, text: &str) -> Option<u32> {
    let text = text.trim();
    let path = text.strip_prefix(base).filter(|rest| rest.starts_with('/')).unwrap_or(text);
    let path = path.split(['?', '#']).next()?.trim_matches('/');
    if let Some((segment, rest)) = without_version(path).split_once('/') {
        let key = rest.split('/').next()?;
        let key = [".json", ".md"].into_iter().find_map(|extension| key.strip_suffix(extension)).unwrap_or(key);
        return catalog.find(table, key).filter(|_| segment == Resource::of_table(table).path());
    }
    let is_key = table == Table::Rounds || !text.contains(|char: char| char.is_ascii_uppercase());
    catalog.find(table, text).filter(|_| is_key)
}

/// A list as CSV: slug or id, name and page of each record; unknown ones are empty.
pub fn csv_of(records: impl Iterator<Item = [String; 3]>) -> Vec<u8> {
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    writer.write_record(["slug", "name", "page"]).expect("writing to memory does not fail");
    for [key, name, page] in records {
        writer.write_record([key, formula::neutralize(name), page]).expect("writing to memory does not fail");
    }
    writer.into_inner().expect("writing to memory does not fail")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundled;

    const BASE: &str = "https://venturedex.example";

    #[test]
    fn lines_are_slugs_pages_ids_and_names() {
        let catalog = bundled().unwrap();
        let alder = catalog.find(Table::Firms, "alder-capital");
        assert!(alder.is_some());
        for text in [
            "alder-capital",
            " /vcs/alder-capital ",
            "vcs/alder-capital",
            "vcs/Alder-Capital.json",
            "https://venturedex.example/vcs/alder-capital/reviews?page=2",
            "https://venturedex.example/api/v3/vcs/alder-capital",
            "former-alder-capital",
        ] {
            assert_eq!(row_of(&catalog, Table::Firms, BASE, text), alder, "{text}");
        }
        for text in
            ["Alder-Capital", "Alder Capital", "/startups/alder-capital", "https://other.example/vcs/alder-capital", ""]
        {
            assert_eq!(row_of(&catalog, Table::Firms, BASE, text), None, "{text}");
        }
        let id = catalog.snapshot().slug(Table::Rounds, 0).to_uppercase();
        assert_eq!(row_of(&catalog, Table::Rounds, BASE, &id), Some(0));
    }

    #[test]
    fn every_line_has_its_number_and_meaning() {
        let catalog = bundled().unwrap();
        let meanings = |text: &str| -> Vec<(u64, String, bool, &'static str)> {
            let lines = ListedLines::parse(text, Table::Firms, BASE, 3);
            (0..lines.len())
                .map(|index| {
                    let is_named = lines.row(&catalog, index).is_some();
                    let status = if is_named { "" } else { lines.look_up(&catalog, index).status };
                    (lines.number(index), lines.label(index), is_named, status)
                })
                .collect()
        };
        let line = |number, label: &str, is_named, status| (number, label.to_owned(), is_named, status);
        assert_eq!(
            meanings("\u{feff}alder-capital\r\n\r\nAlder Capital\nno such firm at all\n"),
            [
                line(1, "alder-capital", true, ""),
                line(3, "Alder Capital", false, "match"),
                line(4, "no such firm at all", false, "none")
            ]
        );
        assert_eq!(
            meanings("name;slug\n\nAlder;alder-capital\nAlder Capital;\n"),
            [line(3, "Alder", true, ""), line(4, "Alder Capital", false, "match")]
        );
        assert_eq!(meanings("slug\nalder-capital\n"), [line(2, "alder-capital", true, "")]);
        assert_eq!(meanings("  \n\n"), []);
    }

    #[test]
    fn a_list_that_is_downloaded_can_be_read_again() {
        let catalog = bundled().unwrap();
        let page = format!("{BASE}/vcs/alder-capital");
        let records = [["alder-capital", "Alder Capital", &page], ["gone", "", ""]];
        let csv = csv_of(records.map(|record| record.map(str::to_owned)).into_iter());
        let text = String::from_utf8(csv).unwrap();
        assert_eq!(
            text.lines().nth(1),
            Some("alder-capital,Alder Capital,https://venturedex.example/vcs/alder-capital")
        );
        let lines = ListedLines::parse(&text, Table::Firms, BASE, 3);
        assert_eq!(lines.row(&catalog, 0), catalog.find(Table::Firms, "alder-capital"));
        assert_eq!((lines.len(), lines.row(&catalog, 1)), (2, None));
    }
}
