//! Counts and amounts of the rows that match a query, as a whole and by group.
//!
//! The groups of a property are the sets of rows that the archive has for each of its values; those of a year or quarter
//! are ranges of the order by date. The cost grows with the rows of the table, not with the number of groups.

use std::cmp::Reverse;
use std::sync::Arc;

use serde::Serialize;

use crate::catalog::amounts::AmountCounter;
use crate::catalog::facets::{Rows, common_count};
use crate::catalog::param_error::shortened;
use crate::catalog::params::MAX_VALUES;
use crate::catalog::parse::scalars::parse_uint;
use crate::catalog::{Amounts, Catalog, Issue, Issues, Order, ParameterError, Query, Resource};
use crate::data::archive::facet_column::{Bits, RowSet, bit_words};
use crate::data::field::model;
use crate::data::vocabulary::{Vocabulary, normal};
use crate::data::{
    Country, Direction, Facet, FirmKind, NONE_U32, OrganizationKind, PartialDate, ReviewStatus, Role, Stage,
    StartupStatus, Table,
};

/// Default number of groups of each property.
pub const DEFAULT_GROUPS: usize = 20;
/// Maximum number of groups of each property.
pub const MAX_GROUPS: usize = 100;

/// What rows are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupBy {
    Facet(Facet),
    /// The year of a date, by the index of its sort key.
    Year(usize),
    Quarter(usize),
    /// The number itself.
    Number(usize),
}

/// The order of groups; ties stay in the order of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupOrder {
    Count,
    SumUsd,
    MedianUsd,
    /// Years and numbers, latest first; other values in the order of the snapshot.
    Value,
}

impl GroupOrder {
    pub const ALL: [(&'static str, Self); 4] = [
        ("-count", Self::Count),
        ("-sum_usd", Self::SumUsd),
        ("-median_usd", Self::MedianUsd),
        ("-value", Self::Value),
    ];
}

/// What to compute of the rows of a query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AggregateOptions {
    pub group_by: Vec<(&'static str, GroupBy)>,
    /// `None`: by count, but years, quarters and numbers by value.
    pub order: Option<GroupOrder>,
    /// Maximum number of groups of each property.
    pub limit: usize,
    /// Whether a higher limit was requested than [`MAX_GROUPS`].
    pub is_clamped: bool,
}

model! {
    /// Counts and amounts of all records that match the filters.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Aggregate {
        /// Number of matching records.
        pub total: u64,
        /// What they raised: of rounds their amounts, of startups their totals; `null` for other records.
        pub amounts: Option<Amounts>,
        /// For each property of `group_by` its groups.
        pub groups: Vec<Grouping>,
    }

    /// The groups of one property. A record is in each group whose value it has.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Grouping {
        /// The property.
        pub by: &'static str,
        /// The first groups in the order of `sort`.
        pub values: Vec<Group>,
        /// Number of groups beyond these.
        pub other_values: u64,
        /// Records that are only in groups beyond these.
        pub other: Rest,
        /// Records of which the property is not known.
        pub unknown: Rest,
    }

    /// The records that have one value.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Group {
        /// The value, as the filter of this name accepts it; a year, or a quarter such as `2024-Q1`.
        pub value: String,
        /// The name of the value.
        pub name: String,
        /// Number of records.
        pub count: u64 [min(1)],
        /// What they raised, as for all records.
        pub amounts: Option<Amounts>,
    }

    /// Records that are in none of the groups.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Rest {
        /// Number of records.
        pub count: u64,
        /// What they raised, as for all records.
        pub amounts: Option<Amounts>,
    }
}

