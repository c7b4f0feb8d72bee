//! Reviews: their states, the rules for submitted ones, and what is public.

use crate::account::AccountId;
use crate::conformance::{NOON, OpenStore, ada, email};
use crate::quota::Tier;
use crate::review::*;
use crate::{Store, StoreError};
use data::{Date, ReviewProof, ReviewerRole, Stage};

pub(super) const DAY: i64 = 86_400;

pub(super) fn answers(body: &str) -> ReviewAnswers {
    ReviewAnswers {
        role: Some(ReviewerRole::Founder),
        stage: Some(Stage::Seed),
        contact_month: Some("2026-03".parse().unwrap()),
        rating: Some(2),
        responsiveness: Some(1),
        fairness: None,
        value_add: Some(5),
        ghosted: Some(false),
        title: "No answer".to_owned(),
        body: body.to_owned(),
    }
}

pub(super) fn submission(firm: &str, public_id: &str) -> SavedReview {
    SavedReview {
        id: None,
        firm: firm.to_owned(),
        former_slugs: Vec::new(),
        public_id: public_id.to_owned(),
        answers: answers("First line.\n=1+1 <b>é</b>"),
        response: None,
        submits: true,
        proof: ReviewProof::Email,
    }
}

/// A verified account.
pub(super) fn author(store: &dyn Store, name: &str) -> AccountId {
    let address = email(&format!("{name}@example.com"));
    let account = store.create_account(&address, Tier::Free, None, NOON - 9 * DAY).unwrap().id;
    store.verify_account(account, NOON).unwrap().id
}

pub(super) fn operator(store: &dyn Store, name: &str) -> AccountId {
    let account = author(store, name);
    store.set_operator(account, true).unwrap().id
}

pub(super) fn decision(action: ReviewAction) -> ReviewDecision {
    ReviewDecision { action, reason: "a reason".to_owned(), proof: ReviewProof::Confirmed, is_cleared: false }
}

pub(super) fn decide(
    store: &dyn Store,
    operator: AccountId,
    review: &StoredReview,
    action: ReviewAction,
) -> Result<StoredReview, StoreError> {
    store.decide_review(operator, review.id, review.version, &decision(action), NOON + 60)
}

pub(crate) fn drafts_become_reviews(open: OpenStore<'_>) {
    let store = open();
    let unverified = ada(&*store, Tier::Free).id;
    let zoe = author(&*store, "zoe");
    let draft = SavedReview {
        answers: ReviewAnswers { body: "Half a".to_owned(), ..ReviewAnswers::default() },
        submits: false,
        ..submission("alder", "r-1")
    };
    let saved = store.save_review(unverified, &draft, NOON).unwrap();
    assert_eq!((saved.state, saved.version, saved.submitted_at), (ReviewState::Draft, 1, None));
    assert_eq!((saved.public_id.as_str(), &saved.answers, saved.account), ("r-1", &draft.answers, Some(unverified)));
    // The draft about a firm is one, whatever the id of a new one would be.
    let again = SavedReview { public_id: "r-2".to_owned(), answers: answers("More"), ..draft.clone() };
    let again = open().save_review(unverified, &again, NOON + 1).unwrap();
    assert_eq!((again.id, again.public_id.as_str(), again.version), (saved.id, "r-1", 2));
    assert_eq!(again.answers, answers("More"));
    let refused = store.save_review(unverified, &submission("alder", "r-2"), NOON);
    assert!(matches!(refused, Err(StoreError::AccountUnverified)), "{refused:?}");
    assert_eq!(
        store.reviews_of(unverified).unwrap(),
        std::slice::from_ref(&again),
        "a refused submission changes nothing"
    );
    store.verify_account(unverified, NOON).unwrap();
    let sent = store.save_review(unverified, &submission("alder", "r-2"), NOON + 5).unwrap();
    assert_eq!((sent.id, sent.state, sent.submitted_at), (saved.id, ReviewState::Submitted, Some(NOON + 5)));
    assert_eq!((sent.proof, &sent.answers), (ReviewProof::Email, &answers("First line.\n=1+1 <b>é</b>")));
    // It can be changed while it waits, but is no draft any more.
    let change = SavedReview { id: Some(sent.id), answers: answers("Other words"), ..submission("elsewhere", "r-9") };
    let changed = store.save_review(unverified, &change, NOON + 6).unwrap();
    assert_eq!((changed.firm.as_str(), changed.state, changed.version), ("alder", ReviewState::Submitted, 4));
    let as_draft = store.save_review(unverified, &SavedReview { submits: false, ..change.clone() }, NOON + 7);
    assert!(matches!(as_draft, Err(StoreError::ReviewFixed)));
    // Nobody else's.
    for result in [
        store.save_review(zoe, &change, NOON).map(drop),
        store.review_of(zoe, sent.id).map(drop),
        store.withdraw_review(zoe, sent.id, NOON).map(drop),
        store.delete_review(zoe, sent.id, NOON),
        store.review_of(zoe, ReviewId(99)).map(drop),
    ] {
        assert!(matches!(result, Err(StoreError::NoSuchReview)), "{result:?}");
    }
    assert_eq!(open().review_of(unverified, sent.id).unwrap(), changed);
    for number in 0..MAX_DRAFTS {
        let draft = SavedReview { public_id: format!("d-{number}"), firm: format!("f-{number}"), ..draft.clone() };
        store.save_review(zoe, &draft, NOON).unwrap();
    }
    let refused = store.save_review(zoe, &draft, NOON);
    assert!(matches!(refused, Err(StoreError::TooManyDrafts)), "{refused:?}");
    store.set_blocked(zoe, true, NOON).unwrap();
    assert!(matches!(store.save_review(zoe, &draft, NOON), Err(StoreError::AccountBlocked)));
    assert!(matches!(store.save_review(AccountId(99), &draft, NOON), Err(StoreError::AccountGone)));
}

