//! Reads of the record: searches, timelines, statistics, the request log, exports, the live feed.

mod exports;
mod filter;
mod history;
mod live;
mod messages;
mod names;
mod remedies;
mod requests;
mod statistics;

pub use exports::{Reader, Rows, export_messages, export_requests, export_statistics};
pub use history::show_message;
pub use live::{LiveFeed, watch_live};
pub use messages::{count_messages, search_messages, search_text};
pub use requests::{group_requests, list_requests};
pub use statistics::read_statistics;

use crate::author::Acting;
use crate::use_cases::OperatorRefusal;
use crate::views::record::RecordStatusView;
use hermod_gateway::gateway::Gateway;
use serde_json::Value;

/// Returns the state of the record.
pub fn record_status(gateway: &Gateway) -> Result<RecordStatusView, OperatorRefusal> {
    Ok(gateway.store.record().status().into())
}

/// Makes the record begin again from the message store, while the gateway runs.
pub async fn rebuild_record(gateway: &Acting) -> Result<RecordStatusView, OperatorRefusal> {
    gateway.audited(None, "record.rebuild", "record", &Value::Null).note_in_audit_log().await?;
    gateway.store.record().rebuild().await?;
    tracing::info!("The operator made the record begin again from the message store");
    record_status(gateway)
}
