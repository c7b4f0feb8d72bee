//! HTTP client that sends messages to webhook receivers.

use std::fmt;
use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{Request, Uri};
use ureq::Agent;
use ureq::config::Config;
use ureq::tls::TlsConfig;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

use crate::alerts::webhook::{Networks, WebhookSecret, WebhookUrl};
use auth::hide_debug;
use platform::{USER_AGENT, tls};

/// Timeout from the name look-up to the end of the response.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RESPONSE: u64 = 64 * 1024;
/// Maximum number of resolved addresses: as many as the HTTP client tries.
const MAX_ADDRESSES: usize = 16;

#[derive(Clone, Copy, Debug)]
pub struct WebhookMessage<'a> {
    /// The same for each attempt, so that a receiver recognizes duplicates. Letters, digits, `_` and `-`.
    pub id: &'a str,
    /// Time of this attempt in Unix seconds: receivers reject old ones.
    pub timestamp: i64,
    /// JSON.
    pub body: &'a [u8],
    /// Not empty; two while a new secret replaces an old one.
    pub secrets: &'a [WebhookSecret],
}

/// Response of the receiver; its text is for pages and logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Delivered,
    /// Status 410: the receiver wants no more messages.
    Gone,
    Refused(u16),
}

impl fmt::Display for DeliveryOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delivered => f.write_str("delivered"),
            Self::Gone => f.write_str("the receiver responded with 410: it wants no more messages"),
            Self::Refused(status @ 300..400) => {
                write!(f, "the receiver responded with {status}: redirects are not followed, enter the final URL")
            }
            Self::Refused(status) => write!(f, "the receiver responded with {status}: it must respond with 200 to 299"),
        }
    }
}

/// Reason for a missing response, for pages and logs: without the URL or the addresses of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    #[error("timeout: the receiver must respond within {} seconds, and may process the message later", TIMEOUT.as_secs())]
    Timeout,
    #[error("no trusted TLS connection: the receiver needs a valid certificate for the host of its URL")]
    Tls,
    #[error("the host has an address that is not public: let its name lead to public addresses only")]
    NotPublic,
    #[error("the host has no address: check its name in the DNS")]
    NoAddress,
    #[error("no connection, or closed without a response: check that the receiver runs and that its port is open")]
    NoConnection,
    #[error("the response is not valid HTTP/1.1: check that the receiver is a web server")]
    InvalidResponse,
    #[error("invalid message id: use letters, digits, `_` and `-`")]
    InvalidId,
}

type LookUp = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// Sends each message on a new connection, without redirects or proxies.
#[derive(Clone, Debug)]
pub struct WebhookClient {
    agent: Agent,
}

impl WebhookClient {
    /// Loads the system's certificates, which takes some milliseconds: share the client.
    pub fn new(networks: Networks) -> Self {
        let look_up = |host: &str, port: u16| Ok((host, port).to_socket_addrs()?.collect());
        Self::with(networks, tls::system_roots(), Arc::new(look_up), TIMEOUT)
    }

    pub(super) fn with(networks: Networks, tls: TlsConfig, look_up: Arc<LookUp>, timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .https_only(true)
            .http_status_as_error(false)
            .max_redirects(0)
            // A proxy would resolve the name itself.
            .proxy(None)
            // No connection is reused, so that addresses are checked for each message.
            .max_idle_connections(0)
            .timeout_global(Some(timeout))
            .user_agent(USER_AGENT)
            .tls_config(tls)
            .build();
        let resolver = CheckedResolver { networks, look_up };
        Self { agent: Agent::with_parts(config, DefaultConnector::default(), resolver) }
    }

    /// Sends a message once; blocks for at most ten seconds. After an error the receiver may still have got it.
    pub fn send(&self, url: &WebhookUrl, message: &WebhookMessage<'_>) -> Result<DeliveryOutcome, SendError> {
        let WebhookMessage { id, timestamp, body, secrets } = *message;
        let signatures: Vec<String> = secrets.iter().map(|secret| secret.sign(id, timestamp, body)).collect();
        let request = Request::post(&url.uri)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signatures.join(" "))
            .body(body)
            .map_err(|_| SendError::InvalidId)?;
        let response = self.agent.run(request).map_err(|error| SendError::from_ureq(&error))?;
        let outcome = match response.status().as_u16() {
            200..300 => DeliveryOutcome::Delivered,
            410 => DeliveryOutcome::Gone,
            status => DeliveryOutcome::Refused(status),
        };
        // Read the body: a receiver that cannot send it may log a failure. The status counts even if it breaks off.
        let _ = io::copy(&mut response.into_body().into_reader().take(MAX_RESPONSE), &mut io::sink());
        Ok(outcome)
    }
}

impl SendError {
    fn from_ureq(error: &ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::Timeout,
            ureq::Error::HostNotFound => Self::NoAddress,
            ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => Self::InvalidResponse,
            ureq::Error::Other(error) => error.downcast_ref().copied().unwrap_or(Self::NoConnection),
            error if tls::is_tls_error(error) => Self::Tls,
            _ => Self::NoConnection,
        }
    }
}

/// Resolves a host if all its addresses are allowed. The client connects to these: another look-up might differ.
struct CheckedResolver {
    networks: Networks,
    look_up: Arc<LookUp>,
}

impl Resolver for CheckedResolver {
    fn resolve(&self, uri: &Uri, _: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let host = uri.host().ok_or(ureq::Error::HostNotFound)?;
        let port = uri.port_u16().unwrap_or(443);
        let found = match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => self.look_up(host.to_owned(), port, timeout)?,
        };
        // Reject even partly allowed results: a name with both kinds of addresses is a mistake or an attack.
        if !found.iter().all(|address| self.networks.allow(address.ip())) {
            return Err(ureq::Error::Other(Box::new(SendError::NotPublic)));
        }
        let mut addresses = self.empty();
        found.into_iter().take(MAX_ADDRESSES).for_each(|address| addresses.push(address));
        if addresses.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(addresses) }
    }
}

impl CheckedResolver {
    /// Resolves on a thread of its own, which may outlive `timeout`: the look-up of the system has none.
    fn look_up(&self, host: String, port: u16, timeout: NextTimeout) -> Result<Vec<SocketAddr>, ureq::Error> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let look_up = Arc::clone(&self.look_up);
        thread::Builder::new().name("webhook-dns".to_owned()).spawn(move || {
            let _ = sender.send(look_up(&host, port));
        })?;
        match receiver.recv_timeout(*timeout.after) {
            Ok(found) => found.map_err(|_| ureq::Error::HostNotFound),
            Err(mpsc::RecvTimeoutError::Timeout) => Err(ureq::Error::Timeout(timeout.reason)),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(ureq::Error::HostNotFound),
        }
    }
}

hide_debug!(CheckedResolver);
