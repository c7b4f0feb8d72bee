//! Reviews that look arranged: they are held and say why, and do not move ranks.

use std::fs;

use auth::quota::Tier;
use serde_json::{Value, json};

use crate::support::harness::{Server, catalog_of, rounds};
use crate::support::review_world::{
    Attack, COUNTS, Chance, Coverage, Firms, QUALITIES, Reviewers, World, count_covered, held, place,
};
use crate::support::two_firms;

const HEADER: &str =
    "id,firm,rating,responsiveness,fairness,value_add,ghosted,body,status,created_on,author,author_since,cleared\n";

/// Reviews of the firm `alder` over three years, each with a text of its own, and more of other firms.
fn reviews(more: &str) -> String {
    let honest = (0..12).map(|n| {
        let text: String = (0..12).map(|word| format!("word{} ", n * 31 + word * 7)).collect();
        let (year, month) = (2023 + n / 4, 1 + 3 * (n % 4));
        format!("h-{n:02},alder,{},3,4,2,false,{text},approved,{year}-{month:02}-10,,,\n", 2 + n % 3)
    });
    format!("{HEADER}{}{more}", honest.collect::<String>())
}

/// The weight, the reason and the firm's score for each case.
fn answers(more: &str) -> (Vec<(String, Value, Value)>, Value) {
    let folder = two_firms::dataset("", "");
    fs::write(folder.path().join("reviews.csv"), reviews(more)).unwrap();
    let server = Server::of(catalog_of(folder.path()));
    let client = server.client(Tier::Enterprise);
    let list = client.get("/api/v3/reviews?limit=100").json();
    let mut rows: Vec<(String, Value, Value)> = list["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            assert_eq!(row["counted"], row["held_as"].is_null(), "{row}");
            (row["id"].as_str().unwrap().to_owned(), row["weight"].clone(), row["held_as"].clone())
        })
        .filter(|(id, ..)| !id.starts_with("h-"))
        .collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    (rows, client.get("/api/v3/vcs/alder").json()["data"]["score"].clone())
}

fn line(id: &str, firm: &str, ratings: &str, text: &str, day: &str, rest: &str) -> String {
    format!("{id},{firm},{ratings},false,{text},approved,{day},{rest}\n")
}

#[test]
fn reviews_that_look_arranged_do_not_count_and_say_why() {
    let (none, plain) = answers("");
    assert!(none.is_empty());
    assert_eq!((&plain["held"], &plain["status"]), (&json!([]), &json!("published")));
    let long = "They answered within two days and came back with a clear no and three reasons for it";
    let other = |n: usize| (0..9).map(|word| format!("other{} ", n * 13 + word)).collect::<String>();
    let burst: Vec<String> = (0..5)
        .map(|n| {
            line(
                &format!("b-{n}"),
                "alder",
                &format!("{},4,5,5", 4 + n % 2),
                &other(n),
                &format!("2025-09-{:02}", 3 + n),
                ",,",
            )
        })
        .collect();
    let equal: Vec<String> = (0..3)
        .map(|n| line(&format!("e-{n}"), "alder", "5,5,5,", &other(20 + n), &format!("2025-05-{:02}", 1 + 9 * n), ",,"))
        .collect();
    let similar = [
        line("s-0", "birch", "4,3,4,2", long, "2024-02-01", ",,"),
        line("s-1", "alder", "4,3,4,3", &format!("{long} indeed"), "2024-08-01", ",,"),
    ];
    let author = "00112233445566778899";
    let second = [
        line("a-0", "birch", "4,3,4,2", &other(40), "2024-06-01", &format!("{author},2024-05,")),
        line("a-1", "alder", "4,3,4,3", &other(41), "2024-06-02", &format!("{author},2024-05,")),
        line("a-2", "alder", "5,3,4,3", &other(42), "2025-05-30", &format!("{author},2024-05,")),
        line("a-3", "alder", "5,3,4,2", &other(43), "2025-06-20", &format!("{author},2024-05,")),
    ];
    let held = |reason: &str| (json!(0.0), json!(reason));
    let counts = (json!(1.0), Value::Null);
    for (lines, reasons, count) in [
        (&burst[..], vec![held("burst"); 5], json!([{ "reason": "burst", "review_count": 5 }])),
        (&equal[..], vec![held("equal_ratings"); 3], json!([{ "reason": "equal_ratings", "review_count": 3 }])),
        (
            &similar[..],
            vec![counts.clone(), held("similar_text")],
            json!([{ "reason": "similar_text", "review_count": 1 }]),
        ),
        (
            &second[..],
            vec![counts.clone(), counts.clone(), held("second_by_author"), counts.clone()],
            json!([{ "reason": "second_by_author", "review_count": 1 }]),
        ),
    ] {
        let (rows, score) = answers(&lines.concat());
        let found: Vec<(Value, Value)> = rows.into_iter().map(|(_, weight, reason)| (weight, reason)).collect();
        assert_eq!(found, reasons, "{lines:?}");
        assert_eq!(score["held"], count, "{score}");
        if reasons.iter().all(|reason| *reason != counts) {
            for part in ["value", "low", "high", "effective_reviews", "components"] {
                assert_eq!(score[part], plain[part], "{part} of {lines:?}");
            }
        }
        // A person lets them count.
        let (rows, score) = answers(&lines.concat().replace(",\n", ",true\n"));
        assert!(rows.iter().all(|(_, weight, reason)| *weight == json!(1.0) && reason.is_null()), "{rows:?}");
        assert_eq!(score["held"], json!([]));
    }
    // Fewer than that come together by chance.
    assert!(
        answers(&burst[..3].concat()).0.iter().all(|(_, weight, reason)| *weight == json!(1.0) && reason.is_null())
    );
    assert!(answers(&equal[..2].concat()).0.iter().all(|(.., reason)| reason.is_null()));
}

