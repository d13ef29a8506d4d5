//! The table of attempts to post webhook events.

use crate::ops::{Endpoint, EventId};
use crate::tables::columns::{Column, ColumnReader, ColumnValue, Stored, one_column};
use crate::tables::described::{stored_fields, stored_table};
use crate::tables::{EventKey, TableError};
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One attempt to post an event.
#[derive(Clone, Serialize, Deserialize)]
pub struct StoredAttempt {
    pub key: EventKey,
    /// The first attempt of an event is 1.
    pub no: u32,
    pub at: Timestamp,
    pub took: Duration,
    pub outcome: StoredOutcome,
    /// The beginning of the response's body.
    #[serde(with = "hermod_domain::octets")]
    pub response: Vec<u8>,
}

/// The outcome of an attempt.
#[derive(Clone, Serialize, Deserialize)]
pub enum StoredOutcome {
    /// The HTTP status of the response.
    Status(u16),
    /// Why there was no response.
    Failed(String),
}

one_column! {
    Duration: Number, |took| i64::try_from(took.as_millis()).unwrap_or(i64::MAX), |millis| {
        Some(Duration::from_millis(millis.cast_unsigned()))
    };
    EventId: Number, |id| id.0.cast_signed(), |number| Some(EventId(number.cast_unsigned()));
    WebhookKind: Number, |kind| kind.as_u8().into(), |number| {
        number.try_into().ok().and_then(WebhookKind::from_u8)
    };
}

/// Two columns, one of which is null.
impl Stored for StoredOutcome {
    fn add_columns(_: &'static str, columns: &mut Vec<Column>) {
        Option::<u16>::add_columns("status", columns);
        Option::<String>::add_columns("failure", columns);
    }

    fn add_values<'v>(&'v self, values: &mut Vec<ColumnValue<'v>>) {
        values.extend(match self {
            StoredOutcome::Status(status) => [ColumnValue::Number((*status).into()), ColumnValue::Null],
            StoredOutcome::Failed(why) => [ColumnValue::Null, ColumnValue::Text(why.into())],
        });
    }

    fn read(row: &mut ColumnReader<'_>) -> Result<StoredOutcome, TableError> {
        match (Option::read(row)?, Option::read(row)?) {
            (Some(status), None) => Ok(StoredOutcome::Status(status)),
            (None, Some(why)) => Ok(StoredOutcome::Failed(why)),
            (Some(_), Some(_)) | (None, None) => {
                Err(TableError::unreadable("an attempt with both or neither of status and failure"))
            }
        }
    }
}

stored_fields! { Endpoint { account, kind } }
stored_fields! { EventKey { endpoint, event } }

stored_table! {
    webhook_attempt: StoredAttempt { key, no, at, took => took_ms, outcome, response => answer },
    key (key: EventKey, no: u32)
}
