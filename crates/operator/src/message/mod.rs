//! The record: searches, timelines, statistics, the request log, exports, the live feed.

pub mod exports;
pub(crate) mod filter;
pub mod history;
pub mod live;
pub(crate) mod names;
pub(crate) mod remedies;
pub mod requests;
pub(crate) mod routes;
pub mod search;
pub mod statistics;
pub mod views;

use crate::author::Acting;
use crate::message::views::RecordStatusView;
use crate::refusal::OperatorRefusal;
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
