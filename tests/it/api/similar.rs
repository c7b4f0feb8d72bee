//! Records like one (`like`): compared with points that are computed from the records' JSON alone.

use std::collections::{BTreeMap, BTreeSet};

use auth::quota::Tier;
use mcp::Tool;
use serde_json::{Value, json};

use crate::mcp::tools::TestTools;
use crate::pages::rendered;
use crate::support::harness::{Client, Server, code};
use crate::support::html::{Markup, parse, text_of};

fn list(client: &Client, path: &str, parameters: &[(&str, &str)]) -> Value {
    let reply = client.list(path, parameters);
    assert_eq!(reply.status, 200, "{parameters:?}: {}", reply.text);
    reply.json()
}

/// All records of a list, by walking it.
fn walk(client: &Client, path: &str, parameters: &[(&str, &str)]) -> (Vec<Value>, Vec<Value>) {
    let (mut rows, mut similar, mut cursor) = (Vec::new(), Vec::new(), None::<String>);
    loop {
        let mut with = [parameters, &[("limit", "100")]].concat();
        with.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = list(client, path, &with);
        rows.extend(page["data"].as_array().unwrap().iter().cloned());
        similar.extend(page["meta"]["similar"].as_array().into_iter().flatten().cloned());
        match page["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return (rows, similar),
        }
    }
}

fn texts(value: &Value) -> BTreeSet<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn slug(record: &Value) -> &str {
    record["slug"].as_str().unwrap()
}

/// What the points of two records are computed from.
struct Data {
    records: Vec<Value>,
    /// The sectors of each record with those above them.
    sectors: BTreeMap<String, BTreeSet<String>>,
    weights: BTreeMap<String, f64>,
    /// The startups of each firm, or the investors of each startup.
    links: BTreeMap<String, BTreeSet<String>>,
    is_firms: bool,
}

impl Data {
    fn read(client: &Client, is_firms: bool) -> Self {
        let (sectors, _) = walk(client, "/api/v3/sectors", &[]);
        let parents: BTreeMap<&str, Option<&str>> =
            sectors.iter().map(|sector| (slug(sector), sector["parent"].as_str())).collect();
        let (startups, _) = walk(client, "/api/v3/startups", &[("fields", "*")]);
        let investors = |startup: &Value| -> BTreeSet<String> {
            startup["investors"].as_array().unwrap().iter().map(|firm| slug(firm).to_owned()).collect()
        };
        let mut links: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for startup in &startups {
            for firm in investors(startup) {
                let (key, value) =
                    if is_firms { (firm.as_str(), slug(startup)) } else { (slug(startup), firm.as_str()) };
                links.entry(key.to_owned()).or_default().insert(value.to_owned());
            }
        }
        let records = if is_firms { walk(client, "/api/v3/vcs", &[("fields", "*")]).0 } else { startups };
        let with_those_above = |record: &Value| -> BTreeSet<String> {
            let mut all = BTreeSet::new();
            for sector in texts(&record["sectors"]) {
                let mut at = Some(sector.as_str());
                while let Some(sector) = at {
                    all.insert(sector.to_owned());
                    at = parents[sector];
                }
            }
            all
        };
        let sectors: BTreeMap<String, BTreeSet<String>> =
            records.iter().map(|record| (slug(record).to_owned(), with_those_above(record))).collect();
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        sectors.values().flatten().for_each(|sector| *counts.entry(sector.clone()).or_default() += 1.0);
        let all = records.len() as f64;
        let weights = counts.into_iter().map(|(sector, count)| (sector, (1.0 + all / count).ln())).collect();
        Self { records, sectors, weights, links, is_firms }
    }

    fn links(&self, record: &Value) -> BTreeSet<String> {
        self.links.get(slug(record)).cloned().unwrap_or_default()
    }

    /// The points of all reasons but descriptions, before rounding.
    fn points(&self, one: &Value, other: &Value) -> Vec<(&'static str, f64)> {
        let jaccard = |one: &BTreeSet<String>, other: &BTreeSet<String>, weight: &dyn Fn(&String) -> f64| {
            let sum = |values: &mut dyn Iterator<Item = &String>| values.map(weight).sum::<f64>();
            let all = sum(&mut one.union(other));
            if all > 0.0 { sum(&mut one.intersection(other)) / all } else { 0.0 }
        };
        let (links, others) = (self.links(one), self.links(other));
        let shared = links.intersection(&others).count();
        let shared = if self.is_firms && shared < 2 { 0 } else { shared };
        let cosine = shared as f64 / ((links.len() * others.len()) as f64).sqrt().max(1.0);
        let sectors = jaccard(&self.sectors[slug(one)], &self.sectors[slug(other)], &|sector| self.weights[sector]);
        let stages = |record: &Value| match record.get("stages") {
            Some(stages) => texts(stages).into_iter().filter(|stage| stage != "other").collect(),
            None => record["stage"].as_str().filter(|stage| *stage != "other").map(str::to_owned).into_iter().collect(),
        };
        let stage = jaccard(&stages(one), &stages(other), &|_| 1.0);
        let same = |field: &str| f64::from(u8::from(!one[field].is_null() && one[field] == other[field]));
        let year = |record: &Value| record["founded_year"].as_f64();
        let years = year(one).zip(year(other)).map_or(0.0, |(one, other)| (1.0 - (one - other).abs() / 10.0).max(0.0));
        let common = [("country", 5.0 * same("country")), ("city", 5.0 * same("city")), ("stage", 10.0 * stage)];
        let own = match self.is_firms {
            true => vec![("startups", 55.0 * cosine.sqrt()), ("sectors", 20.0 * sectors)],
            false => {
                vec![("investors", 10.0 * cosine.sqrt()), ("sectors", 40.0 * sectors), ("founded_year", 10.0 * years)]
            }
        };
        own.into_iter().chain(common).collect()
    }
}

