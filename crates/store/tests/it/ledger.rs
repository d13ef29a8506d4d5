//! Ledger entries: the effect of each kind, rejected entries, and repeated references.

use crate::world::*;
use hermod_domain::ids::AccountId;
use hermod_domain::money::{AMOUNT_MAX, Money};
use hermod_store::{Acceptance, Balance, LedgerEntry, LedgerKind, PostOutcome, PostRefusal};

const fn both(balance: i64, credit_used: i64) -> Balance {
    Balance { balance: Money::from_micros(balance), credit_used: Money::from_micros(credit_used) }
}

#[tokio::test]
async fn each_entry_kind_changes_balance_and_credit_used_by_its_rule() {
    let world = World::with_credit(0).await;
    let story = [
        // (entry kind and amount, balance and credit used after it)
        (LedgerKind::TopUp, 100, both(100, 0)),
        (LedgerKind::Adjustment, -700, both(-600, 0)),
        (LedgerKind::Invoice, 600, both(0, 600)),
        (LedgerKind::Payment, 250, both(0, 350)),
        (LedgerKind::Payment, 400, both(50, 0)),
        (LedgerKind::Payment, 7, both(57, 0)),
        (LedgerKind::Adjustment, 3, both(60, 0)),
        (LedgerKind::Invoice, 40, both(100, 40)),
        (LedgerKind::Payment, 40, both(100, 0)),
    ];
    for (kind, micros, after) in story {
        assert_eq!(world.post(world.entry(ALICE, kind, micros)).await, after, "{kind:?} {micros}");
        assert_eq!(world.store.money().balance(ALICE).await.unwrap(), after);
    }
    assert_eq!(world.balance(AccountId::new(99)).await, 0, "the balance of an unknown account is 0");
    world.assert_audit_clean();
}

#[tokio::test]
async fn invalid_entry_is_rejected_alone() {
    let most = AMOUNT_MAX.as_micros();
    let world = World::with_credit(most).await;
    let cases = [
        (LedgerKind::TopUp, 0, PostRefusal::NotPositive),
        (LedgerKind::TopUp, -1, PostRefusal::NotPositive),
        (LedgerKind::Invoice, 0, PostRefusal::NotPositive),
        (LedgerKind::Payment, -5, PostRefusal::NotPositive),
        (LedgerKind::Adjustment, 0, PostRefusal::Zero),
        (LedgerKind::Refund, 5, PostRefusal::RefundsAreAutomatic),
        (LedgerKind::TopUp, 1, PostRefusal::TooLarge),
        (LedgerKind::Invoice, 1, PostRefusal::TooLarge),
        (LedgerKind::Payment, 1, PostRefusal::TooLarge),
        (LedgerKind::Adjustment, 1, PostRefusal::TooLarge),
        (LedgerKind::Adjustment, -most - most - 1, PostRefusal::TooLarge),
        (LedgerKind::TopUp, i64::MAX, PostRefusal::TooLarge),
        (LedgerKind::Adjustment, i64::MIN, PostRefusal::TooLarge),
    ];
    for (kind, micros, refusal) in cases {
        let outcome = world.store.money().post(world.entry(ALICE, kind, micros)).await.unwrap();
        assert_eq!(outcome, PostOutcome::Refused(refusal), "{kind:?} {micros}");
    }
    assert_eq!(world.store.money().balance(ALICE).await.unwrap(), both(most, 0));
    assert_eq!(world.store.money().ledger(ALICE, None, 10).await.unwrap().len(), 1);
    world.assert_audit_clean();
}

#[tokio::test]
async fn largest_amounts_do_not_overflow() {
    let mut world = World::with_credit(AMOUNT_MAX.as_micros()).await;
    let sms = Acceptance { credit_limit: AMOUNT_MAX, validity: secs(60), ..world.sms() };
    world.send(sms).await;
    world.pay_in(ALICE, PRICE).await;
    world.now = world.now.plus(secs(60));
    assert_eq!(world.sweep(world.now).await, 1);
    assert_eq!(
        world.balance(ALICE).await,
        AMOUNT_MAX.as_micros() + PRICE,
        "the refund is posted above the maximum amount"
    );
    world.assert_audit_clean();
}

#[tokio::test]
async fn repeated_reference_is_posted_once_and_conflicts_with_a_different_entry() {
    let mut world = World::with_credit(0).await;
    let entry = |account, kind, micros| LedgerEntry {
        reference: Some("bank 4711".to_owned()),
        ..world.entry(account, kind, micros)
    };
    world.post(world.entry(ALICE, LedgerKind::Invoice, 30)).await;
    let payment = entry(ALICE, LedgerKind::Payment, 100);
    let PostOutcome::Posted { entry: id, balance } = world.store.money().post(payment.clone()).await.unwrap()
    else {
        panic!("not posted");
    };
    assert_eq!(balance, both(100, 0));
    world.post(world.entry(ALICE, LedgerKind::TopUp, 5)).await;
    let others = [
        entry(ALICE, LedgerKind::Payment, 99),
        entry(ALICE, LedgerKind::Payment, 70),
        entry(ALICE, LedgerKind::TopUp, 100),
    ];
    let bobs = entry(BOB, LedgerKind::TopUp, 1);
    for _ in 0..2 {
        // A repeated posting returns the current balance.
        let repeated = PostOutcome::Repeated { entry: id, balance: both(105, 0) };
        assert_eq!(world.store.money().post(payment.clone()).await.unwrap(), repeated);
        for other in &others {
            let outcome = world.store.money().post(other.clone()).await.unwrap();
            assert_eq!(outcome, PostOutcome::Refused(PostRefusal::ReferenceTaken), "{other:?}");
        }
        world.restart().await;
    }
    assert_eq!(world.post(bobs).await, both(1, 0), "another account's references are its own");
    world.assert_audit_clean();
}

#[tokio::test]
async fn same_reference_in_fifty_concurrent_postings_is_posted_once() {
    let world = World::with_credit(0).await;
    let entry =
        LedgerEntry { reference: Some("once".to_owned()), ..world.entry(ALICE, LedgerKind::TopUp, 10) };
    let mut posting = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (store, entry) = (world.store.clone(), entry.clone());
        posting.spawn(async move { store.money().post(entry).await.expect("the store answers") });
    }
    let outcomes = posting.join_all().await;
    let posted = outcomes.iter().filter(|outcome| matches!(outcome, PostOutcome::Posted { .. })).count();
    assert_eq!((posted, world.balance(ALICE).await), (1, 10));
    world.assert_audit_clean();
}

#[tokio::test]
async fn ledger_is_read_newest_first_in_pages() {
    let world = World::with_credit(0).await;
    for micros in 1..=5 {
        let reference = (micros == 3).then(|| "third".to_owned());
        world.post(LedgerEntry { reference, ..world.entry(ALICE, LedgerKind::TopUp, micros) }).await;
        world.post(world.entry(BOB, LedgerKind::TopUp, 1_000)).await;
    }
    let mut read = Vec::new();
    let mut before = None;
    loop {
        let page = world.store.money().ledger(ALICE, before, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        read.extend(page);
    }
    let amounts: Vec<i64> = read.iter().map(|row| row.balance.as_micros()).collect();
    assert_eq!(amounts, [5, 4, 3, 2, 1]);
    let third = &read[2];
    assert_eq!((third.kind, third.at, third.message), (LedgerKind::TopUp, world.now, None));
    assert_eq!((third.reference.as_deref(), third.note.as_str()), (Some("third"), "by a test"));
}
