//! Evidence for and against two records being one entity. Each piece has points, which sum to a score; a veto overrides the
//! score.
//!
//! Points are hundredths. Evidence of one kind is not independent, so a merge needs at least two kinds.

use std::fmt;

use crate::resolve::name::{Agreement, ParsedName};
use crate::resolve::profile::{NamesakeScope, Profiles, RecordLink, RecordProfile};
use data::Table;
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

/// Kind of evidence. Each kind counts once towards the two that a merge needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EvidenceKind {
    Name,
    Identifier,
    Place,
    Founding,
    Sectors,
    Links,
    Source,
}

/// A finding for or against two records being one entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    SameName,
    ReorderedName,
    FormsOfName,
    MisspelledName,
    SameCore,
    NearName,
    NameSoundsAlike,
    OtherGenericWords,
    NameBegins,
    Initials,
    /// At least one of the two names is an alias.
    ByAlias,
    RareName,
    UsualName,
    CommonName,
    /// A source has several records of the name in the city or country that both records share.
    Namesakes,
    /// Two sources each have the rare name once, and nothing speaks against it.
    OnlyOne,
    StrongIdentifier,
    MediumIdentifier,
    WeakIdentifier,
    SameDomain,
    /// `alder.com` and `alder.io`.
    SameLabel,
    OtherDomain,
    SameCity,
    SameCountry,
    OtherCity,
    OtherCountry,
    SameYear,
    NearYear,
    OtherYear,
    DistantYear,
    SpecificSector,
    CommonSector,
    OtherSectors,
    RareLinks,
    Link,
    SameOrganization,
    OtherOrganization,
    OneSource,
    /// Look-ups only: the text index finds the name, but no rule of name agreement applies.
    SimilarName,
}

use Evidence as E;
use EvidenceKind as K;

impl Evidence {
    /// Name, kind and points.
    const fn row(self) -> (&'static str, K, i32) {
        match self {
            E::SameName => ("same name", K::Name, 60),
            E::ReorderedName => ("same words in another order", K::Name, 55),
            E::FormsOfName => ("forms of the same words", K::Name, 50),
            E::MisspelledName => ("name misspelled", K::Name, 50),
            E::SameCore => ("same name but for generic words", K::Name, 46),
            E::NearName => ("a letter of a short name differs", K::Name, 26),
            E::NameSoundsAlike => ("names sound alike", K::Name, 24),
            E::OtherGenericWords => ("same core, other generic words", K::Name, 28),
            E::NameBegins => ("one name begins with the other", K::Name, -4),
            E::Initials => ("initials of the other name", K::Name, 22),
            E::ByAlias => ("an alias", K::Name, -2),
            E::RareName => ("the name is rare", K::Name, 14),
            E::UsualName => ("the name is of usual words", K::Name, -8),
            E::CommonName => ("the name is of common words", K::Name, -16),
            E::Namesakes => ("a source has several records of the name", K::Name, -26),
            E::OnlyOne => ("each source has the rare name once", K::Source, 22),
            E::StrongIdentifier => ("same strong identifier", K::Identifier, 74),
            E::MediumIdentifier => ("same identifier", K::Identifier, 45),
            E::WeakIdentifier => ("same identifier of an unknown scheme", K::Identifier, 20),
            E::SameDomain => ("same domain", K::Identifier, 45),
            E::SameLabel => ("same domain but for its ending", K::Identifier, 10),
            E::OtherDomain => ("different domains", K::Identifier, -20),
            E::SameCity => ("same city", K::Place, 32),
            E::SameCountry => ("same country", K::Place, 22),
            E::OtherCity => ("different cities", K::Place, -24),
            E::OtherCountry => ("different countries", K::Place, -28),
            E::SameYear => ("founded in the same year", K::Founding, 20),
            E::NearYear => ("founded a year apart", K::Founding, 10),
            E::OtherYear => ("founded some years apart", K::Founding, -6),
            E::DistantYear => ("founded many years apart", K::Founding, -16),
            E::SpecificSector => ("a sector in common that few others have", K::Sectors, 20),
            E::CommonSector => ("a usual sector in common", K::Sectors, 10),
            E::OtherSectors => ("different sectors", K::Sectors, -4),
            E::RareLinks => ("rounds, investors or people in common that few others have", K::Links, 44),
            E::Link => ("rounds, investors or people in common", K::Links, 20),
            E::SameOrganization => ("same organization", K::Links, 56),
            E::OtherOrganization => ("different organizations", K::Links, -10),
            E::OneSource => ("separate records of one source", K::Source, -14),
            E::SimilarName => ("similar name", K::Name, 26),
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    #[must_use]
    pub const fn kind(self) -> EvidenceKind {
        self.row().1
    }

    /// Hundredths.
    #[must_use]
    pub const fn points(self) -> i32 {
        self.row().2
    }
}

/// Reason why two records cannot be one, whatever else they have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Veto {
    /// Different values of one strong identifier scheme.
    Identifiers {
        scheme: String,
    },
    /// `Fund II`, `Fund III`.
    FundNumbers(u16, u16),
    /// A pooled vehicle and a firm or operating company.
    Vehicle,
    Founded(u16, u16),
    /// Look-ups only: each record has its own domain.
    Domains,
}

impl fmt::Display for Veto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identifiers { scheme } => write!(f, "different values of `{scheme}`"),
            Self::FundNumbers(left, right) => write!(f, "fund {left} and fund {right}"),
            Self::Vehicle => write!(f, "one is a pooled vehicle"),
            Self::Founded(left, right) => write!(f, "founded in {left} and {right}"),
            Self::Domains => write!(f, "different domains"),
        }
    }
}

