//! The charts of pages: their numbers are those of the API.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use auth::quota::Tier;
use data::Table;
use http::HeaderMap;
use scraper::{ElementRef, Html};
use serde_json::Value;

use crate::pages::{answer, rendered};
use crate::support::harness::{Client, Server, one_of, real_catalog};
use crate::support::html::{Markup, parse, text_of};

/// A round as the API returns it.
pub(crate) struct Round {
    pub id: String,
    pub startup: String,
    /// Empty if it is unknown.
    pub stage: String,
    /// `None` if it is unknown or suspect.
    pub counted_usd: Option<u64>,
    pub year: Option<i32>,
    pub date: Option<String>,
    pub investors: Vec<String>,
    pub leads: Vec<String>,
}

/// All records of a list.
pub fn all(client: &Client, path: &str) -> Vec<Value> {
    all_of(client, path, "")
}

/// All records of a list with parameters.
pub fn all_of(client: &Client, path: &str, parameters: &str) -> Vec<Value> {
    let mut records = Vec::new();
    let mut next = format!("/api/v3/{path}?limit=1000&{parameters}");
    loop {
        let page = client.get(&next).json();
        records.extend(page["data"].as_array().unwrap().iter().cloned());
        match page["pagination"]["next_cursor"].as_str() {
            Some(cursor) => next = format!("/api/v3/{path}?limit=1000&cursor={cursor}"),
            None => return records,
        }
    }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

pub(crate) fn rounds(client: &Client) -> Vec<Round> {
    let slugs = |firms: &Value| -> Vec<String> {
        firms.as_array().into_iter().flatten().map(|firm| text(&firm["slug"])).collect()
    };
    let round = |round: Value| Round {
        id: text(&round["id"]),
        startup: text(&round["startup"]["slug"]),
        stage: round["stage"].as_str().unwrap_or_default().to_owned(),
        counted_usd: round["amount_usd"].as_u64().filter(|_| round["suspect"] == false),
        year: round["announced_on"].as_str().map(|date| date[..4].parse().unwrap()),
        date: round["announced_on"].as_str().map(str::to_owned),
        investors: slugs(&round["investors"]),
        leads: slugs(&round["lead_investors"]),
    };
    all(client, "funding-rounds").into_iter().map(round).collect()
}

/// The rounds that each firm joined.
pub(crate) fn by_firm(rounds: &[Round]) -> BTreeMap<&str, Vec<&Round>> {
    let mut of_firm: BTreeMap<&str, Vec<&Round>> = BTreeMap::new();
    for round in rounds {
        round.investors.iter().for_each(|firm| of_firm.entry(firm).or_default().push(round));
    }
    of_firm
}

/// The years of which the data has at least a twentieth of the rounds of the year with most.
fn covered<'r>(rounds: impl IntoIterator<Item = &'r Round>) -> BTreeSet<i32> {
    let mut counts: BTreeMap<i32, usize> = BTreeMap::new();
    for year in rounds.into_iter().filter_map(|round| round.year) {
        *counts.entry(year).or_default() += 1;
    }
    let peak = counts.values().copied().max().unwrap();
    counts.into_iter().filter(|(_, count)| count * 20 >= peak).map(|(year, _)| year).collect()
}

/// The figure of a page that is a chart; `None` if the page does not have it.
pub fn chart<'p>(page: &'p Html, name: &str) -> Option<ElementRef<'p>> {
    let summary = page.find(&format!("figure > [id='{name}-summary']"))?;
    ElementRef::wrap(summary.parent()?)
}

/// The texts of the cells of the only table of a chart, row by row, with the heads.
pub fn table(chart: ElementRef<'_>) -> Vec<Vec<String>> {
    chart.rows("tr")
}

pub(crate) fn stage_label(stage: &str) -> String {
    match stage {
        "" => "Stage unknown".to_owned(),
        "pre-seed" => "Pre-seed".to_owned(),
        "series-d-plus" => "Series D+".to_owned(),
        "ipo" => "IPO".to_owned(),
        _ => match stage.strip_prefix("series-") {
            Some(letter) => format!("Series {}", letter.to_uppercase()),
            None => stage[..1].to_uppercase() + &stage[1..],
        },
    }
}

