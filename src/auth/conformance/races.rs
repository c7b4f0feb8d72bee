//! Rules that must hold whatever other processes do at the same time.

use std::collections::{BTreeSet, HashMap};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::account::KeyRef;
use crate::conformance::firms::correction;
use crate::conformance::reviews::{author, decide, operator, submission};
use crate::conformance::*;
use crate::link::{LinkToken, Purpose};
use crate::password::hash::PasswordHash;
use crate::review::{ReviewAction, ReviewState, SavedReview};
use crate::session::{MAX_SESSIONS, NewSession, SessionDigest};
use crate::totp::{RecoveryCode, TotpSecret};
use crate::watch::{AlertId, Evaluation, MAX_WEBHOOKS, NewWatch, WatchChange};
use data::{SnapshotVersion, Table};

const HANDLES: usize = 6;

/// Results of a call that several processes make at the same time, by their number.
fn at_once<T: Send>(open: OpenStore<'_>, call: impl Fn(&dyn Store, usize) -> T + Sync) -> Vec<T> {
    let handles: Vec<_> = (0..HANDLES).map(|_| open()).collect();
    let start = Barrier::new(HANDLES);
    std::thread::scope(|scope| {
        let run = |(number, store): (usize, Box<dyn Store>)| {
            let (start, call) = (&start, &call);
            scope.spawn(move || {
                start.wait();
                call(&*store, number)
            })
        };
        let threads: Vec<_> = handles.into_iter().enumerate().map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn session(number: u8) -> NewSession {
    NewSession { digest: SessionDigest::from_bytes([number; 32]), created_at: NOON, expires_at: NOON + 9_999 }
}

fn hash(text: &str) -> PasswordHash {
    PasswordHash::from_stored(text.to_owned())
}

fn version(counter: u32) -> SnapshotVersion {
    format!("2026-11-20.{counter}").parse().unwrap()
}

fn search<'a>(name: &'a account::KeyName) -> NewWatch<'a> {
    NewWatch { name, table: Table::Firms, query: Some(""), records: &[], served: version(1) }
}

pub(crate) fn one_account_in_a_race(open: OpenStore<'_>) {
    let results = at_once(open, |store, _| store.create_account(&email("ada@example.com"), Tier::Free, None, NOON));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert!(results.iter().all(|result| matches!(result, Ok(_) | Err(StoreError::AccountExists(_)))), "{results:?}");
    let secrets = at_once(open, |store, number| store.cursor_secret([number as u8; 32]).unwrap());
    assert_eq!(secrets.iter().collect::<BTreeSet<_>>().len(), 1, "all servers sign cursors with one secret");
}

pub(crate) fn secrets_are_used_once(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free).id;
    let once = |done: Vec<bool>| assert_eq!(done.iter().filter(|done| **done).count(), 1, "{done:?}");
    let link = LinkToken::generate().unwrap().digest();
    store.add_link(account, Purpose::Verification, &link, NOON + 9).unwrap();
    once(at_once(open, |store, _| match store.verify_by_link(&link, NOON) {
        Err(StoreError::NoSuchLink) => false,
        verified => verified.is_ok_and(|account| account.verified_at == Some(NOON)),
    }));
    store.add_link(account, Purpose::SignIn, &link, NOON + 9).unwrap();
    once(at_once(open, |store, _| match store.use_sign_in_link(&link, NOON) {
        Err(StoreError::NoSuchLink) => false,
        used => used.is_ok_and(|used| used == (account, PasswordVersion(0))),
    }));
    let code = RecoveryCode::generate().unwrap().digest();
    let totp = Totp { secret: TotpSecret::from_bytes([7; 20]), step: 100 };
    once(at_once(open, |store, _| match store.enable_totp(account, &totp, &[code], NOON) {
        Err(StoreError::TotpEnabled) => false,
        enabled => enabled.map(|()| true).unwrap(),
    }));
    once(at_once(open, |store, _| store.use_recovery_code(account, &code).unwrap()));
    // The same step is accepted once, each of several at most once, and the last stays.
    once(at_once(open, |store, _| store.accept_totp_step(account, 101).unwrap()));
    at_once(open, |store, number| store.accept_totp_step(account, 102 + number as i64).unwrap());
    assert_eq!(store.totp(account).unwrap().unwrap().step, 101 + HANDLES as i64);
    // A newer link replaces the one before, also if several are requested.
    let links: Vec<_> = (0..HANDLES).map(|_| LinkToken::generate().unwrap().digest()).collect();
    at_once(open, |store, number| store.add_link(account, Purpose::Reset, &links[number], NOON + 9).unwrap());
    let valid = links.iter().filter(|link| store.account_of_link(Purpose::Reset, link, NOON).is_ok()).count();
    assert_eq!(valid, 1);
}

