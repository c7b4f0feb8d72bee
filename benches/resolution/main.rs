//! Quality and speed of resolution, against a truth that is made of real records: see `truth.rs`.
//!
//! `VENTUREDEX_REAL_DATA=DIR cargo bench --bench resolution -- [--held | --keys] [--copies 4] [--seed 7] [--errors 20] [--csv DIR]`
//!
//! `-- --keys` measures against what the data's own keys say instead: two startups of one website are one, two of different
//! websites are two, and the websites are hidden. Such labels are wrong where brands share a website or a firm has several, so
//! each pair is printed with `--errors`.
//!
//! Half of the entities are counted; `--held` counts the other half, which is for a last measurement and not for changing
//! rules. `--copies N` makes the data larger, for speed. `--csv` writes the records for other programs.

mod keys;
#[path = "../random/mod.rs"]
mod random;
mod truth;

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use ::import::resolve::{Decisions, RecordPair, Resolution, SourceRecord, TABLES, resolve};
use data::{NoProgress, Table, import};

use truth::{Entity, Truth};

struct Options {
    held: bool,
    keys: bool,
    copies: usize,
    seed: u64,
    errors: usize,
    csv: Option<String>,
}

fn options() -> Options {
    let mut options = Options { held: false, keys: false, copies: 1, seed: 7, errors: 0, csv: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse().ok()).expect("a number");
        match argument.as_str() {
            "--held" => options.held = true,
            "--keys" => options.keys = true,
            "--copies" => options.copies = number(),
            "--seed" => options.seed = number() as u64,
            "--errors" => options.errors = number(),
            "--csv" => options.csv = arguments.next(),
            _ => {}
        }
    }
    options
}

fn main() {
    let Ok(data) = std::env::var("VENTUREDEX_REAL_DATA") else {
        println!("skipped: VENTUREDEX_REAL_DATA is not set");
        return;
    };
    let options = options();
    let (dataset, report) = import::read(Path::new(&data), &NoProgress);
    let dataset = dataset.unwrap_or_else(|| panic!("{} errors", report.errors().count()));
    if options.keys {
        return keys::measure(&dataset, options.errors);
    }
    let truth = truth::make(&dataset, options.seed, options.copies);
    println!("{} records", truth.records.len());
    if let Some(folder) = &options.csv {
        write_csv(Path::new(folder), &truth).expect("the folder can be written");
    }
    let Truth { records, entities } = truth;
    let started = Instant::now();
    let resolution = resolve(records, &Decisions::default(), &NoProgress).expect("names can be indexed");
    println!("resolved in {:.1?}, {} MB at most", started.elapsed(), peak_memory() / 1024);
    let (mut queued, mut counted) = (0, 0);
    for table in TABLES {
        let (queued_here, count) = measure(table, &resolution, &entities, &options);
        queued += queued_here;
        counted += count;
    }
    println!("queued in all: {:.2} % of records", 100.0 * queued as f64 / counted as f64);
}

