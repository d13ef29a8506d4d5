//! Letting go of what is old, in small steps: first a message's text, much later its record, and messages from handsets.
//! Ids are in the order of time, so what is due is a range, and a mark says how far it has been dealt with: a step reads
//! nothing twice, and one that a crash undoes is done again. Each is one short transaction; the caller pauses between.

mod inbound;
mod records;
mod texts;

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{GIVEN_UP_KEPT, HOOKS_KEPT, Purged, REPORT_KEPT, Retention};
use rusqlite::{Connection, params};
use std::time::Duration;

/// Rows that one step deals with.
pub const PURGED_PER_STEP_MAX: u32 = 500;

/// A record stays for so long after anything was last said of its message, however old it is: a report may still wait to be
/// told, be listed as given up, or be replayed. It only matters to a gateway that was away for most of a year.
pub(crate) const QUIET: Duration = Duration::from_secs(40 * 86_400);

const _: () = assert!(QUIET.as_secs() > REPORT_KEPT.as_secs() + GIVEN_UP_KEPT.as_secs());
const _: () = assert!(QUIET.as_secs() > HOOKS_KEPT.as_secs() + REPORT_KEPT.as_secs());

/// What a mark is about, as it stands in its row.
#[derive(Clone, Copy)]
enum Mark {
    Texts = 1,
    Records = 2,
}

impl Embedded {
    /// One step. To be called again after a pause, until it has nothing to do.
    pub async fn purge(&self, keep: Retention, now: Timestamp) -> Result<Purged, StoreFault> {
        let purged = self.request(move |batch| batch.purge_messages(keep, now)).await?;
        if !purged.is_nothing() {
            return Ok(purged);
        }
        // Whose is old is found without the writer: there may be many accounts.
        let before = now.minus(keep.inbound);
        let old =
            self.inner.readers.run(move |connection| inbound::account_with_old(connection, before)).await?;
        let Some(account) = old else { return Ok(purged) };
        let inbound = self.request(move |batch| batch.purge_inbound(account, before)).await?;
        Ok(Purged { inbound, ..purged })
    }
}

impl Batch<'_> {
    /// Texts go first: where both are due, the record goes with its text gone already.
    fn purge_messages(&mut self, keep: Retention, now: Timestamp) -> Result<Purged, StoreFault> {
        self.at(now);
        let texts = self.purge_texts(MessageId::first_at(now.minus(keep.text)))?;
        if texts > 0 {
            return Ok(Purged { texts, ..Purged::default() });
        }
        // Whole days, so that a day's idempotency keys can go before any of its messages.
        let day = now.minus(keep.messages).day();
        let keys = self.purge_keys(day)?;
        if keys > 0 {
            return Ok(Purged { keys, ..Purged::default() });
        }
        let messages = self.purge_records(MessageId::first_at(day.start()))?;
        Ok(Purged { messages, ..Purged::default() })
    }

    /// A message that is still to be sent needs its text, however old it is. It will not be for long: its validity ends.
    fn is_still_to_be_sent(
        &self,
        carrier: CarrierId,
        account: AccountId,
        message: i64,
    ) -> Result<bool, StoreFault> {
        let [queued, sending, in_doubt] =
            [PartState::Queued, PartState::Sending, PartState::InDoubt].map(PartState::to_stored);
        let mut statement = self.connection.prepare_cached(
            "SELECT 1 FROM part WHERE carrier = ?1 AND account = ?2 AND message = ?3 AND state IN (?4, ?5, ?6)",
        )?;
        Ok(statement.exists(params![carrier.get(), account.get(), message, queued, sending, in_doubt])?)
    }

    fn mark(&self, what: Mark) -> Result<i64, StoreFault> {
        let mut statement = self.connection.prepare_cached("SELECT upto FROM retention WHERE what = ?1")?;
        Ok(statement.query_row([what as i64], |row| row.get(0))?)
    }

    fn set_mark(&self, what: Mark, upto: i64) -> Result<(), StoreFault> {
        let mut statement =
            self.connection.prepare_cached("UPDATE retention SET upto = ?2 WHERE what = ?1")?;
        statement.execute(params![what as i64, upto])?;
        Ok(())
    }
}

/// The first id that was not purged: all before it are gone.
pub(crate) fn purged_before(connection: &Connection) -> Result<i64, StoreFault> {
    Ok(connection.query_row("SELECT upto FROM retention WHERE what = 2", [], |row| row.get(0))?)
}
