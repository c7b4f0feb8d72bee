//! Cursors: a position in a list of one release, with its query, authenticated by an HMAC.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{Catalog, Issues, ListPosition, ParameterError, ParseOptions, ParsedRequest, Resource};
use data::{Date, SnapshotVersion};

/// Parameters with matches ordered by relevance.
pub const SEARCHES: [&str; 3] = ["q", "text", "like"];

const FORMAT: u8 = 1;
/// Bytes of the tag: HMAC-SHA-256 truncated to half, as RFC 2104 allows.
const TAG_LEN: usize = 16;
/// Bytes of a cursor without path and query.
const FIXED_LEN: usize = 30 + TAG_LEN;
/// Maximum length of a cursor as text, because the length of its URL is limited.
const MAX_LEN: usize = 20_000;
const NO_POSITION: u32 = u32::MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub snapshot: SnapshotVersion,
    /// Checksum of the release, see `Snapshot::content`.
    pub content: u64,
    /// The list of the cursor: the path below the version, such as `vcs`, or the name of a tool.
    pub path: String,
    /// Filters and `sort` in canonical names and values.
    pub filters: Vec<(String, String)>,
    /// Options that a request may change from page to page, such as `limit`.
    pub options: Vec<(String, String)>,
    pub position: ListPosition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorFault {
    /// Another replica already serves its release.
    NotYetHeld(SnapshotVersion),
    Expired(SnapshotVersion),
}

