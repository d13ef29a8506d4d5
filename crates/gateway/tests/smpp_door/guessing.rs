//! Guessing passwords: slow for whoever tries, and cheap for us once the budget is spent.

use crate::house::{House, Stranger, bind, bind_from};
use hermod_gateway::config::{Config, Network, Period};
use hermod_smpp::CommandStatus;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

const BUDGET: u32 = 4;

async fn tries(house: &House, password: &str) -> CommandStatus {
    let mut stranger = Stranger::at(house.plain).await;
    stranger.say(&bind("shop", password)).await;
    let status = stranger.hears().await.unwrap().status;
    assert!(stranger.hears().await.is_none(), "a refused bind ends the connection");
    status
}

#[tokio::test]
async fn beyond_the_budget_guesses_are_refused_late_unlooked_at_and_cheaply() {
    let house = House::open(|config| {
        config.smpp.bind_attempts = BUDGET;
        config.smpp.bind_timeout = Period::from_secs(10);
    })
    .await;
    for guess in 0..BUDGET {
        assert_eq!(tries(&house, &format!("wrong{guess}")).await, CommandStatus::INVPASWD);
    }
    let began = Instant::now();
    let mut all = JoinSet::new();
    for guess in 0..200 {
        let address = house.plain;
        all.spawn(async move {
            let mut stranger = Stranger::at(address).await;
            stranger.say(&bind("shop", &format!("guess{guess}"))).await;
            stranger.hears().await.map(|heard| heard.status)
        });
    }
    let statuses = all.join_all().await;
    assert!(statuses.iter().all(|status| *status == Some(CommandStatus::BINDFAIL)), "{statuses:?}");
    assert!(began.elapsed() >= Duration::from_secs(1), "the answer comes late");
    let refused = tries(&house, "secret08").await;
    assert_eq!(refused, CommandStatus::BINDFAIL, "the right one as well: it will come again later");
    house.close().await;
}

/// The shop's owner, who has bound before, and the bank's, whose address is on its allow-list.
const SHOP_OWNER: u8 = 201;
const BANK_OWNER: u8 = 202;

fn behind_a_proxy(config: &mut Config) {
    config.smpp.trusted_proxies = vec![Network::parse("127.0.0.1").unwrap()];
    config.smpp.bind_timeout = Period::from_secs(20);
}

/// What a bind from an address is answered.
async fn binds(address: SocketAddr, last: u8, system_id: &str, password: &str) -> CommandStatus {
    let mut caller = Stranger::at(address).await;
    caller.say(&bind_from(last, system_id, password)).await;
    caller.hears().await.unwrap().status
}

/// R11 of the reliability figures, in small: hardly anything is hashed, and nobody honest is locked out.
#[tokio::test]
async fn brute_force_from_200_addresses_costs_few_hashes_and_locks_no_owner_out() {
    const ROUNDS: u32 = 3;
    let house = House::open(|config| {
        behind_a_proxy(config);
        config.smpp.bind_attempts_per_system_id = 1;
    })
    .await;
    let address = house.plain;
    assert_eq!(binds(address, SHOP_OWNER, "shop", "secret08").await, CommandStatus::OK);
    let hashed = Arc::new(AtomicU32::new(0));
    for round in 0..ROUNDS {
        let mut all = JoinSet::new();
        for last in 1..=200 {
            let hashed = hashed.clone();
            all.spawn(async move {
                let victim = if last % 2 == 0 { "shop" } else { "bank" };
                let status = binds(address, last, victim, &format!("guess{round}")).await;
                hashed.fetch_add(u32::from(status == CommandStatus::INVPASWD), Ordering::Relaxed);
                assert!([CommandStatus::INVPASWD, CommandStatus::BINDFAIL].contains(&status), "{status}");
            });
        }
        let shop = binds(address, SHOP_OWNER, "shop", "secret08").await;
        let bank = binds(address, BANK_OWNER, "bank", "secret09").await;
        assert_eq!((shop, bank), (CommandStatus::OK, CommandStatus::OK), "round {round}");
        all.join_all().await;
    }
    let (hashed, attempts) = (hashed.load(Ordering::Relaxed), ROUNDS * 200);
    assert!(hashed * 100 <= attempts, "{hashed} of {attempts} guesses were hashed");
    house.close().await;
}

#[tokio::test]
async fn first_bind_from_an_allow_listed_address_goes_before_strangers_that_fill_the_queue() {
    let house = House::open(behind_a_proxy).await;
    let address = house.plain;
    let (hashed, shed) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let mut all = JoinSet::new();
    for last in 1..=200 {
        let (hashed, shed) = (hashed.clone(), shed.clone());
        all.spawn(async move {
            let count = match binds(address, last, &format!("nobody{last}"), "guess").await {
                CommandStatus::INVPASWD => hashed,
                CommandStatus::BINDFAIL => shed,
                other => panic!("{other}"),
            };
            count.fetch_add(1, Ordering::Relaxed);
        });
    }
    while shed.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(binds(address, BANK_OWNER, "bank", "secret09").await, CommandStatus::OK);
    let before = hashed.load(Ordering::Relaxed);
    all.join_all().await;
    let in_all = hashed.load(Ordering::Relaxed);
    assert!(before + 20 <= in_all, "{before} of {in_all} strangers were hashed before a customer");
    house.close().await;
}

#[tokio::test]
async fn binds_of_impossible_shape_are_refused_late_beyond_the_budget() {
    let house = House::open(|config| {
        config.smpp.bind_attempts = BUDGET;
        config.smpp.bind_timeout = Period::from_secs(10);
    })
    .await;
    let cut = [&17_u32.to_be_bytes()[..], &bind("shop", "secret08")[4..17]].concat();
    for octets in [&bind("", "secret08")[..], &cut, &bind("", "x"), &cut] {
        let mut stranger = Stranger::at(house.plain).await;
        stranger.say(octets).await;
        let status = stranger.hears().await.unwrap().status;
        assert!([CommandStatus::INVSYSID, CommandStatus::INVCMDLEN].contains(&status), "{status}");
    }
    assert_eq!(tries(&house, "secret08").await, CommandStatus::BINDFAIL);
    house.close().await;
}
