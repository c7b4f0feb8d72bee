//! Lists: a page of rows, with the pagination of the API version.

use std::sync::Arc;

use catalog::ask::COUNT_BY;
use catalog::json::computed::{CoInvestorFields, MatchFields, RankFields};
use catalog::json::{FieldSet, Fields};
use catalog::param_error::too_narrow;
use catalog::{
    Cursor, Interpretation, Issues, ListAnswer, ListParts, ParameterError, Query, Relaxable, Request, Resource,
    WantedPage,
};
use data::Table;
use data::field::Model;
use transport::negotiation::Format;
use transport::problem::{Code, Problem};
use transport::telemetry::RouteGroup;

use crate::asked::ASK;
use crate::endpoint::{ApiOperation, Endpoint, ParsedOperation};
use crate::envelope::{
    Asked, ExplainedRow, Meta, PaginationV1, PaginationV2, PaginationV3, Suggested, append_member, append_meta,
};
use crate::export::Export;
use crate::options::{AMOUNTS, EXPLAIN};
use crate::other_meaning::other_meanings;
use crate::pagination::ListRequest;
use crate::request::RequestUrl;
use crate::window::WindowStart;
use crate::{ApiRequest, ApiResponse, Version};

/// Longest `Link` in bytes: proxies reject responses with long headers, and the body has the cursor, too.
const MAX_LINK: usize = 2 * 1024;

/// The records of `list`. The path sets its `settled` parameters: the first to the slug of a firm, `kind` to `firm`.
pub(super) const fn of_resource(list: Resource, settled: &'static [&'static str]) -> Endpoint {
    let item = list.table().model();
    Endpoint {
        name: match list {
            Resource::Leaderboard => RankFields::DEFINITION.name,
            Resource::CoInvestors => CoInvestorFields::DEFINITION.name,
            Resource::Match => MatchFields::DEFINITION.name,
            _ => item.name,
        },
        fields: |endpoint| {
            let set = FieldSet::of_list(resource_of(endpoint));
            let fields = resource_of(endpoint).table().default_fields().iter().chain(set.computed);
            let names: Vec<String> = fields.map(|field| format!("`{}`", field.name)).collect();
            (set, format!("Default: {}.", names.join(", ")))
        },
        is_list: true,
        is_paged: true,
        list: Some(list),
        settled,
        filters: Some(list),
        group: RouteGroup::List,
        ..Endpoint::new(item, parse)
    }
}

fn resource_of(endpoint: &Endpoint) -> Resource {
    endpoint.list.expect("the endpoint is a list")
}

