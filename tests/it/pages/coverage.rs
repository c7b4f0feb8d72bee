//! No two statements on coverage contradict each other: pages, REST and tools say of each field, year and country that it is
//! covered, covered in part or not covered, all alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use auth::quota::Tier;
use catalog::Catalog;
use data::{Facet, Table};
use mcp::Tool;
use serde_json::{Value, json};

use crate::mcp::tools::TestTools;
use crate::support::harness::{Client, Server, bundled, one_of, real_catalog};
use crate::support::html::{Markup, parse, text_of};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    None,
    Part,
    Known,
    /// One of the latter two.
    Covered,
}

/// What was said first of a field, a country (or all, `""`) and a year, and where.
#[derive(Default)]
struct Statements(BTreeMap<(&'static str, String, i32), (Said, String)>);

impl Statements {
    fn add(&mut self, field: &'static str, market: &str, year: i32, said: Said, place: &str) {
        let known = self.0.entry((field, market.to_owned(), year)).or_insert((said, place.to_owned()));
        let agrees = match (known.0, said) {
            (Said::Covered, other) | (other, Said::Covered) => other != Said::None,
            (one, other) => one == other,
        };
        assert!(agrees, "{field} of {market:?} in {year}: {:?} by {}, {said:?} by {place}", known.0, known.1);
        if known.0 == Said::Covered {
            *known = (said, place.to_owned());
        }
    }
}

/// The years of a text such as `2004 to 2006 and 2009`.
fn years_in(text: &str) -> Vec<i32> {
    let parts = text.replace(" and ", ", ");
    let parts = parts.split(", ").filter_map(|part| {
        let (first, last) = part.split_once(" to ").unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    });
    parts.flatten().collect()
}

/// The years in sentences that begin with a text and end with a period, after `colon`.
fn years_after(page: &str, start: &str, colon: &str) -> Vec<i32> {
    let sentences = page.split(start).skip(1).filter_map(|rest| {
        let (before, years) = rest.split_once('.')?.0.split_once(colon)?;
        before.len().lt(&100).then_some(years)
    });
    sentences.flat_map(years_in).collect()
}

/// The statements of a page's charts and sentences. A bar of a firm says nothing on other rounds of its year.
fn read_page(client: &Client, path: &str, field: &'static str, market: &str, statements: &mut Statements) {
    let reply = client.get(path);
    assert_eq!(reply.status, 200, "{path}");
    let page = parse(&reply.text);
    let text = text_of(page.first("main"));
    let none = years_after(&text, "Not covered by the data", ": ");
    let part = years_after(&text, "Covered for ", " only: ");
    none.iter().for_each(|year| statements.add(field, market, *year, Said::None, path));
    part.iter().for_each(|year| statements.add(field, market, *year, Said::Part, path));
    let has_sentences = !none.is_empty() || !part.is_empty();
    let tables = page.all(".chart details table").into_iter();
    // A year may have rounds of unknown amounts only, and firms are founded in any year.
    let is_other = |head: &String| ["US dollars", "Year founded"].contains(&head.as_str());
    let tables = tables.filter(|table| !table.texts("thead th").iter().any(is_other));
    for row in tables.flat_map(|table| table.rows("tbody tr")) {
        let Some(year) = row[0].parse().ok().filter(|year| (1900..2100).contains(year)) else { continue };
        if row.iter().any(|cell| cell == "not covered") {
            statements.add(field, market, year, Said::None, path);
        } else if !path.starts_with("/vcs/") || (has_sentences && !none.contains(&year)) {
            let said = match part.contains(&year) {
                true => Said::Part,
                // The sentences name all years of a part.
                false if has_sentences => Said::Known,
                false => Said::Covered,
            };
            statements.add(field, market, year, said, path);
        }
    }
}

/// The statement of notes on one year.
fn read_notes(notes: &[String], year: i32) -> Said {
    let says = |what: &str| {
        let parts = notes.iter().flat_map(|note| note.split("; "));
        parts
            .filter_map(|part| part.split_once(what))
            .any(|(years, _)| years_in(years).contains(&year) || years.starts_with("years "))
    };
    let is = |what: &str| says(&format!(" is {what}")) || says(&format!(" are {what}"));
    match (is("not covered"), is("covered for")) {
        (true, _) => Said::None,
        (false, true) => Said::Part,
        (false, false) => Said::Covered,
    }
}

fn check(catalog: &Arc<Catalog>) {
    let server = Server::of(Arc::clone(catalog));
    let (client, tools) = (server.client(Tier::Enterprise), TestTools::of(Arc::clone(catalog)));
    let snapshot = catalog.snapshot();
    let largest = |facet: Facet| -> Vec<String> {
        let count = |value: u32| snapshot.facet_count(Table::Rounds, facet, value);
        let mut values: Vec<u32> = (0..snapshot.facet_values(Table::Rounds, facet)).collect();
        values.retain(|value| count(*value) > 0);
        values.sort_by_key(|value| std::cmp::Reverse(count(*value)));
        values.truncate(20);
        values.iter().map(|value| catalog.facet_label(Table::Rounds, facet, *value).0).collect()
    };
    let countries = largest(Facet::Country);
    let mut statements = Statements::default();
    for path in ["/", "/data", "/markets", "/rounds", "/startups"] {
        read_page(&client, path, "rounds", "", &mut statements);
    }
    read_page(&client, "/vcs", "investors", "", &mut statements);
    for sector in largest(Facet::Sector) {
        read_page(&client, &format!("/sectors/{sector}"), "rounds", "", &mut statements);
    }
    for country in &countries {
        read_page(&client, &format!("/countries/{}", country.to_lowercase()), "rounds", country, &mut statements);
        read_page(&client, &format!("/rounds?country={country}"), "rounds", country, &mut statements);
    }
    let firms = snapshot.rows(Table::Firms);
    for firm in (0..25.min(firms)).chain((0..firms).step_by(firms.div_ceil(25) as usize)) {
        let slug = snapshot.slug(Table::Firms, firm);
        read_page(&client, &format!("/vcs/{slug}"), "investors", "", &mut statements);
    }
    let of_rest = |path: &str| -> Vec<String> {
        let json = client.get(path).json();
        let warnings = json["meta"]["warnings"].as_array().cloned().unwrap_or_default();
        warnings.iter().map(|warning| warning["detail"].as_str().unwrap().to_owned()).collect()
    };
    let of_tool = |tool: Tool, arguments: &Value| -> Vec<String> {
        let notes = tools.call(tool, arguments).unwrap()["notes"].clone();
        serde_json::from_value(notes).unwrap_or_default()
    };
    for year in 2003..=2025 {
        // The gate asks for each country every fourth year, and for all of them every year.
        let asked = countries.iter().map(String::as_str).skip(year as usize % one_of(4)).step_by(one_of(4));
        for country in asked.chain([""]) {
            let path = format!("/api/v3/funding-rounds?since={year}&until={year}&country={country}&limit=1");
            let path = path.replace("&country=&", "&");
            statements.add("rounds", country, year, read_notes(&of_rest(&path), year), &path);
            let mut arguments = json!({ "since": year.to_string(), "until": year.to_string(), "limit": 1 });
            if !country.is_empty() {
                arguments["country"] = json!(country);
            }
            let said = read_notes(&of_tool(Tool::GetFundingRounds, &arguments), year);
            statements.add("rounds", country, year, said, "get_funding_rounds");
        }
        let path = format!("/api/v3/vcs?active_since={year}&active_until={year}&limit=1");
        statements.add("investors", "", year, read_notes(&of_rest(&path), year), &path);
        let arguments = json!({ "active_since": year.to_string(), "active_until": year.to_string(), "limit": 1 });
        let said = read_notes(&of_tool(Tool::SearchVcs, &arguments), year);
        statements.add("investors", "", year, said, "search_vcs");
    }
    assert!(statements.0.len() > 23 * countries.len() / one_of(4), "{} statements", statements.0.len());
}

#[test]
fn no_two_statements_on_coverage_contradict_each_other() {
    check(&bundled());
    if let Some(catalog) = real_catalog() {
        check(&catalog);
    }
}
