//! Weighs the evidence for and against two records being one entity: its points sum to a score; a veto overrides the score.
//! Evidence of one kind is not independent, so a merge needs at least two kinds.

use std::collections::BTreeSet;

use crate::resolve::name::ParsedName;
use crate::resolve::profile::{NamesakeScope, Profiles, RecordProfile};
use crate::resolve::weights::Findings;
use data::Table;
use data::evidence::{Evidence as E, Evidence, EvidenceKind};
use data::identifier::Strength;

/// Founding years that differ by this many years or more are a veto.
const MAX_YEARS_APART: u16 = 15;

/// A link is rare if at most this many names have it.
const RARE_LINK: u32 = 4;

/// Shortest name that counts as unique. A shorter one may be rare and still be given twice.
const MIN_LETTERS_OF_ONE: usize = 4;

/// Bounds of [`Profiles::expected_namesakes`]: names up to `RARE` are rare, above `USUAL` usual, above `COMMON` common.
const RARE: f64 = 3.0;
const USUAL: f64 = 10.0;
const COMMON: f64 = 40.0;

/// Reason why two records cannot be one, whatever else they have in common.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Veto {
    /// The scheme is strong.
    #[error("different values of `{0}`")]
    Identifiers(String),
    #[error("fund {0} and fund {1}")]
    FundNumbers(u16, u16),
    /// The other is a firm or operating company.
    #[error("one is a pooled vehicle")]
    Vehicle,
    #[error("founded in {0} and {1}")]
    Founded(u16, u16),
    /// Look-ups only: each record has its own domain.
    #[error("different domains")]
    Domains,
}

/// True if the evidence suffices for a merge, whatever its score: two kinds, and more than a part of the name agrees. A
/// subsidiary has the city, domain and people of its parent, and its name begins with the parent's. A corporation's fund
/// has the same core name, and sources list both. If one source has two names that differ in a letter, they are two; if it
/// has one name twice, or if each record has a website of its own, more than the name and the country must agree. A name
/// that is not quite the same suffices only if nothing differs, the same name if at most one thing does.
pub(super) fn is_sufficient(findings: Findings) -> bool {
    let has = |one: Evidence| findings.has(one);
    let has_any = |list: &[Evidence]| list.iter().any(|one| has(*one));
    let has_more = has_any(&[E::SameDomain, E::MediumIdentifier, E::RareLinks]);
    let is_near = has_more || has_any(&[E::SameCity, E::SameYear, E::Link, E::SameOrganization]);
    let is_long = has(E::MisspelledName) && !has_any(&[E::OtherCity, E::OtherCountry]);
    let differing = findings.iter().filter(|found| DIFFERING.contains(found)).count();
    let is_consistent = match has(E::SameName) {
        _ if has_more || has_any(&[E::StrongIdentifier, E::SameOrganization]) => true,
        true => differing <= 1,
        false => differing == 0,
    };
    let is_proved = has_more || has_any(&[E::StrongIdentifier, E::SameOrganization]);
    let is_elsewhere = has(E::OtherDomain) && !is_proved;
    let is_doubtful = has_any(&[E::OneSource, E::Namesakes]) && !(has(E::SameCity) && has(E::SameYear));
    // Cities have many firms whose short names differ in a letter.
    let has_near_name = has(E::NearName)
        && (has_more || has(E::SameOrganization) || has(E::SameCity) && has_any(&[E::SameYear, E::SpecificSector]));
    let is_misspelled = is_long || is_near && has(E::MisspelledName) || has_near_name;
    let has_spelling = !has(E::OneSource) && !is_elsewhere && is_misspelled;
    let has_name = has_any(&[E::SameName, E::ReorderedName, E::FormsOfName]) || has_spelling;
    let has_initials = has(E::GivenInitials) && has(E::SameOrganization) && !has(E::Namesakes);
    let has_core = has(E::SameCore) && !has(E::Namesakes);
    // The country is part of a name without other evidence.
    let is_abroad = has(E::OtherCountry) && !has_any(&[E::SameDomain, E::MediumIdentifier, E::StrongIdentifier]);
    let supporting = findings.iter().filter(|evidence| evidence.points() > 0);
    let kinds: BTreeSet<EvidenceKind> = supporting.map(|evidence| evidence.kind()).collect();
    has(E::Successor)
        || !is_abroad
            && is_consistent
            && (is_proved || !is_doubtful)
            && (is_near || !is_elsewhere)
            && kinds.len() >= 2
            && (has_name || has_initials || has_core && has_more || has(E::StrongIdentifier))
}

/// Findings of values that differ.
const DIFFERING: [Evidence; 7] = [
    E::OtherDomain,
    E::OtherCity,
    E::OtherCountry,
    E::OtherYear,
    E::DistantYear,
    E::OtherSectors,
    E::OtherOrganization,
];

