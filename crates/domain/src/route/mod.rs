//! Routing: finds the route of a message by account, sender and destination, and chooses one of its carriers by
//! priority, weight and health, or by cost and quality.
//!
//! The order of a route's carriers is always the same for one recipient, unless the route says that costs decide. Over many
//! recipients the shares follow the weights, while one handset keeps its carrier, and with it the order of its messages, as
//! long as that carrier is up.

mod cost_rules;
mod explain;
mod margin;
mod ranking;
#[cfg(test)]
mod tests;

pub use cost_rules::{ChooseBy, CostRules, Occasion, OnLoss, UnknownCost};
pub use explain::{CarrierDecision, ConsideredCarrier, ConsideredRoute, Explanation, RouteDecision};
pub use margin::{Margin, MarginRefusal};
pub use ranking::{ComparedCarrier, Exclusion, Judgement, Offer, Offers, RankedCarrier, Ranking};

use crate::area::{Area, AreaTable};
use crate::ids::{AccountId, CarrierId, RouteId};
use crate::lifecycle::DoubtPolicy;
use crate::numbers::Destination;
use crate::phone::Msisdn;
use crate::sender::Sender;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::time::Duration;

pub const ROUTE_CARRIERS_MAX: usize = 8;
pub const WEIGHT_MAX: u16 = 10_000;

/// One carrier of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub carrier: CarrierId,
    /// The lowest is tried first.
    pub priority: u8,
    /// The share among carriers of the same priority, 1 to [`WEIGHT_MAX`].
    pub weight: u16,
}

/// The carriers for a destination: at least one, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    id: RouteId,
    /// By priority.
    candidates: SmallVec<[Candidate; 2]>,
    rules: RouteRules,
}

/// The rules of a route besides its carriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RouteRules {
    /// The policy for parts in doubt. `None`: the carrier's profile decides.
    pub doubt: Option<DoubtPolicy>,
    /// Whether a message that one carrier rejects fails over to the next.
    pub fail_over_refusals: bool,
    /// How long a carrier may be unable to send before what waits for it moves. `None`: the gateway decides.
    pub fail_over_after: Option<Duration>,
    pub costs: CostRules,
}

/// Why a route is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteRefusal {
    #[error("it must name at least one carrier")]
    NoCarrier,
    #[error("it must name at most {ROUTE_CARRIERS_MAX} carriers")]
    TooManyCarriers,
    #[error("it names carrier {0} twice")]
    CarrierTwice(CarrierId),
    #[error("a weight must be from 1 to {WEIGHT_MAX}")]
    Weight,
}

/// Why a route chose its carrier, of those that may have the message. The order is that in which they are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CarrierChoice {
    /// The route has no other.
    #[default]
    Only,
    /// It is the first that is up.
    FirstUp,
    /// None is up, and it is the first that can send.
    FirstAble,
    /// None can send, and it is the first that is stalled or down and expected to come back.
    FirstDown,
    /// All are switched off, and it is the first.
    First,
    /// None leaves the margin of the route, which allows that, and it leaves most.
    LeastLoss,
}

/// A route's carriers in the order in which they are tried for one recipient.
pub type Order = SmallVec<[Candidate; ROUTE_CARRIERS_MAX]>;

impl Route {
    pub fn new(id: RouteId, candidates: &[Candidate], rules: RouteRules) -> Result<Route, RouteRefusal> {
        if candidates.is_empty() {
            return Err(RouteRefusal::NoCarrier);
        }
        if candidates.len() > ROUTE_CARRIERS_MAX {
            return Err(RouteRefusal::TooManyCarriers);
        }
        for (index, candidate) in candidates.iter().enumerate() {
            if candidates[..index].iter().any(|before| before.carrier == candidate.carrier) {
                return Err(RouteRefusal::CarrierTwice(candidate.carrier));
            }
            if !(1..=WEIGHT_MAX).contains(&candidate.weight) {
                return Err(RouteRefusal::Weight);
            }
        }
        let mut candidates = SmallVec::from_slice(candidates);
        candidates.sort_by_key(|candidate: &Candidate| candidate.priority);
        Ok(Route { id, candidates, rules })
    }

    pub const fn id(&self) -> RouteId {
        self.id
    }

