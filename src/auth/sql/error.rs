//! Errors of store calls.

use std::error::Error;

use crate::StoreError;

pub(crate) type SqlResult<T> = Result<T, SqlError>;

#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    #[error(transparent)]
    Rule(#[from] StoreError),
    #[error("unexpected value in the database: {0}")]
    Data(String),
    #[error("{source}")]
    Database { failure: Failure, source: Box<dyn Error + Send + Sync> },
}

/// Kind of a failure; decides how the call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Others held a lock or a connection for too long.
    Busy,
    /// The transaction was rolled back because of another one; it may succeed if repeated.
    Conflict,
    Full,
    /// The connection was lost; the call may succeed with another.
    Lost,
    Timeout,
    /// The file is no database.
    Foreign,
    Other,
}

impl SqlError {
    pub(crate) fn is(&self, expected: Failure) -> bool {
        matches!(self, Self::Database { failure, .. } if *failure == expected)
    }

    pub(crate) fn into_store_error(self, operation: &'static str) -> StoreError {
        match self {
            Self::Rule(error) => error,
            Self::Database { failure: Failure::Busy | Failure::Conflict, .. } => StoreError::Busy,
            Self::Database { failure: Failure::Full, .. } => StoreError::Full(operation),
            Self::Database { source, .. } => StoreError::Database { operation, source },
            error @ Self::Data(_) => StoreError::Database { operation, source: Box::new(error) },
        }
    }
}
