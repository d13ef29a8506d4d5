//! The socket under a link: reads all there is, lets the link settle it, and writes all of the answer at once,
//! except where the script wants it done badly.

use crate::world::within;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use hermod_smpp::{CommandId, Header};
use tokio::io::Interest;
use tokio::sync::watch;

use super::link::{Link, LinkState, PDU_BYTES_MAX};
use super::script::WriteMode;
use super::socket::{LinkSocket, READ_BYTES};
use super::{Orders, Shared};
use crate::runtime;

/// A connection that is to be closed is given this long to take what was still to be said, and again for its own
/// goodbye.
const GOODBYE_MAX: Duration = Duration::from_millis(500);

/// One connection from its start to its end. It obeys orders that differ from those given before it came.
pub(super) async fn run(
    shared: Arc<Shared>,
    socket: LinkSocket,
    number: u64,
    (mut orders, given): (watch::Receiver<Orders>, Orders),
) {
    let mut connection = Connection {
        link: Link::new(Arc::clone(&shared), number),
        shared: Arc::clone(&shared),
        socket,
        inbox: BytesMut::with_capacity(READ_BYTES),
        bytes_out: 0,
        held_until: None,
        given,
        ending: false,
        give_up: None,
    };
    let ended = connection.serve(&mut orders).await;
    if ended.is_ok() && connection.link.state == LinkState::Ended {
        connection.say_goodbye().await;
    }
    connection.link.lose(runtime::now());
}

struct Connection {
    link: Link,
    shared: Arc<Shared>,
    socket: LinkSocket,
    /// ByteStream of a PDU that is not whole yet.
    inbox: BytesMut,
    bytes_out: u64,
    /// Output is held back until then (`WriteMode::Coalesce`).
    held_until: Option<Instant>,
    /// Orders that have been obeyed, or were given before this connection came.
    given: Orders,
    /// We have unbound because the carrier wants it.
    ending: bool,
    /// Until when a connection that is to be closed may take what was still to be said.
    give_up: Option<Instant>,
}

/// What woke a connection.
enum Woken {
    Socket,
    Time,
    Receipts,
    Orders,
}

