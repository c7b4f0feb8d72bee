//! The interface between the accept loop and the service, which alone knows of routes, versions and caches.

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use warp::Reply;
use warp::filters::BoxedFilter;

use crate::body::Payload;
use crate::server::{RequestBody, ResponseBody};
use crate::{RequestParts, Telemetry};
use data::SnapshotVersion;

/// [`respond`](Self::respond) answers most requests at once; those that read a body or wait continue later.
pub trait Handler: Clone + Send + Sync + Unpin + 'static {
    /// State passed from `respond` to `respond_later`.
    type Pending: Send + 'static;

    /// Responds at once; `Err` if the request needs its body or has to wait.
    fn respond(&self, request: &RequestParts<'_>) -> Result<Response<Bytes>, Self::Pending>;

    /// Responds to a request for which `respond` returned `Err`. Its [`Peer`](crate::Peer),
    /// [`RequestId`](crate::RequestId) and [`RequestTrace`](crate::RequestTrace) are extensions of the request.
    fn respond_later(
        &self,
        pending: Self::Pending,
        request: Request<RequestBody>,
    ) -> impl Future<Output = Response<ResponseBody>> + Send;

    /// True if a path is served on connections above the limits.
    fn is_health_check(&self, _path: &str) -> bool {
        false
    }

    /// True if the `Host` of a request for a path is ours; otherwise the response is 421.
    fn admits_host(&self, _path: &str, _headers: &HeaderMap) -> bool {
        true
    }

    fn begin_shutdown(&self) {}

    fn telemetry(&self) -> Option<&Telemetry> {
        None
    }

    fn error_context(&self, path: &str) -> ErrorContext<'_>;
}

/// Facts about the service for responses that no route makes.
#[derive(Clone, Debug, Default)]
pub struct ErrorContext<'a> {
    /// Public URL of the service, without a trailing slash.
    pub public_url: &'a str,
    pub snapshot: Option<SnapshotVersion>,
    /// The value of `X-API-Version`, if the path belongs to a version.
    pub api_version: Option<&'static str>,
    /// Unix seconds.
    pub now: i64,
}

pub fn reply(response: Response<Payload>) -> warp::reply::Response {
    let (head, payload) = response.into_parts();
    match payload {
        Payload::Whole(bytes) => Response::from_parts(head, bytes).into_response(),
        Payload::Stream(stream) => Response::from_parts(head, warp::reply::stream(stream).into_response().into_body()),
    }
}

pub async fn run_filter(
    filter: &BoxedFilter<(warp::reply::Response,)>,
    request: Request<RequestBody>,
) -> Response<ResponseBody> {
    let Ok(response) = TowerToHyperService::new(warp::service(filter.clone())).call(request).await;
    response.map(|body| ResponseBody::Right(body.map_err(Into::into).boxed()))
}
