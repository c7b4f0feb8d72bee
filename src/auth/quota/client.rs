//! Clients counted without an API key.

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use crate::quota::IpRange;

/// What a client without a key has for a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// Hundredths of requests of programs.
    Programs,
    /// Rows that pages show.
    Rows,
    /// Names that are suggested while a person types.
    Names,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Client {
    /// Counted by its IPv4 /32, or by its IPv6 /64, /56 and /48.
    Address(IpAddr),
    /// Counted by its address (IPv4 /32, IPv6 /64) and with its network (IPv4 /24, IPv6 /48), for each [`Allowance`].
    Anonymous(Allowance, IpAddr),
    /// All addresses of the [`ClientPool`] of this name.
    Pool(Arc<str>),
    /// A sign-in to this e-mail address, existing or not, from this client, which is among the first of its network. Counted
    /// by account, and with its network.
    FirstSignIn(Arc<str>, IpAddr),
    /// As the variant before, after the first.
    FurtherSignIn(Arc<str>, IpAddr),
    KnownBrowsers(i64),
    Session([u8; 32]),
    /// Codes entered for this account after its password.
    Codes {
        account: i64,
        in_known_browser: bool,
    },
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

impl FromStr for ClientPool {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "invalid pool: use NAME=CALLS@RANGE+RANGE, e.g. assistant=5000@192.0.2.0/24+2001:db8::/32";
        let (name, rest) = text.trim().split_once('=').ok_or(form)?;
        let (calls, ranges) = rest.split_once('@').ok_or(form)?;
        let is_allowed = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
        if name.is_empty() || !name.chars().all(is_allowed) {
            return Err(format!("invalid pool name `{name}`: use letters, digits, `-` and `_`"));
        }
        let only_digits = calls.bytes().all(|byte| byte.is_ascii_digit());
        let daily_limit = calls.parse().ok().filter(|calls| only_digits && *calls > 0);
        let daily_limit = daily_limit
            .ok_or_else(|| format!("invalid number of calls `{calls}`: use a whole number from 1 to {}", u32::MAX))?;
        let range = |text: &str| text.parse::<IpRange>().map_err(|error| format!("`{text}`: {error}"));
        let ranges = ranges.split('+').map(range).collect::<Result<_, _>>()?;
        Ok(Self { name: name.into(), daily_limit, ranges })
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
            let error = text.parse::<ClientPool>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
