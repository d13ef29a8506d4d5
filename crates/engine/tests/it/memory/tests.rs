//! Tests of the tables in memory: rollback, differences, panics, and the order of reads.

use super::MemoryTables;
use super::parts_tests::{message, row};
use hermod_domain::ids::{AccountId, CarrierId, MessageId};
use hermod_domain::lifecycle::PartState;
use hermod_domain::origin::SmppAddress;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::Balance;
use hermod_engine::tables::{
    BalanceRow, MessageChange, MoPartChange, MoPartRows, PartChange, RowChange, Tables, Unfinished,
    UnfinishedFound, UnfinishedId, UnfinishedKey, UnfinishedSize,
};

fn write_part(tables: &Tables<'_>, id: i64) {
    tables.write(MessageChange::Add(Box::new(message(id))));
    tables.write(PartChange::Add(row(id, 1, PartState::Queued, 0)));
}

fn unfinished(tables: &MemoryTables, id: u64, carrier: u32, since: i64) {
    let (carrier, since) = (CarrierId::new(carrier), Timestamp::from_millis(since));
    let address = SmppAddress::new(1, 1, b"491700000001");
    let key = UnfinishedKey {
        carrier,
        source: "491700000001".into(),
        destination: "4930".into(),
        reference: u16::try_from(id).expect("a small number"),
        total: 3,
    };
    let unfinished =
        Unfinished { carrier, source: address.clone(), destination: address, total: key.total, since };
    let (id, unfinished) = (UnfinishedId(id), Box::new(unfinished));
    let add = MoPartChange::AddUnfinished { id, unfinished, key };
    tables.change_mo_parts(&add).expect("memory never fails");
}

#[test]
fn rollback_reverts_uncommitted_changes_and_dumps_differ_by_their_rows() {
    let memory = MemoryTables::default();
    let tables = Tables::new(memory.clone());
    write_part(&tables, 1);
    tables.apply().unwrap();
    memory.commit();
    let (committed, snapshot) = (memory.dump(), memory.snapshot());

    write_part(&tables, 2);
    tables.write(PartChange::Delete(row(1, 1, PartState::Queued, 0).key));
    let (account, balance) = (AccountId::new(2), Balance::default());
    tables.write(RowChange::Put(BalanceRow { account, balance }));
    tables.write(RowChange::Put(BalanceRow { account, balance }));
    tables.finish().unwrap();
    let changed = memory.dump();
    let signs: Vec<_> = committed.differences(&changed).iter().map(|line| line[..9].to_owned()).collect();
    assert_eq!(signs, ["+ balance", "+ message", "- part (1", "+ part (1"]);
    assert_eq!(changed.table("message").len(), 2);

    memory.roll_back();
    assert_eq!(committed.differences(&memory.dump()), Vec::<String>::new());
    assert_eq!(memory.dump(), committed);
    memory.roll_back();
    assert_eq!(memory.dump(), committed, "committed rows are kept");
    write_part(&Tables::new(memory.clone()), 3);
    memory.restore(&snapshot);
    assert_eq!(memory.dump(), committed);
}

#[test]
#[should_panic(expected = "is added and is there")]
fn adding_an_existing_part_panics() {
    let tables = Tables::new(MemoryTables::default());
    let part = PartChange::Add(row(1, 1, PartState::Queued, 0));
    tables.write(part);
    tables.write(part);
    tables.finish().unwrap();
}

#[test]
#[should_panic(expected = "is updated and is not there")]
fn expiring_a_missing_message_panics() {
    let tables = Tables::new(MemoryTables::default());
    let message = MessageId::from_i64(1).unwrap();
    tables.write(MessageChange::Expiry { message, expires_at: Timestamp::EPOCH });
    tables.finish().unwrap();
}

#[test]
#[should_panic(expected = "are moved and are not there")]
fn moving_missing_parts_panics() {
    let tables = Tables::new(MemoryTables::default());
    let key = row(1, 1, PartState::Queued, 0).key;
    tables.write(PartChange::Move { key, to: CarrierId::new(9), due_at: None });
    tables.finish().unwrap();
}

#[test]
fn unfinished_messages_are_read_oldest_first_and_found_by_key() {
    let tables = MemoryTables::default();
    for (id, carrier, since) in [(1, 1, 30), (2, 1, 10), (3, 2, 5), (4, 1, 10)] {
        unfinished(&tables, id, carrier, since);
    }
    let ids = |ids: &[u64]| -> Vec<UnfinishedId> { ids.iter().copied().map(UnfinishedId).collect() };
    let millis = Timestamp::from_millis;
    assert_eq!(tables.unfinished_since(millis(10), 99).unwrap(), ids(&[3, 2, 4]));
    assert_eq!(tables.unfinished_since(millis(30), 2).unwrap(), ids(&[3, 2]));
    assert_eq!(tables.unfinished_after(millis(10)).unwrap(), ids(&[1]));
    assert_eq!(tables.oldest_unfinished(CarrierId::new(1)).unwrap(), Some(UnfinishedId(2)));
    assert_eq!(tables.oldest_unfinished_since().unwrap(), Some(millis(5)));
    assert_eq!(tables.last_unfinished().unwrap(), Some(UnfinishedId(4)));
    let size = UnfinishedSize { parts: 2, octets: 300 };
    tables.change_mo_parts(&MoPartChange::UnfinishedSize { id: UnfinishedId(3), size }).unwrap();
    let counts = tables.unfinished_parts().unwrap();
    assert_eq!(counts, [(CarrierId::new(1), 0), (CarrierId::new(2), 2)]);
    let key = UnfinishedKey {
        carrier: CarrierId::new(2),
        source: "491700000001".into(),
        destination: "4930".into(),
        reference: 3,
        total: 3,
    };
    let found = UnfinishedFound { id: UnfinishedId(3), size, has_part: false };
    assert_eq!(tables.find_unfinished(&key, 1).unwrap(), Some(found));
}
