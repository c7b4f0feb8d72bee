//! Every parameter of every list in every version: what is good, what is bad, what is unknown.

use serde_json::Value;
use venturedex::catalog::Resource;
use venturedex::catalog::params::{ParamType, Parameter};
use venturedex::data::Table;
use venturedex::quota::Tier;

use crate::harness::{Client, Reply, Server};

/// What a parameter is tried with.
struct Trial {
    /// It takes these.
    good: Vec<String>,
    /// These are not of its type or range.
    bad: &'static [&'static str],
    /// This is not in its vocabulary, and this is what is offered instead.
    unknown: Option<(String, Option<String>)>,
}

/// The trial of a parameter: by its kind, so that a parameter that is added is tried too.
fn trial(server: &Server, parameter: &Parameter) -> Trial {
    let catalog = server.state.live.current();
    let snapshot = catalog.snapshot();
    let words = |good: &[&str], unknown: &str, meant: &str| Trial {
        good: good.iter().map(|word| (*word).to_owned()).collect(),
        bad: &[],
        unknown: Some((unknown.to_owned(), Some(meant.to_owned()))),
    };
    let numbers = |good: &[&str], bad: &'static [&'static str]| Trial {
        good: good.iter().map(|word| (*word).to_owned()).collect(),
        bad,
        unknown: None,
    };
    // One letter too many.
    let row = |table: Table| {
        let (slug, name) = (snapshot.slug(table, 3), snapshot.name(table, 3));
        words(&[slug, &slug.to_uppercase(), name], &format!("{slug}x"), slug)
    };
    match parameter.kind {
        ParamType::Text => Trial { good: vec!["capital".to_owned(), "\u{fc}".repeat(200)], bad: &[], unknown: None },
        ParamType::Stages => words(&["Series A", "series_a", "a", "seed,growth", "D+"], "sede", "seed"),
        ParamType::FirmKinds => words(&["vc", "Family Office,bank"], "acelerator", "accelerator"),
        ParamType::StartupStatuses => words(&["operating", "Acquired"], "operatign", "operating"),
        ParamType::ReviewStatuses => words(&["approved", "pending", "rejected"], "aproved", "approved"),
        ParamType::OrganizationKinds => words(&["firm", "Startup"], "frim", "firm"),
        ParamType::Sectors(_) => row(Table::Sectors),
        ParamType::Countries => words(&["DE", "deu", "Germany", "Korea, Republic of", "UK"], "Germny", "DE"),
        ParamType::Cities => {
            let folded = snapshot.cities().next().unwrap();
            let city = snapshot.city_name(0).unwrap();
            words(&[folded, &city, &city.to_uppercase()], &format!("{folded}x"), &city)
        }
        ParamType::Firms(_) | ParamType::Organizations => row(Table::Firms),
        ParamType::Startups(_) => row(Table::Startups),
        ParamType::MinHealthScore => numbers(&["0", "100"], &["101", "-1", "high", "1e2", "99999999999999999999999"]),
        ParamType::MaxGhostingRate => numbers(&["0", "12.5", "100", "20%"], &["101", "-1", "lots", "NaN"]),
        ParamType::MinReviews => numbers(&["0", "3", "4294967295"], &["4294967296", "-3", "many", "+3"]),
        ParamType::CheckUsd | ParamType::MinAmountUsd => {
            numbers(&["0", "5000000"], &["5m", "$5", "-5", "1.5", "9007199254740992", "99999999999999999999999"])
        }
        ParamType::RaiseUsd => numbers(&["1", "5000000"], &["0", "5m", "99999999999999999999999"]),
        ParamType::MinRating => numbers(&["1", "5"], &["0", "6", "good"]),
        ParamType::ActiveSince | ParamType::Since | ParamType::Until => {
            numbers(&["2024-01-31"], &["31.01.2024", "2024-02-30", "2024-1-1", "yesterday"])
        }
        ParamType::Ghosted => numbers(&["true", "NO", "1"], &["maybe", "2"]),
        ParamType::Metric => words(&["activity", "Value Add"], "activty", "activity"),
        // Tried apart: the keys differ between lists.
        ParamType::Sort => Trial { good: Vec::new(), bad: &[], unknown: Some(("zzqx".to_owned(), None)) },
    }
}

