//! A session as a customer, driven by hand: one event at a time.

use bytes::Buf as _;
use hermod_gateway::clock::{Clock, Moment};
use hermod_smpp::{Event, Session};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// For the unbind and its answer.
const LEAVE_WAIT: Duration = Duration::from_secs(6);

pub(super) trait Octets: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Octets for T {}

pub(super) struct Wire {
    pub(super) session: Session<()>,
    stream: Box<dyn Octets>,
    clock: Clock,
    /// The connection has ended; nothing more will come.
    is_over: bool,
    /// The first octets that came.
    first: Vec<u8>,
}

/// Octets that are kept of what came first: enough to tell another protocol by.
const FIRST_BYTES: usize = 8;

impl Wire {
    pub(super) fn new(session: Session<()>, stream: Box<dyn Octets>, clock: Clock) -> Wire {
        Wire { session, stream, clock, is_over: false, first: Vec::new() }
    }

    /// The next thing the session has to say; nothing if it says nothing until then.
    pub(super) async fn next(&mut self, until: Moment) -> Option<Event<()>> {
        loop {
            if let Some(event) = self.session.next_event(moment(&self.clock)) {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            let wake_at = self.session.next_deadline().map_or(until, |at| until.min(Moment(at.0)));
            let clock = self.clock.clone();
            let still_open = tokio::select! {
                biased;
                still_open = self.exchange() => still_open,
                () = clock.sleep_until(wake_at) => {
                    if clock.moment() >= until {
                        return None;
                    }
                    self.session.on_deadline(moment(&clock));
                    true
                }
            };
            if !still_open {
                self.is_over = true;
                self.session.connection_lost(moment(&clock));
            }
        }
    }

    /// Writes what is to be written, or else reads. False at the end of the connection.
    async fn exchange(&mut self) -> bool {
        if !self.session.output().is_empty() {
            let written = self.stream.write(self.session.output()).await.unwrap_or(0);
            self.session.output().advance(written);
            return written > 0 && self.stream.flush().await.is_ok();
        }
        let read = self.stream.read_buf(self.session.read_buffer()).await.unwrap_or(0);
        if self.first.len() < FIRST_BYTES {
            let buffer = self.session.read_buffer();
            self.first.extend(buffer[buffer.len().saturating_sub(read)..].iter().take(FIRST_BYTES));
        }
        self.session.on_input(moment(&self.clock));
        read > 0
    }

    /// What the peer speaks, where its first octets show that it is not SMPP.
    pub(super) fn other_protocol(&self) -> Option<&'static str> {
        other_protocol(&self.first)
    }

    pub(super) async fn leave(&mut self) {
        let until = self.clock.moment().plus(LEAVE_WAIT);
        self.session.unbind(moment(&self.clock));
        while let Some(event) = self.next(until).await {
            if matches!(event, Event::Closed(_)) {
                break;
            }
        }
        // What is left is the other side's affair.
        let _ = self.stream.shutdown().await;
    }
}

fn other_protocol(first: &[u8]) -> Option<&'static str> {
    // A TLS record: an alert or a handshake message, of any version.
    const TLS_ALERT: &[u8] = &[0x15, 0x03];
    const TLS_HANDSHAKE: &[u8] = &[0x16, 0x03];
    if first.starts_with(b"HTTP/") {
        Some(
            "an HTTP server answered there, not an SMPP server. The port for binds is another one: 2775 by default",
        )
    } else if first.starts_with(TLS_ALERT) || first.starts_with(TLS_HANDSHAKE) {
        Some("the server speaks TLS there: try again with --tls")
    } else if first.starts_with(b"SSH-") {
        Some("an SSH server answered there, not an SMPP server")
    } else {
        None
    }
}

pub(super) fn moment(clock: &Clock) -> hermod_smpp::Moment {
    hermod_smpp::Moment(clock.moment().0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_protocols_are_known_by_their_first_octets() {
        for (first, expect) in [
            (b"HTTP/1.1".as_slice(), Some("an HTTP server answered")),
            (b"SSH-2.0-", Some("an SSH server")),
            (&[0x15, 3, 1, 0, 2, 2, 70], Some("try again with --tls")),
            (&[0, 0, 0, 16, 0x80, 0, 0, 9], None),
            (b"", None),
        ] {
            let told = other_protocol(first);
            assert_eq!(told.is_some(), expect.is_some(), "{first:?}");
            assert!(told.unwrap_or_default().contains(expect.unwrap_or_default()), "{first:?}: {told:?}");
        }
    }
}
