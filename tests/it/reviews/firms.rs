//! Those who speak for a firm: claims by the link that verifies an address at its domain, answers, e-mails, corrections.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use auth::audit::AuditLog;
use auth::firm::CorrectionState;
use auth::mail::MailTransport;
use serde_json::Value;
use service::ReviewAccess;
use service::alerts::AlertSender;

use crate::account::mail::{Sink, send_links, sender, token};
use crate::reviews::moderation::{decide, operator, stored};
use crate::reviews::{FORM, account, submit, taking, verified};
use crate::support::browser::Browser;
use crate::support::harness::{NOON, Server};
use crate::support::html::{Markup, parse, text_of};

const CLAIM: &str = "/vcs/alder-capital/claim";
const CORRECTION: &str = "/vcs/alder-capital/correction";
const ANSWER: &str = "We are <b>sorry</b>: the mail of June was lost, and we answer within a week now.";

/// The browser of an account that speaks for Alder Capital.
fn partner(server: &Server) -> Browser {
    let mut partner = verified(server, "partner@alder-capital.example");
    assert_eq!(partner.post(CLAIM, &[]).header("location"), "/account/firms");
    partner
}

/// An approved review of Alder Capital, and the path of its answer.
fn approved(server: &Server, olga: &mut Browser) -> String {
    let mut ada = verified(server, "ada@example.com");
    submit(&mut ada, FORM);
    let review = stored(server, "ada@example.com");
    assert_eq!(decide(olga, review.id.0, "approve", ""), 303);
    format!("/vcs/alder-capital/reviews/{}/reply", review.public_id)
}

#[test]
fn a_profile_is_claimed_by_the_link_that_verifies_an_address_at_the_domain_of_the_firm() {
    let server = taking(ReviewAccess::Open);
    let sink = Sink::start(&[]);
    send_links(&server, &sink, || NOON);
    assert!(server.anonymous().get("/vcs/alder-capital").text.contains(&format!("href=\"{CLAIM}\"")));
    let mut partner = Browser::at(&server);
    assert_eq!(partner.get(CLAIM).header("location"), "/signin");
    let mut partner = Browser::signed_up(&server, "partner@alder-capital.example");
    let link = sink.link("partner@alder-capital.example");
    assert!(partner.get(CLAIM).text.contains("it is not verified"));
    assert_eq!(partner.post(CLAIM, &[]).status, 422, "a forged form claims nothing");
    partner.post("/verify", &[("token", token(&link))]);
    assert!(partner.get(CLAIM).text.contains("<button>Claim this profile</button>"));
    assert_eq!(partner.post(CLAIM, &[("notifies", "1")]).header("location"), "/account/firms");
    let rows = parse(&partner.get("/account/firms").text).rows("tbody tr");
    assert_eq!((rows[0][0].as_str(), rows[0][2].as_str()), ("Alder Capital", "new reviews"));

    // Nobody else: not of another firm, not of a provider of mailboxes.
    for email in ["eve@alder-capital-partners.example", "alder-capital@gmail.com"] {
        let mut eve = verified(&server, email);
        assert!(parse(&eve.get(CLAIM).text).find("main form").is_none(), "{email}");
        assert_eq!(eve.post(CLAIM, &[]).status, 422, "{email}");
        assert_eq!(eve.post("/account/firms/1/release", &[]).status, 404, "{email}");
        for path in [CORRECTION, "/vcs/alder-capital/reviews/r-0/reply"] {
            assert!(matches!(eve.get(path).status, 303 | 404), "{email} {path}");
        }
    }
    let off = Server::bundled();
    let mut ada = verified(&off, "partner@alder-capital.example");
    for path in [CLAIM, CORRECTION, "/account/firms", "/admin/corrections"] {
        assert_eq!(ada.send("GET", path, &[], &[]).status, 404, "{path}");
    }

    // An approved review is announced by e-mail, once.
    let mut olga = operator(&server, "olga@example.com");
    let path = approved(&server, &mut olga);
    let url = format!("smtp://{}", sink.address).parse().unwrap();
    let mail = Some(MailTransport::new(&url, None, sender("noreply@venturedex.example")));
    let alerts = Arc::clone(&server.state.alerts);
    let sender = AlertSender::new(alerts, mail, "https://venturedex.example".to_owned(), || NOON + 60);
    let store = server.state.auth.store();
    assert_eq!(sender.send_review_notices(store, &|| false).unwrap(), 1);
    let mail = loop {
        let mail = sink.mails.recv_timeout(Duration::from_secs(60)).unwrap();
        if mail.text.contains("was approved") {
            break mail;
        }
    };
    assert_eq!(mail.to, "<partner@alder-capital.example>");
    let body = mail.text.replace("=\n", "");
    assert!(body.contains(&path) && !body.contains("ada@example.com") && !body.contains("four months"), "{body}");
    assert_eq!(sender.send_review_notices(store, &|| false).unwrap(), 0);
    assert_eq!(partner.post("/account/firms/1/release", &[]).status, 303);
    assert_eq!(partner.get(&path).header("location"), CLAIM, "who has released the firm does not answer for it");
}

