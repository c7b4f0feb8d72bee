//! Values that are valid one by one, and together most likely wrong: the names are those of another column, amounts lack their
//! unit, a website means “unknown”. Imports and builds warn of them until an operator settles them in
//! [`SettledLine::FILE`], next to the sources or in the dataset.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Serialize, Serializer};

use crate::DiagnosticReport;
use crate::import::Dataset;
use crate::import::csv_row::CsvRow;
use crate::import::csv_table::TableRow;
use crate::import::diagnostics::{Diagnostics, quoted};
use crate::import::rows::{DatasetFirm, DatasetPerson, DatasetRound, DatasetStartup};
use crate::import::website;
use crate::vocabulary::{Vocabulary, vocabulary};

vocabulary! {
    /// Rule about the values of a table.
    SuspicionRule, "warning", {
        NameIsNumber = "name-is-number",
        NameIsAddress = "name-is-address",
        CommonName = "common-name",
        AliasIsName = "alias-is-name",
        SharedWebsite = "shared-website",
        SameRecord = "same-record",
        SmallAmount = "small-amount",
        FutureYear = "future-year",
        AssumedDay = "assumed-day",
    }
}

impl SuspicionRule {
    /// What the values are, and what is most likely wrong.
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::NameIsNumber => ("names without a letter", "check which column the names are from"),
            Self::NameIsAddress => ("names that are web addresses", "check which column the names are from"),
            Self::CommonName => ("name that most records have", "check which column the names are from"),
            Self::AliasIsName => ("aliases that are names of other records", "check which column the aliases are from"),
            Self::SharedWebsite => (
                "websites of three records or more",
                "check whether the records are one, or the website is of a directory",
            ),
            Self::SameRecord => (
                "websites of two records with the same name",
                "check whether they are one record, which `indexer duplicates` lists, too",
            ),
            Self::SmallAmount => {
                ("amounts below a thousandth of the median of their column", "check whether they lack their unit")
            }
            Self::AssumedDay => (
                "days that nearly all rounds of their year have, or first days of its months, which are read as the year or month",
                "`indexer check --write-dates` writes them so",
            ),
            Self::FutureYear => ("founding years in the future", "check which column the years are from"),
        }
    }
}

/// A warning that an operator has settled: a rule and the value that is right, or `*` for all values.
pub struct SettledLine {
    rule: SuspicionRule,
    value: String,
}

impl TableRow for SettledLine {
    const NOUN: &'static str = "settled warning";
    const FILE: &'static str = "settled.csv";
    const HEADER: &'static str = "warning,value,note";
    const REQUIRED: &'static str = "warning,value";
}

impl SettledLine {
    pub fn read(row: &mut CsvRow<'_, '_>) -> Option<Self> {
        let rule = row.required("warning", |row, column| row.word(column));
        let value = row.required("value", |row, column| Some(row.field(column).to_owned()));
        Some(Self { rule: rule?, value: value? })
    }
}

#[derive(Clone, Debug, Default)]
pub struct Settled(HashSet<(SuspicionRule, String)>);

impl Settled {
    const ALL: &str = "*";

    #[must_use]
    pub fn new(lines: Vec<SettledLine>) -> Self {
        Self(lines.into_iter().map(|line| (line.rule, normal(&line.value))).collect())
    }

    pub(crate) fn covers(&self, rule: SuspicionRule, value: &str) -> bool {
        let has = |value: String| self.0.contains(&(rule, value));
        !self.0.is_empty() && (has(Self::ALL.to_owned()) || has(normal(value)))
    }
}

/// Values of a column that most likely are wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suspicion {
    #[serde(serialize_with = "as_name")]
    pub warning: SuspicionRule,
    /// File of the table.
    pub file: &'static str,
    pub column: String,
    pub count: u64,
    /// The first values.
    pub examples: Vec<String>,
}

fn as_name<S: Serializer>(rule: &SuspicionRule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(rule)
}

impl Suspicion {
    /// A suspicion about values of a column.
    pub(crate) fn new<T: TableRow>(
        warning: SuspicionRule,
        column: &str,
        values: impl ExactSizeIterator<Item = impl fmt::Display>,
    ) -> Self {
        let (file, column, count) = (T::FILE, column.to_owned(), values.len() as u64);
        let examples = values.take(MAX_EXAMPLES).map(|value| value.to_string()).collect();
        Self { warning, file, column, count, examples }
    }
}

