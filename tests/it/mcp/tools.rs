//! The tools on the bundled release.

use std::sync::Arc;

use catalog::{Catalog, ParameterError};
use data::Table;
use mcp::{MAX_RESULT_BYTES, Tool, ToolBackend, ToolCall};
use release::ActiveRelease;
use serde_json::{Map, Value, json};

use crate::api::people::with_namesakes;
use crate::support::harness::{Dice, bundled, cases, catalog_of, real_catalog};
use crate::support::json_schema::{misfit, misfit_exactly};

/// The tools on a release.
pub struct TestTools {
    pub catalog: Arc<Catalog>,
    backend: ToolBackend,
}

impl TestTools {
    pub fn of(catalog: impl Into<Arc<Catalog>>) -> Self {
        Self::with_secret(catalog, [7; 32])
    }

    /// `secret` authenticates cursors.
    pub fn with_secret(catalog: impl Into<Arc<Catalog>>, secret: [u8; 32]) -> Self {
        let catalog = catalog.into();
        let releases = Arc::new(ActiveRelease::new(Arc::clone(&catalog), 3));
        Self { catalog, backend: ToolBackend::new(releases, "https://api.example.com/", secret) }
    }

    pub fn bundled() -> Self {
        Self::of(bundled())
    }

    /// Calls a tool and checks the result against its schema.
    pub fn call(&self, tool: Tool, arguments: &Value) -> Result<Value, Vec<ParameterError>> {
        let call = ToolCall::parse(tool, arguments.as_object().unwrap())?;
        let json = self.backend.current().call(&call).inspect_err(|errors| assert!(!errors.is_empty()))?;
        assert!(json.len() <= MAX_RESULT_BYTES, "{} {arguments:?}: {} bytes", tool.name(), json.len());
        let result: Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
        let schema = tool.output_schema();
        assert_eq!(misfit_exactly(&schema, &schema, &result, tool.name()), None, "{arguments:?}");
        Ok(result)
    }
}

fn pick<'a>(from: &[&'a str], dice: &mut Dice) -> &'a str {
    from[dice.below(from.len())]
}

/// Arguments that match the tool's schema, most of them with known values.
fn invented(tool: Tool, catalog: &Catalog, dice: &mut Dice) -> Map<String, Value> {
    let snapshot = catalog.snapshot();
    let name = |table: Table, dice: &mut Dice| -> (String, String) {
        let row = dice.below(snapshot.rows(table) as usize) as u32;
        (snapshot.slug(table, row).to_owned(), snapshot.name(table, row).to_owned())
    };
    let schema = tool.input_schema();
    let mut arguments = Map::new();
    // Few of many arguments, so that something matches.
    let few = tool.arguments().len() > 8;
    let chosen = tool.arguments().iter().filter(|_| if few { dice.below(10) == 0 } else { dice.below(3) > 0 });
    for argument in chosen.collect::<Vec<_>>() {
        let value = match argument.name {
            "query" | "name" => {
                let table = [Table::Firms, Table::Startups, Table::People][dice.below(3)];
                let name = name(table, dice).1;
                let length = name.chars().count();
                let cut: String = name.chars().take(1 + dice.below(length)).collect();
                json!(if dice.below(2) == 0 { name } else { cut })
            }
            "stage" if tool != Tool::SearchStartups => match dice.below(3) {
                0 => json!("seed,series-a"),
                1 => json!("growth"),
                _ => json!("pre-seed"),
            },
            "sector" => json!(name(Table::Sectors, dice).0),
            "country" => json!(pick(&["DE", "US", "FR", "IN", "BR"], dice)),
            "status" => json!(pick(&["operating", "acquired"], dice)),
            "count_by" => json!("country"),
            "kind" if tool == Tool::SearchPeople => json!(pick(&["firm", "startup"], dice)),
            "slug" if few => json!(catalog.example_slug(tool.resource().unwrap().table())),
            "investor" | "slug" | "organization" => json!(name(Table::Firms, dice).0),
            "startup" => json!(name(Table::Startups, dice).0),
            "since" => json!("2015-01-01"),
            "until" => json!("2026-12-31"),
            "sort" if tool == Tool::SearchVcs => {
                json!(pick(&["-health_score,name", "ghosting_rate", "name", "-responsiveness"], dice))
            }
            "reviews_sort" => json!(pick(&["rating", "-rating,created_on", "-created_on"], dice)),
            "check_usd" => json!(500_000),
            "raise_usd" => json!(2_000_000),
            "fields" => json!(pick(&["*", "slug", "slug,url,country", "sectors"], dice)),
            "cursor" => continue,
            "min_health_score" => json!(dice.below(101)),
            "limit" | "reviews_limit" | "portfolio_limit" => json!(1 + dice.below(60)),
            other => {
                let resource = tool.resource().unwrap_or_else(|| panic!("no values for {other}"));
                let example = catalog.example(resource, resource.parameter(other).unwrap());
                match schema["properties"][other]["type"].as_str() {
                    Some("number" | "boolean") => example.parse().unwrap(),
                    _ => json!(example),
                }
            }
        };
        arguments.insert(argument.name.to_owned(), value);
    }
    arguments
}

