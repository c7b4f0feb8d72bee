//! Every parameter of every list in every version with valid, invalid and unknown values.

use auth::quota::Tier;
use catalog::Resource;
use catalog::params::{BoundUnit, ParamType, Parameter};
use data::vocabulary::Vocabulary;
use data::{Facet, Table};
use serde_json::Value;

use crate::support::harness::{Client, Reply, Server};

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
    let usd: &'static [&'static str] = &["5x", "1,00", "-5", "1.5", "9007199254740992", "99999999999999999999999"];
    match (parameter.kind, parameter.name) {
        (ParamType::Text | ParamType::Words, _) => numbers(&["capital", &"\u{fc}".repeat(200)], &[]),
        (ParamType::Terms(terms, _), _) => match terms.noun {
            "stage" => words(&["Series A", "series_a", "a", "seed,growth", "D+"], "sede", "seed"),
            "role" => words(&["founder", "Founders", "VP,partner"], "foundr", "founder"),
            "kind" => words(&["vc", "Family Office,bank"], "acelerator", "accelerator"),
            "organization_kind" => words(&["firm", "Startup"], "frim", "firm"),
            _ if (terms.names)().contains(&"acquired") => words(&["operating", "Acquired"], "operatign", "operating"),
            _ => words(&["approved", "pending", "rejected"], "aproved", "approved"),
        },
        (ParamType::Countries, _) => words(&["DE", "deu", "Germany", "Korea, Republic of", "UK"], "Germny", "DE"),
        (ParamType::Listed(table, facet), _) => {
            let of_table =
                |term: &&str| snapshot.facet_count(table, facet, snapshot.find_term(facet, term).unwrap()) > 0;
            let term = snapshot.terms(facet).filter(of_table).find(|term| term.len() > 5).unwrap();
            let name = match facet {
                Facet::City => snapshot.city_name(snapshot.find_term(facet, term).unwrap()).unwrap(),
                _ => term.to_owned(),
            };
            words(&[term, &name, &name.to_uppercase()], &format!("{term}x"), &name)
        }
        (ParamType::Rows(table), _) => {
            let slug = snapshot.slug(table, 3);
            Cases { good: vec![slug.to_owned()], bad: &[], unknown: Some((format!("{slug}x"), Some(slug.to_owned()))) }
        }
        (ParamType::Known(table, _), _) => match table {
            Table::Sectors => words(&["vc_count", "parent"], "parnt", "parent"),
            Table::Reviews => words(&["stage", "created_on,ghosted"], "staeg", "stage"),
            _ => words(&["country", "Country"], "coutnry", "country"),
        },
        (ParamType::Records(table, _) | ParamType::Like(table), _) => row(table),
        (ParamType::Organizations, _) => row(Table::Firms),
        (ParamType::Number { .. }, "raise_usd") => numbers(&["1", "$1.5m"], &["0", "5x", "99999999999999999999999"]),
        (ParamType::Number { .. }, "check_usd") => numbers(&["0", "500k", "5,000,000"], usd),
        (ParamType::Number { .. }, name) => panic!("`{name}` has no values to try"),
        (ParamType::Range { unit: BoundUnit::Percent, .. }, _) => {
            numbers(&["0", "12.5", "100", "20%"], &["101", "-1", "lots", "NaN"])
        }
        (ParamType::Range { unit: BoundUnit::Date, .. }, _) => {
            numbers(&["2024-01-31", "2024-01", "2024"], &["31.01.2024", "2024-02-30", "2024-1-1", "yesterday"])
        }
        (ParamType::Range { unit: BoundUnit::Number { max, .. }, .. }, _) => match max {
            100 => numbers(
                &["0", "100", "1e2", "1E+01", "50.0"],
                &["101", "-1", "high", "1e3", "1e-1", "99999999999999999999999"],
            ),
            5 => numbers(&["1", "5"], &["0", "6", "good"]),
            9_999 => numbers(&["1000", "2015"], &["0", "10", "10000", "last"]),
            4_294_967_295 => numbers(&["0", "3", "4294967295"], &["4294967296", "-3", "many", "+3"]),
            _ => numbers(&["0", "500k", "5,000,000"], usd),
        },
        (ParamType::Bool(_), _) => numbers(&["true", "NO", "1"], &["maybe", "2"]),
        (ParamType::Release, _) => Cases {
            good: vec!["latest".to_owned(), "LATEST".to_owned()],
            bad: &[],
            unknown: Some(("2001-01-01.1".to_owned(), None)),
        },
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
    let lists = Resource::ALL.iter().copied().filter(|resource| *resource != Resource::CoInvestors);
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

/// Requests a list with one parameter. Those that choose firms need a startup that they fit.
fn request(client: &Client, path: &str, name: &str, value: &str) -> Reply {
    let chooses_firms = path.ends_with("/match") && ["kind", "not_kind", "not_firm"].contains(&name);
    let startup = chooses_firms.then_some(("stage", "seed"));
    let parameters: Vec<(&str, &str)> = [(name, value), ("limit", "1")].into_iter().chain(startup).collect();
    client.list(path, &parameters)
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
                    // A valid search may find nothing, and a field may be unknown for most records.
                    let warnings = reply.json()["meta"]["warnings"].as_array().cloned().unwrap_or_default();
                    let is_usual = |warning: &Value| match warning["code"].as_str() {
                        // A stage reached is not every stage raised.
                        Some("value_interpreted") => warning["parameter"] == "stage",
                        code => code == Some("no_match") || code == Some("low_coverage"),
                    };
                    assert!(warnings.iter().all(is_usual), "{path} {name}={good}: {}", reply.text);
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
                let hints = ["such as", "`true` nor `false`"];
                assert!(hints.iter().any(|hint| detail.contains(hint)), "{what}: {detail}");
            }
            let many = vec!["x"; 101].join(",");
            let (given, other): (&str, &str) = match parameter.kind {
                ParamType::Text => ("alpha", "beta"),
                ParamType::Metric => ("activity", "fairness"),
                ParamType::Release => ("latest", "2001-01-01.1"),
                ParamType::Sort => continue,
                _ if cases(&server, parameter).bad.is_empty() => (&many, "x"),
                ParamType::Bool(_) => ("true", "false"),
                ParamType::Range { unit: BoundUnit::Date, .. } => ("2024-01-31", "2024-02-01"),
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
        let max = if version == "v3" { 1_000 } else { 100 };
        assert_eq!(get("limit=5000").json()["pagination"]["limit"], max);
        match version {
            "v3" => drop(assert_rejected(&get("limit="), "invalid_parameter", "limit", &path)),
            _ => assert_eq!(get("limit=").json()["pagination"]["limit"], 20),
        }
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

#[test]
fn an_empty_list_says_which_condition_to_drop() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let german = client.get("/api/v3/vcs?country=DE").json()["pagination"]["total"].clone();
    let empty = client.get("/api/v3/vcs?country=DE&min_health_score=100").json();
    assert_eq!(empty["pagination"]["total"], 0);
    let warnings = empty["meta"]["warnings"].as_array().unwrap();
    let warning = warnings.iter().find(|warning| warning["code"] == "no_match").unwrap();
    assert_eq!(warning["parameter"], "min_health_score");
    assert!(warning["detail"].as_str().unwrap().contains(&format!(" {german} records match")), "{warning}");
    // A page past the end is not an empty list, and a single condition leaves nothing to drop.
    for silent in ["/api/v3/vcs?min_health_score=100", "/api/v1/vcs?country=DE&min_health_score=100"] {
        assert!(!client.get(silent).text.contains("no_match"), "{silent}");
    }
    let page = client.get("/vcs?country=DE&min_health_score=100").text;
    assert!(page.contains(&format!("{german} without it")), "the page names the condition");
    // The path's own condition cannot be dropped.
    let first = server.state.releases.current().example_slug(Table::Firms);
    let below = client.get(&format!("/api/v3/vcs/{first}/rounds?until=1950&stage=seed")).json();
    assert!(
        below["meta"]["warnings"].as_array().into_iter().flatten().all(|warning| warning["parameter"] != "investor")
    );
}

#[test]
fn aggregates_reject_what_they_do_not_know() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (query, parameter, code) in [
        ("group_by=contry", "group_by", "unknown_value"),
        ("sort=name", "sort", "unknown_value"),
        ("limit=0", "limit", "invalid_parameter"),
        ("cursor=x", "cursor", "unknown_parameter"),
        ("stage=sede", "stage", "unknown_value"),
    ] {
        assert_rejected(&client.get(&format!("/api/v3/startups/aggregate?{query}")), code, parameter, query);
    }
    let clamped = client.get("/api/v3/startups/aggregate?group_by=country&limit=1000").json();
    assert_eq!(clamped["meta"]["warnings"][0]["code"], "limit_clamped");
    assert_eq!(client.get("/api/v1/startups/aggregate").status, 404);
}

