//! How a link ends: it takes no more parts, waits for the answers that may still come, and says what became of every
//! part it was given.

use super::{Link, STOP_WAIT, Sent, smpp_moment};
use crate::board::LinkState;
use crate::edges::carrier::backoff::Ended;
use hermod_smpp::Event;
use hermod_store::SubmitResponse;
use std::time::Duration;

impl Link<'_> {
    /// The gateway is stopping, or the carrier's entry has changed: whatever is still waited for is waited for no longer
    /// than that allows.
    pub(super) async fn stop(&mut self) {
        self.stopping = true;
        let until = self.account.world.clock.moment().plus(STOP_WAIT);
        match self.draining_until {
            None => self.drain(STOP_WAIT).await,
            Some(already) => self.draining_until = Some(already.min(until)),
        }
    }

    /// Takes no more parts. Those handed out and not yet written go back untouched; answers are still waited for.
    pub(super) async fn drain(&mut self, wait: Duration) {
        let clock = &self.account.world.clock;
        self.draining_until = Some(clock.moment().plus(wait));
        self.figures.enter(LinkState::Draining, clock.now());
        self.flow.take_back();
        if self.port.is_none() {
            self.ended.get_or_insert(Ended::Stopped);
            return;
        }
        self.account.judge();
        self.close_port().await;
    }

    /// The store gives this port no more parts; those it gave and nobody wrote are not sent.
    pub(super) async fn close_port(&mut self) {
        let Some(port) = &self.port else { return };
        match port.close().await {
            Ok(unsent) => {
                self.answers
                    .extend(unsent.jobs.iter().map(|job| Sent::of(job).record(SubmitResponse::NotSent)));
                self.on_recorded(unsent.recorded);
                self.on_received(unsent.received);
            }
            Err(fault) => tracing::error!(%fault, "A link could not be signed off"),
        }
    }

    /// The link is gone: whatever was under way is in doubt, and the store is told so before anyone tries again.
    pub(super) async fn leave(mut self) -> Ended {
        self.connection_lost();
        let clock = &self.account.world.clock;
        let now = clock.moment();
        while let Some(event) = self.session.next_event(smpp_moment(now)) {
            // A request cannot be answered any more; the carrier will send it again.
            if !matches!(event, Event::Request(_)) {
                self.on_event(event, now);
            }
        }
        self.tap.note(&mut self.session, clock);
        if self.draining_until.is_none() {
            self.drain(Duration::ZERO).await;
        }
        let overdue = std::mem::take(&mut self.overdue).into_values();
        let silent = overdue.chain(std::mem::take(&mut self.silent));
        self.answers.extend(silent.map(|sent| sent.record(SubmitResponse::NoResponse)));
        let answers = std::mem::take(&mut self.answers);
        let receipts = std::mem::take(&mut self.receipts);
        let inbound = std::mem::take(&mut self.inbound);
        if let Some(port) = &self.port
            && let Err(fault) = port.record(answers, receipts, inbound, 0, clock.now()).await
        {
            tracing::error!(%fault, "What a lost link left open could not be reported; it is in doubt after the next start");
        }
        self.figures.set_out(0);
        self.ended.unwrap_or(Ended::Stopped)
    }
}
