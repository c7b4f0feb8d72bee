//! The command line and the settings: a single definition for parsing, `--help` and the environment variables.
//!
//! Each setting is a flag and an environment variable. Errors of [`Cli::read`] name it, the value and what is accepted.

mod query;
mod store;
#[cfg(test)]
mod tests;
mod tiers;

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, Resettable, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use http::Uri;
use thiserror::Error;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tracing::level_filters::LevelFilter;

use crate::cli::package_files::Program;
use crate::cli::version::DETAILED_VERSION;
use crate::cli::{indexer, wrong_turn};

use auth::account::{
    AccountRef, DEFAULT_OVERLAP_HOURS, Email, KEY_DAYS, KeyName, KeyRef, OVERLAP_HOURS, ParseKeyRefError,
};
use auth::audit::AuditEvent;
use auth::mail::SmtpUrl;
use auth::quota::{ClientPool, IpRange, ParseIpRangeError, Tier};
use auth::{KEY_PREFIX, RateLimitConfig};
use data::vocabulary::Vocabulary;
use data::{Date, rfc3339};
use platform::memory::MemoryBudget;
use release::remote::{RemoteStore, Replica, is_object_store};
use release::{KeyError, ReleaseError, ReleaseStore, TrustedKey};
use service::brand::brand_name;
use service::operator::review_url;
use service::security_txt;
use service::{Access, BrandColor, BulkAccess, ReviewAccess, SignUp, VersionEnd};
use transport::origin::Origin;
use transport::server::Limits;
use transport::telemetry::LogFormat;

pub(crate) use query::API_KEY;
pub use query::{OutputFormat, QueryOptions};
pub use store::{StoreCommand, StoreSettings};

