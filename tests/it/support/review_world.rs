//! Worlds of firms whose true scores are known, with honest reviews and arranged ones. Tests and `benches/scores` use it.

use std::fmt::Write;
use std::fs;
use std::ops::Range;

use data::derive::score::{FirmScore, scores};
use data::{Date, NoProgress, compile};
use tempfile::TempDir;

const RELEASED_ON: i32 = 20_777;
const YEARS: f64 = 6.0;
/// Shares of reviews without each value: ratings, then whether the author was ghosted.
const MISSING: [f64; 5] = [0.0, 0.12, 0.16, 0.20, 0.09];

/// SplitMix64.
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self, deviation: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.share()).sum();
        deviation * (sum - 6.0)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.share() * bound as f64) as usize
    }
}

/// What the reviewers of a firm differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reviewers {
    /// Each rating is one more than the successes of four trials, some of which the ratings of a review share.
    Trials,
    /// Each has a mood, and each rating an error.
    Moods,
    /// As trials, but one in seven gives all of the best or all of the worst.
    Extremes,
}

impl Reviewers {
    pub const ALL: [Self; 3] = [Self::Trials, Self::Moods, Self::Extremes];
}

/// How the firms of a world differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firms {
    /// Most are alike.
    MostlyAlike,
    /// As many of each kind.
    OfAllKinds,
}

#[derive(Clone, Copy)]
struct Quality {
    base: f64,
    /// Of the ratings.
    levels: [f64; 4],
    ghosting: f64,
}

#[derive(Clone, Copy)]
struct Experience {
    ratings: [u8; 4],
    is_ghosted: bool,
}

impl Experience {
    fn points(self) -> f64 {
        let points = |max: f64, rating: u8| max * (f64::from(rating) - 1.0) / 4.0;
        let [rating, responsiveness, fairness, value_add] = self.ratings;
        let rated =
            points(30.0, rating) + points(15.0, responsiveness) + points(15.0, fairness) + points(15.0, value_add);
        rated + if self.is_ghosted { 0.0 } else { 25.0 }
    }
}

impl Quality {
    fn draw(chance: &mut Chance, firms: Firms) -> Self {
        let base = match firms {
            Firms::MostlyAlike => (chance.share() + chance.share() + chance.share()) / 3.0,
            Firms::OfAllKinds => chance.share(),
        };
        let level = 0.14 + 0.82 * base;
        let mut near = || (level + 0.24 * chance.share() - 0.12).clamp(0.04, 0.97);
        let levels = [level, near(), near(), near()];
        Self { base, levels, ghosting: (0.5 - 0.46 * base + 0.16 * chance.share() - 0.08).clamp(0.02, 0.62) }
    }

    fn experience(&self, chance: &mut Chance, reviewers: Reviewers) -> Experience {
        match reviewers {
            Reviewers::Extremes if chance.share() < 0.15 => {
                let is_best = chance.share() < 0.2 + 0.6 * self.base;
                Experience { ratings: [if is_best { 5 } else { 1 }; 4], is_ghosted: !is_best }
            }
            Reviewers::Trials | Reviewers::Extremes => {
                let shared: [f64; 4] = std::array::from_fn(|_| chance.share());
                let ratings = std::array::from_fn(|dimension| {
                    let own = |trial: usize, chance: &mut Chance| match trial < [4, 3, 2, 2][dimension] {
                        true => shared[trial],
                        false => chance.share(),
                    };
                    1 + (0..4).filter(|trial| own(*trial, chance) < self.levels[dimension]).count() as u8
                });
                Experience { ratings, is_ghosted: 1.0 - shared[0] < self.ghosting }
            }
            Reviewers::Moods => {
                let mood = chance.normal(0.75);
                let ratings = self.levels.map(|level| {
                    let rating = 1.0 + 4.0 * level + mood + chance.normal(0.75);
                    rating.round().clamp(1.0, 5.0) as u8
                });
                Experience { ratings, is_ghosted: chance.share() < self.ghosting - 0.1 * mood }
            }
        }
    }

    /// The points that reviews of the firm have on average.
    fn true_score(&self, chance: &mut Chance, reviewers: Reviewers) -> f64 {
        const REVIEWS: usize = 3_000;
        let [rating, responsiveness, fairness, value_add] = self.levels;
        let of_trials = 30.0 * rating + 15.0 * (responsiveness + fairness + value_add) + 25.0 * (1.0 - self.ghosting);
        match reviewers {
            Reviewers::Trials => of_trials,
            Reviewers::Extremes => 0.85 * of_trials + 0.15 * 100.0 * (0.2 + 0.6 * self.base),
            // What rounding and limits do to them is drawn.
            Reviewers::Moods => {
                (0..REVIEWS).map(|_| self.experience(chance, reviewers).points()).sum::<f64>() / REVIEWS as f64
            }
        }
    }
}

