//! A TCP forwarder on the loopback that a test can cut: between a node and PostgreSQL, or in front of a node's listener.

use crate::gateways::free_address;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// `COMMIT` as a simple query of PostgreSQL's protocol.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

/// What is kept back of a commit, for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The server runs the batch and does not get the commit.
    Request,
    /// The server commits, and its answer does not arrive.
    Answer,
}

/// What the forwarder does with connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Road {
    Open,
    /// Open connections are closed and new ones refused.
    Closed,
    /// Nothing is forwarded, and nothing is closed or refused: what was sent arrives when the road is open again.
    Silent,
    /// The same for every connection after the one with this number.
    SilentAfter(u64),
    /// The same for every connection before the one with this number.
    SilentBefore(u64),
}

impl Road {
    fn is_open(self, connection: u64) -> bool {
        match self {
            Road::Open => true,
            Road::Closed | Road::Silent => false,
            Road::SilentAfter(last) => connection <= last,
            Road::SilentBefore(first) => connection >= first,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Route {
    target: SocketAddr,
    road: Road,
    /// What is kept back of the next commit. All before it is forwarded.
    holds: Option<Held>,
}

/// Forwards until this is dropped.
pub(super) struct Forwarder {
    address: SocketAddr,
    route: watch::Sender<Route>,
    held_commits: watch::Receiver<u64>,
    /// The numbers of the open connections.
    open: watch::Receiver<BTreeSet<u64>>,
    _tasks: JoinSet<()>,
}

impl Forwarder {
    pub(super) async fn start(target: SocketAddr) -> Forwarder {
        let address = free_address();
        let listener = TcpListener::bind(address).await.expect("a free port");
        let route = watch::Sender::new(Route { target, road: Road::Open, holds: None });
        let (held, held_commits) = watch::channel(0);
        let (opened, open) = watch::channel(BTreeSet::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(listen(listener, address, route.clone(), (held, opened)));
        Forwarder { address, route, held_commits, open, _tasks: tasks }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn set_road(&self, road: Road) {
        self.route.send_modify(|route| route.road = road);
    }

    /// Makes all connections silent, and new ones, except the open one that was made first.
    pub(super) fn silence_all_but_the_first(&self) {
        let first = *self.open.borrow().first().expect("a connection is open");
        self.set_road(Road::SilentAfter(first));
    }

    /// Makes all connections silent for good that are open now.
    pub(super) fn silence_the_open_ones(&self) {
        let last = *self.open.borrow().last().expect("a connection is open");
        self.set_road(Road::SilentBefore(last + 1));
    }

    /// Sets where new connections go.
    pub(super) fn set_target(&self, target: SocketAddr) {
        self.route.send_modify(|route| route.target = target);
    }

    /// Keeps back the next commit or its answer, and all that follows on the same connection. Returns when that has happened.
    pub(super) async fn hold_commit(&self, what: Held) {
        let mut held = self.held_commits.clone();
        held.mark_unchanged();
        self.route.send_modify(|route| route.holds = Some(what));
        held.changed().await.expect("the forwarder runs");
    }
}

async fn listen(
    mut listener: TcpListener,
    address: SocketAddr,
    route: watch::Sender<Route>,
    (held, open): (watch::Sender<u64>, watch::Sender<BTreeSet<u64>>),
) {
    let mut routes = route.subscribe();
    let mut connections = JoinSet::new();
    let mut number = 0;
    loop {
        let is_closed = tokio::select! {
            accepted = listener.accept() => {
                let (client, _) = accepted.expect("a connection");
                let (route, held, open) = (route.clone(), held.clone(), open.clone());
                connections.spawn(async move {
                    open.send_modify(|open| {
                        open.insert(number);
                    });
                    forward(client, number, route, held).await;
                    open.send_modify(|open| {
                        open.remove(&number);
                    });
                });
                number += 1;
                false
            }
            closed = routes.wait_for(|route| route.road == Road::Closed) => closed.is_ok(),
            Some(_) = connections.join_next() => false,
        };
        if is_closed {
            // Without a listener the system refuses connections.
            drop(listener);
            if routes.wait_for(|route| route.road != Road::Closed).await.is_err() {
                return;
            }
            listener = TcpListener::bind(address).await.expect("no other process uses this port");
        }
    }
}

/// Forwards one connection until an end is closed, or the road.
async fn forward(client: TcpStream, number: u64, route: watch::Sender<Route>, held: watch::Sender<u64>) {
    let mut routes = route.subscribe();
    let route_now = routes.wait_for(|route| route.road.is_open(number) || route.road == Road::Closed).await;
    let Ok(target) = route_now.map(|route| route.target) else { return };
    let Ok(server) = TcpStream::connect(target).await else { return };
    // A socket that was closed meanwhile takes no settings.
    let (Ok(()), Ok(())) = (client.set_nodelay(true), server.set_nodelay(true)) else { return };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // Whether answers are kept back.
    let mute = AtomicBool::new(false);
    tokio::select! {
        () = send_requests(from_client, to_server, number, &route, (&mute, &held)) => {}
        () = send_answers(from_server, to_client, number, &route, &mute) => {}
        _ = routes.wait_for(|route| route.road == Road::Closed) => {}
    }
}

/// Forwards what a client sends. `held`: counts commits that were kept back.
async fn send_requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    number: u64,
    route: &watch::Sender<Route>,
    (mute, held): (&AtomicBool, &watch::Sender<u64>),
) {
    let mut routes = route.subscribe();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = from.read(&mut buffer).await.unwrap_or(0);
        // The end of a connection is forwarded like its octets.
        if routes.wait_for(|route| route.road.is_open(number)).await.is_err() || length == 0 {
            return;
        }
        let sent = &buffer[..length];
        let holds = if sent.ends_with(COMMIT) { take_hold(route) } else { None };
        let sent = match holds {
            Some(Held::Request) => &sent[..length - COMMIT.len()],
            Some(Held::Answer) => {
                mute.store(true, Ordering::Release);
                sent
            }
            None => sent,
        };
        if to.write_all(sent).await.is_err() {
            return;
        }
        if holds.is_some() {
            held.send_modify(|count| *count += 1);
            return std::future::pending().await;
        }
    }
}

/// Forwards what a server answers.
async fn send_answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    number: u64,
    route: &watch::Sender<Route>,
    mute: &AtomicBool,
) {
    let mut routes = route.subscribe();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = from.read(&mut buffer).await.unwrap_or(0);
        if routes.wait_for(|route| route.road.is_open(number)).await.is_err() || length == 0 {
            return;
        }
        let is_mute = mute.load(Ordering::Acquire);
        if !is_mute && to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

/// Returns what is to be kept back of a commit: only of one.
fn take_hold(route: &watch::Sender<Route>) -> Option<Held> {
    let mut taken = None;
    route.send_if_modified(|route| {
        taken = route.holds.take();
        taken.is_some()
    });
    taken
}
