//! One-time codes of authenticator apps (TOTP, RFC 6238: SHA-1, six digits, 30 seconds), and recovery codes.
//!
//! The standard's HMAC is short enough to need no crate of its own. The secret must be readable to verify a code, so it is stored
//! in clear, in a file that only the service's user can read; recovery codes are stored as digests.

use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use zeroize::Zeroizing;

use crate::StoreResult;
use crate::secret_digest::SecretDigest;
use crate::service::random;

const STEP_SECONDS: i64 = 30;
const DIGITS: u32 = 6;
/// Steps by which the clocks of the app and the server may differ.
const SKEW: i64 = 1;
pub(crate) const RECOVERY_CODES: usize = 10;

const SECRET_BYTES: usize = 20;
const RECOVERY_BYTES: usize = 10;

/// Base32 (RFC 4648) in lower case: recovery codes are easier to read in it, and all apps accept upper case.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The secret that an account shares with an app. `Debug` hides it; its memory is cleared.
#[derive(Clone, PartialEq, Eq)]
pub struct TotpSecret(Zeroizing<[u8; SECRET_BYTES]>);

/// A code as a person types it: six digits or a recovery code, maybe with spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecondFactorCode {
    App(u32),
    Recovery(RecoveryDigest),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a secret of an authenticator app")]
pub struct ParseTotpSecretError;

impl TotpSecret {
    pub fn generate() -> StoreResult<Self> {
        Ok(Self(Zeroizing::new(random()?)))
    }

    pub(crate) fn from_bytes(bytes: [u8; SECRET_BYTES]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8; SECRET_BYTES] {
        &self.0
    }

    pub fn reveal(&self) -> Zeroizing<String> {
        Zeroizing::new(base32(self.0.as_slice()).to_ascii_uppercase())
    }

    /// The code of a step since 1970.
    pub(crate) fn code(&self, step: i64) -> u32 {
        let mut mac = Hmac::<Sha1>::new_from_slice(self.0.as_slice()).expect("HMAC takes keys of any length");
        mac.update(&step.to_be_bytes());
        let hash = mac.finalize().into_bytes();
        let offset = usize::from(hash[19] & 0xf);
        let word = u32::from_be_bytes([hash[offset], hash[offset + 1], hash[offset + 2], hash[offset + 3]]);
        (word & 0x7fff_ffff) % 10_u32.pow(DIGITS)
    }

    /// The step of `code`, if it is valid at `now` (Unix seconds) and later than `used`, the last accepted step.
    pub(crate) fn step_of(&self, code: u32, used: i64, now: i64) -> Option<i64> {
        let current = now.div_euclid(STEP_SECONDS);
        (current - SKEW..=current + SKEW).find(|step| *step > used && self.code(*step) == code)
    }
}

impl FromStr for TotpSecret {
    type Err = ParseTotpSecretError;

    fn from_str(text: &str) -> Result<Self, ParseTotpSecretError> {
        from_base32(text).map(|bytes| Self(Zeroizing::new(bytes))).ok_or(ParseTotpSecretError)
    }
}

impl SecondFactorCode {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text: Zeroizing<String> =
            Zeroizing::new(text.chars().filter(|char| !char.is_whitespace() && *char != '-').collect());
        if text.len() == DIGITS as usize && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().ok().map(Self::App);
        }
        let code: [u8; RECOVERY_BYTES] = from_base32(&text)?;
        Some(Self::Recovery(RecoveryDigest::of(&code)))
    }
}

/// A code for one sign-in without the app. 80 random bits, so that their digest need not be salted or slow.
#[derive(Clone, PartialEq, Eq)]
pub struct RecoveryCode(Zeroizing<[u8; RECOVERY_BYTES]>);

impl RecoveryCode {
    pub(crate) fn generate() -> StoreResult<Self> {
        Ok(Self(Zeroizing::new(random()?)))
    }

    pub fn reveal(&self) -> String {
        let text = base32(self.0.as_slice());
        [&text[..4], &text[4..8], &text[8..12], &text[12..]].join("-")
    }

    pub(crate) fn digest(&self) -> RecoveryDigest {
        RecoveryDigest::of(self.0.as_slice())
    }
}

