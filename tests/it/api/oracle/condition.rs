//! Random conditions as parameters of a request, and as the oracle tests them.

use std::collections::BTreeSet;

use catalog::Resource;
use catalog::params::{BoundUnit, Mode, ParamType, Parameter};
use catalog::parse::scalars::Bound;

use super::Planted;
use super::dataset::{Row, days_of};
use crate::support::harness::Numbers;

/// A condition as the oracle tests it.
#[derive(Clone)]
pub enum Condition {
    Values(Mode, &'static str, Vec<String>),
    Bound(&'static str, Bound, i64),
    Check(i64),
    Known(&'static str, bool),
    Ids(Mode, Vec<String>),
    /// Of a firm: a round between two days.
    Joined(i64, i64),
}

impl Condition {
    pub fn passes(&self, row: &Row, planted: Planted) -> bool {
        let matches = |name: &str, has: &BTreeSet<String>, value: &String| match name {
            "title" => value.split(' ').all(|word| has.iter().any(|title| title.split(' ').any(|known| known == word))),
            _ => has.contains(value),
        };
        match self {
            Self::Values(mode, name, values) => {
                let Some(has) = row.has.get(name) else {
                    return *mode == Mode::Not && planted == Planted::UnknownIsExcluded;
                };
                let mut each = values.iter().map(|value| matches(name, has, value));
                match mode {
                    Mode::All if planted != Planted::AllIsAny => each.all(|has| has),
                    Mode::Any | Mode::All | Mode::Round => each.any(|has| has),
                    Mode::Not => !each.any(|has| has),
                }
            }
            Self::Bound(name, bound, limit) if name.ends_with("_on") => row.number.get(name).is_some_and(|date| {
                let (first, last) = days_of(*date);
                match bound {
                    Bound::Min => first >= *limit,
                    Bound::Max if planted == Planted::PeriodCountsFromItsFirstDay => first <= *limit,
                    Bound::Max if planted == Planted::MaximumIsExclusive => last < *limit,
                    Bound::Max => last <= *limit,
                }
            }),
            Self::Joined(since, until) => {
                let newest = row.joined.iter().copied().max();
                let is_within = |date: &i64| days_of(*date).0 >= *since && days_of(*date).1 <= *until;
                match planted == Planted::ActiveIsTheNewest {
                    true => newest.is_some_and(|date| is_within(&date)),
                    false => row.joined.iter().any(is_within),
                }
            }
            Self::Bound(name, bound, limit) => row.number.get(name).is_some_and(|number| match bound {
                Bound::Min => number >= limit,
                Bound::Max if planted == Planted::MaximumIsExclusive => number < limit,
                Bound::Max => number <= limit,
            }),
            Self::Check(usd) => {
                let (min, max) = (row.number.get("check_min_usd"), row.number.get("check_max_usd"));
                (min.is_some() || max.is_some()) && min.is_none_or(|min| min <= usd) && max.is_none_or(|max| usd <= max)
            }
            Self::Known(name, known) => (row.has.contains_key(name) || row.number.contains_key(name)) == *known,
            Self::Ids(mode, ids) => ids.contains(&row.id) == (*mode == Mode::Any),
        }
    }
}

/// Parameters that the oracle cannot compute: scores, searches, and what is tested elsewhere.
pub const SKIPPED: [&str; 19] = [
    "organization",
    "not_organization",
    "q",
    "min_health_score",
    "max_health_score",
    "min_ghosting_rate",
    "max_ghosting_rate",
    "status",
    "sort",
    "role",
    "role_all",
    "not_role",
    "not_status",
    "known",
    "unknown",
    "metric",
    "raised_stage",
    "raised_since",
    "raised_until",
];

/// A random condition of a parameter with its text, from the values of a random row.
pub fn condition(parameter: &Parameter, rows: &[Row], random: &mut Numbers) -> Option<(Vec<String>, Condition)> {
    let name = parameter.name.trim_start_matches("not_").trim_end_matches("_all");
    let property: &'static str = match parameter.kind {
        ParamType::Range { key, .. } => key,
        ParamType::Terms(..)
        | ParamType::Countries
        | ParamType::Listed(..)
        | ParamType::Records(..)
        | ParamType::Bool(_) => rows.iter().find_map(|row| row.has.keys().find(|known| **known == name).copied())?,
        ParamType::Organizations => "organization",
        ParamType::Number { .. } => "check_min_usd",
        ParamType::Rows(_) => "",
        _ => return None,
    };
    if matches!(parameter.kind, ParamType::Rows(_)) {
        let ids: Vec<String> = (0..1 + random.below(3)).map(|_| random.pick(rows).id.clone()).collect();
        return Some((ids.clone(), Condition::Ids(parameter.mode, ids)));
    }
    let row = (0..50).map(|_| random.below(rows.len())).map(|at| &rows[at]);
    let known = row.into_iter().find(|row| row.has.contains_key(property) || row.number.contains_key(property))?;
    if let ParamType::Range { bound, unit, .. } = parameter.kind {
        let mut number = *known.number.get(property)?;
        let text = match unit {
            BoundUnit::Date => {
                // The date itself, its month, its year, or its first day.
                number = match random.below(4) {
                    0 => number / 10_000 * 10_000,
                    1 => number / 100 * 100,
                    2 if bound == Bound::Max => days_of(number).0,
                    _ => number,
                };
                let text = match (number / 100 % 100, number % 100) {
                    (0, _) => format!("{:04}", number / 10_000),
                    (month, 0) => format!("{:04}-{month:02}", number / 10_000),
                    (month, day) => format!("{:04}-{month:02}-{day:02}", number / 10_000),
                };
                number = if bound == Bound::Min { days_of(number).0 } else { days_of(number).1 };
                text
            }
            _ if parameter.name.ends_with("_usd") && number % 1_000 == 0 => format!("${}k", number / 1_000),
            _ => number.to_string(),
        };
        return Some((vec![text], Condition::Bound(property, bound, number)));
    }
    if let ParamType::Number { .. } = parameter.kind {
        let usd = *known.number.get(property)? + random.below(3) as i64 - 1;
        return Some((vec![usd.max(0).to_string()], Condition::Check(usd.max(0))));
    }
    let mut values: Vec<String> = known.has.get(property)?.iter().cloned().collect();
    while values.len() > 1 + random.below(3) {
        values.swap_remove(random.below(values.len()));
    }
    if parameter.mode != Mode::All && random.below(2) == 0 && !matches!(parameter.kind, ParamType::Bool(_)) {
        values.extend(rows[random.below(rows.len())].has.get(property).and_then(|has| has.first().cloned()));
    }
    Some((values.clone(), Condition::Values(parameter.mode, property, values)))
}

/// The conditions with both bounds of a firm's activity as one.
pub fn joined(resource: Resource, conditions: Vec<Condition>) -> Vec<Condition> {
    let bound = |wanted: Bound| {
        conditions.iter().find_map(|condition| match condition {
            Condition::Bound("last_investment_on", bound, day) if *bound == wanted => Some(*day),
            _ => None,
        })
    };
    let (Some(since), Some(until), Resource::Firms) = (bound(Bound::Min), bound(Bound::Max), resource) else {
        return conditions;
    };
    let is_other = |condition: &Condition| !matches!(condition, Condition::Bound("last_investment_on", ..));
    let others = conditions.iter().filter(|condition| is_other(condition)).cloned();
    others.chain([Condition::Joined(since, until)]).collect()
}
