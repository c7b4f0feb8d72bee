//! The server and its operator commands.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use venturedex::access::account::{self, Account, Email, KeyName, KeyRecord, KeyRef};
use venturedex::access::{AccessError, ApiKey, SqliteStore, Store, Tier};
use venturedex::config::{self, AccountCommand, Cli, Command, KeyCommand, ServeSettings};
use venturedex::dataset::Date;
use venturedex::server;

fn main() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(stop) if stop.code() == 0 => return exit(write!(io::stdout(), "{stop}").map_err(Failure::Output), false),
        Err(stop) => {
            let _ = write!(io::stderr(), "{stop}");
            return ExitCode::from(stop.code());
        }
    };
    let (done, json) = match cli.command {
        Command::Serve(settings) => (serve(settings), false),
        Command::Account { command, json } => (account(&cli.data, command, json), json),
        Command::Key { command, json } => (key(&cli.data, command, json), json),
    };
    exit(done, json)
}

fn exit(done: Result<(), Failure>, json: bool) -> ExitCode {
    let Err(failure) = done else { return ExitCode::SUCCESS };
    // Where nobody reads the errors either, the exit code still tells.
    let _ = if json {
        let error = ErrorBody { code: failure.code(), detail: failure.to_string() };
        serde_json::to_string(&ErrorReport { error }).map(|text| writeln!(io::stderr(), "{text}")).is_ok()
    } else {
        writeln!(io::stderr(), "error: {failure}").is_ok()
    };
    ExitCode::FAILURE
}

fn serve(settings: ServeSettings) -> Result<(), Failure> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for (name, nearest) in config::unknown_variables(names) {
        let hint = nearest.map(|nearest| format!(": did you mean {nearest}?")).unwrap_or_default();
        let _ = writeln!(io::stderr(), "warning: the environment sets {name}, which is no setting{hint}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::Runtime)?;
    runtime.block_on(server::serve(settings)).map_err(|error| Failure::Serve(Box::new(error)))
}

fn account(data: &Path, command: AccountCommand, json: bool) -> Result<(), Failure> {
    let store = SqliteStore::open(data)?;
    match command {
        AccountCommand::Create { email, tier } => {
            let account = store.create_account(&email, tier, None, now())?;
            if json { print_json(&AccountRow::of(&account)) } else { note_account("made", &account) }
        }
        AccountCommand::SetTier { email, tier } => {
            let account = store.set_tier(&email, tier).map_err(|error| with_nearest(error, &store))?;
            if json { print_json(&AccountRow::of(&account)) } else { note_account("set", &account) }
        }
        AccountCommand::List => {
            let accounts = store.accounts()?;
            if json {
                return print_json(&Accounts { accounts: accounts.iter().map(AccountRow::of).collect() });
            }
            let rows = accounts.iter().map(|account| {
                let Account { id, email, tier, created_at, active_keys } = account;
                [id.0.to_string(), email.to_string(), tier.to_string(), active_keys.to_string(), instant(*created_at)]
            });
            print_table(["ID", "E-MAIL", "TIER", "ACTIVE KEYS", "CREATED"], rows.collect())
        }
    }
}

fn key(data: &Path, command: KeyCommand, json: bool) -> Result<(), Failure> {
    let store = SqliteStore::open(data)?;
    match command {
        KeyCommand::Create { email, name } => create_key(&store, &email, &name, json),
        KeyCommand::Revoke { key } => revoke_key(&store, key, json),
        KeyCommand::List { email } => {
            let account = match email {
                Some(email) => Some(store.account(&email).map_err(|error| with_nearest(error, &store))?.id),
                None => None,
            };
            let keys = store.keys(account, Date::from_unix(now()))?;
            if json {
                return print_json(&Keys { keys: keys.iter().map(KeyRow::of).collect() });
            }
            let time = |seconds: Option<i64>| seconds.map_or("-".to_owned(), instant);
            let rows = keys.iter().map(|key| {
                [
                    key.id.0.to_string(),
                    key.shown.to_string(),
                    key.email.to_string(),
                    key.name.clone(),
                    key.used_today.to_string(),
                    instant(key.created_at),
                    time(key.last_used_at),
                    time(key.revoked_at),
                ]
            });
            print_table(["ID", "KEY", "E-MAIL", "NAME", "TODAY", "CREATED", "LAST USED", "REVOKED"], rows.collect())
        }
    }
}

fn create_key(store: &dyn Store, email: &Email, name: &KeyName, json: bool) -> Result<(), Failure> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| AccessError::NoRandomness(io::Error::other(error.to_string())))?;
    let key = ApiKey::from_seed(&seed);
    let account = store.account(email).map_err(|error| with_nearest(error, store))?;
    let record = store.create_key(account.id, name, &key, now())?;
    let printed = if json {
        print_json(&NewKey { key: key.reveal(), record: KeyRow::of(&record) })
    } else {
        let (id, tier) = (record.id.0, record.tier);
        note(&format!("made key {id} `{}` of {email} ({tier}): keep it, it is shown this once", record.name));
        print(key.reveal())
    };
    if printed.is_err() {
        // Nobody has seen the key, so that nobody can use it.
        store.revoke_key(KeyRef::Id(record.id), now())?;
        note(&format!("key {} could not be printed and is revoked again", record.id.0));
    }
    printed
}