    /// Returns the carriers by priority; never empty.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    pub const fn rules(&self) -> &RouteRules {
        &self.rules
    }

    /// Orders the carriers by priority, and within a priority by a weighted draw that is always the same for one
    /// recipient.
    pub fn order(&self, to: Msisdn) -> Order {
        let mut order = Order::from_slice(&self.candidates);
        let mut draw = to.number();
        for index in 0..order.len() {
            let priority = order[index].priority;
            let peers = order[index..].iter().take_while(|peer| peer.priority == priority).count();
            if peers > 1 {
                draw = hash(draw);
                let drawn = index + drawn(&order[index..index + peers], draw);
                order[index..=drawn].rotate_right(1);
            }
        }
        order
    }
}

/// Returns the index that a draw selects, in proportion to the weights.
fn drawn(peers: &[Candidate], draw: u64) -> usize {
    let total: u64 = peers.iter().map(|peer| u64::from(peer.weight)).sum();
    let mut rest = draw % total;
    for (index, peer) in peers.iter().enumerate() {
        match rest.checked_sub(u64::from(peer.weight)) {
            Some(left) => rest = left,
            None => return index,
        }
    }
    unreachable!("the rest is below the sum of the weights")
}

/// Hashes a number (SplitMix64), so that consecutive phone numbers give unrelated draws.
fn hash(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The messages that a route applies to: account, sender and destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RouteScope {
    pub account: Option<AccountId>,
    pub sender: Option<Sender>,
    pub area: Area,
}

/// The properties of a message by which its route is found.
#[derive(Clone, Copy, Debug)]
pub struct RouteQuery<'a> {
    pub account: AccountId,
    pub from: &'a Sender,
    pub to: Msisdn,
    pub destination: Destination<'a>,
}

/// Two routes have the same scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are two routes for the same account, sender and {}", .0.area)]
pub struct DuplicateRoute(pub RouteScope);

/// All routes. Precedence: a route of the account for the sender, of the account for all senders, of all accounts for
/// the sender, of all accounts. Within each, the most specific destination wins, as for prices.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    entries: Vec<(RouteScope, Route)>,
    of_account_and_sender: HashMap<(AccountId, Sender), AreaTable<usize>>,
    of_account: HashMap<AccountId, AreaTable<usize>>,
    of_sender: HashMap<Sender, AreaTable<usize>>,
    of_all: AreaTable<usize>,
}

impl Routes {
    pub fn new(routes: impl IntoIterator<Item = (RouteScope, Route)>) -> Result<Routes, DuplicateRoute> {
        let entries: Vec<(RouteScope, Route)> = routes.into_iter().collect();
        type AccountAndSender = (Option<AccountId>, Option<Sender>);
        let mut by_owner: HashMap<AccountAndSender, Vec<(Area, usize)>> = HashMap::new();
        for (index, (RouteScope { account, sender, area }, _)) in entries.iter().enumerate() {
            by_owner.entry((*account, *sender)).or_default().push((*area, index));
        }
        let mut routes = Routes { entries, ..Routes::default() };
        for ((account, sender), listed) in by_owner {
            let table = AreaTable::build(listed)
                .map_err(|duplicate| DuplicateRoute(RouteScope { account, sender, area: duplicate.0 }))?;
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
                (None, None) => routes.of_all = table,
            }
        }
        Ok(routes)
    }

    /// Returns the most specific route for a message.
    pub fn find(&self, query: &RouteQuery<'_>) -> Option<(&RouteScope, &Route)> {
        let RouteQuery { account, from, to, destination } = query;
        let within = |table: &AreaTable<usize>| table.find(*to, destination).map(|(_, index)| *index);
        let index = look_up(&self.of_account_and_sender, &(*account, **from))
            .and_then(within)
            .or_else(|| look_up(&self.of_account, account).and_then(within))
            .or_else(|| look_up(&self.of_sender, *from).and_then(within))
            .or_else(|| within(&self.of_all))?;
        self.entries.get(index).map(|(scope, route)| (scope, route))
    }

    /// Returns the route for a message that is to be sent. A route for "everywhere" covers all countries, so a number
    /// that belongs to none needs a route for its digits.
    pub fn serving(&self, query: &RouteQuery<'_>) -> Option<(&RouteScope, &Route)> {
        let known_country = query.destination.country.is_some();
        self.find(query).filter(|(scope, _)| known_country || !scope.area.is_everywhere())
    }

    pub fn entries(&self) -> &[(RouteScope, Route)] {
        &self.entries
    }
}

/// Looks up a key without hashing it if there are no entries, which is the usual case.
fn look_up<'a, K: std::hash::Hash + Eq, V>(tables: &'a HashMap<K, V>, key: &K) -> Option<&'a V> {
    if tables.is_empty() { None } else { tables.get(key) }
}
