//! Unit tests of `account_traffic.rs`.

use super::*;
use hermod_domain::catalogue::{Account, Countries, Documents, Tier};
use hermod_domain::money::Money;
use std::collections::BTreeSet;

fn catalogue(accounts: &[u32]) -> Catalogue {
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
    let accounts = accounts.iter().map(|id| (AccountId::new(*id), format!("shop-{id}"), account.clone()));
    Catalogue::build(Documents { accounts: accounts.collect(), ..Documents::default() }).unwrap()
}

#[test]
fn counts_go_on_when_the_setup_changes_and_are_exact_from_many_threads() {
    let traffic = AccountTraffic::default();
    let [shop, bank, unknown] = [1, 2, 3].map(AccountId::new);
    traffic.follow(&catalogue(&[1]));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..1_000).for_each(|_| traffic.count_accepted(shop)));
        }
        scope.spawn(|| (0..50).for_each(|_| traffic.follow(&catalogue(&[1, 2]))));
    });
    traffic.count_refused(bank);
    traffic.count_accepted(unknown);
    let expect = [
        (shop, SubmittedMessages { accepted: 4_000, refused: 0 }),
        (bank, SubmittedMessages { accepted: 0, refused: 1 }),
    ];
    assert_eq!(traffic.counts(), HashMap::from(expect));
    traffic.follow(&catalogue(&[2]));
    assert_eq!(traffic.counts(), HashMap::from([expect[1]]), "the account was removed");
}