pub(crate) fn one_review_counts(open: OpenStore<'_>) {
    let store = open();
    let (zoe, bob) = (author(&*store, "zoe"), author(&*store, "bob"));
    let first = store.save_review(zoe, &submission("alder", "r-1"), NOON).unwrap();
    let again = |former: &[&str], firm: &str, now| {
        let former_slugs = former.iter().map(|slug| (*slug).to_owned()).collect();
        let saved = SavedReview { former_slugs, ..submission(firm, &format!("r-{now}-{firm}")) };
        store.save_review(zoe, &saved, now)
    };
    let refused = |result: Result<StoredReview, StoreError>| {
        assert!(matches!(result, Err(StoreError::ReviewedAlready)), "{result:?}");
    };
    refused(again(&[], "alder", NOON + 364 * DAY));
    refused(again(&["birch", "alder"], "new-name", NOON + DAY));
    assert_eq!(store.reviews_of(zoe).unwrap().len(), 1, "nothing of the refused ones is stored");
    store.save_review(bob, &submission("alder", "r-2"), NOON).unwrap();
    let later = again(&[], "alder", NOON + 366 * DAY).unwrap();
    // A withdrawn, a rejected and a deleted one make room.
    store.withdraw_review(zoe, later.id, NOON + 366 * DAY).unwrap();
    let next = again(&[], "alder", NOON + 367 * DAY).unwrap();
    store.delete_review(zoe, next.id, NOON + 367 * DAY).unwrap();
    let olga = operator(&*store, "olga");
    let next = again(&[], "alder", NOON + 368 * DAY + 1).unwrap();
    let rejected = decide(&*store, olga, &next, ReviewAction::Reject).unwrap();
    let next = again(&[], "alder", NOON + 368 * DAY + 2).unwrap();
    let back = SavedReview { id: Some(rejected.id), ..submission("alder", "x") };
    refused(store.save_review(zoe, &back, NOON + 368 * DAY + 3));
    store.withdraw_review(zoe, next.id, NOON + 368 * DAY + 3).unwrap();
    let back = store.save_review(zoe, &back, NOON + 368 * DAY + 4).unwrap();
    assert_eq!((back.id, back.state), (rejected.id, ReviewState::Submitted));
    assert_eq!(store.review_of(zoe, first.id).unwrap(), first);
    // Deleting does not lift the limit of a day.
    for number in 0..REVIEWS_PER_DAY {
        let saved = store.save_review(bob, &submission(&format!("f-{number}"), &format!("b-{number}")), NOON + 2 * DAY);
        store.delete_review(bob, saved.unwrap().id, NOON + 2 * DAY).unwrap();
    }
    let refused = store.save_review(bob, &submission("f-9", "b-9"), NOON + 3 * DAY - 1);
    assert!(matches!(refused, Err(StoreError::TooManyReviews)), "{refused:?}");
    store.save_review(bob, &submission("f-9", "b-9"), NOON + 3 * DAY).unwrap();
}

