//! Which approved reviews count for the score, and how much.
//!
//! A review that looks arranged is held: it is published, but does not count until a person has looked at it (`cleared`).
//! Other reviews of accounts that were created around such a burst count less. The rules are on the docs page `score`.

use std::collections::HashMap;
use std::ops::Range;

use crate::derive::sort_order::Permutation;
use crate::import::Dataset;
use crate::import::rows::DatasetReview;
use crate::similarity::repeated;
use crate::vocabulary::HoldReason;

/// Weight of a review of an account that was created around a burst.
const YOUNG_ACCOUNT: f64 = 0.25;
/// Days before a burst from which on an account may have been created for it.
const DAYS_BEFORE: i32 = 30;
/// Days in which one review of an author counts for a firm.
const DAYS_OF_AUTHOR: i32 = 365;
/// Days before and after a cluster whose reviews are the usual ones.
const USUAL_DAYS: i32 = 365;
/// Ratings that a review has at least if they count as all equal.
const MIN_EQUAL_RATINGS: usize = 3;

/// Reviews of a firm within some days, more than its usual rate explains.
struct ClusterRule {
    days: i32,
    /// So many times the usual number of reviews is no cluster yet, nor is it with `few` more, which come together by chance.
    times_usual: usize,
    few: usize,
}

const BURST: ClusterRule = ClusterRule { days: 14, times_usual: 4, few: 3 };
const EQUAL_RATINGS: ClusterRule = ClusterRule { days: 30, times_usual: 4, few: 2 };
/// A slow burst, of accounts that were created for it.
const WAVE: ClusterRule = ClusterRule { days: 90, times_usual: 2, few: 3 };

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ReviewWeight {
    /// Weight without the age of the review; 0 if it does not count.
    pub weight: f64,
    /// Why an approved review does not count.
    pub held_as: Option<HoldReason>,
}

/// A published review with the day that the rules take it to be of.
#[derive(Clone, Copy)]
struct DatedReview<'a> {
    row: u32,
    day: i32,
    review: &'a DatasetReview,
}

/// The weights of all reviews, by the rows of the dataset.
pub(crate) fn weights(dataset: &Dataset) -> Vec<ReviewWeight> {
    let mut weights = vec![ReviewWeight::default(); dataset.reviews.len()];
    let rows = (0..).zip(&dataset.reviews).filter(|(_, review)| review.published().is_some());
    let dated: Vec<DatedReview<'_>> = rows.map(|(row, review)| DatedReview { row, day: 0, review }).collect();
    let mut dated = sorted(&dated, |dated| (dated.review.firm, dated.review.unpublished().1));
    spread(&mut dated);
    let last_day = dataset.meta.released_on.days();
    for of_firm in dated.chunk_by_mut(|one, other| one.review.firm == other.review.firm) {
        of_firm.sort_by_key(|dated| dated.day);
        weigh(of_firm, last_day, &mut weights);
    }
    hold_repetitions(dataset, &dated, &mut weights);
    for (weight, review) in weights.iter_mut().zip(&dataset.reviews) {
        if review.is_cleared && weight.held_as.is_some() {
            *weight = ReviewWeight { weight: 1.0, held_as: None };
        }
    }
    weights
}

