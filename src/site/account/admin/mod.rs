//! Pages of operators: accounts, keys, usage, reviews, releases and likely duplicates.
//!
//! Operators are appointed by a command; for everybody else these paths are 404. The password is required again 12
//! hours after it was entered, and after 4 hours before a change, as on the account page.

mod accounts;
mod corrections;
mod duplicates;
mod overview;
mod reviews;

use crate::account::confirm::{confirm, request_password};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::error_page::PageError;
use crate::routes::{PageRow, account_page};
use auth::Visitor;
use auth::account::AccountId;

const HOME: &str = "/admin";

/// Every page is wrapped in [`opened`]; every form begins with [`confirmed`].
pub(super) const PAGES: &[PageRow] = &[
    account_page(HOME).get(|request| Box::pin(opened(request, overview::page(request)))).post(handler!(enter)),
    account_page("/admin/duplicates").get(|request| Box::pin(opened(request, duplicates::page(request)))),
    account_page("/admin/reviews").get(|request| Box::pin(opened(request, reviews::queue(request)))).of_reviews(),
    account_page("/admin/reviews/{id}")
        .get(|request| Box::pin(opened(request, reviews::page(request))))
        .post(handler!(reviews::decide))
        .of_reviews(),
    account_page("/admin/reviews/{id}/reply").post(handler!(reviews::remove_reply)).of_reviews(),
    account_page("/admin/corrections")
        .get(|request| Box::pin(opened(request, corrections::queue(request, ""))))
        .of_reviews(),
    account_page("/admin/corrections/vcs.csv")
        .get(|request| Box::pin(opened(request, corrections::accepted(request))))
        .of_reviews(),
    account_page("/admin/corrections/{id}").post(handler!(corrections::decide)).of_reviews(),
    account_page("/admin/accounts").get(|request| Box::pin(opened(request, accounts::list(request)))),
    account_page("/admin/accounts/{id}").get(|request| Box::pin(opened(request, accounts::page(request, "")))),
    account_page("/admin/accounts/{id}/tier").post(handler!(accounts::set_tier)),
    account_page("/admin/accounts/{id}/verification").post(handler!(accounts::verify)),
    account_page("/admin/accounts/{id}/reviewer").post(handler!(accounts::set_reviewer)).of_reviews(),
    account_page("/admin/accounts/{id}/block").post(handler!(accounts::set_blocked, true)),
    account_page("/admin/accounts/{id}/unblock").post(handler!(accounts::set_blocked, false)),
    account_page("/admin/accounts/{id}/keys/{key}/revoke").post(handler!(accounts::revoke_key)),
];

/// The page for an operator, or the form that asks for the password again.
async fn opened(request: AccountRequest<'_>, page: impl Future<Output = AccountResult>) -> AccountResult {
    let operator = operator(request).await?;
    if !operator.may_operate(request.now) {
        return request_password(request, &operator, HOME, "open the administration", Vec::new(), String::new());
    }
    page.await
}

async fn enter(request: AccountRequest<'_>) -> AccountResult {
    confirmed(request, "open the administration", &[]).await?;
    Ok(AccountReply::Redirect(HOME.into(), Vec::new()))
}

/// The operator who sends a form, after [`confirm`].
async fn confirmed(
    request: AccountRequest<'_>,
    purpose: &'static str,
    fields: &[&'static str],
) -> Result<AccountId, AccountReply> {
    let operator = operator(request).await?;
    confirm(request, &operator, purpose, fields).await?;
    Ok(operator.account.id)
}

/// The signed-in operator; a 404 for everybody else.
async fn operator(request: AccountRequest<'_>) -> Result<Visitor, AccountReply> {
    let visitor = request.visitor().await?;
    visitor.filter(|visitor| visitor.account.is_operator).ok_or(PageError::UnknownPage.into())
}
