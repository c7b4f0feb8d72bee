//! The first page: search over everything, what there is, and three ways to begin.

use askama::Template;
use http::Response;
use serde::Serialize;

use crate::catalog::{Catalog, LeaderboardQuery, ListPosition, Order, Query, Totals};
use crate::data::{Metric, Table};
use crate::http::headers::{Caching, CommonHeaders, set};
use crate::openapi::model;
use crate::openapi::model::{Firm, Person, Startup};
use crate::site::layout::PageLayout;

use crate::site::error_page::{PageError, named, noun, path_of};
use crate::site::link::Link;
use crate::site::{PageRequest, format};

/// Results of each kind.
const RESULTS: usize = 8;
/// Names suggested while one types.
const SUGGESTIONS: usize = 8;
/// Firms of the leaderboard shown.
const LEADERS: usize = 5;
/// Characters of a name that is searched for.
const LONGEST: usize = crate::catalog::param_schema::LONGEST_TEXT;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    frame: PageLayout,
    totals: &'a Totals,
    released_on: String,
    leaders: Vec<(u64, Firm)>,
    base: &'a str,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    frame: PageLayout,
    q: String,
    firms: Found<Firm>,
    startups: Found<Startup>,
    people: Found<Person>,
    near: Vec<(String, String)>,
}

/// Results of one kind.
struct Found<R> {
    records: Vec<R>,
    total: u64,
    capped: bool,
    /// The address of all of them.
    all: String,
    /// Names that may have been meant, where none is found, with their paths.
    near: Vec<(String, String)>,
}

fn found<R: serde::de::DeserializeOwned>(catalog: &Catalog, table: Table, path: &str, text: &str) -> Found<R> {
    let query = Query { text: Some(text.to_owned()), order: Order::Relevance, ..Query::all(table) };
    let page = catalog.list(&query, ListPosition::default(), RESULTS);
    let records = page.rows.iter().filter_map(|row| model::read(catalog, table, *row)).collect();
    let all = Link::new(path, Vec::new()).with("q", text).href();
    let near = page.did_you_mean.iter().take(2).map(|row| named(catalog, table, *row)).collect();
    Found { records, total: page.total, capped: page.capped, all, near }
}

fn text_of(query: &str) -> String {
    let text =
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "q").map(|(_, text)| text.into_owned());
    text.unwrap_or_default().trim().chars().take(LONGEST).collect()
}

/// `/`: the first page, or what a search finds.
pub(crate) fn page(catalog: &Catalog, visit: PageRequest<'_>) -> Result<String, PageError> {
    let text = text_of(visit.query);
    if !text.is_empty() {
        return search(catalog, visit, text);
    }
    let query = LeaderboardQuery { metric: Metric::HealthScore, clauses: Vec::new() };
    let board = catalog.leaderboard(&query, ListPosition::default(), LEADERS);
    let leaders =
        board.ranked.iter().filter_map(|ranked| Some((ranked.rank, model::read(catalog, Table::Firms, ranked.row)?)));
    let about = "Ratings, peer scores, ghosting rates and profiles of venture capital firms, with their startups, rounds \
                 and people.";
    let page = HomePage {
        frame: PageLayout::of(catalog.snapshot(), "VentureDex", about, visit.path),
        totals: catalog.totals(),
        released_on: format::day(&catalog.totals().released_on),
        leaders: leaders.collect(),
        base: &visit.state.public_url,
    };
    Ok(page.render()?)
}

fn search(catalog: &Catalog, visit: PageRequest<'_>, q: String) -> Result<String, PageError> {
    let firms = found(catalog, Table::Firms, "/vcs", &q);
    let startups = found(catalog, Table::Startups, "/startups", &q);
    let people = found(catalog, Table::People, "/people", &q);
    let near = [&firms.near, &startups.near, &people.near].into_iter().flatten().cloned().collect();
    let frame =
        PageLayout::of(catalog.snapshot(), &format!("{q}: search"), "What is found by name.", visit.path).unlisted();
    Ok(SearchPage { frame, q, firms, startups, people, near }.render()?)
}

#[derive(Serialize)]
struct Suggestions {
    names: Vec<Suggestion>,
}

#[derive(Serialize)]
struct Suggestion {
    name: String,
    kind: &'static str,
    href: String,
}

/// `/suggest?q=`: what the first page's search field offers while one types.
pub(crate) fn suggest(catalog: &Catalog, visit: PageRequest<'_>) -> Response<Vec<u8>> {
    let text = text_of(visit.query);
    let snapshot = catalog.snapshot();
    let names = if text.is_empty() { Vec::new() } else { catalog.suggest(&text, SUGGESTIONS) };
    let names = names.into_iter().map(|(table, row, _)| Suggestion {
        name: snapshot.name(table, row).to_owned(),
        kind: noun(table),
        href: path_of(table, snapshot.slug(table, row)),
    });
    // Texts always have a JSON form.
    let body = serde_json::to_vec(&Suggestions { names: names.collect() }).unwrap_or_default();
    let mut response = Response::new(body);
    set(response.headers_mut(), "content-type", "application/json");
    CommonHeaders { caching: Some(Caching::Private), ..crate::site::PAGE }.write(response.headers_mut());
    response
}
