//! The live feed: what was just recorded.

use super::{MessageView, StepView};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

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
