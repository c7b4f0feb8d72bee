//! Every list over HTTP against a naive scan over the CSV, and the versions against each other: same rows, same order,
//! same total.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use auth::quota::Tier;
use data::Date;
use data::fold::fold;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::support::harness::{Client, Server, bundled_folder, cases};
use crate::support::naive::{Naive, rows_of, split};

/// A row as a naive reader sees it.
#[derive(Clone, Default)]
struct Row {
    id: String,
    /// Its values under each filter of values.
    has: HashMap<&'static str, BTreeSet<String>>,
    /// Its numbers, for bounds and sorting; unknown ones are absent.
    number: HashMap<&'static str, i64>,
}

/// A bound: the parameter, the number that it limits, whether it is a minimum, and values to try.
type Bound = (&'static str, &'static str, bool, Vec<i64>);

/// A list with all its parameters.
struct ListCase {
    path: String,
    versions: &'static [&'static str],
    rows: Vec<Row>,
    filters: Vec<&'static str>,
    bounds: Vec<Bound>,
    sorts: Vec<&'static str>,
    default_sort: Vec<(&'static str, bool)>,
}

/// One request.
#[derive(Clone, Debug)]
struct ListQuery {
    filters: Vec<(&'static str, Vec<String>)>,
    bounds: Vec<(&'static str, &'static str, bool, i64)>,
    sort: Vec<(&'static str, bool)>,
    limit: usize,
    page: usize,
}

impl ListCase {
    fn values(&self, filter: &str) -> Vec<String> {
        let values: BTreeSet<&String> = self.rows.iter().filter_map(|row| row.has.get(filter)).flatten().collect();
        values.into_iter().cloned().collect()
    }

    fn queries(&self) -> impl Strategy<Value = ListQuery> + use<> {
        let filters: Vec<_> = self
            .filters
            .iter()
            .map(|name| {
                let name = *name;
                let values = self.values(name);
                let most = values.len().min(4);
                let chosen = prop::sample::subsequence(values, 1..most.max(2));
                prop::option::weighted(0.35, chosen.prop_map(move |values| (name, values)))
            })
            .collect();
        let bounds: Vec<_> = self
            .bounds
            .iter()
            .cloned()
            .map(|(parameter, number, least, tried)| {
                let tried = prop::sample::select(tried);
                prop::option::weighted(0.25, tried.prop_map(move |tried| (parameter, number, least, tried)))
            })
            .collect();
        let most = self.sorts.len().min(2);
        let sort = prop::sample::subsequence(self.sorts.clone(), 0..=most);
        (filters, bounds, sort, any::<[bool; 2]>(), 1_usize..40, 1_usize..6).prop_map(
            |(filters, bounds, sort, down, limit, page)| ListQuery {
                filters: filters.into_iter().flatten().collect(),
                bounds: bounds.into_iter().flatten().collect(),
                sort: sort.into_iter().zip(down).collect(),
                limit,
                page,
            },
        )
    }

    /// All ids of the expected response.
    fn naive(&self, query: &ListQuery) -> Vec<String> {
        let mut rows: Vec<&Row> = self
            .rows
            .iter()
            .filter(|row| {
                query.filters.iter().all(|(name, values)| {
                    row.has.get(name).is_some_and(|has| values.iter().any(|value| has.contains(value)))
                }) && query.bounds.iter().all(|(parameter, number, least, bound)| match *parameter {
                    "check_usd" => {
                        let (min, max) = (row.number.get("check_min_usd"), row.number.get("check_max_usd"));
                        (min.is_some() || max.is_some())
                            && min.is_none_or(|min| min <= bound)
                            && max.is_none_or(|max| bound <= max)
                    }
                    _ => row
                        .number
                        .get(number)
                        .is_some_and(|number| if *least { number >= bound } else { number <= bound }),
                })
            })
            .collect();
        let sort = if query.sort.is_empty() { &self.default_sort } else { &query.sort };
        rows.sort_by(|a, b| {
            let by_keys = sort.iter().map(|(key, down)| match (a.number.get(key), b.number.get(key)) {
                (Some(a), Some(b)) if *down => b.cmp(a),
                (Some(a), Some(b)) => a.cmp(b),
                (a, b) => a.is_none().cmp(&b.is_none()),
            });
            by_keys.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then_with(|| a.id.cmp(&b.id))
        });
        rows.into_iter().map(|row| row.id.clone()).collect()
    }

    fn parameters(&self, query: &ListQuery) -> Vec<(&'static str, String)> {
        let mut parameters: Vec<(&'static str, String)> =
            query.filters.iter().map(|(name, values)| (*name, values.join(","))).collect();
        parameters.extend(query.bounds.iter().map(|(parameter, number, _, bound)| {
            let text = match *parameter {
                "since" | "until" | "active_since" => Date::from_days(*bound as i32).to_string(),
                "max_ghosting_rate" => format!("{}.{}", bound / 10, bound % 10),
                _ => bound.to_string(),
            };
            assert!(!number.is_empty());
            (*parameter, text)
        }));
        if !query.sort.is_empty() {
            let keys = query.sort.iter().map(|(key, down)| format!("{}{key}", if *down { "-" } else { "" }));
            parameters.push(("sort", keys.collect::<Vec<_>>().join(",")));
        }
        parameters.push(("limit", query.limit.to_string()));
        parameters
    }

    /// Compares the response of each version with the naive scan.
    fn compare(&self, client: &Client, query: &ListQuery) -> Result<(), TestCaseError> {
        let expected = self.naive(query);
        let parameters = self.parameters(query);
        let (skipped, limit) = ((query.page - 1) * query.limit, query.limit);
        let window: Vec<String> = expected.iter().skip(skipped).take(limit).cloned().collect();
        for version in self.versions {
            let path = format!("/api/{version}/{}", self.path);
            let split = |path: &str, more: &[(&'static str, String)]| {
                let (path, fixed) = path.split_once('?').unwrap_or((path, ""));
                let all: Vec<(&str, &str)> = parameters
                    .iter()
                    .chain(more)
                    .map(|(name, value)| (*name, value.as_str()))
                    .chain(fixed.split_once('='))
                    .collect();
                client.list(path, &all)
            };
            let reply = match *version {
                "v1" => split(&path, &[("offset", skipped.to_string())]),
                "v2" => split(&path, &[("page", query.page.to_string())]),
                _ => {
                    // Page by page to the same page.
                    let mut reply = split(&path, &[]);
                    for _ in 1..query.page {
                        let json = reply.json();
                        if reply.status == 400 {
                            break;
                        }
                        let Some(cursor) = json["pagination"]["next_cursor"].as_str() else {
                            prop_assert!(window.is_empty(), "{path} {parameters:?} ends early");
                            prop_assert_eq!(json["pagination"]["total"].as_u64(), Some(expected.len() as u64));
                            return Ok(());
                        };
                        let limit = limit.to_string();
                        let list = path.split('?').next().unwrap_or(&path);
                        reply = client.list(list, &[("cursor", cursor), ("limit", &limit)]);
                    }
                    reply
                }
            };
            let bound = |name: &str| query.bounds.iter().find(|(known, ..)| *known == name).map(|(.., bound)| *bound);
            if bound("since").zip(bound("until")).is_some_and(|(since, until)| since > until) {
                prop_assert_eq!(reply.status, 400, "{} {:?}: {}", path, parameters, reply.text);
                continue;
            }
            prop_assert_eq!(reply.status, 200, "{} {:?}: {}", path, parameters, reply.text);
            let json = reply.json();
            prop_assert_eq!(
                json["pagination"]["total"].as_u64(),
                Some(expected.len() as u64),
                "{} {:?}",
                path,
                parameters
            );
            prop_assert_eq!(reply.slugs(), window.clone(), "{} {:?} page {}", path, parameters, query.page);
        }
        Ok(())
    }
}

fn number(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn day(text: &str) -> Option<i64> {
    text.parse::<Date>().ok().map(|date| i64::from(date.days()))
}

/// What a review says, which counts for nothing until it is approved.
fn said(review: &HashMap<String, String>, column: &str) -> String {
    if review["status"] == "approved" { review[column].clone() } else { String::new() }
}

/// Approved reviews of each firm.
fn approved_counts(reviews: &[HashMap<String, String>]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for review in reviews.iter().filter(|review| review["status"] == "approved") {
        *counts.entry(review["firm"].as_str()).or_default() += 1;
    }
    counts
}

/// When a review was written: only the month until it and four more of its firm are approved, which is before its first day.
fn written(review: &HashMap<String, String>, approved_counts: &HashMap<&str, usize>) -> Option<i64> {
    match review["status"] == "approved" && approved_counts[review["firm"].as_str()] >= 5 {
        true => day(&review["created_on"]).map(|day| 2 * day + 1),
        false => day(&format!("{}-01", &review["created_on"][..7])).map(|day| 2 * day),
    }
}

fn set(values: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    values.into_iter().filter(|value| !value.is_empty()).collect()
}

fn numbers<const N: usize>(given: [(&'static str, Option<i64>); N]) -> HashMap<&'static str, i64> {
    given.into_iter().filter_map(|(name, number)| number.map(|number| (name, number))).collect()
}

/// Ranks of names in the order of their folded forms.
fn places(names: impl Iterator<Item = String> + Clone) -> HashMap<String, i64> {
    let folded: BTreeSet<String> = names.clone().map(|name| fold(&name)).collect();
    let place: HashMap<String, i64> = folded.into_iter().zip(0..).collect();
    names.map(|name| (name.clone(), place[&fold(&name)])).collect()
}

/// A number of each record of a list, as the API gives it, times `scale`.
fn from_api(client: &Client, path: &str, field: &str, scale: f64) -> HashMap<String, i64> {
    let mut numbers = HashMap::new();
    for offset in (0..).step_by(100) {
        let separator = if path.contains('?') { '&' } else { '?' };
        let page = client.get(&format!("/api/v1/{path}{separator}limit=100&offset={offset}")).json();
        let rows = page["data"].as_array().unwrap();
        for row in rows {
            let number = row[field].as_f64().map(|number| (number * scale).round() as i64);
            numbers.extend(number.map(|number| (row["slug"].as_str().unwrap().to_owned(), number)));
        }
        if rows.is_empty() {
            return numbers;
        }
    }
    numbers
}

/// The lists of the bundled dataset, read from its CSV files.
fn listings(client: &Client) -> Vec<ListCase> {
    const ALL: &[&str] = &["v1", "v2", "v3"];
    let folder = bundled_folder();
    let naive = Naive::read(&folder);
    let lineage = |sectors: &str| set(split(sectors).iter().flat_map(|sector| naive.lineage[sector].clone()));
    let [firm_rows, startup_rows, round_rows, people_rows, review_rows, sector_rows] =
        ["firms", "startups", "funding_rounds", "people", "reviews", "sectors"]
            .map(|name| rows_of(&folder, &format!("{name}.csv")));

    // Scores have their own tests; here they are taken from the API.
    let mut scores: HashMap<String, (Option<i64>, Option<i64>)> = HashMap::new();
    for offset in (0..firm_rows.len()).step_by(100) {
        let page = client.get(&format!("/api/v1/vcs?limit=100&offset={offset}")).json();
        for row in page["data"].as_array().unwrap() {
            let rate = row["ghosting_rate"].as_f64().map(|rate| (rate * 10.0).round() as i64);
            scores.insert(row["slug"].as_str().unwrap().to_owned(), (row["health_score"].as_i64(), rate));
        }
    }
    let metrics = ["responsiveness", "fairness", "value_add", "activity"]
        .map(|metric| from_api(client, &format!("leaderboard?metric={metric}"), "rank_value", 1e6));
    let averages = from_api(client, "sectors", "average_health_score", 10.0);
    let names = places(firm_rows.iter().map(|row| row["name"].clone()));
    let mut firms: Vec<Row> = naive
        .firms
        .iter()
        .zip(&firm_rows)
        .map(|(firm, row)| Row {
            id: firm.slug.clone(),
            has: HashMap::from([
                ("stage", firm.stages.clone()),
                ("sector", firm.sectors.clone()),
                ("country", set([firm.country.clone()])),
                ("kind", set([firm.kind.clone()])),
                ("city", set([fold(&row["city"])])),
            ]),
            number: numbers([
                ("name", Some(names[&row["name"]])),
                ("health_score", scores[&firm.slug].0),
                ("ghosting_rate", scores[&firm.slug].1),
                ("review_count", Some(firm.reviews as i64)),
                ("portfolio_count", Some(firm.startups as i64)),
                ("investment_count", Some(firm.rounds as i64)),
                ("last_investment_on", firm.last.as_deref().and_then(day)),
                ("check_min_usd", firm.check.0.map(|usd| usd as i64)),
                ("founded_year", firm.founded.map(|year| year as i64)),
                ("check_max_usd", firm.check.1.map(|usd| usd as i64)),
                ("aum_usd", number(&row["aum_usd"])),
                ("responsiveness", metrics[0].get(&firm.slug).copied()),
                ("fairness", metrics[1].get(&firm.slug).copied()),
                ("value_add", metrics[2].get(&firm.slug).copied()),
                ("activity", metrics[3].get(&firm.slug).copied()),
            ]),
        })
        .collect();

    let investors =
        |row: &HashMap<String, String>| set(split(&row["lead_investors"]).into_iter().chain(split(&row["investors"])));
    let mut of_startup: HashMap<&str, Vec<&HashMap<String, String>>> = HashMap::new();
    for row in &round_rows {
        of_startup.entry(row["startup"].as_str()).or_default().push(row);
    }
    let by_slug: HashMap<&str, &HashMap<String, String>> =
        startup_rows.iter().map(|row| (row["slug"].as_str(), row)).collect();
    let names = places(startup_rows.iter().map(|row| row["name"].clone()));
    let startups: Vec<Row> = startup_rows
        .iter()
        .map(|row| {
            let rounds = of_startup.get(row["slug"].as_str()).cloned().unwrap_or_default();
            let amounts: Vec<i64> = rounds.iter().filter_map(|round| number(&round["amount_usd"])).collect();
            Row {
                id: row["slug"].clone(),
                has: HashMap::from([
                    ("stage", set([row["stage"].clone()])),
                    ("sector", lineage(&row["sectors"])),
                    ("country", set([row["country"].clone()])),
                    ("status", set([row["status"].clone()])),
                    ("investor", rounds.iter().flat_map(|round| investors(round)).collect()),
                ]),
                number: numbers([
                    ("name", Some(names[&row["name"]])),
                    ("total_raised_usd", (!amounts.is_empty()).then(|| amounts.iter().sum())),
                    ("round_count", Some(rounds.len() as i64)),
                    ("last_round_on", rounds.iter().filter_map(|round| day(&round["announced_on"])).max()),
                    ("founded_year", number(&row["founded_year"])),
                ]),
            }
        })
        .collect();
    let rounds: Vec<Row> = round_rows
        .iter()
        .map(|row| {
            let startup = by_slug[row["startup"].as_str()];
            Row {
                id: row["id"].clone(),
                has: HashMap::from([
                    ("stage", set([row["stage"].clone()])),
                    ("sector", lineage(&startup["sectors"])),
                    ("country", set([startup["country"].clone()])),
                    ("startup", set([row["startup"].clone()])),
                    ("investor", investors(row)),
                ]),
                number: numbers([
                    ("announced_on", day(&row["announced_on"])),
                    ("amount_usd", number(&row["amount_usd"])),
                ]),
            }
        })
        .collect();
    let approved_counts = approved_counts(&review_rows);
    let reviews: Vec<Row> = review_rows
        .iter()
        .filter(|row| row["status"] != "rejected")
        .map(|row| Row {
            id: row["id"].clone(),
            has: HashMap::from([
                ("vc", set([row["firm"].clone()])),
                ("status", set([row["status"].clone()])),
                ("stage", set([said(row, "stage")])),
                ("ghosted", set([said(row, "ghosted")])),
            ]),
            number: numbers([
                ("created_on", written(row, &approved_counts)),
                ("rating", number(&said(row, "rating"))),
                ("responsiveness", number(&said(row, "responsiveness"))),
                ("fairness", number(&said(row, "fairness"))),
                ("value_add", number(&said(row, "value_add"))),
            ]),
        })
        .collect();
    let names = places(sector_rows.iter().map(|row| row["name"].clone()));
    let count =
        |rows: &[Row], sector: &str| rows.iter().filter(|row| row.has["sector"].contains(sector)).count() as i64;
    let sectors: Vec<Row> = sector_rows
        .iter()
        .map(|row| Row {
            id: row["slug"].clone(),
            has: HashMap::from([("parent", set([row["parent"].clone()]))]),
            number: numbers([
                ("name", Some(names[&row["name"]])),
                ("vc_count", Some(count(&firms, &row["slug"]))),
                ("startup_count", Some(count(&startups, &row["slug"]))),
                ("average_health_score", averages.get(&row["slug"]).copied()),
            ]),
        })
        .collect();
    let names = places(people_rows.iter().map(|row| row["name"].clone()));
    let resolved = organizations(&firm_rows, &startup_rows);
    let countries: HashMap<(&str, &str), &str> = [("firm", &firm_rows), ("startup", &startup_rows)]
        .into_iter()
        .flat_map(|(kind, rows)| rows.iter().map(move |row| ((kind, row["slug"].as_str()), row["country"].as_str())))
        .collect();
    let people: Vec<Row> = people_rows
        .iter()
        .map(|row| {
            let own = (row["organization_kind"].clone(), row["organization"].clone());
            let country = match row["country"].as_str() {
                "" => countries[&(own.0.as_str(), own.1.as_str())],
                country => country,
            };
            Row {
                id: row["slug"].clone(),
                has: HashMap::from([
                    ("kind", set([row["organization_kind"].clone()])),
                    ("organization", resolved.get(&own).cloned().unwrap_or_default()),
                    ("country", set([country.to_owned()])),
                ]),
                number: numbers([("name", Some(names[&row["name"]]))]),
            }
        })
        .collect();

    let mut listings = Vec::new();
    for metric in ["activity", "health_score", "responsiveness", "fairness", "value_add", "ghosting_rate"] {
        listings.push(leaderboard(client, metric, &firms, &round_rows));
    }
    // Filters by amount use both bounds of a firm, sorting only the smaller one.
    firms.shrink_to_fit();
    let dates: Vec<i64> = ["2015-01-01", "2022-06-30", "2025-01-01"].iter().filter_map(|date| day(date)).collect();
    let amounts = vec![1, 50_000, 500_000, 5_000_000, 50_000_000];
    listings.extend([
        ListCase {
            path: "vcs".into(),
            versions: ALL,
            rows: firms,
            filters: vec!["stage", "sector", "country", "kind", "city"],
            bounds: vec![
                ("min_health_score", "health_score", true, vec![0, 30, 50, 70, 100]),
                ("max_ghosting_rate", "ghosting_rate", false, vec![0, 125, 333, 500, 1000]),
                ("min_reviews", "review_count", true, vec![0, 3, 10, 30]),
                ("check_usd", "check_min_usd", true, amounts.clone()),
                ("active_since", "last_investment_on", true, dates.clone()),
            ],
            sorts: data::Table::Firms.sort_keys().to_vec(),
            default_sort: vec![("health_score", true), ("investment_count", true)],
        },
        ListCase {
            path: "startups".into(),
            versions: &["v3"],
            rows: startups,
            filters: vec!["stage", "sector", "country", "status", "investor"],
            bounds: Vec::new(),
            sorts: data::Table::Startups.sort_keys().to_vec(),
            default_sort: vec![("total_raised_usd", true), ("round_count", true)],
        },
        ListCase {
            path: "funding-rounds".into(),
            versions: &["v3"],
            rows: rounds,
            filters: vec!["stage", "sector", "country", "startup", "investor"],
            bounds: vec![
                ("since", "announced_on", true, dates.clone()),
                ("until", "announced_on", false, dates),
                ("min_amount_usd", "amount_usd", true, amounts),
            ],
            sorts: data::Table::Rounds.sort_keys().to_vec(),
            default_sort: vec![("announced_on", true)],
        },
        ListCase {
            path: "people".into(),
            versions: &["v3"],
            rows: people,
            filters: vec!["kind", "organization", "country"],
            bounds: Vec::new(),
            sorts: vec!["name"],
            default_sort: vec![("name", false)],
        },
        ListCase {
            path: "sectors".into(),
            versions: ALL,
            rows: sectors,
            filters: vec!["parent"],
            bounds: Vec::new(),
            sorts: data::Table::Sectors.sort_keys().to_vec(),
            default_sort: vec![("vc_count", true)],
        },
    ]);
    let of_reviews = |versions, rows| ListCase {
        path: "reviews".into(),
        versions,
        rows,
        filters: vec!["vc", "status", "stage", "ghosted"],
        bounds: vec![("min_rating", "rating", true, vec![1, 3, 5])],
        sorts: data::Table::Reviews.sort_keys().to_vec(),
        default_sort: vec![("created_on", true)],
    };
    // Without a status v3 lists only approved reviews.
    listings.push(of_reviews(&["v1", "v2"], reviews.clone()));
    let approved: Vec<Row> = reviews.iter().filter(|row| row.has["status"].contains("approved")).cloned().collect();
    listings.push(ListCase { filters: vec!["vc", "stage", "ghosted"], ..of_reviews(&["v3"], approved) });
    let pending = reviews.into_iter().filter(|row| row.has["status"].contains("pending")).collect();
    let pending = ListCase { filters: vec!["vc"], ..of_reviews(ALL, pending) };
    listings.push(ListCase { path: "reviews?status=pending".into(), ..pending });
    listings
}

/// For each organization the filter values that name it: its slug, and the slug of the other kind that folds to its name
/// if no other organization has that name.
fn organizations(
    firms: &[HashMap<String, String>],
    startups: &[HashMap<String, String>],
) -> BTreeMap<(String, String), BTreeSet<String>> {
    let mut resolved: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    // A few of each, and every slug that both kinds have.
    let slugs =
        |rows: &[HashMap<String, String>]| -> BTreeSet<String> { set(rows.iter().map(|row| row["slug"].clone())) };
    let both: Vec<String> = slugs(firms).intersection(&slugs(startups)).cloned().collect();
    let few = firms.iter().step_by(25).chain(startups.iter().step_by(100)).map(|row| row["slug"].clone());
    for text in few.chain(both) {
        for (kind, rows) in [("firm", firms), ("startup", startups)] {
            let exact = rows.iter().find(|row| row["slug"] == text);
            let mut namesakes = rows.iter().filter(|row| fold(&row["name"]) == fold(&text));
            let named = namesakes.next().filter(|_| namesakes.next().is_none());
            if let Some(row) = exact.or(named) {
                resolved.entry((kind.to_owned(), row["slug"].clone())).or_default().insert(text.clone());
            }
        }
    }
    resolved
}

/// The leaderboard of a metric, in the order of the full leaderboard.
fn leaderboard(client: &Client, metric: &str, firms: &[Row], rounds: &[HashMap<String, String>]) -> ListCase {
    let mut order: Vec<String> = Vec::new();
    if metric == "activity" {
        let released_on = client.get("/api/v3/stats").json()["data"]["released_on"].as_str().and_then(day).unwrap();
        let newest =
            rounds.iter().filter_map(|round| day(&round["announced_on"])).filter(|day| *day <= released_on).max();
        let newest = newest.unwrap_or(released_on);
        let mut joined: BTreeMap<String, u64> = BTreeMap::new();
        for round in rounds {
            if day(&round["announced_on"]).is_some_and(|day| (0..=365).contains(&(newest - day))) {
                let firms = split(&round["lead_investors"]).into_iter().chain(split(&round["investors"]));
                firms.collect::<BTreeSet<_>>().into_iter().for_each(|firm| *joined.entry(firm).or_default() += 1);
            }
        }
        let mut joined: Vec<(u64, String)> = joined.into_iter().map(|(firm, count)| (u64::MAX - count, firm)).collect();
        joined.sort();
        order.extend(joined.into_iter().map(|(_, firm)| firm));
    } else {
        for page in 1.. {
            let slugs = client.get(&format!("/api/v2/leaderboard?metric={metric}&limit=100&page={page}")).slugs();
            if slugs.is_empty() {
                break;
            }
            order.extend(slugs);
        }
    }
    assert!(order.len() > 50, "{metric}");
    let place: HashMap<&str, i64> = order.iter().map(String::as_str).zip(0..).collect();
    let ranked = firms.iter().filter_map(|firm| {
        let number = HashMap::from([("place", *place.get(firm.id.as_str())?)]);
        Some(Row { number, ..firm.clone() })
    });
    ListCase {
        path: format!("leaderboard?metric={metric}"),
        versions: &["v1", "v2", "v3"],
        rows: ranked.collect(),
        filters: vec!["stage", "sector", "country", "kind"],
        bounds: Vec::new(),
        sorts: Vec::new(),
        default_sort: vec![("place", false)],
    }
}

#[test]
fn every_list_in_every_version_equals_that_of_a_naive_scan() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for listing in listings(&client) {
        let mut runner =
            TestRunner::new(Config { cases: cases(150, 15), failure_persistence: None, ..Config::default() });
        runner.run(&listing.queries(), |query| listing.compare(&client, &query)).unwrap();
    }
}

#[test]
fn all_versions_list_the_same_matches_of_a_search() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let words = prop::sample::select(vec!["capital", "aldr", "fund", "ventures", "north", "partner", "zzqxj"]);
    let filters = prop::sample::select(vec!["", "&stage=seed", "&country=US,GB", "&sort=name", "&sort=-review_count"]);
    let mut runner = TestRunner::new(Config { cases: cases(120, 10), failure_persistence: None, ..Config::default() });
    runner
        .run(&(words, filters, 1_usize..30), |(words, filters, limit)| {
            let query = format!("vcs?q={words}{filters}&limit={limit}");
            let first = client.get(&format!("/api/v1/{query}"));
            let total = first.json()["pagination"]["total"].clone();
            for version in ["v2", "v3"] {
                let reply = client.get(&format!("/api/{version}/{query}"));
                prop_assert_eq!(reply.slugs(), first.slugs(), "{}", query);
                prop_assert_eq!(&reply.json()["pagination"]["total"], &total, "{}", query);
                prop_assert_eq!(&reply.json()["data"], &first.json()["data"], "{}", query);
            }
            let second = client.get(&format!("/api/v1/{query}&offset={limit}"));
            let page = client.get(&format!("/api/v2/{query}&page=2"));
            prop_assert_eq!(page.slugs(), second.slugs(), "{}", query);
            let cursor = client.get(&format!("/api/v3/{query}")).json()["pagination"]["next_cursor"].clone();
            match cursor {
                Value::String(cursor) => {
                    let next = client.get(&format!("/api/v3/vcs?cursor={cursor}&limit={limit}"));
                    prop_assert_eq!(next.slugs(), second.slugs(), "{}", query);
                }
                _ => prop_assert!(second.slugs().is_empty(), "{}", query),
            }
            Ok(())
        })
        .unwrap();
}
