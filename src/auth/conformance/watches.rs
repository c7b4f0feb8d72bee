//! Saved searches, lists, alerts and their deliveries.

use crate::account::{AccountId, KeyName};
use crate::conformance::{NOON, OpenStore, ada, email};
use crate::quota::Tier;
use crate::watch::{
    AlertId, Delivery, DeliveryResult, DueDeliveries, Evaluation, MAX_LISTED, MAX_WEBHOOKS, NewWatch, Watch,
    WatchChange, WatchId, WebhookChange, WebhookId,
};
use crate::{Store, StoreError};
use data::{Date, SnapshotVersion, Table};

fn version(counter: u32) -> SnapshotVersion {
    format!("2026-11-20.{counter}").parse().unwrap()
}

fn name(text: &str) -> KeyName {
    text.parse().unwrap()
}

fn search(store: &dyn Store, account: AccountId, query: &str) -> Result<Watch, StoreError> {
    let (name, served) = (name("a search"), version(1));
    let watch = NewWatch { name: &name, table: Table::Firms, query: Some(query), records: &[], served };
    store.add_watch(account, watch, NOON)
}

fn list(store: &dyn Store, account: AccountId, records: &[String]) -> Result<Watch, StoreError> {
    let (name, served) = (name("a list"), version(1));
    let watch = NewWatch { name: &name, table: Table::Rounds, query: None, records, served };
    store.add_watch(account, watch, NOON)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// An evaluation of a release after `evaluated`, with news.
fn news(watch: &Watch) -> Evaluation {
    Evaluation {
        watch: watch.id,
        evaluated: watch.evaluated,
        since: watch.evaluated,
        problem: None,
        news: Some((1, "[]".to_owned())),
        moved: Vec::new(),
    }
}

fn ids(due: &[DueDeliveries]) -> Vec<i64> {
    due.iter().flat_map(|due| due.deliveries.iter().map(|delivery| delivery.id.0)).collect()
}

pub(crate) fn searches_and_lists_are_kept(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free).id;
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap().id;
    let watches = &*store;
    let first = search(&*store, account, "country=DE").unwrap();
    assert_eq!((first.table, first.query.as_deref(), first.listed), (Table::Firms, Some("country=DE"), 0));
    assert_eq!((first.evaluated, first.emails, first.webhook), (version(1), false, None));
    let second = list(&*store, account, &texts(&["b", "a", "b"])).unwrap();
    assert_eq!((second.table, second.query.as_deref(), second.listed), (Table::Rounds, None, 2));
    assert_eq!(open().watches(account).unwrap(), [second.clone(), first.clone()]);
    assert_eq!(watches.watches(bob).unwrap(), []);
    assert_eq!(watches.listed(second.id).unwrap(), ["a", "b"]);

    let change = |account: AccountId, id: WatchId, change: WatchChange| watches.change_watch(account, id, change);
    let changed = change(account, second.id, WatchChange::Add(texts(&["c", "a"]))).unwrap();
    assert_eq!(changed.listed, 3);
    change(account, second.id, WatchChange::Remove(texts(&["a", "x"]))).unwrap();
    assert_eq!(watches.listed(second.id).unwrap(), ["b", "c"]);
    let many: Vec<String> = (0..=MAX_LISTED).map(|number| number.to_string()).collect();
    assert!(matches!(change(account, second.id, WatchChange::Add(many.clone())), Err(StoreError::TooManyListed)));
    assert!(matches!(list(&*store, bob, &many), Err(StoreError::TooManyListed)));
    assert_eq!(watches.watches(bob).unwrap(), [], "nothing of it is stored");
    assert_eq!(watches.listed(second.id).unwrap(), ["b", "c"]);
    let renamed = change(account, first.id, WatchChange::Name(name("Germany"))).unwrap();
    assert_eq!(renamed.name, name("Germany"));
    assert_ne!(change(account, first.id, WatchChange::RenewFeed).unwrap().feed, first.feed);

    for unknown in [first.id, WatchId(99)] {
        assert!(matches!(change(bob, unknown, WatchChange::RenewFeed), Err(StoreError::NoSuchWatch)));
        assert!(!watches.delete_watch(bob, unknown).unwrap());
    }
    assert!(matches!(watches.watch(WatchId(99)), Err(StoreError::NoSuchWatch)));
    assert!(matches!(search(&*store, AccountId(99), ""), Err(StoreError::AccountGone)));
    for _ in 2..Tier::Free.watches() {
        search(&*store, account, "").unwrap();
    }
    assert!(matches!(search(&*store, account, ""), Err(StoreError::TooManyWatches { allowed: 20 })));
    assert!(watches.delete_watch(account, first.id).unwrap());
    search(&*store, account, "").unwrap();
    store.delete_account(account, None, NOON).unwrap();
    assert!(matches!(watches.watch(second.id), Err(StoreError::NoSuchWatch)));
    assert_eq!(watches.listed(second.id).unwrap(), Vec::<String>::new());
}

