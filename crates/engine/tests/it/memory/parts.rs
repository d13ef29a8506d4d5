//! Parts of messages that have not ended.

use super::columns::{NO_MESSAGE, stored_number, stored_time};
use super::table::Table;
use super::{MemoryTables, Rows, jobs, messages};
use hermod_domain::ids::{AccountId, CarrierId, PartNo};
use hermod_domain::lifecycle::{PartState, Parts};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::Job;
use hermod_engine::tables::{
    DueKey, DueRead, LaneCounts, LaneRead, MessageKey, OpenMessage, PartChange, PartRow, PartRows, Readings,
    SendingPart, TableError, UnreadablePart, WaitingJob,
};
use std::collections::BTreeMap;

/// The key of a row: carrier, account, message and number.
pub(super) type Key = (u32, u32, i64, u8);

impl Rows {
    /// Returns the rows of a message's parts, in order: all of them are in one of the two tables.
    pub(super) fn parts_at(&self, key: MessageKey) -> Vec<PartRow> {
        let found = rows_at(&self.part, key);
        if found.is_empty() { rows_at(&self.late_part, key) } else { found }
    }

    /// Deletes a message's parts and returns their rows.
    pub(super) fn delete_parts(&mut self, key: MessageKey) -> Vec<PartRow> {
        let found = self.parts_at(key);
        for row in &found {
            let row_key = stored_key(key, row.part);
            let table = if self.part.contains_key(&row_key) { &mut self.part } else { &mut self.late_part };
            table.delete(&row_key);
        }
        found
    }

    /// Changes the row of a part in either table.
    #[track_caller]
    fn update_part(&mut self, row_key: &Key, change: impl FnOnce(&mut PartRow)) {
        let is_late = self.late_part.contains_key(row_key);
        assert!(!is_late || !self.part.contains_key(row_key), "part {row_key:?} stands in both tables");
        let table = if is_late { &mut self.late_part } else { &mut self.part };
        table.update(row_key, change);
    }

    fn move_parts(&mut self, key: MessageKey, to: CarrierId, due_at: Option<Timestamp>) {
        let found = rows_at(&self.part, key);
        assert!(!found.is_empty(), "the parts of {key:?} are moved and are not there");
        let (there, due_at) = (MessageKey { carrier: to, ..key }, stored_time(due_at));
        for row in found {
            self.part.delete(&stored_key(key, row.part));
            self.part.add(stored_key(there, row.part), PartRow { key: there, due_at, ..row });
        }
    }

    /// A message whose parts are late already is left as it is.
    fn set_parts_late(&mut self, key: MessageKey) {
        for row in rows_at(&self.part, key) {
            let row_key = stored_key(key, row.part);
            self.part.delete(&row_key);
            self.late_part.add(row_key, row);
        }
    }
}

impl PartRows for MemoryTables {
    fn change_part(&self, change: &PartChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match *change {
            PartChange::Add(row) => {
                let row = PartRow { due_at: stored_time(row.due_at), ..row };
                rows.part.add(stored_key(row.key, row.part), row);
            }
            PartChange::State { key, part, now, due_at, attempts } => {
                rows.update_part(&stored_key(key, part), |row| {
                    row.now = now;
                    row.due_at = stored_time(due_at);
                    row.attempts = attempts.unwrap_or(row.attempts);
                });
            }
            PartChange::DueTime { key, part, due_at } => {
                rows.part.update(&stored_key(key, part), |row| row.due_at = stored_time(due_at));
            }
            PartChange::Expiry { key, part, expires_at } => {
                rows.update_part(&stored_key(key, part), |row| row.expires_at = expires_at);
            }
            PartChange::Move { key, to, due_at } => rows.move_parts(key, to, due_at),
            PartChange::Delete(key) => drop(rows.delete_parts(key)),
            PartChange::SetLate(key) => rows.set_parts_late(key),
        }
        Ok(())
    }

    fn part(&self, key: MessageKey, part: PartNo) -> Result<Option<PartRow>, TableError> {
        let (rows, row_key) = (self.read(), stored_key(key, part));
        Ok(rows.part.get(&row_key).or_else(|| rows.late_part.get(&row_key)).copied())
    }

    fn parts(&self, key: MessageKey) -> Result<Vec<PartRow>, TableError> {
        Ok(self.read().parts_at(key))
    }

    fn part_states(&self, key: MessageKey) -> Result<Parts, TableError> {
        Ok(self.read().parts_at(key).iter().map(|row| row.now).collect())
    }

    fn open_messages(&self, keys: &[MessageKey]) -> Result<Readings<OpenMessage>, TableError> {
        let rows = self.read();
        let read = |key: &MessageKey| OpenMessage {
            parts: rows.parts_at(*key),
            message: rows.message.get(&key.message.as_i64()).map(messages::open_row),
        };
        let found = keys.iter().map(read).filter(|message| !message.parts.is_empty());
        Ok(Readings { rows: found.collect(), unreadable: Vec::new() })
    }

    fn waiting_jobs_at(&self, parts: &[(MessageKey, PartNo)]) -> Result<Readings<Job>, TableError> {
        let rows = self.read();
        let mut jobs = Readings::default();
        for (key, part) in parts {
            if let Some(row) = rows.part.get(&stored_key(*key, *part)).filter(|row| waits(row)) {
                jobs::sort_in(&mut jobs, row, jobs::read(&rows, row));
            }
        }
        Ok(jobs)
    }

