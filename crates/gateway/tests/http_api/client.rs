//! A raw HTTP client that sends exactly the given bytes, also invalid ones, and reads the
//! responses.

use crate::fixture::SECRET;
use crate::openapi_check;
use hermod_gateway::clock::within;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Longer than any response takes; a hang fails the test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// Header names and values.
pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

/// A plain or TLS connection.
trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Wire for S {}

pub(crate) struct Client {
    stream: Box<dyn Wire>,
    unread: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Returns the error code. It must be the same in header and body, and the body must have no other field.
    #[track_caller]
    pub(crate) fn code(&self) -> &str {
        let Some(code) = self.header("x-error-code") else { return "" };
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        let fields = body.as_object().unwrap();
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["error"], "{}", self.body);
        let error = fields["error"].as_str().unwrap();
        assert!(error.starts_with(&format!("{code}: ")), "{error}");
        assert!(error.ends_with('.'), "{error}");
        code
    }

    pub(crate) fn field(&self, name: &str) -> String {
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        body[name].as_str().unwrap_or_default().to_owned()
    }
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Client::on(stream)
    }

    /// Connects from this loopback address.
    pub(crate) async fn connect_from(source: &str, address: SocketAddr) -> Client {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(source.parse().unwrap(), 0)).unwrap();
        Client::on(socket.connect(address).await.unwrap())
    }

    pub(crate) fn on(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Client {
        Client { stream: Box::new(stream), unread: Vec::new() }
    }

    pub(crate) async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
        // TLS buffers encrypted bytes until a flush.
        self.stream.flush().await.unwrap();
    }

    /// Writes until the server closes the connection.
    pub(crate) async fn write_while_open(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    pub(crate) async fn finish_writing(&mut self) {
        self.stream.shutdown().await.unwrap();
    }

    /// Like `finish_writing`, but ignores an already closed connection.
    pub(crate) async fn finish_writing_if_open(&mut self) {
        let _ = self.stream.shutdown().await;
    }

    /// Sends a request with a body and reads the response.
    pub(crate) async fn call(
        &mut self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
        body: &[u8],
    ) -> Reply {
        self.write(request(method, path, headers, body)).await;
        let reply = self.read().await.expect("an answer");
        openapi_check::check(method, path, &reply);
        reply
    }

    pub(crate) async fn send(&mut self, key: &str, headers: Headers<'_>, body: &str) -> Reply {
        let bearer = bearer(key);
        let mut all = vec![("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        all.extend_from_slice(headers);
        self.call("POST", "/api/v1/sms", &all, body.as_bytes()).await
    }

    pub(crate) async fn get(&mut self, key: &str, path: &str) -> Reply {
        self.call("GET", path, &[("Authorization", &bearer(key))], b"").await
    }

    /// Returns the next response, or `None` if the connection ended first.
    pub(crate) async fn read(&mut self) -> Option<Reply> {
        self.read_response_to("GET").await
    }

    pub(crate) async fn read_response_to(&mut self, method: &str) -> Option<Reply> {
        let head = loop {
            if let Some(end) = find(&self.unread, b"\r\n\r\n") {
                break self.unread.drain(..end + 4).collect::<Vec<u8>>();
            }
            if !self.read_more().await {
                return None;
            }
        };
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut reply = Reply { status, headers, body: String::new() };
        if method != "HEAD" && status != 100 {
            let length: usize = reply.header("content-length").unwrap().parse().unwrap();
            while self.unread.len() < length {
                assert!(self.read_more().await, "the response was cut short");
            }
            reply.body = String::from_utf8(self.unread.drain(..length).collect()).unwrap();
        }
        Some(reply)
    }

    /// Reads exactly `count` bytes.
    pub(crate) async fn read_bytes(&mut self, count: usize) -> Vec<u8> {
        while self.unread.len() < count {
            assert!(self.read_more().await, "only {:?} came", self.unread);
        }
        self.unread.drain(..count).collect()
    }

    /// Reads until the server closes the connection.
    pub(crate) async fn read_to_end(&mut self) -> Vec<u8> {
        while self.read_more().await {}
        std::mem::take(&mut self.unread)
    }

    /// Whether the server closed the connection without sending more.
    pub(crate) async fn is_closed(&mut self) -> bool {
        self.unread.is_empty() && !self.read_more().await
    }

    /// Whether the connection ends within `wait`.
    pub(crate) async fn closes_within(&mut self, wait: Duration) -> bool {
        let mut byte = [0];
        match within(wait, self.stream.read(&mut byte)).await {
            Ok(Ok(0) | Err(_)) => true,
            Ok(Ok(_)) => {
                self.unread.push(byte[0]);
                false
            }
            Err(_) => false,
        }
    }

    pub(crate) fn has_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    async fn read_more(&mut self) -> bool {
        let read = within(PATIENCE, self.stream.read_buf(&mut self.unread)).await;
        match read.expect("a response or a close in time") {
            Ok(length) => length > 0,
            Err(_) => false,
        }
    }
}

pub(crate) fn bearer(key: &str) -> String {
    format!("Bearer {key}:{SECRET}")
}

pub(crate) fn request(method: &str, path: &str, headers: Headers<'_>, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    if !body.is_empty() || method == "POST" {
        bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
