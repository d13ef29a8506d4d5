//! The table of the ids that carriers gave to parts.

/// Reads and writes the ids that carriers gave to parts.
pub trait CarrierIdRows {}
