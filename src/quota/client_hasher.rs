//! Names for client addresses that tell nothing of them: keyed hashes under a secret that never leaves the process.

use std::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::quota::ip_net::masked;

/// Gives names under one secret; each purpose has names of its own.
#[derive(Clone, Debug)]
pub struct ClientHasher(Hmac<Sha256>);

impl ClientHasher {
    /// Names under `secret`, 32 bytes of the system's randomness.
    pub fn under(secret: &[u8; 32]) -> Self {
        // Filled up to the block length as the standard does.
        let mut block = [0; 64];
        block[..32].copy_from_slice(secret);
        Self(<Hmac<Sha256> as KeyInit>::new(&block.into()))
    }

    /// Names under a secret that is derived from this one and `part`.
    pub fn derived(&self, part: &[u8]) -> Self {
        Self::under(&self.0.clone().chain_update(part).finalize().into_bytes().into())
    }

    /// The name of the first bits of `address`, so many as its family counts.
    pub fn of_address(&self, purpose: u8, address: IpAddr, ipv4: u8, ipv6: u8) -> u128 {
        let address = address.to_canonical();
        match masked(address, if address.is_ipv4() { ipv4 } else { ipv6 }) {
            IpAddr::V4(network) => self.of(purpose, &network.octets()),
            IpAddr::V6(network) => self.of(purpose, &network.octets()),
        }
    }

    /// The name of some bytes.
    pub fn of(&self, purpose: u8, bytes: &[u8]) -> u128 {
        let hash = self.0.clone().chain_update([purpose]).chain_update(bytes).finalize().into_bytes();
        hash.iter().take(16).fold(0, |name, byte| name << 8 | u128::from(*byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keyed_hash_is_that_of_the_standard() {
        let mut expected = <Hmac<Sha256> as KeyInit>::new_from_slice(&[9; 32]).unwrap();
        expected.update(b"ptext");
        let expected = expected.finalize().into_bytes();
        assert_eq!(ClientHasher::under(&[9; 32]).of(b'p', b"text").to_be_bytes(), expected[..16]);
    }

    #[test]
    fn names_differ_by_secret_and_purpose_and_not_by_how_an_address_is_written() {
        let (one, two) = (ClientHasher::under(&[1; 32]), ClientHasher::under(&[2; 32]));
        let name = |names: &ClientHasher, purpose, text: &str| names.of_address(purpose, text.parse().unwrap(), 32, 64);
        let plain = name(&one, b'a', "192.0.2.1");
        assert_eq!(name(&one, b'a', "::ffff:192.0.2.1"), plain);
        assert_ne!(name(&one, b'a', "192.0.2.2"), plain);
        assert_ne!(name(&one, b'n', "192.0.2.1"), plain);
        assert_ne!(name(&two, b'a', "192.0.2.1"), plain);
        assert_ne!(name(&one.derived(b"x"), b'a', "192.0.2.1"), plain);
        assert_eq!(name(&one, b'a', "2001:db8:0:1::1"), name(&one, b'a', "2001:db8:0:1:ffff::9"));
        assert_ne!(name(&one, b'a', "2001:db8:0:1::1"), name(&one, b'a', "2001:db8:0:2::1"));
    }
}
