//! Cursors: a place in a list of one release, with the query it belongs to, sealed against change.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::catalog::ListPosition;
use crate::data::{Date, SnapshotVersion};

/// The form of cursors; another program version that changes it counts up.
const FORM: u8 = 1;
/// Bytes of the seal: half of HMAC-SHA-256, as RFC 2104 allows.
const SEAL: usize = 16;
/// Bytes of a cursor besides its path and query.
const BESIDE: usize = 30 + SEAL;
/// Cursors are neither made nor read above this length: the address that carries one also has a path and other parameters,
/// and is limited itself.
const LONGEST: usize = 20_000;
const NO_POSITION: u32 = u32::MAX;

/// A place in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The release that is walked.
    pub snapshot: SnapshotVersion,
    /// Its content, see `Snapshot::content`.
    pub content: u64,
    /// The path below the version, such as `vcs`.
    pub path: String,
    /// The query in canonical names and values.
    pub query: Vec<(String, String)>,
    /// Where the next page begins.
    pub place: ListPosition,
}

impl Cursor {
    /// Writes the cursor as URL-safe text that only the holder of `secret` can make; `None` where its query is too long for
    /// an address.
    #[must_use]
    pub fn seal(&self, secret: &[u8; 32]) -> Option<String> {
        let mut query = form_urlencoded::Serializer::new(String::with_capacity(128));
        query.extend_pairs(&self.query);
        let query = query.finish();
        let mut bytes = Vec::with_capacity(BESIDE + self.path.len() + query.len());
        bytes.push(FORM);
        bytes.extend_from_slice(&self.snapshot.date.days().to_le_bytes());
        bytes.extend_from_slice(&self.snapshot.counter.to_le_bytes());
        bytes.extend_from_slice(&self.content.to_le_bytes());
        bytes.extend_from_slice(&self.place.offset.to_le_bytes());
        bytes.extend_from_slice(&self.place.position.unwrap_or(NO_POSITION).to_le_bytes());
        bytes.extend_from_slice(self.path.as_bytes());
        bytes.push(b'?');
        bytes.extend_from_slice(query.as_bytes());
        let seal = tag(secret, &bytes);
        bytes.extend_from_slice(seal.get(..SEAL).unwrap_or(&[]));
        Some(URL_SAFE_NO_PAD.encode(bytes)).filter(|text| text.len() <= LONGEST)
    }

    /// Reads a sealed cursor; `None` where it was not made with `secret`, or was changed.
    #[must_use]
    pub fn open(text: &str, secret: &[u8; 32]) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (bytes, seal) = bytes.split_at_checked(bytes.len().checked_sub(SEAL)?)?;
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret).ok()?;
        mac.update(bytes);
        mac.verify_truncated_left(seal).ok()?;
        let (form, bytes) = bytes.split_first()?;
        let (days, bytes) = bytes.split_first_chunk()?;
        let (counter, bytes) = bytes.split_first_chunk()?;
        let (content, bytes) = bytes.split_first_chunk()?;
        let (offset, bytes) = bytes.split_first_chunk()?;
        let (position, bytes) = bytes.split_first_chunk()?;
        let (path, query) = std::str::from_utf8(bytes).ok()?.split_once('?')?;
        let position = u32::from_le_bytes(*position);
        (*form == FORM).then(|| Self {
            snapshot: SnapshotVersion {
                date: Date::from_days(i32::from_le_bytes(*days)),
                counter: u32::from_le_bytes(*counter),
            },
            content: u64::from_le_bytes(*content),
            path: path.to_owned(),
            query: form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            place: ListPosition {
                offset: u64::from_le_bytes(*offset),
                position: (position != NO_POSITION).then_some(position),
            },
        })
    }
}

fn tag(secret: &[u8; 32], bytes: &[u8]) -> Vec<u8> {
    match <Hmac<Sha256> as KeyInit>::new_from_slice(secret) {
        Ok(mut mac) => {
            mac.update(bytes);
            mac.finalize().into_bytes().to_vec()
        }
        // HMAC takes keys of any length; an empty seal would open nothing.
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor() -> Cursor {
        Cursor {
            snapshot: "2026-11-20.3".parse().unwrap(),
            content: 0x0123_4567_89ab_cdef,
            path: "vcs".into(),
            query: vec![("q".into(), "a&b=c ü".into()), ("sort".into(), "-name".into())],
            place: ListPosition { offset: 40, position: Some(77) },
        }
    }

    #[test]
    fn a_sealed_cursor_opens_as_it_was() {
        let sealed = cursor().seal(&[7; 32]).unwrap();
        assert!(sealed.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
        assert_eq!(Cursor::open(&sealed, &[7; 32]), Some(cursor()));
        let without = Cursor { place: ListPosition::after(3), ..cursor() };
        assert_eq!(Cursor::open(&without.seal(&[7; 32]).unwrap(), &[7; 32]), Some(without));
    }

    #[test]
    fn what_is_made_can_be_opened() {
        let of_length = |length: usize| Cursor { query: vec![("city".into(), "é".repeat(length))], ..cursor() };
        let made: Vec<bool> = (2_400..2_600).map(|length| of_length(length).seal(&[7; 32]).is_some()).collect();
        assert!(made.first() == Some(&true) && made.last() == Some(&false));
        for length in (0..200).filter(|length| made[*length]) {
            let cursor = of_length(2_400 + length);
            assert_eq!(Cursor::open(&cursor.seal(&[7; 32]).unwrap(), &[7; 32]), Some(cursor));
        }
    }

    #[test]
    fn every_change_is_noticed() {
        let sealed = cursor().seal(&[7; 32]).unwrap();
        assert_eq!(Cursor::open(&sealed, &[8; 32]), None);
        for place in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            assert_eq!(Cursor::open(std::str::from_utf8(&changed).unwrap(), &[7; 32]), None, "{place}");
            assert_eq!(Cursor::open(&sealed[..place], &[7; 32]), None, "cut at {place}");
        }
    }
}
