//! Ends or holds a link. An ending link takes no more parts, waits for outstanding responses, and reports every part
//! it was given. A link of a stopped carrier stays bound for receipts and takes no parts.

use super::{CarrierLink, STOP_WAIT, SentPart};
use crate::edges::carrier::backoff::Ended;
use crate::live_status::{AlarmKind, LinkState};
use hermod_smpp::SessionEvent;
use hermod_store::SubmitResponse;
use std::time::Duration;

impl CarrierLink<'_> {
    /// Drains the link because the gateway stops or the carrier's entry has changed. Shortens a drain that has begun.
    pub(super) async fn stop(&mut self) {
        self.stopping = true;
        let until = self.group.gateway.clock.moment().plus(STOP_WAIT);
        match self.draining_until {
            None => self.drain(STOP_WAIT).await,
            Some(already) => self.draining_until = Some(already.min(until)),
        }
    }

    /// Stops taking parts and returns unsent ones to the store. Waits up to `wait` for outstanding responses.
    pub(super) async fn drain(&mut self, wait: Duration) {
        let clock = &self.group.gateway.clock;
        self.draining_until = Some(clock.moment().plus(wait));
        self.figures.enter(LinkState::Draining, clock.now());
        self.flow.take_back();
        if self.port.is_none() {
            self.ended.get_or_insert(Ended::Stopped);
            return;
        }
        self.group.update_health();
        self.close_port().await;
    }

    /// Closes the port: the store hands out no more parts, and those not sent yet are reported as not sent.
    pub(super) async fn close_port(&mut self) {
        let Some(port) = &self.port else { return };
        match port.close().await {
            Ok(unsent) => {
                self.answers
                    .extend(unsent.jobs.iter().map(|job| SentPart::of(job).record(SubmitResponse::NotSent)));
                self.on_recorded(unsent.recorded);
                self.on_received(unsent.received);
            }
            Err(fault) => tracing::error!(%fault, "Could not close a link's port"),
        }
    }

    /// Reports the outstanding parts as in doubt after the connection is gone, before the link is tried again.
    pub(super) async fn finish(mut self) -> Ended {
        self.connection_lost();
        let clock = &self.group.gateway.clock;
        let now = clock.moment();
        while let Some(event) = self.session.next_event(now) {
            // A request cannot be answered any more; the carrier sends it again.
            if !matches!(event, SessionEvent::Request(_)) {
                self.on_event(event, now);
            }
        }
        self.pdu_trace.note(&mut self.session, clock);
        if self.draining_until.is_none() {
            self.drain(Duration::ZERO).await;
        }
        let overdue = std::mem::take(&mut self.overdue).into_values();
        let unanswered = overdue.chain(std::mem::take(&mut self.unanswered));
        self.answers.extend(unanswered.map(|sent| sent.record(SubmitResponse::NoResponse)));
        let answers = std::mem::take(&mut self.answers);
        let receipts = std::mem::take(&mut self.receipts);
        let inbound = std::mem::take(&mut self.inbound);
        if let Some(port) = &self.port
            && let Err(fault) = port.record(answers, receipts, inbound, 0, clock.now()).await
        {
            tracing::error!(%fault, "Could not report the outstanding parts of a lost link; they are in doubt after the next start");
        }
        self.figures.set_out(0);
        self.ended.unwrap_or(Ended::Stopped)
    }

    pub(super) async fn on_stopped_or_resumed(&mut self) {
        let held = self.stopped.borrow_and_update().is_some();
        if held == std::mem::replace(&mut self.held, held) || self.draining_until.is_some() {
            return;
        }
        if held { self.hold().await } else { self.resume().await }
    }

    /// Stops taking parts: revokes the granted slots and closes the port.
    async fn hold(&mut self) {
        self.flow.take_back();
        self.close_port().await;
    }

    /// Takes parts again over a new port.
    async fn resume(&mut self) {
        let group = self.group;
        group.clear(AlarmKind::CarrierStopped);
        if self.port.is_none() {
            return;
        }
        match group.gateway.store.open_link(group.id(), self.number(), self.kind(), group.profile().ids).await
        {
            Ok(port) => {
                self.close_port().await;
                self.port = Some(port);
            }
            Err(fault) => {
                tracing::error!(%fault, "A link cannot reach the store");
                self.ended.get_or_insert(Ended::StoreGone);
            }
        }
    }
}
