//! Whom to contact: security.txt, the privacy page, and where a password is changed.

use venturedex::data::Date;

use crate::harness::{Client, NOON, Server, agent_without_redirects, code};
use crate::program::run;

#[test]
fn the_contact_is_published_if_it_is_set() {
    let server = Server::with_contact("https://api.example.com", "mailto:security@example.com");
    let client = server.anonymous();
    let file = client.get("/.well-known/security.txt");
    assert_eq!((file.status, file.header("content-type")), (200, "text/plain; charset=utf-8"));
    let value = |name: &str| {
        let line = file.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("no {name}: {}", file.text))
    };
    assert_eq!(value("Contact"), "mailto:security@example.com");
    assert_eq!(value("Canonical"), "https://api.example.com/.well-known/security.txt");
    let expires: Date = value("Expires").strip_suffix("T00:00:00Z").unwrap().parse().unwrap();
    let days = expires.days() - Date::from_unix(NOON).days();
    assert!((30..365).contains(&days), "expires in {days} days");
    let privacy = client.get("/docs/privacy").text;
    assert!(privacy.contains("<a href=\"mailto:security@example.com\">security@example.com</a>"), "{privacy}");
}

#[test]
fn without_a_contact_there_is_no_security_txt() {
    let server = Server::bundled();
    let client = server.anonymous();
    let reply = client.get("/.well-known/security.txt");
    assert_eq!(code(&reply), (404, "unknown_route".to_owned()));
    assert!(reply.text.contains("--contact"), "{}", reply.text);
    assert!(client.get("/docs/privacy").text.contains("has published no address"));
    assert!(client.get("/docs/operation").text.contains("--contact"));
}

#[test]
fn an_invalid_contact_is_rejected_with_examples() {
    let data = tempfile::tempdir().unwrap();
    let ended = run(data.path(), &["serve", "--contact", "security@example.com"], "");
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("--contact") && ended.err.contains("mailto:security@example.com"), "{}", ended.err);
}

#[test]
fn password_managers_find_where_to_change_a_password() {
    let server = Server::bundled();
    let client = server.anonymous();
    let agent = agent_without_redirects();
    let reply = Client { agent, ..client }.get("/.well-known/change-password");
    assert_eq!((reply.status, reply.header("location")), (303, "/account"));
    assert_eq!(reply.header("cache-control"), "no-store");
}
