use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;

use super::*;
use data::NoProgress;

const MAPPING: &str = r#"
[source]
id = "s"
title = "S"
license = "CC0-1.0"

[input.filings]
file = "filings.csv"

[input.offers]
file = "offers.csv"
key = "ID"
when = { LIVE = "yes" }

[input.places]
file = "places.csv"
key = "CODE"

[[startup]]
from = "filings"
join = { offers = "OFFER", places = "PLACE" }
when."offers.ID" = { present = true }
key = "COMPANY"
latest_by = "DAY"
name = "COMPANY"
city = "places.NAME"
description = "offers.TEXT"

[[firm]]
from = "filings"
key = { value = "all" }
name = { value = "All" }
aum_usd = { column = "AMOUNT", currency = "USD", sum = true }
"#;

fn statements(folder: &Path) -> Vec<(String, String, String)> {
    let sources = Source::list(folder).unwrap();
    let read = sources[0].statements(folder).unwrap().map(Result::unwrap);
    read.map(|statement| (statement.entity.to_string(), statement.field, statement.value)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Joins, amendments and sums, compared with a naive computation in memory.
    #[test]
    fn rows_are_joined_replaced_and_added(
        filings in proptest::collection::vec((0..5_u8, 0..5_u8, 0..4_u8, 1..9_u8, 0..100_u32), 1..30),
        offers in proptest::collection::vec((0..5_u8, any::<bool>()), 0..10),
        places in proptest::collection::vec(0..4_u8, 0..6),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut text = "COMPANY,OFFER,PLACE,DAY,AMOUNT\n".to_owned();
        for (company, offer, place, day, amount) in &filings {
            text.push_str(&format!("c{company},o{offer},p{place},2026-01-0{day},{amount}\n"));
        }
        fs::write(path("filings.csv"), text).unwrap();
        let lines: Vec<String> = offers.iter().enumerate()
            .map(|(row, (id, live))| format!("o{id},{},text {row}\n", if *live { "yes" } else { "no" })).collect();
        fs::write(path("offers.csv"), format!("ID,LIVE,TEXT\n{}", lines.concat())).unwrap();
        let lines: Vec<String> = places.iter().enumerate().map(|(row, code)| format!("p{code},City {row}\n")).collect();
        fs::write(path("places.csv"), format!("CODE,NAME\n{}", lines.concat())).unwrap();
        fs::write(path("map.toml"), MAPPING).unwrap();

        // The first row of a key is joined. The latest row of a company counts, field by field.
        let offer_of = |id: u8| offers.iter().position(|(known, live)| *known == id && *live);
        let place_of = |code: u8| places.iter().position(|known| *known == code);
        let mut order: Vec<usize> = (0..filings.len()).filter(|row| offer_of(filings[*row].1).is_some()).collect();
        order.sort_by_key(|row| filings[*row].3);
        let mut expected: BTreeMap<(String, String), String> = BTreeMap::new();
        for row in order {
            let (company, offer, place, ..) = filings[row];
            let entity = format!("startup:c{company}");
            expected.insert((entity.clone(), "name".to_owned()), format!("c{company}"));
            let text = offer_of(offer).map(|row| format!("text {row}")).unwrap();
            expected.insert((entity.clone(), "description".to_owned()), text);
            if let Some(row) = place_of(place) {
                expected.insert((entity, "city".to_owned()), format!("City {row}"));
            }
        }
        let sum: u32 = filings.iter().map(|filing| filing.4).sum();
        expected.insert(("firm:all".to_owned(), "aum_usd".to_owned()), sum.to_string());
        expected.insert(("firm:all".to_owned(), "name".to_owned()), "All".to_owned());

        let to = tempfile::tempdir().unwrap();
        let inputs = ["filings.csv", "offers.csv", "places.csv"].map(path).to_vec();
        let import = Import::mapping(&path("map.toml"), inputs).unwrap();
        let summary = import.run(to.path(), "2026-11-20".parse().unwrap(), &NoProgress).unwrap();
        let found: BTreeMap<_, _> =
            statements(to.path()).into_iter().map(|(entity, field, value)| ((entity, field), value)).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(summary.rows() as usize, filings.len() + offers.len() + places.len());
    }
}

#[test]
fn amounts_are_converted_by_the_rate_of_their_day() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mapping = "rates = \"rates.csv\"\n[source]\nid = \"s\"\ntitle = \"S\"\nlicense = \"CC0-1.0\"\n[input.deals]\nfile = \"deals.csv\"\n\
                   [[round]]\nkey = \"ID\"\nstage = { value = \"seed\" }\nstartup = { value = \"Alder\", create = true }\nannounced_on = \"DAY\"\n\
                   amount_usd = { column = \"AMOUNT\", currency = { column = \"CURRENCY\" }, rate_on = \"DAY\" }\n";
    fs::write(path("map.toml"), mapping).unwrap();
    fs::write(path("rates.csv"), "currency,date,usd\nEUR,2024-01-01,1.1\nEUR,2024-06-01,1.2\n").unwrap();
    let deals = "ID,DAY,AMOUNT,CURRENCY\n1,2024-02-01,1000,EUR\n2,2024-07,1000,EUR\n3,2024-07-01,1000,USD\n\
                 4,2024-07-01,1000,\n5,2024-07-01,1000,CHF\n6,2024-07-01,$5,EUR\n7,2023-07-01,1000,EUR\n";
    fs::write(path("deals.csv"), deals).unwrap();
    let to = tempfile::tempdir().unwrap();
    let import = Import::mapping(&path("map.toml"), vec![path("deals.csv")]).unwrap();
    let summary = import.run(to.path(), "2026-11-20".parse().unwrap(), &NoProgress).unwrap();
    let amounts: Vec<(String, String)> = statements(to.path())
        .into_iter()
        .filter(|(_, field, _)| field == "amount_usd")
        .map(|(entity, _, value)| (entity, value))
        .collect();
    let expected = [("round:1", "1100"), ("round:2", "1200"), ("round:3", "1000")];
    assert_eq!(amounts, expected.map(|(entity, value)| (entity.to_owned(), value.to_owned())));
    let field = summary.sections[0].fields.iter().find(|field| field.field == "amount_usd").unwrap();
    let reasons: Vec<&str> = field.dropped.iter().map(|dropped| &*dropped.reason).collect();
    let expected = [
        "has no currency, which is never guessed",
        "has the currency CHF, for which `rates` has none",
        "has the sign `$`, the currency is EUR",
        "has the currency EUR, whose first rate is after 2023-07-01",
    ];
    assert_eq!(reasons, expected);
}