#[test]
fn the_firm_answers_a_review_once_and_an_operator_can_remove_the_answer() {
    let server = taking(ReviewAccess::Open);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit");
    server.state.auth.log_to(AuditLog::open(&log, || NOON).unwrap());
    let mut olga = operator(&server, "olga@example.com");
    let path = approved(&server, &mut olga);
    let change = server.state.auth.store().review_change().unwrap();
    let reply = || stored(&server, "ada@example.com").reply;
    let answer = [("action", "send"), ("reply", ANSWER)];
    // Strangers, the author and another firm do not answer.
    assert_eq!(Browser::at(&server).post(&path, &answer).header("location"), "/signin");
    let mut other = verified(&server, "eve@alder-capital-partners.example");
    assert_eq!(other.post("/vcs/alder-capital-partners/claim", &[]).status, 303);
    assert_eq!(other.post(&path, &answer).header("location"), CLAIM);
    let forged = path.replace("/alder-capital/", "/alder-capital-partners/");
    assert_eq!(other.post(&forged, &answer).status, 404, "the path must name the firm of the review");
    assert_eq!(reply(), None);

    let mut partner = partner(&server);
    let headers = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "cross-site")];
    assert_eq!(partner.send("POST", &path, &headers, &answer).status, 403);
    let short = partner.post(&path, &[("reply", "No.")]);
    assert!(short.status == 422 && short.text.contains("Write 20 to 2000 characters; this has 3."));
    assert_eq!(partner.post(&path, &answer).status, 303);
    assert_eq!(reply().as_deref(), Some(ANSWER));
    let page = partner.get(&path).text;
    assert!(page.contains("Your answer") && !page.contains("<b>sorry"), "{page}");
    let again = partner.post(&path, &answer);
    assert!(again.status == 422 && again.text.contains("The firm has answered this review"), "{}", again.text);
    let public = server.state.auth.store().public_reviews().unwrap();
    assert_eq!((public.change, public.reviews[0].reply.as_deref()), (change + 1, Some(ANSWER)));

    assert_eq!(partner.post("/admin/reviews/1/reply", &[]).status, 404, "operators only");
    let case = olga.get("/admin/reviews/1").text;
    assert!(case.contains("Answer of the firm") && !case.contains("<b>sorry"), "{case}");
    assert_eq!(olga.post("/admin/reviews/1/reply", &[]).status, 303);
    assert_eq!(reply(), None);
    assert_eq!(partner.post(&path, &answer).status, 303);
    assert_eq!(partner.post(&path, &[("action", "remove")]).status, 303);
    assert_eq!(reply(), None);
    assert_eq!(decide(&mut olga, 1, "hide", "checked"), 303);
    assert_eq!(partner.post(&path, &answer).status, 422, "a hidden review is not answered");
    let unknown = partner.post("/vcs/alder-capital/reviews/r-0/reply", &answer);
    assert_eq!(unknown.status, 404);
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let replies = lines.iter().filter(|line| line["event"] == "review_reply");
    assert_eq!(
        replies.map(|line| line["outcome"].as_str().unwrap()).collect::<Vec<_>>().join(" "),
        "ok replied_already ok ok ok"
    );
    assert!(!text.contains("sorry") && !text.contains("example.com"), "{text}");
}

