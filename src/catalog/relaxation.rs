//! Finds the condition to drop if nothing matches all conditions.

use crate::params::{BoundUnit, Mode, ParamType};
use crate::parse::scalars::Bound;
use crate::{Catalog, Filter, ListPosition, Order, ParseOptions, Property, Query, Request, Resource};
use data::{Direction, Facet, PartialDate, Table};

/// Maximum number of conditions that are dropped in turn; each costs a count.
const MAX_CONDITIONS: usize = 12;
/// The same for a query with a search text; each condition except the text costs a search.
const MAX_CONDITIONS_OF_SEARCH: usize = 4;
/// Maximum number of records that are tried in place of one.
const MAX_SIBLINGS: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relaxation {
    pub parameter: &'static str,
    /// The value with which records match, in place of that of the parameter; without one the parameter is dropped.
    pub instead: Option<String>,
    /// The number of records that then match, at least 1.
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
        if let Some(value) = &self.instead {
            return format!("nothing matches all conditions; with `{parameter}={value}` instead, {matches}");
        }
        format!("nothing matches all conditions; without `{parameter}` {matches}{nearest}{unknown}")
    }
}

impl Catalog {
    /// Finds the condition to drop, if a query of at least two conditions matches nothing: a bound, which the nearest
    /// value explains, else one whose field is unknown for most of the records that match the others, else the one that
    /// most records meet by themselves. A record is replaced by one of a similar name, if this is enough.
    pub(crate) fn relaxation(&self, resource: Resource, relaxable: Relaxable<'_>) -> Option<Relaxation> {
        let Relaxable { canonical, options, may_drop } = relaxable;
        let conditions: Vec<_> = canonical.iter().filter(|(name, _)| *name != "sort").collect();
        // A condition without a known value matches nothing, whatever else is dropped.
        if conditions.len() < 2 || conditions.iter().any(|(_, value)| value.is_empty()) {
            return None;
        }
        let list = |conditions: Vec<(String, String)>| match self.parse(resource, &conditions, options).ok()?.request {
            Request::List(query) => Some((self.list(&query, ListPosition::default(), 0).total, query)),
            _ => None,
        };
        let with = |parameter: &str, value: &str| {
            let own = |(name, own): &&(&'static str, String)| {
                ((*name).to_owned(), if *name == parameter { value.to_owned() } else { own.clone() })
            };
            list(conditions.iter().map(own).collect())
        };
        for (name, value) in conditions.iter().filter(|(name, _)| may_drop(name)) {
            let siblings = self.siblings(resource, name, value).into_iter();
            let mut found = siblings.filter_map(|value| Some((with(name, &value)?.0, value)));
            if let Some((total, value)) = found.find(|(total, _)| *total > 0) {
                return Some(Relaxation { parameter: name, instead: Some(value), total, unknown: 0, nearest: None });
            }
        }
        let is_search = conditions.iter().any(|(name, _)| *name == "q");
        let max = if is_search { MAX_CONDITIONS_OF_SEARCH } else { MAX_CONDITIONS };
        let dropped = conditions.iter().map(|(name, _)| *name).filter(|name| may_drop(name)).take(max);
        let relaxed = dropped.filter_map(|parameter| {
            let is_own = |condition: &&&(&'static str, String)| condition.0 == parameter;
            let of = |conditions: Vec<&&(&'static str, String)>| {
                list(conditions.into_iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
            };
            let (total, query) = of(conditions.iter().filter(|condition| !is_own(condition)).collect())?;
            if total == 0 {
                return None;
            }
            let own = of(conditions.iter().filter(is_own).collect()).map_or(0, |(own, _)| own);
            let unknown = self.count_unknown(resource, parameter, &query);
            let is_bound = resource
                .parameter(parameter)
                .is_some_and(|parameter| matches!(parameter.kind, ParamType::Range { .. } | ParamType::Number { .. }));
            let relaxation = Relaxation { parameter, instead: None, total, unknown, nearest: None };
            Some(((is_bound, unknown * 2 > total, own), relaxation, query))
        });
        // The first one of equal rank: `max_by_key` takes the last.
        let (_, relaxation, query) = relaxed.collect::<Vec<_>>().into_iter().rev().max_by_key(|(rank, ..)| *rank)?;
        let nearest = self.nearest_date(resource, relaxation.parameter, query);
        Some(Relaxation { nearest, ..relaxation })
    }

    /// If a parameter has one record as its value, the slugs of others that may be meant: the larger sector of similar
    /// spelling or the sectors above, the firms or startups whose names begin with this one's.
    fn siblings(&self, resource: Resource, parameter: &str, value: &str) -> Vec<String> {
        let parameter = resource.parameter(parameter).filter(|parameter| parameter.mode != Mode::Not);
        let Some(ParamType::Records(table, _)) = parameter.map(|parameter| parameter.kind) else { return Vec::new() };
        let Some(row) = self.snapshot().find(table, value) else { return Vec::new() };
        let rows = match table {
            // A sector includes those below it.
            Table::Sectors => {
                let above = self.snapshot().row_values(Table::Sectors, Facet::Parent).of(row).iter().copied();
                self.sector_names().larger[row as usize].into_iter().chain(above).collect::<Vec<u32>>()
            }
            _ => self.namesakes(table, self.snapshot().name(table, row), row),
        };
        rows.iter().take(MAX_SIBLINGS).map(|row| self.snapshot().slug(table, *row).to_owned()).collect()
    }

    /// The number of records of a query without a known value of a parameter's field.
    fn count_unknown(&self, resource: Resource, parameter: &str, query: &Query) -> u64 {
        let Some(parameter) = resource.parameter(parameter) else { return 0 };
        let property = match parameter.kind {
            _ if parameter.mode == Mode::Round => None,
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
        let parameter = resource.parameter(parameter).filter(|parameter| parameter.mode != Mode::Round)?;
        let ParamType::Range { key, bound, unit: BoundUnit::Date } = parameter.kind else {
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
