//! Every parameter of every list in every version with valid, invalid and unknown values.

use serde_json::Value;
use venturedex::catalog::Resource;
use venturedex::catalog::params::{ParamType, Parameter};
use venturedex::data::Table;
use venturedex::quota::Tier;

use crate::harness::{Client, Reply, Server};

/// The values that a parameter is tested with.
struct Cases {
    /// Valid values.
    good: Vec<String>,
    /// Values of the wrong type or out of range.
    bad: &'static [&'static str],
    /// A value that is not in its vocabulary, and the suggestion for it.
    unknown: Option<(String, Option<String>)>,
}

/// The cases of a parameter, by its type, so that new parameters are tested too.
fn cases(server: &Server, parameter: &Parameter) -> Cases {
    let catalog = server.state.releases.current();
    let snapshot = catalog.snapshot();
    let words = |good: &[&str], unknown: &str, suggestion: &str| Cases {
        good: good.iter().map(|word| (*word).to_owned()).collect(),
        bad: &[],
        unknown: Some((unknown.to_owned(), Some(suggestion.to_owned()))),
    };
    let numbers = |good: &[&str], bad: &'static [&'static str]| Cases {
        good: good.iter().map(|word| (*word).to_owned()).collect(),
        bad,
        unknown: None,
    };
    // A typo: one letter too many.
    let row = |table: Table| {
        let (slug, name) = (snapshot.slug(table, 3), snapshot.name(table, 3));
        words(&[slug, &slug.to_uppercase(), name], &format!("{slug}x"), slug)
    };
    let usd: &'static [&'static str] = &["5m", "$5", "-5", "1.5", "9007199254740992", "99999999999999999999999"];
    match (parameter.kind, parameter.name) {
        (ParamType::Text, _) => numbers(&["capital", &"\u{fc}".repeat(200)], &[]),
        (ParamType::Terms(terms, _), _) => match terms.noun {
            "stage" => words(&["Series A", "series_a", "a", "seed,growth", "D+"], "sede", "seed"),
            "kind" => words(&["vc", "Family Office,bank"], "acelerator", "accelerator"),
            "organization_kind" => words(&["firm", "Startup"], "frim", "firm"),
            _ if (terms.names)().contains(&"acquired") => words(&["operating", "Acquired"], "operatign", "operating"),
            _ => words(&["approved", "pending", "rejected"], "aproved", "approved"),
        },
        (ParamType::Countries, _) => words(&["DE", "deu", "Germany", "Korea, Republic of", "UK"], "Germny", "DE"),
        (ParamType::Cities, _) => {
            let folded = snapshot.cities().next().unwrap();
            let city = snapshot.city_name(0).unwrap();
            words(&[folded, &city, &city.to_uppercase()], &format!("{folded}x"), &city)
        }
        (ParamType::Records(table, _), _) => row(table),
        (ParamType::Organizations, _) => row(Table::Firms),
        (ParamType::Number { .. }, "min_health_score") => {
            numbers(&["0", "100"], &["101", "-1", "high", "1e2", "99999999999999999999999"])
        }
        (ParamType::Number { .. }, "min_reviews") => {
            numbers(&["0", "3", "4294967295"], &["4294967296", "-3", "many", "+3"])
        }
        (ParamType::Number { .. }, "raise_usd") => numbers(&["1", "5000000"], &["0", "5m", "99999999999999999999999"]),
        (ParamType::Number { .. }, "min_rating") => numbers(&["1", "5"], &["0", "6", "good"]),
        (ParamType::Number { .. }, "check_usd" | "min_amount_usd") => numbers(&["0", "5000000"], usd),
        (ParamType::Number { .. }, name) => panic!("`{name}` has no values to try"),
        (ParamType::Percent(_), _) => numbers(&["0", "12.5", "100", "20%"], &["101", "-1", "lots", "NaN"]),
        (ParamType::Date(_), _) => numbers(&["2024-01-31"], &["31.01.2024", "2024-02-30", "2024-1-1", "yesterday"]),
        (ParamType::Bool(_), _) => numbers(&["true", "NO", "1"], &["maybe", "2"]),
        (ParamType::Metric, _) => words(&["activity", "Value Add"], "activty", "activity"),
        // Tested on its own: the keys differ between lists.
        (ParamType::Sort, _) => Cases { good: Vec::new(), bad: &[], unknown: Some(("zzqx".to_owned(), None)) },
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

/// The lists with parameters in the query; co-investors have them in the path.
fn lists() -> impl Iterator<Item = (Resource, &'static str)> {
    let lists = Resource::ALL.into_iter().filter(|resource| *resource != Resource::CoInvestors);
    lists.flat_map(|resource| versions(resource).iter().map(move |version| (resource, *version)))
}

fn assert_rejected(reply: &Reply, code: &str, parameter: &str, what: &str) -> Value {
    assert_eq!(reply.status, 400, "{what}: {}", reply.text);
    let json = reply.json();
    assert_eq!(json["code"], code, "{what}: {json}");
    let error = json["errors"][0].clone();
    assert_eq!((&error["parameter"], &error["code"]), (&parameter.into(), &code.into()), "{what}: {json}");
    assert!(json["detail"].as_str().unwrap().contains(&format!("`{parameter}`")), "{what}: {json}");
    error
}

fn assert_warned(reply: &Reply, code: &str, parameter: &str, what: &str) -> Value {
    assert_eq!(reply.status, 200, "{what}: {}", reply.text);
    let warning = reply.json()["meta"]["warnings"][0].clone();
    assert_eq!((&warning["parameter"], &warning["code"]), (&parameter.into(), &code.into()), "{what}: {}", reply.text);
    warning
}

fn assert_reported(reply: &Reply, version: &str, code: &str, parameter: &str, what: &str) -> Value {
    match version {
        "v3" => assert_rejected(reply, code, parameter, what),
        _ => assert_warned(reply, code, parameter, what),
    }
}

/// Requests a list with one parameter.
fn request(client: &Client, path: &str, name: &str, value: &str) -> Reply {
    client.list(path, &[(name, value), ("limit", "1")])
}

#[test]
fn every_parameter_accepts_valid_values_under_each_name() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (resource, version) in lists() {
        let path = path(version, resource);
        for parameter in resource.parameters() {
            for name in std::iter::once(&parameter.name).chain(parameter.aliases) {
                let mut good = cases(&server, parameter).good;
                if matches!(parameter.kind, ParamType::Sort) {
                    let keys = resource.table().sort_keys();
                    good.extend(keys.iter().flat_map(|key| [(*key).to_owned(), format!("-{}", key.to_uppercase())]));
                    good.push(keys.join(",-"));
                }
                for good in good {
                    let reply = request(&client, &path, name, &good);
                    assert_eq!(reply.status, 200, "{path} {name}={good}: {}", reply.text);
                    assert!(reply.json()["meta"].get("warnings").is_none(), "{path} {name}={good}: {}", reply.text);
                }
            }
        }
    }
}

