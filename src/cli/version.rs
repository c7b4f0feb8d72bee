//! What `--version` prints of both programs.

use std::fmt::Write;
use std::sync::LazyLock;

use auth::{PostgresStore, SqliteStore};

/// The version, the commit (not of debug builds, see `build_commit.rs`), and the formats that this program reads and writes.
pub(crate) static DETAILED_VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut text = env!("CARGO_PKG_VERSION").to_owned();
    if let Some(commit) = option_env!("VENTUREDEX_COMMIT") {
        let _ = write!(text, "\ncommit {commit}");
    }
    let formats = release::FORMATS.map(|(part, format)| format!("{part} {format}")).join(", ");
    let (sqlite, postgres) = (SqliteStore::VERSION, PostgresStore::VERSION);
    let _ = write!(text, "\nformats: {formats}\naccounts: SQLite {sqlite}, PostgreSQL {postgres}");
    text
});
