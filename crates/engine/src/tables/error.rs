//! Why rows could not be read or written.

use std::error::Error;
use std::fmt;

/// Reading or writing rows failed. Holds the store's own error, which only the store understands, or [`Unreadable`].
#[derive(Debug)]
pub struct TableError(Box<dyn Error + Send + Sync>);

/// A row was read and makes no sense: it is damaged, or of another release.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

impl TableError {
    pub fn unreadable(what: impl fmt::Display) -> TableError {
        TableError(Box::new(Unreadable(what.to_string())))
    }

    /// Returns whether a row was read that makes no sense. Reading it again gives the same, unlike after any other error.
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

/// So that a store's own errors become this one with `?`. For the same reason it is no [`Error`] itself.
impl<E: Error + Send + Sync + 'static> From<E> for TableError {
    fn from(error: E) -> TableError {
        TableError(Box::new(error))
    }
}
