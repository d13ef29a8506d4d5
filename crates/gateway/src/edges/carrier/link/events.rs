//! One turn of a link's loop: what the session has to say, what the store is told of it, and what is to be written.

use super::alternative_carrier::otherwise;
use super::{Link, Sent, WRITE_WAIT, smpp_moment};
use crate::board::{AlarmKind, LinkState};
use crate::clock::Moment;
use crate::edges::carrier::backoff::Ended;
use crate::edges::carrier::submit_responses::{LinkNext, Verdict, read_answer};
use hermod_smpp::session::State;
use hermod_smpp::{Event, Frame};
use hermod_store::{LinkKind, StoreError, SubmitResponse};

impl Link<'_> {
    /// Takes in what the session has to say, tells the store, and moves what the session wants written to the output.
    pub(super) async fn turn(&mut self) -> Result<(), StoreError> {
        let now = self.account.world.clock.moment();
        self.tap.begin(&mut self.session);
        while let Some(event) = self.session.next_event(smpp_moment(now)) {
            if let Event::Bound { .. } = event {
                self.on_bound(now).await?;
            } else {
                self.on_event(event, now);
            }
        }
        if (!self.overdue.is_empty() || self.rebinding || self.session_is_leaving())
            && self.draining_until.is_none()
        {
            // The others may still be answered; they are given the time every part is given.
            self.drain(self.response_wait).await;
        }
        if self.draining_until.is_some() && self.session.outstanding() == 0 {
            self.session.unbind(smpp_moment(now));
        }
        self.tell_store(now).await?;
        self.tap.note(&mut self.session, &self.account.world.clock);
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

    pub(super) fn on_event(&mut self, event: Event<Sent>, now: Moment) {
        match event {
            Event::Answered { token, frame } => self.on_answer(token, &frame, now),
            Event::Request(frame) => self.on_request(&frame),
            Event::TimedOut { sequence, token } => {
                self.figures.timed_out();
                self.overdue.insert(sequence, token);
            }
            Event::LateAnswer { sequence, frame } => {
                if let Some(sent) = self.overdue.remove(&sequence) {
                    self.on_answer(sent, &frame, now);
                }
            }
            Event::Lost(tokens) => self.silent.extend(tokens),
            Event::BindRefused(status) => self.ended = Some(Ended::BindRefused(status)),
            Event::Closed(reason) => {
                if self.ended.is_none() {
                    self.ended = Some(self.closed(reason, now));
                }
            }
            // Nobody waits for a subscriber to come within reach.
            Event::PeerUnbound | Event::Bound { .. } | Event::BindRequested(_) | Event::Notification(_) => {}
        }
    }

    async fn on_bound(&mut self, now: Moment) -> Result<(), StoreError> {
        let account = self.account;
        self.bound_at = Some(now);
        self.draft.on_bound(self.session.peer_is_3_4());
        let opened = account.world.store.open_link(account.id(), self.kind(), account.profile().ids);
        self.port = Some(opened.await?);
        self.figures.enter(LinkState::Bound, account.world.clock.now());
        account.judge();
        for kind in [AlarmKind::BindRefused, AlarmKind::AlreadyBound, AlarmKind::BadSettings] {
            account.clear(kind);
        }
        let (link, direction) = (self.figures.number(), self.figures.direction().as_str());
        tracing::info!(carrier.name = account.name(), link, direction, "Link is bound");
        Ok(())
    }

    pub(super) fn kind(&self) -> LinkKind {
        if self.figures.direction().sends() { LinkKind::Sends } else { LinkKind::ReceivesOnly }
    }

    pub(super) fn on_answer(&mut self, sent: Sent, frame: &Frame, now: Moment) {
        let Verdict { mut answer, class, next } = read_answer(frame, self.account.profile());
        let mut elsewhere = None;
        self.answered |= next != LinkNext::Rebind;
        if let Some(class) = class {
            self.figures.refused(class);
            self.account.look_into(class, frame.header.status);
        } else {
            self.figures.accepted();
            if answer == SubmitResponse::AcceptedWithoutId {
                let detail = "took a part without giving it a usable message id; it is not resent, and its receipt is \
                              matched by number and time where that is possible";
                self.account.raise(AlarmKind::MissingMessageId, "", detail);
            }
        }
        match (next, class) {
            (LinkNext::GoOn, None) => self.flow.accepted(sent.to, now),
            (LinkNext::GoOn, Some(_)) => self.flow.answered(sent.to, now),
            (LinkNext::Rebind, _) => self.rebinding = true,
            (LinkNext::Pause(pause), _) => {
                if let Some(wait) = self.flow.throttled(sent.to, pause, now) {
                    answer = SubmitResponse::SteppedAside { wait, sent: true };
                }
            }
        }
        if let Some(class) = class
            && answer != SubmitResponse::Throttled
        {
            elsewhere = otherwise(self.account, &sent, class);
        }
        self.answers.push(sent.record_with_failover(answer, elsewhere));
    }

    async fn tell_store(&mut self, now: Moment) -> Result<(), StoreError> {
        let slots = if self.takes_parts() { self.flow.grant(self.session.window_free(), now) } else { 0 };
        let Some(port) = &self.port else { return Ok(()) };
        if self.answers.is_empty() && self.receipts.is_empty() && self.inbound.is_empty() && slots == 0 {
            return Ok(());
        }
        let answers = std::mem::take(&mut self.answers);
        let receipts = std::mem::take(&mut self.receipts);
        let inbound = std::mem::take(&mut self.inbound);
        port.record(answers, receipts, inbound, slots, self.account.world.clock.now()).await
    }

    fn session_is_leaving(&self) -> bool {
        self.port.is_some() && matches!(self.session.state(), State::Draining | State::Closed)
    }
}
