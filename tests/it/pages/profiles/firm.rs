//! Firm pages.

use std::collections::BTreeMap;

use auth::quota::Tier;
use data::SnapshotVersion;
use release::ReleaseStore;
use scraper::{ElementRef, Html};
use serde_json::Value;

use crate::pages::charts::{
    Round, all, by_firm, chart, few_of_a_thousand, real_rounds, rounds, table, text, thousand_firms,
};
use crate::pages::profiles::{counted_links, total};
use crate::pages::rendered;
use crate::support::harness::{Server, copy_with_few_reviews, one_of, real_catalog};
use crate::support::html::{Markup, parse, text_of};
use crate::support::installation::Installation;

#[test]
fn the_numbers_of_a_firm_are_the_totals_of_the_lists_they_lead_to() {
    let server = Server::bundled();
    let firms = all(&server.client(Tier::Enterprise), "vcs");
    let firms: Vec<Value> = firms.into_iter().step_by(one_of(8)).collect();
    compare_numbers(&server, &firms, one_of(8));
}

#[test]
fn the_numbers_of_a_thousand_real_firms_are_the_totals_of_the_lists_they_lead_to() {
    let Some(server) = real_catalog().map(Server::of) else { return };
    let firms = thousand_firms(&server.client(Tier::Enterprise));
    compare_numbers(&server, &firms, few_of_a_thousand());
}

/// Compares what firms' pages count with the API. The firms are one of `few`.
fn compare_numbers(server: &Server, firms: &[Value], few: usize) {
    let client = server.client(Tier::Enterprise);
    let (mut checked, mut similar, mut bars) = (0, 0, 0);
    for firm in firms {
        let slug = text(&firm["slug"]);
        let page = parse(&rendered(server, &format!("/vcs/{slug}")));
        for id in ["portfolio", "co-investors", "similar"] {
            for (href, count) in page.section(id).map(counted_links).unwrap_or_default() {
                assert_eq!(total(&client, href), count, "{slug}: {href}");
                checked += 1;
            }
        }
        similar += page.section("similar").map_or(0, |section| section.all("ul.similar > li").len());
        // A bar has its link in the head of its row and its number in the next cell.
        let cards = page.section("investments").map(|section| section.all("div.card")).unwrap_or_default();
        let is_breakdown = |card: &ElementRef<'_>| card.texts("h3").concat().starts_with("Portfolio by ");
        for row in cards.into_iter().filter(is_breakdown).flat_map(|card| card.all("tbody tr")) {
            let href = row.first("th > a").attr("href").unwrap();
            let count = text_of(row.first("td")).replace(',', "");
            assert_eq!(total(&client, href).to_string(), count, "{slug}: {href}");
            bars += 1;
        }
    }
    assert!(checked > 4_000 / few && similar > 400 / few && bars > 1_600 / few, "{checked} {similar} {bars}");
}

#[test]
fn the_timeline_of_all_firms_has_their_largest_rounds() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let firms: Vec<Value> = all(&client, "vcs").into_iter().step_by(one_of(4)).collect();
    let (hollow, with_rest) = compare_timelines(&server, &firms, &rounds(&client));
    assert!(hollow > 50 / one_of(4) && with_rest > 0, "{hollow} {with_rest}");
}

#[test]
fn the_timeline_of_a_thousand_real_firms_has_their_largest_rounds() {
    let Some(server) = real_catalog().map(Server::of) else { return };
    let client = server.client(Tier::Enterprise);
    let (hollow, with_rest) = compare_timelines(&server, &thousand_firms(&client), real_rounds(&client));
    let few = few_of_a_thousand();
    assert!(hollow > 5 / few && with_rest as usize > 5 / few, "{hollow} {with_rest}");
}

