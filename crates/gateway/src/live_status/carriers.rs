//! The live state of all carriers.

use super::carrier_state::{CarrierState, QueueStatus, Stopped};
use super::history::Recent;
use super::link_status::LinkSnapshot;
use super::trace::Trace;
use crate::clock::Moment;
use arc_swap::ArcSwap;
use hermod_domain::carrier::{CarrierStatus, DeliveryRate, DeliveryRates, Health};
use hermod_domain::ids::CarrierId;
use hermod_domain::numbers::Country;
use hermod_domain::time::Timestamp;
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One entry per carrier of the catalogue.
#[derive(Debug, Default)]
pub struct LiveCarriers {
    states: RwLock<BTreeMap<CarrierId, Arc<CarrierState>>>,
    /// What the other nodes say together.
    elsewhere: RwLock<BTreeMap<CarrierId, SendingCarrier>>,
    /// Of the last days, for routes that choose by cost or quality.
    delivery_rates: ArcSwap<DeliveryRates>,
}

impl CarrierStatus for LiveCarriers {
    fn health(&self, carrier: CarrierId) -> Health {
        LiveCarriers::health(self, carrier)
    }

    fn delivery_rate(&self, carrier: CarrierId, country: Option<Country>) -> Option<DeliveryRate> {
        self.delivery_rates.load().find(carrier, country)
    }
}

/// A carrier that links of a node can send to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendingCarrier {
    carrier: CarrierId,
    health: Health,
    /// It accepted a part in the last minute.
    accepts: bool,
    /// It throttles every link, and messages have waited long for it.
    is_slow: bool,
    /// Parts per second that the links may send now.
    rate: u64,
    /// Parts that it accepted in the last five minutes.
    accepted_lately: u64,
}

impl SendingCarrier {
    /// Adds what another node says of the same carrier.
    fn add(&mut self, other: SendingCarrier) {
        if other.health == Health::Up {
            self.health = other.health;
        }
        self.accepts |= other.accepts;
        self.is_slow &= other.is_slow;
        self.rate = self.rate.saturating_add(other.rate);
        self.accepted_lately = self.accepted_lately.saturating_add(other.accepted_lately);
    }
}

/// A carrier as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarrierSnapshot {
    pub id: CarrierId,
    pub name: String,
    pub health: Health,
    pub stopped_for: Option<Stopped>,
    pub links: Vec<LinkSnapshot>,
    /// The recent traffic of all links.
    pub recent: Recent,
    pub tracing_until: Option<Timestamp>,
}

impl LiveCarriers {
    /// Returns the health of a carrier; down if it is unknown. The links of other nodes count like our own.
    pub fn health(&self, carrier: CarrierId) -> Health {
        let here = self.get(carrier).map_or(Health::Down, |state| state.health());
        match self.elsewhere(carrier) {
            Some(elsewhere) if !here.can_send() => elsewhere.health,
            _ => here,
        }
    }

    /// Whether the carrier accepted a part in the last minute, on any node.
    pub fn accepts(&self, carrier: CarrierId, now: Moment) -> bool {
        let here = || self.get(carrier).is_some_and(|state| state.accepts(now));
        self.elsewhere(carrier).is_some_and(|elsewhere| elsewhere.accepts) || here()
    }

    /// Whether the carrier throttles every sending link of all nodes, and messages have waited long for it.
    pub fn is_slow(&self, carrier: CarrierId, now: Timestamp) -> bool {
        let here = self.get(carrier).filter(|state| state.sending_links_bound() > 0);
        let here = here.map(|state| state.is_slow(now));
        let elsewhere = self.elsewhere(carrier).map(|elsewhere| elsewhere.is_slow);
        here.into_iter().chain(elsewhere).reduce(|one, other| one && other).unwrap_or(false)
    }

    /// Returns the parts per second that the links of all nodes may send now, in total.
    pub fn rate_now(&self, carrier: CarrierId) -> u64 {
        let here = self.get(carrier).map_or(0, |state| state.rate_now());
        here.saturating_add(self.elsewhere(carrier).map_or(0, |elsewhere| elsewhere.rate))
    }

