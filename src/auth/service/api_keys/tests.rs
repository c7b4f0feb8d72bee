//! Operations on API keys with a real store, and their usage.

use tempfile::TempDir;

use crate::account::Email;
use crate::quota::Tier;
use crate::service::api_keys::*;
use crate::{AuthError, SqliteStore};

const NOON: i64 = 1_795_262_400;
const DAY: i64 = 86_400;

/// A data folder with two accounts, its store, and its service.
fn service(tier: Tier) -> (TempDir, SqliteStore, Arc<AuthService>, [AccountId; 2]) {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    let accounts = ["ada@example.com", "bob@example.com"].map(|email| {
        let email: Email = email.parse().unwrap();
        store.create_account(&email, tier, None, NOON).unwrap().id
    });
    let service = AuthService::open(data.path(), NOON).unwrap();
    (data, store, service, accounts)
}

async fn create(service: &Arc<AuthService>, account: AccountId, now: i64) -> Result<NewKey, AccountError> {
    service.create_key(account, "test".parse().unwrap(), None, now).await
}

fn header(key: &NewKey) -> String {
    format!("Bearer {}", key.key.reveal())
}

fn take(service: &AuthService, key: &NewKey, now: i64, times: usize) -> usize {
    let caller = service.authenticate(Some(&header(key)), NOON).unwrap();
    (0..times).filter(|_| service.take(&caller, Date::from_unix(now)).is_ok()).count()
}

#[tokio::test]
async fn deleting_an_account_and_signing_up_again_gives_no_new_quota() {
    let (data, store, service, [ada, bob]) = service(Tier::Free);
    let email: Email = "ada@example.com".parse().unwrap();
    let three = async |service: &Arc<AuthService>, account| {
        let mut keys = Vec::new();
        for _ in 0..3 {
            keys.push(create(service, account, NOON).await.unwrap());
        }
        keys
    };
    let keys = three(&service, ada).await;
    for (key, times) in keys.iter().zip([100, 70, 20]) {
        assert_eq!(take(&service, key, NOON, times), times);
    }
    service.flush(NOON).unwrap();
    // Some requests are not yet written, and the command deletes from another process.
    assert_eq!(take(&service, &keys[2], NOON, 10), 10);
    store.delete_account(ada, None, NOON).unwrap();
    service.refresh().unwrap();
    let again = store.create_account(&email, Tier::Free, None, NOON).unwrap().id;
    let keys = three(&service, again).await;
    assert_eq!(keys.iter().map(|key| take(&service, key, NOON, 40)).sum::<usize>(), 70, "70 and 30 were used of 200");
    let caller = service.authenticate(Some(&header(&keys[0])), NOON).unwrap();
    let rejected = service.take(&caller, Date::from_unix(NOON)).unwrap_err().quota();
    let text = service.used_by_others(&caller, &rejected);
    assert_eq!(text, ", 100 of them by other keys that this account replaced or deleted today");

    // A restart forgets none of it.
    service.flush(NOON).unwrap();
    let service = AuthService::open(data.path(), NOON).unwrap();
    assert_eq!(keys.iter().map(|key| take(&service, key, NOON, 100)).sum::<usize>(), 30);
    let other = three(&service, bob).await;
    assert_eq!(other.iter().map(|key| take(&service, key, NOON, 200)).sum::<usize>(), 300, "another address");
    assert_eq!(keys.iter().map(|key| take(&service, key, NOON + DAY, 200)).sum::<usize>(), 300, "the next day");
}

