//! Catalogue entries and the rows of provision files.

use super::MemoryTables;
use hermod_engine::tables::{CatalogueRows, TableError};

impl CatalogueRows for MemoryTables {
    fn catalogue_id(&self, kind: &str, name: &str) -> Result<Option<u32>, TableError> {
        let rows = self.read();
        let mut named = rows.catalogue.values().filter(|row| row.kind == kind && row.name == name);
        let id = named.next().map(|row| row.id);
        assert!(named.next().is_none(), "two entries have the name {name:?}");
        Ok(id)
    }

    fn has_catalogue_entry(&self, kind: &str, id: u32) -> Result<bool, TableError> {
        Ok(self.read().catalogue.contains_key(&(kind.to_owned(), id)))
    }
}
