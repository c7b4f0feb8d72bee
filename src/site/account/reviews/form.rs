//! The form of a review, with a preview of what will be public.

use std::borrow::Cow;
use std::collections::BTreeMap;

use askama::Template;
use data::model::{Reference, Review};
use http::StatusCode;

use crate::account::keys::SelectOption;
use crate::account::reviews::{back_to, firm_name, firm_of, firm_row, own, path_of, state_in_words};
use crate::account::sign::form_error;
use crate::account::{AccountReply, AccountRequest, AccountResult, cookie};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use auth::Visitor;
use auth::review::{REVIEW_DAYS, ReviewAnswers, ReviewState, StoredReview};
use catalog::Catalog;
use data::import::rows::DAYS_FROM;
use data::vocabulary::Vocabulary;
use data::{Date, PartialDate, ReviewProof, ReviewStatus, ReviewerRole, Stage, Table};
use service::reviews::{
    FIELDS, MAX_BODY, MAX_RESPONSE, MAX_TITLE, MIN_BODY, ReviewFault, WrittenReview, find_personal_details, may_review,
    own_reviews, proof_of, read_answers, save,
};
use view::format;

pub(super) const WRITES: &str = "/vcs/{slug}/review";

/// Ratings from 1 to 5: name of the field, question, and what the numbers mean.
const RATINGS: [(&str, &str, &str); 4] = [
    ("rating", "How was it overall?", "1: would never take their money, 5: would take it again at once"),
    ("responsiveness", "How fast and how well did they answer?", "1: hardly ever, 5: always within days"),
    ("fairness", "How fair were terms and conduct?", "1: not at all, 5: very"),
    ("value_add", "How much did they help beyond money?", "1: not at all, 5: very much"),
];

/// One of the reviews of an account.
pub(super) struct ReviewView {
    pub(super) path: String,
    pub(super) firm: String,
    pub(super) title: String,
    pub(super) state: &'static str,
    pub(super) changed: String,
}

/// What is in the fields of the form.
#[derive(Default)]
pub(super) struct ReviewForm {
    values: BTreeMap<&'static str, String>,
    faults: Vec<ReviewFault>,
    response: String,
}

#[derive(Template)]
#[template(path = "review_form.html")]
struct ReviewFormPage {
    layout: PageLayout,
    firm: String,
    /// Path of the firm's page; empty if the release does not have the firm.
    firm_path: String,
    /// Where the form is sent; empty if nothing can be changed.
    action: String,
    form: ReviewForm,
    roles: Vec<SelectOption>,
    stages: Vec<SelectOption>,
    this_month: String,
    /// What will be public, or is.
    shown: Option<Review>,
    /// Names, addresses and numbers in the text of a preview.
    personal: Vec<String>,
    /// True after a request for a preview: the next step is to submit.
    is_previewed: bool,
    stored: Option<StoredReview>,
    state: &'static str,
    /// Times and proof of a stored review.
    facts: Vec<(&'static str, String)>,
    error: String,
    /// The reason for which this visitor cannot submit yet; empty if nothing is in the way.
    obstacle: &'static str,
    needs_verification: bool,
    /// True if a further review of this firm is shown with its day.
    shows_day: bool,
    contact: Option<String>,
    sends_mail: bool,
}

const SIGNED_OUT: &str = "You are signed out, and nothing is saved. Sign in on another tab, then come back and send this again: what you \
     wrote is still here.";
const NOT_INVITED: &str = "Reviews of this service are by invitation: of accounts that its operator invited, and of those with an address \
     at the domain of a startup in the data.";

impl ReviewForm {
    pub(super) fn of(review: &StoredReview) -> Self {
        let ReviewAnswers { role, stage, contact_month, title, body, .. } = &review.answers;
        let ReviewAnswers { rating, responsiveness, fairness, value_add, ghosted, .. } = review.answers;
        let number = |rating: Option<u8>| rating.map_or_else(String::new, |rating| rating.to_string());
        let values = [
            role.map_or("", Vocabulary::name).to_owned(),
            stage.map_or("", Vocabulary::name).to_owned(),
            contact_month.map_or_else(String::new, |month| month.to_string()),
            number(rating),
            number(responsiveness),
            number(fairness),
            number(value_add),
            ghosted.map_or_else(String::new, |ghosted| ghosted.to_string()),
            title.clone(),
            body.clone(),
        ];
        let values = FIELDS.into_iter().zip(values).collect();
        Self { values, faults: Vec::new(), response: review.response.clone().unwrap_or_default() }
    }

