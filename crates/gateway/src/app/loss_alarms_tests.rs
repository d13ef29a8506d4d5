//! Unit tests of `loss_alarms.rs`.

use super::*;
use hermod_domain::area::Area;
use hermod_domain::catalogue::{Account, Carrier, Countries, Documents, RouteCarrier, RouteEntry, Tier};
use hermod_domain::ids::CarrierId;
use hermod_domain::money::Money;
use hermod_domain::numbers::Country;
use hermod_domain::sender::Sender;
use hermod_domain::time::Timestamp;
use std::collections::BTreeSet;

const SHOP: AccountId = AccountId::new(1);
const AT: Timestamp = Timestamp::from_millis(1_794_700_800_000);

fn catalogue() -> Catalogue {
    let account = Account {
        currency: "EUR".parse().unwrap(),
        credit_limit: Money::ZERO,
        minimum: Money::ZERO,
        verified: true,
        terms: None,
        price_list: None,
        countries: Countries::All,
        countries_off: BTreeSet::new(),
        closed: false,
        tier: Tier::default(),
        smpp_rate: None,
        webhooks: None,
        stop_words: Vec::new(),
        warn_below: None,
        urgent_below: None,
        suspended: None,
    };
    let carrier = Carrier {
        address: "127.0.0.1:1".to_owned(),
        system_id: "hermod".to_owned(),
        password: String::new(),
        system_type: String::new(),
        window: 10,
        parts_per_second: 100,
        response_timeout_ms: 10_000,
        enquire_link_ms: 30_000,
        disabled: false,
        draining: None,
        tls: None,
        profile: Default::default(),
    };
    let route = |id, country: Option<&str>, sender: Option<&str>| {
        let entry = RouteEntry {
            account: None,
            sender: sender.map(|sender| Sender::parse(sender).unwrap()),
            prefix: country.is_none().then(|| "".parse().unwrap()),
            network: None,
            mcc: None,
            country: country.map(|country| Country::parse(country).unwrap()),
            carriers: vec![RouteCarrier { carrier: CarrierId::new(1), priority: 1, weight: 1 }],
            in_doubt: None,
            fail_over_refusals: false,
            fail_over_after_ms: None,
            costs: Default::default(),
        };
        (RouteId::new(id), entry)
    };
    Catalogue::build(Documents {
        accounts: vec![(SHOP, "shop".to_owned(), account)],
        carriers: vec![(CarrierId::new(1), "acme".to_owned(), carrier)],
        routes: vec![route(1, Some("DE"), None), route(2, None, Some("Shop"))],
        ..Documents::default()
    })
    .unwrap()
}

#[test]
fn alarm_names_account_and_route_and_is_not_raised_for_those_that_are_gone() {
    let losses = |count| Losses { first_at: AT, last_at: AT, count, margin: Money::from_micros(-2_000) };
    let detail = |messages: &str, area: &str| {
        format!(
            "{messages} less than the margin of the route for {area} since 2026-11-15T00:00:00Z; of the price of the last one \
             -0.002 EUR remained"
        )
    };
    for (account, route, count, expect) in [
        (1, 1, 1, Some(("shop/DE", detail("1 message left", "country DE")))),
        (
            1,
            2,
            7,
            Some(("shop/*@Shop", detail("7 messages left", &Area::Prefix("".parse().unwrap()).to_string()))),
        ),
        (1, 3, 1, None),
        (2, 1, 1, None),
    ] {
        let found = cause(&catalogue(), AccountId::new(account), RouteId::new(route), &losses(count));
        assert_eq!(found, expect.map(|(about, detail)| (about.to_owned(), detail)), "{account} {route}");
    }
}

#[test]
fn losses_are_forgotten_when_none_is_noted_any_more() {
    let noted = crate::live_status::LossMaking::default();
    let route = RouteId::new(1);
    let later = AT.plus(Duration::from_secs(60));
    noted.note(SHOP, route, Money::from_micros(-1), AT);
    noted.note(SHOP, route, Money::from_micros(-2), later);
    let margin = Money::from_micros(-2);
    assert_eq!(
        noted.since(later),
        [(SHOP, route, Losses { first_at: AT, last_at: later, count: 2, margin })]
    );
    assert!(noted.since(later.plus(Duration::from_millis(1))).is_empty());
    assert!(noted.since(AT).is_empty(), "it was forgotten");
}
