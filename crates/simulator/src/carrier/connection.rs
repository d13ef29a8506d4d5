//! The connection under a link: reads what the socket has, lets the link process it, and writes the output at once, except
//! where the script slows, holds back or cuts it.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use hermod_smpp::{CommandId, Header};
use tokio::io::Interest;
use tokio::sync::watch;

use super::link::{PDU_BYTES_MAX, SimulatedLink, SimulatedLinkState};
use super::script::WriteMode;
use super::socket::{LinkSocket, READ_BYTES};
use super::{Orders, Shared};
use crate::runtime;

/// Time for the peer to accept the last output before the close, and again for its own close.
const CLOSE_WAIT_MAX: Duration = Duration::from_millis(500);
/// An idle connection wakes up this often.
const IDLE_WAKE: Duration = Duration::from_secs(3600);

/// Runs one connection to its end. Orders count if they differ from `obeyed`, those given before it was accepted.
pub(super) async fn run(
    shared: Arc<Shared>,
    socket: LinkSocket,
    number: u64,
    (mut orders, obeyed): (watch::Receiver<Orders>, Orders),
) {
    let mut connection = Connection {
        link: SimulatedLink::new(Arc::clone(&shared), number),
        shared: Arc::clone(&shared),
        socket,
        input: BytesMut::with_capacity(READ_BYTES),
        bytes_out: 0,
        held_until: None,
        obeyed,
        unbinding: false,
        close_by: None,
    };
    let ended = connection.serve(&mut orders).await;
    if ended.is_ok() && connection.link.state == SimulatedLinkState::Ended {
        connection.close().await;
    }
    connection.link.on_disconnect(runtime::now());
}

struct Connection {
    link: SimulatedLink,
    shared: Arc<Shared>,
    socket: LinkSocket,
    /// Octets of an incomplete PDU.
    input: BytesMut,
    bytes_out: u64,
    /// Output is held back until then (`WriteMode::Coalesce`).
    held_until: Option<Instant>,
    /// Orders that were carried out, or given before this connection was accepted.
    obeyed: Orders,
    /// The carrier has sent an unbind.
    unbinding: bool,
    /// When a connection that is closing is dropped with the rest of its output.
    close_by: Option<Instant>,
}

/// Why a connection woke up.
enum Wake {
    Socket,
    Time,
    Deliveries,
    Orders,
}