fn revoke_key(store: &dyn Store, key: KeyRef, json: bool) -> Result<(), Failure> {
    let now = now();
    let record = store.revoke_key(key, now)?;
    if json {
        return print_json(&KeyRow::of(&record));
    }
    let KeyRecord { id, shown, email, name, revoked_at, .. } = &record;
    let when = match revoked_at {
        Some(before) if *before < now => format!("was revoked at {} already", instant(*before)),
        _ => "is revoked".to_owned(),
    };
    note(&format!("key {} {shown} `{name}` of {email} {when}", id.0));
    Ok(())
}

/// Adds the nearest address to "no such account".
fn with_nearest(error: AccessError, store: &dyn Store) -> AccessError {
    match error {
        AccessError::NoSuchAccount { email, .. } => {
            let accounts = store.accounts().unwrap_or_default();
            let nearest = account::nearest(&email, accounts.iter().map(|account| &account.email)).cloned();
            AccessError::NoSuchAccount { email, nearest }
        }
        error => error,
    }
}

fn note_account(done: &str, account: &Account) -> Result<(), Failure> {
    let allowance = |limit: Option<u32>| limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
    let Account { id, email, tier, active_keys, .. } = account;
    note(&format!(
        "{done} account {} {email}: {tier}, {} requests a day and key, {active_keys} of {} keys",
        id.0,
        allowance(tier.daily_limit()),
        allowance(tier.keys())
    ));
    Ok(())
}

/// Tells a person, beside what is printed for the next program.
fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(Failure::Output)
}

fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(&serde_json::to_string(value).map_err(|error| Failure::Output(error.into()))?)
}

fn print_table<const N: usize>(head: [&str; N], rows: Vec<[String; N]>) -> Result<(), Failure> {
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(rows);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |line: &[String; N]| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    print(&lines.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Unix seconds now.
fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
}

/// RFC 3339.
fn instant(seconds: i64) -> String {
    let time = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    time.format(&Rfc3339).unwrap_or_default()
}

#[derive(Serialize)]
struct Accounts<'a> {
    accounts: Vec<AccountRow<'a>>,
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
            created_at: instant(account.created_at),
        }
    }
}

#[derive(Serialize)]
struct Keys<'a> {
    keys: Vec<KeyRow<'a>>,
}

#[derive(Serialize)]
struct NewKey<'a> {
    key: &'a str,
    #[serde(flatten)]
    record: KeyRow<'a>,
}

#[derive(Serialize)]
struct KeyRow<'a> {
    id: i64,
    shown: String,
    name: &'a str,
    email: &'a str,
    tier: &'static str,
    daily_limit: Option<u32>,
    used_today: u32,
    created_at: String,
    last_used_at: Option<String>,
    revoked_at: Option<String>,
}

impl<'a> KeyRow<'a> {
    fn of(key: &'a KeyRecord) -> Self {
        let tier: Tier = key.tier;
        Self {
            id: key.id.0,
            shown: key.shown.to_string(),
            name: &key.name,
            email: key.email.as_str(),
            tier: tier.name(),
            daily_limit: tier.daily_limit(),
            used_today: key.used_today,
            created_at: instant(key.created_at),
            last_used_at: key.last_used_at.map(instant),
            revoked_at: key.revoked_at.map(instant),
        }
    }
}

#[derive(Serialize)]
struct ErrorReport {
    error: ErrorBody,
}

#[derive(Serialize)]
struct ErrorBody {
    code: &'static str,
    detail: String,
}

/// Why a command failed.
enum Failure {
    Access(AccessError),
    Serve(Box<dyn std::error::Error>),
    Runtime(io::Error),
    Output(io::Error),
}

impl From<AccessError> for Failure {
    fn from(error: AccessError) -> Self {
        Self::Access(error)
    }
}

impl Failure {
    fn code(&self) -> &'static str {
        match self {
            Self::Access(error) => error.code(),
            Self::Serve(_) | Self::Runtime(_) => "serve_failed",
            Self::Output(_) => "output_failed",
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Access(error) => write!(f, "{error}"),
            Self::Serve(error) => write!(f, "{error}"),
            Self::Runtime(error) => write!(f, "the runtime could not be started: {error}"),
            Self::Output(error) => write!(f, "standard output: {error}"),
        }
    }
}
