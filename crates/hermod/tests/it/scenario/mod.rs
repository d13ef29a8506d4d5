//! The stage for stories: the real gateway on free ports with the embedded store in a folder of its own, a clock that the
//! story moves, a carrier that does what its script says and remembers what it saw, and three customers.
//!
//! What a story waits for is waited for in real time (the carrier and the sockets are real); what the gateway waits for
//! passes only when the story says so. Leaving is a test: the store is audited, and work that is left over fails it.

mod carriers;
mod customer;
mod esme;
pub(crate) mod http;
mod inbound;
mod passing;

pub(crate) use customer::Customer;
pub(crate) use esme::Esme;
pub(crate) use http::HttpAnswer;

pub(crate) use crate::assembly::Staged;
use crate::assembly::{self, InProcess};
use crate::real_time::{PATIENCE, now, pause};
use hermod_domain::time::Timestamp;
use hermod_gateway::clock::Clock;
use hermod_gateway::world::World;
use hermod_simulator::carrier::{Carrier, CarrierOptions, Script};
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// 2026-11-15T00:00:00Z, a Sunday.
const START: Timestamp = Timestamp::from_millis(1_794_700_800_000);

pub(crate) struct Scenario {
    pub(crate) alice: Customer,
    pub(crate) bob: Customer,
    /// Has money for ten messages.
    pub(crate) carol: Customer,
    clock: Clock,
    folder: tempfile::TempDir,
    carrier_address: SocketAddr,
    carrier: Option<Carrier>,
    staged: Staged,
    gateway: Option<InProcess>,
}

impl Scenario {
    pub(crate) async fn with(script: Script) -> Scenario {
        Scenario::with_settings(script, "").await
    }

    /// As [`Scenario::with`], and the carrier's entry has these lines.
    pub(crate) async fn with_settings(script: Script, settings: &str) -> Scenario {
        Scenario::staged(script, Staged::with(settings)).await
    }

    /// As [`Scenario::with`], with everything as the story wants it.
    pub(crate) async fn staged(script: Script, staged: Staged) -> Scenario {
        let carrier = Carrier::start(CarrierOptions::new(script)).await.expect("a free port on the loopback");
        let s = Scenario::start(carrier.addr(), Some(carrier), staged).await;
        s.link_is_up().await;
        s
    }

    /// A second carrier, "beta", that stands in for the first.
    pub(crate) async fn joined_by(&self, script: Script, settings: &str, route: &str) -> Carrier {
        let beta = Carrier::start(CarrierOptions::new(script)).await.expect("a free port on the loopback");
        let entry = assembly::carrier_entry("beta", beta.addr(), settings);
        let route = format!("[[route]]\nprefix = \"49\"\ncarriers = [\"acme\", \"beta\"]\n{route}");
        self.operator_provisions(&format!("{entry}{route}")).await;
        let bound = |record: &hermod_simulator::carrier::Record| record.counts().binds > 0;
        let seen = beta.record();
        self.stepping(Duration::from_secs(1), || seen.wait_until(bound, PATIENCE))
            .await
            .expect("a bound link");
        beta
    }

    /// The carrier's address is known, and nobody is there.
    pub(crate) async fn without_carrier() -> Scenario {
        Scenario::without_carrier_staged(Staged::with("")).await
    }

    pub(crate) async fn without_carrier_staged(staged: Staged) -> Scenario {
        Scenario::start(assembly::free_address(), None, staged).await
    }

    async fn start(carrier_address: SocketAddr, carrier: Option<Carrier>, staged: Staged) -> Scenario {
        Scenario::start_by(Clock::manual(START), carrier_address, carrier, staged).await
    }

