//! What is known of a request before it is routed: its head, the peer's address and the request id.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderValue, Method};

/// The head of a request.
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
}

impl RequestParts<'_> {
    /// True for GET and HEAD.
    pub(crate) fn is_read(&self) -> bool {
        matches!(*self.method, Method::GET | Method::HEAD)
    }
}

/// The address of the other end of the connection: the client, or the proxy in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// The id of one request, 16 hexadecimal digits; sent as `X-Request-Id` and in every error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(u64);

impl RequestId {
    pub(crate) fn header_value(self) -> HeaderValue {
        let mut digits = [0; 16];
        for (position, digit) in digits.iter_mut().enumerate() {
            *digit = HEXADECIMAL[(self.0 >> (60 - 4 * position)) as usize & 15];
        }
        HeaderValue::from_bytes(&digits).expect("digits are visible ASCII")
    }
}

const HEXADECIMAL: [u8; 16] = *b"0123456789abcdef";

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Generates request ids. They are a keyed hash of a count, so that nobody can tell from two ids how many requests came
/// between them.
#[derive(Debug, Default)]
pub struct RequestIds {
    key: RandomState,
    count: AtomicU64,
}

impl RequestIds {
    pub fn next(&self) -> RequestId {
        RequestId(self.key.hash_one(self.count.fetch_add(1, Ordering::Relaxed)))
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
}
