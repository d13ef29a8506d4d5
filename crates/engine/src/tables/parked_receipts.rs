//! The tables of parked receipts, and of how many were given up.

use crate::ops::{ParkedReceipt, ReceiptLoss};
use crate::tables::TableError;
use crate::tables::columns::{Column, ColumnReader, ColumnValue, Stored, one_column};
use crate::tables::described::{stored_fields, stored_table};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use serde::{Deserialize, Serialize};

/// A receipt that a carrier sent and that is parked for its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedRow {
    pub carrier: CarrierId,
    pub receipt: ParkedReceipt,
}

// The numbers are permanent: add new ones, never renumber.
one_column! {
    DeliveryOutcome: Number, |verdict| match verdict {
        DeliveryOutcome::Enroute => 1,
        DeliveryOutcome::Delivered => 2,
        DeliveryOutcome::Undeliverable => 3,
        DeliveryOutcome::Rejected => 4,
        DeliveryOutcome::Expired => 5,
        DeliveryOutcome::NoChange => 6,
        DeliveryOutcome::Accepted => 7,
    }, |number| match number {
        1 => Some(DeliveryOutcome::Enroute),
        2 => Some(DeliveryOutcome::Delivered),
        3 => Some(DeliveryOutcome::Undeliverable),
        4 => Some(DeliveryOutcome::Rejected),
        5 => Some(DeliveryOutcome::Expired),
        6 => Some(DeliveryOutcome::NoChange),
        7 => Some(DeliveryOutcome::Accepted),
        _ => None,
    };
}

/// Its key, and the id as the carrier wrote it: empty where that equals the key, because most ids do.
impl Stored for RemoteId {
    fn add_columns(_: &'static str, columns: &mut Vec<Column>) {
        Vec::<u8>::add_columns("key", columns);
        Vec::<u8>::add_columns("raw", columns);
    }

    fn add_values<'v>(&'v self, values: &mut Vec<ColumnValue<'v>>) {
        let key = RemoteKey::of(self);
        let raw = if key.octets() == self.octets() { &[] } else { self.octets() };
        values.push(ColumnValue::Octets(key.octets().to_vec().into()));
        values.push(ColumnValue::Octets(raw.into()));
    }

    fn read(row: &mut ColumnReader<'_>) -> Result<RemoteId, TableError> {
        let (key, raw) = (Vec::<u8>::read(row)?, Vec::<u8>::read(row)?);
        RemoteId::from_octets(if raw.is_empty() { &key } else { &raw }).map_err(TableError::unreadable)
    }
}

stored_fields! { ParkedReceipt { remote, verdict, err, word, source, at, ambiguous } }
stored_table! {
    parked: ParkedRow { carrier, receipt }, key (carrier: CarrierId, receipt.remote: RemoteId),
    indexes ["INDEX parked_at ON parked (carrier, at)"]
}
stored_table! {
    receipt_loss: ReceiptLoss { day, carrier, too_old, crowded_out }, key (day: Day, carrier: CarrierId)
}

/// Reads parked receipts.
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

    /// Returns the receipts of all carriers that were parked later than this.
    fn parked_later_than(&self, at: Timestamp) -> Result<Vec<ParkedRow>, TableError>;

    /// Returns how many receipts of a carrier were given up on a day.
    fn receipt_loss(&self, day: Day, carrier: CarrierId) -> Result<Option<ReceiptLoss>, TableError>;
}
