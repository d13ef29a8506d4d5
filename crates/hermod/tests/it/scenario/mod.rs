//! The scenario fixture: a gateway on free ports with its store in a temporary folder, a manual
//! clock, a scripted carrier that records what it receives, and three customers.
//!
//! Tests wait in real time (the carrier and the sockets are real); the gateway's own time
//! passes only when the test advances the clock. `end` audits the store and fails if parts are open.

mod carriers;
mod clock;
mod customer;
mod esme;
pub(crate) mod http;
mod inbound;

pub(crate) use customer::Customer;
pub(crate) use esme::{Esme, message};
pub(crate) use http::{HttpAnswer, Page, call_page};

pub(crate) use crate::gateways::GatewaySetup;
use crate::gateways::{self, InProcess};
use crate::real_time::{PATIENCE, now, pause};
use crate::store_access::{self, audit_clean};
use hermod_domain::hold::Hold;
use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_gateway::gateway::Gateway;
use hermod_simulator::carrier::{CarrierOptions, Script, SimulatedCarrier};
use hermod_store::KeyClaim;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// 2026-11-15T00:00:00Z, a Sunday.
const START: Timestamp = Timestamp::from_millis(1_794_700_800_000);
/// Operations of the writer in a pause, one after another.
const OPERATIONS_PER_PAUSE: u8 = 8;

pub(crate) struct Scenario {
    pub(crate) alice: Customer,
    pub(crate) bob: Customer,
    /// Has money for ten messages.
    pub(crate) carol: Customer,
    clock: Clock,
    folder: tempfile::TempDir,
    carrier_address: SocketAddr,
    carrier: Option<SimulatedCarrier>,
    staged: GatewaySetup,
    gateway: Option<InProcess>,
}

impl Scenario {
    pub(crate) async fn with(script: Script) -> Scenario {
        Scenario::with_settings(script, "").await
    }

    /// Like [`Scenario::with`], with these lines in the carrier's entry.
    pub(crate) async fn with_settings(script: Script, settings: &str) -> Scenario {
        Scenario::with_setup(script, GatewaySetup::with(settings)).await
    }

    /// Like [`Scenario::with`], with this gateway setup.
    pub(crate) async fn with_setup(script: Script, staged: GatewaySetup) -> Scenario {
        let carrier =
            SimulatedCarrier::start(CarrierOptions::new(script)).await.expect("a free port on the loopback");
        let s = Scenario::start(carrier.addr(), Some(carrier), staged).await;
        s.wait_for_link().await;
        s
    }

    /// Adds a second carrier, "beta", as failover of the first.
    pub(crate) async fn add_backup_carrier(
        &self,
        script: Script,
        settings: &str,
        route: &str,
    ) -> SimulatedCarrier {
        let beta =
            SimulatedCarrier::start(CarrierOptions::new(script)).await.expect("a free port on the loopback");
        let entry = gateways::carrier_entry("beta", beta.addr(), settings);
        let route = format!("[[route]]\nprefix = \"49\"\ncarriers = [\"acme\", \"beta\"]\n{route}");
        self.provision(&format!("{entry}{route}")).await;
        let bound = |record: &hermod_simulator::carrier::CarrierRecord| record.counts().binds > 0;
        let seen = beta.record();
        self.advance_until(Duration::from_secs(1), || seen.wait_until(bound, PATIENCE))
            .await
            .expect("a bound link");
        // The carrier has sent its response; the gateway must have read it.
        self.wait_for_bound_link("beta").await;
        beta
    }

    /// Starts with a carrier address at which no carrier listens.
    pub(crate) async fn without_carrier() -> Scenario {
        Scenario::without_carrier_with_setup(GatewaySetup::with("")).await
    }

    pub(crate) async fn without_carrier_with_setup(staged: GatewaySetup) -> Scenario {
        Scenario::start(gateways::free_address(), None, staged).await
    }

    async fn start(
        carrier_address: SocketAddr,
        carrier: Option<SimulatedCarrier>,
        staged: GatewaySetup,
    ) -> Scenario {
        Scenario::start_by(Clock::manual(START), carrier_address, carrier, staged).await
    }

    async fn start_by(
        clock: Clock,
        carrier_address: SocketAddr,
        carrier: Option<SimulatedCarrier>,
        staged: GatewaySetup,
    ) -> Scenario {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let gateway = InProcess::start(folder.path(), carrier_address, &staged, clock.clone()).await;
        let address = gateway.address;
        Scenario {
            alice: Customer::new("alice", address),
            bob: Customer::new("bob", address),
            carol: Customer::new("carol", address),
            clock,
            folder,
            carrier_address,
            carrier,
            staged,
            gateway: Some(gateway),
        }
    }

