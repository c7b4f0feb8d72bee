//! Address ranges allowed for webhook receivers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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

/// Ranges that are not public, from the IANA registry of special-purpose addresses.
const SPECIAL_V4: [(Ipv4Addr, u32); 16] = [
    // This network.
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    // Private networks.
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Carrier-grade NAT.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // Loopback.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local, including the metadata services of clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // The host agent of Azure. The range is public, but this address is served inside each virtual machine.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // Protocol assignments.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation.
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // 6to4 relays.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    // Benchmarking.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    // Multicast.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    // Reserved; broadcast.
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The allocated part of IPv6: no loopback, local or multicast addresses, and none that embed an IPv4 address.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Ranges within [`GLOBAL_V6`] that are not public.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    // Protocol assignments such as Teredo, which embeds an IPv4 address.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation.
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
    // 6to4, which embeds an IPv4 address.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
];

fn is_public(address: IpAddr) -> bool {
    let in_v4 = |address: Ipv4Addr, (network, prefix): (Ipv4Addr, u32)| {
        (address.to_bits() ^ network.to_bits()).leading_zeros() >= prefix
    };
    let in_v6 = |address: Ipv6Addr, (network, prefix): (Ipv6Addr, u32)| {
        (address.to_bits() ^ network.to_bits()).leading_zeros() >= prefix
    };
    match address {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|range| in_v4(address, *range)),
        IpAddr::V6(address) => in_v6(address, GLOBAL_V6) && !SPECIAL_V6.iter().any(|range| in_v6(address, *range)),
    }
}
