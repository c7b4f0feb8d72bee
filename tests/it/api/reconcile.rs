//! `/reconcile`: a client of the reconciliation API 0.2, which checks every part against the dataset and the REST API.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use auth::quota::Tier;
use serde_json::{Value, json};

use crate::api::records::csv;
use crate::support::harness::{Client, Reply, Server};

/// What a program knows of a service: its manifest, read once.
struct Service<'c> {
    client: &'c Client,
    manifest: Value,
}

impl<'c> Service<'c> {
    fn of(client: &'c Client) -> Self {
        let reply = client.get("/reconcile");
        assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, "*"));
        Self { client, manifest: reply.json() }
    }

    fn post(&self, name: &str, value: &Value) -> Reply {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair(name, &value.to_string());
        let request = self.client.agent.post(format!("{}/reconcile", self.client.base));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let mut response = request.send(form.finish()).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        Reply { status: response.status().as_u16(), headers: response.headers().clone(), text }
    }

    fn query(&self, queries: &Value) -> Value {
        let reply = self.post("queries", queries);
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()
    }

    /// The results of a suggest service for what a user types.
    fn suggest(&self, kind: &str, prefix: &str) -> Vec<Value> {
        let suggest = &self.manifest["suggest"][kind];
        assert_eq!(suggest["service_url"], self.client.base);
        let reply = self.client.list(suggest["service_path"].as_str().unwrap(), &[("prefix", prefix)]);
        assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, "*"), "{}", reply.text);
        reply.json()["result"].as_array().unwrap().clone()
    }

    /// Requests the address that a template of the manifest gives for an id, as programs encode it.
    fn open(&self, template: &str, id: &str) -> Reply {
        let encoded: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
        let url = self.manifest[template]["url"].as_str().unwrap().replace("{{id}}", &encoded);
        self.client.get(url.strip_prefix(&self.client.base).unwrap())
    }
}

fn ids(results: &[Value]) -> Vec<&str> {
    results.iter().map(|result| result["id"].as_str().unwrap()).collect()
}

#[test]
fn the_manifest_names_all_parts() {
    let server = Server::bundled();
    let client = server.anonymous();
    let service = Service::of(&client);
    let manifest = &service.manifest;
    assert!(manifest["versions"].as_array().unwrap().contains(&json!("0.2")));
    for name in ["name", "identifierSpace", "schemaSpace"] {
        assert!(!manifest[name].as_str().unwrap().is_empty(), "{name}");
    }
    assert_eq!(
        manifest["defaultTypes"],
        json!([{ "id": "firm", "name": "Firm" }, { "id": "startup", "name": "Startup" }, { "id": "person", "name": "Person" }])
    );
    let documentation = manifest["documentation"].as_str().unwrap();
    let (page, anchor) = documentation.split_once('#').unwrap();
    let page = client.get(page.strip_prefix(&client.base).unwrap());
    assert!(page.text.contains(&format!("id=\"{anchor}\"")));
}