pub(crate) fn an_evaluation_counts_once(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free).id;
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap().id;
    let watches = &*store;
    let own: Vec<Watch> = (0..3).map(|_| search(&*store, account, "").unwrap()).collect();
    let other = list(&*store, bob, &texts(&["a", "b", "c"])).unwrap();
    let none = AccountId(i64::MIN);
    let found = |after, version, limit| {
        let found = watches.unevaluated(after, version, limit).unwrap();
        found.into_iter().map(|watch| watch.id).collect::<Vec<_>>()
    };
    let all = [own[0].id, own[1].id, own[2].id, other.id];
    assert_eq!(found(none, version(2), 100), all);
    assert_eq!(found(none, version(2), 1), all[..3], "an account is not split");
    assert_eq!(found(account, version(2), 1), all[3..]);
    assert_eq!(found(none, version(1), 100), []);

    let quiet = Evaluation { news: None, problem: Some("no such city".to_owned()), ..news(&own[1]) };
    let moved = vec![("a".to_owned(), "b".to_owned()), ("c".to_owned(), "d".to_owned())];
    let evaluations = [news(&own[0]), quiet, Evaluation { moved, ..news(&other) }];
    // Two servers evaluate the same at the same time.
    let handles = [open(), open(), open(), open()];
    let stored: usize = std::thread::scope(|scope| {
        let add = |store: Box<dyn Store>| {
            let evaluations = &evaluations;
            scope.spawn(move || store.add_evaluations(version(2), evaluations, NOON).unwrap())
        };
        let threads: Vec<_> = handles.into_iter().map(add).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(stored, 2);
    assert_eq!(found(none, version(2), 100), [own[2].id]);
    assert_eq!(watches.listed(other.id).unwrap(), ["b", "d"]);
    assert_eq!(watches.watch(own[1].id).unwrap().problem.as_deref(), Some("no such city"));
    let again = Evaluation { evaluated: version(2), since: version(2), ..news(&own[0]) };
    let gone = Evaluation { watch: WatchId(99), ..news(&own[0]) };
    assert_eq!(watches.add_evaluations(version(3), &[again, gone], NOON + 9).unwrap(), 1);

    let alerts = watches.alerts(own[0].id, None, 10).unwrap();
    let versions: Vec<_> = alerts.iter().map(|alert| (alert.since, alert.version, alert.created_at)).collect();
    assert_eq!(versions, [(version(2), version(3), NOON + 9), (version(1), version(2), NOON)]);
    assert_eq!(watches.alerts(own[0].id, Some(alerts[0].id), 10).unwrap(), alerts[1..]);
    assert_eq!(watches.alerts(own[0].id, None, 1).unwrap(), alerts[..1]);
    let after = |account, after| watches.alerts_after(account, None, after, 10).unwrap();
    assert_eq!(after(account, AlertId(0)), [alerts[1].clone(), alerts[0].clone()]);
    assert_eq!(after(account, alerts[1].id), alerts[..1]);
    assert_eq!(after(bob, AlertId(0)).len(), 1);
    let of = |account, watch: WatchId| watches.alerts_after(account, Some(watch), AlertId(0), 10).unwrap();
    assert_eq!(of(account, own[0].id), after(account, AlertId(0)));
    assert_eq!((of(account, own[1].id), of(bob, own[0].id)), (Vec::new(), Vec::new()));
    assert!(watches.delete_watch(account, own[0].id).unwrap());
    assert_eq!(after(account, AlertId(0)), []);
    // Alerts are kept for 90 days.
    let day = |days: i32| Date::from_days(Date::from_unix(NOON).days() + days);
    store.purge(day(90)).unwrap();
    assert_eq!(after(bob, AlertId(0)).len(), 1);
    store.purge(day(91)).unwrap();
    assert_eq!(after(bob, AlertId(0)), []);
}

pub(crate) fn what_is_due_is_claimed_once(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free);
    store.verify_account(account.id, NOON).unwrap();
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap().id;
    let watches = &*store;
    let webhook = watches.add_webhook(account.id, "https://example.com/a", NOON).unwrap();
    let mut own: Vec<Watch> = (0..3).map(|_| search(&*store, account.id, "").unwrap()).collect();
    for watch in &mut own {
        let notify = WatchChange::Notify { emails: true, webhook: Some(webhook.id) };
        *watch = watches.change_watch(account.id, watch.id, notify).unwrap();
    }
    let other = search(&*store, bob, "").unwrap();
    watches.change_watch(bob, other.id, WatchChange::Notify { emails: true, webhook: None }).unwrap();
    let stolen = WatchChange::Notify { emails: false, webhook: Some(webhook.id) };
    assert!(matches!(watches.change_watch(bob, other.id, stolen), Err(StoreError::NoSuchWebhook)));
    let evaluations: Vec<Evaluation> = own.iter().chain([&other]).map(news).collect();
    watches.add_evaluations(version(2), &evaluations, NOON).unwrap();

    let claim = |now: i64| watches.claim_due(now, now + 600, 10, 2).unwrap();
    assert!(ids(&claim(NOON - 1)).is_empty());
    let due = claim(NOON);
    let of = |webhook: Option<WebhookId>, account: AccountId| -> &[Delivery] {
        let of = |due: &&DueDeliveries| due.account == account && due.webhook.as_ref().map(|own| own.id) == webhook;
        due.iter().find(of).map_or(&[], |due| &due.deliveries)
    };
    assert_eq!(due.len(), 3);
    assert_eq!(of(None, account.id).len(), 3, "one e-mail has everything");
    assert_eq!(of(Some(webhook.id), account.id).len(), 2);
    assert!(due.iter().all(|due| due.email.is_some() == (due.account == account.id)), "bob's address is not verified");
    let watched: Vec<_> = of(None, account.id).iter().map(|delivery| delivery.watch.clone()).collect();
    assert_eq!(
        watched.iter().map(|watch| watch.id).collect::<Vec<_>>(),
        own.iter().map(|own| own.id).collect::<Vec<_>>()
    );
    // Claimed messages are due again if they are not settled.
    let last = claim(NOON + 1);
    assert_eq!((last.len(), last[0].deliveries.len()), (1, 1));
    assert!(ids(&claim(NOON + 599)).is_empty());
    assert_eq!(ids(&open().claim_due(NOON + 600, NOON + 700, 1, 9).unwrap()).len(), 3);

    // After a crash, all claimed messages are due at once; in a store that others use, when the claims end.
    let now = match watches.release_claims(NOON + 650).unwrap() {
        0 => NOON + 700,
        released => {
            assert_eq!(released, 7);
            NOON + 650
        }
    };
    assert_eq!(ids(&watches.claim_due(now, now + 50, 10, 9).unwrap()).len(), 7);

    let settle = |delivery: &Delivery, due_at| DeliveryResult { id: delivery.id, outcome: "tried".to_owned(), due_at };
    let webhooks = of(Some(webhook.id), account.id);
    watches.settle(&[settle(&webhooks[0], None), settle(&webhooks[1], Some(NOON + 5_000))]).unwrap();
    let mails: Vec<DeliveryResult> = due
        .iter()
        .flat_map(|due| &due.deliveries)
        .filter(|delivery| !webhooks.iter().any(|other| other.id == delivery.id))
        .map(|delivery| settle(delivery, None))
        .collect();
    watches.settle(&mails).unwrap();
    assert_eq!(ids(&claim(NOON + 4_000)), [last[0].deliveries[0].id.0]);
    let later = claim(NOON + 5_000);
    assert_eq!(ids(&later), [webhooks[1].id.0, last[0].deliveries[0].id.0]);
    assert_eq!(later[0].deliveries[0].attempts, 1);
    assert_eq!(watches.alerts(own[0].id, None, 1).unwrap()[0].outcome.as_deref(), Some("tried; tried"));

    // A stopped webhook gets nothing, not even new alerts, until it goes on.
    watches.put_off(webhook.id, NOON + 9_000).unwrap();
    assert!(ids(&claim(NOON + 8_999)).is_empty());
    let stopped = watches.change_webhook(account.id, webhook.id, WebhookChange::Stop("gone")).unwrap();
    assert_eq!(stopped.stopped.as_deref(), Some("gone"));
    watches.put_off(webhook.id, NOON).unwrap();
    let next = Evaluation { evaluated: version(2), ..news(&own[0]) };
    watches.add_evaluations(version(3), &[next], NOON).unwrap();
    let far = NOON + 1_000_000;
    let due = claim(far);
    assert_eq!((due.len(), due[0].webhook.as_ref()), (1, None));
    watches.change_webhook(account.id, webhook.id, WebhookChange::Resume { now: far }).unwrap();
    let resumed = watches.claim_due(far, far + 1, 9, 9).unwrap();
    assert_eq!(resumed[0].deliveries.iter().map(|delivery| delivery.attempts).collect::<Vec<_>>(), [0, 0, 0]);
    assert!(watches.delete_webhook(account.id, webhook.id).unwrap());
    assert!(ids(&watches.claim_due(far + 10, far + 11, 9, 9).unwrap()).is_empty());
    assert_eq!(watches.watch(own[0].id).unwrap().webhook, None);
}

