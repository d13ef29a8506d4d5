//! The state machine of messages and parts: [`apply`]. Every state change of a message goes through it. The golden file
//! `golden/lifecycle.txt` lists all transitions.
//!
//! A message is what was accepted and charged; a part is one SMS of it. Events happen to parts, and the state of the
//! message follows from its parts: the first final failure decides, `delivered` means all parts, and a message stays
//! `queued` until its last part was sent to a carrier.

mod billable;
mod doubt;
mod state;
#[cfg(test)]
mod tests;

pub use billable::{Billable, UnknownBillable, billable, submissions};
pub use doubt::{DoubtPolicy, resend_wait};
pub use state::{MessageState, PartState, UnknownState};

use crate::ids::PartNo;
use crate::receipt::{DlrCode, ReceiptStatus, ReportStatus};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The state of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub state: PartState,
    /// How often the part was sent, or may have been, without a response.
    pub doubts: u8,
}

impl Part {
    pub const QUEUED: Part = Part { state: PartState::Queued, doubts: 0 };

    /// Whether a carrier may have this part, so that it is never refunded.
    fn may_be_sent(self) -> bool {
        self.doubts > 0 || self.state.may_be_with_carrier()
    }
}

pub type Parts = SmallVec<[Part; 8]>;

/// The states of a message and its parts. Invariant: `state` follows from `parts` by [`message_state`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    pub state: MessageState,
    pub parts: Parts,
}

impl Progress {
    pub fn queued(parts: u8) -> Progress {
        Progress { state: MessageState::Queued, parts: SmallVec::from_elem(Part::QUEUED, usize::from(parts)) }
    }

    /// Restores the states from stored parts and the stored state of the message.
    pub fn of(remembered: MessageState, parts: Parts) -> Progress {
        Progress { state: message_state(remembered, &parts), parts }
    }
}

/// The cause of a carrier's permanent rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RejectionCause {
    /// The destination: reported as UNDELIV.
    Destination,
    /// Any other cause: reported as REJECTD.
    Other,
}

/// An event of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartEvent {
    /// The part was claimed for a link; its submit_sm may be sent any moment.
    Claimed,
    /// The claim was released before any byte was sent.
    Released,
    /// The carrier accepted the part.
    Accepted,
    /// The carrier throttled the part or responded with a temporary error.
    Deferred,
    /// The carrier rejected the part permanently.
    Rejected(RejectionCause),
    /// No response arrived: timeout, lost link, or a crash of the gateway.
    NoResponse(DoubtPolicy),
    /// A receipt arrived.
    Receipt(DeliveryOutcome),
    /// The validity period ended.
    ValidityEnded,
    /// No receipt arrived within the carrier's receipt wait after the end of validity.
    ReceiptOverdue,
    /// The message was cancelled, or its route, sender or account was removed.
    Withdrawn,
}

/// What a receipt means for its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeliveryOutcome {
    Enroute,
    /// As `Enroute`, but reported as ACCEPTD, the carrier's word.
    Accepted,
    Delivered,
    Undeliverable,
    Rejected,
    Expired,
    /// UNKNOWN or an unrecognised word: recorded in the timeline only.
    NoChange,
}

impl DeliveryOutcome {
    /// Returns the status of the intermediate report for this receipt.
    pub const fn notice(self) -> ReportStatus {
        match self {
            DeliveryOutcome::Accepted => ReportStatus::Accepted,
            DeliveryOutcome::Enroute
            | DeliveryOutcome::Delivered
            | DeliveryOutcome::Undeliverable
            | DeliveryOutcome::Rejected
            | DeliveryOutcome::Expired
            | DeliveryOutcome::NoChange => ReportStatus::Enroute,
        }
    }

    pub fn of(status: &ReceiptStatus) -> DeliveryOutcome {
        match status {
            ReceiptStatus::Enroute => DeliveryOutcome::Enroute,
            ReceiptStatus::Accepted => DeliveryOutcome::Accepted,
            ReceiptStatus::Delivered => DeliveryOutcome::Delivered,
            ReceiptStatus::Undeliverable => DeliveryOutcome::Undeliverable,
            ReceiptStatus::Rejected => DeliveryOutcome::Rejected,
            ReceiptStatus::Expired => DeliveryOutcome::Expired,
            ReceiptStatus::Unknown | ReceiptStatus::Unrecognised(_) => DeliveryOutcome::NoChange,
        }
    }
}

