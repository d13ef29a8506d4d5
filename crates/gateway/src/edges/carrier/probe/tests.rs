//! Tests of probes against simulated carriers that work and that fail.

use super::*;
use crate::clock::Clock;
use crate::live_status::{NoProbe, PduDirection};
use crate::secrets::Pepper;
use hermod_domain::carrier::{IdConversion, Profile};
use hermod_domain::catalogue::{Catalogue, Documents};
use hermod_domain::ids::CarrierId;
use hermod_domain::phone::Msisdn;
use hermod_domain::sender::Sender;
use hermod_domain::text::MessageText;
use hermod_simulator::carrier::{self as sim, CarrierOptions, Outcome, Script};
use hermod_store::{OpenOptions, Store};

/// A gateway with one carrier and no links to it.
struct Stage {
    gateway: Arc<Gateway>,
    _folder: tempfile::TempDir,
}

impl Stage {
    fn new(carrier: Carrier) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::real();
        let options = OpenOptions {
            folder: folder.path().to_owned(),
            server: None,
            low_water_bytes: 0,
            in_doubt_wait: Duration::from_secs(15),
            record: false,
            now: clock.now(),
        };
        let store = Store::open(&options).unwrap();
        let carriers = vec![(CarrierId::new(1), "acme".to_owned(), carrier)];
        let catalogue = Catalogue::build(Documents { carriers, ..Documents::default() }).unwrap();
        let validity = Duration::from_secs(3600);
        let gateway = Gateway::new(clock, store, Pepper::new(b"pepper"), catalogue, validity);
        Stage { gateway: Arc::new(gateway), _folder: folder }
    }

    async fn probe(&self, text: &str, wait_ms: u64) -> ProbeReport {
        let report = run(&self.gateway, "acme", &probe(text, wait_ms)).await;
        let shown = format!("{report:?}");
        assert!(!shown.contains("hello") && !shown.contains("secret"), "{shown}");
        assert!(report.lines.is_sorted_by_key(|line| line.at_ms), "{shown}");
        report
    }
}

fn probe(text: &str, wait_ms: u64) -> Probe {
    Probe {
        to: Msisdn::parse("+4915112345678").unwrap(),
        from: Sender::parse("Hermod").unwrap(),
        text: MessageText::parse(text).unwrap(),
        wait: Duration::from_millis(wait_ms),
    }
}

fn carrier_at(address: &str, profile: Profile) -> Carrier {
    Carrier {
        address: address.to_owned(),
        system_id: "hermod".to_owned(),
        password: "secret".to_owned(),
        system_type: String::new(),
        window: 10,
        parts_per_second: 10,
        response_timeout_ms: 3_000,
        enquire_link_ms: 30_000,
        disabled: true,
        draining: None,
        tls: None,
        profile,
    }
}

async fn carrier_that(script: Script) -> sim::SimulatedCarrier {
    sim::SimulatedCarrier::start(CarrierOptions::new(script)).await.unwrap()
}

async fn against(script: Script, profile: Profile, wait_ms: u64) -> ProbeReport {
    let carrier = carrier_that(script).await;
    let stage = Stage::new(carrier_at(&carrier.addr().to_string(), profile));
    stage.probe("hello", wait_ms).await
}

fn soon(outcome: Outcome) -> Script {
    Script::new().receipt_after(Duration::from_millis(50), outcome)
}

