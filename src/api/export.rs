//! A list as a file: all its rows from a position on, as CSV or NDJSON, written page by page while it is sent.
//!
//! The rows are those of the JSON list, by the same code. The quota is charged at the start, for all rows that will be
//! sent. An error before the first byte is a problem document; a later one ends the connection without a proper end of
//! the body, so that an incomplete file is never mistaken for a complete one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream;
use http::header::{CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, Method, Response};

use auth::Caller;
use auth::quota::{Overloaded, Quota, ROWS_OF_REQUEST, WorkMeter};
use catalog::flat::{CsvWriter, FlatColumn, list_columns};
use catalog::json::{ComposedRecord, FieldSet, Fields};
use catalog::{ListPosition, ListRows, ParameterError};
use data::{Date, rfc3339};
use platform::metrics::panics;
use service::State;
use transport::body::{BodyError, ByteStream, ClientFault, Payload};
use transport::headers::{self, Caching, set};
use transport::negotiation::{Format, GzipStream, accepts_gzip};
use transport::problem::Problem;
use transport::warnings::{MAX_HEADER, write_warnings};

use crate::asked::ASK;
use crate::endpoint::ApiOperation;
use crate::endpoints::list;
use crate::pagination::ListRequest;
use crate::request::{Canonical, RequestError, RequestUrl, panicked};
use crate::routes::{Route, split_version};
use crate::window::{DEFAULT_LIMIT, single_value};
use crate::{
    ApiRequest, ApiResponse, MAX_HEADERS, Parsed, Pipeline, PipelineOutcome, Version, catch_panic, precondition_failed,
    shared_headers,
};

/// Number of rows of a file that cost one request.
pub const ROWS_PER_REQUEST: u64 = ROWS_OF_REQUEST as u64;
/// Size in bytes from which a part of a file is sent.
const PART: usize = 64 * 1024;
/// Delay before a part is retried if the queue is full.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);
/// Maximum duration of a file or table; until it ends, its release stays in memory.
pub(crate) const MAX_DURATION: Duration = Duration::from_secs(3_600);

pub(crate) const CSV: &str = "text/csv; charset=utf-8; header=present";

/// Splits a path below a version into the path and the format of its extension. Only lists of v3 have formats.
pub(crate) fn split_format(version: Option<Version>, path: &str) -> (&str, Option<Format>) {
    let of_list = |format: Format| {
        let path = path.strip_suffix(format.extension())?.strip_suffix('.')?;
        let (route, _) = Route::find(Version::V3, path)?;
        route.list().map(|_| (path, Some(format)))
    };
    let formats = [Format::Csv, Format::Ndjson].into_iter().filter(|_| version == Some(Version::V3));
    formats.filter_map(of_list).next().unwrap_or((path, None))
}

pub(crate) struct Export {
    list: ListRequest,
    format: Format,
    limit: Option<u64>,
}

impl Export {
    pub(crate) fn parse(url: &RequestUrl<'_>, mut list: ListRequest, format: Format) -> Result<Self, RequestError> {
        // Flags are about `meta` or the form of the JSON.
        if let Some(name) = list.flags.first() {
            let detail = format!(
                "`{name}` changes only JSON, not a file: omit it, or pass `{name}=false` with a cursor that carries it"
            );
            return Err(vec![ParameterError::invalid(name, detail)].into());
        }
        // The limit of a cursor is a page length, so only an explicit `limit` counts.
        let limit = single_value(url.values, "limit", &mut Vec::new()).map(|_| list.window.limit);
        list.window.limit = DEFAULT_LIMIT;
        Ok(Self { list, format, limit })
    }

    /// The request in canonical names and values; `None` if it was not fully understood.
    pub(crate) fn canonical(&self) -> Option<Canonical> {
        let list = &self.list;
        // Notes quote values as written.
        if list.parsed.notes.iter().any(ParameterError::depends_on_spelling) {
            return None;
        }
        let fields = list.canonical_fields()?;
        // Filters next to a cursor agree with it.
        let mut canonical = match &list.cursor {
            Some(cursor) => vec![("cursor", cursor.clone())],
            None => list.without_defaults().collect(),
        };
        canonical.extend((!fields.is_empty()).then_some(("fields", fields)));
        canonical.extend(list.question.as_ref().map(|question| (ASK, question.text.clone())));
        canonical.push(("format", self.format.extension().to_owned()));
        canonical.extend(self.limit.map(|limit| ("limit", limit.to_string())));
        Some(canonical)
    }

