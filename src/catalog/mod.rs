//! The one query core over a snapshot.

pub mod live;
pub mod release;
