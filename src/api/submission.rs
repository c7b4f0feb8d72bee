//! Requests that change what the key's account has: reviews that are submitted, searches that are saved and deleted.

use std::error::Error;

use bytes::Buf;
use futures_util::Stream;
use http::Method;
use serde_json::{Map, Value};
use utoipa::openapi::path::{Operation, OperationBuilder};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Ref, Required};

use auth::quota::Quota;
use auth::{AccountError, AuthError, Caller};
use catalog::ParameterError;
use catalog::param_error::shortened;
use data::field::Model;
use service::alerts::WatchRecord;
use service::reviews::MAX_BODY;
use transport::body::{self, BodyReadError};
use transport::negotiation::{accepts_json, has_content_type};
use transport::problem::{Code, Problem};

use crate::endpoints::saved;
use crate::endpoints::submit_review::{self, SubmittedReview};
use crate::envelope::json_response;
use crate::openapi::definition;
use crate::routes::Route;
use crate::{ApiResponse, Pipeline, PipelineOutcome, Version, not_acceptable};

/// Maximum size of a body in bytes.
const MAX_JSON: usize = 64 * 1024;

/// A change that a request makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Submission {
    Review,
    SavedSearch,
    /// A saved search or list is deleted.
    Removal,
}

impl Submission {
    /// The names in a body, and an example.
    fn body(self) -> (Vec<&'static str>, Value) {
        match self {
            Self::Review => (submit_review::names(), submit_review::example()),
            _ => (saved::NAMES.to_vec(), saved::example()),
        }
    }
}

impl Pipeline<'_> {
    /// The change that the request makes; `None` for one that only reads.
    pub(crate) fn submission(&self) -> Option<Submission> {
        let (route, _) =
            self.version.filter(|version| *version == Version::V3).and_then(|_| Route::find(Version::V3, self.path))?;
        match *self.request.method {
            Method::POST if self.takes_review(route) => Some(Submission::Review),
            Method::POST if route.path == saved::PATH => Some(Submission::SavedSearch),
            Method::DELETE if route.path == saved::PATH => Some(Submission::Removal),
            _ => None,
        }
    }

    pub(crate) async fn run_submission<B: Buf + Send + 'static, E: Error + Send + Sync + 'static>(
        &self,
        submission: Submission,
        caller: Result<Caller, AuthError>,
        body: impl Stream<Item = Result<B, E>> + Send + 'static,
        quota: &mut Quota,
    ) -> Result<PipelineOutcome, Problem> {
        self.begin(&caller)?;
        let caller = self.admit(caller)?;
        *quota = self.charge_quota(&caller, 1, quota)?;
        let changed = self.change(submission, &caller, body, *quota).await;
        self.refund_failure(&changed, &caller, 1, quota);
        let request = self.api_request(Version::V3, self.path, &[], *quota, caller.account);
        Ok(PipelineOutcome::Found(request.finish(self.request.trace.route(), false, changed?).into()))
    }

    async fn change<B: Buf + Send + 'static, E: Error + Send + Sync + 'static>(
        &self,
        submission: Submission,
        caller: &Caller,
        body: impl Stream<Item = Result<B, E>> + Send + 'static,
        quota: Quota,
    ) -> Result<ApiResponse, Problem> {
        if !accepts_json(self.request.headers) {
            return Err(not_acceptable());
        }
        let request = self.api_request(Version::V3, self.path, &[], quota, caller.account);
        if submission == Submission::Removal {
            return json_response::<WatchRecord>(&request, &self.delete_saved(saved::account(&request)?).await?, &[]);
        }
        if !has_content_type(self.request.headers, "application/json") {
            let detail = "the body is of no known type: send `Content-Type: application/json`";
            return Err(Problem::new(Code::UnsupportedMediaType, detail));
        }
        if let Some((name, _)) = form_urlencoded::parse(self.request.query.as_bytes()).next() {
            let detail = format!("`{}`: POST has no parameters here; send its fields in the body", shortened(&name));
            return Err(Problem::of_parameters(vec![ParameterError::invalid(&name, detail)]));
        }
        let bytes = body::read(self.request.headers, body, MAX_JSON).await.map_err(unread)?;
        let body = parse_body(&bytes, submission)?;
        if submission == Submission::Review {
            return json_response::<SubmittedReview>(&request, &self.submit(caller, &body).await?, &[]);
        }
        let (saved, notes) = self.save_search(caller, saved::account(&request)?, &body).await?;
        json_response::<WatchRecord>(&request, &saved, &notes)
    }
}

