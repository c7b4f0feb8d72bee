//! `GET /ask`: which list answers a question, and with what.

use auth::quota::Tier;
use mcp::Tool;
use serde_json::{Value, json};

use crate::mcp::tools::TestTools;
use crate::pages::charts::all_of;
use crate::support::harness::{Client, Server, code};

fn ask(client: &Client, question: &str) -> Value {
    let reply = client.list("/api/v3/ask", &[("q", question), ("limit", "3")]);
    assert_eq!(reply.status, 200, "{question}: {}", reply.text);
    reply.json()
}

/// The list that answers a question, and how.
const ANSWERS: &[(&str, &str, &str)] = &[
    ("who invests in fintech in London", "vcs", "list"),
    ("which VCs back payments startups in Spain", "vcs", "list"),
    ("accelerators in Austin", "vcs", "list"),
    ("fintech companies in London", "startups", "list"),
    ("how many fintech startups are in London", "startups", "count"),
    ("fintech startups by country", "startups", "count"),
    ("seed rounds since 2020", "funding-rounds", "list"),
    ("number of deals per year", "funding-rounds", "count"),
    ("founders in Berlin", "people", "list"),
    ("who is Nora Kelridge?", "people", "record"),
    ("partners at Alder Capital", "people", "list"),
    ("how much has Tidewick Health raised", "startups", "record"),
    ("Alder Capital", "vcs", "record"),
    ("Alder Capital's portfolio", "startups", "list"),
    ("portfolio of Alder Capital in fintech", "startups", "list"),
    ("Tidewick Health series A", "funding-rounds", "list"),
    ("total raised by fintech startups in London", "funding-rounds", "count"),
    ("how much did startups in Germany raise since 2024", "funding-rounds", "count"),
    ("average seed round in the US", "funding-rounds", "count"),
    ("grants in the US", "funding-rounds", "list"),
    ("what was the biggest series B in the US", "funding-rounds", "list"),
    ("series A between $5M and $10M in London in 2025", "funding-rounds", "list"),
    ("series A startups in London", "startups", "list"),
    ("which country raised the most money in 2025", "funding-rounds", "count"),
    ("last round of Tidewick Health", "funding-rounds", "list"),
];

#[test]
fn the_answer_says_what_a_word_leaves_open() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let of_kind = ask(&client, "how many VC firms are in the US")["data"]["why"].to_string();
    assert!(of_kind.contains("of any kind; with `kind=vc`"), "{of_kind}");
    let why = |question: &str| ask(&client, question)["data"]["interpreted"][0]["why"].clone();
    assert_eq!(why("rounds over $100m"), "amount; exactly this much counts, too");
    assert_eq!(why("rounds of at least $100m"), "amount");
}

#[test]
fn a_sum_is_that_of_the_rounds() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let data = ask(&client, "how much did startups in Germany raise since 2024")["data"].clone();
    let rounds = client.get("/api/v3/funding-rounds?country=DE&since=2024-01-01&amounts=true").json();
    assert!(data["amounts"]["sum_usd"].as_u64().unwrap() > 0, "{data}");
    assert_eq!(data["amounts"], rounds["meta"]["amounts"]);
    assert_eq!(data["unread"], json!([]));
    assert_eq!(ask(&client, "startups in Germany")["data"]["amounts"], Value::Null);
    let page = client.get("/?q=how+much+did+startups+in+Germany+raise+since+2024").text;
    let known = data["amounts"]["known"].as_u64().unwrap();
    assert!(page.contains(&format!("together, from the {known} of {} with a known amount", data["total"])), "{page}");
}

#[test]
fn groups_are_in_the_requested_order() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let by_amount = |question: &str| {
        let url = ask(&client, question)["data"]["groups_url"].as_str().unwrap().to_owned();
        url.contains("sort=-sum_usd")
    };
    assert!(by_amount("which sectors got the most funding in 2024"));
    assert!(by_amount("which countries raised the most money"));
    assert!(!by_amount("which countries had the most funding rounds"));
    assert!(!by_amount("startups by country"));
}

