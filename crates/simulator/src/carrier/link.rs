//! One connection of a gateway to the carrier, without its socket: takes what the session reads, asks the plan,
//! writes the record, and puts answers and receipts into the session's output when they are due.

mod deliveries;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hermod_domain::time::Timestamp;
use hermod_smpp::session::{Acceptance, CloseReason, ServerConfig, State};
use hermod_smpp::{BindType, CommandStatus, Event, Frame, Header, Moment, Pdu, Session, SubmitSmResp};

use super::due::DueQueue;
use super::outbox::Outbox;
use super::plan::{Behaviour, Plan, Reply, Then};
use super::receipt::{Pen, Receipt};
use super::record::{BindSeen, Log};
use super::{Core, Shared, submit};
use crate::world;
use deliveries::InFlight;

/// Submits a gateway may leave open on one link. Silence is a verb of scripts, so this must not be what ends it.
const SUBMITS_OPEN_MAX: u32 = 1_000_000;
/// A receipt that overtakes its answer on another link gets this much of a start.
const OVERTAKE: Duration = Duration::from_millis(20);
/// Octets that are no PDU: the length they claim is beyond every limit.
const GARBAGE: [u8; 32] = [0xff; 32];

/// How a link stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Open,
    /// What is in the output still goes out; then the connection is dropped without a word.
    CutAfterFlush,
    /// The session is over: flush and close in good order.
    Ended,
}

pub(super) struct Link {
    pub(super) number: u64,
    pub(super) session: Session<InFlight>,
    pub(super) fate: Fate,
    shared: Arc<Shared>,
    bound: Option<BindType>,
    /// Receipts were promised since the last look.
    brought_receipts: bool,
    answers: DueQueue<Promised>,
    /// Answers whose receipts go first, in order of arrival.
    overtaken: VecDeque<Overtaken>,
    pen: Pen,
}

/// An answer that is decided and not sent yet.
#[derive(Debug)]
struct Promised {
    request: Header,
    answer: PromisedAnswer,
}

#[derive(Debug)]
enum PromisedAnswer {
    Accept { id: String, then: Then },
    Refuse(CommandStatus),
}

#[derive(Debug)]
struct Overtaken {
    receipts: VecDeque<Receipt>,
    due: Instant,
    promised: Promised,
}

/// What a link works with while it settles: everything shared, locked once for the whole batch.
pub(super) struct Desk<'a> {
    pub(super) plan: &'a mut Plan,
    outbox: &'a mut Outbox,
    pub(super) log: &'a mut Log,
    pub(super) now: Instant,
    moment: Moment,
    /// Time since the carrier started.
    pub(super) at: Duration,
    /// The date, for receipts.
    pub(super) wall: Timestamp,
}

impl Link {
    pub(super) fn new(shared: Arc<Shared>, number: u64) -> Link {
        let mut config = ServerConfig::standard();
        // A script decides when this carrier gives up on a gateway, not the clock.
        config.limits.inactivity_ms = None;
        config.limits.drain_ms = 1_000;
        config.limits.output_bytes_max = 1024 * 1024;
        let session = Session::server(config, shared.moment(world::now()));
        Link {
            number,
            session,
            fate: Fate::Open,
            shared,
            bound: None,
            brought_receipts: false,
            answers: DueQueue::new(),
            overtaken: VecDeque::new(),
            pen: Pen::default(),
        }
    }

    /// Does everything there is to do now; what it brings about stands in the session's output.
    pub(super) fn settle(&mut self, now: Instant) {
        let shared = Arc::clone(&self.shared);
        let mut core = shared.core.lock().expect("no holder of the plan panics");
        let Core { plan, outbox } = &mut *core;
        let wall = Timestamp::from_millis(i64::try_from(world::unix_time().as_millis()).unwrap_or(i64::MAX));
        let (moment, at) = (shared.moment(now), now.saturating_duration_since(shared.started));
        shared.record.write(|log| {
            let mut desk = Desk { plan, outbox, log, now, moment, at, wall };
            if self.session.next_deadline().is_some_and(|deadline| deadline <= moment) {
                self.session.on_deadline(moment);
            }
            self.take_events(&mut desk);
            self.answer_due(&mut desk);
            self.send_overtaking(&mut desk);
            self.send_receipts(&mut desk);
        });
        drop(core);
        if std::mem::take(&mut self.brought_receipts) && self.bound == Some(BindType::Transmitter) {
            // What was submitted here is reported on another link.
            shared.receipts_ready.notify_waiters();
        }
    }