impl Cursor {
    /// The cursor of a page of a list; the names are those of its parameters.
    pub fn new(
        catalog: &Catalog,
        path: &str,
        filters: impl IntoIterator<Item = (&'static str, String)>,
        options: impl IntoIterator<Item = (&'static str, String)>,
        position: ListPosition,
    ) -> Self {
        let owned = |(name, value): (&'static str, String)| (name.to_owned(), value);
        Self {
            snapshot: catalog.version(),
            content: catalog.snapshot().content(),
            path: path.to_ascii_lowercase(),
            filters: filters.into_iter().map(owned).collect(),
            options: options.into_iter().map(owned).collect(),
            position,
        }
    }

    /// The release of the cursor, out of what `ActiveRelease::look_up` finds for its version.
    pub fn release(&self, (loaded, is_expected): (Option<Arc<Catalog>>, bool)) -> Result<Arc<Catalog>, CursorFault> {
        loaded.filter(|catalog| catalog.snapshot().content() == self.content).ok_or(match is_expected {
            true => CursorFault::NotYetHeld(self.snapshot),
            false => CursorFault::Expired(self.snapshot),
        })
    }

    /// Parses filters and `sort` by `parse`. Those of a cursor apply, and given ones must agree with them.
    pub fn parse_continued(
        cursor: Option<&Self>,
        resource: Resource,
        options: ParseOptions,
        values: &[(String, String)],
        parse: impl Fn(&[(String, String)]) -> Result<ParsedRequest, Issues>,
    ) -> Result<ParsedRequest, Issues> {
        let given = parse(values)?;
        let Some(cursor) = cursor else { return Ok(given) };
        let default_of = |name: &str, has_text| options.default_of(resource, name, has_text);
        cursor.check(&given.canonical, default_of).map_err(|error| vec![error])?;
        parse(&cursor.filters)
    }

    /// The values of a request, plus the carried ones that it omits.
    pub fn with_omitted<'v>(
        values: &'v [(String, String)],
        carried: impl IntoIterator<Item = &'v (String, String)>,
    ) -> Vec<(String, String)> {
        let is_given = |name: &str| values.iter().any(|(known, value)| known == name && !value.trim().is_empty());
        values.iter().chain(carried.into_iter().filter(|(name, _)| !is_given(name))).cloned().collect()
    }

    /// Checks filters and `sort` given with the cursor: each must equal the cursor's or, if it has none, the default.
    pub fn check(
        &self,
        given: &[(&'static str, String)],
        default_of: impl Fn(&str, bool) -> Option<String>,
    ) -> Result<(), ParameterError> {
        let has_text = self.filters.iter().any(|(name, _)| SEARCHES.contains(&name.as_str()));
        for (name, value) in given {
            let known = self.filters.iter().find(|(known, _)| known == name).map(|(_, carried)| carried.clone());
            if known.or_else(|| default_of(name, has_text)).as_ref() != Some(value) {
                let detail =
                    format!("`{name}` differs from the query of the cursor; omit `{name}` or restart without `cursor`");
                return Err(ParameterError { code: "cursor_mismatch", ..ParameterError::invalid(name, detail) });
            }
        }
        Ok(())
    }

    /// The cursor as URL-safe text, signed with `secret`; `None` if its query is too long for a URL.
    pub fn seal(&self, secret: &[u8; 32]) -> Option<String> {
        let mut query = form_urlencoded::Serializer::new(String::with_capacity(128));
        query.extend_pairs(self.filters.iter().chain(&self.options));
        let query = query.finish();
        let mut bytes = Vec::with_capacity(FIXED_LEN + self.path.len() + query.len());
        bytes.push(FORMAT);
        bytes.extend_from_slice(&self.snapshot.date.days().to_le_bytes());
        bytes.extend_from_slice(&self.snapshot.counter.to_le_bytes());
        bytes.extend_from_slice(&self.content.to_le_bytes());
        bytes.extend_from_slice(&self.position.offset.to_le_bytes());
        bytes.extend_from_slice(&self.position.position.unwrap_or(NO_POSITION).to_le_bytes());
        bytes.extend_from_slice(self.path.as_bytes());
        bytes.push(b'?');
        bytes.extend_from_slice(query.as_bytes());
        let tag = mac(secret, &bytes).finalize().into_bytes();
        bytes.extend_from_slice(&tag[..TAG_LEN]);
        Some(URL_SAFE_NO_PAD.encode(bytes)).filter(|text| text.len() <= MAX_LEN)
    }

    /// `None` if it was modified or signed with another secret. `is_option` tells options from filters.
    pub fn open(text: &str, secret: &[u8; 32], is_option: impl Fn(&str) -> bool) -> Option<Self> {
        if text.len() > MAX_LEN {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (bytes, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG_LEN)?)?;
        mac(secret, bytes).verify_truncated_left(tag).ok()?;
        let (format, bytes) = bytes.split_first()?;
        let (days, bytes) = bytes.split_first_chunk()?;
        let (counter, bytes) = bytes.split_first_chunk()?;
        let (content, bytes) = bytes.split_first_chunk()?;
        let (offset, bytes) = bytes.split_first_chunk()?;
        let (position, bytes) = bytes.split_first_chunk()?;
        let (path, query) = std::str::from_utf8(bytes).ok()?.split_once('?')?;
        let query = form_urlencoded::parse(query.as_bytes()).into_owned();
        let (options, filters) = query.partition(|(name, _)| is_option(name));
        let position = u32::from_le_bytes(*position);
        (*format == FORMAT).then(|| Self {
            snapshot: SnapshotVersion {
                date: Date::from_days(i32::from_le_bytes(*days)),
                counter: u32::from_le_bytes(*counter),
            },
            content: u64::from_le_bytes(*content),
            path: path.to_owned(),
            filters,
            options,
            position: ListPosition {
                offset: u64::from_le_bytes(*offset),
                position: (position != NO_POSITION).then_some(position),
            },
        })
    }
}

fn mac(secret: &[u8; 32], bytes: &[u8]) -> Hmac<Sha256> {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret).expect("HMAC accepts keys of any length");
    mac.update(bytes);
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor() -> Cursor {
        Cursor {
            snapshot: "2026-11-20.3".parse().unwrap(),
            content: 0x0123_4567_89ab_cdef,
            path: "vcs".into(),
            filters: vec![("q".into(), "a&b=c ü".into()), ("sort".into(), "-name".into())],
            options: vec![("limit".into(), "5".into())],
            position: ListPosition { offset: 40, position: Some(77) },
        }
    }

    fn open(text: &str, secret: &[u8; 32]) -> Option<Cursor> {
        Cursor::open(text, secret, |name| name == "limit")
    }

    #[test]
    fn a_sealed_cursor_opens_unchanged() {
        let sealed = cursor().seal(&[7; 32]).unwrap();
        assert!(sealed.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
        assert_eq!(open(&sealed, &[7; 32]), Some(cursor()));
        let without = Cursor { position: ListPosition::after(3), ..cursor() };
        assert_eq!(open(&without.seal(&[7; 32]).unwrap(), &[7; 32]), Some(without));
    }

    #[test]
    fn every_sealed_cursor_can_be_opened() {
        let of_length = |length: usize| Cursor { filters: vec![("city".into(), "é".repeat(length))], ..cursor() };
        let made: Vec<bool> = (2_400..2_600).map(|length| of_length(length).seal(&[7; 32]).is_some()).collect();
        assert!(made.first() == Some(&true) && made.last() == Some(&false));
        for length in (0..200).filter(|length| made[*length]) {
            let cursor = of_length(2_400 + length);
            assert_eq!(open(&cursor.seal(&[7; 32]).unwrap(), &[7; 32]), Some(cursor));
        }
    }

    #[test]
    fn every_modification_is_rejected() {
        let sealed = cursor().seal(&[7; 32]).unwrap();
        assert_eq!(open(&sealed, &[8; 32]), None);
        for index in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
            assert_eq!(open(std::str::from_utf8(&changed).unwrap(), &[7; 32]), None, "{index}");
            assert_eq!(open(&sealed[..index], &[7; 32]), None, "cut at {index}");
        }
    }
}
