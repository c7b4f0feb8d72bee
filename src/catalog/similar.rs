//! Records like one: startups by stage, sectors and size, firms by the startups that they share.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::catalog::{Catalog, Filter, RowFilter};
use crate::data::{Facet, Table};

/// A firm that shares startups with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimilarFirm {
    pub row: u32,
    /// The startups of both portfolios.
    pub shared: u32,
    /// All startups of its portfolio.
    pub portfolio: u32,
}

/// Firms that share fewer startups are not compared: one may be chance.
const MIN_SHARED: u32 = 2;

impl Catalog {
    /// What startups like this one have in common with it: its stage, if it is known, and one of the sectors of its record.
    /// `None` without sectors.
    pub fn kind_of(&self, startup: u32) -> Option<Vec<Filter>> {
        let snapshot = self.snapshot();
        let stage = snapshot.row_values(Table::Startups, Facet::Stage).of(startup);
        let field = Table::Startups.field_index("sectors");
        let record = snapshot.record(Table::Startups, startup);
        let value = record.value(Table::Startups, field);
        let slugs: Vec<&str> = serde_json::from_slice(value).expect("`sectors` is a list of slugs");
        let sectors: Vec<u32> = slugs.into_iter().filter_map(|slug| snapshot.find(Table::Sectors, slug)).collect();
        let of_stage = (!stage.is_empty()).then(|| Filter::AnyOf(Facet::Stage, stage.to_vec()));
        let is_known = !sectors.is_empty();
        is_known.then(|| of_stage.into_iter().chain([Filter::AnyOf(Facet::Sector, sectors)]).collect())
    }

    /// The startups of [`Catalog::kind_of`] that are most like one: those with most sectors in common, then those of its
    /// country, then those nearest in the order of `/startups`, which is that of the total raised.
    pub fn similar_startups(&self, startup: u32, limit: usize) -> Vec<u32> {
        let Some(filters) = self.kind_of(startup) else { return Vec::new() };
        let snapshot = self.snapshot();
        let [sectors, countries] = [Facet::Sector, Facet::Country].map(|by| snapshot.row_values(Table::Startups, by));
        let (own_sectors, own_country) = (sectors.of(startup), countries.of(startup));
        let distance = |row: u32| {
            let common = sectors.of(row).iter().filter(|sector| own_sectors.contains(sector)).count();
            let is_near = !own_country.is_empty() && countries.of(row) == own_country;
            (Reverse(common), !is_near, row.abs_diff(startup), row)
        };
        let mut found = Vec::new();
        RowFilter::of(snapshot, Table::Startups, &filters).each(|row| {
            if row != startup {
                found.push(distance(row));
            }
        });
        if found.len() > limit {
            found.select_nth_unstable(limit);
            found.truncate(limit);
        }
        found.sort_unstable();
        found.into_iter().map(|(.., row)| row).collect()
    }

    /// The firms whose portfolios are most like that of one: by the cosine of both (shared startups divided by the root of
    /// the product of their sizes), then by slug. The work grows with the firm's own portfolio, not with the table.
    pub fn similar_firms(&self, firm: u32, limit: usize) -> Vec<SimilarFirm> {
        let snapshot = self.snapshot();
        let investors = snapshot.row_values(Table::Startups, Facet::Investor);
        let mut shared: HashMap<u32, u32> = HashMap::new();
        for startup in snapshot.facet_rows(Table::Startups, Facet::Investor, firm).iter() {
            investors.of(startup).iter().for_each(|other| *shared.entry(*other).or_default() += 1);
        }
        let similar = |(row, shared): (u32, u32)| {
            let portfolio = snapshot.facet_count(Table::Startups, Facet::Investor, row);
            (row != firm && shared >= MIN_SHARED).then_some(SimilarFirm { row, shared, portfolio })
        };
        let mut firms: Vec<SimilarFirm> = shared.into_iter().filter_map(similar).collect();
        let slugs = snapshot.slug_ranks(Table::Firms);
        // The firm's own size is the same for all: squares of cosines, without fractions.
        let part = |one: &SimilarFirm, other: &SimilarFirm| {
            u128::from(one.shared) * u128::from(one.shared) * u128::from(other.portfolio)
        };
        firms.sort_unstable_by(|one, other| {
            let by_cosine = part(other, one).cmp(&part(one, other));
            by_cosine.then(slugs[one.row as usize].cmp(&slugs[other.row as usize]))
        });
        firms.truncate(limit);
        firms
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::catalog::{ListPosition, Query};

    /// The rows of a list with one filter.
    fn rows(catalog: &Catalog, table: Table, filters: Vec<Filter>) -> Vec<u32> {
        catalog.list(&Query { filters, ..Query::all(table) }, ListPosition::default(), usize::MAX).rows
    }

    #[test]
    fn similar_firms_are_those_with_the_largest_cosine() {
        let catalog = crate::catalog::bundled().unwrap();
        let firms = catalog.snapshot().rows(Table::Firms);
        let portfolio = |firm: u32| -> BTreeSet<u32> {
            rows(&catalog, Table::Startups, vec![Filter::AnyOf(Facet::Investor, vec![firm])]).into_iter().collect()
        };
        let portfolios: Vec<BTreeSet<u32>> = (0..firms).map(portfolio).collect();
        let mut with_some = 0;
        for firm in 0..firms {
            let own = &portfolios[firm as usize];
            let cosine = |other: &BTreeSet<u32>| {
                own.intersection(other).count() as f64 / ((own.len() * other.len()) as f64).sqrt()
            };
            let found = catalog.similar_firms(firm, 8);
            for similar in &found {
                let other = &portfolios[similar.row as usize];
                assert_eq!(own.intersection(other).count(), similar.shared as usize);
                assert_eq!(other.len(), similar.portfolio as usize);
            }
            let mut expected: Vec<f64> = (0..firms)
                .filter(|other| *other != firm)
                .map(|other| &portfolios[other as usize])
                .filter(|other| own.intersection(other).count() >= 2)
                .map(cosine)
                .collect();
            expected.sort_by(|one, other| other.total_cmp(one));
            expected.truncate(8);
            let shown: Vec<f64> = found.iter().map(|similar| cosine(&portfolios[similar.row as usize])).collect();
            assert_eq!(shown.len(), expected.len());
            assert!(shown.iter().zip(&expected).all(|(one, other)| (one - other).abs() < 1e-12), "{firm}");
            with_some += u32::from(!found.is_empty());
        }
        assert!(with_some > 100, "{with_some}");
    }

    #[test]
    fn similar_startups_are_of_one_kind_and_the_nearest_come_first() {
        let catalog = crate::catalog::bundled().unwrap();
        let snapshot = catalog.snapshot();
        let sectors = snapshot.row_values(Table::Startups, Facet::Sector);
        let mut full = 0;
        for startup in (0..snapshot.rows(Table::Startups)).step_by(7) {
            let found = catalog.similar_startups(startup, 6);
            let Some(filters) = catalog.kind_of(startup) else {
                assert!(found.is_empty());
                continue;
            };
            let all = rows(&catalog, Table::Startups, filters);
            assert_eq!(found.len(), 6.min(all.len() - 1));
            assert!(found.iter().all(|row| all.contains(row) && *row != startup));
            let common = |row: &u32| sectors.of(*row).iter().filter(|one| sectors.of(startup).contains(one)).count();
            let least = found.iter().map(common).min();
            let left_out = all.iter().filter(|row| **row != startup && !found.contains(row)).map(common).max();
            assert!(left_out.is_none() || left_out <= least);
            full += u32::from(found.len() == 6);
        }
        assert!(full > 50, "{full}");
    }
}
