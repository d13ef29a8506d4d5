//! Searches texts. The record says which messages an account has; the texts are in the store's database only. A search is made
//! in slices: each looks at a limited number of texts, for a limited time.

use crate::record::database::rows::{MESSAGE_COLUMNS, read_message};
use crate::record::database::search::PAGE_ROWS_MAX;
use crate::record::{RecordedMessage, TextQuery};
use crate::sql::message_texts::messages_with_texts;
use crate::sql::{Connection, OptionalExtension, SqlStatement, params};
use hermod_domain::ids::{AccountId, MessageId};
use hermod_engine::tables::TableError;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The most texts that one slice looks at.
const TEXTS_MAX: u32 = 20_000;
/// How long a slice looks at texts.
const TIME_MAX: Duration = Duration::from_millis(150);
/// Texts between two looks at the clock.
const TEXTS_PER_CHECK: usize = 64;

/// The messages whose texts a slice looks at, newest first.
pub(crate) struct Candidates {
    ids: Vec<i64>,
    /// There are older ones.
    has_more: bool,
}

/// What a slice found in the texts.
pub(crate) struct TextMatches {
    pub ids: Vec<MessageId>,
    pub looked_at: u64,
    /// Where the next slice begins; none if all were looked at.
    pub next: Option<MessageId>,
}

/// Returns the messages of an account within the time range of a query, from the record.
pub(crate) fn candidates(
    connection: &Connection,
    account: AccountId,
    query: &TextQuery,
    before: Option<MessageId>,
) -> Result<Candidates, TableError> {
    let Range { start, end } = ids_of(query, before);
    let mut list = connection.prepare_cached(
        "SELECT id FROM by_account WHERE account = ?1 AND id >= ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4",
    )?;
    let ids = list.query_map(params![account.get(), start, end, TEXTS_MAX + 1], |row| row.get(0))?;
    let mut ids: Vec<i64> = ids.collect::<Result<_, _>>()?;
    let has_more = ids.len() > TEXTS_MAX as usize;
    ids.truncate(TEXTS_MAX as usize);
    Ok(Candidates { ids, has_more })
}

fn ids_of(query: &TextQuery, before: Option<MessageId>) -> Range<i64> {
    let until = MessageId::first_at(query.until);
    let end = before.map_or(until, |before| before.min(until));
    MessageId::first_at(query.from).as_i64()..end.as_i64()
}

/// Compares the texts in the store's database, until `rows` matches are found.
pub(crate) fn match_texts(
    connection: &Connection,
    account: AccountId,
    candidates: &Candidates,
    needle: &Needle,
    rows: u32,
) -> Result<TextMatches, TableError> {
    let rows = rows.clamp(1, PAGE_ROWS_MAX) as usize;
    let mut find = find_text(connection)?;
    let began = real_time();
    let mut found = TextMatches { ids: Vec::new(), looked_at: 0, next: None };
    for (number, id) in candidates.ids.iter().enumerate() {
        let is_late = number % TEXTS_PER_CHECK == TEXTS_PER_CHECK - 1 && began.elapsed() > TIME_MAX;
        if is_late || found.ids.len() >= rows {
            found.next = candidates.ids[..number].last().copied().and_then(MessageId::from_i64);
            return Ok(found);
        }
        found.looked_at += 1;
        let matches = |row: &crate::sql::Row<'_>| Ok(row.get_text(0)?.is_some_and(|text| needle.is_in(text)));
        if find.query_row(params![id, account.get()], matches).optional()? == Some(true) {
            found.ids.extend(MessageId::from_i64(*id));
        }
    }
    if candidates.has_more {
        found.next = candidates.ids.last().copied().and_then(MessageId::from_i64);
    }
    Ok(found)
}

/// Returns the text of a message of an account; none if there is no such message, or its text was deleted.
pub(crate) fn text_of(
    connection: &Connection,
    account: AccountId,
    id: MessageId,
) -> Result<Option<String>, TableError> {
    let mut find = find_text(connection)?;
    Ok(find.query_row(params![id.as_i64(), account.get()], |row| row.get(0)).optional()?.flatten())
}

fn find_text(connection: &Connection) -> Result<SqlStatement<'_>, TableError> {
    let messages = messages_with_texts(connection);
    Ok(connection.prepare_cached(&format!("SELECT text FROM {messages} WHERE id = ?1 AND account = ?2"))?)
}

/// Returns messages of an account from the record, in the order of `ids`.
pub(crate) fn messages(
    connection: &Connection,
    account: AccountId,
    ids: &[MessageId],
) -> Result<Vec<RecordedMessage>, TableError> {
    let mut find = connection.prepare_cached(&format!(
        "SELECT {MESSAGE_COLUMNS} FROM message m WHERE m.id = ?1 AND m.account = ?2"
    ))?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let message =
            find.query_row(params![id.as_i64(), account.get()], |row| Ok(read_message(row))).optional()?;
        found.extend(message.transpose()?);
    }
    Ok(found)
}

/// What to find in a text, in any case.
pub(crate) struct Needle {
    lower: String,
}

impl Needle {
    pub(crate) fn new(text: &str) -> Needle {
        Needle { lower: text.to_lowercase() }
    }

    fn is_in(&self, text: &str) -> bool {
        if !self.lower.is_ascii() || self.lower.is_empty() {
            return text.to_lowercase().contains(&self.lower);
        }
        let (text, lower) = (text.as_bytes(), self.lower.as_bytes());
        text.windows(lower.len()).any(|window| window.eq_ignore_ascii_case(lower))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "limits how long a slice lasts in real time, also under a test's clock"
)]
fn real_time() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needle_is_found_in_any_case() {
        for (needle, text, is_in) in [
            ("code", "Your CODE is 1234", true),
            ("CODE", "your code", true),
            ("ÄRGER", "kein ärger", true),
            ("coda", "Your code", false),
            ("longer than the text", "text", false),
        ] {
            assert_eq!(Needle::new(needle).is_in(text), is_in, "{needle}");
        }
    }
}
