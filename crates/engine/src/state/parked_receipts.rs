//! Parked receipts: they match no part because the response has not arrived, the carrier's id format is not configured,
//! or they are not for Hermod. They wait in a table of their own, are tried again, and are given up after
//! [`PARKED_KEPT`].

use crate::maps::HashMap;
use crate::ops::{CarrierIdQuery, PARKED_KEPT, PARKED_PER_CARRIER_MAX, ParkedReceipt, ReceiptLoss};
use crate::state::carrier_id_days::{CarrierIdDays, Match};
use crate::tables::{ParkedRow, RowChange, TableError, Tables};
use hermod_domain::carrier::{IdConversion, RemoteKey};
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;

/// Parked receipts with one key that are tried when a response brings that key.
const SAME_KEY_MAX: u32 = 64;
/// Parked receipts of the last minute that are searched for a number.
const LATELY_MAX: u32 = 1_000;
/// Parked receipts that one read returns, so that no snapshot lasts long.
const PAGE_ROWS: usize = 2_000;
/// Receipts that are given up in one transaction.
pub const GIVEN_UP_PER_BATCH_MAX: u64 = 1_000;

/// The number of parked receipts per carrier. Most responses need nothing else.
pub struct Parked {
    counts: HashMap<CarrierId, u64>,
    /// The counts before this batch, of carriers that it changed.
    before: HashMap<CarrierId, u64>,
    limit: u64,
}

/// Why a parked receipt is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GiveUpCause {
    TooOld,
    CrowdedOut,
}

/// Parks a receipt, in place of the one that is parked for its id if there is one.
pub fn put(tables: &Tables<'_>, carrier: CarrierId, receipt: ParkedReceipt) {
    tables.write(RowChange::Put(ParkedRow { carrier, receipt }));
}

impl Parked {
    pub fn load(tables: &Tables<'_>) -> Result<Parked, TableError> {
        Parked::load_limited(tables, PARKED_PER_CARRIER_MAX)
    }

    /// Loads the counts, with another limit per carrier.
    pub fn load_limited(tables: &Tables<'_>, limit: u64) -> Result<Parked, TableError> {
        let counts = tables.read()?.parked_counts()?.into_iter().collect();
        Ok(Parked { counts, before: HashMap::default(), limit })
    }

    /// Returns the number of parked receipts of each carrier that has some, in order.
    pub fn rows(&self) -> Vec<(CarrierId, u64)> {
        let mut rows: Vec<_> = self
            .counts
            .iter()
            .map(|(carrier, count)| (*carrier, *count))
            .filter(|(_, count)| *count > 0)
            .collect();
        rows.sort_unstable();
        rows
    }

    pub fn count(&self, carrier: CarrierId) -> u64 {
        self.counts.get(&carrier).copied().unwrap_or(0)
    }

    fn set(&mut self, carrier: CarrierId, count: u64) {
        let before = self.counts.insert(carrier, count).unwrap_or(0);
        self.before.entry(carrier).or_insert(before);
    }

    pub fn committed(&mut self) {
        self.before.clear();
    }

    pub fn rolled_back(&mut self) {
        self.counts.extend(self.before.drain());
    }

    /// Parks a receipt. For one id it keeps the first final receipt, or else the latest that says something new. Returns how
    /// many older receipts were given up because the carrier has too many.
    pub fn park(
        &mut self,
        tables: &Tables<'_>,
        carrier: CarrierId,
        receipt: &ParkedReceipt,
    ) -> Result<u64, TableError> {
        if let Some(earlier) = tables.read()?.parked_receipt(carrier, &receipt.remote)? {
            if outdoes(receipt.verdict, earlier.verdict) {
                put(tables, carrier, receipt.clone());
            } else if receipt.ambiguous && !earlier.ambiguous {
                put(tables, carrier, ParkedReceipt { ambiguous: true, ..earlier });
            }
            return Ok(0);
        }
        let crowded_out = if self.count(carrier) >= self.limit {
            self.give_up(tables, carrier, 1, receipt.at, GiveUpCause::CrowdedOut)?
        } else {
            0
        };
        put(tables, carrier, receipt.clone());
        self.set(carrier, self.count(carrier) + 1);
        Ok(crowded_out)
    }

    /// Returns the receipts that a response with this key may belong to.
    pub fn under(
        &self,
        tables: &Tables<'_>,
        carrier: CarrierId,
        key: &RemoteKey,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        tables.read()?.parked_receipts_with_key(carrier, key, SAME_KEY_MAX)
    }

    /// Returns up to two receipts about a number that were parked since a time.
    pub fn lately_about(
        &self,
        tables: &Tables<'_>,
        carrier: CarrierId,
        to: Msisdn,
        since: Timestamp,
    ) -> Result<Vec<ParkedReceipt>, TableError> {
        tables.read()?.parked_receipts_about(carrier, to, since, LATELY_MAX, 2)
    }

