//! Look-up: which record of a release an item means, of which only some values are known.
//!
//! The evidence is that of two records of sources. What is added is what only a look-up knows: that no other candidate is as
//! near. Points of candidates sum to their scores. An item *matches* the best candidate if it is likely by itself and clearly
//! better than the second; a wrong match is worse than none.

use crate::data::identifier::Strength;
use crate::data::{LookUpStatus, Table};
use crate::resolve::evidence::{Evidence, EvidenceKind, Veto, compare_values, veto};
use crate::resolve::name::Agreement;
use crate::resolve::profile::{Profile, Profiles};
use crate::resolve::record::Record;

/// The score from which the best candidate may be the match.
pub const MATCH_SCORE: i32 = 62;
/// By how much the match is better than the second candidate.
pub const MATCH_MARGIN: i32 = 15;
/// Candidates below this score are not listed.
pub const MIN_SCORE: i32 = 25;
/// The greatest score.
pub const MAX_SCORE: i32 = 100;

/// A candidate with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scored {
    /// The index of the candidate.
    pub index: usize,
    /// Hundredths, from [`MIN_SCORE`] to [`MAX_SCORE`].
    pub score: i32,
    pub evidence: Vec<Evidence>,
    /// Why it is not the match, whatever its score.
    pub veto: Option<Veto>,
}

impl Scored {
    /// What the evidence has in points above the greatest score.
    #[must_use]
    pub fn excess(&self) -> i32 {
        self.evidence.iter().map(|evidence| evidence.points()).sum::<i32>() - self.score
    }

    /// Candidates in this order are those that a strong identifier decides, the others by score, and those with a veto.
    #[must_use]
    pub fn rank(&self) -> (bool, bool, i32, usize) {
        (self.veto.is_some(), !self.decides(), -self.score, self.index)
    }

    fn decides(&self) -> bool {
        self.veto.is_none() && self.evidence.contains(&Evidence::StrongIdentifier)
    }
}

/// Compares an item, the first of `records`, with its candidates, the others. `is_sure`: a search finds the candidates by all
/// words of the name. `rows` is the number of names of the table in the release, and `count_of` the number of those that have
/// a word. Returns the likely candidates, best first.
pub fn look_up(
    table: Table,
    records: &[Record],
    is_sure: bool,
    rows: u32,
    count_of: impl Fn(&str) -> u32,
) -> Vec<Scored> {
    let profiles = Profiles::of_look_up(table, records, rows, count_of);
    let Some((item, candidates)) = profiles.all.split_first() else { return Vec::new() };
    let agreements: Vec<Option<Agreement>> = candidates.iter().map(|candidate| agreement(item, candidate)).collect();
    let nearest = only_best(&agreements, |index| includes(&candidates[index], item));
    let owner = only_owner(&profiles, item, candidates);
    let scored = candidates.iter().enumerate().map(|(index, candidate)| {
        let mut evidence = compare_values(&profiles, item, candidate);
        if is_sure && !evidence.iter().any(|found| found.kind() == EvidenceKind::Name) {
            evidence.push(Evidence::SimilarName);
        }
        if nearest == Some(index) {
            evidence.push(Evidence::NearestName);
        }
        if owner == Some(index) {
            evidence.push(Evidence::OnlyOwner);
        }
        let sum: i32 = evidence.iter().map(|evidence| evidence.points()).sum();
        Scored { index, score: sum.min(MAX_SCORE), evidence, veto: veto(&profiles, item, candidate) }
    });
    let mut scored: Vec<Scored> = scored.filter(|scored| scored.score >= MIN_SCORE).collect();
    scored.sort_by_key(Scored::rank);
    scored
}

/// What an item means by its candidates, best first.
pub fn status<'s>(scored: impl Iterator<Item = &'s Scored>) -> LookUpStatus {
    let mut possible = scored.filter(|scored| scored.veto.is_none());
    let Some(best) = possible.next() else { return LookUpStatus::None };
    let is_clear = possible
        .next()
        .is_none_or(|second| best.decides() && !second.decides() || best.score - second.score >= MATCH_MARGIN);
    match is_clear && best.score >= MATCH_SCORE {
        true => LookUpStatus::Match,
        false => LookUpStatus::Ambiguous,
    }
}

/// How the names agree that agree best.
fn agreement(item: &Profile, candidate: &Profile) -> Option<Agreement> {
    let names = item.names.iter().flat_map(|name| candidate.names.iter().map(move |other| name.agreement(other)));
    names.flatten().min()
}

/// The index of the best agreement, if only one is as good. Letters that differ may be mistyped, or one of the names may be
/// meant that has all words.
fn only_best(agreements: &[Option<Agreement>], includes: impl Fn(usize) -> bool) -> Option<usize> {
    let best = agreements.iter().flatten().min()?;
    let is_misspelled = matches!(best, Agreement::Misspelled | Agreement::Near);
    let is_as_good = |(index, agreement): (usize, &Option<Agreement>)| {
        agreement.as_ref() == Some(best) || is_misspelled && includes(index)
    };
    only(agreements.iter().enumerate().map(is_as_good))
}

