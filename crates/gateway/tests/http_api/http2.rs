//! HTTP/2 over TLS: the same routes and rejections as HTTP/1.1, limits of streams and heads, timeouts, and a drain.

use crate::client::{Client, PATIENCE, bearer};
use crate::test_customers::ACME;
use crate::tls::Secured;
use bytes::Bytes;
use futures_util::FutureExt as _;
use hermod_gateway::clock::within;
use hermod_gateway::workers::Workers;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_rustls::rustls::version::TLS13;

const PROTOCOLS: [&str; 2] = ["h2", "http/1.1"];
const SEND: &str = r#"{"to":"+4915112345678","text":"hello"}"#;
type Body = BoxBody<Bytes, Infallible>;
/// Parts of a body that wait to be sent.
const PARTS_MAX: usize = 2;

/// A client with one connection.
struct Http2Client {
    sender: SendRequest<Body>,
    /// Fires when the connection has ended.
    ended: oneshot::Receiver<()>,
}

impl Http2Client {
    async fn connect(secured: &Secured) -> Http2Client {
        let stream = secured.handshake(&[&TLS13]).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
        let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        let (done, ended) = oneshot::channel();
        Workers::default().spawn_named("client", async move {
            let _ = connection.await;
            let _ = done.send(());
        });
        Http2Client { sender, ended }
    }

    async fn call(&self, request: Request<Body>) -> Result<(u16, String), hyper::Error> {
        let mut sender = self.sender.clone();
        sender.ready().await?;
        let response: Response<_> = sender.send_request(request).await?;
        assert_eq!(response.version(), Version::HTTP_2);
        let status = response.status().as_u16();
        let body = response.into_body().collect().await?.to_bytes();
        Ok((status, String::from_utf8(body.to_vec()).unwrap()))
    }

    async fn ends(self) {
        drop(self.sender);
        within(PATIENCE, self.ended).await.expect("the server closes the connection").unwrap();
    }
}

fn request(method: &str, path: &str) -> hyper::http::request::Builder {
    Request::builder()
        .method(method)
        .uri(format!("https://localhost{path}"))
        .header("authorization", bearer(ACME))
}

fn get(path: &str) -> Request<Body> {
    request("GET", path).body(Full::default().boxed()).unwrap()
}

fn post(body: &'static str) -> Request<Body> {
    let request = request("POST", "/api/v1/sms").header("content-type", "application/json");
    request.body(Full::from(body).boxed()).unwrap()
}

#[tokio::test]
async fn requests_share_a_connection_and_are_answered_as_over_http_1_1() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let client = Http2Client::connect(&secured).await;
    let (sent, balance, unknown) = tokio::join!(
        client.call(post(SEND)),
        client.call(get("/api/v1/balance")),
        client.call(get("/nothing?x=1"))
    );
    assert_eq!(sent.unwrap().0, 202);
    assert_eq!(balance.unwrap().0, 200);
    assert_eq!(unknown.unwrap().0, 404);
    let many = (0..300).map(|_| client.call(get("/api/v1/balance")));
    for answer in futures_util::future::join_all(many).await {
        assert_eq!(answer.unwrap().0, 200);
    }
}

#[tokio::test]
async fn host_that_differs_from_the_authority_is_rejected() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let client = Http2Client::connect(&secured).await;
    for (host, expect) in [("localhost", 200), ("LOCALHOST", 200), ("evil.example", 400)] {
        let request = request("GET", "/api/v1/balance").header("host", host);
        let answer = client.call(request.body(Full::default().boxed()).unwrap()).await.unwrap();
        assert_eq!(answer.0, expect, "{host}: {}", answer.1);
    }
}

#[tokio::test]
async fn long_head_is_rejected_and_the_connection_stays() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let client = Http2Client::connect(&secured).await;
    let long = request("GET", "/api/v1/balance").header("x-long", "y".repeat(40_000));
    let answer = client.call(long.body(Full::default().boxed()).unwrap()).await;
    assert!(answer.is_err() || answer.is_ok_and(|(status, _)| status == 431));
    assert_eq!(client.call(get("/api/v1/balance")).await.unwrap().0, 200);
}

#[tokio::test]
async fn large_body_is_rejected() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let client = Http2Client::connect(&secured).await;
    let large = request("POST", "/api/v1/sms").header("content-type", "application/json");
    let large = large.body(Full::from(vec![b' '; 1_100_000]).boxed()).unwrap();
    assert_eq!(client.call(large).await.unwrap().0, 413);
    assert_eq!(client.call(post(SEND)).await.unwrap().0, 202);
}

