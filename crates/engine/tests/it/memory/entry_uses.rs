//! The first uses of entries, and removed entries.

use super::MemoryTables;
use hermod_engine::ops::EntryUse;
use hermod_engine::tables::{EntryUseRows, TableError};

impl EntryUseRows for MemoryTables {
    fn entry_uses(&self) -> Result<Vec<EntryUse>, TableError> {
        Ok(self.read().entry_use.values().map(|row| (**row).clone()).collect())
    }
}