fn versions(resource: Resource) -> &'static [&'static str] {
    match resource {
        Resource::Firms | Resource::Reviews | Resource::Sectors | Resource::Leaderboard => &["v1", "v2", "v3"],
        _ => &["v3"],
    }
}

fn path(version: &str, resource: Resource) -> String {
    format!("/api/{version}/{}", resource.path())
}

/// The lists whose parameters stand in the address' query; those of co-investors are given by the path.
fn lists() -> impl Iterator<Item = (Resource, &'static str)> {
    let lists = Resource::ALL.into_iter().filter(|resource| *resource != Resource::CoInvestors);
    lists.flat_map(|resource| versions(resource).iter().map(move |version| (resource, *version)))
}

fn is_refused(reply: &Reply, code: &str, parameter: &str, what: &str) -> Value {
    assert_eq!(reply.status, 400, "{what}: {}", reply.text);
    let json = reply.json();
    assert_eq!(json["code"], code, "{what}: {json}");
    let error = json["errors"][0].clone();
    assert_eq!((&error["parameter"], &error["code"]), (&parameter.into(), &code.into()), "{what}: {json}");
    assert!(json["detail"].as_str().unwrap().contains(&format!("`{parameter}`")), "{what}: {json}");
    error
}

fn is_warned(reply: &Reply, code: &str, parameter: &str, what: &str) -> Value {
    assert_eq!(reply.status, 200, "{what}: {}", reply.text);
    let warning = reply.json()["meta"]["warnings"][0].clone();
    assert_eq!((&warning["parameter"], &warning["code"]), (&parameter.into(), &code.into()), "{what}: {}", reply.text);
    warning
}

fn told(reply: &Reply, version: &str, code: &str, parameter: &str, what: &str) -> Value {
    match version {
        "v3" => is_refused(reply, code, parameter, what),
        _ => is_warned(reply, code, parameter, what),
    }
}

/// Asks with one parameter, and with one more where a list wants at least one that is good.
fn ask(client: &Client, path: &str, name: &str, value: &str) -> Reply {
    client.list(path, &[(name, value), ("limit", "1")])
}

#[test]
fn every_parameter_takes_what_is_good_under_each_of_its_names() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (resource, version) in lists() {
        let path = path(version, resource);
        for parameter in resource.parameters() {
            for name in std::iter::once(&parameter.name).chain(parameter.aliases) {
                let mut good = trial(&server, parameter).good;
                if parameter.kind == ParamType::Sort {
                    let keys = resource.table().sort_keys();
                    good.extend(keys.iter().flat_map(|key| [(*key).to_owned(), format!("-{}", key.to_uppercase())]));
                    good.push(keys.join(",-"));
                }
                for good in good {
                    let reply = ask(&client, &path, name, &good);
                    assert_eq!(reply.status, 200, "{path} {name}={good}: {}", reply.text);
                    assert!(reply.json()["meta"].get("warnings").is_none(), "{path} {name}={good}: {}", reply.text);
                }
            }
        }
    }
}

#[test]
fn every_parameter_refuses_what_is_bad_and_says_what_it_takes() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (resource, version) in lists() {
        let path = path(version, resource);
        for parameter in resource.parameters() {
            for bad in trial(&server, parameter).bad {
                let what = format!("{path} {}={bad}", parameter.name);
                let error =
                    is_refused(&ask(&client, &path, parameter.name, bad), "invalid_parameter", parameter.name, &what);
                let detail = error["detail"].as_str().unwrap();
                assert!(detail.starts_with(&format!("`{bad}` is ")), "{what}: {detail}");
                let mends = ["from ", "form YYYY-MM-DD", "`true` nor `false`"];
                assert!(mends.iter().any(|mend| detail.contains(mend)), "{what}: {detail}");
            }
            let many = vec!["x"; 101].join(",");
            let (given, other): (&str, &str) = match parameter.kind {
                ParamType::Text => ("alpha", "beta"),
                ParamType::Metric => ("activity", "fairness"),
                ParamType::Sort => continue,
                _ if trial(&server, parameter).bad.is_empty() => (&many, "x"),
                ParamType::Ghosted => ("true", "false"),
                ParamType::ActiveSince | ParamType::Since | ParamType::Until => ("2024-01-31", "2024-02-01"),
                _ => ("4", "5"),
            };
            let reply = client.list(&path, &[(parameter.name, given), (parameter.name, other)]);
            let what = format!("{path} {} twice", parameter.name);
            let error = is_refused(&reply, "invalid_parameter", parameter.name, &what);
            assert!(error["detail"].as_str().unwrap().contains("takes"), "{what}: {error}");
        }
    }
}

