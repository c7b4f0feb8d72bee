//! Changes of reviews by their authors, by operators and by those who report them; each is logged.

use std::net::IpAddr;
use std::sync::Arc;

use crate::account::AccountId;
use crate::audit::{AuditEntry, AuditEvent};
use crate::firm::{Correction, CorrectionId};
use crate::quota::Client;
use crate::review::{NewReport, ReviewDecision, ReviewId, SavedReview, StoredReview};
use crate::service::random;
use crate::{AccountResult, AuthService, StoreResult};
use data::hex;

/// A public id of a review: random, so that it says nothing of its author, of other reviews or of the time.
pub fn new_review_id() -> StoreResult<String> {
    let bytes: [u8; 32] = random()?;
    Ok(format!("r-{}", hex::digits(&bytes[..10])))
}

impl AuthService {
    /// Saves a draft, or submits a review. [`AccountError::Review`](crate::AccountError::Review).
    pub async fn save_review(
        self: &Arc<Self>,
        account: AccountId,
        saved: SavedReview,
        now: i64,
    ) -> AccountResult<StoredReview> {
        let (submits, id) = (saved.submits, saved.id);
        let result = self.blocking(move |service| service.store.save_review(account, &saved, now)).await;
        if !submits {
            return result;
        }
        let review = result.as_ref().ok().map(|review| review.id).or(id);
        let entry = AuditEntry { review, ..AuditEntry::new(AuditEvent::ReviewSubmission, Some(account)) };
        self.audited(entry, result)
    }

    pub async fn withdraw_review(
        self: &Arc<Self>,
        account: AccountId,
        review: ReviewId,
        now: i64,
    ) -> AccountResult<StoredReview> {
        let withdrawn = self.blocking(move |service| service.store.withdraw_review(account, review, now)).await;
        let event = AuditEntry::new(AuditEvent::ReviewWithdrawal, Some(account));
        self.audited(AuditEntry { review: Some(review), ..event }, withdrawn)
    }

    pub async fn delete_review(self: &Arc<Self>, account: AccountId, review: ReviewId, now: i64) -> AccountResult<()> {
        let deleted = self.blocking(move |service| service.store.delete_review(account, review, now)).await;
        let event = AuditEntry::new(AuditEvent::ReviewDeletion, Some(account));
        self.audited(AuditEntry { review: Some(review), ..event }, deleted)
    }

    /// Decides on the version of a review that the operator has seen.
    pub async fn decide_review(
        self: &Arc<Self>,
        operator: AccountId,
        review: ReviewId,
        version: i64,
        decision: ReviewDecision,
        now: i64,
    ) -> AccountResult<StoredReview> {
        let action = Some(decision.action);
        let decide = move |service: &Self| service.store.decide_review(operator, review, version, &decision, now);
        let decided = self.blocking(decide).await;
        let event = AuditEntry::new(AuditEvent::ReviewDecision, None);
        self.audited(AuditEntry { review: Some(review), action, operator: Some(operator), ..event }, decided)
    }

    /// Stores the answer of a firm that `account` speaks for, or removes it; `operator` if one removes it.
    pub async fn reply_to_review(
        self: &Arc<Self>,
        account: Option<AccountId>,
        operator: Option<AccountId>,
        public_id: String,
        reply: Option<String>,
        now: i64,
    ) -> AccountResult<StoredReview> {
        let store = move |service: &Self| service.store.reply_to_review(&public_id, reply.as_deref(), now);
        let replied = self.blocking(store).await;
        let review = replied.as_ref().ok().map(|review| review.id);
        self.audited(AuditEntry { review, operator, ..AuditEntry::new(AuditEvent::ReviewReply, account) }, replied)
    }

    /// Lets an account speak for a firm.
    pub async fn claim_firm(
        self: &Arc<Self>,
        account: AccountId,
        firm: String,
        notifies: bool,
        now: i64,
    ) -> AccountResult<()> {
        let claimed = self.blocking(move |service| service.store.claim_firm(account, &firm, notifies, now)).await;
        self.audited(AuditEntry::new(AuditEvent::FirmClaim, Some(account)), claimed)
    }

    /// Accepts a correction, or rejects it with a reason.
    pub async fn decide_correction(
        self: &Arc<Self>,
        operator: AccountId,
        correction: CorrectionId,
        rejection: Option<String>,
        now: i64,
    ) -> AccountResult<Correction> {
        let decide =
            move |service: &Self| service.store.decide_correction(operator, correction, rejection.as_deref(), now);
        let decided = self.blocking(decide).await;
        let account = decided.as_ref().ok().and_then(|correction| correction.account);
        let event = AuditEntry::new(AuditEvent::CorrectionDecision, account);
        self.audited(AuditEntry { operator: Some(operator), ..event }, decided)
    }

    /// Stores a report of a public review by the client at `address`; true if the review is hidden now.
    /// [`AccountError::Throttled`](crate::AccountError::Throttled).
    pub async fn report_review(
        self: &Arc<Self>,
        public_id: String,
        report: NewReport,
        address: IpAddr,
        now: i64,
    ) -> AccountResult<bool> {
        let reported = async {
            self.rate_limits.reports.take(self.store.counters(), Client::Address(address), now)?;
            self.blocking(move |service| service.store.report_review(&public_id, &report, now)).await
        }
        .await;
        self.audited(AuditEntry::new(AuditEvent::ReviewReport, None), reported)
    }
}