#[test]
fn rows_are_reconciled_and_extended_as_a_program_does_it() {
    let server = Server::bundled();
    let client = server.anonymous();
    let service = Service::of(&client);
    let firms: Vec<_> = csv("firms.csv").into_iter().step_by(3).take(200).collect();
    let mut found: Vec<(&HashMap<String, String>, String)> = Vec::new();
    for batch in firms.chunks(10) {
        let queries: BTreeMap<String, Value> = (0..)
            .zip(batch)
            .map(|(number, row)| {
                let query = json!({ "query": row["name"], "type": "firm", "type_strict": "should", "limit": 5, "properties": [
                    { "pid": "country", "v": row["country"] }, { "pid": "website", "v": [row["website"]] },
                    { "pid": "founded_year", "v": row["founded_year"].parse::<u32>().ok() },
                ]});
                (format!("q{number}"), query)
            })
            .collect();
        let answers = service.query(&json!(queries));
        assert_eq!(answers.as_object().unwrap().len(), batch.len());
        for (number, row) in (0..).zip(batch) {
            let results = answers[&format!("q{number}")]["result"].as_array().unwrap();
            assert!(results.len() <= 5);
            let matches: Vec<bool> = results.iter().map(|result| result["match"].as_bool().unwrap()).collect();
            assert!(matches.iter().skip(1).all(|is_match| !is_match), "{results:?}");
            for result in results {
                let sum: f64 =
                    result["features"].as_array().unwrap().iter().map(|one| one["value"].as_f64().unwrap()).sum();
                assert!((result["score"].as_f64().unwrap() - sum).abs() < 0.01, "{result}");
                assert_eq!(result["type"][0]["id"], "firm");
            }
            if matches.first() == Some(&true) {
                assert_eq!(results[0]["id"], format!("vcs/{}", row["slug"]));
                found.push((row, results[0]["id"].as_str().unwrap().to_owned()));
            }
        }
    }
    assert!(found.len() * 10 >= firms.len() * 9, "{} of {}", found.len(), firms.len());

    let properties = ["country", "city", "founded_year", "sectors", "website", "review_count"];
    let listed: Vec<Value> = properties.iter().map(|id| json!({ "id": id })).collect();
    for batch in found.chunks(50) {
        let ids: Vec<&str> = batch.iter().map(|(_, id)| id.as_str()).collect();
        let reply = service.post("extend", &json!({ "ids": ids, "properties": listed }));
        let extended = reply.json();
        let meta: Vec<&str> =
            extended["meta"].as_array().unwrap().iter().map(|meta| meta["id"].as_str().unwrap()).collect();
        assert_eq!(meta, properties);
        for (row, id) in batch {
            let values = &extended["rows"][id];
            let one = |text: &str| if text.is_empty() { json!([]) } else { json!([{ "str": text }]) };
            for name in ["country", "city"] {
                assert_eq!(values[name], one(&row[name]), "{id} {name}");
            }
            let year = row["founded_year"].parse::<u32>().map_or(json!([]), |year| json!([{ "int": year }]));
            assert_eq!(values["founded_year"], year);
            let sectors: BTreeSet<&str> = row["sectors"].split('|').filter(|slug| !slug.is_empty()).collect();
            let given: BTreeSet<&str> =
                values["sectors"].as_array().unwrap().iter().map(|value| value["str"].as_str().unwrap()).collect();
            // Sectors that a dataset leaves out are derived.
            assert!(sectors.is_empty() || given == sectors, "{id}: {given:?}");
        }
    }
}

#[test]
fn queries_may_be_sent_by_get_and_without_a_name() {
    let server = Server::bundled();
    let client = server.anonymous();
    let service = Service::of(&client);
    let firm = csv("firms.csv").into_iter().find(|row| row["slug"] == "alder-capital").unwrap();
    let queries = json!({
        "a": { "query": "Alder Capital", "type": ["firm", "startup"] },
        "b": { "properties": [{ "pid": "website", "v": firm["website"] }] },
        "c": { "query": "Alder Capital", "properties": [{ "pid": "country", "v": "Atlantis" }, { "pid": "shoe size", "v": true }] },
        "d": { "query": "" },
        "e": { "query": "zzqx wv qqp", "type": null },
        "f": { "query": "a name to look up that has more words than the name of any record" },
    });
    let posted = service.query(&queries);
    let got = client.list("/reconcile", &[("queries", &queries.to_string())]);
    assert_eq!(got.json(), posted);
    for key in ["a", "b", "c"] {
        assert_eq!(posted[key]["result"][0]["id"], "vcs/alder-capital", "{key}");
        assert_eq!(posted[key]["result"][0]["match"], true, "{key}: {posted}");
    }
    for key in ["d", "e", "f"] {
        assert_eq!(posted[key]["result"], json!([]), "{key}");
    }
    assert_eq!(posted["e"]["error"], Value::Null);
    let error = posted["f"]["error"].as_str().unwrap();
    assert!(error.starts_with("query `f`: `name` has 15 words, and a name to look up at most 12"), "{error}");
    for (name, value) in [
        ("queries", json!([])),
        ("queries", json!({ "q0": 1 })),
        ("queries", json!({ "q0": { "query": "a", "type": "planet" } })),
        ("extend", json!({ "ids": [] })),
        ("extend", json!({ "ids": [], "properties": [{ "id": "shoe_size" }] })),
    ] {
        let reply = service.post(name, &value);
        assert_eq!((reply.status, &reply.json()["status"]), (400, &json!("error")), "{value}: {}", reply.text);
        assert!(reply.json()["message"].as_str().unwrap().len() > 20);
    }
    let many: BTreeMap<String, Value> = (0..101).map(|number| (number.to_string(), json!({ "query": "a" }))).collect();
    assert_eq!(service.post("queries", &json!(many)).status, 400);
    assert_eq!(client.list("/reconcile", &[("queries", "{")]).status, 400);
}

