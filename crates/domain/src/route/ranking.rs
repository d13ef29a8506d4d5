//! Ranks the carriers of a route for one message: the order in which they are tried, and which of them may not have it. Each
//! choice of a carrier is made from a ranking, for a new message as for failover.

use super::{Candidate, CarrierChoice, ChooseBy, CostRules, Occasion, OnLoss, ROUTE_CARRIERS_MAX, Route};
use crate::carrier::{CarrierStatus, DeliveryRate, Health};
use crate::cost::CostBasis;
use crate::ids::CarrierId;
use crate::money::Money;
use crate::phone::Msisdn;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// What a carrier asks for one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// No cost is known, or no exchange rate to the currency of the account.
    Unknown,
    /// It does not deliver there.
    Closed,
    Known {
        /// For all parts, in the currency of the account.
        cost: Money,
        basis: CostBasis,
        /// As many as the carrier counts.
        parts: u8,
    },
}

/// What carriers ask for a message, and what its customer pays. Only routes that look at costs ask.
pub trait Offers {
    /// Returns the charge for the message.
    fn price(&self) -> Money;

    fn offer(&self, carrier: CarrierId) -> Offer;

    /// Returns how much of such messages the carrier delivers, if enough is known.
    fn delivery_rate(&self, carrier: CarrierId) -> Option<DeliveryRate>;
}

named! {
    /// Why a carrier may not have a message.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Exclusion {
        /// Its cost says that it does not deliver there.
        Closed = "closed",
        UnknownCost = "unknown-cost",
        /// It leaves less than the margin.
        Loss = "loss",
    }
}

/// The costs of a message at one carrier, and what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub cost: Option<Money>,
    /// What remains of the price; below zero for a loss.
    pub margin: Option<Money>,
    pub exclusion: Option<Exclusion>,
}

/// One carrier of a route for one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedCarrier {
    pub candidate: Candidate,
    /// `None` if the route looks at no costs.
    pub judgement: Option<Judgement>,
}

/// One carrier of a route that looks at costs, for the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedCarrier {
    pub carrier: CarrierId,
    pub judgement: Judgement,
}

/// The carriers of a route in the order in which they are tried for one message; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranking {
    carriers: SmallVec<[RankedCarrier; ROUTE_CARRIERS_MAX]>,
    on_loss: OnLoss,
    fail_over_refusals: bool,
}

impl RankedCarrier {
    pub const fn carrier(&self) -> CarrierId {
        self.candidate.carrier
    }

    pub fn exclusion(&self) -> Option<Exclusion> {
        self.judgement?.exclusion
    }

    pub fn margin(&self) -> Option<Money> {
        self.judgement?.margin
    }
}

impl Route {
    /// Ranks the carriers for a message. Without offers they are ranked by priority alone.
    pub fn rank(&self, to: Msisdn, occasion: Occasion, offers: Option<&dyn Offers>) -> Ranking {
        let order = self.order(to);
        let rules = &self.rules.costs;
        let (on_loss, fail_over_refusals) = (rules.on_loss, self.rules.fail_over_refusals);
        let Some(offers) = offers.filter(|_| rules.apply_to(occasion)) else {
            let unjudged = order.into_iter().map(|candidate| RankedCarrier { candidate, judgement: None });
            return Ranking { carriers: unjudged.collect(), on_loss, fail_over_refusals };
        };
        let price = offers.price();
        let judged = order.into_iter().map(|candidate| {
            let offer = offers.offer(candidate.carrier);
            let place = place_of(rules.choose, candidate.carrier, offer, offers);
            let judgement = Some(judge(rules, occasion, price, offer));
            (place, RankedCarrier { candidate, judgement })
        });
        let mut judged: SmallVec<[(Place, RankedCarrier); ROUTE_CARRIERS_MAX]> = judged.collect();
        judged.sort_by_key(|(place, _)| *place);
        let carriers = judged.into_iter().map(|(_, ranked)| ranked).collect();
        Ranking { carriers, on_loss, fail_over_refusals }
    }
}

/// The place of a carrier: unknown costs last, then steps of the delivery rate, then cost. Equal places keep the route's order.
type Place = (bool, u16, Money);

fn place_of(choose: ChooseBy, carrier: CarrierId, offer: Offer, offers: &dyn Offers) -> Place {
    let Offer::Known { cost, basis, .. } = offer else { return (true, 0, Money::ZERO) };
    if choose == ChooseBy::Priority {
        return (false, 0, Money::ZERO);
    }
    let needs_rate = choose == ChooseBy::Quality || basis == CostBasis::Delivered;
    let rate = if needs_rate { offers.delivery_rate(carrier) } else { None };
    let step = rate.map_or(0, DeliveryRate::steps_below_best);
    let expected = match (basis, rate) {
        (CostBasis::Delivered, Some(rate)) => rate.share_of(cost),
        (CostBasis::Delivered, None) | (CostBasis::Submit, _) => cost,
    };
    (false, if choose == ChooseBy::Quality { step } else { 0 }, expected)
}

