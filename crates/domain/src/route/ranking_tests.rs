//! Which carriers a message may have, in which order, as tables.

use super::*;
use crate::ids::RouteId;
use crate::route::{Margin, RouteRules, UnknownCost};

const NORTH: CarrierId = CarrierId::new(1);
const SOUTH: CarrierId = CarrierId::new(2);
const WEST: CarrierId = CarrierId::new(3);

fn money(text: &str) -> Money {
    Money::parse(text).unwrap()
}

fn margin(text: &str) -> Option<Margin> {
    Some(Margin::parse(text).unwrap())
}

/// A message that is sold for 0.05, and what north, south and west ask for it. A cost may have its basis, the parts that the
/// carrier counts, and how much it delivers in percent: `0.04 delivered`, `0.04 x3`, `0.04 90%`.
struct Asked([&'static str; 3]);

impl Asked {
    fn words(&self, carrier: CarrierId) -> impl Iterator<Item = &'static str> {
        self.0[usize::try_from(carrier.get()).unwrap() - 1].split(' ')
    }
}

impl Offers for Asked {
    fn price(&self) -> Money {
        money("0.05")
    }

    fn offer(&self, carrier: CarrierId) -> Offer {
        let mut words = self.words(carrier);
        let (cost, mut basis, mut parts) = (words.next().unwrap(), CostBasis::Submit, 1);
        for word in words {
            match word.strip_prefix('x') {
                Some(count) => parts = count.parse().unwrap(),
                None if word == "delivered" => basis = CostBasis::Delivered,
                None => {}
            }
        }
        match cost {
            "unknown" => Offer::Unknown,
            "closed" => Offer::Closed,
            cost => Offer::Known { cost: money(cost), basis, parts },
        }
    }

    fn delivery_rate(&self, carrier: CarrierId) -> Option<DeliveryRate> {
        let percent = self.words(carrier).find_map(|word| word.strip_suffix('%'))?;
        DeliveryRate::new(percent.parse::<u64>().unwrap() * 10, 1_000)
    }
}

fn route(costs: CostRules) -> Route {
    let candidates = [(NORTH, 1), (SOUTH, 2), (WEST, 3)];
    let candidates = candidates.map(|(carrier, priority)| Candidate { carrier, priority, weight: 1 });
    let rules = RouteRules { costs, fail_over_refusals: true, ..RouteRules::default() };
    Route::new(RouteId::new(1), &candidates, rules).unwrap()
}

fn rank(costs: CostRules, occasion: Occasion, asked: [&'static str; 3]) -> Ranking {
    route(costs).rank(Msisdn::parse("+4915112345678").unwrap(), occasion, Some(&Asked(asked)))
}

fn name(carrier: CarrierId) -> &'static str {
    match carrier {
        NORTH => "north",
        SOUTH => "south",
        _ => "west",
    }
}

/// Returns every carrier in its place, with what excludes it.
fn summary(ranking: &Ranking) -> String {
    let one = |one: &RankedCarrier| match one.exclusion() {
        None => name(one.carrier()).to_owned(),
        Some(exclusion) => format!("{}:{exclusion}", name(one.carrier())),
    };
    ranking.carriers().iter().map(one).collect::<Vec<_>>().join(" ")
}

fn rules(choose: ChooseBy, min_margin: &str) -> CostRules {
    let min_margin = if min_margin.is_empty() { None } else { margin(min_margin) };
    CostRules { choose, min_margin, ..CostRules::default() }
}

#[test]
fn carriers_are_ordered_and_excluded_by_the_rules_of_the_route() {
    use ChooseBy::{Cost, Priority, Quality};
    for (choose, min_margin, asked, expect) in [
        // Without rules about costs nothing excludes a carrier.
        (Priority, "", ["0.09", "closed", "unknown"], "north south west"),
        (Cost, "", ["0.03", "0.02", "0.01"], "west south north"),
        // Equal costs keep the order of the route.
        (Cost, "", ["0.03", "0.02", "0.02"], "south west north"),
        (Cost, "", ["unknown", "0.03", "0.02"], "west south north"),
        (Cost, "", ["closed", "0.03", "0.09"], "south west north:closed"),
        // A margin alone keeps the priorities.
        (Priority, "0", ["0.05", "0.050001", "0.01"], "north south:loss west"),
        (Priority, "0", ["unknown", "0.04", "closed"], "south north:unknown-cost west:closed"),
        (Cost, "10%", ["0.046", "0.045", "0.044"], "west south north:loss"),
        (Cost, "0.01", ["0.04", "0.04 x2", "0.03 x2"], "west north south:loss"),
        (Cost, "-20%", ["0.06", "0.060001", "0.07"], "north south:loss west:loss"),
        // What is due only for delivered parts is ordered by what is expected, and judged in full.
        (Cost, "", ["0.04", "0.045 delivered 80%", "0.041"], "south north west"),
        (Cost, "", ["0.04", "0.045 delivered", "0.041"], "north west south"),
        (Cost, "0", ["0.049", "0.06 delivered 80%", "0.05"], "south:loss north west"),
        // A step is 5 percentage points; a carrier with few reports is in the best one.
        (Quality, "", ["0.01 90%", "0.04 96%", "0.03 99%"], "west south north"),
        (Quality, "", ["0.01 90%", "0.04 96%", "0.03"], "west south north"),
        (Quality, "", ["0.04 91%", "0.03 94%", "unknown"], "south north west"),
        (Quality, "0", ["0.04 91%", "0.06 99%", "unknown"], "south:loss north west:unknown-cost"),
    ] {
        let ranking = rank(rules(choose, min_margin), Occasion::Submission, asked);
        assert_eq!(summary(&ranking), expect, "{choose} {min_margin} {asked:?}");
    }
}

#[test]
fn unknown_cost_is_skipped_where_a_margin_is_to_be_checked_unless_the_route_says_otherwise() {
    let asked = ["unknown", "0.04", "0.06"];
    for (min_margin, unknown_cost, expect) in [
        ("", None, "south west north"),
        ("", Some(UnknownCost::Skip), "south west north:unknown-cost"),
        ("0", None, "south west:loss north:unknown-cost"),
        ("0", Some(UnknownCost::Last), "south west:loss north"),
    ] {
        let rules = CostRules { unknown_cost, ..rules(ChooseBy::Cost, min_margin) };
        assert_eq!(
            summary(&rank(rules, Occasion::Submission, asked)),
            expect,
            "{min_margin} {unknown_cost:?}"
        );
    }
}

#[test]
fn margin_is_what_remains_of_the_price() {
    let ranking = rank(rules(ChooseBy::Cost, "0"), Occasion::Submission, ["0.06", "0.04", "unknown"]);
    let margins: Vec<_> = ranking.carriers().iter().map(|one| (name(one.carrier()), one.margin())).collect();
    assert_eq!(margins, [("south", Some(money("0.01"))), ("north", Some(money("-0.01"))), ("west", None)]);
}

#[test]
fn carrier_is_the_first_allowed_one_that_is_up_or_the_one_that_leaves_most_where_losses_are_allowed() {
    use CarrierChoice::{FirstAble, FirstDown, FirstUp, LeastLoss};
    use Health::{Down, Poor, Up};
    let [reject, allow] = OnLoss::ALL;
    for (on_loss, asked, healths, expect) in [
        (reject, ["0.03", "0.02", "0.04"], [Up, Up, Up], Some((SOUTH, FirstUp))),
        (reject, ["0.03", "0.02", "0.04"], [Up, Down, Up], Some((NORTH, FirstUp))),
        (reject, ["0.03", "0.02", "0.09"], [Down, Poor, Up], Some((SOUTH, FirstAble))),
        // It waits for a carrier that may have it.
        (reject, ["0.03", "0.02", "0.09"], [Down, Down, Up], Some((SOUTH, FirstDown))),
        (allow, ["0.03", "0.02", "0.09"], [Down, Down, Up], Some((SOUTH, FirstDown))),
        (reject, ["0.07", "0.08", "0.06"], [Up, Up, Up], None),
        (allow, ["0.07", "0.08", "0.06"], [Up, Up, Up], Some((WEST, LeastLoss))),
        (allow, ["0.07", "0.08", "0.06"], [Up, Up, Down], Some((NORTH, LeastLoss))),
        (allow, ["0.07", "closed", "unknown"], [Up, Up, Up], Some((NORTH, LeastLoss))),
        (allow, ["closed", "closed", "unknown"], [Up, Up, Up], None),
    ] {
        let rules = CostRules { on_loss, ..rules(ChooseBy::Cost, "0") };
        let status = |carrier: CarrierId| healths[usize::try_from(carrier.get()).unwrap() - 1];
        let chosen = rank(rules, Occasion::Submission, asked).choose(&status);
        assert_eq!(chosen, expect, "{on_loss} {asked:?} {healths:?}");
    }
}

#[test]
fn only_carrier_of_a_route_must_leave_the_margin_too() {
    let candidate = Candidate { carrier: NORTH, priority: 1, weight: 1 };
    let up = |_: CarrierId| Health::Up;
    for (cost, expect) in [("0.05", Some((NORTH, CarrierChoice::Only))), ("0.06", None), ("unknown", None)] {
        let rules = RouteRules { costs: rules(ChooseBy::Priority, "0"), ..RouteRules::default() };
        let route = Route::new(RouteId::new(1), &[candidate], rules).unwrap();
        let to = Msisdn::parse("+4915112345678").unwrap();
        let ranking = route.rank(to, Occasion::Submission, Some(&Asked([cost, "", ""])));
        assert_eq!(ranking.choose(&up), expect, "{cost}");
    }
}

#[test]
fn failover_goes_only_to_carriers_within_its_margin() {
    let up = |_: CarrierId| Health::Up;
    let south_is_down = |carrier: CarrierId| if carrier == SOUTH { Health::Down } else { Health::Up };
    // North is the cheapest, west costs more than the price.
    let asked = ["0.03", "0.04", "0.055"];
    for (failover_margin, deferred, rejected) in [
        // That of new messages, unless the route has another one.
        ("", (Some(SOUTH), None), (Some(SOUTH), None)),
        ("-10%", (Some(SOUTH), Some(WEST)), (Some(SOUTH), Some(WEST))),
        ("30%", (None, None), (None, None)),
    ] {
        let failover_margin = if failover_margin.is_empty() { None } else { margin(failover_margin) };
        for on_loss in OnLoss::ALL {
            let rules = CostRules { failover_margin, on_loss, ..rules(ChooseBy::Cost, "0") };
            let ranking = rank(rules, Occasion::Failover, asked);
            let found = (ranking.alternative_to(NORTH, &up), ranking.alternative_to(NORTH, &south_is_down));
            assert_eq!(found, deferred, "{failover_margin:?} {on_loss}");
            let found = (
                ranking.next_after_rejection(NORTH, &up),
                ranking.next_after_rejection(NORTH, &south_is_down),
            );
            assert_eq!(found, rejected, "{failover_margin:?} {on_loss}");
            assert_eq!(ranking.next_after_rejection(WEST, &up), None, "it is the last");
        }
    }
}

#[test]
fn margin_for_failover_alone_leaves_new_messages_as_they_are() {
    let rules = CostRules { failover_margin: margin("0"), ..CostRules::default() };
    let asked = ["0.09", "0.06", "0.05"];
    let new = rank(rules, Occasion::Submission, asked);
    assert!(new.carriers().iter().all(|one| one.judgement.is_none()), "no cost is looked at");
    assert_eq!(summary(&rank(rules, Occasion::Failover, asked)), "north:loss south:loss west");
}
