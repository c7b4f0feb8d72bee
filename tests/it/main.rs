//! The tests that need the whole crate, in one binary.

mod bundled;
