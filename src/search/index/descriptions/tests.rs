use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;

use crate::index::descriptions::words::stop_compounds;
use crate::index::descriptions::{
    DescriptionIndex, DescriptionMatches, ENOUGH, MAX_KNOWN, MAX_POSTINGS, RankedRows, StemCache, marks,
};
use data::Names;
use data::names::MAX_PROMINENCE;

/// Rows of a description and a context.
struct Records(Vec<(&'static str, &'static str)>);

impl Names for Records {
    fn len(&self) -> u32 {
        self.0.len() as u32
    }

    fn name(&self, _row: u32) -> &str {
        "Acme"
    }

    fn aliases(&self, _row: u32) -> &str {
        ""
    }

    fn prominence(&self, _row: u32) -> u32 {
        0
    }

    fn description(&self, row: u32) -> String {
        self.0[row as usize].0.to_owned()
    }

    fn context(&self, row: u32) -> String {
        self.0[row as usize].1.to_owned()
    }
}

fn records() -> Records {
    Records(vec![
        ("Booking software for dentists and their patients", "health berlin germany"),
        ("We sell the tools that are used by a dental clinic", "dental paris"),
        ("Software für Zahnärzte und ihre Patienten, die nicht warten wollen", "health"),
        ("Une plateforme pour les réservations de restaurants et des hôtels", "travel paris"),
        ("", "payments"),
        ("", ""),
        ("Bookings of hotels, and of nothing but hotels", ""),
    ])
}

fn open(records: &Records) -> DescriptionIndex {
    DescriptionIndex::open(DescriptionIndex::create(records).unwrap(), records.len()).unwrap()
}

fn found(index: &DescriptionIndex, text: &str) -> Vec<u32> {
    rows(index.search(&records(), text, 100))
}

/// Rows with all words, then those with some, best first.
fn rows(found: DescriptionMatches) -> Vec<u32> {
    [found.complete.first(usize::MAX), found.partial].concat()
}