pub(crate) fn sessions_are_limited(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free).id;
    at_once(open, |store, number| {
        for session_number in 0..8 {
            let session = session((number * 8 + session_number) as u8);
            store.add_session(account, PasswordVersion(0), &session).unwrap();
            store.session_used(&session.digest, NOON + 1).unwrap();
        }
    });
    assert_eq!(store.sessions(account, NOON).unwrap().len(), MAX_SESSIONS as usize);
}

pub(crate) fn no_session_outlives_a_password(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free);
    for round in 0..8_u8 {
        let version = store.credentials(&account.email).unwrap().version;
        at_once(open, |store, number| match number {
            0 => store.set_password(account.id, Some(version), &hash("new"), None).unwrap(),
            number => match store.add_session(account.id, version, &session(round * 8 + number as u8)) {
                Ok(()) | Err(StoreError::PasswordChanged) => {}
                Err(error) => panic!("{error}"),
            },
        });
        assert_eq!(store.sessions(account.id, NOON).unwrap(), [], "round {round}");
    }
    // Nor a block.
    let version = store.credentials(&account.email).unwrap().version;
    at_once(open, |store, number| match number {
        0 => drop(store.set_blocked(account.id, true, NOON).unwrap()),
        number => match store.add_session(account.id, version, &session(100 + number as u8)) {
            Ok(()) | Err(StoreError::AccountBlocked) => {}
            Err(error) => panic!("{error}"),
        },
    });
    assert_eq!(store.sessions(account.id, NOON).unwrap(), []);
}

pub(crate) fn a_lower_tier_keeps_its_limit(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Pro);
    add(&*store, 200, NOON).unwrap();
    for round in 0..4_u8 {
        at_once(open, |store, number| match number {
            0 => drop(store.set_tier(&account.email, Tier::Free)),
            number => drop(add(store, round * 10 + number as u8, NOON)),
        });
        let found = store.account(&account.email).unwrap();
        assert!(found.active_keys <= store.tiers().of(found.tier).keys.unwrap(), "{found:?}");
        store.reset_password(account.id, &hash("x"), false, NOON).unwrap();
        store.set_tier(&account.email, Tier::Pro).unwrap();
    }
}

pub(crate) fn no_key_outlives_its_account(open: OpenStore<'_>) {
    let store = open();
    for round in 0..4_u8 {
        let account = ada(&*store, Tier::Enterprise);
        let first = add(&*store, round * 20, NOON).unwrap();
        at_once(open, |store, number| match number {
            0 => store.delete_account(account.id, None, NOON).unwrap(),
            1 => {
                let used = AddedUsage {
                    key: first.id,
                    counter: first.counter,
                    day: Date::from_unix(NOON - 86_400),
                    requests: 3,
                };
                store.add_usage(&[used], NOON).unwrap();
            }
            2 => match store.revoke_key(KeyRef::Id(first.id), NOON) {
                Ok(_) | Err(StoreError::NoSuchKey) => {}
                Err(error) => panic!("{error}"),
            },
            number => {
                let created =
                    store.create_key(account.id, &"k".parse().unwrap(), &key(round * 20 + number as u8), None, NOON);
                assert!(matches!(created, Ok(_) | Err(StoreError::AccountGone)), "{created:?}");
            }
        });
        assert!(store.changes(0).unwrap().keys.iter().all(|key| key.revoked && key.account.is_none()));
        assert_eq!(store.usage(Date::from_unix(NOON - 86_400)).unwrap(), [], "usage of another day is gone");
        assert_eq!(store.keys(None, Date::from_unix(NOON)).unwrap(), []);
    }
}

