//! A session on its socket, from either side: writes all there is in one go, reads all there is in another, and wakes
//! for the session's timers. What the PDUs mean is the owner's business.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Buf;
use hermod_smpp::session::State;
use hermod_smpp::{Moment, Session};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::runtime::{self, Timer};

/// A session that is over is given this long to say what it had still to say.
const GOODBYE_MAX: Duration = Duration::from_millis(500);

/// What a session runs over: a socket, or TLS on one.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

pub(crate) struct SessionDriver<T> {
    pub(crate) session: Session<T>,
    stream: Box<dyn ByteStream>,
    /// What the session's moments count from.
    born: Instant,
    alarm: Timer,
    /// TLS keeps records back until it is told that this was all.
    unflushed: bool,
}

impl<T> SessionDriver<T> {
    /// The session was made at `Moment(0)`, which is `born`.
    pub(crate) fn new(stream: Box<dyn ByteStream>, session: Session<T>, born: Instant) -> SessionDriver<T> {
        SessionDriver { session, stream, born, alarm: Timer::new(), unflushed: false }
    }

    /// Lets the timers act that are due, and gives the moment for everything else that happens now.
    pub(crate) fn tick(&mut self, now: Instant) -> Moment {
        let moment = self.moment(now);
        if self.session.next_deadline().is_some_and(|deadline| deadline <= moment) {
            self.session.on_deadline(moment);
        }
        moment
    }

    /// The session is over and has told everything. Ask it when `next_event` gives `None`.
    pub(crate) fn is_over(&self) -> bool {
        self.session.state() == State::Closed
    }

    /// Writes what there is and waits until something was read, a timer is due or the connection is lost; the
    /// session knows then. Dropping it halfway loses nothing.
    pub(crate) async fn exchange(&mut self) {
        if let Some(deadline) = self.session.next_deadline() {
            self.alarm.set(self.born + Duration::from_millis(deadline.0));
        }
        if poll_fn(|cx| self.poll_exchange(cx)).await.is_err() {
            let moment = self.moment(runtime::now());
            self.session.connection_lost(moment);
        }
    }

    /// Says what is still to be said, if the peer takes it soon, and closes.
    pub(crate) async fn close(mut self) {
        let goodbye = async {
            self.stream.write_all(self.session.output()).await?;
            self.stream.shutdown().await
        };
        // A peer that is gone already needs no goodbye.
        let _: Result<io::Result<()>, _> = runtime::within(GOODBYE_MAX, goodbye).await;
    }

    fn moment(&self, now: Instant) -> Moment {
        let ms = now.saturating_duration_since(self.born).as_millis();
        Moment(u64::try_from(ms).unwrap_or(u64::MAX))
    }

    fn poll_exchange(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wrote = self.poll_output(cx)?;
        if self.session.may_read() {
            let read = pin!(self.stream.read_buf(self.session.read_buffer())).poll(cx)?;
            match read {
                Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                Poll::Ready(_) => {
                    let moment = self.moment(runtime::now());
                    self.session.on_input(moment);
                    return Poll::Ready(Ok(()));
                }
                Poll::Pending => {}
            }
        } else if wrote {
            // The output was full, and that may have been why nothing was read.
            return Poll::Ready(Ok(()));
        }
        self.alarm.poll(cx).map(Ok)
    }

    /// Writes what the stream takes now; whether it took anything.
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
