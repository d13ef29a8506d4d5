//! What a carrier's refusal of a part means for the part, for the link and for the people who run it. The numbers are
//! SMPP's command_status; carriers that use one in a sense of their own have an override in their profile.

use crate::lifecycle::RefusedFor;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a link pauses when its carrier says that it goes too fast.
pub const THROTTLED_PAUSE: Duration = Duration::from_secs(1);
/// How long when it has no room.
pub const QUEUE_FULL_PAUSE: Duration = Duration::from_secs(5);

/// The classes of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// The link goes too fast: it pauses, the part goes back to the front and no attempt is counted.
    SlowDown,
    /// Try again later, then elsewhere.
    Temporary,
    /// As temporary, and the carrier thinks that we are not bound: bind anew first.
    NotBound,
    /// This carrier does not want it. Another might, where the route says so.
    RouteSaysNo,
    /// Nobody will want it.
    MessageSaysNo,
    /// Nobody will want it, for its destination.
    DestinationSaysNo,
    /// The carrier could not make sense of what we sent. Somebody must look into it.
    WeAreWrong,
    /// A number nobody has told us about: as if the route said no, and somebody should look it up.
    Unknown,
}

/// A carrier's own meaning of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryOverride {
    pub status: u32,
    pub class: ErrorClass,
    /// For [`ErrorClass::SlowDown`] the pause of the link, for [`ErrorClass::Temporary`] the wait of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

impl ErrorClass {
    pub const ALL: [ErrorClass; 8] = [
        ErrorClass::SlowDown,
        ErrorClass::Temporary,
        ErrorClass::NotBound,
        ErrorClass::RouteSaysNo,
        ErrorClass::MessageSaysNo,
        ErrorClass::DestinationSaysNo,
        ErrorClass::WeAreWrong,
        ErrorClass::Unknown,
    ];

    /// What a number means unless the carrier's profile says otherwise.
    pub const fn of_status(status: u32) -> ErrorClass {
        match status {
            // RTHROTTLED, RMSGQFUL
            0x58 | 0x14 => ErrorClass::SlowDown,
            // RSYSERR, RX_T_APPN, RDELIVERYFAILURE
            0x08 | 0x64 | 0xFE => ErrorClass::Temporary,
            // RINVBNDSTS
            0x04 => ErrorClass::NotBound,
            // RSUBMITFAIL, RINVSRCADR, RINVSERTYP, RX_P_APPN, RX_R_APPN, RINVREGDLVFLG
            0x45 | 0x0A | 0x15 | 0x65 | 0x66 | 0x07 => ErrorClass::RouteSaysNo,
            // RINVDSTADR, RINVDSTTON, RINVDSTNPI
            0x0B | 0x50 | 0x51 => ErrorClass::DestinationSaysNo,
            // RINVMSGLEN, RINVEXPIRY, RINVSCHED
            0x01 | 0x62 | 0x61 => ErrorClass::MessageSaysNo,
            // RINVCMDLEN, RINVCMDID, RINVESMCLASS, and what is wrong with optional parameters
            0x02 | 0x03 | 0x43 | 0xC0..=0xC4 => ErrorClass::WeAreWrong,
            _ => ErrorClass::Unknown,
        }
    }

    /// How long the link pauses for a number of the class [`ErrorClass::SlowDown`].
    pub const fn pause_of(status: u32) -> Duration {
        match status {
            0x14 => QUEUE_FULL_PAUSE,
            _ => THROTTLED_PAUSE,
        }
    }

    /// What a final refusal of this class was about.
    pub const fn about(self) -> RefusedFor {
        match self {
            ErrorClass::DestinationSaysNo => RefusedFor::Destination,
            ErrorClass::SlowDown
            | ErrorClass::Temporary
            | ErrorClass::NotBound
            | ErrorClass::RouteSaysNo
            | ErrorClass::MessageSaysNo
            | ErrorClass::WeAreWrong
            | ErrorClass::Unknown => RefusedFor::Anything,
        }
    }

    /// Might another carrier take what this one refused?
    pub const fn another_might(self) -> bool {
        match self {
            ErrorClass::RouteSaysNo | ErrorClass::Unknown | ErrorClass::WeAreWrong => true,
            ErrorClass::SlowDown
            | ErrorClass::Temporary
            | ErrorClass::NotBound
            | ErrorClass::MessageSaysNo
            | ErrorClass::DestinationSaysNo => false,
        }
    }

    /// As it stands in settings, metrics and the operator's pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorClass::SlowDown => "slow-down",
            ErrorClass::Temporary => "temporary",
            ErrorClass::NotBound => "not-bound",
            ErrorClass::RouteSaysNo => "route-says-no",
            ErrorClass::MessageSaysNo => "message-says-no",
            ErrorClass::DestinationSaysNo => "destination-says-no",
            ErrorClass::WeAreWrong => "we-are-wrong",
            ErrorClass::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_class() {
        let table = [
            (ErrorClass::SlowDown, &[0x58, 0x14][..]),
            (ErrorClass::Temporary, &[0x08, 0x64, 0xFE]),
            (ErrorClass::NotBound, &[0x04]),
            (ErrorClass::RouteSaysNo, &[0x45, 0x0A, 0x15, 0x65, 0x66, 0x07]),
            (ErrorClass::DestinationSaysNo, &[0x0B, 0x50, 0x51]),
            (ErrorClass::MessageSaysNo, &[0x01, 0x62, 0x61]),
            (ErrorClass::WeAreWrong, &[0x02, 0x03, 0x43, 0xC0, 0xC1, 0xC2, 0xC3, 0xC4]),
        ];
        for status in 0..=0xFFFF {
            let listed = table.iter().find(|(_, numbers)| numbers.contains(&status));
            let expect = listed.map_or(ErrorClass::Unknown, |(class, _)| *class);
            assert_eq!(ErrorClass::of_status(status), expect, "{status:#x}");
        }
    }

    #[test]
    fn a_class_is_written_the_same_everywhere() {
        for class in ErrorClass::ALL {
            assert_eq!(serde_json::to_string(&class).unwrap(), format!("\"{}\"", class.as_str()));
        }
    }

    #[test]
    fn a_full_queue_pauses_a_link_longer_than_its_pace() {
        assert_eq!(ErrorClass::pause_of(0x58), THROTTLED_PAUSE);
        assert_eq!(ErrorClass::pause_of(0x14), QUEUE_FULL_PAUSE);
    }
}
