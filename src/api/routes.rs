//! The route table of the REST API. One row per path drives routing, the paths that errors suggest, and the documents.

use catalog::{ItemTexts, Resource};
use data::Table;
use search::similarity;
use transport::headers::READS;
use transport::url::decoded;

use crate::{Version, options};

#[derive(Debug)]
pub struct Route {
    /// The path below the version; `{slug}` or `{id}` is that of a record.
    pub path: &'static str,
    pub since: Version,
    pub content: EndpointKind,
    /// The operation ID of the OpenAPI documents.
    pub operation: &'static str,
    pub summary: &'static str,
    pub description: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndpointKind {
    /// A list. The path sets these of its parameters, the first one to the slug.
    List(Resource, &'static [&'static str]),
    /// One record with all its fields.
    Record(Table),
    Facets,
    /// Counts and amounts of the records of a list, by group.
    Aggregate(Resource),
    Stats,
    Snapshots,
    Suggestions,
    Usage,
    /// Differences between two releases.
    Changes,
    /// The record that an item refers to; with POST, the records of many items.
    LookUp,
    /// The saved searches and lists of the key's account.
    Saved,
    /// Their alerts.
    Alerts,
}

impl EndpointKind {
    /// The table of the records that it returns.
    pub fn table(self) -> Option<Table> {
        match self {
            Self::List(resource, _) => Some(resource.table()),
            Self::Record(table) => Some(table),
            Self::Facets => Some(Table::Firms),
            Self::Aggregate(resource) => Some(resource.table()),
            Self::Stats | Self::Snapshots | Self::Suggestions | Self::Usage | Self::Changes | Self::LookUp => None,
            Self::Saved | Self::Alerts => None,
        }
    }

    /// The kind without the parameters that the path sets.
    pub(crate) fn general(self) -> Self {
        match self {
            Self::List(resource, _) => Self::List(resource, &[]),
            other => other,
        }
    }

    /// The value of `Allow`.
    pub(crate) fn methods(self) -> &'static str {
        if self == Self::LookUp { "GET, HEAD, POST, OPTIONS" } else { READS }
    }

    /// True if responses have an `ETag`.
    pub fn is_cacheable(self) -> bool {
        !matches!(self, Self::Snapshots | Self::Usage) && !self.is_of_account()
    }

    /// True if the response belongs to the account of the key; demo keys get none.
    pub fn is_of_account(self) -> bool {
        matches!(self, Self::Saved | Self::Alerts)
    }
}

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

    /// The path of a version that is most similar to `path`: it has as many segments, each of them similar. Slugs are
    /// copied.
    pub(crate) fn suggest(version: Version, path: &str) -> Option<String> {
        let segments: Vec<&str> = path.split('/').collect();
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

    /// The table of the record that the placeholder names.
    pub fn subject(&self) -> Table {
        match self.content {
            EndpointKind::Record(table) => table,
            _ => Table::Firms,
        }
    }

    /// The name of the placeholder in its path.
    pub fn placeholder(&self) -> Option<&'static str> {
        self.around_placeholder().map(|_| self.subject().key())
    }

    /// The path with a slug or id in place of the placeholder.
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

    /// The names of its parameters in a version: filters and `sort`, then the options.
    pub fn parameters(&self, version: Version) -> Vec<&'static str> {
        let filters = |resource: Resource| resource.parameters().iter().map(|parameter| parameter.name);
        let own: Vec<&'static str> = match self.content {
            EndpointKind::List(resource, given) => {
                let settled = settled_by_path(resource, given);
                filters(resource).filter(|name| !settled.contains(name)).collect()
            }
            // Counts have no order, and groups another one than records.
            EndpointKind::Facets => filters(Resource::Firms).filter(|name| *name != "sort").collect(),
            EndpointKind::Aggregate(resource) => filters(resource).filter(|name| *name != "sort").collect(),
            EndpointKind::LookUp => ItemTexts::NAMES.to_vec(),
            _ => Vec::new(),
        };
        own.into_iter().chain(options::names(version, self.content).iter().copied()).collect()
    }
}

