//! The life of a message and of its parts, as one function: [`apply`]. Every change of state in the product goes
//! through it, so what may follow what is written in one place and printed in full by the golden grid
//! (`golden/lifecycle.txt`).
//!
//! A message is what was accepted and charged; a part is one SMS of it. Events happen to parts, and the state of the
//! message follows from its parts: the first final failure decides, delivered means all of them, and a message stays
//! `queued` until its last part was handed to a carrier.

mod doubt;
mod state;
#[cfg(test)]
mod tests;

pub use doubt::{DoubtPolicy, resend_wait};
pub use state::{MessageState, PartState, UnknownState};

use crate::ids::PartNo;
use crate::receipt::{DlrCode, Outcome, ReportStatus};
use smallvec::SmallVec;

/// What is known of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub state: PartState,
    /// How often its bytes may have left without an answer coming back.
    pub doubts: u8,
}

impl Part {
    pub const WAITING: Part = Part { state: PartState::Queued, doubts: 0 };

    /// May a carrier have this part? If so, its money never comes back.
    fn may_have_left(self) -> bool {
        self.doubts > 0 || self.state.left()
    }
}

pub type Parts = SmallVec<[Part; 8]>;

/// A message's state together with its parts'. Invariant: `state` is what [`summary`] makes of `parts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    pub state: MessageState,
    pub parts: Parts,
}

impl Progress {
    pub fn queued(parts: u8) -> Progress {
        Progress {
            state: MessageState::Queued,
            parts: SmallVec::from_elem(Part::WAITING, usize::from(parts)),
        }
    }

    /// From what is remembered: the parts, and the state that was last noted for the message.
    pub fn of(remembered: MessageState, parts: Parts) -> Progress {
        Progress { state: summary(remembered, &parts), parts }
    }
}

/// What a carrier's permanent refusal of a part was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedFor {
    /// The destination: reported as UNDELIV.
    Destination,
    /// Anything else: reported as REJECTD.
    Anything,
}

/// What happens to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It was given a slot on a link; its bytes may leave any moment.
    Claimed,
    /// The slot was lost before a single byte of it left.
    Released,
    /// The carrier took it.
    Accepted,
    /// The carrier said "later": throttled, or a temporary error.
    Deferred,
    /// The carrier refused it for good.
    Refused(RefusedFor),
    /// No answer came: time-out, lost link, or our own crash.
    NoAnswer(DoubtPolicy),
    /// A receipt says so.
    Receipt(Verdict),
    /// Its validity ended.
    ValidityEnded,
    /// No receipt came for a day after its validity ended.
    ReceiptOverdue,
    /// Cancelled, or its route, sender or account was withdrawn.
    Withdrawn,
}

/// What a receipt says, once its dialect is out of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Enroute,
    /// As `Enroute`; the carrier's own word for it was another, and customers are told in that word.
    Accepted,
    Delivered,
    Undeliverable,
    Rejected,
    Expired,
    /// UNKNOWN, or a word nobody knows: timeline only.
    NoNews,
}

impl Verdict {
    /// Returns what customers are told of a receipt that leaves a message on its way.
    pub const fn notice(self) -> ReportStatus {
        match self {
            Verdict::Accepted => ReportStatus::Accepted,
            Verdict::Enroute
            | Verdict::Delivered
            | Verdict::Undeliverable
            | Verdict::Rejected
            | Verdict::Expired
            | Verdict::NoNews => ReportStatus::Enroute,
        }
    }

    pub fn of(outcome: &Outcome) -> Verdict {
        match outcome {
            Outcome::Enroute => Verdict::Enroute,
            Outcome::Accepted => Verdict::Accepted,
            Outcome::Delivered => Verdict::Delivered,
            Outcome::Undeliverable => Verdict::Undeliverable,
            Outcome::Rejected => Verdict::Rejected,
            Outcome::Expired => Verdict::Expired,
            Outcome::Unknown | Outcome::Unrecognised(_) => Verdict::NoNews,
        }
    }
}

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Moved(Moved),
    /// A legal repeat or latecomer: keep it in the timeline, change nothing.
    Ignored,
    /// Cannot happen by the rules. Count it, keep the message, raise an alarm.
    Illegal,
}

/// A change to be written as one fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub after: Progress,
    /// The code the customer sees from now on, if this changes it.
    pub dlr: Option<DlrCode>,
    /// The message ended without a carrier ever having seen a byte of it: its cost goes back.
    pub refund: bool,
}

/// Applies one event to one part of a message.
pub fn apply(before: &Progress, part: PartNo, event: Event) -> Step {
    let index = part.index();
    let Some(was) = before.parts.get(index).copied() else { return Step::Illegal };
    if before.state.is_final() {
        return latecomer(event);
    }
    let now = match step_part(was, event) {
        PartStep::To(state) => Part { state, doubts: was.doubts },
        PartStep::Doubt(state) => Part { state, doubts: was.doubts.saturating_add(1) },
        PartStep::Ignored => return Step::Ignored,
        PartStep::Illegal => return Step::Illegal,
    };
    let mut after = before.clone();
    if let Some(slot) = after.parts.get_mut(index) {
        *slot = now;
    }
    after.state = summary(before.state, &after.parts);
    let refund = ended_before_leaving(event, &after);
    Step::Moved(Moved { dlr: dlr_after(before.state, after.state, event), refund, after })
}

