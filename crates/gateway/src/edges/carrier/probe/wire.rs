//! The connections of a probe and its log: drives a session one event at a time.

use crate::clock::{Clock, Moment};
use crate::edges::carrier::connect::{Stream, close};
use crate::live_status::{PduDirection, ProbeLine};
use bytes::{Buf, BytesMut};
use hermod_smpp::{CommandStatus, Header, ReceiptDialect, Session, SessionEvent, trace};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Lines kept in a report. A carrier may send any number of receipts.
const LINES_MAX: usize = 1_000;
/// Timeout for the unbind and its response.
const LEAVE_WAIT: Duration = Duration::from_secs(6);

/// The lines of a report, in order, of both connections.
#[derive(Clone)]
pub(super) struct ProbeLog {
    clock: Clock,
    start: Moment,
    lines: Arc<Mutex<Vec<ProbeLine>>>,
}

impl ProbeLog {
    pub(super) fn new(clock: Clock) -> ProbeLog {
        ProbeLog { start: clock.moment(), clock, lines: Arc::default() }
    }

    pub(super) fn note(&self, line: String) {
        self.add(None, line);
    }

    fn add(&self, way: Option<PduDirection>, line: String) {
        let at_ms = self.clock.moment().0.saturating_sub(self.start.0);
        let mut lines = self.lines.lock();
        if lines.len() < LINES_MAX {
            lines.push(ProbeLine { at_ms, way, line });
        }
    }

    pub(super) fn lines(&self) -> Vec<ProbeLine> {
        std::mem::take(&mut *self.lines.lock())
    }
}

/// One connection and its session.
pub(super) struct ProbeConnection {
    stream: Stream,
    pub(super) session: Session<()>,
    dialect: ReceiptDialect,
    output: BytesMut,
    log: ProbeLog,
}

impl ProbeConnection {
    pub(super) fn new(
        stream: Stream,
        mut session: Session<()>,
        dialect: ReceiptDialect,
        log: ProbeLog,
    ) -> ProbeConnection {
        session.capture(true);
        ProbeConnection { stream, session, dialect, output: BytesMut::new(), log }
    }

    /// Returns the next event of the session, or `None` if there is none before `until`. Cancel-safe.
    pub(super) async fn next(&mut self, until: Moment) -> Option<SessionEvent<()>> {
        loop {
            let event = self.session.next_event(self.log.clock.moment());
            self.tell();
            if event.is_some() {
                return event;
            }
            let wake_at = self.session.next_deadline().map_or(until, |at| until.min(at));
            let clock = self.log.clock.clone();
            let still_open = tokio::select! {
                biased;
                still_open = self.exchange() => still_open,
                () = clock.sleep_until(wake_at) => {
                    if clock.moment() >= until {
                        return None;
                    }
                    self.session.on_deadline(clock.moment());
                    true
                }
            };
            if !still_open {
                self.output.clear();
                self.session.connection_lost(clock.moment());
            }
        }
    }

    /// Writes pending output, or else reads. Returns false at the end of the connection.
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
        self.session.on_input(self.log.clock.moment());
        read > 0
    }

    /// Logs the PDUs that were read, including those that the session answers itself, and takes over its output.
    fn tell(&mut self) {
        while let Some(frame) = self.session.next_captured() {
            self.log.add(Some(PduDirection::In), trace::describe(&frame, self.dialect).to_string());
        }
        let written = self.session.output().split();
        for pdu in trace::describe_all(&written, self.dialect) {
            self.log.add(Some(PduDirection::Out), pdu.to_string());
        }
        self.output.unsplit(written);
    }

    /// Refuses a request temporarily, so that the carrier delivers it over another link.
    pub(super) fn refuse(&mut self, request: Header) {
        // Fails only if the session has ended.
        let _ = self.session.reject(request, CommandStatus::X_T_APPN, self.log.clock.moment());
    }

    async fn leave(mut self) {
        let until = self.log.clock.moment().plus(LEAVE_WAIT);
        self.session.unbind(self.log.clock.moment());
        while let Some(event) = self.next(until).await {
            match event {
                SessionEvent::Request(frame) => self.refuse(frame.header),
                SessionEvent::Closed(_) => break,
                _ => {}
            }
        }
        close(&mut self.stream).await;
    }
}

/// Which of the two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Sender,
    Receiver,
}

/// A transceiver, or a transmitter and its receiver.
pub(super) struct Wires {
    sender: ProbeConnection,
    receiver: Option<ProbeConnection>,
}

impl Wires {
    pub(super) fn new(sender: ProbeConnection, receiver: Option<ProbeConnection>) -> Wires {
        Wires { sender, receiver }
    }

    pub(super) fn sender(&mut self) -> &mut ProbeConnection {
        &mut self.sender
    }

    pub(super) fn at(&mut self, side: Side) -> &mut ProbeConnection {
        match (&mut self.receiver, side) {
            (Some(receiver), Side::Receiver) => receiver,
            (Some(_) | None, _) => &mut self.sender,
        }
    }

    /// Returns the next event of either connection.
    pub(super) async fn next(&mut self, until: Moment) -> Option<(Side, SessionEvent<()>)> {
        let Wires { sender, receiver } = self;
        match receiver {
            None => sender.next(until).await.map(|event| (Side::Sender, event)),
            Some(receiver) => tokio::select! {
                event = sender.next(until) => event.map(|event| (Side::Sender, event)),
                event = receiver.next(until) => event.map(|event| (Side::Receiver, event)),
            },
        }
    }

    /// Unbinds and closes both connections.
    pub(super) async fn leave(self) {
        let receiver = async {
            if let Some(receiver) = self.receiver {
                receiver.leave().await;
            }
        };
        tokio::join!(self.sender.leave(), receiver);
    }
}
