//! The labels that the data's own keys give: two startups of one website are one, two of different websites are two.

use std::collections::{BTreeMap, BTreeSet};

use data::import::{Dataset, website};
use data::{NoProgress, Table};
use import::resolve::record::records_of_dataset;
use import::resolve::{Decisions, Resolution, SourceRecord, resolve};

/// More records of one website are brands or funds of a house.
const MAX_OF_ONE_WEBSITE: usize = 3;

/// Ids of two records, the smaller first.
type Ids = (String, String);

/// Resolves the startups of a dataset with their websites and without, and compares the pairs with these.
pub fn measure(dataset: &Dataset, errors: usize) {
    let records: Vec<SourceRecord> =
        records_of_dataset(dataset).into_iter().filter(|record| record.table == Table::Startups).collect();
    let hosts: BTreeMap<String, String> = records
        .iter()
        .filter_map(|record| Some((record.id.clone(), website::host(record.website.as_deref()?))))
        .map(|(id, host)| (id, host.trim_start_matches("www.").to_owned()))
        .collect();
    let mut carriers: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    hosts.iter().for_each(|(id, host)| carriers.entry(host).or_default().push(id));
    let of_one: BTreeSet<Ids> =
        carriers.into_values().filter(|ids| ids.len() <= MAX_OF_ONE_WEBSITE).flat_map(|ids| pairs(&ids)).collect();
    for is_hidden in [false, true] {
        let mut records = records.clone();
        if is_hidden {
            records.iter_mut().for_each(|record| record.website = None);
        }
        let resolution = resolve(records, &Decisions::default(), &NoProgress).expect("names can be indexed");
        let id = |row: &u32| &resolution.records[*row as usize].id;
        let merged: BTreeSet<Ids> =
            resolution.clusters.iter().flat_map(|rows| pairs(&rows.iter().map(id).collect::<Vec<_>>())).collect();
        let queued: BTreeSet<Ids> =
            resolution.review.iter().flat_map(|pair| pairs(&[id(&pair.left), id(&pair.right)])).collect();
        let has_websites = |ids: &&Ids| hosts.contains_key(&ids.0) && hosts.contains_key(&ids.1);
        let wrong: Vec<&Ids> =
            merged.iter().filter(has_websites).filter(|ids| hosts[&ids.0] != hosts[&ids.1]).collect();
        let missed: Vec<&Ids> = of_one.iter().filter(|ids| !merged.contains(*ids) && !queued.contains(*ids)).collect();
        println!(
            "websites {}: {} pairs of one website, {} merged, {} queued; {} merged pairs of two websites",
            if is_hidden { "hidden" } else { "known" },
            of_one.len(),
            of_one.intersection(&merged).count(),
            of_one.intersection(&queued).count(),
            wrong.len(),
        );
        show("apart", &missed, errors, &resolution, &hosts);
        show("merged, of two websites", &wrong, errors, &resolution, &hosts);
    }
}

fn pairs(ids: &[&String]) -> Vec<Ids> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    let later = |at: usize| ids[at + 1..].iter().map(move |other| (at, (*other).clone()));
    (0..ids.len()).flat_map(later).map(|(at, other)| (ids[at].clone(), other)).collect()
}

fn show(title: &str, pairs: &[&Ids], count: usize, resolution: &Resolution, hosts: &BTreeMap<String, String>) {
    if count == 0 {
        return;
    }
    let names: BTreeMap<&str, &str> =
        resolution.records.iter().map(|record| (record.id.as_str(), record.name.as_str())).collect();
    println!("  {title}: {}", pairs.len());
    for (left, right) in pairs.iter().take(count) {
        println!("    {} ({}) | {} ({})", names[left.as_str()], hosts[left], names[right.as_str()], hosts[right]);
    }
}
