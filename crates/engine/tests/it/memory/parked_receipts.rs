//! Receipts that found no part: those that wait for one, and how many were given up.

use super::{MemoryTables, Rows};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{ParkedReceipt, ReceiptLoss};
use hermod_engine::tables::{ParkedReceiptRows, ParkedRow, TableError};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The columns of an id, by which the store sorts.
fn columns(remote: &RemoteId) -> (Vec<u8>, Vec<u8>) {
    let key = RemoteKey::of(remote).octets().to_vec();
    let raw = if key == remote.octets() { Vec::new() } else { remote.octets().to_vec() };
    (key, raw)
}

impl Rows {
    /// Returns the parked receipts of a carrier that match, in the order of their columns.
    fn parked_at(&self, carrier: CarrierId, matches: impl Fn(&ParkedReceipt) -> bool) -> Vec<ParkedReceipt> {
        let rows = self.parked.values().filter(|row| row.carrier == carrier && matches(&row.receipt));
        let mut found: Vec<_> = rows.map(|row| row.receipt.clone()).collect();
        found.sort_by_key(|receipt| columns(&receipt.remote));
        found
    }
}

impl ParkedReceiptRows for MemoryTables {
    fn parked_counts(&self) -> Result<Vec<(CarrierId, u64)>, TableError> {
        let mut counts: BTreeMap<CarrierId, u64> = BTreeMap::new();
        for (carrier, _) in self.read().parked.keys() {
            *counts.entry(*carrier).or_default() += 1;
        }
        Ok(counts.into_iter().collect())
    }

    fn parked_receipt(
        &self,
        carrier: CarrierId,
        remote: &RemoteId,
    ) -> Result<Option<ParkedReceipt>, TableError> {
        Ok(self.read().parked.get(&(carrier, remote.clone())).map(|row| row.receipt.clone()))
    }

    fn parked_receipts_with_key(
        &self,
        carrier: CarrierId,
        key: &RemoteKey,
        limit: u32,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        let mut found = self.read().parked_at(carrier, |receipt| RemoteKey::of(&receipt.remote) == *key);
        found.truncate(usize::try_from(limit)?);
        Ok(found)
    }

    fn parked_receipts_about(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        since: Timestamp,
        newest: u32,
        limit: u32,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        let mut found = self.read().parked_at(carrier, |receipt| receipt.at >= since);
        // The store reads an index backwards: of receipts parked at one time, the one with the highest key is first.
        found.sort_by_key(|receipt| Reverse((receipt.at, columns(&receipt.remote))));
        found.truncate(usize::try_from(newest)?);
        found.retain(|receipt| receipt.source == Some(to));
        found.truncate(usize::try_from(limit)?);
        Ok(found)
    }

    fn parked_receipts_after(
        &self,
        carrier: CarrierId,
        after: Option<&RemoteId>,
        limit: usize,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        let after = after.map(columns);
        let is_behind =
            |receipt: &ParkedReceipt| after.as_ref().is_none_or(|after| columns(&receipt.remote) > *after);
        let mut found = self.read().parked_at(carrier, is_behind);
        found.truncate(limit);
        Ok(found)
    }

    fn oldest_parked_ids(
        &self,
        carrier: CarrierId,
        before: Option<Timestamp>,
        limit: u64,
    ) -> Result<Vec<RemoteId>, TableError> {
        let is_old = |receipt: &ParkedReceipt| before.is_none_or(|before| receipt.at < before);
        let mut found = self.read().parked_at(carrier, is_old);
        found.sort_by_key(|receipt| receipt.at);
        Ok(found.into_iter().take(usize::try_from(limit)?).map(|receipt| receipt.remote).collect())
    }

    fn parked_later_than(&self, at: Timestamp) -> Result<Vec<ParkedRow>, TableError> {
        let rows = self.read();
        let found = rows.parked.values().filter(|row| row.receipt.at > at);
        Ok(found.map(|row| (**row).clone()).collect())
    }

    fn receipt_loss(&self, day: Day, carrier: CarrierId) -> Result<Option<ReceiptLoss>, TableError> {
        Ok(self.read().receipt_loss.get(&(day, carrier)).map(|row| **row))
    }
}
