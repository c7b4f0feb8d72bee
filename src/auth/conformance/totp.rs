//! Authenticator apps and recovery codes.

use crate::account::AccountId;
use crate::conformance::{NOON, OpenStore, ada, email};
use crate::password::hash::PasswordHash;
use crate::quota::Tier;
use crate::totp::{RecoveryCode, TotpSecret};
use crate::{PasswordVersion, StoreError, Totp};

pub(crate) fn codes_are_accepted_once(open: OpenStore<'_>) {
    let store = open();
    let account = ada(&*store, Tier::Free).id;
    let bob = store.create_account(&email("bob@example.com"), Tier::Free, None, NOON).unwrap().id;
    let codes: Vec<_> = (0..4).map(|_| RecoveryCode::generate().unwrap().digest()).collect();
    let totp = Totp { secret: TotpSecret::from_bytes([7; 20]), step: 100 };
    assert_eq!(store.totp(account).unwrap(), None);
    assert!(!store.accept_totp_step(account, 101).unwrap(), "without an app there is no code");
    assert!(matches!(store.renew_recovery_codes(account, &codes), Err(StoreError::TotpDisabled)));
    open().enable_totp(account, &totp, &codes[..2], NOON).unwrap();
    assert_eq!(store.totp(account).unwrap(), Some(totp.clone()));
    let found = open().account_by_id(account).unwrap();
    assert_eq!((found.totp_enabled_at, found.recovery_codes), (Some(NOON), 2));
    let again = store.enable_totp(account, &Totp { step: 1, ..totp.clone() }, &codes[2..], NOON + 1);
    assert!(matches!(again, Err(StoreError::TotpEnabled)), "{again:?}");

    for (step, accepted) in [(100, false), (99, false), (102, true), (102, false), (101, false), (103, true)] {
        assert_eq!(open().accept_totp_step(account, step).unwrap(), accepted, "{step}");
    }
    let handles: Vec<_> = (0..8).map(|_| open()).collect();
    let accepted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = handles
            .into_iter()
            .map(|store| scope.spawn(move || usize::from(store.accept_totp_step(account, 104).unwrap())))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(accepted, 1);

    assert!(!store.use_recovery_code(bob, &codes[0]).unwrap(), "a code of another account");
    assert!(store.use_recovery_code(account, &codes[0]).unwrap());
    assert!(!open().use_recovery_code(account, &codes[0]).unwrap());
    store.renew_recovery_codes(account, &codes[2..]).unwrap();
    assert!(!store.use_recovery_code(account, &codes[1]).unwrap());
    assert!(store.use_recovery_code(account, &codes[2]).unwrap());

    let stale = store.disable_totp(account, Some(PasswordVersion(99)));
    assert!(matches!(stale, Err(StoreError::PasswordChanged)), "{stale:?}");
    assert!(open().disable_totp(account, None).unwrap());
    assert!(!open().disable_totp(account, None).unwrap());
    assert!(!store.use_recovery_code(account, &codes[3]).unwrap());
    assert_eq!(store.totp(account).unwrap(), None);
    // A new password keeps the app, a deletion does not.
    store.enable_totp(account, &totp, &codes, NOON).unwrap();
    store.reset_password(account, &PasswordHash::from_stored("$argon2id$test".to_owned()), false, NOON).unwrap();
    assert_eq!(store.account_by_id(account).unwrap().recovery_codes, 4);
    store.delete_account(account, None, NOON).unwrap();
    for gone in [account, AccountId(99)] {
        assert!(matches!(store.totp(gone), Err(StoreError::AccountGone)));
        assert!(matches!(store.enable_totp(gone, &totp, &codes, NOON), Err(StoreError::AccountGone)));
        assert!(!store.use_recovery_code(gone, &codes[3]).unwrap());
    }
}
