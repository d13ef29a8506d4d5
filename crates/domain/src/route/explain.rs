//! Explains how a message is routed: every route that covers the destination with the decision about it, and every
//! carrier of the chosen route with its health and the decision about it.

use super::{Exclusion, Occasion, Offers, RankedCarrier, Ranking, Route, RouteQuery, RouteScope, Routes};
use crate::carrier::{CarrierStatus, Health};
use crate::ids::RouteId;

/// How one message is routed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The chosen route first, then less specific ones, then those of other accounts and senders.
    pub routes: Vec<ConsideredRoute>,
    /// The carriers of the chosen route in the order in which they are tried. Empty without a route.
    pub carriers: Vec<ConsideredCarrier>,
}

/// A route that covers the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsideredRoute {
    pub route: RouteId,
    pub scope: RouteScope,
    pub decision: RouteDecision,
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RouteDecision {
        Chosen = "chosen",
        /// Another route is more specific.
        Broader = "broader-entry",
        OtherAccount = "other-account",
        OtherSender = "other-sender",
        /// A route for everywhere does not apply, because the number belongs to no country.
        NoCountry = "no-country",
    }
}

/// One carrier of the chosen route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsideredCarrier {
    pub ranked: RankedCarrier,
    pub health: Health,
    pub decision: CarrierDecision,
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CarrierDecision {
        /// The message is sent through it.
        Chosen = "chosen",
        /// It is used if the carriers before it cannot send.
        InReserve = "in-reserve",
        /// It is before the chosen carrier and cannot send.
        Skipped = "skipped",
        /// Its cost says that it does not deliver there.
        Closed = "closed",
        UnknownCost = "unknown-cost",
        /// It leaves less than the margin of the route.
        Loss = "loss",
    }
}

impl Routes {
    /// Explains how a message is routed. Without offers carriers are not compared by cost.
    pub fn explain(
        &self,
        query: &RouteQuery<'_>,
        offers: Option<&dyn Offers>,
        status: &dyn CarrierStatus,
    ) -> Explanation {
        let chosen = self.serving(query);
        let mut routes: Vec<ConsideredRoute> = self
            .entries()
            .iter()
            .filter(|(scope, _)| scope.area.covers(query.to, &query.destination))
            .map(|(scope, route)| ConsideredRoute {
                route: route.id(),
                scope: *scope,
                decision: decision(scope, route, chosen.map(|(_, route)| route), query),
            })
            .collect();
        routes.sort_by_key(|route| {
            let RouteScope { account, sender, area } = route.scope;
            let is_other = matches!(route.decision, RouteDecision::OtherAccount | RouteDecision::OtherSender);
            (is_other, account.is_none(), sender.is_none(), std::cmp::Reverse(area.rank()))
        });
        let ranking = chosen.map(|(_, route)| route.rank(query.to, Occasion::Submission, offers));
        let carriers = ranking.map(|ranking| considered_carriers(&ranking, status)).unwrap_or_default();
        Explanation { routes, carriers }
    }
}

fn decision(
    scope: &RouteScope,
    route: &Route,
    chosen: Option<&Route>,
    query: &RouteQuery<'_>,
) -> RouteDecision {
    if scope.account.is_some_and(|account| account != query.account) {
        return RouteDecision::OtherAccount;
    }
    if scope.sender.is_some_and(|sender| sender != *query.from) {
        return RouteDecision::OtherSender;
    }
    match chosen {
        Some(chosen) if chosen.id() == route.id() => RouteDecision::Chosen,
        _ if query.destination.country.is_none() && scope.area.is_everywhere() => RouteDecision::NoCountry,
        _ => RouteDecision::Broader,
    }
}

fn considered_carriers(ranking: &Ranking, status: &dyn CarrierStatus) -> Vec<ConsideredCarrier> {
    let chosen = ranking.choose(status).map(|(carrier, _)| carrier);
    let mut is_before_chosen = true;
    let decide = |ranked: &RankedCarrier| {
        let decision = match ranked.exclusion() {
            _ if Some(ranked.carrier()) == chosen => {
                is_before_chosen = false;
                CarrierDecision::Chosen
            }
            Some(Exclusion::Closed) => CarrierDecision::Closed,
            Some(Exclusion::UnknownCost) => CarrierDecision::UnknownCost,
            Some(Exclusion::Loss) => CarrierDecision::Loss,
            None if is_before_chosen => CarrierDecision::Skipped,
            None => CarrierDecision::InReserve,
        };
        ConsideredCarrier { ranked: *ranked, health: status.health(ranked.carrier()), decision }
    };
    ranking.carriers().iter().map(decide).collect()
}
