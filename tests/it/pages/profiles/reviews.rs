//! Reviews of a firm.

use auth::quota::Tier;
use service::Operator;

use crate::pages::charts::{all, chart, table, text};
use crate::pages::{check, rendered};
use crate::support::harness::Server;
use crate::support::html::{Markup, parse, text_of};

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
            let page = check(&path, &rendered(&server, &format!("{path}?{query}")));
            let lead = text_of(page.first("main > p.lead"));
            assert!(lead.starts_with(&format!("{} approved review", of_api(query))), "{path}?{query}: {lead}");
            // Each value of a filter with its number, unless it is selected.
            for chip in page.all("main a.chip") {
                let Some(count) = chip.find("span.quiet").map(text_of) else { continue };
                let href = chip.attr("href").unwrap();
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
    let page = parse(&rendered(&server, "/vcs/lunpentanza-ventures/reviews?sort=rating"));
    let ids = page.values("article", "id");
    assert!(ids.len() > 5);
    for id in ids.into_iter().take(3) {
        let href = format!("/vcs/lunpentanza-ventures/reviews?id={}", id.strip_prefix("review-").unwrap());
        assert!(page.links().contains(&href.as_str()), "{href}");
        let one = parse(&rendered(&server, &href));
        assert_eq!(one.values("article", "id"), [id]);
        assert_eq!(text_of(one.first("main > p.lead")), "1 approved review");
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
