//! What to do with the next submit or bind. The script is the law, the plan counts who came before; given the same
//! script, seed and submits it decides the same, without a clock or a socket.

use std::sync::Arc;
use std::time::Duration;

use hermod_smpp::CommandStatus;

use super::bound_links::BindCount;
use super::ids::IdFormat;
use super::outcome::{Outcome, Receipts};
use super::rate_limit::RateWindow;
use super::receipt_format::ReceiptFormat;
use super::response_quirk::ResponseQuirk;
use super::rules::{RuleCounters, SeededRandom};
use super::script::{MoReply, Script, SubmitAction};
use super::submit_filter::SubmitContent;

/// A submit as the plan sees it.
#[derive(Debug, Clone, Copy)]
pub struct SubmitView<'a> {
    /// Digits as they came.
    pub destination: &'a [u8],
    pub data_coding: u8,
    /// The text without its user data header.
    pub text: &'a [u8],
    pub registered_delivery: u8,
    /// Submits of this link without an answer, this one included.
    pub unanswered: u32,
    /// Time since the carrier started.
    pub at: Duration,
    /// No receipt more can be kept for later.
    pub receipts_full: bool,
}

/// What the carrier does with one submit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub reply: Response,
    /// How late the reply is.
    pub delay: Duration,
    /// How the reply is written.
    pub quirk: ResponseQuirk,
    /// The receipts the message gets; none unless it was taken and asked for some.
    pub receipts: Receipts,
    /// How they are written.
    pub wording: Arc<ReceiptFormat>,
    /// What the handset sends back; none unless the message was taken.
    pub mo_reply: Option<Arc<MoReply>>,
    /// More came than the carrier said it takes.
    pub excess: Option<Excess>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response {
    /// Taken under this number; afterwards `then`.
    Accept {
        id: u64,
        then: FollowUp,
    },
    Reject(CommandStatus),
    Nack(CommandStatus),
    Silence,
    /// Never answered and forgotten, and the connection is cut.
    Crash,
    /// Taken under this number, and `then` instead of the answer.
    Withhold {
        id: u64,
        then: FollowUp,
    },
}

/// What follows an answer, or stands in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowUp {
    Nothing,
    Cut,
    Unbind,
    Garbage,
    BadLength(u32),
    Stall(Duration),
    Mute,
}

/// A limit that a gateway did not keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    Window,
    Rate,
}

/// A script and how far it has been played.
#[derive(Debug)]
pub struct Plan {
    script: Arc<Script>,
    /// When it began to play.
    since: Duration,
    ids: Arc<IdFormat>,
    answers: RuleCounters,
    delays: RuleCounters,
    quirks: RuleCounters,
    receipts: RuleCounters,
    wordings: RuleCounters,
    replies: RuleCounters,
    binds: u64,
    cut_by_bytes: bool,
    chance: SeededRandom,
    next_id: u64,
    rate_window: RateWindow,
}

/// Ids that no submit is ever given: far beyond where counting starts.
const UNKNOWN_IDS_FROM: u64 = 9_000_000_000_000_000_000;

impl Plan {
    pub fn new(script: Script, seed: u64, first_id: u64) -> Plan {
        let mut plan = Plan {
            ids: Arc::new(script.ids.clone()),
            script: Arc::new(Script::new()),
            since: Duration::ZERO,
            answers: RuleCounters::default(),
            delays: RuleCounters::default(),
            quirks: RuleCounters::default(),
            receipts: RuleCounters::default(),
            wordings: RuleCounters::default(),
            replies: RuleCounters::default(),
            binds: 0,
            cut_by_bytes: false,
            chance: SeededRandom(seed),
            next_id: first_id,
            rate_window: RateWindow::default(),
        };
        plan.set_script(script, Duration::ZERO);
        plan
    }