/// The properties that the rows of a list can be grouped by.
pub fn group_bys(resource: Resource) -> Vec<(&'static str, GroupBy)> {
    let table = resource.table();
    let facet = |facet: Facet| (facet.name(), GroupBy::Facet(facet));
    let date = |key: &str| {
        let key = table.sort_key(key);
        [("year", GroupBy::Year(key)), ("quarter", GroupBy::Quarter(key))]
    };
    let mut properties: Vec<(&'static str, GroupBy)> = match resource {
        Resource::Firms => [Facet::Stage, Facet::Sector, Facet::Country, Facet::City, Facet::Kind].map(facet).to_vec(),
        Resource::Startups => {
            [Facet::Stage, Facet::Sector, Facet::Country, Facet::City, Facet::Status, Facet::Investor]
                .map(facet)
                .to_vec()
        }
        Resource::Rounds => {
            let facets = [Facet::Stage, Facet::Sector, Facet::Country, Facet::City, Facet::Kind, Facet::Investor];
            facets
                .map(facet)
                .into_iter()
                .chain([("lead", GroupBy::Facet(Facet::Lead)), facet(Facet::Startup)])
                .collect()
        }
        Resource::People => [Facet::Kind, Facet::Role, Facet::Country, Facet::City, Facet::Title].map(facet).to_vec(),
        Resource::Reviews => {
            let vc = ("vc", GroupBy::Facet(Facet::Firm));
            let facets = [Facet::Status, Facet::Stage, Facet::Rating, Facet::Ghosted].map(facet);
            std::iter::once(vc).chain(facets).collect()
        }
        _ => Vec::new(),
    };
    match resource {
        Resource::Firms | Resource::Startups => {
            properties.push(("founded_year", GroupBy::Number(table.sort_key("founded_year"))));
        }
        Resource::Rounds => properties.extend(date("announced_on")),
        Resource::Reviews => properties.extend(date("created_on")),
        _ => {}
    }
    properties
}

impl AggregateOptions {
    /// Names of the parameters, which are not filters of a list.
    pub const NAMES: [&'static str; 3] = ["group_by", "sort", "limit"];

    /// Reads the options among the parameters of a request for the aggregates of a list.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn parse(resource: Resource, values: &[(String, String)]) -> Result<Self, Issues> {
        let of = |name: &'static str| {
            let own = values.iter().filter(move |(known, _)| known == name);
            own.flat_map(|(_, text)| text.split(',')).map(str::trim).filter(|text| !text.is_empty())
        };
        let mut errors: Vec<ParameterError> = Vec::new();
        let known = group_bys(resource);
        let mut group_by: Vec<(&'static str, GroupBy)> = Vec::new();
        for text in of("group_by").take(MAX_VALUES) {
            let name = normal(text).replace('-', "_");
            let name = if name == "lead_investor" { "lead" } else { &name };
            let found = known.iter().find(|(known, _)| *known == name || name.strip_suffix('s') == Some(*known));
            match found {
                Some(property) if !group_by.contains(property) => group_by.push(*property),
                Some(_) => {}
                None => {
                    let names = known.iter().map(|(name, _)| *name).collect();
                    errors.push(ParameterError::unknown_term("group_by", text, "property to group by", names));
                }
            }
        }
        let mut orders: Vec<&str> = of("sort").collect();
        orders.dedup();
        let order = match orders.as_slice() {
            [] => None,
            [text] => {
                let found = GroupOrder::ALL.into_iter().find(|(name, _)| name == text);
                if found.is_none() {
                    let names = GroupOrder::ALL.map(|(name, _)| name).to_vec();
                    errors.push(ParameterError::unknown_term("sort", text, "order of groups", names));
                }
                found.map(|(_, order)| order)
            }
            _ => {
                errors.push(ParameterError::invalid(
                    "sort",
                    "groups have one order, such as `-count`; several are given",
                ));
                None
            }
        };
        let mut limits: Vec<&str> = of("limit").collect();
        limits.dedup();
        let limit = match limits.as_slice() {
            [] => DEFAULT_GROUPS as u64,
            [text] => match parse_uint(text) {
                Some(limit @ 1..) => limit,
                _ => {
                    let text = shortened(text);
                    let detail = format!("`{text}` is not an integer from 1 to {MAX_GROUPS}, such as {DEFAULT_GROUPS}");
                    errors.push(ParameterError::invalid("limit", detail));
                    1
                }
            },
            _ => {
                errors.push(ParameterError::invalid("limit", "`limit` takes one value, several are given"));
                1
            }
        };
        match errors.is_empty() {
            true => {
                let (max, is_clamped) = (MAX_GROUPS as u64, limit > MAX_GROUPS as u64);
                Ok(Self { group_by, order, limit: limit.min(max) as usize, is_clamped })
            }
            false => Err(errors.into_iter().map(Issue::Invalid).collect()),
        }
    }

