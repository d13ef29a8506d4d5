//! The table of parts of concatenated MO messages, and what was received before.

/// Reads and writes parts of concatenated MO messages, and what was received before.
pub trait MoPartRows {}
