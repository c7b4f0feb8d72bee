//! `GET /match` against counts from the CSV files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use auth::quota::Tier;
use serde_json::{Value, json};

use crate::api::vcs::walk;
use crate::support::harness::{Client, Server, bundled_folder, code};
use crate::support::naive::{Naive, rows_of};

/// A funding round with what it says of its startup.
struct Deal {
    stage: String,
    /// With all ancestors.
    sectors: BTreeSet<String>,
    country: String,
    investors: BTreeSet<String>,
}

fn deals(naive: &Naive) -> Vec<Deal> {
    let split =
        |text: &str| -> Vec<String> { text.split('|').filter(|part| !part.is_empty()).map(str::to_owned).collect() };
    let startups = rows_of(&bundled_folder(), "startups.csv");
    let startups: HashMap<&str, &HashMap<String, String>> =
        startups.iter().map(|row| (row["slug"].as_str(), row)).collect();
    let deal = |round: &HashMap<String, String>| {
        let startup = startups[round["startup"].as_str()];
        let own = split(&startup["sectors"]);
        Deal {
            stage: round["stage"].clone(),
            sectors: own.iter().flat_map(|sector| naive.lineage[sector].clone()).collect(),
            country: startup["country"].clone(),
            investors: split(&round["investors"]).into_iter().chain(split(&round["lead_investors"])).collect(),
        }
    };
    rows_of(&bundled_folder(), "funding_rounds.csv").iter().map(deal).collect()
}

/// Number of investments by firm that meet a condition.
fn counts(deals: &[Deal], meets: impl Fn(&Deal) -> bool) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for deal in deals.iter().filter(|deal| meets(deal)) {
        deal.investors.iter().for_each(|firm| *counts.entry(firm.as_str()).or_default() += 1);
    }
    counts
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

const REQUESTS: [[(&str, &str); 4]; 7] = [
    [("stage", "seed"), ("sector", "fintech"), ("country", "DE"), ("raise_usd", "2000000")],
    [("stage", "series-a"), ("sector", "health,fintech"), ("country", "US,GB"), ("raise_usd", "12345678")],
    [("stage", "growth"), ("sector", ""), ("country", ""), ("raise_usd", "")],
    [("stage", ""), ("sector", "health"), ("country", ""), ("raise_usd", "100")],
    [("stage", ""), ("sector", ""), ("country", "GB"), ("raise_usd", "")],
    [("stage", "pre-seed,seed"), ("sector", "enterprise-software"), ("country", "FR"), ("raise_usd", "900001")],
    [("stage", "seed"), ("sector", "climate"), ("country", "US"), ("raise_usd", "")],
];

#[test]
fn the_counts_of_a_match_are_those_of_the_rounds() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let naive = Naive::read(&bundled_folder());
    let deals = deals(&naive);
    let all = counts(&deals, |_| true);
    let mut checked = 0;
    for request in REQUESTS {
        let given: Vec<(&str, &str)> = request.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        let values = |name: &str| -> Vec<&str> {
            given.iter().filter(|(known, _)| *known == name).flat_map(|(_, values)| values.split(',')).collect()
        };
        let (stages, sectors, countries) = (values("stage"), values("sector"), values("country"));
        let expected = [
            ("stage", counts(&deals, |deal| stages.contains(&deal.stage.as_str()))),
            ("sector", counts(&deals, |deal| sectors.iter().any(|sector| deal.sectors.contains(*sector)))),
            ("country", counts(&deals, |deal| countries.contains(&deal.country.as_str()))),
            ("activity", all.clone()),
        ];
        let mut parameters = given.clone();
        parameters.push(("limit", "17"));
        let rows = walk(&client, "/api/v3/match", &parameters);
        let mut before = (0, u64::MAX);
        for row in &rows {
            let firm = text(row, "slug");
            let reasons = row["reasons"].as_array().unwrap();
            let number = |reason: &Value, key: &str| reason[key].as_u64().unwrap();
            for (name, counts) in &expected {
                let Some(reason) = reasons.iter().find(|reason| reason["name"] == *name) else { continue };
                let count = counts.get(firm).copied().unwrap_or(0);
                assert_eq!(number(reason, "investments"), count, "{given:?} {firm} {reason}");
                if all.contains_key(firm) && *name != "activity" {
                    assert_eq!(number(reason, "points") > 0, count > 0, "{given:?} {firm} {reason}");
                }
                if count > 1 {
                    assert!(text(reason, "detail").contains(&count.to_string()), "{reason}");
                }
                checked += 1;
            }
            let names: Vec<&str> = reasons.iter().map(|reason| text(reason, "name")).collect();
            let sum = |key: &str| reasons.iter().map(|reason| number(reason, key)).sum::<u64>();
            assert_eq!((&row["points"], sum("max_points")), (&json!(sum("points")), 1_000), "{row}");
            assert_eq!(row["max_points"], 1_000);
            assert!(reasons.iter().all(|reason| number(reason, "points") <= number(reason, "max_points")), "{row}");
            // Firms that meet all conditions come first, each part in order of points.
            let required = ["stage", "sector", "country"];
            let lacks = |reason: &&Value| required.contains(&text(reason, "name")) && number(reason, "points") == 0;
            let missing: Vec<&str> = reasons.iter().filter(lacks).map(|reason| text(reason, "name")).collect();
            assert_eq!(row["missing"], json!(missing), "{row}");
            let place = (u8::from(!missing.is_empty()), row["points"].as_u64().unwrap());
            assert!(
                before.0 < place.0 || (before.0 == place.0 && before.1 >= place.1),
                "{given:?} {before:?} {place:?}"
            );
            before = place;
            assert_eq!(names.last(), Some(&"activity"));
            assert!(!text(row, "summary").is_empty());
        }
        // A firm with an investment that meets all conditions is listed, unless it is the same as a more prominent one.
        let met: Vec<&BTreeMap<&str, u64>> = expected
            .iter()
            .filter(|(name, _)| given.iter().any(|(known, _)| known == name))
            .map(|(_, counts)| counts)
            .collect();
        let complete = all.keys().filter(|firm| met.iter().all(|counts| counts.contains_key(*firm))).count();
        let listed = rows.iter().filter(|row| row["missing"] == json!([])).count();
        assert!(listed * 10 >= complete * 9, "{given:?} {listed} of {complete}");
    }
    assert!(checked > 1_000, "{checked}");
}

