//! Address ranges allowed for webhook receivers.

use std::net::IpAddr;
use std::sync::LazyLock;

use auth::quota::IpRange;

/// Allowed receiver addresses: public ones, and ranges added by the operator.
#[derive(Clone, Debug, Default)]
pub struct Networks {
    pub further: Vec<IpRange>,
}

impl Networks {
    pub(crate) fn allow(&self, address: IpAddr) -> bool {
        is_public(address) || self.further.iter().any(|range| range.contains(address))
    }
}

/// The allocated part of IPv6: no loopback, local or multicast addresses, and none that embed an IPv4 address.
const GLOBAL_V6: &str = "2000::/3";

/// Ranges that are not public, of IPv6 within [`GLOBAL_V6`], from the IANA registry of special-purpose addresses.
const SPECIAL: [&str; 20] = [
    // This network.
    "0.0.0.0/8",
    // Private networks.
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    // Carrier-grade NAT.
    "100.64.0.0/10",
    // Loopback.
    "127.0.0.0/8",
    // Link-local, including the metadata services of clouds.
    "169.254.0.0/16",
    // The host agent of Azure. The range is public, but this address is served inside each virtual machine.
    "168.63.129.16/32",
    // Protocol assignments; of IPv6 such as Teredo, which embeds an IPv4 address.
    "192.0.0.0/24",
    "2001::/23",
    // Documentation.
    "192.0.2.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "2001:db8::/32",
    "3fff::/20",
    // 6to4 relays; 6to4, which embeds an IPv4 address.
    "192.88.99.0/24",
    "2002::/16",
    // Benchmarking.
    "198.18.0.0/15",
    // Multicast.
    "224.0.0.0/4",
    // Reserved; broadcast.
    "240.0.0.0/4",
];

fn is_public(address: IpAddr) -> bool {
    static RANGES: LazyLock<(IpRange, [IpRange; SPECIAL.len()])> = LazyLock::new(|| {
        let range = |text: &str| text.parse().expect("a range of the table");
        (range(GLOBAL_V6), SPECIAL.map(range))
    });
    let (global_v6, special) = &*RANGES;
    (address.is_ipv4() || global_v6.contains(address)) && !special.iter().any(|range| range.contains(address))
}
