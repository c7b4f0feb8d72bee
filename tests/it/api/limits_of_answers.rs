//! What an answer says of itself: how many of its records are unknown, what its sums leave out, and which other records,
//! rounds or places the words of a request may mean.

use std::fs;

use mcp::Tool;
use serde_json::{Value, json};

use crate::mcp::tools::TestTools;
use crate::support::harness::{Client, catalog_of};
use crate::support::two_firms::{dataset, dataset_with, serve};

/// The details of the warnings of a request.
fn warnings(client: &Client, path: &str) -> Vec<String> {
    let reply = client.get(&format!("/api/v3/{}", path.replace(' ', "%20")));
    assert_eq!(reply.status, 200, "{path}: {}", reply.text);
    let warnings = reply.json()["meta"]["warnings"].as_array().cloned().unwrap_or_default();
    warnings.iter().map(|warning| warning["detail"].as_str().unwrap().to_owned()).collect()
}

fn notes(tools: &TestTools, tool: Tool, arguments: Value) -> Vec<String> {
    let called = tools.call(tool, &arguments).unwrap();
    let notes = called["notes"].as_array().cloned().unwrap_or_default();
    notes.iter().map(|note| note.as_str().unwrap().to_owned()).collect()
}

fn total(client: &Client, path: &str) -> Value {
    client.get(&format!("/api/v3/{}", path.replace(' ', "%20"))).json()["pagination"]["total"].clone()
}

#[test]
fn unknown_values_are_counted_if_more_than_one_in_five_is() {
    // Of 40 startups of a city, as many as its number have neither a country nor a year.
    let startups: String = (0..=40)
        .flat_map(|city| {
            (0..40).map(move |index| {
                let (country, year) = if index < city { ("", "") } else { ("DE", "2012") };
                format!("s-{city}-{index},Name {city} {index},,,,{country},City {city},{year},,,\n")
            })
        })
        .collect();
    let folder = dataset_with("", &startups, "", "");
    let (_server, client) = serve(folder.path());
    let tools = TestTools::of(catalog_of(folder.path()));
    for unknown in 0..=40 {
        let known = 40 - unknown;
        let expected = |field: &str| -> Vec<String> {
            let note = format!("`{field}` is known for {known} of these 40 startups");
            (unknown * 5 > 40).then_some(note).into_iter().collect()
        };
        let city = format!("City {unknown}");
        let list = format!("startups?city={city}&country=DE");
        assert_eq!(total(&client, &list), known, "{list}");
        let mut found = warnings(&client, &list);
        found.retain(|note| !note.starts_with("nothing matches"));
        assert_eq!(found, expected("country"), "{list}");
        let sorted = format!("startups?city={city}&sort=-founded_year");
        assert_eq!(warnings(&client, &sorted), expected("founded_year"), "{sorted}");
        let called = notes(&tools, Tool::SearchStartups, json!({ "city": city, "country": "DE" }));
        let expected = expected("country");
        assert!(expected.iter().all(|note| called.contains(note)), "{called:?}");
        assert_eq!(called.iter().any(|note| note.contains("is known for")), !expected.is_empty(), "{called:?}");
        // An exclusion counts all that it leaves out, unless another condition needs the value.
        let mut excluded = warnings(&client, &format!("startups?city={city}&not_country=FR"));
        excluded.retain(|note| !note.starts_with("nothing matches"));
        assert_eq!(excluded.len(), usize::from(unknown > 0), "{excluded:?}");
        let both = warnings(&client, &format!("startups?city={city}&country=DE&not_country=FR"));
        assert!(!both.iter().any(|note| note.contains("leaves out")), "{both:?}");
    }
}

