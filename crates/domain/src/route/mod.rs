//! Which carriers serve a message. Routes are found by who sends and where to; a route names carriers with a priority
//! and a weight, and which of them takes a message follows from the recipient and from how the carriers are doing.
//!
//! The order of a route's carriers is the same every time for the same recipient: shares come out by weight over many
//! recipients, while one handset keeps its carrier, and so the order of its messages, for as long as that one is well.

mod explain;
#[cfg(test)]
mod tests;

pub use explain::{Considered, Explanation, Looked, RouteVerdict, Standing};

use crate::area::{Area, AreaTable};
use crate::carrier::Health;
use crate::ids::{AccountId, CarrierId, RouteId};
use crate::lifecycle::DoubtPolicy;
use crate::numbers::Destination;
use crate::phone::Msisdn;
use crate::sender::Sender;
use smallvec::SmallVec;
use std::collections::HashMap;

pub const ROUTE_CARRIERS_MAX: usize = 8;
pub const WEIGHT_MAX: u16 = 10_000;

/// One carrier of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub carrier: CarrierId,
    /// The lowest goes first.
    pub priority: u8,
    /// Its share among those of the same priority, 1 to [`WEIGHT_MAX`].
    pub weight: u16,
}

/// Carriers for a destination: at least one, none twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    id: RouteId,
    /// By priority.
    candidates: SmallVec<[Candidate; 2]>,
    doubt: Option<DoubtPolicy>,
    fail_over_refusals: bool,
}

/// What a route is asked to decide beside its carriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RouteRules {
    /// About parts whose answer never came. Nothing: as the carrier's profile says.
    pub doubt: Option<DoubtPolicy>,
    /// A message that one carrier refuses is offered to the next.
    pub fail_over_refusals: bool,
}

/// Why carriers do not make a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteRefusal {
    #[error("it names no carrier")]
    NoCarrier,
    #[error("it names more than {ROUTE_CARRIERS_MAX} carriers")]
    TooManyCarriers,
    #[error("it names carrier {0} twice")]
    CarrierTwice(CarrierId),
    #[error("a weight is from 1 to {WEIGHT_MAX}")]
    Weight,
}

/// A route's carriers in the order in which one recipient's messages would try them.
pub type Order = SmallVec<[Candidate; ROUTE_CARRIERS_MAX]>;

impl Route {
    pub fn new(id: RouteId, candidates: &[Candidate], rules: RouteRules) -> Result<Route, RouteRefusal> {
        if candidates.is_empty() {
            return Err(RouteRefusal::NoCarrier);
        }
        if candidates.len() > ROUTE_CARRIERS_MAX {
            return Err(RouteRefusal::TooManyCarriers);
        }
        for (place, candidate) in candidates.iter().enumerate() {
            if candidates[..place].iter().any(|before| before.carrier == candidate.carrier) {
                return Err(RouteRefusal::CarrierTwice(candidate.carrier));
            }
            if !(1..=WEIGHT_MAX).contains(&candidate.weight) {
                return Err(RouteRefusal::Weight);
            }
        }
        let mut candidates = SmallVec::from_slice(candidates);
        candidates.sort_by_key(|candidate: &Candidate| candidate.priority);
        let RouteRules { doubt, fail_over_refusals } = rules;
        Ok(Route { id, candidates, doubt, fail_over_refusals })
    }

    pub const fn id(&self) -> RouteId {
        self.id
    }

    /// By priority, never empty.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// What to do on this route about a part whose answer never came, if it has an opinion.
    pub const fn doubt(&self) -> Option<DoubtPolicy> {
        self.doubt
    }

    pub const fn fails_over_refusals(&self) -> bool {
        self.fail_over_refusals
    }

    /// By priority, and within a priority by a draw that is the same every time for the same recipient.
    pub fn order(&self, to: Msisdn) -> Order {
        let mut order = Order::from_slice(&self.candidates);
        let mut draw = to.number();
        for place in 0..order.len() {
            let priority = order[place].priority;
            let peers = order[place..].iter().take_while(|peer| peer.priority == priority).count();
            if peers > 1 {
                draw = mixed(draw);
                let drawn = place + drawn(&order[place..place + peers], draw);
                order[place..=drawn].rotate_right(1);
            }
        }
        order
    }

    /// Who takes a message: the first that does well, else the first that sends at all, else the first that may come
    /// back by itself, else the first.
    pub fn choose(&self, to: Msisdn, health: &dyn Fn(CarrierId) -> Health) -> CarrierId {
        if let [only] = self.candidates.as_slice() {
            return only.carrier;
        }
        let order = self.order(to);
        let first = |wanted: &dyn Fn(Health) -> bool| order.iter().find(|one| wanted(health(one.carrier)));
        let chosen = first(&|health| health == Health::Up)
            .or_else(|| first(&|health| health.sends()))
            .or_else(|| first(&|health| health == Health::Down))
            .unwrap_or(&order[0]);
        chosen.carrier
    }

