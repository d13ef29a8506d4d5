//! Compares the record with the store: every message, and the statistics with the messages. A record that is behind is not
//! compared: it catches up at the next start.

use crate::error::StoreError;
use crate::record::database::rows::{
    MESSAGE_COLUMNS, dimension_to_stored, read_message, resolution_to_stored, scope_to_stored, stored_start,
    stored_value,
};
use crate::record::database::{figures, schema};
use crate::record::{CostSum, CostSums, Dimension, Figures, Resolution, Scope, Value};
use crate::sql::errors;
use crate::sql::{Connection, Row, params};
use crate::sqlite::schema as store_schema;
use hermod_domain::ids::MessageId;
use hermod_domain::money::{Currency, Money};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::TableError;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Messages that one of them lacks, or that differ, and in what. `s` is the store. Older ones than `FIRST_KEPT` are being
/// purged. The states of a message that has not ended may differ.
const DIFFERENCES: &str = "
    SELECT 'message ' || id || differences FROM (
        SELECT s.id, CASE WHEN r.id IS NULL THEN ' is missing in the record' ELSE
            iif(s.account <> r.account, ' differs in account', '')
            || iif(s.connection <> r.connection, ' differs in connection', '')
            || iif(s.carrier <> r.carrier, ' differs in carrier', '')
            || iif(s.source <> r.sender, ' differs in sender', '')
            || iif(s.dest <> r.recipient, ' differs in recipient', '')
            || iif(s.parts <> r.parts, ' differs in parts', '')
            || iif(s.cost <> r.cost, ' differs in cost', '')
            || iif(s.carrier_cost IS NOT r.carrier_cost OR s.cost_terms IS NOT r.cost_terms, ' differs in the cost of its carrier', '')
            || CASE
                WHEN s.settled_at IS NULL AND (r.settled_ms IS NOT NULL OR r.state > 2)
                    THEN ' has ended in the record only'
                WHEN s.settled_at IS NOT NULL AND (r.settled_ms IS NULL OR r.state <= 2)
                    THEN ' has ended in the store only'
                WHEN s.settled_at IS NULL THEN ''
                ELSE iif(s.state <> r.state, ' differs in state', '')
                    || iif(s.dlr IS NOT r.code OR s.err IS NOT r.err, ' differs in code', '')
                    || iif(l.balance IS NOT r.refund, ' differs in refund', '')
                    || iif(s.billable IS NOT r.billable, ' differs in what its carrier can bill', '')
            END END AS differences
        FROM main.message s LEFT JOIN record.message r ON r.id = s.id
        LEFT JOIN main.ledger l ON l.message = s.id)
    WHERE differences <> ''
    UNION ALL SELECT 'message ' || r.id || ' is missing in the store'
    FROM record.message r LEFT JOIN main.message s ON s.id = r.id WHERE s.id IS NULL AND r.id >= FIRST_KEPT
    UNION ALL SELECT 'message ' || r.id || ' is missing in the list of its account'
    FROM record.message r LEFT JOIN record.by_account a ON a.account = r.account AND a.id = r.id WHERE a.id IS NULL
    UNION ALL SELECT 'message ' || a.id || ' is in the list of account ' || a.account || ' only'
    FROM record.by_account a LEFT JOIN record.message r ON r.id = a.id AND r.account = a.account WHERE r.id IS NULL";

/// How many messages of the store the record lacks, and how many it has as open that have ended.
const LACKS: &str = "
    SELECT coalesce(sum(r.id IS NULL), 0),
        coalesce(sum(r.id IS NOT NULL AND s.settled_at IS NOT NULL AND r.settled_ms IS NULL), 0)
    FROM main.message s LEFT JOIN record.message r ON r.id = s.id";

/// How an audit found the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordAudit {
    /// The folder has none.
    #[default]
    None,
    /// It has this many messages, and was compared with the store.
    Compared { messages: u64 },
    /// It is behind the store: it lacks messages, and has some as open that have ended. It catches up while the gateway runs,
    /// and was not compared.
    Behind { missing: u64, outdated: u64 },
    /// It is replaced at the next start: it is damaged, or belongs to another release or another store.
    Unusable,
}

/// In what the record and the store differ.
pub(crate) enum Difference {
    Message(String),
    /// A figure of the statistics and the messages.
    Sum(String),
}

/// Whether a folder has a record.
pub(crate) enum Attached {
    None,
    Yes,
    Damaged(StoreError),
}

