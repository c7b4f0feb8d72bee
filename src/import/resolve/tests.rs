use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::resolve::record::Links;
use data::{Country, Date, DiagnosticReport, NoProgress};

fn firm(id: &str, name: &str) -> SourceRecord {
    let source = id.split('/').next().unwrap().bytes().fold(0, |hash: u32, byte| hash * 31 + u32::from(byte));
    SourceRecord { name: name.to_owned(), ..SourceRecord::new(Table::Firms, id.to_owned(), source) }
}

/// A record with a website and a city, so that two with the same name are merged.
fn located(id: &str, name: &str, website: &str, city: &str) -> SourceRecord {
    SourceRecord {
        website: Some(format!("https://{website}")),
        city: Some(city.to_owned()),
        country: Country::read("DE"),
        ..firm(id, name)
    }
}

fn with_id(record: SourceRecord, scheme: &str, value: &str) -> SourceRecord {
    SourceRecord { identifiers: vec![(scheme.to_owned(), value.to_owned())], ..record }
}

fn resolved(records: &[SourceRecord], decisions: &Decisions) -> Resolution {
    resolve(records.to_vec(), decisions, &NoProgress).unwrap()
}

/// Record ids of each cluster.
fn clusters(resolution: &Resolution) -> BTreeSet<Vec<String>> {
    let id = |row: &u32| resolution.records[*row as usize].id.clone();
    resolution.clusters.iter().map(|cluster| cluster.iter().map(id).collect()).collect()
}

fn decisions(rows: &[(&str, &str, Judgement)]) -> Decisions {
    let mut report = DiagnosticReport::default();
    let on: Date = "2026-11-20".parse().unwrap();
    let decision = |(left, right, judgement): &(&str, &str, Judgement)| {
        Decision::new(left.to_string(), right.to_string(), *judgement, "ada".to_owned(), on.into(), String::new())
    };
    let (decisions, _) = Decisions::default().with(rows.iter().map(decision).collect(), &mut report);
    assert!(!report.has_errors(), "{report:?}");
    decisions
}

fn is_merged(left: SourceRecord, right: SourceRecord) -> bool {
    !resolved(&[left, right], &Decisions::default()).clusters.is_empty()
}

fn is_reviewed(left: SourceRecord, right: SourceRecord) -> bool {
    !resolved(&[left, right], &Decisions::default()).review.is_empty()
}

#[test]
fn names_that_differ_in_marks_tones_or_letters_of_other_alphabets_are_apart() {
    let located = |id: &str, name: &str| SourceRecord { city: Some("Ulm".to_owned()), ..firm(id, name) };
    for (one, other, are_one) in [
        ("Société Alderway", "SOCIETE ALDERWAY", true),
        ("Alderwaystonee", "Alderwaystone", true),
        ("Thanh Sơn Alder", "Thành Sơn Alder", false),
        ("Kış Rüzgarı", "Kiş Rüzgarı", false),
        ("Νόμος Μετάλλων", "Νομός Μετάλλων", false),
        ("Быстрица Восточная", "Бистрица Восточная", false),
        ("Рініки Капітал", "Ріни Капітал", false),
        ("Sớn Gĩa", "Gia Sớn", false),
        ("Gia Sớn", "Sớn Gia", true),
    ] {
        assert_eq!(is_merged(located("one/firm:1", one), located("other/firm:1", other)), are_one, "{one}, {other}");
    }
}

