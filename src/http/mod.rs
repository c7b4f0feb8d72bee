//! The front doors: the only user of warp.

pub mod headers;
pub mod negotiation;
pub mod problem;
pub mod request_info;
pub mod response_cache;
pub mod server;
pub mod state;
pub mod static_asset;
pub mod url;

pub use request_info::{BodyTimeout, Peer, RequestId, RequestIds};
pub use response_cache::ResponseCache;
pub use state::State;
