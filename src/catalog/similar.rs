//! Records like a given one (`like`), by points, without a model; [`METHOD`] and [`Common::explanation`] are the rules.

use std::cmp::Reverse;

use serde::Serialize;

use crate::row_filter::distinct;
use crate::{Catalog, Ranking};
use data::archive::facet_column::{RowSet, RowValues, bit_words};
use data::field::model;
use data::vocabulary::{Vocabulary, vocabulary, word};
use data::{Country, Facet, Stage, Table};
use platform::pause;

pub const METHOD: &str = "Each record gets whole points for what it has in common with that of `like`, at most 100. Records \
    with fewer than 20 points are left out, and so are those that share neither a sector, nor startups or investors, nor \
    words of descriptions. Of very common sectors the first 5,000 records in the default order of the list are compared, \
    and a list has the best 10,000. Equal points are ordered by their value before rounding, then in the default order. \
    What is unknown gives no points. The same request on the same snapshot has the same response.";

const MIN_POINTS: u8 = 20;
/// Minimum number of shared startups that counts for firms: one may be chance.
const MIN_SHARED: u32 = 2;
/// Maximum number of records compared because of their sectors, first in table order. The rarest sectors go first.
const MAX_OF_SECTORS: usize = 5_000;
/// Difference of founding years from which on there are no points.
const FAR_YEARS: u32 = 10;
/// Two records of stage `other` have no stage in common: it is a name for many things.
const OTHER_STAGE: u32 = Stage::Other as u32;
/// Maximum number of reasons put into words; those with the most points.
const MAX_REASONS: usize = 3;
const MAX_NAMED: usize = 5;

vocabulary! {
    Common, "reason", {
        Startups = "startups",
        Investors = "investors",
        Sectors = "sectors",
        Description = "description",
        Stage = "stage",
        Country = "country",
        City = "city",
        FoundedYear = "founded_year",
    }
}

impl Common {
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Startups => {
                "The maximum × √cosine, where the cosine is the number of startups in both portfolios divided by the root \
                 of the product of their sizes. A single one may be chance and gives no points."
            }
            Self::Investors => "The maximum × √cosine of their investors, as for startups of firms; one is enough.",
            Self::Sectors => {
                "The maximum × the weight of the common sectors divided by that of all sectors of both (weighted Jaccard \
                 index), with all sectors above. A sector weighs ln(1 + n ÷ k), with k of n records in it: rare ones \
                 count more."
            }
            Self::Description => {
                "The maximum × the BM25 score of the other's description, sectors, place and name for the up to 16 rarest words \
                 of the record's own description, as a part of its own score. Words beyond those that 20,000 records have \
                 together are left out, and the best 1,000 records count."
            }
            Self::Stage => "The maximum × the common stages divided by all stages of both; `other` does not count.",
            Self::Country => "The same country.",
            Self::City => "The same city.",
            Self::FoundedYear => "The maximum less a tenth of it for each year between the years of foundation.",
        }
    }

    /// Maximum number of points; 0 if records of the table are not compared by it.
    pub fn max_points(self, table: Table) -> u8 {
        let (of_firms, of_startups) = match self {
            Self::Startups => (55, 0),
            Self::Investors => (0, 10),
            Self::Sectors => (20, 40),
            Self::Description => (5, 20),
            Self::Stage => (10, 10),
            Self::Country | Self::City => (5, 5),
            Self::FoundedYear => (0, 10),
        };
        if table == Table::Firms { of_firms } else { of_startups }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Similar {
    pub row: u32,
    /// Points in the order of [`Common::ALL`].
    points: [u8; Common::ALL.len()],
}

impl Similar {
    pub fn points(&self) -> u8 {
        self.points.iter().sum()
    }
}

model! {
    /// What a record has in common with that of `like`.
    #[derive(Serialize)]
    pub struct Similarity<'a> {
        /// The record's slug.
        pub slug: &'a str [slug],
        /// Sum of the points of all reasons; the maximum is 100.
        pub points: u8 [max(100)],
        /// What both have in common.
        pub reasons: Vec<SimilarityReason>,
    }

    /// Points for something that two records have in common.
    #[derive(Serialize)]
    pub(crate) struct SimilarityReason {
        /// What it is.
        pub name: &'static str [one_of("SimilarityReasonName")],
        /// Whole points.
        pub points: u8 [max(100)],
        /// Maximum number of points.
        pub max_points: u8 [max(100)],
        /// In words.
        pub detail: String,
    }
}

