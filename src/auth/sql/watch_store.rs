//! Searches, lists, alerts and the outbox: each method is one read or one transaction.

use crate::StoreError;
use crate::account::{AccountId, Email};
use crate::link::Purpose;
use crate::sql::{Database, alerts, links, watches, webhooks};
use crate::watch::{
    Alert, AlertId, DeliveryId, DeliveryResult, DueDeliveries, DueLink, Evaluation, NewWatch, Watch, WatchChange,
    WatchId, WatchStore, Webhook, WebhookChange, WebhookId,
};
use data::SnapshotVersion;

impl<D: Database> WatchStore for D {
    fn add_watch(&self, account: AccountId, watch: NewWatch<'_>, now: i64) -> Result<Watch, StoreError> {
        self.change("save the search", |sql| watches::add(sql, account, &watch, now))
    }

    fn watches(&self, account: AccountId) -> Result<Vec<Watch>, StoreError> {
        self.list("list the saved searches", |sql| watches::of_account(sql, account))
    }

    fn watch(&self, watch: WatchId) -> Result<Watch, StoreError> {
        self.list("read the saved search", |sql| watches::one(sql, watch))
    }

    fn listed(&self, watch: WatchId) -> Result<Vec<String>, StoreError> {
        self.list("read the list", |sql| watches::listed(sql, watch))
    }

    fn change_watch(&self, account: AccountId, watch: WatchId, change: WatchChange<'_>) -> Result<Watch, StoreError> {
        self.change("change the saved search", |sql| watches::change(sql, account, watch, change))
    }

    fn delete_watch(&self, account: AccountId, watch: WatchId) -> Result<bool, StoreError> {
        self.change("delete the saved search", |sql| watches::delete(sql, account, watch))
    }

    fn unevaluated(&self, after: AccountId, version: SnapshotVersion, limit: usize) -> Result<Vec<Watch>, StoreError> {
        let operation = "list the saved searches to evaluate";
        self.list(operation, |sql| watches::unevaluated(sql, after, version, limit))
    }

    fn add_evaluations(
        &self,
        version: SnapshotVersion,
        evaluations: &[Evaluation],
        now: i64,
    ) -> Result<usize, StoreError> {
        self.change("store alerts", |sql| alerts::add_evaluations(sql, version, evaluations, now))
    }

    fn alerts(&self, watch: WatchId, before: Option<AlertId>, limit: u32) -> Result<Vec<Alert>, StoreError> {
        self.list("list the alerts", |sql| alerts::of_watch(sql, watch, before, limit))
    }

    fn alerts_after(
        &self,
        account: AccountId,
        watch: Option<WatchId>,
        after: AlertId,
        limit: u32,
    ) -> Result<Vec<Alert>, StoreError> {
        self.list("list the alerts", |sql| alerts::of_account_after(sql, account, watch, after, limit))
    }

    fn add_webhook(&self, account: AccountId, url: &str, now: i64) -> Result<Webhook, StoreError> {
        self.change("add the webhook", |sql| webhooks::add(sql, account, url, now))
    }

    fn webhooks(&self, account: AccountId) -> Result<Vec<Webhook>, StoreError> {
        self.list("list the webhooks", |sql| webhooks::of_account(sql, account))
    }

    fn change_webhook(
        &self,
        account: AccountId,
        webhook: WebhookId,
        change: WebhookChange<'_>,
    ) -> Result<Webhook, StoreError> {
        self.change("change the webhook", |sql| webhooks::change(sql, account, webhook, change))
    }

    fn delete_webhook(&self, account: AccountId, webhook: WebhookId) -> Result<bool, StoreError> {
        self.change("delete the webhook", |sql| webhooks::delete(sql, account, webhook))
    }

    fn claim_due(
        &self,
        now: i64,
        until: i64,
        receivers: usize,
        messages: u32,
    ) -> Result<Vec<DueDeliveries>, StoreError> {
        // Checked without a transaction, which would keep others from writing or claiming.
        if !self.list("read what is to be sent", |sql| alerts::is_due(sql, now))? {
            return Ok(Vec::new());
        }
        // After a crash of the machine, claimed messages are due again, as after a crash of the process.
        self.change_quickly("read what is to be sent", |sql| alerts::claim_due(sql, now, until, receivers, messages))
    }

    fn release_claims(&self, now: i64) -> Result<usize, StoreError> {
        // Other servers may be sending the messages that they claimed. Those of a killed server are due again when its
        // claims end.
        if self.shared_counters().is_some() {
            return Ok(0);
        }
        self.change("read what is to be sent", |sql| alerts::release_claims(sql, now))
    }

    fn put_off(&self, webhook: WebhookId, due_at: i64) -> Result<(), StoreError> {
        self.change("put off what is to be sent", |sql| alerts::put_off(sql, webhook, due_at))
    }

    fn put_back(&self, claimed: &[DeliveryId], now: i64) -> Result<(), StoreError> {
        self.change("put back what is to be sent", |sql| alerts::put_back(sql, claimed, now))
    }

    fn settle(&self, settled: &[DeliveryResult]) -> Result<(), StoreError> {
        self.change("store what was sent", |sql| alerts::settle(sql, settled))
    }

    fn request_link(&self, email: &Email, purpose: Purpose, expires_at: i64, now: i64) -> Result<(), StoreError> {
        self.change("store that a link is to be sent", |sql| links::add_request(sql, email, purpose, expires_at, now))
    }

    fn claim_links(&self, now: i64, until: i64, limit: u32) -> Result<Vec<DueLink>, StoreError> {
        if !self.list("read what is to be sent", |sql| links::is_due(sql, now))? {
            return Ok(Vec::new());
        }
        self.change_quickly("read what is to be sent", |sql| links::claim(sql, now, until, limit))
    }
}
