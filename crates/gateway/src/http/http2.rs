//! Serves HTTP/2 connections, which a client chooses in the TLS handshake. Routes, limits and timeouts are those of HTTP/1.1;
//! the timeouts of a body apply to each request, because requests share the connection.

use super::limits::{HttpLimits, LAST_READ};
use super::no_answer::{self, NoAnswer};
use super::streamed_body;
use super::timeouts::{ConnectionInfo, ConnectionTimeouts, Stage, TimeoutAction};
use crate::clock::{Clock, Moment, within};
use crate::listeners::ConnectionSlot;
use crate::workers::Workers;
use axum::Router;
use axum::http::header::HOST;
use axum::http::{HeaderValue, Request, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// The name of the protocol in the TLS handshake (RFC 9113 section 3.2).
pub(crate) const ALPN: &str = "h2";

/// Requests in progress on one connection. A browser that loads a page needs about ten.
const STREAMS_MAX: u32 = 100;
/// Octets of a head, each field counted with 32 octets more (RFC 9113 section 6.5.2). Longer heads are rejected with 431.
const HEADER_LIST_BYTES_MAX: u32 = 32 * 1024;
/// Requests that the client has cancelled before they were passed on. More close the connection: a client that begins and cancels
/// requests costs us more than itself (CVE-2023-44487).
const CANCELLED_EARLY_MAX: usize = 20;
/// Requests that were cancelled by us because of errors of the client. More close the connection (CVE-2025-8671).
const CANCELLED_BY_US_MAX: usize = 100;
/// Octets of a body that the client may send before they are read.
const STREAM_WINDOW_BYTES: u32 = 64 * 1024;
/// The same for all bodies of a connection: the memory that a connection can fill.
const CONNECTION_WINDOW_BYTES: u32 = 256 * 1024;
/// Octets of a response that wait for the client.
const SEND_BUFFER_BYTES_MAX: usize = 64 * 1024;

/// What the server knows about a connection.
pub(super) struct Http2Connection {
    pub(super) router: Router,
    pub(super) info: ConnectionInfo,
    pub(super) clock: Clock,
    pub(super) limits: HttpLimits,
    pub(super) leaving: CancellationToken,
    pub(super) workers: Workers,
    pub(super) slot: Option<Arc<ConnectionSlot>>,
}

impl Http2Connection {
    /// Serves until the client disconnects, the connection is idle for too long, or the gateway stops.
    pub(super) async fn run(self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let Http2Connection { router, info, clock, limits, leaving, workers, slot } = self;
        let timeouts = info.timeouts.clone();
        let streams = Arc::new(OpenStreams { connection: timeouts.clone(), open: Mutex::default() });
        let request =
            RequestServer { router, info, clock: clock.clone(), limits, streams: streams.clone(), slot };
        let request = Arc::new(request);
        let service = service_fn(move |incoming| request.clone().answer(incoming));
        let serving = builder(workers).serve_connection(TokioIo::new(stream), service);
        let mut serving = pin!(serving);
        let mut timer = pin!(clock.sleep_until(clock.moment().plus(limits.header_read_max)));
        let mut draining = false;
        loop {
            tokio::select! {
                biased;
                // On a protocol error or a disconnect hyper has already responded if possible.
                _ended = serving.as_mut() => return,
                // GOAWAY: requests on their way are served, the client makes others elsewhere.
                () = leaving.cancelled(), if !draining => {
                    // A new connection is closed without GOAWAY until its first octets are read.
                    if within(LAST_READ, serving.as_mut()).await.is_ok() {
                        return;
                    }
                    draining = true;
                    serving.as_mut().graceful_shutdown();
                    timer.set(clock.sleep_until(clock.moment().plus(limits.drain_max)));
                }
                () = timer.as_mut() => {
                    let now = clock.moment();
                    if draining || streams.has_stalled(&limits, now) {
                        return;
                    }
                    match timeouts.check(&limits, now) {
                        TimeoutAction::CheckAgain(at) | TimeoutAction::GiveUpOnBody(at) => {
                            timer.set(clock.sleep_until(at));
                        }
                        // The client may be sending a request: it learns which ones were not served.
                        TimeoutAction::Close => {
                            draining = true;
                            serving.as_mut().graceful_shutdown();
                            timer.set(clock.sleep_until(now.plus(limits.header_read_max)));
                        }
                    }
                }
            }
        }
    }
}

fn builder(workers: Workers) -> http2::Builder<StreamTasks> {
    let mut builder = http2::Builder::new(StreamTasks(workers));
    builder
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEADER_LIST_BYTES_MAX)
        .max_pending_accept_reset_streams(CANCELLED_EARLY_MAX)
        .max_local_error_reset_streams(CANCELLED_BY_US_MAX)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(SEND_BUFFER_BYTES_MAX);
    builder
}

