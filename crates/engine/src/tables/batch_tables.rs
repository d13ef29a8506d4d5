//! The tables as a batch sees them.

use crate::tables::change_log::ChangeLog;
use crate::tables::changes::Change;
use crate::tables::{StoredTables, TableError};
use std::cell::RefCell;

/// The tables as a batch sees them: what is stored, with the batch's own changes.
///
/// Changes are collected in the order in which they were decided, and applied before the next read and at the end of the
/// batch. Applying them cannot conflict: uniqueness was checked before.
pub struct Tables<'a> {
    stored: Box<dyn StoredTables + 'a>,
    pending: RefCell<Vec<Change>>,
    log: Option<&'a RefCell<ChangeLog>>,
}

impl<'a> Tables<'a> {
    pub fn new(stored: impl StoredTables + 'a) -> Tables<'a> {
        Tables { stored: Box::new(stored), pending: RefCell::default(), log: None }
    }

    /// Returns tables that add each change to a log after it was applied.
    pub fn with_log(stored: impl StoredTables + 'a, log: &'a RefCell<ChangeLog>) -> Tables<'a> {
        Tables { log: Some(log), ..Tables::new(stored) }
    }

    /// Returns the stored tables, with all changes so far applied.
    pub fn read(&self) -> Result<&dyn StoredTables, TableError> {
        self.apply()?;
        Ok(&*self.stored)
    }

    pub fn write(&self, change: impl Into<Change>) {
        self.pending.borrow_mut().push(change.into());
    }

    /// Applies the collected changes. Nothing can be written after that.
    pub fn finish(self) -> Result<(), TableError> {
        self.apply()
    }

    /// Applies the collected changes.
    pub fn apply(&self) -> Result<(), TableError> {
        let mut log = self.log.map(RefCell::borrow_mut);
        for change in self.pending.borrow_mut().drain(..) {
            change.apply(&*self.stored)?;
            if let Some(log) = &mut log {
                log.add(&change)?;
            }
        }
        Ok(())
    }
}
