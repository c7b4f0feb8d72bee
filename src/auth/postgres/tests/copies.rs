//! A copy of an SQLite store that has every kind of row.

use std::collections::BTreeMap;
use std::path::Path;

use crate::account::{AccountId, Rotation};
use crate::firm::{CorrectionState, NewCorrection};
use crate::link::{LinkDigest, LinkToken, Purpose};
use crate::password::hash::PasswordHash;
use crate::postgres::tests::*;
use crate::review::{NewReport, ReportKind, ReviewAction, ReviewAnswers, ReviewDecision, SavedReview};
use crate::session::{NewSession, SessionDigest};
use crate::totp::{RecoveryCode, TotpSecret};
use crate::watch::{AlertId, DeliveryResult, Evaluation, NewWatch, WatchChange, WebhookChange};
use crate::{PasswordVersion, SqliteStore, StoreCounts, Totp};
use data::{ReviewProof, ReviewerRole, SnapshotVersion, Stage, Table};

const DAY: i64 = 86_400;

fn version(counter: u32) -> SnapshotVersion {
    format!("2026-11-20.{counter}").parse().unwrap()
}

fn session(number: u8) -> SessionDigest {
    SessionDigest::from_bytes([number; 32])
}

/// Ids that cannot be found by reading lists.
struct Filled {
    ada: AccountId,
    bob: AccountId,
    link: LinkDigest,
}

fn fill(store: &SqliteStore) -> Filled {
    let account = |email: &str, tier| store.create_account(&email.parse().unwrap(), tier, None, NOON).unwrap();
    let ada = account("ada@example.com", Tier::Pro).id;
    let bob = account("bob@example.com", Tier::Free).id;
    let gone = account("gone@example.com", Tier::Free).id;
    let key = |account, number: u8, expires_at| {
        let key = ApiKey::from_seed(&[number; 32]);
        store.create_key(account, &"für Ada".parse().unwrap(), &key, expires_at, NOON).unwrap()
    };
    let keys = [key(ada, 1, None), key(ada, 2, Some(NOON + DAY)), key(bob, 3, None), key(gone, 4, None)];
    for (number, key) in keys.iter().enumerate() {
        // SQLite lists the usage from the day before a key was created to the day after it was used last.
        for day in [1, 0] {
            let now = NOON - day * DAY;
            let requests = number as i64 + 5 + day;
            store
                .add_usage(
                    &[AddedUsage { key: key.id, counter: key.counter, day: Date::from_unix(now), requests }],
                    now,
                )
                .unwrap();
        }
    }
    store.revoke_key(KeyRef::Id(keys[1].id), NOON + 3).unwrap();
    store
        .rotate_key(KeyRef::Id(keys[0].id), &ApiKey::from_seed(&[9; 32]), Rotation::new(24, Some(7), NOON), NOON)
        .unwrap();
    store.cursor_secret([42; 32]).unwrap();
    let hash = PasswordHash::from_stored("$argon2id$test".to_owned());
    store.set_password(ada, None, &hash, None).unwrap();
    for (account, password, number) in [(ada, 1, 1), (ada, 1, 2), (bob, 0, 3)] {
        let session = NewSession { digest: session(number), created_at: NOON, expires_at: NOON + 30 * DAY };
        store.add_session(account, PasswordVersion(password), &session).unwrap();
    }
    store.session_used(&session(1), NOON + 60).unwrap();
    store.session_authenticated(&session(2), NOON + 70).unwrap();
    let link = LinkToken::generate().unwrap().digest();
    store.add_link(bob, Purpose::Verification, &LinkToken::generate().unwrap().digest(), NOON + DAY).unwrap();
    store.add_link(ada, Purpose::Reset, &link, NOON + DAY).unwrap();
    let codes: Vec<_> = (0..3).map(|_| RecoveryCode::generate().unwrap().digest()).collect();
    store.enable_totp(ada, &Totp { secret: TotpSecret::from_bytes([7; 20]), step: 5 }, &codes, NOON).unwrap();
    store.verify_account(ada, NOON + 1).unwrap();
    store.set_operator(ada, true).unwrap();
    let webhook = store.add_webhook(ada, "https://example.com/a", NOON).unwrap();
    let stopped = store.add_webhook(ada, "https://example.com/b", NOON).unwrap();
    store.change_webhook(ada, webhook.id, WebhookChange::RenewSecret { previous_until: NOON + 9 }).unwrap();
    store.change_webhook(ada, stopped.id, WebhookChange::Stop("it answers 410")).unwrap();
    let name = "a search".parse().unwrap();
    let search =
        NewWatch { name: &name, table: Table::Firms, query: Some("country=DE"), records: &[], served: version(1) };
    let records = ["b".to_owned(), "a".to_owned(), "é".to_owned()];
    let list = NewWatch { table: Table::People, query: None, records: &records, ..search };
    let mut evaluations = Vec::new();
    for watch in [search, list] {
        let id = store.add_watch(ada, watch, NOON).unwrap().id;
        store.change_watch(ada, id, WatchChange::Notify { emails: true, webhook: Some(webhook.id) }).unwrap();
        let news = Some((2, "[{\"name\":\"Ä\"}]".to_owned()));
        let (problem, moved) = (Some("no such city".to_owned()), Vec::new());
        evaluations.push(Evaluation { watch: id, evaluated: version(1), since: version(1), problem, news, moved });
    }
    store.add_watch(bob, search, NOON).unwrap();
    store.add_evaluations(version(2), &evaluations, NOON).unwrap();
    let due = store.claim_due(NOON, NOON + 600, 1, 9).unwrap();
    let settled = DeliveryResult { id: due[0].deliveries[0].id, outcome: "sent".to_owned(), due_at: None };
    store.settle(&[settled]).unwrap();
    store.request_link(&"bob@example.com".parse().unwrap(), Purpose::Reset, NOON + DAY, NOON + 1).unwrap();
    fill_reviews(store, ada, bob, gone);
    store.delete_account(gone, None, NOON).unwrap();
    store.set_blocked(bob, true, NOON + 5).unwrap();
    // Rows to delete: their numbers are not given again.
    let last = account("last@example.com", Tier::Free).id;
    key(last, 10, None);
    store.delete_account(last, None, NOON).unwrap();
    Filled { ada, bob, link }
}