    /// Plays another script from its beginning. Ids go on counting: they are unique for the carrier's life.
    pub fn set_script(&mut self, script: Script, at: Duration) {
        self.ids = Arc::new(script.ids.clone());
        self.script = Arc::new(script);
        self.since = at;
        self.answers = RuleCounters::of(&self.script.answers);
        self.delays = RuleCounters::of(&self.script.delays);
        self.quirks = RuleCounters::of(&self.script.quirks);
        self.receipts = RuleCounters::of(&self.script.receipts);
        self.wordings = RuleCounters::of(&self.script.wordings);
        self.replies = RuleCounters::of(&self.script.replies);
        self.binds = 0;
        self.cut_by_bytes = false;
    }

    pub(super) fn script(&self) -> &Arc<Script> {
        &self.script
    }

    pub(super) fn ids(&self) -> &Arc<IdFormat> {
        &self.ids
    }

    /// Decides about the next submit.
    pub fn next(&mut self, seen: &SubmitView<'_>) -> Decision {
        let script = Arc::clone(&self.script);
        let content = SubmitContent {
            destination: seen.destination,
            data_coding: seen.data_coding,
            alphabet: script.alphabet,
            text: seen.text,
            played: seen.at.saturating_sub(self.since),
        };
        let mut delay = *self.delays.pick(&script.delays, &content, &mut self.chance);
        if !script.scatter.is_zero() {
            delay += self.chance.between(Duration::ZERO, script.scatter);
        }
        let overload = self.overload(seen);
        let reply = match (self.crash(seen), overload) {
            (Some(crash), _) => crash,
            (None, Some((status, _))) => Response::Reject(status),
            (None, None) => {
                let act = *self.answers.pick(&script.answers, &content, &mut self.chance);
                self.reply(act)
            }
        };
        let quirk = *self.quirks.pick(&script.quirks, &content, &mut self.chance);
        let wording = Arc::clone(self.wordings.pick(&script.wordings, &content, &mut self.chance));
        let (receipts, mo_reply) = match reply {
            Response::Accept { .. } | Response::Withhold { .. } => {
                let receipts = self.receipts.pick(&script.receipts, &content, &mut self.chance);
                let mo_reply = self.replies.pick(&script.replies, &content, &mut self.chance);
                (asked_for(*receipts, seen.registered_delivery), mo_reply.clone())
            }
            Response::Reject(_) | Response::Nack(_) | Response::Silence | Response::Crash => {
                (Receipts::never(), None)
            }
        };
        let excess = overload.and_then(|(_, excess)| excess);
        Decision { reply, delay, quirk, receipts, wording, mo_reply, excess }
    }

    fn reply(&mut self, act: SubmitAction) -> Response {
        match act {
            SubmitAction::Reject(status) => Response::Reject(status),
            SubmitAction::Nack(status) => Response::Nack(status),
            SubmitAction::Silence => Response::Silence,
            SubmitAction::Accept => self.accept(FollowUp::Nothing),
            SubmitAction::CutAfterResponse => self.accept(FollowUp::Cut),
            SubmitAction::Unbind => self.accept(FollowUp::Unbind),
            SubmitAction::Garbage => self.accept(FollowUp::Garbage),
            SubmitAction::BadLength(length) => self.accept(FollowUp::BadLength(length)),
            SubmitAction::Stall(time) => self.accept(FollowUp::Stall(time)),
            SubmitAction::Mute => self.accept(FollowUp::Mute),
            SubmitAction::LoseResponse => self.withhold(FollowUp::Nothing),
            SubmitAction::CutBeforeResponse => self.withhold(FollowUp::Cut),
            SubmitAction::UnbindBeforeResponse => self.withhold(FollowUp::Unbind),
            SubmitAction::MuteBeforeResponse => self.withhold(FollowUp::Mute),
        }
    }

    fn accept(&mut self, then: FollowUp) -> Response {
        Response::Accept { id: self.take_id(), then }
    }

    fn withhold(&mut self, then: FollowUp) -> Response {
        Response::Withhold { id: self.take_id(), then }
    }

    /// What a link that is to crash does with a submit.
    fn crash(&self, seen: &SubmitView<'_>) -> Option<Response> {
        let (_, submits) = self.script.crash_loop.filter(|(binds, _)| self.binds <= *binds)?;
        Some(if seen.unanswered >= submits { Response::Crash } else { Response::Silence })
    }

