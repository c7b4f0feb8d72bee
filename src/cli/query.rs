//! `venturedex query`: sends a request to the API of a server and prints its answer as a table or a file.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use form_urlencoded::Serializer;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{Request, Response};
use serde_json::Value;
use thiserror::Error;
use ureq::{Agent, Body, SendBody};

use crate::app::settings::{API_KEY, OutputFormat, QueryOptions};
use crate::cli::table;
use data::parameter_error::shortened_to;
use platform::tls;

/// Maximum width of a table cell; longer ones are cut.
const MAX_CELL: usize = 40;
/// Maximum size of a JSON response in bytes, more than any page; a server that sends more is not read to the end.
const MAX_JSON: u64 = 256 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout until the headers of a response have arrived.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest wait before a retry; a daily quota resets too late to wait for.
const MAX_WAIT: Duration = Duration::from_secs(60);
const MAX_WAITS: usize = 5;

#[derive(Debug, Error)]
enum QueryError {
    #[error(
        "{url} cannot be reached: {error}; start the server with `venturedex serve`, or name another one with --url"
    )]
    Unreachable { url: String, error: ureq::Error },
    #[error("{API_KEY} has characters that no key has; set it to the key alone")]
    Key,
    #[error("{0} is not an address of a server; write it as https://host or http://host:port")]
    Url(String),
    #[error("{0}")]
    Refused(String),
    #[error("the answer is not the JSON of a VentureDex server: {0}; check --url and the path")]
    NotJson(String),
    #[error("the answer is incomplete: {0}; what was printed is a part of it")]
    Incomplete(io::Error),
    #[error("{path}: {error}")]
    Body { path: String, error: io::Error },
    #[error("standard output: {0}")]
    Output(io::Error),
}

