//! The docs page on MCP: its setup lines and its conversations, checked against the tools.

use std::collections::BTreeSet;

use mcp::Tool;
use serde_json::Value;
use site::{CONVERSATIONS, SETUPS};

use super::tools::TestTools;
use crate::support::harness::Server;

#[test]
fn the_page_names_the_endpoint_of_this_service() {
    let server = Server::bundled();
    let page = server.anonymous().get("/docs/mcp");
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.text.contains(&format!("http://{}/api/mcp", server.address)));
    assert!(!page.text.contains("{endpoint}") && !page.text.contains("<script>"));
    for tool in Tool::ALL {
        assert!(page.text.contains(tool.name()), "{}", tool.name());
    }
    for setup in SETUPS.iter() {
        assert!(page.text.contains(&format!("<h3>{}</h3>", setup.name)), "{}", setup.name);
        let lines = setup.lines.replace("{endpoint}", "https://api.example.com/api/mcp");
        assert!(lines.contains("https://api.example.com/api/mcp"), "{}", setup.name);
        if setup.lines.starts_with("{ ") {
            let read: Value = serde_json::from_str(&lines).unwrap_or_else(|error| panic!("{}: {error}", setup.name));
            assert!(read.to_string().contains("\"venturedex\""), "{}", setup.name);
        }
    }
}

/// The first difference of `shown` from `full`. It may lack fields of objects and the end of lists.
fn difference(shown: &Value, full: &Value, path: &str) -> Option<String> {
    match (shown, full) {
        (Value::Object(shown), Value::Object(full)) => shown.iter().find_map(|(name, shown)| {
            let path = format!("{path}.{name}");
            match full.get(name) {
                Some(full) => difference(shown, full, &path),
                None => Some(format!("{path} is missing")),
            }
        }),
        (Value::Array(shown), Value::Array(full)) if shown.len() <= full.len() => {
            let pairs = shown.iter().zip(full).enumerate();
            pairs.into_iter().find_map(|(index, (shown, full))| difference(shown, full, &format!("{path}[{index}]")))
        }
        _ if shown == full => None,
        _ => Some(format!("{path} is {full}, not {shown}")),
    }
}

/// The numbers in a text, without the commas between thousands.
fn numbers(text: &str) -> BTreeSet<String> {
    let is_part = |char: char| char.is_ascii_digit() || matches!(char, ',' | '.' | '-');
    let words = text.split(|char| !is_part(char)).map(|word| word.replace(',', ""));
    let words = words.map(|word| word.trim_matches(['.', '-']).to_owned());
    words.map(|word| word.trim_end_matches(".0").to_owned()).filter(|word| !word.is_empty()).collect()
}

#[test]
fn the_conversations_match_the_results_of_the_tools() {
    let tools = TestTools::bundled();
    let conversations: Value = serde_json::from_str(CONVERSATIONS).unwrap();
    let conversations = conversations.as_array().unwrap();
    assert_eq!(conversations.len(), 3);
    let mut calls = 0;
    for conversation in conversations {
        // The numbers said or shown so far. The assistant may use only these and sums of two counts.
        let mut known: BTreeSet<String> = BTreeSet::new();
        for turn in conversation["turns"].as_array().unwrap() {
            if let Some(text) = turn["person"].as_str() {
                known.extend(numbers(text));
            }
            if let Some(call) = turn.get("call") {
                calls += 1;
                let tool = Tool::from_name(call["tool"].as_str().unwrap()).unwrap();
                match (tools.call(tool, &call["arguments"]), turn["error"].as_str()) {
                    (Ok(answer), None) => {
                        let shown = turn["answer"].as_object().unwrap();
                        assert!(!shown.is_empty());
                        assert_eq!(difference(&turn["answer"], &answer, tool.name()), None, "{call}");
                        known.extend(numbers(&turn["answer"].to_string()));
                        if let Some(ghosting) = shown.get("ghosting") {
                            let count = |name: &str| ghosting[name].as_u64().unwrap_or(0);
                            known.insert((count("never_answered") + count("answered")).to_string());
                        }
                    }
                    (Err(errors), Some(text)) => {
                        let nearest = errors[0].did_you_mean.as_deref().unwrap();
                        let full_text = format!("{}; did you mean `{nearest}`?", errors[0].detail);
                        assert!(full_text.ends_with(text), "{full_text}");
                    }
                    (result, text) => panic!("{call}: {result:?} but {text:?}"),
                }
            }
            if let Some(text) = turn["assistant"].as_str() {
                assert!(text.len() > 40);
                // The highest scores.
                known.extend(["100".to_owned(), "5".to_owned()]);
                let invented: Vec<String> = numbers(text).difference(&known).cloned().collect();
                assert!(invented.is_empty(), "{text}: {invented:?}");
            }
        }
    }
    assert!(calls >= 6);
}