    /// Whether there is more traffic than the carrier tolerates.
    fn overload(&mut self, seen: &SubmitView<'_>) -> Option<(CommandStatus, Option<Excess>)> {
        let Script { window_max, rate_max, .. } = &*self.script;
        if window_max.is_some_and(|max| seen.unanswered > max) {
            return Some((CommandStatus::THROTTLED, Some(Excess::Window)));
        }
        if rate_max.is_some_and(|max| !self.rate_window.admits(seen.at, max)) {
            return Some((CommandStatus::THROTTLED, Some(Excess::Rate)));
        }
        let wants_receipt = seen.registered_delivery & ANY_RECEIPT != 0;
        (seen.receipts_full && wants_receipt).then_some((CommandStatus::MSGQFUL, None))
    }

    /// The next id; no submit is given it.
    pub(super) fn take_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// An id no submit was or will be given.
    pub fn unknown_id(&mut self) -> u64 {
        UNKNOWN_IDS_FROM + self.chance.next() % 1_000_000_000_000_000
    }

    /// How long a link that is lost without an unbind is still taken for bound.
    pub(super) fn linger(&self) -> Duration {
        self.script.already_bound_for.unwrap_or_default()
    }

    /// Decides about a bind; `company` are the links that its system_id has already.
    pub fn bind(
        &mut self,
        system_id: &[u8],
        password: &[u8],
        company: BindCount,
    ) -> Result<(), CommandStatus> {
        self.binds += 1;
        let Script { reject_binds, credentials, binds_max, .. } = &*self.script;
        if let Some((count, status)) = reject_binds
            && self.binds <= *count
        {
            return Err(*status);
        }
        if let Some((id, word)) = credentials
            && (id.as_bytes() != system_id || word.as_bytes() != password)
        {
            return Err(CommandStatus::INVPASWD);
        }
        match binds_max {
            Some((max, status)) if company.bound + company.lingering >= *max => Err(*status),
            None if company.lingering > 0 => Err(CommandStatus::ALYBND),
            _ => Ok(()),
        }
    }

    /// How long a link that binds now may last.
    pub(super) fn lifetime(&mut self) -> Option<Duration> {
        let (least, most) = self.script.cut_links?;
        Some(self.chance.between(least, most))
    }

    /// Whether the door is closed, and when that changes.
    pub(super) fn down(&self, at: Duration) -> (bool, Option<Duration>) {
        let Some((from, to)) = self.script.down else { return (false, None) };
        let [from, to] = [from, to].map(|time| self.since + time);
        let next = [from, to].into_iter().find(|time| *time > at);
        ((from..to).contains(&at), next)
    }

    /// How many more octets a link that has been sent `bytes_out` may be sent before it is cut; none: no limit.
    pub(super) fn bytes_before_cut(&self, bytes_out: u64) -> Option<u64> {
        let limit = self.script.cut_after_bytes.filter(|_| !self.cut_by_bytes)?;
        Some(limit.saturating_sub(bytes_out))
    }

    /// A link was cut for its octets; it happens once.
    pub(super) fn note_cut_by_bytes(&mut self) {
        self.cut_by_bytes = true;
    }
}

/// Bits of registered_delivery: 1 and 0 choose among final receipts, 4 asks for intermediate ones.
const FINAL_RECEIPTS: u8 = 0x03;
const ANY_RECEIPT: u8 = 0x13;

/// What of `receipts` a registered_delivery asks for. Intermediate ones go to all who asked for any, as with many
/// real carriers.
fn asked_for(receipts: Receipts, registered_delivery: u8) -> Receipts {
    if registered_delivery & ANY_RECEIPT == 0 {
        return Receipts::never();
    }
    let outcome = receipts.outcome.filter(|(_, outcome)| {
        let delivered = *outcome == Outcome::Delivered;
        match registered_delivery & FINAL_RECEIPTS {
            0 => !outcome.is_final(),
            1 => true,
            2 => !delivered,
            _ => delivered,
        }
    });
    Receipts { outcome, ..receipts }
}

#[cfg(test)]
mod tests;
