//! Account operations with a real store.

use std::sync::atomic::Ordering;

use tempfile::TempDir;

use crate::account::KeyRef;
use crate::password::hash::PasswordHash;
use crate::rate_limits::{FAILED_SIGN_INS_OF_ADDRESS, FAILED_SIGN_INS_OF_NETWORK, PASSWORDS_OF_OWNER, SIGN_IN_WINDOW};
use crate::service::accounts::*;
use crate::{AuthError, RateLimitConfig, SqliteStore};

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
    let service = AuthService::open(data.path(), NOON).unwrap();
    (data, store, service)
}

async fn signed_up(service: &Arc<AuthService>) -> (SessionToken, Visitor) {
    let session = service.sign_up(ada(), password(GOOD), home(), NOON).await.unwrap();
    let visitor = service.visitor(&session.token, NOON).await.unwrap().unwrap();
    (session.token, visitor)
}

/// An address in another network for each number.
fn away(network: u8) -> IpAddr {
    IpAddr::from([198, 51, network, 1])
}

async fn sign_in(service: &Arc<AuthService>, text: &str) -> Result<StartedSession, AccountError> {
    service.sign_in(ada(), secret(text), home(), None, None, NOON).await
}

#[tokio::test]
async fn sign_up_starts_a_session_and_allows_sign_in() {
    let (_data, store, service) = service();
    let (token, visitor) = signed_up(&service).await;
    assert_eq!((visitor.account.email.clone(), visitor.account.tier), (ada(), Tier::Free));
    assert_eq!(visitor.expires_at, NOON + 30 * 86_400);
    assert_eq!(store.account(&ada()).unwrap(), visitor.account);

    let second = sign_in(&service, GOOD).await.unwrap();
    assert_ne!(second.token.digest(), token.digest());
    service.sign_out(&token, NOON).await.unwrap();
    service.sign_out(&token, NOON).await.unwrap();
    assert_eq!(service.visitor(&token, NOON).await.unwrap(), None);
    assert!(service.visitor(&second.token, NOON).await.unwrap().is_some());
    for day in (6..30).step_by(6) {
        assert!(service.visitor(&second.token, NOON + day * 86_400).await.unwrap().is_some());
    }
    assert!(service.visitor(&second.token, second.expires_at - 1).await.unwrap().is_some());
    assert_eq!(service.visitor(&second.token, second.expires_at).await.unwrap(), None);
    let invented = SessionToken::from_seed([1; 32]);
    assert_eq!(service.visitor(&invented, NOON).await.unwrap(), None);
}

#[tokio::test]
async fn a_session_that_is_not_used_for_a_week_ends() {
    let (_data, _store, service) = service();
    let (token, visitor) = signed_up(&service).await;
    let is_valid = async |now: i64| service.visitor(&token, now).await.unwrap().is_some();
    let last_used = || service.store().sessions(visitor.account.id, NOON).unwrap()[0].last_used_at;
    assert!(is_valid(NOON + 3_599).await);
    assert_eq!(last_used(), NOON, "a use is written once an hour");
    assert!(is_valid(NOON + 3_600).await);
    assert_eq!(last_used(), NOON + 3_600);
    assert!(is_valid(NOON + 3_600 + 7 * 86_400 - 1).await);
    assert!(is_valid(NOON + 10 * 86_400).await, "the use before counts");
    assert!(!is_valid(NOON + 17 * 86_400).await);
}

