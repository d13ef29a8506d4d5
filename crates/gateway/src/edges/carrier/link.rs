//! One link, from its bind to its end: a short loop around the pure session. It reads, lets the session decide, tells the
//! store what it learned, writes what the store handed out, and keeps the two clocks (the session's and the rate's).
//!
//! The order matters. A part's bytes are written only after the store has committed its claim; a receipt is answered
//! only after the store has committed what it says; and whatever ends the link, every part that was under way is
//! reported before the link is gone.

mod leaving;

use super::answers::{Incoming, LinkNext, read_answer, read_deliver_sm};
use super::backoff::Ended;
use super::connect::{Stream, close};
use super::flow::Flow;
use super::submit::{Draft, Part};
use crate::clock::Moment;
use crate::secrets::Secret;
use crate::world::World;
use bytes::{Buf, BytesMut};
use hermod_domain::catalogue::Carrier;
use hermod_domain::ids::{AccountId, CarrierId, MessageId, PartNo};
use hermod_domain::lifecycle::RefusedFor;
use hermod_smpp::session::{BindRequest, ClientConfig, CloseReason, Limits, Refused, State};
use hermod_smpp::{
    BindType, CommandId, CommandStatus, DeliverSmResp, EncodeError, Event, Frame, Header, Pdu, Session,
};
use hermod_store::{Answer, AnswerRecord, Handout, LinkKind, LinkPort, ReceiptRecord, StoreFault};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// Receipts read and not yet recorded; beyond that the link stops reading.
const RECEIPTS_OPEN_MAX: u32 = 2_000;
const READ_BYTES: usize = 64 * 1024;
/// Bytes written must leave within this time.
const WRITE_WAIT: Duration = Duration::from_secs(10);
/// When stopping, how long to wait for the answers to what was sent.
const STOP_WAIT: Duration = Duration::from_secs(10);

/// Which part a submit_sm was for.
#[derive(Clone, Copy)]
struct Sent {
    message: MessageId,
    part: PartNo,
    account: AccountId,
}

impl Sent {
    fn record(self, answer: Answer) -> AnswerRecord {
        let Sent { message, part, account } = self;
        AnswerRecord { message, part, account, answer, otherwise: None }
    }
}

pub(super) struct Link<'a> {
    world: &'a World,
    carrier: CarrierId,
    response_wait: Duration,
    session: Session<Sent>,
    /// There while the link is bound and taking parts.
    port: Option<LinkPort>,
    flow: Flow,
    draft: Draft,
    output: BytesMut,
    /// By when the oldest unwritten byte must have left.
    write_by: Option<Moment>,
    bound_at: Option<Moment>,
    /// Set once the link takes no more parts and only waits for answers.
    draining_until: Option<Moment>,
    stopping: bool,
    /// Learned since the store was last told.
    answers: Vec<AnswerRecord>,
    receipts: Vec<ReceiptRecord>,
    /// Parts whose answer is overdue, by sequence. They are in doubt once the session is closed, not before: until
    /// then a late answer is the answer.
    overdue: BTreeMap<u32, Sent>,
    /// Parts that were unanswered when the session ended.
    silent: Vec<Sent>,
    ended: Option<Ended>,
}