pub(crate) fn webhooks_are_kept(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free).id;
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap().id;
    let watches = &*store;
    let add = |number: u32| watches.add_webhook(account, &format!("https://example.com/{number}"), NOON);
    let first = add(0).unwrap();
    assert_eq!(add(0).unwrap(), first);
    assert!((1..MAX_WEBHOOKS).all(|number| add(number).is_ok()));
    assert!(matches!(add(99), Err(StoreError::TooManyWebhooks)));
    assert_eq!(open().webhooks(account).unwrap().len(), MAX_WEBHOOKS as usize);
    assert!(matches!(watches.add_webhook(AccountId(99), "https://example.com", NOON), Err(StoreError::AccountGone)));
    let renewed = watches.change_webhook(account, first.id, WebhookChange::RenewSecret { previous_until: NOON + 9 });
    let renewed = renewed.unwrap();
    assert_eq!((renewed.secret, renewed.previous_until), (first.secret + 1, NOON + 9));
    for unknown in [first.id, WebhookId(99)] {
        let change = watches.change_webhook(bob, unknown, WebhookChange::Stop("no"));
        assert!(matches!(change, Err(StoreError::NoSuchWebhook)));
        assert!(!watches.delete_webhook(bob, unknown).unwrap());
    }
    assert!(watches.delete_webhook(account, first.id).unwrap());
    assert_ne!(add(0).unwrap().id, first.id, "another secret");
}
