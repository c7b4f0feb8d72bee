//! Passwords, sessions and deleted accounts.

use crate::account::AccountId;
use crate::conformance::*;
use crate::password::hash::PasswordHash;
use crate::quota::Tier;
use crate::session::{IDLE_SECONDS, NewSession, SESSION_SECONDS, SessionDigest, SessionToken};

fn hash(text: &str) -> PasswordHash {
    PasswordHash::from_stored(text.to_owned())
}

fn session(number: u8) -> SessionDigest {
    SessionToken::from_seed([number; 32]).digest()
}

fn started(number: u8, now: i64) -> NewSession {
    NewSession { digest: session(number), created_at: now, expires_at: now + SESSION_SECONDS }
}

/// An account with a password, signed in with sessions 1 to 3.
fn signed_in(store: &dyn Store) -> Credentials {
    let ada = store.create_account(&email("ada@example.com"), Tier::Free, Some(&hash("first")), NOON).unwrap();
    let credentials = store.credentials(&ada.email).unwrap();
    for number in 1..=3 {
        add_session(store, &credentials, number, NOON).unwrap();
    }
    credentials
}

fn add_session(store: &dyn Store, credentials: &Credentials, number: u8, now: i64) -> Result<(), StoreError> {
    let Credentials { account, version, .. } = credentials;
    store.add_session(*account, *version, &started(number, now))
}

fn valid_sessions(store: &dyn Store, now: i64) -> Vec<u8> {
    (0..10).filter(|number| store.session(&session(*number), now).unwrap().is_some()).collect()
}

pub(crate) fn credentials_are_stored(open: OpenStore<'_>) {
    let store = open();
    let ada = store.create_account(&email("ada@example.com"), Tier::Pro, Some(&hash("first")), NOON).unwrap();
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap();
    let of_ada = open().credentials(&ada.email).unwrap();
    assert_eq!((of_ada.account, of_ada.password), (ada.id, Some(hash("first"))));
    assert_eq!(store.credentials(&bob.email).unwrap().password, None);
    assert!(matches!(store.credentials(&email("zoe@example.com")), Err(StoreError::NoSuchAccount { .. })));
    // A second account of the address does not change the first.
    let again = store.create_account(&ada.email, Tier::Free, Some(&hash("other")), NOON);
    assert!(matches!(again, Err(StoreError::AccountExists(_))));
    assert_eq!(store.credentials(&ada.email).unwrap().password, Some(hash("first")));
    store.set_password(bob.id, None, &hash("second"), None).unwrap();
    assert_eq!(open().credentials(&bob.email).unwrap().password, Some(hash("second")));
    assert!(matches!(store.set_password(AccountId(99), None, &hash("x"), None), Err(StoreError::AccountGone)));
}

pub(crate) fn sessions_are_valid_until_they_end(open: OpenStore<'_>) {
    let store = open();
    let credentials = signed_in(&*store);
    let found = open().session(&session(1), NOON + 5).unwrap().unwrap();
    assert_eq!(found.account, store.account(&email("ada@example.com")).unwrap());
    assert_eq!((found.created_at, found.expires_at), (NOON, NOON + SESSION_SECONDS));
    assert_eq!(store.session(&session(9), NOON).unwrap(), None);
    // The account is reported as it is now.
    store.set_tier(&found.account.email, Tier::Pro).unwrap();
    add(&*store, 1, NOON).unwrap();
    let account = store.session(&session(1), NOON).unwrap().unwrap().account;
    assert_eq!((account.tier, account.active_keys), (Tier::Pro, 1));

    assert!(open().end_session(&session(2)).unwrap());
    assert!(!store.end_session(&session(2)).unwrap());
    assert_eq!(valid_sessions(&*store, NOON), [1, 3]);
    add_session(&*store, &credentials, 4, NOON + 60).unwrap();
    assert_eq!(valid_sessions(&*store, NOON + IDLE_SECONDS - 1), [1, 3, 4]);
    assert_eq!(valid_sessions(&*store, NOON + IDLE_SECONDS), [4]);
    for number in [1, 3, 4] {
        store.session_used(&session(number), NOON + SESSION_SECONDS - 1).unwrap();
    }
    assert_eq!(open().session(&session(1), NOON).unwrap().unwrap().last_used_at, NOON + SESSION_SECONDS - 1);
    assert_eq!(valid_sessions(&*store, NOON + SESSION_SECONDS - 1), [1, 3, 4]);
    assert_eq!(valid_sessions(&*store, NOON + SESSION_SECONDS), [4]);
    assert_eq!(open().end_expired_sessions(NOON + SESSION_SECONDS).unwrap(), 2);
    assert_eq!(store.end_expired_sessions(NOON + SESSION_SECONDS).unwrap(), 0);
    assert_eq!(valid_sessions(&*store, NOON), [4]);
    assert_eq!(open().end_expired_sessions(NOON + SESSION_SECONDS + IDLE_SECONDS).unwrap(), 1, "it was not used");
}

