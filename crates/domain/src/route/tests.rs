//! Which route and which carrier a message gets.

use super::*;
use crate::carrier::Health;
use crate::numbers::{Mcc, Network, Numbers};
use crate::prefix::Prefix;

fn candidate(carrier: u32, priority: u8, weight: u16) -> Candidate {
    Candidate { carrier: CarrierId::new(carrier), priority, weight }
}

fn route(id: u32, candidates: &[Candidate]) -> Route {
    Route::new(RouteId::new(id), candidates, RouteRules::default()).unwrap()
}

fn sender(text: &str) -> Sender {
    Sender::parse(text).unwrap()
}

fn number(text: &str) -> Msisdn {
    Msisdn::parse(text).unwrap()
}

fn scope(account: Option<u32>, from: Option<&str>, area: Area) -> RouteScope {
    RouteScope { account: account.map(AccountId::new), sender: from.map(sender), area }
}

fn prefix(text: &str) -> Area {
    Area::Prefix(Prefix::parse(text).unwrap())
}

fn sample_routes() -> Routes {
    let mcc = Area::Mcc(Mcc::parse("262").unwrap());
    let network = Area::Network(Network::parse("262-01").unwrap());
    let one = |id| route(id, &[candidate(id, 1, 1)]);
    Routes::new([
        (scope(None, None, prefix("")), one(1)),
        (scope(None, None, mcc), one(2)),
        (scope(None, None, prefix("49")), one(3)),
        (scope(None, None, network), one(4)),
        (scope(None, Some("ACME"), prefix("")), one(5)),
        (scope(Some(7), None, prefix("")), one(6)),
        (scope(Some(7), Some("ACME"), prefix("44")), one(7)),
    ])
    .unwrap()
}

#[track_caller]
fn check(routes: &Routes, account: u32, from: &str, to: &str, expect: Option<u32>) {
    let (from, to) = (sender(from), number(to));
    let destination = Numbers::embedded().find(to);
    let query = RouteQuery { account: AccountId::new(account), from: &from, to, destination };
    let found = routes.find(&query).map(|(_, route)| route.id());
    assert_eq!(found, expect.map(RouteId::new), "account {account} from {from:?} to {to}");
    let explanation = routes.explain(&query, None, &|_: CarrierId| Health::Up);
    let chosen = explanation.routes.iter().find(|route| route.decision == RouteDecision::Chosen);
    assert_eq!(chosen.map(|route| route.route), found, "the explanation says the same");
}

#[test]
fn account_and_sender_take_precedence_over_destination() {
    let routes = sample_routes();
    check(&routes, 1, "Other", "+33612345678", Some(1));
    check(&routes, 1, "Other", "+4915112345678", Some(4));
    check(&routes, 1, "Other", "+498912345678", Some(3));
    check(&routes, 1, "ACME", "+4915112345678", Some(5));
    check(&routes, 7, "Other", "+4915112345678", Some(6));
    check(&routes, 7, "ACME", "+4915112345678", Some(6));
    check(&routes, 7, "ACME", "+447911123456", Some(7));
    check(&Routes::default(), 1, "ACME", "+447911123456", None);
}

#[test]
fn duplicate_routes_are_refused() {
    let twice = scope(Some(1), None, prefix("49"));
    let listed = [(twice, route(1, &[candidate(1, 1, 1)])), (twice, route(2, &[candidate(1, 1, 1)]))];
    assert_eq!(Routes::new(listed).map(drop), Err(DuplicateRoute(twice)));
}

#[test]
fn explanation_names_every_route_that_covers_the_number() {
    let (from, to) = (sender("ACME"), number("+447911123456"));
    let destination = Numbers::embedded().find(to);
    let query = RouteQuery { account: AccountId::new(7), from: &from, to, destination };
    let explanation = sample_routes().explain(&query, None, &|_: CarrierId| Health::Down);
    let verdicts: Vec<_> =
        explanation.routes.iter().map(|route| (route.route.get(), route.decision.as_str())).collect();
    assert_eq!(verdicts, [(7, "chosen"), (6, "broader-entry"), (5, "broader-entry"), (1, "broader-entry")]);
    let other = RouteQuery { account: AccountId::new(8), from: &sender("Else"), ..query };
    let explanation = sample_routes().explain(&other, None, &|_: CarrierId| Health::Up);
    let verdicts: Vec<_> =
        explanation.routes.iter().map(|route| (route.route.get(), route.decision.as_str())).collect();
    assert_eq!(verdicts, [(1, "chosen"), (7, "other-account"), (6, "other-account"), (5, "other-sender")]);
}