/// The largest resident size of the process so far, in KB; 0 if the system does not say.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Prints how good the result for a table is. The numbers of queued and of all records.
fn measure(table: Table, resolution: &Resolution, entities: &HashMap<String, Entity>, options: &Options) -> (u64, u64) {
    let records = &resolution.records;
    let entity = |row: u32| entities[&records[row as usize].id];
    let is_counted = |entity: Entity| entity.is_held == options.held;
    let of_table = |row: u32| records[row as usize].table == table;
    let mut cluster_of: HashMap<u32, usize> = HashMap::new();
    let (mut right, mut wrong, mut contradicting) = (0_u64, 0_u64, 0_u64);
    let mut errors: Vec<(u32, u32)> = Vec::new();
    for (number, cluster) in resolution.clusters.iter().enumerate().filter(|(_, cluster)| of_table(cluster[0])) {
        for (index, left) in cluster.iter().enumerate() {
            cluster_of.insert(*left, number);
            for other in &cluster[index + 1..] {
                let (one, two) = (entity(*left), entity(*other));
                if !is_counted(one) {
                    continue;
                }
                contradicting += u64::from(are_contradicting(&records[*left as usize], &records[*other as usize]));
                if one.number == two.number {
                    right += 1;
                } else if one.group != two.group {
                    wrong += 1;
                    errors.push((*left, *other));
                }
            }
        }
    }
    // Clusters that reviewed pairs would join, if all those that are right were decided so.
    let mut queued: Vec<u32> = Vec::new();
    let mut joined: HashMap<usize, usize> = HashMap::new();
    let cluster = |row: u32| cluster_of.get(&row).copied().unwrap_or(usize::MAX - row as usize);
    let mut useful = 0_u64;
    let review = resolution.review.iter().filter(|pair| of_table(pair.left) && is_counted(entity(pair.left)));
    for pair in review.clone() {
        queued.extend([pair.left, pair.right]);
        if entity(pair.left).number == entity(pair.right).number {
            useful += 1;
            let (left, right) = (root(&joined, cluster(pair.left)), root(&joined, cluster(pair.right)));
            if left != right {
                joined.insert(left, right);
            }
        }
    }
    let pairs = review.count() as u64;
    queued.sort_unstable();
    queued.dedup();
    let mut rows_of: HashMap<u32, Vec<u32>> = HashMap::new();
    for row in (0..records.len() as u32).filter(|row| of_table(*row) && is_counted(entity(*row))) {
        rows_of.entry(entity(row).number).or_default().push(row);
    }
    let (mut possible, mut found) = (0_u64, 0_u64);
    let mut missed: Vec<(u32, u32)> = Vec::new();
    let mut count = 0_u64;
    for rows in rows_of.values() {
        count += rows.len() as u64;
        for (index, left) in rows.iter().enumerate() {
            for other in &rows[index + 1..] {
                possible += 1;
                if root(&joined, cluster(*left)) == root(&joined, cluster(*other)) {
                    found += 1;
                } else {
                    missed.push((*left, *other));
                }
            }
        }
    }
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    println!(
        "{:<9} {count:>7} records  {possible:>7} pairs  merged: precision {:.4} ({wrong} wrong), recall {:.4}  with review: \
         recall {:.4}  queued {:.2} % of records, {pairs} pairs, {:.0} % right  contradicting {contradicting}",
        table.name(),
        share(right, right + wrong),
        share(right, possible),
        share(found, possible),
        100.0 * share(queued.len() as u64, count),
        100.0 * share(useful, pairs),
    );
    if options.errors > 0 {
        missed.sort_unstable();
        show("merged wrongly", &errors, options.errors, resolution);
        show("missed", &missed, options.errors, resolution);
        let useless = resolution.review.iter().filter(|pair| {
            of_table(pair.left)
                && is_counted(entity(pair.left))
                && entity(pair.left).number != entity(pair.right).number
        });
        show(
            "queued in vain",
            &useless.map(|pair| (pair.left, pair.right)).collect::<Vec<_>>(),
            options.errors,
            resolution,
        );
        for (title, pairs) in [("merged", &resolution.merged), ("queued", &resolution.review)] {
            let mut kinds: HashMap<String, [u64; 2]> = HashMap::new();
            for pair in pairs.iter().filter(|pair| of_table(pair.left) && is_counted(entity(pair.left))) {
                let (left, right) = (entity(pair.left), entity(pair.right));
                if left.number != right.number && left.group == right.group {
                    continue;
                }
                let evidence: Vec<&str> = pair.evidence.iter().map(|evidence| evidence.name()).collect();
                let count = kinds.entry(format!("{} {}", pair.score, evidence.join(", "))).or_default();
                count[usize::from(left.number == right.number)] += 1;
            }
            let mut kinds: Vec<_> = kinds.into_iter().collect();
            let is_merged = title == "merged";
            kinds.sort_by_key(|(_, [wrong, right])| std::cmp::Reverse(if is_merged { *wrong } else { wrong + right }));
            println!("  {title} by evidence: wrong, right");
            kinds.iter().take(options.errors).for_each(|(kind, [no, yes])| println!("    {no:>5} {yes:>5}  {kind}"));
        }
    }
    (queued.len() as u64, count)
}

fn root(joined: &HashMap<usize, usize>, mut cluster: usize) -> usize {
    while let Some(next) = joined.get(&cluster) {
        cluster = *next;
    }
    cluster
}

/// Whether two records have different values of the one strong scheme.
fn are_contradicting(left: &SourceRecord, right: &SourceRecord) -> bool {
    let value =
        |record: &SourceRecord| record.identifiers.first().map(|(_, value)| value.clone()).filter(|value| value != "0");
    value(left).zip(value(right)).is_some_and(|(left, right)| left != right)
}

fn show(title: &str, pairs: &[(u32, u32)], count: usize, resolution: &Resolution) {
    println!("  {title}: {}", pairs.len());
    let step = (pairs.len() / count).max(1);
    let score: HashMap<(u32, u32), &RecordPair> =
        resolution.merged.iter().chain(&resolution.review).map(|pair| ((pair.left, pair.right), pair)).collect();
    for (left, right) in pairs.iter().step_by(step).take(count) {
        let text = |row: u32| {
            let SourceRecord { id, name, website, country, city, founded_year, .. } = &resolution.records[row as usize];
            let country = country.map(|country| country.to_string());
            format!(
                "{name} [{id}] {} {} {} {}",
                website.as_deref().unwrap_or("-"),
                country.as_deref().unwrap_or("-"),
                city.as_deref().unwrap_or("-"),
                founded_year.unwrap_or(0)
            )
        };
        println!("    {}\n    {}", text(*left), text(*right));
        if let Some(pair) = score.get(&(*left.min(right), *left.max(right))) {
            let names: Vec<&str> = pair.evidence.iter().map(|evidence| evidence.name()).collect();
            println!("      {} by {}", pair.score, names.join(", "));
        }
    }
}

/// Writes `records.csv` with the entity of each record.
fn write_csv(folder: &Path, truth: &Truth) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut out = std::io::BufWriter::new(fs::File::create(folder.join("records.csv"))?);
    writeln!(out, "id,table,source,name,domain,country,city,founded_year,lei,entity,group,held")?;
    for record in &truth.records {
        let entity = truth.entities[&record.id];
        let quote = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let domain = record.website.as_deref().map(import::website::host).unwrap_or_default();
        let lei = record.identifiers.first().map(|(_, value)| value.as_str()).unwrap_or_default();
        let fields = [
            quote(&record.id),
            record.table.name().to_owned(),
            record.source.to_string(),
            quote(&record.name),
            quote(&domain),
            record.country.map(|country| country.to_string()).unwrap_or_default(),
            quote(record.city.as_deref().unwrap_or_default()),
            record.founded_year.map(|year| year.to_string()).unwrap_or_default(),
            lei.to_owned(),
            entity.number.to_string(),
            entity.group.to_string(),
            u8::from(entity.is_held).to_string(),
        ];
        writeln!(out, "{}", fields.join(","))?;
    }
    out.flush()
}
