//! Operator commands for accounts and API keys. They also work while the server runs.

mod accounts;
mod audit;
mod backup;
mod keys;
mod print;
mod store;

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use zeroize::Zeroizing;

use crate::app::settings::{
    AccountCommand, AuditFilter, BackupOptions, CommandOptions, KeyCommand, RestoreOptions, StoreCommand, StoreSettings,
};
use crate::cli::reviews;
use auth::account::{Account, AccountRef, KeyRecord, ParseKeyRefError};
use auth::audit::{AuditEntry, AuditEvent, AuditLog};
use auth::password::WeakPassword;
use auth::{Store, StoreError, coded, has_database};
use data::import::csv_table::TableRow as _;
use data::import::rows::DatasetReview;
use data::rfc3339;
use platform::clock::now;
use release::ReleaseError;

/// Maximum input size in bytes; longer than any password or key.
const MAX_INPUT: u64 = 4_096;

pub fn account(data: &Path, store: &StoreSettings, command: AccountCommand, options: &CommandOptions) -> ExitCode {
    run(data, store, options, |context| accounts::run(context, command))
}

pub fn key(data: &Path, store: &StoreSettings, command: KeyCommand, options: &CommandOptions) -> ExitCode {
    run(data, store, options, |context| keys::run(context, command))
}

/// Writes the approved reviews of accounts as `reviews.csv` into the folder `to`.
pub fn reviews(data: &Path, store: &StoreSettings, to: &Path, options: &CommandOptions) -> ExitCode {
    run(data, store, options, |context| {
        let file = to.join(DatasetReview::FILE);
        let failed = |error| AdminError::NoReviews { path: file.clone(), error };
        if file.exists() {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        let public = context.store.public_reviews()?.reviews;
        let withdrawn = reviews::write(to, &public).map_err(failed)?;
        let (count, place) = (public.len() - withdrawn.len(), file.display().to_string());
        if context.json {
            return print::print_json(&serde_json::json!({ "file": place, "reviews": count }));
        }
        print::print(&format!("{place}: {count} reviews"))
    })
}

struct CommandContext<'a> {
    store: &'a dyn Store,
    json: bool,
    audit_log: Option<AuditLog>,
}

impl CommandContext<'_> {
    fn audit(&self, entry: AuditEntry) {
        if let Some(log) = &self.audit_log {
            log.write(AuditEntry { by_operator: true, ..entry }, None);
        }
    }

    fn audit_key(&self, event: AuditEvent, key: &KeyRecord) {
        self.audit(AuditEntry { key: Some(key.id), ..AuditEntry::new(event, Some(key.account)) });
    }
}

pub fn audit(filter: &AuditFilter) -> ExitCode {
    exit_code(audit::run(filter), false)
}

/// Copies the contents of the folder `data` to a backup, even while a server uses it.
pub fn backup(data: &Path, store: &StoreSettings, options: &BackupOptions) -> ExitCode {
    let refused = store::refuse_postgres(store, AdminError::BackupOfPostgres);
    exit_code(refused.and_then(|()| backup::backup(data, options)), options.json)
}

/// Copies a backup to the folder `data`, which no server may use.
pub fn restore(data: &Path, store: &StoreSettings, options: &RestoreOptions) -> ExitCode {
    let refused = store::refuse_postgres(store, AdminError::RestoreToPostgres);
    exit_code(refused.and_then(|()| backup::restore(data, options)), options.json)
}

pub fn store(store: &StoreSettings, command: &StoreCommand) -> ExitCode {
    let StoreCommand::Copy { from, json } = command;
    exit_code(store::copy(from, store, *json), *json)
}

fn run(
    data: &Path,
    store: &StoreSettings,
    options: &CommandOptions,
    command: impl FnOnce(&CommandContext<'_>) -> Result<(), AdminError>,
) -> ExitCode {
    let json = options.json;
    let run = || {
        let open = |path: &PathBuf| {
            AuditLog::open(path, now).map_err(|error| AdminError::NoAuditLog { path: path.clone(), error })
        };
        let audit_log = options.audit_log.as_ref().map(open).transpose()?;
        if store.postgres()?.is_none() && !has_database(data) {
            return Err(AdminError::NoStore(std::path::absolute(data).unwrap_or_else(|_| data.to_owned())));
        }
        let store = store.open(data)?;
        store.end_expired_keys(now())?;
        command(&CommandContext { store: &*store, json, audit_log })
    };
    exit_code(run(), json)
}

fn exit_code(result: Result<(), AdminError>, json: bool) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    let code = match &error {
        AdminError::Store(error) => error.code(),
        AdminError::Password(error) => error.code(),
        error => error.own_code(),
    };
    // If standard error is closed, the exit code still reports the failure.
    print::note(&match json {
        true => serde_json::json!({ "error": { "code": code, "detail": error.to_string() } }).to_string(),
        false => format!("error: {error}"),
    });
    ExitCode::FAILURE
}

