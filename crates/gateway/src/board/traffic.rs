//! What went over links, in figures that can be added up and taken from each other.

use hermod_domain::carrier::ErrorClass;

/// Counts of parts and of what came back: since the start of the process, or between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// submit_sm written.
    pub submitted: u64,
    pub accepted: u64,
    /// By class, in the order of [`ErrorClass::ALL`].
    pub refused: [u64; ErrorClass::ALL.len()],
    /// Not answered in time. An answer that comes later is counted as what it is, too.
    pub timed_out: u64,
    pub receipts: u64,
    /// Receipts that matched nothing when they came.
    pub unmatched: u64,
    /// Messages from handsets.
    pub inbound: u64,
}

impl Traffic {
    pub fn refused_as(&self, class: ErrorClass) -> u64 {
        self.refused[place_of(class)]
    }

    /// Answers of any kind.
    pub fn answered(&self) -> u64 {
        self.accepted + self.refused.iter().sum::<u64>()
    }

    /// Answers and silences that speak against the carrier rather than against what was sent.
    pub fn failed(&self) -> u64 {
        self.timed_out
            + self.refused_as(ErrorClass::Temporary)
            + self.refused_as(ErrorClass::NotBound)
            + self.refused_as(ErrorClass::Unknown)
    }

    /// Failures of a thousand answers and silences.
    pub fn failed_per_mille(&self) -> Option<u64> {
        per_mille(self.failed(), self.answered() + self.timed_out)
    }

    /// Receipts for a thousand accepted parts. More than a thousand where receipts come late, twice, or on the way.
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

    /// What has come since `earlier`.
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

/// Nothing of nothing is no ratio.
fn per_mille(part: u64, whole: u64) -> Option<u64> {
    part.saturating_mul(1000).checked_div(whole)
}

pub(super) fn place_of(class: ErrorClass) -> usize {
    class as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_place() {
        for (place, class) in ErrorClass::ALL.into_iter().enumerate() {
            assert_eq!(place_of(class), place, "{class:?}");
        }
    }

    #[test]
    fn ratios_are_of_what_there_is() {
        let none = Traffic::default();
        assert_eq!(
            (none.failed_per_mille(), none.receipted_per_mille(), none.unmatched_per_mille()),
            (None, None, None)
        );
        let mut some = Traffic { accepted: 60, timed_out: 20, receipts: 45, unmatched: 9, ..none };
        some.refused[place_of(ErrorClass::Temporary)] = 15;
        some.refused[place_of(ErrorClass::RejectedRoute)] = 5;
        assert_eq!(some.failed_per_mille(), Some(350));
        assert_eq!(some.receipted_per_mille(), Some(750));
        assert_eq!(some.unmatched_per_mille(), Some(200));
        assert_eq!(some.plus(&some).since(&some), some);
    }
}
