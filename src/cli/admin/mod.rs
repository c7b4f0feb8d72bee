//! Commands of the operator: accounts and API keys. They also work while the server runs.

mod accounts;
mod keys;
mod print;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use crate::app::settings::{AccountCommand, KeyCommand};
use crate::auth::account::{Account, AccountRef};
use crate::auth::password::WeakPassword;
use crate::auth::{SqliteStore, Store, StoreError};
use crate::http::headers::rfc3339;

/// Runs a command on the accounts in the folder `data`, and prints its result or error; as JSON if `json`.
pub fn account(data: &Path, command: AccountCommand, json: bool) -> ExitCode {
    run(data, json, |store| accounts::run(store, command, json))
}

/// Runs a command on the API keys in the folder `data`, and prints its result or error; as JSON if `json`.
pub fn key(data: &Path, command: KeyCommand, json: bool) -> ExitCode {
    run(data, json, |store| keys::run(store, command, json))
}

fn run(data: &Path, json: bool, command: impl FnOnce(&dyn Store) -> Result<(), CommandError>) -> ExitCode {
    match SqliteStore::open(data).map_err(CommandError::from).and_then(|store| command(&store)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print::print_error(&error, json);
            ExitCode::FAILURE
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("standard output: {0}")]
    Output(io::Error),
    #[error("{0}")]
    Input(&'static str),
    #[error(
        "account {id} {email} is unverified: anybody could have signed up with this address (created {created}, {keys} active \
         keys); check its owner and run `venturedex account verify --email {id}`, or add --yes to set the tier regardless",
        id = .0.id.0, email = .0.email, created = rfc3339(.0.created_at), keys = .0.active_keys
    )]
    Unverified(Account),
    #[error(transparent)]
    Password(#[from] WeakPassword),
}

impl CommandError {
    /// The code in the `--json` output.
    fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Output(_) => "output_failed",
            Self::Input(_) => "input_unusable",
            Self::Unverified(_) => "account_unverified",
            Self::Password(error) => error.code(),
        }
    }
}

fn find(store: &dyn Store, account: &AccountRef) -> Result<Account, StoreError> {
    match account {
        AccountRef::Email(email) => store.account(email).map_err(|error| with_suggestion(error, store)),
        AccountRef::Id(id) => store.account_by_id(*id).map_err(|error| match error {
            StoreError::AccountGone => StoreError::NoSuchAccountId(*id),
            error => error,
        }),
    }
}

/// Adds the most similar address to "no such account".
fn with_suggestion(error: StoreError, store: &dyn Store) -> StoreError {
    let StoreError::NoSuchAccount { email, .. } = error else { return error };
    match store.accounts() {
        Ok(accounts) => {
            let known = accounts.iter().map(|account| &account.email);
            let suggestion = crate::auth::email::nearest(&email, known).cloned();
            StoreError::NoSuchAccount { email, suggestion }
        }
        Err(error) => error,
    }
}

/// Unix seconds.
fn now() -> i64 {
    time::OffsetDateTime::now_utc().unix_timestamp()
}
