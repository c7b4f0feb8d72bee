//! The OpenAPI documents: complete, true to the responses, and stable.

mod examples;

use std::collections::BTreeSet;

use api::{Route, Version};
use auth::quota::Tier;
use catalog::Resource;
use catalog::params::{BoundUnit, ParamType};
use catalog::parse::scalars::DATE_PATTERN;
use data::Table;
use data::vocabulary::Vocabulary;
use serde_json::{Value, json};

use crate::support::harness::{Client, Reply, Server, real_catalog};
use crate::support::json_schema::{misfit_exactly, resolved};

fn document(server: &Server, version: Version) -> Value {
    server.anonymous().get(&format!("/openapi/{}.json", version.segment())).json()
}

fn operation<'d>(document: &'d Value, endpoint: &Route) -> &'d Value {
    &document["paths"][format!("/{}", endpoint.path)]["get"]
}

/// The path of a valid request; `more` is appended to its query.
fn request(server: &Server, version: Version, endpoint: &Route, more: &str) -> String {
    let slug = server.state.releases.current().example_slug(endpoint.subject());
    let query = match endpoint.path {
        "suggest" | "ask" => format!("q=kestrel&{more}"),
        "resolve" => {
            let name = server.state.releases.current().example_name(Table::Firms);
            format!("name={}&{more}", name.replace(' ', "+"))
        }
        "changes" => format!("from={}&{more}", server.state.releases.current().version()),
        "match" if !more.contains("stage=") => format!("stage=seed&{more}"),
        _ => more.to_owned(),
    };
    format!("/api/{}/{}?{query}", version.segment(), endpoint.path_of(&slug))
}

fn names(parameters: &Value) -> Vec<&str> {
    let parameters = parameters.as_array().unwrap().iter().filter(|parameter| parameter["in"] == "query");
    parameters.map(|parameter| parameter["name"].as_str().unwrap()).collect()
}

#[test]
fn each_document_describes_exactly_what_is_served() {
    let server = Server::bundled();
    let client = server.account_client(Tier::Enterprise);
    for version in Version::ALL {
        let document = document(&server, version);
        assert_eq!(document["openapi"], "3.1.0");
        assert_eq!(document["servers"][0]["url"], format!("{}/api/{}", client.base, version.segment()));
        let described: Vec<&str> =
            document["paths"].as_object().unwrap().keys().map(|path| path.trim_start_matches('/')).collect();
        let mut served: Vec<&str> = Route::all(version).map(|endpoint| endpoint.path).collect();
        served.sort_unstable();
        assert_eq!(described, served);
        for endpoint in Route::all(Version::V3) {
            let reply = client.get(&request(&server, version, endpoint, ""));
            if endpoint.since <= version {
                assert_eq!(reply.status, 200, "{}: {}", endpoint.path, reply.text);
            } else {
                // In other versions `facets` and `aggregate` are slugs like any other.
                let is_slug = matches!(endpoint.path, "vcs/facets" | "vcs/aggregate");
                let code = if is_slug { "not_found" } else { "unknown_route" };
                assert_eq!((reply.status, &reply.json()["code"]), (404, &code.into()), "{}", endpoint.path);
            }
        }
    }
}