/// The commands in order, with `>` for those we sent and `!` for an error status.
fn commands(report: &ProbeReport) -> String {
    let shown = |line: &crate::live_status::ProbeLine| {
        let command = line.line.split(' ').next().unwrap_or_default();
        let bad =
            if line.line.contains("status=") && !line.line.contains("status=ESME_ROK") { "!" } else { "" };
        Some(format!("{}{command}{bad}", if line.way? == PduDirection::Out { ">" } else { "" }))
    };
    report.lines.iter().filter_map(shown).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn probe_of_a_working_carrier_shows_every_step_to_the_receipt() {
    let report = against(soon(Outcome::Delivered), Profile::default(), 300_000).await;
    assert_eq!(report.step, ProbeStep::Done, "{report:?}");
    assert!(report.outcome.contains("the receipt says Delivered"), "{}", report.outcome);
    assert_eq!(
        commands(&report),
        ">bind_transceiver bind_transceiver_resp >submit_sm submit_sm_resp deliver_sm >deliver_sm_resp >unbind \
         unbind_resp"
    );
    assert!(report.lines[0].line.starts_with("connected to 127.0.0.1:"), "{}", report.lines[0].line);
    assert!(report.step.is_accepted());

    let report = against(soon(Outcome::Undeliverable), Profile::default(), 300_000).await;
    assert_eq!(report.step, ProbeStep::Done);
    assert!(report.outcome.contains("Undeliverable"), "{}", report.outcome);
}

#[tokio::test]
async fn receipt_before_the_response_and_with_a_converted_id_is_matched() {
    let early = Script::new().receipt_before_response(Outcome::Delivered).hex_ids_decimal_in_receipts();
    let profile = Profile { ids: IdConversion::HexToDecimal, ..Profile::default() };
    let report = against(early, profile, 300_000).await;
    assert_eq!(report.step, ProbeStep::Done, "{report:?}");
    assert!(
        commands(&report).contains(">submit_sm deliver_sm submit_sm_resp >deliver_sm_resp"),
        "{report:?}"
    );
}

#[tokio::test]
async fn transmitter_receiver_pair_is_probed_as_a_pair() {
    let profile = Profile { binds: LinkBinds::TransmitterAndReceiver, ..Profile::default() };
    let report = against(soon(Outcome::Delivered), profile, 300_000).await;
    assert_eq!(report.step, ProbeStep::Done, "{report:?}");
    assert!(
        commands(&report).starts_with(
            ">bind_receiver bind_receiver_resp >bind_transmitter bind_transmitter_resp >submit_sm"
        ),
        "{report:?}"
    );
}

#[tokio::test]
async fn report_names_the_failed_step_and_its_cause() {
    let refused = |status| Script::new().reject_binds(1, status);
    let silent = Profile { bind_wait_ms: 300, ..Profile::default() };
    for (script, profile, step, actual) in [
        (
            refused(CommandStatus::ALYBND),
            Profile::default(),
            ProbeStep::Bind,
            "ESME_RALYBND (0x05): all binds",
        ),
        (refused(CommandStatus::INVPASWD), Profile::default(), ProbeStep::Bind, "the password is wrong"),
        (
            refused(CommandStatus(0x400)),
            Profile::default(),
            ProbeStep::Bind,
            "status 0x00000400: ask the carrier",
        ),
        (
            Script::new().hang_up(),
            Profile::default(),
            ProbeStep::Bind,
            "closed the connection without answering the bind",
        ),
        (Script::new().mute(), silent, ProbeStep::Bind, "the carrier did not answer the bind"),
        (
            Script::new().reject_first(1, CommandStatus::INVSRCADR),
            Profile::default(),
            ProbeStep::Submit,
            "ESME_RINVSRCADR (0x0a) (class rejected-route)",
        ),
        (Script::new().ignore_first(1), Profile::default(), ProbeStep::Submit, "submit_sm timed out after 3"),
        (
            Script::new().responses_without_id(1),
            Profile::default(),
            ProbeStep::Submit,
            "without a message id",
        ),
        (
            Script::new().cut_before_response(1),
            Profile::default(),
            ProbeStep::Submit,
            "the link ended before the submit_sm_resp",
        ),
        (
            Script::new().no_receipts(),
            Profile::default(),
            ProbeStep::Receipt,
            "no receipt came here within 0 s",
        ),
    ] {
        let report = against(script, profile, 100).await;
        assert_eq!(report.step, step, "{report:?}");
        assert!(report.outcome.contains(actual), "{report:?}");
    }
}

#[tokio::test]
async fn closed_port_and_tls_mismatch_are_reported_differently() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = closed.local_addr().unwrap().to_string();
    drop(closed);
    let report = Stage::new(carrier_at(&address, Profile::default())).probe("hello", 100).await;
    assert_eq!(report.step, ProbeStep::Connect);
    assert!(report.outcome.contains("cannot be reached"), "{report:?}");

    let plain = carrier_that(Script::new()).await;
    let mut with_tls = carrier_at(&plain.addr().to_string(), Profile::default());
    let fingerprint = Some("00".repeat(32));
    with_tls.tls = Some(hermod_domain::catalogue::CarrierTls { fingerprint, ..Default::default() });
    let report = Stage::new(with_tls).probe("hello", 100).await;
    assert_eq!(report.step, ProbeStep::Connect, "{report:?}");
    assert!(report.outcome.contains("does not use TLS on this port"), "{report:?}");

    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let tls =
        sim::ServerTls::from_pem(pair.cert.pem().as_bytes(), pair.signing_key.serialize_pem().as_bytes())
            .unwrap();
    let options = CarrierOptions { tls: Some(tls), ..CarrierOptions::new(Script::new()) };
    let sealed = sim::SimulatedCarrier::start(options).await.unwrap();
    let report =
        Stage::new(carrier_at(&sealed.addr().to_string(), Profile::default())).probe("hello", 100).await;
    assert_eq!(report.step, ProbeStep::Bind, "{report:?}");
    assert!(report.outcome.contains("uses TLS on this port"), "{report:?}");
}