#[test]
fn a_sum_without_one_of_its_amounts_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mapping = "[source]\nid = \"s\"\ntitle = \"S\"\nlicense = \"CC0-1.0\"\n[input.funds]\nfile = \"funds.csv\"\n\
                   [[firm]]\nkey = \"FIRM\"\nname = \"FIRM\"\naum_usd = { column = \"SIZE\", currency = \"USD\", sum = true }\n";
    fs::write(path("map.toml"), mapping).unwrap();
    fs::write(path("funds.csv"), "FIRM,SIZE\na,1000000\na,2000000\nb,3000000\nb,some 5\nc,\nc,4000000\n").unwrap();
    let to = tempfile::tempdir().unwrap();
    let import = Import::mapping(&path("map.toml"), vec![path("funds.csv")]).unwrap();
    let summary = import.run(to.path(), "2026-11-20".parse().unwrap(), &NoProgress).unwrap();
    let sums: Vec<(String, String)> = statements(to.path())
        .into_iter()
        .filter(|(_, field, _)| field == "aum_usd")
        .map(|(entity, _, value)| (entity, value))
        .collect();
    let expected = [("firm:a", "3000000"), ("firm:c", "4000000")];
    assert_eq!(sums, expected.map(|(entity, value)| (entity.to_owned(), value.to_owned())));
    let field = summary.sections[0].fields.iter().find(|field| field.field == "aum_usd").unwrap();
    assert!(field.dropped[0].first.contains("funds.csv:5: \"some 5\""), "{:?}", field.dropped);
}

const LIST: &str = "[source]\nid = \"s\"\ntitle = \"S\"\nlicense = \"CC0-1.0\"\n[input.list]\nfile = \"list.csv\"\nignore = [\"Seen\"]\n\
                    [[firm]]\nwhen.State = { not = [\"dead\"] }\nkey = \"Key\"\nname = \"Name\"\ncity = \"City\"\n\
                    country = { column = \"Land\", unknown = \"drop\" }\n";

