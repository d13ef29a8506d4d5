//! Notes the first use of each account, carrier and connection, and removes those that were never used. Both happen in the
//! writer, so an entry that is removed cannot be used meanwhile: a command that was prepared with an older setup fails.

use crate::batch::Batch;
use crate::ops::{EntryRemoved, EntryUse, NumberedEntry, Usage};
use crate::tables::TableError;

/// Notes that an entry is used. Fails if it was removed; then the whole command must not be done.
pub fn note(batch: &mut Batch<'_>, entry: NumberedEntry, usage: Usage) -> Result<(), TableError> {
    match batch.state.entry_uses.of(entry) {
        None => batch.state.entry_uses.set(entry, usage, batch.now),
        Some((Usage::Removed, _)) => return Err(EntryRemoved(entry).into()),
        Some(_) => {}
    }
    Ok(())
}

/// Whether an entry was removed.
pub fn is_removed(batch: &Batch<'_>, entry: NumberedEntry) -> bool {
    matches!(batch.state.entry_uses.of(entry), Some((Usage::Removed, _)))
}

/// Fails if the entry of this kind and number was removed.
pub fn check_present(batch: &Batch<'_>, kind: &str, id: u32) -> Result<(), TableError> {
    match NumberedEntry::of(kind, id) {
        Some(entry) if is_removed(batch, entry) => Err(EntryRemoved(entry).into()),
        Some(_) | None => Ok(()),
    }
}

/// Returns the use that prevents one of these entries, by kind and id, from being removed.
pub fn find_use(batch: &Batch<'_>, entries: &[(String, u32)]) -> Option<EntryUse> {
    entries.iter().find_map(|(kind, id)| {
        let (usage, at) = batch.state.entry_uses.of(NumberedEntry::of(kind, *id)?)?;
        (usage != Usage::Removed).then(|| EntryUse { kind: kind.clone(), id: *id, usage, at })
    })
}

/// Notes that an entry is removed, so that it is never used and its number is not used again.
pub fn remove(batch: &mut Batch<'_>, kind: &str, id: u32) {
    if let Some(entry) = NumberedEntry::of(kind, id) {
        // A change of the setup says no time: that of the last command is near enough.
        batch.state.entry_uses.set(entry, Usage::Removed, batch.now.max(batch.state.last_time));
    }
}
