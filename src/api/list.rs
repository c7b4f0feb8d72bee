//! Lists: a window of rows with the pagination that the version writes.

use std::borrow::Cow;

use http::StatusCode;

use crate::catalog::{
    Catalog, CoInvestorPage, LeaderboardPage, ListPosition, MatchPage, Page, ParameterError, Request, Resource,
};
use crate::http::problem::{Code, Problem};

use crate::api::Version;
use crate::api::computed_fields;
use crate::api::cursor::Cursor;
use crate::api::envelope::{
    ExplainedRow, Meta, Pagination, PaginationV1, PaginationV2, PaginationV3, Suggested, append_member, append_meta,
};
use crate::api::fields::Fields;
use crate::api::pagination::{DecodedCursor, ListRequest, carried, carried_window};
use crate::api::record_json;
use crate::api::schema::FieldSet;
use crate::api::version::{PageWindow, Start, single};
use crate::api::{ApiRequest, ApiResponse};

/// The rows of a page, from a table or a list that is made for the request.
enum Rows {
    Plain(Page),
    RankedRow(LeaderboardPage),
    CoInvestors(CoInvestorPage),
    Fits(MatchPage),
}

impl Rows {
    fn total(&self) -> u64 {
        match self {
            Self::Plain(page) => page.total,
            Self::RankedRow(page) => page.total,
            Self::CoInvestors(page) => page.total,
            Self::Fits(page) => page.total,
        }
    }

    fn is_capped(&self) -> bool {
        matches!(self, Self::Plain(Page { capped: true, .. }))
    }

    fn next(&self) -> Option<ListPosition> {
        match self {
            Self::Plain(page) => page.next,
            Self::RankedRow(page) => page.next,
            Self::CoInvestors(page) => page.next,
            Self::Fits(page) => page.next,
        }
    }
}

/// Answers a list of `resource`. `given` are further conditions that the path makes (`vcs/acme/rounds`).
pub(crate) fn answer(
    call: &ApiRequest<'_>,
    resource: Resource,
    given: &[(&str, &str)],
) -> Result<ApiResponse, Problem> {
    let version = call.version;
    let mut warnings = Vec::new();
    let mut faults = Faults::default();
    let opened = match version {
        Version::V3 => faults.of(DecodedCursor::read(call))?,
        Version::V1 | Version::V2 => None,
    };
    let opened = opened.flatten();
    let values = opened.as_ref().map_or(Cow::Borrowed(call.values), |opened| opened.window(call.values));
    let window = faults.of(PageWindow::read(version, &values, &mut warnings).map_err(Problem::of_parameters))?;
    let fields = faults.of(match version {
        Version::V3 => Fields::parse(&values, FieldSet::of_list(resource)).map_err(Problem::of_parameters),
        Version::V1 | Version::V2 => Ok(Fields::Default),
    })?;
    let explains = faults.of(explains(version, &values))?;
    let offset = window.as_ref().map_or(0, PageWindow::offset);
    let walk = faults.of(ListRequest::begin(call, resource, given, opened, offset))?;
    let (window, fields, explains, walk) = match (window, fields, explains, walk) {
        (Some(window), Some(fields), Some(explains), Some(walk)) if faults.0.is_empty() => {
            (window, fields, explains, walk)
        }
        _ => return Err(faults.all()),
    };
    let asked = walk.asked;
    let rows = match &asked.request {
        Request::List(query) => Rows::Plain(walk.catalog.list(query, walk.place, window.limit as usize)),
        Request::Board(query) => Rows::RankedRow(walk.catalog.leaderboard(query, walk.place, window.limit as usize)),
        Request::CoInvestors(firm) => {
            Rows::CoInvestors(walk.catalog.co_investors(*firm, walk.place, window.limit as usize))
        }
        Request::Match(query) => Rows::Fits(walk.catalog.fits(query, walk.place, window.limit as usize)),
    };
    warnings.extend(asked.warnings);
    if rows.is_capped() {
        warnings.push(ParameterError::total_capped(rows.total()));
    }

    let next_cursor = match version {
        Version::V3 => rows.next().map(|place| -> Result<String, Problem> {
            let mut query = carried(version, resource, &asked.canonical);
            query.extend(carried_window(&values, window.limit, explains));
            let (snapshot, content) = (walk.catalog.version(), walk.catalog.snapshot().content());
            let cursor = Cursor { snapshot, content, path: call.path.to_ascii_lowercase(), query, place };
            cursor.seal(call.state.access.cursor_secret()).ok_or_else(|| {
                let detail = "these filters are too long for a cursor to carry: ask for fewer values at a time";
                Problem::new(Code::UrlTooLong, detail)
            })
        }),
        Version::V1 | Version::V2 => None,
    };
    let next_cursor = next_cursor.transpose()?;
    let next_link = next_cursor.as_ref().map(|cursor| next_link(call, cursor));
    let (total, limit) = (rows.total(), window.limit);
    let pagination = match &window.start {
        Start::Offset(offset) => Pagination::V1(PaginationV1 { total, limit, offset: *offset }),
        Start::Page(page) => {
            Pagination::V2(PaginationV2 { page: *page, total_pages: total.div_ceil(limit), total, limit })
        }
        Start::Cursor(_) => Pagination::V3(PaginationV3 { has_more: next_cursor.is_some(), next_cursor, total, limit }),
    };

    let table = resource.table();
    let mut body = Vec::with_capacity(16 * 1024);
    body.extend_from_slice(b"{\"data\":[");
    let mut meant = Vec::new();
    let mut explained = Vec::new();
    match &rows {
        Rows::Plain(page) => {
            for (index, row) in page.rows.iter().enumerate() {
                if index > 0 {
                    body.push(b',');
                }
                record_json::write(&mut body, &walk.catalog, table, *row, &fields, false);
            }
            let snapshot = walk.catalog.snapshot();
            if explains {
                explained = explain(&walk.catalog, &asked.request, &page.rows);
            }
            meant.extend(page.did_you_mean.iter().take(5).map(|row| Suggested {
                slug: snapshot.slug(table, *row).to_owned(),
                name: snapshot.name(table, *row).to_owned(),
            }));
        }
        Rows::RankedRow(page) => computed_fields::write_ranked(&mut body, &walk.catalog, page, &fields),
        Rows::CoInvestors(page) => computed_fields::write_co_investors(&mut body, &walk.catalog, page, &fields),
        Rows::Fits(page) => computed_fields::write_matches(&mut body, &walk.catalog, page, &fields),
    }
    body.push(b']');
    append_member(&mut body, "pagination", &pagination);
    let snapshot = walk.catalog.version();
    let meta = Meta { snapshot: snapshot.to_string(), warnings: &warnings, did_you_mean: &meant, explain: &explained };
    append_meta(&mut body, version, &meta);
    Ok(ApiResponse { body, snapshot, next_link })
}

