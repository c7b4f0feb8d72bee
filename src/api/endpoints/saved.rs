//! `GET /saved`: the saved searches and lists of the key's account, the newest first. POST saves a search, DELETE deletes one.
//!
//! They are read from the store and belong to one account, so they are never cached.

use serde_json::{Map, Value, json};
use utoipa::openapi::Required;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use auth::account::{AccountId, KeyName};
use auth::watch::{WATCHED, WatchId};
use auth::{AccountError, Caller, StoreError};
use catalog::param_error::shortened;
use catalog::parse::scalars::parse_whole;
use catalog::{ParameterError, Resource};
use data::field::Model;
use data::vocabulary::Vocabulary;
use service::alerts::save::{NOT_A_LIST, NOT_A_NAME, SavableSearch, list_of_address};
use service::alerts::{WatchKind, WatchRecord};
use transport::problem::{Code, Problem};

use crate::endpoint::{Endpoint, parse_service};
use crate::envelope::json_response;
use crate::openapi::Examples;
use crate::openapi::parameter::{long, query};
use crate::openapi::schema::Schemas;
use crate::openapi::vocabulary::open_vocabulary;
use crate::options::is_presentation;
use crate::routes::Route;
use crate::submission::{closed_object, json_body, refused, text_of, writing};
use crate::window::single_value;
use crate::{ApiRequest, ApiResponse, Pipeline, Version};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    post: Some(post),
    delete: Some(delete),
    add_schemas,
    ..Endpoint::of_account(WatchRecord::DEFINITION, |url| parse_service(url, respond))
};

pub(crate) const PATH: &str = "saved";

const NAME: &str = "name";
const ADDRESS: &str = "address";
const ID: &str = "id";
/// The names in a body.
pub(crate) const NAMES: [&str; 2] = [NAME, ADDRESS];

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

pub(crate) fn account(request: &ApiRequest<'_>) -> Result<AccountId, Problem> {
    request.account.ok_or_else(|| {
        let detail = "this key belongs to no account, so that nothing is saved with it; sign up, create a key on the account \
                      page, and send that one";
        Problem::new(Code::AccountRequired, detail)
    })
}

impl Pipeline<'_> {
    /// Saves the search that a body describes, with notes on values that were read as others.
    pub(crate) async fn save_search(
        &self,
        caller: &Caller,
        account: AccountId,
        body: &Map<String, Value>,
    ) -> Result<(WatchRecord, Vec<ParameterError>), Problem> {
        let mut errors = Vec::new();
        let name = text_of(body.get(NAME)).parse::<KeyName>();
        let name = name.map_err(|_| errors.push(ParameterError::invalid(NAME, NOT_A_NAME))).ok();
        let address = text_of(body.get(ADDRESS));
        let catalog = self.state.releases.current();
        let search = match list_of_address(&address) {
            Some((table, query)) => {
                let parse = || SavableSearch::parse(&catalog, table, query, is_presentation);
                let parsed = self.state.work.run(caller.of_work(), self.request.trace.work(), parse).await;
                let waits = "too many searches are waiting; retry in a second";
                parsed.map_err(|_| Problem::new(Code::Overloaded, waits))?.map_err(|faults| errors.extend(faults)).ok()
            }
            None => {
                errors.push(ParameterError::invalid(ADDRESS, NOT_A_LIST));
                None
            }
        };
        let (Some(name), Some(search)) = (name, search) else { return Err(Problem::of_parameters(errors)) };
        let saved = search.save(&self.state.auth, account, name, catalog.version(), self.now).await.map_err(refused)?;
        Ok((WatchRecord::from_watch(&saved), search.notes))
    }

    /// Deletes the search or list that the URL names, and returns it.
    pub(crate) async fn delete_saved(&self, account: AccountId) -> Result<WatchRecord, Problem> {
        let values: Vec<(String, String)> =
            form_urlencoded::parse(self.request.query.as_bytes()).into_owned().collect();
        let mut errors = Vec::new();
        for (name, _) in values.iter().filter(|(name, _)| name != ID) {
            let error = ParameterError::unknown_value(name, "unknown parameter".to_owned(), None, Some(vec![ID]));
            errors.push(ParameterError { code: Code::UnknownParameter.name(), ..error });
        }
        let id = single_value(&values, ID, &mut errors).unwrap_or_default();
        let number = parse_whole(id).and_then(|number| i64::try_from(number).ok()).map(WatchId);
        if number.is_none() {
            let detail =
                format!("`{}` is not the number of a saved search or list; `/api/v3/saved` lists them", shortened(id));
            errors.push(ParameterError::invalid(ID, detail));
        }
        let Some(id) = number.filter(|_| errors.is_empty()) else { return Err(Problem::of_parameters(errors)) };
        let deleted = self.state.auth.blocking(move |service| {
            let watch = service.store().watch(id)?;
            let is_own = watch.account == account && service.store().delete_watch(account, id)?;
            if is_own { Ok(watch) } else { Err(StoreError::NoSuchWatch) }
        });
        match deleted.await {
            Ok(watch) => Ok(WatchRecord::from_watch(&watch)),
            Err(AccountError::Watch(StoreError::NoSuchWatch)) => Err(unknown(ID, id)),
            Err(error) => Err(refused(error)),
        }
    }
}

/// The error for a number that is no search or list of the account.
pub(super) fn unknown(parameter: &str, id: WatchId) -> Problem {
    let detail = format!("you have no saved search or list `{}`; `/api/v3/saved` lists them", id.0);
    Problem::of_parameters(vec![ParameterError::invalid(parameter, detail)])
}

pub(crate) fn example() -> Value {
    json!({ NAME: "Seed firms in Germany", ADDRESS: "/vcs?stage=seed&country=DE" })
}

fn post(_route: &Route, get: &Operation, _examples: &Examples, base: &str) -> Operation {
    let text = |doc: &str| ObjectBuilder::new().schema_type(Type::String).description(Some(doc)).pattern(Some(r"\S"));
    let body = closed_object()
        .property(NAME, text("A name for it, of at most 100 characters on one line.").max_length(Some(100)))
        .required(NAME)
        .property(
            ADDRESS,
            text("The address of a list: that of its page, or of its path in the API. Its filters are saved."),
        )
        .required(ADDRESS);
    let doc = format!(
        "Saves the filters of a list for the key's account. Releases that come bring [alerts]({base}/docs/alerts). The rules and \
         numbers are those of the account page."
    );
    let operation = writing::<WatchRecord>(get, "save_search", "Save a search", &doc);
    operation.request_body(Some(json_body(body, example()))).build()
}

fn delete(_route: &Route, get: &Operation, _examples: &Examples, _base: &str) -> Operation {
    let id =
        query(Version::V3, ID, "The number of the saved search or list.").schema(Some(long(0))).example(Some(1.into()));
    let doc = "Deletes a saved search or list of the key's account with its alerts and feeds, and returns what it was.";
    let operation = writing::<WatchRecord>(get, "delete_saved", "Delete a saved search or list", doc);
    operation.parameter(id.required(Required::True).build()).build()
}

pub(super) fn failed(error: &StoreError) -> Problem {
    match error.is_failure() {
        true => Problem::new(Code::Overloaded, format!("{}; retry in a minute", error.summary())),
        false => Problem::new(Code::InternalError, "an internal error occurred; retry later"),
    }
}
