//! Unit tests of `server.rs`.

use super::*;
use std::io::Write as _;
use tokio::io::AsyncReadExt as _;

/// The test's runtime has one thread, which the test does not give back: only the kernel knows of the connections.
#[tokio::test]
async fn connections_that_only_the_kernel_has_accepted_are_served_before_the_listener_closes() {
    let listener = HttpListener {
        socket: tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port"),
        security: Security::PlainNearby,
        proxies: Arc::new(TrustedProxies::new([])),
        proxy_protocol_from: Arc::new(TrustedProxies::new([])),
    };
    let address = listener.socket.local_addr().expect("an address");
    let room = Arc::new(Semaphore::new(3));
    // The runtime learns that no connection waits.
    assert!(futures_util::FutureExt::now_or_never(listener.socket.accept()).is_none());
    let mut clients: Vec<std::net::TcpStream> =
        (0..4).map(|_| std::net::TcpStream::connect(address).expect("a connection")).collect();
    let waiting = waiting_connections(&listener, &room).expect("the kernel answers");
    drop(listener);
    assert_eq!(waiting.len(), 3, "as many as there is room for");
    for ((mut stream, peer, _), client) in waiting.into_iter().zip(&mut clients) {
        assert!(peer.is_loopback());
        client.write_all(b"x").expect("it is open");
        assert_eq!(stream.read_u8().await.expect("it is read"), b'x');
    }
}
