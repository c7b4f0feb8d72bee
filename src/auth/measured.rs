//! Durations and failures of store calls.

use std::time::Instant;

use crate::{StoreError, StoreMeasurements, StoreResult};
use platform::metrics::{Counter, Histogram};

#[derive(Default)]
pub(crate) struct MeasuredCalls {
    durations: Histogram,
    failures: Counter,
}

impl MeasuredCalls {
    pub(crate) fn measure<T>(&self, call: impl FnOnce() -> StoreResult<T>) -> StoreResult<T> {
        let started = Instant::now();
        let result = call();
        self.durations.observe(started.elapsed());
        if result.as_ref().is_err_and(StoreError::is_failure) {
            self.failures.add(1);
        }
        result
    }

    pub(crate) fn measurements(&self) -> StoreMeasurements {
        StoreMeasurements { durations: self.durations.observations(), failures: self.failures.get() }
    }
}
