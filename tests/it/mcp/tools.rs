//! The tools on the bundled release.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use venturedex::catalog::{Catalog, Live, bundled};
use venturedex::dataset::Table;
use venturedex::web::mcp::{Answer, Call, LONGEST, Mistake, Tool, Tools};

use super::schema::misfit;
use crate::stage::{catalog_of, real_data};

fn release() -> Live<Catalog> {
    Live::new(Arc::new(bundled().unwrap()), 3)
}

fn called(live: &Live<Catalog>, tool: Tool, arguments: &Value) -> Result<Value, Vec<Mistake>> {
    let arguments = arguments.as_object().unwrap();
    let call = Call::read(tool, arguments)?;
    match Tools::current(live).answer(&call) {
        Answer::Found(text) => {
            assert!(text.len() <= LONGEST, "{} {arguments:?}: {} bytes", tool.name(), text.len());
            let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            let misfit = misfit(&tool.output_schema(), &value, tool.name());
            assert_eq!(misfit, None, "{arguments:?}");
            Ok(value)
        }
        Answer::Wrong(mistakes) => {
            assert!(!mistakes.is_empty());
            Err(mistakes)
        }
    }
}

/// A sequence of numbers that look unordered, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// Arguments that fit the tool's schema, most of them with values that the release knows.
fn invented(tool: Tool, catalog: &Catalog, dice: &mut Dice) -> Map<String, Value> {
    let snapshot = catalog.snapshot();
    let name = |table: Table, dice: &mut Dice| -> (String, String) {
        let row = dice.below(snapshot.rows(table) as usize) as u32;
        (snapshot.slug(table, row).to_owned(), snapshot.name(table, row).to_owned())
    };
    let mut arguments = Map::new();
    for argument in tool.arguments().iter().filter(|_| dice.below(3) > 0).collect::<Vec<_>>() {
        let value = match argument.name {
            "query" | "name" => {
                let table = [Table::Firms, Table::Startups, Table::People][dice.below(3)];
                let name = name(table, dice).1;
                let length = name.chars().count();
                let cut: String = name.chars().take(1 + dice.below(length)).collect();
                json!(if dice.below(2) == 0 { name } else { cut })
            }
            "stage" => match dice.below(3) {
                0 => json!(["seed", "series-a"]),
                1 => json!("growth"),
                _ => json!("pre-seed"),
            },
            "sector" => json!(name(Table::Sectors, dice).0),
            "country" => json!(dice.pick(&["DE", "US", "FR", "IN", "BR"])),
            "status" => json!(dice.pick(&["operating", "acquired"])),
            "kind" => json!(dice.pick(&["firm", "startup"])),
            "investor" | "slug" | "organization" => json!(name(Table::Firms, dice).0),
            "startup" => json!(name(Table::Startups, dice).0),
            "since" => json!("2015-01-01"),
            "until" => json!("2026-12-31"),
            "sort" => json!(dice.pick(&["-health_score,name", "ghosting_rate", "name"])),
            "check_usd" => json!(500_000),
            "min_health_score" => json!(dice.below(101)),
            "limit" | "reviews_limit" | "portfolio_limit" => json!(1 + dice.below(60)),
            other => panic!("no values for {other}"),
        };
        arguments.insert(argument.name.to_owned(), value);
    }
    arguments
}

/// Calls the tools with invented arguments; every answer must fit its schema. Tells how many were found, and how many
/// of those had items.
fn answers_fit(live: &Live<Catalog>, calls: usize) -> (usize, usize) {
    let catalog = Live::current(live);
    let mut dice = Dice(7);
    let (mut found, mut with_items) = (0, 0);
    for round in 0..calls {
        let tool = Tool::ALL[round % Tool::ALL.len()];
        let arguments = Value::Object(invented(tool, &catalog, &mut dice));
        assert_eq!(misfit(&tool.input_schema(), &arguments, tool.name()), None);
        if let Ok(answer) = called(live, tool, &arguments) {
            found += 1;
            let items = answer.get("items").or(answer.get("portfolio")).and_then(Value::as_array);
            with_items += usize::from(items.is_some_and(|items| !items.is_empty()));
        }
    }
    (found, with_items)
}

#[test]
fn every_answer_fits_its_schema() {
    let (found, with_items) = answers_fit(&release(), 600);
    // Only a profile without slug and name is wrong here.
    assert!(found > 560 && with_items > 100, "{found} {with_items}");
}

#[test]
fn every_answer_from_real_data_fits_its_schema() {
    let Some(folder) = real_data() else { return };
    let live = Live::new(Arc::new(catalog_of(&folder)), 3);
    let (found, with_items) = answers_fit(&live, 1_200);
    assert!(found > 1_100 && with_items > 150, "{found} {with_items}");
}

#[test]
fn a_search_is_limited_and_says_so() {
    let live = release();
    let answer = called(&live, Tool::SearchVcs, &json!({ "limit": 1_000 })).unwrap();
    let items = answer["items"].as_array().unwrap().len();
    assert!(items <= 50 && items > 20);
    assert_eq!(answer["truncated"], if items < 50 { json!(true) } else { Value::Null });
    assert_eq!(answer["notes"], json!(["`limit` is at most 50: 50 was used"]));
    let default = called(&live, Tool::SearchVcs, &json!({})).unwrap();
    assert_eq!(default["items"].as_array().unwrap().len(), 10);
    assert_eq!(default["total"], Live::current(&live).snapshot().rows(Table::Firms));
}

#[test]
fn a_profile_is_found_by_slug_and_by_name() {
    let live = release();
    let catalog = Live::current(&live);
    let snapshot = catalog.snapshot();
    for row in (0..snapshot.rows(Table::Firms)).step_by(7) {
        let (slug, name) = (snapshot.slug(Table::Firms, row), snapshot.name(Table::Firms, row));
        let by_slug = called(&live, Tool::GetVcProfile, &json!({ "slug": slug.to_uppercase() })).unwrap();
        assert_eq!(by_slug["profile"]["slug"], slug);
        let parts = if by_slug["score"]["value"].is_null() { 0 } else { 5 };
        assert_eq!(by_slug["score"]["components"].as_array().map(Vec::len), Some(parts), "{slug}");
        let by_name = called(&live, Tool::GetVcProfile, &json!({ "name": name })).unwrap();
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
    let live = release();
    let catalog = Live::current(&live);
    let slug = catalog.snapshot().slug(Table::Firms, 0).to_owned();
    let near = called(&live, Tool::GetVcProfile, &json!({ "slug": format!("{slug}x") })).unwrap();
    assert_eq!(near["profile"], Value::Null);
    let candidates = near["candidates"].as_array().unwrap();
    assert!(candidates.iter().any(|candidate| candidate["slug"] == *slug), "{candidates:?}");
    let none = called(&live, Tool::GetVcProfile, &json!({ "name": "qqqq zzzz xxxx" })).unwrap();
    assert_eq!(none["profile"], Value::Null);
    let missing = called(&live, Tool::GetVcProfile, &json!({})).unwrap_err();
    assert!(missing[0].detail.contains("`slug` or its `name`"), "{missing:?}");
}

#[test]
fn unknown_values_are_told_by_the_names_of_arguments() {
    let live = release();
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
        let mistakes = called(&live, tool, &arguments).unwrap_err();
        assert_eq!(mistakes[0].argument, argument, "{arguments}: {mistakes:?}");
    }
    let fintec = called(&live, Tool::SearchVcs, &json!({ "sector": "fintec" })).unwrap_err();
    assert_eq!(fintec[0].did_you_mean, ["fintech"]);
}
