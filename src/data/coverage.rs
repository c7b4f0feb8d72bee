//! Coverage by year: of which years and countries the data has funding rounds, and of which of them it knows investors,
//! leads and amounts. Every note, chart and sentence on coverage reads this model, so that no two of them disagree.
//!
//! Coverage has one class for each year and set of countries. The country of a round is that of its startup.
//!
//! | class | rounds of a year | a field of these rounds |
//! |---|---|---|
//! | known | their countries have at least two thirds of all rounds of the data | at least half of them have a value |
//! | part | a smaller part of the countries is known | at least a twentieth |
//! | none | no country is known | fewer |
//!
//! A year is known as a whole if it has at least a twentieth of the rounds of the year with most and, if both neighbors
//! have at least ten, at least a fifth of those of the smaller one; except for countries that have less than a fifth of their usual share of it. If the countries
//! with so few make up more than a third of the data, the year was read from a source on the others: it is known only for
//! those that pass the same tests by their own rounds and have at least [`MIN_ROUNDS`].

use std::collections::{BTreeMap, BTreeSet};

use crate::archive::facet_column::RowSet;
use crate::vocabulary::enumerated;
use crate::{Country, Facet, PartialDate, Snapshot, Table};

/// A year has at least one round for this many of the year with most; a field has a value for one of as many rounds.
const MIN_SHARE: u64 = 20;
/// A year has at least one round for this many of a neighbor with [`MIN_AROUND_GAP`], a country one for as many as usual.
const MIN_RELATIVE: u64 = 5;
const MIN_AROUND_GAP: u64 = 10;
/// Countries of at least one in this many rounds are missed in a year that is known for the others only.
const MAX_MISSING: u64 = 3;
/// Minimum number of rounds by which one country is judged.
const MIN_ROUNDS: u64 = 20;
/// Rounds of a year count as dated by year only if nine of ten are.
const DATED_BY_YEAR: (u64, u64) = (9, 10);
/// Maximum number of countries listed by name.
const MAX_NAMED: usize = 3;

/// The country of a round's startup, if it is known.
pub type Market = Option<Country>;

/// A field of funding rounds that is unknown for some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundField {
    Investors,
    Leads,
    Amounts,
}

/// Ordered from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoverageClass {
    None,
    Part,
    Known,
}

/// Countries by which rounds are chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Markets {
    #[default]
    All,
    Only(Vec<Country>),
    Except(Vec<Country>),
}

impl Markets {
    fn contains(&self, market: Market) -> bool {
        match self {
            Self::All => true,
            Self::Only(countries) => market.is_some_and(|country| countries.contains(&country)),
            Self::Except(countries) => market.is_some_and(|country| !countries.contains(&country)),
        }
    }
}

/// Numbers of dated rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundCounts {
    pub rounds: u64,
    /// Rounds with a value, in the order of [`RoundField`].
    known: [u64; 3],
    by_year_only: u64,
    /// Date of the newest round, and of the newest with known investors.
    newest: [Option<PartialDate>; 2],
}

impl RoundCounts {
    pub fn with(self, field: Option<RoundField>) -> u64 {
        field.map_or(self.rounds, |field| self.known[field as usize])
    }

    fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.by_year_only += other.by_year_only;
        self.newest = std::array::from_fn(|of| self.newest[of].max(other.newest[of]));
        self.known.iter_mut().zip(other.known).for_each(|(sum, known)| *sum += known);
    }

    fn is_dated_by_year(self) -> bool {
        self.rounds >= MIN_ROUNDS && self.by_year_only * DATED_BY_YEAR.1 >= self.rounds * DATED_BY_YEAR.0
    }
}

/// A dated round, as coverage counts it.
#[derive(Clone, Copy, Debug)]
pub struct CountedRound {
    pub market: Market,
    pub date: PartialDate,
    /// Of which fields it has a value, in the order of [`RoundField`].
    pub known: [bool; 3],
}

