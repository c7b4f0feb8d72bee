//! Sign-up, sign-in and sign-out.

use askama::Template;
use http::StatusCode;

use crate::account::{AccountReply, AccountRequest, AccountResult, cookie};
use crate::error_page::{PageError, sentence};
use crate::layout::PageLayout;
use auth::account::Email;
use auth::password::{MAX_LENGTH, MIN_LENGTH, Password, Secret};
use auth::quota::Tier;
use auth::{AccountError, RetryAfter, StartedSession};
use service::SignUp;
use view::format;

#[derive(Template)]
#[template(path = "signup.html")]
struct SignUpPage {
    layout: PageLayout,
    email: String,
    error: String,
    /// The name of the field with the fault; empty if it is in neither.
    wrong: &'static str,
    keys: String,
    requests: String,
}

#[derive(Template)]
#[template(path = "signin.html")]
struct SignInPage {
    layout: PageLayout,
    email: String,
    error: String,
    /// True if address or password is wrong, which of them is not said.
    is_wrong: bool,
    /// The ticket of a sign-in that has waited in vain; empty for others.
    ticket: String,
    sends_mail: bool,
}

#[derive(Template)]
#[template(path = "signin_code.html")]
struct CodePage<'a> {
    layout: PageLayout,
    pending: &'a str,
    error: String,
}

pub(crate) async fn sign_up_page(request: AccountRequest<'_>) -> AccountResult {
    request.not_signed_in().await?;
    may_sign_up(request)?;
    show_sign_up(request, "", "", "")
}

fn may_sign_up(request: AccountRequest<'_>) -> Result<(), AccountReply> {
    match request.page.state.operator.sign_up {
        SignUp::Open => Ok(()),
        closed => Err(PageError::SignUpClosed(closed).into()),
    }
}

