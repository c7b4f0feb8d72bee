//! `GET /saved`: the saved searches and lists of the key's account, the newest first.
//!
//! They are read from the store and belong to one account, so they are never cached.

use auth::StoreError;
use auth::account::AccountId;
use auth::watch::WATCHED;
use catalog::Resource;
use data::field::Model;
use data::vocabulary::Vocabulary;
use service::alerts::{WatchKind, WatchRecord};
use transport::problem::{Code, Problem};

use crate::endpoint::{Endpoint, parse_service};
use crate::envelope::json_response;
use crate::openapi::schema::Schemas;
use crate::openapi::vocabulary::open_vocabulary;
use crate::{ApiRequest, ApiResponse};

pub(super) const ENDPOINT: Endpoint =
    Endpoint { add_schemas, ..Endpoint::of_account(WatchRecord::DEFINITION, |url| parse_service(url, respond)) };

fn respond(request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    let account = account(request)?;
    let watches = request.state.auth.store().watches(account).map_err(|error| failed(&error))?;
    let records: Vec<WatchRecord> = watches.iter().map(WatchRecord::from_watch).collect();
    json_response::<WatchRecord>(request, &records, &[])
}

fn add_schemas(_endpoint: &Endpoint, schemas: &mut Schemas) {
    schemas.insert("WatchKind".to_owned(), open_vocabulary("What an account keeps.", &WatchKind::names()));
    let tables = WATCHED.map(|table| Resource::of_table(table).path());
    let doc = "A table whose records can be saved: the last segment of the path of its list.";
    schemas.insert("WatchedTable".to_owned(), open_vocabulary(doc, &tables));
}

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
