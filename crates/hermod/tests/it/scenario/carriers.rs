//! Scenario steps about carriers: waiting for links, alarms and health; operator actions.

use super::Scenario;
use crate::real_time::{PATIENCE, now, pause};
use hermod_domain::ids::CarrierId;
use hermod_gateway::live_status::{CarrierSnapshot, LinkState};
use hermod_simulator::carrier::{CarrierRecord, MoPart, RecordedResponse};
use hermod_smpp::esm_class;
use std::time::Duration;

impl Scenario {
    /// Waits until `count` links are bound.
    pub(crate) async fn wait_for_links(&self, count: u64) {
        let bound = |record: &CarrierRecord| {
            let counts = record.counts();
            let open = counts.links_opened - counts.links_closed;
            open >= count && counts.binds - counts.binds_rejected >= count
        };
        let seen = self.carrier().record();
        self.advance_until(Duration::from_secs(1), || seen.wait_until(bound, PATIENCE))
            .await
            .expect("bound links");
    }

    pub(crate) async fn wait_for_opened_links(&self, count: u64) {
        let seen = self.carrier().record();
        seen.wait_until(|record| record.counts().links_opened >= count, PATIENCE).await.expect("links");
    }

    pub(crate) async fn wait_for_refused_binds(&self, count: u64) {
        let seen = self.carrier().record();
        seen.wait_until(|record| record.counts().binds_rejected >= count, PATIENCE).await.expect("refusals");
    }

    /// Sends the receipt DELIVRD for the message that the carrier accepted last. For scripts that send no final receipt.
    pub(crate) fn deliver_last_message(&self) {
        let submits = self.carrier().record().submits();
        let accepted = submits.iter().rev().find_map(|submit| match &submit.response {
            RecordedResponse::Accepted { id } => Some((id, submit)),
            _ => None,
        });
        let (id, submit) = accepted.expect("the carrier has accepted a message");
        let text = format!(
            "id:{id} sub:001 dlvrd:001 submit date:2611150000 done date:2611150001 stat:DELIVRD err:000 text:"
        );
        let receipt = MoPart::raw(&submit.destination, &submit.source, 0, text.as_bytes());
        self.carrier().send_mo_parts([MoPart { esm_class: esm_class::RECEIPT, ..receipt }]);
    }

    /// Waits until the alarms are exactly these.
    pub(crate) async fn wait_for_alarms(&self, expect: &[&str]) {
        let started = now();
        while self.alarms() != expect {
            assert!(started.elapsed() < PATIENCE, "the alarms are {:?}, not {expect:?}", self.alarms());
            pause(Duration::from_millis(20)).await;
        }
    }

    /// Returns the alarms as `carrier kind about`.
    pub(crate) fn alarms(&self) -> Vec<String> {
        let told = self.gateway().alarms.list().into_iter();
        told.map(|alarm| format!("{} {} {}", alarm.carrier, alarm.kind.as_str(), alarm.about)).collect()
    }

    /// Waits until the first carrier has this health.
    pub(crate) async fn wait_for_carrier_health(&self, health: &str) {
        let (started, acme) = (now(), self.carrier_id("acme"));
        while self.gateway().carriers.health(acme).as_str() != health {
            assert!(started.elapsed() < PATIENCE, "still {:?}", self.gateway().carriers.health(acme));
            pause(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the gateway can send to a carrier.
    pub(crate) async fn wait_for_bound_link(&self, carrier: &str) {
        let gateway = self.gateway();
        let is_bound = |found: &CarrierSnapshot| {
            found.name == carrier && found.links.iter().any(|link| link.state == LinkState::Bound)
        };
        let started = now();
        while !gateway.carriers.list(gateway.clock.moment()).iter().any(is_bound) {
            assert!(started.elapsed() < PATIENCE, "no link of {carrier} is bound");
            pause(Duration::from_millis(5)).await;
        }
    }

    pub(crate) fn resume_carrier(&self, carrier: &str) {
        let gateway = self.gateway();
        assert!(
            gateway.carriers.resume(self.carrier_id(carrier), gateway.clock.moment()),
            "{carrier} was stopped"
        );
    }

    fn carrier_id(&self, name: &str) -> CarrierId {
        let catalogue = self.gateway().catalogue();
        let found = catalogue.carriers().iter().find(|(_, known, _)| known == name);
        found.map(|(id, ..)| *id).expect("a carrier of this name")
    }
}
