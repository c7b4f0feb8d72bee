//! A catalog of any size: time and memory of compiling and opening, and the speed of aggregates and lists.
//!
//! `cargo bench --bench catalog [-- --startups 1000000] [--firms 100000] [--at DIR] [--lists] [--requests] [--slowest]`
//!
//! A tenth as many firms as startups by default, two rounds for each startup. `--at` keeps the dataset and the release in a
//! folder; `--lists` only measures the lists of a release in it, `--requests` only typical requests with their records;
//! `--slowest` prints the slowest query of each class.
//! Times on a shared machine vary, so each list is also compared with two references of the same run: a naive scan of
//! columns with a sort, whose rows must be the same, and a plain copy of as many numbers.

mod aggregates;
#[path = "../clock/mod.rs"]
mod clock;
mod groups;
mod lists;
mod memory;
mod naive;
mod queries;
mod requests;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use catalog::{Catalog, TextIndexes};
use data::{Progress, Table};
use import::datagen;
use import::datagen::GenConfig;
use release::{Release, ReleaseStore};
use search::{IndexFiles, TextIndex};
use time::OffsetDateTime;

const FIRMS_PER_STARTUP: u32 = 10;

struct Options {
    startups: u32,
    firms: Option<u32>,
    at: Option<PathBuf>,
    lists: bool,
    requests: bool,
    slowest: bool,
}

fn options() -> Options {
    let mut options =
        Options { startups: 100_000, firms: None, at: None, lists: false, requests: false, slowest: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--startups" => options.startups = number(arguments.next()),
            "--firms" => options.firms = Some(number(arguments.next())),
            "--at" => options.at = arguments.next().map(PathBuf::from),
            "--lists" => options.lists = true,
            "--requests" => options.requests = true,
            "--slowest" => options.slowest = true,
            _ => {}
        }
    }
    options
}

fn number(text: Option<String>) -> u32 {
    text.and_then(|text| text.replace('_', "").parse().ok()).expect("--startups and --firms need a number")
}

fn main() {
    let options = options();
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let place = options.at.as_deref().unwrap_or(temporary.path());
    let releases = ReleaseStore::at(place.join("index"));
    if !options.lists && !options.requests {
        let firms = options.firms.unwrap_or(options.startups.div_ceil(FIRMS_PER_STARTUP));
        build(&place.join("dataset"), &releases, GenConfig::new(firms, options.startups));
    }
    let release = open(&releases);
    sizes(&release);
    requests::run(&release.catalog);
    if options.requests {
        return;
    }
    aggregates::run(&release.catalog);
    lists::run(&release.catalog, options.slowest);
}

/// Records the time and peak memory of each step.
#[derive(Default)]
struct Steps {
    running: Mutex<Option<(String, Instant)>>,
    took: Mutex<Vec<(String, Duration)>>,
}

impl Progress for Steps {
    fn step(&self, name: &str, _total: u64) {
        self.done();
        memory::forget_peak();
        *self.running.lock().expect("no panic") = Some((name.to_owned(), Instant::now()));
    }

    fn advance(&self, _done: u64) {}

    fn done(&self) {
        let Some((name, since)) = self.running.lock().expect("no panic").take() else { return };
        let took = since.elapsed();
        line(&name, took, memory::peak());
        self.took.lock().expect("no panic").push((name, took));
    }
}

impl Steps {
    fn of(&self, name: &str) -> Duration {
        let took = self.took.lock().expect("no panic");
        took.iter().filter(|(known, _)| known == name).map(|(_, took)| *took).sum()
    }
}

fn line(name: &str, took: Duration, peak: Option<u64>) {
    let peak = peak.map_or_else(String::new, |bytes| format!("{:>8} MB peak", bytes / 1_000_000));
    println!("  {name:<24}{:>10.2} s{peak}", took.as_secs_f64());
}

fn build(dataset: &Path, releases: &ReleaseStore, config: GenConfig) {
    println!("build");
    let steps = Steps::default();
    let meta = std::fs::read_to_string(dataset.join("snapshot.toml")).unwrap_or_default();
    if !meta.starts_with("# Everything in this folder is invented") {
        steps.step("generate", 0);
        datagen::generate(&config, dataset).expect("a dataset");
        steps.done();
    }
    let building = releases.begin().expect("the lock of the index");
    let began = Instant::now();
    let Ok(compiled) = data::compile(dataset, &steps) else { panic!("the generated dataset is refused") };
    let read = began.elapsed();
    let publication = building.publish(compiled, OffsetDateTime::now_utc(), &steps).expect("a release");
    let whole = began.elapsed();
    line("= read, check, derive", read, None);
    line("= with the archive", read + steps.of("tables.bin"), None);
    line("= with text and sync", whole, None);
    assert_eq!(publication.current, Some(publication.manifest.version));
}

/// Opens the release and prints the time with and without checksums.
fn open(releases: &ReleaseStore) -> Release {
    println!("open");
    let version = releases.current().expect("a readable index").expect("a release");
    let steps = Steps::default();
    let began = Instant::now();
    let release = releases.open_with_progress(version, &steps).expect("a good release");
    let verified = began.elapsed();
    let trusted = verified.saturating_sub(steps.of("checksums"));
    let began = Instant::now();
    let text = releases.release_folder(version).join("text");
    for table in TextIndexes::TABLES {
        let names = release.catalog.snapshot().names(table);
        TextIndex::open(files_of(&text.join(table.name())), &names).expect("a good text index");
    }
    line("verified", verified, memory::peak());
    line("trusted", trusted, None);
    line("  of it text indexes", began.elapsed(), None);
    release
}

fn files_of(folder: &Path) -> IndexFiles {
    let files = std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file"));
    let named = files.map(|file| (file.file_name().into_string().expect("a name"), file.path()));
    named.map(|(name, path)| (name, std::fs::read(path).expect("its bytes"))).collect()
}

fn sizes(release: &Release) {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let [tables, records, text] =
        ["tables.bin", "records.bin", "text"].map(|path| megabytes(release.manifest.bytes(path)));
    println!("size: tables {tables:.1} MB, records {records:.1} MB, text {text:.1} MB");
    let catalog: &Catalog = &release.catalog;
    for table in Table::ALL {
        let mut groups = [("records", 0_u64), ("names", 0), ("orders", 0), ("facets", 0), ("columns", 0)];
        for (name, bytes) in catalog.snapshot().sections() {
            let Some(inner) = name.strip_prefix(table.name()).and_then(|rest| rest.strip_prefix('/')) else { continue };
            let group = match inner {
                "starts" => 0,
                _ if inner.starts_with("sort/") || inner.starts_with("by_slug") || inner.starts_with("slug_rank") => 2,
                _ if inner.starts_with("name") || inner.starts_with("slug") || inner.starts_with("aliases") => 1,
                _ if inner.contains('.') => 3,
                _ => 4,
            };
            groups[group].1 += bytes;
        }
        let groups = groups.map(|(name, bytes)| format!("{name} {:.1}", megabytes(bytes)));
        println!("  {:<16}{:>10} rows   {} MB", table.name(), catalog.snapshot().rows(table), groups.join(", "));
    }
}
