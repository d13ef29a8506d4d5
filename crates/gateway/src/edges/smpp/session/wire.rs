//! The socket of one session, without a buffer of its own: there are many idle sessions, and each should cost little
//! memory.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::stream;
use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Octets read at a time, into a buffer on the stack.
const READ_BYTES: usize = 16 * 1024;

/// One connection.
pub(super) struct BindSocket<S>(S);

impl<S: AsyncRead + AsyncWrite + Unpin> BindSocket<S> {
    pub(super) fn new(stream: S) -> BindSocket<S> {
        BindSocket(stream)
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
