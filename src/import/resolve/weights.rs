//! Weights of evidence, estimated from the pairs at hand: the model of Fellegi and Sunter.
//!
//! The weight of a finding is the logarithm, to base 2, of how much more often two records of one entity show it than two
//! records of different ones. Both frequencies are estimated by expectation and maximization, without labels. Pairs of two
//! sources are a mixture. Pairs within one source are hardly ever one entity, and show what different entities look like.
//! Findings that few pairs show keep a usual weight, as do all of them if there are few pairs or only one source.
//!
//! A score is the sum of the weights and of the odds before any evidence. Its logistic function is the probability that
//! two records are one.

use std::collections::HashMap;

use data::evidence::{Aspect, Evidence, EvidenceKind};

/// Points of the [usual](Evidence::points) weight that double the odds.
const POINTS_PER_BIT: f64 = 6.0;

/// Usual points of a pair that is as likely one entity as two.
const EVEN_POINTS: f64 = 73.0;

/// Pairs of two sources that learning needs.
const MIN_PAIRS: u64 = 200;

/// Usual weights count like learned ones from so many pairs.
const PAIRS_OF_USUAL: f64 = 20.0;

/// Share of the pairs within one source that are one entity, before any evidence.
const SHARE_WITHIN: f64 = 0.02;

const ROUNDS: usize = 30;

/// Weight of names that do not agree at all. It is not learned: such pairs are only found by what else they share.
const NO_NAME: f64 = -6.0;

/// Agreement of names that are not one: of brands, subsidiaries, legal and former names.
const OTHER_NAMES: [Evidence; 5] = [
    Evidence::NameSoundsAlike,
    Evidence::OtherGenericWords,
    Evidence::NameBegins,
    Evidence::Initials,
    Evidence::SimilarName,
];

/// Largest absolute weight. Few pairs never show a finding that is impossible or certain.
const MAX_WEIGHT: f64 = 14.0;

/// Findings of a pair, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Findings(u64);

impl Findings {
    pub(super) fn new(evidence: &[Evidence]) -> Self {
        Self(evidence.iter().fold(0, |bits, found| bits | 1 << *found as u64))
    }

    pub(super) fn has(self, evidence: Evidence) -> bool {
        self.0 & (1 << evidence as u64) != 0
    }

    fn of(self, aspect: Aspect) -> Self {
        Self(self.0 & MASKS[aspect as usize])
    }

    /// True if the names agree in any way.
    pub(super) fn has_name(self) -> bool {
        self.of(Aspect::Name).0 != 0
    }

    /// True if two sources give records with different names one website of their own.
    pub(super) fn is_of_one_website(self) -> bool {
        let has_other_names = !self.has_name() || OTHER_NAMES.into_iter().any(|name| self.has(name));
        self.has(Evidence::SameDomain) && !self.has(Evidence::OneSource) && has_other_names
    }

    /// True if two sources have a domain or a rare name in common, so that a person should know of it.
    pub(super) fn is_never_unseen(self) -> bool {
        let has_name = self.has(Evidence::SameName) && self.has(Evidence::RareName);
        let is_contradicted = self.has(Evidence::OneSource) || self.has(Evidence::OtherCountry);
        !is_contradicted && (has_name && !self.has(Evidence::OtherDomain) || self.has(Evidence::SameDomain))
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Evidence> {
        Evidence::ALL.into_iter().filter(move |evidence| self.has(*evidence))
    }

    /// The finding of each aspect that weighs most: of two clusters, what their most similar records show.
    pub(super) fn best_of(pairs: impl Iterator<Item = Self>, weights: &Weights) -> Self {
        let mut best: HashMap<Aspect, (f64, u64)> = HashMap::new();
        for pair in pairs {
            for aspect in Aspect::ALL {
                let found = pair.of(aspect);
                if found.0 == 0 && !is_always_known(aspect) {
                    continue;
                }
                let weight: f64 = found.iter().map(|found| weights.of(found)).sum();
                let known = best.entry(aspect).or_insert((weight, found.0));
                if weight > known.0 {
                    *known = (weight, found.0);
                }
            }
        }
        Self(best.values().fold(0, |bits, (_, found)| bits | found))
    }
}

/// The findings of each aspect, a bit each.
const MASKS: [u64; Aspect::ALL.len()] = {
    let mut masks = [0; Aspect::ALL.len()];
    let mut at = 0;
    while at < Evidence::ALL.len() {
        let evidence = Evidence::ALL[at];
        masks[evidence.aspect() as usize] |= 1 << evidence as u64;
        at += 1;
    }
    masks
};

/// True if no finding of an aspect is a level of its own, and not an unknown one.
fn is_always_known(aspect: Aspect) -> bool {
    matches!(aspect, Aspect::Alias | Aspect::Rarity | Aspect::Namesakes | Aspect::Links)
}

/// True if the weights of an aspect are estimated. Identifiers are certain by their schemes; pairs of a source have odds of
/// their own.
fn is_learned(aspect: Aspect) -> bool {
    !matches!(aspect, Aspect::Identifier | Aspect::Source)
}

/// Weights of one table, in bits.
pub(super) struct Weights {
    weights: [f64; Evidence::ALL.len()],
    /// Odds before any evidence.
    base: f64,
}

/// How often pairs show a level of an aspect.
#[derive(Clone, Copy, Default)]
struct Frequency {
    same: f64,
    different: f64,
}

impl Weights {
    pub(super) fn usual() -> Self {
        let weights = Evidence::ALL.map(|evidence| f64::from(evidence.points()) / POINTS_PER_BIT);
        Self { weights, base: -EVEN_POINTS / POINTS_PER_BIT }
    }

