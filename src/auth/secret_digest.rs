//! Digests of random secrets, which the store holds instead of the secrets.

use std::hint::black_box;

use sha2::{Digest, Sha256};

/// SHA-256 of a random key, token or code, so neither salted nor slow. Compared in constant time; `Debug` hides it.
/// As the secret is random, the duration of a look-up in the store reveals nothing about it.
#[derive(Clone, Copy)]
pub struct SecretDigest([u8; 32]);

impl SecretDigest {
    pub(crate) fn of(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }

    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn first_half(&self) -> u128 {
        self.halves().0
    }

    fn halves(&self) -> (u128, u128) {
        let (first, second) = self.0.split_at(16);
        let number = |half: &[u8]| u128::from_be_bytes(half.try_into().expect("half of 32 bytes"));
        (number(first), number(second))
    }
}

impl PartialEq for SecretDigest {
    fn eq(&self, other: &Self) -> bool {
        let ((a, b), (c, d)) = (self.halves(), other.halves());
        black_box(black_box(a ^ c) | black_box(b ^ d)) == 0
    }
}

impl Eq for SecretDigest {}

hide_debug!(SecretDigest);