#[test]
fn founding_years_after_the_covered_ones_of_a_country_are_named() {
    let of_year = |country: &'static str, year: u32, count: usize| {
        (0..count).map(move |index| {
            let slug = country.to_lowercase();
            format!("{slug}-{year}-{index},Name {country} {year} {index},,,,{country},,{year},,,\n")
        })
    };
    let us = (2000..=2010).flat_map(|year| of_year("US", year, 60)).chain(of_year("US", 2013, 2));
    let startups: String = us.chain((2000..=2016).flat_map(|year| of_year("IN", year, 30))).collect();
    let folder = dataset_with("", &startups, "", "");
    let (_server, client) = serve(folder.path());
    let years = |query: &str| -> Vec<String> {
        let found = warnings(&client, &format!("startups?{query}"));
        found.into_iter().filter(|note| note.contains("covered")).collect()
    };
    assert_eq!(
        years("country=US&founded_from=2012"),
        [
            "years from 2012 are not covered for the United States: 2 of 662 startups of known founding year and country \
             there are of then; the data covers startups founded in 2000 to 2010"
        ]
    );
    assert_eq!(years("founded_from=2012"), ["2012 to 2016 are covered for India only"]);
    let across = years("country=US&founded_from=2008");
    assert!(across.len() == 1 && across[0].starts_with("2011 to 2016 are not covered"), "{across:?}");
    for silent in
        ["country=IN&founded_from=2012", "country=US&founded_from=2003&founded_to=2009", "country=US&founded_to=2009"]
    {
        assert_eq!(years(silent), [""; 0], "{silent}");
    }
    let groups = warnings(&client, "startups/aggregate?group_by=founded_year&country=US&limit=50");
    assert_eq!(groups, ["2011 to 2013 are not covered: the data has few startups of then, so that counts say little"]);
}

#[test]
fn conditions_that_are_not_of_one_round_say_so() {
    let rounds = "r-1,tidewick,seed,100,2011-05-04,,alder\nr-2,tidewick,series-a,500,2014-05-04,,birch\n\
                  r-3,lomar,seed,100,2014-03-04,,alder\nr-4,lomar,series-a,300,2015-03-04,,alder\n";
    let folder = dataset(rounds, "");
    let (_server, client) = serve(folder.path());
    let of = |query: &str, word: &str| -> Vec<String> {
        warnings(&client, &format!("startups?{query}")).into_iter().filter(|note| note.contains(word)).collect()
    };
    // Alder joined a round of both startups, and one of 2014 of one.
    assert_eq!(total(&client, "startups?investor=alder&raised_since=2014"), 2);
    let then = total(&client, "startups?raised_from=alder&raised_since=2014");
    assert_eq!(
        (then, of("investor=alder&raised_since=2014", "any round")),
        (
            json!(1),
            vec![
                "`investor` is a firm of any round, of any date and stage; `raised_from` in place of `investor`, next to \
                 `raised_since`, asks for one round that it joined then: 1 startup has one"
                    .to_owned()
            ]
        )
    );
    assert_eq!(of("investor=alder&last_round_since=2014", "`raised_from` with `raised_since`").len(), 1);
    // Where both mean the same startups there is nothing to say.
    for same in ["investor=alder&raised_since=2011", "raised_from=alder&raised_since=2014", "investor=alder"] {
        assert_eq!(of(same, "raised_from"), [""; 0], "{same}");
    }
    let stage = of("stage=seed", "raised_stage");
    assert!(
        stage.len() == 1 && stage[0].contains("2 startups more") && stage[0].contains("`raised_stage=seed`"),
        "{stage:?}"
    );
    assert_eq!(total(&client, "startups?raised_stage=seed"), 2);
    assert_eq!(of("raised_stage=seed", "`stage` is the stage"), [""; 0]);
    assert_eq!(of("min_raised_usd=400&raised_since=2015", "bounds the sum of all rounds").len(), 1);
    assert_eq!(of("min_raised_usd=400", "bounds the sum"), [""; 0]);
    let tools = TestTools::of(catalog_of(folder.path()));
    let called = notes(&tools, Tool::SearchStartups, json!({ "investor": "alder", "raised_since": "2014" }));
    assert!(called.iter().any(|note| note.contains("`raised_from`")), "{called:?}");
    assert!(client.get("/startups?investor=alder&raised_since=2014").text.contains("raised_from"));
}

