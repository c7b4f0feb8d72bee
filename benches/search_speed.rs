//! Search speed: latency by class of query and of completions of what is typed, compared with tantivy's own fuzzy query and with scoring every name, in the
//! same run; build time and size of the index.
//!
//! `cargo bench --bench search_speed -- [--names 1000000 | --from startups.csv] [--queries 200] [--hostile 50000] [--class typo1] [--query TEXT]`
//!
//! Measures the CPU time of one thread, independent of the load of the machine. Each query runs twice and the second run
//! counts; a slow one is repeated, since caches may have been evicted by another program. The names are invented: half of
//! them one coined word, the rest with common and generic words by a heavy-tailed distribution, so that the dictionary grows
//! with the number of names as it does for real ones.

mod clock;
mod percentiles;
mod random;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use data::fold::fold;
use data::vocabulary::capitalized;
use data::{MAX_PROMINENCE, Names};
use search::{IndexFiles, IndexPart, TextIndex};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, FuzzyTermQuery, Occur, Query};
use tantivy::schema::{Schema, TEXT};
use tantivy::{Index, TantivyDocument, Term};

use clock::Moment;
use percentiles::times;
use random::Random;

struct Options {
    names: usize,
    queries: usize,
    hostile: usize,
    class: Option<String>,
    query: Option<String>,
    from: Option<PathBuf>,
}

fn main() {
    let options = options();
    let mut random = Random(0x5eed_cafe_f00d_1234);
    let table = match &options.from {
        Some(path) => Table::read(path, &mut random),
        None => Table::make(options.names, &mut random),
    };

    let start = Moment::now();
    let create = |part| TextIndex::create(&table, part).expect("an index");
    let files: IndexFiles = [IndexPart::Names, IndexPart::Descriptions].into_iter().flat_map(create).collect();
    let built = start.elapsed();
    let size: usize = files.values().map(Vec::len).sum();
    let start = Moment::now();
    let index = TextIndex::open(files, &table).expect("the index");
    println!(
        "{} names (CPU time of one thread): built in {built:.2?}, {:.1} MB ({:.1} bytes a name), opened in {:.0?}",
        table.names.len(),
        size as f64 / 1e6,
        size as f64 / table.names.len() as f64,
        start.elapsed()
    );

    if let Some(query) = &options.query {
        let start = Moment::now();
        let mut found = index.search(&table, query);
        for _ in 0..999 {
            found = index.search(&table, query);
        }
        let best: Vec<&str> = found.hits.iter().take(5).map(|hit| table.name(hit.row)).collect();
        println!("{query:?}: {:.0?} each; {} hits, {best:?}", start.elapsed() / 1_000, found.hits.len());
        return;
    }
    let mut queries = make_queries(&table, options.queries, &mut random);
    queries.retain(|query| options.class.as_deref().is_none_or(|class| class == query.class));
    let best = |query: &str| index.search(&table, query).hits.iter().take(10).map(|hit| hit.row).collect();
    let ours = measure("venturedex", &table, &queries, 2, &best);
    if options.class.is_some() {
        return;
    }
    let plain = PlainTantivy::new(&table);
    let few: Vec<TestQuery> = queries.iter().step_by((queries.len() / 200).max(1)).cloned().collect();
    let theirs = measure("tantivy, FuzzyTermQuery of distance 1", &table, &few, 2, &|query| plain.search(query));
    let brute: Vec<TestQuery> = queries.iter().step_by((queries.len() / 5).max(1)).cloned().collect();
    let all = measure("every name scored", &table, &brute, 1, &|query| every_name(&index, &table, query));
    println!("ratios of p50: FuzzyTermQuery {:.0} times ours, every name {:.0} times ours", theirs / ours, all / ours);

    let typed: Vec<TestQuery> = queries.iter().filter(|query| query.class == "fold").flat_map(typed).collect();
    let complete = |text: &str| index.complete(&table, text, COMPLETIONS).iter().map(|found| found.row).collect();
    measure("completions, letter by letter", &table, &typed, 2, &complete);

    let search = |text: &str| drop(index.search(&table, text));
    hostile("searches", &search, &table, options.hostile, &mut random);
    hostile("completions", &|text| drop(complete(text)), &table, options.hostile, &mut random);
}

fn options() -> Options {
    let mut options = Options { names: 1_000_000, queries: 200, hostile: 50_000, class: None, query: None, from: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = |default: usize| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
        match argument.as_str() {
            "--names" => options.names = number(options.names),
            "--queries" => options.queries = number(options.queries),
            "--hostile" => options.hostile = number(options.hostile),
            "--query" => options.query = arguments.next(),
            "--class" => options.class = arguments.next(),
            "--from" => options.from = arguments.next().map(PathBuf::from),
            _ => {}
        }
    }
    options
}

