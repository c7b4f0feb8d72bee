//! What a caller learns about values that are understood, but may find less than it means: cities and sectors of several
//! spellings, values and sort keys that no record has, exclusions that leave out unknown values.

use mcp::Tool;
use serde_json::json;

use crate::mcp::tools::TestTools;
use crate::support::harness::{Client, catalog_of};
use crate::support::two_firms::{dataset_with, serve};

/// The details of the warnings of a list.
fn notes(client: &Client, list: &str, name: &str, value: &str) -> Vec<String> {
    let of = |limit: &str| -> Vec<String> {
        let reply = client.list(&format!("/api/v3/{list}"), &[(name, value), ("limit", limit)]);
        assert_eq!(reply.status, 200, "{name}={value}: {}", reply.text);
        let warnings = reply.json()["meta"]["warnings"].as_array().cloned().unwrap_or_default();
        warnings.iter().map(|warning| warning["detail"].as_str().unwrap().to_owned()).collect()
    };
    let notes = of("20");
    // Another page has the notes of the first, which are kept.
    assert_eq!(of("3"), notes);
    notes
}

fn startups(places: &[(&str, &str, usize)]) -> String {
    let rows = places.iter().enumerate().flat_map(|(place, (city, country, count))| {
        (0..*count)
            .map(move |index| format!("s-{place}-{index},Name {place} {index},,,,{country},{city},,,,operating\n"))
    });
    rows.collect()
}

#[test]
fn the_other_spellings_of_a_city_are_named() {
    let places = [
        ("New York", "US", 3),
        ("New York City", "US", 1),
        ("Mumbai", "IN", 2),
        ("Germany", "US", 1),
        ("Berlin", "DE", 12),
        ("Milan", "IT", 2),
    ];
    let folder = dataset_with("", &startups(&places), "", "");
    let (_server, client) = serve(folder.path());
    let of = |city: &str| -> Vec<String> {
        let found = notes(&client, "startups", "city", city);
        found.into_iter().filter(|note| note != "`city` is known for 21 of 23 startups").collect()
    };
    assert_eq!(
        of("new york city"),
        ["`New York City` (1) is also written `New York` (3); name all, separated by commas"]
    );
    assert_eq!(of("New York"), ["`New York` (3) is also written `New York City` (1); name all, separated by commas"]);
    assert_eq!(of("New York City,New York"), [""; 0]);
    assert_eq!(of("Bombay"), ["`Bombay` was read as Mumbai"]);
    assert_eq!(of("Mumbai"), [""; 0]);
    let germany = "`Germany` (1) was read as a city; the country is `country=DE` (12)";
    assert_eq!(of("Germany"), [germany]);
    assert_eq!(of("Milan, Italy"), ["`Milan, Italy` was read as Milan; for its country add `country=IT`"]);
    let total = |city: &str| client.list("/api/v3/startups", &[("city", city)]).json()["pagination"]["total"].clone();
    assert_eq!((total("Milan, Italy"), total("Bombay"), total("Berlin,Mumbai")), (json!(2), json!(2), json!(14)));
    assert_eq!((total("Milan, Italy, Berlin"), total("Berlin,Milan, Italy")), (json!(14), json!(14)));
    // A country that is a city, too, is one of two cities.
    assert_eq!((of("Berlin, Germany"), total("Berlin, Germany")), (vec![germany.to_owned()], json!(13)));
    // v1 and v2 read a value as ever.
    assert_eq!(client.list("/api/v1/vcs", &[("city", "Bombay")]).status, 200);
}

