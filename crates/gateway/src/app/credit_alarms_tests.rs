//! Unit tests of `credit_alarms.rs`.

use super::*;
use hermod_domain::catalogue::{Countries, Tier};
use std::collections::BTreeSet;

fn money(text: &str) -> Money {
    Money::parse(text).unwrap()
}

fn account(credit_limit: &str, warn_below: Option<&str>) -> Account {
    Account {
        currency: "EUR".parse().unwrap(),
        credit_limit: money(credit_limit),
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
        warn_below: warn_below.map(money),
        urgent_below: None,
        suspended: None,
    }
}

#[test]
fn account_is_low_below_its_warning_or_with_a_tenth_of_its_credit_left() {
    for (limit, warning, available, expect) in [
        // Nothing says how much is enough.
        ("0", None, "0", None),
        ("0", Some("10"), "10", None),
        ("0", Some("10"), "9.99", Some("its warning at 10 EUR")),
        ("1000", None, "100", None),
        ("1000", None, "99.99", Some("10 % of its credit limit of 1000 EUR")),
        // Its own warning replaces the share.
        ("1000", Some("10"), "50", None),
        ("1000", Some("10"), "9", Some("its warning at 10 EUR")),
    ] {
        let account = account(limit, warning);
        let actual = mark_above(&account, money(available));
        assert_eq!(actual.as_deref(), expect, "{limit} {warning:?} {available}");
        assert_eq!(has_mark(&account), limit != "0" || warning.is_some());
    }
}

#[test]
fn rejections_are_over_with_more_money_or_after_a_day_without_one() {
    let at = Timestamp::from_millis(1_794_700_800_000);
    let rejection = CreditRejection { first_at: at, last_at: at, count: 3, available: money("0.01") };
    for (available, hours, expect) in
        [("0.01", 0, false), ("0", 23, false), ("0.02", 0, true), ("100", 1, true), ("0.01", 24, true)]
    {
        let now = at.plus(Duration::from_secs(hours * 3_600));
        assert_eq!(is_over(&rejection, money(available), now), expect, "{available} {hours}");
    }
}

#[test]
fn closed_and_suspended_accounts_are_nobodys_alarm() {
    let open = account("0", None);
    assert!(can_send(&open));
    assert!(!can_send(&Account { closed: true, ..open.clone() }));
    assert!(!can_send(&Account { suspended: Some("unpaid".to_owned()), ..open }));
}
