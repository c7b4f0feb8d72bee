//! Reviews of firms by the owners of accounts, from the draft to the decision of an operator. Times are Unix seconds.

use crate::account::{AccountId, Email};
use data::vocabulary::{Vocabulary, vocabulary};
use data::{Date, PartialDate, ReviewProof, ReviewerRole, Stage};

/// Number of a review in the store, which only its author and operators see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReviewId(pub i64);

/// Reviews that an account may submit in 24 hours.
pub const REVIEWS_PER_DAY: u32 = 5;
pub const MAX_DRAFTS: u32 = 20;
/// Days in which one review of an account and firm counts.
pub const REVIEW_DAYS: i64 = 365;
/// Reports of one review that wait for an operator; further ones are not stored.
pub(crate) const MAX_OPEN_REPORTS: u32 = 20;
/// Days for which the remains of deleted reviews and settled reports are stored.
pub(crate) const REVIEW_REMAINS_DAYS: i32 = 90;

vocabulary! {
    ReviewState, "state", {
        /// Only its author sees it.
        Draft = "draft",
        /// Waits for an operator.
        Submitted = "submitted",
        /// Waits for the author's answer to an operator.
        Asked = "asked",
        /// Public.
        Approved = "approved",
        /// Its author may change and submit it again.
        Rejected = "rejected",
        /// Was public; waits for an operator's decision on an objection.
        Hidden = "hidden",
        /// By its author. Nothing else remains of a public review that was deleted.
        Withdrawn = "withdrawn",
    }
}

impl ReviewState {
    pub fn is_editable(self) -> bool {
        matches!(self, Self::Draft | Self::Submitted | Self::Asked | Self::Rejected)
    }

    pub fn can_be_withdrawn(self) -> bool {
        matches!(self, Self::Submitted | Self::Asked | Self::Approved | Self::Hidden)
    }
}

vocabulary! {
    ReviewAction, "action", {
        /// Publishes it; also ends an objection or a report without consequences.
        Approve = "approve",
        Reject = "reject",
        Ask = "ask",
        Hide = "hide",
    }
}

impl ReviewAction {
    pub fn applies_to(self, state: ReviewState) -> bool {
        use ReviewState::{Approved, Asked, Hidden, Rejected, Submitted};
        match self {
            // A rejected one is as the operator saw it until its author submits it again.
            Self::Approve => matches!(state, Submitted | Asked | Approved | Hidden | Rejected),
            Self::Reject => matches!(state, Submitted | Asked | Approved | Hidden),
            Self::Ask => matches!(state, Submitted | Asked),
            Self::Hide => state == Approved,
        }
    }

    /// The state that it leads to.
    pub(crate) fn result(self) -> ReviewState {
        match self {
            Self::Approve => ReviewState::Approved,
            Self::Reject => ReviewState::Rejected,
            Self::Ask => ReviewState::Asked,
            Self::Hide => ReviewState::Hidden,
        }
    }

    /// True if its author, or whoever objects, must be told why.
    pub fn needs_reason(self) -> bool {
        self != Self::Approve
    }
}

vocabulary! {
    ReportKind, "kind", {
        Report = "report",
        /// In the name of the firm.
        Objection = "objection",
    }
}

/// The statements of the author. Only a draft may lack the rating.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewAnswers {
    pub role: Option<ReviewerRole>,
    /// Stage of the author's company at the time of the contact.
    pub stage: Option<Stage>,
    /// To the month.
    pub contact_month: Option<PartialDate>,
    pub rating: Option<u8>,
    pub responsiveness: Option<u8>,
    pub fairness: Option<u8>,
    pub value_add: Option<u8>,
    pub ghosted: Option<bool>,
    pub title: String,
    pub body: String,
}

/// A change of a review by its author.
#[derive(Clone, Debug)]
pub struct SavedReview {
    /// `None`: the author's draft about the firm, or a new one.
    pub id: Option<ReviewId>,
    /// Slug of the firm; that of an existing review stays.
    pub firm: String,
    /// Further slugs of the same firm.
    pub former_slugs: Vec<String>,
    /// Public id of a new review.
    pub public_id: String,
    pub answers: ReviewAnswers,
    /// The author's answer to the operator's question.
    pub response: Option<String>,
    /// Only a draft can be saved without submitting it.
    pub submits: bool,
    pub proof: ReviewProof,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReview {
    pub id: ReviewId,
    /// Random; says nothing about the author or other reviews.
    pub public_id: String,
    /// `None` for the remains of a deleted review.
    pub account: Option<AccountId>,
    pub firm: String,
    pub state: ReviewState,
    pub answers: ReviewAnswers,
    pub proof: ReviewProof,
    pub created_at: i64,
    pub changed_at: i64,
    /// The last time.
    pub submitted_at: Option<i64>,
    /// The first time; `None` if it was never public.
    pub published_at: Option<i64>,
    /// When it was first hidden.
    pub disputed_at: Option<i64>,
    /// True if an operator lets it count despite a suspicion.
    pub is_cleared: bool,
    /// The operator's last question or reason.
    pub note: Option<String>,
    pub response: Option<String>,
    /// The firm's public answer.
    pub reply: Option<String>,
    pub replied_at: Option<i64>,
    /// Counts changes: a decision applies to what its operator has seen.
    pub version: i64,
}

#[derive(Clone, Debug)]
pub struct ReviewDecision {
    pub action: ReviewAction,
    /// Shown to the author.
    pub reason: String,
    pub proof: ReviewProof,
    pub is_cleared: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedDecision {
    pub at: i64,
    /// `None` if the account was deleted.
    pub operator: Option<AccountId>,
    pub action: ReviewAction,
    pub reason: String,
}

#[derive(Clone, Debug)]
pub struct NewReport {
    pub kind: ReportKind,
    pub reason: String,
    /// Where the outcome may be sent.
    pub email: Option<Email>,
    /// True if its sender has proved to speak for the firm: hides the review until an operator decides, the first time.
    pub hides: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewReport {
    pub at: i64,
    pub kind: ReportKind,
    pub reason: String,
    pub email: Option<Email>,
    pub settled_at: Option<i64>,
}

/// A review with its history, for operators.
#[derive(Clone, Debug)]
pub struct ReviewCase {
    pub review: StoredReview,
    /// The oldest first.
    pub decisions: Vec<LoggedDecision>,
    pub reports: Vec<ReviewReport>,
    /// Numbers of submitted reviews of the author and of the firm, by state.
    pub of_author: Vec<(ReviewState, u32)>,
    pub of_firm: Vec<(ReviewState, u32)>,
    /// Days of the firm's reviews that were submitted last.
    pub firm_days: Vec<Date>,
}

/// A text to compare others with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewText {
    pub review: ReviewId,
    pub firm: String,
    pub state: ReviewState,
    pub title: String,
    pub body: String,
}

/// All reviews that were ever public, so that those which no longer are disappear elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicReviews {
    /// Number of the last change that is certainly included.
    pub change: i64,
    pub reviews: Vec<PublicReview>,
}

/// A row of `reviews.csv`. Unless it is approved, all but its state is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicReview {
    pub id: String,
    pub firm: String,
    pub state: ReviewState,
    pub answers: ReviewAnswers,
    pub proof: ReviewProof,
    pub created_on: Date,
    /// Keyed hash of the account, to be published nowhere.
    pub author: String,
    /// The day on which the account was created, to be published nowhere.
    pub author_since: Option<Date>,
    pub reply: Option<String>,
    pub replied_on: Option<Date>,
    /// Since when it is hidden; `None` if it is not.
    pub disputed_on: Option<Date>,
    pub is_cleared: bool,
}