/// A venture data service: REST v1, v2, v3 and MCP over a compiled snapshot of firms, startups, rounds and people.
///
/// Without a command, `serve` runs.
#[derive(Debug, Parser)]
#[command(name = "venturedex", version, long_version = DETAILED_VERSION.as_str(), subcommand_required = true)]
pub struct Cli {
    /// Folder of accounts, keys and usage, unless --store has them, and of files of this server; created if missing.
    #[arg(long, env = "VENTUREDEX_DATA", value_name = "DIR", default_value = "data", global = true)]
    pub data: PathBuf,
    #[command(flatten)]
    pub store: StoreSettings,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start the server (the default command).
    Serve(Box<ServeSettings>),
    /// Serve the bundled, invented data alone: no folder is read, and accounts and keys are in a temporary folder that is removed
    /// at the end.
    Demo {
        /// Address to listen on; with port 0 the system chooses a free port.
        #[arg(long, env = "VENTUREDEX_LISTEN", value_name = "ADDRESS", default_value = "127.0.0.1:8080",
              value_parser = listen)]
        listen: SocketAddr,
    },
    /// Create, invite, list, verify and delete accounts, set their tiers and passwords, make operators, reset
    /// two-step sign-in. Works while the server runs.
    Account {
        #[command(flatten)]
        options: CommandOptions,
        #[command(subcommand)]
        command: AccountCommand,
    },
    /// Create, list, rotate and revoke API keys. Works while the server runs.
    Key {
        #[command(flatten)]
        options: CommandOptions,
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// Write the approved reviews of accounts as reviews.csv, with all that a dataset takes. Works while the server runs.
    Reviews {
        #[command(flatten)]
        options: CommandOptions,
        /// The folder to write to, which must exist and have no reviews.csv.
        #[arg(value_name = "DIR")]
        to: PathBuf,
    },
    /// Print the lines of an audit log, all or those that match.
    Audit(AuditFilter),
    /// Check settings, data folder, releases, clock and limits of the process, and say how to fix what is wrong. Takes the
    /// settings of serve, writes nothing, and works while the server runs. Exits with 1 if there is a problem.
    Doctor {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Also try whether this object store does what indexers rely on (s3://bucket/prefix); writes and removes an object.
        #[arg(long, value_name = "URL")]
        object_store: Option<PathBuf>,
        #[command(flatten)]
        settings: Box<ServeSettings>,
    },
    /// Copy accounts, keys and usage, and on request the current release, to a new folder. Works while the server runs. What is in
    /// PostgreSQL (--store) is backed up by pg_dump.
    Backup(BackupOptions),
    /// Restore a backup into the data folder, which no server may use.
    Restore(RestoreOptions),
    /// Move accounts, keys and usage to PostgreSQL.
    Store {
        #[command(subcommand)]
        command: StoreCommand,
    },
    /// Send a request to the API of a running server and print its answer as a table, CSV, NDJSON or JSON. Lists are read to
    /// their end.
    Query(QueryOptions),
    /// Print the server.json with which the MCP registry lists this server.
    ServerJson {
        /// Public URL of the service, https.
        #[arg(long, env = "VENTUREDEX_PUBLIC_URL", value_name = "URL", value_parser = https_url)]
        public_url: String,
    },
    /// Print the completions of a program for a shell, to be saved where that looks for them.
    Completions {
        shell: Shell,
        #[arg(value_enum, default_value = "venturedex")]
        program: Program,
    },
    /// Write a man page for each program and each of their commands.
    Manual {
        /// The folder to write to; created if missing.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// Options of commands on accounts and keys.
#[derive(Debug, Args)]
pub struct CommandOptions {
    /// Print JSON, including errors.
    #[arg(long, global = true)]
    pub json: bool,
    /// File to which changes are appended, that of `serve --audit-log` [default: none].
    #[arg(long, env = "VENTUREDEX_AUDIT_LOG", value_name = "FILE", global = true)]
    pub audit_log: Option<PathBuf>,
}

/// What to back up, and where.
#[derive(Debug, Args)]
pub struct BackupOptions {
    /// The folder to write, which must not exist; it gets this name when the backup is complete and verified.
    #[arg(value_name = "DIR")]
    pub to: PathBuf,
    /// Folder of releases.
    #[arg(long, env = "VENTUREDEX_INDEX", value_name = "DIR", default_value = "index")]
    pub index: PathBuf,
    /// Also copy the current release; otherwise the backup only names it.
    #[arg(long)]
    pub with_index: bool,
    /// Print JSON, including errors.
    #[arg(long)]
    pub json: bool,
}

/// What to restore, and how.
#[derive(Debug, Args)]
pub struct RestoreOptions {
    /// The folder that `venturedex backup` has written.
    #[arg(value_name = "DIR")]
    pub from: PathBuf,
    /// Folder of releases.
    #[arg(long, env = "VENTUREDEX_INDEX", value_name = "DIR", default_value = "index")]
    pub index: PathBuf,
    /// Also restore the release of the backup and make it current.
    #[arg(long)]
    pub with_index: bool,
    /// Move the database of the data folder aside, into a folder `replaced-…` in it.
    #[arg(long)]
    pub force: bool,
    /// Print JSON, including errors.
    #[arg(long)]
    pub json: bool,
}

/// Which lines of an audit log to print.
#[derive(Debug, Args)]
pub struct AuditFilter {
    /// The file that `serve --audit-log` writes; `-` for stdin.
    #[arg(long, env = "VENTUREDEX_AUDIT_LOG", value_name = "FILE")]
    pub file: PathBuf,
    /// Only lines of this account, by its number in `account list`.
    #[arg(long, value_name = "ID")]
    pub account: Option<i64>,
    /// Only lines of this event.
    #[arg(long, value_parser = PossibleValuesParser::new(AuditEvent::names()))]
    pub event: Option<String>,
    /// Only lines from this time on: a date, or a time such as 2026-11-20T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub since: Option<String>,
}

#[derive(Debug, Args)]
pub struct AccountOption {
    /// The owner's e-mail address, or the number of the account.
    #[arg(long)]
    pub email: AccountRef,
}

#[derive(Debug, Subcommand)]
pub enum AccountCommand {
    /// Create an account, or take one that never had a password, and print the link by which its owner chooses the password and
    /// proves the address. It is valid for seven days, once, and replaces an earlier one.
    Invite {
        /// The owner's e-mail address.
        #[arg(long)]
        email: Email,
        /// The tier of a new account.
        #[arg(long, default_value = "free", value_parser = one_of(&Tier::ALL, Tier::name))]
        tier: Tier,
        /// Public URL of the service, for the link.
        #[arg(long, env = "VENTUREDEX_PUBLIC_URL", value_name = "URL", default_value = "http://127.0.0.1:8080",
              value_parser = public_url)]
        public_url: String,
        /// Let the running server send the link by e-mail (its --smtp-url), in place of printing it.
        #[arg(long)]
        send: bool,
    },
    /// Create a verified account.
    Create {
        /// The owner's e-mail address.
        #[arg(long)]
        email: Email,
        /// Daily requests and number of keys, unless --tiers says otherwise: free 100 and 3, pro 5,000 and 10, enterprise unlimited.
        #[arg(long, default_value = "free", value_parser = one_of(&Tier::ALL, Tier::name))]
        tier: Tier,
        /// Read the owner's password from stdin; without one the owner cannot sign in until set-password is run.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Mark an account as verified, after its owner proved that the e-mail address is theirs. Accounts from the sign-up page are
    /// unverified.
    Verify(AccountOption),
    /// Set an account's password, also if the owner forgot it; ends all sessions of the account and revokes its keys.
    SetPassword {
        /// The owner's e-mail address, or the number of the account.
        #[arg(long)]
        email: AccountRef,
        /// Do not revoke the keys of the account.
        #[arg(long)]
        keep_keys: bool,
        /// Read the password from stdin, as a single line; there is no prompt.
        #[arg(long, required = true)]
        password_stdin: bool,
    },
    /// No longer require codes from an authenticator app at sign-in, for an owner who lost the app and the recovery codes.
    ResetTotp(AccountOption),
    /// Make an account an operator, who sees and changes all accounts on the pages below /admin, or no longer with --revoke. Takes
    /// effect at once.
    SetOperator {
        /// The owner's e-mail address, or the number of the account.
        #[arg(long)]
        email: AccountRef,
        /// The account is an operator no longer.
        #[arg(long)]
        revoke: bool,
    },
    /// Block an account: ends its sessions, refuses sign-in and rejects its keys, until it is unblocked. Takes effect on a running
    /// server within a second.
    Block(AccountOption),
    /// Unblock an account: its owner can sign in, and the keys that were not revoked are accepted again.
    Unblock(AccountOption),
    /// Delete an account with its e-mail address, password, sessions and usage, and revoke its keys. Takes effect on a
    /// running server within a second.
    Delete(AccountOption),
    /// List all accounts.
    List,
    /// Set an account's tier. Takes effect on a running server within a second.
    SetTier {
        /// The owner's e-mail address, or the number of the account.
        #[arg(long)]
        email: AccountRef,
        /// The new tier.
        #[arg(long, value_parser = one_of(&Tier::ALL, Tier::name))]
        tier: Tier,
        /// Accept that the account is unverified.
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Create an API key and print it to stdout (shown once).
    Create {
        /// The account's e-mail address or number.
        #[arg(long)]
        email: AccountRef,
        /// A name for the key.
        #[arg(long)]
        name: KeyName,
        /// Days until the key expires [default: it does not].
        #[arg(long, value_name = "DAYS", allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, KEY_DAYS))]
        expires_in: Option<u32>,
    },
    /// Replace a key: create a successor, print it to stdout (shown once), and let the key expire. Both count as one key.
    Rotate {
        /// The key's number, its short form (vdx_aB3d…9xYz), the full key, or `-` to read one of these from stdin.
        #[arg(value_name = "KEY")]
        key: KeyArgument,
        /// Hours for which the rotated key is still accepted.
        #[arg(long, value_name = "HOURS", default_value_t = DEFAULT_OVERLAP_HOURS, allow_negative_numbers = true,
              value_parser = |text: &str| parse_uint(text, OVERLAP_HOURS))]
        overlap: u32,
        /// Days until the successor expires [default: as long as the key was valid].
        #[arg(long, value_name = "DAYS", allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, KEY_DAYS))]
        expires_in: Option<u32>,
    },
    /// List keys in their short form.
    List {
        /// Only the keys of this account, by its e-mail address or number.
        #[arg(long)]
        email: Option<AccountRef>,
    },
    /// Revoke a key. Takes effect on a running server within a second.
    Revoke {
        /// The key's number, its short form (vdx_aB3d…9xYz), the full key, or `-` to read one of these from stdin: other
        /// users of the machine see arguments.
        #[arg(value_name = "KEY")]
        key: KeyArgument,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyArgument {
    Key(KeyRef),
    Stdin,
}

impl FromStr for KeyArgument {
    type Err = ParseKeyRefError;

    fn from_str(text: &str) -> Result<Self, ParseKeyRefError> {
        if text == "-" { Ok(Self::Stdin) } else { text.parse().map(Self::Key) }
    }
}

/// Settings of the server.
#[derive(Clone, Debug, Args)]
pub struct ServeSettings {
    /// Address to listen on; with port 0 the system chooses a free port.
    #[arg(long, env = "VENTUREDEX_LISTEN", value_name = "ADDRESS", default_value = "127.0.0.1:8080",
          value_parser = listen)]
    pub listen: SocketAddr,
    /// Folder of releases, or the object store that has them: s3://bucket/prefix (endpoint, region and credentials from the
    /// variables AWS_…) or file:///folder. The server is not ready until there is one. By default the folder `index`, and
    /// the bundled snapshot for as long as that has no release.
    #[arg(long, env = "VENTUREDEX_INDEX", value_name = "PLACE")]
    pub index: Option<PathBuf>,
    /// Folder for the releases of an object store, of this server alone; kept, so that a restart does not need the store.
    #[arg(long, env = "VENTUREDEX_CACHE", value_name = "DIR", default_value = "cache")]
    pub cache: PathBuf,
    /// Milliseconds between two reads of the object store; never longer than a second, within which replicas find a release.
    #[arg(long, env = "VENTUREDEX_POLL_INTERVAL", value_name = "MS", default_value = "1000",
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 20..=1_000))]
    pub poll_interval: u32,
    /// File with the public key (Ed25519, PEM) of whoever may publish: releases that are not signed with it are refused
    /// [default: none].
    #[arg(long, env = "VENTUREDEX_TRUST_KEY", value_name = "FILE")]
    pub trust_key: Option<PathBuf>,
    /// Releases to load in addition to the served one, for cursors and requests that name their snapshot, as far as --memory
    /// has room.
    #[arg(long, env = "VENTUREDEX_KEEP_RELEASES", value_name = "NUMBER", default_value = "3",
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 0..=20))]
    pub keep_releases: u32,
    /// Memory that the server may use, such as 512M or 2G: what of releases is held, and how large caches become, follows from
    /// it [default: three quarters of the limit of the control group, or of the machine's memory].
    #[arg(long, env = "VENTUREDEX_MEMORY", value_name = "SIZE")]
    pub memory: Option<MemoryBudget>,
    /// Who may see pages with their feeds, files and pictures, and use MCP: everybody; who sends an API key or is signed in;
    /// or signed-in accounts, with keys for REST, MCP and bulk files. REST needs a key in any case.
    #[arg(long, env = "VENTUREDEX_ACCESS", value_name = "ACCESS", default_value = "open",
          value_parser = one_of(Access::ALL, Access::name))]
    pub access: Access,
    /// Who may create an account: everybody, who has a link of `venturedex account invite`, or nobody [default: open, with
    /// restricted --access invite].
    #[arg(long, env = "VENTUREDEX_SIGN_UP", value_name = "WHO", value_parser = one_of(SignUp::ALL, SignUp::name))]
    pub sign_up: Option<SignUp>,
    /// Who may review firms: nobody, and nothing of it is seen; accounts that the operator created or invited, and those with an
    /// address at the domain of a startup in the data; or every verified account. /admin/reviews shows what waits for an operator.
    #[arg(long, env = "VENTUREDEX_REVIEWS", value_name = "WHO", default_value = "off",
          value_parser = one_of(ReviewAccess::ALL, ReviewAccess::name))]
    pub reviews: ReviewAccess,
    /// Whether other machines may be shown data whose license is not known to be public. Without it, a server beyond loopback
    /// refuses such data, unless --access and --sign-up keep strangers out.
    #[arg(long, env = "VENTUREDEX_MAY_PUBLISH", value_name = "ON|OFF", default_value = "off", value_parser = on_or_off(),
          action = ArgAction::Set)]
    pub may_publish: bool,
    /// Who may download the bulk files of releases (`indexer build --bulk`) below /data/: everybody whom --access admits, who
    /// sends an API key, or nobody [default: key, with restricted --access open].
    #[arg(long, env = "VENTUREDEX_BULK", value_name = "ACCESS",
          value_parser = one_of(BulkAccess::ALL, BulkAccess::name))]
    pub bulk: Option<BulkAccess>,
    /// Folder of accounts, keys and usage.
    #[arg(skip)]
    pub data: PathBuf,
    /// Where accounts, keys and usage are, if not there.
    #[arg(skip)]
    pub store: StoreSettings,
    /// Serve only the bundled snapshot.
    #[arg(skip)]
    pub(crate) is_demo: bool,
    /// Public URL of the service, for links [default: http:// and the listening address].
    #[arg(long, env = "VENTUREDEX_PUBLIC_URL", value_name = "URL", value_parser = public_url)]
    pub public_url: Option<String>,
    /// Whom to tell about a vulnerability or a question of privacy, for /.well-known/security.txt and the privacy page: a
    /// mailto: or https: URL [default: none].
    #[arg(long, env = "VENTUREDEX_CONTACT", value_name = "URL", value_parser = security_txt::contact)]
    pub contact: Option<String>,
    /// Name of the service on its pages, in feeds and in e-mails.
    #[arg(long, env = "VENTUREDEX_BRAND_NAME", value_name = "NAME", default_value = "VentureDex")]
    #[arg(value_parser = brand_name)]
    pub brand_name: String,
    /// Color of links and buttons, such as #0f5c4d; it must be readable on light pages, and is made lighter for dark ones
    /// [default: green].
    #[arg(long, env = "VENTUREDEX_BRAND_COLOR", value_name = "COLOR")]
    pub brand_color: Option<BrandColor>,
    /// Imprint of the operator, an https: URL; shown at the foot of pages [default: none].
    #[arg(long, env = "VENTUREDEX_IMPRINT_URL", value_name = "URL", value_parser = https_url)]
    pub imprint_url: Option<String>,
    /// Privacy policy of the operator, an https: URL; shown on pages and in the descriptions of the API [default: none].
    #[arg(long, env = "VENTUREDEX_PRIVACY_URL", value_name = "URL", value_parser = https_url)]
    pub privacy_url: Option<String>,
    /// Terms of use of the operator, an https: URL; shown like the privacy policy [default: none].
    #[arg(long, env = "VENTUREDEX_TERMS_URL", value_name = "URL", value_parser = https_url)]
    pub terms_url: Option<String>,
    /// Where founders review a firm, with `{slug}` in place of the firm's slug, such as
    /// https://example.com/review?firm={slug}; linked on the pages of firms unless --reviews takes them here [default: none].
    #[arg(long, env = "VENTUREDEX_REVIEW_URL", value_name = "URL", value_parser = review_url)]
    pub review_url: Option<String>,
    /// Folder of files to publish below /.well-known/, such as mcp-registry-auth; read when the server starts [default: none].
    #[arg(long, env = "VENTUREDEX_WELL_KNOWN", value_name = "DIR")]
    pub well_known: Option<PathBuf>,
    /// Origins whose pages may call the MCP endpoint, separated by commas, `*` for any [default: on loopback the
    /// service's own hosts, otherwise any].
    #[arg(long, env = "VENTUREDEX_ALLOWED_ORIGINS", value_name = "ORIGINS", value_delimiter = ',')]
    pub allowed_origins: Option<Vec<Origin>>,
    /// Proxies whose X-Forwarded-For is trusted, as address ranges separated by commas [default: none].
    #[arg(long, env = "VENTUREDEX_TRUSTED_PROXIES", value_name = "RANGES", value_delimiter = ',',
          value_parser = proxies)]
    pub trusted_proxies: Vec<IpRange>,
    /// Daily MCP tool calls of each client address without a key; with 0 a key is required.
    #[arg(long, env = "VENTUREDEX_MCP_DAILY_LIMIT", value_name = "CALLS", default_value = "100",
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 0..=u32::MAX))]
    pub mcp_daily_limit: u32,
    /// Named address ranges that share a daily limit of their own, for hosted assistants whose users share addresses:
    /// NAME=CALLS@RANGE+RANGE, separated by commas; the first that contains the address applies.
    #[arg(long, env = "VENTUREDEX_MCP_POOLS", value_name = "POOLS", value_delimiter = ',')]
    pub mcp_pools: Vec<ClientPool>,
    /// Pages per minute for each client address; with 0 there are no pages.
    #[arg(long, env = "VENTUREDEX_PAGES_PER_MINUTE", value_name = "PAGES", default_value = "120",
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 0..=u32::MAX))]
    pub pages_per_minute: u32,
    /// Sign-ups per hour for each client address; raise it if many people share an address. With 0 nobody can sign up.
    #[arg(long, env = "VENTUREDEX_SIGN_UPS_PER_HOUR", value_name = "SIGN-UPS", default_value = "5",
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 0..=u32::MAX))]
    pub sign_ups_per_hour: u32,
    /// Maximum number of open connections; keep it below the process's limit of open files.
    #[arg(long, env = "VENTUREDEX_MAX_CONNECTIONS", value_name = "NUMBER", default_value = "4096",
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 1..=1_000_000))]
    pub max_connections: u32,
    /// Maximum number of open connections of a client address that is not a trusted proxy (IPv6: of a /64; a
    /// /56 has four times, a /48 sixteen times as many).
    #[arg(long, env = "VENTUREDEX_MAX_CONNECTIONS_PER_ADDRESS", value_name = "NUMBER", default_value = "64",
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 1..=1_000_000))]
    pub max_connections_per_address: u32,
    /// End of an older version of the API, which responses announce by the headers Deprecation and Sunset: the day from
    /// which it is deprecated and, at least a year later, the day on which it ends, such as v1=2027-06-01/2028-06-01;
    /// several separated by commas [default: none].
    #[arg(long, env = "VENTUREDEX_VERSION_END", value_name = "VERSION=DAY/DAY", value_delimiter = ',')]
    pub version_end: Vec<VersionEnd>,
    /// Seconds to go on accepting connections at shutdown while /readyz says no, so that load balancers notice
    /// [default: 5, on loopback 0].
    #[arg(long, env = "VENTUREDEX_DRAIN_DELAY", value_name = "SECONDS",
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 0..=3_600))]
    pub drain_delay: Option<u32>,
    /// Seconds for running requests to finish at shutdown, and then, up to ten, for links that wait to be sent by e-mail.
    #[arg(long, env = "VENTUREDEX_DRAIN_SECONDS", value_name = "SECONDS", default_value = "20",
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 0..=3_600))]
    pub drain_seconds: u32,
    /// SMTP server for e-mails that verify addresses and reset passwords: smtps://user@host, or smtp://user@host with STARTTLS
    /// (on loopback without encryption); the password is read from --smtp-password-file [default: no e-mail].
    #[arg(long, env = "VENTUREDEX_SMTP_URL", value_name = "URL", requires = "mail_from")]
    pub smtp_url: Option<SmtpUrl>,
    /// File whose only line is the password of the SMTP user: other users of the machine see arguments.
    #[arg(long, env = "VENTUREDEX_SMTP_PASSWORD_FILE", value_name = "FILE", requires = "smtp_url")]
    pub smtp_password_file: Option<PathBuf>,
    /// Sender of e-mails.
    #[arg(long, env = "VENTUREDEX_MAIL_FROM", value_name = "ADDRESS", requires = "smtp_url")]
    pub mail_from: Option<Email>,
    /// Whether accounts may have alerts of saved searches and lists sent to webhooks: https URLs whose hosts have public
    /// addresses.
    #[arg(long, env = "VENTUREDEX_WEBHOOKS", value_name = "ON|OFF", default_value = "off", value_parser = on_or_off(),
          action = ArgAction::Set)]
    pub webhooks: bool,
    /// Address ranges that webhooks may lead to, too, separated by commas: those of your own network from which alerts are
    /// wanted [default: none].
    #[arg(
        long,
        env = "VENTUREDEX_WEBHOOK_NETWORKS",
        value_name = "RANGES",
        value_delimiter = ',',
        requires = "webhooks"
    )]
    pub webhook_networks: Vec<IpRange>,
    /// File to which sign-ins, refusals and changes of accounts and keys are appended, one JSON line each; `-` for stderr
    /// [default: none].
    #[arg(long, env = "VENTUREDEX_AUDIT_LOG", value_name = "FILE")]
    pub audit_log: Option<PathBuf>,
    /// Events to log on stderr.
    #[arg(long, env = "VENTUREDEX_LOG", value_name = "LEVEL", default_value = "info", value_parser = log_level())]
    pub log: LevelFilter,
    /// Form of the lines of the log and the access log.
    #[arg(long, env = "VENTUREDEX_LOG_FORMAT", value_name = "FORMAT", default_value = "text",
          value_parser = one_of(LogFormat::ALL, LogFormat::name))]
    pub log_format: LogFormat,
    /// Milliseconds from which on a request is logged as slow.
    #[arg(long, env = "VENTUREDEX_LOG_SLOW", value_name = "MS", default_value = "1000",
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 1..=3_600_000))]
    pub log_slow: u32,
    /// Milliseconds of processor time that one request of a quota, or one page, pays for: a request that takes more costs more.
    #[arg(long, env = "VENTUREDEX_WORK_PER_REQUEST", value_name = "MS", default_value = "25",
          allow_negative_numbers = true, value_parser = |text: &str| parse_uint(text, 1..=60_000))]
    pub work_per_request: u32,
    /// File to which one line for each request is appended; `-` for stderr [default: none].
    #[arg(long, env = "VENTUREDEX_ACCESS_LOG", value_name = "FILE")]
    pub access_log: Option<PathBuf>,
    /// Address on which Prometheus reads /metrics; a port without an address is on loopback [default: none].
    #[arg(long, env = "VENTUREDEX_METRICS_LISTEN", value_name = "ADDRESS", value_parser = metrics_listen)]
    pub metrics_listen: Option<SocketAddr>,
}

