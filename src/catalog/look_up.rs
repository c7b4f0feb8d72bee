//! Look-up of items: candidates from the text index, websites and identifiers, compared by [`import::resolve`].

mod answer;
mod columns;
mod item;
pub mod listed;
pub mod sheet;

pub use answer::{LookUpAnswer, answer, answer_to, id_of, row_of_id};
pub use item::{Item, ItemTexts, MAX_NAME_WORDS, ParsedItem};

use crate::Catalog;
use crate::address::SearchAddress;
use data::import::csv_row::distinct;
use data::import::website;
use data::name::OwnName;
use data::{Country, Facet, LookUpStatus, Names, Table};
use import::resolve::SourceRecord;
use import::resolve::look_up::{ScoredCandidate, look_up, status};
use platform::pause;

const MAX_BY_NAME: usize = 10;
/// Maximum number of records with exactly the name that are compared: a place or a website may single one of them out.
const MAX_NAMESAKES: usize = 50;
const MAX_BY_VALUE: usize = 20;

#[derive(Clone, Debug)]
pub struct LookedUp {
    pub status: LookUpStatus,
    /// Likely records by table and row, best first.
    pub candidates: Vec<(Table, u32, ScoredCandidate)>,
}

impl Catalog {
    /// Finds the record of an item, and further candidates. Deterministic.
    pub fn look_up(&self, item: &Item) -> LookedUp {
        // An address in place of a name is also a website.
        let host = item.website.is_none().then(|| SearchAddress::parse(&item.name)?.host).flatten();
        let with_host = host.map(|host| Item { website: Some(host), ..item.clone() });
        let is_named_only = with_host.is_some();
        let item = with_host.as_ref().unwrap_or(item);
        let mut candidates: Vec<(Table, u32, ScoredCandidate)> = Vec::new();
        for table in item.tables.iter().copied() {
            pause::point();
            let (rows, is_sure) = self.candidates(item, table);
            let others = rows.iter().map(|row| self.record_to_compare(item, table, *row));
            let mut records: Vec<SourceRecord> = std::iter::once(item.record(table)).chain(others).collect();
            // A record named like an address may have its website elsewhere: `Acme.com`.
            let (own, others) = records.split_at_mut(1);
            let is_other = |record: &&mut SourceRecord| is_named_only && !record.has_domain_of(&own[0]);
            others.iter_mut().filter(is_other).for_each(|record| record.website = None);
            let index = self.text_index(table);
            let count_of = |word: &str| index.map_or(0, |index| index.name_frequency(word));
            let scored = look_up(table, &records, is_sure, self.snapshot().rows(table), count_of);
            candidates.extend(scored.into_iter().map(|scored| (table, rows[scored.index], scored)));
        }
        candidates.sort_by_key(|(.., scored)| scored.rank());
        LookedUp { status: status(candidates.iter().map(|(.., scored)| scored)), candidates }
    }

    /// The candidate rows, each once, likely ones first. Also true if a search finds some by all words of the name.
    fn candidates(&self, item: &Item, table: Table) -> (Vec<u32>, bool) {
        let snapshot = self.snapshot();
        let mut rows: Vec<u32> = Vec::new();
        for (scheme, value) in &item.identifiers {
            let value = snapshot.find_term(Facet::Identifier, &format!("{scheme}:{value}").to_lowercase());
            let carriers = value.map(|value| snapshot.facet_rows(table, Facet::Identifier, value));
            rows.extend(carriers.into_iter().flat_map(|rows| rows.iter()).take(MAX_BY_VALUE));
        }
        if let Some(address) = item.website.as_ref().filter(|_| table != Table::People) {
            rows.extend(self.rows_of_domain(table, address).into_iter().take(MAX_BY_VALUE));
        }
        let mut is_sure = false;
        if !item.name.is_empty() {
            let found = self.search(table, &item.name);
            is_sure = !found.is_loose;
            rows.extend(found.hits.iter().take(MAX_BY_NAME).map(|hit| hit.row));
            rows.extend(self.rows_named(table, &item.name).into_iter().take(MAX_NAMESAKES));
        }
        (distinct(rows.into_iter().filter(|row| !item.excluded.contains(&(table, *row)))), is_sure)
    }

    /// Finds the records with a website on the host of an address, or on the domain that its owner chose.
    fn rows_of_domain(&self, table: Table, address: &str) -> Vec<u32> {
        let host = website::host(address);
        let own = OwnName::parse(&host);
        let hosts = std::iter::once(host.as_str()).chain((own.domain != host).then_some(own.domain));
        let snapshot = self.snapshot();
        let values = hosts.filter_map(|host| snapshot.find_term(Facet::Website, host));
        values.flat_map(|value| snapshot.facet_rows(table, Facet::Website, value).iter()).collect()
    }

    /// A row as a record, with the values that are compared with the item's.
    fn record_to_compare(&self, item: &Item, table: Table, row: u32) -> SourceRecord {
        let snapshot = self.snapshot();
        let mut record = SourceRecord::new(table, String::new(), 0);
        let names = snapshot.names(table);
        names.name(row).clone_into(&mut record.name);
        record.aliases = names.aliases(row).split('|').filter(|alias| !alias.is_empty()).map(str::to_owned).collect();
        if !item.identifiers.is_empty() {
            let values = snapshot.row_values(table, Facet::Identifier).of(row).iter();
            let texts = values.filter_map(|value| snapshot.term(Facet::Identifier, *value)?.split_once(':'));
            record.identifiers = texts.map(|(scheme, value)| (scheme.to_owned(), value.to_owned())).collect();
        }
        if item.country.is_some() || item.city.is_some() {
            let country = snapshot.row_values(table, Facet::Country).of(row).first();
            record.country = country.and_then(|country| Country::at(*country as usize));
        }
        let mut place = (table, row);
        if table == Table::People {
            if item.organization.is_none() && item.website.is_none() && item.city.is_none() {
                return record;
            }
            let (organization, of) = self.organization_of(row);
            place = of;
            if item.organization.is_some() {
                record.links.add_name(Table::Firms, &organization.name);
            }
            let website = item.website.as_ref().and_then(|_| self.text_field(place, "website"));
            website.iter().for_each(|address| record.links.add_website(address));
        } else {
            if item.website.is_some() || item.identifiers.iter().any(|(scheme, _)| scheme == "domain") {
                record.website = self.text_field(place, "website");
            }
            if item.founded_year.is_some() {
                let stored = snapshot.record(table, row);
                let year = stored.parse(table.field_index("founded_year"));
                record.founded_year = year.expect("the field is a year or null");
            }
        }
        record.city = item.city.as_ref().and_then(|_| self.text_field(place, "city"));
        record
    }
}
