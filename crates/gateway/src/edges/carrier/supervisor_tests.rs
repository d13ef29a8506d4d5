//! Tests of the links to a simulated carrier: number, bind type, timing, and their status.

use super::supervisor::supervise;
use crate::clock::Clock;
use crate::gateway::Gateway;
use crate::live_status::{CarrierSnapshot, LinkSnapshot, PduDirection};
use crate::secrets::Pepper;
use crate::workers::Workers;
use hermod_domain::carrier::{Health, LinkBinds, Profile, SmppVersion};
use hermod_domain::catalogue::{Carrier, Catalogue, Documents};
use hermod_domain::hold::Hold;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use hermod_simulator::carrier::{self as sim, CarrierOptions, Script};
use hermod_smpp::{BindType, CommandStatus};
use hermod_store::{OpenOptions, Store};
use std::sync::Arc;
use std::time::Duration;

const ACME: CarrierId = CarrierId::new(1);
/// Real time for what the clock of the gateway does not move.
const PAUSE: Duration = Duration::from_millis(10);
/// Five minutes of them: they only bound a hang.
const PAUSES_MAX: u32 = 30_000;

/// A gateway's links to one simulated carrier. Its clock is the test's.
struct Stage {
    carrier: sim::SimulatedCarrier,
    gateway: Arc<Gateway>,
    workers: Workers,
    real: Clock,
    _folder: tempfile::TempDir,
}

impl Stage {
    async fn new(script: Script, profile: Profile) -> Stage {
        let carrier = sim::SimulatedCarrier::start(CarrierOptions::new(script)).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Timestamp::from_millis(1_794_700_800_000));
        let options = OpenOptions {
            folder: folder.path().to_owned(),
            server: None,
            low_water_bytes: 0,
            in_doubt_wait: Duration::from_secs(15),
            record: false,
            now: clock.now(),
        };
        let store = Store::open(&options).unwrap();
        let catalogue = catalogue(&carrier, profile);
        let gateway = Gateway::new(clock, store, Pepper::new(b"pepper"), catalogue, Duration::from_secs(60));
        let (gateway, workers) = (Arc::new(gateway), Workers::default());
        Stage { carrier, gateway, workers, real: Clock::real(), _folder: folder }
    }

    fn start(&self) {
        supervise(&self.gateway, &self.workers);
    }

    fn change(&self, profile: Profile) {
        self.gateway.set_catalogue(catalogue(&self.carrier, profile));
    }

    async fn hold(&self, hold: Option<Hold>) {
        self.gateway.store.setup().set_hold(hold.as_ref()).await.unwrap();
        self.gateway.read_hold().await.unwrap();
    }

    fn shown(&self) -> CarrierSnapshot {
        self.gateway.carriers.list(self.gateway.clock.moment()).remove(0)
    }

    fn states(&self) -> Vec<String> {
        let actual = |link: &LinkSnapshot| {
            format!("{} {} {}", link.number, link.direction.as_str(), link.state.as_str())
        };
        self.shown().links.iter().map(actual).collect()
    }

    /// Waits in real time, while the gateway's clock stands still.
    async fn until(&self, wanted: impl Fn(&Stage) -> bool) {
        for _ in 0..PAUSES_MAX {
            if wanted(self) {
                return;
            }
            self.real.sleep(PAUSE).await;
        }
        panic!("timed out; {:?}", self.gateway.carriers.list(self.gateway.clock.moment()));
    }

    async fn states_become(&self, expect: &[&str]) {
        self.until(|stage| stage.carrier_is_there() && stage.states() == expect).await;
    }

    fn carrier_is_there(&self) -> bool {
        !self.gateway.carriers.list(self.gateway.clock.moment()).is_empty()
    }

    fn pass(&self, seconds: u64) {
        self.gateway.clock.advance(Duration::from_secs(seconds));
    }

    async fn end(self) {
        self.workers.stop().await;
        self.carrier.stop().await;
    }
}

fn catalogue(carrier: &sim::SimulatedCarrier, profile: Profile) -> Catalogue {
    let entry = Carrier {
        address: carrier.addr().to_string(),
        system_id: "hermod".to_owned(),
        password: "secret".to_owned(),
        system_type: String::new(),
        window: 10,
        parts_per_second: 10,
        response_timeout_ms: 60_000,
        enquire_link_ms: 30_000,
        disabled: false,
        draining: None,
        tls: None,
        profile,
    };
    let carriers = vec![(ACME, "acme".to_owned(), entry)];
    Catalogue::build(Documents { carriers, ..Documents::default() }).unwrap()
}

#[tokio::test]
async fn pair_binds_its_receiver_first_and_its_transmitter_a_second_later() {
    let pair =
        Profile { version: SmppVersion::V33, binds: LinkBinds::TransmitterAndReceiver, ..Profile::default() };
    let stage = Stage::new(Script::new(), pair).await;
    stage.start();
    stage.states_become(&["1 sends waiting", "1 receives bound"]).await;
    assert_eq!(stage.shown().health, Health::Down, "nothing can be sent yet");
    stage.pass(1);
    stage.states_become(&["1 sends bound", "1 receives bound"]).await;
    assert_eq!(stage.shown().health, Health::Up);
    let record = stage.carrier.record();
    let binds: Vec<_> = record.binds().iter().map(|bind| (bind.kind, bind.interface_version)).collect();
    assert_eq!(binds, [(BindType::Receiver, 0x33), (BindType::Transmitter, 0x33)]);
    stage.end().await;
    assert_eq!(record.counts().unbinds, 2, "both unbind");
}

