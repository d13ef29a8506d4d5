//! One bind of a run: takes what the session read, writes it into the matcher, fills the window, and so on to the end.
//! Everything that came in one read is settled and answered together, and goes out in one write.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use hermod_smpp::session::CloseReason;
use hermod_smpp::{
    BindType, CommandStatus, DataSmResp, DeliverSmResp, Event, Frame, Moment, Pdu, ReceiptDialect, Session,
    read_data_sm_receipt, read_receipt,
};
use tokio::sync::watch;

use super::Shared;
use super::messages::Page;
use super::receipt_matcher::ReceiptMatcher;
use crate::runtime;
use crate::session_driver::SessionDriver;

/// When a message was due, or sent.
pub(super) struct Submitted(Instant);

pub(super) struct Bind {
    shared: Arc<Shared>,
    kind: BindType,
    line: SessionDriver<Submitted>,
    over: watch::Receiver<bool>,
    page: Page,
    /// The schedule may have more for us.
    has_more: bool,
    /// It has sent and heard everything; the run knows.
    is_done: bool,
    /// A turn that was taken and not used yet.
    has_turn: bool,
    unbinding: bool,
}

impl Bind {
    pub(super) fn new(
        shared: Arc<Shared>,
        kind: BindType,
        line: SessionDriver<Submitted>,
        over: watch::Receiver<bool>,
    ) -> Bind {
        let sends = kind.may_transmit();
        Bind {
            shared,
            kind,
            line,
            over,
            page: Page::default(),
            has_more: sends,
            is_done: !sends,
            has_turn: false,
            unbinding: false,
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            let now = runtime::now();
            let moment = self.line.tick(now);
            self.take_events(now, moment);
            if self.line.is_over() {
                break;
            }
            self.fill_window(now, moment);
            if !self.has_more && self.line.session.outstanding() == 0 {
                self.note_done();
            }
            self.wait().await;
        }
        self.note_done();
        if self.kind.may_receive() {
            self.shared.receiving.fetch_sub(1, Relaxed);
            self.shared.news.notify_one();
        }
        self.line.close().await;
    }

    /// Waits for the socket, for a message that is due, or for the end of the run.
    async fn wait(&mut self) {
        let is_waiting = self.has_more && !self.has_turn && self.line.session.window_free() > 0;
        tokio::select! {
            biased;
            () = self.line.exchange() => {}
            () = pass(&self.shared), if is_waiting && self.shared.permits.is_some() => self.has_turn = true,
            _ = self.over.changed(), if !self.unbinding => {
                self.unbinding = true;
                let moment = self.line.tick(runtime::now());
                self.line.session.unbind(moment);
            }
        }
    }

    fn take_events(&mut self, now: Instant, moment: Moment) {
        let Some(first) = self.line.session.next_event(moment) else { return };
        let shared = Arc::clone(&self.shared);
        let mut matcher = shared.matcher.lock().expect("no holder of the matcher panics");
        let mut next = Some(first);
        while let Some(event) = next {
            self.take_event(&mut matcher, event, now, moment);
            next = self.line.session.next_event(moment);
        }
        if matcher.owed() == 0 && shared.sending.load(Relaxed) == 0 {
            shared.news.notify_one();
        }
    }

    fn take_event(
        &mut self,
        matcher: &mut ReceiptMatcher,
        event: Event<Submitted>,
        now: Instant,
        moment: Moment,
    ) {
        match event {
            Event::Answered { token, frame } => self.take_answer(matcher, &frame, Some(token), now),
            Event::LateAnswer { frame, .. } => self.take_answer(matcher, &frame, None, now),
            Event::Request(frame) => take_delivery(&mut self.line.session, matcher, &frame, now, moment),
            Event::TimedOut { .. } => {
                matcher.tally.timed_out += 1;
                self.shared.live.count_failure();
            }
            Event::Lost(tokens) => {
                matcher.tally.lost += tokens.len() as u64;
                tokens.iter().for_each(|_| self.shared.live.count_failure());
            }
            Event::Closed(CloseReason::Unbound) if self.unbinding => {}
            Event::Closed(reason) => matcher.tally.ended(&reason.to_string()),
            // `Closed` follows those that matter.
            Event::Bound { .. }
            | Event::BindRefused(_)
            | Event::BindRequested(_)
            | Event::Notification(_)
            | Event::PeerUnbound => {}
        }
    }

