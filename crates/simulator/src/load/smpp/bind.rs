//! One bind of a run: handles events, matches receipts to messages and fills the window. The PDUs of one read are handled
//! together, and their responses leave in one write.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use hermod_smpp::session::CloseReason;
use hermod_smpp::{
    BindType, CommandStatus, DataSmResp, DeliverSmResp, Frame, Moment, Pdu, ReceiptDialect, Session,
    SessionEvent, read_data_sm_receipt, read_receipt,
};
use tokio::sync::watch;

use super::Shared;
use super::messages::MessageBuffers;
use super::receipt_matcher::ReceiptMatcher;
use crate::runtime;
use crate::session_driver::SessionDriver;

/// When a message was due or sent.
pub(super) struct SubmittedAt(Instant);

pub(super) struct Bind {
    shared: Arc<Shared>,
    kind: BindType,
    driver: SessionDriver<SubmittedAt>,
    over: watch::Receiver<bool>,
    buffers: MessageBuffers,
    /// Whether the schedule may have more messages.
    has_more: bool,
    /// All messages were sent and answered, and the run was told.
    is_done: bool,
    /// A permit that was taken and not used yet.
    has_permit: bool,
    unbinding: bool,
}

impl Bind {
    pub(super) fn new(
        shared: Arc<Shared>,
        kind: BindType,
        driver: SessionDriver<SubmittedAt>,
        over: watch::Receiver<bool>,
    ) -> Bind {
        let sends = kind.may_transmit();
        Bind {
            shared,
            kind,
            driver,
            over,
            buffers: MessageBuffers::default(),
            has_more: sends,
            is_done: !sends,
            has_permit: false,
            unbinding: false,
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            let now = runtime::now();
            let moment = self.driver.tick(now);
            self.handle_events(now, moment);
            if self.driver.is_over() {
                break;
            }
            self.fill_window(now, moment);
            if !self.has_more && self.driver.session.outstanding() == 0 {
                self.note_done();
            }
            self.wait().await;
        }
        self.note_done();
        if self.kind.may_receive() {
            self.shared.receiving.fetch_sub(1, Relaxed);
            self.shared.progress.notify_one();
        }
        self.driver.close().await;
    }

    /// Waits for the stream, for a message that is due, or for the end of the run.
    async fn wait(&mut self) {
        let is_waiting = self.has_more && !self.has_permit && self.driver.session.window_free() > 0;
        tokio::select! {
            biased;
            () = self.driver.exchange() => {}
            () = acquire_permit(&self.shared), if is_waiting && self.shared.permits.is_some() => self.has_permit = true,
            _ = self.over.changed(), if !self.unbinding => {
                self.unbinding = true;
                let moment = self.driver.tick(runtime::now());
                self.driver.session.unbind(moment);
            }
        }
    }

    fn handle_events(&mut self, now: Instant, moment: Moment) {
        let Some(first) = self.driver.session.next_event(moment) else { return };
        let shared = Arc::clone(&self.shared);
        let mut matcher = shared.matcher.lock().expect("no holder of the matcher panics");
        let mut next = Some(first);
        while let Some(event) = next {
            self.on_event(&mut matcher, event, now, moment);
            next = self.driver.session.next_event(moment);
        }
        if matcher.missing_receipts() == 0 && shared.sending.load(Relaxed) == 0 {
            shared.progress.notify_one();
        }
    }

    fn on_event(
        &mut self,
        matcher: &mut ReceiptMatcher,
        event: SessionEvent<SubmittedAt>,
        now: Instant,
        moment: Moment,
    ) {
        match event {
            SessionEvent::Response { token, frame } => self.on_response(matcher, &frame, Some(token), now),
            SessionEvent::LateResponse { frame, .. } => self.on_response(matcher, &frame, None, now),
            SessionEvent::Request(frame) => {
                on_delivery(&mut self.driver.session, matcher, &frame, now, moment)
            }
            SessionEvent::TimedOut { .. } => {
                matcher.tally.report.timed_out += 1;
                self.shared.live.count_failure();
            }
            SessionEvent::Lost(tokens) => {
                matcher.tally.report.lost += tokens.len() as u64;
                tokens.iter().for_each(|_| self.shared.live.count_failure());
            }
            SessionEvent::Closed(CloseReason::Unbound) if self.unbinding => {}
            SessionEvent::Closed(reason) => matcher.tally.ended(&reason.to_string()),
            // `Closed` follows where it matters.
            SessionEvent::Bound { .. }
            | SessionEvent::BindRejected(_)
            | SessionEvent::BindRequested(_)
            | SessionEvent::Notification(_)
            | SessionEvent::PeerUnbound => {}
        }
    }

