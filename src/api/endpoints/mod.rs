//! The endpoints: a module for each of them or each kind, and the route table. One row per path drives routing, the
//! paths that errors suggest, and the documents. A new endpoint is a module here and its row.

mod aggregate;
mod alerts;
mod ask;
pub(crate) mod changes;
mod facets;
pub(crate) mod list;
pub(crate) mod look_up;
mod record;
pub(crate) mod saved;
mod snapshots;
mod stats;
pub(crate) mod submit_review;
pub(crate) mod suggest;
mod usage;

use catalog::Resource;
use data::Table;

use crate::Version;
use crate::endpoint::Endpoint;
use crate::routes::Route;

/// A route of v3, not yet documented.
const fn route(path: &'static str, endpoint: Endpoint, operation: &'static str) -> Route {
    Route { path, since: Version::V3, endpoint, operation, summary: "", description: "" }
}

const fn list_route(
    path: &'static str,
    resource: Resource,
    settled: &'static [&'static str],
    operation: &'static str,
) -> Route {
    route(path, list::of_resource(resource, settled), operation)
}

const fn record_route(path: &'static str, table: Table, operation: &'static str) -> Route {
    route(path, record::of_table(table), operation)
}

/// The same of all versions.
const fn since_v1(route: Route) -> Route {
    Route { since: Version::V1, ..route }
}

impl Route {
    const fn documented(self, summary: &'static str, description: &'static str) -> Self {
        Self { summary, description, ..self }
    }
}

const AGGREGATE: &str = "How many records match all filters and, of rounds and startups, what they raised: as a whole and \
    for each value of the properties of `group_by`. Each count is what `total` would be with that value as one more \
    filter; a record is in each group whose value it has. `other` are the records that are only in groups beyond \
    `limit`, `unknown` those of which the property is not known.";

const fn aggregate(path: &'static str, resource: Resource, operation: &'static str, summary: &'static str) -> Route {
    route(path, aggregate::of_list(resource), operation).documented(summary, AGGREGATE)
}