const DEFAULT_INDEX: &str = "index";

impl ServeSettings {
    /// The default settings, whatever the environment says, with accounts and keys in the folder `data`.
    pub fn demo(listen: SocketAddr, data: &Path) -> Self {
        let command = Self::augment_args(clap::Command::new("demo")).mut_args(|arg| arg.env(Resettable::Reset));
        let defaults = Self::from_arg_matches(&command.get_matches_from(["demo"])).expect("default values are valid");
        // Who tries the service sees reviews, too.
        let reviews = ReviewAccess::Open;
        Self { listen, data: data.to_owned(), is_demo: true, reviews, ..defaults }
    }

    pub fn releases(&self) -> Result<ReleaseStore, KeyError> {
        // Nobody publishes in the folder of a demo.
        let own = if self.is_demo { self.data.join(DEFAULT_INDEX) } else { PathBuf::from(DEFAULT_INDEX) };
        let mut releases = ReleaseStore::of_place(self.index.as_ref().unwrap_or(&own), &self.cache);
        releases.is_optional = self.index.is_none();
        releases.has_bulk_files = self.bulk() != BulkAccess::Off;
        releases.memory = self.memory();
        // The served one, the others, and the one that replaces it.
        releases.loaded = self.keep_releases as usize + 2;
        releases.trusted = self.trust_key.as_deref().map(TrustedKey::read).transpose()?;
        Ok(releases)
    }

