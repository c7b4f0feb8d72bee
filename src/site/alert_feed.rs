//! Private feeds: the alerts of a saved search or list, for anyone who has the address.

use http::header::{HeaderName, REFERRER_POLICY};

use crate::account::saved::wording::{count_in_words, reason_in_words};
use crate::error_page::PageError;
use crate::feeds::{Feed, FeedEntry};
use crate::{PageRequest, PageResult, PathValues};
use auth::StoreError;
use auth::watch::{Alert, Watch};
use catalog::Catalog;
use data::rfc3339;
use service::alerts::entries;
use transport::headers::set;

/// Maximum number of alerts in a feed; the newest are kept.
const ALERTS: u32 = 50;
/// Maximum number of records named in an entry.
const RECORDS: usize = 200;

const ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

pub(super) fn respond(_: &Catalog, request: PageRequest<'_>, [token, _]: PathValues<'_>) -> PageResult {
    let feed = feed(request, token).map_err(|error| match error {
        StoreError::NoSuchWatch => PageError::UnknownPage,
        error => PageError::Account(error.into()),
    })?;
    let mut response = feed.respond(request)?;
    // Neither search engines nor linked sites may learn the address.
    set(response.headers_mut(), ROBOTS_TAG, "noindex");
    set(response.headers_mut(), REFERRER_POLICY, "no-referrer");
    Ok(response)
}

fn feed(request: PageRequest<'_>, token: &str) -> Result<Feed, StoreError> {
    let state = request.state;
    let store = state.auth.store();
    let watch = state.alerts.secrets.watch_of_feed(store, token)?;
    let alerts = store.alerts(watch.id, None, ALERTS)?;
    let base = &state.public_url;
    let entries = alerts.iter().map(|alert| entry(base, &watch, alert)).collect::<Result<_, _>>()?;
    Ok(Feed {
        title: format!("{}: {}", state.operator.brand.name, watch.name.as_str()),
        author: state.operator.brand.name.to_string(),
        url: format!("{base}{}", request.path),
        home: format!("{base}/account/saved/{}", watch.id.0),
        updated: rfc3339(alerts.first().map_or(watch.created_at, |alert| alert.created_at)),
        entries,
    })
}

fn entry(base: &str, watch: &Watch, alert: &Alert) -> Result<FeedEntry, StoreError> {
    let mut lines = Vec::new();
    for entry in entries(alert)?.iter().take(RECORDS) {
        let what = if watch.query.is_some() { String::new() } else { format!(" ({})", reason_in_words(entry)) };
        let page = entry.page.as_ref().map_or_else(String::new, |page| format!(": {base}{page}"));
        lines.push(format!("{}{what}{page}", entry.name));
    }
    if alert.total as usize > lines.len() {
        lines.push(format!("and {} more", alert.total as usize - lines.len()));
    }
    let url = format!("{base}/account/saved/{}?alert={}", watch.id.0, alert.id.0);
    Ok(FeedEntry {
        id: url.clone(),
        title: format!("{} with release {}", count_in_words(watch, alert), alert.version),
        url,
        updated: rfc3339(alert.created_at),
        published: Some(rfc3339(alert.created_at)),
        text: lines.join("\n"),
    })
}
