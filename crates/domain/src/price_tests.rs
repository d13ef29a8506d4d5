//! The cost of messages, as tables.

use super::*;
use crate::numbers::Numbers;

const NOW: Timestamp = Timestamp::from_millis(1_750_000_000_000);

/// `49`, `262-01`, `mcc 262`, `US` or nothing, then a price, then optionally `from` and a number of days from now.
fn list(prices: &[&str]) -> Result<PriceList, PriceRefusal> {
    PriceList::new(prices.iter().map(|line| {
        let (area, price) = line.split_once(" = ").unwrap();
        let (price, days) = price.split_once(" from ").unwrap_or((price, ""));
        let area = match area.strip_prefix("mcc ") {
            Some(mcc) => Area::Mcc(Mcc::parse(mcc).unwrap()),
            None if Country::parse(area).is_ok() => Area::Country(Country::parse(area).unwrap()),
            None if area.contains('-') => Area::Network(Network::parse(area).unwrap()),
            None => Area::Prefix(Prefix::parse(area.trim()).unwrap()),
        };
        let from = match days {
            "" => Timestamp::EPOCH,
            days => Timestamp::from_millis(NOW.as_millis() + days.parse::<i64>().unwrap() * 86_400_000),
        };
        PriceEntry { area, per_part: Money::parse(price).unwrap(), from }
    }))
}

#[track_caller]
fn check(list: &PriceList, to: &str, network: &str, parts: u8, expect: Option<&str>) {
    check_at(list, to, network, parts, NOW, expect);
}

#[track_caller]
fn check_at(list: &PriceList, to: &str, network: &str, parts: u8, now: Timestamp, expect: Option<&str>) {
    let network = Network::parse(network).ok();
    let mcc = network.map(|network| network.mcc);
    let to_number = Msisdn::parse(to).unwrap();
    let country = Numbers::embedded().find(to_number).country;
    let quote = list.quote(PriceQuery { to: to_number, network, mcc, country, now }, parts);
    let result = quote.map(|quote| format!("{} x {} = {}", quote.parts, quote.per_part, quote.cost));
    assert_eq!(result.as_deref(), expect, "{to}");
}

#[test]
fn message_costs_the_price_per_part_times_its_parts() {
    let list = list(&["49 = 0.0375", "49151 = 0.05", "1 = 0"]).unwrap();
    check(&list, "+498912345678", "", 1, Some("1 x 0.0375 = 0.0375"));
    check(&list, "+498912345678", "", 3, Some("3 x 0.0375 = 0.1125"));
    check(&list, "+4915112345678", "", 2, Some("2 x 0.05 = 0.1"));
    check(&list, "+12025550123", "", 11, Some("11 x 0 = 0"));
    check(&list, "+33612345678", "", 1, None);
}

#[test]
fn most_specific_price_applies() {
    let list = list(&[" = 0.09", "mcc 262 = 0.08", "49 = 0.07", "49151 = 0.06", "262-01 = 0.05"]).unwrap();
    check(&list, "+4915112345678", "262-01", 1, Some("1 x 0.05 = 0.05"));
    check(&list, "+4915112345678", "262-02", 1, Some("1 x 0.06 = 0.06"));
    check(&list, "+4917012345678", "262-02", 1, Some("1 x 0.07 = 0.07"));
    check(&list, "+8829912345678", "262-02", 1, Some("1 x 0.08 = 0.08"));
    check(&list, "+33612345678", "208-01", 1, Some("1 x 0.09 = 0.09"));
    check(&list, "+33612345678", "", 1, Some("1 x 0.09 = 0.09"));
}

#[test]
fn own_list_applies_wherever_it_covers_the_destination() {
    let default = Arc::new(list(&["49 = 0.04", "49151 = 0.08", "262-01 = 0.01", "44 = 0.03"]).unwrap());
    let own = list(&["49 = 0.05"]).unwrap().over(default);
    check(&own, "+498912345678", "", 1, Some("1 x 0.05 = 0.05"));
    check(&own, "+4915112345678", "262-01", 1, Some("1 x 0.05 = 0.05"));
    check(&own, "+447700900123", "", 1, Some("1 x 0.03 = 0.03"));
    check(&own, "+33612345678", "", 1, None);
}

