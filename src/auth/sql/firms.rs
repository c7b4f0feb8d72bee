//! Claims of firms, notices of their reviews, and corrections of their records.

use crate::account::{AccountId, Email};
use crate::firm::{
    ClaimId, Correction, CorrectionId, CorrectionState, DueNotice, FirmClaim, MAX_CLAIMS, MAX_PROPOSED, NewCorrection,
    NoticeId,
};
use crate::review::ReviewId;
use crate::sql::{Sql, SqlResult, accounts, columns_of, params};
use crate::{Store, StoreError, StoreResult};
use data::vocabulary::Vocabulary;

const CLAIMS: &str = "SELECT id, account, firm, claimed_at, notifies FROM firm_claims";
const CORRECTIONS: &str =
    "SELECT id, account, firm, field, value, source, state, proposed_at, decided_at, reason FROM corrections";

columns_of! { FirmClaim: id, account, firm, claimed_at, notifies }
columns_of! { Correction: id, account, firm, field, value, source, state, proposed_at, decided_at, reason }

impl dyn Store + '_ {
    /// Lets an account speak for a firm, or changes whether it hears of reviews. Whoever calls this has checked its address.
    /// [`StoreError::AccountGone`], [`StoreError::AccountUnverified`], [`StoreError::TooManyClaims`].
    pub fn claim_firm(&self, account: AccountId, firm: &str, notifies: bool, now: i64) -> StoreResult<()> {
        self.change("claim the profile", |sql| {
            accounts::lock(sql, account)?;
            if accounts::by_id(sql, account)?.verified_at.is_none() {
                return Err(StoreError::AccountUnverified.into());
            }
            let update = "UPDATE firm_claims SET notifies = ?1 WHERE account = ?2 AND firm = ?3";
            if sql.execute(update, &params![notifies, account.0, firm])? > 0 {
                return Ok(());
            }
            let count = "SELECT count(*) FROM firm_claims WHERE account = ?1";
            if sql.one::<u32>(count, &params![account.0])? >= MAX_CLAIMS {
                return Err(StoreError::TooManyClaims.into());
            }
            let insert = "INSERT INTO firm_claims (account, firm, claimed_at, notifies) VALUES (?1, ?2, ?3, ?4)";
            sql.execute(insert, &params![account.0, firm, now, notifies]).map(drop)
        })
    }

    /// False if the account has no such claim.
    pub fn release_claim(&self, account: AccountId, claim: ClaimId) -> StoreResult<bool> {
        self.change("release the claim", |sql| {
            accounts::lock(sql, account)?;
            let delete = "DELETE FROM firm_claims WHERE account = ?1 AND id = ?2";
            Ok(sql.execute(delete, &params![account.0, claim.0])? > 0)
        })
    }

    /// The claims of an account, the newest first.
    pub fn claims_of(&self, account: AccountId) -> StoreResult<Vec<FirmClaim>> {
        self.look_up("read the claims", |sql| {
            sql.rows(&format!("{CLAIMS} WHERE account = ?1 ORDER BY id DESC"), &params![account.0])
        })
    }

    /// Claims due notices until `until`, oldest first. Those of accounts that are no longer verified, and of reviews that are no longer
    /// public, are deleted.
    pub fn claim_notices(&self, now: i64, until: i64, limit: u32) -> StoreResult<Vec<DueNotice>> {
        let has_due: bool = self.list("read what is to be sent", |sql| {
            sql.one("SELECT EXISTS (SELECT 1 FROM review_notices WHERE due_at <= ?1)", &params![now])
        })?;
        if !has_due {
            return Ok(Vec::new());
        }
        self.change_quickly("read what is to be sent", |sql| {
            sql.lock_claims()?;
            sql.execute(
                "DELETE FROM review_notices WHERE due_at <= ?1 AND NOT EXISTS (SELECT 1 FROM firm_claims \
                 JOIN accounts ON accounts.id = firm_claims.account JOIN reviews ON reviews.id = review_notices.review \
                 WHERE firm_claims.id = review_notices.claim AND accounts.verified_at IS NOT NULL \
                 AND reviews.state = 'approved')",
                &params![now],
            )?;
            let claim = format!(
                "UPDATE review_notices SET due_at = ?1 WHERE due_at <= ?2 AND id IN (SELECT id FROM review_notices \
                 WHERE due_at <= ?2 ORDER BY id LIMIT ?3{}) RETURNING id, claim, review, attempts",
                sql.for_update()
            );
            let claimed: Vec<(NoticeId, ClaimId, ReviewId, u32)> = sql.rows(&claim, &params![until, now, limit])?;
            let mut due = Vec::with_capacity(claimed.len());
            for (id, claim, review, attempts) in claimed {
                let query = "SELECT accounts.id, accounts.email, firm_claims.firm, reviews.public_id FROM firm_claims \
                     JOIN accounts ON accounts.id = firm_claims.account JOIN reviews ON reviews.id = ?2 \
                     WHERE firm_claims.id = ?1";
                let found: Option<(AccountId, Email, String, String)> = sql.row(query, &params![claim.0, review.0])?;
                // Claim or review may have been deleted between the statements.
                due.extend(found.map(|(account, email, firm, review)| DueNotice {
                    id,
                    account,
                    email,
                    firm,
                    review,
                    attempts,
                }));
            }
            due.sort_unstable_by_key(|notice| notice.id);
            Ok(due)
        })
    }

    /// Stores the outcome of an attempt: the time of the next one, or that there is none.
    pub fn settle_notice(&self, notice: NoticeId, due_at: Option<i64>) -> StoreResult<()> {
        self.change("store what was sent", |sql| {
            match due_at {
                Some(due_at) => {
                    let update = "UPDATE review_notices SET due_at = ?1, attempts = attempts + 1 WHERE id = ?2";
                    sql.execute(update, &params![due_at, notice.0])
                }
                None => sql.execute("DELETE FROM review_notices WHERE id = ?1", &params![notice.0]),
            }
            .map(drop)
        })
    }

    /// [`StoreError::AccountGone`], [`StoreError::NoSuchClaim`] unless the account has claimed the firm, under one of these slugs;
    /// [`StoreError::TooManyProposed`].
    pub fn propose_correction(
        &self,
        account: AccountId,
        correction: &NewCorrection,
        now: i64,
    ) -> StoreResult<Correction> {
        self.change("store the correction", |sql| {
            accounts::lock(sql, account)?;
            let claimed = "SELECT EXISTS (SELECT 1 FROM firm_claims WHERE account = ?1 AND firm = ?2)";
            if !sql.one::<bool>(claimed, &params![account.0, &correction.firm])? {
                return Err(StoreError::NoSuchClaim.into());
            }
            let count = "SELECT count(*) FROM corrections WHERE account = ?1 AND state = 'proposed'";
            if sql.one::<u32>(count, &params![account.0])? >= MAX_PROPOSED {
                return Err(StoreError::TooManyProposed.into());
            }
            let NewCorrection { firm, field, value, source } = correction;
            let id = sql.one(
                "INSERT INTO corrections (account, firm, field, value, source, proposed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                 RETURNING id",
                &params![account.0, firm, *field, value, source, now],
            )?;
            correction_by_id(sql, id)
        })
    }

    /// The corrections that an account has proposed, the newest first.
    pub fn corrections_of(&self, account: AccountId) -> StoreResult<Vec<Correction>> {
        self.list("list the corrections", |sql| {
            sql.rows(&format!("{CORRECTIONS} WHERE account = ?1 ORDER BY id DESC"), &params![account.0])
        })
    }

    /// The corrections in a state: their number, and at most `limit` after the first `start`, the oldest first.
    pub fn corrections(&self, state: CorrectionState, start: u32, limit: u32) -> StoreResult<(u32, Vec<Correction>)> {
        self.list("list the corrections", |sql| {
            let total = sql.one("SELECT count(*) FROM corrections WHERE state = ?1", &params![state.name()])?;
            let page = format!("{CORRECTIONS} WHERE state = ?1 ORDER BY id LIMIT ?2 OFFSET ?3");
            Ok((total, sql.rows(&page, &params![state.name(), limit, start])?))
        })
    }

    /// Accepts a correction, or rejects it with a reason. [`StoreError::NoSuchCorrection`] if it was decided, or the account is not an
    /// operator.
    pub fn decide_correction(
        &self,
        operator: AccountId,
        correction: CorrectionId,
        rejection: Option<&str>,
        now: i64,
    ) -> StoreResult<Correction> {
        self.change("decide on the correction", |sql| {
            if !accounts::by_id(sql, operator)?.is_operator {
                return Err(StoreError::NoSuchCorrection.into());
            }
            let state = if rejection.is_some() { CorrectionState::Rejected } else { CorrectionState::Accepted };
            let update = "UPDATE corrections SET state = ?1, decided_at = ?2, operator = ?3, reason = ?4 \
                 WHERE id = ?5 AND state = 'proposed'";
            let params = params![state.name(), now, operator.0, rejection, correction.0];
            if sql.execute(update, &params)? == 0 {
                return Err(StoreError::NoSuchCorrection.into());
            }
            correction_by_id(sql, correction)
        })
    }
}

fn correction_by_id(sql: &dyn Sql, id: CorrectionId) -> SqlResult<Correction> {
    sql.row(&format!("{CORRECTIONS} WHERE id = ?1"), &params![id.0])?.ok_or_else(|| StoreError::NoSuchCorrection.into())
}

/// Lets those who speak for a firm hear of a review that was just approved for the first time.
pub(crate) fn notify(sql: &dyn Sql, firm: &str, review: ReviewId, now: i64) -> SqlResult<()> {
    sql.execute(
        "INSERT INTO review_notices (claim, review, due_at) SELECT id, CAST(?1 AS BIGINT), CAST(?2 AS BIGINT) FROM firm_claims \
         WHERE firm = ?3 AND notifies",
        &params![review.0, now, firm],
    )
    .map(drop)
}
