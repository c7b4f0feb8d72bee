//! From CSV to a checked, compiled [`Snapshot`]: the ground floor, shared with `build.rs`.
//!
//! A row number is the only id inside: each table is sorted into a fixed order when it is compiled, and row `n` is
//! document `n` of its text index and bit `n` of its facet sets.

pub mod archive;
pub mod compile;
pub mod country;
pub mod date;
mod derive;
pub mod facet;
pub mod fold;
pub mod meta;
pub mod names;
mod order;
mod places;
pub mod problem;
pub mod read;
mod record;
mod record_text;
pub mod rows;
pub mod schema;
pub mod score;
pub mod snapshot;
mod table;
mod table_columns;
pub mod unknown;
pub mod version;
pub mod vocabulary;
pub mod write;

pub use archive::{ArchiveError, Checksums};
pub use compile::{Compiled, check, compile};
pub use country::Country;
pub use date::Date;
pub use names::Names;
pub use problem::{Problem, Progress, Quiet, Report, Severity};
pub use record_text::RecordText;
pub use schema::{Facet, Metric, Table};
pub use snapshot::{Counts, Direction, Snapshot};
pub use version::SnapshotVersion;
pub use vocabulary::{FirmKind, OrganizationKind, ReviewStatus, Stage, StartupStatus};