#[tokio::test]
async fn a_key_is_valid_once_created_and_invalid_once_revoked() {
    let (_data, _, service, [ada, bob]) = service(Tier::Free);
    let key = create(&service, ada, NOON).await.unwrap();
    let caller = service.authenticate(Some(&header(&key)), NOON).unwrap();
    assert_eq!((caller.key, caller.account, caller.tier), (key.record.id, Some(ada), Tier::Free));

    let id = key.record.id;
    for (account, id) in [(bob, id), (ada, KeyId(99)), (AccountId(99), id), (ada, KeyId(-1))] {
        let rejected = service.revoke_key(account, id, None, NOON).await;
        assert!(matches!(rejected, Err(AccountError::NoSuchKey)), "{account:?} {id:?}");
    }
    assert!(service.authenticate(Some(&header(&key)), NOON).is_ok());
    assert_eq!(service.revoke_key(ada, id, None, NOON + 1).await.unwrap().revoked_at, Some(NOON + 1));
    assert_eq!(service.authenticate(Some(&header(&key)), NOON), Err(AuthError::Revoked));
    assert_eq!(service.revoke_key(ada, id, None, NOON + 2).await.unwrap().revoked_at, Some(NOON + 1));
    assert!(matches!(service.active_key(ada, id, NOON).await, Err(AccountError::NoSuchKey)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_number_of_keys_of_a_tier_is_never_exceeded_concurrently() {
    for (tier, allowed) in [(Tier::Free, 3), (Tier::Pro, 10)] {
        let (data, store, service, [ada, bob]) = service(tier);
        // Another process on the same file, too.
        let services = [service.clone(), AuthService::open(data.path(), NOON).unwrap()];
        let tasks: Vec<_> = (0..64)
            .map(|number| {
                let service = services[number % 2].clone();
                tokio::spawn(async move {
                    let created = create(&service, if number % 8 == 7 { bob } else { ada }, NOON).await;
                    // Some are revoked again, so that further keys can be created.
                    match created {
                        Ok(key) if number % 4 == 0 => {
                            drop(service.revoke_key(ada, key.record.id, None, NOON).await.unwrap())
                        }
                        Ok(_) => {}
                        Err(AccountError::KeyLimitReached { allowed: reported, .. }) => assert_eq!(reported, allowed),
                        Err(error) => panic!("{error:?}"),
                    }
                    let of_ada = service.store().keys(Some(ada), Date::from_unix(NOON)).unwrap();
                    let active = of_ada.iter().filter(|key| key.revoked_at.is_none()).count();
                    assert!(active <= allowed as usize, "{active} keys");
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        while create(&service, ada, NOON).await.is_ok() {}
        assert_eq!(store.accounts().unwrap()[0].active_keys, allowed);
    }
}

#[tokio::test]
async fn if_all_keys_are_in_use_the_error_says_what_to_do() {
    let (_data, _, service, [ada, _]) = service(Tier::Free);
    for _ in 0..3 {
        create(&service, ada, NOON).await.unwrap();
    }
    let rejected = create(&service, ada, NOON).await.unwrap_err();
    assert_eq!(rejected.to_string(), "all 3 keys of the free tier are in use; revoke one that you no longer need");
}

#[tokio::test]
async fn an_account_creates_thirty_keys_per_day() {
    let (_data, store, service, [ada, bob]) = service(Tier::Free);
    for _ in 0..30 {
        let key = create(&service, ada, NOON).await.unwrap();
        service.revoke_key(ada, key.record.id, None, NOON).await.unwrap();
    }
    let midnight = Date::from_unix(NOON).unix() + DAY;
    let rejected = create(&service, ada, midnight - 1).await.unwrap_err();
    assert_eq!(
        rejected.to_string(),
        "you created 30 keys today, the maximum per day; use one that you have, or try again after 00:00 UTC"
    );
    assert!(create(&service, bob, NOON).await.is_ok());
    assert!(create(&service, ada, midnight).await.is_ok());
    // Unlimited keys include unlimited new ones.
    store.set_tier(&"ada@example.com".parse().unwrap(), Tier::Enterprise).unwrap();
    for _ in 0..31 {
        create(&service, ada, midnight).await.unwrap();
    }
}

#[tokio::test]
async fn of_the_revoked_keys_the_last_are_listed_and_the_others_are_summed() {
    let (_data, _, service, [ada, _]) = service(Tier::Free);
    let mut ids = Vec::new();
    for number in 0..i64::from(LISTED_REVOKED) + 5 {
        let key = create(&service, ada, NOON + number).await.unwrap();
        assert_eq!(take(&service, &key, NOON, 2), 2);
        service.revoke_key(ada, key.record.id, None, NOON + number).await.unwrap();
        ids.push(key.record.id);
    }
    service.flush(NOON).unwrap();
    let usage = service.usage(ada, 2, NOON).await.unwrap();
    assert_eq!(usage.keys.iter().map(|key| key.key.id).collect::<Vec<_>>(), ids[5..]);
    assert_eq!((usage.others.clone(), usage.totals()), (vec![0, 10], vec![0, 50]));
}

#[tokio::test]
async fn usage_includes_requests_that_are_not_yet_written() {
    let (_data, _, service, [ada, bob]) = service(Tier::Free);
    let keys = [create(&service, ada, NOON).await.unwrap(), create(&service, ada, NOON).await.unwrap()];
    let of_bob = create(&service, bob, NOON).await.unwrap();
    take(&service, &of_bob, NOON, 9);
    assert_eq!(take(&service, &keys[0], NOON - DAY, 4), 4);
    service.flush(NOON).unwrap();
    assert_eq!(take(&service, &keys[0], NOON, 5), 5);
    let requests = |usage: &AccountUsage| usage.keys.iter().map(|key| key.requests.clone()).collect::<Vec<_>>();
    for round in 0..3 {
        let usage = service.usage(ada, 3, NOON).await.unwrap();
        assert_eq!(usage.days, [-2, -1, 0].map(|day| Date::from_unix(NOON + day * DAY)));
        assert_eq!(requests(&usage), [[0, 4, 5 + round], [0, 0, 0]]);
        assert_eq!(usage.totals(), [0, 4, 5 + u64::from(round)]);
        let today = usage.keys[0].today;
        assert_eq!((today.used, today.remaining, today.tier), (5 + round, Some(95 - round), Some(Tier::Free)));
        assert_eq!(service.active_key(ada, keys[0].record.id, NOON).await.unwrap().used_today, 5 + round);
        if round == 0 {
            service.flush(NOON).unwrap();
        }
        take(&service, &keys[0], NOON, 1);
    }
    assert_eq!(service.usage(ada, 1, NOON).await.unwrap().days.len(), 1);
    assert_eq!(service.usage(ada, 0, NOON).await.unwrap().days.len(), 1);
}

#[tokio::test]
async fn a_key_that_took_over_a_counter_shows_its_own_requests_and_the_remaining_quota() {
    let (_data, _, service, [ada, _]) = service(Tier::Free);
    let first = create(&service, ada, NOON).await.unwrap();
    take(&service, &first, NOON, 60);
    service.revoke_key(ada, first.record.id, None, NOON).await.unwrap();
    let second = create(&service, ada, NOON).await.unwrap();
    assert_eq!(take(&service, &second, NOON, 100), 40);
    let usage = service.usage(ada, 1, NOON).await.unwrap();
    assert_eq!(usage.keys.iter().map(|key| key.requests[0]).collect::<Vec<_>>(), [60, 40]);
    assert_eq!((usage.keys[1].today.used, usage.keys[1].today.remaining), (100, Some(0)));
    assert_eq!(usage.totals(), [100]);
    // A revoked key is listed until none of the days has requests of it.
    let later = service.usage(ada, 2, NOON + DAY).await.unwrap();
    assert_eq!(later.keys.iter().map(|key| key.requests.clone()).collect::<Vec<_>>(), [[60, 0], [40, 0]]);
    assert_eq!(later.keys[1].today.used, 0);
    let later = service.usage(ada, 2, NOON + 2 * DAY).await.unwrap();
    assert_eq!(later.keys.iter().map(|key| key.key.id).collect::<Vec<_>>(), [second.record.id]);
}

#[tokio::test]
async fn at_midnight_usage_starts_at_zero_and_the_day_before_is_unchanged() {
    let (_data, _, service, [ada, _]) = service(Tier::Free);
    let key = create(&service, ada, NOON).await.unwrap();
    let midnight = Date::from_unix(NOON).unix() + DAY;
    assert_eq!(take(&service, &key, midnight - 1, 200), 100);
    assert_eq!(take(&service, &key, midnight, 3), 3);
    for written in [false, true] {
        if written {
            service.flush(midnight).unwrap();
        }
        let before = service.usage(ada, 2, midnight - 1).await.unwrap();
        assert_eq!((before.keys[0].requests.clone(), before.keys[0].today.remaining), (vec![0, 100], Some(0)));
        let after = service.usage(ada, 2, midnight).await.unwrap();
        assert_eq!((after.keys[0].requests.clone(), after.keys[0].today.remaining), (vec![100, 3], Some(97)));
        assert_eq!(after.keys[0].today.resets_at, midnight + DAY);
    }
}

#[tokio::test]
async fn an_expired_key_is_rejected_without_a_look_at_the_store() {
    let (data, store, service, [ada, bob]) = service(Tier::Free);
    let key = service.create_key(ada, "test".parse().unwrap(), Some(NOON + 60), NOON).await.unwrap();
    let authenticate = |now| service.authenticate(Some(&header(&key)), now).map(|caller| caller.key);
    assert_eq!(authenticate(NOON + 59), Ok(key.record.id));
    let refreshes = service.refreshes.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(authenticate(NOON + 60), Err(AuthError::Expired));
    let fresh = service.authenticate_fresh(Some(&header(&key)), [192, 0, 2, 1].into(), NOON + 60).await;
    assert_eq!(fresh, Err(AuthError::Expired));
    assert_eq!(service.refreshes.load(std::sync::atomic::Ordering::SeqCst), refreshes);
    assert!(matches!(service.active_key(ada, key.record.id, NOON + 60).await, Err(AccountError::NoSuchKey)));
    // Each day the server ends them, and another server that starts then rejects them in the same way.
    service.flush(NOON + 86_400).unwrap();
    assert_eq!(store.account_by_id(ada).unwrap().active_keys, 0);
    let service = AuthService::open(data.path(), NOON + 86_400).unwrap();
    assert_eq!(service.authenticate(Some(&header(&key)), NOON + 86_400), Err(AuthError::Expired));
    let foreign = service.rotate_key(bob, key.record.id, Rotation::new(24, None, NOON), NOON).await;
    assert!(matches!(foreign, Err(AccountError::NoSuchKey)));
}

#[tokio::test]
async fn a_rotated_key_and_its_successor_share_one_quota() {
    let (_data, _, service, [ada, _]) = service(Tier::Free);
    let old = create(&service, ada, NOON).await.unwrap();
    assert_eq!(take(&service, &old, NOON, 60), 60);
    let (rotated, new) = service.rotate_key(ada, old.record.id, Rotation::new(24, None, NOON), NOON).await.unwrap();
    assert_eq!((rotated.id, rotated.expires_at), (old.record.id, Some(NOON + DAY)));
    assert_eq!((take(&service, &new, NOON, 30), take(&service, &old, NOON, 60)), (30, 10));
    assert_eq!(take(&service, &new, NOON, 9), 0);
    assert_eq!(service.authenticate(Some(&header(&old)), NOON + DAY), Err(AuthError::Expired));
    assert!(service.authenticate(Some(&header(&new)), NOON + DAY).is_ok());
    assert!(matches!(
        service.rotate_key(ada, new.record.id, Rotation::new(24, None, NOON), NOON).await,
        Err(AccountError::KeyOverlaps)
    ));
}