pub(crate) fn operators_decide(open: OpenStore<'_>) {
    let store = open();
    let (olga, otto, zoe) = (operator(&*store, "olga"), operator(&*store, "otto"), author(&*store, "zoe"));
    let sent = store.save_review(zoe, &submission("alder", "r-1"), NOON).unwrap();
    let (total, queue) = store.review_queue(0, 9).unwrap();
    assert_eq!((total, &queue), (1, &vec![sent.clone()]));
    let no_operator = decide(&*store, zoe, &sent, ReviewAction::Approve);
    assert!(matches!(no_operator, Err(StoreError::NoSuchReview)), "{no_operator:?}");
    assert_eq!(store.review_change().unwrap(), 0);

    let asked = decide(&*store, olga, &sent, ReviewAction::Ask).unwrap();
    assert_eq!((asked.state, asked.note.as_deref()), (ReviewState::Asked, Some("a reason")));
    assert_eq!(store.review_queue(0, 9).unwrap().0, 0, "it waits for its author");
    let response = Some("In March.".to_owned());
    let answered = SavedReview { id: Some(sent.id), response, ..submission("alder", "x") };
    let answered = store.save_review(zoe, &answered, NOON + 70).unwrap();
    assert_eq!((answered.state, answered.response.as_deref()), (ReviewState::Submitted, Some("In March.")));
    // The operator has not seen this version.
    let unseen = decide(&*store, otto, &asked, ReviewAction::Approve);
    assert!(matches!(unseen, Err(StoreError::ReviewChanged)), "{unseen:?}");
    let hidden = decide(&*store, otto, &answered, ReviewAction::Hide);
    assert!(matches!(hidden, Err(StoreError::ReviewChanged)), "only a public one can be hidden: {hidden:?}");

    let decision = ReviewDecision { is_cleared: true, ..decision(ReviewAction::Approve) };
    let approved = open().decide_review(otto, sent.id, answered.version, &decision, NOON + 80).unwrap();
    assert_eq!((approved.state, approved.published_at), (ReviewState::Approved, Some(NOON + 80)));
    assert_eq!(approved.note, None);
    assert_eq!((approved.proof, approved.is_cleared), (ReviewProof::Confirmed, true));
    assert_eq!(store.review_change().unwrap(), 1);
    let twice = store.decide_review(olga, sent.id, answered.version, &decision, NOON + 81);
    assert!(matches!(twice, Err(StoreError::ReviewChanged)), "{twice:?}");
    let change = SavedReview { id: Some(sent.id), ..submission("alder", "x") };
    assert!(matches!(store.save_review(zoe, &change, NOON + 90), Err(StoreError::ReviewFixed)));

    let case = store.review_case(sent.id).unwrap();
    let decided: Vec<_> = case.decisions.iter().map(|made| (made.operator, made.action, made.at)).collect();
    let expected = [(Some(olga), ReviewAction::Ask, NOON + 60), (Some(otto), ReviewAction::Approve, NOON + 80)];
    assert_eq!(decided, expected);
    assert_eq!((case.of_author, case.of_firm), (vec![(ReviewState::Approved, 1)], vec![(ReviewState::Approved, 1)]));
    assert_eq!(case.firm_days, [Date::from_unix(NOON + 70)]);
    let texts = store.review_texts(9).unwrap();
    assert_eq!((texts[0].review, texts[0].title.as_str()), (sent.id, "No answer"));

    // Nobody decides on an own review, and a former operator decides nothing.
    let own = store.save_review(olga, &submission("alder", "r-2"), NOON + 90).unwrap();
    let refused = decide(&*store, olga, &own, ReviewAction::Approve);
    assert!(matches!(refused, Err(StoreError::OwnReview)), "{refused:?}");
    let rejected = decide(&*store, otto, &own, ReviewAction::Reject).unwrap();
    assert_eq!((rejected.state, rejected.note.as_deref()), (ReviewState::Rejected, Some("a reason")));
    assert_eq!(store.review_change().unwrap(), 1, "a rejected review was never public");
    // What was decided can be decided otherwise, unless the author has written another one meanwhile.
    assert_eq!(store.decided_reviews(0, 9).unwrap(), (2, vec![approved.clone(), rejected.clone()]));
    let other = store.save_review(olga, &submission("alder", "r-4"), NOON + 95).unwrap();
    let twice = decide(&*store, otto, &rejected, ReviewAction::Approve);
    assert!(matches!(twice, Err(StoreError::ReviewedAlready)), "{twice:?}");
    store.delete_review(olga, other.id, NOON + 96).unwrap();
    let after_all = decide(&*store, otto, &rejected, ReviewAction::Approve).unwrap();
    assert_eq!((after_all.state, after_all.note), (ReviewState::Approved, None));
    assert_eq!(store.decided_reviews(1, 1).unwrap().1.len(), 1);
    store.set_operator(otto, false).unwrap();
    assert!(matches!(decide(&*store, otto, &approved, ReviewAction::Hide), Err(StoreError::NoSuchReview)));
    let draft = SavedReview { submits: false, ..submission("draft", "r-3") };
    let draft = store.save_review(zoe, &draft, NOON).unwrap();
    assert!(matches!(store.review_case(draft.id), Err(StoreError::NoSuchReview)), "drafts are their author's");
    assert!(matches!(decide(&*store, olga, &draft, ReviewAction::Approve), Err(StoreError::ReviewChanged)));
}