#[test]
fn points_are_those_of_the_records() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, is_firms, step) in [("/api/v3/vcs", true, 41), ("/api/v3/startups", false, 461)] {
        let data = Data::read(&client, is_firms);
        let (mut compared, mut described) = (0, 0);
        for one in data.records.iter().step_by(step) {
            let (rows, similar) = walk(&client, path, &[("like", slug(one)), ("fields", "slug")]);
            assert_eq!(rows.len(), similar.len());
            let found: BTreeMap<&str, &Value> = similar.iter().map(|similar| (slug(similar), similar)).collect();
            assert!(rows.iter().all(|row| found.contains_key(slug(row))));
            let points: Vec<u64> = similar.iter().map(|similar| similar["points"].as_u64().unwrap()).collect();
            assert!(points.is_sorted_by(|one, other| one >= other), "{points:?}");
            for other in data.records.iter().filter(|other| slug(other) != slug(one)) {
                let expected = data.points(one, other);
                let Some(similar) = found.get(slug(other)) else {
                    // Half a point may be rounded either way, and a place alone is no reason.
                    let has_ground = expected[0].1 > 0.0 || expected[1].1 > 0.0;
                    let least: f64 = expected.iter().map(|(_, points)| (points - 0.01).max(0.0).round()).sum();
                    assert!(!has_ground || least < 20.0, "{} {} {expected:?}", slug(one), slug(other));
                    continue;
                };
                let reasons = similar["reasons"].as_array().unwrap();
                let sum: u64 = reasons.iter().map(|reason| reason["points"].as_u64().unwrap()).sum();
                assert_eq!(similar["points"], json!(sum));
                assert!(sum >= 20);
                for (name, points) in expected {
                    let reason = reasons.iter().find(|reason| reason["name"] == name);
                    let given = reason.map_or(0.0, |reason| reason["points"].as_f64().unwrap());
                    assert!(
                        (given - points).abs() <= 0.501,
                        "{} {} {name}: {points} {similar}",
                        slug(one),
                        slug(other)
                    );
                    compared += 1;
                }
                described += reasons.iter().filter(|reason| reason["name"] == "description").count();
            }
            assert!(!found.contains_key(slug(one)));
        }
        assert!(compared > 400 && described > 50, "{compared} {described}");
    }
}

#[test]
fn a_reason_names_what_both_have_in_common() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let data = Data::read(&client, true);
    let names: BTreeMap<String, String> = walk(&client, "/api/v3/startups", &[("fields", "slug,name")])
        .0
        .iter()
        .map(|startup| (slug(startup).to_owned(), startup["name"].as_str().unwrap().to_owned()))
        .collect();
    let mut checked = 0;
    for one in data.records.iter().step_by(50) {
        let page = list(&client, "/api/v3/vcs", &[("like", slug(one)), ("limit", "10")]);
        for (similar, other) in
            page["meta"]["similar"].as_array().into_iter().flatten().zip(page["data"].as_array().unwrap())
        {
            assert_eq!(slug(similar), slug(other));
            for reason in similar["reasons"].as_array().unwrap() {
                let detail = reason["detail"].as_str().unwrap();
                let (links, others) = (data.links(one), data.links(other));
                let shared: Vec<&String> = links.intersection(&others).map(|startup| &names[startup]).collect();
                match reason["name"].as_str().unwrap() {
                    "startups" => {
                        assert!(detail.starts_with(&format!("{} startups in common", shared.len())), "{detail}");
                        let named = detail.split_once(": ").or(detail.split_once("such as ")).unwrap().1;
                        assert!(
                            named.split(", ").all(|name| shared.iter().any(|known| known.contains(name))),
                            "{detail}"
                        );
                        checked += 1;
                    }
                    "country" => assert!(detail.starts_with("both in ") && detail.len() > 9, "{detail}"),
                    "city" => assert_eq!(detail, format!("both in {}", other["city"].as_str().unwrap())),
                    _ => {}
                }
            }
        }
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn filters_and_orders_keep_what_is_similar() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let (startups, _) = walk(&client, "/api/v3/startups", &[("fields", "slug,name")]);
    let (own, name) = (slug(&startups[3]), startups[3]["name"].as_str().unwrap());
    let slugs = |parameters: &[(&str, &str)]| -> Vec<String> {
        walk(&client, "/api/v3/startups", parameters).0.iter().map(|row| slug(row).to_owned()).collect()
    };
    let all = slugs(&[("like", own)]);
    assert!(all.len() > 20);
    assert_eq!(slugs(&[("like", name)]), all);
    assert_eq!(slugs(&[("like", own), ("sort", "relevance")]), all);
    let german: BTreeSet<String> = slugs(&[("country", "US")]).into_iter().collect();
    let expected: Vec<String> = all.iter().filter(|slug| german.contains(*slug)).cloned().collect();
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert_eq!(slugs(&[("like", own), ("country", "US")]), expected);
    let by_name = slugs(&[("like", own), ("sort", "name")]);
    assert_eq!(by_name.iter().collect::<BTreeSet<_>>(), all.iter().collect());
    assert_ne!(by_name, all);
    let counted = list(&client, "/api/v3/startups/aggregate", &[("like", own), ("group_by", "country")]);
    assert_eq!(counted["data"]["total"], all.len());
}

