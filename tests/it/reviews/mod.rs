//! Reviews: what authors write, what operators decide, and what others see of it.

mod firms;
mod moderation;
mod published;
mod rest;
mod writing;

use auth::account::AccountId;
use service::{Operator, ReviewAccess};

use crate::support::browser::Browser;
use crate::support::harness::{NOON, Server};
use crate::support::html::{Markup, parse};

const FORM: &str = "/vcs/alder-capital/review";
const BODY: &str = "They took the call, and then nothing came for four months. <script>alert(1)</script>";

/// A service that takes reviews.
fn taking(reviews: ReviewAccess) -> Server {
    Server::of_operator(Operator { reviews, ..Operator::default() })
}

fn account(server: &Server, email: &str) -> AccountId {
    server.state.auth.store().account(&email.parse().unwrap()).unwrap().id
}

/// The browser of a verified account.
fn verified(server: &Server, email: &str) -> Browser {
    let browser = Browser::signed_up(server, email);
    server.state.auth.store().verify_account(account(server, email), NOON).unwrap();
    browser
}

/// The fields of a complete review, with what to do with it; `changes` come first.
fn fields<'f>(action: &'f str, changes: &[(&'f str, &'f str)]) -> Vec<(&'f str, &'f str)> {
    let complete = [
        ("action", action),
        ("role", "founder"),
        ("stage", "seed"),
        ("contact_month", "2026-03"),
        ("rating", "2"),
        ("responsiveness", "1"),
        ("fairness", ""),
        ("value_add", "4"),
        ("ghosted", "false"),
        ("title", "=1+1 <b>No</b> answer"),
        ("body", BODY),
    ];
    changes.iter().copied().chain(complete).collect()
}

/// Submits a review of a firm, and returns the path of its page.
fn submit(browser: &mut Browser, form: &str) -> String {
    let reply = browser.post(form, &fields("submit", &[]));
    assert_eq!(reply.status, 303, "{}", reply.text);
    reply.header("location").to_owned()
}

/// The value of a fact on a page.
fn fact(page: &str, name: &str) -> String {
    let page = parse(page);
    let terms = page.texts("dl.facts dt");
    let index = terms.iter().position(|term| term == name).unwrap_or_else(|| panic!("no {name} in {terms:?}"));
    page.texts("dl.facts dd").swap_remove(index)
}
