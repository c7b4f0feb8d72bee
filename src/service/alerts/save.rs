//! Saved searches: the filters of a list, with canonical names and values.

use std::sync::Arc;

use form_urlencoded::Serializer;

use auth::account::{AccountId, KeyName};
use auth::watch::{NewWatch, WATCHED, Watch};
use auth::{AccountError, AuthService};
use catalog::comparison::SAVED;
use catalog::look_up::listed::without_version;
use catalog::{Catalog, ParameterError, Query, Request, Resource};
use data::{SnapshotVersion, Table};

pub const NOT_A_NAME: &str = "invalid name; use 1 to 100 visible characters on one line, and not an API key";
pub const NOT_A_LIST: &str = "this is not the address of a list; copy that of a page such as /vcs?stage=seed, or of the API such as \
                              /api/v3/funding-rounds?stage=seed";

const EXTENSIONS: [&str; 5] = [".json", ".md", ".csv", ".ndjson", ".atom"];

#[derive(Clone, Debug)]
pub struct SavableSearch {
    /// Its filters; an empty query matches every record of the table.
    pub query: Query,
    pub canonical: Vec<(&'static str, String)>,
    /// Notes for the owner about interpreted values.
    pub notes: Vec<ParameterError>,
}

impl SavableSearch {
    /// Parses the query of a list's URL, without `sort` and what is a representation. Errors name the nearest values.
    pub fn parse(
        catalog: &Catalog,
        table: Table,
        query: &str,
        is_representation: impl Fn(&str) -> bool,
    ) -> Result<Self, Vec<ParameterError>> {
        let resource = Resource::of_table(table);
        let is_filter = |name: &str| match resource.parameter(name) {
            Some(parameter) => parameter.name != "sort",
            None => !is_representation(name),
        };
        let values = form_urlencoded::parse(query.as_bytes()).into_owned();
        let values: Vec<(String, String)> = values.filter(|(name, _)| is_filter(name)).collect();
        let parsed = catalog.parse(resource, &values, SAVED).map_err(|issues| issues.report(catalog))?;
        let Request::List(query) = parsed.request else { unreachable!("the tables that are watched have plain lists") };
        Ok(Self { query, canonical: parsed.canonical, notes: parsed.notes })
    }

    /// Saves it for an account. Releases after `served` bring alerts.
    pub async fn save(
        &self,
        auth: &Arc<AuthService>,
        account: AccountId,
        name: KeyName,
        served: SnapshotVersion,
        now: i64,
    ) -> Result<Watch, AccountError> {
        let (table, text) = (self.query.table, self.text());
        let saved = auth.blocking(move |service| {
            let watch = NewWatch { name: &name, table, query: Some(&text), records: &[], served };
            service.store().add_watch(account, watch, now)
        });
        saved.await
    }

    pub fn text(&self) -> String {
        Serializer::new(String::new()).extend_pairs(&self.canonical).finish()
    }
}

/// The table whose list path has this last segment.
pub fn table_of(path: &str) -> Option<Table> {
    WATCHED.into_iter().find(|table| Resource::of_table(*table).path() == path)
}

/// The table and query of a list's address: its page, its feed or its path in the API. The host is ignored.
pub fn list_of_address(address: &str) -> Option<(Table, &str)> {
    let address = address.trim();
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
    let rest = rest.split('#').next().unwrap_or(rest);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = without_version(path.trim_matches('/'));
    let path = EXTENSIONS.into_iter().find_map(|extension| path.strip_suffix(extension)).unwrap_or(path);
    let table = if path == "rounds" { Some(Table::Rounds) } else { table_of(path) };
    table.map(|table| (table, query))
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::bundled;

    #[test]
    fn filters_are_saved_in_canonical_form_without_paging_order_and_fields() {
        let catalog = bundled().unwrap();
        let is_option = |name: &str| ["limit", "page", "fields"].contains(&name);
        let saved =
            |table, query: &str| SavableSearch::parse(&catalog, table, query, is_option).map(|search| search.text());
        let query = "stage=Series_A,seed&sort=name&limit=5&page=3&fields=slug&utm_source=x";
        assert_eq!(saved(Table::Firms, query).unwrap(), "stage=seed%2Cseries-a");
        assert_eq!(saved(Table::Rounds, "limit=2&page=2").unwrap(), "");
        let first = saved(Table::Startups, "country=Germany&q=tide").unwrap();
        assert_eq!(saved(Table::Startups, &first).unwrap(), first);
    }

    #[test]
    fn errors_name_the_nearest_value() {
        let catalog = bundled().unwrap();
        let errors = SavableSearch::parse(&catalog, Table::Firms, "stage=sede&secter=fintech", |_| false).unwrap_err();
        let near: Vec<Option<&str>> = errors.iter().map(|error| error.did_you_mean.as_deref()).collect();
        assert!(near.contains(&Some("seed")) && near.contains(&Some("sector")), "{errors:?}");
    }

    #[test]
    fn addresses_of_lists_are_recognized() {
        for (address, expected) in [
            ("https://venturedex.example/vcs?stage=seed#x", Some((Table::Firms, "stage=seed"))),
            ("http://127.0.0.1:8080/api/v3/funding-rounds.csv?lead=a", Some((Table::Rounds, "lead=a"))),
            ("/rounds.atom?stage=seed", Some((Table::Rounds, "stage=seed"))),
            (" v1/startups/ ", Some((Table::Startups, ""))),
            ("/people.md", Some((Table::People, ""))),
            ("https://venturedex.example/vcs/alder-capital", None),
            ("https://venturedex.example", None),
            ("/sectors", None),
            ("", None),
        ] {
            assert_eq!(list_of_address(address), expected, "{address}");
        }
    }
}