    fn sent(request: AccountRequest<'_>) -> Self {
        let value = |field| (field, request.form.text(field).into_owned());
        let values = FIELDS.into_iter().map(value).collect();
        Self { values, faults: Vec::new(), response: request.form.text("response").into_owned() }
    }

    pub(super) fn is_untitled(&self) -> bool {
        self.value("title").is_empty()
    }

    fn value(&self, field: &str) -> &str {
        self.values.get(field).map_or("", String::as_str)
    }

    fn is(&self, field: &str, value: impl ToString) -> bool {
        self.value(field) == value.to_string()
    }

    /// The fault of a field as a sentence; empty if there is none.
    fn fault(&self, field: &str) -> String {
        let fault = self.faults.iter().find(|fault| fault.field == field);
        fault.map_or_else(String::new, |fault| sentence(&fault.detail))
    }

    fn options<V: Vocabulary>(&self, field: &str) -> Vec<SelectOption> {
        let option = |value: &V| SelectOption {
            value: value.name().to_owned(),
            text: format::word(value.name()),
            is_selected: self.is(field, value.name()),
        };
        V::ALL.iter().map(option).collect()
    }
}

/// What the form page shows besides the form.
#[derive(Default)]
struct Shown {
    preview: Option<ReviewAnswers>,
    stored: Option<StoredReview>,
    error: String,
}

/// `GET /vcs/{slug}/review`: an empty form, or the review of this firm that the visitor has written already.
pub(super) async fn page(request: AccountRequest<'_>) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let firm = firm_row(&catalog, request)?;
    let visitor = request.signed_in_to_return().await?;
    let since = request.now - REVIEW_DAYS * 86_400;
    let is_current = |review: &StoredReview| match review.state {
        ReviewState::Withdrawn => false,
        state if state.is_editable() => true,
        _ => review.submitted_at.is_some_and(|at| at > since),
    };
    let others = own_reviews(request.auth, visitor.account.id).await?;
    let current = others.into_iter().find(|review| is_current(review) && firm_of(&catalog, review) == Some(firm));
    match current {
        Some(review) => back_to(review.id),
        None => show(request, Some(&visitor), &catalog, Some(firm), ReviewForm::default(), Shown::default()),
    }
}

/// `GET /account/reviews/{id}`.
pub(super) async fn own_page(request: AccountRequest<'_>) -> AccountResult {
    let visitor = request.signed_in_to_return().await?;
    let stored = own(request, &visitor).await?;
    let catalog = request.page.state.releases.current();
    let (firm, form) = (firm_of(&catalog, &stored), ReviewForm::of(&stored));
    show(request, Some(&visitor), &catalog, firm, form, Shown { stored: Some(stored), ..Shown::default() })
}

/// `POST /vcs/{slug}/review`: a new review.
pub(super) async fn send(request: AccountRequest<'_>) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let firm = firm_row(&catalog, request)?;
    let Some(visitor) = request.visitor().await? else {
        let (form, error) = (ReviewForm::sent(request), SIGNED_OUT.to_owned());
        return show(request, None, &catalog, Some(firm), form, Shown { error, ..Shown::default() });
    };
    act(request, &visitor, &catalog, Some(firm), None).await
}

/// `POST /account/reviews/{id}`: a change of a review.
pub(super) async fn send_own(request: AccountRequest<'_>) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let Some(visitor) = request.visitor().await? else {
        let (form, error) = (ReviewForm::sent(request), SIGNED_OUT.to_owned());
        return show(request, None, &catalog, None, form, Shown { error, ..Shown::default() });
    };
    let stored = own(request, &visitor).await?;
    act(request, &visitor, &catalog, firm_of(&catalog, &stored), Some(stored)).await
}

