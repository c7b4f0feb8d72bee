//! The tables of the database, and migrations to the current version.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::StoreError;
use crate::sql::SqlResult;

/// `PRAGMA application_id`: "VDEX".
pub(crate) const APPLICATION: i64 = 0x5644_4558;

macro_rules! steps {
    ($($number:literal)*) => { [$(include_str!(concat!("migrations/", $number, ".sql"))),*] };
}

/// Step `n` migrates a database from version `n` to `n + 1`. Released steps are never changed.
pub(crate) const STEPS: [&str; 17] = steps![1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17];

/// The first version that notes jumps of the clock.
pub(crate) const WITH_CLOCK_JUMP: i64 = 15;

/// Several processes may migrate at the same time.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> SqlResult<()> {
    migrate_through(connection, path, &STEPS)
}

fn migrate_through(connection: &mut Connection, path: &Path, steps: &[&str]) -> SqlResult<()> {
    if version(connection)? == steps.len() as i64 && application(connection)? == APPLICATION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    let empty: bool = transaction.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?;
    let foreign = || StoreError::ForeignDatabase(path.to_owned());
    if !empty && application(&transaction)? != APPLICATION {
        return Err(foreign().into());
    }
    let done = usize::try_from(found).map_err(|_| foreign())?;
    let Some(steps_left) = steps.get(done..) else {
        return Err(StoreError::NewerDatabase { path: path.to_owned(), found, supported: steps.len() as i64 }.into());
    };
    for step in steps_left {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", steps.len() as i64)?;
    transaction.commit()?;
    Ok(())
}

pub(crate) fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

pub(crate) fn application(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "application_id", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::SqlError;

    #[test]
    fn a_database_is_migrated_step_by_step() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, Path::new("test")).unwrap();
        connection
            .execute("INSERT INTO accounts (id, email, tier, created_at) VALUES (1, 'ada@example.com', 'pro', 0)", [])
            .unwrap();
        let steps: Vec<&str> = STEPS.into_iter().chain(["ALTER TABLE accounts ADD COLUMN note TEXT"]).collect();
        migrate_through(&mut connection, Path::new("test"), &steps).unwrap();
        migrate_through(&mut connection, Path::new("test"), &steps).unwrap();
        let note: Option<String> = connection.query_row("SELECT note FROM accounts", [], |row| row.get(0)).unwrap();
        assert_eq!(note, None);
        let newer = 1 + STEPS.len() as i64;
        assert!(matches!(
            migrate(&mut connection, Path::new("test")),
            Err(SqlError::Rule(StoreError::NewerDatabase { found, .. })) if found == newer
        ));
    }

    #[test]
    fn keys_of_the_first_version_are_migrated_and_can_outlive_their_account() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "foreign_keys", true).unwrap();
        migrate_through(&mut connection, Path::new("test"), &STEPS[..1]).unwrap();
        let digest = [7_u8; 32];
        connection.execute("INSERT INTO accounts VALUES (4, 'ada@example.com', 'pro', 9)", []).unwrap();
        connection
            .execute("INSERT INTO keys VALUES (6, 4, 'laptop', ?, 'vdx_aB3d…9xYz', 5, 10, NULL, 11, 1)", [digest])
            .unwrap();
        migrate(&mut connection, Path::new("test")).unwrap();
        let key = |connection: &Connection| {
            connection
                .query_row("SELECT account, name, digest, counter, last_used_at FROM keys WHERE id = 6", [], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })
                .unwrap()
        };
        let row: (Option<i64>, String, [u8; 32], i64, i64) = key(&connection);
        assert_eq!(row, (Some(4), "laptop".to_owned(), digest, 5, 11));
        assert!(connection.execute("DELETE FROM accounts", []).is_err(), "an active key requires its account");
        connection.execute("UPDATE keys SET revoked_at = 12", []).unwrap();
        connection.execute("DELETE FROM accounts", []).unwrap();
        let row: (Option<i64>, String, [u8; 32], i64, i64) = key(&connection);
        assert_eq!(row.0, None);
        let next: i64 = connection
            .query_row(
                "INSERT INTO keys (name, digest, shown, counter, created_at, revoked_at, changed) \
                 VALUES ('', ?, '', 0, 0, 0, 0) RETURNING id",
                [[8_u8; 32]],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(next, 7, "numbers are not reused");
    }

    #[test]
    fn accounts_from_before_verification_are_unverified() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate_through(&mut connection, Path::new("test"), &STEPS[..3]).unwrap();
        let insert = "INSERT INTO accounts (email, tier, created_at) VALUES ('ada@example.com', 'pro', 9)";
        connection.execute(insert, []).unwrap();
        migrate(&mut connection, Path::new("test")).unwrap();
        let verified: Option<i64> =
            connection.query_row("SELECT verified_at FROM accounts", [], |row| row.get(0)).unwrap();
        assert_eq!(verified, None);
    }

    #[test]
    fn sessions_survive_the_migration_that_numbers_them() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate_through(&mut connection, Path::new("test"), &STEPS[..4]).unwrap();
        connection
            .execute("INSERT INTO accounts (email, tier, created_at) VALUES ('ada@example.com', 'pro', 9)", [])
            .unwrap();
        connection.execute("INSERT INTO sessions VALUES (?, 1, 10, 4000000000)", [[7_u8; 32]]).unwrap();
        migrate(&mut connection, Path::new("test")).unwrap();
        let sql = "SELECT id, digest, account, created_at, expires_at, last_used_at > 1000000000 FROM sessions";
        let row: (i64, [u8; 32], i64, i64, i64, bool) = connection
            .query_row(sql, [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
            })
            .unwrap();
        assert_eq!(row, (1, [7; 32], 1, 10, 4_000_000_000, true));
    }

    #[test]
    fn deliveries_go_on_in_the_outbox_and_their_numbers_are_not_given_again() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "foreign_keys", true).unwrap();
        migrate_through(&mut connection, Path::new("test"), &STEPS[..13]).unwrap();
        connection
            .execute_batch(
                "INSERT INTO accounts (id, email, tier, created_at) VALUES (1, 'ada@example.com', 'pro', 0);
                 INSERT INTO watches (id, account, name, records, created_at, evaluated) VALUES (2, 1, '', '', 0, '');
                 INSERT INTO alerts (id, watch, since, version, created_at, total, entries) VALUES (3, 2, '', '', 0, 0, '');
                 INSERT INTO deliveries (alert, account, attempts, due_at, outcome) VALUES (3, 1, 2, 9, 'no'), (3, 1, 0, 9, NULL);
                 DELETE FROM deliveries WHERE id = 2",
            )
            .unwrap();
        migrate(&mut connection, Path::new("test")).unwrap();
        let row = |sql: &str| connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(row("SELECT attempts, due_at FROM outbox WHERE alert = 3 AND outcome = 'no'"), (2, 9));
        let insert =
            "INSERT INTO outbox (link, email, expires_at) VALUES ('reset', 'ada@example.com', 9) RETURNING id, 0";
        assert_eq!(row(insert), (3, 0));
        connection.execute("DELETE FROM alerts", []).unwrap();
        assert_eq!(row("SELECT count(*), max(id) FROM outbox"), (1, 3), "alerts take their deliveries with them");
    }

    #[test]
    fn a_failed_step_leaves_the_database_unchanged() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, Path::new("test")).unwrap();
        let steps: Vec<&str> = STEPS.into_iter().chain(["CREATE TABLE extra (id); CREATE TABLE keys (id)"]).collect();
        assert!(matches!(migrate_through(&mut connection, Path::new("test"), &steps), Err(SqlError::Database { .. })));
        assert!(connection.execute("SELECT * FROM extra", []).is_err());
        migrate(&mut connection, Path::new("test")).unwrap();
    }

    #[test]
    fn the_database_of_another_program_is_rejected() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE theirs (id)").unwrap();
        assert!(matches!(
            migrate(&mut connection, Path::new("test")),
            Err(SqlError::Rule(StoreError::ForeignDatabase(_)))
        ));
    }
}
