//! Claims of a firm's profile and corrections of its record, by accounts that speak for it. Times are Unix seconds.

use crate::account::{AccountId, Email};
use data::vocabulary::{Vocabulary, vocabulary};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimId(pub i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NoticeId(pub i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CorrectionId(pub i64);

pub const MAX_CLAIMS: u32 = 20;
/// Corrections of an account that wait for an operator.
pub const MAX_PROPOSED: u32 = 50;
/// Days after which a notice that could not be sent is deleted.
pub(crate) const NOTICE_DAYS: i32 = 7;
/// Days for which rejected corrections are stored.
pub(crate) const REJECTED_DAYS: i32 = 90;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirmClaim {
    pub id: ClaimId,
    pub account: AccountId,
    /// The slug at that time.
    pub firm: String,
    pub claimed_at: i64,
    /// True if each approved review is announced by e-mail.
    pub notifies: bool,
}

/// An e-mail about an approved review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueNotice {
    pub id: NoticeId,
    pub account: AccountId,
    pub email: Email,
    pub firm: String,
    /// Public id of the review.
    pub review: String,
    pub attempts: u32,
}

vocabulary! {
    CorrectionState, "state", {
        Proposed = "proposed",
        Accepted = "accepted",
        Rejected = "rejected",
    }
}

#[derive(Clone, Debug)]
pub struct NewCorrection {
    pub firm: String,
    /// Column of the record.
    pub field: &'static str,
    pub value: String,
    /// Address of a page that shows the value.
    pub source: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    pub id: CorrectionId,
    /// `None` if the account was deleted.
    pub account: Option<AccountId>,
    pub firm: String,
    pub field: String,
    pub value: String,
    pub source: String,
    pub state: CorrectionState,
    pub proposed_at: i64,
    pub decided_at: Option<i64>,
    /// Why it was rejected.
    pub reason: Option<String>,
}
