//! Everything about one message: its fields, how it was charged and routed, and its timeline; and the live feed of messages.

use crate::message::views::{MessageView, RecordView};
use crate::views::amount::Amount;
use hermod_smpp::CommandStatus;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Everything about one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct MessageDetailView {
    #[serde(flatten)]
    pub message: MessageView,
    #[serde(flatten)]
    pub history: HistoryView,
}

/// How a message was charged and routed, and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistoryView {
    /// The parts that were charged.
    pub charged_parts: u8,
    /// The balance of the account after the charge; null if the acceptance was read from the message store later.
    pub balance: Option<Amount>,
    /// The `X-Request-Id` of the HTTP request; null over SMPP, and if it was read later.
    pub request: Option<String>,
    /// The route; null if it was read later.
    #[schema(examples("49"))]
    pub route: Option<String>,
    /// Why the route chose the first carrier: `only`, `first_up`, `first_able`, `first_down` or `first`.
    #[schema(examples("first_up"))]
    pub choice: Option<String>,
    /// The same in a sentence.
    pub why: Option<String>,
    /// What happened, in order.
    pub timeline: Vec<StepView>,
    pub record: RecordView,
}

/// A step of a message. Fields that say nothing about the step are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StepView {
    /// What happened: `accepted`, `sent`, `resent`, `not_sent`, `carrier_accepted`, `no_carrier_id`, `carrier_id_reused`,
    /// `throttled`, `temporary_error`, `rejected`, `refused`, `in_doubt`, `late_response`, `moved`, `failed_over`, `receipt`,
    /// `late_receipt`, `unknown_receipt`, `unknown`, `expired`, `cancelled`, `state`, `ended`, `reported`, `report_answered`,
    /// `webhook`, `gap` or `more`.
    #[schema(examples("sent"))]
    pub step: String,
    /// Milliseconds after the acceptance.
    #[schema(examples(14))]
    pub at_ms: u64,
    /// The part; left out if the step concerns the whole message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier: Option<String>,
    /// The carrier that had it before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_carrier: Option<String>,
    /// The link that sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<u64>,
    /// The id that the carrier gave to the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier_id: Option<String>,
    /// The `command_status` of SMPP by its name or number, the status of HTTP, or the status in a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The receipt as the carrier wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub err: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The status of the message at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refund: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<String>,
    /// The number of the report to the customer's binds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<u64>,
    /// The `webhook-id` of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Amount>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<u8>,
    /// What the step means, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Returns a `command_status` by the name of the specification, or as a number.
pub(crate) fn status_text(status: u32) -> String {
    CommandStatus(status).name().map_or_else(|| format!("0x{status:08x}"), str::to_owned)
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct LiveQuery {
    /// Only messages of this account.
    pub account: Option<String>,
}

/// A frame of the live feed: the messages that had a step since the last frame, or a sample of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveView {
    /// Rises with each frame; also the id of the event.
    pub number: u64,
    pub at: String,
    /// The time that the frame covers.
    pub covers_ms: u64,
    /// How many messages had a step.
    pub total: u64,
    /// The same per second; null in the first frame.
    pub per_second: Option<u64>,
    /// Says so where only a sample is shown: `showing 20 of 3,412/s`.
    pub note: Option<String>,
    /// At most 20.
    pub shown: Vec<LiveMessageView>,
}

/// A message of the live feed with its latest step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LiveMessageView {
    pub message: MessageView,
    /// Null if it was just accepted.
    pub step: Option<StepView>,
}
