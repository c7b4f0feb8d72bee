//! `POST /resolve`: many items, as JSON or as a table. An error of the whole body is a problem document that names item
//! and field. An error of one item is its answer, and fails no other. Each started ten items count as one request.

use std::error::Error;

use bytes::Buf;
use futures_util::Stream;
use serde_json::Value;

use auth::quota::Quota;
use auth::{AuthError, Caller};
use catalog::look_up::{ParsedItem, answer_to};
use catalog::param_error::shortened;
use catalog::parse::{is_empty_list, is_ignored};
use catalog::{Catalog, Issue, Issues, ItemTexts, LookUpAnswer, ParameterError};
use data::{Table, rfc3339};
use search::nearest;
use transport::body::{self, BodyReadError};
use transport::negotiation::{Format, accepts_json, has_content_type};
use transport::problem::{Code, Problem};

use crate::envelope::json_response;
use crate::pin::{AS_OF, SNAPSHOT};
use crate::request::{RequestError, panicked};
use crate::window::PageWindow;
use crate::{Pipeline, PipelineOutcome, Version, catch_panic, not_acceptable};

use super::{candidates, default_tables};

pub(crate) const MAX_ITEMS: usize = 500;
pub(crate) const ITEMS_PER_REQUEST: u64 = 10;
/// Maximum size of a JSON body in bytes: 500 items of 4 KB.
pub(crate) const MAX_BODY: usize = 2 * 1024 * 1024;

/// Parameters of a JSON body; `kind` applies to items without one.
const PARAMETERS: [&str; 5] = ["kind", "limit", "fields", SNAPSHOT, AS_OF];

struct ItemBatch {
    items: Vec<ParsedItem>,
    limit: PageWindow,
}

impl ItemBatch {
    fn cost(&self) -> u32 {
        (self.items.len() as u64).div_ceil(ITEMS_PER_REQUEST).max(1) as u32
    }
}

impl Pipeline<'_> {
    pub(crate) async fn run_batch<B: Buf + Send + 'static, E: Error + Send + Sync + 'static>(
        &self,
        caller: Result<Caller, AuthError>,
        body: impl Stream<Item = Result<B, E>> + Send + 'static,
        quota: &mut Quota,
    ) -> Result<PipelineOutcome, Problem> {
        let request = self.request;
        self.begin(&caller)?;
        let caller = self.admit(caller)?;
        if self.state.auth.peek(&caller, quota.day).remaining == Some(0) {
            self.charge_quota(&caller, 1, quota)?;
        }
        let values: Vec<(String, String)> = form_urlencoded::parse(request.query.as_bytes()).into_owned().collect();
        if has_content_type(request.headers, Format::Csv.media_type()) {
            return self.send_table(caller, body, &values, quota).await;
        }
        let read = async {
            self.check_head(&values)?;
            let bytes = body::read(request.headers, body, MAX_BODY).await.map_err(unread)?;
            let tables = default_tables(&values, &mut Vec::new());
            let limit = candidates(&values).map_err(Problem::of_parameters)?;
            Ok::<_, Problem>(ItemBatch { items: parse_items(&bytes, self.catalog, &tables)?, limit })
        };
        let batch = read.await;
        let requests = batch.as_ref().map_or(1, ItemBatch::cost);
        let charged = self.charge_quota(&caller, requests, quota);
        *quota = charged.map_err(|mut problem| {
            if let (Some(limit), Some(left @ 1..)) = (quota.limit, quota.remaining) {
                problem.detail = format!(
                    "the items count as {requests} requests, and {left} of {limit} are left; send at most {} items; the quota \
                     resets at {}",
                    u64::from(left) * ITEMS_PER_REQUEST,
                    rfc3339(quota.resets_at)
                );
            }
            problem
        })?;
        let answered = self.answer_batch(&caller, batch?, &values, *quota).await;
        self.refund_failure(&answered, &caller, requests, quota);
        self.charge_work(&caller, request.trace.work().total(), quota);
        answered
    }

    fn check_head(&self, values: &[(String, String)]) -> Result<(), Problem> {
        if !has_content_type(self.request.headers, "application/json") {
            let detail =
                "the body is of no known type: send `Content-Type: application/json`, or `text/csv` for a table";
            return Err(Problem::new(Code::UnsupportedMediaType, detail));
        }
        if !accepts_json(self.request.headers) {
            return Err(not_acceptable());
        }
        self.check_values(values, &PARAMETERS)
    }

    /// Checks the parameters; only those in `accepted` are allowed.
    pub(super) fn check_values(&self, values: &[(String, String)], accepted: &[&'static str]) -> Result<(), Problem> {
        let mut issues: Issues = values
            .iter()
            .filter(|(name, _)| !is_ignored(name) && !accepted.contains(&name.as_str()))
            .map(|(name, _)| Issue::UnknownParameter { name: name.clone(), accepted: accepted.to_vec() })
            .collect();
        let empty = values.iter().filter(|(name, value)| accepted.contains(&name.as_str()) && is_empty_list(value));
        let mut errors: Vec<_> = empty.map(|(name, _)| ParameterError::empty_value(name, true)).collect();
        default_tables(values, &mut errors);
        errors.extend(candidates(values).err().into_iter().flatten());
        issues.extend(errors.into());
        let error = (!issues.is_empty()).then(|| RequestError::from(issues));
        let error = self.pin_error.map(|pin| pin.joined(error.clone())).or(error);
        error.map_or(Ok(()), |error| Err(error.problem(self.catalog)))
    }

    /// Looks up the items one by one, each in the batch's turn in the queue.
    async fn answer_batch(
        &self,
        caller: &Caller,
        batch: ItemBatch,
        values: &[(String, String)],
        quota: Quota,
    ) -> Result<PipelineOutcome, Problem> {
        let (limit, trace) = (batch.limit, self.request.trace);
        let mut turns = self.state.work.batch(caller.of_work(), trace.work())?;
        let mut answers: Vec<LookUpAnswer> = Vec::with_capacity(batch.items.len());
        for item in batch.items {
            let base = &self.state.public_url;
            let candidates = limit.limit as usize;
            let look_up = || catch_panic(trace, panicked, || Ok(answer_to(self.catalog, item, base, candidates)));
            answers.push(turns.run(look_up).await?);
        }
        let present = || -> Result<_, Problem> {
            let request = self.api_request(Version::V3, self.path, values, quota, None);
            let response = json_response::<LookUpAnswer>(&request, &answers, &limit.warnings())?;
            Ok(request.finish(trace.route(), false, response))
        };
        let found = turns.run(|| catch_panic(trace, panicked, present)).await?;
        Ok(PipelineOutcome::Found(found.into()))
    }
}