/// Reviews in several states, with what belongs to them; one of an account to delete.
fn fill_reviews(store: &SqliteStore, operator: AccountId, author: AccountId, gone: AccountId) {
    for account in [author, gone] {
        store.verify_account(account, NOON).unwrap();
    }
    let answers = ReviewAnswers {
        role: Some(ReviewerRole::Executive),
        stage: Some(Stage::SeriesA),
        contact_month: Some("2026-02".parse().unwrap()),
        rating: Some(3),
        responsiveness: Some(1),
        fairness: Some(2),
        value_add: Some(4),
        ghosted: Some(true),
        title: "Für alle".to_owned(),
        body: "Zwei\nZeilen".to_owned(),
    };
    let saved = SavedReview {
        id: None,
        firm: "alder".to_owned(),
        former_slugs: Vec::new(),
        public_id: "r-1".to_owned(),
        answers,
        response: Some("In March.".to_owned()),
        submits: true,
        proof: ReviewProof::Email,
    };
    let decision = ReviewDecision {
        action: ReviewAction::Approve,
        reason: "a reason".to_owned(),
        proof: ReviewProof::Confirmed,
        is_cleared: true,
    };
    for firm in ["alder", "birch"] {
        store.claim_firm(operator, firm, firm == "alder", NOON).unwrap();
        let correction = NewCorrection {
            firm: firm.to_owned(),
            field: "city",
            value: "Köln".to_owned(),
            source: "https://alder.example/about".to_owned(),
        };
        let proposed = store.propose_correction(operator, &correction, NOON).unwrap();
        if firm == "birch" {
            store.decide_correction(operator, proposed.id, Some("no such city"), NOON + 1).unwrap();
        }
    }
    for (account, public_id) in [(author, "r-1"), (gone, "r-2")] {
        let saved = SavedReview { public_id: public_id.to_owned(), ..saved.clone() };
        let sent = store.save_review(account, &saved, NOON).unwrap();
        store.decide_review(operator, sent.id, sent.version, &decision, NOON + 9).unwrap();
    }
    let email = Some("x@example.org".parse().unwrap());
    let report = NewReport { kind: ReportKind::Objection, reason: "false".to_owned(), email, hides: true };
    store.report_review("r-1", &report, NOON + 10).unwrap();
    let draft = SavedReview { public_id: "r-3".to_owned(), firm: "birch".to_owned(), submits: false, ..saved };
    store.save_review(author, &draft, NOON).unwrap();
}

