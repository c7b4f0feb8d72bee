//! HTTP below the routes: the accept loop, headers, content negotiation, errors, the response cache, static files.

pub mod body;
pub mod brand;
pub mod bulk;
pub mod handler;
pub mod headers;
pub mod negotiation;
pub mod operator;
pub mod origin;
pub mod origin_policy;
pub mod problem;
pub mod request_info;
pub mod response_cache;
pub(crate) mod security_txt;
pub mod server;
pub mod state;
pub mod static_asset;
pub mod telemetry;
pub mod url;
pub(crate) mod warnings;
pub mod well_known;

pub use body::BodyTimeout;
pub use brand::{Brand, BrandColor, BrandName};
pub use bulk::BulkAccess;
pub use handler::{ErrorContext, Handler};
pub use operator::Operator;
pub use request_info::{Peer, RequestId, RequestIds, RequestParts};
pub use response_cache::ResponseCache;
pub use state::State;
pub use telemetry::{RequestTrace, Telemetry};
