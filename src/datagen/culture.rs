//! Cultures: from which sounds and words the names of people and organizations are made.
//!
//! Names are put together from parts (given name; stem and ending of a family name), so that a few hundred words give
//! millions of names and none is taken from a real person. A part of a culture that writes another script is given as
//! `Latin:native`, so that each name can be written both ways.

use once_cell::sync::Lazy;

use crate::datagen::culture_east::EAST;
use crate::datagen::culture_west::WEST;

/// Which syllables a culture's invented words are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sound {
    Neutral,
    Romance,
    Germanic,
    Slavic,
    Eastern,
    Southern,
}

/// The words of one culture, as its tables write them: separated by spaces, `_` for a space within a word.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) tag: &'static str,
    pub(crate) sound: Sound,
    /// Given names of women.
    pub(crate) women: &'static str,
    /// Given names of men.
    pub(crate) men: &'static str,
    /// Second parts of given names; empty where a given name has one part.
    pub(crate) second: &'static str,
    /// First parts of family names.
    pub(crate) stems: &'static str,
    /// Last parts of family names of women.
    pub(crate) ends_women: &'static str,
    /// Last parts of family names of men, each beside that of women.
    pub(crate) ends_men: &'static str,
    /// Words that organizations are named after.
    pub(crate) roots: &'static str,
    /// Generic words of investors.
    pub(crate) firm_words: &'static str,
    /// Generic words of startups.
    pub(crate) startup_words: &'static str,
    /// The family name comes first in the native script.
    pub(crate) family_first: bool,
}

/// A word in Latin letters and in its own script (the same where that is Latin).
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) latin: String,
    pub(crate) native: String,
}

/// A culture, ready for drawing.
#[derive(Debug)]
pub(crate) struct Culture {
    pub(crate) tag: &'static str,
    pub(crate) sound: Sound,
    pub(crate) women: Vec<Word>,
    pub(crate) men: Vec<Word>,
    pub(crate) second: Vec<Word>,
    pub(crate) stems: Vec<Word>,
    pub(crate) ends_women: Vec<Word>,
    pub(crate) ends_men: Vec<Word>,
    pub(crate) roots: Vec<Word>,
    pub(crate) firm_words: Vec<Word>,
    pub(crate) startup_words: Vec<Word>,
    pub(crate) family_first: bool,
}

impl Culture {
    /// True where names are also written in another script than Latin.
    pub(crate) fn has_script(&self) -> bool {
        self.stems.iter().any(|stem| stem.latin != stem.native)
    }

    /// True where the native script writes names without a space.
    pub(crate) fn is_unspaced(&self) -> bool {
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
pub(crate) static CULTURES: Lazy<Vec<Culture>> = Lazy::new(|| {
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
pub(crate) fn culture(tag: &str) -> usize {
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
