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
                   [[round]]\nkey = \"ID\"\nstage = { value = \"seed\" }\nannounced_on = \"DAY\"\n\
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