/// What is wrong with a request: all of it at once, so that it is mended in one go.
#[derive(Default)]
struct Faults(Vec<ParameterError>);

impl Faults {
    /// What was read, or nothing where parameters are at fault; what else is wrong ends the reading.
    fn of<T>(&mut self, read: Result<T, Problem>) -> Result<Option<T>, Problem> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(problem) if problem.errors.is_empty() || problem.code.status() != StatusCode::BAD_REQUEST => {
                Err(problem)
            }
            Err(problem) => {
                self.0.extend(problem.errors);
                Ok(None)
            }
        }
    }

    fn all(self) -> Problem {
        Problem::of_parameters(self.0)
    }
}

/// Whether a search is to explain its matches (`explain=true`).
fn explains(version: Version, values: &[(String, String)]) -> Result<bool, Problem> {
    let mut errors = Vec::new();
    let given = if version == Version::V3 { single(values, "explain", &mut errors) } else { None };
    let explains = match given {
        None | Some("0" | "false") => false,
        Some("1" | "true") => true,
        Some(other) => {
            errors.push(ParameterError::invalid("explain", format!("`{other}` is neither `true` nor `false`")));
            false
        }
    };
    if errors.is_empty() { Ok(explains) } else { Err(Problem::of_parameters(errors)) }
}

/// The parts of the rows' scores, where they answer a search.
fn explain(catalog: &Catalog, request: &Request, rows: &[u32]) -> Vec<ExplainedRow> {
    let Request::List(query) = request else { return Vec::new() };
    let Some((text, index)) = query.text.as_deref().zip(catalog.text_index(query.table)) else { return Vec::new() };
    let snapshot = catalog.snapshot();
    let names = snapshot.names(query.table);
    let explained = rows.iter().map(|row| ExplainedRow {
        slug: snapshot.slug(query.table, *row).to_owned(),
        explanation: index.explain(&names, text, *row),
    });
    explained.collect()
}

/// The address of the next page: the cursor says all.
fn next_link(call: &ApiRequest<'_>, cursor: &str) -> String {
    format!("{}/api/v3/{}?cursor={cursor}", call.state.public_url, call.path)
}