impl Similarity<'_> {
    pub fn in_words(&self) -> String {
        let mut reasons: Vec<&SimilarityReason> = self.reasons.iter().collect();
        reasons.sort_by_key(|reason| Reverse(reason.points));
        let details: Vec<&str> = reasons.into_iter().take(MAX_REASONS).map(|reason| reason.detail.as_str()).collect();
        details.join(" · ")
    }
}

#[derive(Clone, Copy)]
struct ComparisonTarget<'a> {
    catalog: &'a Catalog,
    table: Table,
    row: u32,
}

/// What a value counts when the values of two records are compared.
#[derive(Clone, Copy)]
enum ValueWeight<'a> {
    Equal,
    Stage,
    /// By value.
    Rarity(&'a [f32]),
}

impl ValueWeight<'_> {
    fn of(self, value: u32) -> f32 {
        match self {
            Self::Equal => 1.0,
            Self::Stage => f32::from(u8::from(value != OTHER_STAGE)),
            Self::Rarity(weights) => weights[value as usize],
        }
    }

    fn sum(self, values: &[u32]) -> f32 {
        values.iter().map(|value| self.of(*value)).sum()
    }
}

/// The values of the record in one facet, to compare with those of others.
struct FacetComparison<'a> {
    own: &'a [u32],
    own_weight: f32,
    of_rows: RowValues<'a>,
    weight: ValueWeight<'a>,
    /// By value, if there are many: the weight of an own value, 0 of others.
    of_common: Option<Vec<f32>>,
}

impl<'a> FacetComparison<'a> {
    fn new(record: ComparisonTarget<'a>, facet: Facet, weight: ValueWeight<'a>) -> Self {
        let of_rows = record.catalog.snapshot().row_values(record.table, facet);
        let own = of_rows.of(record.row);
        let of_common = match weight {
            ValueWeight::Rarity(weights) if own.len() > 1 => {
                let mut of_common = vec![0.0; weights.len()];
                own.iter().for_each(|value| of_common[*value as usize] = weights[*value as usize]);
                Some(of_common)
            }
            _ => None,
        };
        Self { own, own_weight: weight.sum(own), of_rows, weight, of_common }
    }

    /// Weighted share of their values that both have in common; none without values.
    #[inline]
    fn share(&self, other: u32) -> f32 {
        if self.own_weight == 0.0 {
            return 0.0;
        }
        let values = self.of_rows.of(other);
        if let ([own], [value]) = (self.own, values) {
            return if own == value { 1.0 } else { 0.0 };
        }
        let (mut common, mut all) = (0.0, 0.0);
        for value in values {
            let weight = self.weight.of(*value);
            all += weight;
            common += match &self.of_common {
                Some(of_common) => of_common[*value as usize],
                None if self.own.contains(value) => weight,
                None => 0.0,
            };
        }
        if common == 0.0 { 0.0 } else { common / (self.own_weight + all - common) }
    }
}

/// The same, with data that is looked up once in advance. Lists of other rows are ascending.
struct SimilarityProfile<'a> {
    record: ComparisonTarget<'a>,
    /// Rows with their number of shared startups, for firms, or of shared investors, for startups.
    linked: Vec<(u32, u32)>,
    /// The number of startups or investors of the record.
    links: f32,
    /// Rows with their score for the words of the record's description.
    described: Vec<(u32, f32)>,
    sectors: FacetComparison<'a>,
    stages: FacetComparison<'a>,
    countries: FacetComparison<'a>,
    cities: FacetComparison<'a>,
    founded: FoundingYears<'a>,
}

/// A row to compare, with what it shares with the record and its score for the description.
struct Candidate {
    row: u32,
    shared: u32,
    described: f32,
}

