//! One connection of a gateway to the carrier, without its socket: takes what the session reads, asks the plan,
//! writes the record, and puts answers and receipts into the session's output when they are due.

mod deliveries;
mod responses;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use hermod_domain::time::Timestamp;
use hermod_smpp::session::{Acceptance, CloseReason, ServerConfig, State};
use hermod_smpp::{BindType, CommandStatus, Event, Frame, Pdu, Session};

use super::context::LinkContext;
use super::delay_queue::DelayQueue;
use super::receipt::ReceiptWriter;
use super::record::BindAttempt;
use super::script::Silence;
use super::{Core, Shared, submit};
use crate::runtime;
use deliveries::InFlight;
use responses::{AwaitsReceipts, PendingKind, PendingResponse};

/// Submits a gateway may leave open on one link. Silence is a verb of scripts, so this must not be what ends it.
const SUBMITS_OPEN_MAX: u32 = 1_000_000;
/// ByteStream of one PDU at most: a whole `message_payload` and all else that belongs to it.
pub(super) const PDU_BYTES_MAX: u32 = 70_000;

/// How a link stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkState {
    Open,
    /// What is in the output still goes out; then the connection is dropped without a word.
    CutAfterFlush,
    /// The session is over: flush and close in good order.
    Ended,
}

pub(super) struct Link {
    pub(super) number: u64,
    pub(super) session: Session<InFlight>,
    pub(super) state: LinkState,
    shared: Arc<Shared>,
    bound: Option<BindType>,
    /// Receipts were promised since the last look that another link has to bring.
    work_for_others: bool,
    answers: DelayQueue<PendingResponse>,
    /// Answers whose receipts go first, in order of arrival.
    overtaken: VecDeque<AwaitsReceipts>,
    writer: ReceiptWriter,
    /// Half open: what comes is read, and nothing is said any more.
    pub(super) mute: bool,
    /// The script wants nobody to get a word.
    hushed: bool,
    /// Neither read nor written until then.
    pub(super) stalled_until: Option<Instant>,
    /// When it is to be cut.
    pub(super) cut_at: Option<Instant>,
}

impl Link {
    pub(super) fn new(shared: Arc<Shared>, number: u64) -> Link {
        let mut config = ServerConfig::standard();
        // A script decides when this carrier gives up on a gateway, not the clock.
        config.limits.inactivity_ms = None;
        config.limits.drain_ms = 1_000;
        config.limits.output_bytes_max = 1024 * 1024;
        config.limits.pdu_bytes_max = PDU_BYTES_MAX;
        let session = Session::server(config, shared.moment(runtime::now()));
        Link {
            number,
            session,
            state: LinkState::Open,
            shared,
            bound: None,
            work_for_others: false,
            answers: DelayQueue::new(),
            overtaken: VecDeque::new(),
            writer: ReceiptWriter::default(),
            mute: false,
            hushed: false,
            stalled_until: None,
            cut_at: None,
        }
    }

    /// Does everything there is to do now; what it brings about stands in the session's output.
    pub(super) fn settle(&mut self, now: Instant) {
        let shared = Arc::clone(&self.shared);
        let mut core = shared.core.lock().expect("no holder of the plan panics");
        self.hushed = core.plan.script().voice == Silence::Mute;
        if self.is_mute() {
            return;
        }
        self.settle_with(&mut core, now);
        drop(core);
        if std::mem::take(&mut self.work_for_others) {
            shared.receipts_ready.notify_waiters();
        }
    }

    fn settle_with(&mut self, core: &mut Core, now: Instant) {
        let Core { plan, outbox, bound_links } = core;
        let shared = Arc::clone(&self.shared);
        let wall =
            Timestamp::from_millis(i64::try_from(runtime::unix_time().as_millis()).unwrap_or(i64::MAX));
        let (moment, at) = (shared.moment(now), shared.since_start(now));
        shared.record.write(|log| {
            let mut context = LinkContext { plan, outbox, bound_links, log, now, moment, at, wall };
            if self.session.next_deadline().is_some_and(|deadline| deadline <= moment) {
                self.session.on_deadline(moment);
            }
            self.take_events(&mut context);
            self.answer_due(&mut context);
            self.send_overtaking(&mut context);
            self.send_receipts(&mut context);
            self.send_said(&mut context);
        });
    }

    /// Nothing is said on this link, for now or for ever.
    pub(super) fn is_mute(&self) -> bool {
        self.mute || self.hushed
    }

