//! A story's carriers: what has happened on the links to them, and what the operator sees and does.

use super::Scenario;
use crate::real_time::{PATIENCE, now, pause};
use hermod_domain::ids::CarrierId;
use hermod_simulator::carrier::Record;
use std::time::Duration;

impl Scenario {
    /// So many links are bound at once.
    pub(crate) async fn links_are_up(&self, count: u64) {
        let bound = |record: &Record| {
            let counts = record.counts();
            let open = counts.links_opened - counts.links_closed;
            open >= count && counts.binds - counts.binds_rejected >= count
        };
        let seen = self.carrier().record();
        self.stepping(Duration::from_secs(1), || seen.wait_until(bound, PATIENCE))
            .await
            .expect("bound links");
    }

    pub(crate) async fn links_have_been(&self, count: u64) {
        let seen = self.carrier().record();
        seen.wait_until(|record| record.counts().links_opened >= count, PATIENCE).await.expect("links");
    }

    pub(crate) async fn binds_were_refused(&self, count: u64) {
        let seen = self.carrier().record();
        seen.wait_until(|record| record.counts().binds_rejected >= count, PATIENCE).await.expect("refusals");
    }

    /// Waits until these are what the operator is told is wrong.
    pub(crate) async fn alarms_are(&self, expect: &[&str]) {
        let started = now();
        while self.alarms() != expect {
            assert!(started.elapsed() < PATIENCE, "the alarms are {:?}, not {expect:?}", self.alarms());
            pause(Duration::from_millis(20)).await;
        }
    }

    /// What the operator is told is wrong, as `carrier kind about`.
    pub(crate) fn alarms(&self) -> Vec<String> {
        let told = self.world().alarms.list().into_iter();
        told.map(|alarm| format!("{} {} {}", alarm.carrier, alarm.kind.as_str(), alarm.about)).collect()
    }

    /// Waits until the first carrier's health is this.
    pub(crate) async fn carrier_is(&self, health: &str) {
        let (started, acme) = (now(), self.carrier_id("acme"));
        while self.world().carriers.health(acme).as_str() != health {
            assert!(started.elapsed() < PATIENCE, "still {:?}", self.world().carriers.health(acme));
            pause(Duration::from_millis(20)).await;
        }
    }

    pub(crate) fn operator_resumes(&self, carrier: &str) {
        let world = self.world();
        assert!(
            world.carriers.resume(self.carrier_id(carrier), world.clock.moment()),
            "{carrier} was stopped"
        );
    }

    fn carrier_id(&self, name: &str) -> CarrierId {
        let catalogue = self.world().catalogue();
        let found = catalogue.carriers().iter().find(|(_, known, _)| known == name);
        found.map(|(id, ..)| *id).expect("a carrier of this name")
    }
}