    /// Stops the gateway and starts it again on the same data.
    pub(crate) async fn restart(&mut self) {
        self.restart_held().await;
        if self.carrier.is_some() {
            self.wait_for_link().await;
        }
    }

    /// Copies the database of the running gateway into a file.
    pub(crate) async fn back_up(&self, file: &Path) {
        self.gateway().store.copy_to(file, || self.clock.now()).await.expect("a backup");
    }

    /// Stops the gateway, replaces its data folder by a backup, and starts it. Only the pepper stays. Does not wait for a link.
    pub(crate) async fn restore(&mut self, backup: &Path) {
        self.gateway.take().expect("it is running").stop().await;
        let data = self.data_folder();
        for file in std::fs::read_dir(&data).expect("a data folder").flatten() {
            if file.file_name() != "pepper.key" && file.path().is_file() {
                std::fs::remove_file(file.path()).expect("a file of the test");
            }
        }
        std::fs::copy(backup, data.join("hermod.db")).expect("the backup is copied");
        self.start_again().await;
    }

    /// Like [`Scenario::restart`], and does not wait for a link.
    pub(crate) async fn restart_held(&mut self) {
        self.gateway.take().expect("it is running").stop().await;
        self.start_again().await;
    }

    async fn start_again(&mut self) {
        let clock = self.clock.clone();
        let gateway = InProcess::start(self.folder.path(), self.carrier_address, &self.staged, clock).await;
        for customer in [&mut self.alice, &mut self.bob, &mut self.carol] {
            customer.set_address(gateway.address);
        }
        self.gateway = Some(gateway);
    }

    /// Holds the running gateway, as another node does that is started with `--hold`.
    pub(crate) async fn hold(&self) {
        let hold = Hold::by_operator(self.clock.now());
        self.gateway().store.setup().set_hold(Some(&hold)).await.expect("the store answers");
        self.gateway().read_hold().await.expect("the store answers");
    }

    /// Releases it.
    pub(crate) async fn release(&self) {
        self.gateway().store.setup().set_hold(None).await.expect("the store answers");
        self.gateway().read_hold().await.expect("the store answers");
    }

    /// Returns the address for customers' binds.
    pub(crate) fn smpp_address(&self) -> SocketAddr {
        self.gateway.as_ref().expect("it is running").smpp_address()
    }

    pub(crate) async fn provision(&self, text: &str) {
        self.gateway.as_ref().expect("it is running").provision(text).await;
    }

    /// Changes only the fields that a provision text has.
    pub(crate) async fn change(&self, text: &str) {
        self.gateway.as_ref().expect("it is running").change(text).await;
    }

    /// Returns the provision entry of the first carrier at this address.
    pub(crate) fn carrier_entry(address: SocketAddr, settings: &str) -> String {
        gateways::carrier_entry("acme", address, settings)
    }

    /// Advances the gateway's clock.
    pub(crate) async fn advance(&self, by: Duration) {
        // In two steps, so that periodic jobs also see what becomes due at the very end.
        self.clock.advance(by);
        self.let_work(Duration::from_millis(20)).await;
        self.clock.advance(Duration::from_secs(61));
    }

