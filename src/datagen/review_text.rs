//! The words of reviews, put together from sentences that follow the ratings.

use crate::data::vocabulary::Vocabulary;
use crate::data::{FirmKind, Stage};
use crate::datagen::quality::Experience;
use crate::datagen::random::Random;
use crate::datagen::review_words as words;
use crate::datagen::review_words_abroad::FOREIGN;

/// What a review has to tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) met: Experience,
    pub(crate) stage: Option<Stage>,
    pub(crate) kind: FirmKind,
    /// Tag of the firm's culture.
    pub(crate) language: &'static str,
    /// Moderation refused it.
    pub(crate) refused: bool,
}

/// Good, mixed or bad.
fn tone(rating: u8) -> usize {
    match rating {
        4.. => 0,
        3 => 1,
        _ => 2,
    }
}

/// The tone of a title or a verdict: nobody who was ghosted is full of praise.
fn last_tone(met: Experience) -> usize {
    tone(met.rating).max(usize::from(met.ghosted))
}

/// The sentences of a review in another language than English, if it is one.
fn foreign(random: &mut Random, told: &Told) -> Option<&'static [&'static [&'static str]; 3]> {
    let found = FOREIGN.iter().find(|(tag, _)| *tag == told.language)?;
    random.chance(130).then_some(&found.1)
}

/// A title of a few words.
pub(crate) fn title(random: &mut Random, told: &Told) -> String {
    let text = if told.refused && random.chance(350) {
        random.pick(words::REFUSED_TITLES)
    } else if told.met.ghosted && random.chance(600) {
        random.pick(words::GHOSTED_TITLES)
    } else {
        random.pick(words::TITLES[last_tone(told.met)])
    };
    fill(random, text, told)
}

/// A body of two to seven sentences.
pub(crate) fn body(random: &mut Random, told: &Told) -> String {
    if told.refused && random.chance(350) {
        let text = random.pick(words::REFUSED);
        return fill(random, text, told);
    }
    if let Some(tones) = foreign(random, told) {
        let tone = tones[tone(told.met.rating)];
        let first = random.below(tone.len() as u64) as usize;
        let second = (first + 1 + random.below(tone.len() as u64 - 1) as usize) % tone.len();
        return fill(random, &format!("{} {}", tone[first], tone[second]), told);
    }
    let tone_of = tone(told.met.rating);
    let mut sentences: Vec<&str> = Vec::with_capacity(8);
    if random.chance(800) {
        sentences.push(random.pick(words::OPENINGS));
    }
    sentences.push(random.pick(words::MEETINGS[tone_of]));
    if random.chance(450) {
        sentences.push(random.pick(words::MEETINGS_MORE[tone_of]));
    }
    if told.met.ghosted {
        sentences.push(random.pick(words::GHOSTED));
    } else if random.chance(700) {
        sentences.push(random.pick(words::FOLLOW_UPS[tone(told.met.responsiveness)]));
    }
    match random.below(100) {
        _ if told.met.ghosted => {}
        0..50 => {
            sentences.push(random.pick(words::TERMS[tone(told.met.fairness)]));
            // Who tells of the time after the round has closed it.
            if random.chance(600) {
                sentences.push(random.pick(words::HELP[tone(told.met.value_add)]));
            }
        }
        50..80 => sentences.push(random.pick(words::NOES[tone(told.met.fairness)])),
        _ => {}
    }
    if random.chance(300) {
        sentences.push(random.pick(words::REFERENCES[tone_of]));
    }
    if random.chance(550) {
        sentences.push(random.pick(words::VERDICTS[last_tone(told.met)]));
    }
    let breaks = sentences.len() > 4 && random.chance(300);
    let gap = if breaks { sentences.len() / 2 } else { usize::MAX };
    let mut text = String::with_capacity(400);
    for (place, sentence) in sentences.iter().enumerate() {
        if place > 0 {
            text.push_str(if place == gap { "\n\n" } else { " " });
        }
        text.push_str(&fill(random, sentence, told));
    }
    text
}

fn stage_words(stage: Option<Stage>) -> String {
    match stage {
        Some(Stage::PreSeed) => "pre-seed".to_owned(),
        Some(Stage::SeriesDPlus) => "late-stage".to_owned(),
        Some(stage @ (Stage::Seed | Stage::Growth | Stage::Debt | Stage::Grant)) => stage.name().to_owned(),
        Some(Stage::SeriesA) => "Series A".to_owned(),
        Some(Stage::SeriesB) => "Series B".to_owned(),
        Some(Stage::SeriesC) => "Series C".to_owned(),
        Some(Stage::Ipo) => "pre-IPO".to_owned(),
        Some(Stage::Other) | None => "current".to_owned(),
    }
}

/// Who sits across the table.
fn who(random: &mut Random, kind: FirmKind) -> &'static str {
    match kind {
        FirmKind::Angel => "the investor",
        FirmKind::Government | FirmKind::University => {
            random.pick(&["the programme officer", "the committee", "the case handler"])
        }
        FirmKind::Bank => random.pick(&["the relationship manager", "the credit team", "a director"]),
        FirmKind::Accelerator => random.pick(&["the programme lead", "a mentor", "the managing director"]),
        _ => random.pick(&[
            "a partner",
            "an associate",
            "the principal",
            "two partners",
            "the general partner",
            "an investment manager",
            "a venture partner",
        ]),
    }
}

/// Fills the slots of `text`, each on its own, and begins it with a capital.
fn fill(random: &mut Random, text: &str, told: &Told) -> String {
    let mut filled = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((slot, after)) = after.split_once('}') else { break };
        rest = after;
        match slot {
            "who" => filled.push_str(who(random, told.kind)),
            "stage" => filled.push_str(&stage_words(told.stage)),
            "days" => filled.push_str(&random.between(2, 9).to_string()),
            "weeks" => filled.push_str(random.pick(&["two", "three", "four", "five", "six", "eight"])),
            "months" => filled.push_str(random.pick(&["two", "three", "four", "five", "seven"])),
            "calls" => filled.push_str(random.pick(&["two", "three", "four", "five"])),
            "n" => filled.push_str(&random.between(2, 14).to_string()),
            "percent" => filled.push_str(&random.between(8, 32).to_string()),
            "month" => filled.push_str(random.pick(words::MONTHS)),
            "number" => filled.push_str(random.pick(words::NUMBERS)),
            "event" => filled.push_str(random.pick(words::EVENTS)),
            _ => {}
        }
    }
    filled.push_str(rest);
    crate::datagen::words::capital(&filled)
}
