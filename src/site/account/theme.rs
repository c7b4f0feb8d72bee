//! `POST /theme`: sets the theme, for visitors with and without an account.

use http::header::REFERER;

use crate::account::{AccountReply, AccountRequest, AccountResult, cookie};
use crate::error_page::PageError;
use crate::routes::PageRoute;
use crate::theme::Theme;

pub(crate) async fn choose(request: AccountRequest<'_>) -> AccountResult {
    let theme: Theme = request.form.text("theme").parse().map_err(|()| AccountReply::Failed(PageError::UnknownPage))?;
    Ok(AccountReply::Redirect(page_before(request).into(), vec![cookie::theme_cookie(request.page.state, theme)]))
}

/// Path and query of the page with the form; the account page for a response to a POST; the home page if unknown.
fn page_before(request: AccountRequest<'_>) -> String {
    let referrer = request.page.headers.get(REFERER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let rest = referrer.split_once("://").map_or("", |(_, rest)| rest);
    let address = rest.find('/').map_or("/", |start| &rest[start..]);
    // Two slashes would start a host name.
    let is_path = !address.starts_with("//") && address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let path = address.split('?').next().unwrap_or(address);
    match PageRoute::parse(path) {
        Some(route) if !route.is_read() => "/account".to_owned(),
        _ if is_path => address.to_owned(),
        _ => "/".to_owned(),
    }
}
