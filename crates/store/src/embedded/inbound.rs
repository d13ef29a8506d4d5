//! Messages from handsets, for accounts to read in order. Each account counts its own from 1; because one writer gives
//! the numbers and makes them visible in the same commit, a reader that has seen a number has seen all below it.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::embedded::wire::Wire;
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::inbound::Whole;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{HandsetMessage, Inbound, InboundRecord, PAGE_ROWS_MAX};
use rusqlite::{Connection, OptionalExtension, Row, params};

impl Embedded {
    /// Keeps a message for its account.
    pub async fn receive(&self, inbound: Inbound) -> Result<InboundRecord, StoreFault> {
        self.request(move |batch| batch.receive(&inbound)).await
    }

    /// What came in behind a number, oldest first.
    pub async fn inbound(
        &self,
        account: AccountId,
        since: u64,
        limit: u32,
    ) -> Result<Vec<InboundRecord>, StoreFault> {
        self.inner.readers.run(move |connection| page(connection, account, since, limit)).await
    }
}

/// A message from a handset as its account's table keeps it.
pub(crate) struct Kept<'a> {
    pub account: AccountId,
    pub message: MessageId,
    pub from: &'a str,
    pub to: &'a str,
    pub text: &'a str,
    /// How it came, where a carrier brought it.
    pub wire: Option<&'a Wire>,
    pub missing: u8,
    pub received_at: Timestamp,
}

impl Batch<'_> {
    fn receive(&mut self, inbound: &Inbound) -> Result<InboundRecord, StoreFault> {
        let Inbound { account, from, to, text, received_at } = inbound;
        self.at(*received_at);
        let message = self.books.mint.mint(*received_at);
        let (account, received_at) = (*account, *received_at);
        self.keep_inbound(&Kept { account, message, from, to, text, wire: None, missing: 0, received_at })
    }

    /// Gives it the account's next number.
    pub(crate) fn keep_inbound(&mut self, kept: &Kept<'_>) -> Result<InboundRecord, StoreFault> {
        let Kept { account, message, from, to, text, wire, missing, received_at } = *kept;
        let id: i64 = self
            .connection
            .prepare_cached(
                "INSERT INTO inbound_counter (account, last, message) VALUES (?1, 1, ?2)
                 ON CONFLICT (account) DO UPDATE SET last = last + 1, message = max(message, excluded.message)
                 RETURNING last",
            )?
            .query_row(params![account.get(), message.as_i64()], |row| row.get(0))?;
        self.connection
            .prepare_cached(
                "INSERT INTO inbound (account, id, message, source, dest, text, received_at, wire, missing)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                account.get(),
                id,
                message.as_i64(),
                from,
                to,
                text,
                received_at.as_millis(),
                wire.map(Wire::to_blob).as_deref(),
                missing
            ])?;
        self.hook_inbound(account, id.cast_unsigned(), message, received_at)?;
        Ok(InboundRecord {
            id: id.cast_unsigned(),
            message,
            from: from.to_owned(),
            to: to.to_owned(),
            text: text.to_owned(),
            received_at,
        })
    }
}

/// One of an account's messages, for as long as it is kept.
pub(crate) fn find(
    connection: &Connection,
    account: AccountId,
    id: u64,
) -> Result<Option<InboundRecord>, StoreFault> {
    let found = connection
        .prepare_cached(
            "SELECT id, message, source, dest, text, received_at FROM inbound WHERE account = ?1 AND id = ?2",
        )?
        .query_row(params![account.get(), id.cast_signed()], |row| Ok(read(row)))
        .optional()?;
    found.transpose()
}

/// One message, as it is brought over SMPP. `None` if it is not there, or nobody knows how it came.
pub(crate) fn read_handset_message(
    connection: &Connection,
    account: AccountId,
    id: u64,
) -> Result<Option<HandsetMessage>, StoreFault> {
    connection
        .prepare_cached("SELECT text, wire FROM inbound WHERE account = ?1 AND id = ?2 AND wire IS NOT NULL")?
        .query_row(params![account.get(), id.cast_signed()], |row| {
            let wire = Wire::of_blob(row.get_ref(1)?.as_blob()?);
            Ok((row.get::<_, String>(0)?, wire))
        })
        .optional()?
        .map(|(text, wire)| {
            let Wire { source, destination, form, header } = wire?;
            Ok(HandsetMessage { id, source, destination, whole: Whole { text, form, header } })
        })
        .transpose()
}

fn page(
    connection: &Connection,
    account: AccountId,
    since: u64,
    limit: u32,
) -> Result<Vec<InboundRecord>, StoreFault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, message, source, dest, text, received_at FROM inbound
         WHERE account = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
    )?;
    // A number no counter reaches has nothing behind it.
    let since = i64::try_from(since).unwrap_or(i64::MAX);
    let rows =
        statement.query_map(params![account.get(), since, limit.min(PAGE_ROWS_MAX)], |row| Ok(read(row)))?;
    rows.map(|row| row?).collect()
}

fn read(row: &Row<'_>) -> Result<InboundRecord, StoreFault> {
    Ok(InboundRecord {
        id: row.get::<_, i64>(0)?.cast_unsigned(),
        message: MessageId::from_i64(row.get(1)?)
            .ok_or_else(|| StoreFault::damaged("an inbound message's id"))?,
        from: row.get(2)?,
        to: row.get(3)?,
        text: row.get(4)?,
        received_at: Timestamp::from_millis(row.get(5)?),
    })
}
