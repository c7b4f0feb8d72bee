//! `GET /saved` and `GET /alerts`: the saved searches and lists of the key's account, and the alerts that releases
//! raised for them.
//!
//! They are read from the store and belong to one account, so they are never cached.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use auth::StoreError;
use auth::account::AccountId;
use auth::watch::{Alert, AlertId, Watch, WatchId, WatchStore};
use catalog::ParameterError;
use catalog::param_error::shortened;
use catalog::parse::scalars::parse_uint;
use service::alerts::{AlertRecord, WatchRecord};
use transport::problem::{Code, Problem};

use crate::record::json_response;
use crate::request::{Canonical, RequestError, RequestUrl};
use crate::window::{DEFAULT_LIMIT, MAX_LIMIT, PageWindow, single_value};
use crate::{ApiRequest, ApiResponse, Version};

pub(crate) const SAVED: &str = "saved";
pub(crate) const AFTER: &str = "after";

/// Number of alerts read at a time.
const BATCH: u32 = 10;
/// A response gets no further alerts once those it has take this many bytes in the store.
const MAX_BYTES: usize = 4 << 20;

pub(crate) struct AlertsRequest {
    saved: Option<WatchId>,
    after: AlertId,
    window: PageWindow,
}

impl AlertsRequest {
    pub(crate) fn parse(url: &RequestUrl<'_>) -> Result<Self, RequestError> {
        let mut errors = Vec::new();
        let mut number = |name: &str| {
            let text = single_value(url.values, name, &mut errors)?;
            let number = parse_uint(text).and_then(|number| i64::try_from(number).ok());
            if number.is_none() {
                let detail = format!("`{}` is not a number such as 17", shortened(text));
                errors.push(ParameterError::invalid(name, detail));
            }
            number
        };
        let (saved, after) = (number(SAVED), number(AFTER));
        let window = PageWindow::parse(Version::V3, url.values, MAX_LIMIT);
        match window.map_err(|invalid| errors.extend(invalid)) {
            Ok(window) if errors.is_empty() => {
                Ok(Self { saved: saved.map(WatchId), after: AlertId(after.unwrap_or(0)), window })
            }
            _ => Err(errors.into()),
        }
    }

    pub(crate) fn canonical(&self) -> Canonical {
        let saved = self.saved.map(|saved| (SAVED, saved.0.to_string()));
        let after = (self.after.0 > 0).then(|| (AFTER, self.after.0.to_string()));
        saved.into_iter().chain(after).chain(self.window.canonical(DEFAULT_LIMIT)).collect()
    }
}

/// The account of the key.
fn account(request: &ApiRequest<'_>) -> Result<AccountId, Problem> {
    request.account.ok_or_else(|| {
        let detail = "this key belongs to no account, so that nothing is saved with it; sign up, create a key on the account \
                      page, and send that one";
        Problem::new(Code::AccountRequired, detail)
    })
}

fn failed(error: &StoreError) -> Problem {
    match error.is_failure() {
        true => Problem::new(Code::Overloaded, format!("{}; retry in a minute", error.summary())),
        false => Problem::new(Code::InternalError, "an internal error occurred; retry later"),
    }
}

/// `GET /saved`: the searches and lists of the account, the newest first.
pub(crate) fn saved(request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    let account = account(request)?;
    let watches = request.state.auth.store().watch_store().watches(account).map_err(|error| failed(&error))?;
    let records: Vec<WatchRecord> = watches.iter().map(WatchRecord::from_watch).collect();
    json_response::<WatchRecord>(request, &records, &[])
}

/// `GET /alerts`: the alerts of the account, the oldest first.
pub(crate) fn alerts(request: &ApiRequest<'_>, alerts: &AlertsRequest) -> Result<ApiResponse, Problem> {
    let account = account(request)?;
    if let Some(saved) = alerts.saved {
        let watch = request.state.auth.store().watch_store().watch(saved);
        match watch.map(|watch| watch.account == account) {
            Ok(true) => {}
            Ok(false) | Err(StoreError::NoSuchWatch) => {
                let detail = format!("you have no saved search or list `{}`; `/api/v3/saved` lists them", saved.0);
                return Err(Problem::of_parameters(vec![ParameterError::invalid(SAVED, detail)]));
            }
            Err(error) => return Err(failed(&error)),
        }
    }
    let records = records(request, account, alerts).map_err(|error| failed(&error))?;
    let clamped = alerts.window.clamped.then(|| ParameterError::limit_clamped(MAX_LIMIT));
    json_response::<AlertRecord>(request, &records, &clamped.into_iter().collect::<Vec<_>>())
}

fn records(
    request: &ApiRequest<'_>,
    account: AccountId,
    alerts: &AlertsRequest,
) -> Result<Vec<AlertRecord>, StoreError> {
    let store = request.state.auth.store().watch_store();
    let limit = u32::try_from(alerts.window.limit).unwrap_or(u32::MAX);
    let mut watches: HashMap<WatchId, Option<Watch>> = HashMap::new();
    let mut records = Vec::new();
    let (mut last, mut bytes) = (alerts.after, 0);
    while bytes < MAX_BYTES {
        let wanted = BATCH.min(limit - u32::try_from(records.len()).unwrap_or(limit));
        let batch = store.alerts_after(account, alerts.saved, last, wanted)?;
        let Some(newest) = batch.last() else { break };
        last = newest.id;
        for alert in batch {
            bytes += alert.entries.len();
            if let Some(watch) = watch_of(store, &mut watches, &alert)? {
                records.push(AlertRecord::from_alert(watch, &alert)?);
            }
        }
    }
    Ok(records)
}

/// The search or list of an alert; `None` if it was deleted in the meantime.
fn watch_of<'w>(
    store: &dyn WatchStore,
    watches: &'w mut HashMap<WatchId, Option<Watch>>,
    alert: &Alert,
) -> Result<Option<&'w Watch>, StoreError> {
    Ok(match watches.entry(alert.watch) {
        Entry::Occupied(known) => known.into_mut().as_ref(),
        Entry::Vacant(vacant) => {
            let watch = match store.watch(alert.watch) {
                Ok(watch) => Some(watch),
                Err(StoreError::NoSuchWatch) => None,
                Err(error) => return Err(error),
            };
            vacant.insert(watch).as_ref()
        }
    })
}
