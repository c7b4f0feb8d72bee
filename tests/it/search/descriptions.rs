//! Search by what records say of themselves (`text`), on lists and their counts.

use std::collections::HashSet;

use auth::quota::Tier;
use serde_json::{Value, json};

use crate::support::harness::{Client, Server, code};

fn list(client: &Client, path: &str, parameters: &[(&str, &str)]) -> Value {
    let reply = client.list(path, parameters);
    assert_eq!(reply.status, 200, "{parameters:?}: {}", reply.text);
    reply.json()
}

fn slugs(page: &Value) -> Vec<String> {
    page["data"].as_array().unwrap().iter().map(|row| row["slug"].as_str().unwrap().to_owned()).collect()
}

fn all(client: &Client, parameters: &[(&str, &str)]) -> Value {
    list(client, "/api/v3/startups", &[parameters, &[("limit", "1000")]].concat())
}

#[test]
fn each_match_has_the_words_in_its_texts() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, text, stems) in [
        ("/api/v3/startups", "workflow tools", &["workflow", "tool"][..]),
        ("/api/v3/startups", "fintech berlin", &["fintech", "berlin"]),
        ("/api/v3/vcs", "investing in climate", &["invest", "climate"]),
        ("/api/v3/people", "partners", &["partner"]),
    ] {
        let page = list(&client, path, &[("text", text), ("limit", "100"), ("fields", "*")]);
        let rows = page["data"].as_array().unwrap();
        assert!(rows.len() > 2, "{text}");
        for (index, row) in rows.iter().enumerate() {
            let json = row.to_string().to_lowercase();
            let having = stems.iter().filter(|stem| json.contains(**stem)).count();
            assert!(having > 0, "{text}: {row}");
            // The best has all of the words.
            assert!(index > 0 || having == stems.len(), "{text}: {row}");
        }
    }
}

#[test]
fn filters_only_remove_matches_and_counts_agree() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let text = ("text", "software teams");
    let every = all(&client, &[text]);
    let matches = slugs(&every);
    assert_eq!(every["pagination"]["total"], matches.len());
    assert!(matches.len() > 20);
    let filtered = slugs(&all(&client, &[text, ("country", "US")]));
    let in_us: HashSet<String> = slugs(&all(&client, &[("country", "US"), ("sort", "name")])).into_iter().collect();
    assert_eq!(filtered, matches.iter().filter(|slug| in_us.contains(*slug)).cloned().collect::<Vec<_>>());
    let firms = ("text", "investing in climate");
    let facets = list(&client, "/api/v3/vcs/facets", &[firms]);
    assert_eq!(facets["data"]["total"], list(&client, "/api/v3/vcs", &[firms])["pagination"]["total"]);
    // Another order has the same rows.
    let by_name = slugs(&all(&client, &[text, ("sort", "name")]));
    assert_ne!(by_name, matches);
    assert_eq!(by_name.into_iter().collect::<HashSet<_>>(), matches.iter().cloned().collect::<HashSet<_>>());
    assert_eq!(slugs(&all(&client, &[text, ("sort", "relevance")])), matches);
    // A walk has each row once, in the same order.
    let (mut walked, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let parameters = [text, ("limit", "9")];
        let cursor_parameter = cursor.as_deref().map(|cursor| ("cursor", cursor));
        let page =
            list(&client, "/api/v3/startups", &parameters.into_iter().chain(cursor_parameter).collect::<Vec<_>>());
        walked.extend(slugs(&page));
        match page["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(walked, matches);
    // A name and a text: both.
    let named = slugs(&all(&client, &[("q", "tidewick"), ("text", "software")]));
    assert!(
        !named.is_empty() && named.iter().all(|slug| slug.contains("tidewick") || slug.contains("tide-wick")),
        "{named:?}"
    );
}

#[test]
fn snippets_show_the_words_in_descriptions() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let page = list(&client, "/api/v3/startups", &[("text", "pilot customers"), ("limit", "30"), ("fields", "*")]);
    let snippets = page["meta"]["snippets"].as_array().unwrap();
    assert!(snippets.len() > 5, "{page}");
    for snippet in snippets {
        let slug = &snippet["slug"];
        let row = page["data"].as_array().unwrap().iter().find(|row| row["slug"] == *slug).unwrap();
        let text = snippet["text"].as_str().unwrap();
        assert!(text.chars().count() <= 170, "{text}");
        let part = text.trim_matches('…');
        assert!(row["description"].as_str().unwrap().contains(part), "{text} {row}");
        let chars: Vec<char> = text.chars().collect();
        let marks = snippet["marks"].as_array().unwrap();
        assert!(!marks.is_empty(), "{text}");
        for mark in marks {
            let at = |name: &str| mark[name].as_u64().unwrap() as usize;
            let word: String = chars[at("start")..at("end")].iter().collect::<String>().to_lowercase();
            assert!(word.starts_with("pilot") || word.starts_with("customer"), "{word} of {text}");
        }
    }
    // Without `text` there are none.
    assert_eq!(list(&client, "/api/v3/startups", &[("limit", "3")])["meta"].get("snippets"), None);
}

