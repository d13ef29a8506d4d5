//! One customer's session, from its first octet to its last: a short loop around the pure session of the protocol. It
//! reads, lets the session decide, does what is asked, and brings receipts and messages from handsets as long as the client takes them.
//!
//! Nothing is answered before it is durable, nothing more is read while the client's window is full or it does not take
//! our answers, and whatever ends the session, the receipts it had not answered go back to wait.

mod delivery;
mod handsets;
mod mo_delivery;
mod requests;
mod submit_rate;
mod wire;

use super::bind::{self, Admitted, Refused};
use super::{Peer, Settings};
use crate::arrivals::Place;
use crate::board::{LiveBind, Order};
use crate::clock::Moment;
use crate::world::World;
use delivery::Reporting;
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use handsets::Taken;
use hermod_domain::ids::ConnectionId;
use hermod_smpp::session::{Acceptance, CloseReason};
use hermod_smpp::{BindType, CommandStatus, Event, Frame, Pdu, Session};
use hermod_store::ReportId;
use requests::Done;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use submit_rate::BindPace;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use wire::Wire;

type Work = Pin<Box<dyn Future<Output = Done> + Send>>;
type Taking = Pin<Box<dyn Future<Output = Taken> + Send>>;

/// Serves one connection until it is over.
pub(super) async fn run<S>(
    world: Arc<World>,
    settings: Arc<Settings>,
    stream: S,
    peer: Peer,
    place: Arc<Place>,
    stopping: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let mut conversation = Conversation::new(world, settings, peer, place);
    let mut wire = Wire::new(stream);
    conversation.converse(&mut wire, &stopping).await;
    conversation.leave().await;
    wire.close().await;
}

struct Conversation {
    world: Arc<World>,
    settings: Arc<Settings>,
    peer: Peer,
    /// Its place among the connections of its address.
    place: Arc<Place>,
    session: Session<ReportId>,
    bound: Option<Bound>,
    /// What was asked for and is not answered yet; no more than the window holds.
    working: FuturesUnordered<Work>,
    /// Waiting for the next reports. Kept from turn to turn: it may have to read them from the disk first.
    taking: Option<Taking>,
    /// By when an octet of what is to be written must have left.
    write_by: Option<Moment>,
    stopping: bool,
    over: Option<CloseReason>,
}

/// Who is bound, and what goes with that.
struct Bound {
    connection: ConnectionId,
    kind: BindType,
    is_3_4: bool,
    place: LiveBind,
    has_left: bool,
    pace: BindPace,
    /// There on binds that take receipts.
    reporting: Option<Reporting>,
}

/// What woke a session up.
enum Woken {
    Wire(WireNews),
    Done(Done),
    Reports(Taken),
    Order(Order),
    Catalogue,
    Time,
    Stopping,
}

enum WireNews {
    Written,
    Read,
    Gone,
}

impl Conversation {
    fn new(world: Arc<World>, settings: Arc<Settings>, peer: Peer, place: Arc<Place>) -> Conversation {
        let session = Session::server(settings.server, moment(world.clock.moment()));
        Conversation {
            world,
            settings,
            peer,
            place,
            session,
            bound: None,
            working: FuturesUnordered::new(),
            taking: None,
            write_by: None,
            stopping: false,
            over: None,
        }
    }

