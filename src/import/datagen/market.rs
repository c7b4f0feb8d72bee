//! Draws the investors of a round.

use crate::datagen::firms::InventedFirm;
use crate::datagen::geography::{HOMES, REGIONS};
use crate::datagen::random::{Random, RandomStream};
use crate::datagen::sectors::GROUPS;
use data::Stage;
use data::vocabulary::Vocabulary;

/// Row of each firm, with the sum of activities up to and including it. Firms are drawn in proportion to their activity.
type FirmPool = Vec<(u32, u64)>;

fn push_firm(pool: &mut FirmPool, row: u32, activity: u32) {
    let before = pool.last().map_or(0, |last| last.1);
    pool.push((row, before + u64::from(activity)));
}

fn draw_firm(pool: &[(u32, u64)], random: &mut Random) -> Option<u32> {
    let at = random.below(pool.last()?.1);
    pool.get(pool.partition_point(|(_, up_to)| *up_to <= at)).map(|(row, _)| *row)
}

/// All firms, by the region and sector group in which they invest.
pub(crate) struct FirmMarket<'a> {
    seed: u64,
    firms: &'a [InventedFirm],
    /// `region · groups + group`.
    pools: Vec<FirmPool>,
    /// Firms of all regions, by group.
    world: Vec<FirmPool>,
}

pub(crate) struct RoundProfile {
    pub(crate) region: usize,
    pub(crate) group: usize,
    pub(crate) stage: Stage,
    pub(crate) year: i32,
}

impl<'a> FirmMarket<'a> {
    pub(crate) fn new(seed: u64, firms: &'a [InventedFirm]) -> Self {
        let (pools, world) = (vec![Vec::new(); REGIONS.len() * GROUPS.len()], vec![Vec::new(); GROUPS.len()]);
        let mut market = Self { seed, firms, pools, world };
        for (row, firm) in (0..).zip(firms) {
            let region = HOMES[firm.home].region;
            for (order, group) in firm.groups.iter().map(|group| usize::from(*group)).enumerate() {
                // A firm is busiest in its first group.
                let activity = firm.activity / (order as u32 + 1).min(6) + 1;
                push_firm(&mut market.pools[region * GROUPS.len() + group], row, activity);
                push_firm(&mut market.world[group], row, activity);
            }
        }
        market
    }

    pub(crate) fn slug(&self, row: u32) -> &'a str {
        &self.firms[row as usize].slug
    }

    fn fits(&self, row: u32, round: &RoundProfile) -> bool {
        let firm = &self.firms[row as usize];
        firm.invests_at(round.stage) && i32::from(firm.founded) <= round.year
    }

    /// Like [`Self::fits`], but the stage may differ by one.
    fn nearly_fits(&self, row: u32, round: &RoundProfile) -> bool {
        [0, 1, -1].into_iter().any(|step| {
            let stage = round.stage.index().checked_add_signed(step).and_then(Stage::at);
            stage.is_some_and(|stage| self.fits(row, &RoundProfile { stage, ..*round }))
        })
    }

    /// Draws a firm for `round`, mostly from its region; `None` if none was found.
    fn stranger(&self, random: &mut Random, round: &RoundProfile) -> Option<u32> {
        for attempt in 0..24 {
            let near = random.chance(850) && attempt < 14;
            let pool =
                if near { &self.pools[round.region * GROUPS.len() + round.group] } else { &self.world[round.group] };
            let Some(row) = draw_firm(pool, random) else { continue };
            if self.fits(row, round) || (attempt > 20 && self.nearly_fits(row, round)) {
                return Some(row);
            }
        }
        None
    }

    /// Companion number `number` of a firm: always the same firm, from its own region and first group.
    fn companion(&self, row: u32, number: u64) -> Option<u32> {
        let firm = &self.firms[row as usize];
        let group = usize::from(*firm.groups.first()?);
        let pool = &self.pools[HOMES[firm.home].region * GROUPS.len() + group];
        let random = &mut Random::new(self.seed, RandomStream::Syndicate, u64::from(row) * 8 + number);
        let mut drawn = (0..8).filter_map(|_| draw_firm(pool, random));
        drawn.find(|other| *other != row && self.firms[*other as usize].stages & firm.stages != 0)
    }

    /// True if an investor of an earlier round joins this one, even if it does not invest at this stage.
    pub(crate) fn follows(&self, random: &mut Random, row: u32, round: &RoundProfile) -> bool {
        random.chance(match (self.fits(row, round), self.nearly_fits(row, round)) {
            (true, _) => 450,
            (false, true) => 160,
            (false, false) => 40,
        })
    }

    /// At most `max` investors of a round, the lead first. `earlier` invested in the previous rounds.
    pub(crate) fn investors(&self, random: &mut Random, round: &RoundProfile, earlier: &[u32], max: usize) -> Vec<u32> {
        let mut investors: Vec<u32> = Vec::with_capacity(max);
        let mut tries = 0;
        while investors.len() < max && tries < max * 4 + 8 {
            tries += 1;
            let found = match (investors.first(), random.below(100)) {
                (Some(lead), 0..50) => {
                    let number = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3][random.below(10) as usize];
                    self.companion(*lead, number).filter(|row| self.fits(*row, round) || random.chance(60))
                }
                (_, 50..80) if !earlier.is_empty() => {
                    let row = earlier[random.below(earlier.len() as u64) as usize];
                    Some(row).filter(|row| self.follows(random, *row, round))
                }
                _ => self.stranger(random, round),
            };
            if let Some(row) = found.filter(|row| !investors.contains(row)) {
                investors.push(row);
            }
        }
        investors
    }
}
