//! Counts and amounts of groups of rows. Of a list of rows, the values are read, once to count the rows of each value, once to
//! collect the amounts of the groups that are shown: the cost grows with the rows found. Of sets, the rows of each value are
//! intersected with them: the cost grows with the table.

use std::ops::Range;

use crate::Amounts;
use crate::aggregate::Rest;
use crate::amounts::{AmountCounter, RowAmounts};
use crate::groups::{GroupColumn, MatchedRows, ValueRows, each_common, remove};
use data::NONE_U32;
use data::archive::facet_column::{RowSet, bit_words};
use platform::pause;

/// A group with at least one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupCount {
    pub value: u32,
    pub count: u64,
    /// Place of the group among all.
    pub index: usize,
}

pub(crate) struct GroupAmounts {
    /// For each group; empty for records without amounts.
    pub groups: Vec<Amounts>,
    /// The rows that are only in other groups.
    pub other: Rest,
    /// The rows that are in no group.
    pub unknown: Rest,
}

/// Some rows by the groups of one property.
pub(crate) trait RowGroups {
    /// All groups, in the order of values.
    fn counts(&self) -> Vec<GroupCount>;

    /// The amounts of some groups, and of the rows that are in none of them; `others` are all other groups.
    fn amounts(&mut self, groups: &[GroupCount], others: &[GroupCount]) -> GroupAmounts;
}

/// The groups of a list of rows.
pub(crate) fn groups_of_list<'a>(
    column: GroupColumn<'a>,
    rows: &[u32],
    amounts: Option<&'a RowAmounts<'a>>,
) -> Box<dyn RowGroups + 'a> {
    match column.runs(rows) {
        Some(runs) => Box::new(RunGroups { runs, amounts }),
        None => Box::new(ListGroups::new(column, rows, amounts)),
    }
}

/// Groups of a list of rows, each of which is a part of the list.
struct RunGroups<'a> {
    /// The value of each group with the part, from the largest value to the least, and parts that are in no group.
    runs: Vec<(Option<u32>, Range<usize>)>,
    amounts: Option<&'a RowAmounts<'a>>,
}

impl RowGroups for RunGroups<'_> {
    fn counts(&self) -> Vec<GroupCount> {
        let group = |(index, (value, run)): (usize, &(Option<u32>, Range<usize>))| {
            value.map(|value| GroupCount { value, count: run.len() as u64, index })
        };
        self.runs.iter().enumerate().rev().filter_map(group).collect()
    }

    fn amounts(&mut self, groups: &[GroupCount], others: &[GroupCount]) -> GroupAmounts {
        let of_group = |group: &GroupCount| {
            self.amounts
                .map(|amounts| amounts.counter.summarize_ranks(&amounts.ranks[self.runs[group.index].1.clone()]))
        };
        let rest = |runs: &mut dyn Iterator<Item = &Range<usize>>| {
            let mut rest = RestOfList::default();
            for run in runs {
                rest.count += run.len() as u64;
                rest.ranks.extend(self.amounts.iter().flat_map(|amounts| &amounts.ranks[run.clone()]));
            }
            rest.summarize(self.amounts)
        };
        let other = rest(&mut others.iter().map(|group| &self.runs[group.index].1));
        let unknown = rest(&mut self.runs.iter().filter(|(value, _)| value.is_none()).map(|(_, run)| run));
        GroupAmounts { groups: groups.iter().filter_map(of_group).collect(), other, unknown }
    }
}

/// Groups of a list of rows.
pub(crate) struct ListGroups<'a> {
    /// The groups of each row, one row after the other.
    places: Vec<u32>,
    /// For each row the end of its groups.
    ends: Vec<u32>,
    /// For each group its value and number of rows; there may be groups without rows.
    groups: Vec<(u32, u32)>,
    amounts: Option<&'a RowAmounts<'a>>,
}

impl<'a> ListGroups<'a> {
    pub(crate) fn new(column: GroupColumn<'_>, rows: &[u32], amounts: Option<&'a RowAmounts<'a>>) -> Self {
        let (mut places, mut ends) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        let values = column.read(rows, |values| {
            places.extend_from_slice(values);
            ends.push(places.len() as u32);
        });
        let mut groups: Vec<(u32, u32)> = values.into_iter().map(|value| (value, 0)).collect();
        places.iter().for_each(|place| groups[*place as usize].1 += 1);
        Self { places, ends, groups, amounts }
    }
}