#[test]
fn spellings_of_a_value_are_the_same_filter() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let total = |request: &str| {
        let reply = client.get(&format!("/api/v3/{request}&limit=1"));
        assert_eq!(reply.status, 200, "{request}: {}", reply.text);
        reply.json()["pagination"]["total"].as_u64().unwrap()
    };
    for (list, canonical, spellings) in [
        ("vcs?stage=", "pre-seed", &["angel", "Pre%20Seed", "PRE_SEED"][..]),
        ("vcs?stage=", "series-a", &["a", "A", "Series%20A", "series_a"][..]),
        ("vcs?stage=", "series-c", &["c", "Series-C"][..]),
        ("vcs?stage=", "series-d-plus", &["d", "d%2B", "series-d", "series-g", "Series%20K"][..]),
        ("vcs?kind=", "angel-network", &["Angel%20Network", "ANGEL_NETWORK"][..]),
        ("vcs?country=", "DE", &["de", "DEU", "Germany"][..]),
        ("vcs?country=", "GB", &["UK", "gbr", "United%20Kingdom"][..]),
        ("reviews?ghosted=", "true", &["yes", "1", "True"][..]),
        ("reviews?ghosted=", "false", &["no", "0", "FALSE"][..]),
    ] {
        let expected = total(&format!("{list}{canonical}"));
        assert!(expected > 0, "{list}{canonical}");
        for spelling in spellings {
            assert_eq!(total(&format!("{list}{spelling}")), expected, "{list}{spelling}");
        }
    }
}

#[test]
fn a_sort_key_may_be_written_as_its_field() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let plain = client.get("/api/v3/vcs?sort=-portfolio_count,name");
    for sort in ["-portfolioCount,Name", "-portfolio-count,name", "-PORTFOLIO_COUNT,name"] {
        assert_eq!(client.get(&format!("/api/v3/vcs?sort={sort}")).text, plain.text, "{sort}");
    }
    let error = client.get("/api/v3/vcs?sort=portfoliocount").json();
    assert_eq!(error["errors"][0]["did_you_mean"], "portfolio_count");
}
