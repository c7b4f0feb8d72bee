//! Questions of founders, which the tools must answer in at most three calls.
//!
//! The facts about the bundled release were computed from its CSV files by another program; those about real data are
//! computed from its CSV files here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use mcp::Tool;
use serde_json::{Map, Value, json};

use super::tools::TestTools;
use crate::api::oracle::dataset::limits;
use crate::support::harness::{real_catalog, real_data};

/// Makes the calls for one question. An argument `$/0/items/0/slug` is a pointer into the results so far.
pub fn results(tools: &TestTools, steps: &Value) -> Value {
    let mut results = Vec::new();
    for step in steps.as_array().unwrap() {
        let tool = Tool::from_name(step["tool"].as_str().unwrap()).unwrap();
        let so_far = Value::Array(results.clone());
        let arguments: Map<String, Value> = step["arguments"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| match value.as_str().and_then(|text| text.strip_prefix('$')) {
                Some(pointer) => {
                    (name.clone(), so_far.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}")).clone())
                }
                None => (name.clone(), value.clone()),
            })
            .collect();
        let arguments = Value::Object(arguments);
        results.push(tools.call(tool, &arguments).unwrap_or_else(|wrong| panic!("{arguments}: {wrong:?}")));
    }
    Value::Array(results)
}

/// The value at a JSON pointer; `*` collects it from every item of a list.
fn fact(results: &Value, pointer: &str) -> Value {
    match pointer.split_once("/*") {
        Some((list, rest)) => {
            let items = results.pointer(list).and_then(Value::as_array);
            items.into_iter().flatten().map(|item| item.pointer(rest).cloned().unwrap_or_default()).collect()
        }
        None => results.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {results}")).clone(),
    }
}