    fn waiting_job(&self, key: MessageKey, part: PartNo) -> Result<Option<Job>, TableError> {
        let rows = self.read();
        let row = rows.part.get(&stored_key(key, part)).filter(|row| waits(row));
        row.map(|row| jobs::read(&rows, row)).transpose()
    }

    fn waiting_jobs(&self, refill: LaneRead) -> Result<Readings<WaitingJob>, TableError> {
        jobs::read_waiting(&self.read(), refill)
    }

    fn lane_counts(&self) -> Result<Vec<LaneCounts>, TableError> {
        let mut lanes: BTreeMap<(u32, u32), LaneCounts> = BTreeMap::new();
        for row in self.read().part.values() {
            let MessageKey { carrier, account, .. } = row.key;
            let none = LaneCounts { carrier, account, waiting: 0, in_flight: 0, for_a_slot: 0 };
            let counts = lanes.entry((carrier.get(), account.get())).or_insert(none);
            counts.waiting += u64::from(waits(row));
            counts.in_flight += u64::from(row.now.state == PartState::Sending);
            counts.for_a_slot += u64::from(waits_for_a_slot(row));
        }
        Ok(lanes.into_values().collect())
    }

    fn due_keys(&self, read: DueRead) -> Result<Vec<DueKey>, TableError> {
        let DueRead { carrier, account, after, limit } = read;
        let rows = self.read();
        let mut keys: Vec<DueKey> = lane(&rows, carrier, account).filter_map(due_place).collect();
        keys.sort_unstable();
        let keys = keys.into_iter().filter(|key| after.is_none_or(|after| *key > after));
        Ok(keys.take(limit).collect())
    }

    fn deferred_parts(&self, after: Option<&PartRow>, limit: usize) -> Result<Vec<PartRow>, TableError> {
        let order = |row: &PartRow| {
            let MessageKey { carrier, account, message } = row.key;
            (carrier, account, row.due_at, message, row.part)
        };
        let rows = self.read();
        let deferred = rows.part.values().filter(|row| due_place(row).is_some());
        let mut deferred: Vec<PartRow> =
            deferred.filter(|row| after.is_none_or(|after| order(row) > order(after))).copied().collect();
        deferred.sort_by_key(order);
        deferred.truncate(limit);
        Ok(deferred)
    }

    fn unreadable_deferred_parts(&self) -> Result<Vec<UnreadablePart>, TableError> {
        Ok(Vec::new())
    }

    fn sending_parts(&self) -> Result<Readings<SendingPart>, TableError> {
        let rows = self.read();
        let mut sending = Readings::default();
        for row in rows.part.values().filter(|row| row.now.state == PartState::Sending) {
            jobs::sort_in(&mut sending, row, read_sending(&rows, row));
        }
        Ok(sending)
    }

    fn parts_expiring_after(&self, at: Timestamp) -> Result<Vec<PartRow>, TableError> {
        let rows = self.read();
        let mut found: Vec<PartRow> = rows.part.values().filter(|row| row.expires_at > at).copied().collect();
        let late = rows.late_part.values().filter(|row| row.expires_at > at && is_waited_for(row));
        let mut late: Vec<PartRow> = late.copied().collect();
        late.sort_by_key(|row| (row.key.carrier, row.expires_at, stored_key(row.key, row.part)));
        found.append(&mut late);
        Ok(found)
    }
}

fn stored_key(key: MessageKey, part: PartNo) -> Key {
    (key.carrier.get(), key.account.get(), key.message.as_i64(), part.get())
}

fn rows_at(table: &Table<Key, PartRow>, key: MessageKey) -> Vec<PartRow> {
    let MessageKey { carrier, account, message } = key;
    let (carrier, account, message) = (carrier.get(), account.get(), message.as_i64());
    let range = (carrier, account, message, 0)..=(carrier, account, message, u8::MAX);
    table.range(range).map(|(_, row)| *row).collect()
}

/// Whether a receipt of a submitted part may still come in time.
fn is_waited_for(row: &PartRow) -> bool {
    matches!(row.now.state, PartState::Presumed | PartState::Sent | PartState::Enroute)
}

/// Whether a part waits for a slot or for its due time.
fn waits(row: &PartRow) -> bool {
    matches!(row.now.state, PartState::Queued | PartState::InDoubt)
}

pub(super) fn waits_for_a_slot(row: &PartRow) -> bool {
    waits(row) && row.due_at.is_none()
}

/// Returns the parts of a lane, in order.
pub(super) fn lane(rows: &Rows, carrier: CarrierId, account: AccountId) -> impl Iterator<Item = &PartRow> {
    let (carrier, account) = (carrier.get(), account.get());
    rows.part.range((carrier, account, 0, 0)..=(carrier, account, i64::MAX, u8::MAX)).map(|(_, row)| row)
}

/// Returns the key of a deferred part; None for any other.
fn due_place(row: &PartRow) -> Option<DueKey> {
    let at = row.due_at.filter(|at| waits(row) && at.as_millis() > 0)?;
    Some(DueKey { at, message: row.key.message, part: row.part })
}

fn read_sending(rows: &Rows, row: &PartRow) -> Result<SendingPart, TableError> {
    let message = rows.message.get(&row.key.message.as_i64());
    let message = message.ok_or_else(|| TableError::unreadable(NO_MESSAGE))?;
    Ok(SendingPart { key: row.key, part: row.part, to: stored_number(message.to)? })
}
