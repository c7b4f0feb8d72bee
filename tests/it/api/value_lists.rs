//! Lists of values: `x=a,b`, `x=b,a` and `x=a&x=b` are one request, for every parameter that takes a list and all values of a
//! release, and names that have commas themselves stay usable.

use std::collections::{BTreeSet, HashMap};
use std::fs;

use catalog::params::{ParamType, Parameter};
use catalog::{Catalog, ParseOptions, Property, Request, Resource};
use data::fold::fold;
use data::vocabulary::Vocabulary;
use data::{Country, Facet, ReviewStatus, Snapshot, Table};
use mcp::Tool;
use serde_json::{Value, json};

use crate::mcp::tools::TestTools;
use crate::support::harness::{Client, Dice, bundled, catalog_of, one_of, real_catalog};
use crate::support::html::{Markup, parse, text_of};
use crate::support::two_firms::{dataset_with, serve};

/// Random pairs of values of each parameter.
const PAIRS: usize = 84;

const STRICT: ParseOptions =
    ParseOptions { strict: true, review_statuses: &[ReviewStatus::Approved], other_names: &[] };
const LENIENT: ParseOptions = ParseOptions { strict: false, ..STRICT };

/// Whether a parameter takes lists whose order means nothing. A new kind of parameter has to be listed here.
fn takes_lists(parameter: &Parameter) -> bool {
    match parameter.kind {
        ParamType::Terms(..)
        | ParamType::Countries
        | ParamType::Listed(..)
        | ParamType::Records(..)
        | ParamType::Organizations
        | ParamType::Rows(_)
        | ParamType::Known(..) => true,
        // One value, or an order.
        ParamType::Text
        | ParamType::Words
        | ParamType::Like(_)
        | ParamType::Range { .. }
        | ParamType::Number { .. }
        | ParamType::Bool(_)
        | ParamType::Metric
        | ParamType::Release
        | ParamType::Sort => false,
    }
}

/// All values of a parameter in a release, in each of their spellings.
fn values_of(snapshot: &Snapshot, parameter: &Parameter) -> BTreeSet<String> {
    let records = |table: Table| {
        (0..snapshot.rows(table)).flat_map(move |row| [snapshot.slug(table, row), snapshot.name(table, row)])
    };
    let cities =
        || (0..).map_while(|city| snapshot.term(Facet::City, city).map(|_| snapshot.city_name(city))).flatten();
    match parameter.kind {
        ParamType::Terms(terms, _) => {
            let names = (terms.names)().into_iter();
            names.flat_map(|name| [name.to_owned(), name.replace('-', " ").to_uppercase()]).collect()
        }
        ParamType::Countries => {
            let codes = Country::all().map(|country| country.alpha2().to_owned());
            let names = Country::names().map(|(name, _)| name.to_owned());
            codes.chain(names).chain(Country::region_names().map(|names| names[0].clone())).collect()
        }
        ParamType::Listed(_, facet) => {
            let terms = snapshot.terms(facet).map(str::to_owned);
            let spelled: Vec<String> = if facet == Facet::City { cities().collect() } else { Vec::new() };
            terms.chain(spelled).collect()
        }
        ParamType::Records(table, _) | ParamType::Rows(table) => records(table).map(str::to_owned).collect(),
        ParamType::Organizations => records(Table::Firms).chain(records(Table::Startups)).map(str::to_owned).collect(),
        ParamType::Known(table, _) => Property::all(table).map(|(name, _)| name.to_owned()).collect(),
        _ => unreachable!("`{}` takes no lists", parameter.name),
    }
}

