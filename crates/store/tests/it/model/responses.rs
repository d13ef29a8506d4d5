//! Random responses of a carrier to a submit_sm.

use hermod_domain::lifecycle::RejectionCause;
use proptest::prelude::*;
use std::time::Duration;

/// How long a part steps aside.
pub(super) const ASIDE_WAIT: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug)]
pub(super) enum Said {
    Accepted,
    Throttled,
    SteppedAside,
    Temporary,
    Refused(RejectionCause),
    NoAnswer,
    NotSent,
}

pub(super) fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        6 => Just(Said::Accepted),
        1 => Just(Said::Throttled),
        1 => Just(Said::SteppedAside),
        1 => Just(Said::Temporary),
        1 => Just(Said::Refused(RejectionCause::Destination)),
        1 => Just(Said::Refused(RejectionCause::Other)),
        2 => Just(Said::NoAnswer),
        1 => Just(Said::NotSent),
    ]
}