/// The error of an account that may not do this, or whose store fails.
pub(crate) fn refused(error: AccountError) -> Problem {
    match error {
        AccountError::Review(error) | AccountError::Watch(error) => Problem::new(Code::Forbidden, error.to_string()),
        AccountError::Blocked => Problem::new(Code::Forbidden, AccountError::Blocked.to_string()),
        AccountError::SignedOut => Problem::new(Code::AccountRequired, "the account of this key was deleted"),
        AccountError::Store(_) => Problem::new(Code::InternalError, "an internal error occurred; retry later"),
        error => Problem::new(Code::Overloaded, error.to_string()),
    }
}

fn unread(error: BodyReadError) -> Problem {
    match error {
        BodyReadError::TooLarge(max) => Problem::new(
            Code::BodyTooLarge,
            format!("the body is larger than {max} bytes; a review has at most {MAX_BODY} characters"),
        ),
        error => Problem::new(Code::InvalidRequest, format!("{error}; send it again")),
    }
}

fn parse_body(bytes: &[u8], submission: Submission) -> Result<Map<String, Value>, Problem> {
    let (accepted, example) = submission.body();
    let body: Value = serde_json::from_slice(bytes)
        .map_err(|error| Problem::new(Code::InvalidJson, format!("the body is not JSON: {error}; send `{example}`")))?;
    let Value::Object(body) = body else {
        return Err(Problem::new(Code::InvalidJson, format!("the body is not an object; send `{example}`")));
    };
    let mut errors = Vec::new();
    for (name, value) in &body {
        if !accepted.contains(&name.as_str()) {
            let near = search::nearest(name, accepted.iter().copied()).map(str::to_owned);
            let detail = format!("unknown name `{}`", shortened(name));
            let error = ParameterError::unknown_value(name, detail, near, Some(accepted.clone()));
            errors.push(ParameterError { code: Code::UnknownParameter.name(), ..error });
        } else if value.is_array() || value.is_object() {
            errors.push(ParameterError::invalid(name, "is not a text, a number, true or false"));
        }
    }
    if errors.is_empty() { Ok(body) } else { Err(Problem::of_parameters(errors)) }
}

/// The text that a form would send in place of a value.
pub(crate) fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
        _ => String::new(),
    }
}

/// An object of a request body: unknown names are rejected.
pub(crate) fn closed_object() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(AdditionalProperties::FreeForm(false)))
}

pub(crate) fn json_body(schema: ObjectBuilder, example: Value) -> RequestBody {
    let json = ContentBuilder::new().schema(Some(schema)).example(Some(example)).build();
    RequestBodyBuilder::new().content("application/json", json).required(Some(Required::True)).build()
}

/// The operation of a request that changes something and returns an object. Its errors are those of GET.
pub(crate) fn writing<M: Model>(get: &Operation, id: &str, summary: &str, doc: &str) -> OperationBuilder {
    let data = ObjectBuilder::new()
        .schema_type(Type::Object)
        .property("data", definition::object(M::DEFINITION.doc, M::DEFINITION.fields))
        .required("data")
        .property("meta", Ref::from_schema_name("Meta"))
        .required("meta");
    let success = ResponseBuilder::new()
        .description(M::DEFINITION.doc.concat())
        .content("application/json", ContentBuilder::new().schema(Some(data)).build());
    let operation = OperationBuilder::new()
        .operation_id(Some(id))
        .tags(get.tags.clone())
        .summary(Some(summary))
        .description(Some(doc))
        .response("200", success);
    let errors = get.responses.responses.iter().filter(|(status, _)| status.as_str() >= "400");
    errors.fold(operation, |operation, (status, response)| operation.response(status, response.clone()))
}
