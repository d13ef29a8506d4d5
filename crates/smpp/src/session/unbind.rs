//! Ends a session: by our unbind, by the peer's, or at once. Outstanding requests are completed first, within a time
//! limit; those without a response at the end are reported as lost.

use super::{CloseReason, Moment, Session, SessionEvent, Stage, state_table::SessionRole};
use crate::{CommandId, CommandStatus, Header, next_frame};

/// The state of a session that is ending.
#[derive(Clone, Copy)]
pub(super) struct Drain {
    phase: Phase,
    /// When the phase ends.
    pub(super) until: Moment,
    /// Until when the peer's requests are answered.
    answer_until: Moment,
    reason: CloseReason,
}

#[derive(Clone, Copy)]
enum Phase {
    /// Client: waits for outstanding responses before it sends `unbind`, because many servers drop them afterwards.
    AwaitingResponses,
    /// We sent `unbind` with this sequence number.
    Unbinding { sequence: u32, is_answered: bool },
    /// We sent `unbind`, the time for its response is over, and requests of the peer are still answered.
    Answering,
    /// The peer sent `unbind` with this sequence number.
    ByPeer { sequence: u32, is_answered: bool },
}

impl Drain {
    pub(super) const fn is_by_peer(&self) -> bool {
        matches!(self.phase, Phase::ByPeer { .. })
    }
}

impl<T> Session<T> {
    /// Unbinds. A client waits for outstanding responses first; a server sends `unbind` at once and continues to
    /// respond.
    pub fn unbind(&mut self, now: Moment) {
        let now = self.advance_clock(now);
        self.end(CloseReason::Unbound, now);
    }

    /// Ends the session because the connection was lost. Responses received before are still processed.
    pub fn connection_lost(&mut self, now: Moment) {
        let now = self.advance_clock(now);
        self.process_remaining_responses(now);
        let reason = match self.stage {
            Stage::Draining(drain) => drain.reason,
            _ => CloseReason::ConnectionLost,
        };
        self.close(reason);
    }

    /// Processes the responses left in the input, because each resolves a part in doubt. Requests cannot be responded
    /// to any more.
    fn process_remaining_responses(&mut self, now: Moment) {
        while let Ok(Some(frame)) = next_frame(&mut self.input, self.limits.pdu_bytes_max) {
            if frame.header.command.is_response() {
                self.on_frame(frame, now);
            }
        }
    }

    /// Unbinds if bound, otherwise closes at once.
    pub(super) fn end(&mut self, reason: CloseReason, now: Moment) {
        match self.stage {
            Stage::Bound(_) if self.role == SessionRole::Client && self.window.used() > 0 => {
                self.drain(Phase::AwaitingResponses, reason, now);
            }
            Stage::Bound(_) => self.send_unbind(reason, now),
            Stage::Open | Stage::Binding(..) => self.close(reason),
            Stage::Draining(_) | Stage::Closed => {}
        }
    }

    fn send_unbind(&mut self, reason: CloseReason, now: Moment) {
        let sequence = self.take_sequence();
        self.send_header(CommandId::UNBIND, CommandStatus::OK, sequence);
        self.drain(Phase::Unbinding { sequence, is_answered: false }, reason, now);
    }

    fn drain(&mut self, phase: Phase, reason: CloseReason, now: Moment) {
        let (until, answer_until) = (now.plus_ms(self.limits.drain_ms), now.plus_ms(self.limits.answer_ms));
        self.stage = Stage::Draining(Drain { phase, until, answer_until, reason });
    }

    pub(super) fn on_unbind(&mut self, sequence: u32, now: Moment) {
        self.drain(Phase::ByPeer { sequence, is_answered: false }, CloseReason::PeerUnbound, now);
        self.events.push_back(SessionEvent::PeerUnbound);
        self.advance_drain(now);
    }

    /// Handles the peer's unbind while we unbind. If ours was not sent yet, the peer's takes precedence.
    pub(super) fn on_unbind_again(&mut self, sequence: u32, now: Moment) {
        match self.stage {
            Stage::Draining(Drain { phase: Phase::AwaitingResponses, .. }) => self.on_unbind(sequence, now),
            _ => self.send_header(CommandId::UNBIND_RESP, CommandStatus::OK, sequence),
        }
    }

    /// Handles the response to our `unbind`, with any status.
    pub(super) fn on_unbind_response(&mut self, response: Header, now: Moment) {
        match &mut self.stage {
            Stage::Draining(Drain { phase: Phase::Unbinding { sequence, is_answered }, .. })
                if *sequence == response.sequence =>
            {
                *is_answered = true;
                self.advance_drain(now);
            }
            _ => self.counters.unmatched_responses = self.counters.unmatched_responses.saturating_add(1),
        }
    }

    /// Proceeds with the unbind as far as outstanding requests allow.
    pub(super) fn advance_drain(&mut self, now: Moment) {
        let Stage::Draining(drain) = self.stage else { return };
        let is_idle = self.open.is_empty();
        match drain.phase {
            Phase::AwaitingResponses if self.window.used() == 0 => self.send_unbind(drain.reason, now),
            Phase::Unbinding { is_answered: true, .. } | Phase::Answering if is_idle => {
                self.close(drain.reason);
            }
            Phase::ByPeer { sequence, is_answered: false } if is_idle => {
                self.respond_unbind(drain, sequence);
                self.advance_drain(now);
            }
            // A server stops reading after the peer's unbind, so no response can arrive any more.
            Phase::ByPeer { is_answered: true, .. }
                if is_idle && (self.role == SessionRole::Server || self.window.used() == 0) =>
            {
                self.close(drain.reason);
            }
            Phase::AwaitingResponses | Phase::Unbinding { .. } | Phase::Answering | Phase::ByPeer { .. } => {}
        }
    }

    /// Ends the phase. The session ends with it, unless it still has to send its `unbind` or to answer the peer's requests.
    pub(super) fn on_drain_deadline(&mut self, mut drain: Drain, now: Moment) {
        if let Phase::Unbinding { is_answered: false, .. } = drain.phase
            && drain.reason == CloseReason::Unbound
        {
            drain.reason = CloseReason::UnbindTimeout;
        }
        let must_answer = !self.open.is_empty() && now < drain.answer_until;
        let until = drain.answer_until;
        match drain.phase {
            Phase::AwaitingResponses => self.send_unbind(drain.reason, now),
            Phase::Unbinding { .. } if must_answer => {
                self.stage = Stage::Draining(Drain { phase: Phase::Answering, until, ..drain });
            }
            Phase::ByPeer { .. } if must_answer => self.stage = Stage::Draining(Drain { until, ..drain }),
            Phase::Unbinding { .. } | Phase::Answering => self.close(drain.reason),
            Phase::ByPeer { sequence, is_answered } => {
                if !is_answered {
                    self.respond_unbind(drain, sequence);
                }
                self.close(drain.reason);
            }
        }
    }

    fn respond_unbind(&mut self, drain: Drain, sequence: u32) {
        self.send_header(CommandId::UNBIND_RESP, CommandStatus::OK, sequence);
        self.stage = Stage::Draining(Drain { phase: Phase::ByPeer { sequence, is_answered: true }, ..drain });
    }

    pub(super) fn close(&mut self, reason: CloseReason) {
        if matches!(self.stage, Stage::Closed) {
            return;
        }
        self.stage = Stage::Closed;
        self.open.clear();
        self.input.clear();
        self.timed_out.clear();
        let lost = self.window.take_all();
        if !lost.is_empty() {
            self.events.push_back(SessionEvent::Lost(lost));
        }
        self.events.push_back(SessionEvent::Closed(reason));
    }
}