/// Whether a name of the candidate has all distinctive words of the item's.
fn includes(candidate: &Profile, item: &Profile) -> bool {
    let Some(name) = item.names.first() else { return false };
    candidate.names.iter().any(|other| name.words().all(|word| other.words().any(|known| known == word)))
}

/// The index of the only candidate with an identifier or domain of the item that says something.
fn only_owner(profiles: &Profiles, item: &Profile, candidates: &[Profile]) -> Option<usize> {
    let is_telling = |scheme: u16| profiles.schemes[usize::from(scheme)].1 != Strength::Weak;
    only(candidates.iter().map(|candidate| {
        let mut common = item.identifiers.iter().filter(|own| candidate.identifiers.binary_search(own).is_ok());
        let has_domain = item.domain.is_some_and(|own| candidate.domain.is_some_and(|other| own.hash == other.hash));
        has_domain || common.any(|identifier| is_telling(identifier.scheme))
    }))
}

/// The index of the only `true`.
fn only(flags: impl Iterator<Item = bool>) -> Option<usize> {
    let mut set = flags.enumerate().filter(|(_, flag)| *flag);
    let (first, _) = set.next()?;
    set.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Country;

    fn record(name: &str) -> Record {
        Record { name: name.to_owned(), ..Record::new(Table::Firms, String::new(), 0) }
    }

    fn with_lei(name: &str, value: &str) -> Record {
        Record { identifiers: vec![("lei".to_owned(), value.to_owned())], ..record(name) }
    }

    fn with_site(name: &str, site: &str) -> Record {
        Record { website: Some(site.to_owned()), ..record(name) }
    }

    fn in_country(name: &str, code: &str) -> Record {
        Record { country: Country::from_alpha2(code), ..record(name) }
    }

    fn found(records: &[Record]) -> (LookUpStatus, Vec<usize>) {
        // Each word is rare.
        let scored = look_up(Table::Firms, records, false, 10_000, |_| 1);
        for one in &scored {
            let sum: i32 = one.evidence.iter().map(|evidence| evidence.points()).sum();
            assert_eq!(one.score + one.excess(), sum);
            assert!(one.score <= MAX_SCORE && one.excess() >= 0);
        }
        (status(scored.iter()), scored.iter().map(|scored| scored.index).collect())
    }

    #[test]
    fn a_name_of_one_record_is_a_match_and_that_of_several_is_not() {
        assert_eq!(found(&[record("Quillon Ventures"), record("Quillon Ventures")]), (LookUpStatus::Match, vec![0]));
        assert_eq!(found(&[record("Quilon Ventures"), record("Quillon Ventures")]), (LookUpStatus::Match, vec![0]));
        let two = [record("Quillon Ventures"), record("Quillon Ventures"), record("Quillon Ventures")];
        assert_eq!(found(&two), (LookUpStatus::Ambiguous, vec![0, 1]));
        assert_eq!(
            found(&[record("Quillon"), record("Quillon Capital"), record("Quillon Partners")]).0,
            LookUpStatus::Ambiguous
        );
        assert_eq!(found(&[record("Quillon"), record("Brackwater")]), (LookUpStatus::None, vec![]));
        assert_eq!(found(&[record("Quillon")]), (LookUpStatus::None, vec![]));
    }

    #[test]
    fn a_place_or_website_tells_namesakes_apart() {
        let namesakes = [in_country("Quillon", "DE"), in_country("Quillon", "US"), in_country("Quillon", "DE")];
        assert_eq!(found(&namesakes), (LookUpStatus::Match, vec![1]));
        let sites = [
            with_site("Quillon", "https://quillon.example"),
            with_site("Quillon", "brack.example"),
            with_site("Quillon", "www.quillon.example/team"),
        ];
        assert_eq!(found(&sites), (LookUpStatus::Match, vec![1, 0]));
        let owner = [with_site("", "quillon.example"), with_site("Brackwater", "https://quillon.example/")];
        assert_eq!(found(&owner), (LookUpStatus::Match, vec![0]));
    }

    #[test]
    fn a_strong_identifier_decides_and_another_value_of_it_excludes() {
        let (own, other) = ("529900T8BM49AURSDO55", "213800WAVVOPS85N2205");
        let named = [with_lei("Quillon", own), record("Quillon"), with_lei("Brackwater", own)];
        assert_eq!(found(&named), (LookUpStatus::Match, vec![1, 0]));
        let contradicting = [with_lei("Quillon", own), with_lei("Quillon", other)];
        assert_eq!(found(&contradicting), (LookUpStatus::None, vec![0]));
        let weak = Record { identifiers: vec![("crm".to_owned(), "7".to_owned())], ..record("") };
        let carrier = Record { identifiers: weak.identifiers.clone(), ..record("Quillon") };
        assert_eq!(found(&[weak, carrier]).0, LookUpStatus::None);
    }
}
