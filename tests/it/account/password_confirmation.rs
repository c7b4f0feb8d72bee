//! The password is required again before sensitive changes.

use crate::support::browser::{Browser, PASSWORD, shown_key};
use crate::support::harness::{NOON, Reply, Server};

/// As if the passwords of all sessions had been entered so many seconds ago.
fn age_sessions(server: &Server, seconds: i64) {
    let database = rusqlite::Connection::open(server.data().join("venturedex.sqlite")).unwrap();
    database.execute("UPDATE sessions SET authenticated_at = ?", [NOON - seconds]).unwrap();
}

fn asks(reply: &Reply) -> bool {
    reply.text.contains("<h1>Confirm your password</h1>")
}

#[test]
fn a_key_is_created_and_rotated_only_after_the_password_was_entered_in_the_last_hours() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    age_sessions(&server, 4 * 3_600 - 1);
    let (_, id) = browser.create_key("first");
    age_sessions(&server, 4 * 3_600);
    let form = [("name", "<b>second</b>"), ("expires", "30")];
    let reply = browser.post("/account/keys", &form);
    assert!(reply.status == 200 && asks(&reply), "{}", reply.text);
    // The page repeats the form, escaped.
    assert!(reply.text.contains("name=\"name\" value=\"&#60;b&#62;second&#60;/b&#62;\""), "{}", reply.text);
    assert!(reply.text.contains("name=\"expires\" value=\"30\"") && reply.text.contains("action=\"/account/keys\""));
    let wrong = browser.post("/account/keys", &[&form[..], &[("confirmation", "not that one")]].concat());
    assert_eq!((wrong.status, asks(&wrong)), (422, true));
    assert!(wrong.text.contains("not your current password") && !wrong.text.contains("not that one"), "{}", wrong.text);
    assert!(browser.get("/account").text.contains("1 of 3"), "no key was created");
    let rotate = format!("/account/keys/{id}/rotate");
    let reply = browser.post(&rotate, &[("overlap", "1"), ("expires", "")]);
    assert!(asks(&reply) && reply.text.contains(&format!("action=\"{rotate}\"")), "{}", reply.text);
    assert!(reply.text.contains("name=\"overlap\" value=\"1\""), "{}", reply.text);

    let reply = browser.post("/account/keys", &[&form[..], &[("confirmation", PASSWORD)]].concat());
    assert_eq!(reply.status, 201);
    assert_eq!(browser.client(&shown_key(&reply.text)).get("/api/v3/usage").status, 200);
    // It is not asked again, and what protects the account never is.
    assert_eq!(browser.post(&rotate, &[]).status, 201);
    age_sessions(&server, 86_400);
    assert_eq!(browser.post(&format!("/account/keys/{id}/revoke"), &[]).status, 303);
}

#[test]
fn guesses_at_a_found_browser_are_limited() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    age_sessions(&server, 86_400);
    let mut guess = || browser.post("/account/keys", &[("name", "x"), ("confirmation", "not that one")]).status;
    let statuses: Vec<u16> = (0..11).map(|_| guess()).collect();
    assert_eq!((&statuses[..10], statuses[10]), (&[422; 10][..], 429));
}
