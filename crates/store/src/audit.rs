//! Proving the books from raw rows. Nothing in an audit trusts a figure that the gateway keeps: every balance, state and link
//! between tables is worked out again and compared. Each database has the rules in its own words.

use hermod_domain::time::Timestamp;

/// What an audit found.
#[derive(Clone, Debug, Default)]
pub struct AuditReport {
    pub messages: u64,
    pub accounts: u64,
    /// Parts of messages that have not ended.
    pub open_parts: u64,
    /// Of those, the ones that are still to be handed to a carrier, or being handed over.
    pub waiting_parts: u64,
    /// Resends of parts that were in doubt, of the messages that are kept.
    pub resends: u64,
    /// The records of messages accepted before this are gone, and their money is rolled up in the ledger.
    pub purged_before: Option<Timestamp>,
    pub violations: Vec<Violation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub rule: &'static str,
    pub detail: String,
}

impl AuditReport {
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }
}
