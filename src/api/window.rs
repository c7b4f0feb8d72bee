//! The part of a list that a request selects: `limit` with `offset` (v1), `page` (v2) or `cursor` (v3).

use catalog::ParameterError;
use catalog::param_error::shortened;
use catalog::params::MAX_EXACT_INT;
use catalog::parse::scalars::parse_whole;

use crate::Version;

pub const DEFAULT_LIMIT: u64 = 20;
/// Maximum `limit`; larger values are clamped.
pub const MAX_LIMIT: u64 = 100;
/// Maximum `limit` of lists of v3 with a key of a paid tier.
pub const MAX_PAID_LIMIT: u64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWindow {
    /// From 1.
    pub limit: u64,
    pub clamped: bool,
    pub start: WindowStart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowStart {
    /// After this number of rows (v1).
    Offset(u64),
    /// At this page, from 1 (v2).
    Page(u64),
    /// At the position of a cursor (v3), or the first row.
    Cursor,
}

impl PageWindow {
    /// Parses the parameters of a window; clamps a `limit` above `max_limit`. The error lists all invalid parameters.
    pub fn parse(
        version: Version,
        values: &[(String, String)],
        default_limit: u64,
        max_limit: u64,
    ) -> Result<Self, Vec<ParameterError>> {
        let mut errors = Vec::new();
        let mut number = |name: &str, min: u64, default: u64| -> u64 {
            let Some(text) = single_value(values, name, &mut errors) else { return default };
            let number = parse_whole(text).map(|number| number.min(MAX_EXACT_INT));
            number.filter(|number| *number >= min).unwrap_or_else(|| {
                let detail = format!("`{}` is not an integer of at least {min}", shortened(text));
                errors.push(ParameterError::invalid(name, detail));
                default
            })
        };
        let limit = number("limit", 1, default_limit);
        let start = match version {
            Version::V1 => WindowStart::Offset(number("offset", 0, 0)),
            Version::V2 => WindowStart::Page(number("page", 1, 1)),
            Version::V3 => WindowStart::Cursor,
        };
        match errors.is_empty() {
            true => Ok(Self { limit: limit.min(max_limit), clamped: limit > max_limit, start }),
            false => Err(errors),
        }
    }

    /// Number of rows before the window; 0 if a cursor sets the position.
    pub fn offset(&self) -> u64 {
        match self.start {
            WindowStart::Offset(offset) => offset,
            WindowStart::Page(page) => (page - 1).saturating_mul(self.limit),
            WindowStart::Cursor => 0,
        }
    }

    /// True if a key of another tier may have another maximum.
    pub(crate) fn depends_on_tier(&self) -> bool {
        self.clamped || self.limit > MAX_LIMIT
    }

    pub(crate) fn warnings(&self) -> Vec<ParameterError> {
        self.clamped.then(|| ParameterError::limit_clamped(self.limit)).into_iter().collect()
    }

    pub(crate) fn clamping(&self, version: Version) -> ParameterError {
        let mut warning = ParameterError::limit_clamped(self.limit);
        if version == Version::V3 {
            warning.detail.push_str(match self.limit {
                MAX_LIMIT => "; keys of the tiers pro and enterprise may set it to 1000",
                _ => "; as CSV or NDJSON a list has no maximum",
            });
        }
        warning
    }
}

/// The only value of a parameter; empty values are ignored, several different ones are an error.
pub fn single_value<'v>(
    values: &'v [(String, String)],
    name: &str,
    errors: &mut Vec<ParameterError>,
) -> Option<&'v str> {
    let named = values.iter().filter(|(known, _)| known == name).map(|(_, value)| value.trim());
    let mut named = named.filter(|value| !value.is_empty());
    let first = named.next()?;
    if named.any(|value| value != first) {
        errors.push(ParameterError::invalid(name, format!("`{name}` takes one value, several are given")));
    }
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(version: Version, query: &[(&str, &str)]) -> Result<(PageWindow, usize), usize> {
        let values: Vec<(String, String)> = query.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        PageWindow::parse(version, &values, DEFAULT_LIMIT, MAX_LIMIT)
            .map(|window| (window, usize::from(window.clamped)))
            .map_err(|errors| errors.len())
    }

    #[test]
    fn a_limit_above_the_maximum_is_clamped() {
        for text in ["101", "1000000", "99999999999999999999999"] {
            let (window, clamped) = parse(Version::V1, &[("limit", text)]).unwrap();
            assert_eq!((window.limit, clamped), (100, 1), "{text}");
        }
        assert_eq!(parse(Version::V3, &[("limit", "100")]).unwrap().1, 0);
        assert_eq!(parse(Version::V3, &[("limit", "1e+01")]).unwrap().0.limit, 10);
    }

    #[test]
    fn invalid_windows_are_rejected() {
        for bad in ["0", "-1", "ten", "1.5", "+3", "1e-1"] {
            assert_eq!(parse(Version::V3, &[("limit", bad)]), Err(1), "{bad}");
            assert_eq!(parse(Version::V2, &[("page", bad)]), Err(1), "{bad}");
        }
        assert_eq!(parse(Version::V1, &[("offset", "-1")]), Err(1));
        assert_eq!(parse(Version::V1, &[("limit", "5"), ("limit", "6")]), Err(1));
        assert_eq!(parse(Version::V1, &[("limit", ""), ("offset", "0")]).unwrap().0.limit, 20);
    }

    #[test]
    fn a_page_too_far_out_does_not_overflow() {
        let (window, _) = parse(Version::V2, &[("page", "99999999999999999999999")]).unwrap();
        assert_eq!(window.start, WindowStart::Page(MAX_EXACT_INT));
        assert_eq!(window.offset(), (MAX_EXACT_INT - 1) * 20);
    }
}