pub(crate) fn reports_and_objections(open: OpenStore<'_>) {
    let store = open();
    let (olga, zoe) = (operator(&*store, "olga"), author(&*store, "zoe"));
    let sent = store.save_review(zoe, &submission("alder", "r-1"), NOON).unwrap();
    let report =
        |kind, hides| NewReport { kind, reason: "false".to_owned(), email: Some(email("x@example.org")), hides };
    let unknown = store.report_review("r-1", &report(ReportKind::Report, false), NOON);
    assert!(matches!(unknown, Err(StoreError::NoSuchReview)), "what is not public cannot be reported");
    assert_eq!(store.public_review("r-1").unwrap(), None);
    let approved = decide(&*store, olga, &sent, ReviewAction::Approve).unwrap();
    assert_eq!(store.public_review("r-1").unwrap().as_ref(), Some(&approved));
    assert!(!store.report_review("r-1", &report(ReportKind::Report, false), NOON + 90).unwrap());
    assert_eq!(
        store.review_queue(0, 9).unwrap().1,
        std::slice::from_ref(&approved),
        "a reported review waits for an operator"
    );
    // An operator lets it stand.
    let kept = decide(&*store, olga, &approved, ReviewAction::Approve).unwrap();
    assert_eq!(store.review_queue(0, 9).unwrap().0, 0);
    assert_eq!(store.review_case(sent.id).unwrap().reports[0].settled_at, Some(NOON + 60));

    let change = store.review_change().unwrap();
    assert!(store.report_review("r-1", &report(ReportKind::Objection, true), NOON + 99).unwrap());
    let hidden = store.review_of(zoe, kept.id).unwrap();
    assert_eq!((hidden.state, hidden.disputed_at), (ReviewState::Hidden, Some(NOON + 99)));
    assert_eq!(store.review_change().unwrap(), change + 1);
    assert!(matches!(decide(&*store, olga, &kept, ReviewAction::Reject), Err(StoreError::ReviewChanged)));
    let back = decide(&*store, olga, &hidden, ReviewAction::Approve).unwrap();
    assert_eq!((back.state, back.published_at), (ReviewState::Approved, approved.published_at));
    // Only an operator hides a review that an operator has let stand.
    assert!(!store.report_review("r-1", &report(ReportKind::Objection, true), NOON + 120).unwrap());
    assert_eq!(store.review_of(zoe, kept.id).unwrap().state, ReviewState::Approved);
    let hidden = decide(&*store, olga, &back, ReviewAction::Hide).unwrap();
    assert_eq!((hidden.state, hidden.disputed_at), (ReviewState::Hidden, Some(NOON + 99)));
    for _ in 0..MAX_OPEN_REPORTS + 9 {
        store.report_review("r-1", &report(ReportKind::Report, false), NOON + 130).unwrap();
    }
    let open_reports = |case: ReviewCase| case.reports.iter().filter(|report| report.settled_at.is_none()).count();
    assert_eq!(open_reports(store.review_case(sent.id).unwrap()), MAX_OPEN_REPORTS as usize);
    store.withdraw_review(zoe, sent.id, NOON + 140).unwrap();
    assert_eq!(store.review_queue(0, 9).unwrap().0, 0);
    // Settled reports are purged after 90 days.
    let purge = |days: i32| open().purge(Date::from_days(Date::from_unix(NOON).days() + days)).unwrap();
    assert!(purge(91) > 0);
    assert_eq!(store.review_case(sent.id).unwrap().reports, []);
}

