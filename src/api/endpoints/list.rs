//! Lists: a page of rows, with the pagination of the API version.

use std::sync::Arc;

use catalog::json::computed::{CoInvestorFields, MatchFields, RankFields};
use catalog::json::{FieldSet, Fields, computed, record};
use catalog::param_error::too_narrow;
use catalog::{
    Catalog, CoInvestorPage, Cursor, Issues, LeaderboardPage, ListPosition, MatchPage, Page, ParameterError, Query,
    Request, Resource,
};
use data::Table;
use data::field::{Definition, Model};
use transport::negotiation::Format;
use transport::problem::{Code, Problem};
use transport::telemetry::RouteGroup;

use crate::asked::ASK;
use crate::endpoint::{ApiEndpoint, ApiOperation, ParsedOperation};
use crate::envelope::{
    ExplainedRow, Meta, Pagination, PaginationV1, PaginationV2, PaginationV3, Suggested, append_member, append_meta,
};
use crate::export::Export;
use crate::openapi::schema::FIRM_SUMMARY;
use crate::options::{AMOUNTS, EXPLAIN};
use crate::other_meaning::ListAddress;
use crate::pagination::{ListRequest, settled_by_path};
use crate::request::RequestUrl;
use crate::window::WindowStart;
use crate::{ApiRequest, ApiResponse, Version};

/// Longest `Link` in bytes: proxies reject responses with long headers, and the body has the cursor, too.
const MAX_LINK: usize = 2 * 1024;

/// A list. The path sets these of its parameters, the first one to the slug.
pub(super) struct ListEndpoint(pub(super) Resource, pub(super) &'static [&'static str]);

impl ApiEndpoint for ListEndpoint {
    fn parse(&self, url: &RequestUrl<'_>) -> ParsedOperation {
        let Self(resource, names) = *self;
        let mut fixed: Vec<(&'static str, String)> = Vec::new();
        if let Some(slug) = url.slug {
            let row = url.find_row(Table::Firms, slug)?;
            let slug = url.catalog.snapshot().slug(Table::Firms, row);
            // The people of the firm only: a startup may have the same slug.
            fixed.extend(names.iter().zip([slug, "firm"]).map(|(name, value)| (*name, value.to_owned())));
        }
        let list = ListRequest::parse(url, resource, &fixed)?;
        match url.format {
            Format::Json => Ok(Box::new(list)),
            format => Ok(Box::new(Arc::new(Export::parse(url, list, format)?))),
        }
    }

    fn item(&self) -> &'static Definition {
        self.0.table().model()
    }

    fn item_name(&self, version: Version) -> &'static str {
        match self.0 {
            Resource::Firms if version != Version::V3 => FIRM_SUMMARY,
            Resource::Leaderboard => RankFields::DEFINITION.name,
            Resource::CoInvestors => CoInvestorFields::DEFINITION.name,
            Resource::Match => MatchFields::DEFINITION.name,
            _ => self.item().name,
        }
    }

    fn field_set(&self) -> FieldSet {
        FieldSet::of_list(self.0)
    }

    fn default_fields(&self) -> String {
        let fields = self.0.table().default_fields().iter().chain(self.field_set().computed());
        let names: Vec<String> = fields.map(|field| format!("`{}`", field.name)).collect();
        format!("Default: {}.", names.join(", "))
    }

    fn is_paged(&self) -> bool {
        true
    }

    fn list(&self) -> Option<Resource> {
        Some(self.0)
    }

    fn excluded(&self) -> Vec<&'static str> {
        settled_by_path(self.0, self.1)
    }

    fn group(&self) -> RouteGroup {
        RouteGroup::List
    }
}

impl ApiOperation for ListRequest {
    fn searches(&self) -> bool {
        let searches = match &self.parsed.request {
            Request::List(Query { text: Some(text), table, .. }) => {
                self.is_set(EXPLAIN) || !self.catalog.has_names(*table, text)
            }
            Request::List(query) => query.is_ranked(),
            Request::Match(_) => true,
            Request::Leaderboard(_) | Request::CoInvestors(_) => false,
        };
        let reads_many_rounds = match &self.parsed.request {
            Request::List(query) => self.is_set(AMOUNTS) || query.reads_rounds(),
            _ => false,
        };
        searches || reads_many_rounds || !self.parsed.warnings.is_empty()
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        respond(request, self)
    }

    fn depends_on_tier(&self) -> bool {
        self.window.depends_on_tier()
    }

    fn add_warnings(&mut self, issues: Issues) {
        self.parsed.warnings.extend(issues);
    }
}

