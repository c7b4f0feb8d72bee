//! The versions of the REST API: a version is a value that decides how a window is read and a list is written.

use std::str::FromStr;

use crate::catalog::ParameterError;
use crate::catalog::param_schema::MOST_EXACT;
use crate::data::ReviewStatus;

/// A version of the REST API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// `limit` and `offset`.
    V1,
    /// `limit` and `page`.
    V2,
    /// `limit` and `cursor`; strict, with field selection.
    V3,
}

/// The path segment is no version's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseApiVersionError;

impl FromStr for Version {
    type Err = ParseApiVersionError;

    /// Reads the path segment, `v1` to `v3`.
    fn from_str(segment: &str) -> Result<Self, ParseApiVersionError> {
        Self::ALL.into_iter().find(|version| version.segment() == segment).ok_or(ParseApiVersionError)
    }
}

impl Version {
    /// All versions.
    pub const ALL: [Self; 3] = [Self::V1, Self::V2, Self::V3];

    /// The version that a whole path asks for, below `/api` or straight below `/`.
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        crate::api::endpoint::split(path).0
    }

    /// The path segment.
    #[must_use]
    pub fn segment(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3 => "v3",
        }
    }

    /// The number, as in `X-API-Version`.
    #[must_use]
    pub fn number(self) -> &'static str {
        &self.segment()[1..]
    }

    /// Whether unknown names and values are refused; elsewhere they are warned of.
    #[must_use]
    pub fn is_strict(self) -> bool {
        self == Self::V3
    }

    /// The reviews that are listed where no status is asked for.
    #[must_use]
    pub fn review_statuses(self) -> &'static [ReviewStatus] {
        match self {
            Self::V1 | Self::V2 => &[ReviewStatus::Pending, ReviewStatus::Approved],
            Self::V3 => &[ReviewStatus::Approved],
        }
    }

    /// The parameters of paging and field selection; `searches`: of a list that can be searched.
    #[must_use]
    pub fn window_parameters(self, searches: bool) -> &'static [&'static str] {
        match self {
            Self::V1 => &["limit", "offset"],
            Self::V2 => &["limit", "page"],
            Self::V3 if searches => &["limit", "cursor", "fields", "explain"],
            Self::V3 => &["limit", "cursor", "fields"],
        }
    }
}

/// Rows that a list gives where no `limit` is asked for.
pub const DEFAULT_LIMIT: u64 = 20;
/// Rows that a list gives at most.
pub const MAX_LIMIT: u64 = 100;

/// Which part of a list is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageWindow {
    /// At most so many rows, 1 to [`MAX_LIMIT`].
    pub limit: u64,
    /// Where it begins.
    pub start: Start,
}

/// Where a window begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// After so many rows (v1).
    Offset(u64),
    /// At this page, from 1 (v2).
    Page(u64),
    /// Where this cursor stands; at the beginning without one (v3).
    Cursor(Option<String>),
}

impl PageWindow {
    /// Reads the window from a request's parameters.
    ///
    /// # Errors
    /// Whatever is no window.
    pub fn read(
        version: Version,
        values: &[(String, String)],
        warnings: &mut Vec<ParameterError>,
    ) -> Result<Self, Vec<ParameterError>> {
        let mut errors = Vec::new();
        let mut number = |name: &str, least: u64, otherwise: u64| -> u64 {
            match single(values, name, &mut errors) {
                None => otherwise,
                Some(text) => match whole(text) {
                    Some(number) if number >= least => number,
                    _ => {
                        let detail = format!("`{text}` is not a whole number from {least} on");
                        errors.push(ParameterError::invalid(name, detail));
                        otherwise
                    }
                },
            }
        };
        let asked = number("limit", 1, DEFAULT_LIMIT);
        let start = match version {
            Version::V1 => Start::Offset(number("offset", 0, 0)),
            Version::V2 => Start::Page(number("page", 1, 1)),
            Version::V3 => Start::Cursor(single(values, "cursor", &mut errors).map(str::to_owned)),
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        let limit = asked.min(MAX_LIMIT);
        if limit < asked {
            warnings.push(ParameterError::limit_clamped(MAX_LIMIT));
        }
        Ok(Self { limit, start })
    }

    /// How many rows come before the window, of one that tells it.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match &self.start {
            Start::Offset(offset) => *offset,
            Start::Page(page) => (page - 1).saturating_mul(self.limit),
            Start::Cursor(_) => 0,
        }
    }
}

/// A whole number of plain digits; one that JSON readers do not hold exactly is the largest that they do.
pub(crate) fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX).min(MOST_EXACT))
}

/// The one value of a parameter, empty ones left out; different ones are an error.
pub fn single<'v>(values: &'v [(String, String)], name: &str, errors: &mut Vec<ParameterError>) -> Option<&'v str> {
    let mut given = values.iter().filter(|(known, _)| known == name).map(|(_, value)| value.trim());
    let mut given = given.by_ref().filter(|value| !value.is_empty());
    let first = given.next()?;
    if given.any(|value| value != first) {
        errors.push(ParameterError::invalid(name, format!("`{name}` takes one value, several are given")));
    }
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(version: Version, query: &[(&str, &str)]) -> Result<(PageWindow, usize), usize> {
        let values: Vec<(String, String)> = query.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let mut warnings = Vec::new();
        PageWindow::read(version, &values, &mut warnings).map(|w| (w, warnings.len())).map_err(|errors| errors.len())
    }

    #[test]
    fn a_limit_above_the_most_is_clamped_with_a_warning() {
        for text in ["101", "1000000", "99999999999999999999999"] {
            let (window, warnings) = read(Version::V1, &[("limit", text)]).unwrap();
            assert_eq!((window.limit, warnings), (100, 1), "{text}");
        }
        assert_eq!(read(Version::V3, &[("limit", "100")]).unwrap().1, 0);
    }

    #[test]
    fn what_is_no_window_is_refused() {
        for bad in ["0", "-1", "ten", "1.5", "+3"] {
            assert_eq!(read(Version::V3, &[("limit", bad)]), Err(1), "{bad}");
            assert_eq!(read(Version::V2, &[("page", bad)]), Err(1), "{bad}");
        }
        assert_eq!(read(Version::V1, &[("offset", "-1")]), Err(1));
        assert_eq!(read(Version::V1, &[("limit", "5"), ("limit", "6")]), Err(1));
        assert_eq!(read(Version::V1, &[("limit", ""), ("offset", "0")]).unwrap().0.limit, 20);
    }

    #[test]
    fn a_page_too_far_out_does_not_overflow() {
        let (window, _) = read(Version::V2, &[("page", "99999999999999999999999")]).unwrap();
        assert_eq!(window.start, Start::Page(MOST_EXACT));
        assert_eq!(window.offset(), (MOST_EXACT - 1) * 20);
    }
}
