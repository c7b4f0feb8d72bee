//! The filters of lists: every number on them is the total of the list that it leads to, and the form keeps every condition.

use std::collections::BTreeSet;

use crate::harness::{Server, real_catalog};
use crate::pages::{between, check, list_of, rendered, total};

/// Lists with conditions of every kind.
const LISTS: [&str; 12] = [
    "/vcs",
    "/vcs?country=US",
    "/vcs?stage=seed,series-a&sector=fintech&q=capital",
    "/vcs?active_since=2023&active_until=2024&founded_from=2010",
    "/vcs?not_stage=growth&stage_all=seed,series-a",
    "/startups",
    "/startups?sector=fintech&min_raised_usd=1m",
    "/startups?last_round_since=2024&founded_to=2020&country=DE",
    "/rounds",
    "/rounds?stage=seed&since=2023&until=2024",
    "/rounds?min_amount_usd=3m&country=GB",
    "/people?country=DE",
];

/// The tags of elements with a name, and what follows each.
fn tags<'p>(html: &'p str, name: &str) -> Vec<(&'p str, &'p str)> {
    let start = format!("<{name} ");
    html.match_indices(&start).filter_map(|(at, _)| html[at..].split_once('>')).collect()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let value = tag.split_once(&format!(" {name}=\""))?.1.split('"').next()?;
    Some(value.replace("&#38;", "&").replace("&#60;", "<").replace("&#39;", "'").replace("&#34;", "\""))
}