coded! {
    /// The code in the `--json` output, unless that of the error within replaces it.
    fn own_code;

    #[derive(Debug, thiserror::Error)]
    enum AdminError {
        #[error(transparent)]
        Store(#[from] StoreError) => "store_failed",
        #[error(
            "{}: no server has kept accounts here; name the folder of `venturedex serve --data`, or start the server once, which \
             creates the store",
            .0.display()
        )]
        NoStore(PathBuf) => "no_store",
        #[error("standard output: {0}")]
        Output(io::Error) => "output_failed",
        #[error("standard input {problem}; pipe the {what} in, on a single line")]
        Input { problem: &'static str, what: &'static str } => "input_unusable",
        #[error(transparent)]
        Key(#[from] ParseKeyRefError) => "input_unusable",
        #[error(
            "account {id} {email} is unverified: anybody could have signed up with this address (created {created}, {keys} active \
             keys); check its owner and run `venturedex account verify --email {id}`, or add --yes to set the tier regardless",
            id = .0.id.0, email = .0.email, created = rfc3339(.0.created_at), keys = .0.active_keys
        )]
        Unverified(Account) => "account_unverified",
        #[error(
            "account {id} {email} is unverified: anybody could have signed up with this address; check its owner and run \
             `venturedex account verify --email {id}`, then make it an operator",
            id = .0.id.0, email = .0.email
        )]
        UnverifiedOperator(Account) => "account_unverified",
        #[error("{}: {error}; name the file of `serve --audit-log`", path.display())]
        AuditLog { path: PathBuf, error: io::Error } => "audit_log_unusable",
        #[error("--audit-log {}: {error}; nothing was changed; name a file that you may write to", path.display())]
        NoAuditLog { path: PathBuf, error: io::Error } => "audit_log_unusable",
        #[error(transparent)]
        Password(#[from] WeakPassword) => "password_unusable",
        #[error("{}: it is there already, and backups are never replaced; name a new folder, such as {}-2", .0.display(), .0.display())]
        BackupExists(PathBuf) => "backup_exists",
        #[error("{}: another backup to this folder is running, or was killed; if none is running, remove the folder", .0.display())]
        BackupRunning(PathBuf) => "backup_running",
        #[error("--index {}: no release is current; build one with `indexer build`, or leave out --with-index", .0.display())]
        NothingCurrent(PathBuf) => "no_release",
        #[error("{}: {error}; name a folder that `venturedex backup` has written", path.display())]
        NotABackup { path: PathBuf, error: io::Error } => "not_a_backup",
        #[error("{}: the backup is damaged: {reason}; nothing was changed; use another backup", path.display())]
        BackupDamaged { path: PathBuf, reason: String } => "backup_damaged",
        #[error(
            "{}: the backup has no release; leave out --with-index, and publish one with `indexer build`", .0.display()
        )]
        NoReleaseInBackup(PathBuf) => "no_release",
        #[error(
            "--data {}: there is a database; name an empty folder, or add --force to move the database into a folder next to \
             it and restore the backup in its place",
            .0.display()
        )]
        DataExists(PathBuf) => "data_exists",
        #[error(
            "accounts, keys and usage are in PostgreSQL, and nothing was backed up: use its own tools, such as `pg_dump \
             --format=custom --file=venturedex.dump {0}`; releases are rebuilt by the indexer or kept in their object store"
        )]
        BackupOfPostgres(String) => "store_is_postgres",
        #[error(
            "accounts, keys and usage are in PostgreSQL, and nothing was restored: stop all servers and use its own tools, such as \
             `pg_restore --clean --if-exists --dbname={0} venturedex.dump`"
        )]
        RestoreToPostgres(String) => "store_is_postgres",
        #[error(
            "name the database to copy to with --store, such as --store postgres://venturedex@db.example.com/venturedex"
        )]
        NoTarget => "no_target",
        #[error("{}: {error}; name a folder that you may write to, without reviews.csv", path.display())]
        NoReviews { path: PathBuf, error: io::Error } => "reviews_not_written",
        #[error(transparent)]
        Release(#[from] ReleaseError) => "release_unusable",
    }
}

/// Finds an account; the error for an unknown address names the most similar one.
fn find_account(store: &dyn Store, account: &AccountRef) -> Result<Account, StoreError> {
    match account {
        AccountRef::Email(email) => store.account(email).or_else(|error| match error {
            StoreError::NoSuchAccount { email, .. } => {
                let accounts = store.accounts()?;
                let known = accounts.iter().map(|account| &account.email);
                Err(StoreError::NoSuchAccount { suggestion: auth::email::nearest(&email, known).cloned(), email })
            }
            error => Err(error),
        }),
        AccountRef::Id(id) => store.account_by_id(*id).map_err(|error| match error {
            StoreError::AccountGone => StoreError::NoSuchAccountId(*id),
            error => error,
        }),
    }
}

/// The first and only line of standard input, without its line end; `what` names it in errors.
fn line_from_stdin(what: &'static str) -> Result<Zeroizing<String>, AdminError> {
    let input = io::stdin();
    let unusable = |problem| AdminError::Input { problem, what };
    if input.is_terminal() {
        return Err(unusable("is a terminal"));
    }
    // Allocated at the maximum size: a growing string would leave copies of the secret behind.
    let mut text = Zeroizing::new(String::with_capacity(MAX_INPUT as usize));
    let read = input.take(MAX_INPUT).read_to_string(&mut text);
    read.map_err(|_| unusable("is not valid UTF-8"))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.contains('\n') { Err(unusable("has several lines")) } else { Ok(Zeroizing::new(line.to_owned())) }
}
