//! Random requests over all filters, orders and groups of every list, against an oracle that reads the CSV files row by
//! row. Errors that are planted in the oracle are found.
//!
//! `VENTUREDEX_ORACLE_REQUESTS=20000 cargo test --test it -- oracle` makes more requests.

mod condition;
pub mod dataset;
mod hostile;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use catalog::aggregate::group_bys;
use catalog::params::Parameter;
use catalog::{AggregateOptions, Amounts, Catalog, ListPosition, ParseOptions, Property, Request, Resource};
use data::ReviewStatus;
use data::fold::fold;

use self::condition::{Condition, SKIPPED, condition};
use self::dataset::{Oracle, Row};
use crate::support::harness::{Numbers, bundled, bundled_folder, cases, catalog_of, real_catalog, real_data};

/// An error that the oracle makes on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    Nothing,
    UnknownIsExcluded,
    AllIsAny,
    MaximumIsExclusive,
    MedianOfKnownIsUpper,
    OtherHasUnknown,
    UnknownSortsFirst,
    PeriodCountsFromItsFirstDay,
    ActiveIsTheNewest,
}

const ERRORS: [Planted; 8] = [
    Planted::UnknownIsExcluded,
    Planted::AllIsAny,
    Planted::MaximumIsExclusive,
    Planted::MedianOfKnownIsUpper,
    Planted::OtherHasUnknown,
    Planted::UnknownSortsFirst,
    Planted::PeriodCountsFromItsFirstDay,
    Planted::ActiveIsTheNewest,
];

/// Requests and time of a comparison, unless their number is set.
const MIN_REQUESTS: usize = 10;
const MAX_TIME: Duration = Duration::from_secs(20);

const LISTS: [Resource; 5] =
    [Resource::Firms, Resource::Startups, Resource::Rounds, Resource::People, Resource::Reviews];

fn amounts_of(rows: &[&Row], planted: Planted) -> Amounts {
    let mut known: Vec<u64> = rows.iter().filter_map(|row| row.amount).collect();
    known.sort_unstable();
    let unknown = (rows.len() - known.len()) as u64;
    let (Some(max), count) = (known.last(), known.len()) else { return Amounts { unknown, ..Amounts::default() } };
    let lower = if planted == Planted::MedianOfKnownIsUpper { count / 2 } else { (count - 1) / 2 };
    let sum: u64 = known.iter().sum();
    Amounts {
        known: count as u64,
        unknown,
        sum_usd: Some(sum),
        median_usd: Some((known[lower] + known[count / 2]) / 2),
        mean_usd: Some((sum + count as u64 / 2) / count as u64),
        max_usd: Some(*max),
    }
}

/// The groups of a row by a property.
fn groups_of(row: &Row, by: &str) -> Vec<String> {
    let date = || row.number.get("announced_on").or(row.number.get("created_on"));
    match by {
        "year" => date().map(|date| (date / 10_000).to_string()).into_iter().collect(),
        "quarter" => {
            let quarter = |date: &i64| format!("{}-Q{}", date / 10_000, (date / 100 % 100 - 1) / 3 + 1);
            date().filter(|date| *date / 100 % 100 > 0).map(quarter).into_iter().collect()
        }
        "founded_year" => row.number.get(by).map(ToString::to_string).into_iter().collect(),
        _ => row.has.get(by).into_iter().flatten().cloned().collect(),
    }
}

/// Whether a text names a state, which next to its country is all of its cities: tests of states have those.
fn is_state(text: &str) -> bool {
    let lines = include_str!("../../../../src/data/states.txt").lines();
    let mut names = lines.filter_map(|line| line.split('|').nth(1)).flat_map(|names| names.split(','));
    names.any(|name| name == fold(text))
}