/// Calls the tools with invented arguments; every result must match its schema. Returns the number of results, and how
/// many of them have items.
fn results_fit(tools: &TestTools, calls: usize) -> (usize, usize) {
    let catalog = &tools.catalog;
    let mut dice = Dice(7);
    let (mut found, mut with_items) = (0, 0);
    for round in 0..calls {
        let tool = Tool::ALL[round % Tool::ALL.len()];
        let arguments = Value::Object(invented(tool, catalog, &mut dice));
        let schema = tool.input_schema();
        assert_eq!(misfit(&schema, &schema, &arguments, tool.name()), None);
        match tools.call(tool, &arguments) {
            Ok(result) => {
                found += 1;
                let items = result.get("items").or(result.get("portfolio")).and_then(Value::as_array);
                with_items += usize::from(items.is_some_and(|items| !items.is_empty()));
            }
            // Invented arguments may contradict each other.
            Err(errors) => {
                found += usize::from(errors.iter().all(|error| error.detail.contains("so that nothing matches")))
            }
        }
    }
    (found, with_items)
}

#[test]
fn every_result_matches_its_schema() {
    let (found, with_items) = results_fit(&TestTools::bundled(), 600);
    // A profile without slug and name is an error, and `raise_usd` with a name or an order.
    assert!(found > 450 && with_items > 60, "{found} {with_items}");
}

