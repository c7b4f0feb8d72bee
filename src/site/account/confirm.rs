//! The password is required again before a sensitive change, if it was entered hours ago: whoever finds a browser that is signed
//! in, or copies its cookie, cannot create keys with it.
//!
//! The page has the fields of the form that it interrupts, and sends them again together with the password.

use askama::Template;

use crate::account::form::FormData;
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountRequest, Reply};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use auth::Visitor;
use auth::password::Secret;

/// The field of the password. Forms that are interrupted have none of this name.
const PASSWORD: &str = "confirmation";

#[derive(Template)]
#[template(path = "confirm.html")]
struct ConfirmPage {
    layout: PageLayout,
    email: String,
    /// Where the form is sent.
    action: String,
    /// What the password is needed to do, such as `create a key`.
    purpose: &'static str,
    /// Names and values of the form that is interrupted.
    fields: Vec<(&'static str, String)>,
    error: String,
}

/// Lets a form pass whose sender has entered the password in the last hours or does now; otherwise the page that requests it and
/// repeats `fields`.
pub(crate) async fn confirm(
    request: AccountRequest<'_>,
    visitor: &Visitor,
    form: &FormData,
    purpose: &'static str,
    fields: &[&'static str],
) -> Result<(), Reply> {
    if visitor.is_confirmed(request.now) {
        return Ok(());
    }
    let password = form.secret(PASSWORD);
    let error = match password.is_empty() {
        true => String::new(),
        false => {
            let auth = &request.page.state.auth;
            match auth.confirm(visitor, Secret::new(&password), request.now).await {
                Ok(()) => return Ok(()),
                Err(error) => sentence(&form_error(error)?),
            }
        }
    };
    let fields = fields.iter().map(|name| (*name, form.text(name).into_owned())).collect();
    Err(request_password(request, visitor, request.page.path, purpose, fields, error)?)
}

/// The page that requests the password, and sends it with `fields` to `action`.
pub(crate) fn request_password(
    request: AccountRequest<'_>,
    visitor: &Visitor,
    action: &str,
    purpose: &'static str,
    fields: Vec<(&'static str, String)>,
    error: String,
) -> Result<Reply, Reply> {
    let catalog = request.page.state.releases.current();
    let status = form_status(&error);
    let page = ConfirmPage {
        layout: request.layout(catalog.snapshot(), "Confirm your password", "Your password is required again."),
        email: visitor.account.email.to_string(),
        action: action.to_owned(),
        purpose,
        fields,
        error,
    };
    Ok(Reply::Page(status, page.render()?))
}