/// Saves, previews or submits what was sent.
async fn act(
    request: AccountRequest<'_>,
    visitor: &Visitor,
    catalog: &Catalog,
    firm: Option<u32>,
    stored: Option<StoredReview>,
) -> AccountResult {
    let mut form = ReviewForm::sent(request);
    let action = request.form.text("action");
    let text = |field: &'static str| Cow::Borrowed(form.value(field));
    let (answers, mut faults) = read_answers(text, Date::from_unix(request.now), action != "save");
    let response = form.response.trim().to_owned();
    if response.chars().count() > MAX_RESPONSE {
        faults.push(ReviewFault { field: "response", detail: format!("the maximum is {MAX_RESPONSE} characters") });
    }
    form.faults = faults;
    let mut shown = Shown { stored, ..Shown::default() };
    let Some(row) = firm.filter(|_| form.faults.is_empty() && may_write(request, catalog, visitor)) else {
        return show(request, Some(visitor), catalog, firm, form, shown);
    };
    if action == "preview" {
        shown.preview = Some(answers);
        return show(request, Some(visitor), catalog, firm, form, shown);
    }
    let written = WrittenReview {
        id: shown.stored.as_ref().map(|review| review.id),
        firm: row,
        answers,
        response: Some(response).filter(|response| !response.is_empty()),
        submits: action == "submit",
    };
    match save(request.page.state, &visitor.account, written, request.now).await {
        Ok(review) => back_to(review.id),
        Err(error) => {
            shown.error = sentence(&form_error(error)?);
            show(request, Some(visitor), catalog, firm, form, shown)
        }
    }
}

fn may_write(request: AccountRequest<'_>, catalog: &Catalog, visitor: &Visitor) -> bool {
    may_review(request.page.state.operator.reviews, catalog, &visitor.account)
}

fn show(
    request: AccountRequest<'_>,
    visitor: Option<&Visitor>,
    catalog: &Catalog,
    firm: Option<u32>,
    form: ReviewForm,
    shown: Shown,
) -> AccountResult {
    let Shown { preview, stored, error } = shown;
    let snapshot = catalog.snapshot();
    let today = Date::from_unix(request.now);
    let slug = firm.map_or("", |row| snapshot.slug(Table::Firms, row));
    let name = match (firm, &stored) {
        (Some(row), _) => snapshot.name(Table::Firms, row).to_owned(),
        (None, Some(review)) => firm_name(catalog, &review.firm),
        (None, None) => String::new(),
    };
    let action = match &stored {
        Some(review) if review.state.is_editable() && firm.is_some() => path_of(review.id),
        Some(_) => String::new(),
        None => request.page.path.to_owned(),
    };
    let is_refused = visitor.is_some_and(|visitor| !may_write(request, catalog, visitor));
    let is_previewed = preview.is_some();
    let personal = preview.as_ref().map_or_else(Vec::new, |answers| find_personal_details(catalog, firm, answers));
    let stored_answers = stored.as_ref().map(|review| (&review.answers, review.submitted_at));
    let public = match (&preview, stored_answers) {
        (Some(answers), _) => Some((answers, today)),
        (None, Some((answers, Some(submitted_at)))) => Some((answers, Date::from_unix(submitted_at))),
        _ => None,
    };
    let proof = match (&stored, visitor) {
        (Some(review), _) if preview.is_none() => review.proof,
        (_, Some(visitor)) => proof_of(catalog, &visitor.account),
        _ => ReviewProof::None,
    };
    let public_id = stored.as_ref().map_or("new", |review| &review.public_id);
    let title = if name.is_empty() { "Your review".to_owned() } else { format!("Review of {name}") };
    let status = match form.faults.is_empty() && error.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let page = ReviewFormPage {
        layout: request.layout(&title, "Tell other founders how it was."),
        firm_path: firm.map_or_else(String::new, |_| format!("/vcs/{slug}")),
        action,
        roles: form.options::<ReviewerRole>("role"),
        stages: form.options::<Stage>("stage"),
        this_month: PartialDate::from(today).month().to_string(),
        shown: public.map(|(answers, day)| Review {
            reply: stored.as_ref().and_then(|review| review.reply.clone()),
            ..public_form(catalog, answers, proof, public_id, (slug, &name), day)
        }),
        shows_day: shows_day(catalog, firm),
        contact: request.page.state.operator.contact.clone(),
        personal,
        is_previewed,
        state: stored.as_ref().map_or("", |review| state_in_words(review.state)),
        facts: stored.as_ref().map_or_else(Vec::new, facts),
        needs_verification: visitor.is_some_and(|visitor| visitor.account.verified_at.is_none()),
        sends_mail: request.auth.sends_mail(),
        obstacle: if is_refused { NOT_INVITED } else { "" },
        firm: name,
        form,
        stored,
        error,
    };
    let html = page.render()?;
    // A new page of a signed-out visitor leads back here after sign-in.
    match visitor {
        Some(_) => Ok(AccountReply::Page(status, html)),
        None => Ok(AccountReply::PageWithCookies(html, cookie::return_cookies(request.page))),
    }
}

