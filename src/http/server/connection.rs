//! One request on a connection: its id and peer, its body's deadline, and an answer whatever happens.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, future};
use http::header::HOST;
use http::{Method, Request, Response, Version};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::Service;
use tokio::time::Sleep;

use crate::app::router::FastPath;
use crate::http::headers::REQUEST_ID;
use crate::http::server::connection_error::ConnectionError;
use crate::http::server::timeout_stream::ConnectionPhase;
use crate::http::{BodyTimeout, Peer, RequestId, RequestIds};

/// Whatever ends an answer's body early.
pub(crate) type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// An answer's body: whole, where it was kept.
pub(crate) type AnswerBody = Either<Full<Bytes>, BoxBody<Bytes, BodyError>>;

/// The routes as one connection sees them: every request of it gets an answer, also where a route panics.
pub(crate) struct Connection<S> {
    pub(crate) routes: S,
    pub(crate) entrance: FastPath,
    pub(crate) peer: Peer,
    pub(crate) phase: ConnectionPhase,
    pub(crate) ids: Arc<RequestIds>,
    pub(crate) body: Duration,
    pub(crate) head_bytes: usize,
}

impl<S, B> Service<Request<Incoming>> for Connection<S>
where
    S: Service<Request<TimedBody<Incoming>>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + Sync + 'static,
    B::Error: Into<BodyError>,
{
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future = future::Either<
        future::Ready<Result<Self::Response, Infallible>>,
        Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>,
    >;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let id = self.ids.next();
        let refused = refused(&request, self.head_bytes);
        if refused.is_none()
            && let Some(answer) = self.kept_answer(&request, id)
        {
            self.phase.idle();
            return future::Either::Left(future::ready(Ok(answer)));
        }
        self.phase.busy();
        let phase = self.phase.clone();
        let (peer, patience, routes, entrance) = (self.peer, self.body, self.routes.clone(), self.entrance.clone());
        future::Either::Right(Box::pin(async move {
            let mut answer = match refused {
                Some(refused) => refused.answer(request.uri().path(), id, &entrance),
                None => answered(routes, &entrance, request, peer, id, patience).await,
            };
            answer.headers_mut().entry(REQUEST_ID).or_insert_with(|| id.value());
            phase.idle();
            Ok(answer)
        }))
    }
}

impl<S> Connection<S> {
    /// The answer that is kept for a request, if one is.
    fn kept_answer(&self, request: &Request<Incoming>, id: RequestId) -> Option<Response<AnswerBody>> {
        match std::panic::catch_unwind(AssertUnwindSafe(|| self.entrance.kept_answer(request, id))) {
            Ok(answer) => answer.map(|answer| answer.map(|body| Either::Left(Full::new(body)))),
            Err(panic) => Some(panicked(request.method(), request.uri().path(), id, &self.entrance, panic.as_ref())),
        }
    }
}

/// Why no route gets the request, if none does. hyper only refuses a head that it could not take in at one go.
fn refused(request: &Request<Incoming>, head_bytes: usize) -> Option<ConnectionError> {
    // A target that only names a host is for proxies, which this is none of.
    if request.uri().path().is_empty() {
        return Some(ConnectionError::NoRequest);
    }
    let address = request.uri().path_and_query().map_or(0, |address| address.as_str().len());
    if address > head_bytes / 4 * 3 {
        return Some(ConnectionError::UrlTooLong);
    }
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    if address + headers.sum::<usize>() > head_bytes {
        return Some(ConnectionError::HeadTooLarge);
    }
    (!names_one_host(request)).then_some(ConnectionError::MissingHost)
}

/// RFC 9112: a request of HTTP/1.1 has exactly one `Host`; hyper does not look.
fn names_one_host(request: &Request<Incoming>) -> bool {
    match request.headers().get_all(HOST).iter().count() {
        0 => request.version() < Version::HTTP_11,
        count => count == 1,
    }
}

async fn answered<S, B>(
    routes: S,
    entrance: &FastPath,
    request: Request<Incoming>,
    peer: Peer,
    id: RequestId,
    patience: Duration,
) -> Response<AnswerBody>
where
    S: Service<Request<TimedBody<Incoming>>, Response = Response<B>, Error = Infallible>,
    B: Body<Data = Bytes> + Send + Sync + 'static,
    B::Error: Into<BodyError>,
{
    let mut request = request.map(|body| TimedBody::new(body, patience));
    request.extensions_mut().insert(peer);
    request.extensions_mut().insert(id);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    match AssertUnwindSafe(async move { routes.call(request).await }).catch_unwind().await {
        Ok(Ok(answer)) => answer.map(|body| Either::Right(body.map_err(Into::into).boxed())),
        Ok(Err(never)) => match never {},
        Err(panic) => panicked(&method, &path, id, entrance, panic.as_ref()),
    }
}

fn panicked(
    method: &Method,
    path: &str,
    id: RequestId,
    entrance: &FastPath,
    panic: &(dyn Any + Send),
) -> Response<AnswerBody> {
    eprintln!("request {id}: {method} {path} panicked: {}", words_of(panic));
    ConnectionError::InternalError.answer(path, id, entrance)
}

fn words_of(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("")
}

/// A request body that ends with [`BodyTimeout`] where it takes too long as a whole.
///
/// The time begins when the body is first waited for, so that a request without one costs no timer.
pub(crate) struct TimedBody<B> {
    inner: B,
    patience: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<B> TimedBody<B> {
    fn new(inner: B, patience: Duration) -> Self {
        Self { inner, patience, timer: None }
    }
}

impl<B> Body for TimedBody<B>
where
    B: Body + Unpin,
    B::Error: Into<BodyError>,
{
    type Data = B::Data;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, BodyError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let patience = this.patience;
        let timer = this.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        timer.as_mut().poll(cx).map(|()| Some(Err(BodyTimeout.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
