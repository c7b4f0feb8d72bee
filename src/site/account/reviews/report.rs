//! Reports of public reviews, and objections of the firm.

use askama::Template;

use crate::account::reviews::{firm_row, public_review};
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::error_page::{PageError, sentence};
use crate::layout::PageLayout;
use auth::account::Email;
use auth::review::{NewReport, ReportKind};
use auth::{AccountError, StoreError};
use catalog::Catalog;
use data::Table;
use data::vocabulary::Vocabulary;
use service::firms::has_firm_address;

pub(super) const REPORTS: &str = "/vcs/{slug}/reviews/{name}/report";

const MIN_REASON: usize = 10;
const MAX_REASON: usize = 2_000;

/// What became of a report.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    NotSent,
    /// Nothing can be sent: the review came with the data, and nobody wrote it here.
    OfData,
    Stored,
    Hidden,
}

#[derive(Template)]
#[template(path = "report_review.html")]
struct ReportPage {
    layout: PageLayout,
    firm: String,
    firm_path: String,
    action: String,
    id: String,
    outcome: Outcome,
    kind: ReportKind,
    /// True if an objection of this visitor hides the review at once.
    speaks_for_firm: bool,
    reason: String,
    email: String,
    contact: Option<String>,
    /// Field and sentence of a fault; both empty if there is none.
    wrong: &'static str,
    error: String,
}

#[derive(Default)]
struct ReportFault {
    field: &'static str,
    detail: String,
}

pub(super) async fn page(request: AccountRequest<'_>) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let firm = firm_row(&catalog, request)?;
    let outcome = match public_review(request, &catalog, firm).await? {
        Some(_) => Outcome::NotSent,
        None => Outcome::OfData,
    };
    show(request, outcome, ReportFault::default()).await
}

/// True if the visitor has a verified address at the domain of the firm's website.
async fn speaks_for(request: AccountRequest<'_>, catalog: &Catalog, firm: u32) -> Result<bool, AccountReply> {
    let visitor = request.visitor().await?;
    Ok(visitor.is_some_and(|visitor| has_firm_address(catalog, &visitor.account, firm)))
}

pub(super) async fn send(request: AccountRequest<'_>) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let firm = firm_row(&catalog, request)?;
    let fault = |field, detail: &str| ReportFault { field, detail: detail.to_owned() };
    let reason = request.form.text("reason").trim().to_owned();
    let count = reason.chars().count();
    if !(MIN_REASON..=MAX_REASON).contains(&count) {
        let detail = format!("write {MIN_REASON} to {MAX_REASON} characters; this has {count}");
        return show(request, Outcome::NotSent, fault("reason", &detail)).await;
    }
    let address = request.form.text("email");
    let email: Option<Email> = match address.trim() {
        "" => None,
        text => match text.parse() {
            Ok(email) => Some(email),
            Err(error) => return show(request, Outcome::NotSent, fault("email", &format!("{error}"))).await,
        },
    };
    let kind = ReportKind::read(&request.form.text("kind")).unwrap_or(ReportKind::Report);
    let hides = kind == ReportKind::Objection && speaks_for(request, &catalog, firm).await?;
    // The path must name the firm that the review is about: an objection of another firm hides nothing.
    let Some(review) = public_review(request, &catalog, firm).await? else {
        return Err(PageError::UnknownPage.into());
    };
    let report = NewReport { kind, reason, email, hides };
    match request.auth.report_review(review.public_id, report, request.address, request.now).await {
        Ok(true) => show(request, Outcome::Hidden, ReportFault::default()).await,
        Ok(false) => show(request, Outcome::Stored, ReportFault::default()).await,
        Err(AccountError::Review(StoreError::NoSuchReview)) => Err(PageError::UnknownPage.into()),
        Err(error) => {
            let error = form_error(error)?;
            show(request, Outcome::NotSent, fault("", &error)).await
        }
    }
}

async fn show(request: AccountRequest<'_>, outcome: Outcome, fault: ReportFault) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let firm = firm_row(&catalog, request)?;
    let snapshot = catalog.snapshot();
    let (name, slug) = (snapshot.name(Table::Firms, firm), snapshot.slug(Table::Firms, firm));
    let page = ReportPage {
        layout: request.layout("Report a review", "Tell the operator what is wrong with a review."),
        firm: name.to_owned(),
        firm_path: format!("/vcs/{slug}"),
        action: request.page.path.to_owned(),
        id: request.values[1].to_owned(),
        outcome,
        kind: ReportKind::read(&request.form.text("kind")).unwrap_or(ReportKind::Report),
        speaks_for_firm: speaks_for(request, &catalog, firm).await?,
        reason: request.form.text("reason").into_owned(),
        email: request.form.text("email").into_owned(),
        contact: request.page.state.operator.contact.clone(),
        wrong: fault.field,
        error: sentence(&fault.detail),
    };
    Ok(AccountReply::Page(form_status(&fault.detail), page.render()?))
}