impl<'a> SimilarityProfile<'a> {
    fn new(record: ComparisonTarget<'a>, distinctive: &[String]) -> Self {
        let ComparisonTarget { catalog, table, row } = record;
        let index = catalog.text_index(table);
        let described = index.map(|index| index.descriptions.find_similar(distinctive, row));
        Self {
            record,
            linked: catalog.linked(table, row),
            links: catalog.links(table, row) as f32,
            described: described.unwrap_or_default(),
            sectors: FacetComparison::new(record, Facet::Sector, ValueWeight::Rarity(catalog.sector_weights(table))),
            stages: FacetComparison::new(record, Facet::Stage, ValueWeight::Stage),
            countries: FacetComparison::new(record, Facet::Country, ValueWeight::Equal),
            cities: FacetComparison::new(record, Facet::City, ValueWeight::Equal),
            founded: FoundingYears::new(record),
        }
    }

    /// Rows that share a startup, an investor, a sector or words of descriptions with it, ascending.
    fn candidates(&self) -> Vec<Candidate> {
        let ComparisonTarget { catalog, table, row } = self.record;
        let snapshot = catalog.snapshot();
        let mut sectors = self.sectors.own.to_vec();
        sectors.sort_by_key(|sector| snapshot.facet_count(table, Facet::Sector, *sector));
        let of_sectors = sectors.iter().flat_map(|sector| snapshot.facet_rows(table, Facet::Sector, *sector).iter());
        let with_links = self.linked.iter().map(|(row, _)| *row);
        let with_words = self.described.iter().map(|(row, _)| *row);
        let mut rows = vec![0_u64; bit_words(snapshot.rows(table))];
        let others = of_sectors.take(MAX_OF_SECTORS).chain(with_links).chain(with_words);
        others.for_each(|other| rows[other as usize / 64] |= 1 << (other % 64));
        rows[row as usize / 64] &= !(1 << (row % 64));
        let (mut linked, mut described) = (self.linked.iter().peekable(), self.described.iter().peekable());
        let candidate = |row: u32| Candidate {
            row,
            shared: linked.next_if(|(other, _)| *other == row).map_or(0, |(_, shared)| *shared),
            described: described.next_if(|(other, _)| *other == row).map_or(0.0, |(_, score)| *score),
        };
        RowSet::Dense(&rows).iter().map(candidate).collect()
    }

    /// Degree of what both have in common, from 0 to 1.
    fn similarity(&self, common: Common, other: &Candidate) -> f32 {
        match common {
            Common::Startups | Common::Investors if other.shared == 0 => 0.0,
            Common::Startups | Common::Investors => {
                let links = self.record.catalog.links(self.record.table, other.row) as f32;
                (other.shared as f32 / (self.links * links).sqrt()).sqrt()
            }
            Common::Sectors => self.sectors.share(other.row),
            Common::Description => other.described,
            Common::Stage => self.stages.share(other.row),
            Common::Country => self.countries.share(other.row),
            Common::City => self.cities.share(other.row),
            Common::FoundedYear => {
                let years = self.founded.years_between(other.row);
                years.map_or(0.0, |years| 1.0 - years as f32 / FAR_YEARS as f32)
            }
        }
    }

    /// Compares with another record: its points, and the sum before rounding.
    fn compare(&self, other: &Candidate) -> (Similar, f32) {
        let (mut sum, mut points) = (0.0, [0; Common::ALL.len()]);
        for (rounded, common) in points.iter_mut().zip(Common::ALL) {
            let max = common.max_points(self.record.table);
            if max > 0 {
                let exact = f32::from(max) * self.similarity(*common, other);
                sum += exact;
                *rounded = round(exact);
            }
        }
        (Similar { row: other.row, points }, sum)
    }
}

/// Halves are rounded up. [`f32::round`] is the call of a function where processors before 2008 are supported.
fn round(exact: f32) -> u8 {
    let whole = exact as u8;
    whole + u8::from(exact - f32::from(whole) >= 0.5)
}

/// The years in which the record and others were founded.
struct FoundingYears<'a> {
    own: Option<i64>,
    values: &'a [i64],
    ranks: &'a [u32],
}