pub type RecoveryDigest = SecretDigest;

hide_debug!(TotpSecret, RecoveryCode);

/// The length of `bytes` is a multiple of five.
fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 5 * 8);
    for group in bytes.chunks_exact(5) {
        let number = group.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        text.extend((0..8).rev().map(|index| char::from(ALPHABET[(number >> (5 * index)) as usize & 31])));
    }
    text
}

/// In any letter case; `N` is a multiple of five.
fn from_base32<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != N / 5 * 8 {
        return None;
    }
    for (group, characters) in bytes.chunks_exact_mut(5).zip(text.as_bytes().chunks_exact(8)) {
        let mut number = 0_u64;
        for character in characters {
            let value = ALPHABET.iter().position(|known| *known == character.to_ascii_lowercase())?;
            number = number << 5 | value as u64;
        }
        group.copy_from_slice(&number.to_be_bytes()[3..]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The secret of the RFC's test vectors.
    fn rfc() -> TotpSecret {
        TotpSecret::from_bytes(*b"12345678901234567890")
    }

    #[test]
    fn codes_are_those_of_the_test_vectors() {
        // RFC 6238, appendix B, SHA-1: the last six of eight digits.
        for (time, code) in [
            (59, 287_082),
            (1_111_111_109, 81_804),
            (1_111_111_111, 50_471),
            (1_234_567_890, 5_924),
            (2_000_000_000, 279_037),
            (20_000_000_000, 353_130),
        ] {
            assert_eq!(rfc().code(time / STEP_SECONDS), code, "{time}");
        }
        // RFC 4226, appendix D: the first steps.
        let codes: Vec<u32> = (0..5).map(|step| rfc().code(step)).collect();
        assert_eq!(codes, [755_224, 287_082, 359_152, 969_429, 338_314]);
    }

    #[test]
    fn a_code_is_valid_one_step_before_and_after_and_not_again() {
        let now = 1_795_262_400;
        let step = now / 30;
        for (time, expected) in
            [(now, step), (now - 30, step - 1), (now + 30, step + 1), (now + 29, step), (now - 1, step - 1)]
        {
            assert_eq!(rfc().step_of(rfc().code(time / STEP_SECONDS), 0, now), Some(expected));
            assert_eq!(rfc().step_of(rfc().code(time / STEP_SECONDS), expected, now), None);
        }
        for time in [now - 31, now + 60] {
            assert_eq!(rfc().step_of(rfc().code(time / STEP_SECONDS), 0, now), None);
        }
    }

    #[test]
    fn secrets_are_hidden_and_cleared() {
        fn is_cleared<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        let code = RecoveryCode::generate().unwrap();
        is_cleared(&rfc().0);
        is_cleared(&code.0);
        let texts = format!("{:?} {code:?} {:?}", rfc(), code.digest());
        assert_eq!(texts, "TotpSecret(…) RecoveryCode(…) SecretDigest(…)");
        assert_eq!(rfc().reveal().as_str(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
    }

    #[test]
    fn codes_are_read_with_spaces_and_in_any_case() {
        let code = RecoveryCode::generate().unwrap();
        let text = code.reveal();
        assert_eq!(text.len(), 19);
        let expected = Some(SecondFactorCode::Recovery(code.digest()));
        for text in [text.clone(), text.to_uppercase(), text.replace('-', " "), format!(" {} ", text.replace('-', ""))]
        {
            assert_eq!(SecondFactorCode::parse(&text), expected, "{text}");
        }
        assert_eq!(SecondFactorCode::parse(" 012 345 "), Some(SecondFactorCode::App(12_345)));
        for text in ["", "12345", "1234567", "+12345", "1234é6", "aaaa-aaaa-aaaa-aaa1", &"é".repeat(8)] {
            assert_eq!(SecondFactorCode::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_secret_is_parsed_from_its_text(bytes: [u8; SECRET_BYTES], text in ".{0,40}") {
            let secret = TotpSecret::from_bytes(bytes);
            prop_assert_eq!(secret.reveal().parse::<TotpSecret>(), Ok(secret));
            let _ = text.parse::<TotpSecret>();
            let _ = SecondFactorCode::parse(&text);
        }
    }
}
