//! Responses until the first release can be served: health, and a 503 for everything else, to browsers as a page.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, Response, StatusCode};
use serde_json::json;

use crate::app::router::{self, AppRoute, Router};
use platform::clock::now;
use release::remote::Replica;
use site::waiting;
use transport::headers::CommonHeaders;
use transport::origin_policy::Hosts;
pub(super) use transport::server::connection_error::ConnectionError;
use transport::server::{RequestBody, ResponseBody};
use transport::{ErrorContext, Handler, RequestParts, Telemetry};

/// Guards the router, which is created with the first release, so that no route has to cope without one.
#[derive(Clone)]
pub(crate) struct Gate(Arc<Inner>);

struct Inner {
    router: OnceLock<Router>,
    /// The reason why there is no release yet.
    reason: Mutex<String>,
    /// The replica that releases come from; what is wrong with its object store is a better reason.
    replica: Option<Arc<Replica>>,
    hosts: Hosts,
    public_url: String,
    telemetry: Arc<Telemetry>,
    stopping: AtomicBool,
}

impl Gate {
    pub(crate) fn new(
        hosts: Hosts,
        public_url: String,
        telemetry: Arc<Telemetry>,
        replica: Option<Arc<Replica>>,
    ) -> Self {
        let (router, reason, stopping) = Default::default();
        Self(Arc::new(Inner { router, reason, replica, hosts, public_url, telemetry, stopping }))
    }

    pub(crate) fn refuse(&self, reason: String) {
        *self.0.reason.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    pub(crate) fn open(&self, router: Router) {
        let router = self.0.router.get_or_init(|| router);
        if self.0.stopping.load(Ordering::SeqCst) {
            router.begin_shutdown();
        }
    }

    /// Why there is no release yet.
    fn reason(&self) -> String {
        let fault = self.0.replica.as_ref().and_then(|replica| replica.fault());
        match fault {
            Some(fault) => fault.to_string(),
            None => self.0.reason.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    fn readiness(&self) -> Response<Bytes> {
        let reason = self.reason();
        let is_stopping = self.0.stopping.load(Ordering::SeqCst);
        let status = if is_stopping { "stopping" } else { "not_ready" };
        let body = json!({ "status": status, "snapshot": null, "bundled": false, "held": [], "reason": reason });
        router::readiness_response(StatusCode::SERVICE_UNAVAILABLE, &body)
    }
}

impl Handler for Gate {
    type Pending = ();

    fn respond(&self, request: &RequestParts<'_>) -> Result<Response<Bytes>, ()> {
        if let Some(router) = self.0.router.get() {
            return router.respond(request);
        }
        let health = match AppRoute::of_request(request) {
            AppRoute::Health if request.is_read() => router::plain_response("ok\n"),
            AppRoute::Readiness if request.is_read() => self.readiness(),
            _ if request.is_read() && request.path == waiting::STYLE_PATH => {
                router::response(StatusCode::OK, "text/css; charset=utf-8", waiting::STYLE)
            }
            _ => {
                request.trace.set_failure(&"no release can be served yet");
                let context = self.error_context(request.path);
                let mut refusal =
                    ConnectionError::NotReady.response_to(request.path, request.headers, request.id, &context);
                let is_page = refusal.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == waiting::HTML);
                if request.is_read() && is_page {
                    CommonHeaders { page_policy: Some(waiting::CSP), ..Default::default() }
                        .write(refusal.headers_mut());
                    *refusal.body_mut() = waiting::page(&self.reason()).into();
                }
                return Ok(refusal);
            }
        };
        Ok(router::with_site_headers(health, request.id, &self.0.public_url))
    }

    async fn respond_later(&self, (): (), request: Request<RequestBody>) -> Response<ResponseBody> {
        let router = self.0.router.get().expect("only the router leaves requests for later");
        router.respond_later((), request).await
    }

    fn is_health_check(&self, path: &str) -> bool {
        router::is_health_check(path)
    }

    fn admits_host(&self, path: &str, headers: &HeaderMap) -> bool {
        match self.0.router.get() {
            Some(router) => router.admits_host(path, headers),
            None => self.0.hosts.admit(headers).is_ok() || self.is_health_check(path),
        }
    }

    fn begin_shutdown(&self) {
        self.0.stopping.store(true, Ordering::SeqCst);
        if let Some(router) = self.0.router.get() {
            router.begin_shutdown();
        }
    }

    fn telemetry(&self) -> Option<&Telemetry> {
        Some(&self.0.telemetry)
    }

    fn error_context(&self, path: &str) -> ErrorContext<'_> {
        match self.0.router.get() {
            Some(router) => router.error_context(path),
            None => router::error_context(path, &self.0.public_url, None, now()),
        }
    }
}
