//! One connection to a receiver, on which one post after the other is made. Dropping it closes it at once, whatever the
//! receiver is still saying.

use crate::clock::Moment;
use crate::stream::Stream;
use crate::workers::Workers;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::sync::oneshot;

/// From being made to the last use.
pub(in super::super) const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// What is read ahead of an answer, and the longest head it may have.
const READ_BYTES_MAX: usize = 16 * 1024;
/// Headers of an answer.
const HEADERS_MAX: usize = 100;

pub(super) type Ask = Request<Full<Bytes>>;

pub(super) struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    made: Moment,
    /// Ends the task that reads and writes, by being dropped.
    _alive: oneshot::Sender<()>,
}

impl Connection {
    pub(super) async fn begin(stream: Stream, now: Moment, workers: &Workers) -> Result<Connection, String> {
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(READ_BYTES_MAX)
            .max_headers(HEADERS_MAX)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        let (alive, dropped) = oneshot::channel::<()>();
        workers.spawn_named("webhooks/connection", async move {
            tokio::select! {
                // Whoever made the request is told the same.
                _ = connection => {}
                _ = dropped => {}
            }
        });
        Ok(Connection { sender, made: now, _alive: alive })
    }

    pub(super) fn is_usable(&self, now: Moment) -> bool {
        !self.sender.is_closed() && now < self.made.plus(KEEP_ALIVE)
    }

    /// What went wrong is a sentence for people.
    pub(super) async fn ask(&mut self, ask: Ask) -> Result<Response<Incoming>, String> {
        self.sender.ready().await.map_err(|error| told(&error))?;
        self.sender.send_request(ask).await.map_err(|error| told(&error))
    }
}

fn told(error: &hyper::Error) -> String {
    if error.is_parse() || error.is_parse_too_large() {
        return format!("the answer is no HTTP: {error}");
    }
    format!("the connection was lost before the answer: {error}")
}
