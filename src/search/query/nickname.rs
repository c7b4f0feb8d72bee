//! Short and familiar forms of common given names.

use once_cell::sync::Lazy;

/// Groups of equivalent given names; the first of each is the full form.
static GROUPS: Lazy<Vec<Vec<&str>>> = Lazy::new(|| {
    let lines = include_str!("nicknames.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(' ').collect()).collect()
});

/// The equivalents of a given name: of a full form its short forms, of a short form its full forms.
pub(crate) fn forms(word: &str) -> impl Iterator<Item = &'static str> + '_ {
    GROUPS.iter().filter(move |group| group.contains(&word)).flat_map(move |group| {
        let full = group.first().copied();
        let is_full = full == Some(word);
        // Two short forms of a name are not equivalent.
        group.iter().copied().filter(move |form| *form != word && (is_full || Some(*form) == full))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_form_is_equivalent_to_its_full_form() {
        assert!(forms("bob").any(|form| form == "robert"));
        assert!(forms("robert").any(|form| form == "bob"));
        assert!(!forms("bob").any(|form| form == "rob"));
        assert_eq!(forms("kumar").count(), 0);
    }
}
