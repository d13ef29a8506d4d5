//! A carrier's PDUs, line by line, while somebody watches. Lines have neither passwords nor texts.

use super::answer::{Answer, fine};
use super::asked::{Asked, Named, cursor};
use super::body::Received;
use super::desk::Desk;
use crate::app::operator::{self, OperatorRefusal, Traced};
use crate::board::TraceLine;
use crate::config::Period;
use axum::extract::State;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;

/// Nobody watches for longer in one go; a trace costs a little with every PDU.
const TRACE_MIN: Duration = Duration::from_secs(1);
const TRACE_MAX: Duration = Duration::from_secs(3600);

/// How long to trace, from now on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TraceFor)]
pub(super) struct TraceAsked {
    /// From `1s` to `1h`.
    #[serde(rename = "for")]
    #[schema(pattern = "^[0-9]+(ms|s|m|h|d)$", examples("60s"))]
    lasting: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Tracing)]
pub(super) struct TracingShape {
    carrier: String,
    until: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Trace)]
pub(super) struct TraceShape {
    items: Vec<LineShape>,
    /// Ask for what comes behind with `after`.
    next: u64,
    /// Until when there will be more.
    until: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = TraceLine)]
pub(super) struct LineShape {
    seq: u64,
    at: String,
    link: u8,
    /// `in` from the carrier, `out` to it.
    way: &'static str,
    #[schema(examples("submit_sm seq=7 4915112345678 <- Shop"))]
    line: String,
}

impl LineShape {
    pub(super) fn of(TraceLine { seq, at, link, way, line }: TraceLine) -> LineShape {
        LineShape { seq, at: at.to_iso(), link, way: way.as_str(), line }
    }
}

pub(super) async fn start(
    State(desk): State<Arc<Desk>>,
    Named(carrier): Named<String>,
    body: Received,
) -> Answer {
    desk.must_run()?;
    let TraceAsked { lasting } = body.json()?;
    let read = Period::parse(&lasting).filter(|period| (TRACE_MIN..=TRACE_MAX).contains(&period.0));
    let period = read.ok_or_else(|| OperatorRefusal::InvalidField {
        field: "for",
        rule: format!("\"{lasting}\" is not a time from {} to {}", Period(TRACE_MIN), Period(TRACE_MAX)),
    })?;
    let until = operator::trace_carrier(&desk.world, &carrier, Some(period.0))?;
    fine(&TracingShape { carrier, until: until.map(Timestamp::to_iso) })
}

pub(super) async fn stop(State(desk): State<Arc<Desk>>, Named(carrier): Named<String>) -> Answer {
    desk.must_run()?;
    let until = operator::trace_carrier(&desk.world, &carrier, None)?;
    fine(&TracingShape { carrier, until: until.map(Timestamp::to_iso) })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TraceRead {
    after: Option<String>,
}

pub(super) async fn read(
    State(desk): State<Arc<Desk>>,
    Named(carrier): Named<String>,
    Asked(TraceRead { after }): Asked<TraceRead>,
) -> Answer {
    desk.must_run()?;
    let after = cursor::<u64>("after", after.as_deref())?.unwrap_or(0);
    let Traced { lines, until } = operator::read_trace(&desk.world, &carrier, after)?;
    let next = lines.last().map_or(after, |line| line.seq);
    let items = lines.into_iter().map(LineShape::of).collect();
    fine(&TraceShape { items, next, until: until.map(Timestamp::to_iso) })
}
