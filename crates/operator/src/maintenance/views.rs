//! Backups, erasure of phone numbers, rows that were set aside.

use crate::views::paging::{Limit, Paged, RowNumber};
use hermod_store::{Erased, SetAside, StoredPart};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupRequest {
    /// An absolute path on the gateway's machine. The gateway creates this folder; it must not exist yet.
    #[schema(examples("/var/backups/hermod/monday"))]
    pub folder: String,
}

impl crate::views::JsonBody for BackupRequest {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BackupView {
    /// The folder, with the copy as `hermod.db`.
    pub folder: String,
    /// Size of the copy.
    pub bytes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErasureRequest {
    /// A plus, then 7 to 15 digits.
    #[schema(pattern = r"^\+[1-9][0-9]{6,14}$", examples("+4915112345678"))]
    pub number: String,
    /// Only in this account's messages. Default: all accounts.
    pub account: Option<String>,
}

impl crate::views::JsonBody for ErasureRequest {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErasureView {
    /// Messages to the number whose text and number were erased.
    pub messages: u64,
    /// Messages from the number whose text and number were erased.
    pub inbound: u64,
    /// Held messages, parked receipts, conversations and unassigned messages that were removed.
    pub others: u64,
    /// Messages to and from the number that were not erased because they, or reports about them, are still being delivered.
    pub in_progress: u64,
    /// The ids of the first 100 of those to the number.
    pub in_progress_ids: Vec<String>,
}

impl From<Erased> for ErasureView {
    fn from(Erased { messages, inbound, others, in_progress, named }: Erased) -> ErasureView {
        let in_progress_ids = named.iter().map(ToString::to_string).collect();
        ErasureView { messages, inbound, others, in_progress, in_progress_ids }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct SetAsideQuery {
    /// `next` of the previous page.
    pub after: Option<RowNumber>,
    /// How many at most; 100 by default.
    pub limit: Option<Limit>,
}

/// A row of the queue that could not be read. Its numbers are those of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SetAsideView {
    pub number: i64,
    /// When it was set aside.
    pub at: String,
    #[schema(examples("part 1: 99 is not a known state"))]
    pub reason: String,
    pub carrier: i64,
    pub account: i64,
    pub message_id: String,
    /// The part that left the queue; null if the row of the message is the invalid one and its parts stay queued.
    pub part: Option<StoredPartView>,
}

impl Paged for SetAsideView {
    type Cursor = i64;

    fn cursor(&self) -> i64 {
        self.number
    }
}

/// The columns of a part's row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoredPartView {
    pub no: i64,
    pub state: i64,
    pub doubts: i64,
    pub resend: i64,
    pub attempts: i64,
    pub due_at: i64,
    pub expires_at: i64,
}

impl From<SetAside> for SetAsideView {
    fn from(SetAside { id, at, reason, carrier, account, message, part }: SetAside) -> SetAsideView {
        let part = part.map(|part| {
            let StoredPart { no, state, doubts, resend, attempts, due_at, expires_at } = part;
            StoredPartView { no, state, doubts, resend, attempts, due_at, expires_at }
        });
        let (at, message_id) = (at.to_iso(), message.to_string());
        SetAsideView { number: id, at, reason, carrier, account, message_id, part }
    }
}
