//! Sign-up, sign-in and sign-out.

use askama::Template;
use http::StatusCode;

use crate::auth::account::Email;
use crate::auth::password::{MAX_LENGTH, MIN_LENGTH, Password, Secret};
use crate::auth::{AccountError, NewSession};
use crate::site::account::form::FormData;
use crate::site::account::{AccountRequest, Reply, cookie};
use crate::site::error_page::sentence;
use crate::site::layout::PageLayout;

#[derive(Template)]
#[template(path = "signup.html")]
struct SignUpPage {
    layout: PageLayout,
    email: String,
    error: String,
    min_length: usize,
    max_length: usize,
}

#[derive(Template)]
#[template(path = "signin.html")]
struct SignInPage {
    layout: PageLayout,
    email: String,
    error: String,
}

/// `GET /signup`.
pub(crate) async fn sign_up_page(request: AccountRequest<'_>) -> Result<Reply, Reply> {
    match request.visitor().await? {
        Some(_) => Ok(Reply::Redirect("/account", None)),
        None => show_sign_up(request, StatusCode::OK, "", String::new()),
    }
}

fn show_sign_up(request: AccountRequest<'_>, status: StatusCode, email: &str, error: String) -> Result<Reply, Reply> {
    let catalog = request.page.state.releases.current();
    let layout = request.layout(catalog.snapshot(), "Sign up", "Create an account to get API keys.");
    let page = SignUpPage {
        layout,
        email: email.to_owned(),
        error: sentence(&error),
        min_length: MIN_LENGTH,
        max_length: MAX_LENGTH,
    };
    Ok(Reply::Page(status, page.render()?))
}

/// `GET /signin`.
pub(crate) async fn sign_in_page(request: AccountRequest<'_>) -> Result<Reply, Reply> {
    match request.visitor().await? {
        Some(_) => Ok(Reply::Redirect("/account", None)),
        None => show_sign_in(request, StatusCode::OK, "", String::new()),
    }
}

fn show_sign_in(request: AccountRequest<'_>, status: StatusCode, email: &str, error: String) -> Result<Reply, Reply> {
    let catalog = request.page.state.releases.current();
    let layout = request.layout(catalog.snapshot(), "Sign in", "Sign in to your account.");
    Ok(Reply::Page(status, SignInPage { layout, email: email.to_owned(), error: sentence(&error) }.render()?))
}

/// The status and message of an error that the form can show; any other error is an error page.
pub(crate) fn form_error(error: AccountError) -> Result<(StatusCode, String), Reply> {
    match error {
        AccountError::NotCreated
        | AccountError::WrongCredentials
        | AccountError::WrongPassword
        | AccountError::SamePassword
        | AccountError::KeyLimitReached { .. } => Ok((StatusCode::UNPROCESSABLE_ENTITY, error.to_string())),
        error => Err(error.into()),
    }
}

fn signed_in(request: AccountRequest<'_>, session: &NewSession) -> Reply {
    Reply::Redirect("/account", Some(cookie::set(request.page.state, session)))
}

/// `POST /signup`.
pub(crate) async fn sign_up(request: AccountRequest<'_>, form: &FormData) -> Result<Reply, Reply> {
    let (address, invalid) = (form.text("email"), StatusCode::UNPROCESSABLE_ENTITY);
    let email: Email = match address.parse() {
        Ok(email) => email,
        Err(error) => return show_sign_up(request, invalid, &address, error.to_string()),
    };
    let password = match Password::new(&form.text("password"), &email) {
        Ok(password) => password,
        Err(weak) => return show_sign_up(request, invalid, &address, weak.to_string()),
    };
    match request.page.state.auth.sign_up(email, password, request.address, request.now).await {
        Ok(session) => Ok(signed_in(request, &session)),
        Err(error) => {
            let (status, message) = form_error(error)?;
            show_sign_up(request, status, &address, message)
        }
    }
}

/// `POST /signin`.
pub(crate) async fn sign_in(request: AccountRequest<'_>, form: &FormData) -> Result<Reply, Reply> {
    let address = form.text("email");
    let auth = &request.page.state.auth;
    // Reported like an unknown account.
    let Ok(email) = address.parse::<Email>() else {
        let message = AccountError::WrongCredentials.to_string();
        return show_sign_in(request, StatusCode::UNPROCESSABLE_ENTITY, &address, message);
    };
    match auth.sign_in(email, Secret::new(&form.text("password")), request.address, request.now).await {
        Ok(session) => Ok(signed_in(request, &session)),
        Err(error) => {
            let (status, message) = form_error(error)?;
            show_sign_in(request, status, &address, message)
        }
    }
}

/// `POST /signout`.
pub(crate) async fn sign_out(request: AccountRequest<'_>) -> Result<Reply, Reply> {
    if let Some(token) = cookie::token(request.page) {
        request.page.state.auth.sign_out(&token).await?;
    }
    Ok(Reply::Redirect("/", Some(cookie::remove(request.page.state))))
}
