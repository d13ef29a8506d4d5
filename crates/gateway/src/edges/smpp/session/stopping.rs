//! Ends a session when the gateway stops. It delivers nothing more and serves the client until the client has responded to
//! what was delivered: a response after the end would be lost, and the receipt delivered again. Then it unbinds.

use super::CustomerSession;
use crate::clock::Moment;
use hermod_smpp::CommandStatus;
use hermod_smpp::session::SessionState;

/// How far the end of a session is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StopStage {
    /// It unbinds when the client has responded to everything.
    LastResponses,
    /// It unbinds.
    AtOnce,
}

impl CustomerSession {
    /// Begins the end. The listener spaces these calls out over the sessions.
    pub(super) fn on_stopping(&mut self, stage: StopStage, now: Moment) {
        self.stopping = Some(stage);
        // Dropping it loses no report.
        self.taking = None;
        if stage == StopStage::AtOnce {
            // Rejects a bind in progress; has no effect on a bound session.
            let _ = self.session.reject_bind(CommandStatus::BINDFAIL, now);
        }
    }

    /// Unbinds if the gateway stops and it is time, and says whether it did. A bind in progress is completed first.
    pub(super) fn unbind_if_stopping(&mut self) -> bool {
        let Some(stage) = self.stopping else { return false };
        let is_time = match self.session.state() {
            SessionState::Open => true,
            SessionState::Bound(_) => stage == StopStage::AtOnce || !self.awaits_responses(),
            SessionState::Binding | SessionState::Draining | SessionState::Closed => false,
        };
        if is_time {
            self.unbind("Unbinding, the gateway is stopping");
        }
        is_time
    }

    /// Whether the client has not responded to a deliver_sm, or parts of an MO message are not sent.
    fn awaits_responses(&self) -> bool {
        let delivery = self.bound.as_ref().and_then(|bound| bound.report_delivery.as_ref());
        self.session.outstanding() > 0 || delivery.is_some_and(|delivery| delivery.mo_deliveries.has_unsent())
    }
}