    /// When `settle` has something to do next, if nothing comes in before.
    pub(super) fn next_due(&self) -> Option<Instant> {
        if self.is_mute() {
            return None;
        }
        let session = self.session.next_deadline().map(|deadline| self.shared.instant(deadline));
        let answer = self.answers.next_due();
        let receipt = if self.may_deliver() && self.session.window_free() > 0 {
            let core = self.shared.core.lock().expect("no holder of the plan panics");
            core.outbox.next_due(self.number)
        } else {
            None
        };
        [session, answer, receipt].into_iter().flatten().min()
    }

    fn may_deliver(&self) -> bool {
        self.state == LinkState::Open
            && !self.is_mute()
            && matches!(self.session.state(), State::Bound(kind) if kind.may_receive())
    }

    fn take_events(&mut self, context: &mut LinkContext<'_>) {
        while self.state == LinkState::Open
            && !self.mute
            && let Some(event) = self.session.next_event(context.moment)
        {
            self.on_event(event, context);
        }
    }

    fn on_event(&mut self, event: Event<InFlight>, context: &mut LinkContext<'_>) {
        match event {
            Event::BindRequested(frame) => self.on_bind(&frame, context),
            Event::Request(frame) => self.on_request(&frame, context),
            Event::Answered { token, frame } => deliveries::on_answer(token, frame.header.status, context),
            Event::TimedOut { token, .. } => deliveries::send_again(token, context),
            Event::Lost(tokens) => {
                for token in tokens {
                    deliveries::send_again(token, context);
                }
            }
            Event::PeerUnbound => context.log.counts().unbinds += 1,
            Event::Closed(reason) => self.on_closed(reason, context),
            // It is on its way again; a receipt that comes twice does no harm.
            Event::LateAnswer { .. } => {}
            // Neither is for the server's side.
            Event::Bound { .. } | Event::BindRefused(_) | Event::Notification(_) => {
                context.log.counts().protocol_errors += 1;
            }
        }
    }

    fn on_closed(&mut self, reason: CloseReason, context: &mut LinkContext<'_>) {
        self.state = LinkState::Ended;
        let unbound =
            matches!(reason, CloseReason::Unbound | CloseReason::UnbindTimeout | CloseReason::PeerUnbound);
        context.bound_links.leave(self.number, unbound, context.at);
        match reason {
            CloseReason::ConnectionLost
            | CloseReason::Unbound
            | CloseReason::UnbindTimeout
            | CloseReason::PeerUnbound
            | CloseReason::BindRefused(_) => {}
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
            unreachable!("the session gives out binds that decode")
        };
        let company = context.bound_links.company(bind.system_id, context.plan.linger(), context.at);
        let decision = context.plan.bind(bind.system_id, &bind.password, company);
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
            self.mute = context.plan.script().voice == Silence::MuteAfterBind;
            self.cut_at = context.plan.lifetime().map(|time| context.now + time);
            context.bound_links.enter(self.number, bind.system_id);
            let window_max = self.shared.receipt_window;
            let acceptance =
                Acceptance { system_id: b"hermod-sim", window_max, inbound_max: SUBMITS_OPEN_MAX };
            self.session.accept_bind(&acceptance, context.moment)
        } else {
            self.session.refuse_bind(status, context.moment)
        };
        done.expect("a bind that was just asked for can be answered");
    }

    fn on_request(&mut self, frame: &Frame, context: &mut LinkContext<'_>) {
        match frame.decode() {
            Ok(Pdu::SubmitSm(submit_sm)) => {
                let around = submit::Circumstances {
                    link: self.number,
                    unanswered: self.session.inbound_open(),
                    receipts_full: context.outbox.is_full(),
                };
                let decided = submit::decide(frame, &submit_sm, around, context);
                self.carry_out(frame.header, decided, context);
            }
            // The other requests of a 3.4 client are not this carrier's trade.
            _ => {
                context.log.counts().protocol_errors += 1;
                let answer = PendingKind::Reject(CommandStatus::INVCMDID);
                self.reply(&PendingResponse::plain(frame.header, answer), context);
            }
        }
    }

    /// The connection is gone, or is dropped now: what was in flight goes back to the carrier.
    pub(super) fn lose(&mut self, now: Instant) {
        self.session.connection_lost(self.shared.moment(now));
        // Whoever waited for these answers is gone, and nobody is left to keep silent to.
        self.answers = DelayQueue::new();
        (self.state, self.mute) = (LinkState::Open, false);
        let shared = Arc::clone(&self.shared);
        let mut core = shared.core.lock().expect("no holder of the plan panics");
        self.settle_with(&mut core, now);
        self.state = LinkState::Ended;
        for overtaken in self.overtaken.drain(..) {
            for receipt in overtaken.receipts {
                core.outbox.push(now, receipt);
            }
        }
        core.outbox.release(self.number);
        drop(core);
        self.shared.receipts_ready.notify_waiters();
    }
}
