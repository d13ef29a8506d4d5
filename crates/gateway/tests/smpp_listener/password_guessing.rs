//! Password guessing over SMPP: slow responses and no hashing beyond the budget.

use crate::fixture::{RawClient, TestGateway, bind, bind_from};
use hermod_gateway::config::{Config, IpNetwork};
use hermod_smpp::CommandStatus;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

const BUDGET: u32 = 4;

async fn try_bind(gateway: &TestGateway, password: &str) -> CommandStatus {
    let mut client = RawClient::at(gateway.plain).await;
    client.write(&bind("shop", password)).await;
    let status = client.read_header().await.unwrap().status;
    assert!(client.read_header().await.is_none(), "a rejected bind closes the connection");
    status
}

#[tokio::test]
async fn bind_attempts_over_the_budget_are_rejected_late_without_hashing() {
    let gateway = TestGateway::open(|config| {
        config.smpp.bind_attempts = BUDGET;
    })
    .await;
    for guess in 0..BUDGET {
        assert_eq!(try_bind(&gateway, &format!("wrong{guess}")).await, CommandStatus::INVPASWD);
    }
    let began = Instant::now();
    let mut all = JoinSet::new();
    for guess in 0..200 {
        let address = gateway.plain;
        all.spawn(async move {
            let mut client = RawClient::at(address).await;
            client.write(&bind("shop", &format!("guess{guess}"))).await;
            client.read_header().await.map(|read| read.status)
        });
    }
    let statuses = all.join_all().await;
    assert!(statuses.iter().all(|status| *status == Some(CommandStatus::BINDFAIL)), "{statuses:?}");
    assert!(began.elapsed() >= Duration::from_secs(1), "the response is delayed");
    let refused = try_bind(&gateway, "secret08").await;
    assert_eq!(refused, CommandStatus::BINDFAIL, "the right password is rejected as well");
    gateway.close().await;
}

/// The addresses of the shop, which has bound before, and of the bank, which is on the allow-list.
const SHOP_OWNER: u8 = 201;
const BANK_OWNER: u8 = 202;

fn behind_a_proxy(config: &mut Config) {
    config.smpp.trusted_proxies = vec![IpNetwork::parse("127.0.0.1").unwrap()];
}

/// Returns the status of a bind from this address.
async fn bind_status(address: SocketAddr, last: u8, system_id: &str, password: &str) -> CommandStatus {
    let mut caller = RawClient::at(address).await;
    caller.write(&bind_from(last, system_id, password)).await;
    caller.read_header().await.unwrap().status
}

/// R11 of the reliability figures, scaled down: few hashes, and no customer is locked out.
#[tokio::test]
async fn brute_force_from_200_addresses_costs_few_hashes_and_locks_no_owner_out() {
    const ROUNDS: u32 = 3;
    let gateway = TestGateway::open(|config| {
        behind_a_proxy(config);
        config.smpp.bind_attempts_per_system_id = 1;
    })
    .await;
    let address = gateway.plain;
    assert_eq!(bind_status(address, SHOP_OWNER, "shop", "secret08").await, CommandStatus::OK);
    let hashed = Arc::new(AtomicU32::new(0));
    for round in 0..ROUNDS {
        let mut all = JoinSet::new();
        for last in 1..=200 {
            let hashed = hashed.clone();
            all.spawn(async move {
                let victim = if last % 2 == 0 { "shop" } else { "bank" };
                let status = bind_status(address, last, victim, &format!("guess{round}")).await;
                hashed.fetch_add(u32::from(status == CommandStatus::INVPASWD), Ordering::Relaxed);
                assert!([CommandStatus::INVPASWD, CommandStatus::BINDFAIL].contains(&status), "{status}");
            });
        }
        let shop = bind_status(address, SHOP_OWNER, "shop", "secret08").await;
        let bank = bind_status(address, BANK_OWNER, "bank", "secret09").await;
        assert_eq!((shop, bank), (CommandStatus::OK, CommandStatus::OK), "round {round}");
        all.join_all().await;
    }
    let (hashed, attempts) = (hashed.load(Ordering::Relaxed), ROUNDS * 200);
    assert!(hashed * 100 <= attempts, "{hashed} of {attempts} guesses were hashed");
    gateway.close().await;
}

#[tokio::test]
async fn first_bind_from_an_allow_listed_address_precedes_unknown_addresses_in_the_hash_queue() {
    let gateway = TestGateway::open(behind_a_proxy).await;
    let address = gateway.plain;
    let (hashed, shed) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let mut all = JoinSet::new();
    for last in 1..=200 {
        let (hashed, shed) = (hashed.clone(), shed.clone());
        all.spawn(async move {
            let count = match bind_status(address, last, &format!("unknown{last}"), "guess").await {
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
    assert_eq!(bind_status(address, BANK_OWNER, "bank", "secret09").await, CommandStatus::OK);
    let before = hashed.load(Ordering::Relaxed);
    all.join_all().await;
    let in_all = hashed.load(Ordering::Relaxed);
    assert!(before + 20 <= in_all, "{before} of {in_all} unknown addresses were hashed before the customer");
    gateway.close().await;
}

#[tokio::test]
async fn malformed_binds_count_towards_the_budget() {
    let gateway = TestGateway::open(|config| {
        config.smpp.bind_attempts = BUDGET;
    })
    .await;
    let cut = [&17_u32.to_be_bytes()[..], &bind("shop", "secret08")[4..17]].concat();
    for octets in [&bind("", "secret08")[..], &cut, &bind("", "x"), &cut] {
        let mut client = RawClient::at(gateway.plain).await;
        client.write(octets).await;
        let status = client.read_header().await.unwrap().status;
        assert!([CommandStatus::INVSYSID, CommandStatus::INVCMDLEN].contains(&status), "{status}");
    }
    assert_eq!(try_bind(&gateway, "secret08").await, CommandStatus::BINDFAIL);
    gateway.close().await;
}
