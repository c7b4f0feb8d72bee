//! `POST /resolve` with a table: rows are answered as they arrive, so that a table of any length takes little memory.
//!
//! An error in the header is a problem document; an error in a row is part of its answer. Each started ten rows are
//! charged to the quota before they are answered. Once it is used up, the other rows come back unchanged and marked, so
//! that the result is complete and can be sent again.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use bytes::{Buf, Bytes};
use futures_util::{Stream, StreamExt, stream};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response};
use tokio::sync::mpsc;

use auth::Caller;
use auth::quota::{Denied, Quota, WorkMeter};
use catalog::Catalog;
use catalog::look_up::sheet::{MAX_ROW, RowEnds, Sheet, SheetOptions, SheetRow};
use data::{Date, rfc3339};
use platform::metrics::panics;
use service::State;
use transport::body::{BodyError, BodyReadError, BodyTimeout, ByteStream, ClientFault, Payload};
use transport::headers::{self, Caching, set};
use transport::negotiation::{Format, accepts};
use transport::problem::{Code, Problem, QUOTA_UNKNOWN, SLOW_DOWN};

use crate::export::{CSV, MAX_DURATION, PAUSE};
use crate::pin::{AS_OF, SNAPSHOT};
use crate::{MAX_HEADERS, Pipeline, PipelineOutcome, not_acceptable, shared_headers};

use super::batch::{ITEMS_PER_REQUEST, unread};
use super::{candidates, default_tables};

/// Parameters of a table; those that end in `_column` name the column of a value.
pub(crate) const PARAMETERS: [&str; 13] = [
    "kind",
    "limit",
    "kind_column",
    "name_column",
    "website_column",
    "country_column",
    "city_column",
    "founded_year_column",
    "organization_column",
    "id_column",
    "exclude_column",
    SNAPSHOT,
    AS_OF,
];

const ROWS_OF_PART: usize = 32;

type Parts = mpsc::Receiver<Result<Bytes, BodyReadError>>;

/// Number of received parts that may wait to be answered, some megabytes at most: for tables up to that size, a program
/// may read the response only after it has sent everything.
const WAITING_PARTS: usize = 16;

/// Forwards the parts of a body as fast as they are consumed.
fn forward_parts<B: Buf + Send + 'static, E: Error + Send + Sync + 'static>(
    body: impl Stream<Item = Result<B, E>> + Send + 'static,
) -> Parts {
    let (sender, parts) = mpsc::channel(WAITING_PARTS);
    tokio::spawn(async move {
        let mut body = std::pin::pin!(body);
        while let Some(part) = body.next().await {
            let part = part.map(|mut part| part.copy_to_bytes(part.remaining())).map_err(|error| {
                if BodyTimeout::caused(&error) { BodyTimeout.into() } else { BodyReadError::Incomplete }
            });
            let has_failed = part.is_err();
            if sender.send(part).await.is_err() || has_failed {
                break;
            }
        }
    });
    parts
}

