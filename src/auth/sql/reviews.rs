//! Reviews of firms. All changes of a review first lock its author's account.

use crate::account::{Account, AccountId};
use crate::derived_secret::DerivedSecret;
use crate::firm::CorrectionState;
use crate::review::{
    LoggedDecision, MAX_DRAFTS, MAX_OPEN_REPORTS, NewReport, PublicReview, PublicReviews, REVIEW_DAYS, REVIEWS_PER_DAY,
    ReportKind, ReviewAction, ReviewAnswers, ReviewCase, ReviewDecision, ReviewId, ReviewReport, ReviewState,
    ReviewText, SavedReview, StoredReview,
};
use crate::sql::value::FromValue;
use crate::sql::{Sql, SqlError, SqlResult, SqlValue, accounts, columns_of, firms, params};
use crate::{Store, StoreError, StoreResult};
use data::vocabulary::Vocabulary;
use data::{Date, PartialDate, ReviewProof, ReviewerRole, Stage, hex};

const DAY: i64 = 86_400;
/// Submissions of a firm that a case lists.
const LISTED_DAYS: u32 = 200;

const REVIEWS: &str = "SELECT reviews.id, reviews.public_id, reviews.account, reviews.firm, reviews.state, reviews.role, \
     reviews.stage, reviews.contact_month, reviews.rating, reviews.responsiveness, reviews.fairness, reviews.value_add, \
     reviews.ghosted, reviews.title, reviews.body, reviews.proof, reviews.created_at, reviews.changed_at, \
     reviews.submitted_at, reviews.published_at, reviews.disputed_at, reviews.cleared, reviews.note, reviews.response, \
     reviews.reply, reviews.replied_at, reviews.version FROM reviews";

/// A review that waits for an operator.
const WAITS: &str = "(reviews.state IN ('submitted', 'hidden') OR reviews.id IN (SELECT review FROM review_reports \
     WHERE settled_at IS NULL))";

columns_of! {
    ReviewAnswers: role, stage, contact_month, rating, responsiveness, fairness, value_add, ghosted, title, body
}

columns_of! {
    StoredReview: id, public_id, account, firm, state, answers, proof, created_at, changed_at, submitted_at, published_at,
    disputed_at, is_cleared, note, response, reply, replied_at, version
}

columns_of! { LoggedDecision: at, operator, action, reason }
columns_of! { ReviewReport: at, kind, reason, email, settled_at }
columns_of! { ReviewText: review, firm, state, title, body }

macro_rules! named_values {
    ($($name:ty),*) => {
        $(impl FromValue for $name {
            fn from_value(value: SqlValue<'_>) -> Option<Self> {
                String::from_value(value).and_then(|name| Self::read(&name))
            }
        })*
    };
}

named_values!(ReviewState, ReviewerRole, ReviewProof, ReviewAction, ReportKind, CorrectionState, Stage);

impl FromValue for PartialDate {
    fn from_value(value: SqlValue<'_>) -> Option<Self> {
        String::from_value(value).and_then(|date| date.parse().ok())
    }
}