impl<'a> FoundingYears<'a> {
    fn new(ComparisonTarget { catalog, table, row }: ComparisonTarget<'a>) -> Self {
        let (snapshot, key) = (catalog.snapshot(), table.sort_key("founded_year"));
        let (values, ranks) = (snapshot.values(table, key), snapshot.ranks(table, key));
        let own = values.get(ranks[row as usize] as usize).copied();
        Self { own, values, ranks }
    }

    /// `None` if they are far, or if one is unknown.
    fn years_between(&self, other: u32) -> Option<u32> {
        let years = self.own?.abs_diff(*self.values.get(self.ranks[other as usize] as usize)?);
        u32::try_from(years).ok().filter(|years| *years < FAR_YEARS)
    }
}

impl<'a> ComparisonTarget<'a> {
    fn values(self, facet: Facet, row: u32) -> &'a [u32] {
        self.catalog.snapshot().row_values(self.table, facet).of(row)
    }

    fn common(self, facet: Facet, other: u32) -> impl Iterator<Item = u32> + 'a {
        let own = self.values(facet, self.row);
        self.values(facet, other).iter().copied().filter(|value| own.contains(value))
    }

    /// Describes what both have in common; `distinctive` are words of the description.
    fn detail(self, common: Common, distinctive: &[String], other: u32) -> String {
        let snapshot = self.catalog.snapshot();
        let some = |count: usize, noun: &str, names: Vec<String>| {
            let noun = if count == 1 { noun.to_owned() } else { format!("{noun}s") };
            let these = if count > names.len() { ", such as " } else { ": " };
            format!("{count} {noun} in common{these}{}", names.join(", "))
        };
        let some_rows = |noun: &str, table: Table, both: &[u32]| {
            let names = both.iter().take(MAX_NAMED).map(|row| snapshot.name(table, *row).to_owned());
            some(both.len(), noun, names.collect())
        };
        match common {
            Common::Startups => {
                let own = snapshot.facet_rows(Table::Startups, Facet::Investor, self.row);
                let others = snapshot.facet_rows(Table::Startups, Facet::Investor, other);
                let both: Vec<u32> = own.iter().filter(|startup| others.contains(*startup)).collect();
                some_rows("startup", Table::Startups, &both)
            }
            Common::Investors => some_rows("investor", Table::Firms, &distinct(self.common(Facet::Investor, other))),
            Common::Sectors => {
                let mut both: Vec<u32> = self.common(Facet::Sector, other).collect();
                // The rarest ones say the most.
                both.sort_by_key(|sector| (snapshot.facet_count(self.table, Facet::Sector, *sector), *sector));
                some_rows("sector", Table::Sectors, &both)
            }
            Common::Description => {
                let index = self.catalog.text_index(self.table);
                let names = snapshot.names(self.table);
                let both = index.map(|index| index.descriptions.words_in_common(&names, distinctive, other));
                let both = both.unwrap_or_default();
                let named = both.iter().take(MAX_NAMED).map(|word| format!("“{word}”")).collect();
                some(both.len(), "distinctive word", named)
            }
            Common::Stage => {
                let both = self.common(Facet::Stage, other).filter(|stage| *stage != OTHER_STAGE);
                let both: Vec<String> = both.map(|stage| word(Stage::ALL[stage as usize].name())).collect();
                if self.table == Table::Firms {
                    some(both.len(), "stage", both)
                } else {
                    format!("both at {}", both.join(", "))
                }
            }
            Common::Country => {
                let country = self.common(Facet::Country, other).find_map(|country| Country::at(country as usize));
                format!("both in {}", country.map_or("", Country::name))
            }
            Common::City => {
                let city = self.common(Facet::City, other).find_map(|city| snapshot.city_name(city));
                format!("both in {}", city.unwrap_or_default())
            }
            Common::FoundedYear => match FoundingYears::new(self).years_between(other) {
                Some(0) => "founded in the same year".to_owned(),
                Some(1) => "founded a year apart".to_owned(),
                years => format!("founded {} years apart", years.unwrap_or_default()),
            },
        }
    }
}

