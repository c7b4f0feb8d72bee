//! Single records of v3, lists of given records, and what `include` adds, against the lists and the CSV files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;

use auth::quota::Tier;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::contract::{Rated, ghosted, priors, rated};
use crate::support::harness::{Client, Dice, Server, bundled_folder, catalog_of, code, copy_as, real_catalog};

/// Lists with the field that identifies a row.
pub const LISTS: [(&str, &str); 6] = [
    ("vcs", "slug"),
    ("startups", "slug"),
    ("funding-rounds", "id"),
    ("people", "slug"),
    ("reviews", "id"),
    ("sectors", "slug"),
];

/// The rows of a CSV file by column.
pub fn csv(file: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(bundled_folder().join(file)).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn data(client: &Client, path: &str) -> Value {
    let reply = client.get(path);
    assert_eq!(reply.status, 200, "{path}: {}", reply.text);
    reply.json()["data"].clone()
}

fn check_rows_equal_their_records(server: &Server) {
    let client = server.client(Tier::Enterprise);
    for (list, key) in LISTS {
        for sort in ["", "&sort=-name", "&sort=amount_usd", "&sort=rating"] {
            let page = client.get(&format!("/api/v3/{list}?limit=20&fields=*{sort}"));
            if page.status == 400 {
                continue;
            }
            let rows = page.json()["data"].clone();
            assert!(!rows.as_array().unwrap().is_empty());
            for row in rows.as_array().unwrap() {
                let id = row[key].as_str().unwrap();
                let reply = client.get(&format!("/api/v3/{list}/{id}"));
                assert_eq!((reply.status, &reply.json()["data"]), (200, row), "{list}/{id}");
                let one = data(&client, &format!("/api/v3/{list}/{}?fields={key}", id.to_uppercase()));
                assert_eq!(one, json!({ key: id }));
            }
        }
    }
}

#[test]
fn every_row_of_a_list_is_its_single_record() {
    check_rows_equal_their_records(&Server::bundled());
}

#[test]
fn every_row_of_a_real_list_is_its_single_record() {
    let Some(catalog) = real_catalog() else { return };
    // The real data has no reviews.
    let server = Server::of(catalog);
    let client = server.client(Tier::Enterprise);
    for (list, key) in LISTS.into_iter().filter(|(list, _)| *list != "reviews") {
        for row in data(&client, &format!("/api/v3/{list}?limit=30&fields=*")).as_array().unwrap() {
            let id = row[key].as_str().unwrap();
            assert_eq!(data(&client, &format!("/api/v3/{list}/{id}")), *row);
        }
    }
}

#[test]
fn a_review_is_found_exactly_if_it_is_approved() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut seen = BTreeMap::<String, usize>::new();
    for review in csv("reviews.csv") {
        let (id, status) = (&review["id"], &review["status"]);
        let count = seen.entry(status.clone()).or_default();
        *count += 1;
        if *count > 30 {
            continue;
        }
        let reply = client.get(&format!("/api/v3/reviews/{id}"));
        match status.as_str() {
            "approved" => assert_eq!((reply.status, &reply.json()["data"]["id"]), (200, &json!(id))),
            _ => {
                assert_eq!(code(&reply), (404, "not_found".to_owned()), "{id}");
                let suggested = reply.json()["did_you_mean"].clone();
                for near in suggested.as_array().into_iter().flatten() {
                    assert_eq!(client.get(&format!("/api/v3/reviews/{}", near.as_str().unwrap())).status, 200);
                }
            }
        }
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
    for version in ["v1", "v2"] {
        let path = format!("/api/{version}/reviews/rv-0000001");
        assert_eq!(code(&client.get(&path)), (404, "unknown_route".to_owned()));
    }
}

#[test]
fn an_unknown_id_is_rejected_with_the_nearest() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, nearest) in [("funding-rounds/r-0000001x", "r-0000001"), ("sectors/fintec", "fintech")] {
        let reply = client.get(&format!("/api/v3/{path}"));
        assert_eq!(code(&reply), (404, "not_found".to_owned()));
        assert_eq!(reply.json()["did_you_mean"][0], nearest, "{}", reply.text);
    }
}

