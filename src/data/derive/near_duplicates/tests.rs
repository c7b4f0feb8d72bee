use proptest::prelude::*;

use super::*;

fn record(name: &str) -> NamedRecord<'_> {
    NamedRecord { name, city: None, country: None, website: None, links: Cow::default(), has_own_links: true, size: 1 }
}

fn in_ulm(name: &str) -> NamedRecord<'_> {
    NamedRecord { city: Some("Ulm"), ..record(name) }
}

/// The index of the main record of each record, the first being the most prominent.
fn mains(records: &[NamedRecord<'_>]) -> Vec<Option<u32>> {
    let order: Vec<u32> = (0..records.len() as u32).collect();
    near_duplicates(|row| records[row].clone(), &order).into_iter().map(|duplicate| Some(duplicate?.main)).collect()
}

/// True if a record with one round and no other value is a near-duplicate of one with 400 rounds.
fn is_small_duplicate(small: &str, large: &str) -> bool {
    mains(&[NamedRecord { size: 400, ..in_ulm(large) }, record(small)])[1] == Some(0)
}

#[test]
fn a_name_that_says_no_more_is_a_near_duplicate() {
    for (small, large) in [
        ("Alderway", "Alderway Partners"),
        ("Alderway Venture", "Alderway Ventures Fund"),
        ("Alderway Partners LLC", "Alderway Venture Partners"),
        ("Alder Way", "AlderWay Capital"),
        ("Birch Lomond", "Birch Lomond Carver & Hythe"),
        ("Alderwya", "Alderway Capital"),
        ("Willoww Ventures", "Willow Ventures"),
        ("Nine Wharf Ventures", "Nine Wharfs Ventures"),
    ] {
        assert!(is_small_duplicate(small, large), "{small} of {large}");
    }
}

#[test]
fn a_name_that_says_more_or_something_else_is_not() {
    for (small, large) in [
        ("Alderway India", "Alderway"),
        ("Alderway Management", "Alderway Partners"),
        ("Alderway", "Alderway Bay Capital"),
        ("Tap Lens", "Map Lens"),
        ("Alderwoy", "Alderway"),
        ("Carver Fund II", "Carver Fund I"),
        ("Carver 11", "Carver 1"),
        ("Carver 12", "Carver 21"),
        ("Capital Partners", "Capital Fund"),
        ("The OX", "O.X. Venture Partners"),
        ("Oba", "Boa Capital"),
    ] {
        assert!(!is_small_duplicate(small, large), "{small} of {large}");
    }
}

#[test]
fn near_duplicates_agree_in_something_and_contradict_in_nothing() {
    let (us, gb) = (Country::read("US"), Country::read("GB"));
    let large = |links: Vec<u32>| NamedRecord {
        country: us,
        city: Some("Ulm"),
        links: links.into(),
        size: 20,
        ..record("Alderway Capital")
    };
    let site = |website| NamedRecord { website: Some(website), ..record("Alderway") };
    for (record, main, is_duplicate) in [
        (NamedRecord { city: Some("ULM"), size: 15, ..record("Alderway") }, large(vec![]), true),
        (NamedRecord { city: Some("Bonn"), ..record("Alderway") }, large(vec![]), false),
        (NamedRecord { country: us, size: 15, ..record("Alderway") }, large(vec![]), true),
        (NamedRecord { country: gb, city: Some("Ulm"), ..record("Alderway") }, large(vec![]), false),
        (NamedRecord { size: 2, ..record("Alderway") }, large(vec![]), true),
        (NamedRecord { size: 3, ..record("Alderway") }, large(vec![]), false),
        // A profile on a platform is no evidence, but the record is not bare.
        (NamedRecord { size: 2, ..site("https://linkedin.com/company/alderway") }, large(vec![]), false),
        // A portfolio outweighs a place, investors in common do not.
        (NamedRecord { city: Some("Bonn"), links: vec![7].into(), ..record("Alderway") }, large(vec![3, 7]), true),
        (
            NamedRecord { city: Some("Bonn"), links: vec![7].into(), ..record("Alderway") },
            NamedRecord { has_own_links: false, ..large(vec![3, 7]) },
            false,
        ),
        (
            NamedRecord { links: vec![7].into(), size: 15, ..record("Alderway") },
            NamedRecord { has_own_links: false, ..large(vec![3, 7]) },
            true,
        ),
        (site("https://alderway.example"), NamedRecord { size: 1, ..site("http://www.alderway.example/") }, true),
        (
            NamedRecord { city: Some("Ulm"), ..site("https://alderway.example") },
            NamedRecord { city: Some("Ulm"), ..site("https://alderway.test") },
            false,
        ),
    ] {
        let why = format!("{:?} {:?} {:?} of {:?}", record.city, record.links, record.size, main.links);
        assert_eq!(mains(&[main, record])[1].is_some(), is_duplicate, "{why}");
    }
}

#[test]
fn a_main_record_is_not_a_near_duplicate_itself() {
    let in_ulm = |name, size| NamedRecord { size, ..in_ulm(name) };
    // The misspelling is like the second record only, and that is a near-duplicate of the first.
    let records = [in_ulm("Alderway Partners", 9), in_ulm("Alderway", 5), in_ulm("Alderwya", 2)];
    assert_eq!(mains(&records), [None, Some(0), Some(0)]);
}

#[test]
fn names_that_only_sound_alike_are_no_near_duplicates() {
    let in_ulm = |name, size| NamedRecord { size, ..in_ulm(name) };
    for (main, other, is_duplicate) in [
        ("Société Alder", "Societe Alder", true),
        ("右东资本", "右动资本", false),
        ("Thành Sơn", "Thanh Sơn", false),
        ("C++ Alder", "C# Alder", false),
    ] {
        let found = mains(&[in_ulm(main, 9), in_ulm(other, 1)]);
        assert_eq!(found[1].is_some(), is_duplicate, "{main}, {other}");
    }
}

#[test]
fn a_name_of_many_records_takes_linear_work() {
    let records: Vec<NamedRecord<'_>> = (0..20_000).map(|_| record("Alderway Capital")).collect();
    let start = std::time::Instant::now();
    assert!(mains(&records).iter().all(Option::is_none));
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

/// Compares all pairs by the plain rules: no keys, no blocks, no squeezed texts.
mod oracle {
    const LEGAL: [&str; 4] = ["inc", "the", "and", "ltd"];
    const GENERIC: [&str; 4] = ["capital", "partner", "fund", "venture"];

    fn singular(word: &str) -> String {
        if word.len() > 3 && word.ends_with('s') { word[..word.len() - 1].to_owned() } else { word.to_owned() }
    }

    fn parts(name: &str) -> (Vec<String>, Vec<String>) {
        let words: Vec<String> = name.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let without: Vec<String> = words.iter().filter(|word| !LEGAL.contains(&word.as_str())).cloned().collect();
        let words = if without.is_empty() { words } else { without };
        let is_generic = |word: &String| GENERIC.contains(&singular(word).as_str());
        let core: Vec<String> = words.iter().filter(|word| !is_generic(word)).cloned().collect();
        if core.is_empty() {
            return (words, Vec::new());
        }
        (core, words.iter().filter(|word| is_generic(word)).map(|word| singular(word)).collect())
    }

    /// All texts that are `words` with one misspelling less or more.
    fn misspellings(words: &[String]) -> Vec<String> {
        let joined: Vec<char> = words.concat().chars().collect();
        let mut all = Vec::new();
        for at in 1..joined.len() {
            let mut swapped = joined.clone();
            swapped.swap(at - 1, at);
            all.push(swapped.iter().collect());
        }
        for index in 0..words.len() {
            let word: Vec<char> = words[index].chars().collect();
            let mut with = |changed: Vec<char>| {
                let mut words = words.to_vec();
                words[index] = changed.into_iter().collect();
                all.push(words.concat());
            };
            if word.len() > 3 && word[word.len() - 1] == 's' {
                with(word[..word.len() - 1].to_vec());
            }
            for at in 1..word.len() {
                if word[at] == word[at - 1] && word.len() > 3 {
                    with([&word[..at], &word[at + 1..]].concat());
                }
            }
        }
        all
    }

    pub(super) fn is_like(record: &str, main: &str, is_larger: bool) -> bool {
        let ((core, generic), (main_core, main_generic)) = (parts(record), parts(main));
        let (joined, main_joined) = (core.concat(), main_core.concat());
        let is_begun = core.len() > 1 && joined.len() >= 8 && main_core.starts_with(&core);
        let is_long = joined.len().min(main_joined.len()) >= 6;
        let is_misspelled = is_larger
            && is_long
            && (misspellings(&core).contains(&main_joined) || misspellings(&main_core).contains(&joined));
        generic.iter().all(|word| main_generic.contains(word)) && (joined == main_joined || is_begun || is_misspelled)
    }
}

proptest! {
    /// The words are short and of few letters, so that cores are often alike. No word has two doubled letters, because
    /// these count as one misspelling.
    #[test]
    fn exactly_the_pairs_that_are_alike_are_found(
        names in prop::collection::vec("(alder|aldder|adler|alders|rowan|way|wya|bo)( (alder|rowan|way|inc))?( (capital|partners|fund|the))?( (venture|ventures))?", 2..14)
    ) {
        let records: Vec<NamedRecord<'_>> =
            (1..).zip(&names).map(|(place, name)| NamedRecord { size: 20 / place, ..in_ulm(name) }).collect();
        let order: Vec<u32> = (0..records.len() as u32).collect();
        let found = near_duplicates(|row| records[row].clone(), &order);
        for (row, duplicate) in found.iter().enumerate() {
            let is_larger = |main: usize| records[main].size > records[row].size;
            let is_main = |main: &usize| oracle::is_like(&names[row], &names[*main], is_larger(*main));
            let first = (0..row).find(is_main);
            // A near-duplicate has the main record of the first record that it is like.
            let root = first.map(|first| found[first].map_or(first as u32, |duplicate| duplicate.main));
            prop_assert_eq!(duplicate.map(|duplicate| duplicate.main), root, "{:?}", names);
        }
    }
}

#[test]
fn parts_of_keys_are_whole_blocks() {
    for (sizes, expected) in
        [(vec![], 0), (vec![1], 1), (vec![3; PART], 3), (vec![PART + 1, 1, 2 * PART, 5], 3), (vec![PART - 1, 1, 1], 1)]
    {
        let keys = sizes.iter().zip(0_u64..).flat_map(|(size, key)| vec![key; *size]);
        let keyed: Vec<(u64, u32)> = keys.zip(0..).collect();
        let parts = split_by_key(&keyed);
        assert_eq!((parts.len(), parts.concat() == keyed), (expected, true));
        assert!(parts.windows(2).all(|pair| pair[0].last().unwrap().0 < pair[1][0].0));
    }
}
