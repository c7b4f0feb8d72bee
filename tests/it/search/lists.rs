//! Lists with a search: what explains their order, what they suggest without a match.

use auth::quota::Tier;

use crate::support::harness::{Server, code};

#[test]
fn a_search_explains_its_scores_on_request() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let json = client.list("/api/v3/vcs", &[("q", "aldr captial"), ("explain", "1"), ("limit", "3")]).json();
    let explained = json["meta"]["explain"].as_array().unwrap();
    assert_eq!(explained.len(), json["data"].as_array().unwrap().len());
    assert_eq!(explained[0]["slug"], json["data"][0]["slug"]);
    assert!(!explained[0]["parts"].as_array().unwrap().is_empty());
    let scores: Vec<f64> = explained.iter().map(|part| part["score"].as_f64().unwrap()).collect();
    assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
    assert!(client.list("/api/v3/vcs", &[("q", "alder")]).json()["meta"].get("explain").is_none());
    assert_eq!(code(&client.get("/api/v3/vcs?q=alder&explain=perhaps")), (400, "invalid_parameter".into()));
    assert_eq!(code(&client.get("/api/v3/reviews?explain=1")), (400, "unknown_parameter".into()));
}

#[test]
fn a_search_without_matches_has_suggestions() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let json = client.list("/api/v3/vcs", &[("q", "aldxr kapitul partnas")]).json();
    let found = !json["data"].as_array().unwrap().is_empty();
    assert!(found || json["meta"]["did_you_mean"][0]["slug"].is_string(), "{json}");
    let nothing = client.list("/api/v3/vcs", &[("q", "zzqxj wvvkq")]).json();
    assert_eq!(nothing["pagination"]["total"], 0);
}
