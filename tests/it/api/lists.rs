//! Lists against a naive scan over the CSV: same rows, same order, same total.

use std::collections::BTreeSet;

use catalog::Resource;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::harness::{bundled_folder, cases, published};
use crate::support::naive::{Naive, NaiveFirm, asked};

#[test]
fn every_list_equals_that_of_a_naive_scan() {
    let (catalog, naive) = (published(), Naive::read(&bundled_folder()));
    let options = |of: fn(&NaiveFirm) -> Vec<String>| -> Vec<String> {
        naive.firms.iter().flat_map(of).filter(|value| !value.is_empty()).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let stages = options(|firm| firm.stages.iter().cloned().collect());
    let sectors = options(|firm| firm.sectors.iter().cloned().collect());
    let countries = options(|firm| vec![firm.country.clone()]);
    let kinds = options(|firm| vec![firm.kind.clone()]);
    let some = |values: Vec<String>| prop::option::of(prop::sample::subsequence(values, 1..4));
    let strategy = (
        some(stages),
        some(sectors),
        some(countries),
        some(kinds),
        prop::option::weighted(0.3, 0_u64..40),
        prop::option::weighted(0.3, prop::sample::select(vec![1_u64, 50_000, 500_000, 5_000_000, 50_000_000])),
        prop::option::weighted(0.3, prop::sample::select(vec!["2015-01-01", "2022-06-30", "2025-01-01"])),
        (0_usize..7, any::<bool>(), 0_u64..60, 1_usize..50),
    );
    let mut runner = TestRunner::new(Config { cases: cases(400, 80), failure_persistence: None, ..Config::default() });
    runner
        .run(&strategy, |(stage, sector, country, kind, reviews, check, since, (key, down, offset, limit))| {
            let mut values: Vec<(&str, String)> = Vec::new();
            for (name, given) in [("stage", &stage), ("sector", &sector), ("country", &country), ("kind", &kind)] {
                values.extend(given.iter().map(|given| (name, given.join(","))));
            }
            values.extend(reviews.iter().map(|least| ("min_reviews", least.to_string())));
            values.extend(check.iter().map(|usd| ("check_usd", usd.to_string())));
            values.extend(since.iter().map(|date| ("active_since", (*date).to_owned())));
            let passes = |firm: &NaiveFirm| {
                let any = |given: &Option<Vec<String>>, of: &dyn Fn(&String) -> bool| {
                    given.as_ref().is_none_or(|given| given.iter().any(of))
                };
                let fits = |usd: &u64| {
                    let (min, max) = firm.check;
                    (min.is_some() || max.is_some())
                        && min.is_none_or(|min| min <= *usd)
                        && max.is_none_or(|max| *usd <= max)
                };
                any(&stage, &|stage| firm.stages.contains(stage))
                    && any(&sector, &|sector| firm.sectors.contains(sector))
                    && any(&country, &|country| firm.country == *country)
                    && any(&kind, &|kind| firm.kind == *kind)
                    && reviews.is_none_or(|least| firm.reviews >= least)
                    && check.as_ref().is_none_or(fits)
                    && since.is_none_or(|date| firm.last.as_deref().is_some_and(|last| last >= date))
            };
            let names = [
                "review_count",
                "portfolio_count",
                "investment_count",
                "check_min_usd",
                "founded_year",
                "last_investment_on",
            ];
            let number = |firm: &NaiveFirm| match key {
                0 => Some(firm.reviews),
                1 => Some(firm.startups),
                2 => Some(firm.rounds),
                3 => firm.check.0,
                _ => firm.founded,
            };
            let expected = match key {
                5 => naive.sorted(passes, |firm| firm.last.clone(), down),
                6 => {
                    // Two keys: the second breaks the ties of the first.
                    values.push(("sort", format!("{}portfolio_count,-investment_count", if down { "-" } else { "" })));
                    let both = |firm: &NaiveFirm| {
                        let first = if down { u64::MAX - firm.startups } else { firm.startups };
                        Some((first, u64::MAX - firm.rounds))
                    };
                    naive.sorted(passes, both, false)
                }
                _ => naive.sorted(passes, number, down),
            };
            if key < 6 {
                values.push(("sort", format!("{}{}", if down { "-" } else { "" }, names[key])));
            }
            let (slugs, total) = asked(&catalog, Resource::Firms, &values, offset, limit);
            prop_assert_eq!(total, expected.len() as u64, "{:?}", values);
            let window: Vec<String> = expected.into_iter().skip(offset as usize).take(limit).collect();
            prop_assert_eq!(slugs, window, "{:?}", values);
            Ok(())
        })
        .unwrap();
}
