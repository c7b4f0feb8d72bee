//! Look-up: finds the record of a release that an item with a few known values means.
//! Evidence and scores are those of resolution. An item *matches* the best candidate if the evidence suffices ([`is_match`])
//! and no other candidate comes near. A wrong match is worse than none.

use crate::resolve::evidence::{Veto, compare_values, find_veto, is_match, is_owned, sum_points};
use crate::resolve::name::ParsedName;
use crate::resolve::profile::{Profiles, RecordProfile};
use crate::resolve::record::SourceRecord;
use data::evidence::{Evidence, EvidenceKind};
use data::{LookUpStatus, Table};

/// Points by which a match must lead the second candidate.
const MATCH_MARGIN: i32 = 15;
/// Minimum score of a listed candidate, except for the nearest name and for owners of the domain or identifier.
const MIN_SCORE: i32 = 25;
/// Minimum score of those exceptions.
const MIN_SCORE_OF_BEST: i32 = 3;
const MAX_SCORE: i32 = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredCandidate {
    pub index: usize,
    /// Hundredths, at most [`MAX_SCORE`].
    pub score: i32,
    pub evidence: Vec<Evidence>,
    /// Reason why the candidate cannot be the match, whatever its score.
    pub veto: Option<Veto>,
    is_enough: bool,
}

impl ScoredCandidate {
    /// Points of the evidence above the maximum score.
    pub fn excess(&self) -> i32 {
        sum_points(&self.evidence) - self.score
    }

    /// Sort key: candidates with the same strong identifier first, then the others by score, vetoed ones last.
    pub fn rank(&self) -> (bool, bool, i32, usize) {
        (self.veto.is_some(), !self.decides(), -self.score, self.index)
    }

    fn decides(&self) -> bool {
        self.veto.is_none() && self.evidence.contains(&Evidence::StrongIdentifier)
    }

    fn is_ahead_of(&self, other: &Self) -> bool {
        if self.decides() != other.decides() {
            return self.decides();
        }
        let has_name = |scored: &Self| scored.evidence.contains(&Evidence::SameName);
        let is_nearer = has_name(self) && !has_name(other) && self.score > other.score;
        let is_outdone = is_owned(&other.evidence) && !is_owned(&self.evidence);
        !is_outdone && (is_nearer || self.score - other.score >= MATCH_MARGIN)
    }
}

/// Compares an item, the first of `records`, with its candidates, the others. Set `is_sure` if a search found the
/// candidates by all words of the name. `rows` is the number of names in the release's table, and `count_of` returns the
/// number of those that contain a word. Returns the likely candidates, best first.
pub fn look_up(
    table: Table,
    records: &[SourceRecord],
    is_sure: bool,
    rows: u32,
    count_of: impl Fn(&str) -> u32,
) -> Vec<ScoredCandidate> {
    let profiles = Profiles::for_look_up(table, records, rows, count_of);
    let Some((item, candidates)) = profiles.all.split_first() else { return Vec::new() };
    let agreements: Vec<Option<Evidence>> = candidates.iter().map(|other| best_agreement(item, other)).collect();
    let nearest = only_best(&agreements, |index| includes(&candidates[index], item));
    let has_namesake = candidates.iter().filter(|candidate| has_name(candidate, item.names.first())).count() > 1;
    let scored = candidates.iter().enumerate().map(|(index, candidate)| {
        let mut evidence = compare_values(&profiles, item, candidate);
        let is_same = has_name(candidate, item.names.first());
        // Records that share only distinctive words are no namesakes: `Alder`, `Alder Group`.
        if is_same && !has_namesake {
            evidence.retain(|found| *found != Evidence::Namesakes);
        }
        for found in &mut evidence {
            *found = match *found {
                // The comparison of records ignores `Venture` versus `Ventures`, and other legal forms.
                Evidence::SameName if !is_same => Evidence::FormsOfName,
                // The names differ by a space before a generic word.
                Evidence::MisspelledName | Evidence::NearName if is_same => Evidence::SameName,
                other => other,
            };
        }
        if is_sure && !evidence.iter().any(|found| found.kind() == EvidenceKind::Name) {
            evidence.push(Evidence::SimilarName);
        }
        let veto = find_veto(&profiles, item, candidate);
        let is_enough = is_match(&evidence, item.names.first());
        let score = sum_points(&evidence).min(MAX_SCORE);
        let mut scored = ScoredCandidate { index, score, evidence, veto, is_enough };
        if scored.veto.is_none() && scored.evidence.contains(&Evidence::OtherDomain) && !is_owned(&scored.evidence) {
            scored.veto = Some(Veto::Domains);
        }
        scored
    });
    let is_likely = |scored: &ScoredCandidate| {
        let is_best = nearest == Some(scored.index) || is_owned(&scored.evidence);
        scored.score >= if is_best { MIN_SCORE_OF_BEST } else { MIN_SCORE }
    };
    let mut scored: Vec<ScoredCandidate> = scored.filter(is_likely).collect();
    scored.sort_by_key(ScoredCandidate::rank);
    scored
}