#[derive(Clone)]
struct WorldReview {
    firm: usize,
    day: i32,
    experience: Experience,
    /// Which values are missing.
    missing: [bool; 5],
    body: String,
    /// Number of the account, and the day on which it was created.
    author: Option<(usize, i32)>,
    is_cleared: bool,
}

#[derive(Clone)]
pub struct World {
    reviewers: Reviewers,
    qualities: Vec<Quality>,
    /// The true score of each firm.
    pub truth: Vec<f64>,
    reviews: Vec<WorldReview>,
    honest: usize,
}

/// A way of arranging reviews of a firm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// Equal texts, all of the best, on one day.
    FakesAtOnce,
    /// The same over twenty days, with other words and ratings.
    FakesOverDays,
    /// Ten of the worst within three days.
    Smears,
    /// Eight accounts of one author within ten weeks.
    SeveralAccounts,
}

impl Attack {
    pub const ALL: [Self; 4] = [Self::FakesAtOnce, Self::FakesOverDays, Self::Smears, Self::SeveralAccounts];

    pub fn reviews(self) -> usize {
        match self {
            Self::FakesAtOnce | Self::FakesOverDays => 20,
            Self::Smears => 10,
            Self::SeveralAccounts => 8,
        }
    }
}

impl World {
    /// A world of firms with so many reviews each.
    pub fn new(chance: &mut Chance, count: usize, firms: Firms, reviewers: Reviewers, reviews: Range<usize>) -> Self {
        let qualities: Vec<Quality> = (0..count).map(|_| Quality::draw(chance, firms)).collect();
        let truth = qualities.iter().map(|quality| quality.true_score(chance, reviewers)).collect();
        let mut world = Self { reviewers, qualities, truth, reviews: Vec::new(), honest: 0 };
        for firm in 0..count {
            // Many firms have few reviews.
            let share = chance.share();
            for _ in 0..reviews.start + ((reviews.end - reviews.start) as f64 * share * share) as usize {
                let day = RELEASED_ON - (365.0 * YEARS * chance.share()) as i32;
                world.add_honest(chance, firm, day);
            }
        }
        world.honest = world.reviews.len();
        world
    }

    fn add_honest(&mut self, chance: &mut Chance, firm: usize, day: i32) {
        let experience = self.qualities[firm].experience(chance, self.reviewers);
        let missing = MISSING.map(|share| chance.share() < share);
        let author = Some((self.reviews.len(), day - chance.below(60) as i32));
        let body = words(chance);
        self.reviews.push(WorldReview { firm, day, experience, missing, body, author, is_cleared: false });
    }

    /// Honest reviews of a firm within ten days, as after a newsletter.
    pub fn add_honest_burst(&mut self, chance: &mut Chance, firm: usize, count: usize) {
        (0..count).for_each(|number| self.add_honest(chance, firm, RELEASED_ON - 5 - (number % 10) as i32));
    }

    pub fn clear_all(&mut self) {
        self.reviews.iter_mut().for_each(|review| review.is_cleared = true);
    }

    pub fn add(&mut self, chance: &mut Chance, firm: usize, attack: Attack) {
        let body = words(chance);
        let first = RELEASED_ON - 100;
        for number in 0..attack.reviews() {
            let (day, rating) = match attack {
                Attack::FakesAtOnce => (first, 5),
                Attack::FakesOverDays => (first + number as i32, if number % 3 == 0 { 4 } else { 5 }),
                Attack::Smears => (first + (number % 3) as i32, 1),
                Attack::SeveralAccounts => (first + 10 * number as i32, if number % 2 == 0 { 4 } else { 5 }),
            };
            let ratings = [5.min(rating + 1).min(if attack == Attack::Smears { 1 } else { 5 }), rating, rating, rating];
            self.reviews.push(WorldReview {
                firm,
                day,
                experience: Experience { ratings, is_ghosted: attack == Attack::Smears },
                missing: [false; 5],
                body: if attack == Attack::FakesAtOnce { body.clone() } else { words(chance) },
                author: Some((self.reviews.len(), (first - 3).max(day - 20))),
                is_cleared: false,
            });
        }
    }