#[tokio::test]
async fn a_password_confirms_its_session_for_four_hours() {
    let (_data, _store, service) = service();
    let (token, _) = signed_up(&service).await;
    let other = sign_in(&service, GOOD).await.unwrap().token;
    let visitor = async |token: &SessionToken, now: i64| service.visitor(token, now).await.unwrap().unwrap();
    let hours = |hours: i64| NOON + hours * 3_600;
    assert!(visitor(&token, hours(4) - 1).await.is_confirmed(hours(4) - 1));
    let stale = visitor(&token, hours(4)).await;
    assert!(!stale.is_confirmed(hours(4)), "use of the session does not confirm it");
    let wrong = service.confirm(&stale, secret(OTHER), hours(4)).await;
    assert!(matches!(wrong, Err(AccountError::WrongPassword)), "{wrong:?}");
    assert!(!visitor(&token, hours(4)).await.is_confirmed(hours(4)));
    service.confirm(&stale, secret(GOOD), hours(4)).await.unwrap();
    assert!(visitor(&token, hours(8) - 1).await.is_confirmed(hours(8) - 1));
    assert!(!visitor(&other, hours(4)).await.is_confirmed(hours(4)), "only this session");
    let started = service.change_password(&stale, secret(GOOD), password(OTHER), hours(9)).await.unwrap();
    assert!(visitor(&started.token, hours(9)).await.is_confirmed(hours(9)));
    let ended = service.confirm(&stale, secret(OTHER), hours(9)).await;
    assert!(matches!(ended, Err(AccountError::SignedOut)), "{ended:?}");
}

#[tokio::test]
async fn sessions_are_listed_ended_and_limited() {
    let (_data, _store, service) = service();
    let (token, visitor) = signed_up(&service).await;
    let account = visitor.account.id;
    let mut tokens = vec![token];
    for _ in 1..20 {
        tokens.push(sign_in(&service, GOOD).await.unwrap().token);
    }
    let listed = service.store().sessions(account, NOON).unwrap();
    let digests = |tokens: &[SessionToken]| tokens.iter().rev().map(SessionToken::digest).collect::<Vec<_>>();
    assert_eq!(listed.iter().map(|session| session.digest).collect::<Vec<_>>(), digests(&tokens));
    tokens.push(sign_in(&service, GOOD).await.unwrap().token);
    let listed = service.store().sessions(account, NOON).unwrap();
    assert_eq!(listed.iter().map(|session| session.digest).collect::<Vec<_>>(), digests(&tokens[1..]));

    let last = listed[0].id;
    service.end_session(AccountId(99), last).await.unwrap();
    assert!(service.visitor(&tokens[20], NOON).await.unwrap().is_some(), "another account cannot end it");
    service.end_session(account, last).await.unwrap();
    assert_eq!(service.visitor(&tokens[20], NOON).await.unwrap(), None);
    assert_eq!(service.store().sessions(account, NOON).unwrap().len(), 19);
}

#[tokio::test]
async fn a_session_survives_a_restart_and_is_deleted_after_it_expired() {
    let (data, store, service) = service();
    let (token, visitor) = signed_up(&service).await;
    drop(service);
    let passed = Arc::default();
    let service = AuthService::open_at(data.path(), NOON + 1, &passed).unwrap();
    assert_eq!(service.visitor(&token, NOON + 1).await.unwrap(), Some(visitor.clone()));
    passed.store(30 * 86_400, Ordering::Relaxed);
    service.flush(visitor.expires_at).unwrap();
    assert_eq!(store.session(&token.digest(), NOON).unwrap(), None);
}

#[tokio::test]
async fn sign_up_with_a_registered_address_does_not_reveal_the_account() {
    let (_data, store, service) = service();
    signed_up(&service).await;
    let before = store.credentials(&ada()).unwrap();
    let rejected = service.sign_up(ada(), password(OTHER), home(), NOON).await.unwrap_err();
    assert!(matches!(rejected, AccountError::NotCreated), "{rejected:?}");
    let message = rejected.to_string();
    assert!(message.contains("sign in") && !message.contains("ada") && !message.contains("exists"), "{message}");
    assert_eq!(store.credentials(&ada()).unwrap(), before);
    assert!(sign_in(&service, OTHER).await.is_err());
}

