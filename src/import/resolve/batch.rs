//! Batches: pairs of a review with equal evidence, so that a person decides most of them by a sample.
//!
//! Pairs have equal evidence if they agree in the kind of record, in how the names agree, in the kinds of evidence for them
//! and in each evidence against them. Groups that are too small for a sample are joined by coarser signatures. The order of a
//! batch is that of sampling: any first pairs of it are spread over the scores and random among equal ones. What they say
//! of the rest is a bound for the number of pairs that differ, from the exact distribution of samples without replacement.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::xxh3_64;

use crate::resolve::weights::Findings;
use crate::resolve::{Evidence, EvidenceKind, Judgement, RecordPair, Resolution, WeighedEvidence};
use data::Table;
use data::number::grouped;
use data::vocabulary::Vocabulary as _;

/// Pairs to see before the rest of a batch can be decided.
pub const SAMPLE: usize = 12;

/// Of this many pairs of a sample, one may differ from the others.
pub const ONE_MAY_DIFFER_OF: usize = 20;

/// Most pairs of a sample. Further ones are decided, and leave its bound as it is.
const MAX_SAMPLE: usize = 240;

/// Fewest pairs of a batch of equal evidence: with fewer, a sample saves little.
const MIN_BATCH: usize = SAMPLE + 4;

/// Points below which evidence is neither for nor against a pair.
const MIN_POINTS: i32 = 5;

/// Probability with which no more pairs differ than the bound says.
const CONFIDENCE: f64 = 0.95;

/// Sentence about a sample, with placeholders for [`BatchOffer::fill`].
pub const OFFER: &str = "{agreeing} of {seen} are {judgement}: at most {differing} of the other {rest} ({share} %) are expected to differ (95 %).";

/// Sentence about a larger sample, with placeholders for [`Batch::larger_sample`].
pub const LARGER: &str = "{more} more of which none differs lower this to {share} %.";

/// Shares of the rest, in percent, to which a larger sample lowers the error.
pub const SHARES: [usize; 2] = [10, 5];

/// Reason of a decision that nobody looked at, with placeholders for [`BatchOffer::fill`].
pub const REASON: &str = "by batch, unseen: {batch}; {agreeing} of {seen} seen are {judgement}, at most {differing} of the \
                          other {rest} are expected to differ (95 %)";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Such as `startups: same name; for: founding year; against: place`.
    pub title: String,
    /// Indexes of [`Resolution::review`] in the order of sampling.
    pub pairs: Vec<usize>,
}

/// Judgement of a sample for the rest of its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchOffer {
    pub judgement: Judgement,
    /// Pairs of the sample, and those among them with the judgement.
    pub seen: usize,
    pub agreeing: usize,
    /// Pairs that are not decided.
    pub rest: usize,
    /// Most pairs of the rest that differ, with a probability of 95 %.
    pub differing: usize,
}

impl BatchOffer {
    /// Largest share of the rest that differs, in percent.
    fn share(&self) -> usize {
        (self.differing * 100).div_ceil(self.rest.max(1))
    }

    /// What follows `they are`.
    pub fn judgement_text(&self) -> &'static str {
        if self.judgement == Judgement::Same { "the same" } else { self.judgement.name() }
    }

    /// Replaces the placeholders of [`OFFER`] or [`REASON`].
    pub fn fill(&self, template: &str, batch: &Batch) -> String {
        let title = format!("{} ({} pairs)", batch.title, grouped(batch.pairs.len()));
        [
            ("{batch}", title),
            ("{judgement}", self.judgement_text().to_owned()),
            ("{agreeing}", grouped(self.agreeing)),
            ("{seen}", grouped(self.seen)),
            ("{differing}", grouped(self.differing)),
            ("{rest}", grouped(self.rest)),
            ("{share}", self.share().to_string()),
        ]
        .into_iter()
        .fold(template.to_owned(), |text, (placeholder, value)| text.replace(placeholder, &value))
    }
}

impl Batch {
    /// True if a sample can decide the rest.
    pub fn is_sampled(&self) -> bool {
        self.pairs.len() > SAMPLE
    }

