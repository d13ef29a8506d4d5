//! Tests of the writer's queue: what begins a batch, and when.

use super::*;
use crate::operations::tests::free_message;
use crate::writer::operation::{QueuedAcceptance, Reply};
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::ConnectionId;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::receipt::ReceiptWords;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{AnyCommand, ReleaseDue};
use hermod_engine::ops::{FinishedReports, LinkBatch, LinkId, ReceiptRecord};
use tokio::sync::oneshot;

const CARRIER: CarrierId = CarrierId::new(1);

fn request() -> Op {
    Op::Command(ReleaseDue { now: Timestamp::EPOCH }.into(), None)
}

fn link_results() -> Op {
    let batch = LinkBatch {
        carrier: CARRIER,
        ids: IdConversion::default(),
        link: LinkId(0),
        responses: Vec::new(),
        receipts: Vec::new(),
        inbound: Vec::new(),
        slots: 1,
        now: Timestamp::EPOCH,
    };
    Op::Command(batch.into(), None)
}

fn submission() -> Op {
    let queued = QueuedAcceptance::new(free_message());
    Op::Accept(Arc::new(queued), Reply::Caller(oneshot::channel().0))
}

fn receipts(count: u32) -> Op {
    let Op::Command(AnyCommand::ReportLink(mut batch), reply) = link_results() else { unreachable!() };
    let receipt = |sequence| ReceiptRecord {
        sequence,
        remote: None,
        verdict: DeliveryOutcome::Delivered,
        err: 0,
        word: None,
        words: ReceiptWords::default(),
        source: None,
        sender: None,
    };
    batch.receipts = (0..count).map(receipt).collect();
    Op::Command(batch.into(), reply)
}

fn report_results() -> Op {
    let connection = ConnectionId::new(1);
    let finished = FinishedReports::superseded(connection, Vec::new(), Timestamp::EPOCH);
    Op::Command(finished.into(), None)
}

#[test]
fn link_results_begin_a_batch_at_once_unless_a_request_is_expected() {
    let start = now();
    let mut state = State::default();
    assert!(state.push(link_results(), start));
    assert_eq!(state.begin, Begin::AtOnce, "no customer is sending");

    state.take(&mut Vec::new(), start);
    state.push(request(), start);
    state.take(&mut Vec::new(), start);
    let soon = start + Duration::from_millis(1);
    assert!(state.push(link_results(), soon));
    assert_eq!(state.begin, Begin::At(soon + RESULTS_WAIT_MAX));
    assert!(!state.push(link_results(), soon), "the writer waits already");
    assert!(state.push(request(), soon));
    assert_eq!(state.begin, Begin::AtOnce, "the results are written with the request");

    state.take(&mut Vec::new(), start);
    state.push(link_results(), soon + RESULTS_WAIT_MAX + Duration::from_millis(1));
    assert_eq!(state.begin, Begin::AtOnce, "the last request is too long ago");
}

#[test]
fn link_results_are_not_delayed_if_parts_wait_for_their_slots() {
    let start = now();
    let mut state = State { short_of_slots: vec![CARRIER], ..State::default() };
    state.push(request(), start);
    state.take(&mut Vec::new(), start);
    state.push(link_results(), start);
    assert_eq!(state.begin, Begin::AtOnce);
}

#[test]
fn unacknowledged_receipts_are_not_delayed_beyond_their_limit() {
    let start = now();
    let mut state = State { unacknowledged: UNACKNOWLEDGED_MAX - 1, ..State::default() };
    state.push(request(), start);
    state.take(&mut Vec::new(), start);
    assert_eq!(state.unacknowledged, 0, "taken operations do not count");
    state.push(link_results(), start);
    assert_eq!(state.begin, Begin::At(start + RESULTS_WAIT_MAX));
    state.unacknowledged = UNACKNOWLEDGED_MAX;
    assert!(state.push(link_results(), start));
    assert_eq!(state.begin, Begin::AtOnce);
}

