//! Reviews: their number per firm, and their rows. Titles and bodies are composed of sentences that follow the ratings.

use std::io;
use std::path::Path;

use once_cell::sync::Lazy;

use crate::datagen::GenConfig;
use crate::datagen::culture::CULTURES;
use crate::datagen::firms::InventedFirm;
use crate::datagen::geography::HOMES;
use crate::datagen::lists::{Lists, fill};
use crate::datagen::quality::{Experience, FirmQuality};
use crate::datagen::random::{Random, RandomStream, Share};
use data::import::csv_writer::TableWriter;
use data::import::rows;
use data::vocabulary::{Vocabulary, capitalized};
use data::{Date, FirmKind, PartialDate, ReviewProof, ReviewStatus, ReviewerRole, Stage};

/// Reviews of each firm: none for one in six, 1 to 5 for one in four. The rest is divided among the others, heavy-tailed.
fn review_counts(config: &GenConfig, firms: &[InventedFirm]) -> Vec<u32> {
    let class = |row: u32| {
        let random = &mut Random::new(config.seed, RandomStream::ReviewCount, u64::from(row));
        let few = match random.below(100) {
            _ if row == 0 => None,
            0..16 => Some(0),
            16..21 => Some(1),
            21..26 => Some(2),
            26..32 => Some(3),
            32..37 => Some(4),
            37..41 => Some(5),
            _ => None,
        };
        (few, 30 + 6_000 / (1 + random.below(100)))
    };
    let mut rest = config.reviews;
    let mut few: Vec<Option<u32>> = Vec::with_capacity(firms.len());
    let mut weights: Vec<u64> = Vec::with_capacity(firms.len());
    for (row, firm) in (0..config.firms).zip(firms) {
        let (count, weight) = class(row);
        let count = count.map(|count| count.min(rest));
        rest -= count.unwrap_or(0);
        few.push(count);
        // Firms that join many rounds are reviewed often.
        let busy = u64::from(firm.activity) * u64::from(config.firms.max(400)) / 200_000_000;
        weights.push(if count.is_some() { 0 } else { weight + 20 * busy.min(60) });
    }
    let mut share = Share::new(rest, weights.iter().sum());
    few.into_iter().zip(weights).map(|(few, weight)| few.unwrap_or(0) + share.next(weight)).collect()
}

pub(super) fn write(config: &GenConfig, to: &Path, firms: &[InventedFirm]) -> io::Result<()> {
    let mut table = TableWriter::create::<rows::DatasetReview>(to)?;
    let mut id = 0;
    for ((row, firm), count) in (0..).zip(firms).zip(review_counts(config, firms)) {
        let quality = FirmQuality::draw(config.seed, row);
        for _ in 0..count {
            id += 1;
            table.row(&fields(config, id, firm, quality))?;
        }
    }
    table.finish()
}

fn fields(config: &GenConfig, id: u64, firm: &InventedFirm, quality: FirmQuality) -> [String; 21] {
    let random = &mut Random::new(config.seed, RandomStream::Review, id);
    let experience = quality.experience(random);
    let status = [ReviewStatus::Approved, ReviewStatus::Pending, ReviewStatus::Rejected][random.weighted(&[82, 10, 8])];
    let created_on = draw_day(random, config.version.date, firm);
    let stages = firm.stage_list();
    let stage = stages.get(random.below(stages.len() as u64) as usize).copied().filter(|_| random.chance(860));
    let responsiveness = random.keep(880, experience.responsiveness.to_string());
    let fairness = random.keep(840, experience.fairness.to_string());
    let value_add = random.keep(800, experience.value_add.to_string());
    let ghosted = random.keep(910, experience.ghosted.to_string());
    let (language, rejected) = (CULTURES[HOMES[firm.home].culture].tag, status == ReviewStatus::Rejected);
    let facts = ReviewFacts { experience, stage, kind: firm.kind, language, rejected };
    let title = if random.chance(930) { title(random, &facts) } else { String::new() };
    let body = if random.chance(960) { body(random, &facts) } else { String::new() };
    let ReviewContext { role, contact_month, proof, author, author_since, reply, replied_on } =
        ReviewContext::draw(config, id, created_on, &facts);
    [
        format!("rv-{id:07}"),
        firm.slug.clone(),
        stage.map_or("", Stage::name).to_owned(),
        experience.rating.to_string(),
        responsiveness,
        fairness,
        value_add,
        ghosted,
        title,
        body,
        status.to_string(),
        created_on.to_string(),
        role,
        contact_month,
        proof,
        author,
        author_since,
        reply,
        replied_on,
        String::new(),
        String::new(),
    ]
}

/// The columns about the author and the firm's answer.
struct ReviewContext {
    role: String,
    contact_month: String,
    proof: String,
    author: String,
    author_since: String,
    reply: String,
    replied_on: String,
}

impl ReviewContext {
    fn draw(config: &GenConfig, id: u64, created_on: Date, facts: &ReviewFacts) -> Self {
        let random = &mut Random::new(config.seed, RandomStream::ReviewContext, id);
        let day = |days: i32| Date::from_days(created_on.days() + days);
        let role = [ReviewerRole::Founder, ReviewerRole::Executive, ReviewerRole::Other][random.weighted(&[80, 14, 6])];
        let proof = [ReviewProof::None, ReviewProof::Email, ReviewProof::Confirmed][random.weighted(&[44, 41, 15])];
        let contact_month = PartialDate::from(day(-(random.small(500) as i32))).month();
        let author_since = day(-(random.small(300) as i32));
        let replied_on = day(2 + random.small(60) as i32);
        let is_answered = !facts.rejected && replied_on <= config.version.date && random.chance(90);
        let tone = tone(facts.experience.rating);
        let text = pick(random, "reply", tone);
        let reply = if is_answered { fill_slots(random, text, facts) } else { String::new() };
        Self {
            role: random.keep(900, role.to_string()),
            contact_month: random.keep(850, contact_month.to_string()),
            proof: random.keep(930, proof.to_string()),
            author: format!("{:016x}{:016x}", random.next(), random.next()),
            author_since: author_since.to_string(),
            reply,
            replied_on: if is_answered { replied_on.to_string() } else { String::new() },
        }
    }
}

/// Draws a day between the firm's second year and the release; late days are more frequent.
fn draw_day(random: &mut Random, release: Date, firm: &InventedFirm) -> Date {
    let years = u64::try_from(release.year() - i32::from(firm.founded)).unwrap_or(0).saturating_sub(1).clamp(1, 9);
    Date::from_days(release.days() - random.early(365 * years as usize) as i32)
}

static REVIEWS: Lazy<Lists> = Lazy::new(|| Lists::parse(include_str!("words/reviews.txt")));

/// Sentences in other languages than English: `<culture> <tone>`.
static ABROAD: Lazy<Lists> = Lazy::new(|| Lists::parse(include_str!("words/reviews_abroad.txt")));

struct ReviewFacts {
    experience: Experience,
    stage: Option<Stage>,
    kind: FirmKind,
    /// Tag of the firm's culture.
    language: &'static str,
    rejected: bool,
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

fn title(random: &mut Random, facts: &ReviewFacts) -> String {
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
fn body(random: &mut Random, facts: &ReviewFacts) -> String {
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
