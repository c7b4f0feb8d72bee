//! Cultures: from which sounds and words the names of people and organizations are made.
//!
//! Names are put together from parts (given name; stem and ending of a family name), so that a few hundred words give
//! millions of names and none is taken from a real person. A part of a culture that writes another script is given as
//! `Latin:native`, so that each name can be written both ways.

use once_cell::sync::Lazy;

use super::culture_east::EAST;
use super::culture_west::WEST;

/// Which syllables a culture's invented words are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sound {
    Neutral,
    Romance,
    Germanic,
    Slavic,
    Eastern,
    Southern,
}

/// The words of one culture, as its tables write them: separated by spaces, `_` for a space within a word.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) tag: &'static str,
    pub(super) sound: Sound,
    /// Given names of women.
    pub(super) women: &'static str,
    /// Given names of men.
    pub(super) men: &'static str,
    /// Second parts of given names; empty where a given name has one part.
    pub(super) second: &'static str,
    /// First parts of family names.
    pub(super) stems: &'static str,
    /// Last parts of family names of women.
    pub(super) ends_women: &'static str,
    /// Last parts of family names of men, each beside that of women.
    pub(super) ends_men: &'static str,
    /// Words that organizations are named after.
    pub(super) roots: &'static str,
    /// Generic words of investors.
    pub(super) firm_words: &'static str,
    /// Generic words of startups.
    pub(super) startup_words: &'static str,
    /// The family name comes first in the native script.
    pub(super) family_first: bool,
}

/// A word in Latin letters and in its own script (the same where that is Latin).
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) latin: String,
    pub(super) native: String,
}

/// A culture, ready for drawing.
#[derive(Debug)]
pub(super) struct Culture {
    pub(super) tag: &'static str,
    pub(super) sound: Sound,
    pub(super) women: Vec<Word>,
    pub(super) men: Vec<Word>,
    pub(super) second: Vec<Word>,
    pub(super) stems: Vec<Word>,
    pub(super) ends_women: Vec<Word>,
    pub(super) ends_men: Vec<Word>,
    pub(super) roots: Vec<Word>,
    pub(super) firm_words: Vec<Word>,
    pub(super) startup_words: Vec<Word>,
    pub(super) family_first: bool,
}

impl Culture {
    /// True where names are also written in another script than Latin.
    pub(super) fn has_script(&self) -> bool {
        self.stems.iter().any(|stem| stem.latin != stem.native)
    }

    /// True where the native script writes names without a space.
    pub(super) fn is_unspaced(&self) -> bool {
        matches!(self.tag, "zh" | "ja" | "ko")
    }
}

fn words(text: &str) -> Vec<Word> {
    let plain = |part: &str| if part == "-" { String::new() } else { part.replace('_', " ") };
    text.split_whitespace()
        .map(|word| {
            let (latin, native) = word.split_once(':').unwrap_or((word, word));
            Word { latin: plain(latin), native: plain(native) }
        })
        .collect()
}

/// All cultures.
pub(super) static CULTURES: Lazy<Vec<Culture>> = Lazy::new(|| {
    WEST.iter()
        .chain(EAST)
        .map(|source| Culture {
            tag: source.tag,
            sound: source.sound,
            women: words(source.women),
            men: words(source.men),
            second: words(source.second),
            stems: words(source.stems),
            ends_women: words(source.ends_women),
            ends_men: words(source.ends_men),
            roots: words(source.roots),
            firm_words: words(source.firm_words),
            startup_words: words(source.startup_words),
            family_first: source.family_first,
        })
        .collect()
});

/// Place in [`CULTURES`] of the culture `tag`; the first one where there is none.
pub(super) fn culture(tag: &str) -> usize {
    CULTURES.iter().position(|culture| culture.tag == tag).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_culture_has_words_for_every_name() {
        for (place, culture) in CULTURES.iter().enumerate() {
            let tag = culture.tag;
            assert!(CULTURES[..place].iter().all(|other| other.tag != tag), "{tag} twice");
            for list in [&culture.women, &culture.men, &culture.stems, &culture.roots] {
                assert!(list.len() >= 8, "{tag}: {list:?}");
            }
            for list in [&culture.ends_women, &culture.firm_words, &culture.startup_words] {
                assert!(!list.is_empty(), "{tag}");
            }
            assert_eq!(culture.ends_women.len(), culture.ends_men.len(), "{tag}");
        }
    }

    #[test]
    fn many_scripts_are_written() {
        let scripted = CULTURES.iter().filter(|culture| culture.has_script()).count();
        assert!(scripted >= 12, "{scripted}");
    }
}
