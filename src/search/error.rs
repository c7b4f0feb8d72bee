//! What can go wrong when a text index is made or opened.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a text index could not be made or opened. Searching an open index never fails.
#[derive(Debug)]
pub enum SearchError {
    /// Tantivy refused to build, write or read the index.
    Index(Box<tantivy::TantivyError>),
    /// A file of the index could not be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The index was written in another format than this program reads.
    Format {
        /// What was found.
        found: String,
    },
    /// The index is not of one segment with a document for each row.
    Shape {
        /// Segments found.
        segments: usize,
        /// Documents found.
        documents: u32,
        /// Rows of the table.
        rows: u32,
    },
    /// The table has more rows than an index can have.
    TooMany {
        /// Rows of the table.
        rows: u32,
    },
    /// A side table of the index is damaged.
    Damaged {
        /// The part that does not fit.
        part: &'static str,
    },
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(cause) => write!(f, "text index: {cause}"),
            Self::File { path, cause } => write!(f, "text index: {}: {cause}", path.display()),
            Self::Format { found } => {
                write!(f, "text index: it is of format {found}, not {}: build the release again", crate::search::FORMAT)
            }
            Self::Shape { segments, documents, rows } => write!(
                f,
                "text index: it has {documents} documents in {segments} segments for {rows} rows: build the release again"
            ),
            Self::TooMany { rows } => {
                write!(
                    f,
                    "text index: {rows} rows are more than the {} an index can have",
                    crate::search::index::tables::MOST_ROWS
                )
            }
            Self::Damaged { part } => write!(f, "text index: {part} is damaged: build the release again"),
        }
    }
}

impl std::error::Error for SearchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Index(cause) => Some(cause),
            Self::File { cause, .. } => Some(cause),
            Self::Format { .. } | Self::Shape { .. } | Self::TooMany { .. } | Self::Damaged { .. } => None,
        }
    }
}

impl From<tantivy::TantivyError> for SearchError {
    fn from(cause: tantivy::TantivyError) -> Self {
        Self::Index(Box::new(cause))
    }
}
