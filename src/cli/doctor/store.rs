//! The PostgreSQL database of accounts, shared by servers.

use std::time::Duration;

use crate::app::settings::StoreSettings;
use crate::cli::doctor::finding::{Findings, Status};
use crate::cli::doctor::machine;
use crate::cli::indexer::format;
use auth::{PostgresInspection, PostgresStore, PostgresTables, StoreError};
use data::rfc3339;

/// Round-trip time that counts as slow: a sign-in or a change of a key makes about ten round trips.
const SLOW: Duration = Duration::from_millis(20);

/// Checks the database, and returns its tables if it could be read and was used.
pub(super) fn check(settings: &StoreSettings, findings: &mut Findings) -> Option<PostgresTables> {
    if let Some(path) = &settings.store_password_file {
        machine::warn_if_open("store.password", path, findings);
    }
    let settings = settings.postgres();
    match settings.and_then(|settings| settings.as_ref().map(PostgresStore::inspect).transpose()) {
        Ok(found) => found.and_then(|found| judge(&found, findings)),
        Err(error) => {
            let remedy = match error {
                StoreError::Unreachable { .. } => {
                    "fix what the message says; servers that run go on with what they know"
                }
                _ => "check --store and --store-password-file",
            };
            findings.problem("store.reachable", error.to_string(), remedy);
            None
        }
    }
}

fn judge(found: &PostgresInspection, findings: &mut Findings) -> Option<PostgresTables> {
    let PostgresInspection { place, server_version, is_encrypted, is_standby, round_trip, .. } = found;
    match is_standby {
        true => findings.problem(
            "store.reachable",
            format!("{place} is a standby, which cannot be written"),
            "name the primary in --store, or several hosts with ?target_session_attrs=read-write",
        ),
        false => findings.ok("store.reachable", format!("{place}, PostgreSQL {server_version}")),
    }
    let unencrypted = "none: the host is this machine, or the URL says so";
    findings.ok("store.encryption", if *is_encrypted { "TLS, certificate verified" } else { unencrypted });
    let milliseconds = round_trip.as_secs_f64() * 1_000.0;
    match *round_trip > SLOW {
        true => findings.warning(
            "store.round_trip",
            format!("{milliseconds:.1} ms: sign-ins and changes of keys take ten times as long"),
            "run servers and database in one place",
        ),
        false => findings.ok("store.round_trip", format!("{milliseconds:.1} ms")),
    }
    let (max, budget) = (found.max_connections, found.budget);
    let servers = max / budget.max(1);
    let detail = format!("{budget} of at most {max}: enough for {}", format::counted(servers, "server"));
    let status = if servers < 2 { Status::Warning } else { Status::Ok };
    let remedy = "lower --store-connections, or raise max_connections of PostgreSQL";
    findings.add("store.connections", status, detail, remedy);
    judge_tables(found.tables.as_ref(), findings);
    found.tables
}

fn judge_tables(found: Option<&PostgresTables>, findings: &mut Findings) {
    const CHECK: &str = "store.tables";
    let Some(PostgresTables { version, oldest, supported, counts, newest_time, .. }) = found else {
        let remedy =
            "for a new service nothing is to be done; to move one, run `venturedex store copy` before the first start";
        return findings.warning(CHECK, "the database is empty", remedy);
    };
    let mut detail = format!("{counts}, schema version {version}");
    if oldest > supported {
        detail.push_str(&format!(
            ", which only programs of schema version {oldest} and newer can use; this one has {supported}"
        ));
        return findings.problem(CHECK, detail, "run the newer program");
    }
    if version < supported {
        detail.push_str(&format!(", which `serve` migrates to {supported}"));
    } else if version > supported {
        detail.push_str(&format!(", of a newer program; this one ({supported}) can use it"));
    }
    if let Some(newest) = newest_time {
        detail.push_str(&format!(", last used {}", rfc3339(*newest)));
    }
    findings.ok(CHECK, detail);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::finding::status_of;
    use auth::StoreCounts;

    fn status(check: &str, change: impl FnOnce(&mut PostgresInspection)) -> Option<Status> {
        let tables = PostgresTables {
            version: 3,
            oldest: 2,
            supported: 3,
            counts: StoreCounts { accounts: 1, keys: 2 },
            newest_time: None,
            clock_jump: None,
        };
        let mut found = PostgresInspection {
            place: "postgres://a@b/c".to_owned(),
            server_version: "15".to_owned(),
            is_encrypted: true,
            is_standby: false,
            round_trip: Duration::from_millis(1),
            max_connections: 97,
            budget: 4,
            tables: Some(tables),
        };
        change(&mut found);
        let mut findings = Findings::default();
        judge(&found, &mut findings);
        status_of(findings, check)
    }

    #[test]
    fn a_store_is_judged_by_what_was_measured() {
        for check in ["store.reachable", "store.encryption", "store.round_trip", "store.connections", "store.tables"] {
            assert_eq!(status(check, |_| {}), Some(Status::Ok), "{check}");
        }
        assert_eq!(status("store.reachable", |found| found.is_standby = true), Some(Status::Problem));
        assert_eq!(status("store.round_trip", |found| found.round_trip = SLOW * 2), Some(Status::Warning));
        assert_eq!(status("store.connections", |found| found.budget = 49), Some(Status::Warning));
        assert_eq!(status("store.tables", |found| found.tables = None), Some(Status::Warning));
        let version = |version, oldest| {
            move |found: &mut PostgresInspection| {
                let tables = found.tables.as_mut().unwrap();
                (tables.version, tables.oldest) = (version, oldest);
            }
        };
        assert_eq!(status("store.tables", version(2, 2)), Some(Status::Ok));
        assert_eq!(status("store.tables", version(4, 3)), Some(Status::Ok));
        assert_eq!(status("store.tables", version(4, 4)), Some(Status::Problem));
    }
}
