//! Sign-in with a second step, with a real store.

use std::net::IpAddr;

use tempfile::TempDir;

use crate::SqliteStore;
use crate::account::Email;
use crate::password::Password;
use crate::service::second_factor::*;

const NOON: i64 = 1_795_262_400;
const GOOD: &str = "glacier violin lantern";

fn ada() -> Email {
    "ada@example.com".parse().unwrap()
}

fn home() -> IpAddr {
    "192.0.2.1".parse().unwrap()
}

struct TotpAccount {
    _data: TempDir,
    store: SqliteStore,
    service: Arc<AuthService>,
    visitor: Visitor,
    secret: TotpSecret,
    codes: Vec<RecoveryCode>,
}

impl TotpAccount {
    /// An account that uses an app.
    async fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let service = AuthService::open(data.path(), NOON).unwrap();
        let password = Password::new(GOOD, &ada()).unwrap();
        let session = service.sign_up(ada(), password, home(), NOON).await.unwrap();
        let visitor = service.visitor(&session.token, NOON).await.unwrap().unwrap();
        let secret = TotpSecret::from_bytes([7; 20]);
        let code = format!("{:06}", secret.code(NOON / 30));
        let codes = service.enable_totp(visitor.account.id, secret.clone(), &code, NOON).await.unwrap();
        let store = SqliteStore::open(data.path()).unwrap();
        Self { _data: data, store, service, visitor, secret, codes }
    }

    /// The code at a time in seconds after noon.
    fn code(&self, seconds: i64) -> String {
        format!("{:06}", self.secret.code((NOON + seconds) / 30))
    }

    async fn password(&self, text: &str) -> Result<StartedSession, AccountError> {
        self.service.sign_in(ada(), Secret::new(text), home(), None, None, NOON).await
    }

    /// Enters the right password.
    async fn pending(&self) -> String {
        match self.password(GOOD).await {
            Err(AccountError::CodeRequired(pending)) => pending.reveal().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    async fn enter(&self, pending: &str, code: &str, seconds: i64) -> Result<StartedSession, AccountError> {
        self.service.sign_in_with_code(pending, code, None, NOON + seconds).await
    }
}

#[tokio::test]
async fn sign_in_needs_the_password_and_then_a_code_that_was_not_used() {
    let account = TotpAccount::new().await;
    assert!(matches!(account.password("not that one").await, Err(AccountError::WrongCredentials)));
    assert_eq!(account.store.sessions(account.visitor.account.id, NOON).unwrap().len(), 1);
    let pending = account.pending().await;
    assert_eq!(account.store.sessions(account.visitor.account.id, NOON).unwrap().len(), 1, "not yet signed in");
    // The code that set up the app cannot be used again.
    for wrong in [account.code(0), account.code(-60), account.code(90), "000".to_owned(), String::new()] {
        let refused = account.enter(&pending, &wrong, 0).await;
        assert!(matches!(refused, Err(AccountError::WrongCode)), "{wrong}: {refused:?}");
    }
    let started = account.enter(&pending, &account.code(30), 0).await.unwrap();
    assert!(account.service.visitor(&started.token, NOON).await.unwrap().is_some());
    assert!(matches!(account.enter(&pending, &account.code(30), 1).await, Err(AccountError::WrongCode)));
    account.enter(&pending, &account.code(60), 60).await.unwrap();
}

#[tokio::test]
async fn each_recovery_code_signs_in_once() {
    let account = TotpAccount::new().await;
    assert_eq!(account.codes.len(), 10);
    let pending = account.pending().await;
    let code = account.codes[0].reveal();
    account.enter(&pending, &code, 0).await.unwrap();
    assert!(matches!(account.enter(&pending, &code, 0).await, Err(AccountError::WrongCode)));
    let id = account.visitor.account.id;
    assert_eq!(account.store.account_by_id(id).unwrap().recovery_codes, 9);
    let renewed = account.service.renew_recovery_codes(id).await.unwrap();
    assert!(matches!(account.enter(&pending, &account.codes[5].reveal(), 0).await, Err(AccountError::WrongCode)));
    account.enter(&pending, &renewed[9].reveal(), 0).await.unwrap();
}

#[tokio::test]
async fn the_first_step_is_valid_for_ten_minutes_for_its_account_and_password() {
    let account = TotpAccount::new().await;
    let pending = account.pending().await;
    assert!(matches!(account.enter(&pending, &account.code(600), 600).await, Err(AccountError::SignInExpired)));
    assert!(matches!(account.enter(&pending, "000000", 599).await, Err(AccountError::WrongCode)));
    let secret = &account.service.sign_in_secret;
    let id = account.visitor.account.id;
    let forged = PendingSignIn::sign(id, PasswordVersion(0), NOON, &DerivedSecret::new(&[9; 32], "second step"));
    let mut changed = pending.clone().into_bytes();
    changed[8] = if changed[8] == b'A' { b'B' } else { b'A' };
    for invalid in [forged.reveal(), std::str::from_utf8(&changed).unwrap(), "", "é", &pending[1..], &pending.repeat(2)]
    {
        let refused = account.enter(invalid, &account.code(30), 0).await;
        assert!(matches!(refused, Err(AccountError::SignInExpired)), "{invalid}");
    }
    assert!(PendingSignIn::open(&pending, NOON, secret).is_some());
    assert_eq!(format!("{forged:?}"), "PendingSignIn(…)");
    // A sign-in that waits for a code is void after a change of the password.
    let new = Password::new("seven quiet herons", &ada()).unwrap();
    account.service.change_password(&account.visitor, Secret::new(GOOD), new, NOON).await.unwrap();
    assert!(matches!(account.enter(&pending, &account.code(30), 0).await, Err(AccountError::SignInExpired)));
}

#[tokio::test]
async fn guessed_codes_are_limited_and_do_not_lock_the_password() {
    let account = TotpAccount::new().await;
    let pending = account.pending().await;
    for number in 0..10 {
        let refused = account.enter(&pending, &format!("{number:06}"), 0).await;
        assert!(matches!(refused, Err(AccountError::WrongCode)), "{number}: {refused:?}");
    }
    assert!(matches!(account.enter(&pending, &account.code(30), 0).await, Err(AccountError::Throttled(_))));
    account.pending().await;
}

#[tokio::test]
async fn whoever_knows_the_password_does_not_use_up_recovery_codes_and_known_browsers() {
    let account = TotpAccount::new().await;
    let known = account.enter(&account.pending().await, &account.code(30), 0).await.unwrap().browser;
    let pending = account.pending().await;
    let wrong = RecoveryCode::generate().unwrap().reveal();
    for _ in 0..9 {
        assert!(matches!(account.enter(&pending, "000000", 0).await, Err(AccountError::WrongCode)));
    }
    assert!(matches!(account.enter(&pending, "000000", 0).await, Err(AccountError::Throttled(_))));
    // A recovery code still signs in, and has a limit of its own.
    account.enter(&pending, &account.codes[0].reveal(), 0).await.unwrap();
    for _ in 0..4 {
        assert!(matches!(account.enter(&pending, &wrong, 0).await, Err(AccountError::WrongCode)));
    }
    assert!(matches!(account.enter(&pending, &account.codes[1].reveal(), 0).await, Err(AccountError::Throttled(_))));
    // A known browser has both limits for itself.
    let in_browser = |code: String, browser| {
        let (service, pending) = (Arc::clone(&account.service), pending.clone());
        async move { service.sign_in_with_code(&pending, &code, Some(browser), NOON + 60).await }
    };
    in_browser(account.code(60), known).await.unwrap();
    in_browser(account.codes[1].reveal(), known).await.unwrap();
    let id = account.visitor.account.id;
    let forged = BrowserToken::issue(&DerivedSecret::new(&[9; 32], "known browsers"), id, PasswordVersion(0), NOON);
    assert!(matches!(in_browser(account.code(90), forged).await, Err(AccountError::Throttled(_))));
}

#[tokio::test]
async fn it_is_turned_off_with_password_and_code_or_by_the_operator() {
    let account = TotpAccount::new().await;
    let disable = async |password: &str, code: &str| {
        account.service.disable_totp(&account.visitor, Secret::new(password), code, NOON).await
    };
    let code = account.code(30);
    assert!(matches!(disable("not that one", &code).await, Err(AccountError::WrongPassword)));
    assert!(matches!(disable(GOOD, "000000").await, Err(AccountError::WrongCode)));
    assert!(matches!(account.password(GOOD).await, Err(AccountError::CodeRequired(_))));
    disable(GOOD, &code).await.unwrap();
    account.password(GOOD).await.unwrap();
    assert!(matches!(
        account.service.renew_recovery_codes(account.visitor.account.id).await,
        Err(AccountError::TotpChanged)
    ));
    let id = account.visitor.account.id;
    let enable = async |code: &str| account.service.enable_totp(id, account.secret.clone(), code, NOON).await;
    assert!(matches!(enable("000000").await, Err(AccountError::WrongCode)));
    assert!(matches!(enable(&account.codes[0].reveal()).await, Err(AccountError::WrongCode)));
    enable(&code).await.unwrap();
    assert!(matches!(enable(&code).await, Err(AccountError::TotpChanged)));
    let pending = account.pending().await;
    account.store.disable_totp(id, None).unwrap();
    assert!(matches!(account.enter(&pending, &account.code(0), 0).await, Err(AccountError::WrongCode)));
    account.password(GOOD).await.unwrap();
}
