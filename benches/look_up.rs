//! Speed of look-ups: names a second on one core, with their answers as JSON, next to the searches they contain.
//!
//! `VENTUREDEX_REAL_DATA=DIR cargo bench --bench look_up`. Every seventh name of each table, as it is and with a letter left out.

mod clock;
mod dataset;

use std::path::Path;

use catalog::Item;
use catalog::look_up::answer;

use clock::Moment;

/// Names of a table.
const NAMES: usize = 4_000;

fn main() {
    let Ok(data) = std::env::var("VENTUREDEX_REAL_DATA") else {
        println!("skipped: VENTUREDEX_REAL_DATA is not set");
        return;
    };
    let catalog = dataset::catalog(Path::new(&data));
    println!("{:<10} {:>8} {:>12} {:>12} {:>7}", "kind", "names", "searches/s", "look-ups/s", "ratio");
    for table in Item::TABLES {
        let names: Vec<String> = (0..catalog.snapshot().rows(table))
            .step_by(7)
            .map(|row| catalog.snapshot().name(table, row).to_owned())
            .flat_map(|name| [misspelled(&name), name])
            .take(NAMES)
            .collect();
        let searches = per_second(&names, |name| catalog.search(table, name).hits.len());
        let look_ups = per_second(&names, |name| {
            let found = catalog.look_up(&Item::named(&[table], name));
            serde_json::to_vec(&answer(&catalog, &found, "https://venturedex.invalid", 3))
                .expect("an answer is JSON")
                .len()
        });
        let ratio = look_ups / searches;
        println!("{:<10} {:>8} {searches:>12.0} {look_ups:>12.0} {ratio:>7.2}", table.name(), names.len());
    }
}

/// How many names a second `work` does, in the better of two runs.
fn per_second(names: &[String], work: impl Fn(&str) -> usize) -> f64 {
    let run = || {
        let start = Moment::now();
        std::hint::black_box(names.iter().map(|name| work(name)).sum::<usize>());
        names.len() as f64 / start.elapsed().as_secs_f64()
    };
    run().max(run())
}

fn misspelled(name: &str) -> String {
    let letters = name.chars().count();
    name.chars().enumerate().filter(|(at, _)| *at != letters / 2).map(|(_, letter)| letter).collect()
}
