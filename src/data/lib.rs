//! Records of venture data: from CSV to a checked, compiled [`Snapshot`], and the archive format that stores it.
//!
//! The lowest crate. The build script of `catalog` uses it, too, and compiles the bundled dataset.
//!
//! A row number is the only internal id: each table is sorted into its default order when it is compiled, and row `n` is
//! document `n` of its text index and bit `n` of its facet sets.
#![warn(unreachable_pub)]

pub mod archive;
pub mod city;
pub mod compile;
mod country;
pub mod coverage;
mod date;
pub mod derive;
pub mod evidence;
pub mod field;
pub mod fold;
pub mod formula;
pub mod hex;
pub mod identifier;
pub mod import;
pub mod license;
pub mod meaning;
pub mod model;
pub mod name;
pub mod names;
pub mod number;
pub mod parallel;
pub mod parameter_error;
pub mod read_at;
mod recent;
mod schema;
pub mod sector_field;
pub mod similarity;
pub mod snapshot;
mod version;
pub mod vocabulary;
pub mod word_file;
pub mod written;

pub use archive::none::{NONE_I32, NONE_U8, NONE_U16, NONE_U32, NONE_U64};
pub use archive::record_text::{RecordText, begin_object};
pub use archive::records::{RecordFile, RecordStore};
pub use archive::{ArchiveError, Checksums};
pub use compile::{Compiled, check, compile};
pub use country::Country;
pub use date::{Date, PartialDate, http_date, rfc3339};
pub use import::diagnostics::{Diagnostic, DiagnosticReport, NoProgress, Progress, Severity};
pub use names::{MAX_PROMINENCE, Names};
pub use parameter_error::ParameterError;
pub use recent::RecentPeriod;
pub use schema::{Facet, Metric, Table};
pub use snapshot::{Counts, Direction, Snapshot};
pub use version::SnapshotVersion;
pub use vocabulary::{
    CountrySource, FirmKind, HoldReason, LookUpStatus, OrganizationKind, ReviewProof, ReviewStatus, ReviewerRole, Role,
    Stage, StartupStatus,
};
