//! Reading and writing of a session, as the socket is ready and the limits of the session permit. A session has no buffer of its
//! own to read into: there are many idle ones, and each should cost little memory.

use super::Bound;
use crate::gateway::Gateway;
use bytes::Buf;
use hermod_smpp::Session;
use hermod_store::ReportId;
use std::future::poll_fn;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Octets read at a time, into a buffer on the stack.
const READ_BYTES: usize = 16 * 1024;

/// What happened on the socket.
pub(super) enum SocketEvent {
    Written,
    Read,
    Gone,
}

/// Reads or writes, as the socket is ready. Does not read while the session is at its limit. Cancel-safe: unwritten octets stay
/// at the front of the session's output.
pub(super) async fn on_socket<S>(
    socket: &mut S,
    session: &mut Session<ReportId>,
    gateway: &Gateway,
    is_open: bool,
    bound: Option<&Bound>,
) -> SocketEvent
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    poll_fn(|context| {
        let output = session.output();
        if !output.is_empty()
            && let Poll::Ready(written) = Pin::new(&mut *socket).poll_write(context, output)
        {
            let written = written.unwrap_or(0);
            output.advance(written);
            return Poll::Ready(if written > 0 { SocketEvent::Written } else { SocketEvent::Gone });
        }
        let now = gateway.clock.moment();
        let is_paused = bound.is_some_and(|bound| bound.submit_rate.paused_until(now).is_some());
        if !is_open || is_paused || !session.may_read() {
            return Poll::Pending;
        }
        let mut octets = [MaybeUninit::uninit(); READ_BYTES];
        let mut read = ReadBuf::uninit(&mut octets);
        let is_read = ready!(Pin::new(&mut *socket).poll_read(context, &mut read)).is_ok();
        if !is_read || read.filled().is_empty() {
            return Poll::Ready(SocketEvent::Gone);
        }
        session.receive(read.filled(), now);
        Poll::Ready(SocketEvent::Read)
    })
    .await
}
