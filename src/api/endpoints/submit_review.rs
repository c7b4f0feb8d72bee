//! `POST /reviews` of v3, if the service takes reviews: submits a review of the key's account, under the rules of the form.

use std::borrow::Cow;
use std::error::Error;

use bytes::Buf;
use futures_util::Stream;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::openapi::path::OperationBuilder;
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, Required};

use auth::account::{Account, AccountId};
use auth::quota::Quota;
use auth::review::StoredReview;
use auth::{AccountError, AuthError, Caller, StoreError};
use catalog::param_error::shortened;
use catalog::{Catalog, ParameterError};
use data::field::{Model, model};
use data::vocabulary::Vocabulary;
use data::{Date, ReviewerRole, Stage, Table};
use service::reviews::{FIELDS, MAX_BODY, MAX_TITLE, MIN_BODY, WrittenReview, may_review, read_answers, save};
use transport::body::{self, BodyReadError};
use transport::negotiation::{accepts_json, has_content_type};
use transport::problem::{Code, Problem};

use crate::envelope::json_response;
use crate::openapi::definition;
use crate::openapi::vocabulary::vocabulary;
use crate::{Pipeline, PipelineOutcome, Version, not_acceptable};

pub(crate) const PATH: &str = "reviews";
pub(crate) const METHODS: &str = "GET, HEAD, POST, OPTIONS";

/// The firm's field in a body.
const FIRM: &str = "vc";
/// Maximum size of a body in bytes.
const MAX_JSON: usize = 64 * 1024;

model! {
    /// A review that was submitted; it is public once an operator has approved it.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct SubmittedReview {
        /// Its random id, also when it is public.
        pub id: String,
        /// The slug of the firm.
        pub vc: String [slug],
        /// `submitted` until an operator decides.
        pub state: &'static str,
        /// What shows that the author had to do with the firm: `none`, or `email` for an address at the domain of a startup
        /// in the data.
        pub proof: &'static str,
    }
}

impl SubmittedReview {
    fn new(review: StoredReview) -> Self {
        let (state, proof) = (review.state.name(), review.proof.name());
        Self { id: review.public_id, vc: review.firm, state, proof }
    }
}

impl Pipeline<'_> {
    pub(crate) async fn run_submission<B: Buf + Send + 'static, E: Error + Send + Sync + 'static>(
        &self,
        caller: Result<Caller, AuthError>,
        body: impl Stream<Item = Result<B, E>> + Send + 'static,
        quota: &mut Quota,
    ) -> Result<PipelineOutcome, Problem> {
        self.begin(&caller)?;
        let caller = self.admit(caller)?;
        *quota = self.charge_quota(&caller, 1, quota)?;
        let submitted = async {
            if !has_content_type(self.request.headers, "application/json") {
                let detail = "the body is of no known type: send `Content-Type: application/json`";
                return Err(Problem::new(Code::UnsupportedMediaType, detail));
            }
            if !accepts_json(self.request.headers) {
                return Err(not_acceptable());
            }
            if let Some((name, _)) = form_urlencoded::parse(self.request.query.as_bytes()).next() {
                let detail =
                    format!("`{}`: a submission has no parameters; send its fields in the body", shortened(&name));
                return Err(Problem::of_parameters(vec![ParameterError::invalid(&name, detail)]));
            }
            let bytes = body::read(self.request.headers, body, MAX_JSON).await.map_err(unread)?;
            self.submit(&caller, &bytes).await
        };
        let submitted = submitted.await;
        self.refund_failure(&submitted, &caller, 1, quota);
        let request = self.api_request(Version::V3, self.path, &[], *quota, caller.account);
        let response = json_response::<SubmittedReview>(&request, &submitted?, &[])?;
        Ok(PipelineOutcome::Found(request.finish(self.request.trace.route(), false, response).into()))
    }

    async fn submit(&self, caller: &Caller, bytes: &[u8]) -> Result<SubmittedReview, Problem> {
        let account = self.account_of(caller.account).await?;
        let catalog = self.state.releases.current();
        if !may_review(self.state.operator.reviews, &catalog, &account) {
            let detail = "reviews are by invitation: of accounts that the operator invited, and of those with an address at the \
                          domain of a startup in the data";
            return Err(Problem::new(Code::Forbidden, detail));
        }
        let body = parse_body(bytes)?;
        let (firm, errors) = find_firm(&catalog, &body);
        let text = |field: &'static str| Cow::Owned(text_of(body.get(field)));
        let (answers, faults) = read_answers(text, Date::from_unix(self.now), true);
        let faults = faults.into_iter().map(|fault| ParameterError::invalid(fault.field, fault.detail));
        let errors: Vec<ParameterError> = errors.into_iter().chain(faults).collect();
        let Some(firm) = firm.filter(|_| errors.is_empty()) else { return Err(Problem::of_parameters(errors)) };
        let written = WrittenReview { id: None, firm, answers, response: None, submits: true };
        let origin = self.state.origin(self.request);
        let saved = auth::audit::scope(origin, save(self.state, &account, written, self.now)).await;
        saved.map(SubmittedReview::new).map_err(refused)
    }

    /// The account of the key; a demo key has none.
    async fn account_of(&self, account: Option<AccountId>) -> Result<Account, Problem> {
        let Some(account) = account else {
            let detail = "this key belongs to no account, so that it cannot submit a review; sign up, create a key on the account \
                          page, and send that one";
            return Err(Problem::new(Code::AccountRequired, detail));
        };
        let found = self.state.auth.blocking(move |service| service.store().account_by_id(account));
        found.await.map_err(refused)
    }
}