    async fn converse<S>(&mut self, wire: &mut Wire<S>, stopping: &CancellationToken)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut changes = self.world.catalogue_changes();
        let mut armed: Option<Moment> = None;
        let clock = self.world.clock.clone();
        let mut timer: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(std::future::pending());
        loop {
            self.turn();
            if self.over.is_some() && self.session.output().is_empty() {
                return;
            }
            // A timer is set anew only when it would ring too late: most turns move the deadlines further away.
            let wake_at = self.next_wake();
            if armed.is_none_or(|armed| wake_at < armed) {
                let clock = clock.clone();
                timer = Box::pin(async move { clock.sleep_until(wake_at).await });
                armed = Some(wake_at);
            }
            let (is_open, bound) = (self.over.is_none(), self.bound.as_ref());
            // What somebody wants of the session goes before what the client says: a client can always say more.
            let woken = tokio::select! {
                biased;
                () = stopping.cancelled(), if !self.stopping => Woken::Stopping,
                order = ordered(bound) => Woken::Order(order),
                () = &mut timer => Woken::Time,
                Some(done) = self.working.next(), if !self.working.is_empty() => Woken::Done(done),
                news = on_wire(wire, &mut self.session, &self.world, is_open, bound) => Woken::Wire(news),
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
        let now = self.world.clock.moment();
        match woken {
            Woken::Wire(WireNews::Written) => self.write_by = None,
            Woken::Wire(WireNews::Read) => {}
            Woken::Wire(WireNews::Gone) => self.lost(now),
            Woken::Done(done) => {
                self.on_done(done);
                // One commit ends many waits at once; all of their answers leave together.
                while let Some(Some(done)) = self.working.next().now_or_never() {
                    self.on_done(done);
                }
            }
            Woken::Reports(reports) => {
                self.taking = None;
                self.bring(reports);
            }
            Woken::Order(Order::Probe) => self.session.probe(moment(now)),
            Woken::Order(Order::Unbind) => self.unbind("The operator ended the bind"),
            Woken::Catalogue => self.on_catalogue(),
            Woken::Time => self.on_time(now),
            Woken::Stopping => self.on_stopping(now),
        }
    }

    /// Takes in what the session has to say, and tells the store what became of receipts.
    fn turn(&mut self) {
        let now = self.world.clock.moment();
        while let Some(event) = self.session.next_event(moment(now)) {
            self.on_event(event);
        }
        self.settle_and_take(now);
        if let Some(bound) = &self.bound {
            bound.place.set_window_in(self.session.inbound_open());
            bound.place.set_window_out(self.session.outstanding());
        }
        if self.session.output().is_empty() {
            self.write_by = None;
        } else {
            self.write_by.get_or_insert(now.plus(self.settings.write_max));
        }
    }

    fn on_event(&mut self, event: Event<ReportId>) {
        match event {
            Event::BindRequested(frame) => self.on_bind(frame),
            Event::Request(frame) => self.on_request(frame),
            Event::Answered { token, frame } => self.on_report_answered(token, &frame),
            Event::TimedOut { sequence, token } => self.on_report_timed_out(sequence, token),
            Event::LateAnswer { sequence, frame } => self.on_report_answered_late(sequence, &frame),
            Event::Lost(tokens) => self.on_reports_lost(&tokens),
            // The place is free from here on, not only once the connection has closed.
            Event::PeerUnbound => self.sign_off("The client unbound"),
            Event::Closed(reason) => {
                self.sign_off("The session has ended");
                if matches!(reason, CloseReason::BadBind(_)) {
                    // Counted like any other bind that cannot be right; the answer has left already.
                    let now = self.world.clock.now();
                    let _ = self.settings.guard.admit_address(self.peer.address, now);
                }
                self.over = Some(reason);
            }
            Event::Bound { .. } | Event::BindRefused(_) | Event::Notification(_) => {}
        }
    }

    fn on_bind(&mut self, frame: Frame) {
        let (world, settings, peer) = (self.world.clone(), self.settings.clone(), self.peer);
        self.working.push(Box::pin(async move {
            let Ok(Pdu::Bind(kind, bind)) = frame.decode() else { return Done::Nothing };
            let checked = bind::check(&world, &settings, peer, kind, &bind).await;
            if let Err(Refused { delay, .. }) = &checked {
                world.clock.sleep(*delay).await;
            }
            Done::Bind { kind, is_3_4: bind.is_3_4(), checked }
        }));
    }

    fn on_bind_checked(&mut self, kind: BindType, is_3_4: bool, checked: Result<Admitted, Refused>) {
        let now = moment(self.world.clock.moment());
        let (has_current_password, admitted) = match checked {
            Ok(admitted) => (bind::has_current_password(&self.world, &admitted), admitted),
            Err(Refused { status, .. }) => {
                // If it is too late to tell, the session has ended by itself.
                let _ = self.session.refuse_bind(status, now);
                return;
            }
        };
        let Admitted { connection, access, bind: place } = admitted;
        let window = u32::from(access.window);
        let acceptance = Acceptance {
            system_id: self.settings.system_id.as_bytes(),
            window_max: window,
            inbound_max: window,
        };
        if let Err(refused) = self.session.accept_bind(&acceptance, now) {
            tracing::debug!(%refused, "A bind was accepted when its session was over");
            return;
        }
        self.place.establish();
        let (system_id, kind_name, tls) = (place.system_id(), place.kind().as_str(), self.peer.tls);
        tracing::info!(peer = %self.peer.address, %system_id, kind = kind_name, tls, "Bound");
        let reporting =
            kind.may_receive().then(|| Reporting::new(self.world.store.open_receiver(connection)));
        let pace = BindPace::new(self.world.clock.now());
        self.bound = Some(Bound { connection, kind, is_3_4, place, has_left: false, pace, reporting });
        // The connection may have been changed while the password was checked.
        if has_current_password {
            self.on_catalogue();
        } else {
            self.unbind("Unbinding, its password was changed while it was checked");
        }
    }

    /// The bind holds its place no longer, whatever its goodbyes take.
    fn sign_off(&mut self, why: &str) {
        let Some(bound) = &mut self.bound else { return };
        if !std::mem::replace(&mut bound.has_left, true) {
            tracing::info!(peer = %self.peer.address, system_id = %bound.place.system_id(), "{why}");
            bound.place.leave();
        }
    }

    /// Ends the bind from this side.
    fn unbind(&mut self, why: &str) {
        self.session.unbind(moment(self.world.clock.moment()));
        self.sign_off(why);
    }

    fn lost(&mut self, now: Moment) {
        self.session.connection_lost(moment(now));
        self.session.output().clear();
    }

    fn on_time(&mut self, now: Moment) {
        if self.write_by.is_some_and(|by| by <= now) {
            self.fail("It does not take what it is sent");
            self.lost(now);
            return;
        }
        self.session.on_deadline(moment(now));
    }

    /// Ends the bind if it would not be admitted any more.
    fn on_catalogue(&mut self) {
        let Some(bound) = self.bound.as_ref().filter(|bound| !bound.has_left) else { return };
        if let Some(why) = bind::no_longer_admitted(&self.world, &bound.place, self.peer) {
            self.unbind(&format!("Unbinding, the bind is no longer admitted: {why}"));
        }
    }

    /// Customers are told one after the other, so that not all of them come back in one second; this is our turn.
    fn on_stopping(&mut self, now: Moment) {
        self.stopping = true;
        // A bind that is still being checked is told to come back; any other session takes this for nothing.
        let _ = self.session.refuse_bind(CommandStatus::BINDFAIL, moment(now));
        self.unbind("The gateway is stopping");
    }

    fn fail(&self, what: &str) {
        if let Some(bound) = &self.bound {
            bound.place.failed(what.to_owned(), self.world.clock.now());
        }
    }

    fn next_wake(&self) -> Moment {
        let now = self.world.clock.moment();
        let session_at = self.session.next_deadline().map(|at| Moment(at.0));
        let paused_until = self.bound.as_ref().and_then(|bound| bound.pace.paused_until(now));
        let resting_until =
            self.bound.as_ref().and_then(|bound| bound.reporting.as_ref()?.resting_until(now));
        let times = [session_at, self.write_by, paused_until, resting_until];
        times.into_iter().flatten().min().unwrap_or(Moment(u64::MAX))
    }

    /// The session is over: what it had not brought goes back, and its place is free.
    async fn leave(&mut self) {
        self.session.connection_lost(moment(self.world.clock.moment()));
        self.turn();
        self.taking = None;
        if let Some(Bound { reporting: Some(mut reporting), .. }) = self.bound.take() {
            reporting.tell_store(self.world.clock.now()).await;
        }
    }
}

/// Reads and writes, whichever can be done first. Nothing is read while the session does not want more.
async fn on_wire<S>(
    wire: &mut Wire<S>,
    session: &mut Session<ReportId>,
    world: &World,
    is_open: bool,
    bound: Option<&Bound>,
) -> WireNews
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    poll_fn(|context| {
        if let Poll::Ready(written) = wire.poll_write(context, session.output()) {
            return Poll::Ready(written.map_or(WireNews::Gone, |()| WireNews::Written));
        }
        let now = world.clock.moment();
        let is_paused = bound.is_some_and(|bound| bound.pace.paused_until(now).is_some());
        if !is_open || is_paused || !session.may_read() {
            return Poll::Pending;
        }
        match wire.poll_read(context, |octets| session.receive(octets, moment(now))) {
            Poll::Ready(Ok(length)) if length > 0 => Poll::Ready(WireNews::Read),
            Poll::Ready(_) => Poll::Ready(WireNews::Gone),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

async fn taken(taking: &mut Option<Taking>) -> Taken {
    match taking {
        Some(taking) => taking.await,
        None => std::future::pending().await,
    }
}

async fn ordered(bound: Option<&Bound>) -> Order {
    match bound {
        Some(bound) => bound.place.ordered().await,
        None => std::future::pending().await,
    }
}

fn moment(moment: Moment) -> hermod_smpp::Moment {
    hermod_smpp::Moment(moment.0)
}
