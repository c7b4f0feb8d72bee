//! Facets, co-investors and matches of v3 against a naive computation on the same data.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use auth::quota::Tier;
use catalog::{Catalog, ListPosition};
use data::Table;
use serde_json::{Value, json};

use crate::api::lists::{Naive, rows_of, split};
use crate::support::harness::{Client, Server, bundled, bundled_folder, catalog_of, code, copy_as, real_catalog};

fn total(client: &Client, parameters: &[(&str, &str)]) -> u64 {
    client.list("/api/v3/vcs", parameters).json()["pagination"]["total"].as_u64().unwrap()
}

/// All rows of a v3 list.
fn walk(client: &Client, path: &str, parameters: &[(&str, &str)]) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut page = client.list(path, parameters);
    loop {
        assert_eq!(page.status, 200, "{}", page.text);
        let json = page.json();
        rows.extend(json["data"].as_array().unwrap().iter().cloned());
        let Some(cursor) = json["pagination"]["next_cursor"].as_str() else {
            assert_eq!(json["pagination"]["total"], rows.len());
            return rows;
        };
        let window = parameters.iter().filter(|(name, _)| matches!(*name, "limit" | "fields")).copied();
        page = client.list(path, &window.chain([("cursor", cursor)]).collect::<Vec<_>>());
    }
}

#[test]
fn a_facet_count_equals_the_total_with_one_more_filter() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for filters in [
        vec![],
        vec![("stage", "seed")],
        vec![("stage", "seed,series-a"), ("country", "US,DE")],
        vec![("q", "capital")],
        vec![("q", "capital"), ("min_health_score", "50")],
        vec![("check_usd", "500000"), ("sector", "fintech")],
    ] {
        let reply = client.list("/api/v3/vcs/facets", &filters);
        assert_eq!(reply.status, 200, "{}", reply.text);
        let data = reply.json()["data"].clone();
        assert_eq!(data["total"], total(&client, &filters), "{filters:?}");
        for facet in ["stage", "sector", "country", "kind"] {
            let counted = data[facet].as_array().unwrap();
            assert!(!counted.is_empty(), "{filters:?} {facet}");
            let counts: Vec<u64> = counted.iter().map(|entry| entry["count"].as_u64().unwrap()).collect();
            assert!(counts.is_sorted_by(|a, b| a >= b) && counts.iter().all(|count| *count > 0), "{counts:?}");
            for entry in counted.iter().take(4) {
                let value = entry["value"].as_str().unwrap();
                // A facet's own filter applies to it too.
                let own = filters.iter().find(|(name, _)| *name == facet);
                let expected = match own {
                    None => total(&client, &[filters.clone(), vec![(facet, value)]].concat()),
                    Some((_, chosen)) if chosen.split(',').any(|chosen| chosen == value) => {
                        let others = filters.iter().filter(|(name, _)| *name != facet).copied();
                        total(&client, &others.chain([(facet, value)]).collect::<Vec<_>>())
                    }
                    Some(_) => continue,
                };
                assert_eq!(entry["count"], expected, "{filters:?} {facet}={value}");
            }
        }
    }
    let names = client.get("/api/v3/vcs/facets").json()["data"].clone();
    let germany = names["country"].as_array().unwrap().iter().find(|entry| entry["value"] == "DE").unwrap();
    assert_eq!(germany["name"], "Germany");
    let united: Vec<&Value> = names["country"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
    assert!(united.contains(&&json!("United States")) && united.contains(&&json!("United Kingdom")), "{united:?}");
    assert_eq!(client.get("/api/v3/vcs/facets?q=zzqxj").json()["data"]["stage"], json!([]));
}

#[test]
fn facets_accept_only_filters_and_fields() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let data = client.get("/api/v3/vcs/facets?fields=stage,total").json()["data"].clone();
    assert_eq!(data.as_object().unwrap().keys().collect::<Vec<_>>(), ["stage", "total"]);
    let cut = client.get("/api/v3/vcs/facets?fields=country.value,total").json()["data"]["country"][0].clone();
    assert_eq!(cut.as_object().unwrap().keys().collect::<Vec<_>>(), ["value"]);
    for name in ["sort", "limit", "cursor"] {
        let reply = client.get(&format!("/api/v3/vcs/facets?{name}=name"));
        assert_eq!(code(&reply), (400, "unknown_parameter".into()), "{name}");
        let accepted = reply.json()["errors"][0]["accepted"].clone();
        assert!(!accepted.as_array().unwrap().contains(&name.into()), "{accepted}");
    }
    assert_eq!(code(&client.get("/api/v3/vcs/facets?stage=sede")), (400, "unknown_value".into()));
    assert_eq!(code(&client.get("/api/v3/vcs/facets?fields=stages")), (400, "unknown_field".into()));
    assert_eq!(code(&client.get("/api/v2/vcs/facets")), (404, "not_found".into()));
}

