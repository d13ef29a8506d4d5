//! Erasing one phone number on request of the person it belongs to.

use super::answer::{Answer, fine};
use super::asked::number as number_of;
use super::body::Received;
use super::desk::Desk;
use crate::app::operator;
use axum::extract::State;
use hermod_store::Erased;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Deserialize, ToSchema)]
#[schema(as = ErasureRequest)]
#[serde(deny_unknown_fields)]
pub(super) struct ErasureRequest {
    /// A plus, then 7 to 15 digits.
    #[schema(pattern = r"^\+[1-9][0-9]{6,14}$", examples("+4915112345678"))]
    number: String,
    /// Only in what this account has; everywhere otherwise.
    account: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Erasure)]
pub(super) struct ErasureView {
    /// Messages to the number whose text and number were erased.
    messages: u64,
    /// Messages from the number whose text and number were erased.
    inbound: u64,
    /// Held messages, parked receipts, conversations and unowned messages that were removed.
    others: u64,
    /// Messages that were left alone because they, or reports about them, are still being delivered.
    in_progress: u64,
    /// The ids of the first 100 of those.
    in_progress_ids: Vec<String>,
}

pub(super) async fn erase(State(desk): State<Arc<Desk>>, received: Received) -> Answer {
    let ErasureRequest { number, account } = received.json()?;
    let number = number_of(&number)?;
    let Erased { messages, inbound, others, in_progress, named } =
        operator::erase_number(&desk.world, number, account.as_deref()).await?;
    let in_progress_ids = named.iter().map(ToString::to_string).collect();
    fine(&ErasureView { messages, inbound, others, in_progress, in_progress_ids })
}
