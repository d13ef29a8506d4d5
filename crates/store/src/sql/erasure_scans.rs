//! SQL that finds what has an erased number, in short reads, and the erasures that are kept.

use crate::sql::carrier_ids::{read_id, split_id};
use crate::sql::columns::{message_and_part, stored_message};
use crate::sql::erasure::{ROWS_PER_READ, page_of, parse_number};
use crate::sql::erasure_scopes::ErasureScopes;
use crate::sql::read_results::{EventPlace, NumberPage, Page, ReportPlace};
use crate::sql::webhook_events::stored_kind;
use crate::sql::{Connection, Rows, params};
use hermod_domain::erasure::{KeptErasure, NumberDigest};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{Endpoint, EventId};
use hermod_engine::tables::{AttemptKey, DayCarrierId, EventKey, InboundKey, PartKey, TableError};
use std::collections::HashSet;

/// Attempts per read: each has some kilobytes of a response.
const ATTEMPTS_PER_READ: usize = 1_000;

/// The stored key of a parked receipt: carrier, and both forms of the carrier's id.
pub(crate) type ParkedKey = (u32, Vec<u8>, Vec<u8>);

/// Reads the next carrier ids of a day after one, and returns those of parts that an erasure covers.
pub(crate) fn carrier_ids_to(
    connection: &Connection,
    day: Day,
    scopes: &ErasureScopes,
    after: Option<&DayCarrierId>,
) -> Result<Page<DayCarrierId>, TableError> {
    let mut statement = connection.prepare(&format!(
        "SELECT carrier, key, raw, message, part, account, dest
         FROM remote_{} WHERE (carrier, key, raw, message, part) > (?1, ?2, ?3, ?4, ?5)
         ORDER BY carrier, key, raw, message, part LIMIT ?6",
        day.get()
    ))?;
    let id = after.map(|after| split_id(&after.remote));
    let (key, raw): (&[u8], &[u8]) = id.as_ref().map_or((&[], &[]), |(key, raw)| (key.octets(), raw));
    let bounds = params![
        after.map_or(0, |after| after.carrier.get()),
        key,
        raw,
        after.map_or(0, |after| after.part.message.as_i64()),
        after.map_or(0, |after| after.part.part.get()),
        limit(ROWS_PER_READ)
    ];
    page_of(statement.query(bounds)?, ROWS_PER_READ, |row| {
        let (message, part) = message_and_part(row, 3, 4)?;
        let part = PartKey { account: AccountId::new(row.get(5)?), message, part };
        let (carrier, remote) = (CarrierId::new(row.get(0)?), read_id(row, 1, 2)?);
        let to = Msisdn::from_number(row.get::<i64>(6)?.cast_unsigned());
        let is_covered = to.is_some_and(|to| scopes.cover(to, part.account, message.accepted_at()));
        let id = DayCarrierId { day, carrier, remote, part };
        let covered = is_covered.then(|| id.clone());
        Ok((id, covered))
    })
}

/// Reads the next waiting reports after one, and returns those about some messages, MO included.
pub(crate) fn reports_about(
    connection: &Connection,
    messages: &HashSet<MessageId>,
    after: Option<ReportPlace>,
) -> Result<Page<ReportPlace>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT connection, id, message FROM report WHERE (connection, id) > (?1, ?2)
         ORDER BY connection, id LIMIT ?3",
    )?;
    let (of, id) = after.map_or((0, 0), |after| (after.connection, after.id));
    page_of(statement.query(params![of, id, limit(ROWS_PER_READ)])?, ROWS_PER_READ, |row| {
        let message = stored_message(row, 2)?;
        let place = ReportPlace { connection: row.get(0)?, id: row.get(1)?, message };
        Ok((place, messages.contains(&message).then_some(place)))
    })
}

