//! Catalogue changes: all or nothing, together with the opening balances of accounts.

use crate::world::*;
use hermod_domain::money::{AMOUNT_MAX, Money};
use hermod_store::{
    CatalogueChange, CatalogueRow, LedgerEntry, LedgerKind, PostRefusal, ProvisionedRow, StoreError,
};

/// Returns an entry of this kind with this content.
fn row(kind: &str, id: u32, name: &str, content: &str) -> CatalogueRow {
    let body = match kind {
        "operator" => format!("{{\"token_digest\":\"{content}\",\"role\":\"admin\"}}"),
        "screen" => format!("{{\"account\":null,\"field\":\"text\",\"pattern\":\"{content}\"}}"),
        other => panic!("no test has an entry of the kind {other}"),
    };
    CatalogueRow { kind: kind.to_owned(), id, name: name.to_owned(), body }
}

fn puts(rows: Vec<CatalogueRow>) -> CatalogueChange {
    CatalogueChange { put: rows, ..CatalogueChange::default() }
}

#[tokio::test]
async fn entries_are_replaced_by_kind_and_id_all_or_none() {
    let mut world = World::new().await;
    let store = &world.store;
    store
        .setup()
        .change(puts(vec![row("screen", 1, "de", "old"), row("operator", 1, "alice", "old")]))
        .await
        .unwrap();
    store.setup().change(puts(vec![row("operator", 1, "alice", "new")])).await.unwrap();
    let expected = vec![row("operator", 1, "alice", "new"), row("screen", 1, "de", "old")];
    assert_eq!(store.setup().rows().await.unwrap(), expected);
    let taken = vec![row("screen", 1, "fr", "changed"), row("operator", 2, "alice", "an impostor")];
    let result = store.setup().change(puts(taken)).await;
    assert!(matches!(&result, Err(StoreError::NameTaken { name, .. }) if name == "alice"), "{result:?}");
    let twice = vec![row("operator", 2, "bob", "old"), row("operator", 3, "bob", "old")];
    let result = store.setup().change(puts(twice)).await;
    assert!(matches!(result, Err(StoreError::NameTaken { .. })), "{result:?}");
    assert_eq!(store.setup().rows().await.unwrap(), expected);
    world.restart().await;
    assert_eq!(world.store.setup().rows().await.unwrap(), expected);
}

#[tokio::test]
async fn removed_name_can_be_used_again_in_the_same_change() {
    let world = World::new().await;
    let before = vec![
        row("operator", 1, "k", "old"),
        row("operator", 2, "other", "old"),
        row("screen", 1, "de", "old"),
    ];
    world.store.setup().change(puts(before)).await.unwrap();
    let change = CatalogueChange {
        put: vec![row("operator", 3, "k", "new")],
        remove: vec![("operator".to_owned(), 1), ("screen".to_owned(), 77)],
        ..CatalogueChange::default()
    };
    world.store.setup().change(change).await.unwrap();
    let after = vec![
        row("operator", 2, "other", "old"),
        row("operator", 3, "k", "new"),
        row("screen", 1, "de", "old"),
    ];
    assert_eq!(world.store.setup().rows().await.unwrap(), after);
}

#[tokio::test]
async fn name_of_a_renamed_entry_can_be_used_by_another_in_the_same_change() {
    let world = World::new().await;
    world.store.setup().change(puts(vec![row("operator", 1, "k", "old")])).await.unwrap();
    let after = vec![row("operator", 1, "old-k", "old"), row("operator", 2, "k", "old")];
    world.store.setup().change(puts(after.clone())).await.unwrap();
    assert_eq!(world.store.setup().rows().await.unwrap(), after);
}

