//! The stages at which a firm invests, as a strip of marks with letters, from the earliest to the latest.

use std::fmt::Write;

use askama::Template;

use crate::format;
use data::Stage;
use data::vocabulary::Vocabulary;

/// The least width of a strip in a table, in rem.
pub const ROOM: f64 = 7.0;
/// Width of a mark with the space to the next one.
const STEP: usize = 10;
/// The letters, in the order of the stages, and what they mean.
const LETTERS: &str = "PSABCDGTRIO";
pub const WORDS: &str = "Stages: P pre-seed, S seed, A to D series A to D+, G growth, T debt, R grant, I IPO, O other.";

#[derive(Template)]
#[template(
    source = r#"<svg class="strip-marks{% if is_legend %} legend-marks{% endif %}" viewBox="0 0 {{ STEP * marks.len() }} 13" {% if is_legend %}aria-hidden="true">{% else %}role="img" aria-label="{{ names }}"><title>{{ names }}</title><path class="track" d="{{ self.path(false) }}"/><path class="fill" d="{{ self.path(true) }}"/>{% endif %}<text x="{{ places }}" y="10">{{ letters }}</text></svg>"#,
    ext = "html"
)]
pub struct StageStrip {
    marks: Vec<bool>,
    names: String,
    /// The letters of the marked stages, and the middles of their marks.
    letters: String,
    places: String,
    /// True for the strip in the heading, which has all letters and no marks.
    is_legend: bool,
}

impl StageStrip {
    pub fn of(stages: &[String]) -> Self {
        let has = |stage: &Stage| stages.iter().any(|known| known == stage.name());
        let names: Vec<String> = stages.iter().map(|stage| format::word(stage)).collect();
        Self::new(Stage::ALL.iter().map(has).collect(), names.join(", "), false)
    }

    /// The middles of the marks that are on or off: the style sheet draws them as thick lines.
    fn path(&self, is_on: bool) -> String {
        let marks = self.marks.iter().enumerate().filter(|(_, mark)| **mark == is_on);
        marks.map(|(place, _)| format!("M{}.5 0v13", STEP * place + STEP / 2 - 1)).collect()
    }

    fn new(marks: Vec<bool>, names: String, is_legend: bool) -> Self {
        let (mut letters, mut places) = (String::new(), String::new());
        for (place, (letter, _)) in LETTERS.chars().zip(&marks).enumerate().filter(|(_, (_, is_on))| **is_on) {
            letters.push(letter);
            let _ = write!(places, "{}.5 ", STEP * place + STEP / 2 - 1);
        }
        Self { marks, names, letters, places: places.trim_end().to_owned(), is_legend }
    }
}

/// The letters of all stages, as the heading of strips.
pub fn letters() -> String {
    StageStrip::new(vec![true; Stage::ALL.len()], String::new(), true).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_has_a_letter_of_its_own_that_the_words_explain() {
        assert_eq!(LETTERS.len(), Stage::ALL.len());
        for (index, letter) in LETTERS.char_indices() {
            assert!(!LETTERS[index + 1..].contains(letter), "{letter}");
            assert!(WORDS.contains(&format!(" {letter} ")) || "BC".contains(letter), "{letter}");
        }
        let strip = StageStrip::of(&["seed".to_owned(), "growth".to_owned()]);
        assert_eq!((strip.letters.as_str(), strip.places.as_str()), ("SG", "14.5 64.5"));
        assert_eq!(strip.names, "Seed, Growth");
    }
}