impl RowGroups for ListGroups<'_> {
    fn counts(&self) -> Vec<GroupCount> {
        let groups = self.groups.iter().enumerate().filter(|(_, (_, count))| *count > 0);
        groups.map(|(index, (value, count))| GroupCount { value: *value, count: u64::from(*count), index }).collect()
    }

    fn amounts(&mut self, groups: &[GroupCount], _: &[GroupCount]) -> GroupAmounts {
        pause::point();
        // For each group the next place of its amounts in the list of all; those of other groups are left out.
        let mut next = vec![NONE_U32; self.groups.len()];
        let mut all = 0;
        let starts: Vec<usize> = groups
            .iter()
            .map(|group| {
                next[group.index] = all;
                all += group.count as u32;
                (all - group.count as u32) as usize
            })
            .collect();
        let mut of_groups = vec![0; if self.amounts.is_some() { all as usize } else { 0 }];
        let (mut other, mut unknown) = (RestOfList::default(), RestOfList::default());
        let mut start = 0;
        for (row, end) in self.ends.iter().enumerate() {
            let places = &self.places[start..*end as usize];
            start = *end as usize;
            let rank = self.amounts.map(|amounts| amounts.ranks[row]);
            let mut is_in_group = false;
            for place in places {
                let next = &mut next[*place as usize];
                if *next != NONE_U32 {
                    is_in_group = true;
                    if let Some(rank) = rank {
                        of_groups[*next as usize] = rank;
                    }
                    *next += 1;
                }
            }
            if !is_in_group {
                if places.is_empty() { unknown.add(rank) } else { other.add(rank) }
            }
        }
        pause::point();
        let summarize = |ranks: &[u32]| self.amounts.map(|amounts| amounts.counter.summarize_ranks(ranks));
        let of_group = |(group, start): (&GroupCount, usize)| summarize(&of_groups[start..][..group.count as usize]);
        let amounts = match self.amounts {
            Some(_) => groups.iter().zip(starts).filter_map(of_group).collect(),
            None => Vec::new(),
        };
        let [other, unknown] = [other, unknown].map(|rest| rest.summarize(self.amounts));
        GroupAmounts { groups: amounts, other, unknown }
    }
}

#[derive(Default)]
struct RestOfList {
    count: u64,
    ranks: Vec<u32>,
}

impl RestOfList {
    fn add(&mut self, rank: Option<u32>) {
        self.count += 1;
        self.ranks.extend(rank);
    }

    fn summarize(self, amounts: Option<&RowAmounts<'_>>) -> Rest {
        Rest { count: self.count, amounts: amounts.map(|amounts| amounts.counter.summarize_ranks(&self.ranks)) }
    }
}

/// Groups of all rows of a table, or of those with a bit.
pub(crate) struct SetGroups<'a> {
    column: GroupColumn<'a>,
    rows: &'a MatchedRows,
    groups: Vec<ValueRows<'a>>,
    counter: Option<&'a AmountCounter<'a>>,
}

impl<'a> SetGroups<'a> {
    pub(crate) fn new(column: GroupColumn<'a>, rows: &'a MatchedRows, counter: Option<&'a AmountCounter<'a>>) -> Self {
        Self { column, rows, groups: column.sets_within(rows), counter }
    }
}

impl RowGroups for SetGroups<'_> {
    fn counts(&self) -> Vec<GroupCount> {
        let count =
            |(index, group): (usize, &ValueRows<'_>)| GroupCount { value: group.value, count: group.count, index };
        self.groups.iter().enumerate().map(count).collect()
    }

    fn amounts(&mut self, groups: &[GroupCount], others: &[GroupCount]) -> GroupAmounts {
        let amounts = |group: &GroupCount| {
            let counter = self.counter?;
            Some(match (self.groups[group.index].rows, self.rows) {
                (RowSet::Dense(words), MatchedRows::Many(bits)) => counter.summarize_rows(each_common(words, bits)),
                (set, MatchedRows::Many(bits)) => {
                    counter.summarize_rows(set.iter().filter(|row| RowSet::Dense(bits).contains(*row)))
                }
                (set, _) => counter.summarize_rows(set.iter()),
            })
        };
        let amounts = groups.iter().filter_map(amounts).collect();
        pause::point();
        let mut unknown = match self.rows {
            MatchedRows::Many(bits) => bits.clone(),
            MatchedRows::All | MatchedRows::Few(_) => all_bits(self.column.table_rows()),
        };
        let mut other = self.column.known();
        pause::point();
        let words = unknown.iter_mut().zip(&mut other);
        words.for_each(|(bits, known)| (*bits, *known) = (*bits & !*known, *bits & *known));
        if others.is_empty() {
            other.clear();
        } else {
            groups.iter().for_each(|group| remove(&mut other, self.groups[group.index].rows));
        }
        let rest = |bits: &[u64]| {
            let rows = RowSet::Dense(bits);
            Rest { count: rows.count(), amounts: self.counter.map(|counter| counter.summarize_rows(rows.iter())) }
        };
        GroupAmounts { groups: amounts, other: rest(&other), unknown: rest(&unknown) }
    }
}

/// A bit for each row of a table.
fn all_bits(rows: u32) -> Vec<u64> {
    let mut bits = vec![u64::MAX; bit_words(rows)];
    if let Some(last) = bits.last_mut().filter(|_| !rows.is_multiple_of(64)) {
        *last = (1 << (rows % 64)) - 1;
    }
    bits
}
