//! Conversions between values and columns shared by several tables, and shared errors.

use hermod_domain::ids::{MessageId, RemoteId};
use hermod_domain::origin::Origin;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{MessageRange, OriginRow, TableError};
use std::fmt;
use std::ops::RangeInclusive;

/// The reason where a part's message is missing.
pub(super) const NO_MESSAGE: &str = "its message has no row";

/// The error of a missing row.
#[derive(Debug, thiserror::Error)]
#[error("{NO_MESSAGE}")]
pub(super) struct NoRow;

pub(super) fn stored_message(message: i64) -> Result<MessageId, TableError> {
    MessageId::from_i64(message).ok_or_else(|| TableError::unreadable("a message id"))
}

pub(super) fn stored_sender(text: &str) -> Result<Sender, TableError> {
    Sender::parse(text).map_err(TableError::unreadable)
}

pub(super) fn stored_number(number: u64) -> Result<Msisdn, TableError> {
    Msisdn::from_number(number).ok_or_else(|| TableError::unreadable("a recipient"))
}

/// Returns a time as a column gives it back where 0 means none.
pub(super) fn stored_time(time: Option<Timestamp>) -> Option<Timestamp> {
    time.filter(|time| time.as_millis() != 0)
}

/// Returns what a carrier wrote and its key, as two columns: the first is empty where both are the same.
pub(super) fn stored_raw(key: &[u8], remote: &RemoteId) -> Vec<u8> {
    if key == remote.octets() { Vec::new() } else { remote.octets().to_vec() }
}

/// Returns the id in these two columns.
pub(super) fn stored_remote(key: &[u8], raw: &[u8]) -> Result<RemoteId, TableError> {
    let octets = if raw.is_empty() { key } else { raw };
    RemoteId::from_octets(octets).map_err(TableError::unreadable)
}

/// Returns a range of message ids as they are stored.
pub(super) fn stored_range(range: MessageRange) -> RangeInclusive<i64> {
    range.first.as_i64()..=range.last.as_i64()
}

/// An origin whose text form leaves nothing out.
#[derive(Clone)]
pub(super) struct StoredOrigin(pub(super) OriginRow);

impl fmt::Debug for StoredOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OriginRow { origin, alias } = &self.0;
        let Origin { source, destination, quote, .. } = origin;
        write!(f, "{origin:?} {source:?} {destination:?} {quote:?} {alias:?}")
    }
}
