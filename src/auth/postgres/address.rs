//! Address of a PostgreSQL store and its connection settings, from a URL.
//!
//! `postgres://user@host:port/database`, with the parameters of libpq that the client knows, such as `options`,
//! `target_session_attrs` and `application_name`, several hosts, and a socket as `host=/run/postgresql`. Encryption is stricter
//! than libpq's: whenever it is used, the server's certificate and name are verified.
//!
//! - `sslmode=disable`: no encryption; the default for sockets and hosts on loopback.
//! - `sslmode=prefer`: encrypted if the server offers it.
//! - `sslmode=require` or `verify-full`: always encrypted; the default otherwise.
//! - `sslrootcert`: a PEM file with the only certificates to trust, by default those of the system.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use zeroize::Zeroizing;

/// Connect timeout per host, unless the URL sets another.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// A connection is lost if the other side does not acknowledge data for this long.
const TCP_TIMEOUT: Duration = Duration::from_secs(15);
const KEEPALIVE: Duration = Duration::from_secs(15);
const DEFAULT_PORT: u16 = 5432;

const EXAMPLE: &str = "example: postgres://venturedex@db.example.com/venturedex";

/// A URL as entered, maybe with a password: errors of settings show the text, so the store parses it when it is opened.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(Zeroizing<String>);

impl FromStr for StoreUrl {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(Zeroizing::new(text.trim().to_owned())))
    }
}

hide_debug!(StoreUrl);

#[derive(Clone)]
pub(crate) struct PostgresAddress {
    pub(crate) config: Config,
    pub(crate) root_file: Option<PathBuf>,
    /// The URL without password and parameters.
    pub(crate) place: String,
}

impl PostgresAddress {
    /// An error describes the mistake, without the URL.
    pub(crate) fn parse(url: &StoreUrl, password: Option<&str>) -> Result<Self, String> {
        let text: &str = &url.0;
        if !["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Err(format!("not a PostgreSQL URL; {EXAMPLE}"));
        }
        // A password may contain `?`.
        let start = text.find('@').unwrap_or(0);
        let (base, query) = match text[start..].split_once('?') {
            Some((_, query)) => (&text[..text.len() - query.len() - 1], query),
            None => (text, ""),
        };
        let (mut mode, mut root_file, mut others) = (None, None, Vec::new());
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let value = || form_urlencoded::parse(parameter.as_bytes()).next().map(|(_, value)| value.into_owned());
            match parameter.split_once('=').map_or(parameter, |(name, _)| name) {
                "sslmode" => mode = value(),
                "sslrootcert" => root_file = value().map(PathBuf::from),
                _ => others.push(parameter),
            }
        }
        let mut plain = Zeroizing::new(base.to_owned());
        if !others.is_empty() {
            plain.push('?');
            plain.push_str(&others.join("&"));
        }
        let mut config: Config = plain.parse().map_err(|error| format!("{}; {EXAMPLE}", with_causes(&error)))?;
        let (Some(user), Some(_)) = (config.get_user(), config.get_dbname()) else {
            return Err(format!("the URL must name a user and a database; {EXAMPLE}"));
        };
        if config.get_hosts().is_empty() {
            return Err(format!("the URL names no host; {EXAMPLE}"));
        }
        let place = display_url(user, &config);
        let mode = encryption(mode.as_deref(), &config)?;
        config.ssl_mode(mode);
        if let Some(password) = password {
            config.password(password);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("venturedex");
        }
        config.tcp_user_timeout(TCP_TIMEOUT).keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE / 3);
        config.keepalives_retries(3);
        Ok(Self { config, root_file, place })
    }

    /// Timeout for connecting to all hosts of the URL, one after the other, and starting a session on the last.
    pub(crate) fn connect_limit(&self) -> Duration {
        let host = self.config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        host * self.config.get_hosts().len() as u32 + Duration::from_secs(1)
    }

    pub(crate) fn setting(&self) -> String {
        format!("--store {}", self.place)
    }
}

hide_debug!(PostgresAddress);

