//! Canonical texts of parameter values, without asking: what an `ETag` is made from.
//!
//! Two spellings of one query have one canonical text, and two queries that may be answered differently never share
//! one. Where only the whole reading could tell what is meant, there is none, and the caller takes the request as it is
//! written.

use crate::data::fold::fold;
use crate::data::vocabulary::{Vocabulary, normal};
use crate::data::{
    Country, Date, Direction, FirmKind, Metric, OrganizationKind, ReviewStatus, Stage, StartupStatus, Table,
};

use crate::catalog::Catalog;
use crate::catalog::Resource;
use crate::catalog::param_schema::MOST_VALUES;
use crate::catalog::params::{ParamType, Parameter};
use crate::catalog::parse::{read_ghosted, read_rate};

impl Catalog {
    /// The canonical text of the values given for one parameter, which are trimmed and not empty; `None` where they are
    /// no values, or not known under lenient rules.
    #[must_use]
    pub fn canonical(&self, resource: Resource, parameter: &Parameter, given: &[&str], strict: bool) -> Option<String> {
        match parameter.kind {
            ParamType::Text => single(given).map(str::to_owned),
            ParamType::Stages => words::<Stage>(given),
            ParamType::FirmKinds => words::<FirmKind>(given),
            ParamType::StartupStatuses => words::<StartupStatus>(given),
            ParamType::ReviewStatuses => words::<ReviewStatus>(given),
            ParamType::OrganizationKinds => words::<OrganizationKind>(given),
            ParamType::Countries => list(given, |text| Country::read(text).map(|country| country.alpha2().to_owned())),
            ParamType::Cities => list(given, |text| {
                let folded = fold(text);
                self.snapshot().city(&folded).map(|_| folded)
            }),
            ParamType::Sectors(_) => self.rows(&[Table::Sectors], given, strict),
            ParamType::Firms(_) => self.rows(&[Table::Firms], given, strict),
            ParamType::Startups(_) => self.rows(&[Table::Startups], given, strict),
            ParamType::Organizations => self.rows(&[Table::Firms, Table::Startups], given, strict),
            ParamType::MinHealthScore
            | ParamType::MinReviews
            | ParamType::CheckUsd
            | ParamType::MinAmountUsd
            | ParamType::RaiseUsd => {
                let digits = single(given).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
                digits.parse::<u64>().ok().map(|number| number.to_string())
            }
            ParamType::MinRating => single(given)?.parse::<u32>().ok().map(|rating| rating.to_string()),
            ParamType::MaxGhostingRate => read_rate(single(given)?).map(|tenths| tenths.to_string()),
            ParamType::ActiveSince | ParamType::Since | ParamType::Until => {
                single(given)?.parse::<Date>().ok().map(|date| date.to_string())
            }
            ParamType::Ghosted => read_ghosted(single(given)?).map(|ghosted| ghosted.to_string()),
            ParamType::Metric => Metric::read(single(given)?).map(|metric| metric.name().to_owned()),
            ParamType::Sort => sort(resource, given),
        }
    }

    /// Rows by slug or name, the slugs in order. A comma may stand in a name, so that a text with one is read only
    /// where no row has that name.
    fn rows(&self, tables: &[Table], given: &[&str], strict: bool) -> Option<String> {
        let row = |text: &str| {
            let slug = if tables == [Table::Sectors] { normal(text) } else { text.to_ascii_lowercase() };
            if tables.iter().any(|table| self.find(*table, &slug).is_some()) {
                return Some(slug);
            }
            let folded = fold(text);
            // A name, or nothing: strict rules refuse what is nothing, so that the text says it all.
            (strict && !folded.is_empty()).then(|| format!("={folded}"))
        };
        if given.iter().map(|text| text.split(',').count()).sum::<usize>() > MOST_VALUES {
            return None;
        }
        let mut rows = Vec::new();
        for text in given {
            if text.contains(',') && tables.iter().any(|table| self.has_name(*table, &fold(text))) {
                return None;
            }
            for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                rows.push(row(part)?);
            }
        }
        rows.sort_unstable();
        rows.dedup();
        Some(rows.join(","))
    }

    /// True where a row's name folds to `folded`.
    fn has_name(&self, table: Table, folded: &str) -> bool {
        let snapshot = self.snapshot();
        let Some(key) = table.sort_keys().iter().position(|key| *key == "name") else { return false };
        let order = snapshot.order(table, key, Direction::Ascending);
        order.binary_search_by(|row| fold(snapshot.name(table, *row)).as_str().cmp(folded)).is_ok()
    }
}

/// The one value that is given, once or several times.
fn single<'v>(given: &[&'v str]) -> Option<&'v str> {
    let first = given.first().copied()?;
    given.iter().all(|value| *value == first).then_some(first)
}

/// Values that are each read whole or, where that fails, split at commas; in order, each once.
fn list(given: &[&str], read: impl Fn(&str) -> Option<String>) -> Option<String> {
    if given.iter().map(|text| text.split(',').count()).sum::<usize>() > MOST_VALUES {
        return None;
    }
    let mut values = Vec::new();
    for text in given {
        match read(text) {
            Some(value) => values.push(value),
            None => {
                for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                    values.push(read(part)?);
                }
            }
        }
    }
    values.sort_unstable();
    values.dedup();
    Some(values.join(","))
}

fn words<V: Vocabulary>(given: &[&str]) -> Option<String> {
    list(given, |text| V::read(text).map(|word| word.name().to_owned()))
}

fn sort(resource: Resource, given: &[&str]) -> Option<String> {
    let table = resource.table();
    let searchable = resource.parameters().iter().any(|parameter| parameter.kind == ParamType::Text);
    let mut keys: Vec<(String, bool)> = Vec::new();
    let mut relevance = false;
    let parts = given.iter().flat_map(|text| text.split(','));
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        let (down, name) = match part.strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, part.strip_prefix('+').unwrap_or(part)),
        };
        let plain = normal(name).replace('-', "_");
        if searchable && plain == "relevance" && !down {
            relevance = true;
        } else if !table.sort_keys().contains(&plain.as_str()) {
            return None;
        } else if !keys.iter().any(|(known, _)| *known == plain) {
            keys.push((plain, down));
        }
    }
    match (relevance, keys.is_empty()) {
        (true, true) => Some("relevance".to_owned()),
        (true, false) => None,
        (false, _) => {
            let keys = keys.into_iter().map(|(key, down)| if down { format!("-{key}") } else { key });
            Some(keys.collect::<Vec<_>>().join(","))
        }
    }
}
