//! SQL for conversations: which account last wrote to a handset from a shared number.

use crate::sql::SqlTables;
use crate::sql::{Connection, OptionalExtension, params};
use hermod_domain::ids::{AccountId, ConnectionId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{
    Conversation, ConversationChange, ConversationKey, ConversationRows, TableError,
};

impl SqlTables<'_> {
    fn put_conversation(&self, handset: Msisdn, number: &str, last: &Conversation) -> Result<(), TableError> {
        let Conversation { account, connection, message, at } = last;
        self.connection
            .prepare_cached(
                "INSERT INTO conversation (handset, number, account, connection, message, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (handset, number) DO UPDATE SET account = excluded.account, connection = excluded.connection,
                     message = excluded.message, at = excluded.at",
            )?
            .execute(params![
                handset.number().cast_signed(),
                number,
                account.get(),
                connection.get(),
                message.as_i64(),
                at.as_millis()
            ])?;
        Ok(())
    }

    fn delete_conversation(&self, key: &ConversationKey) -> Result<(), TableError> {
        self.connection
            .prepare_cached("DELETE FROM conversation WHERE handset = ?1 AND number = ?2")?
            .execute(params![key.handset.number().cast_signed(), key.number])?;
        Ok(())
    }
}

impl ConversationRows for SqlTables<'_> {
    fn change_conversation(&self, change: &ConversationChange) -> Result<(), TableError> {
        match change {
            ConversationChange::Put { key, last } => self.put_conversation(key.handset, &key.number, last),
            ConversationChange::Delete(key) => self.delete_conversation(key),
        }
    }

    fn conversation(&self, handset: Msisdn, number: &str) -> Result<Option<Conversation>, TableError> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT account, connection, message, at FROM conversation WHERE handset = ?1 AND number = ?2",
            )?
            .query_row(params![handset.number().cast_signed(), number], |row| {
                let (account, connection) = (AccountId::new(row.get(0)?), ConnectionId::new(row.get(1)?));
                Ok((account, connection, row.get(2)?, Timestamp::from_millis(row.get(3)?)))
            })
            .optional()?;
        let Some((account, connection, message, at)) = found else { return Ok(None) };
        let message = MessageId::from_i64(message)
            .ok_or_else(|| TableError::unreadable("the last message of a conversation"))?;
        Ok(Some(Conversation { account, connection, message, at }))
    }
}

/// Returns the rows after a key in the order of their keys, each with the time of its last message.
pub(crate) fn read_conversation_page(
    connection: &Connection,
    after: Option<&ConversationKey>,
    limit: usize,
) -> Result<Vec<(ConversationKey, Timestamp)>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT handset, number, at FROM conversation WHERE (handset, number) > (?1, ?2)
         ORDER BY handset, number LIMIT ?3",
    )?;
    let (handset, number) =
        after.map_or((0, ""), |key| (key.handset.number().cast_signed(), key.number.as_str()));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![handset, number, limit])?;
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        let handset = Msisdn::from_number(row.get::<i64>(0)?.cast_unsigned())
            .ok_or_else(|| TableError::unreadable("the handset of a conversation"))?;
        page.push((ConversationKey { handset, number: row.get(1)? }, Timestamp::from_millis(row.get(2)?)));
    }
    Ok(page)
}
