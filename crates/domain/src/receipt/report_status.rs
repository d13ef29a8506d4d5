//! What a report says of a message.

use super::DlrCode;

/// What a report says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReportStatus {
    /// On its way, as the carrier's receipt said.
    Enroute,
    Accepted,
    /// It ended so; or UNKNOWN, which may be corrected once.
    Final(DlrCode),
}

impl ReportStatus {
    pub const fn is_final(self) -> bool {
        matches!(self, ReportStatus::Final(_))
    }

    /// The word of a receipt's `stat`.
    pub const fn word(self) -> &'static str {
        match self {
            ReportStatus::Enroute => "ENROUTE",
            ReportStatus::Accepted => "ACCEPTD",
            ReportStatus::Final(code) => code.as_str(),
        }
    }

    /// The `message_state` that goes with it: only the five that are documented, none where nothing is known.
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

    /// The number the store keeps. Never change one.
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
