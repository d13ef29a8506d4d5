//! Classifies the SMPP error statuses of carriers by what they mean for the part, the link and the operator. A carrier
//! that uses a status with another meaning has an override in its profile.

use crate::lifecycle::RejectionCause;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a link pauses after ESME_RTHROTTLED.
pub const THROTTLED_PAUSE: Duration = Duration::from_secs(1);
/// How long a link pauses after ESME_RMSGQFUL.
pub const QUEUE_FULL_PAUSE: Duration = Duration::from_secs(5);

named! {
    /// The class of an error status.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum ErrorClass {
        /// The link pauses and the part returns to the front of the queue; no attempt is counted.
        Throttled = "throttled",
        /// The part is retried later, then on another carrier.
        Temporary = "temporary",
        /// As `Temporary`, and the link binds again first, because the carrier considers it not bound.
        NotBound = "not-bound",
        /// This carrier rejects the part; another may accept it, if the route fails over.
        RejectedRoute = "rejected-route",
        /// Every carrier would reject the message.
        RejectedMessage = "rejected-message",
        /// Every carrier would reject the destination.
        RejectedDestination = "rejected-destination",
        /// The carrier could not parse the PDU. The operator must investigate.
        ProtocolError = "protocol-error",
        /// An unknown status, handled as `RejectedRoute`. The operator should add an override.
        Unknown = "unknown",
    }
}

/// A carrier's own meaning of an error status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryOverride {
    pub status: u32,
    pub class: ErrorClass,
    /// The pause of the link for [`ErrorClass::Throttled`], the retry wait of the part for [`ErrorClass::Temporary`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

impl ErrorClass {
    /// Returns the class of a status without an override.
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
            // RINVCMDLEN, RINVCMDID, RINVESMCLASS, and errors of TLVs
            0x02 | 0x03 | 0x43 | 0xC0..=0xC4 => ErrorClass::ProtocolError,
            _ => ErrorClass::Unknown,
        }
    }

    /// Returns how long the link pauses for a status of class [`ErrorClass::Throttled`].
    pub const fn pause_of(status: u32) -> Duration {
        match status {
            0x14 => QUEUE_FULL_PAUSE,
            _ => THROTTLED_PAUSE,
        }
    }

    /// Returns the cause of a permanent rejection of this class.
    pub const fn rejection_cause(self) -> RejectionCause {
        match self {
            ErrorClass::RejectedDestination => RejectionCause::Destination,
            ErrorClass::Throttled
            | ErrorClass::Temporary
            | ErrorClass::NotBound
            | ErrorClass::RejectedRoute
            | ErrorClass::RejectedMessage
            | ErrorClass::ProtocolError
            | ErrorClass::Unknown => RejectionCause::Other,
        }
    }

    /// Whether another carrier may accept a part that this one rejected.
    pub const fn may_fail_over(self) -> bool {
        match self {
            ErrorClass::RejectedRoute | ErrorClass::Unknown | ErrorClass::ProtocolError => true,
            ErrorClass::Throttled
            | ErrorClass::Temporary
            | ErrorClass::NotBound
            | ErrorClass::RejectedMessage
            | ErrorClass::RejectedDestination => false,
        }
    }
}

#[cfg(test)]
#[path = "error_class_tests.rs"]
mod tests;
