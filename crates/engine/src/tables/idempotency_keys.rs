//! The table of idempotency keys, by day.

/// Reads and writes idempotency keys, by day.
pub trait IdempotencyKeyRows {}