/// Runs the command. Exits with 1 and a message if the answer is an error or incomplete.
pub fn run(options: &QueryOptions) -> ExitCode {
    match QueryRunner::new(options).and_then(|query| query.print()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has read enough.
        Err(QueryError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

struct QueryRunner<'a> {
    options: &'a QueryOptions,
    agent: Agent,
    key: Option<String>,
}

impl<'a> QueryRunner<'a> {
    fn new(options: &'a QueryOptions) -> Result<Self, QueryError> {
        let key = std::env::var_os(API_KEY).filter(|key| !key.is_empty());
        let key = key.map(|key| key.into_string().map_err(|_| QueryError::Key)).transpose()?;
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(RESPONSE_TIMEOUT))
            .user_agent(concat!("venturedex/", env!("CARGO_PKG_VERSION")));
        if options.url.starts_with("https:") {
            config = config.tls_config(tls::system_roots());
        }
        Ok(Self { options, agent: config.build().into(), key })
    }

    fn print(&self) -> Result<(), QueryError> {
        let mut url = self.url();
        let mut response = self.send(&url, self.options.body.as_deref())?;
        // A merged record has another address. Follow it on the same server only: another one must not get the key.
        if let Some(path) = moved_to(&response).filter(|_| self.options.body.is_none()) {
            let _ = writeln!(io::stderr(), "note: moved to {path}");
            url = format!("{}{path}", self.server());
            response = self.send(&url, None)?;
        }
        if !response.status().is_success() {
            return Err(refusal(response));
        }
        let content_type = response.headers().get(CONTENT_TYPE);
        if !content_type.is_some_and(|value| value.as_bytes().starts_with(b"application/json")) {
            return copy_to_stdout(response.into_body().into_reader());
        }
        match self.options.format {
            OutputFormat::Json => copy_to_stdout(response.into_body().into_reader()),
            OutputFormat::Table => {
                // The first columns are those of `fields`, in its order.
                let fields = self.options.parameters.iter().find(|(name, _)| name == "fields");
                let fields = fields.map_or("slug,id,name", |(_, fields)| fields.as_str());
                print_table(&read_json(response)?, &fields.split(',').collect::<Vec<_>>())
            }
            OutputFormat::Csv | OutputFormat::Ndjson => self.print_rows(&url, read_json(response)?),
        }
    }

    /// Prints each row of a JSON-only answer as a line of JSON, page by page.
    fn print_rows(&self, url: &str, mut page: Value) -> Result<(), QueryError> {
        if self.options.format == OutputFormat::Csv {
            let detail = "this path has no CSV: use --format ndjson, json or table";
            return Err(QueryError::Refused(detail.to_owned()));
        }
        loop {
            match page["data"].take() {
                Value::Array(rows) => rows.iter().try_for_each(print_line)?,
                row => print_line(&row)?,
            }
            let Some(cursor) = page["pagination"]["next_cursor"].as_str() else { return Ok(()) };
            let path = url.split_once('?').map_or(url, |(path, _)| path);
            let next = format!("{path}?{}", Serializer::new(String::new()).append_pair("cursor", cursor).finish());
            let response = self.send(&next, None)?;
            if !response.status().is_success() {
                return Err(refusal(response));
            }
            page = read_json(response)?;
        }
    }

    fn server(&self) -> &str {
        self.options.url.trim_end_matches('/')
    }

    fn url(&self) -> String {
        let path = &self.options.path;
        let mut url = match path.starts_with('/') {
            true => format!("{}{path}", self.server()),
            false => format!("{}/api/v3/{path}", self.server()),
        };
        if !self.options.parameters.is_empty() {
            let query = Serializer::new(String::new()).extend_pairs(&self.options.parameters).finish();
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&query);
        }
        url
    }

    /// Sends a request, and retries after the time that the server names if that is short.
    fn send(&self, url: &str, body: Option<&Path>) -> Result<Response<Body>, QueryError> {
        for _ in 0..MAX_WAITS {
            let response = self.send_once(url, body)?;
            let Some(wait) = retry_delay(&response).filter(|_| body.is_none()) else { return Ok(response) };
            let _ = writeln!(io::stderr(), "note: {}; trying again in {} s", response.status(), wait.as_secs());
            std::thread::sleep(wait);
        }
        self.send_once(url, body)
    }

    fn send_once(&self, url: &str, body: Option<&Path>) -> Result<Response<Body>, QueryError> {
        let accept = match self.options.format {
            OutputFormat::Csv => "text/csv, application/json;q=0.1",
            OutputFormat::Ndjson => "application/x-ndjson, application/json;q=0.1",
            OutputFormat::Json | OutputFormat::Table => "application/json",
        };
        let mut request = Request::builder().uri(url).header(ACCEPT, accept);
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, format!("Bearer {key}"));
        }
        let is_unusable =
            |error: http::Error| match self.key.as_deref().is_some_and(|key| key.contains(char::is_control)) {
                true => QueryError::Key,
                false => QueryError::Url(format!("{url} ({error})")),
            };
        let sent = match body {
            None => self.agent.run(request.body(()).map_err(is_unusable)?),
            Some(path) => {
                let unreadable = |error| QueryError::Body { path: path.display().to_string(), error };
                let content: Box<dyn Read + Send> = match path.as_os_str() == "-" {
                    true => Box::new(io::stdin()),
                    false => Box::new(File::open(path).map_err(unreadable)?),
                };
                let mut content = BufReader::new(content);
                // JSON begins with a bracket.
                let start = content.fill_buf().map_err(unreadable)?.trim_ascii_start();
                let is_json = start.starts_with(b"{") || start.starts_with(b"[");
                let content_type = if is_json { "application/json" } else { "text/csv" };
                let request = request.method("POST").header(CONTENT_TYPE, content_type);
                self.agent.run(request.body(SendBody::from_owned_reader(content)).map_err(is_unusable)?)
            }
        };
        sent.map_err(|error| match error {
            ureq::Error::BadUri(_) => QueryError::Url(self.options.url.clone()),
            error => QueryError::Unreachable { url: self.options.url.clone(), error },
        })
    }
}

/// Time for which a busy server asks its client to wait.
fn retry_delay(response: &Response<Body>) -> Option<Duration> {
    let is_busy = matches!(response.status().as_u16(), 429 | 503);
    let seconds = response.headers().get(RETRY_AFTER).filter(|_| is_busy)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds)).filter(|wait| *wait <= MAX_WAIT)
}

/// The path on this server to which a record has moved.
fn moved_to(response: &Response<Body>) -> Option<String> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    let location: http::Uri = location.to_str().ok()?.parse().ok()?;
    Some(location.path_and_query()?.to_string())
}

fn refusal(response: Response<Body>) -> QueryError {
    let status = response.status();
    let problem = read_json(response).unwrap_or_default();
    let Some(detail) = problem["detail"].as_str() else {
        return QueryError::Refused(format!("the server answers {status}; check --url and the path"));
    };
    let mut text = detail.to_owned();
    if status == http::StatusCode::UNAUTHORIZED {
        text.push_str(&format!("; set {API_KEY}"));
    }
    QueryError::Refused(text)
}

