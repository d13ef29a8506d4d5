//! The operator API of a running gateway: listeners, allowed callers, and the limit of wrong tokens.

use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::{Bytes, Config, IpNetwork};
use hermod_gateway::gateway::Gateway;
use hermod_gateway::running::{GatewayOptions, OPERATOR_URL_FILE, Running, open};
use hermod_gateway::secrets::operator_token::find;
use hermod_operator::api::OPERATOR_SIDE;
use std::net::SocketAddr;
use std::path::Path;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

struct Started {
    running: Running,
    http: SocketAddr,
    operations: Option<SocketAddr>,
    token: String,
    folder: TempDir,
}

async fn start(apart: bool) -> Started {
    start_with(apart, |_| {}).await
}

async fn start_with(apart: bool, change: impl FnOnce(&mut Config)) -> Started {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::defaults();
    config.data.folder = folder.path().to_owned();
    change(&mut config);
    // A manual clock: the attempts of an address do not refill during a test.
    let clock = Clock::manual(Timestamp::parse("2026-06-15T12:00:00Z").unwrap());
    let listener = || TcpListener::bind("127.0.0.1:0");
    let http = listener().await.unwrap();
    let operations = if apart { Some(listener().await.unwrap()) } else { None };
    let addresses =
        (http.local_addr().unwrap(), operations.as_ref().map(|bound| bound.local_addr().unwrap()));
    let operations = operations.map(|socket| (socket, None));
    let opened = open(&config, &clock).unwrap();
    let token = find(&config).unwrap();
    let options = GatewayOptions {
        config,
        http,
        https: None,
        smpp: None,
        smpps: None,
        operations,
        operator: Some(OPERATOR_SIDE),
        pages: None,
        clock,
    };
    let running = Running::start(options, opened).await.unwrap();
    Started { running, http: addresses.0, operations: addresses.1, token, folder }
}

async fn ask(address: SocketAddr, token: &str, path: &str) -> String {
    ask_from("127.0.0.1", address, token, path).await
}

async fn ask_from(source: &str, address: SocketAddr, token: &str, path: &str) -> String {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(source.parse().unwrap(), 0)).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn status(answer: &str) -> &str {
    answer.get(9..12).unwrap_or_default()
}

fn url(folder: &Path) -> Option<String> {
    std::fs::read_to_string(folder.join(OPERATOR_URL_FILE)).ok()
}

#[tokio::test]
async fn operator_api_without_its_own_listener_is_on_the_http_listener_and_in_operator_url() {
    let Started { running, http, token, folder, .. } = start(false).await;
    assert_eq!(url(folder.path()), Some(format!("http://{http}/operator/v1\n")));
    assert_eq!(status(&ask(http, &token, "/operator/v1/accounts").await), "200");
    assert_eq!(status(&ask(http, "wrong", "/operator/v1/accounts").await), "401");
    assert_eq!(status(&ask(http, &token, "/operator/v1/nowhere").await), "404");
    assert_eq!(status(&ask(http, &token, "/api/v1/balance").await), "401", "the token is not an API key");
    assert_eq!(status(&ask(http, &token, "/healthz").await), "200");
    running.stop().await.unwrap();
    assert_eq!(url(folder.path()), None);
}

#[tokio::test]
async fn operator_api_with_its_own_listener_is_only_there() {
    let Started { running, http, operations, token, folder } = start(true).await;
    let operations = operations.unwrap();
    assert_eq!(url(folder.path()), Some(format!("http://{operations}/operator/v1\n")));
    assert_eq!(status(&ask(operations, &token, "/operator/v1/accounts").await), "200");
    assert_eq!(status(&ask(operations, &token, "/readyz").await), "200");
    assert_eq!(status(&ask(http, &token, "/operator/v1/accounts").await), "404");
    running.stop().await.unwrap();
}