#[test]
fn what_differs_keeps_names_apart_that_are_not_quite_the_same() {
    let record = |id: &str, name: &str, city: Option<&str>, year: Option<u16>, sectors: &[&str]| SourceRecord {
        city: city.map(str::to_owned),
        country: Country::read("DE"),
        founded_year: year,
        sectors: sectors.iter().map(|sector| (*sector).to_owned()).collect(),
        ..firm(id, name)
    };
    let left = || record("a/firm:1", "Zyntrixolar Ventures", Some("Berlin"), Some(2009), &["solar"]);
    for (name, city, year, sectors, merged) in [
        ("Zyntrixolar Ventures", Some("Berlin"), Some(2009), &["solar"][..], true),
        ("Zyntrixolar Ventures", Some("Berlin"), Some(2009), &["games"], true),
        // Two values differ.
        ("Zyntrixolar Ventures", Some("Hamburg"), Some(2015), &["solar"], false),
        ("Zyntrixolar Ventures", Some("Hamburg"), None, &["games"], false),
        // A misspelled name agrees with the place, and nothing differs.
        ("Zyntrixolra Ventures", Some("Berlin"), None, &[], true),
        ("Zyntrixolra Ventures", Some("Berlin"), Some(2015), &[], false),
        ("Zyntrixolra Ventures", Some("Berlin"), None, &["games"], false),
    ] {
        let right = record("b/firm:2", name, city, year, sectors);
        assert_eq!(is_merged(left(), right), merged, "{name} {city:?} {year:?} {sectors:?}");
    }
}

#[test]
fn a_source_that_has_both_says_that_they_are_two() {
    let record = |id: &str, name: &str, country: &str| SourceRecord {
        city: Some("Springfield".to_owned()),
        country: Country::read(country),
        ..firm(id, name)
    };
    for (left, right, is_settled) in [
        (("a/firm:1", "Zyntrixolar", "US"), ("a/firm:2", "Zyntrixolar Health", "US"), true),
        (("a/firm:1", "Zyntrixolar", "US"), ("a/firm:2", "Zyntrixolar", "US"), false),
        (("a/firm:1", "Zyntrixolar", "US"), ("a/firm:2", "Zyntrixolar", "GB"), true),
        (("a/firm:1", "Zyntrixolar", "US"), ("b/firm:2", "Zyntrixolar", "GB"), false),
        (("a/firm:1", "Zyntrixolar", "US"), ("b/firm:2", "Zyntrixolra", "GB"), true),
    ] {
        let [one, other] = [left, right].map(|(id, name, country)| record(id, name, country));
        let profiles = Profiles::new(Table::Firms, &[one, other], &EntityHashes::default());
        let findings = Findings::new(&compare(&profiles, &profiles.all[0], &profiles.all[1]));
        assert_eq!(evidence::is_settled(findings), is_settled, "{left:?} {right:?}");
    }
}

#[test]
fn a_name_and_a_second_kind_of_evidence_merge() {
    let left = || located("a/firm:1", "Zyntrix Ventures", "zyntrix.example", "Berlin");
    for (name, website, city, merged) in [
        ("Zyntrix Ventures GmbH", "www.zyntrix.example/team", "Berlin", true),
        ("ZYNTRIX", "zyntrix.example", "", true),
        ("Zyntirx Ventures", "zyntrix.example", "Berlin", true),
        ("Zyntrix Ventures", "", "Berlin, Germany", true),
        ("Zyntrix Ventures", "other.example", "Munich", false),
        ("Orbit Works", "zyntrix.example", "", false),
        // A subsidiary.
        ("Zyntrix Health", "zyntrix.example", "Berlin", false),
        ("Orbit Works", "orbit.example", "Berlin", false),
    ] {
        let mut right = located("b/firm:1", name, website, city);
        right.website = right.website.filter(|_| !website.is_empty());
        right.city = right.city.filter(|_| !city.is_empty());
        assert_eq!(is_merged(left(), right), merged, "{name} {website} {city}");
    }
    assert!(is_reviewed(left(), located("b/firm:1", "Зинтрикс", "zyntrix.example", "Berlin")), "another script");
    let name_only = || firm("a/firm:1", "Zyntrix Ventures");
    assert!(!is_merged(name_only(), firm("b/firm:1", "Zyntrix Ventures")), "one kind of evidence is not enough");
    assert!(is_reviewed(name_only(), firm("b/firm:1", "Zyntrix Ventures")));
}