pub(crate) fn a_new_password_ends_the_other_sessions(open: OpenStore<'_>) {
    let store = open();
    let before = signed_in(&*store);
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, Some(&hash("bob")), NOON).unwrap();
    add_session(&*store, &store.credentials(&bob.email).unwrap(), 5, NOON).unwrap();

    open().set_password(before.account, Some(before.version), &hash("second"), Some(&started(4, NOON))).unwrap();
    assert_eq!(valid_sessions(&*store, NOON), [4, 5]);
    let after = store.credentials(&email("ada@example.com")).unwrap();
    assert_eq!(after.password, Some(hash("second")));
    assert_ne!(after.version, before.version);
    // Changes after a verification of the previous password are rejected.
    let stale = [
        store.set_password(before.account, Some(before.version), &hash("third"), Some(&started(8, NOON))),
        store.rehash(before.account, before.version, &hash("third")),
        store.delete_account(before.account, Some(before.version), NOON),
        add_session(&*store, &before, 6, NOON),
    ];
    assert!(stale.iter().all(|result| matches!(result, Err(StoreError::PasswordChanged))), "{stale:?}");
    assert_eq!(store.credentials(&email("ada@example.com")).unwrap(), after);
    // Another hash of the same password changes nothing else.
    store.rehash(after.account, after.version, &hash("rehashed")).unwrap();
    add_session(&*store, &after, 7, NOON).unwrap();
    assert_eq!(store.credentials(&email("ada@example.com")).unwrap().password, Some(hash("rehashed")));
    assert_eq!(valid_sessions(&*store, NOON), [4, 5, 7]);
    store.set_password(after.account, None, &hash("fifth"), None).unwrap();
    assert_eq!(valid_sessions(&*store, NOON), [5]);
}

pub(crate) fn a_reset_revokes_keys(open: OpenStore<'_>) {
    let store = open();
    let before = signed_in(&*store);
    add(&*store, 1, NOON).unwrap();
    add(&*store, 2, NOON).unwrap();
    store.revoke_key(KeyRef::Digest(key(1).digest()), NOON + 1).unwrap();
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap();
    store.create_key(bob.id, &"bob".parse().unwrap(), &key(8), None, NOON).unwrap();
    let last = store.changes(0).unwrap().last;

    assert_eq!(open().reset_password(before.account, &hash("kept"), true, NOON + 2).unwrap(), 0);
    assert!(valid_sessions(&*store, NOON).is_empty());
    assert!(store.changes(last).unwrap().keys.is_empty());
    assert_eq!(open().reset_password(before.account, &hash("second"), false, NOON + 3).unwrap(), 1);
    assert_eq!(store.credentials(&email("ada@example.com")).unwrap().password, Some(hash("second")));
    let changed = store.changes(last).unwrap().keys;
    assert_eq!(
        changed.iter().map(|state| (state.digest, state.revoked)).collect::<Vec<_>>(),
        [(key(2).digest(), true)]
    );
    let keys = store.keys(Some(before.account), Date::from_unix(NOON)).unwrap();
    assert_eq!(keys.iter().map(|key| key.revoked_at).collect::<Vec<_>>(), [Some(NOON + 1), Some(NOON + 3)]);
    assert!(!state(&*store, 8).revoked);
    assert!(matches!(store.reset_password(AccountId(99), &hash("x"), false, NOON), Err(StoreError::AccountGone)));
}

