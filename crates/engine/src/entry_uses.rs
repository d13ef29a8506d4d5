//! Notes the first use of each account, carrier and connection, and removes those that were never used. Both happen in the
//! writer, so an entry that is removed cannot be used meanwhile: a command that was prepared with an older setup is refused.

use crate::batch::Batch;
use crate::ops::{EntryRemoved, EntryUse, NumberedEntry, Usage};

/// Notes that entries are used. Fails, and notes none, if one of them was removed. A command calls it before it changes anything:
/// then it is refused, and the other commands of the batch are not affected.
pub fn note_or_refuse(
    batch: &mut Batch<'_>,
    entries: &[NumberedEntry],
    usage: Usage,
) -> Result<(), EntryRemoved> {
    entries.iter().try_for_each(|entry| check_present(batch, *entry))?;
    entries.iter().for_each(|entry| note(batch, *entry, usage));
    Ok(())
}

/// Notes that an entry is used. The caller has checked that it was not removed.
pub fn note(batch: &mut Batch<'_>, entry: NumberedEntry, usage: Usage) {
    debug_assert!(!is_removed(batch, entry), "{entry} was removed");
    if batch.state.entry_uses.of(entry).is_none() {
        batch.state.entry_uses.set(entry, usage, batch.now);
    }
}

/// Whether an entry was removed.
pub fn is_removed(batch: &Batch<'_>, entry: NumberedEntry) -> bool {
    matches!(batch.state.entry_uses.of(entry), Some((Usage::Removed, _)))
}

/// Fails if an entry was removed.
pub fn check_present(batch: &Batch<'_>, entry: NumberedEntry) -> Result<(), EntryRemoved> {
    if is_removed(batch, entry) { Err(EntryRemoved(entry)) } else { Ok(()) }
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