    /// The options in canonical names and values, without defaults.
    pub fn canonical(&self) -> Vec<(&'static str, String)> {
        let names: Vec<&str> = self.group_by.iter().map(|(name, _)| *name).collect();
        let order = self.order.and_then(|order| GroupOrder::ALL.into_iter().find(|(_, known)| *known == order));
        // All limits above the maximum have the same response, which has a warning.
        let limit = if self.is_clamped { MAX_GROUPS + 1 } else { self.limit };
        [
            ("group_by", names.join(",")),
            ("sort", order.map_or("", |(name, _)| name).to_owned()),
            ("limit", if limit == DEFAULT_GROUPS { String::new() } else { limit.to_string() }),
        ]
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect()
    }
}

/// A group before it is named: its value and its rows, in any order.
struct ValueRows<'a> {
    value: u32,
    rows: RowSet<'a>,
}

impl Catalog {
    /// The counts and amounts of the rows that match a query, and whether a search has more matches; cached for the life
    /// of the release, except those of searches.
    pub fn aggregate(&self, query: &Query, options: &AggregateOptions) -> Arc<(Aggregate, bool)> {
        if query.text.is_some() {
            return Arc::new(self.compute_aggregate(query, options));
        }
        let unordered = Query { order: Order::Natural, ..query.clone() };
        let key = (unordered, options.clone());
        self.aggregates.get_or_insert_with(key, || Arc::new(self.compute_aggregate(query, options)))
    }

    /// The same, not cached.
    pub fn compute_aggregate(&self, query: &Query, options: &AggregateOptions) -> (Aggregate, bool) {
        let (rows, capped) = self.rows_of(query);
        let table = query.table;
        let mut counter = self.amount_counter(table);
        let total = self.count_rows(table, &rows);
        let all = 0..self.snapshot().rows(table);
        let amounts = counter.as_mut().map(|counter| match &rows {
            Rows::All => counter.of(all, total),
            Rows::Some(bits) => counter.of(RowSet::Dense(bits).iter(), total),
        });
        let group_by = options.group_by.iter();
        let groups = group_by.map(|(name, by)| self.grouping(table, name, *by, options, &rows, &mut counter)).collect();
        (Aggregate { total, amounts, groups }, capped)
    }

