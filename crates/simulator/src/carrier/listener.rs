//! The carrier's door: lets connections in, turns them away, or is closed for a while. The port is kept through that,
//! so that nobody else takes it and the carrier comes back where it was.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::socket::{LinkSocket, Tls};
use super::{LINKS_MAX, Orders, Shared, connection};
use crate::runtime;

/// Connections that may wait to be let in.
const BACKLOG: u32 = 1024;
/// A port that was just left may be taken for a moment; it is tried again this often, this long apart.
const KEEP_TRIES: usize = 100;
const KEEP_PAUSE: Duration = Duration::from_millis(10);

pub(super) struct Listener {
    pub(super) shared: Arc<Shared>,
    pub(super) address: SocketAddr,
    pub(super) tls: Option<Tls>,
    pub(super) receive_buffer_bytes: Option<u32>,
    pub(super) orders: watch::Receiver<Orders>,
    /// Whether it is open, for those who wait for it.
    pub(super) is_open: watch::Sender<bool>,
}

/// A listener on this address; its port may be any free one.
pub(super) fn listen(address: SocketAddr, receive_buffer_bytes: Option<u32>) -> io::Result<TcpListener> {
    keep(address, receive_buffer_bytes)?.listen(BACKLOG)
}

/// A socket that holds the port and listens to nobody: connections to it are refused.
fn keep(address: SocketAddr, receive_buffer_bytes: Option<u32>) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    if let Some(bytes) = receive_buffer_bytes {
        socket.set_recv_buffer_size(bytes)?;
    }
    socket.bind(address)?;
    Ok(socket)
}

impl Listener {
    /// Keeps the door until the carrier stops, then waits for the last link to end.
    pub(super) async fn attend(mut self, listener: TcpListener) {
        let mut links = JoinSet::new();
        let mut number = 0;
        let mut listener = Some(listener);
        while !self.orders.borrow_and_update().stop {
            let (is_down, change) = self.look(runtime::now());
            if is_down && let Some(open) = listener.take() {
                drop(open);
                match self.stay_closed(&mut links).await {
                    Ok(reopened) => listener = Some(reopened),
                    // The port is lost, and with it the carrier.
                    Err(_) => break,
                }
                continue;
            }
            let Some(open) = &listener else { break };
            tokio::select! {
                accepted = open.accept() => if let Ok((stream, peer)) = accepted && links.len() < LINKS_MAX {
                    number += 1;
                    self.let_in(stream, peer, number, &mut links);
                },
                Some(ended) = links.join_next() => ended.expect("a link's task does not panic"),
                changed = self.orders.changed() => if changed.is_err() { break },
                () = runtime::sleep_until(change) => {}
            }
        }
        drop(listener);
        while let Some(ended) = links.join_next().await {
            ended.expect("a link's task does not panic");
        }
    }

    /// Whether the door is to be closed now, and when to look again.
    fn look(&self, now: Instant) -> (bool, Instant) {
        let by_script = self
            .shared
            .core
            .lock()
            .expect("no holder of the plan panics")
            .plan
            .down(self.shared.since_start(now));
        let (is_down, change) = by_script;
        // Without a change in sight it is looked at once an hour.
        let change = change.map_or(now + Duration::from_secs(3600), |at| self.shared.started + at);
        (is_down || self.orders.borrow().down, change)
    }

    /// Cuts all links, refuses connections until the door may open again, and opens it.
    async fn stay_closed(&mut self, links: &mut JoinSet<()>) -> io::Result<TcpListener> {
        let kept = self.keep_port().await?;
        self.shared.orders.send_modify(|orders| orders.cuts += 1);
        while let Some(ended) = links.join_next().await {
            ended.expect("a link's task does not panic");
        }
        self.is_open.send_replace(false);
        loop {
            let stop = self.orders.borrow_and_update().stop;
            let (is_down, change) = self.look(runtime::now());
            if !is_down || stop {
                break;
            }
            tokio::select! {
                changed = self.orders.changed() => changed.map_err(|_| io::ErrorKind::ConnectionAborted)?,
                () = runtime::sleep_until(change) => {}
            }
        }
        let listener = kept.listen(BACKLOG)?;
        self.is_open.send_replace(true);
        Ok(listener)
    }

    async fn keep_port(&self) -> io::Result<TcpSocket> {
        for _ in 1..KEEP_TRIES {
            if let Ok(kept) = keep(self.address, self.receive_buffer_bytes) {
                return Ok(kept);
            }
            runtime::pause(KEEP_PAUSE).await;
        }
        keep(self.address, self.receive_buffer_bytes)
    }

    fn let_in(&self, stream: TcpStream, peer: SocketAddr, number: u64, links: &mut JoinSet<()>) {
        let at = self.shared.since_start(runtime::now());
        let hang_up = self.shared.core.lock().expect("no holder of the plan panics").plan.script().hang_up;
        self.shared.record.write(|log| log.link_opened(number, peer, at));
        let socket = LinkSocket::new(stream, self.tls.as_ref());
        match socket {
            Ok(socket) if !hang_up => {
                let (shared, orders) = (Arc::clone(&self.shared), self.orders.clone());
                // Orders given from now on are meant for this link too, also those it has not begun to listen to.
                let given = *self.orders.borrow();
                links.spawn(async move {
                    connection::run(Arc::clone(&shared), socket, number, (orders, given)).await;
                    note_closed(&shared, number);
                });
            }
            turned_away => {
                drop(turned_away);
                note_closed(&self.shared, number);
            }
        }
    }
}

fn note_closed(shared: &Shared, number: u64) {
    let at = shared.since_start(runtime::now());
    shared.record.write(|log| log.link_closed(number, at));
}