impl ReviewFormPage {
    /// True if it can be saved without submitting it.
    fn is_draft(&self) -> bool {
        self.stored.as_ref().is_none_or(|review| review.state == ReviewState::Draft)
    }

    /// The question of a field, as the list of faults names it.
    fn label(&self, field: &str) -> &'static str {
        match field {
            "role" => "Your role",
            "stage" => "Stage of your company",
            "contact_month" => "Month of your last contact",
            "ghosted" => "Did they answer you?",
            "title" => "Headline",
            "body" => "What happened?",
            "response" => "Your answer to the operator",
            field => RATINGS.iter().find(|(name, ..)| *name == field).map_or("", |(_, question, _)| question),
        }
    }
}

fn facts(review: &StoredReview) -> Vec<(&'static str, String)> {
    let saved = (review.state == ReviewState::Draft).then_some(review.changed_at);
    let times = [
        ("Saved", saved),
        ("Submitted", review.submitted_at),
        ("Approved", review.published_at),
        ("Hidden", review.disputed_at),
    ];
    let times = times.into_iter().filter_map(|(name, at)| Some((name, format::instant(at?))));
    times.chain([("Proof", format::proof_in_words(review.proof).to_owned())]).collect()
}

/// True if a further review of the firm has its day: its firm then has enough of them.
fn shows_day(catalog: &Catalog, firm: Option<u32>) -> bool {
    let count = firm.map_or(0, |firm| catalog.snapshot().reviews_of(firm).take(DAYS_FROM as usize).count());
    count + 1 >= DAYS_FROM as usize
}

/// A review of a day as readers will see it, without the author. It is not public yet, and has no link.
pub(crate) fn public_form(
    catalog: &Catalog,
    answers: &ReviewAnswers,
    proof: ReviewProof,
    id: &str,
    (slug, name): (&str, &str),
    day: Date,
) -> Review {
    let day = PartialDate::from(day);
    let shows_day = shows_day(catalog, catalog.find(Table::Firms, slug));
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Review {
        id: id.to_owned(),
        vc: Reference { slug: slug.to_owned(), name: name.to_owned() },
        status: ReviewStatus::Pending.name().to_owned(),
        stage: answers.stage.map(|stage| stage.name().to_owned()),
        rating: answers.rating,
        responsiveness: answers.responsiveness,
        fairness: answers.fairness,
        value_add: answers.value_add,
        ghosted: answers.ghosted,
        title: text(&answers.title),
        body: text(&answers.body),
        created_on: if shows_day { day } else { day.month() },
        role: answers.role.map(|role| role.name().to_owned()),
        contact_month: answers.contact_month,
        proof: Some(proof.name().to_owned()),
        counted: None,
        held_as: None,
        weight: None,
        reply: None,
        replied_on: None,
        first_seen: None,
        changed_in: None,
    }
}
