//! The SMPP load generator against the echo and the simulated carrier, and its
//! report.

use crate::esme::PATIENCE;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use hermod_simulator::carrier::{Outcome, Script, ServerTls, SimulatedCarrier};
use hermod_simulator::load::smpp::idle::{self, IdleOptions, IdleReport};
use hermod_simulator::load::smpp::{
    self, BindNumbers, Bound, LoadStartError, MessageForm, SendPace, SmppLoadOptions, SmppLoadReport,
    SmppMessages, SmppTarget, SmppVersion, TlsTrust,
};
use hermod_simulator::smpp_echo::SmppEcho;
use hermod_smpp::{BindType, CommandStatus};
use rcgen::{CertificateParams, KeyPair};

use crate::helpers::{carrier, ms};

const ANY_PORT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

fn options(address: SocketAddr, messages: u64) -> SmppLoadOptions {
    let form = SmppMessages::new(MessageForm::default()).expect("good messages");
    let mut options = SmppLoadOptions::new(
        SmppTarget::new(address.to_string(), "load", "secret"),
        form,
        Bound::requests(messages),
    );
    options.receipt_wait_max = PATIENCE;
    options
}

fn with_form(mut options: SmppLoadOptions, form: MessageForm) -> SmppLoadOptions {
    options.messages = SmppMessages::new(form).expect("good messages");
    options
}

#[track_caller]
fn check_good(report: &SmppLoadReport, messages: u64) {
    assert_eq!(report.errors(), 0, "{report}");
    assert_eq!((report.submitted, report.accepted), (messages, messages), "{report}");
    assert_eq!((report.receipts.received, report.receipt.max_us > 0), (messages, true), "{report}");
    assert_eq!(report.receipts.states.get("DELIVRD"), Some(&messages), "{report}");
}

async fn echoed(change: impl FnOnce(SmppLoadOptions) -> SmppLoadOptions) -> SmppLoadReport {
    let echo = SmppEcho::start(ANY_PORT, None).expect("a free port");
    let report = smpp::run(change(options(echo.address(), 3_000))).await.expect("the echo takes everybody");
    echo.stop().await;
    report
}

#[tokio::test]
async fn every_message_is_accepted_and_receipted_by_the_echo() {
    let report = echoed(|options| options).await;
    check_good(&report, 3_000);
    assert_eq!((report.run.binds, report.run.window, report.run.target_per_second), (1, 100, None));
    assert!(report.per_second > 0.0 && report.receipts.per_second > 0.0, "{report}");
    assert!(
        report.response.p50_us <= report.response.p99_us && report.response.p99_us <= report.response.max_us
    );
}

#[tokio::test]
async fn every_bind_window_version_and_text_option_is_accepted_by_the_echo() {
    check_good(&echoed(|options| SmppLoadOptions { window: 1, ..options }).await, 3_000);
    let four = |options| SmppLoadOptions {
        binds: BindNumbers { transceivers: 4, ..BindNumbers::default() },
        ..options
    };
    assert_eq!(echoed(four).await.run.binds, 4);
    let old = echoed(|mut options| {
        options.target.version = SmppVersion::V33;
        options
    });
    check_good(&old.await, 3_000);
    let long = MessageForm { text_chars: 700, payload: true, data_coding: 8, ..MessageForm::default() };
    check_good(&echoed(|options| with_form(options, long)).await, 3_000);
}

#[tokio::test]
async fn open_loop_keeps_its_rate() {
    let report = echoed(|options| SmppLoadOptions {
        pace: SendPace::OpenLoop { per_second: 2_000.0 },
        bound: Bound::requests(400),
        ..options
    });
    let report = report.await;
    check_good(&report, 400);
    assert!(report.duration_s >= 0.19, "{report}");
    assert_eq!((report.run.target_per_second, report.unsent), (Some(2_000.0), 0));
}