#[test]
fn given_records_are_listed_in_the_order_of_the_list() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut dice = Dice(7);
    for (list, key) in LISTS {
        for sort in ["", "&sort=-name", "&sort=amount_usd", "&sort=rating"] {
            let page = client.get(&format!("/api/v3/{list}?limit=100&fields=*{sort}"));
            if page.status == 400 {
                continue;
            }
            let rows = page.json()["data"].as_array().unwrap().clone();
            for round in 0..8 {
                let picked: BTreeSet<usize> = (0..=3 * round).map(|_| dice.below(rows.len())).collect();
                let mut ids: Vec<String> =
                    picked.iter().map(|row| rows[*row][key].as_str().unwrap().to_owned()).collect();
                // Neither the order of the values nor their case matters, nor that one is given twice.
                ids.reverse();
                ids.push(ids[0].to_uppercase());
                let reply = client.get(&format!("/api/v3/{list}?{key}={}&limit=100&fields=*{sort}", ids.join(",")));
                let found = reply.json();
                let expected: Vec<&Value> = picked.iter().map(|row| &rows[*row]).collect();
                assert_eq!(found["data"], json!(expected), "{list} {ids:?}{sort}");
                assert_eq!(found["pagination"]["total"], picked.len());
                let repeated: Vec<String> = ids.iter().rev().map(|id| format!("{key}={id}")).collect();
                let again = client.get(&format!("/api/v3/{list}?{}&limit=100&fields=*{sort}", repeated.join("&")));
                assert_eq!((again.header("etag"), &again.text), (reply.header("etag"), &reply.text));
            }
        }
    }
}

#[test]
fn given_records_pass_the_other_filters_and_pages() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let rows = data(&client, "/api/v3/vcs?limit=60");
    let rows = rows.as_array().unwrap();
    let slugs: Vec<&str> = rows.iter().map(|row| row["slug"].as_str().unwrap()).collect();
    let given = format!("/api/v3/vcs?slug={}&country=US,GB", slugs.join(","));
    let expected: Vec<&str> = rows
        .iter()
        .filter(|row| row["country"] == "US" || row["country"] == "GB")
        .map(|row| row["slug"].as_str().unwrap())
        .collect();
    assert!(expected.len() > 5 && expected.len() < 60);
    let (mut found, mut path) = (Vec::new(), format!("{given}&limit=4"));
    loop {
        let reply = client.get(&path);
        found.extend(reply.slugs());
        match reply.json()["pagination"]["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/v3/vcs?cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(found, expected);
    // A review that is not listed by default is not found by its id either.
    let pending = data(&client, "/api/v3/reviews?status=pending&limit=1")[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(data(&client, &format!("/api/v3/reviews?id={pending}")), json!([]));
    assert_eq!(data(&client, &format!("/api/v3/reviews?id={pending}&status=pending"))[0]["id"], pending);
}

#[test]
fn unknown_and_too_many_given_records_are_rejected() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let reply = client.get("/api/v3/sectors?slug=fintech,paymets");
    assert_eq!(code(&reply), (400, "unknown_value".to_owned()));
    let error = &reply.json()["errors"][0];
    assert_eq!((&error["parameter"], &error["did_you_mean"]), (&json!("slug"), &json!("payments")), "{}", reply.text);
    let many = |count: usize| client.get(&format!("/api/v3/vcs?slug={}", vec!["alder-capital"; count].join(",")));
    assert_eq!(many(100).json()["pagination"]["total"], 1);
    assert_eq!(code(&many(101)), (400, "invalid_parameter".to_owned()));
}

/// The first page of a list as `include` returns it.
fn first_page(client: &Client, path: &str) -> Value {
    let page = client.get(path).json();
    json!({ "total": page["pagination"]["total"], "data": page["data"] })
}

#[test]
fn included_lists_are_the_first_pages_of_their_lists() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let all = "portfolio,rounds,people,reviews,co_investors";
    for slug in client.get("/api/v3/vcs?limit=12&sort=-portfolio_count").slugs() {
        let path = format!("/api/v3/vcs/{slug}");
        let reply = client.get(&format!("{path}?include={all}")).json();
        let names: Vec<&str> = all.split(',').collect();
        for name in &names {
            let list = name.replace('_', "-");
            assert_eq!(reply["included"][name], first_page(&client, &format!("{path}/{list}")), "{slug} {name}");
        }
        assert_eq!(reply["included"].as_object().unwrap().len(), names.len());
        let plain = client.get(&path).json();
        assert_eq!((&reply["data"], plain.get("included")), (&plain["data"], None));
    }
    let rounds = csv("funding_rounds.csv");
    for slug in client.get("/api/v3/startups?limit=12").slugs() {
        let reply = client.get(&format!("/api/v3/startups/{slug}?include=investors&include=Rounds,people")).json();
        let included = &reply["included"];
        assert_eq!(included["rounds"], first_page(&client, &format!("/api/v3/funding-rounds?startup={slug}")));
        let people = format!("/api/v3/people?organization={slug}&kind=startup");
        assert_eq!(included["people"], first_page(&client, &people));
        let investors: BTreeSet<&str> = rounds
            .iter()
            .filter(|round| round["startup"] == slug)
            .flat_map(|round| round["lead_investors"].split('|').chain(round["investors"].split('|')))
            .filter(|firm| !firm.is_empty())
            .collect();
        assert_eq!(included["investors"]["total"], investors.len(), "{slug}");
        if !investors.is_empty() {
            let given: Vec<&str> = investors.into_iter().collect();
            assert_eq!(included["investors"], first_page(&client, &format!("/api/v3/vcs?slug={}", given.join(","))));
        }
    }
}

