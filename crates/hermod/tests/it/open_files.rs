//! A flood of silent connections from one address: other clients are served, on a gateway with
//! few open files.

use crate::gateways::{Served, provision_text};
use crate::real_time::PATIENCE;
use crate::scenario::Esme;
use hermod_gateway::clock::within;
use hermod_simulator::carrier::{CarrierOptions, Script, SimulatedCarrier};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Silent connections, half of them to each listener: more than the gateway may open, fewer than this process may.
const SILENT: usize = 600;
/// Silent connections stay for longer than the test waits.
const SETTINGS: &str = "head_timeout = \"1h\"\n[smpp]\nbind_timeout = \"1h\"\n";

/// Returns a command prefix that sets the soft and hard limit of open files.
fn limits(soft: u32, hard: u32) -> String {
    format!("ulimit -Sn {soft} && ulimit -Hn {hard} && exec \"$0\" \"$@\"")
}

async fn connect_from(source: &str, address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::new(source.parse().expect("an address"), 0)).expect("the loopback has many");
    socket.connect(address).await.expect("the gateway listens")
}

async fn health(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.expect("the gateway listens");
    let asked = b"GET /healthz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";
    stream.write_all(asked).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    answer
}

/// Floods both listeners from one address and checks that other addresses are served.
async fn serve_others_while_flooded(soft: u32, hard: u32) -> (Served, tempfile::TempDir, SimulatedCarrier) {
    let carrier = SimulatedCarrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = limits(soft, hard);
    let connection = "[[connection]]\nname = \"alice-http\"\n";
    let binding = format!("{connection}system_id = \"alice\"\npassword = \"secret12\"\n");
    let provision = provision_text(carrier.addr(), "100").replace(connection, &binding);
    let gateway = Served::start_with_under(&["sh", "-c", &script], folder.path(), SETTINGS, &provision);
    let mut silent = Vec::new();
    for number in 0..SILENT {
        let address = if number % 2 == 0 { gateway.address() } else { gateway.smpp_address() };
        silent.push(connect_from("127.0.0.2", address).await);
    }
    for _ in 0..3 {
        let answer = within(PATIENCE, health(gateway.address())).await;
        assert!(answer.expect("a health check is answered promptly").starts_with("HTTP/1.1 200"));
        // While silent connections are being closed, a bind may be told to try again.
        Esme::wait_until_bound(gateway.smpp_address(), "alice").await;
    }
    drop(silent);
    (gateway, folder, carrier)
}

#[tokio::test]
async fn silent_connections_from_one_address_do_not_block_others_at_a_low_hard_limit() {
    let (gateway, _folder, carrier) = serve_others_while_flooded(256, 256).await;
    gateway.stop().await;
    carrier.stop().await;
}

#[tokio::test]
async fn soft_limit_of_open_files_is_raised_to_the_hard_limit() {
    let (gateway, _folder, carrier) = serve_others_while_flooded(200, 4_000).await;
    assert_eq!(gateway.open_files_limit(), 4_000);
    gateway.stop().await;
    carrier.stop().await;
}