/// True if a person need not look at a pair, however likely it is: a source that has both says that they are two, or their
/// names and their countries differ.
pub(super) fn is_settled(findings: Findings) -> bool {
    let has_any = |list: &[Evidence]| list.iter().any(|one| findings.has(*one));
    let is_proved = has_any(&[E::StrongIdentifier, E::MediumIdentifier, E::RareLinks, E::SameOrganization]);
    let is_apart = has_any(&[E::OtherCountry, E::OtherOrganization]);
    let is_close = has_any(&[E::SameName, E::MisspelledName]);
    let is_owned = findings.has(E::SameDomain) && !findings.has(E::NameBegins);
    !is_proved
        && !is_owned
        && match findings.has(E::OneSource) {
            true => is_apart || !is_close,
            false => is_apart && !findings.has(E::SameName),
        }
}

/// True if the evidence suffices for a look-up match, provided that no other record comes near. The lack of a rival is no
/// evidence: the intended record may be missing from the data. A name that differs even slightly needs a second,
/// independent agreement: an identifier, a domain, city and year together, or a person's organization. The same name
/// suffices by itself if it is distinctive and nothing contradicts it. `name` is the item's name, if it has one.
pub(super) fn is_match(evidence: &[Evidence], name: Option<&ParsedName>) -> bool {
    let has = |one: Evidence| evidence.contains(&one);
    let has_any = |list: &[Evidence]| list.iter().any(|one| has(*one));
    let is_alike = has_any(&[
        E::SameName,
        E::ReorderedName,
        E::FormsOfName,
        E::MisspelledName,
        E::SameCore,
        E::NearName,
        E::NameSoundsAlike,
        E::OtherGenericWords,
        E::Initials,
    ]);
    let is_contradicted =
        has_any(&[E::SameLabel, E::OtherCity, E::OtherCountry, E::OtherYear, E::DistantYear, E::OtherOrganization]);
    let is_located = has_any(&[E::SameCity, E::SameCountry, E::SameYear, E::SameOrganization]);
    let has_second = is_owned(evidence) || has(E::SameCity) && has(E::SameYear) || has(E::SameOrganization);
    let is_named = has(E::SameName) && name.is_some_and(|name| name.is_telling) && !is_contradicted;
    has(E::StrongIdentifier)
        || is_owned(evidence) && name.is_none()
        || has_second && is_alike
        || is_named && (is_located || !has(E::CommonName))
}

/// True if both share an identifier or domain that few records have.
pub(super) fn is_owned(evidence: &[Evidence]) -> bool {
    evidence.iter().any(|found| matches!(found, E::StrongIdentifier | E::MediumIdentifier | E::SameDomain))
}

pub(super) fn find_veto(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile) -> Option<Veto> {
    if let Some(scheme) = contradicting_scheme(profiles, left, right) {
        return Some(Veto::Identifiers(scheme.to_owned()));
    }
    match [left, right].map(|profile| profile.vehicle().map(|vehicle| vehicle.number.unwrap_or(1))) {
        [Some(left), Some(right)] if left != right => return Some(Veto::FundNumbers(left, right)),
        [Some(_), None] | [None, Some(_)] => return Some(Veto::Vehicle),
        _ => {}
    }
    let (left, right) = left.traits.founded_year.zip(right.traits.founded_year)?;
    (left.abs_diff(right) >= MAX_YEARS_APART).then_some(Veto::Founded(left, right))
}

/// Finds a strong scheme for which both have values, but none in common.
fn contradicting_scheme<'a>(profiles: &'a Profiles, left: &RecordProfile, right: &RecordProfile) -> Option<&'a str> {
    let mut blocks = left.identifiers.chunk_by(|left, right| left.scheme == right.scheme);
    blocks.find_map(|own| {
        let (name, strength) = &profiles.schemes[usize::from(own[0].scheme)];
        let mut others = right.identifiers.iter().filter(|other| other.scheme == own[0].scheme).peekable();
        let differ = others.peek().is_some() && others.all(|other| own.binary_search(other).is_err());
        (*strength == Strength::Strong && differ).then_some(name.as_str())
    })
}

/// Compares two records of one table. Symmetric in its arguments.
pub(super) fn compare(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile) -> Vec<Evidence> {
    let mut evidence = compare_values(profiles, left, right);
    if left.source == right.source {
        let is_renamed = profiles.is_succeeded(left, right) && !evidence.contains(&E::OtherCountry);
        evidence.push(if is_renamed { E::Successor } else { E::OneSource });
    } else if profiles.is_large() && may_be_only_one(left, right) && is_only_one(&evidence) {
        evidence.push(E::OnlyOne);
    }
    evidence
}

pub(super) fn sum_points(evidence: &[Evidence]) -> i32 {
    evidence.iter().map(|evidence| evidence.points()).sum()
}

