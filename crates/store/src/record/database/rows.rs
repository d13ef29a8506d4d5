//! The rows of the record: how messages, requests, and values of statistics are stored and read.

use crate::record::pending::stored_steps;
use crate::record::{
    Dimension, MessageCosts, MessageHistory, RecordStatus, RecordedMessage, Replay, RequestEntry,
    RequestKind, Resolution, Scope, Value,
};
use crate::sql::Row;
use crate::sql::columns::{encoding_to_stored, stored_encoding, stored_message, stored_sender};
use crate::sql::messages::stored_cost;
use hermod_domain::erasure::ShortDigest;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, RouteId};
use hermod_domain::lifecycle::{Billable, MessageState};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::DlrCode;
use hermod_domain::route::{CarrierChoice, ComparedCarrier};
use hermod_domain::time::Timestamp;
use hermod_engine::erase::ERASED_NUMBER;
use hermod_engine::tables::TableError;
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::time::Duration;

/// The columns of a [`RecordedMessage`], in the order that [`read_message`] expects. `m` is the table `message`.
pub(crate) const MESSAGE_COLUMNS: &str = "m.id, m.account, m.connection, m.carrier, m.sender, m.recipient, m.encoding, m.parts, m.cost, m.state, \
     m.code, m.err, m.settled_ms, m.refund, m.carrier_cost, m.cost_terms, m.billable, m.earlier_costs";

/// How many columns [`MESSAGE_COLUMNS`] are.
pub(crate) const MESSAGE_WIDTH: usize = 18;

/// The columns of a [`MessageHistory`], which begin with [`MESSAGE_COLUMNS`].
pub(crate) const HISTORY_COLUMNS: &str = "m.id, m.account, m.connection, m.carrier, m.sender, m.recipient, m.encoding, m.parts, m.cost, m.state, \
     m.code, m.err, m.settled_ms, m.refund, m.carrier_cost, m.cost_terms, m.billable, m.earlier_costs, m.charged_parts, m.balance, m.request, m.route, m.choice, m.compared, m.steps";

/// Reads the columns [`MESSAGE_COLUMNS`].
pub(crate) fn read_message(row: &Row<'_>) -> Result<RecordedMessage, TableError> {
    let id = stored_message(row, 0)?;
    let code: Option<u8> = row.get(10)?;
    Ok(RecordedMessage {
        id,
        account: AccountId::new(row.get(1)?),
        connection: ConnectionId::new(row.get(2)?),
        carrier: CarrierId::new(row.get(3)?),
        from: stored_sender(row.get_ref(4)?.as_str()?)?,
        to: stored_recipient(row.get(5)?)?,
        encoding: stored_encoding(row.get(6)?)?,
        parts: row.get(7)?,
        cost: Money::from_micros(row.get(8)?),
        costs: read_costs(row, 14)?,
        state: MessageState::from_stored(row.get(9)?).map_err(TableError::unreadable)?,
        code: code.map(stored_code).transpose()?,
        err: row.get::<Option<u16>>(11)?.unwrap_or(0),
        settled_at: row.get::<Option<i64>>(12)?.map(|after| settled_at(id, after)),
        refund: row.get::<Option<i64>>(13)?.map(Money::from_micros),
    })
}

/// Reads the columns [`HISTORY_COLUMNS`].
pub(crate) fn read_history(row: &Row<'_>, status: RecordStatus) -> Result<MessageHistory, TableError> {
    let column = |column: usize| MESSAGE_WIDTH + column;
    let route: Option<u32> = row.get(column(3))?;
    let choice: Option<u8> = row.get(column(4))?;
    Ok(MessageHistory {
        message: read_message(row)?,
        charged_parts: row.get(column(0))?,
        balance: row.get::<Option<i64>>(column(1))?.map(Money::from_micros),
        request: row.get(column(2))?,
        route: match (route, choice) {
            (Some(route), Some(choice)) => Some((RouteId::new(route), stored_choice(choice)?)),
            _ => None,
        },
        compared: row
            .get_ref(column(5))?
            .as_blob_or_null()?
            .map(stored_compared)
            .transpose()?
            .unwrap_or_default(),
        steps: stored_steps(row.get_ref(column(6))?.as_blob()?).map_err(TableError::unreadable)?,
        status,
    })
}

