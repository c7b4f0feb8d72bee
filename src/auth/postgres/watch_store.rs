//! What the store does for searches, lists, alerts and the outbox: each method is one read or one transaction.

use crate::StoreError;
use crate::account::{AccountId, Email};
use crate::link::Purpose;
use crate::postgres::{Durability, PostgresStore, alerts, links, watches, webhooks};
use crate::watch::{
    Alert, AlertId, DeliveryId, DueDeliveries, DueLink, Evaluation, NewWatch, Settled, Watch, WatchChange, WatchId,
    WatchStore, Webhook, WebhookChange, WebhookId,
};
use data::SnapshotVersion;

impl WatchStore for PostgresStore {
    fn add_watch(&self, account: AccountId, watch: NewWatch<'_>, now: i64) -> Result<Watch, StoreError> {
        self.change("save the search", |transaction| watches::add(transaction, account, &watch, now))
    }

    fn watches(&self, account: AccountId) -> Result<Vec<Watch>, StoreError> {
        self.list("list the saved searches", |connection| watches::of_account(connection, account))
    }

    fn watch(&self, watch: WatchId) -> Result<Watch, StoreError> {
        self.list("read the saved search", |connection| watches::one(connection, watch))
    }

    fn listed(&self, watch: WatchId) -> Result<Vec<String>, StoreError> {
        self.list("read the list", |connection| watches::listed(connection, watch))
    }

    fn change_watch(&self, account: AccountId, watch: WatchId, change: WatchChange<'_>) -> Result<Watch, StoreError> {
        self.change("change the saved search", |transaction| watches::change(transaction, account, watch, change))
    }

    fn delete_watch(&self, account: AccountId, watch: WatchId) -> Result<bool, StoreError> {
        self.change("delete the saved search", |transaction| watches::delete(transaction, account, watch))
    }

    fn unevaluated(&self, after: AccountId, version: SnapshotVersion, limit: usize) -> Result<Vec<Watch>, StoreError> {
        let operation = "list the saved searches to evaluate";
        self.list(operation, |connection| watches::unevaluated(connection, after, version, limit))
    }

    fn add_evaluations(
        &self,
        version: SnapshotVersion,
        evaluations: &[Evaluation],
        now: i64,
    ) -> Result<usize, StoreError> {
        self.change("store alerts", |transaction| alerts::add_evaluations(transaction, version, evaluations, now))
    }

    fn alerts(&self, watch: WatchId, before: Option<AlertId>, limit: u32) -> Result<Vec<Alert>, StoreError> {
        self.list("list the alerts", |connection| alerts::of_watch(connection, watch, before, limit))
    }

    fn alerts_after(
        &self,
        account: AccountId,
        watch: Option<WatchId>,
        after: AlertId,
        limit: u32,
    ) -> Result<Vec<Alert>, StoreError> {
        self.list("list the alerts", |connection| alerts::of_account_after(connection, account, watch, after, limit))
    }

    fn add_webhook(&self, account: AccountId, url: &str, now: i64) -> Result<Webhook, StoreError> {
        self.change("add the webhook", |transaction| webhooks::add(transaction, account, url, now))
    }

    fn webhooks(&self, account: AccountId) -> Result<Vec<Webhook>, StoreError> {
        self.list("list the webhooks", |connection| webhooks::of_account(connection, account))
    }

    fn change_webhook(
        &self,
        account: AccountId,
        webhook: WebhookId,
        change: WebhookChange<'_>,
    ) -> Result<Webhook, StoreError> {
        self.change("change the webhook", |transaction| webhooks::change(transaction, account, webhook, change))
    }

    fn delete_webhook(&self, account: AccountId, webhook: WebhookId) -> Result<bool, StoreError> {
        self.change("delete the webhook", |transaction| webhooks::delete(transaction, account, webhook))
    }

    fn claim_due(
        &self,
        now: i64,
        until: i64,
        receivers: usize,
        messages: u32,
    ) -> Result<Vec<DueDeliveries>, StoreError> {
        // A transaction would keep other servers from claiming.
        if !self.list("read what is to be sent", |connection| alerts::is_due(connection, now))? {
            return Ok(Vec::new());
        }
        // If the machine crashes, what was claimed is due again, as after a crash of the process.
        self.write(Durability::Normal, "read what is to be sent", |transaction| {
            alerts::claim_due(transaction, now, until, receivers, messages)
        })
    }

    /// Other servers may be sending what they claimed. What a server that was killed had claimed is due again when its claims end.
    fn release_claims(&self, _now: i64) -> Result<usize, StoreError> {
        Ok(0)
    }

    fn put_off(&self, webhook: WebhookId, due_at: i64) -> Result<(), StoreError> {
        self.change("put off what is to be sent", |transaction| alerts::put_off(transaction, webhook, due_at))
    }

    fn put_back(&self, claimed: &[DeliveryId], now: i64) -> Result<(), StoreError> {
        self.change("put back what is to be sent", |transaction| alerts::put_back(transaction, claimed, now))
    }

    fn settle(&self, settled: &[Settled]) -> Result<(), StoreError> {
        self.change("store what was sent", |transaction| alerts::settle(transaction, settled))
    }

    fn request_link(&self, email: &Email, purpose: Purpose, expires_at: i64, now: i64) -> Result<(), StoreError> {
        self.change("store that a link is to be sent", |transaction| {
            links::add_request(transaction, email, purpose, expires_at, now)
        })
    }

    fn claim_links(&self, now: i64, until: i64, limit: u32) -> Result<Vec<DueLink>, StoreError> {
        if !self.list("read what is to be sent", |connection| links::is_due(connection, now))? {
            return Ok(Vec::new());
        }
        self.write(Durability::Normal, "read what is to be sent", |transaction| {
            links::claim(transaction, now, until, limit)
        })
    }
}