#[test]
fn different_names_with_one_website_are_reviewed_first_and_never_merged() {
    let twin = |source: &str, number: usize| {
        let name = format!("Firm{number} Word{number}");
        located(&format!("{source}/firm:{number}"), &name, &format!("firm{number}.example"), "Ulm")
    };
    // With few pairs, the usual weights apply; among many, the weight of a domain is learned from names that agree.
    for others in [0, 400] {
        let twins = (0..others).flat_map(|number| [twin("a", number), twin("b", number)]);
        let others: Vec<SourceRecord> = twins.collect();
        for (name, in_other_source) in
            [("Orbit Works", true), ("Zyntrix Health", true), ("Зинтрикс", true), ("Orbit Works", false)]
        {
            let left = located("a/firm:x", "Zyntrix", "zyntrix.example", "Berlin");
            let id = if in_other_source { "b/firm:x" } else { "a/firm:y" };
            let right = SourceRecord { founded_year: Some(2010), ..located(id, name, "zyntrix.example", "Berlin") };
            // A subsidiary has the people of its parent.
            let records = if name == "Zyntrix Health" { vec![7, 8] } else { Vec::new() };
            let links = Links { records, ..Links::default() };
            let pair =
                [left, right].map(|record| SourceRecord { links: links.clone(), founded_year: Some(2010), ..record });
            let resolution = resolved(&[others.clone(), pair.to_vec()].concat(), &Decisions::default());
            let rows = |pair: &&RecordPair| resolution.records[pair.right as usize].id == id;
            let reviewed = resolution.review.iter().find(rows);
            assert!(!resolution.merged.iter().any(|pair| rows(&pair)), "{name} is merged");
            let is_likely = reviewed.is_some_and(|pair| pair.score >= 50);
            assert_eq!(is_likely, in_other_source, "{name} among {}: {reviewed:?}", others.len());
            let Some(pair) = reviewed.filter(|_| in_other_source) else { continue };
            let sum = pair.base + pair.evidence.iter().map(|found| found.points).sum::<i32>();
            let score = (probability(f64::from(sum) / 10.0) * 100.0) as i32;
            assert!(score.abs_diff(pair.score) <= 3, "the points make {score}: {pair:?}");
            assert!(batch::batches(&resolution)[0].title.starts_with("firms: one website, "));
        }
    }
}

#[test]
fn names_that_only_sound_alike_are_reviewed_at_most() {
    let record = |id: &str, name: &str| located(id, name, "zyntrix.example", "Berlin");
    for (left, right) in [
        ("弘毅投资", "宏益投资"),
        ("凯石投资", "凯实投资"),
        ("林婷资本", "林庭资本"),
        ("سيف", "صيف"),
        ("עשלע הון", "אשלע הון"),
        ("An Phát", "Ân Phật"),
        ("Зинтрикс", "Zintriks"),
        ("C++", "C#"),
        ("@Zyntrix", "Zyntrix"),
    ] {
        assert!(!is_merged(record("a/firm:1", left), record("b/firm:1", right)), "{left}, {right}");
        assert!(is_reviewed(record("a/firm:1", left), record("b/firm:1", right)), "{left}, {right}");
        assert!(is_merged(record("a/firm:1", left), record("b/firm:1", left)), "{left}");
    }
    for (left, right) in [("Société Zyntrix", "SOCIETE ZYNTRIX"), ("Зинтрикс", "ЗИНТРИКС"), ("Zyntrix™", "Zyntrix")]
    {
        assert!(is_merged(record("a/firm:1", left), record("b/firm:1", right)), "{left}, {right}");
    }
}