/// Reviews by a key; equal ones by their ids.
fn sorted<'a, K: Ord>(dated: &[DatedReview<'a>], key: impl Fn(&DatedReview<'a>) -> K) -> Vec<DatedReview<'a>> {
    let order = Permutation::by_key(dated.len(), |place| key(&dated[place]), |place| &dated[place].review.id);
    order.old.iter().map(|place| dated[*place as usize]).collect()
}

/// Gives each review a day. Reviews of which only the month or the year is known are spread evenly over it.
fn spread(dated: &mut [DatedReview<'_>]) {
    let date = |dated: &DatedReview<'_>| dated.review.unpublished().1;
    let is_same = |one: &DatedReview<'_>, other: &DatedReview<'_>| {
        one.review.firm == other.review.firm && date(one) == date(other)
    };
    for same in dated.chunk_by_mut(is_same) {
        let (first, last) = (date(&same[0]).first_day().days(), date(&same[0]).last_day().days());
        let count = same.len() as i32;
        for (place, dated) in (0..).zip(same) {
            dated.day = first + (last + 1 - first) * (2 * place + 1) / (2 * count);
        }
    }
}

/// Weighs the reviews of a firm, which are in the order of their days.
fn weigh(reviews: &[DatedReview<'_>], last_day: i32, weights: &mut [ReviewWeight]) {
    let days: Vec<i32> = reviews.iter().map(|dated| dated.day).collect();
    reviews.iter().for_each(|dated| weights[dated.row as usize].weight = 1.0);
    // First and last days of bursts that nobody has cleared.
    let mut bursts: Vec<(i32, i32)> = Vec::new();
    let mut hold = |dated: &DatedReview<'_>, reason| weights[dated.row as usize] = ReviewWeight::held(reason);
    let mut hold_burst = |held: &[&DatedReview<'_>]| {
        held.iter().for_each(|dated| hold(dated, HoldReason::Burst));
        if let [first, .., last] = held
            && held.iter().any(|dated| !dated.review.is_cleared)
        {
            bursts.push((first.day, last.day));
        }
    };
    for burst in BURST.clusters(&days, &days, last_day) {
        hold_burst(&reviews[burst].iter().collect::<Vec<_>>());
    }
    let of_young: Vec<&DatedReview<'_>> =
        reviews.iter().filter(|dated| dated.is_of_account_since(dated.day - WAVE.days - DAYS_BEFORE)).collect();
    let days_of_young: Vec<i32> = of_young.iter().map(|dated| dated.day).collect();
    for wave in WAVE.clusters(&days_of_young, &days, last_day) {
        let since = days_of_young[wave.start] - DAYS_BEFORE;
        let held: Vec<&DatedReview<'_>> =
            of_young[wave].iter().copied().filter(|dated| dated.is_of_account_since(since)).collect();
        if held.len() > WAVE.few {
            hold_burst(&held);
        }
    }
    for dated in reviews {
        let weight = &mut weights[dated.row as usize];
        let is_young = |(first, last): &(i32, i32)| {
            let since = dated.review.author.since.map(|since| since.first_day().days());
            dated.is_of_account_since(first - DAYS_BEFORE) && since.is_some_and(|since| since <= *last)
        };
        if weight.held_as.is_none() && !dated.review.is_cleared && bursts.iter().any(is_young) {
            weight.weight = YOUNG_ACCOUNT;
        }
    }
    let mut hold = |dated: &DatedReview<'_>, reason| weights[dated.row as usize] = ReviewWeight::held(reason);
    for rating in 1..=5 {
        let equal: Vec<&DatedReview<'_>> =
            reviews.iter().filter(|dated| equal_rating(dated.review) == Some(rating)).collect();
        let days: Vec<i32> = equal.iter().map(|dated| dated.day).collect();
        for cluster in EQUAL_RATINGS.clusters(&days, &days, last_day) {
            equal[cluster].iter().for_each(|dated| hold(dated, HoldReason::EqualRatings));
        }
    }
    let mut counted: HashMap<&str, i32> = HashMap::new();
    for dated in reviews {
        let Some(author) = dated.review.author.key.as_deref() else { continue };
        let is_second = counted.get(author).is_some_and(|day| dated.day < day + DAYS_OF_AUTHOR);
        match is_second && !dated.review.is_cleared {
            true => hold(dated, HoldReason::SecondByAuthor),
            false => drop(counted.insert(author, dated.day)),
        }
    }
}

/// The rating that a review gives for everything; `None` if its ratings differ or are few.
fn equal_rating(review: &DatasetReview) -> Option<u8> {
    let known: Vec<u8> = review.published()?.ratings().into_iter().flatten().collect();
    (known.len() >= MIN_EQUAL_RATINGS && known.iter().all(|rating| *rating == known[0])).then_some(known[0])
}

/// Holds the reviews whose text is nearly that of an earlier one, of whatever firm.
fn hold_repetitions(dataset: &Dataset, dated: &[DatedReview<'_>], weights: &mut [ReviewWeight]) {
    let dated = sorted(dated, |dated| dated.day);
    // A text that cannot be read fails the build when it is written.
    let body = |place: usize| dataset.texts.read(dated[place].review.published()?.body?).ok();
    for (dated, is_repeated) in dated.iter().zip(repeated(dated.len(), body)) {
        let weight = &mut weights[dated.row as usize];
        if is_repeated && weight.held_as != Some(HoldReason::SecondByAuthor) {
            *weight = ReviewWeight::held(HoldReason::SimilarText);
        }
    }
}

impl ReviewWeight {
    fn held(reason: HoldReason) -> Self {
        Self { weight: 0.0, held_as: Some(reason) }
    }
}

impl ClusterRule {
    /// The clusters among days, which ascend: those with more reviews than `times_usual` times what the rate of the others
    /// of `all` explains, in the year before and the year after, and a few.
    fn clusters(&self, days: &[i32], all: &[i32], last_day: i32) -> Vec<Range<usize>> {
        let between =
            |from: i32, to: i32| all.partition_point(|day| *day < to) - all.partition_point(|day| *day < from);
        let clusters = (0..days.len()).filter_map(|start| {
            let end = days.partition_point(|day| *day < days[start] + self.days);
            let (first, last, count) = (days[start], days[end - 1], end - start);
            let period = (USUAL_DAYS + (last_day - last).clamp(0, USUAL_DAYS)) as usize;
            let others = between(first - USUAL_DAYS, last + USUAL_DAYS + 1) - count;
            let usual = self.days as usize * others;
            (count * period > self.times_usual * usual + self.few * period).then_some(start..end)
        });
        clusters.collect()
    }
}

impl DatedReview<'_> {
    /// True if the author's account is known to have been created on a day or after it.
    fn is_of_account_since(&self, day: i32) -> bool {
        self.review.author.since.is_some_and(|since| since.last_day().days() >= day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_has_more_than_four_times_the_usual_rate() {
        let clusters = |days: &[i32], last_day: i32| -> Vec<(usize, usize)> {
            BURST.clusters(days, days, last_day).into_iter().map(|cluster| (cluster.start, cluster.end)).collect()
        };
        assert_eq!(clusters(&[100, 101, 102], 200), []);
        assert_eq!(clusters(&[100, 101, 102, 113], 200), [(0, 4)]);
        assert_eq!(clusters(&[100, 101, 102, 114], 200), []);
        // A review each day is usual for the firm, and so are four at once.
        let mut usual: Vec<i32> = (0..730).collect();
        assert_eq!(clusters(&usual, 730), []);
        usual.extend([730; 10]);
        assert_eq!(clusters(&usual, 730), []);
        usual.extend([730; 60]);
        assert!(clusters(&usual, 730).iter().any(|(start, end)| end - start >= 70));
        // Those of a year ago are not.
        assert_eq!(clusters(&[0, 400, 400, 400, 400], 800), [(1, 5)]);
    }
}