/// The columns of each table of the target, from its own description.
fn columns(database: &Database) -> BTreeMap<String, Vec<(String, String)>> {
    let sql = "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'";
    let mut tables: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for row in database.rows(sql) {
        let [table, column, kind]: [&str; 3] = row.split('\t').collect::<Vec<_>>().try_into().unwrap();
        tables.entry(table.to_owned()).or_default().push((column.to_owned(), kind.to_owned()));
    }
    tables
}

/// All rows of a table of both, as texts.
fn rows_of(data: &Path, database: &Database, table: &str, columns: &[(String, String)]) -> [Vec<String>; 2] {
    let select = |text: fn(&str, &str) -> String| {
        let columns: Vec<_> =
            columns.iter().map(|(name, kind)| format!("coalesce({}, 'NULL')", text(name, kind))).collect();
        format!("SELECT {} FROM {table}", columns.join(" || '|' || "))
    };
    let ours = select(|name, kind| match kind {
        "bytea" => format!("encode({name}, 'hex')"),
        "boolean" => format!("{name}::int::text"),
        _ => format!("{name}::text"),
    });
    let theirs = select(|name, kind| match kind {
        "bytea" => format!("CASE WHEN {name} IS NOT NULL THEN lower(hex({name})) END"),
        _ => format!("CAST({name} AS TEXT)"),
    });
    let source = rusqlite::Connection::open(data.join("venturedex.sqlite")).unwrap();
    let mut statement = source.prepare(&theirs).unwrap();
    let theirs = statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<Vec<String>, _>>().unwrap();
    let mut both = [theirs, database.rows(&ours)];
    both.iter_mut().for_each(|rows| rows.sort());
    both
}

/// All results of the store's traits, as texts.
fn read(store: &dyn Store, filled: &Filled) -> Vec<String> {
    let mut read: Vec<String> = Vec::new();
    let mut note = |value: &dyn std::fmt::Debug| read.push(format!("{value:?}"));
    let today = Date::from_unix(NOON);
    let first = Date::from_days(today.days() - 9);
    note(&store.accounts().unwrap());
    note(&store.keys(None, today).unwrap());
    let mut changes = store.changes(0).unwrap();
    changes.keys.sort_by_key(|key| key.id);
    note(&changes);
    for day in 0..3 {
        let mut usage = store.usage(Date::from_days(today.days() - day)).unwrap();
        usage.sort_by_key(|usage| usage.key);
        note(&usage);
    }
    note(&store.usage_by_day(first, today).unwrap());
    note(&store.usage_by_account(first, today).unwrap());
    note(&store.cursor_secret([1; 32]).unwrap());
    for number in 1..4 {
        note(&store.session(&session(number), NOON + 99).unwrap());
    }
    note(&store.account_of_link(Purpose::Reset, &filled.link, NOON).unwrap());
    for account in [filled.ada, filled.bob] {
        note(&store.sessions(account, NOON).unwrap());
        note(&store.usage_of(account, first, today).unwrap());
        note(&store.totp(account).unwrap().map(|totp| (totp.secret.reveal().to_string(), totp.step)));
        note(&store.webhooks(account).unwrap());
        note(&store.alerts_after(account, None, AlertId(0), 99).unwrap());
        note(&store.reviews_of(account).unwrap());
        note(&store.claims_of(account).unwrap());
        note(&store.corrections_of(account).unwrap());
        for watch in store.watches(account).unwrap() {
            note(&watch);
            note(&store.listed(watch.id).unwrap());
        }
    }
    note(&store.public_reviews().unwrap());
    note(&store.review_queue(0, 9).unwrap());
    note(&store.corrections(CorrectionState::Rejected, 0, 9).unwrap());
    for email in ["ada@example.com", "bob@example.com"] {
        let credentials = store.credentials(&email.parse().unwrap()).unwrap();
        note(&(
            credentials.account,
            credentials.password.as_ref().map(|hash| hash.as_str().to_owned()),
            credentials.version,
        ));
    }
    read
}