    /// Returns the parts that the carrier accepted in the last five minutes from the links of all nodes.
    pub fn accepted_lately(&self, carrier: CarrierId, now: Moment) -> u64 {
        let here = self.get(carrier).map_or(0, |state| state.accepted_lately(now));
        here.saturating_add(self.elsewhere(carrier).map_or(0, |elsewhere| elsewhere.accepted_lately))
    }

    fn elsewhere(&self, carrier: CarrierId) -> Option<SendingCarrier> {
        self.elsewhere.read().get(&carrier).copied()
    }

    /// Returns the carriers that links of this node can send to, for the other nodes.
    pub fn sending(&self, now: Moment, wall: Timestamp) -> Vec<SendingCarrier> {
        let states = self.states.read();
        let sending = states.iter().filter(|(_, state)| state.health().can_send());
        let sending = sending.map(|(id, state)| SendingCarrier {
            carrier: *id,
            health: state.health(),
            accepts: state.accepts(now),
            is_slow: state.is_slow(wall),
            rate: state.rate_now(),
            accepted_lately: state.accepted_lately(now),
        });
        sending.collect()
    }

    /// Sets what the other nodes say.
    pub fn set_elsewhere(&self, sending: impl IntoIterator<Item = SendingCarrier>) {
        let mut together: BTreeMap<CarrierId, SendingCarrier> = BTreeMap::new();
        for said in sending {
            together.entry(said.carrier).and_modify(|known| known.add(said)).or_insert(said);
        }
        *self.elsewhere.write() = together;
    }

    /// Returns the queues that are not empty, for the other nodes. Only the node with the engine knows them.
    pub fn queues(&self) -> Vec<(CarrierId, QueueStatus)> {
        let states = self.states.read();
        let queues = states.iter().map(|(id, state)| (*id, state.queue()));
        queues.filter(|(_, queue)| *queue != QueueStatus::default()).collect()
    }

    /// Sets the queues that the node with the engine knows. All others are empty.
    pub fn set_queues(&self, queues: &[(CarrierId, QueueStatus)]) {
        let states = self.states.read();
        for (id, state) in &*states {
            let queue = queues.iter().find(|(carrier, _)| carrier == id);
            state.set_queue(queue.map(|(_, queue)| *queue).unwrap_or_default());
        }
    }

    pub fn set_health(&self, carrier: CarrierId, health: Health) {
        self.open(carrier, &carrier.to_string()).set_health(health);
    }

    pub fn set_delivery_rates(&self, rates: DeliveryRates) {
        self.delivery_rates.store(Arc::new(rates));
    }

    pub fn get(&self, carrier: CarrierId) -> Option<Arc<CarrierState>> {
        self.states.read().get(&carrier).cloned()
    }

    /// Returns the carrier's state, made if missing.
    pub fn open(&self, carrier: CarrierId, name: &str) -> Arc<CarrierState> {
        let mut states = self.states.write();
        states.entry(carrier).or_insert_with(|| Arc::new(CarrierState::new(carrier, name))).clone()
    }

    /// Resumes a stopped carrier. Returns whether it was stopped.
    pub fn resume(&self, carrier: CarrierId, now: Moment) -> bool {
        self.get(carrier).is_some_and(|state| state.resume(now))
    }

    /// Returns the traces of all carriers.
    pub fn traces(&self) -> Vec<(CarrierId, Arc<Trace>)> {
        let states = self.states.read();
        states.iter().map(|(id, state)| (*id, state.trace.clone())).collect()
    }

    /// Returns all carriers, by id.
    pub fn list(&self, now: Moment) -> Vec<CarrierSnapshot> {
        let states: Vec<_> = self.states.read().values().cloned().collect();
        states.iter().map(|state| shown(state, now)).collect()
    }
}

fn shown(state: &CarrierState, now: Moment) -> CarrierSnapshot {
    CarrierSnapshot {
        id: state.id(),
        name: state.name().to_owned(),
        health: state.health(),
        stopped_for: state.stopped(),
        links: state.links().iter().map(|link| link.show(now)).collect(),
        recent: state.recent(now),
        tracing_until: state.trace.until(),
    }
}

#[cfg(test)]
#[path = "carriers_tests.rs"]
mod tests;
