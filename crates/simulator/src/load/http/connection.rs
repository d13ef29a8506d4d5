//! One connection of a run: takes a message from the schedule, sends it and reads its response, until the end of the run.
//! Hyper's connection task runs inside the same task, so that a request costs no task switch.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::TcpStream;

use super::{HttpAttempt, HttpOutcome, Shared};
use crate::load::report::RequestFailure;
use crate::runtime;

/// Octets of a response body.
const RESPONSE_BYTES_MAX: usize = 64 * 1024;
/// Pause between attempts to connect.
const CONNECT_PAUSE: Duration = Duration::from_millis(20);
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

type ConnectionTask = http1::Connection<TokioIo<TcpStream>, Full<Bytes>>;

/// An open connection: hyper's sender, and its connection task.
struct Open {
    sender: http1::SendRequest<Full<Bytes>>,
    task: ConnectionTask,
}

struct ReceivedResponse {
    status: u16,
    body: Bytes,
}

/// Sends until the schedule ends.
pub(super) async fn run(shared: Arc<Shared>, address: SocketAddr, number: u32) {
    let options = &shared.options;
    let tally = &shared.tallies[number as usize % shared.tallies.len()];
    let mut open: Option<Open> = None;
    loop {
        if let Some(permits) = &shared.permits {
            permits.acquire().await;
        }
        let Some(arrival) = shared.schedule.take(runtime::now()) else { return };
        let index = options.which.index(arrival.position);
        let key = options.messages.key(index);
        let request = request(&shared, index, key.as_deref());
        let sent = runtime::now();
        let result = exchange(&shared, &mut open, address, request).await;
        let answered = runtime::now();
        let outcome = match &result {
            Ok(answer) => {
                let latency = answered - arrival.due.unwrap_or(sent).min(sent);
                let mut tally = tally.lock().expect("no holder of a tally panics");
                tally.answered(answer.status, latency, answered - sent);
                shared.live.count_answer();
                Ok(answer)
            }
            Err(failure) => {
                tally.lock().expect("no holder of a tally panics").failed(*failure);
                shared.live.count_failure();
                Err(*failure)
            }
        };
        if let Some(observer) = &options.observer {
            observe(observer.as_ref(), index, key.as_deref(), outcome);
        }
    }
}

fn request(shared: &Shared, index: u64, key: Option<&str>) -> Request<Full<Bytes>> {
    let options = &shared.options;
    let mut request = Request::new(Full::new(options.messages.body(index)));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = options.target.path().clone();
    *request.headers_mut() = options.target.headers().clone();
    if let Some(key) = key {
        let key = HeaderValue::try_from(key).expect("keys were checked to be printable ASCII");
        request.headers_mut().insert(IDEMPOTENCY_KEY, key);
    }
    request
}

/// Sends one request, on a new connection if needed, and reads its response. After a failure the connection is dropped,
/// because its state is unknown.
async fn exchange(
    shared: &Shared,
    open: &mut Option<Open>,
    address: SocketAddr,
    request: Request<Full<Bytes>>,
) -> Result<ReceivedResponse, RequestFailure> {
    let mut connection = match reusable(open.take()).await {
        Some(connection) => connection,
        None => connect(address, shared.options.connect_wait_max).await?,
    };
    let call = call(&mut connection, request);
    let answer = runtime::within(shared.options.response_wait_max, call).await;
    let answer = answer.map_err(|_| RequestFailure::Timeout)??;
    *open = Some(connection);
    Ok(answer)
}

/// Returns the connection if it accepts another request. A server may have closed it after its last response, which is no
/// failure.
async fn reusable(open: Option<Open>) -> Option<Open> {
    let Open { mut sender, mut task } = open?;
    let ready = tokio::select! {
        biased;
        ready = sender.ready() => ready.is_ok(),
        _ = &mut task => false,
    };
    ready.then_some(Open { sender, task })
}

async fn connect(address: SocketAddr, wait_max: Duration) -> Result<Open, RequestFailure> {
    let give_up = runtime::now() + wait_max;
    loop {
        let attempt = tokio::time::timeout_at(give_up.into(), dial(address)).await;
        match attempt {
            Ok(Ok(open)) => return Ok(open),
            Ok(Err(_)) if runtime::now() + CONNECT_PAUSE < give_up => runtime::pause(CONNECT_PAUSE).await,
            Ok(Err(_)) | Err(_) => return Err(RequestFailure::Connect),
        }
    }
}

async fn dial(address: SocketAddr) -> std::io::Result<Open> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, task) = http1::handshake(TokioIo::new(stream)).await.map_err(std::io::Error::other)?;
    Ok(Open { sender, task })
}

/// Sends a request and reads the response while it drives the connection.
async fn call(
    connection: &mut Open,
    request: Request<Full<Bytes>>,
) -> Result<ReceivedResponse, RequestFailure> {
    let Open { sender, task } = connection;
    let response = async {
        let response = sender.send_request(request).await.map_err(|error| failure(&error))?;
        read(response).await
    };
    tokio::pin!(response);
    tokio::select! {
        biased;
        response = &mut response => response,
        // The connection may end in the step that completed the response: it is polled once more.
        _ = task => {
            let once = std::future::poll_fn(|cx| std::task::Poll::Ready(response.as_mut().poll(cx)));
            match once.await {
                std::task::Poll::Ready(response) => response,
                std::task::Poll::Pending => Err(RequestFailure::Closed),
            }
        }
    }
}

async fn read(response: Response<Incoming>) -> Result<ReceivedResponse, RequestFailure> {
    let status = response.status().as_u16();
    let mut body = response.into_body();
    let mut first = Bytes::new();
    let mut more = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| failure(&error))?.into_data() else { continue };
        if first.len() + more.len() + data.len() > RESPONSE_BYTES_MAX {
            return Err(RequestFailure::BadAnswer);
        }
        // A response of one frame, as nearly all are, is not copied.
        if first.is_empty() { first = data } else { more.extend_from_slice(&data) }
    }
    if more.is_empty() {
        return Ok(ReceivedResponse { status, body: first });
    }
    Ok(ReceivedResponse { status, body: [first, more.freeze()].concat().into() })
}

fn failure(error: &hyper::Error) -> RequestFailure {
    if error.is_parse() { RequestFailure::BadAnswer } else { RequestFailure::Closed }
}

#[derive(Deserialize)]
struct Accepted {
    message_id: String,
}

fn observe(
    observer: &(dyn Fn(&HttpAttempt<'_>) + Send + Sync),
    index: u64,
    key: Option<&str>,
    result: Result<&ReceivedResponse, RequestFailure>,
) {
    let accepted: Option<Accepted> = result.ok().and_then(|answer| serde_json::from_slice(&answer.body).ok());
    let outcome = match result {
        Ok(answer) => HttpOutcome::Answered {
            status: answer.status,
            message_id: accepted.as_ref().map(|a| a.message_id.as_str()),
        },
        Err(failure) => HttpOutcome::Failed(failure),
    };
    observer(&HttpAttempt { index, key, outcome });
}
