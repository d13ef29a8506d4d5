//! Unit tests of `hash_queue.rs`.

use super::*;
use futures_util::FutureExt;
use std::pin::Pin;

type Waiting = Pin<Box<dyn Future<Output = Option<Turn>>>>;

fn asks(queue: &Arc<HashQueue>, caller: CallerKind) -> Waiting {
    let queue = queue.clone();
    Box::pin(async move { queue.turn(caller).await })
}

/// Polls once: its turn, `Some(None)` if rejected, `None` if still waiting.
fn asked(waiting: &mut Waiting) -> Option<Option<Turn>> {
    waiting.now_or_never()
}

#[tokio::test]
async fn known_caller_goes_before_waiting_strangers() {
    let queue = HashQueue::new();
    let mut running: Vec<Turn> = Vec::new();
    for _ in 0..HASHES_AT_ONCE {
        running.extend(queue.turn(CallerKind::Stranger).await);
    }
    let mut strangers: Vec<Waiting> = Vec::new();
    for _ in 0..STRANGERS_WAITING_MAX {
        let mut stranger = asks(&queue, CallerKind::Stranger);
        assert!(asked(&mut stranger).is_none(), "it waits");
        strangers.push(stranger);
    }
    let shed = asks(&queue, CallerKind::Stranger).now_or_never();
    assert!(matches!(shed, Some(None)), "one more stranger is rejected at once");
    let mut known = asks(&queue, CallerKind::Known);
    assert!(asked(&mut known).is_none());
    running.pop();
    let turn = asked(&mut known).flatten();
    assert!(turn.is_some(), "the first free turn is the known caller's");
    assert!(asked(&mut strangers[0]).is_none());
    drop(turn);
    assert!(asked(&mut strangers[0]).flatten().is_some(), "then the stranger that came first");
}

#[tokio::test]
async fn turn_of_a_disconnected_caller_goes_to_the_next() {
    let queue = HashQueue::new();
    let mut running = vec![queue.turn(CallerKind::Known).await, queue.turn(CallerKind::Known).await];
    let mut gone = asks(&queue, CallerKind::Stranger);
    let mut taken = asks(&queue, CallerKind::Stranger);
    let mut next = asks(&queue, CallerKind::Stranger);
    for waiting in [&mut gone, &mut taken, &mut next] {
        assert!(asked(waiting).is_none());
    }
    drop(gone);
    running.pop();
    drop(taken);
    assert!(asked(&mut next).flatten().is_some(), "the turn is not lost");
    running.clear();
    drop(next);
    let again: Vec<bool> = vec![
        queue.turn(CallerKind::Stranger).await.is_some(),
        queue.turn(CallerKind::Stranger).await.is_some(),
    ];
    assert_eq!(again, [true, true], "all turns are free again");
}
