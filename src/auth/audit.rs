//! The audit log: one JSON line for each sign-in, refusal and change of an account, a key or a review.
//!
//! Accounts and keys are named by their numbers, never by e-mail address, name or secret. A client address is a
//! pseudonym: a keyed hash whose secret is random in each process and derived for each day, so that lines of one day
//! can be compared, and nothing else.
//!
//! The log is not the store: a line that cannot be written is reported once, and the operation goes on.

use std::collections::HashSet;
use std::fs::File;
use std::future::Future;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value;

use crate::account::{AccountId, KeyId};
use crate::quota::{Client, ClientHasher, Tier, WindowCounter};
use crate::review::{ReviewAction, ReviewId};
use crate::service::random;
use crate::{AccountError, AuthError, LogFile, StoreResult};
use data::vocabulary::{Vocabulary, vocabulary};
use data::{Date, rfc3339};

/// Refusals written per second, about 20 KB; others are only counted, so that nobody can fill the disk with them.
const MAX_REFUSALS: u32 = 100;

/// Rejected keys of one client within an hour before a line is written: fewer may be typing errors.
const REJECTED_KEYS: u32 = 10;
/// 65,536 entries, 0.9 MB.
const REJECTED_KEY_BUCKETS: usize = 1 << 12;

/// Bytes of the log that are read for an owner, from its end: about 300,000 lines.
const READ_BYTES: u64 = 64 * 1024 * 1024;

tokio::task_local! {
    static ORIGIN: RequestOrigin;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOrigin {
    pub request: String,
    pub address: IpAddr,
}

/// Runs a request; events that it causes are logged with its origin.
pub async fn scope<F: Future>(origin: RequestOrigin, work: F) -> F::Output {
    ORIGIN.scope(origin, work).await
}

/// Origin of the running request, for work that outlives it.
pub(crate) fn origin() -> Option<RequestOrigin> {
    ORIGIN.try_with(RequestOrigin::clone).ok()
}

vocabulary! {
    AuditEvent, "event", {
        SignIn = "sign_in",
        SignUp = "sign_up",
        /// The owner signed out, or ended the session on the account page.
        SessionEnd = "session_end",
        PasswordChange = "password_change",
        /// The password was requested again before a sensitive change.
        PasswordConfirmation = "password_confirmation",
        /// By an operator; otherwise it is a sign-up.
        AccountCreation = "account_creation",
        AccountVerification = "account_verification",
        /// A link by which the owner of a new account chooses its password.
        Invitation = "invitation",
        AccountDeletion = "account_deletion",
        AccountBlock = "account_block",
        AccountUnblock = "account_unblock",
        /// A link that signs in; its use is a sign-in.
        SignInLinkRequest = "sign_in_link_request",
        /// By the link of an e-mail, as the next two.
        AddressVerification = "address_verification",
        PasswordResetRequest = "password_reset_request",
        PasswordReset = "password_reset",
        TotpActivation = "totp_activation",
        TotpDeactivation = "totp_deactivation",
        RecoveryCodeUse = "recovery_code_use",
        RecoveryCodeRenewal = "recovery_code_renewal",
        KeyCreation = "key_creation",
        /// The key is the rotated one.
        KeyRotation = "key_rotation",
        KeyRevocation = "key_revocation",
        TierChange = "tier_change",
        OperatorGrant = "operator_grant",
        OperatorRevocation = "operator_revocation",
        ReviewSubmission = "review_submission",
        ReviewWithdrawal = "review_withdrawal",
        ReviewDeletion = "review_deletion",
        /// By an operator.
        ReviewDecision = "review_decision",
        ReviewReport = "review_report",
        /// The firm's answer, stored or removed; `account` wrote it.
        ReviewReply = "review_reply",
        /// By an operator, where reviews are by invitation.
        ReviewerGrant = "reviewer_grant",
        ReviewerRevocation = "reviewer_revocation",
        FirmClaim = "firm_claim",
        /// By an operator, on a correction that a firm proposed.
        CorrectionDecision = "correction_decision",
        QuotaReached = "quota_reached",
        /// A client has sent [`REJECTED_KEYS`] keys that are not accepted.
        KeysRejected = "keys_rejected",
        RefusalsDropped = "refusals_dropped",
    }
}

#[derive(Clone, Copy, Debug)]
pub struct AuditEntry {
    pub event: AuditEvent,
    pub account: Option<AccountId>,
    pub key: Option<KeyId>,
    /// The new tier.
    pub tier: Option<Tier>,
    /// True if a command of the operator caused it.
    pub by_operator: bool,
    /// Account of the operator who caused it on a page.
    pub operator: Option<AccountId>,
    pub review: Option<ReviewId>,
    /// The operator's decision on the review.
    pub action: Option<ReviewAction>,
}

impl AuditEntry {
    pub fn new(event: AuditEvent, account: Option<AccountId>) -> Self {
        Self { event, account, key: None, tier: None, by_operator: false, operator: None, review: None, action: None }
    }
}

#[derive(Default, Serialize)]
struct LoggedEvent<'a> {
    time: String,
    event: &'static str,
    /// `ok`, or the reason for the refusal.
    outcome: &'a str,
    account: Option<i64>,
    key: Option<i64>,
    request: Option<&'a str>,
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operator: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    review: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
}

