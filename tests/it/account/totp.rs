//! Two-step sign-in: setting it up, signing in, recovery codes, turning it off.

use std::fs;

use auth::audit::AuditLog;
use auth::totp::TotpSecret;
use ring::hmac;

use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{NOON, Reply, Server};
use crate::support::html::{Markup, parse, text_of};
use crate::support::program::run;

/// The value of a hidden field.
pub fn field(reply: &Reply, name: &str) -> String {
    parse(&reply.text).first(&format!("input[type=hidden][name={name}]")).attr("value").unwrap().to_owned()
}

/// The recovery codes on the page that shows them once.
pub fn recovery_codes(reply: &Reply) -> Vec<String> {
    text_of(parse(&reply.text).first("pre#codes")).lines().map(str::to_owned).collect()
}

/// The code that an authenticator app with a secret shows at a time (Unix seconds), by RFC 6238.
pub fn app_code(secret: &TotpSecret, now: i64) -> String {
    let mut key = Vec::new();
    for group in secret.reveal().as_bytes().chunks(8) {
        let number = group.iter().fold(0_u64, |number, letter| {
            let value = if letter.is_ascii_digit() { letter - b'2' + 26 } else { letter - b'A' };
            number << 5 | u64::from(value)
        });
        key.extend_from_slice(&number.to_be_bytes()[3..]);
    }
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &key);
    let hash = hmac::sign(&key, &(now / 30).to_be_bytes());
    let hash: &[u8] = hash.as_ref();
    let offset = usize::from(hash[19] & 0xf);
    let word = u32::from_be_bytes(hash[offset..offset + 4].try_into().unwrap());
    format!("{:06}", (word & 0x7fff_ffff) % 1_000_000)
}

fn code(secret: &TotpSecret, seconds: i64) -> String {
    app_code(secret, NOON + seconds)
}

/// Turns it on, and returns the secret and the recovery codes.
fn turn_on(browser: &mut Browser) -> (TotpSecret, Vec<String>) {
    let setup = browser.post("/account/totp/setup", &[]);
    assert_eq!(setup.status, 200, "{}", setup.text);
    let text = field(&setup, "secret");
    let secret: TotpSecret = text.parse().unwrap();
    let link = format!("otpauth://totp/VentureDex:ada%40example.com?secret={text}&#38;issuer=VentureDex");
    assert!(setup.text.contains(&link) && setup.text.contains("<svg class=\"qr\""), "{}", setup.text);
    let wrong = browser.post("/account/totp/enable", &[("secret", &text), ("code", "000000")]);
    assert_eq!((wrong.status, field(&wrong, "secret")), (422, text.clone()), "the same secret again");
    let on = browser.post("/account/totp/enable", &[("secret", &text), ("code", &code(&secret, 0))]);
    assert_eq!(on.status, 201, "{}", on.text);
    (secret, recovery_codes(&on))
}

fn password(browser: &mut Browser) -> Reply {
    browser.post("/signin", &[("email", "ada@example.com"), ("password", PASSWORD)])
}

#[test]
fn a_visitor_turns_it_on_signs_in_with_a_code_and_turns_it_off() {
    let server = Server::bundled();
    let mut here = Browser::signed_up(&server, "ada@example.com");
    assert_eq!(here.get("/account/totp").header("location"), "/account");
    let (secret, codes) = turn_on(&mut here);
    assert_eq!(codes.len(), 10);
    let again = here.post("/account/totp/enable", &[("secret", &"A".repeat(32)), ("code", "000000")]);
    assert_eq!(again.status, 422);
    let other: TotpSecret = "A".repeat(32).parse().unwrap();
    let again = here.post("/account/totp/enable", &[("secret", &"A".repeat(32)), ("code", &code(&other, 0))]);
    assert_eq!((again.status, again.header("location")), (303, "/account"), "another app does not replace the first");
    let page = here.get("/account").text;
    assert!(page.contains("On since 21 Nov 2026") && page.contains("10 of 10 recovery codes"), "{page}");
    assert!(!page.contains(&codes[0]) && !page.contains(secret.reveal().as_str()));

    let mut there = Browser::at(&server);
    let reply = password(&mut there);
    assert!(reply.status == 200 && reply.text.contains("<h1>Enter your code</h1>"), "{}", reply.text);
    assert_eq!(reply.header("set-cookie"), "");
    let pending = field(&reply, "pending");
    let wrong = there.post("/signin/code", &[("pending", &pending), ("code", &code(&secret, 0))]);
    assert_eq!((wrong.status, field(&wrong, "pending")), (422, pending.clone()), "used when it was turned on");
    assert!(wrong.text.contains("This code is not valid"), "{}", wrong.text);
    assert_eq!(there.get("/account").status, 303);
    let reply = there.post("/signin/code", &[("pending", &pending), ("code", &code(&secret, 30))]);
    assert_eq!((reply.status, reply.header("location")), (303, "/account"));
    assert_eq!(there.get("/account").status, 200);

    // A recovery code, once; and new ones.
    for status in [303, 422] {
        let reply = Browser::at(&server).post("/signin/code", &[("pending", &pending), ("code", &codes[0])]);
        assert_eq!(reply.status, status, "{}", reply.text);
    }
    assert!(here.get("/account/totp").text.contains("9 of 10 are left"));
    let renewed = here.post("/account/totp/codes", &[]);
    assert!(renewed.status == 201 && !renewed.text.contains(&codes[1]), "{}", renewed.text);
    let old = Browser::at(&server).post("/signin/code", &[("pending", &pending), ("code", &codes[1])]);
    assert_eq!(old.status, 422);

    let off =
        |password, code: &str| [("password", password), ("code", code)].map(|(name, text)| (name, text.to_owned()));
    for (password, code) in [(PASSWORD, "000000"), ("not that one", codes[1].as_str())] {
        let form = off(password, code);
        let form: Vec<(&str, &str)> = form.iter().map(|(name, text)| (*name, text.as_str())).collect();
        assert_eq!(here.post("/account/totp/disable", &form).status, 422);
    }
    let recovery = recovery_codes(&renewed).remove(0);
    let reply = here.post("/account/totp/disable", &[("password", PASSWORD), ("code", &recovery)]);
    assert_eq!((reply.status, reply.header("location")), (303, "/account"), "{}", reply.text);
    assert_eq!(password(&mut Browser::at(&server)).header("location"), "/account");
    assert!(here.get("/account").text.contains("Set up two-step sign-in"));
}

