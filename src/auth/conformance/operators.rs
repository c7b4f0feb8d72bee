//! Operators, and their view of all accounts.

use crate::account::{AccountId, KeyRef};
use crate::conformance::*;
use crate::password::hash::PasswordHash;
use crate::session::{NewSession, SessionDigest};

pub(crate) fn operators_are_made_and_unmade(open: OpenStore<'_>) {
    let store = open();
    let ada = ada(&*store, Tier::Free);
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap();
    assert!(!ada.is_operator && !bob.is_operator);
    assert!(open().set_operator(ada.id, true).unwrap().is_operator);
    assert!(store.set_operator(ada.id, true).unwrap().is_operator);
    // Other changes of the account do not matter.
    store.set_tier(&ada.email, Tier::Pro).unwrap();
    store.verify_account(ada.id, NOON).unwrap();
    assert!(open().account(&ada.email).unwrap().is_operator && !store.account_by_id(bob.id).unwrap().is_operator);
    assert!(!open().set_operator(ada.id, false).unwrap().is_operator);
    assert!(!store.account(&ada.email).unwrap().is_operator);
    assert!(matches!(store.set_operator(AccountId(99), true), Err(StoreError::AccountGone)));
    assert!(!store.account_by_id(ada.id).unwrap().is_reviewer);
    assert!(open().set_reviewer(ada.id, true).unwrap().is_reviewer && store.account(&ada.email).unwrap().is_reviewer);
    assert!(!store.set_reviewer(ada.id, false).unwrap().is_reviewer);
    // A new account with the address of a deleted operator is no operator.
    store.set_operator(bob.id, true).unwrap();
    store.delete_account(bob.id, None, NOON).unwrap();
    assert!(!store.create_account(&bob.email, Tier::Free, None, NOON).unwrap().is_operator);
}

pub(crate) fn a_blocked_account_is_locked_out(open: OpenStore<'_>) {
    let (store, there) = (open(), open());
    let ada = ada(&*store, Tier::Free);
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap();
    add(&*store, 1, NOON).unwrap();
    let revoked = add(&*store, 2, NOON).unwrap();
    store.revoke_key(KeyRef::Id(revoked.id), NOON).unwrap();
    store.create_key(bob.id, &"bob".parse().unwrap(), &key(8), None, NOON).unwrap();
    let session = |number: u8| NewSession {
        digest: SessionDigest::from_bytes([number; 32]),
        created_at: NOON,
        expires_at: NOON + 9_999,
    };
    let start = |account, number| store.add_session(account, PasswordVersion(0), &session(number));
    start(ada.id, 1).unwrap();
    start(bob.id, 2).unwrap();

    let before = there.changes(0).unwrap();
    assert_eq!(store.set_blocked(ada.id, true, NOON + 5).unwrap().blocked_at, Some(NOON + 5));
    let changed = there.changes(before.last).unwrap();
    assert_eq!(
        changed.keys.iter().map(|key| key.revoked).collect::<Vec<_>>(),
        [true, true],
        "only those of the account"
    );
    assert!(there.session(&session(1).digest, NOON + 6).unwrap().is_none());
    assert!(there.session(&session(2).digest, NOON + 6).unwrap().is_some());
    assert!(matches!(start(ada.id, 3), Err(StoreError::AccountBlocked)));
    // Neither a new password nor a new key helps.
    let hash = PasswordHash::from_stored("a hash".to_owned());
    assert!(matches!(store.set_password(ada.id, None, &hash, Some(&session(4))), Err(StoreError::AccountBlocked)));
    add(&*store, 3, NOON + 7).unwrap();
    assert!(state(&*there, 3).revoked);
    // Blocking again changes nothing, and other changes of the account do not matter.
    assert_eq!(store.set_blocked(ada.id, true, NOON + 9).unwrap().blocked_at, Some(NOON + 5));
    store.set_tier(&ada.email, Tier::Pro).unwrap();
    assert_eq!(there.account(&ada.email).unwrap().blocked_at, Some(NOON + 5));
    assert_eq!(there.account_by_id(bob.id).unwrap().blocked_at, None);

    let before = there.changes(0).unwrap();
    assert_eq!(store.set_blocked(ada.id, false, NOON + 10).unwrap().blocked_at, None);
    assert_eq!(there.changes(before.last).unwrap().keys.len(), 3);
    assert_eq!([1, 2, 3].map(|number| state(&*there, number).revoked), [false, true, false]);
    start(ada.id, 5).unwrap();
    assert!(matches!(store.set_blocked(AccountId(99), true, NOON), Err(StoreError::AccountGone)));
}

pub(crate) fn accounts_and_usage_are_found(open: OpenStore<'_>) {
    let (store, there) = (open(), open());
    let ada = ada(&*store, Tier::Free);
    let names = ["bob@example.com", "100%@example.com", "zoe@example.org"];
    let others = names.map(|name| store.create_account(&email(name), Tier::Free, None, NOON).unwrap());
    let found = |part: &str, start, limit| {
        let (total, accounts) = there.find_accounts(part, start, limit).unwrap();
        (total, accounts.into_iter().map(|account| account.email.to_string()).collect::<Vec<_>>())
    };
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let all = ["100%@example.com", "ada@example.com", "bob@example.com", "zoe@example.org"];
    assert_eq!(found("", 0, 10), (4, texts(&all)));
    assert_eq!(found("", 1, 2), (4, texts(&all[1..3])));
    assert_eq!(found("example.com", 2, 10), (3, texts(&["bob@example.com"])));
    assert_eq!(found("%", 0, 10), (1, texts(&all[..1])));
    assert_eq!(found("nobody", 0, 10), (0, Vec::new()));
    assert_eq!(found("ada\0", 0, 10), (0, Vec::new()));
    assert_eq!(found("", 9, 10), (4, Vec::new()));

    add(&*store, 1, NOON).unwrap();
    add(&*store, 2, NOON).unwrap();
    store.create_key(others[0].id, &"bob".parse().unwrap(), &key(8), None, NOON).unwrap();
    let add_usage = |number, day: i64, requests| {
        let now = NOON + day * 86_400;
        store.add_usage(&[added(state(&*store, number), now, requests)], now).unwrap();
    };
    for (number, day, requests) in [(1, 0, 5), (2, 0, 6), (8, 0, 40), (1, 2, 7), (8, 3, 1)] {
        add_usage(number, day, requests);
    }
    let day = |number: i64| Date::from_unix(NOON + number * 86_400);
    assert_eq!(there.usage_by_day(day(-9), day(9)).unwrap(), [(day(0), 51), (day(2), 7), (day(3), 1)]);
    assert_eq!(there.usage_by_day(day(1), day(2)).unwrap(), [(day(2), 7)]);
    assert_eq!(there.usage_by_account(day(0), day(9)).unwrap(), [(others[0].id, 41), (ada.id, 18)]);
    assert_eq!(there.usage_by_account(day(1), day(2)).unwrap(), [(ada.id, 7)]);
    // Revoked keys count; those of a deleted account do not.
    store.revoke_key(KeyRef::Masked(key(1).masked()), NOON).unwrap();
    store.delete_account(others[0].id, None, NOON + 3 * 86_400).unwrap();
    assert_eq!(there.usage_by_account(day(0), day(9)).unwrap(), [(ada.id, 18)]);
}
