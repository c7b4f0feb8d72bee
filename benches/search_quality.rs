//! Search quality: queries with known results over the real data, a table per kind.
//!
//! `VENTUREDEX_REAL_DATA=DIR VENTUREDEX_EVAL=DIR cargo bench --bench search_quality -- [--kind firms] [--class typo1] [--misses 5]`
//!
//! In-process, but measured as by a client: the first ten results without those in `also`. A class with fewer than ten
//! queries is not shown; ALL is the mean of the classes.

mod clock;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use venturedex::data::Names;
use venturedex::data::fold::fold;
use venturedex::search::TextIndex;

use clock::Moment;

const KINDS: [&str; 3] = ["firms", "startups", "people"];

struct Options {
    kind: Option<String>,
    class: Option<String>,
    misses: usize,
}

fn main() {
    let (Ok(data), Ok(queries)) = (std::env::var("VENTUREDEX_REAL_DATA"), std::env::var("VENTUREDEX_EVAL")) else {
        println!("skipped: VENTUREDEX_REAL_DATA and VENTUREDEX_EVAL are not set");
        return;
    };
    let options = options();
    let data = Path::new(&data);
    let sectors = Sectors::read(&data.join("sectors.csv"));
    let activity = activity(data);
    for kind in KINDS {
        if options.kind.as_deref().is_none_or(|selected| selected == kind) {
            let table = Table::read(&data.join(format!("{kind}.csv")), kind, &activity);
            run(kind, &table, &Path::new(&queries).join(format!("{kind}.jsonl")), &sectors, &options);
        }
    }
}

fn options() -> Options {
    let mut options = Options { kind: None, class: None, misses: 0 };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--kind" => options.kind = arguments.next(),
            "--class" => options.class = arguments.next(),
            "--misses" => options.misses = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(0),
            _ => {}
        }
    }
    options
}

fn rows(path: &Path) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).expect("a CSV file of the real data");
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

/// For each table the number of rounds by slug, as a catalog counts them.
fn activity(data: &Path) -> HashMap<&'static str, HashMap<String, u32>> {
    let mut counts: HashMap<&'static str, HashMap<String, u32>> = HashMap::new();
    for row in rows(&data.join("funding_rounds.csv")) {
        *counts.entry("startups").or_default().entry(row["startup"].clone()).or_default() += 1;
        for firm in row["investors"].split('|').filter(|slug| !slug.is_empty()) {
            *counts.entry("firms").or_default().entry(firm.to_owned()).or_default() += 1;
        }
    }
    counts
}

struct Sectors {
    /// Each sector with itself and its descendants.
    below: HashMap<String, HashSet<String>>,
}

impl Sectors {
    fn read(path: &Path) -> Self {
        let parents: HashMap<String, String> =
            rows(path).into_iter().map(|row| (row["slug"].clone(), row["parent"].clone())).collect();
        let mut below: HashMap<String, HashSet<String>> = HashMap::new();
        for slug in parents.keys() {
            let mut at = slug.clone();
            loop {
                if !below.entry(at.clone()).or_default().insert(slug.clone()) {
                    break;
                }
                match parents.get(&at) {
                    Some(parent) if !parent.is_empty() => at = parent.clone(),
                    _ => break,
                }
            }
        }
        Self { below }
    }
}

struct Table {
    slugs: Vec<String>,
    names: Vec<String>,
    aliases: Vec<String>,
    prominence: Vec<u32>,
    stages: Vec<Vec<String>>,
    sectors: Vec<Vec<String>>,
    countries: Vec<String>,
}

impl Names for Table {
    fn len(&self) -> u32 {
        self.names.len() as u32
    }

    fn name(&self, row: u32) -> &str {
        &self.names[row as usize]
    }

    fn aliases(&self, row: u32) -> &str {
        &self.aliases[row as usize]
    }

    fn prominence(&self, row: u32) -> u32 {
        self.prominence[row as usize]
    }
}

impl Table {
    fn read(path: &Path, kind: &str, activity: &HashMap<&'static str, HashMap<String, u32>>) -> Self {
        let mut table = Self {
            slugs: vec![],
            names: vec![],
            aliases: vec![],
            prominence: vec![],
            stages: vec![],
            sectors: vec![],
            countries: vec![],
        };
        let mut rows = rows(path);
        rows.sort_by(|left, right| left["slug"].cmp(&right["slug"]));
        for mut row in rows {
            let mut take = |column: &str| row.remove(column).unwrap_or_default();
            let list = |text: String| text.split('|').filter(|value| !value.is_empty()).map(str::to_owned).collect();
            let slug = take("slug");
            table.prominence.push(activity.get(kind).and_then(|counts| counts.get(&slug)).copied().unwrap_or(0));
            table.slugs.push(slug);
            table.names.push(take("name"));
            table.aliases.push(take("aliases"));
            table.stages.push(list(take(if kind == "startups" { "stage" } else { "stages" })));
            table.sectors.push(list(take("sectors")));
            table.countries.push(take("country"));
        }
        table
    }

    fn passing(&self, filters: Option<&Value>, sectors: &Sectors) -> Vec<bool> {
        let filter = |name: &str| filters.and_then(|filters| filters[name].as_str());
        let (stage, sector, country) = (filter("stage"), filter("sector"), filter("country"));
        (0..self.names.len())
            .map(|row| {
                stage.is_none_or(|stage| self.stages[row].iter().any(|value| value == stage))
                    && country.is_none_or(|country| self.countries[row] == country)
                    && sector.is_none_or(|sector| {
                        let below = sectors.below.get(sector);
                        self.sectors[row].iter().any(|value| below.is_some_and(|below| below.contains(value)))
                    })
            })
            .collect()
    }
}