fn read_json(response: Response<Body>) -> Result<Value, QueryError> {
    let mut body = response.into_body();
    let bytes =
        body.with_config().limit(MAX_JSON).read_to_vec().map_err(|error| QueryError::Incomplete(error.into_io()))?;
    serde_json::from_slice(&bytes).map_err(|error| QueryError::NotJson(error.to_string()))
}

fn copy_to_stdout(mut from: impl Read) -> Result<(), QueryError> {
    let mut out = io::stdout().lock();
    let mut part = vec![0; 64 * 1024];
    loop {
        match from.read(&mut part).map_err(QueryError::Incomplete)? {
            0 => return out.flush().map_err(QueryError::Output),
            length => out.write_all(&part[..length]).map_err(QueryError::Output)?,
        }
    }
}

fn print_line(row: &Value) -> Result<(), QueryError> {
    table::print(&row.to_string()).map_err(QueryError::Output)
}

fn print_table(answer: &Value, first: &[&str]) -> Result<(), QueryError> {
    let note = |text: &str| drop(writeln!(io::stderr(), "{text}"));
    let rows = match &answer["data"] {
        Value::Array(rows) => rows,
        record => {
            let lines: Vec<[String; 2]> = flatten_record(record).into_iter().map(Into::into).collect();
            return table::print(&table::aligned(&lines)).map_err(QueryError::Output);
        }
    };
    let (lines, left_out) = layout_columns(rows, first, terminal_width());
    table::print(&table::aligned(&lines)).map_err(QueryError::Output)?;
    if !left_out.is_empty() {
        note(&format!("left out: {}; choose columns with fields=, or --format csv", left_out.join(" ")));
    }
    let pagination = &answer["pagination"];
    if pagination["has_more"] == true {
        let total = pagination["total"].as_u64().map(|total| format!(" of {total}")).unwrap_or_default();
        note(&format!("{}{total} rows; limit= for more, --format csv or ndjson for all", rows.len()));
    }
    Ok(())
}

/// The lines of a table with the columns that have values and fit into `width`, `first` in front, and the other names.
fn layout_columns(rows: &[Value], first: &[&str], width: usize) -> (Vec<Vec<String>>, Vec<String>) {
    let rows: Vec<Vec<(String, String)>> = rows.iter().map(flatten_record).collect();
    let mut names: Vec<&str> = Vec::new();
    let mut known = BTreeSet::new();
    for (name, value) in rows.iter().flatten() {
        if !value.is_empty() && known.insert(name.as_str()) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| first.iter().position(|other| other == name).unwrap_or(first.len()));
    let cell = |row: &[(String, String)], name: &str| {
        let value = row.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value);
        shortened_to(MAX_CELL, value).into_owned()
    };
    let mut lines: Vec<Vec<String>> = vec![Vec::new(); rows.len() + 1];
    let mut left_out = Vec::new();
    let mut used = 0;
    for name in names {
        let cells: Vec<String> =
            std::iter::once(name.to_owned()).chain(rows.iter().map(|row| cell(row, name))).collect();
        let widest = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) + 2;
        if used > 0 && used + widest > width + 2 {
            left_out.push(name.to_owned());
            continue;
        }
        used += widest;
        lines.iter_mut().zip(cells).for_each(|(line, cell)| line.push(cell));
    }
    (lines, left_out)
}

/// Width of the terminal in columns; without a terminal, everything fits.
fn terminal_width() -> usize {
    #[cfg(unix)]
    if io::stdout().is_terminal() {
        return rustix::termios::tcgetwinsize(io::stdout()).map_or(80, |size| usize::from(size.ws_col).max(40));
    }
    usize::MAX - 2
}

/// The values of a record by name (such as `score.value`), as text. Unknown values are empty.
fn flatten_record(record: &Value) -> Vec<(String, String)> {
    fn add(name: &str, value: &Value, out: &mut Vec<(String, String)>) {
        let text = match value {
            Value::Object(fields) => {
                for (field, value) in fields {
                    let name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
                    add(&name, value, out);
                }
                return;
            }
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Array(values) if values.iter().all(Value::is_string) => {
                values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        };
        // A terminal would obey control characters.
        out.push((name.to_owned(), text.replace(char::is_control, " ")));
    }
    let mut out = Vec::new();
    add("", record, &mut out);
    out
}
