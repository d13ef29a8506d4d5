//! Accounts, carriers and connections can be removed until their first use, and a removed one is never used.

use crate::nodes::{folder, open_node};
use crate::webhook_queue::documents;
use crate::world::*;
use hermod_domain::ids::{AccountId, CarrierId, ConnectionId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::money::Money;
use hermod_domain::time::Timestamp;
use hermod_store::{
    Acceptance, CatalogueChange, CatalogueRow, EntryRemoved, EntryUse, Inbound, LedgerKind, NumberedEntry,
    OptOut, OptOutSource, Screened, Screening, Store, StoreError, Usage,
};

const ACCOUNT: NumberedEntry = NumberedEntry::Account(BOB);
const CARRIER: NumberedEntry = NumberedEntry::Carrier(CarrierId::new(7));
const CONNECTION: NumberedEntry = NumberedEntry::Connection(ConnectionId::new(9));

fn row(entry: NumberedEntry) -> CatalogueRow {
    let (kind, id) = entry.kind_and_id();
    let setup = documents(None, |_| {});
    let body = match entry {
        NumberedEntry::Account(_) => serde_json::to_string(&setup.accounts[0].2).expect("a document"),
        // Removed before the audit reads it.
        NumberedEntry::Carrier(_) | NumberedEntry::Connection(_) => "{}".to_owned(),
    };
    CatalogueRow { kind: kind.to_owned(), id, name: format!("{kind}-{id}"), body }
}

async fn add(store: &Store, entry: NumberedEntry) {
    let change = CatalogueChange { put: vec![row(entry)], ..CatalogueChange::default() };
    store.setup().change(change).await.expect("it is added");
}

async fn remove(store: &Store, entry: NumberedEntry) -> Result<(), StoreError> {
    let (kind, id) = entry.kind_and_id();
    let change = CatalogueChange { remove: vec![(kind.to_owned(), id)], ..CatalogueChange::default() };
    store.setup().change(change).await
}

/// Returns the first uses and removals, without those of Alice.
async fn uses(store: &Store) -> Vec<(String, u32, Usage, Timestamp)> {
    let uses = store.setup().entry_uses().await.expect("the store answers").into_iter();
    let uses = uses.map(|EntryUse { kind, id, usage, at }| (kind, id, usage, at));
    uses.filter(|(kind, id, ..)| kind != "account" || *id != ALICE.get()).collect()
}

#[track_caller]
fn assert_in_use(removed: Result<(), StoreError>, expected: Usage) {
    match removed {
        Err(StoreError::EntryInUse(EntryUse { usage, .. })) => assert_eq!(usage, expected),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_removed<T>(outcome: Result<T, StoreError>, entry: NumberedEntry) {
    match outcome {
        Err(StoreError::EntryRemoved(EntryRemoved(removed))) => assert_eq!(removed, entry),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{entry} was used after its removal"),
    }
}

fn opt_out(account: AccountId, now: Timestamp) -> OptOut {
    let how = "by a test".to_owned();
    OptOut { account, number: recipient(), source: OptOutSource::Operator, how, now }
}

fn inbound(account: AccountId, received_at: Timestamp) -> Inbound {
    let [from, to, text] = ["+4915112345678", "+4915799999999", "hello"].map(str::to_owned);
    Inbound { account, from, to, text, received_at }
}

fn free_message(world: &World) -> Acceptance {
    Acceptance { account: BOB, cost: Money::ZERO, ..world.sms() }
}

fn held_text(account: AccountId, now: Timestamp) -> Screened {
    Screened {
        account,
        from: sms(now).from,
        to: recipient(),
        text: "hello".to_owned(),
        digest: [3; 16],
        rules: vec!["links".to_owned()],
        now,
    }
}

#[tokio::test]
async fn unused_entries_are_removed_and_a_message_prepared_before_that_is_refused() {
    let mut world = World::new().await;
    let sent = [
        (ACCOUNT, free_message(&world)),
        (CARRIER, Acceptance { carrier: CarrierId::new(7), ..world.sms() }),
        (CONNECTION, Acceptance { connection: ConnectionId::new(9), ..world.sms() }),
    ];
    for (entry, acceptance) in sent {
        add(&world.store, entry).await;
        remove(&world.store, entry).await.expect("it was never used");
        let acceptance = Acceptance { key: Some(key(1)), ..acceptance };
        assert_removed(world.store.accept(acceptance).await, entry);
    }
    assert_eq!(world.store.setup().rows().await.expect("the store answers"), []);
    assert_eq!(world.store.find_key(key(1)).await.expect("the store answers"), None);
    assert_eq!((world.balance(ALICE).await, world.balance(BOB).await), (1_000_000_000, 0));
    for restart in [false, true] {
        if restart {
            world.restart().await;
        }
        let removed: Vec<_> =
            uses(&world.store).await.into_iter().map(|(kind, id, usage, _)| (kind, id, usage)).collect();
        let expected = [("account", 2), ("carrier", 7), ("connection", 9)];
        assert_eq!(removed, expected.map(|(kind, id)| (kind.to_owned(), id, Usage::Removed)));
        assert_removed(world.store.accept(free_message(&world)).await, ACCOUNT);
        let again = CatalogueChange { put: vec![row(ACCOUNT)], ..CatalogueChange::default() };
        assert_removed(world.store.setup().change(again).await, ACCOUNT);
    }
    assert_eq!(audit(world.path()).messages, 0);
    world.assert_audit_clean();
}

#[tokio::test]
async fn removed_account_gets_no_money_message_opt_out_or_review() {
    let world = World::new().await;
    add(&world.store, ACCOUNT).await;
    remove(&world.store, ACCOUNT).await.expect("it was never used");
    let (store, now) = (&world.store, world.now);
    assert_removed(store.money().post(world.entry(BOB, LedgerKind::TopUp, 5)).await, ACCOUNT);
    assert_removed(store.inbound().receive(inbound(BOB, now)).await, ACCOUNT);
    assert_removed(store.opt_outs().add(opt_out(BOB, now)).await, ACCOUNT);
    assert_removed(store.reviews().screen(held_text(BOB, now)).await, ACCOUNT);
    assert_eq!(world.balance(BOB).await, 0);
    world.assert_audit_clean();
}

#[tokio::test]
async fn first_use_of_any_kind_prevents_removal_and_a_zero_opening_does_not() {
    let all = [Usage::LedgerEntry, Usage::InboundMessage, Usage::OptOut, Usage::Review, Usage::Message];
    for expected in all {
        let mut world = World::new().await;
        add(&world.store, ACCOUNT).await;
        let (store, now) = (&world.store, world.now);
        match expected {
            Usage::LedgerEntry => {
                world.post(world.entry(BOB, LedgerKind::TopUp, 5)).await;
            }
            Usage::InboundMessage => {
                store.inbound().receive(inbound(BOB, now)).await.expect("it is received");
            }
            Usage::OptOut => assert!(store.opt_outs().add(opt_out(BOB, now)).await.expect("an answer")),
            Usage::Review => {
                let screened = store.reviews().screen(held_text(BOB, now)).await;
                assert!(matches!(screened, Ok(Screening::Held { case: Some(_) })), "{screened:?}");
            }
            _ => {
                world.send(free_message(&world)).await;
            }
        }
        let known = uses(&world.store).await;
        assert!(known.contains(&("account".to_owned(), BOB.get(), expected, now)), "{known:?}");
        assert_in_use(remove(&world.store, ACCOUNT).await, expected);
        world.restart().await;
        assert_in_use(remove(&world.store, ACCOUNT).await, expected);
        assert_eq!(world.store.setup().rows().await.expect("the store answers").len(), 1);
        world.assert_audit_clean();
    }
}

#[tokio::test]
async fn carrier_that_sent_a_dlr_stays_and_what_a_removed_one_sends_is_not_stored() {
    let world = World::new().await;
    add(&world.store, CARRIER).await;
    let link = world.link_with_slots(1).await;
    let from_removed = world.link_to(CarrierId::new(7), 1).await;
    remove(&world.store, CARRIER).await.expect("a bind is no use");
    let dlr = || vec![receipt(1, "unknown", DeliveryOutcome::Delivered)];
    for port in [&link.port, &from_removed.port] {
        port.record(Vec::new(), dlr(), Vec::new(), 0, world.now).await.expect("the store answers");
    }
    link.take_handout().await;
    world.flush().await;
    assert_in_use(remove(&world.store, NumberedEntry::Carrier(ACME)).await, Usage::Receipt);
    from_removed.assert_idle().await;
    assert_eq!(world.raw().texts("SELECT CAST(carrier AS TEXT) FROM parked"), [ACME.get().to_string()]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn failed_write_leaves_the_entry_and_the_next_attempt_removes_it() {
    let world = World::new().await;
    add(&world.store, ACCOUNT).await;
    world.raw().poison("poison", "INSERT ON entry_use", "NEW.usage = 'removed'");
    let error = remove(&world.store, ACCOUNT).await.expect_err("the database refuses it");
    assert!(error.to_string().contains("poisoned"), "{error}");
    assert_eq!(world.store.setup().rows().await.expect("the store answers"), [row(ACCOUNT)]);
    // Neither the table nor the memory has it as removed.
    world.raw().cure("poison");
    remove(&world.store, ACCOUNT).await.expect("it was never used");
    assert_eq!(world.store.setup().rows().await.expect("the store answers"), []);
    world.assert_audit_clean();
}

#[tokio::test]
async fn removal_survives_a_kill() {
    let mut world = World::new().await;
    add(&world.store, ACCOUNT).await;
    remove(&world.store, ACCOUNT).await.expect("it was never used");
    world.kill();
    assert_removed(world.store.accept(free_message(&world)).await, ACCOUNT);
    assert_eq!(world.store.setup().rows().await.expect("the store answers"), []);
    world.assert_audit_clean();
}

/// A message of an account that does not exist.
#[tokio::test]
async fn audit_finds_a_message_of_a_removed_account_and_one_without_a_use() {
    let mut world = World::new().await;
    world.send(world.sms()).await;
    for damage in [
        "UPDATE entry_use SET usage = 'removed' WHERE kind = 'account'",
        "DELETE FROM entry_use WHERE kind = 'carrier'",
    ] {
        world.kill();
        world.store.close().await.expect("the store closes");
        world.raw().change(damage);
        let found = audit(world.path()).violations;
        assert!(
            found.iter().any(|violation| violation.rule.contains("noted as its use")),
            "{damage}: {found:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn message_that_another_node_accepts_with_the_older_setup_is_refused() {
    let (first, second) = (folder(), folder());
    let Some(engine) = open_node(first.path(), first.path(), "one", None).await else { return };
    let other = open_node(first.path(), second.path(), "two", None).await.expect("on PostgreSQL");
    top_up(&other, 1_000_000_000).await;
    add(&other, CONNECTION).await;
    remove(&other, CONNECTION).await.expect("it was never used");
    for store in [&engine, &other] {
        let acceptance = Acceptance { connection: ConnectionId::new(9), key: Some(key(1)), ..sms(noon()) };
        assert_removed(store.accept(acceptance).await, CONNECTION);
        assert_eq!(store.find_key(key(1)).await.expect("the store answers"), None);
    }
    assert_eq!(engine.money().balance(ALICE).await.expect("a balance").balance.as_micros(), 1_000_000_000);
    other.close().await.expect("it closes");
    engine.close().await.expect("it closes");
    assert_audit_clean(first.path());
}
