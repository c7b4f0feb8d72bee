//! Searches, lists and alerts in words.

use crate::conditions::active_filters;
use auth::StoreError;
use auth::watch::{Alert, Watch};
use catalog::Catalog;
use data::vocabulary::Vocabulary;
use service::alerts::{AlertEntry, AlertReason, entries};
use view::format;
use view::link::Link;

pub(super) fn conditions(catalog: &Catalog, watch: &Watch) -> String {
    match &watch.query {
        Some(query) => {
            let pairs = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
            format!("Search of {}: {}", watch.table.plural(), filters(catalog, pairs))
        }
        None if watch.listed == 1 => "List with 1 record".to_owned(),
        None => format!("List of {} {}", format::number(watch.listed), watch.table.plural()),
    }
}

pub(super) fn filters(catalog: &Catalog, pairs: Vec<(String, String)>) -> String {
    let labels = active_filters(catalog, &Link::new("", pairs)).into_iter().map(|(label, _)| label);
    let labels: Vec<String> = labels.collect();
    if labels.is_empty() { "all".to_owned() } else { labels.join(" · ") }
}

/// The host of a validated URL.
pub(super) fn host_of(url: &str) -> &str {
    url.split('/').nth(2).unwrap_or(url)
}

pub(crate) fn count_in_words(watch: &Watch, alert: &Alert) -> String {
    match watch.query {
        Some(_) => format::counted(alert.total, "new match", "new matches"),
        None => format::counted(alert.total, "record changed", "records changed"),
    }
}

/// An alert without its records.
pub(super) struct AlertView {
    pub alert: Alert,
    pub counted: String,
    pub created: String,
    pub rows: Vec<AlertEntry>,
    pub left_out: u32,
}

impl AlertView {
    pub(super) fn new(watch: &Watch, alert: Alert, max: usize) -> Result<Self, StoreError> {
        let mut rows = entries(&alert)?;
        rows.truncate(max);
        Ok(Self {
            counted: count_in_words(watch, &alert),
            created: format::instant(alert.created_at),
            left_out: alert.total.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX)),
            rows,
            alert,
        })
    }
}

pub(crate) fn reason_in_words(entry: &AlertEntry) -> String {
    match AlertReason::ALL.iter().find(|reason| reason.name() == entry.reason) {
        Some(AlertReason::Match) => "new match".to_owned(),
        Some(AlertReason::Add) => "added".to_owned(),
        Some(AlertReason::Change) => {
            let fields: Vec<String> = entry.fields.iter().map(|field| field.replace('_', " ")).collect();
            format!("changed: {}", fields.join(", "))
        }
        Some(AlertReason::Remove) => "removed".to_owned(),
        Some(AlertReason::Merge) => match &entry.merged_into {
            Some(into) => format!("merged into {into}"),
            None => "merged".to_owned(),
        },
        None => entry.reason.clone(),
    }
}
