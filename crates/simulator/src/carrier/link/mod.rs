//! One SMPP session of a gateway with the carrier, without its socket: handles the session's events by the plan, writes the
//! record, and puts responses, receipts and MO messages into the session's output when they are due.

mod deliveries;
mod responses;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use hermod_domain::time::Timestamp;
use hermod_smpp::session::{BindAcceptance, CloseReason, ServerConfig, SessionState};
use hermod_smpp::{BindType, CommandStatus, Frame, Pdu, Session, SessionEvent};

use super::delay_queue::DelayQueue;
use super::receipt::ReceiptWriter;
use super::record::BindAttempt;
use super::script::MutedLinks;
use super::{Core, LinkContext, Shared, submit};
use crate::runtime;
use deliveries::InFlight;
use responses::{AwaitsReceipts, PendingKind, PendingResponse};

/// Submits without a response on one link. Scripts withhold responses on purpose, so this must not end the session.
const SUBMITS_OPEN_MAX: u32 = 1_000_000;
/// Octets of one PDU: a whole `message_payload` and the other fields.
pub(super) const PDU_BYTES_MAX: u32 = 70_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SimulatedLinkState {
    Open,
    /// The output is written, then the connection is dropped.
    CutAfterFlush,
    /// The session has ended: the output is written and the connection closed.
    Ended,
}

pub(super) struct SimulatedLink {
    pub(super) number: u64,
    pub(super) session: Session<InFlight>,
    pub(super) state: SimulatedLinkState,
    shared: Arc<Shared>,
    bound: Option<BindType>,
    /// Deliveries were queued that another link must send.
    work_for_others: bool,
    responses: DelayQueue<PendingResponse>,
    /// Responses that follow their receipts, in order of arrival.
    awaiting_receipts: VecDeque<AwaitsReceipts>,
    receipt_writer: ReceiptWriter,
    /// Half open: input is read, output is never written again.
    pub(super) muted: bool,
    /// The script mutes all links.
    muted_by_script: bool,
    /// Neither read nor written until then.
    pub(super) stalled_until: Option<Instant>,
    /// When the connection is cut.
    pub(super) cut_at: Option<Instant>,
}

impl SimulatedLink {
    pub(super) fn new(shared: Arc<Shared>, number: u64) -> SimulatedLink {
        let mut config = ServerConfig::standard();
        // The script decides when the carrier gives up on a gateway.
        config.limits.inactivity_ms = None;
        (config.limits.drain_ms, config.limits.answer_ms) = (1_000, 1_000);
        config.limits.output_bytes_max = 1024 * 1024;
        config.limits.pdu_bytes_max = PDU_BYTES_MAX;
        let session = Session::server(config, shared.moment(runtime::now()));
        SimulatedLink {
            number,
            session,
            state: SimulatedLinkState::Open,
            shared,
            bound: None,
            work_for_others: false,
            responses: DelayQueue::new(),
            awaiting_receipts: VecDeque::new(),
            receipt_writer: ReceiptWriter::default(),
            muted: false,
            muted_by_script: false,
            stalled_until: None,
            cut_at: None,
        }
    }

    /// Handles everything that is due and fills the session's output.
    pub(super) fn process(&mut self, now: Instant) {
        let shared = Arc::clone(&self.shared);
        let mut core = shared.core();
        self.muted_by_script = core.plan.script().muted_links == MutedLinks::All;
        if self.is_muted() {
            return;
        }
        self.process_with(&mut core, now);
        drop(core);
        if std::mem::take(&mut self.work_for_others) {
            shared.deliveries_ready.notify_waiters();
        }
    }

    fn process_with(&mut self, core: &mut Core, now: Instant) {
        let Core { plan, outbox, bound_links } = core;
        let shared = Arc::clone(&self.shared);
        let date =
            Timestamp::from_millis(i64::try_from(runtime::unix_time().as_millis()).unwrap_or(i64::MAX));
        let (moment, at) = (shared.moment(now), shared.since_start(now));
        shared.record.write(|log| {
            let mut context = LinkContext { plan, outbox, bound_links, log, now, moment, at, date };
            // Before the session's deadline, which may have passed later: an unbind waits for them only for a while.
            self.send_due_responses(&mut context);
            if self.session.next_deadline().is_some_and(|deadline| deadline <= moment) {
                self.session.on_deadline(moment);
            }
            self.handle_events(&mut context);
            self.send_due_responses(&mut context);
            self.send_receipts_before_responses(&mut context);
            self.send_due_receipts(&mut context);
            self.send_due_mo(&mut context);
        });
    }

    pub(super) fn is_muted(&self) -> bool {
        self.muted || self.muted_by_script
    }

    /// When `process` is to be called next, if nothing is received before.
    pub(super) fn next_due(&self) -> Option<Instant> {
        if self.is_muted() {
            return None;
        }
        let session = self.session.next_deadline().map(|deadline| self.shared.instant(deadline));
        let response = self.responses.next_due();
        let delivery = if self.may_deliver() && self.session.window_free() > 0 {
            self.shared.core().outbox.next_due(self.number)
        } else {
            None
        };
        [session, response, delivery].into_iter().flatten().min()
    }

    fn may_deliver(&self) -> bool {
        self.state == SimulatedLinkState::Open
            && !self.is_muted()
            && matches!(self.session.state(), SessionState::Bound(kind) if kind.may_receive())
    }

