//! Finds the condition to drop if nothing matches all conditions.

use crate::params::{BoundUnit, ParamType};
use crate::parse::scalars::Bound;
use crate::{Catalog, Filter, ListPosition, Order, ParseOptions, Property, Query, Request, Resource};
use data::{Direction, PartialDate};

/// Maximum number of conditions that are dropped in turn; each costs a count.
const MAX_CONDITIONS: usize = 12;
/// The same for a query with a search text; each condition except the text costs a search.
const MAX_CONDITIONS_OF_SEARCH: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relaxation {
    pub parameter: &'static str,
    /// The number of records that match the other conditions, at least 1.
    pub total: u64,
    /// The number of these without a known value of the parameter's field.
    pub unknown: u64,
    /// If the parameter bounds a date, the nearest date of these records.
    pub nearest: Option<(Bound, PartialDate)>,
}

/// The conditions of a list that may be dropped in turn.
#[derive(Clone, Copy)]
pub struct Relaxable<'a> {
    pub canonical: &'a [(&'static str, String)],
    pub options: ParseOptions,
    pub may_drop: &'a dyn Fn(&str) -> bool,
}

impl Relaxation {
    /// Advice, with the name of the parameter as the caller knows it.
    pub fn detail(&self, parameter: &str) -> String {
        let matches =
            if self.total == 1 { "1 record matches".to_owned() } else { format!("{} records match", self.total) };
        let nearest = self.nearest.map_or_else(String::new, |(bound, date)| {
            let which = if bound == Bound::Min { "newest" } else { "oldest" };
            format!(", the {which} of {date}")
        });
        let unknown = match self.unknown {
            0 => String::new(),
            all if all == self.total => format!("; `{parameter}` is unknown for all of them"),
            count => format!("; `{parameter}` is unknown for {count} of them"),
        };
        format!("nothing matches all conditions; without `{parameter}` {matches}{nearest}{unknown}")
    }
}

impl Catalog {
    /// Finds the parameter without which most records match, if a query of at least two conditions matches nothing.
    pub(crate) fn relaxation(&self, resource: Resource, relaxable: Relaxable<'_>) -> Option<Relaxation> {
        let Relaxable { canonical, options, may_drop } = relaxable;
        let conditions: Vec<_> = canonical.iter().filter(|(name, _)| *name != "sort").collect();
        // A condition without a known value matches nothing, whatever else is dropped.
        if conditions.len() < 2 || conditions.iter().any(|(_, value)| value.is_empty()) {
            return None;
        }
        let is_search = conditions.iter().any(|(name, _)| *name == "q");
        let max = if is_search { MAX_CONDITIONS_OF_SEARCH } else { MAX_CONDITIONS };
        let dropped = conditions.iter().map(|(name, _)| *name).filter(|name| may_drop(name)).take(max);
        let relaxed = dropped.filter_map(|parameter| {
            let others = conditions.iter().filter(|(name, _)| *name != parameter);
            let others: Vec<_> = others.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            let Request::List(query) = self.parse(resource, &others, options).ok()?.request else { return None };
            let total = self.list(&query, ListPosition::default(), 0).total;
            (total > 0).then_some((Relaxation { parameter, total, unknown: 0, nearest: None }, query))
        });
        // The first one of equal counts: `max_by_key` takes the last.
        let best = relaxed.collect::<Vec<_>>().into_iter().rev().max_by_key(|(relaxation, _)| relaxation.total);
        let (relaxation, query) = best?;
        let unknown = self.count_unknown(resource, relaxation.parameter, &query);
        let nearest = self.nearest_date(resource, relaxation.parameter, query);
        Some(Relaxation { unknown, nearest, ..relaxation })
    }

    /// The number of records of a query without a known value of a parameter's field.
    fn count_unknown(&self, resource: Resource, parameter: &str, query: &Query) -> u64 {
        let Some(parameter) = resource.parameter(parameter) else { return 0 };
        let property = match parameter.kind {
            ParamType::Range { key, .. } => Some(Property::Key(query.table.sort_key(key))),
            _ => parameter.facet().map(Property::Facet),
        };
        let is_known = |property: &Property| Property::all(query.table).any(|(_, known)| known == *property);
        let Some(property) = property.filter(is_known) else { return 0 };
        let filters = query.filters.iter().cloned().chain([Filter::Unknown(property)]).collect();
        self.list(&Query { filters, ..query.clone() }, ListPosition::default(), 0).total
    }

    /// The newest date among the records of a query for a lower bound, the oldest for an upper bound.
    fn nearest_date(&self, resource: Resource, parameter: &str, query: Query) -> Option<(Bound, PartialDate)> {
        let ParamType::Range { key, bound, unit: BoundUnit::Date } = resource.parameter(parameter)?.kind else {
            return None;
        };
        let key = query.table.sort_key(key);
        let direction = if bound == Bound::Min { Direction::Descending } else { Direction::Ascending };
        let query = Query { order: Order::Keys(vec![(key, direction)]), ..query };
        let row = *self.list(&query, ListPosition::default(), 1).rows.first()?;
        let rank = self.snapshot().ranks(query.table, key)[row as usize];
        let code = *self.snapshot().values(query.table, key).get(rank as usize)?;
        Some((bound, PartialDate::from_code(i32::try_from(code).ok()?)))
    }
}