#[tokio::test]
async fn wrong_password_unknown_address_and_no_password_have_the_same_error_and_the_same_work() {
    let (_data, store, service) = service();
    signed_up(&service).await;
    let bob: Email = "bob@example.com".parse().unwrap();
    store.create_account(&bob, Tier::Free, None, NOON).unwrap();
    let nobody: Email = "nobody@example.com".parse().unwrap();
    let mut errors = Vec::new();
    for (index, email) in [ada(), bob, nobody].into_iter().enumerate() {
        let rejected = service.sign_in(email, secret(OTHER), home(), None, None, NOON).await.unwrap_err();
        assert_eq!(service.hasher.verified(), index as u64 + 1);
        assert!(matches!(rejected, AccountError::WrongCredentials), "{rejected:?}");
        errors.push(rejected.to_string());
    }
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    // An account without a password has no valid one, not even the empty text.
    assert!(service.sign_in("bob@example.com".parse().unwrap(), secret(""), home(), None, None, NOON).await.is_err());
    assert!(service.sign_in(ada(), secret(&"x".repeat(5_000)), home(), None, None, NOON).await.is_err());
    assert_eq!(service.hasher.verified(), 5);
}

#[tokio::test]
async fn failed_sign_ins_are_limited_by_account_whether_it_exists_or_not() {
    let (_data, _, service) = service();
    signed_up(&service).await;
    let nobody: Email = "nobody@example.com".parse().unwrap();
    let mut host = 0;
    for email in [ada(), nobody] {
        let mut away = || {
            host += 1;
            IpAddr::from([198, 51, 100, host])
        };
        for _ in 0..FAILED_SIGN_INS_OF_NETWORK {
            let rejected = service.sign_in(email.clone(), secret(OTHER), away(), None, None, NOON).await.unwrap_err();
            assert!(matches!(rejected, AccountError::WrongCredentials), "{rejected:?}");
        }
        let verified = service.hasher.verified();
        let rejected = service.sign_in(email.clone(), secret(GOOD), away(), None, None, NOON + 60).await.unwrap_err();
        assert_eq!(rejected.retry_after(), Some(RetryAfter { seconds: u64::from(SIGN_IN_WINDOW) - 60 }));
        assert_eq!(rejected.to_string(), "too many attempts: wait 14 minutes and try again");
        assert_eq!(service.hasher.verified(), verified, "the password was not verified");
    }
    let later = NOON + i64::from(SIGN_IN_WINDOW);
    assert!(service.sign_in(ada(), secret(GOOD), home(), None, None, later).await.is_ok());
}

#[tokio::test]
async fn successful_sign_ins_are_not_limited() {
    let (_data, _, service) = service();
    signed_up(&service).await;
    for _ in 0..2 * FAILED_SIGN_INS_OF_NETWORK {
        sign_in(&service, GOOD).await.unwrap();
    }
}

#[tokio::test]
async fn sign_ups_are_limited_by_address_including_those_that_create_no_account() {
    let data = tempfile::tempdir().unwrap();
    let rate_limits = RateLimitConfig { sign_ups_per_hour: 3, ..RateLimitConfig::default() };
    let service = AuthService::open_with(data.path(), rate_limits, NOON).unwrap();
    signed_up(&service).await;
    for _ in 0..2 {
        let rejected = service.sign_up(ada(), password(GOOD), home(), NOON).await;
        assert!(matches!(rejected, Err(AccountError::NotCreated)));
    }
    let zoe: Email = "zoe@example.com".parse().unwrap();
    let rejected = service.sign_up(zoe.clone(), password(GOOD), home(), NOON + 10).await.unwrap_err();
    assert_eq!(rejected.retry_after(), Some(RetryAfter { seconds: 3_590 }));
    assert!(service.sign_up(zoe.clone(), password(GOOD), "192.0.2.2".parse().unwrap(), NOON).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_concurrent_sign_ups_of_one_address_one_succeeds() {
    let data = tempfile::tempdir().unwrap();
    let rate_limits = RateLimitConfig { sign_ups_per_hour: 100, ..RateLimitConfig::default() };
    let service = AuthService::open_with(data.path(), rate_limits, NOON).unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let service = service.clone();
            tokio::spawn(async move { service.sign_up(ada(), password(GOOD), home(), NOON).await })
        })
        .collect();
    let mut created = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => created += 1,
            Err(error) => assert!(matches!(error, AccountError::NotCreated), "{error:?}"),
        }
    }
    assert_eq!((created, service.store().accounts().unwrap().len()), (1, 1));
}

