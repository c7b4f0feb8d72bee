//! The endpoints of the REST API: one table tells the paths that errors offer and those that the documents describe.
//! What each asks for stands in `super::path`.

use crate::catalog::Resource;
use crate::data::Table;

use crate::api::Version;

/// What can be asked for at one path.
#[derive(Debug)]
pub struct Route {
    /// The path below the version; `{slug}` stands for a record's slug.
    pub path: &'static str,
    /// The first version that has it.
    pub since: Version,
    /// What it answers.
    pub content: EndpointKind,
    /// Its name among all endpoints, for programs that are made from the documents.
    pub operation: &'static str,
    /// What it answers, in a few words.
    pub summary: &'static str,
    /// What else a caller should know.
    pub description: &'static str,
}

/// What an endpoint answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointKind {
    /// A list; the path itself gives these of its parameters.
    List(Resource, &'static [&'static str]),
    /// One record, with all its fields.
    Record(Table),
    /// Counts of firms by what they have.
    Facets,
    /// Totals of the snapshot.
    Stats,
    /// The releases that are held.
    Snapshots,
    /// Names that a text being typed may become.
    Suggestions,
    /// The caller's quota.
    Usage,
}

impl EndpointKind {
    /// The table whose records it answers.
    #[must_use]
    pub fn table(self) -> Option<Table> {
        match self {
            Self::List(resource, _) => Some(resource.table()),
            Self::Record(table) => Some(table),
            Self::Facets => Some(Table::Firms),
            Self::Stats | Self::Snapshots | Self::Suggestions | Self::Usage => None,
        }
    }

    /// Whether it can be kept and asked for again with `If-None-Match`.
    #[must_use]
    pub fn is_cacheable(self) -> bool {
        !matches!(self, Self::Snapshots | Self::Usage)
    }
}

impl Route {
    /// All endpoints of a version, in the order in which they are shown.
    pub fn of(version: Version) -> impl Iterator<Item = &'static Self> {
        ALL.iter().filter(move |endpoint| endpoint.since <= version)
    }

    /// The table whose record `{slug}` in its path names.
    #[must_use]
    pub fn subject(&self) -> Table {
        match self.path.split('/').next() {
            Some("startups") => Table::Startups,
            Some("people") => Table::People,
            _ => Table::Firms,
        }
    }

    /// The names of the parameters that it takes.
    #[must_use]
    pub fn parameters(&self, version: Version) -> Vec<&'static str> {
        match self.content {
            EndpointKind::List(resource, given) => {
                let own = resource.parameters().iter().map(|parameter| parameter.name);
                let own = own.filter(|name| !given.contains(name));
                own.chain(version.window_parameters(resource.parameter("q").is_some()).iter().copied()).collect()
            }
            EndpointKind::Facets => {
                let own = Resource::Firms.parameters().iter().map(|parameter| parameter.name);
                own.filter(|name| *name != "sort").chain(["fields"]).collect()
            }
            EndpointKind::Suggestions => vec!["q", "limit", "fields"],
            _ if version == Version::V3 => vec!["fields"],
            _ => Vec::new(),
        }
    }
}

const fn of(
    since: Version,
    path: &'static str,
    content: EndpointKind,
    operation: &'static str,
    summary: &'static str,
    description: &'static str,
) -> Route {
    Route { path, since, content, operation, summary, description }
}