impl dyn Store + '_ {
    /// Saves what the author of a review wrote, and submits it on request. The rules for submitted reviews hold when
    /// this returns. [`StoreError::AccountGone`], [`StoreError::AccountBlocked`], [`StoreError::AccountUnverified`],
    /// [`StoreError::NoSuchReview`], also for others' reviews, [`StoreError::ReviewFixed`],
    /// [`StoreError::ReviewedAlready`], [`StoreError::TooManyReviews`], [`StoreError::TooManyDrafts`].
    pub fn save_review(&self, account: AccountId, saved: &SavedReview, now: i64) -> StoreResult<StoredReview> {
        self.change("save the review", |sql| {
            accounts::lock(sql, account)?;
            let owner = accounts::by_id(sql, account)?;
            if owner.blocked_at.is_some() {
                return Err(StoreError::AccountBlocked.into());
            }
            let review = match saved.id {
                Some(id) => owned(sql, account, id)?,
                None => draft(sql, account, saved, now)?,
            };
            let may_save = if saved.submits { review.state.is_editable() } else { review.state == ReviewState::Draft };
            if !may_save {
                return Err(StoreError::ReviewFixed.into());
            }
            let (mut state, mut submitted_at) = (review.state, review.submitted_at);
            if saved.submits {
                check_submission(sql, &owner, &review, saved, now)?;
                (state, submitted_at) = (ReviewState::Submitted, Some(now));
            }
            let ReviewAnswers { role, stage, contact_month, title, body, .. } = &saved.answers;
            let ReviewAnswers { rating, responsiveness, fairness, value_add, ghosted, .. } = saved.answers;
            let month = contact_month.map(|month| month.to_string());
            let update = "UPDATE reviews SET state = ?1, role = ?2, stage = ?3, contact_month = ?4, rating = ?5, \
                 responsiveness = ?6, fairness = ?7, value_add = ?8, ghosted = ?9, title = ?10, body = ?11, proof = ?12, \
                 response = ?13, changed_at = ?14, submitted_at = ?15, version = version + 1 WHERE id = ?16";
            let params = params![
                state.name(),
                role.map(ReviewerRole::name),
                stage.map(Stage::name),
                month.as_deref(),
                rating,
                responsiveness,
                fairness,
                value_add,
                ghosted,
                title,
                body,
                saved.proof.name(),
                saved.response.as_deref(),
                now,
                submitted_at,
                review.id.0,
            ];
            sql.execute(update, &params)?;
            one(sql, review.id)
        })
    }

    /// The reviews of an account, the one that was changed last first.
    pub fn reviews_of(&self, account: AccountId) -> StoreResult<Vec<StoredReview>> {
        self.list("list the reviews", |sql| {
            let query =
                format!("{REVIEWS} WHERE reviews.account = ?1 ORDER BY reviews.changed_at DESC, reviews.id DESC");
            sql.rows(&query, &params![account.0])
        })
    }

    /// [`StoreError::NoSuchReview`], also for others' reviews.
    pub fn review_of(&self, account: AccountId, review: ReviewId) -> StoreResult<StoredReview> {
        self.look_up("read the review", |sql| owned(sql, account, review))
    }

    /// Takes a review back; its text stays with its author. [`StoreError::NoSuchReview`], also for others' reviews,
    /// [`StoreError::ReviewFixed`] for one that nobody else sees.
    pub fn withdraw_review(&self, account: AccountId, review: ReviewId, now: i64) -> StoreResult<StoredReview> {
        self.change("withdraw the review", |sql| {
            accounts::lock(sql, account)?;
            let found = owned(sql, account, review)?;
            if !found.state.can_be_withdrawn() {
                return Err(StoreError::ReviewFixed.into());
            }
            let update = "UPDATE reviews SET state = 'withdrawn', changed_at = ?1, version = version + 1 WHERE id = ?2";
            sql.execute(update, &params![now, review.0])?;
            settle_reports(sql, review, now)?;
            note_public_change(sql, &found)?;
            one(sql, review)
        })
    }

    /// Erases a review. [`StoreError::NoSuchReview`], also for others' reviews.
    pub fn delete_review(&self, account: AccountId, review: ReviewId, now: i64) -> StoreResult<()> {
        self.change("delete the review", |sql| {
            accounts::lock(sql, account)?;
            let found = owned(sql, account, review)?;
            erase(sql, &found, now)?;
            note_public_change(sql, &found)
        })?;
        self.erase_deleted();
        Ok(())
    }

    /// Decides on the version of a review that the operator has seen. [`StoreError::NoSuchReview`],
    /// [`StoreError::ReviewChanged`] if anybody has changed it or decided on it since, [`StoreError::OwnReview`],
    /// [`StoreError::ReviewedAlready`] for a rejected one whose author has written another of the firm.
    pub fn decide_review(
        &self,
        operator: AccountId,
        review: ReviewId,
        version: i64,
        decision: &ReviewDecision,
        now: i64,
    ) -> StoreResult<StoredReview> {
        self.change("decide on the review", |sql| {
            let found = lock_review(sql, review)?;
            if !accounts::by_id(sql, operator)?.is_operator {
                return Err(StoreError::NoSuchReview.into());
            }
            if found.account == Some(operator) {
                return Err(StoreError::OwnReview.into());
            }
            let ReviewDecision { action, ref reason, proof, is_cleared } = *decision;
            if found.version != version || !action.applies_to(found.state) {
                return Err(StoreError::ReviewChanged.into());
            }
            let state = action.result();
            let is_approved = state == ReviewState::Approved;
            if let (ReviewState::Rejected, Some(author)) = (found.state, found.account) {
                check_only_review(sql, author, &found.firm, review, found.submitted_at.unwrap_or(now))?;
            }
            let published_at = found.published_at.or(is_approved.then_some(now));
            let disputed_at = found.disputed_at.or((state == ReviewState::Hidden).then_some(now));
            let note = Some(reason.as_str()).filter(|_| !is_approved);
            let update = "UPDATE reviews SET state = ?1, note = ?2, proof = ?3, cleared = ?4, changed_at = ?5, \
                 published_at = ?6, disputed_at = ?7, version = version + 1 WHERE id = ?8 AND version = ?9";
            let params = params![
                state.name(),
                note,
                proof.name(),
                is_cleared,
                now,
                published_at,
                disputed_at,
                review.0,
                version
            ];
            if sql.execute(update, &params)? == 0 {
                return Err(StoreError::ReviewChanged.into());
            }
            sql.execute(
                "INSERT INTO review_decisions (review, operator, decided_at, action, reason) VALUES (?1, ?2, ?3, ?4, ?5)",
                &params![review.0, operator.0, now, action.name(), reason],
            )?;
            if matches!(action, ReviewAction::Approve | ReviewAction::Reject) {
                settle_reports(sql, review, now)?;
            }
            if is_approved && found.published_at.is_none() {
                firms::notify(sql, &found.firm, review, now)?;
            }
            let decided = one(sql, review)?;
            note_public_change(sql, &decided)?;
            Ok(decided)
        })
    }

    /// A review that is public or hidden; `None` if there is no such review.
    pub fn public_review(&self, public_id: &str) -> StoreResult<Option<StoredReview>> {
        self.look_up("read the review", |sql| {
            let query = format!("{REVIEWS} WHERE reviews.public_id = ?1 AND reviews.state IN ('approved', 'hidden')");
            sql.row(&query, &params![public_id])
        })
    }

    /// Stores a report of a public review; true if that is hidden now. [`StoreError::NoSuchReview`].
    pub fn report_review(&self, public_id: &str, report: &NewReport, now: i64) -> StoreResult<bool> {
        self.change("report the review", |sql| {
            let query = "SELECT id FROM reviews WHERE public_id = ?1 AND state IN ('approved', 'hidden')";
            let id: ReviewId = sql.row(query, &params![public_id])?.ok_or(StoreError::NoSuchReview)?;
            let found = lock_review(sql, id)?;
            let count = "SELECT count(*) FROM review_reports WHERE review = ?1 AND settled_at IS NULL";
            if sql.one::<u32>(count, &params![id.0])? < MAX_OPEN_REPORTS || report.hides {
                sql.execute(
                    "INSERT INTO review_reports (review, kind, reason, email, reported_at) VALUES (?1, ?2, ?3, ?4, ?5)",
                    &params![
                        id.0,
                        report.kind.name(),
                        &report.reason,
                        report.email.as_ref().map(|email| email.as_str()),
                        now
                    ],
                )?;
            }
            // A second objection does not hide what an operator has let stand.
            let hides = report.hides && found.state == ReviewState::Approved && found.disputed_at.is_none();
            if hides {
                let update = "UPDATE reviews SET state = 'hidden', disputed_at = ?1, changed_at = ?1, \
                     version = version + 1 WHERE id = ?2 AND state = 'approved'";
                sql.execute(update, &params![now, id.0])?;
                note_public_change(sql, &found)?;
            }
            Ok(hides || found.state == ReviewState::Hidden)
        })
    }

    /// Stores the firm's one public answer to a public review, or removes it. [`StoreError::NoSuchReview`],
    /// [`StoreError::RepliedAlready`].
    pub fn reply_to_review(&self, public_id: &str, reply: Option<&str>, now: i64) -> StoreResult<StoredReview> {
        self.change("store the answer of the firm", |sql| {
            let query = "SELECT id FROM reviews WHERE public_id = ?1 AND state IN ('approved', 'hidden')";
            let id: ReviewId = sql.row(query, &params![public_id])?.ok_or(StoreError::NoSuchReview)?;
            let found = lock_review(sql, id)?;
            if found.state != ReviewState::Approved && reply.is_some() {
                return Err(StoreError::NoSuchReview.into());
            }
            if found.reply.is_some() && reply.is_some() {
                return Err(StoreError::RepliedAlready.into());
            }
            let update = "UPDATE reviews SET reply = ?1, replied_at = ?2, version = version + 1 WHERE id = ?3";
            sql.execute(update, &params![reply, reply.map(|_| now), id.0])?;
            note_public_change(sql, &found)?;
            one(sql, id)
        })
    }

    /// The reviews that wait for an operator: their number, and at most `limit` after the first `start`, the one that
    /// has waited longest first.
    pub fn review_queue(&self, start: u32, limit: u32) -> StoreResult<(u32, Vec<StoredReview>)> {
        self.list("list the reviews to decide on", |sql| {
            let total = sql.one(&format!("SELECT count(*) FROM reviews WHERE {WAITS}"), &[])?;
            let page = format!("{REVIEWS} WHERE {WAITS} ORDER BY reviews.changed_at, reviews.id LIMIT ?1 OFFSET ?2");
            Ok((total, sql.rows(&page, &params![limit, start])?))
        })
    }

    /// The reviews that operators decided on and that nobody changed since: their number, and at most `limit` after the first
    /// `start`, the last decision first.
    pub fn decided_reviews(&self, start: u32, limit: u32) -> StoreResult<(u32, Vec<StoredReview>)> {
        self.list("list the reviews that were decided on", |sql| {
            let decided = format!("reviews.state IN ('approved', 'asked', 'rejected') AND NOT {WAITS}");
            let total = sql.one(&format!("SELECT count(*) FROM reviews WHERE {decided}"), &[])?;
            let page = format!(
                "{REVIEWS} WHERE {decided} ORDER BY reviews.changed_at DESC, reviews.id DESC LIMIT ?1 OFFSET ?2"
            );
            Ok((total, sql.rows(&page, &params![limit, start])?))
        })
    }

    /// [`StoreError::NoSuchReview`], also for a draft.
    pub fn review_case(&self, review: ReviewId) -> StoreResult<ReviewCase> {
        self.list("read the review", |sql| {
            let found = one(sql, review)?;
            if found.state == ReviewState::Draft {
                return Err(StoreError::NoSuchReview.into());
            }
            let decisions = "SELECT decided_at, operator, action, reason FROM review_decisions WHERE review = ?1 ORDER BY id";
            let reports = "SELECT reported_at, kind, reason, email, settled_at FROM review_reports WHERE review = ?1 \
                 ORDER BY id";
            let of_author =
                "SELECT state, count(*) FROM reviews WHERE account = ?1 AND state <> 'draft' GROUP BY state ORDER BY state";
            let of_firm = "SELECT state, count(*) FROM reviews WHERE firm = ?1 AND account IS NOT NULL AND state <> 'draft' \
                 GROUP BY state ORDER BY state";
            let days = "SELECT submitted_at / 86400 FROM reviews WHERE firm = ?1 AND account IS NOT NULL \
                 AND submitted_at IS NOT NULL ORDER BY submitted_at DESC LIMIT ?2";
            Ok(ReviewCase {
                decisions: sql.rows(decisions, &params![review.0])?,
                reports: sql.rows(reports, &params![review.0])?,
                of_author: sql.rows(of_author, &params![found.account.map(|account| account.0)])?,
                of_firm: sql.rows(of_firm, &params![&found.firm])?,
                firm_days: sql.rows(days, &params![&found.firm, LISTED_DAYS])?,
                review: found,
            })
        })
    }

    /// The texts of the newest reviews that were ever submitted, without withdrawn ones.
    pub fn review_texts(&self, limit: u32) -> StoreResult<Vec<ReviewText>> {
        self.list("read the texts of reviews", |sql| {
            let query = "SELECT id, firm, state, title, body FROM reviews WHERE state NOT IN ('draft', 'withdrawn') \
                 ORDER BY id DESC LIMIT ?1";
            sql.rows(query, &params![limit])
        })
    }

    /// Number of changes of what is public. Cheap.
    pub fn review_change(&self) -> StoreResult<i64> {
        self.look_up("read the change of reviews", last_public_change)
    }

    /// All reviews that were ever public. Later changes than the returned one may be included.
    pub fn public_reviews(&self) -> StoreResult<PublicReviews> {
        self.list("read the public reviews", |sql| {
            let change = last_public_change(sql)?;
            let query = format!("{REVIEWS} WHERE reviews.published_at IS NOT NULL ORDER BY reviews.id");
            let reviews: Vec<StoredReview> = sql.rows(&query, &[])?;
            if reviews.is_empty() {
                return Ok(PublicReviews { change, reviews: Vec::new() });
            }
            let secret: Option<[u8; 32]> = sql.one("SELECT cursor_secret FROM service", &[])?;
            let secret = secret.ok_or_else(|| SqlError::Data("the cursor secret is missing".to_owned()))?;
            let authors = DerivedSecret::new(&secret, "authors of reviews");
            let created: Vec<Option<i64>> = sql.row_each(
                "SELECT created_at FROM accounts WHERE id = ?1",
                reviews.iter().map(|review| params![review.account.map(|account| account.0)]),
            )?;
            let rows = reviews.into_iter().zip(created);
            let reviews = rows.map(|(review, since)| public_review(review, since, &authors)).collect();
            Ok(PublicReviews { change, reviews })
        })
    }
}

