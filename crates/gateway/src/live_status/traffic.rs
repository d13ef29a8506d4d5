//! Traffic counters of links, which can be added and subtracted.

use hermod_domain::carrier::ErrorClass;

/// Counters of parts, responses and receipts: since the start of the process, or over a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// submit_sm written.
    pub submitted: u64,
    pub accepted: u64,
    /// By class, in the order of [`ErrorClass::ALL`].
    pub refused: [u64; ErrorClass::ALL.len()],
    /// Response timeouts. A late response is counted in its own counter too.
    pub timed_out: u64,
    pub receipts: u64,
    /// Receipts that matched no part on arrival.
    pub unmatched: u64,
    /// MO messages.
    pub inbound: u64,
}

impl Traffic {
    pub fn refused_as(&self, class: ErrorClass) -> u64 {
        self.refused[place_of(class)]
    }

    /// Returns the number of responses.
    pub fn answered(&self) -> u64 {
        self.accepted + self.refused.iter().sum::<u64>()
    }

    /// Returns the timeouts and errors that indicate a problem of the carrier, not of the message.
    pub fn failed(&self) -> u64 {
        self.timed_out
            + self.refused_as(ErrorClass::Temporary)
            + self.refused_as(ErrorClass::NotBound)
            + self.refused_as(ErrorClass::Unknown)
    }

    /// Returns failures per thousand responses and timeouts.
    pub fn failed_per_mille(&self) -> Option<u64> {
        per_mille(self.failed(), self.answered() + self.timed_out)
    }

    /// Returns receipts per thousand accepted parts. Above a thousand with late, repeated or intermediate receipts.
    pub fn receipted_per_mille(&self) -> Option<u64> {
        per_mille(self.receipts, self.accepted)
    }

    pub fn unmatched_per_mille(&self) -> Option<u64> {
        per_mille(self.unmatched, self.receipts)
    }

    #[must_use]
    pub fn plus(&self, other: &Traffic) -> Traffic {
        self.with(other, u64::saturating_add)
    }

    /// Returns the difference to `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Traffic) -> Traffic {
        self.with(earlier, u64::saturating_sub)
    }

    fn with(&self, other: &Traffic, of: impl Fn(u64, u64) -> u64) -> Traffic {
        let Traffic { submitted, accepted, refused, timed_out, receipts, unmatched, inbound } = self;
        Traffic {
            submitted: of(*submitted, other.submitted),
            accepted: of(*accepted, other.accepted),
            refused: std::array::from_fn(|class| of(refused[class], other.refused[class])),
            timed_out: of(*timed_out, other.timed_out),
            receipts: of(*receipts, other.receipts),
            unmatched: of(*unmatched, other.unmatched),
            inbound: of(*inbound, other.inbound),
        }
    }
}

/// Returns `None` if `whole` is zero.
fn per_mille(part: u64, whole: u64) -> Option<u64> {
    part.saturating_mul(1000).checked_div(whole)
}

pub(super) fn place_of(class: ErrorClass) -> usize {
    class as usize
}

#[cfg(test)]
#[path = "traffic_tests.rs"]
mod tests;