#[test]
fn names_of_one_source_that_differ_in_a_letter_are_two() {
    let record = |id: &str, name: &str| SourceRecord {
        sectors: vec!["Fintech".to_owned()],
        founded_year: Some(2_010),
        ..located(id, name, "", "Berlin")
    };
    let left = || SourceRecord { website: None, ..record("a/firm:1", "Zyntrixor Ventures") };
    let right = |id: &str| SourceRecord { website: None, ..record(id, "Zyntrixar Ventures") };
    assert!(is_merged(left(), right("b/firm:1")));
    assert!(!is_merged(left(), right("a/firm:2")));
    assert!(is_reviewed(left(), right("a/firm:2")));
    assert!(is_merged(with_id(left(), "lei", "A"), with_id(right("a/firm:2"), "lei", "A")));
}

#[test]
fn a_rare_name_is_of_one_unless_one_source_alone_has_a_place() {
    let country = |record: SourceRecord| SourceRecord { country: Country::read("DE"), ..record };
    let other = |number: usize| firm(&format!("c/firm:{number}"), &format!("Firm{number} Word{number}"));
    let is_merged = |left: SourceRecord, right: SourceRecord| {
        let records: Vec<SourceRecord> = (0..1_100).map(other).chain([left, right]).collect();
        !resolved(&records, &Decisions::default()).clusters.is_empty()
    };
    let (left, right) = (|| firm("a/firm:1", "Zyntrix"), || firm("b/firm:1", "Zyntrix"));
    assert!(is_merged(left(), right()));
    assert!(is_merged(country(left()), country(right())));
    assert!(!is_merged(left(), country(right())));
    assert!(!is_merged(firm("a/firm:1", "Zyn"), firm("b/firm:1", "Zyn")), "a short name");
}

#[test]
fn each_veto_forbids_a_merge() {
    let record = |id: &str, name: &str| located(id, name, "zyntrix.example", "Berlin");
    let left = || record("a/firm:1", "Zyntrix Capital");
    let right = || record("b/firm:1", "Zyntrix Capital");
    assert!(is_merged(left(), right()));

    let lei = |record: SourceRecord, value: &str| with_id(record, "lei", value);
    assert!(!is_merged(lei(left(), "A"), lei(right(), "B")));
    assert!(is_merged(lei(left(), "A"), lei(right(), "A")));
    let weak = |record: SourceRecord, value: &str| with_id(record, "our-crm", value);
    assert!(is_merged(weak(left(), "A"), weak(right(), "B")), "a weak identifier contradicts nothing");

    for (one, other, merged) in [
        ("Zyntrix Fund II", "Zyntrix Fund III", false),
        ("Zyntrix Fund II", "Zyntrix Fund 2 LP", true),
        ("Zyntrix Capital", "Zyntrix Capital Fund IV", false),
        ("Zyntrix Capital", "Zyntrix SPV", false),
        ("Zyntrix Capital", "Seed 7, a series of Zyntrix Capital LLC", false),
        ("Zyntrix Fund", "Zyntrix Fund LP", true),
    ] {
        assert_eq!(is_merged(record("a/firm:1", one), record("b/firm:1", other)), merged, "{one}, {other}");
    }

    let founded = |record: SourceRecord, year: u16| SourceRecord { founded_year: Some(year), ..record };
    assert!(!is_merged(founded(left(), 1990), founded(right(), 2005)));
    assert!(is_merged(founded(left(), 1990), founded(right(), 1991)));
}

#[test]
fn a_value_of_more_than_three_unlike_names_says_nothing() {
    let names = ["Alder Rock", "Birch Labs", "Cedar Foods", "Dune Systems", "Elm Robotics"];
    let with = |count: usize| {
        let records = names.iter().take(count).enumerate();
        let records =
            records.map(|(index, name)| with_id(firm(&format!("a/firm:{index}"), name), "uei", "000000000000"));
        let known = with_id(located("b/firm:9", "Alder Rock", "alder.example", "Oslo"), "uei", "000000000000");
        let resolution = resolved(&records.chain([known]).collect::<Vec<_>>(), &Decisions::default());
        clusters(&resolution)
    };
    let merged = vec!["a/firm:0".to_owned(), "b/firm:9".to_owned()];
    assert_eq!(with(3), BTreeSet::from([merged]));
    assert_eq!(with(4), BTreeSet::new());
}

