//! The versions of the REST API. The version decides how parameters are parsed and lists are written.

use catalog::ParseOptions;
use data::ReviewStatus;

use crate::routes::split_version;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V1,
    V2,
    /// `limit` and `cursor`; strict, with field selection.
    V3,
}

impl Version {
    pub const ALL: [Self; 3] = [Self::V1, Self::V2, Self::V3];

    /// The version of a full path, below `/api` or directly below `/`.
    pub fn of_path(path: &str) -> Option<Self> {
        split_version(path).0
    }

    pub fn segment(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3 => "v3",
        }
    }

    /// The number, as in `X-API-Version`.
    pub fn number(self) -> &'static str {
        &self.segment()[1..]
    }

    /// True if unknown names and values are errors instead of warnings.
    pub(crate) fn is_strict(self) -> bool {
        self == Self::V3
    }

    /// Review statuses that are listed without the parameter `status`.
    pub(crate) fn review_statuses(self) -> &'static [ReviewStatus] {
        match self {
            Self::V1 | Self::V2 => &[ReviewStatus::Pending, ReviewStatus::Approved],
            Self::V3 => &[ReviewStatus::Approved],
        }
    }

    /// Parse options of filters; `other_names` are parameters that are not filters.
    pub(crate) fn parse_options(self, other_names: &'static [&'static str]) -> ParseOptions {
        ParseOptions { strict: self.is_strict(), review_statuses: self.review_statuses(), other_names }
    }
}
