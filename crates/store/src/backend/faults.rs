//! How an error of a table becomes a fault of the store: each backend knows its own errors.

use crate::fault::StoreFault;
use crate::sqlite::errors;
use hermod_engine::tables::TableError;

impl From<TableError> for StoreFault {
    fn from(error: TableError) -> StoreFault {
        let error = match errors::table_fault(error.into_inner()) {
            Ok(fault) => return fault,
            Err(error) => error,
        };
        match error.downcast::<StoreFault>() {
            Ok(fault) => *fault,
            Err(error) => StoreFault::Damaged(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_that_passed_through_a_table_error_is_the_same_fault() {
        let fault = StoreFault::from(TableError::from(StoreFault::CopyUnderWay));
        assert!(matches!(fault, StoreFault::CopyUnderWay), "{fault}");
    }
}