/// Returns a body that is sent in parts.
fn body_in_parts() -> (mpsc::Sender<Result<Frame<Bytes>, Infallible>>, Body) {
    let (parts, received) = mpsc::channel(PARTS_MAX);
    let body = StreamBody::new(futures_util::stream::unfold(received, |mut received| async {
        received.recv().await.map(|part| (part, received))
    }));
    (parts, BodyExt::boxed(body))
}

#[tokio::test]
async fn incomplete_body_gets_400_after_its_timeout_and_others_are_served_meanwhile() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let client = Http2Client::connect(&secured).await;
    let (parts, body) = body_in_parts();
    parts.send(Ok(Frame::data(Bytes::from_static(b"{\"to\":")))).await.unwrap();
    let slow = request("POST", "/api/v1/sms").header("content-type", "application/json");
    let slow = client.call(slow.body(body).unwrap());
    let mut slow = pin!(slow);
    let mut seconds = 0;
    let (status, text) = loop {
        match within(Duration::from_millis(20), slow.as_mut()).await {
            Ok(answer) => break answer.unwrap(),
            Err(_) => {
                secured.service.gateway.clock.advance(Duration::from_secs(1));
                seconds += 1;
                assert!(seconds < 90, "no answer");
            }
        }
        if seconds % 10 == 0 {
            assert_eq!(client.call(get("/api/v1/balance")).await.unwrap().0, 200);
        }
    };
    assert!(status == 400 && text.contains("too long to arrive"), "{status} {text}");
    assert!(seconds >= 30, "ended after {seconds} s of the 30 it has");
    drop(parts);
}

#[tokio::test]
async fn idle_connection_is_closed_after_75_seconds() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let mut client = Http2Client::connect(&secured).await;
    assert_eq!(client.call(get("/api/v1/balance")).await.unwrap().0, 200);
    let mut seconds = 0;
    while within(Duration::from_millis(20), &mut client.ended).await.is_err() {
        secured.service.gateway.clock.advance(Duration::from_secs(1));
        seconds += 1;
        assert!(seconds < 120, "still open");
    }
    assert!((75..100).contains(&seconds), "closed after {seconds} s of the 75 it has");
}

#[tokio::test]
async fn connection_without_a_request_is_closed_after_10_seconds() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let mut client = Http2Client::connect(&secured).await;
    let mut seconds = 0;
    while within(Duration::from_millis(20), &mut client.ended).await.is_err() {
        secured.service.gateway.clock.advance(Duration::from_secs(1));
        seconds += 1;
        assert!(seconds < 60, "still open");
    }
    assert!((10..30).contains(&seconds), "closed after {seconds} s of the 10 it has");
}

#[tokio::test]
async fn stopping_gateway_closes_idle_connections() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let client = Http2Client::connect(&secured).await;
    assert_eq!(client.call(get("/api/v1/balance")).await.unwrap().0, 200);
    within(PATIENCE, secured.service.workers.stop()).await.expect("it stops");
    client.ends().await;
}

#[tokio::test]
async fn gateway_that_leaves_sends_goaway_and_serves_the_request_in_progress() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let client = Http2Client::connect(&secured).await;
    let mut idle = raw_client(&secured).await;
    // The acknowledgement of our settings: the preface is read.
    while read_frame(&mut idle).await[3..5] != [SETTINGS, ACK] {}
    let (parts, body) = body_in_parts();
    let (first, rest) = SEND.split_at(10);
    parts.send(Ok(Frame::data(Bytes::from_static(first.as_bytes())))).await.unwrap();
    let slow = request("POST", "/api/v1/sms").header("content-type", "application/json");
    let mut slow = Box::pin(client.call(slow.body(body).unwrap()));
    // Until it has been sent.
    while parts.capacity() < PARTS_MAX {
        assert!(slow.as_mut().now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    let finished = async {
        loop {
            let frame = read_frame(&mut idle).await;
            if frame[3] == GOAWAY {
                // After the last stream comes the error code: none (RFC 9113 section 6.8).
                assert_eq!(frame[13..17], [0; 4]);
                break;
            }
        }
        drop(idle);
        parts.send(Ok(Frame::data(Bytes::from_static(rest.as_bytes())))).await.unwrap();
        drop(parts);
    };
    let left = secured.service.workers.leave_within(2 * PATIENCE);
    let (answer, (), ()) = tokio::join!(slow, finished, left);
    assert_eq!(answer.unwrap().0, 202);
    assert!(!secured.service.workers.stopping().is_cancelled());
    client.ends().await;
}

/// Whether the stream of a request is later than the last one that the server processes.
fn is_beyond_goaway(error: &hyper::Error) -> bool {
    format!("{error:?}").contains("GoAway(b\"\", NO_ERROR, Remote)")
}

/// Sends one request after the other until the server wants no more. Returns how many were answered.
async fn call_until_gone(client: &Http2Client) -> u32 {
    let mut answered = 0;
    loop {
        match client.call(get("/api/v1/balance")).await {
            Ok((status, body)) => assert!(matches!(status, 200 | 429), "{status}: {body}"),
            // It was not sent, or the server did not process it: its stream is later than the last of GOAWAY (RFC 9113 section 6.8).
            Err(error) if error.is_canceled() || error.is_closed() || is_beyond_goaway(&error) => {
                return answered;
            }
            Err(error) => panic!("a request got no answer: {error:?}"),
        }
        answered += 1;
    }
}

#[tokio::test]
async fn every_request_of_busy_clients_is_answered_while_the_gateway_leaves() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let mut clients = Vec::new();
    for _ in 0..20 {
        clients.push(Http2Client::connect(&secured).await);
    }
    let left = async {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        secured.service.workers.leave_within(2 * PATIENCE).await;
    };
    let answered = futures_util::future::join_all(clients.iter().map(call_until_gone));
    let (answered, ()) = tokio::join!(answered, left);
    assert!(answered.iter().all(|answered| *answered > 0), "{answered:?}");
    for client in clients {
        client.ends().await;
    }
}

