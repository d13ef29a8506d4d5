//! SMPP: what to configure in the client, and the binds.

use crate::elements::{Chip, Fact, Notice};
use crate::forms::{Field, Select};
use crate::layout::Shell;
use crate::time::Time;
use askama::Template;

/// `GET /accounts/{account}/smpp`. Rotating a password posts `overlap` to `smpp/{connection}/rotate`, the allow-list `allow_list`
/// to `smpp/{connection}/allow-list`.
#[derive(Clone, Debug, Template)]
#[template(path = "smpp.html")]
pub struct SmppPage {
    pub shell: Shell,
    /// One for each SMPP connection.
    pub cards: Vec<BindCard>,
    pub binds: Vec<BindRow>,
    pub rejected: Vec<RejectedBind>,
    /// Whether the role may rotate passwords.
    pub can_change: bool,
}

/// What a client needs to bind to one connection.
#[derive(Clone, Debug, Default)]
pub struct BindCard {
    pub connection: String,
    pub system_id: String,
    /// Host, ports, system_type, version, window, throughput and so on.
    pub facts: Vec<Fact>,
    /// Plain binds, or transmitters without a DLR webhook.
    pub warnings: Vec<Notice>,
    /// The connection's allow-list, one network for each line.
    pub allow_list: Field,
    /// How long the old password stays valid.
    pub overlap: Select,
    /// The old password of a running rotation is valid until then.
    pub old_password_until: Option<Time>,
}

/// A live bind.
#[derive(Clone, Debug)]
pub struct BindRow {
    pub number: u64,
    pub system_id: String,
    /// `transmitter`, `receiver` or `transceiver`.
    pub kind: String,
    pub address: String,
    /// `TLS` or `plain`.
    pub transport: Chip,
    pub since: Time,
    /// Such as `3 of 10`.
    pub window: String,
    /// Submits per second.
    pub rate: String,
    /// Submits and rejected ones, such as `12,408 (31 rejected)`.
    pub submits: String,
    /// DLRs that wait for an acknowledgement.
    pub waiting: String,
    pub last_error: Option<String>,
}

/// A bind that was rejected.
#[derive(Clone, Debug)]
pub struct RejectedBind {
    pub at: Time,
    pub system_id: String,
    pub address: String,
    /// Such as `0x0D ESME_RBINDFAIL`.
    pub status: String,
    /// Why, and what to do.
    pub reason: String,
}

/// The answer to rotating a password: the only page with it.
#[derive(Clone, Debug, Template)]
#[template(path = "smpp_password.html")]
pub struct SmppPasswordPage {
    pub shell: Shell,
    pub system_id: String,
    pub password: String,
    /// The old password is valid until then; `None` if it is not valid any more.
    pub old_password_until: Option<Time>,
}

/// `GET /accounts/{account}/smpp/{connection}/trace`. Posts to `trace/start` and `trace/stop`.
#[derive(Clone, Debug, Template)]
#[template(path = "smpp_trace.html")]
pub struct SmppTracePage {
    pub shell: Shell,
    pub connection: String,
    /// When the trace ends, if it runs.
    pub until: Option<Time>,
    /// The page is read again after this time.
    pub refresh_ms: Option<u32>,
    /// The newest first.
    pub lines: Vec<TracedLine>,
    /// How many lines are kept; more than are shown.
    pub kept: usize,
    /// How long a trace runs.
    pub minutes: u64,
    /// Whether the role may start and stop it.
    pub can_change: bool,
}

/// One PDU.
#[derive(Clone, Debug)]
pub struct TracedLine {
    pub at: Time,
    /// The number of the bind, and its node if there are several.
    pub bind: String,
    pub way: Chip,
    /// Such as `submit_sm`.
    pub command: String,
    /// Its fields.
    pub details: String,
}