#[test]
fn the_total_of_a_startup_says_what_it_leaves_out_or_counts_twice() {
    let many: String =
        (0..200).map(|round| format!("m-{round},quillo,seed,{},2019-01-02,,\n", 1_000_000 + round)).collect();
    let rounds = format!(
        "r-1,tidewick,seed,1000,2019-05-04,,\nr-2,tidewick,series-a,,2020-05-04,,\nr-3,tidewick,seed,3000000000,2018-05-04,,\n\
         r-4,lomar,seed,5000,2019-05-04,,\nr-5,lomar,seed,5000,2019-05-04,,\nr-6,lomar,seed,5200,2019-06-01,,\n\
         r-7,brusk,seed,4000000000,2019-06-01,,\nr-8,plain,seed,700,2019-06-01,,\n{many}"
    );
    let startups = "quillo,Quillo,,,,,,,,,\nbrusk,Brusk,,,,,,,,,\nplain,Plain,,,,,,,,,\n";
    let folder = dataset_with("", startups, &rounds, "");
    let (_server, client) = serve(folder.path());
    let tools = TestTools::of(catalog_of(folder.path()));
    for (slug, expected) in [
        ("tidewick", Some("the amount of 1 of 3 rounds is unknown; a suspect amount of $3,000,000,000 is left out")),
        (
            "lomar",
            Some(
                "1 round equals another in startup, date, stage and amount; if they are one, $5,000 is counted twice; 1 round \
                 of $5,200 is within 45 days and a tenth of the amount of another, and may be the same",
            ),
        ),
        ("brusk", Some("a suspect amount of $4,000,000,000 is left out")),
        ("plain", None),
    ] {
        let expected = expected.map(|limits| format!("`total_raised_usd` of `{slug}`: {limits}"));
        let expected: Vec<String> = expected.into_iter().collect();
        let of_total = |found: Vec<String>| -> Vec<String> {
            found.into_iter().filter(|note| note.starts_with("`total_raised_usd` of")).collect()
        };
        // The record, lists that name it, the tools and the page have one rule.
        assert_eq!(of_total(warnings(&client, &format!("startups/{slug}"))), expected, "{slug}");
        assert_eq!(of_total(warnings(&client, &format!("startups?slug={slug}"))), expected, "{slug}");
        assert_eq!(of_total(warnings(&client, &format!("startups?q={slug}"))), expected, "{slug}");
        let called = notes(&tools, Tool::SearchStartups, json!({ "slug": slug }));
        assert_eq!(of_total(called), expected, "{slug}");
        let page = client.get(&format!("/startups/{slug}")).text;
        assert_eq!(
            page.contains("a suspect amount") || page.contains("A suspect amount"),
            slug == "tidewick" || slug == "brusk"
        );
    }
    // A list that names no startup has no room for them.
    assert_eq!(warnings(&client, "startups"), [""; 0]);
    let sums = warnings(&client, "funding-rounds?startup=lomar&amounts=true");
    assert!(sums.iter().any(|note| note.starts_with("1 round equals another")), "{sums:?}");
    // Among many rounds one says nothing.
    let all = warnings(&client, "funding-rounds?amounts=true");
    assert!(!all.iter().any(|note| note.contains("equals another")), "{all:?}");
    // Suspect amounts have no place in the order of the others, but one among themselves.
    let order = |sort: &str| -> Vec<Value> {
        let listed = client.get(&format!("/api/v3/funding-rounds?suspect=true&sort={sort}")).json();
        listed["data"].as_array().unwrap().iter().map(|round| round["id"].clone()).collect()
    };
    assert_eq!(
        (order("-amount_usd"), order("amount_usd")),
        (vec![json!("r-7"), json!("r-3")], vec![json!("r-3"), json!("r-7")])
    );
}

