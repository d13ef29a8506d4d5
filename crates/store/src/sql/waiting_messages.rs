//! SQL that lists the messages in a carrier's queue.

use crate::sql::columns::{stored_message, stored_number, stored_sender, stored_state};
use crate::sql::jobs::WAITING_FOR_A_SLOT;
use crate::sql::read_results::WaitingPage;
use crate::sql::unreadable::why_unreadable;
use crate::sql::{Connection, OptionalExtension, Row, params};
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::PartState;
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{QueuePosition, UnsentMessages, WaitingMessage};
use hermod_engine::state::lanes::Unread;
use hermod_engine::tables::{MessageKey, TableError};

/// Rows per read, so that no snapshot lasts long.
const ROWS_PER_READ: u32 = 5_000;

/// Returns the message of the first part of a lane that waits for a slot and is not in memory. Reads at most [`ROWS_PER_READ`]
/// rows: usually the first one waits, but parts with a response may precede it.
pub(crate) fn first_unread(
    connection: &Connection,
    carrier: CarrierId,
    unread: Unread,
) -> Result<Option<MessageId>, TableError> {
    let Unread { account, after } = unread;
    let (message, part) = after.map_or((0, 0), |(message, part)| (message.as_i64(), part.get()));
    let found: Option<i64> = connection
        .prepare_cached(&format!(
            "SELECT message FROM (SELECT message, state, due_at FROM part
                 WHERE carrier = ?1 AND account = ?2 AND (message, no) > (?3, ?4) ORDER BY message, no LIMIT ?5) p
             WHERE {WAITING_FOR_A_SLOT} LIMIT 1"
        ))?
        .query_row(params![carrier.get(), account.get(), message, part, ROWS_PER_READ], |row| row.get(0))
        .optional()?;
    Ok(found.and_then(MessageId::from_i64))
}

/// The parts of one message that were read.
struct Group {
    place: QueuePosition,
    /// Whether no part of it was sent, and none that may have been waits for its response.
    unsent: bool,
    /// Whether a part of it may have been sent.
    may_be_sent: bool,
}

/// Counts the parts that a carrier has and that wait for a receipt.
pub(crate) fn count_without_receipt(connection: &Connection, carrier: CarrierId) -> Result<u64, TableError> {
    let [presumed, sent, enroute] =
        [PartState::Presumed, PartState::Sent, PartState::Enroute].map(PartState::to_stored);
    let count: i64 = connection
        .prepare_cached("SELECT count(*) FROM part WHERE carrier = ?1 AND state IN (?2, ?3, ?4)")?
        .query_row(params![carrier.get(), presumed, sent, enroute], |row| row.get(0))?;
    Ok(count.cast_unsigned())
}

/// Returns a message and its carrier if no part of it was sent.
pub(crate) fn find(
    connection: &Connection,
    id: MessageId,
) -> Result<Option<(CarrierId, WaitingMessage)>, TableError> {
    let place = connection
        .prepare_cached("SELECT carrier, account FROM message WHERE id = ?1")?
        .query_row([id.as_i64()], |row| Ok((CarrierId::new(row.get(0)?), AccountId::new(row.get(1)?))))
        .optional()?;
    let (Some((carrier, account)), Some(before)) = (place, MessageId::from_i64(id.as_i64() - 1)) else {
        return Ok(None);
    };
    let after = Some(QueuePosition { account, message: before });
    let WaitingPage { mut waiting, .. } = read_page(connection, carrier, after, Some(account), 1)?;
    let found = waiting.pop().filter(|waiting| waiting.message == id);
    Ok(found.map(|waiting| (carrier, waiting)))
}

/// Returns the next messages of a carrier after a position of which no part was sent, at most `limit`.
pub(crate) fn read_page(
    connection: &Connection,
    carrier: CarrierId,
    after: Option<QueuePosition>,
    upto: Option<AccountId>,
    limit: usize,
) -> Result<WaitingPage, TableError> {
    // One snapshot for the parts and their messages.
    let snapshot = connection.snapshot()?;
    let (mut groups, more) = read_groups(&snapshot, carrier, after, upto, limit)?;
    if more {
        // The last one may have parts that were not read.
        groups.pop();
    }
    let mut page = WaitingPage { waiting: Vec::new(), last: None };
    for Group { place, unsent, may_be_sent } in groups {
        if unsent {
            match read_message(&snapshot, place, may_be_sent) {
                Ok(message) => page.waiting.push(message),
                // An unreadable message is set aside when it is sent.
                Err(error) => drop(why_unreadable(error)?),
            }
        }
        page.last = Some(place);
    }
    if !more {
        page.last = None;
    }
    Ok(page)
}

