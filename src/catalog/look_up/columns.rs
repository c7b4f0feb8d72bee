//! Finds the columns of a table with the values of items: those that parameters name, otherwise those with usual names.

use crate::ParameterError;
use crate::param_error::shortened;
use search::nearest;

use super::ItemTexts;

/// Usual names of columns, likeliest first, in lowercase with `_` between words.
const USUAL: [(&str, &str); 9] = [
    (
        "name",
        "name full_name company_name firm_name investor_name startup_name organization_name organisation_name account_name \
         legal_name company firm investor startup account organization organisation person",
    ),
    ("website", "website web_site website_url company_website domain company_domain homepage url web"),
    ("country", "country country_code hq_country"),
    ("city", "city town hq_city"),
    ("founded_year", "founded_year year_founded founding_year founded founded_on"),
    ("organization", "organization organisation employer company firm"),
    ("kind", "kind"),
    ("id", ""),
    ("exclude", "exclude"),
];
/// Identifier schemes that serve as names of columns.
const SCHEMES: [&str; 6] = ["lei", "cik", "crd", "uei", "wikidata", "companies_house"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ItemColumns {
    /// Names of values, each with the index of its column.
    pub values: Vec<(&'static str, usize)>,
    pub schemes: Vec<(String, usize)>,
}

impl ItemColumns {
    pub(super) fn find(header: &[String], named: &[(String, String)]) -> Result<Self, Vec<ParameterError>> {
        let normal: Vec<String> = header.iter().map(|name| normal(name)).collect();
        let mut columns = Self { values: Vec::new(), schemes: Vec::new() };
        let mut errors = Vec::new();
        for value in ItemTexts::NAMES {
            let parameter = format!("{value}_column");
            for (_, name) in named.iter().filter(|(known, text)| *known == parameter && !text.trim().is_empty()) {
                let exact = header.iter().position(|known| known.trim() == name.trim());
                match exact.or_else(|| normal.iter().position(|known| *known == self::normal(name))) {
                    Some(index) => columns.values.push((value, index)),
                    None => errors.push(unknown(&parameter, name, header)),
                }
            }
        }
        for (value, usual) in USUAL {
            if !columns.has(value) {
                let found = usual.split_whitespace().find_map(|name| normal.iter().position(|known| known == name));
                let is_free = |index: &usize| columns.values.iter().all(|(_, taken)| taken != index);
                columns.values.extend(found.filter(is_free).map(|index| (value, index)));
            }
        }
        for scheme in SCHEMES {
            let found = normal.iter().position(|known| known == scheme);
            columns.schemes.extend(found.map(|index| (scheme.replace('_', "-"), index)));
        }
        if !columns.has("name") && !columns.has("website") && !columns.has("id") && columns.schemes.is_empty() {
            let detail = format!(
                "no column has a usual name such as `name` or `website`; name it with `name_column`; the columns are `{}`",
                shortened(&header.join("`, `"))
            );
            errors.push(ParameterError::invalid("name_column", detail));
        }
        if errors.is_empty() { Ok(columns) } else { Err(errors) }
    }

    fn has(&self, value: &str) -> bool {
        self.values.iter().any(|(known, _)| *known == value)
    }
}

fn unknown(parameter: &str, name: &str, header: &[String]) -> ParameterError {
    let near = nearest(name, header.iter().map(String::as_str)).map(str::to_owned);
    let detail = format!("no column is named `{}`; there are `{}`", shortened(name), shortened(&header.join("`, `")));
    ParameterError::unknown_value(parameter, detail, near, None)
}

/// Normalizes to lowercase, with `_` between words: `Company Name` → `company_name`.
pub(super) fn normal(name: &str) -> String {
    let words = name.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(header: &[&str], named: &[(&str, &str)]) -> Result<ItemColumns, Vec<ParameterError>> {
        let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
        let named: Vec<_> = named.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        ItemColumns::find(&header, &named)
    }

    #[test]
    fn columns_are_found_by_usual_names_or_as_they_are_named() {
        let guessed = columns(&["#", "Company Name", "Country Code", "LEI", "Notes"], &[]).unwrap();
        assert_eq!(guessed.values, [("name", 1), ("country", 2)]);
        assert_eq!(guessed.schemes, [("lei".to_owned(), 3)]);
        let person = columns(&["name", "company"], &[]).unwrap();
        assert_eq!(person.values, [("name", 0), ("organization", 1)]);
        let named = columns(&["name", "Alias"], &[("name_column", "alias"), ("city_column", "name")]).unwrap();
        assert_eq!(named.values, [("name", 1), ("city", 0)]);
    }

    #[test]
    fn a_header_without_anything_to_look_up_is_an_error() {
        assert!(columns(&["Deal", "Amount"], &[]).unwrap_err()[0].detail.contains("`Deal`, `Amount`"));
        let error = &columns(&["Deal", "Amount"], &[("name_column", "Dael")]).unwrap_err()[0];
        assert_eq!((error.parameter.as_str(), error.did_you_mean.as_deref()), ("name_column", Some("Deal")));
    }
}
