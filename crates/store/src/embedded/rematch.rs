//! What becomes of parked receipts as time goes by, and how an operator sees them.

use crate::embedded::Embedded;
use crate::embedded::parked::{self, COLUMNS, GIVEN_UP_PER_BATCH_MAX};
use crate::embedded::remote_days::RemoteDays;
use crate::embedded::remotes::{Match, split_id};
use crate::fault::StoreFault;
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, RemoteId};
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{
    Asked, PAGE_ROWS_MAX, ParkedReceipt, REMATCH_ROWS_MAX, ReceiptLoss, Rematched, TiedId,
};
use rusqlite::{Connection, params};
use std::sync::PoisonError;

/// Parked receipts looked at in one read, so that no snapshot lasts long.
const PAGE_ROWS: usize = 2_000;

/// A part of a carrier's parked receipts, looked at beside the writer.
struct Page {
    /// Those that the writer has something to do about.
    worth_trying: Vec<RemoteId>,
    looked_at: usize,
    /// Where to read on; nothing at the end.
    last: Option<RemoteId>,
}

impl Embedded {
    /// Looks again whether parked receipts of this carrier find their part: its id conversion may have been corrected.
    /// Each call looks at [`REMATCH_ROWS_MAX`] of them at most and goes on where the last one ended.
    pub async fn rematch(
        &self,
        carrier: CarrierId,
        ids: IdConversion,
        now: Timestamp,
    ) -> Result<Rematched, StoreFault> {
        let mut position = self.rematch_from(carrier);
        let mut came_to = Rematched::default();
        while came_to.tried < REMATCH_ROWS_MAX {
            let page =
                self.inner.readers.run(move |connection| look(connection, carrier, ids, position)).await?;
            came_to.tried += page.looked_at;
            if !page.worth_trying.is_empty() {
                let remotes = page.worth_trying;
                came_to.matched += self
                    .request(move |batch| {
                        batch.at(now);
                        let mut matched = 0;
                        for remote in &remotes {
                            // It may have found its part, or gone, since it was looked at.
                            if let Some(receipt) = parked::find(batch.connection, carrier, remote)? {
                                matched += usize::from(batch.try_again(carrier, ids, &receipt)?);
                            }
                        }
                        Ok(matched)
                    })
                    .await?;
            }
            position = page.last;
            if position.is_none() {
                break;
            }
        }
        self.rematch_goes_on(carrier, position);
        Ok(came_to)
    }

    fn rematch_from(&self, carrier: CarrierId) -> Option<RemoteId> {
        self.inner.rematched.lock().unwrap_or_else(PoisonError::into_inner).remove(&carrier)
    }

    fn rematch_goes_on(&self, carrier: CarrierId, position: Option<RemoteId>) {
        if let Some(position) = position {
            self.inner.rematched.lock().unwrap_or_else(PoisonError::into_inner).insert(carrier, position);
        }
    }

    /// Gives up and counts receipts that have waited for [`crate::PARKED_KEPT`].
    pub(crate) async fn give_up_parked(&self, now: Timestamp) -> Result<(), StoreFault> {
        loop {
            let given_up = self
                .request(move |batch| {
                    batch.at(now);
                    let given_up = batch.books.parked.give_up_old(batch.connection, now)?;
                    batch.tally.receipts_given_up += given_up;
                    Ok(given_up)
                })
                .await?;
            if given_up > 0 {
                tracing::warn!(given_up, "Receipts found no part in 72 hours and are given up");
            }
            if given_up < GIVEN_UP_PER_BATCH_MAX {
                return Ok(());
            }
        }
    }

    /// A carrier's parked receipts, the latest first.
    pub async fn parked(&self, carrier: CarrierId, limit: u32) -> Result<Vec<ParkedReceipt>, StoreFault> {
        self.inner
            .readers
            .run(move |connection| {
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT {COLUMNS} FROM parked WHERE carrier = ?1 ORDER BY at DESC LIMIT ?2"
                ))?;
                let mut rows = statement.query(params![carrier.get(), limit.min(PAGE_ROWS_MAX)])?;
                let mut receipts = Vec::new();
                while let Some(row) = rows.next()? {
                    receipts.push(parked::read(row)?);
                }
                Ok(receipts)
            })
            .await
    }

    /// Some ids that a carrier gave in its answers of late, to be held against those in its parked receipts.
    pub async fn tied_lately(&self, carrier: CarrierId, limit: u32) -> Result<Vec<TiedId>, StoreFault> {
        let limit = usize::try_from(limit.min(PAGE_ROWS_MAX)).expect("a page");
        self.inner
            .readers
            .run(move |connection| RemoteDays::load(connection)?.sample(connection, carrier, limit))
            .await
    }

    /// Receipts that were given up, from the first day to the last, both included, the newest first.
    pub async fn receipt_losses(&self, from: Day, to: Day) -> Result<Vec<ReceiptLoss>, StoreFault> {
        self.inner
            .readers
            .run(move |connection| {
                let mut statement = connection.prepare_cached(
                    "SELECT day, carrier, too_old, crowded_out FROM receipt_loss WHERE day BETWEEN ?1 AND ?2
                     ORDER BY day DESC, carrier LIMIT ?3",
                )?;
                let rows = statement.query_map(params![from.get(), to.get(), PAGE_ROWS_MAX], |row| {
                    Ok(ReceiptLoss {
                        day: Day::new(row.get(0)?),
                        carrier: CarrierId::new(row.get(1)?),
                        too_old: row.get::<_, i64>(2)?.cast_unsigned(),
                        crowded_out: row.get::<_, i64>(3)?.cast_unsigned(),
                    })
                })?;
                Ok(rows.collect::<Result<_, _>>()?)
            })
            .await
    }
}

fn look(
    connection: &Connection,
    carrier: CarrierId,
    ids: IdConversion,
    after: Option<RemoteId>,
) -> Result<Page, StoreFault> {
    let snapshot = connection.unchecked_transaction()?;
    let days = RemoteDays::load(&snapshot)?;
    let mut statement = snapshot.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM parked WHERE carrier = ?1 AND (key, raw) > (?2, ?3) ORDER BY key, raw LIMIT ?4"
    ))?;
    let place = after.as_ref().map(split_id);
    let (key, raw) = place.as_ref().map_or((&[][..], &[][..]), |(key, raw)| (key.octets(), *raw));
    let limit = i64::try_from(PAGE_ROWS).expect("a few thousand");
    let mut rows = statement.query(params![carrier.get(), key, raw, limit])?;
    let mut page = Page { worth_trying: Vec::new(), looked_at: 0, last: None };
    while let Some(row) = rows.next()? {
        let receipt = parked::read(row)?;
        page.looked_at += 1;
        let asked = Asked { carrier, ids, remote: &receipt.remote, source: receipt.source };
        match days.find(&snapshot, &asked)? {
            Match::Part(_) => page.worth_trying.push(receipt.remote.clone()),
            Match::Ambiguous if !receipt.ambiguous => page.worth_trying.push(receipt.remote.clone()),
            Match::Ambiguous | Match::Nothing => {}
        }
        page.last = Some(receipt.remote);
    }
    if page.looked_at < PAGE_ROWS {
        page.last = None;
    }
    Ok(page)
}
