//! One request on a connection: its id, its peer, the deadline of its body, and a response even if a route panics.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future;
use http::header::{ACCEPT, CONNECTION, CONTENT_LENGTH, HOST};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri, Version};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::Service;
use tokio::time::Sleep;

use crate::body::{BodyError, announced_length};
use crate::headers::REQUEST_ID;
use crate::origin::normal_host;
use crate::server::Limits;
use crate::server::connection_error::ConnectionError;
use crate::server::streamed_body::{BodyEnd, StreamedBody};
use crate::server::timeout_stream::ConnectionPhase;
use crate::telemetry::FinishedRequest;
use crate::url::normal_uri;
use crate::{BodyTimeout, Handler, Peer, RequestId, RequestIds, RequestParts, RequestTrace};
use platform::metrics::panics;

/// The body of a response: in memory, or created by a filter, possibly while it is sent.
pub type ResponseBody = Either<Full<Bytes>, BoxBody<Bytes, BodyError>>;

/// A handler as seen by one connection: every request gets a response, even if the handler panics.
pub(crate) struct ConnectionService<H> {
    pub(crate) handler: H,
    pub(crate) peer: Peer,
    pub(crate) phase: ConnectionPhase,
    pub(crate) ids: Arc<RequestIds>,
    pub(crate) limits: Arc<Limits>,
    /// The connection is above the limits: it gets a health check or a 503, and ends.
    pub(crate) is_reserved: bool,
    /// The server is stopping: each response ends its connection.
    pub(crate) stopping: Arc<AtomicBool>,
}

impl<H: Handler> Service<Request<Incoming>> for ConnectionService<H> {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = future::Either<
        future::Ready<Result<Self::Response, Infallible>>,
        Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>,
    >;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let started = Instant::now();
        if let Some(uri) = normal_uri(request.uri()) {
            *request.uri_mut() = uri;
        }
        let id = self.ids.for_request(request.headers());
        let trace = RequestTrace::default();
        // A connection above the limits ends at once.
        self.phase.set_unread_body(!request.body().is_end_stream() && !self.is_reserved);
        let pending = match self.respond(&request, id, &trace) {
            Ok(mut response) => {
                self.phase.set_idle();
                close(response.headers_mut(), self.is_reserved || self.phase.has_unread_body(), &self.stopping);
                let (status, bytes) = (response.status(), response.body().len() as u64);
                let (method, duration) = (Some(request.method()), started.elapsed());
                record(&self.handler, &FinishedRequest { id, method, status, duration, bytes, trace: &trace });
                return future::Either::Left(future::ready(Ok(response.map(in_memory))));
            }
            Err(pending) => pending,
        };
        self.phase.set_busy();
        let phase = self.phase.clone();
        let (handler, is_reserved, stopping) = (self.handler.clone(), self.is_reserved, Arc::clone(&self.stopping));
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let accept = request.headers().get(ACCEPT).cloned();
        let is_old = request.version() < Version::HTTP_11;
        let trace = Arc::new(trace);
        let mut request =
            request.map(|body| RequestBody::new(body, self.limits.body, Arc::clone(&trace), self.phase.clone()));
        request.extensions_mut().insert(self.peer);
        request.extensions_mut().insert(id);
        request.extensions_mut().insert(Arc::clone(&trace));
        future::Either::Right(Box::pin(async move {
            let response = panics::catch_async(handler.respond_later(pending, request)).await;
            let response = response.inspect_err(|panic| trace.set_failure(panic));
            let answer = |error: ConnectionError| {
                let headers = accept.clone().map(|accept| (ACCEPT, accept)).into_iter().collect();
                error.response_to(uri.path(), &headers, id, &handler.error_context(uri.path())).map(in_memory)
            };
            let mut response = response.unwrap_or_else(|_| answer(ConnectionError::InternalError));
            let is_unlimited =
                response.body().size_hint().exact().is_none() && !response.headers().contains_key(CONTENT_LENGTH);
            if is_old && is_unlimited {
                response = answer(ConnectionError::OldHttp);
            }
            response.headers_mut().entry(REQUEST_ID).or_insert_with(|| id.header_value());
            // A body read while its response is written is read to its end.
            let is_unread = phase.has_unread_body() && !trace.streams_body();
            close(response.headers_mut(), is_reserved || is_unread, &stopping);
            let (status, duration) = (response.status(), started.elapsed());
            let Some(bytes) = response.body().size_hint().exact() else {
                // Of a HEAD request, nothing is sent.
                let announced = match method {
                    Method::HEAD => Some(0),
                    _ => announced_length(response.headers()),
                };
                let report = move |bytes, end: BodyEnd<'_>| {
                    phase.set_idle();
                    let finished =
                        FinishedRequest { id, method: Some(&method), status, duration, bytes, trace: &trace };
                    handler.telemetry().into_iter().for_each(|telemetry| telemetry.record_streamed(&finished, end));
                };
                return Ok(response.map(|body| Either::Right(StreamedBody::new(body, announced, report).boxed())));
            };
            phase.set_idle();
            record(&handler, &FinishedRequest { id, method: Some(&method), status, duration, bytes, trace: &trace });
            Ok(response)
        }))
    }
}