#[derive(Clone, Debug, Default)]
struct Year {
    counts: BTreeMap<Market, RoundCounts>,
    all: RoundCounts,
    /// The markets that are not covered, if the year as a whole is; else those that are.
    scope: YearScope,
    /// How many of the rounds of all years are of markets that are covered in this one.
    covered: u64,
}

#[derive(Clone, Debug)]
enum YearScope {
    AllExcept(BTreeSet<Market>),
    Only(BTreeSet<Market>),
}

impl Default for YearScope {
    fn default() -> Self {
        Self::Only(BTreeSet::new())
    }
}

impl Year {
    fn covers(&self, market: Market) -> bool {
        match &self.scope {
            YearScope::AllExcept(missing) => !missing.contains(&market),
            YearScope::Only(known) => known.contains(&market),
        }
    }

    fn is_known(&self) -> bool {
        matches!(self.scope, YearScope::AllExcept(_))
    }

    fn of(&self, market: Market) -> u64 {
        self.counts.get(&market).map_or(0, |counts| counts.rounds)
    }
}

/// Countries with less than a fifth of their usual share of a year; it is not whole if they are more than a third of all.
struct SparseYear {
    missing: BTreeSet<Market>,
    is_whole: bool,
}

/// The coverage of the dated rounds of a release, or of other dated records that are counted as rounds.
#[derive(Clone, Debug, Default)]
pub struct RoundCoverage {
    /// The years with a round.
    years: BTreeMap<i32, Year>,
    /// Rounds of all years.
    markets: BTreeMap<Market, u64>,
    rounds: u64,
    /// For each market, the date up to which rounds are known.
    rounds_until: BTreeMap<Market, PartialDate>,
}

impl RoundCoverage {
    pub fn from_snapshot(snapshot: &Snapshot) -> Self {
        let countries = snapshot.row_values(Table::Rounds, Facet::Country);
        let known = |facet: Facet| snapshot.known_rows(Table::Rounds, facet);
        let (investors, leads): (RowSet<'_>, RowSet<'_>) = (known(Facet::Investor), known(Facet::Lead));
        Self::count((0..snapshot.rows(Table::Rounds)).filter_map(|round| {
            let country = countries.of(round).first();
            Some(CountedRound {
                market: country.and_then(|country| Country::at(*country as usize)),
                date: snapshot.round_date(round)?,
                known: [investors.contains(round), leads.contains(round), snapshot.round_amount(round).is_some()],
            })
        }))
    }

    pub fn count(rounds: impl Iterator<Item = CountedRound>) -> Self {
        let mut coverage = Self::default();
        for CountedRound { market, date, known } in rounds {
            let has_investors = known[RoundField::Investors as usize];
            let counts = RoundCounts {
                rounds: 1,
                known: known.map(u64::from),
                by_year_only: u64::from(date.quarter().is_none()),
                newest: [Some(date), Some(date).filter(|_| has_investors)],
            };
            let year = coverage.years.entry(date.year()).or_default();
            year.counts.entry(market).or_default().add(counts);
            year.all.add(counts);
            *coverage.markets.entry(market).or_default() += 1;
        }
        coverage.judge();
        let countries: Vec<Country> = coverage.markets.keys().copied().flatten().collect();
        let until = countries.into_iter().map(|country| (Some(country), Markets::Only(vec![country])));
        let until = until.chain([(None, Markets::All)]).map(|(market, of)| (market, coverage.known_until(None, &of)));
        coverage.rounds_until = until.filter_map(|(market, until)| Some((market, until?))).collect();
        coverage
    }

