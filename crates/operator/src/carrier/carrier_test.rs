//! Test messages to a carrier, and the trace of its PDUs.

use hermod_domain::time::Timestamp;
use hermod_gateway::live_status::{PduDirection, ProbeLine, ProbeReport, TraceLine};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The test message.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CarrierTestRequest {
    #[schema(pattern = r"^\+[1-9][0-9]{6,14}$", examples("+4915112345678"))]
    pub to: String,
    /// Default: `Hermod`.
    #[schema(examples("Shop"))]
    pub from: Option<String>,
    /// At most one part. Default: a sentence about Hermod.
    pub text: Option<String>,
    /// How long to wait for the receipt of an accepted message: at most `10m`. Default: `30s`.
    #[schema(examples("30s"))]
    pub wait: Option<String>,
}

impl crate::views::JsonBody for CarrierTestRequest {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CarrierTestView {
    pub carrier: String,
    /// The last step: `settings`, `connect`, `bind`, `submit`, `receipt` (accepted, no final receipt in time) or `done`.
    pub step: String,
    /// Whether the carrier accepted the message.
    pub accepted: bool,
    /// The result of the last step, and what to do about a failure.
    pub outcome: String,
    pub lines: Vec<CarrierTestLineView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CarrierTestLineView {
    /// Milliseconds since the test began.
    pub at_ms: u64,
    /// `in` from the carrier, `out` to it; null for a line that is no PDU.
    pub way: Option<String>,
    pub line: String,
}

impl CarrierTestView {
    pub fn new(carrier: String, ProbeReport { lines, step, outcome }: ProbeReport) -> CarrierTestView {
        let line = |ProbeLine { at_ms, way, line }: ProbeLine| CarrierTestLineView {
            at_ms,
            way: way.map(|way| way.as_str().to_owned()),
            line,
        };
        CarrierTestView {
            carrier,
            step: step.as_str().to_owned(),
            accepted: step.is_accepted(),
            outcome,
            lines: lines.into_iter().map(line).collect(),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceRequest {
    /// How long to trace: `1s` to `1h`.
    #[serde(rename = "for")]
    #[schema(pattern = "^[0-9]+(ms|s|m|h|d)$", examples("60s"))]
    pub duration: String,
}

impl crate::views::JsonBody for TraceRequest {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct TraceQuery {
    /// `next` of the previous response.
    pub after: Option<crate::views::paging::RowNumber>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TraceStateView {
    pub carrier: String,
    /// When the trace ends; null if it is off.
    pub until: Option<String>,
    /// Nodes that did not answer: their links are not in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_nodes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TraceView {
    pub items: Vec<TraceLineView>,
    /// `after` of the next request.
    pub next: u64,
    /// When the trace ends; null if it is off.
    pub until: Option<String>,
}

/// A PDU without passwords and message texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TraceLineView {
    pub seq: u64,
    pub at: String,
    /// The node that has the link, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The number of the link at its node.
    pub link: u64,
    /// `in` from the carrier, `out` to it.
    pub way: String,
    #[schema(examples("submit_sm seq=7 4915112345678 <- Shop"))]
    pub line: String,
}

impl TraceView {
    /// The lines after the sequence number `after`.
    pub fn new(lines: Vec<TraceLine>, after: u64, until: Option<Timestamp>) -> TraceView {
        let next = lines.iter().map(|line| line.seq).max().unwrap_or(after);
        let items = lines.into_iter().map(|TraceLine { seq, at, node, session, way, line }| TraceLineView {
            seq,
            at: at.to_iso(),
            node,
            link: session,
            way: PduDirection::as_str(way).to_owned(),
            line,
        });
        TraceView { items: items.collect(), next, until: until.map(Timestamp::to_iso) }
    }
}
