//! Several links to one carrier: each message on one of them, whole and in order; and links that only listen.

use crate::world::*;
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_store::{Answer, LinkKind};

#[tokio::test]
async fn a_link_that_only_receives_settles_messages_and_never_takes_one() {
    let world = World::new().await;
    let listening = world.link_of(ACME, LinkKind::ReceivesOnly).await;
    listening.has_room(10).await;
    let message = world.sends(world.sms()).await;
    world.settles().await;
    listening.has_nothing().await;

    let sending = world.link_with_room(1).await;
    sending.accepts(&sending.takes_job().await, "pair").await;
    listening.receipt("pair", Verdict::Delivered).await;
    assert_eq!(listening.takes().await.recorded, [1], "answered where it came from");
    assert_eq!(world.state(message).await, MessageState::Delivered);
    assert!(listening.closes().await.unwrap().is_empty());
    world.books_are_sound();
}

#[tokio::test]
async fn a_carrier_can_have_waits_of_its_own_after_a_temporary_error() {
    let cases = [(Some(secs(40)), 39_999, 1), (Some(secs(0)), 999, 1), (None, 4_400, 1_200)];
    for (after, too_early, then) in cases {
        let mut world = World::new().await;
        let link = world.link_with_room(1).await;
        let message = world.sends(world.sms()).await;
        let status = 0x64;
        link.answers(&link.takes_job().await, Answer::Temporary { status, after }).await;
        link.has_room(1).await;
        world.settles().await;
        world.passes(std::time::Duration::from_millis(too_early)).await;
        link.has_nothing().await;
        world.passes(std::time::Duration::from_millis(then)).await;
        assert_eq!(link.takes_job().await.message, message, "{after:?}");
    }
}