/// The years of a column: `2015`, `2015–2017`; `None` for other columns.
fn years_of(column: &str) -> Option<std::ops::RangeInclusive<i32>> {
    let (first, last) = column.split_once('–').unwrap_or((column, column));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

#[test]
fn charts_of_all_firms_count_the_rounds_of_the_api() {
    let server = Server::bundled();
    // The first ones have most rounds, the last ones hardly any.
    let firms: Vec<Value> = all(&server.client(Tier::Enterprise), "vcs").into_iter().step_by(one_of(4)).collect();
    let rounds = rounds(&server.client(Tier::Enterprise));
    let (with_gaps, with_graph, undated) = compare_firms(&server, &firms, &rounds);
    assert!(with_gaps > 0 && with_graph > 100 / one_of(4) as u32 && undated > 0, "{with_gaps} {with_graph} {undated}");
}

#[test]
fn charts_of_a_thousand_real_firms_count_the_rounds_of_the_api() {
    let Some(server) = real_catalog().map(Server::of) else { return };
    let client = server.client(Tier::Enterprise);
    let (with_gaps, with_graph, _) = compare_firms(&server, &thousand_firms(&client), real_rounds(&client));
    let few = few_of_a_thousand() as u32;
    assert!(with_gaps > 30 / few && with_graph > 500 / few, "{with_gaps} {with_graph}");
}

/// Of those with most rounds, of those with hardly any, and of those between: every eighth of the real ones if all tests must
/// run, otherwise every 64th.
pub(crate) fn thousand_firms(client: &Client) -> Vec<Value> {
    let firms: Vec<Value> = all(client, "vcs").into_iter().step_by(8 * few_of_a_thousand()).collect();
    assert!(firms.len() > 1_000 / few_of_a_thousand(), "{}", firms.len());
    firms
}

/// The gate takes one of so many of a thousand real firms.
pub(crate) fn few_of_a_thousand() -> usize {
    one_of(8)
}

/// The rounds of the real data, which all tests share.
pub(crate) fn real_rounds(client: &Client) -> &'static [Round] {
    static ROUNDS: OnceLock<Vec<Round>> = OnceLock::new();
    ROUNDS.get_or_init(|| rounds(client))
}

