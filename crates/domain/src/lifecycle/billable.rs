//! What a carrier can bill of a message: each `submit_sm` that it accepted, or may have accepted, and each that it delivered.

use super::{Part, PartEvent, PartState, Progress};

/// How many `submit_sm` of a message a carrier can bill, by what its cost is due for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Billable {
    /// Those that it accepted, and each that got no response, resends included.
    pub submitted: u16,
    /// Those of them that its receipts said were delivered, while the message had not ended.
    pub delivered: u16,
}

/// A stored number that is no [`Billable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} does not say what a carrier can bill")]
pub struct UnknownBillable(pub i64);

impl Billable {
    /// Returns it without what an earlier carrier can bill.
    #[must_use]
    pub fn without(self, earlier: u16) -> Billable {
        Billable { submitted: self.submitted.saturating_sub(earlier).max(self.delivered), ..self }
    }

    /// Returns the number that the store keeps: 1 for a message of one part that was sent once and delivered. SQLite stores 0 and
    /// 1 without an octet, so what was not delivered is counted in the upper bits.
    pub fn to_stored(self) -> i64 {
        let undelivered = self.submitted.saturating_sub(self.delivered);
        i64::from(undelivered) << u16::BITS | i64::from(self.submitted)
    }

    /// Converts the number that the store keeps.
    pub fn from_stored(number: i64) -> Result<Billable, UnknownBillable> {
        let read = || {
            let submitted = u16::try_from(number & i64::from(u16::MAX)).ok()?;
            let undelivered = u16::try_from(number >> u16::BITS).ok()?;
            Some(Billable { submitted, delivered: submitted.checked_sub(undelivered)? })
        };
        read().ok_or(UnknownBillable(number))
    }
}

/// Returns what can be billed of a message that an event of a part ends. A part whose response has not come when the message ends
/// counts as submitted.
pub fn billable(before: &Progress, event: PartEvent, after: &Progress) -> Billable {
    // The rejected part was being sent.
    let rejected = u16::from(matches!(event, PartEvent::Rejected(_)));
    let delivered = after.parts.iter().filter(|part| part.state == PartState::Delivered).count();
    Billable {
        submitted: submissions(&before.parts).saturating_sub(rejected),
        delivered: u16::try_from(delivered).unwrap_or(u16::MAX),
    }
}

/// Returns how many `submit_sm` of these parts carriers have accepted or may have accepted.
pub fn submissions(parts: &[Part]) -> u16 {
    parts.iter().map(|part| submissions_of(*part)).fold(0, u16::saturating_add)
}

fn submissions_of(part: Part) -> u16 {
    let is_latest_counted = match part.state {
        PartState::Sending
        | PartState::Sent
        | PartState::Enroute
        | PartState::Overdue
        | PartState::Delivered => true,
        // The doubts of a part that was presumed sent include its last submission.
        PartState::Queued
        | PartState::InDoubt
        | PartState::Presumed
        | PartState::Undeliverable
        | PartState::Expired
        | PartState::Rejected => false,
    };
    u16::from(part.doubts) + u16::from(is_latest_counted)
}

#[cfg(test)]
#[path = "billable_tests.rs"]
mod tests;