impl Random {
    /// Small numbers often, large ones seldom.
    fn tailed(&mut self, bound: usize) -> usize {
        let share = self.below(1 << 20) as f64 / f64::from(1 << 20);
        ((bound as f64).powf(share) - 1.0) as usize
    }

    fn letter(&mut self) -> u8 {
        b'a' + self.below(26) as u8
    }
}

const BEGINNINGS: [&str; 32] = [
    "b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "st", "tr", "br", "ch",
    "sh", "th", "gr", "pl", "cr", "sp", "ph", "qu", "cl", "fl",
];
const MIDDLES: [&str; 11] = ["a", "e", "i", "o", "u", "ai", "ea", "oo", "y", "ia", "ou"];
const ENDS: [&str; 13] = ["", "n", "r", "s", "t", "l", "x", "m", "ck", "nd", "nt", "ly", "fy"];

fn coin(random: &mut Random) -> String {
    let mut word = String::new();
    for _ in 0..1 + (random.below(10) + 3) / 5 {
        word += BEGINNINGS[random.below(32).min(random.below(32))];
        word += MIDDLES[random.below(11).min(random.below(11))];
        if random.below(3) == 0 {
            word += *random.pick(&ENDS);
        }
    }
    word + *random.pick(&ENDS)
}

/// What a catalog stores: the logarithm of the share of records that are as prominent.
fn prominence(count: usize, random: &mut Random) -> Vec<u32> {
    let value = |random: &mut Random| (count as f64 / (random.below(count) + 1) as f64).ln() / (count as f64).ln();
    (0..count).map(|_| (value(random) * f64::from(MAX_PROMINENCE)) as u32).collect()
}

/// The number of completions that a list of ten asks for.
const COMPLETIONS: usize = 20;

struct Table {
    names: Vec<String>,
    aliases: Vec<String>,
    prominence: Vec<u32>,
    /// Frequent last words.
    generic: Vec<String>,
}

impl Names for Table {
    fn len(&self) -> u32 {
        self.names.len() as u32
    }

    fn name(&self, row: u32) -> &str {
        self.names.get(row as usize).map_or("", String::as_str)
    }

    fn aliases(&self, row: u32) -> &str {
        self.aliases.get(row as usize).map_or("", String::as_str)
    }

    fn prominence(&self, row: u32) -> u32 {
        self.prominence.get(row as usize).copied().unwrap_or(0)
    }
}

impl Table {
    /// The names of a CSV file of startups, firms or people.
    fn read(path: &Path, random: &mut Random) -> Self {
        let mut table = Self { names: Vec::new(), aliases: Vec::new(), prominence: Vec::new(), generic: Vec::new() };
        let mut last_words: HashMap<String, u32> = HashMap::new();
        for record in csv::Reader::from_path(path).expect("a CSV file").deserialize() {
            let mut record: HashMap<String, String> = record.expect("a row");
            let name = record.remove("name").unwrap_or_default();
            if let [_, .., last] = fold(&name).split(' ').collect::<Vec<_>>().as_slice() {
                *last_words.entry((*last).to_owned()).or_default() += 1;
            }
            table.names.push(name);
            table.aliases.push(record.remove("aliases").unwrap_or_default());
        }
        let mut last_words: Vec<(u32, String)> = last_words.into_iter().map(|(word, count)| (count, word)).collect();
        last_words.sort_unstable_by(|left, right| right.cmp(left));
        table.prominence = prominence(table.names.len(), random);
        table.generic = last_words.into_iter().take(40).map(|(_, word)| word).collect();
        table
    }

    fn make(count: usize, random: &mut Random) -> Self {
        let common: Vec<String> = (0..5_000).map(|_| coin(random)).collect();
        let generic: Vec<String> = (0..40).map(|_| coin(random)).collect();
        let names = (0..count)
            .map(|_| {
                let length = match random.below(100) {
                    0..52 => 1,
                    52..85 => 2,
                    85..96 => 3,
                    _ => 4,
                };
                let words: Vec<String> = (0..length)
                    .map(|at| {
                        let kind = random.below(100);
                        let is_last = at > 0 && at + 1 == length;
                        capitalized(&match kind {
                            _ if at == 0 && kind < 70 => coin(random),
                            _ if is_last && kind < 60 => generic[random.tailed(generic.len())].clone(),
                            _ if at == 0 || kind < 80 => common[random.tailed(common.len())].clone(),
                            _ => coin(random),
                        })
                    })
                    .collect();
                words.join(" ")
            })
            .collect();
        Self { names, aliases: vec![String::new(); count], prominence: prominence(count, random), generic }
    }
}

#[derive(Clone)]
struct TestQuery {
    class: &'static str,
    text: String,
    row: u32,
}