#[test]
fn questions_of_founders_take_at_most_three_calls() {
    let pointer = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/usefulness/bundled.json");
    let questions: Value = serde_json::from_str(&std::fs::read_to_string(pointer).unwrap()).unwrap();
    let questions = questions.as_array().unwrap();
    assert!(questions.len() >= 20);
    let tools = TestTools::bundled();
    let (mut wrong, mut used) = (Vec::new(), BTreeSet::new());
    for question in questions {
        let steps = question["steps"].as_array().unwrap();
        assert!((1..=3).contains(&steps.len()), "{}", question["question"]);
        used.extend(steps.iter().map(|step| step["tool"].as_str().unwrap()));
        let results = results(&tools, &question["steps"]);
        let facts = question["facts"].as_object().unwrap();
        assert!(!facts.is_empty());
        for (pointer, expected) in facts {
            let found = fact(&results, pointer);
            if found != *expected {
                wrong.push(format!("{} {pointer}: {found} instead of {expected}", question["question"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(used.len(), Tool::ALL.len(), "{used:?}");
}

/// A dataset as read from its files.
struct Files {
    firms: Vec<HashMap<String, String>>,
    startups: BTreeMap<String, HashMap<String, String>>,
    rounds: Vec<HashMap<String, String>>,
    people: Vec<HashMap<String, String>>,
    parents: HashMap<String, String>,
}

impl Files {
    fn read(folder: &Path) -> Self {
        let rows = |file: &str| -> Vec<HashMap<String, String>> {
            let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
            reader.deserialize().map(Result::unwrap).collect()
        };
        let startups = rows("startups.csv").into_iter().map(|row| (row["slug"].clone(), row)).collect();
        let parents = rows("sectors.csv").into_iter().map(|row| (row["slug"].clone(), row["parent"].clone())).collect();
        let (firms, mut rounds, people) = (rows("firms.csv"), rows("funding_rounds.csv"), rows("people.csv"));
        // A day that nearly all rounds of a year have is the year.
        let year = |round: &HashMap<String, String>| round["announced_on"].get(..4).unwrap_or_default().to_owned();
        let mut first_days: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for round in &rounds {
            let (all, first) = first_days.entry(year(round)).or_default();
            *all += 1;
            *first += usize::from(round["announced_on"].ends_with("-01-01"));
        }
        for round in &mut rounds {
            let (all, first) = first_days[&year(round)];
            if all >= 20 && first * 10 >= all * 9 && round["announced_on"].ends_with("-01-01") {
                round.insert("announced_on".into(), year(round));
            }
        }
        // Suspect amounts are left out of sums.
        let limits = limits(&rounds);
        for round in &mut rounds {
            if round["amount_usd"].parse::<u64>().is_ok_and(|usd| usd > limits[&round["stage"]]) {
                round.insert("amount_usd".into(), String::new());
            }
        }
        Self { firms, startups, rounds, people, parents }
    }

    /// Whether one of a startup's sectors is `sector` or a descendant.
    fn is_in(&self, startup: &str, sector: &str) -> bool {
        self.startups[startup]["sectors"].split('|').any(|own| {
            let mut at = own;
            loop {
                match self.parents.get(at) {
                    Some(_) if at == sector => return true,
                    Some(parent) => at = parent,
                    None => return false,
                }
            }
        })
    }
}

fn investors(round: &HashMap<String, String>) -> BTreeSet<&str> {
    let all = round["lead_investors"].split('|').chain(round["investors"].split('|'));
    all.filter(|slug| !slug.is_empty()).collect()
}

/// The sum of the known amounts, as the tools return it.
fn sum<'r>(rounds: impl Iterator<Item = &'r HashMap<String, String>>) -> Value {
    let amounts = rounds.filter_map(|round| round["amount_usd"].parse::<u64>().ok());
    amounts.reduce(|a, b| a + b).map_or(Value::Null, Value::from)
}

#[test]
fn questions_about_real_data_have_the_answers_of_its_files() {
    let (Some(folder), Some(catalog)) = (real_data(), real_catalog()) else { return };
    let files = Files::read(&folder);
    let tools = TestTools::of(catalog);
    let mut checked = 0;
    let mut check = |question: String, steps: Value, facts: &[(&str, Value)]| {
        let results = results(&tools, &steps);
        for (pointer, expected) in facts {
            assert_eq!(fact(&results, pointer), *expected, "{question} {pointer}\n{results}");
        }
        checked += 1;
    };

    // What did a firm join, and in which startups is it?
    let mut joined: BTreeMap<&str, Vec<&HashMap<String, String>>> = BTreeMap::new();
    for round in &files.rounds {
        investors(round).into_iter().for_each(|firm| joined.entry(firm).or_default().push(round));
    }
    for (firm, rounds) in joined.iter().step_by(97) {
        let backed: BTreeSet<&str> = rounds.iter().map(|round| round["startup"].as_str()).collect();
        check(
            format!("what does {firm} invest in?"),
            json!([
                { "tool": "get_vc_profile", "arguments": { "slug": firm } },
                { "tool": "search_startups", "arguments": { "investor": firm, "limit": 1 } },
                { "tool": "get_funding_rounds", "arguments": { "investor": firm, "limit": 1 } },
            ]),
            &[
                ("/0/profile/portfolio_count", json!(backed.len())),
                ("/0/profile/investment_count", json!(rounds.len())),
                ("/0/score/value", Value::Null),
                ("/1/total", json!(backed.len())),
                ("/2/total", json!(rounds.len())),
                ("/2/sum_usd", sum(rounds.iter().copied())),
            ],
        );
    }

    // What did a startup with a unique name raise?
    let mut names: HashMap<&str, usize> = HashMap::new();
    files.startups.values().for_each(|row| *names.entry(&row["name"]).or_default() += 1);
    let mut of_startup: HashMap<&str, Vec<&HashMap<String, String>>> = HashMap::new();
    files.rounds.iter().for_each(|round| of_startup.entry(&round["startup"]).or_default().push(round));
    let plain = |name: &str| name.len() > 6 && name.chars().all(|char| char.is_ascii_alphabetic() || char == ' ');
    let unique = files.startups.values().filter(|row| names[row["name"].as_str()] == 1 && plain(&row["name"]));
    for row in
        unique.filter(|row| of_startup.get(row["slug"].as_str()).is_some_and(|rounds| rounds.len() > 2)).step_by(83)
    {
        let rounds = &of_startup[row["slug"].as_str()];
        check(
            format!("what did {} raise?", row["name"]),
            json!([
                { "tool": "search_startups", "arguments": { "query": row["name"], "limit": 1 } },
                { "tool": "get_funding_rounds", "arguments": { "startup": row["slug"], "limit": 1 } },
            ]),
            &[
                ("/0/items/0/slug", json!(row["slug"])),
                ("/0/items/0/total_raised_usd", sum(rounds.iter().copied())),
                ("/0/items/0/round_count", json!(rounds.len())),
                ("/1/total", json!(rounds.len())),
                ("/1/items/0/announced_on", json!(rounds.iter().map(|round| &round["announced_on"]).max())),
            ],
        );
    }

    // How much was invested in a sector and its descendants in a year?
    let sectors: BTreeSet<&String> = files.parents.values().filter(|parent| !parent.is_empty()).collect();
    let mut of_years: HashMap<&str, Vec<&HashMap<String, String>>> = HashMap::new();
    for round in &files.rounds {
        of_years.entry(round["announced_on"].get(..4).unwrap_or_default()).or_default().push(round);
    }
    for (sector, year) in sectors.into_iter().step_by(4).zip((2008..2016).cycle()) {
        let of_year = of_years.get(year.to_string().as_str()).into_iter().flatten().copied();
        let rounds: Vec<&HashMap<String, String>> =
            of_year.filter(|round| files.is_in(&round["startup"], sector)).collect();
        check(
            format!("how much went into {sector} in {year}?"),
            json!([{ "tool": "get_funding_rounds", "arguments":
                { "sector": sector, "since": format!("{year}-01-01"), "until": format!("{year}-12-31"), "limit": 1 } }]),
            &[("/0/total", json!(rounds.len())), ("/0/sum_usd", sum(rounds.into_iter()))],
        );
    }

    // Who founded a startup?
    let of_startups = files.people.iter().filter(|person| person["organization_kind"] == "startup");
    for person in of_startups.step_by(101) {
        let organization = &person["organization"];
        let colleagues = files
            .people
            .iter()
            .filter(|other| other["organization_kind"] == "startup" && other["organization"] == *organization);
        check(
            format!("who is behind {organization}?"),
            json!([{ "tool": "search_people", "arguments": { "organization": organization, "kind": "startup" } }]),
            &[("/0/total", json!(colleagues.count()))],
        );
    }

    // How many investors of a country are there?
    for country in ["US", "GB", "DE", "FR", "IN", "IL", "SE", "BR"] {
        let total = files.firms.iter().filter(|firm| firm["country"] == country).count();
        check(
            format!("which investors sit in {country}?"),
            json!([{ "tool": "search_vcs", "arguments": { "country": country, "limit": 1 } }]),
            &[("/0/total", json!(total))],
        );
    }
    assert!(checked > 150, "{checked}");
}