#[test]
fn an_unknown_value_is_told_with_what_was_probably_meant() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (resource, version) in lists() {
        let path = path(version, resource);
        for parameter in resource.parameters() {
            let Some((unknown, meant)) = trial(&server, parameter).unknown else { continue };
            let what = format!("{path} {}={unknown}", parameter.name);
            let reply = ask(&client, &path, parameter.name, &unknown);
            let error = told(&reply, version, "unknown_value", parameter.name, &what);
            assert!(error["detail"].as_str().unwrap().contains(&format!("`{unknown}`")), "{what}: {error}");
            if let Some(meant) = meant {
                assert_eq!(error["did_you_mean"], meant, "{what}");
            } else {
                assert!(!error["accepted"].as_array().unwrap().is_empty(), "{what}");
            }
        }
    }
}

#[test]
fn an_unknown_parameter_is_told_with_what_was_probably_meant_and_all_that_is_accepted() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (resource, version) in lists() {
        let path = path(version, resource);
        let base = if resource == Resource::Match { "stage=seed&" } else { "" };
        for parameter in resource.parameters() {
            let name = format!("{}x", parameter.name);
            let reply = client.get(&format!("{path}?{base}{name}=1"));
            let error = told(&reply, version, "unknown_parameter", &name, &path);
            let accepted: Vec<&str> = error["accepted"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            assert!(resource.parameters().iter().all(|parameter| accepted.contains(&parameter.name)), "{path} {error}");
            assert!(accepted.contains(&"limit"), "{path} {error}");
            if name.len() > 2 {
                assert_eq!(error["did_you_mean"], parameter.name, "{path} {name}");
            }
        }
        assert_eq!(client.get(&format!("{path}?{base}utm_source=x&_=1")).status, 200, "{path}");
    }
}

#[test]
fn the_window_is_read_and_refused_alike_everywhere() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (resource, version) in lists() {
        let path = path(version, resource);
        let base = if resource == Resource::Match { "stage=seed&" } else { "" };
        let get = |query: &str| client.get(&format!("{path}?{base}{query}"));
        for name in ["limit", if version == "v1" { "offset" } else { "page" }] {
            if version == "v3" && name != "limit" {
                continue;
            }
            for bad in ["-1", "ten", "1.5", "%2B3"] {
                let reply = get(&format!("{name}={bad}"));
                is_refused(&reply, "invalid_parameter", name, &format!("{path} {name}={bad}"));
            }
        }
        is_refused(&get("limit=0"), "invalid_parameter", "limit", &path);
        let clamped = is_warned(&get("limit=99999999999999999999999"), "limit_clamped", "limit", &path);
        assert!(clamped["detail"].as_str().unwrap().contains("100"), "{clamped}");
        assert_eq!(get("limit=5000").json()["pagination"]["limit"], 100);
        assert_eq!(get("limit=").json()["pagination"]["limit"], 20);
        match version {
            "v1" => assert_eq!(get("offset=99999999999999999999999").json()["data"], Value::Array(Vec::new())),
            "v2" => assert_eq!(get("page=99999999999999999999999").json()["data"], Value::Array(Vec::new())),
            _ => {
                is_refused_by_cursor(&get("cursor=zzqx"), &path);
                is_refused(&get("fields=slugg"), "unknown_field", "fields", &path);
            }
        }
    }
}

fn is_refused_by_cursor(reply: &Reply, what: &str) {
    assert_eq!((reply.status, &reply.json()["code"]), (400, &"invalid_cursor".into()), "{what}: {}", reply.text);
}