#[test]
fn words_are_found_by_their_stem_in_the_language_of_the_text() {
    let stored = open(&records());
    for (text, rows) in [
        ("dentist", vec![0]),
        ("DENTISTS!", vec![0]),
        ("booked", vec![6, 0]),
        ("Zahnärzten", vec![2]),
        ("patienten", vec![2, 0]),
        ("réservation", vec![3]),
        ("reservations", vec![3]),
        ("hotel", vec![6, 3]),
        ("payment", vec![4]),
        // Stop words, and a word that no row has.
        ("for the of and", vec![]),
        ("submarine", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(found(&stored, text), rows, "{text}");
    }
    // Rows with all or most words, in any field, precede those with fewer.
    for text in ["booking software in Berlin", "software paris dentist"] {
        assert_eq!(found(&stored, text)[0], 0, "{text}");
    }
}

#[test]
fn rows_with_more_words_come_first_and_few_are_followed_by_others() {
    let texts = ["solar power", "solar", "power", "wind"];
    let records = Records((0..40).map(|row| (texts[row % 2], "")).chain([("power plants", "")]).collect());
    let index = open(&records);
    let DescriptionMatches { complete, partial } = index.search(&records, "solar power", 100);
    let rows: Vec<u32> = complete.rows().collect();
    assert!(partial.is_empty());
    assert!(rows.len() >= ENOUGH && rows.iter().all(|row| row % 2 == 0 && *row < 40), "{rows:?}");
    let few = Records(vec![("wind", ""), ("solar power", ""), ("solar", ""), ("power", "")]);
    let index = open(&few);
    let DescriptionMatches { complete, mut partial } = index.search(&few, "solar power", 100);
    assert_eq!(complete.first(100), [1]);
    partial.sort_unstable();
    assert_eq!(partial, [2, 3]);
}

#[test]
fn rows_with_some_words_are_ordered_by_how_rare_these_are() {
    let texts = (0..60).map(|row| (["latin music", "america today"][row % 2], ""));
    let records = Records(texts.chain([("remittances", ""), ("the shoes of latin america", "")]).collect());
    // One rare word says more than a frequent one, and two frequent ones more than one.
    let rows = rows(open(&records).search(&records, "remittances to latin america", 100));
    let place = |row: u32| rows.iter().position(|other| *other == row);
    assert!(place(60).max(place(61)) < place(0).or(place(1)) && place(60).is_some(), "{rows:?}");
}

#[test]
fn a_compound_is_found_as_one_word_and_as_two() {
    let texts = ["Tools for e-commerce", "An ecommerce shop", "Commerce of the port", "e-mail"];
    let records = Records(texts.map(|text| (text, "")).into_iter().chain([("", "health care paris")]).collect());
    let index = open(&records);
    let found = |text: &str| index.search(&records, text, 100).complete.rows().collect::<Vec<u32>>();
    for (text, rows) in [
        ("ecommerce", vec![0, 1]),
        ("e-commerce", vec![0, 1]),
        ("E Commerce", vec![0, 1]),
        ("commerce", vec![0, 2]),
        ("healthcare in paris", vec![4]),
        ("health-care", vec![4]),
        ("email", vec![3]),
    ] {
        assert_eq!(found(text), rows, "{text}");
    }
}

#[test]
fn one_foreign_stop_word_makes_no_foreign_text() {
    // `ai` is a stop word of Italian, `die` of German.
    let texts = ["AI tutoring", "Tools that cut and die", "Die Software für Zahnärzte und ihre Patienten"];
    let records = Records(texts.map(|text| (text, "")).to_vec());
    let index = open(&records);
    let found = |text: &str| rows(index.search(&records, text, 100));
    assert_eq!(
        (found("tutors"), found("tool"), found("Zahnarztes"), found("zahnarzt")),
        (vec![0], vec![1], vec![2], vec![2])
    );
}

#[test]
fn a_frequent_word_alone_is_no_match_if_others_are_missing() {
    let solar = MAX_POSTINGS as usize;
    let texts = (0..solar).map(|row| (["solar", "solar panels"][row % 2], "")).chain([("dentist", "")]);
    let records = Records(texts.collect());
    let index = open(&records);
    let dentist = DescriptionMatches { complete: RankedRows::default(), partial: vec![solar as u32] };
    assert_eq!(index.search(&records, "solar dentist", solar), dentist);
    assert_eq!(index.search(&records, "solar panels", solar).complete.len(), solar / 2);
    assert_eq!(index.search(&records, "solar", solar).complete.len(), solar);
    // A repeated word counts once.
    assert_eq!(index.search(&records, "panels panel panels", solar), index.search(&records, "panels", solar));
    // Of more rows than fit, the first.
    assert!(index.search(&records, "solar", 7).complete.rows().eq(0..7));
}

#[test]
fn a_full_cache_is_emptied_and_stems_keep_their_numbers() {
    let (mut small, mut large) = (StemCache::new(), StemCache::new());
    let texts: Vec<&str> = records().0.into_iter().map(|(description, _)| description).collect();
    for text in texts.iter().chain(&texts) {
        let [of_small, of_large] = [(&mut small, 8), (&mut large, MAX_KNOWN)].map(|(cache, max)| {
            cache.limit_words(max);
            let words = cache.read(text);
            let language = cache.language_of(words.iter().copied());
            let stems: Vec<u32> = cache.stems(&words, language).collect();
            let stem_texts: Vec<String> = stems.iter().map(|stem| cache.stem(*stem).to_owned()).collect();
            (language, stems, stem_texts)
        });
        assert_eq!(of_small, of_large, "{text}");
    }
    assert!(small.words.len() < large.words.len(), "it was emptied");
}

#[test]
fn no_compound_is_a_stop_word() {
    // The language of a text is therefore that of its words without compounds.
    assert_eq!(stop_compounds(), Vec::<&str>::new());
}

#[test]
fn the_words_of_a_text_are_marked() {
    let marked = |text: &str, rows: &[usize]| -> Vec<Vec<String>> {
        let descriptions: Vec<String> = rows.iter().map(|row| records().0[*row].0.to_owned()).collect();
        let marks = marks(text, &descriptions);
        let words = descriptions.iter().zip(marks);
        words.map(|(text, marks)| marks.into_iter().map(|place| text[place].to_owned()).collect()).collect()
    };
    assert_eq!(marked("dentist software", &[0, 4, 1]), [vec!["software", "dentists"], vec![], vec![]]);
    // Each description in its language.
    assert_eq!(
        marked("zahnarzt patient", &[2, 0, 2]),
        [["Zahnärzte", "Patienten"].as_slice(), &["patients"], &["Zahnärzte", "Patienten"]]
    );
    assert_eq!(marked("the", &[1]), [Vec::<&str>::new()]);
}

#[test]
fn an_index_of_other_rows_is_rejected() {
    let records = records();
    let files = DescriptionIndex::create(&records).unwrap();
    for file in files.keys() {
        let mut fewer = files.clone();
        fewer.remove(file);
        assert!(DescriptionIndex::open(fewer, records.len()).is_err(), "{file}");
    }
    assert!(DescriptionIndex::open(files, 3).is_err());
    let none = Records(Vec::new());
    let index = DescriptionIndex::open(DescriptionIndex::create(&none).unwrap(), 0).unwrap();
    assert_eq!(index.search(&none, "dentist", 100), DescriptionMatches::default());
}

/// Rows of words that are their own stems, and of any prominence.
#[derive(Debug)]
struct InventedRows(Vec<(Vec<usize>, u32)>);

impl Names for InventedRows {
    fn len(&self) -> u32 {
        self.0.len() as u32
    }

    fn name(&self, _row: u32) -> &str {
        ""
    }

    fn aliases(&self, _row: u32) -> &str {
        ""
    }

    fn prominence(&self, row: u32) -> u32 {
        self.0[row as usize].1
    }

    fn context(&self, row: u32) -> String {
        self.0[row as usize].0.iter().map(|word| format!("k{word}")).collect::<Vec<_>>().join(" ")
    }
}

/// The scores of rows for some words, by the definition of BM25.
struct Scan<'a> {
    rows: &'a InventedRows,
    /// Each word with the number of rows that have it.
    words: Vec<(usize, f64)>,
    mean_length: f64,
}

