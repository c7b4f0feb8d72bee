//! The server and its operator commands.

mod accounts;
mod keys;
mod print;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use venturedex::app;
use venturedex::app::settings;
use venturedex::app::settings::{Cli, Command, ServeSettings};
use venturedex::auth::StoreError;
use venturedex::auth::password::WeakPassword;

fn main() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(stop) if stop.code() == 0 => {
            return exit(write!(io::stdout(), "{stop}").map_err(CommandError::Output), false);
        }
        Err(stop) => {
            let _ = write!(io::stderr(), "{stop}");
            return ExitCode::from(stop.code());
        }
    };
    let (done, json) = match cli.command {
        Command::Serve(settings) => (serve(settings), false),
        Command::Account { command, json } => (accounts::run(&cli.data, command, json), json),
        Command::Key { command, json } => (keys::run(&cli.data, command, json), json),
    };
    exit(done, json)
}

fn exit(done: Result<(), CommandError>, json: bool) -> ExitCode {
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

fn serve(settings: ServeSettings) -> Result<(), CommandError> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for (name, nearest) in settings::unknown_variables(names) {
        let hint = nearest.map(|nearest| format!(": did you mean {nearest}?")).unwrap_or_default();
        let _ = writeln!(io::stderr(), "warning: the environment sets {name}, which is no setting{hint}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CommandError::Runtime)?;
    runtime.block_on(app::serve(settings)).map_err(|error| CommandError::Serve(Box::new(error)))
}

/// Unix seconds now.
fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
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
pub(crate) enum CommandError {
    AuthService(StoreError),
    Serve(Box<dyn std::error::Error>),
    Runtime(io::Error),
    Output(io::Error),
    Input(&'static str),
    Password(WeakPassword),
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::AuthService(error)
    }
}

impl CommandError {
    fn code(&self) -> &'static str {
        match self {
            Self::AuthService(error) => error.code(),
            Self::Serve(_) | Self::Runtime(_) => "serve_failed",
            Self::Output(_) => "output_failed",
            Self::Input(_) => "input_unusable",
            Self::Password(weak) => weak.code(),
        }
    }
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AuthService(error) => write!(f, "{error}"),
            Self::Serve(error) => write!(f, "{error}"),
            Self::Runtime(error) => write!(f, "the runtime could not be started: {error}"),
            Self::Output(error) => write!(f, "standard output: {error}"),
            Self::Input(reason) => f.write_str(reason),
            Self::Password(weak) => write!(f, "{weak}"),
        }
    }
}
