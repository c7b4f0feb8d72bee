//! The form of a review and the reviews of an account.

use auth::review::{REVIEWS_PER_DAY, ReviewState};
use service::ReviewAccess;

use crate::reviews::moderation::operator;
use crate::reviews::{BODY, FORM, account, fact, fields, submit, taking, verified};
use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{NOON, Server};
use crate::support::html::{Markup, parse, text_of};

const SIGNED_IN: [&str; 2] = ["/account/reviews", "/account/reviews/1"];
const SENT: [&str; 4] = [FORM, "/account/reviews/1", "/account/reviews/1/withdraw", "/account/reviews/1/delete"];

#[test]
fn with_reviews_off_nothing_of_them_is_seen() {
    let server = Server::bundled();
    let mut ada = verified(&server, "ada@example.com");
    for path in SIGNED_IN.into_iter().chain([FORM, "/docs/reviews"]) {
        assert_eq!(server.anonymous().get(path).status, 404, "{path}");
        assert_eq!(ada.send("GET", path, &[], &[]).status, 404, "{path}");
        assert_eq!(ada.send("OPTIONS", path, &[], &[]).status, 404, "{path}");
    }
    for path in SENT {
        assert_eq!(ada.post(path, &fields("submit", &[])).status, 404, "{path}");
    }
    assert!(server.state.auth.store().reviews_of(account(&server, "ada@example.com")).unwrap().is_empty());
    let firm = server.anonymous().get("/vcs/alder-capital").text;
    assert!(!firm.contains("/review\"") && firm.contains("Reviews come with the data"), "{firm}");
    assert!(!ada.get("/account").text.contains("/account/reviews"));
    assert!(!ada.get("/account/export.json").text.contains("\"reviews\""));
    for path in ["/docs", "/docs/privacy", "/llms.txt"] {
        let page = server.anonymous().get(path).text;
        assert!(!page.contains("/docs/reviews") && !page.contains("{reviews}"), "{path}: {page}");
    }
}

#[test]
fn a_founder_drafts_previews_submits_changes_withdraws_and_deletes_a_review() {
    let server = taking(ReviewAccess::Open);
    let firm = server.anonymous().get("/vcs/alder-capital").text;
    assert!(firm.contains(&format!("href=\"{FORM}\"")), "{firm}");
    let mut ada = verified(&server, "ada@example.com");
    let id = account(&server, "ada@example.com");
    let page = ada.get(FORM);
    assert_eq!(page.status, 200);
    let page = parse(&page.text);
    for label in page.values("form#write label[for]", "for") {
        assert!(page.find(&format!("#{label}")).is_some(), "{label}");
    }
    assert_eq!(page.values("button[name=action]", "value"), ["preview", "save"]);

    // A draft may lack anything, and is found again.
    let draft = ada.post(FORM, &[("action", "save"), ("title", "Half a")]);
    assert_eq!((draft.status, draft.header("location")), (303, "/account/reviews/1"));
    assert_eq!(ada.get(FORM).header("location"), "/account/reviews/1");
    let page = ada.get("/account/reviews/1").text;
    assert_eq!(fact(&page, "State"), "Draft");
    assert_eq!(parse(&page).first("#title").attr("value"), Some("Half a"));

    // The preview has what will be public, and keeps what was typed; nothing is stored.
    let preview = ada.post("/account/reviews/1", &fields("preview", &[]));
    assert_eq!(preview.status, 200);
    assert!(!preview.text.contains("<script>alert") && !preview.text.contains("<b>No"), "{}", preview.text);
    let page = parse(&preview.text);
    let shown = text_of(page.section("preview").unwrap());
    for part in ["=1+1 <b>No</b> answer", BODY, "2 of 5 stars", "Nov 2026"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!preview.text.contains("ada@example.com"), "{}", preview.text);
    assert_eq!(text_of(page.first("textarea#body")), BODY);
    assert_eq!(page.first("section[aria-labelledby=preview] button[name=action]").attr("value"), Some("submit"));
    let stored = || server.state.auth.store().reviews_of(id).unwrap().swap_remove(0);
    assert_eq!((stored().state, stored().answers.body.as_str()), (ReviewState::Draft, ""));

    assert_eq!(ada.post("/account/reviews/1", &fields("submit", &[])).header("location"), "/account/reviews/1");
    assert_eq!((stored().state, stored().answers.body.as_str()), (ReviewState::Submitted, BODY));
    assert!(stored().public_id.starts_with("r-") && stored().public_id.len() == 22, "{}", stored().public_id);
    let list = parse(&ada.get("/account/reviews").text).rows("tbody tr");
    assert_eq!(
        list[0][..3],
        ["Alder Capital", "=1+1 <b>No</b> answer, review of Alder Capital", "Waits for the operator"]
    );
    let export = ada.get("/account/export.json").json();
    let exported = &export["reviews"][0];
    assert_eq!((&exported["vc"], &exported["body"]), (&"alder-capital".into(), &BODY.into()));

    // Until it is approved it can be changed, but it is no draft any more.
    assert_eq!(ada.post("/account/reviews/1", &fields("submit", &[("rating", "5")])).status, 303);
    assert_eq!(stored().answers.rating, Some(5));
    let refused = ada.post("/account/reviews/1", &fields("save", &[]));
    assert_eq!(refused.status, 422);
    let again = ada.post(FORM, &fields("submit", &[]));
    assert!(again.status == 422 && again.text.contains("You have reviewed this firm in the last twelve months"));

    assert_eq!(ada.post("/account/reviews/1/withdraw", &[]).status, 303);
    assert_eq!((stored().state, stored().answers.body.as_str()), (ReviewState::Withdrawn, BODY));
    let page = parse(&ada.get("/account/reviews/1").text);
    assert!(page.find("form#write").is_none() && page.find("form[action$='/withdraw']").is_none());
    assert_eq!(ada.get(FORM).status, 200, "a withdrawn review makes room for another");
    assert_eq!(ada.post("/account/reviews/1/delete", &[]).header("location"), "/account/reviews");
    assert_eq!(ada.get("/account/reviews/1").status, 404);
    assert!(server.state.auth.store().reviews_of(id).unwrap().is_empty());
    assert!(ada.get("/account/reviews").text.contains("You have not written one yet."));
}

