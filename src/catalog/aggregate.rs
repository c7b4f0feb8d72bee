//! Counts and amounts of the rows that match a query, as a whole and by group.

pub(crate) mod row_groups;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use crate::aggregate::row_groups::{GroupAmounts, GroupCount, RowGroups, SetGroups, groups_of_list};
use crate::amounts::AmountCounter;
use crate::groups::{GroupColumn, MatchedRows};
use crate::param_error::{shortened, wrong_term};
use crate::params::MAX_VALUES;
use crate::parse::scalars::parse_whole;
use crate::{Amounts, Catalog, Issues, Order, ParameterError, Query, Resource};
use data::archive::facet_column::RowSet;
use data::field::model;
use data::fold::fold;
use data::vocabulary::{Vocabulary, normal, vocabulary};
use data::{Country, Facet, FirmKind, OrganizationKind, ReviewStatus, Role, Stage, StartupStatus, Table};
use platform::pause;

pub const DEFAULT_GROUPS: usize = 20;
pub const MAX_GROUPS: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupBy {
    Facet(Facet),
    /// The year of a date; holds the index of its sort key.
    Year(usize),
    Quarter(usize),
    Number(usize),
}

vocabulary! {
    /// The order of groups; ties keep the order of values.
    GroupOrder, "order of groups", {
        Count = "-count",
        SumUsd = "-sum_usd",
        MedianUsd = "-median_usd",
        /// Numbers, dates and stages by size, others by their text; descending.
        Value = "-value",
        /// The same, ascending.
        ValueAscending = "value",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AggregateOptions {
    pub group_by: Vec<(&'static str, GroupBy)>,
    /// `None`: by count, except years, quarters and numbers, which are ordered by value.
    pub order: Option<GroupOrder>,
    pub limit: usize,
    /// True if the requested limit was above [`MAX_GROUPS`].
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
        pub values: Vec<AggregateGroup>,
        /// Number of groups beyond these.
        pub other_values: u64,
        /// Records that are only in groups beyond these.
        pub other: Rest,
        /// Records of which the property is not known.
        pub unknown: Rest,
    }

    /// The records that have one value.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct AggregateGroup as "Group" {
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

pub fn group_bys(resource: Resource) -> Vec<(&'static str, GroupBy)> {
    use Facet::{
        City, Country, Firm, Ghosted, Investor, Kind, Lead, Rating, Role, Sector, Stage, Startup, Status, Title,
    };
    let table = resource.table();
    let date = |key: &str| {
        let key = table.sort_key(key);
        vec![("year", GroupBy::Year(key)), ("quarter", GroupBy::Quarter(key))]
    };
    let facets: &[Facet] = match resource {
        Resource::Firms => &[Stage, Sector, Country, City, Kind],
        Resource::Startups => &[Stage, Sector, Country, City, Status, Investor],
        Resource::Rounds => &[Stage, Sector, Country, City, Kind, Investor, Lead, Startup],
        Resource::People => &[Kind, Role, Country, City, Title],
        Resource::Reviews => &[Firm, Status, Stage, Rating, Ghosted],
        _ => &[],
    };
    let keys = match resource {
        Resource::Firms | Resource::Startups => {
            vec![("founded_year", GroupBy::Number(table.sort_key("founded_year")))]
        }
        Resource::Rounds => date("announced_on"),
        Resource::Reviews => date("created_on"),
        _ => Vec::new(),
    };
    let name_of = |facet: Facet| if facet == Firm { "vc" } else { facet.name() };
    facets.iter().map(|facet| (name_of(*facet), GroupBy::Facet(*facet))).chain(keys).collect()
}

impl AggregateOptions {
    /// Names of the parameters, none of which is a filter of a list.
    pub const NAMES: [&'static str; 3] = ["group_by", "sort", "limit"];

    /// Parses the options from the parameters of a request; an error lists all invalid values.
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
            match known.iter().find(|(known, _)| *known == name || name.strip_suffix('s') == Some(*known)) {
                Some(property) if !group_by.contains(property) => group_by.push(*property),
                Some(_) => {}
                None => {
                    let names = known.iter().map(|(name, _)| *name).collect();
                    errors.push(wrong_term("group_by", text, "property to group by", names));
                }
            }
        }
        let one = |name: &'static str, several: &str| {
            let mut given: Vec<&str> = of(name).collect();
            given.dedup();
            match given.as_slice() {
                [] => Ok(None),
                [text] => Ok(Some(*text)),
                _ => Err(ParameterError::invalid(name, several)),
            }
        };
        let order = one("sort", "groups have one order, such as `-count`; several are given").and_then(|text| {
            let Some(text) = text else { return Ok(None) };
            let found = GroupOrder::ALL.iter().copied().find(|order| order.name() == text);
            found.map(Some).ok_or_else(|| wrong_term("sort", text, GroupOrder::NOUN, GroupOrder::names()))
        });
        let limit = one("limit", "`limit` takes one value, several are given").and_then(|text| {
            let Some(text) = text else { return Ok(DEFAULT_GROUPS as u64) };
            parse_whole(text).filter(|limit| *limit > 0).ok_or_else(|| {
                let text = shortened(text);
                let detail = format!("`{text}` is not an integer from 1 to {MAX_GROUPS}, such as {DEFAULT_GROUPS}");
                ParameterError::invalid("limit", detail)
            })
        });
        match (order, limit) {
            (Ok(order), Ok(limit)) if errors.is_empty() => {
                let (max, is_clamped) = (MAX_GROUPS as u64, limit > MAX_GROUPS as u64);
                Ok(Self { group_by, order, limit: limit.min(max) as usize, is_clamped })
            }
            (order, limit) => {
                errors.extend(order.err().into_iter().chain(limit.err()));
                Err(errors.into())
            }
        }
    }

    pub fn canonical(&self) -> Vec<(&'static str, String)> {
        let names: Vec<&str> = self.group_by.iter().map(|(name, _)| *name).collect();
        // All limits above the maximum get the same response, with a warning.
        let limit = if self.is_clamped { MAX_GROUPS + 1 } else { self.limit };
        let limit = if limit == DEFAULT_GROUPS { String::new() } else { limit.to_string() };
        let order = self.order.map_or("", GroupOrder::name).to_owned();
        let all = [("group_by", names.join(",")), ("sort", order), ("limit", limit)];
        all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
    }
}

impl Catalog {
    /// The counts and amounts of the rows that match a query, with notes on a search; cached unless it is a search.
    pub fn aggregate(&self, query: &Query, options: &AggregateOptions) -> (Arc<Aggregate>, Vec<ParameterError>) {
        if query.text.is_some() {
            let (aggregate, notes) = self.compute_aggregate(query, options);
            return (Arc::new(aggregate), notes);
        }
        let unordered = Query { order: Order::Natural, ..query.clone() };
        let compute = || Arc::new(self.compute_aggregate(query, options).0);
        (self.cached.aggregates.get_or_insert_with((unordered, options.clone()), compute), Vec::new())
    }

    /// The same, without the cache.
    pub fn compute_aggregate(&self, query: &Query, options: &AggregateOptions) -> (Aggregate, Vec<ParameterError>) {
        let (rows, notes) = self.rows_of(query);
        (self.aggregate_rows(query.table, &rows, options), notes)
    }

    fn aggregate_rows(&self, table: Table, rows: &MatchedRows, options: &AggregateOptions) -> Aggregate {
        let counter = self.amount_counter(table);
        // Sets are counted without reading their rows, but amounts are those of rows.
        let listed = match (rows, &counter) {
            (MatchedRows::Few(rows), _) => Some(Cow::Borrowed(rows.as_slice())),
            (MatchedRows::Many(bits), Some(_)) => Some(RowSet::Dense(bits).iter().collect()),
            (MatchedRows::Many(_), None) | (MatchedRows::All, _) => None,
        };
        let groups_of = |by: GroupBy| GroupColumn::new(self.snapshot(), table, by);
        let group = |(name, by): &(&'static str, GroupBy), groups: &mut dyn RowGroups| {
            self.grouping(table, name, *by, options, groups)
        };
        let group_by = options.group_by.iter();
        if let Some(rows) = listed {
            let amounts = counter.as_ref().map(|counter| counter.of_rows(&rows));
            let groups = group_by.map(|by| group(by, &mut *groups_of_list(groups_of(by.1), &rows, amounts.as_ref())));
            let groups = groups.collect();
            return Aggregate { total: rows.len() as u64, amounts: amounts.map(|amounts| amounts.summarize()), groups };
        }
        let amounts = counter.as_ref().map(AmountCounter::summarize);
        let groups = group_by.map(|by| group(by, &mut SetGroups::new(groups_of(by.1), rows, counter.as_ref())));
        Aggregate { total: rows.count(self.snapshot().rows(table)), amounts, groups: groups.collect() }
    }

    fn grouping(
        &self,
        table: Table,
        name: &'static str,
        by: GroupBy,
        options: &AggregateOptions,
        row_groups: &mut dyn RowGroups,
    ) -> Grouping {
        pause::point();
        let mut groups = row_groups.counts();
        pause::point();
        let by_value = !matches!(by, GroupBy::Facet(_));
        match options.order.unwrap_or(if by_value { GroupOrder::Value } else { GroupOrder::Count }) {
            GroupOrder::Count => sort_first(&mut groups, options.limit, |group| (Reverse(group.count), group.value)),
            order @ (GroupOrder::Value | GroupOrder::ValueAscending) => {
                self.sort_by_text(table, by, &mut groups);
                if order == GroupOrder::Value {
                    groups.reverse();
                }
            }
            order @ (GroupOrder::SumUsd | GroupOrder::MedianUsd) => {
                let is_sum = order == GroupOrder::SumUsd;
                let usd = |amounts: &Amounts| if is_sum { amounts.sum_usd } else { amounts.median_usd };
                let amounts = row_groups.amounts(&groups, &[]).groups;
                let known = groups.iter().zip(&amounts).map(|(group, amounts)| (group.value, usd(amounts)));
                let known: HashMap<u32, Option<u64>> = known.collect();
                sort_first(&mut groups, options.limit, |group| {
                    (Reverse((known.get(&group.value).copied().flatten(), group.count)), group.value)
                });
            }
        }
        pause::point();
        let (first, others) = groups.split_at(groups.len().min(options.limit));
        let GroupAmounts { groups: amounts, other, unknown } = row_groups.amounts(first, others);
        let mut amounts = amounts.into_iter();
        let values = first.iter().map(|group| {
            let (value, name) = match by {
                GroupBy::Facet(facet) => self.facet_label(table, facet, group.value),
                GroupBy::Year(_) | GroupBy::Number(_) => (group.value.to_string(), group.value.to_string()),
                GroupBy::Quarter(_) => {
                    let quarter = format!("{}-Q{}", group.value / 4, group.value % 4 + 1);
                    (quarter.clone(), quarter)
                }
            };
            AggregateGroup { value, name, count: group.count, amounts: amounts.next() }
        });
        Grouping { by: name, values: values.collect(), other_values: others.len() as u64, other, unknown }
    }

    /// Sorts groups by the text of their value, unless their order says more: that of numbers, dates and stages.
    fn sort_by_text(&self, table: Table, by: GroupBy, groups: &mut [GroupCount]) {
        if let GroupBy::Facet(facet) = by
            && !matches!(facet, Facet::Stage | Facet::Rating)
        {
            groups.sort_by_cached_key(|group| {
                let (text, _) = self.facet_label(table, facet, group.value);
                (fold(&text), text)
            });
        }
    }

    /// A facet value as its parameter accepts it, and its name.
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
                let texts = |country: Country| (country.alpha2().to_owned(), country.name().to_owned());
                return Country::at(value as usize).map(texts).unwrap_or_default();
            }
            Facet::Stage => word::<Stage>(value),
            Facet::Kind if table == Table::People => word::<OrganizationKind>(value),
            Facet::Kind => word::<FirmKind>(value),
            Facet::Status if table == Table::Reviews => word::<ReviewStatus>(value),
            Facet::Status => word::<StartupStatus>(value),
            Facet::Role => word::<Role>(value),
            Facet::City => return (self.city_value(value), snapshot.city_name(value).unwrap_or_default()),
            Facet::Title | Facet::Website | Facet::Identifier => {
                snapshot.term(facet, value).unwrap_or_default().to_owned()
            }
            Facet::Ghosted => (value == 1).to_string(),
            Facet::Rating => value.to_string(),
        };
        (text.clone(), text)
    }
}

/// Moves the first `limit` groups to the front, in order.
fn sort_first<K: Ord>(groups: &mut [GroupCount], limit: usize, key: impl Fn(&GroupCount) -> K) {
    if limit < groups.len() {
        groups.select_nth_unstable_by_key(limit, &key);
    }
    let end = limit.min(groups.len());
    groups[..end].sort_unstable_by_key(key);
}

#[cfg(test)]
mod tests;
