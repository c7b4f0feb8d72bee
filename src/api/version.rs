//! The versions of the REST API. A version is a value that decides how parameters are parsed and lists are written.

use catalog::{ParseOptions, Resource};
use data::ReviewStatus;

use crate::asked::ASK;
use crate::pin::{AS_OF, SNAPSHOT};
use crate::routes::split_version;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// `limit` and `offset`.
    V1,
    /// `limit` and `page`.
    V2,
    /// `limit` and `cursor`; strict, with field selection.
    V3,
}

impl Version {
    pub const ALL: [Self; 3] = [Self::V1, Self::V2, Self::V3];

    /// The version that a path segment names, `v1` to `v3`.
    pub(crate) fn of_segment(segment: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.segment() == segment)
    }

    /// The version in a full path, below `/api` or straight below `/`.
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

    /// Whether unknown names and values are errors instead of warnings.
    pub(crate) fn is_strict(self) -> bool {
        self == Self::V3
    }

    /// The review statuses that are listed without the parameter `status`.
    pub(crate) fn review_statuses(self) -> &'static [ReviewStatus] {
        match self {
            Self::V1 | Self::V2 => &[ReviewStatus::Pending, ReviewStatus::Approved],
            Self::V3 => &[ReviewStatus::Approved],
        }
    }

    /// How the parameters of a list are parsed.
    pub(crate) fn parse_options(self, resource: Resource) -> ParseOptions {
        ParseOptions {
            strict: self.is_strict(),
            review_statuses: self.review_statuses(),
            other_names: self.window_parameters(resource),
        }
    }

    /// The parameters of paging and field selection of a list.
    pub fn window_parameters(self, resource: Resource) -> &'static [&'static str] {
        match self {
            Self::V1 => &["limit", "offset"],
            Self::V2 => &["limit", "page"],
            Self::V3 if resource == Resource::Rounds => &["limit", "cursor", "fields", ASK, "amounts", SNAPSHOT, AS_OF],
            Self::V3 if resource.takes_questions() => &["limit", "cursor", "fields", ASK, "explain", SNAPSHOT, AS_OF],
            Self::V3 if resource.is_searchable() => &["limit", "cursor", "fields", "explain", SNAPSHOT, AS_OF],
            Self::V3 => &["limit", "cursor", "fields", SNAPSHOT, AS_OF],
        }
    }
}