fn parse(url: &RequestUrl<'_>) -> ParsedOperation {
    let endpoint = &url.route.endpoint;
    let mut fixed: Vec<(&'static str, String)> = Vec::new();
    if let Some(slug) = url.slug {
        let row = url.find_row(Table::Firms, slug)?;
        let slug = url.catalog.snapshot().slug(Table::Firms, row);
        // The people of the firm only: a startup may have the same slug.
        fixed.extend(endpoint.settled.iter().zip([slug, "firm"]).map(|(name, value)| (*name, value.to_owned())));
    }
    let list = ListRequest::parse(url, resource_of(endpoint), &fixed)?;
    match url.format {
        Format::Json => Ok(Box::new(list)),
        format => Ok(Box::new(Arc::new(Export::parse(url, list, format)?))),
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
        let (version, resource, catalog) = (request.version, self.resource, &self.catalog);
        let fields = match version {
            Version::V3 => Fields::parse(&self.fields, FieldSet::of_list(resource)).map_err(Problem::of_parameters)?,
            Version::V1 | Version::V2 => Fields::DefaultWithDays,
        };
        let limit = self.window.limit;
        let (amounts, explanations) = (self.is_set(AMOUNTS), self.is_set(EXPLAIN));
        let parts = ListParts { amounts, explanations, snippets: true, similarities: true, ..ListParts::default() };
        let (found, warnings) = answer(request, self, WantedPage { parts, ..self.page(self.position, limit) });
        let ListAnswer { rows, total, next, .. } = &found;
        let next_cursor = match (version, next) {
            (Version::V3, Some(position)) => Some(seal(request, &self.cursor_at(*position, request.path))?),
            _ => None,
        };
        let next_link = next_cursor.as_ref().and_then(|cursor| next_link(request, cursor));
        let total = *total;
        let (table, snapshot) = (resource.table(), catalog.snapshot());
        let mut body = Vec::with_capacity(16 * 1024);
        body.extend_from_slice(b"{\"data\":[");
        rows.write_all(&mut body, catalog, table, &fields);
        body.push(b']');
        match self.window.start {
            WindowStart::Offset(offset) => {
                append_member(&mut body, "pagination", &PaginationV1 { total, limit, offset })
            }
            WindowStart::Page(page) => {
                let total_pages = total.div_ceil(limit);
                append_member(&mut body, "pagination", &PaginationV2 { page, total_pages, total, limit });
            }
            WindowStart::Cursor => {
                let has_more = next_cursor.is_some();
                append_member(&mut body, "pagination", &PaginationV3 { next_cursor, has_more, total, limit });
            }
        }
        let slug = |row: u32| snapshot.slug(table, row).to_owned();
        let suggested = |row: &u32| Suggested { slug: slug(*row), name: snapshot.name(table, *row).to_owned() };
        let similar: Vec<Suggested> = found.did_you_mean.iter().take(5).map(suggested).collect();
        let explain = |(row, explanation)| ExplainedRow { slug: slug(row), explanation };
        let explained: Vec<ExplainedRow> = found.explanations.into_iter().map(explain).collect();
        let asked = self.question.as_ref().map(|question| {
            let Interpretation { parts, unread, .. } = &question.interpretation;
            let arguments = self.query().map(|(name, value)| (if name == "q" { "query" } else { name }, value));
            let groups = question.interpretation.groups().map(|groups| (COUNT_BY, groups.to_owned()));
            Asked {
                interpreted: parts,
                unread,
                suggested: catalog.associations(resource, unread),
                url: self.url(request),
                groups_url: self.groups_url(request),
                arguments: arguments.chain(groups).collect(),
            }
        });
        let meta = Meta {
            did_you_mean: &similar,
            explain: &explained,
            amounts: found.amounts,
            snippets: &found.snippets,
            similar: &found.similarities,
            asked,
            ..Meta::new(snapshot, &warnings)
        };
        let release = append_meta(&mut body, version, &meta);
        Ok(ApiResponse { body, release, snapshot: catalog.version(), next_link })
    }

    fn depends_on_tier(&self) -> bool {
        self.window.depends_on_tier()
    }

    fn add_warnings(&mut self, issues: Issues) {
        self.parsed.warnings.extend(issues);
    }
}

/// Answers a request for a list, with warnings: changes to the request, and the reason why it finds little.
pub(crate) fn answer<'l>(
    request: &ApiRequest<'_>,
    list: &'l ListRequest,
    wanted: WantedPage<'_>,
) -> (ListAnswer<'l>, Vec<ParameterError>) {
    let (resource, catalog, version) = (list.resource, &list.catalog, list.version);
    // Parameters of the path cannot be dropped.
    let may_drop = |name: &str| {
        let own = resource.parameter(name);
        let mut given = request.values.iter().filter_map(|(name, _)| resource.parameter(name));
        let mut asked = list.question.iter().flat_map(|question| question.interpretation.values());
        given.any(|given| Some(given.name) == own.map(|own| own.name)) || asked.any(|(known, _)| known == name)
    };
    let options = version.parse_options(&[]);
    let relaxable = Relaxable { canonical: &list.parsed.canonical, options, may_drop: &may_drop };
    let has_text = matches!(&list.parsed.request, Request::List(Query { text: Some(_), .. }));
    let parameters: Option<Vec<_>> = has_text.then(|| list.parameters().collect());
    let given = parameters.as_ref().map(|parameters| {
        parameters.iter().map(|(name, _)| *name).chain(list.fixed.iter().copied()).collect::<Vec<&str>>()
    });
    let relaxation = (version == Version::V3).then_some(relaxable);
    let parts = ListParts { reading_next_to: given.as_deref(), relaxation, ..wanted.parts };
    let found = catalog.answer(&WantedPage { parts, ..wanted });
    let mut warnings = Vec::new();
    if list.window.clamped {
        warnings.push(list.window.clamping(version));
    }
    if list.question.as_ref().is_some_and(|question| question.interpretation.parts.is_empty()) {
        let detail = "no word of the question was read, so that it changes nothing";
        warnings.push(ParameterError::warning("value_interpreted", ASK, detail));
    }
    let notes = list.question.iter().flat_map(|question| question.interpretation.notes.iter().cloned());
    warnings.extend(notes.map(|note| ParameterError::warning("value_interpreted", ASK, note)));
    warnings.extend(list.parsed.warnings.report(catalog));
    warnings.extend(list.parsed.notes.iter().chain(&found.notes).cloned());
    warnings.extend(found.relaxation.as_ref().map(too_narrow));
    // Lists of v3 have their suggestions in `meta.did_you_mean`.
    if version != Version::V3 {
        warnings.extend(nothing_found(list, &found));
    }
    let reading = found.reading.as_ref().zip(parameters);
    warnings
        .extend(reading.into_iter().flat_map(|(reading, given)| other_meanings(request, resource, reading, &given)));
    (found, warnings)
}

/// A warning with the nearest name, if a search has no match.
pub(crate) fn nothing_found(list: &ListRequest, found: &ListAnswer<'_>) -> Option<ParameterError> {
    let Request::List(Query { text: Some(text), table, .. }) = &list.parsed.request else { return None };
    let similar = found.did_you_mean.first();
    let similar = || similar.map(|row| list.catalog.snapshot().slug(*table, *row).to_owned());
    (found.total == 0).then(|| ParameterError::nothing_found(text, similar()))
}

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
