//! `GET /alerts`: what releases brought the saved searches and lists of the key's account, the oldest first.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use auth::account::AccountId;
use auth::watch::{AlertId, Watch, WatchId};
use auth::{Store, StoreError};
use catalog::ParameterError;
use catalog::param_error::shortened;
use catalog::parse::scalars::parse_whole;
use data::field::Model;
use data::vocabulary::Vocabulary;
use service::alerts::{AlertReason, AlertRecord};
use transport::problem::Problem;

use super::saved::{account, failed, unknown};
use crate::endpoint::{ApiOperation, Endpoint, ParsedOperation};
use crate::envelope::json_response;
use crate::openapi::parameter::{at_most, long};
use crate::openapi::vocabulary::open_vocabulary;
use crate::request::RequestUrl;
use crate::window::{DEFAULT_LIMIT, MAX_LIMIT, PageWindow, single_value};
use crate::{ApiRequest, ApiResponse, Version};

const SAVED: &str = "saved";
const AFTER: &str = "after";

const BATCH: u32 = 10;
/// A response gets no further alerts once those it has take this many bytes in the store.
const MAX_BYTES: usize = 4 << 20;

struct AlertsRequest {
    saved: Option<WatchId>,
    after: AlertId,
    window: PageWindow,
}

pub(super) const ENDPOINT: Endpoint = Endpoint {
    own: &[
        (SAVED, |of| {
            let doc = "The number of one saved search or list (`/saved`). Default: all.";
            of.query(doc).schema(Some(long(0))).example(Some(1.into()))
        }),
        (AFTER, |of| {
            let doc = "The last `id` that you have: only later alerts are returned. Default: all that are kept.";
            of.query(doc).schema(Some(long(0))).example(Some(0.into()))
        }),
        ("limit", |of| of.limit(&format!("Maximum number of results. {}", at_most(MAX_LIMIT)), DEFAULT_LIMIT)),
    ],
    add_schemas: |_, schemas| {
        schemas
            .insert("AlertReason".to_owned(), open_vocabulary("Why a record is in an alert.", &AlertReason::names()));
    },
    ..Endpoint::of_account(AlertRecord::DEFINITION, parse)
};

fn parse(url: &RequestUrl<'_>) -> ParsedOperation {
    url.unknown_names()?;
    let mut errors = Vec::new();
    let mut number = |name: &str| {
        let text = single_value(url.values, name, &mut errors)?;
        let number = parse_whole(text).and_then(|number| i64::try_from(number).ok());
        if number.is_none() {
            let detail = format!("`{}` is not a number such as 17", shortened(text));
            errors.push(ParameterError::invalid(name, detail));
        }
        number
    };
    let (saved, after) = (number(SAVED), number(AFTER));
    let window = PageWindow::parse(Version::V3, url.values, DEFAULT_LIMIT, MAX_LIMIT);
    match window.map_err(|invalid| errors.extend(invalid)) {
        Ok(window) if errors.is_empty() => {
            let (saved, after) = (saved.map(WatchId), AlertId(after.unwrap_or(0)));
            Ok(Box::new(AlertsRequest { saved, after, window }))
        }
        _ => Err(errors.into()),
    }
}

impl ApiOperation for AlertsRequest {
    fn searches(&self) -> bool {
        true
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        let (store, account) = (request.state.auth.store(), account(request)?);
        if let Some(saved) = self.saved {
            let watch = store.watch(saved);
            match watch.map(|watch| watch.account == account) {
                Ok(true) => {}
                Ok(false) | Err(StoreError::NoSuchWatch) => {
                    return Err(unknown(SAVED, saved));
                }
                Err(error) => return Err(failed(&error)),
            }
        }
        let records = records(store, account, self).map_err(|error| failed(&error))?;
        json_response::<AlertRecord>(request, &records, &self.window.warnings())
    }
}

fn records(store: &dyn Store, account: AccountId, alerts: &AlertsRequest) -> Result<Vec<AlertRecord>, StoreError> {
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
            let watch = match watches.entry(alert.watch) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(vacant) => vacant.insert(match store.watch(alert.watch) {
                    // It was deleted in the meantime.
                    Err(StoreError::NoSuchWatch) => None,
                    watch => Some(watch?),
                }),
            };
            if let Some(watch) = watch {
                records.push(AlertRecord::from_alert(watch, &alert)?);
            }
        }
    }
    Ok(records)
}