#[test]
fn carriers_are_chosen_by_priority_and_health() {
    use Health::{Disabled, Down, Poor, Stopped, Up};
    let served = route(1, &[candidate(3, 3, 1), candidate(1, 1, 1), candidate(2, 2, 1)]);
    let to = number("+4915112345678");
    for (healths, chosen, instead_of_1) in [
        ([Up, Up, Up], 1, Some(2)),
        ([Down, Up, Up], 2, Some(2)),
        ([Poor, Up, Up], 2, Some(2)),
        ([Poor, Down, Down], 1, None),
        ([Down, Poor, Up], 3, Some(3)),
        ([Down, Down, Down], 1, None),
        ([Stopped, Down, Down], 2, None),
        ([Disabled, Stopped, Disabled], 1, None),
        ([Disabled, Stopped, Poor], 3, Some(3)),
    ] {
        let health = |carrier: CarrierId| healths[usize::try_from(carrier.get()).unwrap() - 1];
        let ranking = served.rank(to, Occasion::Submission, None);
        let carrier = ranking.choose(&health).map(|(carrier, _)| carrier);
        assert_eq!(carrier, Some(CarrierId::new(chosen)), "{healths:?}");
        let instead = ranking.alternative_to(CarrierId::new(1), &health);
        assert_eq!(instead, instead_of_1.map(CarrierId::new), "{healths:?}");
    }
    let routes = Routes::new([(scope(None, None, prefix("")), served)]).unwrap();
    let (from, destination) = (sender("ACME"), Numbers::embedded().find(to));
    let query = RouteQuery { account: AccountId::new(1), from: &from, to, destination };
    let first_is_down = |carrier: CarrierId| if carrier.get() == 1 { Down } else { Up };
    let explanation = routes.explain(&query, None, &first_is_down).carriers;
    let explanation: Vec<_> = explanation
        .iter()
        .map(|one| (one.ranked.carrier().get(), one.health.as_str(), one.decision.as_str()))
        .collect();
    assert_eq!(explanation, [(1, "down", "skipped"), (2, "up", "chosen"), (3, "up", "in-reserve")]);
}

#[test]
fn rejected_message_fails_over_to_later_carriers_only() {
    let candidates = [candidate(1, 1, 1), candidate(2, 2, 1), candidate(3, 3, 1)];
    let to = number("+4915112345678");
    let rules = RouteRules { fail_over_refusals: true, ..RouteRules::default() };
    let willing = Route::new(RouteId::new(1), &candidates, rules).unwrap();
    let after = |carrier, healthy: &[u32]| {
        let health = |id: CarrierId| if healthy.contains(&id.get()) { Health::Up } else { Health::Down };
        let ranking = willing.rank(to, Occasion::Failover, None);
        ranking.next_after_rejection(CarrierId::new(carrier), &health).map(CarrierId::get)
    };
    assert_eq!(after(1, &[1, 2, 3]), Some(2));
    assert_eq!(after(1, &[1, 3]), Some(3));
    assert_eq!(after(2, &[1, 2, 3]), Some(3));
    assert_eq!(after(3, &[1, 2, 3]), None);
    assert_eq!(after(9, &[1, 2, 3]), None);
    let unwilling = route(1, &candidates).rank(to, Occasion::Failover, None);
    assert_eq!(unwilling.next_after_rejection(CarrierId::new(1), &|_: CarrierId| Health::Up), None);
}

#[test]
fn shares_follow_weights_and_a_recipient_keeps_its_carrier() {
    let served =
        route(1, &[candidate(1, 1, 70), candidate(2, 1, 20), candidate(3, 1, 10), candidate(4, 2, 1)]);
    let mut taken = [0_u32; 5];
    for subscriber in 0..10_000 {
        let to = Msisdn::from_number(4_915_100_000_000 + subscriber).unwrap();
        let choose = || served.rank(to, Occasion::Submission, None).choose(&|_: CarrierId| Health::Up);
        let (chosen, why) = choose().unwrap();
        assert_eq!(choose(), Some((chosen, why)));
        taken[usize::try_from(chosen.get()).unwrap()] += 1;
        let order = served.order(to);
        assert_eq!(order.last().map(|last| last.carrier.get()), Some(4));
        assert_eq!(order.len(), 4);
    }
    assert!((6_800..7_200).contains(&taken[1]), "{taken:?}");
    assert!((1_800..2_200).contains(&taken[2]), "{taken:?}");
    assert!((850..1_150).contains(&taken[3]), "{taken:?}");
    assert_eq!(taken[4], 0);
}

#[test]
fn route_has_one_to_eight_different_carriers() {
    let explanation = |carriers: &[u32]| {
        let candidates: Vec<_> = carriers.iter().map(|carrier| candidate(*carrier, 1, 1)).collect();
        Route::new(RouteId::new(5), &candidates, RouteRules::default()).map(|route| route.candidates().len())
    };
    assert_eq!(explanation(&[]), Err(RouteRefusal::NoCarrier));
    assert_eq!(explanation(&[1, 2, 1]), Err(RouteRefusal::CarrierTwice(CarrierId::new(1))));
    assert_eq!(explanation(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), Err(RouteRefusal::TooManyCarriers));
    assert_eq!(explanation(&[1, 2, 3, 4, 5, 6, 7, 8]), Ok(8));
    for weight in [0, WEIGHT_MAX + 1] {
        let refused = Route::new(RouteId::new(5), &[candidate(1, 1, weight)], RouteRules::default());
        assert_eq!(refused, Err(RouteRefusal::Weight));
    }
}