    /// What the sample says. `judged` has the judgements in the order of the batch. The sample is what was decided up to the
    /// first pair without a judgement: pairs that a person chose out of turn are no sample.
    pub fn offer(&self, judged: &[Option<Judgement>]) -> Option<BatchOffer> {
        let rest = judged.iter().filter(|judgement| judgement.is_none()).count();
        let sample: Vec<Judgement> = judged.iter().map_while(|judgement| *judgement).take(MAX_SAMPLE).collect();
        let count = |judgement| sample.iter().filter(|judged| **judged == judgement).count();
        let same = count(Judgement::Same);
        let different = count(Judgement::Different);
        let (judgement, agreeing) =
            if same >= different { (Judgement::Same, same) } else { (Judgement::Different, different) };
        let (seen, differing) = (sample.len(), sample.len() - agreeing);
        if rest == 0 || seen < SAMPLE || differing * ONE_MAY_DIFFER_OF > seen {
            return None;
        }
        let differing = max_differing(self.pairs.len(), seen, differing).min(rest);
        Some(BatchOffer { judgement, seen, agreeing, rest, differing })
    }

    /// How many more pairs, of which none differs, lower the error to one of [`SHARES`]; `None` if that is most of the rest.
    pub fn larger_sample(&self, offer: &BatchOffer) -> Option<String> {
        let (pairs, differing) = (self.pairs.len(), offer.seen - offer.agreeing);
        let share = |seen| (max_differing(pairs, seen, differing) * 100).div_ceil(pairs - seen);
        let target = SHARES.into_iter().find(|target| offer.share() > *target)?;
        let last = (offer.seen + offer.rest / 2).min(MAX_SAMPLE);
        let seen = (offer.seen + 1..=last).find(|seen| share(*seen) <= target)?;
        let more = LARGER.replace("{more}", &grouped(seen - offer.seen));
        Some(more.replace("{share}", &share(seen).to_string()))
    }

    /// Number of pairs that a person has to see if samples go on as they began.
    pub fn looks_left(&self, judged: &[Option<Judgement>]) -> usize {
        let left = judged.iter().filter(|judgement| judgement.is_none()).count();
        let sample: Vec<Judgement> = judged.iter().map_while(|judgement| *judgement).collect();
        let count = |judgement| sample.iter().filter(|judged| **judged == judgement).count();
        let differing = sample.len() - count(Judgement::Same).max(count(Judgement::Different));
        left.min((differing * ONE_MAY_DIFFER_OF).max(SAMPLE).saturating_sub(sample.len()))
    }

    /// Bounds for each sample that may decide the rest: by its size, from [`SAMPLE`], and by the number of pairs in it that
    /// differ.
    pub fn bounds(&self) -> Vec<Vec<usize>> {
        let pairs = self.pairs.len();
        let of_size = |seen: usize| {
            (0..=seen / ONE_MAY_DIFFER_OF).map(|differing| max_differing(pairs, seen, differing)).collect()
        };
        (SAMPLE..pairs.min(MAX_SAMPLE + 1)).map(of_size).collect()
    }
}

/// The evidence by which pairs are grouped. `None` in place of a part that does not count.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Signature {
    table: Table,
    is_held: bool,
    is_opposed: bool,
    /// With different names.
    is_of_one_website: bool,
    /// How the names agree; empty if they do not.
    names: Option<&'static str>,
    kinds_for: Option<BTreeSet<EvidenceKind>>,
    against: Option<BTreeSet<&'static str>>,
}

impl Signature {
    fn new(resolution: &Resolution, pair: &RecordPair) -> Self {
        let evidence: Vec<Evidence> = pair.evidence.iter().map(|found| found.evidence).collect();
        let is_of_name = |evidence: &WeighedEvidence| evidence.kind() == EvidenceKind::Name;
        let names = pair.evidence.iter().find(|evidence| is_of_name(evidence));
        let others = || pair.evidence.iter().filter(|evidence| Some(*evidence) != names);
        let kinds = others().filter(|evidence| evidence.points >= MIN_POINTS && !is_of_name(evidence));
        let against = others().filter(|evidence| evidence.points <= -MIN_POINTS);
        let against: BTreeSet<&str> = against.map(|evidence| evidence.name()).collect();
        Self {
            table: resolution.records[pair.left as usize].table,
            is_held: pair.conflict.is_some(),
            is_opposed: !against.is_empty(),
            is_of_one_website: Findings::new(&evidence).is_of_one_website(),
            names: Some(names.map_or("", |evidence| evidence.name())),
            kinds_for: Some(kinds.map(|evidence| evidence.kind()).collect()),
            against: Some(against),
        }
    }

