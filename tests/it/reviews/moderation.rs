//! `/admin/reviews`: only operators decide, on what they have seen, and everything is logged; reports and objections.

use std::fs;

use auth::audit::AuditLog;
use auth::review::{ReviewState, StoredReview};
use serde_json::{Value, json};
use service::{Operator, ReviewAccess};

use crate::reviews::{BODY, FORM, account, fact, fields, submit, taking, verified};
use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{NOON, Server};
use crate::support::html::{Markup, parse, text_of};

/// The browser of an operator.
pub(super) fn operator(server: &Server, email: &str) -> Browser {
    let browser = verified(server, email);
    server.state.auth.store().set_operator(account(server, email), true).unwrap();
    browser
}

pub(super) fn stored(server: &Server, email: &str) -> StoredReview {
    server.state.auth.store().reviews_of(account(server, email)).unwrap().swap_remove(0)
}

/// The version of a review that its page shows.
fn stored_version(page: &str) -> String {
    parse(page).first("input[name=version]").attr("value").unwrap().to_owned()
}

/// Decides as the form of the page of a review does.
pub(super) fn decide(browser: &mut Browser, id: i64, action: &str, reason: &str) -> u16 {
    let version = stored_version(&browser.get(&format!("/admin/reviews/{id}")).text);
    let form =
        [("action", action), ("version", &version), ("reason", reason), ("proof", "confirmed"), ("cleared", "1")];
    browser.post(&format!("/admin/reviews/{id}"), &form).status
}

#[test]
fn nobody_but_an_operator_finds_the_queue() {
    let server = taking(ReviewAccess::Open);
    let mut ada = verified(&server, "ada@example.com");
    submit(&mut ada, FORM);
    let form = [("action", "approve"), ("version", "1"), ("reason", ""), ("proof", "none"), ("confirmation", PASSWORD)];
    for browser in [&mut Browser::at(&server), &mut ada] {
        for path in ["/admin/reviews", "/admin/reviews/1"] {
            let reply = browser.get(path);
            assert!(reply.status == 404 && !reply.text.contains("four months"), "{path}");
        }
        assert_eq!(browser.post("/admin/reviews/1", &form).status, 404);
    }
    assert_eq!(stored(&server, "ada@example.com").state, ReviewState::Submitted);
    let off = Server::bundled();
    let mut olga = operator(&off, "olga@example.com");
    assert_eq!(olga.send("GET", "/admin/reviews", &[], &[]).status, 404);
    assert!(!olga.get("/admin").text.contains("/admin/reviews"));
}

