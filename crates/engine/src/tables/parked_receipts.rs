//! The tables of parked receipts, and of how many were given up.

use crate::ops::{ParkedReceipt, ReceiptLoss};
use crate::tables::TableError;
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use serde::{Deserialize, Serialize};

/// A change of the tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ParkedReceiptChange {
    /// The receipt that is parked for its id, in place of any other.
    Put {
        carrier: CarrierId,
        receipt: ParkedReceipt,
    },
    ParkedAt {
        carrier: CarrierId,
        remote: RemoteId,
        at: Timestamp,
    },
    /// The receipt parked for this id could belong to several parts.
    Ambiguous {
        carrier: CarrierId,
        remote: RemoteId,
    },
    Delete {
        carrier: CarrierId,
        remote: RemoteId,
    },
    /// How many receipts of a carrier were given up on a day, in place of the earlier figures.
    Loss(ReceiptLoss),
    /// The figures of given-up receipts of all days before this one are deleted.
    DeleteLossesBefore(Day),
}

/// Reads and writes parked receipts.
pub trait ParkedReceiptRows {
    /// Applies a change.
    fn change_parked_receipt(&self, change: &ParkedReceiptChange) -> Result<(), TableError>;

    /// Returns how many receipts each carrier has parked.
    fn parked_counts(&self) -> Result<Vec<(CarrierId, u64)>, TableError>;

    /// Returns the receipt that is parked for exactly this id.
    fn parked_receipt(
        &self,
        carrier: CarrierId,
        remote: &RemoteId,
    ) -> Result<Option<ParkedReceipt>, TableError>;

    /// Returns up to `limit` parked receipts whose ids have this key.
    fn parked_receipts_with_key(
        &self,
        carrier: CarrierId,
        key: &RemoteKey,
        limit: u32,
    ) -> Result<Vec<ParkedReceipt>, TableError>;

    /// Returns up to `limit` receipts of this recipient among the `newest` ones that were parked since then.
    fn parked_receipts_about(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        since: Timestamp,
        newest: u32,
        limit: u32,
    ) -> Result<Vec<ParkedReceipt>, TableError>;

    /// Returns up to `limit` parked receipts in the order of their ids, from the one behind `after` on.
    fn parked_receipts_after(
        &self,
        carrier: CarrierId,
        after: Option<&RemoteId>,
        limit: usize,
    ) -> Result<Vec<ParkedReceipt>, TableError>;

    /// Returns the ids of up to `limit` receipts that were parked before this time, the oldest first; of all if no time
    /// is given.
    fn oldest_parked_ids(
        &self,
        carrier: CarrierId,
        before: Option<Timestamp>,
        limit: u64,
    ) -> Result<Vec<RemoteId>, TableError>;

    /// Returns the ids of the receipts of all carriers that were parked later than this.
    fn parked_ids_after(&self, at: Timestamp) -> Result<Vec<(CarrierId, RemoteId)>, TableError>;

    /// Returns how many receipts of a carrier were given up on a day.
    fn receipt_loss(&self, day: Day, carrier: CarrierId) -> Result<Option<ReceiptLoss>, TableError>;
}
