//! Unit tests of `area.rs`.

use super::*;
use crate::numbers::Numbers;

fn area(text: &str) -> Area {
    match text.strip_prefix("mcc") {
        Some(mcc) => Area::Mcc(Mcc::parse(mcc).unwrap()),
        None if Country::parse(text).is_ok() => Area::Country(Country::parse(text).unwrap()),
        None if text.contains('-') => Area::Network(Network::parse(text).unwrap()),
        None => Area::Prefix(Prefix::parse(text).unwrap()),
    }
}

#[test]
fn precedence_is_network_prefix_mcc_country_everywhere() {
    let to = Msisdn::parse("+4915112345678").unwrap();
    let destination = Numbers::embedded().find(to);
    let network = destination.network.expect("its range has a network").to_string();
    let ranked = [network.as_str(), "49151", "49", "mcc262", "DE", ""];
    for skipped in 0..ranked.len() {
        let listed = &ranked[skipped..];
        let table = AreaTable::build(listed.iter().map(|text| (area(text), *text))).unwrap();
        assert_eq!(table.find(to, &destination), Some((area(listed[0]), &listed[0])));
        assert!(listed.iter().all(|text| area(text).covers(to, &destination)), "{listed:?}");
        assert!(listed.is_sorted_by(|one, other| area(one).rank() > area(other).rank()));
    }
    let elsewhere = Msisdn::parse("+33612345678").unwrap();
    let table = AreaTable::build([(area("49"), 1), (area("mcc262"), 2)]).unwrap();
    assert_eq!(table.find(elsewhere, &Numbers::embedded().find(elsewhere)), None);
    assert!(!area("49").covers(elsewhere, &Numbers::embedded().find(elsewhere)));
}

#[test]
fn country_applies_where_the_network_is_unknown() {
    let to = Msisdn::parse("+12025550123").unwrap();
    let destination = Numbers::embedded().find(to);
    assert_eq!((destination.network, destination.mcc()), (None, None), "the case that an MCC cannot match");
    let table =
        AreaTable::build([(area("mcc310"), 1), (area("US"), 2), (area("CA"), 3), (area(""), 4)]).unwrap();
    assert_eq!(table.find(to, &destination), Some((area("US"), &2)));
}

#[test]
fn duplicate_areas_are_refused() {
    for text in ["49", "", "262-01", "mcc262", "DE"] {
        let refused = AreaTable::build([(area(text), 1), (area(text), 2)]).map(drop);
        assert_eq!(refused, Err(DuplicateArea(area(text))));
    }
}
