//! The paths of REST: what each asks for, in each version.

use crate::catalog::Resource;
use crate::data::Table;
use crate::http::url::decoded;
use crate::search::similarity;

use crate::api::Route;
use crate::api::Version;

/// What a path asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// A list.
    List(Resource),
    /// A list of one firm: the list, its parameter that the path gives, and the firm's slug.
    OfFirm(Resource, &'static str, String),
    /// One record.
    Single(Table, String),
    /// Counts of firms by facet.
    Facets,
    /// Totals.
    Stats,
    /// The releases held.
    Snapshots,
    /// Names while they are typed.
    Suggest,
    /// The caller's quota.
    Usage,
}

impl Endpoint {
    /// What the path below a version asks for; `None` where the version has no such path.
    pub(crate) fn find(version: Version, path: &str) -> Option<Self> {
        let v3 = version == Version::V3;
        let mut segments = path.split('/');
        let parts = [segments.next(), segments.next(), segments.next(), segments.next()];
        Some(match parts {
            [Some("vcs"), None, ..] => Self::List(Resource::Firms),
            [Some("vcs"), Some("facets"), None, _] if v3 => Self::Facets,
            [Some("vcs"), Some(slug), None, _] => Self::Single(Table::Firms, decoded(slug)),
            [Some("vcs"), Some(slug), Some(part), None] if v3 => {
                let (resource, parameter) = match part {
                    "reviews" => (Resource::Reviews, "vc"),
                    "portfolio" => (Resource::Startups, "investor"),
                    "rounds" => (Resource::Rounds, "investor"),
                    "people" => (Resource::People, "organization"),
                    "co-investors" => (Resource::CoInvestors, "vc"),
                    _ => return None,
                };
                Self::OfFirm(resource, parameter, decoded(slug))
            }
            [Some("reviews"), None, ..] => Self::List(Resource::Reviews),
            [Some("sectors"), None, ..] => Self::List(Resource::Sectors),
            [Some("leaderboard"), None, ..] => Self::List(Resource::Leaderboard),
            [Some("startups"), None, ..] if v3 => Self::List(Resource::Startups),
            [Some("startups"), Some(slug), None, _] if v3 => Self::Single(Table::Startups, decoded(slug)),
            [Some("funding-rounds"), None, ..] if v3 => Self::List(Resource::Rounds),
            [Some("people"), None, ..] if v3 => Self::List(Resource::People),
            [Some("people"), Some(slug), None, _] if v3 => Self::Single(Table::People, decoded(slug)),
            [Some("match"), None, ..] if v3 => Self::List(Resource::Match),
            [Some("stats"), None, ..] if v3 => Self::Stats,
            [Some("snapshots"), None, ..] if v3 => Self::Snapshots,
            [Some("suggest"), None, ..] if v3 => Self::Suggest,
            [Some("usage"), None, ..] if v3 => Self::Usage,
            _ => return None,
        })
    }
}

/// The paths of a version, as they are shown.
pub(crate) fn shown(version: Version) -> Vec<&'static str> {
    Route::of(version).map(|route| route.path).collect()
}

/// The path of a version that `path`, which it does not have, is a small edit away from: as long, and each of its
/// segments alike. Slugs are taken over.
pub(crate) fn meant(version: Version, path: &str) -> Option<String> {
    let given: Vec<&str> = path.split('/').collect();
    let mut best: Option<((f64, usize), String)> = None;
    for route in shown(version).into_iter().filter(|route| route.split('/').count() == given.len()) {
        let (mut nearest, mut fixed) = (1.0_f64, 0);
        let mut segments = Vec::with_capacity(given.len());
        for (own, given) in route.split('/').zip(&given) {
            let is_slug = own == "{slug}" && !given.is_empty();
            segments.push(if is_slug { *given } else { own });
            if own != "{slug}" {
                fixed += 1;
                nearest = nearest.min(similarity(given, own).unwrap_or(0.0));
            }
        }
        // Of equally near ones, that which says more itself.
        let rank = (nearest, fixed);
        if nearest > 0.0 && best.as_ref().is_none_or(|(known, _)| rank > *known) {
            best = Some((rank, segments.join("/")));
        }
    }
    best.map(|(_, path)| path)
}

/// Takes the version and what follows it from a path under `/api`, or straight under `/`.
pub(crate) fn split(path: &str) -> (Option<Version>, &str) {
    let below = path
        .strip_prefix("/api")
        .filter(|below| below.is_empty() || below.starts_with('/'))
        .unwrap_or(path)
        .trim_start_matches('/');
    let (first, rest) = below.split_once('/').unwrap_or((below, ""));
    match first.parse() {
        Ok(version) => (Some(version), rest.trim_end_matches('/')),
        Err(_) => (None, below.trim_end_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_a_small_edit_away_is_meant() {
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
            (Version::V3, "reviews/1", None),
            (Version::V3, "", None),
        ] {
            assert_eq!(meant(version, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn every_path_that_is_shown_asks_for_something_and_no_other_does() {
        for version in Version::ALL {
            for path in shown(Version::V3) {
                let known = shown(version).contains(&path) || path == "vcs/facets";
                assert_eq!(Endpoint::find(version, &path.replace("{slug}", "acme")).is_some(), known, "{path}");
            }
            for path in ["", "vcs/a/b/c", "vcs/a/nothing", "reviews/1", "usage/x", "VCS", "stats/"] {
                assert_eq!(Endpoint::find(version, path), None, "{path}");
            }
        }
        assert_eq!(Endpoint::find(Version::V3, "vcs/facets"), Some(Endpoint::Facets));
        let slug = "facets".to_owned();
        assert_eq!(Endpoint::find(Version::V1, "vcs/facets"), Some(Endpoint::Single(Table::Firms, slug)));
    }
}