fn public_review(review: StoredReview, since: Option<i64>, authors: &DerivedSecret) -> PublicReview {
    let created_on = Date::from_unix(review.submitted_at.unwrap_or(review.created_at));
    let disputed_at = review.disputed_at.filter(|_| review.state == ReviewState::Hidden);
    let account = review.account.filter(|_| review.state == ReviewState::Approved);
    let is_shown = account.is_some();
    let tag = |account: AccountId| hex::digits(&authors.tag(&account.0.to_be_bytes())[..16]);
    PublicReview {
        id: review.public_id,
        firm: review.firm,
        state: review.state,
        answers: if is_shown { review.answers } else { ReviewAnswers::default() },
        proof: if is_shown { review.proof } else { ReviewProof::None },
        created_on,
        author: account.map_or_else(String::new, tag),
        author_since: since.filter(|_| is_shown).map(Date::from_unix),
        reply: review.reply.filter(|_| is_shown),
        replied_on: review.replied_at.filter(|_| is_shown).map(Date::from_unix),
        disputed_on: disputed_at.map(Date::from_unix),
        is_cleared: review.is_cleared && is_shown,
    }
}

/// Erases all reviews of an account that is being deleted.
pub(crate) fn erase_all(sql: &dyn Sql, account: AccountId, now: i64) -> SqlResult<()> {
    let reviews: Vec<StoredReview> = sql.rows(&format!("{REVIEWS} WHERE reviews.account = ?1"), &params![account.0])?;
    reviews.iter().try_for_each(|review| erase(sql, review, now))?;
    match reviews.iter().find(|review| review.published_at.is_some()) {
        Some(published) => note_public_change(sql, published),
        None => Ok(()),
    }
}

