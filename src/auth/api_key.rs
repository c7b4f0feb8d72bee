//! API keys: `vdx_`, 30 random base62 characters, and 6 that are the CRC-32 of those 30.
//!
//! The checksum tells a mistyped key from an unknown one without asking the store. A whole key is only ever held by
//! [`ApiKey`], which prints itself shortened; everything that is kept is a [`KeyDigest`] and a [`MaskedKey`].

use std::fmt;
use std::hint::black_box;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// What every key begins with.
pub const KEY_PREFIX: &str = "vdx_";

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM: usize = 30;
const CHECK: usize = 6;
const LENGTH: usize = KEY_PREFIX.len() + RANDOM + CHECK;
const HEAD: usize = 8;
const TAIL: usize = 4;

/// A whole API key, a secret. Neither `Debug` nor any error shows it; only [`ApiKey::reveal`] does.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey([u8; LENGTH]);

/// The text is not a well-formed key; a single mistyped character is always noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedKey;

impl fmt::Display for MalformedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a well-formed API key: `{KEY_PREFIX}` and 36 letters and digits, with a matching checksum")
    }
}

impl std::error::Error for MalformedKey {}

impl ApiKey {
    /// The key that `seed`, 32 bytes of the system's randomness, stands for.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let mut random = [b'0'; RANDOM];
        // The seed is read as one number of 256 bits and written in base 62: 30 digits take 179 bits of it, so that the
        // last one is even to within one part in 2^76.
        let mut number = *seed;
        for place in &mut random {
            *place = digit(divide(&mut number));
        }
        Self::of(&random, &checksum(&random))
    }

    fn of(random: &[u8], check: &[u8]) -> Self {
        let mut key = [b'0'; LENGTH];
        for (place, byte) in key.iter_mut().zip(KEY_PREFIX.as_bytes().iter().chain(random).chain(check)) {
            *place = *byte;
        }
        Self(key)
    }

    /// The whole key, to be shown once to whom it was made for.
    #[must_use]
    pub fn reveal(&self) -> &str {
        // A key is letters and digits.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// What the store keeps instead of the key.
    #[must_use]
    pub fn digest(&self) -> KeyDigest {
        KeyDigest(Sha256::digest(self.0).into())
    }

    /// The short form that may be shown again.
    #[must_use]
    pub fn shown(&self) -> MaskedKey {
        MaskedKey::of(&self.0).unwrap_or(MaskedKey([b'0'; HEAD + TAIL]))
    }
}

impl FromStr for ApiKey {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let body = text.strip_prefix(KEY_PREFIX).ok_or(MalformedKey)?.as_bytes();
        if body.len() != RANDOM + CHECK || !body.iter().all(u8::is_ascii_alphanumeric) {
            return Err(MalformedKey);
        }
        let (random, check) = body.split_at(RANDOM);
        if checksum(random) != check {
            return Err(MalformedKey);
        }
        Ok(Self::of(random, check))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({})", self.shown())
    }
}

fn digit(value: u8) -> u8 {
    ALPHABET.get(usize::from(value)).copied().unwrap_or(b'0')
}

/// Divides the big-endian `number` by 62 in place and returns the remainder.
fn divide(number: &mut [u8; 32]) -> u8 {
    let mut rest = 0_u32;
    for byte in number {
        let value = rest << 8 | u32::from(*byte);
        *byte = (value / 62) as u8;
        rest = value % 62;
    }
    rest as u8
}

fn checksum(random: &[u8]) -> [u8; CHECK] {
    let mut rest = crc32fast::hash(random);
    let mut check = [b'0'; CHECK];
    for place in check.iter_mut().rev() {
        *place = digit((rest % 62) as u8);
        rest /= 62;
    }
    check
}

/// SHA-256 of a whole key. Compared in constant time; never printed.
#[derive(Clone, Copy)]
pub struct KeyDigest([u8; 32]);

impl KeyDigest {
    /// The digest as the store keeps it.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first half, by which a table finds its candidate; the whole is then compared.
    pub(crate) fn handle(&self) -> u128 {
        self.halves().0
    }

