//! The table of receipts that wait for the answer that brings their id.

/// Reads and writes receipts that wait for the answer that brings their id.
pub trait ParkedReceiptRows {}
