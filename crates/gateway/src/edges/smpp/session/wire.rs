//! The octets of one session, in both directions, without a buffer of its own: an idle session should cost next to
//! nothing, and there are many.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::stream;
use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Octets taken off the socket at a time. They stand on the stack while they are looked at.
const READ_BYTES: usize = 16 * 1024;

/// One connection.
pub(super) struct Wire<S>(S);

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(super) fn new(stream: S) -> Wire<S> {
        Wire(stream)
    }

    /// Writes what there is to write. Abandoning it loses nothing: what was not written is still in `output`, in front.
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

    /// Hands over what has come; says how much, and nothing at the end.
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
