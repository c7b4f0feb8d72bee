//! The command line and the settings: one definition that drives parsing, `--help` and the names in the environment.
//!
//! A setting is a flag, or the environment variable that `--help` names beside it. [`Cli::read`] answers with the place
//! of a wrong one (flag or variable) and how to mend it.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use http::Uri;

use crate::auth::KEY_PREFIX;
use crate::auth::account::{Email, KeyName, KeyRef};
use crate::http::origin::Origin;
use crate::quota::{ClientPool, IpRange, RateLimitConfig, Tier};

/// A venture data service: REST v1, v2, v3 and MCP over a compiled snapshot of firms, startups, rounds and people.
///
/// Without a command it serves.
#[derive(Debug, Parser)]
#[command(name = "venturedex", version, subcommand_required = true)]
pub struct Cli {
    /// Folder of accounts, keys and usage; made where it is missing.
    #[arg(long, env = "VENTUREDEX_DATA", value_name = "DIR", default_value = "data", global = true)]
    pub data: PathBuf,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve (the default command).
    Serve(ServeSettings),
    /// Make, list and delete accounts, set their tiers and passwords; also while the server runs.
    Account {
        /// Print JSON, errors too.
        #[arg(long, global = true)]
        json: bool,
        /// What to do.
        #[command(subcommand)]
        command: AccountCommand,
    },
    /// Make, list and revoke API keys; also while the server runs.
    Key {
        /// Print JSON, errors too.
        #[arg(long, global = true)]
        json: bool,
        /// What to do.
        #[command(subcommand)]
        command: KeyCommand,
    },
}

/// What to do with accounts.
#[derive(Debug, Subcommand)]
pub enum AccountCommand {
    /// Make an account.
    Create {
        /// Its owner's e-mail address.
        #[arg(long)]
        email: Email,
        /// Requests a day and number of keys: free 100 and 3, pro 5,000 and 10, enterprise unlimited.
        #[arg(long, default_value = "free", value_parser = tier())]
        tier: Tier,
        /// Read a password, with which the owner signs in, from standard input; without one the account cannot sign in
        /// until set-password.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Set an account's password, also one that was forgotten; ends all its sessions.
    SetPassword {
        /// Its owner's e-mail address.
        #[arg(long)]
        email: Email,
        /// Read the password, alone on a line, from standard input; it is never asked for.
        #[arg(long, required = true)]
        password_stdin: bool,
    },
    /// Delete an account with its e-mail address, password, sessions and usage; its keys are revoked, and a running server
    /// obeys within a second.
    Delete {
        /// Its owner's e-mail address.
        #[arg(long)]
        email: Email,
    },
    /// List all accounts.
    List,
    /// Set an account's tier; a running server obeys within a second.
    SetTier {
        /// Its owner's e-mail address.
        #[arg(long)]
        email: Email,
        /// The new tier.
        #[arg(long, value_parser = tier())]
        tier: Tier,
    },
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key and print it, once, alone on its line on standard output.
    Create {
        /// The e-mail address of its account.
        #[arg(long)]
        email: Email,
        /// What to call it.
        #[arg(long)]
        name: KeyName,
    },
    /// List keys, without what is secret of them.
    List {
        /// Only those of this account.
        #[arg(long)]
        email: Option<Email>,
    },
    /// Revoke a key; a running server obeys within a second.
    Revoke {
        /// Its number, its short form (vdx_aB3d…9xYz) or the whole key.
        #[arg(value_name = "KEY")]
        key: KeyRef,
    },
}

/// What the server is told.
#[derive(Clone, Debug, Args)]
pub struct ServeSettings {
    /// Address to listen on; port 0 takes a free one.
    #[arg(long, env = "VENTUREDEX_LISTEN", value_name = "ADDRESS", default_value = "127.0.0.1:8080",
          value_parser = listen)]
    pub listen: SocketAddr,
    /// Folder of releases; while it names none, the bundled snapshot is served.
    #[arg(long, env = "VENTUREDEX_INDEX", value_name = "DIR", default_value = "index")]
    pub index: PathBuf,
    /// Folder of accounts, keys and usage.
    #[arg(skip)]
    pub data: PathBuf,
    /// Address under which clients reach the service, for links [default: http:// and the listening address].
    #[arg(long, env = "VENTUREDEX_PUBLIC_URL", value_name = "URL", value_parser = public_url)]
    pub public_url: Option<String>,
    /// Origins whose pages may call the MCP endpoint, separated by commas, `*` for any [default: the service's own
    /// hosts while it listens on loopback, any otherwise].
    #[arg(long, env = "VENTUREDEX_ALLOWED_ORIGINS", value_name = "ORIGINS", value_delimiter = ',')]
    pub allowed_origins: Option<Vec<Origin>>,
    /// Proxies whose X-Forwarded-For is believed, as address ranges separated by commas [default: none].
    #[arg(long, env = "VENTUREDEX_TRUSTED_PROXIES", value_name = "RANGES", value_delimiter = ',')]
    pub trusted_proxies: Vec<IpRange>,
    /// Tool calls a day for each MCP client without a key, counted by its address.
    #[arg(long, env = "VENTUREDEX_MCP_DAILY_LIMIT", value_name = "CALLS", default_value = "100",
          allow_negative_numbers = true, value_parser = |text: &str| whole(text, 1..=u32::MAX))]
    pub mcp_daily_limit: u32,
    /// Named address ranges that count together on a number of their own, for hosted assistants, whose users share
    /// addresses; written NAME=CALLS@RANGE+RANGE, several separated by commas; the first that holds an address counts.
    #[arg(long, env = "VENTUREDEX_MCP_POOLS", value_name = "POOLS", value_delimiter = ',')]
    pub mcp_pools: Vec<ClientPool>,
    /// Pages a minute for each client address.
    #[arg(long, env = "VENTUREDEX_PAGES_PER_MINUTE", value_name = "PAGES", default_value = "120",
          allow_negative_numbers = true, value_parser = |text: &str| whole(text, 1..=u32::MAX))]
    pub pages_per_minute: u32,
    /// Sign-ups an hour for each client address; raise it where many people share one.
    #[arg(long, env = "VENTUREDEX_SIGN_UPS_PER_HOUR", value_name = "SIGN-UPS", default_value = "5",
          allow_negative_numbers = true, value_parser = |text: &str| whole(text, 1..=u32::MAX))]
    pub sign_ups_per_hour: u32,
    /// Connections served at a time; keep it below the process's limit of open files.
    #[arg(long, env = "VENTUREDEX_MAX_CONNECTIONS", value_name = "NUMBER", default_value = "4096",
          allow_negative_numbers = true, value_parser = |text: &str| whole(text, 1..=1_000_000))]
    pub max_connections: u32,
    /// Seconds that running requests get to finish when the server is told to end.
    #[arg(long, env = "VENTUREDEX_DRAIN_SECONDS", value_name = "SECONDS", default_value = "20",
          allow_negative_numbers = true, value_parser = |text: &str| whole(text, 0..=3_600))]
    pub drain_seconds: u32,
}

