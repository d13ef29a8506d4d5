//! What a carrier does, as data: how it answers, when it sends receipts, how it treats binds and the wire. A script
//! is written with verbs that read like a sentence and can be swapped while the carrier runs.
//!
//! Rules are asked in the order they were written and the first that applies decides. Each rule counts only the
//! submits that reach it, so `throttle(2).reject_first(1, status)` throttles two, refuses the third, and then takes
//! everything. Chance is a rule like any other: `rule(SubmitFilter::per_mille(5), SubmitAction::CutBeforeResponse)`.

mod links;
mod magic;
mod receipts;
mod replies;
mod responses;

use std::sync::Arc;
use std::time::Duration;

use hermod_smpp::CommandStatus;

pub use magic::{MAGIC_NUMBERS, MagicNumber};
pub use replies::MoReply;

use super::ids::{IdFormat, IdStyle};
use super::outcome::{Outcome, Receipts};
use super::receipt_format::ReceiptFormat;
use super::response_quirk::ResponseQuirk;
use super::submit_filter::SubmitFilter;
use super::text::Alphabet;

/// How a submit is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubmitAction {
    /// Take it and answer with an id.
    Accept,
    Reject(CommandStatus),
    /// SubmitResponse with a generic_nack.
    Nack(CommandStatus),
    /// Never answer. The carrier forgets it: no id, no receipt.
    Silence,
    /// Take it and lose the answer: an id, a receipt, but never a word.
    LoseResponse,
    /// Take it, then cut the connection before the answer is out. Its receipt comes after the next bind.
    CutBeforeResponse,
    /// Take it, answer, then cut the connection.
    CutAfterResponse,
    /// Take it, answer, then unbind.
    Unbind,
    /// Take it and unbind instead of answering.
    UnbindBeforeResponse,
    /// Take it, answer, then send octets that are no PDU.
    Garbage,
    /// Take it, answer, then send a PDU that claims this length.
    BadLength(u32),
    /// Take it, answer, then neither read nor write on this link for so long.
    Stall(Duration),
    /// Take it, answer, and from then on read everything on this link without a word: half open.
    Mute,
    /// Take it, and from then on read everything on this link without a word, the answer included.
    MuteBeforeResponse,
}

/// How octets leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// All that is ready in one write.
    Plain,
    /// One octet in each write.
    Trickle,
    /// Everything is held back this long, so that many PDUs share one write.
    Coalesce(Duration),
}

/// How much of a link the carrier plays dead on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silence {
    Speaks,
    /// Links that bind fall mute.
    MuteAfterBind,
    /// Nobody gets a word, on links that are bound already neither.
    Mute,
}

/// A list of rules and what applies when none of them does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules<T> {
    pub(super) list: Vec<(SubmitFilter, T)>,
    pub(super) otherwise: T,
}

impl<T> Rules<T> {
    fn otherwise(otherwise: T) -> Rules<T> {
        Rules { list: Vec::new(), otherwise }
    }
}

/// The whole of a carrier's behaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    pub(super) answers: Rules<SubmitAction>,
    pub(super) delays: Rules<Duration>,
    pub(super) quirks: Rules<ResponseQuirk>,
    pub(super) receipts: Rules<Receipts>,
    pub(super) wordings: Rules<Arc<ReceiptFormat>>,
    /// What the handset of a taken message sends back.
    pub(super) replies: Rules<Option<Arc<MoReply>>>,
    /// Where it sends that if the message came from a name.
    pub(super) reply_number_for_names: Option<String>,
    pub(super) ids: IdFormat,
    /// Answers come later by a random time up to this.
    pub(super) scatter: Duration,
    pub(super) alphabet: Alphabet,
    pub(super) reject_binds: Option<(u64, CommandStatus)>,
    pub(super) credentials: Option<(String, String)>,
    pub(super) binds_max: Option<(usize, CommandStatus)>,
    /// Links lost without an unbind count as bound for so long.
    pub(super) already_bound_for: Option<Duration>,
    pub(super) write_mode: WriteMode,
    pub(super) voice: Silence,
    pub(super) hang_up: bool,
    pub(super) cut_after_bytes: Option<u64>,
    /// So many binds end in a crash, each after so many unanswered submits.
    pub(super) crash_loop: Option<(u64, u32)>,
    /// Links are cut after a random time between these.
    pub(super) cut_links: Option<(Duration, Duration)>,
    /// The door is closed from the first of these times to the second.
    pub(super) down: Option<(Duration, Duration)>,
    pub(super) answer_enquire_links: bool,
    pub(super) answer_unbinds: bool,
    pub(super) window_max: Option<u32>,
    pub(super) rate_max: Option<u32>,
}

impl Default for Script {
    fn default() -> Self {
        Script::new()
    }
}

impl Script {
    /// The easy carrier: everyone may bind, everything is taken at once and delivered at once, ids are decimal.
    pub fn new() -> Script {
        Script {
            answers: Rules::otherwise(SubmitAction::Accept),
            delays: Rules::otherwise(Duration::ZERO),
            quirks: Rules::otherwise(ResponseQuirk::Plain),
            receipts: Rules::otherwise(Receipts::after(Duration::ZERO, Outcome::Delivered)),
            wordings: Rules::otherwise(Arc::new(ReceiptFormat::standard())),
            replies: Rules::otherwise(None),
            reply_number_for_names: None,
            ids: IdFormat::new(IdStyle::Decimal),
            scatter: Duration::ZERO,
            alphabet: Alphabet::Gsm,
            reject_binds: None,
            credentials: None,
            binds_max: None,
            already_bound_for: None,
            write_mode: WriteMode::Plain,
            voice: Silence::Speaks,
            hang_up: false,
            cut_after_bytes: None,
            crash_loop: None,
            cut_links: None,
            down: None,
            answer_enquire_links: true,
            answer_unbinds: true,
            window_max: None,
            rate_max: None,
        }
    }
}
