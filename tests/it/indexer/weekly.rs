//! Twelve weekly imports of three sources with overlapping records: firms and startups are renamed, deleted and added, a
//! source is removed and brought back, and some builds are filtered by license. No slug changes hands, no address is dead,
//! and no round is there twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use catalog::Catalog;
use data::{Facet, Table};
use release::ReleaseStore;

use crate::support::harness::{Numbers, rounds};

const WEEKS: usize = 12;
const TABLES: [Table; 2] = [Table::Firms, Table::Startups];
const BEGINNINGS: [&str; 20] = [
    "Alder", "Birch", "Cedar", "Dorn", "Elm", "Fern", "Gorse", "Hazel", "Iris", "Juniper", "Kelp", "Larch", "Maple",
    "Nettle", "Oak", "Poplar", "Quince", "Rowan", "Sorrel", "Thyme",
];
const ENDINGS: [&str; 20] = [
    "gate", "mill", "ford", "wick", "ridge", "holm", "bury", "dale", "shaw", "thorpe", "combe", "mere", "stead",
    "wold", "beck", "garth", "fell", "haven", "moor", "toft",
];
const CITIES: [(&str, &str); 4] = [("Oslo", "NO"), ("Lyon", "FR"), ("Turin", "IT"), ("Leeds", "GB")];
const STAGES: [&str; 3] = ["seed", "series-a", "series-b"];

/// A source: its id, its license, its priority, and whether it has rounds.
const SOURCES: [(&str, &str, u32, bool); 3] =
    [("register", "CC0-1.0", 80, true), ("tracker", "CC-BY-4.0", 60, true), ("letters", "LicenseRef-Own", 40, false)];

/// The source that is removed for some weeks.
const LETTERS: usize = 2;

struct Entity {
    name: String,
    host: String,
    place: (&'static str, &'static str),
    /// Sources that have it, as bits.
    known_to: u64,
    is_deleted: bool,
}

struct Round {
    startup: usize,
    investor: usize,
    day: String,
    stage: &'static str,
    amount: u64,
}

struct World {
    numbers: Numbers,
    names: usize,
    entities: [Vec<Entity>; 2],
    rounds: Vec<Round>,
    /// The entity that each name that was ever in use belongs to.
    owners: [BTreeMap<String, usize>; 2],
}

impl World {
    fn new(seed: u64) -> Self {
        let (entities, owners) = ([Vec::new(), Vec::new()], [BTreeMap::new(), BTreeMap::new()]);
        let mut world = Self { numbers: Numbers(seed), names: 0, entities, rounds: Vec::new(), owners };
        (0..16).for_each(|_| world.found(0));
        (0..24).for_each(|_| world.found(1));
        world
    }

    /// A name that nobody has had.
    fn fresh_name(&mut self, table: usize) -> String {
        let (first, last) = (self.names % BEGINNINGS.len(), self.names / BEGINNINGS.len());
        self.names += 1;
        let last = ENDINGS[(last + first * 7) % ENDINGS.len()];
        format!("{}{last} {}", BEGINNINGS[first], ["Capital", "Labs"][table])
    }

    /// Adds an entity, and a round of a startup.
    fn found(&mut self, table: usize) {
        let name = self.fresh_name(table);
        let place = *self.numbers.pick(&CITIES);
        let id = self.entities[table].len();
        self.owners[table].insert(name.clone(), id);
        let host = format!("{}{id}.example", ["fund", "firm"][table]);
        let known_to = 1 + self.numbers.upto(7);
        self.entities[table].push(Entity { name, host, place, known_to, is_deleted: false });
        for number in 0..if table == 1 { 1 + self.numbers.upto(2) } else { 0 } {
            let investor = self.numbers.below(self.entities[0].len());
            let day =
                format!("20{}-{:02}-{:02}", 18 + 2 * number, 1 + self.numbers.upto(12), 1 + self.numbers.upto(28));
            let stage = STAGES[number as usize];
            let amount = (1 + self.numbers.upto(40)) * 250_000;
            self.rounds.push(Round { startup: id, investor, day, stage, amount });
        }
    }

