//! SQL that finds what has an erased number, in short reads, and the erasures that are kept.

use crate::read_results::{NumberPage, Page};
use crate::sql::carrier_ids::{read_id, split_id};
use crate::sql::columns::message_and_part;
use crate::sql::erasure::{ROWS_PER_READ, page_of};
use crate::sql::webhook_events::stored_kind;
use crate::sql::{Connection, Rows, params};
use hermod_domain::erasure::{KeptErasure, NumberDigest};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::{Day, Timestamp};
use hermod_engine::ops::{Endpoint, EventId};
use hermod_engine::tables::{AttemptKey, DayCarrierId, EventKey, InboundKey, PartKey, TableError};

/// Attempts per read: each has some kilobytes of a response.
const ATTEMPTS_PER_READ: usize = 1_000;
/// Digits at the end of a number that responses are searched for: a receiver may leave the country code out.
const LAST_DIGITS: usize = 8;

/// Reads the next carrier ids of a day after one, and returns those of parts to a number, of one account or of all.
pub(crate) fn carrier_ids_to(
    connection: &Connection,
    day: Day,
    number: Msisdn,
    account: Option<AccountId>,
    after: Option<&DayCarrierId>,
) -> Result<Page<DayCarrierId>, TableError> {
    let mut statement = connection.prepare(&format!(
        "SELECT carrier, key, raw, message, part, account, dest = ?6 AND (?7 IS NULL OR account = ?7)
         FROM remote_{} WHERE (carrier, key, raw, message, part) > (?1, ?2, ?3, ?4, ?5)
         ORDER BY carrier, key, raw, message, part LIMIT ?8",
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
        number.number().cast_signed(),
        account.map(AccountId::get),
        limit(ROWS_PER_READ)
    ];
    page_of(statement.query(bounds)?, ROWS_PER_READ, |row| {
        let (message, part) = message_and_part(row, 3, 4)?;
        let part = PartKey { account: AccountId::new(row.get(5)?), message, part };
        let (carrier, remote) = (CarrierId::new(row.get(0)?), read_id(row, 1, 2)?);
        Ok((DayCarrierId { day, carrier, remote, part }, row.get(6)?))
    })
}

/// Reads the next attempts to post webhook events after one, and returns those whose responses have the end of a number in
/// them, of one account or of all.
pub(crate) fn responses_naming(
    connection: &Connection,
    number: Msisdn,
    account: Option<AccountId>,
    after: Option<AttemptKey>,
) -> Result<Page<AttemptKey>, TableError> {
    let mut statement = connection.prepare(
        "SELECT account, kind, event, no, answer FROM webhook_attempt
         WHERE (account, kind, event, no) > (?1, ?2, ?3, ?4) ORDER BY account, kind, event, no LIMIT ?5",
    )?;
    let digits = number.digits();
    let end = &digits.as_bytes()[digits.len().saturating_sub(LAST_DIGITS)..];
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
        let names = row.get_ref(4)?.as_blob()?.windows(end.len()).any(|found| found == end);
        let is_meant = names && account.is_none_or(|account| account == endpoint.account);
        Ok((AttemptKey { event, no: row.get(3)? }, is_meant))
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
        Ok((key, parse(&row.get::<String>(2)?)))
    })
}

/// Returns the numbers in reviews, conversations, parked receipts and unassigned MO messages.
pub(crate) fn other_numbers(connection: &Connection) -> Result<Vec<Msisdn>, TableError> {
    let mut statement = connection.prepare(
        "SELECT dest FROM review UNION SELECT handset FROM conversation
         UNION SELECT source FROM parked WHERE source IS NOT NULL",
    )?;
    let numbers = statement.query_map([], |row| row.get::<i64>(0))?.collect::<Result<Vec<_>, _>>()?;
    let mut numbers: Vec<Msisdn> =
        numbers.into_iter().filter_map(|number| Msisdn::from_number(number.cast_unsigned())).collect();
    let mut statement = connection.prepare("SELECT DISTINCT source FROM unassigned_inbound")?;
    let sources = statement.query_map([], |row| row.get::<String>(0))?.collect::<Result<Vec<_>, _>>()?;
    numbers.extend(sources.iter().filter_map(|source| parse(source)));
    Ok(numbers)
}

fn parse(source: &str) -> Option<Msisdn> {
    Msisdn::parse_digits(source.trim_start_matches('+')).ok()
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
