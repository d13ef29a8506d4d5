//! The cost that applies, as tables.

use super::*;
use crate::numbers::Numbers;
use crate::prefix::Prefix;

const NORTH: CarrierId = CarrierId::new(1);
const SOUTH: CarrierId = CarrierId::new(2);

fn day(day: i64) -> Timestamp {
    Timestamp::from_millis(day * 86_400_000)
}

/// A cost of a carrier for a prefix or a country, in euros for each part that is sent; no amount closes.
fn cost(carrier: CarrierId, area: &str, sender_kind: Option<SenderClass>, amount: &str) -> CarrierCost {
    let area = match Prefix::parse(area) {
        Ok(prefix) => Area::Prefix(prefix),
        Err(_) => Area::Country(area.parse().unwrap()),
    };
    let currency = Currency::parse("EUR").unwrap();
    let entry = CostId::new(7);
    let terms = |per_part| CostTerms { per_part, currency, basis: CostBasis::Submit, entry };
    let value = Money::parse(amount).ok().map(terms);
    CarrierCost { carrier, area, sender_kind, terms: Dated { from: Timestamp::EPOCH, until: None, value } }
}

#[track_caller]
fn check(
    costs: &Costs,
    carrier: CarrierId,
    to: &str,
    sender: SenderClass,
    at: Timestamp,
    expect: Option<&str>,
) {
    let to = Msisdn::parse(to).unwrap();
    let found = costs.find(carrier, to, &Numbers::embedded().find(to), sender, at);
    let shown = found.map(|FoundCost { area, sender_kind, terms }| {
        let kind = sender_kind.map_or("any", SenderClass::as_str);
        let amount = terms.value.map_or("closed".to_owned(), |terms| terms.per_part.to_string());
        format!("{area} {kind} {amount}")
    });
    assert_eq!(shown.as_deref(), expect);
}

#[test]
fn most_specific_area_decides_then_the_kind_of_sender() {
    use SenderClass::{Alphanumeric, Number};
    let costs = Costs::build([
        cost(NORTH, "49", None, "0.05"),
        cost(NORTH, "49", Some(Alphanumeric), "0.06"),
        cost(NORTH, "49151", None, "0.04"),
        cost(NORTH, "FR", Some(Number), "0.02"),
        cost(SOUTH, "49", None, "0.01"),
    ]);
    let costs = costs.unwrap();
    let now = day(1);
    check(&costs, NORTH, "+498912345678", Alphanumeric, now, Some("prefix \"49\" alphanumeric 0.06"));
    check(&costs, NORTH, "+498912345678", Number, now, Some("prefix \"49\" any 0.05"));
    check(&costs, NORTH, "+4915112345678", Alphanumeric, now, Some("prefix \"49151\" any 0.04"));
    check(&costs, NORTH, "+33612345678", Number, now, Some("country FR number 0.02"));
    check(&costs, NORTH, "+33612345678", Alphanumeric, now, None);
    check(&costs, SOUTH, "+4915112345678", Number, now, Some("prefix \"49\" any 0.01"));
    check(&costs, CarrierId::HELD, "+4915112345678", Number, now, None);
}

#[test]
fn closed_cost_stops_the_search_and_an_ended_one_does_not() {
    let mut closed = cost(NORTH, "49151", None, "");
    closed.terms.from = day(5);
    closed.terms.until = Some(day(6));
    let costs = Costs::build([cost(NORTH, "49", None, "0.05"), closed]).unwrap();
    for (at, expect) in
        [(4, "prefix \"49\" any 0.05"), (5, "prefix \"49151\" any closed"), (6, "prefix \"49\" any 0.05")]
    {
        check(&costs, NORTH, "+4915112345678", SenderClass::Number, day(at), Some(expect));
    }
}

#[test]
fn costs_that_contradict_or_are_out_of_range_are_refused() {
    let refused = |costs: Vec<CarrierCost>| Costs::build(costs).unwrap_err().to_string();
    let one = || cost(NORTH, "49", None, "0.05");
    assert_eq!(
        refused(vec![one(), one()]),
        "carrier 1 has two costs for prefix \"49\" from the same time on"
    );
    let ended = CarrierCost { terms: Dated { until: Some(Timestamp::EPOCH), ..one().terms }, ..one() };
    assert_eq!(refused(vec![ended]), "the cost of carrier 1 for prefix \"49\" ends before it begins");
    assert_eq!(
        refused(vec![cost(NORTH, "49", None, "-0.01")]),
        "the cost -0.01 of carrier 1 for prefix \"49\" is not between 0 and 1000"
    );
}
