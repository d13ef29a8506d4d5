//! The socket under a link: reads all there is, lets the link settle it, and writes all of the answer at once,
//! except where the script wants it done badly.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use hermod_smpp::{CommandId, Header};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::link::{Fate, Link};
use super::script::Wire;
use super::{Orders, Shared};
use crate::world;

/// One read takes at most this much.
const READ_BYTES: usize = 64 * 1024;
/// A connection that is to be closed is given this long to take what was still to be said, and again for its own
/// goodbye.
const GOODBYE_MAX: Duration = Duration::from_millis(500);

/// One connection from its start to its end.
pub(super) async fn run(
    shared: Arc<Shared>,
    stream: TcpStream,
    number: u64,
    mut orders: watch::Receiver<Orders>,
) {
    shared.record.write(|log| log.counts().links_opened += 1);
    let mut connection = Connection {
        link: Link::new(Arc::clone(&shared), number),
        shared: Arc::clone(&shared),
        stream,
        inbox: BytesMut::with_capacity(READ_BYTES),
        bytes_out: 0,
        held_until: None,
        cuts: orders.borrow_and_update().cuts,
        ending: false,
        give_up: None,
    };
    let ended = connection.serve(&mut orders).await;
    if ended.is_ok() && connection.link.fate == Fate::Ended {
        connection.say_goodbye().await;
    }
    connection.link.lose(world::now());
    shared.record.write(|log| log.counts().links_closed += 1);
}

struct Connection {
    link: Link,
    shared: Arc<Shared>,
    stream: TcpStream,
    /// Octets of a PDU that is not whole yet.
    inbox: BytesMut,
    bytes_out: u64,
    /// Output is held back until then (`Wire::Coalesce`).
    held_until: Option<Instant>,
    /// Orders to cut that were given before this connection came.
    cuts: u64,
    /// We have unbound because the carrier stops.
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
            let now = world::now();
            if self.link.fate == Fate::Open {
                self.link.settle(now);
            }
            let written = self.write(now)?;
            if written > 0 && self.link.fate == Fate::Open && !self.link.session.may_read() {
                // The session reads on when its output has room again.
                continue;
            }
            if self.link.fate != Fate::Open {
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
                ready = self.stream.ready(interest) => ready.map(|_| Woken::Socket)?,
                () = world::sleep_until(due) => Woken::Time,
                () = receipts => Woken::Receipts,
            };
            match woken {
                Woken::Socket => self.read()?,
                Woken::Orders => self.obey(&orders.borrow_and_update())?,
                Woken::Time | Woken::Receipts => {}
            }
        }
    }

    fn obey(&mut self, orders: &Orders) -> io::Result<()> {
        if orders.cuts > self.cuts {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if orders.stop && !self.ending {
            self.ending = true;
            self.link.session.unbind(self.shared.moment(world::now()));
        }
        Ok(())
    }

    fn next_due(&self, now: Instant) -> Instant {
        // A carrier with nothing to do looks around once an hour.
        let idle = now + Duration::from_secs(3600);
        let link = match self.link.fate {
            Fate::Open => self.link.next_due(),
            Fate::CutAfterFlush | Fate::Ended => self.give_up,
        };
        [link, self.held_until].into_iter().flatten().fold(idle, Instant::min)
    }

    fn interest(&mut self, now: Instant) -> Interest {
        let held = self.held_until.is_some_and(|until| until > now);
        let writes = !self.link.session.output().is_empty() && !held;
        let reads = self.link.fate == Fate::Open && self.link.session.may_read();
        match (reads, writes) {
            (true, true) => Interest::READABLE | Interest::WRITABLE,
            (false, true) => Interest::WRITABLE,
            // Without either, errors and the end of the connection still count.
            (true, false) => Interest::READABLE,
            (false, false) => Interest::ERROR,
        }
    }

    fn read(&mut self) -> io::Result<()> {
        if self.link.fate != Fate::Open || !self.link.session.may_read() {
            return Ok(());
        }
        self.inbox.reserve(READ_BYTES);
        match self.stream.try_read_buf(&mut self.inbox) {
            Ok(0) => self.link.session.connection_lost(self.shared.moment(world::now())),
            Ok(_) => self.pass_on(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Gives whole PDUs to the session. It settles enquire_link by itself, so they are counted here, and left out
    /// where the script wants the carrier to look dead.
    fn pass_on(&mut self) {
        let answer_enquire_links = {
            let core = self.shared.core.lock().expect("no holder of the plan panics");
            core.plan.script().answer_enquire_links
        };
        let moment = self.shared.moment(world::now());
        let (mut from, mut upto, mut enquire_links) = (0, 0, 0);
        while let Some(header) = self.inbox.get(upto..).and_then(Header::parse) {
            let end = upto + header.length as usize;
            if header.length < 16 {
                upto = self.inbox.len();
                break;
            }
            if end > self.inbox.len() {
                break;
            }
            if header.command == CommandId::ENQUIRE_LINK {
                enquire_links += 1;
                if !answer_enquire_links {
                    self.link.session.receive(&self.inbox[from..upto], moment);
                    from = end;
                }
            }
            upto = end;
        }
        if upto - from > 0 {
            self.link.session.receive(&self.inbox[from..upto], moment);
        }
        self.inbox.advance(upto);
        if enquire_links > 0 {
            self.shared.record.write(|log| log.counts().enquire_links += enquire_links);
        }
    }

    /// Writes what the session has to say, as the script has it.
    fn write(&mut self, now: Instant) -> io::Result<usize> {
        if self.link.session.output().is_empty() {
            return Ok(0);
        }
        let (wire, before_cut) = {
            let core = self.shared.core.lock().expect("no holder of the plan panics");
            (core.plan.script().wire, core.plan.bytes_before_cut(self.bytes_out))
        };
        match (wire, self.held_until) {
            (Wire::Coalesce(hold), None) if self.link.fate == Fate::Open => {
                self.held_until = Some(now + hold);
                return Ok(0);
            }
            (Wire::Coalesce(_), Some(until)) if until > now => return Ok(0),
            _ => self.held_until = None,
        }
        let output = self.link.session.output();
        let mut count = if wire == Wire::Trickle { 1 } else { output.len() };
        if let Some(bytes) = before_cut {
            count = count.min(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        let written = match self.stream.try_write(&output[..count]) {
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
        let _ = self.stream.shutdown().await;
        let farewell = async {
            let mut rest = BytesMut::with_capacity(READ_BYTES);
            loop {
                rest.clear();
                self.stream.readable().await?;
                match self.stream.try_read_buf(&mut rest) {
                    Ok(0) => return Ok(()),
                    Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                    Ok(_) | Err(_) => {}
                }
            }
        };
        let _: Result<io::Result<()>, _> = tokio::time::timeout(GOODBYE_MAX, farewell).await;
    }
}
