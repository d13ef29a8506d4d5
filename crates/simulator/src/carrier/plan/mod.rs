//! Decides what to do with the next submit or bind: the script, and how many submits each of its rules has seen. The same
//! script, seed and submits give the same decisions; neither clock nor socket is used.

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
use super::script::{CrashLoop, MoReply, Script, SubmitAction, TimeRange};
use super::submit_filter::SubmitContent;

/// The parts of a submit that a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct SubmitView<'a> {
    /// Digits as received.
    pub destination: &'a [u8],
    pub data_coding: u8,
    /// The text without its user data header.
    pub text: &'a [u8],
    pub registered_delivery: u8,
    /// Submits of this link without a response, this one included.
    pub unanswered: u32,
    /// Time since the carrier started.
    pub at: Duration,
    /// Whether the receipt queue is full.
    pub receipts_full: bool,
}

/// What the carrier does with one submit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub response: PlannedResponse,
    pub delay: Duration,
    pub quirk: ResponseQuirk,
    /// The message's receipts; none unless it was accepted and asked for some.
    pub receipts: Receipts,
    pub receipt_format: Arc<ReceiptFormat>,
    /// The recipient's reply; none unless the message was accepted.
    pub mo_reply: Option<MoReply>,
    /// The limit that this submit exceeded.
    pub excess: Option<Excess>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedResponse {
    /// Accepted under this id; `then` follows the response.
    Accept {
        id: u64,
        then: FollowUp,
    },
    Reject(CommandStatus),
    Nack(CommandStatus),
    /// No response; the message is forgotten.
    Ignore,
    /// No response; the message is forgotten and the connection is cut.
    Crash,
    /// Accepted under this id; `then` replaces the response.
    Withhold {
        id: u64,
        then: FollowUp,
    },
}

/// What happens on the link after a response, or instead of it.
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

/// A limit that a gateway exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    Window,
    Rate,
}

/// A script and its progress.
#[derive(Debug)]
pub struct ScriptPlan {
    script: Arc<Script>,
    /// When the script started, counted from the start of the carrier.
    script_start: Duration,
    ids: Arc<IdFormat>,
    progress: ScriptProgress,
    random: SeededRandom,
    next_id: u64,
    rate_window: RateWindow,
}

/// What has happened since the start of a script.
#[derive(Debug, Default)]
struct ScriptProgress {
    responses: RuleCounters,
    response_delay: RuleCounters,
    response_quirks: RuleCounters,
    receipts: RuleCounters,
    receipt_format: RuleCounters,
    replies: RuleCounters,
    binds: u64,
    cut_by_bytes: bool,
}

/// Ids that no submit is ever given: far beyond where counting starts.
const UNKNOWN_IDS_FROM: u64 = 9_000_000_000_000_000_000;

impl ScriptPlan {
    pub fn new(script: Script, seed: u64, first_id: u64) -> ScriptPlan {
        ScriptPlan {
            ids: Arc::new(script.ids.clone()),
            script: Arc::new(script),
            script_start: Duration::ZERO,
            progress: ScriptProgress::default(),
            random: SeededRandom(seed),
            next_id: first_id,
            rate_window: RateWindow::default(),
        }
    }

    /// Starts another script. Ids continue: they are unique for the life of the carrier.
    pub fn set_script(&mut self, script: Script, at: Duration) {
        self.ids = Arc::new(script.ids.clone());
        self.script = Arc::new(script);
        self.script_start = at;
        self.progress = ScriptProgress::default();
    }

    pub(super) fn script(&self) -> &Arc<Script> {
        &self.script
    }

    pub(super) fn ids(&self) -> &Arc<IdFormat> {
        &self.ids
    }

    /// Decides about the next submit.
    pub fn next(&mut self, submit: &SubmitView<'_>) -> Decision {
        let script = Arc::clone(&self.script);
        let content = SubmitContent {
            destination: submit.destination,
            data_coding: submit.data_coding,
            default_alphabet: script.default_alphabet,
            text: submit.text,
            script_time: submit.at.saturating_sub(self.script_start),
        };
        let random = &mut self.random;
        let mut delay = *self.progress.response_delay.pick(&script.response_delay, &content, random);
        if !script.response_spread.is_zero() {
            delay += random.between(Duration::ZERO, script.response_spread);
        }
        let overload = self.overload(submit);
        let response = match (self.crash(submit), overload) {
            (Some(crash), _) => crash,
            (None, Some((status, _))) => PlannedResponse::Reject(status),
            (None, None) => {
                let action = *self.progress.responses.pick(&script.responses, &content, &mut self.random);
                self.response(action)
            }
        };
        let random = &mut self.random;
        let quirk = *self.progress.response_quirks.pick(&script.response_quirks, &content, random);
        let receipt_format =
            Arc::clone(self.progress.receipt_format.pick(&script.receipt_format, &content, random));
        let (receipts, mo_reply) = match response {
            PlannedResponse::Accept { .. } | PlannedResponse::Withhold { .. } => {
                let receipts = self.progress.receipts.pick(&script.receipts, &content, random);
                let mo_reply = self.progress.replies.pick(&script.replies, &content, random);
                (requested_receipts(*receipts, submit.registered_delivery), mo_reply.clone())
            }
            PlannedResponse::Reject(_)
            | PlannedResponse::Nack(_)
            | PlannedResponse::Ignore
            | PlannedResponse::Crash => (Receipts::never(), None),
        };
        let excess = overload.and_then(|(_, excess)| excess);
        Decision { response, delay, quirk, receipts, receipt_format, mo_reply, excess }
    }