#[test]
fn price_applies_from_its_date_until_the_next_one() {
    let list = list(&[
        "49 = 0.04",
        "49 = 0.05 from 10",
        "49151 = 0.02 from 5",
        "49151 = 0.03 from 20",
        "262-07 = 0.01 from 30",
        "44 = 0.06 from 5",
    ])
    .unwrap();
    let on = |day: i64| Timestamp::from_millis(NOW.as_millis() + day * 86_400_000);
    for (day, expect) in [(0, "0.04"), (4, "0.04"), (5, "0.02"), (19, "0.02"), (20, "0.03"), (40, "0.01")] {
        let expect = format!("1 x {expect} = {expect}");
        check_at(&list, "+4915112345678", "262-07", 1, on(day), Some(&expect));
    }
    check_at(&list, "+498912345678", "", 1, on(9), Some("1 x 0.04 = 0.04"));
    check_at(&list, "+498912345678", "", 1, on(10), Some("1 x 0.05 = 0.05"));
    check_at(&list, "+447700900123", "", 1, on(4), None);
    check_at(&list, "+447700900123", "", 1, on(5), Some("1 x 0.06 = 0.06"));
}

#[test]
fn duplicate_and_out_of_range_prices_are_refused() {
    let result = |prices: &[&str]| list(prices).unwrap_err().to_string();
    assert_eq!(result(&["49 = 1", "49 = 2"]), "there are two prices for prefix \"49\" from the same time on");
    assert_eq!(result(&["49 = -0.01"]), "the price -0.01 for prefix \"49\" is not between 0 and 1000");
    assert_eq!(
        result(&["262-01 = 1000.000001"]),
        "the price 1000.000001 for network 262-01 is not between 0 and 1000"
    );
    let dearest = list(&["49 = 1000"]).unwrap();
    check(&dearest, "+498912345678", "", 255, Some("255 x 1000 = 255000"));
}

#[test]
fn country_price_applies_where_the_network_is_unknown() {
    let list = list(&[" = 0.09", "US = 0.01", "CA = 0.02", "1204 = 0.03"]).unwrap();
    check(&list, "+12025550123", "", 1, Some("1 x 0.01 = 0.01"));
    check(&list, "+14165550123", "", 1, Some("1 x 0.02 = 0.02"));
    check(&list, "+12045550123", "", 1, Some("1 x 0.03 = 0.03"));
    check(&list, "+4915112345678", "", 1, Some("1 x 0.09 = 0.09"));
}

#[test]
fn found_price_names_its_area() {
    let everyone = Arc::new(list(&[" = 0.09", "49 = 0.05", "49151 = 0.04 from 10"]).unwrap());
    let own = list(&["US = 0.01"]).unwrap().over(everyone);
    let found = |to: &str, days: i64| {
        let to = Msisdn::parse(to).unwrap();
        let country = Numbers::embedded().find(to).country;
        let now = Timestamp::from_millis(NOW.as_millis() + days * 86_400_000);
        let found = own.find(PriceQuery { to, network: None, mcc: None, country, now }).unwrap();
        format!("{} {} {}", found.price.area, found.price.per_part, found.is_own)
    };
    assert_eq!(found("+12025550123", 0), "country US 0.01 true");
    assert_eq!(found("+4915112345678", 0), "prefix \"49\" 0.05 false", "the longer one has not begun");
    assert_eq!(found("+4915112345678", 11), "prefix \"49151\" 0.04 false");
    assert_eq!(found("+33612345678", 0), "prefix \"\" 0.09 false");
}

#[test]
fn entries_are_those_of_both_lists_each_once() {
    let common = list(&["49 = 0.04", "49151 = 0.05 from 3", "US = 0.06"]).unwrap();
    let own = list(&["49 = 0.03", " = 0.09"]).unwrap().over(Arc::new(common));
    let mut prices: Vec<String> = own.entries().map(|entry| entry.per_part.to_string()).collect();
    prices.sort();
    assert_eq!(prices, ["0.03", "0.04", "0.05", "0.06", "0.09"]);
}