#[test]
fn each_document_describes_the_accepted_parameters() {
    let server = Server::bundled();
    let client = server.account_client(Tier::Enterprise);
    for version in Version::ALL {
        let document = document(&server, version);
        for endpoint in Route::all(version) {
            let reply = client.get(&request(&server, version, endpoint, "no_such_parameter=1")).json();
            let error = match version {
                Version::V3 => &reply["errors"][0],
                Version::V1 | Version::V2 => &reply["meta"]["warnings"][0],
            };
            assert_eq!(error["code"], "unknown_parameter", "{}", endpoint.path);
            let accepted: BTreeSet<&str> =
                error["accepted"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            let described: BTreeSet<&str> = names(&operation(&document, endpoint)["parameters"]).into_iter().collect();
            assert_eq!(described, accepted, "{} of {version:?}", endpoint.path);
        }
    }
}

#[test]
fn the_example_of_each_parameter_finds_something() {
    let server = Server::bundled();
    let client = server.account_client(Tier::Enterprise);
    for version in Version::ALL {
        let document = document(&server, version);
        for endpoint in Route::all(version) {
            for parameter in operation(&document, endpoint)["parameters"].as_array().unwrap() {
                let name = parameter["name"].as_str().unwrap();
                let schema = &parameter["schema"];
                let example = &parameter["example"];
                if example.is_null() {
                    assert!(
                        ["cursor", "explain", "amounts"].contains(&name),
                        "`{name}` of {} has no example",
                        endpoint.path
                    );
                    continue;
                }
                assert_eq!(misfit_exactly(&document, schema, example, name), None);
                if parameter["in"] == "path" || parameter["required"] == true {
                    continue;
                }
                let text = match example {
                    Value::Array(values) => {
                        values.iter().map(|value| value.as_str().unwrap()).collect::<Vec<_>>().join(",")
                    }
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let path = request(&server, version, endpoint, "");
                let reply = client.get(&format!("{path}&{name}={}", text.replace(' ', "+")));
                // The example may contradict the firm of the path.
                if endpoint.path.contains('/') && reply.status == 400 {
                    assert!(reply.text.contains("so that nothing matches"), "{path}{name}={text}: {}", reply.text);
                    continue;
                }
                assert_eq!(reply.status, 200, "{path}{name}={text}: {}", reply.text);
                // The firm of the example may have no rows for the other examples.
                let is_below_record = endpoint.path.contains('/');
                let json = reply.json();
                let mut warnings = json["meta"]["warnings"].as_array().into_iter().flatten();
                let is_usual = warnings.all(|warning| match warning["code"].as_str() {
                    Some("no_match") => is_below_record,
                    // A stage reached is not every stage raised.
                    Some("value_interpreted") => warning["parameter"] == "stage",
                    code => code == Some("low_coverage"),
                });
                assert!(is_usual, "{path}{name}={text}: {}", reply.text);
                let found = reply.json()["data"].as_array().is_none_or(|rows| !rows.is_empty());
                // One release does not differ from itself, and it is unknown what it added.
                let is_empty = is_below_record || endpoint.path == "changes" || name == "first_seen";
                assert!(found || is_empty, "{path}{name}={text} finds nothing");
            }
        }
    }
}

#[test]
fn a_parameter_may_be_empty_exactly_where_its_schema_allows_it() {
    let server = Server::bundled();
    let client = server.account_client(Tier::Enterprise);
    for version in Version::ALL {
        let document = document(&server, version);
        for endpoint in Route::all(version) {
            let parameters = operation(&document, endpoint)["parameters"].as_array().unwrap().iter();
            for parameter in parameters.filter(|parameter| parameter["in"] == "query") {
                let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
                let path = match (endpoint.path, name) {
                    ("suggest" | "ask", "q") => format!("/api/v3/{}?", endpoint.path),
                    ("changes", "from") => "/api/v3/changes?".to_owned(),
                    ("resolve", "name") => "/api/v3/resolve?".to_owned(),
                    _ => request(&server, version, endpoint, ""),
                };
                let is_accepted = |value: &str| client.get(&format!("{path}&{name}={value}")).status == 200;
                let at = format!("`{name}` of {} of {version:?}", endpoint.path);
                assert_eq!(parameter["allowEmptyValue"] == true, is_accepted(""), "{at}");
                if is_accepted("") {
                    continue;
                }
                let is_list = schema["type"] == "array";
                assert!(!is_list || misfit_exactly(&document, schema, &json!([]), name).is_some(), "{at}: {schema}");
                assert!(!is_list || !is_accepted("%20,"), "{at}");
                let text = resolved(&document, if is_list { &schema["items"] } else { schema });
                let excludes_empty = ["pattern", "format", "enum"].iter().any(|keyword| !text[keyword].is_null());
                assert!(text["type"] != "string" || excludes_empty, "{at}: {text}");
            }
        }
    }
}

#[test]
fn lists_of_a_closed_vocabulary_take_exactly_its_words() {
    let server = Server::bundled();
    let client = server.account_client(Tier::Enterprise);
    let document = document(&server, Version::V3);
    for endpoint in Route::all(Version::V3) {
        for parameter in operation(&document, endpoint)["parameters"].as_array().unwrap() {
            let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
            if !["known", "unknown", "include", "group_by"].contains(&name) {
                continue;
            }
            let words = resolved(&document, &schema["items"])["enum"].as_array().unwrap();
            let path = request(&server, Version::V3, endpoint, name);
            let reply = client.get(&format!("{path}=no-such-word"));
            let accepted = reply.json()["errors"][0]["accepted"].clone();
            assert_eq!(accepted.as_array(), Some(words), "`{name}` of {}: {}", endpoint.path, reply.text);
        }
    }
}

#[test]
fn numbers_are_accepted_exactly_within_their_ranges() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for resource in Resource::ALL.iter().copied() {
        for parameter in resource.parameters() {
            let (min, max) = match parameter.kind {
                ParamType::Number { min, max, .. } | ParamType::Range { unit: BoundUnit::Number { min, max }, .. } => {
                    (min, max)
                }
                ParamType::Range { unit: BoundUnit::Percent, .. } => (0, 100),
                _ => continue,
            };
            let status = |value: i128| {
                let path = format!("/api/v3/{}?{}={value}", resource.path(), parameter.name);
                client.get(&path).status
            };
            assert_eq!((status(min.into()), status(max.into())), (200, 200), "{}", parameter.name);
            assert_eq!((status(i128::from(min) - 1), status(i128::from(max) + 1)), (400, 400), "{}", parameter.name);
        }
    }
}

#[test]
fn every_documented_field_can_be_selected() {
    let server = Server::bundled();
    let client = server.account_client(Tier::Enterprise);
    let document = document(&server, Version::V3);
    for endpoint in Route::all(Version::V3) {
        let parameters = operation(&document, endpoint)["parameters"].as_array().unwrap();
        let fields = parameters.iter().find(|parameter| parameter["name"] == "fields").unwrap();
        let fields = resolved(&document, &fields["schema"]["items"])["enum"].as_array().unwrap();
        let all: Vec<&str> = fields.iter().filter_map(Value::as_str).filter(|name| *name != "*").collect();
        let group_by = parameters.iter().find(|parameter| parameter["name"] == "group_by");
        let group_by = group_by.and_then(|parameter| parameter["example"][0].as_str());
        let groups = group_by.map_or_else(String::new, |name| format!("group_by={name}&limit=1&"));
        let select = |fields: &str| {
            let path = request(&server, Version::V3, endpoint, &format!("{groups}fields={fields}"));
            let reply = client.get(&path);
            assert_eq!(reply.status, 200, "{path}: {}", reply.text);
            check(&document, endpoint, &reply, &path);
        };
        select(&all.join(","));
        all.iter().for_each(|field| select(field));
        if let Some(table) = endpoint.list().map(Resource::table).or(endpoint.record()) {
            for field in table.model().fields {
                assert!(all.contains(&field.name), "{} does not name `{}`", endpoint.path, field.name);
            }
        }
    }
}

/// Checks status, headers and body of a response against the document.
fn check(document: &Value, endpoint: &Route, reply: &Reply, path: &str) {
    let responses = &operation(document, endpoint)["responses"];
    let response = resolved(document, &responses[reply.status.to_string()]);
    assert!(response.is_object(), "{path}: {} is not described: {}", reply.status, reply.text);
    let kind = if reply.status == 200 { "application/json" } else { "application/problem+json" };
    let schema = &response["content"][kind]["schema"];
    assert!(schema.is_object(), "{path}: {kind} is not described");
    assert_eq!(reply.header("content-type"), kind);
    assert_eq!(misfit_exactly(document, schema, &reply.json(), ""), None, "{path}");
    check_headers(response, reply, path);
}

/// Every described header is sent, except conditional ones, and every sent header is described.
fn check_headers(response: &Value, reply: &Reply, path: &str) {
    let described = response["headers"].as_object().unwrap();
    for name in described.keys() {
        let optional = [
            "RateLimit",
            "RateLimit-Policy",
            "Link",
            "Deprecation",
            "Sunset",
            "X-Request-Cost",
            "X-Warnings",
            "Content-Disposition",
        ];
        let optional = optional.contains(&name.as_str());
        assert!(optional || !reply.header(name).is_empty(), "{path}: {} without {name}", reply.status);
    }
    // The last two are for browsers.
    let standard = [
        "content-type",
        "content-length",
        "content-encoding",
        "date",
        "connection",
        "x-content-type-options",
        "cross-origin-resource-policy",
    ];
    for name in reply.headers.keys().map(http::HeaderName::as_str).filter(|name| !standard.contains(name)) {
        let is_described = described.keys().any(|known| known.eq_ignore_ascii_case(name));
        assert!(is_described, "{path}: {name} of a {} is not described", reply.status);
    }
}

fn check_all(server: &Server, client: &Client) {
    for version in Version::ALL {
        let document = document(server, version);
        let snapshot = server.state.releases.current();
        let slug = |table| snapshot.example_slug(table);
        for endpoint in Route::all(version) {
            let table = endpoint.subject();
            let path = format!("/api/{}/{}", version.segment(), endpoint.path_of(&slug(table)));
            let mut queries = vec![""];
            if endpoint.list().is_some() {
                queries.extend([
                    "limit=100",
                    "limit=1000",
                    "limit=0",
                    "x=1",
                    "sort=-nam",
                    "limit=100&q=captial&explain=1",
                ]);
                queries.extend([
                    "limit=100&fields=*",
                    "q=zzzzqqqq",
                    "cursor=abc",
                    "stage=sede&country=xx",
                    "page=2&offset=3",
                ]);
            }
            if version == Version::V3 {
                queries.extend(["fields=name,slug", "fields=nam"]);
            }
            for query in queries {
                let path = match endpoint.path {
                    "suggest" | "ask" => format!("{path}?q=a&{query}"),
                    "resolve" => format!("{path}?name=a&{query}"),
                    "changes" => {
                        format!("{path}?from={}&{query}", server.state.releases.current().version())
                    }
                    "match" => format!("{path}?sector=fintech&{query}"),
                    _ => format!("{path}?{query}"),
                };
                check(&document, endpoint, &client.get(&path), &path);
            }
            if endpoint.placeholder().is_some() {
                let path = format!("/api/{}/{}", version.segment(), endpoint.path_of("no-such-one"));
                let reply = client.get(&path);
                assert_eq!(reply.status, 404);
                check(&document, endpoint, &reply, &path);
            }
            check(&document, endpoint, &server.anonymous().get(&path), &path);
            let etag = client.get(&path).header("etag").to_owned();
            if !etag.is_empty() {
                let reply = client.send("GET", &path, &[("if-none-match", &etag)]);
                assert_eq!(reply.status, 304);
                let response = &operation(&document, endpoint)["responses"]["304"];
                check_headers(resolved(&document, response), &reply, &path);
            }
            let long = client.get(&format!("{path}?_={}", "a".repeat(28_000)));
            assert_eq!(long.status, 414);
            check(&document, endpoint, &long, "a long URL");
            let reply = client.send("GET", &path, &[("accept", "text/html")]);
            assert_eq!(reply.status, 406);
            check(&document, endpoint, &reply, &path);
        }
    }
}

#[test]
fn answers_to_many_items_match_the_document_whatever_is_selected() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let document = document(&server, Version::V3);
    let post = &document["paths"]["/resolve"]["post"];
    let fields = post["parameters"].as_array().unwrap().iter().find(|parameter| parameter["name"] == "fields").unwrap();
    let fields = resolved(&document, &fields["schema"]["items"])["enum"].as_array().unwrap();
    let schema = &post["responses"]["200"]["content"]["application/json"]["schema"];
    // Found, wrong with a correction, wrong without one.
    let body = json!({ "items": [{ "name": "alder capital" }, { "name": "a", "country": "Germny" }, {}] }).to_string();
    for field in fields.iter().filter_map(Value::as_str) {
        let path = format!("/api/v3/resolve?fields={field}");
        let reply = client.post(&path, &body);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        assert_eq!(misfit_exactly(&document, schema, &reply.json(), ""), None, "{path}: {}", reply.text);
    }
}

