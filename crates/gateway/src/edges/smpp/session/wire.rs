//! The socket of one session, without a buffer of its own: there are many idle sessions, and each should cost little
//! memory.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::{Bound, moment};
use crate::stream;
use crate::world::World;
use bytes::{Buf, BytesMut};
use hermod_smpp::Session;
use hermod_store::ReportId;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Octets read at a time, into a buffer on the stack.
const READ_BYTES: usize = 16 * 1024;

/// What happened on the socket.
pub(super) enum SocketEvent {
    Written,
    Read,
    Gone,
}

/// One connection.
pub(super) struct Wire<S>(S);

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(super) fn new(stream: S) -> Wire<S> {
        Wire(stream)
    }

    /// Writes pending output. Cancel-safe: unwritten octets stay at the front of `output`.
    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        output: &mut BytesMut,
    ) -> Poll<io::Result<()>> {
        if output.is_empty() {
            return Poll::Pending;
        }
        let written = ready!(Pin::new(&mut self.0).poll_write(context, output))?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        output.advance(written);
        Poll::Ready(Ok(()))
    }

    /// Reads octets and passes them to `taken`. Returns their number; 0 at the end of the stream.
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        taken: impl FnOnce(&[u8]),
    ) -> Poll<io::Result<usize>> {
        let mut octets = [MaybeUninit::uninit(); READ_BYTES];
        let mut read = ReadBuf::uninit(&mut octets);
        ready!(Pin::new(&mut self.0).poll_read(context, &mut read))?;
        let filled = read.filled();
        if !filled.is_empty() {
            taken(filled);
        }
        Poll::Ready(Ok(filled.len()))
    }

    pub(super) async fn close(mut self) {
        stream::close(&mut self.0).await;
    }
}

/// Reads or writes, as the socket is ready. Does not read while the session is at its limit.
pub(super) async fn on_wire<S>(
    wire: &mut Wire<S>,
    session: &mut Session<ReportId>,
    world: &World,
    is_open: bool,
    bound: Option<&Bound>,
) -> SocketEvent
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    poll_fn(|context| {
        if let Poll::Ready(written) = wire.poll_write(context, session.output()) {
            return Poll::Ready(written.map_or(SocketEvent::Gone, |()| SocketEvent::Written));
        }
        let now = world.clock.moment();
        let is_paused = bound.is_some_and(|bound| bound.submit_rate.paused_until(now).is_some());
        if !is_open || is_paused || !session.may_read() {
            return Poll::Pending;
        }
        match wire.poll_read(context, |octets| session.receive(octets, moment(now))) {
            Poll::Ready(Ok(length)) if length > 0 => Poll::Ready(SocketEvent::Read),
            Poll::Ready(_) => Poll::Ready(SocketEvent::Gone),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