#[tokio::test]
async fn attempts_refused_for_load_count_for_their_client_and_owners_wait() {
    let (_data, _, service) = service();
    let started = service.sign_up(ada(), password(GOOD), away(99), NOON).await.unwrap();
    let visitor = service.visitor(&started.token, NOON).await.unwrap().unwrap();
    let full = service.hasher.queue.fill().await;
    for _ in 0..FAILED_SIGN_INS_OF_ADDRESS {
        assert!(matches!(sign_in(&service, GOOD).await, Err(AccountError::InLine(_))));
    }
    assert!(matches!(sign_in(&service, GOOD).await, Err(AccountError::Throttled(_))));
    for number in 0..6 {
        let email: Email = format!("zoe{number}@example.com").parse().unwrap();
        let refused = service.sign_up(email, password(GOOD), home(), NOON).await.unwrap_err();
        assert_eq!(matches!(refused, AccountError::Busy(_)), number < 5, "{number}: {refused}");
    }
    // Owners wait for a turn.
    let (known, owner) = (Some(started.browser), service.clone());
    let signed_in =
        tokio::spawn(async move { owner.sign_in(ada(), secret(GOOD), home(), known, None, NOON).await.is_ok() });
    while service.password_queue().waiting == 0 {
        tokio::task::yield_now().await;
    }
    drop(full);
    assert!(signed_in.await.unwrap());
    assert!(service.change_password(&visitor, secret(GOOD), password(OTHER), NOON).await.is_ok());
    let neighbor: IpAddr = "192.0.2.2".parse().unwrap();
    assert!(
        service.sign_in(ada(), secret(OTHER), neighbor, None, None, NOON).await.is_ok(),
        "nothing was guessed of the account"
    );
}

#[tokio::test]
async fn an_attempt_that_waited_in_vain_gets_its_place_back() {
    let (_data, _, service) = service();
    signed_up(&service).await;
    let full = service.hasher.queue.fill().await;
    let Err(AccountError::InLine(ticket)) = sign_in(&service, GOOD).await else { panic!("it does not wait") };
    drop(full);
    let again = service.sign_in(ada(), secret(GOOD), home(), None, Some(ticket.reveal()), NOON + 9).await;
    assert!(again.is_ok());
    assert_eq!(service.sign_in_tickets.redeem(ticket.reveal(), NOON + 9), None, "it is used");
}

/// Wrong passwords from twenty networks.
async fn attacked(service: &Arc<AuthService>) {
    let mut guesses = 0;
    for network in 0..20 {
        loop {
            match service.sign_in(ada(), secret("wrong"), away(network), None, None, NOON).await.unwrap_err() {
                AccountError::WrongCredentials => guesses += 1,
                rejected => break assert!(matches!(rejected, AccountError::Throttled(_)), "{rejected:?}"),
            }
        }
    }
    assert_eq!(guesses, 50);
    assert!(matches!(
        service.sign_in(ada(), secret(GOOD), home(), None, None, NOON).await,
        Err(AccountError::Throttled(_))
    ));
}

#[tokio::test]
async fn strangers_do_not_lock_out_an_owner_with_a_session_or_a_known_browser() {
    let (_data, _, service) = service();
    let started = service.sign_up(ada(), password(GOOD), home(), NOON).await.unwrap();
    let visitor = service.visitor(&started.token, NOON).await.unwrap().unwrap();
    attacked(&service).await;
    let sign_in = |text, browser| service.sign_in(ada(), secret(text), home(), Some(browser), None, NOON);
    let again = sign_in(GOOD, started.browser).await.unwrap();
    assert!(sign_in(GOOD, again.browser).await.is_ok());

    let changed = service.change_password(&visitor, secret(GOOD), password(OTHER), NOON).await.unwrap();
    let rejected = sign_in(OTHER, started.browser).await;
    assert!(matches!(rejected, Err(AccountError::Throttled(_))), "another password makes browsers unknown");
    assert!(sign_in(OTHER, changed.browser).await.is_ok());
    let visitor = service.visitor(&changed.token, NOON).await.unwrap().unwrap();
    assert!(service.delete_account(&visitor, secret(OTHER), NOON).await.is_ok());
}

