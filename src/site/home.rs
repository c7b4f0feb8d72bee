//! The home page: search over all names, totals, and links to get started.

use std::collections::HashMap;

use askama::Template;
use http::{Response, StatusCode};
use serde::Serialize;

use crate::choice::{Choice, choices};
use crate::error_page::{name_and_path, path_of};
use crate::layout::PageLayout;
use crate::lists::{list_path, nouns};
use crate::market::{countries, rounds_by_year, sectors};
use crate::question::SearchQuestion;
use crate::record_table::RecordTable;
use crate::records::records;
use crate::release_page::ReleaseNews;
use crate::round_table;
use crate::{PageRequest, PageResult, PathValues, page_headers, render, respond_with, response_of};
use catalog::params::MAX_TEXT_CHARS;
use catalog::{Catalog, Filter, LeaderboardQuery, ListPosition, Order, Query, Ranking, Resource, TextIndexes, Totals};
use data::coverage::Markets;
use data::model::{Firm, Person, Startup};
use data::{Direction, Metric, Table};
use transport::headers::Caching;
use view::charts::{Bars, ChartFigure, TileMap, Treemap};
use view::format;
use view::link::Link;

const MAX_RESULTS: usize = 8;
pub(crate) const MAX_SUGGESTIONS: usize = 8;
const MAX_LEADERS: usize = 5;
const MAX_NEWEST: usize = 8;
const RESOURCES: [Resource; 3] = [Resource::Firms, Resource::Startups, Resource::People];
/// With this number, each name fits into its rectangle.
pub(crate) const MAX_SECTORS: usize = 12;

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    layout: PageLayout,
    totals: &'a Totals,
    /// The years with covered rounds.
    covered: Option<String>,
    boards: Vec<Board>,
    choices: Vec<Choice>,
    by_year: Option<Bars>,
    sectors: Option<Treemap>,
    countries: Option<TileMap>,
    newest: RecordTable,
    /// What the current release brought.
    news: Option<ReleaseNews>,
    base: &'a str,
    /// The bundled data is shown until there is other data: the page says how to get it.
    is_bundled: bool,
}

struct Board {
    name: &'static str,
    title: &'static str,
    href: &'static str,
    all: &'static str,
    firms: Vec<(u64, Firm)>,
    /// True to show the score, false to show the number of rounds.
    is_scored: bool,
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    layout: PageLayout,
    q: String,
    of_firms: TableResults,
    of_startups: TableResults,
    of_people: TableResults,
    firms: Vec<Firm>,
    startups: Vec<Startup>,
    people: Vec<Person>,
    total: u64,
    suggestions: Vec<(String, String)>,
    /// The text read as a question, if it has no certain name match.
    question: Option<SearchQuestion>,
    /// True if the results come from a search of descriptions, because nothing else matched.
    is_described: bool,
    /// Lists of description matches to offer next to merely similar names: count in words, and path.
    described: Vec<(String, String)>,
    /// Excerpts of the descriptions by slug, in parts; true marks a matched word.
    snippets: HashMap<String, Vec<(String, bool)>>,
}

impl SearchPage {
    fn remark(&self, slug: &str) -> &[(String, bool)] {
        self.snippets.get(slug).map_or(&[], Vec::as_slice)
    }
}

struct TableResults {
    rows: Vec<u32>,
    total: u64,
    /// True if no name is a certain match.
    is_loose: bool,
    /// The same, or if no name has the words as they are written.
    is_similar: bool,
    all: String,
    /// Name and path of records with a similar name, if there are no results.
    suggestions: Vec<(String, String)>,
}

impl TableResults {
    /// Results from the first rows of a list, all of them certain.
    fn certain(rows: Vec<u32>, total: u64, all: String) -> Self {
        Self { rows, total, is_loose: false, is_similar: false, all, suggestions: Vec::new() }
    }
}

fn list_href(table: Table, name: &str, text: &str) -> String {
    Link::new(list_path(table), Vec::new()).with(name, text).href()
}

fn name_query(table: Table, text: &str) -> Query {
    Query { text: Some(text.to_owned()), order: Order::Relevance, ..Query::all(table) }
}

fn search_table(catalog: &Catalog, table: Table, text: &str) -> TableResults {
    let page = catalog.list(&name_query(table, text), ListPosition::default(), MAX_RESULTS);
    let similar = page.did_you_mean.iter().take(2);
    let has_note = |code: &str| page.notes.iter().any(|note| note.code == code);
    TableResults {
        suggestions: similar.map(|row| name_and_path(catalog, table, *row)).collect(),
        is_loose: has_note("relaxed"),
        is_similar: has_note("relaxed") || has_note("similar"),
        ..TableResults::certain(page.rows, page.total, list_href(table, "q", text))
    }
}