/// Adds the record of the folder to the connection, if there is one.
pub(crate) fn attach(connection: &Connection, folder: &Path) -> Result<Attached, StoreError> {
    let path = folder.join(schema::FILE_NAME);
    if !path.exists() {
        return Ok(Attached::None);
    }
    let attached = connection.execute("ATTACH ?1 AS record", [path.to_string_lossy()]);
    match attached.map_err(errors::store_error) {
        Ok(_) => Ok(Attached::Yes),
        Err(error) => Ok(Attached::Damaged(error)),
    }
}

/// Compares the attached record with the store. Messages before `first_kept` are being purged. Calls `differs` with each difference.
pub(crate) fn compare(
    connection: &Connection,
    first_kept: i64,
    differs: &mut dyn FnMut(Difference),
) -> Result<RecordAudit, TableError> {
    let version: i64 = connection.query_row("PRAGMA record.user_version", [], |row| row.get(0))?;
    if version != schema::VERSION {
        return Ok(RecordAudit::Unusable);
    }
    let position = store_schema::journal_position(connection)?;
    let (store, last) = (position.history.0, position.last);
    let query = "SELECT store, sequence, walk_next IS NULL AND recheck_next IS NULL FROM record.position";
    let (own, sequence, is_caught_up) = connection.query_row(query, [], |row| {
        Ok((row.get::<Vec<u8>>(0)?, row.get::<i64>(1)?.cast_unsigned(), row.get::<bool>(2)?))
    })?;
    if own != store || sequence > last {
        return Ok(RecordAudit::Unusable);
    }
    if sequence < last || !is_caught_up {
        return lacks(connection);
    }
    let query = DIFFERENCES.replace("FIRST_KEPT", &first_kept.to_string());
    let mut different = connection.prepare(&query)?;
    let mut rows = different.query([])?;
    while let Some(row) = rows.next()? {
        differs(Difference::Message(row.get(0)?));
    }
    compare_sums(connection, first_kept, differs)?;
    Ok(RecordAudit::Compared { messages: count_messages(connection)? })
}

fn count_messages(connection: &Connection) -> Result<u64, TableError> {
    let count: i64 = connection.query_row("SELECT count(*) FROM record.message", [], |row| row.get(0))?;
    Ok(count.cast_unsigned())
}

/// Counts what a record that is behind lacks.
fn lacks(connection: &Connection) -> Result<RecordAudit, TableError> {
    let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<i64>(1)?));
    let (missing, outdated) = connection.query_row(LACKS, [], read)?;
    Ok(RecordAudit::Behind { missing: missing.cast_unsigned(), outdated: outdated.cast_unsigned() })
}

/// The figures of each day and account.
type Sums = BTreeMap<(i64, u32), Figures>;

/// Compares the days whose messages are all there.
fn compare_sums(
    connection: &Connection,
    first_kept: i64,
    differs: &mut dyn FnMut(Difference),
) -> Result<(), TableError> {
    let mut counted = sums_of_statistics(connection)?;
    let first = MessageId::from_i64(first_kept).filter(|_| first_kept > 0).map(MessageId::accepted_at);
    let Some(oldest) = counted.keys().map(|(day, _)| *day).min() else {
        let messages = count_messages(connection)?;
        if messages > 0 {
            differs(Difference::Sum(format!("{messages} messages, no statistics")));
        }
        return Ok(());
    };
    // The day of the purge is incomplete.
    let from = first.map_or(oldest, |first| oldest.max(first.day().next().get()));
    let mut expected = sums_of_messages(connection, from)?;
    counted.retain(|(day, _), figures| *day >= from && figures.accepted > 0);
    let keys: Vec<_> = counted.keys().chain(expected.keys()).copied().collect();
    for key in keys {
        let (counted, expected) = (counted.remove(&key), expected.remove(&key));
        let is_same = counted.as_ref().map(sums) == expected.as_ref().map(sums);
        if !is_same {
            let (day, account) = key;
            let day = Timestamp::from_millis(day * DAY_MS).to_iso();
            let show = |figures: Option<Figures>| {
                figures.map_or_else(|| "nothing".to_owned(), |figures| text(&figures))
            };
            let detail = format!(
                "account {account}, day {day}: counted {}, messages {}",
                show(counted),
                show(expected)
            );
            differs(Difference::Sum(detail));
        }
    }
    Ok(())
}

const DAY_MS: i64 = 86_400_000;