/// Reads what carriers ask and can bill.
fn read_costs(row: &Row<'_>, column: usize) -> Result<MessageCosts, TableError> {
    let billable: Option<i64> = row.get(column + 2)?;
    let earlier = row.get_ref(column + 3)?.as_blob_or_null()?;
    Ok(MessageCosts {
        believed: stored_cost(row, column)?,
        billable: billable.map(Billable::from_stored).transpose().map_err(TableError::unreadable)?,
        earlier: earlier.map_or(Ok(Vec::new()), postcard::from_bytes).map_err(TableError::unreadable)?,
    })
}

/// What the four columns of costs hold.
pub(crate) struct StoredCosts {
    pub per_part: Option<i64>,
    pub terms: Option<i64>,
    pub billable: Option<i64>,
    pub earlier: Option<Vec<u8>>,
}

pub(crate) fn costs_to_stored(MessageCosts { believed, billable, earlier }: &MessageCosts) -> StoredCosts {
    let octets = || postcard::to_extend(earlier, Vec::new()).expect("costs can be encoded");
    StoredCosts {
        per_part: believed.map(|cost| cost.terms.per_part.as_micros()),
        terms: believed.map(|cost| cost.packed_terms()),
        billable: billable.map(Billable::to_stored),
        earlier: (!earlier.is_empty()).then(octets),
    }
}

/// Returns the time in `settled_ms`.
fn settled_at(message: MessageId, after: i64) -> Timestamp {
    Timestamp::from_millis(message.accepted_at().as_millis().saturating_add(after))
}

/// Returns what `settled_ms` holds of a time.
pub(crate) fn settled_to_stored(message: MessageId, at: Timestamp) -> i64 {
    at.as_millis().saturating_sub(message.accepted_at().as_millis())
}

pub(crate) fn recipient_to_stored(to: Option<Msisdn>) -> i64 {
    to.map_or(ERASED_NUMBER, Msisdn::number).cast_signed()
}

pub(crate) fn stored_recipient(number: i64) -> Result<Option<Msisdn>, TableError> {
    if number == ERASED_NUMBER.cast_signed() {
        return Ok(None);
    }
    let to = Msisdn::from_number(number.cast_unsigned());
    to.map(Some).ok_or_else(|| TableError::unreadable("a recipient"))
}

fn stored_code(number: u8) -> Result<DlrCode, TableError> {
    DlrCode::from_u8(number).ok_or_else(|| TableError::unreadable("a receipt code"))
}

pub(crate) fn message_encoding(message: &RecordedMessage) -> i64 {
    encoding_to_stored(message.encoding)
}

/// The choices in the order of their stored numbers, which are permanent.
const CHOICES: [CarrierChoice; 6] = [
    CarrierChoice::Only,
    CarrierChoice::FirstUp,
    CarrierChoice::FirstAble,
    CarrierChoice::FirstDown,
    CarrierChoice::First,
    CarrierChoice::LeastLoss,
];

pub(crate) fn choice_to_stored(choice: CarrierChoice) -> u8 {
    match choice {
        CarrierChoice::Only => 0,
        CarrierChoice::FirstUp => 1,
        CarrierChoice::FirstAble => 2,
        CarrierChoice::FirstDown => 3,
        CarrierChoice::First => 4,
        CarrierChoice::LeastLoss => 5,
    }
}

fn stored_choice(number: u8) -> Result<CarrierChoice, TableError> {
    let choice = CHOICES.get(usize::from(number)).copied();
    choice.ok_or_else(|| TableError::unreadable("a carrier choice"))
}

pub(crate) fn compared_to_stored(compared: &[ComparedCarrier]) -> Vec<u8> {
    postcard::to_extend(compared, Vec::new()).expect("carriers can be encoded")
}

fn stored_compared(octets: &[u8]) -> Result<Vec<ComparedCarrier>, TableError> {
    postcard::from_bytes(octets).map_err(TableError::unreadable)
}

/// The columns of a [`RequestEntry`] after its number, in the order that [`read_request`] expects.
pub(crate) const REQUEST_COLUMNS: &str = "no, at, account, connection, kind, operation, who, address, status, code, reason, took_ms, request, replay, \
     message, recipient";