#[test]
fn larger_sectors_of_the_same_letters_or_initials_are_named() {
    let startups: String = (0..24)
        .map(|index| {
            let sector = match index {
                0 => "ai",
                1..=12 => "artificial-intelligence",
                13..=15 => "cybersecurity",
                16 | 17 => "security",
                _ => "cyber-security",
            };
            format!("s-{index},Name {index},,,,,,,,{sector},\n")
        })
        .collect();
    let folder = dataset_with("", &startups, "", "");
    let sectors = "slug,name,parent,description\nfintech,Fintech,,\nai,AI,,\nartificial-intelligence,Artificial Intelligence,,\n\
                   cybersecurity,Cybersecurity,,\ncyber-security,Cyber Security,,\nsecurity,Security,,\nmachine-learning,Machine Learning,,\n";
    std::fs::write(folder.path().join("sectors.csv"), sectors).unwrap();
    let (_server, client) = serve(folder.path());
    let of = |sector: &str| notes(&client, "startups", "sector", sector);
    let also = |sector: &str, count: u32, other: &str, startups: u32| {
        let count = if count == 1 { "1 startup".to_owned() } else { format!("{count} startups") };
        [format!("`sector` was read as {sector} ({count}); also {other} ({startups})")]
    };
    assert_eq!(of("AI"), also("ai", 1, "artificial-intelligence", 12));
    let also_cyber = also("cybersecurity", 3, "cyber-security", 6);
    let more = "2 startups more are in related sectors, which a given one does not include: security (2)".to_owned();
    assert_eq!(of("cybersecurity"), [also_cyber.as_slice(), std::slice::from_ref(&more)].concat());
    assert_eq!(of("ai,artificial-intelligence"), [""; 0]);
    assert_eq!(of("cybersecurity,cyber-security"), [more]);
    let unknown = client.list("/api/v3/startups", &[("sector", "ML")]).json();
    assert_eq!(unknown["errors"][0]["did_you_mean"], "machine-learning", "{unknown}");
}

#[test]
fn related_sectors_are_named_if_many_more_records_are_in_them() {
    let of = |index: usize| match index {
        0..=9 => "solar",
        // Below `solar`.
        10..=12 => "solar-roofs",
        13..=15 => "home-solar",
        16 => "solar|solar-finance",
        17 => "big-solar-parks",
        18..=29 => "software",
        _ => "b2b-software",
    };
    let country = |index: usize| if index == 30 || index == 18 { "DE" } else { "US" };
    let startup = |index: usize| format!("s-{index},Name {index},,,,{},,,,{},\n", country(index), of(index));
    let startups: String = (0..31).map(startup).collect();
    let folder = dataset_with("", &startups, "", "");
    let sectors = "slug,name,parent,description\nfintech,Fintech,,\nsolar,Solar,,\nsolar-roofs,Solar Roofs,solar,\n\
                   home-solar,Home Solar,,\nsolar-finance,Solar Finance,,\nbig-solar-parks,Big Solar Parks,,\n\
                   software,Software,,\nb2b-software,B2B Software,,\n";
    std::fs::write(folder.path().join("sectors.csv"), sectors).unwrap();
    let (_server, client) = serve(folder.path());
    let of = |sector: &str| notes(&client, "startups", "sector", sector);
    let more = |records: &str, listed: &str| {
        vec![format!(
            "{records} more {} in related sectors, which a given one does not include: {listed}",
            if records.starts_with("1 ") { "is" } else { "are" }
        )]
    };
    assert_eq!(of("solar"), more("4 startups", "home-solar (3), big-solar-parks (1)"));
    assert_eq!(of("solar,big-solar-parks"), more("3 startups", "home-solar (3)"));
    // One more startup is not worth a note, unless few meet the other conditions.
    assert_eq!((of("solar,home-solar"), of("home-solar"), of("solar-roofs")), (vec![], vec![], vec![]));
    assert_eq!(of("software"), [""; 0]);
    let german = client.list("/api/v3/startups", &[("sector", "software"), ("country", "DE")]).text;
    assert!(german.contains("1 startup more is in related sectors"), "{german}");
    let part = client.list("/api/v3/startups", &[("sector", "parks")]).json();
    assert_eq!(part["errors"][0]["did_you_mean"], "big-solar-parks", "{part}");
    let detail = client.list("/api/v3/startups", &[("sector", "sola")]).json()["errors"][0]["detail"].to_string();
    assert!(detail.contains("it may mean solar (14 startups), home-solar (3 startups)"), "{detail}");
}

