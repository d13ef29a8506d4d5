//! Tests of catching up while the feed brings more: the follower is led step by step, without its thread.

use super::{Follower, FollowerSetup};
use crate::operations::tests::{ACME, NOW, expire, open, open_in, send};
use crate::record::database::reading::RecordReaders;
use crate::record::database::source::RecordSource;
use crate::record::follower::state::Following;
use crate::record::{Erasures, Feed, RecordTrouble};
use hermod_domain::ids::{CarrierId, MessageId, PartNo};
use hermod_domain::lifecycle::{Billable, MessageState};
use hermod_domain::money::Money;
use hermod_domain::receipt::DlrCode;
use hermod_engine::steps::{MessageStep, StepId, StepKind};
use std::path::Path;
use std::sync::Arc;

const OTHER: CarrierId = CarrierId::new(2);

/// Returns a follower of a closed store. Its record is empty.
fn follower_of(folder: &Path) -> Follower {
    let following = Arc::new(Following::new());
    let (source, store) = RecordSource::beside_closed(folder).expect("a store");
    let setup = FollowerSetup {
        folder: folder.to_owned(),
        store,
        feed: Arc::new(Feed::new(true)),
        readers: Arc::new(RecordReaders::new(following.collected.clone())),
        following,
        source,
        now: NOW,
    };
    let mut follower = Follower::new(setup);
    follower.open_record().expect("a record");
    follower
}

fn step(message: MessageId, kind: StepKind) -> Vec<MessageStep> {
    vec![MessageStep { id: StepId(1), message, part: PartNo::FIRST, at: NOW, kind }]
}

/// The batch after the ones that the store has.
fn push_next(follower: &Follower, mut steps: Vec<MessageStep>) {
    follower.feed.push(follower.taken + 1, std::iter::empty(), &mut steps, Erasures::default());
}

async fn closed_store_with_a_message() -> (tempfile::TempDir, MessageId) {
    let (folder, store) = open();
    let message = send(&store).await;
    store.close().await.expect("the store closes");
    (folder, message)
}

#[tokio::test]
async fn record_that_was_not_closed_is_being_checked_until_it_is_opened_for_reads() {
    let (folder, _) = closed_store_with_a_message().await;
    // As after a crash.
    drop(follower_of(folder.path()));
    let mut follower = follower_of(folder.path());
    assert_eq!(follower.trouble(), Some(RecordTrouble::Checking));
    while follower.check.is_some() {
        follower.end_check().expect("it is intact");
        std::thread::yield_now();
    }
    assert_eq!(follower.trouble(), None);
}

#[tokio::test]
async fn record_that_lacks_something_says_so_before_the_follower_runs() {
    let (folder, _) = closed_store_with_a_message().await;
    let mut follower = follower_of(folder.path());
    let catching_up = |follower: &Follower| follower.following.status(&follower.feed).catching_up;
    assert_eq!(catching_up(&follower), 1);
    while !follower.position.is_caught_up() {
        follower.catch_up().expect("the message is read");
    }
    follower.note(&Ok(()));
    assert_eq!(catching_up(&follower), 0);
}

#[tokio::test]
async fn message_that_ends_while_it_is_read_from_the_store_ends_in_the_record() {
    let (folder, message) = closed_store_with_a_message().await;
    let mut follower = follower_of(folder.path());
    // The tables do not have its end yet, and the record does not have the message yet.
    let end = StepKind::Ended {
        state: MessageState::Expired,
        code: DlrCode::Expired,
        err: 0,
        refund: Some(Money::ZERO),
        billable: Billable::default(),
    };
    push_next(&follower, step(message, end));
    follower.catch_up().expect("the message is read");
    assert!(
        follower.record().expect("an open record").open_message(message.as_i64()).expect("a read").is_some()
    );
    let store = open_in(folder.path());
    assert!(expire(&store, message).await);
    store.close().await.expect("the store closes");
    follower.catch_up().expect("the message is compared");
    assert!(follower.position.is_caught_up());
    assert!(
        follower.record().expect("an open record").open_message(message.as_i64()).expect("a read").is_none(),
        "it has ended"
    );
}

#[tokio::test]
async fn message_that_moves_while_it_is_compared_keeps_its_new_carrier() {
    let (folder, message) = closed_store_with_a_message().await;
    let mut follower = follower_of(folder.path());
    follower.catch_up().expect("the message is read");
    // The tables do not have the new carrier yet.
    push_next(&follower, step(message, StepKind::Moved { from: ACME, to: OTHER }));
    follower.catch_up().expect("the message is compared");
    assert!(follower.position.is_caught_up());
    let recorded = follower
        .record()
        .expect("an open record")
        .open_message(message.as_i64())
        .expect("a read")
        .expect("it is open");
    assert_eq!(recorded.carrier, OTHER);
}

#[tokio::test]
async fn follower_that_is_stopped_while_catching_up_finishes_first() {
    let (folder, _) = closed_store_with_a_message().await;
    let follower = follower_of(folder.path());
    follower.feed.close();
    // The follower lowers the priority of its thread.
    std::thread::spawn(move || follower.run()).join().expect("the follower ends");
    let report = crate::Store::audit(folder.path()).expect("an audit");
    assert_eq!(report.record, crate::RecordAudit::Compared { messages: 1 });
}
