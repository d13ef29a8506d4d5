//! Why a PDU cannot be encoded.

use thiserror::Error;

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
