//! What a report says of a message.

use super::DlrCode;

/// What a report says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// On its way, as the carrier's receipt said.
    Enroute,
    Accepted,
    /// It ended so; or UNKNOWN, which may be corrected once.
    Final(DlrCode),
}

impl Told {
    pub const fn is_final(self) -> bool {
        matches!(self, Told::Final(_))
    }

    /// The word of a receipt's `stat`.
    pub const fn word(self) -> &'static str {
        match self {
            Told::Enroute => "ENROUTE",
            Told::Accepted => "ACCEPTD",
            Told::Final(code) => code.as_str(),
        }
    }

    /// The `message_state` that goes with it: only the five that are documented, none where nothing is known.
    pub const fn message_state(self) -> Option<u8> {
        match self {
            Told::Enroute => Some(1),
            Told::Accepted | Told::Final(DlrCode::Acceptd) => Some(6),
            Told::Final(DlrCode::Delivrd) => Some(2),
            Told::Final(DlrCode::Expired) => Some(3),
            Told::Final(DlrCode::Undeliv | DlrCode::Rejectd) => Some(5),
            Told::Final(DlrCode::Unknown) => None,
        }
    }

    /// The number the store keeps. Never change one.
    pub const fn as_u8(self) -> u8 {
        match self {
            Told::Enroute => 101,
            Told::Accepted => 106,
            Told::Final(code) => code.as_u8(),
        }
    }

    pub fn from_u8(stored: u8) -> Option<Told> {
        match stored {
            101 => Some(Told::Enroute),
            106 => Some(Told::Accepted),
            code => DlrCode::from_u8(code).map(Told::Final),
        }
    }
}
