//! Delivery rates from numbers of parts.

use super::*;

#[test]
fn rate_is_known_from_a_hundred_receipts_on_and_compared_in_steps() {
    for (delivered, ended, steps) in [
        (99, 99, None),
        (100, 100, Some(0)),
        (951, 1_000, Some(0)),
        (950, 1_000, Some(1)),
        (901, 1_000, Some(1)),
        (900, 1_000, Some(2)),
        (0, 100, Some(20)),
        // More delivered than ended cannot be, and is no better than all.
        (200, 100, Some(0)),
    ] {
        let rate = DeliveryRate::new(delivered, ended);
        assert_eq!(rate.map(DeliveryRate::steps_below_best), steps, "{delivered} of {ended}");
    }
}

#[test]
fn share_of_an_amount_is_its_expected_cost() {
    let rate = DeliveryRate::new(80, 100).unwrap();
    assert_eq!(rate.share_of(Money::from_micros(60_000)), Money::from_micros(48_000));
    assert_eq!(rate.share_of(Money::from_micros(i64::MAX)).as_micros(), 7_378_697_629_483_820_645);
}

#[test]
fn rates_are_by_carrier_and_country() {
    let (north, south) = (CarrierId::new(1), CarrierId::new(2));
    let (germany, france) = (Country::parse("DE").ok(), Country::parse("FR").ok());
    let rates = DeliveryRates::collect([
        (north, germany, 40, 50),
        (north, germany, 50, 50),
        (north, france, 50, 50),
        (south, germany, 30, 200),
        (south, None, 100, 100),
    ]);
    for (carrier, country, expect) in [
        (north, germany, DeliveryRate::new(90, 100)),
        (north, france, None),
        (south, germany, DeliveryRate::new(150, 1_000)),
        (south, None, DeliveryRate::new(100, 100)),
    ] {
        assert_eq!(rates.find(carrier, country), expect, "{carrier} {country:?}");
    }
}
