//! Firms: the traits that the market and the reviews use, and the rows of `firms.csv`.

use std::io;
use std::path::Path;

use once_cell::sync::Lazy;

use crate::datagen::geography::{HOMES, draw_home};
use crate::datagen::lists::Lists;
use crate::datagen::naming::{Naming, UsedNames, firm_name, fixed_home};
use crate::datagen::people::People;
use crate::datagen::profile_text::firm_description;
use crate::datagen::random::{Random, RandomStream};
use crate::datagen::sectors::{BY_GROUP, GROUP_WEIGHTS, GROUPS, SECTORS};
use crate::datagen::{GenConfig, REGISTER, SURVEY};
pub(super) use data::import::csv_table::TableRow;
use data::import::csv_writer::TableWriter;
use data::import::provenance::SourceStatement;
use data::import::redirects::Redirect;
use data::import::rows;
use data::vocabulary::Vocabulary;
use data::{FirmKind, OrganizationKind, Stage};

pub(crate) struct InventedFirm {
    pub(crate) slug: String,
    pub(crate) kind: FirmKind,
    /// Index in `HOMES`.
    pub(crate) home: usize,
    /// Indexes in `GROUPS`, the preferred one first.
    pub(crate) groups: Vec<u8>,
    /// Bit `n`: invests at stage `n` of `Stage::ALL`.
    pub(crate) stages: u16,
    pub(crate) founded: u16,
    pub(crate) activity: u32,
}

impl InventedFirm {
    /// Draws the firm's traits except its slug. They are the same at every draw.
    fn draw(config: &GenConfig, row: u32) -> Self {
        let random = &mut Random::new(config.seed, RandomStream::Firm, u64::from(row));
        let home = fixed_home("fixed firms", row).unwrap_or(draw_home(random));
        let kind = draw_kind(random, row);
        let stages = draw_stages(random, kind);
        let groups = draw_groups(random, kind);
        let release = config.version.date.year().clamp(1_990, 9_999) as u64;
        let age = 1 + random.below(34).min(random.below(34));
        let old = matches!(kind, FirmKind::Bank | FirmKind::University | FirmKind::Corporate | FirmKind::Government);
        let age = age + if old { random.below(90) } else { 0 };
        // 1/x of a uniform draw: a few firms join many rounds, most join few.
        let draw = 1 + random.below(u64::from(config.firms).max(400));
        let offset = u64::from(config.firms).max(400) / 150;
        let activity = (1_000_000_000 / (draw + offset)) as u32 + 1;
        Self { slug: String::new(), kind, home, groups, stages, founded: (release - age) as u16, activity }
    }

    pub(crate) fn invests_at(&self, stage: Stage) -> bool {
        self.stages & (1 << stage.index()) != 0
    }

    pub(crate) fn is_generalist(&self) -> bool {
        self.groups.len() >= GROUPS.len() / 2
    }

    pub(crate) fn stage_list(&self) -> Vec<Stage> {
        Stage::ALL.iter().copied().filter(|stage| self.invests_at(*stage)).collect()
    }
}

static KINDS: Lazy<Lists> = Lazy::new(|| Lists::parse(include_str!("words/firm_kinds.txt")));

fn draw_kind(random: &mut Random, row: u32) -> FirmKind {
    let name = match row {
        5 => "family-office",
        0..8 => "vc",
        // Every kind occurs, even with few firms. The first list is that of the kinds.
        8..20 => KINDS.names[row as usize - 7],
        _ => random.pick(&KINDS["kinds"]),
    };
    FirmKind::read(name).expect("a kind of firms")
}

fn draw_stages(random: &mut Random, kind: FirmKind) -> u16 {
    let stages = random.pick(&KINDS[kind.name()]).split(' ');
    stages.fold(0, |mask, stage| mask | 1 << Stage::read(stage).expect("a stage").index())
}