/// The result of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transition {
    Changed(StateChange),
    /// A permitted duplicate or late event: recorded in the timeline, nothing changes.
    Ignored,
    /// Not permitted in this state: counted, with an alarm; the message stays unchanged.
    Illegal,
}

/// A state change, to be written in one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    pub after: Progress,
    /// The new DLR code, if it changed.
    pub dlr: Option<DlrCode>,
    /// The message ended before any carrier may have received a part of it: its cost is refunded.
    pub refund: bool,
}

/// Applies one event to one part of a message.
pub fn apply(before: &Progress, part: PartNo, event: PartEvent) -> Transition {
    let index = part.index();
    let Some(was) = before.parts.get(index).copied() else { return Transition::Illegal };
    if before.state.is_final() {
        return apply_late(event);
    }
    let now = match step_part(was, event) {
        // Of a part that was presumed sent, one submission without a response is the one that the carrier accepted.
        PartStep::To(state) if was.state == PartState::Presumed => {
            Part { state, doubts: was.doubts.saturating_sub(1) }
        }
        PartStep::To(state) => Part { state, doubts: was.doubts },
        PartStep::Doubt(state) => Part { state, doubts: was.doubts.saturating_add(1) },
        PartStep::Ignored => return Transition::Ignored,
        PartStep::Illegal => return Transition::Illegal,
    };
    let mut after = before.clone();
    if let Some(slot) = after.parts.get_mut(index) {
        *slot = now;
    }
    after.state = message_state(before.state, &after.parts);
    let refund = is_refunded(event, &after);
    Transition::Changed(StateChange { dlr: dlr_after(before.state, after.state, event), refund, after })
}

/// Whether the message is refunded: it ended in Hermod's queue, and no part may be with a carrier.
fn is_refunded(event: PartEvent, after: &Progress) -> bool {
    let has_ended_in_queue = match event {
        PartEvent::ValidityEnded | PartEvent::Withdrawn => after.state.is_final(),
        PartEvent::Claimed
        | PartEvent::Released
        | PartEvent::Accepted
        | PartEvent::Deferred
        | PartEvent::Rejected(_)
        | PartEvent::NoResponse(_)
        | PartEvent::Receipt(_)
        | PartEvent::ReceiptOverdue => false,
    };
    has_ended_in_queue && !after.parts.iter().any(|part| part.may_be_sent())
}

/// Applies an event to a message in a final state: responses and receipts may be late, but no part may be claimed.
fn apply_late(event: PartEvent) -> Transition {
    match event {
        PartEvent::Claimed | PartEvent::Withdrawn => Transition::Illegal,
        PartEvent::Released
        | PartEvent::Accepted
        | PartEvent::Deferred
        | PartEvent::Rejected(_)
        | PartEvent::NoResponse(_)
        | PartEvent::Receipt(_)
        | PartEvent::ValidityEnded
        | PartEvent::ReceiptOverdue => Transition::Ignored,
    }
}

enum PartStep {
    To(PartState),
    /// As `To`, and counts one more doubt.
    Doubt(PartState),
    Ignored,
    Illegal,
}

fn step_part(part: Part, event: PartEvent) -> PartStep {
    use PartState as S;
    use PartStep::{Doubt, Ignored, Illegal, To};
    match (part.state, event) {
        (S::Queued | S::InDoubt, PartEvent::Claimed) => To(S::Sending),
        (S::Sending, PartEvent::Released) if part.doubts > 0 => To(S::InDoubt),
        (S::Sending, PartEvent::Released | PartEvent::Deferred) => To(S::Queued),
        (S::Sending, PartEvent::Accepted) => To(S::Sent),
        (S::Sending, PartEvent::Rejected(_)) => To(S::Undeliverable),
        (S::Sending, PartEvent::NoResponse(policy)) if part.doubts < policy.resends_max() => {
            Doubt(S::InDoubt)
        }
        (S::Sending, PartEvent::NoResponse(_)) => Doubt(S::Presumed),
        // No resend after the end of validity.
        (S::InDoubt, PartEvent::ValidityEnded) => To(S::Presumed),
        (S::Queued, PartEvent::ValidityEnded) if part.doubts > 0 => To(S::Presumed),
        (S::Queued, PartEvent::ValidityEnded) => To(S::Expired),
        (S::Queued, PartEvent::Withdrawn) => To(S::Rejected),
        (S::Sent | S::Presumed | S::Enroute | S::Overdue, PartEvent::Receipt(outcome)) => {
            apply_receipt(part, outcome)
        }
        (S::Sent | S::Presumed | S::Enroute, PartEvent::ReceiptOverdue) => To(S::Overdue),
        // Carriers repeat receipts, and timers fire for parts that they no longer concern.
        (S::Delivered, PartEvent::Receipt(_) | PartEvent::ReceiptOverdue | PartEvent::ValidityEnded)
        | (S::Sending | S::Sent | S::Presumed | S::Enroute | S::Overdue, PartEvent::ValidityEnded)
        | (S::Overdue, PartEvent::ReceiptOverdue) => Ignored,
        // Includes responses after a timeout, whose claim has already ended.
        (
            S::Queued
            | S::InDoubt
            | S::Presumed
            | S::Sent
            | S::Enroute
            | S::Overdue
            | S::Delivered
            | S::Undeliverable
            | S::Expired
            | S::Rejected,
            _,
        )
        | (
            S::Sending,
            PartEvent::Claimed | PartEvent::Receipt(_) | PartEvent::ReceiptOverdue | PartEvent::Withdrawn,
        ) => Illegal,
    }
}