#[test]
fn a_chain_does_not_join_what_a_veto_keeps_apart() {
    let record = |id: &str| located(id, "Zyntrix Capital", "zyntrix.example", "Berlin");
    let records =
        [with_id(record("a/firm:1"), "lei", "A"), record("b/firm:1"), with_id(record("c/firm:1"), "lei", "B")];
    let resolution = resolved(&records, &Decisions::default());
    assert_eq!(resolution.clusters.len(), 1);
    assert_eq!(resolution.clusters[0].len(), 2);
    let conflict: Vec<_> = resolution.review.iter().filter_map(|pair| pair.conflict.as_ref()).collect();
    assert!(matches!(conflict[..], [MergeConflict::Vetoed(..)]), "{conflict:?}");
}

#[test]
fn people_of_one_name_are_one_in_one_organization_only() {
    let person = |id: &str, name: &str, organization: &str| {
        let mut links = Links::default();
        links.add_name(Table::Startups, organization);
        SourceRecord { table: Table::People, links, ..firm(id, name) }
    };
    let left = || person("a/person:1", "Robert Zyntrix", "Alder Foods");
    for (name, organization, merged) in [
        ("Robert Zyntrix", "Alder Foods Inc.", true),
        ("Bob Zyntrix", "Alder Foods", true),
        ("Zyntrix Robert", "Alder Foods", true),
        ("Robert Zyntrix", "Birch Labs", false),
        ("Maria Zyntrix", "Alder Foods", false),
    ] {
        assert_eq!(is_merged(left(), person("b/person:1", name, organization)), merged, "{name}, {organization}");
    }
}

#[test]
fn decisions_join_and_part() {
    let record = |id: &str| located(id, "Zyntrix Capital", "zyntrix.example", "Berlin");
    let records = [record("a/firm:1"), record("b/firm:1"), firm("c/firm:1", "Orbit Works"), firm("d/firm:1", "Kite")];
    use Judgement::{Different, Same, Unsure};
    let ids = |ids: &[&str]| ids.iter().map(|id| id.to_string()).collect::<Vec<_>>();
    for (rows, expected) in [
        (vec![], vec![ids(&["a/firm:1", "b/firm:1"])]),
        (vec![("b/firm:1", "a/firm:1", Different)], vec![]),
        (
            vec![("a/firm:1", "c/firm:1", Same), ("c/firm:1", "d/firm:1", Same)],
            vec![ids(&["a/firm:1", "b/firm:1", "c/firm:1", "d/firm:1"])],
        ),
        // Through an entity that no longer exists.
        (
            vec![("c/firm:1", "gone/firm:1", Same), ("gone/firm:1", "d/firm:1", Same)],
            vec![ids(&["a/firm:1", "b/firm:1"]), ids(&["c/firm:1", "d/firm:1"])],
        ),
        // `a` differs from `c`, so it also differs from `b`, which is the same as `c`.
        (
            vec![("a/firm:1", "c/firm:1", Different), ("c/firm:1", "b/firm:1", Same)],
            vec![ids(&["b/firm:1", "c/firm:1"])],
        ),
        // The last decision about a pair wins.
        (
            vec![("a/firm:1", "b/firm:1", Different), ("b/firm:1", "a/firm:1", Unsure)],
            vec![ids(&["a/firm:1", "b/firm:1"])],
        ),
    ] {
        let resolution = resolved(&records, &decisions(&rows));
        assert_eq!(clusters(&resolution), expected.into_iter().collect(), "{rows:?}");
    }
}

