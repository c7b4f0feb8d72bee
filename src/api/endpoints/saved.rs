//! `GET /saved`: the saved searches and lists of the key's account, the newest first.
//!
//! They are read from the store and belong to one account, so they are never cached.

use auth::StoreError;
use auth::account::AccountId;
use auth::watch::WATCHED;
use catalog::Resource;
use data::field::{Definition, Model};
use data::vocabulary::Vocabulary;
use service::alerts::{WatchKind, WatchRecord};
use transport::problem::{Code, Problem};

use crate::endpoint::{ApiEndpoint, ApiOperation, ParsedOperation};
use crate::envelope::json_response;
use crate::openapi::schema::Schemas;
use crate::openapi::vocabulary::vocabulary;
use crate::request::RequestUrl;
use crate::{ApiRequest, ApiResponse};

pub(super) struct SavedEndpoint;

impl ApiEndpoint for SavedEndpoint {
    fn parse(&self, url: &RequestUrl<'_>) -> ParsedOperation {
        url.unknown_names()?;
        Ok(Box::new(Self))
    }

    fn item(&self) -> &'static Definition {
        WatchRecord::DEFINITION
    }

    fn is_list(&self) -> bool {
        true
    }

    fn is_of_account(&self) -> bool {
        true
    }

    fn add_schemas(&self, schemas: &mut Schemas) {
        schemas.insert("WatchKind".to_owned(), vocabulary("What an account keeps.", &WatchKind::names()));
        let tables = WATCHED.map(|table| Resource::of_table(table).path());
        let doc = "A table whose records can be saved: the last segment of the path of its list.";
        schemas.insert("WatchedTable".to_owned(), vocabulary(doc, &tables));
    }
}

impl ApiOperation for SavedEndpoint {
    fn searches(&self) -> bool {
        true
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        let account = account(request)?;
        let watches = request.state.auth.store().watch_store().watches(account).map_err(|error| failed(&error))?;
        let records: Vec<WatchRecord> = watches.iter().map(WatchRecord::from_watch).collect();
        json_response::<WatchRecord>(request, &records, &[])
    }
}

/// The account of the key.
pub(super) fn account(request: &ApiRequest<'_>) -> Result<AccountId, Problem> {
    request.account.ok_or_else(|| {
        let detail = "this key belongs to no account, so that nothing is saved with it; sign up, create a key on the account \
                      page, and send that one";
        Problem::new(Code::AccountRequired, detail)
    })
}

pub(super) fn failed(error: &StoreError) -> Problem {
    match error.is_failure() {
        true => Problem::new(Code::Overloaded, format!("{}; retry in a minute", error.summary())),
        false => Problem::new(Code::InternalError, "an internal error occurred; retry later"),
    }
}
