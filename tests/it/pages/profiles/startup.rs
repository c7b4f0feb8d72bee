//! Startup pages.

use std::collections::{BTreeMap, BTreeSet};

use auth::quota::Tier;

use crate::pages::charts::{Round, all, chart, rounds, text};
use crate::pages::rendered;
use crate::support::harness::{Server, one_of};
use crate::support::html::{Markup, parse, text_of};

#[test]
fn the_matrix_of_all_startups_has_who_joined_and_led_each_round() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut of: BTreeMap<String, Vec<Round>> = BTreeMap::new();
    for round in rounds(&client) {
        of.entry(round.startup.clone()).or_default().push(round);
    }
    let (mut drawn, mut led, mut cut) = (0, 0, 0);
    for (slug, rounds) in of.iter().step_by(one_of(6)) {
        let page = parse(&rendered(&server, &format!("/startups/{slug}")));
        let known = rounds.iter().filter(|round| !round.investors.is_empty()).count();
        let matrix = chart(&page, "investors");
        assert_eq!(matrix.is_some(), known >= 2, "{slug}");
        let Some(matrix) = matrix else { continue };
        let columns: Vec<&Round> = matrix
            .values("thead a", "href")
            .into_iter()
            .map(|href| rounds.iter().find(|round| format!("#round-{}", round.id) == href).unwrap())
            .collect();
        assert!(columns.len() <= 12 && columns.len() == known.min(12), "{slug}");
        // From the oldest to the newest, after those without date.
        assert!(columns.windows(2).all(|pair| pair[0].date <= pair[1].date), "{slug}");
        let mut seen = BTreeSet::new();
        for row in matrix.all("tbody tr") {
            let hrefs = row.links();
            let firm = hrefs[0].strip_prefix("/vcs/").unwrap();
            let cells = row.all("td");
            assert_eq!(cells.len(), columns.len() + 1, "{slug}");
            for (cell, round) in cells.iter().zip(&columns) {
                let is = |firms: &[String]| firms.iter().any(|other| other == firm);
                let expected = match (is(&round.investors), is(&round.leads)) {
                    (_, true) => "led",
                    (true, _) => "joined",
                    _ => "",
                };
                assert_eq!(text_of(*cell), expected, "{slug}: {firm} in {}", round.id);
                led += u32::from(expected == "led");
            }
            assert_eq!(hrefs[1], format!("/rounds?startup={slug}&investor={firm}"));
            let joined = rounds.iter().filter(|round| round.investors.iter().any(|other| other == firm)).count();
            assert_eq!(cells.last().unwrap().texts("a"), [joined.to_string()], "{slug}: {firm}");
            seen.insert(firm.to_owned());
        }
        let investors: BTreeSet<&String> = rounds.iter().flat_map(|round| &round.investors).collect();
        assert!(seen.len() <= 30, "{slug}");
        let left_out = investors.len() - seen.len();
        let is_cut = matrix.texts("p").iter().any(|text| text.starts_with("Not shown: "));
        assert_eq!(is_cut, left_out > 0 || rounds.len() > 12, "{slug}");
        cut += u32::from(left_out > 0);
        drawn += 1;
    }
    assert!(drawn > 300 / one_of(6) && led as usize > 300 / one_of(6), "{drawn} {led} {cut}");
}

#[test]
fn similar_startups_are_counted_as_the_list_counts_them_and_the_next_round_has_firms() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let (mut checked, mut matches) = (0, 0);
    for startup in all(&client, "startups").iter().step_by(5 * one_of(6)) {
        let slug = text(&startup["slug"]);
        let page = parse(&rendered(&server, &format!("/startups/{slug}")));
        let similar = page.section("similar");
        if let Some(all) = similar.and_then(|similar| similar.find("h2 > a")) {
            let list = all.attr("href").unwrap();
            let total = client.get(&format!("/api/v3{list}&limit=1")).json()["pagination"]["total"].as_u64().unwrap();
            assert_eq!(text_of(all), format!("see all {total}"), "{slug}");
            checked += 1;
        }
        // They are the first of the list, each with what both have in common.
        let listed = client.get(&format!("/api/v3/startups?like={slug}&limit=6")).json();
        let links = similar.map(|similar| similar.links()).unwrap_or_default();
        let shown = links.into_iter().filter_map(|href| href.strip_prefix("/startups/").map(str::to_owned));
        let of_list = listed["data"].as_array().unwrap().iter().map(|other| text(&other["slug"]).to_owned());
        assert!(shown.eq(of_list), "{slug}");
        let said = similar.map(text_of).unwrap_or_default();
        for other in listed["meta"]["similar"].as_array().into_iter().flatten() {
            let reasons = other["reasons"].as_array().unwrap();
            let best = reasons.iter().rev().max_by_key(|reason| reason["points"].as_u64()).unwrap();
            let detail = text(&best["detail"]);
            assert!(said.contains(&detail), "{slug}: {detail}");
        }
        let next = page.section("next");
        let is_over = startup["status"].as_str().is_some_and(|status| status != "operating");
        let growth = ["pre-seed", "seed", "series-a", "series-b", "series-c", "series-d-plus", "growth"];
        let is_growing = startup["stage"].as_str().is_some_and(|stage| growth.contains(&stage));
        let has_sectors = !startup["sectors"].as_array().unwrap().is_empty();
        assert_eq!(next.is_none(), is_over || !(is_growing || has_sectors), "{slug}");
        if let Some(href) = next.and_then(|next| next.first("a").attr("href")) {
            assert_eq!(href.contains("stage="), is_growing, "{slug}: {href}");
            matches += u32::from(parse(&rendered(&server, href)).find("main ul.matches").is_some());
        }
    }
    assert!(checked > 20 / one_of(6) && matches as usize > 20 / one_of(6), "{checked} {matches}");
}
