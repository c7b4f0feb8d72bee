//! What a private service (`--access`) shows to whom. Everything is closed but the routes that [`AppRoute::is_open`] names.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, HeaderName};
use http::{HeaderValue, Method, Response, StatusCode};

use super::{AppRoute, FrontEnds, refusal};
use auth::AuthError;
use service::Access;
use site::static_pages::StaticPages;
use transport::RequestParts;
use transport::headers::authorization;
use transport::negotiation::{names_file, requests_html};
use transport::problem::{Code, Problem};

const SNAPSHOT: HeaderName = HeaderName::from_static("x-snapshot");

impl AppRoute<'_> {
    /// True if a private service answers everybody. REST and MCP check keys themselves.
    fn is_open(&self) -> bool {
        match self {
            Self::Api | Self::Mcp(_) | Self::Service => true,
            Self::Health | Self::Readiness | Self::SecurityTxt | Self::ChangePassword => true,
            Self::Static { position, .. } => StaticPages::is_open(*position),
            Self::Page(page) => page.is_open(),
            Self::Bulk | Self::Unknown => false,
        }
    }
}

impl FrontEnds {
    /// True if the request needs a session or a key.
    pub(super) fn is_closed(&self, route: &AppRoute<'_>, request: &RequestParts<'_>) -> bool {
        // What the operator publishes below /.well-known is for everybody.
        let is_published = || {
            let RequestParts { path, method, headers, .. } = *request;
            matches!(route, AppRoute::Unknown) && self.state.well_known.answer(path, method, headers).is_some()
        };
        self.state.operator.access.is_private()
            && *request.method != Method::OPTIONS
            && !route.is_open()
            && !is_published()
    }

    /// Admits a request with a session or, if the route accepts it, a key; the error is the refusal.
    pub(super) async fn admit(
        &self,
        route: &AppRoute<'_>,
        request: &RequestParts<'_>,
    ) -> Result<(), Box<Response<Bytes>>> {
        self.count_page(route, request)?;
        let (state, page) = (&self.state, self.page_request(request));
        if site::is_signed_in(page).await.map_err(|failed| Box::new(failed.map(Bytes::from)))? {
            return Ok(());
        }
        let key = authorization(request.headers);
        let accepts_keys = state.operator.access == Access::Key || matches!(route, AppRoute::Bulk);
        let base = &state.public_url;
        let problem = match key {
            Some(_) if accepts_keys => {
                let (address, now) = (state.client(request.peer, request.headers), state.now());
                match state.auth.authenticate_fresh(key, address, now).await {
                    Ok(caller) => {
                        request.trace.set_tier(caller.tier);
                        return Ok(());
                    }
                    Err(error) => {
                        state.auth.audit_rejected_key(error, || state.origin(request));
                        Problem::from(error)
                    }
                }
            }
            Some(_) => {
                let detail = format!(
                    "this service shows its pages, feeds and files of pages to signed-in accounts; with a key, use the API below \
                     {base}/api/v3"
                );
                Problem::new(Code::AccountRequired, detail)
            }
            None if requests_html(request.headers) && !names_file(page.path) => {
                return Err(Box::new(site::sign_in_to_return(page).map(Bytes::from)));
            }
            None => {
                let with_key = if accepts_keys { ", or send the header `Authorization: Bearer <key>`" } else { "" };
                let detail = format!("this service is private: sign in at {base}/signin{with_key}");
                Problem { detail, ..Problem::from(AuthError::Missing) }
            }
        };
        Err(Box::new(refusal(page, problem)))
    }

    /// Keeps what a private service answers out of shared caches, and the name of its release from strangers.
    pub(super) fn keep_private<B>(&self, request: &RequestParts<'_>, mut response: Response<B>) -> Response<B> {
        if !self.state.operator.access.is_private() {
            return response;
        }
        if response.status() == StatusCode::UNAUTHORIZED || authorization(request.headers).is_none() {
            response.headers_mut().remove(SNAPSHOT);
        }
        let caching = response.headers().get(CACHE_CONTROL).and_then(|value| value.to_str().ok());
        if let Some(rest) = caching.and_then(|caching| caching.strip_prefix("public")) {
            let caching = HeaderValue::from_str(&format!("private{rest}")).expect("a part of a value of ours");
            response.headers_mut().insert(CACHE_CONTROL, caching);
        }
        response
    }
}
