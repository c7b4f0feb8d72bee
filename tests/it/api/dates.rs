//! Dates as exactly as they are known: a year, a month or a day, from the CSV files to every answer.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use auth::quota::Tier;
use data::{NoProgress, check};
use mcp::Tool;
use serde_json::{Value, json};

use crate::mcp::tools::TestTools;
use crate::support::harness::{Client, Server, catalog_of, real_catalog, real_data};
use crate::support::naive::{rows_of, split};
use crate::support::two_firms::{dataset, dataset_with, serve};

const ROUNDS: &str = "r-year,tidewick,seed,,2021,,alder\n\
                      r-month,tidewick,seed,,2021-03,,birch\n\
                      r-day,lomar,seed,,2021-03-04,,birch\n\
                      r-first,lomar,seed,,2021-01-01,,\n\
                      r-before,lomar,seed,,2020-12-31,,\n\
                      r-none,lomar,seed,,,,\n";

fn ids(client: &Client, query: &str) -> Vec<String> {
    client.get(&format!("/api/v3/funding-rounds?{query}")).slugs()
}

#[test]
fn a_date_is_written_as_exactly_as_it_was_given() {
    let folder = dataset(ROUNDS, "");
    let review = "v-1,alder,seed,4,,,,no,,,approved,2020-05\nv-2,alder,seed,4,,,,no,,,approved,2020-05-06\n";
    let path = folder.path().join("reviews.csv");
    let header = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{header}{review}")).unwrap();
    let (_server, client) = serve(folder.path());

    let rounds = client.get("/api/v3/funding-rounds?fields=id,announced_on").json();
    assert_eq!(
        rounds["data"],
        json!([
            { "id": "r-day", "announced_on": "2021-03-04" },
            { "id": "r-month", "announced_on": "2021-03" },
            { "id": "r-first", "announced_on": "2021-01-01" },
            { "id": "r-year", "announced_on": "2021" },
            { "id": "r-before", "announced_on": "2020-12-31" },
            { "id": "r-none", "announced_on": null },
        ])
    );
    let mut ascending = ids(&client, "sort=announced_on");
    assert_eq!(ascending.pop().unwrap(), "r-none");
    ascending.reverse();
    assert_eq!(ascending, ids(&client, "known=announced_on"));
    let value = |path: &str, pointer: &str| client.get(path).json().pointer(pointer).unwrap().clone();
    assert_eq!(value("/api/v3/vcs/alder", "/data/last_investment_on"), "2021");
    assert_eq!(value("/api/v3/vcs/birch", "/data/last_investment_on"), "2021-03-04");
    assert_eq!(value("/api/v3/startups/tidewick", "/data/last_round_on"), "2021-03");
    assert_eq!(value("/api/v3/startups/tidewick", "/data/rounds/0/announced_on"), "2021-03");
    assert_eq!(value("/api/v3/stats", "/data/rounds_from"), "2020-12-31");
    assert_eq!(value("/api/v3/reviews?sort=created_on", "/data/0/created_on"), "2020-05");
    let tools = TestTools::of(catalog_of(folder.path()));
    let found = tools.call(Tool::GetFundingRounds, &json!({ "startup": "tidewick" })).unwrap();
    assert_eq!(found["items"][1]["announced_on"], "2021");
    assert_eq!(
        tools.call(Tool::GetVcProfile, &json!({ "slug": "alder" })).unwrap()["profile"]["last_investment_on"],
        "2021"
    );

    // v1 and v2 promise days.
    for (path, pointer) in [
        ("/api/v1/vcs?sort=name", "/data/0/last_investment_on"),
        ("/api/v2/vcs/alder", "/data/last_investment_on"),
        ("/api/v2/leaderboard?metric=activity", "/data/1/last_investment_on"),
    ] {
        assert_eq!(value(path, pointer), "2021-01-01", "{path}");
    }
    assert_eq!(value("/api/v1/reviews?sort=created_on", "/data/0/created_on"), "2020-05-01");
    for (path, shown, hidden) in [
        ("/vcs/alder", "2021", "1 Jan 2021"),
        ("/startups/tidewick", "<dt>Last round</dt><dd>Mar 2021", "1 Mar 2021"),
        ("/vcs/alder/reviews", "May 2020", "1 May 2020"),
        ("/startups", "Mar 2021", "1 Mar 2021"),
    ] {
        let page = client.get(path).text;
        assert!(page.contains(shown) && !page.contains(hidden) && !page.contains("2021-03-01"), "{path}: {page}");
    }
}

