//! The closed vocabularies of the data: stages, kinds and states.
//!
//! Values are read leniently (any letter case; space, `_` and `-` are equivalent) and written in canonical form.

use crate::Country;
use crate::derive::score::{DIMENSIONS, GHOSTING};
use crate::identifier::Strength;

/// A closed vocabulary: an enum whose values have canonical names.
pub trait Vocabulary: Copy + Sized + 'static {
    const ALL: &'static [Self];

    /// Its name in messages, such as `stage`.
    const NOUN: &'static str;

    /// The canonical name, such as `series-a`.
    fn name(self) -> &'static str;

    fn index(self) -> usize;

    /// Further accepted spellings, in normal form (lowercase, `-` between words).
    fn synonym(_text: &str) -> Option<Self> {
        None
    }

    /// True if an accepted spelling, in normal form, means less than the value: Series E less than `series-d-plus`.
    fn is_narrower(_text: &str) -> bool {
        false
    }

    fn read(text: &str) -> Option<Self> {
        let normal = normal(text);
        Self::ALL.iter().copied().find(|value| value.name() == normal).or_else(|| Self::synonym(&normal))
    }

    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|value| value.name()).collect()
    }

    fn at(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }
}

/// The values of a vocabulary, by the name in a record's field.
pub fn values_of(name: &str) -> Option<Vec<&'static str>> {
    Some(match name {
        "Stage" => Stage::names(),
        "Country" => Country::all().map(Country::alpha2).collect(),
        "FirmKind" => FirmKind::names(),
        "StartupStatus" => StartupStatus::names(),
        "OrganizationKind" => OrganizationKind::names(),
        "CountrySource" => CountrySource::names(),
        "ReviewStatus" => ReviewStatus::names(),
        "ReviewerRole" => ReviewerRole::names(),
        "ReviewProof" => ReviewProof::names(),
        "HoldReason" => HoldReason::names(),
        "ScoreStatus" => vec!["published", "insufficient_reviews"],
        "ScoreComponentName" => DIMENSIONS.iter().chain([&GHOSTING]).map(|(name, _)| *name).collect(),
        "IdentifierStrength" => Strength::names(),
        _ => return None,
    })
}

pub fn word(name: &str) -> String {
    match name {
        "vc" => "Venture capital".to_owned(),
        "ipo" => "IPO".to_owned(),
        "pre-seed" => "Pre-seed".to_owned(),
        "series-d-plus" => "Series D+".to_owned(),
        _ => match name.strip_prefix("series-") {
            Some(letter) => format!("Series {}", letter.to_uppercase()),
            None => capitalized(&name.replace(['-', '_'], " ")),
        },
    }
}

pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Texts as a list in a sentence: `a, b and c`.
pub fn enumerated(texts: &[String]) -> String {
    match texts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Lowercase, with one `-` for each run of spaces, `_` and `-`.
pub fn normal(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for char in text.trim().chars() {
        if matches!(char, ' ' | '_' | '-' | '\u{a0}') {
            if !normal.ends_with('-') {
                normal.push('-');
            }
        } else {
            normal.extend(char.to_lowercase());
        }
    }
    normal
}

/// A noun with its article: `a stage`, `an organization kind`.
pub fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

#[macro_export]
macro_rules! vocabulary {
    ($(#[$doc:meta])* $type:ident, $noun:literal, { $($(#[$value_doc:meta])* $value:ident = $name:literal),+ $(,)? } $(, $synonym:expr $(, $is_narrower:expr)?)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $type { $($(#[$value_doc])* $value),+ }

        impl Vocabulary for $type {
            const ALL: &'static [Self] = &[$(Self::$value),+];
            const NOUN: &'static str = $noun;

            fn name(self) -> &'static str {
                match self { $(Self::$value => $name),+ }
            }

            fn index(self) -> usize {
                self as usize
            }

            $(
                fn synonym(text: &str) -> Option<Self> {
                    ($synonym)(text)
                }

                $(fn is_narrower(text: &str) -> bool {
                    ($is_narrower)(text)
                })?
            )?
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub use vocabulary;

vocabulary! {
    /// The stage of a funding round, of a startup, or of a firm's investments.
    Stage, "stage", {
        /// Before a seed round; angel rounds count here.
        PreSeed = "pre-seed",
        Seed = "seed",
        SeriesA = "series-a",
        SeriesB = "series-b",
        SeriesC = "series-c",
        /// Series D and every later letter.
        SeriesDPlus = "series-d-plus",
        /// Growth equity, private equity.
        Growth = "growth",
        /// Debt, convertible notes.
        Debt = "debt",
        Grant = "grant",
        /// Public offering and after.
        Ipo = "ipo",
        /// Anything else that a source names, such as a corporate round. A stage that it does not name is unknown.
        Other = "other",
    }, |text: &str| {
        match stage_letter(text) {
            "a" => Some(Stage::SeriesA),
            "b" => Some(Stage::SeriesB),
            "c" => Some(Stage::SeriesC),
            "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k" | "d+" | "d-plus" => Some(Stage::SeriesDPlus),
            "angel" | "preseed" => Some(Stage::PreSeed),
            _ => None,
        }
    }, |text: &str| matches!(stage_letter(text), "angel" | "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k")
}

impl Stage {
    /// Number of places in a list with one for each stage, and a last one for an unknown stage.
    pub const PLACES: usize = Self::ALL.len() + 1;

    /// The place of a stage in such a list.
    pub fn place(stage: Option<Self>) -> usize {
        stage.map_or(Self::ALL.len(), Self::index)
    }

    /// The stages in the order of their places.
    pub fn places() -> impl Iterator<Item = Option<Self>> {
        Self::ALL.iter().copied().map(Some).chain([None])
    }
}

/// The letter of a series, as in `series-e`; any other text unchanged.
fn stage_letter(text: &str) -> &str {
    text.strip_prefix("series").map_or(text, |rest| rest.trim_start_matches('-'))
}

vocabulary! {
    FirmKind, "kind", {
        Vc = "vc",
        Angel = "angel",
        /// A network or syndicate of angels.
        AngelNetwork = "angel-network",
        /// Accelerator or incubator.
        Accelerator = "accelerator",
        Corporate = "corporate",
        PrivateEquity = "private-equity",
        FamilyOffice = "family-office",
        Bank = "bank",
        University = "university",
        Government = "government",
        Crowdfunding = "crowdfunding",
        /// Anything else, or unspecified by the source.
        Other = "other",
    }
}

vocabulary! {
    StartupStatus, "status", {
        Operating = "operating",
        Acquired = "acquired",
        Ipo = "ipo",
        Closed = "closed",
    }
}

vocabulary! {
    ReviewStatus, "status", {
        Pending = "pending",
        /// Published; only these count for scores.
        Approved = "approved",
        /// Never served.
        Rejected = "rejected",
    }
}

vocabulary! {
    /// What the author of a review is in their company.
    ReviewerRole, "reviewer's role", {
        Founder = "founder",
        Executive = "executive",
        Other = "other",
    }, |text: &str| matches!(text, "co-founder" | "cofounder").then_some(ReviewerRole::Founder)
}

vocabulary! {
    /// What shows that the author of a review had to do with the firm.
    ReviewProof, "proof", {
        None = "none",
        /// The author's e-mail address is at the domain of a startup in the data.
        Email = "email",
        /// The operator saw a round or a pitch confirmed.
        Confirmed = "confirmed",
    }
}

vocabulary! {
    /// Why an approved review does not count until a person has looked at it.
    HoldReason, "reason", {
        /// More reviews of the firm at a time than usual.
        Burst = "burst",
        /// The text is nearly that of an earlier review.
        SimilarText = "similar_text",
        /// Several reviews at a time that give the same rating for everything.
        EqualRatings = "equal_ratings",
        /// The author reviewed the firm within the twelve months before.
        SecondByAuthor = "second_by_author",
    }
}

impl HoldReason {
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Burst => "more reviews at a time than usual",
            Self::SimilarText => "nearly the text of an earlier review",
            Self::EqualRatings => "one of several at a time with the same rating for everything",
            Self::SecondByAuthor => "a second review by its author within twelve months",
        }
    }
}

vocabulary! {
    LookUpStatus, "status", {
        /// The item means the first candidate.
        Match = "match",
        /// The item may mean one of several candidates, or the only one is not sure.
        Ambiguous = "ambiguous",
        None = "none",
        /// The item cannot be looked up as it is.
        Invalid = "invalid",
    }
}

vocabulary! {
    OrganizationKind, "organization_kind", {
        Firm = "firm",
        Startup = "startup",
    }
}

vocabulary! {
    CountrySource, "country_source", {
        Person = "person",
        /// The country of the firm or startup; the person's own is unknown.
        Organization = "organization",
    }
}

vocabulary! {
    /// A person's work, by the words of the title; a title may name several roles.
    Role, "role", {
        Founder = "founder",
        Ceo = "ceo",
        Cto = "cto",
        Cfo = "cfo",
        Coo = "coo",
        Executive = "executive",
        Partner = "partner",
        Principal = "principal",
        Director = "director",
        VicePresident = "vice-president",
        Head = "head",
        Manager = "manager",
        Associate = "associate",
        Analyst = "analyst",
        Engineer = "engineer",
        Investor = "investor",
        Advisor = "advisor",
        Board = "board",
        Other = "other",
    }, |text: &str| match text {
        "co-founder" | "cofounder" | "founders" => Some(Role::Founder),
        "chief-executive-officer" => Some(Role::Ceo),
        "vp" => Some(Role::VicePresident),
        "angel" => Some(Role::Investor),
        "adviser" => Some(Role::Advisor),
        _ => None,
    }, |text: &str| matches!(text, "angel" | "co-founder" | "cofounder")
}

impl Role {
    /// The words of folded titles that name each role, ascending.
    const WORDS: &'static [(Self, &'static [&'static str])] = &[
        (Self::Founder, &["founder", "cofounder", "founders"]),
        (Self::Ceo, &["ceo", "chief executive"]),
        (Self::Cto, &["cto", "chief technology"]),
        (Self::Cfo, &["cfo", "chief financial"]),
        (Self::Coo, &["coo", "chief operating"]),
        (Self::Executive, &["chief", "president", "executive"]),
        (Self::Partner, &["partner", "partners"]),
        (Self::Principal, &["principal"]),
        (Self::Director, &["director"]),
        (Self::VicePresident, &["vice president", "vp"]),
        (Self::Head, &["head"]),
        (Self::Manager, &["manager"]),
        (Self::Associate, &["associate"]),
        (Self::Analyst, &["analyst"]),
        (Self::Engineer, &["engineer", "engineering"]),
        (Self::Investor, &["investor", "angel"]),
        (Self::Advisor, &["advisor", "adviser", "mentor", "scout"]),
        (Self::Board, &["board", "chair", "chairman", "chairwoman"]),
    ];

    /// The roles that a folded title names, ascending; `Other` if none is known.
    pub(crate) fn of_title(folded: &str) -> Vec<Self> {
        let padded = format!(" {folded} ");
        let names = |words: &&str| padded.contains(&format!(" {words} "));
        let named = Self::WORDS.iter().filter(|(_, words)| words.iter().any(names));
        let mut roles: Vec<Self> = named.map(|(role, _)| *role).collect();
        // A vice president is no president.
        if roles.iter().any(|role| matches!(role, Self::Ceo | Self::Cto | Self::Cfo | Self::Coo | Self::VicePresident))
        {
            roles.retain(|role| *role != Self::Executive);
        }
        if roles.is_empty() { vec![Self::Other] } else { roles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_letter_becomes_a_capital() {
        assert_eq!(["élan vital", "IPO", ""].map(capitalized), ["Élan vital", "IPO", ""]);
    }

    #[test]
    fn stages_are_read_in_every_documented_spelling() {
        for (text, stage) in [
            ("Series A", Stage::SeriesA),
            ("series_a", Stage::SeriesA),
            ("a", Stage::SeriesA),
            ("D", Stage::SeriesDPlus),
            ("d+", Stage::SeriesDPlus),
            ("series-k", Stage::SeriesDPlus),
            ("SERIES-D-PLUS", Stage::SeriesDPlus),
            ("angel", Stage::PreSeed),
            ("Pre Seed", Stage::PreSeed),
        ] {
            assert_eq!(Stage::read(text), Some(stage), "{text}");
        }
        for (text, is_narrower) in [
            ("series-e", true),
            ("d", true),
            ("angel", true),
            ("series-d-plus", false),
            ("d+", false),
            ("preseed", false),
        ] {
            assert_eq!(Stage::is_narrower(text), is_narrower, "{text}");
        }
        assert_eq!(Stage::read("series-z"), None);
        assert_eq!(Stage::read(""), None);
    }

    #[test]
    fn a_title_names_its_roles() {
        for (title, roles) in [
            ("co founder and ceo", &[Role::Founder, Role::Ceo][..]),
            ("founding partner", &[Role::Partner]),
            ("chief executive officer", &[Role::Ceo]),
            ("chief scientific officer", &[Role::Executive]),
            ("vice president of sales", &[Role::VicePresident]),
            ("angel investor", &[Role::Investor]),
            ("headhunter", &[Role::Other]),
        ] {
            assert_eq!(Role::of_title(title), roles, "{title}");
        }
    }

    #[test]
    fn a_value_is_found_at_its_own_index() {
        fn check<V: Vocabulary + PartialEq + std::fmt::Debug>() {
            for value in V::ALL {
                assert_eq!(V::at(value.index()), Some(*value));
                assert_eq!(V::read(value.name()), Some(*value));
            }
        }
        check::<Stage>();
        assert!(Stage::places().map(Stage::place).eq(0..Stage::PLACES));
        check::<FirmKind>();
        check::<StartupStatus>();
        check::<ReviewStatus>();
        check::<LookUpStatus>();
        check::<OrganizationKind>();
        check::<Role>();
    }
}
