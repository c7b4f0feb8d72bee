//! API keys: `vdx_`, 30 random base62 characters, and the CRC-32 of those 30 as 6 base62 characters.
//!
//! The checksum detects a mistyped key without a look-up. Only [`ApiKey`] holds a full key, and it prints itself masked;
//! everything stored is a [`KeyDigest`] and a [`MaskedKey`].

use std::fmt;
use std::str::FromStr;

use zeroize::Zeroizing;

use crate::StoreResult;
use crate::secret_digest::SecretDigest;
use crate::service::random;

pub const KEY_PREFIX: &str = "vdx_";

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM: usize = 30;
const CHECKSUM: usize = 6;
const LENGTH: usize = KEY_PREFIX.len() + RANDOM + CHECKSUM;
const HEAD: usize = 8;
const TAIL: usize = 4;

/// A full API key. `Debug` masks it; only [`ApiKey::reveal`] returns it. Its memory is cleared.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Zeroizing<[u8; LENGTH]>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed API key; expected `{KEY_PREFIX}` and 36 letters and digits with a valid checksum")]
pub struct MalformedKey;

impl ApiKey {
    pub fn generate() -> StoreResult<Self> {
        Ok(Self::from_seed(&Zeroizing::new(random::<32>()?)))
    }

    /// `seed` is random.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let mut random = Zeroizing::new([b'0'; RANDOM]);
        // In base 62, 30 digits use 179 of the 256 bits, so even the last digit is uniform to within one part in 2^76.
        let mut number = Zeroizing::new(*seed);
        for character in random.iter_mut() {
            *character = ALPHABET[divide(&mut number)];
        }
        Self::new(&random, &checksum(&random))
    }

    fn new(random: &[u8; RANDOM], checksum: &[u8; CHECKSUM]) -> Self {
        let mut key = Zeroizing::new([0_u8; LENGTH]);
        key[..KEY_PREFIX.len()].copy_from_slice(KEY_PREFIX.as_bytes());
        key[KEY_PREFIX.len()..LENGTH - CHECKSUM].copy_from_slice(random);
        key[LENGTH - CHECKSUM..].copy_from_slice(checksum);
        Self(key)
    }

    pub fn reveal(&self) -> &str {
        std::str::from_utf8(self.0.as_slice()).expect("a key consists of ASCII letters and digits")
    }

    pub fn digest(&self) -> KeyDigest {
        KeyDigest::of(self.0.as_slice())
    }

    pub fn masked(&self) -> MaskedKey {
        let mut masked = [0; HEAD + TAIL];
        masked[..HEAD].copy_from_slice(&self.0[..HEAD]);
        masked[HEAD..].copy_from_slice(&self.0[LENGTH - TAIL..]);
        MaskedKey(masked)
    }
}

impl FromStr for ApiKey {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let body = text.strip_prefix(KEY_PREFIX).ok_or(MalformedKey)?.as_bytes();
        let (random, check) = body.split_first_chunk::<RANDOM>().ok_or(MalformedKey)?;
        let check: &[u8; CHECKSUM] = check.try_into().map_err(|_| MalformedKey)?;
        if !body.iter().all(u8::is_ascii_alphanumeric) || checksum(random) != *check {
            return Err(MalformedKey);
        }
        Ok(Self::new(random, check))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({})", self.masked())
    }
}

/// Divides the big-endian `number` by 62 in place and returns the remainder.
fn divide(number: &mut [u8; 32]) -> usize {
    let mut remainder = 0_u32;
    for byte in number {
        let value = remainder << 8 | u32::from(*byte);
        *byte = (value / 62) as u8;
        remainder = value % 62;
    }
    remainder as usize
}

fn checksum(random: &[u8; RANDOM]) -> [u8; CHECKSUM] {
    let mut number = crc32fast::hash(random);
    let mut checksum = [b'0'; CHECKSUM];
    for character in checksum.iter_mut().rev() {
        *character = ALPHABET[(number % 62) as usize];
        number /= 62;
    }
    checksum
}

pub type KeyDigest = SecretDigest;

/// The first 8 and last 4 characters of a key: `vdx_aB3d…9xYz`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MaskedKey([u8; HEAD + TAIL]);