impl Pipeline<'_> {
    /// The first ten rows are charged before the response starts, so that a caller without any quota gets an error.
    pub(super) async fn send_table<B: Buf + Send + 'static, E: Error + Send + Sync + 'static>(
        &self,
        caller: Caller,
        body: impl Stream<Item = Result<B, E>> + Send + 'static,
        values: &[(String, String)],
        quota: &mut Quota,
    ) -> Result<PipelineOutcome, Problem> {
        self.request.trace.set_streams_body();
        let mut body = forward_parts(body);
        let accepted = match accepts(self.request.headers, Format::Csv) {
            true => self.check_values(values, &PARAMETERS),
            false => Err(not_acceptable()),
        };
        let opened = match accepted {
            Ok(()) => self.open_sheet(&mut body, values).await,
            Err(problem) => Err(problem),
        };
        *quota = self.charge_quota(&caller, 1, quota)?;
        let (sheet, rest) = opened?;
        let mut headers = HeaderMap::with_capacity(MAX_HEADERS);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(CSV));
        let name = format!("attachment; filename=\"resolved-{}.csv\"", self.catalog.version());
        set(&mut headers, CONTENT_DISPOSITION, &name);
        let shared = shared_headers(self.state, self.version, self.catalog.version(), Some(Caching::Never));
        shared.write(&mut headers);
        headers::reserve(&mut headers, quota.limit.is_some());
        let writer = LookUpWriter {
            state: Arc::clone(self.state),
            catalog: Arc::clone(self.catalog),
            meter: Arc::clone(self.request.trace.work()),
            caller,
            charged: 1,
            paid: ITEMS_PER_REQUEST,
            used_up: None,
            ready: sheet.header(),
            rows: Vec::new().into_iter(),
            text: rest,
            read: 0,
            row_end: 0,
            ends: RowEnds::for_sheet(&sheet),
            sheet,
            body,
            body_ended: false,
            is_broken: false,
            has_ended: false,
        };
        let mut response = Response::new(Payload::Stream(writer.stream()));
        *response.headers_mut() = headers;
        Ok(PipelineOutcome::File(response))
    }

    /// Reads the header. Returns the sheet, and the received bytes after the header.
    async fn open_sheet(&self, body: &mut Parts, values: &[(String, String)]) -> Result<(Sheet, Vec<u8>), Problem> {
        let (mut text, mut ends) = (Vec::new(), RowEnds::default());
        let mut end = None;
        while end.is_none() {
            let read = text.len();
            match body.recv().await {
                Some(part) => text.extend_from_slice(&part.map_err(unread)?),
                None => break,
            }
            end = text[read..].iter().position(|byte| ends.push(*byte)).map(|at| read + at + 1);
            if end.is_none() && text.len() > MAX_ROW {
                let detail = format!("the header row is longer than {MAX_ROW} bytes; a quotation mark may be missing");
                return Err(Problem::new(Code::BodyTooLarge, detail));
            }
        }
        let rest = text.split_off(end.unwrap_or(text.len()));
        let options = SheetOptions {
            tables: default_tables(values, &mut Vec::new()),
            candidates: candidates(values).map_err(Problem::of_parameters)?.limit as usize,
            base: self.state.public_url.clone(),
        };
        Ok((Sheet::open(&text, values, options).map_err(Problem::of_parameters)?, rest))
    }
}

struct LookUpWriter {
    state: Arc<State>,
    catalog: Arc<Catalog>,
    meter: Arc<WorkMeter>,
    caller: Caller,
    /// Requests charged so far.
    charged: u32,
    /// Number of rows that are charged but not answered yet.
    paid: u64,
    /// Reason why the other rows are not answered.
    used_up: Option<String>,
    /// Bytes to send before anything else.
    ready: Vec<u8>,
    /// Rows that are parsed but not answered yet.
    rows: std::vec::IntoIter<SheetRow>,
    /// Received bytes: whole rows end at `row_end`, and the bytes before `read` have been scanned.
    text: Vec<u8>,
    read: usize,
    row_end: usize,
    ends: RowEnds,
    sheet: Sheet,
    body: Parts,
    body_ended: bool,
    /// A row cannot be read, so the response ends without a proper end.
    is_broken: bool,
    has_ended: bool,
}

impl LookUpWriter {
    fn stream(self) -> ByteStream {
        let started = Instant::now();
        Box::pin(stream::unfold(Some(self), move |writer| async move {
            let mut writer = writer.filter(|writer| !writer.has_ended)?;
            if started.elapsed() > MAX_DURATION {
                return Some((Err(ClientFault("the table takes longer than an hour").into()), None));
            }
            match writer.next_part().await {
                Ok(part) => Some((Ok(part), Some(writer))),
                Err(error) => Some((Err(error), None)),
            }
        }))
    }