#[test]
fn a_pair_that_is_decided_is_not_reviewed_again() {
    let records = [firm("a/firm:1", "Zyntrix Ventures"), firm("b/firm:1", "Zyntrix Ventures")];
    assert_eq!(resolved(&records, &Decisions::default()).review.len(), 1);
    for judgement in [Judgement::Same, Judgement::Different, Judgement::Unsure] {
        let decided = decisions(&[("a/firm:1", "b/firm:1", judgement)]);
        assert!(resolved(&records, &decided).review.is_empty(), "{judgement:?}");
    }
}

const NAMES: [&str; 5] = ["Zyntrix", "Zyntrix Capital", "Zyntirx Capital", "Orbit Works", "Orbit Works Fund II"];

prop_compose! {
    fn any_record()(
        name in 0..NAMES.len(), source in 0..3_u8, website in 0..3_u8, city in 0..3_u8, lei in 0..4_u8,
        founded_year in prop::option::of(1_990_u16..2_010),
    ) -> (u8, SourceRecord) {
        let site = ["zyntrix.example", "orbit.example", "kite.example"][usize::from(website)];
        let record = located("", NAMES[name], site, ["Berlin", "Oslo", "Rome"][usize::from(city)]);
        let record = SourceRecord { founded_year, ..record };
        (source, if lei > 0 { with_id(record, "lei", &lei.to_string()) } else { record })
    }
}

