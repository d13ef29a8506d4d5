//! What carriers say later about parts they took, and what became of it.

use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::lifecycle::Verdict;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::{Day, Timestamp};
use std::time::Duration;

/// How long a receipt that finds no part is kept and tried again before it is given up.
pub const PARKED_KEPT: Duration = Duration::from_secs(72 * 3600);
/// Receipts of one carrier that can be parked. Beyond that the oldest go: a carrier that makes ids up costs disk, and
/// not without end.
pub const PARKED_PER_CARRIER_MAX: u64 = 1_000_000;
/// Parked receipts that one `Store::rematch` looks at. The next one goes on from there.
pub const REMATCH_ROWS_MAX: usize = 100_000;
/// Lines about late, repeated and unreadable receipts that one message's timeline takes.
pub const LATE_LINES_MAX: u32 = 10;

/// A receipt, with the sequence number its `deliver_sm` must be answered under once it is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptRecord {
    pub sequence: u32,
    /// The carrier's id of the part, if it gives one.
    pub remote: Option<RemoteId>,
    pub verdict: Verdict,
    pub err: u16,
    /// The carrier's own word, where nobody knows it.
    pub word: Option<Box<str>>,
    /// Whom the receipt is about, as far as it says. CarrierIdQuery only where ids alone cannot tell.
    pub source: Option<Msisdn>,
    /// Who sent the message, as far as the receipt says. CarrierIdQuery only where the number alone cannot tell.
    pub sender: Option<Sender>,
}

/// A receipt that is durable, and may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedReceipt {
    pub sequence: u32,
    pub outcome: ReceiptOutcome,
}

/// What became of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceiptOutcome {
    /// It found its part and moved it.
    Applied,
    /// It found its part and changed nothing: it is late, was said before, or says nothing.
    Unchanged,
    /// It found no part. It is kept, and tried again.
    Parked,
    /// It could be about several parts, and nothing says which. It is kept, and nobody guesses.
    Ambiguous,
    /// It has no id, and its number belongs to no single part without one. It is dropped.
    Dropped,
}

impl ReceiptOutcome {
    pub const fn is_matched(self) -> bool {
        match self {
            ReceiptOutcome::Applied | ReceiptOutcome::Unchanged => true,
            ReceiptOutcome::Parked | ReceiptOutcome::Ambiguous | ReceiptOutcome::Dropped => false,
        }
    }
}

/// A receipt that waits for its part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParkedReceipt {
    pub remote: RemoteId,
    pub verdict: Verdict,
    pub err: u16,
    pub word: Option<Box<str>>,
    pub source: Option<Msisdn>,
    pub at: Timestamp,
    /// It could be about several parts.
    pub ambiguous: bool,
}

/// An id that a carrier gave in an answer, as it wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedId {
    pub remote: RemoteId,
    /// Unknown for ids that an earlier release wrote.
    pub at: Option<Timestamp>,
}

/// What another look at a carrier's parked receipts came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rematched {
    pub tried: usize,
    pub matched: usize,
}

/// Receipts of one carrier that were given up on one day without having found a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptLoss {
    pub day: Day,
    pub carrier: CarrierId,
    /// Nothing turned up in [`PARKED_KEPT`].
    pub too_old: u64,
    /// There were more than [`PARKED_PER_CARRIER_MAX`].
    pub crowded_out: u64,
}

/// Whose id is looked for, and how that carrier writes ids.
#[derive(Clone, Copy, Debug)]
pub struct CarrierIdQuery<'a> {
    pub carrier: CarrierId,
    pub ids: IdConversion,
    pub remote: &'a RemoteId,
    pub source: Option<Msisdn>,
}
