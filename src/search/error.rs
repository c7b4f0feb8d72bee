use thiserror::Error;

use crate::FORMAT;
use crate::index::MAX_ROWS;
use data::ArchiveError;

/// Error of building or opening a text index. Searching an open index never fails.
#[derive(Debug, Error)]
pub enum SearchError {
    #[error("text index: {0}")]
    Tantivy(#[source] Box<tantivy::TantivyError>),
    #[error("text index: {file} is missing: build the release again with the indexer")]
    Missing { file: &'static str },
    #[error("text index: format {found}, this program reads format {FORMAT}: build the release again with its indexer")]
    Format { found: String },
    /// The index does not have one segment with a document for each row.
    #[error(
        "text index: {documents} documents in {segments} segments for {rows} rows: build the release again with the indexer"
    )]
    Shape { segments: usize, documents: u32, rows: u32 },
    #[error("text index: {rows} rows exceed the maximum of {MAX_ROWS}")]
    TooManyRows { rows: u32 },
    #[error("text index: {part} is damaged: build the release again with the indexer")]
    Damaged { part: &'static str },
    #[error("text index: side tables: {0}")]
    Tables(#[from] ArchiveError),
}

impl From<tantivy::TantivyError> for SearchError {
    fn from(cause: tantivy::TantivyError) -> Self {
        Self::Tantivy(Box::new(cause))
    }
}