#[test]
fn responses_match_the_documents() {
    let server = Server::bundled();
    check_all(&server, &server.client(Tier::Enterprise));
    check_all(&server, &server.account_client(Tier::Pro));
}

#[test]
fn responses_to_an_exhausted_key_match_the_documents() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    while client.get("/api/v3/stats").status == 200 {}
    for version in Version::ALL {
        let document = document(&server, version);
        for endpoint in Route::all(version).filter(|endpoint| endpoint.path != "usage") {
            let path = request(&server, version, endpoint, "");
            let reply = client.get(&path);
            assert_eq!(reply.status, 429);
            check(&document, endpoint, &reply, &path);
        }
    }
}

/// All objects of a document, including nested ones.
fn objects<'d>(value: &'d Value, found: &mut Vec<&'d serde_json::Map<String, Value>>) {
    match value {
        Value::Object(fields) => {
            found.push(fields);
            fields.values().for_each(|value| objects(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| objects(value, found)),
        _ => {}
    }
}

#[test]
fn the_documents_suit_client_generators() {
    let server = Server::bundled();
    for version in Version::ALL {
        let document = document(&server, version);
        let mut schemas = Vec::new();
        objects(&document["components"]["schemas"], &mut schemas);
        objects(&document["paths"], &mut schemas);
        for schema in schemas {
            let text = schema.get("type").is_some_and(|kind| kind.to_string().contains("\"string\""));
            if text || !schema.contains_key("type") || schema["type"].is_object() {
                continue;
            }
            assert!(!schema.contains_key("pattern"), "a pattern on a value that is not text: {schema:?}");
            if schema.get("maximum").and_then(Value::as_u64).is_some_and(|max| max > i32::MAX as u64) {
                assert_eq!(schema["format"], "int64", "{schema:?}");
            }
        }
        for endpoint in Route::all(version) {
            for parameter in operation(&document, endpoint)["parameters"].as_array().unwrap() {
                let (name, schema) = (&parameter["name"], &parameter["schema"]);
                let is_plain = schema["type"].is_string() || schema["$ref"].is_string();
                assert!(is_plain, "`{name}` of {} has no plain type: {schema}", endpoint.path);
                // Defaults that a client sends with a cursor must agree with the cursor.
                let may_have_default =
                    ["limit", "offset", "page", "explain", "amounts"].contains(&name.as_str().unwrap());
                assert!(may_have_default || schema.get("default").is_none(), "{name} has a default");
                let words = if schema["type"] == "array" { &schema["items"]["enum"] } else { &schema["enum"] };
                assert!(words.is_null(), "the values of `{name}` are not a named schema: {schema}");
            }
        }
    }
}

#[test]
fn responses_from_real_data_match_the_documents() {
    let Some(catalog) = real_catalog() else { return };
    let server = Server::of(catalog);
    let client = server.client(Tier::Enterprise);
    check_all(&server, &client);
    // No name surely matches.
    let loose = client.get("/api/v3/startups?q=uber+zzqxw&limit=1&explain=true").json();
    assert_eq!(loose["meta"]["warnings"][0]["code"], "relaxed");
    let document = document(&server, Version::V3);
    let schema = &document["components"]["schemas"]["StartupList"];
    assert_eq!(misfit_exactly(&document, schema, &loose, "response"), None);
}

/// Adds the names of the schemas that a part of a document refers to, directly or through others.
fn referenced<'d>(document: &'d Value, part: &'d Value, found: &mut BTreeSet<&'d str>) {
    let mut parts = Vec::new();
    objects(part, &mut parts);
    for reference in parts.iter().filter_map(|part| part.get("$ref")?.as_str()) {
        if found.insert(reference) {
            referenced(document, document.pointer(&reference[1..]).unwrap(), found);
        }
    }
}