impl ServeSettings {
    /// The address in links of a server that listens on `bound`, without a slash at its end.
    #[must_use]
    pub fn base_url(&self, bound: SocketAddr) -> String {
        self.public_url.clone().unwrap_or_else(|| format!("http://{bound}"))
    }

    /// How often one client address may come to the pages.
    #[must_use]
    pub fn allowances(&self) -> RateLimitConfig {
        RateLimitConfig { pages_per_minute: self.pages_per_minute, sign_ups_per_hour: self.sign_ups_per_hour }
    }

    /// How long running requests get to finish when the server ends.
    #[must_use]
    pub fn drain(&self) -> Duration {
        Duration::from_secs(u64::from(self.drain_seconds))
    }
}

/// A command line that cannot be followed, or one that only asks for help.
#[derive(Debug)]
pub struct Stop {
    message: String,
    code: u8,
}

impl Stop {
    /// The exit code: 0 where help or the version was asked for, else 2.
    #[must_use]
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Stop {}

impl Cli {
    /// Reads a command line (the program's name first) and the environment.
    ///
    /// # Errors
    /// What to print instead: the mend of a wrong setting, or the help that was asked for.
    pub fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, Stop> {
        let mut args: Vec<OsString> = args.into_iter().collect();
        if serves(&args) {
            args.insert(args.len().min(1), "serve".into());
        }
        let stop = |error: &clap::Error| Stop {
            message: explained(error, &args),
            code: if error.use_stderr() { 2 } else { 0 },
        };
        let matches = command().try_get_matches_from(&args).map_err(|error| stop(&error))?;
        let mut cli = Self::from_arg_matches(&matches).map_err(|error| stop(&error))?;
        if let Command::Serve(settings) = &mut cli.command {
            settings.data.clone_from(&cli.data);
        }
        Ok(cli)
    }
}

/// Variables of the environment that look like settings and are none, each with the nearest that is.
#[must_use]
pub fn unknown_variables(names: impl IntoIterator<Item = String>) -> Vec<(String, Option<String>)> {
    let command = Cli::command();
    let args = command.get_arguments().chain(command.get_subcommands().flat_map(clap::Command::get_arguments));
    let known: Vec<&str> = args.filter_map(|arg| arg.get_env()?.to_str()).collect();
    let of_others = ["VENTUREDEX_DATASET", "VENTUREDEX_REAL_DATA", "VENTUREDEX_TEST_ALL"];
    let unknown = |name: &String| {
        name.starts_with("VENTUREDEX_") && !known.contains(&name.as_str()) && !of_others.contains(&name.as_str())
    };
    let nearest = |name: &String| {
        let distance = |known: &&str| rapidfuzz::distance::damerau_levenshtein::distance(known.chars(), name.chars());
        known.iter().copied().min_by_key(distance).filter(|known| distance(known) <= 3).map(str::to_owned)
    };
    names.into_iter().filter(unknown).map(|name| (name.clone(), nearest(&name))).collect()
}

/// True where no command is named, so that the flags are those of `serve`.
fn serves(args: &[OsString]) -> bool {
    let mut words = args.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        match word.as_ref() {
            "--data" => drop(words.next()),
            word if word.starts_with("--data=") => {}
            "serve" | "account" | "key" | "help" | "-h" | "--help" | "-V" | "--version" => return false,
            word => return word.starts_with('-'),
        }
    }
    true
}

