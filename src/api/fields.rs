//! Field selection: which of a record's fields are answered.

use crate::catalog::ParameterError;
use crate::search::nearest;

use crate::api::field_mask::FieldMask;
use crate::api::schema::{Field, Shape};

/// Names that `fields` takes at most: each may cost a search for the nearest one.
pub(crate) const MOST_NAMES: usize = 200;

/// Fields of a record, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fields {
    /// Those that a list gives by default, or all of a single record.
    Default,
    /// All of them.
    All,
    /// Exactly these: places in the record's list of names, ascending.
    Some(Vec<usize>),
    /// Exactly these, and of some only what lies below: places, ascending, with what is kept of each.
    Parts(Vec<(usize, FieldMask)>),
}

impl Fields {
    /// Reads `fields`: names in camelCase or snake_case, separated by commas, with a point before what lies below a
    /// field (`score.value`); `*` for all.
    ///
    /// # Errors
    /// Each name that is none of the shape's.
    pub fn read(values: &[(String, String)], shape: Shape<'_>) -> Result<Self, Vec<ParameterError>> {
        let mut places = Vec::new();
        let mut parts: Vec<(usize, FieldMask)> = Vec::new();
        let mut errors = Vec::new();
        let mut all = false;
        let pairs = values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (count, name) in names(pairs).enumerate() {
            if count >= MOST_NAMES {
                let detail = format!("`fields` takes at most {MOST_NAMES} names");
                return Err(vec![ParameterError::invalid("fields", detail)]);
            }
            if name == "*" {
                all = true;
                continue;
            }
            let plain = snake_case(name);
            let (first, rest) =
                plain.split_once('.').map_or((plain.as_str(), None), |(first, rest)| (first, Some(rest)));
            match (shape.find(first), rest) {
                (Some((place, _)), None) => places.push(place),
                (Some((place, field)), Some(rest)) => match path(field, rest) {
                    Some(path) => FieldMask::add_to(&mut parts, place, &path),
                    None => errors.push(unknown_below(name, &plain, field)),
                },
                (None, _) => errors.push(unknown(name, &plain, shape)),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        places.sort_unstable();
        places.dedup();
        // A field that is asked for as a whole is not cut.
        parts.retain(|(place, _)| places.binary_search(place).is_err());
        Ok(match (all, places.is_empty(), parts.is_empty()) {
            (true, ..) => Self::All,
            (false, true, true) => Self::Default,
            (false, false, true) => Self::Some(places),
            (false, _, false) => {
                parts.extend(places.into_iter().map(|place| (place, FieldMask::whole())));
                parts.sort_unstable_by_key(|(place, _)| *place);
                Self::Parts(parts)
            }
        })
    }

    /// What is kept of an object with the shape's fields; `None`: all of it.
    #[must_use]
    pub fn tree(&self, shape: Shape<'_>) -> Option<FieldMask> {
        let mut tree = FieldMask::whole();
        let name = |place: usize| shape.fields().nth(place).map_or("", |field| field.name);
        match self {
            Self::Default | Self::All => return None,
            Self::Some(places) => places.iter().for_each(|place| tree.add(&[name(*place)])),
            Self::Parts(parts) => {
                parts.iter().for_each(|(place, part)| tree.put(name(*place), part.clone()));
            }
        }
        Some(tree)
    }
}

/// The names that `fields` gives, in snake_case and in one order: all spellings of a selection are the same. `None` where
/// there are too many.
pub(crate) fn canonical<'v>(values: impl Iterator<Item = (&'v str, &'v str)>) -> Option<String> {
    let mut names: Vec<String> = names(values).map(snake_case).collect();
    if names.len() > MOST_NAMES {
        return None;
    }
    names.sort_unstable();
    names.dedup();
    Some(names.join(","))
}

/// The names that `fields` gives, as they are written.
fn names<'v>(values: impl Iterator<Item = (&'v str, &'v str)>) -> impl Iterator<Item = &'v str> {
    let given = values.filter(|(name, _)| *name == "fields");
    given.flat_map(|(_, value)| value.split(',')).map(str::trim).filter(|name| !name.is_empty())
}

/// The names on the way to what lies below a field; `*` as the last one, or nothing, stands for all of it.
fn path<'r>(field: Field<'_>, rest: &'r str) -> Option<Vec<&'r str>> {
    let mut path = Vec::new();
    let mut here = field;
    for name in rest.split('.') {
        if name == "*" && !here.below.is_empty() && rest.ends_with('*') {
            break;
        }
        here = *here.below.iter().find(|field| field.name == name)?;
        path.push(name);
    }
    Some(path)
}

fn unknown(name: &str, plain: &str, shape: Shape<'_>) -> ParameterError {
    let known: Vec<&str> = shape.fields().map(|field| field.name).collect();
    let below: Vec<String> = shape.fields().flat_map(|field| dotted(field.name, field.below)).collect();
    let meant = nearest(plain, known.iter().copied().chain(below.iter().map(String::as_str)));
    ParameterError {
        parameter: "fields".to_owned(),
        code: "unknown_field",
        detail: format!("there is no field `{name}` in this record"),
        did_you_mean: meant.map(str::to_owned),
        accepted: Some(known.into_iter().map(str::to_owned).collect()),
    }
}

fn unknown_below(name: &str, plain: &str, field: Field<'_>) -> ParameterError {
    let known = dotted(field.name, field.below);
    if known.is_empty() {
        return ParameterError {
            parameter: "fields".to_owned(),
            code: "unknown_field",
            detail: format!("there is no `{name}`: nothing lies below `{}`", field.name),
            did_you_mean: Some(field.name.to_owned()),
            accepted: None,
        };
    }
    ParameterError {
        parameter: "fields".to_owned(),
        code: "unknown_field",
        detail: format!("there is no field `{name}` in this record"),
        did_you_mean: nearest(plain, known.iter().map(String::as_str)).map(str::to_owned),
        accepted: Some(known),
    }
}

/// The names of all that lies below a field, each with its way.
fn dotted(way: &str, below: &[Field<'_>]) -> Vec<String> {
    let mut names = Vec::new();
    for field in below {
        let name = format!("{way}.{}", field.name);
        let further = dotted(&name, field.below);
        names.push(name);
        names.extend(further);
    }
    names
}

/// `healthScore`, `HEALTH_SCORE` and `health-score` → `health_score`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut after_small = false;
    for char in name.chars() {
        if char.is_ascii_uppercase() && after_small {
            snake.push('_');
        }
        after_small = char.is_ascii_lowercase() || char.is_ascii_digit();
        snake.push(if matches!(char, '-' | ' ') { '_' } else { char.to_ascii_lowercase() });
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Table;

    fn read(fields: &str) -> Result<Fields, Vec<ParameterError>> {
        Fields::read(&[("fields".to_owned(), fields.to_owned())], Shape::of(Table::Firms))
    }

    #[test]
    fn both_spellings_name_the_same_field() {
        assert_eq!(read("name,slug,healthScore"), Ok(Fields::Some(vec![0, 1, 3])));
        assert_eq!(read("health_score, name ,slug,slug"), Ok(Fields::Some(vec![0, 1, 3])));
        assert_eq!(read("HEALTH_SCORE,Name,SLUG"), Ok(Fields::Some(vec![0, 1, 3])));
        assert_eq!(read("HealthScore,health-score"), Ok(Fields::Some(vec![3])));
        assert_eq!(read("checkMinUSD"), read("check_min_usd"));
        assert_eq!(read("*"), Ok(Fields::All));
        assert_eq!(read("name,*"), Ok(Fields::All));
        assert_eq!(read(" ,"), Ok(Fields::Default));
    }

    #[test]
    fn a_field_that_is_asked_for_as_a_whole_is_not_cut() {
        assert_eq!(read("score,score.value"), read("score"));
        assert_eq!(read("score.*"), read("score.*,score.value"));
        assert_eq!(read("score.components.maxPoints,score.value"), read("score.value,score.components.max_points"));
    }

    #[test]
    fn an_unknown_field_is_refused_with_the_nearest() {
        for (given, meant) in [
            ("name,helthScore", "health_score"),
            ("score.vlaue", "score.value"),
            ("score.components.point", "score.components.points"),
            ("scores.value", "score.value"),
            ("ratings_overall", "ratings.overall"),
            ("name.first", "name"),
            ("top_co_investors.sluq", "top_co_investors.slug"),
        ] {
            let errors = read(given).unwrap_err();
            assert_eq!((errors[0].did_you_mean.as_deref(), errors[0].code), (Some(meant), "unknown_field"), "{given}");
        }
        for odd in ["score.", ".score", "score..value", "."] {
            assert_eq!(read(odd).unwrap_err()[0].code, "unknown_field", "{odd}");
        }
        assert_eq!(read(&"a,".repeat(201)).unwrap_err().len(), 1);
    }
}
