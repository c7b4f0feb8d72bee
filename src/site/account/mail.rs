//! Pages that links lead to: verifying an address, setting a password, signing in, accepting an invitation. Without a mail
//! server all but the last are 404.
//!
//! A link only opens a page with a form, so that programs that scan the links in e-mails change nothing.

use askama::Template;
use http::StatusCode;

use crate::account::sign::{form_status, show_code_form, show_sign_in, start_session};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::error_page::{PageError, sentence};
use crate::layout::PageLayout;
use auth::AccountError;
use auth::account::{Account, Email};
use auth::password::{MAX_LENGTH, MIN_LENGTH, Password};
use service::SignUp;

#[derive(Template)]
#[template(path = "verify.html")]
struct VerifyPage {
    layout: PageLayout,
    token: String,
    is_done: bool,
    error: String,
}

#[derive(Template)]
#[template(path = "request_link.html")]
struct RequestLinkPage {
    layout: PageLayout,
    texts: &'static LinkTexts,
    email: String,
    is_sent: bool,
    error: String,
}

/// Texts of a page at which anybody requests a link by e-mail.
struct LinkTexts {
    title: &'static str,
    description: &'static str,
    /// Follows "Enter the address of your account to get".
    promise: &'static str,
    /// Follows "If the address has an account".
    sent: &'static str,
    sign_in: &'static str,
    path: &'static str,
}

const RESET: LinkTexts = LinkTexts {
    title: "Forgot your password?",
    description: "Get a link to set a new password.",
    promise: "a link to set a new password",
    sent: "a link to set a new password is on its way. It is valid for 24 hours",
    sign_in: "Sign in",
    path: "/reset",
};

const SIGN_IN: LinkTexts = LinkTexts {
    title: "Sign in by e-mail",
    description: "Get a link that signs you in.",
    promise: "a link that signs you in, once",
    sent: "a link to sign in is on its way. It is valid for 15 minutes",
    sign_in: "Sign in with your password",
    path: "/signin/link",
};

/// Texts of a page at which the owner of a link sets a password.
pub(crate) struct PasswordTexts {
    is_invitation: bool,
    title: &'static str,
    path: &'static str,
    /// Follows "For the account" and its address.
    effect: &'static str,
    button: &'static str,
}

pub(crate) const FORGOTTEN: PasswordTexts = PasswordTexts {
    is_invitation: false,
    title: "Set a new password",
    path: "/reset/password",
    effect: " All its sessions end.",
    button: "Set password",
};

pub(crate) const INVITED: PasswordTexts = PasswordTexts {
    is_invitation: true,
    title: "Choose your password",
    path: "/invitation",
    effect: " You sign in with it afterwards.",
    button: "Choose password",
};

#[derive(Template)]
#[template(path = "reset.html")]
struct ResetPage {
    layout: PageLayout,
    texts: &'static PasswordTexts,
    token: String,
    email: String,
    /// Empty before the form is sent.
    error: String,
    is_link_valid: bool,
}

#[derive(Template)]
#[template(path = "open_link.html")]
struct OpenLinkPage {
    layout: PageLayout,
    token: String,
    error: String,
}

fn sends_mail(request: AccountRequest<'_>) -> Result<(), AccountReply> {
    if request.auth.sends_mail() { Ok(()) } else { Err(PageError::UnknownPage.into()) }
}

/// Redirects to the page of a form, which says that it was sent, so that nobody sends it again by reloading.
fn done(path: &str) -> AccountReply {
    AccountReply::Redirect(format!("{path}?done=yes").into(), Vec::new())
}

fn is_done(request: AccountRequest<'_>) -> bool {
    request.page.parameter("done").is_some_and(|done| done == "yes")
}

pub(crate) async fn send_verification(request: AccountRequest<'_>) -> AccountResult {
    sends_mail(request)?;
    let visitor = request.signed_in().await?;
    let Account { email, verified_at, .. } = visitor.account;
    if verified_at.is_none() {
        request.auth.send_verification(email, request.address, request.now).await?;
    }
    Ok(AccountReply::Redirect("/account".into(), Vec::new()))
}

pub(crate) async fn verify_page(request: AccountRequest<'_>) -> AccountResult {
    sends_mail(request)?;
    let token = request.page.parameter("token").unwrap_or_default().into_owned();
    show_verification(request, token, is_done(request), "")
}

