//! Routes: a row of the table of [`crate::endpoints`], found by its path.

use catalog::Resource;
use catalog::param_error::shortened;
use data::Table;
use search::{nearest, similarity};
use transport::headers::READS;
use transport::problem::{Code, Problem};
use transport::url::decoded;

use crate::endpoint::Endpoint;
use crate::endpoints::ALL;
use crate::{Version, options};

pub struct Route {
    /// The path below the version; `{slug}` or `{id}` is that of a record.
    pub path: &'static str,
    pub since: Version,
    pub(crate) endpoint: Endpoint,
    pub operation: &'static str,
    pub summary: &'static str,
    pub description: &'static str,
}

/// First segments that people try, with those of the API.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("firms", "vcs"),
    ("funds", "vcs"),
    ("investors", "vcs"),
    ("companies", "startups"),
    ("rounds", "funding-rounds"),
    ("deals", "funding-rounds"),
    ("founders", "people"),
];

impl Route {
    /// All routes of a version, in the order of the documents.
    pub fn all(version: Version) -> impl Iterator<Item = &'static Self> {
        ALL.iter().filter(move |route| route.since <= version)
    }

    /// Finds the route of a path below a version, and the slug or id in the path.
    pub(crate) fn find(version: Version, path: &str) -> Option<(&'static Self, Option<String>)> {
        // A fixed path takes precedence: `vcs/facets` and `vcs/aggregate` are not firms.
        if let Some(route) = Self::all(version).find(|route| route.path == path && route.placeholder().is_none()) {
            return Some((route, None));
        }
        Self::all(version).find_map(|route| {
            let (before, after) = route.around_placeholder()?;
            let slug = path.strip_prefix(before)?.strip_suffix(after).filter(|slug| !slug.contains('/'))?;
            Some((route, Some(decoded(slug))))
        })
    }

    /// The path that is most similar to `path`: of as many segments, each of them similar. Slugs are copied.
    pub(crate) fn suggest(version: Version, path: &str) -> Option<String> {
        let mut segments: Vec<&str> = path.split('/').collect();
        if let Some((_, own)) = OTHER_NAMES.iter().find(|(name, _)| *name == segments[0]) {
            segments[0] = own;
        }
        let mut best: Option<((f64, usize), String)> = None;
        for route in Self::all(version).filter(|route| route.path.split('/').count() == segments.len()) {
            let (mut lowest, mut fixed) = (1.0_f64, 0);
            let mut suggestion = Vec::with_capacity(segments.len());
            for (own, segment) in route.path.split('/').zip(&segments) {
                let is_placeholder = own.starts_with('{');
                suggestion.push(if is_placeholder && !segment.is_empty() { *segment } else { own });
                if !is_placeholder {
                    fixed += 1;
                    lowest = lowest.min(similarity(segment, own).unwrap_or(0.0));
                }
            }
            // Among equally similar paths, prefer the one with more fixed segments.
            let rank = (lowest, fixed);
            if lowest > 0.0 && best.as_ref().is_none_or(|(known, _)| rank > *known) {
                best = Some((rank, suggestion.join("/")));
            }
        }
        best.map(|(_, path)| path)
    }

    pub fn list(&self) -> Option<Resource> {
        self.endpoint.list
    }

    pub fn record(&self) -> Option<Table> {
        self.endpoint.record
    }

    /// The table of the records that it returns or counts.
    pub(crate) fn table(&self) -> Option<Table> {
        self.endpoint.filters.map(Resource::table).or(self.endpoint.record)
    }

    pub fn methods(&self) -> &'static str {
        match (self.endpoint.post, self.endpoint.delete) {
            (None, _) => READS,
            (_, None) => "GET, HEAD, POST, OPTIONS",
            _ => "GET, HEAD, POST, DELETE, OPTIONS",
        }
    }

    /// The table of the record that the placeholder names.
    pub fn subject(&self) -> Table {
        self.record().unwrap_or(Table::Firms)
    }

    pub fn placeholder(&self) -> Option<&'static str> {
        self.around_placeholder().map(|_| self.subject().key())
    }

    pub fn path_of(&self, key: &str) -> String {
        match self.around_placeholder() {
            Some((before, after)) => format!("{before}{key}{after}"),
            None => self.path.to_owned(),
        }
    }

    fn around_placeholder(&self) -> Option<(&'static str, &'static str)> {
        let (before, rest) = self.path.split_once('{')?;
        Some((before, rest.split_once('}')?.1))
    }

    /// The names of its parameters in a version: filters and `sort`, then the others.
    pub fn parameters(&self, version: Version) -> Vec<&'static str> {
        let excluded = self.endpoint.excluded();
        let filters = self.endpoint.filters.into_iter().flat_map(Resource::parameters);
        let filters = filters.map(|parameter| parameter.name).filter(|name| !excluded.contains(name));
        filters.chain(options::names(version, self).iter().copied()).collect()
    }
}

