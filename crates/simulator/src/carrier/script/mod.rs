//! A carrier script: how the simulated carrier responds to submits, when it sends receipts, and how it treats binds and
//! connections. Tests build a script with the methods of [`Script`]; `hermod-sim carrier --script FILE` reads one from
//! TOML (`file.rs`). A running carrier can be given another script.
//!
//! Rules are checked in order and the first that matches decides. A rule counts only the submits that reach it:
//! `throttle(2).reject_first(1, status)` throttles two submits, rejects the third and accepts the rest.

mod file;
mod links;
mod magic;
mod receipts;
mod responses;

use crate::duration::{deserialize_duration, deserialize_some_duration};
use std::sync::Arc;
use std::time::Duration;

use hermod_smpp::CommandStatus;
use serde::Deserialize;

pub use magic::{MAGIC_NUMBERS, MagicNumber};
pub use receipts::MoReply;

use super::ids::IdFormat;
use super::outcome::Receipts;
use super::receipt_format::{ReceiptFormat, UnlessOff};
use super::response_quirk::ResponseQuirk;
use super::submit_filter::SubmitFilter;
use super::text::CodingZeroAlphabet;

/// What the carrier does with a submit_sm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubmitAction {
    /// Accepts the message and responds with an id.
    #[default]
    Accept,
    Reject(#[serde(deserialize_with = "file::status")] CommandStatus),
    /// Responds with a generic_nack.
    Nack(#[serde(deserialize_with = "file::status")] CommandStatus),
    /// Sends no response and forgets the message: no id, no receipt.
    Ignore,
    /// Accepts the message, sends its receipt, but no response.
    LoseResponse,
    /// Accepts the message and cuts the connection before the response. The receipt follows on the next bind.
    CutBeforeResponse,
    /// Accepts, responds, then cuts the connection.
    CutAfterResponse,
    /// Accepts, responds, then unbinds.
    Unbind,
    /// Accepts the message and unbinds instead of responding.
    UnbindBeforeResponse,
    /// Accepts, responds, then sends octets that are not a PDU.
    Garbage,
    /// Accepts, responds, then sends a PDU header with this command_length.
    BadLength(u32),
    /// Accepts, responds, then neither reads nor writes on this link for this long.
    Stall(#[serde(deserialize_with = "deserialize_duration")] Duration),
    /// Accepts, responds, then reads this link but never writes to it again (half open).
    Mute,
    /// As `Mute`, without the response.
    MuteBeforeResponse,
}

/// How output is split into writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteMode {
    /// Everything that is ready in one write.
    #[default]
    Plain,
    /// One octet per write.
    Trickle,
    /// Output is held back this long, so that several PDUs share one write.
    Coalesce(#[serde(deserialize_with = "deserialize_duration")] Duration),
}

/// Which links are read but never written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MutedLinks {
    #[default]
    None,
    /// Each link once its bind was accepted.
    AfterBind,
    /// All links, including those already bound; binds get no response.
    All,
}

/// The only system_id and password that may bind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BindCredentials {
    pub(super) system_id: String,
    pub(super) password: String,
}

/// Rejects the first binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RejectedBinds {
    pub(super) first: u64,
    #[serde(deserialize_with = "file::status")]
    pub(super) status: CommandStatus,
}

/// Cuts each of the first `binds` links at its submit number `submits`, without having responded to any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CrashLoop {
    pub(super) binds: u64,
    pub(super) submits: u32,
}

/// A range of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimeRange {
    #[serde(deserialize_with = "deserialize_duration")]
    pub(super) from: Duration,
    #[serde(deserialize_with = "deserialize_duration")]
    pub(super) to: Duration,
}

/// Rules for one aspect of a submit, and the value when no rule matches.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields, bound(deserialize = "T: Default + Deserialize<'de>"))]
pub(super) struct ScriptRules<T> {
    pub(super) rules: Vec<ScriptRule<T>>,
    pub(super) default: T,
}

/// Applies `then` to the submits that match `when`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptRule<T> {
    #[serde(default)]
    pub(super) when: SubmitFilter,
    pub(super) then: T,
}

impl<T> ScriptRules<T> {
    fn add(&mut self, when: SubmitFilter, then: T) {
        self.rules.push(ScriptRule { when, then });
    }

    fn map<U>(self, change: impl Fn(T) -> U) -> ScriptRules<U> {
        let rules =
            self.rules.into_iter().map(|ScriptRule { when, then }| ScriptRule { when, then: change(then) });
        ScriptRules { rules: rules.collect(), default: change(self.default) }
    }
}

/// The whole behaviour of a carrier. Fields are the keys of a script file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    pub(super) responses: ScriptRules<SubmitAction>,
    #[serde(deserialize_with = "file::times")]
    pub(super) response_delay: ScriptRules<Duration>,
    /// A random time up to this is added to every response delay.
    #[serde(deserialize_with = "deserialize_duration")]
    pub(super) response_spread: Duration,
    pub(super) response_quirks: ScriptRules<ResponseQuirk>,
    pub(super) receipts: ScriptRules<Receipts>,
    #[serde(deserialize_with = "file::receipt_formats")]
    pub(super) receipt_format: ScriptRules<Arc<ReceiptFormat>>,
    /// MO messages that recipients send back.
    pub(super) replies: ScriptRules<Option<MoReply>>,
    /// The destination of replies to messages with an alphanumeric sender.
    pub(super) reply_number_for_names: Option<String>,
    pub(super) ids: IdFormat,
    /// How data_coding 0 is decoded.
    pub(super) default_alphabet: CodingZeroAlphabet,
    pub(super) credentials: Option<BindCredentials>,
    pub(super) reject_binds: Option<RejectedBinds>,
    /// Binds of one system_id.
    pub(super) binds_max: Option<usize>,
    /// A link lost without an unbind counts as bound for this long.
    #[serde(deserialize_with = "deserialize_some_duration")]
    pub(super) already_bound_for: Option<Duration>,
    /// Submits without a response on one link.
    pub(super) window_max: Option<u32>,
    /// Submits per second over all links.
    pub(super) rate_max: Option<u32>,
    pub(super) write_mode: WriteMode,
    pub(super) muted_links: MutedLinks,
    /// Connections are closed as soon as they are accepted.
    pub(super) hang_up: bool,
    /// Octets sent on a link before it is cut, once.
    pub(super) cut_after_bytes: Option<u64>,
    pub(super) crash_loop: Option<CrashLoop>,
    /// Every link is cut at a random time after its bind.
    pub(super) cut_links: Option<TimeRange>,
    /// The listener is closed during this time, counted from the start of the script.
    pub(super) down: Option<TimeRange>,
    pub(super) answer_enquire_link: UnlessOff,
    pub(super) answer_unbind: UnlessOff,
}

impl Script {
    /// A carrier without faults: every bind and every message is accepted, receipts say DELIVRD at once, ids are decimal.
    pub fn new() -> Script {
        Script::default()
    }
}