/// Compares the charts of firms with the rounds of the API; returns the number of cells that are not covered, of graphs, and of
/// firms with rounds without a date.
fn compare_firms(server: &Server, firms: &[Value], rounds: &[Round]) -> (u32, u32, u32) {
    // Without investors, that a firm has no round of a year says nothing.
    let covered = covered(rounds.iter().filter(|round| !round.investors.is_empty()));
    let of_firm = by_firm(rounds);
    let (mut with_gaps, mut with_graph, mut undated) = (0, 0, 0);
    for firm in firms {
        let slug = text(&firm["slug"]);
        let page = parse(&rendered(server, &format!("/vcs/{slug}")));
        let own = of_firm.get(slug.as_str()).map_or(&[][..], Vec::as_slice);
        let stages: BTreeSet<&str> = own.iter().map(|round| round.stage.as_str()).collect();

        let heatmap = chart(&page, "stages").map(table).unwrap_or_default();
        let has_stage = own.iter().any(|round| !round.stage.is_empty());
        assert_eq!(heatmap.len(), if has_stage { stages.len() + 1 } else { 0 }, "{slug}");
        let columns = heatmap.first().cloned().unwrap_or_default();
        for row in heatmap.iter().skip(1) {
            let of_stage: Vec<&&Round> = own.iter().filter(|round| stage_label(&round.stage) == row[0]).collect();
            assert_eq!(row.last().unwrap(), &of_stage.len().to_string(), "{slug} {row:?}");
            let mut sum = 0;
            for (column, cell) in columns.iter().zip(row).skip(1).take(columns.len() - 2) {
                let is_in = |round: &&&&Round| match (round.year, column.strip_prefix("to "), column.as_str()) {
                    (year, None, "No date") => year.is_none(),
                    (year, Some(last), _) => year.is_some_and(|year| year <= last.parse().unwrap()),
                    (year, None, column) => {
                        year.is_some_and(|year| years_of(column).is_some_and(|years| years.contains(&year)))
                    }
                };
                let count = of_stage.iter().filter(is_in).count();
                let is_known = |year: i32| covered.contains(&year) || own.iter().any(|round| round.year == Some(year));
                let mut years = years_of(column).into_iter().flatten();
                // Years that are not covered may share a column, others may not.
                if years_of(column).is_none() || years.any(is_known) {
                    assert!(!column.contains('–'), "{slug}: {column}");
                    assert_eq!(cell, &count.to_string(), "{slug}: {} in {column}", row[0]);
                } else {
                    assert_eq!(cell, "not covered", "{slug}: {} in {column}", row[0]);
                    with_gaps += 1;
                }
                sum += count;
            }
            assert_eq!(sum, of_stage.len(), "{slug}: a round is in no column");
        }
        undated += u32::from(columns.contains(&"No date".to_owned()));

        let bars = chart(&page, "years").map(table).unwrap_or_default();
        assert_eq!(bars.is_empty(), own.iter().all(|round| round.year.is_none()), "{slug}");
        for row in bars.iter().skip(1) {
            let year: i32 = row[0].parse().unwrap();
            let of_year: Vec<&&Round> = own.iter().filter(|round| round.year == Some(year)).collect();
            if of_year.is_empty() && !covered.contains(&year) {
                assert_eq!(row.last().unwrap(), "not covered");
                continue;
            }
            assert_eq!(row.last().unwrap(), &of_year.len().to_string(), "{slug} in {year}");
            for (stage, cell) in bars[0].iter().zip(row).skip(1).take(row.len() - 2) {
                let count = of_year.iter().filter(|round| stage_label(&round.stage) == *stage).count();
                assert_eq!(cell, &count.to_string(), "{slug}: {stage} in {year}");
            }
        }

        let mut shared: BTreeMap<&str, u32> = BTreeMap::new();
        for other in own.iter().flat_map(|round| &round.investors).filter(|other| **other != slug) {
            *shared.entry(other).or_default() += 1;
        }
        let mut shared: Vec<(&str, u32)> = shared.into_iter().collect();
        shared.sort_by_key(|(other, count)| (std::cmp::Reverse(*count), *other));
        shared.truncate(12);
        let graph = chart(&page, "co-investors");
        assert_eq!(graph.is_some(), !shared.is_empty(), "{slug}");
        let Some(graph) = graph else { continue };
        let shown: Vec<u32> = table(graph).iter().skip(1).map(|row| row[1].parse().unwrap()).collect();
        assert_eq!(shown, shared.iter().map(|(_, count)| *count).collect::<Vec<_>>(), "{slug}");
        for (other, _) in &shared {
            // A mark and a row of the table.
            assert_eq!(graph.all(&format!("a[href='/vcs/{other}']")).len(), 2, "{slug}: {other}");
        }
        with_graph += 1;
    }
    (with_gaps, with_graph, undated)
}

/// The dollars of a text such as `$1.2M`, and half a unit of its last digit.
fn dollars(text: &str) -> (f64, f64) {
    let digits = text.strip_prefix('$').unwrap();
    let scales = [('K', 1e3), ('M', 1e6), ('B', 1e9), ('T', 1e12)];
    let scale = scales.into_iter().find(|(letter, _)| digits.ends_with(*letter)).map_or(1.0, |(_, scale)| scale);
    let number: f64 = digits.trim_end_matches(char::is_alphabetic).parse().unwrap();
    (number * scale, scale * if number >= 100.0 { 0.501 } else { 0.0501 })
}

