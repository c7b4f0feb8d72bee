use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::body::BodyError;

/// A body that reports the number of bytes sent when it ends, and the error that ended it if the server is at fault.
pub(crate) struct StreamedBody<B, R: FnOnce(u64, Option<&BodyError>)> {
    inner: B,
    bytes: u64,
    cut: Option<BodyError>,
    report: Option<R>,
}

impl<B, R: FnOnce(u64, Option<&BodyError>)> StreamedBody<B, R> {
    pub(crate) fn new(inner: B, report: R) -> Self {
        Self { inner, bytes: 0, cut: None, report: Some(report) }
    }
}

impl<B, R> Body for StreamedBody<B, R>
where
    B: Body<Data = Bytes, Error = BodyError> + Unpin,
    R: FnOnce(u64, Option<&BodyError>) + Unpin,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let frame = std::task::ready!(Pin::new(&mut this.inner).poll_frame(cx));
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

impl<B, R: FnOnce(u64, Option<&BodyError>)> Drop for StreamedBody<B, R> {
    fn drop(&mut self) {
        if let Some(report) = self.report.take() {
            report(self.bytes, self.cut.as_ref());
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, StreamExt, stream};
    use http_body_util::{BodyExt, StreamBody};

    use super::*;

    /// Reads `frames` frames of a body that has two chunks and a fault, and returns the report.
    fn reported(frames: usize) -> (u64, Option<String>) {
        let parts = stream::iter([Ok(Bytes::from("four")), Ok(Bytes::from("six...")), Err("a fault".into())]);
        let (report, reports) = std::sync::mpsc::channel();
        let report = move |bytes, cut: Option<&BodyError>| report.send((bytes, cut.map(ToString::to_string))).unwrap();
        let mut body = StreamedBody::new(StreamBody::new(parts.map(|part| part.map(Frame::data))), report);
        for _ in 0..frames {
            let _ = body.frame().now_or_never().expect("ready");
        }
        assert!(reports.try_recv().is_err(), "it has not ended");
        drop(body);
        reports.recv().unwrap()
    }

    #[test]
    fn what_was_sent_is_reported_with_the_fault_that_ended_it() {
        assert_eq!(reported(0), (0, None), "of a HEAD request");
        assert_eq!(reported(1), (4, None), "the client has left");
        assert_eq!(reported(3), (10, Some("a fault".to_owned())));
    }
}
