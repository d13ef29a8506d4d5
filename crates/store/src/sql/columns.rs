//! Conversions between values and columns that several tables share.

use crate::sql::Row;
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::lifecycle::PartState;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::Encoding;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::TableError;

/// Returns the message id in this column.
pub(crate) fn stored_message(row: &Row<'_>, column: usize) -> Result<MessageId, TableError> {
    MessageId::from_i64(row.get(column)?).ok_or_else(|| TableError::unreadable("a message id"))
}

/// Returns the part number in this column.
pub(crate) fn stored_part(row: &Row<'_>, column: usize) -> Result<PartNo, TableError> {
    PartNo::new(row.get(column)?).ok_or_else(|| TableError::unreadable("part number 0"))
}

/// Returns the message id and the part number in these columns.
pub(crate) fn message_and_part(
    row: &Row<'_>,
    message: usize,
    part: usize,
) -> Result<(MessageId, PartNo), TableError> {
    Ok((stored_message(row, message)?, stored_part(row, part)?))
}

/// Returns the state in a part's row.
pub(crate) fn stored_state(number: i64) -> Result<PartState, TableError> {
    PartState::from_stored(number).map_err(TableError::unreadable)
}

/// Returns the sender in a row.
pub(crate) fn stored_sender(text: &str) -> Result<Sender, TableError> {
    Sender::parse(text).map_err(TableError::unreadable)
}

/// Returns the phone number in a row.
pub(crate) fn stored_number(number: i64) -> Result<Msisdn, TableError> {
    Msisdn::from_number(number.cast_unsigned()).ok_or_else(|| TableError::unreadable("a recipient"))
}

/// Returns the time in a column where 0 means none.
pub(crate) fn stored_time(millis: i64) -> Option<Timestamp> {
    (millis != 0).then(|| Timestamp::from_millis(millis))
}

/// Returns a time for a column where 0 means none.
pub(crate) fn time_to_stored(time: Option<Timestamp>) -> i64 {
    time.map_or(0, Timestamp::as_millis)
}

/// Returns the stored form of an encoding. The numbers are permanent: add new ones, never renumber.
pub(crate) fn encoding_to_stored(encoding: Encoding) -> i64 {
    match encoding {
        Encoding::Gsm7 => 0,
        Encoding::Ucs2 => 1,
        Encoding::Octets => 2,
    }
}

/// Returns the encoding in a message's row.
pub(crate) fn stored_encoding(number: i64) -> Result<Encoding, TableError> {
    match number {
        0 => Ok(Encoding::Gsm7),
        1 => Ok(Encoding::Ucs2),
        2 => Ok(Encoding::Octets),
        other => Err(TableError::unreadable(format!("{other} is not an encoding"))),
    }
}