#[test]
fn a_period_is_in_a_range_if_all_of_its_days_are() {
    let folder = dataset(ROUNDS, "");
    let (_server, client) = serve(folder.path());
    let found = |query: &str| ids(&client, query).join(" ");
    for (query, rounds) in [
        ("since=2021", "r-day r-month r-first r-year"),
        ("since=2021-01-02", "r-day r-month"),
        ("since=2021-03-02", "r-day"),
        ("until=2021", "r-day r-month r-first r-year r-before"),
        ("until=2021-12-30", "r-day r-month r-first r-before"),
        ("until=2021-03", "r-day r-month r-first r-before"),
        ("until=2021-03-30", "r-day r-first r-before"),
        ("until=2021-03-04", "r-day r-first r-before"),
        ("until=2021-Q1", "r-day r-month r-first r-before"),
        ("until=2021-01-01", "r-first r-before"),
        ("until=2020", "r-before"),
        ("since=2021&until=2021", "r-day r-month r-first r-year"),
        ("since=2021-01-01&until=2021-01-31", "r-first"),
        ("since=2021-03&until=2021-03", "r-day r-month"),
    ] {
        assert_eq!(found(query), rounds, "{query}");
        let total =
            client.get(&format!("/api/v3/funding-rounds?{query}&limit=1")).json()["pagination"]["total"].clone();
        assert_eq!(total, json!(rounds.split(' ').count()), "{query}");
    }
    // Of the firms and startups by their latest date.
    let slugs = |path: &str| client.get(&format!("/api/v3/{path}")).slugs().join(" ");
    assert_eq!(slugs("vcs?active_until=2021-06"), "birch");
    assert_eq!(slugs("vcs?active_until=2021&sort=name"), "alder birch");
    assert_eq!(slugs("startups?last_round_until=2021-03-20"), "lomar");
    assert_eq!(slugs("startups?last_round_until=2021-03&sort=name"), "lomar tidewick");
}

#[test]
fn a_year_counts_as_a_year_but_as_no_quarter() {
    let folder = dataset(ROUNDS, "");
    let (_server, client) = serve(folder.path());
    let groups = |by: &str| {
        let json = client.get(&format!("/api/v3/funding-rounds/aggregate?group_by={by}")).json();
        let grouping = json["data"]["groups"][0].clone();
        let values = grouping["values"].as_array().unwrap().iter();
        let values = values.map(|group| format!("{} {}", group["value"].as_str().unwrap(), group["count"]));
        (values.collect::<Vec<_>>(), grouping["unknown"]["count"].clone(), grouping["other"]["count"].clone())
    };
    assert_eq!(groups("year"), (vec!["2021 4".to_owned(), "2020 1".to_owned()], json!(1), json!(0)));
    assert_eq!(groups("quarter"), (vec!["2021-Q1 3".to_owned(), "2020-Q4 1".to_owned()], json!(2), json!(0)));
    assert_eq!(groups("quarter&limit=1"), (vec!["2021-Q1 3".to_owned()], json!(2), json!(1)));
}

#[test]
fn a_date_of_another_form_is_an_error_that_shows_the_accepted_ones() {
    let folder = dataset("r-1,lomar,seed,,2021-3,,\nr-2,lomar,seed,,Q1 2021,,\nr-3,lomar,seed,,2021-13,,\n", "");
    let report = check(folder.path(), &NoProgress);
    let errors: Vec<String> = report.errors().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 3, "{errors:?}");
    let rule = "is not a date of the form YYYY-MM-DD, YYYY-MM or YYYY, such as 2026-06-30, 2026-06 or 2026";
    assert!(errors.iter().all(|error| error.contains(rule)), "{errors:?}");
}