/// Evidence from the values of two records, regardless of their sources. Symmetric in its arguments.
pub(super) fn compare_values(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile) -> Vec<Evidence> {
    let mut evidence = Vec::with_capacity(8);
    compare_names(profiles, left, right, &mut evidence);
    evidence.extend(compare_identifiers(profiles, left, right));
    left.traits.compare(&right.traits, &mut evidence);
    compare_sectors(profiles, left, right, &mut evidence);
    compare_links(profiles, left, right, &mut evidence);
    evidence
}

/// True if the names are long enough not to be given twice by chance. A location of only one may be that of a namesake.
fn may_be_only_one(left: &RecordProfile, right: &RecordProfile) -> bool {
    let is_long = |profile: &RecordProfile| profile.names.iter().all(|name| name.joined.len() >= MIN_LETTERS_OF_ONE);
    let has_place = |profile: &RecordProfile| profile.traits.country.is_some() || profile.traits.city.is_some();
    is_long(left) && is_long(right) && has_place(left) == has_place(right)
}

/// True if the rare names are equal and nothing speaks against a merge.
fn is_only_one(evidence: &[Evidence]) -> bool {
    let is_harmless = |found: &Evidence| found.points() > 0 || matches!(found, E::ByAlias | E::OtherSectors);
    evidence.iter().all(is_harmless) && evidence.contains(&E::SameName) && evidence.contains(&E::RareName)
}

fn compare_names(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile, found: &mut Vec<Evidence>) {
    let mut best: Option<(Evidence, bool, &ParsedName, &ParsedName)> = None;
    for (at, name) in left.names.iter().enumerate() {
        for (other_at, other) in right.names.iter().enumerate() {
            let Some(agreement) = name.agreement(other) else { continue };
            let by_alias = at > 0 || other_at > 0;
            if best.is_none_or(|(known, known_alias, ..)| (agreement, by_alias) < (known, known_alias)) {
                best = Some((agreement, by_alias, name, other));
            }
        }
    }
    let Some((agreement, by_alias, name, other)) = best else { return };
    found.push(agreement);
    if by_alias {
        found.push(E::ByAlias);
    }
    // Nobody else has a misspelled word; the other name tells how common the name is.
    let expected = profiles.expected_namesakes(name).max(profiles.expected_namesakes(other));
    if expected <= RARE && agreement < E::NameSoundsAlike {
        found.push(E::RareName);
    } else if expected > COMMON {
        found.push(E::CommonName);
    } else if expected > USUAL {
        found.push(E::UsualName);
    }
    let city = left.traits.city.filter(|city| right.traits.city == Some(*city)).map(NamesakeScope::City);
    let country = left.traits.country.filter(|country| right.traits.country == Some(*country));
    let scope = city.or(country.map(NamesakeScope::Country)).unwrap_or(NamesakeScope::Any);
    let has_namesakes = match agreement {
        E::GivenInitials => profiles.has_colleagues(left) || profiles.has_colleagues(right),
        _ => profiles.has_namesakes(name, scope) || profiles.has_namesakes(other, scope),
    };
    if has_namesakes {
        found.push(E::Namesakes);
    }
}

fn compare_identifiers(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile) -> Option<Evidence> {
    let common = left.identifiers.iter().filter(|identifier| right.identifiers.binary_search(identifier).is_ok());
    let strongest = common.map(|common| profiles.schemes[usize::from(common.scheme)].1).min()?;
    Some(match strongest {
        Strength::Strong => E::StrongIdentifier,
        Strength::Medium => E::MediumIdentifier,
        Strength::Weak => E::WeakIdentifier,
    })
}

fn compare_sectors(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile, found: &mut Vec<Evidence>) {
    if left.sectors.is_empty() || right.sectors.is_empty() {
        return;
    }
    let mut common = left.sectors.iter().filter(|sector| right.sectors.binary_search(sector).is_ok());
    let specific = common.clone().any(|sector| profiles.is_specific(*sector));
    found.push(match common.next() {
        None => E::OtherSectors,
        Some(_) if specific => E::SpecificSector,
        Some(_) => E::CommonSector,
    });
}

fn compare_links(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile, found: &mut Vec<Evidence>) {
    let common = left.links.iter().filter(|link| right.links.binary_search(link).is_ok());
    let rarest = common.map(|link| profiles.link_names.get(link).copied().unwrap_or(0)).min();
    found.extend(match (profiles.table, rarest) {
        (Table::People, Some(_)) => Some(E::SameOrganization),
        (Table::People, None) if !left.links.is_empty() && !right.links.is_empty() => Some(E::OtherOrganization),
        (_, Some(names)) if names <= RARE_LINK => Some(E::RareLinks),
        (_, rarest) => rarest.map(|_| E::Link),
    });
}