    pub(crate) fn memory(&self) -> MemoryBudget {
        self.memory.unwrap_or_default()
    }

    /// The replica that follows the object store, if the releases are in one.
    pub(crate) fn replica(&self, releases: &ReleaseStore) -> Result<Option<Replica>, ReleaseError> {
        let Some(index) = self.index.as_ref().filter(|index| is_object_store(index)) else { return Ok(None) };
        let remote = RemoteStore::open(index, releases.trusted.clone())?;
        Ok(Some(Replica::new(remote, releases.clone(), self.keep_releases as usize + 1)))
    }

    /// Base URL for links of a server that listens on `bound`, without a trailing slash.
    pub(crate) fn base_url(&self, bound: SocketAddr) -> String {
        self.public_url.clone().unwrap_or_else(|| format!("http://{bound}"))
    }

    pub(crate) fn rate_limits(&self) -> RateLimitConfig {
        RateLimitConfig { pages_per_minute: self.pages_per_minute, sign_ups_per_hour: self.sign_ups_per_hour }
    }

    /// Who may download bulk files. A private service knows those whom it admits.
    pub(crate) fn bulk(&self) -> BulkAccess {
        let by_access = if self.access.is_private() { BulkAccess::Open } else { BulkAccess::Key };
        self.bulk.unwrap_or(by_access)
    }