#[test]
fn a_copy_has_every_row_and_goes_on_where_the_source_ended() {
    let Some(database) = Database::create() else { return };
    let data = tempfile::tempdir().unwrap();
    let source = SqliteStore::open(data.path()).unwrap();
    let filled = fill(&source);
    let target = settings(&database.url);
    let counts: BTreeMap<&str, u64> = PostgresStore::copy_from(data.path(), &target).unwrap().into_iter().collect();
    let columns = columns(&database);
    assert_eq!(columns.len(), 26, "{:?}", columns.keys());
    // Tables that SQLite does not need, and the view of older programs.
    let own = ["store_version", "leases", "held_units", "servers", "windows", "deliveries"];
    for (table, columns) in columns.iter().filter(|(table, _)| !own.contains(&table.as_str())) {
        let [theirs, ours] = rows_of(data.path(), &database, table, columns);
        assert_eq!(theirs, ours, "{table}");
        assert!(!ours.is_empty(), "{table} is tested with rows");
        assert_eq!(counts.get(table.as_str()).copied().unwrap_or(1), ours.len() as u64, "{table}");
    }
    let copy = open(&database);
    assert_eq!(read(&source, &filled), read(&copy, &filled));
    // Both go on in the same way: with the next numbers, and the counters of the account deleted today.
    let next = |store: &dyn Store| {
        let account = store.create_account(&"gone@example.com".parse().unwrap(), Tier::Free, None, NOON).unwrap().id;
        let key = store.create_key(account, &"k".parse().unwrap(), &ApiKey::from_seed(&[50; 32]), None, NOON).unwrap();
        let watch = store.add_webhook(account, "https://example.com/c", NOON).unwrap();
        let due = store.claim_due(NOON + 9_999, NOON + 10_000, 9, 9).unwrap();
        let links = store.claim_links(NOON + 9_999, NOON + 10_000, 9).unwrap();
        assert_eq!(links.len(), 1);
        format!("{account:?} {key:?} {watch:?} {due:?} {links:?} {}", store.changes(0).unwrap().last)
    };
    assert_eq!(next(&source), next(&copy));
    let again = PostgresStore::copy_from(data.path(), &target).unwrap_err().to_string();
    assert!(again.contains("the store is not empty, and nothing was copied"), "{again}");
}

#[test]
fn a_copy_needs_a_source_that_no_server_uses_and_tables_of_many_rows_are_copied() {
    let Some(database) = Database::create() else { return };
    let target = settings(&database.url);
    let data = tempfile::tempdir().unwrap();
    let missing = PostgresStore::copy_from(data.path(), &target).unwrap_err();
    assert!(matches!(missing, StoreError::File { .. }), "{missing:?}");
    assert!(std::fs::read_dir(data.path()).unwrap().next().is_none(), "nothing is created");
    drop(SqliteStore::open(data.path()).unwrap());
    let lock = crate::DataLock::acquire(data.path()).unwrap();
    let in_use = PostgresStore::copy_from(data.path(), &target).unwrap_err();
    assert!(matches!(in_use, StoreError::InUse { .. }), "{in_use:?}");
    drop(lock);
    let source = rusqlite::Connection::open(data.path().join("venturedex.sqlite")).unwrap();
    source
        .execute_batch(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 12000) INSERT INTO usage SELECT n % 7, n, n FROM n",
        )
        .unwrap();
    let copied = PostgresStore::copy_from(data.path(), &target).unwrap();
    assert_eq!(copied.into_iter().find(|(name, _)| *name == "usage"), Some(("usage", 12_000)));
    let inspected = PostgresStore::inspect(&target).unwrap();
    let tables = inspected.tables.unwrap();
    assert_eq!((tables.version, tables.counts), (8, StoreCounts { accounts: 0, keys: 0 }));
    assert_eq!((inspected.budget, inspected.is_encrypted, inspected.is_standby), (4, false, false));
    assert!(inspected.max_connections > 50 && inspected.round_trip < Duration::from_secs(1), "{inspected:?}");
}
