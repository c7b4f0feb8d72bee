//! Sectors of one field under different names.

use std::collections::HashMap;

use once_cell::sync::Lazy;

use crate::word_file;

static FIELDS: Lazy<HashMap<&'static str, Vec<&'static str>>> = Lazy::new(|| {
    let mut related: HashMap<&str, Vec<&str>> = HashMap::new();
    for field in word_file::entries(include_str!("related_sectors.txt")) {
        for slug in field.split('|') {
            related.entry(slug).or_default().extend(field.split('|').filter(|other| *other != slug));
        }
    }
    related
});

/// The slugs of the sectors that people may mean by the one with this slug.
pub fn related(slug: &str) -> impl Iterator<Item = &'static str> {
    FIELDS.get(slug).into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_of_slugs_and_go_both_ways() {
        for (slug, others) in FIELDS.iter() {
            assert!(!slug.is_empty() && slug.chars().all(|char| char.is_ascii_alphanumeric() || char == '-'), "{slug}");
            assert!(!others.is_empty(), "{slug}");
            assert!(others.iter().all(|other| related(other).any(|back| back == *slug)), "{slug}");
        }
        assert!(related("cybersecurity").any(|other| other == "security"));
        assert_eq!(related("unknown").count(), 0);
    }
}
