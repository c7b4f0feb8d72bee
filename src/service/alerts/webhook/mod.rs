//! Webhooks: messages to HTTPS servers of users, signed as in the [Standard Webhooks](https://www.standardwebhooks.com)
//! specification.
//!
//! Users choose the address, so a request must not reach hosts that only this server can reach: loopback, the
//! operator's network, the metadata service of a cloud. [`WebhookUrl`] rejects such an address on input. A name may
//! resolve to a different address each time, so [`WebhookClient`] also checks the addresses that it connects to.

mod client;
mod network;
mod secret;
#[cfg(test)]
mod tests;
mod url;

pub use client::{DeliveryOutcome, SendError, WebhookClient, WebhookMessage};
pub use network::Networks;
pub use secret::WebhookSecret;
pub use url::{WebhookUrl, WebhookUrlError};