pub(crate) fn watches_are_limited(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free).id;
    let name: account::KeyName = "a search".parse().unwrap();
    let added: usize =
        at_once(open, |store, _| (0..6).filter(|_| store.add_watch(account, search(&name), NOON).is_ok()).count())
            .into_iter()
            .sum();
    assert_eq!(added, Tier::Free.watches() as usize);
    at_once(open, |store, number| {
        for webhook in 0..4 {
            let url = format!("https://example.com/{}", number * 4 + webhook);
            let added = store.add_webhook(account, &url, NOON);
            assert!(matches!(added, Ok(_) | Err(StoreError::TooManyWebhooks)), "{added:?}");
        }
    });
    assert_eq!(store.webhooks(account).unwrap().len(), MAX_WEBHOOKS as usize);
    // Lists: each process adds two fifths of the limit of a list.
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap().id;
    let list = NewWatch { query: None, ..search(&name) };
    let list = store.add_watch(bob, list, NOON).unwrap().id;
    let results = at_once(open, |store, number| {
        let records: Vec<String> = (0..4_000).map(|record| format!("{number}-{record}")).collect();
        store.change_watch(bob, list, WatchChange::Add(records)).is_ok()
    });
    assert_eq!(results.iter().filter(|added| **added).count(), 2);
    assert_eq!(store.watch(list).unwrap().listed, 8_000);
}

pub(crate) fn usage_is_complete(open: OpenStore<'_>) {
    let store = open();
    ada(&*store, Tier::Enterprise);
    let keys: Vec<KeyState> = (0..20)
        .map(|number| {
            add(&*store, number, NOON).unwrap();
            state(&*store, number)
        })
        .collect();
    at_once(open, |store, number| {
        for _ in 0..10 {
            let mut added: Vec<AddedUsage> = keys.iter().map(|key| added(*key, NOON, 3)).collect();
            added.extend(keys.iter().map(|key| super::added(*key, NOON, -1)));
            if number % 2 == 0 {
                added.reverse();
            }
            assert_eq!(store.add_usage(&added, NOON).unwrap().len(), 40);
        }
    });
    let usage = store.usage(Date::from_unix(NOON)).unwrap();
    assert_eq!(usage.len(), 20);
    // Given back before they were taken, the first few cannot go below zero.
    assert!(usage.iter().all(|usage| (120..=126).contains(&usage.requests)), "{usage:?}");
}

pub(crate) fn no_change_is_missed(open: OpenStore<'_>) {
    let store = open();
    let accounts: Vec<_> = (0..HANDLES)
        .map(|number| {
            store.create_account(&email(&format!("ada{number}@example.com")), Tier::Enterprise, None, NOON).unwrap()
        })
        .collect();
    let poller = open();
    let is_done = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let is_done = &is_done;
        let polling = scope.spawn(move || {
            let (mut last, mut seen) = (0, HashMap::new());
            loop {
                let is_last = is_done.load(Ordering::Acquire);
                let changes = poller.changes(last).unwrap();
                seen.extend(changes.keys.into_iter().map(|key| (key.id, key)));
                last = changes.last;
                if is_last {
                    return seen;
                }
            }
        });
        at_once(open, |store, number| {
            for round in 0..10 {
                let secret = key((number * 10 + round) as u8);
                let created =
                    store.create_key(accounts[number].id, &"k".parse().unwrap(), &secret, None, NOON).unwrap();
                if round % 2 == 0 {
                    store.revoke_key(KeyRef::Id(created.id), NOON).unwrap();
                }
            }
        });
        is_done.store(true, Ordering::Release);
        polling.join().unwrap()
    });
    let all: HashMap<_, _> = store.changes(0).unwrap().keys.into_iter().map(|key| (key.id, key)).collect();
    assert_eq!(all.len(), HANDLES * 10);
    assert_eq!(seen, all);
}