    /// Sets the scope of each year.
    fn judge(&mut self) {
        // A source on one country alone adds to its rounds, not to its usual share of years known as a whole.
        let sparse = self.sparse(&self.markets);
        let mut usual: BTreeMap<Market, u64> = BTreeMap::new();
        for (_, year) in self.years.iter().filter(|(year, _)| sparse[year].is_whole) {
            year.counts.iter().for_each(|(market, counts)| *usual.entry(*market).or_default() += counts.rounds);
        }
        let sparse = if usual.is_empty() { sparse } else { self.sparse(&usual) };
        let rounds = |year: i32| self.years.get(&year).map_or(0, |counts| counts.all.rounds);
        let whole = |year: i32| if sparse.get(&year).is_some_and(|year| year.is_whole) { rounds(year) } else { 0 };
        let dense = dense_years(&self.years, whole);
        let covers = |year: i32, market: Market| {
            let of_market = |year: i32| self.years.get(&year).map_or(0, |counts| counts.of(market));
            let is_large = of_market(year) >= MIN_ROUNDS && !sparse[&year].missing.contains(&market);
            is_large && dense_years(&self.years, of_market).contains(&year)
        };
        let scope = |year: i32| match sparse[&year].is_whole {
            true if dense.contains(&year) => YearScope::AllExcept(sparse[&year].missing.clone()),
            true => YearScope::default(),
            false => YearScope::Only(self.markets.keys().copied().filter(|market| covers(year, *market)).collect()),
        };
        let scopes: Vec<YearScope> = self.years.keys().map(|year| scope(*year)).collect();
        for (year, scope) in self.years.values_mut().zip(scopes) {
            year.scope = scope;
            let covered = self.markets.iter().filter(|(market, _)| year.covers(**market));
            year.covered = covered.map(|(_, rounds)| rounds).sum();
        }
        self.rounds = self.markets.values().sum();
    }

    /// The countries that each year lacks, by their usual numbers of rounds.
    fn sparse(&self, usual: &BTreeMap<Market, u64>) -> BTreeMap<i32, SparseYear> {
        let total: u64 = usual.values().sum();
        let of_year = |(year, counts): (&i32, &Year)| {
            let expected = |rounds: u64| rounds * counts.all.rounds / total.max(1);
            let is_missing =
                |(market, rounds): &(&Market, &u64)| counts.of(**market) < expected(**rounds) / MIN_RELATIVE;
            let missing: BTreeSet<Market> = usual.iter().filter(is_missing).map(|(market, _)| *market).collect();
            let missed: u64 = missing.iter().map(|market| usual[market]).sum();
            (*year, SparseYear { missing, is_whole: missed * MAX_MISSING <= total })
        };
        self.years.iter().map(of_year).collect()
    }

    /// The years with any round.
    pub fn dated_years(&self) -> BTreeSet<i32> {
        self.years.keys().copied().collect()
    }

    pub fn counts(&self, markets: &Markets, year: i32) -> RoundCounts {
        let Some(year) = self.years.get(&year) else { return RoundCounts::default() };
        if *markets == Markets::All {
            return year.all;
        }
        let mut sum = RoundCounts::default();
        let chosen = year.counts.iter().filter(|(market, _)| markets.contains(**market));
        chosen.for_each(|(_, counts)| sum.add(*counts));
        sum
    }

    /// The class of the rounds of a year, or of one of their fields.
    pub fn class(&self, field: Option<RoundField>, markets: &Markets, year: i32) -> CoverageClass {
        let Some(of_year) = self.years.get(&year) else { return CoverageClass::None };
        let (mut covered, mut all) = (0, 0);
        if *markets == Markets::All {
            (covered, all) = (of_year.covered, self.rounds);
        } else {
            for (market, rounds) in self.markets.iter().filter(|(market, _)| markets.contains(**market)) {
                all += rounds;
                covered += if of_year.covers(*market) { *rounds } else { 0 };
            }
        }
        let class = match (covered, all) {
            // A country without any round.
            (_, 0) if of_year.is_known() => CoverageClass::Known,
            (0, _) => CoverageClass::None,
            _ if (all - covered) * MAX_MISSING <= all => CoverageClass::Known,
            _ => CoverageClass::Part,
        };
        field.map_or(class, |field| class.min(self.class_of_field(field, markets, year)))
    }

    fn class_of_field(&self, field: RoundField, markets: &Markets, year: i32) -> CoverageClass {
        let own = self.counts(markets, year);
        // A few rounds say nothing about a field.
        let counts = if own.rounds < MIN_ROUNDS { self.counts(&Markets::All, year) } else { own };
        match counts.with(Some(field)) {
            known if known > 0 && known * 2 >= counts.rounds => CoverageClass::Known,
            known if known > 0 && known * MIN_SHARE >= counts.rounds => CoverageClass::Part,
            _ => CoverageClass::None,
        }
    }

