//! Reviews of a firm.

use auth::quota::Tier;
use service::Operator;

use crate::charts::{all, chart, table, text};
use crate::harness::Server;
use crate::pages::{between, check, rendered};

#[test]
fn reviews_are_filtered_counted_and_linked_one_by_one() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut shown = 0;
    for firm in all(&client, "vcs").iter().step_by(20) {
        let slug = text(&firm["slug"]);
        let path = format!("/vcs/{slug}/reviews");
        let of_api = |query: &str| {
            let reply = client.get(&format!("/api/v3{path}?{query}&limit=1"));
            reply.json()["pagination"]["total"].as_u64().unwrap()
        };
        for query in ["sort=rating", "stage=seed", "ghosted=true", "min_rating=4&max_rating=4"] {
            let page = rendered(&server, &format!("{path}?{query}"));
            check(&path, &page);
            let main = between(&page, "<main", "</main>");
            assert!(main.contains(&format!("<p class=\"lead\">{} approved review", of_api(query))), "{path}?{query}");
            // Each value of a filter with its number, unless it is selected.
            let chips = main.split("<a class=\"chip\" href=\"").skip(1).filter_map(|rest| rest.split("</a>").next());
            for chip in chips.filter(|chip| chip.contains("<span class=\"quiet\">")) {
                let href = chip.split('"').next().unwrap().replace("&#38;", "&");
                let count = between(chip, "<span class=\"quiet\">", "</span>");
                assert_eq!(of_api(href.split_once('?').unwrap().1).to_string(), count, "{href}");
                shown += 1;
            }
            let Some(histogram) = chart(&page, "ratings") else { continue };
            for row in table(histogram).iter().skip(1) {
                let stars = &row[0][..1];
                let other = query.split('&').filter(|part| !part.contains("rating=")).collect::<Vec<_>>().join("&");
                assert_eq!(row[1], of_api(&format!("{other}&min_rating={stars}&max_rating={stars}")).to_string());
            }
        }
    }
    assert!(shown > 50, "{shown}");
    // A permanent link shows its review alone.
    let page = rendered(&server, "/vcs/lunpentanza-ventures/reviews?sort=rating");
    let ids: Vec<&str> = page.split("id=\"review-").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(ids.len() > 5);
    for id in ids.iter().take(3) {
        let href = format!("/vcs/lunpentanza-ventures/reviews?id={id}");
        assert!(page.contains(&format!("href=\"{href}\"")), "{href}");
        let one = rendered(&server, &href);
        assert_eq!(one.matches("<article").count(), 1);
        assert!(one.contains(&format!("id=\"review-{id}\"")) && one.contains(">1 approved review<"));
    }
}

#[test]
fn a_firm_has_a_link_to_its_review_form_if_there_is_one() {
    let review_url = Some("https://example.com/review?firm={slug}&from=page".to_owned());
    let server = Server::run_by("https://api.example.com", Operator { review_url, ..Operator::default() });
    for path in ["/vcs/alder-capital", "/vcs/alder-capital/reviews"] {
        let page = rendered(&server, path);
        let href = "https://example.com/review?firm=alder-capital&#38;from=page";
        assert!(page.contains(&format!("href=\"{href}\" rel=\"nofollow noopener noreferrer\">Review Alder")), "{path}");
        assert!(!page.contains("Reviews come with the data"), "{path}");
        assert!(rendered(&Server::bundled(), path).contains("Reviews come with the data"), "{path}");
    }
}
