//! SQL that reads what waits for a carrier, for lists.

use crate::read_results::WaitingPage;
use crate::sqlite::columns::{stored_message, stored_number, stored_sender, stored_state};
use crate::sqlite::jobs::WAITING_FOR_A_SLOT;
use crate::sqlite::unreadable::why_unreadable;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId};
use hermod_domain::lifecycle::PartState;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::{QueuePosition, WaitingMessage};
use hermod_engine::state::lanes::Unread;
use hermod_engine::tables::TableError;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Rows looked at in one read, so that no snapshot lasts long.
const ROWS_PER_READ: u32 = 5_000;

/// Behind the place a lane was read to there is nearly always a waiting part next. Where a carrier's answered parts lie in
/// between, no more than so many of them are looked at.
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

/// The parts of one message, as far as they were read.
struct Group {
    place: QueuePosition,
    /// None of them is with the carrier, or may be.
    ours: bool,
}

/// Returns the next messages of a carrier behind a place, so many at most.
pub(crate) fn read_page(
    connection: &Connection,
    carrier: CarrierId,
    after: Option<QueuePosition>,
    limit: usize,
) -> Result<WaitingPage, TableError> {
    // One snapshot for the parts and their messages.
    let snapshot = connection.unchecked_transaction()?;
    let (mut groups, more) = read_groups(&snapshot, carrier, after, limit)?;
    if more {
        // Some parts of the last one may not have been read.
        groups.pop();
    }
    let mut page = WaitingPage { waiting: Vec::new(), last: None };
    for Group { place, ours } in groups {
        if ours {
            match read_message(&snapshot, place) {
                Ok(message) => page.waiting.push(message),
                // It is set aside when its turn comes.
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

/// The next messages of a carrier, and whether there are more: enough for so many that can be moved and one behind them.
fn read_groups(
    connection: &Connection,
    carrier: CarrierId,
    after: Option<QueuePosition>,
    limit: usize,
) -> Result<(Vec<Group>, bool), TableError> {
    let (account, message) = after.map_or((0, 0), |place| (place.account.get(), place.message.as_i64()));
    let mut statement = connection.prepare_cached(
        "SELECT account, message, state, due_at FROM part WHERE carrier = ?1 AND (account, message) > (?2, ?3)
         ORDER BY account, message, no LIMIT ?4",
    )?;
    let mut rows = statement.query(params![carrier.get(), account, message, ROWS_PER_READ])?;
    let mut groups: Vec<Group> = Vec::new();
    let (mut read, mut complete) = (0, 0);
    while let Some(row) = rows.next()? {
        read += 1;
        let place = QueuePosition { account: AccountId::new(row.get(0)?), message: stored_message(row, 1)? };
        let ours = match stored_state(row.get(2)?) {
            Ok(PartState::Queued) => true,
            // Those whose time is over wait for a slot.
            Ok(PartState::InDoubt) => row.get::<_, i64>(3)? == 0,
            // A state that makes no sense is nothing to be moved.
            Ok(_) | Err(_) => false,
        };
        match groups.last_mut().filter(|group| group.place == place) {
            Some(group) => group.ours &= ours,
            None => {
                complete += usize::from(groups.last().is_some_and(|group| group.ours));
                groups.push(Group { place, ours });
                if complete >= limit {
                    return Ok((groups, true));
                }
            }
        }
    }
    Ok((groups, read == ROWS_PER_READ))
}

fn read_message(connection: &Connection, place: QueuePosition) -> Result<WaitingMessage, TableError> {
    connection
        .prepare_cached("SELECT connection, source, dest, parts, expires_at FROM message WHERE id = ?1")?
        .query_row([place.message.as_i64()], |row| Ok(waiting_message(row, place)))?
}

fn waiting_message(row: &Row<'_>, place: QueuePosition) -> Result<WaitingMessage, TableError> {
    let QueuePosition { account, message } = place;
    let (source, dest): (String, i64) = (row.get(1)?, row.get(2)?);
    Ok(WaitingMessage {
        message,
        account,
        connection: ConnectionId::new(row.get(0)?),
        from: stored_sender(&source)?,
        to: stored_number(dest)?,
        parts: row.get(3)?,
        expires_at: Timestamp::from_millis(row.get(4)?),
    })
}
