//! Messages that an operator holds, releases or cancels.

use crate::world::*;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::lifecycle::MessageState;
use hermod_store::{Move, QueuePosition, SubmitResponse, WaitingMessage};

const PAID_IN: i64 = 1_000_000_000;

impl World {
    async fn waiting_for(&self, carrier: CarrierId) -> Vec<WaitingMessage> {
        self.store.messages().waiting(carrier, None, 100).await.expect("the store answers")
    }

    async fn move_between(&self, from: CarrierId, to: CarrierId) -> usize {
        let to = split(to);
        let moved = |one: &WaitingMessage| Move { message: one.message, account: one.account, from, to };
        let moves = self.waiting_for(from).await.iter().map(moved).collect();
        self.store.messages().reroute(moves, self.now).await.expect("the store answers")
    }

    async fn cancel_waiting(&self, carrier: CarrierId, messages: &[MessageId]) -> usize {
        let place = |message: &MessageId| QueuePosition { account: ALICE, message: *message };
        let places: Vec<_> = messages.iter().map(place).collect();
        self.store.messages().cancel_waiting(carrier, &places, self.now).await.expect("the store answers")
    }
}

#[tokio::test]
async fn held_messages_stay_over_a_restart_and_leave_in_their_order() {
    let mut world = World::new().await;
    let mut sent = Vec::new();
    for _ in 0..5 {
        sent.push(world.send(world.sms()).await);
    }
    assert_eq!(world.move_between(ACME, CarrierId::HELD).await, 5);
    let link = world.link_with_slots(10).await;
    world.flush().await;
    link.assert_idle().await;
    world.restart().await;
    let link = world.link_with_slots(10).await;
    world.flush().await;
    link.assert_idle().await;
    assert_eq!(world.waiting_for(CarrierId::HELD).await.len(), 5);
    world.assert_audit_clean();

    assert_eq!(world.move_between(CarrierId::HELD, ACME).await, 5);
    let jobs = link.take_jobs(5).await;
    assert_eq!(jobs.iter().map(|job| job.message).collect::<Vec<_>>(), sent);
    assert_eq!(world.timeline(sent[0]), ["held", "released"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn validity_of_a_held_message_runs_on() {
    let world = World::new().await;
    let message = world.send(world.sms()).await;
    assert_eq!(world.move_between(ACME, CarrierId::HELD).await, 1);
    let expires_at = world.waiting_for(CarrierId::HELD).await[0].expires_at;
    world.sweep(expires_at.plus(secs(1))).await;
    assert_eq!(world.state(message).await, MessageState::Expired);
    assert!(world.waiting_for(CarrierId::HELD).await.is_empty());
    world.assert_audit_clean();
}

#[tokio::test]
async fn operator_cancels_what_waits_and_is_held_and_nothing_else() {
    let world = World::new().await;
    let held = world.send(world.sms()).await;
    assert_eq!(world.move_between(ACME, CarrierId::HELD).await, 1);
    let link = world.link_with_slots(2).await;
    let in_doubt = world.send(world.sms()).await;
    link.answer(&link.take_job().await, SubmitResponse::NoResponse).await;
    let sending = world.send(world.sms()).await;
    assert_eq!(link.take_job().await.message, sending);
    let waiting = world.send(world.sms()).await;

    let all = [held, in_doubt, sending, waiting];
    assert_eq!(world.cancel_waiting(ACME, &all).await, 1, "one waits for this carrier");
    assert_eq!(world.state(waiting).await, MessageState::Rejected);
    assert_eq!(world.timeline(waiting), ["cancelled"]);
    assert_eq!(world.cancel_waiting(CarrierId::HELD, &all).await, 1, "one is held");
    assert_eq!(world.state(held).await, MessageState::Rejected);
    assert_eq!(world.cancel_waiting(CarrierId::HELD, &all).await, 0, "a second time changes nothing");
    assert_eq!(world.balance(ALICE).await, PAID_IN - 2 * PRICE, "two are refunded, once");
    world.assert_audit_clean();
}

#[tokio::test]
async fn waiting_message_is_found_by_its_id_with_its_queue() {
    let world = World::new().await;
    let [first, second] = [world.send(world.sms()).await, world.send(world.sms()).await];
    let find = async |id| {
        let found = world.store.messages().waiting_message(id).await.expect("the store answers");
        found.map(|(carrier, waiting)| (carrier, waiting.message))
    };
    assert_eq!(find(second).await, Some((ACME, second)));
    let link = world.link_with_slots(1).await;
    assert_eq!(link.take_job().await.message, first);
    world.flush().await;
    assert_eq!(find(first).await, None, "it is being sent");
    assert_eq!(find(second).await, Some((ACME, second)));
}