#[test]
fn a_firm_joined_the_round_of_the_period() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let firm = "alder-capital";
    let period = "since=2023-01-01&until=2024-12-31";
    let rounds = all_of(&client, "funding-rounds", &format!("investor={firm}&{period}"));
    let mut expected: Vec<&str> = rounds.iter().map(|round| round["startup"]["slug"].as_str().unwrap()).collect();
    expected.sort_unstable();
    expected.dedup();
    let of_rounds = format!("raised_from={firm}&raised_since=2023-01-01&raised_until=2024-12-31");
    let startups = all_of(&client, "startups", &of_rounds);
    let mut found: Vec<&str> = startups.iter().map(|startup| startup["slug"].as_str().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
    let any = all_of(&client, "startups", &of_rounds.replace("raised_from", "investor"));
    assert!(!found.is_empty() && any.len() > found.len(), "{} of {}", found.len(), any.len());
    let asked = ask(&client, "how many companies did Alder Capital back between 2023 and 2024")["data"].clone();
    assert_eq!(asked["total"], found.len(), "{asked}");
}

#[test]
fn the_list_that_a_question_is_about_answers_it() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (question, list, kind) in ANSWERS {
        let data = ask(&client, question)["data"].clone();
        assert_eq!((&data["list"], &data["kind"]), (&json!(list), &json!(kind)), "{question}: {data}");
        assert!(!data["why"].as_str().unwrap().is_empty(), "{data}");
    }
}

#[test]
fn the_answer_is_that_of_the_list() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (question, ..) in ANSWERS {
        let data = ask(&client, question)["data"].clone();
        let url = data["url"].as_str().unwrap();
        let list = client.get(&url[url.find("/api/v3/").unwrap()..]).json();
        assert_eq!(list["pagination"]["total"], data["total"], "{question}: {url}");
        let records = data["records"].as_array().unwrap();
        assert!(records.len() <= 3 && list["data"].as_array().unwrap().starts_with(records), "{question}");
    }
}

#[test]
fn one_record_is_whole_and_groups_are_those_of_the_aggregate() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let answer = ask(&client, "who founded Tidewick Health");
    assert_eq!(answer["data"]["record"], client.get("/api/v3/startups/tidewick-health").json()["data"]);
    assert!(answer["data"]["groups"].is_null());
    for question in [
        "co-investors of Alder Capital",
        "most active investors in payments",
        "startups by country",
        "which countries got the most funding",
    ] {
        let answer = ask(&client, question);
        let url = answer["data"]["groups_url"].as_str().unwrap();
        let mut groups = client.get(&format!("{}&limit=3", &url[url.find("/api/v3/").unwrap()..])).json();
        assert_eq!(answer["data"]["groups"], groups["data"]["groups"].take(), "{question}");
        assert!(answer["data"]["record"].is_null());
    }
    let co_investors = ask(&client, "co-investors of Alder Capital");
    assert_eq!(co_investors["data"]["list"], json!("funding-rounds"));
    let first = &co_investors["data"]["groups"][0]["values"][0];
    assert_eq!((&first["value"], &first["count"]), (&json!("alder-capital"), &co_investors["data"]["total"]));
    let details = co_investors["meta"]["warnings"].as_array().cloned().unwrap_or_default();
    assert!((1..details.len()).all(|index| !details[..index].contains(&details[index])), "{details:?}");
}

/// The firms of a list, and those that a note counts, are all firms that invested in a sector.
#[test]
fn firms_with_other_main_sectors_are_counted() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let of_list = |path: &str, limit: &str| client.list(path, &[("sector", "saas"), ("limit", limit)]).json();
    let firms = of_list("/api/v3/vcs", "1000");
    let listed: Vec<&str> =
        firms["data"].as_array().unwrap().iter().map(|firm| firm["slug"].as_str().unwrap()).collect();
    let rounds = client
        .list("/api/v3/funding-rounds/aggregate", &[("sector", "saas"), ("group_by", "investor"), ("limit", "500")]);
    let groups = rounds.json();
    let investors = groups["data"]["groups"][0]["values"].as_array().unwrap();
    assert_eq!(groups["data"]["groups"][0]["other_values"], json!(0));
    let more = investors.iter().filter(|group| !listed.contains(&group["value"].as_str().unwrap())).count();
    assert!(more > 0);
    assert!(firms["meta"].to_string().contains(&format!("{more} firms more have invested")), "{}", firms["meta"]);
}