#[tokio::test]
async fn guesses_from_five_networks_do_not_lock_out_a_new_browser_in_another() {
    let (_data, _, service) = service();
    signed_up(&service).await;
    for guess in 0..50 {
        let _ = service.sign_in(ada(), secret("wrong"), away(guess / 10), None, None, NOON).await.unwrap_err();
    }
    assert!(matches!(sign_in(&service, OTHER).await, Err(AccountError::WrongCredentials)), "with a slip");
    assert!(sign_in(&service, GOOD).await.is_ok());
}

#[tokio::test]
async fn guesses_from_one_network_do_not_lock_out_another() {
    let (_data, _, service) = service();
    signed_up(&service).await;
    for _ in 0..2 * FAILED_SIGN_INS_OF_NETWORK {
        assert!(service.sign_in(ada(), secret("wrong"), away(1), None, None, NOON).await.is_err());
    }
    assert!(sign_in(&service, GOOD).await.is_ok());
}

#[tokio::test]
async fn guesses_in_a_known_browser_are_limited_and_do_not_lock_out_sessions_and_strangers() {
    let (_data, _, service) = service();
    let started = service.sign_up(ada(), password(GOOD), home(), NOON).await.unwrap();
    let visitor = service.visitor(&started.token, NOON).await.unwrap().unwrap();
    let zoe: Email = "zoe@example.com".parse().unwrap();
    let foreign = service.sign_up(zoe, password(GOOD), home(), NOON).await.unwrap().browser;
    let guesses = async |browser| {
        for guess in 0.. {
            let rejected =
                service.sign_in(ada(), secret("wrong"), away(1), Some(browser), None, NOON).await.unwrap_err();
            if matches!(rejected, AccountError::Throttled(_)) {
                return guess;
            }
        }
        unreachable!()
    };
    assert_eq!(guesses(started.browser).await, PASSWORDS_OF_OWNER + FAILED_SIGN_INS_OF_NETWORK);
    assert_eq!(guesses(foreign).await, 0, "the browser of another account is a stranger's");
    assert!(sign_in(&service, GOOD).await.is_ok());
    assert!(service.delete_account(&visitor, secret(GOOD), NOON).await.is_ok());
}

#[tokio::test]
async fn changing_the_password_ends_the_other_sessions() {
    let (_data, store, service) = service();
    let (token, visitor) = signed_up(&service).await;
    let other = sign_in(&service, GOOD).await.unwrap().token;
    let change = |current: &str, new: &str| {
        let (service, visitor, current, new) = (service.clone(), visitor.clone(), secret(current), password(new));
        async move { service.change_password(&visitor, current, new, NOON).await }
    };
    let before = store.credentials(&ada()).unwrap();
    assert!(matches!(change(OTHER, GOOD).await, Err(AccountError::WrongPassword)));
    assert!(matches!(change(GOOD, GOOD).await, Err(AccountError::SamePassword)));
    assert_eq!(store.credentials(&ada()).unwrap(), before);
    assert!(service.visitor(&other, NOON).await.unwrap().is_some());

    let renewed = change(GOOD, OTHER).await.unwrap().token;
    assert!(service.visitor(&renewed, NOON).await.unwrap().is_some());
    for ended in [&token, &other] {
        assert_eq!(service.visitor(ended, NOON).await.unwrap(), None, "a copied token is worthless too");
    }
    assert!(matches!(sign_in(&service, GOOD).await, Err(AccountError::WrongCredentials)));
    assert!(sign_in(&service, OTHER).await.is_ok());
}

