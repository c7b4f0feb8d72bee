//! Evidence for and against two records being one firm, startup or person: findings from the comparison of their values.
//! Resolution and look-ups sum the points of the evidence; near-duplicates ask for certain findings.

use xxhash_rust::xxh3::xxh3_64;

use crate::fold::fold;
use crate::import::website;
use crate::name::OwnName;
use crate::{Country, city};

/// Kind of evidence. Evidence of one kind is not independent.
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

/// Aspect of two records that is compared. A pair has at most one finding of each, except for a city that differs within one
/// country.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aspect {
    Name,
    Alias,
    Rarity,
    Namesakes,
    Identifier,
    Domain,
    Place,
    Year,
    Sectors,
    Links,
    Organization,
    Source,
}

impl Aspect {
    pub const ALL: [Self; 12] = [
        Self::Name,
        Self::Alias,
        Self::Rarity,
        Self::Namesakes,
        Self::Identifier,
        Self::Domain,
        Self::Place,
        Self::Year,
        Self::Sectors,
        Self::Links,
        Self::Organization,
        Self::Source,
    ];

    const fn kind(self) -> EvidenceKind {
        match self {
            Self::Name | Self::Alias | Self::Rarity | Self::Namesakes => EvidenceKind::Name,
            Self::Identifier | Self::Domain => EvidenceKind::Identifier,
            Self::Place => EvidenceKind::Place,
            Self::Year => EvidenceKind::Founding,
            Self::Sectors => EvidenceKind::Sectors,
            Self::Links | Self::Organization => EvidenceKind::Links,
            Self::Source => EvidenceKind::Source,
        }
    }
}

