//! Tests that every implementation of [`Store`] must pass.

mod accounts;
mod expiry;
mod firms;
mod links;
mod operators;
mod races;
mod reviews;
mod totp;
mod watches;

use crate::account::{Account, Email, KeyRef};
use crate::quota::{AddedUsage, KeyId, Tier};
use crate::service::steady_time::TimeToStore;
use crate::sql::last_clock_jump;
use crate::*;
use data::Date;

/// Opens another handle on the store under test, like another process.
pub(crate) type OpenStore<'o> = &'o dyn Fn() -> Box<dyn Store>;

type ConformanceTest = fn(OpenStore<'_>);

/// Each test with its name; each needs an empty store.
pub(crate) const TESTS: [(&str, ConformanceTest); 57] = [
    ("accounts are found by address and listed by address", accounts_are_found),
    ("a second account of one address is rejected", one_account_per_address),
    ("the number of active keys is never exceeded", keys_are_limited),
    ("the number of active keys is never exceeded concurrently", keys_are_limited_in_a_race),
    ("a tier that allows fewer keys than are active is rejected", a_lower_tier_needs_fewer_keys),
    ("a key is revoked once, by number, short form or full text", keys_are_revoked),
    ("each handle reports changes once", changes_are_reported),
    ("a key created after a revocation on the same day takes over its counter", counters_are_taken_over),
    ("an expired key gives its place and its counter to the next", expiry::expired_keys_end),
    ("a rotated key and its successor count as one key", expiry::rotated_keys_count_as_one),
    ("each code and recovery code is accepted once", totp::codes_are_accepted_once),
    ("a link is valid once, for its purpose and for a day", links::links_are_valid_once),
    ("a requested link is claimed until it is sent or expires", links::requested_links_are_claimed),
    ("usage of several handles adds up and is never negative", usage_adds_up),
    ("the recent keys of an account are listed with their usage", recent_keys_are_listed),
    ("old usage and the names of keys revoked long ago are purged", old_data_is_purged),
    ("the time of purges never goes back", the_time_of_purges_advances),
    ("the cursor secret is set once", the_secret_is_constant),
    ("an account has the password that was set last", accounts::credentials_are_stored),
    ("a session is valid until it expires or is ended", accounts::sessions_are_valid_until_they_end),
    (
        "a new password ends the other sessions and invalidates what was verified before",
        accounts::a_new_password_ends_the_other_sessions,
    ),
    ("an operator's password ends all sessions and revokes the keys", accounts::a_reset_revokes_keys),
    ("an account is verified once", accounts::accounts_are_verified),
    ("of concurrent password changes one succeeds", accounts::of_concurrent_password_changes_one_succeeds),
    ("a deleted account leaves revoked keys and nothing else", accounts::a_deleted_account_leaves_revoked_keys),
    ("a key can be revoked by its account only", accounts::keys_are_revoked_by_their_account_only),
    ("searches and lists are kept by their account", watches::searches_and_lists_are_kept),
    ("of several evaluations of one release one counts", watches::an_evaluation_counts_once),
    ("what is due is claimed once, and again if it is not settled", watches::what_is_due_is_claimed_once),
    ("webhooks are kept by their account", watches::webhooks_are_kept),
    ("an account's usage is reported by day and key", accounts::usage_is_reported_by_day_and_key),
    ("an account is an operator until the role is taken back", operators::operators_are_made_and_unmade),
    (
        "a blocked account has no sessions and no valid keys until it is unblocked",
        operators::a_blocked_account_is_locked_out,
    ),
    ("operators find accounts and the usage of all", operators::accounts_and_usage_are_found),
    ("drafts become reviews of verified accounts", reviews::drafts_become_reviews),
    ("one review of an account and firm counts in twelve months", reviews::one_review_counts),
    ("an operator decides on what it has seen", reviews::operators_decide),
    ("a report waits for an operator, and a firm's objection hides once", reviews::reports_and_objections),
    ("reviews that are no longer public are listed without content", reviews::what_is_public_is_complete),
    ("accounts with a verified address claim firms", firms::firms_are_claimed),
    (
        "an approved review is announced once to those who speak for its firm",
        firms::approved_reviews_are_announced_once,
    ),
    ("a correction needs a claim and is decided once", firms::corrections_are_decided_once),
    ("of concurrent sign-ups of one address one succeeds", races::one_account_in_a_race),
    ("a link, a recovery code and a step are used once in a race", races::secrets_are_used_once),
    ("the sessions of an account are limited in a race", races::sessions_are_limited),
    ("a session that races with a new password does not outlive it", races::no_session_outlives_a_password),
    ("a tier that is lowered in a race keeps its limit", races::a_lower_tier_keeps_its_limit),
    ("a key that races with the deletion of its account is revoked", races::no_key_outlives_its_account),
    ("searches, lists and webhooks are limited in a race", races::watches_are_limited),
    ("usage that several servers add in different orders is complete", races::usage_is_complete),
    ("who reads changes while keys are revoked misses none", races::no_change_is_missed),
    ("who reads alerts while they are stored misses none", races::no_alert_is_missed),
    ("what is due is claimed by one server in a race", races::due_is_claimed_by_one),
    ("a requested link is claimed by one server in a race", races::links_are_claimed_by_one),
    ("one review of an account and firm is submitted in a race", races::one_review_is_submitted),
    ("a notice is claimed by one server, and a correction decided once, in a race", races::notices_are_claimed_by_one),
    ("a review is decided once in a race, and never after its author changed it", races::reviews_are_decided_once),
];

const NOON: i64 = 1_795_262_400;

fn email(text: &str) -> Email {
    text.parse().unwrap()
}

fn key(number: u8) -> ApiKey {
    let mut seed = [0; 32];
    seed[31] = number;
    seed[0] = 1;
    ApiKey::from_seed(&seed)
}

fn ada(store: &dyn Store, tier: Tier) -> Account {
    store.create_account(&email("ada@example.com"), tier, None, NOON).unwrap()
}

fn add(store: &dyn Store, number: u8, now: i64) -> Result<account::KeyRecord, StoreError> {
    let account = store.account(&email("ada@example.com"))?.id;
    store.create_key(account, &"test".parse().unwrap(), &key(number), None, now)
}

fn state(store: &dyn Store, number: u8) -> KeyState {
    let changes = store.changes(0).unwrap();
    changes.keys.into_iter().find(|state| state.digest == key(number).digest()).unwrap()
}

fn accounts_are_found(open: OpenStore<'_>) {
    let store = open();
    let zoe = store.create_account(&email("zoe@example.com"), Tier::Pro, None, NOON).unwrap();
    let ada = ada(&*store, Tier::Free);
    assert_eq!((ada.tier, ada.created_at, ada.active_keys), (Tier::Free, NOON, 0));
    assert_eq!(open().account(&email("ZOE@example.com")).unwrap(), zoe);
    assert_eq!(open().accounts().unwrap(), [ada, zoe]);
    assert!(matches!(store.account(&email("bob@example.com")), Err(StoreError::NoSuchAccount { .. })));
    assert!(matches!(
        store.create_key(account::AccountId(99), &"test".parse().unwrap(), &key(1), None, NOON),
        Err(StoreError::AccountGone)
    ));
}

fn one_account_per_address(open: OpenStore<'_>) {
    let store = open();
    ada(&*store, Tier::Pro);
    let again = open().create_account(&email("Ada@Example.com"), Tier::Free, None, NOON);
    assert!(matches!(again, Err(StoreError::AccountExists(_))));
    assert_eq!(store.account(&email("ada@example.com")).unwrap().tier, Tier::Pro);
}

fn keys_are_limited(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free);
    let first = add(&*store, 1, NOON).unwrap();
    add(&*store, 2, NOON).unwrap();
    add(&*store, 3, NOON).unwrap();
    assert!(matches!(add(&*store, 4, NOON), Err(StoreError::KeyLimitReached { allowed: 3, .. })));
    assert_eq!(store.keys(Some(account.id), Date::from_unix(NOON)).unwrap().len(), 3);
    store.revoke_key(KeyRef::Id(first.id), NOON).unwrap();
    let fourth = add(&*store, 4, NOON).unwrap();
    assert_eq!((fourth.masked, fourth.name.as_str()), (key(4).masked(), "test"));
    assert_eq!(open().account(&account.email).unwrap().active_keys, 3);
}