    /// When `settle` has something to do next, if nothing comes in before.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let session = self.session.next_deadline().map(|deadline| self.shared.instant(deadline));
        let answer = self.answers.next_due();
        let receipt = if self.may_deliver() && self.session.window_free() > 0 {
            let core = self.shared.core.lock().expect("no holder of the plan panics");
            core.outbox.next_due()
        } else {
            None
        };
        [session, answer, receipt].into_iter().flatten().min()
    }

    fn may_deliver(&self) -> bool {
        self.fate == Fate::Open && matches!(self.session.state(), State::Bound(kind) if kind.may_receive())
    }

    fn take_events(&mut self, desk: &mut Desk<'_>) {
        while self.fate == Fate::Open
            && let Some(event) = self.session.next_event(desk.moment)
        {
            self.on_event(event, desk);
        }
    }

    fn on_event(&mut self, event: Event<InFlight>, desk: &mut Desk<'_>) {
        match event {
            Event::BindRequested(frame) => self.on_bind(&frame, desk),
            Event::Request(frame) => self.on_request(&frame, desk),
            Event::Answered { token, frame } => deliveries::on_answer(token, frame.header.status, desk),
            Event::TimedOut { token, .. } => self.send_again(token, desk),
            Event::Lost(tokens) => {
                for token in tokens {
                    self.send_again(token, desk);
                }
            }
            Event::PeerUnbound => desk.log.counts().unbinds += 1,
            Event::Closed(reason) => self.on_closed(reason, desk),
            // It is on its way again; a receipt that comes twice does no harm.
            Event::LateAnswer { .. } => {}
            // Neither is for the server's side.
            Event::Bound { .. } | Event::BindRefused(_) | Event::Notification(_) => {
                desk.log.counts().protocol_errors += 1;
            }
        }
    }

    fn on_closed(&mut self, reason: CloseReason, desk: &mut Desk<'_>) {
        self.fate = Fate::Ended;
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
            | CloseReason::BadBind(_) => desk.log.counts().protocol_errors += 1,
        }
    }

    fn on_bind(&mut self, frame: &Frame, desk: &mut Desk<'_>) {
        let Ok(Pdu::Bind(kind, bind)) = frame.decode() else {
            unreachable!("the session gives out binds that decode")
        };
        let decision = desk.plan.bind(bind.system_id, &bind.password);
        let status = decision.err().unwrap_or(CommandStatus::OK);
        desk.log.bind(BindSeen {
            at: desk.at,
            link: self.number,
            system_id: String::from_utf8_lossy(bind.system_id).into_owned(),
            kind,
            interface_version: bind.interface_version,
            status,
        });
        let done = if status.is_ok() {
            self.bound = Some(kind);
            let window_max = self.shared.receipt_window;
            let acceptance =
                Acceptance { system_id: b"hermod-sim", window_max, inbound_max: SUBMITS_OPEN_MAX };
            self.session.accept_bind(&acceptance, desk.moment)
        } else {
            self.session.refuse_bind(status, desk.moment)
        };
        done.expect("a bind that was just asked for can be answered");
    }

    fn on_request(&mut self, frame: &Frame, desk: &mut Desk<'_>) {
        match frame.decode() {
            Ok(Pdu::SubmitSm(submit_sm)) => {
                let around = submit::Circumstances {
                    link: self.number,
                    unanswered: self.session.inbound_open(),
                    receipts_full: desk.outbox.is_full(),
                };
                let decided = submit::decide(&submit_sm, around, desk);
                self.carry_out(frame.header, decided, desk);
            }
            // The other requests of a 3.4 client are not this carrier's trade.
            _ => {
                desk.log.counts().protocol_errors += 1;
                self.reply(frame.header, &PromisedAnswer::Refuse(CommandStatus::INVCMDID), desk);
            }
        }
    }

    /// Does with a submit what was decided: now, or later, or never.
    fn carry_out(&mut self, request: Header, decided: submit::Decided, desk: &mut Desk<'_>) {
        let submit::Decided { behaviour, id, receipts } = decided;
        let Behaviour { reply, delay, receipts: script } = behaviour;
        let due = desk.now + delay;
        let answer = match reply {
            Reply::Accept { then, .. } => PromisedAnswer::Accept { id, then },
            Reply::Refuse(status) => PromisedAnswer::Refuse(status),
            Reply::Silence => return,
            Reply::CutBeforeAnswer { .. } => {
                self.promise_receipts(receipts, desk);
                self.fate = Fate::CutAfterFlush;
                return;
            }
        };
        if !script.before_answer {
            self.promise_receipts(receipts, desk);
            return self.promise_answer(due, Promised { request, answer }, desk);
        }
        let promised = Promised { request, answer };
        if self.may_deliver() {
            let receipts = receipts.into_iter().map(|(_, receipt)| receipt).collect();
            self.overtaken.push_back(Overtaken { receipts, due, promised });
        } else {
            let now = desk.now;
            self.promise_receipts(receipts.into_iter().map(|(_, receipt)| (now, receipt)), desk);
            self.promise_answer(due.max(now + OVERTAKE), promised, desk);
        }
    }

    fn promise_receipts(
        &mut self,
        receipts: impl IntoIterator<Item = (Instant, Receipt)>,
        desk: &mut Desk<'_>,
    ) {
        for (due, receipt) in receipts {
            desk.outbox.push(due, receipt);
            self.brought_receipts = true;
        }
    }

    fn promise_answer(&mut self, due: Instant, promised: Promised, desk: &mut Desk<'_>) {
        // Answers leave in order of their time: one that is due at once must not pass one that is due already.
        if due <= desk.now && self.answers.len() == 0 {
            self.reply(promised.request, &promised.answer, desk);
        } else {
            self.answers.push(due, promised);
        }
    }

    fn answer_due(&mut self, desk: &mut Desk<'_>) {
        while self.fate == Fate::Open
            && let Some(promised) = self.answers.pop_due(desk.now)
        {
            self.reply(promised.request, &promised.answer, desk);
        }
    }

    fn reply(&mut self, request: Header, answer: &PromisedAnswer, desk: &mut Desk<'_>) {
        let sent = match answer {
            PromisedAnswer::Refuse(status) => self.session.refuse(request, *status, desk.moment),
            PromisedAnswer::Accept { id, .. } => {
                let resp = SubmitSmResp { message_id: id.as_bytes(), ..SubmitSmResp::default() };
                self.session.answer(request, &Pdu::SubmitSmResp(resp), desk.moment)
            }
        };
        if sent.is_err() {
            // The session has ended, or a gateway used one sequence number twice.
            desk.log.counts().protocol_errors += 1;
            return;
        }
        match answer {
            PromisedAnswer::Refuse(_) | PromisedAnswer::Accept { then: Then::GoOn, .. } => {}
            PromisedAnswer::Accept { then: Then::Cut, .. } => self.fate = Fate::CutAfterFlush,
            PromisedAnswer::Accept { then: Then::Unbind, .. } => self.session.unbind(desk.moment),
            PromisedAnswer::Accept { then: Then::Garbage, .. } => {
                self.session.output().extend_from_slice(&GARBAGE);
            }
        }
    }

    /// The connection is gone, or is dropped now: what was in flight goes back to the carrier.
    pub(super) fn lose(&mut self, now: Instant) {
        self.session.connection_lost(self.shared.moment(now));
        // Whoever waited for these answers is gone.
        self.answers = DueQueue::new();
        self.fate = Fate::Open;
        self.settle(now);
        self.fate = Fate::Ended;
        let mut core = self.shared.core.lock().expect("no holder of the plan panics");
        for overtaken in self.overtaken.drain(..) {
            for receipt in overtaken.receipts {
                core.outbox.push(now, receipt);
            }
        }
        drop(core);
        self.shared.receipts_ready.notify_waiters();
    }
}