impl fmt::Display for Suspicion {
    /// `names without a letter: "42", "7" and 3 more; check …`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { warning, count, examples, .. } = self;
        let (what, check) = warning.texts();
        let listed: Vec<String> = examples.iter().map(|example| quoted(example)).collect();
        let more = match count.saturating_sub(listed.len() as u64) {
            0 => String::new(),
            hidden => format!(" and {hidden} more"),
        };
        let line = quoted(&format!("{warning},{}", examples.first().map_or("", String::as_str)));
        let file = SettledLine::FILE;
        write!(
            f,
            "{what}: {}{more}; {check}; if they are right, settle them with lines such as {line} in {file}",
            listed.join(", ")
        )
    }
}

/// Number of values that are shown.
const MAX_EXAMPLES: usize = 3;

/// Number of records of a table that are looked at, and of its aliases: the first ones.
const MAX_RECORDS: usize = 1_000_000;
const MAX_ALIASES: usize = 500_000;

/// Fewest records of one website, and fewest of one name.
const MANY: u32 = 3;

/// Aliases that are names of other records are suspicious if more than one in this many is.
const MIN_SHARE: usize = 30;

/// Fewest amounts of which a median says something.
const MIN_AMOUNTS: usize = 5;

/// Form of a value for comparison.
fn normal(text: &str) -> String {
    text.trim().trim_end_matches('/').to_lowercase()
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Values of a rule.
#[derive(Debug, Default)]
struct Examples {
    count: u64,
    values: Vec<String>,
}

impl Examples {
    fn add(&mut self, rule: SuspicionRule, value: &str, settled: &Settled) {
        if !settled.covers(rule, value) {
            self.count += 1;
            if self.values.len() < MAX_EXAMPLES {
                self.values.push(value.to_owned());
            }
        }
    }
}

/// Counts of a table's values. Texts are kept as hashes, except those that may be shown.
#[derive(Debug)]
pub struct TableTally {
    file: &'static str,
    records: u32,
    /// Number of records of each name.
    names: HashMap<u64, u32>,
    /// The only name that most records can have, with its hash and the votes for it.
    common: (String, u64, u32),
    name: u64,
    /// Hashes of alias and name of its record, and the alias.
    aliases: Vec<(u64, u64, Box<str>)>,
    websites: HashMap<u64, u32>,
    /// Names with their hosts, and the websites of the second records of such a pair.
    pairs: HashSet<(u64, u64)>,
    same: Vec<String>,
    /// Websites of many records.
    shared: Vec<String>,
    numbers: Vec<String>,
    addresses: Vec<String>,
    years: Vec<String>,
    amounts: HashMap<String, Vec<u64>>,
}

impl TableTally {
    fn new(file: &'static str) -> Self {
        Self {
            file,
            records: 0,
            names: HashMap::new(),
            common: Default::default(),
            name: 0,
            aliases: Vec::new(),
            websites: HashMap::new(),
            pairs: HashSet::new(),
            same: Vec::new(),
            shared: Vec::new(),
            numbers: Vec::new(),
            addresses: Vec::new(),
            years: Vec::new(),
            amounts: HashMap::new(),
        }
    }

    fn is_full(&self) -> bool {
        self.records as usize > MAX_RECORDS
    }

    /// Begins a record. The name is empty if it has none, as rounds.
    pub fn begin(&mut self, name: &str) {
        self.records = self.records.saturating_add(1);
        if self.is_full() || name.is_empty() {
            return;
        }
        let known = normal(name);
        self.name = hash_of(&known);
        *self.names.entry(self.name).or_default() += 1;
        // The majority vote of Boyer and Moore.
        match &mut self.common {
            (common, hash, votes @ 0) => {
                (*hash, *votes) = (self.name, 1);
                name.clone_into(common);
            }
            (_, hash, votes) if *hash == self.name => *votes += 1,
            (.., votes) => *votes -= 1,
        }
        if !name.chars().any(char::is_alphabetic) && name.chars().any(char::is_numeric) {
            keep(&mut self.numbers, name);
        }
        if known.contains("://") || known.starts_with("www.") {
            keep(&mut self.addresses, name);
        }
    }

    pub fn alias(&mut self, alias: &str) {
        if !self.is_full() && self.aliases.len() < MAX_ALIASES {
            self.aliases.push((hash_of(&normal(alias)), self.name, alias.into()));
        }
    }

    pub fn website(&mut self, url: &str) {
        if self.is_full() {
            return;
        }
        let count = self.websites.entry(hash_of(&normal(url))).or_default();
        *count += 1;
        if *count == MANY {
            keep(&mut self.shared, url);
        }
        if !self.pairs.insert((self.name, hash_of(&website::host(url)))) {
            keep(&mut self.same, url);
        }
    }

    /// Takes a year in which the record was founded, and the present one.
    pub fn founded(&mut self, year: i32, now: i32) {
        if year > now {
            keep(&mut self.years, &year.to_string());
        }
    }

    pub fn amount(&mut self, column: &str, usd: u64) {
        if usd == 0 || self.is_full() {
            return;
        }
        match self.amounts.get_mut(column) {
            Some(known) => known.push(usd),
            None => drop(self.amounts.insert(column.to_owned(), vec![usd])),
        }
    }

    fn finish(mut self, settled: &Settled, found: &mut Vec<Suspicion>) {
        let file = self.file;
        let mut tell = |warning: SuspicionRule, column: &str, values: &mut dyn Iterator<Item = &str>| {
            let mut examples = Examples::default();
            values.for_each(|value| examples.add(warning, value, settled));
            if examples.count > 0 {
                let (count, examples) = (examples.count, examples.values);
                found.push(Suspicion { warning, file, column: column.to_owned(), count, examples });
            }
        };
        tell(SuspicionRule::NameIsNumber, "name", &mut self.numbers.iter().map(String::as_str));
        tell(SuspicionRule::NameIsAddress, "name", &mut self.addresses.iter().map(String::as_str));
        let of_common = self.names.get(&self.common.1).copied().unwrap_or_default();
        if of_common >= MANY && of_common > self.records / 2 {
            tell(SuspicionRule::CommonName, "name", &mut std::iter::once(&*self.common.0));
        }
        let names = &self.names;
        let is_name = |(alias, name, _): &&(u64, u64, Box<str>)| alias != name && names.contains_key(alias);
        // Firms are also called like others; a column of other names has more of them.
        if self.aliases.iter().filter(is_name).count() * MIN_SHARE > self.aliases.len() {
            let aliases = self.aliases.iter().filter(is_name);
            tell(SuspicionRule::AliasIsName, "aliases", &mut aliases.map(|(.., alias)| &**alias));
        }
        tell(SuspicionRule::SameRecord, "website", &mut self.same.iter().map(String::as_str));
        tell(SuspicionRule::SharedWebsite, "website", &mut self.shared.iter().map(String::as_str));
        tell(SuspicionRule::FutureYear, "founded_year", &mut self.years.iter().map(String::as_str));
        let mut columns: Vec<(String, Vec<u64>)> = std::mem::take(&mut self.amounts).into_iter().collect();
        columns.sort_unstable();
        for (column, mut amounts) in columns.into_iter().filter(|(_, amounts)| amounts.len() >= MIN_AMOUNTS) {
            let middle = amounts.len() / 2;
            let median = *amounts.select_nth_unstable(middle).1;
            let small = amounts.iter().filter(|amount| **amount < median / 1_000);
            let small: Vec<String> = small.map(u64::to_string).collect();
            tell(SuspicionRule::SmallAmount, &column, &mut small.iter().map(String::as_str));
        }
    }
}

/// Number of values of a rule that are kept; the count ends there.
const MAX_KEPT: usize = 100_000;

fn keep(values: &mut Vec<String>, value: &str) {
    if values.len() < MAX_KEPT {
        values.push(value.to_owned());
    }
}

/// Tallies of all tables.
#[derive(Debug)]
pub struct Suspicions([(&'static str, TableTally); 4]);

impl Default for Suspicions {
    fn default() -> Self {
        Self([
            ("firm", TableTally::new(DatasetFirm::FILE)),
            ("startup", TableTally::new(DatasetStartup::FILE)),
            ("round", TableTally::new(DatasetRound::FILE)),
            ("person", TableTally::new(DatasetPerson::FILE)),
        ])
    }
}

impl Suspicions {
    /// Tally of a kind of records, such as `firm`.
    pub fn of(&mut self, kind: &str) -> Option<&mut TableTally> {
        self.0.iter_mut().find(|(known, _)| *known == kind).map(|(_, tally)| tally)
    }

    /// The suspicions that are not settled, in the order of tables and rules.
    #[must_use]
    pub fn finish(self, settled: &Settled) -> Vec<Suspicion> {
        let mut found = Vec::new();
        self.0.into_iter().for_each(|(_, tally)| tally.finish(settled, &mut found));
        found
    }
}

/// Adds the suspicions about a dataset to the report. Years in the future are reported with their lines already.
pub(crate) fn check(dataset: &Dataset, settled: &Settled, report: &mut DiagnosticReport) {
    let mut suspicions = Suspicions::default();
    let Suspicions([(_, firms), (_, startups), (_, rounds), (_, people)]) = &mut suspicions;
    for firm in &dataset.firms {
        firms.begin(&firm.name);
        firm.aliases.iter().for_each(|alias| firms.alias(alias));
        firm.website.iter().for_each(|url| firms.website(url));
        let own = &firm.own;
        let amounts =
            [("check_min_usd", own.check_min_usd), ("check_max_usd", own.check_max_usd), ("aum_usd", own.aum_usd)];
        for (column, amount) in amounts {
            amount.into_iter().for_each(|amount| firms.amount(column, amount));
        }
    }
    for startup in &dataset.startups {
        startups.begin(&startup.name);
        startup.aliases.iter().for_each(|alias| startups.alias(alias));
        startup.website.iter().for_each(|url| startups.website(url));
    }
    for round in &dataset.rounds {
        rounds.begin("");
        round.amount_usd.into_iter().for_each(|amount| rounds.amount("amount_usd", amount));
    }
    dataset.people.iter().for_each(|person| people.begin(&person.name));
    for suspicion in suspicions.finish(settled) {
        let message = suspicion.to_string();
        Diagnostics::new(suspicion.file, report).suspicion(&suspicion.column, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names, aliases, websites and amounts of records of one table.
    fn found(
        records: &[(&str, &str, &str, u64)],
        settled: &[(SuspicionRule, &str)],
    ) -> Vec<(&'static str, u64, String)> {
        let mut suspicions = Suspicions::default();
        let tally = suspicions.of("firm").unwrap();
        for (name, alias, website, amount) in records {
            tally.begin(name);
            tally.alias(alias);
            tally.website(website);
            tally.amount("aum_usd", *amount);
            tally.founded(2_026 + i32::from(*name == "Yew"), 2_026);
        }
        let settled = settled.iter().map(|(rule, value)| SettledLine { rule: *rule, value: (*value).to_owned() });
        let found = suspicions.finish(&Settled::new(settled.collect()));
        found.into_iter().map(|found| (found.warning.name(), found.count, found.examples[0].clone())).collect()
    }

    #[test]
    fn each_rule_tells_its_values_until_they_are_settled() {
        let ordinary: Vec<(&str, &str, &str, u64)> = vec![
            ("Alder", "Alder Capital", "https://alder.example", 5_000_000),
            ("Birch 7", "Birch", "https://birch.example", 6_000_000),
            ("Cedar", "", "https://cedar.example", 9_000_000),
            ("500 Firs", "", "https://firs.example", 8_000_000),
            ("Elm.example", "elm", "https://elm.example", 6_000_000),
        ];
        assert_eq!(found(&ordinary, &[]), []);
        let with = |others: &[(&'static str, &'static str, &'static str, u64)]| {
            ordinary.iter().copied().chain(others.iter().copied()).collect::<Vec<_>>()
        };
        for (others, rule, count, value) in [
            (vec![("1,024", "", "w1", 0), ("7", "", "w2", 0)], SuspicionRule::NameIsNumber, 2, "1,024"),
            (vec![("https://fir.example", "", "w", 0)], SuspicionRule::NameIsAddress, 1, "https://fir.example"),
            (vec![("Fir", "CEDAR", "w", 0)], SuspicionRule::AliasIsName, 1, "CEDAR"),
            (
                vec![
                    ("Fir", "", "https://list.example/", 0),
                    ("Gum", "", "https://list.example", 0),
                    ("Hop", "", "https://list.example", 0),
                ],
                SuspicionRule::SharedWebsite,
                1,
                "https://list.example",
            ),
            (
                vec![("Fir", "", "https://www.fir.example", 0), ("FIR", "", "http://fir.example/en", 0)],
                SuspicionRule::SameRecord,
                1,
                "http://fir.example/en",
            ),
            (vec![("Fir", "", "w", 5_000)], SuspicionRule::SmallAmount, 1, "5000"),
            (vec![("Yew", "", "w", 0)], SuspicionRule::FutureYear, 1, "2027"),
            (
                vec![
                    ("Seed", "", "1", 0),
                    ("Seed", "", "2", 0),
                    ("Seed", "", "3", 0),
                    ("Seed", "", "4", 0),
                    ("Seed", "", "5", 0),
                    ("Seed", "", "6", 0),
                ],
                SuspicionRule::CommonName,
                1,
                "Seed",
            ),
        ] {
            let records = with(&others);
            assert_eq!(found(&records, &[]), [(rule.name(), count, value.to_owned())]);
            let left = found(&records, &[(rule, value)]);
            assert_eq!(left.iter().map(|(_, count, _)| count).sum::<u64>(), count - 1, "{rule}");
            assert_eq!(found(&records, &[(rule, "*")]), []);
        }
    }
}
