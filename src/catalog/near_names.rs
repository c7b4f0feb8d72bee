//! Other records that may be of the same firm or startup as one: `Tiger Global` next to `Tiger Global Management`, `BYJU`
//! next to `BYJU'S`. A request means the record whose whole name it has; a note names the others with their sizes.

use crate::aggregate::Aggregate;
use crate::row_filter::distinct;
use crate::{Catalog, Filter, ParameterError, Query, RowFilter};
use data::fold::fold;
use data::import::website;
use data::name::{CoreName, singular};
use data::number::grouped;
use data::{Country, Facet, Table, city};

/// Maximum number of names that are compared with one.
const MAX_COMPARED: usize = 500;
/// A record with more times the size of another hides little if it does not name it.
const MAX_RATIO: u32 = 50;
/// Groups that are looked at, and pairs of them that a note names.
const MAX_GROUPS: usize = 10;
const MAX_PAIRS: usize = 3;
/// A group is named if it has at least one in so many of the records of the other.
const WORTH_A_NOTE: u64 = 10;

impl Catalog {
    /// Other records that may be the same firm or startup, the largest first: their names differ in words that say what a
    /// record is or in a country, or one has the name of the other as its slug or website.
    pub(crate) fn near_names(&self, table: Table, row: u32) -> Vec<u32> {
        if !matches!(table, Table::Firms | Table::Startups) {
            return Vec::new();
        }
        let snapshot = self.snapshot();
        let name = snapshot.name(table, row);
        let core = CoreName::parse(name);
        let least = self.size(table, row).div_ceil(MAX_RATIO).max(1);
        let first = singular(core.words.split(' ').next().unwrap_or_default());
        let names = self.names_from(table, first).iter().take(MAX_COMPARED).copied();
        let begun = names.take_while(|other| fold(snapshot.name(table, *other)).starts_with(first));
        let mut found: Vec<u32> =
            begun.filter(|other| *other != row && self.may_be_one(table, (row, &core), *other)).collect();
        found.extend(self.with_name_as_address(table, row, &core));
        found.retain(|other| *other != row && self.size(table, *other) >= least);
        self.largest_first(table, found)
    }

    fn may_be_one(&self, table: Table, (row, one): (u32, &CoreName), other: u32) -> bool {
        let two = CoreName::parse(self.snapshot().name(table, other));
        let letters = |name: &CoreName| -> String { name.core.split(' ').map(singular).collect() };
        let (shorter, longer) = if one.core.len() <= two.core.len() { (one, &two) } else { (&two, one) };
        let rest = longer.core.strip_prefix(shorter.core.as_str()).and_then(|rest| rest.strip_prefix(' '));
        let is_same = one.joined() == two.joined() || letters(one) == letters(&two);
        let is_elsewhere = || rest.is_some_and(|rest| Country::read(rest).is_some());
        let is_longer = || rest.is_some() && table == Table::Startups && self.is_same_city(table, row, other);
        (is_same && !self.are_countries_apart(table, row, other)) || is_elsewhere() || is_longer()
    }

    /// Records whose slug is the name of one, or whose website has it: `Wave`, at `wavebroadband.com`, for `Wave Broadband`;
    /// and the reverse.
    fn with_name_as_address(&self, table: Table, row: u32, core: &CoreName) -> Vec<u32> {
        let snapshot = self.snapshot();
        let of_slug = snapshot.find(table, &fold(snapshot.name(table, row)).replace(' ', "-"));
        let own_host =
            self.text_field((table, row), "website").map(|website| website::host(&website)).unwrap_or_default();
        let label = own_host.split('.').next().unwrap_or_default();
        let named = if label.is_empty() { Vec::new() } else { self.rows_called(table, label) };
        let host = snapshot.find_term(Facet::Website, &format!("{}.com", core.words.replace(' ', "")));
        let of_host = host.map(|host| snapshot.facet_rows(table, Facet::Website, host));
        // A website of many is that of none.
        let of_host: Vec<u32> = of_host.iter().flat_map(|rows| rows.iter().take(2)).collect();
        of_slug.into_iter().chain(of_host.into_iter().take(1)).chain(named.into_iter().take(1)).collect()
    }

    fn are_countries_apart(&self, table: Table, row: u32, other: u32) -> bool {
        let countries = self.snapshot().row_values(table, Facet::Country);
        let (one, two) = (countries.of(row), countries.of(other));
        table == Table::Startups && !one.is_empty() && !two.is_empty() && one != two
    }

    fn is_same_city(&self, table: Table, row: u32, other: u32) -> bool {
        let cities = [row, other].map(|row| self.text_field((table, row), "city").map(|city| fold(&city)));
        match cities {
            [Some(one), Some(two)] => one == two || city::names_of(&one).contains(&two.as_str()),
            _ => false,
        }
    }

    /// A note on records that may be the same as those of a list with its text as their whole name, and that it lacks.
    pub(crate) fn note_on_near_names(&self, query: &Query, rows: &[u32]) -> Option<ParameterError> {
        let text = query.text.as_deref()?;
        let named = rows.iter().filter(|row| self.is_named(query.table, **row, text));
        let near = named.flat_map(|row| self.near_names(query.table, *row)).filter(|row| !rows.contains(row));
        let listed = self.with_sizes(query.table, &distinct(near))?;
        let detail = format!("records of similar names or websites may be the same: {listed}");
        Some(ParameterError::warning("value_interpreted", "q", detail))
    }

    /// A note on groups by firm that may be of one firm, of which a ranking splits the records.
    pub fn note_on_near_groups(&self, query: &Query, aggregate: &Aggregate) -> Option<ParameterError> {
        let by = |name: &str| match name {
            "investor" => Some(Facet::Investor),
            "lead" => Some(Facet::Lead),
            _ => None,
        };
        let grouped_by = aggregate.groups.iter().find_map(|groups| Some((by(groups.by)?, groups)));
        let (facet, groups) = grouped_by.filter(|_| query.text.is_none())?;
        let row_of = |slug: &str| self.snapshot().find(Table::Firms, slug);
        let count = |firm: u32| {
            let filters: Vec<Filter> =
                query.filters.iter().cloned().chain([Filter::AnyOf(facet, vec![firm])]).collect();
            self.count(query.table, &filters, &RowFilter::new(self, query.table, &filters))
        };
        let named =
            |firm: u32, count: u64| format!("{} ({})", self.snapshot().slug(Table::Firms, firm), grouped(count));
        let (mut told, mut pairs) = (Vec::new(), Vec::new());
        for group in groups.values.iter().take(MAX_GROUPS) {
            let Some(firm) = row_of(&group.value).filter(|firm| !told.contains(firm)) else { continue };
            let others =
                self.near_names(Table::Firms, firm).into_iter().take(MAX_PAIRS).map(|other| (other, count(other)));
            let others: Vec<(u32, u64)> =
                others.filter(|(_, count)| *count > 0 && count * WORTH_A_NOTE >= group.count).collect();
            if others.is_empty() {
                continue;
            }
            told.extend(others.iter().map(|(other, _)| *other));
            let others: Vec<String> = others.into_iter().map(|(other, count)| named(other, count)).collect();
            pairs.push(format!("{} with {}", named(firm, group.count), others.join(" and ")));
        }
        pairs.truncate(MAX_PAIRS);
        let detail = format!("groups of similar names, which may be of one firm: {}", pairs.join("; "));
        (!pairs.is_empty()).then(|| ParameterError::warning("value_interpreted", "group_by", detail))
    }
}