impl<H: Handler> ConnectionService<H> {
    fn respond(
        &self,
        request: &Request<Incoming>,
        id: RequestId,
        trace: &RequestTrace,
    ) -> Result<Response<Bytes>, H::Pending> {
        let (method, uri) = (request.method(), request.uri());
        let (path, query, headers) = (uri.path(), uri.query().unwrap_or(""), request.headers());
        let is_refused = || self.is_reserved && !self.handler.is_health_check(path);
        let error = head_error(request, self.limits.head_bytes)
            .or_else(|| (!self.handler.admits_host(path, headers)).then_some(ConnectionError::Misdirected))
            .or_else(|| is_refused().then_some(ConnectionError::Overloaded));
        let answer =
            |error: ConnectionError| Ok(error.response_to(path, headers, id, &self.handler.error_context(path)));
        if let Some(error) = error {
            return answer(error);
        }
        let parts = RequestParts { method, path, query, headers, peer: self.peer, id, trace };
        let response = panics::catch(|| self.handler.respond(&parts)).inspect_err(|panic| trace.set_failure(panic));
        response.unwrap_or_else(|_| answer(ConnectionError::InternalError))
    }
}

pub(crate) fn record(handler: &impl Handler, request: &FinishedRequest<'_>) {
    if let Some(telemetry) = handler.telemetry() {
        telemetry.record(request);
    }
}

/// Ends the connection with this response if it is the last one or the server is stopping. A response is the last one
/// above the limits, and where the body of the request is unread: hyper ends the connection anyway unless the whole
/// body has arrived, and a client that is not told sends its next request in vain.
fn close(headers: &mut HeaderMap, is_last: bool, stopping: &AtomicBool) {
    if is_last || stopping.load(Ordering::Relaxed) {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

fn in_memory(body: Bytes) -> ResponseBody {
    Either::Left(Full::new(body))
}

/// Checks the head of a request. hyper itself only rejects a head that it could not read at once.
fn head_error(request: &Request<Incoming>, head_bytes: usize) -> Option<ConnectionError> {
    // A target without a path is meant for a proxy.
    if request.uri().path().is_empty() {
        return Some(ConnectionError::NotHttp);
    }
    let url = request.uri().path_and_query().map_or(0, |url| url.as_str().len());
    if url > head_bytes / 4 * 3 {
        return Some(ConnectionError::UrlTooLong);
    }
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    if url + headers.sum::<usize>() > head_bytes {
        return Some(ConnectionError::HeadTooLarge);
    }
    // RFC 9112: an HTTP/1.1 request has exactly one `Host`; hyper does not check it.
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (None, _) if request.version() < Version::HTTP_11 => return None,
        (Some(host), None) if is_host(host.as_bytes()) => host,
        _ => return Some(ConnectionError::MissingHost),
    };
    let is_other = request.uri().authority().is_some() && !has_authority(request.uri(), host.as_bytes());
    is_other.then_some(ConnectionError::OtherAuthority)
}

/// True if a `Host` header has only characters of a host and a port. An empty one belongs to a target without a host.
fn is_host(host: &[u8]) -> bool {
    host.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:[]%!$&'()*+,;=".contains(byte))
}

/// True if a whole URL is one of `host`. RFC 9112 lets the URL replace the header; caches and proxies that follow the
/// header would store the response under another host, so they have to agree.
fn has_authority(url: &Uri, host: &[u8]) -> bool {
    let default = match url.scheme_str() {
        Some("http") => 80,
        Some("https") => 443,
        _ => return false,
    };
    let host = Authority::try_from(host).ok();
    let of = |authority: &Authority| (normal_host(authority.host()), authority.port_u16().unwrap_or(default));
    url.authority()
        .zip(host.as_ref())
        .is_some_and(|(target, host)| !target.as_str().contains('@') && of(target) == of(host))
}

/// A request body that fails with [`BodyTimeout`] if it takes too long in total, or, if it is processed while it
/// arrives, between two of its chunks.
///
/// The time starts when the body is first awaited, so a request without a body needs no timer.
pub struct RequestBody {
    inner: Incoming,
    timeout: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    trace: Arc<RequestTrace>,
    phase: ConnectionPhase,
}

impl RequestBody {
    fn new(inner: Incoming, timeout: Duration, trace: Arc<RequestTrace>, phase: ConnectionPhase) -> Self {
        Self { inner, timeout, timer: None, trace, phase }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) {
            if this.trace.streams_body() {
                this.timer = None;
            }
            if this.inner.is_end_stream() || !matches!(frame, Some(Ok(_))) {
                this.phase.set_unread_body(false);
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let timeout = this.timeout;
        let timer = this.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        std::task::ready!(timer.as_mut().poll(cx));
        // The client has had its time.
        this.phase.set_unread_body(false);
        Poll::Ready(Some(Err(BodyTimeout.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
