//! Senders and numbers.

use crate::elements::Chip;
use crate::forms::Select;
use crate::layout::Shell;
use askama::Template;

/// `GET /accounts/{account}/senders`. Posts to `senders/default` (`connection`, `sender`). New ones are requested at
/// `requests?kind=sender`.
#[derive(Clone, Debug, Template)]
#[template(path = "senders.html")]
pub struct SendersPage {
    pub shell: Shell,
    pub rows: Vec<SenderRow>,
    /// One for each connection: its approved senders with the default chosen.
    pub defaults: Vec<DefaultSender>,
    /// Where a new sender is requested; `None` if the role may not, or where that page does not exist.
    pub request: Option<String>,
    pub can_change: bool,
}

/// A sender of the account.
#[derive(Clone, Debug)]
pub struct SenderRow {
    pub sender: String,
    /// `alphanumeric`, `number` or `short code`.
    pub kind: String,
    /// Approved, requested or blocked.
    pub state: Chip,
    /// Why it has this status; empty if nobody said.
    pub reason: String,
    /// Messages of the last 30 days; `None` if nothing is counted.
    pub messages: Option<String>,
    /// Whether recipients can reply.
    pub can_receive: bool,
}

/// The default sender of one connection.
#[derive(Clone, Debug, Default)]
pub struct DefaultSender {
    pub connection: String,
    pub senders: Select,
}
