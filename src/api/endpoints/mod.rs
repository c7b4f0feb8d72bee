//! The endpoints: a module for each of them or each kind, and the route table. One row per path drives routing, the
//! paths that errors suggest, and the documents. A new endpoint is a module here and its row.

mod aggregate;
mod alerts;
pub(crate) mod changes;
mod facets;
pub(crate) mod list;
mod look_up;
mod record;
mod saved;
mod snapshots;
mod stats;
mod suggest;
mod usage;

use catalog::Resource;
use data::Table;

use crate::Version;
use crate::endpoint::Endpoint;
use crate::routes::Route;

/// A route of v3.
const fn route(
    path: &'static str,
    endpoint: Endpoint,
    operation: &'static str,
    summary: &'static str,
    description: &'static str,
) -> Route {
    Route { path, since: Version::V3, endpoint, operation, summary, description }
}

/// The same of all versions.
const fn since_v1(route: Route) -> Route {
    Route { since: Version::V1, ..route }
}

const AGGREGATE: &str = "How many records match all filters and, of rounds and startups, what they raised: as a whole and \
    for each value of the properties of `group_by`. Each count is what `total` would be with that value as one more \
    filter; a record is in each group whose value it has. `other` are the records that are only in groups beyond \
    `limit`, `unknown` those of which the property is not known.";

const fn aggregate(path: &'static str, resource: Resource, operation: &'static str, summary: &'static str) -> Route {
    route(path, aggregate::of_list(resource), operation, summary, AGGREGATE)
}