/// A page of a list.
pub(crate) enum ListRows {
    Plain(Page),
    Ranked(LeaderboardPage),
    CoInvestors(CoInvestorPage),
    Matches(MatchPage),
}

impl ListRows {
    /// Loads at most `limit` rows of a list, from a position on.
    pub(crate) fn load(list: &ListRequest, position: ListPosition, limit: usize) -> Self {
        let catalog = &list.catalog;
        match &list.parsed.request {
            Request::List(query) => Self::Plain(catalog.list(query, position, limit)),
            Request::Leaderboard(query) => Self::Ranked(catalog.leaderboard(query, position, limit)),
            Request::CoInvestors(firm) => Self::CoInvestors(catalog.co_investors(*firm, position, limit)),
            Request::Match(query) => Self::Matches(catalog.matches(query, position, limit)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Plain(page) => page.rows.len(),
            Self::Ranked(page) => page.ranked.len(),
            Self::CoInvestors(page) => page.firms.len(),
            Self::Matches(page) => page.matches.len(),
        }
    }

    /// Writes the record of the row at `index`.
    pub(crate) fn write(&self, out: &mut Vec<u8>, list: &ListRequest, index: usize, fields: &Fields) {
        let catalog = &list.catalog;
        match self {
            Self::Plain(page) => {
                record::write(out, catalog, list.resource.table(), page.rows[index], fields, false);
            }
            Self::Ranked(page) => computed::write_ranked(out, catalog, page, index, fields),
            Self::CoInvestors(page) => computed::write_co_investor(out, catalog, page, index, fields),
            Self::Matches(page) => computed::write_match(out, catalog, page, index, fields),
        }
    }

    pub(crate) fn total_and_next(&self) -> (u64, Option<ListPosition>) {
        match self {
            Self::Plain(page) => (page.total, page.next),
            Self::Ranked(page) => (page.total, page.next),
            Self::CoInvestors(page) => (page.total, page.next),
            Self::Matches(page) => (page.total, page.next),
        }
    }
}

fn respond(request: &ApiRequest<'_>, list: &ListRequest) -> Result<ApiResponse, Problem> {
    let (version, resource, catalog) = (request.version, list.resource, &list.catalog);
    let fields = match version {
        Version::V3 => Fields::parse(&list.fields, FieldSet::of_list(resource)).map_err(Problem::of_parameters)?,
        Version::V1 | Version::V2 => Fields::DefaultWithDays,
    };
    let rows = ListRows::load(list, list.position, list.window.limit as usize);
    let warnings = warnings(&ListAddress::from_request(request), list, &rows);
    let (total, next) = rows.total_and_next();

    let next_cursor = match (version, next) {
        (Version::V3, Some(position)) => Some(seal(request, &list.cursor_at(position, version, request.path))?),
        _ => None,
    };
    let next_link = next_cursor.as_ref().and_then(|cursor| next_link(request, cursor));
    let limit = list.window.limit;
    let pagination = match list.window.start {
        WindowStart::Offset(offset) => Pagination::V1(PaginationV1 { total, limit, offset }),
        WindowStart::Page(page) => {
            Pagination::V2(PaginationV2 { page, total_pages: total.div_ceil(limit), total, limit })
        }
        WindowStart::Cursor => {
            Pagination::V3(PaginationV3 { has_more: next_cursor.is_some(), next_cursor, total, limit })
        }
    };

    let table = resource.table();
    let mut body = Vec::with_capacity(16 * 1024);
    body.extend_from_slice(b"{\"data\":[");
    let mut suggestions = Vec::new();
    let mut explained = Vec::new();
    for index in 0..rows.len() {
        if index > 0 {
            body.push(b',');
        }
        rows.write(&mut body, list, index, &fields);
    }
    if let ListRows::Plain(page) = &rows {
        if list.is_set(EXPLAIN) {
            explained = explain(catalog, &list.parsed.request, &page.rows);
        }
        let snapshot = catalog.snapshot();
        suggestions.extend(page.did_you_mean.iter().take(5).map(|row| Suggested {
            slug: snapshot.slug(table, *row).to_owned(),
            name: snapshot.name(table, *row).to_owned(),
        }));
    }
    body.push(b']');
    append_member(&mut body, "pagination", &pagination);
    let snapshot = catalog.version();
    let amounts = match &list.parsed.request {
        Request::List(query) if list.is_set(AMOUNTS) => Some(catalog.amounts(&query.filters)),
        _ => None,
    };
    let (snippets, similar) = match (&rows, &list.parsed.request) {
        (ListRows::Plain(page), Request::List(query)) => {
            (catalog.snippets_of(query, &page.rows), catalog.similarities_of(query, &page.rows))
        }
        _ => Default::default(),
    };
    let asked = list.question.as_ref();
    let asked = asked.map(|question| {
        question.meta(catalog, resource, list.query(version), list.url(request), list.groups_url(request))
    });
    let meta = Meta {
        did_you_mean: &suggestions,
        explain: &explained,
        amounts,
        snippets: &snippets,
        similar: &similar,
        asked,
        ..Meta::new(catalog.snapshot(), &warnings)
    };
    let release = append_meta(&mut body, version, &meta);
    Ok(ApiResponse { body, release, snapshot, next_link })
}

/// Warnings of a page: changes to its request, and the reason why it finds little.
pub(crate) fn warnings(address: &ListAddress<'_>, list: &ListRequest, rows: &ListRows) -> Vec<ParameterError> {
    let (resource, catalog, version) = (list.resource, &list.catalog, address.version);
    let mut warnings = Vec::new();
    if list.window.clamped {
        warnings.push(list.window.clamping(version));
    }
    if list.question.as_ref().is_some_and(|question| question.interpretation.parts.is_empty()) {
        let detail = "no word of the question was read, so that it changes nothing".to_owned();
        warnings.push(ParameterError::value_interpreted(ASK, detail));
    }
    warnings.extend(list.parsed.warnings.report(catalog));
    warnings.extend(list.parsed.notes.iter().cloned());
    let (total, _) = rows.total_and_next();
    if let ListRows::Plain(page) = rows {
        warnings.extend(page.notes.iter().cloned());
    }
    if version == Version::V3 && total == 0 && matches!(rows, ListRows::Plain(_)) {
        // Parameters of the path cannot be dropped.
        let is_given = |name: &str| {
            let own = resource.parameter(name);
            let mut given = address.values.iter().filter_map(|(name, _)| resource.parameter(name));
            given.any(|given| Some(given.name) == own.map(|own| own.name)) || list.asks_for(name)
        };
        let relaxation = catalog.relaxation(resource, &list.parsed.canonical, version.parse_options(&[]), is_given);
        warnings.extend(relaxation.as_ref().map(too_narrow));
    }
    // Lists of v3 have their suggestions in `meta.did_you_mean`.
    if version != Version::V3 {
        warnings.extend(nothing_found(list, rows));
    }
    if let Request::List(query @ Query { text: Some(_), .. }) = &list.parsed.request {
        warnings.extend(address.other_meaning(catalog, query, &list.parameters(version), &list.fixed));
    }
    warnings
}

/// A warning with the nearest name, if a search has no match.
pub(crate) fn nothing_found(list: &ListRequest, rows: &ListRows) -> Option<ParameterError> {
    match (&list.parsed.request, rows) {
        (Request::List(Query { text: Some(text), table, .. }), ListRows::Plain(page)) if page.total == 0 => {
            let similar = page.did_you_mean.first();
            let similar = similar.map(|row| list.catalog.snapshot().slug(*table, *row).to_owned());
            Some(ParameterError::nothing_found(text, similar))
        }
        _ => None,
    }
}

/// Explains the scores of the rows that match a search.
fn explain(catalog: &Catalog, request: &Request, rows: &[u32]) -> Vec<ExplainedRow> {
    let Request::List(query) = request else { return Vec::new() };
    let Some(text) = &query.text else { return Vec::new() };
    let explained = rows.iter().filter_map(|row| {
        let slug = catalog.snapshot().slug(query.table, *row).to_owned();
        Some(ExplainedRow { slug, explanation: catalog.explain(query.table, text, *row)? })
    });
    explained.collect()
}

/// The cursor as signed text.
pub(crate) fn seal(request: &ApiRequest<'_>, cursor: &Cursor) -> Result<String, Problem> {
    cursor.seal(request.state.auth.cursor_secret()).ok_or_else(|| {
        let detail = "the filters do not fit into a cursor; use fewer values per request";
        Problem::new(Code::UrlTooLong, detail)
    })
}

/// The URL of the next page; the cursor carries the query. `None` if it is too long for a header.
pub(crate) fn next_link(request: &ApiRequest<'_>, cursor: &str) -> Option<String> {
    let link = format!("{}/api/v3/{}?cursor={cursor}", request.state.public_url, request.path);
    (link.len() <= MAX_LINK).then_some(link)
}