    /// Who may create an account.
    pub(crate) fn sign_up(&self) -> SignUp {
        let by_access = if self.access.is_private() { SignUp::Invite } else { SignUp::Open };
        match self.sign_up.unwrap_or(by_access) {
            SignUp::Open if self.sign_ups_per_hour == 0 => SignUp::Off,
            sign_up => sign_up,
        }
    }

    /// True if a server that listens on `bound` would show its data to strangers on other machines, though the operator has not
    /// said that it may be published.
    pub(crate) fn needs_public_license(&self, bound: SocketAddr) -> bool {
        let keeps_strangers_out = self.access.is_private() && self.sign_up() != SignUp::Open;
        !bound.ip().is_loopback() && !keeps_strangers_out && !self.may_publish
    }

    /// True if a server that listens on `bound` must be behind a proxy, but none is configured.
    pub(crate) fn is_unaware_of_proxies(&self, bound: SocketAddr) -> bool {
        let is_https = self.public_url.as_ref().is_some_and(|url| url.starts_with("https://"));
        is_https && bound.ip().is_loopback() && self.trusted_proxies.is_empty()
    }

    pub(crate) fn limits(&self, bound: SocketAddr) -> Limits {
        let delay = self.drain_delay.unwrap_or(if bound.ip().is_loopback() { 0 } else { 5 });
        Limits {
            connections: self.max_connections as usize,
            connections_per_address: self.max_connections_per_address as usize,
            trusted_proxies: self.trusted_proxies.clone(),
            drain_delay: Duration::from_secs(u64::from(delay)),
            drain: Duration::from_secs(u64::from(self.drain_seconds)),
            ..Limits::default()
        }
    }
}

