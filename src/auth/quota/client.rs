//! Clients counted without an API key.

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use crate::quota::IpRange;
use crate::quota::ip_range::ParseIpRangeError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Client {
    /// Counted by its IPv4 /32, or by its IPv6 /64, /56 and /48.
    Address(IpAddr),
    /// All addresses of the [`ClientPool`] of this name.
    Pool(Arc<str>),
    /// A sign-in to this e-mail address, existing or not, from this client. Counted by account, and with its network.
    SignIn(Arc<str>, IpAddr),
    KnownBrowsers(i64),
    Session([u8; 32]),
    /// Codes entered for this account after its password.
    Codes(i64),
    /// E-mails to this address, with an account or without.
    Mailbox(Arc<str>),
}

/// Address ranges that share one daily limit, written `NAME=CALLS@RANGE+RANGE`, for hosted assistants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPool {
    name: Arc<str>,
    /// Calls per UTC day, for all its addresses together.
    pub daily_limit: u32,
    ranges: Vec<IpRange>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParsePoolError {
    #[error("invalid pool: use NAME=CALLS@RANGE+RANGE, e.g. assistant=5000@192.0.2.0/24+2001:db8::/32")]
    Form,
    #[error("invalid pool name `{0}`: use letters, digits, `-` and `_`")]
    Name(String),
    #[error("invalid number of calls `{0}`: use a whole number from 1 to {max}", max = u32::MAX)]
    Calls(String),
    #[error("`{0}`: {1}")]
    Range(String, ParseIpRangeError),
}

impl FromStr for ClientPool {
    type Err = ParsePoolError;

    fn from_str(text: &str) -> Result<Self, ParsePoolError> {
        let (name, rest) = text.trim().split_once('=').ok_or(ParsePoolError::Form)?;
        let (calls, ranges) = rest.split_once('@').ok_or(ParsePoolError::Form)?;
        let is_allowed = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
        if name.is_empty() || !name.chars().all(is_allowed) {
            return Err(ParsePoolError::Name(name.to_owned()));
        }
        let only_digits = calls.bytes().all(|byte| byte.is_ascii_digit());
        let daily_limit = calls.parse().ok().filter(|calls| only_digits && *calls > 0);
        let ranges = ranges.split('+').map(|text| text.parse().map_err(|e| ParsePoolError::Range(text.to_owned(), e)));
        Ok(Self {
            name: name.into(),
            daily_limit: daily_limit.ok_or_else(|| ParsePoolError::Calls(calls.to_owned()))?,
            ranges: ranges.collect::<Result<_, _>>()?,
        })
    }
}

impl ClientPool {
    pub fn find(pools: &[Self], address: IpAddr) -> Option<&Self> {
        pools.iter().find(|pool| pool.ranges.iter().any(|range| range.contains(address)))
    }

    pub fn client(&self) -> Client {
        Client::Pool(self.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_pool_that_contains_an_address_is_found() {
        let pools: Vec<ClientPool> = ["a=5000@192.0.2.0/24+2001:db8::/32", "b_2=1@192.0.2.7+198.51.100.0/24"]
            .map(|text| text.parse().unwrap())
            .to_vec();
        assert_eq!((&*pools[0].name, pools[0].daily_limit), ("a", 5000));
        for (address, expected) in [
            ("192.0.2.7", Some("a")),
            ("::ffff:192.0.2.7", Some("a")),
            ("2001:db8:1::9", Some("a")),
            ("198.51.100.9", Some("b_2")),
            ("203.0.113.1", None),
        ] {
            let found = ClientPool::find(&pools, address.parse().unwrap());
            assert_eq!(found.map(|pool| &*pool.name), expected, "{address}");
        }
    }

    #[test]
    fn an_invalid_pool_is_rejected_with_what_is_accepted() {
        for (text, expected) in [
            ("a", "assistant=5000@192.0.2.0/24"),
            ("a=5", "assistant=5000@192.0.2.0/24"),
            ("=5@192.0.2.0/24", "invalid pool name ``: use letters"),
            ("a b=5@192.0.2.0/24", "invalid pool name `a b`: use letters"),
            ("a=@192.0.2.0/24", "invalid number of calls ``"),
            ("a=0@192.0.2.0/24", "invalid number of calls `0`"),
            ("a=+5@192.0.2.0/24", "invalid number of calls `+5`"),
            ("a=5@", "``: invalid address range"),
            ("a=5@192.0.2.1/24", "did you mean 192.0.2.0/24?"),
        ] {
            let error = text.parse::<ClientPool>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