#[test]
fn values_and_sort_keys_that_no_record_has_say_so() {
    let people = "ann,Ann Ash,Founder,startup,tidewick,\nben,Ben Bay,Founder,startup,lomar,DE\n";
    let folder = dataset_with("", "", "", people);
    let (_server, client) = serve(folder.path());
    let people = "people are known of 2 of 2 startups and of 0 of 2 firms";
    assert_eq!(
        notes(&client, "people", "role", "partner"),
        ["no record of this data has such a `role`; the most frequent are `founder` (2)", people]
    );
    assert_eq!(notes(&client, "people", "role", "founder,partner"), [people]);
    assert_eq!(notes(&client, "vcs", "sort", "-aum_usd"), ["`aum_usd` is known for 0 of 2 firms"]);
    assert_eq!(notes(&client, "vcs", "sort", "-portfolio_count"), [""; 0]);
}

#[test]
fn an_exclusion_says_how_many_unknown_values_it_leaves_out() {
    let folder = dataset_with("", &startups(&[("Berlin", "DE", 2)]), "", "");
    let (_server, client) = serve(folder.path());
    // One of the four startups has no country.
    assert_eq!(
        notes(&client, "startups", "not_country", "US"),
        ["`not_country` also leaves out 1 startup of unknown `country`"]
    );
    assert_eq!(notes(&client, "startups", "country", "US"), ["`country` is known for 3 of 4 startups"]);
}

#[test]
fn tools_say_when_no_name_is_the_one_searched_for() {
    let folder = dataset_with("", "", "", "");
    let tools = TestTools::of(catalog_of(folder.path()));
    let notes = |query: &str| tools.call(Tool::SearchStartups, &json!({ "query": query })).unwrap()["notes"].clone();
    assert_eq!(notes("tidewick"), json!(null));
    // An alias is a name.
    let bundled = TestTools::bundled();
    for (tool, argument) in [(Tool::SearchVcs, "query"), (Tool::GetVcProfile, "name")] {
        let found = bundled.call(tool, &json!({ argument: "ACAP" })).unwrap();
        assert!(!found.to_string().contains("named exactly"), "{found}");
    }
    assert_eq!(notes("tidewicks"), json!(["no startup is named exactly `tidewicks`; the items have similar names"]));
    assert_eq!(
        notes("fintech"),
        json!([
            "`sector` is known for 1 of 2 startups",
            "no startup is named `fintech`: `query` was read as a question, see `question`"
        ])
    );
}

#[test]
fn groups_follow_the_order_and_the_limit_of_a_call() {
    let rounds: String = (0..30)
        .map(|index| format!("r-{index},s-0-{index},seed,{},2020-01-{:02},,\n", 1_000 * (index + 1), index + 1))
        .chain(["r-x,s-0-0,seed,1000,2020-02-01,,\n".to_owned()])
        .collect();
    let folder = dataset_with("", &startups(&[("Berlin", "DE", 30)]), &rounds, "");
    let tools = TestTools::of(catalog_of(folder.path()));
    let call = |arguments: serde_json::Value| tools.call(Tool::GetFundingRounds, &arguments).unwrap();
    let first = |result: &serde_json::Value| result["groups"][0]["values"][0]["value"].clone();
    let by_count = call(json!({ "count_by": "startup", "limit": 0 }));
    assert_eq!(first(&by_count), "s-0-0");
    assert_eq!(by_count["groups"][0]["values"].as_array().unwrap().len(), 20);
    let note = by_count["notes"][0].as_str().unwrap();
    assert!(note.contains("20 of 30 values of `startup`") && note.contains("-sum_usd"), "{note}");
    for sort in ["-sum_usd", "-amount_usd"] {
        let by_sum = call(json!({ "count_by": "startup", "limit": 40, "sort": sort }));
        assert_eq!(first(&by_sum), "s-0-29", "{sort}");
        assert_eq!(by_sum["groups"][0]["values"].as_array().unwrap().len(), 30);
        assert_eq!(by_sum.get("notes"), None);
    }
}