#[test]
fn the_funding_of_all_startups_adds_up_to_what_the_api_says() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut of: BTreeMap<String, Vec<Round>> = BTreeMap::new();
    for round in rounds(&client) {
        of.entry(round.startup.clone()).or_default().push(round);
    }
    let (mut drawn, mut hollow) = (0, 0);
    for startup in all(&client, "startups").iter().step_by(one_of(5)) {
        let slug = text(&startup["slug"]);
        let page = parse(&rendered(&server, &format!("/startups/{slug}")));
        let rounds = of.remove(&slug).unwrap_or_default();
        let dated: Vec<&Round> = rounds.iter().filter(|round| round.year.is_some()).collect();
        let chart = chart(&page, "funding");
        assert_eq!(chart.is_some(), !dated.is_empty(), "{slug}");
        let Some(chart) = chart else { continue };
        let table = table(chart);
        assert_eq!(table.len(), rounds.len() + 1, "{slug}");
        assert_eq!(chart.all("circle").len(), dated.len(), "{slug}");
        let unknown = dated.iter().filter(|round| round.counted_usd.is_none()).count();
        assert_eq!(chart.all("circle.hollow").len(), unknown, "{slug}");
        let last = table.iter().skip(1).rfind(|row| !row[3].is_empty()).unwrap();
        let sum = dated.iter().filter_map(|round| round.counted_usd).sum::<u64>() as f64;
        let (shown, rounding) = dollars(&last[3]);
        assert!((shown - sum).abs() <= rounding, "{slug}: {} for {sum}", last[3]);
        if dated.len() == rounds.len() {
            assert_eq!(startup["total_raised_usd"].as_u64().unwrap_or(0) as f64, sum, "{slug}");
        }
        for round in chart.links().into_iter().filter_map(|href| href.strip_prefix('#')) {
            assert!(page.find(&format!("tr[id='{round}']")).is_some(), "{slug}: {round}");
        }
        drawn += 1;
        hollow += unknown;
    }
    assert!(drawn > 500 / one_of(5) && hollow > 100 / one_of(5), "{drawn} {hollow}");
}

#[test]
fn the_histogram_of_scores_has_the_firms_of_each_range() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let from = |score: u32| {
        let list = client.get(&format!("/api/v3/vcs?min_health_score={score}&limit=1")).json();
        list["pagination"]["total"].as_u64().unwrap()
    };
    let page = parse(&rendered(&server, "/leaderboard"));
    let rows = table(chart(&page, "distribution").unwrap());
    let mut sum = 0;
    for row in &rows[1..] {
        let (low, high) = row[0].split_once('–').unwrap();
        let (low, high): (u32, u32) = (low.parse().unwrap(), high.parse().unwrap());
        let expected = from(low) - if high < 100 { from(high + 1) } else { 0 };
        assert_eq!(row[1], expected.to_string(), "{row:?}");
        sum += expected;
    }
    assert_eq!(sum, from(0));
    // Each row of the table has its dot.
    assert_eq!(page.texts("title").iter().filter(|title| title.starts_with("Health score ")).count(), 25);
    assert!(!rendered(&server, "/leaderboard?metric=fairness").contains("id=\"scores-summary\""));
}

#[test]
fn the_years_of_the_data_page_have_the_rounds_of_the_api() {
    let server = Server::bundled();
    let rounds = rounds(&server.client(Tier::Enterprise));
    let covered = covered(&rounds);
    let page = parse(&rendered(&server, "/data"));
    let rows = table(chart(&page, "rounds-by-year").unwrap());
    let (first, last) = (covered.first().unwrap(), covered.last().unwrap());
    assert_eq!(rows.len() as i32 - 1, last - first + 1);
    for row in &rows[1..] {
        let year: i32 = row[0].parse().unwrap();
        let count = rounds.iter().filter(|round| round.year == Some(year)).count();
        let expected = if covered.contains(&year) { count.to_string() } else { "not covered".to_owned() };
        assert_eq!(row[1].replace(',', ""), expected, "{year}");
    }
}

