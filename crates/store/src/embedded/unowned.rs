//! Messages that are nobody's: kept for the operator, who may know whose they are.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::embedded::handsets::{Arrived, Owner};
use crate::embedded::wire::Wire;
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::inbound::{Whole, shown};
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{InboundRecord, PAGE_ROWS_MAX, UNOWNED_KEPT, UnownedInbound};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Rows dropped in one transaction.
const ROWS_PER_WRITE: usize = 500;

impl Embedded {
    /// Messages that are nobody's, oldest first, behind one of them.
    pub async fn unowned_inbound(
        &self,
        since: Option<MessageId>,
        limit: u32,
    ) -> Result<Vec<UnownedInbound>, StoreFault> {
        self.inner.readers.run(move |connection| page(connection, since, limit)).await
    }

    /// Gives such a message to an account, as if it had been the account's from the beginning. `None` if there is none.
    pub async fn assign_inbound(
        &self,
        message: MessageId,
        account: AccountId,
        now: Timestamp,
    ) -> Result<Option<InboundRecord>, StoreFault> {
        self.request(move |batch| batch.assign_inbound(message, account, now)).await
    }

    pub(crate) async fn forget_unowned(&self, now: Timestamp) -> Result<(), StoreFault> {
        while self.request(move |batch| batch.forget_unowned(now)).await? == ROWS_PER_WRITE {}
        Ok(())
    }
}

impl Batch<'_> {
    pub(crate) fn keep_unowned(&mut self, message: MessageId, arrived: &Arrived) -> Result<(), StoreFault> {
        let Arrived { carrier, source, destination, whole, missing, at } = arrived;
        self.connection
            .prepare_cached(
                "INSERT INTO unowned_inbound (message, carrier, source, dest, text, wire, missing, received_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                message.as_i64(),
                carrier.get(),
                shown(source),
                shown(destination),
                whole.text,
                &arrived.wire().to_blob()[..],
                missing,
                at.as_millis()
            ])?;
        Ok(())
    }

    fn assign_inbound(
        &mut self,
        message: MessageId,
        account: AccountId,
        now: Timestamp,
    ) -> Result<Option<InboundRecord>, StoreFault> {
        self.at(now);
        let found = self
            .connection
            .prepare_cached(
                "SELECT carrier, text, wire, missing, received_at FROM unowned_inbound WHERE message = ?1",
            )?
            .query_row([message.as_i64()], |row| Ok(read_arrived(row)))
            .optional()?
            .transpose()?;
        let Some(arrived) = found else { return Ok(None) };
        self.connection
            .prepare_cached("DELETE FROM unowned_inbound WHERE message = ?1")?
            .execute([message.as_i64()])?;
        self.deliver_to(Owner { account, connection: None }, message, &arrived).map(Some)
    }

    fn forget_unowned(&mut self, now: Timestamp) -> Result<usize, StoreFault> {
        self.at(now);
        let rows = i64::try_from(ROWS_PER_WRITE).expect("a few hundred");
        let before = MessageId::first_at(now.minus(UNOWNED_KEPT));
        let gone = self
            .connection
            .prepare_cached(
                "DELETE FROM unowned_inbound WHERE message IN
                     (SELECT message FROM unowned_inbound WHERE message < ?1 ORDER BY message LIMIT ?2)",
            )?
            .execute(params![before.as_i64(), rows])?;
        Ok(gone)
    }
}

fn read_arrived(row: &Row<'_>) -> Result<Arrived, StoreFault> {
    let wire = Wire::of_blob(row.get_ref(2)?.as_blob().map_err(StoreFault::damaged)?)?;
    let Wire { source, destination, form, header } = wire;
    Ok(Arrived {
        carrier: CarrierId::new(row.get(0)?),
        source,
        destination,
        whole: Whole { text: row.get(1)?, form, header },
        missing: row.get(3)?,
        at: Timestamp::from_millis(row.get(4)?),
    })
}

fn page(
    connection: &Connection,
    since: Option<MessageId>,
    limit: u32,
) -> Result<Vec<UnownedInbound>, StoreFault> {
    let mut statement = connection.prepare_cached(
        "SELECT message, carrier, source, dest, text, received_at FROM unowned_inbound
         WHERE message > ?1 ORDER BY message LIMIT ?2",
    )?;
    let bounds = params![since.map_or(0, MessageId::as_i64), limit.clamp(1, PAGE_ROWS_MAX)];
    let rows = statement.query_map(bounds, |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
}

fn read(row: &Row<'_>) -> Result<UnownedInbound, StoreFault> {
    Ok(UnownedInbound {
        message: MessageId::from_i64(row.get(0)?)
            .ok_or_else(|| StoreFault::damaged("an inbound message's id"))?,
        carrier: CarrierId::new(row.get(1)?),
        from: row.get(2)?,
        to: row.get(3)?,
        text: row.get(4)?,
        received_at: Timestamp::from_millis(row.get(5)?),
    })
}