#[test]
fn spellings_of_include_share_an_etag_and_unknown_names_are_rejected() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let path = "/api/v3/vcs/alder-capital";
    let etag = |query: &str| client.get(&format!("{path}?{query}")).header("etag").to_owned();
    assert_eq!(etag("include=rounds,co_investors"), etag("include=CoInvestors&include=co-investors,Rounds"));
    let different: BTreeSet<String> =
        ["", "include=rounds", "include=people", "include=people,rounds"].map(etag).into();
    assert_eq!(different.len(), 4);

    let reply = client.get(&format!("{path}?include=portfolios,rounds&fields=nam&x=1"));
    assert_eq!(reply.status, 400);
    let errors = reply.json()["errors"].clone();
    let error = errors.as_array().unwrap().iter().find(|error| error["parameter"] == "include").unwrap();
    assert_eq!((&error["code"], &error["did_you_mean"]), (&json!("unknown_value"), &json!("portfolio")));
    assert!(error["accepted"].as_array().unwrap().contains(&json!("co_investors")), "{error}");
    assert!(errors.as_array().unwrap().iter().any(|error| error["parameter"] == "x"), "{errors}");
    // Sectors, rounds and reviews have nothing to include.
    assert_eq!(code(&client.get("/api/v3/sectors/fintech?include=rounds")), (400, "unknown_parameter".to_owned()));
    for version in ["v1", "v2"] {
        let path = format!("/api/{version}/vcs/alder-capital");
        let (plain, asked) = (client.get(&path).json(), client.get(&format!("{path}?include=rounds")).json());
        assert_eq!((&asked["data"], asked.get("included")), (&plain["data"], None));
        assert_eq!(asked["meta"]["warnings"][0]["code"], "unknown_parameter");
    }
}