/// Reads the figures by account of each day, with what is not in the table yet.
fn sums_of_statistics(connection: &Connection) -> Result<Sums, TableError> {
    let mut sums = Sums::new();
    let mut statement = connection.prepare(
        "SELECT start, value, figures FROM record.statistic WHERE resolution = ?1 AND scope = ?2 AND dimension = ?3",
    )?;
    let mut rows = statement.query(params![
        resolution_to_stored(Resolution::Day),
        scope_to_stored(Scope::All),
        dimension_to_stored(Dimension::Account)
    ])?;
    let mut add = |at: Timestamp, value: &Value, figures: &Figures| {
        if let Value::Id(account) = value {
            sums.entry((at.day().get(), *account)).or_default().add(figures);
        }
    };
    while let Some(row) = rows.next()? {
        let figures = figures::stored_figures(row.get_ref(2)?.as_blob()?)?;
        add(stored_start(row.get(0)?), &stored_value(&row, 1)?, &figures);
    }
    let collected = figures::read_collected(connection)?;
    for (value, series) in collected.of_dimension(Scope::All, Dimension::Account) {
        series.iter().for_each(|(minute, figures)| add(minute.start(), &value, figures));
    }
    Ok(sums)
}

/// Counts the messages of each day and account again, from a day on.
fn sums_of_messages(connection: &Connection, from: i64) -> Result<Sums, TableError> {
    let mut sums = Sums::new();
    let newest: Option<i64> =
        connection.query_row("SELECT max(id) FROM record.message", [], |row| row.get(0))?;
    let Some(newest) = newest.and_then(MessageId::from_i64) else { return Ok(sums) };
    let mut statement = connection.prepare(
        "SELECT account, count(*), sum(parts), sum(cost), coalesce(sum(refund), 0), sum(state = 3), sum(state = 4),
             sum(state = 5), sum(state = 6)
         FROM record.message WHERE id >= ?1 AND id < ?2 GROUP BY account",
    )?;
    for day in from..=newest.accepted_at().day().get() {
        let first = |day: i64| MessageId::first_at(Timestamp::from_millis(day * DAY_MS)).as_i64();
        let mut rows = statement.query([first(day), first(day + 1)])?;
        while let Some(row) = rows.next()? {
            let number = |column: usize| row.get::<i64>(column).map(i64::cast_unsigned);
            let figures = Figures {
                accepted: number(1)?,
                parts: number(2)?,
                spend: Money::from_micros(row.get(3)?),
                refunded: Money::from_micros(row.get(4)?),
                delivered: number(5)?,
                expired: number(6)?,
                undeliverable: number(7)?,
                rejected: number(8)?,
                ..Figures::default()
            };
            sums.insert((day, row.get(0)?), figures);
        }
        drop(rows);
        add_costs(connection, (day, first(day)..first(day + 1)), &mut sums)?;
    }
    Ok(sums)
}

/// Adds what is due for the messages of a day.
fn add_costs(
    connection: &Connection,
    (day, ids): (i64, Range<i64>),
    sums: &mut Sums,
) -> Result<(), TableError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {MESSAGE_COLUMNS} FROM record.message m WHERE m.id >= ?1 AND m.id < ?2 AND m.billable IS NOT NULL
             AND (m.carrier_cost IS NOT NULL OR m.earlier_costs IS NOT NULL)"
    ))?;
    let mut rows = statement.query([ids.start, ids.end])?;
    while let Some(row) = rows.next()? {
        let message = read_message(&row)?;
        let figures = sums.entry((day, message.account.get())).or_default();
        message.counted_costs().for_each(|(due, sum)| figures.costs.add(due.cost.terms.currency, sum));
    }
    Ok(())
}

/// Returns the figures that messages have, in one order, and their costs.
fn sums(figures: &Figures) -> ([i64; 8], CostSums) {
    let Figures {
        accepted,
        parts,
        spend,
        refunded,
        delivered,
        expired,
        undeliverable,
        rejected,
        refused: _,
        times: _,
        costs,
    } = figures;
    let [accepted, parts, delivered, expired, undeliverable, rejected] =
        [accepted, parts, delivered, expired, undeliverable, rejected].map(|count| count.cast_signed());
    let (spend, refunded) = (spend.as_micros(), refunded.as_micros());
    let counts = [accepted, parts, spend, refunded, delivered, expired, undeliverable, rejected];
    (counts, costs.clone())
}

fn text(figures: &Figures) -> String {
    let (counts, costs) = sums(figures);
    let [accepted, parts, spend, refunded, delivered, expired, undeliverable, rejected] = counts;
    let cost = |(currency, sum): (Currency, CostSum)| {
        let CostSum { messages, due, revenue } = sum;
        format!(", {due} {currency} due for {messages} messages sold for {revenue}")
    };
    let costs: String = costs.iter().map(cost).collect();
    format!(
        "{accepted} accepted, {parts} parts, spend {spend}, refunded {refunded}, {delivered} delivered, {expired} expired, \
         {undeliverable} undeliverable, {rejected} rejected{costs}"
    )
}
