//! The live state of all carriers.

use super::carrier_state::{CarrierState, QueueStatus, Stopped};
use super::history::Recent;
use super::link_status::LinkSnapshot;
use super::trace::Trace;
use crate::clock::Moment;
use hermod_domain::carrier::Health;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// One entry per carrier of the catalogue.
#[derive(Debug, Default)]
pub struct LiveCarriers {
    states: RwLock<BTreeMap<CarrierId, Arc<CarrierState>>>,
    /// What the other nodes say together.
    elsewhere: RwLock<BTreeMap<CarrierId, SendingCarrier>>,
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

    fn elsewhere(&self, carrier: CarrierId) -> Option<SendingCarrier> {
        self.elsewhere.read().unwrap_or_else(PoisonError::into_inner).get(&carrier).copied()
    }

    /// Returns the carriers that links of this node can send to, for the other nodes.
    pub fn sending(&self, now: Moment, wall: Timestamp) -> Vec<SendingCarrier> {
        let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
        let sending = states.iter().filter(|(_, state)| state.health().can_send());
        let sending = sending.map(|(id, state)| SendingCarrier {
            carrier: *id,
            health: state.health(),
            accepts: state.accepts(now),
            is_slow: state.is_slow(wall),
            rate: state.rate_now(),
        });
        sending.collect()
    }

    /// Sets what the other nodes say.
    pub fn set_elsewhere(&self, sending: impl IntoIterator<Item = SendingCarrier>) {
        let mut together: BTreeMap<CarrierId, SendingCarrier> = BTreeMap::new();
        for said in sending {
            together.entry(said.carrier).and_modify(|known| known.add(said)).or_insert(said);
        }
        *self.elsewhere.write().unwrap_or_else(PoisonError::into_inner) = together;
    }

    /// Returns the queues that are not empty, for the other nodes. Only the node with the engine knows them.
    pub fn queues(&self) -> Vec<(CarrierId, QueueStatus)> {
        let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
        let queues = states.iter().map(|(id, state)| (*id, state.queue()));
        queues.filter(|(_, queue)| *queue != QueueStatus::default()).collect()
    }

    /// Sets the queues that the node with the engine knows. All others are empty.
    pub fn set_queues(&self, queues: &[(CarrierId, QueueStatus)]) {
        let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
        for (id, state) in &*states {
            let queue = queues.iter().find(|(carrier, _)| carrier == id);
            state.set_queue(queue.map(|(_, queue)| *queue).unwrap_or_default());
        }
    }

    pub fn set_health(&self, carrier: CarrierId, health: Health) {
        self.open(carrier, &carrier.to_string()).set_health(health);
    }

    pub fn get(&self, carrier: CarrierId) -> Option<Arc<CarrierState>> {
        self.states.read().unwrap_or_else(PoisonError::into_inner).get(&carrier).cloned()
    }

    /// Returns the carrier's state, made if missing.
    pub fn open(&self, carrier: CarrierId, name: &str) -> Arc<CarrierState> {
        let mut states = self.states.write().unwrap_or_else(PoisonError::into_inner);
        states.entry(carrier).or_insert_with(|| Arc::new(CarrierState::new(carrier, name))).clone()
    }

    /// Resumes a stopped carrier. Returns whether it was stopped.
    pub fn resume(&self, carrier: CarrierId, now: Moment) -> bool {
        self.get(carrier).is_some_and(|state| state.resume(now))
    }

    /// Returns the traces of all carriers.
    pub fn traces(&self) -> Vec<(CarrierId, Arc<Trace>)> {
        let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
        states.iter().map(|(id, state)| (*id, state.trace.clone())).collect()
    }

    /// Returns all carriers, by id.
    pub fn list(&self, now: Moment) -> Vec<CarrierSnapshot> {
        let states: Vec<_> =
            self.states.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
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
mod tests {
    use super::super::{Direction, LinkSettings, LinkState};
    use super::*;
    use hermod_domain::carrier::ErrorClass;

    const ACME: CarrierId = CarrierId::new(7);

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn settings(window: u32) -> LinkSettings {
        LinkSettings { address: "acme.example:2775".to_owned(), tls: false, window, full_rate: 50 }
    }

    #[test]
    fn list_shows_each_link_with_its_counters() {
        let carriers = LiveCarriers::default();
        assert_eq!(carriers.health(ACME), Health::Down);
        let state = carriers.open(ACME, "acme");
        let receiver = state.link(1, Direction::Receives, settings(10), at(1));
        let sender = state.link(1, Direction::Sends, settings(10), at(1));
        receiver.enter(LinkState::Bound, at(2));
        assert_eq!(state.sending_links_bound(), 0, "nothing can be sent yet");
        sender.wait_until(at(9), at(3));
        sender.failed("cannot connect".to_owned(), at(3));
        sender.attempted();
        sender.enter(LinkState::Bound, at(9));
        assert_eq!(state.sending_links_bound(), 1);
        sender.submitted(3, Moment(500));
        sender.set_out(1);
        sender.accepted();
        sender.refused(ErrorClass::Temporary);

        let shown = &carriers.list(Moment(1_000))[0];
        assert_eq!((shown.id, shown.name.as_str(), shown.links.len()), (ACME, "acme", 2));
        let link = &shown.links[0];
        assert_eq!((link.number, link.direction.as_str(), link.state.as_str()), (1, "sends", "bound"));
        assert_eq!((link.since, link.next_attempt_at, link.bind_attempts), (at(9), None, 1));
        assert_eq!((link.window, link.out, link.rate, link.submitted_per_10_s), (10, 1, 50, 3));
        assert_eq!(link.last_error.as_ref().map(|error| error.text.as_str()), Some("cannot connect"));
        assert_eq!(shown.recent.minute.answered(), 2);
        assert_eq!(shown.recent.minute.refused_as(ErrorClass::Temporary), 1);
    }

    #[test]
    fn link_with_new_settings_keeps_its_counters_and_a_removed_one_is_hidden() {
        let carriers = LiveCarriers::default();
        let state = carriers.open(ACME, "acme");
        let links = [1, 2].map(|number| state.link(number, Direction::Both, settings(10), at(1)));
        links.iter().for_each(|link| link.accepted());
        state.retire_links(at(2));
        state.link(1, Direction::Both, settings(20), at(2)).accepted();
        let shown = &carriers.list(Moment(0))[0];
        assert_eq!(shown.links.len(), 1);
        assert_eq!((shown.links[0].window, shown.links[0].totals.accepted), (20, 2));
        assert_eq!(state.totals().accepted, 3);
    }

    #[test]
    fn stopped_carrier_keeps_its_first_reason_until_resumed() {
        let carriers = LiveCarriers::default();
        let state = carriers.open(ACME, "acme");
        let mut watching = state.watch_stopped();
        state.stop("protocol errors".to_owned(), at(5));
        state.stop("more errors".to_owned(), at(6));
        assert!(watching.has_changed().unwrap());
        watching.mark_unchanged();
        let stopped = carriers.list(Moment(0))[0].stopped_for.clone();
        assert_eq!(stopped, Some(Stopped { since: at(5), why: "protocol errors".to_owned() }));
        assert_eq!(carriers.health(ACME), Health::Stopped);
        assert!(carriers.resume(ACME, Moment(9)));
        assert!(watching.has_changed().unwrap());
        assert_eq!(carriers.health(ACME), Health::Down);
        assert!(!carriers.resume(ACME, Moment(9)) && !carriers.resume(CarrierId::new(9), Moment(9)));
    }
}