/// Judges a carrier by its full cost, also if it asks only for what it delivers.
fn judge(rules: &CostRules, occasion: Occasion, price: Money, offer: Offer) -> Judgement {
    let (cost, parts) = match offer {
        Offer::Known { cost, parts, .. } => (cost, parts),
        Offer::Closed => return excluded(Some(Exclusion::Closed)),
        Offer::Unknown => {
            return excluded(rules.skips_unknown_costs(occasion).then_some(Exclusion::UnknownCost));
        }
    };
    let loses = rules.margin(occasion).is_some_and(|margin| !margin.is_kept(price, cost, parts));
    Judgement {
        cost: Some(cost),
        margin: price.checked_sub(cost),
        exclusion: loses.then_some(Exclusion::Loss),
    }
}

const fn excluded(exclusion: Option<Exclusion>) -> Judgement {
    Judgement { cost: None, margin: None, exclusion }
}

impl Ranking {
    /// Returns every carrier of the route, in the order in which they are tried.
    pub fn carriers(&self) -> &[RankedCarrier] {
        &self.carriers
    }

    /// Returns the carriers as they were compared, in the same order; none if the route looks at no costs.
    pub fn compared(&self) -> Option<Box<[ComparedCarrier]>> {
        let one =
            |one: &RankedCarrier| Some(ComparedCarrier { carrier: one.carrier(), judgement: one.judgement? });
        self.carriers.iter().map(one).collect()
    }

    /// Returns the carrier for a message, and why: of those that may have it the first that is up, else the first that can
    /// send, else the first that is down, else the first. `None` if no carrier may have it.
    pub fn choose(&self, status: &dyn CarrierStatus) -> Option<(CarrierId, CarrierChoice)> {
        match self.carriers.as_slice() {
            [only] if only.exclusion().is_none() => return Some((only.carrier(), CarrierChoice::Only)),
            _ => {}
        }
        best(self.allowed(), status).or_else(|| {
            let (carrier, _) = best(self.losing().into_iter(), status)?;
            Some((carrier, CarrierChoice::LeastLoss))
        })
    }

    /// Returns another carrier that can send now, for a message that `current` cannot send or deferred.
    pub fn alternative_to(&self, current: CarrierId, status: &dyn CarrierStatus) -> Option<CarrierId> {
        let others = self.allowed().filter(|carrier| *carrier != current);
        let (carrier, _) = best(others, status)?;
        status.health(carrier).can_send().then_some(carrier)
    }

    /// Returns the next carrier for a message that `current` rejected: only carriers after it, so that no message cycles.
    /// `None` if the route does not fail over rejected messages.
    pub fn next_after_rejection(&self, current: CarrierId, status: &dyn CarrierStatus) -> Option<CarrierId> {
        if !self.fail_over_refusals {
            return None;
        }
        let after = self.carriers.iter().skip_while(|one| one.carrier() != current).skip(1);
        let mut allowed = after.filter(|one| one.exclusion().is_none()).map(RankedCarrier::carrier);
        allowed.find(|carrier| status.health(*carrier).can_send())
    }

    /// Returns the carriers that may have the message.
    fn allowed(&self) -> impl Iterator<Item = CarrierId> + Clone {
        self.carriers.iter().filter(|one| one.exclusion().is_none()).map(RankedCarrier::carrier)
    }

    /// Returns the carriers that leave too little, if the route allows that; the one that leaves most first.
    fn losing(&self) -> SmallVec<[CarrierId; ROUTE_CARRIERS_MAX]> {
        let is_losing =
            |one: &&RankedCarrier| self.on_loss == OnLoss::Allow && one.exclusion() == Some(Exclusion::Loss);
        let mut losing: SmallVec<[&RankedCarrier; ROUTE_CARRIERS_MAX]> =
            self.carriers.iter().filter(is_losing).collect();
        losing.sort_by_key(|one| std::cmp::Reverse(one.margin()));
        losing.into_iter().map(RankedCarrier::carrier).collect()
    }
}

/// Returns the first that is up, else the first that can send, else the first that is down, else the first.
fn best(
    carriers: impl Iterator<Item = CarrierId> + Clone,
    status: &dyn CarrierStatus,
) -> Option<(CarrierId, CarrierChoice)> {
    let first = |wanted: &dyn Fn(Health) -> bool, why: CarrierChoice| {
        carriers.clone().find(|carrier| wanted(status.health(*carrier))).map(|carrier| (carrier, why))
    };
    first(&|health| health == Health::Up, CarrierChoice::FirstUp)
        .or_else(|| first(&Health::can_send, CarrierChoice::FirstAble))
        .or_else(|| first(&|health| health == Health::Stalled, CarrierChoice::FirstDown))
        .or_else(|| first(&|health| health == Health::Down, CarrierChoice::FirstDown))
        .or_else(|| carriers.clone().next().map(|carrier| (carrier, CarrierChoice::First)))
}

#[cfg(test)]
#[path = "ranking_tests.rs"]
mod tests;
