//! Drives an SMPP session, client or server, on its stream: writes the whole output at once, reads what has arrived, and
//! calls the session's timers. The owner handles the events.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Buf;
use hermod_smpp::session::SessionState;
use hermod_smpp::{Moment, Session, SessionEvent};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::runtime::{self, Timer};

/// Time for the peer to accept the last output before the connection is closed.
const CLOSE_WAIT_MAX: Duration = Duration::from_millis(500);
/// Octets of the first input that are kept: enough to recognise another protocol.
const FIRST_INPUT_BYTES: usize = 8;

/// Returns the time that the driver's deadlines refer to.
pub fn now() -> Instant {
    runtime::now()
}

/// A socket, or TLS on one.
pub trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

/// A session on its stream. Dropping it cuts the connection.
pub struct SessionDriver<T> {
    pub session: Session<T>,
    stream: Box<dyn ByteStream>,
    /// `Moment(0)` of the session.
    start: Instant,
    timer: Timer,
    /// Output was written and not flushed, which TLS needs.
    unflushed: bool,
    first_input: Vec<u8>,
}

impl<T> SessionDriver<T> {
    /// Drives a session that was created at `Moment(0)`.
    pub fn new(stream: Box<dyn ByteStream>, session: Session<T>) -> SessionDriver<T> {
        let (start, timer) = (runtime::now(), Timer::new());
        SessionDriver { session, stream, start, timer, unflushed: false, first_input: Vec::new() }
    }

    /// Runs the timers that are due. Returns the moment for all calls to the session at this time.
    pub fn tick(&mut self, now: Instant) -> Moment {
        let moment = self.moment(now);
        if self.session.next_deadline().is_some_and(|deadline| deadline <= moment) {
            self.session.on_deadline(moment);
        }
        moment
    }

    /// Whether the session has ended. Valid when `Session::next_event` returned none.
    pub fn is_over(&self) -> bool {
        self.session.state() == SessionState::Closed
    }

    /// Returns the next event; none at `until`, or when the session has ended. It may be cancelled.
    pub async fn next_event(&mut self, until: Instant) -> Option<SessionEvent<T>> {
        loop {
            let moment = self.tick(runtime::now());
            if let Some(event) = self.session.next_event(moment) {
                return Some(event);
            }
            if self.is_over() {
                return None;
            }
            tokio::select! {
                biased;
                () = self.exchange() => {}
                () = runtime::sleep_until(until) => return None,
            }
        }
    }

    /// Writes the output and waits until input was read, a timer is due or the connection is lost, which the session is
    /// told. It may be cancelled.
    pub async fn exchange(&mut self) {
        if let Some(deadline) = self.session.next_deadline() {
            self.timer.set(self.start + Duration::from_millis(deadline.0));
        }
        if poll_fn(|cx| self.poll_exchange(cx)).await.is_err() {
            let moment = self.moment(runtime::now());
            self.session.connection_lost(moment);
        }
    }

    /// The first octets that were received.
    pub fn first_input(&self) -> &[u8] {
        &self.first_input
    }

    /// Writes the rest of the output, if the peer accepts it soon, and closes the connection.
    pub async fn close(mut self) {
        let flush = async {
            self.stream.write_all(self.session.output()).await?;
            self.stream.shutdown().await
        };
        // The peer may have closed already.
        let _: Result<io::Result<()>, _> = runtime::within(CLOSE_WAIT_MAX, flush).await;
    }

    fn moment(&self, now: Instant) -> Moment {
        let ms = now.saturating_duration_since(self.start).as_millis();
        Moment(u64::try_from(ms).unwrap_or(u64::MAX))
    }

    fn poll_exchange(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wrote = self.poll_output(cx)?;
        if self.session.may_read() {
            let read = pin!(self.stream.read_buf(self.session.read_buffer())).poll(cx)?;
            match read {
                Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                Poll::Ready(octets) => {
                    if self.first_input.is_empty() {
                        let input = self.session.read_buffer();
                        let start = input.len() - octets;
                        self.first_input.extend(input[start..].iter().take(FIRST_INPUT_BYTES));
                    }
                    let moment = self.moment(runtime::now());
                    self.session.on_input(moment);
                    return Poll::Ready(Ok(()));
                }
                Poll::Pending => {}
            }
        } else if wrote {
            // A full output may have been the reason not to read.
            return Poll::Ready(Ok(()));
        }
        self.timer.poll(cx).map(Ok)
    }

    /// Writes what the stream accepts now. Returns whether it accepted anything.
    fn poll_output(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        let mut wrote = false;
        while !self.session.output().is_empty() {
            match Pin::new(&mut self.stream).poll_write(cx, self.session.output())? {
                Poll::Ready(0) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(octets) => {
                    self.session.output().advance(octets);
                    self.unflushed = true;
                    wrote = true;
                }
                Poll::Pending => return Ok(wrote),
            }
        }
        if self.unflushed && Pin::new(&mut self.stream).poll_flush(cx)?.is_ready() {
            self.unflushed = false;
        }
        Ok(wrote)
    }
}