fn refused(error: AccountError) -> Problem {
    match error {
        AccountError::Review(error @ StoreError::ReviewedAlready) => {
            Problem::of_parameters(vec![ParameterError::invalid(FIRM, error.to_string())])
        }
        AccountError::Review(error) => Problem::new(Code::Forbidden, error.to_string()),
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

fn parse_body(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    let body: Value = serde_json::from_slice(bytes).map_err(|error| {
        Problem::new(Code::InvalidJson, format!("the body is not JSON: {error}; send `{}`", example()))
    })?;
    let Value::Object(body) = body else {
        return Err(Problem::new(Code::InvalidJson, format!("the body is not an object; send `{}`", example())));
    };
    let mut errors = Vec::new();
    for (name, value) in &body {
        if name != FIRM && !FIELDS.contains(&name.as_str()) {
            let accepted = [&[FIRM][..], &FIELDS].concat();
            let near = search::nearest(name, accepted.iter().copied()).map(str::to_owned);
            let detail = format!("unknown name `{}`", shortened(name));
            let error = ParameterError::unknown_value(name, detail, near, Some(accepted));
            errors.push(ParameterError { code: Code::UnknownParameter.name(), ..error });
        } else if value.is_array() || value.is_object() {
            errors.push(ParameterError::invalid(name, "is not a text, a number, true or false"));
        }
    }
    if errors.is_empty() { Ok(body) } else { Err(Problem::of_parameters(errors)) }
}

/// The text that a form would send in place of a value.
fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
        _ => String::new(),
    }
}

/// Row of the firm, by its slug; `None` with the reason if there is no such firm.
fn find_firm(catalog: &Catalog, body: &Map<String, Value>) -> (Option<u32>, Option<ParameterError>) {
    let slug = text_of(body.get(FIRM));
    let found = catalog.find(Table::Firms, &slug);
    if found.is_some() {
        return (found, None);
    }
    let near = catalog.nearest_slugs(Table::Firms, &slug, 1).pop();
    let detail = format!("no firm has the slug `{}`", shortened(&slug));
    (None, Some(ParameterError::unknown_value(FIRM, detail, near, None)))
}

fn example() -> Value {
    json!({
        "vc": "alder-capital",
        "role": "founder",
        "stage": "seed",
        "contact_month": "2026-03",
        "rating": 2,
        "responsiveness": 1,
        "ghosted": false,
        "title": "No answer after the second call",
        "body": "They took two calls within a week, and then nothing came for four months, in spite of three reminders.",
    })
}

/// Adds the operation to the document of v3 of a service that takes reviews.
pub(crate) fn document(document: &mut OpenApi, base: &str) {
    let Some(path) = document.paths.paths.get_mut(&format!("/{PATH}")) else { return };
    let number = |doc: &str| {
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(5)).description(Some(doc))
    };
    let text = |doc: &str| ObjectBuilder::new().schema_type(Type::String).description(Some(doc));
    let words = |doc: &str, names: &[&str]| vocabulary(doc, names);
    let body = ObjectBuilder::new()
        .schema_type(Type::Object)
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
        .property(FIRM, text("The slug of the firm.").pattern(Some(r"\S")))
        .required(FIRM)
        .property("role", words("The author's role in their company.", &ReviewerRole::names()))
        .required("role")
        .property("stage", words("The stage of that company at the time of the contact.", &Stage::names()))
        .property(
            "contact_month",
            text("The month of the last contact, not in the future.").pattern(Some(r"^\d{4}-\d{2}$")),
        )
        .required("contact_month")
        .property("rating", number("Overall rating."))
        .required("rating")
        .property("responsiveness", number("How fast and how well the firm answered."))
        .property("fairness", number("Fairness of terms and conduct."))
        .property("value_add", number("Help beyond money."))
        .property(
            "ghosted",
            ObjectBuilder::new().schema_type(Type::Boolean).description(Some("True if no answer ever came.")),
        )
        .required("ghosted")
        .property("title", text("The headline, on one line.").min_length(Some(1)).max_length(Some(MAX_TITLE)))
        .required("title")
        .property("body", text("What happened.").min_length(Some(MIN_BODY)).max_length(Some(MAX_BODY)))
        .required("body");
    let json = ContentBuilder::new().schema(Some(body)).example(Some(example())).build();
    let data = ObjectBuilder::new()
        .schema_type(Type::Object)
        .property("data", definition::object(SubmittedReview::DEFINITION.doc, SubmittedReview::DEFINITION.fields))
        .required("data")
        .property("meta", Ref::from_schema_name("Meta"))
        .required("meta");
    let mut operation = OperationBuilder::new()
        .operation_id(Some("submit_review"))
        .summary(Some("Submit a review"))
        .description(Some(format!(
            "Submits a review of the key's account, whose address must be verified. An operator reads it before it is public. One \
             review of an account and firm counts in twelve months. [How reviews work]({base}/docs/reviews)."
        )))
        .request_body(Some(
            RequestBodyBuilder::new().content("application/json", json).required(Some(Required::True)).build(),
        ))
        .response(
            "200",
            ResponseBuilder::new()
                .description("The review waits for an operator")
                .content("application/json", ContentBuilder::new().schema(Some(data)).build()),
        );
    if let Some(get) = &path.get {
        operation = operation.tags(get.tags.clone());
        // Errors of keys, quotas and the service are those of GET.
        for (status, response) in get.responses.responses.iter().filter(|(status, _)| status.as_str() >= "400") {
            operation = operation.response(status, response.clone());
        }
    }
    path.post = Some(operation.build());
    if let Some(description) = &mut document.info.description {
        *description = description.replace("only `/resolve` takes POST", "only `/resolve` and `/reviews` take POST");
    }
}