    /// Produces the next part; only the last one may be empty.
    async fn next_part(&mut self) -> Result<Bytes, BodyError> {
        loop {
            if self.is_broken {
                // An error closes the connection; wait until the last row is sent.
                tokio::time::sleep(PAUSE).await;
                return Err(ClientFault("a row is too long").into());
            }
            if !self.ready.is_empty() {
                return Ok(std::mem::take(&mut self.ready).into());
            }
            if self.rows.len() > 0 {
                match self.answer_rows().await? {
                    Some(part) => return Ok(part.into()),
                    None => tokio::time::sleep(PAUSE).await,
                }
            } else if self.row_end > 0 || self.body_ended {
                self.take_rows();
                if self.rows.len() == 0 {
                    self.has_ended = self.body_ended;
                    if self.has_ended {
                        return Ok(Bytes::new());
                    }
                }
            } else if self.text.len() > MAX_ROW {
                let reason = format!(
                    "a row is longer than {MAX_ROW} bytes; a quotation mark may be missing; the rows from here on are not answered"
                );
                let row = self.sheet.error_row(&reason);
                self.is_broken = true;
                return Ok(row.into());
            } else {
                self.receive().await?;
            }
        }
    }

    /// Waits for the next part of the body and finds the ends of its rows.
    async fn receive(&mut self) -> Result<(), BodyError> {
        match self.body.recv().await {
            Some(part) => self.text.extend_from_slice(&part?),
            None => self.body_ended = true,
        }
        for at in self.read..self.text.len() {
            if self.ends.push(self.text[at]) {
                self.row_end = at + 1;
            }
        }
        self.read = self.text.len();
        Ok(())
    }

    /// Parses the complete rows received so far; at the end of the body, all that is left.
    fn take_rows(&mut self) {
        let end = if self.body_ended { self.text.len() } else { self.row_end };
        let rest = self.text.split_off(end);
        self.rows = self.sheet.rows(&self.text).into_iter();
        self.text = rest;
        (self.read, self.row_end) = (self.text.len(), 0);
    }

    /// `None` if the queue is full. The batch gives up its position in the queue while the client reads the answers.
    async fn answer_rows(&mut self) -> Result<Option<Vec<u8>>, BodyError> {
        let (state, meter) = (Arc::clone(&self.state), Arc::clone(&self.meter));
        let Ok(mut turns) = state.work.batch(self.caller.of_work(), &meter) else { return Ok(None) };
        let mut part = Vec::new();
        for _ in 0..ROWS_OF_PART.min(self.rows.len()) {
            part.extend(turns.run(|| panics::catch(|| self.answer_row())).await.map_err(|panic| panic.to_string())?);
        }
        Ok(Some(part))
    }

    fn answer_row(&mut self) -> Vec<u8> {
        let Some(row) = self.rows.next() else { return Vec::new() };
        match self.sheet.is_open(&row) {
            false => self.sheet.kept_row(&row),
            true if self.pay() => self.sheet.answered_row(&self.catalog, &row),
            true => self.sheet.unanswered_row(&row, self.used_up.as_deref().unwrap_or_default()),
        }
    }

    /// Returns true if the next row is paid for; charges one request for each ten rows, and what their work costs above it.
    fn pay(&mut self) -> bool {
        if self.paid == 0 && self.used_up.is_none() {
            let day = Date::from_unix(self.state.now());
            let for_work = self.state.work_price.requests(self.meter.total()).saturating_sub(self.charged);
            let requests = for_work.max(1);
            match self.state.auth.take_several(&self.caller, requests, day) {
                Ok(_) => (self.paid, self.charged) = (ITEMS_PER_REQUEST, self.charged.saturating_add(requests)),
                Err(Denied::Exceeded(quota)) => {
                    self.used_up = Some(format!(
                        "daily quota exceeded; resets at {}; send this table again then",
                        rfc3339(quota.resets_at)
                    ));
                }
                Err(Denied::Unchecked(_)) => self.used_up = Some(SLOW_DOWN.to_owned()),
                Err(Denied::Unknown(_)) => self.used_up = Some(QUOTA_UNKNOWN.to_owned()),
            }
        }
        let is_paid = self.paid > 0;
        self.paid = self.paid.saturating_sub(1);
        is_paid
    }
}