fn display_url(user: &str, config: &Config) -> String {
    let port = |index: usize| {
        let ports = config.get_ports();
        ports.get(index).or(ports.first()).copied().unwrap_or(DEFAULT_PORT)
    };
    let hosts = config.get_hosts().iter().enumerate().map(|(index, host)| match host {
        Host::Tcp(host) if host.contains(':') => format!("[{host}]:{}", port(index)),
        Host::Tcp(host) => format!("{host}:{}", port(index)),
        #[cfg(unix)]
        Host::Unix(folder) => format!("{}:{}", folder.display(), port(index)),
    });
    let hosts = hosts.collect::<Vec<_>>().join(",");
    format!("postgres://{user}@{hosts}/{}", config.get_dbname().unwrap_or(user))
}

fn encryption(mode: Option<&str>, config: &Config) -> Result<SslMode, String> {
    let is_local = |host: &Host| match host {
        Host::Tcp(host) => {
            host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    let has_socket = config.get_hosts().iter().any(|host| !matches!(host, Host::Tcp(_)));
    match mode {
        // Nobody can eavesdrop on a socket, and it has no name to verify.
        None | Some("disable" | "prefer") if has_socket => Ok(SslMode::Disable),
        None if config.get_hosts().iter().all(is_local) => Ok(SslMode::Disable),
        Some("disable") => Ok(SslMode::Disable),
        Some("prefer") => Ok(SslMode::Prefer),
        None | Some("require" | "verify-full") => Ok(SslMode::Require),
        Some(_) => Err("sslmode is disable, prefer, require or verify-full".to_owned()),
    }
}

pub(crate) fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let errors = std::iter::successors(Some(error), |error| error.source());
    errors.map(|error| error.to_string()).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PostgresAddress, String> {
        PostgresAddress::parse(&text.parse().unwrap(), None)
    }

    #[test]
    fn a_url_is_read_and_its_password_is_shown_nowhere() {
        let url: StoreUrl = "postgres://ada:s3?cr3t@db.example.com:5433/accounts?application_name=x".parse().unwrap();
        let address = PostgresAddress::parse(&url, None).unwrap();
        assert_eq!(address.place, "postgres://ada@db.example.com:5433/accounts");
        assert_eq!(address.config.get_password(), Some(&b"s3?cr3t"[..]));
        for shown in [format!("{url:?}"), format!("{address:?}"), format!("{:?}", address.config)] {
            assert!(!shown.contains("cr3t"), "{shown}");
        }
        let with_file = PostgresAddress::parse(&url, Some("of a file")).unwrap();
        assert_eq!(with_file.config.get_password(), Some(&b"of a file"[..]));
    }

    #[test]
    fn encryption_is_required_unless_the_host_is_this_machine() {
        let mode = |text: &str| read(text).map(|address| address.config.get_ssl_mode());
        for (url, expected) in [
            ("postgres://a@db.example.com/a", SslMode::Require),
            ("postgres://a@127.0.0.1/a", SslMode::Disable),
            ("postgres://a@localhost:1/a", SslMode::Disable),
            ("postgres://a@/a?host=/run/postgresql", SslMode::Disable),
            ("postgres://a@127.0.0.1,db.example.com/a", SslMode::Require),
            ("postgres://a@db.example.com/a?sslmode=disable", SslMode::Disable),
            ("postgres://a@db.example.com/a?sslmode=prefer", SslMode::Prefer),
            ("postgres://a@127.0.0.1/a?sslmode=verify-full", SslMode::Require),
        ] {
            assert_eq!(mode(url), Ok(expected), "{url}");
        }
        assert!(mode("postgres://a@b/a?sslmode=allow").unwrap_err().contains("verify-full"));
    }

    #[test]
    fn what_is_missing_in_a_url_is_reported_without_its_password() {
        for url in [
            "ada:s3cr3t@db/x",
            "mysql://ada:s3cr3t@db/x",
            "postgres://ada:s3cr3t@db",
            "postgres://db/x",
            "postgres://ada:s3cr3t@/x",
            "postgres://ada:s3cr3t@db:port/x",
            "postgres://ada:s3cr3t@db/x?unknown=1",
        ] {
            let error = read(url).unwrap_err();
            assert!(error.contains("example: postgres://") && !error.contains("s3cr3t"), "{url}: {error}");
        }
    }
}
