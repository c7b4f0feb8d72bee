//! What is known of a request before it is routed: its head, the peer's address and the request id.

use std::fmt;
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

/// Generates request ids: a sequence without repetition that looks random.
#[derive(Debug)]
pub struct RequestIds {
    next: AtomicU64,
}

impl RequestIds {
    /// Starts the sequence at `seed`, which should be random so that two runs do not share ids.
    pub fn new(seed: u64) -> Self {
        Self { next: AtomicU64::new(seed) }
    }

    pub fn next(&self) -> RequestId {
        RequestId(mix(self.next.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)))
    }
}

/// The finalizer of SplitMix64, a bijection: different counts give different ids.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn request_ids_do_not_repeat() {
        let ids = RequestIds::new(7);
        let seen: HashSet<_> = (0..10_000).map(|_| ids.next()).collect();
        assert_eq!(seen.len(), 10_000);
        assert!(seen.iter().all(|id| id.to_string().len() == 16));
    }
}
