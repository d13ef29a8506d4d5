//! Routes that choose carriers by cost and protect the margin. A part is sold for 0.05.

use crate::scenario::{HttpAnswer, Scenario};
use hermod_domain::carrier::CarrierStatus;
use hermod_domain::numbers::Country;
use hermod_simulator::carrier::{Outcome, Script};
use hermod_smpp::CommandStatus;
use std::time::Duration;

const TO: &str = "+4915112345678";
const SECOND: Duration = Duration::from_secs(1);

/// Sets what acme and beta ask for a part.
async fn set_costs(s: &Scenario, acme: &str, beta: &str) {
    let cost = |carrier: &str, per_part: &str| {
        format!(
            "[[cost]]\ncarrier = \"{carrier}\"\nprefix = \"49\"\nper_part = \"{per_part}\"\ncurrency = \"EUR\"\n"
        )
    };
    s.provision(&format!("{}{}", cost("acme", acme), cost("beta", beta))).await;
}

/// Changes the route of acme and beta.
async fn set_route(s: &Scenario, rules: &str) {
    s.change(&format!("[[route]]\nprefix = \"49\"\n{rules}\n")).await;
}

fn assert_no_route(answer: &HttpAnswer) {
    let error = answer.body["error"].as_str().unwrap_or_default();
    assert_eq!((answer.status, error.starts_with("NO_ROUTE: ")), (422, true), "{error}");
    assert!(!["margin", "cost", "acme"].iter().any(|word| error.contains(word)), "{error}");
}

