//! One link, from its bind to its end: a short loop around the pure session. It reads, lets the session decide, tells the
//! store what it learned, writes what the store handed out, and keeps the two clocks (the session's and the rate's).
//!
//! The order matters. A part's bytes are written only after the store has committed its claim; a receipt or a message is
//! answered only after the store has committed what it says; and whatever ends the link, every part that was under way is
//! reported before the link is gone.

pub(super) mod alternative_carrier;
mod drain;
mod events;
mod holding;
mod pdu_trace;
mod receive;
mod send;

use super::backoff::Ended;
use super::connect::{Stream, close};
use super::deliver_sm;
use super::flow::Flow;
use super::link_group::Account;
use super::submit::Draft;
use crate::board::{Direction, LinkFigures, LinkState, Stopped};
use crate::clock::Moment;
use crate::secrets::Secret;
use bytes::BytesMut;
use hermod_domain::carrier::SmppVersion;
use hermod_domain::ids::{AccountId, MessageId, PartNo};
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_smpp::session::{BindRequest, ClientConfig, CloseReason, Limits};
use hermod_smpp::{BindType, EncodeError, Session};
use hermod_store::{
    Handout, Job, LinkPort, MoRecord, ReceiptRecord, ResponseRecord, SubmitResponse, TargetCarrier,
};
use pdu_trace::Tap;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Receipts and messages read and not yet recorded; beyond that the link stops reading.
const RECEIPTS_OPEN_MAX: u32 = 2_000;
const READ_BYTES: usize = 64 * 1024;
/// Bytes written must leave within this time.
const WRITE_WAIT: Duration = Duration::from_secs(10);
/// When stopping, how long to wait for the answers to what was sent.
const STOP_WAIT: Duration = Duration::from_secs(10);
/// Version 3.3 of the protocol, as a bind says it.
const VERSION_3_3: u8 = 0x33;

/// Which part a submit_sm was for, and what a route is found by should the carrier not want it.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub(super) message: MessageId,
    pub(super) part: PartNo,
    pub(super) account: AccountId,
    pub(super) from: Sender,
    pub(super) to: Msisdn,
}

impl Sent {
    fn of(job: &Job) -> Sent {
        Sent { message: job.message, part: job.part, account: job.account, from: job.from, to: job.to }
    }

    fn record(self, response: SubmitResponse) -> ResponseRecord {
        self.record_with_failover(response, None)
    }

    fn record_with_failover(
        self,
        response: SubmitResponse,
        failover_to: Option<TargetCarrier>,
    ) -> ResponseRecord {
        let Sent { message, part, account, from: _, to } = self;
        ResponseRecord { message, part, account, to, response, failover_to }
    }
}

pub(super) struct Link<'a> {
    account: &'a Account,
    figures: &'a LinkFigures,
    response_wait: Duration,
    session: Session<Sent>,
    /// There while the link is bound and taking parts.
    port: Option<LinkPort>,
    flow: Flow<'a>,
    draft: Draft,
    tap: Tap<'a>,
    output: BytesMut,
    /// By when the oldest unwritten byte must have left.
    write_by: Option<Moment>,
    bound_at: Option<Moment>,
    /// The carrier answered a submit.
    answered: bool,
    /// Set once the link takes no more parts and only waits for answers.
    draining_until: Option<Moment>,
    /// The carrier thinks that we are not bound.
    rebinding: bool,
    /// The carrier was stopped: no parts, for now.
    held: bool,
    stopped: watch::Receiver<Option<Stopped>>,
    stopping: bool,
    /// Learned since the store was last told.
    answers: Vec<ResponseRecord>,
    receipts: Vec<ReceiptRecord>,
    inbound: Vec<MoRecord>,
    /// Receipts and messages that came as data_sm and are to be answered as such. Few carriers do that.
    data_sms: Vec<u32>,
    /// Parts whose answer is overdue, by sequence. They are in doubt once the session is closed, not before: until
    /// then a late answer is the answer.
    overdue: BTreeMap<u32, Sent>,
    /// Parts that were unanswered when the session ended.
    silent: Vec<Sent>,
    ended: Option<Ended>,
}