#[tokio::test]
async fn run_with_a_duration_ends_on_time_and_a_stopped_one_early() {
    let timed = |options| SmppLoadOptions { bound: Bound::duration(ms(200)), ..options };
    let report = echoed(timed).await;
    check_good(&report, report.submitted);
    assert!(report.submitted > 0);

    let echo = SmppEcho::start(ANY_PORT, None).expect("a free port");
    let endless =
        SmppLoadOptions { bound: Bound::duration(Duration::from_secs(600)), ..options(echo.address(), 1) };
    let run = smpp::start(endless).await.expect("the echo takes everybody");
    let (live, stopper) = (run.live(), run.stopper());
    while live.answered() < 10 {
        tokio::task::yield_now().await;
    }
    stopper.stop();
    let report = run.finish().await;
    check_good(&report, report.submitted);
}

#[tokio::test]
async fn transmitter_receiver_pair_gets_its_receipts() {
    let carrier = carrier(Script::new()).await;
    let pair = BindNumbers { transmitters: 1, receivers: 1, ..BindNumbers::default() };
    let report = smpp::run(SmppLoadOptions { binds: pair, ..options(carrier.addr(), 1_000) }).await.unwrap();
    check_good(&report, 1_000);
    let counts = carrier.record().counts();
    assert_eq!((counts.submits, counts.receipts_accepted, counts.unbinds), (1_000, 1_000, 2));
    let alone = BindNumbers { transmitters: 1, ..BindNumbers::default() };
    let report = smpp::run(SmppLoadOptions { binds: alone, ..options(carrier.addr(), 10) }).await.unwrap();
    assert_eq!((report.accepted, report.receipts.missing, report.errors()), (10, 0, 0), "{report}");
}

async fn against(carrier: &SimulatedCarrier, messages: u64, wait: Duration) -> SmppLoadReport {
    let options = SmppLoadOptions { receipt_wait_max: wait, ..options(carrier.addr(), messages) };
    smpp::run(options).await.expect("the carrier takes everybody")
}

#[tokio::test]
async fn carrier_errors_are_in_the_report() {
    let never = carrier(Script::new().no_receipts()).await;
    let report = against(&never, 20, ms(100)).await;
    assert_eq!((report.receipts.received, report.receipts.missing, report.errors()), (0, 20, 20), "{report}");

    let throttling = carrier(Script::new().throttle_every(10)).await;
    let report = against(&throttling, 100, PATIENCE).await;
    assert_eq!((report.accepted, report.rejected, report.receipts.received), (90, 10, 90), "{report}");
    assert_eq!(report.statuses.get(&CommandStatus::THROTTLED.to_string()), Some(&10), "{report}");

    let failing = carrier(Script::new().receipt_after(ms(0), Outcome::Undeliverable)).await;
    let report = against(&failing, 10, PATIENCE).await;
    assert_eq!((report.receipts.states.get("UNDELIV"), report.errors()), (Some(&10), 0), "{report}");
}

#[tokio::test]
async fn duplicate_and_unknown_receipts_are_counted_separately() {
    let twice = carrier(Script::new().receipt_twice()).await;
    let report = against(&twice, 50, PATIENCE).await;
    assert_eq!((report.receipts.received, report.receipts.unknown), (50, 0), "{report}");
    // The last copies may arrive after the run.
    assert!((1..=50).contains(&report.receipts.duplicated), "{report}");

    let strange = carrier(Script::new().receipt_unknown_id()).await;
    let report = against(&strange, 5, ms(2_000)).await;
    assert_eq!((report.receipts.unknown, report.receipts.missing), (5, 5), "{report}");

    let early = carrier(Script::new().delay(ms(20)).receipt_before_response(Outcome::Delivered)).await;
    check_good(&against(&early, 50, PATIENCE).await, 50);
}

#[tokio::test]
async fn messages_in_flight_on_silent_or_lost_links_are_counted_as_failed() {
    let silent = carrier(Script::new().ignore_first(3)).await;
    let mut patient = options(silent.addr(), 10);
    patient.response_wait_max = ms(2_000);
    let report = smpp::run(patient).await.unwrap();
    assert_eq!((report.accepted, report.timed_out, report.errors()), (7, 3, 3), "{report}");

    let cutting = carrier(Script::new().no_receipts().cut_before_response(5)).await;
    let report = against(&cutting, 1_000, ms(100)).await;
    assert_eq!(report.submitted, report.accepted + report.lost, "{report}");
    assert_eq!(report.binds_ended.get("the connection was lost"), Some(&1), "{report}");
}