#[test]
fn documents_describe_the_dates_of_their_version() {
    let folder = dataset(ROUNDS, "");
    let (_server, client) = serve(folder.path());
    let date = |version: &str| {
        let document = client.get(&format!("/openapi/{version}.json")).json();
        document["components"]["schemas"]["Firm"]["properties"]["last_investment_on"].clone()
    };
    let (v1, v3) = (date("v1"), date("v3"));
    assert_eq!((&v1["format"], &v1["pattern"]), (&json!("date"), &Value::Null), "{v1}");
    assert_eq!((&v3["format"], &v3["pattern"]), (&Value::Null, &json!(r"^\d{4}(-\d{2}(-\d{2})?)?$")), "{v3}");
}

/// The firms of a country that joined a round between two dates of equal precision, by a scan of the CSV files.
fn joined(folder: &Path, country: &str, since: &str, until: &str) -> BTreeSet<String> {
    let of_country: BTreeSet<String> = rows_of(folder, "firms.csv")
        .into_iter()
        .filter(|firm| firm["country"] == country)
        .map(|firm| firm["slug"].clone())
        .collect();
    let rounds = rows_of(folder, "funding_rounds.csv").into_iter();
    let rounds = rounds.filter(|round| {
        let date = &round["announced_on"];
        date.len() >= since.len() && &date[..since.len()] >= since && &date[..until.len()] <= until
    });
    let investors = rounds.flat_map(|round| [split(&round["investors"]), split(&round["lead_investors"])].concat());
    investors.filter(|firm| of_country.contains(firm)).collect()
}

#[test]
fn a_firm_that_was_active_in_a_year_has_a_round_of_that_year() {
    let folder = dataset_with(
        "cedar,Cedar Fund,,vc,,,DE,,,,,,,\n",
        "",
        "r-1,lomar,seed,,2012-05-04,,alder\nr-2,lomar,seed,,2014-01-01,,alder|cedar\nr-3,lomar,seed,,2011,,cedar\n\
         r-4,lomar,seed,,2012,,birch\n",
        "",
    );
    let (_server, client) = serve(folder.path());
    let active = |query: &str| client.get(&format!("/api/v3/vcs?sort=name&{query}")).slugs().join(" ");
    for (query, firms) in [
        ("active_since=2012&active_until=2012", "alder birch"),
        ("active_since=2012-04&active_until=2012-06", "alder"),
        ("active_since=2011&active_until=2012", "alder birch cedar"),
        ("active_since=2013&active_until=2013", ""),
        ("active_since=2012", "alder birch cedar"),
        ("active_until=2012", "birch"),
        ("country=DE&active_since=2011&active_until=2011", "cedar"),
    ] {
        assert_eq!(active(query), firms, "{query}");
    }
    let tools = TestTools::of(catalog_of(folder.path()));
    let found = tools.call(Tool::SearchVcs, &json!({ "active_since": "2012", "active_until": "2012" })).unwrap();
    assert_eq!(found["total"], 2);
}

#[test]
fn the_firms_that_were_active_in_a_year_of_the_real_data_are_those_of_the_csv() {
    let (Some(folder), Some(catalog)) = (real_data(), real_catalog()) else { return };
    let server = Server::of(catalog);
    let client = server.client(Tier::Enterprise);
    for (country, since, until) in [("FR", "2012", "2012"), ("DE", "2010", "2011"), ("US", "2013-03", "2013-05")] {
        let expected = joined(&folder, country, since, until);
        let path =
            format!("/api/v3/vcs?country={country}&active_since={since}&active_until={until}&limit=100&fields=slug");
        let reply = client.get(&path);
        assert_eq!(reply.json()["pagination"]["total"], json!(expected.len()), "{path}");
        assert!(!expected.is_empty() && reply.slugs().iter().all(|slug| expected.contains(slug)), "{path}");
    }
}
