//! What the data does not say is unknown: never "no", never zero.

use auth::quota::Tier;
use data::Table;
use data::coverage::Markets;
use mcp::Tool;
use serde_json::json;

use crate::mcp::tools::TestTools;
use crate::support::harness::{Server, bundled, catalog_of};
use crate::support::html::{Markup, parse};
use crate::support::two_firms::{dataset, serve};

#[test]
fn a_round_that_names_no_lead_does_not_say_that_nobody_led_it() {
    let folder = dataset(
        "r-1,tidewick,seed,,2019-05-04,alder,birch\n\
         r-2,tidewick,series-a,,2021-02-28,,alder|birch\n\
         r-3,lomar,seed,,2020-01-01,alder,birch\n\
         r-4,lomar,grant,,2018-01-01,,\n",
        "",
    );
    let (_server, client) = serve(folder.path());
    let rounds = client.get("/api/v3/funding-rounds?sort=announced_on&fields=id,lead_investors.slug").json();
    let alder = json!([{ "slug": "alder" }]);
    assert_eq!(
        rounds["data"],
        json!([
            { "id": "r-4", "lead_investors": null },
            { "id": "r-1", "lead_investors": alder },
            { "id": "r-3", "lead_investors": alder },
            { "id": "r-2", "lead_investors": null },
        ])
    );
    // Alder led one of Tidewick's rounds. Who led the other is unknown, so Birch may have; it did not lead Lomar's.
    let investors = |slug: &str| {
        let startup = client.get(&format!("/api/v3/startups/{slug}?fields=investors.slug,investors.lead")).json();
        startup["data"]["investors"].clone()
    };
    assert_eq!(investors("tidewick"), json!([{ "slug": "alder", "lead": true }, { "slug": "birch", "lead": null }]));
    assert_eq!(investors("lomar"), json!([{ "slug": "alder", "lead": true }, { "slug": "birch", "lead": false }]));
    let tools = TestTools::of(catalog_of(folder.path()));
    let led = |firm: &str| {
        let profile = tools.call(Tool::GetVcProfile, &json!({ "slug": firm })).unwrap();
        let portfolio = profile["portfolio"].clone();
        portfolio.as_array().unwrap().iter().map(|item| item["last_joined"]["led"].clone()).collect::<Vec<_>>()
    };
    // Latest first: Tidewick's round without a lead, then Lomar's.
    assert_eq!(led("alder"), [json!(null), json!(true)]);
    assert_eq!(led("birch"), [json!(null), json!(false)]);
}