    /// Deletes a receipt that was matched.
    pub fn remove(
        &mut self,
        tables: &Tables<'_>,
        carrier: CarrierId,
        remote: &RemoteId,
    ) -> Result<(), TableError> {
        if tables.read()?.parked_receipt(carrier, remote)?.is_some() {
            tables.write(RowChange::<ParkedRow>::Delete((carrier, remote.clone())));
            self.set(carrier, self.count(carrier).saturating_sub(1));
        }
        Ok(())
    }

    /// Gives up, and counts, some receipts that are too old. Returns how many; there may be more.
    pub fn give_up_old(&mut self, tables: &Tables<'_>, now: Timestamp) -> Result<u64, TableError> {
        let carriers: Vec<CarrierId> = self.rows().into_iter().map(|(carrier, _)| carrier).collect();
        let mut given_up = 0;
        for carrier in carriers {
            let room = GIVEN_UP_PER_BATCH_MAX - given_up;
            given_up += self.give_up(tables, carrier, room, now, GiveUpCause::TooOld)?;
        }
        Ok(given_up)
    }

    /// Gives up the oldest receipts of a carrier, at most `limit`. Returns how many.
    fn give_up(
        &mut self,
        tables: &Tables<'_>,
        carrier: CarrierId,
        limit: u64,
        now: Timestamp,
        why: GiveUpCause,
    ) -> Result<u64, TableError> {
        let before = match why {
            GiveUpCause::TooOld => Some(now.minus(PARKED_KEPT)),
            GiveUpCause::CrowdedOut => None,
        };
        let mut count = 0;
        for remote in tables.read()?.oldest_parked_ids(carrier, before, limit)? {
            tables.write(RowChange::<ParkedRow>::Delete((carrier, remote)));
            count += 1;
        }
        if count == 0 {
            return Ok(0);
        }
        let day = now.day();
        let earlier = tables.read()?.receipt_loss(day, carrier)?;
        let mut loss = earlier.unwrap_or(ReceiptLoss { day, carrier, too_old: 0, crowded_out: 0 });
        match why {
            GiveUpCause::TooOld => loss.too_old += count,
            GiveUpCause::CrowdedOut => loss.crowded_out += count,
        }
        tables.write(RowChange::Put(loss));
        self.set(carrier, self.count(carrier).saturating_sub(count));
        Ok(count)
    }
}

/// A page of a carrier's parked receipts.
pub struct ParkedPage {
    /// The ids of receipts that match a part now, or became ambiguous.
    pub worth_trying: Vec<RemoteId>,
    pub looked_at: usize,
    /// Where the next page begins; none at the end.
    pub last: Option<RemoteId>,
}

impl ParkedPage {
    /// Reads the page behind a position, and looks up the part of each receipt. Changes nothing.
    pub fn read(
        tables: &Tables<'_>,
        carrier: CarrierId,
        ids: IdConversion,
        after: Option<&RemoteId>,
    ) -> Result<ParkedPage, TableError> {
        let days = CarrierIdDays::without_filters(tables)?;
        let receipts = tables.read()?.parked_receipts_after(carrier, after, PAGE_ROWS)?;
        let mut page = ParkedPage { worth_trying: Vec::new(), looked_at: receipts.len(), last: None };
        for receipt in receipts {
            let ParkedReceipt { remote, source, ambiguous, .. } = receipt;
            match days.find(tables, &CarrierIdQuery { carrier, ids, remote: &remote, source })? {
                Match::Part(_) => page.worth_trying.push(remote.clone()),
                Match::Ambiguous if !ambiguous => page.worth_trying.push(remote.clone()),
                Match::Ambiguous | Match::Nothing => {}
            }
            page.last = Some(remote);
        }
        page.last.take_if(|_| page.looked_at < PAGE_ROWS);
        Ok(page)
    }
}

/// Says a later receipt about the same id more than an earlier one? A final word does, unless there is one already.
fn outdoes(later: DeliveryOutcome, earlier: DeliveryOutcome) -> bool {
    match (earlier, later) {
        (DeliveryOutcome::NoChange, _) => true,
        (DeliveryOutcome::Enroute | DeliveryOutcome::Accepted, DeliveryOutcome::NoChange) => false,
        (DeliveryOutcome::Enroute | DeliveryOutcome::Accepted, _) => true,
        (
            DeliveryOutcome::Delivered
            | DeliveryOutcome::Undeliverable
            | DeliveryOutcome::Rejected
            | DeliveryOutcome::Expired,
            _,
        ) => false,
    }
}