#[test]
fn a_wrong_password_says_nothing_about_the_second_step() {
    let server = Server::bundled();
    let mut here = Browser::signed_up(&server, "ada@example.com");
    turn_on(&mut here);
    let guess = |email: &str| Browser::at(&server).post("/signin", &[("email", email), ("password", "not that one")]);
    let (known, unknown) = (guess("ada@example.com"), guess("nobody@example.com"));
    let same = |reply: &Reply| reply.text.replace("ada@example.com", "…").replace("nobody@example.com", "…");
    assert_eq!((known.status, same(&known)), (422, same(&unknown)));
    let invented = Browser::at(&server).post("/signin/code", &[("pending", "AAAA"), ("code", "123456")]);
    assert_eq!(invented.status, 422);
    assert!(invented.text.contains("enter your password again"), "{}", invented.text);
}

#[test]
fn the_password_is_asked_before_it_is_set_up() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let database = rusqlite::Connection::open(server.data().join("venturedex.sqlite")).unwrap();
    database.execute("UPDATE sessions SET authenticated_at = 0", []).unwrap();
    let secret: TotpSecret = "A".repeat(32).parse().unwrap();
    for (path, form) in [
        ("/account/totp/setup", vec![]),
        ("/account/totp/enable", vec![("secret", "A".repeat(32)), ("code", code(&secret, 0))]),
        ("/account/totp/codes", vec![]),
    ] {
        let form: Vec<(&str, &str)> = form.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let reply = browser.post(path, &form);
        assert!(reply.status == 200 && reply.text.contains("<h1>Confirm your password</h1>"), "{path}: {}", reply.text);
    }
    assert!(browser.get("/account").text.contains("Set up two-step sign-in"));
    let form = [("secret", "A".repeat(32)), ("code", code(&secret, 0)), ("confirmation", PASSWORD.to_owned())];
    let form: Vec<(&str, &str)> = form.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert_eq!(browser.post("/account/totp/enable", &form).status, 201);
}

#[test]
fn an_operator_resets_it_and_the_log_says_what_happened() {
    let server = Server::bundled();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    server.state.auth.log_to(AuditLog::open(&log, || NOON).unwrap());
    let mut here = Browser::signed_up(&server, "ada@example.com");
    let (secret, codes) = turn_on(&mut here);
    let pending = field(&password(&mut Browser::at(&server)), "pending");
    Browser::at(&server).post("/signin/code", &[("pending", &pending), ("code", &codes[0])]);
    let list = run(server.data(), &["account", "list", "--json"], "").ok();
    assert!(list.contains("\"totp_enabled_at\":\"2026-11-21T12:00:00Z\""), "{list}");
    let reset = ["account", "reset-totp", "--email", "ada@example.com"];
    assert!(run(server.data(), &reset, "").err.contains("no longer requires codes"));
    assert!(run(server.data(), &reset, "").err.contains("does not require codes"));
    assert_eq!(password(&mut Browser::at(&server)).status, 303);

    let text = fs::read_to_string(&log).unwrap();
    let seen: Vec<(String, String)> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| (line["event"].as_str().unwrap().to_owned(), line["outcome"].as_str().unwrap().to_owned()))
        .collect();
    let expected = [
        ("sign_up", "ok"),
        ("totp_activation", "wrong_code"),
        ("totp_activation", "ok"),
        ("sign_in", "code_required"),
        ("recovery_code_use", "ok"),
        ("sign_in", "ok"),
        ("sign_in", "ok"),
    ];
    assert_eq!(seen, expected.map(|(event, outcome)| (event.to_owned(), outcome.to_owned())));
    for secret in [secret.reveal().as_str(), &codes[0], &pending] {
        assert!(!text.contains(secret), "{text}");
    }
    // Recovery codes are stored as digests only.
    let database = fs::read(server.data().join("venturedex.sqlite")).unwrap();
    assert!(!database.windows(19).any(|window| codes.iter().any(|code| window == code.as_bytes())));
}
