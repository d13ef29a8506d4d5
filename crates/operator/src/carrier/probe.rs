//! Test messages to a carrier.

use crate::find::find_carrier;
use crate::input::{invalid, number, sender};
use crate::refusal::{OperatorRefusal, Result};
use hermod_domain::text::MessageText;
use hermod_gateway::config::Period;
use hermod_gateway::gateway::Gateway;
use hermod_gateway::live_status::{NoProbe, PROBE_WAIT_MAX, Probe, ProbeLine, ProbeReport};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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

/// Defaults of a test message.
const TEST_WAIT: &str = "30s";
const TEST_SENDER: &str = "Hermod";
const TEST_TEXT: &str = "A test of this route by Hermod";

/// Sends one message over a connection of its own and reports every step.
pub async fn test_carrier(
    gateway: &Gateway,
    name: &str,
    request: CarrierTestRequest,
) -> Result<CarrierTestView> {
    let probe = probe_of(request)?;
    find_carrier(gateway, name)?;
    tracing::info!(carrier.name = name, "Tested by the operator");
    let report = gateway.probes.run(name, probe).await.map_err(|none| match none {
        NoProbe::Busy => OperatorRefusal::TestRunning,
        NoProbe::Stopping => OperatorRefusal::stopping(),
    })?;
    Ok(CarrierTestView::new(name.to_owned(), report))
}

fn probe_of(request: CarrierTestRequest) -> Result<Probe> {
    let CarrierTestRequest { to, from, text, wait } = request;
    let wait = wait.as_deref().unwrap_or(TEST_WAIT);
    let period = Period::parse(wait).filter(|period| period.0 <= PROBE_WAIT_MAX);
    let period = period.ok_or_else(|| {
        invalid("wait", format!("\"{wait}\" is not a time of at most {}", Period(PROBE_WAIT_MAX)))
    })?;
    let text = MessageText::parse(text.as_deref().unwrap_or(TEST_TEXT));
    let text = text.map_err(|refusal| invalid("text", refusal))?;
    let from = sender(from.as_deref().unwrap_or(TEST_SENDER))?;
    Ok(Probe { to: number(&to)?, from, text, wait: period.0 })
}