pub(crate) fn what_is_public_is_complete(open: OpenStore<'_>) {
    let store = open();
    store.cursor_secret([7; 32]).unwrap();
    let (olga, zoe, bob) = (operator(&*store, "olga"), author(&*store, "zoe"), author(&*store, "bob"));
    let publish = |account, firm: &str, id: &str| {
        let sent = store.save_review(account, &submission(firm, id), NOON).unwrap();
        decide(&*store, olga, &sent, ReviewAction::Approve).unwrap()
    };
    assert_eq!(store.public_reviews().unwrap(), PublicReviews { change: 0, reviews: Vec::new() });
    let (first, second, third) =
        (publish(zoe, "alder", "r-1"), publish(zoe, "birch", "r-2"), publish(bob, "birch", "r-3"));
    store.save_review(bob, &submission("alder", "r-4"), NOON).unwrap();
    let public = open().public_reviews().unwrap();
    assert_eq!(public.change, 3);
    let ids: Vec<&str> = public.reviews.iter().map(|review| review.id.as_str()).collect();
    assert_eq!(ids, ["r-1", "r-2", "r-3"], "only what was ever approved");
    let review = &public.reviews[0];
    assert_eq!((review.firm.as_str(), review.state, &review.answers), ("alder", ReviewState::Approved, &first.answers));
    assert_eq!((review.proof, review.created_on), (ReviewProof::Confirmed, Date::from_unix(NOON)));
    assert_eq!(review.author_since, Some(Date::from_unix(NOON - 9 * DAY)));
    let authors: Vec<&str> = public.reviews.iter().map(|review| review.author.as_str()).collect();
    assert!(authors[0] == authors[1] && authors[1] != authors[2] && authors[0].len() == 32, "{authors:?}");

    // The firm answers once, until it removes the answer.
    store.reply_to_review("r-1", Some("We are sorry."), NOON + 70).unwrap();
    assert!(matches!(store.reply_to_review("r-1", Some("Again."), NOON + 71), Err(StoreError::RepliedAlready)));
    assert!(matches!(store.reply_to_review("r-4", Some("Not public."), NOON), Err(StoreError::NoSuchReview)));
    let public = open().public_reviews().unwrap();
    let replied = (public.reviews[0].reply.as_deref(), public.reviews[0].replied_on);
    assert_eq!((public.change, replied), (4, (Some("We are sorry."), Some(Date::from_unix(NOON)))));
    assert_eq!(store.reply_to_review("r-1", None, NOON + 72).unwrap().replied_at, None);
    let first = store.reply_to_review("r-1", Some("Better."), NOON + 73).unwrap();

    // Reviews that are no longer public stay in the list without their content.
    decide(&*store, olga, &first, ReviewAction::Hide).unwrap();
    store.withdraw_review(zoe, second.id, NOON + 99).unwrap();
    store.delete_account(bob, None, NOON + 100).unwrap();
    let public = open().public_reviews().unwrap();
    assert_eq!(public.change, 9);
    assert!(public.reviews.iter().all(|review| review.reply.is_none()));
    let states: Vec<_> = public.reviews.iter().map(|review| (review.id.as_str(), review.state)).collect();
    let (hidden, withdrawn) = (ReviewState::Hidden, ReviewState::Withdrawn);
    assert_eq!(states, [("r-1", hidden), ("r-2", withdrawn), ("r-3", withdrawn)]);
    for review in &public.reviews {
        assert_eq!((&review.answers, review.author.as_str()), (&ReviewAnswers::default(), ""), "{}", review.id);
    }
    assert_eq!(public.reviews[0].disputed_on, Some(Date::from_unix(NOON + 60)));
    assert_eq!(public.reviews[1].disputed_on, None);
    assert_eq!(store.review_queue(0, 9).unwrap().1.len(), 1, "the waiting review of the deleted account is gone");
    assert!(store.review_texts(9).unwrap().iter().all(|text| text.review != third.id));
    // A withdrawn review keeps its text for its author, a deleted one does not.
    assert_eq!(store.review_of(zoe, second.id).unwrap().answers, second.answers);
    store.delete_review(zoe, second.id, NOON + 101).unwrap();
    assert!(matches!(store.review_of(zoe, second.id), Err(StoreError::NoSuchReview)));
    assert!(matches!(store.review_case(third.id), Ok(case) if case.review.answers == ReviewAnswers::default()));
    assert_eq!(store.public_reviews().unwrap().reviews.len(), 3);
    let purge = |days: i32| open().purge(Date::from_days(Date::from_unix(NOON).days() + days)).unwrap();
    purge(90);
    assert_eq!(store.public_reviews().unwrap().reviews.len(), 3);
    purge(91);
    assert_eq!(store.public_reviews().unwrap().reviews.len(), 1, "the remains go after 90 days");
}
