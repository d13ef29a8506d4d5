//! What customers are told over HTTP: which kinds there are, how each is written, signed, and where it may go.

use serde::{Deserialize, Serialize};

/// What a webhook tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookKind {
    /// What became of a message.
    Dlr,
    /// A message from a handset.
    Inbound,
}

impl HookKind {
    pub const ALL: [HookKind; 2] = [HookKind::Dlr, HookKind::Inbound];

    /// The number the store keeps. Never change one.
    pub const fn as_u8(self) -> u8 {
        match self {
            HookKind::Dlr => 1,
            HookKind::Inbound => 2,
        }
    }

    pub const fn from_u8(stored: u8) -> Option<HookKind> {
        match stored {
            1 => Some(HookKind::Dlr),
            2 => Some(HookKind::Inbound),
            _ => None,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            HookKind::Dlr => "dlr",
            HookKind::Inbound => "inbound",
        }
    }
}

/// How a delivery report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DlrForm {
    #[default]
    Full,
    Short,
}

impl DlrForm {
    /// The number the store keeps. Never change one.
    pub const fn as_u8(self) -> u8 {
        match self {
            DlrForm::Full => 1,
            DlrForm::Short => 2,
        }
    }

    pub const fn from_u8(stored: u8) -> Option<DlrForm> {
        match stored {
            1 => Some(DlrForm::Full),
            2 => Some(DlrForm::Short),
            _ => None,
        }
    }
}
