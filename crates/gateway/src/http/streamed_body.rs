//! The body of a response that is made while it is sent: exports and the live feed.
//!
//! While the body waits for its own next piece, no timeout applies. While the client does not take what there is, the
//! connection counts as idle, so that a client that has stopped reading is disconnected.

use super::timeouts::{ConnectionTimeouts, Stage};
use axum::Error;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The body of a response. `held` is dropped when it is sent, or its client has gone.
struct SentBody<H> {
    body: Body,
    timeouts: Option<Arc<ConnectionTimeouts>>,
    _held: H,
}

/// Makes the timeouts of the connection follow the body of a response, if its length is not known.
pub(super) fn follow(response: Response, timeouts: &Arc<ConnectionTimeouts>) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    follow_holding(response, timeouts, ())
}

/// As [`follow`], and keeps `held` until the body is sent.
pub(super) fn follow_holding<H: Send + Unpin + 'static>(
    response: Response,
    timeouts: &Arc<ConnectionTimeouts>,
    held: H,
) -> Response {
    let is_streamed = response.body().size_hint().exact().is_none();
    let timeouts = is_streamed.then(|| timeouts.clone());
    response.map(|body| Body::new(SentBody { body, timeouts, _held: held }))
}

impl<H: Unpin> HttpBody for SentBody<H> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Some(timeouts) = &self.timeouts {
            timeouts.enter(if polled.is_pending() { Stage::Serving } else { Stage::Idle });
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