pub(crate) fn no_alert_is_missed(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free).id;
    let name: account::KeyName = "a search".parse().unwrap();
    let own: Vec<_> = (0..HANDLES).map(|_| store.add_watch(account, search(&name), NOON).unwrap()).collect();
    let reader = open();
    let is_done = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let is_done = &is_done;
        let reading = scope.spawn(move || {
            let mut seen: Vec<AlertId> = Vec::new();
            loop {
                let is_last = is_done.load(Ordering::Acquire);
                let after = seen.last().copied().unwrap_or(AlertId(0));
                let alerts = reader.alerts_after(account, None, after, 1_000).unwrap();
                seen.extend(alerts.iter().map(|alert| alert.id));
                if is_last {
                    return seen;
                }
            }
        });
        at_once(open, |store, number| {
            for release in 1..15 {
                let evaluation = Evaluation {
                    watch: own[number].id,
                    evaluated: version(release),
                    since: version(release),
                    problem: None,
                    news: Some((1, "[]".to_owned())),
                    moved: Vec::new(),
                };
                let added = store.add_evaluations(version(release + 1), &[evaluation], NOON).unwrap();
                assert_eq!(added, 1);
            }
        });
        is_done.store(true, Ordering::Release);
        reading.join().unwrap()
    });
    assert_eq!(seen.len(), HANDLES * 14);
}

pub(crate) fn due_is_claimed_by_one(open: OpenStore<'_>) {
    let store = open();
    let watches = &*store;
    let name: account::KeyName = "a search".parse().unwrap();
    let mut evaluations = Vec::new();
    for number in 0..4 {
        let account =
            store.create_account(&email(&format!("ada{number}@example.com")), Tier::Free, None, NOON).unwrap().id;
        for _ in 0..3 {
            let watch = watches.add_watch(account, search(&name), NOON).unwrap();
            watches.change_watch(account, watch.id, WatchChange::Notify { emails: true, webhook: None }).unwrap();
            evaluations.push(Evaluation {
                watch: watch.id,
                evaluated: version(1),
                since: version(1),
                problem: None,
                news: Some((1, "[]".to_owned())),
                moved: Vec::new(),
            });
        }
    }
    watches.add_evaluations(version(2), &evaluations, NOON).unwrap();
    let claimed = at_once(open, |store, _| store.claim_due(NOON, NOON + 600, 2, 9).unwrap());
    let claimed: Vec<_> = claimed.into_iter().flatten().collect();
    assert_eq!(claimed.iter().map(|due| due.account).collect::<BTreeSet<_>>().len(), 4);
    assert_eq!(claimed.len(), 4, "each account is claimed once");
    assert!(claimed.iter().all(|due| due.deliveries.len() == 3), "one e-mail has everything");
}

pub(crate) fn links_are_claimed_by_one(open: OpenStore<'_>) {
    let store = open();
    for number in 0..12 {
        let email = email(&format!("ada{number}@example.com"));
        store.create_account(&email, Tier::Free, None, NOON).unwrap();
        store.request_link(&email, Purpose::Reset, NOON + 86_400, NOON).unwrap();
    }
    let claimed = at_once(open, |store, _| store.claim_links(NOON, NOON + 600, 9).unwrap());
    let claimed: Vec<_> = claimed.into_iter().flatten().map(|link| link.account.email).collect();
    assert_eq!((claimed.iter().collect::<BTreeSet<_>>().len(), claimed.len()), (12, 12));
}

