//! Market pages, matches, comparisons and CSV files: their numbers are those of the API.

use std::collections::BTreeSet;

use auth::quota::Tier;
use scraper::{ElementRef, Html};
use serde_json::{Value, json};

use crate::pages::{check, list_of, rendered};
use crate::support::harness::{Client, Server, catalog_of, copy_with_few_reviews};
use crate::support::html::{Markup, parse, text_of};

/// The texts of the cells of the first table of a section, row by row.
fn rows(page: &Html, section: &str) -> Vec<Vec<String>> {
    page.section(section).map(|section| section.first("tbody").rows("tr")).unwrap_or_default()
}

fn number(text: &str) -> u64 {
    text.replace(',', "").parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

/// Whether an amount as pages show it is this one: in at most three digits.
fn is_usd(shown: &str, amount: &Value) -> bool {
    let Some(amount) = amount.as_f64() else { return shown.is_empty() || shown == "unknown" };
    let shown = shown.trim_start_matches('$');
    let scale = match shown.chars().last() {
        Some('K') => 1e3,
        Some('M') => 1e6,
        Some('B') => 1e9,
        Some('T') => 1e12,
        _ => 1.0,
    };
    let value: f64 = shown.trim_end_matches(char::is_alphabetic).parse().unwrap();
    // Half of the last digit.
    let last = if shown.contains('.') { 0.05 } else { 0.5 };
    (value * scale - amount).abs() <= last * scale * 1.001
}

fn data(client: &Client, path: &str) -> Value {
    let reply = client.get(&format!("/api/v3/{path}"));
    assert_eq!(reply.status, 200, "{path}: {}", reply.text);
    reply.json()
}

fn fact(page: &Html, label: &str) -> String {
    let mut facts = page.all("dl.facts > div").into_iter();
    let fact = facts.find(|fact| text_of(fact.first("dt")) == label).unwrap_or_else(|| panic!("no {label}"));
    text_of(fact.first("dd"))
}

#[test]
fn a_market_is_headed_by_its_name() {
    let server = Server::bundled();
    for (path, name) in
        [("/cities/london", "London"), ("/cities/london/seed", "Seed · London"), ("/countries/de", "Germany")]
    {
        assert!(rendered(&server, path).contains(&format!("<h1>{name}")), "{path}");
    }
}

#[test]
fn a_market_has_the_numbers_of_the_api() {
    let server = Server::bundled();
    let (visitor, client) = (server.anonymous(), server.client(Tier::Enterprise));
    let mut markets = vec![("/markets".to_owned(), String::new())];
    for sector in data(&client, "sectors?limit=100")["data"].as_array().unwrap() {
        let slug = sector["slug"].as_str().unwrap();
        markets.push((format!("/sectors/{slug}"), format!("sector={slug}")));
    }
    for stage in ["seed", "series-a", "grant"] {
        markets.push((format!("/sectors/fintech/{stage}"), format!("sector=fintech&stage={stage}")));
        markets.push((format!("/countries/gb/{stage}"), format!("country=GB&stage={stage}")));
    }
    for place in ["DE", "US", "Brazil"] {
        markets.push((format!("/countries/{place}"), format!("country={place}")));
    }
    markets.push(("/cities/london".to_owned(), "city=London".to_owned()));
    let mut investors = 0;
    for (path, query) in markets {
        let page = visitor.get(&path);
        assert_eq!(page.status, 200, "{path}");
        let page = check(&path, &page.text);
        let found = data(&client, &format!("funding-rounds/aggregate?{query}&group_by=stage,investor&limit=12"));
        let found = &found["data"];
        assert_eq!(Value::from(number(&fact(&page, "Rounds"))), found["total"], "{path}");
        assert!(is_usd(&fact(&page, "Raised"), &found["amounts"]["sum_usd"]), "{path}");
        assert!(is_usd(&fact(&page, "Median round"), &found["amounts"]["median_usd"]), "{path}");
        for (label, list) in [("Startups", "startups"), ("Firms", "vcs")] {
            let total = data(&client, &format!("{list}?{query}&limit=1"))["pagination"]["total"].clone();
            assert_eq!(Value::from(number(&fact(&page, label))), total, "{path} {label}");
        }
        let groups = |by: &str| {
            let groups = found["groups"].as_array().unwrap().iter().find(|group| group["by"] == by).unwrap();
            groups["values"].as_array().unwrap().clone()
        };
        let stages = rows(&page, "stages");
        let unknown =
            &found["groups"].as_array().unwrap().iter().find(|group| group["by"] == "stage").unwrap()["unknown"];
        let mut shown_stages = groups("stage");
        if unknown["count"].as_u64() > Some(0) {
            shown_stages
                .push(json!({ "value": "stage-unknown", "count": unknown["count"], "amounts": unknown["amounts"] }));
        }
        assert_eq!(stages.len(), if query.contains("stage=") { 0 } else { shown_stages.len() }, "{path}");
        for stage in &stages {
            let slug = stage[0].to_lowercase().replace(' ', "-").replace('+', "-plus");
            let same = |group: &&Value| group["value"] == slug.as_str();
            let group = shown_stages.iter().find(same).unwrap_or_else(|| panic!("{path}: {stage:?}"));
            assert_eq!(Value::from(number(&stage[1])), group["count"], "{path} {stage:?}");
            assert!(is_usd(&stage[2], &group["amounts"]["sum_usd"]), "{path} {stage:?}");
            assert!(is_usd(&stage[3], &group["amounts"]["median_usd"]), "{path} {stage:?}");
        }
        let shown = rows(&page, "investors");
        assert_eq!(shown.len(), groups("investor").len());
        // The column is left out if it says nothing of any of them.
        let heads = page.section("investors").unwrap().texts("thead th");
        let has_leads = heads.last().is_some_and(|head| head == "Led");
        assert_eq!(has_leads, shown.iter().any(|row| row.get(2).is_some_and(|led| led != "unknown")), "{path}");
        for (row, group) in shown.iter().zip(groups("investor")).take(3) {
            assert_eq!(
                (Value::from(row[0].as_str()), Value::from(number(&row[1]))),
                (group["name"].clone(), group["count"].clone())
            );
            let slug = group["value"].as_str().unwrap();
            let count = |more: &str| {
                data(&client, &format!("funding-rounds?{query}&{more}&limit=1"))["pagination"]["total"].clone()
            };
            let named = count(&format!("investor={slug}&known=lead"));
            match named.as_u64() {
                Some(0) => assert_eq!(row.get(2).map(String::as_str), has_leads.then_some("unknown")),
                _ => {
                    let (led, of) = row[2].split_once(" of ").unwrap();
                    assert_eq!(
                        (Value::from(number(led)), Value::from(number(of))),
                        (count(&format!("lead={slug}")), named)
                    );
                }
            }
            investors += 1;
        }
        let newest = data(&client, &format!("funding-rounds?{query}&limit=10"));
        let newest: Vec<&str> =
            newest["data"].as_array().unwrap().iter().map(|round| round["startup"]["name"].as_str().unwrap()).collect();
        let shown: Vec<String> = rows(&page, "newest").into_iter().map(|row| row[0].clone()).collect();
        assert_eq!(shown, newest, "{path}");
    }
    assert!(investors > 50, "{investors}");
    for path in
        ["/sectors/no-such-sector", "/countries/xx", "/cities/nowhere", "/sectors/fintech/late", "/countries/de,us"]
    {
        assert_eq!(visitor.get(path).status, 404, "{path}");
    }
}

#[test]
fn matches_are_those_of_the_api_with_a_shortlist_in_the_address() {
    let server = Server::bundled();
    let (visitor, client) = (server.anonymous(), server.client(Tier::Enterprise));
    for query in
        ["stage=seed&sector=fintech", "country=DE", "raise_usd=2000000&stage=series-a", "sector=health&country=US,GB"]
    {
        let page = visitor.get(&format!("/match?{query}"));
        assert_eq!(page.status, 200);
        let page = check("/match", &page.text);
        let found = data(&client, &format!("match?{query}&limit=25"));
        let cards = match_rows(&page);
        let expected = found["data"].as_array().unwrap();
        assert_eq!(cards.len(), expected.len());
        let command = text_of(page.first("details.api pre"));
        let (_, api) = command.strip_suffix('\'').unwrap().split_once("/api/v3/match?").unwrap();
        assert_eq!(data(&client, &format!("match?{api}&limit=25"))["data"], found["data"], "{api}");
        for (card, firm) in cards.into_iter().zip(expected) {
            assert_eq!(slug_of(card), firm["slug"]);
            assert_eq!(text_of(card.first("p.points > strong")), firm["points"].to_string());
            let (bar, text) = (card.first("[aria-label]").attr("aria-label").unwrap(), text_of(card));
            for reason in firm["reasons"].as_array().unwrap() {
                let points = format!("{} of {}", reason["points"], reason["max_points"]);
                assert!(bar.contains(&points), "{points}: {bar}");
                let explained = format!("{points}: {}", reason["detail"].as_str().unwrap());
                assert!(text.contains(&explained), "{explained}: {text}");
            }
            let conflicts = card.all("a[href^='/startups/']").len();
            assert!(conflicts >= firm["conflicts"].as_array().unwrap().len());
        }
    }
    // The pages of a search are those of the list, one after the other.
    let mut next = "match?stage=seed&limit=25".to_owned();
    for number in 1..=3 {
        let found = data(&client, &next);
        let expected: Vec<&str> =
            found["data"].as_array().unwrap().iter().map(|firm| firm["slug"].as_str().unwrap()).collect();
        let page = parse(&visitor.get(&format!("/match?stage=seed&page={number}")).text);
        let shown: Vec<&str> = match_rows(&page).into_iter().map(slug_of).collect();
        assert_eq!(shown, expected, "page {number}");
        next = format!("match?stage=seed&limit=25&cursor={}", found["pagination"]["next_cursor"].as_str().unwrap());
    }
    // The second firm is put on the shortlist, kept by the form and by pages, and removed.
    let page = parse(&visitor.get("/match?stage=seed").text);
    let pick = match_rows(&page)[1].first("a.button").attr("href").unwrap();
    let slug = pick.split("pick=").nth(1).unwrap().to_owned();
    let page = visitor.get(pick).text;
    assert!(page.contains("Remove from shortlist"));
    let page = parse(&page);
    assert_eq!(page.values("form.row > input[name=pick]", "value"), [slug.as_str()]);
    let shortlist = page.section("shortlist").unwrap().links();
    assert!(shortlist.contains(&format!("/vcs/{slug}").as_str()), "{shortlist:?}");
    let csv = visitor.get(&format!("/vcs.csv?slug={slug}"));
    assert_eq!((csv.status, csv.text.lines().count()), (200, 2));
    let compared = visitor.get(&format!("/compare?firm={slug},alder-capital"));
    assert_eq!(compared.status, 200);
    check("/compare", &compared.text);
}

/// The firms of a page of matches.
fn match_rows(page: &Html) -> Vec<ElementRef<'_>> {
    page.all("ul.matches > li")
}

