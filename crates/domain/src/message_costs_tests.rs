//! What carriers ask for a message: costs, parts, currencies and delivery rates of a catalogue.

use super::*;
use crate::carrier::Health;
use crate::catalogue::{
    Account, Carrier, Cost, Countries, Documents, ExchangeRateEntry, RouteCarrier, RouteEntry,
};
use crate::cost::CostBasis;
use crate::ids::{CostId, RouteId};
use crate::numbers::Country;
use crate::prefix::Prefix;
use crate::route::{ChooseBy, CostRules, Exclusion, Margin};

const SHOP: AccountId = AccountId::new(1);
const NORTH: CarrierId = CarrierId::new(1);
const SOUTH: CarrierId = CarrierId::new(2);
const NOW: Timestamp = Timestamp::from_millis(1_750_000_000_000);

fn money(text: &str) -> Money {
    Money::parse(text).unwrap()
}

fn cost(carrier: CarrierId, per_part: Option<&str>, currency: &str) -> Cost {
    Cost {
        carrier,
        prefix: Some(Prefix::parse("49").unwrap()),
        network: None,
        mcc: None,
        country: None,
        sender_kind: None,
        per_part: per_part.map(money),
        currency: currency.parse().unwrap(),
        basis: CostBasis::Submit,
        from: None,
        until: None,
    }
}

fn account() -> Account {
    Account {
        currency: "EUR".parse().unwrap(),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        verified: true,
        terms: None,
        price_list: None,
        countries: Countries::All,
        closed: false,
        tier: Default::default(),
        smpp_rate: None,
        webhooks: None,
        stop_words: Vec::new(),
        countries_off: std::collections::BTreeSet::new(),
        warn_below: None,
        urgent_below: None,
        suspended: None,
    }
}

fn carrier() -> Carrier {
    Carrier {
        address: "carrier.example:2775".to_owned(),
        system_id: "hermod".to_owned(),
        password: String::new(),
        system_type: String::new(),
        window: 10,
        parts_per_second: 10,
        response_timeout_ms: 1000,
        enquire_link_ms: 1000,
        disabled: false,
        draining: None,
        tls: None,
        profile: Default::default(),
    }
}

/// North before south for German numbers, at these costs.
fn catalogue(costs: Vec<Cost>, rules: CostRules) -> Catalogue {
    let route = RouteEntry {
        account: None,
        sender: None,
        prefix: Some(Prefix::parse("49").unwrap()),
        network: None,
        mcc: None,
        country: None,
        carriers: vec![
            RouteCarrier { carrier: NORTH, priority: 1, weight: 1 },
            RouteCarrier { carrier: SOUTH, priority: 2, weight: 1 },
        ],
        in_doubt: None,
        fail_over_refusals: false,
        fail_over_after_ms: None,
        costs: rules,
    };
    let dollars = ExchangeRateEntry {
        base: "USD".parse().unwrap(),
        quote: "EUR".parse().unwrap(),
        rate: "0.9".parse().unwrap(),
        from: None,
    };
    Catalogue::build(Documents {
        accounts: vec![(SHOP, "shop".to_owned(), account())],
        carriers: vec![(NORTH, "north".to_owned(), carrier()), (SOUTH, "south".to_owned(), carrier())],
        routes: vec![(RouteId::new(1), route)],
        costs: costs.into_iter().map(|cost| (CostId::new(cost.carrier.get()), cost)).collect(),
        exchange_rates: vec![dollars],
        ..Documents::default()
    })
    .unwrap()
}

fn by_cost(min_margin: &str) -> CostRules {
    let min_margin = Some(Margin::parse(min_margin).unwrap());
    CostRules { choose: ChooseBy::Cost, min_margin, ..CostRules::default() }
}

/// Ranks the carriers of a message of two parts that was sold for 0.10 EUR.
fn ranking(catalogue: &Catalogue, status: &dyn CarrierStatus) -> Ranking {
    let from = Sender::parse("Shop").unwrap();
    let to = Msisdn::parse("+4915112345678").unwrap();
    let message = AcceptedMessage { account: SHOP, from: &from, to, price: money("0.10"), parts: 2 };
    message.rank_carriers(catalogue, Occasion::Failover, status, NOW).unwrap()
}

