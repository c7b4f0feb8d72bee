//! What a search writes on, used again by the next one.

use std::sync::{Mutex, PoisonError};

/// Buffers of one search.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// For each row the round in which it was last touched, and the query words found in it.
    seen: Vec<(u32, u16)>,
    round: u32,
    /// Rows touched in this round, in the order of their first touch.
    pub touched: Vec<u32>,
    /// The folded text of a candidate.
    pub folded: String,
    /// The folded text of a candidate without spaces.
    pub joined: String,
    /// The sound of a candidate.
    pub sound: String,
}

impl Scratch {
    /// Starts a search over a table of `rows` rows.
    fn begin(&mut self, rows: u32) {
        self.touched.clear();
        let rows = usize::try_from(rows).unwrap_or(0);
        if self.seen.len() != rows || self.round == u32::MAX {
            self.seen.clear();
            self.seen.resize(rows, (0, 0));
            self.round = 0;
        }
        self.round += 1;
    }

    /// Notes that `row` holds the query words of `mask`, where 0 means a row found otherwise.
    pub fn touch(&mut self, row: u32, mask: u16) {
        let Some(place) = usize::try_from(row).ok().and_then(|row| self.seen.get_mut(row)) else { return };
        if place.0 == self.round {
            place.1 |= mask;
        } else {
            *place = (self.round, mask);
            self.touched.push(row);
        }
    }

    /// Adds `mask` to `row` if it was touched in this round.
    pub fn mark(&mut self, row: u32, mask: u16) {
        if let Some(place) = usize::try_from(row).ok().and_then(|row| self.seen.get_mut(row))
            && place.0 == self.round
        {
            place.1 |= mask;
        }
    }
}

/// Scratch buffers that wait for the next search.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Vec<Scratch>>);

impl Pool {
    /// Lends a scratch for one search.
    pub fn with<T>(&self, rows: u32, search: impl FnOnce(&mut Scratch) -> T) -> T {
        let lent = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch = lent.unwrap_or_default();
        scratch.begin(rows);
        let result = search(&mut scratch);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        result
    }
}
