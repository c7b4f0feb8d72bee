use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Read};

use serde::Serialize;

use super::print::{note, print_json, print_table};
use super::{CommandError, now, with_suggestion};
use crate::app::settings::AccountCommand;
use crate::auth::Store;
use crate::auth::account::{Account, Email};
use crate::auth::password::Password;
use crate::auth::password::hash::PasswordHash;
use crate::http::headers::rfc3339;

const MAX_PASSWORD_INPUT: u64 = 4_096;

pub(super) fn run(store: &dyn Store, command: AccountCommand, json: bool) -> Result<(), CommandError> {
    let find = |email: &Email| store.account(email).map_err(|error| with_suggestion(error, store));
    let (account, message) = match command {
        AccountCommand::Create { email, tier, password_stdin } => {
            let password = if password_stdin { Some(hash_from_stdin(&email)?) } else { None };
            let account = store.create_account(&email, tier, password.as_ref(), now())?;
            let mut message = describe("created", &account);
            if password.is_none() {
                message += "\nits owner can sign in after a password is set: venturedex account set-password --help";
            }
            (account, message)
        }
        AccountCommand::SetPassword { email, .. } => {
            let account = find(&email)?;
            store.set_password(account.id, None, &hash_from_stdin(&email)?, None)?;
            let message = format!("set the password of account {} {email}; all its sessions were ended", account.id.0);
            (account, message)
        }
        AccountCommand::Delete { email } => {
            let account = find(&email)?;
            store.delete_account(account.id, None, now())?;
            let Account { id, active_keys, .. } = account;
            let message = format!("deleted account {} {email}; {active_keys} active keys were revoked", id.0);
            (Account { active_keys: 0, ..account }, message)
        }
        AccountCommand::SetTier { email, tier } => {
            let account = store.set_tier(&email, tier).map_err(|error| with_suggestion(error, store))?;
            let message = describe("changed", &account);
            (account, message)
        }
        AccountCommand::List => return list(store, json),
    };
    if json {
        return print_json(&AccountRow::of(&account));
    }
    note(&message);
    Ok(())
}

fn list(store: &dyn Store, json: bool) -> Result<(), CommandError> {
    let accounts = store.accounts()?;
    if json {
        let rows: Vec<AccountRow<'_>> = accounts.iter().map(AccountRow::of).collect();
        return print_json(&BTreeMap::from([("accounts", rows)]));
    }
    let rows = accounts.iter().map(|account| {
        let Account { id, email, tier, created_at, active_keys } = account;
        [id.0.to_string(), email.to_string(), tier.to_string(), active_keys.to_string(), rfc3339(*created_at)]
    });
    print_table(["ID", "E-MAIL", "TIER", "ACTIVE KEYS", "CREATED"], rows.collect())
}

/// The hash of the password on the first and only line of standard input.
fn hash_from_stdin(email: &Email) -> Result<PasswordHash, CommandError> {
    let input = io::stdin();
    if input.is_terminal() {
        return Err(CommandError::Input("standard input is a terminal; pipe the password in"));
    }
    let mut text = String::new();
    let read = input.take(MAX_PASSWORD_INPUT).read_to_string(&mut text);
    read.map_err(|_| CommandError::Input("standard input is not valid UTF-8"))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.contains('\n') {
        return Err(CommandError::Input("standard input has several lines; pass the password on a single line"));
    }
    Ok(Password::new(line, email)?.hash()?)
}

fn describe(verb: &str, account: &Account) -> String {
    let or_unlimited = |limit: Option<u32>| limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
    let Account { id, email, tier, active_keys, .. } = account;
    let (requests, keys) = (or_unlimited(tier.daily_limit()), or_unlimited(tier.keys()));
    format!(
        "{verb} account {} {email}: {tier}, {requests} requests per day and key, {active_keys} of {keys} keys",
        id.0
    )
}

#[derive(Serialize)]
struct AccountRow<'a> {
    id: i64,
    email: &'a str,
    tier: &'static str,
    active_keys: u32,
    created_at: String,
}

impl<'a> AccountRow<'a> {
    fn of(account: &'a Account) -> Self {
        Self {
            id: account.id.0,
            email: account.email.as_str(),
            tier: account.tier.name(),
            active_keys: account.active_keys,
            created_at: rfc3339(account.created_at),
        }
    }
}
