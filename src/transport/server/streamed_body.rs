use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::body::BodyError;

/// How a body ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyEnd<'a> {
    /// All of it was passed to the connection.
    Whole,
    /// The connection ended first: the client closed it or read too slowly.
    Abandoned,
    Failed(&'a BodyError),
}

/// A body that reports the number of bytes sent and how it ended.
pub(crate) struct StreamedBody<B, R: FnOnce(u64, BodyEnd<'_>)> {
    inner: B,
    bytes: u64,
    /// The length that the head announces; the connection does not ask for more. `None` if the body tells its own end.
    announced: Option<u64>,
    has_ended: bool,
    cut: Option<BodyError>,
    report: Option<R>,
}

impl<B, R: FnOnce(u64, BodyEnd<'_>)> StreamedBody<B, R> {
    pub(crate) fn new(inner: B, announced: Option<u64>, report: R) -> Self {
        Self { inner, bytes: 0, announced, has_ended: false, cut: None, report: Some(report) }
    }
}

impl<B, R> Body for StreamedBody<B, R>
where
    B: Body<Data = Bytes, Error = BodyError> + Unpin,
    R: FnOnce(u64, BodyEnd<'_>) + Unpin,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let frame = std::task::ready!(Pin::new(&mut this.inner).poll_frame(cx));
        this.has_ended |= frame.is_none();
        Poll::Ready(frame.map(|frame| match frame {
            Ok(frame) => {
                this.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                Ok(frame)
            }
            Err(error) => {
                let message = error.to_string();
                this.cut = Some(error);
                Err(message.into())
            }
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl<B, R: FnOnce(u64, BodyEnd<'_>)> Drop for StreamedBody<B, R> {
    fn drop(&mut self) {
        let Some(report) = self.report.take() else { return };
        let end = match &self.cut {
            Some(error) => BodyEnd::Failed(error),
            None if self.has_ended || self.announced.is_some_and(|length| self.bytes >= length) => BodyEnd::Whole,
            None => BodyEnd::Abandoned,
        };
        report(self.bytes, end);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, StreamExt, stream};
    use http_body_util::{BodyExt, StreamBody};

    use super::*;

    /// Reads `frames` frames of a body of two chunks, with a fault after them if `fails`, and returns the report.
    fn reported(frames: usize, announced: Option<u64>, fails: bool) -> (u64, String) {
        let fault: Option<Result<Bytes, BodyError>> = fails.then(|| Err("a fault".into()));
        let parts = stream::iter([Ok(Bytes::from("four")), Ok(Bytes::from("six..."))].into_iter().chain(fault));
        let (report, reports) = std::sync::mpsc::channel();
        let report = move |bytes, end: BodyEnd<'_>| report.send((bytes, format!("{end:?}"))).unwrap();
        let body = StreamBody::new(parts.map(|part| part.map(Frame::data)));
        let mut body = StreamedBody::new(body, announced, report);
        for _ in 0..frames {
            let _ = body.frame().now_or_never().expect("ready");
        }
        assert!(reports.try_recv().is_err(), "it has not ended");
        drop(body);
        reports.recv().unwrap()
    }

    #[test]
    fn what_was_sent_is_reported_with_how_it_ended() {
        let whole = |bytes| (bytes, "Whole".to_owned());
        assert_eq!(reported(0, Some(0), false), whole(0), "of a HEAD request");
        assert_eq!(reported(3, None, false), whole(10));
        assert_eq!(reported(2, Some(10), false), whole(10), "the connection has all that it needs");
        for (frames, announced, bytes) in [(0, None, 0), (1, None, 4), (2, None, 10), (1, Some(10), 4)] {
            assert_eq!(reported(frames, announced, false), (bytes, "Abandoned".to_owned()), "{frames}");
        }
        assert_eq!(reported(3, None, true), (10, "Failed(\"a fault\")".to_owned()));
    }
}
