//! SQL for exceptional facts about messages that later decisions need: failover, UNKNOWN, late receipts, carrier refusals.

use crate::sql::SqlTables;
use crate::sql::{OptionalExtension, params};
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{
    MessageExceptionChange, MessageExceptionRows, MessageExceptions, MessageRange, TableError,
};

impl SqlTables<'_> {
    fn put_failed_over(&self, message: MessageId) -> Result<(), TableError> {
        self.connection
            .prepare_cached(
                "INSERT INTO message_exception (message, failed_over, late_receipts) VALUES (?1, 1, 0)
                 ON CONFLICT (message) DO UPDATE SET failed_over = 1",
            )?
            .execute([message.as_i64()])?;
        Ok(())
    }

    fn put_unknown_at(&self, message: MessageId, at: Timestamp) -> Result<(), TableError> {
        self.connection
            .prepare_cached(
                "INSERT INTO message_exception (message, failed_over, unknown_at, late_receipts)
                 VALUES (?1, 0, ?2, 0) ON CONFLICT (message) DO UPDATE SET unknown_at = excluded.unknown_at",
            )?
            .execute(params![message.as_i64(), at.as_millis()])?;
        Ok(())
    }

    fn put_late_receipts(&self, message: MessageId, count: u32) -> Result<(), TableError> {
        self.connection
            .prepare_cached(
                "INSERT INTO message_exception (message, failed_over, late_receipts) VALUES (?1, 0, ?2)
                 ON CONFLICT (message) DO UPDATE SET late_receipts = excluded.late_receipts",
            )?
            .execute(params![message.as_i64(), count])?;
        Ok(())
    }

    fn put_refusal(&self, message: MessageId, by: CarrierId) -> Result<(), TableError> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO carrier_refusal (message, carrier) VALUES (?1, ?2)")?
            .execute(params![message.as_i64(), by.get()])?;
        Ok(())
    }

    fn delete_message_exceptions(&self, range: MessageRange) -> Result<(), TableError> {
        for sql in [
            "DELETE FROM message_exception WHERE message BETWEEN ?1 AND ?2",
            "DELETE FROM carrier_refusal WHERE message BETWEEN ?1 AND ?2",
        ] {
            self.connection
                .prepare_cached(sql)?
                .execute(params![range.first.as_i64(), range.last.as_i64()])?;
        }
        Ok(())
    }
}

impl MessageExceptionRows for SqlTables<'_> {
    fn change_message_exceptions(&self, change: &MessageExceptionChange) -> Result<(), TableError> {
        match change {
            MessageExceptionChange::FailedOver(message) => self.put_failed_over(*message),
            MessageExceptionChange::Unknown { message, at } => self.put_unknown_at(*message, *at),
            MessageExceptionChange::LateReceipts { message, count } => {
                self.put_late_receipts(*message, *count)
            }
            MessageExceptionChange::Refused { message, by } => self.put_refusal(*message, *by),
            MessageExceptionChange::Delete(range) => self.delete_message_exceptions(*range),
        }
    }

    fn message_exceptions(&self, message: MessageId) -> Result<MessageExceptions, TableError> {
        let row = self
            .connection
            .prepare_cached(
                "SELECT failed_over, unknown_at, late_receipts FROM message_exception WHERE message = ?1",
            )?
            .query_row([message.as_i64()], |row| {
                Ok(MessageExceptions {
                    has_failed_over: row.get(0)?,
                    unknown_at: row.get::<Option<i64>>(1)?.map(Timestamp::from_millis),
                    // A number out of range counts as above every limit, so that no decision fails because of it.
                    late_receipts: u32::try_from(row.get::<i64>(2)?).unwrap_or(u32::MAX),
                })
            })
            .optional()?;
        Ok(row.unwrap_or_default())
    }

    fn has_refused(&self, message: MessageId, carrier: CarrierId) -> Result<bool, TableError> {
        let mut refusal = self
            .connection
            .prepare_cached("SELECT 1 FROM carrier_refusal WHERE message = ?1 AND carrier = ?2")?;
        Ok(refusal.exists(params![message.as_i64(), carrier.get()])?)
    }
}
