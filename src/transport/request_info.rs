//! A request before routing: its head, the address of the peer and the request id.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderValue, Method};

use crate::RequestTrace;
use crate::headers::REQUEST_ID;
use auth::KEY_PREFIX;

#[derive(Clone, Copy)]
pub struct RequestParts<'a> {
    pub method: &'a Method,
    /// The path as sent, still percent-encoded.
    pub path: &'a str,
    /// The query as sent, without the question mark; empty if there is none.
    pub query: &'a str,
    pub headers: &'a HeaderMap,
    pub peer: Peer,
    pub id: RequestId,
    pub trace: &'a RequestTrace,
}

impl RequestParts<'_> {
    pub fn is_read(&self) -> bool {
        matches!(*self.method, Method::GET | Method::HEAD)
    }
}

/// The address of the other end of the connection: the client, or the proxy in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// The id of one request, sent as `X-Request-Id` and in every error: the caller's own `X-Request-Id`, so that both
/// sides log the same, or else 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId {
    /// ASCII, padded with zeros.
    text: [u8; MAX_ID],
    length: u8,
}

/// Maximum length of a caller's id; a UUID has 36 characters.
const MAX_ID: usize = 64;

impl RequestId {
    /// The caller's id in the headers of a request: a single `X-Request-Id` of at most [`MAX_ID`] letters, digits and
    /// `-_.:`, which is safe in logs. A value that contains an API key is not an id.
    fn of_caller(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(REQUEST_ID).iter();
        let value = values.next().filter(|_| values.next().is_none())?.as_bytes();
        let is_safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte);
        let is_valid = !value.is_empty()
            && value.iter().all(is_safe)
            && !value.windows(KEY_PREFIX.len()).any(|part| part == KEY_PREFIX.as_bytes());
        if is_valid { Self::new(value) } else { None }
    }

    /// `None` if the text is too long.
    fn new(text: &[u8]) -> Option<Self> {
        let mut id = Self { text: [0; MAX_ID], length: u8::try_from(text.len()).ok()? };
        id.text.get_mut(..text.len())?.copy_from_slice(text);
        Some(id)
    }

    fn as_bytes(&self) -> &[u8] {
        &self.text[..usize::from(self.length)]
    }

    pub(crate) fn header_value(self) -> HeaderValue {
        HeaderValue::from_bytes(self.as_bytes()).expect("an id is visible ASCII")
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(self.as_bytes()).expect("an id is ASCII"))
    }
}

const HEXADECIMAL: [u8; 16] = *b"0123456789abcdef";

/// Generates request ids: a keyed hash of a counter, so that two ids do not tell the number of requests between them.
#[derive(Debug, Default)]
pub struct RequestIds {
    key: RandomState,
    count: AtomicU64,
}

impl RequestIds {
    /// The caller's id of a request, or else a new one.
    pub(crate) fn for_request(&self, headers: &HeaderMap) -> RequestId {
        RequestId::of_caller(headers).unwrap_or_else(|| self.next())
    }

    pub fn next(&self) -> RequestId {
        let number = self.key.hash_one(self.count.fetch_add(1, Ordering::Relaxed));
        let digits: [u8; 16] = std::array::from_fn(|at| HEXADECIMAL[(number >> (60 - 4 * at)) as usize & 15]);
        RequestId::new(&digits).expect("16 digits are short enough")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn request_ids_do_not_repeat() {
        let (ids, others) = (RequestIds::default(), RequestIds::default());
        let seen: HashSet<_> = (0..10_000).flat_map(|_| [ids.next(), others.next()]).collect();
        assert_eq!(seen.len(), 20_000);
        assert!(seen.iter().all(|id| id.to_string().len() == 16));
    }

    #[test]
    fn an_id_of_the_caller_is_kept_if_it_is_safe() {
        let ids = RequestIds::default();
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(REQUEST_ID, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
            ids.for_request(&headers)
        };
        let longest = "a".repeat(MAX_ID);
        for id in ["7", "0193a8c4-5d6e-7f80-9a1b-2c3d4e5f6071", "Root:1-67_a.B", &longest] {
            assert_eq!((of(&[id]).to_string().as_str(), of(&[id]).header_value()), (id, id.parse().unwrap()));
        }
        let too_long = "a".repeat(MAX_ID + 1);
        let longer = "a".repeat(300);
        let rejected: [&[&str]; 9] =
            [&[], &[""], &["a b"], &["a\"b"], &["a/b"], &["ü"], &["1", "2"], &[&too_long], &[&longer]];
        for values in rejected {
            assert_eq!(of(values).to_string().len(), 16, "{values:?}");
        }
        for key in ["vdx_0123456789", "my-key:vdx_0123456789"] {
            assert_eq!(of(&[key]).to_string().len(), 16);
        }
    }
}