fn typo(text: &str, random: &mut Random, first: bool) -> String {
    let mut letters: Vec<u8> = text.bytes().collect();
    let places: Vec<usize> = (0..letters.len()).filter(|place| letters[*place] != b' ').collect();
    let at = if first { 0 } else { *random.pick(&places) };
    match random.below(4) {
        0 => letters.insert(at, random.letter()),
        1 if letters.len() > 3 => {
            letters.remove(at);
        }
        2 if at + 1 < letters.len() && letters[at + 1] != b' ' && letters[at] != letters[at + 1] => {
            letters.swap(at, at + 1)
        }
        _ => letters[at] = random.letter(),
    }
    String::from_utf8_lossy(&letters).into_owned()
}

fn make_queries(table: &Table, each: usize, random: &mut Random) -> Vec<TestQuery> {
    let mut queries = Vec::new();
    let mut add = |class, row: usize, text: String| queries.push(TestQuery { class, text, row: row as u32 });
    for _ in 0..each {
        let row = random.below(table.names.len());
        let name = fold(&table.names[row]);
        if name.len() < 4 {
            continue;
        }
        add("exact", row, table.names[row].clone());
        add("fold", row, name.to_uppercase());
        add("prefix_short", row, name.chars().take(3 + random.below(3)).collect());
        add("prefix_long", row, name.chars().take((name.len() * 2 / 3).max(4)).collect());
        let start: String = name.chars().take((name.len() * 2 / 3).max(5)).collect();
        add("prefix_typo", row, typo(start.trim(), random, false));
        add("typo1", row, typo(&name, random, false));
        add("typo1_first", row, typo(&name, random, true));
        let once = typo(&name, random, false);
        add("typo2", row, typo(&once, random, false));
        add("extra_generic", row, format!("{name} {}", random.pick(&table.generic)));
        add("join", row, name.replace(' ', ""));
        if name.len() > 5 {
            let at = 2 + random.below(name.len() - 4);
            add("split", row, format!("{} {}", &name[..at], &name[at..]));
        }
        add(
            "phonetic",
            row,
            name.replace("ph", "f").replace('c', "k").replace('y', "i").replace("ea", "e").replace('z', "s"),
        );
        let words: Vec<&str> = name.split(' ').collect();
        if let [first, .., last] = words.as_slice() {
            add("order", row, words.iter().rev().copied().collect::<Vec<_>>().join(" "));
            add("drop_generic", row, words[..words.len() - 1].join(" "));
            if !table.generic.iter().any(|word| word == last) {
                add("lastname", row, (*last).to_owned());
                add("initial", row, format!("{} {last}", &first[..1]));
            }
            add("acronym", row, words.iter().map(|word| &word[..1]).collect());
        }
    }
    queries
}

/// A name typed letter by letter.
fn typed(query: &TestQuery) -> impl Iterator<Item = TestQuery> + '_ {
    const CLASSES: [&str; 6] = ["1 letter", "2 letters", "3 letters", "4 letters", "5 letters", "more"];
    let ends = (1..=query.text.len()).filter(|end| query.text.is_char_boundary(*end));
    ends.zip(0..).map(|(end, at)| TestQuery {
        class: CLASSES[usize::min(at, CLASSES.len() - 1)],
        text: query.text[..end].to_owned(),
        row: query.row,
    })
}

/// Runs the queries and prints p50 and p99 by class; returns p50 of all in microseconds.
fn measure(name: &str, table: &Table, queries: &[TestQuery], runs: usize, search: &dyn Fn(&str) -> Vec<u32>) -> f64 {
    let mut classes: BTreeMap<&str, (Vec<Duration>, usize)> = BTreeMap::new();
    let mut slowest = Vec::new();
    for query in queries {
        let mut fastest = Duration::ZERO;
        let mut found = Vec::new();
        for _ in 0..runs {
            let start = Moment::now();
            found = search(&query.text);
            fastest = start.elapsed();
        }
        if runs > 1 && fastest > SLOW {
            fastest = fastest.min(repeat(|| search(&query.text)));
        }
        slowest.push((fastest, query));
        let class = classes.entry(query.class).or_default();
        class.0.push(fastest);
        let expected = &table.names[query.row as usize];
        class.1 += usize::from(found.iter().any(|row| table.names[*row as usize] == *expected));
    }
    let mut all: Vec<Duration> = classes.values().flat_map(|class| class.0.iter().copied()).collect();
    let (p50, p99, max) = times(&mut all);
    println!("\n{name}: {} queries, p50 {p50:.0} µs, p99 {p99:.0} µs, max {max:.0} µs", all.len());
    if all.len() >= 1_000 {
        println!("  {:<14} {:>5} {:>8} {:>8} {:>8} {:>9}", "class", "n", "p50 µs", "p99 µs", "max µs", "in top 10");
        for (class, (times_of, found)) in &mut classes {
            let (p50, p99, max) = times(times_of);
            println!(
                "  {class:<14} {:>5} {p50:>8.0} {p99:>8.0} {max:>8.0} {:>9.3}",
                times_of.len(),
                *found as f64 / times_of.len() as f64
            );
        }
    }
    slowest.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
    for (took, query) in slowest.iter().take(if all.len() >= 1_000 { 12 } else { 0 }) {
        println!("  slow: {} {:?} {:.0} µs", query.class, query.text, took.as_secs_f64() * 1e6);
    }
    p50
}

