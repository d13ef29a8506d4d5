//! The timers of a session. Timers of the peer's silence stop while the session does not read.

use super::{CloseReason, Moment, Session, SessionEvent, Stage, state_table::SessionRole, window::Expired};
use crate::{CommandId, CommandStatus};

/// Our `enquire_link` requests.
#[derive(Clone, Copy, Default)]
pub(super) struct Enquiry {
    /// The sequence number of the last one, until its response.
    pub(super) sequence: Option<u32>,
    /// When it counts as missed. Any received PDU clears it.
    pub(super) response_by: Option<Moment>,
    /// Consecutive misses.
    pub(super) misses: u32,
}

impl<T> Session<T> {
    /// Returns when `on_deadline` must be called next.
    pub fn next_deadline(&self) -> Option<Moment> {
        let of_stage = match self.stage {
            Stage::Open | Stage::Binding(..) => Some(self.init_by),
            Stage::Bound(_) => self.inactive_at().into_iter().chain(self.enquire_at()).min(),
            Stage::Draining(drain) => Some(drain.until),
            Stage::Closed => return None,
        };
        [of_stage, self.window.deadline(), self.partial_by()].into_iter().flatten().min()
    }

    /// Processes all timers that are due. Call `next_event` afterwards.
    pub fn on_deadline(&mut self, now: Moment) {
        let now = self.advance_clock(now);
        while let Some(Expired { sequence, response, token }) = self.window.expire(now) {
            self.counters.timeouts = self.counters.timeouts.saturating_add(1);
            self.is_window_reduced = self.role == SessionRole::Server;
            self.timed_out.add(sequence, response, self.limits.window_max);
            self.events.push_back(SessionEvent::TimedOut { sequence, token });
        }
        self.advance_drain(now);
        match self.stage {
            Stage::Open | Stage::Binding(..) if self.init_by <= now => self.close(match self.role {
                SessionRole::Client => CloseReason::BindTimeout,
                SessionRole::Server => CloseReason::SessionInit,
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

    /// Sends `enquire_link` now; without a response within `enquire_wait_ms` the session closes.
    pub fn probe(&mut self, now: Moment) {
        let now = self.advance_clock(now);
        if !matches!(self.stage, Stage::Bound(_)) {
            return;
        }
        if self.enquiry.response_by.is_none() {
            self.enquire(now);
        }
        self.enquiry.misses = self.limits.enquire_misses_max.saturating_sub(1);
    }

    fn on_enquiry_due(&mut self, now: Moment) {
        if self.enquiry.response_by.is_some() {
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
        self.enquiry.response_by = Some(now.plus_ms(self.limits.enquire_wait_ms));
    }

    fn inactive_at(&self) -> Option<Moment> {
        let limit = self.limits.inactivity_ms.filter(|_| !self.is_stalled)?;
        Some(self.idle_since.plus_ms(limit))
    }

    /// Returns when the outstanding `enquire_link` is missed, or when the next one is sent.
    fn enquire_at(&self) -> Option<Moment> {
        if self.is_stalled {
            return None;
        }
        let idle = || self.limits.enquire_idle_ms.map(|ms| self.idle_since.plus_ms(ms));
        self.enquiry.response_by.or_else(idle)
    }

    fn partial_by(&self) -> Option<Moment> {
        let since = self.partial_since.filter(|_| self.may_read())?;
        Some(since.plus_ms(self.limits.pdu_read_ms))
    }
}
