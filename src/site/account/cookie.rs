//! Cookies: the session, the known browser, the page to return to after sign-in, and the theme. Over https they are
//! `Secure` and have the prefix `__Host-`, so that neither another host nor an http connection can set them.

use std::str::FromStr;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::header::COOKIE;

use crate::static_pages::StaticPages;
use crate::theme::Theme;
use crate::{PageRequest, PageRoute};
use auth::StartedSession;
use auth::known_browser::KNOWN_BROWSER_SECONDS;
use auth::session::SESSION_SECONDS;
use service::State;

pub(crate) const SESSION: &str = "session";
pub(crate) const BROWSER: &str = "browser";
pub(crate) const RETURN: &str = "return";
pub(crate) const THEME: &str = "theme";

const THEME_SECONDS: i64 = 365 * 86_400;

const RETURN_SECONDS: i64 = 1_800;
/// Maximum length of the address to return to, in bytes.
const MAX_RETURN: usize = 2_000;

/// Prefix of a cookie's name, and the attributes after its value.
fn prefix_and_attributes(state: &State) -> (&'static str, &'static str) {
    if state.public_url.starts_with("https://") {
        ("__Host-", "; Path=/; HttpOnly; SameSite=Lax; Secure")
    } else {
        ("", "; Path=/; HttpOnly; SameSite=Lax")
    }
}

pub(crate) fn find<T: FromStr>(request: PageRequest<'_>, name: &str) -> Option<T> {
    let (prefix, _) = prefix_and_attributes(request.state);
    let values = request.headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| known.strip_prefix(prefix) == Some(name)).and_then(|(_, token)| token.parse().ok())
}

/// Sets the theme cookie, or removes it for the system theme, which is the default.
pub(crate) fn theme_cookie(state: &State, theme: Theme) -> String {
    match theme {
        Theme::System => cookie(state, THEME, "", 0),
        chosen => cookie(state, THEME, chosen.name(), THEME_SECONDS),
    }
}

/// The value of `Set-Cookie`; an empty `value` with an age of 0 removes the cookie.
fn cookie(state: &State, name: &str, value: &str, seconds: i64) -> String {
    let (prefix, attributes) = prefix_and_attributes(state);
    format!("{prefix}{name}={value}{attributes}; Max-Age={seconds}")
}

pub(crate) fn session_cookies(state: &State, session: &StartedSession) -> Vec<String> {
    vec![
        cookie(state, SESSION, &session.token.reveal(), SESSION_SECONDS),
        cookie(state, BROWSER, &session.browser.reveal(), KNOWN_BROWSER_SECONDS),
    ]
}

/// Sets the cookie of the page to return to after sign-in; none if the address is longer than [`MAX_RETURN`].
pub(crate) fn return_cookies(request: PageRequest<'_>) -> Vec<String> {
    let address = request.with_query(request.path);
    let value = BASE64_URL_SAFE_NO_PAD.encode(&address);
    let set = || cookie(request.state, RETURN, &value, RETURN_SECONDS);
    (address.len() <= MAX_RETURN).then(set).into_iter().collect()
}

pub(crate) fn return_path(request: PageRequest<'_>) -> Option<String> {
    let value: String = find(request, RETURN)?;
    let address = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(value).ok()?).ok()?;
    // Only pages of this site: what begins with two slashes is another host.
    let path = address.split('?').next().unwrap_or_default();
    let is_page = PageRoute::parse(path).is_some_and(PageRoute::is_read) || StaticPages::position(path).is_some();
    let is_plain = address.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    (is_page && is_plain && !address.starts_with("//")).then_some(address)
}

pub(crate) fn remove(state: &State, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| cookie(state, name, "", 0)).collect()
}