macro_rules! evidence {
    ($($(#[$doc:meta])* $evidence:ident = $name:literal, $aspect:ident, $points:literal;)*) => {
        /// A finding for or against two records being one entity. Those about names are first, the surest agreement first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Evidence { $($(#[$doc])* $evidence),* }

        impl Evidence {
            pub const ALL: [Self; [$(Self::$evidence),*].len()] = [$(Self::$evidence),*];

            const fn row(self) -> (&'static str, Aspect, i32) {
                match self { $(Self::$evidence => ($name, Aspect::$aspect, $points)),* }
            }
        }
    };
}

evidence! {
    /// The same words, except for the legal form and spaces.
    SameName = "same name", Name, 60;
    ReorderedName = "same words in another order", Name, 55;
    /// One name has more generic words: `Alder`, `Alder Partners`.
    SameCore = "same name but for generic words", Name, 46;
    /// `Intl`, `International`; `Bob`, `Robert`.
    FormsOfName = "forms of the same words", Name, 50;
    /// Of people: `A. Alder`, `Ada Alder`.
    GivenInitials = "initials of the given name", Name, 40;
    /// One or two of many letters differ.
    MisspelledName = "name misspelled", Name, 50;
    NearName = "a letter of a short name differs", Name, 26;
    /// Possibly in different scripts, or they differ only in symbols.
    NameSoundsAlike = "names sound alike", Name, 24;
    /// `Alder Capital`, `Alder Ventures`.
    OtherGenericWords = "same core, other generic words", Name, 28;
    /// `Alder`, `Alder Rock`.
    NameBegins = "one name begins with the other", Name, -4;
    Initials = "initials of the other name", Name, 22;
    /// At least one of the two names is an alias.
    ByAlias = "an alias", Alias, -2;
    RareName = "the name is rare", Rarity, 14;
    UsualName = "the name is of usual words", Rarity, -8;
    CommonName = "the name is of common words", Rarity, -16;
    /// A source has several records of the name in the city or country that both records share.
    Namesakes = "a source has several records of the name", Namesakes, -26;
    /// Two sources each have the rare name once, and nothing speaks against it.
    OnlyOne = "each source has the rare name once", Source, 22;
    StrongIdentifier = "same strong identifier", Identifier, 74;
    MediumIdentifier = "same identifier", Identifier, 45;
    WeakIdentifier = "same identifier of an unknown scheme", Identifier, 20;
    SameDomain = "same domain", Domain, 45;
    /// `alder.com` and `alder.io`.
    SameLabel = "same domain but for its ending", Domain, 10;
    OtherDomain = "different domains", Domain, -20;
    SameCity = "same city", Place, 32;
    SameCountry = "same country", Place, 22;
    OtherCity = "different cities", Place, -24;
    OtherCountry = "different countries", Place, -28;
    SameYear = "founded in the same year", Year, 20;
    NearYear = "founded a year apart", Year, 10;
    OtherYear = "founded some years apart", Year, -6;
    DistantYear = "founded many years apart", Year, -16;
    SpecificSector = "a sector in common that few others have", Sectors, 20;
    CommonSector = "a usual sector in common", Sectors, 10;
    OtherSectors = "different sectors", Sectors, -4;
    RareLinks = "rounds, investors or people in common that few others have", Links, 44;
    Link = "rounds, investors or people in common", Links, 20;
    SameOrganization = "same organization", Organization, 56;
    OtherOrganization = "different organizations", Organization, -10;
    OneSource = "separate records of one source", Source, -14;
    /// A source without ids of its own renamed a record: the same domain, and one came after the other was gone.
    Successor = "renamed by its source", Source, 120;
    /// Several letters differ, or a look-up finds the name by its words only.
    SimilarName = "similar name", Name, 26;
}

impl Evidence {
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    pub const fn aspect(self) -> Aspect {
        self.row().1
    }

    pub const fn kind(self) -> EvidenceKind {
        self.aspect().kind()
    }

    /// Usual points: of a look-up, and of resolution unless it learns others from the records. Six double the odds.
    pub const fn points(self) -> i32 {
        self.row().2
    }
}

/// Values of a record that are compared with those of another as they are, texts by their hashes.
#[derive(Clone, Copy, Debug)]
pub struct RecordTraits {
    pub domain: Option<Domain>,
    pub country: Option<Country>,
    pub city: Option<u64>,
    pub founded_year: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    pub hash: u64,
    /// Hash of the first label: `alder` in `alder.com` and `alder.io`.
    pub label: u64,
}

impl RecordTraits {
    pub fn new(website: Option<&str>, country: Option<Country>, city: Option<&str>, founded_year: Option<u16>) -> Self {
        let domain = website.and_then(own_domain).map(|domain| {
            let label = domain.split('.').next().unwrap_or_default();
            Domain { hash: xxh3_64(domain.as_bytes()), label: xxh3_64(label.as_bytes()) }
        });
        Self { domain, country, city: city.and_then(city_hash), founded_year }
    }

    /// Adds the evidence of domains, places and years. Symmetric.
    pub fn compare(&self, other: &Self, found: &mut Vec<Evidence>) {
        if let (Some(own), Some(other)) = (self.domain, other.domain) {
            found.push(match (own.hash == other.hash, own.label == other.label) {
                (true, _) => Evidence::SameDomain,
                (false, true) => Evidence::SameLabel,
                (false, false) => Evidence::OtherDomain,
            });
        }
        let country = self.country.zip(other.country).map(|(own, other)| own == other);
        let city = self.city.zip(other.city).map(|(own, other)| own == other);
        match (country, city) {
            (Some(false), _) => found.push(Evidence::OtherCountry),
            (_, Some(true)) => found.push(Evidence::SameCity),
            (Some(true), city) => {
                found.push(Evidence::SameCountry);
                found.extend(city.map(|_| Evidence::OtherCity));
            }
            (None, Some(false)) => found.push(Evidence::OtherCity),
            (None, None) => {}
        }
        if let (Some(own), Some(other)) = (self.founded_year, other.founded_year) {
            found.push(match own.abs_diff(other) {
                0 => Evidence::SameYear,
                1 => Evidence::NearYear,
                2..=5 => Evidence::OtherYear,
                _ => Evidence::DistantYear,
            });
        }
    }
}

/// Domain of a web address that belongs to the organization; `None` for a profile on a platform.
pub fn own_domain(address: &str) -> Option<String> {
    let host = website::host(address);
    let own = OwnName::parse(&host);
    (own.domain.contains('.') && !own.is_of_profiles()).then(|| own.domain.to_owned())
}

/// Hash that is equal for all names of a city, with or without its country or state: `Bengaluru`, `Bangalore, India`.
fn city_hash(city: &str) -> Option<u64> {
    let name = fold(city.split(',').next().unwrap_or(city));
    let first = city::names_of(&name).first().copied().unwrap_or(&name);
    (!first.is_empty()).then(|| xxh3_64(first.as_bytes()))
}
