//! The client address in a PROXY header of version 2. Of the loopback addresses, 127.0.0.2 is a load balancer that sends the
//! header, and 127.0.0.3 is not.

use crate::client::{Client, bearer};
use crate::fixture::{LIMITS, Opening, Service};
use crate::test_customers::{ACME, LISTED};
use crate::tls::Secured;
use hermod_gateway::http::{HttpLimits, TrustedProxies};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::rustls::version::TLS13;

const BALANCER: &str = "127.0.0.2";
const STRANGER: &str = "127.0.0.3";
/// On the allow-lists of the key `LISTED` and of its connection.
const ALLOWED: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 5);
const OTHER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// The command LOCAL without addresses, as health checks send it.
const LOCAL: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";

fn opening(limits: HttpLimits) -> Opening {
    let proxy_protocol_from = TrustedProxies::new(["127.0.0.2/32".parse().unwrap()]);
    Opening { limits, proxy_protocol_from, ..Opening::default() }
}

/// A header for TCP over IPv4 from `client`.
fn header_of(client: Ipv4Addr) -> Vec<u8> {
    [
        b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c".as_slice(),
        &client.octets(),
        &[10, 0, 0, 1, 0x30, 0x39, 0x1f, 0x90],
    ]
    .concat()
}

async fn connect(source: &str, address: SocketAddr, header: &[u8]) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(source.parse().unwrap(), 0)).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(header).await.unwrap();
    stream
}

async fn client(service: &Service, header: &[u8]) -> Client {
    Client::on(connect(BALANCER, service.address, header).await)
}

#[tokio::test]
async fn address_in_the_header_is_checked_against_the_allow_lists() {
    let service = Service::open(opening(LIMITS)).await;
    let mut allowed = client(&service, &header_of(ALLOWED)).await;
    // The header is for the whole connection, not for its first request.
    for _ in 0..2 {
        assert_eq!(allowed.get(LISTED, "/api/v1/balance").await.status, 200);
    }
    let reply = client(&service, &header_of(OTHER)).await.get(LISTED, "/api/v1/balance").await;
    assert_eq!((reply.status, reply.code()), (403, "IP_NOT_ALLOWED"));
    assert!(reply.body.contains("source IP 192.0.2.1 is not allowed"), "{}", reply.body);
}

#[tokio::test]
async fn x_forwarded_for_behind_the_header_is_ignored() {
    let service = Service::open(opening(LIMITS)).await;
    let listed = bearer(LISTED);
    let headers = [("Authorization", listed.as_str()), ("X-Forwarded-For", "203.0.113.5")];
    let reply = client(&service, &header_of(OTHER)).await.call("GET", "/api/v1/balance", &headers, b"").await;
    assert_eq!((reply.status, reply.code()), (403, "IP_NOT_ALLOWED"));
}

#[tokio::test]
async fn failed_sign_ins_are_limited_per_address_in_the_header() {
    let service = Service::open(opening(LIMITS)).await;
    let wrong = [("Authorization", "Bearer slow-key:wrong")];
    let mut attacker = client(&service, &header_of(OTHER)).await;
    for _ in 0..10 {
        assert_eq!(attacker.call("GET", "/api/v1/balance", &wrong, b"").await.status, 401);
    }
    assert_eq!(attacker.call("GET", "/api/v1/balance", &wrong, b"").await.status, 429);
    let mut neighbour = client(&service, &header_of(ALLOWED)).await;
    assert_eq!(neighbour.call("GET", "/api/v1/balance", &wrong, b"").await.status, 401);
}

#[tokio::test]
async fn connections_are_limited_per_address_in_the_header() {
    let service = Service::open(opening(HttpLimits { per_address_max: 1, ..LIMITS })).await;
    let mut first = client(&service, &header_of(OTHER)).await;
    assert_eq!(first.get(ACME, "/api/v1/balance").await.status, 200);
    assert!(client(&service, &header_of(OTHER)).await.is_closed().await);
    assert_eq!(client(&service, &header_of(ALLOWED)).await.get(ACME, "/api/v1/balance").await.status, 200);
}

#[tokio::test]
async fn load_balancer_without_a_header_is_not_served() {
    let service = Service::open(opening(LIMITS)).await;
    let mut bare = client(&service, b"").await;
    bare.write(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n").await;
    assert!(bare.is_closed().await);
    // Without any octet the time limit closes the connection.
    let mut silent = client(&service, b"").await;
    let mut seconds = 0;
    while !silent.closes_within(Duration::from_millis(20)).await {
        seconds += 1;
        service.gateway.clock.advance(Duration::from_secs(1));
    }
    assert!((10..13).contains(&seconds), "closed after {seconds} s");
}

#[tokio::test]
async fn header_of_another_address_is_not_read() {
    let service = Service::open(opening(LIMITS)).await;
    let mut stranger = Client::on(connect(STRANGER, service.address, &header_of(ALLOWED)).await);
    stranger.write(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n").await;
    assert!(stranger.read().await.is_none_or(|reply| reply.status == 400));
    let mut direct = Client::on(connect(STRANGER, service.address, b"").await);
    assert_eq!(direct.get(ACME, "/api/v1/balance").await.status, 200, "it needs no header");
}

#[tokio::test]
async fn health_checks_are_served_and_proxied_requests_are_never_local() {
    let service = Service::open(opening(LIMITS)).await;
    let mut check = client(&service, LOCAL).await;
    assert_eq!(check.call("GET", "/readyz", &[], b"").await.status, 200);
    // The metrics are for direct requests from this machine.
    for header in [LOCAL.to_vec(), header_of(Ipv4Addr::LOCALHOST)] {
        assert_eq!(client(&service, &header).await.call("GET", "/metrics", &[], b"").await.status, 403);
    }
    assert_eq!(service.client().await.call("GET", "/metrics", &[], b"").await.status, 200);
}

#[tokio::test]
async fn header_comes_before_the_tls_handshake() {
    let secured = Secured::open(&["http/1.1"], opening(LIMITS)).await;
    for (address, status) in [(ALLOWED, 200), (OTHER, 403)] {
        let stream = connect(BALANCER, secured.service.address, &header_of(address)).await;
        let mut client = Client::on(secured.handshake_on(stream, &[&TLS13]).await.unwrap());
        assert_eq!(client.get(LISTED, "/api/v1/balance").await.status, status, "{address}");
    }
    let bare = connect(BALANCER, secured.service.address, b"").await;
    assert!(secured.handshake_on(bare, &[&TLS13]).await.is_err());
}
