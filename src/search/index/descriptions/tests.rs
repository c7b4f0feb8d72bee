use crate::index::descriptions::{
    DescriptionIndex, DescriptionMatches, ENOUGH, MAX_KNOWN, MAX_POSTINGS, StemCache, marks,
};
use data::Names;

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
    index.search(&records(), text, 100).rows
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
    let DescriptionMatches { rows, complete } = index.search(&records, "solar power", 100);
    assert_eq!(complete, rows.len());
    assert!(rows.len() >= ENOUGH && rows.iter().all(|row| row % 2 == 0 && *row < 40), "{rows:?}");
    let few = Records(vec![("wind", ""), ("solar power", ""), ("solar", ""), ("power", "")]);
    let index = open(&few);
    let DescriptionMatches { mut rows, complete } = index.search(&few, "solar power", 100);
    assert_eq!(complete, 1);
    assert_eq!(rows.remove(0), 1);
    rows.sort_unstable();
    assert_eq!(rows, [2, 3]);
}

#[test]
fn rows_with_some_words_are_ordered_by_how_rare_these_are() {
    let texts = (0..60).map(|row| (["latin music", "america today"][row % 2], ""));
    let records = Records(texts.chain([("remittances", ""), ("the shoes of latin america", "")]).collect());
    // One rare word says more than a frequent one, and two frequent ones more than one.
    let rows = open(&records).search(&records, "remittances to latin america", 100).rows;
    let place = |row: u32| rows.iter().position(|other| *other == row);
    assert!(place(60).max(place(61)) < place(0).or(place(1)) && place(60).is_some(), "{rows:?}");
}

#[test]
fn a_compound_is_found_as_one_word_and_as_two() {
    let texts = ["Tools for e-commerce", "An ecommerce shop", "Commerce of the port", "e-mail"];
    let records = Records(texts.map(|text| (text, "")).into_iter().chain([("", "health care paris")]).collect());
    let index = open(&records);
    let found = |text: &str| {
        let found = index.search(&records, text, 100);
        let mut rows = found.rows[..found.complete].to_vec();
        rows.sort_unstable();
        rows
    };
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
    let found = |text: &str| index.search(&records, text, 100).rows;
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
    let dentist = DescriptionMatches { rows: vec![solar as u32], complete: 0 };
    assert_eq!(index.search(&records, "solar dentist", solar), dentist);
    assert_eq!(index.search(&records, "solar panels", solar).rows.len(), solar / 2);
    assert_eq!(index.search(&records, "solar", solar).rows.len(), solar);
    // A repeated word counts once.
    assert_eq!(index.search(&records, "panels panel panels", solar), index.search(&records, "panels", solar));
    // Of more rows than fit, the first.
    let mut first = index.search(&records, "solar", 7).rows;
    first.sort_unstable();
    assert_eq!(first, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_full_cache_is_emptied_and_stems_keep_their_numbers() {
    let (mut small, mut large) = (StemCache::new(8), StemCache::new(MAX_KNOWN));
    let texts: Vec<&str> = records().0.into_iter().map(|(description, _)| description).collect();
    for text in texts.iter().chain(&texts) {
        let [of_small, of_large] = [&mut small, &mut large].map(|cache| {
            let words = cache.read(text);
            let language = cache.language_of(&words);
            let stems: Vec<u32> = cache.stems(&words, language).collect();
            let stem_texts: Vec<String> = stems.iter().map(|stem| cache.stem(*stem).to_owned()).collect();
            (language, stems, stem_texts)
        });
        assert_eq!(of_small, of_large, "{text}");
    }
    assert!(small.words.len() < large.words.len(), "it was emptied");
}

#[test]
fn the_words_of_a_text_are_marked() {
    let marked = |text: &str, description: &'static str| -> Vec<&str> {
        marks(text, description).into_iter().map(|place| &description[place]).collect()
    };
    assert_eq!(marked("dentist software", records().0[0].0), ["software", "dentists"]);
    assert_eq!(marked("zahnarzt patient", records().0[2].0), ["Zahnärzte", "Patienten"]);
    assert_eq!(marked("the", records().0[1].0), Vec::<&str>::new());
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
    assert!(index.search(&none, "dentist", 100).rows.is_empty());
}
