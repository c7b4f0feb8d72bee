//! Items as clients write them: texts, parsed in one place for URLs, JSON, tables and forms.

use std::borrow::Cow;

use crate::address::SearchAddress;
use crate::param_error::{shortened, unknown_country, wrong_term};
use crate::params::MAX_TEXT_CHARS;
use crate::parse::scalars::parse_whole;
use crate::{Catalog, ParameterError};
use data::fold::fold;
use data::vocabulary::normal;
use data::{Country, Table, identifier};
use import::resolve::SourceRecord;

use super::row_of_id;

/// Maximum number of words of a name; names have fewer, and each word is part of a search.
pub const MAX_NAME_WORDS: usize = 12;
/// Maximum number of identifiers, and of excluded records, of an item.
const MAX_VALUES: usize = 100;
const YEARS: std::ops::RangeInclusive<u16> = 1500..=2200;

/// A firm, startup or person as a client describes it. It has at least a name, a website or an identifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Possible tables: some of [`Item::TABLES`], at least one.
    pub tables: Vec<Table>,
    pub name: String,
    /// For a person, that of the organization.
    pub website: Option<String>,
    pub country: Option<Country>,
    /// For a person, that of the organization.
    pub city: Option<String>,
    pub founded_year: Option<u16>,
    pub organization: Option<String>,
    /// Scheme and normalized value.
    pub identifiers: Vec<(String, String)>,
    pub excluded: Vec<(Table, u32)>,
}

impl Item {
    pub const TABLES: [Table; 3] = [Table::Firms, Table::Startups, Table::People];

    pub fn named(tables: &[Table], name: &str) -> Self {
        Self { tables: tables.to_vec(), name: name.to_owned(), ..Self::default() }
    }

    /// Tables for a kind of record: `firm` or `vc`, `startup` or `company`, `person`; all for an empty text.
    pub fn tables_of(kind: &str) -> Result<Vec<Table>, ParameterError> {
        Ok(vec![match normal(kind).as_str() {
            "" => return Ok(Self::TABLES.to_vec()),
            "firm" | "firms" | "vc" | "vcs" | "investor" => Table::Firms,
            "startup" | "startups" | "company" => Table::Startups,
            "person" | "people" => Table::People,
            _ => return Err(wrong_term("kind", kind, "kind", Self::TABLES.map(Table::noun).to_vec())),
        }])
    }

    pub(super) fn record(&self, table: Table) -> SourceRecord {
        let identifiers = self.identifiers.iter().map(|(scheme, value)| (scheme.clone(), value.to_lowercase()));
        let mut record = SourceRecord {
            name: self.name.clone(),
            identifiers: identifiers.collect(),
            country: self.country,
            city: self.city.clone(),
            founded_year: self.founded_year,
            ..SourceRecord::new(table, String::new(), 0)
        };
        if table == Table::People {
            self.organization.iter().for_each(|name| record.links.add_name(Table::Firms, name));
            self.website.iter().for_each(|address| record.links.add_website(address));
        } else {
            record.website.clone_from(&self.website);
        }
        record
    }
}

/// An item, or what is wrong with its values.
pub type ParsedItem = Result<Item, Vec<ParameterError>>;

/// The values of an item as texts; empty ones are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemTexts<'t> {
    pub kind: &'t str,
    pub name: &'t str,
    pub website: &'t str,
    pub country: &'t str,
    pub city: &'t str,
    pub founded_year: Cow<'t, str>,
    pub organization: &'t str,
    /// Identifiers as `scheme:value`.
    pub id: Vec<&'t str>,
    pub exclude: Vec<&'t str>,
}