pub(crate) fn one_review_is_submitted(open: OpenStore<'_>) {
    let store = open();
    let zoe = author(&*store, "zoe");
    let submitted = at_once(open, |store, number| {
        store.save_review(zoe, &submission("alder", &format!("r-{number}")), NOON).map(|review| review.id)
    });
    let reviews = store.reviews_of(zoe).unwrap();
    assert_eq!(reviews.len(), 1, "{submitted:?}");
    assert_eq!(submitted.iter().filter(|result| result.is_ok()).count(), 1, "{submitted:?}");
    assert!(submitted.iter().all(|result| matches!(result, Ok(_) | Err(StoreError::ReviewedAlready))), "{submitted:?}");
    // Under several slugs of one firm, too.
    let slugs: Vec<String> = (0..HANDLES).map(|number| format!("birch-{number}")).collect();
    at_once(open, |store, number| {
        let saved = SavedReview { former_slugs: slugs.clone(), ..submission(&slugs[number], &format!("s-{number}")) };
        store.save_review(zoe, &saved, NOON)
    });
    assert_eq!(store.reviews_of(zoe).unwrap().len(), 2);
}

pub(crate) fn reviews_are_decided_once(open: OpenStore<'_>) {
    let store = open();
    let operators: Vec<_> = (0..HANDLES).map(|number| operator(&*store, &format!("olga{number}"))).collect();
    let mut changes = 0;
    for round in 0..8 {
        let zoe = author(&*store, &format!("zoe{round}"));
        let sent = store.save_review(zoe, &submission("alder", &format!("r-{round}")), NOON).unwrap();
        let results = at_once(open, |store, number| match number {
            0 => {
                let change = SavedReview { id: Some(sent.id), ..submission("alder", "x") };
                store.save_review(zoe, &change, NOON + 1).map(|review| review.state)
            }
            number => {
                let action = if number % 2 == 0 { ReviewAction::Approve } else { ReviewAction::Reject };
                decide(store, operators[number], &sent, action).map(|review| review.state)
            }
        });
        let case = store.review_case(sent.id).unwrap();
        assert!(case.decisions.len() <= 1, "{results:?}");
        let decided = results[1..].iter().filter(|result| result.is_ok()).count();
        assert_eq!(decided, case.decisions.len(), "{results:?}");
        // Either the author was first, then no decision counts; or a decision was, then the change fails or follows a rejection.
        assert!(decided == 1 || results[0].is_ok(), "{results:?}");
        changes += i64::from(case.review.published_at.is_some());
        assert_eq!(case.review.published_at.is_some(), case.review.state == ReviewState::Approved, "{results:?}");
    }
    assert_eq!(store.review_change().unwrap(), changes);
}

pub(crate) fn notices_are_claimed_by_one(open: OpenStore<'_>) {
    let store = open();
    let (olga, zoe) = (operator(&*store, "olga"), author(&*store, "zoe"));
    for number in 0..4 {
        store.claim_firm(author(&*store, &format!("bob{number}")), "alder", true, NOON).unwrap();
    }
    let sent = store.save_review(zoe, &submission("alder", "r-1"), NOON).unwrap();
    decide(&*store, olga, &sent, ReviewAction::Approve).unwrap();
    let claimed = at_once(open, |store, _| store.claim_notices(NOON + 99, NOON + 600, 3).unwrap());
    let ids: Vec<_> = claimed.iter().flatten().map(|notice| notice.id).collect();
    assert_eq!((ids.len(), ids.iter().collect::<BTreeSet<_>>().len()), (4, 4), "{claimed:?}");
    store.claim_firm(zoe, "alder", false, NOON).unwrap();
    let proposed = store.propose_correction(zoe, &correction("alder", "Oslo"), NOON).unwrap();
    let decided = at_once(open, |store, number| {
        let rejection = (number % 2 == 0).then_some("no source");
        store.decide_correction(olga, proposed.id, rejection, NOON).is_ok()
    });
    assert_eq!(decided.iter().filter(|decided| **decided).count(), 1, "{decided:?}");
}