#[test]
fn a_text_that_nothing_has_or_that_is_too_long_is_said() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let none = list(&client, "/api/v3/startups", &[("text", "zzyzx")]);
    assert_eq!((&none["data"], &none["pagination"]["total"]), (&json!([]), &json!(0)));
    let long = "software ".repeat(30);
    assert_eq!(code(&client.list("/api/v3/startups", &[("text", &long)])), (400, "invalid_parameter".to_owned()));
    assert_eq!(client.list("/api/v3/funding-rounds", &[("text", "software")]).status, 400);
}

#[test]
fn records_without_all_words_fill_the_first_page_and_are_counted_nowhere() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let path = "/api/v3/startups?text=workflow+customers&fields=slug,description,name,sectors";
    let first = client.get(&format!("{path}&limit=50")).json();
    let total = first["pagination"]["total"].as_u64().unwrap();
    let rows = first["data"].as_array().unwrap();
    let has_both = |row: &Value| {
        let text = row.to_string().to_lowercase();
        text.contains("workflow") && text.contains("customer")
    };
    assert!(total > 1 && (total as usize) < rows.len() && rows.len() <= 20, "{total} {}", rows.len());
    assert!(rows[..total as usize].iter().all(has_both));
    let warning = &first["meta"]["warnings"][0];
    assert_eq!((&warning["code"], &warning["parameter"]), (&json!("relaxed"), &json!("text")));
    assert!(
        warning["detail"].as_str().unwrap().contains(&format!("first {total} records have all words")),
        "{warning}"
    );
    assert_eq!((&first["pagination"]["has_more"], &first["pagination"]["next_cursor"]), (&json!(false), &Value::Null));
    for path in [format!("{path}&sort=name&limit=50"), format!("{path}&limit={total}")] {
        let reply = client.get(&path).json();
        assert_eq!(
            (reply["data"].as_array().unwrap().len() as u64, &reply["pagination"]["total"]),
            (total, &json!(total))
        );
        assert_eq!(reply["meta"]["warnings"], Value::Null, "{path}");
    }
    let aggregate = client.get("/api/v3/startups/aggregate?text=workflow+customers").json();
    assert_eq!(aggregate["data"]["total"], total);
    let page = client.get("/startups?text=zorblax+customers").text;
    assert!(page.contains("No record has all words") && !page.contains("No results."), "{page}");
    let csv = client.get("/api/v3/startups.csv?text=workflow+customers&fields=slug").text;
    assert_eq!(csv.lines().count() as u64, total + 1, "{csv}");
}

#[test]
fn stop_words_alone_find_nothing() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for text in ["the", "for and to", "with in an is of a", "der die das", "le la les"] {
        let reply = client.list("/api/v3/startups", &[("text", text)]).json();
        assert_eq!((&reply["pagination"]["total"], &reply["data"]), (&json!(0), &json!([])), "{text}");
    }
    let total = |text: &str| client.list("/api/v3/startups", &[("text", text)]).json()["pagination"]["total"].clone();
    assert_eq!(total("tools for the customers"), total("tools customers"));
}