    async fn start_by(
        clock: Clock,
        carrier_address: SocketAddr,
        carrier: Option<Carrier>,
        staged: Staged,
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

    /// Stops the gateway in good order and starts it again on the same data.
    pub(crate) async fn restart(&mut self) {
        self.gateway.take().expect("it is running").stop().await;
        let clock = self.clock.clone();
        let gateway = InProcess::start(self.folder.path(), self.carrier_address, &self.staged, clock).await;
        for customer in [&mut self.alice, &mut self.bob, &mut self.carol] {
            customer.calls(gateway.address);
        }
        self.gateway = Some(gateway);
        if self.carrier.is_some() {
            self.link_is_up().await;
        }
    }

    /// Where customers bind.
    pub(crate) fn smpp_address(&self) -> SocketAddr {
        self.gateway.as_ref().expect("it is running").smpp_address()
    }

    pub(crate) async fn operator_provisions(&self, text: &str) {
        self.gateway.as_ref().expect("it is running").provision(text).await;
    }

    /// The first carrier, as a provision file has it, at this address.
    pub(crate) fn carrier_entry(address: SocketAddr, settings: &str) -> String {
        assembly::carrier_entry("acme", address, settings)
    }

    /// Lets time pass for the gateway.
    pub(crate) async fn advance(&self, by: Duration) {
        // In two steps, so that what is due at the very end is seen by whoever looks from time to time.
        self.clock.advance(by);
        pause(Duration::from_millis(20)).await;
        self.clock.advance(Duration::from_secs(61));
    }

    /// Lets exactly this much time pass for the gateway, at once.
    pub(crate) fn skip(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Lets time pass again and again until `wanted` has come about.
    pub(crate) async fn stepping<T, F: Future<Output = T>>(
        &self,
        step: Duration,
        wanted: impl Fn() -> F,
    ) -> T {
        let wanted = wanted();
        tokio::pin!(wanted);
        loop {
            tokio::select! {
                done = &mut wanted => return done,
                () = pause(Duration::from_millis(150)) => self.clock.advance(step),
            }
        }
    }

    pub(crate) async fn carrier_comes_back(&mut self, script: Script) {
        let options = CarrierOptions { listen: self.carrier_address, ..CarrierOptions::new(script) };
        self.carrier = Some(Carrier::start(options).await.expect("the address is still free"));
    }

    pub(crate) fn carrier_does(&self, script: Script) {
        self.carrier().set_script(script);
    }

    pub(crate) fn carrier_texts(&self) -> Vec<String> {
        self.carrier().record().received_texts()
    }

    #[track_caller]
    pub(crate) fn carrier_received_once(&self, text: &str) {
        assert_eq!(
            self.carrier().record().count_text(text),
            1,
            "the carrier received {:?}",
            self.carrier_texts()
        );
    }

    #[track_caller]
    pub(crate) fn carrier_received_nothing(&self) {
        assert_eq!(self.carrier().record().counts().submits, 0);
    }

    #[track_caller]
    pub(crate) fn carrier_saw_submits(&self, count: u64) {
        assert_eq!(self.carrier().record().counts().submits, count);
    }

    #[track_caller]
    pub(crate) fn carrier_saw_at_most_submits(&self, count: u64) {
        assert!(self.carrier().record().counts().submits <= count, "{:?}", self.carrier().record().counts());
    }

    /// Real time for whatever would happen at once to happen; the gateway's clock stands still.
    pub(crate) async fn a_moment_passes(&self) {
        pause(Duration::from_millis(200)).await;
    }

    pub(crate) async fn carrier_has_seen_submits(&self, count: u64) {
        let seen = self.carrier().record();
        seen.wait_until(|record| record.counts().submits >= count, PATIENCE)
            .await
            .expect("submits at the carrier");
    }

    pub(crate) async fn carrier_receipts_are_taken(&self, count: u64) {
        let seen = self.carrier().record();
        seen.wait_until(|record| record.counts().receipts_accepted >= count, PATIENCE)
            .await
            .expect("receipts taken");
    }

    /// Parts sent again after a doubt, as the store has recorded them.
    pub(crate) async fn resends(&self) -> u64 {
        let folder = self.data_folder();
        tokio::task::spawn_blocking(move || hermod_store::Store::audit(&folder).expect("an audit").resends)
            .await
            .expect("an audit does not panic")
    }

    /// Waits until no message is under way.
    pub(crate) async fn everything_settles(&self) {
        let started = now();
        loop {
            let folder = self.data_folder();
            let open = tokio::task::spawn_blocking(move || {
                hermod_store::Store::audit(&folder).expect("an audit").open_parts
            });
            if open.await.expect("an audit does not panic") == 0 {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "messages are still under way");
            pause(Duration::from_millis(50)).await;
        }
    }

    /// The end of a story in which everything came to its end.
    pub(crate) async fn end(self) {
        self.end_with_open_parts(0).await;
    }

    /// As [`Scenario::end`], for what ends only when time passes.
    pub(crate) async fn end_stepping(mut self, step: Duration) {
        let gateway = self.gateway.take().expect("it is running");
        let stopped = gateway.stop();
        tokio::pin!(stopped);
        loop {
            tokio::select! {
                () = &mut stopped => break,
                () = pause(Duration::from_millis(100)) => self.clock.advance(step),
            }
        }
        self.leave_in_order(0).await;
    }

    pub(crate) async fn end_with_open_parts(mut self, open_parts: u64) {
        self.gateway.take().expect("it is running").stop().await;
        self.leave_in_order(open_parts).await;
    }

    async fn leave_in_order(mut self, open_parts: u64) {
        if let Some(carrier) = self.carrier.take() {
            carrier.stop().await;
        }
        let report = hermod_store::Store::audit(&self.data_folder()).expect("an audit");
        assert!(report.is_clean(), "the audit found {:#?}", report.violations);
        assert_eq!(report.open_parts, open_parts, "parts that have not ended");
    }

    async fn link_is_up(&self) {
        let seen = self.carrier().record();
        let bound = |record: &hermod_simulator::carrier::Record| {
            let counts = record.counts();
            counts.binds > counts.binds_rejected && counts.links_opened > counts.links_closed
        };
        self.stepping(Duration::from_secs(2), || seen.wait_until(bound, PATIENCE))
            .await
            .expect("a bound link");
    }

    pub(crate) fn world(&self) -> &World {
        self.gateway.as_ref().expect("it is running").world()
    }

    pub(crate) fn carrier(&self) -> &Carrier {
        self.carrier.as_ref().expect("this story has a carrier")
    }

    fn data_folder(&self) -> PathBuf {
        assembly::data_folder(self.folder.path())
    }
}