    fn handle_events(&mut self, context: &mut LinkContext<'_>) {
        while self.state == SimulatedLinkState::Open
            && !self.muted
            && let Some(event) = self.session.next_event(context.moment)
        {
            self.on_event(event, context);
        }
    }

    fn on_event(&mut self, event: SessionEvent<InFlight>, context: &mut LinkContext<'_>) {
        match event {
            SessionEvent::BindRequested(frame) => self.on_bind(&frame, context),
            SessionEvent::Request(frame) => self.on_request(&frame, context),
            SessionEvent::Response { token, frame } => {
                deliveries::on_response(token, frame.header.status, context)
            }
            SessionEvent::TimedOut { token, .. } => deliveries::requeue(token, context),
            SessionEvent::Lost(tokens) => {
                for token in tokens {
                    deliveries::requeue(token, context);
                }
            }
            SessionEvent::PeerUnbound => context.log.counts().unbinds += 1,
            SessionEvent::Closed(reason) => self.on_closed(reason, context),
            // The delivery was queued again when it timed out; gateways accept a receipt twice.
            SessionEvent::LateResponse { .. } => {}
            // Events of a client session.
            SessionEvent::Bound { .. } | SessionEvent::BindRejected(_) | SessionEvent::Notification(_) => {
                context.log.counts().protocol_errors += 1;
            }
        }
    }

    fn on_closed(&mut self, reason: CloseReason, context: &mut LinkContext<'_>) {
        self.state = SimulatedLinkState::Ended;
        let unbound =
            matches!(reason, CloseReason::Unbound | CloseReason::UnbindTimeout | CloseReason::PeerUnbound);
        context.bound_links.remove(self.number, unbound, context.at);
        match reason {
            CloseReason::ConnectionLost
            | CloseReason::Unbound
            | CloseReason::UnbindTimeout
            | CloseReason::PeerUnbound
            | CloseReason::BindRejected(_) => {}
            CloseReason::BindTimeout
            | CloseReason::SessionInit
            | CloseReason::PeerSilent
            | CloseReason::Inactive
            | CloseReason::PduRead
            | CloseReason::BadFrame(_)
            | CloseReason::WrongState
            | CloseReason::UnknownCommands
            | CloseReason::BadBind(_) => context.log.counts().protocol_errors += 1,
        }
    }

    fn on_bind(&mut self, frame: &Frame, context: &mut LinkContext<'_>) {
        let Ok(Pdu::Bind(kind, bind)) = frame.decode() else {
            unreachable!("the session reports binds that decode")
        };
        let linger = context.plan.already_bound_for();
        let others = context.bound_links.count(bind.system_id, linger, context.at);
        let decision = context.plan.bind(bind.system_id, &bind.password, others);
        let status = decision.err().unwrap_or(CommandStatus::OK);
        context.log.bind(BindAttempt {
            at: context.at,
            link: self.number,
            system_id: String::from_utf8_lossy(bind.system_id).into_owned(),
            kind,
            interface_version: bind.interface_version,
            status,
        });
        let done = if status.is_ok() {
            self.bound = Some(kind);
            self.muted = context.plan.script().muted_links == MutedLinks::AfterBind;
            self.cut_at = context.plan.link_lifetime().map(|time| context.now + time);
            context.bound_links.add(self.number, bind.system_id);
            let window_max = self.shared.receipt_window;
            let acceptance =
                BindAcceptance { system_id: b"hermod-sim", window_max, peer_window_max: SUBMITS_OPEN_MAX };
            self.session.accept_bind(&acceptance, context.moment)
        } else {
            self.session.reject_bind(status, context.moment)
        };
        done.expect("a bind that was just requested can be answered");
    }

    fn on_request(&mut self, frame: &Frame, context: &mut LinkContext<'_>) {
        match frame.decode() {
            Ok(Pdu::SubmitSm(submit_sm)) => {
                let facts = submit::LinkFacts {
                    link: self.number,
                    unanswered: self.session.peer_outstanding(),
                    receipts_full: context.outbox.is_full(),
                };
                let handled = submit::handle(frame, &submit_sm, facts, context);
                self.respond(frame.header, handled, context);
            }
            // This carrier supports no other request of an ESME.
            _ => {
                context.log.counts().protocol_errors += 1;
                let kind = PendingKind::Reject(CommandStatus::INVCMDID);
                self.send_response(&PendingResponse::plain(frame.header, kind), context);
            }
        }
    }

    /// Ends the session of a connection that is lost or dropped: deliveries without a response go back to the outbox.
    pub(super) fn on_disconnect(&mut self, now: Instant) {
        self.session.connection_lost(self.shared.moment(now));
        self.responses = DelayQueue::new();
        // Muted links must handle the events of the lost session too.
        (self.state, self.muted) = (SimulatedLinkState::Open, false);
        let shared = Arc::clone(&self.shared);
        let mut core = shared.core();
        self.process_with(&mut core, now);
        self.state = SimulatedLinkState::Ended;
        for waiting in self.awaiting_receipts.drain(..) {
            for receipt in waiting.receipts {
                core.outbox.push(now, receipt);
            }
        }
        core.outbox.release(self.number);
        drop(core);
        self.shared.deliveries_ready.notify_waiters();
    }
}
