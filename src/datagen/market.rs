//! The market: which firms join a round.

use crate::data::Stage;
use crate::data::vocabulary::Vocabulary;
use crate::datagen::firms::Firm;
use crate::datagen::geography::{PLACES, REGIONS};
use crate::datagen::random::{Random, RandomStream};
use crate::datagen::sectors::GROUPS;

/// A list of firms from which one can be drawn in proportion to its activity.
#[derive(Default)]
struct Pool {
    /// Row of a firm, and the sum of activities up to and with it.
    firms: Vec<(u32, u64)>,
}

impl Pool {
    fn push(&mut self, row: u32, activity: u32) {
        let before = self.firms.last().map_or(0, |last| last.1);
        self.firms.push((row, before + u64::from(activity)));
    }

    fn draw(&self, random: &mut Random) -> Option<u32> {
        let sum = self.firms.last()?.1;
        let at = random.below(sum);
        self.firms.get(self.firms.partition_point(|(_, up_to)| *up_to <= at)).map(|(row, _)| *row)
    }
}

/// All firms, by the region and group of sectors where they invest.
pub(crate) struct Market<'a> {
    seed: u64,
    firms: &'a [Firm],
    /// `region · groups + group`.
    pools: Vec<Pool>,
    /// Per group, firms of all regions.
    world: Vec<Pool>,
}

/// What a round looks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) region: usize,
    pub(crate) group: usize,
    pub(crate) stage: Stage,
    pub(crate) year: i32,
}

impl<'a> Market<'a> {
    pub(crate) fn of(seed: u64, firms: &'a [Firm]) -> Self {
        let pools = (0..REGIONS.len() * GROUPS.len()).map(|_| Pool::default()).collect();
        let world = (0..GROUPS.len()).map(|_| Pool::default()).collect();
        let mut market = Self { seed, firms, pools, world };
        for (row, firm) in (0..).zip(firms) {
            let region = PLACES[firm.place].region;
            for (order, group) in firm.groups.iter().map(|group| usize::from(*group)).enumerate() {
                // A firm is busiest in its first group.
                let activity = firm.activity / (order as u32 + 1).min(6) + 1;
                market.pools[region * GROUPS.len() + group].push(row, activity);
                market.world[group].push(row, activity);
            }
        }
        market
    }

    pub(crate) fn slug(&self, row: u32) -> &'a str {
        self.firms.get(row as usize).map_or("", |firm| &firm.slug)
    }

    fn fits(&self, row: u32, wanted: &Wanted) -> bool {
        self.firms
            .get(row as usize)
            .is_some_and(|firm| firm.invests_at(wanted.stage) && i32::from(firm.founded) <= wanted.year)
    }

    /// As [`Self::fits`], but the stage may be a step away.
    fn nearly_fits(&self, row: u32, wanted: &Wanted) -> bool {
        let near = |step: isize| {
            wanted
                .stage
                .index()
                .checked_add_signed(step)
                .and_then(Stage::at)
                .is_some_and(|stage| self.fits(row, &Wanted { stage, ..*wanted }))
        };
        near(0) || near(1) || near(-1)
    }

    /// A firm for `wanted`, in its region mostly; `None` where none was found.
    fn stranger(&self, random: &mut Random, wanted: &Wanted) -> Option<u32> {
        for attempt in 0..24 {
            let near = random.chance(850) && attempt < 14;
            let pool =
                if near { &self.pools[wanted.region * GROUPS.len() + wanted.group] } else { &self.world[wanted.group] };
            let Some(row) = pool.draw(random) else { continue };
            if self.fits(row, wanted) || (attempt > 20 && self.nearly_fits(row, wanted)) {
                return Some(row);
            }
        }
        None
    }

    /// The companion number `place` of a firm: always the same one, from its own region and first group.
    fn companion(&self, row: u32, place: u64) -> Option<u32> {
        let firm = self.firms.get(row as usize)?;
        let group = usize::from(*firm.groups.first()?);
        let pool = &self.pools[PLACES[firm.place].region * GROUPS.len() + group];
        let random = &mut Random::of(self.seed, RandomStream::Syndicate, u64::from(row) * 8 + place);
        (0..8).filter_map(|_| pool.draw(random)).find(|other| {
            *other != row && self.firms.get(*other as usize).is_some_and(|other| other.stages & firm.stages != 0)
        })
    }

    /// True where an investor of an earlier round takes part in this one, be it beyond its stages.
    pub(crate) fn follows(&self, random: &mut Random, row: u32, wanted: &Wanted) -> bool {
        let per_mille = if self.fits(row, wanted) {
            450
        } else if self.nearly_fits(row, wanted) {
            160
        } else {
            40
        };
        random.chance(per_mille)
    }

    /// The investors of a round, up to `count`, the lead first. `earlier` are those of the rounds before.
    pub(crate) fn investors(&self, random: &mut Random, wanted: &Wanted, earlier: &[u32], count: usize) -> Vec<u32> {
        let mut investors: Vec<u32> = Vec::with_capacity(count);
        let mut tries = 0;
        while investors.len() < count && tries < count * 4 + 8 {
            tries += 1;
            let found = match (investors.first(), random.below(100)) {
                (Some(lead), 0..50) => {
                    let place = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3][random.below(10) as usize];
                    self.companion(*lead, place).filter(|row| self.fits(*row, wanted) || random.chance(60))
                }
                (_, 50..80) if !earlier.is_empty() => {
                    let row = earlier[random.below(earlier.len() as u64) as usize];
                    Some(row).filter(|row| self.follows(random, *row, wanted))
                }
                _ => self.stranger(random, wanted),
            };
            if let Some(row) = found.filter(|row| !investors.contains(row)) {
                investors.push(row);
            }
        }
        investors
    }
}
