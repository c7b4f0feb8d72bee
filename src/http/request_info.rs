//! What the accept loop tells the routes about a request, as extensions of the request.
//!
//! They live here and not in `server`, because imports run from `server` to `web`; `server` names them again. A route
//! reads them with `warp::ext::optional::<Peer>()`; under `warp::test` there are none.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderValue;

/// The address of the other end of the connection: the client, or the proxy before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// The id of one request, 16 hexadecimal digits; answered as `X-Request-Id` and in every error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(u64);

impl RequestId {
    /// The id as a header's value.
    #[must_use]
    pub fn value(self) -> HeaderValue {
        let mut digits = [0; 16];
        for (place, digit) in digits.iter_mut().enumerate() {
            *digit = HEXADECIMAL.get((self.0 >> (60 - 4 * place)) as usize & 15).copied().unwrap_or(b'0');
        }
        HeaderValue::from_bytes(&digits).unwrap_or(HeaderValue::from_static("0"))
    }
}

const HEXADECIMAL: [u8; 16] = *b"0123456789abcdef";

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Makes request ids: a sequence that never repeats and looks unordered, begun at a seed.
#[derive(Debug)]
pub struct RequestIds {
    next: AtomicU64,
}

impl RequestIds {
    /// The sequence that begins at `seed`; take it at random, so that two runs do not share ids.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { next: AtomicU64::new(seed) }
    }

    /// The next id.
    pub fn next(&self) -> RequestId {
        RequestId(mixed(self.next.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)))
    }
}

/// The finalizer of SplitMix64, a bijection: different counts give different ids.
fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The client took longer to send its request body than it is given; a body ends with this error.
///
/// A route that sees it in the chain of a body's error answers 408.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyTimeout;

impl fmt::Display for BodyTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request body did not arrive in time")
    }
}

impl std::error::Error for BodyTimeout {}

impl BodyTimeout {
    /// True where `error`, or a cause of it, is a body that did not arrive in time.
    #[must_use]
    pub fn caused(error: &(dyn std::error::Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<Self>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
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