/// Returns the next messages of a carrier, and whether there are more. Stops one message after `limit` unsent ones.
fn read_groups(
    connection: &Connection,
    carrier: CarrierId,
    after: Option<QueuePosition>,
    upto: Option<AccountId>,
    limit: usize,
) -> Result<(Vec<Group>, bool), TableError> {
    let (account, message) = after.map_or((0, 0), |place| (place.account.get(), place.message.as_i64()));
    let mut statement = connection.prepare_cached(
        "SELECT account, message, state, due_at, doubts FROM part
         WHERE carrier = ?1 AND (account, message) > (?2, ?3) AND account <= ?4 ORDER BY account, message, no LIMIT ?5",
    )?;
    let upto = upto.map_or(u32::MAX, AccountId::get);
    let mut rows = statement.query(params![carrier.get(), account, message, upto, ROWS_PER_READ])?;
    let mut groups: Vec<Group> = Vec::new();
    let (mut read, mut complete) = (0, 0);
    while let Some(row) = rows.next()? {
        read += 1;
        let place = QueuePosition { account: AccountId::new(row.get(0)?), message: stored_message(&row, 1)? };
        let unsent = match stored_state(row.get(2)?) {
            Ok(PartState::Queued) => true,
            // Without a due time it waits for a slot to be resent.
            Ok(PartState::InDoubt) => row.get::<i64>(3)? == 0,
            // An unreadable state is not listed.
            Ok(_) | Err(_) => false,
        };
        let may_be_sent = row.get::<i64>(4)? > 0;
        match groups.last_mut().filter(|group| group.place == place) {
            Some(group) => {
                group.unsent &= unsent;
                group.may_be_sent |= may_be_sent;
            }
            None => {
                complete += usize::from(groups.last().is_some_and(|group| group.unsent));
                groups.push(Group { place, unsent, may_be_sent });
                if complete >= limit {
                    return Ok((groups, true));
                }
            }
        }
    }
    Ok((groups, read == ROWS_PER_READ))
}

/// Counts what is still to be sent, by carrier and account.
pub(crate) fn count_unsent(connection: &Connection) -> Result<Vec<UnsentMessages>, TableError> {
    let [queued, in_doubt] = [PartState::Queued, PartState::InDoubt].map(PartState::to_stored);
    let mut statement = connection.prepare_cached(
        "SELECT carrier, account, count(DISTINCT message), count(*), count(*) FILTER (WHERE doubts > 0),
             min(message), max(message)
         FROM part WHERE state IN (?1, ?2) GROUP BY carrier, account ORDER BY carrier, account",
    )?;
    let mut rows = statement.query(params![queued, in_doubt])?;
    let mut counted = Vec::new();
    while let Some(row) = rows.next()? {
        counted.push(UnsentMessages {
            carrier: CarrierId::new(row.get(0)?),
            account: AccountId::new(row.get(1)?),
            messages: row.get::<i64>(2)?.cast_unsigned(),
            parts: row.get::<i64>(3)?.cast_unsigned(),
            in_doubt: row.get::<i64>(4)?.cast_unsigned(),
            oldest: stored_message(&row, 5)?,
            newest: stored_message(&row, 6)?,
        });
    }
    Ok(counted)
}

/// Returns the next messages with a part that waits, in the order of their keys.
pub(crate) fn unsent_after(
    connection: &Connection,
    after: Option<MessageKey>,
    limit: u32,
) -> Result<Vec<MessageKey>, TableError> {
    let [queued, in_doubt] = [PartState::Queued, PartState::InDoubt].map(PartState::to_stored);
    let (carrier, account, message) = after.map_or((0, 0, 0), |MessageKey { carrier, account, message }| {
        (carrier.get(), account.get(), message.as_i64())
    });
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT carrier, account, message FROM part
         WHERE state IN (?1, ?2) AND (carrier, account, message) > (?3, ?4, ?5)
         ORDER BY carrier, account, message LIMIT ?6",
    )?;
    let mut rows = statement.query(params![queued, in_doubt, carrier, account, message, limit])?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        keys.push(MessageKey {
            carrier: CarrierId::new(row.get(0)?),
            account: AccountId::new(row.get(1)?),
            message: stored_message(&row, 2)?,
        });
    }
    Ok(keys)
}

fn read_message(
    connection: &Connection,
    place: QueuePosition,
    may_be_sent: bool,
) -> Result<WaitingMessage, TableError> {
    connection
        .prepare_cached(
            "SELECT connection, source, dest, parts, expires_at, cost FROM message WHERE id = ?1",
        )?
        .query_row([place.message.as_i64()], |row| Ok(waiting_message(row, place, may_be_sent)))?
}

fn waiting_message(
    row: &Row<'_>,
    place: QueuePosition,
    may_be_sent: bool,
) -> Result<WaitingMessage, TableError> {
    let QueuePosition { account, message } = place;
    let (source, dest): (String, i64) = (row.get(1)?, row.get(2)?);
    Ok(WaitingMessage {
        message,
        account,
        connection: ConnectionId::new(row.get(0)?),
        from: stored_sender(&source)?,
        to: stored_number(dest)?,
        parts: row.get(3)?,
        price: Money::from_micros(row.get(5)?),
        expires_at: Timestamp::from_millis(row.get(4)?),
        may_be_sent,
    })
}
