//! Before a sensitive change, the password is required again if it was entered hours ago, so that a signed-in browser
//! or a copied cookie is not enough to create keys.
//!
//! The page repeats the fields of the interrupted form and sends them together with the password.

use askama::Template;

use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use auth::Visitor;
use auth::password::Secret;

/// Name of the password field. Interrupted forms have no field of this name.
const PASSWORD: &str = "confirmation";

#[derive(Template)]
#[template(path = "confirm.html")]
struct ConfirmPage {
    layout: PageLayout,
    email: String,
    action: String,
    /// The change that needs the password, such as `create a key`.
    purpose: &'static str,
    fields: Vec<(&'static str, String)>,
    error: String,
}

/// Passes if the visitor entered the password in the last hours or sends it now; otherwise the page repeats `fields`.
pub(crate) async fn confirm(
    request: AccountRequest<'_>,
    visitor: &Visitor,
    purpose: &'static str,
    fields: &[&'static str],
) -> Result<(), AccountReply> {
    if visitor.is_confirmed(request.now) {
        return Ok(());
    }
    let password = request.form.secret(PASSWORD);
    let error = match password.is_empty() {
        true => String::new(),
        false => match request.auth.confirm(visitor, Secret::new(&password), request.now).await {
            Ok(()) => return Ok(()),
            Err(error) => sentence(&form_error(error)?),
        },
    };
    let fields = fields.iter().map(|name| (*name, request.form.text(name).into_owned())).collect();
    Err(request_password(request, visitor, request.page.path, purpose, fields, error)?)
}

pub(crate) fn request_password(
    request: AccountRequest<'_>,
    visitor: &Visitor,
    action: &str,
    purpose: &'static str,
    fields: Vec<(&'static str, String)>,
    error: String,
) -> AccountResult {
    let status = form_status(&error);
    let page = ConfirmPage {
        layout: request.layout("Confirm your password", "Your password is required again."),
        email: visitor.account.email.to_string(),
        action: action.to_owned(),
        purpose,
        fields,
        error,
    };
    Ok(AccountReply::Page(status, page.render()?))
}