fn keys_are_limited_in_a_race(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free);
    let handles: Vec<_> = (0..8).map(|_| open()).collect();
    let created: u32 = std::thread::scope(|scope| {
        let threads: Vec<_> = handles
            .into_iter()
            .zip(0..)
            .map(|(store, thread)| {
                scope.spawn(move || (0..4).filter(|round| add(&*store, thread * 4 + round, NOON).is_ok()).count())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap() as u32).sum()
    });
    assert_eq!(created, 3);
    assert_eq!(store.account(&account.email).unwrap().active_keys, 3);
}

fn a_lower_tier_needs_fewer_keys(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Enterprise);
    for number in 0..12 {
        add(&*store, number, NOON).unwrap();
    }
    let rejected = store.set_tier(&account.email, Tier::Pro);
    assert!(matches!(rejected, Err(StoreError::TooManyKeys { allowed: 10, active: 12, .. })));
    assert_eq!(store.account(&account.email).unwrap().tier, Tier::Enterprise);
    store.revoke_key(KeyRef::Digest(key(0).digest()), NOON).unwrap();
    store.revoke_key(KeyRef::Digest(key(1).digest()), NOON).unwrap();
    assert_eq!(store.set_tier(&account.email, Tier::Pro).unwrap().tier, Tier::Pro);
    assert_eq!(open().account(&account.email).unwrap().tier, Tier::Pro);
}