/// Deletes a review, or all but the public id, the firm and the times of one that was public.
fn erase(sql: &dyn Sql, review: &StoredReview, now: i64) -> SqlResult<()> {
    let id = review.id.0;
    if review.published_at.is_none() {
        return sql.execute("DELETE FROM reviews WHERE id = ?1", &params![id]).map(drop);
    }
    for table in ["review_decisions", "review_reports"] {
        sql.execute(&format!("DELETE FROM {table} WHERE review = ?1"), &params![id])?;
    }
    sql.execute(
        "UPDATE reviews SET account = NULL, state = 'withdrawn', role = NULL, stage = NULL, contact_month = NULL, \
         rating = NULL, responsiveness = NULL, fairness = NULL, value_add = NULL, ghosted = NULL, title = '', body = '', \
         proof = 'none', note = NULL, response = NULL, reply = NULL, replied_at = NULL, cleared = FALSE, changed_at = ?1, \
         version = version + 1 WHERE id = ?2",
        &params![now, id],
    )
    .map(drop)
}

fn one(sql: &dyn Sql, review: ReviewId) -> SqlResult<StoredReview> {
    Ok(sql.row(&format!("{REVIEWS} WHERE reviews.id = ?1"), &params![review.0])?.ok_or(StoreError::NoSuchReview)?)
}