#[test]
fn full_batch_begins_at_once_and_the_rest_follows() {
    let start = now();
    let mut state = State::default();
    for _ in 0..=BATCH_OPS_MAX {
        state.push(report_results(), start);
    }
    assert_eq!(state.begin, Begin::AtOnce);
    let mut batch = Vec::new();
    state.take(&mut batch, start);
    assert_eq!((batch.len(), state.ops.len(), state.begin), (BATCH_OPS_MAX, 1, Begin::AtOnce));
    state.take(&mut batch, start);
    assert_eq!((state.ops.len(), state.begin), (0, Begin::WhenNeeded));
}

#[test]
fn submissions_and_all_others_take_turns_while_a_backlog_drains() {
    let start = now();
    let mut state = State { drain: Some(100), ..State::default() };
    for op in [receipts(60), submission(), receipts(60), request(), submission(), receipts(1)] {
        state.push(op, start);
    }
    let mut taken = Vec::new();
    for _ in 0..4 {
        let mut batch = Vec::new();
        state.take(&mut batch, start);
        taken.push(batch.iter().map(|op| (op.passes_others(), op.results())).collect::<Vec<_>>());
    }
    let submissions = vec![(true, 0), (true, 0)];
    let full = vec![(false, 60), (false, 60)];
    let rest = vec![(false, 0), (false, 1)];
    assert_eq!(taken, [submissions, full, rest, vec![]]);
    assert_eq!(state.begin, Begin::WhenNeeded);
}

#[test]
fn last_operations_are_taken_in_their_order_while_a_backlog_drains() {
    let start = now();
    let mut state = State { drain: Some(100), ..State::default() };
    for op in [receipts(1), submission(), Op::Stop(oneshot::channel().0)] {
        state.push(op, start);
    }
    let mut batch = Vec::new();
    state.take(&mut batch, start);
    assert!(matches!(batch[..], [Op::Command(..), Op::Accept(..), Op::Stop(_)]));
}

#[test]
fn report_results_are_written_in_time_without_any_request() {
    let (callers, queue) = queue();
    callers.try_reserve().unwrap().send(report_results());
    let began = now();
    let mut batch = Vec::new();
    assert!(queue.wait(None, &mut batch));
    assert_eq!(batch.len(), 1);
    assert!(began.elapsed() >= REPORT_RESULTS_WAIT_MAX / 2, "{:?}", began.elapsed());
    assert_eq!(queue.free.available_permits(), QUEUE_OPS_MAX, "its place is free again");
}

#[test]
fn woken_writer_leaves_results_in_the_queue_until_their_time() {
    let (callers, queue) = queue();
    callers.try_reserve().unwrap().send(report_results());
    queue.wake_writer();
    let mut batch = Vec::new();
    assert!(queue.wait(None, &mut batch));
    assert!(batch.is_empty());
    assert!(queue.wait(None, &mut batch));
    assert_eq!(batch.len(), 1);
    queue.wake_writer();
    callers.try_reserve().unwrap().send(request());
    batch.clear();
    assert!(queue.wait(None, &mut batch));
    assert_eq!(batch.len(), 1, "a request is taken at once");
}

#[test]
fn closed_queue_returns_its_operations_and_rejects_others() {
    let (callers, queue) = queue();
    let place = callers.try_reserve().unwrap();
    callers.try_reserve().unwrap().send(request());
    assert_eq!(queue.close().len(), 1);
    assert!(matches!(callers.try_reserve().err(), Some(StoreError::Closed)));
    place.send(request());
    assert!(queue.close().is_empty(), "a place that was reserved before leads nowhere now");
}

#[test]
fn writer_ends_once_the_callers_are_gone_and_the_queue_is_empty() {
    let (callers, queue) = queue();
    callers.try_reserve().unwrap().send(report_results());
    drop(callers);
    let mut batch = Vec::new();
    assert!(queue.wait(None, &mut batch), "what was queued is written, without waiting");
    batch.clear();
    assert!(!queue.wait(None, &mut batch));
    assert!(!queue.take_queued(&mut batch));
}
