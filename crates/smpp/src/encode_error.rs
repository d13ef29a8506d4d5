//! Why a PDU cannot be written.

use thiserror::Error;

/// The field that does not fit. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{field} {why}")]
pub struct EncodeError {
    /// The first field at fault.
    pub field: &'static str,
    /// What is wrong with it.
    pub why: Unfit,
}

/// Why a value cannot be put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unfit {
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
