//! What a carrier was believed to ask is stored with each message, and what it can bill is known when the message ends.

use crate::world::*;
use hermod_domain::believed_cost::BelievedCost;
use hermod_domain::cost::CostBasis;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::money::Money;
use hermod_store::record::{CostSum, Dimension, Resolution, Scope, StatisticsQuery, Value};
use hermod_store::{Move, SubmitResponse, TargetCarrier};

/// Returns the amount, the terms and what can be billed, as the row of a message has them.
fn row(world: &World, message: MessageId) -> String {
    let columns =
        "coalesce(carrier_cost, -1) || ' ' || coalesce(cost_terms, -1) || ' ' || coalesce(billable, -1)";
    let query = format!("SELECT {columns} FROM message WHERE id = {}", message.as_i64());
    world.raw().texts(&query).concat()
}

fn shown(cost: BelievedCost, billable: i64) -> String {
    format!("{} {} {billable}", cost.terms.per_part.as_micros(), cost.packed_terms())
}

/// Returns the due amounts of all messages by carrier and currency, with the messages and what their customers paid.
async fn due_by_carrier(world: &World) -> Vec<(u32, String, CostSum)> {
    world.store.record().flush().await.expect("the record is complete");
    let (from, until) = (noon().minus(secs(86_400)), world.now.plus(secs(86_400)));
    let query =
        StatisticsQuery { resolution: Resolution::Day, by: Dimension::Carrier, value: None, from, until };
    let rows = world.store.record().statistics(Scope::All, query).await.expect("statistics");
    let mut due = Vec::new();
    for row in rows {
        let Value::Id(carrier) = row.value else { panic!("no carrier: {:?}", row.value) };
        due.extend(row.figures.costs.iter().map(|(currency, sum)| (carrier, currency.to_string(), sum)));
    }
    due
}

fn sum(messages: u64, due: i64, revenue: i64) -> CostSum {
    CostSum { messages, due: Money::from_micros(due), revenue: Money::from_micros(revenue) }
}

#[tokio::test]
async fn message_is_billed_for_what_its_carrier_accepted_or_did_not_answer() {
    let mut world = World::with_record().await;
    let cost = carrier_cost(58_000, "EUR", CostBasis::Submit);
    let mut link = world.link_with_slots(3).await;
    let mut messages = Vec::new();
    for _ in 0..3 {
        messages.push(world.send(world.sms()).await);
    }
    let jobs = link.take_jobs(3).await;
    link.accept(&jobs[0], "a").await;
    link.receipt("a", DeliveryOutcome::Delivered).await;
    link.answer(&jobs[1], refused(0x0b)).await;
    link.answer(&jobs[2], SubmitResponse::NoResponse).await;
    world.flush().await;
    assert_eq!(row(&world, messages[0]), shown(cost, 1));
    assert_eq!(row(&world, messages[1]), shown(cost, 0));
    assert_eq!(row(&world, messages[2]), shown(cost, -1), "it has not ended");
    world.advance(IN_DOUBT_WAIT).await;
    link.now = world.now;
    link.add_slots(1).await;
    let job = link.take_job().await;
    link.accept(&job, "c").await;
    link.receipt("c", DeliveryOutcome::Undeliverable).await;
    world.flush().await;
    assert_eq!(row(&world, messages[2]), shown(cost, 2 << 16 | 2), "sent twice, not delivered");
    let expect = vec![(ACME.get(), "EUR".to_owned(), sum(3, 3 * 58_000, 3 * PRICE))];
    assert_eq!(due_by_carrier(&world).await, expect);
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_that_moves_after_no_response_is_billed_by_both_carriers() {
    let mut world = World::with_record().await;
    let (euro, dollar) =
        (carrier_cost(58_000, "EUR", CostBasis::Submit), carrier_cost(20_000, "USD", CostBasis::Delivered));
    let link = world.link_with_slots(1).await;
    let message = world.send(world.sms()).await;
    link.answer(&link.take_job().await, SubmitResponse::NoResponse).await;
    world.advance(IN_DOUBT_WAIT).await;
    assert_eq!(row(&world, message), shown(euro, -1));
    let to = TargetCarrier { carrier: OTHER, whole: false, cost: Some(dollar) };
    let moves = vec![Move { message, account: ALICE, from: ACME, to }];
    assert_eq!(world.store.messages().reroute(moves, world.now).await.expect("a move"), 1);
    assert_eq!(row(&world, message), shown(dollar, -1));
    let earlier = "carrier || ' ' || submitted || ' ' || doubts || ' ' || carrier_cost || ' ' || cost_terms";
    let earlier = world.raw().texts(&format!("SELECT {earlier} FROM earlier_cost"));
    assert_eq!(earlier, [format!("{} 1 1 58000 {}", ACME.get(), euro.packed_terms())]);
    let other = world.link_to(OTHER, 1).await;
    let job = other.take_job().await;
    other.accept(&job, "there").await;
    other.receipt("there", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(
        row(&world, message),
        shown(dollar, 1),
        "what the first carrier can bill is not counted again"
    );
    let expect = vec![
        (ACME.get(), "EUR".to_owned(), sum(0, 58_000, 0)),
        (OTHER.get(), "USD".to_owned(), sum(1, 20_000, PRICE)),
    ];
    assert_eq!(due_by_carrier(&world).await, expect);
    world.assert_audit_clean();
    // Also if the record is made again from the rows.
    world.store.record().rebuild().await.expect("a new record");
    assert_eq!(due_by_carrier(&world).await, expect);
    world.restart().await;
    world.assert_audit_clean();
    assert_eq!(due_by_carrier(&world).await, expect);
}

#[tokio::test]
async fn message_that_moves_before_it_is_sent_costs_its_first_carrier_nothing() {
    let world = World::with_record().await;
    let message = world.send(world.sms()).await;
    let to = TargetCarrier { carrier: CarrierId::HELD, whole: false, cost: None };
    let moves = vec![Move { message, account: ALICE, from: ACME, to }];
    assert_eq!(world.store.messages().reroute(moves, world.now).await.expect("a move"), 1);
    assert_eq!(row(&world, message), "-1 -1 -1");
    assert!(world.raw().texts("SELECT message || '' FROM earlier_cost").is_empty());
    assert_eq!(due_by_carrier(&world).await, []);
    world.assert_audit_clean();
}
