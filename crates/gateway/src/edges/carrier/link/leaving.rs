//! How a link ends: it takes no more parts, waits for the answers that may still come, and says what became of every
//! part it was given.

use super::{Link, STOP_WAIT, Sent, smpp_moment};
use crate::edges::carrier::answers::read_answer;
use crate::edges::carrier::backoff::Ended;
use hermod_smpp::Event;
use hermod_store::Answer;
use std::time::Duration;

impl Link<'_> {
    /// The gateway is stopping: whatever is still waited for is waited for no longer than that allows.
    pub(super) async fn stop(&mut self) {
        self.stopping = true;
        let until = self.world.clock.moment().plus(STOP_WAIT);
        match self.draining_until {
            None => self.drain(STOP_WAIT).await,
            Some(already) => self.draining_until = Some(already.min(until)),
        }
    }

    /// Takes no more parts. Those handed out and not yet written go back untouched; answers are still waited for.
    pub(super) async fn drain(&mut self, wait: Duration) {
        self.draining_until = Some(self.world.clock.moment().plus(wait));
        let Some(port) = &self.port else {
            self.ended.get_or_insert(Ended::Stopped);
            return;
        };
        match port.close().await {
            Ok(unsent) => {
                for job in unsent.jobs {
                    let sent = Sent { message: job.message, part: job.part, account: job.account };
                    self.answers.push(sent.record(Answer::NotSent));
                }
                unsent.recorded.into_iter().for_each(|sequence| self.answer_deliver_sm(sequence));
            }
            Err(fault) => tracing::error!(%fault, "A link could not be signed off"),
        }
    }

    /// The link is gone: whatever was under way is in doubt, and the store is told so before anyone tries again.
    pub(super) async fn leave(mut self) -> Ended {
        self.connection_lost();
        let now = smpp_moment(self.world.clock.moment());
        while let Some(event) = self.session.next_event(now) {
            match event {
                Event::Lost(tokens) => self.silent.extend(tokens),
                Event::TimedOut { sequence, token } => {
                    self.overdue.insert(sequence, token);
                }
                Event::LateAnswer { sequence, frame } => {
                    let late = self.overdue.remove(&sequence).map(|sent| sent.record(read_answer(&frame).0));
                    self.answers.extend(late);
                }
                Event::Answered { token, frame } => self.answers.push(token.record(read_answer(&frame).0)),
                Event::Bound { .. }
                | Event::BindRefused(_)
                | Event::BindRequested(_)
                | Event::Request(_)
                | Event::Notification(_)
                | Event::PeerUnbound
                | Event::Closed(_) => {}
            }
        }
        if self.draining_until.is_none() {
            self.drain(Duration::ZERO).await;
        }
        let overdue = std::mem::take(&mut self.overdue).into_values();
        let silent = overdue.chain(std::mem::take(&mut self.silent));
        self.answers.extend(silent.map(|sent| sent.record(Answer::NoAnswer)));
        if let Some(port) = &self.port
            && let Err(fault) = port
                .report(
                    std::mem::take(&mut self.answers),
                    std::mem::take(&mut self.receipts),
                    0,
                    self.world.clock.now(),
                )
                .await
        {
            tracing::error!(%fault, "What a lost link left open could not be reported; it is in doubt after the next start");
        }
        self.ended.unwrap_or(Ended::Stopped)
    }
}