    fn open(self: &Arc<Self>, request: &ApiRequest<'_>) -> Result<ExportWriter, Problem> {
        let set = FieldSet::of_list(self.list.resource);
        let fields = Fields::parse(&self.list.fields, set).map_err(Problem::of_parameters)?;
        let position = self.list.position;
        let limit = self.limit.unwrap_or(u64::MAX);
        let wanted = self.list.page(position, limit.min(ROWS_PER_REQUEST));
        let (found, mut warnings) = list::answer(request, &self.list, wanted);
        warnings.extend(list::nothing_found(&self.list, &found));
        let after = found.total.saturating_sub(position.offset);
        let rows = after.min(limit);
        let columns = match self.format {
            Format::Csv => list_columns(self.list.resource, &fields),
            _ => Vec::new(),
        };
        Ok(ExportWriter {
            export: Arc::clone(self),
            fields: Arc::new(fields),
            page: found.rows,
            index: 0,
            next: found.next,
            rows_left: rows,
            is_part: rows < after,
            warnings,
            columns: columns.into(),
            has_header: false,
            gzip: None,
            has_ended: false,
        })
    }
}

impl ApiOperation for Arc<Export> {
    /// Each part of the file is a job of the queue.
    fn searches(&self) -> bool {
        true
    }

    /// The response to a request that `If-Match` excludes; others get the file before this.
    fn respond(&self, _request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        Err(precondition_failed())
    }

    fn export(&self) -> Option<&Arc<Export>> {
        Some(self)
    }
}

impl Pipeline<'_> {
    /// Responds with a list as a file. Its rows, and thus its cost, are not counted without any quota left.
    pub(super) fn send_file(
        &self,
        caller: &Caller,
        parsed: &Parsed,
        export: &Arc<Export>,
        values: &[(String, String)],
        quota: &mut Quota,
    ) -> Result<PipelineOutcome, Problem> {
        if self.state.auth.peek(caller, quota.day).remaining == Some(0) {
            self.charge_quota(caller, 1, quota)?;
        }
        let (_, path) = split_version(self.request.path);
        let request = self.api_request(Version::V3, path, values, *quota, caller.account);
        let opened = catch_panic(self.request.trace, panicked, || export.open(&request));
        // HEAD gets no rows.
        let is_head = *self.request.method == Method::HEAD;
        let requests = opened.as_ref().map_or(1, |opened| if is_head { 1 } else { opened.cost() });
        *quota = self.charge_quota(caller, requests, quota)?;
        self.refund_failure(&opened, caller, requests, quota);
        let mut opened = opened?;
        // HEAD tells what GET costs.
        *quota = quota.with_cost(opened.cost());
        let charged = (*caller, requests, quota.day);
        let headers = self.file_headers(parsed, &opened, quota);
        opened.gzip = accepts_gzip(self.request.headers).then(GzipStream::default);
        let meter = Arc::clone(self.request.trace.work());
        let mut response = Response::new(Payload::Stream(opened.stream(Arc::clone(self.state), meter, charged)));
        *response.headers_mut() = headers;
        Ok(PipelineOutcome::File(response))
    }

    fn file_headers(&self, parsed: &Parsed, opened: &ExportWriter, quota: &Quota) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(MAX_HEADERS);
        let Export { format, list, .. } = &*opened.export;
        let content_type = match format {
            Format::Csv => CSV,
            format => format.media_type(),
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        if accepts_gzip(self.request.headers) {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let (_, path) = split_version(self.request.path);
        let (path_of_list, _) = split_format(Some(Version::V3), path);
        let name = path_of_list.replace(|char: char| !char.is_ascii_alphanumeric(), "-");
        let snapshot = list.catalog.version();
        let name = format!("attachment; filename=\"{name}-{snapshot}.{}\"", format.extension());
        set(&mut headers, CONTENT_DISPOSITION, &name);
        write_warnings(&mut headers, &opened.warnings);
        if let Some(link) = opened.next_link(self.state, path_of_list, path) {
            set(&mut headers, "link", &link);
        }
        if let Some(etag) = &parsed.file_etag {
            headers.insert(ETAG, etag.value.clone());
        }
        shared_headers(self.state, Some(Version::V3), snapshot, Some(Caching::Private)).write(&mut headers);
        headers::reserve(&mut headers, quota.limit.is_some());
        headers
    }
}

/// The error of a request above the daily quota; `needed` is the cost of the file in requests.
pub(crate) fn quota_exceeded(quota: &Quota, needed: u32, used_by_others: &str) -> Problem {
    let mut problem = Problem::quota_exceeded(quota, used_by_others);
    if let (Some(limit), Some(left @ 1..)) = (quota.limit, quota.remaining) {
        problem.detail = format!(
            "the file counts as {needed} requests, and {left} of {limit} are left{used_by_others}; `limit={}` requests a part \
             of it; the quota resets at {}",
            u64::from(left) * ROWS_PER_REQUEST,
            rfc3339(quota.resets_at)
        );
        if let Some(quota) = &mut problem.quota {
            quota.needed = Some(needed);
        }
    }
    problem
}