    /// Another carrier that would send it now, for a message that `current` cannot send or put off.
    pub fn instead_of(
        &self,
        current: CarrierId,
        to: Msisdn,
        health: &dyn Fn(CarrierId) -> Health,
    ) -> Option<CarrierId> {
        let order = self.order(to);
        let other = |wanted: &dyn Fn(Health) -> bool| {
            order.iter().find(|one| one.carrier != current && wanted(health(one.carrier)))
        };
        other(&|health| health == Health::Up)
            .or_else(|| other(&|health| health.sends()))
            .map(|one| one.carrier)
    }

    /// The next carrier for a message that `current` refused. Only those behind it are asked, so that no message goes
    /// round in circles; nothing if the route does not fail over refusals.
    pub fn after_refusal_by(
        &self,
        current: CarrierId,
        to: Msisdn,
        health: &dyn Fn(CarrierId) -> Health,
    ) -> Option<CarrierId> {
        if !self.fail_over_refusals {
            return None;
        }
        let order = self.order(to);
        let behind = order.iter().skip_while(|one| one.carrier != current).skip(1);
        behind.map(|one| one.carrier).find(|carrier| health(*carrier).sends())
    }
}

/// Which of these the draw falls on, each having as many chances as its weight.
fn drawn(peers: &[Candidate], draw: u64) -> usize {
    let total: u64 = peers.iter().map(|peer| u64::from(peer.weight)).sum();
    let mut rest = draw % total;
    for (place, peer) in peers.iter().enumerate() {
        match rest.checked_sub(u64::from(peer.weight)) {
            Some(left) => rest = left,
            None => return place,
        }
    }
    unreachable!("the rest is below the sum of the weights")
}

/// Spreads neighbouring numbers out (SplitMix64).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Whose messages a route is for, and where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RouteFor {
    pub account: Option<AccountId>,
    pub sender: Option<Sender>,
    pub area: Area,
}

/// What a route is found by.
#[derive(Clone, Copy, Debug)]
pub struct Sending<'a> {
    pub account: AccountId,
    pub from: &'a Sender,
    pub to: Msisdn,
    pub destination: Destination<'a>,
}

/// Two routes for the same messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are two routes for the same account, sender and {}", .0.area)]
pub struct DuplicateRoute(pub RouteFor);

/// Every route. One account's route for one sender goes before its route for all senders, that before everyone's for
/// that sender, that before everyone's; within each, the destination decides as for prices.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    entries: Vec<(RouteFor, Route)>,
    of_account_and_sender: HashMap<(AccountId, Sender), AreaTable<usize>>,
    of_account: HashMap<AccountId, AreaTable<usize>>,
    of_sender: HashMap<Sender, AreaTable<usize>>,
    of_everyone: AreaTable<usize>,
}

impl Routes {
    pub fn new(routes: impl IntoIterator<Item = (RouteFor, Route)>) -> Result<Routes, DuplicateRoute> {
        let entries: Vec<(RouteFor, Route)> = routes.into_iter().collect();
        type Whose = (Option<AccountId>, Option<Sender>);
        let mut by_whom: HashMap<Whose, Vec<(Area, usize)>> = HashMap::new();
        for (place, (RouteFor { account, sender, area }, _)) in entries.iter().enumerate() {
            by_whom.entry((*account, *sender)).or_default().push((*area, place));
        }
        let mut routes = Routes { entries, ..Routes::default() };
        for ((account, sender), listed) in by_whom {
            let table = AreaTable::build(listed)
                .map_err(|duplicate| DuplicateRoute(RouteFor { account, sender, area: duplicate.0 }))?;
            match (account, sender) {
                (Some(account), Some(sender)) => {
                    routes.of_account_and_sender.insert((account, sender), table);
                }
                (Some(account), None) => {
                    routes.of_account.insert(account, table);
                }
                (None, Some(sender)) => {
                    routes.of_sender.insert(sender, table);
                }
                (None, None) => routes.of_everyone = table,
            }
        }
        Ok(routes)
    }

    /// `None` when nobody serves the destination.
    pub fn find(&self, sending: &Sending<'_>) -> Option<(&RouteFor, &Route)> {
        let Sending { account, from, to, destination } = sending;
        let within = |table: &AreaTable<usize>| table.find(*to, destination).map(|(_, place)| *place);
        let place = of(&self.of_account_and_sender, &(*account, **from))
            .and_then(within)
            .or_else(|| of(&self.of_account, account).and_then(within))
            .or_else(|| of(&self.of_sender, *from).and_then(within))
            .or_else(|| within(&self.of_everyone))?;
        self.entries.get(place).map(|(whose, route)| (whose, route))
    }

    /// As [`Routes::find`], for a message that is to be sent: a route for "everywhere" is for every country there is, so a
    /// number of none needs a route that names its digits.
    pub fn serving(&self, sending: &Sending<'_>) -> Option<(&RouteFor, &Route)> {
        let known_country = sending.destination.country.is_some();
        self.find(sending).filter(|(whose, _)| known_country || !whose.area.is_everywhere())
    }

    pub fn entries(&self) -> &[(RouteFor, Route)] {
        &self.entries
    }
}

/// Most installations have no such routes at all, and then there is nothing to hash.
fn of<'a, K: std::hash::Hash + Eq, V>(tables: &'a HashMap<K, V>, key: &K) -> Option<&'a V> {
    if tables.is_empty() { None } else { tables.get(key) }
}