impl<'t> ItemTexts<'t> {
    /// Names of the values, which are also the names of parameters.
    pub const NAMES: [&'static str; 9] =
        ["kind", "name", "website", "country", "city", "founded_year", "organization", "id", "exclude"];

    pub fn is_list(name: &str) -> bool {
        matches!(name, "id" | "exclude")
    }

    /// Sets a value, or adds one to a list; ignores names other than [`ItemTexts::NAMES`].
    pub fn set(&mut self, name: &str, value: &'t str) {
        let value = value.trim();
        if value.is_empty() {
            return;
        }
        match name {
            "kind" => self.kind = value,
            "name" => self.name = value,
            "website" => self.website = value,
            "country" => self.country = value,
            "city" => self.city = value,
            "founded_year" => self.founded_year = value.into(),
            "organization" => self.organization = value,
            "id" => self.id.push(value),
            "exclude" => self.exclude.push(value),
            _ => {}
        }
    }

    /// Parses the texts; the error lists all invalid ones. `tables` apply to an item without a kind.
    pub fn parse_item(&self, catalog: &Catalog, tables: &[Table]) -> ParsedItem {
        let mut errors = Vec::new();
        let mut item = Item::named(tables, self.name);
        if !self.kind.is_empty() {
            item.tables = Item::tables_of(self.kind).map_err(|error| errors.push(error)).unwrap_or(item.tables);
        }
        for (name, text) in [("name", self.name), ("city", self.city), ("organization", self.organization)] {
            if text.chars().count() > MAX_TEXT_CHARS {
                let detail = format!("`{name}` has more than {MAX_TEXT_CHARS} characters");
                errors.push(ParameterError::invalid(name, detail));
            }
        }
        let words = SearchAddress::parse(self.name)
            .map_or_else(|| fold(self.name).split(' ').count(), |address| address.words());
        if words > MAX_NAME_WORDS {
            let detail = format!(
                "`name` has {words} words, and a name to look up at most {MAX_NAME_WORDS}; leave out what is not part of the name"
            );
            errors.push(ParameterError::invalid("name", detail));
        }
        item.country = Country::read(self.country);
        if item.country.is_none() && !self.country.is_empty() {
            errors.push(unknown_country("country", self.country, true));
        }
        let year = parse_whole(&self.founded_year).and_then(|year| u16::try_from(year).ok());
        item.founded_year = year.filter(|year| YEARS.contains(year));
        if item.founded_year.is_none() && !self.founded_year.is_empty() {
            let detail = format!("`{}` is not a year, such as `2014`", shortened(&self.founded_year));
            errors.push(ParameterError::invalid("founded_year", detail));
        }
        let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        (item.website, item.city) = (known(self.website), known(self.city));
        item.organization = known(self.organization);
        for (name, values) in [("id", &self.id), ("exclude", &self.exclude)] {
            if values.len() > MAX_VALUES {
                let detail = format!("`{name}` takes at most {MAX_VALUES} values, {} are given", values.len());
                errors.push(ParameterError::invalid(name, detail));
            }
        }
        for text in self.id.iter().take(MAX_VALUES) {
            match identifier::normalize_pair(text) {
                Ok(pair) => item
                    .identifiers
                    .extend(pair.split_once(':').map(|(scheme, value)| (scheme.to_owned(), value.to_owned()))),
                Err(problem) => errors.push(ParameterError::invalid("id", format!("`{}` {problem}", shortened(text)))),
            }
        }
        // A record outside the release needs no exclusion.
        for text in self.exclude.iter().take(MAX_VALUES) {
            let of_slug = |table: &Table| Some((*table, catalog.find(*table, text)?));
            match row_of_id(catalog, text) {
                Some(row) => item.excluded.push(row),
                None => item.excluded.extend(item.tables.iter().filter_map(of_slug)),
            }
        }
        if self.name.is_empty() && self.website.is_empty() && self.id.is_empty() {
            let detail =
                "give at least one of `name`, `website` and `id`, an identifier such as `lei:529900T8BM49AURSDO55`";
            errors.push(ParameterError::invalid("name", detail));
        }
        if errors.is_empty() { Ok(item) } else { Err(errors) }
    }
}
