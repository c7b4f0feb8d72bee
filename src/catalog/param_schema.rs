//! The form of a parameter's values: what the documents of the API tell of it.

use crate::data::vocabulary::Vocabulary;
use crate::data::{FirmKind, Metric, OrganizationKind, ReviewStatus, Stage, StartupStatus, Table};

use crate::catalog::Resource;
use crate::catalog::params::ParamType;

/// The form of a parameter's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamSchema {
    /// One text of at most [`LONGEST_TEXT`] characters.
    Text,
    /// Values of a closed list, any of them.
    Words(Vec<&'static str>),
    /// One value of a closed list.
    Word(Vec<&'static str>),
    /// Countries, any of them.
    Countries,
    /// Values that the snapshot decides on, any of them.
    Names,
    /// A whole number in a range.
    Number(u64, u64),
    /// Per cent, 0–100, with one decimal.
    Rate,
    /// A date.
    Date,
    /// `true` or `false`.
    Truth,
    /// Keys to sort by; `-` before one for descending.
    Sort {
        /// The keys.
        keys: Vec<&'static str>,
        /// Whether `relevance` is one, which stands alone.
        relevance: bool,
        /// What is sorted by where nothing is asked for.
        default: &'static str,
    },
}

/// Values that one parameter takes at most: each may cost a search for the nearest one.
pub const MOST_VALUES: usize = 100;
/// Parameters that one request has at most, repeated ones counted each time.
pub const MOST_PARAMETERS: usize = 200;
/// The largest whole number that JSON readers hold exactly.
pub const MOST_EXACT: u64 = (1 << 53) - 1;
/// The largest amount of US dollars.
pub const MOST_USD: u64 = MOST_EXACT;
/// Characters of a name that is searched for; no name is longer.
pub const LONGEST_TEXT: usize = 200;

/// The slug that stands in examples for records of a table: one that the bundled snapshot has.
#[must_use]
pub fn example_slug(table: Table) -> &'static str {
    match table {
        Table::Startups => "tide-wick-labs",
        Table::People => "nora-kelridge",
        Table::Sectors => "fintech",
        Table::Firms | Table::Rounds | Table::Reviews => "kestrelfold-capital",
    }
}

impl ParamType {
    /// The whole numbers that it takes.
    #[must_use]
    pub fn range(self) -> Option<(u64, u64)> {
        match self {
            Self::MinHealthScore => Some((0, 100)),
            Self::MinReviews => Some((0, u64::from(u32::MAX))),
            Self::CheckUsd | Self::MinAmountUsd => Some((0, MOST_USD)),
            Self::RaiseUsd => Some((1, MOST_USD)),
            Self::MinRating => Some((1, 5)),
            _ => None,
        }
    }

    /// The form of its values in lists of `resource`.
    #[must_use]
    pub fn form(self, resource: Resource) -> ParamSchema {
        match self {
            Self::Text => ParamSchema::Text,
            Self::Stages => ParamSchema::Words(Stage::names()),
            Self::FirmKinds => ParamSchema::Words(FirmKind::names()),
            Self::StartupStatuses => ParamSchema::Words(StartupStatus::names()),
            Self::ReviewStatuses => ParamSchema::Words(ReviewStatus::names()),
            Self::OrganizationKinds => ParamSchema::Words(OrganizationKind::names()),
            Self::Sectors(_) | Self::Cities | Self::Firms(_) | Self::Startups(_) | Self::Organizations => {
                ParamSchema::Names
            }
            Self::Countries => ParamSchema::Countries,
            Self::MinHealthScore
            | Self::MinReviews
            | Self::CheckUsd
            | Self::RaiseUsd
            | Self::MinAmountUsd
            | Self::MinRating => {
                let (least, most) = self.range().unwrap_or((0, u64::MAX));
                ParamSchema::Number(least, most)
            }
            Self::MaxGhostingRate => ParamSchema::Rate,
            Self::ActiveSince | Self::Since | Self::Until => ParamSchema::Date,
            Self::Ghosted => ParamSchema::Truth,
            Self::Metric => ParamSchema::Word(Metric::names()),
            Self::Sort => ParamSchema::Sort {
                keys: resource.table().sort_keys().to_vec(),
                relevance: resource.parameter("q").is_some(),
                default: resource.table().default_sort(),
            },
        }
    }

    /// A value that stands in examples: one that the bundled snapshot knows.
    #[must_use]
    pub fn example(self, resource: Resource) -> &'static str {
        match self {
            Self::Text => match resource {
                Resource::People => "nora kelridge",
                Resource::Sectors => "fintech",
                Resource::Startups => "tidewick",
                _ => "kestrelfold",
            },
            Self::Stages if resource == Resource::Match => "seed",
            Self::Stages => "seed,series-a",
            Self::FirmKinds => "vc,corporate",
            Self::StartupStatuses => "operating",
            Self::ReviewStatuses => "approved",
            Self::OrganizationKinds => "firm",
            Self::Sectors(_) => "fintech",
            Self::Cities => "London",
            Self::Firms(_) | Self::Organizations => example_slug(Table::Firms),
            Self::Startups(_) => example_slug(Table::Startups),
            Self::Countries => "DE,GB",
            Self::MinHealthScore => "60",
            Self::MinReviews => "5",
            Self::CheckUsd => "500000",
            Self::MinAmountUsd => "1000000",
            Self::RaiseUsd => "2000000",
            Self::MinRating => "4",
            Self::MaxGhostingRate => "12.5",
            Self::ActiveSince | Self::Since => "2025-01-01",
            Self::Until => "2026-06-30",
            Self::Ghosted => "false",
            Self::Metric => "responsiveness",
            Self::Sort => match resource {
                Resource::Firms => "-health_score,name",
                Resource::Reviews => "-rating",
                Resource::Rounds => "-amount_usd",
                Resource::People => "-name",
                _ => "name",
            },
        }
    }
}
