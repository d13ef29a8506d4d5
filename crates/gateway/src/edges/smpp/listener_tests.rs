//! Tests of accepted and closed connections, on real sockets.

use super::*;
use crate::config::{Config, IpNetwork};
use hermod_domain::time::Timestamp;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

/// A listener whose sessions report their peer and wait until they are stopped.
struct Stage {
    address: std::net::SocketAddr,
    came: mpsc::Receiver<Peer>,
    settings: Arc<SmppSettings>,
    workers: Workers,
    clock: Clock,
}

impl Stage {
    async fn new(change: impl FnOnce(&mut Config)) -> Stage {
        Stage::with_sessions(true, change).await
    }

    /// Sessions bind at once, or never.
    async fn with_sessions(binds: bool, change: impl FnOnce(&mut Config)) -> Stage {
        let mut config = Config::defaults();
        change(&mut config);
        let settings = Arc::new(SmppSettings::new(&config.smpp).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, came) = mpsc::channel(10);
        let (workers, clock) = (Workers::default(), Clock::manual(Timestamp::from_millis(1_794_700_800_000)));
        let listener = SmppListener { socket: listener, tls: None };
        let session = move |mut stream: Stream, peer, place: Arc<ConnectionSlot>, stops: Stops| {
            let tell = tell.clone();
            async move {
                if binds {
                    place.establish();
                }
                tell.send(peer).await.unwrap();
                stops.leave.cancelled().await;
                stream.write_all(b"stopped").await.unwrap();
            }
        };
        let serving = serve(listener, clock.clone(), settings.clone(), workers.clone(), session);
        workers.spawn_named("listener", serving);
        Stage { address, came, settings, workers, clock }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}

/// Whether the listener closes the connection without sending anything.
async fn is_cut_off(mut stream: TcpStream) -> bool {
    matches!(stream.read(&mut [0; 16]).await, Ok(0) | Err(_))
}

#[tokio::test]
async fn accepted_connection_runs_a_session_until_the_gateway_stops() {
    let mut stage = Stage::new(|_| {}).await;
    let mut stream = stage.connect().await;
    let peer = stage.came.recv().await.unwrap();
    assert_eq!((peer.address.to_string().as_str(), peer.tls), ("127.0.0.1", false));
    assert_eq!(stage.settings.open.load(Ordering::Relaxed), 1);
    stage.workers.stop().await;
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "stopped");
    assert_eq!(stage.settings.open.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn connection_over_the_address_limit_is_closed() {
    let mut stage = Stage::new(|config| config.smpp.max_sessions_per_address = 2).await;
    let _held = [stage.connect().await, stage.connect().await];
    stage.came.recv().await.unwrap();
    stage.came.recv().await.unwrap();
    assert!(is_cut_off(stage.connect().await).await);
    assert!(stage.came.try_recv().is_err());
}

#[tokio::test]
async fn unbound_connection_over_the_half_open_limit_is_closed() {
    let limit = |config: &mut Config| config.smpp.max_half_open_per_address = 1;
    let mut bound = Stage::new(limit).await;
    let _bound = [bound.connect().await, bound.connect().await];
    for _ in 0..2 {
        bound.came.recv().await.unwrap();
    }
    let mut silent = Stage::with_sessions(false, limit).await;
    let _held = silent.connect().await;
    silent.came.recv().await.unwrap();
    assert!(is_cut_off(silent.connect().await).await);
    assert!(silent.came.try_recv().is_err());
}

#[tokio::test]
async fn trusted_proxy_must_send_a_proxy_header() {
    let trusting = |config: &mut Config| {
        config.smpp.trusted_proxies = vec![IpNetwork::parse("127.0.0.0/8").unwrap()];
    };
    let mut stage = Stage::new(trusting).await;
    let header = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\x0a\0\0\x01\x30\x39\x0a\xd7";
    let mut stream = stage.connect().await;
    stream.write_all(header).await.unwrap();
    assert_eq!(stage.came.recv().await.unwrap().address.to_string(), "192.0.2.7");
    let mut silent = stage.connect().await;
    silent.write_all(&[0, 0, 0, 16, 0, 0, 0, 0x15, 0, 0, 0, 0, 0, 0, 0, 1]).await.unwrap();
    assert!(is_cut_off(silent).await);
    // A silent connection is closed after the timeout.
    let slow = stage.connect().await;
    let closed = is_cut_off(slow);
    let moved = async {
        for _ in 0..100_000 {
            tokio::task::yield_now().await;
            stage.clock.advance(Duration::from_millis(100));
        }
        false
    };
    assert!(tokio::select! { closed = closed => closed, never = moved => never });
}

#[tokio::test]
async fn proxy_header_of_an_untrusted_peer_is_not_read() {
    let mut stage = Stage::new(|_| {}).await;
    let mut stream = stage.connect().await;
    stream
        .write_all(b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x07\x0a\0\0\x01\x30\x39\x0a\xd7")
        .await
        .unwrap();
    assert_eq!(stage.came.recv().await.unwrap().address.to_string(), "127.0.0.1");
}

#[test]
fn many_sessions_unbind_one_after_the_other() {
    for (number, open, expect_ms) in [
        (7, 1, 0),
        (7, 20, 0),
        (0, 100, 0),
        (50, 100, 250),
        (99, 100, 495),
        (150, 100, 250),
        (5_000, 10_000, 2_500),
        (9_999, 10_000, 4_999),
    ] {
        let actual = unbind_delay(number, open).as_millis();
        assert_eq!(actual, expect_ms, "{number} of {open}");
    }
}
