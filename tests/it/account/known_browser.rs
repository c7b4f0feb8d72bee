//! An owner signs in while strangers guess the password of the account.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{Reply, Server, runs_long_tests};

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

#[test]
fn new_browsers_sign_in_during_a_flood_in_which_each_attempt_comes_from_another_address() {
    const BROWSERS: u32 = 20;
    if !runs_long_tests() {
        return;
    }
    let server = Server::bundled();
    Browser::signed_up(&server, "ada@example.com");
    let (is_over, attempts) = (AtomicBool::new(false), AtomicU32::new(0));
    let mut signed_in = 0;
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                let mut stranger = Browser::at(&server);
                while !is_over.load(Ordering::Relaxed) {
                    let [_, b, c, d] = attempts.fetch_add(1, Ordering::Relaxed).to_be_bytes();
                    let (from, email) = (format!("10.{b}.{c}.{d}"), format!("user{b}.{c}.{d}@example.com"));
                    let headers = [
                        ("content-type", "application/x-www-form-urlencoded"),
                        ("sec-fetch-site", "same-origin"),
                        ("x-forwarded-for", from.as_str()),
                    ];
                    let form = [("email", email.as_str()), ("password", "wrong")];
                    stranger.send("POST", "/signin", &headers, &form);
                }
            });
        }
        // The line is full of strangers before the first browser comes.
        let began = Instant::now();
        while server.state.auth.password_queue().waiting < 40 {
            assert!(began.elapsed() < Duration::from_secs(60), "no flood");
            std::thread::yield_now();
        }
        for number in 0..BROWSERS {
            let reply = sign_in(&mut Browser::at(&server), &format!("198.51.{number}.1"), PASSWORD);
            signed_in += u32::from(reply.status == 303);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    println!("{signed_in} of {BROWSERS} new browsers signed in, {} attempts of strangers", attempts.into_inner());
    assert!(signed_in * 10 >= BROWSERS * 9, "{signed_in} of {BROWSERS}");
}