fn keys_are_revoked(open: OpenStore<'_>) {
    let store = open();
    ada(&*store, Tier::Free);
    let by_id = KeyRef::Id(add(&*store, 1, NOON).unwrap().id);
    add(&*store, 2, NOON).unwrap();
    add(&*store, 3, NOON).unwrap();
    for (number, key_ref) in [(1, by_id), (2, KeyRef::Masked(key(2).masked())), (3, KeyRef::Digest(key(3).digest()))] {
        assert!(!state(&*store, number).revoked);
        assert_eq!(open().revoke_key(key_ref, NOON + 5).unwrap().revoked_at, Some(NOON + 5));
        assert!(state(&*store, number).revoked);
        assert_eq!(store.revoke_key(key_ref, NOON + 9).unwrap().revoked_at, Some(NOON + 5));
    }
    for unknown in [KeyRef::Id(KeyId(99)), KeyRef::Masked(key(9).masked()), KeyRef::Digest(key(9).digest())] {
        assert!(matches!(store.revoke_key(unknown, NOON), Err(StoreError::NoSuchKey)));
    }
}

fn changes_are_reported(open: OpenStore<'_>) {
    let (here, there) = (open(), open());
    let account = ada(&*here, Tier::Free);
    let start = there.changes(0).unwrap();
    assert!(start.keys.is_empty());
    let record = add(&*here, 1, NOON).unwrap();
    for store in [&here, &there] {
        let created = store.changes(start.last).unwrap();
        let [state] = created.keys.as_slice() else { panic!("{created:?}") };
        assert_eq!((state.id, state.account, state.tier), (record.id, Some(account.id), Tier::Free));
        assert_eq!((state.digest, state.masked, state.revoked), (key(1).digest(), key(1).masked(), false));
        assert!(store.changes(created.last).unwrap().keys.is_empty());
    }
    add(&*here, 2, NOON).unwrap();
    let last = there.changes(start.last).unwrap().last;
    here.set_tier(&account.email, Tier::Pro).unwrap();
    let raised = there.changes(last).unwrap();
    assert_eq!(raised.keys.iter().map(|state| state.tier).collect::<Vec<_>>(), [Tier::Pro; 2]);
    here.revoke_key(KeyRef::Id(record.id), NOON).unwrap();
    let revoked = there.changes(raised.last).unwrap();
    assert_eq!(revoked.keys.iter().map(|state| (state.id, state.revoked)).collect::<Vec<_>>(), [(record.id, true)]);
    // Usage is not a change of a key, and an unknown number reads all keys.
    here.add_usage(&[added(state(&*here, 2), NOON, 1)], NOON).unwrap();
    assert!(there.changes(revoked.last).unwrap().keys.is_empty());
    assert_eq!(there.changes(revoked.last + 100).unwrap().keys.len(), 2);
    assert_eq!(open().changes(0).unwrap().keys.len(), 2);
}

