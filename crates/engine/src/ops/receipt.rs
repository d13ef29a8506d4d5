//! DLRs from carriers, and what became of them.

use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::ReceiptWords;
use hermod_domain::sender::Sender;
use hermod_domain::time::{Day, Timestamp};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a receipt that matches no part is parked before it is given up.
pub const PARKED_KEPT: Duration = Duration::from_secs(72 * 3600);
/// Parked receipts of one carrier. Beyond that the oldest are given up, so that a carrier with invalid ids cannot fill
/// the disk.
pub const PARKED_PER_CARRIER_MAX: u64 = 1_000_000;
/// Parked receipts that one `ReceiptStore::rematch` tries. The next call continues behind them.
pub const REMATCH_ROWS_MAX: usize = 100_000;
/// Lines about late, repeated and unreadable receipts in one message's timeline.
pub const LATE_LINES_MAX: u32 = 10;

/// A receipt, with the sequence number of its `deliver_sm`, which is answered after the commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptRecord {
    pub sequence: u32,
    /// The carrier's id of the part; none if the receipt has no usable one.
    pub remote: Option<RemoteId>,
    pub verdict: DeliveryOutcome,
    pub err: u16,
    /// The carrier's own status word, if it is not a known one.
    pub word: Option<Box<str>>,
    /// What the carrier wrote, for the record.
    pub words: ReceiptWords,
    /// The recipient that the receipt names. Used only where the id alone does not decide.
    pub source: Option<Msisdn>,
    /// The sender that the receipt names. Used only where the number alone does not decide.
    pub sender: Option<Sender>,
}

/// A recorded receipt, to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedReceipt {
    pub sequence: u32,
    pub outcome: ReceiptOutcome,
}

/// What happened to a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReceiptOutcome {
    /// It matched a part and changed it.
    Applied,
    /// It matched a part and changed nothing: it was late, repeated, or said nothing new.
    Unchanged,
    /// It matched no part. It is kept and tried again.
    Parked,
    /// It could belong to several parts. It is kept and not applied to any of them.
    Ambiguous,
    /// It has no id, and its number matches no single part without an id. It is dropped.
    Dropped,
}

impl ReceiptOutcome {
    /// Whether it matched a part.
    pub const fn is_matched(self) -> bool {
        match self {
            ReceiptOutcome::Applied | ReceiptOutcome::Unchanged => true,
            ReceiptOutcome::Parked | ReceiptOutcome::Ambiguous | ReceiptOutcome::Dropped => false,
        }
    }
}

/// A receipt that matches no part yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedReceipt {
    pub remote: RemoteId,
    pub verdict: DeliveryOutcome,
    pub err: u16,
    pub word: Option<Box<str>>,
    pub source: Option<Msisdn>,
    pub at: Timestamp,
    /// It could belong to several parts.
    pub ambiguous: bool,
}

/// An id that a carrier gave in a response, as the carrier wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedId {
    pub remote: RemoteId,
    pub at: Timestamp,
}

/// The result of trying a carrier's parked receipts again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rematched {
    pub tried: usize,
    pub matched: usize,
}

/// Parked receipts of one carrier that were given up on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptLoss {
    pub day: Day,
    pub carrier: CarrierId,
    /// They were older than [`PARKED_KEPT`].
    pub too_old: u64,
    /// There were more than [`PARKED_PER_CARRIER_MAX`].
    pub crowded_out: u64,
}

/// A look-up of the part that a carrier's id belongs to.
#[derive(Clone, Copy, Debug)]
pub struct CarrierIdQuery<'a> {
    pub carrier: CarrierId,
    pub ids: IdConversion,
    pub remote: &'a RemoteId,
    pub source: Option<Msisdn>,
}