fn any_records() -> impl Strategy<Value = Vec<SourceRecord>> {
    prop::collection::vec(any_record(), 2..14).prop_map(|records| {
        let numbered = records.into_iter().enumerate();
        numbered
            .map(|(index, (source, record))| SourceRecord {
                id: format!("{}/firm:{index}", char::from(b'a' + source)),
                source: u32::from(source),
                ..record
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_order_of_records_and_numbers_of_sources_do_not_matter(
        (records, shuffled) in any_records().prop_flat_map(|records| (Just(records.clone()), Just(records).prop_shuffle()))
    ) {
        let renumbered: Vec<SourceRecord> =
            shuffled.into_iter().map(|record| SourceRecord { source: 7 - record.source, ..record }).collect();
        let (left, right) = (resolved(&records, &Decisions::default()), resolved(&renumbered, &Decisions::default()));
        prop_assert_eq!(&left.clusters, &right.clusters);
        prop_assert_eq!(&left.review, &right.review);
        prop_assert_eq!(&left.merged, &right.merged);
    }

    #[test]
    fn records_that_contradict_each_other_are_never_merged(records in any_records()) {
        let resolution = resolved(&records, &Decisions::default());
        for cluster in &resolution.clusters {
            let records = cluster.iter().map(|row| &resolution.records[*row as usize]);
            let leis: BTreeSet<_> = records.clone().flat_map(|record| &record.identifiers).collect();
            prop_assert!(leis.len() <= 1, "{leis:?}");
            let years: Vec<u16> = records.clone().filter_map(|record| record.founded_year).collect();
            let apart = years.iter().max().zip(years.iter().min()).map_or(0, |(last, first)| last - first);
            prop_assert!(apart < 15, "{years:?}");
            let funds = records.clone().filter(|record| record.name.contains("Fund")).count();
            prop_assert!(funds == 0 || funds == cluster.len());
        }
    }

    #[test]
    fn different_records_are_never_joined_and_a_decision_taken_back_changes_nothing(
        records in any_records(), pairs in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5)
    ) {
        let ids: Vec<(&str, &str)> = pairs
            .iter()
            .map(|(left, right)| (records[left.index(records.len())].id.as_str(), records[right.index(records.len())].id.as_str()))
            .filter(|(left, right)| left != right)
            .collect();
        let of = |judgement: Judgement| ids.iter().map(move |(left, right)| (*left, *right, judgement)).collect::<Vec<_>>();
        let apart = resolved(&records, &decisions(&of(Judgement::Different)));
        for cluster in clusters(&apart) {
            for (left, right) in &ids {
                prop_assert!(!(cluster.contains(&left.to_string()) && cluster.contains(&right.to_string())));
            }
        }
        let before = resolved(&records, &Decisions::default());
        for judgement in [Judgement::Same, Judgement::Different] {
            let rows: Vec<_> = of(judgement).into_iter().chain(of(Judgement::Unsure)).collect();
            let after = resolved(&records, &decisions(&rows));
            prop_assert_eq!(&after.clusters, &before.clusters);
            prop_assert_eq!(&after.merged, &before.merged);
        }
        let joined = clusters(&resolved(&records, &decisions(&of(Judgement::Same))));
        for (left, right) in &ids {
            prop_assert!(joined.iter().any(|cluster| cluster.contains(&left.to_string()) && cluster.contains(&right.to_string())));
        }
    }
}

mod files {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::resolve::decision;

    fn problems(folder: &Path, text: &str) -> Vec<String> {
        fs::write(folder.join(decision::FILE), text).unwrap();
        let problems = Decisions::read(folder).err().map(|error| error.to_string()).unwrap_or_default();
        problems.lines().map(|problem| problem.trim_start_matches(folder.to_str().unwrap())[1..].to_owned()).collect()
    }

    #[test]
    fn decisions_are_appended_and_replayed() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Decisions::read(folder.path()).unwrap().all().is_empty());
        let made = |judgement: Judgement, why: &str| {
            let on: Date = "2026-11-20".parse().unwrap();
            Decision::new("a/firm:1".into(), "b/firm:x, y".into(), judgement, "ada".into(), on.into(), why.into())
        };
        let both = [made(Judgement::Same, "a \"quoted\" reason"), made(Judgement::Unsure, "")];
        decision::append(folder.path(), &both).unwrap();
        let text = fs::read_to_string(folder.path().join(decision::FILE)).unwrap();
        let expected = "left,right,decision,by,on,why\n\
                        a/firm:1,\"b/firm:x, y\",same,ada,2026-11-20,\"a \"\"quoted\"\" reason\"\n\
                        a/firm:1,\"b/firm:x, y\",unsure,ada,2026-11-20,\n";
        assert_eq!(text, expected);
        let read = Decisions::read(folder.path()).unwrap();
        assert_eq!(read.all().iter().map(|decision| decision.judgement).collect::<Vec<_>>(), [Judgement::Unsure]);
    }

    #[test]
    fn contradictions_name_the_lines_that_join_the_two() {
        let folder = tempfile::tempdir().unwrap();
        let found = problems(
            folder.path(),
            "left,right,decision,on\na/firm:1,b/firm:1,same,2026-11-20\nc/firm:1,b/firm:1,same,2026-11-20\n\
             c/firm:1,d/firm:1,same,2026-11-20\nd/firm:1,a/firm:1,different,2026-11-21\n",
        );
        let expected = "decisions.csv:5: decision: `different` contradicts the decisions that join the two: `d/firm:1` = \
                        `c/firm:1` (line 4) = `b/firm:1` (line 3) = `a/firm:1` (line 2); take one of them back: append a \
                        line with its pair and `unsure`";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn what_is_wrong_with_a_decision_is_reported_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        for (line, expected) in [
            (
                "a/firm:1,a/firm:1,same,2026-11-20",
                "right: \"a/firm:1\" is also `left`; a decision is about two entities",
            ),
            (
                "a/firm:1,b/startup:1,same,2026-11-20",
                "right: a firm and a startup cannot be compared; name two of one kind",
            ),
            ("alder,b/firm:1,same,2026-11-20", "left: \"alder\" is not an entity of a source; write it as"),
            ("a/firm:1,b/firm:1,equal,2026-11-20", "decision: \"equal\" is not"),
            ("a/firm:1,b/firm:1,same,", "on: is empty"),
        ] {
            let found = problems(folder.path(), &format!("left,right,decision,on\n{line}\n"));
            assert!(
                found.len() == 1 && found[0].starts_with(&format!("decisions.csv:2: {expected}")),
                "{line}: {found:?}"
            );
        }
    }
}