#[test]
fn years_whose_rounds_are_all_of_the_first_of_january_have_no_quarters() {
    let of_year = |year: u32, rest: &str| -> String {
        (0..30).map(|n| format!("r-{year}-{n},tidewick,seed,,{year}{rest},,\n")).collect()
    };
    let rounds = of_year(2019, "-05-06") + &of_year(2020, "-01-01") + &of_year(2021, "");
    let folder = dataset_with("", "", &rounds, "");
    let (_server, client) = serve(folder.path());
    let detail = "are dated by year only: quarters and days within it say nothing";
    let expected = format!("most rounds of 2020 to 2021 {detail}");
    let of = |name: &str, value: &str| notes(&client, "funding-rounds", name, value);
    assert_eq!(of("since", "2020-04-01"), [expected.as_str()]);
    assert_eq!(of("until", "2021-06"), [expected.as_str()]);
    for (name, value) in [("since", "2020"), ("until", "2020"), ("since", "2019-04-01"), ("until", "2021-12-31")] {
        assert_eq!(of(name, value), [""; 0], "{name}={value}");
    }
    let groups = notes(&client, "funding-rounds/aggregate", "group_by", "quarter");
    assert_eq!(groups, [expected.as_str()]);
    assert_eq!(notes(&client, "funding-rounds/aggregate", "group_by", "year"), [""; 0]);
}

#[test]
fn a_date_that_leaves_nothing_is_named_with_the_nearest_that_would() {
    let rounds = "r-1,tidewick,seed,,2018-05-06,,\nr-2,tidewick,seed,,2019-03,,\nr-3,lomar,seed,,2021-01-01,,\n";
    let folder = dataset_with("", "", rounds, "");
    let (_server, client) = serve(folder.path());
    let of = |query: &str| {
        let json = client.get(&format!("/api/v3/funding-rounds?{query}")).json();
        let warnings = json["meta"]["warnings"].as_array().unwrap().clone();
        let found = warnings.into_iter().find(|warning| warning["code"] == "no_match").unwrap();
        (found["parameter"].as_str().unwrap().to_owned(), found["detail"].as_str().unwrap().to_owned())
    };
    let detail = |name: &str, matches: &str| {
        (name.to_owned(), format!("nothing matches all conditions; without `{name}` {matches}"))
    };
    assert_eq!(of("country=GB&since=2020"), detail("since", "2 records match, the newest of 2019-03"));
    assert_eq!(of("country=GB&until=2017"), detail("until", "2 records match, the oldest of 2018-05-06"));
    assert_eq!(of("startup=lomar&stage=debt").1.matches(", the").count(), 0);
}

#[test]
fn the_condition_that_most_records_meet_is_the_one_to_drop() {
    let rounds =
        "r-1,tidewick,seed,,2018-05-06,,\nr-2,lomar,series-a,,2019-03-01,,\nr-3,lomar,series-a,,2020-03-01,,\n";
    let folder = dataset_with("", "", rounds, "");
    let (_server, client) = serve(folder.path());
    let warnings =
        |query: &str| client.get(&format!("/api/v3/funding-rounds?{query}")).json()["meta"]["warnings"].clone();
    let warnings = warnings("startup=tidewick&stage=series-a");
    let detail = "nothing matches all conditions; without `stage` 1 record matches";
    assert!(warnings.as_array().unwrap().iter().any(|warning| warning["detail"] == detail), "{warnings}");
}

#[test]
fn groups_that_do_not_fit_are_counted_among_the_others() {
    let tools = TestTools::bundled();
    let arguments = json!({ "count_by": "investor,startup,sector,city", "limit": 40 });
    let result = tools.call(Tool::GetFundingRounds, &arguments).unwrap();
    assert_eq!(result.get("truncated"), None);
    let groups = result["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 4);
    for grouping in groups {
        let listed = grouping["values"].as_array().unwrap().len();
        assert!(listed > 4, "{grouping}");
        let note = format!(
            "`groups` has {listed} of {} values of",
            listed as u64 + grouping["other_values"].as_u64().unwrap()
        );
        let notes = result["notes"].as_array().unwrap();
        assert!(notes.iter().any(|text| text.as_str().unwrap().starts_with(&note)), "{note}: {notes:?}");
    }
}

#[test]
fn an_unknown_value_is_not_said_to_be_one_of_several_conditions() {
    let folder = dataset_with("", "", "", "");
    let (_server, client) = serve(folder.path());
    let page = client.get("/vcs?country=Atlantis&stage=seed").text;
    assert!(!page.contains("nothing matches all conditions"), "{page}");
}