#[test]
fn counts_deals_and_amounts_are_those_of_the_lists() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let total = |filters: &[(&str, &str)]| {
        client.list("/api/v3/funding-rounds", filters).json()["pagination"]["total"].as_u64().unwrap()
    };
    let city = client.get("/api/v3/startups/aggregate?group_by=city&limit=1").json()["data"]["groups"][0]["values"][0]
        ["value"]
        .as_str()
        .unwrap()
        .to_owned();
    let given = [("stage", "seed"), ("city", city.as_str()), ("raise_usd", "2000000"), ("limit", "20")];
    let rows = client.list("/api/v3/match", &given).json()["data"].clone();
    for row in rows.as_array().unwrap() {
        let firm = text(row, "slug");
        let count = |name: &str| {
            let reasons = row["reasons"].as_array().unwrap();
            reasons.iter().find(|reason| reason["name"] == name).unwrap()["investments"].as_u64().unwrap()
        };
        assert_eq!(count("city"), total(&[("investor", firm), ("city", &city)]), "{firm}");
        let near = [("investor", firm), ("min_amount_usd", "666667"), ("max_amount_usd", "6000000")];
        assert_eq!(count("amount"), total(&near), "{firm}");
        let deals = row["deals"].as_array().unwrap();
        assert!(!deals.is_empty() && deals.len() <= 3, "{row}");
        for deal in deals {
            let round = client.get(&format!("/api/v3/funding-rounds/{}", text(deal, "id"))).json()["data"].clone();
            for key in ["startup", "stage", "amount_usd", "announced_on"] {
                assert_eq!(deal[key], round[key], "{firm}");
            }
            let investors = round["investors"].as_array().unwrap();
            assert!(investors.iter().any(|investor| investor["slug"] == firm), "{firm} {round}");
        }
    }
}

/// The requests of many startups of the data.
fn briefs(client: &Client) -> Vec<String> {
    let startups = client.get("/api/v3/startups?known=country,sector&limit=60").json()["data"].clone();
    let brief = |startup: &Value| {
        let sector = startup["sectors"][0].as_str().unwrap();
        format!("stage=seed&sector={sector}&country={}&raise_usd=2000000", text(startup, "country"))
    };
    startups.as_array().unwrap().iter().map(brief).collect()
}

#[test]
fn points_tell_firms_apart() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let (mut few, mut all) = (0, 0);
    for brief in briefs(&client) {
        let rows = client.get(&format!("/api/v3/match?{brief}&limit=25")).json()["data"].clone();
        let points: BTreeSet<u64> =
            rows.as_array().unwrap().iter().map(|row| row["points"].as_u64().unwrap()).collect();
        few += usize::from(points.len() < 15);
        all += 1;
    }
    assert!(few * 20 <= all, "{few} of {all}");
}

#[test]
fn a_startup_brings_its_profile_and_its_investors_introduce() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let startups =
        client.get("/api/v3/startups?known=investor,country,sector&stage=seed&limit=20").json()["data"].clone();
    let mut introduced = 0;
    for startup in startups.as_array().unwrap() {
        let slug = text(startup, "slug");
        let own: Vec<&str> =
            startup["investors"].as_array().unwrap().iter().map(|investor| text(investor, "slug")).collect();
        let rows = client.get(&format!("/api/v3/match?startup={slug}&limit=50")).json()["data"].clone();
        let rows = rows.as_array().unwrap();
        assert!(!rows.is_empty(), "{slug}");
        for row in rows {
            assert!(!own.contains(&text(row, "slug")), "{slug} {row}");
            let names: Vec<&str> =
                row["reasons"].as_array().unwrap().iter().map(|reason| text(reason, "name")).collect();
            for name in ["stage", "sector", "country", "backers"] {
                assert!(names.contains(&name), "{slug} {names:?}");
            }
            for introduction in row["introductions"].as_array().unwrap() {
                let backer = text(&introduction["firm"], "slug");
                assert!(own.contains(&backer));
                let both = [("investor_all", format!("{backer},{}", text(row, "slug")))];
                let both = both.each_ref().map(|(name, value)| (*name, value.as_str()));
                let total = client.list("/api/v3/funding-rounds", &both).json()["pagination"]["total"].clone();
                assert_eq!(introduction["shared_rounds"], total, "{slug} {row}");
                introduced += 1;
            }
            assert!(row["conflicts"].as_array().unwrap().iter().all(|conflict| conflict["startup"]["slug"] != slug));
        }
    }
    assert!(introduced > 0, "the bundled data has such backers");
}