#[test]
fn a_round_whose_stage_no_source_names_is_of_none() {
    let folder = dataset(
        "r-1,tidewick,,100,2019-05-04,alder,\n\
         r-2,tidewick,other,200,2020-05-04,birch,\n\
         r-3,lomar,seed,300,2021-05-04,birch,\n",
        "",
    );
    let (server, client) = serve(folder.path());
    let get = |path: &str| client.get(&format!("/api/v3/{path}")).json();
    let stages = get("funding-rounds?sort=announced_on&fields=id,stage");
    let wanted = [("r-1", json!(null)), ("r-2", json!("other")), ("r-3", json!("seed"))];
    assert_eq!(stages["data"], json!(wanted.map(|(id, stage)| json!({ "id": id, "stage": stage }))));
    for (filter, ids) in [
        ("unknown=stage", &["r-1"][..]),
        ("known=stage", &["r-3", "r-2"]),
        ("stage=other", &["r-2"]),
        ("not_stage=seed", &["r-2"]),
    ] {
        let list = get(&format!("funding-rounds?{filter}"));
        let found: Vec<&str> = list["data"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(found, ids, "{filter}");
    }
    let grouping = get("funding-rounds/aggregate?group_by=stage")["data"]["groups"][0].clone();
    let values = grouping["values"].as_array().unwrap().iter().map(|group| group["value"].as_str().unwrap());
    assert_eq!(values.collect::<Vec<_>>(), ["seed", "other"]);
    assert_eq!((&grouping["unknown"]["count"], &grouping["unknown"]["amounts"]["sum_usd"]), (&json!(1), &json!(100)));
    assert_eq!(get("stats")["data"]["coverage"]["funding_rounds"]["stage"], 2);
    // The stages of a firm are those of its rounds that are known.
    assert_eq!(get("vcs/alder?fields=stages")["data"]["stages"], json!([]));
    assert_eq!(client.get("/api/v3/funding-rounds.csv?fields=id,stage&unknown=stage").text, "id,stage\nr-1,\n");
    let tools = TestTools::of(catalog_of(folder.path()));
    let called = tools.call(Tool::GetFundingRounds, &json!({ "unknown": "stage" })).unwrap();
    assert_eq!((&called["items"][0]["id"], &called["items"][0]["stage"]), (&json!("r-1"), &json!(null)));

    let visitor = server.anonymous();
    let page = parse(&visitor.get("/startups/tidewick").text);
    assert_eq!(page.section("rounds").unwrap().texts("tr[id^='round-'] th"), ["Other", "Round"]);
    let list = parse(&visitor.get("/rounds?unknown=stage").text);
    assert!(list.all("td[data-name='Stage']").is_empty());
    assert_eq!(list.texts("div.fits > p"), ["Unknown in all rows: Stage."]);
    let feed = visitor.get("/rounds/feed.json?unknown=stage").json();
    assert_eq!(feed["items"][0]["title"], "Tidewick: Round $100");
    let markets = visitor.get("/markets").text;
    assert!(markets.contains("<a href=\"/rounds?unknown=stage\">Stage unknown</a>"), "{markets}");
}

#[test]
fn amounts_say_how_many_rounds_they_leave_out() {
    let folder = dataset(
        "r-1,tidewick,seed,100,2019-05-04,,\n\
         r-2,tidewick,seed,200,2020-05-04,,\n\
         r-3,tidewick,seed,1000,2021-05-04,,\n\
         r-4,tidewick,seed,,2022-05-04,,\n\
         r-5,lomar,grant,,2018-01-01,,\n",
        "",
    );
    let (_server, client) = serve(folder.path());
    let tools = TestTools::of(catalog_of(folder.path()));
    let seed = json!({
        "known": 3, "unknown": 1, "sum_usd": 1_300, "median_usd": 200, "mean_usd": 433, "max_usd": 1_000,
    });
    let grant = json!({
        "known": 0, "unknown": 1, "sum_usd": null, "median_usd": null, "mean_usd": null, "max_usd": null,
    });
    for (stage, amounts) in [("seed", &seed), ("grant", &grant)] {
        let called = tools.call(Tool::GetFundingRounds, &json!({ "stage": stage })).unwrap();
        assert_eq!((&called["amounts"], &called["sum_usd"]), (amounts, &amounts["sum_usd"]));
        // They are those of all matches, not of the page.
        let listed = client.get(&format!("/api/v3/funding-rounds?stage={stage}&limit=1&amounts=true")).json();
        assert_eq!(&listed["meta"]["amounts"], amounts);
    }
    let first = client.get("/api/v3/funding-rounds?stage=seed&limit=2&amounts=1").json();
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
    let second = client.get(&format!("/api/v3/funding-rounds?cursor={cursor}")).json();
    assert_eq!((&second["meta"]["amounts"], second["data"].as_array().unwrap().len()), (&seed, 2));
    assert!(client.get("/api/v3/funding-rounds").json()["meta"].get("amounts").is_none());
    assert_eq!(client.get("/api/v3/funding-rounds?amounts=maybe").status, 400);
    assert_eq!(client.get("/api/v3/startups?amounts=true").status, 400);
}

#[test]
fn a_filter_on_a_field_that_is_mostly_unknown_says_so() {
    // Alder has a country, Birch has none; neither has a check size.
    let folder = dataset(
        "r-1,tidewick,seed,100,2019-05-04,,alder\nr-2,lomar,seed,,2020-05-04,,\nr-3,lomar,seed,,2020-05-05,,\n",
        "",
    );
    let (_server, client) = serve(folder.path());
    let warnings = |path: &str| {
        let warnings = client.get(path).json()["meta"]["warnings"].as_array().cloned().unwrap_or_default();
        warnings.iter().map(|warning| warning["detail"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let checks = "check sizes are known for 0 of 2 firms";
    assert_eq!(warnings("/api/v3/vcs?check_usd=1000"), [checks]);
    assert_eq!(warnings("/api/v3/match?raise_usd=1000"), ["`amount_usd` is known for 1 of 3 funding rounds"]);
    assert_eq!(
        warnings("/api/v3/funding-rounds?min_amount_usd=1"),
        ["`amount_usd` is known for 1 of 3 funding rounds"]
    );
    assert_eq!(
        warnings("/api/v3/funding-rounds?investor=alder&since=2019-01-01"),
        [
            "`investor` is known for 1 of 3 funding rounds; the newest with known investors is of 2019-05-04; 2020 is not \
          covered: the data names investors of 2019"
        ]
    );
    assert_eq!(warnings("/api/v3/vcs?country=DE"), ["`country` is known for 1 of 2 firms"]);
    // Groups count unknown values themselves: half is not most. The firm of a path is not a filter.
    for path in ["/api/v3/vcs/aggregate?group_by=country", "/api/v3/vcs/alder/rounds", "/api/v3/vcs?min_reviews=1"] {
        assert_eq!(warnings(path), [""; 0], "{path}");
    }
    let tools = TestTools::of(catalog_of(folder.path()));
    let called = tools.call(Tool::SearchVcs, &json!({ "check_usd": 1_000 })).unwrap();
    assert!(called["notes"].as_array().unwrap().contains(&json!(checks)), "{called}");
    let page = client.get("/vcs?check_usd=1000").text;
    assert!(page.contains("known for 0 of 2 firms"), "{page}");

    let stats = client.get("/api/v3/stats").json()["data"].clone();
    assert_eq!((&stats["rounds_from"], &stats["rounds_until"]), (&json!("2019-05-04"), &json!("2020-05-05")));
    let coverage = &stats["coverage"];
    let known = [
        (&coverage["firms"]["country"], 1),
        (&coverage["firms"]["check_min_usd"], 0),
        (&coverage["funding_rounds"]["amount_usd"], 1),
        (&coverage["funding_rounds"]["investors"], 1),
        (&coverage["funding_rounds"]["lead_investors"], 0),
        (&coverage["startups"]["investors"], 1),
        (&coverage["startups"]["country"], 1),
    ];
    for (number, expected) in known {
        assert_eq!(number, &json!(expected), "{coverage}");
    }
    assert!(coverage["firms"].get("slug").is_none());
    assert_eq!(tools.call(Tool::GetPlatformStats, &json!({})).unwrap()["coverage"], *coverage);
}

#[test]
fn last_dates_have_the_date_until_which_they_can_be_known() {
    let of_year = |year: u32, investor: &str| -> String {
        let round = |n: u32| format!("r-{year}-{n},tidewick,seed,,{year}-03-{:02},,{investor}\n", n % 28 + 1);
        (0..30).map(round).collect()
    };
    let folder = dataset(&[of_year(2019, "alder"), of_year(2020, "")].concat(), "");
    let (_server, client) = serve(folder.path());
    let record = |path: &str| client.get(&format!("/api/v3/{path}")).json()["data"].clone();
    let (firm, startup) = (record("vcs/alder"), record("startups/tidewick"));
    assert_eq!([&firm["last_investment_on"], &firm["coverage_until"]], ["2019-03-28"; 2]);
    assert_eq!([&startup["last_round_on"], &startup["coverage_until"]], ["2020-03-28"; 2]);
    // It is computed: a field of lists that is selected.
    assert!(record("vcs?limit=1")[0].get("coverage_until").is_none());
    let selected = json!([{ "slug": "alder", "coverage_until": "2019-03-28" }]);
    assert_eq!(record("vcs?slug=alder&fields=slug,coverage_until"), selected);
    let tools = TestTools::of(catalog_of(folder.path()));
    let arguments = json!({ "slug": "alder", "fields": "slug,coverage_until,first_seen,changed_in" });
    let item = json!({ "slug": "alder", "coverage_until": "2019-03-28", "first_seen": null, "changed_in": null });
    assert_eq!(tools.call(Tool::SearchVcs, &arguments).unwrap()["items"], json!([item]));
    assert!(client.get("/startups/tidewick").text.contains("rounds are known up to 28 Mar 2020"));
}

#[test]
fn an_organization_without_known_people_is_not_one_without_people() {
    let folder = dataset("", "jo-lind,Jo Lind,Founder,startup,tidewick,\n");
    let (_server, client) = serve(folder.path());
    let detail = |organization: &str| {
        let json = client.get(&format!("/api/v3/people?organization={organization}")).json();
        json["meta"]["warnings"][0]["detail"].clone()
    };
    assert_eq!(detail("alder"), "people are known of 0 of 2 firms and of 1 of 2 startups, and of none of these");
    assert!(detail("alder,tidewick").is_null());
}

#[test]
fn coverage_counts_the_records_with_a_value() {
    let catalog = bundled();
    let snapshot = catalog.snapshot();
    for table in Table::ALL {
        for (index, field) in table.fields().iter().enumerate() {
            let value = |row| snapshot.record(table, row).value(index).into_owned();
            let known = (0..snapshot.rows(table)).filter(|row| {
                let value: serde_json::Value = serde_json::from_slice(&value(*row)).unwrap();
                !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
            });
            assert_eq!(snapshot.known_values(table, index), known.count() as u32, "{} of {table:?}", field.name);
        }
    }
}

#[test]
fn recent_activity_counts_back_from_the_newest_round_of_the_data() {
    // The newest round is years before the release; one with a mistyped year is after it.
    let folder = dataset(
        "r-1,tidewick,seed,,2019-06-01,,alder\nr-2,lomar,seed,,2018-05-04,,birch\nr-3,lomar,seed,,2099-01-01,,\n",
        "",
    );
    let (_server, client) = serve(folder.path());
    let ranked = client.get("/api/v3/leaderboard?metric=activity&fields=slug,rank_value").json();
    assert_eq!(ranked["data"], json!([{ "slug": "alder", "rank_value": 1 }]));
    let matches = client.get("/api/v3/match?stage=seed&fields=slug,reasons").json();
    let activity = |index: usize| {
        let reasons = matches["data"][index]["reasons"].as_array().unwrap().clone();
        reasons.into_iter().find(|reason| reason["name"] == "activity").unwrap()
    };
    assert_eq!(activity(0)["detail"], "1 investment, the last in June 2019; investors are known until 2019-06-01");
    assert_eq!(activity(1)["detail"], "1 investment, the last in May 2018; investors are known until 2019-06-01");
    assert!(activity(0)["points"].as_u64() > activity(1)["points"].as_u64(), "{matches}");
}

#[test]
fn years_that_the_data_hardly_covers_are_not_zero() {
    let of_year = |year: u32, count: u32| -> String {
        (0..count).map(|n| format!("r-{year}-{n},tidewick,seed,,{year}-03-04,,\n")).collect()
    };
    let folder = dataset(
        &format!(
            "{}{}{}r-1,lomar,seed,,2015-05-05,,alder\nr-2,lomar,seed,,2019-05-05,,alder\n",
            of_year(2015, 60),
            of_year(2016, 2),
            of_year(2017, 30)
        ),
        "",
    );
    let catalog = catalog_of(folder.path());
    let covered = catalog.round_coverage().years(None, &Markets::All);
    assert_eq!(covered, [2015, 2017].into());
    let (_server, client) = serve(folder.path());
    let page = client.get("/vcs/alder").text;
    // Rounds of 2017 are covered, but not their investors; the firm's round of 2019 is known.
    assert!(page.contains("Not covered by the data: 2015 to 2019."), "{page}");
    let cells = parse(&page).texts(".numbers td").into_iter();
    assert_eq!(cells.filter(|cell| cell == "not covered").count(), 3);

    let uncovered = |path: &str| -> Vec<String> {
        let json = client.get(path).json();
        let warnings = json["meta"]["warnings"].as_array().cloned().unwrap_or_default();
        let details = warnings.iter().map(|warning| warning["detail"].as_str().unwrap().to_owned());
        details.filter(|detail| detail.contains("not covered")).collect()
    };
    let rest = "of 94 dated funding rounds are of then; the data covers 2015 and 2017";
    for (query, expected) in [
        ("funding-rounds?since=2016&until=2016", Some(format!("2016 is not covered: 2 {rest}"))),
        (
            "funding-rounds?since=2018-05&until=2019-03&stage=debt",
            Some(format!("2018 to 2019 are not covered: 1 {rest}")),
        ),
        ("funding-rounds?since=2018", Some(format!("years from 2018 are not covered: 1 {rest}"))),
        ("startups?last_round_until=2010", Some(format!("years up to 2010 are not covered: 0 {rest}"))),
        (
            "funding-rounds/aggregate?group_by=stage&since=2030",
            Some(format!("years from 2030 are not covered: 0 {rest}")),
        ),
        ("funding-rounds?since=2016&until=2017", Some(format!("2016 is not covered: 2 {rest}"))),
        ("funding-rounds?since=2015", Some(format!("2016 is not covered: 3 {rest}"))),
        ("funding-rounds?until=2015", None),
        ("funding-rounds", None),
        ("reviews?since=2016&until=2016", None),
    ] {
        assert_eq!(uncovered(&format!("/api/v3/{query}")), expected.into_iter().collect::<Vec<_>>(), "{query}");
    }
    let detail = "the data has few funding rounds of then, so that counts say little";
    let groups = uncovered("/api/v3/funding-rounds/aggregate?group_by=year");
    assert_eq!(groups, [format!("2016 and 2019 are not covered: {detail}")]);
    let groups = uncovered("/api/v3/funding-rounds/aggregate?group_by=quarter&since=2016&until=2017");
    assert_eq!(groups, [format!("2016 is not covered: 2 {rest}"), format!("2016 is not covered: {detail}")]);
    assert_eq!(uncovered("/api/v3/funding-rounds/aggregate?group_by=stage"), [""; 0]);
    let tools = TestTools::of(catalog);
    let found = tools.call(Tool::GetFundingRounds, &json!({ "count_by": "year", "since": "2018" })).unwrap();
    let notes: Vec<String> = serde_json::from_value(found["notes"].clone()).unwrap();
    assert!(notes.contains(&format!("years from 2018 are not covered: 1 {rest}")), "{notes:?}");
    assert!(notes.contains(&format!("2019 is not covered: {detail}")), "{notes:?}");
}

#[test]
fn people_without_a_country_have_that_of_their_organization() {
    let folder =
        dataset("", "ada,Ada,,startup,tidewick,FR\nbo,Bo,,startup,tidewick,\ncy,Cy,,firm,alder,\ndi,Di,,firm,birch,\n");
    let (_server, client) = serve(folder.path());
    let people = client.get("/api/v3/people?fields=slug,country,country_source").json();
    assert_eq!(
        people["data"],
        json!([
            { "slug": "ada", "country": "FR", "country_source": "person" },
            { "slug": "bo", "country": "GB", "country_source": "organization" },
            { "slug": "cy", "country": "DE", "country_source": "organization" },
            { "slug": "di", "country": null, "country_source": null },
        ])
    );
    for (country, slugs) in [("GB", vec!["bo"]), ("FR", vec!["ada"]), ("DE,FR", vec!["ada", "cy"])] {
        assert_eq!(client.get(&format!("/api/v3/people?country={country}")).slugs(), slugs, "{country}");
    }
}

#[test]
fn invented_data_says_so_in_every_answer() {
    let tools = TestTools::bundled();
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let slug = tools.catalog.snapshot().slug(Table::Firms, 0).to_owned();
    for (tool, arguments) in [
        (Tool::SearchVcs, json!({})),
        (Tool::GetVcProfile, json!({ "slug": slug })),
        (Tool::GetVcProfile, json!({ "name": "zzzz" })),
        (Tool::SearchStartups, json!({})),
        (Tool::GetFundingRounds, json!({})),
        (Tool::GetPlatformStats, json!({})),
        (Tool::SearchPeople, json!({})),
    ] {
        assert_eq!(tools.call(tool, &arguments).unwrap()["invented"], true, "{arguments}");
    }
    for path in ["vcs", &format!("vcs/{slug}"), "stats", "sectors", "leaderboard", "match?stage=seed", "vcs/facets"] {
        let meta = client.get(&format!("/api/v3/{path}")).json()["meta"].clone();
        assert_eq!((&meta["invented"], &meta["license"]), (&json!(true), &json!("CC0-1.0")), "{path}");
        assert!(meta["source"].as_str().is_some_and(|source| source.contains("generator")), "{path}");
    }
    let stats = client.get("/api/v3/stats").json()["data"].clone();
    let expected = (&json!(true), &json!("Invented venture data"));
    assert_eq!((&stats["invented"], &stats["title"]), expected);
    let manifest = client.get("/api/mcp/.well-known").json();
    assert_eq!((&manifest["data"]["invented"], &manifest["data"]["title"]), expected);
    assert!(manifest["instructions"].as_str().unwrap().contains("All data is invented"));
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",
        "capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let instructions = client.post("/api/mcp", initialize).json()["result"]["instructions"].clone();
    assert_eq!(instructions, manifest["instructions"]);

    // Data that is not invented does not say so.
    let folder = dataset("r-1,tidewick,seed,,2019-06-01,,alder\n", "");
    let (_server, client) = serve(folder.path());
    assert_eq!(client.get("/api/v3/vcs").json()["meta"]["invented"], false);
    let manifest = client.get("/api/mcp/.well-known").json();
    assert_eq!((&manifest["data"]["invented"], &manifest["data"]["license"]), (&json!(false), &json!("CC0-1.0")));
    let instructions = manifest["instructions"].as_str().unwrap();
    assert!(
        !instructions.contains("invented") && instructions.contains("covers funding rounds of 2019"),
        "{instructions}"
    );
    assert!(
        TestTools::of(catalog_of(folder.path())).call(Tool::SearchVcs, &json!({})).unwrap().get("invented").is_none()
    );
}

#[test]
fn investors_that_are_unknown_for_most_rounds_of_a_period_are_no_answer() {
    let rounds: String = (0..9).map(|n| format!("r-{n},tidewick,seed,,2015-03-04,,\n")).collect();
    let folder =
        dataset(&format!("{rounds}r-a,lomar,seed,,2015-05-05,,alder\nr-b,lomar,seed,,2013-12-02,,alder|birch\n"), "");
    let (_server, client) = serve(folder.path());
    let details = |path: &str| -> Vec<String> {
        let json = client.get(path).json();
        let warnings = json["meta"]["warnings"].as_array().cloned().unwrap_or_default();
        let details = warnings.iter().map(|warning| warning["detail"].as_str().unwrap().to_owned());
        details.filter(|detail| detail.starts_with("investors are known")).collect()
    };
    for (path, expected) in [
        (
            "funding-rounds?investor=birch&since=2014",
            Some("1 of these 10 rounds; 2014 is not covered: the data names investors of 2013 and 2015"),
        ),
        // Leads are known for none, which another note says.
        ("funding-rounds?not_lead=birch&since=2014", None),
        ("funding-rounds/aggregate?group_by=investor&since=2014", Some("1 of these 10 rounds")),
        (
            "vcs?active_since=2014",
            Some("1 of the 10 rounds of this period; 2014 is not covered: the data names investors of 2013 and 2015"),
        ),
        ("funding-rounds?investor=birch&until=2013", None),
        ("funding-rounds?investor=birch", None),
        ("funding-rounds?since=2014", None),
        ("funding-rounds/aggregate?group_by=stage&since=2014", None),
        ("vcs?country=DE", None),
    ] {
        let expected: Vec<String> =
            expected.map(|rest| format!("investors are known for {rest}")).into_iter().collect();
        assert_eq!(details(&format!("/api/v3/{path}")), expected, "{path}");
    }
    let tools = TestTools::of(catalog_of(folder.path()));
    let called = tools.call(Tool::GetFundingRounds, &json!({ "investor": "birch", "since": "2014" })).unwrap();
    assert!(
        called["notes"].to_string().contains("investors are known for 1 of these 10 rounds"),
        "{}",
        called["notes"]
    );
}