#[test]
fn accepted_corrections_become_a_file_that_the_import_takes() {
    let server = taking(ReviewAccess::Open);
    let mut partner = partner(&server);
    for (field, value, source, wrong) in [
        ("score", "100", "https://alder-capital.example/about", "field"),
        ("country", "Wakanda", "https://alder-capital.example/about", "value"),
        ("website", "javascript:alert(1)", "https://alder-capital.example/about", "value"),
        ("city", "Oslo", "javascript:alert(1)", "source"),
        ("city", "Oslo", "somebody told me", "source"),
    ] {
        let reply = partner.post(CORRECTION, &[("field", field), ("value", value), ("source", source)]);
        assert_eq!(reply.status, 422, "{field} {value}");
        assert!(parse(&reply.text).find(&format!("#{wrong}-error")).is_some(), "{field} {value}");
    }
    let source = "https://alder-capital.example/about?a=1&b=<2".replace('<', "");
    for (field, value) in [("city", "=Oslo"), ("country", "Norway"), ("aum_usd", "900000000"), ("city", "Bergen <i>")] {
        let reply = partner.post(CORRECTION, &[("field", field), ("value", value), ("source", &source)]);
        assert_eq!(reply.status, 303, "{field}: {}", reply.text);
    }
    assert!(partner.get(CORRECTION).text.contains("waits for the operator"));
    assert_eq!(partner.post("/admin/corrections/1", &[("action", "accept")]).status, 404, "operators only");
    assert_eq!(partner.get("/admin/corrections/vcs.csv").status, 404);

    let mut olga = operator(&server, "olga@example.com");
    let page = olga.get("/admin/corrections").text;
    assert!(!page.contains("Bergen <i>"), "{page}");
    assert_eq!(parse(&page).rows("tbody tr").len(), 4);
    assert_eq!(olga.post("/admin/corrections/4", &[("action", "reject"), ("reason", "")]).status, 422);
    for id in 1..=3 {
        assert_eq!(olga.post(&format!("/admin/corrections/{id}"), &[("action", "accept")]).status, 303);
    }
    assert_eq!(
        olga.post("/admin/corrections/4", &[("action", "reject"), ("reason", "another page says Oslo")]).status,
        303
    );
    let twice = olga.post("/admin/corrections/4", &[("action", "accept")]);
    assert!(twice.status == 422 && twice.text.contains("it was decided in the meantime"), "{}", twice.text);
    let outcome = text_of(parse(&partner.get(CORRECTION).text).section("proposed").unwrap());
    assert!(outcome.contains("another page says Oslo") && outcome.contains("accepted on 21 Nov 2026"), "{outcome}");
    assert_eq!(server.state.auth.store().corrections(CorrectionState::Accepted, 0, 9).unwrap().0, 3);

    let file = olga.get("/admin/corrections/vcs.csv");
    let expected = "slug,name,website,description,country,city,founded_year,check_min_usd,check_max_usd,aum_usd,health_score,\
                    portfolio_count\r\n\"alder-capital\",\"Alder Capital\",\"https://alder-capital.example\",,\"NO\",\
                    \"'=Oslo\",,,,\"900000000\",,\r\n";
    assert_eq!(file.text, expected);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("vcs.csv"), &file.text).unwrap();
    let mut indexer = Command::new(env!("CARGO_BIN_EXE_indexer"));
    let output = indexer
        .current_dir(folder.path())
        .args(["import", "venturedex", "vcs.csv", "--sources", "s"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let statements = fs::read_to_string(folder.path().join("s/venturedex/statements.csv")).unwrap();
    for value in ["=Oslo", "NO", "900000000"] {
        assert!(statements.contains(value), "{value}: {statements}");
    }
    let export = partner.get("/account/export.json").json();
    assert_eq!(export["firms"][0]["vc"], "alder-capital");
    assert_eq!(export["corrections"].as_array().unwrap().len(), 4);
    let id = account(&server, "partner@alder-capital.example");
    server.state.auth.store().delete_account(id, None, NOON).unwrap();
    assert_eq!(server.state.auth.store().corrections(CorrectionState::Accepted, 0, 9).unwrap().1[0].account, None);
}
