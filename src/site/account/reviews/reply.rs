//! The firm's one public answer to a review, by an account with a verified address at the domain of the firm's website.

use askama::Template;

use crate::account::reviews::claim::valid_claim_of;
use crate::account::reviews::{firm_row, public_review};
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use auth::review::{ReviewState, StoredReview};
use catalog::Catalog;
use data::Table;
use data::import::clean::clean;
use view::format;

pub(super) const REPLIES: &str = "/vcs/{slug}/reviews/{name}/reply";

const MIN_REPLY: usize = 20;
const MAX_REPLY: usize = 2_000;

#[derive(Template)]
#[template(path = "reply_review.html")]
struct ReplyPage {
    layout: PageLayout,
    firm: String,
    firm_path: String,
    action: String,
    /// The answer that is stored, with its time; empty if there is none.
    reply: String,
    replied: String,
    /// What is in the field.
    text: String,
    error: String,
}

/// The review in the path, for an account that has claimed its firm; leads others to the claim. A 404 for a review that is not public
/// here.
async fn find(request: AccountRequest<'_>, catalog: &Catalog, firm: u32) -> Result<StoredReview, AccountReply> {
    request.signed_in_to_return().await?;
    let Some(review) = public_review(request, catalog, firm).await? else {
        let detail = "this review came with the data: write to the operator of the service";
        return Err(show(request, None, "", detail).unwrap_or_else(|reply| reply));
    };
    if valid_claim_of(request, catalog, firm).await?.is_some() {
        return Ok(review);
    }
    let slug = catalog.snapshot().slug(Table::Firms, firm);
    Err(AccountReply::Redirect(format!("/vcs/{slug}/claim").into(), Vec::new()))
}

pub(super) async fn page(request: AccountRequest<'_>) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let review = find(request, &catalog, firm_row(&catalog, request)?).await?;
    show(request, Some(&review), "", "")
}

pub(super) async fn send(request: AccountRequest<'_>) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let review = find(request, &catalog, firm_row(&catalog, request)?).await?;
    let account = request.signed_in().await?.account.id;
    let removes = request.form.text("action") == "remove";
    let text = clean(&request.form.text("reply"));
    let count = text.chars().count();
    if !removes && review.state != ReviewState::Approved {
        return show(request, Some(&review), &text, "the review is hidden: answer it once it is public again");
    }
    if !removes && !(MIN_REPLY..=MAX_REPLY).contains(&count) {
        let detail = format!("write {MIN_REPLY} to {MAX_REPLY} characters; this has {count}");
        return show(request, Some(&review), &text, &detail);
    }
    let reply = if removes { None } else { Some(text.clone()) };
    let id = review.public_id.clone();
    match request.auth.reply_to_review(Some(account), None, id, reply, request.now).await {
        Ok(_) => Ok(AccountReply::Redirect(request.page.path.to_owned().into(), Vec::new())),
        Err(error) => {
            let error = form_error(error)?;
            show(request, Some(&review), &text, &error)
        }
    }
}

fn show(request: AccountRequest<'_>, review: Option<&StoredReview>, text: &str, error: &str) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let firm = firm_row(&catalog, request)?;
    let snapshot = catalog.snapshot();
    let name = snapshot.name(Table::Firms, firm);
    let page = ReplyPage {
        layout: request.layout("Answer a review", "The one public answer of a firm to a review."),
        firm: name.to_owned(),
        firm_path: format!("/vcs/{}", snapshot.slug(Table::Firms, firm)),
        action: if review.is_some() { request.page.path.to_owned() } else { String::new() },
        reply: review.and_then(|review| review.reply.clone()).unwrap_or_default(),
        replied: review.and_then(|review| review.replied_at).map_or_else(String::new, format::instant),
        text: text.to_owned(),
        error: sentence(error),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}
