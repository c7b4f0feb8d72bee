//! From CSV to a checked, compiled [`Snapshot`]: the ground floor, shared with `build.rs`.
//!
//! A row number is the only id inside: each table is sorted into a fixed order when it is compiled, and row `n` is
//! document `n` of its text index and bit `n` of its facet sets.

pub mod country;
pub mod date;
pub mod fold;
pub mod names;
pub mod version;
pub mod vocabulary;
pub mod write;

pub use country::Country;
pub use date::Date;
pub use names::Names;
pub use version::SnapshotVersion;
pub use vocabulary::{FirmKind, OrganizationKind, ReviewStatus, Stage, StartupStatus};