    /// True if the data has rounds of the year, or values of a field of them, of all of these countries or of a part.
    pub fn covers(&self, field: Option<RoundField>, markets: &Markets, year: i32) -> bool {
        self.class(field, markets, year) > CoverageClass::None
    }

    /// The years that [`RoundCoverage::covers`].
    pub fn years(&self, field: Option<RoundField>, markets: &Markets) -> BTreeSet<i32> {
        self.years.keys().copied().filter(|year| self.covers(field, markets, *year)).collect()
    }

    /// The countries of these that are covered in a year, if they are a part of them: "India only".
    pub fn only(&self, markets: &Markets, year: i32) -> Option<&BTreeSet<Market>> {
        match &self.years.get(&year)?.scope {
            YearScope::Only(known) if self.class(None, markets, year) == CoverageClass::Part => Some(known),
            _ => None,
        }
    }

    /// The years of which only some of these countries are covered, by these countries as a text.
    pub fn partial_years(&self, field: Option<RoundField>, markets: &Markets) -> BTreeMap<String, BTreeSet<i32>> {
        let mut years: BTreeMap<String, BTreeSet<i32>> = BTreeMap::new();
        for year in self.years(field, markets) {
            if let Some(only) = self.only(markets, year) {
                let known: Vec<Market> = only.iter().copied().filter(|market| markets.contains(*market)).collect();
                years.entry(market_names(&known)).or_default().insert(year);
            }
        }
        years
    }

    /// The years of which most rounds are dated by year only.
    pub fn years_without_days(&self) -> BTreeSet<i32> {
        self.years.iter().filter(|(_, year)| year.all.is_dated_by_year()).map(|(year, _)| *year).collect()
    }

    /// The covered years as a text: `2004 to 2015, and 2020 to 2021 for India only`. `None` if no year is covered.
    pub fn covered_text(&self, field: Option<RoundField>, markets: &Markets) -> Option<String> {
        let partial = self.partial_years(field, markets);
        let is_partial = |year: &i32| partial.values().any(|years| years.contains(year));
        let mut whole = self.years(field, markets);
        whole.retain(|year| !is_partial(year));
        let whole = (!whole.is_empty()).then(|| spans(&whole));
        let partial = partial.iter().map(|(countries, years)| format!("{} for {countries} only", spans(years)));
        let texts: Vec<String> = whole.into_iter().chain(partial).collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// Date of the newest round of the years that are covered for all of these countries, with known investors if these are
    /// the field.
    pub fn known_until(&self, field: Option<RoundField>, markets: &Markets) -> Option<PartialDate> {
        let partial = self.partial_years(field, markets);
        let is_partial = |year: &i32| partial.values().any(|years| years.contains(year));
        let years = self.years(field, markets).into_iter().rev().filter(|year| !is_partial(year));
        let of = usize::from(field == Some(RoundField::Investors));
        years.filter_map(|year| self.counts(markets, year).newest[of]).next()
    }

    /// Date up to which the rounds of a country are known; of all countries if there is none.
    pub fn rounds_until(&self, market: Market) -> Option<PartialDate> {
        self.rounds_until.get(&market).copied()
    }

    /// A sentence on the end of known investors, if the data has rounds after it: no later investment can be known.
    pub fn investors_until(&self, markets: &Markets) -> Option<InvestorHorizon> {
        let field = Some(RoundField::Investors);
        let partial = self.partial_years(field, markets);
        let is_partial = |year: &i32| partial.values().any(|years| years.contains(year));
        let last = self.years(field, markets).into_iter().rfind(|year| !is_partial(year))?;
        let last_covered = self.years(None, markets).into_iter().next_back()?;
        let until = self.known_until(field, markets)?;
        (last_covered > last).then_some(InvestorHorizon { until, partial })
    }
}

/// The last date of which investors are known, and later years with those of some countries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvestorHorizon {
    pub until: PartialDate,
    pub partial: BTreeMap<String, BTreeSet<i32>>,
}

