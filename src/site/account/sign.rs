//! Sign-up, sign-in, sign-out.

use askama::Template;
use http::StatusCode;

use crate::auth::account::Email;
use crate::auth::password::{MAX_LENGTH, MIN_LENGTH, Password, Secret};
use crate::auth::{AccountError, NewSession};
use crate::site::error_page::sentence;
use crate::site::layout::PageLayout;

use crate::site::account::form::FormData;
use crate::site::account::{AccountRequest, Reply, cookie};

#[derive(Template)]
#[template(path = "signup.html")]
struct SignUpPage {
    frame: PageLayout,
    email: String,
    wrong: String,
    shortest: usize,
    longest: usize,
}

#[derive(Template)]
#[template(path = "signin.html")]
struct SignInPage {
    frame: PageLayout,
    email: String,
    wrong: String,
}

/// `GET /signup`.
pub(crate) async fn up_page(asked: AccountRequest<'_>) -> Result<Reply, Reply> {
    match asked.visitor().await? {
        Some(_) => Ok(Reply::To("/account", None)),
        None => up_again(asked, StatusCode::OK, "", String::new()),
    }
}

fn up_again(asked: AccountRequest<'_>, status: StatusCode, email: &str, wrong: String) -> Result<Reply, Reply> {
    let catalog = asked.visit.state.live.current();
    let frame = asked.frame(catalog.snapshot(), "Sign up", "Make an account, for keys to the REST API.");
    let page = SignUpPage {
        frame,
        email: email.to_owned(),
        wrong: sentence(&wrong),
        shortest: MIN_LENGTH,
        longest: MAX_LENGTH,
    };
    Ok(Reply::Page(status, page.render()?))
}

/// `GET /signin`.
pub(crate) async fn in_page(asked: AccountRequest<'_>) -> Result<Reply, Reply> {
    match asked.visitor().await? {
        Some(_) => Ok(Reply::To("/account", None)),
        None => in_again(asked, StatusCode::OK, "", String::new()),
    }
}

fn in_again(asked: AccountRequest<'_>, status: StatusCode, email: &str, wrong: String) -> Result<Reply, Reply> {
    let catalog = asked.visit.state.live.current();
    let frame = asked.frame(catalog.snapshot(), "Sign in", "Sign in to your account.");
    Ok(Reply::Page(status, SignInPage { frame, email: email.to_owned(), wrong: sentence(&wrong) }.render()?))
}

/// What is wrong with a form that a person can mend there; anything else is a page of its own.
pub(crate) fn mendable(error: AccountError) -> Result<(StatusCode, String), Reply> {
    match error {
        AccountError::NotCreated
        | AccountError::WrongCredentials
        | AccountError::WrongPassword
        | AccountError::SamePassword
        | AccountError::KeyLimitReached { .. } => Ok((StatusCode::UNPROCESSABLE_ENTITY, error.to_string())),
        error => Err(error.into()),
    }
}

fn entered(asked: AccountRequest<'_>, session: &NewSession) -> Reply {
    Reply::To("/account", Some(cookie::begun(asked.visit.state, session)))
}

/// `POST /signup`.
pub(crate) async fn up(asked: AccountRequest<'_>, form: &FormData) -> Result<Reply, Reply> {
    let (given, unfit) = (form.text("email"), StatusCode::UNPROCESSABLE_ENTITY);
    let email: Email = match given.parse() {
        Ok(email) => email,
        Err(error) => return up_again(asked, unfit, &given, format!("this is {error}")),
    };
    let password = match Password::new(&form.text("password"), &email) {
        Ok(password) => password,
        Err(weak) => return up_again(asked, unfit, &given, weak.to_string()),
    };
    match asked.visit.state.access.sign_up(email, password, asked.address, asked.now).await {
        Ok(session) => Ok(entered(asked, &session)),
        Err(error) => {
            let (status, wrong) = mendable(error)?;
            up_again(asked, status, &given, wrong)
        }
    }
}

/// `POST /signin`.
pub(crate) async fn r#in(asked: AccountRequest<'_>, form: &FormData) -> Result<Reply, Reply> {
    let given = form.text("email");
    let access = &asked.visit.state.access;
    // What is no address has no account.
    let Ok(email) = given.parse::<Email>() else {
        let wrong = AccountError::WrongCredentials.to_string();
        return in_again(asked, StatusCode::UNPROCESSABLE_ENTITY, &given, wrong);
    };
    match access.sign_in(email, Secret::new(&form.text("password")), asked.address, asked.now).await {
        Ok(session) => Ok(entered(asked, &session)),
        Err(error) => {
            let (status, wrong) = mendable(error)?;
            in_again(asked, status, &given, wrong)
        }
    }
}

/// `POST /signout`.
pub(crate) async fn out(asked: AccountRequest<'_>) -> Result<Reply, Reply> {
    if let Some(token) = cookie::token(asked.visit) {
        asked.visit.state.access.sign_out(&token).await?;
    }
    Ok(Reply::To("/", Some(cookie::ended(asked.visit.state))))
}
