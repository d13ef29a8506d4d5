//! SQL for exceptional facts about messages that later decisions need: failover, UNKNOWN, late receipts, carrier refusals.

use crate::sql::SqlTables;
use crate::sql::{OptionalExtension, params};
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{MessageExceptionRows, MessageExceptions, TableError};

impl MessageExceptionRows for SqlTables<'_> {
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
