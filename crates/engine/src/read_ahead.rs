//! Reads what the commands of a batch will need with a few queries, before they run. On a server each query is a round trip, and
//! sends the changes before it: read one by one, the messages of a backlog cost several round trips each. Nothing depends on it:
//! what was not read ahead is read when it is needed.

use crate::batch::{Batch, RecentMessage};
use crate::ops::{CarrierIdQuery, ResponseRecord, SubmitResponse};
use crate::progress::needs_memory;
use crate::state::carrier_id_days::AssignedOn;
use crate::state::report_target::ReportTarget;
use crate::tables::{EventKey, MessageKey, OpenMessage, TableError};
use hermod_domain::ids::CarrierId;
use hermod_domain::lifecycle::{MessageState, Parts, Progress};
use hermod_domain::time::Day;

/// What the commands of a batch will read.
#[derive(Default)]
pub struct ReadPlan<'c> {
    /// Messages whose progress is needed, unless it is in memory.
    messages: Vec<MessageKey>,
    /// Messages of which the rows of the parts are needed.
    parts: Vec<MessageKey>,
    assigned: Vec<AssignedOn<'c>>,
    receipts: Vec<CarrierIdQuery<'c>>,
    events: Vec<EventKey>,
}

impl<'c> ReadPlan<'c> {
    /// Adds what the response to a part reads.
    pub fn add_response(&mut self, carrier: CarrierId, record: &'c ResponseRecord, day: Day) {
        let key = MessageKey { carrier, account: record.account, message: record.message };
        match &record.response {
            SubmitResponse::Temporary { .. } | SubmitResponse::NoResponse => self.parts.push(key),
            SubmitResponse::Accepted(remote) => {
                self.messages.push(key);
                self.assigned.push(AssignedOn { carrier, remote, day });
            }
            SubmitResponse::AcceptedWithoutId
            | SubmitResponse::Throttled
            | SubmitResponse::RecipientThrottled { .. }
            | SubmitResponse::NotSent
            | SubmitResponse::Refused { .. } => self.messages.push(key),
        }
    }

    /// Adds what a receipt reads.
    pub fn add_receipt(&mut self, query: CarrierIdQuery<'c>) {
        self.receipts.push(query);
    }

    /// Adds messages of which the rows of the parts are needed.
    pub fn add_parts(&mut self, keys: impl IntoIterator<Item = MessageKey>) {
        self.parts.extend(keys);
    }

    pub fn add_event(&mut self, key: EventKey) {
        self.events.push(key);
    }
}

/// Reads what the commands of this batch will need. To be called before they run.
pub fn planned(batch: &mut Batch<'_>, plan: ReadPlan<'_>) -> Result<(), TableError> {
    let ReadPlan { messages: mut keys, parts, assigned, receipts, events } = plan;
    for (carrier, assignment) in batch.state.carrier_ids.read_ahead(batch.tables, &assigned, &receipts)? {
        let (account, message) = (assignment.part.account, assignment.part.message);
        keys.push(MessageKey { carrier, account, message });
    }
    keys.retain(|key| !batch.state.recent_messages.contains(&key.message));
    keys.extend(parts);
    messages(batch, keys)?;
    if events.is_empty() { Ok(()) } else { batch.tables.read_events(&events) }
}

/// Reads messages, and adds those that have not ended to the recent ones.
pub fn messages(batch: &mut Batch<'_>, mut keys: Vec<MessageKey>) -> Result<(), TableError> {
    if keys.is_empty() {
        return Ok(());
    }
    keys.sort_unstable();
    keys.dedup();
    for OpenMessage { parts: rows, message } in batch.tables.read_messages(&keys)? {
        let Some(MessageKey { carrier, account, message: id }) = rows.first().map(|row| row.key) else {
            continue;
        };
        let parts: Parts = rows.iter().map(|row| row.now).collect();
        if batch.state.recent_messages.contains(&id) || (message.is_none() && needs_memory(&parts)) {
            continue;
        }
        let state = message.as_ref().map_or(MessageState::Queued, |row| row.state);
        let state = if needs_memory(&parts) { state } else { MessageState::Queued };
        let progress = Progress::of(state, parts);
        let report_target =
            message.map_or(ReportTarget::Unread, |row| ReportTarget::of_row(Some(row.origin)));
        batch.state.recent_messages.insert(id, RecentMessage { account, carrier, progress, report_target });
    }
    Ok(())
}