pub struct AuditLog {
    hasher: ClientHasher,
    /// Returns Unix seconds.
    clock: fn() -> i64,
    rejected_keys: WindowCounter,
    /// `None` if the log is no file.
    pub(crate) path: Option<PathBuf>,
    out: Mutex<AuditOutput>,
}

struct AuditOutput {
    file: LogFile,
    /// The second in which `refusals` were written and `dropped` were not.
    second: i64,
    refusals: u32,
    dropped: u32,
    /// Keys with a used-up quota on the day.
    reached: (Option<Date>, HashSet<KeyId>),
}

impl AuditLog {
    pub fn open(path: &Path, clock: fn() -> i64) -> io::Result<Self> {
        let log = Self::with_file(LogFile::open("audit log", path)?, clock).map_err(io::Error::other)?;
        let path = (path.as_os_str() != "-").then(|| path.to_owned());
        Ok(Self { path, ..log })
    }

    fn with_file(file: LogFile, clock: fn() -> i64) -> StoreResult<Self> {
        let reached = (None, HashSet::new());
        let out = AuditOutput { file, second: 0, refusals: 0, dropped: 0, reached };
        let hasher = ClientHasher::new(&random()?);
        let rejected_keys = WindowCounter::new(3_600, hasher.clone(), REJECTED_KEY_BUCKETS);
        Ok(Self { hasher, clock, rejected_keys, path: None, out: Mutex::new(out) })
    }