/// The parameters that a list does not accept if its path sets the `given` ones: these, `slug` (which is in the path),
/// and the exclusion of other values where a record has only one value.
pub(crate) fn settled_by_path(resource: Resource, given: &[&'static str]) -> Vec<&'static str> {
    let exclusion = |name: &&'static str| {
        let has_several = resource.parameter(&format!("{name}_all")).is_some();
        let exclusion = resource.parameter(&format!("not_{name}")).filter(|_| !has_several);
        exclusion.map(|parameter| parameter.name)
    };
    let in_path = (!given.is_empty()).then_some("slug");
    given.iter().copied().chain(given.iter().filter_map(exclusion)).chain(in_path).collect()
}

const fn route(
    since: Version,
    path: &'static str,
    content: EndpointKind,
    operation: &'static str,
    summary: &'static str,
    description: &'static str,
) -> Route {
    Route { path, since, content, operation, summary, description }
}

const AGGREGATE: &str = "How many records match all filters and, of rounds and startups, what they raised: as a whole and \
    for each value of the properties of `group_by`. Each count is what `total` would be with that value as one more \
    filter; a record is in each group whose value it has. `other` are the records that are only in groups beyond \
    `limit`, `unknown` those of which the property is not known.";

const fn aggregate(path: &'static str, resource: Resource, operation: &'static str, summary: &'static str) -> Route {
    route(Version::V3, path, EndpointKind::Aggregate(resource), operation, summary, AGGREGATE)
}

const ALL: &[Route] = &[
    route(
        Version::V1,
        "vcs",
        EndpointKind::List(Resource::Firms, &[]),
        "list_vcs",
        "List venture capital firms",
        "Firms that match all filters, by default in order of peer score.",
    ),
    route(
        Version::V1,
        "vcs/{slug}",
        EndpointKind::Record(Table::Firms),
        "get_vc",
        "Get one firm",
        "The full profile of a firm: ratings, the peer score with its components and interval, and top co-investors. \
         The slug is case-insensitive.",
    ),
    route(
        Version::V1,
        "reviews",
        EndpointKind::List(Resource::Reviews, &[]),
        "list_reviews",
        "List reviews of firms",
        "Reviews by founders, latest first. A pending review shows only that it exists and waits, with `id`, `vc`, `status` \
         and the month; rejected reviews are never served.",
    ),
    route(
        Version::V1,
        "sectors",
        EndpointKind::List(Resource::Sectors, &[]),
        "list_sectors",
        "List sectors",
        "Sectors with the number of firms and startups in each, its descendants included.",
    ),
    route(
        Version::V1,
        "leaderboard",
        EndpointKind::List(Resource::Leaderboard, &[]),
        "get_leaderboard",
        "Rank firms",
        "Firms in order of a metric, with `rank` and `rank_value`. Ties share a rank. Firms with fewer than 5 approved \
         reviews are not ranked, except by `activity`.",
    ),
    route(
        Version::V3,
        "vcs/facets",
        EndpointKind::Facets,
        "count_vcs",
        "Count firms by facet",
        "The number of firms that match all filters, and how many of them have each stage, sector, country and kind. Each \
         count is what `total` would be with that value as one more filter.",
    ),
    aggregate("vcs/aggregate", Resource::Firms, "aggregate_vcs", "Aggregate firms"),
    aggregate("reviews/aggregate", Resource::Reviews, "aggregate_reviews", "Aggregate reviews"),
    aggregate("startups/aggregate", Resource::Startups, "aggregate_startups", "Aggregate startups"),
    aggregate("funding-rounds/aggregate", Resource::Rounds, "aggregate_funding_rounds", "Aggregate funding rounds"),
    aggregate("people/aggregate", Resource::People, "aggregate_people", "Aggregate people"),
    route(
        Version::V3,
        "vcs/{slug}/reviews",
        EndpointKind::List(Resource::Reviews, &["vc"]),
        "list_vc_reviews",
        "List a firm's reviews",
        "Reviews of one firm, latest first.",
    ),
    route(
        Version::V3,
        "vcs/{slug}/portfolio",
        EndpointKind::List(Resource::Startups, &["investor"]),
        "list_vc_portfolio",
        "List a firm's portfolio",
        "Startups that the firm has invested in.",
    ),
    route(
        Version::V3,
        "vcs/{slug}/rounds",
        EndpointKind::List(Resource::Rounds, &["investor"]),
        "list_vc_rounds",
        "List a firm's rounds",
        "Funding rounds that the firm has joined, latest first.",
    ),
    route(
        Version::V3,
        "vcs/{slug}/people",
        EndpointKind::List(Resource::People, &["organization", "kind"]),
        "list_vc_people",
        "List a firm's people",
        "People who work at the firm.",
    ),
    route(
        Version::V3,
        "vcs/{slug}/co-investors",
        EndpointKind::List(Resource::CoInvestors, &["vc"]),
        "list_vc_co_investors",
        "List a firm's co-investors",
        "Firms that joined rounds with the firm, by number of shared rounds (descending), then slug; the first five are \
         `top_co_investors` of the firm.",
    ),
    route(
        Version::V3,
        "match",
        EndpointKind::List(Resource::Match, &[]),
        "match_vcs",
        "Find firms that fit a startup",
        "Firms in order of how well they fit, each with the points of every reason and its conflicts. At least one of \
         `stage`, `sector`, `country` and `raise_usd` is required. Deterministic, no model: \
         [how it is computed](/docs/match).",
    ),
    route(
        Version::V3,
        "startups",
        EndpointKind::List(Resource::Startups, &[]),
        "list_startups",
        "List startups",
        "Startups that match all filters, by default in order of the amount raised.",
    ),
    route(
        Version::V3,
        "startups/{slug}",
        EndpointKind::Record(Table::Startups),
        "get_startup",
        "Get one startup",
        "A startup with its rounds, its investors and its people.",
    ),
    route(
        Version::V3,
        "funding-rounds",
        EndpointKind::List(Resource::Rounds, &[]),
        "list_funding_rounds",
        "List funding rounds",
        "Funding rounds of startups, latest first.",
    ),
    route(
        Version::V3,
        "funding-rounds/{id}",
        EndpointKind::Record(Table::Rounds),
        "get_funding_round",
        "Get one funding round",
        "A funding round with its startup and its investors.",
    ),
    route(
        Version::V3,
        "reviews/{id}",
        EndpointKind::Record(Table::Reviews),
        "get_review",
        "Get one review",
        "An approved review of a firm.",
    ),
    route(
        Version::V3,
        "sectors/{slug}",
        EndpointKind::Record(Table::Sectors),
        "get_sector",
        "Get one sector",
        "A sector with the number of firms and startups in it, its descendants included.",
    ),
    route(
        Version::V3,
        "people",
        EndpointKind::List(Resource::People, &[]),
        "list_people",
        "List people",
        "People of firms and startups, by name.",
    ),
    route(
        Version::V3,
        "people/{slug}",
        EndpointKind::Record(Table::People),
        "get_person",
        "Get one person",
        "A person with their organization.",
    ),
    route(
        Version::V3,
        "stats",
        EndpointKind::Stats,
        "get_stats",
        "Get totals",
        "The number of records of each type in the snapshot.",
    ),
    route(
        Version::V3,
        "snapshots",
        EndpointKind::Snapshots,
        "list_snapshots",
        "List the loaded releases",
        "Every loaded release of the data, latest first. Cursors of all of them are valid.",
    ),
    route(
        Version::V3,
        "suggest",
        EndpointKind::Suggestions,
        "suggest",
        "Suggest names",
        "Firms, startups, people and sectors whose names complete the text, for a search box: those that equal it, those that \
         begin with it, those with a later word that begins so, each by prominence; if these are few, near ones. At most two \
         sectors, unless only they are requested, and one record of a name that is not typed entirely.",
    ),
    route(
        Version::V3,
        "resolve",
        EndpointKind::LookUp,
        "resolve",
        "Look up a record",
        "The firm, startup or person that a name, a website or an identifier means, with what else is known of it: `match`, \
         `ambiguous` or `none`, and the candidates, each with the points of its evidence. A wrong match is worse than none. \
         With POST up to 500 items, or a CSV file of any length: [how it is decided](/docs/resolve).",
    ),
    route(
        Version::V3,
        "usage",
        EndpointKind::Usage,
        "get_usage",
        "Get your quota",
        "The daily quota of the key and how much of it is used. Not counted.",
    ),
    route(
        Version::V3,
        "changes",
        EndpointKind::Changes,
        "list_changes",
        "List changes between releases",
        "The records that differ between two loaded releases, by table, then by slug or id: a copy of release `from` to which \
         they are applied is a copy of release `to`. [How to keep a copy](/docs/changes).",
    ),
    route(
        Version::V3,
        "saved",
        EndpointKind::Saved,
        "list_saved",
        "List your saved searches and lists",
        "The saved searches and lists of the key's account, the newest first. [How they work](/docs/alerts).",
    ),
    route(
        Version::V3,
        "alerts",
        EndpointKind::Alerts,
        "list_alerts",
        "List your alerts",
        "What each release brought the saved searches and lists of the key's account, the oldest first. To read on, pass the last \
         `id` as `after`, until `data` is empty; if the alerts are large, a response has fewer than `limit`. Alerts are kept for 90 \
         days. [How they work](/docs/alerts).",
    ),
];

/// Splits a path under `/api`, or directly under `/`, into the version and the rest.
pub(crate) fn split_version(path: &str) -> (Option<Version>, &str) {
    let below = path
        .strip_prefix("/api")
        .filter(|below| below.is_empty() || below.starts_with('/'))
        .unwrap_or(path)
        .trim_start_matches('/');
    let (first, rest) = below.split_once('/').unwrap_or((below, ""));
    match Version::of_segment(first) {
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
