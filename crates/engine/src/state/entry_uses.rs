//! The accounts, carriers and connections that were used or removed. Each row is written once: with the first use, or with the
//! removal.

use crate::ops::{EntryUse, NumberedEntry, Usage};
use crate::state::overlay::Overlay;
use crate::tables::{RowChange, TableError, Tables};
use hermod_domain::time::Timestamp;

pub struct EntryUses(Overlay<(Usage, Timestamp), NumberedEntry>);

impl EntryUses {
    pub fn load(tables: &Tables<'_>) -> Result<EntryUses, TableError> {
        let rows = tables.read()?.entry_uses()?.into_iter();
        let known = rows.map(|EntryUse { kind, id, usage, at }| {
            let entry = NumberedEntry::of(&kind, id);
            let entry = entry.ok_or_else(|| TableError::unreadable(format!("a use of {kind} {id}")))?;
            Ok((entry, (usage, at)))
        });
        Ok(EntryUses(Overlay::over(known.collect::<Result<_, TableError>>()?)))
    }

    /// Returns what an entry was used for first, and when; or that it was removed.
    pub fn of(&self, entry: NumberedEntry) -> Option<(Usage, Timestamp)> {
        self.0.get(entry)
    }

    pub fn set(&mut self, entry: NumberedEntry, usage: Usage, at: Timestamp) {
        self.0.set(entry, (usage, at));
    }

    /// Writes the changed rows. They become final with [`EntryUses::committed`].
    pub fn write(&self, tables: &Tables<'_>) {
        for (entry, (usage, at)) in self.0.changed() {
            let (kind, id) = entry.kind_and_id();
            tables.write(RowChange::Put(EntryUse { kind: kind.to_owned(), id, usage, at }));
        }
    }

    /// Returns all rows, in order.
    pub fn rows(&self) -> Vec<(NumberedEntry, (Usage, Timestamp))> {
        self.0.rows()
    }

    pub fn committed(&mut self) {
        self.0.committed();
    }

    pub fn rolled_back(&mut self) {
        self.0.rolled_back();
    }
}
