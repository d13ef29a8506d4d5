//! Responses and failures as commands report them.

use super::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Calls a server that reads a request and writes this response.
async fn call(response: &'static [u8]) -> Result<ApiResponse, CallError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap()), "/api/v1").unwrap();
    let client = HttpClient::new(url, None).unwrap();
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = [0; 1024];
        let read = stream.read(&mut head).await.unwrap();
        assert!(head[..read].starts_with(b"GET /api/v1/balance HTTP/1.1\r\n"));
        stream.write_all(response).await.unwrap();
    };
    let request = Request::get("/api/v1/balance").body(Full::default()).unwrap();
    let (outcome, ()) = tokio::join!(client.call(request), server);
    outcome
}

#[tokio::test]
async fn response_is_read_completely() {
    let response = call(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-SMS-Parts: 3\r\n\r\n{}").await.unwrap();
    assert_eq!(
        (response.status, response.header("x-sms-parts"), response.body.as_str()),
        (200, Some("3"), "{}")
    );
}

#[tokio::test]
async fn error_response_is_reported_with_its_message() {
    for (raw, expect) in [
        (
            &b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n\r\n{\"error\": \"RATE_LIMITED: slower\"}"
                [..],
            "RATE_LIMITED: slower (try again in 1 s)",
        ),
        (b"HTTP/1.1 401 Unauthorized\r\n\r\n{\"error\": \"INVALID_API_KEY: no\"}", "INVALID_API_KEY: no"),
        (
            b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>",
            "the response (502) is not from Hermod: is the URL right?",
        ),
    ] {
        let refused = call(raw).await.unwrap().accepted().err().unwrap();
        assert_eq!(refused.to_string(), expect);
    }
}

#[tokio::test]
async fn incomplete_response_is_lost() {
    for raw in [
        &b""[..],
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\xff",
    ] {
        let outcome = call(raw).await.err();
        assert!(matches!(outcome, Some(CallError::Lost(_))), "{outcome:?}");
    }
}

#[tokio::test]
async fn refused_connection_is_reported() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let client = HttpClient::new(Url::parse(&format!("http://{free}"), "").unwrap(), None).unwrap();
    let told = client.call(Request::get("/").body(Full::default()).unwrap()).await.err().unwrap();
    assert_eq!(told.to_string(), format!("connection to {free} refused; is the gateway running?"));
}
