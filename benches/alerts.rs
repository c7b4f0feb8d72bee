//! Speed of evaluating saved searches after a swap of releases, next to counting what they match in both releases.
//!
//! `cargo bench --bench alerts [-- --startups 250000] [--searches 100000]`
//!
//! Two rounds and one person for each startup and a tenth as many firms: 250,000 startups are a million records. In the later
//! release one startup in a hundred is in another city, and one in two hundred is new. One search in ten is by name.

mod clock;
mod dataset;
mod random;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ::service::alerts::evaluate;
use auth::SqliteStore;
use auth::quota::Tier;
use auth::watch::{NewWatch, WATCHED};
use catalog::comparison::SAVED;
use catalog::{Catalog, Request, Resource, RowFilter};
use clock::Moment;
use data::Table;
use form_urlencoded::Serializer;
use import::datagen;
use import::datagen::GenConfig;
use random::Random;
use release::ActiveRelease;

/// Searches of one account.
const PER_ACCOUNT: usize = 100;
const LATER: &str = "2026-11-27.1";

fn main() {
    let option = |name: &str, default: usize| {
        let mut arguments = std::env::args().skip_while(|argument| argument != name);
        let text = arguments.nth(1).map(|text| text.replace('_', ""));
        text.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} needs a number")))
    };
    let (startups, searches) = (option("--startups", 250_000), option("--searches", 100_000));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dataset = folder.path().join("dataset");
    let startups = u32::try_from(startups).expect("a number of 32 bits");
    datagen::generate(&GenConfig::new(startups.div_ceil(10), startups), &dataset).expect("a dataset");
    let earlier = Arc::new(dataset::catalog(&dataset));
    edit(&dataset);
    let later = Arc::new(dataset::catalog(&dataset));
    let records: u32 = Table::ALL.iter().map(|table| later.snapshot().rows(*table)).sum();

    let store = SqliteStore::open(&folder.path().join("data")).expect("a store");
    let queries = queries(&later, searches);
    save(&store, folder.path(), &queries, earlier.version().to_string());
    let began = Moment::now();
    let matches: u64 =
        queries.iter().map(|(table, query)| count(&earlier, *table, query) + count(&later, *table, query)).sum();
    let counting = began.elapsed();

    let releases = ActiveRelease::new(earlier, 3);
    releases.replace(later);
    let (began, cpu) = (Instant::now(), Moment::now());
    let alerts = evaluate(&store, &releases, 0, &|| false).expect("a store that works");
    let (took, cpu) = (began.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    println!("{records} records, {searches} searches with {matches} matches in both releases, {alerts} alerts");
    println!("evaluated in {took:.1} s, {cpu:.1} s of CPU; counted in {:.1} s", counting.as_secs_f64());
    println!("ratio {:.2}", cpu / counting.as_secs_f64());
}

/// Makes the dataset that of the later release.
fn edit(dataset: &Path) {
    let path = dataset.join("snapshot.toml");
    let text = fs::read_to_string(&path).expect("a description");
    let version = |line: &str| match line.starts_with("version") {
        true => format!("version = \"{LATER}\""),
        false => line.to_owned(),
    };
    fs::write(path, text.lines().map(version).collect::<Vec<_>>().join("\n")).expect("a file");
    let path = dataset.join("startups.csv");
    let mut reader = csv::Reader::from_path(&path).expect("startups");
    let header = reader.headers().expect("a header").clone();
    let column = |name: &str| header.iter().position(|column| column == name).expect("a column");
    let (slug, name, city) = (column("slug"), column("name"), column("city"));
    let rows: Vec<Vec<String>> =
        reader.records().map(|row| row.expect("a row").iter().map(str::to_owned).collect()).collect();
    let mut writer = csv::Writer::from_path(path).expect("a file");
    writer.write_record(&header).expect("a row");
    for (number, mut row) in rows.into_iter().enumerate() {
        if number % 100 == 7 {
            row[city] = "Elsewhere".to_owned();
        }
        writer.write_record(&row).expect("a row");
        if number % 200 == 11 {
            row[slug] = format!("newcomer-{number}");
            row[name] = format!("Newcomer {number}");
            writer.write_record(&row).expect("a row");
        }
    }
    writer.flush().expect("a file");
}