/// Runs each request as a task of the gateway.
#[derive(Clone)]
struct StreamTasks(Workers);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for StreamTasks {
    fn execute(&self, task: F) {
        self.0.spawn_named("http/stream", task);
    }
}

/// Serves the requests of one connection.
struct RequestServer {
    router: Router,
    info: ConnectionInfo,
    clock: Clock,
    limits: HttpLimits,
    streams: Arc<OpenStreams>,
    slot: Option<Arc<ConnectionSlot>>,
}

impl RequestServer {
    async fn answer(self: Arc<RequestServer>, mut request: Request<Incoming>) -> Result<Response, NoAnswer> {
        if let Some(slot) = &self.slot {
            slot.establish();
        }
        let stream = self.streams.begin(&self.clock);
        let timeouts = stream.timeouts.clone();
        let info = ConnectionInfo { timeouts: timeouts.clone(), ..self.info.clone() };
        request.extensions_mut().insert(info);
        name_host(&mut request);
        let mut answer = pin!(TowerToHyperService::new(self.router.clone()).call(request));
        let mut timer = pin!(self.clock.sleep_until(self.next_check()));
        let answer = loop {
            tokio::select! {
                biased;
                answer = answer.as_mut() => {
                    let Ok(answer) = answer;
                    break no_answer::checked(answer)?;
                }
                () = timer.as_mut() => match timeouts.check(&self.limits, self.clock.moment()) {
                    TimeoutAction::CheckAgain(at) => timer.set(self.clock.sleep_until(at)),
                    TimeoutAction::GiveUpOnBody(at) => {
                        timeouts.enter(Stage::Overdue);
                        timer.set(self.clock.sleep_until(at));
                    }
                    TimeoutAction::Close => break StatusCode::REQUEST_TIMEOUT.into_response(),
                },
            }
        };
        timeouts.enter(Stage::Idle);
        Ok(streamed_body::follow_holding(answer, &timeouts, stream))
    }

    fn next_check(&self) -> Moment {
        self.clock.moment().plus(self.limits.header_read_max.min(self.limits.body_read_max))
    }
}

/// Moves the host of a request to where HTTP/1.1 has it, and leaves path and query (RFC 9113 section 8.3.1). A different `Host`
/// stays beside it: the check of the framing rejects two.
fn name_host(request: &mut Request<Incoming>) {
    let Some(authority) = request.uri().authority().map(|authority| authority.as_str().to_owned()) else {
        return;
    };
    let is_same = |host: &HeaderValue| host.as_bytes().eq_ignore_ascii_case(authority.as_bytes());
    if !request.headers().get(HOST).is_some_and(is_same)
        && let Ok(host) = HeaderValue::from_str(&authority)
    {
        request.headers_mut().append(HOST, host);
    }
    if let Some(path) = request.uri().path_and_query().cloned() {
        *request.uri_mut() = Uri::from(path);
    }
}

/// The requests in progress on a connection. It is idle when there are none.
struct OpenStreams {
    connection: Arc<ConnectionTimeouts>,
    open: Mutex<Vec<Arc<ConnectionTimeouts>>>,
}

impl OpenStreams {
    fn begin(self: &Arc<OpenStreams>, clock: &Clock) -> OpenStream {
        let timeouts = Arc::new(ConnectionTimeouts::new(clock.clone()));
        timeouts.enter(Stage::Serving);
        let mut open = self.open.lock();
        open.push(timeouts.clone());
        self.connection.enter(Stage::Serving);
        OpenStream { streams: self.clone(), timeouts }
    }

    /// Whether the client has not taken a response for as long as a connection may be idle.
    fn has_stalled(&self, limits: &HttpLimits, now: Moment) -> bool {
        let open = self.open.lock();
        open.iter().any(|timeouts| {
            let (stage, since) = timeouts.now();
            stage == Stage::Idle && since.plus(limits.idle_max) <= now
        })
    }
}

/// One request until its response is sent, or its client has gone.
struct OpenStream {
    streams: Arc<OpenStreams>,
    timeouts: Arc<ConnectionTimeouts>,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock();
        open.retain(|other| !Arc::ptr_eq(other, &self.timeouts));
        if open.is_empty() {
            self.streams.connection.enter(Stage::Idle);
        }
    }
}
