//! What operators see of all accounts.

use crate::auth::account::{AccountId, KeyRef};
use crate::auth::conformance::*;

pub(crate) fn operators_are_made_and_unmade(open: Open<'_>) {
    let store = open();
    let ada = ada(&*store, Tier::Free);
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap();
    assert!(!ada.is_operator && !bob.is_operator);
    assert!(open().set_operator(ada.id, true).unwrap().is_operator);
    assert!(store.set_operator(ada.id, true).unwrap().is_operator);
    // What else happens to the account does not matter.
    store.set_tier(&ada.email, Tier::Pro).unwrap();
    store.verify_account(ada.id, NOON).unwrap();
    assert!(open().account(&ada.email).unwrap().is_operator && !store.account_by_id(bob.id).unwrap().is_operator);
    assert!(!open().set_operator(ada.id, false).unwrap().is_operator);
    assert!(!store.account(&ada.email).unwrap().is_operator);
    assert!(matches!(store.set_operator(AccountId(99), true), Err(StoreError::AccountGone)));
    // Whoever signs up with the address of a deleted operator is none.
    store.set_operator(bob.id, true).unwrap();
    store.delete_account(bob.id, None, NOON).unwrap();
    assert!(!store.create_account(&bob.email, Tier::Free, None, NOON).unwrap().is_operator);
}

pub(crate) fn accounts_and_usage_are_found(open: Open<'_>) {
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
