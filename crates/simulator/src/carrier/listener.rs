//! The carrier's listener: accepts connections, and closes its port while the carrier is down. The port stays bound
//! meanwhile, so that the carrier comes back at the same address.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::socket::{LinkSocket, ServerTls};
use super::{LINKS_MAX, Orders, Shared, connection};
use crate::runtime;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1024;
/// A port that was just closed may still be in use; binding it again is tried this often, this long apart.
const BIND_TRIES: usize = 100;
const BIND_PAUSE: Duration = Duration::from_millis(10);
/// The state is checked this often while the script announces no change.
const CHECK_INTERVAL: Duration = Duration::from_secs(3600);

pub(super) struct Listener {
    pub(super) shared: Arc<Shared>,
    pub(super) address: SocketAddr,
    pub(super) tls: Option<ServerTls>,
    pub(super) receive_buffer_bytes: Option<u32>,
    pub(super) orders: watch::Receiver<Orders>,
    pub(super) is_open: watch::Sender<bool>,
}

/// Listens on this address; port 0 selects a free one.
pub(super) fn listen(address: SocketAddr, receive_buffer_bytes: Option<u32>) -> io::Result<TcpListener> {
    bind(address, receive_buffer_bytes)?.listen(BACKLOG)
}

/// Returns a socket that holds the port without listening: connections to it are refused.
fn bind(address: SocketAddr, receive_buffer_bytes: Option<u32>) -> io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    if let Some(bytes) = receive_buffer_bytes {
        socket.set_recv_buffer_size(bytes)?;
    }
    socket.bind(address)?;
    Ok(socket)
}

impl Listener {
    /// Accepts connections until the carrier stops, then waits for the last link to end.
    pub(super) async fn run(mut self, listener: TcpListener) {
        let mut links = JoinSet::new();
        let mut number = 0;
        let mut listener = Some(listener);
        while !self.orders.borrow_and_update().stop {
            let (is_down, change) = self.is_down(runtime::now());
            if is_down && let Some(open) = listener.take() {
                drop(open);
                match self.stay_closed(&mut links).await {
                    Ok(reopened) => listener = Some(reopened),
                    // Another process has taken the port.
                    Err(_) => break,
                }
                continue;
            }
            let Some(open) = &listener else { break };
            tokio::select! {
                accepted = open.accept() => if let Ok((stream, peer)) = accepted && links.len() < LINKS_MAX {
                    number += 1;
                    self.serve(stream, peer, number, &mut links);
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

    /// Returns whether the port is to be closed, and when to check again.
    fn is_down(&self, now: Instant) -> (bool, Instant) {
        let (is_down, change) = self.shared.core().plan.down(self.shared.since_start(now));
        let change = change.map_or(now + CHECK_INTERVAL, |at| self.shared.started + at);
        (is_down || self.orders.borrow().down, change)
    }

    /// Cuts all links, refuses connections until the port may open again, and opens it.
    async fn stay_closed(&mut self, links: &mut JoinSet<()>) -> io::Result<TcpListener> {
        let bound = self.bind_again().await?;
        self.shared.orders.send_modify(|orders| orders.cuts += 1);
        while let Some(ended) = links.join_next().await {
            ended.expect("a link's task does not panic");
        }
        self.is_open.send_replace(false);
        loop {
            let stop = self.orders.borrow_and_update().stop;
            let (is_down, change) = self.is_down(runtime::now());
            if !is_down || stop {
                break;
            }
            tokio::select! {
                changed = self.orders.changed() => changed.map_err(|_| io::ErrorKind::ConnectionAborted)?,
                () = runtime::sleep_until(change) => {}
            }
        }
        let listener = bound.listen(BACKLOG)?;
        self.is_open.send_replace(true);
        Ok(listener)
    }

    async fn bind_again(&self) -> io::Result<TcpSocket> {
        for _ in 1..BIND_TRIES {
            if let Ok(bound) = bind(self.address, self.receive_buffer_bytes) {
                return Ok(bound);
            }
            runtime::pause(BIND_PAUSE).await;
        }
        bind(self.address, self.receive_buffer_bytes)
    }

    fn serve(&self, stream: TcpStream, peer: SocketAddr, number: u64, links: &mut JoinSet<()>) {
        let at = self.shared.since_start(runtime::now());
        let hang_up = self.shared.core().plan.script().hang_up;
        self.shared.record.write(|log| log.link_opened(number, peer, at));
        match LinkSocket::new(stream, self.tls.as_ref()) {
            Ok(socket) if !hang_up => {
                let (shared, orders) = (Arc::clone(&self.shared), self.orders.clone());
                // Orders from now on concern this link, also before its task runs.
                let obeyed = *self.orders.borrow();
                links.spawn(async move {
                    connection::run(Arc::clone(&shared), socket, number, (orders, obeyed)).await;
                    note_closed(&shared, number);
                });
            }
            closed => {
                drop(closed);
                note_closed(&self.shared, number);
            }
        }
    }
}

fn note_closed(shared: &Shared, number: u64) {
    let at = shared.since_start(runtime::now());
    shared.record.write(|log| log.link_closed(number, at));
}
