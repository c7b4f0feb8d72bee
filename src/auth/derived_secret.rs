//! A secret for one purpose, derived from that of the store.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

pub struct DerivedSecret(Hmac<Sha256>);

impl DerivedSecret {
    /// Each purpose has a different secret, so a tag made for one is invalid for another.
    pub fn new(secret: &[u8; 32], purpose: &str) -> Self {
        Self(mac(&mac(secret).chain_update(purpose).finalize().into_bytes().into()))
    }

    pub fn tag(&self, content: &[u8]) -> [u8; 32] {
        self.0.clone().chain_update(content).finalize().into_bytes().into()
    }

    /// True if `tag` is the beginning of the content's tag; compared in constant time.
    pub fn verify(&self, content: &[u8], tag: &[u8]) -> bool {
        self.0.clone().chain_update(content).verify_truncated_left(tag).is_ok()
    }
}

pub(crate) fn mac(secret: &[u8; 32]) -> Hmac<Sha256> {
    <Hmac<Sha256> as KeyInit>::new_from_slice(secret).expect("HMAC accepts keys of any length")
}