#[test]
fn firms_are_chosen_by_kind_and_left_out_by_name() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let all = walk(&client, "/api/v3/match", &[("stage", "seed"), ("sector", "fintech"), ("limit", "100")]);
    let kinds = walk(
        &client,
        "/api/v3/match",
        &[("stage", "seed"), ("sector", "fintech"), ("kind", "accelerator"), ("limit", "100")],
    );
    let slugs = |rows: &[Value]| -> Vec<String> { rows.iter().map(|row| text(row, "slug").to_owned()).collect() };
    let accelerators: Vec<Value> = all.iter().filter(|row| row["kind"] == "accelerator").cloned().collect();
    assert!(!kinds.is_empty() && kinds.len() < all.len());
    assert!(slugs(&accelerators).iter().all(|slug| slugs(&kinds).contains(slug)));
    let without = [("stage", "seed"), ("sector", "fintech"), ("not_kind", "accelerator"), ("limit", "100")];
    let unknown = all.iter().filter(|row| row["kind"].is_null()).count();
    assert_eq!(walk(&client, "/api/v3/match", &without).len() + kinds.len() + unknown, all.len());
    let first = text(&all[0], "slug");
    let others = walk(
        &client,
        "/api/v3/match",
        &[("stage", "seed"), ("sector", "fintech"), ("not_firm", first), ("limit", "100")],
    );
    assert_eq!(slugs(&others).len(), all.len() - 1);
    assert!(!slugs(&others).contains(&first.to_owned()));
    let described = client.get("/api/v3/match?text=payments&limit=5").json();
    let reasons = described["data"][0]["reasons"].as_array().unwrap();
    assert_eq!(reasons[0]["name"], "similar_startups", "{described}");
}

#[test]
fn conflicts_are_close_startups() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let naive = Naive::read(&bundled_folder());
    let startups = rows_of(&bundled_folder(), "startups.csv");
    let mut found = 0;
    for sector in naive.lineage.keys() {
        let within = startups.iter().filter(|row| {
            row["sectors"].split('|').any(|own| naive.lineage.get(own).is_some_and(|line| line.contains(sector)))
        });
        let is_narrow =
            !naive.parents.values().any(|parent| parent == sector) && within.count() * 200 <= startups.len();
        for row in
            client.list("/api/v3/match", &[("sector", sector), ("country", "US"), ("limit", "10")]).json()["data"]
                .as_array()
                .unwrap()
        {
            let investor = text(row, "slug");
            let backed = [("investor", investor), ("sector", sector), ("country", "US"), ("limit", "100")];
            let backed = walk(&client, "/api/v3/startups", &backed);
            let open: Vec<&Value> = backed.iter().filter(|startup| startup["status"] != "closed").collect();
            let expected = if is_narrow { open.len() } else { 0 };
            assert_eq!(row["conflict_count"], expected, "{sector} {investor}");
            let named = row["conflicts"].as_array().unwrap();
            assert_eq!(named.len(), expected.min(5));
            for conflict in named {
                assert_eq!(conflict["sector"], **sector);
                assert!(open.iter().any(|startup| startup["slug"] == conflict["startup"]["slug"]), "{conflict}");
            }
            found += named.len();
        }
    }
    assert!(found > 0, "the bundled data has such startups");
}

#[test]
fn a_match_requires_a_parameter() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for query in ["", "?limit=3"] {
        let reply = client.get(&format!("/api/v3/match{query}"));
        assert_eq!(code(&reply), (400, "invalid_parameter".into()), "{query}");
        assert!(reply.json()["detail"].as_str().unwrap().contains("`raise_usd`"), "{}", reply.text);
    }
    assert_eq!(code(&client.get("/api/v3/match?stage=sede")), (400, "unknown_value".into()));
    assert_eq!(code(&client.get("/api/v3/match?stage=seed&sort=name")), (400, "unknown_parameter".into()));
    assert_eq!(code(&client.get("/api/v2/match?stage=seed")), (404, "unknown_route".into()));
    let row =
        client.get("/api/v3/match?stage=seed&limit=1&fields=slug,reasons.name,conflictCount").json()["data"][0].clone();
    assert_eq!(row.as_object().unwrap().keys().collect::<Vec<_>>(), ["conflict_count", "reasons", "slug"]);
    assert_eq!(row["reasons"][0], json!({ "name": "stage" }));
}
