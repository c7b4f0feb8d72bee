//! Webhooks: messages to HTTPS servers of users, signed as in the [Standard Webhooks](https://www.standardwebhooks.com)
//! specification.
//!
//! Users choose the address, so a request must not reach what only this server can reach: loopback, the operator's network, the
//! metadata service of a cloud. [`WebhookUrl`] rejects such an address when it is entered. A name may have another address at each
//! look-up, so [`Client`] checks those of the look-up that it connects to, each time.

mod client;
mod network;
mod secret;
#[cfg(test)]
mod tests;
mod url;

pub use client::{Client, Message, Outcome, SendError};
pub use network::Networks;
pub use secret::WebhookSecret;
pub use url::{WebhookUrl, WebhookUrlError};
