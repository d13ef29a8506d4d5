//! Explains a route: which route a message takes, why the others are not taken, and the state of its carriers.

use crate::entry::names::{cost_name, of_route};
use crate::find::{carrier_name, find_account};
use crate::lookup::views::{CarrierCandidateView, ExplanationView, InDoubtView, RouteCandidateView};
use crate::refusal::Result;
use crate::views::amount::Amount;
use hermod_domain::area::Area;
use hermod_domain::carrier::{CarrierStatus, DeliveryRate, Health};
use hermod_domain::catalogue::Catalogue;
use hermod_domain::cost::{FoundCost, SenderClass};
use hermod_domain::ids::{AccountId, CarrierId};
use hermod_domain::message_costs::MessageCosts;
use hermod_domain::money::Money;
use hermod_domain::numbers::{Country, Numbers};
use hermod_domain::phone::Msisdn;
use hermod_domain::route::{
    CarrierDecision, ConsideredCarrier, ConsideredRoute, Occasion, Offer, Offers, Route, RouteDecision,
    RouteQuery, RouteScope,
};
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use hermod_gateway::gateway::Gateway;

/// Account ids begin at 1, so no account has this one.
const NO_ACCOUNT: u32 = 0;
/// The explained message has one part.
const ONE_PART: fn(CarrierId) -> u8 = |_| 1;

/// A message to explain the route of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) to: Msisdn,
    /// Without one: an account that no route names.
    pub(crate) account: Option<String>,
    /// Without one: a sender that no route names.
    pub(crate) from: Option<Sender>,
}

/// Explains the route of a message. `running` says whether this process has links, so that carriers' health is known.
pub(crate) fn explain(gateway: &Gateway, question: &Question, running: bool) -> Result<ExplanationView> {
    let Question { to, account, from } = question;
    let account = account.as_deref().map(|name| find_account(gateway, name)).transpose()?;
    let catalogue = gateway.catalogue();
    let from = from.unwrap_or_else(|| unmentioned_sender(&catalogue));
    let status = KnownStatus { gateway, catalogue: &catalogue, running };
    let sending = RouteQuery {
        account: account.unwrap_or(AccountId::new(NO_ACCOUNT)),
        from: &from,
        to: *to,
        destination: Numbers::embedded().find(*to),
    };
    let costing = Costing::of(&catalogue, account, &sending, &status, gateway.clock.now());
    let offers = costing.offers.as_ref().map(|offers| offers as &dyn Offers);
    let considered = catalogue.routes().explain(&sending, offers, &status);
    let taken = catalogue.routes().serving(&sending);
    let chosen = considered.carriers.iter().find(|one| one.decision == CarrierDecision::Chosen);
    let route = taken.map(|(route_for, _)| name_of_route(&catalogue, route_for));
    let in_doubt = taken.map(|(_, route)| {
        let of_carrier = || catalogue.carrier(chosen?.ranked.carrier())?.profile.in_doubt;
        route.rules().doubt.or_else(of_carrier).unwrap_or_default()
    });
    Ok(ExplanationView {
        sentence: sentence(*to, route.as_deref(), chosen, &catalogue) + costing.unasked(taken),
        route,
        area: taken.map(|(route_for, _)| route_for.area.name()),
        carrier: chosen.map(|one| carrier_name(&catalogue, one.ranked.carrier())),
        in_doubt: in_doubt.map(InDoubtView::from),
        fail_over_refusals: taken.is_some_and(|(_, route)| route.rules().fail_over_refusals),
        routes: considered.routes.iter().map(|looked| route_candidate(&catalogue, looked)).collect(),
        carriers: considered.carriers.iter().map(|one| carrier_candidate(&costing, one, running)).collect(),
    })
}

/// The carriers as this process knows them. Without links every carrier that is not disabled counts as up.
struct KnownStatus<'a> {
    gateway: &'a Gateway,
    catalogue: &'a Catalogue,
    running: bool,
}

impl CarrierStatus for KnownStatus<'_> {
    fn health(&self, carrier: CarrierId) -> Health {
        match self.catalogue.carrier(carrier) {
            Some(known) if known.disabled => Health::Disabled,
            _ if !self.running => Health::Up,
            _ => self.gateway.carriers.health(carrier),
        }
    }

    fn delivery_rate(&self, carrier: CarrierId, country: Option<Country>) -> Option<DeliveryRate> {
        self.gateway.carriers.delivery_rate(carrier, country)
    }
}