impl InvestorHorizon {
    /// The later years as a clause: `, and of 2020 to 2021 for India only`.
    pub fn later(&self) -> String {
        let later = self.partial.iter().map(|(countries, years)| {
            let years: BTreeSet<i32> = years.iter().copied().filter(|year| *year > self.until.year()).collect();
            (!years.is_empty()).then(|| format!(", and of {} for {countries} only", spans(&years)))
        });
        later.flatten().collect()
    }
}

/// Years with enough rounds to be compared with others, by their numbers of rounds.
fn dense_years(years: &BTreeMap<i32, Year>, rounds: impl Fn(i32) -> u64) -> BTreeSet<i32> {
    let peak = years.keys().map(|year| rounds(*year)).max().unwrap_or(0);
    let is_dense = |year: &i32| {
        let (own, around) = (rounds(*year), rounds(year - 1).min(rounds(year + 1)));
        let is_gap = around >= MIN_AROUND_GAP && own * MIN_RELATIVE < around;
        own > 0 && own * MIN_SHARE >= peak && !is_gap
    };
    years.keys().copied().filter(is_dense).collect()
}

/// A list of up to three countries, or their number.
pub fn market_names(markets: &[Market]) -> String {
    let unknown = || "startups of unknown country".to_owned();
    let name = |market: &Market| market.map_or_else(unknown, Country::name_in_sentence);
    match markets.len() {
        0..=MAX_NAMED => enumerated(&markets.iter().map(name).collect::<Vec<_>>()),
        many => format!("{many} countries"),
    }
}

