//! Migrations, with programs of several versions.

use std::sync::Barrier;

use crate::link::Purpose;
use crate::postgres::schema::{MigrationStep, STEPS, versions};
use crate::postgres::tests::*;

/// Steps of a future program.
const EXPAND: MigrationStep =
    MigrationStep { sql: "ALTER TABLE accounts ADD COLUMN note TEXT; CREATE TABLE notes (id BIGINT)", oldest: 1 };
const CONTRACT: MigrationStep =
    MigrationStep { sql: "ALTER TABLE accounts DROP COLUMN note", oldest: STEPS.len() as i64 + 1 };

fn steps(more: &[MigrationStep]) -> Vec<MigrationStep> {
    STEPS.iter().chain(more).copied().collect()
}

fn found(store: &PostgresStore) -> (i64, i64) {
    let found = versions(&*store.pool.take(ReadKind::LookUp).unwrap()).unwrap().unwrap();
    (found.version, found.oldest)
}

#[test]
fn an_older_program_uses_a_store_that_was_expanded_and_refuses_one_that_was_contracted() {
    let Some(database) = Database::create() else { return };
    let settings = settings(&database.url);
    let now = STEPS.len() as i64;
    let older = PostgresStore::open(&settings).unwrap();
    add_key(&older, 1);
    let newer = PostgresStore::open_with(&settings, &steps(&[EXPAND])).unwrap();
    assert_eq!(found(&newer), (now + 1, 1));
    // Both serve at the same time; an older program that starts now works too, and migrates nothing back.
    add_key(&older, 2);
    add_key(&PostgresStore::open(&settings).unwrap(), 3);
    add_key(&newer, 4);
    assert_eq!(older.changes(0).unwrap().keys.len(), 4);
    assert_eq!(found(&older), (now + 1, 1));
    PostgresStore::open_with(&settings, &steps(&[EXPAND, CONTRACT])).unwrap();
    let refused = PostgresStore::open(&settings).unwrap_err();
    let StoreError::NewerDatabase { found, supported, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!((*found, *supported), (now + 2, now));
    let text = refused.to_string();
    assert!(text.contains("written by a newer venturedex") && text.contains(database.name()), "{text}");
    PostgresStore::open_with(&settings, &steps(&[EXPAND])).unwrap();
}

/// Uses the statements of the older program: it claims, settles and stores alerts while links wait in the outbox.
#[test]
fn a_program_that_knows_of_alerts_only_goes_on_next_to_one_with_the_outbox() {
    let Some(database) = Database::create() else { return };
    PostgresStore::open_with(&settings(&database.url), &STEPS[..3]).unwrap();
    database.run(
        "INSERT INTO accounts (id, email, tier, created_at) VALUES (1, 'ada@example.com', 'pro', 0); \
         INSERT INTO watches (id, account, name, records, created_at, evaluated) VALUES (2, 1, '', 'firms', 0, ''); \
         INSERT INTO alerts (id, watch, since, version, created_at, total, entries) VALUES (3, 2, '', '', 0, 0, ''); \
         INSERT INTO deliveries (alert, account, due_at) VALUES (3, 1, 5)",
    );
    let outbox = open(&database);
    outbox.request_link(&"ada@example.com".parse().unwrap(), Purpose::Reset, 99, 1).unwrap();
    let older = |sql: &str| database.rows(sql);
    assert_eq!(older("SELECT EXISTS (SELECT 1 FROM deliveries WHERE due_at <= 4)"), ["f"]);
    database.run(
        "INSERT INTO deliveries (alert, account, webhook, due_at) SELECT new.alert, new.account, NULL, 6 \
         FROM unnest(ARRAY[3]::bigint[], ARRAY[1]::bigint[]) AS new (alert, account)",
    );
    let claim = "UPDATE deliveries SET due_at = 50, claimed = TRUE WHERE due_at <= 9 AND id IN (SELECT id FROM deliveries \
                 WHERE account = 1 AND webhook IS NOT DISTINCT FROM NULL AND due_at <= 9 ORDER BY id LIMIT NULL FOR UPDATE) \
                 RETURNING id, alert, attempts";
    assert_eq!(older(claim), ["1\t3\t0", "3\t3\t0"]);
    database.run(
        "UPDATE deliveries SET outcome = 'sent', attempts = attempts + 1, due_at = NULL, claimed = FALSE WHERE id = 1",
    );
    let due = outbox.claim_links(9, 50, 9).unwrap();
    assert_eq!(due.iter().map(|link| link.id.0).collect::<Vec<_>>(), [2]);
    assert_eq!(older("SELECT id, outcome FROM outbox WHERE alert IS NOT NULL ORDER BY id"), ["1\tsent", "3\tNULL"]);
}

#[test]
fn the_oldest_program_of_a_step_is_never_older_than_that_of_the_step_before() {
    assert!(STEPS.windows(2).all(|pair| pair[0].oldest <= pair[1].oldest));
    assert!(STEPS.iter().zip(1..).all(|(step, version)| step.oldest <= version));
}

#[test]
fn servers_that_start_together_migrate_once() {
    let Some(database) = Database::create() else { return };
    let start = Barrier::new(8);
    // A step that fails if it runs twice.
    let more = steps(&[EXPAND]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                PostgresStore::open_with(&settings(&database.url), &more).unwrap();
            });
        }
    });
    assert_eq!(found(&open(&database)).0, more.len() as i64);
}

#[test]
fn a_step_that_fails_leaves_the_store_as_it_was() {
    let Some(database) = Database::create() else { return };
    let store = open(&database);
    let broken = MigrationStep { sql: "CREATE TABLE extra (id BIGINT); CREATE TABLE keys (id BIGINT)", oldest: 1 };
    let error = PostgresStore::open_with(&settings(&database.url), &steps(&[broken])).unwrap_err();
    assert!(matches!(&error, StoreError::Unusable { .. }) && error.to_string().contains("keys"), "{error}");
    assert_eq!(found(&store).0, STEPS.len() as i64);
    assert_eq!(database.rows("SELECT to_regclass('extra')"), ["NULL"]);
    add_key(&store, 1);
}

#[test]
fn the_database_of_another_program_is_refused_and_not_modified() {
    let Some(database) = Database::create() else { return };
    database.run("CREATE TABLE theirs (id BIGINT)");
    let error = PostgresStore::open(&settings(&database.url)).unwrap_err();
    assert!(error.to_string().contains("tables of another program"), "{error}");
    assert_eq!(database.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"), ["theirs"]);
    // A schema of its own is fine.
    database.run("CREATE SCHEMA own");
    let store = PostgresStore::open(&settings(&format!("{}?options=-csearch_path%3Down", database.url))).unwrap();
    add_key(&store, 1);
    assert_eq!(database.rows("SELECT count(*) FROM own.keys"), ["1"]);
}
