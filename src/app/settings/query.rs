//! The options of `venturedex query`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Environment variable for the API key: an argument would be visible to other users of the machine.
pub(crate) const API_KEY: &str = "VENTUREDEX_KEY";

/// What to request, and how to print the answer.
#[derive(Debug, Args)]
#[command(after_help = "The API key is read from VENTUREDEX_KEY.

  venturedex query vcs country=DE stage=seed
  venturedex query vcs/alder-capital
  venturedex query funding-rounds announced_from=2026-01-01 --format csv > rounds.csv
  venturedex query changes from=2026-11-15.1 --format ndjson")]
pub struct QueryOptions {
    /// Path below /api/v3, or a whole path that begins with `/`.
    pub path: String,
    /// Parameters of the request.
    #[arg(value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, String)>,
    /// The server.
    #[arg(long, env = "VENTUREDEX_URL", value_name = "URL", default_value = "http://127.0.0.1:8080")]
    pub url: String,
    /// How to print the answer; `csv` and `ndjson` are whole lists, `json` is one response as it is.
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
    /// Send the content of a file, JSON or CSV, with POST; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub body: Option<PathBuf>,
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For reading: one page, long values cut, columns left out that do not fit.
    #[default]
    Table,
    Csv,
    Ndjson,
    Json,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as country=DE")?;
    Ok((name.to_owned(), value.to_owned()))
}
