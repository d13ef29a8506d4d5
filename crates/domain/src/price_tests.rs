//! The cost of messages, as tables.

use super::*;
use crate::numbers::{Country, Mcc, Network, Numbers};
use crate::prefix::Prefix;

const NOW: Timestamp = Timestamp::from_millis(1_750_000_000_000);

fn on(day: i64) -> Timestamp {
    Timestamp::from_millis(NOW.as_millis() + day * 86_400_000)
}

/// `49`, `262-01`, `mcc 262`, `US` or nothing, then a price or `closed`, then optionally `from` or `until` and a number of days from
/// now.
fn line(line: &str) -> (Area, Dated<PerPart>) {
    let (area, rest) = line.split_once(" = ").unwrap();
    let area = match area.strip_prefix("mcc ") {
        Some(mcc) => Area::Mcc(Mcc::parse(mcc).unwrap()),
        None if Country::parse(area).is_ok() => Area::Country(Country::parse(area).unwrap()),
        None if area.contains('-') => Area::Network(Network::parse(area).unwrap()),
        None => Area::Prefix(Prefix::parse(area.trim()).unwrap()),
    };
    let mut words = rest.split(' ');
    let value = words.next().filter(|price| *price != "closed").map(|price| Money::parse(price).unwrap());
    let mut price = Dated { from: Timestamp::EPOCH, until: None, value };
    while let (Some(word), Some(day)) = (words.next(), words.next()) {
        let time = on(day.parse().unwrap());
        match word {
            "from" => price.from = time,
            _ => price.until = Some(time),
        }
    }
    (area, price)
}

fn list(prices: &[&str]) -> Result<Prices, PriceRefusal> {
    Prices::new(PriceOwner::General, prices.iter().map(|price| line(price)))
}

fn own(prices: &[&str]) -> Prices {
    Prices::new(PriceOwner::Account, prices.iter().map(|price| line(price))).unwrap()
}

#[track_caller]
fn check(list: &Prices, to: &str, network: &str, parts: u8, expect: Option<&str>) {
    check_at(list, to, network, parts, NOW, expect);
}

#[track_caller]
fn check_at(list: &Prices, to: &str, network: &str, parts: u8, now: Timestamp, expect: Option<&str>) {
    let to_number = Msisdn::parse(to).unwrap();
    let country = Numbers::embedded().find(to_number).country;
    let destination = Destination { country, operator: "", network: Network::parse(network).ok() };
    let found = list.find(to_number, &destination, now).and_then(|found| found.price.value);
    let found = found.zip(list.cost(to_number, &destination, now, parts));
    let result = found.map(|(per_part, cost)| format!("{parts} x {per_part} = {cost}"));
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
    let own = own(&["49 = 0.05"]).over(default);
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
    assert_eq!(result(&["49 = 1 from 2 until 2"]), "the price for prefix \"49\" ends before it begins");
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
fn found_price_names_its_area_and_owner() {
    let list_id = PriceListId::new(3);
    let everyone = [" = 0.09", "49 = 0.05", "49151 = 0.04 from 10"];
    let list = Prices::new(PriceOwner::List(list_id), everyone.iter().map(|price| line(price))).unwrap();
    let own = own(&["US = 0.01"]).over(Arc::new(list));
    let found = |to: &str, day: i64| {
        let to = Msisdn::parse(to).unwrap();
        let found = own.find(to, &Numbers::embedded().find(to), on(day)).unwrap();
        (found.owner, format!("{} {}", found.area, found.price.value.unwrap()))
    };
    let of_list = |what: &str| (PriceOwner::List(list_id), what.to_owned());
    assert_eq!(found("+12025550123", 0), (PriceOwner::Account, "country US 0.01".to_owned()));
    assert_eq!(found("+4915112345678", 0), of_list("prefix \"49\" 0.05"), "the longer one has not begun");
    assert_eq!(found("+4915112345678", 11), of_list("prefix \"49151\" 0.04"));
    assert_eq!(found("+33612345678", 0), of_list("prefix \"\" 0.09"));
}

#[test]
fn entries_are_those_of_both_tables_each_once() {
    let common = list(&["49 = 0.04", "49151 = 0.05 from 3", "US = 0.06"]).unwrap();
    let own = own(&["49 = 0.03", " = closed"]).over(Arc::new(common));
    let mut prices: Vec<String> = own
        .entries()
        .map(|(_, price)| price.value.map(|price| price.to_string()).unwrap_or_default())
        .collect();
    prices.sort();
    assert_eq!(prices, ["", "0.03", "0.04", "0.05", "0.06"]);
}

#[test]
fn ended_price_gives_way_to_an_earlier_one_or_to_a_broader_area() {
    let list = list(&[
        "4 = 0.09",
        "49 = 0.05",
        "49 = 0.03 from 1 until 3",
        "4915 = 0.02 until 2",
        "49151 = 0.01 until 2",
    ]);
    let list = list.unwrap();
    for (day, expect) in [(0, "0.01"), (1, "0.01"), (2, "0.03"), (3, "0.05")] {
        check_at(&list, "+4915112345678", "", 1, on(day), Some(&format!("1 x {expect} = {expect}")));
    }
}

#[test]
fn closed_destination_has_no_price_although_a_broader_area_has_one() {
    let general = Arc::new(list(&["4915 = 0.02", " = 0.09"]).unwrap());
    let own = own(&["49 = 0.05", "4915 = closed from 1 until 2"]).over(general);
    for (day, expect) in [(0, Some("1 x 0.05 = 0.05")), (1, None), (2, Some("1 x 0.05 = 0.05"))] {
        check_at(&own, "+4915112345678", "", 1, on(day), expect);
    }
    check_at(&own, "+498912345678", "", 1, on(1), Some("1 x 0.05 = 0.05"));
}
