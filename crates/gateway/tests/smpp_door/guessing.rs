//! Guessing passwords: slow for whoever tries, and cheap for us once the budget is spent.

use crate::house::{House, Stranger, bind};
use hermod_gateway::config::Period;
use hermod_smpp::CommandStatus;
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