#[test]
fn co_investors_are_firms_that_joined_the_same_rounds() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut shared: HashMap<String, BTreeMap<String, (u64, String)>> = HashMap::new();
    for row in rows_of(&bundled_folder(), "funding_rounds.csv") {
        let firms: BTreeSet<String> =
            split(&row["lead_investors"]).into_iter().chain(split(&row["investors"])).collect();
        for firm in &firms {
            for other in firms.iter().filter(|other| *other != firm) {
                let entry = shared.entry(firm.clone()).or_default().entry(other.clone()).or_default();
                entry.0 += 1;
                entry.1 = entry.1.clone().max(row["announced_on"].clone());
            }
        }
    }
    let mut longest = 0;
    for firm in Naive::read(&bundled_folder()).firms.iter().step_by(7) {
        let mut expected: Vec<(Reverse<u64>, String, String)> = shared
            .get(&firm.slug)
            .into_iter()
            .flatten()
            .map(|(other, (count, last))| (Reverse(*count), other.clone(), last.clone()))
            .collect();
        expected.sort();
        longest = longest.max(expected.len());
        let path = format!("/api/v3/vcs/{}/co-investors", firm.slug);
        let rows = walk(&client, &path, &[("limit", "9"), ("fields", "slug,sharedRounds,lastSharedOn")]);
        let got: Vec<Value> = expected
            .iter()
            .map(|(count, slug, last)| {
                let last = Some(last.as_str()).filter(|last| !last.is_empty());
                json!({ "slug": slug, "shared_rounds": count.0, "last_shared_on": last })
            })
            .collect();
        assert_eq!(rows, got, "{}", firm.slug);
    }
    assert!(longest > 9, "some firm has more than one page of co-investors");
    let row = client.get("/api/v3/vcs/Alder-Capital/co-investors?limit=1").json()["data"][0].clone();
    let firm = client.list("/api/v3/vcs", &[("q", row["name"].as_str().unwrap())]).json()["data"][0].clone();
    for (key, value) in firm.as_object().unwrap() {
        assert_eq!(row[key], *value, "the default fields of a firm");
    }
    assert_eq!(code(&client.get("/api/v3/vcs/alder-capitol/co-investors")), (404, "not_found".into()));
    let unknown = client.get("/api/v3/vcs/alder-capital/co-investors?stage=seed");
    assert_eq!(code(&unknown), (400, "unknown_parameter".into()));
    assert_eq!(unknown.json()["errors"][0]["accepted"], json!(["limit", "cursor", "fields", "snapshot", "as_of"]));
}

/// Compares the first co-investors of every firm with those of its record. Returns the number of firms with a tie at the
/// last of these.
fn compare_first_co_investors(catalog: &Catalog) -> usize {
    let snapshot = catalog.snapshot();
    let field = Table::Firms.field_index("top_co_investors");
    let mut tied = 0;
    for row in 0..snapshot.rows(Table::Firms) {
        let record = snapshot.record(Table::Firms, row);
        let named: Vec<Value> = serde_json::from_slice(record.value(Table::Firms, field)).unwrap();
        let named: Vec<(String, u64)> = named
            .iter()
            .map(|firm| (firm["slug"].as_str().unwrap().to_owned(), firm["shared_rounds"].as_u64().unwrap()))
            .collect();
        let page = catalog.co_investors(row, ListPosition::default(), 6);
        let first: Vec<(String, u64)> = page
            .rows
            .iter()
            .map(|(row, firm)| (snapshot.slug(Table::Firms, *row).to_owned(), u64::from(firm.shared_rounds)))
            .collect();
        assert_eq!(named, first[..first.len().min(5)], "{}", snapshot.slug(Table::Firms, row));
        tied += usize::from(first.len() == 6 && first[4].1 == first[5].1);
    }
    tied
}