#[test]
fn every_result_from_real_data_matches_its_schema() {
    let Some(catalog) = real_catalog() else { return };
    let tools = TestTools::of(catalog);
    let calls = cases(1_200, 480) as usize;
    let (found, with_items) = results_fit(&tools, calls);
    assert!(found * 4 > calls * 3 && with_items * 20 > calls, "{found} {with_items}");

    let crowd = tools.call(Tool::SearchStartups, &json!({ "query": "a" })).unwrap();
    assert!(crowd["total"].as_u64().unwrap() > 5_000, "{crowd}");
    assert!(crowd["items"].as_array().unwrap().iter().all(|item| item["match"].is_string()), "{crowd}");
    let loose = tools.call(Tool::SearchStartups, &json!({ "query": "uber taxi" })).unwrap();
    let is_loose = |item: &Value| item["match"] == "relaxed";
    assert!(loose["items"][0]["slug"] == "uber" && loose["items"].as_array().unwrap().iter().all(is_loose), "{loose}");
    let mut notes = loose["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap());
    assert!(notes.any(|note| note == "no name has all words; the best match leaves out `taxi`"), "{loose}");
}

#[test]
fn a_search_is_limited_and_says_so() {
    let tools = TestTools::bundled();
    let result = tools.call(Tool::SearchVcs, &json!({ "limit": 1_000 })).unwrap();
    let items = result["items"].as_array().unwrap().len();
    assert!(items <= 50 && items > 20);
    assert_eq!(result["truncated"], if items < 50 { json!(true) } else { Value::Null });
    assert_eq!(result["notes"][0], "`limit` is at most 50: 50 was used");
    if items < 50 {
        let note = result["notes"][1].as_str().unwrap();
        assert!(note.contains(&format!("more than {items} items")) && note.contains("`next_cursor`"), "{note}");
    }
    let default = tools.call(Tool::SearchVcs, &json!({})).unwrap();
    assert_eq!(default["items"].as_array().unwrap().len(), 10);
    assert_eq!(default["total"], tools.catalog.snapshot().rows(Table::Firms));
}

#[test]
fn a_profile_is_found_by_slug_and_by_name() {
    let tools = TestTools::bundled();
    let catalog = &tools.catalog;
    let snapshot = catalog.snapshot();
    for row in (0..snapshot.rows(Table::Firms)).step_by(7) {
        let (slug, name) = (snapshot.slug(Table::Firms, row), snapshot.name(Table::Firms, row));
        let by_slug = tools.call(Tool::GetVcProfile, &json!({ "slug": slug.to_uppercase() })).unwrap();
        assert_eq!(by_slug["profile"]["slug"], slug);
        assert_eq!(by_slug["profile"]["url"], format!("https://api.example.com/vcs/{slug}"));
        let parts = if by_slug["score"]["value"].is_null() { 0 } else { 5 };
        assert_eq!(by_slug["score"]["components"].as_array().map(Vec::len), Some(parts), "{slug}");
        let by_name = tools.call(Tool::GetVcProfile, &json!({ "name": name })).unwrap();
        match by_name["profile"]["slug"].as_str() {
            Some(found) => assert_eq!(found, slug, "{name}"),
            None => {
                let candidates = by_name["candidates"].as_array().unwrap();
                assert!(candidates.iter().any(|candidate| candidate["slug"] == slug), "{name}: {candidates:?}");
            }
        }
    }
}

#[test]
fn a_firm_that_is_not_clear_is_not_guessed() {
    let tools = TestTools::bundled();
    let catalog = &tools.catalog;
    let slug = catalog.snapshot().slug(Table::Firms, 0).to_owned();
    let near = tools.call(Tool::GetVcProfile, &json!({ "slug": format!("{slug}x") })).unwrap();
    assert_eq!(near["profile"], Value::Null);
    let candidates = near["candidates"].as_array().unwrap();
    assert!(candidates.iter().any(|candidate| candidate["slug"] == *slug), "{candidates:?}");
    let none = tools.call(Tool::GetVcProfile, &json!({ "name": "qqqq zzzz xxxx" })).unwrap();
    assert_eq!(none["profile"], Value::Null);
    assert_eq!(none["notes"][0], "no firm is named exactly `qqqq zzzz xxxx`");
    assert!(none["notes"][1].as_str().unwrap().contains("search_vcs"), "{none}");
    let startup = catalog.snapshot().name(Table::Startups, 0).to_owned();
    let other = tools.call(Tool::GetVcProfile, &json!({ "name": startup })).unwrap();
    assert!(other["notes"][0].as_str().unwrap().contains("call search_startups with `slug="), "{other}");
    let missing = tools.call(Tool::GetVcProfile, &json!({})).unwrap_err();
    assert!(missing[0].detail.contains("`slug` or `name`"), "{missing:?}");
}

#[test]
fn errors_in_values_name_the_argument() {
    let tools = TestTools::bundled();
    for (tool, arguments, argument) in [
        (Tool::SearchVcs, json!({ "sector": "fintec" }), "sector"),
        (Tool::SearchVcs, json!({ "stage": "sede" }), "stage"),
        (Tool::SearchVcs, json!({ "country": ["DE", "Atlantis"] }), "country"),
        (Tool::SearchVcs, json!({ "sort": "healthscore" }), "sort"),
        (Tool::SearchStartups, json!({ "investor": "no-such-firm-at-all" }), "investor"),
        (Tool::SearchStartups, json!({ "status": "dead" }), "status"),
        (Tool::GetFundingRounds, json!({ "startup": "no-such-startup-at-all" }), "startup"),
        (Tool::SearchPeople, json!({ "organization": "no-such-firm-at-all" }), "organization"),
        (Tool::SearchPeople, json!({ "kind": "vc" }), "kind"),
    ] {
        let errors = tools.call(tool, &arguments).unwrap_err();
        assert_eq!(errors[0].parameter, argument, "{arguments}: {errors:?}");
    }
    let fintec = tools.call(Tool::SearchVcs, &json!({ "sector": "fintec" })).unwrap_err();
    assert_eq!(fintec[0].did_you_mean.as_deref(), Some("fintech"));
}

#[test]
fn a_slug_and_a_name_must_mean_the_same_firm() {
    let tools = TestTools::bundled();
    let profile = |slug: &str, name: &str| tools.call(Tool::GetVcProfile, &json!({ "slug": slug, "name": name }));
    for name in ["Alder Capital", "alder capital", "Aldr Capital"] {
        let same = profile("alder-capital", name).unwrap();
        assert_eq!(same["profile"]["slug"], "alder-capital", "{name}");
        assert_eq!(same.get("notes"), None, "{name}");
    }
    let different = profile("alder-capital", "Lunpentanza Ventures").unwrap();
    assert_eq!(different["profile"], Value::Null);
    let slugs: Vec<&str> = different["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|candidate| candidate["slug"].as_str().unwrap())
        .collect();
    assert_eq!(slugs[..2], ["alder-capital", "lunpentanza-ventures"]);
    assert_eq!(different["notes"][0], "the slug and the name belong to different firms");
    let by_name = profile("alder-captal", "Alder Capital").unwrap();
    assert_eq!(by_name["profile"]["slug"], "alder-capital");
    assert_eq!(by_name["notes"], json!(["no firm has this slug; the name was used"]));
}

#[test]
fn a_profile_has_what_a_founder_needs_before_a_meeting() {
    let tools = TestTools::bundled();
    let mut complete = 0;
    for row in 0..tools.catalog.snapshot().rows(Table::Firms) {
        let slug = tools.catalog.snapshot().slug(Table::Firms, row);
        let result = tools.call(Tool::GetVcProfile, &json!({ "slug": slug, "reviews_limit": 50 })).unwrap();
        let (profile, score) = (&result["profile"], &result["score"]);
        assert_eq!(score["value"], profile["health_score"], "{slug}");
        let parts = score["components"].as_array().unwrap();
        for part in parts.iter().chain([score, &result["ghosting"]]) {
            assert!(part["meaning"].as_str().is_some_and(|meaning| meaning.len() > 30), "{slug}: {part}");
        }
        let points: i64 = parts.iter().map(|part| part["points"].as_i64().unwrap()).sum();
        assert_eq!(points, score["value"].as_i64().unwrap_or(0), "{slug}");
        let ghosting = &result["ghosting"];
        assert_eq!(ghosting["rate"], profile["ghosting_rate"]);
        let (never, answered) = (ghosting["never_answered"].as_f64().unwrap(), ghosting["answered"].as_f64().unwrap());
        match ghosting["rate"].as_f64() {
            // Reviewers count by the age of their reviews, so that the share alone tells only whether there are any.
            Some(rate) => assert!((0.0..=100.0).contains(&rate) && (rate > 0.0 || never == 0.0), "{slug}: {ghosting}"),
            None => assert!(score["value"].is_null() || never + answered < 20.0, "{slug}: {ghosting}"),
        }
        let by_rating = result["reviews_by_rating"].as_object().unwrap();
        let reviews: u64 = by_rating.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(profile["review_count"], reviews, "{slug}");
        let shown = result["reviews"].as_array().unwrap();
        assert!(shown.len() as u64 == reviews.min(50) || result["truncated"] == true, "{slug}");
        let portfolio = result["portfolio"].as_array().unwrap();
        assert_eq!(portfolio.len() as u64, profile["portfolio_count"].as_u64().unwrap().min(10), "{slug}");
        if let Some(latest) = portfolio.first() {
            assert_eq!(latest["last_joined"]["announced_on"], profile["last_investment_on"], "{slug}");
            let led = &latest["last_joined"]["led"];
            assert!(led.is_boolean() || led.is_null());
        }
        let has_all = !score["value"].is_null() && !portfolio.is_empty() && !profile["check_min_usd"].is_null();
        let known = result["people"].as_array().is_some_and(|people| !people.is_empty());
        complete += usize::from(has_all && known && !profile["top_co_investors"].as_array().unwrap().is_empty());
    }
    assert!(complete > 50, "{complete}");
}

#[test]
fn results_identify_records_by_slug_and_url_and_rounds_by_id() {
    let tools = TestTools::bundled();
    for (tool, pages) in [(Tool::SearchVcs, "vcs"), (Tool::SearchStartups, "startups"), (Tool::SearchPeople, "people")]
    {
        let result = tools.call(tool, &json!({})).unwrap();
        for item in result["items"].as_array().unwrap() {
            let slug = item["slug"].as_str().unwrap();
            assert_eq!(item["url"], format!("https://api.example.com/{pages}/{slug}"));
        }
    }
    let rounds = tools.call(Tool::GetFundingRounds, &json!({})).unwrap();
    for round in rounds["items"].as_array().unwrap() {
        assert!(round["startup"]["slug"].is_string() && round["id"].is_string(), "{round}");
    }
    let profile = tools.call(Tool::GetVcProfile, &json!({ "slug": "alder-capital" })).unwrap();
    assert!(profile["reviews"].as_array().unwrap().iter().all(|review| review.get("id").is_none()));
}

#[test]
fn a_search_without_matches_says_what_to_do() {
    let tools = TestTools::bundled();
    let empty = tools.call(Tool::SearchVcs, &json!({ "country": "DE", "min_health_score": 100 })).unwrap();
    assert_eq!((&empty["total"], &empty["items"]), (&json!(0), &json!([])));
    let german = tools.call(Tool::SearchVcs, &json!({ "country": "DE" })).unwrap()["total"].clone();
    let unscored = json!({ "country": "DE", "unknown": ["health_score"] });
    let unscored = tools.call(Tool::SearchVcs, &unscored).unwrap()["total"].clone();
    assert!(unscored.as_u64().is_some_and(|count| count > 0), "{unscored}");
    let note = format!(
        "nothing matches all conditions; without `min_health_score` {german} records match; `min_health_score` is unknown for \
         {unscored} of them"
    );
    assert_eq!(empty["notes"].as_array().unwrap().last(), Some(&json!(note)));
    let mistyped = tools.call(Tool::SearchVcs, &json!({ "query": "Alder Kapitol Partners Group" })).unwrap();
    let is_helpful = mistyped["total"].as_u64() > Some(0) || mistyped.get("did_you_mean").is_some();
    assert!(is_helpful, "{mistyped}");
}

#[test]
fn matches_are_counted_by_group_without_items() {
    let tools = TestTools::bundled();
    let arguments = json!({ "count_by": "year,lead_investor", "country": "US", "limit": 0 });
    let result = tools.call(Tool::GetFundingRounds, &arguments).unwrap();
    assert_eq!(result["items"], json!([]));
    let groups = result["groups"].as_array().unwrap();
    let names: Vec<&Value> = groups.iter().map(|group| &group["by"]).collect();
    assert_eq!(names, ["year", "lead"]);
    let years = groups[0]["values"].as_array().unwrap();
    // Without such records there is no such part.
    let count = |value: &Value| value["count"].as_u64().unwrap_or(0);
    let counted: u64 = years.iter().chain([&groups[0]["other"], &groups[0]["unknown"]]).map(count).sum();
    assert_eq!(counted, result["total"].as_u64().unwrap());
    for year in years {
        let name = &year["value"];
        let of_year = json!({ "country": "US", "since": name, "until": name, "limit": 1 });
        let rounds = tools.call(Tool::GetFundingRounds, &of_year).unwrap();
        assert_eq!((&rounds["total"], &rounds["sum_usd"]), (&year["count"], &year["amounts"]["sum_usd"]), "{name}");
    }
    let wrong = tools.call(Tool::SearchVcs, &json!({ "count_by": "contry" })).unwrap_err();
    assert_eq!((wrong[0].parameter.as_str(), wrong[0].did_you_mean.as_deref()), ("count_by", Some("country")));
}

#[test]
fn the_reviews_of_a_profile_are_sorted_as_asked() {
    let tools = TestTools::bundled();
    let profile = |sort: Value| {
        let arguments = json!({ "slug": "alder-capital", "reviews_limit": 50, "reviews_sort": sort });
        tools.call(Tool::GetVcProfile, &arguments).unwrap()
    };
    let column = |profile: &Value, name: &str| -> Vec<String> {
        profile["reviews"].as_array().unwrap().iter().map(|review| review[name].to_string()).collect()
    };
    let (newest, lowest, highest) = (profile(Value::Null), profile(json!("rating")), profile(json!(["-rating"])));
    assert!(
        column(&newest, "created_on").is_sorted_by(|one, two| one >= two) && !column(&newest, "rating").is_sorted()
    );
    assert!(column(&lowest, "rating").is_sorted());
    assert!(column(&highest, "rating").is_sorted_by(|one, two| one >= two));
    let sorted = |profile: &Value| {
        let mut bodies = column(profile, "body");
        bodies.sort_unstable();
        bodies
    };
    assert!(sorted(&newest).len() > 20 && sorted(&newest) == sorted(&lowest) && sorted(&lowest) == sorted(&highest));
    let reviews: u64 =
        newest["score"]["by_year"].as_array().unwrap().iter().map(|year| year["review_count"].as_u64().unwrap()).sum();
    assert_eq!(json!(reviews), newest["profile"]["review_count"]);

    let wrong = json!({ "slug": "alder-capital", "reviews_sort": "-ratng" });
    let errors = tools.call(Tool::GetVcProfile, &wrong).unwrap_err();
    assert_eq!((errors[0].parameter.as_str(), errors[0].did_you_mean.as_deref()), ("reviews_sort", Some("-rating")));
    let accepted = errors[0].accepted.as_ref().unwrap();
    assert!(accepted.contains(&"created_on".to_owned()), "{errors:?}");
}

#[test]
fn people_have_their_other_roles() {
    let folder = with_namesakes();
    let tools = TestTools::of(catalog_of(folder.path()));
    let found = tools.call(Tool::SearchPeople, &json!({ "query": "Zoe Ortiz", "limit": 50 })).unwrap();
    let items = found["items"].as_array().unwrap();
    let item = |slug: &str| items.iter().find(|item| item["slug"] == slug).unwrap();
    let slugs = |roles: &Value| -> Vec<String> {
        let roles = roles.as_array().into_iter().flatten();
        let mut slugs: Vec<String> = roles.map(|role| role["slug"].as_str().unwrap().to_owned()).collect();
        slugs.sort_unstable();
        slugs
    };
    assert_eq!(slugs(&item("zoe-one")["other_roles"]), ["zoe-four", "zoe-six", "zoe-three", "zoe-two"]);
    assert_eq!(item("zoe-one")["other_roles"][3]["reason"], "place", "the weaker reason is the last");
    let alone = tools.call(Tool::SearchPeople, &json!({ "slug": "zoe-other" })).unwrap();
    assert_eq!((&alone["total"], alone["items"][0].get("other_roles")), (&json!(1), None));
    // A profile has the same.
    let profile = tools.call(Tool::GetVcProfile, &json!({ "slug": "zoe-angels" })).unwrap();
    let person = profile["people"].as_array().unwrap().iter().find(|person| person["slug"] == "zoe-four").unwrap();
    assert_eq!(person["other_roles"], item("zoe-four")["other_roles"]);
    assert_eq!(slugs(&person["other_roles"]), ["zoe-five", "zoe-one", "zoe-two"]);
    let selected =
        tools.call(Tool::SearchPeople, &json!({ "slug": "zoe-one", "fields": "other_roles.reason" })).unwrap();
    assert_eq!(selected["items"][0]["other_roles"].as_array().unwrap().len(), 4);
}