/// Text to print instead of running a command: an error, help, or the version.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct Stop {
    message: String,
    /// The exit code: 0 for help and the version, otherwise 2.
    pub code: u8,
}

impl Cli {
    /// Parses a command line, including the program's name, and the environment.
    pub fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, Stop> {
        let mut args: Vec<OsString> = args.into_iter().collect();
        if serves(&args) {
            args.insert(args.len().min(1), "serve".into());
        }
        let read = command().try_get_matches_from(&args).and_then(|matches| {
            refuse_folders_of_demo(&matches)?;
            let cli = Self::from_arg_matches(&matches)?;
            match cli.store.tiers() {
                Ok(_) => Ok(cli),
                Err(error) => Err(command().error(ErrorKind::ValueValidation, format!("--tiers: {error}\n"))),
            }
        });
        let mut cli = read.map_err(|error| {
            let code = if error.use_stderr() { 2 } else { 0 };
            let hint = wrong_turn::hint(&error, &command(), &indexer::command());
            let hint = hint.map_or_else(String::new, |hint| format!("\n{hint}\n"));
            Stop { message: error_text(&error, &args) + &hint, code }
        })?;
        if let Command::Serve(settings) | Command::Doctor { settings, .. } = &mut cli.command {
            settings.data.clone_from(&cli.data);
            settings.store.clone_from(&cli.store);
        }
        Ok(cli)
    }
}

