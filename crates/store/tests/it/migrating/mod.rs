//! A data folder of an earlier release is brought up to date, and everything in it is still there.

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_domain::money::Money;
use hermod_domain::time::Day;
use hermod_store::{Acceptance, DayTotals, LedgerKind, Store, StoreFault, audit};
use std::time::Duration;
use tempfile::TempDir;

const SCHEMA_1: &str = include_str!("schema_1.sql");
const VALIDITY_AND_A_DAY: Duration = Duration::from_secs(4 * 86_400);

fn message(stored: i64) -> MessageId {
    MessageId::from_i64(stored).expect("an id")
}

const fn totals(day: i64, messages: u64) -> DayTotals {
    DayTotals { day: Day::new(day), messages, spend: Money::from_micros(PRICE * messages.cast_signed()) }
}

#[tokio::test]
async fn a_folder_of_schema_1_opens_with_everything_in_it() {
    let folder = TempDir::new().unwrap();
    raw(folder.path()).execute_batch(SCHEMA_1).unwrap();
    let looked = audit(folder.path());
    assert!(
        matches!(looked, Err(StoreFault::TooOld { found: 1, .. })),
        "an audit never migrates: {looked:?}"
    );

    let now = noon().plus(VALIDITY);
    let store = Store::open(&options(folder.path(), now)).unwrap();
    let mut world = World { folder, store, now };
    world.books_are_sound();
    assert_eq!(world.balance(ALICE).await, 1_000_000_000 - 4 * PRICE);
    assert_eq!(world.store.catalogue().await.unwrap()[0].name, "alice");
    let states = [
        (15_458_579_251_200_000, MessageState::Expired),
        (15_526_526_976_000_000, MessageState::Delivered),
        (15_526_526_976_000_001, MessageState::Submitted),
        (15_526_526_976_000_002, MessageState::Queued),
        (15_526_526_976_000_003, MessageState::Queued),
    ];
    for (id, state) in states {
        assert_eq!(world.state(message(id)).await, state, "message {id}");
    }
    let replay = world.store.find_key(key(1)).await.unwrap().unwrap();
    assert_eq!((replay.message, replay.same_request), (message(15_526_526_976_000_000), true));
    let ledger = world.store.ledger(ALICE, None, 10).await.unwrap();
    let kinds: Vec<_> = ledger.iter().map(|row| (row.kind, row.reference.clone())).collect();
    assert_eq!(kinds, [(LedgerKind::Refund, None), (LedgerKind::TopUp, None)]);

    // The days of the past are counted, and today goes on from there.
    let counted = [totals(20_771, 1), totals(20_774, 4)];
    assert_eq!(world.store.day_totals(ALICE, Day::new(0), Day::new(99_999)).await.unwrap(), counted);
    let sent = world.sends(world.sms()).await;
    assert!(sent > message(15_526_526_976_000_003));
    let counted = [totals(20_771, 1), totals(20_774, 5)];
    assert_eq!(world.store.day_totals(ALICE, Day::new(0), Day::new(99_999)).await.unwrap(), counted);

    // What was under way is finished.
    world.link().await.receipt("b", Verdict::Delivered).await;
    world.settles().await;
    assert_eq!(world.state(message(15_526_526_976_000_001)).await, MessageState::Delivered);
    world.passes(IN_DOUBT_WAIT).await;
    let link = world.link_with_room(10).await;
    assert_eq!(link.takes_jobs(4).await.len(), 4);
    world.now = world.now.plus(VALIDITY_AND_A_DAY);
    world.store.daily(world.now).await.unwrap();
    world.restarts().await;
    world.sends(Acceptance { key: Some(key(3)), ..world.sms() }).await;
    world.books_are_sound();
}
