//! Reviews: how many a firm has, and their rows.

use std::io;
use std::path::Path;

use crate::data::import;
use crate::data::import::csv_writer::TableWriter;
use crate::data::vocabulary::Vocabulary;
use crate::data::{Date, ReviewStatus, Stage};
use crate::datagen::GenConfig;
use crate::datagen::Quality;
use crate::datagen::culture::CULTURES;
use crate::datagen::firms::Firm;
use crate::datagen::geography::PLACES;
use crate::datagen::quality::Experience;
use crate::datagen::random::{Random, RandomStream};
use crate::datagen::review_text::{Told, body, title};
use crate::datagen::share::Share;

/// How many reviews each firm has, in order: none for one firm in six, 1 to 5 for one in four, the rest shared among
/// the others with a heavy tail.
fn counts(plan: &GenConfig, firms: &[Firm]) -> Vec<u32> {
    let class = |row: u32| {
        let random = &mut Random::of(plan.seed, RandomStream::ReviewCount, u64::from(row));
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
    let mut left = plan.reviews;
    let mut few: Vec<Option<u32>> = Vec::with_capacity(firms.len());
    let mut weights: Vec<u64> = Vec::with_capacity(firms.len());
    for (row, firm) in (0..plan.firms).zip(firms) {
        let (count, weight) = class(row);
        let count = count.map(|count| count.min(left));
        left -= count.unwrap_or(0);
        few.push(count);
        // Who joins many rounds is reviewed often.
        let busy = u64::from(firm.activity) * u64::from(plan.firms.max(400)) / 200_000_000;
        weights.push(if count.is_some() { 0 } else { weight + 20 * busy.min(60) });
    }
    let mut share = Share::of(left, weights.iter().sum());
    few.into_iter().zip(weights).map(|(few, weight)| few.unwrap_or(0) + share.next(weight)).collect()
}

/// Writes `reviews.csv`.
pub(crate) fn write(plan: &GenConfig, folder: &Path, firms: &[Firm], quality: &[Quality]) -> io::Result<()> {
    let mut table = TableWriter::create(folder, "reviews.csv", import::REVIEW_COLUMNS)?;
    let mut id = 0;
    for ((firm, quality), count) in firms.iter().zip(quality).zip(counts(plan, firms)) {
        for _ in 0..count {
            id += 1;
            table.row(&fields(plan, id, firm, quality))?;
        }
    }
    table.finish()
}

fn fields(plan: &GenConfig, id: u64, firm: &Firm, quality: &Quality) -> [String; 12] {
    let random = &mut Random::of(plan.seed, RandomStream::Review, id);
    let met = quality.experience(random);
    let status = [ReviewStatus::Approved, ReviewStatus::Pending, ReviewStatus::Rejected][random.weighted(&[82, 10, 8])];
    let created_on = draw_day(random, plan.release(), firm);
    let stages = firm.stage_list();
    let stage = stages.get(random.below(stages.len() as u64) as usize).copied().filter(|_| random.chance(860));
    let optional = |random: &mut Random, value: u8, per_mille| {
        if random.chance(per_mille) { value.to_string() } else { String::new() }
    };
    let responsiveness = optional(random, met.responsiveness, 880);
    let fairness = optional(random, met.fairness, 840);
    let value_add = optional(random, met.value_add, 800);
    let ghosted = if random.chance(910) { met.ghosted.to_string() } else { String::new() };
    let (title, body) = texts(random, firm, met, stage, status);
    [
        format!("rv-{id:07}"),
        firm.slug.clone(),
        stage.map_or_else(String::new, |stage| stage.name().to_owned()),
        met.rating.to_string(),
        responsiveness,
        fairness,
        value_add,
        ghosted,
        title,
        body,
        status.to_string(),
        created_on.to_string(),
    ]
}

/// A day between the firm's second year and the release, the late ones more often.
fn draw_day(random: &mut Random, release: Date, firm: &Firm) -> Date {
    let years = u64::try_from(release.year() - i32::from(firm.founded)).unwrap_or(0).saturating_sub(1).clamp(1, 9);
    Date::from_days(release.days() - random.small(365 * years) as i32)
}

fn texts(
    random: &mut Random,
    firm: &Firm,
    met: Experience,
    stage: Option<Stage>,
    status: ReviewStatus,
) -> (String, String) {
    let tag = CULTURES[PLACES[firm.place].culture].tag;
    let told = Told { met, stage, kind: firm.kind, language: tag, refused: status == ReviewStatus::Rejected };
    let title = if random.chance(930) { title(random, &told) } else { String::new() };
    let body = if random.chance(960) { body(random, &told) } else { String::new() };
    (title, body)
}