impl Catalog {
    pub(crate) fn similar(&self, table: Table, row: u32, distinctive: &[String], limit: usize) -> Vec<Similar> {
        let profile = SimilarityProfile::new(ComparisonTarget { catalog: self, table, row }, distinctive);
        let compared = pause::every(256, profile.candidates()).map(|other| profile.compare(&other));
        let with_points = compared.map(|(similar, exact)| (similar.points(), exact, similar));
        let mut similar: Vec<(u8, f32, Similar)> = with_points.filter(|(points, ..)| *points >= MIN_POINTS).collect();
        similar.sort_unstable_by(|(points, exact, similar), (of_other, other_exact, other)| {
            of_other.cmp(points).then(other_exact.total_cmp(exact)).then(similar.row.cmp(&other.row))
        });
        similar.truncate(limit);
        similar.into_iter().map(|(.., similar)| similar).collect()
    }

    /// The distinctive words of a record's description, as stems.
    pub(crate) fn distinctive_words(&self, table: Table, row: u32) -> Vec<String> {
        let index = self.text_index(table);
        index.map(|index| index.descriptions.distinctive(&self.snapshot().names(table), row)).unwrap_or_default()
    }

    /// How much a common sector of two records of a table tells, by sector: rare ones the most.
    fn sector_weights(&self, table: Table) -> &[f32] {
        self.cached.sector_weights[table as usize].get_or_init(|| {
            let snapshot = self.snapshot();
            let weight = |sector: u32| {
                let count = snapshot.facet_count(table, Facet::Sector, sector).max(1);
                (1.0 + snapshot.rows(table) as f32 / count as f32).ln()
            };
            (0..snapshot.rows(Table::Sectors)).map(weight).collect()
        })
    }

    /// Explains what each of some rows has in common with a record, in the order of the rows.
    pub fn similarities(&self, table: Table, row: u32, rows: &[u32]) -> Vec<Similarity<'_>> {
        let record = ComparisonTarget { catalog: self, table, row };
        let ranked = self.ranked(table, &Ranking::Like(row));
        let similarity = |similar: &Similar| {
            let reasons = Common::ALL.iter().copied().zip(similar.points).filter(|(_, points)| *points > 0);
            let reasons = reasons.map(|(common, points)| SimilarityReason {
                name: common.name(),
                points,
                max_points: common.max_points(table),
                detail: record.detail(common, &ranked.distinctive, similar.row),
            });
            let (slug, points) = (self.snapshot().slug(table, similar.row), similar.points());
            Similarity { slug, points, reasons: reasons.collect() }
        };
        let found = rows.iter().filter_map(|row| ranked.similar.iter().find(|similar| similar.row == *row));
        found.map(similarity).collect()
    }

    /// Firms that share startups with a firm, or startups that share investors with a startup, ascending, with the number
    /// shared.
    fn linked(&self, table: Table, row: u32) -> Vec<(u32, u32)> {
        let snapshot = self.snapshot();
        let investors = snapshot.row_values(Table::Startups, Facet::Investor);
        let startups_of = |firm: u32| snapshot.facet_rows(Table::Startups, Facet::Investor, firm).iter();
        let (mut others, min_shared): (Vec<u32>, u32) = match table {
            Table::Firms => (startups_of(row).flat_map(|startup| investors.of(startup)).copied().collect(), MIN_SHARED),
            Table::Startups => (investors.of(row).iter().flat_map(|firm| startups_of(*firm)).collect(), 1),
            _ => (Vec::new(), 1),
        };
        others.sort_unstable();
        let counted = others.chunk_by(|one, other| one == other).map(|same| (same[0], same.len() as u32));
        counted.filter(|(other, shared)| *other != row && *shared >= min_shared).collect()
    }

    fn links(&self, table: Table, row: u32) -> usize {
        match table {
            Table::Firms => self.snapshot().facet_count(Table::Startups, Facet::Investor, row) as usize,
            _ => self.snapshot().row_values(Table::Startups, Facet::Investor).of(row).len(),
        }
    }
}
