//! Pages of operators: accounts, keys, usage, releases and likely duplicates.
//!
//! Operators are appointed by a command; for everybody else these paths are 404. The password is required again 12
//! hours after it was entered, and after 4 hours before a change, as on the account page.

mod accounts;
mod duplicates;
mod overview;
mod route;

pub(crate) use route::AdminRoute;

use crate::account::confirm::{confirm, request_password};
use crate::account::form::FormData;
use crate::account::{AccountReply, AccountRequest};
use crate::error_page::PageError;
use auth::Visitor;

/// Target of the form that asks for the password again.
const HOME: &str = "/admin";

pub(super) async fn get_page(route: AdminRoute, request: AccountRequest<'_>) -> Result<AccountReply, AccountReply> {
    let operator = operator(request).await?;
    if !operator.may_operate(request.now) {
        return request_password(request, &operator, HOME, "open the administration", Vec::new(), String::new());
    }
    match route {
        AdminRoute::Overview => overview::page(request).await,
        AdminRoute::Duplicates => duplicates::page(request),
        AdminRoute::Accounts => accounts::list(request).await,
        AdminRoute::Account(account) => accounts::page(request, account, None).await,
        AdminRoute::Tier(_)
        | AdminRoute::Verification(_)
        | AdminRoute::Block(_)
        | AdminRoute::Unblock(_)
        | AdminRoute::RevokeKey(..) => Err(PageError::UnknownPage.into()),
    }
}

pub(super) async fn post_form(
    route: AdminRoute,
    request: AccountRequest<'_>,
    form: &FormData,
) -> Result<AccountReply, AccountReply> {
    let operator = operator(request).await?;
    let (purpose, fields): (_, &[&str]) = match route {
        AdminRoute::Overview => ("open the administration", &[]),
        AdminRoute::Tier(_) => ("change the tier", &["tier"]),
        AdminRoute::Verification(_) => ("verify the account", &[]),
        AdminRoute::Block(_) => ("block the account", &[]),
        AdminRoute::Unblock(_) => ("unblock the account", &[]),
        AdminRoute::RevokeKey(..) => ("revoke the key", &[]),
        AdminRoute::Duplicates | AdminRoute::Accounts | AdminRoute::Account(_) => {
            return Err(PageError::UnknownPage.into());
        }
    };
    confirm(request, &operator, form, purpose, fields).await?;
    let operator = operator.account.id;
    match route {
        AdminRoute::Tier(account) => accounts::set_tier(request, operator, account, &form.text("tier")).await,
        AdminRoute::Verification(account) => accounts::verify(request, operator, account).await,
        AdminRoute::Block(account) => accounts::set_blocked(request, operator, account, true).await,
        AdminRoute::Unblock(account) => accounts::set_blocked(request, operator, account, false).await,
        AdminRoute::RevokeKey(account, key) => accounts::revoke_key(request, operator, account, key).await,
        AdminRoute::Overview | AdminRoute::Duplicates | AdminRoute::Accounts | AdminRoute::Account(_) => {
            Ok(AccountReply::Redirect(HOME.into(), Vec::new()))
        }
    }
}

/// The signed-in operator; a 404 for everybody else.
async fn operator(request: AccountRequest<'_>) -> Result<Visitor, AccountReply> {
    let visitor = request.visitor().await?;
    visitor.filter(|visitor| visitor.account.is_operator).ok_or(PageError::UnknownPage.into())
}