    /// Advances the gateway's clock by exactly this much in one step.
    pub(crate) fn skip(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Waits until the condition holds.
    pub(crate) async fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let started = now();
        while !is_so() {
            assert!(started.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain: {what}");
            pause(Duration::from_millis(20)).await;
        }
    }

    /// Advances the clock repeatedly by `step` until `wanted` completes.
    pub(crate) async fn advance_until<T, F: Future<Output = T>>(
        &self,
        step: Duration,
        wanted: impl Fn() -> F,
    ) -> T {
        let wanted = wanted();
        tokio::pin!(wanted);
        loop {
            tokio::select! {
                done = &mut wanted => return done,
                () = self.let_work(Duration::from_millis(150)) => self.clock.advance(step),
            }
        }
    }

    /// Waits for `least` of real time with the gateway's clock standing still, and longer on a slow machine: until the writer
    /// has run some operations one after another.
    async fn let_work(&self, least: Duration) {
        pause(least).await;
        let Some(gateway) = &self.gateway else { return };
        for number in 0..OPERATIONS_PER_PAUSE {
            let unknown = KeyClaim { digest: [number; 16], fingerprint: 0 };
            drop(gateway.gateway().store.find_key(unknown).await);
        }
    }

    pub(crate) async fn start_carrier_again(&mut self, script: Script) {
        let options = CarrierOptions { listen: self.carrier_address, ..CarrierOptions::new(script) };
        self.carrier = Some(SimulatedCarrier::start(options).await.expect("the address is still free"));
    }

    pub(crate) fn set_carrier_script(&self, script: Script) {
        self.carrier().set_script(script);
    }

    pub(crate) fn carrier_texts(&self) -> Vec<String> {
        self.carrier().record().received_texts()
    }

    #[track_caller]
    pub(crate) fn assert_carrier_received_once(&self, text: &str) {
        assert_eq!(
            self.carrier().record().count_text(text),
            1,
            "the carrier received {:?}",
            self.carrier_texts()
        );
    }

    #[track_caller]
    pub(crate) fn assert_carrier_received_nothing(&self) {
        assert_eq!(self.carrier().record().counts().submits, 0);
    }

    #[track_caller]
    pub(crate) fn assert_carrier_submits(&self, count: u64) {
        assert_eq!(self.carrier().record().counts().submits, count);
    }

    #[track_caller]
    pub(crate) fn assert_carrier_submits_at_most(&self, count: u64) {
        assert!(self.carrier().record().counts().submits <= count, "{:?}", self.carrier().record().counts());
    }

    /// Waits a short real time with the gateway's clock standing still.
    pub(crate) async fn pause_briefly(&self) {
        self.let_work(Duration::from_millis(200)).await;
    }

    pub(crate) async fn wait_for_carrier_submits(&self, count: u64) {
        let seen = self.carrier().record();
        seen.wait_until(|record| record.counts().submits >= count, PATIENCE)
            .await
            .expect("submits at the carrier");
    }

    pub(crate) async fn wait_for_answered_receipts(&self, count: u64) {
        let seen = self.carrier().record();
        seen.wait_until(|record| record.counts().receipts_accepted >= count, PATIENCE)
            .await
            .expect("receipts taken");
    }

    /// Returns the number of recorded resends of parts in doubt.
    pub(crate) async fn resends(&self) -> u64 {
        let folder = self.data_folder();
        tokio::task::spawn_blocking(move || store_access::audit(&folder).resends)
            .await
            .expect("an audit does not panic")
    }

    /// Waits until the store has no open parts.
    pub(crate) async fn wait_until_no_open_parts(&self) {
        let started = now();
        loop {
            let folder = self.data_folder();
            let open = tokio::task::spawn_blocking(move || store_access::audit(&folder).open_parts);
            if open.await.expect("an audit does not panic") == 0 {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "parts are still open");
            pause(Duration::from_millis(50)).await;
        }
    }

    /// Ends the scenario; no part may be open.
    pub(crate) async fn end(self) {
        self.end_with_open_parts(0).await;
    }

    /// Like [`Scenario::end`], advancing the clock while the gateway stops.
    pub(crate) async fn end_advancing(mut self, step: Duration) {
        let gateway = self.gateway.take().expect("it is running");
        let stopped = gateway.stop();
        tokio::pin!(stopped);
        loop {
            tokio::select! {
                () = &mut stopped => break,
                () = pause(Duration::from_millis(100)) => self.clock.advance(step),
            }
        }
        self.audit_and_end(0).await;
    }

    pub(crate) async fn end_with_open_parts(mut self, open_parts: u64) {
        self.gateway.take().expect("it is running").stop().await;
        self.audit_and_end(open_parts).await;
    }

    async fn audit_and_end(mut self, open_parts: u64) {
        if let Some(carrier) = self.carrier.take() {
            carrier.stop().await;
        }
        let report = audit_clean(&self.data_folder());
        assert_eq!(report.open_parts, open_parts, "parts that have not ended");
    }

    async fn wait_for_link(&self) {
        let seen = self.carrier().record();
        let bound = |record: &hermod_simulator::carrier::CarrierRecord| {
            let counts = record.counts();
            counts.binds > counts.binds_rejected && counts.links_opened > counts.links_closed
        };
        self.advance_until(Duration::from_secs(2), || seen.wait_until(bound, PATIENCE))
            .await
            .expect("a bound link");
    }

    /// Returns the address of the portal, without a path.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.alice.address())
    }

    pub(crate) fn gateway(&self) -> &Arc<Gateway> {
        self.gateway.as_ref().expect("it is running").gateway()
    }

    pub(crate) fn carrier(&self) -> &SimulatedCarrier {
        self.carrier.as_ref().expect("this scenario has a carrier")
    }

    /// Opens the database beside the gateway.
    pub(crate) fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.data_folder().join("hermod.db")).expect("the database opens")
    }

    fn data_folder(&self) -> PathBuf {
        gateways::data_folder(self.folder.path())
    }
}
