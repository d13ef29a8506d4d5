//! What is written of messages that the feed did not bring: their state and money as in the store, and the note that steps are
//! missing.

use crate::record::pending::{MessageEnd, NewMessage, PendingMessage};
use crate::record::{CostChange, MessageCosts, RecordedMessage, StepNote};
use hermod_domain::ids::PartNo;
use hermod_domain::lifecycle::MessageState;

/// Returns what is written of a message that the record does not have.
pub(super) fn walked(message: RecordedMessage) -> PendingMessage {
    let mut pending = PendingMessage::new(message.id);
    note_gap(&mut pending, &message);
    pending.new = Some(NewMessage {
        first_carrier: message.carrier,
        charged_parts: message.parts,
        balance: None,
        request: None,
        route: None,
        compared: None,
        key: None,
        message,
    });
    pending
}

/// What the feed brought to a message after it was read from the store. The record has it already.
#[derive(Clone, Copy, Default)]
pub(super) struct Newer {
    carrier: bool,
    state: bool,
}

impl Newer {
    pub(super) fn add(&mut self, pending: &PendingMessage) {
        self.carrier |= pending.carrier.is_some();
        self.state |= pending.state.is_some();
    }
}

/// Returns what is written of a message that the record has as open; none if nothing can be missing.
pub(super) fn rechecked(
    recorded: &RecordedMessage,
    stored: &RecordedMessage,
    newer: Newer,
) -> Option<PendingMessage> {
    // The steps of a message that waits in the queue are in the record, unless its state says otherwise.
    if stored.state == MessageState::Queued
        && (recorded.state, recorded.carrier) == (stored.state, stored.carrier)
        && recorded.costs == stored.costs
    {
        return None;
    }
    let mut pending = PendingMessage::new(stored.id);
    note_gap(&mut pending, stored);
    pending.carrier = (recorded.carrier != stored.carrier && !newer.carrier).then_some(stored.carrier);
    if recorded.costs != stored.costs && !newer.carrier {
        let MessageCosts { believed, billable: _, earlier } = stored.costs.clone();
        pending.costs = Some(CostChange { believed, earlier });
    }
    if stored.settled_at.is_none() && !newer.state {
        pending.state = Some(stored.state);
    }
    Some(pending)
}

/// Notes that steps are missing, and how the message ended, if it has.
fn note_gap(pending: &mut PendingMessage, message: &RecordedMessage) {
    let at = message.settled_at.unwrap_or_else(|| message.id.accepted_at());
    pending.note(at, PartNo::FIRST, StepNote::Gap);
    if let (Some(at), Some(code)) = (message.settled_at, message.code) {
        let RecordedMessage { state, err, refund, .. } = *message;
        let billable = message.costs.billable.unwrap_or_default();
        pending.note_end(MessageEnd { state, code, err, refund, billable, at });
    }
}
