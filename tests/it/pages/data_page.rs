//! The page about the data: its numbers are those of the API, and its sentences about gaps are true.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

use auth::quota::Tier;
use serde_json::Value;

use crate::support::harness::{
    Client, Server, bundled_folder, catalog_of, copy_as, copy_with_few_reviews, real_catalog,
};
use crate::support::html::{Markup, parse, text_of};

fn total(client: &Client, path: &str) -> u64 {
    let reply = client.get(path);
    assert_eq!(reply.status, 200, "{path}: {}", reply.text);
    reply.json()["pagination"]["total"].as_u64().unwrap()
}

/// Compares every linked number of the coverage with the total of the list that it leads to.
fn compare(server: &Server) {
    let client = server.client(Tier::Enterprise);
    let page = parse(&server.anonymous().get("/data").text);
    let part = page.section("coverage").unwrap();
    let (mut of_fields, mut of_years) = (0, 0);
    for link in part.all("a") {
        let Ok(number) = text_of(link).replace(',', "").parse::<u64>() else { continue };
        let href = link.attr("href").unwrap();
        let path = href.replace("/rounds?", "/funding-rounds?");
        assert_eq!(total(&client, &format!("/api/v3{path}&limit=1")), number, "{href}");
        if href.contains("since=") { of_years += 1 } else { of_fields += 1 }
    }
    assert!(of_fields > 15 && of_years > 20, "{of_fields} fields, {of_years} cells");
    // All numbers of fields, linked or not.
    let stats = client.get("/api/v3/stats").json();
    for (table, heading) in
        [("firms", "Firms"), ("startups", "Startups"), ("funding_rounds", "Funding rounds"), ("people", "People")]
    {
        let heading = format!("{heading} ");
        let mut tables = part.all("div.two > div").into_iter();
        let rows = tables.find(|table| text_of(table.first("h3")).starts_with(&heading)).unwrap().rows("tbody tr");
        for (field, known) in stats["data"]["coverage"][table].as_object().unwrap() {
            let row = rows.iter().find(|row| row[0] == *field).unwrap();
            assert_eq!(row[1].replace(',', ""), known.to_string(), "{table}: {field}");
        }
    }
}

#[test]
fn the_coverage_equals_the_lists_it_links_to() {
    compare(&Server::bundled());
}

/// The number of rounds of each year that match a filter.
fn by_year(client: &Client, filter: &str) -> BTreeMap<i32, u64> {
    let groups = client.get(&format!("/api/v3/funding-rounds/aggregate?group_by=year&limit=100{filter}")).json();
    let groups = groups["data"]["groups"][0]["values"].as_array().unwrap().clone();
    let count = |group: &Value| (group["value"].as_str().unwrap().parse().unwrap(), group["count"].as_u64().unwrap());
    groups.iter().map(count).collect()
}

#[test]
fn the_coverage_of_real_data_equals_its_lists_and_its_gaps_are_said() {
    let Some(catalog) = real_catalog() else { return };
    let server = Server::of(catalog);
    compare(&server);
    let client = server.client(Tier::Enterprise);
    let all = by_year(&client, "");
    let peak = all.values().copied().max().unwrap();
    let covered: Vec<i32> = all.iter().filter(|(_, count)| **count * 20 >= peak).map(|(year, _)| *year).collect();
    let known = by_year(&client, "&known=investor");
    let missing: Vec<i32> = covered.iter().copied().filter(|year| !known.contains_key(year)).collect();
    let page = parse(&server.anonymous().get("/data").text);
    let gaps = page.section("gaps").unwrap().texts("li");
    let gap = gaps.iter().find(|gap| gap.contains("names its investors"));
    match (missing.first(), missing.last()) {
        (Some(first), Some(last)) => {
            let gap = gap.unwrap();
            assert!(gap.starts_with("No round of ") && gap.contains(&first.to_string()), "{gap}: {missing:?}");
            assert!(gap.contains(&last.to_string()), "{gap}: {missing:?}");
        }
        _ => assert_eq!(gap, None),
    }
}

#[test]
fn gaps_are_computed_from_the_data() {
    let page = Server::bundled().anonymous().get("/data").text;
    assert!(!page.contains("names a lead investor") && !page.contains("There are no reviews"));
    let folder = copy_as(&bundled_folder(), "2026-11-21.1");
    let file = folder.path().join("funding_rounds.csv");
    let text = fs::read_to_string(&file).unwrap();
    // No round of 2020, 2021 and 2023 has a lead investor, none at all an amount.
    let lines = text.lines().enumerate().map(|(index, line)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if index > 0 {
            cells[3] = "";
            if ["2020", "2021", "2023"].contains(&cells[4].get(..4).unwrap_or_default()) {
                cells[5] = "";
            }
        }
        cells.join(",") + "\n"
    });
    fs::write(&file, lines.collect::<String>()).unwrap();
    fs::remove_file(folder.path().join("reviews.csv")).unwrap();
    let server = Server::of(catalog_of(folder.path()));
    let page = parse(&server.anonymous().get("/data").text);
    let gaps: BTreeSet<String> = page.section("gaps").unwrap().texts("li").into_iter().collect();
    for gap in [
        "No round of 2020 to 2021 and 2023 names a lead investor.",
        "No round has a known amount.",
        "There are no reviews, so that peer scores and ghosting rates are unknown.",
    ] {
        assert!(gaps.contains(gap), "{gap}: {gaps:?}");
    }
    let mut rows = page.section("coverage").unwrap().all("table.heat tbody tr").into_iter();
    let row = rows.find(|row| row.texts("th > a") == ["lead_investors"]).unwrap();
    assert_eq!(row.all("td.gap").len(), 3, "{}", row.html());
}

#[test]
fn the_page_says_what_the_release_changed() {
    let before = copy_with_few_reviews("2026-11-20.2");
    let server = Server::of(catalog_of(before.path()));
    let page = parse(&server.anonymous().get("/data").text);
    let part = text_of(page.section("changes").unwrap());
    assert!(part.contains("The release before it is not held here"), "{part}");
    let folder = copy_with_few_reviews("2026-11-21.1");
    let file = folder.path().join("firms.csv");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("Alder Capital,", "Alder Capital Partners,", 1)).unwrap();
    server.state.releases.replace(Arc::new(catalog_of(folder.path())));
    let client = server.client(Tier::Enterprise);
    let page = parse(&server.anonymous().get("/data").text);
    let part = page.section("changes").unwrap();
    let request = text_of(part.first("code"));
    let path = request.strip_prefix("GET ").unwrap();
    let changes = client.get(&format!("{path}&limit=1000")).json();
    let mut counted: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for change in changes["data"].as_array().unwrap() {
        let kind = ["add", "change", "remove"].iter().position(|kind| change["op"] == *kind).unwrap_or(2);
        counted.entry(change["table"].as_str().unwrap()).or_default()[kind] += 1;
    }
    let rows = part.rows("tbody tr");
    let rows: Vec<Vec<usize>> =
        rows.iter().map(|row| row[1..].iter().map(|cell| cell.parse().unwrap()).collect()).collect();
    let expected: Vec<Vec<usize>> = counted.values().map(|counts| counts.to_vec()).collect();
    assert_eq!((rows.len(), rows.concat().iter().sum::<usize>()), (expected.len(), expected.concat().iter().sum()));
    assert!(!rows.is_empty());
    assert_eq!(part.texts("thead th")[0], "Since 2026-11-20.2");
}
