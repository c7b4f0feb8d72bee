//! The running server: its own report at `/readyz`.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::cli::doctor::finding::Findings;
use data::SnapshotVersion;

const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a response in bytes.
const MAX_RESPONSE: u64 = 64 * 1024;
const CHECK: &str = "server.ready";

/// Queries the server that listens on `listen`. `current` is the release that it should serve, if one is named.
pub(super) fn check(listen: SocketAddr, current: Option<SnapshotVersion>, findings: &mut Findings) {
    if listen.port() == 0 {
        return;
    }
    match readiness(local(listen)) {
        Ok(response) => judge(&response, current, findings),
        Err(error) => findings.problem(
            CHECK,
            format!("the server runs, but {} does not answer: {error}", local(listen)),
            "check that --listen is the address of the running server, and its log; then restart it",
        ),
    }
}

/// The address at which this machine reaches a server that listens on `listen`.
fn local(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

fn readiness(address: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut response = Vec::new();
    stream.take(MAX_RESPONSE).read_to_end(&mut response)?;
    Ok(String::from_utf8_lossy(&response).into_owned())
}

fn judge(response: &str, current: Option<SnapshotVersion>, findings: &mut Findings) {
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or_default();
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |key: &str| body[key].as_str().unwrap_or("unknown").to_owned();
    let code = head.split(' ').nth(1).unwrap_or("no HTTP response");
    let (status, snapshot) = (text("status"), text("snapshot"));
    if code != "200" {
        let detail = format!("/readyz says {code} {status}: {}", text("reason"));
        findings.problem(CHECK, detail, "wait if it is starting or stopping; otherwise do what its log says");
    } else if status != "ready" {
        findings.problem(CHECK, format!("{status}: {}", text("reason")), "do what the log of the server says");
    } else if let Some(current) = current.map(|current| current.to_string()).filter(|current| *current != snapshot) {
        let detail =
            format!("the server serves {snapshot}, although {current} is current: it has refused that release");
        let remedy = format!("the log of the server says why; `indexer verify {current}` checks it");
        findings.problem(CHECK, detail, remedy);
    } else {
        findings.ok(CHECK, format!("ready, serves {snapshot}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::finding::{Status, status_of};

    #[test]
    fn only_a_ready_server_with_the_current_release_is_good() {
        let of = |status: u16, body: &str| {
            let mut findings = Findings::default();
            let response = format!("HTTP/1.1 {status} Something\r\ncontent-type: application/json\r\n\r\n{body}");
            judge(&response, Some("2026-11-20.1".parse().unwrap()), &mut findings);
            status_of(findings, CHECK)
        };
        assert_eq!(of(200, r#"{"status":"ready","snapshot":"2026-11-20.1"}"#), Some(Status::Ok));
        assert_eq!(of(200, r#"{"status":"ready","snapshot":"2026-11-13.1"}"#), Some(Status::Problem));
        let degraded = r#"{"status":"degraded","reason":"the disk is full","snapshot":"2026-11-20.1"}"#;
        assert_eq!(of(200, degraded), Some(Status::Problem));
        assert_eq!(of(503, r#"{"status":"stopping"}"#), Some(Status::Problem));
        let mut findings = Findings::default();
        judge("SSH-2.0-OpenSSH_9.2\r\n", None, &mut findings);
        assert_eq!(status_of(findings, CHECK), Some(Status::Problem));
    }

    #[test]
    fn a_server_on_all_addresses_is_reached_over_loopback() {
        for (listen, expected) in
            [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("192.0.2.1:80", "192.0.2.1:80")]
        {
            assert_eq!(local(listen.parse().unwrap()), expected.parse().unwrap());
        }
    }
}
