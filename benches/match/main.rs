//! Back-test of `/match`: the last covered rounds of a dataset are hidden, requests are made of them, and the firms that
//! joined them are looked for in the answers.
//!
//! `[VENTUREDEX_REAL_DATA=DIR] cargo bench --bench match -- [--data DIR] [--months 6] [--rounds 2000] [--fit] [--write]`
//!
//! Without a dataset the bundled one, which is invented, is tested. `--fit` changes one weight after the other for as long
//! as the rounds of the months before, which are hidden, too, are found better; the figures are those of the last months.
//! `--write` writes the weights and the figures into `src/catalog/matching`.

#[path = "../clock/mod.rs"]
mod clock;
#[path = "../dataset/mod.rs"]
mod dataset;
#[path = "../percentiles/mod.rs"]
mod percentiles;

mod brief;
mod history;
mod rivals;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use catalog::matching::model::{MatchWeights, WEIGHTS, Weight};
use catalog::{Catalog, ListPosition, MatchQuery};
use data::coverage::{Markets, RoundField};
use data::vocabulary::Vocabulary;
use data::{Date, Table};

use brief::{Brief, between};
use clock::Moment;
use history::{Round, catalog_before, is_before};
use percentiles::times;
use rivals::Rivals;

/// Countries with fewer rounds are not listed by themselves.
const MIN_ROUNDS: usize = 30;
/// Firms of a list that are looked at; a later place counts as none.
const MAX_PLACE: usize = 1_000;
/// Requests of a fit, which are answered some hundred times.
const MAX_FITTED: usize = 500;
const DAYS_A_MONTH: f64 = 30.4375;
/// Weights that rounds do not tell, and that of the sector, which they follow.
const FOLLOWERS: [Weight; 2] = [Weight::SimilarStartups, Weight::Backers];
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/catalog/matching");

struct Options {
    data: PathBuf,
    months: u32,
    rounds: usize,
    fit: bool,
    write: bool,
}

fn options() -> Options {
    let bundled = || Path::new(env!("CARGO_MANIFEST_DIR")).join("dataset");
    let data = std::env::var_os("VENTUREDEX_REAL_DATA").map_or_else(bundled, PathBuf::from);
    let mut options = Options { data, months: 6, rounds: 2_000, fit: false, write: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut text = || arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--data" => options.data = text().into(),
            "--months" => options.months = text().parse().unwrap_or(options.months),
            "--rounds" => options.rounds = text().parse().unwrap_or(options.rounds),
            "--fit" => options.fit = true,
            "--write" => options.write = true,
            _ => {}
        }
    }
    options
}

/// A catalog of earlier rounds, and requests that were made of later ones.
struct Period<'a> {
    from: Date,
    until: Date,
    catalog: Catalog,
    briefs: Vec<Brief>,
    rivals: Rivals<'a>,
}

impl<'a> Period<'a> {
    fn new(
        options: &Options,
        rounds: &'a [Round],
        parents: &'a BTreeMap<String, String>,
        [from, until]: [Date; 2],
        most: usize,
    ) -> Self {
        let earlier: Vec<&Round> = rounds.iter().filter(|round| is_before(round.date, from)).collect();
        let rivals = Rivals::new(&earlier, parents);
        let mut briefs: Vec<Brief> =
            between(rounds, from, until).filter_map(|round| Brief::of(round, |firm| rivals.knows(firm))).collect();
        // Evenly from the whole period.
        let step = briefs.len().div_ceil(most.max(1)).max(1);
        briefs = briefs.into_iter().step_by(step).collect();
        Self { from, until, catalog: catalog_before(&options.data, from), briefs, rivals }
    }

    fn queries(&self) -> Vec<MatchQuery> {
        self.briefs.iter().map(|brief| brief.query(&self.catalog)).collect()
    }
}

/// Places of the first true investor in the lists; `None` beyond [`MAX_PLACE`].
type Places = Vec<Option<usize>>;

#[derive(Clone, Copy)]
struct Figures {
    in_ten: f64,
    in_fifty: f64,
    mrr: f64,
}

impl Figures {
    fn of(places: &[Option<usize>]) -> Self {
        let share = |value: &dyn Fn(usize) -> f64| {
            places.iter().flatten().map(|place| value(*place)).sum::<f64>() / places.len().max(1) as f64
        };
        Self {
            in_ten: share(&|place| f64::from(place < 10)),
            in_fifty: share(&|place| f64::from(place < 50)),
            mrr: share(&|place| 1.0 / (place + 1) as f64),
        }
    }

    /// The figure that the fit maximizes.
    fn goal(self) -> f64 {
        self.in_ten + self.in_fifty + self.mrr
    }

    fn row(self, list: &str) -> String {
        format!("{list} | {:.3} | {:.3} | {:.3}", self.in_ten, self.in_fifty, self.mrr)
    }
}

fn place(brief: &Brief, firms: impl Iterator<Item = impl AsRef<str>>) -> Option<usize> {
    firms.take(MAX_PLACE).position(|firm| brief.investors.contains(firm.as_ref()))
}

fn places_by(period: &Period<'_>, queries: &[MatchQuery], weights: &MatchWeights) -> Places {
    let snapshot = period.catalog.snapshot();
    let place_of = |(brief, query): (&Brief, &MatchQuery)| {
        let firms = period.catalog.matches_by(query, weights, MAX_PLACE);
        place(brief, firms.iter().map(|firm| snapshot.slug(Table::Firms, *firm)))
    };
    period.briefs.iter().zip(queries).map(place_of).collect()
}

