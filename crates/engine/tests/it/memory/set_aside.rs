//! Invalid rows that were set aside.

use super::columns::{NO_MESSAGE, NoRow, stored_range};
use super::{MemoryTables, Rows};
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{
    PartRow, SetAsideChange, SetAsideRows, StoredMessageKey, TableError, UnreadablePart,
};

/// A row that was set aside, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    at: Timestamp,
    reason: String,
    key: StoredMessageKey,
    /// None if the row of the message is invalid.
    part: Option<PartRow>,
}

impl Rows {
    fn add_set_aside(&mut self, row: Row) {
        let last = self.set_aside.keys().next_back().copied().unwrap_or(0);
        self.set_aside.add(last + 1, row);
    }

    fn set_parts_aside(&mut self, key: StoredMessageKey, reason: &str, at: Timestamp) {
        let Some(message_key) = key.to_key() else { return };
        for part in self.delete_parts(message_key) {
            self.add_set_aside(Row { at, reason: reason.to_owned(), key, part: Some(part) });
        }
    }
}

impl SetAsideRows for MemoryTables {
    fn stored_states(&self, key: StoredMessageKey) -> Result<Vec<Option<PartState>>, TableError> {
        let Some(key) = key.to_key() else { return Ok(Vec::new()) };
        Ok(self.read().parts_at(key).iter().map(|row| Some(row.now.state)).collect())
    }

    fn has_parts_set_aside(&self, message: MessageId) -> Result<bool, TableError> {
        let rows = self.read();
        let is_part = |row: &Row| row.key.message == message.as_i64() && row.part.is_some();
        Ok(rows.set_aside.values().any(is_part))
    }

    fn change_set_aside(&self, change: &SetAsideChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            SetAsideChange::Parts { key, reason, at } => rows.set_parts_aside(*key, reason, *at),
            SetAsideChange::Message { key, reason, at } => {
                let mut there = rows.set_aside.values();
                if there.all(|row| row.key.message != key.message || row.part.is_some()) {
                    let (at, reason) = (*at, reason.clone());
                    rows.add_set_aside(Row { at, reason, key: *key, part: None });
                }
            }
            SetAsideChange::Delete(range) => {
                let range = stored_range(*range);
                rows.set_aside.delete_where(|_, row| range.contains(&row.key.message));
            }
        }
        Ok(())
    }

    fn why_unreadable(&self, error: TableError) -> Result<String, TableError> {
        let is_unreadable = error.is_unreadable();
        match error.into_inner() {
            error if is_unreadable => Ok(error.to_string()),
            error if error.is::<NoRow>() => Ok(NO_MESSAGE.to_owned()),
            error => panic!("a table in memory failed: {error}"),
        }
    }

    fn unreadable_parts(&self, _limit: u32) -> Result<Vec<UnreadablePart>, TableError> {
        Ok(Vec::new())
    }
}