#[tokio::test]
async fn receipts_of_other_messages_are_refused_temporarily() {
    let carrier = carrier_that(Script::new().receipt_after(Duration::from_secs(1), Outcome::Delivered)).await;
    let stage = Stage::new(carrier_at(&carrier.addr().to_string(), Profile::default()));
    // Leaves before its receipt comes.
    let first = stage.probe("hello", 0).await;
    assert_eq!(first.step, ProbeStep::Receipt, "{first:?}");
    let second = stage.probe("hello", 300_000).await;
    assert_eq!(second.step, ProbeStep::Done, "{second:?}");
    assert!(commands(&second).contains(">deliver_sm_resp!"), "{second:?}");
    assert!(second.lines.iter().any(|line| line.line.contains("ESME_RX_T_APPN")), "{second:?}");
    assert!(carrier.receipts_pending() > 0, "the first one's");
}

#[tokio::test]
async fn probe_that_cannot_be_sent_fails_before_connecting() {
    let stage = Stage::new(carrier_at("127.0.0.1:1", Profile::default()));
    let report = stage.probe(&"x".repeat(161), 0).await;
    assert_eq!((report.step, report.lines.len()), (ProbeStep::Settings, 0));
    assert_eq!(report.outcome, "the text must fit in one part, and has 2");
    let report = run(&stage.gateway, "other", &probe("hello", 0)).await;
    assert_eq!(report.outcome, "carrier \"other\" not found");
}

#[tokio::test]
async fn second_probe_is_rejected_while_one_runs() {
    let carrier = carrier_that(Script::new().no_receipts()).await;
    let stage = Stage::new(carrier_at(&carrier.addr().to_string(), Profile::default()));
    let workers = Workers::default();
    serve_probes(&stage.gateway, &workers);
    let probes = &stage.gateway.probes;
    let ask = || probes.run("acme", probe("hello", 300));
    let (first, second, third) = tokio::join!(ask(), ask(), ask());
    let ran = [first, second, third];
    assert_eq!(ran.iter().filter(|ran| ran.is_ok()).count(), 1);
    assert_eq!(ran.iter().filter(|ran| **ran == Err(NoProbe::Busy)).count(), 2);
    workers.stop().await;
    assert_eq!(ask().await, Err(NoProbe::Stopping));
}