    fn lock(&self) -> MutexGuard<'_, AuditOutput> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self, entry: AuditEntry, refusal: Option<&AccountError>) {
        self.write_at(self.now(), entry, origin().as_ref(), refusal.map_or("ok", AccountError::outcome));
    }

    /// Unix seconds.
    pub(crate) fn now(&self) -> i64 {
        (self.clock)()
    }

    pub(crate) fn quota_reached(
        &self,
        now: i64,
        account: Option<AccountId>,
        key: KeyId,
        origin: impl FnOnce() -> RequestOrigin,
    ) {
        let today = Some(Date::from_unix(now));
        {
            let mut out = self.lock();
            if out.reached.0 != today {
                out.reached = (today, HashSet::new());
            }
            if !out.reached.1.insert(key) {
                return;
            }
        }
        let entry = AuditEntry { key: Some(key), ..AuditEntry::new(AuditEvent::QuotaReached, account) };
        self.write_at(now, entry, Some(&origin()), "ok");
    }

    /// Logs, once an hour, that the keys of a client are not accepted, when it has sent [`REJECTED_KEYS`].
    pub(crate) fn key_rejected(&self, now: i64, error: AuthError, origin: &RequestOrigin) {
        let client = Client::Address(origin.address);
        if self.rejected_keys.take(&client, REJECTED_KEYS, now) == Ok(REJECTED_KEYS) {
            self.write_at(now, AuditEntry::new(AuditEvent::KeysRejected, None), Some(origin), error.code());
        }
    }

    fn write_at(&self, now: i64, entry: AuditEntry, origin: Option<&RequestOrigin>, outcome: &str) {
        let AuditEntry { event, account, key, tier, by_operator, operator, review, action } = entry;
        let line = LoggedEvent {
            time: rfc3339(now),
            event: event.name(),
            outcome,
            account: account.map(|account| account.0),
            key: key.map(|key| key.0),
            request: origin.map(|origin| origin.request.as_str()),
            address: origin.map(|origin| {
                // The day's hash of the address; for IPv6, of its /64.
                let hasher = self.hasher.derived(&Date::from_unix(now).days().to_be_bytes());
                format!("{:016x}", hasher.client(&Client::Address(origin.address)))
            }),
            tier: tier.map(Tier::name),
            by: (by_operator || operator.is_some()).then_some("operator"),
            operator: operator.map(|operator| operator.0),
            review: review.map(|review| review.0),
            action: action.map(ReviewAction::name),
            count: None,
        };
        let mut out = self.lock();
        if out.second != now {
            if out.dropped > 0 {
                let dropped = LoggedEvent {
                    time: rfc3339(out.second),
                    event: AuditEvent::RefusalsDropped.name(),
                    outcome: "ok",
                    count: Some(out.dropped),
                    ..LoggedEvent::default()
                };
                out.append(&dropped);
            }
            (out.second, out.refusals, out.dropped) = (now, 0, 0);
        }
        // Only refusals are dropped, so that a flood of them cannot hide a success.
        if outcome != "ok" {
            if out.refusals >= MAX_REFUSALS {
                out.dropped = out.dropped.saturating_add(1);
                return;
            }
            out.refusals += 1;
        }
        out.append(&line);
    }
}

/// The lines about an account, oldest first, without a partial line at the beginning or the end.
pub(crate) fn read_lines(path: &Path, account: AccountId) -> io::Result<Vec<Value>> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(READ_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(READ_BYTES).read_to_end(&mut bytes)?;
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    Ok(lines.filter(|line| line["account"] == account.0).collect())
}

