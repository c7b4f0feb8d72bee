//! Word lists: the text files in `words/`, compiled into the program.
//!
//! A line `[name]` starts a list; each further line is one entry. `5 * entry` counts five times.

use std::collections::HashMap;
use std::ops::Index;

use data::word_file;

pub(crate) struct Lists {
    lists: HashMap<&'static str, Vec<&'static str>>,
    /// In the order of the file.
    pub(crate) names: Vec<&'static str>,
}

impl Lists {
    pub(crate) fn parse(text: &'static str) -> Self {
        let (mut lists, mut names) = (HashMap::<_, Vec<_>>::new(), Vec::new());
        for line in word_file::entries(text) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                names.push(name);
                continue;
            }
            let repeated = line.split_once(" * ").and_then(|(count, entry)| Some((count.parse().ok()?, entry)));
            let (count, entry) = repeated.unwrap_or((1, line));
            let list = lists.entry(*names.last().expect("a word list starts with a name")).or_default();
            list.extend(std::iter::repeat_n(entry, count));
        }
        Self { lists, names }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&[&'static str]> {
        self.lists.get(name).map(Vec::as_slice)
    }

    /// Rest of the entry that starts with `key` in the list `name`; `None` if there is none.
    pub(crate) fn value(&self, name: &str, key: &str) -> Option<&'static str> {
        self[name].iter().filter_map(|entry| entry.split_once(' ')).find(|(word, _)| *word == key).map(|pair| pair.1)
    }
}

impl Index<&str> for Lists {
    type Output = [&'static str];

    fn index(&self, name: &str) -> &Self::Output {
        self.get(name).unwrap_or_else(|| panic!("no word list named {name:?}"))
    }
}

/// Replaces each `{slot}` of `text` by the value of `slot`, from left to right.
pub(crate) fn fill(text: &str, mut value: impl FnMut(&str) -> String) -> String {
    let mut filled = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (slot, after) = after.split_once('}').unwrap_or_else(|| panic!("unclosed slot in {text:?}"));
        filled.push_str(before);
        filled.push_str(&value(slot));
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_by_name_with_repeated_entries_and_keyed_values() {
        let lists = Lists::parse("# a comment\n[one]\na\n2 * b c\n\n[two words]\nkey some value\n");
        assert_eq!(lists.names, ["one", "two words"]);
        assert_eq!(lists["one"], ["a", "b c", "b c"]);
        assert_eq!(lists.value("two words", "key"), Some("some value"));
        assert_eq!((lists.value("two words", "other"), lists.get("three")), (None, None));
    }

    #[test]
    fn slots_are_filled_from_left_to_right() {
        let mut count = 0;
        let text = fill("{a} and {b}.", |slot| {
            count += 1;
            format!("{slot}{count}")
        });
        assert_eq!(text, "a1 and b2.");
    }
}