/// What carriers ask for a message of one part, and what the account pays for it.
struct Costing<'a> {
    catalogue: &'a Catalogue,
    sending: &'a RouteQuery<'a>,
    now: Timestamp,
    /// For an account that has a price.
    offers: Option<MessageCosts<'a>>,
}

impl Costing<'_> {
    fn of<'a>(
        catalogue: &'a Catalogue,
        account: Option<AccountId>,
        sending: &'a RouteQuery<'a>,
        status: &'a dyn CarrierStatus,
        now: Timestamp,
    ) -> Costing<'a> {
        let offers = account.and_then(|account| catalogue.account(account)).and_then(|view| {
            let price = view.prices().cost(sending.to, &sending.destination, now, 1)?;
            let currency = view.account.currency;
            Some(MessageCosts { catalogue, query: sending, price, currency, parts: &ONE_PART, status, now })
        });
        Costing { catalogue, sending, now, offers }
    }

    fn cost(&self, carrier: CarrierId) -> Option<FoundCost<'_>> {
        let RouteQuery { from, to, destination, .. } = self.sending;
        self.catalogue.costs().find(carrier, *to, destination, SenderClass::of(from), self.now)
    }

    /// Returns what remains of the price of a part.
    fn margin(&self, carrier: CarrierId) -> Option<Money> {
        let offers = self.offers.as_ref()?;
        match offers.offer(carrier) {
            Offer::Known { cost, .. } => offers.price().checked_sub(cost),
            Offer::Closed | Offer::Unknown => None,
        }
    }

    /// Says that costs would decide, if there were a price to compare them with.
    fn unasked(&self, taken: Option<(&RouteScope, &Route)>) -> &'static str {
        let is_needed = taken.is_some_and(|(_, route)| route.rules().costs.apply_to(Occasion::Submission));
        match &self.offers {
            None if is_needed => " The route compares costs: name an account that has a price.",
            _ => "",
        }
    }
}

/// Returns a sender that no route names.
pub(crate) fn unmentioned_sender(catalogue: &Catalogue) -> Sender {
    let mentioned = |sender: &Sender| {
        catalogue.routes().entries().iter().any(|(whose, _)| whose.sender.as_ref() == Some(sender))
    };
    let invented = (0_u32..).map(|n| Sender::parse(&format!("a{n}")).expect("a letter and digits"));
    let mut unmentioned = invented.filter(|sender| !mentioned(sender));
    unmentioned.next().expect("there are more names than routes")
}

fn account_name(catalogue: &Catalogue, id: AccountId) -> String {
    catalogue.account(id).map_or_else(|| id.to_string(), |view| view.name.clone())
}

fn name_of_route(catalogue: &Catalogue, route_for: &RouteScope) -> String {
    let account = route_for.account.map(|id| account_name(catalogue, id));
    of_route(account.as_deref(), Some(route_for.area), route_for.sender.as_ref())
}

fn sentence(
    to: Msisdn,
    route: Option<&str>,
    chosen: Option<&ConsideredCarrier>,
    catalogue: &Catalogue,
) -> String {
    let Some(route) = route else {
        return format!("No route matches {to}: the message is rejected with NO_ROUTE.");
    };
    let Some(chosen) = chosen else {
        return format!(
            "No carrier of route {route} may have a message to {to}: it is rejected with NO_ROUTE."
        );
    };
    let carrier = carrier_name(catalogue, chosen.ranked.carrier());
    let then = match chosen.health {
        Health::Up | Health::Poor => "",
        Health::Stalled => ", and waits there until it answers again",
        Health::Down => ", and waits there until a link is bound",
        Health::Stopped => ", and waits there until the operator resumes it",
        Health::Disabled => ", and waits there until the operator enables it",
    };
    format!("A message to {to} goes by route {route} to carrier {carrier}{then}.")
}

