//! Secrets derived from the store's secret: addresses of private feeds and webhook signing secrets.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::alerts::webhook::WebhookSecret;
use auth::derived_secret::DerivedSecret;
use auth::watch::{Watch, WatchId, Webhook};
use auth::{Store, StoreError};

/// Length of a feed token's tag in bytes, without the feed's number.
const TOKEN_BYTES: usize = 18;

/// Derives secrets from numbers. No derived secret is stored: a new address or secret comes from the next number.
pub struct AlertSecrets {
    feeds: DerivedSecret,
    webhooks: DerivedSecret,
}

impl AlertSecrets {
    /// `secret` is the store's secret.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self {
            feeds: DerivedSecret::new(secret, "addresses of private feeds"),
            webhooks: DerivedSecret::new(secret, "signatures of webhooks"),
        }
    }

    /// The unguessable part of the address of a private feed.
    pub fn feed_token(&self, watch: &Watch) -> String {
        let tag = self.feeds.tag(&number_bytes(watch.id.0, watch.feed));
        format!("{}-{}", watch.id.0, BASE64_URL_SAFE_NO_PAD.encode(&tag[..TOKEN_BYTES]))
    }

    /// The search or list of a feed token, or [`StoreError::NoSuchWatch`].
    pub fn watch_of_feed(&self, store: &dyn Store, token: &str) -> Result<Watch, StoreError> {
        let (id, tag) = token.split_once('-').ok_or(StoreError::NoSuchWatch)?;
        let id = id.parse().map_err(|_| StoreError::NoSuchWatch)?;
        let tag = BASE64_URL_SAFE_NO_PAD.decode(tag).map_err(|_| StoreError::NoSuchWatch)?;
        let watch = store.watch(WatchId(id))?;
        let is_valid = tag.len() == TOKEN_BYTES && self.feeds.verify(&number_bytes(id, watch.feed), &tag);
        if is_valid { Ok(watch) } else { Err(StoreError::NoSuchWatch) }
    }

    pub fn webhook_secret(&self, webhook: &Webhook) -> WebhookSecret {
        self.numbered(webhook, webhook.secret)
    }

    /// The signing secrets valid at `now` (Unix seconds), newest first.
    pub(super) fn webhook_secrets(&self, webhook: &Webhook, now: i64) -> Vec<WebhookSecret> {
        let previous = (webhook.previous_until > now).then(|| self.numbered(webhook, webhook.secret - 1));
        std::iter::once(self.webhook_secret(webhook)).chain(previous).collect()
    }

    fn numbered(&self, webhook: &Webhook, number: i64) -> WebhookSecret {
        WebhookSecret::from_bytes(self.webhooks.tag(&number_bytes(webhook.id.0, number)))
    }
}

fn number_bytes(id: i64, number: i64) -> Vec<u8> {
    [id.to_be_bytes(), number.to_be_bytes()].concat()
}