/// Imports files by a mapping; the summary, and the lines of the rejects.
fn imported(mapping: &str, files: &[(&str, &str)], to: &Path) -> (Result<ImportSummary, String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("map.toml"), mapping).unwrap();
    files.iter().for_each(|(name, text)| fs::write(path(name), text).unwrap());
    let inputs = files.iter().map(|(name, _)| path(name)).collect();
    let changes = SourceChanges { rejects: Some(path("rejects.csv")), ..SourceChanges::default() };
    let import = Import::mapping(&path("map.toml"), inputs).unwrap().with(changes).unwrap();
    let above = format!("{}/", folder.path().display());
    let summary = import.run(to, "2026-11-20".parse().unwrap(), &NoProgress);
    let rejects = fs::read_to_string(path("rejects.csv")).unwrap_or_default().replace(&above, "");
    let lines = rejects.lines().skip(1).map(str::to_owned).collect();
    (summary.map_err(|error| error.to_string().replace(&above, "")), lines)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each row and each value is counted once, and what is left out has a line in the file.
    #[test]
    fn rows_and_values_add_up(
        rows in proptest::collection::vec((0..4_u8, 0..6_u8, any::<bool>(), 0..4_u8, 0..3_u8), 8..60),
    ) {
        let mut text = "Key,Name,State,City,Land,Owner\n".to_owned();
        let [mut bad, mut blank, mut left_out, mut without_key, mut dropped, mut lands] = [0; 6];
        let mut cities: BTreeMap<u8, std::collections::BTreeSet<u8>> = BTreeMap::new();
        let mut taken = 0;
        for (shape, key, is_dead, city, land) in &rows {
            let state = if *is_dead { "dead" } else { "live" };
            let name = if *key == 5 { String::new() } else { format!("k{key}") };
            let land = ["", "DE", "Atlantis"][usize::from(*land)];
            let row = format!("{name},N{key},{state},C{city},{land},Ana");
            match shape {
                0 if rows.len() % 2 == 0 => {
                    bad += 1;
                    text.push_str(&format!("{row},more\n"));
                    continue;
                }
                1 if rows.len() % 3 == 0 => {
                    blank += 1;
                    // Only a column that is not used has a value.
                    text.push_str(",,,,,Ana\n");
                    continue;
                }
                _ => text.push_str(&format!("{row}\n")),
            }
            match (*is_dead, *key) {
                (true, _) => left_out += 1,
                (false, 5) => without_key += 1,
                _ => {
                    taken += 1;
                    cities.entry(*key).or_default().insert(*city);
                    dropped += usize::from(land == "Atlantis");
                    lands += usize::from(land == "DE");
                }
            }
        }
        let to = tempfile::tempdir().unwrap();
        let (summary, rejects) = imported(LIST, &[("list.csv", &text)], to.path());
        let is_refused = bad * 2 > rows.len() || without_key * 2 > taken + without_key || taken == 0;
        prop_assert_eq!(summary.is_err(), is_refused, "{:?}", summary);
        let lost: usize = cities.values().map(|cities| cities.len() - 1).sum();
        prop_assert_eq!(rejects.len(), bad + blank + left_out + without_key + dropped + lost, "{:?}", rejects);
        let Ok(summary) = summary else { return Ok(()) };
        let (file, section) = (&summary.files[0], &summary.sections[0]);
        let counts = RowCounts {
            rows: (rows.len() - bad - blank) as u64,
            left_out: left_out as u64,
            without_key: without_key as u64,
            kept: cities.len() as u64,
            merged: (taken - cities.len()) as u64,
        };
        prop_assert_eq!(section.counts, counts);
        prop_assert_eq!(&file.sections, &[FileRows { kind: "firm", counts }]);
        prop_assert_eq!([file.rows, file.blank, file.used], [rows.len(), blank, rows.len() - bad - blank].map(|n| n as u64));
        let land = section.fields.iter().find(|field| field.field == "country").unwrap();
        prop_assert_eq!((land.values, summary::total(&land.dropped)), (lands as u64, dropped as u64));
    }
}