/// Result of a look-up from its candidates, best first.
pub fn status<'s>(scored: impl Iterator<Item = &'s ScoredCandidate>) -> LookUpStatus {
    let mut possible = scored.filter(|scored| scored.veto.is_none());
    let Some(best) = possible.next() else { return LookUpStatus::None };
    let is_match = best.is_enough && possible.all(|other| best.is_ahead_of(other));
    if is_match { LookUpStatus::Match } else { LookUpStatus::Ambiguous }
}

/// True if the candidate has exactly this name, also as an alias.
fn has_name(candidate: &RecordProfile, name: Option<&ParsedName>) -> bool {
    name.is_some_and(|name| candidate.names.iter().any(|known| known.is_identical(name)))
}

fn best_agreement(item: &RecordProfile, candidate: &RecordProfile) -> Option<Evidence> {
    let names = item.names.iter().flat_map(|name| candidate.names.iter().map(move |other| name.agreement(other)));
    names.flatten().min()
}

/// Index of the best agreement, if no other is as good. Names with all words of the item are as good as a misspelling.
fn only_best(agreements: &[Option<Evidence>], includes: impl Fn(usize) -> bool) -> Option<usize> {
    let best = agreements.iter().flatten().min()?;
    let is_misspelled = matches!(best, Evidence::MisspelledName | Evidence::NearName);
    let is_as_good = |index: &usize| agreements[*index].as_ref() == Some(best) || is_misspelled && includes(*index);
    let mut good = (0..agreements.len()).filter(is_as_good);
    let first = good.next()?;
    good.next().is_none().then_some(first)
}