/// A demo that ignored these options would look like one that keeps accounts.
fn refuse_folders_of_demo(matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some(("demo", options)) = matches.subcommand() else { return Ok(()) };
    let is_given = |flag: &&str| {
        let id = flag.trim_start_matches('-').replace('-', "_");
        [matches, options].iter().any(|matches| matches.value_source(&id) == Some(ValueSource::CommandLine))
    };
    let mut flags = ["--data"].into_iter().chain(StoreSettings::FLAGS);
    let Some(flag) = flags.find(is_given) else { return Ok(()) };
    let detail = format!("`demo` keeps nothing, so that {flag} has no effect: leave it out, or use `serve`\n");
    Err(command().error(ErrorKind::ArgumentConflict, detail))
}

/// Environment variables that look like settings but are not, each with the most similar setting.
pub fn unknown_variables(names: impl IntoIterator<Item = String>) -> Vec<(String, Option<String>)> {
    let command = Cli::command();
    let known: Vec<&str> = arguments(&command).filter_map(|arg| arg.get_env()?.to_str()).collect();
    let not_settings = ["VENTUREDEX_DATASET", "VENTUREDEX_REAL_DATA", API_KEY];
    let is_of_tests = |name: &str| not_settings.contains(&name) || name.starts_with("VENTUREDEX_TEST_");
    let unknown =
        |name: &String| name.starts_with("VENTUREDEX_") && !known.contains(&name.as_str()) && !is_of_tests(name);
    let suggestion = |name: &String| {
        let distance = |known: &&str| rapidfuzz::distance::damerau_levenshtein::distance(known.chars(), name.chars());
        known.iter().copied().min_by_key(distance).filter(|known| distance(known) <= 3).map(str::to_owned)
    };
    names.into_iter().filter(unknown).map(|name| (name.clone(), suggestion(&name))).collect()
}

/// True for a flag of all commands that takes a value.
fn takes_value(flag: &str) -> bool {
    flag == "--data" || StoreSettings::FLAGS.contains(&flag)
}

