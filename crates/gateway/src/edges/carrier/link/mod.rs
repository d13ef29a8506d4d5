//! One link, from its bind to its end: a loop around the pure SMPP session. It reads from the socket, passes the
//! session's events on, reports to the store, sends the parts that the store hands out, and wakes up for timeouts and
//! rate tokens.
//!
//! The order matters. A part is written only after the store has committed its claim. A receipt or an MO message is
//! answered only after the store has committed it. However the link ends, every outstanding part is reported before it
//! is gone.

pub(super) mod alternative_carrier;
mod drain;
mod events;
mod receive;
mod send;

use super::backoff::Ended;
use super::connect::{Stream, close};
use super::deliver_sm;
use super::flow::Flow;
use super::link_group::LinkGroup;
use super::submit_sm::PartEncoder;
use crate::clock::Moment;
use crate::live_status::{Direction, LinkState, LinkStatus, Stopped};
use crate::pdu_trace::PduTrace;
use crate::secrets::Secret;
use bytes::BytesMut;
use hermod_domain::carrier::SmppVersion;
use hermod_domain::catalogue::Carrier;
use hermod_domain::ids::{AccountId, MessageId, PartNo};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_smpp::session::{BindRequest, ClientConfig, CloseReason, SessionLimits};
use hermod_smpp::{BindType, EncodeError, Session, VERSION_3_3, VERSION_3_4};
use hermod_store::{
    Handout, Job, LinkPort, MoRecord, ReceiptRecord, ResponseRecord, SubmitResponse, TargetCarrier,
};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Receipts and MO messages read and not yet recorded. At this limit the link stops reading.
const RECEIPTS_OPEN_MAX: u32 = 2_000;
const READ_BYTES: usize = 64 * 1024;
/// Output must be written within this time.
const WRITE_WAIT: Duration = Duration::from_secs(10);
/// How long a stopping link waits for the responses to its outstanding parts.
const STOP_WAIT: Duration = Duration::from_secs(10);
/// How soon a link looks again whether its node may send.
const LEASE_CHECK: Duration = Duration::from_millis(100);

/// The part that a submit_sm was for, with what is needed to find another route.
#[derive(Clone, Copy)]
pub(super) struct SentPart {
    pub(super) message: MessageId,
    pub(super) part: PartNo,
    pub(super) account: AccountId,
    pub(super) from: Sender,
    pub(super) to: Msisdn,
    /// Of the message.
    pub(super) parts: u8,
    /// The charge for the message.
    pub(super) price: Money,
}

impl SentPart {
    fn of(job: &Job) -> SentPart {
        let Job { message, part, account, from, to, parts, price, .. } = *job;
        SentPart { message, part, account, from, to, parts, price }
    }

    fn record(self, answer: SubmitResponse) -> ResponseRecord {
        self.record_with_failover(answer, None)
    }

    fn record_with_failover(
        self,
        answer: SubmitResponse,
        otherwise: Option<TargetCarrier>,
    ) -> ResponseRecord {
        let SentPart { message, part, account, to, .. } = self;
        ResponseRecord { message, part, account, to, response: answer, failover_to: otherwise }
    }
}

pub(super) struct CarrierLink<'a> {
    group: &'a LinkGroup,
    figures: &'a LinkStatus,
    response_wait: Duration,
    session: Session<SentPart>,
    /// Present while the link is bound.
    port: Option<LinkPort>,
    flow: Flow<'a>,
    draft: PartEncoder,
    pdu_trace: PduTrace,
    output: BytesMut,
    /// The deadline for writing the oldest byte of the output.
    write_by: Option<Moment>,
    bound_at: Option<Moment>,
    /// The carrier answered at least one submit_sm.
    answered: bool,
    /// Set once the link takes no more parts and only waits for responses.
    draining_until: Option<Moment>,
    /// The carrier answered that we are not bound.
    rebinding: bool,
    /// The carrier is stopped: the link takes no parts.
    held: bool,
    stopped: watch::Receiver<Option<Stopped>>,
    stopping: bool,
    /// Not yet reported to the store.
    answers: Vec<ResponseRecord>,
    receipts: Vec<ReceiptRecord>,
    inbound: Vec<MoRecord>,
    /// Sequences of receipts and MO messages that came as data_sm and need a data_sm_resp.
    data_sms: Vec<u32>,
    /// Parts whose response timed out, by sequence. They are in doubt once the session is closed; until then a late
    /// response still counts.
    overdue: BTreeMap<u32, SentPart>,
    /// Parts without a response when the session ended.
    unanswered: Vec<SentPart>,
    ended: Option<Ended>,
}

