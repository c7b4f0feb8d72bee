//! Address ranges in CIDR notation, and the client's address behind proxies.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net};

/// A range of addresses, e.g. `10.0.0.0/8` or `fd00::/8`; a bare address is a range of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpRange(IpNet);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseIpRangeError {
    #[error("invalid address range: use CIDR notation, e.g. 10.0.0.0/8 or fd00::/8")]
    Address,
    #[error("invalid prefix length after `/`: use 0 to 32 for IPv4, 0 to 128 for IPv6")]
    Prefix,
    /// Holds the range that begins at the network address.
    #[error("the address has bits beyond the prefix: did you mean {0}?")]
    HostBits(IpNet),
}

impl IpRange {
    /// True if the range is so large that it includes clients: below /8, for IPv6 below /16.
    pub fn has_clients(&self) -> bool {
        self.0.prefix_len() < if self.0.addr().is_ipv4() { 8 } else { 16 }
    }

    /// True if the range has more public addresses than the proxies of one service: more than a /24, for IPv6 a /48.
    pub fn is_wide_and_public(&self) -> bool {
        let is_wide = self.0.prefix_len() < if self.0.addr().is_ipv4() { 24 } else { 48 };
        is_wide && !Self::PRIVATE.iter().any(|text| text.parse::<IpNet>().is_ok_and(|range| range.contains(&self.0)))
    }

    /// Ranges that are not routed between networks.
    const PRIVATE: [&str; 8] = [
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "fc00::/7",
        "fe80::/10",
    ];

    /// An IPv4 address written as IPv6 (`::ffff:10.0.0.1`) counts as the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for IpRange {
    type Err = ParseIpRangeError;

    fn from_str(text: &str) -> Result<Self, ParseIpRangeError> {
        let text = text.trim();
        let (address, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let address: IpAddr = address.parse().map_err(|_| ParseIpRangeError::Address)?;
        let range = match prefix {
            None => IpNet::from(address),
            Some(prefix) => format!("{address}/{prefix}").parse().map_err(|_| ParseIpRangeError::Prefix)?,
        };
        // `::ffff:10.0.0.0/104` is `10.0.0.0/8`: clients are compared by their IPv4 address.
        let range = match (range, address.to_canonical()) {
            (IpNet::V6(range), IpAddr::V4(address)) if range.prefix_len() >= 96 => {
                Ipv4Net::new(address, range.prefix_len() - 96).expect("96 + 32 = 128").into()
            }
            _ => range,
        };
        if range.trunc() == range { Ok(Self(range)) } else { Err(ParseIpRangeError::HostBits(range.trunc())) }
    }
}

pub type ClientNetwork = IpNet;

/// Networks in which a client is counted, largest first, with their multiples of its limit; itself last, with 1.
///
/// An IPv6 network of one machine is a /64, and a customer gets a /56 or a /48, which must not count as 65,536 clients. An IPv4
/// address is counted on its own: a /24 has 256 addresses, which carriers share among many clients.
pub fn client_networks(address: IpAddr) -> [Option<(ClientNetwork, u32)>; 3] {
    let address = address.to_canonical();
    match address {
        IpAddr::V4(_) => [None, None, Some((address.into(), 1))],
        IpAddr::V6(_) => {
            [(48, 16), (56, 4), (64, 1)].map(|(prefix, multiple)| Some((network(address, prefix), multiple)))
        }
    }
}

/// The network whose sign-ins are counted and take turns together: an IPv4 /24 or an IPv6 /48.
pub(crate) fn sign_in_network(address: IpAddr) -> ClientNetwork {
    let address = address.to_canonical();
    network(address, if address.is_ipv4() { 24 } else { 48 })
}

/// The network of an address. `prefix` must be valid for its family.
fn network(address: IpAddr, prefix: u8) -> ClientNetwork {
    IpNet::new(address, prefix).expect("the prefix fits the address family").trunc()
}

/// Client address of a request from `peer` with these `X-Forwarded-For` headers, in order.
///
/// Read from the right: each proxy appends the address that it received the request from, so an entry is trusted only
/// if its proxy is. The first untrusted address is the client. An entry that cannot be parsed ends the search.
pub fn client_address<'h>(
    peer: IpAddr,
    forwarded_for: impl DoubleEndedIterator<Item = &'h str>,
    trusted: &[IpRange],
) -> IpAddr {
    let mut client = peer.to_canonical();
    for entry in forwarded_for.rev().flat_map(|header| header.rsplit(',')) {
        if !trusted.iter().any(|range| range.contains(client)) {
            break;
        }
        let Some(previous) = parse_entry(entry.trim()) else { break };
        client = previous.to_canonical();
    }
    client
}

/// Parses `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:4711`.
fn parse_entry(entry: &str) -> Option<IpAddr> {
    let bracketed = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let with_port = || entry.parse().ok().map(|address: std::net::SocketAddr| address.ip());
    entry.parse().ok().or_else(with_port).or_else(bracketed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> IpRange {
        text.parse().unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_contains_its_addresses_only() {
        assert!(range("10.0.0.0/8").contains(ip("10.255.1.2")));
        assert!(range("10.0.0.0/8").contains(ip("::ffff:10.255.1.2")));
        assert!(!range("10.0.0.0/8").contains(ip("11.0.0.0")));
        assert!(!range("10.0.0.0/8").contains(ip("a00::")));
        assert!(range("0.0.0.0/0").contains(ip("203.0.113.9")));
        assert!(!range("0.0.0.0/0").contains(ip("2001:db8::1")));
        assert!(range("::/0").contains(ip("2001:db8::1")));
        assert!(!range("::/0").contains(ip("203.0.113.9")));
        assert!(range("fd00::/8").contains(ip("fdff::1")));
        assert!(range("192.0.2.7").contains(ip("192.0.2.7")));
        assert_eq!(range("::ffff:10.0.0.0/104"), range("10.0.0.0/8"));
    }

    #[test]
    fn an_invalid_range_is_rejected_with_the_nearest_valid_one() {
        assert_eq!("10.0.0/8".parse::<IpRange>(), Err(ParseIpRangeError::Address));
        for text in ["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "::/129", "10.0.0.0/8/8"] {
            assert_eq!(text.parse::<IpRange>(), Err(ParseIpRangeError::Prefix), "{text}");
        }
        for (text, expected) in [("10.1.0.0/8", "10.0.0.0/8"), ("::ffff:10.1.0.0/104", "10.0.0.0/8")] {
            let error = text.parse::<IpRange>().unwrap_err().to_string();
            assert_eq!(error, format!("the address has bits beyond the prefix: did you mean {expected}?"));
        }
    }

    #[test]
    fn forwarded_addresses_are_trusted_from_trusted_proxies_only_and_from_the_right() {
        let trusted = [range("10.0.0.0/8"), range("fd00::/8")];
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
            let client = client_address(ip(peer), headers.iter().copied(), &trusted);
            assert_eq!(client, ip(expected), "{peer} {headers:?}");
        }
        assert_eq!(client_address(ip("10.0.0.1"), ["198.51.100.1"].into_iter(), &[]), ip("10.0.0.1"));
    }
}