fn search_text(request: PageRequest<'_>) -> String {
    request.parameter("q").unwrap_or_default().trim().chars().take(MAX_TEXT_CHARS).collect()
}

/// `/`: the home page, or the results of a search.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let text = search_text(request);
    if !text.is_empty() {
        return search(catalog, request, text);
    }
    let newest = catalog.list(&Query::all(Table::Rounds), ListPosition::default(), MAX_NEWEST);
    let description = "Ratings, peer scores, ghosting rates and profiles of venture capital firms, with their startups, \
                       funding rounds and people.";
    let by_year = rounds_by_year(catalog);
    let layout = PageLayout::new(catalog.snapshot(), "", description, request.path).canonical(request.state);
    render(&HomePage {
        layout: layout.with_chart(request.state, by_year.as_ref().map(ChartFigure::head)),
        totals: catalog.totals(),
        covered: catalog.round_coverage().covered_text(None, &Markets::All),
        boards: boards(catalog)?,
        choices: choices(catalog, &Link::new("/match", Vec::new()), &["stage", "sector", "country"], &[]),
        by_year,
        sectors: sectors(catalog, MAX_SECTORS, "/"),
        countries: countries(catalog),
        newest: round_table::table_of(catalog, &newest.rows)?,
        news: ReleaseNews::new(catalog, request.state),
        base: &request.state.public_url,
        is_bundled: catalog.is_bundled(),
    })
}

fn boards(catalog: &Catalog) -> PageResult<Vec<Board>> {
    let query = LeaderboardQuery { metric: Metric::HealthScore, filters: Vec::new() };
    let rated = catalog.leaderboard(&query, ListPosition::default(), MAX_LEADERS).rows;
    let key = Table::Firms.sort_key("investment_count");
    let query = Query { order: Order::Keys(vec![(key, Direction::Descending)]), ..Query::all(Table::Firms) };
    let busiest = catalog.list(&query, ListPosition::default(), MAX_LEADERS).rows;
    let ranks = rated.iter().map(|ranked| ranked.rank);
    let rated: Vec<Firm> = records(catalog, Table::Firms, rated.iter().map(|ranked| &ranked.row))?;
    let mut busiest: Vec<Firm> = records(catalog, Table::Firms, &busiest)?;
    busiest.retain(|firm| firm.investment_count > 0);
    let rated: Vec<(u64, Firm)> = ranks.zip(rated).collect();
    let busiest: Vec<(u64, Firm)> = (1..).zip(busiest).collect();
    let boards = [
        (["rated", "Highest rated by founders", "/leaderboard", "full leaderboard"], rated, true),
        (["busiest", "Most investments", "/vcs?sort=-investment_count", "all firms"], busiest, false),
    ];
    let boards = boards.into_iter().filter(|(_, firms, _)| !firms.is_empty());
    Ok(boards
        .map(|([name, title, href, all], firms, is_scored)| Board { name, title, href, all, firms, is_scored })
        .collect())
}