/// Reads the next waiting webhook events after one, and returns those about some messages, MO included.
pub(crate) fn events_about(
    connection: &Connection,
    messages: &HashSet<MessageId>,
    after: Option<EventPlace>,
) -> Result<Page<EventPlace>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT account, kind, id, message FROM webhook WHERE (account, kind, id) > (?1, ?2, ?3)
         ORDER BY account, kind, id LIMIT ?4",
    )?;
    let (account, kind, id) = after.map_or((0, 0, 0), |after| (after.account, after.kind, after.id));
    page_of(statement.query(params![account, kind, id, limit(ROWS_PER_READ)])?, ROWS_PER_READ, |row| {
        let message = stored_message(row, 3)?;
        let place = EventPlace { account: row.get(0)?, kind: row.get(1)?, id: row.get(2)?, message };
        Ok((place, messages.contains(&message).then_some(place)))
    })
}

/// Reads the next attempts to post webhook events after one, and returns those whose responses an erasure covers: they have
/// the end of its number in them. An attempt that was made after the erasure may be about a message from before it.
pub(crate) fn responses_naming(
    connection: &Connection,
    scopes: &ErasureScopes,
    after: Option<AttemptKey>,
) -> Result<Page<AttemptKey>, TableError> {
    let mut statement = connection.prepare(
        "SELECT a.account, a.kind, a.event, a.no, a.answer, a.at, p.message
         FROM webhook_attempt a
         LEFT JOIN webhook_past p ON p.account = a.account AND p.kind = a.kind AND p.id = a.event
         WHERE (a.account, a.kind, a.event, a.no) > (?1, ?2, ?3, ?4)
         ORDER BY a.account, a.kind, a.event, a.no LIMIT ?5",
    )?;
    let endpoint = after.map(|after| after.event.endpoint);
    let bounds = params![
        endpoint.map_or(0, |endpoint| endpoint.account.get()),
        endpoint.map_or(0, |endpoint| endpoint.kind.as_u8()),
        after.map_or(0, |after| after.event.event.0.cast_signed()),
        after.map_or(0, |after| after.no),
        limit(ATTEMPTS_PER_READ)
    ];
    page_of(statement.query(bounds)?, ATTEMPTS_PER_READ, |row| {
        let endpoint = Endpoint { account: AccountId::new(row.get(0)?), kind: stored_kind(row.get(1)?)? };
        let event = EventKey { endpoint, event: EventId(row.get::<i64>(2)?.cast_unsigned()) };
        let attempt = AttemptKey { event, no: row.get(3)? };
        let (at, message) = (Timestamp::from_millis(row.get(5)?), row.get::<Option<i64>>(6)?);
        let message = message.and_then(MessageId::from_i64).map(MessageId::accepted_at);
        let first = message.map_or(at, |accepted_at| accepted_at.min(at));
        let named = scopes.named_in(row.get_ref(4)?.as_blob()?);
        let is_covered = named.iter().any(|scope| scope.covers(endpoint.account, first));
        Ok((attempt, is_covered.then_some(attempt)))
    })
}

