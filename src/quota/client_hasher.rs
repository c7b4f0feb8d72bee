//! Client addresses are stored only as keyed hashes, whose secret never leaves the process.

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use ipnet::IpNet;
use sha2::Sha256;

use crate::quota::Client;

#[derive(Clone, Debug)]
pub(crate) struct ClientHasher(Hmac<Sha256>);

impl ClientHasher {
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        // Padded to the block length, as RFC 2104 does.
        let mut block = [0; 64];
        block[..32].copy_from_slice(secret);
        Self(<Hmac<Sha256> as KeyInit>::new(&block.into()))
    }

    /// A hasher whose secret is derived from this one and `salt`.
    pub(crate) fn derived(&self, salt: &[u8]) -> Self {
        Self::new(&self.0.clone().chain_update(salt).finalize().into_bytes().into())
    }

    pub(crate) fn client(&self, client: &Client) -> u128 {
        match client {
            Client::Address(address) => self.network_of(b'a', *address, 32, 64),
            Client::Pool(name) => self.hash(b'p', name.as_bytes()),
            Client::Account(email) => self.hash(b't', email.as_bytes()),
        }
    }

    /// The network (IPv4 /16, IPv6 /32) that a client belongs to; an account is its own, a pool belongs to none.
    pub(crate) fn network(&self, client: &Client) -> Option<u128> {
        match client {
            Client::Address(address) => Some(self.network_of(b'n', *address, 16, 32)),
            Client::Pool(_) => None,
            Client::Account(_) => Some(self.client(client)),
        }
    }

    fn network_of(&self, purpose: u8, address: IpAddr, ipv4_prefix: u8, ipv6_prefix: u8) -> u128 {
        let address = address.to_canonical();
        let prefix = if address.is_ipv4() { ipv4_prefix } else { ipv6_prefix };
        match IpNet::new(address, prefix).expect("the prefix fits the address family").network() {
            IpAddr::V4(network) => self.hash(purpose, &network.octets()),
            IpAddr::V6(network) => self.hash(purpose, &network.octets()),
        }
    }

    fn hash(&self, purpose: u8, bytes: &[u8]) -> u128 {
        let hash = self.0.clone().chain_update([purpose]).chain_update(bytes).finalize().into_bytes();
        hash.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_hmac_sha_256() {
        let mut expected = <Hmac<Sha256> as KeyInit>::new_from_slice(&[9; 32]).unwrap();
        expected.update(b"ptext");
        let expected = expected.finalize().into_bytes();
        let pool = Client::Pool("text".into());
        assert_eq!(ClientHasher::new(&[9; 32]).client(&pool).to_be_bytes(), expected[..16]);
    }

    #[test]
    fn hashes_depend_on_secret_and_purpose_and_not_on_how_an_address_is_written() {
        let (one, two) = (ClientHasher::new(&[1; 32]), ClientHasher::new(&[2; 32]));
        let client = |hasher: &ClientHasher, text: &str| hasher.client(&Client::Address(text.parse().unwrap()));
        let plain = client(&one, "192.0.2.1");
        assert_eq!(client(&one, "::ffff:192.0.2.1"), plain);
        assert_ne!(client(&one, "192.0.2.2"), plain);
        assert_ne!(one.network_of(b'n', "192.0.2.1".parse().unwrap(), 32, 64), plain);
        assert_ne!(client(&two, "192.0.2.1"), plain);
        assert_ne!(client(&one.derived(b"x"), "192.0.2.1"), plain);
        assert_eq!(client(&one, "2001:db8:0:1::1"), client(&one, "2001:db8:0:1:ffff::9"));
        assert_ne!(client(&one, "2001:db8:0:1::1"), client(&one, "2001:db8:0:2::1"));
    }
}
