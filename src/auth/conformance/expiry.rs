//! Keys that expire, and keys that are rotated.

use crate::account::{KeyId, KeyName, KeyRecord, KeyRef, Rotation};
use crate::conformance::{NOON, OpenStore, ada, add, added, key, state};
use crate::quota::Tier;
use crate::{Store, StoreError};
use data::Date;

fn add_until(store: &dyn Store, number: u8, expires_at: i64, now: i64) -> Result<KeyRecord, StoreError> {
    let account = store.account(&"ada@example.com".parse().unwrap())?.id;
    store.create_key(account, &"test".parse::<KeyName>().unwrap(), &key(number), Some(expires_at), now)
}

fn active(store: &dyn Store) -> u32 {
    store.account(&"ada@example.com".parse().unwrap()).unwrap().active_keys
}

pub(crate) fn expired_keys_end(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free);
    let first = add_until(&*store, 1, NOON + 60, NOON).unwrap();
    assert_eq!((first.expires_at, first.revoked_at), (Some(NOON + 60), None));
    assert_eq!(state(&*store, 1).expires_at, Some(NOON + 60));
    add(&*store, 2, NOON).unwrap();
    add(&*store, 3, NOON).unwrap();
    store.add_usage(&[added(state(&*store, 1), NOON, 60)], NOON).unwrap();
    assert!(matches!(add(&*store, 4, NOON + 59), Err(StoreError::KeyLimitReached { .. })));
    assert_eq!((open().end_expired_keys(NOON + 59).unwrap(), active(&*store)), (0, 3));
    assert_eq!((open().end_expired_keys(NOON + 60).unwrap(), active(&*store)), (1, 2));
    // It is reported as expired, not as revoked, also to those who revoke it.
    assert_eq!(store.revoke_key(KeyRef::Id(first.id), NOON + 61).unwrap().revoked_at, None);
    assert!(!state(&*store, 1).revoked);
    let fourth = add_until(&*store, 4, NOON + 120, NOON + 61).unwrap();
    assert_eq!((fourth.counter, fourth.used_today), (first.counter, 60));
    // Nobody has to end it before another is created.
    let fifth = add(&*store, 5, NOON + 120).unwrap();
    assert_eq!((fifth.counter, active(&*store)), (first.counter, 3));
    // One that was revoked before it expired is revoked.
    store.revoke_key(KeyRef::Id(fifth.id), NOON + 121).unwrap();
    let sixth = add_until(&*store, 6, NOON + 300, NOON + 122).unwrap();
    store.revoke_key(KeyRef::Id(sixth.id), NOON + 200).unwrap();
    store.end_expired_keys(NOON + 400).unwrap();
    assert_eq!(store.key(KeyRef::Id(sixth.id), Date::from_unix(NOON)).unwrap().revoked_at, Some(NOON + 200));
    assert!(state(&*store, 6).revoked);
    // One that expired by a clock that was ahead is accepted again, and can be revoked.
    let seventh = add_until(&*store, 7, NOON + 700, NOON + 450).unwrap();
    store.end_expired_keys(NOON + 800).unwrap();
    assert_eq!(store.revoke_key(KeyRef::Id(seventh.id), NOON + 460).unwrap().revoked_at, Some(NOON + 460));
    assert!(state(&*store, 7).revoked);
    let eighth = add_until(&*store, 8, NOON + 700, NOON + 470).unwrap();
    store.revoke_key(KeyRef::Id(eighth.id), NOON + 800).unwrap();
    assert_eq!(store.revoke_key(KeyRef::Id(eighth.id), NOON + 480).unwrap().revoked_at, Some(NOON + 480));
    // After the deletion of the account its keys are revoked, whether they had expired or not.
    store.delete_account(account.id, None, NOON + 500).unwrap();
    assert!((1..=8).all(|number| state(&*store, number).revoked));
}

pub(crate) fn rotated_keys_count_as_one(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free);
    let first = add(&*store, 1, NOON).unwrap();
    add(&*store, 2, NOON).unwrap();
    add(&*store, 3, NOON).unwrap();
    store.add_usage(&[added(state(&*store, 1), NOON, 60)], NOON).unwrap();
    let last = store.changes(0).unwrap().last;
    let rotation = |hours, now| Rotation::new(hours, None, now);
    let of_first = KeyRef::Of(account.id, first.id);
    let (rotated, successor) = open().rotate_key(of_first, &key(4), rotation(24, NOON), NOON).unwrap();
    assert_eq!((rotated.id, rotated.expires_at, rotated.revoked_at), (first.id, Some(NOON + 86_400), None));
    assert_eq!((successor.name.as_str(), successor.expires_at, successor.used_today), ("test", None, 60));
    assert_eq!((successor.counter, active(&*store)), (first.counter, 3));
    let mut changed: Vec<_> = store.changes(last).unwrap().keys.iter().map(|state| state.id).collect();
    changed.sort_unstable();
    assert_eq!(changed, [first.id, successor.id], "running servers load both");
    // This gives neither more counters nor more than two keys on one.
    for id in [first.id, successor.id] {
        let again = store.rotate_key(KeyRef::Id(id), &key(9), rotation(24, NOON), NOON);
        assert!(matches!(again, Err(StoreError::KeyOverlaps)), "{again:?}");
    }
    store.revoke_key(KeyRef::Id(successor.id), NOON + 1).unwrap();
    assert!(matches!(add(&*store, 5, NOON + 2), Err(StoreError::KeyLimitReached { .. })));
    let (rotated, third) =
        store.rotate_key(of_first, &key(6), Rotation::new(720, Some(7), NOON + 3), NOON + 3).unwrap();
    assert_eq!(rotated.expires_at, Some(NOON + 86_400), "an overlap never prolongs a key");
    assert_eq!(third.expires_at, Some(NOON + 3 + 7 * 86_400));
    let after = NOON + 86_400;
    let (rotated, _) = store.rotate_key(KeyRef::Id(third.id), &key(7), rotation(0, after), after).unwrap();
    assert!(!rotated.is_active(after) && rotated.revoked_at.is_none());
    assert_eq!(active(&*store), 3);
    for ended in [first.id, third.id, successor.id] {
        let again = store.rotate_key(KeyRef::Id(ended), &key(9), rotation(24, after), after);
        assert!(matches!(again, Err(StoreError::KeyEnded)), "{again:?}");
    }
    for unknown in [KeyRef::Id(KeyId(99)), KeyRef::Of(account.id, KeyId(99))] {
        let rejected = store.rotate_key(unknown, &key(9), rotation(24, after), after);
        assert!(matches!(rejected, Err(StoreError::NoSuchKey)), "{rejected:?}");
    }
    assert_eq!(store.reset_password(account.id, &hash(), false, after).unwrap(), 3);
    assert_eq!(active(&*store), 0);
}

fn hash() -> crate::password::hash::PasswordHash {
    crate::password::hash::PasswordHash::from_stored("$argon2id$test".to_owned())
}
