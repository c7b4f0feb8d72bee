//! `GET /changes`: the differences between two loaded releases, for clients that keep a copy up to date.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::json;
use utoipa::openapi::{Ref, Required};

use catalog::changes::{self, ChangeFields, Operation};
use catalog::json::FieldSet;
use catalog::{Catalog, ChangeFilter, Cursor, Issues, ListPosition, ParameterError};
use data::field::Model;
use data::vocabulary::Vocabulary;
use transport::problem::Problem;

use super::list;
use crate::endpoint::{ApiOperation, Endpoint};
use crate::envelope::{Meta, PaginationV3, append_member, append_meta};
use crate::openapi::parameter::max_by_tier;
use crate::openapi::vocabulary::{accepted_name, open_vocabulary, vocabulary};
use crate::pagination::open_cursor;
use crate::pin::parse_version;
use crate::request::{Canonical, RequestError, RequestUrl};
use crate::window::{DEFAULT_LIMIT, PageWindow, single_value};
use crate::{ApiRequest, ApiResponse};

/// The parameters that name the two releases.
pub(crate) const FROM: &str = "from";
const TO: &str = "to";

/// Names of the schemas of their values.
const TABLE: &str = "ChangedTable";
const OPERATION: &str = "ChangeOperation";

pub(super) const ENDPOINT: Endpoint = Endpoint {
    // Those of the records that changed.
    fields: |_| {
        let default = "Default: all. A change of none of these fields, and a table that has none, is left out.";
        (FieldSet::of_all_tables(), default.to_owned())
    },
    is_list: true,
    is_paged: true,
    own: &[
        (FROM, |of| {
            let doc = "The release that your copy has; it must be held (`/snapshots`). May be omitted with a cursor.";
            of.release(doc).required(Required::True)
        }),
        (TO, |of| of.release("The release that your copy will have. Default: the release that is served.")),
        ("table", |of| {
            let doc = "Tables whose changes to return (any of). Default: all.";
            of.words(doc, Ref::from_schema_name(accepted_name(TABLE)), json!(["vcs"]), None)
        }),
        ("op", |of| {
            let doc = "What happened to the records (any of). Default: all.";
            of.words(doc, Ref::from_schema_name(accepted_name(OPERATION)), json!(["change"]), None)
        }),
        ("limit", |of| of.limit(&format!("Maximum number of changes. {}", max_by_tier()), DEFAULT_LIMIT)),
    ],
    add_schemas: |_, schemas| {
        let doc = "A table of records: the last segment of the path of its list.";
        schemas.insert(TABLE.to_owned(), open_vocabulary(doc, &changes::paths()));
        schemas.insert(accepted_name(TABLE), vocabulary(doc, &changes::paths()));
        let doc = "What happened to a record between two releases.";
        schemas.insert(OPERATION.to_owned(), open_vocabulary(doc, &Operation::names()));
        schemas.insert(accepted_name(OPERATION), vocabulary(doc, &Operation::names()));
    },
    takes_release: false,
    ..Endpoint::new(<ChangeFields<'_>>::DEFINITION, |url| Ok(Box::new(ChangesRequest::parse(url)?)))
};

struct ChangesRequest {
    from: Arc<Catalog>,
    to: Arc<Catalog>,
    filter: ChangeFilter,
    fields: Vec<(String, String)>,
    start: u64,
    window: PageWindow,
}

impl ChangesRequest {
    fn parse(url: &RequestUrl<'_>) -> Result<Self, RequestError> {
        url.unknown_names()?;
        let mut issues = Issues::default();
        let mut gone = None;
        let cursor = open_cursor(url, &mut issues).unwrap_or_else(|error| {
            gone = Some(error);
            None
        });
        let cursor = cursor.as_ref().map(|(cursor, catalog)| (cursor, catalog));
        let values = match cursor {
            Some((cursor, _)) => {
                Cow::Owned(Cursor::with_omitted(url.values, cursor.options.iter().chain(&cursor.filters)))
            }
            None => Cow::Borrowed(url.values),
        };
        let window = issues.collect(PageWindow::parse(url.version, &values, DEFAULT_LIMIT, url.max_limit));
        let filter = issues.collect(ChangeFilter::parse(&values));
        let mut named = |name| {
            release(url, name, &values, &mut issues).unwrap_or_else(|error| {
                gone.get_or_insert(error);
                None
            })
        };
        let (from, to) = (named(FROM), named(TO));
        if let Some(gone) = gone {
            return Err(gone.joined((!issues.is_empty()).then(|| issues.into())));
        }
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

    /// The filters and releases in canonical names and values.
    fn query(&self) -> Canonical {
        let versions = [(FROM, self.from.version().to_string()), (TO, self.to.version().to_string())];
        versions.into_iter().chain(self.filter.canonical()).collect()
    }
}

impl ApiOperation for ChangesRequest {
    /// True if the releases must still be compared, record by record.
    fn searches(&self) -> bool {
        !self.to.has_changes_from(&self.from)
    }

    fn depends_on_tier(&self) -> bool {
        self.window.depends_on_tier()
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        let limit = self.window.limit;
        let page = self.to.changes(&self.from, &self.filter, self.start, limit as usize);
        let warnings = self.window.warnings();
        let next_cursor = page.next.map(|position| cursor_at(request, self, position)).transpose()?;
        let next_link = next_cursor.as_ref().and_then(|cursor| list::next_link(request, cursor));
        let mut body = Vec::with_capacity(16 * 1024);
        body.extend_from_slice(b"{\"data\":[");
        body.extend_from_slice(&page.changes.join(&b','));
        body.push(b']');
        let has_more = next_cursor.is_some();
        let pagination = PaginationV3 { next_cursor, has_more, total: page.total, limit };
        append_member(&mut body, "pagination", &pagination);
        append_meta(&mut body, request.version, &Meta::new(self.to.snapshot(), &warnings));
        // The next update of a copy starts from `meta.snapshot`.
        Ok(ApiResponse { body, release: 0..0, snapshot: self.to.version(), next_link })
    }
}

/// Finds the loaded release that a parameter names; `None` if it is absent or not a version.
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

fn cursor_at(request: &ApiRequest<'_>, changes: &ChangesRequest, position: u64) -> Result<String, Problem> {
    let limit = changes.window.limit;
    let limit = (limit != DEFAULT_LIMIT).then(|| ("limit", limit.to_string()));
    let fields = changes.fields.iter().map(|(_, names)| ("fields", names.clone()));
    let options = limit.into_iter().chain(fields);
    let cursor = Cursor::new(&changes.to, request.path, changes.query(), options, ListPosition::after(position));
    list::seal(request, &cursor)
}
