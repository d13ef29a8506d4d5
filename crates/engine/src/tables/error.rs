//! Why rows could not be read or written.

use std::error::Error;
use std::fmt;

/// Reading or writing rows failed. Holds the store's own error, which only the store understands, or [`Unreadable`].
#[derive(Debug)]
pub struct TableError(Box<dyn Error + Send + Sync>);

/// A row is invalid: it is damaged, or was written by another release.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

impl TableError {
    pub fn unreadable(what: impl fmt::Display) -> TableError {
        TableError(Box::new(Unreadable(what.to_string())))
    }

    /// Whether a row was invalid. Reading it again fails again, unlike after any other error.
    pub fn is_unreadable(&self) -> bool {
        self.0.is::<Unreadable>()
    }

    /// Returns the store's own error, if it is of this type.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }

    pub fn into_inner(self) -> Box<dyn Error + Send + Sync> {
        self.0
    }
}

/// Lets `?` convert a store's own errors. For the same reason `TableError` is no [`Error`] itself.
impl<E: Error + Send + Sync + 'static> From<E> for TableError {
    fn from(error: E) -> TableError {
        TableError(Box::new(error))
    }
}
