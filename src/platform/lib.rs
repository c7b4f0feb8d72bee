//! Measurements and outgoing TLS, which know nothing of the product.
#![warn(unreachable_pub)]

pub mod metrics;
pub mod tls;