/// A year that hardly any round is known of must not look like a year with hardly any round.
#[test]
fn charts_of_markets_hatch_the_years_that_the_data_does_not_cover() {
    let servers = [Some(Server::bundled()), real_catalog().map(Server::of)];
    for server in servers.into_iter().flatten() {
        let covered: BTreeSet<i32> = {
            let rows = table(chart(&parse(&rendered(&server, "/data")), "rounds-by-year").unwrap());
            let is_covered = |row: &&Vec<String>| row[1] != "not covered";
            rows[1..].iter().filter(is_covered).map(|row| row[0].parse().unwrap()).collect()
        };
        for path in ["/markets", "/countries/us", "/countries/us/seed"] {
            let page = parse(&rendered(&server, path));
            for name in ["rounds", "raised"] {
                let rows = table(chart(&page, name).unwrap());
                assert!(rows.len() > 5, "{path}");
                for row in &rows[1..] {
                    let is_covered = covered.contains(&row[0].parse().unwrap());
                    assert_eq!(row[1] != "not covered", is_covered, "{path}, {name}: {row:?}");
                }
            }
        }
    }
}

#[test]
fn a_firm_with_all_its_charts_is_a_small_page() {
    let server = Server::bundled();
    let mut headers = HeaderMap::new();
    headers.insert("accept-encoding", "gzip".parse().unwrap());
    let catalog = server.state.releases.current();
    let snapshot = catalog.snapshot();
    // The first ones have the largest pages.
    let (largest, others) = (0..50, (50..snapshot.rows(Table::Firms)).step_by(one_of(4)));
    for row in largest.chain(others) {
        let path = format!("/vcs/{}", snapshot.slug(Table::Firms, row));
        let response = answer(&server, &path, &headers);
        assert_eq!(response.headers()["content-encoding"], "gzip");
        assert!(response.body().len() < 45_000, "{path}: {} bytes", response.body().len());
    }
}

#[test]
fn the_maps_and_boards_of_home_have_the_numbers_of_the_lists() {
    let server = Server::bundled();
    let (visitor, client) = (server.anonymous(), server.client(Tier::Enterprise));
    let total =
        |list: &str| client.get(&format!("/api/v3/{list}&limit=1")).json()["pagination"]["total"].as_u64().unwrap();
    let page = parse(&visitor.get("/").text);
    for (name, path, parameter) in [("sectors", "/sectors/", "sector"), ("countries", "/countries/", "country")] {
        let rows = chart(&page, name).unwrap().all("tbody tr").into_iter();
        let linked = rows.filter_map(|row| Some((row.find("th > a")?.attr("href")?, text_of(row.first("td")))));
        let compared = linked.map(|(href, cell)| {
            let value = href.strip_prefix(path).unwrap();
            assert_eq!(total(&format!("startups?{parameter}={value}")), cell.replace(',', "").parse::<u64>().unwrap());
        });
        assert!(compared.count() > 10, "{name}");
    }
    let rounds_of = |link: ElementRef<'_>| text_of(link).replace(',', "").parse::<u64>().unwrap();
    let firms = page.section("busiest").unwrap().all("td > a").into_iter();
    let firms: Vec<(&str, u64)> = firms
        .map(|link| (link.attr("href").unwrap().strip_prefix("/rounds?investor=").unwrap(), rounds_of(link)))
        .collect();
    let first = client.get("/api/v3/vcs?sort=-investment_count&limit=5").slugs();
    assert_eq!(firms.iter().map(|(slug, _)| *slug).collect::<Vec<_>>(), first);
    for (slug, rounds) in firms {
        assert_eq!(total(&format!("funding-rounds?investor={slug}")), rounds, "{slug}");
    }
    assert!(page.section("rated").is_some());
}

#[test]
fn home_has_no_board_that_the_data_cannot_fill() {
    let Some(catalog) = real_catalog() else { return };
    let server = Server::of(catalog);
    let page = server.anonymous().get("/").text;
    assert!(page.contains("id=\"busiest\"") && !page.contains("id=\"rated\""), "{page}");
    let page = parse(&page);
    assert!(chart(&page, "sectors").is_some() && chart(&page, "countries").is_some());
}