#[test]
fn a_whole_name_says_which_records_may_be_the_same() {
    let firms = "rowan-global,Rowan Global,,vc,,,,,,,,,,\nrowan-global-management,Rowan Global Management,,vc,,,US,,,,,,,\n\
                 rowan-global-india,Rowan Global India,,vc,,,,,,,,,,\nrowanbury,Rowanbury Capital,,vc,,,,,,,,,,\n";
    let startups = "vela,Vela,,,,IN,Pune,,,,\nvelas,Vela’s,,,,IN,Pune,,,,\nvela-cabs,Vela Cabs,,,,IN,Pune,,,,\n\
                    velour,Velour,,,,IN,Pune,,,,\nvela-us,Vela,,,,US,Boston,,,,\n";
    let rounds = "r-1,vela,seed,100,2019-05-04,,rowan-global\nr-2,velas,seed,100,2019-05-05,,rowan-global-management\n\
                  r-3,vela-cabs,seed,100,2019-05-06,,rowan-global\nr-4,velour,seed,100,2019-05-07,,rowanbury\n\
                  r-5,tidewick,seed,100,2019-05-07,,rowan-global-india\n";
    let folder = dataset_with(firms, startups, rounds, "");
    let (_server, client) = serve(folder.path());
    let read_as = |path: &str| -> Vec<String> {
        warnings(&client, path).into_iter().filter(|note| note.contains("was read as")).collect()
    };
    assert_eq!(
        read_as("funding-rounds?investor=Rowan Global Management"),
        ["`investor` was read as rowan-global-management (1 startup); also rowan-global (2), rowan-global-india (1)"]
    );
    assert_eq!(read_as("funding-rounds?investor=rowan-global-management"), [""; 0]);
    assert_eq!(read_as("funding-rounds?investor=Rowanbury Capital"), [""; 0]);
    let cabs = read_as("funding-rounds?startup=Vela Cabs");
    assert!(cabs.len() == 1 && cabs[0].ends_with("also vela (1)"), "{cabs:?}");
    let plural = read_as("funding-rounds?startup=Vela%E2%80%99s");
    assert!(plural.len() == 1 && plural[0].ends_with("also vela (1)"), "{plural:?}");
    assert_eq!(read_as("funding-rounds?startup=Velour"), [""; 0]);
    let groups = warnings(&client, "funding-rounds/aggregate?group_by=investor");
    let near = "groups of similar names, which may be of one firm: rowan-global (2) with rowan-global-india (1) and \
                rowan-global-management (1)";
    assert!(groups.iter().any(|note| note == near), "{groups:?}");
    let tools = TestTools::of(catalog_of(folder.path()));
    let called = notes(&tools, Tool::GetFundingRounds, json!({ "count_by": "investor" }));
    assert!(called.iter().any(|note| note == near), "{called:?}");
    let profile = notes(&tools, Tool::GetVcProfile, json!({ "name": "Rowan Global Management" }));
    assert!(profile.iter().any(|note| note.contains("also rowan-global (2)")), "{profile:?}");
}

#[test]
fn people_of_a_place_have_the_coverage_of_its_organizations() {
    let startups = "niger-one,Niger One,,,,NG,Lagos,,,,\nniger-two,Niger Two,,,,NG,Lagos,,,,\n";
    let folder = dataset_with("", startups, "", "ada,Ada Quill,Founder,startup,tidewick,\n");
    let (_server, client) = serve(folder.path());
    let people = |query: &str| -> Vec<String> {
        let found = warnings(&client, &format!("people?{query}"));
        found.into_iter().filter(|note| note.starts_with("people are known")).collect()
    };
    assert_eq!(people("country=NG"), ["people are known of 0 of the 2 startups there"]);
    assert_eq!(people("city=Lagos&role=founder"), ["people are known of 0 of the 2 startups there"]);
    assert_eq!(people("role=founder"), ["people are known of 1 of 4 startups and of 0 of 2 firms"]);
    assert_eq!(people("role=founder&kind=firm"), ["people are known of 0 of 2 firms"]);
    for silent in ["", "q=Ada", "country=GB&kind=startup", "organization=tidewick"] {
        assert_eq!(people(silent), [""; 0], "{silent}");
    }
    let tools = TestTools::of(catalog_of(folder.path()));
    let called = notes(&tools, Tool::SearchPeople, json!({ "role": "founder", "country": "NG" }));
    assert!(called.iter().any(|note| note.contains("0 of the 2 startups there")), "{called:?}");
}