#[tokio::test]
async fn guesses_of_the_current_password_are_limited_by_session() {
    let (_data, _, service) = service();
    let (_, visitor) = signed_up(&service).await;
    for round in 0..PASSWORDS_OF_OWNER {
        let rejected = match round % 2 {
            0 => service.change_password(&visitor, secret("wrong"), password(OTHER), NOON).await.map(drop),
            _ => service.delete_account(&visitor, secret("wrong"), NOON).await,
        };
        assert!(matches!(rejected, Err(AccountError::WrongPassword)));
    }
    let rejected = service.delete_account(&visitor, secret(GOOD), NOON).await;
    assert!(matches!(rejected, Err(AccountError::Throttled(_))));
    let other = sign_in(&service, GOOD).await.unwrap().token;
    let other = service.visitor(&other, NOON).await.unwrap().unwrap();
    assert!(service.delete_account(&other, secret(GOOD), NOON).await.is_ok());
}

#[tokio::test]
async fn a_deleted_account_is_removed_and_its_keys_are_revoked_at_once() {
    let (data, store, _) = service();
    let passed = Arc::default();
    let service = AuthService::open_at(data.path(), NOON, &passed).unwrap();
    let (token, visitor) = signed_up(&service).await;
    let key = service.create_key(visitor.account.id, "test".parse().unwrap(), None, NOON).await.unwrap().key;
    let header = format!("Bearer {}", key.reveal());
    let caller = service.authenticate(Some(&header), NOON).unwrap();
    service.take(&caller, data::Date::from_unix(NOON)).unwrap();
    assert!(matches!(service.delete_account(&visitor, secret(OTHER), NOON).await, Err(AccountError::WrongPassword)));
    service.delete_account(&visitor, secret(GOOD), NOON).await.unwrap();
    assert_eq!(service.authenticate(Some(&header), NOON), Err(AuthError::Revoked));
    assert_eq!(service.visitor(&token, NOON).await.unwrap(), None);
    assert!(store.accounts().unwrap().is_empty());
    service.flush(NOON).unwrap();
    assert_eq!(store.usage(data::Date::from_unix(NOON)).unwrap().len(), 1, "without a name, until the day is over");
    passed.store(86_400, Ordering::Relaxed);
    service.flush(NOON + 86_400).unwrap();
    assert!(store.usage(data::Date::from_unix(NOON)).unwrap().is_empty());
    assert!(matches!(store.revoke_key(KeyRef::Digest(key.digest()), NOON), Err(StoreError::NoSuchKey)));
    // Its former visitor can change nothing, not even a new account of the address.
    let new = service.sign_up(ada(), password(GOOD), home(), NOON).await.unwrap();
    for rejected in [
        service.delete_account(&visitor, secret(GOOD), NOON).await,
        service.change_password(&visitor, secret(GOOD), password(OTHER), NOON).await.map(drop),
        service.create_key(visitor.account.id, "test".parse().unwrap(), None, NOON).await.map(|_| ()),
    ] {
        assert!(matches!(rejected, Err(AccountError::SignedOut)), "{rejected:?}");
    }
    assert!(service.visitor(&new.token, NOON).await.unwrap().is_some());
}

#[tokio::test]
async fn an_outdated_hash_is_replaced_by_the_next_sign_in() {
    let (_data, store, service) = service();
    let old = PasswordHash::outdated(&secret(GOOD));
    assert!(old.is_outdated());
    store.create_account(&ada(), Tier::Free, Some(&old), NOON).unwrap();
    assert!(sign_in(&service, OTHER).await.is_err());
    assert_eq!(store.credentials(&ada()).unwrap().password, Some(old.clone()));
    let session = sign_in(&service, GOOD).await.unwrap().token;
    let renewed = store.credentials(&ada()).unwrap().password.unwrap();
    assert!(renewed != old && !renewed.is_outdated());
    assert!(service.visitor(&session, NOON).await.unwrap().is_some());
    assert!(sign_in(&service, GOOD).await.is_ok());
    assert_eq!(store.credentials(&ada()).unwrap().password, Some(renewed));
}

#[tokio::test]
async fn no_password_and_no_session_token_is_stored_in_the_files() {
    let (data, _store, service) = service();
    let (token, visitor) = signed_up(&service).await;
    service.change_password(&visitor, secret(GOOD), password(OTHER), NOON).await.unwrap();
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
