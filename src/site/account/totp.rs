//! Two-step sign-in: setting up an authenticator app, recovery codes, turning it off.

use askama::Template;
use http::StatusCode;

use crate::account::confirm::confirm;
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use auth::password::Secret;
use auth::totp::{RecoveryCode, TotpSecret};
use auth::{AccountError, Visitor};
use view::authenticator;

#[derive(Template)]
#[template(path = "totp_setup.html")]
struct SetupPage {
    layout: PageLayout,
    shown_secret: String,
    secret: String,
    url: String,
    qr: String,
    error: String,
}

#[derive(Template)]
#[template(path = "totp.html")]
struct TotpPage {
    layout: PageLayout,
    email: String,
    codes_left: u32,
    error: String,
}

#[derive(Template)]
#[template(path = "recovery_codes.html")]
struct CodesPage {
    layout: PageLayout,
    codes: Vec<String>,
}

pub(crate) async fn page(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    match visitor.account.totp_enabled_at {
        Some(_) => show(request, &visitor, ""),
        None => Err(AccountReply::Redirect("/account".into(), Vec::new())),
    }
}

fn show(request: AccountRequest<'_>, visitor: &Visitor, error: &str) -> AccountResult {
    let page = TotpPage {
        layout: request.layout("Two-step sign-in", "Recovery codes, and turning it off."),
        email: visitor.account.email.to_string(),
        codes_left: visitor.account.recovery_codes,
        error: sentence(error),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

/// `POST /account/totp/setup`: shows a new secret. Nothing is stored until a code of it is entered.
pub(crate) async fn set_up(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    confirm(request, &visitor, "set up two-step sign-in", &[]).await?;
    let secret = TotpSecret::generate().map_err(AccountError::from)?;
    show_setup(request, &visitor, &secret, "")
}

fn show_setup(request: AccountRequest<'_>, visitor: &Visitor, secret: &TotpSecret, error: &str) -> AccountResult {
    let secret = secret.reveal();
    let url =
        authenticator::setup_link(&request.page.state.operator.brand.name, visitor.account.email.as_str(), &secret);
    let groups = secret.as_bytes().chunks(4).map(String::from_utf8_lossy);
    let page = SetupPage {
        layout: request.layout("Set up two-step sign-in", "Connect an authenticator app."),
        shown_secret: groups.collect::<Vec<_>>().join(" "),
        secret: secret.to_string(),
        qr: authenticator::qr_code(&url),
        url,
        error: sentence(error),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

/// Turns it on if the code proves that the app has the secret, and shows the recovery codes once.
pub(crate) async fn enable(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    confirm(request, &visitor, "turn on two-step sign-in", &["secret", "code"]).await?;
    let secret = request.form.secret("secret").parse::<TotpSecret>();
    // The secret is invalid only if the form was tampered with.
    let secret = secret.map_err(|_| AccountReply::Redirect("/account".into(), Vec::new()))?;
    match request.auth.enable_totp(visitor.account.id, secret.clone(), &request.form.text("code"), request.now).await {
        Ok(codes) => show_codes(request, &codes),
        Err(error) => show_setup(request, &visitor, &secret, &form_error(error)?),
    }
}

fn show_codes(request: AccountRequest<'_>, codes: &[RecoveryCode]) -> AccountResult {
    let page = CodesPage {
        layout: request.layout("Your recovery codes", "Codes for a sign-in without your app."),
        codes: codes.iter().map(RecoveryCode::reveal).collect(),
    };
    Ok(AccountReply::Page(StatusCode::CREATED, page.render()?))
}

pub(crate) async fn renew_codes(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    confirm(request, &visitor, "renew your recovery codes", &[]).await?;
    let codes = request.auth.renew_recovery_codes(visitor.account.id).await?;
    show_codes(request, &codes)
}

pub(crate) async fn disable(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let (password, code) = (Secret::new(&request.form.secret("password")), request.form.secret("code"));
    match request.auth.disable_totp(&visitor, password, &code, request.now).await {
        Ok(()) => Ok(AccountReply::Redirect("/account".into(), Vec::new())),
        Err(error) => show(request, &visitor, &form_error(error)?),
    }
}