    fn take_answer(
        &self,
        matcher: &mut ReceiptMatcher,
        frame: &Frame,
        submitted: Option<Submitted>,
        now: Instant,
    ) {
        let status = frame.header.status;
        match frame.decode() {
            Ok(Pdu::SubmitSmResp(resp)) if status.is_ok() => {
                matcher.accepted(resp.message_id, submitted.map(|Submitted(at)| at), now);
                self.shared.live.count_answer();
            }
            // A nack refuses even where it says ok, and an answer nobody can read promises nothing.
            _ => {
                matcher.refused(if status.is_ok() { CommandStatus::SYSERR } else { status }, now);
                self.shared.live.count_failure();
            }
        }
    }

    /// Sends as much as there is to send and the window has room for.
    fn fill_window(&mut self, now: Instant, moment: Moment) {
        let shared = Arc::clone(&self.shared);
        let mut submitted = 0;
        while self.has_more && self.line.session.window_free() > 0 {
            if let Some(permits) = &shared.permits
                && !std::mem::take(&mut self.has_turn)
                && !permits.try_pass()
            {
                break;
            }
            let Some(arrival) = shared.schedule.take(now) else {
                self.has_more = false;
                break;
            };
            let index = shared.options.first + arrival.position;
            let pdu = Pdu::SubmitSm(shared.options.messages.write(index, &mut self.page));
            let token = Submitted(arrival.due.unwrap_or(now).min(now));
            match self.line.session.request(&pdu, token, moment) {
                Ok(_) => submitted += 1,
                Err(refused) => {
                    // No other message would fare better: this bind has nothing to offer the run.
                    self.has_more = false;
                    let mut matcher = shared.matcher.lock().expect("no holder of the matcher panics");
                    matcher.tally.ended(&format!("it could not send: {refused}"));
                }
            }
        }
        if submitted > 0 {
            shared.matcher.lock().expect("no holder of the matcher panics").tally.submitted += submitted;
        }
    }

    fn note_done(&mut self) {
        if !std::mem::replace(&mut self.is_done, true) {
            self.shared.sending.fetch_sub(1, Relaxed);
            self.shared.news.notify_one();
        }
    }
}

/// Waits until a message is due.
async fn pass(shared: &Shared) {
    match &shared.permits {
        Some(permits) => permits.pass().await,
        None => std::future::pending().await,
    }
}

/// Answers a receipt or a message, and writes it down.
fn take_delivery(
    session: &mut Session<Submitted>,
    matcher: &mut ReceiptMatcher,
    frame: &Frame,
    now: Instant,
    moment: Moment,
) {
    let (receipt, answer) = match frame.decode() {
        Ok(Pdu::DeliverSm(pdu)) => {
            (read_receipt(&pdu, ReceiptDialect::Standard), Pdu::DeliverSmResp(DeliverSmResp::default()))
        }
        Ok(Pdu::DataSm(pdu)) => {
            (read_data_sm_receipt(&pdu, ReceiptDialect::Standard), Pdu::DataSmResp(DataSmResp::default()))
        }
        // The session hands over nothing else.
        _ => return,
    };
    match &receipt {
        Some(receipt) => matcher.receipt(receipt, now),
        None => matcher.tally.messages += 1,
    }
    // A session that ended in the same read takes no answer any more; its end is told by itself.
    let _ = session.answer(frame.header, &answer, moment);
}