#[test]
fn the_values_of_responses_are_open_and_those_of_parameters_are_closed() {
    let server = Server::bundled();
    for version in Version::ALL {
        let document = document(&server, version);
        for endpoint in Route::all(version) {
            let operation = operation(&document, endpoint);
            let mut names = BTreeSet::new();
            referenced(&document, &operation["responses"], &mut names);
            for name in &names {
                let schema = document.pointer(&name[1..]).unwrap();
                let mut parts = Vec::new();
                objects(schema, &mut parts);
                assert!(parts.iter().all(|part| !part.contains_key("enum")), "{name} of {version:?} is closed");
            }
            let mut names = BTreeSet::new();
            referenced(&document, &operation["parameters"], &mut names);
            for name in &names {
                let schema = document.pointer(&name[1..]).unwrap();
                assert!(schema["x-extensible-enum"].is_null(), "{name}, which parameters take, is open");
            }
        }
    }
}

#[test]
fn a_date_parameter_takes_all_forms_that_it_documents() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let document = document(&server, Version::V3);
    let route = Route::all(Version::V3).find(|route| route.path == "funding-rounds").unwrap();
    let parameters = operation(&document, route)["parameters"].as_array().unwrap();
    let since = parameters.iter().find(|parameter| parameter["name"] == "since").unwrap();
    assert_eq!((&since["schema"]["pattern"], &since["schema"]["format"]), (&DATE_PATTERN.into(), &Value::Null));
    for (text, is_date) in [
        ("2014", true),
        ("2014-05", true),
        ("2014-Q3", true),
        ("2014-12-31", true),
        ("2014-13", false),
        ("2014-Q5", false),
        ("2014-05-32", false),
        ("14", false),
        ("", false),
    ] {
        assert_eq!(
            client.get(&format!("/api/v3/funding-rounds?since={text}&limit=1")).status == 200,
            is_date,
            "{text}"
        );
    }
}