/// A query that takes longer is repeated.
const SLOW: Duration = Duration::from_micros(500);

/// The minimum of three runs.
fn repeat<T>(search: impl Fn() -> T) -> Duration {
    let time = |_| {
        let start = Moment::now();
        std::hint::black_box(search());
        start.elapsed()
    };
    (0..3).map(time).min().unwrap_or_default()
}

/// A plain tantivy index.
struct PlainTantivy {
    searcher: tantivy::Searcher,
    name: tantivy::schema::Field,
}

impl PlainTantivy {
    fn new(table: &Table) -> Self {
        let mut schema = Schema::builder();
        let name = schema.add_text_field("name", TEXT);
        let directory = tantivy::directory::RamDirectory::create();
        let mut writer = Index::builder()
            .schema(schema.build())
            .single_segment_index_writer::<TantivyDocument>(directory, 1 << 30)
            .expect("a writer");
        for text in &table.names {
            let mut document = TantivyDocument::default();
            document.add_text(name, text);
            writer.add_document(document).expect("a document");
        }
        let searcher = writer.finalize().expect("an index").reader().expect("a reader").searcher();
        Self { searcher, name }
    }

    fn search(&self, query: &str) -> Vec<u32> {
        let clauses = fold(query)
            .split(' ')
            .map(|word| {
                let term = Term::from_field_text(self.name, word);
                (Occur::Should, Box::new(FuzzyTermQuery::new(term, 1, true)) as Box<dyn Query>)
            })
            .collect();
        let top = TopDocs::with_limit(10).order_by_score();
        let found = self.searcher.search(&BooleanQuery::new(clauses), &top).expect("results");
        found.into_iter().map(|(_, address)| address.doc_id).collect()
    }
}

/// The ten best of all names by the same ranking.
fn every_name(index: &TextIndex, table: &Table, query: &str) -> Vec<u32> {
    let mut all: Vec<(f32, u32)> = (0..table.len()).map(|row| (index.explain(table, query, row).score, row)).collect();
    all.sort_unstable_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    all.iter().take(10).map(|(_, row)| *row).collect()
}

fn hostile(name: &str, run: &dyn Fn(&str), table: &Table, count: usize, random: &mut Random) {
    let mut worst = (Duration::ZERO, String::new());
    let mut all = Vec::with_capacity(count);
    for at in 0..count {
        let word = |random: &mut Random, length: usize| -> String {
            (0..length).map(|_| char::from(random.letter())).collect()
        };
        let text = match at % 12 {
            0 => word(random, 1),
            1 => word(random, 2),
            2 => word(random, 3),
            3 => (0..8).map(|_| word(random, 2)).collect::<Vec<_>>().join(" "),
            4 => char::from(random.letter()).to_string().repeat(1 + random.below(300)),
            5 => {
                let length = 100 + random.below(5_000);
                word(random, length)
            }
            6 => "🔥".repeat(1 + random.below(100)),
            7 => (0..40).map(|_| random.pick(&table.generic).clone()).collect::<Vec<_>>().join(" "),
            8 => random.pick(&table.generic).chars().take(1 + random.below(4)).collect(),
            9 => (0..2 + random.below(3)).map(|_| random.pick(&table.generic).clone()).collect::<Vec<_>>().join(" "),
            10 => {
                let (left, right) = (random.pick(&table.generic).clone(), random.pick(&table.generic).clone());
                format!("{} {}", typo(&left, random, false), typo(&right, random, true))
            }
            _ => (0..8)
                .map(|_| {
                    let length = 3 + random.below(5);
                    word(random, length)
                })
                .collect::<Vec<_>>()
                .join(" "),
        };
        let start = Moment::now();
        run(&text);
        let mut fastest = start.elapsed();
        if fastest > SLOW {
            fastest = fastest.min(repeat(|| run(&text)));
        }
        if fastest > worst.0 {
            worst = (fastest, text);
        }
        all.push(fastest);
    }
    let (p50, p99, max) = times(&mut all);
    println!(
        "\nhostile {name}: {count} queries, p50 {p50:.0} µs, p99 {p99:.0} µs, max {max:.0} µs: {:?}",
        worst.1.chars().take(60).collect::<String>()
    );
}