pub(crate) const ALL: &[Route] = &[
    since_v1(route(
        "vcs",
        list::of_resource(Resource::Firms, &[]),
        "list_vcs",
        "List venture capital firms",
        "Firms that match all filters, by default in order of peer score.",
    )),
    since_v1(route(
        "vcs/{slug}",
        record::of_table(Table::Firms),
        "get_vc",
        "Get one firm",
        "The full profile of a firm: ratings, the peer score with its components and interval, and top co-investors. \
         The slug is case-insensitive.",
    )),
    since_v1(route(
        "reviews",
        list::of_resource(Resource::Reviews, &[]),
        "list_reviews",
        "List reviews of firms",
        "Reviews by founders, latest first. A pending review shows only that it exists and waits, with `id`, `vc`, `status` \
         and the month; rejected reviews are never served.",
    )),
    since_v1(route(
        "sectors",
        list::of_resource(Resource::Sectors, &[]),
        "list_sectors",
        "List sectors",
        "Sectors with the number of firms and startups in each, its descendants included.",
    )),
    since_v1(route(
        "leaderboard",
        list::of_resource(Resource::Leaderboard, &[]),
        "get_leaderboard",
        "Rank firms",
        "Firms in order of a metric, with `rank` and `rank_value`. Ties share a rank. Firms with fewer than 5 approved \
         reviews are not ranked, except by `activity`.",
    )),
    route(
        "vcs/facets",
        facets::ENDPOINT,
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
        "vcs/{slug}/reviews",
        list::of_resource(Resource::Reviews, &["vc"]),
        "list_vc_reviews",
        "List a firm's reviews",
        "Reviews of one firm, latest first.",
    ),
    route(
        "vcs/{slug}/portfolio",
        list::of_resource(Resource::Startups, &["investor"]),
        "list_vc_portfolio",
        "List a firm's portfolio",
        "Startups that the firm has invested in.",
    ),
    route(
        "vcs/{slug}/rounds",
        list::of_resource(Resource::Rounds, &["investor"]),
        "list_vc_rounds",
        "List a firm's rounds",
        "Funding rounds that the firm has joined, latest first.",
    ),
    route(
        "vcs/{slug}/people",
        list::of_resource(Resource::People, &["organization", "kind"]),
        "list_vc_people",
        "List a firm's people",
        "People who work at the firm.",
    ),
    route(
        "vcs/{slug}/co-investors",
        list::of_resource(Resource::CoInvestors, &["vc"]),
        "list_vc_co_investors",
        "List a firm's co-investors",
        "Firms that joined rounds with the firm, by number of shared rounds (descending), then slug; the first five are \
         `top_co_investors` of the firm.",
    ),
    route(
        "match",
        list::of_resource(Resource::Match, &[]),
        "match_vcs",
        "Find firms that fit a startup",
        "Firms in order of how well they fit, each with the points of every reason and its conflicts. At least one of \
         `stage`, `sector`, `country` and `raise_usd` is required. Deterministic, no model: \
         [how it is computed](/docs/match).",
    ),
    route(
        "startups",
        list::of_resource(Resource::Startups, &[]),
        "list_startups",
        "List startups",
        "Startups that match all filters, by default in order of the amount raised.",
    ),
    route(
        "startups/{slug}",
        record::of_table(Table::Startups),
        "get_startup",
        "Get one startup",
        "A startup with its rounds, its investors and its people.",
    ),
    route(
        "funding-rounds",
        list::of_resource(Resource::Rounds, &[]),
        "list_funding_rounds",
        "List funding rounds",
        "Funding rounds of startups, latest first.",
    ),
    route(
        "funding-rounds/{id}",
        record::of_table(Table::Rounds),
        "get_funding_round",
        "Get one funding round",
        "A funding round with its startup and its investors.",
    ),
    route(
        "reviews/{id}",
        record::of_table(Table::Reviews),
        "get_review",
        "Get one review",
        "An approved review of a firm.",
    ),
    route(
        "sectors/{slug}",
        record::of_table(Table::Sectors),
        "get_sector",
        "Get one sector",
        "A sector with the number of firms and startups in it, its descendants included.",
    ),
    route(
        "people",
        list::of_resource(Resource::People, &[]),
        "list_people",
        "List people",
        "People of firms and startups, by name.",
    ),
    route(
        "people/{slug}",
        record::of_table(Table::People),
        "get_person",
        "Get one person",
        "A person with their organization.",
    ),
    route("stats", stats::ENDPOINT, "get_stats", "Get totals", "The number of records of each type in the snapshot."),
    route(
        "snapshots",
        snapshots::ENDPOINT,
        "list_snapshots",
        "List the loaded releases",
        "Every loaded release of the data, latest first. Cursors of all of them are valid.",
    ),
    route(
        "suggest",
        suggest::ENDPOINT,
        "suggest",
        "Suggest names",
        "Firms, startups, people and sectors whose names complete the text, for a search box: those that equal it, those that \
         begin with it, those with a later word that begins so, each by prominence; if these are few, near ones. At most two \
         sectors, unless only they are requested, and one record of a name that is not typed entirely.",
    ),
    route(
        "resolve",
        look_up::ENDPOINT,
        "resolve",
        "Look up a record",
        "The firm, startup or person that a name, a website or an identifier means, with what else is known of it: `match`, \
         `ambiguous` or `none`, and the candidates, each with the points of its evidence. A wrong match is worse than none. \
         With POST up to 500 items, or a CSV file of any length: [how it is decided](/docs/resolve).",
    ),
    route(
        "usage",
        usage::ENDPOINT,
        "get_usage",
        "Get your quota",
        "The daily quota of the key and how much of it is used. Not counted.",
    ),
    route(
        "changes",
        changes::ENDPOINT,
        "list_changes",
        "List changes between releases",
        "The records that differ between two loaded releases, by table, then by slug or id: a copy of release `from` to which \
         they are applied is a copy of release `to`. [How to keep a copy](/docs/changes).",
    ),
    route(
        "saved",
        saved::ENDPOINT,
        "list_saved",
        "List your saved searches and lists",
        "The saved searches and lists of the key's account, the newest first. [How they work](/docs/alerts).",
    ),
    route(
        "alerts",
        alerts::ENDPOINT,
        "list_alerts",
        "List your alerts",
        "What each release brought the saved searches and lists of the key's account, the oldest first. To read on, pass the last \
         `id` as `after`, until `data` is empty; if the alerts are large, a response has fewer than `limit`. Alerts are kept for 90 \
         days. [How they work](/docs/alerts).",
    ),
];