#[test]
fn the_first_co_investors_are_those_of_the_firms_record() {
    let tied = compare_first_co_investors(&bundled());
    assert!(tied > 50, "{tied}");
}

#[test]
fn the_first_co_investors_of_the_real_data_are_those_of_the_firms_record() {
    let Some(catalog) = real_catalog() else { return };
    let tied = compare_first_co_investors(&catalog);
    assert!(tied > 1_000, "{tied}");
}

#[test]
fn all_matches_of_a_search_are_counted_and_listed() {
    let folder = copy_as(&bundled_folder(), "2026-11-20.9");
    let place = folder.path().join("firms.csv");
    let mut firms = std::fs::read_to_string(&place).unwrap();
    let country = |number: u32| ["DE", "GB"][number as usize % 2];
    for number in 0..1_001 {
        firms += &format!("quillbrook-{number},Quillbrook {number},,vc,,,{},,,seed,,,,\n", country(number));
    }
    std::fs::write(place, firms).unwrap();
    let server = Server::of(catalog_of(folder.path()));
    let client = server.client(Tier::Enterprise);
    let list = client.get("/api/v3/vcs?q=quillbrook&limit=1").json();
    let facets = client.get("/api/v3/vcs/facets?q=quillbrook&fields=total,country").json();
    assert_eq!((&facets["data"]["total"], &list["pagination"]["total"]), (&json!(1_001), &json!(1_001)));
    let counts = facets["data"]["country"].as_array().unwrap().iter().map(|entry| entry["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 1_001);
    for query in ["q=quillbrook", "q=quillbrook&country=DE", "q=stonecrop", "country=DE", ""] {
        let meta = client.get(&format!("/api/v3/vcs/facets?{query}")).json()["meta"].clone();
        assert!(meta.get("warnings").is_none(), "{query}: {meta}");
    }
}

const LADDER: [&str; 7] = ["pre-seed", "seed", "series-a", "series-b", "series-c", "series-d-plus", "growth"];

/// What a startup looks for.
type MatchRequest<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>, Option<u64>);

/// The points of a firm for each reason of a request, computed from its record and the CSV files.
fn points(record: &Value, naive: &Naive, request: MatchRequest<'_>, newest: i64) -> Vec<(&'static str, u64, u64)> {
    let (stage, sector, country, raise) = request;
    let list = |key: &str| -> Vec<String> {
        record[key].as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned()).collect()
    };
    let mut points = Vec::new();
    if let Some(stage) = stage {
        let stages = list("stages");
        let place = LADDER.iter().position(|known| *known == stage).unwrap();
        let near = stages.iter().filter_map(|own| LADDER.iter().position(|known| known == own));
        let near = near.into_iter().any(|own| own.abs_diff(place) == 1);
        points.push(("stage", if stages.iter().any(|own| own == stage) { 25 } else { 10 * u64::from(near) }, 25));
    }
    if let Some(sector) = sector {
        let all: BTreeSet<String> = list("sectors").iter().flat_map(|own| naive.lineage[own].clone()).collect();
        let parent = naive.parents.get(sector).filter(|parent| !parent.is_empty());
        let near = parent.is_some_and(|parent| all.contains(parent));
        points.push(("sector", if all.contains(sector) { 30 } else { 12 * u64::from(near) }, 30));
    }
    if let Some(country) = country {
        points.push(("country", 10 * u64::from(record["country"] == country), 10));
    }
    if let Some(raise) = raise {
        let (min, max) = (record["check_min_usd"].as_u64(), record["check_max_usd"].as_u64());
        let fits = (min.is_some() || max.is_some())
            && min.is_none_or(|min| min <= raise)
            && max.is_none_or(|max| max as f64 >= raise as f64 / 10.0);
        points.push(("check_size", 15 * u64::from(fits), 15));
    }
    let age = record["last_investment_on"].as_str().map(|date| newest - days(date));
    points.push(("activity", age.map_or(0, |age| if age <= 365 { 10 } else { 5 * u64::from(age <= 730) }), 10));
    let answered = record["ghosting_rate"].as_f64().map_or(0.0, |rate| (100.0 - rate) / 10.0);
    points.push(("responsiveness", (answered + 0.5 + 1e-9).floor() as u64, 10));
    points
}