#[tokio::test]
async fn account_and_its_opening_balance_are_written_together_or_not_at_all() {
    let world = World::with_credit(0).await;
    let opening = |account, micros| LedgerEntry {
        reference: Some("opening".to_owned()),
        ..world.entry(account, LedgerKind::TopUp, micros)
    };
    let bad = CatalogueChange {
        put: vec![row("operator", 1, "alice", "old"), row("operator", 2, "bob", "old")],
        entries: vec![opening(ALICE, 500), opening(BOB, 0)],
        ..CatalogueChange::default()
    };
    let result = world.store.setup().change(bad.clone()).await;
    assert!(matches!(result, Err(StoreError::EntryRefused(PostRefusal::NotPositive))), "{result:?}");
    assert_eq!(world.store.setup().rows().await.unwrap(), []);
    assert_eq!((world.balance(ALICE).await, world.balance(BOB).await), (0, 0));

    let good = CatalogueChange { entries: vec![opening(ALICE, 500), opening(BOB, 700)], ..bad };
    for _ in 0..2 {
        world.store.setup().change(good.clone()).await.unwrap();
        assert_eq!((world.balance(ALICE).await, world.balance(BOB).await), (500, 700));
    }
    // A second opening balance for the same account is rejected.
    let other = CatalogueChange {
        put: vec![row("operator", 1, "renamed", "old")],
        entries: vec![LedgerEntry { amount: Money::from_micros(1), ..opening(ALICE, 500) }],
        ..CatalogueChange::default()
    };
    let result = world.store.setup().change(other).await;
    assert!(matches!(result, Err(StoreError::EntryRefused(PostRefusal::ReferenceTaken))), "{result:?}");
    assert_eq!(world.store.setup().rows().await.unwrap()[0].name, "alice");
    world.assert_audit_clean();
}

#[tokio::test]
async fn change_whose_entries_contradict_each_other_is_refused_and_writes_nothing() {
    let world = World::with_credit(0).await;
    let opening = |account, micros| LedgerEntry {
        reference: Some("opening".to_owned()),
        ..world.entry(account, LedgerKind::TopUp, micros)
    };
    let large = AMOUNT_MAX.as_micros();
    let cases = [
        (vec![opening(ALICE, 500), opening(ALICE, 501)], Some(PostRefusal::ReferenceTaken)),
        (
            vec![
                world.entry(ALICE, LedgerKind::TopUp, large),
                opening(BOB, 5),
                world.entry(ALICE, LedgerKind::TopUp, 1),
            ],
            Some(PostRefusal::TooLarge),
        ),
        (vec![opening(ALICE, 500), opening(BOB, 700), opening(ALICE, 500)], None),
    ];
    for (entries, refusal) in cases {
        let put = vec![row("operator", 1, "alice", "old")];
        let change = CatalogueChange { put, entries, ..CatalogueChange::default() };
        let result = world.store.setup().change(change).await;
        let balances = (world.balance(ALICE).await, world.balance(BOB).await);
        match refusal {
            Some(refusal) => {
                assert!(
                    matches!(result, Err(StoreError::EntryRefused(result)) if result == refusal),
                    "{result:?}"
                );
                assert_eq!(world.store.setup().rows().await.unwrap(), []);
                assert_eq!(balances, (0, 0));
            }
            None => {
                result.expect("a repeated entry is posted once");
                assert_eq!(balances, (500, 700));
            }
        }
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn provisioned_rows_are_stored_with_their_change_or_not_at_all() {
    let mut world = World::new().await;
    let said = |body: &str| ProvisionedRow {
        kind: "account".to_owned(),
        name: "alice".to_owned(),
        body: body.to_owned(),
    };
    let change = |name: &str, id, body: &str| CatalogueChange {
        provisioned: vec![said(body)],
        ..puts(vec![row("operator", id, name, "old")])
    };
    world.store.setup().change(change("alice", 1, "first")).await.unwrap();
    world.store.setup().change(change("alice", 1, "second")).await.unwrap();
    assert!(world.store.setup().change(change("alice", 2, "third")).await.is_err(), "the name is taken");
    world.restart().await;
    assert_eq!(world.store.setup().provisioned().await.unwrap(), [said("second")]);
}
