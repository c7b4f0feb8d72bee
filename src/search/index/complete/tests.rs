use proptest::prelude::*;

use super::*;

/// Names with aliases and prominence.
struct Table(Vec<(String, String, u32)>);

impl Names for Table {
    fn len(&self) -> u32 {
        self.0.len() as u32
    }

    fn name(&self, row: u32) -> &str {
        &self.0[row as usize].0
    }

    fn aliases(&self, row: u32) -> &str {
        &self.0[row as usize].1
    }

    fn prominence(&self, row: u32) -> u32 {
        self.0[row as usize].2
    }
}

fn table(names: &[(&str, &str, u32)]) -> Table {
    Table(
        names.iter().map(|(name, aliases, prominence)| (name.to_string(), aliases.to_string(), *prominence)).collect(),
    )
}

fn complete(table: &Table, text: &str, max: usize) -> Vec<(String, Completion)> {
    let index = TextIndex::in_memory(table).unwrap();
    let found = index.complete(table, text, max);
    found.iter().map(|found| (table.name(found.row).to_owned(), found.completion)).collect()
}

#[test]
fn names_that_equal_the_text_precede_those_that_begin_with_it_and_those_that_include_it() {
    use Completion::{Begins, Equal, Includes};
    let table = table(&[
        ("Sequoia", "", 1),
        ("Sequoia Capital", "", 900_000),
        ("Sequel", "", 5),
        ("Giant Sequoia", "", 1_000_000),
        ("Soft Bank", "", 3),
        ("Kleiner Perkins Caufield & Byers", "KP Fund", 700),
        ("Andreessen Horowitz", "a16z", 800),
        ("🔥", "", 3),
    ]);
    let found = |text: &str| complete(&table, text, 10);
    let expected = |rows: &[(&str, Completion)]| -> Vec<(String, Completion)> {
        rows.iter().map(|(name, completion)| (name.to_string(), *completion)).collect()
    };
    assert_eq!(
        found("sequoia"),
        expected(&[("Sequoia", Equal), ("Sequoia Capital", Begins), ("Giant Sequoia", Includes)])
    );
    assert_eq!(found("Séquo")[..2], expected(&[("Sequoia Capital", Begins), ("Sequoia", Begins)]));
    assert_eq!(found("sequoia c"), expected(&[("Sequoia Capital", Begins)]));
    assert_eq!(found("sequoiac"), expected(&[("Sequoia Capital", Includes)]));
    assert_eq!(found("capital seq"), expected(&[("Sequoia Capital", Includes)]));
    assert_eq!(found("softb"), expected(&[("Soft Bank", Includes)]));
    assert_eq!(found("softbank"), expected(&[("Soft Bank", Equal)]));
    assert_eq!(found("kpcb"), expected(&[("Kleiner Perkins Caufield & Byers", Begins)]));
    assert_eq!(found("K.P.C.B."), expected(&[("Kleiner Perkins Caufield & Byers", Begins)]));
    assert_eq!(found("kp fu"), expected(&[("Kleiner Perkins Caufield & Byers", Begins)]));
    assert_eq!(found("A16Z"), expected(&[("Andreessen Horowitz", Equal)]));
    for text in ["", "  ", "🔥", "sequoiac x", "zz"] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn the_part_that_was_typed_is_found_in_the_text() {
    for (typed, text, expected) in [
        ("seq", "Sequoia Capital", Some("Seq")),
        ("sequoiac", "Sequoia Capital", Some("Sequoia C")),
        ("round cap", "First Round Capital", Some("Round Cap")),
        ("capital fir", "First Round Capital", Some("Fir")),
        ("caufield and b", "Kleiner Perkins Caufield & Byers", Some("Caufield & B")),
        ("lor", "L’Oréal", Some("L’Or")),
        ("strasse", "Straße 7", Some("Straße")),
        ("u.s. v", "U.S. Venture Partners", Some("U.S. V")),
        ("yan", "Яндекс", Some("Ян")),
        ("zzz", "Sequoia", None),
        ("🔥", "🔥", None),
    ] {
        let part = typed_part(typed, text);
        let part = part.map(|part| text.chars().skip(part.start).take(part.len()).collect::<String>());
        assert_eq!(part.as_deref(), expected, "{typed} in {text}");
    }
}

#[test]
fn the_most_prominent_of_many_are_kept() {
    let names: Vec<(String, String, u32)> = (0..5_000_u32)
        .map(|row| {
            (format!("Alder{row} {}", ["Capital", "Labs"][row as usize % 2]), String::new(), row * 7_919 % 5_000)
        })
        .collect();
    let table = Table(names);
    let index = TextIndex::in_memory(&table).unwrap();
    let prominence = |text: &str| -> Vec<u32> {
        index.complete(&table, text, 4).iter().map(|found| found.prominence).take(4).collect()
    };
    assert_eq!(prominence("al"), [4_999, 4_998, 4_997, 4_996]);
    let best_of = |word: &str| {
        let rows = table.0.iter().filter(|(name, ..)| name.ends_with(word));
        let mut best: Vec<u32> = rows.map(|(.., prominence)| *prominence).collect();
        best.sort_unstable_by_key(|prominence| Reverse(*prominence));
        best[..4].to_vec()
    };
    assert_eq!(prominence("lab"), best_of("Labs"));
    assert_eq!(prominence("capital al"), best_of("Capital"));
    assert_eq!(prominence("cap al"), [0; 0]);
}

/// The completions of `text` among names of lowercase letters, found by reading all of them.
fn by_reading(names: &[(String, String, u32)], text: &str) -> Vec<(Completion, u32)> {
    let typed: Vec<&str> = text.split_whitespace().collect();
    let (last, whole) = typed.split_last().unwrap();
    let of_name = |name: &str| {
        let words: Vec<&str> = name.split_whitespace().collect();
        let initials: String = words.iter().filter_map(|word| word.chars().next()).collect();
        let may_be_initials = typed.len() == 1 || typed.iter().all(|word| word.len() == 1);
        let has_initials = may_be_initials && words.len() > 1 && initials == typed.concat() && initials.len() <= 8;
        if words.concat() == typed.concat() {
            Some(Completion::Equal)
        } else if name.starts_with(&typed.join(" ")) || has_initials {
            Some(Completion::Begins)
        } else {
            let has_words =
                words.iter().any(|word| word.starts_with(last)) && whole.iter().all(|word| words.contains(word));
            (has_words || words.concat().starts_with(&typed.concat())).then_some(Completion::Includes)
        }
    };
    let mut found: Vec<(Completion, Reverse<u32>, u32)> = Vec::new();
    for (row, (name, alias, prominence)) in (0..).zip(names) {
        let texts = [name, alias].into_iter().filter(|text| !text.trim().is_empty());
        found.extend(
            texts.filter_map(|text| of_name(text)).min().map(|completion| (completion, Reverse(*prominence), row)),
        );
    }
    found.sort_unstable();
    found.into_iter().map(|(completion, _, row)| (completion, row)).collect()
}

fn name() -> impl Strategy<Value = String> {
    prop::collection::vec("[ab]{1,3}", 1..4).prop_map(|words| words.join(" "))
}

fn names() -> impl Strategy<Value = Vec<(String, String, u32)>> {
    let alias = prop_oneof![3 => Just(String::new()), 1 => name()];
    prop::collection::vec((name(), alias, (0_u32..40).prop_map(|rank| rank * 25_000)), 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn completions_are_those_found_by_reading_all_names(names in names(), texts in prop::collection::vec(name(), 8)) {
        let table = Table(names);
        let index = TextIndex::in_memory(&table).unwrap();
        for text in texts {
            let expected = by_reading(&table.0, &text);
            for max in [1, 5, 1_000] {
                let found: Vec<(Completion, u32)> =
                    index.complete(&table, &text, max).iter().map(|found| (found.completion, found.row)).collect();
                let count = max.min(expected.len());
                prop_assert!(found.len() >= count, "{} of {}: {:?}", max, text, found);
                prop_assert_eq!(&found[..count], &expected[..count], "{} of {}", max, text);
            }
        }
    }

    #[test]
    fn a_name_is_only_overtaken_by_equal_ones_while_it_is_typed(names in names()) {
        // A record with several names may equal the text by one of them, and later begin with it by another.
        let table = Table(names.into_iter().map(|(name, _, prominence)| (name, String::new(), prominence)).collect());
        const MAX: usize = 5;
        let index = TextIndex::in_memory(&table).unwrap();
        for (row, (name, ..)) in (0..).zip(&table.0).take(20) {
            let mut before = usize::MAX;
            for end in 1..=name.len() {
                let found = index.complete(&table, &name[..end], MAX);
                let overtakes = |found: &Completed| found.completion == Completion::Equal || found.by_initials;
                let mut others = found.iter().filter(|found| found.row == row || !overtakes(found));
                let place = others.position(|found| found.row == row).unwrap_or(usize::MAX);
                prop_assert!(place <= before || before >= MAX, "{} at {}: {:?}", name, end, found);
                // Another of its names may equal the text.
                let is_equal = found.iter().any(|found| found.row == row && found.completion == Completion::Equal);
                before = if is_equal { usize::MAX } else { place };
            }
        }
    }
}