#[test]
fn every_reference_resolves_and_every_component_is_used() {
    let server = Server::bundled();
    for version in Version::ALL {
        let document = document(&server, version);
        let mut parts = Vec::new();
        objects(&document, &mut parts);
        let found: BTreeSet<&str> = parts.iter().filter_map(|part| part.get("$ref")?.as_str()).collect();
        for reference in &found {
            assert!(document.pointer(&reference[1..]).is_some(), "{reference} does not resolve");
        }
        for (section, parts) in document["components"].as_object().unwrap() {
            for name in parts.as_object().unwrap().keys().filter(|_| section != "securitySchemes") {
                let reference = format!("#/components/{section}/{name}");
                assert!(found.contains(reference.as_str()), "{version:?}: {reference} is not used");
            }
        }
        let mut operations = BTreeSet::new();
        for endpoint in Route::all(version) {
            let operation = operation(&document, endpoint);
            assert!(operations.insert(operation["operationId"].as_str().unwrap().to_owned()));
            for part in ["summary", "description"] {
                assert!(operation[part].as_str().is_some_and(|text| text.len() > 5), "{}: {part}", endpoint.path);
            }
        }
    }
}

#[test]
fn a_document_is_stable_and_cacheable() {
    let (one, other) = (Server::bundled(), Server::bundled());
    for version in Version::ALL {
        let path = format!("/openapi/{}.json", version.segment());
        let first = one.anonymous().get(&path);
        assert_eq!((first.status, first.header("content-type")), (200, "application/json"));
        assert_eq!(first.header("access-control-allow-origin"), "*");
        assert_eq!(first.text, one.anonymous().get(&path).text);
        let there = other.anonymous().get(&path).text;
        assert_eq!(
            first.text.replace(&one.address.to_string(), "here"),
            there.replace(&other.address.to_string(), "here")
        );
        let etag = first.header("etag");
        assert!(!etag.is_empty());
        let again = one.anonymous().send("GET", &path, &[("if-none-match", etag)]);
        assert_eq!((again.status, again.text.as_str(), again.header("etag")), (304, "", etag));
        let head = one.anonymous().send("HEAD", &path, &[]);
        assert_eq!((head.status, head.text.as_str(), head.header("etag")), (200, "", etag));
        let packed = one.anonymous().send("GET", &path, &[("accept-encoding", "gzip")]);
        assert_eq!((packed.header("content-encoding"), &packed.text), ("gzip", &first.text));
        assert_eq!(one.anonymous().send("OPTIONS", &path, &[]).status, 204);
        let wrong = one.anonymous().send("DELETE", &path, &[]);
        assert_eq!((wrong.status, wrong.header("allow")), (405, "GET, HEAD, OPTIONS"));
    }
}
