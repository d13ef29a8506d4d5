//! Tests of reading parts from the tables in memory.

use super::MemoryTables;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId, MessageId, PartNo};
use hermod_domain::lifecycle::{DoubtPolicy, MessageState, Part, PartState};
use hermod_domain::money::Money;
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::DlrCode;
use hermod_domain::sender::Sender;
use hermod_domain::text::{Encoding, MessageText};
use hermod_domain::time::Timestamp;
use hermod_engine::tables::{
    DueKey, DueRead, LaneCounts, LaneRead, MessageChange, MessageKey, MessageRow, MessageRows, MessageStatus,
    PartChange, PartRow, PartRows,
};

const CARRIER: CarrierId = CarrierId::new(1);
const ACCOUNT: AccountId = AccountId::new(2);

fn message_id(id: i64) -> MessageId {
    MessageId::from_i64(id).expect("an id")
}

fn part_no(no: u8) -> PartNo {
    PartNo::new(no).expect("no part 0")
}

fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at)
}

fn key(message: i64) -> MessageKey {
    MessageKey { carrier: CARRIER, account: ACCOUNT, message: message_id(message) }
}

pub(super) fn row(message: i64, no: u8, state: PartState, due_at: i64) -> PartRow {
    PartRow {
        key: key(message),
        part: part_no(no),
        now: Part { state, doubts: 0 },
        doubt: DoubtPolicy::default(),
        attempts: 0,
        due_at: Some(millis(due_at)),
        expires_at: millis(1_000),
    }
}

pub(super) fn message(id: i64) -> MessageRow {
    let standing = MessageStatus { state: MessageState::Queued, code: DlrCode::Unknown, err: 0 };
    MessageRow {
        id: message_id(id),
        account: ACCOUNT,
        connection: ConnectionId::new(3),
        carrier: CARRIER,
        from: Sender::parse("HERMOD").expect("a sender"),
        to: Msisdn::parse("+491700000001").expect("a number"),
        text: MessageText::parse("hello").expect("a text"),
        encoding: Encoding::Gsm7,
        parts: 2,
        whole: false,
        tlvs: None,
        options: None,
        origin: None,
        alias: None,
        reference: 7,
        cost: Money::from_micros(5),
        carrier_cost: None,
        expires_at: millis(1_000),
        status: standing,
    }
}

fn tables(parts: &[PartRow]) -> MemoryTables {
    let tables = MemoryTables::default();
    for row in parts {
        tables.change_part(&PartChange::Add(*row)).expect("memory never fails");
    }
    tables
}

#[test]
fn due_places_are_the_deferred_parts_after_a_place_soonest_first() {
    let tables = tables(&[
        row(1, 1, PartState::Queued, 30),
        row(2, 1, PartState::Queued, 10),
        row(2, 2, PartState::InDoubt, 10),
        row(3, 1, PartState::Queued, 0),
        row(4, 1, PartState::Sending, 5),
        PartRow {
            key: MessageKey { carrier: CarrierId::new(9), ..key(5) },
            ..row(5, 1, PartState::Queued, 1)
        },
        row(6, 1, PartState::Queued, 20),
    ]);
    let due = |at, message, no| DueKey { at: millis(at), message: message_id(message), part: part_no(no) };
    let check = |after, limit, expect: &[DueKey]| {
        let read = DueRead { carrier: CARRIER, account: ACCOUNT, after, limit };
        assert_eq!(tables.due_keys(read).unwrap(), expect);
    };
    check(None, 99, &[due(10, 2, 1), due(10, 2, 2), due(20, 6, 1), due(30, 1, 1)]);
    check(None, 1, &[due(10, 2, 1)]);
    check(Some(due(10, 2, 1)), 2, &[due(10, 2, 2), due(20, 6, 1)]);
    check(Some(due(30, 1, 1)), 99, &[]);
    let deferred = tables.deferred_parts(Some(&row(6, 1, PartState::Queued, 20)), 2).unwrap();
    let keys: Vec<_> = deferred.iter().map(|row| (row.key.carrier.get(), row.key.message)).collect();
    assert_eq!(keys, [(1, message_id(1)), (9, message_id(5))]);
}

#[test]
fn lane_refill_returns_parts_without_a_due_time_and_lists_unreadable_ones_apart() {
    let tables = tables(&[
        row(1, 1, PartState::Queued, 0),
        row(1, 2, PartState::InDoubt, 0),
        row(2, 1, PartState::Queued, 10),
        row(3, 1, PartState::Sent, 0),
        row(4, 1, PartState::Queued, 0),
        row(5, 1, PartState::Queued, 0),
    ]);
    for id in [1, 5] {
        tables.change_message(&MessageChange::Add(Box::new(message(id)))).unwrap();
    }
    let check = |after: Option<(i64, u8)>, limit, expect: &[(i64, u8)], unreadable: &[i64]| {
        let after = after.map(|(message, no)| (message_id(message), part_no(no)));
        let read =
            tables.waiting_jobs(LaneRead { carrier: CARRIER, account: ACCOUNT, after, limit }).unwrap();
        let jobs: Vec<_> =
            read.rows.iter().map(|row| (row.job.message.as_i64(), row.job.part.get())).collect();
        let apart: Vec<_> = read.unreadable.iter().map(|part| part.key.message).collect();
        assert_eq!((jobs.as_slice(), apart.as_slice()), (expect, unreadable));
    };
    check(None, 99, &[(1, 1), (1, 2), (5, 1)], &[4]);
    check(None, 2, &[(1, 1), (1, 2)], &[]);
    check(Some((1, 1)), 2, &[(1, 2)], &[4]);
    check(Some((4, 1)), 99, &[(5, 1)], &[]);
    let counts = LaneCounts { carrier: CARRIER, account: ACCOUNT, waiting: 5, in_flight: 0, for_a_slot: 4 };
    assert_eq!(tables.lane_counts().unwrap(), [counts]);
}

#[test]
fn late_parts_are_found_by_message_and_by_expiry() {
    let tables = tables(&[
        row(1, 1, PartState::Sent, 0),
        row(1, 2, PartState::Overdue, 0),
        row(2, 1, PartState::Sent, 0),
    ]);
    for _ in 0..2 {
        tables.change_part(&PartChange::SetLate(key(1))).unwrap();
    }
    assert_eq!(tables.parts(key(1)).unwrap().len(), 2);
    let now = Part { state: PartState::Enroute, doubts: 0 };
    let (key, part) = (key(1), part_no(1));
    tables.change_part(&PartChange::State { key, part, now, due_at: None, attempts: None }).unwrap();
    assert_eq!(tables.part(key, part).unwrap().map(|row| row.now), Some(now));
    let expiring = tables.parts_expiring_after(millis(999)).unwrap();
    let keys: Vec<_> = expiring.iter().map(|row| (row.key.message.as_i64(), row.part.get())).collect();
    assert_eq!(keys, [(2, 1), (1, 1)]);
    tables.change_part(&PartChange::Delete(key)).unwrap();
    assert!(tables.parts(key).unwrap().is_empty());
}

#[test]
fn parts_of_a_moved_message_have_the_new_carrier_and_due_time() {
    let tables = tables(&[row(1, 1, PartState::Queued, 30), row(1, 2, PartState::Queued, 40)]);
    let to = CarrierId::new(9);
    tables.change_part(&PartChange::Move { key: key(1), to, due_at: None }).unwrap();
    assert!(tables.parts(key(1)).unwrap().is_empty());
    let moved = tables.parts(MessageKey { carrier: to, ..key(1) }).unwrap();
    assert!(moved.len() == 2 && moved.iter().all(|row| row.due_at.is_none()));
}
