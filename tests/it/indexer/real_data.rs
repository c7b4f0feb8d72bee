//! The real data: it compiles without an error, is found by name, and counts as an independent scan counts.

use std::collections::BTreeMap;

use catalog::Resource;
use data::Table;

use crate::support::harness::{real_catalog, real_data};
use crate::support::naive::{Naive, NaiveFirm, asked};

#[test]
fn real_data_is_compiled_found_and_counted() {
    let (Some(folder), Some(catalog)) = (real_data(), real_catalog()) else { return };
    let counts = catalog.snapshot().counts();
    assert_eq!(
        (counts.firms, counts.startups, counts.funding_rounds, counts.people, counts.reviews, counts.sectors),
        (8_229, 87_269, 119_893, 4_793, 0, 1_246)
    );

    let found = |text: &str| asked(&catalog, Resource::Firms, &[("q", text.to_owned())], 0, 10).0;
    assert_eq!(found("sequoia capital")[0], "sequoia-capital");
    assert_eq!(found("sequia capitl")[0], "sequoia-capital");
    let short = found("sequoia");
    // The firm named Sequoia alone has five startups, and is probably the same.
    assert_eq!(short[..2], ["sequoia-capital", "sequoia"], "{short:?}");

    let naive = Naive::read(&folder);
    let mut by_sector: BTreeMap<&str, u64> = BTreeMap::new();
    let mut by_country: BTreeMap<&str, u64> = BTreeMap::new();
    let mut by_stage: BTreeMap<&str, u64> = BTreeMap::new();
    for firm in &naive.firms {
        firm.sectors.iter().for_each(|sector| *by_sector.entry(sector).or_default() += 1);
        firm.stages.iter().for_each(|stage| *by_stage.entry(stage).or_default() += 1);
        *by_country.entry(&firm.country).or_default() += 1;
    }
    by_country.remove("");
    let sectors = largest(&by_sector, "fintech");
    let countries = largest(&by_country, "GB");
    let stages: Vec<&str> = by_stage.keys().copied().collect();
    let mut compared = 0;
    for stage in &stages {
        for sector in &sectors {
            let of_both = |firm: &&NaiveFirm| firm.stages.contains(*stage) && firm.sectors.contains(*sector);
            let of_both: Vec<&NaiveFirm> = naive.firms.iter().filter(of_both).collect();
            for country in &countries {
                let expected = of_both.iter().filter(|firm| firm.country == *country);
                let values = [
                    ("stage", (*stage).to_owned()),
                    ("sector", (*sector).to_owned()),
                    ("country", (*country).to_owned()),
                ];
                let total = asked(&catalog, Resource::Firms, &values, 0, 1).1;
                assert_eq!(total, expected.count() as u64, "{values:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 3_000, "{compared}");
    for row in 0..catalog.snapshot().rows(Table::Sectors) {
        let slug = catalog.snapshot().slug(Table::Sectors, row);
        let total = asked(&catalog, Resource::Firms, &[("sector", slug.to_owned())], 0, 1).1;
        assert_eq!(total, by_sector.get(slug).copied().unwrap_or(0), "{slug}");
    }
}

/// The twenty most frequent, and one more.
fn largest<'a>(counts: &BTreeMap<&'a str, u64>, also: &'a str) -> Vec<&'a str> {
    let mut sorted: Vec<(&str, u64)> = counts.iter().map(|(name, count)| (*name, *count)).collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut names: Vec<&str> = sorted.into_iter().take(20).map(|(name, _)| name).collect();
    if !names.contains(&also) {
        names.push(also);
    }
    names
}