impl Connection {
    /// Serves until the session has ended or the connection is cut, which is an error.
    async fn serve(&mut self, orders: &mut watch::Receiver<Orders>) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        loop {
            let deliveries = shared.deliveries_ready.notified();
            tokio::pin!(deliveries);
            // Registered before the link looks for work: a notification in between must not be missed.
            deliveries.as_mut().enable();
            let now = runtime::now();
            if self.link.cut_at.is_some_and(|at| at <= now) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            if let Some(until) = self.stalled_until(now) {
                self.stall(until, orders).await?;
                continue;
            }
            if self.link.state == SimulatedLinkState::Open {
                self.link.process(now);
            }
            self.socket.flush()?;
            let written = self.write(now)?;
            if written > 0 && self.link.state == SimulatedLinkState::Open && !self.link.session.may_read() {
                // The session reads again once its output has room.
                continue;
            }
            if self.link.state != SimulatedLinkState::Open {
                let close_by = *self.close_by.get_or_insert(now + CLOSE_WAIT_MAX);
                if self.link.session.output().is_empty() || close_by <= now {
                    return Ok(());
                }
            }
            let due = self.next_due(now);
            let interest = self.interest(now);
            let wake = tokio::select! {
                biased;
                // The sender is dropped with the carrier.
                changed = orders.changed() => {
                    changed.map(|()| Wake::Orders).map_err(|_| io::ErrorKind::ConnectionAborted)?
                }
                ready = self.socket.ready(interest) => ready.map(|()| Wake::Socket)?,
                () = runtime::sleep_until(due) => Wake::Time,
                () = deliveries => Wake::Deliveries,
            };
            match wake {
                Wake::Socket => self.read()?,
                Wake::Orders => self.obey(*orders.borrow_and_update())?,
                Wake::Time | Wake::Deliveries => {}
            }
        }
    }

    fn stalled_until(&self, now: Instant) -> Option<Instant> {
        self.link.stalled_until.filter(|until| *until > now)
    }

    async fn stall(&mut self, until: Instant, orders: &mut watch::Receiver<Orders>) -> io::Result<()> {
        let until = self.link.cut_at.map_or(until, |at| at.min(until));
        tokio::select! {
            changed = orders.changed() => changed.map_err(|_| io::ErrorKind::ConnectionAborted)?,
            () = runtime::sleep_until(until) => return Ok(()),
        }
        self.obey(*orders.borrow_and_update())
    }

    fn obey(&mut self, orders: Orders) -> io::Result<()> {
        let Orders { stop, cuts, unbinds, stalls, stalled_until, .. } = orders;
        // A muted link cannot unbind.
        if cuts > self.obeyed.cuts || (stop && self.link.is_muted()) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if stalls > self.obeyed.stalls {
            self.link.stalled_until = stalled_until;
        }
        if stop {
            self.link.stalled_until = None;
        }
        if (stop || unbinds > self.obeyed.unbinds) && !self.unbinding && !self.link.is_muted() {
            self.unbinding = true;
            self.link.session.unbind(self.shared.moment(runtime::now()));
        }
        self.obeyed = orders;
        Ok(())
    }

    fn next_due(&self, now: Instant) -> Instant {
        let link = match self.link.state {
            SimulatedLinkState::Open => self.link.next_due(),
            SimulatedLinkState::CutAfterFlush | SimulatedLinkState::Ended => self.close_by,
        };
        [link, self.held_until, self.link.cut_at].into_iter().flatten().fold(now + IDLE_WAKE, Instant::min)
    }

    fn interest(&mut self, now: Instant) -> Interest {
        let held = self.held_until.is_some_and(|until| until > now);
        let writes = (!self.link.session.output().is_empty() && !held) || self.socket.wants_write();
        match (self.may_read(), writes) {
            (true, true) => Interest::READABLE | Interest::WRITABLE,
            (false, true) => Interest::WRITABLE,
            (true, false) => Interest::READABLE,
            // Errors and the end of the connection are still reported.
            (false, false) => Interest::ERROR,
        }
    }

    /// Muted links are read without limit.
    fn may_read(&self) -> bool {
        self.link.state == SimulatedLinkState::Open && (self.link.is_muted() || self.link.session.may_read())
    }

    fn read(&mut self) -> io::Result<()> {
        if !self.may_read() {
            return Ok(());
        }
        match self.socket.read(&mut self.input) {
            Ok(0) if self.link.is_muted() => return Err(io::ErrorKind::ConnectionAborted.into()),
            Ok(0) => self.link.session.connection_lost(self.shared.moment(runtime::now())),
            Ok(_) => self.pass_on_input(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Passes complete PDUs to the session. The session answers enquire_link and unbind itself, so they are counted here,
    /// and dropped where the script leaves them unanswered.
    fn pass_on_input(&mut self) {
        let (answer_enquire_link, answer_unbind) = {
            let core = self.shared.core();
            (core.plan.script().answer_enquire_link.0, core.plan.script().answer_unbind.0)
        };
        let moment = self.shared.moment(runtime::now());
        let (mut from, mut upto) = (0, 0);
        let (mut enquire_links, mut unbinds, mut dropped) = (0, 0, 0);
        while let Some(header) = self.input.get(upto..).and_then(Header::parse) {
            let end = upto + header.length as usize;
            if header.length < 16 || header.length > PDU_BYTES_MAX {
                upto = self.input.len();
                break;
            }
            if end > self.input.len() {
                break;
            }
            enquire_links += u64::from(header.command == CommandId::ENQUIRE_LINK);
            let passes = match header.command {
                _ if self.link.is_muted() => {
                    dropped += 1;
                    false
                }
                CommandId::ENQUIRE_LINK => answer_enquire_link,
                CommandId::UNBIND if !answer_unbind => {
                    unbinds += 1;
                    false
                }
                _ => true,
            };
            if !passes {
                self.link.session.receive(&self.input[from..upto], moment);
                from = end;
            }
            upto = end;
        }
        if upto > from {
            self.link.session.receive(&self.input[from..upto], moment);
        }
        self.input.advance(upto);
        if enquire_links + unbinds + dropped > 0 {
            self.shared.record.write(|log| {
                let counts = log.counts();
                counts.enquire_links += enquire_links;
                counts.unbinds += unbinds;
                counts.dropped_pdus += dropped;
            });
        }
    }

    /// Writes the session's output in the script's write mode. Returns the octets written.
    fn write(&mut self, now: Instant) -> io::Result<usize> {
        if self.link.session.output().is_empty() {
            return Ok(0);
        }
        let (write_mode, before_cut) = {
            let core = self.shared.core();
            (core.plan.script().write_mode, core.plan.bytes_before_cut(self.bytes_out))
        };
        match (write_mode, self.held_until) {
            (WriteMode::Coalesce(hold), None) if self.link.state == SimulatedLinkState::Open => {
                self.held_until = Some(now + hold);
                return Ok(0);
            }
            (WriteMode::Coalesce(_), Some(until)) if until > now => return Ok(0),
            _ => self.held_until = None,
        }
        let output = self.link.session.output();
        let mut count = if write_mode == WriteMode::Trickle { 1 } else { output.len() };
        if let Some(bytes) = before_cut {
            count = count.min(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        let written = match self.socket.write(&output[..count]) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        output.advance(written);
        self.bytes_out += written as u64;
        if before_cut.is_some_and(|bytes| bytes == written as u64) {
            self.shared.core().plan.note_cut_by_bytes();
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(written)
    }

    /// Shuts down the write side and waits for the peer to close: closing with unread input would reset the connection and
    /// lose the last response.
    async fn close(&mut self) {
        // The peer may have closed already.
        let _ = self.socket.close().await;
        let peer_close = async {
            let mut rest = BytesMut::with_capacity(READ_BYTES);
            loop {
                rest.clear();
                self.socket.ready(Interest::READABLE).await?;
                match self.socket.read(&mut rest) {
                    Ok(0) => return Ok(()),
                    Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                    Ok(_) | Err(_) => {}
                }
            }
        };
        let _: Result<io::Result<()>, _> = runtime::within(CLOSE_WAIT_MAX, peer_close).await;
    }
}
