//! The filters of lists: every number on them is the total of the list that it leads to, and the form keeps every condition.

use std::collections::BTreeSet;

use scraper::{ElementRef, Html};

use crate::pages::{check, list_of, rendered, total};
use crate::support::harness::{Server, real_catalog};
use crate::support::html::{Markup, parse, text_of};

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

fn query(pairs: &[(String, String)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// What a browser sends of the form of filters, empty fields and all.
fn sent(page: &Html) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for field in page.all("form#conditions input") {
        let is_sent = field.attr("type") != Some("checkbox") || field.attr("checked").is_some();
        if let Some(name) = field.attr("name").filter(|_| is_sent) {
            pairs.push((name.to_owned(), field.attr("value").unwrap_or_default().to_owned()));
        }
    }
    let order = page.first("select#sort > option[selected]").attr("value").unwrap();
    pairs.push(("sort".to_owned(), order.to_owned()));
    pairs
}

/// Every `step`th checkbox of a page: its parameter, value and count.
fn options(page: &Html, step: usize) -> Vec<(String, String, u64)> {
    let option = |label: ElementRef<'_>| {
        let field = label.first("input[type=checkbox]");
        let count = text_of(label.first("span.count")).replace(',', "").parse().unwrap();
        (field.attr("name").unwrap().to_owned(), field.attr("value").unwrap().to_owned(), count)
    };
    page.all("form#conditions li > label").into_iter().step_by(step).map(option).collect()
}

/// The bars of all histograms of a page: their links and counts; `None` if the data does not cover one.
fn bars(page: &Html) -> Vec<(String, Option<u64>)> {
    let bar = |link: ElementRef<'_>| {
        let title = text_of(link.first("title"));
        let (_, counted) = title.rsplit_once(": ").unwrap();
        let count = counted.split(' ').next().unwrap().replace(',', "").parse().ok();
        assert!(count.is_some() || counted == "not covered", "{title}");
        (link.attr("href").unwrap().to_owned(), count)
    };
    page.all("div.chart.histogram svg a").into_iter().map(bar).collect()
}

/// Compares the numbers of a page with the totals of the lists; returns how many.
fn compare(get: &dyn Fn(&str) -> String, start: &str, step: usize) -> (usize, usize) {
    let page = parse(&get(start));
    let path = start.split('?').next().unwrap();
    let given = sent(&page);
    let options = options(&page, step);
    for (name, value, count) in &options {
        let others = given.iter().filter(|(known, _)| known != name).cloned();
        let pairs: Vec<(String, String)> = others.chain([(name.clone(), value.clone())]).collect();
        let list = format!("{path}?{}", query(&pairs));
        assert_eq!(total(&parse(&get(&list))), *count, "{start} → {list}");
    }
    let bars = bars(&page);
    let counted = bars.iter().filter_map(|(href, count)| Some((href, (*count)?))).step_by(step.div_ceil(2));
    let counted = counted.map(|(href, count)| assert_eq!(total(&parse(&get(href))), count, "{start} → {href}")).count();
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
    assert!(bars(&parse(&get("/rounds"))).iter().any(|(_, count)| count.is_none()));
}

#[test]
fn the_form_keeps_every_condition() {
    let server = Server::bundled();
    for start in LISTS.iter().chain(&["/vcs?stage=seed&country=europe&min_reviews=2&sort=name&per_page=50"]) {
        let page = check(start, &rendered(&server, start));
        let again = format!("{}?{}", start.split('?').next().unwrap(), query(&sent(&page)));
        let again = parse(&rendered(&server, &again));
        assert_eq!(total(&again), total(&page), "{start}");
        let conditions = |page: &Html| page.texts("a.chip.on").into_iter().collect::<BTreeSet<String>>();
        assert_eq!(conditions(&again), conditions(&page), "{start}");
        assert_eq!(list_of(&again).html(), list_of(&page).html(), "{start}");
    }
}

#[test]
fn values_of_one_filter_are_alternatives_however_they_are_sent() {
    let server = Server::bundled();
    let list = |query: &str| parse(&rendered(&server, &format!("/vcs?{query}")));
    let joined = list("stage=seed,series-a");
    let repeated = list("q=&stage=seed&stage=series-a&city=&sector=&sort=");
    assert_eq!(list_of(&repeated).html(), list_of(&joined).html());
    for page in [&joined, &repeated] {
        let checked: BTreeSet<&str> = page.values("input[checked]", "value").into_iter().collect();
        assert_eq!(checked, BTreeSet::from(["seed", "series-a"]));
    }
    let one = ["seed", "series-a"].map(|stage| total(&list(&format!("stage={stage}"))));
    assert!(total(&joined) >= one[0].max(one[1]) && total(&joined) <= one[0] + one[1]);
    // A value can be added by its name, as the field above the options does.
    let by_name = list("sector=FinTech&stage=");
    assert_eq!(total(&by_name), total(&list("sector=fintech")));
    assert!(by_name.find("input[value=fintech][checked]").is_some());
}

#[test]
fn stages_are_in_the_order_of_a_companys_life() {
    let server = Server::bundled();
    for path in ["/vcs", "/startups?stage=growth", "/rounds"] {
        let page = parse(&rendered(&server, path));
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
    for (path, field, value, without) in [
        ("/vcs?min_health_score=high&stage=seed", "input#min_health_score", Some("high"), "/vcs?stage=seed"),
        ("/rounds?since=2024-13&stage=seed", "input#since", Some("2024-13"), "/rounds?stage=seed"),
        ("/startups?city=Lodnon", "input#city", Some("Lodnon"), "/startups?city=nowhere"),
        ("/match?raise_usd=two&stage=seed", "input#raise_usd", Some("two"), "/match?stage=seed"),
        ("/match?sector=fintec&stage=seed", "select#sector", None, "/match?stage=seed&sector=nothing"),
        ("/leaderboard?country=Germny", "select#country", None, "/leaderboard?country=nowhere"),
    ] {
        let page = visitor.get(path);
        assert_eq!(page.status, 200, "{path}");
        let page = check(path, &page.text);
        let field = page.first(field);
        assert_eq!((field.attr("aria-invalid"), field.attr("value")), (Some("true"), value), "{path}: {field:?}");
        let described = field.attr("aria-describedby").unwrap();
        assert!(text_of(page.first(&format!("[id='{described}']"))).len() > 10, "{path}");
        assert_eq!(total(&page), total(&parse(&visitor.get(without).text)), "{path}");
    }
}
