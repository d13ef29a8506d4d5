//! How an error of a table becomes a fault of the store: each backend knows its own errors.

use crate::error::StoreError;
use crate::sqlite::errors;
use hermod_engine::tables::TableError;

impl From<TableError> for StoreError {
    fn from(error: TableError) -> StoreError {
        let error = match errors::table_fault(error.into_inner()) {
            Ok(fault) => return fault,
            Err(error) => error,
        };
        match error.downcast::<StoreError>() {
            Ok(fault) => *fault,
            Err(error) => StoreError::Damaged(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_that_passed_through_a_table_error_is_the_same_fault() {
        let fault = StoreError::from(TableError::from(StoreError::CopyUnderWay));
        assert!(matches!(fault, StoreError::CopyUnderWay), "{fault}");
    }
}