    /// The signature that joins more pairs; `None` for the coarsest.
    fn coarser(&self) -> Option<Self> {
        match self {
            Self { kinds_for: Some(_), .. } => Some(Self { kinds_for: None, ..self.clone() }),
            Self { names: Some(_), .. } => Some(Self { names: None, ..self.clone() }),
            Self { against: Some(_), .. } => Some(Self { against: None, ..self.clone() }),
            _ => None,
        }
    }

    /// What both have.
    fn common(self, other: &Self) -> Self {
        Self {
            names: self.names.filter(|_| self.names == other.names),
            kinds_for: self.kinds_for.filter(|own| other.kinds_for.as_ref() == Some(own)),
            against: self.against.filter(|own| other.against.as_ref() == Some(own)),
            ..self
        }
    }

    /// Number of parts that do not count.
    fn coarseness(&self) -> usize {
        [self.names.is_none(), self.kinds_for.is_none(), self.against.is_none()]
            .into_iter()
            .filter(|part| *part)
            .count()
    }

    fn title(&self) -> String {
        let names = self.names.map_or("various names", |names| if names.is_empty() { "names unlike" } else { names });
        let kinds = self.kinds_for.as_ref().map(|kinds| kinds.iter().map(|kind| noun(*kind)).collect::<Vec<_>>());
        let against = self.against.as_ref().map(|against| against.iter().copied().collect::<Vec<_>>());
        let website = if self.is_of_one_website { "one website, " } else { "" };
        let mut title = format!("{}: {website}{names}", self.table.name());
        for (word, evidence) in [("for", kinds), ("against", against)] {
            let various = if word == "against" && !self.is_opposed { "" } else { "various" };
            let text = evidence.map_or(various.to_owned(), |evidence| evidence.join(", "));
            if !text.is_empty() {
                title += &format!("; {word}: {text}");
            }
        }
        if self.is_held {
            title += "; sure, but for a conflict";
        }
        title
    }
}

const fn noun(kind: EvidenceKind) -> &'static str {
    match kind {
        EvidenceKind::Name => "name",
        EvidenceKind::Identifier => "website or identifier",
        EvidenceKind::Place => "place",
        EvidenceKind::Founding => "founding year",
        EvidenceKind::Sectors => "sectors",
        EvidenceKind::Links => "rounds, investors or people",
        EvidenceKind::Source => "source",
    }
}

/// Groups the pairs of a review: first those with one website and different names, which nothing but a person decides, then
/// those of equal evidence, where a sample says most, the largest batch first.
pub fn batches(resolution: &Resolution) -> Vec<Batch> {
    let mut found: Vec<(Signature, Vec<usize>)> = Vec::new();
    let mut rest: BTreeMap<Signature, Vec<usize>> = BTreeMap::new();
    for (index, pair) in resolution.review.iter().enumerate() {
        rest.entry(Signature::new(resolution, pair)).or_default().push(index);
    }
    while !rest.is_empty() {
        let mut coarse: BTreeMap<Signature, Vec<usize>> = BTreeMap::new();
        for (signature, mut pairs) in rest {
            match signature.coarser().filter(|_| pairs.len() < MIN_BATCH) {
                Some(coarser) => coarse.entry(coarser).or_default().append(&mut pairs),
                None => {
                    let own = pairs.iter().map(|index| Signature::new(resolution, &resolution.review[*index]));
                    let common = own.reduce(|common, own| common.common(&own)).unwrap_or(signature);
                    found.push((common, pairs));
                }
            }
        }
        rest = coarse;
    }
    found.sort_by_cached_key(|(signature, pairs)| {
        (!signature.is_of_one_website, signature.coarseness(), Reverse(pairs.len()), signature.title())
    });
    let order = |(signature, pairs): (Signature, Vec<usize>)| {
        let title = signature.title();
        Batch { pairs: sampling_order(resolution, pairs, xxh3_64(title.as_bytes())), title }
    };
    found.into_iter().map(order).collect()
}

