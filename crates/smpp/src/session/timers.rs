//! Every timer of a session: when the next one is due, and what it does then. Timers that measure the
//! peer's silence stand still while we are the ones not reading.

use super::{CloseReason, Event, Moment, Session, Stage, gate::Role, window::Expired};
use crate::{CommandId, CommandStatus};

/// Our `enquire_link`s.
#[derive(Clone, Copy, Default)]
pub(super) struct Enquiry {
    /// The one we sent last, until it is answered.
    pub(super) sequence: Option<u32>,
    /// When it counts as missed. Any PDU in between proves life and clears it.
    pub(super) answer_by: Option<Moment>,
    /// Misses in a row.
    pub(super) misses: u32,
}

impl<T> Session<T> {
    /// When `on_deadline` wants to be called next.
    pub fn next_deadline(&self) -> Option<Moment> {
        let of_stage = match self.stage {
            Stage::Open | Stage::Binding(..) => Some(self.init_by),
            Stage::Bound(_) => self.inactive_at().into_iter().chain(self.enquire_at()).min(),
            Stage::Draining(drain) => Some(drain.until),
            Stage::Closed => return None,
        };
        [of_stage, self.window.deadline(), self.partial_by()].into_iter().flatten().min()
    }

    /// Lets every timer that is due act. Call `next_event` after it.
    pub fn on_deadline(&mut self, now: Moment) {
        let now = self.told(now);
        while let Some(Expired { sequence, answer, token }) = self.window.expire(now) {
            self.counters.timeouts = self.counters.timeouts.saturating_add(1);
            self.narrowed = self.role == Role::Server;
            self.overdue.remember(sequence, answer, self.limits.window_max);
            self.events.push_back(Event::TimedOut { sequence, token });
        }
        self.advance_drain(now);
        match self.stage {
            Stage::Open | Stage::Binding(..) if self.init_by <= now => self.close(match self.role {
                Role::Client => CloseReason::BindTimeout,
                Role::Server => CloseReason::SessionInit,
            }),
            Stage::Draining(drain) if drain.until <= now => self.on_drain_deadline(drain, now),
            _ => {}
        }
        if self.partial_by().is_some_and(|by| by <= now) {
            self.close(CloseReason::PduRead);
        }
        if !matches!(self.stage, Stage::Bound(_)) {
            return;
        }
        if self.inactive_at().is_some_and(|at| at <= now) {
            self.end(CloseReason::Inactive, now);
        } else if self.enquire_at().is_some_and(|at| at <= now) {
            self.on_enquiry_due(now);
        }
    }

    /// Sends `enquire_link` now; going unanswered for `enquire_wait_ms` closes the session.
    pub fn probe(&mut self, now: Moment) {
        let now = self.told(now);
        if !matches!(self.stage, Stage::Bound(_)) {
            return;
        }
        if self.enquiry.answer_by.is_none() {
            self.enquire(now);
        }
        self.enquiry.misses = self.limits.enquire_misses_max.saturating_sub(1);
    }

    fn on_enquiry_due(&mut self, now: Moment) {
        if self.enquiry.answer_by.is_some() {
            self.enquiry.misses = self.enquiry.misses.saturating_add(1);
            self.counters.enquire_misses = self.counters.enquire_misses.saturating_add(1);
            if self.enquiry.misses >= self.limits.enquire_misses_max {
                return self.close(CloseReason::PeerSilent);
            }
        }
        self.enquire(now);
    }

    fn enquire(&mut self, now: Moment) {
        let sequence = self.take_sequence();
        self.send_header(CommandId::ENQUIRE_LINK, CommandStatus::OK, sequence);
        self.enquiry.sequence = Some(sequence);
        self.enquiry.answer_by = Some(now.plus_ms(self.limits.enquire_wait_ms));
    }

    fn inactive_at(&self) -> Option<Moment> {
        let limit = self.limits.inactivity_ms.filter(|_| !self.stalled)?;
        Some(self.quiet_since.plus_ms(limit))
    }

    /// When the open `enquire_link` is missed, or else when the next one goes out.
    fn enquire_at(&self) -> Option<Moment> {
        if self.stalled {
            return None;
        }
        let idle = || self.limits.enquire_idle_ms.map(|ms| self.quiet_since.plus_ms(ms));
        self.enquiry.answer_by.or_else(idle)
    }

    fn partial_by(&self) -> Option<Moment> {
        let since = self.partial_since.filter(|_| self.may_read())?;
        Some(since.plus_ms(self.limits.pdu_read_ms))
    }
}
