//! The message status that a report to a customer carries.

use super::DlrCode;
use serde::{Deserialize, Serialize};

/// The status in a DLR to a customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReportStatus {
    /// Not final: the carrier's receipt said ENROUTE.
    Enroute,
    /// Not final: the carrier's receipt said ACCEPTD.
    Accepted,
    /// The final status; or UNKNOWN, which a later receipt may correct once.
    Final(DlrCode),
}

impl ReportStatus {
    pub const fn is_final(self) -> bool {
        matches!(self, ReportStatus::Final(_))
    }

    /// Returns the `stat` word of a receipt text.
    pub const fn word(self) -> &'static str {
        match self {
            ReportStatus::Enroute => "ENROUTE",
            ReportStatus::Accepted => "ACCEPTD",
            ReportStatus::Final(code) => code.as_str(),
        }
    }

    /// Returns the `message_state`: one of the five documented values, or none for UNKNOWN.
    pub const fn message_state(self) -> Option<u8> {
        match self {
            ReportStatus::Enroute => Some(1),
            ReportStatus::Accepted | ReportStatus::Final(DlrCode::Acceptd) => Some(6),
            ReportStatus::Final(DlrCode::Delivrd) => Some(2),
            ReportStatus::Final(DlrCode::Expired) => Some(3),
            ReportStatus::Final(DlrCode::Undeliv | DlrCode::Rejectd) => Some(5),
            ReportStatus::Final(DlrCode::Unknown) => None,
        }
    }

    /// Returns the number that the store keeps. Existing numbers never change.
    pub const fn as_u8(self) -> u8 {
        match self {
            ReportStatus::Enroute => 101,
            ReportStatus::Accepted => 106,
            ReportStatus::Final(code) => code.as_u8(),
        }
    }

    pub fn from_u8(stored: u8) -> Option<ReportStatus> {
        match stored {
            101 => Some(ReportStatus::Enroute),
            106 => Some(ReportStatus::Accepted),
            code => DlrCode::from_u8(code).map(ReportStatus::Final),
        }
    }
}