#[test]
fn reviews_of_accounts_that_were_created_around_a_burst_count_less() {
    let other = |n: usize| (0..9).map(|word| format!("other{} ", n * 13 + word)).collect::<String>();
    let burst: String = (0..5)
        .map(|n| line(&format!("b-{n}"), "alder", "5,4,5,5", &other(n), &format!("2025-03-{:02}", 3 + n), ",,"))
        .collect();
    let later = |id: &str, since: &str| {
        line(id, "alder", "4,4,5,5", &other(30), "2025-12-01", &format!("aaaabbbbccccdddd,{since},"))
    };
    let weight = |lines: &str| answers(lines).0.into_iter().find(|(id, ..)| id == "y").unwrap().1;
    assert_eq!(weight(&format!("{burst}{}", later("y", "2025-03-01"))), 0.25);
    assert_eq!(weight(&format!("{burst}{}", later("y", "2024-03-01"))), 1.0);
    assert_eq!(weight(&format!("{burst}{}", later("y", "2025-11-20"))), 1.0);
    assert_eq!(weight(&later("y", "2025-03-01")), 1.0);
    let cleared = burst.replace(",\n", ",true\n");
    assert_eq!(weight(&format!("{cleared}{}", later("y", "2025-03-01"))), 1.0);
}

#[test]
fn old_reviews_alone_are_no_score_and_pages_say_how_much_reviews_count() {
    let folder = two_firms::dataset("", "");
    let old: String =
        (1..=5).map(|n| line(&format!("o-{n}"), "birch", "1,1,2,1", "", &format!("2012-0{n}-10"), ",,")).collect();
    fs::write(folder.path().join("reviews.csv"), reviews(&old)).unwrap();
    let (server, client) = two_firms::serve(folder.path());
    let firm = client.get("/api/v3/vcs/birch").json()["data"].clone();
    assert_eq!(
        (&firm["review_count"], &firm["health_score"], &firm["ghosting_rate"]),
        (&json!(5), &Value::Null, &Value::Null)
    );
    assert_eq!(firm["score"]["status"], "insufficient_reviews");
    assert!(firm["score"]["effective_reviews"].as_f64().unwrap() < 0.1, "{firm}");
    let page = server.anonymous().get("/vcs/birch").text;
    assert!(page.contains("5 reviews so far, which count as 0.0 of today; a score requires 3."), "{page}");
    let alder = client.get("/api/v3/vcs/alder").json()["data"]["score"]["effective_reviews"].to_string();
    let page = server.anonymous().get("/vcs/alder").text;
    assert!(page.contains(&format!("12 reviews, which count as {alder} of today")), "{page}");
}

#[test]
fn attacks_are_held_or_move_a_rank_by_three_places_at_most() {
    for seed in 1..=3 {
        let mut chance = Chance(seed);
        let world = World::new(&mut chance, 61, Firms::MostlyAlike, Reviewers::Trials, 12..41);
        let before = world.scores();
        let ranked: Vec<usize> = (0..61).filter(|firm| place(&before, *firm).is_some()).collect();
        assert!(ranked.len() > 30, "{}", ranked.len());
        for attack in Attack::ALL {
            let firm = ranked[chance.below(ranked.len())];
            let mut attacked = world.clone();
            attacked.add(&mut chance, firm, attack);
            let after = attacked.scores();
            let is_held = attacked.holds_added();
            let (from, to) = (place(&before, firm).unwrap(), place(&after, firm));
            assert!(is_held || to.is_some_and(|to| to.abs_diff(from) <= 3), "{attack:?} {seed}: {from} to {to:?}");
            // Everybody who looks at the firm sees them, and a person who lets them count changes the score.
            attacked.clear_all();
            assert_eq!(held(&attacked.scores()[firm]), 0, "{attack:?}");
        }
        let (firm, mut honest) = (ranked[0], world.clone());
        honest.add_honest_burst(&mut chance, firm, 20);
        assert!(honest.holds_added());
        honest.clear_all();
        let released = &honest.scores()[firm].score;
        assert!(released.held.is_empty() && released.effective_reviews > before[firm].score.effective_reviews + 18.0);
    }
}

#[test]
fn intervals_have_the_true_score_nine_times_of_ten_whatever_the_quality_and_the_number_of_reviews() {
    let mut chance = Chance(7);
    for reviewers in Reviewers::ALL.into_iter().take(rounds(Reviewers::ALL.len(), 1)) {
        let mut coverage = Coverage::default();
        for kind in [Firms::MostlyAlike, Firms::OfAllKinds] {
            count_covered(&mut coverage, &World::new(&mut chance, 1_500, kind, reviewers, 4..80));
        }
        let mut cells = 0;
        for ((quality, _), row) in QUALITIES.iter().zip(coverage) {
            for ((count, _), (covered, all)) in COUNTS.iter().zip(row) {
                // Of fewer, the share is that of chance. Three standard errors are allowed around 85 to 95 %.
                let error = 3.0 * (0.1 * 0.9 / f64::from(all.max(1))).sqrt();
                let share = f64::from(covered) / f64::from(all.max(1));
                if all >= 60 {
                    cells += 1;
                    assert!(
                        (0.85 - error..=0.95 + error).contains(&share),
                        "{reviewers:?} {quality} {count}: {covered} of {all}"
                    );
                }
            }
        }
        assert!(cells >= 8, "{cells}");
    }
}