    fn on_response(
        &self,
        matcher: &mut ReceiptMatcher,
        frame: &Frame,
        submitted: Option<SubmittedAt>,
        now: Instant,
    ) {
        let status = frame.header.status;
        match frame.decode() {
            Ok(Pdu::SubmitSmResp(resp)) if status.is_ok() => {
                matcher.accepted(resp.message_id, submitted.map(|SubmittedAt(at)| at), now);
                self.shared.live.count_answer();
            }
            // A generic_nack with status 0, or a response that cannot be decoded, counts as rejected.
            _ => {
                matcher.rejected(if status.is_ok() { CommandStatus::SYSERR } else { status }, now);
                self.shared.live.count_failure();
            }
        }
    }

    /// Sends messages until the window is full or none is due.
    fn fill_window(&mut self, now: Instant, moment: Moment) {
        if !self.has_more || self.driver.session.window_free() == 0 {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let mut matcher = shared.matcher.lock().expect("no holder of the matcher panics");
        let mut submitted = 0;
        while self.has_more && self.driver.session.window_free() > 0 {
            if let Some(permits) = &shared.permits
                && !std::mem::take(&mut self.has_permit)
                && !permits.try_acquire()
            {
                break;
            }
            let Some(arrival) = shared.schedule.take(now) else {
                self.has_more = false;
                break;
            };
            let index = shared.options.first + arrival.position;
            let pdu = Pdu::SubmitSm(shared.options.messages.write(index, &mut self.buffers));
            let token = SubmittedAt(arrival.due.unwrap_or(now).min(now));
            match self.driver.session.request(&pdu, token, moment) {
                Ok(_) => {
                    submitted += 1;
                    matcher.tally.sent(arrival.due, now);
                }
                Err(error) => {
                    // Other messages would fail too: this bind stops sending.
                    self.has_more = false;
                    matcher.tally.ended(&format!("cannot send: {error}"));
                }
            }
        }
        if submitted > 0 {
            matcher.tally.bursts += 1;
        }
    }

    fn note_done(&mut self) {
        if !std::mem::replace(&mut self.is_done, true) {
            self.shared.sending.fetch_sub(1, Relaxed);
            self.shared.progress.notify_one();
        }
    }
}

/// Waits until a message is due.
async fn acquire_permit(shared: &Shared) {
    match &shared.permits {
        Some(permits) => permits.acquire().await,
        None => std::future::pending().await,
    }
}

/// Responds to a receipt or MO message and counts it.
fn on_delivery(
    session: &mut Session<SubmittedAt>,
    matcher: &mut ReceiptMatcher,
    frame: &Frame,
    now: Instant,
    moment: Moment,
) {
    let (receipt, response) = match frame.decode() {
        Ok(Pdu::DeliverSm(pdu)) => {
            (read_receipt(&pdu, ReceiptDialect::Standard), Pdu::DeliverSmResp(DeliverSmResp::default()))
        }
        Ok(Pdu::DataSm(pdu)) => {
            (read_data_sm_receipt(&pdu, ReceiptDialect::Standard), Pdu::DataSmResp(DataSmResp::default()))
        }
        // The session reports no other requests.
        _ => return,
    };
    match &receipt {
        Some(receipt) => matcher.receipt(receipt, now),
        None => matcher.tally.report.messages_received += 1,
    }
    // A session that ended in the same read accepts no response.
    let _ = session.respond(frame.header, &response, moment);
}
