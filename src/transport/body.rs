//! Request bodies, read with limits on size and time, and response bodies, in memory or streamed.

use std::pin::Pin;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use http::header::{CONTENT_LENGTH, HeaderMap};

pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// Chunks of a body. The next chunk is only made when the connection has room for it, so a body of any length takes the
/// memory of a few chunks. An error ends the connection, so that the client notices that the body is incomplete.
pub type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, BodyError>> + Send + Sync>>;

pub enum Payload {
    Whole(Bytes),
    Stream(ByteStream),
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyReadError {
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    #[error(transparent)]
    Timeout(#[from] BodyTimeout),
    #[error("the body is incomplete")]
    Incomplete,
}

/// Error of a request body that takes too long; a route that finds it in a body's error responds with 408.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request body did not arrive in time")]
pub struct BodyTimeout;

impl BodyTimeout {
    /// True if `error` or one of its causes is a `BodyTimeout`.
    pub fn caused(error: &(dyn std::error::Error + 'static)) -> bool {
        std::iter::successors(Some(error), |error| error.source()).any(|error| error.is::<Self>())
    }
}

/// Error that ends a response for a reason of its client, such as reading too slowly. It is counted apart from faults of
/// the server and not logged as one; so are errors of reading the body of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ClientFault(pub &'static str);

impl ClientFault {
    /// True if the client is at fault for `error`.
    pub(crate) fn caused(error: &(dyn std::error::Error + 'static)) -> bool {
        std::iter::successors(Some(error), |error| error.source())
            .any(|error| error.is::<Self>() || error.is::<BodyReadError>() || error.is::<BodyTimeout>())
    }
}

/// The length of a body that its head announces.
pub(crate) fn announced_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads a body of at most `limit` bytes. A body with a longer announced length is rejected unread.
pub async fn read<B: Buf, E: std::error::Error + 'static>(
    headers: &HeaderMap,
    body: impl Stream<Item = Result<B, E>>,
    limit: usize,
) -> Result<Bytes, BodyReadError> {
    if announced_length(headers).is_some_and(|announced| announced > limit as u64) {
        return Err(BodyReadError::TooLarge(limit));
    }
    let mut body = std::pin::pin!(body);
    let mut bytes = BytesMut::new();
    while let Some(part) = body.next().await {
        match part {
            Ok(part) if part.remaining() > limit - bytes.len() => return Err(BodyReadError::TooLarge(limit)),
            Ok(part) => bytes.put(part),
            Err(error) if BodyTimeout::caused(&error) => return Err(BodyTimeout.into()),
            Err(_) => return Err(BodyReadError::Incomplete),
        }
    }
    Ok(bytes.freeze())
}