#[test]
fn costs_are_of_all_parts_in_the_currency_of_the_account() {
    let (all, none) = (Some("0.04"), None);
    for (costs, expect) in [
        // 0.05 USD are 0.045 EUR.
        (vec![cost(NORTH, Some("0.05"), "USD"), cost(SOUTH, all, "EUR")], "2=0.08 1=0.09"),
        (vec![cost(NORTH, all, "USD"), cost(SOUTH, all, "EUR")], "1=0.072 2=0.08"),
        (vec![cost(NORTH, Some("0.06"), "USD"), cost(SOUTH, all, "EUR")], "2=0.08 1=0.108:loss"),
        // No exchange rate, no cost, a closed destination.
        (vec![cost(NORTH, all, "GBP"), cost(SOUTH, all, "EUR")], "2=0.08 1=?:unknown-cost"),
        (vec![cost(SOUTH, all, "EUR")], "2=0.08 1=?:unknown-cost"),
        (vec![cost(NORTH, none, "EUR"), cost(SOUTH, all, "EUR")], "2=0.08 1=?:closed"),
    ] {
        let catalogue = catalogue(costs, by_cost("0"));
        let ranking = ranking(&catalogue, &|_: CarrierId| Health::Up);
        let one = |one: &crate::route::RankedCarrier| {
            let cost = one.judgement.and_then(|judgement| judgement.cost);
            let cost = cost.map_or_else(|| "?".to_owned(), |cost| cost.to_string());
            let exclusion = one.exclusion().map_or("", Exclusion::as_str);
            let colon = if exclusion.is_empty() { "" } else { ":" };
            format!("{}={cost}{colon}{exclusion}", one.carrier())
        };
        let found: Vec<String> = ranking.carriers().iter().map(one).collect();
        assert_eq!(found.join(" "), expect);
    }
}

#[test]
fn message_of_an_unknown_account_or_without_a_route_is_not_compared() {
    let catalogue = catalogue(vec![cost(SOUTH, Some("0.04"), "EUR")], by_cost("0"));
    let from = Sender::parse("Shop").unwrap();
    let message = |account, to| AcceptedMessage {
        account,
        from: &from,
        to: Msisdn::parse(to).unwrap(),
        price: money("0.10"),
        parts: 2,
    };
    let rank = |message: AcceptedMessage<'_>| {
        message.rank_carriers(&catalogue, Occasion::Failover, &|_: CarrierId| Health::Up, NOW)
    };
    let unknown = rank(message(AccountId::new(9), "+4915112345678")).unwrap();
    assert!(unknown.carriers().iter().all(|one| one.judgement.is_none()));
    assert_eq!(rank(message(SHOP, "+447911123456")), None);
}

/// North delivers 80 % in Germany.
struct NorthDeliversLess;

impl CarrierStatus for NorthDeliversLess {
    fn health(&self, _: CarrierId) -> Health {
        Health::Up
    }

    fn delivery_rate(&self, carrier: CarrierId, country: Option<Country>) -> Option<DeliveryRate> {
        let is_german = country.is_some_and(|country| country.as_str() == "DE");
        if carrier == NORTH && is_german { DeliveryRate::new(80, 100) } else { None }
    }
}

#[test]
fn delivery_rate_is_that_of_the_destinations_country() {
    let of_delivered = |carrier, per_part| {
        let basis = CostBasis::Delivered;
        Cost { basis, ..cost(carrier, Some(per_part), "EUR") }
    };
    let catalogue = catalogue(vec![of_delivered(NORTH, "0.048"), of_delivered(SOUTH, "0.04")], by_cost("0"));
    let order = |status: &dyn CarrierStatus| {
        ranking(&catalogue, status).carriers().iter().map(|one| one.carrier()).collect::<Vec<_>>()
    };
    assert_eq!(order(&NorthDeliversLess), [NORTH, SOUTH], "0.0768 are expected for north, 0.08 for south");
    assert_eq!(order(&|_: CarrierId| Health::Up), [SOUTH, NORTH]);
}
