//! What is derived from the secret of the store: addresses of private feeds, and secrets that sign webhooks.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::alerts::webhook::WebhookSecret;
use auth::StoreError;
use auth::derived_secret::DerivedSecret;
use auth::watch::{Watch, WatchId, WatchStore, Webhook};

/// Bytes of a feed's token that are not its number.
const TOKEN_BYTES: usize = 18;

/// Nothing of it is stored: a new address or secret is that of the next number.
pub struct AlertSecrets {
    feeds: DerivedSecret,
    webhooks: DerivedSecret,
}

impl AlertSecrets {
    /// `secret` is that of the store.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self {
            feeds: DerivedSecret::new(secret, "addresses of private feeds"),
            webhooks: DerivedSecret::new(secret, "signatures of webhooks"),
        }
    }

    /// The part of the address of a private feed that others cannot guess.
    pub fn feed_token(&self, watch: &Watch) -> String {
        let tag = self.feeds.tag(&numbers(watch.id.0, watch.feed));
        format!("{}-{}", watch.id.0, BASE64_URL_SAFE_NO_PAD.encode(&tag[..TOKEN_BYTES]))
    }

    /// The search or list whose feed has this token.
    ///
    /// # Errors
    /// [`StoreError::NoSuchWatch`].
    pub fn watch_of_feed(&self, store: &dyn WatchStore, token: &str) -> Result<Watch, StoreError> {
        let (id, tag) = token.split_once('-').ok_or(StoreError::NoSuchWatch)?;
        let id = id.parse().map_err(|_| StoreError::NoSuchWatch)?;
        let tag = BASE64_URL_SAFE_NO_PAD.decode(tag).map_err(|_| StoreError::NoSuchWatch)?;
        let watch = store.watch(WatchId(id))?;
        let is_valid = tag.len() == TOKEN_BYTES && self.feeds.verify(&numbers(id, watch.feed), &tag);
        if is_valid { Ok(watch) } else { Err(StoreError::NoSuchWatch) }
    }

    /// The secret that signs messages to a webhook.
    pub fn webhook_secret(&self, webhook: &Webhook) -> WebhookSecret {
        self.numbered(webhook, webhook.secret)
    }

    /// The secrets that sign at `now` (Unix seconds), the newest first.
    pub(super) fn webhook_secrets(&self, webhook: &Webhook, now: i64) -> Vec<WebhookSecret> {
        let previous = (webhook.previous_until > now).then(|| self.numbered(webhook, webhook.secret - 1));
        std::iter::once(self.webhook_secret(webhook)).chain(previous).collect()
    }

    fn numbered(&self, webhook: &Webhook, number: i64) -> WebhookSecret {
        WebhookSecret::from_bytes(self.webhooks.tag(&numbers(webhook.id.0, number)))
    }
}

fn numbers(id: i64, number: i64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&id.to_be_bytes());
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    bytes
}
