//! The live state of all carriers.

use super::carrier_state::{CarrierState, Stopped};
use super::history::Recent;
use super::link_status::LinkSnapshot;
use super::trace::Trace;
use crate::clock::Moment;
use hermod_domain::carrier::Health;
use hermod_domain::ids::CarrierId;
use hermod_domain::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// One entry per carrier of the catalogue.
#[derive(Debug, Default)]
pub struct LiveCarriers {
    states: RwLock<BTreeMap<CarrierId, Arc<CarrierState>>>,
    /// The best health that another node says a carrier has.
    elsewhere: RwLock<BTreeMap<CarrierId, Health>>,
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
        let elsewhere = self.elsewhere.read().unwrap_or_else(PoisonError::into_inner).get(&carrier).copied();
        match elsewhere {
            Some(elsewhere) if !here.can_send() && elsewhere.can_send() => elsewhere,
            _ => here,
        }
    }

    /// Returns the carriers that links of this node can send to, with their health.
    pub fn sending(&self) -> Vec<(CarrierId, Health)> {
        let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
        let sending = states.iter().map(|(id, state)| (*id, state.health()));
        sending.filter(|(_, health)| health.can_send()).collect()
    }

    /// Sets what the other nodes say.
    pub fn set_elsewhere(&self, health: impl IntoIterator<Item = (CarrierId, Health)>) {
        let mut best = BTreeMap::new();
        for (carrier, health) in health {
            let known = best.entry(carrier).or_insert(health);
            if health == Health::Up {
                *known = health;
            }
        }
        *self.elsewhere.write().unwrap_or_else(PoisonError::into_inner) = best;
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
