//! Sector tree of invented datasets, with the products of startups in each sector.
//! Firms draw from the sixteen groups at the top, startups from the sectors below them.

use once_cell::sync::Lazy;

use crate::datagen::lists::Lists;
use data::word_file;

pub(crate) struct InventedSector {
    pub(crate) slug: &'static str,
    pub(crate) name: &'static str,
    /// Slug of the parent; empty at the top.
    pub(crate) parent: &'static str,
    pub(crate) description: &'static str,
    /// Products of the sector's startups, separated by `;`.
    pub(crate) products: &'static str,
    /// Index of its group in [`GROUPS`].
    pub(crate) group: usize,
}

pub(crate) struct SectorGroup {
    pub(crate) slug: &'static str,
    pub(crate) weight: u32,
    /// Words in the names of its startups.
    pub(crate) words: Vec<&'static str>,
    pub(crate) customers: Vec<&'static str>,
}

pub(crate) static GROUPS: Lazy<Vec<SectorGroup>> = Lazy::new(|| {
    let lists = Lists::parse(include_str!("words/sector_groups.txt"));
    let group = |slug: &&'static str| {
        let value = |key| lists.value(slug, key).expect("a group has a weight, words and customers");
        let weight = value("weight").parse().expect("a weight is a number");
        let [words, customers] = ["words", "customers"].map(|key| value(key).split(';').collect());
        SectorGroup { slug, weight, words, customers }
    };
    lists.names.iter().map(group).collect()
});

/// Parents before children, frequent sectors of a group first. A line is `slug|name|parent|description|products`.
pub(crate) static SECTORS: Lazy<Vec<InventedSector>> = Lazy::new(|| {
    let mut sectors: Vec<InventedSector> = Vec::new();
    for line in word_file::entries(include_str!("words/sectors.txt")) {
        let fields: Vec<_> = line.split('|').collect();
        let [slug, name, parent, description, products] = fields[..] else { panic!("not five fields: {line:?}") };
        let group = match sectors.iter().find(|sector| sector.slug == parent) {
            Some(parent) => parent.group,
            None => GROUPS.iter().position(|group| group.slug == slug).expect("a top sector is a group"),
        };
        sectors.push(InventedSector { slug, name, parent, description, products, group });
    }
    sectors
});

/// Indexes in [`SECTORS`] of each group's sectors, its top first.
pub(crate) static BY_GROUP: Lazy<Vec<Vec<usize>>> = Lazy::new(|| {
    let members = |group| (0..SECTORS.len()).filter(move |sector| SECTORS[*sector].group == group).collect();
    (0..GROUPS.len()).map(members).collect()
});

/// Relative number of startups of each group.
pub(crate) static GROUP_WEIGHTS: Lazy<Vec<u32>> = Lazy::new(|| GROUPS.iter().map(|group| group.weight).collect());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sector_tree_is_consistent() {
        let slugs: Vec<_> = SECTORS.iter().map(|sector| sector.slug).collect();
        assert!((60..=120).contains(&slugs.len()), "{}", slugs.len());
        for (index, sector) in SECTORS.iter().enumerate() {
            assert!(!slugs[..index].contains(&sector.slug), "{} twice", sector.slug);
            let top = GROUPS.iter().any(|group| group.slug == sector.slug);
            assert_eq!(sector.parent.is_empty(), top, "{}", sector.slug);
            assert!(top || slugs[..index].contains(&sector.parent), "{} before its parent", sector.slug);
            assert!(!sector.name.is_empty() && !sector.products.is_empty(), "{}", sector.slug);
        }
        assert_eq!(GROUPS.len(), 16);
        assert_eq!(BY_GROUP.iter().map(Vec::len).sum::<usize>(), SECTORS.len());
        assert!(BY_GROUP.iter().enumerate().all(|(group, sectors)| SECTORS[sectors[0]].slug == GROUPS[group].slug));
    }
}