#[test]
fn investors_of_startups_at_a_place_are_counted_among_these() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let tools = TestTools::of(server.state.releases.current());
    for question in [
        "which investors backed payments startups in London",
        "who backed payments startups in London",
        "VCs with portfolio companies in payments in London",
    ] {
        let answer = ask(&client, question);
        assert_eq!(
            (&answer["data"]["list"], &answer["data"]["unread"]),
            (&json!("vcs"), &json!(["London"])),
            "{answer}"
        );
        let warnings = answer["meta"]["warnings"].as_array().unwrap();
        let mut details = warnings.iter().map(|warning| warning["detail"].as_str().unwrap());
        let detail = details.find(|detail| detail.contains("/aggregate?")).unwrap();
        let address = &detail[detail.find("/api/v3/startups/aggregate?").unwrap()..];
        let counted = client.get(address).json();
        let of_parameters = client.list(
            "/api/v3/startups/aggregate",
            &[("sector", "payments"), ("city", "london"), ("group_by", "investor")],
        );
        assert!(counted["data"].to_string().contains(r#""count":"#), "{counted}");
        assert_eq!(counted["data"], of_parameters.json()["data"], "{question}");
        // No name has all of these words.
        let note = tools.call(Tool::SearchVcs, &json!({ "query": question })).unwrap()["notes"].to_string();
        assert!(note.contains("`search_startups` with") && note.contains("count_by"), "{question}: {note}");
        let warned = client.list("/api/v3/vcs", &[("q", question)]).text;
        assert!(warned.contains("/api/v3/startups/aggregate?"), "{question}: {warned}");
    }
    let none = ask(&client, "which investors backed payments startups");
    assert!(!none["meta"].to_string().contains("aggregate"), "{none}");
}

#[test]
fn a_question_of_which_nothing_is_read_lists_nothing() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let answer = ask(&client, "zzyzx qqq");
    assert_eq!((&answer["data"]["total"], &answer["data"]["records"]), (&json!(0), &json!([])), "{answer}");
    assert_eq!(answer["data"]["unread"], json!(["zzyzx", "qqq"]));
    let reply = client.get("/api/v3/ask");
    assert_eq!(code(&reply), (400, "invalid_parameter".to_owned()));
    let long = "seed ".repeat(101);
    assert_eq!(client.list("/api/v3/ask", &[("q", &long)]).status, 400);
    assert_eq!(client.get("/api/v2/ask?q=seed").status, 404);
}

#[test]
fn a_question_in_a_language_that_is_not_read_has_a_warning() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let said = |answer: &Value| {
        let warnings = answer["meta"]["warnings"].as_array().cloned().unwrap_or_default();
        warnings.iter().any(|warning| warning["detail"].as_str().unwrap().contains("read as English only"))
    };
    for question in [
        "startups die geld hebben opgehaald in Londen en niet zijn gestopt",
        "vilka bolag har inte fler investerare",
        "firmy, które nie są w Berlinie, założone po roku",
        "финтех стартапы в Берлине",
        "ベルリンのスタートアップ",
    ] {
        let answer = ask(&client, question);
        assert!(said(&answer), "{question}: {answer}");
        let list = client.list("/api/v3/startups", &[("ask", question), ("limit", "1")]).json();
        assert!(said(&list), "{question}: {}", list["meta"]);
    }
    for question in ["fintech startups in London that glow", "Startups in Berlin, die leuchten", "startups zzyzx"] {
        let answer = ask(&client, question);
        assert!(!said(&answer), "{question}: {answer}");
    }
}

#[test]
fn one_round_meets_the_conditions_on_its_stage_and_date() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let all = |list: &str, query: &[(String, &str)]| -> Vec<Value> {
        let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        all_of(&client, list, &query.join("&"))
    };
    let conditions: [&[(&str, &str)]; 5] = [
        &[("stage", "series-c")],
        &[("stage", "seed,series-a"), ("since", "2022-01-01")],
        &[("stage", "series-a"), ("since", "2022-01-01"), ("until", "2023-12-31")],
        &[("since", "2024-01-01"), ("until", "2024-06-30")],
        &[("until", "2021-12-31")],
    ];
    for conditions in conditions {
        let named = |prefix: &str| -> Vec<(String, &str)> {
            conditions.iter().map(|(name, value)| (format!("{prefix}{name}"), *value)).collect()
        };
        let rounds = all("funding-rounds", &named(""));
        assert!(!rounds.is_empty(), "{conditions:?}");
        let mut expected: Vec<&str> = rounds.iter().map(|round| round["startup"]["slug"].as_str().unwrap()).collect();
        expected.sort_unstable();
        expected.dedup();
        let startups = all("startups", &named("raised_"));
        let mut found: Vec<&str> = startups.iter().map(|startup| startup["slug"].as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{conditions:?}");
    }
    let crossed = client.get("/api/v3/startups?raised_since=2024-01-01&raised_until=2020-01-01");
    assert_eq!(code(&crossed), (400, "invalid_parameter".to_owned()));
}
