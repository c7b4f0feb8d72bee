//! Titles and bodies of reviews, composed of sentences that follow the ratings.

use once_cell::sync::Lazy;

use crate::datagen::lists::{Lists, fill};
use crate::datagen::quality::Experience;
use crate::datagen::random::Random;
use data::vocabulary::{Vocabulary, capitalized};
use data::{FirmKind, Stage};

static REVIEWS: Lazy<Lists> = Lazy::new(|| Lists::parse(include_str!("words/reviews.txt")));

/// Sentences in other languages than English: `<culture> <tone>`.
static ABROAD: Lazy<Lists> = Lazy::new(|| Lists::parse(include_str!("words/reviews_abroad.txt")));

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReviewFacts {
    pub(crate) experience: Experience,
    pub(crate) stage: Option<Stage>,
    pub(crate) kind: FirmKind,
    /// Tag of the firm's culture.
    pub(crate) language: &'static str,
    pub(crate) rejected: bool,
}

fn tone(rating: u8) -> &'static str {
    match rating {
        4.. => "good",
        3 => "mixed",
        _ => "bad",
    }
}

/// The tone of a title or a verdict: a reviewer who was ghosted gives no praise.
fn last_tone(experience: Experience) -> &'static str {
    tone(if experience.ghosted { experience.rating.min(3) } else { experience.rating })
}

fn pick(random: &mut Random, name: &str, tone: &str) -> &'static str {
    random.pick(&REVIEWS[&format!("{name} {tone}")])
}

pub(crate) fn title(random: &mut Random, facts: &ReviewFacts) -> String {
    let text = if facts.rejected && random.chance(350) {
        pick(random, "title", "rejected")
    } else if facts.experience.ghosted && random.chance(600) {
        pick(random, "title", "ghosted")
    } else {
        pick(random, "title", last_tone(facts.experience))
    };
    fill_slots(random, text, facts)
}

/// A body of one to eight sentences.
pub(crate) fn body(random: &mut Random, facts: &ReviewFacts) -> String {
    let Experience { rating, responsiveness, fairness, value_add, ghosted } = facts.experience;
    if facts.rejected && random.chance(350) {
        let text = random.pick(&REVIEWS["rejected"]);
        return fill_slots(random, text, facts);
    }
    let abroad = ABROAD.get(&format!("{} {}", facts.language, tone(rating)));
    if let Some(sentences) = abroad.filter(|_| random.chance(130)) {
        let first = random.below(sentences.len() as u64) as usize;
        let second = (first + 1 + random.below(sentences.len() as u64 - 1) as usize) % sentences.len();
        return fill_slots(random, &format!("{} {}", sentences[first], sentences[second]), facts);
    }
    let mut sentences: Vec<&str> = Vec::with_capacity(8);
    if random.chance(800) {
        sentences.push(random.pick(&REVIEWS["opening"]));
    }
    sentences.push(pick(random, "meeting", tone(rating)));
    if random.chance(450) {
        sentences.push(pick(random, "meeting more", tone(rating)));
    }
    if ghosted {
        sentences.push(random.pick(&REVIEWS["ghosted"]));
    } else if random.chance(700) {
        sentences.push(pick(random, "follow-up", tone(responsiveness)));
    }
    match random.below(100) {
        _ if ghosted => {}
        0..50 => {
            sentences.push(pick(random, "terms", tone(fairness)));
            // Only reviewers with a closed round write about the time after it.
            if random.chance(600) {
                sentences.push(pick(random, "help", tone(value_add)));
            }
        }
        50..80 => sentences.push(pick(random, "rejection", tone(fairness))),
        _ => {}
    }
    if random.chance(300) {
        sentences.push(pick(random, "references", tone(rating)));
    }
    if random.chance(550) {
        sentences.push(pick(random, "verdict", last_tone(facts.experience)));
    }
    let breaks = sentences.len() > 4 && random.chance(300);
    let middle = if breaks { sentences.len() / 2 } else { usize::MAX };
    let mut text = String::with_capacity(400);
    for (index, sentence) in sentences.iter().enumerate() {
        if index > 0 {
            text.push_str(if index == middle { "\n\n" } else { " " });
        }
        text.push_str(&fill_slots(random, sentence, facts));
    }
    text
}

fn stage_words(stage: Option<Stage>) -> &'static str {
    match stage {
        Some(Stage::SeriesDPlus) => "late-stage",
        Some(Stage::SeriesA) => "Series A",
        Some(Stage::SeriesB) => "Series B",
        Some(Stage::SeriesC) => "Series C",
        Some(Stage::Ipo) => "pre-IPO",
        Some(Stage::Other) | None => "current",
        Some(stage) => stage.name(),
    }
}

fn who(random: &mut Random, kind: FirmKind) -> &'static str {
    let list = match kind {
        FirmKind::Angel => return "the investor",
        FirmKind::Government | FirmKind::University => "who government",
        FirmKind::Bank => "who bank",
        FirmKind::Accelerator => "who accelerator",
        _ => "who firm",
    };
    random.pick(&REVIEWS[list])
}

/// Fills the slots of `text` and capitalizes it.
fn fill_slots(random: &mut Random, text: &str, facts: &ReviewFacts) -> String {
    let filled = fill(text, |slot| match slot {
        "who" => who(random, facts.kind).to_owned(),
        "stage" => stage_words(facts.stage).to_owned(),
        "days" => random.between(2, 9).to_string(),
        "n" => random.between(2, 14).to_string(),
        "percent" => random.between(8, 32).to_string(),
        list => random.pick(&REVIEWS[list]).to_owned(),
    });
    capitalized(&filled)
}