/// Changes one weight after the other, by ever smaller steps, while that finds more.
fn fit(period: &Period<'_>) -> MatchWeights {
    let queries = period.queries();
    let goal = |weights: &MatchWeights| Figures::of(&places_by(period, &queries, weights)).goal();
    let mut best = *WEIGHTS;
    let mut reached = goal(&best);
    println!("fit: {reached:.4} at first");
    for percent in [40, 20, 10] {
        for weight in Weight::ALL.iter().filter(|weight| !FOLLOWERS.contains(weight)) {
            for factor in [100 + percent, 100 - percent] {
                let mut tried = best;
                let value = &mut tried.0[weight.index()];
                *value = (*value * factor / 100).max(1);
                for follower in FOLLOWERS {
                    tried.0[follower.index()] = tried.0[Weight::Sector.index()];
                }
                let found = goal(&tried);
                if found > reached {
                    (best, reached) = (tried, found);
                    println!("fit: {reached:.4} with {} {}", weight.name(), tried.0[weight.index()]);
                }
            }
        }
    }
    best
}

fn main() {
    let options = options();
    let rounds = history::rounds(&options.data);
    let parents = history::parents(&options.data);
    let whole = dataset::catalog(&options.data);
    let known = whole.round_coverage().known_until(Some(RoundField::Investors), &Markets::All);
    let Some(until) = known.map(|date| Date::from_days(date.last_day().days() + 1)) else {
        println!("skipped: the data has no year with known investors");
        return;
    };
    drop(whole);
    let before = |day: Date| Date::from_days(day.days() - (f64::from(options.months) * DAYS_A_MONTH).round() as i32);
    let weights = if options.fit {
        fit(&Period::new(&options, &rounds, &parents, [before(before(until)), before(until)], MAX_FITTED))
    } else {
        *WEIGHTS
    };
    let period = Period::new(&options, &rounds, &parents, [before(until), until], options.rounds);
    let last = Date::from_days(period.until.days() - 1);
    let data = if period.catalog.snapshot().is_invented() { "an invented dataset" } else { "a real dataset" };
    let head = format!("{} rounds of {} to {last} of {data}", period.briefs.len(), period.from);
    println!("{head}");

    let queries = period.queries();
    let lists: [(&str, Places); 3] = [
        ("/match", places_by(&period, &queries, &weights)),
        (
            "naive Bayes over the same counts",
            period.briefs.iter().map(|brief| place(brief, period.rivals.by_naive_bayes(brief).iter())).collect(),
        ),
        (
            "firms by number of investments",
            period.briefs.iter().map(|brief| place(brief, period.rivals.by_popularity().iter())).collect(),
        ),
    ];
    let mut by_country: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, brief) in period.briefs.iter().enumerate() {
        by_country.entry(&brief.country).or_default().push(index);
    }
    let rows: Vec<String> = lists.iter().map(|(list, places)| Figures::of(places).row(list)).collect();
    rows.iter().for_each(|row| println!("{row}"));
    for (country, indexes) in by_country.iter().filter(|(_, indexes)| indexes.len() >= MIN_ROUNDS) {
        for (list, places) in &lists {
            let of_country: Places = indexes.iter().map(|index| places[*index]).collect();
            println!("{country}, {} rounds: {}", indexes.len(), Figures::of(&of_country).row(list));
        }
    }
    speed(&period.catalog, &queries);
    distinct_points(&period.catalog, &queries);
    if options.write {
        let write = |file: &str, text: String| std::fs::write(Path::new(FOLDER).join(file), text).expect("a file");
        write("weights.txt", weights.file());
        let comment = "# What the back-test found with the weights of `weights.txt`. `cargo bench --bench match -- --write` \
                       writes this file.";
        write("back_test.txt", format!("{comment}\n{head}\n{}\n", rows.join("\n")));
    }
}

/// Time of a page of 25 firms with their reasons, at first and once the counts are cached.
fn speed(catalog: &Catalog, queries: &[MatchQuery]) {
    for run in ["first", "again"] {
        let mut measured: Vec<Duration> = queries
            .iter()
            .map(|query| {
                let start = Moment::now();
                std::hint::black_box(catalog.matches(query, ListPosition::default(), 25));
                start.elapsed()
            })
            .collect();
        let (median, late, most) = times(&mut measured);
        println!("{run}: p50 {median:.0} µs, p99 {late:.0} µs, maximum {most:.0} µs");
    }
}

fn distinct_points(catalog: &Catalog, queries: &[MatchQuery]) {
    let distinct = |query: &MatchQuery| {
        let page = catalog.matches(query, ListPosition::default(), 25);
        let points: std::collections::BTreeSet<u16> = page.matches.iter().map(|firm| firm.points).collect();
        (points.len(), page.matches.len())
    };
    let counted: Vec<(usize, usize)> = queries.iter().map(distinct).filter(|(_, firms)| *firms == 25).collect();
    let few = counted.iter().filter(|(points, _)| *points < 15).count();
    let mean = counted.iter().map(|(points, _)| *points as f64).sum::<f64>() / counted.len().max(1) as f64;
    println!("distinct points in the first 25: {mean:.1} on average, fewer than 15 in {few} of {}", counted.len());
}
