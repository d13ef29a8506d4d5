//! The stream of an SMPP connection, plain or TLS. A write completes only when the octets were passed to the network:
//! TLS libraries also report octets as written that are still in their own buffer, where they could stay.

use crate::clock::{Clock, Moment, within};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;
use tokio_rustls::rustls::ProtocolVersion;

/// The timeout for closing TLS and TCP.
const CLOSE_WAIT: Duration = Duration::from_secs(1);

pub(crate) struct Stream(Kind);

enum Kind {
    Plain(TcpStream),
    Tls(Box<Sealed>),
}

struct Sealed {
    stream: TlsStream<TcpStream>,
    /// Octets encrypted and not flushed yet.
    leaving: usize,
}

impl Stream {
    pub(crate) fn plain(stream: TcpStream) -> Stream {
        Stream(Kind::Plain(stream))
    }

    pub(crate) fn tls(stream: impl Into<TlsStream<TcpStream>>) -> Stream {
        Stream(Kind::Tls(Box::new(Sealed { stream: stream.into(), leaving: 0 })))
    }

    /// Returns the connection if it is not encrypted yet.
    pub(crate) fn into_plain(self) -> Option<TcpStream> {
        match self.0 {
            Kind::Plain(stream) => Some(stream),
            Kind::Tls(_) => None,
        }
    }

    #[cfg(test)]
    pub(crate) fn is_tls(&self) -> bool {
        matches!(self.0, Kind::Tls(_))
    }

    /// Returns a description for the operator.
    pub(crate) fn described(&self) -> &'static str {
        let version = match &self.0 {
            Kind::Plain(_) => return "without TLS",
            Kind::Tls(sealed) => sealed.stream.get_ref().1.protocol_version(),
        };
        match version {
            Some(ProtocolVersion::TLSv1_3) => "with TLS 1.3",
            Some(ProtocolVersion::TLSv1_2) => "with TLS 1.2",
            Some(_) | None => "with TLS",
        }
    }
}

/// Closes a connection: sends close_notify with TLS, then the TCP FIN, and discards input until the peer closes too.
/// Closing with unread input would reset the connection, and the peer could lose our last output. Uses real time.
pub(crate) async fn close(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    let goodbye = async {
        let mut unread = [0; 4096];
        stream.shutdown().await?;
        while stream.read(&mut unread).await? > 0 {}
        io::Result::Ok(())
    };
    // A timeout or an error ends the connection too.
    let _ = within(CLOSE_WAIT, goodbye).await;
}

/// Connects to the first address that answers; one that does not has only its share of the time until `until`. The error is that of
/// the last address, none if it did not answer in time. The stream is set up by [`tune`].
pub(crate) async fn connect_any(
    clock: &Clock,
    addresses: &[SocketAddr],
    until: Moment,
    unacknowledged_max: Duration,
) -> Result<TcpStream, Option<io::Error>> {
    let mut failed = Some(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    for (place, address) in addresses.iter().enumerate() {
        let share = connect_wait(clock.moment(), until, addresses.len() - place);
        let connected = async { tune(TcpStream::connect(address).await?, unacknowledged_max) };
        failed = tokio::select! {
            connected = connected => match connected {
                Ok(stream) => return Ok(stream),
                Err(error) => Some(error),
            },
            () = clock.sleep(share) => None,
        };
    }
    Err(failed)
}

/// Returns the time for the first of `addresses` that are still to be tried until the deadline: an equal share.
fn connect_wait(now: Moment, until: Moment, addresses: usize) -> Duration {
    until.since(now) / u32::try_from(addresses).unwrap_or(u32::MAX).max(1)
}

/// Sets up an outgoing connection: no delay, and an end if the peer acknowledges nothing for `unacknowledged_max`.
pub(crate) fn tune(stream: TcpStream, unacknowledged_max: Duration) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    let timeout_ms = u32::try_from(unacknowledged_max.as_millis()).unwrap_or(u32::MAX);
    rustix::net::sockopt::set_tcp_user_timeout(&stream, timeout_ms)?;
    Ok(stream)
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Kind::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Kind::Tls(sealed) => Pin::new(&mut sealed.stream).poll_read(cx, buf),
        }
    }
}

/// After a cancelled write the next write must begin with the same octets: with TLS they may be encrypted already.
impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().0 {
            Kind::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Kind::Tls(sealed) => {
                if sealed.leaving == 0 {
                    sealed.leaving = ready!(Pin::new(&mut sealed.stream).poll_write(cx, buf))?;
                }
                ready!(Pin::new(&mut sealed.stream).poll_flush(cx))?;
                Poll::Ready(Ok(std::mem::take(&mut sealed.leaving).min(buf.len())))
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Kind::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Kind::Tls(sealed) => Pin::new(&mut sealed.stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Kind::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Kind::Tls(sealed) => Pin::new(&mut sealed.stream).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_share_the_connect_timeout() {
        let shares = [(0, 4), (250, 3), (1_000, 2), (1_000, 0)]
            .map(|(now, among)| connect_wait(Moment(now), Moment(1_000), among).as_millis());
        assert_eq!(shares, [250, 250, 0, 0]);
    }
}