/// A request in its canonical form, or what is wrong with it.
type Parsed = Result<(Request, Vec<(&'static str, String)>), BTreeSet<String>>;

/// The request that values of a parameter make, in its canonical form; what is wrong with them, if anything is.
fn parsed(catalog: &Catalog, resource: Resource, options: ParseOptions, name: &str, values: &[&str]) -> Parsed {
    let values: Vec<(String, String)> = values.iter().map(|value| (name.to_owned(), (*value).to_owned())).collect();
    match catalog.parse(resource, &values, options) {
        Ok(parsed) => Ok((parsed.request, parsed.canonical)),
        Err(issues) => Err(issues.report(catalog).into_iter().map(|error| error.detail).collect()),
    }
}

/// Values of a parameter, and the pairs of them that spell a third.
type Values = (Vec<String>, Vec<(String, String)>);

/// Names the values of a parameter in a release: all parameters that take records of a table have the same ones.
fn values_name(resource: Resource, parameter: &Parameter) -> String {
    match parameter.kind {
        ParamType::Records(table, _) | ParamType::Rows(table) => table.name().to_owned(),
        ParamType::Organizations => "organizations".to_owned(),
        _ => format!("{} {}", resource.path(), parameter.name),
    }
}

/// Two values of which the text of both, spelled as one, is a third.
fn pairs_that_spell_another(values: &BTreeSet<String>) -> Vec<(String, String)> {
    let by_fold: HashMap<String, &String> = values.iter().map(|value| (fold(value), value)).collect();
    let halves = by_fold.keys().flat_map(|whole| {
        whole
            .match_indices(' ')
            .filter_map(|(at, _)| Some((*by_fold.get(&whole[..at])?, *by_fold.get(&whole[at + 1..])?)))
    });
    let mut pairs: Vec<(String, String)> = halves.map(|(left, right)| (left.clone(), right.clone())).collect();
    pairs.sort_unstable();
    pairs
}

/// How many pairs of values are requested, and how many of these spell another value. Each is the same request in each order,
/// as a list and repeated.
fn check_all_pairs(catalog: &Catalog) -> (usize, usize) {
    let snapshot = catalog.snapshot();
    let (mut requested, mut spelling) = (0, 0);
    let mut dice = Dice(1);
    let mut known: HashMap<String, Values> = HashMap::new();
    for resource in Resource::ALL.iter().copied().filter(|resource| *resource != Resource::CoInvestors) {
        for parameter in resource.parameters().iter().filter(|parameter| takes_lists(parameter)) {
            let computed = known.entry(values_name(resource, parameter)).or_insert_with(|| {
                let values = values_of(snapshot, parameter);
                let spelling = pairs_that_spell_another(&values);
                (values.into_iter().collect(), spelling)
            });
            let (all, spelling_another) = &*computed;
            spelling += spelling_another.len();
            // The gate requests some of many.
            let few = if spelling_another.len() > 100 { one_of(40) } else { 1 };
            let mut pairs: Vec<(String, String)> = spelling_another.iter().step_by(few).cloned().collect();
            if !all.is_empty() {
                let mut any = || all[dice.below(all.len())].clone();
                pairs.extend((0..PAIRS / one_of(6)).map(|_| (any(), any())));
            }
            for (a, b) in pairs.iter().filter(|(a, b)| !a.contains(',') && !b.contains(',')) {
                for options in [STRICT, LENIENT] {
                    let of = |values: &[&str]| parsed(catalog, resource, options, parameter.name, values);
                    let repeated = of(&[a, b]);
                    let context = format!("{} {}: {a}, {b}", resource.path(), parameter.name);
                    assert_eq!(of(&[&format!("{a},{b}")]), repeated, "{context}");
                    assert_eq!(of(&[&format!("{b}, {a}")]), repeated, "{context}");
                }
                requested += 1;
            }
        }
    }
    (requested, spelling)
}

#[test]
fn a_list_is_the_same_request_in_each_order_and_repeated() {
    let (requested, spelling) = check_all_pairs(&bundled());
    assert!(requested > 3_000 / one_of(6) && spelling > 10, "{requested} {spelling}");
}

#[test]
fn a_list_of_real_values_is_the_same_request_in_each_order_and_repeated() {
    let Some(catalog) = real_catalog() else { return };
    let (requested, spelling) = check_all_pairs(&catalog);
    assert!(requested > 3_000 / one_of(6) && spelling > 1_000, "{requested} {spelling}");
}

/// Sectors, cities, firms and startups of which two spell a third, and names with commas.
fn hostile() -> tempfile::TempDir {
    let firms = "alpha,Alpha,,vc,,,US,Newton,,seed,hardware,,,\n\
                 beta-gamma,\"Beta, Gamma & Co.\",,vc,,,US,\"Washington, D.C.\",,seed,software,,,\n\
                 alpha-delta,Alpha Delta,,vc,,,DE,Grove,,seed,hardware-software,,,\n\
                 delta,Delta,,vc,,,DE,Newton Grove,,seed,software,,,\n\
                 media-games,\"Media, Games\",,vc,,,DE,\"Paris, Grove\",,seed,energy-oil-and-gas,,,\n\
                 media,Media,,vc,,,FR,Paris,,seed,energy-oil-and-gas,,,\n\
                 games,Games,,vc,,,FR,Grove,,seed,fintech|hardware|software,,,\n";
    let startups = "one,One,,,,US,Newton,,seed,hardware,operating\n\
                    two,\"Two, Inc.\",,,,US,\"Washington, D.C.\",,seed,software,operating\n\
                    one-three,One Three,,,,DE,Grove,,seed,hardware-software,operating\n\
                    three,Three,,,,DE,Newton Grove,,seed,energy-oil-and-gas,closed\n\
                    four,Four,,,,FR,Paris,,seed,hardware|software,closed\n";
    let rounds = "r-1,one,seed,100,2019-05-04,alpha,alpha|beta-gamma\n\
                  r-2,two,seed,200,2020-05-04,beta-gamma,delta\n\
                  r-3,three,series-a,300,2021-05-04,alpha-delta,alpha-delta|media-games\n\
                  r-4,one-three,seed,400,2021-06-04,media,games|media\n\
                  r-5,four,seed,400,2021-06-04,,games\n";
    let people = "ann,Ann Lee,\"Partner, Energy\",firm,beta-gamma,US\n\
                  bob,Bob Ray,Partner,firm,alpha,US\n\
                  cy,Cy Orr,Energy Lead,startup,two,US\n";
    let folder = dataset_with(firms, startups, rounds, people);
    fs::write(
        folder.path().join("sectors.csv"),
        "slug,name,parent,description\nfintech,Fintech,,\nhardware,Hardware,,\nsoftware,Software,,\n\
         hardware-software,Hardware Software,,\nenergy-oil-and-gas,\"Energy, Oil & Gas\",,\nenergy,Energy,,\n",
    )
    .unwrap();
    folder
}

/// Values of the same list in each spelling: as one text in each order, with blanks, and repeated.
fn spellings<'v>(a: &'v str, b: &'v str) -> [Vec<String>; 4] {
    [
        vec![format!("{a},{b}")],
        vec![format!("{b},{a}")],
        vec![format!(" {b} ,, {a} ,")],
        vec![a.to_owned(), b.to_owned()],
    ]
}

/// Pairs of values of parameters: two of them spell a third, or one has commas in its name.
const PAIRS_OF: [(&str, &str, &str); 10] = [
    ("sector", "hardware", "software"),
    ("sector", "Hardware", "Energy, Oil & Gas"),
    ("not_sector", "hardware", "software"),
    ("sector_all", "hardware", "software"),
    ("city", "newton", "grove"),
    ("city", "Washington, D.C.", "Paris"),
    ("country", "Korea, South", "US"),
    ("investor", "alpha", "delta"),
    ("investor", "Beta, Gamma & Co.", "alpha"),
    ("slug", "one", "three"),
];

#[test]
fn rest_pages_and_files_read_a_list_alike() {
    let folder = hostile();
    let (server, client) = serve(folder.path());
    let nobody = server.anonymous();
    let get = |path: &str, name: &str, values: &[String], more: &[(&str, &str)]| {
        let values = values.iter().map(|value| (name, value.as_str()));
        let reply = (if path.starts_with("/api") { &client } else { &nobody })
            .list(path, &values.chain(more.iter().copied()).collect::<Vec<_>>());
        assert_eq!(reply.status, 200, "{path} {name}: {}", reply.text);
        reply.text
    };
    for (name, a, b) in PAIRS_OF {
        for path in ["/api/v3/startups", "/api/v3/vcs", "/api/v1/vcs", "/api/v2/vcs", "/api/v3/funding-rounds"] {
            let resource =
                Resource::ALL.iter().copied().find(|resource| path.ends_with(&format!("/{}", resource.path())));
            if name == "slug" && !path.ends_with("startups") || resource.unwrap().parameter(name).is_none() {
                continue;
            }
            let of = |values: &[String]| get(path, name, values, &[]);
            let [first, others @ ..] = spellings(a, b);
            let expected = of(&first);
            assert!(!expected.contains("\"total\":0"), "{path} {name} {a} {b}");
            others.iter().for_each(|values| assert_eq!(of(values), expected, "{path} {name}={values:?}"));
        }
        // What the lists have, in other forms.
        for (path, more) in [
            ("/api/v3/startups/aggregate", &[("group_by", "country,city")][..]),
            ("/api/v3/vcs/facets", &[]),
            ("/api/v3/startups.csv", &[]),
            ("/api/v3/vcs.ndjson", &[]),
            ("/startups", &[]),
            ("/startups.json", &[]),
            ("/startups.md", &[]),
            ("/startups.csv", &[]),
            ("/vcs", &[]),
        ] {
            let resource = if path.contains("vcs") { Resource::Firms } else { Resource::Startups };
            if resource.parameter(name).is_none() || (name == "slug" && resource == Resource::Firms) {
                continue;
            }
            let [first, others @ ..] = spellings(a, b);
            let expected = get(path, name, &first, more);
            for values in others {
                assert_eq!(get(path, name, &values, more), expected, "{path} {name}={values:?}");
            }
        }
    }
}

#[test]
fn tools_read_a_text_and_a_list_alike() {
    let folder = hostile();
    let tools = TestTools::of(catalog_of(folder.path()));
    let call = |arguments: Value| {
        tools.call(Tool::SearchStartups, &arguments).unwrap_or_else(|error| panic!("{arguments}: {error:?}"))
    };
    for (name, a, b) in PAIRS_OF {
        let expected = call(json!({ name: format!("{a},{b}"), "count_by": "country,city" }));
        assert_ne!(expected["total"], 0, "{name} {a} {b}");
        for value in [json!(format!("{b}, {a}")), json!([a, b]), json!([b, a]), json!(json!([a, b]).to_string())] {
            assert_eq!(call(json!({ name: value, "count_by": "country,city" })), expected, "{name} {value}");
        }
    }
}

fn total(client: &Client, list: &str, name: &str, value: &str) -> u64 {
    let reply = client.list(&format!("/api/v3/{list}"), &[(name, value)]);
    assert_eq!(reply.status, 200, "{name}={value}: {}", reply.text);
    reply.json()["pagination"]["total"].as_u64().unwrap()
}

/// The details of the warnings that a value was understood in a certain way.
fn interpreted(client: &Client, list: &str, name: &str, value: &str) -> Vec<String> {
    let json = client.list(&format!("/api/v3/{list}"), &[(name, value)]).json();
    let warnings = json["meta"]["warnings"].as_array().cloned().unwrap_or_default();
    let interpreted = warnings.iter().filter(|warning| warning["code"] == "value_interpreted");
    interpreted.map(|warning| warning["detail"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_name_with_commas_is_one_value_alone_and_next_to_others() {
    let folder = hostile();
    let (_server, client) = serve(folder.path());
    for (list, name, value, slug, other) in [
        ("vcs", "sector", "Energy, Oil & Gas", "energy-oil-and-gas", "fintech"),
        ("startups", "investor", "Beta, Gamma & Co.", "beta-gamma", "Alpha Delta"),
        ("startups", "investor", "beta,gamma & co", "beta-gamma", "Alpha Delta"),
        ("funding-rounds", "startup", "Two, Inc.", "two", "one"),
        ("people", "organization", "Two, Inc.", "two", "alpha"),
        ("vcs", "city", "Washington, D.C.", "washington d c", "paris"),
        ("vcs", "country", "Korea, Republic of", "KR", "US"),
    ] {
        let of = |value: &str| total(&client, list, name, value);
        assert_eq!(of(value), of(slug), "{name}={value}");
        let expected = of(&format!("{slug},{other}"));
        assert!(expected > of(slug), "{name}={slug},{other}");
        for listed in [format!("{value},{other}"), format!("{other}, {value}"), format!("{other},{value},{other}")] {
            assert_eq!(of(&listed), expected, "{name}={listed}");
        }
    }
    let like = client.list("/api/v3/startups", &[("like", "Two, Inc.")]);
    assert_eq!(like.status, 200, "{}", like.text);
    let compared = _server.anonymous().list("/compare", &[("firm", "Beta, Gamma & Co.,alpha")]);
    let title = text_of(parse(&compared.text).first("head > title"));
    assert!(title.starts_with("Compare Beta, Gamma & Co., Alpha"), "{title}");
    assert!(!compared.text.contains("No firm is named"), "{}", compared.text);
}

#[test]
fn a_name_with_commas_whose_parts_are_values_is_a_list_and_told() {
    let folder = hostile();
    let (_server, client) = serve(folder.path());
    for (list, name, value, note) in [
        (
            "startups",
            "investor",
            "Media, Games",
            "`Media, Games` was read as several values; the one of this name is `media-games`",
        ),
        (
            "vcs",
            "city",
            "Paris, Grove",
            "`Paris, Grove` was read as several values; the one of this name is `paris grove`",
        ),
        (
            "people",
            "title",
            "Partner, Energy",
            "`Partner, Energy` was read as several values; the one of this name is `partner energy`",
        ),
    ] {
        assert_eq!(interpreted(&client, list, name, value), [note]);
        let parts: Vec<&str> = value.split(", ").collect();
        let reversed = format!("{},{}", parts[1], parts[0]);
        assert_eq!(total(&client, list, name, value), total(&client, list, name, &reversed), "{value}");
        // As the note says.
        let one = note.rsplit('`').nth(1).unwrap();
        assert_eq!(interpreted(&client, list, name, one), [""; 0]);
        assert_eq!(total(&client, list, name, one), 1, "{one}");
    }
    // What groups have is a value that the filter takes as this one.
    let groups = client.get("/api/v3/vcs/aggregate?group_by=city").json();
    for group in groups["data"]["groups"][0]["values"].as_array().unwrap() {
        assert_eq!(total(&client, "vcs", "city", group["value"].as_str().unwrap()), group["count"], "{group}");
    }
}

#[test]
fn a_name_without_commas_does_not_stand_for_a_list() {
    let folder = hostile();
    let (_server, client) = serve(folder.path());
    for (list, name, value) in [
        ("vcs", "sector", "fin,tech"),
        ("vcs", "sector", "energy oil, and gas"),
        ("vcs", "country", "south,korea"),
        ("vcs", "city", "new,ton"),
        ("vcs", "stage", "series,a"),
        ("startups", "investor", "alpha,capital"),
    ] {
        let reply = client.list(&format!("/api/v3/{list}"), &[(name, value)]);
        assert_eq!((reply.status, reply.json()["code"].clone()), (400, json!("unknown_value")), "{name}={value}");
    }
    let many = vec!["Two, Inc."; 60].join(",");
    assert_eq!(total(&client, "funding-rounds", "startup", &many), 1);
    let more = vec!["one"; 101].join(",");
    let reply = client.list("/api/v3/funding-rounds", &[("startup", &more)]);
    assert!(reply.status == 400 && reply.text.contains("at most 100 values, 101 are given"), "{}", reply.text);
}