impl fmt::Display for MaskedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (head, tail) = self.0.split_at(HEAD);
        let text = |bytes| std::str::from_utf8(bytes).expect("a key consists of ASCII letters and digits");
        write!(f, "{}…{}", text(head), text(tail))
    }
}

impl fmt::Debug for MaskedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for MaskedKey {
    type Err = MalformedKey;

    /// Also accepts `...` for `…`.
    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let (head, tail) = text.split_once('…').or_else(|| text.split_once("...")).ok_or(MalformedKey)?;
        let is_alphanumeric = head.strip_prefix(KEY_PREFIX).is_some_and(alphanumeric) && alphanumeric(tail);
        if !is_alphanumeric || head.len() != HEAD {
            return Err(MalformedKey);
        }
        format!("{head}{tail}").into_bytes().try_into().map(Self).map_err(|_| MalformedKey)
    }
}

fn alphanumeric(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    #[test]
    fn a_key_has_the_promised_shape() {
        let key = ApiKey::from_seed(&[7; 32]);
        let body = key.reveal().strip_prefix("vdx_").unwrap();
        assert_eq!(body.len(), 36);
        assert!(alphanumeric(body));
        // The checksum computed in another way: CRC-32 bit by bit, and the sum of the base62 digits.
        let mut crc = u32::MAX;
        for byte in body[..30].bytes() {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
            }
        }
        let value = body[30..]
            .bytes()
            .fold(0, |sum, byte| sum * 62 + ALPHABET.iter().position(|letter| *letter == byte).unwrap() as u64);
        assert_eq!(value, u64::from(!crc));
    }

    #[test]
    fn a_key_prints_itself_masked() {
        let key = ApiKey::from_seed(&[200; 32]);
        let masked = key.masked().to_string();
        assert_eq!(format!("{key:?}"), format!("ApiKey({masked})"));
        assert_eq!(masked.chars().count(), 13);
        assert!(key.reveal().starts_with(&masked[..8]) && key.reveal().ends_with(&masked[masked.len() - 4..]));
        assert_eq!(masked.parse(), Ok(key.masked()));
        assert_eq!(masked.replace('…', "...").parse(), Ok(key.masked()));
        assert_eq!(key.reveal().parse::<MaskedKey>(), Err(MalformedKey));
        assert_eq!(format!("{:?}", key.digest()), "SecretDigest(…)");
    }

    #[test]
    fn the_memory_of_a_key_is_cleared() {
        fn is_cleared<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        is_cleared(&ApiKey::from_seed(&[7; 32]).0);
    }

    #[test]
    fn all_characters_are_equally_frequent() {
        let mut counts = [0_u32; 62];
        for seed in 0..2_000_u32 {
            let seed: [u8; 32] = Sha256::digest(seed.to_le_bytes()).into();
            for byte in ApiKey::from_seed(&seed).reveal()[4..34].bytes() {
                counts[ALPHABET.iter().position(|letter| *letter == byte).unwrap()] += 1;
            }
        }
        // 60,000 characters, 968 each with a standard deviation of 31.
        assert!(counts.iter().all(|count| (800..1_150).contains(count)), "{counts:?}");
    }

    proptest! {
        #[test]
        fn a_key_is_parsed_from_its_text_and_one_wrong_character_is_detected(
            seed: [u8; 32], index in 0_usize..36, letter in 0_usize..62,
        ) {
            let key = ApiKey::from_seed(&seed);
            prop_assert_eq!(key.reveal().parse::<ApiKey>().unwrap().digest(), key.digest());
            let mut wrong = key.reveal().as_bytes().to_vec();
            if wrong[4 + index] != ALPHABET[letter] {
                wrong[4 + index] = ALPHABET[letter];
                let wrong = String::from_utf8(wrong).unwrap();
                prop_assert_eq!(wrong.parse::<ApiKey>(), Err(MalformedKey));
            }
        }

        #[test]
        fn no_text_makes_parsing_panic(text in ".{0,60}") {
            let _ = text.parse::<ApiKey>();
            let _ = text.parse::<MaskedKey>();
            let _ = format!("vdx_{text}").parse::<ApiKey>();
        }
    }
}
