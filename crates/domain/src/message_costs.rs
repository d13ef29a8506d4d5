//! What carriers ask for one message, in the currency of its account: by their costs, the parts that they count, and the
//! exchange rates.

use crate::carrier::{CarrierStatus, DeliveryRate};
use crate::catalogue::Catalogue;
use crate::cost::{FoundCost, SenderClass};
use crate::ids::{AccountId, CarrierId};
use crate::money::{Currency, Money};
use crate::numbers::Numbers;
use crate::phone::Msisdn;
use crate::route::{Occasion, Offer, Offers, Ranking, RouteQuery};
use crate::sender::Sender;
use crate::time::Timestamp;

/// A message whose carriers are compared by cost.
pub struct MessageCosts<'a> {
    pub catalogue: &'a Catalogue,
    pub query: &'a RouteQuery<'a>,
    /// Its charge.
    pub price: Money,
    /// That of the account.
    pub currency: Currency,
    /// Returns the parts that a carrier counts.
    pub parts: &'a dyn Fn(CarrierId) -> u8,
    pub status: &'a dyn CarrierStatus,
    pub now: Timestamp,
}

impl MessageCosts<'_> {
    /// Returns the cost that applies at a carrier, which may be closed.
    pub fn find(&self, carrier: CarrierId) -> Option<FoundCost<'_>> {
        let RouteQuery { from, to, destination, .. } = self.query;
        self.catalogue.costs().find(carrier, *to, destination, SenderClass::of(from), self.now)
    }
}

impl Offers for MessageCosts<'_> {
    fn price(&self) -> Money {
        self.price
    }

    fn offer(&self, carrier: CarrierId) -> Offer {
        let Some(found) = self.find(carrier) else { return Offer::Unknown };
        let Some(terms) = found.terms.value else { return Offer::Closed };
        let parts = (self.parts)(carrier);
        let rates = self.catalogue.exchange_rates();
        let cost = terms.per_part.times(parts);
        let cost = cost.and_then(|cost| rates.convert(cost, terms.currency, self.currency, self.now));
        cost.map_or(Offer::Unknown, |cost| Offer::Known { cost, basis: terms.basis, parts })
    }

    fn delivery_rate(&self, carrier: CarrierId) -> Option<DeliveryRate> {
        self.status.delivery_rate(carrier, self.query.destination.country)
    }
}

/// A message that was accepted, as it is routed again.
#[derive(Clone, Copy, Debug)]
pub struct AcceptedMessage<'a> {
    pub account: AccountId,
    pub from: &'a Sender,
    pub to: Msisdn,
    /// Its charge.
    pub price: Money,
    /// The parts that every carrier gets: they do not follow its alphabet any more.
    pub parts: u8,
}

impl AcceptedMessage<'_> {
    /// Returns the properties by which its route is found.
    pub fn query(&self) -> RouteQuery<'_> {
        let AcceptedMessage { account, from, to, .. } = *self;
        RouteQuery { account, from, to, destination: Numbers::embedded().find(to) }
    }

    /// Ranks the carriers of the route that serves the message now; none without a route.
    pub fn rank_carriers(
        &self,
        catalogue: &Catalogue,
        occasion: Occasion,
        status: &dyn CarrierStatus,
        now: Timestamp,
    ) -> Option<Ranking> {
        let AcceptedMessage { account, from: _, to, price, parts } = *self;
        let query = self.query();
        let (_, route) = catalogue.routes().serving(&query)?;
        let parts = |_: CarrierId| parts;
        let costs = catalogue.account(account).map(|view| MessageCosts {
            catalogue,
            query: &query,
            price,
            currency: view.account.currency,
            parts: &parts,
            status,
            now,
        });
        let offers: Option<&dyn Offers> = costs.as_ref().map(|costs| -> &dyn Offers { costs });
        Some(route.rank(to, occasion, offers))
    }
}

#[cfg(test)]
#[path = "message_costs_tests.rs"]
mod tests;
