//! Receipts that found no part: those that wait for one, and how many were given up.

use super::columns::{stored_raw, stored_remote};
use super::{MemoryTables, Rows};
use hermod_domain::carrier::RemoteKey;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{ParkedReceipt, ReceiptLoss};
use hermod_engine::tables::{ParkedReceiptChange, ParkedReceiptRows, TableError};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The key of a row: the carrier, the key of the id, and the id as it was written unless that is its key.
type Key = (u32, Vec<u8>, Vec<u8>);

/// The row of a receipt that waits.
#[derive(Clone, Debug)]
pub(super) struct Row {
    verdict: DeliveryOutcome,
    err: u16,
    word: Option<Box<str>>,
    pub(super) source: Option<u64>,
    pub(super) at: Timestamp,
    ambiguous: bool,
}

impl Rows {
    /// Returns the parked receipts of a carrier, in the order of their keys.
    fn parked_at(&self, carrier: CarrierId) -> impl Iterator<Item = (&Key, &Row)> {
        let first = (carrier.get(), Vec::new(), Vec::new());
        self.parked.range(first..).take_while(move |((of, ..), _)| *of == carrier.get())
    }
}

impl ParkedReceiptRows for MemoryTables {
    fn change_parked_receipt(&self, change: &ParkedReceiptChange) -> Result<(), TableError> {
        let rows = &mut *self.write();
        match change {
            ParkedReceiptChange::Put { carrier, receipt } => {
                let ParkedReceipt { remote, verdict, err, word, source, at, ambiguous } = receipt.clone();
                let source = source.map(Msisdn::number);
                let row = Row { verdict, err, word, source, at, ambiguous };
                rows.parked.put(stored_key(*carrier, &remote), row);
            }
            ParkedReceiptChange::ParkedAt { carrier, remote, at } => {
                rows.parked.update(&stored_key(*carrier, remote), |row| row.at = *at);
            }
            ParkedReceiptChange::Ambiguous { carrier, remote } => {
                rows.parked.update(&stored_key(*carrier, remote), |row| row.ambiguous = true);
            }
            ParkedReceiptChange::Delete { carrier, remote } => {
                rows.parked.delete(&stored_key(*carrier, remote));
            }
            ParkedReceiptChange::Loss(loss) => {
                rows.receipt_loss.put((loss.day.get(), loss.carrier.get()), *loss);
            }
            ParkedReceiptChange::DeleteLossesBefore(day) => {
                rows.receipt_loss.delete_where(|(of, _), _| *of < day.get());
            }
        }
        Ok(())
    }

    fn parked_counts(&self) -> Result<Vec<(CarrierId, u64)>, TableError> {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for (carrier, ..) in self.read().parked.keys() {
            *counts.entry(*carrier).or_default() += 1;
        }
        Ok(counts.into_iter().map(|(carrier, count)| (CarrierId::new(carrier), count)).collect())
    }

    fn parked_receipt(
        &self,
        carrier: CarrierId,
        remote: &RemoteId,
    ) -> Result<Option<ParkedReceipt>, TableError> {
        let (rows, key) = (self.read(), stored_key(carrier, remote));
        rows.parked.get(&key).map(|row| read(&key, row)).transpose()
    }

    fn parked_receipts_with_key(
        &self,
        carrier: CarrierId,
        key: &RemoteKey,
        limit: u32,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        let rows = self.read();
        let found = rows.parked_at(carrier).filter(|((_, of, _), _)| of == key.octets());
        found.take(usize::try_from(limit)?).map(|(key, row)| read(key, row)).collect()
    }

    fn parked_receipts_about(
        &self,
        carrier: CarrierId,
        to: Msisdn,
        since: Timestamp,
        newest: u32,
        limit: u32,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        let rows = self.read();
        let mut found: Vec<_> = rows.parked_at(carrier).filter(|(_, row)| row.at >= since).collect();
        // The store reads an index backwards: of receipts parked at one time, the one with the highest key is first.
        found.sort_by_key(|(key, row)| Reverse((row.at, *key)));
        let found = found.into_iter().take(usize::try_from(newest)?);
        let found = found.filter(|(_, row)| row.source == Some(to.number()));
        found.take(usize::try_from(limit)?).map(|(key, row)| read(key, row)).collect()
    }

    fn parked_receipts_after(
        &self,
        carrier: CarrierId,
        after: Option<&RemoteId>,
        limit: usize,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        let rows = self.read();
        let after = after.map(|remote| stored_key(carrier, remote));
        let found =
            rows.parked_at(carrier).filter(|(key, _)| after.as_ref().is_none_or(|after| *key > after));
        found.take(limit).map(|(key, row)| read(key, row)).collect()
    }

    fn oldest_parked_ids(
        &self,
        carrier: CarrierId,
        before: Option<Timestamp>,
        limit: u64,
    ) -> Result<Vec<RemoteId>, TableError> {
        let rows = self.read();
        let found = rows.parked_at(carrier).filter(|(_, row)| before.is_none_or(|before| row.at < before));
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(key, row)| (row.at, *key));
        let found = found.into_iter().take(usize::try_from(limit)?);
        found.map(|((_, key, raw), _)| stored_remote(key, raw)).collect()
    }

    fn parked_ids_after(&self, at: Timestamp) -> Result<Vec<(CarrierId, RemoteId)>, TableError> {
        let rows = self.read();
        let found = rows.parked.iter().filter(|(_, row)| row.at > at);
        let ids =
            found.map(|((carrier, key, raw), _)| Ok((CarrierId::new(*carrier), stored_remote(key, raw)?)));
        ids.collect()
    }

    fn receipt_loss(&self, day: Day, carrier: CarrierId) -> Result<Option<ReceiptLoss>, TableError> {
        Ok(self.read().receipt_loss.get(&(day.get(), carrier.get())).copied())
    }
}

fn stored_key(carrier: CarrierId, remote: &RemoteId) -> Key {
    let key = RemoteKey::of(remote).octets().to_vec();
    let raw = stored_raw(&key, remote);
    (carrier.get(), key, raw)
}

fn read((_, key, raw): &Key, row: &Row) -> Result<ParkedReceipt, TableError> {
    let Row { verdict, err, word, source, at, ambiguous } = row.clone();
    let (remote, source) = (stored_remote(key, raw)?, source.and_then(Msisdn::from_number));
    Ok(ParkedReceipt { remote, verdict, err, word, source, at, ambiguous })
}
