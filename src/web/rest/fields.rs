//! Field selection: which of a record's fields are answered.

use crate::catalog::ParameterError;
use crate::dataset::Table;
use crate::search::nearest;

/// Fields of a record, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fields {
    /// Those that a list gives by default, or all of a single record.
    Default,
    /// All of them.
    All,
    /// Exactly these: places in the record's list of names.
    Some(Vec<usize>),
}

impl Fields {
    /// Reads `fields`: names in camelCase or snake_case, separated by commas; `*` for all.
    ///
    /// # Errors
    /// Each name that is none of `known`.
    pub fn read(values: &[(String, String)], known: &[&str]) -> Result<Self, Vec<ParameterError>> {
        let mut places = Vec::new();
        let mut errors = Vec::new();
        let mut all = false;
        let given = values.iter().filter(|(name, _)| name == "fields");
        let names = given.flat_map(|(_, value)| value.split(',')).map(str::trim).filter(|name| !name.is_empty());
        for name in names {
            if name == "*" {
                all = true;
                continue;
            }
            let plain = snake_case(name);
            match known.iter().position(|field| *field == plain) {
                Some(place) => places.push(place),
                None => errors.push(ParameterError {
                    parameter: "fields".to_owned(),
                    code: "unknown_field",
                    detail: format!("there is no field `{name}` in this record"),
                    did_you_mean: nearest(&plain, known.iter().copied()).map(str::to_owned),
                    accepted: Some(known.iter().map(|field| (*field).to_owned()).collect()),
                }),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        places.sort_unstable();
        places.dedup();
        Ok(match (all, places.is_empty()) {
            (true, _) => Self::All,
            (false, true) => Self::Default,
            (false, false) => Self::Some(places),
        })
    }

    /// The names that a table's records have: ready-made fields, then composed ones.
    #[must_use]
    pub fn known(table: Table) -> Vec<&'static str> {
        table.fields().iter().chain(table.composed()).copied().collect()
    }
}

/// `healthScore` → `health_score`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for char in name.chars() {
        if char.is_ascii_uppercase() {
            if !snake.is_empty() && !snake.ends_with('_') {
                snake.push('_');
            }
            snake.push(char.to_ascii_lowercase());
        } else {
            snake.push(char);
        }
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &str) -> Result<Fields, Vec<ParameterError>> {
        Fields::read(&[("fields".to_owned(), fields.to_owned())], Table::Firms.fields())
    }

    #[test]
    fn both_spellings_name_the_same_field() {
        assert_eq!(read("name,slug,healthScore"), Ok(Fields::Some(vec![0, 1, 3])));
        assert_eq!(read("health_score, name ,slug,slug"), Ok(Fields::Some(vec![0, 1, 3])));
        assert_eq!(read("*"), Ok(Fields::All));
        assert_eq!(read(" ,"), Ok(Fields::Default));
    }

    #[test]
    fn an_unknown_field_is_refused_with_the_nearest() {
        let errors = read("name,helthScore").unwrap_err();
        assert_eq!(errors[0].did_you_mean.as_deref(), Some("health_score"));
        assert_eq!(errors[0].code, "unknown_field");
    }
}