/// Returns the erasures that are kept.
pub(crate) fn kept(connection: &Connection) -> Result<Vec<KeptErasure>, TableError> {
    let mut statement = connection.prepare_cached("SELECT digest, account, at FROM erasure")?;
    let rows = statement.query_map([], |row| {
        let account: u32 = row.get(1)?;
        Ok(KeptErasure {
            digest: NumberDigest(row.get(0)?),
            account: (account > 0).then(|| AccountId::new(account)),
            at: Timestamp::from_millis(row.get(2)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the recipients of the next messages after one.
pub(crate) fn recipients(
    connection: &Connection,
    after: Option<MessageId>,
) -> Result<NumberPage<MessageId>, TableError> {
    let mut statement =
        connection.prepare_cached("SELECT id, dest FROM message WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let rows = statement.query(params![after.map_or(0, MessageId::as_i64), limit(ROWS_PER_READ)])?;
    numbers_of(rows, |row| {
        let id = MessageId::from_i64(row.get(0)?).ok_or_else(|| TableError::unreadable("a message id"))?;
        Ok((id, Msisdn::from_number(row.get::<i64>(1)?.cast_unsigned())))
    })
}

/// Returns the senders of the next MO messages after one.
pub(crate) fn inbound_sources(
    connection: &Connection,
    after: Option<InboundKey>,
) -> Result<NumberPage<InboundKey>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT account, id, source FROM inbound WHERE (account, id) > (?1, ?2) ORDER BY account, id LIMIT ?3",
    )?;
    let (account, id) = after.map_or((0, 0), |key| (key.account.get(), key.id.cast_signed()));
    numbers_of(statement.query(params![account, id, limit(ROWS_PER_READ)])?, |row| {
        let key = InboundKey { account: AccountId::new(row.get(0)?), id: row.get::<i64>(1)?.cast_unsigned() };
        Ok((key, parse_number(&row.get::<String>(2)?)))
    })
}

/// Returns the recipients of the next reviews after one.
pub(crate) fn reviewed_numbers(
    connection: &Connection,
    after: Option<i64>,
) -> Result<NumberPage<i64>, TableError> {
    let statement = "SELECT id, dest FROM review WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut statement = connection.prepare_cached(statement)?;
    numbers_of(statement.query(params![after.unwrap_or(0), limit(ROWS_PER_READ)])?, |row| {
        Ok((row.get(0)?, Msisdn::from_number(row.get::<i64>(1)?.cast_unsigned())))
    })
}

/// Returns the next handsets with conversations after one.
pub(crate) fn conversation_handsets(
    connection: &Connection,
    after: Option<i64>,
) -> Result<NumberPage<i64>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT handset FROM conversation WHERE handset > ?1 GROUP BY handset ORDER BY handset LIMIT ?2",
    )?;
    numbers_of(statement.query(params![after.unwrap_or(0), limit(ROWS_PER_READ)])?, |row| {
        let handset: i64 = row.get(0)?;
        Ok((handset, Msisdn::from_number(handset.cast_unsigned())))
    })
}

/// Returns the numbers in the next parked receipts after one.
pub(crate) fn parked_numbers(
    connection: &Connection,
    after: Option<&ParkedKey>,
) -> Result<NumberPage<ParkedKey>, TableError> {
    let mut statement = connection.prepare_cached(
        "SELECT carrier, key, raw, source FROM parked WHERE (carrier, key, raw) > (?1, ?2, ?3)
         ORDER BY carrier, key, raw LIMIT ?4",
    )?;
    let (carrier, key, raw) = after.map_or((0, &[][..], &[][..]), |(carrier, key, raw)| (*carrier, key, raw));
    numbers_of(statement.query(params![carrier, key, raw, limit(ROWS_PER_READ)])?, |row| {
        let source: Option<i64> = row.get(3)?;
        let number = source.and_then(|source| Msisdn::from_number(source.cast_unsigned()));
        Ok(((row.get(0)?, row.get(1)?, row.get(2)?), number))
    })
}

/// Returns the senders of the next unassigned MO messages after one.
pub(crate) fn unassigned_sources(
    connection: &Connection,
    after: Option<i64>,
) -> Result<NumberPage<i64>, TableError> {
    let statement =
        "SELECT message, source FROM unassigned_inbound WHERE message > ?1 ORDER BY message LIMIT ?2";
    let mut statement = connection.prepare_cached(statement)?;
    numbers_of(statement.query(params![after.unwrap_or(0), limit(ROWS_PER_READ)])?, |row| {
        Ok((row.get(0)?, parse_number(&row.get::<String>(1)?)))
    })
}

/// Returns the id of the newest message.
pub(crate) fn newest_message(connection: &Connection) -> Result<Option<MessageId>, TableError> {
    let newest: Option<i64> = connection.query_row("SELECT max(id) FROM message", [], |row| row.get(0))?;
    Ok(newest.and_then(MessageId::from_i64))
}

pub(crate) fn numbers_of<T>(
    mut rows: Rows<'_>,
    read: impl Fn(&crate::sql::Row<'_>) -> Result<(T, Option<Msisdn>), TableError>,
) -> Result<NumberPage<T>, TableError> {
    let (mut page, mut count) = (NumberPage { numbers: Vec::new(), last: None }, 0);
    while let Some(row) = rows.next()? {
        let (place, number) = read(&row)?;
        page.numbers.extend(number);
        page.last = Some(place);
        count += 1;
    }
    if count < ROWS_PER_READ {
        page.last = None;
    }
    Ok(page)
}

fn limit(rows: usize) -> i64 {
    i64::try_from(rows).expect("a few thousand")
}