fn owned(sql: &dyn Sql, account: AccountId, review: ReviewId) -> SqlResult<StoredReview> {
    let found = one(sql, review)?;
    if found.account == Some(account) { Ok(found) } else { Err(StoreError::NoSuchReview.into()) }
}

/// The review, whose author can change or delete nothing until the transaction ends.
fn lock_review(sql: &dyn Sql, review: ReviewId) -> SqlResult<StoredReview> {
    let author = one(sql, review)?.account.ok_or(StoreError::NoSuchReview)?;
    accounts::lock(sql, author)?;
    owned(sql, author, review)
}

/// The draft of an account about a firm, or a new one.
fn draft(sql: &dyn Sql, account: AccountId, saved: &SavedReview, now: i64) -> SqlResult<StoredReview> {
    let query = format!("{REVIEWS} WHERE reviews.account = ?1 AND reviews.firm = ?2 AND reviews.state = 'draft'");
    if let Some(found) = sql.row(&query, &params![account.0, &saved.firm])? {
        return Ok(found);
    }
    let count = "SELECT count(*) FROM reviews WHERE account = ?1 AND state = 'draft'";
    if sql.one::<u32>(count, &params![account.0])? >= MAX_DRAFTS {
        return Err(StoreError::TooManyDrafts.into());
    }
    let id = sql.one(
        "INSERT INTO reviews (public_id, account, firm, state, created_at, changed_at, version) \
         VALUES (?1, ?2, ?3, 'draft', ?4, ?4, 0) RETURNING id",
        &params![&saved.public_id, account.0, &saved.firm, now],
    )?;
    one(sql, id)
}