#[test]
fn an_operator_asks_approves_and_hides_and_the_author_reads_why() {
    let server = taking(ReviewAccess::Open);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit");
    server.state.auth.log_to(AuditLog::open(&log, || NOON).unwrap());
    let mut ada = verified(&server, "ada@example.com");
    let own = submit(&mut ada, FORM);
    let mut olga = operator(&server, "olga@example.com");
    assert!(
        olga.get("/admin").text.contains("1 review waits</a>") || olga.get("/admin").text.contains("1 review waits")
    );
    let queue = parse(&olga.get("/admin/reviews").text).rows("tbody tr");
    assert_eq!((queue.len(), queue[0][0].as_str()), (1, "Alder Capital"));
    let page = olga.get("/admin/reviews/1");
    assert!(
        !page.text.contains("<script>alert") && page.text.contains("&lt;script&gt;")
            || page.text.contains("&#60;script")
    );
    assert!(!page.text.contains("ada@example.com"), "the author stays a number: {}", page.text);
    assert_eq!(fact(&page.text, "By the author"), "1 submitted");
    let keys = parse(&page.text).values("[data-key]", "data-key").concat();
    assert_eq!(keys, "arq");

    // A reason is needed, except for an approval; what was typed stays.
    assert_eq!(decide(&mut olga, 1, "reject", " "), 422);
    assert_eq!(decide(&mut olga, 1, "ask", "When did you <i>pitch</i>?"), 303);
    let page = ada.get(&own).text;
    assert_eq!(fact(&page, "State"), "The operator has a question");
    assert!(page.contains("pitch") && !page.contains("<i>pitch"), "{page}");
    assert!(olga.get("/admin/reviews").text.contains("Nothing waits for a decision."));
    let answer = fields("submit", &[("response", "In March, by <b>mail</b>.")]);
    assert_eq!(ada.post(&own, &answer).status, 303);
    assert!(olga.get("/admin/reviews/1").text.contains("In March, by "));

    // The author changes the review while the operator reads it: what was not seen is not approved.
    let seen = stored_version(&olga.get("/admin/reviews/1").text);
    let bad = "Something else altogether, which the operator has never read at all.";
    assert_eq!(ada.post(&own, &fields("submit", &[("body", bad)])).status, 303);
    let form = [("action", "approve"), ("version", seen.as_str()), ("reason", ""), ("proof", "none")];
    let refused = olga.post("/admin/reviews/1", &form);
    assert!(
        refused.status == 422 && refused.text.contains("was changed or decided in the meantime"),
        "{}",
        refused.text
    );
    assert!(refused.text.contains(bad), "the new text is shown");
    assert_eq!(stored(&server, "ada@example.com").state, ReviewState::Submitted);

    assert_eq!(decide(&mut olga, 1, "approve", ""), 303);
    let review = stored(&server, "ada@example.com");
    assert_eq!((review.state, review.published_at, review.is_cleared), (ReviewState::Approved, Some(NOON), true));
    let decided = parse(&olga.get("/admin/reviews?show=decided").text).rows("tbody tr");
    assert_eq!((decided.len(), decided[0][2].as_str()), (1, "Approved"));
    // A second operator with the page from before decides nothing.
    let mut otto = operator(&server, "otto@example.com");
    let stale = [("action", "reject"), ("version", seen.as_str()), ("reason", "no"), ("proof", "none")];
    assert_eq!(otto.post("/admin/reviews/1", &stale).status, 422);
    assert_eq!(ada.post(&own, &fields("submit", &[])).status, 422, "an approved review is fixed");
    assert_eq!(decide(&mut otto, 1, "hide", "The firm objects."), 303);
    assert_eq!(fact(&ada.get(&own).text, "State"), "Hidden until the operator decides");
    let decisions = parse(&otto.get("/admin/reviews/1").text).section("log").unwrap().rows("tbody tr");
    let actions: Vec<&str> = decisions.iter().map(|row| row[2].as_str()).collect();
    assert_eq!(actions, ["ask", "approve", "hide"]);

    let lines: Vec<Value> =
        fs::read_to_string(&log).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &str| {
        let lines = lines.iter().filter(|line| line["event"] == event);
        lines.map(|line| json!([line["outcome"], line["operator"], line["action"], line["review"]])).collect::<Vec<_>>()
    };
    let expected = [
        json!(["ok", 2, "ask", 1]),
        json!(["review_changed", 2, "approve", 1]),
        json!(["ok", 2, "approve", 1]),
        json!(["review_changed", 3, "reject", 1]),
        json!(["ok", 3, "hide", 1]),
    ];
    assert_eq!(of("review_decision"), expected);
    assert_eq!(of("review_submission").len(), 4, "{lines:?}");
    let text = fs::read_to_string(&log).unwrap();
    assert!(!text.contains("example.com") && !text.contains("four months") && !text.contains("pitch"), "{text}");
}

#[test]
fn a_decision_needs_a_fresh_password_and_a_form_of_the_site() {
    let server = taking(ReviewAccess::Open);
    let mut ada = verified(&server, "ada@example.com");
    submit(&mut ada, FORM);
    let mut olga = operator(&server, "olga@example.com");
    let review = stored(&server, "ada@example.com");
    let version = review.version.to_string();
    let form = [("action", "approve"), ("version", version.as_str()), ("reason", ""), ("proof", "email")];
    let headers = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "cross-site")];
    assert_eq!(olga.send("POST", "/admin/reviews/1", &headers, &form).status, 403);
    let database = rusqlite::Connection::open(server.data().join("venturedex.sqlite")).unwrap();
    database.execute("UPDATE sessions SET authenticated_at = ?", [NOON - 5 * 3_600]).unwrap();
    let asked = olga.post("/admin/reviews/1", &form).text;
    assert!(asked.contains("<h1>Confirm your password</h1>"), "{asked}");
    assert_eq!(stored(&server, "ada@example.com"), review);
    let repeated: Vec<(String, String)> = parse(&asked)
        .all("form input[type=hidden]")
        .into_iter()
        .map(|input| (input.attr("name").unwrap().to_owned(), input.attr("value").unwrap().to_owned()))
        .collect();
    let mut form: Vec<(&str, &str)> = repeated.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    form.push(("confirmation", PASSWORD));
    assert_eq!(olga.post("/admin/reviews/1", &form).status, 303);
    assert_eq!(stored(&server, "ada@example.com").state, ReviewState::Approved);
    // Nobody decides on an own review.
    submit(&mut olga, FORM);
    assert_eq!(decide(&mut olga, 2, "approve", ""), 422);
    assert_eq!(stored(&server, "olga@example.com").state, ReviewState::Submitted);
}

