//! Unit tests of `account_metrics.rs`.

use super::*;
use crate::clock::Clock;
use crate::secrets::Pepper;
use hermod_domain::catalogue::{Account, Catalogue, Countries, Documents, Tier};
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_store::{OpenOptions, Store};
use std::collections::BTreeSet;

const START: Timestamp = Timestamp::from_millis(1_794_700_800_000);

/// Returns a gateway with an account, on an empty store in this folder.
fn gateway(folder: &std::path::Path) -> Gateway {
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
    let accounts = vec![(AccountId::new(1), "shop".to_owned(), account)];
    let catalogue = Catalogue::build(Documents { accounts, ..Documents::default() }).unwrap();
    let options = OpenOptions {
        folder: folder.to_owned(),
        server: None,
        low_water_bytes: 0,
        in_doubt_wait: Duration::from_secs(15),
        record: false,
        now: START,
    };
    let store = Store::open(&options).unwrap();
    Gateway::new(Clock::manual(START), store, Pepper::new(b"pepper"), catalogue, Duration::from_secs(60))
}

#[tokio::test]
async fn metrics_that_cannot_be_read_keep_their_last_values_and_say_their_age() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = gateway(folder.path());
    let last = LastAccountMetrics::default();
    let waiting = r#"hermod_account_waiting_parts{account="shop"} 0"#;
    let text = last.text(&gateway).await;
    assert!(text.contains(waiting) && text.contains("\nhermod_account_metrics_age_seconds 0\n"), "{text}");
    gateway.store.close().await.unwrap();
    for (more, age) in [(KEPT / 5, 1), (KEPT, 6), (KEPT, 11)] {
        gateway.clock.advance(more);
        let text = last.text(&gateway).await;
        let age = format!("\nhermod_account_metrics_age_seconds {age}\n");
        assert!(text.contains(waiting) && text.contains(&age), "{text}");
    }
    let text = LastAccountMetrics::default().text(&gateway).await;
    assert!(text.contains("\nhermod_account_metrics_age_seconds +Inf\n"), "it was never read: {text}");
}

#[test]
fn accounts_beyond_the_limit_are_those_with_the_least_traffic() {
    let accounts = |ids: std::ops::RangeInclusive<u32>| ids.map(AccountId::new).collect::<Vec<_>>();
    let last = u32::try_from(ACCOUNTS_MAX).unwrap() + 2;
    let busy = SubmittedMessages { accepted: 1, refused: 1 };
    let submitted = HashMap::from([
        (AccountId::new(last), busy),
        (AccountId::new(last - 1), SubmittedMessages { accepted: 3, ..busy }),
    ]);
    assert_eq!(choose(accounts(1..=3), &submitted), (accounts(1..=3), 0));
    let (shown, left_out) = choose(accounts(1..=last), &submitted);
    assert_eq!((shown.len(), left_out), (ACCOUNTS_MAX, 2));
    assert_eq!(shown[..3], [last - 1, last, 1].map(AccountId::new));
    assert_eq!(shown.last(), Some(&AccountId::new(last - 4)));
}

#[test]
fn metrics_name_the_account_and_leave_out_what_is_unknown() {
    let of = |name, available: Option<&str>, delivered| AccountMetrics {
        name,
        currency: "EUR".to_owned(),
        available: available.map(str::to_owned),
        waiting: 7,
        submitted: SubmittedMessages { accepted: 5, refused: 2 },
        delivered,
    };
    let text = written(&[of("shop", Some("12.5"), Some(0.75)), of("bank", None, None)], 3);
    let samples: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let expect = [
        r#"hermod_account_waiting_parts{account="shop"} 7"#,
        r#"hermod_account_waiting_parts{account="bank"} 7"#,
        r#"hermod_account_accepted_messages_total{account="shop"} 5"#,
        r#"hermod_account_accepted_messages_total{account="bank"} 5"#,
        r#"hermod_account_refused_messages_total{account="shop"} 2"#,
        r#"hermod_account_refused_messages_total{account="bank"} 2"#,
        r#"hermod_account_available_balance{account="shop",currency="EUR"} 12.5"#,
        r#"hermod_account_delivered_ratio{account="shop"} 0.75"#,
        "hermod_accounts_without_metrics 3",
    ];
    assert_eq!(samples, expect);
}

#[test]
fn delivered_share_is_of_messages_that_have_ended() {
    let figures = Figures { accepted: 9, delivered: 3, expired: 1, ..Figures::default() };
    assert_eq!(delivered_share(&figures), Some(0.75));
    assert_eq!(delivered_share(&Figures { accepted: 9, ..Figures::default() }), None);
}