/// Orders pairs so that any first ones are spread over the scores: by a van der Corput sequence over the pairs by score,
/// which begins at a place that `seed` chooses. Pairs of one score are in the order of hashes.
fn sampling_order(resolution: &Resolution, mut pairs: Vec<usize>, seed: u64) -> Vec<usize> {
    pairs.sort_by_cached_key(|index| {
        let pair = &resolution.review[*index];
        let [left, right] = [pair.left, pair.right].map(|row| resolution.records[row as usize].id.as_str());
        (pair.score, xxh3_64(format!("{seed} {left} {right}").as_bytes()), *index)
    });
    let count = pairs.len() as u64;
    let mut waiting: Vec<Option<usize>> = pairs.into_iter().map(Some).collect();
    let points = u32::try_from(count.next_power_of_two()).unwrap_or(u32::MAX);
    let turned = (0..points).map(|point| u64::from(point.reverse_bits().wrapping_add(seed as u32)));
    turned.filter_map(|point| waiting[((point * count) >> u32::BITS) as usize].take()).collect()
}

/// The largest number of unseen pairs that differ, of `pairs` of which `seen` were drawn without replacement and `differing`
/// of these differ: with more, so few in the sample had a probability below 5 %.
fn max_differing(pairs: usize, seen: usize, differing: usize) -> usize {
    let mut logarithms = Vec::with_capacity(pairs + 1);
    let mut sum = 0.0;
    for number in 0..=pairs {
        sum += (number.max(1) as f64).ln();
        logarithms.push(sum);
    }
    // Logarithm of a binomial coefficient; none if it is 0.
    let choose =
        |all: usize, some: usize| (some <= all).then(|| logarithms[all] - logarithms[some] - logarithms[all - some]);
    let is_likely = |all: usize| {
        let ways = choose(pairs, seen).unwrap_or(0.0);
        let probability = |drawn: usize| {
            let own = choose(all, drawn).zip(choose(pairs - all, seen - drawn));
            own.map_or(0.0, |(left, right)| (left + right - ways).exp())
        };
        (0..=differing).map(probability).sum::<f64>() > 1.0 - CONFIDENCE
    };
    let (mut low, mut high) = (differing, pairs - (seen - differing));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if is_likely(middle) { low = middle } else { high = middle - 1 }
    }
    low - differing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::{Evidence as E, SourceRecord};

    fn review(pairs: &[(i32, &[Evidence])]) -> Resolution {
        let record = |row| SourceRecord::new(Table::Startups, format!("a/startup:{row}"), 0);
        let pair = |(index, (score, evidence)): (u32, &(i32, &[Evidence]))| RecordPair {
            left: index * 2,
            right: index * 2 + 1,
            score: *score,
            evidence: evidence.iter().copied().map(WeighedEvidence::usual).collect(),
            base: 0,
            conflict: None,
        };
        Resolution {
            records: (0..pairs.len() * 2).map(record).collect(),
            review: (0..).zip(pairs).map(pair).collect(),
            ..Resolution::default()
        }
    }

    #[test]
    fn pairs_of_equal_evidence_are_a_batch_and_small_groups_are_joined() {
        const NEAR: &[Evidence] = &[E::SameName, E::RareName, E::SameCity, E::OtherYear];
        const ALSO: &[Evidence] = &[E::SameName, E::SameCountry, E::OtherYear];
        const ABROAD: &[Evidence] = &[E::SameName, E::OtherCountry, E::SameDomain];
        const ELSEWHERE: &[Evidence] = &[E::SameName, E::OtherCountry, E::SameYear];
        const FEW: &[Evidence] = &[E::SameName, E::SameDomain];
        const OTHER: &[Evidence] = &[E::NameBegins, E::SameDomain, E::SameCity];
        const UNLIKE: &[Evidence] = &[E::SameDomain, E::SameYear];
        const FEWER: &[Evidence] = &[E::MisspelledName, E::SameDomain];
        let all = [(NEAR, 20), (ALSO, 10), (ABROAD, 9), (ELSEWHERE, 8), (FEW, 5), (FEWER, 3), (OTHER, 2), (UNLIKE, 1)];
        let pairs = all.iter().flat_map(|(evidence, count)| std::iter::repeat_n((80, *evidence), *count));
        let found = batches(&review(&pairs.collect::<Vec<_>>()));
        let found: Vec<(&str, usize)> = found.iter().map(|batch| (batch.title.as_str(), batch.pairs.len())).collect();
        let expected = [
            ("startups: one website, various names; for: various", 3),
            ("startups: same name; for: place; against: founded some years apart", 30),
            ("startups: same name; for: various; against: different countries", 17),
            ("startups: various names; for: website or identifier", 8),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn any_first_pairs_of_a_batch_are_spread_over_its_scores() {
        const EVIDENCE: &[Evidence] = &[E::SameName, E::SameCity];
        let pairs: Vec<(i32, &[Evidence])> = (0..100).map(|score| (score, EVIDENCE)).collect();
        let resolution = review(&pairs);
        let batches = batches(&resolution);
        let order = &batches[0].pairs;
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>(), "each pair is in the batch once");
        for size in [4, 12, 24] {
            for part in 0..4 {
                let range = part * 25..(part + 1) * 25;
                let there = order[..size].iter().filter(|index| range.contains(*index)).count();
                assert!((size / 4).abs_diff(there) <= 1, "{there} of {size} between {range:?}");
            }
        }
        assert_eq!(batches, super::batches(&resolution));
    }

    /// Probability of at most `differing` in a sample, by multiplying shares one draw at a time.
    fn chance(pairs: usize, all: usize, seen: usize, differing: usize) -> f64 {
        let mut chances = vec![1.0];
        for draw in 0..seen {
            let mut next = vec![0.0; chances.len() + 1];
            for (drawn, chance) in chances.iter().enumerate() {
                let share = all.saturating_sub(drawn) as f64 / (pairs - draw) as f64;
                next[drawn + 1] += chance * share;
                next[drawn] += chance * (1.0 - share);
            }
            chances = next;
        }
        chances.iter().take(differing + 1).sum()
    }

    #[test]
    fn the_bound_is_the_last_number_with_a_probability_of_five_percent() {
        for (pairs, seen, differing) in
            [(13, 12, 0), (275, 12, 0), (275, 24, 1), (275, 60, 0), (1_000, 100, 5), (40, 39, 1)]
        {
            let unseen = max_differing(pairs, seen, differing);
            let all = unseen + differing;
            assert!(chance(pairs, all, seen, differing) > 0.05, "{pairs} {seen} {differing}: {unseen}");
            let is_last = unseen == pairs - seen || chance(pairs, all + 1, seen, differing) <= 0.05;
            assert!(is_last, "{pairs} {seen} {differing}: {unseen}");
        }
        assert_eq!(max_differing(1_000_000, 12, 0) / 10_000, 22);
    }

    #[test]
    fn a_sample_that_agrees_offers_the_rest_with_its_error() {
        use Judgement::{Different, Same, Unsure};
        let batch = Batch { title: "startups: same name".to_owned(), pairs: (0..275).collect() };
        let judged = |made: &[(Judgement, usize)], skipped: usize| {
            let mut judged = vec![None; 275];
            let made = made.iter().flat_map(|(judgement, count)| std::iter::repeat_n(*judgement, *count));
            judged.iter_mut().skip(skipped).zip(made).for_each(|(place, made)| *place = Some(made));
            judged
        };
        assert_eq!(batch.offer(&judged(&[(Same, 11)], 0)), None, "the sample is too small");
        assert_eq!(batch.offer(&judged(&[(Same, 30)], 1)), None, "a skipped pair ends the sample");
        assert_eq!(batch.offer(&judged(&[(Same, 12), (Unsure, 1)], 0)), None, "who is unsure does not agree");
        assert_eq!(batch.offer(&judged(&[(Same, 275)], 0)), None, "nothing is left");
        let offer = batch.offer(&judged(&[(Different, 12)], 0)).unwrap();
        assert_eq!((offer.judgement, offer.seen, offer.agreeing, offer.rest), (Different, 12, 12, 263));
        let text = offer.fill(OFFER, &batch);
        assert_eq!(text, "12 of 12 are different: at most 59 of the other 263 (23 %) are expected to differ (95 %).");
        assert_eq!(batch.larger_sample(&offer).unwrap(), "18 more of which none differs lower this to 10 %.");
        let more = batch.offer(&judged(&[(Same, 10), (Different, 1), (Same, 49)], 0)).unwrap();
        assert!(more.agreeing == 59 && more.differing < offer.differing, "{more:?}");
        assert!(more.fill(REASON, &batch).contains("startups: same name (275 pairs); 59 of 60 seen are the same"));
        let bounds = batch.bounds();
        assert_eq!((bounds[0][0], bounds[60 - SAMPLE][1]), (offer.differing, more.differing));
        assert_eq!(
            [batch.looks_left(&judged(&[], 0)), batch.looks_left(&judged(&[(Same, 5), (Unsure, 1)], 0))],
            [12, 14]
        );
    }
}
