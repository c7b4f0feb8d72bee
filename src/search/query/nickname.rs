//! Words that may replace each other in a name: forms of a given name, abbreviations and their full forms.

use std::collections::HashMap;

use once_cell::sync::Lazy;

use data::word_file;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WordForm {
    pub text: &'static str,
    pub similarity: f32,
}

/// The similarity of a short form and its full form, of an abbreviation and its word.
const DIRECT: f32 = 0.97;
/// The similarity of two short forms of one name, or of two full forms with the same short forms.
const RELATED: f32 = 0.88;
/// A short form of more names than this says too little about its other short forms.
const MAX_FULL_FORMS: usize = 4;

static FORMS: Lazy<HashMap<&str, Vec<WordForm>>> = Lazy::new(|| {
    let mut forms = HashMap::new();
    let equivalents = lines(include_str!("equivalents.txt"));
    equivalents.for_each(|words| pairs(&words).for_each(|(word, other)| add(&mut forms, word, other, DIRECT)));
    let groups: Vec<Vec<&str>> = lines(include_str!("nicknames.txt")).collect();
    let mut groups_of: HashMap<&str, Vec<&[&str]>> = HashMap::new();
    for group in &groups {
        for short in &group[1..] {
            add(&mut forms, group[0], short, DIRECT);
            add(&mut forms, short, group[0], DIRECT);
            groups_of.entry(short).or_default().push(group);
        }
    }
    for (short, groups) in groups_of.iter().filter(|(_, groups)| groups.len() <= MAX_FULL_FORMS) {
        for other in groups.iter().flat_map(|group| &group[1..]) {
            add(&mut forms, short, other, RELATED);
            add(&mut forms, other, short, RELATED);
        }
        for (left, right) in pairs(groups) {
            let shared = left[1..].iter().filter(|short| right[1..].contains(short)).count();
            if 2 * shared >= left.len().min(right.len()) - 1 {
                add(&mut forms, left[0], right[0], RELATED);
            }
        }
    }
    forms
});

fn lines(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    word_file::entries(text).map(|line| line.split(' ').collect())
}

/// Every item with every other.
fn pairs<T: Copy>(items: &[T]) -> impl Iterator<Item = (T, T)> + '_ {
    let others = |at: usize| items.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, item)| *item);
    items.iter().enumerate().flat_map(move |(at, item)| others(at).map(move |other| (*item, other)))
}

fn add(forms: &mut HashMap<&'static str, Vec<WordForm>>, word: &'static str, other: &'static str, similarity: f32) {
    let forms = forms.entry(word).or_default();
    if word != other && forms.iter().all(|form| form.text != other) {
        forms.push(WordForm { text: other, similarity });
    }
}

pub fn forms(word: &str) -> &'static [WordForm] {
    FORMS.get(word).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(word: &str, other: &str) -> Option<f32> {
        forms(word).iter().find(|form| form.text == other).map(|form| form.similarity)
    }

    #[test]
    fn a_short_form_may_replace_its_full_form() {
        for (word, other) in
            [("bob", "robert"), ("drew", "andrew"), ("mr", "mister"), ("mgmt", "management"), ("st", "saint")]
        {
            assert_eq!(similarity(word, other), Some(DIRECT), "{word}");
            assert_eq!(similarity(other, word), Some(DIRECT), "{word}");
        }
        assert_eq!(forms("kumar"), []);
        assert_eq!(forms("#"), []);
    }

    #[test]
    fn forms_of_one_name_are_related() {
        for (word, other) in [("geoff", "jeff"), ("jeffrey", "geoffrey"), ("katherine", "catherine"), ("kate", "katie")]
        {
            assert_eq!(similarity(word, other), Some(RELATED), "{word}");
            assert_eq!(similarity(other, word), Some(RELATED), "{other}");
        }
        for (word, other) in [("albert", "alexander"), ("albert", "alex"), ("robert", "herbert"), ("bill", "bob")] {
            assert_eq!(similarity(word, other), None, "{word}");
        }
    }

    #[test]
    fn the_files_have_folded_words_without_duplicates() {
        for line in lines(include_str!("nicknames.txt")).chain(lines(include_str!("equivalents.txt"))) {
            assert!(line.len() > 1, "{line:?}");
            for word in &line {
                assert_eq!(data::fold::fold(word), *word);
                assert_eq!(line.iter().filter(|other| *other == word).count(), 1, "{line:?}");
            }
        }
    }
}
