//! `POST /reviews` of v3, if the service takes reviews: submits a review of the key's account, under the rules of the form.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use auth::account::{Account, AccountId};
use auth::review::StoredReview;
use auth::{AccountError, Caller, StoreError};
use catalog::param_error::shortened;
use catalog::{Catalog, ParameterError};
use data::field::model;
use data::vocabulary::Vocabulary;
use data::{Date, ReviewerRole, Stage, Table};
use service::reviews::{FIELDS, MAX_BODY, MAX_TITLE, MIN_BODY, WrittenReview, may_review, read_answers, save};
use transport::problem::{Code, Problem};

use crate::Pipeline;
use crate::openapi::vocabulary::vocabulary;
use crate::submission::{closed_object, json_body, refused, text_of, writing};

pub(crate) const PATH: &str = "reviews";
pub(crate) const METHODS: &str = "GET, HEAD, POST, OPTIONS";

/// The firm's field in a body.
const FIRM: &str = "vc";

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
    pub(crate) async fn submit(&self, caller: &Caller, body: &Map<String, Value>) -> Result<SubmittedReview, Problem> {
        let account = self.account_of(caller.account).await?;
        let catalog = self.state.releases.current();
        if !may_review(self.state.operator.reviews, &catalog, &account) {
            let detail = "reviews are by invitation: of accounts that the operator invited, and of those with an address at the \
                          domain of a startup in the data";
            return Err(Problem::new(Code::Forbidden, detail));
        }
        let (firm, errors) = find_firm(&catalog, body);
        let text = |field: &'static str| Cow::Owned(text_of(body.get(field)));
        let (answers, faults) = read_answers(text, Date::from_unix(self.now), true);
        let faults = faults.into_iter().map(|fault| ParameterError::invalid(fault.field, fault.detail));
        let errors: Vec<ParameterError> = errors.into_iter().chain(faults).collect();
        let Some(firm) = firm.filter(|_| errors.is_empty()) else { return Err(Problem::of_parameters(errors)) };
        let written = WrittenReview { id: None, firm, answers, response: None, submits: true };
        let origin = self.state.origin(self.request);
        let saved = auth::audit::scope(origin, save(self.state, &account, written, self.now)).await;
        saved.map(SubmittedReview::new).map_err(|error| match error {
            AccountError::Review(error @ StoreError::ReviewedAlready) => {
                Problem::of_parameters(vec![ParameterError::invalid(FIRM, error.to_string())])
            }
            error => refused(error),
        })
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

/// The names in a body, the firm's first.
pub(crate) fn names() -> Vec<&'static str> {
    [&[FIRM][..], &FIELDS].concat()
}

pub(crate) fn example() -> Value {
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
    let body = closed_object()
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
    let Some(get) = &path.get else { return };
    let doc = format!(
        "Submits a review of the key's account, whose address must be verified. An operator reads it before it is public. One \
         review of an account and firm counts in twelve months. [How reviews work]({base}/docs/reviews)."
    );
    let operation = writing::<SubmittedReview>(get, "submit_review", "Submit a review", &doc)
        .request_body(Some(json_body(body, example())));
    path.post = Some(operation.build());
    if let Some(description) = &mut document.info.description {
        *description = description.replace("`/resolve` and `/saved` take", "`/resolve`, `/saved` and `/reviews` take");
    }
}
