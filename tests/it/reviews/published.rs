//! A review from the form to the pages of the release that publishes it: what an author or a firm writes is text everywhere.

use std::process::Command;

use service::ReviewAccess;

use crate::reviews::moderation::{decide, operator, stored};
use crate::reviews::{BODY, FORM, submit, taking, verified};
use crate::support::harness::{Client, bundled_folder, copy_as};
use crate::support::html::{Markup, parse, text_of};
use crate::support::program::{Process, run};

const ANSWER: &str = "=HYPERLINK(1) We are <img src=x onerror=alert(1)> sorry, and we answer within a week now.";

#[test]
fn what_authors_and_firms_write_is_text_on_every_page_and_in_every_file() {
    let server = taking(ReviewAccess::Open);
    let mut ada = verified(&server, "ada@example.com");
    submit(&mut ada, FORM);
    let mut olga = operator(&server, "olga@example.com");
    assert_eq!(decide(&mut olga, 1, "approve", ""), 303);
    let id = stored(&server, "ada@example.com").public_id;
    let mut partner = verified(&server, "partner@alder-capital.example");
    partner.post("/vcs/alder-capital/claim", &[]);
    let answered = partner.post(&format!("/vcs/alder-capital/reviews/{id}/reply"), &[("reply", ANSWER)]);
    assert_eq!(answered.status, 303);

    let (dataset, folder) = (copy_as(&bundled_folder(), "2026-11-20.1"), tempfile::tempdir().unwrap());
    let index = folder.path().join("index");
    let mut indexer = Command::new(env!("CARGO_BIN_EXE_indexer"));
    indexer.arg("build").arg("--dataset").arg(dataset.path()).arg("--index").arg(&index);
    let output = indexer.arg("--reviews").arg(server.data()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let process = Process::start(folder.path(), &["--index", index.to_str().unwrap(), "--reviews", "open"]);
    let client = Client { key: None, ..process.client("") };

    let page = client.get(&format!("/vcs/alder-capital/reviews?id={id}")).text;
    let review = text_of(parse(&page).first(&format!("#review-{id}")));
    for part in ["=1+1 <b>No</b> answer", BODY, ANSWER, "2 of 5 stars", "Answer of Alder Capital"] {
        assert!(review.contains(part), "{part}: {review}");
    }
    let actions = parse(&page).values("main a[rel=nofollow]", "href").join(" ");
    for action in ["report", "reply"] {
        assert!(actions.contains(&format!("/vcs/alder-capital/reviews/{id}/{action}")), "{actions}");
    }
    for path in [
        "/vcs/alder-capital",
        "/vcs/alder-capital/reviews",
        "/vcs/alder-capital.md",
        "/vcs/alder-capital/reviews.md",
        "/releases.atom",
        "/",
    ] {
        let reply = client.get(path);
        assert_eq!(reply.status, 200, "{path}");
        // Markdown escapes by a backslash.
        let text = reply.text.replace("\\<", "");
        for markup in ["<script>alert", "<b>No", "<img src=x"] {
            assert!(!text.contains(markup), "{path} has {markup}");
        }
    }
    let account = ["--email", "reader@example.com"];
    run(folder.path(), &[&["account", "create"][..], &account].concat(), "").ok();
    let key = run(folder.path(), &[&["key", "create"][..], &account, &["--name", "k"]].concat(), "").ok();
    let csv = process.client(key.trim()).get(&format!("/api/v3/vcs/alder-capital/reviews.csv?id={id}")).text;
    assert!(csv.contains("'=1+1") && !csv.contains(",=1+1") && !csv.contains("\"=1+1"), "{csv}");
    assert!(!csv.contains(",=HYPERLINK") && !csv.contains("\"=HYPERLINK"), "{csv}");
    let json = client.get(&format!("/vcs/alder-capital/reviews.json?id={id}"));
    assert_eq!(json.header("content-type"), "application/json");
    let record = &json.json()["data"][0];
    assert_eq!((&record["body"], &record["role"], &record["reply"]), (&BODY.into(), &"founder".into(), &ANSWER.into()));
    // Nothing joins it to its author.
    for text in [&page, &csv, &json.text] {
        assert!(!text.contains("ada@") && !text.contains("author_since"), "{text}");
    }
}