#[tokio::test]
async fn held_gateway_binds_no_carrier_until_it_is_released() {
    let stage = Stage::new(Script::new(), Profile::default()).await;
    let hold = Hold::by_operator(stage.gateway.clock.now());
    stage.hold(Some(hold)).await;
    stage.start();
    stage.until(|stage| stage.carrier_is_there() && stage.shown().health == Health::Disabled).await;
    stage.pass(60);
    stage.real.sleep(PAUSE).await;
    assert_eq!(stage.carrier.record().counts().links_opened, 0);
    stage.hold(None).await;
    stage.states_become(&["1 both bound"]).await;
    stage.hold(Some(hold)).await;
    stage.until(|stage| stage.shown().health == Health::Disabled).await;
    assert_eq!(stage.carrier.record().counts().unbinds, 1);
    stage.end().await;
}

#[tokio::test]
async fn changed_entry_unbinds_and_binds_again() {
    let stage = Stage::new(Script::new(), Profile::default()).await;
    stage.start();
    stage.states_become(&["1 both bound"]).await;
    stage.change(Profile { links: 3, ..Profile::default() });
    stage.states_become(&["1 both bound", "2 both waiting", "3 both waiting"]).await;
    assert_eq!(stage.carrier.record().counts().unbinds, 1);
    stage.pass(1);
    stage.states_become(&["1 both bound", "2 both bound", "3 both waiting"]).await;
    stage.pass(1);
    stage.states_become(&["1 both bound", "2 both bound", "3 both bound"]).await;
    let attempts: Vec<u64> = stage.shown().links.iter().map(|link| link.bind_attempts).collect();
    assert_eq!(attempts, [2, 1, 1]);
    stage.change(Profile::default());
    stage.states_become(&["1 both bound"]).await;
    assert_eq!(stage.carrier.record().counts().unbinds, 4);
    stage.end().await;
}

#[tokio::test]
async fn rejected_password_raises_an_alarm_and_is_retried_after_five_minutes() {
    let stage = Stage::new(Script::new().reject_binds(1, CommandStatus::INVPASWD), Profile::default()).await;
    stage.start();
    stage.until(|stage| !stage.gateway.alarms.list().is_empty()).await;
    let alarm = stage.gateway.alarms.list().remove(0);
    assert_eq!((alarm.kind.as_str(), alarm.carrier.as_str()), ("bind-refused", "acme"));
    stage.states_become(&["1 both waiting"]).await;
    let link = stage.shown().links.remove(0);
    let now = stage.gateway.clock.now();
    assert_eq!(link.next_attempt_at, Some(now.plus(Duration::from_secs(300))));
    assert!(link.last_error.is_some_and(|error| error.at == now && error.text.contains("rejected the bind")));
    stage.pass(299);
    stage.real.sleep(PAUSE).await;
    assert_eq!(stage.carrier.record().counts().links_opened, 1, "carriers lock accounts that retry");
    stage.pass(1);
    stage.states_become(&["1 both bound"]).await;
    // The carrier is checked every second.
    stage.pass(1);
    stage.until(|stage| stage.gateway.alarms.list().is_empty()).await;
    stage.end().await;
}

#[tokio::test]
async fn trace_shows_every_pdu_of_a_link_while_enabled() {
    let stage = Stage::new(Script::new(), Profile::default()).await;
    let state = stage.gateway.carriers.open(ACME, "acme");
    state.trace.enable(stage.gateway.clock.now().plus(Duration::from_secs(40)));
    stage.start();
    stage.states_become(&["1 both bound"]).await;
    stage.pass(31);
    stage.until(|_| state.trace.read(0).len() >= 4).await;
    let lines = state.trace.read(0);
    let actual: Vec<_> = lines.iter().map(|line| (line.way, line.line.split(' ').next().unwrap())).collect();
    let expect = [
        (PduDirection::Out, "bind_transceiver"),
        (PduDirection::In, "bind_transceiver_resp"),
        (PduDirection::Out, "enquire_link"),
        (PduDirection::In, "enquire_link_resp"),
    ];
    assert_eq!(actual, expect);
    assert!(lines.iter().all(|line| line.session == 1 && !line.line.contains("secret")), "{lines:?}");
    stage.pass(31);
    stage.until(|stage| stage.carrier.record().counts().enquire_links >= 2).await;
    stage.pass(1);
    stage.until(|_| !state.trace.is_on()).await;
    assert_eq!(state.trace.read(0).len(), 4, "the trace had expired");
    stage.end().await;
}

#[tokio::test]
async fn link_without_enquire_link_resp_is_bound_again() {
    let pair = Profile { binds: LinkBinds::TransmitterAndReceiver, ..Profile::default() };
    let stage = Stage::new(Script::new(), pair).await;
    stage.start();
    stage.states_become(&["1 sends waiting", "1 receives bound"]).await;
    stage.pass(1);
    stage.states_become(&["1 sends bound", "1 receives bound"]).await;
    stage.carrier.stall_links(Duration::from_secs(3600));
    // Thirty seconds idle, then two enquire_links of ten seconds each.
    for _ in 0..5 {
        stage.pass(10);
        stage.real.sleep(PAUSE).await;
    }
    stage.until(|stage| stage.shown().links.iter().all(|link| link.last_error.is_some())).await;
    let errors = stage.shown().links;
    for link in errors {
        let error = link.last_error.unwrap().text;
        assert!(error.contains("enquire_link"), "{error}");
    }
    stage.end().await;
}