/// The error for an unknown path below a version, with the nearest known one.
pub(crate) fn unknown_path(version: Version, path: &str) -> Problem {
    let (number, shown) = (version.number(), shortened(path));
    let routes: Vec<&str> = Route::all(version).map(|route| route.path).collect();
    let suggestion = Route::suggest(version, path);
    let near = suggestion.as_deref().or_else(|| nearest(path, routes.iter().copied()));
    let detail = match near {
        Some(near) => format!("v{number} has no path `/{shown}`; did you mean `/{near}`?"),
        None => format!("v{number} has no path `/{shown}`: it has {}", routes.join(", ")),
    };
    let did_you_mean = suggestion.map(|path| format!("/{path}")).into_iter().collect();
    Problem { did_you_mean, ..Problem::new(Code::UnknownRoute, detail) }
}

/// Splits a path under `/api`, or directly under `/`, into the version and the rest.
pub(crate) fn split_version(path: &str) -> (Option<Version>, &str) {
    let below = path
        .strip_prefix("/api")
        .filter(|below| below.is_empty() || below.starts_with('/'))
        .unwrap_or(path)
        .trim_start_matches('/');
    let (first, rest) = below.split_once('/').unwrap_or((below, ""));
    match Version::ALL.into_iter().find(|version| version.segment() == first) {
        Some(version) => (Some(version), rest.trim_end_matches('/')),
        None => (None, below.trim_end_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similar_path_is_suggested() {
        for (version, path, expected) in [
            (Version::V3, "vcs/acme/coinvestors", Some("vcs/acme/co-investors")),
            (Version::V3, "vcs/acme/co_investors", Some("vcs/acme/co-investors")),
            (Version::V3, "vcs/acme-rounds/round", Some("vcs/acme-rounds/rounds")),
            (Version::V3, "vcs/acme/porfolio", Some("vcs/acme/portfolio")),
            (Version::V3, "vc/acme/people", Some("vcs/acme/people")),
            (Version::V3, "vc/facets", Some("vcs/facets")),
            (Version::V3, "vc/acme", Some("vcs/acme")),
            (Version::V3, "vcs//round", Some("vcs/{slug}/rounds")),
            (Version::V3, "fundingrounds", Some("funding-rounds")),
            (Version::V1, "VCS", Some("vcs")),
            (Version::V1, "leaderbord", Some("leaderboard")),
            (Version::V1, "vcs/acme/coinvestors", None),
            (Version::V3, "vcs/acme/nothing", None),
            (Version::V3, "vcs/people/xyz", None),
            (Version::V3, "review/1", Some("reviews/1")),
            (Version::V3, "firms", Some("vcs")),
            (Version::V3, "investors/acme", Some("vcs/acme")),
            (Version::V3, "rounds", Some("funding-rounds")),
            (Version::V3, "companies/acme", Some("startups/acme")),
            (Version::V1, "review/1", None),
            (Version::V3, "", None),
        ] {
            assert_eq!(Route::suggest(version, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn every_path_of_the_table_is_found_and_no_other() {
        let find = |version, path: &str| Route::find(version, path).map(|(route, slug)| (route.path, slug));
        for version in Version::ALL {
            for route in ALL {
                let path = route.path_of("acme");
                assert!(route.record().is_none() || route.placeholder().is_some(), "{path} names no record");
                let slug = (path != route.path).then(|| "acme".to_owned());
                let expected = match route.since <= version {
                    true => Some((route.path, slug)),
                    // Versions without facets and aggregates treat these names as slugs.
                    false if matches!(path.as_str(), "vcs/facets" | "vcs/aggregate") => {
                        Some(("vcs/{slug}", path.split('/').nth(1).map(str::to_owned)))
                    }
                    false => None,
                };
                assert_eq!(find(version, &path), expected, "{path}");
            }
            for path in ["", "vcs/a/b/c", "vcs/a/nothing", "leaderboard/1", "usage/x", "VCS", "stats/"] {
                assert_eq!(find(version, path), None, "{path}");
            }
        }
        assert_eq!(find(Version::V3, "vcs/a%20b/people"), Some(("vcs/{slug}/people", Some("a b".to_owned()))));
    }
}