#[tokio::test]
async fn wrong_tokens_are_limited_and_a_proven_address_is_not() {
    let Started { running, http, token, .. } = start(false).await;
    assert_eq!(status(&ask(http, &token, "/operator/v1/accounts").await), "200");
    let mut refused = Vec::new();
    for n in 0..12 {
        refused.push(ask(http, &format!("guess-number-{n}"), "/operator/v1/accounts").await);
    }
    assert_eq!(status(&refused[9]), "401");
    assert_eq!(status(&refused[11]), "429");
    assert!(refused[11].contains("retry-after: "), "{}", refused[11]);
    assert!(refused[11].contains("RATE_LIMITED: too many invalid tokens"), "{}", refused[11]);
    assert_eq!(status(&ask(http, &token, "/operator/v1/accounts").await), "200");
    // From an unproven address the right token during a storm counts as a guess.
    for n in 0..12 {
        ask_from("127.0.0.3", http, &format!("guess-number-{n}"), "/operator/v1/accounts").await;
    }
    assert_eq!(status(&ask_from("127.0.0.3", http, &token, "/operator/v1/accounts").await), "429");
    running.stop().await.unwrap();
}

/// Sends a request without a token and with a body of `bytes` bytes. Returns the response.
async fn post_open_page(address: SocketAddr, path: &str, bytes: usize, gateway: &Gateway) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b'x'; bytes - 1]).await.unwrap();
    assert_eq!(gateway.body_memory.used(), 0, "{path} buffers the body of an unauthenticated caller");
    stream.write_all(b"x").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn public_pages_answer_get_and_head_only_and_hold_no_body() {
    let Started { running, http, token, .. } = start(false).await;
    for path in ["/operator/v1/docs", "/operator/v1/openapi.json"] {
        for _ in 0..5 {
            let answer = post_open_page(http, path, 4 * 1024 * 1024, running.gateway()).await;
            assert_eq!(status(&answer), "405", "{answer}");
            assert!(answer.contains("allow: GET,HEAD"), "{answer}");
        }
        assert_eq!(status(&ask(http, "no token", path).await), "200");
    }
    // The body of an unauthenticated request is not buffered.
    let answer = post_open_page(http, "/operator/v1/apply", 4 * 1024 * 1024, running.gateway()).await;
    assert_eq!(status(&answer), "401", "{answer}");
    assert_eq!(status(&ask(http, &token, "/operator/v1/accounts").await), "200");
    running.stop().await.unwrap();
}

#[expect(clippy::disallowed_methods, reason = "bytes on a socket arrive in real time")]
async fn pause() {
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
}

#[tokio::test]
async fn operator_request_bodies_count_towards_the_body_memory_limit() {
    let mib = 1024 * 1024;
    let Started { running, http, token, .. } = start_with(false, |config| {
        config.http.max_body_memory = Bytes(5 << 20);
    })
    .await;
    let head = format!(
        "POST /operator/v1/apply HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/toml\r\nContent-Length: {}\r\n\r\n",
        3 * mib
    );
    let mut held = TcpStream::connect(http).await.unwrap();
    held.write_all(head.as_bytes()).await.unwrap();
    held.write_all(&vec![b'#'; 3 * mib - 1]).await.unwrap();
    while running.gateway().body_memory.used() < 2 << 20 {
        pause().await;
    }
    let mut refused = TcpStream::connect(http).await.unwrap();
    refused.write_all(head.as_bytes()).await.unwrap();
    refused.write_all(&vec![b'#'; 3 * mib]).await.unwrap();
    let mut answer = String::new();
    refused.read_to_string(&mut answer).await.unwrap();
    assert_eq!(status(&answer), "503", "{answer}");
    assert!(answer.contains("retry-after: 1"), "{answer}");
    held.write_all(b"#").await.unwrap();
    let mut answer = String::new();
    held.read_to_string(&mut answer).await.unwrap();
    assert_eq!(status(&answer), "200", "{answer}");
    running.stop().await.unwrap();
}

/// Returns the status of a local request with this additional header.
async fn forwarded(address: SocketAddr, token: &str, path: &str, header: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n{header}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    status(&answer).to_owned()
}