impl<'a> Scan<'a> {
    fn new(rows: &'a InventedRows, words: &[usize]) -> Self {
        let having = |word: usize| rows.0.iter().filter(|(words, _)| words.contains(&word)).count() as f64;
        let mean_length = rows.0.iter().map(|(words, _)| words.len()).sum::<usize>() as f64 / rows.0.len() as f64;
        Self { rows, words: words.iter().map(|word| (*word, having(*word))).collect(), mean_length }
    }

    /// The score of a row, and the share of its words in the rarity of all.
    fn score(&self, row: u32) -> (f64, f64) {
        let (own, prominence) = &self.rows.0[row as usize];
        let rows = self.rows.0.len() as f64;
        let rarity = |having: f64| (1.0 + rows / having.max(1.0)).ln();
        let (mut score, mut share, mut all) = (0.0, 0.0, 0.0);
        for (word, having) in &self.words {
            let frequency = own.iter().filter(|other| *other == word).count() as f64;
            let weight = 2.2 * (1.0 + (rows - having + 0.5) / (having + 0.5)).ln();
            score += weight * frequency / (frequency + 1.2 * (0.25 + 0.75 * own.len() as f64 / self.mean_length));
            share += if frequency > 0.0 { rarity(*having) } else { 0.0 };
            all += rarity(*having);
        }
        (score * (1.0 + 0.1 * f64::from(*prominence) / 1e6), share / all)
    }
}

/// True if these are the rows with the highest scores, in order, except that rounding may exchange some that are nearly equal.
fn are_best(rows: &[u32], scores: &[(u32, f64)]) -> bool {
    let of_rows: HashMap<u32, f64> = scores.iter().copied().collect();
    let mut expected: Vec<f64> = scores.iter().map(|(_, score)| *score).collect();
    expected.sort_by(|one, other| other.total_cmp(one));
    let is_near =
        |(row, expected): (&u32, f64)| of_rows.get(row).is_some_and(|found| (found - expected).abs() < 1e-4 * expected);
    rows.iter().collect::<BTreeSet<_>>().len() == rows.len() && rows.iter().zip(expected).all(is_near)
}

fn invented_rows() -> impl Strategy<Value = InventedRows> {
    // A word is half as frequent as the one before it.
    let word = (0_u32..1 << 10).prop_map(|number| number.trailing_ones() as usize);
    let row = (prop::collection::vec(word, 0..7), 0..=MAX_PROMINENCE);
    prop::collection::vec(row, 1..2_500).prop_map(InventedRows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_best_rows_are_those_of_a_scan(
        rows in invented_rows(),
        queries in prop::collection::vec(prop::collection::btree_set(0_usize..12, 1..6), 8),
        offset in 0_usize..40,
    ) {
        let index = open_invented(&rows);
        for words in queries {
            let words: Vec<usize> = words.into_iter().collect();
            let text = words.iter().map(|word| format!("k{word}")).collect::<Vec<_>>().join(" ");
            let DescriptionMatches { complete, partial } = index.search(&rows, &text, 10_000);
            let scan = Scan::new(&rows, &words);
            let scored = (0..rows.len()).map(|row| (row, scan.score(row))).filter(|(_, (_, share))| *share > 0.0);
            let (having_all, others): (Vec<_>, Vec<_>) = scored.partition(|(_, (_, share))| *share > 0.9999);
            prop_assert!(complete.rows().eq(having_all.iter().map(|(row, _)| *row)));
            let scores: Vec<(u32, f64)> = having_all.iter().map(|(row, (score, _))| (*row, *score)).collect();
            let in_order = complete.first(usize::MAX);
            prop_assert_eq!(in_order.len(), scores.len());
            prop_assert!(are_best(&in_order, &scores), "{:?}", words);
            // A page of some rows is a part of all of these rows in order.
            let is_wanted = |row: u32| row % 3 == 1;
            let (page, total) = complete.page(offset, 20, is_wanted);
            let wanted: Vec<u32> = in_order.iter().copied().filter(|row| is_wanted(*row)).collect();
            prop_assert_eq!(total, wanted.len() as u64);
            prop_assert!(page.iter().eq(wanted.iter().skip(offset).take(20)));
            // The others, unless many have all words; frequent words are never many enough here to be left out.
            let scores: Vec<(u32, f64)> =
                others.iter().map(|(row, (score, share))| (*row, score * share.sqrt())).collect();
            let missing = if words.len() > 1 { ENOUGH.saturating_sub(having_all.len()) } else { 0 };
            prop_assert_eq!(partial.len(), missing.min(scores.len()));
            prop_assert!(are_best(&partial, &scores), "{:?}", words);
        }
    }
}

fn open_invented(rows: &InventedRows) -> DescriptionIndex {
    DescriptionIndex::open(DescriptionIndex::create(rows).unwrap(), rows.len()).unwrap()
}