fn days(date: &str) -> i64 {
    i64::from(date.parse::<data::Date>().unwrap().days())
}

#[test]
fn a_match_has_the_points_of_the_published_rules() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let naive = Naive::read(&bundled_folder());
    let firms = walk(&client, "/api/v3/vcs", &[("limit", "100")]);
    let snapshot = client.get("/api/v3/snapshots").json()["data"][0].clone();
    let released_on = snapshot["released_on"].as_str().unwrap();
    let rounds = rows_of(&bundled_folder(), "funding_rounds.csv");
    let dates = rounds.iter().map(|round| round["announced_on"].as_str());
    let newest = days(dates.filter(|date| !date.is_empty() && *date <= released_on).max().unwrap());
    let narrow = naive.lineage.keys().filter(|slug| !naive.parents.values().any(|parent| parent == *slug));
    let narrow = narrow.filter(|slug| naive.lineage[*slug].len() > 1).min().unwrap();
    let request: [MatchRequest<'_>; 7] = [
        (Some("seed"), Some("fintech"), Some("DE"), Some(2_000_000)),
        (Some("series-a"), Some(narrow), Some("US"), Some(12_345_678)),
        (Some("growth"), None, None, None),
        (None, Some(narrow), None, Some(100)),
        (None, None, Some("GB"), None),
        (None, None, Some("FR"), Some(900_001)),
        (None, None, None, Some(5_000_000)),
    ];
    for request in request {
        let (stage, sector, country, raise) = request;
        let raise_text = raise.map(|raise| raise.to_string());
        let given = [("stage", stage), ("sector", sector), ("country", country), ("raise_usd", raise_text.as_deref())];
        let mut parameters: Vec<(&str, &str)> =
            given.iter().filter_map(|(name, value)| value.map(|value| (*name, value))).collect();
        parameters.push(("limit", "17"));
        let rows = walk(&client, "/api/v3/match", &parameters);
        let mut expected = Vec::new();
        for record in &firms {
            let points = points(record, &naive, request, newest);
            let of = |name: &str| points.iter().find(|(known, ..)| *known == name).map(|(_, points, _)| *points);
            let fits = match (of("stage"), of("sector")) {
                (None, None) => of("country").unwrap_or(0) + of("check_size").unwrap_or(0) > 0,
                (stage, sector) => stage != Some(0) && sector != Some(0),
            };
            if fits {
                expected.push((record["slug"].clone(), points));
            }
        }
        // The list of firms is in the default order, which the stable sort keeps for ties.
        expected.sort_by_key(|(_, points)| Reverse(points.iter().map(|(_, points, _)| points).sum::<u64>()));
        assert!(!expected.is_empty(), "{request:?}");
        let got: Vec<Value> = rows.iter().map(|row| row["slug"].clone()).collect();
        assert_eq!(got, expected.iter().map(|(slug, _)| slug.clone()).collect::<Vec<_>>(), "{request:?}");
        for (row, (_, points)) in rows.iter().zip(&expected) {
            let reasons = row["reasons"].as_array().unwrap();
            let told: Vec<(&str, u64, u64)> = reasons
                .iter()
                .map(|reason| {
                    let number = |key: &str| reason[key].as_u64().unwrap();
                    assert!(!reason["detail"].as_str().unwrap().is_empty(), "{reason}");
                    (reason["name"].as_str().unwrap(), number("points"), number("max_points"))
                })
                .collect();
            assert_eq!(told, *points, "{request:?} {row}");
            assert_eq!(row["points"], points.iter().map(|(_, points, _)| points).sum::<u64>());
            assert_eq!(row["max_points"], points.iter().map(|(.., most)| most).sum::<u64>());
        }
    }
}

#[test]
fn a_match_names_conflicting_startups() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let naive = Naive::read(&bundled_folder());
    let mut found = 0;
    for sector in naive.lineage.keys() {
        let is_narrow = !naive.parents.values().any(|parent| parent == sector);
        for row in
            client.list("/api/v3/match", &[("sector", sector), ("limit", "10")]).json()["data"].as_array().unwrap()
        {
            let investor = row["slug"].as_str().unwrap();
            let backed =
                walk(&client, "/api/v3/startups", &[("investor", investor), ("sector", sector), ("limit", "100")]);
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
