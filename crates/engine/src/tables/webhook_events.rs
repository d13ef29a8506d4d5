//! The table of webhook events and their attempts.

/// Reads and writes webhook events and their attempts.
pub trait WebhookEventRows {}
