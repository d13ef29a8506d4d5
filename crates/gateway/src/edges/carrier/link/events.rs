//! One turn of a link's loop: handles the session's events, reports them to the store, and collects the output.

use super::alternative_carrier::alternative_carrier;
use super::{CarrierLink, SentPart, WRITE_WAIT};
use crate::clock::Moment;
use crate::edges::carrier::backoff::Ended;
use crate::edges::carrier::submit_resp::{LinkNext, ParsedResponse, read_submit_response};
use crate::live_status::{AlarmKind, LinkState};
use hermod_smpp::session::SessionState;
use hermod_smpp::{Frame, SessionEvent};
use hermod_store::{LinkKind, LinkNumber, StoreError, SubmitResponse};

impl CarrierLink<'_> {
    /// Handles all pending events, reports to the store, and moves the session's output to the link's.
    pub(super) async fn process_events(&mut self) -> Result<(), StoreError> {
        let now = self.group.gateway.clock.moment();
        self.pdu_trace.begin(&mut self.session);
        while let Some(event) = self.session.next_event(now) {
            if let SessionEvent::Bound { .. } = event {
                self.on_bound(now).await?;
            } else {
                self.on_event(event, now);
            }
        }
        if (!self.overdue.is_empty() || self.rebinding || self.session_is_draining())
            && self.draining_until.is_none()
        {
            // Other outstanding parts may still be answered within their response timeout.
            self.drain(self.response_wait).await;
        }
        if self.draining_until.is_some() && self.session.outstanding() == 0 {
            self.session.unbind(now);
        }
        self.report_to_store(now).await?;
        self.pdu_trace.note(&mut self.session, &self.group.gateway.clock);
        self.output.unsplit(self.session.output().split());
        if self.output.is_empty() {
            self.write_by = None;
        } else if self.write_by.is_none() {
            self.write_by = Some(now.plus(WRITE_WAIT));
        }
        self.figures.set_out(self.session.outstanding());
        self.figures.set_rate(self.flow.rate(), self.flow.is_throttled());
        Ok(())
    }

    pub(super) fn on_event(&mut self, event: SessionEvent<SentPart>, now: Moment) {
        match event {
            SessionEvent::Response { token, frame } => self.on_answer(token, &frame, now),
            SessionEvent::Request(frame) => self.on_request(&frame),
            SessionEvent::TimedOut { sequence, token } => {
                self.figures.timed_out();
                self.overdue.insert(sequence, token);
            }
            SessionEvent::LateResponse { sequence, frame } => {
                if let Some(sent) = self.overdue.remove(&sequence) {
                    self.on_answer(sent, &frame, now);
                }
            }
            SessionEvent::Lost(tokens) => self.unanswered.extend(tokens),
            SessionEvent::BindRejected(status) => self.ended = Some(Ended::BindRefused(status)),
            SessionEvent::Closed(reason) => {
                if self.ended.is_none() {
                    self.ended = Some(self.closed(reason, now));
                }
            }
            // An alert_notification is of no use to us.
            SessionEvent::PeerUnbound
            | SessionEvent::Bound { .. }
            | SessionEvent::BindRequested(_)
            | SessionEvent::Notification(_) => {}
        }
    }

    async fn on_bound(&mut self, now: Moment) -> Result<(), StoreError> {
        let group = self.group;
        self.bound_at = Some(now);
        self.draft.on_bound(self.session.peer_is_3_4());
        let opened =
            group.gateway.store.open_link(group.id(), self.number(), self.kind(), group.profile().ids);
        self.port = Some(opened.await?);
        self.figures.enter(LinkState::Bound, group.gateway.clock.now());
        group.update_health();
        for kind in [AlarmKind::BindRefused, AlarmKind::AlreadyBound, AlarmKind::BadSettings] {
            group.clear(kind);
        }
        let (link, direction) = (self.figures.number(), self.figures.direction().as_str());
        tracing::info!(carrier.name = group.name(), link, direction, "Link is bound");
        Ok(())
    }

    pub(super) fn number(&self) -> LinkNumber {
        LinkNumber(self.figures.number().into())
    }

    pub(super) fn kind(&self) -> LinkKind {
        if self.figures.direction().sends() { LinkKind::Sends } else { LinkKind::ReceivesOnly }
    }

    pub(super) fn on_answer(&mut self, sent: SentPart, frame: &Frame, now: Moment) {
        let ParsedResponse { mut answer, class, next } = read_submit_response(frame, self.group.profile());
        let mut elsewhere = None;
        self.answered |= next != LinkNext::Rebind;
        if let Some(class) = class {
            self.figures.refused(class);
            self.group.report_refusal(class, frame.header.status);
        } else {
            self.figures.accepted();
            if answer == SubmitResponse::AcceptedWithoutId {
                let detail = "accepted a part without a usable message id; it is not resent, and its receipt is matched \
                              by number and time where possible";
                self.group.raise(AlarmKind::MissingMessageId, "", detail);
            }
        }
        match (next, class) {
            (LinkNext::Continue, None) => self.flow.accepted(sent.to, now),
            (LinkNext::Continue, Some(_)) => self.flow.answered(sent.to, now),
            (LinkNext::Rebind, _) => self.rebinding = true,
            (LinkNext::Pause(pause), _) => {
                if let Some(wait) = self.flow.throttled(sent.to, pause, now) {
                    answer = SubmitResponse::RecipientThrottled { wait, sent: true };
                }
            }
        }
        if let Some(class) = class
            && answer != SubmitResponse::Throttled
        {
            elsewhere = alternative_carrier(self.group, &sent, class);
        }
        self.answers.push(sent.record_with_failover(answer, elsewhere));
    }

    async fn report_to_store(&mut self, now: Moment) -> Result<(), StoreError> {
        let slots = if self.takes_parts() { self.flow.grant(self.session.window_free(), now) } else { 0 };
        let Some(port) = &self.port else { return Ok(()) };
        if self.answers.is_empty() && self.receipts.is_empty() && self.inbound.is_empty() && slots == 0 {
            return Ok(());
        }
        let answers = std::mem::take(&mut self.answers);
        let receipts = std::mem::take(&mut self.receipts);
        let inbound = std::mem::take(&mut self.inbound);
        port.record(answers, receipts, inbound, slots, self.group.gateway.clock.now()).await
    }

    fn session_is_draining(&self) -> bool {
        self.port.is_some() && matches!(self.session.state(), SessionState::Draining | SessionState::Closed)
    }
}