#[test]
fn every_parameter_rejects_invalid_values_with_a_hint() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (resource, version) in lists() {
        let path = path(version, resource);
        for parameter in resource.parameters() {
            for bad in cases(&server, parameter).bad {
                let what = format!("{path} {}={bad}", parameter.name);
                let error = assert_rejected(
                    &request(&client, &path, parameter.name, bad),
                    "invalid_parameter",
                    parameter.name,
                    &what,
                );
                let detail = error["detail"].as_str().unwrap();
                assert!(detail.starts_with(&format!("`{bad}` is ")), "{what}: {detail}");
                let hints = ["from ", "form YYYY-MM-DD", "`true` nor `false`"];
                assert!(hints.iter().any(|hint| detail.contains(hint)), "{what}: {detail}");
            }
            let many = vec!["x"; 101].join(",");
            let (given, other): (&str, &str) = match parameter.kind {
                ParamType::Text => ("alpha", "beta"),
                ParamType::Metric => ("activity", "fairness"),
                ParamType::Sort => continue,
                _ if cases(&server, parameter).bad.is_empty() => (&many, "x"),
                ParamType::Bool(_) => ("true", "false"),
                ParamType::Date(_) => ("2024-01-31", "2024-02-01"),
                _ => ("4", "5"),
            };
            let reply = client.list(&path, &[(parameter.name, given), (parameter.name, other)]);
            let what = format!("{path} {} twice", parameter.name);
            let error = assert_rejected(&reply, "invalid_parameter", parameter.name, &what);
            assert!(error["detail"].as_str().unwrap().contains("takes"), "{what}: {error}");
        }
    }
}

#[test]
fn an_unknown_value_is_reported_with_a_suggestion() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (resource, version) in lists() {
        let path = path(version, resource);
        for parameter in resource.parameters() {
            let Some((unknown, suggestion)) = cases(&server, parameter).unknown else { continue };
            let what = format!("{path} {}={unknown}", parameter.name);
            let reply = request(&client, &path, parameter.name, &unknown);
            let error = assert_reported(&reply, version, "unknown_value", parameter.name, &what);
            assert!(error["detail"].as_str().unwrap().contains(&format!("`{unknown}`")), "{what}: {error}");
            if let Some(suggestion) = suggestion {
                assert_eq!(error["did_you_mean"], suggestion, "{what}");
            } else {
                assert!(!error["accepted"].as_array().unwrap().is_empty(), "{what}");
            }
        }
    }
}

#[test]
fn an_unknown_parameter_is_reported_with_a_suggestion_and_the_accepted_names() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (resource, version) in lists() {
        let path = path(version, resource);
        let base = if resource == Resource::Match { "stage=seed&" } else { "" };
        for parameter in resource.parameters() {
            let name = format!("{}x", parameter.name);
            let reply = client.get(&format!("{path}?{base}{name}=1"));
            let error = assert_reported(&reply, version, "unknown_parameter", &name, &path);
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
fn paging_parameters_are_checked_on_every_list() {
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
                assert_rejected(&reply, "invalid_parameter", name, &format!("{path} {name}={bad}"));
            }
        }
        assert_rejected(&get("limit=0"), "invalid_parameter", "limit", &path);
        let clamped = assert_warned(&get("limit=99999999999999999999999"), "limit_clamped", "limit", &path);
        assert!(clamped["detail"].as_str().unwrap().contains("100"), "{clamped}");
        assert_eq!(get("limit=5000").json()["pagination"]["limit"], 100);
        assert_eq!(get("limit=").json()["pagination"]["limit"], 20);
        match version {
            "v1" => assert_eq!(get("offset=99999999999999999999999").json()["data"], Value::Array(Vec::new())),
            "v2" => assert_eq!(get("page=99999999999999999999999").json()["data"], Value::Array(Vec::new())),
            _ => {
                assert_invalid_cursor(&get("cursor=zzqx"), &path);
                assert_rejected(&get("fields=slugg"), "unknown_field", "fields", &path);
            }
        }
    }
}

fn assert_invalid_cursor(reply: &Reply, what: &str) {
    assert_eq!((reply.status, &reply.json()["code"]), (400, &"invalid_cursor".into()), "{what}: {}", reply.text);
}