/// True if there is no command, so that the flags belong to `serve`.
fn serves(args: &[OsString]) -> bool {
    let mut words = args.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        match word.as_ref() {
            word if takes_value(word) => drop(words.next()),
            word if word.split_once('=').is_some_and(|(flag, _)| takes_value(flag)) => {}
            "help" | "-h" | "--help" | "-V" | "--version" => return false,
            word => return word.starts_with('-'),
        }
    }
    true
}

/// The definition of the command line; its help also lists the settings of the default command.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let serve = command.find_subcommand("serve").expect("serve is a command").clone();
    let settings = serve.disable_help_flag(true).help_template("{options}").render_help();
    command.after_help(format!("Settings of serve:\n{settings}"))
}

/// The text of an error, with API keys shortened.
fn error_text(error: &clap::Error, args: &[OsString]) -> String {
    let message = located(error, args);
    let mut parts = message.split(KEY_PREFIX);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let key = part.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(part.len());
        match key {
            0..=4 => text.extend([KEY_PREFIX, part]),
            _ => text.extend([KEY_PREFIX, &part[..4], "…", &part[key..]]),
        }
    }
    text
}

/// For an invalid value, names the flag or variable that it comes from.
fn located(error: &clap::Error, args: &[OsString]) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let is_value = matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue);
    let (Some(arg), Some(value), true) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue), is_value)
    else {
        return error.to_string();
    };
    let flag = arg.split([' ', '=']).next().unwrap_or(arg);
    let names_flag = |word: &OsString| {
        let word = word.to_string_lossy();
        word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let variable = if args.iter().any(names_flag) { None } else { variable_of(flag) };
    let setting = variable.map_or_else(|| flag.to_owned(), |variable| format!("{variable} (environment)"));
    match std::error::Error::source(error) {
        Some(reason) => format!("error: {setting}: `{value}`: {reason}\n"),
        None => format!("{error}\nsetting: {setting}\n"),
    }
}

fn arguments(command: &clap::Command) -> impl Iterator<Item = &clap::Arg> {
    command.get_arguments().chain(command.get_subcommands().flat_map(clap::Command::get_arguments))
}

fn variable_of(flag: &str) -> Option<String> {
    let command = Cli::command();
    let arg =
        arguments(&command).find(|arg| arg.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long)))?;
    Some(arg.get_env()?.to_string_lossy().into_owned())
}

/// Parses one of these values by its name.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let find = move |text: String| values.iter().copied().find(|value| name(*value) == text).ok_or("no such value");
    PossibleValuesParser::new(values.iter().copied().map(name)).try_map(find)
}

fn log_level() -> impl TypedValueParser<Value = LevelFilter> {
    let levels = ["off", "error", "warn", "info", "debug", "trace"];
    PossibleValuesParser::new(levels).try_map(|name| name.parse::<LevelFilter>())
}

fn parse_uint(text: &str, range: RangeInclusive<u32>) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("not a whole number from {} to {}", range.start(), range.end()))
}

fn on_or_off() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|text| text == "on")
}

fn proxies(text: &str) -> Result<IpRange, String> {
    let range: IpRange = text.parse().map_err(|error: ParseIpRangeError| error.to_string())?;
    let reason = "clients are in this range, and would choose their own address: name the proxies' addresses";
    if range.has_clients() { Err(reason.to_owned()) } else { Ok(range) }
}

/// Like [`listen`], but also accepts a port, on loopback.
fn metrics_listen(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    listen(text).map_err(|_| "not a port or an address with a port; examples: 9090, 127.0.0.1:9090".to_owned())
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    let local = port.map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let expected = "not an address with a port; examples: 127.0.0.1:8080, 0.0.0.0:80, [::1]:8080";
    text.parse().ok().or(local).ok_or_else(|| expected.to_owned())
}

/// A prefix of the times in an audit log, which have a fixed format and therefore sort like text.
fn since(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_date = text.parse::<Date>().is_ok();
    let time = OffsetDateTime::parse(text, &Rfc3339);
    let is_time = time.is_ok_and(|time| rfc3339(time.unix_timestamp()) == text);
    let expected = "not a date or UTC time; examples: 2026-11-20, 2026-11-20T12:00:00Z";
    if is_date || is_time { Ok(text.to_owned()) } else { Err(expected.to_owned()) }
}

fn https_url(text: &str) -> Result<String, String> {
    let url = public_url(text).ok().filter(|url| url.starts_with("https://"));
    url.ok_or_else(|| "not an https URL without a query; example: https://example.com/privacy".to_owned())
}

pub(crate) fn public_url(text: &str) -> Result<String, String> {
    let message = || "not an http or https URL without a query; example: https://api.example.com".to_owned();
    let url: Uri = text.trim().parse().map_err(|_| message())?;
    let authority = url.authority().ok_or_else(message)?;
    let is_valid = matches!(url.scheme_str(), Some("http" | "https"))
        && !authority.host().is_empty()
        && !authority.as_str().contains('@')
        && url.query().is_none()
        && !text.contains('#');
    if is_valid { Ok(text.trim().trim_end_matches('/').to_owned()) } else { Err(message()) }
}