fn apply_receipt(part: Part, outcome: DeliveryOutcome) -> PartStep {
    match outcome {
        // After a report of UNKNOWN only a final status counts: ENROUTE would lead to another UNKNOWN.
        DeliveryOutcome::Enroute | DeliveryOutcome::Accepted
            if matches!(part.state, PartState::Enroute | PartState::Overdue) =>
        {
            PartStep::Ignored
        }
        DeliveryOutcome::Enroute | DeliveryOutcome::Accepted => PartStep::To(PartState::Enroute),
        DeliveryOutcome::Delivered => PartStep::To(PartState::Delivered),
        DeliveryOutcome::Undeliverable | DeliveryOutcome::Rejected => PartStep::To(PartState::Undeliverable),
        DeliveryOutcome::Expired => PartStep::To(PartState::Expired),
        DeliveryOutcome::NoChange => PartStep::Ignored,
    }
}

/// Returns the message's state for the states of its parts. `before` matters only for a message that was enroute: it
/// stays so when its last enroute part is delivered or overdue.
fn message_state(before: MessageState, parts: &[Part]) -> MessageState {
    for part in parts {
        match part.state {
            PartState::Undeliverable => return MessageState::Undeliverable,
            PartState::Expired => return MessageState::Expired,
            PartState::Rejected => return MessageState::Rejected,
            PartState::Queued
            | PartState::Sending
            | PartState::InDoubt
            | PartState::Presumed
            | PartState::Sent
            | PartState::Enroute
            | PartState::Overdue
            | PartState::Delivered => {}
        }
    }
    let any = |state: PartState| parts.iter().any(|part| part.state == state);
    if parts.iter().all(|part| part.state == PartState::Delivered) {
        MessageState::Delivered
    } else if any(PartState::Queued) || any(PartState::Sending) || any(PartState::InDoubt) {
        MessageState::Queued
    } else if any(PartState::Enroute) || before == MessageState::Enroute {
        MessageState::Enroute
    } else {
        MessageState::Submitted
    }
}

fn dlr_after(before: MessageState, after: MessageState, event: PartEvent) -> Option<DlrCode> {
    if event == PartEvent::ReceiptOverdue {
        return Some(DlrCode::Unknown);
    }
    if before == after {
        return None;
    }
    match after {
        MessageState::Queued | MessageState::Submitted => None,
        MessageState::Enroute => Some(DlrCode::Acceptd),
        MessageState::Delivered => Some(DlrCode::Delivrd),
        MessageState::Expired => Some(DlrCode::Expired),
        MessageState::Rejected => Some(DlrCode::Rejectd),
        MessageState::Undeliverable => Some(match event {
            PartEvent::Rejected(RejectionCause::Other) | PartEvent::Receipt(DeliveryOutcome::Rejected) => {
                DlrCode::Rejectd
            }
            PartEvent::Claimed
            | PartEvent::Released
            | PartEvent::Accepted
            | PartEvent::Deferred
            | PartEvent::Rejected(RejectionCause::Destination)
            | PartEvent::NoResponse(_)
            | PartEvent::Receipt(_)
            | PartEvent::ValidityEnded
            | PartEvent::ReceiptOverdue
            | PartEvent::Withdrawn => DlrCode::Undeliv,
        }),
    }
}
