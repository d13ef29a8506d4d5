//! Requests of customers: each ends once, and an accepted one makes its change in the same transaction.

use crate::world::*;
use hermod_domain::audit::{AuditEntry, AuditFilter};
use hermod_domain::customer_request::{CustomerRequestKind, CustomerRequestState};
use hermod_domain::ids::ConnectionId;
use hermod_domain::money::Money;
use hermod_store::{
    CUSTOMER_REQUESTS_KEPT_MAX, CatalogueChange, CustomerRequestEnd, LedgerEntry, LedgerKind,
    MadeCustomerRequest, NewCustomerRequest, OPEN_CUSTOMER_REQUESTS_MAX, StoreError,
};

fn request(subject: &str) -> NewCustomerRequest {
    NewCustomerRequest {
        account: ALICE,
        kind: CustomerRequestKind::TopUp,
        subject: subject.to_owned(),
        connection: None,
        details: "for the campaign".to_owned(),
        by: "ann@example.com".to_owned(),
        now: noon(),
    }
}

async fn make(world: &World, subject: &str) -> u64 {
    match world.store.customer_requests().make(request(subject)).await {
        Ok(MadeCustomerRequest::New(id)) => id,
        other => panic!("{subject}: {other:?}"),
    }
}

fn end(id: u64, state: CustomerRequestState) -> CustomerRequestEnd {
    CustomerRequestEnd {
        id,
        state,
        by: "operator".to_owned(),
        reason: "as agreed".to_owned(),
        now: noon().plus(VALIDITY),
    }
}

/// Accepts a request for a top-up.
fn accept(id: u64) -> CatalogueChange {
    let entry = LedgerEntry {
        account: ALICE,
        kind: LedgerKind::TopUp,
        amount: Money::from_micros(5_000_000),
        note: String::new(),
        reference: Some(format!("request {id}")),
        now: noon(),
    };
    CatalogueChange {
        entries: vec![entry],
        request: Some(end(id, CustomerRequestState::Accepted)),
        ..CatalogueChange::default()
    }
}

fn entry(subject: &str) -> AuditEntry {
    AuditEntry {
        at: noon(),
        account: Some(ALICE),
        by: "operator".to_owned(),
        from: String::new(),
        action: "request.accept".to_owned(),
        subject: subject.to_owned(),
        detail: "{}".to_owned(),
    }
}

#[tokio::test]
async fn accepted_top_up_is_credited_once_and_survives_a_crash() {
    let mut world = World::new().await;
    let before = world.balance(ALICE).await;
    let id = make(&world, "5").await;
    let store = &world.store;
    store.audited(vec![entry("first")]).setup().change(accept(id)).await.unwrap();
    world.kill();
    let store = &world.store;
    let again = store.audited(vec![entry("second")]).setup().change(accept(id)).await;
    assert!(matches!(again, Err(StoreError::RequestEnded)), "{again:?}");
    assert!(!store.customer_requests().end(end(id, CustomerRequestState::Declined)).await.unwrap());
    assert_eq!(world.balance(ALICE).await, before + 5_000_000);
    let stored = world.store.customer_requests().find(id).await.unwrap().unwrap();
    assert_eq!(stored.request, request("5"));
    assert_eq!(
        (stored.state, stored.ended_at, stored.ended_by.as_str(), stored.reason.as_str()),
        (CustomerRequestState::Accepted, Some(noon().plus(VALIDITY)), "operator", "as agreed")
    );
    let log = world.store.audit_log(AuditFilter::default(), None, 10).await.unwrap();
    let subjects: Vec<_> = log.iter().map(|row| row.entry.subject.as_str()).collect();
    assert_eq!(subjects, ["first", "the account"]);
    assert_eq!(log[0].posting.map(|posting| posting.balance.as_micros()), Some(5_000_000));
    world.assert_audit_clean();
}

#[tokio::test]
async fn refused_change_leaves_its_request_open() {
    let world = World::new().await;
    let id = make(&world, "5").await;
    let mut change = accept(id);
    change.entries[0].amount = Money::ZERO;
    let refused = world.store.setup().change(change).await;
    assert!(matches!(refused, Err(StoreError::EntryRefused(_))), "{refused:?}");
    assert!(world.store.customer_requests().find(id).await.unwrap().unwrap().is_open());
    let unknown = world.store.setup().change(accept(id + 1)).await;
    assert!(matches!(unknown, Err(StoreError::RequestEnded)), "{unknown:?}");
    world.assert_audit_clean();
}

#[tokio::test]
async fn open_requests_are_bounded_and_the_same_request_is_stored_once() {
    let mut world = World::new().await;
    for number in 0..OPEN_CUSTOMER_REQUESTS_MAX {
        make(&world, &number.to_string()).await;
    }
    let made = async |world: &World, request| world.store.customer_requests().make(request).await.unwrap();
    assert_eq!(made(&world, request("0")).await, MadeCustomerRequest::Same(1));
    assert_eq!(made(&world, request("more")).await, MadeCustomerRequest::TooMany);
    let bobs = NewCustomerRequest { account: BOB, ..request("0") };
    let of_bob = u64::try_from(OPEN_CUSTOMER_REQUESTS_MAX).unwrap() + 1;
    assert_eq!(made(&world, bobs).await, MadeCustomerRequest::New(of_bob));
    assert!(world.store.customer_requests().end(end(1, CustomerRequestState::Withdrawn)).await.unwrap());
    world.restart().await;
    let connection = Some(ConnectionId::new(4));
    let of_connection = NewCustomerRequest { connection, kind: CustomerRequestKind::Rate, ..request("0") };
    assert_eq!(made(&world, of_connection.clone()).await, MadeCustomerRequest::New(of_bob + 1));
    let newest = world.store.customer_requests().list(Some(ALICE), None, None, 1).await.unwrap();
    assert_eq!(newest[0].request, of_connection);
    let withdrawn = CustomerRequestState::Withdrawn;
    let ended = world.store.customer_requests().list(None, Some(withdrawn), None, 9).await.unwrap();
    assert_eq!(ended.iter().map(|request| request.id).collect::<Vec<_>>(), [1]);
    let before = world.store.customer_requests().list(Some(ALICE), None, Some(3), 9).await.unwrap();
    assert_eq!(before.iter().map(|request| request.id).collect::<Vec<_>>(), [2, 1]);
}

#[tokio::test]
async fn oldest_ended_request_gives_way() {
    let world = World::new().await;
    let kept_open = make(&world, "open").await;
    let total = u64::try_from(CUSTOMER_REQUESTS_KEPT_MAX).unwrap();
    for number in 2..=total + 1 {
        let id = make(&world, &number.to_string()).await;
        assert_eq!(id, number);
        assert!(world.store.customer_requests().end(end(id, CustomerRequestState::Declined)).await.unwrap());
    }
    let kept = world.store.customer_requests().list(Some(ALICE), None, None, 1_000).await.unwrap();
    assert_eq!(kept.len(), CUSTOMER_REQUESTS_KEPT_MAX);
    assert!(world.store.customer_requests().find(kept_open).await.unwrap().unwrap().is_open());
    assert_eq!(world.store.customer_requests().find(2).await.unwrap(), None);
}