    /// Renames 5 % of the records, deletes 2 %, and founds a firm and a startup.
    fn pass_week(&mut self) {
        for table in 0..2 {
            for id in 0..self.entities[table].len() {
                match self.numbers.upto(100) {
                    0..5 => {
                        let name = self.fresh_name(table);
                        self.owners[table].insert(name.clone(), id);
                        self.entities[table][id].name = name;
                    }
                    5..7 => self.entities[table][id].is_deleted = true,
                    _ => {}
                }
            }
            self.found(table);
        }
    }

    /// The lists of a source.
    fn write(&self, source: usize, folder: &Path) {
        let is_known = |entity: &&Entity| entity.known_to & (1 << source) != 0 && !entity.is_deleted;
        for (entities, file) in self.entities.iter().zip(["firms.csv", "startups.csv"]) {
            let mut csv = "Name,Website,City,Country\n".to_owned();
            for Entity { name, host, place: (city, country), .. } in entities.iter().filter(is_known) {
                writeln!(csv, "{name},https://{host},{city},{country}").unwrap();
            }
            fs::write(folder.join(file), csv).unwrap();
        }
        let mut csv = "Startup,Country,Investor,Investor country,Date,Stage,USD\n".to_owned();
        for Round { startup, investor, day, stage, amount } in &self.rounds {
            let (startup, investor) = (&self.entities[1][*startup], &self.entities[0][*investor]);
            if is_known(&startup) && is_known(&investor) {
                let [(startup, of), (investor, from)] =
                    [startup, investor].map(|entity| (&entity.name, entity.place.1));
                writeln!(csv, "{startup},{of},{investor},{from},{day},{stage},{amount}").unwrap();
            }
        }
        fs::write(folder.join("rounds.csv"), csv).unwrap();
    }
}

fn mapping(source: usize) -> String {
    let (id, license, priority, has_rounds) = SOURCES[source];
    let list = |kind: &str, input: &str| {
        format!(
            "[[{kind}]]\nfrom = \"{input}\"\nkey = {{ column = \"Name\", by = \"name\" }}\nname = \"Name\"\n\
             website = \"Website\"\ncity = \"City\"\ncountry = \"Country\"\n"
        )
    };
    let round = "[[round]]\nfrom = \"rounds\"\nkey = { columns = [\"Startup\", \"Stage\"] }\n\
                 startup = { column = \"Startup\", by = \"name\" }\ninvestors = { column = \"Investor\", by = \"name\" }\n\
                 announced_on = \"Date\"\nstage = \"Stage\"\namount_usd = { column = \"USD\", currency = \"USD\" }\n";
    let inputs: String = ["firms", "startups", "rounds"][..if has_rounds { 3 } else { 2 }]
        .iter()
        .map(|input| format!("[input.{input}]\nfile = \"**/{input}.csv\"\n"))
        .collect();
    format!(
        "[source]\nid = \"{id}\"\ntitle = \"{id}\"\nlicense = \"{license}\"\npriority = {priority}\n{inputs}{}{}{}",
        list("firm", "firms"),
        list("startup", "startups"),
        if has_rounds { round } else { "" }
    )
}

fn indexer(arguments: &[&str]) {
    let ran = Command::new(env!("CARGO_BIN_EXE_indexer")).args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(ran.status.success(), "{arguments:?}: {}{}", text(&ran.stdout), text(&ran.stderr));
}

/// The addresses that a series of releases has served.
#[derive(Default)]
struct Served {
    /// The entity of each address.
    owners: [BTreeMap<String, usize>; 2],
}

