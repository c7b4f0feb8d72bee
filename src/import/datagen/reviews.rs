//! Reviews: their number per firm, and their rows.

use std::io;
use std::path::Path;

use crate::datagen::GenConfig;
use crate::datagen::culture::CULTURES;
use crate::datagen::firms::InventedFirm;
use crate::datagen::geography::HOMES;
use crate::datagen::quality::{Experience, FirmQuality};
use crate::datagen::random::{Random, RandomStream, Share};
use crate::datagen::review_text::{ReviewFacts, body, title};
use data::import::csv_writer::TableWriter;
use data::import::rows;
use data::vocabulary::Vocabulary;
use data::{Date, ReviewStatus, Stage};

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

pub(crate) fn write(
    config: &GenConfig,
    folder: &Path,
    firms: &[InventedFirm],
    quality: &[FirmQuality],
) -> io::Result<()> {
    let mut table = TableWriter::create::<rows::DatasetReview>(folder)?;
    let mut id = 0;
    for ((firm, quality), count) in firms.iter().zip(quality).zip(review_counts(config, firms)) {
        for _ in 0..count {
            id += 1;
            table.row(&fields(config, id, firm, quality))?;
        }
    }
    table.finish()
}

fn fields(config: &GenConfig, id: u64, firm: &InventedFirm, quality: &FirmQuality) -> [String; 12] {
    let random = &mut Random::new(config.seed, RandomStream::Review, id);
    let experience = quality.experience(random);
    let status = [ReviewStatus::Approved, ReviewStatus::Pending, ReviewStatus::Rejected][random.weighted(&[82, 10, 8])];
    let created_on = draw_day(random, config.release(), firm);
    let stages = firm.stage_list();
    let stage = stages.get(random.below(stages.len() as u64) as usize).copied().filter(|_| random.chance(860));
    let responsiveness = random.keep(880, experience.responsiveness.to_string());
    let fairness = random.keep(840, experience.fairness.to_string());
    let value_add = random.keep(800, experience.value_add.to_string());
    let ghosted = random.keep(910, experience.ghosted.to_string());
    let (title, body) = texts(random, firm, experience, stage, status);
    [
        format!("rv-{id:07}"),
        firm.slug.clone(),
        stage.map_or_else(String::new, |stage| stage.name().to_owned()),
        experience.rating.to_string(),
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

/// Draws a day between the firm's second year and the release; late days are more frequent.
fn draw_day(random: &mut Random, release: Date, firm: &InventedFirm) -> Date {
    let years = u64::try_from(release.year() - i32::from(firm.founded)).unwrap_or(0).saturating_sub(1).clamp(1, 9);
    Date::from_days(release.days() - random.small(365 * years) as i32)
}

fn texts(
    random: &mut Random,
    firm: &InventedFirm,
    experience: Experience,
    stage: Option<Stage>,
    status: ReviewStatus,
) -> (String, String) {
    let tag = CULTURES[HOMES[firm.home].culture].tag;
    let rejected = status == ReviewStatus::Rejected;
    let facts = ReviewFacts { experience, stage, kind: firm.kind, language: tag, rejected };
    let title = if random.chance(930) { title(random, &facts) } else { String::new() };
    let body = if random.chance(960) { body(random, &facts) } else { String::new() };
    (title, body)
}
