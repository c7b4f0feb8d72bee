//! Minimal pairs: questions that differ in a sign only, in six languages, with the parameters that each is read as.

use crate::ask::Interpretation;
use crate::{Catalog, Resource};

const PAIRS: &str = include_str!("pairs.txt");

fn resource(name: &str) -> Resource {
    match name {
        "firms" => Resource::Firms,
        "rounds" => Resource::Rounds,
        "people" => Resource::People,
        _ => Resource::Startups,
    }
}

fn read(catalog: &Catalog, list: &str, question: &str) -> (String, String) {
    let Interpretation { parts, unread } = catalog.interpret(resource(list), question);
    let parts: Vec<String> = parts.iter().map(|part| format!("{}={}", part.parameter, part.value)).collect();
    (parts.join(" "), unread.join("; "))
}

#[test]
fn questions_that_differ_in_a_sign_are_read_apart() {
    let catalog = crate::bundled().unwrap();
    let mut wrong = Vec::new();
    let mut list = "";
    let mut read_pairs = 0;
    for line in data::word_file::entries(PAIRS) {
        if let Some(heading) = line.strip_prefix('[') {
            list = heading.trim_end_matches(']');
            continue;
        }
        let (question, expected) = line.split_once(" = ").expect("a question and its parameters");
        let found = read(&catalog, list, question);
        read_pairs += 1;
        if found != (expected.to_owned(), String::new()) {
            wrong.push(format!("{list}: {question}\n  expected {expected}\n  found    {} [{}]", found.0, found.1));
        }
    }
    assert!(read_pairs >= 100);
    assert!(wrong.is_empty(), "{} of {read_pairs}:\n{}", wrong.len(), wrong.join("\n"));
}
