use proptest::prelude::*;

use crate::{IndexFiles, IndexPart, MATCH_SCORE, MAX_HITS, MatchClass, TextIndex, typed_part};
use data::Names;
use data::name::WordList;
use data::vocabulary::Vocabulary;

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
    index.search(table, query).hits.iter().map(|hit| table.name(hit.row).to_owned()).collect()
}

#[test]
fn a_name_without_its_legal_form_is_the_exact_name() {
    for form in WordList::LegalForms.words().chain(["S.r.o.", "ApS", "KGaA", "d.o.o.", "S.p.A."]) {
        let table = Table::of(&[&format!("Pendrosa {form}"), "Quillbrook Pendros"]);
        let index = TextIndex::in_memory(&table).unwrap();
        assert_eq!(index.match_classes(&table, "pendrosa", &[0]), [MatchClass::Exact], "{form}");
        assert_eq!(index.match_classes(&table, &format!("pendrosa {form}"), &[0]), [MatchClass::Exact], "{form}");
    }
    let table = Table::of(&["Pendrosa Labs"]);
    let index = TextIndex::in_memory(&table).unwrap();
    assert_eq!(index.match_classes(&table, "pendrosa", &[0]), [MatchClass::Prefix]);
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
fn pieces_initials_and_numbers_are_read_as_the_name_they_mean() {
    let table = Table::of(&[
        "23andMe",
        "Airbnb",
        "Dropbox Group",
        "500 Startups",
        "Two Sigma Ventures",
        "U.S. Venture Partners",
        "New Enterprise Associates",
        "Angel Club 天使客",
        "Box Partners",
        "Sigma Partners",
    ]);
    let index = TextIndex::in_memory(&table).unwrap();
    for (query, name) in [
        ("23 and me", "23andMe"),
        ("twenty three and me", "23andMe"),
        ("air b and b", "Airbnb"),
        ("drop b ox", "Dropbox Group"),
        ("drop b oxx group", "Dropbox Group"),
        ("five hundred startups", "500 Startups"),
        ("2 sigma ventures", "Two Sigma Ventures"),
        ("us venture", "U.S. Venture Partners"),
        ("U.S. Venture", "U.S. Venture Partners"),
        ("u s venture", "U.S. Venture Partners"),
        ("usvp", "U.S. Venture Partners"),
        ("U.S.V.P.", "U.S. Venture Partners"),
        ("N.E.A.", "New Enterprise Associates"),
        ("n e a", "New Enterprise Associates"),
        ("tian shi ke", "Angel Club 天使客"),
    ] {
        let hits = index.search(&table, query).hits;
        assert_eq!(hits.first().map(|hit| table.name(hit.row)), Some(name), "{query}");
        let explained = index.explain(&table, query, hits[0].row);
        assert!(explained.matches && (explained.score - hits[0].score).abs() < 1e-5, "{query}: {explained:?}");
    }
    assert_eq!(found(&table, "nine hundred apples"), Vec::<String>::new());
}

#[test]
fn unknown_names_are_not_found() {
    let table = firms();
    for query in ["", "   ", "wxyzzy", "\u{0}", "💸", "zzzzzzzzzzzzzzzz"] {
        assert_eq!(found(&table, query), Vec::<String>::new(), "{query:?}");
    }
}

#[test]
fn prominence_decides_between_equal_matches() {
    let mut table = Table::of(&["Orion One", "Orion Two"]);
    table.0[1].2 = 50;
    assert_eq!(found(&table, "orion"), ["Orion Two", "Orion One"]);
}

#[test]
fn an_index_opens_only_with_all_of_its_files_unchanged() {
    let table = firms();
    let parts = [IndexPart::Names, IndexPart::Descriptions].map(|part| TextIndex::create(&table, part).unwrap());
    let files: IndexFiles = parts.into_iter().flatten().collect();
    let open = |files: &IndexFiles, table: &Table| TextIndex::open(files.clone(), table);
    assert!(open(&files, &table).is_ok());
    let other = Table::of(&["Only One"]);
    assert!(open(&files, &other).is_err_and(|error| error.to_string().contains("12 documents")));
    let mut old = files.clone();
    old.insert("format".into(), b"0\n".to_vec());
    assert!(open(&old, &table).is_err_and(|error| error.to_string().contains("format 0")));
    let mut damaged = files.clone();
    damaged.get_mut("names.tables").unwrap()[100] ^= 1;
    assert!(open(&damaged, &table).is_err_and(|error| error.to_string().contains("damaged")));
    // These firms have no descriptions, so that a missing file of word positions in them goes unnoticed.
    for file in files.keys().filter(|file| !(file.starts_with("descriptions.") && file.ends_with(".pos"))) {
        let mut fewer = files.clone();
        fewer.remove(file);
        assert!(open(&fewer, &table).is_err(), "{file}");
    }
}

#[test]
fn an_explanation_agrees_with_the_search() {
    let table = firms();
    let index = TextIndex::in_memory(&table).unwrap();
    for query in ["sequoia", "sequia capitl", "a16z", "kpcb", "accel vc"] {
        for hit in index.search(&table, query).hits {
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
fn the_best_of_many_matches_are_ranked_and_the_others_follow() {
    let table = many_names();
    let index = TextIndex::in_memory(&table).unwrap();
    for query in ["a", "al", "alder", "capital", "alder capital", "capital alder"] {
        let found = index.search(&table, query);
        assert_eq!(found.further.as_deref(), Some(query));
        assert!((MAX_HITS / 3..=MAX_HITS).contains(&found.hits.len()), "{query}: {}", found.hits.len());
        let all_words = |row: u32| {
            let name = table.name(row).to_lowercase();
            let mut words = query.split(' ');
            words.all(|word| name.split(' ').any(|of_name| of_name.starts_with(word)))
        };
        let expected: Vec<u32> = (0..table.len()).filter(|row| all_words(*row)).collect();
        assert_eq!(index.rows_with_words(query), expected, "{query}");
        assert!(found.hits.iter().all(|hit| all_words(hit.row)), "{query}");
    }
    let best = index.search(&table, "alder").hits[0].row;
    assert!(best > 25_000, "of names of equal length the more prominent is first: {best}");
    assert_eq!(index.search(&table, "aster 00001 capital").hits[0].row, 1);
    assert_eq!(index.search(&table, "asterr 00001").hits[0].row, 1);
}

#[test]
fn rows_say_how_they_match() {
    let mut table = firms();
    table.0.push(("Meta Platforms".to_owned(), "Facebook".to_owned(), 0));
    let index = TextIndex::in_memory(&table).unwrap();
    for (query, name, class) in [
        ("sequoia capital", "Sequoia Capital", "exact"),
        ("Capital, Sequoia Inc.", "Sequoia Capital", "exact"),
        ("SequoiaCapital", "Sequoia Capital", "exact"),
        ("★ ★", "★ ★", "exact"),
        ("a16z", "Andreessen Horowitz", "alias"),
        ("kpcb", "Kleiner Perkins Caufield & Byers", "alias"),
        ("face", "Meta Platforms", "prefix"),
        ("seq cap", "Sequoia Capital", "prefix"),
        ("bob smith", "Robert Smith", "prefix"),
        ("kleiner", "Kleiner Perkins Caufield & Byers", "prefix"),
        ("sequoia captial", "Sequoia Capital", "typo"),
        ("andresen horowitz", "Andreessen Horowitz", "typo"),
        ("soft bnak group", "SoftBank Group", "typo"),
        ("aksel", "Accel Partners", "sound"),
        ("accel partners london", "Accel Partners", "relaxed"),
        ("andreessen ventures", "Andreessen Horowitz", "relaxed"),
    ] {
        let row = (0..table.len()).find(|row| table.name(*row) == name).unwrap();
        let found = index.match_classes(&table, query, &[row]);
        assert_eq!(found.iter().map(|class| class.name()).collect::<Vec<_>>(), [class], "{query}");
    }
}

/// Names with the words of other fields.
struct WithContext(Table, Vec<&'static str>);

impl Names for WithContext {
    fn len(&self) -> u32 {
        self.0.len()
    }

    fn name(&self, row: u32) -> &str {
        self.0.name(row)
    }

    fn aliases(&self, row: u32) -> &str {
        self.0.aliases(row)
    }

    fn prominence(&self, row: u32) -> u32 {
        self.0.prominence(row)
    }

    fn context(&self, row: u32) -> String {
        self.1[row as usize].to_owned()
    }

    fn has_surnames(&self) -> bool {
        true
    }
}

#[test]
fn words_of_a_record_that_are_not_in_its_name_are_left_out() {
    let names = Table::of(&["Accel Partners", "Accel India", "Uber", "Taxi Berlin Works", "Kunal Shah", "Kunal Shah"]);
    let table = WithContext(
        names,
        vec!["palo alto london", "bangalore", "ride sharing", "berlin", "freshworks", "cred founder"],
    );
    let index = TextIndex::in_memory(&table).unwrap();
    for (query, row, left_out) in [
        ("accel partners london", 0, vec!["london"]),
        ("uber taxi", 2, vec!["taxi"]),
        ("kunal shah cred", 5, vec!["cred"]),
        ("kunal shah freshwroks", 4, vec!["freshwroks"]),
        ("the uber company ride", 2, vec!["the", "company", "ride"]),
    ] {
        let found = index.search(&table, query);
        assert_eq!(
            (found.hits.first().map(|hit| hit.row), found.left_out),
            (Some(row), left_out.iter().map(|word| (*word).to_owned()).collect()),
            "{query}"
        );
        assert!(found.is_loose, "{query}");
    }
    // A sure surname with an unlike given name.
    let found = index.search(&table, "vikram shah");
    assert_eq!(found.hits.iter().map(|hit| hit.row).collect::<Vec<_>>(), [4, 5]);
    assert!(found.is_loose && found.left_out == ["vikram"]);
    for query in ["monzo bank", "berlin works", "shah rukh khan bollywood"] {
        let found = index.search(&table, query);
        let sure = index.match_classes(&table, query, &found.hits.iter().map(|hit| hit.row).collect::<Vec<_>>());
        assert!(sure.iter().all(|class| query == "berlin works" || !class.is_sure()), "{query}: {sure:?}");
    }
    assert!(index.search(&table, "monzo bank").hits.is_empty());
}

#[test]
fn a_query_without_vowels_finds_names_by_their_sounds_not_by_its_letters() {
    let table = Table::of(&[
        "Soni",
        "Soni Partners",
        "Snapline",
        "SN Mobile",
        "Sanders Novak",
        "Sonicare",
        "Blip",
        "Abel",
        "Abeline",
        "Tosla",
        "Cell Labs",
        "Tandem Solar Labs",
        "Lyfts",
        "Gyfts",
        "Uberon",
        "Airparn",
        "סוניה",
        "Great Northern Abel Holdings of Scotland",
    ]);
    let index = TextIndex::in_memory(&table).unwrap();
    for (query, names) in [
        ("सोनी", &["Soni", "Soni Partners"][..]),
        ("সনি", &["Soni", "Soni Partners"]),
        ("சோனி", &["Soni", "Soni Partners"]),
        ("โซนี่", &["Soni", "Soni Partners"]),
        ("أبل", &["Abel"]),
        ("טסלה", &["Tosla"]),
        ("ליפטס", &["Lyfts"]),
        ("أوبرون", &["Uberon"]),
        ("סוניה", &["סוניה"]),
        ("קג", &[]),
    ] {
        let hits = index.search(&table, query).hits;
        let rows: Vec<u32> = hits.iter().map(|hit| hit.row).collect();
        let found: Vec<&str> = rows.iter().map(|row| table.name(*row)).collect();
        assert_eq!(found, names, "{query}");
        for (row, class) in rows.iter().zip(index.match_classes(&table, query, &rows)) {
            assert_eq!(class >= MatchClass::Sound, table.name(*row).is_ascii(), "{query}: {}", table.name(*row));
        }
        for hit in &hits {
            let explained = index.explain(&table, query, hit.row);
            assert!(explained.matches && (explained.score - hit.score).abs() < 1e-5, "{query}: {explained:?}");
        }
        let completed = index.complete(&table, query, 10);
        assert!(completed.iter().all(|row| !table.name(row.row).is_ascii()), "{query}: {completed:?}");
    }
}

#[test]
fn every_word_may_be_a_beginning() {
    let table = Table::of(&["General Catalyst", "Rocket Internet", "Magic Rock Entertainment", "Gen Works"]);
    for (query, name) in
        [("gen catalyst", "General Catalyst"), ("rock inter", "Rocket Internet"), ("gene cata", "General Catalyst")]
    {
        assert_eq!(found(&table, query).first().map(String::as_str), Some(name), "{query}");
    }
}

proptest! {
    /// Characters of few sounds, so that many names only sound alike.
    #[test]
    fn names_with_the_characters_of_a_query_are_all_found_and_come_first(
        names in proptest::collection::vec("[红洪宏弘杉山三资自本石实士凯楽天]{2,6}( Capital)?", 1..60),
        pick in 0_usize..1_000,
        (start, length) in (0_usize..5, 1_usize..4),
    ) {
        let table = Table::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let picked: Vec<char> = data::written::characters(&names[pick % names.len()]).chars().collect();
        let query: String = picked.iter().skip(start % picked.len()).take(length).collect();
        let index = TextIndex::in_memory(&table).unwrap();
        let results = index.search(&table, &query);
        let contains = |row: u32| data::written::characters(&names[row as usize]).contains(&query);
        let rows: Vec<u32> = results.hits.iter().map(|hit| hit.row).collect();
        let count = (0..table.len()).filter(|row| contains(*row)).count();
        prop_assert!(rows.iter().take(count).all(|row| contains(*row)), "{query}: {rows:?} of {names:?}");
        prop_assert!(rows.iter().skip(count).all(|row| !contains(*row)));
        prop_assert_eq!(rows.len().min(count), count);
        for (row, class) in rows.iter().zip(index.match_classes(&table, &query, &rows)) {
            prop_assert_eq!(contains(*row), class <= MatchClass::Prefix, "{} {}: {}", query, &names[*row as usize], class);
        }
        for completed in index.complete(&table, &query, 100) {
            prop_assert!(contains(completed.row));
            let name = &names[completed.row as usize];
            let part = typed_part(&query, name).unwrap();
            let typed: String = name.chars().skip(part.start).take(part.len()).collect();
            prop_assert_eq!(data::written::characters(&typed), query.clone());
        }
    }
}