    pub(super) fn of(&self, evidence: Evidence) -> f64 {
        self.weights[evidence as usize]
    }

    /// Odds of a pair before any evidence but that the names agree or not.
    pub(super) fn base(&self, findings: Findings) -> f64 {
        self.base + if findings.has_name() { 0.0 } else { NO_NAME }
    }

    /// Weight of a finding of a pair. The weight of a domain is learned from names that agree and says little about other names:
    /// a website that both own makes such records as likely one as two, before anything else is found.
    pub(super) fn in_pair(&self, findings: Findings, evidence: Evidence) -> f64 {
        let weight = self.of(evidence);
        if evidence != Evidence::SameDomain || !findings.is_of_one_website() {
            return weight;
        }
        let names = findings.iter().filter(|found| found.kind() == EvidenceKind::Name);
        weight.max(-self.base(findings) - names.map(|found| self.of(found)).sum::<f64>())
    }

    /// Logarithm of the odds that two records with these findings are one.
    pub(super) fn score(&self, findings: Findings) -> f64 {
        self.base(findings) + findings.iter().map(|evidence| self.in_pair(findings, evidence)).sum::<f64>()
    }

    /// Estimates the weights from the findings of all pairs whose names agree. `pairs` has how often each combination is found.
    pub(super) fn learned(pairs: &HashMap<Findings, u64>) -> Self {
        let usual = Self::usual();
        let is_within = |findings: &Findings| findings.has(Evidence::OneSource);
        let across: u64 = pairs.iter().filter(|(findings, _)| !is_within(findings)).map(|(_, count)| count).sum();
        if across < MIN_PAIRS {
            return usual;
        }
        // In a fixed order, so that sums are the same in each run.
        let mut pairs: Vec<(Findings, f64)> = pairs.iter().map(|(found, count)| (*found, *count as f64)).collect();
        pairs.sort_unstable_by_key(|(findings, _)| *findings);
        let mut weights = usual;
        for _ in 0..ROUNDS {
            weights = weights.improved(&pairs);
        }
        weights
    }

    /// One round: the probability of each pair by these weights, then the weights that it makes likely.
    fn improved(&self, pairs: &[(Findings, f64)]) -> Self {
        let usual = Self::usual();
        let within = (SHARE_WITHIN / (1.0 - SHARE_WITHIN)).log2();
        let mut levels: HashMap<(Aspect, u64), Frequency> = HashMap::new();
        let mut known: HashMap<Aspect, Frequency> = HashMap::new();
        let (mut across, mut one_source) = (Frequency::default(), Frequency::default());
        for (findings, count) in pairs {
            let is_within = findings.has(Evidence::OneSource);
            let found = findings.iter().filter(|found| found.aspect() != Aspect::Source);
            let found: f64 = found.map(|found| self.of(found)).sum();
            let before = if is_within { within } else { self.base };
            let same = probability(before + found) * count;
            let of_source = if is_within { &mut one_source } else { &mut across };
            of_source.add(same, count - same);
            for aspect in Aspect::ALL.into_iter().filter(|aspect| is_learned(*aspect)) {
                let level = findings.of(aspect).0;
                if level != 0 || is_always_known(aspect) {
                    levels.entry((aspect, level)).or_default().add(same, count - same);
                    known.entry(aspect).or_default().add(same, count - same);
                }
            }
        }
        let mut weights = Self::usual();
        let learned = |aspect: Aspect, level: u64, usual: f64| {
            let Frequency { same, different } = levels.get(&(aspect, level)).copied().unwrap_or_default();
            let all = known.get(&aspect).copied().unwrap_or_default();
            let weight = ((same + 0.5) / (all.same + 1.0)).log2() - ((different + 0.5) / (all.different + 1.0)).log2();
            let count = same + different;
            let weight = weight.clamp(-MAX_WEIGHT, MAX_WEIGHT);
            (weight * count + usual * PAIRS_OF_USUAL) / (count + PAIRS_OF_USUAL)
        };
        weights.base = ((across.same + 1.0) / (across.different + 1.0)).log2();
        for aspect in Aspect::ALL.into_iter().filter(|aspect| is_learned(*aspect)) {
            let absent = if is_always_known(aspect) { learned(aspect, 0, 0.0) } else { 0.0 };
            weights.base += absent;
            for evidence in Evidence::ALL.into_iter().filter(|evidence| evidence.aspect() == aspect) {
                let level = 1 << evidence as u64;
                weights.weights[evidence as usize] = learned(aspect, level, usual.of(evidence)) - absent;
            }
        }
        // Two findings that only occur together: a city that differs within one country.
        let country = weights.of(Evidence::SameCountry);
        let both = 1 << Evidence::SameCountry as u64 | 1 << Evidence::OtherCity as u64;
        let usual_of_both = usual.of(Evidence::SameCountry) + usual.of(Evidence::OtherCity);
        weights.weights[Evidence::OtherCity as usize] = learned(Aspect::Place, both, usual_of_both) - country;
        let of_source = ((one_source.same + 0.5) / (one_source.different + 0.5 / SHARE_WITHIN)).log2();
        weights.weights[Evidence::OneSource as usize] = (of_source - weights.base).min(0.0);
        weights.weights[Evidence::OnlyOne as usize] = 0.0;
        weights
    }
}

impl Frequency {
    fn add(&mut self, same: f64, different: f64) {
        self.same += same;
        self.different += different;
    }
}

/// The probability at a logarithm of odds.
pub(super) fn probability(bits: f64) -> f64 {
    1.0 / (1.0 + (-bits).exp2())
}
