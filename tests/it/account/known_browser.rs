//! An owner signs in while strangers guess the password of the account.

use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{Reply, Server};

/// Sends a sign-in from an address.
fn sign_in(browser: &mut Browser, from: &str, password: &str) -> Reply {
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("sec-fetch-site", "same-origin"),
        ("x-forwarded-for", from),
    ];
    browser.send("POST", "/signin", &headers, &[("email", "ada@example.com"), ("password", password)])
}

/// Guesses until no address of a stranger may guess any more.
fn attack(server: &Server) {
    let mut stranger = Browser::at(server);
    let mut guesses = 0;
    for network in 0..20 {
        let admitted = (0..11)
            .take_while(|host| sign_in(&mut stranger, &format!("198.51.{network}.{host}"), "wrong").status == 422);
        guesses += admitted.count();
    }
    assert_eq!(guesses, 50);
    let refused = sign_in(&mut stranger, "203.0.113.1", PASSWORD);
    assert_eq!((refused.status, refused.header("retry-after")), (429, "900"));
}

#[test]
fn the_browser_of_an_owner_is_known_after_it_signed_out() {
    let server = Server::bundled();
    let mut owner = Browser::signed_up(&server, "ada@example.com");
    let first = owner.cookies["browser"].clone();
    let reply = owner.post("/signout", &[]);
    assert_eq!(reply.headers.get_all("set-cookie").iter().count(), 1);
    assert_eq!(owner.cookies.keys().collect::<Vec<_>>(), ["browser"]);
    attack(&server);
    let reply = sign_in(&mut owner, "203.0.113.1", PASSWORD);
    assert_eq!((reply.status, reply.header("location")), (303, "/account"));
    let cookie = reply.headers.get_all("set-cookie").iter().next_back().unwrap().to_str().unwrap().to_owned();
    assert!(
        cookie.starts_with("browser=") && cookie.ends_with("; HttpOnly; SameSite=Lax; Max-Age=15552000"),
        "{cookie}"
    );
    assert!(!cookie.contains("ada"), "{cookie}");

    // A sign-in with a forged cookie is a stranger's.
    let mut forger = Browser::at(&server);
    forger.cookies.insert("browser".to_owned(), first.replace(&first[40..44], "AAAA"));
    assert_eq!(sign_in(&mut forger, "203.0.113.2", PASSWORD).status, 429);
}

#[test]
fn a_signed_in_owner_changes_the_password_and_deletes_the_account_under_attack() {
    let server = Server::bundled();
    let mut owner = Browser::signed_up(&server, "ada@example.com");
    let mut other = Browser::at(&server);
    other.cookies.clone_from(&owner.cookies);
    attack(&server);
    let reply = owner.post("/account/password", &[("current", PASSWORD), ("new", "nine loud herons")]);
    assert!(reply.status == 200 && reply.text.contains("Your password is changed"), "{}", reply.text);
    owner.post("/signout", &[]);
    assert_eq!(sign_in(&mut owner, "203.0.113.1", "nine loud herons").status, 303);
    let reply = sign_in(&mut other, "203.0.113.1", "nine loud herons");
    assert_eq!(reply.status, 429, "the cookie from before the change is worthless");
    assert_eq!(owner.post("/account/delete", &[("password", "nine loud herons")]).status, 303);
    assert!(owner.cookies.is_empty());
}