fn counters_are_taken_over(open: OpenStore<'_>) {
    let store = open();
    ada(&*store, Tier::Free);
    let records: Vec<_> = (1..=3).map(|number| add(&*store, number, NOON).unwrap()).collect();
    let counters: Vec<_> = (1..=3).map(|number| state(&*store, number).counter).collect();
    assert_eq!(counters.iter().collect::<std::collections::HashSet<_>>().len(), 3);
    store.add_usage(&[added(state(&*store, 1), NOON, 60), added(state(&*store, 2), NOON, 7)], NOON).unwrap();
    store.revoke_key(KeyRef::Id(records[0].id), NOON + 1).unwrap();
    store.revoke_key(KeyRef::Id(records[1].id), NOON + 2).unwrap();
    // The counter of the key revoked last is taken over first, and by one key only.
    let fourth = add(&*store, 4, NOON + 3).unwrap();
    assert_eq!((state(&*store, 4).counter, fourth.used_today), (counters[1], 7));
    let fifth = add(&*store, 5, NOON + 3).unwrap();
    assert_eq!((state(&*store, 5).counter, fifth.used_today), (counters[0], 60));
    // A counter can be taken over again, with everything that was counted on it.
    store.add_usage(&[added(state(&*store, 5), NOON, 30)], NOON).unwrap();
    store.revoke_key(KeyRef::Id(fifth.id), NOON + 4).unwrap();
    let sixth = add(&*store, 6, NOON + 5).unwrap();
    assert_eq!((state(&*store, 6).counter, sixth.used_today), (counters[0], 90));
    // On the next day no counter is taken over.
    store.revoke_key(KeyRef::Id(sixth.id), NOON + 6).unwrap();
    let seventh = add(&*store, 7, NOON + 86_400).unwrap();
    assert_eq!(seventh.used_today, 0);
    assert!(!counters.contains(&state(&*store, 7).counter));
    // The last second of the day counts, the first of the next does not.
    let midnight = Date::from_unix(NOON).unix() + 2 * 86_400;
    let before = state(&*store, 7).counter;
    store.revoke_key(KeyRef::Id(seventh.id), midnight - 1).unwrap();
    let eighth = add(&*store, 8, midnight - 1).unwrap();
    assert_eq!(state(&*store, 8).counter, before);
    store.revoke_key(KeyRef::Id(eighth.id), midnight - 1).unwrap();
    add(&*store, 9, midnight).unwrap();
    assert_ne!(state(&*store, 9).counter, before);
}

fn usage_adds_up(open: OpenStore<'_>) {
    let (here, there) = (open(), open());
    ada(&*here, Tier::Pro);
    let record = add(&*here, 1, NOON).unwrap();
    add(&*here, 2, NOON).unwrap();
    let (one, two) = (state(&*here, 1), state(&*here, 2));
    let today = Date::from_unix(NOON);
    assert_eq!(here.add_usage(&[added(one, NOON, 5), added(two, NOON, 1)], NOON + 1).unwrap(), [5, 1]);
    assert_eq!(there.add_usage(&[added(one, NOON, 2)], NOON + 2).unwrap(), [7]);
    assert_eq!(here.add_usage(&[added(one, NOON, -3), added(one, NOON + 86_400, 4)], NOON + 3).unwrap(), [4, 4]);
    // A key and day may be there twice.
    assert_eq!(here.add_usage(&[added(two, NOON, 2), added(two, NOON, -1)], NOON + 1).unwrap(), [3, 2]);
    assert_eq!(here.add_usage(&[added(two, NOON, -9)], NOON + 3).unwrap(), [0]);
    let mut usage = there.usage(today).unwrap();
    usage.sort_by_key(|usage| usage.key);
    assert_eq!(
        usage.iter().map(|usage| (usage.counter, usage.requests)).collect::<Vec<_>>(),
        [(one.counter, 4), (two.counter, 0)]
    );
    let keys = there.keys(Some(record.account), today).unwrap();
    assert_eq!(
        keys.iter().map(|key| (key.used_today, key.last_used_at)).collect::<Vec<_>>(),
        [(4, Some(NOON + 3)), (0, Some(NOON + 1))]
    );
    assert_eq!(there.keys(None, Date::from_unix(NOON + 86_400)).unwrap()[0].used_today, 4);
    assert!(there.keys(Some(account::AccountId(99)), today).unwrap().is_empty());
    // Concurrent additions are not lost.
    std::thread::scope(|scope| {
        for store in (0..4).map(|_| open()) {
            scope.spawn(move || (0..25).for_each(|_| drop(store.add_usage(&[added(one, NOON, 1)], NOON).unwrap())));
        }
    });
    assert_eq!(here.add_usage(&[added(one, NOON, 1)], NOON).unwrap(), [105]);
}

