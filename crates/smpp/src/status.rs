//! Command statuses of SMPP v3.4 §5.1.3 and those that 5.0 added, which carriers use on any bind; Hermod sends only
//! those of 3.4. A constant's name is the specification's without `ESME_R`: `ESME_RTHROTTLED` is `THROTTLED`. Also why a PDU cannot be encoded.

use std::fmt;

use thiserror::Error;

/// A `command_status`. A peer can send any value, including vendor-specific ones, so this is not an enum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandStatus(pub u32);

known_values! { CommandStatus, "All statuses with a name: the 3.4 table in its order, then those of 5.0.":
    OK = 0x0000_0000, "ESME_ROK";
    INVMSGLEN = 0x0000_0001, "ESME_RINVMSGLEN";
    INVCMDLEN = 0x0000_0002, "ESME_RINVCMDLEN";
    INVCMDID = 0x0000_0003, "ESME_RINVCMDID";
    INVBNDSTS = 0x0000_0004, "ESME_RINVBNDSTS";
    ALYBND = 0x0000_0005, "ESME_RALYBND";
    INVPRTFLG = 0x0000_0006, "ESME_RINVPRTFLG";
    INVREGDLVFLG = 0x0000_0007, "ESME_RINVREGDLVFLG";
    SYSERR = 0x0000_0008, "ESME_RSYSERR";
    INVSRCADR = 0x0000_000A, "ESME_RINVSRCADR";
    INVDSTADR = 0x0000_000B, "ESME_RINVDSTADR";
    INVMSGID = 0x0000_000C, "ESME_RINVMSGID";
    BINDFAIL = 0x0000_000D, "ESME_RBINDFAIL";
    INVPASWD = 0x0000_000E, "ESME_RINVPASWD";
    INVSYSID = 0x0000_000F, "ESME_RINVSYSID";
    CANCELFAIL = 0x0000_0011, "ESME_RCANCELFAIL";
    REPLACEFAIL = 0x0000_0013, "ESME_RREPLACEFAIL";
    MSGQFUL = 0x0000_0014, "ESME_RMSGQFUL";
    INVSERTYP = 0x0000_0015, "ESME_RINVSERTYP";
    INVNUMDESTS = 0x0000_0033, "ESME_RINVNUMDESTS";
    INVDLNAME = 0x0000_0034, "ESME_RINVDLNAME";
    INVDESTFLAG = 0x0000_0040, "ESME_RINVDESTFLAG";
    INVSUBREP = 0x0000_0042, "ESME_RINVSUBREP";
    INVESMCLASS = 0x0000_0043, "ESME_RINVESMCLASS";
    CNTSUBDL = 0x0000_0044, "ESME_RCNTSUBDL";
    SUBMITFAIL = 0x0000_0045, "ESME_RSUBMITFAIL";
    INVSRCTON = 0x0000_0048, "ESME_RINVSRCTON";
    INVSRCNPI = 0x0000_0049, "ESME_RINVSRCNPI";
    INVDSTTON = 0x0000_0050, "ESME_RINVDSTTON";
    INVDSTNPI = 0x0000_0051, "ESME_RINVDSTNPI";
    INVSYSTYP = 0x0000_0053, "ESME_RINVSYSTYP";
    INVREPFLAG = 0x0000_0054, "ESME_RINVREPFLAG";
    INVNUMMSGS = 0x0000_0055, "ESME_RINVNUMMSGS";
    THROTTLED = 0x0000_0058, "ESME_RTHROTTLED";
    INVSCHED = 0x0000_0061, "ESME_RINVSCHED";
    INVEXPIRY = 0x0000_0062, "ESME_RINVEXPIRY";
    INVDFTMSGID = 0x0000_0063, "ESME_RINVDFTMSGID";
    X_T_APPN = 0x0000_0064, "ESME_RX_T_APPN";
    X_P_APPN = 0x0000_0065, "ESME_RX_P_APPN";
    X_R_APPN = 0x0000_0066, "ESME_RX_R_APPN";
    QUERYFAIL = 0x0000_0067, "ESME_RQUERYFAIL";
    INVOPTPARSTREAM = 0x0000_00C0, "ESME_RINVOPTPARSTREAM";
    OPTPARNOTALLWD = 0x0000_00C1, "ESME_ROPTPARNOTALLWD";
    INVPARLEN = 0x0000_00C2, "ESME_RINVPARLEN";
    MISSINGOPTPARAM = 0x0000_00C3, "ESME_RMISSINGOPTPARAM";
    INVOPTPARAMVAL = 0x0000_00C4, "ESME_RINVOPTPARAMVAL";
    DELIVERYFAILURE = 0x0000_00FE, "ESME_RDELIVERYFAILURE";
    UNKNOWNERR = 0x0000_00FF, "ESME_RUNKNOWNERR";
    SERTYPUNAUTH = 0x0000_0100, "ESME_RSERTYPUNAUTH";
    PROHIBITED = 0x0000_0101, "ESME_RPROHIBITED";
    SERTYPUNAVAIL = 0x0000_0102, "ESME_RSERTYPUNAVAIL";
    SERTYPDENIED = 0x0000_0103, "ESME_RSERTYPDENIED";
    INVDCS = 0x0000_0104, "ESME_RINVDCS";
    INVSRCADDRSUBUNIT = 0x0000_0105, "ESME_RINVSRCADDRSUBUNIT";
    INVDSTADDRSUBUNIT = 0x0000_0106, "ESME_RINVDSTADDRSUBUNIT";
    INVBCASTFREQINT = 0x0000_0107, "ESME_RINVBCASTFREQINT";
    INVBCASTALIAS_NAME = 0x0000_0108, "ESME_RINVBCASTALIAS_NAME";
    INVBCASTAREAFMT = 0x0000_0109, "ESME_RINVBCASTAREAFMT";
    INVNUMBCAST_AREAS = 0x0000_010A, "ESME_RINVNUMBCAST_AREAS";
    INVBCASTCNTTYPE = 0x0000_010B, "ESME_RINVBCASTCNTTYPE";
    INVBCASTMSGCLASS = 0x0000_010C, "ESME_RINVBCASTMSGCLASS";
    BCASTFAIL = 0x0000_010D, "ESME_RBCASTFAIL";
    BCASTQUERYFAIL = 0x0000_010E, "ESME_RBCASTQUERYFAIL";
    BCASTCANCELFAIL = 0x0000_010F, "ESME_RBCASTCANCELFAIL";
    INVBCAST_REP = 0x0000_0110, "ESME_RINVBCAST_REP";
    INVBCASTSRVGRP = 0x0000_0111, "ESME_RINVBCASTSRVGRP";
    INVBCASTCHANIND = 0x0000_0112, "ESME_RINVBCASTCHANIND";
}

impl CommandStatus {
    /// Whether the status is ESME_ROK.
    pub const fn is_ok(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for CommandStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} (0x{:02x})", self.0),
            None => write!(f, "status 0x{:08x}", self.0),
        }
    }
}

/// A field has a value that cannot be encoded. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{field} {why}")]
pub struct EncodeError {
    /// The first invalid field.
    pub field: &'static str,
    /// What is wrong with it.
    pub why: EncodeErrorKind,
}

/// Why a value cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EncodeErrorKind {
    /// More octets than the field holds.
    #[error("is too long")]
    TooLong,
    /// A null inside a C-octet string would end it early.
    #[error("contains a null octet")]
    ContainsNull,
    /// The field counts something and the count is outside its range.
    #[error("counts too few or too many entries")]
    BadCount,
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
