//! Links of e-mails.

use crate::auth::StoreError;
use crate::auth::account::{Account, AccountId};
use crate::auth::conformance::{NOON, Open, ada, add, email, state};
use crate::auth::link::{LinkDigest, LinkToken, Purpose};
use crate::auth::password::hash::PasswordHash;
use crate::data::Date;
use crate::quota::Tier;

const DAY: i64 = 86_400;

fn link() -> LinkDigest {
    LinkToken::generate().unwrap().digest()
}

fn is_refused(result: Result<Account, StoreError>) -> bool {
    matches!(result, Err(StoreError::NoSuchLink))
}

pub(crate) fn links_are_valid_once(open: Open<'_>) {
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
        let reset = |store: Box<dyn crate::auth::Store>| {
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
    // Who has read the e-mail owns the address, also if the account was not verified before.
    let bob = store.reset_by_link(&of_bob, &hash, true, NOON + 3).unwrap();
    assert_eq!((bob.email, bob.verified_at), (email("bob@example.com"), Some(NOON + 3)));

    store.add_link(ada.id, Purpose::Reset, &newer, NOON + DAY).unwrap();
    assert_eq!(open().purge(Date::from_unix(NOON + DAY)).unwrap(), 0);
    assert_eq!(open().purge(Date::from_unix(NOON + 2 * DAY)).unwrap(), 1);
    store.add_link(ada.id, Purpose::Reset, &newer, NOON + DAY).unwrap();
    store.delete_account(ada.id, None, NOON).unwrap();
    assert!(is_refused(store.account_of_link(Purpose::Reset, &newer, NOON)));
}