/// Reads the columns [`REQUEST_COLUMNS`].
pub(crate) fn read_request(row: &Row<'_>) -> Result<(u64, RequestEntry), TableError> {
    let address: Option<String> = row.get(7)?;
    let entry = RequestEntry {
        at: Timestamp::from_millis(row.get(1)?),
        account: row.get::<Option<u32>>(2)?.map(AccountId::new),
        connection: row.get::<Option<u32>>(3)?.map(ConnectionId::new),
        kind: stored_kind(row.get(4)?)?,
        operation: row.get::<String>(5)?.into(),
        who: row.get::<String>(6)?.into(),
        address: address.and_then(|address| address.parse().ok()),
        status: row.get(8)?,
        code: row.get::<Option<String>>(9)?.map(Into::into),
        reason: row.get::<String>(10)?.into(),
        took_ms: row.get(11)?,
        request: row.get::<Option<String>>(12)?.map(Into::into),
        replay: stored_replay(row.get(13)?)?,
        message: row.get::<Option<i64>>(14)?.and_then(MessageId::from_i64),
        recipient: row.get::<Option<i64>>(15)?.map(ShortDigest::from_stored),
    };
    Ok((row.get::<i64>(0)?.cast_unsigned(), entry))
}

/// Permanent numbers, like those of the next functions.
pub(crate) fn kind_to_stored(kind: RequestKind) -> u8 {
    match kind {
        RequestKind::Http => 0,
        RequestKind::Submit => 1,
        RequestKind::Bind => 2,
    }
}

fn stored_kind(number: u8) -> Result<RequestKind, TableError> {
    let kinds = [RequestKind::Http, RequestKind::Submit, RequestKind::Bind];
    let kind = kinds.into_iter().find(|kind| kind_to_stored(*kind) == number);
    kind.ok_or_else(|| TableError::unreadable("a kind of request"))
}

pub(crate) fn replay_to_stored(replay: Replay) -> u8 {
    match replay {
        Replay::No => 0,
        Replay::Same => 1,
        Replay::Mismatch => 2,
    }
}

fn stored_replay(number: u8) -> Result<Replay, TableError> {
    let replays = [Replay::No, Replay::Same, Replay::Mismatch];
    let replay = replays.into_iter().find(|replay| replay_to_stored(*replay) == number);
    replay.ok_or_else(|| TableError::unreadable("a replay"))
}

pub(crate) fn resolution_to_stored(resolution: Resolution) -> u8 {
    match resolution {
        Resolution::Minute => 0,
        Resolution::Hour => 1,
        Resolution::Day => 2,
    }
}

pub(crate) fn dimension_to_stored(dimension: Dimension) -> u8 {
    match dimension {
        Dimension::All => 0,
        Dimension::Account => 1,
        Dimension::Connection => 2,
        Dimension::Country => 3,
        Dimension::Network => 4,
        Dimension::Carrier => 5,
        Dimension::Sender => 6,
        Dimension::Refusal => 7,
    }
}

/// Returns a scope for the column: 0 for all accounts.
pub(crate) fn scope_to_stored(scope: Scope) -> u32 {
    match scope {
        Scope::All => 0,
        Scope::Account(account) => account.get(),
    }
}

/// Returns a value for the column.
pub(crate) fn value_to_stored(value: &Value) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match value {
        Value::None => ValueRef::Text(b""),
        Value::Id(id) => ValueRef::Integer(i64::from(*id)),
        Value::Text(text) => ValueRef::Text(text.as_bytes()),
    })
}

/// Returns the value in a column.
pub(crate) fn stored_value(row: &Row<'_>, column: usize) -> Result<Value, TableError> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(id) => Value::Id(u32::try_from(id).map_err(TableError::unreadable)?),
        ValueRef::Text(b"") => Value::None,
        text => Value::Text(text.as_str()?.into()),
    })
}

/// Returns the beginning of an interval for the column `start`.
pub(crate) fn start_to_stored(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(60_000)
}

/// Returns the beginning of an interval.
pub(crate) fn stored_start(minutes: i64) -> Timestamp {
    Timestamp::from_millis(minutes.saturating_mul(60_000))
}

/// Returns how long a message took to end.
pub(crate) fn took(message: MessageId, at: Timestamp) -> Duration {
    at.since(message.accepted_at())
}
