//! A store whose calls fail: each with a chance that the simulator sets.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use auth::quota::Tiers;
use auth::{Durability, KeyChanges, ReadKind, SqliteStore, Statements, Store, StoreError, StoreMeasurements};

use crate::support::harness::Numbers;

/// How often calls fail, in percent, and what decides.
pub struct Faults {
    pub percent: u64,
    pub numbers: Numbers,
    /// Calls so far.
    pub calls: u64,
}

/// A store that fails before it does anything.
pub struct FaultyStore {
    pub store: Arc<SqliteStore>,
    pub faults: Arc<Mutex<Faults>>,
}

impl FaultyStore {
    fn fail(&self) -> Result<(), StoreError> {
        let mut faults = self.faults.lock().unwrap();
        faults.calls += 1;
        let percent = faults.percent;
        if faults.numbers.upto(100) >= percent {
            return Ok(());
        }
        match faults.numbers.upto(8) {
            0 => std::thread::sleep(Duration::from_millis(1)),
            1..4 => return Err(StoreError::Busy),
            _ => {
                let source = io::Error::other("input/output error");
                return Err(StoreError::File { path: PathBuf::from("venturedex.sqlite"), source });
            }
        }
        Ok(())
    }
}

impl Store for FaultyStore {
    fn read(&self, reading: ReadKind, operation: &'static str, read: Statements<'_>) -> Result<(), StoreError> {
        self.fail()?;
        self.store.read(reading, operation, read)
    }

    fn write(&self, durability: Durability, operation: &'static str, change: Statements<'_>) -> Result<(), StoreError> {
        self.fail()?;
        self.store.write(durability, operation, change)
    }

    fn check(&self) -> Result<(), StoreError> {
        self.fail()?;
        self.store.check()
    }

    fn changes(&self, since: i64) -> Result<KeyChanges, StoreError> {
        self.fail()?;
        self.store.changes(since)
    }

    fn measurements(&self) -> StoreMeasurements {
        self.store.measurements()
    }

    fn tiers(&self) -> &Tiers {
        self.store.tiers()
    }

    fn erase_deleted(&self) {
        self.store.erase_deleted();
    }
}