fn check_submission(
    sql: &dyn Sql,
    owner: &Account,
    review: &StoredReview,
    saved: &SavedReview,
    now: i64,
) -> SqlResult<()> {
    if owner.verified_at.is_none() {
        return Err(StoreError::AccountUnverified.into());
    }
    for firm in [&review.firm, &saved.firm].into_iter().chain(&saved.former_slugs) {
        check_only_review(sql, owner.id, firm, review.id, now)?;
    }
    // Changes of what waits for an operator are not counted.
    if matches!(review.state, ReviewState::Draft | ReviewState::Rejected) {
        let count = "SELECT count(*) FROM review_submissions WHERE account = ?1 AND submitted_at > ?2";
        if sql.one::<u32>(count, &params![owner.id.0, now.saturating_sub(DAY)])? >= REVIEWS_PER_DAY {
            return Err(StoreError::TooManyReviews.into());
        }
        let insert = "INSERT INTO review_submissions (account, submitted_at) VALUES (?1, ?2)";
        sql.execute(insert, &params![owner.id.0, now])?;
    }
    Ok(())
}

/// [`StoreError::ReviewedAlready`] if the account has another review of the firm from the year before `now`.
fn check_only_review(sql: &dyn Sql, account: AccountId, firm: &str, review: ReviewId, now: i64) -> SqlResult<()> {
    let other = "SELECT EXISTS (SELECT 1 FROM reviews WHERE account = ?1 AND firm = ?2 AND id <> ?3 \
         AND state IN ('submitted', 'asked', 'approved', 'hidden') AND submitted_at > ?4)";
    let has_other: bool = sql.one(other, &params![account.0, firm, review.0, now.saturating_sub(REVIEW_DAYS * DAY)])?;
    if has_other { Err(StoreError::ReviewedAlready.into()) } else { Ok(()) }
}

fn settle_reports(sql: &dyn Sql, review: ReviewId, now: i64) -> SqlResult<()> {
    let update = "UPDATE review_reports SET settled_at = ?1 WHERE review = ?2 AND settled_at IS NULL";
    sql.execute(update, &params![now, review.0]).map(drop)
}

fn last_public_change(sql: &dyn Sql) -> SqlResult<i64> {
    sql.one("SELECT review_change FROM service", &[])
}

/// Counts a change of a review that is or was public. Locks the row of the counter, always as the last lock of a transaction.
fn note_public_change(sql: &dyn Sql, review: &StoredReview) -> SqlResult<()> {
    if review.published_at.is_none() {
        return Ok(());
    }
    sql.execute("UPDATE service SET review_change = review_change + 1", &[]).map(drop)
}
