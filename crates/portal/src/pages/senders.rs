//! Senders and numbers.

use crate::elements::Chip;
use crate::forms::{Field, Select};
use crate::layout::Shell;
use askama::Template;

/// `GET /accounts/{account}/senders`. Posts to `senders/default` (`connection`, `sender`) and `requests` (`kind=sender`,
/// `sender`, `countries`, `use`).
#[derive(Clone, Debug, Template)]
#[template(path = "senders.html")]
pub struct Senders {
    pub shell: Shell,
    pub rows: Vec<SenderRow>,
    /// One for each connection: its approved senders with the default chosen.
    pub defaults: Vec<DefaultSender>,
    /// `None` if the role may not request senders.
    pub request: Option<SenderRequest>,
    pub can_change: bool,
}

/// A sender of the account.
#[derive(Clone, Debug)]
pub struct SenderRow {
    pub sender: String,
    /// `alphanumeric`, `number` or `short code`.
    pub kind: String,
    /// Approved, requested, declined or blocked.
    pub state: Chip,
    /// Why it was declined or blocked, or where it may be used.
    pub reason: String,
    /// Messages of the last 30 days.
    pub messages: String,
    /// Whether recipients can reply.
    pub can_receive: bool,
}

/// The default sender of one connection.
#[derive(Clone, Debug, Default)]
pub struct DefaultSender {
    pub connection: String,
    pub senders: Select,
}

/// The form that requests a sender.
#[derive(Clone, Debug, Default)]
pub struct SenderRequest {
    pub sender: Field,
    pub countries: Field,
    /// What it is used for; the operator and mobile operators ask.
    pub purpose: Field,
}
