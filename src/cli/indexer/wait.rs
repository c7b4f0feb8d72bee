//! Waits until servers serve a release: `indexer build --wait-for URL`.

use std::fmt;
use std::io::{self, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use ureq::Agent;

use crate::app::settings::public_url;
use crate::cli::indexer::publishing::parse_time;
use data::SnapshotVersion;
use platform::{USER_AGENT, tls};

const INTERVAL: Duration = Duration::from_millis(500);
/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a response in bytes.
const MAX_RESPONSE: u64 = 64 << 10;

#[derive(Args)]
pub(super) struct Waiting {
    /// Wait until the server at this address serves the release, and exit with 5 if it does not; once for each server, not the
    /// address of a balancer
    #[arg(long, value_name = "URL", value_parser = public_url)]
    wait_for: Vec<String>,
    /// Longest wait for all servers, such as 5m or 90s
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_time)]
    wait_limit: i64,
}

/// The answer of a server at `/readyz`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ServerJson {
    url: String,
    /// The release that it serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    serves: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// The reason of its status, or why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The servers that were waited for.
#[derive(Default, Serialize)]
pub(super) struct WaitedJson {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    servers: Vec<ServerJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
}

impl Waiting {
    pub(super) fn is_wanted(&self) -> bool {
        !self.wait_for.is_empty()
    }

    /// Asks each server until all serve the release or the time is over. Blocks.
    pub(super) fn wait(&self, version: SnapshotVersion) -> WaitedJson {
        let began = Instant::now();
        let limit = Duration::from_secs(self.wait_limit.unsigned_abs());
        let agent = agent(self.wait_for.iter().any(|url| url.starts_with("https:")));
        let name = version.to_string();
        let mut servers: Vec<ServerJson> = self.wait_for.iter().map(|url| ServerJson::silent(url, "")).collect();
        loop {
            for server in servers.iter_mut().filter(|server| !server.serves(&name)) {
                *server = ask(&agent, &server.url);
            }
            let is_done = servers.iter().all(|server| server.serves(&name));
            if is_done || began.elapsed() >= limit {
                let message = (!is_done).then(|| failure(&name, limit, &servers));
                return WaitedJson { servers, code: message.as_ref().map(|_| "not_served"), message };
            }
            sleep(INTERVAL.min(limit.saturating_sub(began.elapsed())));
        }
    }
}

impl WaitedJson {
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        self.servers.iter().try_for_each(|server| writeln!(out, "  {server}"))
    }
}

impl ServerJson {
    fn silent(url: &str, reason: impl fmt::Display) -> Self {
        Self { url: url.to_owned(), serves: None, status: None, reason: Some(reason.to_string()) }
    }

    /// Servers that stop or serve a damaged release name it, too.
    fn serves(&self, version: &str) -> bool {
        self.serves.as_deref() == Some(version) && matches!(self.status.as_deref(), Some("ready" | "degraded"))
    }
}

impl fmt::Display for ServerJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, serves, status, reason } = self;
        match serves {
            Some(version) => write!(f, "{url} serves {version}")?,
            None => write!(f, "{url} serves nothing")?,
        }
        let unusual = status.as_deref().filter(|status| *status != "ready");
        match (unusual, reason.as_deref()) {
            (Some(status), Some(reason)) => write!(f, " ({status}: {reason})"),
            (Some(word), None) | (None, Some(word)) => write!(f, " ({word})"),
            (None, None) => Ok(()),
        }
    }
}

fn agent(uses_tls: bool) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(TIMEOUT))
        .user_agent(USER_AGENT);
    if uses_tls { config.tls_config(tls::system_roots()).build().into() } else { config.build().into() }
}

fn ask(agent: &Agent, url: &str) -> ServerJson {
    let answer = agent
        .get(format!("{url}/readyz"))
        .call()
        .and_then(|mut response| response.body_mut().with_config().limit(MAX_RESPONSE).read_to_string());
    match answer {
        Ok(body) => understand(url, &body),
        Err(error) => ServerJson::silent(url, format_args!("no answer: {error}")),
    }
}

fn understand(url: &str, body: &str) -> ServerJson {
    let answer: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |key: &str| answer[key].as_str().map(str::to_owned);
    match text("status") {
        Some(status) => {
            ServerJson { url: url.to_owned(), serves: text("snapshot"), status: Some(status), reason: text("reason") }
        }
        None => ServerJson::silent(url, "not the answer of a VentureDex server at /readyz: check the URL"),
    }
}

fn failure(version: &str, limit: Duration, servers: &[ServerJson]) -> String {
    let others = servers.iter().filter(|server| !server.serves(version)).map(ServerJson::to_string);
    let others = others.collect::<Vec<_>>().join("; ");
    format!(
        "{version} is published, but not served by all after {} seconds: {others}; see the logs of these servers, and wait for \
         longer with --wait-limit if they only need time",
        limit.as_secs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_that_is_ready_with_the_release_serves_it() {
        let of = |body: &str| understand("http://a", body);
        assert!(of(r#"{"status":"ready","snapshot":"2026-11-20.1"}"#).serves("2026-11-20.1"));
        let degraded = of(r#"{"status":"degraded","reason":"the disk is full","snapshot":"2026-11-20.1"}"#);
        assert!(degraded.serves("2026-11-20.1") && !degraded.serves("2026-11-20.2"));
        for body in [
            r#"{"status":"stopping","snapshot":"2026-11-20.1"}"#,
            r#"{"status":"damaged","snapshot":"2026-11-20.1"}"#,
            r#"{"status":"not_ready","snapshot":null}"#,
            r#"{"snapshot":"2026-11-20.1"}"#,
            "<html>",
            "",
        ] {
            assert!(!of(body).serves("2026-11-20.1"), "{body}");
        }
        let servers = [degraded, of(r#"{"status":"ready","snapshot":"2026-11-13.1"}"#), of("")];
        assert_eq!(
            failure("2026-11-20.1", Duration::from_secs(9), &servers),
            "2026-11-20.1 is published, but not served by all after 9 seconds: http://a serves 2026-11-13.1; http://a serves \
             nothing (not the answer of a VentureDex server at /readyz: check the URL); see the logs of these servers, and \
             wait for longer with --wait-limit if they only need time"
        );
        assert_eq!(servers[0].to_string(), "http://a serves 2026-11-20.1 (degraded: the disk is full)");
    }
}
