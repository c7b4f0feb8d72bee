//! Cultures: the sounds and words from which names of people and organizations are built.
//!
//! Names are composed of parts (given name; stem and ending of a family name): a few hundred words give millions of names,
//! and none is taken from a real person. A part in another script is written as `Latin:native`, so that each name can be
//! written both ways.

use std::collections::HashMap;
use std::ops::Index;

use once_cell::sync::Lazy;

use crate::datagen::lists::Lists;
use crate::datagen::words::{SYLLABLES, Syllables};

/// A word in Latin letters and in its native script (identical if that is Latin).
#[derive(Clone, Debug)]
pub(crate) struct ScriptedWord {
    pub(crate) latin: String,
    pub(crate) native: String,
}

impl From<String> for ScriptedWord {
    fn from(latin: String) -> Self {
        Self { native: latin.clone(), latin }
    }
}

pub(crate) struct Culture {
    pub(crate) tag: &'static str,
    pub(crate) syllables: &'static Syllables,
    /// Parts of names by kind: given names of `women` and `men`, which may have a `second` part; family names of `stems`
    /// and `ends_women` or `ends_men`, in one order; `roots` of organizations; generic `firm_words` and `startup_words`.
    words: HashMap<&'static str, Vec<ScriptedWord>>,
    /// True if the native script writes the family name first.
    pub(crate) family_first: bool,
}

impl Culture {
    /// True if names are also written in a script other than Latin.
    pub(crate) fn has_script(&self) -> bool {
        self["stems"].iter().any(|stem| stem.latin != stem.native)
    }

    /// True if the native script writes names without a space.
    pub(crate) fn is_unspaced(&self) -> bool {
        matches!(self.tag, "zh" | "ja" | "ko")
    }
}

impl Index<&str> for Culture {
    type Output = [ScriptedWord];

    /// Words of a kind; none if the culture has no such words.
    fn index(&self, kind: &str) -> &[ScriptedWord] {
        self.words.get(kind).map_or(&[], Vec::as_slice)
    }
}

/// Parses words separated by spaces, with `_` for a space within a word and `-` for an empty word.
fn parse_words(text: &str) -> Vec<ScriptedWord> {
    let plain = |part: &str| if part == "-" { String::new() } else { part.replace('_', " ") };
    text.split_whitespace()
        .map(|word| {
            let (latin, native) = word.split_once(':').unwrap_or((word, word));
            ScriptedWord { latin: plain(latin), native: plain(native) }
        })
        .collect()
}

pub(crate) static CULTURES: Lazy<Vec<Culture>> = Lazy::new(|| {
    let lists = Lists::parse(include_str!("words/cultures.txt"));
    let culture = |tag: &&'static str| {
        let value = |key| lists.value(tag, key);
        let entries = lists[*tag].iter().filter_map(|entry| entry.split_once(' '));
        Culture {
            tag,
            syllables: &SYLLABLES[value("sound").expect("a culture has a sound")],
            words: entries.map(|(kind, words)| (kind, parse_words(words))).collect(),
            family_first: value("family_first") == Some("true"),
        }
    };
    lists.names.iter().map(culture).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_culture_has_words_for_every_name() {
        for (index, culture) in CULTURES.iter().enumerate() {
            let tag = culture.tag;
            assert!(CULTURES[..index].iter().all(|other| other.tag != tag), "{tag} twice");
            for kind in ["women", "men", "stems", "roots"] {
                assert!(culture[kind].len() >= 8, "{tag}: {:?}", &culture[kind]);
            }
            for kind in ["ends_women", "firm_words", "startup_words"] {
                assert!(!culture[kind].is_empty(), "{tag}");
            }
            assert_eq!(culture["ends_women"].len(), culture["ends_men"].len(), "{tag}");
        }
    }

    #[test]
    fn many_scripts_are_written() {
        let scripted = CULTURES.iter().filter(|culture| culture.has_script()).count();
        assert!(scripted >= 12, "{scripted}");
    }
}
