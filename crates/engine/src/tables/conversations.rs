//! The table of which account last wrote to whom from a shared number.

/// Reads and writes which account last wrote to whom from a shared number.
pub trait ConversationRows {}
