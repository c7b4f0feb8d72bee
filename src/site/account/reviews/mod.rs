//! Reviews as accounts see them: the form, an account's own reviews, reports; and what those who speak for a firm do.

mod claim;
mod correction;
mod form;
mod reply;
mod report;

use askama::Template;

use crate::account::reviews::claim::{CLAIMS, FIRMS};
use crate::account::reviews::correction::CORRECTIONS;
pub(super) use crate::account::reviews::correction::field_in_words;
pub(super) use crate::account::reviews::form::public_form;
use crate::account::reviews::form::{ReviewForm, ReviewView, WRITES};
use crate::account::reviews::reply::REPLIES;
use crate::account::reviews::report::REPORTS;
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::error_page::PageError;
use crate::layout::PageLayout;
use crate::routes::{PageRow, account_page};
use auth::Visitor;
use auth::review::{ReviewId, ReviewState, StoredReview};
use catalog::Catalog;
use data::Table;
use service::reviews::own_reviews;
use view::format;

const REVIEWS: &str = "/account/reviews";

/// Only where the service takes reviews.
pub(super) const PAGES: &[PageRow] = &[
    account_page(WRITES).get(handler!(form::page)).post(handler!(form::send)).takes_texts().of_reviews(),
    account_page(REPORTS).get(handler!(report::page)).post(handler!(report::send)).of_reviews(),
    account_page(REPLIES).get(handler!(reply::page)).post(handler!(reply::send)).takes_texts().of_reviews(),
    account_page(CLAIMS).get(handler!(claim::page)).post(signed_in!(claim::send)).of_reviews(),
    account_page(CORRECTIONS)
        .get(handler!(correction::page))
        .post(signed_in!(correction::send))
        .takes_texts()
        .of_reviews(),
    account_page(FIRMS).get(signed_in!(claim::list)).of_reviews(),
    account_page("/account/firms/{id}/release").post(signed_in!(claim::release)).of_reviews(),
    account_page(REVIEWS).get(signed_in!(list)).of_reviews(),
    account_page("/account/reviews/{id}")
        .get(handler!(form::own_page))
        .post(handler!(form::send_own))
        .takes_texts()
        .of_reviews(),
    account_page("/account/reviews/{id}/withdraw").post(signed_in!(withdraw)).of_reviews(),
    account_page("/account/reviews/{id}/delete").post(signed_in!(delete)).of_reviews(),
];

#[derive(Template)]
#[template(path = "own_reviews.html")]
struct OwnReviewsPage {
    layout: PageLayout,
    rows: Vec<ReviewView>,
}

async fn list(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let reviews = own_reviews(request.auth, visitor.account.id).await?;
    let catalog = request.page.state.releases.current();
    AccountReply::shown(&OwnReviewsPage {
        layout: request.layout("Your reviews", "Reviews of firms that you wrote."),
        rows: reviews.iter().map(|review| ReviewView::new(&catalog, review)).collect(),
    })
}

fn path_of(review: ReviewId) -> String {
    format!("{REVIEWS}/{}", review.0)
}

fn back_to(review: ReviewId) -> AccountResult {
    Ok(AccountReply::Redirect(path_of(review).into(), Vec::new()))
}

/// The review of the visitor in the path; a 404 for others' reviews.
async fn own(request: AccountRequest<'_>, visitor: &Visitor) -> Result<StoredReview, AccountReply> {
    let (account, review) = (visitor.account.id, ReviewId(request.id));
    Ok(request.auth.blocking(move |service| service.store().review_of(account, review)).await?)
}

async fn withdraw(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let review = own(request, &visitor).await?;
    // Sending the form again changes nothing.
    if review.state.can_be_withdrawn() {
        request.auth.withdraw_review(visitor.account.id, review.id, request.now).await?;
    }
    back_to(review.id)
}

async fn delete(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    request.auth.delete_review(visitor.account.id, ReviewId(request.id), request.now).await?;
    Ok(AccountReply::Redirect(REVIEWS.into(), Vec::new()))
}

/// Row of the firm of a review; `None` if the release does not have it.
fn firm_of(catalog: &Catalog, review: &StoredReview) -> Option<u32> {
    catalog.find(Table::Firms, &review.firm)
}

/// Name of the firm in a release, or its slug.
pub(super) fn firm_name(catalog: &Catalog, slug: &str) -> String {
    let row = catalog.find(Table::Firms, slug);
    row.map_or(slug, |row| catalog.snapshot().name(Table::Firms, row)).to_owned()
}

pub(super) fn state_in_words(state: ReviewState) -> &'static str {
    match state {
        ReviewState::Draft => "Draft",
        ReviewState::Submitted => "Waits for the operator",
        ReviewState::Asked => "The operator has a question",
        ReviewState::Approved => "Approved",
        ReviewState::Rejected => "Not accepted",
        ReviewState::Hidden => "Hidden until the operator decides",
        ReviewState::Withdrawn => "Withdrawn",
    }
}

/// The firm whose page the form is on.
fn firm_row(catalog: &Catalog, request: AccountRequest<'_>) -> Result<u32, PageError> {
    crate::find(catalog, Table::Firms, request.values[0])
}

/// The public review in the path, of the store; `None` if it came with the data of the release. A 404 for one of another firm, and
/// for one that is not public.
async fn public_review(
    request: AccountRequest<'_>,
    catalog: &Catalog,
    firm: u32,
) -> Result<Option<StoredReview>, AccountReply> {
    let id = request.values[1].to_owned();
    let found = request.auth.blocking(move |service| service.store().public_review(&id)).await?;
    match found {
        Some(review) if firm_of(catalog, &review) == Some(firm) => Ok(Some(review)),
        _ if is_in_release(catalog, firm, request.values[1]) => Ok(None),
        _ => Err(PageError::UnknownPage.into()),
    }
}

/// True if the release has an approved review of the firm with this id.
fn is_in_release(catalog: &Catalog, firm: u32, id: &str) -> bool {
    let found = catalog.snapshot().find(Table::Reviews, id);
    found.is_some_and(|row| catalog.snapshot().reviews_of(firm).any(|review| review == row))
}

impl ReviewView {
    fn new(catalog: &Catalog, review: &StoredReview) -> Self {
        let form = ReviewForm::of(review);
        Self {
            path: path_of(review.id),
            firm: firm_name(catalog, &review.firm),
            title: if form.is_untitled() { "Untitled".to_owned() } else { review.answers.title.clone() },
            state: state_in_words(review.state),
            changed: format::instant(review.changed_at),
        }
    }
}