/// The slug of the firm that a row of matches links to.
fn slug_of(row: ElementRef<'_>) -> &str {
    row.first("h2 > a").attr("href").unwrap().strip_prefix("/vcs/").unwrap()
}

#[test]
fn a_match_says_its_counts_and_where_firms_begin_to_lack_a_condition() {
    let server = Server::bundled();
    let (visitor, client) = (server.anonymous(), server.client(Tier::Enterprise));
    let mut parted = 0;
    for query in [
        "stage=seed&sector=fintech&country=US&raise_usd=2000000",
        "stage=growth",
        "sector=fusion&country=DE&stage=seed",
    ] {
        let found = data(&client, &format!("match?{query}&limit=1000"));
        let found = found["data"].as_array().unwrap();
        let complete = found.iter().filter(|firm| firm["missing"] == json!([])).count();
        for number in 1..=2 {
            let page = visitor.get(&format!("/match?{query}&page={number}")).text;
            let have = if complete == 1 { "firm meets" } else { "firms meet" };
            assert!(page.contains(&format!("{complete} {have}")), "{query}: {page}");
            let firms: Vec<&Value> = found.iter().skip(25 * (number - 1)).take(25).collect();
            let page = parse(&page);
            let rows = match_rows(&page);
            assert_eq!(rows.len(), firms.len());
            let mut lacked = false;
            for (row, firm) in rows.into_iter().zip(firms) {
                let text = text_of(row);
                assert!(text.contains(firm["summary"].as_str().unwrap()), "{text}");
                let lacks = firm["missing"] != json!([]);
                assert_eq!(text.contains("lacks "), lacks, "{text}");
                let is_first = lacks && !std::mem::replace(&mut lacked, lacks) && complete > 0;
                assert_eq!(row.find("p.equals").is_some(), is_first, "{text}");
                parted += usize::from(is_first);
                for deal in firm["deals"].as_array().unwrap() {
                    assert!(text.contains(deal["startup"]["name"].as_str().unwrap()), "{text}");
                }
            }
        }
    }
    assert!(parted > 0, "{parted}");
}

