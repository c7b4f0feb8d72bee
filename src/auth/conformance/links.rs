//! Links of e-mails.

use crate::StoreError;
use crate::account::{Account, AccountId};
use crate::conformance::{NOON, OpenStore, ada, add, email, state};
use crate::link::{LinkDigest, LinkToken, Purpose};
use crate::password::hash::PasswordHash;
use crate::quota::Tier;
use crate::watch::{DeliveryResult, DueLink};
use data::Date;

const DAY: i64 = 86_400;

fn link() -> LinkDigest {
    LinkToken::generate().unwrap().digest()
}

fn is_refused(result: Result<Account, StoreError>) -> bool {
    matches!(result, Err(StoreError::NoSuchLink))
}

pub(crate) fn links_are_valid_once(open: OpenStore<'_>) {
    let store = open();
    let ada = ada(&*store, Tier::Free);
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap();
    let [verification, reset, of_bob] = [link(), link(), link()];
    for (account, purpose, link) in [
        (ada.id, Purpose::Verification, &verification),
        (ada.id, Purpose::Reset, &reset),
        (bob.id, Purpose::Reset, &of_bob),
    ] {
        store.add_link(account, purpose, link, NOON + DAY).unwrap();
    }
    assert!(matches!(store.add_link(AccountId(99), Purpose::Reset, &link(), NOON), Err(StoreError::AccountGone)));
    assert_eq!(open().account_of_link(Purpose::Reset, &reset, NOON + DAY - 1).unwrap(), ada);
    let hash = PasswordHash::from_stored("$argon2id$test".to_owned());
    for (purpose, link, now) in [
        (Purpose::Reset, &verification, NOON),
        (Purpose::Verification, &reset, NOON),
        (Purpose::Reset, &reset, NOON + DAY),
        (Purpose::Reset, &link(), NOON),
    ] {
        assert!(is_refused(store.account_of_link(purpose, link, now)), "{purpose:?} {now}");
    }
    assert!(is_refused(store.verify_by_link(&reset, NOON)));
    assert!(store.use_sign_in_link(&reset, NOON).is_err() && store.use_sign_in_link(&verification, NOON).is_err());
    // A new password makes links that sign in invalid.
    let sign_in = link();
    store.add_link(bob.id, Purpose::SignIn, &sign_in, NOON + DAY).unwrap();
    store.set_password(bob.id, None, &hash, None).unwrap();
    assert!(matches!(store.use_sign_in_link(&sign_in, NOON), Err(StoreError::NoSuchLink)));
    assert!(is_refused(store.verify_by_link(&verification, NOON + DAY)));
    assert!(is_refused(store.reset_by_link(&verification, &hash, false, NOON)));
    assert_eq!(store.account_by_id(ada.id).unwrap().verified_at, None);

    assert_eq!(open().verify_by_link(&verification, NOON + 1).unwrap().verified_at, Some(NOON + 1));
    assert!(is_refused(store.verify_by_link(&verification, NOON + 1)));
    // A newer link replaces the earlier one.
    let newer = link();
    store.add_link(ada.id, Purpose::Reset, &newer, NOON + 2 * DAY).unwrap();
    assert!(is_refused(store.account_of_link(Purpose::Reset, &reset, NOON)));
    add(&*store, 1, NOON).unwrap();
    let handles: Vec<_> = (0..4).map(|_| open()).collect();
    let done: usize = std::thread::scope(|scope| {
        let reset = |store: Box<dyn crate::Store>| {
            let hash = &hash;
            let newer = &newer;
            scope.spawn(move || usize::from(store.reset_by_link(newer, hash, false, NOON + 2).is_ok()))
        };
        let threads: Vec<_> = handles.into_iter().map(reset).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(done, 1);
    assert!(state(&*store, 1).revoked);
    assert_eq!(store.credentials(&ada.email).unwrap().password, Some(hash.clone()));
    // A reader of the e-mail owns the address, even if the account was not verified before.
    let bob = store.reset_by_link(&of_bob, &hash, true, NOON + 3).unwrap();
    assert_eq!((bob.email, bob.verified_at), (email("bob@example.com"), Some(NOON + 3)));

    store.add_link(ada.id, Purpose::Reset, &newer, NOON + DAY).unwrap();
    assert_eq!(open().purge(Date::from_unix(NOON + DAY)).unwrap(), 0);
    assert_eq!(open().purge(Date::from_unix(NOON + 2 * DAY)).unwrap(), 1);
    store.add_link(ada.id, Purpose::Reset, &newer, NOON + DAY).unwrap();
    store.delete_account(ada.id, None, NOON).unwrap();
    assert!(is_refused(store.account_of_link(Purpose::Reset, &newer, NOON)));
}

pub(crate) fn requested_links_are_claimed(open: OpenStore<'_>) {
    let store = open();
    let ada = ada(&*store, Tier::Free);
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap();
    let outbox = &*store;
    for (address, purpose) in [
        ("ada@example.com", Purpose::Verification),
        ("nobody@example.com", Purpose::Reset),
        ("bob@example.com", Purpose::Reset),
        ("ada@example.com", Purpose::Reset),
    ] {
        outbox.request_link(&email(address), purpose, NOON + DAY, NOON).unwrap();
    }
    let claim = |now: i64| {
        let mut due = open().claim_links(now, now + 600, 10).unwrap();
        due.sort_by_key(|link| link.id);
        due
    };
    let ids = |due: &[DueLink]| due.iter().map(|link| link.id.0).collect::<Vec<_>>();
    assert!(claim(NOON - 1).is_empty());
    assert!(outbox.claim_due(NOON, NOON + 600, 10, 9).unwrap().is_empty(), "they are no alerts");
    assert_eq!(outbox.claim_links(NOON, NOON + 1, 2).unwrap().len(), 2, "no more than the limit");
    let due = claim(NOON + 1);
    let found: Vec<_> = due.iter().map(|link| (link.account.clone(), link.purpose, link.attempts)).collect();
    let expected =
        [(ada.clone(), Purpose::Verification, 0), (bob.clone(), Purpose::Reset, 0), (ada.clone(), Purpose::Reset, 0)];
    assert_eq!(found, expected);
    assert!(due.iter().all(|link| link.expires_at == NOON + DAY));
    assert!(claim(NOON + 600).is_empty());
    assert_eq!(ids(&claim(NOON + 601)), ids(&due), "what was not settled is due again");

    // Messages that were claimed and not tried are due at once, without a counted attempt.
    outbox.put_back(&[due[1].id], NOON + 700).unwrap();
    let again = claim(NOON + 700);
    assert_eq!((ids(&again), again[0].attempts), (vec![due[1].id.0], 0));
    let settle = |link: &DueLink, due_at| DeliveryResult { id: link.id, outcome: "tried".to_owned(), due_at };
    outbox.settle(&[settle(&due[0], None), settle(&due[1], Some(NOON + 5_000))]).unwrap();
    outbox.put_back(&[due[1].id], NOON + 700).unwrap();
    let left = claim(NOON + 2_000);
    assert_eq!(ids(&left), [due[2].id.0], "one was sent, another waits for its next attempt");
    let later = claim(NOON + 5_000);
    assert_eq!(later.iter().map(|link| (link.id, link.attempts)).collect::<Vec<_>>(), [(due[1].id, 1), (due[2].id, 0)]);

    store.delete_account(ada.id, None, NOON).unwrap();
    store.create_account(&ada.email, Tier::Free, None, NOON).unwrap();
    let far = NOON + DAY;
    assert_eq!(
        ids(&claim(far)),
        [due[1].id.0],
        "nothing is left of a deleted account, also if the address signs up again"
    );
    assert_eq!(open().purge(Date::from_unix(far)).unwrap(), 0);
    assert_eq!(open().purge(Date::from_unix(far + DAY)).unwrap(), 1);
    assert!(claim(far + DAY).is_empty());
}
