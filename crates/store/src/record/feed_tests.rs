//! Unit tests of `feed.rs`.

use super::*;
use hermod_domain::ids::{MessageId, PartNo};
use hermod_domain::time::Timestamp;
use hermod_engine::steps::{StepId, StepKind};
use std::sync::Arc;

fn steps(count: usize) -> Vec<MessageStep> {
    let at = Timestamp::from_millis(1_800_000_000_000);
    let message = MessageId::first_at(at);
    let step = |id| MessageStep { id: StepId(id), message, part: PartNo::FIRST, at, kind: StepKind::Unknown };
    (0..count as u64).map(step).collect()
}

fn push(feed: &Feed, sequence: u64, count: usize) {
    feed.push(sequence, std::iter::empty(), &mut steps(count), Erasures::default());
}

#[test]
fn follower_takes_everything_once_and_closing_lasts() {
    let feed = Feed::new(true);
    push(&feed, 7, 2);
    push(&feed, 8, 1);
    let mut fed = Fed::default();
    feed.take(Duration::ZERO, 0, &mut fed);
    assert_eq!((fed.sequence, fed.steps.len(), fed.dropped, fed.closed), (8, 3, None, false));
    fed.clear();
    feed.close();
    for _ in 0..2 {
        feed.take(Duration::from_secs(60), 0, &mut fed);
        assert_eq!((fed.sequence, fed.steps.len(), fed.closed), (8, 0, true));
        fed.clear();
    }
}

#[test]
fn full_feed_drops_batches_until_it_is_taken() {
    let feed = Feed::new(true);
    push(&feed, 1, STEPS_MAX);
    push(&feed, 2, 1);
    push(&feed, 3, 1);
    let mut fed = Fed::default();
    feed.take(Duration::from_secs(60), 0, &mut fed);
    assert_eq!((fed.steps.len(), fed.dropped, fed.sequence), (STEPS_MAX, Some(3), 3));
    fed.clear();
    push(&feed, 4, 1);
    feed.take(Duration::ZERO, 0, &mut fed);
    assert_eq!((fed.steps.len(), fed.dropped, fed.sequence), (1, None, 4));
}

#[test]
fn feed_without_a_follower_holds_nothing() {
    let feed = Feed::new(false);
    push(&feed, 1, 5);
    let mut fed = Fed::default();
    feed.take(Duration::ZERO, 0, &mut fed);
    assert_eq!((fed.steps.len(), fed.sequence), (0, 1), "only the number of the batch");
}

#[test]
fn follower_of_another_node_gets_every_batch_and_reads_the_tables_for_one_that_it_missed() {
    let (engine, elsewhere) = (Feed::new(true), Feed::new(true));
    let mut batches = engine.followers.add();
    for sequence in 1..=4 {
        push(&engine, sequence, 2);
    }
    let mut fed = Fed::default();
    for (sequence, is_lost) in [(1, false), (2, false), (3, true), (4, false)] {
        let batch = Arc::into_inner(batches.try_recv().expect("a batch")).expect("one follower");
        let committed = Arc::into_inner(batch.committed).expect("one follower");
        assert_eq!((committed.previous, committed.sequence), (sequence - 1, sequence));
        if !is_lost {
            elsewhere.push_committed(committed);
        }
    }
    elsewhere.take(Duration::ZERO, 0, &mut fed);
    assert_eq!((fed.steps.len(), fed.sequence, fed.dropped), (4, 4, Some(4)));
    // One that comes after a later one is known.
    let late =
        Committed { previous: 1, sequence: 3, accepted: Vec::new(), steps: steps(1), erased: Vec::new() };
    elsewhere.push_committed(late);
    fed.clear();
    elsewhere.take(Duration::ZERO, 0, &mut fed);
    assert_eq!((fed.steps.len(), fed.sequence, fed.dropped), (0, 4, None));
    drop(batches);
    push(&engine, 5, 1);
    assert!(!engine.followers.are_there());
}
