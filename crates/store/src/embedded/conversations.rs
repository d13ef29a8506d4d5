//! Who wrote to a handset last, from which number: where nothing else says whose a number is, an answer goes to them.

use crate::embedded::Embedded;
use crate::embedded::batch::Batch;
use crate::embedded::handsets::Owner;
use crate::fault::StoreFault;
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{Acceptance, CONVERSATION_KEPT};
use rusqlite::{Connection, OptionalExtension, params};

/// Rows looked at in one read, so that no snapshot lasts long.
const ROWS_PER_READ: usize = 5_000;
/// Rows dropped in one transaction.
const ROWS_PER_WRITE: usize = 500;

type Key = (i64, String);

impl Embedded {
    /// Walks over all of them: no index is kept for it, because that would cost every message a write.
    pub(crate) async fn forget_conversations(&self, now: Timestamp) -> Result<(), StoreFault> {
        let before = now.minus(CONVERSATION_KEPT).as_millis();
        let mut from: Key = (0, String::new());
        loop {
            let behind = from.clone();
            let (old, last) =
                self.inner.readers.run(move |connection| read_page(connection, &behind, before)).await?;
            for some in old.chunks(ROWS_PER_WRITE) {
                let some = some.to_vec();
                self.request(move |batch| batch.forget_conversations(&some, before)).await?;
            }
            match last {
                Some(last) => from = last,
                None => return Ok(()),
            }
        }
    }
}

/// Those that are too old, and where to read on.
fn read_page(
    connection: &Connection,
    from: &Key,
    before: i64,
) -> Result<(Vec<Key>, Option<Key>), StoreFault> {
    let mut statement = connection.prepare_cached(
        "SELECT handset, number, at FROM conversation WHERE (handset, number) > (?1, ?2)
         ORDER BY handset, number LIMIT ?3",
    )?;
    let limit = i64::try_from(ROWS_PER_READ).expect("a few thousand");
    let mut rows = statement.query(params![from.0, from.1, limit])?;
    let (mut old, mut last, mut read) = (Vec::new(), None, 0);
    while let Some(row) = rows.next()? {
        read += 1;
        let key: Key = (row.get(0)?, row.get(1)?);
        if row.get::<_, i64>(2)? < before {
            old.push(key.clone());
        }
        last = Some(key);
    }
    Ok((old, last.filter(|_| read == ROWS_PER_READ)))
}

impl Batch<'_> {
    pub(crate) fn converse(
        &self,
        message: MessageId,
        acceptance: &Acceptance,
        number: &Sender,
    ) -> Result<(), StoreFault> {
        let Acceptance { account, connection, to, now, .. } = acceptance;
        self.connection
            .prepare_cached(
                "INSERT INTO conversation (handset, number, account, connection, message, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT DO UPDATE SET account = excluded.account, connection = excluded.connection,
                     message = excluded.message, at = excluded.at",
            )?
            .execute(params![
                to.number().cast_signed(),
                number.address(),
                account.get(),
                connection.get(),
                message.as_i64(),
                now.as_millis()
            ])?;
        Ok(())
    }

    /// Who wrote to this handset from this number last.
    pub(crate) fn conversation(
        &self,
        handset: Option<Msisdn>,
        number: &str,
    ) -> Result<Option<Owner>, StoreFault> {
        let Some(handset) = handset else { return Ok(None) };
        let found = self
            .connection
            .prepare_cached(
                "SELECT account, connection FROM conversation WHERE handset = ?1 AND number = ?2",
            )?
            .query_row(params![handset.number().cast_signed(), number], |row| {
                let connection = Some(ConnectionId::new(row.get(1)?));
                Ok(Owner { account: AccountId::new(row.get(0)?), connection })
            })
            .optional()?;
        Ok(found)
    }

    /// Unless they have begun anew since.
    fn forget_conversations(&mut self, keys: &[Key], before: i64) -> Result<(), StoreFault> {
        let mut statement = self
            .connection
            .prepare_cached("DELETE FROM conversation WHERE handset = ?1 AND number = ?2 AND at < ?3")?;
        for (handset, number) in keys {
            statement.execute(params![handset, number, before])?;
        }
        Ok(())
    }
}
