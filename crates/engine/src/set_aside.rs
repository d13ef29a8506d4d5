//! Sets aside what cannot be read. If the row of a part, or of its message, is invalid, all parts of the message leave
//! the queues, so that they hold up no other message. The message's row stays. What was set aside is logged, listed and
//! named by the audit until an operator has repaired it.

use crate::batch::{Batch, EngineState};
use crate::ops::Job;
use crate::tables::{
    MessageKey, PartRow, SetAsideChange, StoredMessageKey, TableError, Tables, UnreadablePart,
};
use hermod_domain::ids::PartNo;
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;

/// Parts that one search at the start returns.
const UNREADABLE_PER_LOOK: u32 = 1_000;

/// Sets aside all parts whose own rows are invalid. Runs before the state is loaded. Returns them, for the log.
pub fn all_unreadable(tables: &Tables<'_>, now: Timestamp) -> Result<Vec<UnreadablePart>, TableError> {
    let mut all = Vec::new();
    loop {
        let found = tables.read()?.unreadable_parts(UNREADABLE_PER_LOOK)?;
        if found.is_empty() {
            return Ok(all);
        }
        for part in found {
            // None if another part of its message was set aside before.
            if !tables.read()?.stored_states(part.key)?.is_empty() {
                let (key, reason) = (part.key, part.reason.clone());
                tables.write(SetAsideChange::Parts { key, reason, at: now });
                all.push(part);
            }
        }
    }
}

impl EngineState {
    /// Removes a message that is set aside from memory. `states`: the states of its parts.
    fn forget_message(&mut self, key: MessageKey, states: &[Option<PartState>]) {
        let MessageKey { carrier, account, message } = key;
        self.lanes.remove_message(carrier, account, message);
        self.recent_messages.remove(&message);
        states.iter().flatten().for_each(|state| self.queues.forget(key.into(), *state));
    }
}

/// Sets aside the messages of parts that cannot be read.
pub fn messages(batch: &mut Batch<'_>, unreadable: Vec<UnreadablePart>) -> Result<(), TableError> {
    unreadable.into_iter().try_for_each(|part| message(batch, part))
}

/// Sets aside those of these messages that still have a part that cannot be read.
pub fn still_unreadable(batch: &mut Batch<'_>, parts: &[UnreadablePart]) -> Result<(), TableError> {
    for part in parts {
        match part.key.to_key() {
            Some(key) => drop(read_parts(batch, key)?),
            // Its key is invalid, so no command writes to its row.
            None => message(batch, part.clone())?,
        }
    }
    Ok(())
}

/// Sets aside all parts of a message.
pub fn message(batch: &mut Batch<'_>, part: UnreadablePart) -> Result<(), TableError> {
    let states = batch.tables.read()?.stored_states(part.key)?;
    let (key, reason) = (part.key, part.reason.clone());
    batch.tables.write(SetAsideChange::Parts { key, reason, at: batch.now });
    if let Some(key) = part.key.to_key() {
        batch.state.forget_message(key, &states);
    }
    if !states.is_empty() {
        batch.results.set_aside.push(part);
    }
    Ok(())
}

/// Returns the result of a read. If the row was invalid, sets the message aside and returns none; passes on any
/// other error.
pub fn if_unreadable<T>(
    batch: &mut Batch<'_>,
    key: MessageKey,
    read: Result<T, TableError>,
) -> Result<Option<T>, TableError> {
    let error = match read {
        Ok(read) => return Ok(Some(read)),
        Err(error) => error,
    };
    let reason = batch.tables.read()?.why_unreadable(error)?;
    message(batch, UnreadablePart { key: key.into(), reason })?;
    Ok(None)
}

/// Lists the message because its own row is invalid. Its parts stay in the queues.
pub fn list_unreadable(batch: &mut Batch<'_>, key: MessageKey, error: TableError) -> Result<(), TableError> {
    let reason = batch.tables.read()?.why_unreadable(error)?;
    list(batch, UnreadablePart { key: StoredMessageKey::from(key), reason })
}

/// Lists the message because its own row is invalid, for a given reason. Its parts stay in the queues.
pub fn list(batch: &mut Batch<'_>, message: UnreadablePart) -> Result<(), TableError> {
    let (key, reason) = (message.key, message.reason.clone());
    batch.tables.write(SetAsideChange::Message { key, reason, at: batch.now });
    batch.results.set_aside.push(message);
    Ok(())
}

/// Returns a part's row; none if there is none, or if it was invalid and the message is set aside.
pub fn read_part(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
) -> Result<Option<PartRow>, TableError> {
    let read = batch.tables.part(key, part);
    Ok(if_unreadable(batch, key, read)?.flatten())
}

/// Returns the rows of a message's parts; empty if one of them was invalid and the message is set aside.
pub fn read_parts(batch: &mut Batch<'_>, key: MessageKey) -> Result<Vec<PartRow>, TableError> {
    let read = batch.tables.read()?.parts(key);
    Ok(if_unreadable(batch, key, read)?.unwrap_or_default())
}

/// Returns a waiting part as a job; none if it does not wait, or was invalid and is set aside.
pub fn read_waiting_job(
    batch: &mut Batch<'_>,
    key: MessageKey,
    part: PartNo,
) -> Result<Option<Job>, TableError> {
    let read = batch.tables.read()?.waiting_job(key, part);
    Ok(if_unreadable(batch, key, read)?.flatten())
}
