//! The page that tells how assistants are connected: its lines, and its conversations held again.

use std::collections::BTreeSet;

use serde_json::Value;
use venturedex::mcp::Tool;
use venturedex::site::{CONVERSATIONS, SETUPS};

use super::tools::{Desk, called};
use crate::harness::Server;

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
    for setup in SETUPS {
        assert!(page.text.contains(&format!("<h3>{}</h3>", setup.name)), "{}", setup.name);
        let lines = setup.lines.replace("{endpoint}", "https://api.example.com/api/mcp");
        assert!(lines.is_empty() || lines.contains("https://api.example.com/api/mcp"), "{}", setup.name);
        if setup.lines.starts_with('{') {
            let read: Value = serde_json::from_str(&lines).unwrap_or_else(|error| panic!("{}: {error}", setup.name));
            assert!(read.to_string().contains("\"venturedex\""), "{}", setup.name);
        }
    }
}

/// Where `shown` differs from `whole`: of objects some fields may be left out, of lists the end.
fn difference(shown: &Value, whole: &Value, place: &str) -> Option<String> {
    match (shown, whole) {
        (Value::Object(shown), Value::Object(whole)) => shown.iter().find_map(|(name, shown)| {
            let place = format!("{place}.{name}");
            match whole.get(name) {
                Some(whole) => difference(shown, whole, &place),
                None => Some(format!("{place} is not there")),
            }
        }),
        (Value::Array(shown), Value::Array(whole)) if shown.len() <= whole.len() => {
            let pairs = shown.iter().zip(whole).enumerate();
            pairs.into_iter().find_map(|(index, (shown, whole))| difference(shown, whole, &format!("{place}[{index}]")))
        }
        _ if shown == whole => None,
        _ => Some(format!("{place} is {whole}, not {shown}")),
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
fn the_conversations_are_what_the_tools_say() {
    let desk = Desk::bundled();
    let conversations: Value = serde_json::from_str(CONVERSATIONS).unwrap();
    let conversations = conversations.as_array().unwrap();
    assert_eq!(conversations.len(), 3);
    let mut calls = 0;
    for conversation in conversations {
        // What has been said or shown; an assistant's numbers must come from there, or be sums of two counts in it.
        let mut known: BTreeSet<String> = BTreeSet::new();
        for turn in conversation["turns"].as_array().unwrap() {
            if let Some(said) = turn["person"].as_str() {
                known.extend(numbers(said));
            }
            if let Some(call) = turn.get("call") {
                calls += 1;
                let tool = Tool::named(call["tool"].as_str().unwrap()).unwrap();
                match (called(&desk, tool, &call["arguments"]), turn["error"].as_str()) {
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
                    (Err(mistakes), Some(error)) => {
                        let mend = format!("{}; did you mean `{}`?", mistakes[0].detail, mistakes[0].did_you_mean[0]);
                        assert!(mend.ends_with(error), "{mend}");
                    }
                    (answer, error) => panic!("{call}: {answer:?} but {error:?}"),
                }
            }
            if let Some(said) = turn["assistant"].as_str() {
                assert!(said.len() > 40);
                // The best score there can be.
                known.extend(["100".to_owned(), "5".to_owned()]);
                let invented: Vec<String> = numbers(said).difference(&known).cloned().collect();
                assert!(invented.is_empty(), "{said}: {invented:?}");
            }
        }
    }
    assert!(calls >= 6);
}