/// Compares timelines with the rounds of the API; returns the number of rounds of unknown amount and of firms not all of whose
/// rounds are drawn.
fn compare_timelines(server: &Server, firms: &[Value], rounds: &[Round]) -> (usize, u32) {
    let of_firm = by_firm(rounds);
    let (mut hollow, mut with_rest) = (0, 0);
    for firm in firms {
        let slug = text(&firm["slug"]);
        let page = parse(&rendered(server, &format!("/vcs/{slug}")));
        let own = of_firm.get(slug.as_str()).into_iter().flatten().copied();
        let (dated, undated): (Vec<&Round>, Vec<&Round>) = own.partition(|round| round.date.is_some());
        let timeline = chart(&page, "timeline");
        assert_eq!(timeline.is_some(), dated.len() >= 3, "{slug}");
        let Some(timeline) = timeline else { continue };
        assert_eq!(timeline.all("circle").len(), dated.len().min(100), "{slug}");
        if dated.len() <= 100 {
            let unknown = dated.iter().filter(|round| round.counted_usd.is_none()).count();
            assert_eq!(timeline.all("circle.hollow").len(), unknown, "{slug}");
            hollow += unknown;
            let links = timeline.links();
            for round in &dated {
                let href = format!("/startups/{}#round-{}", round.startup, round.id);
                assert_eq!(links.iter().filter(|link| **link == href).count(), 2, "{slug}: {href}");
            }
        }
        let is_cut = dated.len() > 100 || !undated.is_empty();
        let rest = timeline.all("p").into_iter().find(|part| text_of(*part).starts_with("Not drawn: "));
        assert_eq!(rest.is_some(), is_cut, "{slug}");
        if let Some(rest) = rest {
            let rest = text_of(rest.first("a"));
            let rest = rest.split(',').filter_map(|part| part.trim().split(' ').next()?.parse::<usize>().ok());
            assert_eq!(rest.sum::<usize>(), dated.len().saturating_sub(100) + undated.len(), "{slug}");
        }
        with_rest += u32::from(is_cut);
        let rows = table(timeline);
        assert!(rows[1..].windows(2).all(|pair| pair[0].len() == 4 && pair[1].len() == 4), "{slug}");
    }
    (hollow, with_rest)
}

#[test]
fn a_firm_begins_with_facts_and_a_sentence_that_its_rounds_confirm() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let rounds = rounds(&client);
    let (mut sentences, mut with) = (0, 0);
    for firm in all(&client, "vcs").into_iter().step_by(one_of(5)) {
        let slug = text(&firm["slug"]);
        let page = parse(&rendered(&server, &format!("/vcs/{slug}")));
        let facts = page.first("main > dl.facts.strip");
        // Name, kind and place, and at most a sentence come before the first fact; charts and texts come after it.
        let before: Vec<ElementRef<'_>> = facts.prev_siblings().filter_map(ElementRef::wrap).collect();
        assert!(before.iter().all(|part| ["p", "h1"].contains(&part.value().name())), "{slug}: {before:?}");
        assert!(before.iter().map(|part| text_of(*part).len()).sum::<usize>() < 600, "{slug}");
        let headings = page.values("main h2", "id");
        for (_, id) in page.first("main > nav.contents").links().into_iter().filter_map(|href| href.split_once('#')) {
            assert!(headings.contains(&id), "{slug}: {id}");
        }
        let Some(sentence) = page.find("main > p.sentence").map(text_of) else { continue };
        sentences += 1;
        let own: Vec<&Round> = rounds.iter().filter(|round| round.investors.contains(&slug)).collect();
        if let Some((_, names)) = sentence.trim_end_matches('.').split_once(", most often with ") {
            let mut shared: BTreeMap<&str, usize> = BTreeMap::new();
            for other in own.iter().flat_map(|round| &round.investors).filter(|other| **other != slug) {
                *shared.entry(other).or_default() += 1;
            }
            let most = shared.iter().max_by_key(|(_, count)| **count).unwrap();
            assert!(*most.1 >= 3, "{slug}: {sentence}");
            let name =
                client.get(&format!("/api/v3/vcs/{}", most.0)).json()["data"]["name"].as_str().unwrap().to_owned();
            let is_tie = shared.values().filter(|count| *count == most.1).count() > 1;
            assert!(is_tie || names.starts_with(name.trim_end_matches('.')), "{slug}: {sentence}, not {name}");
            with += 1;
        }
        if sentence.starts_with("Seed investor") {
            let ladder = ["pre-seed", "seed", "series-a", "series-b", "series-c", "series-d-plus", "growth"];
            let is_of = |round: &&&Round| round.stage.is_empty() || ladder.contains(&round.stage.as_str());
            let growth: Vec<&&Round> = own.iter().filter(is_of).collect();
            let seed = growth.iter().filter(|round| round.stage == "seed").count();
            assert!(seed * 10 >= growth.len() * 6, "{slug}: {sentence}");
        }
    }
    assert!(sentences > 200 / one_of(5) && with > 5 / one_of(5), "{sentences} {with}");
}