pub(crate) fn accounts_are_verified(open: OpenStore<'_>) {
    let store = open();
    let ada = ada(&*store, Tier::Free);
    assert_eq!((ada.verified_at, store.account_by_id(ada.id).unwrap()), (None, ada.clone()));
    assert_eq!(open().verify_account(ada.id, NOON + 1).unwrap().verified_at, Some(NOON + 1));
    assert_eq!(store.verify_account(ada.id, NOON + 2).unwrap().verified_at, Some(NOON + 1));
    assert_eq!(open().account(&ada.email).unwrap().verified_at, Some(NOON + 1));
    let unknown = [store.verify_account(AccountId(99), NOON), store.account_by_id(AccountId(99))];
    assert!(unknown.iter().all(|result| matches!(result, Err(StoreError::AccountGone))), "{unknown:?}");
}

pub(crate) fn of_concurrent_password_changes_one_succeeds(open: OpenStore<'_>) {
    let store = open();
    let before = signed_in(&*store);
    let handles: Vec<_> = (0..8).map(|_| open()).collect();
    let changed: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = handles
            .into_iter()
            .zip(0_u8..)
            .map(|(store, number)| {
                let before = &before;
                scope.spawn(move || {
                    let new = hash(&format!("of {number}"));
                    let changed = store.set_password(before.account, Some(before.version), &new, None).is_ok();
                    usize::from(changed)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(changed, 1);
    assert!(valid_sessions(&*store, NOON).is_empty());
}

pub(crate) fn a_deleted_account_leaves_revoked_keys(open: OpenStore<'_>) {
    let (store, there) = (open(), open());
    let ada = signed_in(&*store);
    let keys: Vec<_> = (1..=2).map(|number| add(&*store, number, NOON).unwrap()).collect();
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, Some(&hash("bob")), NOON).unwrap();
    let of_bob = store.create_key(bob.id, &"bob".parse().unwrap(), &key(8), None, NOON).unwrap();
    add_session(&*store, &store.credentials(&bob.email).unwrap(), 5, NOON).unwrap();
    store.revoke_key(KeyRef::Id(keys[0].id), NOON + 1).unwrap();
    let states = [state(&*store, 1), state(&*store, 2), state(&*store, 8)];
    store.add_usage(&states.map(|state| added(state, NOON, 7)), NOON + 2).unwrap();
    store.add_usage(&[added(states[1], NOON - 86_400, 3)], NOON + 2).unwrap();
    let last = there.changes(0).unwrap().last;

    store.delete_account(ada.account, Some(ada.version), NOON + 9).unwrap();
    let changed = there.changes(last).unwrap().keys;
    let reported: Vec<_> = changed.iter().map(|state| (state.id, state.account, state.revoked)).collect();
    assert_eq!(reported, [(keys[0].id, None, true), (keys[1].id, None, true)]);
    assert_eq!(changed.iter().map(|state| state.digest).collect::<Vec<_>>(), [key(1).digest(), key(2).digest()]);
    assert_ne!(changed[1].masked, key(2).masked());
    assert_eq!(there.changes(0).unwrap().keys.len(), 3);

    assert_eq!(valid_sessions(&*store, NOON), [5]);
    assert!(matches!(there.account(&email("ada@example.com")), Err(StoreError::NoSuchAccount { .. })));
    assert!(matches!(there.credentials(&email("ada@example.com")), Err(StoreError::NoSuchAccount { .. })));
    assert_eq!(there.accounts().unwrap().iter().map(|account| account.id).collect::<Vec<_>>(), [bob.id]);
    assert_eq!(there.keys(None, Date::from_unix(NOON)).unwrap().len(), 1);
    for key_ref in [KeyRef::Id(keys[1].id), KeyRef::Digest(key(2).digest()), KeyRef::Masked(changed[1].masked)] {
        assert!(matches!(store.revoke_key(key_ref, NOON), Err(StoreError::NoSuchKey)));
    }
    // Its usage is deleted, and usage still counted on its keys is not stored, except for the day of the deletion.
    let late = [added(states[1], NOON - 86_400, 4), added(states[1], NOON, 4), added(states[2], NOON, 1)];
    assert_eq!(store.add_usage(&late, NOON + 10).unwrap(), [0, 11, 8]);
    assert_eq!(there.usage(Date::from_unix(NOON - 86_400)).unwrap(), []);
    assert_eq!(there.usage(Date::from_unix(NOON)).unwrap().len(), 3);
    let rejected = [
        store.delete_account(ada.account, None, NOON),
        store.set_password(ada.account, None, &hash("x"), None),
        add_session(&*store, &ada, 6, NOON),
    ];
    assert!(rejected.iter().all(|result| matches!(result, Err(StoreError::AccountGone))), "{rejected:?}");
    // The address may sign up again, as another account.
    let new = store.create_account(&email("ada@example.com"), Tier::Free, None, NOON + 20).unwrap();
    assert!(new.id != ada.account && new.active_keys == 0);
    // On this day its keys continue the counters, those with more requests first.
    let counters = |numbers: &[u8], now| {
        numbers.iter().map(|number| add(&*store, *number, now).unwrap().counter).collect::<Vec<_>>()
    };
    assert_eq!(counters(&[3, 4], NOON + 21), [states[1].counter, states[0].counter]);
    let third = add(&*store, 5, NOON + 21).unwrap();
    assert_eq!((third.used_today, third.counter.0), (0, third.id.0));
    assert_eq!(valid_sessions(&*store, NOON), [5]);
    store.delete_account(new.id, None, NOON + 22).unwrap();
    store.create_account(&email("ada@example.com"), Tier::Pro, None, NOON + 23).unwrap();
    let mut all = counters(&[10, 11, 12], NOON + 24);
    all.sort_unstable();
    assert_eq!(all, [states[0].counter, states[1].counter, third.counter], "after another deletion");
    assert!(counters(&[13], NOON + 24)[0] > third.counter);

    // The next day nothing is left of it.
    let bob_only = |day| there.usage(Date::from_unix(day)).unwrap().iter().all(|usage| usage.key == of_bob.id);
    assert!(!bob_only(NOON));
    store.delete_account(store.account(&email("ada@example.com")).unwrap().id, None, NOON + 25).unwrap();
    store.purge(Date::from_unix(NOON + 86_400)).unwrap();
    assert!(bob_only(NOON));
    store.create_account(&email("ada@example.com"), Tier::Free, None, NOON + 86_400).unwrap();
    let next_day = add(&*store, 14, NOON + 86_400).unwrap();
    assert_eq!(next_day.counter.0, next_day.id.0);
}

pub(crate) fn keys_are_revoked_by_their_account_only(open: OpenStore<'_>) {
    let store = open();
    let ada = ada(&*store, Tier::Free);
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap();
    let key = add(&*store, 1, NOON).unwrap();
    for (account, id) in [(bob.id, key.id), (ada.id, KeyId(99)), (AccountId(99), key.id)] {
        assert!(matches!(store.revoke_key(KeyRef::Of(account, id), NOON), Err(StoreError::NoSuchKey)));
    }
    assert!(!state(&*store, 1).revoked);
    assert!(open().revoke_key(KeyRef::Of(ada.id, key.id), NOON).unwrap().revoked_at.is_some());
    assert!(state(&*store, 1).revoked);
}

pub(crate) fn usage_is_reported_by_day_and_key(open: OpenStore<'_>) {
    let (store, there) = (open(), open());
    let ada = ada(&*store, Tier::Pro);
    let keys = [add(&*store, 1, NOON).unwrap().id, add(&*store, 2, NOON).unwrap().id];
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap();
    store.create_key(bob.id, &"bob".parse().unwrap(), &crate::conformance::key(8), None, NOON).unwrap();
    let (one, two, other) = (state(&*store, 1), state(&*store, 2), state(&*store, 8));
    let day = |number: i64| Date::from_unix(NOON + number * 86_400);
    for (state, number, requests) in [(one, 0, 5), (two, 0, 6), (one, 1, 7), (two, 29, 8), (one, 30, 9), (other, 1, 99)]
    {
        let now = NOON + number * 86_400;
        store.add_usage(&[added(state, now, requests)], now).unwrap();
    }
    store.revoke_key(KeyRef::Id(keys[1]), NOON + 29 * 86_400).unwrap();
    let reported = |first, last| {
        let usage = there.usage_of(ada.id, day(first), day(last)).unwrap();
        usage.into_iter().map(|usage| (usage.day, usage.key, usage.requests)).collect::<Vec<_>>()
    };
    let all = [
        (day(0), keys[0], 5),
        (day(0), keys[1], 6),
        (day(1), keys[0], 7),
        (day(29), keys[1], 8),
        (day(30), keys[0], 9),
    ];
    assert_eq!(reported(-5, 40), all);
    assert_eq!(reported(0, 29), all[..4]);
    assert_eq!(reported(1, 1), all[2..3]);
    assert_eq!(reported(2, 1), []);
    assert_eq!(there.usage_of(AccountId(99), day(0), day(29)).unwrap(), []);
}