#[test]
fn faults_are_next_to_their_fields_and_nothing_that_was_typed_is_lost() {
    let server = taking(ReviewAccess::Open);
    let mut ada = verified(&server, "ada@example.com");
    let long = "é".repeat(5_001);
    for (field, value, fault) in [
        ("role", "", "Choose one of founder, executive, other."),
        ("contact_month", "2026-12", "This month is in the future."),
        ("contact_month", "March", "This is not a month such as 2026-03."),
        ("rating", "", "Choose a rating from 1 to 5."),
        ("ghosted", "", "Say whether they answered."),
        ("title", " ", "Write something here."),
        ("body", "Too short.", "This has 10 characters; write at least 40."),
        ("body", &long, "This has 5001 characters; the maximum is 5000."),
    ] {
        for action in ["preview", "submit"] {
            let reply = ada.post(FORM, &fields(action, &[(field, value)]));
            assert_eq!(reply.status, 422, "{field}");
            let page = parse(&reply.text);
            assert_eq!(text_of(page.first(&format!("#{field}-error"))), fault);
            let described = page.first(&format!("#{field}")).attr("aria-describedby").unwrap_or_default();
            assert!(described.contains(&format!("{field}-error")), "{field}: {described}");
            assert_eq!(page.values("div.notice li a", "href"), [format!("#{field}")]);
            if field != "body" {
                assert_eq!(text_of(page.first("textarea#body")), BODY);
            }
        }
    }
    assert!(server.state.auth.store().reviews_of(account(&server, "ada@example.com")).unwrap().is_empty());
    let reply = ada.post(FORM, &fields("submit", &[("body", &"x".repeat(90_000))]));
    assert_eq!(reply.status, 413);
    assert_eq!(ada.get("/vcs/no-such-firm/review").status, 404);
}

#[test]
fn a_signed_out_visitor_is_led_through_sign_in_and_keeps_the_text() {
    let server = taking(ReviewAccess::Open);
    verified(&server, "ada@example.com");
    let mut browser = Browser::at(&server);
    assert_eq!(browser.get(FORM).header("location"), "/signin");
    let credentials = [("email", "ada@example.com"), ("password", PASSWORD)];
    assert_eq!(browser.post("/signin", &credentials).header("location"), FORM);
    // The session ends while they write.
    browser.cookies.remove("session");
    let reply = browser.post(FORM, &fields("submit", &[]));
    let page = parse(&reply.text);
    assert!(text_of(page.first("#error")).starts_with("You are signed out, and nothing is saved."), "{}", reply.text);
    assert_eq!(text_of(page.first("textarea#body")), BODY);
    assert!(page.find("input[name=rating][value='2'][checked]").is_some());
    assert!(server.state.auth.store().reviews_of(account(&server, "ada@example.com")).unwrap().is_empty());
    assert_eq!(browser.post("/signin", &credentials).header("location"), FORM);
    submit(&mut browser, FORM);
}