#[test]
fn a_rejected_review_is_approved_after_all_unless_its_author_wrote_another() {
    let server = taking(ReviewAccess::Open);
    let mut ada = verified(&server, "ada@example.com");
    submit(&mut ada, FORM);
    let mut olga = operator(&server, "olga@example.com");
    assert_eq!(decide(&mut olga, 1, "reject", "It names a person."), 303);
    let page = olga.get("/admin/reviews/1").text;
    assert!(page.contains("Approve after all"), "{page}");
    assert_eq!(ada.post(FORM, &fields("submit", &[])).status, 303);
    let version = stored_version(&page);
    let form = [("action", "approve"), ("version", version.as_str()), ("reason", ""), ("proof", "none")];
    let refused = olga.post("/admin/reviews/1", &form);
    let why = "The author has written another review of this firm since; decide on that one.";
    assert!(refused.status == 422 && refused.text.contains(why), "{}", refused.text);
    assert_eq!(decide(&mut olga, 2, "reject", "It names a person."), 303);
    assert_eq!(decide(&mut olga, 1, "approve", ""), 303);
}

#[test]
fn the_page_of_a_review_shows_bursts_equal_ratings_and_texts_like_it() {
    let server = taking(ReviewAccess::Open);
    let equal = [("rating", "5"), ("responsiveness", "5"), ("fairness", "5"), ("value_add", "5")];
    for number in 0..3 {
        let mut browser = verified(&server, &format!("ada{number}@example.com"));
        assert_eq!(browser.post(FORM, &fields("submit", &equal)).status, 303);
    }
    let mut zoe = verified(&server, "zoe@example.com");
    let body = "A long talk about our market in the first week, an offer in the third, and a fair one at that.";
    assert_eq!(zoe.post("/vcs/alder-capital-partners/review", &fields("submit", &[("body", body)])).status, 303);
    let mut olga = operator(&server, "olga@example.com");
    let mut ida = verified(&server, "ida@example.com");
    let private = "We wrote to joe@fund.example and called +49 30 901820 for weeks, and nobody answered.";
    let preview = ida.post("/vcs/alder-capital-partners/review", &fields("preview", &[("body", private)])).text;
    let sign = "may tell who somebody is: the address joe@fund.example, the number +49 30 901820.";
    assert!(preview.contains(sign), "{preview}");
    let page = olga.get("/admin/reviews/1").text;
    assert!(page.contains("Burst: 3 reviews of this firm within 14 days of this one."), "{page}");
    assert!(page.contains("All ratings are equal.") && page.contains("100 % in common"), "{page}");
    let other = olga.get("/admin/reviews/4").text;
    assert!(!other.contains("Burst:") && !other.contains("All ratings are equal."), "{other}");
    assert!(other.contains("No other text has much in common with this one."), "{other}");
    // The texts of the release are compared, too.
    let published = server.anonymous().get("/vcs/alder-capital/reviews.json").json();
    let text =
        published["data"].as_array().unwrap().iter().find_map(|review| review["body"].as_str()).unwrap().to_owned();
    let mut eve = verified(&server, "eve@example.com");
    assert_eq!(eve.post(FORM, &fields("submit", &[("body", &text)])).status, 303);
    let page = olga.get("/admin/reviews/5").text;
    assert!(page.contains("100 % in common") && page.contains("/vcs/alder-capital/reviews?id=rv-"), "{page}");
    // j and k lead around the queue, and a decision to the next.
    let page = parse(&olga.get("/admin/reviews/5").text);
    assert_eq!(page.first("[data-key=j]").attr("href"), Some("/admin/reviews/1"));
    assert_eq!(page.first("[data-key=k]").attr("href"), Some("/admin/reviews/4"));
}