/// The command line's definition; its own help lists the settings of the default command too.
fn command() -> clap::Command {
    let command = Cli::command();
    let settings = command.find_subcommand("serve").cloned().map(|serve| {
        let mut serve = serve.disable_help_flag(true).help_template("{options}");
        format!("Settings of serve:\n{}", serve.render_help())
    });
    command.after_help(settings.unwrap_or_default())
}

/// The error as it is printed, without any key that was written where it does not belong.
fn explained(error: &clap::Error, args: &[OsString]) -> String {
    let message = placed(error, args);
    let mut shown = String::with_capacity(message.len());
    let mut parts = message.split(KEY_PREFIX);
    shown.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let key = part.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(part.len());
        let (head, rest) = if key > 4 { (part.get(..4), part.get(key..)) } else { (Some(part), None) };
        shown.extend([KEY_PREFIX, head.unwrap_or_default(), if rest.is_some() { "…" } else { "" }]);
        shown.push_str(rest.unwrap_or_default());
    }
    shown
}

/// For a wrong value, the place that it came from.
fn placed(error: &clap::Error, args: &[OsString]) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let wrong = matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue);
    let (Some(arg), true) = (text(ContextKind::InvalidArg), wrong) else { return error.to_string() };
    let flag = arg.split([' ', '=']).next().unwrap_or(arg);
    let given = |word: &OsString| {
        let word = word.to_string_lossy();
        word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let variable = if args.iter().any(given) { None } else { variable_of(flag) };
    let place = variable.map_or_else(|| flag.to_owned(), |variable| format!("{variable} (environment)"));
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    match std::error::Error::source(error) {
        Some(reason) => format!("error: {place}: `{value}`: {reason}\n"),
        None => format!("{error}\nplace: {place}\n"),
    }
}

fn variable_of(flag: &str) -> Option<String> {
    let command = Cli::command();
    let mut args = command.get_arguments().chain(command.get_subcommands().flat_map(clap::Command::get_arguments));
    let arg = args.find(|arg| arg.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long)))?;
    Some(arg.get_env()?.to_string_lossy().into_owned())
}

fn tier() -> impl TypedValueParser<Value = Tier> {
    PossibleValuesParser::new(Tier::ALL.map(Tier::name)).try_map(|name| name.parse::<Tier>())
}

fn whole(text: &str, range: RangeInclusive<u32>) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("not a whole number from {} to {}", range.start(), range.end()))
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let port = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    port.map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
        .ok_or_else(|| "not an address to listen on: write 127.0.0.1:8080, 0.0.0.0:80 or [::1]:8080".to_owned())
}

fn public_url(text: &str) -> Result<String, String> {
    let mend = || "not an address of the service: write one such as https://api.example.com".to_owned();
    let url: Uri = text.trim().parse().map_err(|_| mend())?;
    let authority = url.authority().ok_or_else(mend)?;
    let sound = matches!(url.scheme_str(), Some("http" | "https"))
        && !authority.host().is_empty()
        && !authority.as_str().contains('@')
        && url.query().is_none()
        && !text.contains('#');
    if sound { Ok(text.trim().trim_end_matches('/').to_owned()) } else { Err(mend()) }
}
