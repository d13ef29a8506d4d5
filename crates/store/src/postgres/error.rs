//! Why PostgreSQL did not do something.

use crate::error::{BackendError, BackendErrorKind, StoreError};
use std::time::Duration;
use tokio_postgres::error::SqlState;

/// The class of errors about connections.
const CONNECTION_EXCEPTIONS: &str = "08";

pub(crate) type Result<T> = std::result::Result<T, PostgresError>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum PostgresError {
    #[error("{}", describe(.0))]
    Server(#[from] tokio_postgres::Error),
    #[error("the connection to PostgreSQL was lost within a transaction")]
    ConnectionLost,
    #[error("PostgreSQL did not answer within {0:?}")]
    NoAnswer(Duration),
    #[error("no runtime for a connection to PostgreSQL: {0}")]
    Runtime(std::io::Error),
    #[error(transparent)]
    Value(#[from] rusqlite::Error),
    #[error("the values do not fit a statement for many rows: {0}")]
    Unfit(String),
}

impl PostgresError {
    /// Whether the connection is gone, so that it is unknown what the server did.
    pub(crate) fn is_connection_lost(&self) -> bool {
        match self {
            PostgresError::Server(error) => error.is_closed() || is_socket_error(error) || is_shutdown(error),
            PostgresError::ConnectionLost | PostgresError::NoAnswer(_) => true,
            PostgresError::Runtime(_) | PostgresError::Value(_) | PostgresError::Unfit(_) => false,
        }
    }

    /// Whether the server stopped the statement because it took too long.
    pub(crate) fn is_interrupted(&self) -> bool {
        matches!(self, PostgresError::Server(error) if error.code() == Some(&SqlState::QUERY_CANCELED))
    }

    /// Whether a statement divided by zero, by which a transaction is made to fail.
    pub(crate) fn is_division_by_zero(&self) -> bool {
        matches!(self, PostgresError::Server(error) if error.code() == Some(&SqlState::DIVISION_BY_ZERO))
    }

    /// Whether a row with the same key exists.
    pub(crate) fn is_duplicate_key(&self) -> bool {
        matches!(self, PostgresError::Server(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION))
    }

    /// Whether the statement did not get a lock in time.
    pub(crate) fn is_lock_timeout(&self) -> bool {
        matches!(self, PostgresError::Server(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }

    /// Whether the server has no room for more.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, PostgresError::Server(error) if error.code() == Some(&SqlState::DISK_FULL))
    }
}

impl From<PostgresError> for StoreError {
    fn from(error: PostgresError) -> StoreError {
        let kind = if error.is_connection_lost() {
            BackendErrorKind::ConnectionLost
        } else if error.is_full() {
            BackendErrorKind::DiskFull
        } else if error.is_interrupted() {
            BackendErrorKind::Interrupted
        } else {
            BackendErrorKind::Other
        };
        StoreError::Backend(BackendError::new(kind, error))
    }
}

/// Whether the socket failed. A value that could not be encoded is no such error: it fails again.
fn is_socket_error(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

/// Whether the server ended the connection, or does not accept one now. A commit may have been done before that.
fn is_shutdown(error: &tokio_postgres::Error) -> bool {
    let ends = [&SqlState::ADMIN_SHUTDOWN, &SqlState::CRASH_SHUTDOWN, &SqlState::CANNOT_CONNECT_NOW];
    error.code().is_some_and(|code| ends.contains(&code) || code.code().starts_with(CONNECTION_EXCEPTIONS))
}

/// Returns the server's words, which `tokio_postgres` leaves to the source of its error.
fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("PostgreSQL: {} ({})", error.message(), error.code().code()),
        None => {
            let source = std::error::Error::source(error).map(|source| format!(": {source}"));
            format!("PostgreSQL: {error}{}", source.unwrap_or_default())
        }
    }
}
