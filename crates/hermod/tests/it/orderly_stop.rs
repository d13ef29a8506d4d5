//! A gateway that is stopped in order: it serves its customers until they have gone, and repeats no receipt.

use crate::gateways::{self, Served};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::http::call;
use crate::scenario::{Esme, message};
use hermod_simulator::carrier::{CarrierOptions, Outcome, Script, SimulatedCarrier};
use hermod_smpp::{BindType, CommandStatus};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Customers with a connection that they keep, each with a request after the other.
const KEPT_CONNECTIONS: u64 = 240;

/// The customer's software decides how long it takes, not a time.
const SETTINGS: &str = "[smpp]\nresponse_timeout = \"5m\"\n[shutdown]\nannounce = \"1s\"\nlinger = \"5m\"\n[log]\nlevel = \"warn\"\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_gateway_serves_its_binds_until_they_have_answered_and_repeats_no_receipt() {
    let script = Script::new().receipt_after(Duration::ZERO, Outcome::Delivered);
    let carrier = SimulatedCarrier::start(CarrierOptions::new(script)).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let access = "[[connection]]\nname = \"alice-smpp\"\naccount = \"alice\"\nsystem_id = \"alice\"\n\
                  password = \"secret12\"\n";
    let provision = format!("{}{access}", gateways::provision_text(carrier.addr(), gateways::OPENING));
    let gateway = Served::start_with(folder.path(), SETTINGS, &provision);
    let (http, smpp) = (gateway.address(), gateway.smpp_address());
    let mut esme = Esme::bind(smpp, BindType::Transceiver, "alice").await;
    let first = esme.submit(message("before the stop")).await;
    let receipt = esme.take_receipt_unanswered().await;
    assert_eq!(receipt.get("id"), first);

    let mut stopping = JoinSet::new();
    stopping.spawn(gateway.stop());
    let began = now();
    // Not ready, and then without a listener.
    while call(http, "GET", "/readyz", &[], "").await.is_ok_and(|answer| answer.status == 200) {
        assert!(began.elapsed() < PATIENCE, "the gateway is still ready");
        pause(Duration::from_millis(10)).await;
    }
    let second = esme.submit(message("while it is announced, or later")).await;
    while TcpStream::connect(smpp).await.is_ok() {
        assert!(began.elapsed() < PATIENCE, "the gateway still listens");
        pause(Duration::from_millis(50)).await;
    }
    let third = esme.submit(message("while nothing new is accepted")).await;
    esme.answer_receipt(&receipt, CommandStatus::OK).await;
    esme.wait_for_unbind().await;
    stopping.join_all().await;

    let gateway = Served::start_with(folder.path(), SETTINGS, &provision);
    let mut esme = Esme::bind(gateway.smpp_address(), BindType::Transceiver, "alice").await;
    let mut receipts =
        [esme.take_receipt().await, esme.take_receipt().await].map(|receipt| receipt.get("id").to_owned());
    receipts.sort_unstable();
    assert_eq!(receipts, [second, third]);
    esme.assert_nothing_received().await;
    esme.unbind().await;
    gateway.stop().await;
    carrier.stop().await;
}

/// What became of requests that were written.
#[derive(Default)]
struct Requests {
    answered: AtomicU64,
    unanswered: AtomicU64,
}

/// Sends one request after the other, on a connection until a response closes it, and on new ones until none is accepted.
async fn request_until_gone(address: SocketAddr, requests: Arc<Requests>) {
    let (key, secret, body) = (gateways::KEY, gateways::SECRET, r#"{"to":"+4915112345678","text":"hello"}"#);
    let request = format!(
        "POST /api/v1/sms HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {key}:{secret}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    while let Ok(mut connection) = TcpStream::connect(address).await {
        // A request that cannot be written was not sent.
        while connection.write_all(request.as_bytes()).await.is_ok() {
            let closes = read_response(&mut connection).await;
            let count = if closes.is_some() { &requests.answered } else { &requests.unanswered };
            count.fetch_add(1, Ordering::Relaxed);
            if closes != Some(false) {
                break;
            }
        }
    }
}

/// Reads a response. Returns whether it closes the connection; none if there is no whole response.
async fn read_response(connection: &mut TcpStream) -> Option<bool> {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).to_ascii_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.expect("a response has a length").parse::<usize>().expect("a number") {
                return Some(head.contains("\r\nconnection: close"));
            }
        }
        if connection.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_on_a_kept_connection_is_answered_while_the_gateway_stops() {
    let carrier = SimulatedCarrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let provision = gateways::provision_text(carrier.addr(), gateways::OPENING);
    let gateway = Served::start_with(folder.path(), SETTINGS, &provision);
    let requests = Arc::new(Requests::default());
    let mut customers = JoinSet::new();
    for _ in 0..KEPT_CONNECTIONS {
        customers.spawn(request_until_gone(gateway.address(), requests.clone()));
    }
    let began = now();
    while requests.answered.load(Ordering::Relaxed) < 2 * KEPT_CONNECTIONS {
        assert!(began.elapsed() < PATIENCE, "the gateway answers");
        pause(Duration::from_millis(10)).await;
    }
    gateway.stop().await;
    customers.join_all().await;
    assert_eq!(requests.unanswered.load(Ordering::Relaxed), 0);
    carrier.stop().await;
}