#[test]
fn a_comparison_has_what_the_records_say() {
    let server = Server::bundled();
    let (visitor, client) = (server.anonymous(), server.client(Tier::Enterprise));
    for (list, parameter) in [("vcs", "firm"), ("startups", "startup")] {
        let records = data(&client, &format!("{list}?limit=3&fields=*"));
        let records = records["data"].as_array().unwrap();
        let slugs: Vec<&str> = records.iter().map(|record| record["slug"].as_str().unwrap()).collect();
        let page = check("/compare", &visitor.get(&format!("/compare?{parameter}={}", slugs.join(","))).text);
        let heads = page.texts("thead th > a:first-child");
        assert_eq!(heads, records.iter().map(|record| record["name"].as_str().unwrap()).collect::<Vec<_>>());
        let rows = page.rows("tbody tr");
        let place = rows.iter().find(|row| row[0] == "Place").unwrap();
        for (cell, record) in place[1..].iter().zip(records) {
            match record["city"].as_str() {
                Some(city) => assert!(cell.starts_with(city), "{cell}"),
                None => assert!(!cell.contains(',')),
            }
        }
    }
    let by_name = visitor.get("/compare?firm=Alder+Capital&firm=nobody+at+all&firm=alder-capital").text;
    assert_eq!(parse(&by_name).all("thead th > a[href='/vcs/alder-capital']").len(), 1, "{by_name}");
    assert!(by_name.contains("No firm is named “nobody at all”"), "{by_name}");
}

