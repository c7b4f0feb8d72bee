//! Field selection (`fields`): the fields of a record to return.

use std::borrow::Cow;

use crate::ParameterError;
use crate::param_error::shortened;
use crate::row_filter::distinct;
use data::field::Field;
use search::nearest;

use crate::json::field_set::nested_paths;
use crate::json::{FieldMask, FieldSet};

/// Maximum number of names in `fields`; each unknown one costs a search for the nearest.
pub const MAX_NAMES: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fields {
    /// The default fields of a list, or all fields of a single record.
    Default,
    /// The same for v1 and v2, with dates as days: a month or year becomes its first day.
    DefaultWithDays,
    All,
    /// Exactly these fields: ascending indexes into the [`FieldSet`], each with the selected part of the field.
    Some(Vec<(usize, FieldMask)>),
}

impl Fields {
    /// Parses `fields`: names in any case, separated by commas, nested ones by path (`score.value`); `*` for all.
    pub fn parse(values: &[(String, String)], set: FieldSet) -> Result<Self, Vec<ParameterError>> {
        let mut parts: Vec<(usize, FieldMask)> = Vec::new();
        let mut errors = Vec::new();
        let mut all = false;
        for (count, name) in names(values.iter().map(|(name, value)| (name.as_str(), value.as_str()))).enumerate() {
            if count >= MAX_NAMES {
                let detail = format!("`fields` takes at most {MAX_NAMES} names");
                return Err(vec![ParameterError::invalid("fields", detail)]);
            }
            if name == "*" {
                all = true;
                continue;
            }
            let normal = snake_case(name);
            let (first, rest) = match normal.split_once('.') {
                Some((first, rest)) => (first, Some(rest)),
                None => (&*normal, None),
            };
            match set.iter().enumerate().find(|(_, field)| field.name == first) {
                Some((index, field)) => match nested_path(field, rest) {
                    Some(path) => select(&mut parts, index, &path),
                    None => errors.push(unknown_nested(name, &normal, field)),
                },
                None => errors.push(unknown(name, &normal, set)),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(match (all, parts.is_empty()) {
            (true, _) => Self::All,
            (false, true) => Self::Default,
            (false, false) => Self::Some(parts),
        })
    }

    /// True if a field of `set` is returned, at least in part.
    pub fn selects(&self, set: FieldSet, name: &str) -> bool {
        let Self::Some(parts) = self else { return true };
        let index = set.iter().position(|field| field.name == name);
        index.is_some_and(|index| parts.iter().any(|(part, _)| *part == index))
    }

    /// Mask of an object with the fields of `set`; `None` if everything is selected.
    pub fn mask(&self, set: FieldSet) -> Option<FieldMask> {
        let Self::Some(parts) = self else { return None };
        let fields: Vec<&Field> = set.iter().collect();
        let mut mask = FieldMask::full();
        parts.iter().for_each(|(index, part)| mask.insert(fields[*index].name, part.clone()));
        Some(mask)
    }
}

/// Names in `fields`, in snake_case and sorted: equal for all spellings of a selection. `None` if there are too many.
pub fn canonical<'v>(values: impl Iterator<Item = (&'v str, &'v str)>) -> Option<String> {
    let names: Vec<Cow<'_, str>> = names(values).map(snake_case).collect();
    (names.len() <= MAX_NAMES).then(|| distinct(names).join(","))
}

pub(crate) fn names<'v>(values: impl Iterator<Item = (&'v str, &'v str)>) -> impl Iterator<Item = &'v str> {
    let lists = values.filter(|(name, _)| *name == "fields");
    lists.flat_map(|(_, value)| value.split(',')).map(str::trim).filter(|name| !name.is_empty())
}

/// Adds a field, or one below it by the names on its path, to the parts in the order of their indexes.
fn select(parts: &mut Vec<(usize, FieldMask)>, index: usize, path: &[&str]) {
    let place = parts.partition_point(|(known, _)| *known < index);
    match parts.get_mut(place).filter(|(known, _)| *known == index) {
        // A fully selected value stays fully selected.
        Some((_, mask)) if mask.is_full() => {}
        Some((_, mask)) => mask.add(path),
        None => {
            let mut mask = FieldMask::full();
            mask.add(path);
            parts.insert(place, (index, mask));
        }
    }
}

/// Names on the path from a field to one below it; `None` if it does not exist. A final `*` selects everything.
fn nested_path<'r>(field: &'static Field, rest: Option<&'r str>) -> Option<Vec<&'r str>> {
    let mut path = Vec::new();
    let mut current = field;
    for name in rest.iter().flat_map(|rest| rest.split('.')) {
        if name == "*" && !current.nested().is_empty() && rest.is_some_and(|rest| rest.ends_with('*')) {
            break;
        }
        current = current.nested().iter().find(|field| field.name == name)?;
        path.push(name);
    }
    Some(path)
}

fn unknown(name: &str, normal: &str, set: FieldSet) -> ParameterError {
    let paths = set.paths();
    // Plain names first: the first of equally near ones is suggested.
    let plain = set.iter().map(|field| field.name);
    let nested = paths.iter().map(String::as_str).filter(|path| path.contains('.'));
    unknown_field(
        format!("there is no field `{}` in this record", shortened(name)),
        nearest(normal, plain.chain(nested)),
        Some(set.iter().map(|field| field.name.to_owned()).collect()),
    )
}

fn unknown_nested(name: &str, normal: &str, field: &'static Field) -> ParameterError {
    let paths = nested_paths(field);
    if paths.is_empty() {
        let detail = format!("there is no field `{}`: `{}` has no nested fields", shortened(name), field.name);
        return unknown_field(detail, Some(field.name), None);
    }
    let detail = format!("there is no field `{}` in this record", shortened(name));
    unknown_field(detail, nearest(normal, paths.iter().map(String::as_str)), Some(paths.clone()))
}

fn unknown_field(detail: String, suggestion: Option<&str>, accepted: Option<Vec<String>>) -> ParameterError {
    let did_you_mean = suggestion.map(str::to_owned);
    ParameterError { code: "unknown_field", did_you_mean, accepted, ..ParameterError::invalid("fields", detail) }
}

/// `healthScore`, `HEALTH_SCORE` and `health-score` → `health_score`.
pub fn snake_case(name: &str) -> Cow<'_, str> {
    if !name.bytes().any(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b' ')) {
        return Cow::Borrowed(name);
    }
    let mut snake = String::with_capacity(name.len() + 4);
    let mut after_lower = false;
    for char in name.chars() {
        snake.extend((char.is_ascii_uppercase() && after_lower).then_some('_'));
        after_lower = char.is_ascii_lowercase() || char.is_ascii_digit();
        snake.push(if matches!(char, '-' | ' ') { '_' } else { char.to_ascii_lowercase() });
    }
    Cow::Owned(snake)
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Table;

    fn parse(fields: &str) -> Result<Fields, Vec<ParameterError>> {
        Fields::parse(&[("fields".to_owned(), fields.to_owned())], FieldSet::of_table(Table::Firms))
    }

    #[test]
    fn both_spellings_name_the_same_field() {
        let whole = |indexes: &[usize]| Ok(Fields::Some(indexes.iter().map(|at| (*at, FieldMask::full())).collect()));
        assert_eq!(parse("name,slug,healthScore"), whole(&[0, 1, 3]));
        assert_eq!(parse("health_score, name ,slug,slug"), whole(&[0, 1, 3]));
        assert_eq!(parse("HEALTH_SCORE,Name,SLUG"), whole(&[0, 1, 3]));
        assert_eq!(parse("HealthScore,health-score"), whole(&[3]));
        assert_eq!(parse("checkMinUSD"), parse("check_min_usd"));
        assert_eq!(parse("*"), Ok(Fields::All));
        assert_eq!(parse("name,*"), Ok(Fields::All));
        assert_eq!(parse(" ,"), Ok(Fields::Default));
    }

    #[test]
    fn a_field_that_is_selected_in_full_is_not_cut() {
        assert_eq!(parse("score,score.value"), parse("score"));
        assert_eq!(parse("score.*"), parse("score.*,score.value"));
        assert_eq!(parse("score.components.maxPoints,score.value"), parse("score.value,score.components.max_points"));
    }

    #[test]
    fn an_unknown_field_is_rejected_with_the_nearest() {
        for (fields, suggestion) in [
            ("name,helthScore", "health_score"),
            ("score.vlaue", "score.value"),
            ("score.components.point", "score.components.points"),
            ("scores.value", "score.value"),
            ("ratings_overall", "ratings.overall"),
            ("name.first", "name"),
            ("top_co_investors.sluq", "top_co_investors.slug"),
        ] {
            let errors = parse(fields).unwrap_err();
            let error = &errors[0];
            assert_eq!((error.did_you_mean.as_deref(), error.code), (Some(suggestion), "unknown_field"), "{fields}");
        }
        for odd in ["score.", ".score", "score..value", "."] {
            assert_eq!(parse(odd).unwrap_err()[0].code, "unknown_field", "{odd}");
        }
        assert_eq!(parse(&"a,".repeat(201)).unwrap_err().len(), 1);
    }
}
