//! The operator API as a running gateway serves it: where it is, who may reach it, and how guessing is slowed down.

use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_gateway::config::Config;
use hermod_gateway::operator_token::{read, token_file};
use hermod_gateway::running::{GatewayOptions, OPERATOR_URL_FILE, Running, open};
use std::net::SocketAddr;
use std::path::Path;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

struct Started {
    running: Running,
    http: SocketAddr,
    operations: Option<SocketAddr>,
    token: String,
    folder: TempDir,
}

async fn start(apart: bool) -> Started {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::defaults();
    config.data.folder = folder.path().to_owned();
    // A clock that stands: what was counted for an address does not come back while a test runs.
    let clock = Clock::manual(Timestamp::parse("2026-06-15T12:00:00Z").unwrap());
    let listener = || TcpListener::bind("127.0.0.1:0");
    let http = listener().await.unwrap();
    let operations = if apart { Some(listener().await.unwrap()) } else { None };
    let addresses =
        (http.local_addr().unwrap(), operations.as_ref().map(|bound| bound.local_addr().unwrap()));
    let opened = open(&config, &clock).unwrap();
    let token = read(&token_file(&config)).unwrap();
    let options = GatewayOptions { config, http, https: None, smpp: None, smpps: None, operations, clock };
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
        "GET {path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\r\n"
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
async fn it_stands_beside_the_customers_api_and_says_where() {
    let Started { running, http, token, folder, .. } = start(false).await;
    assert_eq!(url(folder.path()), Some(format!("http://{http}/operator/v1\n")));
    assert_eq!(status(&ask(http, &token, "/operator/v1/accounts").await), "200");
    assert_eq!(status(&ask(http, "wrong", "/operator/v1/accounts").await), "401");
    assert_eq!(status(&ask(http, &token, "/operator/v1/nowhere").await), "404");
    assert_eq!(status(&ask(http, &token, "/api/v1/balance").await), "401", "the token is no API key");
    assert_eq!(status(&ask(http, &token, "/healthz").await), "200");
    running.stop().await.unwrap();
    assert_eq!(url(folder.path()), None);
}

#[tokio::test]
async fn with_an_address_for_operations_it_is_only_there() {
    let Started { running, http, operations, token, folder } = start(true).await;
    let operations = operations.unwrap();
    assert_eq!(url(folder.path()), Some(format!("http://{operations}/operator/v1\n")));
    assert_eq!(status(&ask(operations, &token, "/operator/v1/accounts").await), "200");
    assert_eq!(status(&ask(operations, &token, "/readyz").await), "200");
    assert_eq!(status(&ask(http, &token, "/operator/v1/accounts").await), "404");
    running.stop().await.unwrap();
}

#[tokio::test]
async fn guessing_is_slowed_down_and_a_proven_address_never_waits() {
    let Started { running, http, token, .. } = start(false).await;
    assert_eq!(status(&ask(http, &token, "/operator/v1/accounts").await), "200");
    let mut refused = Vec::new();
    for n in 0..12 {
        refused.push(ask(http, &format!("guess-number-{n}"), "/operator/v1/accounts").await);
    }
    assert_eq!(status(&refused[9]), "401");
    assert_eq!(status(&refused[11]), "429");
    assert!(refused[11].contains("retry-after: "), "{}", refused[11]);
    assert!(refused[11].contains("RATE_LIMITED: too many wrong tokens"), "{}", refused[11]);
    assert_eq!(status(&ask(http, &token, "/operator/v1/accounts").await), "200");
    // From an address that was never there before, the right token within a storm is one more guess.
    for n in 0..12 {
        ask_from("127.0.0.3", http, &format!("guess-number-{n}"), "/operator/v1/accounts").await;
    }
    assert_eq!(status(&ask_from("127.0.0.3", http, &token, "/operator/v1/accounts").await), "429");
    running.stop().await.unwrap();
}