    fn grouping<'a>(
        &'a self,
        table: Table,
        name: &'static str,
        by: GroupBy,
        options: &AggregateOptions,
        rows: &Rows,
        counter: &mut Option<AmountCounter<'a>>,
    ) -> Grouping {
        let mut groups: Vec<(ValueRows<'a>, u64, Option<Amounts>)> = Vec::new();
        for group in self.value_rows(table, by) {
            let count = match (rows, by) {
                (Rows::All, GroupBy::Facet(facet)) => u64::from(self.snapshot().facet_count(table, facet, group.value)),
                (Rows::All, _) => group.rows.count(),
                (Rows::Some(bits), _) => common_count(group.rows, bits),
            };
            if count > 0 {
                groups.push((group, count, None));
            }
        }
        let mut amounts_of = |group: &ValueRows<'_>, count: u64| {
            let counter = counter.as_mut()?;
            Some(match (group.rows, rows) {
                (set, Rows::All) => counter.of(set.iter(), count),
                (RowSet::Dense(words), Rows::Some(bits)) => counter.of(each_common(words, bits), count),
                (set, Rows::Some(bits)) => {
                    counter.of(set.iter().filter(|row| RowSet::Dense(bits).contains(*row)), count)
                }
            })
        };
        let by_value = matches!(by, GroupBy::Year(_) | GroupBy::Quarter(_) | GroupBy::Number(_));
        let order = options.order.unwrap_or(if by_value { GroupOrder::Value } else { GroupOrder::Count });
        match order {
            GroupOrder::Count => groups.sort_by_key(|(_, count, _)| Reverse(*count)),
            GroupOrder::Value if by_value => groups.reverse(),
            GroupOrder::Value => {}
            GroupOrder::SumUsd | GroupOrder::MedianUsd => {
                groups.iter_mut().for_each(|(group, count, amounts)| *amounts = amounts_of(group, *count));
                let usd = |amounts: &Amounts| match order {
                    GroupOrder::SumUsd => amounts.sum_usd,
                    _ => amounts.median_usd,
                };
                groups.sort_by_key(|(_, count, amounts)| Reverse((amounts.as_ref().and_then(usd), *count)));
            }
        }
        let others = groups.split_off(groups.len().min(options.limit));
        let values = groups.iter().map(|(group, count, amounts)| {
            let (value, name) = self.group_label(table, by, group.value);
            Group { value, name, count: *count, amounts: amounts.or_else(|| amounts_of(group, *count)) }
        });
        let values = values.collect();

        let mut unknown = self.bits_of(table, rows);
        let mut known = self.known_bits(table, by);
        for (bits, known) in unknown.iter_mut().zip(&mut known) {
            (*bits, *known) = (*bits & !*known, *bits & *known);
        }
        let mut other = known;
        match others.is_empty() {
            true => other.clear(),
            false => groups.iter().for_each(|(group, ..)| remove(&mut other, group.rows)),
        }
        let mut rest = |bits: &[u64]| {
            let rows = RowSet::Dense(bits);
            let count = rows.count();
            Rest { count, amounts: counter.as_mut().map(|counter| counter.of(rows.iter(), count)) }
        };
        let (other, unknown) = (rest(&other), rest(&unknown));
        Grouping { by: name, values, other_values: others.len() as u64, other, unknown }
    }

    /// The groups of a property in the order of their values.
    fn value_rows(&self, table: Table, by: GroupBy) -> Vec<ValueRows<'_>> {
        let snapshot = self.snapshot();
        let (key, group_of): (usize, fn(i64) -> Option<u32>) = match by {
            GroupBy::Facet(facet) => {
                let values = 0..snapshot.facet_values(table, facet);
                return values
                    .map(|value| ValueRows { value, rows: snapshot.facet_rows(table, facet, value) })
                    .collect();
            }
            GroupBy::Year(key) => (key, |code| Some(PartialDate::from_code(code as i32).year() as u32)),
            GroupBy::Quarter(key) => (key, quarter),
            GroupBy::Number(key) => (key, |number| Some(number as u32)),
        };
        let (values, ranks) = (snapshot.values(table, key), snapshot.ranks(table, key));
        let order = snapshot.order(table, key, Direction::Ascending);
        let end_of = |rank: usize| order.partition_point(|row| (ranks[*row as usize] as usize) < rank);
        let mut groups = Vec::new();
        let (mut first, mut start) = (0, 0);
        while let Some(group) = values.get(first).map(|value| group_of(*value)) {
            // A year of which no quarter is known is before its quarters, and is none of them.
            let is_of_group = |other: &i64| group_of(*other).is_some_and(|other| Some(other) <= group);
            let next = (first + values[first..].partition_point(is_of_group)).max(first + 1);
            let end = end_of(next);
            groups.extend(group.map(|value| ValueRows { value, rows: RowSet::Sparse(&order[start..end]) }));
            (first, start) = (next, end);
        }
        groups
    }

    /// A bit for each row of which the property is known.
    fn known_bits(&self, table: Table, by: GroupBy) -> Vec<u64> {
        let key = match by {
            GroupBy::Facet(facet) => {
                return match self.snapshot().known_rows(table, facet) {
                    RowSet::Dense(words) => words.to_vec(),
                    RowSet::Sparse(_) => vec![0; bit_words(self.snapshot().rows(table))],
                };
            }
            GroupBy::Year(key) | GroupBy::Quarter(key) | GroupBy::Number(key) => key,
        };
        let word = |ranks: &[u32]| {
            ranks.iter().enumerate().fold(0, |word, (bit, rank)| word | u64::from(*rank != NONE_U32) << bit)
        };
        let mut bits: Vec<u64> = self.snapshot().ranks(table, key).chunks(64).map(word).collect();
        if matches!(by, GroupBy::Quarter(_)) {
            self.rows_without_quarter(table, key).for_each(|rows| remove(&mut bits, RowSet::Sparse(rows)));
        }
        bits
    }

    /// The rows of which only the year of a date is known, year by year.
    fn rows_without_quarter(&self, table: Table, key: usize) -> impl Iterator<Item = &[u32]> {
        let ranks = (0..).zip(self.snapshot().values(table, key)).filter(|(_, code)| quarter(**code).is_none());
        ranks.map(move |(rank, _)| self.snapshot().rows_of_ranks(table, key, rank..rank + 1))
    }

    fn bits_of(&self, table: Table, rows: &Rows) -> Vec<u64> {
        match rows {
            Rows::Some(bits) => bits.clone(),
            Rows::All => {
                let rows = self.snapshot().rows(table);
                let mut bits = vec![u64::MAX; bit_words(rows)];
                if let Some(last) = bits.last_mut().filter(|_| !rows.is_multiple_of(64)) {
                    *last = (1 << (rows % 64)) - 1;
                }
                bits
            }
        }
    }

    /// A value as the filter accepts it, and its name.
    fn group_label(&self, table: Table, by: GroupBy, value: u32) -> (String, String) {
        let same = |text: String| (text.clone(), text);
        match by {
            GroupBy::Facet(facet) => self.facet_label(table, facet, value),
            GroupBy::Year(_) | GroupBy::Number(_) => same(value.to_string()),
            GroupBy::Quarter(_) => same(format!("{}-Q{}", value / 4, value % 4 + 1)),
        }
    }

    /// A value of a facet as its parameter accepts it, and its name.
    pub fn facet_label(&self, table: Table, facet: Facet, value: u32) -> (String, String) {
        fn word<V: Vocabulary>(value: u32) -> String {
            V::at(value as usize).map_or_else(String::new, |term| term.name().to_owned())
        }
        let snapshot = self.snapshot();
        let record = |table: Table| (snapshot.slug(table, value).to_owned(), snapshot.name(table, value).to_owned());
        let text = match facet {
            Facet::Sector | Facet::Parent => return record(Table::Sectors),
            Facet::Investor | Facet::Lead | Facet::Firm => return record(Table::Firms),
            Facet::Startup => return record(Table::Startups),
            Facet::Country => {
                let country = Country::at(value as usize);
                return country
                    .map(|country| (country.alpha2().to_owned(), country.name().to_owned()))
                    .unwrap_or_default();
            }
            Facet::Stage => word::<Stage>(value),
            Facet::Kind if table == Table::People => word::<OrganizationKind>(value),
            Facet::Kind => word::<FirmKind>(value),
            Facet::Status if table == Table::Reviews => word::<ReviewStatus>(value),
            Facet::Status => word::<StartupStatus>(value),
            Facet::Role => word::<Role>(value),
            Facet::City => snapshot.city_name(value).unwrap_or_default(),
            Facet::Title | Facet::Website => snapshot.term(facet, value).unwrap_or_default().to_owned(),
            Facet::Ghosted => (value == 1).to_string(),
            Facet::Rating => value.to_string(),
        };
        (text.clone(), text)
    }
}

/// Four times the year plus the quarter, from 0, of a date by its code; `None` if only the year is known.
fn quarter(code: i64) -> Option<u32> {
    let date = PartialDate::from_code(code as i32);
    Some(date.year() as u32 * 4 + u32::from(date.quarter()?) - 1)
}

/// The rows that two bitsets have in common.
fn each_common<'b>(words: &'b [u64], bits: &'b [u64]) -> impl Iterator<Item = u32> + 'b {
    let words = words.iter().zip(bits).enumerate();
    words.flat_map(|(index, (a, b))| Bits(a & b).map(move |bit| index as u32 * 64 + bit))
}

fn remove(bits: &mut [u64], rows: RowSet<'_>) {
    match rows {
        RowSet::Dense(words) => bits.iter_mut().zip(words).for_each(|(bits, word)| *bits &= !word),
        RowSet::Sparse(rows) => rows.iter().for_each(|row| bits[*row as usize / 64] &= !(1 << (row % 64))),
    }
}