/// Evidence of two records with its score.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PairComparison {
    pub evidence: Vec<Evidence>,
    /// Hundredths, from 0 to 100.
    pub score: i32,
}

/// True if the evidence suffices for a merge, whatever its score: two kinds, and more than a part of the name agrees. A
/// subsidiary has the city, domain and people of its parent, and its name begins with the parent's. A corporation's fund
/// has the same core name, and sources list both. If one source has two names that differ in a letter, they are two.
pub(super) fn is_sufficient(evidence: &[Evidence]) -> bool {
    let has = |one: Evidence| evidence.contains(&one);
    let has_any = |list: &[Evidence]| list.iter().any(|one| has(*one));
    let has_spelling = has_any(&[E::MisspelledName, E::NearName]) && !has(E::OneSource);
    let has_name = has_any(&[E::SameName, E::ReorderedName, E::FormsOfName]) || has_spelling;
    let has_core = has(E::SameCore) && !has(E::Namesakes);
    let has_more = has_any(&[E::SameDomain, E::MediumIdentifier, E::RareLinks]);
    count_kinds(evidence) >= 2 && (has_name || has_core && has_more || has(E::StrongIdentifier))
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

/// Number of kinds of evidence with positive points.
fn count_kinds(evidence: &[Evidence]) -> usize {
    let mut kinds: Vec<EvidenceKind> =
        evidence.iter().filter(|evidence| evidence.points() > 0).map(|evidence| evidence.kind()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.len()
}

/// Finds a reason why two records cannot be one.
pub(super) fn find_veto(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile) -> Option<Veto> {
    if let Some(scheme) = contradicting_scheme(profiles, left, right) {
        return Some(Veto::Identifiers { scheme: profiles.schemes[usize::from(scheme)].0.clone() });
    }
    match (left.vehicle(), right.vehicle()) {
        (Some(left), Some(right)) if left.number.unwrap_or(1) != right.number.unwrap_or(1) => {
            return Some(Veto::FundNumbers(left.number.unwrap_or(1), right.number.unwrap_or(1)));
        }
        (Some(_), None) | (None, Some(_)) => return Some(Veto::Vehicle),
        _ => {}
    }
    match (left.founded_year, right.founded_year) {
        (Some(left), Some(right)) if left.abs_diff(right) >= MAX_YEARS_APART => Some(Veto::Founded(left, right)),
        _ => None,
    }
}

/// Finds a strong scheme for which both have values, but none in common.
fn contradicting_scheme(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile) -> Option<u16> {
    let is_strong = |scheme: u16| profiles.schemes[usize::from(scheme)].1 == Strength::Strong;
    let mut blocks = left.identifiers.chunk_by(|left, right| left.scheme == right.scheme);
    blocks.find_map(|own| {
        let scheme = own[0].scheme;
        let mut others = right.identifiers.iter().filter(|other| other.scheme == scheme).peekable();
        (is_strong(scheme) && others.peek().is_some() && others.all(|other| own.binary_search(other).is_err()))
            .then_some(scheme)
    })
}

/// Compares two records of one table. Symmetric in its arguments.
pub(super) fn compare(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile) -> PairComparison {
    let mut evidence = compare_values(profiles, left, right);
    if left.source == right.source {
        evidence.push(E::OneSource);
    } else if profiles.is_large() && may_be_only_one(left, right) && is_only_one(&evidence) {
        evidence.push(E::OnlyOne);
    }
    let sum: i32 = evidence.iter().map(|evidence| evidence.points()).sum();
    PairComparison { evidence, score: sum.clamp(0, 100) }
}

/// Evidence from the values of two records, regardless of their sources. Symmetric in its arguments.
pub(super) fn compare_values(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile) -> Vec<Evidence> {
    let mut evidence = Vec::with_capacity(8);
    compare_names(profiles, left, right, &mut evidence);
    compare_identifiers(profiles, left, right, &mut evidence);
    compare_places(left, right, &mut evidence);
    if let (Some(left), Some(right)) = (left.founded_year, right.founded_year) {
        evidence.push(match left.abs_diff(right) {
            0 => E::SameYear,
            1 => E::NearYear,
            2..=5 => E::OtherYear,
            _ => E::DistantYear,
        });
    }
    compare_sectors(profiles, left, right, &mut evidence);
    compare_links(profiles, left, right, &mut evidence);
    evidence
}

/// True if the names are long enough not to be given twice by chance, and both or neither have a location. A location of
/// only one of them may be that of a namesake.
fn may_be_only_one(left: &RecordProfile, right: &RecordProfile) -> bool {
    let is_long = |profile: &RecordProfile| profile.names.iter().all(|name| name.joined.len() >= MIN_LETTERS_OF_ONE);
    let has_place = |profile: &RecordProfile| profile.country.is_some() || profile.city.is_some();
    is_long(left) && is_long(right) && has_place(left) == has_place(right)
}

/// True if the rare names are equal and nothing speaks against a merge.
fn is_only_one(evidence: &[Evidence]) -> bool {
    let is_harmless = |found: &Evidence| found.points() > 0 || matches!(found, E::ByAlias | E::OtherSectors);
    evidence.iter().all(is_harmless) && evidence.contains(&E::SameName) && evidence.contains(&E::RareName)
}

fn compare_names(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile, found: &mut Vec<Evidence>) {
    let mut best: Option<(Agreement, bool, &ParsedName, &ParsedName)> = None;
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
    found.push(match agreement {
        Agreement::Same => E::SameName,
        Agreement::Reordered => E::ReorderedName,
        Agreement::Core => E::SameCore,
        Agreement::Forms => E::FormsOfName,
        Agreement::Misspelled => E::MisspelledName,
        Agreement::Near => E::NearName,
        Agreement::Sound => E::NameSoundsAlike,
        Agreement::OtherGeneric => E::OtherGenericWords,
        Agreement::Begins => E::NameBegins,
        Agreement::Initials => E::Initials,
    });
    if by_alias {
        found.push(E::ByAlias);
    }
    // Nobody else has a misspelled word; the other name tells how common the name is.
    let expected = profiles.expected_namesakes(name).max(profiles.expected_namesakes(other));
    if expected <= RARE && agreement < Agreement::Sound {
        found.push(E::RareName);
    } else if expected > COMMON {
        found.push(E::CommonName);
    } else if expected > USUAL {
        found.push(E::UsualName);
    }
    let scope = match (left.city, right.city, left.country, right.country) {
        (Some(city), Some(other), ..) if city == other => NamesakeScope::City(city),
        (_, _, Some(country), Some(other)) if country == other => NamesakeScope::Country(country),
        _ => NamesakeScope::Any,
    };
    if profiles.has_namesakes(name, scope) || profiles.has_namesakes(other, scope) {
        found.push(E::Namesakes);
    }
}

fn compare_identifiers(profiles: &Profiles, left: &RecordProfile, right: &RecordProfile, found: &mut Vec<Evidence>) {
    let common = left.identifiers.iter().filter(|identifier| right.identifiers.binary_search(identifier).is_ok());
    let strength = common.map(|common| profiles.schemes[usize::from(common.scheme)].1).min_by_key(|s| match s {
        Strength::Strong => 0,
        Strength::Medium => 1,
        Strength::Weak => 2,
    });
    match strength {
        Some(Strength::Strong) => found.push(E::StrongIdentifier),
        Some(Strength::Medium) => found.push(E::MediumIdentifier),
        Some(Strength::Weak) => found.push(E::WeakIdentifier),
        None => {}
    }
    if let (Some(left), Some(right)) = (left.domain, right.domain) {
        found.push(match (left.hash == right.hash, left.label == right.label) {
            (true, _) => E::SameDomain,
            (false, true) => E::SameLabel,
            (false, false) => E::OtherDomain,
        });
    }
}

fn compare_places(left: &RecordProfile, right: &RecordProfile, found: &mut Vec<Evidence>) {
    let country = left.country.zip(right.country).map(|(left, right)| left == right);
    let city = left.city.zip(right.city).map(|(left, right)| left == right);
    match (country, city) {
        (Some(false), _) => found.push(E::OtherCountry),
        (_, Some(true)) => found.push(E::SameCity),
        (Some(true), city) => {
            found.push(E::SameCountry);
            found.extend(city.map(|_| E::OtherCity));
        }
        (None, Some(false)) => found.push(E::OtherCity),
        (None, None) => {}
    }
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
    let common = |link: &&RecordLink| right.links.binary_search_by_key(&link.hash, |other| other.hash).is_ok();
    let rarest = left.links.iter().filter(common).map(|link| link.names).min();
    if profiles.table == Table::People {
        match rarest {
            Some(_) => found.push(E::SameOrganization),
            None if !left.links.is_empty() && !right.links.is_empty() => found.push(E::OtherOrganization),
            None => {}
        }
        return;
    }
    match rarest {
        Some(names) if names <= RARE_LINK => found.push(E::RareLinks),
        Some(_) => found.push(E::Link),
        None => {}
    }
}