fn show_verification(request: AccountRequest<'_>, token: String, is_done: bool, error: &str) -> AccountResult {
    let layout = request.layout("Verify your e-mail address", "Verify your e-mail address.");
    let page = VerifyPage { layout, token, is_done, error: sentence(error) };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

pub(crate) async fn verify(request: AccountRequest<'_>) -> AccountResult {
    sends_mail(request)?;
    match request.auth.verify_by_link(&request.form.text("token"), request.now).await {
        Ok(_) => Ok(done("/verify")),
        Err(error @ AccountError::NoSuchLink) => show_verification(request, String::new(), false, &error.to_string()),
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn request_reset_page(request: AccountRequest<'_>) -> AccountResult {
    sends_mail(request)?;
    show_request(request, &RESET, "", is_done(request), "")
}

pub(crate) async fn request_link_page(request: AccountRequest<'_>) -> AccountResult {
    sends_mail(request)?;
    request.not_signed_in().await?;
    show_request(request, &SIGN_IN, "", is_done(request), "")
}

fn show_request(
    request: AccountRequest<'_>,
    texts: &'static LinkTexts,
    email: &str,
    is_sent: bool,
    error: &str,
) -> AccountResult {
    let layout = request.layout(texts.title, texts.description);
    let page = RequestLinkPage { layout, texts, email: email.to_owned(), is_sent, error: sentence(error) };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

/// The address in a form; the error is the page that says what is wrong with it.
fn requested_email(request: AccountRequest<'_>, texts: &'static LinkTexts) -> Result<Email, AccountReply> {
    sends_mail(request)?;
    let address = request.form.text("email");
    match address.parse::<Email>() {
        Ok(email) => Ok(email),
        Err(error) => Err(show_request(request, texts, &address, false, &error.to_string())?),
    }
}

/// `POST /reset`: the same response whether or not the address has an account.
pub(crate) async fn request_reset(request: AccountRequest<'_>) -> AccountResult {
    let email = requested_email(request, &RESET)?;
    request.auth.request_reset(email, request.address, request.now).await?;
    Ok(done(RESET.path))
}

/// `POST /signin/link`: as [`request_reset`].
pub(crate) async fn request_link(request: AccountRequest<'_>) -> AccountResult {
    let email = requested_email(request, &SIGN_IN)?;
    request.auth.request_sign_in_link(email, request.address, request.now).await?;
    Ok(done(SIGN_IN.path))
}

/// An invitation needs no e-mail, but the operator may create all accounts alone.
fn accepts_links(request: AccountRequest<'_>, texts: &PasswordTexts) -> Result<(), AccountReply> {
    match request.page.state.operator.sign_up {
        closed @ SignUp::Off if texts.is_invitation => Err(PageError::SignUpClosed(closed).into()),
        _ if texts.is_invitation => Ok(()),
        _ => sends_mail(request),
    }
}

pub(crate) async fn reset_page(request: AccountRequest<'_>, texts: &'static PasswordTexts) -> AccountResult {
    accepts_links(request, texts)?;
    show_reset(request, texts, &request.page.parameter("token").unwrap_or_default(), "").await
}

async fn show_reset(
    request: AccountRequest<'_>,
    texts: &'static PasswordTexts,
    token: &str,
    error: &str,
) -> AccountResult {
    let account = match request.auth.account_of_reset(token, request.now).await {
        Ok(account) => Ok(account),
        Err(AccountError::NoSuchLink) if texts.is_invitation => {
            Err("this link has expired or was used; sign in, or ask the operator for another".to_owned())
        }
        Err(error @ AccountError::NoSuchLink) => Err(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    let status = if account.is_ok() { form_status(error) } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = ResetPage {
        layout: request.layout(texts.title, "Set the password of your account."),
        texts,
        token: token.to_owned(),
        is_link_valid: account.is_ok(),
        error: sentence(account.as_ref().err().map_or(error, String::as_str)),
        email: account.map_or_else(|_| String::new(), |account| account.email.to_string()),
    };
    Ok(AccountReply::Page(status, page.render()?))
}

pub(crate) async fn reset(request: AccountRequest<'_>, texts: &'static PasswordTexts) -> AccountResult {
    accepts_links(request, texts)?;
    let token = request.form.text("token");
    let account = match request.auth.account_of_reset(&token, request.now).await {
        Ok(account) => account,
        Err(AccountError::NoSuchLink) => return show_reset(request, texts, &token, "").await,
        Err(error) => return Err(error.into()),
    };
    let new = match Password::new(&request.form.secret("new"), &account.email) {
        Ok(new) => new,
        Err(weak) => return show_reset(request, texts, &token, &weak.to_string()).await,
    };
    let keeps_keys = texts.is_invitation || !request.form.text("keep_keys").is_empty();
    match request.auth.reset_by_link(&token, new, keeps_keys, request.now).await {
        Ok(_) => Ok(AccountReply::Redirect("/signin".into(), Vec::new())),
        Err(AccountError::NoSuchLink) => show_reset(request, texts, &token, "").await,
        Err(error) => Err(error.into()),
    }
}

pub(crate) async fn open_page(request: AccountRequest<'_>) -> AccountResult {
    sends_mail(request)?;
    show_link(request, request.page.parameter("token").unwrap_or_default().into_owned(), "")
}

fn show_link(request: AccountRequest<'_>, token: String, error: &str) -> AccountResult {
    let layout = request.layout("Sign in by e-mail", "Sign in by the link of an e-mail.");
    let page = OpenLinkPage { layout, token, error: sentence(error) };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

/// `POST /signin/open`: the link is used up, also if a code is still needed.
pub(crate) async fn open(request: AccountRequest<'_>) -> AccountResult {
    sends_mail(request)?;
    match request.auth.sign_in_by_link(&request.form.text("token"), request.now).await {
        Ok(session) => Ok(start_session(request, &session).await),
        Err(AccountError::CodeRequired(pending)) => show_code_form(request, pending.reveal(), ""),
        Err(error @ AccountError::NoSuchLink) => show_link(request, String::new(), &error.to_string()),
        Err(error @ AccountError::Blocked) => show_sign_in(request, "", &error.to_string()),
        Err(error) => Err(error.into()),
    }
}