#[test]
fn a_firm_says_what_the_release_added() {
    let installation = Installation::new();
    let slug = "alder-capital";
    let (first, second) = ("2026-11-27.1", "2026-12-04.1");
    let dataset = copy_with_few_reviews(first);
    let build = || installation.indexer(&["build", "--force", "--dataset", dataset.path().to_str().unwrap()]);
    build();
    let settings = dataset.path().join("snapshot.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replace(first, second)).unwrap();
    let table = dataset.path().join("funding_rounds.csv");
    let mut rounds = std::fs::read_to_string(&table).unwrap();
    let (head, row) = (
        rounds.lines().next().unwrap().to_owned(),
        rounds.lines().find(|row| row.contains(&format!(",{slug},"))).unwrap(),
    );
    assert!(head.starts_with("id,"), "{head}");
    let added = format!("r-9999999,{}", row.split_once(',').unwrap().1);
    rounds.push_str(&format!("{added}\n"));
    std::fs::write(&table, rounds).unwrap();
    build();
    let releases = ReleaseStore::at(installation.index());
    let page = |version: &str, slug: &str| {
        let release = releases.open(version.parse::<SnapshotVersion>().unwrap()).unwrap();
        rendered(&Server::of(release.catalog), &format!("/vcs/{slug}"))
    };
    let notice = |page: &str| page.contains("<p class=\"notice\">");
    assert!(!notice(&page(first, slug)), "there is no earlier release");
    let after = page(second, slug);
    let news = text_of(parse(&after).first("p.notice"));
    assert!(news.starts_with(&format!("In release {second}: +1 round (")) && news.ends_with(")."), "{news}");
    assert!(after.contains("#round-r-9999999\""));
    assert!(!notice(&page(second, "lunpentanza-ventures")), "nothing about it changed");
}

#[test]
fn a_firm_says_which_years_the_data_misses() {
    let years = |page: &Html| {
        let coverage = text_of(page.section("coverage")?);
        let (_, years) = coverage.split_once("Not covered by the data: ")?;
        Some(years.split_once('.').unwrap().0.replace(" and ", ", "))
    };
    assert_eq!(years(&parse(&rendered(&Server::bundled(), "/vcs/alder-capital"))), None);
    let Some(server) = real_catalog().map(Server::of) else { return };
    let firm = server.client(Tier::Enterprise).get("/api/v3/vcs?sort=-investment_count&limit=1").slugs().remove(0);
    let page = parse(&rendered(&server, &format!("/vcs/{firm}")));
    let span = |span: &str| {
        let (first, last) = span.split_once(" to ").unwrap_or((span, span));
        first.parse::<i32>().unwrap()..=last.parse().unwrap()
    };
    let missing: Vec<i32> = years(&page).expect("real data has gaps").split(", ").flat_map(span).collect();
    let bars = table(chart(&page, "years").unwrap());
    let hatched = bars.iter().filter(|row| row.last().is_some_and(|cell| cell == "not covered"));
    let hatched: Vec<i32> = hatched.map(|row| row[0].parse().unwrap()).collect();
    assert!(!hatched.is_empty() && hatched.iter().all(|year| missing.contains(year)), "{hatched:?} {missing:?}");
}
