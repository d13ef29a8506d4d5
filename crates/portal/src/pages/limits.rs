//! Limits: rates, windows, daily limits and traffic controls, how much of them is used, and what was rejected.

use crate::elements::{Chip, Fact, Freshness, Notice};
use crate::layout::Shell;
use askama::Template;

/// `GET /accounts/{account}/limits`.
#[derive(Clone, Debug, Template)]
#[template(path = "limits.html")]
pub struct LimitsPage {
    pub shell: Shell,
    /// What stops messages now: a missing verification, a daily limit that is used up.
    pub notices: Vec<Notice>,
    /// Verification, tier and throughput.
    pub facts: Vec<Fact>,
    /// `None` if the role may not see connections.
    pub connections: Option<Vec<ConnectionLimitsCard>>,
    pub controls: Vec<ControlRow>,
    /// Requests that a rate or a control rejected in the last 24 hours, by code.
    pub rejected: Vec<RejectedRow>,
    /// Where to request more; `None` if the role may not.
    pub request: Option<String>,
    pub freshness: Freshness,
}

/// The limits of a connection.
#[derive(Clone, Debug, Default)]
pub struct ConnectionLimitsCard {
    pub name: String,
    /// Requests per second.
    pub rate: String,
    /// Messages that were accepted in the last hour.
    pub accepted: String,
    /// The most messages that were accepted in one minute of the last hour.
    pub busiest: String,
    /// Requests over the rate in the last hour.
    pub limited: String,
    /// Whether there were any.
    pub is_limited: bool,
    /// The window of each bind and the most binds; `None` without SMPP access.
    pub smpp: Option<String>,
}

/// A traffic control.
#[derive(Clone, Debug)]
pub struct ControlRow {
    pub name: String,
    /// Such as `20 messages per hour to one number`.
    pub limit: String,
    /// Open, used up, or watching.
    pub state: Chip,
    /// How much is used, as far as it is known.
    pub used: String,
    /// When it opens again.
    pub opens: String,
}

/// Rejected requests with one code.
#[derive(Clone, Debug)]
pub struct RejectedRow {
    pub code: String,
    pub count: String,
    pub last: Option<crate::Time>,
    pub what_to_do: String,
}