pub(super) fn unread(error: BodyReadError) -> Problem {
    match error {
        BodyReadError::TooLarge(max) => {
            let detail = format!("the body is larger than {max} bytes; send at most {MAX_ITEMS} items at a time");
            Problem::new(Code::BodyTooLarge, detail)
        }
        error @ (BodyReadError::Timeout(_) | BodyReadError::Incomplete) => {
            Problem::new(Code::InvalidRequest, format!("{error}; send it again"))
        }
    }
}

/// Parses the items of a JSON body: `{"items": [{"name": …}, …]}`.
fn parse_items(bytes: &[u8], catalog: &Catalog, tables: &[Table]) -> Result<Vec<ParsedItem>, Problem> {
    let example = "`{\"items\": [{\"name\": \"Alder Capital\"}]}`";
    let body: Value = serde_json::from_slice(bytes)
        .map_err(|error| Problem::new(Code::InvalidJson, format!("the body is not JSON: {error}; send {example}")))?;
    let invalid = |name: &str, detail: String| Problem::of_parameters(vec![ParameterError::invalid(name, detail)]);
    let Value::Object(members) = body else {
        return Err(invalid("items", format!("the body is not an object; send {example}")));
    };
    if let Some(name) = members.keys().find(|name| *name != "items") {
        return Err(Problem::of_parameters(vec![unknown_name(name, name, &["items"])]));
    }
    let Some(Value::Array(items)) = members.get("items") else {
        return Err(invalid("items", format!("`items` is not a list; send {example}")));
    };
    if items.is_empty() || items.len() > MAX_ITEMS {
        let detail = format!("`items` has {} items; send 1 to {MAX_ITEMS} at a time", items.len());
        return Err(invalid("items", detail));
    }
    let mut errors = Vec::new();
    let mut read = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let at = format!("items[{index}]");
        match item_texts(item, &at) {
            Ok(texts) => read.push(texts.parse_item(catalog, tables).map_err(|mut errors| {
                errors.iter_mut().for_each(|error| error.parameter = format!("{at}.{}", error.parameter));
                errors
            })),
            Err(invalid) => errors.extend(invalid),
        }
    }
    if errors.is_empty() { Ok(read) } else { Err(Problem::of_parameters(errors)) }
}

fn unknown_name(parameter: &str, name: &str, accepted: &[&str]) -> ParameterError {
    let near = nearest(name, accepted.iter().copied());
    let detail = match near {
        Some(near) => format!("unknown name `{}`; did you mean `{near}`?", shortened(name)),
        None => format!("unknown name `{}`; accepted are {}", shortened(name), accepted.join(", ")),
    };
    let error = ParameterError::unknown_value(parameter, detail, near.map(str::to_owned), Some(accepted.to_vec()));
    ParameterError { code: Code::UnknownParameter.name(), ..error }
}

/// Reads the texts of an item; the error lists all its members that have another type or an unknown name.
fn item_texts<'v>(item: &'v Value, at: &str) -> Result<ItemTexts<'v>, Vec<ParameterError>> {
    let Value::Object(members) = item else {
        let detail = "is not an object with at least a `name`, a `website` or an `id`";
        return Err(vec![ParameterError::invalid(at, format!("`{at}` {detail}"))]);
    };
    let (mut texts, mut errors) = (ItemTexts::default(), Vec::new());
    for (name, value) in members {
        let parameter = format!("{at}.{name}");
        if !ItemTexts::NAMES.contains(&name.as_str()) {
            errors.push(unknown_name(&parameter, name, &ItemTexts::NAMES));
            continue;
        }
        match value {
            Value::Null => {}
            Value::String(text) => texts.set(name, text),
            Value::Number(year) if name == "founded_year" => texts.founded_year = year.to_string().into(),
            Value::Array(values) if ItemTexts::is_list(name) && values.iter().all(Value::is_string) => {
                values.iter().filter_map(Value::as_str).for_each(|text| texts.set(name, text));
            }
            _ => {
                let kind = if ItemTexts::is_list(name) { "a text or a list of texts" } else { "a text" };
                errors.push(ParameterError::invalid(&parameter, format!("`{parameter}` is not {kind}")));
            }
        }
    }
    if errors.is_empty() { Ok(texts) } else { Err(errors) }
}
