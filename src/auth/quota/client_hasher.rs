//! Client addresses are stored only as keyed hashes. The secret never leaves the process.

use std::net::IpAddr;

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::derived_secret::mac;
use crate::quota::ip_range::{ClientNetwork, client_networks, sign_in_network};
use crate::quota::{Allowance, Client, NETWORK_MULTIPLE};

/// Networks that get their first attempts to sign in to an account, before those that have not tried yet have to wait.
const NEW_NETWORKS_OF_ACCOUNT: u32 = 17;

/// Networks that get all further attempts to sign in to an account, before all that have tried have to wait.
const NETWORKS_OF_ACCOUNT: u32 = 2;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientRange {
    pub(crate) hash: u64,
    multiple: u32,
}

impl ClientRange {
    /// The range's limit if one client has `limit`.
    pub(crate) fn limit(&self, limit: u32) -> u32 {
        limit.saturating_mul(self.multiple)
    }

    /// Part of a client's `limit` used by the range's `count`: all of it if the range has reached its own.
    pub(crate) fn used(&self, count: u32, limit: u32) -> u32 {
        count.saturating_sub(self.limit(limit) - limit)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ClientHasher(Hmac<Sha256>);

impl ClientHasher {
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        Self(mac(secret))
    }

    pub(crate) fn derived(&self, salt: &[u8]) -> Self {
        Self::new(&self.0.clone().chain_update(salt).finalize().into_bytes().into())
    }

    /// Ranges in which a client is counted, largest first, the client itself last.
    pub(crate) fn ranges(&self, client: &Client) -> [Option<ClientRange>; 3] {
        let range = |multiple: u32, hash: u64| Some(ClientRange { hash, multiple });
        let one = |purpose: u8, bytes: &[u8]| [None, None, range(1, self.hash(purpose, bytes))];
        match client {
            Client::Address(address) => client_networks(*address).map(|network| {
                let (network, multiple) = network?;
                range(multiple, self.hash(b'a', &bytes_of(network)))
            }),
            Client::Anonymous(allowance, address) => {
                let network = client_networks(*address)[2].expect("the last network is the client").0;
                let [of_network, of_address] = match allowance {
                    Allowance::Programs => [b'P', b'q'],
                    Allowance::Rows => [b'R', b'r'],
                    Allowance::Names => [b'N', b'y'],
                };
                [
                    None,
                    range(NETWORK_MULTIPLE, self.hash(of_network, &bytes_of(sign_in_network(*address)))),
                    range(1, self.hash(of_address, &bytes_of(network))),
                ]
            }
            // Guesses from one network do not keep the owner from signing in from another.
            Client::FirstSignIn(email, address) => [
                None,
                range(NEW_NETWORKS_OF_ACCOUNT, self.hash(b'f', email.as_bytes())),
                range(1, self.hash(b'w', &from_network(email, *address))),
            ],
            Client::FurtherSignIn(email, address) => [
                None,
                range(NETWORKS_OF_ACCOUNT, self.hash(b't', email.as_bytes())),
                range(1, self.hash(b'n', &from_network(email, *address))),
            ],
            Client::Pool(name) => one(b'p', name.as_bytes()),
            Client::KnownBrowsers(account) => one(b'b', &account.to_be_bytes()),
            Client::Session(digest) => one(b's', digest),
            Client::Codes { account, in_known_browser } => {
                one(if *in_known_browser { b'k' } else { b'c' }, &account.to_be_bytes())
            }
            Client::Mailbox(email) => one(b'm', email.as_bytes()),
        }
    }

    /// Hash of the client itself; for an IPv6 address, of its /64.
    pub(crate) fn client(&self, client: &Client) -> u64 {
        self.ranges(client)[2].expect("the last range is the client").hash
    }

    fn hash(&self, purpose: u8, bytes: &[u8]) -> u64 {
        let hash = self.0.clone().chain_update([purpose]).chain_update(bytes).finalize().into_bytes();
        u64::from_be_bytes(*hash.first_chunk().expect("a SHA-256 has 32 bytes"))
    }
}

/// The network of a client (IPv4 /24, IPv6 /48), and an e-mail address.
fn from_network(email: &str, address: IpAddr) -> Vec<u8> {
    [&bytes_of(sign_in_network(address))[..], email.as_bytes()].concat()
}

/// The address of a network, as IPv6, and the length of its prefix.
fn bytes_of(network: ClientNetwork) -> [u8; 17] {
    let address = match network.addr() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    let mut bytes = [network.prefix_len(); 17];
    bytes[..16].copy_from_slice(&address.octets());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Client {
        Client::Address(text.parse().unwrap())
    }

    #[test]
    fn hashes_are_those_of_hmac_sha_256() {
        let mut expected = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&[9; 32]).unwrap();
        expected.update(b"ptext");
        let expected = expected.finalize().into_bytes();
        let pool = Client::Pool("text".into());
        assert_eq!(ClientHasher::new(&[9; 32]).client(&pool).to_be_bytes(), expected[..8]);
    }

    #[test]
    fn hashes_depend_on_secret_and_purpose_and_not_on_how_an_address_is_written() {
        let (one, two) = (ClientHasher::new(&[1; 32]), ClientHasher::new(&[2; 32]));
        let client = |hasher: &ClientHasher, text: &str| hasher.client(&address(text));
        let plain = client(&one, "192.0.2.1");
        assert_eq!(client(&one, "::ffff:192.0.2.1"), plain);
        assert_ne!(client(&one, "192.0.2.2"), plain);
        assert_ne!(one.hash(b'n', &[192, 0, 2, 1]), plain);
        assert_ne!(client(&two, "192.0.2.1"), plain);
        assert_ne!(client(&one.derived(b"x"), "192.0.2.1"), plain);
        assert_eq!(client(&one, "2001:db8:0:1::1"), client(&one, "2001:db8:0:1:ffff::9"));
        assert_ne!(client(&one, "2001:db8:0:1::1"), client(&one, "2001:db8:0:2::1"));
    }

    #[test]
    fn an_ipv6_address_is_counted_in_its_48_56_and_64() {
        let hasher = ClientHasher::new(&[1; 32]);
        let ranges = |text: &str| {
            let ranges = hasher.ranges(&address(text));
            ranges.iter().flatten().map(|range| range.hash).collect::<Vec<_>>()
        };
        let first = ranges("2001:db8:1::1");
        assert_eq!(first.len(), 3);
        assert!(first[0] != first[1] && first[1] != first[2]);
        for (other, shared) in
            [("2001:db8:1::2", 3), ("2001:db8:1:ff::1", 2), ("2001:db8:1:100::1", 1), ("2001:db8:2::1", 0)]
        {
            let other = ranges(other);
            assert_eq!(first.iter().zip(&other).filter(|(first, other)| first == other).count(), shared, "{other:?}");
        }
        assert_eq!(ranges("192.0.2.1").len(), 1);
    }
}