fn query(pairs: &[(String, String)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// What a browser sends of the form of filters, empty fields and all.
fn sent(page: &str) -> Vec<(String, String)> {
    let form = between(page, "<form id=\"conditions\"", "</form>");
    let mut pairs = Vec::new();
    for (tag, _) in tags(form, "input") {
        let is_sent = !tag.contains("type=\"checkbox\"") || tag.ends_with(" checked");
        if let Some(name) = attribute(tag, "name").filter(|_| is_sent) {
            pairs.push((name, attribute(tag, "value").unwrap_or_default()));
        }
    }
    let order = between(page, "<select id=\"sort\"", "</select>");
    let selected = tags(order, "option").into_iter().find(|(tag, _)| tag.ends_with(" selected")).unwrap().0;
    pairs.push(("sort".to_owned(), attribute(selected, "value").unwrap()));
    pairs
}

/// Every `step`th checkbox of a page: its parameter, value and count.
fn options(page: &str, step: usize) -> Vec<(String, String, u64)> {
    let form = between(page, "<form id=\"conditions\"", "</form>");
    let boxes = tags(form, "input").into_iter().filter(|(tag, _)| tag.contains("type=\"checkbox\""));
    let option = |(tag, rest): (&str, &str)| {
        let count = between(rest, "class=\"count\">", "<").replace(',', "").parse().unwrap();
        (attribute(tag, "name").unwrap(), attribute(tag, "value").unwrap(), count)
    };
    boxes.step_by(step).map(option).collect()
}

/// The bars of all histograms of a page: their links and counts; `None` if the data does not cover one.
fn bars(page: &str) -> Vec<(String, Option<u64>)> {
    let charts =
        page.split("<div class=\"chart histogram\">").skip(1).map(|chart| chart.split("</svg>").next().unwrap());
    let links = charts.flat_map(|chart| tags(chart, "a"));
    let bar = |(tag, rest): (&str, &str)| {
        let title = between(rest, "<title>", "</title>").rsplit_once(": ").unwrap().1;
        let count = title.split(' ').next().unwrap().replace(',', "").parse().ok();
        assert!(count.is_some() || title == "not covered", "{title}");
        (attribute(tag, "href").unwrap(), count)
    };
    links.map(bar).collect()
}

/// Compares the numbers of a page with the totals of the lists; returns how many.
fn compare(get: &dyn Fn(&str) -> String, start: &str, step: usize) -> (usize, usize) {
    let page = get(start);
    let path = start.split('?').next().unwrap();
    let given = sent(&page);
    let options = options(&page, step);
    for (name, value, count) in &options {
        let others = given.iter().filter(|(known, _)| known != name).cloned();
        let pairs: Vec<(String, String)> = others.chain([(name.clone(), value.clone())]).collect();
        let list = format!("{path}?{}", query(&pairs));
        assert_eq!(total(&get(&list)), *count, "{start} → {list}");
    }
    let bars = bars(&page);
    let counted = bars.iter().filter_map(|(href, count)| Some((href, (*count)?))).step_by(step.div_ceil(2));
    let counted = counted.map(|(href, count)| assert_eq!(total(&get(href)), count, "{start} → {href}")).count();
    (options.len(), counted)
}

#[test]
fn the_numbers_of_filters_are_the_totals_of_their_lists() {
    let server = Server::bundled();
    let get = |path: &str| rendered(&server, path);
    let compared = LISTS.map(|start| compare(&get, start, 5));
    assert!(compared.iter().all(|(options, _)| *options > 0), "{compared:?}");
    let bars: usize = compared.iter().map(|(_, bars)| bars).sum();
    assert!(bars > 60, "{compared:?}");
    // Only people have no range.
    assert!(compared[..11].iter().filter(|(_, bars)| *bars == 0).count() < 3, "{compared:?}");
}

#[test]
fn the_numbers_of_filters_of_real_data_are_the_totals_of_their_lists() {
    let Some(catalog) = real_catalog() else { return };
    let server = Server::of(catalog);
    let get = |path: &str| rendered(&server, path);
    for start in [
        "/vcs",
        "/vcs?sector=software&active_since=2010&active_until=2011",
        "/startups?stage=seed",
        "/rounds",
        "/rounds?country=DE,FR&min_amount_usd=1m",
    ] {
        let (options, bars) = compare(&get, start, 11);
        assert!(options > 3 && bars > 1, "{start}: {options} options, {bars} bars");
    }
    // Years without rounds are not drawn as empty.
    assert!(bars(&get("/rounds")).iter().any(|(_, count)| count.is_none()));
}

#[test]
fn the_form_keeps_every_condition() {
    let server = Server::bundled();
    for start in LISTS.iter().chain(&["/vcs?stage=seed&country=europe&min_reviews=2&sort=name&per_page=50"]) {
        let page = rendered(&server, start);
        check(start, &page);
        let again = rendered(&server, &format!("{}?{}", start.split('?').next().unwrap(), query(&sent(&page))));
        assert_eq!(total(&again), total(&page), "{start}");
        let conditions = |page: &str| -> BTreeSet<String> {
            tags(page, "a")
                .into_iter()
                .filter(|(tag, _)| tag.contains("class=\"chip on\""))
                .filter_map(|(_, rest)| Some(rest.split("</span>").nth(1)?.split("<span").next()?.trim().to_owned()))
                .collect()
        };
        assert_eq!(conditions(&again), conditions(&page), "{start}");
        assert_eq!(list_of(&again), list_of(&page), "{start}");
    }
}

#[test]
fn values_of_one_filter_are_alternatives_however_they_are_sent() {
    let server = Server::bundled();
    let joined = rendered(&server, "/vcs?stage=seed,series-a");
    let repeated = rendered(&server, "/vcs?q=&stage=seed&stage=series-a&city=&sector=&sort=");
    assert_eq!(list_of(&repeated), list_of(&joined));
    for page in [&joined, &repeated] {
        let checked: BTreeSet<String> = tags(page, "input")
            .into_iter()
            .filter(|(tag, _)| tag.ends_with(" checked"))
            .filter_map(|(tag, _)| attribute(tag, "value"))
            .collect();
        assert_eq!(checked, BTreeSet::from(["seed".to_owned(), "series-a".to_owned()]));
    }
    let one = ["seed", "series-a"].map(|stage| total(&rendered(&server, &format!("/vcs?stage={stage}"))));
    assert!(total(&joined) >= one[0].max(one[1]) && total(&joined) <= one[0] + one[1]);
    // A value can be added by its name, as the field above the options does.
    let by_name = rendered(&server, "/vcs?sector=FinTech&stage=");
    assert_eq!(total(&by_name), total(&rendered(&server, "/vcs?sector=fintech")));
    assert!(
        tags(&by_name, "input").iter().any(|(tag, _)| tag.contains("value=\"fintech\"") && tag.ends_with(" checked"))
    );
}

#[test]
fn stages_are_in_the_order_of_a_companys_life() {
    let server = Server::bundled();
    for path in ["/vcs", "/startups?stage=growth", "/rounds"] {
        let page = rendered(&server, path);
        let stages: Vec<String> =
            options(&page, 1).into_iter().filter(|(name, ..)| name == "stage").map(|(_, value, _)| value).collect();
        let first = ["pre-seed", "seed", "series-a", "series-b", "series-c"];
        assert_eq!(stages[..5], first, "{path}");
    }
}

#[test]
fn a_wrong_value_is_marked_at_its_field_while_the_page_stays() {
    let server = Server::bundled();
    let visitor = server.anonymous();
    for (path, field, text, without) in [
        (
            "/vcs?min_health_score=high&stage=seed",
            "<input id=\"min_health_score\"",
            "value=\"high\"",
            "/vcs?stage=seed",
        ),
        ("/rounds?since=2024-13&stage=seed", "<input id=\"since\"", "value=\"2024-13\"", "/rounds?stage=seed"),
        ("/startups?city=Lodnon", "<input id=\"city\"", "value=\"Lodnon\"", "/startups?city=nowhere"),
        ("/match?raise_usd=two&stage=seed", "<input id=\"raise_usd\"", "value=\"two\"", "/match?stage=seed"),
        ("/match?sector=fintec&stage=seed", "<select id=\"sector\"", "", "/match?stage=seed&sector=nothing"),
        ("/leaderboard?country=Germny", "<select id=\"country\"", "", "/leaderboard?country=nowhere"),
    ] {
        let page = visitor.get(path);
        assert_eq!(page.status, 200, "{path}");
        check(path, &page.text);
        let tag = between(&page.text, field, ">");
        assert!(tag.contains("aria-invalid=\"true\"") && tag.contains(text), "{path}: {tag}");
        let described = attribute(tag, "aria-describedby").unwrap();
        assert!(between(&page.text, &format!("id=\"{described}\">"), "<").len() > 10, "{path}");
        assert_eq!(total(&page.text), total(&visitor.get(without).text), "{path}");
    }
}
