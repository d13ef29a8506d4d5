//! Receipts in every order: before their answer, with it, twice, late, and for ids nobody knows.

use super::PAID_IN;
use crate::world::*;
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_store::SubmitResponse;

#[tokio::test]
async fn a_receipt_before_the_answer_waits_for_it() {
    let world = World::new().await;
    let link = world.link_with_room(1).await;
    let message = world.sends(world.sms()).await;
    let job = link.takes_job().await;
    link.says(Vec::new(), vec![receipt(1, "z", Verdict::Enroute), receipt(2, "z", Verdict::Delivered)]).await;
    assert_eq!(link.takes_recorded().await, [1, 2]);
    assert_eq!(world.state(message).await, MessageState::Queued);
    link.accepts(&job, "z").await;
    world.settles().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    world.books_are_sound();
}

#[tokio::test]
async fn an_answer_and_its_receipt_in_one_read_settle_at_once() {
    let world = World::new().await;
    let link = world.link_with_room(1).await;
    let message = world.sends(world.sms()).await;
    let job = link.takes_job().await;
    link.says(
        vec![answer(&job, SubmitResponse::Accepted(remote("q")))],
        vec![receipt(1, "q", Verdict::Delivered), receipt(2, "q", Verdict::Delivered)],
    )
    .await;
    assert_eq!(link.takes_recorded().await, [1, 2], "a repeated receipt is answered too");
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert_eq!(world.timeline(message), ["late_receipt"]);
    world.books_are_sound();
}

#[tokio::test]
async fn late_and_repeated_receipts_only_add_to_the_timeline() {
    let mut world = World::new().await;
    let link = world.link_with_room(1).await;
    let message = world.sends(world.sms()).await;
    link.accepts(&link.takes_job().await, "a").await;
    link.receipt("a", Verdict::Delivered).await;
    world.settles().await;
    let before = world.sees(message).await;
    world.restarts().await;
    let link = world.link().await;
    for verdict in [Verdict::Delivered, Verdict::Undeliverable, Verdict::NoNews] {
        link.receipt("a", verdict).await;
    }
    world.settles().await;
    assert_eq!(world.sees(message).await, before);
    assert_eq!(world.timeline(message), ["late_receipt"; 3]);
    assert_eq!(world.balance(ALICE).await, PAID_IN - PRICE);
    world.books_are_sound();
}

#[tokio::test]
async fn a_receipt_for_an_id_nobody_knows_is_answered_and_harms_nobody() {
    let world = World::new().await;
    let link = world.link().await;
    link.says(Vec::new(), vec![receipt(9, "stranger", Verdict::Delivered)]).await;
    assert_eq!(link.takes_recorded().await, [9]);
    world.books_are_sound();
}

#[tokio::test]
async fn a_carrier_that_gives_an_id_twice_is_noted() {
    let world = World::new().await;
    let link = world.link_with_room(2).await;
    let first = world.sends(world.sms()).await;
    let second = world.sends(world.sms()).await;
    for job in link.takes_jobs(2).await {
        link.accepts(&job, "same").await;
    }
    link.receipt("same", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(first).await, MessageState::Submitted);
    assert_eq!(world.state(second).await, MessageState::Delivered);
    assert_eq!(world.timeline(second), ["carrier_id_reused"]);
    world.books_are_sound();
}