    fn response(&mut self, action: SubmitAction) -> PlannedResponse {
        match action {
            SubmitAction::Reject(status) => PlannedResponse::Reject(status),
            SubmitAction::Nack(status) => PlannedResponse::Nack(status),
            SubmitAction::Ignore => PlannedResponse::Ignore,
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

    fn accept(&mut self, then: FollowUp) -> PlannedResponse {
        PlannedResponse::Accept { id: self.next_id(), then }
    }

    fn withhold(&mut self, then: FollowUp) -> PlannedResponse {
        PlannedResponse::Withhold { id: self.next_id(), then }
    }

    /// Returns the response on a link of the crash loop.
    fn crash(&self, submit: &SubmitView<'_>) -> Option<PlannedResponse> {
        let CrashLoop { submits, .. } =
            self.script.crash_loop.filter(|crash| self.progress.binds <= crash.binds)?;
        Some(if submit.unanswered >= submits { PlannedResponse::Crash } else { PlannedResponse::Ignore })
    }

    /// Returns the rejection if the submit exceeds a limit.
    fn overload(&mut self, submit: &SubmitView<'_>) -> Option<(CommandStatus, Option<Excess>)> {
        let Script { window_max, rate_max, .. } = &*self.script;
        if window_max.is_some_and(|max| submit.unanswered > max) {
            return Some((CommandStatus::THROTTLED, Some(Excess::Window)));
        }
        if rate_max.is_some_and(|max| !self.rate_window.admits(submit.at, max)) {
            return Some((CommandStatus::THROTTLED, Some(Excess::Rate)));
        }
        let wants_receipt = submit.registered_delivery & ANY_RECEIPT != 0;
        (submit.receipts_full && wants_receipt).then_some((CommandStatus::MSGQFUL, None))
    }

    /// Returns an id that was not used before.
    pub(super) fn next_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// Returns an id that no submit was or will be given.
    pub fn unknown_id(&mut self) -> u64 {
        UNKNOWN_IDS_FROM + self.random.next() % 1_000_000_000_000_000
    }

    /// How long a link that is lost without an unbind counts as bound.
    pub(super) fn already_bound_for(&self) -> Duration {
        self.script.already_bound_for.unwrap_or_default()
    }

    /// Decides about a bind; `others` counts the links that its system_id already has.
    pub fn bind(
        &mut self,
        system_id: &[u8],
        password: &[u8],
        others: BindCount,
    ) -> Result<(), CommandStatus> {
        self.progress.binds += 1;
        let Script { reject_binds, credentials, binds_max, .. } = &*self.script;
        if let Some(rejected) = reject_binds
            && self.progress.binds <= rejected.first
        {
            return Err(rejected.status);
        }
        if let Some(valid) = credentials
            && (valid.system_id.as_bytes() != system_id || valid.password.as_bytes() != password)
        {
            return Err(CommandStatus::INVPASWD);
        }
        match binds_max {
            Some(max) if others.bound + others.lingering >= *max => Err(CommandStatus::ALYBND),
            None if others.lingering > 0 => Err(CommandStatus::ALYBND),
            _ => Ok(()),
        }
    }

    /// How long a link that binds now lasts, if the script cuts it.
    pub(super) fn link_lifetime(&mut self) -> Option<Duration> {
        let TimeRange { from, to } = self.script.cut_links?;
        Some(self.random.between(from, to))
    }

    /// Returns whether the port is closed, and when that changes.
    pub(super) fn down(&self, at: Duration) -> (bool, Option<Duration>) {
        let Some(TimeRange { from, to }) = self.script.down else { return (false, None) };
        let [from, to] = [from, to].map(|time| self.script_start + time);
        let next = [from, to].into_iter().find(|time| *time > at);
        ((from..to).contains(&at), next)
    }

    /// Returns how many more octets a link that has been sent `bytes_out` gets before it is cut; none: no limit.
    pub(super) fn bytes_before_cut(&self, bytes_out: u64) -> Option<u64> {
        let limit = self.script.cut_after_bytes.filter(|_| !self.progress.cut_by_bytes)?;
        Some(limit.saturating_sub(bytes_out))
    }

    /// Notes that a link was cut by `cut_after_bytes`, which happens once.
    pub(super) fn note_cut_by_bytes(&mut self) {
        self.progress.cut_by_bytes = true;
    }
}

/// Bits of registered_delivery (SMPP v3.4 §5.2.17): 1 and 0 select final receipts, 4 asks for intermediate ones.
const FINAL_RECEIPTS: u8 = 0x03;
const ANY_RECEIPT: u8 = 0x13;

/// Returns the receipts that a registered_delivery asks for. Intermediate ones are sent for every value but 0, as many
/// carriers do.
fn requested_receipts(receipts: Receipts, registered_delivery: u8) -> Receipts {
    if registered_delivery & ANY_RECEIPT == 0 {
        return Receipts::never();
    }
    let outcome = receipts.outcome.filter(|outcome| {
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