#[test]
fn what_is_left_out_has_a_line_with_its_reason_and_remedy() {
    let list = "Key,Name,State,City,Land,Owner,Mail,Seen\n\
                a,Alder,live,Ulm,DE,Ana Reed,ana@alder.example,1\n\
                a,Alder Sound,live,Bonn,Atlantis,Bo Li,,2\n\
                b,Birch,dead,,,Bo Li,,3\n\
                ,Cedar,live,,,Cy Ito,,4\n\
                d,Dorn,live,,=1+1,Di Orr,,5\n\
                e,Elm,live,,eve@elm.example,Ed Ash,,6\n";
    let to = tempfile::tempdir().unwrap();
    let (summary, rejects) = imported(LIST, &[("list.csv", list)], to.path());
    let summary = summary.unwrap();
    let expected = [
        "list.csv,2,City,Ulm,\"merged into Alder (its key \"\"a\"\"), which has another value\",",
        "list.csv,3,Name,Alder Sound,\"merged into Alder (its key \"\"a\"\"), which has another name\",",
        "list.csv,3,Land,Atlantis,\"is not a country",
        "list.csv,4,State,dead,is left out by `when` of firm,",
        "list.csv,5,Key,,its key is empty,",
        "list.csv,6,Land,'=1+1,\"is not a country",
        "list.csv,7,Land,,\"is not a country",
    ];
    let mut sorted = rejects.clone();
    sorted.sort();
    let mut wanted: Vec<&str> = expected.to_vec();
    wanted.sort_unstable();
    assert_eq!(sorted.len(), wanted.len(), "{sorted:#?}");
    for (line, wanted) in sorted.iter().zip(wanted) {
        assert!(line.starts_with(wanted), "{line} is not {wanted}");
        assert!(line.len() > wanted.len() && !line.ends_with(','), "{line} has no remedy");
    }
    let most = summary.sections[0].most.as_ref().unwrap();
    assert_eq!((most.rows, &*most.key), (2, "a"));
    let not_used: Vec<(&str, Vec<&str>, bool)> = summary
        .not_used
        .iter()
        .map(|column| (&*column.column, column.values.iter().map(String::as_str).collect(), column.is_private))
        .collect();
    assert_eq!(not_used, [("Owner", vec!["Ana Reed", "Bo Li", "Cy Ito"], false), ("Mail", vec![], true)]);
}

#[test]
fn an_import_of_which_nearly_nothing_is_kept_changes_nothing() {
    let rounds = "[source]\nid = \"s\"\ntitle = \"S\"\nlicense = \"CC0-1.0\"\n[input.list]\nfile = \"list.csv\"\n\
                  [[round]]\nkey = \"Id\"\nstage = { value = \"seed\" }\nstartup = \"Company\"\n";
    for (mapping, list, problem) in [
        (LIST.to_owned(), "Key,Name,State,City,Land\n,A,,,\n,B,,,\nc,C,,,\n", "2 of 3 rows are left out, the first at list.csv:2"),
        (LIST.to_owned(), "Key,Name,State,City,Land\na,,,Ulm,\nb,,,Ulm,\nc,C,,,\n", "2 of 3 records of kind firm have no `name`"),
        (LIST.to_owned(), "Key,Name,State,City,Land\na,A,dead,,\n", "no row became an entity"),
        (LIST.to_owned(), "Key,Name,State,City,Land\na,A,,,\nb,B,,,,x,y\nc,C,,,,x,y\n", "2 of 3 rows of the file cannot be read"),
        (
            format!("{LIST}[input.people]\nfile = \"people.csv\"\n[[person]]\nfrom = \"people\"\nwhen.State = \"live\"\nname = \"Name\"\n")
                .replace("[[firm]]\n", "[[firm]]\nfrom = \"list\"\n"),
            "Key,Name,State,City,Land\na,A,,,\n",
            "input people: none of its 1 rows (people.csv) became a person",
        ),
        (rounds.to_owned(), "Id,Company\n1,alder\n2,birch\n", "startup: 2 values are useless, the first at list.csv:2: \"alder\" in Company"),
        (rounds.replace("startup = \"Company\"\n", "startup = { column = \"No\", create = true }\n"), "Id,No\n1,\n2,\n", "2 of 2 records of kind round have no `startup`"),
    ] {
        let to = tempfile::tempdir().unwrap();
        let sources = to.path().join("sources");
        let files = [("list.csv", list), ("people.csv", "Name,State\nAna Reed,gone\n")];
        let files = if mapping.contains("people.csv") { &files[..] } else { &files[..1] };
        let (summary, _) = imported(&mapping, files, &sources);
        let error = summary.expect_err(problem);
        assert!(error.contains(problem), "{error}");
        assert!(!sources.exists(), "{problem}");
    }
}

