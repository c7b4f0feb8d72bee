//! Client addresses: networks in CIDR form, and who is calling behind proxies.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A range of addresses, such as `10.0.0.0/8` or `fd00::/8`; a bare address is a range of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpNet {
    address: IpAddr,
    prefix: u8,
}

/// The text is not a range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseCidrError {
    /// The part before `/` is not an IP address.
    Address,
    /// The part after `/` is not a number of bits that such an address has.
    Prefix,
    /// The address has bits beyond the prefix: this is the range that begins there.
    Beyond(IpNet),
}

impl fmt::Display for ParseCidrError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address => f.write_str("not an address range: write one such as 10.0.0.0/8 or fd00::/8"),
            Self::Prefix => f.write_str("the part after `/` must be a number of bits, to 32 for IPv4 and 128 for IPv6"),
            Self::Beyond(network) => write!(f, "the address has bits beyond the prefix: did you mean {network}?"),
        }
    }
}

impl std::error::Error for ParseCidrError {}

impl IpNet {
    /// True where `address` lies in the range. An IPv4 address written as IPv6 (`::ffff:10.0.0.1`) is an IPv4 address.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        masked(address.to_canonical(), self.prefix) == self.address
            && self.address.is_ipv4() == address.to_canonical().is_ipv4()
    }
}

impl fmt::Display for IpNet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl FromStr for IpNet {
    type Err = ParseCidrError;

    fn from_str(text: &str) -> Result<Self, ParseCidrError> {
        let (address, prefix) = match text.trim().split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text.trim(), None),
        };
        let address: IpAddr = address.parse().map_err(|_| ParseCidrError::Address)?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => bits,
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok().filter(|prefix| *prefix <= bits).ok_or(ParseCidrError::Prefix)?
            }
            Some(_) => return Err(ParseCidrError::Prefix),
        };
        // `::ffff:10.0.0.0/104` is `10.0.0.0/8`: callers are compared as the IPv4 addresses they are.
        let (address, prefix) = match (address, address.to_canonical()) {
            (IpAddr::V6(_), IpAddr::V4(plain)) if prefix >= 96 => (IpAddr::V4(plain), prefix - 96),
            _ => (address, prefix),
        };
        let network = Self { address: masked(address, prefix), prefix };
        if network.address == address { Ok(network) } else { Err(ParseCidrError::Beyond(network)) }
    }
}

/// `address` with all bits beyond the first `prefix` cleared.
pub(crate) fn masked(address: IpAddr, prefix: u8) -> IpAddr {
    let prefix = u32::from(prefix);
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(prefix)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(prefix)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

/// The address of the client whose request came from `peer` with these `X-Forwarded-For` headers, in their order.
///
/// Read from the right: each proxy appends whom it heard from, so that an entry is believed only while the one who wrote
/// it is trusted. The first that is not a trusted proxy is the client; what cannot be read ends the search at the last
/// one that could.
#[must_use]
pub fn client<'h>(peer: IpAddr, forwarded_for: impl DoubleEndedIterator<Item = &'h str>, trusted: &[IpNet]) -> IpAddr {
    let mut client = peer.to_canonical();
    for entry in forwarded_for.rev().flat_map(|header| header.rsplit(',')) {
        if !trusted.iter().any(|network| network.contains(client)) {
            break;
        }
        let Some(before) = read_entry(entry.trim()) else { break };
        client = before.to_canonical();
    }
    client
}

/// Reads `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:4711`.
fn read_entry(entry: &str) -> Option<IpAddr> {
    let bracketed = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let with_port = || entry.parse().ok().map(|address: std::net::SocketAddr| address.ip());
    entry.parse().ok().or_else(with_port).or_else(bracketed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> IpNet {
        text.parse().unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_contains_its_addresses_only() {
        assert!(network("10.0.0.0/8").contains(ip("10.255.1.2")));
        assert!(network("10.0.0.0/8").contains(ip("::ffff:10.255.1.2")));
        assert!(!network("10.0.0.0/8").contains(ip("11.0.0.0")));
        assert!(!network("10.0.0.0/8").contains(ip("a00::")));
        assert!(network("0.0.0.0/0").contains(ip("203.0.113.9")));
        assert!(!network("0.0.0.0/0").contains(ip("2001:db8::1")));
        assert!(network("::/0").contains(ip("2001:db8::1")));
        assert!(!network("::/0").contains(ip("203.0.113.9")));
        assert!(network("fd00::/8").contains(ip("fdff::1")));
        assert!(network("192.0.2.7").contains(ip("192.0.2.7")));
        assert_eq!(network("::ffff:10.0.0.0/104"), network("10.0.0.0/8"));
    }

    #[test]
    fn what_is_no_network_is_refused_with_the_mend() {
        assert_eq!("10.0.0/8".parse::<IpNet>(), Err(ParseCidrError::Address));
        for text in ["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "::/129", "10.0.0.0/8/8"] {
            assert_eq!(text.parse::<IpNet>(), Err(ParseCidrError::Prefix), "{text}");
        }
        let beyond = "10.1.0.0/8".parse::<IpNet>().unwrap_err();
        assert_eq!(beyond.to_string(), "the address has bits beyond the prefix: did you mean 10.0.0.0/8?");
    }

    #[test]
    fn forwarded_addresses_are_believed_from_trusted_proxies_only_and_from_the_right() {
        let trusted = [network("10.0.0.0/8"), network("fd00::/8")];
        for (peer, headers, expected) in [
            ("203.0.113.9", vec!["198.51.100.1"], "203.0.113.9"),
            ("10.0.0.1", vec![], "10.0.0.1"),
            ("10.0.0.1", vec!["198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", vec!["1.2.3.4, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", vec!["1.2.3.4, 198.51.100.1, 10.2.0.1"], "198.51.100.1"),
            ("10.0.0.1", vec!["1.2.3.4", "198.51.100.1,10.2.0.1", "fd00::1"], "198.51.100.1"),
            ("10.0.0.1", vec!["198.51.100.1:4711"], "198.51.100.1"),
            ("10.0.0.1", vec!["[2001:db8::1]:4711"], "2001:db8::1"),
            ("10.0.0.1", vec!["[2001:db8::1]"], "2001:db8::1"),
            ("::ffff:10.0.0.1", vec!["::ffff:198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", vec!["198.51.100.1, unknown"], "10.0.0.1"),
            ("10.0.0.1", vec!["198.51.100.1, , 10.9.9.9"], "10.9.9.9"),
        ] {
            assert_eq!(client(ip(peer), headers.iter().copied(), &trusted), ip(expected), "{peer} {headers:?}");
        }
        assert_eq!(client(ip("10.0.0.1"), ["198.51.100.1"].into_iter(), &[]), ip("10.0.0.1"));
    }
}
