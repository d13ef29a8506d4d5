//! What a carrier does, as data: how it answers, when it sends receipts, how it treats binds and the wire. A script
//! is written with verbs that read like a sentence and can be swapped while the carrier runs.
//!
//! Rules are asked in the order they were written and the first that applies decides. Each rule counts only the
//! submits that reach it, so `throttle(2).refuse_first(1, status)` throttles two, refuses the third, and then takes
//! everything.

use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::ids::{IdFormat, IdStyle};
use super::outcome::{Outcome, Receipts};
use super::when::When;

/// How a submit is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Take it and answer with an id.
    Accept,
    Refuse(CommandStatus),
    /// Never answer. The carrier forgets it: no id, no receipt.
    Silence,
    /// Take it, then cut the connection before the answer is out. Its receipt comes after the next bind.
    CutBeforeAnswer,
    /// Take it, answer, then cut the connection.
    CutAfterAnswer,
    /// Take it, answer, then unbind.
    Unbind,
    /// Take it, answer, then send octets that are no PDU.
    Garbage,
}

/// How octets leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// All that is ready in one write.
    Plain,
    /// One octet in each write.
    Trickle,
    /// Everything is held back this long, so that many PDUs share one write.
    Coalesce(Duration),
}

/// A list of rules and what applies when none of them does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules<T> {
    pub(super) list: Vec<(When, T)>,
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
    pub(super) answers: Rules<Act>,
    pub(super) delays: Rules<Duration>,
    pub(super) receipts: Rules<Receipts>,
    pub(super) ids: IdFormat,
    pub(super) refuse_binds: Option<(u64, CommandStatus)>,
    pub(super) credentials: Option<(String, String)>,
    pub(super) wire: Wire,
    pub(super) cut_after_bytes: Option<u64>,
    pub(super) answer_enquire_links: bool,
    pub(super) window_max: Option<u32>,
    pub(super) per_second_max: Option<u32>,
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
            answers: Rules::otherwise(Act::Accept),
            delays: Rules::otherwise(Duration::ZERO),
            receipts: Rules::otherwise(Receipts::after(Duration::ZERO, Outcome::Delivered)),
            ids: IdFormat::new(IdStyle::Decimal),
            refuse_binds: None,
            credentials: None,
            wire: Wire::Plain,
            cut_after_bytes: None,
            answer_enquire_links: true,
            window_max: None,
            per_second_max: None,
        }
    }

    /// Any act for any submits; the verbs below are shorthand for this one.
    #[must_use]
    pub fn act(mut self, when: When, act: Act) -> Script {
        self.answers.list.push((when, act));
        self
    }

    /// The first `count` are refused with 0x58.
    #[must_use]
    pub fn throttle(self, count: u64) -> Script {
        self.act(When::first(count), Act::Refuse(CommandStatus::THROTTLED))
    }

    #[must_use]
    pub fn throttle_every(self, k: u64) -> Script {
        self.act(When::every(k), Act::Refuse(CommandStatus::THROTTLED))
    }

    /// The first `count` are refused.
    #[must_use]
    pub fn refuse_first(self, count: u64, status: CommandStatus) -> Script {
        self.act(When::first(count), Act::Refuse(status))
    }

    #[must_use]
    pub fn refuse_when(self, when: When, status: CommandStatus) -> Script {
        self.act(when, Act::Refuse(status))
    }

    /// The first `count` are never answered.
    #[must_use]
    pub fn silent(self, count: u64) -> Script {
        self.act(When::first(count), Act::Silence)
    }

    #[must_use]
    pub fn silent_every(self, k: u64) -> Script {
        self.act(When::every(k), Act::Silence)
    }

    /// The `n`-th submit is taken and the connection cut before its answer. Once.
    #[must_use]
    pub fn cut_before_answer(self, n: u64) -> Script {
        self.act(When::nth(n), Act::CutBeforeAnswer)
    }

    /// The connection is cut after the answer to the `n`-th submit. Once.
    #[must_use]
    pub fn cut_after(self, n: u64) -> Script {
        self.act(When::nth(n), Act::CutAfterAnswer)
    }

    /// The carrier unbinds after the answer to the `n`-th submit. Once.
    #[must_use]
    pub fn unbind_after(self, n: u64) -> Script {
        self.act(When::nth(n), Act::Unbind)
    }

    /// Octets that are no PDU follow the answer to the `n`-th submit. Once.
    #[must_use]
    pub fn garbage_after(self, n: u64) -> Script {
        self.act(When::nth(n), Act::Garbage)
    }

    /// A link that has been sent this many octets is cut, be it in the middle of a PDU. Once.
    #[must_use]
    pub fn cut_after_bytes(mut self, bytes: u64) -> Script {
        self.cut_after_bytes = Some(bytes);
        self
    }

    /// Every answer, refusals included, comes this late.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Script {
        self.delays.otherwise = delay;
        self
    }

    #[must_use]
    pub fn delay_when(mut self, when: When, delay: Duration) -> Script {
        self.delays.list.push((when, delay));
        self
    }

    /// The receipts of every taken message for which no `receipts_when` speaks.
    #[must_use]
    pub fn receipts(mut self, receipts: Receipts) -> Script {
        self.receipts.otherwise = receipts;
        self
    }

    #[must_use]
    pub fn receipts_when(mut self, when: When, receipts: Receipts) -> Script {
        self.receipts.list.push((when, receipts));
        self
    }

    #[must_use]
    pub fn receipt_after(mut self, delay: Duration, outcome: Outcome) -> Script {
        self.receipts.otherwise.outcome = Some((delay, outcome));
        self
    }

    /// The receipt overtakes the answer.
    #[must_use]
    pub fn receipt_first(mut self, outcome: Outcome) -> Script {
        self.receipts.otherwise.outcome = Some((Duration::ZERO, outcome));
        self.receipts.otherwise.before_answer = true;
        self
    }

    #[must_use]
    pub fn receipt_twice(mut self) -> Script {
        self.receipts.otherwise.copies = 2;
        self
    }

    #[must_use]
    pub fn receipt_never(mut self) -> Script {
        self.receipts.otherwise = Receipts::never();
        self
    }

    /// Receipts carry an id that was never given.
    #[must_use]
    pub fn receipt_unknown_id(mut self) -> Script {
        self.receipts.otherwise.unknown_id = true;
        self
    }

    /// An ENROUTE comes before the last word.
    #[must_use]
    pub fn enroute_after(mut self, delay: Duration) -> Script {
        self.receipts.otherwise.enroute_after = Some(delay);
        self
    }

    #[must_use]
    pub fn ids(mut self, ids: IdFormat) -> Script {
        self.ids = ids;
        self
    }

    /// The first `count` binds are refused.
    #[must_use]
    pub fn refuse_binds(mut self, count: u64, status: CommandStatus) -> Script {
        self.refuse_binds = Some((count, status));
        self
    }

    /// Only this system_id and password may bind; others get 0x0E.
    #[must_use]
    pub fn credentials(mut self, system_id: &str, password: &str) -> Script {
        self.credentials = Some((system_id.to_owned(), password.to_owned()));
        self
    }

    #[must_use]
    pub fn trickle(mut self) -> Script {
        self.wire = Wire::Trickle;
        self
    }

    #[must_use]
    pub fn coalesce(mut self, hold: Duration) -> Script {
        self.wire = Wire::Coalesce(hold);
        self
    }

    /// Dead, but the connection stays open: enquire_link gets no answer.
    #[must_use]
    pub fn ignore_enquire_links(mut self) -> Script {
        self.answer_enquire_links = false;
        self
    }

    /// More unanswered submits than this on one link are throttled.
    #[must_use]
    pub fn window_max(mut self, submits: u32) -> Script {
        self.window_max = Some(submits);
        self
    }

    /// More submits than this in any one second (counted from the start) are throttled.
    #[must_use]
    pub fn per_second_max(mut self, submits: u32) -> Script {
        self.per_second_max = Some(submits);
        self
    }
}
