//! One customer's session, from accept to close: a loop around the pure SMPP session. It reads requests, runs them,
//! writes the responses, and delivers receipts and MO messages.
//!
//! No submit is acknowledged before it is durable. Nothing is read while the client's window is full or the client
//! does not read our responses. However the session ends, unacknowledged receipts go back to the outbox.

mod delivery;
mod mo_delivery;
mod requests;
mod socket;
mod stopping;
mod submit_log;
mod submit_rate;

use super::bind::{self, AcceptedBind, BindRejection};
use super::listener::Stops;
use super::{Peer, SmppSettings};
use crate::clock::Moment;
use crate::gateway::Gateway;
use crate::listeners::ConnectionSlot;
use crate::live_status::{LiveBind, Order};
use crate::pdu_trace::PduTrace;
use crate::stream;
use delivery::{ReportDelivery, taken};
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use hermod_domain::ids::ConnectionId;
use hermod_smpp::session::{BindAcceptance, CloseReason};
use hermod_smpp::{BindType, Frame, Pdu, ReceiptDialect, Session, SessionEvent};
use hermod_store::ReportId;
use mo_delivery::TakenReports;
use requests::RequestOutcome;
use socket::{SocketEvent, on_socket};
use std::pin::Pin;
use std::sync::Arc;
use stopping::StopStage;
use submit_rate::SubmitRate;
use tokio::io::{AsyncRead, AsyncWrite};

type Work = Pin<Box<dyn Future<Output = RequestOutcome> + Send>>;
type Taking = Pin<Box<dyn Future<Output = TakenReports> + Send>>;

/// Serves one connection until it ends.
pub(super) async fn run<S>(
    gateway: Arc<Gateway>,
    settings: Arc<SmppSettings>,
    mut stream: S,
    peer: Peer,
    place: Arc<ConnectionSlot>,
    stops: Stops,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let mut session = CustomerSession::new(gateway, settings, peer, place);
    session.run_session(&mut stream, &stops).await;
    session.leave().await;
    stream::close(&mut stream).await;
}

struct CustomerSession {
    gateway: Arc<Gateway>,
    settings: Arc<SmppSettings>,
    peer: Peer,
    /// Its slot among the connections of its address.
    place: Arc<ConnectionSlot>,
    session: Session<ReportId>,
    bound: Option<Bound>,
    /// Requests that are not answered yet; the window bounds them.
    working: FuturesUnordered<Work>,
    /// Waits for the next reports. Kept between turns, because it may have to read them from disk.
    taking: Option<Taking>,
    /// The octets of the pending output that the PDU trace has.
    traced: usize,
    /// The deadline for writing pending output.
    write_by: Option<Moment>,
    stopping: Option<StopStage>,
    over: Option<CloseReason>,
}

/// The state of a bound session.
struct Bound {
    connection: ConnectionId,
    kind: BindType,
    is_3_4: bool,
    place: LiveBind,
    has_left: bool,
    submit_rate: SubmitRate,
    pdu_trace: PduTrace,
    /// Present on binds that can receive.
    report_delivery: Option<ReportDelivery>,
}

/// What woke the session.
enum Woken {
    Socket(SocketEvent),
    Outcome(RequestOutcome),
    Reports(TakenReports),
    Order(Order),
    Catalogue,
    Time,
    Stopping(StopStage),
}

impl CustomerSession {
    fn new(
        gateway: Arc<Gateway>,
        settings: Arc<SmppSettings>,
        peer: Peer,
        place: Arc<ConnectionSlot>,
    ) -> CustomerSession {
        let session = Session::server(settings.server, gateway.clock.moment());
        CustomerSession {
            gateway,
            settings,
            peer,
            place,
            session,
            bound: None,
            working: FuturesUnordered::new(),
            taking: None,
            traced: 0,
            write_by: None,
            stopping: None,
            over: None,
        }
    }

