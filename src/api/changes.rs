//! `GET /changes`: what differs between two loaded releases, for copies that are kept up to date.

use std::sync::Arc;

use catalog::{Catalog, ChangeFilter, Cursor, Issues, ListPosition, ParameterError};
use transport::problem::Problem;

use crate::envelope::{Meta, Pagination, PaginationV3, append_member, append_meta};
use crate::list;
use crate::pagination::{open_cursor, with_window};
use crate::pin::parse_version;
use crate::request::{Canonical, RequestError, RequestUrl};
use crate::window::{DEFAULT_LIMIT, PageWindow, single_value};
use crate::{ApiRequest, ApiResponse};

/// The parameters that name the two releases.
pub(crate) const FROM: &str = "from";
pub(crate) const TO: &str = "to";

pub(crate) struct ChangesRequest {
    from: Arc<Catalog>,
    to: Arc<Catalog>,
    filter: ChangeFilter,
    /// The parameter `fields`.
    fields: Vec<(String, String)>,
    start: u64,
    window: PageWindow,
}

impl ChangesRequest {
    pub(crate) fn parse(url: &RequestUrl<'_>) -> Result<Self, RequestError> {
        let mut issues = Issues::default();
        let cursor = open_cursor(url, &mut issues)?;
        let cursor = cursor.as_ref().map(|(cursor, catalog)| (cursor, catalog));
        let values = match cursor {
            Some((cursor, _)) => with_carried(&with_window(url.values, cursor), cursor),
            None => url.values.to_vec(),
        };
        let window = issues.collect(PageWindow::parse(url.version, &values, url.max_limit));
        let filter = issues.collect(ChangeFilter::parse(&values));
        let from = release(url, FROM, &values, &mut issues)?;
        let to = release(url, TO, &values, &mut issues)?;
        if from.is_none() && issues.is_empty() {
            let detail = "`from` is required: the snapshot of your copy, from `meta.snapshot` or `X-Snapshot`";
            issues.extend(vec![ParameterError::invalid(FROM, detail)].into());
        }
        let to = cursor.map(|(_, catalog)| Arc::clone(catalog)).or(to).unwrap_or_else(|| Arc::clone(url.catalog));
        match (from, filter, window) {
            (Some(from), Some(filter), Some(window)) if issues.is_empty() => {
                let fields = values.iter().filter(|(name, _)| name == "fields").cloned().collect();
                let request = Self { from, to, filter, fields, start: 0, window };
                let Some((cursor, _)) = cursor else { return Ok(request) };
                cursor.check(&request.query(), |_, _| None).map_err(|error| vec![error])?;
                Ok(Self { start: cursor.position.offset, ..request })
            }
            _ => Err(issues.into()),
        }
    }

    /// Whether another tier may have another response.
    pub(crate) fn depends_on_tier(&self) -> bool {
        self.window.depends_on_tier()
    }

    /// Whether the releases are still to be compared, record by record.
    pub(crate) fn is_expensive(&self) -> bool {
        !self.to.has_changes_from(&self.from)
    }

    /// The filters and releases in canonical names and values.
    fn query(&self) -> Canonical {
        let versions = [(FROM, self.from.version().to_string()), (TO, self.to.version().to_string())];
        versions.into_iter().chain(self.filter.canonical()).collect()
    }

    pub(crate) fn canonical(&self) -> Canonical {
        let start = (self.start > 0).then(|| ("cursor", self.start.to_string()));
        self.query().into_iter().chain(self.window.canonical(DEFAULT_LIMIT)).chain(start).collect()
    }
}

/// The values with those of a cursor's query that are not given.
fn with_carried(values: &[(String, String)], cursor: &Cursor) -> Vec<(String, String)> {
    let is_given = |name: &str| values.iter().any(|(known, value)| known == name && !value.trim().is_empty());
    let carried = cursor.filters().into_iter().filter(|(name, _)| !is_given(name));
    values.iter().cloned().chain(carried).collect()
}

/// The loaded release that a parameter names; `None` if it is not given or not a version.
fn release(
    url: &RequestUrl<'_>,
    name: &'static str,
    values: &[(String, String)],
    issues: &mut Issues,
) -> Result<Option<Arc<Catalog>>, RequestError> {
    let mut errors = Vec::new();
    let text = single_value(values, name, &mut errors);
    let version = text.and_then(|text| {
        let version = parse_version(name, text, url.catalog.version());
        version.map_err(|error| errors.push(error)).ok()
    });
    issues.extend(errors.into());
    let Some(version) = version else { return Ok(None) };
    url.state.releases.loaded(version).map(Some).ok_or_else(|| RequestError::not_held(url.state, name, version))
}

pub(crate) fn respond(request: &ApiRequest<'_>, changes: &ChangesRequest) -> Result<ApiResponse, Problem> {
    let limit = changes.window.limit;
    let page = changes.to.changes(&changes.from, &changes.filter, changes.start, limit as usize);
    let warnings: Vec<ParameterError> =
        changes.window.clamped.then(|| ParameterError::limit_clamped(limit)).into_iter().collect();
    let next_cursor = page.next.map(|position| cursor_at(request, changes, position)).transpose()?;
    let next_link = next_cursor.as_ref().and_then(|cursor| list::next_link(request, cursor));
    let mut body = Vec::with_capacity(16 * 1024);
    body.extend_from_slice(b"{\"data\":[");
    body.extend_from_slice(&page.changes.join(&b','));
    body.push(b']');
    let has_more = next_cursor.is_some();
    let pagination = Pagination::V3(PaginationV3 { next_cursor, has_more, total: page.total, limit });
    append_member(&mut body, "pagination", &pagination);
    append_meta(&mut body, request.version, &Meta::of(changes.to.snapshot(), &warnings));
    // `meta.snapshot` is where a copy continues.
    Ok(ApiResponse { body, release: 0..0, snapshot: changes.to.version(), next_link })
}

fn cursor_at(request: &ApiRequest<'_>, changes: &ChangesRequest, position: u64) -> Result<String, Problem> {
    let limit = changes.window.limit;
    let limit = (limit != DEFAULT_LIMIT).then(|| ("limit".to_owned(), limit.to_string()));
    let query = changes.query().into_iter().map(|(name, value)| (name.to_owned(), value));
    let cursor = Cursor {
        snapshot: changes.to.version(),
        content: changes.to.snapshot().content(),
        path: request.path.to_ascii_lowercase(),
        query: query.chain(limit).chain(changes.fields.clone()).collect(),
        position: ListPosition::after(position),
    };
    list::seal(request, &cursor)
}