#[test]
fn a_csv_file_has_the_rows_of_its_list() {
    let server = Server::bundled();
    let (visitor, client) = (server.anonymous(), server.client(Tier::Enterprise));
    for (page, list, query) in [
        ("/vcs", "vcs", "stage=seed&sort=name"),
        ("/vcs", "vcs", "q=capital"),
        ("/startups", "startups", "country=DE"),
        ("/startups", "startups", ""),
        ("/rounds", "funding-rounds", "sector=fintech&sort=-amount_usd"),
        ("/people", "people", "kind=firm"),
    ] {
        let shown = parse(&visitor.get(&format!("{page}?{query}")).text);
        let mut links = shown.all("ul.actions a").into_iter();
        let link = links.find(|link| text_of(*link) == "Download CSV").unwrap().attr("href").unwrap();
        let csv = visitor.get(link);
        assert_eq!((csv.status, csv.header("content-type")), (200, "text/csv; charset=utf-8"), "{link}");
        let mut reader = csv::Reader::from_reader(csv.text.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let expected = client.send("GET", &format!("/api/v3/{list}.csv?{query}"), &[]);
        let mut expected = csv::Reader::from_reader(expected.text.as_bytes());
        assert_eq!(reader.headers().unwrap(), expected.headers().unwrap());
        let expected: Vec<csv::StringRecord> = expected.records().map(Result::unwrap).take(5_000).collect();
        assert!(!rows.is_empty() && rows == expected, "{link}");
        let total: usize = csv.header("x-total-count").parse().unwrap();
        // The page says how many rows the file has.
        let said = text_of(shown.first("ul.actions a + span.small")).replace(',', "");
        assert!(
            said == format!("{} rows", rows.len()) || said.starts_with(&format!("first {} of {total} ", rows.len())),
            "{said}"
        );
        assert!(total >= rows.len() && (total == rows.len()) == (total <= 5_000), "{link}");
        // Files without rows of records exist for lists only.
        assert_eq!(visitor.get(&format!("{page}/x.csv")).status, 404);
    }
}

#[test]
fn rounds_have_the_sectors_and_country_of_the_startup_unless_no_row_has_any() {
    let server = Server::bundled();
    let (visitor, client) = (server.anonymous(), server.client(Tier::Enterprise));
    let sectors = data(&client, "sectors?limit=1000");
    let name_of = |slug: &Value| {
        let sector = sectors["data"].as_array().unwrap().iter().find(|sector| sector["slug"] == *slug).unwrap();
        sector["name"].as_str().unwrap().to_owned()
    };
    for query in ["", "country=DE&sort=amount_usd", "sector=fintech&page=2"] {
        let page = parse(&visitor.get(&format!("/rounds?{query}")).text);
        let skipped = if query.contains("page=2") { 25 } else { 0 };
        let found = data(&client, &format!("funding-rounds?{}&limit=50", query.replace("&page=2", "")));
        let rows = list_of(&page).all("tbody tr");
        assert_eq!(rows.len(), 25);
        for (row, round) in rows.into_iter().zip(&found["data"].as_array().unwrap()[skipped..]) {
            let names: Vec<String> = round["sectors"].as_array().unwrap().iter().map(name_of).collect();
            // As many as fit into two lines, and the number of the others.
            let cell = row.first("td[data-name=Sectors]");
            let shown = cell.links().len();
            assert!(shown <= 2 && (shown > 0 || names.is_empty()), "{query}: {shown} of {names:?}");
            let expected = match names.len() - shown {
                0 if names.is_empty() => "–".to_owned(),
                0 => names.join(", "),
                more => format!("{} +{more} more", names[..shown].join(", ")),
            };
            assert_eq!(text_of(cell), expected, "{query}");
            let country = round["country"].as_str().map(|country| format!("/countries/{}", country.to_lowercase()));
            assert_eq!(row.first("td[data-name=Country]").links(), Vec::from_iter(country), "{query}");
        }
    }
    // A folder whose startups have neither.
    let folder = copy_with_few_reviews("2026-11-21.1");
    let path = folder.path().join("startups.csv");
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let heads = reader.headers().unwrap().clone();
    let unknown: Vec<usize> =
        ["sectors", "country", "city"].iter().filter_map(|name| heads.iter().position(|head| head == *name)).collect();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_path(&path).unwrap();
    writer.write_record(&heads).unwrap();
    for row in &rows {
        writer
            .write_record(row.iter().enumerate().map(|(index, cell)| if unknown.contains(&index) { "" } else { cell }))
            .unwrap();
    }
    writer.flush().unwrap();
    let page = parse(&Server::of(catalog_of(folder.path())).anonymous().get("/rounds").text);
    let heads = text_of(list_of(&page).first("thead"));
    assert!(heads.contains("Startup") && !heads.contains("Sectors") && !heads.contains("Country"), "{heads}");
}

#[test]
fn headings_sort_and_a_wrong_value_is_marked_while_the_list_stays() {
    let server = Server::bundled();
    let visitor = server.anonymous();
    for path in ["/vcs", "/startups", "/rounds", "/people"] {
        let page = parse(&visitor.get(path).text);
        let links: BTreeSet<&str> = list_of(&page).values("thead a", "href").into_iter().collect();
        assert!(!links.is_empty());
        for link in links {
            let sorted = parse(&visitor.get(link).text);
            let head = list_of(&sorted).first("thead");
            // The same heading leads to the opposite direction.
            let (direction, opposite) = if link.contains("sort=-") { ("descending", "") } else { ("ascending", "-") };
            assert_eq!(head.values("th", "aria-sort"), [direction], "{link}");
            let key = link.split("sort=").nth(1).unwrap().trim_start_matches('-');
            let (back, hrefs) = (format!("sort={opposite}{key}"), head.links());
            assert!(hrefs.iter().any(|href| href.ends_with(&back)), "{link}: {hrefs:?}");
        }
    }
    let page = check("/vcs", &visitor.get("/vcs?check_usd=abc&stage=seed").text);
    let field = page.first("input#check_usd");
    assert_eq!((field.attr("value"), field.attr("aria-invalid")), (Some("abc"), Some("true")));
    let error = text_of(page.first("#check_usd-error"));
    assert!(error.contains("is not an integer"), "{error}");
    let list = parse(&visitor.get("/vcs?stage=seed").text);
    assert_eq!(list_of(&page).first("tbody").html(), list_of(&list).first("tbody").html());
    for (size, rows) in [("25", 25), ("50", 50), ("100", 100), ("7", 25), ("x", 25)] {
        let page = parse(&visitor.get(&format!("/vcs?per_page={size}")).text);
        assert_eq!(list_of(&page).all("tbody tr").len(), rows, "{size}");
        let second = visitor.get(&format!("/vcs?per_page={size}&page=2")).text;
        assert!(second.contains("aria-label=\"Pages\""));
    }
}

#[test]
fn the_cells_of_a_heatmap_are_the_totals_of_their_lists() {
    let server = Server::bundled();
    let (visitor, client) = (server.anonymous(), server.client(Tier::Enterprise));
    let firms = data(&client, "vcs?sort=-investment_count&limit=12");
    let firms = firms["data"].as_array().unwrap().iter().map(|firm| format!("/vcs/{}", firm["slug"].as_str().unwrap()));
    let mut compared = 0;
    for path in firms.chain(["/sectors/fintech".to_owned(), "/countries/de".to_owned()]) {
        let page = parse(&visitor.get(&path).text);
        for link in page.all("td[class^=h] > a[href^='/rounds?']").into_iter().step_by(9) {
            let (link, count) = (link.attr("href").unwrap(), number(&text_of(link)));
            let (_, query) = link.split_once('?').unwrap();
            let total = data(&client, &format!("funding-rounds?{query}&limit=1"))["pagination"]["total"].clone();
            assert_eq!(Value::from(count), total, "{path}: {link}");
            assert!(visitor.get(link).text.contains("<strong class=\"number\">"), "{link}");
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared}");
}
