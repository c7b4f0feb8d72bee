//! CPU time of one thread for questions in words (`ask`), searches of descriptions (`text`) and similar records (`like`), none
//! of them cached. The ratio is relative to searches by name in the same run.
//!
//! `cargo bench --bench questions -- [--index DIR] [--queries 400]`; without an index the bundled snapshot is read.

mod clock;
mod random;
mod release;

use std::time::Duration;

use catalog::{Catalog, Ranking, Resource};
use data::{Facet, Names, Table};

use clock::Moment;
use random::Random;

const STAGES: [&str; 6] = ["pre-seed", "seed", "series A", "Series B", "late stage", "growth"];

/// A row of a table.
fn row(catalog: &Catalog, table: Table, random: &mut Random) -> u32 {
    random.below(catalog.snapshot().rows(table) as usize) as u32
}

/// A question about a list, made of the release's own words.
fn question(catalog: &Catalog, random: &mut Random) -> (Resource, String) {
    let snapshot = catalog.snapshot();
    let name = |table: Table, random: &mut Random| snapshot.name(table, row(catalog, table, random)).to_owned();
    let (sector, firm) = (name(Table::Sectors, random), name(Table::Firms, random));
    let startup = name(Table::Startups, random);
    let city = random.below(snapshot.facet_values(Table::Startups, Facet::City).max(1) as usize) as u32;
    let city = snapshot.city_name(city).unwrap_or_else(|| "Berlin".to_owned());
    let stage = random.pick(&STAGES);
    let (millions, year) = (1 + random.below(50), 2015 + random.below(11));
    match random.below(8) {
        0 => (Resource::Startups, format!("{sector} startups in {city} that raised over ${millions}m since {year}")),
        1 => (Resource::Startups, format!("{stage} {sector} companies founded after {year} backed by {firm}")),
        2 => (Resource::Startups, format!("the 10 largest companies like {startup} that raised money last year")),
        3 => (Resource::Firms, format!("most active {stage} investors in {sector}, not in {city}")),
        4 => (Resource::Firms, format!("who invested in {startup} and writes checks of ${millions}m for {sector}?")),
        5 => (Resource::Rounds, format!("{stage} rounds led by {firm} between {year} and 2025")),
        6 => (Resource::People, format!("founders of {sector} startups in {city} that worked at {firm}")),
        _ => (Resource::Startups, format!("show me everything about {sector} tools for dentists near {city}, please")),
    }
}

/// Some words of a description, or of sectors and places.
fn words(catalog: &Catalog, random: &mut Random) -> String {
    let names = catalog.snapshot().names(Table::Startups);
    let row = row(catalog, Table::Startups, random);
    let text = Some(names.description(row)).filter(|text| !text.is_empty()).unwrap_or_else(|| names.context(row));
    let words: Vec<&str> = text.split(' ').collect();
    let some = (0..1 + random.below(4)).map(|_| *random.pick(&words));
    some.collect::<Vec<_>>().join(" ")
}

/// Prints the distribution of some durations with their median relative to a reference, and returns the median.
fn report(name: &str, mut durations: Vec<Duration>, reference: Option<Duration>) -> Duration {
    durations.sort_unstable();
    let at = |share: f64| durations[((durations.len() - 1) as f64 * share) as usize];
    let ratio = reference.map_or(1.0, |reference| at(0.5).as_secs_f64() / reference.as_secs_f64());
    println!("{name:24} p50 {:>9.1?} p99 {:>9.1?} max {:>9.1?} ratio {ratio:>6.2}", at(0.5), at(0.99), at(1.0));
    at(0.5)
}

/// The durations of a call for each input, the better of two.
fn measure<T>(inputs: &[T], mut call: impl FnMut(&T)) -> Vec<Duration> {
    let mut time = |input: &T| {
        let start = Moment::now();
        call(input);
        start.elapsed()
    };
    inputs.iter().map(|input| time(input).min(time(input))).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).map(String::as_str)
    };
    let queries: usize = value("--queries").map_or(400, |queries| queries.parse().expect("a number"));
    let catalog = release::catalog(value("--index"));
    let mut random = Random(0x5eed_a5ce_0000_0022);
    let [startups, firms] = [Table::Startups, Table::Firms].map(|table| catalog.snapshot().rows(table));
    println!("release {}: {startups} startups, {firms} firms; CPU time of one thread", catalog.version());

    let start = Moment::now();
    catalog.interpret(Resource::Startups, "startups");
    println!("the words of the release, once: {:.1?}", start.elapsed());

    let names = catalog.snapshot().names(Table::Startups);
    let index = catalog.text_index(Table::Startups).expect("startups have names");
    let sought: Vec<String> =
        (0..queries).map(|_| names.name(row(&catalog, Table::Startups, &mut random)).to_lowercase()).collect();
    let reference = report("search by name", measure(&sought, |name| drop(index.search(&names, name))), None);
    let reference = Some(reference);

    let questions: Vec<(Resource, String)> = (0..queries).map(|_| question(&catalog, &mut random)).collect();
    let read = measure(&questions, |(resource, text)| drop(catalog.interpret(*resource, text)));
    report("question", read, reference);

    let texts: Vec<String> = (0..queries).map(|_| words(&catalog, &mut random)).collect();
    report("text", measure(&texts, |text| drop(index.descriptions.search(&names, text, 10_000))), reference);

    for (name, table) in [("like, firms", Table::Firms), ("like, startups", Table::Startups)] {
        // More rankings than are cached.
        let rows: Vec<u32> = (0..queries).map(|_| row(&catalog, table, &mut random)).collect();
        let time = |row: &u32| {
            let start = Moment::now();
            drop(catalog.ranked(table, &Ranking::Like(*row)));
            start.elapsed()
        };
        report(name, rows.iter().map(time).collect(), reference);
    }
}