#[test]
fn suggestions_previews_and_views_belong_to_the_records() {
    let server = Server::bundled();
    let client = server.anonymous();
    let service = Service::of(&client);
    let entities = service.suggest("entity", "alder cap");
    assert!(ids(&entities).contains(&"vcs/alder-capital"), "{entities:?}");
    assert_eq!(ids(&service.suggest("type", "st")), ["startup"]);
    assert_eq!(ids(&service.suggest("type", "")), ["firm", "startup", "person"]);
    assert_eq!(ids(&service.suggest("property", "found")), ["founded_year"]);

    let propose = &service.manifest["extend"]["propose_properties"];
    let path = propose["service_path"].as_str().unwrap();
    let key = server.client(Tier::Pro);
    for (kind, record) in [
        ("firm", "vcs/alder-capital".to_owned()),
        ("startup", format!("startups/{}", csv("startups.csv")[0]["slug"])),
        ("person", format!("people/{}", csv("people.csv")[0]["slug"])),
    ] {
        let proposed = client.list(path, &[("type", kind)]).json();
        assert_eq!(proposed["type"], kind);
        let properties = proposed["properties"].as_array().unwrap();
        assert!(properties.len() > 5, "{proposed}");
        let stored = key.get(&format!("/api/v3/{record}?fields=*")).json()["data"].clone();
        let extended =
            service.post("extend", &json!({ "ids": [record, "vcs/no-such-firm"], "properties": properties })).json();
        for property in ids(properties) {
            let values = extended["rows"][&record][property].as_array().unwrap();
            assert_eq!(extended["rows"]["vcs/no-such-firm"][property], json!([]));
            let expected = match &stored[property] {
                Value::Null => 0,
                Value::Array(values) => values.len(),
                _ => 1,
            };
            assert_eq!(values.len(), expected, "{record} {property}");
            assert!(values.iter().all(|value| value.as_object().is_some_and(|value| !value.is_empty())));
        }
        let preview = service.open("preview", &record);
        assert_eq!(preview.status, 200);
        assert!(preview.text.contains(&format!("/{record}\"")), "{}", preview.text);
        assert!(preview.header("content-security-policy").contains("frame-ancestors *"));
        let view = service.open("view", &record);
        assert!(view.status == 200 && view.text.contains("<h1"), "{}", view.status);
    }
    assert!(client.get("/").header("content-security-policy").contains("frame-ancestors 'none'"));
    for template in ["preview", "view"] {
        assert_eq!(service.open(template, "vcs/no-such-firm").status, 404);
        assert_eq!(service.open(template, "../etc").status, 404);
    }
    assert_eq!(client.get("/reconcile/nothing").status, 404);
}

#[test]
fn ten_queries_count_as_a_page() {
    let server = Server::allowing(10, 5);
    let client = server.anonymous();
    let service = Service::of(&client);
    let queries: BTreeMap<String, Value> =
        (0..100).map(|number| (number.to_string(), json!({ "query": "zzqx" }))).collect();
    assert_eq!(service.post("queries", &json!(queries)).status, 429);
    let later = service.post("queries", &json!({ "q0": { "query": "a" } }));
    assert_eq!(later.status, 429);
    assert!(!later.header("retry-after").is_empty());
}