impl<'a> Link<'a> {
    pub(super) fn new(
        world: &'a World,
        id: CarrierId,
        name: &str,
        carrier: &Carrier,
        password: &Secret,
    ) -> Result<Link<'a>, EncodeError> {
        let now = world.clock.moment();
        let window = u32::from(carrier.window.max(1));
        let standard = ClientConfig::standard();
        let config = ClientConfig {
            limits: Limits {
                window_max: window,
                inbound_max: RECEIPTS_OPEN_MAX,
                response_ms: carrier.response_timeout_ms,
                enquire_idle_ms: Some(carrier.enquire_link_ms),
                ..standard.limits
            },
            ..standard
        };
        let mut bind = BindRequest::new(
            BindType::Transceiver,
            carrier.system_id.as_bytes(),
            password.reveal().as_bytes(),
        );
        bind.bind.system_type = carrier.system_type.as_bytes();
        Ok(Link {
            world,
            carrier: id,
            response_wait: Duration::from_millis(carrier.response_timeout_ms),
            session: Session::client(config, &bind, smpp_moment(now))?,
            port: None,
            flow: Flow::new(window, carrier.parts_per_second, now),
            draft: Draft::new(&carrier.profile, name),
            output: BytesMut::new(),
            write_by: None,
            bound_at: None,
            draining_until: None,
            stopping: false,
            answers: Vec::new(),
            receipts: Vec::new(),
            overdue: BTreeMap::new(),
            silent: Vec::new(),
            ended: None,
        })
    }

    pub(super) async fn run(
        mut self,
        stream: Stream,
        stopping: &CancellationToken,
        up: &metrics::Gauge,
    ) -> Ended {
        let mut input = vec![0; READ_BYTES];
        let (mut reader, mut writer) = tokio::io::split(stream);
        loop {
            if let Err(fault) = self.turn(up).await {
                tracing::error!(%fault, "A link cannot reach the store");
                self.ended.get_or_insert(Ended::StoreGone);
            }
            if self.ended.is_some() && self.output.is_empty() {
                break;
            }
            let wake_at = self.next_wake();
            tokio::select! {
                biased;
                written = writer.write(&self.output), if !self.output.is_empty() => self.on_written(written),
                read = reader.read(&mut input), if self.session.may_read() && self.ended.is_none() => {
                    match read {
                        Ok(length) if length > 0 => {
                            let now = smpp_moment(self.world.clock.moment());
                            self.session.receive(&input[..length], now);
                        }
                        Ok(_) | Err(_) => self.connection_lost(),
                    }
                }
                handout = handout_of(self.port.as_ref()), if self.port.is_some() => self.send(handout),
                () = self.world.clock.sleep_until(wake_at) => self.on_wake(),
                () = stopping.cancelled(), if !self.stopping => self.stop().await,
            }
        }
        close(&mut reader.unsplit(writer)).await;
        self.leave().await
    }

    /// Takes in what the session has to say, tells the store, and moves what the session wants written to the output.
    async fn turn(&mut self, up: &metrics::Gauge) -> Result<(), StoreFault> {
        let now = self.world.clock.moment();
        while let Some(event) = self.session.next_event(smpp_moment(now)) {
            match event {
                Event::Bound { .. } => {
                    self.bound_at = Some(now);
                    self.draft.on_bound(self.session.peer_is_3_4());
                    self.port = Some(self.world.store.open_link(self.carrier, LinkKind::Sends).await?);
                    up.set(1);
                    tracing::info!(carrier.id = %self.carrier, "Link is bound");
                }
                Event::Answered { token, frame } => self.on_answer(token, &frame, now),
                Event::Request(frame) => self.on_request(&frame),
                Event::TimedOut { sequence, token } => {
                    self.overdue.insert(sequence, token);
                }
                Event::LateAnswer { sequence, frame } => self.on_late_answer(sequence, &frame, now),
                Event::Lost(tokens) => self.silent.extend(tokens),
                Event::BindRefused(status) => self.ended = Some(Ended::BindRefused(status)),
                Event::Closed(reason) => self.on_closed(reason, now),
                // Nobody waits for a subscriber to come within reach.
                Event::PeerUnbound | Event::BindRequested(_) | Event::Notification(_) => {}
            }
        }
        if (!self.overdue.is_empty() || self.session_is_leaving()) && self.draining_until.is_none() {
            // The others may still be answered; they are given the time every part is given.
            self.drain(self.response_wait).await;
        }
        if self.draining_until.is_some() && self.session.outstanding() == 0 {
            self.session.unbind(smpp_moment(now));
        }
        self.tell_store(now).await?;
        self.output.unsplit(self.session.output().split());
        if self.output.is_empty() {
            self.write_by = None;
        } else if self.write_by.is_none() {
            self.write_by = Some(now.plus(WRITE_WAIT));
        }
        Ok(())
    }

    async fn tell_store(&mut self, now: Moment) -> Result<(), StoreFault> {
        let Some(port) = &self.port else { return Ok(()) };
        let slots = match self.draining_until {
            None => self.flow.grant(self.session.window_free(), now),
            Some(_) => 0,
        };
        if self.answers.is_empty() && self.receipts.is_empty() && slots == 0 {
            return Ok(());
        }
        let answers = std::mem::take(&mut self.answers);
        let receipts = std::mem::take(&mut self.receipts);
        port.report(answers, receipts, slots, self.world.clock.now()).await
    }

    fn on_answer(&mut self, sent: Sent, frame: &Frame, now: Moment) {
        let (answer, next) = read_answer(frame);
        self.answers.push(sent.record(answer));
        match next {
            LinkNext::GoOn => {}
            LinkNext::Pause(pause) => self.flow.throttled(pause, now),
            LinkNext::Rebind => self.ended = Some(self.closed(CloseReason::ConnectionLost, now)),
        }
    }

    fn on_late_answer(&mut self, sequence: u32, frame: &Frame, now: Moment) {
        if let Some(sent) = self.overdue.remove(&sequence) {
            self.on_answer(sent, frame, now);
        }
    }

    fn on_request(&mut self, frame: &Frame) {
        let header = frame.header;
        let Ok(Pdu::DeliverSm(deliver_sm)) = frame.decode() else {
            return self.refuse(header, CommandStatus::INVCMDID);
        };
        match read_deliver_sm(header.sequence, &deliver_sm) {
            Incoming::Receipt(receipt) => self.receipts.push(receipt),
            Incoming::Nameless => {
                tracing::warn!(carrier.id = %self.carrier, "A receipt without a message id was dropped");
                self.answer_deliver_sm(header.sequence);
            }
            // Kept by the carrier until inbound messages are served.
            Incoming::Message => self.refuse(header, CommandStatus::X_T_APPN),
        }
    }

    fn refuse(&mut self, header: Header, status: CommandStatus) {
        let now = smpp_moment(self.world.clock.moment());
        if let Err(error) = self.session.refuse(header, status, now) {
            tracing::debug!(%error, "A request was gone before it could be refused");
        }
    }

    fn answer_deliver_sm(&mut self, sequence: u32) {
        let request =
            Header { length: 0, command: CommandId::DELIVER_SM, status: CommandStatus::OK, sequence };
        let now = smpp_moment(self.world.clock.moment());
        // The session may have ended while the receipt was being recorded; the carrier will send it again.
        let _ = self.session.answer(request, &Pdu::DeliverSmResp(DeliverSmResp::default()), now);
    }

    /// What the store handed out is durable: parts may leave, receipts may be answered.
    fn send(&mut self, handout: Handout) {
        let (now, wall) = (smpp_moment(self.world.clock.moment()), self.world.clock.now());
        for sequence in handout.recorded {
            self.answer_deliver_sm(sequence);
        }
        for job in handout.jobs {
            self.flow.used();
            let sent = Sent { message: job.message, part: job.part, account: job.account };
            let pdu = self.draft.submit_sm(&Part::of(&job), wall);
            match pdu.map(|pdu| self.session.request(&pdu, sent, now)) {
                Some(Ok(_)) => {}
                Some(Err(Refused::WindowFull | Refused::NotBound | Refused::Draining | Refused::Closed)) => {
                    self.answers.push(sent.record(Answer::NotSent));
                }
                // It would not fit tomorrow either.
                Some(Err(Refused::NotAllowed | Refused::Needs3_4 | Refused::Encode(_))) | None => {
                    tracing::error!(message.id = %job.message, part = %job.part, "A part makes no submit_sm");
                    let status = CommandStatus::SUBMITFAIL.0;
                    self.answers.push(sent.record(Answer::Refused { about: RefusedFor::Anything, status }));
                }
            }
        }
    }

    fn on_written(&mut self, written: std::io::Result<usize>) {
        match written {
            Ok(length) if length > 0 => {
                self.output.advance(length);
                self.write_by = None;
            }
            Ok(_) | Err(_) => {
                self.output.clear();
                self.connection_lost();
            }
        }
    }

    fn on_wake(&mut self) {
        let now = self.world.clock.moment();
        if self.write_by.is_some_and(|by| by <= now) {
            self.output.clear();
            self.connection_lost();
            self.ended = Some(Ended::WriteTimeout { bound_for: self.bound_for(now) });
            return;
        }
        if self.draining_until.is_some_and(|until| until <= now) {
            self.session.unbind(smpp_moment(now));
            self.draining_until = Some(Moment(u64::MAX));
        }
        self.session.on_deadline(smpp_moment(now));
    }

    fn connection_lost(&mut self) {
        self.session.connection_lost(smpp_moment(self.world.clock.moment()));
    }

    fn on_closed(&mut self, reason: CloseReason, now: Moment) {
        if self.ended.is_none() {
            self.ended = Some(self.closed(reason, now));
        }
    }

    fn closed(&self, reason: CloseReason, now: Moment) -> Ended {
        Ended::Closed { reason, bound_for: self.bound_for(now) }
    }

    fn bound_for(&self, now: Moment) -> Duration {
        self.bound_at.map_or(Duration::ZERO, |at| Duration::from_millis(now.0.saturating_sub(at.0)))
    }

    fn session_is_leaving(&self) -> bool {
        self.port.is_some() && matches!(self.session.state(), State::Draining | State::Closed)
    }

    fn next_wake(&mut self) -> Moment {
        let now = self.world.clock.moment();
        let grant_at = match (&self.port, self.draining_until) {
            (Some(_), None) => self.flow.next_grant_at(self.session.window_free(), now),
            (None, _) | (_, Some(_)) => None,
        };
        let session_at = self.session.next_deadline().map(|at| Moment(at.0));
        [grant_at, session_at, self.write_by, self.draining_until]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(Moment(u64::MAX))
    }
}

async fn handout_of(port: Option<&LinkPort>) -> Handout {
    match port {
        Some(port) => port.handout().await,
        None => std::future::pending().await,
    }
}

fn smpp_moment(moment: Moment) -> hermod_smpp::Moment {
    hermod_smpp::Moment(moment.0)
}