    fn halves(&self) -> (u128, u128) {
        let half = |bytes: Option<&[u8; 16]>| bytes.map_or(0, |bytes| u128::from_be_bytes(*bytes));
        (half(self.0.first_chunk()), half(self.0.last_chunk()))
    }
}

impl PartialEq for KeyDigest {
    fn eq(&self, other: &Self) -> bool {
        let ((a, b), (c, d)) = (self.halves(), other.halves());
        black_box(black_box(a ^ c) | black_box(b ^ d)) == 0
    }
}

impl Eq for KeyDigest {}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyDigest(…)")
    }
}

/// A key's short form, its first 8 and last 4 characters: `vdx_aB3d…9xYz`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MaskedKey([u8; HEAD + TAIL]);

impl MaskedKey {
    fn of(key: &[u8]) -> Option<Self> {
        let head = key.get(..HEAD)?;
        let tail = key.get(key.len().checked_sub(TAIL)?..)?;
        let mut shown = [0; HEAD + TAIL];
        for (place, byte) in shown.iter_mut().zip(head.iter().chain(tail)) {
            *place = *byte;
        }
        Some(Self(shown))
    }
}

impl fmt::Display for MaskedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, byte) in self.0.iter().enumerate() {
            if place == HEAD {
                f.write_str("…")?;
            }
            write!(f, "{}", char::from(*byte))?;
        }
        Ok(())
    }
}

impl fmt::Debug for MaskedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for MaskedKey {
    type Err = MalformedKey;

    /// Reads `vdx_aB3d…9xYz`; `...` does for `…`.
    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let (head, tail) = text.split_once('…').or_else(|| text.split_once("...")).ok_or(MalformedKey)?;
        let plain = head.strip_prefix(KEY_PREFIX).is_some_and(alphanumeric) && alphanumeric(tail);
        if !plain || head.len() != HEAD || tail.len() != TAIL {
            return Err(MalformedKey);
        }
        Self::of(format!("{head}{tail}").as_bytes()).ok_or(MalformedKey)
    }
}

fn alphanumeric(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_has_the_promised_shape() {
        let key = ApiKey::from_seed(&[7; 32]);
        let body = key.reveal().strip_prefix("vdx_").unwrap();
        assert_eq!(body.len(), 36);
        assert!(alphanumeric(body));
        // The checksum, computed another way: CRC-32 bit by bit, its value summed up in base 62.
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
    fn what_prints_a_key_prints_it_shortened() {
        let key = ApiKey::from_seed(&[200; 32]);
        let shown = key.shown().to_string();
        assert_eq!(format!("{key:?}"), format!("ApiKey({shown})"));
        assert_eq!(shown.chars().count(), 13);
        assert!(key.reveal().starts_with(&shown[..8]) && key.reveal().ends_with(&shown[shown.len() - 4..]));
        assert_eq!(shown.parse(), Ok(key.shown()));
        assert_eq!(shown.replace('…', "...").parse(), Ok(key.shown()));
        assert_eq!(key.reveal().parse::<MaskedKey>(), Err(MalformedKey));
        assert_eq!(format!("{:?}", key.digest()), "KeyDigest(…)");
    }

    #[test]
    fn all_digits_occur_alike() {
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
        fn a_key_is_read_again_and_one_wrong_character_is_noticed(
            seed: [u8; 32], place in 0_usize..36, letter in 0_usize..62,
        ) {
            let key = ApiKey::from_seed(&seed);
            prop_assert_eq!(key.reveal().parse::<ApiKey>().unwrap().digest(), key.digest());
            let mut wrong = key.reveal().as_bytes().to_vec();
            if wrong[4 + place] != ALPHABET[letter] {
                wrong[4 + place] = ALPHABET[letter];
                let wrong = String::from_utf8(wrong).unwrap();
                prop_assert_eq!(wrong.parse::<ApiKey>(), Err(MalformedKey));
            }
        }

        #[test]
        fn no_text_makes_reading_panic(text in ".{0,60}") {
            let _ = text.parse::<ApiKey>();
            let _ = text.parse::<MaskedKey>();
            let _ = format!("vdx_{text}").parse::<ApiKey>();
        }
    }
}
