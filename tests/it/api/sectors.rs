//! Sectors as values of filters.

use std::collections::BTreeSet;

use auth::quota::Tier;
use catalog::Resource;
use data::{Facet, Table};

use crate::support::harness::{Server, bundled_folder, published};
use crate::support::naive::{Naive, asked};

#[test]
fn a_sector_includes_its_descendants() {
    let naive = Naive::read(&bundled_folder());
    let deepest = naive.lineage.values().map(BTreeSet::len).max().unwrap();
    assert!(deepest >= 2, "the bundled sectors make a tree");
    let catalog = published();
    for sector in naive.lineage.keys() {
        let expected = naive.firms.iter().filter(|firm| firm.sectors.contains(sector)).count() as u64;
        assert_eq!(asked(&catalog, Resource::Firms, &[("sector", sector.clone())], 0, 1).1, expected, "{sector}");
    }
}

#[test]
fn a_sector_can_be_named_by_its_name_even_with_a_comma() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let catalog = server.state.releases.current();
    let snapshot = catalog.snapshot();
    for row in 0..snapshot.rows(Table::Sectors) {
        let (slug, name) = (snapshot.slug(Table::Sectors, row), snapshot.name(Table::Sectors, row));
        let total =
            |value: &str| client.list("/api/v3/vcs", &[("sector", value)]).json()["pagination"]["total"].clone();
        assert_eq!(total(slug), total(name), "{name}");
        assert_eq!(total(slug), snapshot.facet_count(Table::Firms, Facet::Sector, row));
    }
}
