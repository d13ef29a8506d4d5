//! Why a statement failed.

use crate::postgres;

pub(crate) type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// SQLite failed, or a column has another value than was asked for.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Postgres(#[from] postgres::PostgresError),
}

impl Error {
    /// Whether a query found no row.
    pub(crate) fn is_no_row(&self) -> bool {
        matches!(self, Error::Sqlite(rusqlite::Error::QueryReturnedNoRows))
    }

    /// Whether a column has a value of another type, or one that is out of range.
    pub(crate) fn is_invalid_value(&self) -> bool {
        use rusqlite::Error as E;
        let (Error::Sqlite(error) | Error::Postgres(postgres::PostgresError::Value(error))) = self else {
            return false;
        };
        matches!(
            error,
            E::FromSqlConversionFailure(..)
                | E::IntegralValueOutOfRange(..)
                | E::InvalidColumnType(..)
                | E::Utf8Error(..)
        )
    }
}

impl From<rusqlite::types::FromSqlError> for Error {
    fn from(error: rusqlite::types::FromSqlError) -> Error {
        Error::Sqlite(error.into())
    }
}

/// Turns "no row" into none.
pub(crate) trait OptionalExtension<T> {
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExtension<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_no_row() => Ok(None),
            Err(error) => Err(error),
        }
    }
}