impl<'a> CarrierLink<'a> {
    pub(super) fn new(
        group: &'a LinkGroup,
        figures: &'a LinkStatus,
        password: &Secret,
    ) -> Result<CarrierLink<'a>, EncodeError> {
        let now = group.gateway.clock.moment();
        let kind = match figures.direction() {
            Direction::Both => BindType::Transceiver,
            Direction::Sends => BindType::Transmitter,
            Direction::Receives => BindType::Receiver,
        };
        let windows = (group.window(), RECEIPTS_OPEN_MAX);
        let session = session_of(&group.entry, kind, password, windows, now)?;
        let mut stopped = group.state.watch_stopped();
        let held = stopped.borrow_and_update().is_some();
        Ok(CarrierLink {
            group,
            figures,
            response_wait: Duration::from_millis(group.entry.response_timeout_ms),
            session,
            port: None,
            flow: Flow::new(&group.shaper, &group.limited, group.window(), group.link_rate(), now),
            draft: PartEncoder::new(group.profile(), group.name()),
            pdu_trace: PduTrace::new(
                group.state.trace.clone(),
                u64::from(figures.number()),
                deliver_sm::dialect(group.profile()),
            ),
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
            unanswered: Vec::new(),
            ended: None,
        })
    }

    pub(super) async fn run(mut self, stream: Stream, stopping: &CancellationToken) -> Ended {
        self.figures.enter(LinkState::Binding, self.group.gateway.clock.now());
        let mut input = vec![0; READ_BYTES];
        let (mut reader, mut writer) = tokio::io::split(stream);
        loop {
            if let Err(fault) = self.process_events().await {
                tracing::error!(%fault, "Link failed: the store is not available");
                self.ended.get_or_insert(Ended::StoreGone);
            }
            if self.ended.is_some() && self.output.is_empty() {
                break;
            }
            if !self.group.gateway.store.has_lease() && self.ended.is_none() {
                // Another node may bind in place of this link.
                self.output.clear();
                self.connection_lost();
                continue;
            }
            // A node whose lease is about to end sends nothing, not even what is ready.
            let may_send = self.group.gateway.store.may_send();
            let wake_at = if may_send { self.next_wake() } else { self.next_wake().min(self.lease_check()) };
            tokio::select! {
                biased;
                written = writer.write(&self.output), if !self.output.is_empty() && may_send => {
                    self.on_written(written);
                }
                read = reader.read(&mut input), if self.session.may_read() && self.ended.is_none() => {
                    match read {
                        Ok(length) if length > 0 => self.session.receive(&input[..length], self.group.gateway.clock.moment()),
                        Ok(_) | Err(_) => self.connection_lost(),
                    }
                }
                handout = handout_of(self.port.as_ref()), if self.port.is_some() => self.send(handout),
                () = self.group.gateway.clock.sleep_until(wake_at) => self.on_wake(),
                Ok(()) = self.stopped.changed() => self.on_stopped_or_resumed().await,
                () = stopping.cancelled(), if !self.stopping => self.stop().await,
            }
        }
        close(&mut reader.unsplit(writer)).await;
        self.finish().await
    }

    fn on_wake(&mut self) {
        let now = self.group.gateway.clock.moment();
        if self.write_by.is_some_and(|by| by <= now) {
            self.output.clear();
            self.connection_lost();
            self.ended =
                Some(Ended::WriteTimeout { bound_for: self.bound_for(now), answered: self.answered });
            return;
        }
        if self.draining_until.is_some_and(|until| until <= now) {
            self.session.unbind(now);
            self.draining_until = Some(Moment(u64::MAX));
        }
        self.session.on_deadline(now);
    }

    fn connection_lost(&mut self) {
        let now = self.group.gateway.clock.moment();
        self.session.connection_lost(now);
    }

    fn closed(&self, reason: CloseReason, now: Moment) -> Ended {
        Ended::Closed { reason, bound_for: self.bound_for(now), answered: self.answered }
    }

    fn bound_for(&self, now: Moment) -> Duration {
        self.bound_at.map_or(Duration::ZERO, |at| Duration::from_millis(now.0.saturating_sub(at.0)))
    }

    /// When to look again whether the node may send.
    fn lease_check(&self) -> Moment {
        self.group.gateway.clock.moment().plus(LEASE_CHECK)
    }

    /// Whether the link may request parts.
    fn takes_parts(&self) -> bool {
        self.port.is_some() && self.draining_until.is_none() && !self.held && self.figures.direction().sends()
    }

    fn next_wake(&mut self) -> Moment {
        let now = self.group.gateway.clock.moment();
        let grant_at =
            if self.takes_parts() { self.flow.next_grant_at(self.session.window_free(), now) } else { None };
        let session_at = self.session.next_deadline();
        [grant_at, session_at, self.write_by, self.draining_until]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(Moment(u64::MAX))
    }
}

/// Makes a client session that binds as the carrier's entry says, with this window for our requests and for the carrier's.
pub(super) fn session_of<T>(
    carrier: &Carrier,
    kind: BindType,
    password: &Secret,
    (window_max, peer_window_max): (u32, u32),
    now: Moment,
) -> Result<Session<T>, EncodeError> {
    let profile = &carrier.profile;
    let standard = ClientConfig::standard();
    let config = ClientConfig {
        limits: SessionLimits {
            window_max,
            peer_window_max,
            response_ms: carrier.response_timeout_ms,
            enquire_idle_ms: Some(carrier.enquire_link_ms),
            enquire_wait_ms: profile.enquire_wait_ms,
            ..standard.limits
        },
        bind_ms: profile.bind_wait_ms,
    };
    let request = BindRequest::new(kind, carrier.system_id.as_bytes(), password.reveal().as_bytes());
    let mut request = request.with_version(match profile.version {
        SmppVersion::V33 => VERSION_3_3,
        SmppVersion::V34 => VERSION_3_4,
    });
    request.bind.system_type = carrier.system_type.as_bytes();
    Session::client(config, &request, now)
}

async fn handout_of(port: Option<&LinkPort>) -> Handout {
    match port {
        Some(port) => port.handout().await,
        None => std::future::pending().await,
    }
}