impl<'a> Link<'a> {
    pub(super) fn new(
        account: &'a Account,
        figures: &'a LinkFigures,
        password: &Secret,
    ) -> Result<Link<'a>, EncodeError> {
        let now = account.world.clock.moment();
        let session = session(account, figures.direction(), password, now)?;
        let mut stopped = account.state.watch_stopped();
        let held = stopped.borrow_and_update().is_some();
        Ok(Link {
            account,
            figures,
            response_wait: Duration::from_millis(account.entry.response_timeout_ms),
            session,
            port: None,
            flow: Flow::new(&account.shaper, &account.limited, account.window(), account.link_rate(), now),
            draft: Draft::new(account.profile(), account.name()),
            tap: Tap::new(&account.state.trace, figures.number(), deliver_sm::dialect(account.profile())),
            output: BytesMut::new(),
            write_by: None,
            bound_at: None,
            answered: false,
            draining_until: None,
            rebinding: false,
            held,
            stopped,
            stopping: false,
            answers: Vec::new(),
            receipts: Vec::new(),
            inbound: Vec::new(),
            data_sms: Vec::new(),
            overdue: BTreeMap::new(),
            silent: Vec::new(),
            ended: None,
        })
    }

    pub(super) async fn run(mut self, stream: Stream, stopping: &CancellationToken) -> Ended {
        self.figures.enter(LinkState::Binding, self.account.world.clock.now());
        let mut input = vec![0; READ_BYTES];
        let (mut reader, mut writer) = tokio::io::split(stream);
        loop {
            if let Err(fault) = self.turn().await {
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
                        Ok(length) if length > 0 => self.session.receive(&input[..length], self.smpp_now()),
                        Ok(_) | Err(_) => self.connection_lost(),
                    }
                }
                handout = handout_of(self.port.as_ref()), if self.port.is_some() => self.send(handout),
                () = self.account.world.clock.sleep_until(wake_at) => self.on_wake(),
                Ok(()) = self.stopped.changed() => self.on_stopped_or_resumed().await,
                () = stopping.cancelled(), if !self.stopping => self.stop().await,
            }
        }
        close(&mut reader.unsplit(writer)).await;
        self.leave().await
    }

    fn on_wake(&mut self) {
        let now = self.account.world.clock.moment();
        if self.write_by.is_some_and(|by| by <= now) {
            self.output.clear();
            self.connection_lost();
            self.ended =
                Some(Ended::WriteTimeout { bound_for: self.bound_for(now), answered: self.answered });
            return;
        }
        if self.draining_until.is_some_and(|until| until <= now) {
            self.session.unbind(smpp_moment(now));
            self.draining_until = Some(Moment(u64::MAX));
        }
        self.session.on_deadline(smpp_moment(now));
    }

    fn connection_lost(&mut self) {
        let now = self.smpp_now();
        self.session.connection_lost(now);
    }

    fn closed(&self, reason: CloseReason, now: Moment) -> Ended {
        Ended::Closed { reason, bound_for: self.bound_for(now), answered: self.answered }
    }

    fn bound_for(&self, now: Moment) -> Duration {
        self.bound_at.map_or(Duration::ZERO, |at| Duration::from_millis(now.0.saturating_sub(at.0)))
    }

    /// May parts be asked for?
    fn takes_parts(&self) -> bool {
        self.port.is_some() && self.draining_until.is_none() && !self.held && self.figures.direction().sends()
    }

    fn next_wake(&mut self) -> Moment {
        let now = self.account.world.clock.moment();
        let grant_at =
            if self.takes_parts() { self.flow.next_grant_at(self.session.window_free(), now) } else { None };
        let session_at = self.session.next_deadline().map(|at| Moment(at.0));
        [grant_at, session_at, self.write_by, self.draining_until]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(Moment(u64::MAX))
    }

    fn smpp_now(&self) -> hermod_smpp::Moment {
        smpp_moment(self.account.world.clock.moment())
    }
}

/// A session that binds as the carrier's entry says.
fn session(
    account: &Account,
    direction: Direction,
    password: &Secret,
    now: Moment,
) -> Result<Session<Sent>, EncodeError> {
    let (entry, profile) = (&account.entry, account.profile());
    let standard = ClientConfig::standard();
    let config = ClientConfig {
        limits: Limits {
            window_max: account.window(),
            inbound_max: RECEIPTS_OPEN_MAX,
            response_ms: entry.response_timeout_ms,
            enquire_idle_ms: Some(entry.enquire_link_ms),
            enquire_wait_ms: profile.enquire_wait_ms,
            ..standard.limits
        },
        bind_ms: profile.bind_wait_ms,
    };
    let kind = match direction {
        Direction::Both => BindType::Transceiver,
        Direction::Sends => BindType::Transmitter,
        Direction::Receives => BindType::Receiver,
    };
    let mut request = BindRequest::new(kind, entry.system_id.as_bytes(), password.reveal().as_bytes());
    if profile.version == SmppVersion::V33 {
        request = request.speaking(VERSION_3_3);
    }
    request.bind.system_type = entry.system_type.as_bytes();
    Session::client(config, &request, smpp_moment(now))
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
