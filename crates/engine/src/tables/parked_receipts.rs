//! The tables of receipts that found no part: those that wait for one, and how many were given up.

use crate::ops::{ParkedReceipt, ReceiptLoss};
use crate::tables::TableError;
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};

/// Reads and writes receipts that found no part.
pub trait ParkedReceiptRows {
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

    /// Writes when the receipt for this id was parked.
    fn put_parked_at(&self, carrier: CarrierId, remote: &RemoteId, at: Timestamp) -> Result<(), TableError>;

    /// Writes the receipt that is parked for its id, in place of any other.
    fn put_parked_receipt(&self, carrier: CarrierId, receipt: &ParkedReceipt) -> Result<(), TableError>;

    /// Writes that the receipt parked for this id could be about several parts.
    fn mark_parked_receipt_ambiguous(&self, carrier: CarrierId, remote: &RemoteId) -> Result<(), TableError>;

    /// Deletes the receipt that is parked for this id. Returns whether there was one.
    fn delete_parked_receipt(&self, carrier: CarrierId, remote: &RemoteId) -> Result<bool, TableError>;

    /// Returns how many receipts of a carrier were given up on a day.
    fn receipt_loss(&self, day: Day, carrier: CarrierId) -> Result<Option<ReceiptLoss>, TableError>;

    /// Writes how many receipts of a carrier were given up on a day, in place of the earlier figures.
    fn put_receipt_loss(&self, loss: &ReceiptLoss) -> Result<(), TableError>;

    /// Deletes the figures of given-up receipts of all days before this one.
    fn delete_receipt_losses_before(&self, day: Day) -> Result<(), TableError>;
}