/// Only what ends in our own queue can be refunded, and only while no other part of it may be with a carrier.
fn ended_before_leaving(event: Event, after: &Progress) -> bool {
    let ended_by_us = match event {
        Event::ValidityEnded | Event::Withdrawn => after.state.is_final(),
        Event::Claimed
        | Event::Released
        | Event::Accepted
        | Event::Deferred
        | Event::Refused(_)
        | Event::NoAnswer(_)
        | Event::Receipt(_)
        | Event::ReceiptOverdue => false,
    };
    ended_by_us && !after.parts.iter().any(|part| part.may_have_left())
}

/// Anything that reaches a message which has ended: answers and receipts may be late, we may not claim it again.
fn latecomer(event: Event) -> Step {
    match event {
        Event::Claimed | Event::Withdrawn => Step::Illegal,
        Event::Released
        | Event::Accepted
        | Event::Deferred
        | Event::Refused(_)
        | Event::NoAnswer(_)
        | Event::Receipt(_)
        | Event::ValidityEnded
        | Event::ReceiptOverdue => Step::Ignored,
    }
}

enum PartStep {
    To(PartState),
    /// As `To`, and one more doubt.
    Doubt(PartState),
    Ignored,
    Illegal,
}

fn step_part(part: Part, event: Event) -> PartStep {
    use PartState as S;
    use PartStep::{Doubt, Ignored, Illegal, To};
    match (part.state, event) {
        (S::Queued | S::InDoubt, Event::Claimed) => To(S::Sending),
        (S::Sending, Event::Released) if part.doubts > 0 => To(S::InDoubt),
        (S::Sending, Event::Released | Event::Deferred) => To(S::Queued),
        (S::Sending, Event::Accepted) => To(S::Sent),
        (S::Sending, Event::Refused(_)) => To(S::Undeliverable),
        (S::Sending, Event::NoAnswer(policy)) if part.doubts < policy.resends_max() => Doubt(S::InDoubt),
        (S::Sending, Event::NoAnswer(_)) => Doubt(S::Presumed),
        // A resend may not outlive the message.
        (S::InDoubt, Event::ValidityEnded) => To(S::Presumed),
        (S::Queued, Event::ValidityEnded) if part.doubts > 0 => To(S::Presumed),
        (S::Queued, Event::ValidityEnded) => To(S::Expired),
        (S::Queued, Event::Withdrawn) => To(S::Rejected),
        (S::Sent | S::Presumed | S::Enroute | S::Overdue, Event::Receipt(verdict)) => {
            by_receipt(part, verdict)
        }
        (S::Sent | S::Presumed | S::Enroute, Event::ReceiptOverdue) => To(S::Overdue),
        // Carriers repeat receipts, and clocks tick for parts that have nothing to fear from them.
        (S::Delivered, Event::Receipt(_) | Event::ReceiptOverdue | Event::ValidityEnded)
        | (S::Sending | S::Sent | S::Presumed | S::Enroute | S::Overdue, Event::ValidityEnded)
        | (S::Overdue, Event::ReceiptOverdue) => Ignored,
        // An answer that comes after we gave up waiting for it: the slot was settled once already.
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
        | (S::Sending, Event::Claimed | Event::Receipt(_) | Event::ReceiptOverdue | Event::Withdrawn) => {
            Illegal
        }
    }
}

fn by_receipt(part: Part, verdict: Verdict) -> PartStep {
    match verdict {
        // Once it was reported UNKNOWN only an end is news: "still on its way" would have it reported so again.
        Verdict::Enroute | Verdict::Accepted
            if matches!(part.state, PartState::Enroute | PartState::Overdue) =>
        {
            PartStep::Ignored
        }
        Verdict::Enroute | Verdict::Accepted => PartStep::To(PartState::Enroute),
        Verdict::Delivered => PartStep::To(PartState::Delivered),
        Verdict::Undeliverable | Verdict::Rejected => PartStep::To(PartState::Undeliverable),
        Verdict::Expired => PartStep::To(PartState::Expired),
        Verdict::NoNews => PartStep::Ignored,
    }
}

/// What the message is, given its parts. `before` matters only where parts alone cannot tell: a message that was
/// enroute does not fall back because its last enroute part was delivered or went overdue.
fn summary(before: MessageState, parts: &[Part]) -> MessageState {
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

fn dlr_after(before: MessageState, after: MessageState, event: Event) -> Option<DlrCode> {
    if event == Event::ReceiptOverdue {
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
            Event::Refused(RefusedFor::Anything) | Event::Receipt(Verdict::Rejected) => DlrCode::Rejectd,
            Event::Claimed
            | Event::Released
            | Event::Accepted
            | Event::Deferred
            | Event::Refused(RefusedFor::Destination)
            | Event::NoAnswer(_)
            | Event::Receipt(_)
            | Event::ValidityEnded
            | Event::ReceiptOverdue
            | Event::Withdrawn => DlrCode::Undeliv,
        }),
    }
}