/// Makes a random request of the catalog and of the oracle, and describes how they differ.
fn difference(catalog: &Catalog, oracle: &Oracle, random: &mut Numbers, planted: Planted) -> Option<String> {
    let resource = *random.pick(&LISTS);
    let rows = oracle.rows(resource);
    if rows.is_empty() {
        return None;
    }
    let parameters: Vec<&Parameter> =
        resource.parameters().iter().filter(|parameter| !SKIPPED.contains(&parameter.name)).collect();
    let mut values: Vec<(String, String)> = Vec::new();
    let mut conditions = Vec::new();
    let mut picked: Vec<&Parameter> = (0..random.below(4)).map(|_| *random.pick(&parameters)).collect();
    // Both bounds of a firm's activity have a meaning of their own.
    if picked.iter().any(|parameter| parameter.name.starts_with("active_")) && random.below(2) == 0 {
        picked.extend(parameters.iter().filter(|parameter| parameter.name.starts_with("active_")));
    }
    for parameter in picked {
        if values.iter().any(|(name, _)| name == parameter.name) {
            continue;
        }
        let is_state = |text: &String| parameter.name.ends_with("city") && is_state(text);
        if let Some((texts, condition)) =
            condition(parameter, rows, random).filter(|(texts, _)| !texts.iter().any(is_state))
        {
            values.extend(texts.into_iter().map(|text| (parameter.name.to_owned(), text)));
            conditions.push(condition);
        }
    }
    let mut conditions = condition::joined(resource, conditions);
    if random.below(4) == 0 {
        let known = random.below(2) == 0;
        let properties: Vec<&'static str> = Property::all(resource.table())
            .map(|(name, _)| name)
            .filter(|name| {
                let people = resource == Resource::People && ["role", "firm", "startup"].contains(name);
                let reviews = resource == Resource::Reviews && ["firm", "status"].contains(name);
                let score = ["health_score", "ghosting_rate", "responsiveness", "fairness", "value_add", "activity"];
                let firms = resource == Resource::Firms && score.contains(name);
                !(people || reviews || firms)
            })
            .collect();
        let name = *random.pick(&properties);
        values.push((if known { "known" } else { "unknown" }.to_owned(), name.to_owned()));
        conditions.push(Condition::Known(name, known));
    }
    let mut expected: Vec<&Row> =
        rows.iter().filter(|row| conditions.iter().all(|condition| condition.passes(row, planted))).collect();

    let options = ParseOptions { strict: true, review_statuses: &[ReviewStatus::Approved], other_names: &[] };
    if let Err(issues) = catalog.parse(resource, &values, options) {
        let errors = issues.report(catalog);
        let is_contradiction = errors.iter().all(|error| error.detail.contains("so that nothing matches"));
        assert!(is_contradiction, "{values:?}: {errors:?}");
        let count = expected.len();
        return (count > 0).then(|| format!("{resource:?} {values:?}: contradictory, expected {count}"));
    }
    let parse = |values: &[(String, String)]| {
        let parsed = catalog.parse(resource, values, options);
        let parsed = parsed.unwrap_or_else(|issues| panic!("{values:?}: {:?}", issues.report(catalog)));
        let Request::List(query) = parsed.request else { unreachable!("a list") };
        query
    };
    let table = resource.table();
    if random.below(2) == 0 {
        let keys: Vec<&'static str> = table
            .sort_keys()
            .iter()
            .copied()
            .filter(|key| rows.iter().any(|row| row.number.contains_key(key)))
            .collect();
        if keys.is_empty() {
            return None;
        }
        let (key, down) = (*random.pick(&keys), random.below(2) == 0);
        values.push(("sort".to_owned(), format!("{}{key}", if down { "-" } else { "" })));
        expected.sort_by(|a, b| {
            let order = match (a.number.get(key), b.number.get(key)) {
                (Some(a), Some(b)) if down => b.cmp(a),
                (Some(a), Some(b)) => a.cmp(b),
                (a, b) if planted == Planted::UnknownSortsFirst => a.is_some().cmp(&b.is_some()),
                (a, b) => a.is_none().cmp(&b.is_none()),
            };
            order.then_with(|| a.id.cmp(&b.id))
        });
        let (offset, limit) = (random.below(expected.len() + 2), 1 + random.below(30));
        let page = catalog.list(&parse(&values), ListPosition::after(offset as u64), limit);
        let found: Vec<&str> = page.rows.iter().map(|row| catalog.snapshot().slug(table, *row)).collect();
        let window: Vec<&str> = expected.iter().skip(offset).take(limit).map(|row| row.id.as_str()).collect();
        let agrees = page.total == expected.len() as u64 && found == window;
        return (!agrees).then(|| {
            format!(
                "{resource:?} {values:?} from {offset}: {} {found:?}, expected {} {window:?}",
                page.total,
                expected.len()
            )
        });
    }
    let skipped = ["role", "title", "status"];
    let properties: Vec<&'static str> = group_bys(resource)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| !(skipped.contains(name) && matches!(resource, Resource::People | Resource::Reviews)))
        .collect();
    let by = *random.pick(&properties);
    let limit = 1 + random.below(30);
    let grouping = [("group_by".to_owned(), by.to_owned()), ("limit".to_owned(), limit.to_string())];
    let options = AggregateOptions::parse(resource, &grouping).unwrap();
    let found = &catalog.aggregate(&parse(&values), &options).0;
    let has_amounts = matches!(resource, Resource::Rounds | Resource::Startups);
    let amounts = |rows: &[&Row]| has_amounts.then(|| amounts_of(rows, planted));
    let grouped: Vec<(&Row, Vec<String>)> = expected.iter().map(|row| (*row, groups_of(row, by))).collect();
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for (row, own) in &grouped {
        own.iter().for_each(|group| groups.entry(group.clone()).or_default().push(*row));
    }
    let grouping = &found.groups[0];
    let mut wrong = Vec::new();
    if (found.total, found.amounts) != (expected.len() as u64, amounts(&expected)) {
        wrong.push(format!("total {} {:?}", found.total, found.amounts));
    }
    let folded = |value: &str| if by == "city" { fold(value) } else { value.to_owned() };
    let listed: BTreeSet<String> = grouping.values.iter().map(|group| folded(&group.value)).collect();
    for group in &grouping.values {
        let rows = groups.get(&folded(&group.value)).cloned().unwrap_or_default();
        if (group.count, group.amounts) != (rows.len() as u64, amounts(&rows)) {
            wrong.push(format!("{group:?}, expected {}, {:?}", rows.len(), amounts(&rows)));
        }
    }
    let mut largest: Vec<usize> = groups.values().map(Vec::len).collect();
    largest.sort_unstable_by(|a, b| b.cmp(a));
    let counts: Vec<usize> = grouping.values.iter().map(|group| group.count as usize).collect();
    let by_value = ["year", "quarter", "founded_year"].contains(&by);
    if !by_value && counts != largest.iter().copied().take(limit).collect::<Vec<_>>() {
        wrong.push(format!("counts {counts:?}, expected {largest:?}"));
    }
    if by_value {
        let latest: Vec<&String> = groups.keys().rev().take(limit).collect();
        let values: Vec<&String> = grouping.values.iter().map(|group| &group.value).collect();
        // Founding years may have fewer than four digits in a hostile dataset; years of dates have four.
        if by != "founded_year" && values != latest {
            wrong.push(format!("values {values:?}, expected {latest:?}"));
        }
    }
    if grouping.other_values as usize != groups.len().saturating_sub(limit) {
        wrong.push(format!("{} other values of {}", grouping.other_values, groups.len()));
    }
    let is_listed = |own: &[String]| own.iter().any(|group| listed.contains(group));
    let is_other = |own: &[String]| !is_listed(own) && (planted == Planted::OtherHasUnknown || !own.is_empty());
    let unknown: Vec<&Row> = grouped.iter().filter(|(_, own)| own.is_empty()).map(|(row, _)| *row).collect();
    let other: Vec<&Row> = grouped.iter().filter(|(_, own)| is_other(own)).map(|(row, _)| *row).collect();
    for (rest, rows) in [(&grouping.unknown, &unknown), (&grouping.other, &other)] {
        if (rest.count, rest.amounts) != (rows.len() as u64, amounts(rows)) {
            wrong.push(format!("{rest:?}, expected {}, {:?}", rows.len(), amounts(rows)));
        }
    }
    (!wrong.is_empty()).then(|| format!("{resource:?} {values:?} by {by}: {}", wrong.join("; ")))
}

