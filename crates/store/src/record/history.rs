//! The history of one message: its timeline, and what was noted when it was accepted.

use crate::record::{RecordStatus, RecordedMessage};
use hermod_domain::ids::{PartNo, RouteId};
use hermod_domain::money::Money;
use hermod_domain::route::{CarrierChoice, ComparedCarrier};
use hermod_engine::steps::StepKind;
use serde::{Deserialize, Serialize};

/// Everything that the record has about one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageHistory {
    pub message: RecordedMessage,
    /// The parts that were charged.
    pub charged_parts: u8,
    /// The account's balance after the charge; none if it was read from the store later.
    pub balance: Option<Money>,
    /// The id of the HTTP request; none over SMPP, and if it was read from the store later.
    pub request: Option<String>,
    /// None if it was read from the store later.
    pub route: Option<(RouteId, CarrierChoice)>,
    /// The carriers of the route as they were compared when the message was accepted. Empty if the route looked at no costs, or if it
    /// was read from the store later.
    pub compared: Vec<ComparedCarrier>,
    /// In the order in which they happened, without the acceptance.
    pub steps: Vec<HistoryStep>,
    pub status: RecordStatus,
}

/// One step of a message, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryStep {
    /// Milliseconds after the acceptance.
    pub at_ms: u64,
    pub part: PartNo,
    pub what: StepNote,
}

/// A step, a note that steps are missing, or what the store kept of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepNote {
    Step(StepKind),
    /// Steps before this one are missing: the gateway was stopped or too busy before they were recorded. States and money
    /// are those of the store.
    Gap,
    /// There were more steps than are kept of one message.
    More,
    /// A line of the store's own timeline, which keeps unusual steps. Only in histories with a [`StepNote::Gap`], and never
    /// stored in the record.
    Stored {
        what: Box<str>,
        detail: Box<str>,
    },
}
