//! What the record has: messages and their timelines, statistics, the request log, the live feed.

mod history;
mod messages;
mod requests;
mod statistics;

pub(crate) use history::status_text;
pub use history::{HistoryView, LiveMessageView, LiveQuery, LiveView, MessageDetailView, StepView};
pub use messages::{CountView, MessageView, MessagesQuery, MessagesView, TextSearchQuery, TextSearchView};
pub(crate) use requests::kind_text;
pub use requests::{RequestGroupView, RequestGroupsView, RequestView, RequestsQuery, RequestsView};
pub use statistics::{StatisticView, StatisticsQuery, StatisticsView};

use hermod_store::record::RecordStatus;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::ToSchema;

/// How far the record is behind the messages. It is written after them, usually within a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecordView {
    /// The age of the oldest change that the record does not have yet; 0 if it has all.
    #[schema(examples(312))]
    pub lag_ms: u64,
    /// Messages that the record still reads from the message store, after a crash, an overload or a rebuild; usually 0.
    pub catching_up: u64,
}

impl From<RecordStatus> for RecordView {
    fn from(RecordStatus { lag, catching_up, .. }: RecordStatus) -> RecordView {
        RecordView { lag_ms: whole_ms(lag), catching_up }
    }
}

/// The state of the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecordStatusView {
    /// Whether the gateway keeps a record.
    pub enabled: bool,
    pub lag_ms: u64,
    pub catching_up: u64,
}

impl From<RecordStatus> for RecordStatusView {
    fn from(status: RecordStatus) -> RecordStatusView {
        let RecordView { lag_ms, catching_up } = status.into();
        RecordStatusView { enabled: !status.is_off, lag_ms, catching_up }
    }
}

fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