/// Days since 1970-01-01 (the civil calendar of Howard Hinnant).
pub fn days(date: &str) -> i64 {
    let part = |range: std::ops::Range<usize>| date[range].parse::<i64>().unwrap();
    let (year, month, day) = (part(0..4), part(5..7), part(8..10));
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[test]
fn the_score_by_year_is_that_of_the_years_own_reviews() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let reviews = rated();
    let (means, ghosting) = priors(&reviews.iter().collect::<Vec<_>>());
    let (mut scored, mut unscored) = (0, 0);
    for slug in client.get("/api/v3/vcs?limit=60&sort=-review_count").slugs() {
        let own: Vec<&Rated> = reviews.iter().filter(|review| review.firm == slug).collect();
        let years: BTreeSet<i32> = own.iter().map(|review| review.created_on[..4].parse().unwrap()).collect();
        let mut expected = Vec::new();
        for year in years.first().copied().unwrap_or(1)..=years.last().copied().unwrap_or(0) {
            let is_of_year = |review: &&&Rated| review.created_on.starts_with(&year.to_string());
            let of_year: Vec<&Rated> = own.iter().filter(is_of_year).copied().collect();
            let mut points = 0.0;
            for ((dimension, max), mean) in [30.0, 15.0, 15.0, 15.0].into_iter().enumerate().zip(means) {
                let values: Vec<f64> = of_year.iter().filter_map(|review| review.ratings[dimension]).collect();
                let rated = (5.0 * mean + values.iter().sum::<f64>()) / (5.0 + values.len() as f64);
                points += max * (rated - 1.0) / 4.0;
            }
            let (ghosted, stated) = ghosted(&of_year);
            points += 25.0 * (1.0 - (ghosted + 6.0 * ghosting) / (stated + 6.0));
            let score = (of_year.len() >= 3).then(|| (points + 0.5).floor() as u64);
            if score.is_some() {
                scored += 1
            } else {
                unscored += 1
            }
            let rate = (stated >= 3.0).then(|| (1_000.0 * ghosted / stated + 0.5).floor() / 10.0);
            expected.push((year, of_year.len(), score, rate));
        }
        let reply = client.get(&format!("/api/v3/vcs/{slug}?include=score_by_year&fields=slug")).json();
        let list = &reply["included"]["score_by_year"];
        let found: Vec<_> = list["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|year| {
                let (low, high) = (year["low"].as_u64(), year["high"].as_u64());
                let score = year["health_score"].as_u64();
                assert!(low <= score && score <= high && low.is_some() == score.is_some(), "{year}");
                let number = year["year"].as_i64().unwrap() as i32;
                (number, year["review_count"].as_u64().unwrap() as usize, score, year["ghosting_rate"].as_f64())
            })
            .collect();
        assert_eq!(found, expected, "{slug}");
        assert_eq!(list["total"], expected.len());
    }
    assert!(scored > 20 && unscored > 20, "{scored} {unscored}");
}

/// The small dataset with more people, of whom some have one name.
pub fn with_namesakes() -> TempDir {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/small");
    let copy = copy_as(&folder, "2026-11-20.1");
    let place = copy.path().join("people.csv");
    let more = "zoe-one,Zoë Ortiz,Partner,firm,birch-lane,\n\
                zoe-two,Zoe ORTIZ,Chair,firm,birch-lane,DE\n\
                zoe-three,Zoe Ortiz,Director,startup,quillbank,\n\
                zoe-four,Zoe Ortiz,Angel,firm,zoe-angels,FR\n\
                zoe-five,Zoe Ortiz,,startup,mossworks,\n\
                zoe-other,Zoe Ortega,Analyst,firm,birch-lane,DE\n";
    fs::write(&place, fs::read_to_string(&place).unwrap() + more).unwrap();
    let place = copy.path().join("startups.csv");
    let more = "lone,Lone,,,,DE,Berlin,,,,\n";
    fs::write(&place, fs::read_to_string(&place).unwrap() + more).unwrap();
    let place = copy.path().join("people.csv");
    let more = "zoe-six,Zoe Ortiz,CTO,startup,lone,\n";
    fs::write(&place, fs::read_to_string(&place).unwrap() + more).unwrap();
    copy
}

#[test]
fn roles_under_one_name_are_related_with_a_reason() {
    let folder = with_namesakes();
    let server = Server::of(catalog_of(folder.path()));
    let client = server.client(Tier::Enterprise);
    let related = |slug: &str, list: &str| -> BTreeMap<String, (String, String)> {
        let reply = client.get(&format!("/api/v3/people/{slug}")).json();
        let list = &reply["included"][list];
        assert_eq!(list["total"], list["data"].as_array().unwrap().len());
        let text = |role: &Value, name: &str| role[name].as_str().unwrap().to_owned();
        let rows = list["data"].as_array().unwrap().iter();
        rows.map(|role| (text(role, "slug"), (text(role, "reason"), text(role, "detail")))).collect()
    };
    let of = |entries: &[(&str, &str, &str)]| -> BTreeMap<String, (String, String)> {
        entries.iter().map(|(slug, reason, detail)| ((*slug).into(), ((*reason).into(), (*detail).into()))).collect()
    };
    // Birch Lane invested in Quillbank, and in Kettlepay together with Zoë Angels; it has nothing to do with Mossworks.
    assert_eq!(
        related("zoe-one", "other_roles"),
        of(&[
            ("zoe-two", "organization", "both at Birch Lane Capital"),
            ("zoe-three", "round", "Birch Lane Capital invested in Quillbank"),
            ("zoe-four", "round", "Birch Lane Capital and Zoë Angels joined a round of KettlePay"),
        ])
    );
    assert_eq!(related("zoe-one", "probable_same"), of(&[("zoe-six", "place", "both in Berlin, DE")]));
    assert_eq!(related("zoe-five", "other_roles"), of(&[("zoe-four", "round", "Zoë Angels invested in Mossworks")]));
    assert_eq!(related("zoe-five", "probable_same"), of(&[]));
    assert_eq!(related("zoe-other", "other_roles"), of(&[]));
    // The relation has no direction.
    let all = ["zoe-one", "zoe-two", "zoe-three", "zoe-four", "zoe-five", "zoe-six", "zoe-other"];
    for list in ["other_roles", "probable_same"] {
        for (one, two) in all.iter().flat_map(|one| all.iter().map(move |two| (*one, *two))) {
            let reason = |from: &str, to: &str| related(from, list).get(to).map(|(reason, _)| reason.clone());
            assert_eq!(reason(one, two), reason(two, one), "{one} {two}");
        }
    }
    let title = client.get("/api/v3/people/zoe-four?include=other_roles").json();
    assert_eq!(title["included"].as_object().unwrap().len(), 1);
    assert_eq!(client.get("/api/v3/people/zoe-four?fields=name").json().get("included"), None);
}