type Measures = [f64; 3];

fn score(query: &Value, table: &Table, found: &[u32]) -> Measures {
    let list = |key: &str| -> HashSet<&str> {
        query[key].as_array().map(|slugs| slugs.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
    };
    let (also, relevant) = (list("also"), list("relevant"));
    let slug = |row: &u32| table.slugs[*row as usize].as_str();
    let found: Vec<u32> = found.iter().filter(|row| !also.contains(slug(row))).take(10).copied().collect();
    let by_prefix = query["rule"] == "prefix";
    let prefix = fold(query["query"].as_str().unwrap_or_default());
    let right: Vec<bool> = found
        .iter()
        .map(|row| {
            if by_prefix {
                fold(&table.names[*row as usize]).starts_with(&prefix)
            } else {
                relevant.contains(slug(row))
            }
        })
        .collect();
    let total = if by_prefix { query["total"].as_u64().unwrap_or(0) as usize } else { relevant.len() };
    let first = right.iter().position(|right| *right);
    [
        if first == Some(0) { 1.0 } else { 0.0 },
        if total == 0 { 0.0 } else { right.iter().filter(|right| **right).count() as f64 / total.min(10) as f64 },
        first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
    ]
}

fn run(kind: &str, table: &Table, queries: &Path, sectors: &Sectors, options: &Options) {
    let start = Moment::now();
    let index = TextIndex::in_memory(table).expect("an index");
    let built = start.elapsed();
    let text = std::fs::read_to_string(queries).expect("a file of queries");
    let mut classes: BTreeMap<String, Vec<(Measures, Duration)>> = BTreeMap::new();
    for line in text.lines() {
        let query: Value = serde_json::from_str(line).expect("a query");
        let class = query["class"].as_str().unwrap_or_default();
        if options.class.as_deref().is_some_and(|selected| selected != class) {
            continue;
        }
        let text = query["query"].as_str().unwrap_or_default();
        let filters = query.get("filters");
        let passing = filters.map(|filters| table.passing(Some(filters), sectors));
        let passes = |row: u32| passing.as_ref().is_none_or(|passing| passing[row as usize]);
        let start = Moment::now();
        let mut found = index.search(table, text);
        found.hits.retain(|hit| passes(hit.row));
        let took = start.elapsed();
        let rows: Vec<u32> = found.hits.iter().take(12).map(|hit| hit.row).collect();
        let measures = score(&query, table, &rows);
        let results = classes.entry(class.to_owned()).or_default();
        if measures[1] < 1.0 && results.iter().filter(|(measures, _)| measures[1] < 1.0).count() < options.misses {
            let best: Vec<String> = found
                .hits
                .iter()
                .take(5)
                .map(|hit| format!("{} {:.3}", table.names[hit.row as usize], hit.score))
                .collect();
            let target = table.slugs.iter().position(|slug| {
                query["relevant"].as_array().is_some_and(|list| list.iter().any(|relevant| relevant == slug))
            });
            let own = target.map(|row| index.explain(table, text, row as u32));
            println!(
                "  miss {class} {text:?} expects {} {} {:?} found {best:?}",
                query["target"],
                filters.map_or(String::new(), Value::to_string),
                own.map(|own| format!("{:.3} {}", own.score, own.strategy)),
            );
        }
        results.push((measures, took));
    }
    report(kind, table, &classes, built);
}

fn report(kind: &str, table: &Table, classes: &BTreeMap<String, Vec<(Measures, Duration)>>, built: Duration) {
    let mut all: Vec<Duration> = classes.values().flatten().map(|(_, took)| *took).collect();
    let (p50, p99, max) = times(&mut all);
    println!(
        "\n{kind}: {} names, indexed in {built:.1?}; {} queries, p50 {p50:.0} µs, p99 {p99:.0} µs, max {max:.0} µs",
        table.names.len(),
        all.len()
    );
    println!("  {:<14} {:>4} {:>6} {:>6} {:>6} {:>8} {:>8}", "class", "n", "r@1", "r@10", "MRR", "p50 µs", "p99 µs");
    let mut sums = [0.0; 3];
    let mut counted = 0;
    for (class, results) in classes.iter().filter(|(_, results)| results.len() >= 10) {
        let mean: Vec<f64> = (0..3)
            .map(|at| results.iter().map(|(measures, _)| measures[at]).sum::<f64>() / results.len() as f64)
            .collect();
        let (p50, p99, _) = times(&mut results.iter().map(|(_, took)| *took).collect::<Vec<_>>());
        println!(
            "  {class:<14} {:>4} {:>6.3} {:>6.3} {:>6.3} {p50:>8.0} {p99:>8.0}",
            results.len(),
            mean[0],
            mean[1],
            mean[2]
        );
        sums.iter_mut().zip(&mean).for_each(|(sum, mean)| *sum += mean);
        counted += 1;
    }
    if counted > 0 {
        let [first, recall, rank] = sums.map(|sum| sum / f64::from(counted));
        println!("  {:<14} {:>4} {first:>6.3} {recall:>6.3} {rank:>6.3}", "ALL", "");
    }
}

fn times(times: &mut [Duration]) -> (f64, f64, f64) {
    times.sort_unstable();
    let at = |share: f64| {
        times.get((times.len() as f64 * share) as usize).or(times.last()).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    (at(0.5), at(0.99), at(1.0))
}
