//! The connections of a probe and the lines about them: a session driven by hand, one event at a time.

use crate::board::{ProbeLine, Way};
use crate::clock::{Clock, Moment};
use crate::edges::carrier::connect::{Stream, close};
use bytes::{Buf, BytesMut};
use hermod_smpp::{CommandStatus, Event, Header, ReceiptDialect, Session, trace};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Lines that are kept. A carrier that pours out receipts should not fill a report.
const LINES_MAX: usize = 1_000;
/// For the unbind and its answer.
const LEAVE_WAIT: Duration = Duration::from_secs(6);

/// What happened, in order, on both wires.
#[derive(Clone)]
pub(super) struct Log {
    clock: Clock,
    start: Moment,
    lines: Arc<Mutex<Vec<ProbeLine>>>,
}

impl Log {
    pub(super) fn new(clock: Clock) -> Log {
        Log { start: clock.moment(), clock, lines: Arc::default() }
    }

    pub(super) fn note(&self, line: String) {
        self.add(None, line);
    }

    fn add(&self, way: Option<Way>, line: String) {
        let at_ms = self.clock.moment().0.saturating_sub(self.start.0);
        let mut lines = self.locked();
        if lines.len() < LINES_MAX {
            lines.push(ProbeLine { at_ms, way, line });
        }
    }

    pub(super) fn lines(&self) -> Vec<ProbeLine> {
        std::mem::take(&mut *self.locked())
    }

    fn locked(&self) -> MutexGuard<'_, Vec<ProbeLine>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection and its session.
pub(super) struct Wire {
    stream: Stream,
    pub(super) session: Session<()>,
    dialect: ReceiptDialect,
    output: BytesMut,
    log: Log,
}

impl Wire {
    pub(super) fn new(stream: Stream, mut session: Session<()>, dialect: ReceiptDialect, log: Log) -> Wire {
        session.watch(true);
        Wire { stream, session, dialect, output: BytesMut::new(), log }
    }

    /// The next thing the session has to say; nothing if it says nothing until then. It may be abandoned and called
    /// again.
    pub(super) async fn next(&mut self, until: Moment) -> Option<Event<()>> {
        loop {
            let event = self.session.next_event(smpp_moment(&self.log.clock));
            self.tell();
            if event.is_some() {
                return event;
            }
            let wake_at = self.session.next_deadline().map_or(until, |at| until.min(Moment(at.0)));
            let clock = self.log.clock.clone();
            let still_open = tokio::select! {
                biased;
                still_open = self.exchange() => still_open,
                () = clock.sleep_until(wake_at) => {
                    if clock.moment() >= until {
                        return None;
                    }
                    self.session.on_deadline(smpp_moment(&clock));
                    true
                }
            };
            if !still_open {
                self.output.clear();
                self.session.connection_lost(smpp_moment(&clock));
            }
        }
    }

    /// Writes what is to be written, or else reads. False at the end of the connection.
    async fn exchange(&mut self) -> bool {
        if !self.output.is_empty() {
            let written = self.stream.write(&self.output).await.unwrap_or(0);
            self.output.advance(written);
            return written > 0;
        }
        if !self.session.may_read() {
            return std::future::pending().await;
        }
        let read = self.stream.read_buf(self.session.read_buffer()).await.unwrap_or(0);
        self.session.on_input(smpp_moment(&self.log.clock));
        read > 0
    }

    /// Tells what was read, also what the session settles by itself, and takes over what it wants written.
    fn tell(&mut self) {
        while let Some(frame) = self.session.next_seen() {
            self.log.add(Some(Way::In), trace::describe(&frame, self.dialect).to_string());
        }
        let written = self.session.output().split();
        for told in trace::describe_all(&written, self.dialect) {
            self.log.add(Some(Way::Out), told.to_string());
        }
        self.output.unsplit(written);
    }

    /// Not now: the carrier is to bring it again, over another link.
    pub(super) fn refuse(&mut self, request: Header) {
        // A session that has ended has nothing to refuse any more.
        let _ = self.session.refuse(request, CommandStatus::X_T_APPN, smpp_moment(&self.log.clock));
    }

    async fn leave(mut self) {
        let until = self.log.clock.moment().plus(LEAVE_WAIT);
        self.session.unbind(smpp_moment(&self.log.clock));
        while let Some(event) = self.next(until).await {
            match event {
                Event::Request(frame) => self.refuse(frame.header),
                Event::Closed(_) => break,
                _ => {}
            }
        }
        close(&mut self.stream).await;
    }
}

/// Which of the two something came over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Sender,
    Receiver,
}

/// A transceiver, or a transmitter and its receiver.
pub(super) struct Wires {
    sender: Wire,
    receiver: Option<Wire>,
}

impl Wires {
    pub(super) fn new(sender: Wire, receiver: Option<Wire>) -> Wires {
        Wires { sender, receiver }
    }

    pub(super) fn sender(&mut self) -> &mut Wire {
        &mut self.sender
    }

    pub(super) fn at(&mut self, side: Side) -> &mut Wire {
        match (&mut self.receiver, side) {
            (Some(receiver), Side::Receiver) => receiver,
            (Some(_) | None, _) => &mut self.sender,
        }
    }

    /// The next event of either.
    pub(super) async fn next(&mut self, until: Moment) -> Option<(Side, Event<()>)> {
        let Wires { sender, receiver } = self;
        match receiver {
            None => sender.next(until).await.map(|event| (Side::Sender, event)),
            Some(receiver) => tokio::select! {
                event = sender.next(until) => event.map(|event| (Side::Sender, event)),
                event = receiver.next(until) => event.map(|event| (Side::Receiver, event)),
            },
        }
    }

    /// Unbinds and closes, in good order and in little time.
    pub(super) async fn leave(self) {
        let receiver = async {
            if let Some(receiver) = self.receiver {
                receiver.leave().await;
            }
        };
        tokio::join!(self.sender.leave(), receiver);
    }
}

pub(super) fn smpp_moment(clock: &Clock) -> hermod_smpp::Moment {
    hermod_smpp::Moment(clock.moment().0)
}
