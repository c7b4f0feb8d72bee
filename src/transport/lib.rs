//! HTTP below the routes: the accept loop with its limits, headers, content negotiation, errors, the response cache, the
//! access log, static files.
//!
//! A [`Handler`] answers the requests; nothing here knows of routes, releases or records.
#![warn(unreachable_pub)]

pub mod body;
pub mod handler;
pub mod headers;
pub mod negotiation;
pub mod origin;
pub mod origin_policy;
pub mod problem;
mod request_info;
pub mod response_cache;
pub mod server;
pub mod static_asset;
pub mod telemetry;
pub mod url;
pub mod warnings;

pub use body::BodyTimeout;
pub use handler::{ErrorContext, Handler};
pub use request_info::{Peer, RequestId, RequestIds, RequestParts};
pub use response_cache::ResponseCache;
pub use telemetry::{RequestTrace, Telemetry};
