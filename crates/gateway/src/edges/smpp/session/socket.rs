//! Reading and writing of a bound session, as the socket is ready and the limits of the session permit.

use super::wire::BindSocket;
use super::{Bound, moment};
use crate::gateway::Gateway;
use hermod_smpp::Session;
use hermod_store::ReportId;
use std::future::poll_fn;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncWrite};

/// What happened on the socket.
pub(super) enum SocketEvent {
    Written,
    Read,
    Gone,
}

/// Reads or writes, as the socket is ready. Does not read while the session is at its limit.
pub(super) async fn on_wire<S>(
    wire: &mut BindSocket<S>,
    session: &mut Session<ReportId>,
    gateway: &Gateway,
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
        let now = gateway.clock.moment();
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
