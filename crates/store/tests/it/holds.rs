//! Holds: a backup is held when it is started, and what waits in it can be counted, cancelled and stopped.

use crate::world::*;
use hermod_domain::hold::Hold;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::MessageState;
use hermod_store::{MessageKey, Store, SubmitResponse, UnsentMessages};
use std::path::Path;
use tempfile::TempDir;

const PAID_IN: i64 = 1_000_000_000;

async fn hold_of(store: &Store) -> Option<Hold> {
    store.setup().hold().await.expect("the store answers")
}

fn key(message: MessageId) -> MessageKey {
    MessageKey { carrier: ACME, account: ALICE, message }
}

fn last_event(folder: &Path) -> i64 {
    let database = rusqlite::Connection::open(folder.join("hermod.db")).expect("the database opens");
    database.query_row("SELECT last FROM webhook_counter", [], |row| row.get(0)).expect("one row")
}

#[tokio::test]
async fn started_backup_is_held_until_it_is_released_and_its_original_is_not() {
    if on_postgres("copies of the embedded store") {
        return;
    }
    let world = World::new().await;
    world.send(world.sms()).await;
    let elsewhere = TempDir::new().expect("a folder");
    let file = elsewhere.path().join("hermod.db");
    world.store.copy_to(&file, || world.now).await.expect("a backup");
    assert_eq!(hold_of(&world.store).await, None, "the original goes on");
    let setup = world.store.setup().rows().await.expect("the store answers");

    let open = || Store::open(&options(elsewhere.path(), world.now)).expect("a backup opens");
    for _ in 0..2 {
        let copy = open();
        assert_eq!(hold_of(&copy).await, Some(Hold::of_backup(world.now)));
        assert_eq!(copy.setup().rows().await.expect("the store answers"), setup, "the hold is no entry");
        copy.close().await.expect("it closes");
    }
    assert!(last_event(elsewhere.path()) >= 1_000_000_000, "numbers of the original are not used again");
    let copy = open();
    copy.setup().set_hold(None).await.expect("it is released");
    copy.close().await.expect("it closes");
    let copy = open();
    assert_eq!(hold_of(&copy).await, None);
    copy.close().await.expect("it closes");
    assert_audit_clean(elsewhere.path());
    world.assert_audit_clean();
}

#[tokio::test]
async fn backup_of_a_stopped_folder_and_of_a_backup_is_held_from_its_own_time() {
    if on_postgres("copies of the embedded store") {
        return;
    }
    let mut world = World::new().await;
    world.store.close().await.expect("it closes");
    let first = TempDir::new().expect("a folder");
    Store::backup(world.path(), &first.path().join("hermod.db"), world.now).expect("a backup");
    world.reopen();
    assert_eq!(hold_of(&world.store).await, None);
    let copy = Store::open(&options(first.path(), world.now)).expect("a backup opens");
    let second = TempDir::new().expect("a folder");
    let later = world.now.plus(secs(60));
    copy.copy_to(&second.path().join("hermod.db"), || later).await.expect("a backup");
    assert_eq!(hold_of(&copy).await, Some(Hold::of_backup(world.now)));
    copy.close().await.expect("it closes");
    let copy = Store::open(&options(second.path(), later)).expect("a backup opens");
    assert_eq!(hold_of(&copy).await, Some(Hold::of_backup(later)));
    copy.close().await.expect("it closes");
}

#[tokio::test]
async fn hold_of_an_operator_stays_over_a_restart_and_can_be_released_twice() {
    let mut world = World::new().await;
    let hold = Hold { accepts_messages: true, ..Hold::by_operator(world.now) };
    world.store.setup().set_hold(Some(&hold)).await.expect("it is held");
    world.restart().await;
    assert_eq!(hold_of(&world.store).await, Some(hold));
    for _ in 0..2 {
        world.store.setup().set_hold(None).await.expect("it is released");
        assert_eq!(hold_of(&world.store).await, None);
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_in_doubt_is_stopped_without_a_refund_and_one_that_is_being_sent_is_not() {
    let world = World::new().await;
    let link = world.link_with_slots(2).await;
    let in_doubt = world.send(world.sms()).await;
    link.answer(&link.take_job().await, SubmitResponse::NoResponse).await;
    let sending = world.send(world.sms()).await;
    assert_eq!(link.take_job().await.message, sending);
    let waiting = world.send(world.sms()).await;

    let unsent = world.store.messages().unsent().await.expect("the store answers");
    let counted = UnsentMessages {
        carrier: ACME,
        account: ALICE,
        messages: 2,
        parts: 2,
        in_doubt: 1,
        oldest: in_doubt,
        newest: waiting,
    };
    assert_eq!(unsent, [counted]);
    let page = async |after| world.store.messages().unsent_after(after, 1).await.expect("the store answers");
    assert_eq!(page(None).await, [key(in_doubt)]);
    assert_eq!(page(Some(key(in_doubt))).await, [key(waiting)]);
    assert!(page(Some(key(waiting))).await.is_empty());

    let stop = async |messages: &[MessageId]| {
        let keys: Vec<_> = messages.iter().copied().map(key).collect();
        world.store.messages().stop_sent(&keys, world.now).await.expect("the store answers")
    };
    assert_eq!(stop(&[in_doubt, sending]).await, 1, "one is being sent");
    assert_eq!(stop(&[in_doubt]).await, 0, "a second time changes nothing");
    assert_eq!(world.state(in_doubt).await, MessageState::Submitted, "the carrier may have it");
    assert_eq!(world.balance(ALICE).await, PAID_IN - 3 * PRICE, "nothing is refunded");
    assert_eq!(stop(&[waiting]).await, 1, "a message that no carrier has is cancelled");
    assert_eq!(world.balance(ALICE).await, PAID_IN - 2 * PRICE);
    assert!(world.store.messages().unsent().await.expect("the store answers").is_empty());
    world.assert_audit_clean();
}