/// Compares `default` requests, or fewer in a slow build: those of twenty seconds.
fn agree(folder: &Path, catalog: &Catalog, default: usize) {
    let (oracle, mut random) = (Oracle::read(folder), Numbers(7));
    let wanted = std::env::var("VENTUREDEX_ORACLE_REQUESTS").ok().and_then(|text| text.parse().ok());
    let began = Instant::now();
    for request in 0..wanted.unwrap_or(default) {
        if wanted.is_none() && request >= MIN_REQUESTS && began.elapsed() > MAX_TIME {
            break;
        }
        if let Some(difference) = difference(catalog, &oracle, &mut random, Planted::Nothing) {
            panic!("request {request}: {difference}");
        }
    }
}

#[test]
fn every_list_and_aggregate_of_the_bundled_dataset_is_that_of_the_oracle() {
    agree(&bundled_folder(), &bundled(), cases(400, 150) as usize);
}

#[test]
fn every_list_and_aggregate_of_a_hostile_dataset_is_that_of_the_oracle() {
    let folder = tempfile::tempdir().unwrap();
    hostile::write(folder.path());
    agree(folder.path(), &catalog_of(folder.path()), cases(1_000, 400) as usize);
}

#[test]
fn every_list_and_aggregate_of_the_real_dataset_is_that_of_the_oracle() {
    let (Some(folder), Some(catalog)) = (real_data(), real_catalog()) else { return };
    agree(&folder, &catalog, cases(400, 6) as usize);
}

#[test]
fn errors_planted_in_the_oracle_are_found() {
    let hostile = tempfile::tempdir().unwrap();
    hostile::write(hostile.path());
    let hostile = (Arc::new(catalog_of(hostile.path())), Oracle::read(hostile.path()));
    let datasets = [hostile, (bundled(), Oracle::read(&bundled_folder()))];
    for planted in ERRORS {
        let found = datasets.iter().find_map(|(catalog, oracle)| {
            let mut random = Numbers(11);
            (0..2_000).find_map(|_| difference(catalog, oracle, &mut random, planted))
        });
        assert!(found.is_some(), "{planted:?} is not found");
    }
}
