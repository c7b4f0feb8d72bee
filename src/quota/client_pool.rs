//! Named pools of client addresses: a hosted assistant calls for all its users from a few shared addresses, which count
//! together on a number of their own.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::quota::ip_net::{IpNet, ParseCidrError};

/// Address ranges whose callers count together, written `NAME=CALLS@RANGE+RANGE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPool {
    name: String,
    daily_limit: u32,
    networks: Vec<IpNet>,
}

/// Who is counted where no key is sent.
#[derive(Clone, Copy, Debug)]
pub enum Client<'p> {
    /// One address, as far as addresses are told apart.
    Address(IpAddr),
    /// All addresses of a pool.
    ClientPool(&'p ClientPool),
}

/// The text is not a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsePoolError {
    /// It is not of the form of one.
    Form,
    /// The name is not one word.
    Name(String),
    /// The number of calls is none.
    Calls(String),
    /// A range is none.
    Range(String, ParseCidrError),
}

impl fmt::Display for ParsePoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str(
                "not a pool: write its name, its calls a day and its address ranges, such as \
                 assistant=5000@192.0.2.0/24+2001:db8::/32",
            ),
            Self::Name(name) => write!(f, "the name `{name}` must be of letters, digits, `-` and `_`"),
            Self::Calls(calls) => {
                write!(f, "`{calls}` is no number of calls: a whole number from 1 to {} is wanted", u32::MAX)
            }
            Self::Range(range, reason) => write!(f, "`{range}`: {reason}"),
        }
    }
}

impl std::error::Error for ParsePoolError {}

impl FromStr for ClientPool {
    type Err = ParsePoolError;

    fn from_str(text: &str) -> Result<Self, ParsePoolError> {
        let (name, rest) = text.trim().split_once('=').ok_or(ParsePoolError::Form)?;
        let (calls, ranges) = rest.split_once('@').ok_or(ParsePoolError::Form)?;
        let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
        if name.is_empty() || !name.chars().all(is_part) {
            return Err(ParsePoolError::Name(name.to_owned()));
        }
        let plain = !calls.is_empty() && calls.bytes().all(|byte| byte.is_ascii_digit());
        let daily_limit = calls.parse().ok().filter(|calls| plain && *calls > 0);
        let networks =
            ranges.split('+').map(|range| range.parse().map_err(|e| ParsePoolError::Range(range.to_owned(), e)));
        Ok(Self {
            name: name.to_owned(),
            daily_limit: daily_limit.ok_or_else(|| ParsePoolError::Calls(calls.to_owned()))?,
            networks: networks.collect::<Result<_, _>>()?,
        })
    }
}

impl ClientPool {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The calls that all its addresses have together in a UTC day.
    #[must_use]
    pub fn daily_limit(&self) -> u32 {
        self.daily_limit
    }
}

impl<'p> Client<'p> {
    /// Who is counted for `address`: the first of `pools` that it lies in, else the address.
    #[must_use]
    pub fn of(address: IpAddr, pools: &'p [ClientPool]) -> Self {
        let holds = |pool: &&ClientPool| pool.networks.iter().any(|network| network.contains(address));
        pools.iter().find(holds).map_or(Self::Address(address), Self::ClientPool)
    }
}

impl From<IpAddr> for Client<'_> {
    fn from(address: IpAddr) -> Self {
        Self::Address(address)
    }
}

impl<'p> From<&'p ClientPool> for Client<'p> {
    fn from(pool: &'p ClientPool) -> Self {
        Self::ClientPool(pool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_read_and_holds_its_addresses() {
        let pools: Vec<ClientPool> = ["a=5000@192.0.2.0/24+2001:db8::/32", "b_2=1@192.0.2.7+198.51.100.0/24"]
            .map(|text| text.parse().unwrap())
            .to_vec();
        assert_eq!((pools[0].name(), pools[0].daily_limit()), ("a", 5000));
        for (address, name) in [
            ("192.0.2.7", Some("a")),
            ("::ffff:192.0.2.7", Some("a")),
            ("2001:db8:1::9", Some("a")),
            ("198.51.100.9", Some("b_2")),
            ("203.0.113.1", None),
        ] {
            let found = match Client::of(address.parse().unwrap(), &pools) {
                Client::ClientPool(pool) => Some(pool.name()),
                Client::Address(_) => None,
            };
            assert_eq!(found, name, "{address}");
        }
    }

    #[test]
    fn what_is_no_pool_is_refused_with_the_mend() {
        for (text, words) in [
            ("a", "assistant=5000@192.0.2.0/24"),
            ("a=5", "assistant=5000@192.0.2.0/24"),
            ("=5@192.0.2.0/24", "the name `` must be of letters"),
            ("a b=5@192.0.2.0/24", "the name `a b` must be of letters"),
            ("a=0@192.0.2.0/24", "`0` is no number of calls"),
            ("a=+5@192.0.2.0/24", "`+5` is no number of calls"),
            ("a=5@", "``: not an address range"),
            ("a=5@192.0.2.1/24", "did you mean 192.0.2.0/24?"),
        ] {
            let told = text.parse::<ClientPool>().unwrap_err().to_string();
            assert!(told.contains(words), "{text}: {told}");
        }
    }
}