/// Searches as people save them: one to three conditions with the values of a record, or a name.
fn queries(catalog: &Catalog, count: usize) -> Vec<(Table, String)> {
    let snapshot = catalog.snapshot();
    let mut random = Random(20_261_123);
    let mut queries = Vec::with_capacity(count);
    while queries.len() < count {
        let table = *random.pick(&WATCHED);
        let row = random.below(snapshot.rows(table) as usize) as u32;
        let text = snapshot.record(table, row).json();
        let record: serde_json::Value = serde_json::from_slice(&text).expect("a record");
        let mut query = Serializer::new(String::new());
        if table != Table::Rounds && random.below(10) == 0 {
            query.append_pair("q", snapshot.name(table, row));
        } else {
            let parameters = Resource::of_table(table).parameters();
            let value = |name: &str| match &record[name] {
                serde_json::Value::String(text) => Some(text.clone()),
                serde_json::Value::Array(values) => Some(values.first()?.as_str()?.to_owned()),
                _ => None,
            };
            let mut pairs: Vec<(&str, String)> = parameters
                .iter()
                .filter(|parameter| parameter.name != "slug" && parameter.name != "id")
                .filter_map(|parameter| Some((parameter.name, value(parameter.name)?)))
                .collect();
            for _ in 0..1 + random.below(3) {
                if !pairs.is_empty() {
                    let (name, value) = pairs.swap_remove(random.below(pairs.len()));
                    query.append_pair(name, &value);
                }
            }
        }
        queries.push((table, query.finish()));
    }
    queries
}

/// Saves the searches; one by one each would wait for the disk.
fn save(store: &SqliteStore, folder: &Path, queries: &[(Table, String)], evaluated: String) {
    let name = "saved".parse().expect("a name");
    let first = store.create_account(&"a@example.com".parse().expect("an address"), Tier::Enterprise, None, 0);
    let served = evaluated.parse().expect("a version");
    let watch = NewWatch { name: &name, table: Table::Firms, query: Some("slug=none"), records: &[], served };
    store.add_watch(first.expect("an account").id, watch, 0).expect("a saved search");
    let mut database = rusqlite::Connection::open(folder.join("data/venturedex.sqlite")).expect("the store");
    let transaction = database.transaction().expect("a transaction");
    {
        let mut account = transaction
            .prepare("INSERT INTO accounts (email, tier, created_at) VALUES (?, 'pro', 0) RETURNING id")
            .expect("a statement");
        let mut watch = transaction
            .prepare("INSERT INTO watches (account, name, records, query, created_at, evaluated, emails) VALUES (?, 's', ?, ?, 0, ?, 1)")
            .expect("a statement");
        for (number, searches) in queries.chunks(PER_ACCOUNT).enumerate() {
            let owner: i64 =
                account.query_row([format!("{number}@example.com")], |row| row.get(0)).expect("an account");
            for (table, query) in searches {
                watch.execute((owner, table.name(), query, &evaluated)).expect("a saved search");
            }
        }
    }
    transaction.commit().expect("a commit");
}

/// How many records match a search.
fn count(catalog: &Catalog, table: Table, query: &str) -> u64 {
    let values: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let Ok(parsed) = catalog.parse(Resource::of_table(table), &values, SAVED) else { return 0 };
    let Request::List(query) = parsed.request else { unreachable!("a plain list") };
    let filter = RowFilter::new(catalog, table, &query.filters);
    match &query.text {
        Some(text) => catalog.search(table, text).hits.iter().filter(|hit| filter.contains(hit.row)).count() as u64,
        None => filter.count(),
    }
}