fn recent_keys_are_listed(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Pro);
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap();
    let ids: Vec<_> = (1..=6).map(|number| add(&*store, number, NOON).unwrap().id).collect();
    store.create_key(bob.id, &"bob".parse().unwrap(), &key(8), None, NOON).unwrap();
    store.add_usage(&[added(state(&*store, 1), NOON, 3), added(state(&*store, 8), NOON, 9)], NOON).unwrap();
    for (index, revoked_at) in [(1, 10), (2, 40), (3, 30), (4, 20)] {
        store.revoke_key(KeyRef::Id(ids[index]), NOON + revoked_at).unwrap();
    }
    let today = Date::from_unix(NOON);
    let listed = |since, max| {
        let keys = open().recent_keys(account.id, NOON + since, max, today).unwrap();
        keys.into_iter().map(|key| (key.id, key.used_today)).collect::<Vec<_>>()
    };
    let keys =
        |indexes: &[usize]| indexes.iter().map(|index| (ids[*index], [3, 0][(*index).min(1)])).collect::<Vec<_>>();
    assert_eq!(listed(0, 9), keys(&[0, 1, 2, 3, 4, 5]));
    assert_eq!(listed(30, 9), keys(&[0, 2, 3, 5]));
    assert_eq!(listed(0, 1), keys(&[0, 2, 5]));
    assert_eq!(listed(99, 9), keys(&[0, 5]));
    assert_eq!(store.key(KeyRef::Of(account.id, ids[0]), today).unwrap().used_today, 3);
    assert_eq!(store.key(KeyRef::Id(ids[1]), today).unwrap().revoked_at, Some(NOON + 10));
    assert!(matches!(store.key(KeyRef::Of(bob.id, ids[0]), today), Err(StoreError::NoSuchKey)));
    assert_eq!(
        store.keys(None, today).unwrap().iter().map(|key| key.used_today).collect::<Vec<_>>(),
        [3, 0, 0, 0, 0, 0, 9]
    );
}

fn old_data_is_purged(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Pro);
    let ids: Vec<_> = (1..=3).map(|number| add(&*store, number, NOON).unwrap().id).collect();
    store.revoke_key(KeyRef::Id(ids[0]), NOON).unwrap();
    store.revoke_key(KeyRef::Id(ids[1]), NOON + 86_400).unwrap();
    let used = [added(state(&*store, 3), NOON, 5), added(state(&*store, 3), NOON + 86_400, 7)];
    store.add_usage(&used, NOON + 86_400).unwrap();
    let last = store.changes(0).unwrap().last;
    let purge = |days: i32| open().purge(Date::from_days(Date::from_unix(NOON).days() + days)).unwrap();
    let names = || {
        let keys = store.keys(Some(account.id), Date::from_unix(NOON)).unwrap();
        keys.into_iter().map(|key| key.name).collect::<Vec<_>>()
    };
    assert_eq!((purge(90), names()), (0, vec!["test".to_owned(); 3]));
    assert_eq!((purge(91), names()), (1, vec![String::new(), "test".to_owned(), "test".to_owned()]));
    assert_eq!(purge(400), 1, "the second name");
    assert_eq!((purge(401), purge(401)), (1, 0));
    assert_eq!(store.usage(Date::from_unix(NOON)).unwrap(), []);
    assert_eq!(store.usage(Date::from_unix(NOON + 86_400)).unwrap()[0].requests, 7);
    assert!(store.changes(last).unwrap().keys.is_empty() && state(&*store, 1).revoked, "keys are rejected as before");
}

fn the_time_of_purges_advances(open: OpenStore<'_>) {
    let store = open();
    assert_eq!(store.steady_time(NOON).unwrap(), NOON, "nothing is stored and nothing happened");
    ada(&*store, Tier::Pro);
    assert_eq!(store.steady_time(NOON + 90 * 86_400).unwrap(), NOON, "the newest event");
    assert_eq!(store.steady_time(NOON - 86_400).unwrap(), NOON - 86_400);
    for (purge_time, expected) in [(NOON + 7, NOON + 7), (NOON + 5, NOON + 7), (NOON + 9, NOON + 9)] {
        open().store_steady_time(TimeToStore { purge_time, jump: None }).unwrap();
        assert_eq!(store.steady_time(NOON + 90 * 86_400).unwrap(), expected);
    }
    let last_jump = || {
        let mut found = None;
        store
            .read(ReadKind::List, "read the last jump", &mut |sql| {
                found = last_clock_jump(sql)?;
                Ok(())
            })
            .unwrap();
        found
    };
    assert_eq!(last_jump(), None);
    let jump = ClockJump { at: NOON, seconds: -401 * 86_400 };
    open().store_steady_time(TimeToStore { purge_time: NOON, jump: Some(jump) }).unwrap();
    open().store_steady_time(TimeToStore { purge_time: NOON + 99, jump: None }).unwrap();
    assert_eq!((last_jump(), store.steady_time(NOON).unwrap()), (Some(jump), NOON + 99));
}

fn the_secret_is_constant(open: OpenStore<'_>) {
    assert_eq!(open().cursor_secret([1; 32]).unwrap(), [1; 32]);
    assert_eq!(open().cursor_secret([2; 32]).unwrap(), [1; 32]);
}

fn added(state: KeyState, now: i64, requests: i64) -> AddedUsage {
    AddedUsage { key: state.id, counter: state.counter, day: Date::from_unix(now), requests }
}
