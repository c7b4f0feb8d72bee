use crate::data::Names;
use crate::search::{FORMAT, MATCH_SCORE, MAX_HITS, TextIndex};

/// A table of names, aliases and prominence.
struct Table(Vec<(String, String, u32)>);

impl Table {
    fn of(names: &[&str]) -> Self {
        Self(names.iter().map(|name| ((*name).to_owned(), String::new(), 0)).collect())
    }

    fn row(&self, row: u32) -> Option<&(String, String, u32)> {
        self.0.get(row as usize)
    }
}

impl Names for Table {
    fn len(&self) -> u32 {
        self.0.len() as u32
    }

    fn name(&self, row: u32) -> &str {
        self.row(row).map_or("", |row| &row.0)
    }

    fn aliases(&self, row: u32) -> &str {
        self.row(row).map_or("", |row| &row.1)
    }

    fn prominence(&self, row: u32) -> u32 {
        self.row(row).map_or(0, |row| row.2)
    }
}

fn firms() -> Table {
    let mut table = Table::of(&[
        "Sequoia Capital",
        "Sequoia",
        "Accel Partners",
        "Andreessen Horowitz",
        "SoftBank Group",
        "Kleiner Perkins Caufield & Byers",
        "Ünïcorn & Söhne GmbH",
        "★ ★",
        "🔥",
        "Capital Partners",
        "Robert Smith",
        "Sequel Capital",
    ]);
    table.0[3].1 = "a16z|AH Capital Management".to_owned();
    table
}

fn found(table: &Table, query: &str) -> Vec<String> {
    let index = TextIndex::in_memory(table).unwrap();
    index.search(table, query, &|_| true).hits.iter().map(|hit| table.name(hit.row).to_owned()).collect()
}

#[test]
fn a_name_is_found_by_all_forms_of_query() {
    let table = firms();
    for (query, name) in [
        ("sequoia capital", "Sequoia Capital"),
        ("sequia capitl", "Sequoia Capital"),
        ("sequoiacapital", "Sequoia Capital"),
        ("capital sequoia", "Sequoia Capital"),
        ("soft bank", "SoftBank Group"),
        ("Accel VC", "Accel Partners"),
        ("a16z", "Andreessen Horowitz"),
        ("andreesen", "Andreessen Horowitz"),
        ("kpcb", "Kleiner Perkins Caufield & Byers"),
        ("unicorn und", "Ünïcorn & Söhne GmbH"),
        ("UNICORN AND SOHNE", "Ünïcorn & Söhne GmbH"),
        ("★ ★", "★ ★"),
        ("🔥", "🔥"),
        ("bob smith", "Robert Smith"),
        ("r. smith", "Robert Smith"),
        ("acel", "Accel Partners"),
    ] {
        assert_eq!(found(&table, query).first().map(String::as_str), Some(name), "{query}");
    }
    assert_eq!(found(&table, "sequoia")[..2], ["Sequoia", "Sequoia Capital"]);
}

#[test]
fn unknown_names_are_not_found() {
    let table = firms();
    for query in ["", "   ", "wxyzzy", "\u{0}", "💸", "zzzzzzzzzzzzzzzz"] {
        assert_eq!(found(&table, query), Vec::<String>::new(), "{query:?}");
    }
}

#[test]
fn a_filter_excludes_rows() {
    let table = firms();
    let index = TextIndex::in_memory(&table).unwrap();
    let found = index.search(&table, "sequoia", &|row| row == 0);
    assert_eq!(found.hits.iter().map(|hit| hit.row).collect::<Vec<_>>(), [0]);
}

#[test]
fn prominence_decides_between_equal_matches() {
    let mut table = Table::of(&["Orion One", "Orion Two"]);
    table.0[1].2 = 50;
    assert_eq!(found(&table, "orion"), ["Orion Two", "Orion One"]);
}

#[test]
fn an_index_on_disk_returns_the_same_as_one_in_memory() {
    let table = firms();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("firms");
    TextIndex::create(&table, &folder).unwrap();
    let disk = TextIndex::open(&folder, &table).unwrap();
    let memory = TextIndex::in_memory(&table).unwrap();
    for query in ["sequoia", "capital", "acel", "s", "★ ★"] {
        assert_eq!(disk.search(&table, query, &|_| true).hits, memory.search(&table, query, &|_| true).hits, "{query}");
    }
    let other = Table::of(&["Only One"]);
    assert!(TextIndex::open(&folder, &other).is_err_and(|error| error.to_string().contains("12 documents")));
    std::fs::write(folder.join("format"), "0\n").unwrap();
    assert!(TextIndex::open(&folder, &table).is_err_and(|error| error.to_string().contains("format 0")));
    std::fs::write(folder.join("format"), format!("{FORMAT}\n")).unwrap();
    let tables = folder.join("names.tables");
    let mut bytes = std::fs::read(&tables).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&tables, bytes).unwrap();
    assert!(TextIndex::open(&folder, &table).is_err_and(|error| error.to_string().contains("damaged")));
}

#[test]
fn an_explanation_agrees_with_the_search() {
    let table = firms();
    let index = TextIndex::in_memory(&table).unwrap();
    for query in ["sequoia", "sequia capitl", "a16z", "kpcb", "accel vc"] {
        for hit in index.search(&table, query, &|_| true).hits {
            let explanation = index.explain(&table, query, hit.row);
            assert!(
                explanation.matches && (explanation.score - hit.score).abs() < 1e-5,
                "{query}: {explanation:?} {hit:?}"
            );
            assert!(hit.score >= MATCH_SCORE);
        }
    }
}

/// More names than are touched for one query: `Alder 00000 Capital`, `Aster 00001 Capital`, …
fn many_names() -> Table {
    let mut table = Table::of(&[]);
    for number in 0..30_000_u32 {
        let word = ["Alder", "Aster", "Birch"][number as usize % 3];
        table.0.push((format!("{word} {number:05} Capital"), String::new(), number));
    }
    table
}

#[test]
fn too_many_matches_are_capped_to_the_best() {
    let table = many_names();
    let index = TextIndex::in_memory(&table).unwrap();
    for query in ["a", "al", "alder", "capital", "alder capital", "capital alder"] {
        let found = index.search(&table, query, &|_| true);
        assert!(found.capped, "{query}");
        assert!((400..=MAX_HITS).contains(&found.hits.len()), "{query}: {}", found.hits.len());
        let begins = |row: u32| table.name(row).to_lowercase().contains(query.split(' ').next().unwrap());
        assert!(found.hits.iter().all(|hit| begins(hit.row)), "{query}");
    }
    let best = index.search(&table, "alder", &|_| true).hits[0].row;
    assert!(best > 25_000, "of names of equal length the more prominent is first: {best}");
    assert_eq!(index.search(&table, "aster 00001 capital", &|_| true).hits[0].row, 1);
    assert_eq!(index.search(&table, "asterr 00001", &|_| true).hits[0].row, 1);
}

#[test]
fn a_filter_finds_its_rows_among_many() {
    let table = many_names();
    let index = TextIndex::in_memory(&table).unwrap();
    for query in ["a", "alder", "alder capital", "aldr capital"] {
        let passes = |row: u32| row.is_multiple_of(3_000);
        let found = index.search(&table, query, &passes);
        let mut rows: Vec<u32> = found.hits.iter().map(|hit| hit.row).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..10).map(|at| at * 3_000).collect::<Vec<u32>>(), "{query}");
        assert!(!found.capped, "{query}");
    }
}