    async fn run_session<S>(&mut self, socket: &mut S, stops: &Stops)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut changes = self.gateway.catalogue_changes();
        let mut armed: Option<Moment> = None;
        let clock = self.gateway.clock.clone();
        let mut timer: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(std::future::pending());
        loop {
            self.turn();
            if self.over.is_some() && self.session.output().is_empty() {
                return;
            }
            // Re-arm the timer only if it would fire too late: most turns move the deadlines further away.
            let wake_at = self.next_wake();
            if armed.is_none_or(|armed| wake_at < armed) {
                let clock = clock.clone();
                timer = Box::pin(async move { clock.sleep_until(wake_at).await });
                armed = Some(wake_at);
            }
            let (is_open, bound) = (self.over.is_none(), self.bound.as_ref());
            // Orders and deadlines go before the client's input, which may never end.
            let woken = tokio::select! {
                biased;
                () = stops.at_once.cancelled(), if self.stopping != Some(StopStage::AtOnce) => {
                    Woken::Stopping(StopStage::AtOnce)
                }
                () = stops.leave.cancelled(), if self.stopping.is_none() => {
                    Woken::Stopping(StopStage::LastResponses)
                }
                order = ordered(bound) => Woken::Order(order),
                () = &mut timer => Woken::Time,
                Some(outcome) = self.working.next(), if !self.working.is_empty() => Woken::Outcome(outcome),
                events = on_socket(socket, &mut self.session, &self.gateway, is_open, bound) => Woken::Socket(events),
                reports = taken(&mut self.taking) => Woken::Reports(reports),
                Ok(()) = changes.changed() => Woken::Catalogue,
            };
            if matches!(woken, Woken::Time) {
                armed = None;
            }
            self.on_woken(woken);
        }
    }

    fn on_woken(&mut self, woken: Woken) {
        let now = self.gateway.clock.moment();
        self.traced = self.session.output().len();
        match woken {
            Woken::Socket(SocketEvent::Written) => self.write_by = None,
            Woken::Socket(SocketEvent::Read) => {}
            Woken::Socket(SocketEvent::Gone) => self.lost(now),
            Woken::Outcome(outcome) => {
                self.on_outcome(outcome);
                // One commit completes many requests at once; send all their responses together.
                while let Some(Some(outcome)) = self.working.next().now_or_never() {
                    self.on_outcome(outcome);
                }
            }
            Woken::Reports(reports) => {
                self.taking = None;
                self.deliver(reports);
            }
            Woken::Order(Order::Probe) => self.session.probe(now),
            Woken::Order(Order::Unbind) => self.unbind("Unbinding on the operator's order"),
            Woken::Catalogue => self.on_catalogue(),
            Woken::Time => self.on_time(now),
            Woken::Stopping(stage) => self.on_stopping(stage, now),
        }
    }

    /// Handles the session's events, and reports settled receipts to the store.
    fn turn(&mut self) {
        let now = self.gateway.clock.moment();
        if let Some(bound) = &mut self.bound {
            bound.pdu_trace.begin(&mut self.session);
        }
        loop {
            while let Some(event) = self.session.next_event(now) {
                self.on_event(event);
            }
            // Without a bind that closes the session at once, which is an event: nothing else might wake the session for it.
            if !self.unbind_if_stopping() {
                break;
            }
        }
        self.settle_and_request_more(now);
        if let Some(bound) = &mut self.bound {
            bound.pdu_trace.note_after(self.traced, &mut self.session, &self.gateway.clock);
            bound.place.set_window_in(self.session.peer_outstanding());
            bound.place.set_window_out(self.session.outstanding());
        }
        if self.session.output().is_empty() {
            self.write_by = None;
        } else {
            self.write_by.get_or_insert(now.plus(self.settings.write_max));
        }
    }

    fn on_event(&mut self, event: SessionEvent<ReportId>) {
        match event {
            SessionEvent::BindRequested(frame) => self.on_bind(frame),
            SessionEvent::Request(frame) => self.on_request(frame),
            SessionEvent::Response { token, frame } => self.on_report_answered(token, &frame),
            SessionEvent::TimedOut { sequence, token } => self.on_report_timed_out(sequence, token),
            SessionEvent::LateResponse { sequence, frame } => self.on_report_answered_late(sequence, &frame),
            SessionEvent::Lost(tokens) => self.on_reports_lost(&tokens),
            // Frees the bind slot now, not when the connection is closed.
            SessionEvent::PeerUnbound => self.sign_off("The client unbound"),
            SessionEvent::Closed(reason) => {
                self.sign_off("The session has ended");
                if matches!(reason, CloseReason::BadBind(_)) {
                    // Counts as a malformed bind; the response was sent already.
                    let now = self.gateway.clock.now();
                    let _ = self.settings.guard.admit_address(self.peer.address, now);
                }
                self.over = Some(reason);
            }
            SessionEvent::Bound { .. } | SessionEvent::BindRejected(_) | SessionEvent::Notification(_) => {}
        }
    }

    fn on_bind(&mut self, frame: Frame) {
        let (gateway, settings, peer) = (self.gateway.clone(), self.settings.clone(), self.peer);
        self.working.push(Box::pin(async move {
            let Ok(Pdu::Bind(kind, bind)) = frame.decode() else { return RequestOutcome::Nothing };
            let checked = bind::check(&gateway, &settings, peer, kind, &bind).await;
            if let Err(BindRejection { delay, .. }) = &checked {
                gateway.clock.sleep(*delay).await;
            }
            RequestOutcome::Bind { kind, is_3_4: bind.is_3_4(), checked, frame: frame.clone() }
        }));
    }

    fn on_bind_checked(
        &mut self,
        kind: BindType,
        is_3_4: bool,
        checked: Result<AcceptedBind, BindRejection>,
        frame: &Frame,
    ) {
        let now = self.gateway.clock.moment();
        let (has_valid_password, admitted) = match checked {
            Ok(admitted) => (bind::has_valid_password(&self.gateway, &admitted), admitted),
            Err(BindRejection { status, .. }) => {
                // Fails only if the session has ended.
                let _ = self.session.reject_bind(status, now);
                return;
            }
        };
        let AcceptedBind { connection, access, bind: place, .. } = admitted;
        let window = u32::from(access.window);
        let acceptance = BindAcceptance {
            system_id: self.settings.system_id.as_bytes(),
            window_max: window,
            peer_window_max: window,
        };
        if let Err(refused) = self.session.accept_bind(&acceptance, now) {
            tracing::debug!(%refused, "Session ended before its bind was accepted");
            return;
        }
        self.place.establish();
        let (system_id, kind_name, tls) = (&place.began.system_id, place.began.kind.as_str(), self.peer.tls);
        tracing::info!(peer = %self.peer.address, %system_id, kind = kind_name, tls, "Bound");
        let report_delivery =
            kind.may_receive().then(|| ReportDelivery::new(self.gateway.store.open_receiver(connection)));
        let submit_rate = SubmitRate::new(self.gateway.clock.now());
        let trace = self.gateway.binds.open_trace(connection);
        let mut pdu_trace = PduTrace::new(trace, place.number, ReceiptDialect::Standard);
        pdu_trace.note_received(frame, &self.gateway.clock);
        self.bound = Some(Bound {
            connection,
            kind,
            is_3_4,
            place,
            has_left: false,
            submit_rate,
            pdu_trace,
            report_delivery,
        });
        // The catalogue may have changed while the password was checked.
        if has_valid_password {
            self.on_catalogue();
        } else {
            self.unbind("Unbinding, the password was changed during the bind");
        }
    }

    /// Frees the bind slot, before the connection is closed.
    fn sign_off(&mut self, why: &str) {
        let Some(bound) = &mut self.bound else { return };
        if !std::mem::replace(&mut bound.has_left, true) {
            tracing::info!(peer = %self.peer.address, system_id = %bound.place.began.system_id, "{why}");
            bound.place.leave();
        }
    }

    /// Ends the bind from this side.
    fn unbind(&mut self, why: &str) {
        self.session.unbind(self.gateway.clock.moment());
        self.sign_off(why);
    }

    pub(super) fn lost(&mut self, now: Moment) {
        self.session.connection_lost(now);
        self.session.output().clear();
    }

    fn on_time(&mut self, now: Moment) {
        if self.write_by.is_some_and(|by| by <= now) {
            self.fail("Write timed out: the client does not read");
            self.lost(now);
            return;
        }
        self.session.on_deadline(now);
    }

    /// Unbinds if the current catalogue would reject the bind.
    fn on_catalogue(&mut self) {
        let Some(bound) = self.bound.as_ref().filter(|bound| !bound.has_left) else { return };
        if let Some(why) = bind::rejection_of_live_bind(&self.gateway, &bound.place, self.peer) {
            self.unbind(&format!("Unbinding, the bind is no longer admitted: {why}"));
        }
    }

    fn fail(&self, what: &str) {
        if let Some(bound) = &self.bound {
            bound.place.failed(what.to_owned(), self.gateway.clock.now());
        }
    }

    fn next_wake(&self) -> Moment {
        let now = self.gateway.clock.moment();
        let session_at = self.session.next_deadline();
        let reading_at = self.bound.as_ref().and_then(|bound| bound.submit_rate.paused_until(now));
        let delivering_at =
            self.bound.as_ref().and_then(|bound| bound.report_delivery.as_ref()?.paused_until(now));
        let times = [session_at, self.write_by, reading_at, delivering_at];
        times.into_iter().flatten().min().unwrap_or(Moment(u64::MAX))
    }

    /// Returns undelivered reports to the store and frees the bind slot.
    async fn leave(&mut self) {
        self.session.connection_lost(self.gateway.clock.moment());
        self.turn();
        self.taking = None;
        if let Some(Bound { report_delivery: Some(mut report_delivery), .. }) = self.bound.take() {
            report_delivery.report_to_store(self.gateway.clock.now()).await;
        }
    }
}

async fn ordered(bound: Option<&Bound>) -> Order {
    match bound {
        Some(bound) => bound.place.ordered().await,
        None => std::future::pending().await,
    }
}