#[tokio::test]
async fn run_with_a_rejected_bind_fails_with_its_status() {
    let closed = carrier(Script::new().reject_binds(1, CommandStatus::INVPASWD)).await;
    let refused = smpp::run(options(closed.addr(), 1)).await.expect_err("the bind is refused");
    assert_eq!(refused.to_string(), "bind rejected with ESME_RINVPASWD (0x0e)");
    let nobody = SmppLoadOptions { binds: BindNumbers::default(), ..options(closed.addr(), 1) };
    assert!(matches!(smpp::run(nobody).await, Err(LoadStartError::BadBinds)));
    let narrow = SmppLoadOptions { window: 0, ..options(closed.addr(), 1) };
    assert!(matches!(smpp::run(narrow).await, Err(LoadStartError::BadWindow)));
}

#[tokio::test]
async fn load_over_tls_is_accepted_by_the_echo() {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    let pem = params.self_signed(&key).expect("a certificate").pem();
    let tls = ServerTls::from_pem(pem.as_bytes(), key.serialize_pem().as_bytes()).expect("a pair");
    let echo = SmppEcho::start(ANY_PORT, Some(&tls)).expect("a free port");
    let mut secured = options(echo.address(), 2_000);
    secured.target.tls = Some(TlsTrust::from_pem(pem.as_bytes(), "localhost").expect("a certificate"));
    check_good(&smpp::run(secured.clone()).await.unwrap(), 2_000);

    secured.target.tls = Some(TlsTrust::from_pem(pem.as_bytes(), "elsewhere").expect("a certificate"));
    let refused = smpp::run(secured).await.expect_err("the certificate is for another name");
    assert!(refused.to_string().starts_with("the TLS handshake failed: "), "{refused}");
}

async fn idle(address: SocketAddr, binds: u32, hold: Duration) -> IdleReport {
    let idle = idle::start(IdleOptions {
        target: SmppTarget::new(address.to_string(), "idle", "secret"),
        kind: BindType::Transceiver,
        binds,
        per_second: 1_000.0,
        at_once: 16,
        bind_wait_max: PATIENCE,
        enquire_after: ms(50),
    });
    idle.hold(hold).await
}

#[tokio::test]
async fn idle_binds_stay_until_the_end_of_the_run() {
    let echo = SmppEcho::start(ANY_PORT, None).expect("a free port");
    let report = idle(echo.address(), 100, ms(200)).await;
    assert_eq!((report.bound, report.alive, report.unbound, report.errors()), (100, 100, 100, 0), "{report}");
    assert!(report.binding_s >= 0.09 && report.held_s >= 0.2 && report.bind.max_us > 0, "{report}");
    let told = "100 of 100 bound in";
    assert!(report.to_string().starts_with(told), "{report}");
}

#[tokio::test]
async fn rejected_and_cut_idle_binds_are_counted() {
    let carrier = carrier(Script::new().reject_binds(2, CommandStatus::BINDFAIL)).await;
    let report = idle(carrier.addr(), 5, ms(50)).await;
    assert_eq!((report.bound, report.errors()), (3, 2), "{report}");
    assert_eq!(report.failures.get("bind rejected with ESME_RBINDFAIL (0x0d)"), Some(&2), "{report}");

    let bound = carrier.record().counts().binds + 3;
    let holding = tokio::join!(idle(carrier.addr(), 3, ms(1_000)), async {
        let record = carrier.record();
        record.wait_until(|record| record.counts().binds == bound, PATIENCE).await.expect("three binds");
        carrier.cut_links();
    });
    let report = holding.0;
    assert_eq!((report.bound, report.alive, report.errors()), (3, 0, 6), "{report}");
    assert_eq!(report.ended.get("the connection was lost"), Some(&3), "{report}");
}