impl Served {
    /// Checks a release against all earlier ones.
    fn check(&mut self, catalog: &Catalog, world: &World, release: &str) {
        let snapshot = catalog.snapshot();
        for (place, table) in TABLES.into_iter().enumerate() {
            let owner = |row: u32| world.owners[place][snapshot.name(table, row)];
            let mut present = BTreeSet::new();
            for row in 0..snapshot.rows(table) {
                let (slug, owner) = (snapshot.slug(table, row), owner(row));
                assert!(
                    present.insert(owner),
                    "{release}: {slug} is a second record of `{}`",
                    snapshot.name(table, row)
                );
                let former = self.owners[place].insert(slug.to_owned(), owner);
                assert!(former.is_none_or(|former| former == owner), "{release}: {slug} changed hands");
            }
            for (slug, known) in &self.owners[place] {
                let row = snapshot.find(table, slug).or_else(|| snapshot.merged_into(table, slug));
                let is_alive = row.is_some_and(|row| owner(row) == *known);
                let is_gone = row.is_none() && snapshot.gone(table, slug).is_some();
                assert!(is_alive || is_gone, "{release}: the address {slug} is dead or leads to another record");
                // A record that is renamed while its only source is removed cannot be recognized.
                let is_lost = world.entities[place][*known].known_to == 1 << LETTERS;
                assert!(
                    is_alive || is_lost || !present.contains(known),
                    "{release}: {slug} is gone, but its record is there"
                );
            }
        }
        for startup in 0..snapshot.rows(Table::Startups) {
            let rows = snapshot.facet_rows(Table::Rounds, Facet::Startup, startup);
            let stages: Vec<_> = rows.iter().map(|round| snapshot.round_stage(round).unwrap().to_string()).collect();
            let distinct: BTreeSet<&String> = stages.iter().collect();
            assert_eq!(
                distinct.len(),
                stages.len(),
                "{release}: rounds of {}",
                snapshot.name(Table::Startups, startup)
            );
        }
    }
}

fn simulate(seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let text = |name: &str| path(name).to_str().unwrap().to_owned();
    for (source, (id, ..)) in SOURCES.iter().enumerate() {
        fs::create_dir(path(id)).unwrap();
        fs::write(path(&format!("{id}.toml")), mapping(source)).unwrap();
    }
    let mut world = World::new(seed);
    let (mut all, mut licensed) = (Served::default(), Served::default());
    for week in 0..WEEKS {
        for (source, (id, ..)) in SOURCES.iter().enumerate() {
            if source == LETTERS && (5..8).contains(&week) {
                let _ = fs::remove_dir_all(path("sources").join(id));
                continue;
            }
            world.write(source, &path(id));
            let on = format!("2026-{:02}-{:02}", 1 + week / 4, 1 + week % 4 * 7);
            let [file, list, sources] =
                [format!("{id}.toml"), (*id).to_owned(), "sources".to_owned()].map(|name| text(&name));
            indexer(&["import", "--mapping", &file, &list, "--sources", &sources, "--on", &on, "--force"]);
        }
        let release = format!("2026-{:02}-{:02}.1", 1 + week / 4, 2 + week % 4 * 7);
        let build = |index: &str, more: &[&str], served: &mut Served| {
            let [sources, folder] = ["sources", index].map(&text);
            let words = ["build", "--force", "--sources", &sources, "--index", &folder, "--release", &release];
            indexer(&[&words, more].concat());
            let releases = ReleaseStore::at(&folder);
            let version = releases.current().unwrap().unwrap();
            served.check(&releases.open(version).unwrap().catalog, &world, &format!("seed {seed}, {index} {release}"));
        };
        build("all", &[], &mut all);
        if week % 3 == 1 {
            build("licensed", &["--licenses", "CC0-1.0,CC-BY-4.0"], &mut licensed);
        }
        world.pass_week();
    }
}

#[test]
fn twelve_weekly_imports_keep_every_address_and_double_no_round() {
    (1..=rounds(20, 1) as u64).for_each(simulate);
}
