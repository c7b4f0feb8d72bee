//! Claims of firms, notices of reviews, and corrections.

use crate::StoreError;
use crate::account::AccountId;
use crate::conformance::reviews::{DAY, author, decide, operator, submission};
use crate::conformance::{NOON, OpenStore, ada, email};
use crate::firm::*;
use crate::quota::Tier;
use crate::review::ReviewAction;
use data::Date;

pub(super) fn correction(firm: &str, value: &str) -> NewCorrection {
    let source = "https://alder.example/about".to_owned();
    NewCorrection { firm: firm.to_owned(), field: "city", value: value.to_owned(), source }
}

pub(crate) fn firms_are_claimed(open: OpenStore<'_>) {
    let store = open();
    let unverified = ada(&*store, Tier::Free).id;
    let zoe = author(&*store, "zoe");
    assert!(matches!(store.claim_firm(unverified, "alder", true, NOON), Err(StoreError::AccountUnverified)));
    store.claim_firm(zoe, "alder", true, NOON).unwrap();
    store.claim_firm(zoe, "birch", false, NOON + 1).unwrap();
    // Again: only the notices change.
    store.claim_firm(zoe, "alder", false, NOON + 2).unwrap();
    let claims = open().claims_of(zoe).unwrap();
    let known: Vec<_> = claims.iter().map(|claim| (claim.firm.as_str(), claim.claimed_at, claim.notifies)).collect();
    assert_eq!(known, [("birch", NOON + 1, false), ("alder", NOON, false)]);
    assert!(!store.release_claim(unverified, claims[0].id).unwrap(), "only one's own");
    assert!(store.release_claim(zoe, claims[0].id).unwrap() && !store.release_claim(zoe, claims[0].id).unwrap());
    for number in 1..MAX_CLAIMS {
        store.claim_firm(zoe, &format!("f-{number}"), false, NOON).unwrap();
    }
    assert!(matches!(store.claim_firm(zoe, "one-more", false, NOON), Err(StoreError::TooManyClaims)));
    assert!(matches!(store.claim_firm(AccountId(99), "alder", false, NOON), Err(StoreError::AccountGone)));
    store.delete_account(zoe, None, NOON).unwrap();
    assert_eq!(store.claims_of(zoe).unwrap(), []);
}

pub(crate) fn approved_reviews_are_announced_once(open: OpenStore<'_>) {
    let store = open();
    let (olga, zoe, bob) = (operator(&*store, "olga"), author(&*store, "zoe"), author(&*store, "bob"));
    store.claim_firm(bob, "alder", true, NOON).unwrap();
    store.claim_firm(olga, "alder", false, NOON).unwrap();
    let sent = store.save_review(zoe, &submission("alder", "r-1"), NOON).unwrap();
    assert_eq!(store.claim_notices(NOON + 99, NOON + 600, 9).unwrap(), []);
    let approved = decide(&*store, olga, &sent, ReviewAction::Approve).unwrap();
    // A second approval announces nothing.
    decide(&*store, olga, &approved, ReviewAction::Approve).unwrap();
    let due = store.claim_notices(NOON + 99, NOON + 600, 9).unwrap();
    let told: Vec<_> = due.iter().map(|due| (due.email.clone(), due.firm.as_str(), due.review.as_str())).collect();
    assert_eq!(told, [(email("bob@example.com"), "alder", "r-1")]);
    assert_eq!(open().claim_notices(NOON + 599, NOON + 999, 9).unwrap(), [], "it is claimed");
    store.settle_notice(due[0].id, Some(NOON + 700)).unwrap();
    let again = store.claim_notices(NOON + 700, NOON + 999, 9).unwrap();
    assert_eq!((again.len(), again[0].attempts), (1, 1));
    store.settle_notice(due[0].id, None).unwrap();
    assert_eq!(store.claim_notices(NOON + 9_999, NOON + 99_999, 9).unwrap(), []);
    // A review that is gone by then is not announced.
    let second = store.save_review(bob, &submission("alder", "r-2"), NOON).unwrap();
    decide(&*store, olga, &second, ReviewAction::Approve).unwrap();
    store.withdraw_review(bob, second.id, NOON + 70).unwrap();
    assert_eq!(store.claim_notices(NOON + 9_999, NOON + 99_999, 9).unwrap(), []);
}

pub(crate) fn corrections_are_decided_once(open: OpenStore<'_>) {
    let store = open();
    let (olga, zoe) = (operator(&*store, "olga"), author(&*store, "zoe"));
    let unclaimed = store.propose_correction(zoe, &correction("alder", "Oslo"), NOON);
    assert!(matches!(unclaimed, Err(StoreError::NoSuchClaim)), "{unclaimed:?}");
    store.claim_firm(zoe, "alder", false, NOON).unwrap();
    let first = store.propose_correction(zoe, &correction("alder", "Oslo"), NOON).unwrap();
    let second = store.propose_correction(zoe, &correction("alder", "Bergen"), NOON + 1).unwrap();
    assert_eq!((first.state, first.value.as_str(), first.account), (CorrectionState::Proposed, "Oslo", Some(zoe)));
    assert_eq!(store.corrections(CorrectionState::Proposed, 0, 1).unwrap(), (2, vec![first.clone()]));
    assert!(matches!(store.decide_correction(zoe, first.id, None, NOON), Err(StoreError::NoSuchCorrection)));
    let accepted = store.decide_correction(olga, first.id, None, NOON + 2).unwrap();
    assert_eq!(
        (accepted.state, accepted.decided_at, accepted.reason),
        (CorrectionState::Accepted, Some(NOON + 2), None)
    );
    let rejected = open().decide_correction(olga, second.id, Some("no source"), NOON + 3).unwrap();
    assert_eq!((rejected.state, rejected.reason.as_deref()), (CorrectionState::Rejected, Some("no source")));
    let again = store.decide_correction(olga, second.id, None, NOON + 4);
    assert!(matches!(again, Err(StoreError::NoSuchCorrection)), "{again:?}");
    for number in 0..MAX_PROPOSED {
        store.propose_correction(zoe, &correction("alder", &number.to_string()), NOON).unwrap();
    }
    let refused = store.propose_correction(zoe, &correction("alder", "x"), NOON);
    assert!(matches!(refused, Err(StoreError::TooManyProposed)), "{refused:?}");
    // Accepted corrections outlive the account; rejected ones go after 90 days.
    store.delete_account(zoe, None, NOON + DAY).unwrap();
    assert_eq!(store.corrections(CorrectionState::Accepted, 0, 9).unwrap().1[0].account, None);
    store.purge(Date::from_days(Date::from_unix(NOON).days() + 91)).unwrap();
    assert_eq!(store.corrections(CorrectionState::Rejected, 0, 9).unwrap().0, 0);
    assert_eq!(store.corrections(CorrectionState::Accepted, 0, 9).unwrap().0, 1);
}