fn draw_groups(random: &mut Random, kind: FirmKind) -> Vec<u8> {
    let count = match kind {
        FirmKind::Bank | FirmKind::Crowdfunding => random.between(2, 5),
        _ if random.chance(90) => GROUPS.len() as u64,
        _ => 1 + random.below(4).min(random.below(5)),
    };
    let mut groups: Vec<u8> = Vec::new();
    while (groups.len() as u64) < count {
        let group = random.weighted(&GROUP_WEIGHTS) as u8;
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

pub(super) fn draw_each(config: &GenConfig) -> impl Iterator<Item = (u32, InventedFirm, Naming)> {
    let mut used_names = UsedNames::default();
    (0..config.firms).map(move |row| {
        let mut firm = InventedFirm::draw(config, row);
        let mut namings = (0..).map(|attempt| firm_name(config.seed, u64::from(row), firm.home, firm.kind, attempt));
        let (slug, naming) =
            namings.find_map(|naming| Some((used_names.claim(&naming.name)?, naming))).expect("attempts do not end");
        firm.slug = slug;
        (row, firm, naming)
    })
}

/// Number of firms in the invented sources.
const STATED: u32 = 20;

/// Writes `firms.csv`, `provenance.csv`, `redirects.csv` and the people of the firms.
pub(crate) fn write(config: &GenConfig, folder: &Path, people: &mut People) -> io::Result<Vec<InventedFirm>> {
    let mut table = TableWriter::create::<rows::DatasetFirm>(folder)?;
    let mut provenance = TableWriter::create::<SourceStatement>(folder)?;
    let mut redirects = TableWriter::create::<Redirect>(folder)?;
    let mut firms = Vec::with_capacity(config.firms as usize);
    for (row, firm, naming) in draw_each(config) {
        let fields = fields(config, row, &firm, &naming);
        table.row(&fields)?;
        if row < STATED {
            write_statements(config, row, &fields, &mut provenance)?;
        }
        if row == 0 {
            redirects.row(&["firm", &format!("former-{}", firm.slug), &firm.slug])?;
        }
        let own = (firm.kind == FirmKind::Angel).then_some(&*naming.name);
        people.of_organization(OrganizationKind::Firm, row, &firm.slug, firm.home, own)?;
        firms.push(firm);
    }
    provenance.finish()?;
    redirects.finish()?;
    table.finish()?;
    Ok(firms)
}

/// Writes the statements of the invented sources about a firm. The register has all fields, the survey its name in capitals.
fn write_statements(config: &GenConfig, row: u32, fields: &[String; 14], table: &mut TableWriter) -> io::Result<()> {
    let (day, key) = (config.version.date.to_string(), format!("f{row}"));
    let slug = fields[0].as_str();
    for (column, field) in rows::DatasetFirm::HEADER.split(',').zip(fields).skip(1) {
        for value in field.split('|').filter(|value| !value.is_empty()) {
            table.row(&["firm", slug, column, value, "", REGISTER, &key, &day, &day])?;
        }
    }
    table.row(&["firm", slug, "name", &fields[1].to_uppercase(), "", SURVEY, "", &day, &day])
}

fn fields(config: &GenConfig, row: u32, firm: &InventedFirm, naming: &Naming) -> [String; 14] {
    let random = &mut Random::new(config.seed, RandomStream::FirmText, u64::from(row));
    let home = &HOMES[firm.home];
    let (country, city) = match random.below(100) {
        0..4 => ("", ""),
        4..12 => (home.code, ""),
        _ => (home.code, home.draw_city(random)),
    };
    let (check_min, check_max, aum) = draw_amounts(random, firm);
    let stages =
        if random.chance(120) { String::new() } else { joined(firm.stage_list().iter().map(|stage| stage.name())) };
    let sectors = sector_list(random, firm);
    let website = website(random, &firm.slug, 880);
    let description = firm_description(random, firm, &naming.name, city);
    [
        firm.slug.clone(),
        naming.name.clone(),
        naming.aliases.join("|"),
        random.keep(985, firm.kind.to_string()),
        website,
        random.keep(900, description),
        country.to_owned(),
        city.to_owned(),
        random.keep(850, firm.founded.to_string()),
        stages,
        sectors,
        check_min,
        check_max,
        aum,
    ]
}

/// `a|b|c`
pub(crate) fn joined<'a>(items: impl Iterator<Item = &'a str>) -> String {
    items.collect::<Vec<_>>().join("|")
}

/// A website under `.example` in `per_mille` of 1,000 cases, otherwise empty.
pub(crate) fn website(random: &mut Random, slug: &str, per_mille: u64) -> String {
    let label = slug.get(..slug.len().min(60)).unwrap_or(slug).trim_end_matches('-');
    let address = match random.below(100) {
        0..62 => format!("https://{label}.example"),
        62..90 => format!("https://www.{label}.example"),
        90..95 => format!("http://{label}.example/"),
        95..98 => format!("https://{label}.example/en?ref=home&lang=en"),
        _ => format!("http://{label}.example"),
    };
    random.keep(per_mille, address)
}

/// Sectors as published by the firm: for each of its groups the top or some sectors below it. 13 % publish none.
fn sector_list(random: &mut Random, firm: &InventedFirm) -> String {
    if random.chance(130) || (firm.is_generalist() && random.chance(600)) {
        return String::new();
    }
    let mut sectors: Vec<&str> = Vec::new();
    for group in firm.groups.iter().take(6) {
        let members = &BY_GROUP[usize::from(*group)];
        if random.chance(550) {
            sectors.push(SECTORS[members[0]].slug);
        } else {
            for _ in 0..random.between(1, 3) {
                let slug = SECTORS[members[random.early(members.len())]].slug;
                if !sectors.contains(&slug) {
                    sectors.push(slug);
                }
            }
        }
    }
    joined(sectors.into_iter())
}

/// Minimum and maximum check size in thousands of dollars at each stage of `Stage::ALL`.
const MIN_CHECKS: [u64; 11] = [10, 50, 500, 2_000, 5_000, 10_000, 15_000, 250, 20, 20_000, 50];
const MAX_CHECKS: [u64; 11] = [400, 1_500, 6_000, 15_000, 40_000, 120_000, 200_000, 20_000, 1_000, 300_000, 5_000];

fn draw_amounts(random: &mut Random, firm: &InventedFirm) -> (String, String, String) {
    let stages = firm.stage_list();
    let low = stages.iter().map(|stage| MIN_CHECKS[stage.index()]).min().unwrap_or(50);
    let high = stages.iter().map(|stage| MAX_CHECKS[stage.index()]).max().unwrap_or(5_000);
    let min = round(low * random.between(60, 250) / 100 * 1_000);
    let max = round(high * random.between(25, 110) / 100 * 1_000).max(min);
    let aum = round(max * random.between(12, 140));
    let (has_min, has_max) = match random.below(100) {
        0..60 => (true, true),
        60..68 => (true, false),
        68..78 => (false, true),
        _ => (false, false),
    };
    let known = |known: bool, amount: u64| if known { amount.to_string() } else { String::new() };
    (known(has_min, min), known(has_max, max), known(random.chance(550), aum))
}

/// `amount` rounded down to two digits and a 0 or 5.
pub(crate) fn round(amount: u64) -> u64 {
    let mut step = 5;
    while step * 200 <= amount {
        step *= 10;
    }
    (amount / step).max(1) * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_rounded_to_plausible_values() {
        for (amount, rounded) in [(1_234_567, 1_200_000), (777_000, 775_000), (50_000, 50_000), (99, 95), (0, 5)] {
            assert_eq!(round(amount), rounded, "{amount}");
        }
    }

    #[test]
    fn activity_is_heavy_tailed() {
        let config = GenConfig::new(2_000, 0);
        let mut activity: Vec<u64> = draw_each(&config).map(|(_, firm, _)| u64::from(firm.activity)).collect();
        activity.sort_unstable_by(|a, b| b.cmp(a));
        let sum: u64 = activity.iter().sum();
        let top: u64 = activity[..100].iter().sum();
        assert!(top * 100 / sum >= 35, "the most active 5 % do {} %", top * 100 / sum);
    }
}