pub(crate) const ALL: &[Route] = &[
    since_v1(list_route("vcs", Resource::Firms, &[], "list_vcs"))
        .documented("List venture capital firms", "Firms that match all filters, by default in order of peer score."),
    since_v1(record_route("vcs/{slug}", Table::Firms, "get_vc")).documented(
        "Get one firm",
        "The full profile of a firm: ratings, the peer score with its components and interval, and top co-investors. \
         The slug is case-insensitive.",
    ),
    since_v1(list_route("reviews", Resource::Reviews, &[], "list_reviews")).documented(
        "List reviews of firms",
        "Reviews by founders, latest first. A pending review shows only that it exists and waits, with `id`, `vc`, `status` \
         and the month; rejected reviews are never served.",
    ),
    since_v1(list_route("sectors", Resource::Sectors, &[], "list_sectors"))
        .documented("List sectors", "Sectors with the number of firms and startups in each, its descendants included."),
    since_v1(list_route("leaderboard", Resource::Leaderboard, &[], "get_leaderboard")).documented(
        "Rank firms",
        "Firms in order of a metric, with `rank` and `rank_value`. Ties share a rank. Firms whose reviews count as fewer than \
         5 of today are not ranked, except by `activity`.",
    ),
    route("vcs/facets", facets::ENDPOINT, "count_vcs").documented(
        "Count firms by facet",
        "The number of firms that match all filters, and how many of them have each stage, sector, country and kind. Each \
         count is what `total` would be with that value as one more filter.",
    ),
    aggregate("vcs/aggregate", Resource::Firms, "aggregate_vcs", "Aggregate firms"),
    aggregate("reviews/aggregate", Resource::Reviews, "aggregate_reviews", "Aggregate reviews"),
    aggregate("startups/aggregate", Resource::Startups, "aggregate_startups", "Aggregate startups"),
    aggregate("funding-rounds/aggregate", Resource::Rounds, "aggregate_funding_rounds", "Aggregate funding rounds"),
    aggregate("people/aggregate", Resource::People, "aggregate_people", "Aggregate people"),
    list_route("vcs/{slug}/reviews", Resource::Reviews, &["vc"], "list_vc_reviews")
        .documented("List a firm's reviews", "Reviews of one firm, latest first."),
    list_route("vcs/{slug}/portfolio", Resource::Startups, &["investor"], "list_vc_portfolio")
        .documented("List a firm's portfolio", "Startups that the firm has invested in."),
    list_route("vcs/{slug}/rounds", Resource::Rounds, &["investor"], "list_vc_rounds")
        .documented("List a firm's rounds", "Funding rounds that the firm has joined, latest first."),
    list_route("vcs/{slug}/people", Resource::People, &["organization", "kind"], "list_vc_people")
        .documented("List a firm's people", "People who work at the firm."),
    list_route("vcs/{slug}/co-investors", Resource::CoInvestors, &["vc"], "list_vc_co_investors").documented(
        "List a firm's co-investors",
        "Firms that joined rounds with the firm, by number of shared rounds (descending), then slug; the first five are \
         `top_co_investors` of the firm.",
    ),
    list_route("match", Resource::Match, &[], "match_vcs").documented(
        "Find firms that fit a startup",
        "Firms in order of how well they fit, each with the points of every reason and its conflicts. At least one of \
         `stage`, `sector`, `country` and `raise_usd` is required. Deterministic, no model: \
         [how it is computed](/docs/match).",
    ),
    list_route("startups", Resource::Startups, &[], "list_startups")
        .documented("List startups", "Startups that match all filters, by default in order of the amount raised."),
    record_route("startups/{slug}", Table::Startups, "get_startup")
        .documented("Get one startup", "A startup with its rounds, its investors and its people."),
    list_route("funding-rounds", Resource::Rounds, &[], "list_funding_rounds")
        .documented("List funding rounds", "Funding rounds of startups, latest first."),
    record_route("funding-rounds/{id}", Table::Rounds, "get_funding_round")
        .documented("Get one funding round", "A funding round with its startup and its investors."),
    record_route("reviews/{id}", Table::Reviews, "get_review")
        .documented("Get one review", "An approved review of a firm."),
    record_route("sectors/{slug}", Table::Sectors, "get_sector").documented(
        "Get one sector",
        "A sector with the number of firms and startups in it, its descendants included.",
    ),
    list_route("people", Resource::People, &[], "list_people")
        .documented("List people", "People of firms and startups, by name."),
    record_route("people/{slug}", Table::People, "get_person")
        .documented("Get one person", "A person with their organization."),
    route("stats", stats::ENDPOINT, "get_stats")
        .documented("Get totals", "The number of records of each type in the snapshot."),
    route("snapshots", snapshots::ENDPOINT, "list_snapshots").documented(
        "List the loaded releases",
        "Every loaded release of the data, latest first. Cursors of all of them are valid.",
    ),
    route("ask", ask::ENDPOINT, "ask").documented(
        "Answer a question",
        "Decides which list answers a question in plain words (startups, firms, rounds or people; one record of it, or a \
         count), and returns its first records with how each word was read. The same question as a request for the list is \
         `url`.",
    ),
    route("suggest", suggest::ENDPOINT, "suggest").documented(
        "Suggest names",
        "Firms, startups, people and sectors whose names complete the text, for a search box: those that equal it, those that \
         begin with it, those with a later word that begins so, each by prominence; if these are few, near ones. At most two \
         sectors, unless only they are requested, and one record of a name that is not typed entirely.",
    ),
    route("resolve", look_up::ENDPOINT, "resolve").documented(
        "Look up a record",
        "The firm, startup or person that a name, a website or an identifier means, with what else is known of it: `match`, \
         `ambiguous` or `none`, and the candidates, each with the points of its evidence. A wrong match is worse than none. \
         With POST up to 500 items, or a CSV file of any length: [how it is decided](/docs/resolve).",
    ),
    route("usage", usage::ENDPOINT, "get_usage")
        .documented("Get your quota", "The daily quota of the key and how much of it is used. Not counted."),
    route("changes", changes::ENDPOINT, "list_changes").documented(
        "List changes between releases",
        "The records that differ between two loaded releases, by table, then by slug or id: a copy of release `from` to which \
         they are applied is a copy of release `to`. [How to keep a copy](/docs/changes).",
    ),
    route("saved", saved::ENDPOINT, "list_saved").documented(
        "List your saved searches and lists",
        "The saved searches and lists of the key's account, the newest first. POST saves a search, DELETE deletes one. [How they work](/docs/alerts).",
    ),
    route("alerts", alerts::ENDPOINT, "list_alerts").documented(
        "List your alerts",
        "What each release brought the saved searches and lists of the key's account, the oldest first. To read on, pass the last \
         `id` as `after`, until `data` is empty; if the alerts are large, a response has fewer than `limit`. Alerts are kept for 90 \
         days. [How they work](/docs/alerts).",
    ),
];