#[test]
fn readers_report_and_only_the_firm_itself_hides() {
    let contact = Some("mailto:ops@example.com".to_owned());
    let server = Server::of_operator(Operator { reviews: ReviewAccess::Open, contact, ..Operator::default() });
    let mut ada = verified(&server, "ada@example.com");
    submit(&mut ada, FORM);
    let review = stored(&server, "ada@example.com");
    let path = format!("/vcs/alder-capital/reviews/{}/report", review.public_id);
    let objection = [("kind", "objection"), ("reason", "This <b>never</b> happened."), ("email", "")];
    let mut stranger = Browser::at(&server);
    assert_eq!(stranger.get(&path).status, 404);
    assert_eq!(stranger.post(&path, &objection).status, 404, "what is not public cannot be reported");
    let mut olga = operator(&server, "olga@example.com");
    assert_eq!(decide(&mut olga, 1, "approve", ""), 303);

    for (field, value, fault) in
        [("reason", "bad", "Write 10 to 2000 characters; this has 3."), ("email", "nobody", "Invalid e-mail address")]
    {
        let form = [&[(field, value)], &objection[..]].concat();
        let reply = stranger.post(&path, &form);
        assert_eq!(reply.status, 422, "{field}");
        assert!(text_of(parse(&reply.text).first(&format!("#{field}-error"))).starts_with(fault), "{field}");
    }
    let reply = stranger.post(&path, &objection);
    assert!(reply.status == 200 && reply.text.contains("The operator looks at the review."), "{}", reply.text);
    assert_eq!(stored(&server, "ada@example.com").state, ReviewState::Approved, "a stranger hides nothing");
    let waiting = parse(&olga.get("/admin/reviews").text).rows("tbody tr");
    assert_eq!(waiting[0][2], "Approved, reported");
    let page = olga.get("/admin/reviews/1").text;
    assert!(page.contains("objection of the firm") && !page.contains("<b>never"), "{page}");
    assert!(page.contains("1 review waits") || page.contains("1 waits"), "{page}");

    // Another firm cannot hide it, whatever the path says.
    let mut other = verified(&server, "legal@alder-capital-partners.example");
    other.post(&path, &objection);
    let forged = format!("/vcs/alder-capital-partners/reviews/{}/report", review.public_id);
    assert_eq!(other.post(&forged, &objection).status, 404);
    // An unverified account of the firm cannot, either.
    let mut unverified = Browser::signed_up(&server, "partner@alder-capital.example");
    unverified.post(&path, &objection);
    assert_eq!(stored(&server, "ada@example.com").state, ReviewState::Approved);
    let mut firm = verified(&server, "legal@alder-capital.example");
    assert!(firm.get(&path).text.contains("an objection hides the review"));
    let reply = firm.post(&path, &objection);
    assert!(reply.text.contains("The review is hidden until the operator has decided."), "{}", reply.text);
    let review = stored(&server, "ada@example.com");
    assert_eq!((review.state, review.disputed_at), (ReviewState::Hidden, Some(NOON)));
    // The operator lets it stand; the firm cannot hide it again.
    assert_eq!(decide(&mut olga, 1, "approve", ""), 303);
    firm.post(&path, &objection);
    assert_eq!(stored(&server, "ada@example.com").state, ReviewState::Approved);

    // Reviews that came with the data are the operator's; unknown ones are unknown.
    let reviews = server.anonymous().get("/vcs/alder-capital/reviews").text;
    let link = parse(&reviews).values("a[href$='/report']", "href")[0].to_owned();
    let reply = stranger.get(&link);
    assert!(reply.status == 200 && reply.text.contains("mailto:ops@example.com"), "{}", reply.text);
    assert_eq!(stranger.post(&link, &objection).status, 404);
    assert_eq!(stranger.post("/vcs/alder-capital/reviews/r-0/report", &objection).status, 404);
    // Each address sends a limited number of reports an hour.
    let statuses: Vec<u16> = (0..12).map(|_| stranger.post(&path, &objection).status).collect();
    assert!(statuses[0] == 200 && statuses[11] == 429, "{statuses:?}");
    let body = server.anonymous().get("/vcs/alder-capital").text;
    assert!(!body.contains(BODY), "nothing is published without a release");
}
