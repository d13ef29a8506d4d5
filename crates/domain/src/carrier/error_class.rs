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
    Throttled,
    /// Try again later, then elsewhere.
    Temporary,
    /// As temporary, and the carrier thinks that we are not bound: bind anew first.
    NotBound,
    /// This carrier does not want it. Another might, where the route says so.
    RejectedRoute,
    /// Nobody will want it.
    RejectedMessage,
    /// Nobody will want it, for its destination.
    RejectedDestination,
    /// The carrier could not make sense of what we sent. Somebody must look into it.
    ProtocolError,
    /// A number nobody has told us about: as if the route said no, and somebody should look it up.
    Unknown,
}

/// A carrier's own meaning of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryOverride {
    pub status: u32,
    pub class: ErrorClass,
    /// For [`ErrorClass::Throttled`] the pause of the link, for [`ErrorClass::Temporary`] the wait of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

impl ErrorClass {
    pub const ALL: [ErrorClass; 8] = [
        ErrorClass::Throttled,
        ErrorClass::Temporary,
        ErrorClass::NotBound,
        ErrorClass::RejectedRoute,
        ErrorClass::RejectedMessage,
        ErrorClass::RejectedDestination,
        ErrorClass::ProtocolError,
        ErrorClass::Unknown,
    ];

    /// What a number means unless the carrier's profile says otherwise.
    pub const fn of_status(status: u32) -> ErrorClass {
        match status {
            // RTHROTTLED, RMSGQFUL
            0x58 | 0x14 => ErrorClass::Throttled,
            // RSYSERR, RX_T_APPN, RDELIVERYFAILURE
            0x08 | 0x64 | 0xFE => ErrorClass::Temporary,
            // RINVBNDSTS
            0x04 => ErrorClass::NotBound,
            // RSUBMITFAIL, RINVSRCADR, RINVSERTYP, RX_P_APPN, RX_R_APPN, RINVREGDLVFLG
            0x45 | 0x0A | 0x15 | 0x65 | 0x66 | 0x07 => ErrorClass::RejectedRoute,
            // RINVDSTADR, RINVDSTTON, RINVDSTNPI
            0x0B | 0x50 | 0x51 => ErrorClass::RejectedDestination,
            // RINVMSGLEN, RINVEXPIRY, RINVSCHED
            0x01 | 0x62 | 0x61 => ErrorClass::RejectedMessage,
            // RINVCMDLEN, RINVCMDID, RINVESMCLASS, and what is wrong with optional parameters
            0x02 | 0x03 | 0x43 | 0xC0..=0xC4 => ErrorClass::ProtocolError,
            _ => ErrorClass::Unknown,
        }
    }

    /// How long the link pauses for a number of the class [`ErrorClass::Throttled`].
    pub const fn pause_of(status: u32) -> Duration {
        match status {
            0x14 => QUEUE_FULL_PAUSE,
            _ => THROTTLED_PAUSE,
        }
    }

    /// What a final refusal of this class was about.
    pub const fn about(self) -> RefusedFor {
        match self {
            ErrorClass::RejectedDestination => RefusedFor::Destination,
            ErrorClass::Throttled
            | ErrorClass::Temporary
            | ErrorClass::NotBound
            | ErrorClass::RejectedRoute
            | ErrorClass::RejectedMessage
            | ErrorClass::ProtocolError
            | ErrorClass::Unknown => RefusedFor::Anything,
        }
    }

    /// Might another carrier take what this one refused?
    pub const fn another_might(self) -> bool {
        match self {
            ErrorClass::RejectedRoute | ErrorClass::Unknown | ErrorClass::ProtocolError => true,
            ErrorClass::Throttled
            | ErrorClass::Temporary
            | ErrorClass::NotBound
            | ErrorClass::RejectedMessage
            | ErrorClass::RejectedDestination => false,
        }
    }

    /// As it stands in settings, metrics and the operator's pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            ErrorClass::Throttled => "throttled",
            ErrorClass::Temporary => "temporary",
            ErrorClass::NotBound => "not-bound",
            ErrorClass::RejectedRoute => "rejected-route",
            ErrorClass::RejectedMessage => "rejected-message",
            ErrorClass::RejectedDestination => "rejected-destination",
            ErrorClass::ProtocolError => "protocol-error",
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
            (ErrorClass::Throttled, &[0x58, 0x14][..]),
            (ErrorClass::Temporary, &[0x08, 0x64, 0xFE]),
            (ErrorClass::NotBound, &[0x04]),
            (ErrorClass::RejectedRoute, &[0x45, 0x0A, 0x15, 0x65, 0x66, 0x07]),
            (ErrorClass::RejectedDestination, &[0x0B, 0x50, 0x51]),
            (ErrorClass::RejectedMessage, &[0x01, 0x62, 0x61]),
            (ErrorClass::ProtocolError, &[0x02, 0x03, 0x43, 0xC0, 0xC1, 0xC2, 0xC3, 0xC4]),
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
