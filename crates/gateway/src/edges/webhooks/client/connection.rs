//! One HTTP connection to a receiver, and the pool of an endpoint's idle connections. Dropping a connection closes it
//! at once.

use crate::clock::Moment;
use crate::stream::Stream;
use crate::workers::Workers;
use bytes::Bytes;
use hermod_domain::webhook::post_concurrency::POSTS_MAX;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use std::time::Duration;
use tokio::sync::oneshot;

/// The age at which a connection is not used any more: the host's address may have changed.
pub(in super::super) const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// The read buffer, and the longest head of a response.
const READ_BYTES_MAX: usize = 16 * 1024;
/// The most headers of a response.
const HEADERS_MAX: usize = 100;

pub(super) type Ask = Request<Full<Bytes>>;

pub(super) struct ReceiverConnection {
    sender: http1::SendRequest<Full<Bytes>>,
    made: Moment,
    /// Dropping it ends the connection's task.
    _alive: oneshot::Sender<()>,
}

impl ReceiverConnection {
    pub(super) async fn begin(
        stream: Stream,
        now: Moment,
        workers: &Workers,
    ) -> Result<ReceiverConnection, String> {
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(READ_BYTES_MAX)
            .max_headers(HEADERS_MAX)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        let (alive, dropped) = oneshot::channel::<()>();
        workers.spawn_named("webhooks/connection", async move {
            tokio::select! {
                // The request fails with the same error.
                _ = connection => {}
                _ = dropped => {}
            }
        });
        Ok(ReceiverConnection { sender, made: now, _alive: alive })
    }

    pub(super) fn is_usable(&self, now: Moment) -> bool {
        !self.sender.is_closed() && now < self.made.plus(KEEP_ALIVE)
    }

    /// Sends a request and returns the head of its response.
    pub(super) async fn ask(&mut self, ask: Ask) -> Result<Response<Incoming>, AskFailure> {
        if let Err(error) = self.sender.ready().await {
            return Err(AskFailure { sentence: describe(&error), unsent: true });
        }
        self.sender.try_send_request(ask).await.map_err(|mut failure| {
            // The connection's task returns a request that it never began to write.
            let unsent = failure.take_message().is_some();
            AskFailure { sentence: describe(failure.error()), unsent }
        })
    }
}

/// Why a request got no response.
pub(super) struct AskFailure {
    /// A sentence for the operator.
    pub(super) sentence: String,
    /// No byte of the request was written, so the receiver cannot have read it.
    pub(super) unsent: bool,
}

fn describe(error: &hyper::Error) -> String {
    if error.is_parse() || error.is_parse_too_large() {
        return format!("the response is not HTTP: {error}");
    }
    format!("the connection was lost before the response: {error}")
}

/// The idle connections of one endpoint.
#[derive(Default)]
pub(in super::super) struct Pool(Mutex<Vec<ReceiverConnection>>);

impl Pool {
    /// Takes the most recently used connection, so that the others can expire.
    pub(super) fn take(&self, now: Moment) -> Option<ReceiverConnection> {
        let mut kept = self.0.lock();
        kept.retain(|connection| connection.is_usable(now));
        kept.pop()
    }

    pub(super) fn put(&self, connection: ReceiverConnection, now: Moment) {
        let mut kept = self.0.lock();
        // There are never more than concurrent posts.
        if connection.is_usable(now) && kept.len() < usize::try_from(POSTS_MAX).unwrap_or(usize::MAX) {
            kept.push(connection);
        }
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}
