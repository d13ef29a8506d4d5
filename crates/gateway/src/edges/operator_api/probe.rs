//! Trying a carrier with one message.

use super::answer::{Answer, fine};
use super::asked::{Named, number, sender};
use super::body::Received;
use super::desk::Desk;
use crate::app::operator::{self, OperatorRefusal};
use crate::board::{PROBE_WAIT_MAX, PduDirection, Probe, ProbeLine, ProbeReport};
use crate::config::Period;
use axum::extract::State;
use hermod_domain::text::MessageText;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Of the receipt, where nobody says how long to wait.
const WAIT: &str = "30s";
const FROM: &str = "Hermod";
const TEXT: &str = "A test of this route by Hermod";

/// What to send.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Test)]
pub(super) struct TestAsked {
    #[schema(pattern = r"^\+[1-9][0-9]{6,14}$", examples("+4915112345678"))]
    to: String,
    /// `Hermod` unless said otherwise.
    #[schema(examples("Shop"))]
    from: Option<String>,
    /// One part; a sentence about Hermod unless said otherwise.
    text: Option<String>,
    /// How long a receipt is waited for once the message was accepted: at most `10m`, `30s` unless said otherwise.
    #[schema(examples("30s"))]
    wait: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Tested)]
pub(super) struct TestShape {
    carrier: String,
    /// How far it came: `settings`, `connect`, `bind`, `submit`, `receipt` (accepted, and no final receipt in time) or
    /// `done`.
    step: &'static str,
    /// The carrier has taken the message.
    accepted: bool,
    /// What happened there, and what can be done about it.
    outcome: String,
    lines: Vec<LineShape>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = TestLine)]
struct LineShape {
    /// After so many milliseconds.
    at_ms: u64,
    /// `in` from the carrier, `out` to it; nothing for what was done besides.
    way: Option<&'static str>,
    line: String,
}

impl TestAsked {
    fn probe(self) -> Result<Probe, OperatorRefusal> {
        let TestAsked { to, from, text, wait } = self;
        let wait = wait.as_deref().unwrap_or(WAIT);
        let period = Period::parse(wait).filter(|period| period.0 <= PROBE_WAIT_MAX);
        let period = period.ok_or_else(|| OperatorRefusal::InvalidField {
            field: "wait",
            rule: format!("\"{wait}\" is not a time of at most {}", Period(PROBE_WAIT_MAX)),
        })?;
        let text = MessageText::parse(text.as_deref().unwrap_or(TEXT));
        let text = text
            .map_err(|refusal| OperatorRefusal::InvalidField { field: "text", rule: refusal.to_string() })?;
        let from = sender(from.as_deref().unwrap_or(FROM))?;
        Ok(Probe { to: number(&to)?, from, text, wait: period.0 })
    }
}

pub(super) async fn test(
    State(desk): State<Arc<Desk>>,
    Named(carrier): Named<String>,
    body: Received,
) -> Answer {
    desk.must_run()?;
    let probe = body.json::<TestAsked>()?.probe()?;
    let stopping = desk.workers.stopping();
    let ProbeReport { lines, step, outcome } = tokio::select! {
        report = operator::test_carrier(&desk.world, &carrier, probe) => report?,
        // A receipt may take minutes, and nobody stops a gateway to wait for it.
        () = stopping.cancelled() => return Err(OperatorRefusal::stopping()),
    };
    let line = |ProbeLine { at_ms, way, line }: ProbeLine| LineShape {
        at_ms,
        way: way.map(PduDirection::as_str),
        line,
    };
    fine(&TestShape {
        carrier,
        step: step.as_str(),
        accepted: step.is_accepted(),
        outcome,
        lines: lines.into_iter().map(line).collect(),
    })
}
