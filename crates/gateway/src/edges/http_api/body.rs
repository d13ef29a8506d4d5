//! The body of a request: read whole up to a limit, or thrown away when the answer does not depend on it.

use crate::http::body_memory::{BODY_RETRY_S, BodyMemoryFull, Reservation};
use crate::http::timeouts::{Patience, Stage};
use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use hermod_domain::refusal::{Refusal, Unavailable};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The largest body there is any use for is below 10 KiB; this leaves room for clients that send more than we read.
pub(super) const BODY_BYTES_MAX: u32 = 1024 * 1024;

/// How much of an unwanted body is read so that its sender gets to see the answer.
const DISCARD_BYTES_MAX: u64 = 8 * 1024 * 1024;

pub(super) struct RequestBody {
    body: Body,
    patience: Option<Arc<Patience>>,
    memory: Reservation,
    begun: bool,
    ended: bool,
}

enum Chunk {
    Bytes(Bytes),
    End,
    /// It ended before its announced length, or its framing is broken.
    Broken,
    Overdue,
}

impl RequestBody {
    pub(super) fn new(body: Body, patience: Option<Arc<Patience>>, memory: Reservation) -> RequestBody {
        RequestBody { ended: body.is_end_stream(), body, patience, memory, begun: false }
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
                // The usual case: all of it at once, and nothing is copied.
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

    /// Reads what is left, up to a limit, and forgets it.
    pub(super) async fn discard(&mut self, headers: &HeaderMap) {
        // Whoever asked first whether to send the body has not sent it, and need not.
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
        // The connection's task polls us right after it has set this, so there is nobody to wake.
        if self.patience.as_ref().is_some_and(|patience| patience.now().0 == Stage::Overdue) {
            return Poll::Ready(Chunk::Overdue);
        }
        loop {
            let frame = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(Chunk::End),
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Chunk::Broken),
                Poll::Ready(Some(Ok(frame))) => frame,
            };
            // Trailers mean nothing to us.
            if let Ok(chunk) = frame.into_data() {
                return Poll::Ready(Chunk::Bytes(chunk));
            }
        }
    }

    fn enter(&self, stage: Stage) {
        if let Some(patience) = &self.patience {
            patience.enter(stage);
        }
    }
}

fn no_room(_: BodyMemoryFull) -> Refusal {
    Refusal::GatewayUnavailable { cause: Unavailable::BodiesFull, retry_after_s: BODY_RETRY_S }
}