fn show_sign_up(request: AccountRequest<'_>, email: &str, error: &str, wrong: &'static str) -> AccountResult {
    let limits = request.auth.tiers().of(Tier::Free);
    let number = |limit: Option<u32>| limit.map_or_else(|| "unlimited".to_owned(), format::number);
    let page = SignUpPage {
        layout: request.layout("Sign up", "Create an account to get API keys."),
        email: email.to_owned(),
        error: sentence(error),
        wrong,
        keys: number(limits.keys),
        requests: number(limits.requests),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

pub(crate) async fn sign_in_page(request: AccountRequest<'_>) -> AccountResult {
    request.not_signed_in().await?;
    show_sign_in(request, "", "")
}

pub(crate) fn show_sign_in(request: AccountRequest<'_>, email: &str, error: &str) -> AccountResult {
    Ok(AccountReply::Page(form_status(error), sign_in_html(request, email, error, "")?))
}

fn sign_in_html(request: AccountRequest<'_>, email: &str, error: &str, ticket: &str) -> Result<String, AccountReply> {
    let page = SignInPage {
        layout: request.layout("Sign in", "Sign in to your account."),
        email: email.to_owned(),
        error: sentence(error),
        is_wrong: error == AccountError::WrongCredentials.to_string(),
        ticket: ticket.to_owned(),
        sends_mail: request.auth.sends_mail(),
    };
    Ok(page.render()?)
}

/// The status of a page with a form that shows `error`, which is empty before the form is sent.
pub(crate) fn form_status(error: &str) -> StatusCode {
    if error.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
}

/// The message of an error that the form can show; any other error is an error page.
pub(crate) fn form_error(error: AccountError) -> Result<String, AccountReply> {
    match error {
        AccountError::NotCreated
        | AccountError::WrongCredentials
        | AccountError::WrongPassword
        | AccountError::WrongCode
        | AccountError::Blocked
        | AccountError::SignInExpired
        | AccountError::SamePassword
        | AccountError::KeyOverlaps
        | AccountError::KeyLimitReached { .. }
        | AccountError::Watch(_)
        | AccountError::Review(_)
        | AccountError::NewKeysUsedUp(_) => Ok(error.to_string()),
        error => Err(error.into()),
    }
}

/// Sets the cookies of a new session, ends the one that they replace, and redirects.
pub(crate) async fn start_session(request: AccountRequest<'_>, session: &StartedSession) -> AccountReply {
    if let Some(previous) = cookie::find(request.page, cookie::SESSION) {
        // On an error the new session is still valid, and the previous one expires by itself.
        let _ = request.auth.sign_out(&previous, request.now).await;
    }
    let cookies = cookie::session_cookies(request.page.state, session);
    let Some(path) = cookie::return_path(request.page) else {
        return AccountReply::Redirect("/account".into(), cookies);
    };
    AccountReply::Redirect(path.into(), [cookies, cookie::remove(request.page.state, &[cookie::RETURN])].concat())
}

pub(crate) async fn sign_up(request: AccountRequest<'_>) -> AccountResult {
    may_sign_up(request)?;
    let address = request.form.text("email");
    let email: Email = match address.parse() {
        Ok(email) => email,
        Err(error) => return show_sign_up(request, &address, &error.to_string(), "email"),
    };
    let password = match Password::new(&request.form.secret("password"), &email) {
        Ok(password) => password,
        Err(weak) => return show_sign_up(request, &address, &weak.to_string(), "password"),
    };
    match request.auth.sign_up(email.clone(), password, request.address, request.now).await {
        Ok(session) => {
            // The account exists regardless; its page sends the link again.
            let _ = request.auth.send_verification(email, request.address, request.now).await;
            Ok(start_session(request, &session).await)
        }
        Err(error) => show_sign_up(request, &address, &form_error(error)?, ""),
    }
}

pub(crate) async fn sign_in(request: AccountRequest<'_>) -> AccountResult {
    let address = request.form.text("email");
    // An invalid address is reported like an unknown account.
    let Ok(email) = address.parse::<Email>() else {
        return show_sign_in(request, &address, &AccountError::WrongCredentials.to_string());
    };
    let password = Secret::new(&request.form.secret("password"));
    let browser = cookie::find(request.page, cookie::BROWSER);
    let ticket = request.form.text("ticket");
    let ticket = Some(&*ticket).filter(|ticket| !ticket.is_empty());
    match request.auth.sign_in(email, password, request.address, browser, ticket, request.now).await {
        Ok(session) => Ok(start_session(request, &session).await),
        Err(AccountError::CodeRequired(pending)) => show_code_form(request, pending.reveal(), ""),
        Err(AccountError::InLine(ticket)) => {
            let error = AccountError::InLine(ticket.clone());
            let html = sign_in_html(request, &address, &error.to_string(), ticket.reveal())?;
            Ok(AccountReply::Busy(html, RetryAfter { seconds: 1 }))
        }
        Err(error) => show_sign_in(request, &address, &form_error(error)?),
    }
}

pub(crate) fn show_code_form(request: AccountRequest<'_>, pending: &str, error: &str) -> AccountResult {
    let layout = request.layout("Enter your code", "The second step of your sign-in.");
    let page = CodePage { layout, pending, error: sentence(error) };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

pub(crate) async fn sign_in_with_code(request: AccountRequest<'_>) -> AccountResult {
    let (pending, code) = (request.form.text("pending"), request.form.secret("code"));
    let browser = cookie::find(request.page, cookie::BROWSER);
    match request.auth.sign_in_with_code(&pending, &code, browser, request.now).await {
        Ok(session) => Ok(start_session(request, &session).await),
        Err(error @ (AccountError::SignInExpired | AccountError::Blocked)) => {
            show_sign_in(request, "", &error.to_string())
        }
        Err(error) => show_code_form(request, &pending, &form_error(error)?),
    }
}

pub(crate) async fn sign_out(request: AccountRequest<'_>) -> AccountResult {
    if let Some(token) = cookie::find(request.page, cookie::SESSION) {
        request.auth.sign_out(&token, request.now).await?;
    }
    // The browser remains known, for the next sign-in.
    Ok(AccountReply::SignedOut(cookie::remove(request.page.state, &[cookie::SESSION])))
}