/// True if a name of the candidate contains all distinctive words of the item's name.
fn includes(candidate: &RecordProfile, item: &RecordProfile) -> bool {
    let Some(name) = item.names.first() else { return false };
    candidate.names.iter().any(|other| name.words().all(|word| other.words().any(|known| known == word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Country;

    fn record(name: &str) -> SourceRecord {
        SourceRecord { name: name.to_owned(), ..SourceRecord::new(Table::Firms, String::new(), 0) }
    }

    fn with_lei(name: &str, value: &str) -> SourceRecord {
        SourceRecord { identifiers: vec![("lei".to_owned(), value.to_owned())], ..record(name) }
    }

    fn with_site(name: &str, site: &str) -> SourceRecord {
        SourceRecord { website: Some(site.to_owned()), ..record(name) }
    }

    fn in_country(name: &str, code: &str) -> SourceRecord {
        SourceRecord { country: Country::from_alpha2(code), ..record(name) }
    }

    fn found(records: &[SourceRecord]) -> (LookUpStatus, Vec<usize>) {
        // Every word is rare.
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
        let others = [record("Quillon"), record("Quillon Capital"), record("Quillon"), record("Quillon Partners")];
        assert_eq!((found(&others).0, found(&others).1[0]), (LookUpStatus::Match, 1));
        let two = [record("Quillon Ventures"), record("Quillon Ventures"), record("Quillon Ventures")];
        assert_eq!(found(&two), (LookUpStatus::Ambiguous, vec![0, 1]));
        assert_eq!(
            found(&[record("Quillon"), record("Quillon Capital"), record("Quillon Partners")]).0,
            LookUpStatus::Ambiguous
        );
        assert_eq!(found(&[record("Quillon"), record("Brackwater")]), (LookUpStatus::None, vec![]));
        assert_eq!(found(&[record("Quillon")]), (LookUpStatus::None, vec![]));
    }

    fn status_of(item: &str, candidate: &str) -> LookUpStatus {
        found(&[record(item), record(candidate)]).0
    }

    #[test]
    fn a_name_is_the_same_but_for_case_punctuation_marks_and_legal_form() {
        for (item, candidate) in [
            ("QUILLON ventures", "Quillon Ventures"),
            ("Quillon Ventures, L.L.C.", "Quillon Ventures"),
            ("The Quillon Co. Ltd.", "Quillon Company Limited"),
            ("Quillon-Ventures", "QuillonVentures"),
            ("Quillon Générale", "Quillon Generale"),
            ("Quillon & Sons", "Quillon and Sons"),
            ("Quillon Fund II", "Quillon Fund 2 LP"),
            ("Quillon™", "Quillon"),
            ("凯石投资", "凯石投资"),
            ("C++", "C++ GmbH"),
        ] {
            assert_eq!(status_of(item, candidate), LookUpStatus::Match, "{item}, {candidate}");
        }
        let alias = SourceRecord { aliases: vec!["Quillon".to_owned()], ..record("Brackwater") };
        assert_eq!(found(&[record("quillon"), alias]).0, LookUpStatus::Match);
    }

    #[test]
    fn another_name_is_no_match_by_itself() {
        for (item, candidate) in [
            ("Quilon Ventures", "Quillon Ventures"),
            ("Quillor", "Quillon"),
            ("Quillonn", "Quillon"),
            ("Craft Ventures", "Kraft Group"),
            ("Quillon Venture", "Quillon Ventures"),
            ("Quillon Capital Partners", "Quillon Partners Capital"),
            ("Quillon Capital", "Quillon"),
            ("Quillon Capital", "Quillon Ventures"),
            ("Quillon Inc", "Quillon LLC"),
            ("Quillon.com", "Quillon.co"),
            ("Quillon Intl", "Quillon International"),
            ("Sons Quillon", "Quillon Sons"),
            ("QRS", "Quillon Research Services"),
            ("Quillon", "Quillon Research"),
            ("Квиллон", "Kvillon"),
            ("凯实投资", "凯石投资"),
            ("弘毅投资", "宏益投资"),
            ("经", "精"),
            ("سيف", "صيف"),
            ("An Phát", "Ân Phật"),
            ("C", "C++"),
            ("C#", "C++"),
            ("@Quillon", "Quillon"),
        ] {
            assert_ne!(status_of(item, candidate), LookUpStatus::Match, "{item}, {candidate}");
            assert_ne!(status_of(candidate, item), LookUpStatus::Match, "{candidate}, {item}");
        }
        for name in ["C", "7", "经", "Ventures", "Capital Partners", "The Company", "Holdings Ltd", "Software"] {
            assert_eq!(status_of(name, name), LookUpStatus::Ambiguous, "{name}");
            let own = with_site(name, "quillon.example");
            assert_eq!(found(&[own.clone(), own]).0, LookUpStatus::Match, "{name}");
        }
    }

    #[test]
    fn another_name_is_a_match_by_a_second_agreement() {
        let with = |name: &str, change: &dyn Fn(&mut SourceRecord)| {
            let mut record = record(name);
            change(&mut record);
            record
        };
        let country = |record: &mut SourceRecord| record.country = Country::from_alpha2("DE");
        let city = |record: &mut SourceRecord| {
            country(record);
            record.city = Some("Berlin".to_owned());
        };
        let year = |record: &mut SourceRecord| record.founded_year = Some(2_014);
        let both = |record: &mut SourceRecord| {
            city(record);
            year(record);
        };
        let site = |record: &mut SourceRecord| record.website = Some("https://quillon.example".to_owned());
        let profile =
            |record: &mut SourceRecord| record.website = Some("https://linkedin.com/company/quillon".to_owned());
        let medium =
            |record: &mut SourceRecord| record.identifiers = vec![("crunchbase".to_owned(), "quillon".to_owned())];
        type Change<'a> = &'a dyn Fn(&mut SourceRecord);
        use LookUpStatus::{Ambiguous, Match};
        let cases: [(Change<'_>, LookUpStatus); 7] = [
            (&country, Ambiguous),
            (&city, Ambiguous),
            (&year, Ambiguous),
            (&profile, Ambiguous),
            (&both, Match),
            (&site, Match),
            (&medium, Match),
        ];
        for (number, (change, expected)) in cases.into_iter().enumerate() {
            for item in ["Quilon Ventures", "Quillon Venture", "Quillon"] {
                let records = [with(item, change), with("Quillon Ventures", change)];
                assert_eq!(found(&records).0, expected, "{item}, case {number}");
            }
        }
        // Names without any agreement.
        assert_eq!(
            found(&[with_site("Brackwater", "quillon.example"), with_site("Zyntrix", "quillon.example")]).0,
            Ambiguous
        );
    }

    #[test]
    fn what_contradicts_a_name_is_no_match_and_another_domain_is_a_veto() {
        for (item, candidate, expected) in [
            (in_country("Quillon", "PL"), in_country("Quillon", "US"), LookUpStatus::Ambiguous),
            (with_site("Quillon", "quillon.example"), with_site("Quillon", "quillon.test"), LookUpStatus::Ambiguous),
            (with_site("Quillon", "quillon.example"), with_site("Quillon", "brack.example"), LookUpStatus::None),
            (with_site("Quillor", "quillor.example"), with_site("Quillon", "quillon.example"), LookUpStatus::None),
            (with_site("Quillon", "quillon.example"), with_site("Quillon", "linkedin.com/in/q"), LookUpStatus::Match),
        ] {
            assert_eq!(found(&[item.clone(), candidate]).0, expected, "{item:?}");
        }
        let founded = |year: u16| SourceRecord { founded_year: Some(year), ..record("Quillon") };
        assert_eq!(found(&[founded(2_010), founded(2_011)]).0, LookUpStatus::Match);
        assert_eq!(found(&[founded(2_010), founded(2_014)]).0, LookUpStatus::Ambiguous);
        // The item has the name of one record and the domain of another.
        let sites =
            [with_site("Quillon", "brack.example"), record("Quillon"), with_site("Brackwater", "brack.example")];
        assert_eq!(found(&sites).0, LookUpStatus::Ambiguous);
        // An identifier decides, regardless of the domain.
        let lei =
            |site: &str| SourceRecord { website: Some(site.to_owned()), ..with_lei("Quillon", "529900T8BM49AURSDO55") };
        assert_eq!(found(&[lei("quillon.example"), lei("brack.example")]).0, LookUpStatus::Match);
    }

    #[test]
    fn a_name_of_common_words_needs_a_place() {
        let found = |records: &[SourceRecord]| status(look_up(Table::Firms, records, false, 10_000, |_| 900).iter());
        assert_eq!(found(&[record("Health"), record("Health")]), LookUpStatus::Ambiguous);
        assert_eq!(found(&[in_country("Health", "US"), in_country("Health", "US")]), LookUpStatus::Match);
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
        let weak = SourceRecord { identifiers: vec![("crm".to_owned(), "7".to_owned())], ..record("") };
        let carrier = SourceRecord { identifiers: weak.identifiers.clone(), ..record("Quillon") };
        assert_eq!(found(&[weak, carrier]).0, LookUpStatus::None);
    }
}