struct ExportWriter {
    export: Arc<Export>,
    fields: Arc<Fields>,
    page: ListRows,
    /// Number of rows of the page that are already written.
    index: usize,
    next: Option<ListPosition>,
    rows_left: u64,
    /// True if the list continues after them.
    is_part: bool,
    warnings: Vec<ParameterError>,
    columns: Arc<[FlatColumn]>,
    has_header: bool,
    gzip: Option<GzipStream>,
    has_ended: bool,
}

impl ExportWriter {
    /// Cost of a GET in requests: one for each started thousand rows. Call it and `next_link` before a part is written:
    /// they take the rows that are left for those of the file.
    fn cost(&self) -> u32 {
        u32::try_from(self.rows_left.div_ceil(ROWS_PER_REQUEST).max(1)).unwrap_or(u32::MAX)
    }

    /// `Link` to the rest of the list, if the file is a part of it. `path` is the path below the version, as it was sent.
    fn next_link(&self, state: &State, list: &str, path: &str) -> Option<String> {
        let export = &self.export;
        let limit = export.limit.filter(|_| self.is_part)?;
        let position = ListPosition::after(export.list.position.offset + self.rows_left);
        let cursor = export.list.cursor_at(position, list).seal(state.auth.cursor_secret())?;
        let link = format!("<{}/api/v3/{path}?cursor={cursor}&limit={limit}>; rel=\"next\"", state.public_url);
        Some(link).filter(|link| link.len() <= MAX_HEADER)
    }

    /// `charged` are the requests that are given back if the file fails.
    fn stream(self, state: Arc<State>, meter: Arc<WorkMeter>, charged: (Caller, u32, Date)) -> ByteStream {
        let (started, writer) = (Instant::now(), Some(self));
        let (caller, requests, day) = charged;
        let asker = caller.of_work();
        Box::pin(stream::unfold((state, meter, writer), move |(state, meter, writer)| async move {
            let mut writer = writer.filter(|writer| !writer.has_ended)?;
            if started.elapsed() > MAX_DURATION {
                let fault = ClientFault("the client takes longer than an hour");
                return Some((Err(fault.into()), (state, meter, None)));
            }
            let part = loop {
                match state.work.run(asker, &meter, || writer.next_part()).await {
                    Ok(part) => break part,
                    Err(Overloaded) => tokio::time::sleep(PAUSE).await,
                }
            };
            match part {
                Ok(part) => Some((Ok(part), (state, meter, Some(writer)))),
                Err(fault) => {
                    state.auth.give_back_several(&caller, requests, day);
                    Some((Err(fault), (state, meter, None)))
                }
            }
        }))
    }

    /// Writes the next part; only the last one may be empty.
    fn next_part(&mut self) -> Result<Bytes, BodyError> {
        panics::catch(|| self.write_part()).unwrap_or_else(|panic| Err(panic.to_string().into()))
    }

    fn write_part(&mut self) -> Result<Bytes, BodyError> {
        loop {
            let part = match self.export.format {
                Format::Csv => self.csv()?,
                _ => self.ndjson()?,
            };
            self.has_ended = self.rows_left == 0;
            let part = match &mut self.gzip {
                Some(gzip) => gzip.compress(&part, self.has_ended),
                None => part,
            };
            if self.has_ended || !part.is_empty() {
                return Ok(part.into());
            }
        }
    }

    fn ndjson(&mut self) -> Result<Vec<u8>, BodyError> {
        let fields = Arc::clone(&self.fields);
        let mut part = Vec::with_capacity(PART + PART / 8);
        while part.len() < PART
            && let Some(record) = self.next_record()?
        {
            record.write(&mut part, &fields, false);
            part.push(b'\n');
        }
        Ok(part)
    }

    fn csv(&mut self) -> Result<Vec<u8>, BodyError> {
        let columns = Arc::clone(&self.columns);
        let mut csv = CsvWriter::with_capacity(&columns, PART + PART / 8);
        if !std::mem::replace(&mut self.has_header, true) {
            csv.header();
        }
        while csv.len() < PART
            && let Some(record) = self.next_record()?
        {
            csv.row(&record);
        }
        Ok(csv.into_text())
    }

    /// `None` if there are no more.
    fn next_record(&mut self) -> Result<Option<ComposedRecord<'_>>, BodyError> {
        if self.rows_left == 0 {
            return Ok(None);
        }
        let list = &self.export.list;
        if self.index == self.page.len() {
            let position = self.next.ok_or("the list ended before the rows that were announced")?;
            let found = list.catalog.answer(&list.page(position, self.rows_left.min(ROWS_PER_REQUEST)));
            (self.page, self.next, self.index) = (found.rows, found.next, 0);
            if self.page.is_empty() {
                return Err("the list has an empty page".into());
            }
        }
        self.index += 1;
        self.rows_left -= 1;
        Ok(Some(self.page.record(&list.catalog, list.resource.table(), self.index - 1)))
    }
}