impl AuditOutput {
    fn append(&mut self, line: &LoggedEvent<'_>) {
        let mut json = serde_json::to_vec(line).expect("texts and numbers serialize");
        json.push(b'\n');
        self.file.append(&json);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::*;

    const NOW: i64 = 1_795_262_400;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Lines {
        fn read(&self) -> Vec<Value> {
            let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }
    }

    fn origin(address: &str) -> RequestOrigin {
        RequestOrigin { request: "0123456789abcdef".into(), address: address.parse().unwrap() }
    }

    #[test]
    fn a_line_has_all_fields_and_the_pseudonym_of_the_day() {
        let lines = Lines::default();
        let log = AuditLog::with_file(LogFile::to("audit log", lines.clone()), || NOW).unwrap();
        let entry = AuditEntry::new(AuditEvent::SignIn, Some(AccountId(7)));
        for (address, now) in
            [("192.0.2.1", NOW), ("::ffff:192.0.2.1", NOW + 1), ("192.0.2.1", NOW + 86_400), ("192.0.2.2", NOW)]
        {
            log.write_at(now, entry, Some(&origin(address)), "ok");
        }
        log.write(entry, Some(&AccountError::WrongCredentials));
        let read = lines.read();
        assert_eq!(read[0]["time"], "2026-11-21T12:00:00Z");
        let addresses: Vec<&str> = read[..4].iter().map(|line| line["address"].as_str().unwrap()).collect();
        assert!(addresses.iter().all(|address| address.len() == 16 && !address.contains('.')), "{addresses:?}");
        assert_eq!(addresses[0], addresses[1]);
        assert_ne!(addresses[0], addresses[2]);
        assert_ne!(addresses[0], addresses[3]);
        let expected = serde_json::json!({
            "time": "2026-11-21T12:00:00Z", "event": "sign_in", "outcome": "wrong_credentials", "account": 7, "key": null,
            "request": null, "address": null
        });
        assert_eq!(read[4], expected);
    }

    #[test]
    fn refusals_are_limited_and_counted_and_successes_are_not() {
        let lines = Lines::default();
        let log = AuditLog::with_file(LogFile::to("audit log", lines.clone()), || NOW).unwrap();
        let entry = AuditEntry::new(AuditEvent::SignIn, None);
        for _ in 0..MAX_REFUSALS + 50 {
            log.write(entry, Some(&AccountError::WrongCredentials));
        }
        log.write(entry, None);
        log.write_at(NOW + 1, entry, None, "wrong_credentials");
        let read = lines.read();
        assert_eq!(read.len(), MAX_REFUSALS as usize + 3);
        let tail = &read[MAX_REFUSALS as usize..];
        assert_eq!(tail[0]["outcome"], "ok");
        assert_eq!((&tail[1]["event"], &tail[1]["count"]), (&"refusals_dropped".into(), &50.into()));
        assert_eq!(tail[2]["outcome"], "wrong_credentials");
    }

    #[test]
    fn rejected_keys_are_logged_once_for_each_client_and_hour_if_there_are_several() {
        let lines = Lines::default();
        let log = AuditLog::with_file(LogFile::to("audit log", lines.clone()), || NOW).unwrap();
        for (address, count, now) in [
            ("192.0.2.1", REJECTED_KEYS - 1, NOW),
            ("192.0.2.2", 500, NOW),
            ("192.0.2.2", 500, NOW + 3_599),
            ("192.0.2.2", 500, NOW + 3_600),
        ] {
            for _ in 0..count {
                log.key_rejected(now, AuthError::Invalid, &origin(address));
            }
        }
        for subnet in 0..1_000 {
            for _ in 0..REJECTED_KEYS {
                log.key_rejected(NOW, AuthError::Revoked, &origin(&format!("2001:db8:1:{subnet:x}::1")));
            }
        }
        let read = lines.read();
        assert_eq!((&read[0]["event"], &read[0]["outcome"]), (&"keys_rejected".into(), &"invalid_api_key".into()));
        assert!(read[0]["address"] == read[1]["address"] && read[1]["outcome"] == "invalid_api_key");
        assert!(read[2..].iter().all(|line| line["outcome"] == "revoked_api_key"));
        assert_eq!(read.len() - 2, 16, "a /48 is not an unlimited number of clients");
    }

    #[test]
    fn a_quota_is_reached_once_for_each_key_and_day() {
        let lines = Lines::default();
        let log = AuditLog::with_file(LogFile::to("audit log", lines.clone()), || NOW).unwrap();
        for (key, now) in [(1, NOW), (1, NOW + 1), (2, NOW + 1), (1, NOW + 86_400)] {
            log.quota_reached(now, Some(AccountId(7)), KeyId(key), || origin("192.0.2.1"));
        }
        let keys: Vec<Value> = lines.read().iter().map(|line| line["key"].clone()).collect();
        assert_eq!(keys, [1, 2, 1]);
    }

    #[test]
    fn only_whole_lines_of_the_account_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        std::fs::write(
            &path,
            "ount\":1}\n{\"account\":1,\"n\":1}\n{\"account\":11}\n{\"account\":null}\n{\"account\":1,\"n\":2}\n{\"acc",
        )
        .unwrap();
        let lines: Vec<i64> =
            read_lines(&path, AccountId(1)).unwrap().iter().map(|line| line["n"].as_i64().unwrap()).collect();
        assert_eq!(lines, [1, 2]);
    }
}