#[test]
fn reviews_cannot_be_written_by_others_from_elsewhere_or_before_verification() {
    let server = taking(ReviewAccess::Open);
    let store = server.state.auth.store();
    let mut ada = verified(&server, "ada@example.com");
    let path = submit(&mut ada, FORM);
    let mut eve = Browser::signed_up(&server, "eve@example.com");
    // Unverified: only drafts.
    let refused = eve.post(FORM, &fields("submit", &[]));
    assert!(refused.status == 422 && refused.text.contains("Verify the e-mail address of your account first"));
    assert_eq!(eve.post(FORM, &fields("save", &[])).status, 303);
    // Others' reviews look like unknown ones.
    for path in [path.as_str(), "/account/reviews/99"] {
        assert_eq!(eve.get(path).status, 404, "{path}");
        assert_eq!(eve.post(path, &fields("submit", &[])).status, 404, "{path}");
        for act in ["withdraw", "delete"] {
            assert_eq!(eve.post(&format!("{path}/{act}"), &[]).status, 404, "{path}/{act}");
        }
    }
    // Forms of other sites, and of clients without an origin.
    let before = store.reviews_of(account(&server, "ada@example.com")).unwrap();
    for headers in [&[("sec-fetch-site", "cross-site")][..], &[("origin", "https://evil.example")], &[]] {
        let headers = [&[("content-type", "application/x-www-form-urlencoded")], headers].concat();
        for path in [FORM, &path, &format!("{path}/withdraw"), &format!("{path}/delete")] {
            let reply = ada.send("POST", path, &headers, &fields("submit", &[("rating", "5")]));
            assert_eq!(reply.status, 403, "{path}");
        }
    }
    assert_eq!(store.reviews_of(account(&server, "ada@example.com")).unwrap(), before);
    // A blocked account writes nothing.
    store.set_blocked(account(&server, "ada@example.com"), true, NOON).unwrap();
    assert_eq!(ada.get(&path).header("location"), "/signin");
}

#[test]
fn by_invitation_only_invited_accounts_and_people_of_startups_write() {
    let server = taking(ReviewAccess::Invite);
    let store = server.state.auth.store();
    let mut stranger = verified(&server, "ada@example.com");
    let page = stranger.get(FORM).text;
    assert!(page.contains("by invitation") && parse(&page).find("form#write").is_none(), "{page}");
    assert!(stranger.post(FORM, &fields("submit", &[])).text.contains("by invitation"));
    assert!(store.reviews_of(account(&server, "ada@example.com")).unwrap().is_empty());
    // An operator invites the account on its page.
    let path = format!("/admin/accounts/{}/reviewer", account(&server, "ada@example.com").0);
    assert_eq!(stranger.post(&path, &[("reviewer", "1")]).status, 404);
    let mut olga = operator(&server, "olga@example.com");
    assert_eq!(olga.post(&path, &[("reviewer", "1")]).status, 303);
    assert!(store.account(&"ada@example.com".parse().unwrap()).unwrap().is_reviewer);
    let path = submit(&mut stranger, FORM);
    assert_eq!(fact(&stranger.get(&path).text, "Proof"), "not verified");
    let mut founder = verified(&server, "founder@tidewick.example");
    let path = submit(&mut founder, FORM);
    assert_eq!(fact(&founder.get(&path).text, "Proof"), "verified by an e-mail address at a startup of the data");
}

#[test]
fn an_account_submits_a_limited_number_of_reviews_a_day() {
    let server = taking(ReviewAccess::Open);
    let mut ada = verified(&server, "ada@example.com");
    let catalog = server.state.releases.current();
    let slugs: Vec<String> =
        (0..=REVIEWS_PER_DAY).map(|row| catalog.snapshot().slug(data::Table::Firms, row).to_owned()).collect();
    let (last, others) = slugs.split_last().unwrap();
    for slug in others {
        let path = submit(&mut ada, &format!("/vcs/{slug}/review"));
        ada.post(&format!("{path}/delete"), &[]);
    }
    let refused = ada.post(&format!("/vcs/{last}/review"), &fields("submit", &[]));
    assert!(refused.status == 422 && refused.text.contains("You have submitted 5 reviews in 24 hours"));
    assert_eq!(text_of(parse(&refused.text).first("textarea#body")), BODY);
    assert_eq!(ada.post(&format!("/vcs/{last}/review"), &fields("save", &[])).status, 303);
}
