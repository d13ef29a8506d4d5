//! Reads a request body up to a limit, or discards it when the response does not depend on it.

use crate::http::body_memory::{BODY_RETRY_S, BodyMemoryFull, Reservation};
use crate::http::timeouts::{ConnectionTimeouts, Stage};
use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use hermod_domain::refusal::{Refusal, Unavailable};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A valid body is below 10 KiB; this leaves room for clients that send unknown fields.
pub(super) const BODY_BYTES_MAX: u32 = 1024 * 1024;

/// How much of an unread body is discarded, so that the client reads the response.
const DISCARD_BYTES_MAX: u64 = 8 * 1024 * 1024;

pub(super) struct RequestBody {
    body: Body,
    timeouts: Option<Arc<ConnectionTimeouts>>,
    memory: Reservation,
    begun: bool,
    ended: bool,
}

enum Chunk {
    Bytes(Bytes),
    End,
    /// It ended before its Content-Length, or its framing is broken.
    Broken,
    Overdue,
}

impl RequestBody {
    pub(super) fn new(
        body: Body,
        timeouts: Option<Arc<ConnectionTimeouts>>,
        memory: Reservation,
    ) -> RequestBody {
        RequestBody { ended: body.is_end_stream(), body, timeouts, memory, begun: false }
    }

    pub(super) async fn read(&mut self) -> Result<Bytes, Refusal> {
        let too_large = Refusal::BodyTooLarge { bytes_max: BODY_BYTES_MAX };
        let limit = usize::try_from(BODY_BYTES_MAX).expect("a MiB fits");
        if self.body.size_hint().lower() > u64::from(BODY_BYTES_MAX) {
            return Err(too_large);
        }
        let mut whole = BytesMut::new();
        loop {
            match self.next().await {
                // The usual case: one chunk, which is not copied.
                Chunk::Bytes(chunk) if self.ended && whole.is_empty() && chunk.len() <= limit => {
                    return Ok(chunk);
                }
                Chunk::Bytes(chunk) if whole.len() + chunk.len() <= limit => {
                    self.memory.grow_to(whole.len() + chunk.len()).map_err(no_room)?;
                    whole.extend_from_slice(&chunk);
                }
                Chunk::Bytes(_) => return Err(too_large),
                Chunk::End => return Ok(whole.freeze()),
                Chunk::Broken => return Err(Refusal::InvalidJson("it did not arrive whole".into())),
                Chunk::Overdue => return Err(Refusal::InvalidJson("it took too long to arrive".into())),
            }
        }
    }

    /// Discards the rest of the body, up to a limit.
    pub(super) async fn discard(&mut self, headers: &HeaderMap) {
        // With `Expect: 100-continue` the client has not sent the body yet.
        if self.ended || (!self.begun && headers.contains_key(header::EXPECT)) {
            return;
        }
        let mut left = DISCARD_BYTES_MAX;
        while let Chunk::Bytes(chunk) = self.next().await {
            let length = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
            match left.checked_sub(length) {
                Some(less) => left = less,
                None => return,
            }
        }
    }

    async fn next(&mut self) -> Chunk {
        if self.ended {
            return Chunk::End;
        }
        if !self.begun {
            self.begun = true;
            self.enter(Stage::Body);
        }
        let chunk = poll_fn(|context| self.poll_chunk(context)).await;
        self.ended = match chunk {
            Chunk::Bytes(_) => self.body.is_end_stream(),
            Chunk::End | Chunk::Broken | Chunk::Overdue => true,
        };
        if self.ended && !matches!(chunk, Chunk::Overdue) {
            self.enter(Stage::Serving);
        }
        chunk
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Chunk> {
        // The connection's task polls this right after it has set the stage, so no waker is needed.
        if self.timeouts.as_ref().is_some_and(|timeouts| timeouts.now().0 == Stage::Overdue) {
            return Poll::Ready(Chunk::Overdue);
        }
        loop {
            let frame = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Chunk::End),
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Chunk::Broken),
                Poll::Ready(Some(Ok(frame))) => frame,
            };
            // Trailers are ignored.
            if let Ok(chunk) = frame.into_data() {
                return Poll::Ready(Chunk::Bytes(chunk));
            }
        }
    }

    fn enter(&self, stage: Stage) {
        if let Some(timeouts) = &self.timeouts {
            timeouts.enter(stage);
        }
    }
}

fn no_room(_: BodyMemoryFull) -> Refusal {
    Refusal::GatewayUnavailable { cause: Unavailable::BodiesFull, retry_after_s: BODY_RETRY_S }
}