#[test]
fn a_city_with_the_name_of_a_larger_state_says_so_and_is_the_state_in_its_country() {
    let of = |city: &'static str, country: &'static str, count: usize| {
        (0..count).map(move |index| format!("{}-{index},{city} {index},,,,{country},{city},,,,\n", city.to_lowercase()))
    };
    let startups: String = of("Ontario", "US", 2).chain(of("Toronto", "CA", 5)).chain(of("Seattle", "US", 9)).collect();
    let folder = dataset_with("", &startups, "", "");
    let (_server, client) = serve(folder.path());
    let note = "`Ontario` (2) was read as a city; the province (5) is `city=Ontario province` with `country=CA`";
    let found = warnings(&client, "startups?city=Ontario");
    assert!(found.iter().any(|detail| detail == note), "{found:?}");
    assert_eq!(total(&client, "startups?city=Ontario province&country=CA"), 5);
    // In its own country the name is that of the province, as no city there has it.
    assert_eq!(total(&client, "startups?city=Ontario&country=CA"), 5);
    assert_eq!(total(&client, "startups?city=Ontario&country=US"), 2);
    let seattle = warnings(&client, "startups?city=Seattle");
    assert!(!seattle.iter().any(|detail| detail.contains("was read as a city")), "{seattle:?}");
}

#[test]
fn firms_without_a_main_sector_may_have_invested_in_it() {
    let firms = "rowan,Rowan Capital,,vc,,,,,,,games,,,\n";
    let startups = "vela,Vela,,,,IN,Pune,,,fintech,\n";
    let folder = dataset_with(firms, startups, "r-1,vela,seed,100,2019-05-04,,rowan\n", "");
    fs::write(folder.path().join("sectors.csv"), "slug,name\nfintech,Fintech\ngames,Games\n").unwrap();
    let (_server, client) = serve(folder.path());
    let notes = |sector: &str| -> Vec<String> {
        let found = warnings(&client, &format!("vcs?not_sector={sector}"));
        found.into_iter().filter(|note| note.contains("main ones")).collect()
    };
    assert_eq!(
        notes("fintech"),
        [
            "1 firm of these has invested in startups of `fintech`, which is not among the firm's own sectors, its main ones; \
             the rounds of this `sector`, counted by `investor`, name all"
        ]
    );
    assert_eq!(notes("games"), [""; 0]);
}

#[test]
fn names_with_hardly_a_word_of_a_question_are_marked_as_similar() {
    let folder = dataset_with("", "stripes,Stripes,,,,,,,,,\nvaluation-app,Valuation App,,,,,,,,,\n", "", "");
    let (_server, client) = serve(folder.path());
    let codes = |text: &str| -> Vec<String> {
        let listed = client.list("/api/v3/startups", &[("q", text)]).json();
        assert_ne!(listed["pagination"]["total"], 0, "{text}");
        let warnings = listed["meta"]["warnings"].as_array().cloned().unwrap_or_default();
        warnings.iter().map(|warning| warning["code"].as_str().unwrap().to_owned()).collect()
    };
    for question in ["What is Stripes valuing", "when were Stripes listed"] {
        assert!(codes(question).contains(&"similar".to_owned()), "{question}: {:?}", codes(question));
    }
    assert!(!codes("Stripes").contains(&"similar".to_owned()));
}