#[test]
fn references_to_nothing_and_incomplete_records_are_reported_with_their_lines() {
    let mapping = "[source]\nid = \"s\"\ntitle = \"S\"\nlicense = \"CC0-1.0\"\n[input.rounds]\nfile = \"rounds.csv\"\n\
                   [input.firms]\nfile = \"firms.csv\"\n[[firm]]\nfrom = \"firms\"\nkey = \"Id\"\nname = \"Name\"\n\
                   [[round]]\nfrom = \"rounds\"\nkey = \"Id\"\nstage = \"Stage\"\n\
                   startup = { column = \"Company\", create = true, by = \"name\" }\ninvestors = { column = \"By\", do = [\"split(;)\"] }\n";
    let rounds = "Id,Company,Stage,By\n1,Alder,seed,f1;f2\n2,,seed,f1\n3,Cedar,,f3\n";
    let files = [("rounds.csv", rounds), ("firms.csv", "Id,Name\nf1,Fir\nf2,Gum\n")];
    let to = tempfile::tempdir().unwrap();
    let (summary, rejects) = imported(mapping, &files, to.path());
    let summary = summary.unwrap();
    assert_eq!(summary.incomplete.len(), 1);
    assert!(summary.incomplete[0].first.ends_with("rounds.csv:3: \"2\""), "{:?}", summary.incomplete);
    let investors =
        summary.sections.iter().flat_map(|section| &section.fields).find(|field| field.field == "investors");
    let investors = investors.unwrap();
    assert_eq!((investors.values, investors.dropped[0].count), (3, 1));
    assert!(rejects.iter().any(|line| line.starts_with("rounds.csv,4,By,f3,refers to a firm that")), "{rejects:?}");
    assert!(
        rejects.iter().any(|line| line.starts_with("rounds.csv,3,,2,\"is a round without `startup`")),
        "{rejects:?}"
    );
    // An increment may refer to what the source has.
    let increment = mapping.replace("[input.rounds]", "import = \"increment\"\n[input.rounds]");
    let files = [("rounds.csv", "Id,Company,Stage,By\n4,Dorn,seed,f2;f9\n"), ("firms.csv", "Id,Name\nf7,Hop\n")];
    let (summary, rejects) = imported(&increment, &files, to.path());
    summary.unwrap();
    assert_eq!(rejects.len(), 1, "{rejects:?}");
    assert!(rejects[0].starts_with("rounds.csv,2,By,f9,"), "{rejects:?}");
}

#[test]
fn suspicious_values_are_reported_until_they_are_settled() {
    let list = "Key,Name,State,City,Land\n1,1024,,,\n2,Birch,,,\n3,Cedar,,,\n";
    let to = tempfile::tempdir().unwrap();
    let told = |settled: &str| {
        fs::write(to.path().join("settled.csv"), settled).unwrap();
        let summary = imported(LIST, &[("list.csv", list)], to.path()).0.unwrap();
        summary.suspicions.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let warnings = told("warning,value,note\n");
    assert!(warnings.len() == 1 && warnings[0].starts_with("names without a letter: \"1024\"; check"), "{warnings:?}");
    assert!(warnings[0].ends_with("lines such as \"name-is-number,1024\" in settled.csv"), "{warnings:?}");
    assert_eq!(told("warning,value,note\nname-is-number,1024,a firm\n"), Vec::<String>::new());
}

/// The import itself compares its sums; here for the files of each preset, read as one list of statements.
#[test]
fn the_account_of_every_preset_adds_up() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/import");
    for preset in crate::sources::presets::PRESETS {
        let (to, input) = (tempfile::tempdir().unwrap(), fixtures.join(preset.name).join("input"));
        let rejects = to.path().join("rejects.csv");
        let changes = SourceChanges { rejects: Some(rejects.clone()), ..SourceChanges::default() };
        let import = Import::preset(preset, vec![input]).unwrap().with(changes).unwrap();
        let summary = import.run(to.path(), "2026-11-20".parse().unwrap(), &NoProgress);
        let summary = summary.unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        let lines = fs::read_to_string(&rejects).unwrap().lines().count() - 1;
        let of_files = summary.files.iter().map(|file| summary::total(&file.bad) + file.blank);
        let of_sections = summary.sections.iter().map(|section| {
            let values: u64 = section.fields.iter().map(|field| summary::total(&field.dropped)).sum();
            values + section.counts.without_key
        });
        let least: u64 = of_files.chain(of_sections).sum();
        assert!(summary.rows() > 0 && lines as u64 >= least, "{}: {lines} of {least}", preset.name);
    }
}
