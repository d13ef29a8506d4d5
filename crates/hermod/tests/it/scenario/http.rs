//! A small HTTP client: one request and one response on each connection. No pool and no retries, so that
//! a test sees exactly what the gateway sends.

use serde_json::Value;
use std::collections::HashMap;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[derive(Clone, Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    /// By lower-case name.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
}

/// Sends a request and reads the response to the end of the connection.
pub(crate) async fn call(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> std::io::Result<HttpAnswer> {
    let answer = exchange(address, method, path, headers, body).await?;
    parse(&answer).ok_or_else(|| std::io::Error::other("not an HTTP response"))
}

/// A response whose body is a web page.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    /// By lower-case name.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) text: String,
}

impl Page {
    /// Returns the path that the response leads to; empty if it leads nowhere.
    pub(crate) fn location(&self) -> &str {
        self.headers.get("location").map(String::as_str).unwrap_or_default()
    }

    /// Returns the token of the page's forms.
    pub(crate) fn csrf(&self) -> String {
        let (_, rest) = self.text.split_once("name=\"csrf\" value=\"").expect("a form");
        rest.split('"').next().unwrap_or_default().to_owned()
    }
}

/// Sends a request for a web page.
pub(crate) async fn call_page(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Page {
    let answer = exchange(address, method, path, headers, body).await.expect("an answer");
    let HttpAnswer { status, headers, .. } = parse(&answer).expect("an HTTP response");
    let text = answer.split_once("\r\n\r\n").map(|(_, text)| text.to_owned()).unwrap_or_default();
    Page { status, headers, text }
}

/// Returns the response to a GET, head and body, as text.
pub(crate) async fn call_for_text(address: SocketAddr, path: &str) -> String {
    exchange(address, "GET", path, &[], "").await.expect("an answer")
}

async fn exchange(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> std::io::Result<String> {
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn parse(answer: &str) -> Option<HttpAnswer> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Some(HttpAnswer { status, headers, body: serde_json::from_str(body).unwrap_or(Value::Null) })
}