#[test]
fn a_link_that_proxies_would_reject_is_left_to_the_cursor() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let slugs = client.get("/api/v3/vcs?limit=100").slugs().join(",");
    let reply = client.get(&format!("/api/v3/vcs?limit=40&slug={slugs}"));
    assert_eq!((reply.status, reply.header("link")), (200, ""));
    let cursor = reply.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    assert!(cursor.len() > 2_000, "{}", cursor.len());
    let next = client.get(&format!("/api/v3/vcs?cursor={cursor}"));
    assert_eq!(next.slugs().join(","), slugs.split(',').skip(40).take(40).collect::<Vec<_>>().join(","));
    assert!(client.get("/api/v3/vcs?limit=40").header("link").contains("rel=\"next\""));
}

#[test]
fn errors_repeat_a_hundred_characters_of_a_value() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, value) in [
        ("vcs?sector=", "x"),
        ("vcs?country=", "x"),
        ("vcs?kind=", "x"),
        ("vcs?slug=", "x"),
        ("vcs?sort=", "x"),
        ("vcs?fields=", "x"),
        ("vcs?limit=", "x"),
        ("vcs?snapshot=", "x"),
        ("vcs?explain=", "x"),
        ("vcs?stage=-", "x"),
        ("vcs?min_health_score=", "x"),
        ("vcs?max_ghosting_rate=", "x"),
        ("vcs?check_usd=", "9"),
        ("vcs?active_since=", "9"),
        ("reviews?ghosted=", "x"),
        ("leaderboard?metric=", "x"),
        ("match?raise_usd=", "x"),
        ("vcs/aggregate?limit=", "x"),
        ("vcs/aggregate?group_by=", "x"),
        ("vcs/alder-capital?include=", "x"),
        ("vcs?1=1&", "x"),
    ] {
        let long = value.repeat(6_000);
        let reply = client.get(&format!("/api/v3/{path}{long}{}", if path.ends_with('&') { "=1" } else { "" }));
        assert_eq!(reply.status, 400, "{path}");
        // A sign is among the characters.
        assert!(reply.text.contains(&value.repeat(99)) && !reply.text.contains(&value.repeat(101)), "{path}");
    }
    for path in ["vcs/", "", "funding-rounds/"] {
        let reply = client.get(&format!("/api/v3/{path}{}", "x".repeat(6_000)));
        let body = reply.json();
        assert_eq!(reply.status, 404, "{path}");
        assert!(!body["detail"].as_str().unwrap().contains(&"x".repeat(101)), "{body}");
    }
}

#[test]
fn a_sort_key_may_be_written_as_its_field() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let plain = client.get("/api/v3/vcs?sort=-portfolio_count,name");
    for sort in ["-portfolioCount,Name", "-portfolio-count,name", "-PORTFOLIO_COUNT,name"] {
        assert_eq!(client.get(&format!("/api/v3/vcs?sort={sort}")).text, plain.text, "{sort}");
    }
    let error = client.get("/api/v3/vcs?sort=portfoliocount").json();
    assert_eq!(error["errors"][0]["did_you_mean"], "portfolio_count");
}