    /// The scores of the firms, by a dataset in a folder that is deleted.
    pub fn scores(&self) -> Vec<FirmScore> {
        let folder = self.dataset();
        let (dataset, report) = data::import::read(folder.path(), &NoProgress);
        scores(&dataset.unwrap_or_else(|| panic!("{:?}", report.problems)))
    }

    /// True if none of the reviews that were added counts.
    pub fn holds_added(&self) -> bool {
        let folder = self.dataset();
        let compiled = compile(folder.path(), &NoProgress).unwrap_or_else(|report| panic!("{:?}", report.problems));
        let suspicious = compiled.suspicious_reviews();
        let held = suspicious.iter().filter(|problem| problem.message.starts_with("the review does not count"));
        // The first review is in the second line.
        held.filter(|problem| problem.line >= Some(self.honest as u64 + 2)).count() == self.reviews.len() - self.honest
    }

    fn dataset(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut firms = "slug,name\n".to_owned();
        (0..self.truth.len()).for_each(|firm| writeln!(firms, "f-{firm},Firm {firm}").unwrap());
        let mut reviews =
            "id,firm,rating,responsiveness,fairness,value_add,ghosted,body,status,created_on,author,author_since,\
                           cleared\n"
                .to_owned();
        for (number, review) in self.reviews.iter().enumerate() {
            let WorldReview { firm, day, experience, missing, body, author, is_cleared } = review;
            let [rating, responsiveness, fairness, value_add] = std::array::from_fn(|dimension| {
                if missing[dimension] { String::new() } else { experience.ratings[dimension].to_string() }
            });
            let ghosted = if missing[4] { String::new() } else { experience.is_ghosted.to_string() };
            let (author, since) = author.map_or_else(Default::default, |(account, since)| {
                (format!("{account:032x}"), Date::from_days(since).to_string())
            });
            let day = Date::from_days(*day);
            writeln!(
                reviews,
                "r-{number:06},f-{firm},{rating},{responsiveness},{fairness},{value_add},{ghosted},{body},approved,{day},\
                 {author},{since},{is_cleared}"
            )
            .unwrap();
        }
        let released_on = Date::from_days(RELEASED_ON);
        let meta = format!("version = \"{released_on}.1\"\nreleased_on = \"{released_on}\"\n");
        for (file, text) in [("firms.csv", firms), ("reviews.csv", reviews), ("snapshot.toml", meta)] {
            fs::write(folder.path().join(file), text).unwrap();
        }
        folder
    }
}

/// A text of twenty words that no other text has.
fn words(chance: &mut Chance) -> String {
    (0..20).map(|_| format!("w{:x} ", chance.next() % 100_000)).collect()
}

/// The place of a firm in the order of the leaderboard, from 1; `None` if it has none.
pub fn place(scores: &[FirmScore], firm: usize) -> Option<usize> {
    let value = |score: &FirmScore| score.rank.map(|rank| rank[0]);
    let own = value(&scores[firm])?;
    Some(1 + scores.iter().filter(|score| value(score) > Some(own)).count())
}

pub fn held(score: &FirmScore) -> usize {
    score.score.held.iter().map(|held| held.review_count as usize).sum()
}

/// Bands of true scores and of effective reviews.
pub const QUALITIES: [(&str, Range<f64>); 3] =
    [("below 45", 0.0..45.0), ("45 to 75", 45.0..75.0), ("above 75", 75.0..101.0)];
pub const COUNTS: [(&str, Range<f64>); 4] =
    [("3-5", 3.0..6.0), ("6-11", 6.0..12.0), ("12-29", 12.0..30.0), ("30+", 30.0..1e9)];

/// How many intervals of a band have the true score, and how many there are, by quality, then by count.
pub type Coverage = [[(u32, u32); 4]; 3];

pub fn count_covered(coverage: &mut Coverage, world: &World) {
    for (score, truth) in world.scores().iter().zip(&world.truth) {
        let (Some(low), Some(high)) = (score.score.low, score.score.high) else { continue };
        let quality = QUALITIES.iter().position(|(_, band)| band.contains(truth));
        let count = COUNTS.iter().position(|(_, band)| band.contains(&score.score.effective_reviews));
        let (quality, count) =
            (quality.expect("a band for each score"), count.expect("a band for each published score"));
        let (covered, all) = &mut coverage[quality][count];
        *covered += u32::from((f64::from(low)..=f64::from(high)).contains(truth));
        *all += 1;
    }
}
