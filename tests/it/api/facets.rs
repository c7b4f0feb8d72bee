//! `GET /vcs/facets` against the totals of lists.

use auth::quota::Tier;
use serde_json::{Value, json};

use crate::support::harness::{Client, Server, catalog_of, code, copy_with_few_reviews};

fn total(client: &Client, parameters: &[(&str, &str)]) -> u64 {
    client.list("/api/v3/vcs", parameters).json()["pagination"]["total"].as_u64().unwrap()
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
fn all_matches_of_a_search_are_counted_and_listed() {
    let folder = copy_with_few_reviews("2026-11-20.9");
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