fn route_candidate(catalogue: &Catalogue, looked: &ConsideredRoute) -> RouteCandidateView {
    let RouteScope { account, sender, area } = &looked.scope;
    let who = match (account.map(|id| account_name(catalogue, id)), sender) {
        (Some(account), Some(sender)) => format!("messages of account {account} from {sender}"),
        (Some(account), None) => format!("messages of account {account}"),
        (None, Some(sender)) => format!("messages from {sender}"),
        (None, None) => "messages of all accounts".to_owned(),
    };
    let place = match area {
        Area::Prefix(prefix) if prefix.is_empty() => "every number".to_owned(),
        Area::Prefix(prefix) => format!("numbers that begin with {prefix}"),
        Area::Network(network) => format!("the network {network}"),
        Area::Mcc(mcc) => format!("networks of MCC {mcc}"),
        Area::Country(country) => country.name().to_owned(),
    };
    let reason = match looked.decision {
        RouteDecision::Chosen => "the most specific route",
        RouteDecision::Broader => "another route is more specific",
        RouteDecision::OtherAccount => "the message is of another account",
        RouteDecision::OtherSender => "the message has another sender",
        RouteDecision::NoCountry => "the country of the number is unknown",
    };
    RouteCandidateView {
        route: name_of_route(catalogue, &looked.scope),
        decision: looked.decision.as_str().to_owned(),
        why: format!("for {who} to {place}: {reason}"),
    }
}

fn carrier_candidate(costing: &Costing<'_>, one: &ConsideredCarrier, running: bool) -> CarrierCandidateView {
    let why = match (one.decision, one.health) {
        (CarrierDecision::Closed, _) => "does not deliver there: its cost closes the destination",
        (CarrierDecision::UnknownCost, _) => {
            "is skipped: no cost is known, or no exchange rate to the account's currency"
        }
        (CarrierDecision::Loss, _) => "is skipped: it leaves less than the margin of the route",
        (CarrierDecision::Chosen, _) if one.ranked.exclusion().is_some() => {
            "leaves less than the margin of the route, which allows it, and no other carrier leaves more"
        }
        _ if !running && one.health == Health::Up => match one.decision {
            CarrierDecision::Chosen => "is used if a link is bound; unknown, because no gateway runs here",
            CarrierDecision::InReserve
            | CarrierDecision::Skipped
            | CarrierDecision::Closed
            | CarrierDecision::UnknownCost
            | CarrierDecision::Loss => "is used if the carriers before it cannot send",
        },
        (CarrierDecision::Chosen, Health::Up) => "is used",
        (CarrierDecision::Chosen, Health::Poor) => {
            "is used despite many rejects or timeouts: no other carrier is better"
        }
        (CarrierDecision::Chosen, Health::Stalled) => {
            "queues it until it answers again: no other carrier can send now"
        }
        (CarrierDecision::Chosen, Health::Down) => {
            "queues the message until a link is bound: no other carrier can send now"
        }
        (CarrierDecision::Chosen, Health::Stopped) => {
            "queues the message until it is resumed: no other carrier can send"
        }
        (CarrierDecision::Chosen, Health::Disabled) => {
            "queues the message until it is enabled: no other carrier can send"
        }
        (CarrierDecision::InReserve, Health::Up | Health::Poor) => {
            "is used if the carriers before it cannot send"
        }
        (CarrierDecision::InReserve | CarrierDecision::Skipped, Health::Stalled) => {
            "cannot send: it answers nothing"
        }
        (CarrierDecision::InReserve | CarrierDecision::Skipped, Health::Down) => {
            "cannot send: no transmitting link is bound"
        }
        (CarrierDecision::InReserve | CarrierDecision::Skipped, Health::Stopped) => "cannot send: stopped",
        (CarrierDecision::InReserve | CarrierDecision::Skipped, Health::Disabled) => "cannot send: disabled",
        (CarrierDecision::Skipped, Health::Up | Health::Poor) => {
            "skipped: many rejects or timeouts, and a later carrier is better"
        }
    };
    let health = (running || one.health != Health::Up).then_some(one.health);
    let id = one.ranked.carrier();
    let carrier = carrier_name(costing.catalogue, id);
    let found = costing.cost(id);
    let terms = found.and_then(|found| found.terms.value);
    CarrierCandidateView {
        cost: terms.map(|terms| Amount(terms.per_part)),
        cost_currency: terms.map(|terms| terms.currency.to_string()),
        cost_entry: found.map(|found| cost_name(&carrier, &found)),
        margin: costing.margin(id).map(Amount),
        carrier,
        priority: one.ranked.candidate.priority,
        weight: one.ranked.candidate.weight,
        health: health.map(|health| health.as_str().to_owned()),
        decision: one.decision.as_str().to_owned(),
        why: why.to_owned(),
    }
}
