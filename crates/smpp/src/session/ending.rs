//! How a session ends: by our unbind, by the peer's, or at once. Open work is finished first, within its
//! time; whatever is still unanswered at the end is reported as lost.

use super::{CloseReason, Event, Moment, Session, Stage, gate::Role};
use crate::{CommandId, CommandStatus, Header, next_frame};

/// A session on its way out.
#[derive(Clone, Copy)]
pub(super) struct Drain {
    phase: Phase,
    pub(super) until: Moment,
    reason: CloseReason,
}

#[derive(Clone, Copy)]
enum Phase {
    /// Client: waiting for open answers before it says `unbind`, because many servers drop them after.
    Settling,
    /// We said `unbind` under this sequence.
    Unbinding { sequence: u32, answered: bool },
    /// The peer said `unbind` under this sequence.
    ByPeer { sequence: u32, answered: bool },
}

impl Drain {
    pub(super) const fn is_by_peer(&self) -> bool {
        matches!(self.phase, Phase::ByPeer { .. })
    }
}

impl<T> Session<T> {
    /// Ends the session in good order. A client waits for open answers first; a server says it at once
    /// and keeps answering.
    pub fn unbind(&mut self, now: Moment) {
        let now = self.told(now);
        self.end(CloseReason::Unbound, now);
    }

    /// The connection broke, or the peer closed it. Answers that had come before are still taken.
    pub fn connection_lost(&mut self, now: Moment) {
        let now = self.told(now);
        self.settle_rest(now);
        let reason = match self.stage {
            Stage::Draining(drain) => drain.reason,
            _ => CloseReason::ConnectionLost,
        };
        self.close(reason);
    }

    /// Requests left in the input cannot be answered any more, but every answer among them is one message
    /// less in doubt.
    fn settle_rest(&mut self, now: Moment) {
        while let Ok(Some(frame)) = next_frame(&mut self.input, self.limits.pdu_bytes_max) {
            if frame.header.command.is_answer() {
                self.on_frame(frame, now);
            }
        }
    }

    /// Unbinds if there is a bind to give up, else closes at once.
    pub(super) fn end(&mut self, reason: CloseReason, now: Moment) {
        match self.stage {
            Stage::Bound(_) if self.role == Role::Client && self.window.live() > 0 => {
                let until = now.plus_ms(self.limits.drain_ms);
                self.stage = Stage::Draining(Drain { phase: Phase::Settling, until, reason });
            }
            Stage::Bound(_) => self.say_unbind(reason, now),
            Stage::Open | Stage::Binding(..) => self.close(reason),
            Stage::Draining(_) | Stage::Closed => {}
        }
    }

    fn say_unbind(&mut self, reason: CloseReason, now: Moment) {
        let sequence = self.take_sequence();
        self.send_header(CommandId::UNBIND, CommandStatus::OK, sequence);
        let phase = Phase::Unbinding { sequence, answered: false };
        let until = now.plus_ms(self.limits.drain_ms);
        self.stage = Stage::Draining(Drain { phase, until, reason });
    }

    pub(super) fn on_unbind(&mut self, sequence: u32, now: Moment) {
        let phase = Phase::ByPeer { sequence, answered: false };
        let until = now.plus_ms(self.limits.drain_ms);
        self.stage = Stage::Draining(Drain { phase, until, reason: CloseReason::PeerUnbound });
        self.events.push_back(Event::PeerUnbound);
        self.advance_drain(now);
    }

    /// Both sides unbind. If ours was not said yet, the peer's rules.
    pub(super) fn on_unbind_again(&mut self, sequence: u32, now: Moment) {
        match self.stage {
            Stage::Draining(Drain { phase: Phase::Settling, .. }) => self.on_unbind(sequence, now),
            _ => self.send_header(CommandId::UNBIND_RESP, CommandStatus::OK, sequence),
        }
    }

    /// Any answer to our `unbind` will do; a refusal would not keep us either.
    pub(super) fn on_unbind_answer(&mut self, answer: Header, now: Moment) {
        match &mut self.stage {
            Stage::Draining(Drain { phase: Phase::Unbinding { sequence, answered }, .. })
                if *sequence == answer.sequence =>
            {
                *answered = true;
                self.advance_drain(now);
            }
            _ => self.counters.unmatched_answers = self.counters.unmatched_answers.saturating_add(1),
        }
    }

    /// Goes as far toward the end as open work allows.
    pub(super) fn advance_drain(&mut self, now: Moment) {
        let Stage::Draining(drain) = self.stage else { return };
        let is_idle = self.open.is_empty();
        match drain.phase {
            Phase::Settling if self.window.live() == 0 => self.say_unbind(drain.reason, now),
            Phase::Unbinding { answered: true, .. } if is_idle => self.close(drain.reason),
            Phase::ByPeer { sequence, answered: false } if is_idle => {
                self.answer_unbind(drain, sequence);
                self.advance_drain(now);
            }
            // A server stops reading after the peer's unbind, so no answer can come any more.
            Phase::ByPeer { answered: true, .. }
                if is_idle && (self.role == Role::Server || self.window.live() == 0) =>
            {
                self.close(drain.reason);
            }
            Phase::Settling | Phase::Unbinding { .. } | Phase::ByPeer { .. } => {}
        }
    }

    /// Time is up: do without what is still open.
    pub(super) fn on_drain_deadline(&mut self, drain: Drain, now: Moment) {
        match drain.phase {
            Phase::Settling => self.say_unbind(drain.reason, now),
            Phase::Unbinding { answered: false, .. } if drain.reason == CloseReason::Unbound => {
                self.close(CloseReason::UnbindTimeout);
            }
            Phase::Unbinding { .. } => self.close(drain.reason),
            Phase::ByPeer { sequence, answered } => {
                if !answered {
                    self.answer_unbind(drain, sequence);
                }
                self.close(drain.reason);
            }
        }
    }

    fn answer_unbind(&mut self, drain: Drain, sequence: u32) {
        self.send_header(CommandId::UNBIND_RESP, CommandStatus::OK, sequence);
        self.stage = Stage::Draining(Drain { phase: Phase::ByPeer { sequence, answered: true }, ..drain });
    }

    pub(super) fn close(&mut self, reason: CloseReason) {
        if matches!(self.stage, Stage::Closed) {
            return;
        }
        self.stage = Stage::Closed;
        self.open.clear();
        self.input.clear();
        self.overdue.clear();
        let lost = self.window.take_all();
        if !lost.is_empty() {
            self.events.push_back(Event::Lost(lost));
        }
        self.events.push_back(Event::Closed(reason));
    }
}