/// Years as a text: `2004 to 2015 and 2021`.
pub fn spans(years: &BTreeSet<i32>) -> String {
    let mut spans: Vec<(i32, i32)> = Vec::new();
    for year in years.iter().copied() {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == year => *last = year,
            _ => spans.push((year, year)),
        }
    }
    let text = |(first, last): &(i32, i32)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    enumerated(&spans.iter().map(text).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn country(code: &str) -> Country {
        Country::from_alpha2(code).unwrap()
    }

    /// A year, and of each country the number of rounds and of those with investors.
    type OfYear<'a> = (i32, &'a [(&'a str, u64, u64)]);

    fn coverage(years: &[OfYear<'_>]) -> RoundCoverage {
        let rounds = years.iter().flat_map(|(year, markets)| {
            markets.iter().flat_map(move |(code, rounds, known)| {
                (0..*rounds).map(move |number| CountedRound {
                    market: Country::from_alpha2(code),
                    date: PartialDate::of(*year as u32, Some(3), Some(4)).unwrap(),
                    known: [number < *known, false, true],
                })
            })
        });
        RoundCoverage::count(rounds)
    }

    const INVESTORS: Option<RoundField> = Some(RoundField::Investors);

    /// All countries until 2011, then one of them; investors end earlier.
    fn two_sources() -> RoundCoverage {
        coverage(&[
            (2009, &[("US", 400, 200), ("DE", 60, 40), ("IN", 40, 20), ("KE", 2, 0)]),
            (2010, &[("US", 600, 200), ("DE", 90, 40), ("IN", 60, 20)]),
            (2011, &[("US", 700, 0), ("DE", 90, 0), ("IN", 60, 0), ("KE", 3, 0)]),
            (2014, &[("IN", 100, 90)]),
            (2015, &[("IN", 19, 18)]),
            (2016, &[("IN", 110, 99)]),
        ])
    }

    #[test]
    fn years_of_one_country_are_a_part_of_the_world() {
        let found = two_sources();
        let only = |code: &str| Markets::Only(vec![country(code)]);
        for (year, world, india, others) in [
            (2008, CoverageClass::None, CoverageClass::None, CoverageClass::None),
            (2010, CoverageClass::Known, CoverageClass::Known, CoverageClass::Known),
            (2012, CoverageClass::None, CoverageClass::None, CoverageClass::None),
            (2014, CoverageClass::Part, CoverageClass::Known, CoverageClass::None),
            // Less than a fifth of each neighbor.
            (2015, CoverageClass::None, CoverageClass::None, CoverageClass::None),
            (2016, CoverageClass::Part, CoverageClass::Known, CoverageClass::None),
        ] {
            assert_eq!(found.class(None, &Markets::All, year), world, "{year}");
            assert_eq!(found.class(None, &only("IN"), year), india, "{year}");
            assert_eq!(found.class(None, &Markets::Except(vec![country("IN")]), year), others, "{year}");
            // A country without rounds is covered like the world, one with few, too.
            for code in ["KE", "PE"] {
                let expected = if world == CoverageClass::Known { world } else { CoverageClass::None };
                assert_eq!(found.class(None, &only(code), year), expected, "{code} in {year}");
            }
        }
        let text = |field, markets| found.covered_text(field, &markets).unwrap();
        assert_eq!(text(None, Markets::All), "2009 to 2011; 2014 and 2016 for India only");
        assert_eq!(text(None, only("IN")), "2009 to 2011, 2014 and 2016");
        assert_eq!(text(INVESTORS, Markets::All), "2009 to 2010; 2014 and 2016 for India only");
        assert_eq!(text(INVESTORS, only("DE")), "2009 to 2010");
    }

    #[test]
    fn a_field_is_known_in_part_of_a_year_or_not_at_all() {
        let found = two_sources();
        let class = |year| found.class(INVESTORS, &Markets::All, year);
        let classes = [2009, 2010, 2011, 2014, 2015].map(class);
        use CoverageClass::{Known, None, Part};
        assert_eq!(classes, [Known, Part, None, Part, None]);
        assert_eq!(found.class(Some(RoundField::Leads), &Markets::All, 2009), None);
        assert_eq!(found.class(Some(RoundField::Amounts), &Markets::All, 2009), Known);
    }

    #[test]
    fn the_end_of_known_investors_is_named_only_if_rounds_follow_it() {
        let found = two_sources();
        let horizon = found.investors_until(&Markets::All).unwrap();
        assert_eq!(
            (horizon.until.to_string().as_str(), &*horizon.later()),
            ("2010-03-04", ", and of 2014 and 2016 for India only")
        );
        assert_eq!(found.investors_until(&Markets::Only(vec![country("IN")])), None);
        let german = found.investors_until(&Markets::Only(vec![country("DE")])).unwrap();
        assert_eq!((german.until.year(), german.later().as_str()), (2010, ""));
        let all = coverage(&[(2009, &[("US", 50, 40)]), (2010, &[("US", 50, 40)])]);
        assert_eq!(all.investors_until(&Markets::All), None);
    }

    #[test]
    fn a_year_with_far_fewer_rounds_than_others_is_no_covered_one() {
        let covered = |counts: &[u64]| -> Vec<i32> {
            let years: Vec<Vec<(&str, u64, u64)>> = counts.iter().map(|count| vec![("US", *count, 0)]).collect();
            let years: Vec<OfYear<'_>> = (2_000..).zip(&years).map(|(year, markets)| (year, &**markets)).collect();
            coverage(&years).years(None, &Markets::All).into_iter().collect()
        };
        assert_eq!(covered(&[50, 9, 50]), [2_000, 2_002]);
        assert_eq!(covered(&[50, 0, 50, 60]), [2_000, 2_002, 2_003]);
        assert_eq!(covered(&[50, 10, 50]), [2_000, 2_001, 2_002]);
        assert_eq!(covered(&[400, 19, 20]), [2_000, 2_002]);
        assert!(covered(&[]).is_empty());
    }

    #[test]
    fn years_are_joined_to_spans() {
        let text = |years: &[i32]| spans(&years.iter().copied().collect());
        assert_eq!(text(&[2004, 2005, 2006, 2009, 2011, 2012]), "2004 to 2006, 2009 and 2011 to 2012");
        assert_eq!(text(&[2004]), "2004");
    }
}
