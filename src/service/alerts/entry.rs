//! Alerts and their entries, as stored and sent.

use serde::{Deserialize, Serialize};

use auth::StoreError;
use auth::watch::{Alert, Watch};
use catalog::changes::RowChange;
use catalog::{RecordChange, Resource};
use data::field::{SNAPSHOT, model};
use data::vocabulary::{Vocabulary, vocabulary};
use data::{Snapshot, Table, rfc3339};

vocabulary! {
    /// Why a record is in an alert.
    AlertReason, "reason", {
        /// It matches a saved search, and did not before.
        Match = "match",
        Add = "add",
        Change = "change",
        Remove = "remove",
        /// It was merged into another record, which took its place in the list.
        Merge = "merge",
    }
}

vocabulary! {
    /// What an account keeps.
    WatchKind, "kind", {
        Search = "search",
        List = "list",
    }
}

model! {
    /// A record of an alert.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct AlertEntry {
        /// `match` in an alert of a saved search, what happened to the record in one of a list.
        pub reason: String [one_of("AlertReason")],
        /// Its slug or, for rounds, its id.
        pub key: String,
        /// Its name; of a round the startup's name, the stage, if it is known, and the date.
        pub name: String,
        /// The path of its page, of a round that of the startup; `null` if the record is gone.
        pub page: Option<String>,
        /// The fields that differ; empty unless `reason` is `change`.
        pub fields: Vec<String>,
        /// The slug of the record that it was merged into; `null` unless `reason` is `merge`.
        pub merged_into: Option<String>,
    }

    /// A saved search or a list of records.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct WatchRecord as "SavedSearch" {
        /// Its number.
        pub id: u64,
        /// The name that its owner gave it.
        pub name: String,
        /// Whether it is a saved search or a list of records.
        pub kind: &'static str [one_of("WatchKind")],
        /// The last segment of the path of the records' list.
        pub table: &'static str [one_of("WatchedTable")],
        /// The filters of a search, as the query of the list's URL; `null` for a list.
        pub query: Option<String>,
        /// The number of records of a list; `null` for a search.
        pub records: Option<u32>,
        /// The release up to which it was evaluated.
        pub evaluated: String [pattern(SNAPSHOT)],
        /// Why the last release could not be evaluated, and what to change; `null` if it was.
        pub problem: Option<String>,
    }

    /// What a release brought a saved search or a list.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct AlertRecord as "Alert" {
        /// Its number; later alerts have higher ones.
        pub id: u64,
        /// The number of the saved search or list.
        pub saved: u64,
        /// Its name.
        pub name: String,
        /// The release that was compared with.
        pub since: String [pattern(SNAPSHOT)],
        /// The release that brought it.
        pub snapshot: String [pattern(SNAPSHOT)],
        /// When it was made.
        pub created_at: String,
        /// The number of records; of more than 10,000 only these are listed.
        pub total: u32,
        /// The records, in the default order of their table.
        pub records: Vec<AlertEntry>,
    }
}

impl WatchKind {
    pub(super) fn of(watch: &Watch) -> Self {
        if watch.query.is_some() { Self::Search } else { Self::List }
    }
}

impl WatchRecord {
    pub fn from_watch(watch: &Watch) -> Self {
        Self {
            id: watch.id.0.unsigned_abs(),
            name: watch.name.as_str().to_owned(),
            kind: WatchKind::of(watch).name(),
            table: Resource::of_table(watch.table).path(),
            query: watch.query.clone(),
            records: watch.query.is_none().then_some(watch.listed),
            evaluated: watch.evaluated.to_string(),
            problem: watch.problem.clone(),
        }
    }
}

impl AlertRecord {
    pub fn from_alert(watch: &Watch, alert: &Alert) -> Result<Self, StoreError> {
        Ok(Self {
            id: alert.id.0.unsigned_abs(),
            saved: watch.id.0.unsigned_abs(),
            name: watch.name.as_str().to_owned(),
            since: alert.since.to_string(),
            snapshot: alert.version.to_string(),
            created_at: rfc3339(alert.created_at),
            total: alert.total,
            records: entries(alert)?,
        })
    }
}

/// The stored entries of an alert; [`StoreError::Database`] if they cannot be read.
pub fn entries(alert: &Alert) -> Result<Vec<AlertEntry>, StoreError> {
    let unreadable = |source| StoreError::Database { operation: "read an alert", source: Box::new(source) };
    serde_json::from_str(&alert.entries).map_err(unreadable)
}

impl AlertEntry {
    /// Creates the entry for a row that newly matches a search.
    pub(super) fn matched(snapshot: &Snapshot, table: Table, row: u32) -> Self {
        Self {
            reason: AlertReason::Match.name().to_owned(),
            key: snapshot.slug(table, row).to_owned(),
            name: record_name(snapshot, table, row),
            page: Some(record_page(snapshot, table, row)),
            fields: Vec::new(),
            merged_into: None,
        }
    }

    /// Creates the entry for a change in a list. The name of a removed record comes from the earlier release.
    pub(super) fn changed(before: &Snapshot, after: &Snapshot, table: Table, change: RecordChange) -> Self {
        let RecordChange { change, fields } = change;
        let (reason, snapshot, row, shown, merged_into) = match change {
            RowChange::Added { after: row } => (AlertReason::Add, after, row, Some(row), None),
            RowChange::Changed { after: row, .. } => (AlertReason::Change, after, row, Some(row), None),
            RowChange::Removed { before: row } => (AlertReason::Remove, before, row, None, None),
            RowChange::Merged { before: row, into } => (AlertReason::Merge, before, row, Some(into), Some(into)),
        };
        Self {
            reason: reason.name().to_owned(),
            key: snapshot.slug(table, row).to_owned(),
            name: record_name(snapshot, table, row),
            page: shown.map(|row| record_page(after, table, row)),
            fields: fields.into_iter().map(str::to_owned).collect(),
            merged_into: merged_into.map(|into| after.slug(table, into).to_owned()),
        }
    }
}

/// Display name of a record; for a round, the name of the startup, the stage or `round`, and the date.
pub fn record_name(snapshot: &Snapshot, table: Table, row: u32) -> String {
    if table != Table::Rounds {
        return snapshot.name(table, row).to_owned();
    }
    let startup = snapshot.name(Table::Startups, snapshot.round_startup(row));
    let stage = snapshot.round_stage(row).map_or("round", Vocabulary::name);
    match snapshot.round_date(row) {
        Some(date) => format!("{startup}: {stage}, {date}"),
        None => format!("{startup}: {stage}"),
    }
}

/// Path of a record's page; a round has that of its startup.
pub fn record_page(snapshot: &Snapshot, table: Table, row: u32) -> String {
    match table {
        Table::Rounds => record_page(snapshot, Table::Startups, snapshot.round_startup(row)),
        table => format!("/{}/{}", Resource::of_table(table).path(), snapshot.slug(table, row)),
    }
}