impl Connection {
    /// Serves until the session is over or the connection is to be cut. An error is the connection's own end.
    async fn serve(&mut self, orders: &mut watch::Receiver<Orders>) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        loop {
            let receipts = shared.receipts_ready.notified();
            tokio::pin!(receipts);
            // Listen first, then look: a receipt that another link brings in between must not be missed.
            receipts.as_mut().enable();
            let now = runtime::now();
            if self.link.cut_at.is_some_and(|at| at <= now) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            if let Some(until) = self.stalled(now) {
                self.sleep(until, orders).await?;
                continue;
            }
            if self.link.state == LinkState::Open {
                self.link.settle(now);
            }
            self.socket.flush()?;
            let written = self.write(now)?;
            if written > 0 && self.link.state == LinkState::Open && !self.link.session.may_read() {
                // The session reads on when its output has room again.
                continue;
            }
            if self.link.state != LinkState::Open {
                let give_up = *self.give_up.get_or_insert(now + GOODBYE_MAX);
                if self.link.session.output().is_empty() || give_up <= now {
                    return Ok(());
                }
            }
            let due = self.next_due(now);
            let interest = self.interest(now);
            let woken = tokio::select! {
                biased;
                // Without a carrier to give orders there is no carrier.
                changed = orders.changed() => {
                    changed.map(|()| Woken::Orders).map_err(|_| io::ErrorKind::ConnectionAborted)?
                }
                ready = self.socket.ready(interest) => ready.map(|()| Woken::Socket)?,
                () = runtime::sleep_until(due) => Woken::Time,
                () = receipts => Woken::Receipts,
            };
            match woken {
                Woken::Socket => self.read()?,
                Woken::Orders => self.obey(*orders.borrow_and_update())?,
                Woken::Time | Woken::Receipts => {}
            }
        }
    }

    /// Until when this link is neither read nor written, if it is not.
    fn stalled(&self, now: Instant) -> Option<Instant> {
        self.link.stalled_until.filter(|until| *until > now)
    }

    async fn sleep(&mut self, until: Instant, orders: &mut watch::Receiver<Orders>) -> io::Result<()> {
        let until = self.link.cut_at.map_or(until, |at| at.min(until));
        tokio::select! {
            changed = orders.changed() => changed.map_err(|_| io::ErrorKind::ConnectionAborted)?,
            () = runtime::sleep_until(until) => return Ok(()),
        }
        self.obey(*orders.borrow_and_update())
    }

    fn obey(&mut self, orders: Orders) -> io::Result<()> {
        let Orders { stop, cuts, unbinds, stalls, stalled_until, .. } = orders;
        if cuts > self.given.cuts {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if stop && self.link.is_mute() {
            // It could not even say goodbye.
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if stalls > self.given.stalls {
            self.link.stalled_until = stalled_until;
        }
        if stop {
            self.link.stalled_until = None;
        }
        if (stop || unbinds > self.given.unbinds) && !self.ending && !self.link.is_mute() {
            self.ending = true;
            self.link.session.unbind(self.shared.moment(runtime::now()));
        }
        self.given = orders;
        Ok(())
    }

    fn next_due(&self, now: Instant) -> Instant {
        // A carrier with nothing to do looks around once an hour.
        let idle = now + Duration::from_secs(3600);
        let link = match self.link.state {
            LinkState::Open => self.link.next_due(),
            LinkState::CutAfterFlush | LinkState::Ended => self.give_up,
        };
        [link, self.held_until, self.link.cut_at].into_iter().flatten().fold(idle, Instant::min)
    }

    fn interest(&mut self, now: Instant) -> Interest {
        let held = self.held_until.is_some_and(|until| until > now);
        let writes = (!self.link.session.output().is_empty() && !held) || self.socket.wants_write();
        let reads = self.may_read();
        match (reads, writes) {
            (true, true) => Interest::READABLE | Interest::WRITABLE,
            (false, true) => Interest::WRITABLE,
            // Without either, errors and the end of the connection still count.
            (true, false) => Interest::READABLE,
            (false, false) => Interest::ERROR,
        }
    }

    /// Half open links are read for ever.
    fn may_read(&self) -> bool {
        self.link.state == LinkState::Open && (self.link.is_mute() || self.link.session.may_read())
    }

    fn read(&mut self) -> io::Result<()> {
        if !self.may_read() {
            return Ok(());
        }
        match self.socket.read(&mut self.inbox) {
            Ok(0) if self.link.is_mute() => return Err(io::ErrorKind::ConnectionAborted.into()),
            Ok(0) => self.link.session.connection_lost(self.shared.moment(runtime::now())),
            Ok(_) => self.pass_on(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Gives whole PDUs to the session. It settles enquire_link and unbind by itself, so they are counted here, and
    /// left out where the script wants the carrier to look dead.
    fn pass_on(&mut self) {
        let (answer_enquire_links, answer_unbinds) = {
            let core = self.shared.core.lock().expect("no holder of the plan panics");
            (core.plan.script().answer_enquire_links, core.plan.script().answer_unbinds)
        };
        let moment = self.shared.moment(runtime::now());
        let (mut from, mut upto) = (0, 0);
        let (mut enquire_links, mut unbinds, mut unheard) = (0, 0, 0);
        while let Some(header) = self.inbox.get(upto..).and_then(Header::parse) {
            let end = upto + header.length as usize;
            if header.length < 16 || header.length > PDU_BYTES_MAX {
                upto = self.inbox.len();
                break;
            }
            if end > self.inbox.len() {
                break;
            }
            enquire_links += u64::from(header.command == CommandId::ENQUIRE_LINK);
            let heard = match header.command {
                _ if self.link.is_mute() => {
                    unheard += 1;
                    false
                }
                CommandId::ENQUIRE_LINK => answer_enquire_links,
                CommandId::UNBIND if !answer_unbinds => {
                    unbinds += 1;
                    false
                }
                _ => true,
            };
            if !heard {
                self.link.session.receive(&self.inbox[from..upto], moment);
                from = end;
            }
            upto = end;
        }
        if upto > from {
            self.link.session.receive(&self.inbox[from..upto], moment);
        }
        self.inbox.advance(upto);
        if enquire_links + unbinds + unheard > 0 {
            self.shared.record.write(|log| {
                let counts = log.counts();
                counts.enquire_links += enquire_links;
                counts.unbinds += unbinds;
                counts.unheard += unheard;
            });
        }
    }

    /// Writes what the session has to say, as the script has it.
    fn write(&mut self, now: Instant) -> io::Result<usize> {
        if self.link.session.output().is_empty() {
            return Ok(0);
        }
        let (wire, before_cut) = {
            let core = self.shared.core.lock().expect("no holder of the plan panics");
            (core.plan.script().write_mode, core.plan.bytes_before_cut(self.bytes_out))
        };
        match (wire, self.held_until) {
            (WriteMode::Coalesce(hold), None) if self.link.state == LinkState::Open => {
                self.held_until = Some(now + hold);
                return Ok(0);
            }
            (WriteMode::Coalesce(_), Some(until)) if until > now => return Ok(0),
            _ => self.held_until = None,
        }
        let output = self.link.session.output();
        let mut count = if wire == WriteMode::Trickle { 1 } else { output.len() };
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
            let mut core = self.shared.core.lock().expect("no holder of the plan panics");
            core.plan.note_cut_by_bytes();
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(written)
    }

    /// Half-closes and waits a moment for the peer to close too: a close with octets unread would take the last
    /// answer back.
    async fn say_goodbye(&mut self) {
        // A peer that is gone already needs no goodbye.
        let _ = self.socket.close().await;
        let farewell = async {
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
        let _: Result<io::Result<()>, _> = within(GOODBYE_MAX, farewell).await;
    }
}