/// Returns the next frame with its head.
async fn read_frame(client: &mut Client) -> Vec<u8> {
    let head = client.read_bytes(9).await;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let payload = client.read_bytes(usize::try_from(length).unwrap()).await;
    [head, payload].concat()
}

/// Types and flags of frames (RFC 9113 section 6).
const SETTINGS: u8 = 4;
const ACK: u8 = 1;
const GOAWAY: u8 = 7;

/// The connection preface and an empty SETTINGS frame (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Returns a frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Returns the HEADERS frame of `GET /` on localhost, with this end of its headers.
fn get_frame(stream: u32, flags: u8) -> Vec<u8> {
    // Static entries of HPACK: GET, https, /; then `:authority` with a literal value.
    let block = [&[0x82, 0x87, 0x84, 0x41, 9][..], b"localhost"].concat();
    frame(1, flags, stream, &block)
}

async fn raw_client(secured: &Secured) -> Client {
    let mut client = Client::on(secured.handshake(&[&TLS13]).await.unwrap());
    client.write(PREFACE).await;
    client
}

#[tokio::test]
async fn flood_of_cancelled_requests_closes_only_its_connection() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let mut client = raw_client(&secured).await;
    let mut flood = Vec::new();
    for stream in (1..2_000).step_by(2) {
        // With END_HEADERS and END_STREAM; then RST_STREAM with CANCEL.
        flood.extend(get_frame(stream, 5));
        flood.extend(frame(3, 0, stream, &[0, 0, 0, 8]));
    }
    client.write_while_open(&flood).await;
    let answer = client.read_to_end().await;
    // GOAWAY with ENHANCE_YOUR_CALM (RFC 9113 section 7).
    let is_calmed = answer.windows(4).any(|code| code == [0, 0, 0, 0x0b]);
    assert!(is_calmed, "{} bytes", answer.len());
    let other = Http2Client::connect(&secured).await;
    assert_eq!(other.call(get("/api/v1/balance")).await.unwrap().0, 200);
}

#[tokio::test]
async fn endless_head_closes_its_connection() {
    let secured = Secured::start_with(&PROTOCOLS).await;
    let mut client = raw_client(&secured).await;
    // A head without END_HEADERS, and CONTINUATION frames without end (CVE-2024-27316).
    client.write(get_frame(1, 1)).await;
    let field = [&[0x00, 1, b'x', 127, 0xa1, 0x1e][..], &[b'y'; 4_000][..]].concat();
    for _ in 0..100 {
        client.write_while_open(&frame(9, 0, 1, &field)).await;
    }
    client.read_to_end().await;
    let other = Http2Client::connect(&secured).await;
    assert_eq!(other.call(get("/api/v1/balance")).await.unwrap().0, 200);
}

#[tokio::test]
async fn plain_port_does_not_speak_http_2() {
    let service = crate::fixture::Service::start().await;
    let mut client = service.client().await;
    client.write(PREFACE).await;
    let answer = String::from_utf8_lossy(&client.read_to_end().await).into_owned();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    service.assert_still_serving().await;
}
