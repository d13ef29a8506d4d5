//! SQL for conversations: which account last wrote to a handset from a shared number.

use crate::sql::{Connection, SqlTables, described, params};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{Conversation, ConversationKey, ConversationRow, ConversationRows, TableError};

impl ConversationRows for SqlTables<'_> {
    fn conversation(&self, handset: Msisdn, number: &str) -> Result<Option<Conversation>, TableError> {
        let key = params![handset.number().cast_signed(), number];
        let row: Option<ConversationRow> =
            described::row(self.connection, "WHERE handset = ?1 AND number = ?2", key)?;
        Ok(row.map(|row| row.last))
    }
}

/// Returns the rows after a key in the order of their keys, each with the time of its last message.
pub(crate) fn read_conversation_page(
    connection: &Connection,
    after: Option<&ConversationKey>,
    limit: usize,
) -> Result<Vec<(ConversationKey, Timestamp)>, TableError> {
    let (handset, number) =
        after.map_or((0, ""), |key| (key.handset.number().cast_signed(), key.number.as_str()));
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rest = "WHERE (handset, number) > (?1, ?2) ORDER BY handset, number LIMIT ?3";
    let rows: Vec<ConversationRow> = described::rows(connection, rest, params![handset, number, limit])?;
    Ok(rows.into_iter().map(|ConversationRow { key, last }| (key, last.at)).collect())
}