const ALL: &[Route] = &[
    of(
        Version::V1,
        "vcs",
        EndpointKind::List(Resource::Firms, &[]),
        "list_vcs",
        "List venture capital firms",
        "Firms that fulfil all filters, the best peer score first unless `sort` says otherwise.",
    ),
    of(
        Version::V1,
        "vcs/{slug}",
        EndpointKind::Record(Table::Firms),
        "get_vc",
        "Get one firm",
        "The whole profile of a firm: ratings, the peer score with its components and interval, and whom it invests with. \
         The slug matches in any letter case.",
    ),
    of(
        Version::V1,
        "reviews",
        EndpointKind::List(Resource::Reviews, &[]),
        "list_reviews",
        "List reviews of firms",
        "Reviews by founders, the latest first. Rejected ones are never served.",
    ),
    of(
        Version::V1,
        "sectors",
        EndpointKind::List(Resource::Sectors, &[]),
        "list_sectors",
        "List sectors",
        "Sectors with the number of firms and startups in each and in those below it.",
    ),
    of(
        Version::V1,
        "leaderboard",
        EndpointKind::List(Resource::Leaderboard, &[]),
        "get_leaderboard",
        "Rank firms",
        "Firms in order of a metric, with `rank` and `rank_value`. Ties share a rank. Firms with fewer than 5 approved \
         reviews are not ranked, except by `activity`.",
    ),
    of(
        Version::V3,
        "vcs/facets",
        EndpointKind::Facets,
        "count_vcs",
        "Count firms by what they have",
        "How many firms fulfil all filters, and how many of them have each stage, sector, country and kind. Each count is \
         what `total` would be with that value as one more filter. Where more names match `q` than \
         a search gives (1,000, fewer for several words), the counts are those of the best of them, as many as `total` \
         says, and `meta.warnings` has `total_capped`.",
    ),
    of(
        Version::V3,
        "vcs/{slug}/reviews",
        EndpointKind::List(Resource::Reviews, &["vc"]),
        "list_vc_reviews",
        "List a firm's reviews",
        "Reviews of one firm, the latest first.",
    ),
    of(
        Version::V3,
        "vcs/{slug}/portfolio",
        EndpointKind::List(Resource::Startups, &["investor"]),
        "list_vc_portfolio",
        "List a firm's portfolio",
        "Startups that the firm has invested in.",
    ),
    of(
        Version::V3,
        "vcs/{slug}/rounds",
        EndpointKind::List(Resource::Rounds, &["investor"]),
        "list_vc_rounds",
        "List a firm's rounds",
        "Funding rounds that the firm has joined, the latest first.",
    ),
    of(
        Version::V3,
        "vcs/{slug}/people",
        EndpointKind::List(Resource::People, &["organization", "kind"]),
        "list_vc_people",
        "List a firm's people",
        "People who work at the firm.",
    ),
    of(
        Version::V3,
        "vcs/{slug}/co-investors",
        EndpointKind::List(Resource::CoInvestors, &["vc"]),
        "list_vc_co_investors",
        "List a firm's co-investors",
        "Firms that joined rounds with the firm, those with most shared rounds first, then by slug; the first five are \
         `top_co_investors` of the firm.",
    ),
    of(
        Version::V3,
        "match",
        EndpointKind::List(Resource::Match, &[]),
        "match_vcs",
        "Find firms that fit a startup",
        "Firms in order of how well they fit, each with its points for every reason and with its conflicts. At least one \
         parameter besides those of paging is needed. No model and no chance: [how it is computed](/docs/match).",
    ),
    of(
        Version::V3,
        "startups",
        EndpointKind::List(Resource::Startups, &[]),
        "list_startups",
        "List startups",
        "Startups that fulfil all filters, those that raised most first unless `sort` says otherwise.",
    ),
    of(
        Version::V3,
        "startups/{slug}",
        EndpointKind::Record(Table::Startups),
        "get_startup",
        "Get one startup",
        "A startup with its rounds, its investors and its people.",
    ),
    of(
        Version::V3,
        "funding-rounds",
        EndpointKind::List(Resource::Rounds, &[]),
        "list_funding_rounds",
        "List funding rounds",
        "Funding rounds of startups, the latest first.",
    ),
    of(
        Version::V3,
        "people",
        EndpointKind::List(Resource::People, &[]),
        "list_people",
        "List people",
        "People of firms and startups, by name.",
    ),
    of(
        Version::V3,
        "people/{slug}",
        EndpointKind::Record(Table::People),
        "get_person",
        "Get one person",
        "A person with the organization that they work at.",
    ),
    of(
        Version::V3,
        "stats",
        EndpointKind::Stats,
        "get_stats",
        "Get totals",
        "How much the snapshot holds of everything.",
    ),
    of(
        Version::V3,
        "snapshots",
        EndpointKind::Snapshots,
        "list_snapshots",
        "List the releases held",
        "Every release of the data that the service holds, the latest first. Cursors of all of them are honoured.",
    ),
    of(
        Version::V3,
        "suggest",
        EndpointKind::Suggestions,
        "suggest",
        "Suggest names",
        "Firms, startups, people and sectors whose names the text may become, for a search box; the best first.",
    ),
    of(
        Version::V3,
        "usage",
        EndpointKind::Usage,
        "get_usage",
        "Get your quota",
        "What the key may ask for today, and what of it is used. Costs nothing.",
    ),
];
