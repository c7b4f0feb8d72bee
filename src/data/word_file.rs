//! Word files, which are compiled into the program: an entry on each line, and comments.

use std::collections::HashMap;

/// The entries in the order of the file: its lines, except empty ones and those that begin with `#`.
pub fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The numbers of lines such as `stage: 50`, by the names of their places.
///
/// # Panics
/// If a name has no number: the file is part of the program.
pub fn numbers<const COUNT: usize>(text: &str, name_of: impl Fn(usize) -> &'static str) -> [u32; COUNT] {
    let pairs = entries(text).filter_map(|line| line.split_once(": "));
    let known: HashMap<&str, u32> = pairs.filter_map(|(name, number)| Some((name, number.parse().ok()?))).collect();
    std::array::from_fn(|place| {
        let name = name_of(place);
        *known.get(name).unwrap_or_else(|| panic!("a word file has no number of {name}"))
    })
}
