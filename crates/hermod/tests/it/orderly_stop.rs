//! A gateway that is stopped in order: it serves its customers until they have gone, and repeats no receipt.

use crate::gateways::{self, Served};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::http::call;
use crate::scenario::{Esme, message};
use hermod_simulator::carrier::{CarrierOptions, Outcome, Script, SimulatedCarrier};
use hermod_smpp::{BindType, CommandStatus};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

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