#[tokio::test]
async fn cheapest_carrier_gets_the_message_and_a_raised_cost_turns_the_route() {
    let s = Scenario::with(Script::new()).await;
    let beta = s.add_backup_carrier(Script::new(), "", "choose = \"cost\"\nmin_margin = \"10%\"\n").await;
    set_costs(&s, "0.03", "0.02").await;
    let first = s.alice.send(TO, "by beta").await.accepted();
    s.alice.status_of(&first).becomes("delivered").await;
    assert_eq!(beta.record().received_texts(), ["by beta"]);

    set_costs(&s, "0.03", "0.031").await;
    let second = s.alice.send(TO, "by acme").await.accepted();
    s.alice.status_of(&second).becomes("delivered").await;
    assert_eq!(s.carrier_texts(), ["by acme"]);
    s.alice.assert_balance("99.9").await;
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn message_that_no_carrier_leaves_a_margin_of_is_neither_stored_nor_charged() {
    let s = Scenario::with(Script::new()).await;
    let beta = s.add_backup_carrier(Script::new(), "", "min_margin = \"10%\"\n").await;
    assert_no_route(&s.alice.send(TO, "no cost is known").await);
    set_costs(&s, "0.045001", "0.046").await;
    assert_no_route(&s.alice.send_with_key(TO, "at a loss", "order-1").await);
    s.alice.assert_balance("100").await;
    s.assert_carrier_received_nothing();

    // The key was not used up.
    set_costs(&s, "0.045", "0.046").await;
    let sent = s.alice.send_with_key(TO, "at the margin", "order-1").await.accepted();
    s.alice.status_of(&sent).becomes("delivered").await;
    s.assert_carrier_received_once("at the margin");
    assert_eq!(s.alarms(), Vec::<String>::new());
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn loss_that_a_route_allows_goes_to_the_cheapest_carrier_and_raises_an_alarm() {
    let s = Scenario::with(Script::new()).await;
    let rules = "min_margin = \"0\"\non_loss = \"allow\"\n";
    let beta = s.add_backup_carrier(Script::new(), "", rules).await;
    set_costs(&s, "0.07", "0.06").await;
    let sent = s.alice.send(TO, "at a loss").await.accepted();
    s.alice.status_of(&sent).becomes("delivered").await;
    assert_eq!(beta.record().received_texts(), ["at a loss"]);
    s.advance_until(SECOND, || s.wait_for_alarms(&[" sold-at-loss alice/49"])).await;
    let alarm = s.gateway().alarms.list().remove(0);
    assert!(alarm.detail.ends_with("of the price of the last one -0.01 EUR remained"), "{}", alarm.detail);
    assert_eq!(alarm.account(), "alice");

    // It is over when no such message was accepted for a quarter of an hour.
    s.advance(Duration::from_secs(15 * 60)).await;
    s.advance_until(SECOND, || s.wait_for_alarms(&[])).await;
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn queue_of_a_disconnected_carrier_moves_only_to_carriers_within_the_failover_margin() {
    let s = Scenario::with_settings(Script::new().delay(Duration::from_secs(3600)), "window = 1").await;
    let beta = s.add_backup_carrier(Script::new(), "", "choose = \"cost\"\nmin_margin = \"0\"\n").await;
    set_costs(&s, "0.02", "0.06").await;
    let first = s.alice.send(TO, "acme has it").await.accepted();
    let waiting = s.alice.send(TO, "this one waits").await.accepted();
    s.wait_for_carrier_submits(1).await;
    s.set_carrier_script(Script::new().hang_up());
    s.carrier().cut_links();
    s.wait_for_carrier_health("down").await;
    for _ in 0..20 {
        s.skip(SECOND);
        s.pause_briefly().await;
    }
    s.alice.status_of(&waiting).is("queued").await;
    assert_eq!(beta.record().received_texts(), Vec::<String>::new());

    set_route(&s, "failover_margin = \"-20%\"").await;
    for message in [&waiting, &first] {
        s.advance_until(SECOND, || s.alice.status_of(message).becomes("delivered")).await;
    }
    assert!(beta.record().received_texts().contains(&"this one waits".to_owned()));
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn rejected_message_is_not_offered_to_a_carrier_beyond_the_failover_margin() {
    let s = Scenario::with(Script::new().reject_first(2, CommandStatus::SUBMITFAIL)).await;
    let rules = "choose = \"cost\"\nmin_margin = \"0\"\nfail_over_refusals = true\n";
    let beta = s.add_backup_carrier(Script::new(), "", rules).await;
    set_costs(&s, "0.02", "0.06").await;
    let rejected = s.alice.send(TO, "too dear elsewhere").await.accepted();
    s.advance_until(SECOND, || s.alice.status_of(&rejected).becomes("undeliverable")).await;
    set_route(&s, "failover_margin = \"-20%\"").await;
    let moved = s.alice.send(TO, "for beta").await.accepted();
    s.advance_until(SECOND, || s.alice.status_of(&moved).becomes("delivered")).await;
    assert_eq!(beta.record().received_texts(), ["for beta"]);
    s.end().await;
    beta.stop().await;
}

#[tokio::test]
async fn carrier_that_delivers_less_loses_the_route_that_chooses_by_quality() {
    let s = Scenario::with(Script::new().receipt_after(Duration::ZERO, Outcome::Undeliverable)).await;
    let beta = s.add_backup_carrier(Script::new(), "", "choose = \"quality\"\n").await;
    set_costs(&s, "0.02", "0.03").await;
    // From a hundred receipts on its rate is known. Until then it counts as good, and is the cheapest.
    let mut messages = Vec::new();
    for n in 0..100 {
        messages.push(s.alice.send(TO, &format!("message {n}")).await.accepted());
    }
    for message in &messages {
        s.alice.status_of(message).becomes("undeliverable").await;
    }
    assert_eq!(beta.record().counts().submits, 0);
    // The figures are written and the rates are read.
    let is_known = || {
        let catalogue = s.gateway().catalogue();
        let acme = catalogue.carriers().iter().find(|(_, name, _)| name == "acme").map(|(id, ..)| *id);
        let rate = |carrier| s.gateway().carriers.delivery_rate(carrier, Country::parse("DE").ok());
        acme.and_then(rate).is_some()
    };
    s.advance_until(Duration::from_secs(30), || s.wait_until("the rate of acme", &is_known)).await;
    let better = s.alice.send(TO, "by beta").await.accepted();
    s.advance_until(SECOND, || s.alice.status_of(&better).becomes("delivered")).await;
    assert_eq!(beta.record().received_texts(), ["by beta"]);
    s.end().await;
    beta.stop().await;
}