const FORWARDING_HEADERS: [&str; 7] = [
    "X-Forwarded-For: 203.0.113.9",
    "X-Forwarded-For: 127.0.0.1",
    "X-Forwarded-For: garbage",
    "Forwarded: for=203.0.113.9",
    "Via: 1.1 proxy",
    "X-Real-IP: 203.0.113.9",
    "X-Forwarded-Proto: https",
];

#[tokio::test]
async fn trusted_proxy_on_this_machine_is_never_local() {
    let trusting = |config: &mut Config| {
        config.http.trusted_proxies = vec![IpNetwork::parse("127.0.0.1").unwrap()];
    };
    let Started { running, http, token, .. } = start_with(false, trusting).await;
    for path in ["/operator/v1/accounts", "/operator/v1/docs", "/operator/v1/openapi.json", "/metrics"] {
        assert_eq!(
            forwarded(http, &token, path, "X-Other: y").await,
            "403",
            "{path}, a proxy without headers"
        );
        assert_eq!(status(&ask_from("127.0.0.2", http, &token, path).await), "200", "{path}, not the proxy");
    }
    running.stop().await.unwrap();
}

#[tokio::test]
async fn operator_api_and_metrics_reject_the_host_of_another_machine() {
    let Started { running, http, token, .. } = start(false).await;
    for path in ["/operator/v1/accounts", "/operator/v1/openapi.json", "/metrics"] {
        for (host, expect) in [("rebound.example", "403"), ("127.0.0.1:8080", "200"), ("localhost", "200")] {
            let mut stream = TcpStream::connect(http).await.unwrap();
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert_eq!(status(&answer), expect, "{path} {host}");
        }
    }
    running.stop().await.unwrap();
}

#[tokio::test]
async fn operator_api_and_metrics_reject_forwarded_requests() {
    let trusting = |config: &mut Config| {
        config.http.trusted_proxies = vec![IpNetwork::parse("127.0.0.9").unwrap()];
    };
    let Started { running, http, token, .. } = start_with(false, trusting).await;
    let paths = ["/operator/v1/accounts", "/operator/v1/docs", "/operator/v1/openapi.json", "/metrics"];
    for path in paths {
        for header in FORWARDING_HEADERS {
            assert_eq!(forwarded(http, &token, path, header).await, "403", "{path} {header}");
        }
        assert_eq!(forwarded(http, &token, path, "X-Other: y").await, "200", "{path}, a direct caller");
    }
    assert_eq!(forwarded(http, &token, "/healthz", FORWARDING_HEADERS[0]).await, "200");
    running.stop().await.unwrap();
}

#[tokio::test]
async fn operator_api_and_metrics_answer_remote_callers_if_configured() {
    let Started { running, http, token, .. } = start_with(false, |config| {
        config.http.trusted_proxies = vec![IpNetwork::parse("127.0.0.1").unwrap()];
        config.operator.from_anywhere = true;
    })
    .await;
    for path in ["/operator/v1/accounts", "/metrics"] {
        for header in FORWARDING_HEADERS {
            assert_eq!(forwarded(http, &token, path, header).await, "200", "{path} {header}");
        }
    }
    running.stop().await.unwrap();
}

#[tokio::test]
async fn ambiguous_framing_on_operator_routes_is_rejected() {
    let Started { running, http, operations, token, .. } = start(true).await;
    let operations = operations.unwrap();
    let hidden = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (address, path) in [
        (operations, "/operator/v1/apply"),
        (operations, "/operator/v1/docs"),
        (operations, "/readyz"),
        (http, "/docs"),
    ] {
        for framing in [
            "Host: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Host: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            "Host: localhost\r\nTransfer-Encoding: gzip, chunked\r\n",
            "Host: localhost\r\nHost: u\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\n",
        ] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!(
                "POST {path} HTTP/1.1\r\nAuthorization: Bearer {token}\r\n{framing}\r\n0\r\n\r\n{hidden}"
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert_eq!(status(&answer), "400", "{path} {framing}: {answer}");
            assert!(answer.contains("INVALID_FIELD"), "{answer}");
            assert_eq!(
                answer.matches("HTTP/1.1").count(),
                1,
                "{path} {framing}: a second response: {answer}"
            );
        }
    }
    running.stop().await.unwrap();
}