fn search(catalog: &Catalog, request: PageRequest<'_>, q: String) -> PageResult<String> {
    let mut found = RESOURCES.map(|resource| search_table(catalog, resource.table(), &q));
    let is_sure = found.iter().any(|results| results.total > 0 && !results.is_loose);
    let mut question = None;
    if !is_sure {
        // As on the page of the list that answers the text as a question, and as `/ask` answers it.
        let (subject, search) = catalog.read_asked(&q, |table| name_query(table, &q));
        if let Some(search) = search {
            let list = Link::new(list_path(subject.table()), Vec::new());
            question = SearchQuestion::from_search(catalog, subject, &search, &list, MAX_RESULTS)?;
        }
    }
    let read_question = question.as_ref().filter(|question| question.is_read);
    // Answers to the question take precedence over merely similar names.
    if let Some(SearchQuestion { table, rows, total, href, .. }) = read_question
        && let Some(place) = RESOURCES.iter().position(|resource| resource.table() == *table)
    {
        found[place] = TableResults::certain(rows.clone(), *total, href.clone());
    }
    let suggestions = found.iter().flat_map(|results| &results.suggestions).cloned().collect();
    let total_of = |found: &[TableResults]| -> u64 { found.iter().map(|results| results.total).sum() };
    let is_described = total_of(&found) == 0 && read_question.is_none();
    let (mut snippets, mut described) = (HashMap::new(), Vec::new());
    let is_unread = question.as_ref().is_none_or(|question| !question.unread.is_empty());
    if !is_described && !is_sure && is_unread {
        described.extend(RESOURCES.into_iter().filter_map(|resource| {
            let (one, many) = nouns(resource.table());
            let count = catalog.count_described(resource, &q) as u64;
            (count > 0).then(|| (format::counted(count, one, many), list_href(resource.table(), "text", &q)))
        }));
    } else if is_described {
        // Records with all words of the text in their descriptions, sectors or places.
        for (resource, results) in RESOURCES.into_iter().zip(&mut found) {
            if catalog.count_described(resource, &q) == 0 {
                continue;
            }
            let table = resource.table();
            let filters = vec![Filter::Ranked(Ranking::Described(q.clone()))];
            let query = Query { filters, order: Order::Relevance, ..Query::all(table) };
            let page = catalog.list(&query, ListPosition::default(), MAX_RESULTS);
            let excerpts = catalog.snippets_of(&query, &page.rows).into_iter();
            snippets.extend(excerpts.map(|snippet| (snippet.slug.clone(), snippet.parts())));
            *results = TableResults::certain(page.rows, page.total, list_href(table, "text", &q));
        }
    }
    let title = format!("Search: {q}");
    let layout = PageLayout::new(catalog.snapshot(), &title, "Firms, startups and people by name.", request.path)
        .not_indexed()
        .with_operator(&request.state.operator);
    let total = total_of(&found);
    let [of_firms, of_startups, of_people] = found;
    render(&SearchPage {
        layout,
        q,
        firms: records(catalog, Table::Firms, &of_firms.rows)?,
        startups: records(catalog, Table::Startups, &of_startups.rows)?,
        people: records(catalog, Table::People, &of_people.rows)?,
        of_firms,
        of_startups,
        of_people,
        total,
        suggestions,
        question,
        is_described,
        described,
        snippets,
    })
}

/// `/suggest/opensearch?q=`: suggestions for the address bar, in the OpenSearch format: text, names, notes and URLs.
pub(crate) fn suggest_to_browser(catalog: &Catalog, request: PageRequest<'_>) -> Response<Vec<u8>> {
    let text = search_text(request);
    let (snapshot, base) = (catalog.snapshot(), &request.state.public_url);
    let (mut names, mut notes, mut addresses) = (Vec::new(), Vec::new(), Vec::new());
    for suggestion in catalog.suggest(&text, &TextIndexes::TABLES, MAX_SUGGESTIONS) {
        names.push(snapshot.name(suggestion.table, suggestion.row));
        notes.push(suggestion.note.unwrap_or_default());
        let path = path_of(suggestion.table, snapshot.slug(suggestion.table, suggestion.row));
        addresses.push(format!("{base}{path}"));
    }
    let body = serde_json::json!([text, names, notes, addresses]).to_string();
    respond_with(request, StatusCode::OK, body.into_bytes(), "application/x-suggestions+json")
}

#[derive(Serialize)]
struct NameSuggestion {
    name: String,
    kind: &'static str,
    note: Option<String>,
    /// The matching alias or initials, if the name does not match.
    alias: Option<String>,
    /// Start and end (exclusive), in characters, of the bold part of the alias, or of the name if there is no alias.
    matched: Option<[usize; 2]>,
    href: String,
}

/// `/suggest?q=`: the names that the search field offers while a visitor types.
pub(crate) fn suggest(catalog: &Catalog, request: PageRequest<'_>) -> Response<Vec<u8>> {
    let text = search_text(request);
    let snapshot = catalog.snapshot();
    let names = catalog.suggest(&text, &TextIndexes::TABLES, MAX_SUGGESTIONS);
    let names = names.into_iter().map(|suggestion| NameSuggestion {
        name: snapshot.name(suggestion.table, suggestion.row).to_owned(),
        kind: suggestion.table.noun(),
        note: suggestion.note,
        alias: suggestion.alias,
        matched: suggestion.matched.map(|part| [part.start, part.end]),
        href: path_of(suggestion.table, snapshot.slug(suggestion.table, suggestion.row)),
    });
    let names = HashMap::from([("names", names.collect::<Vec<_>>())]);
    let body = serde_json::to_vec(&names).expect("strings have a JSON form");
    response_of(body, "application/json", page_headers(Caching::Private))
}