#[test]
fn a_record_that_is_not_there_is_an_error_with_a_suggestion() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let (firms, _) = walk(&client, "/api/v3/vcs", &[("fields", "slug")]);
    let known = slug(&firms[0]).to_owned();
    let reply = client.list("/api/v3/vcs", &[("like", &format!("{known}x"))]);
    assert_eq!(code(&reply).0, 400, "{}", reply.text);
    assert!(reply.text.contains(&known), "{}", reply.text);
    let two = format!("{known},{}", slug(&firms[1]));
    let reply = client.list("/api/v3/vcs", &[("like", &two)]);
    assert_eq!(reply.status, 400, "{}", reply.text);
    assert!(reply.text.contains("`like` takes at most 1 value, 2 are given"), "{}", reply.text);
    for path in ["/api/v3/people", "/api/v3/sectors", "/api/v3/funding-rounds"] {
        assert_eq!(client.list(path, &[("like", &known)]).status, 400, "{path}");
    }
}

#[test]
fn a_question_may_be_about_similar_records() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let (startups, _) = walk(&client, "/api/v3/startups", &[("fields", "slug,name")]);
    let (own, name) = (slug(&startups[0]), startups[0]["name"].as_str().unwrap());
    for question in
        ["startups like X", "companies similar to X", "competitors of X", "X competitors", "alternatives to X"]
    {
        let question = question.replace('X', name);
        let page = list(&client, "/api/v3/startups", &[("ask", &question)]);
        assert_eq!(page["meta"]["interpreted"][0]["parameter"], "like", "{question}: {}", page["meta"]);
        assert_eq!(page["meta"]["interpreted"][0]["value"], own, "{question}");
        assert_eq!(page["data"], list(&client, "/api/v3/startups", &[("like", own)])["data"]);
        assert_eq!(page["meta"]["similar"].as_array().unwrap().len(), page["data"].as_array().unwrap().len());
    }
}

#[test]
fn tools_and_pages_say_what_records_have_in_common() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let (startups, _) = walk(&client, "/api/v3/startups", &[("fields", "slug,name")]);
    let (own, name) = (slug(&startups[0]), startups[0]["name"].as_str().unwrap());
    let listed = list(&client, "/api/v3/startups", &[("like", own), ("limit", "10")]);
    let page = parse(&rendered(&server, &format!("/startups?like={own}")));
    assert_eq!(page.texts("h1"), [format!("Startups like {name}")]);
    let shown = text_of(page.first("main"));
    let tools = TestTools::bundled();
    let asked = tools.call(Tool::SearchStartups, &json!({"query": format!("{name} competitors")})).unwrap();
    assert_eq!(asked["question"]["arguments"], json!({"like": own}));
    // The name that has some of the words is not lost.
    assert!(asked["did_you_mean"][0].as_str().unwrap().starts_with(name), "{}", asked["did_you_mean"]);
    assert_eq!(asked["items"], tools.call(Tool::SearchStartups, &json!({"like": own})).unwrap()["items"]);
    let similar = listed["meta"]["similar"].as_array().unwrap();
    assert_eq!(similar.len(), 10);
    for (similar, item) in similar.iter().zip(asked["items"].as_array().unwrap()) {
        let mut reasons = similar["reasons"].as_array().unwrap().clone();
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason["points"].as_u64()));
        let words: Vec<&str> = reasons.iter().take(3).map(|reason| reason["detail"].as_str().unwrap()).collect();
        assert_eq!(item["in_common"], words.join(" · "), "{similar}");
        assert!(shown.contains(&words.join(" · ")), "{words:?}");
        assert_eq!(item["slug"], similar["slug"]);
    }
    // Ranked by fit, a list has no other order.
    for argument in ["like", "text"] {
        let error =
            tools.call(Tool::SearchVcs, &json!({argument: "alder-capital", "raise_usd": 1_000_000})).unwrap_err();
        assert!(
            format!("{error:?}").contains(&format!("`{argument}`"))
                || format!("{error:?}").contains(&format!("\"{argument}\"")),
            "{error:?}"
        );
    }
}
