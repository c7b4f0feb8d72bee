//! Requests of every route, generated.

use serde_json::{Value, json};

use crate::client::{encoded, get, post, tool_call};
use crate::generate::{Param, Words, reconciliation};
use crate::random::Random;
use crate::timed::TimedServer;

type Generator = dyn Fn(&Words, &mut Random) -> Vec<u8>;

/// A route whose requests are generated.
pub struct Subject {
    pub name: String,
    pub request: Box<Generator>,
    /// True if a request has many items, and each is a piece of work.
    pub is_batch: bool,
}

/// Every path of the three documents, every public page, every tool, and every form with many items.
pub async fn subjects(server: &mut TimedServer) -> Vec<Subject> {
    let key = server.key.clone();
    let mut subjects = Vec::new();
    let mut document = Value::Null;
    for version in ["v1", "v2", "v3"] {
        let text = server.send(&get(&format!("/openapi/{version}.json"), "")).await.expect("a document").1.body;
        document = serde_json::from_str(&text).expect("JSON");
        for (path, operations) in document["paths"].as_object().expect("paths") {
            let Some(operation) = operations.get("get") else { continue };
            subjects.push(list(&format!("/api/{version}{path}"), Param::of(operation, &document), &key));
            let types = operation.pointer("/responses/200/content").and_then(Value::as_object);
            if types.is_some_and(|types| types.contains_key("text/csv")) {
                for extension in ["csv", "ndjson"] {
                    let path = format!("/api/{version}{path}.{extension}");
                    subjects.push(Subject { is_batch: true, ..list(&path, Vec::new(), &key) });
                }
            }
        }
    }
    // Pages take the parameters of the lists that they show.
    for page in site::public_paths() {
        let shown = match page {
            "/" => "/suggest",
            "/rounds" => "/funding-rounds",
            page => page,
        };
        subjects.push(list(page, Param::of(&document["paths"][shown]["get"], &document), ""));
    }
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let call = post("/api/mcp", "content-type: application/json\r\naccept: application/json\r\n", call);
    let tools: Value = serde_json::from_str(&server.send(&call).await.expect("the tools").1.body).expect("JSON");
    for tool in tools["result"]["tools"].as_array().expect("tools") {
        let name = tool["name"].as_str().expect("a name").to_owned();
        let schema = &tool["inputSchema"];
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let params: Vec<Param> = properties.into_iter().map(|(name, schema)| Param { name, schema }).collect();
        let (called, required) = (name.clone(), schema["required"].clone());
        let request = move |words: &Words, random: &mut Random| {
            tool_call("", &called, &words.arguments(&params, &required, random))
        };
        subjects.push(Subject { name, request: Box::new(request), is_batch: false });
    }
    subjects.extend(batches(&key));
    subjects
}

/// Look-ups of as many items as they take.
fn batches(key: &str) -> [Subject; 5] {
    const FORM: &str = "content-type: application/x-www-form-urlencoded\r\n";
    let batch = |name: &str, request: Box<Generator>| Subject { name: name.to_owned(), request, is_batch: true };
    let (json_key, csv_key) = (key.to_owned(), key.to_owned());
    let names = |words: &Words, random: &mut Random, count: usize| -> Vec<String> {
        (0..count).map(|_| words.looked_up_name(random)).collect()
    };
    let items = move |words: &Words, random: &mut Random| {
        let items: Vec<Value> = names(words, random, 500).into_iter().map(|name| json!({ "name": name })).collect();
        let headers = format!("{json_key}content-type: application/json\r\n");
        post("/api/v3/resolve", &headers, &json!({ "items": items }).to_string())
    };
    let table = move |words: &Words, random: &mut Random| {
        let headers = format!("{csv_key}content-type: text/csv\r\naccept: text/csv\r\n");
        post("/api/v3/resolve", &headers, &format!("name\n{}\n", names(words, random, 500).join("\n")))
    };
    let page = move |words: &Words, random: &mut Random| {
        let text = names(words, random, 100).join("\n");
        let part = format!("--part\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\n{text}\r\n--part--\r\n");
        post("/resolve", "content-type: multipart/form-data; boundary=part\r\n", &part)
    };
    let queries = |words: &Words, random: &mut Random| reconciliation(words, "", random);
    let extension = |words: &Words, random: &mut Random| {
        let ids: Vec<String> = (0..100).map(|_| format!("vcs/{}", words.slug(random))).collect();
        let properties =
            ["name", "aliases", "stages", "sectors", "country", "investment_count", "identifiers", "website"];
        let properties: Vec<Value> = properties.iter().map(|id| json!({ "id": id })).collect();
        let extend = json!({ "ids": ids, "properties": properties }).to_string();
        post("/reconcile", FORM, &format!("extend={}", encoded(&extend)))
    };
    [
        batch("POST /api/v3/resolve", Box::new(items)),
        batch("POST /api/v3/resolve, a table", Box::new(table)),
        batch("POST /resolve", Box::new(page)),
        batch("POST /reconcile, queries", Box::new(queries)),
        batch("POST /reconcile, extend", Box::new(extension)),
    ]
}

pub fn misspelt_names(key: &str) -> Subject {
    let key = key.to_owned();
    let request = move |words: &Words, random: &mut Random| {
        get(&format!("/api/v3/startups?q={}", encoded(&words.misspelt_name(random))), &key)
    };
    Subject { name: "a misspelt name".to_owned(), request: Box::new(request), is_batch: false }
}

fn list(path: &str, params: Vec<Param>, headers: &str) -> Subject {
    let (template, headers) = (path.to_owned(), headers.to_owned());
    let request = move |words: &Words, random: &mut Random| {
        let mut path = template.clone();
        while let (Some(start), Some(end)) = (path.find('{'), path.find('}')) {
            let value = words.path_value(&path[start + 1..end], &template, random);
            path.replace_range(start..=end, &encoded(&value).replace('+', "%20"));
        }
        let query = words.query(&params, random);
        get(&if query.is_empty() { path } else { format!("{path}?{query}") }, &headers)
    };
    Subject { name: path.to_owned(), request: Box::new(request), is_batch: false }
}
