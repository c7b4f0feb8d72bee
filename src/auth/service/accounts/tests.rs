//! Account operations with a real store.

use tempfile::TempDir;

use crate::auth::account::KeyRef;
use crate::auth::password::hash::PasswordHash;
use crate::auth::password::hasher::{CONCURRENT, QUEUE};
use crate::auth::service::accounts::*;
use crate::auth::{AuthError, SqliteStore, Store};
use crate::quota::RateLimitConfig;
use crate::quota::rate_limits::{FAILED_SIGN_INS_OF_ACCOUNT, SIGN_IN_WINDOW};

const NOON: i64 = 1_795_262_400;
const GOOD: &str = "glacier violin lantern";
const OTHER: &str = "seven quiet harbours";

fn ada() -> Email {
    "ada@example.com".parse().unwrap()
}

fn home() -> IpAddr {
    "192.0.2.1".parse().unwrap()
}

fn password(text: &str) -> Password {
    Password::new(text, &ada()).unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

/// An empty data folder, its store, and its service.
fn service() -> (TempDir, SqliteStore, Arc<AuthService>) {
    let data = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(data.path()).unwrap();
    let access = AuthService::open(data.path(), NOON).unwrap();
    (data, store, access)
}

async fn signed_up(access: &Arc<AuthService>) -> (SessionToken, Visitor) {
    let session = access.sign_up(ada(), password(GOOD), home(), NOON).await.unwrap();
    let visitor = access.visitor(&session.token, NOON).await.unwrap().unwrap();
    (session.token, visitor)
}

async fn sign_in(access: &Arc<AuthService>, text: &str) -> Result<NewSession, AccountError> {
    access.sign_in(ada(), secret(text), home(), NOON).await
}

#[tokio::test]
async fn sign_up_starts_a_session_and_allows_sign_in() {
    let (_data, store, access) = service();
    let (token, visitor) = signed_up(&access).await;
    assert_eq!((visitor.account.email.clone(), visitor.account.tier), (ada(), Tier::Free));
    assert_eq!(visitor.expires_at, NOON + 30 * 86_400);
    assert_eq!(store.account(&ada()).unwrap(), visitor.account);

    let second = sign_in(&access, GOOD).await.unwrap();
    assert_ne!(second.token.digest(), token.digest());
    access.sign_out(&token).await.unwrap();
    access.sign_out(&token).await.unwrap();
    assert_eq!(access.visitor(&token, NOON).await.unwrap(), None);
    assert!(access.visitor(&second.token, NOON).await.unwrap().is_some());
    assert!(access.visitor(&second.token, second.expires_at - 1).await.unwrap().is_some());
    assert_eq!(access.visitor(&second.token, second.expires_at).await.unwrap(), None);
    let invented = SessionToken::from_seed([1; 32]);
    assert_eq!(access.visitor(&invented, NOON).await.unwrap(), None);
}

#[tokio::test]
async fn a_session_survives_a_restart_and_is_deleted_after_it_expired() {
    let (data, store, access) = service();
    let (token, visitor) = signed_up(&access).await;
    drop(access);
    let access = AuthService::open(data.path(), NOON + 1).unwrap();
    assert_eq!(access.visitor(&token, NOON + 1).await.unwrap(), Some(visitor.clone()));
    access.flush(visitor.expires_at).unwrap();
    assert_eq!(store.session(&token.digest(), NOON).unwrap(), None);
}

#[tokio::test]
async fn sign_up_with_a_registered_address_does_not_reveal_the_account() {
    let (_data, store, access) = service();
    signed_up(&access).await;
    let before = store.credentials(&ada()).unwrap();
    let refused = access.sign_up(ada(), password(OTHER), home(), NOON).await.unwrap_err();
    assert!(matches!(refused, AccountError::NotCreated), "{refused:?}");
    let message = refused.to_string();
    assert!(message.contains("sign in") && !message.contains("ada") && !message.contains("exists"), "{message}");
    assert_eq!(store.credentials(&ada()).unwrap(), before);
    assert!(sign_in(&access, OTHER).await.is_err());
}

#[tokio::test]
async fn wrong_password_unknown_address_and_no_password_have_the_same_error_and_the_same_work() {
    let (_data, store, access) = service();
    signed_up(&access).await;
    let bob: Email = "bob@example.com".parse().unwrap();
    store.create_account(&bob, Tier::Free, None, NOON).unwrap();
    let nobody: Email = "nobody@example.com".parse().unwrap();
    let mut errors = Vec::new();
    for (index, email) in [ada(), bob, nobody].into_iter().enumerate() {
        let refused = access.sign_in(email, secret(OTHER), home(), NOON).await.unwrap_err();
        assert_eq!(access.hasher.verified(), index as u64 + 1);
        assert!(matches!(refused, AccountError::WrongCredentials), "{refused:?}");
        errors.push(refused.to_string());
    }
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    // An account without a password has no valid one, not even the empty text.
    assert!(access.sign_in("bob@example.com".parse().unwrap(), secret(""), home(), NOON).await.is_err());
    assert!(access.sign_in(ada(), secret(&"x".repeat(5_000)), home(), NOON).await.is_err());
    assert_eq!(access.hasher.verified(), 5);
}

#[tokio::test]
async fn failed_sign_ins_are_limited_by_account_whether_it_exists_or_not() {
    let (_data, _, access) = service();
    signed_up(&access).await;
    let nobody: Email = "nobody@example.com".parse().unwrap();
    let mut host = 0;
    for email in [ada(), nobody] {
        let mut away = || {
            host += 1;
            IpAddr::from([198, 51, 100, host])
        };
        for _ in 0..FAILED_SIGN_INS_OF_ACCOUNT {
            let refused = access.sign_in(email.clone(), secret(OTHER), away(), NOON).await.unwrap_err();
            assert!(matches!(refused, AccountError::WrongCredentials), "{refused:?}");
        }
        let verified = access.hasher.verified();
        let refused = access.sign_in(email.clone(), secret(GOOD), away(), NOON + 60).await.unwrap_err();
        assert_eq!(refused.retry_after(), Some(RetryAfter { seconds: u64::from(SIGN_IN_WINDOW) - 60 }));
        assert_eq!(refused.to_string(), "too many attempts: wait 14 minutes and try again");
        assert_eq!(access.hasher.verified(), verified, "the password was not verified");
    }
    let later = NOON + i64::from(SIGN_IN_WINDOW);
    assert!(access.sign_in(ada(), secret(GOOD), home(), later).await.is_ok());
}

#[tokio::test]
async fn successful_sign_ins_are_not_limited() {
    let (_data, _, access) = service();
    signed_up(&access).await;
    for _ in 0..2 * FAILED_SIGN_INS_OF_ACCOUNT {
        sign_in(&access, GOOD).await.unwrap();
    }
}

#[tokio::test]
async fn sign_ups_are_limited_by_address_including_those_that_create_no_account() {
    let data = tempfile::tempdir().unwrap();
    let rate_limits = RateLimitConfig { sign_ups_per_hour: 3, ..RateLimitConfig::default() };
    let access = AuthService::open_with(data.path(), rate_limits, NOON).unwrap();
    signed_up(&access).await;
    for _ in 0..2 {
        let refused = access.sign_up(ada(), password(GOOD), home(), NOON).await;
        assert!(matches!(refused, Err(AccountError::NotCreated)));
    }
    let zoe: Email = "zoe@example.com".parse().unwrap();
    let refused = access.sign_up(zoe.clone(), password(GOOD), home(), NOON + 10).await.unwrap_err();
    assert_eq!(refused.retry_after(), Some(RetryAfter { seconds: 3_590 }));
    assert!(access.sign_up(zoe.clone(), password(GOOD), "192.0.2.2".parse().unwrap(), NOON).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_concurrent_sign_ups_of_one_address_one_succeeds() {
    let data = tempfile::tempdir().unwrap();
    let rate_limits = RateLimitConfig { sign_ups_per_hour: 100, ..RateLimitConfig::default() };
    let access = AuthService::open_with(data.path(), rate_limits, NOON).unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let access = access.clone();
            tokio::spawn(async move { access.sign_up(ada(), password(GOOD), home(), NOON).await })
        })
        .collect();
    let mut created = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => created += 1,
            Err(error) => assert!(matches!(error, AccountError::NotCreated), "{error:?}"),
        }
    }
    assert_eq!((created, access.store().accounts().unwrap().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sign_ins_beyond_the_queue_are_rejected_and_not_counted_as_failed() {
    let (_data, _, access) = service();
    signed_up(&access).await;
    let tasks: Vec<_> = (0..3 * (CONCURRENT + QUEUE))
        .map(|number| {
            let access = access.clone();
            let address = IpAddr::from([198, 51, 100, number as u8]);
            let email = format!("nobody{number}@example.com").parse().unwrap();
            tokio::spawn(async move { access.sign_in(email, secret(OTHER), address, NOON).await.unwrap_err() })
        })
        .collect();
    let mut busy = 0;
    for task in tasks {
        match task.await.unwrap() {
            AccountError::WrongCredentials => {}
            AccountError::Busy(wait) => busy += usize::from(wait.seconds > 0),
            error => panic!("{error:?}"),
        }
    }
    assert!(busy > 0, "no sign-in was rejected");
    // The permits are returned shortly after the last result.
    while let Err(error) = sign_in(&access, GOOD).await {
        assert!(matches!(error, AccountError::Busy(_)), "{error:?}");
    }
}

#[tokio::test]
async fn changing_the_password_ends_the_other_sessions() {
    let (_data, store, access) = service();
    let (token, visitor) = signed_up(&access).await;
    let other = sign_in(&access, GOOD).await.unwrap().token;
    let change = |current: &str, new: &str| {
        let (access, visitor, current, new) = (access.clone(), visitor.clone(), secret(current), password(new));
        async move { access.change_password(&visitor, current, new, home(), NOON).await }
    };
    let before = store.credentials(&ada()).unwrap();
    assert!(matches!(change(OTHER, GOOD).await, Err(AccountError::WrongPassword)));
    assert!(matches!(change(GOOD, GOOD).await, Err(AccountError::SamePassword)));
    assert_eq!(store.credentials(&ada()).unwrap(), before);
    assert!(access.visitor(&other, NOON).await.unwrap().is_some());

    change(GOOD, OTHER).await.unwrap();
    assert!(access.visitor(&token, NOON).await.unwrap().is_some());
    assert_eq!(access.visitor(&other, NOON).await.unwrap(), None);
    assert!(matches!(sign_in(&access, GOOD).await, Err(AccountError::WrongCredentials)));
    assert!(sign_in(&access, OTHER).await.is_ok());
}

#[tokio::test]
async fn guesses_of_the_current_password_are_limited_like_sign_ins() {
    let (_data, _, access) = service();
    let (_, visitor) = signed_up(&access).await;
    for round in 0..FAILED_SIGN_INS_OF_ACCOUNT {
        let refused = match round % 2 {
            0 => access.change_password(&visitor, secret("wrong"), password(OTHER), home(), NOON).await,
            _ => access.delete_account(&visitor, secret("wrong"), home(), NOON).await,
        };
        assert!(matches!(refused, Err(AccountError::WrongPassword)));
    }
    let refused = access.delete_account(&visitor, secret(GOOD), home(), NOON).await;
    assert!(matches!(refused, Err(AccountError::Throttled(_))));
}

#[tokio::test]
async fn a_deleted_account_is_removed_and_its_keys_are_revoked_at_once() {
    let (_data, store, access) = service();
    let (token, visitor) = signed_up(&access).await;
    let key = access.create_key(visitor.account.id, "test".parse().unwrap(), NOON).await.unwrap().key;
    let header = format!("Bearer {}", key.reveal());
    let caller = access.authenticate(Some(&header)).unwrap();
    access.take(&caller, crate::data::Date::from_unix(NOON)).unwrap();
    assert!(matches!(
        access.delete_account(&visitor, secret(OTHER), home(), NOON).await,
        Err(AccountError::WrongPassword)
    ));
    access.delete_account(&visitor, secret(GOOD), home(), NOON).await.unwrap();
    assert_eq!(access.authenticate(Some(&header)), Err(AuthError::Revoked));
    assert_eq!(access.visitor(&token, NOON).await.unwrap(), None);
    assert!(store.accounts().unwrap().is_empty());
    access.flush(NOON).unwrap();
    assert!(store.usage(crate::data::Date::from_unix(NOON)).unwrap().is_empty());
    assert!(matches!(store.revoke_key(KeyRef::Digest(key.digest()), NOON), Err(StoreError::NoSuchKey)));
    // Its former visitor can change nothing, not even a new account of the address.
    let new = access.sign_up(ada(), password(GOOD), home(), NOON).await.unwrap();
    for refused in [
        access.delete_account(&visitor, secret(GOOD), home(), NOON).await,
        access.change_password(&visitor, secret(GOOD), password(OTHER), home(), NOON).await,
        access.create_key(visitor.account.id, "test".parse().unwrap(), NOON).await.map(|_| ()),
    ] {
        assert!(matches!(refused, Err(AccountError::SignedOut)), "{refused:?}");
    }
    assert!(access.visitor(&new.token, NOON).await.unwrap().is_some());
}

#[tokio::test]
async fn an_outdated_hash_is_replaced_by_the_next_sign_in() {
    let (_data, store, access) = service();
    let old = PasswordHash::outdated(&secret(GOOD));
    assert!(old.is_outdated());
    store.create_account(&ada(), Tier::Free, Some(&old), NOON).unwrap();
    assert!(sign_in(&access, OTHER).await.is_err());
    assert_eq!(store.credentials(&ada()).unwrap().password, Some(old.clone()));
    let session = sign_in(&access, GOOD).await.unwrap().token;
    let renewed = store.credentials(&ada()).unwrap().password.unwrap();
    assert!(renewed != old && !renewed.is_outdated());
    assert!(access.visitor(&session, NOON).await.unwrap().is_some());
    assert!(sign_in(&access, GOOD).await.is_ok());
    assert_eq!(store.credentials(&ada()).unwrap().password, Some(renewed));
}

#[tokio::test]
async fn no_password_and_no_session_token_is_stored_in_the_files() {
    let (data, _store, access) = service();
    let (token, visitor) = signed_up(&access).await;
    access.change_password(&visitor, secret(GOOD), password(OTHER), home(), NOON).await.unwrap();
    let secrets = [GOOD.to_owned(), OTHER.to_owned(), token.reveal()];
    let mut bytes_checked = 0;
    for file in std::fs::read_dir(data.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes_checked += bytes.len();
        for secret in &secrets {
            assert!(secret.as_bytes().windows(8).all(|part| bytes.windows(8).all(|window| window != part)));
        }
    }
    assert!(bytes_checked > 4_096);
}

#[test]
fn internal_errors_are_not_shown_to_the_visitor() {
    let error = AccountError::from(StoreError::ForeignDatabase("secret/folder".into()));
    assert!(!error.to_string().contains("folder"), "{error}");
    assert!(matches!(error, AccountError::Store(StoreError::ForeignDatabase(_))));
}
