//! Review cases of held texts: one case for each text, approvals of a week, and limits.

use crate::world::*;
use hermod_domain::ids::AccountId;
use hermod_domain::sender::Sender;
use hermod_store::{
    APPROVAL_LASTS, REVIEW_CASE_KEPT, REVIEW_CASES_OPEN_MAX, ReviewCase, ReviewState, Screened, Screening,
};

const PASSED: Screening = Screening::Passed;

fn screened(world: &World, account: AccountId, text: &str) -> Screened {
    let mut digest = [0; 16];
    digest.iter_mut().zip(text.bytes()).for_each(|(place, byte)| *place = byte);
    Screened {
        account,
        from: Sender::parse("Hermod").expect("a sender"),
        to: world.sms().to,
        text: text.to_owned(),
        digest,
        rules: vec!["no prizes".to_owned(), "no links".to_owned()],
        now: world.now,
    }
}

async fn screen(world: &World, text: &str) -> Screening {
    world.store.reviews().screen(screened(world, ALICE, text)).await.expect("the store answers")
}

async fn hold(world: &World, text: &str) -> u64 {
    match screen(world, text).await {
        Screening::Held { case: Some(case) } => case,
        other => panic!("not held: {other:?}"),
    }
}

async fn case(world: &World, id: u64) -> ReviewCase {
    world.store.reviews().find(id).await.expect("the store answers").expect("there is such a case")
}

async fn decide(world: &World, id: u64, approve: bool) -> ReviewCase {
    let decided =
        world.store.reviews().decide(id, approve, "olga".to_owned(), "seen".to_owned(), world.now).await;
    decided.expect("the store answers").expect("there is such a case")
}

#[tokio::test]
async fn held_text_sent_again_stays_in_one_case() {
    let mut world = World::new().await;
    let first = hold(&world, "you won").await;
    let opened_at = world.now;
    world.now = world.now.plus(secs(60));
    assert_eq!(hold(&world, "you won").await, first);
    let other = hold(&world, "you won again").await;
    let bobs = world.store.reviews().screen(screened(&world, BOB, "you won")).await.unwrap();
    assert!(first != other && bobs != Screening::Held { case: Some(first) });
    world.restart().await;
    assert_eq!(
        case(&world, first).await,
        ReviewCase {
            id: first,
            account: ALICE,
            digest: screened(&world, ALICE, "you won").digest,
            from: Sender::parse("Hermod").unwrap(),
            to: world.sms().to,
            text: "you won".to_owned(),
            rules: vec!["no prizes".to_owned(), "no links".to_owned()],
            opened_at,
            last_at: world.now,
            seen: 2,
            state: ReviewState::Open,
            decided_at: None,
            decided_by: String::new(),
            reason: String::new(),
        }
    );
    assert_eq!(world.store.reviews().find(first + 100).await.unwrap(), None);
    assert_eq!(world.store.reviews().find(u64::MAX).await.unwrap(), None);
    world.assert_audit_clean();
}

#[tokio::test]
async fn fifty_concurrent_sends_of_a_text_open_one_case() {
    let world = World::new().await;
    let mut trying = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (store, text) = (world.store.clone(), screened(&world, ALICE, "you won"));
        trying.spawn(async move { store.reviews().screen(text).await.expect("the store answers") });
    }
    let screenings = trying.join_all().await;
    assert!(screenings.iter().all(|screening| *screening == screenings[0]), "{screenings:?}");
    assert_eq!(world.store.reviews().list(None, None, None, 10).await.unwrap()[0].seen, 50);
}

#[tokio::test]
async fn approval_lasts_a_week_and_then_the_case_is_open_again() {
    let mut world = World::new().await;
    let id = hold(&world, "you won").await;
    let approved = decide(&world, id, true).await;
    assert_eq!((approved.state, approved.decided_at), (ReviewState::Approved, Some(world.now)));
    assert_eq!(approved.decided_by, "olga");
    let decided_at = world.now;
    for wait in [secs(0), secs(3600), APPROVAL_LASTS - secs(1)] {
        world.now = decided_at.plus(wait);
        assert_eq!(screen(&world, "you won").await, PASSED, "after {wait:?}");
        world.store.delete_expired(world.now).await.unwrap();
        world.restart().await;
    }
    assert!(screen(&world, "you lost").await != PASSED, "another text was not approved");
    world.now = decided_at.plus(APPROVAL_LASTS);
    assert_eq!(hold(&world, "you won").await, id);
    let again = case(&world, id).await;
    assert_eq!((again.state, again.decided_at, again.decided_by.as_str()), (ReviewState::Open, None, ""));
    assert_eq!((again.seen, again.opened_at), (2, world.now));
    decide(&world, id, true).await;
    assert_eq!(screen(&world, "you won").await, PASSED);
    world.assert_audit_clean();
}

#[tokio::test]
async fn rejected_text_stays_held_until_it_is_approved() {
    let mut world = World::new().await;
    let id = hold(&world, "you won").await;
    decide(&world, id, false).await;
    for _ in 0..2 {
        assert_eq!(hold(&world, "you won").await, id);
        assert_eq!(case(&world, id).await.state, ReviewState::Rejected);
        world.now = world.now.plus(APPROVAL_LASTS);
    }
    decide(&world, id, true).await;
    assert_eq!(screen(&world, "you won").await, PASSED);
    let unknown = world
        .store
        .reviews()
        .decide(id + 1, true, "olga".to_owned(), String::new(), world.now)
        .await
        .unwrap();
    assert_eq!(unknown, None);
    world.assert_audit_clean();
}

#[tokio::test]
async fn cases_are_listed_newest_first_by_state() {
    let world = World::new().await;
    let mut ids = Vec::new();
    for text in ["a", "b", "c", "d", "e"] {
        ids.push(hold(&world, text).await);
    }
    decide(&world, ids[1], true).await;
    decide(&world, ids[3], false).await;
    let lists = [
        (None, vec![ids[4], ids[3], ids[2], ids[1], ids[0]]),
        (Some(ReviewState::Open), vec![ids[4], ids[2], ids[0]]),
        (Some(ReviewState::Approved), vec![ids[1]]),
        (Some(ReviewState::Rejected), vec![ids[3]]),
    ];
    for (state, expected) in lists {
        let mut listed: Vec<u64> = Vec::new();
        while let page = world.store.reviews().list(None, state, listed.last().copied(), 2).await.unwrap()
            && !page.is_empty()
        {
            listed.extend(page.iter().map(|case| case.id));
        }
        assert_eq!(listed, expected, "{state:?}");
    }
}

#[tokio::test]
async fn account_over_the_limit_of_open_cases_gets_no_new_case_and_others_do() {
    let world = World::new().await;
    let id = hold(&world, "the first").await;
    // One less than the limit.
    let more = format!(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {})
         INSERT INTO review (id, account, digest, source, dest, text, rules, opened_at, last_at, seen, state,
             decided_by, reason)
         SELECT 1000 + n, 1, CAST('review num' || (100000 + n) AS BLOB), 'Hermod', 4915112345678, 'x', 'r', 5, 5, 1, 0, '', '' FROM n",
        REVIEW_CASES_OPEN_MAX - 2
    );
    world.raw().change(&more);
    hold(&world, "the last").await;
    let full = Screening::Held { case: None };
    assert_eq!(screen(&world, "one more").await, full);
    assert_eq!(hold(&world, "the first").await, id, "a text with a case is counted there");
    assert_ne!(world.store.reviews().screen(screened(&world, BOB, "one more")).await.unwrap(), full);
    decide(&world, id, false).await;
    hold(&world, "one more").await;
    assert_eq!(screen(&world, "and another").await, full);
    world.assert_audit_clean();
}

#[tokio::test]
async fn case_is_deleted_after_a_month_unless_its_approval_is_valid() {
    let mut world = World::new().await;
    let (lost, met, approved) =
        (hold(&world, "lost").await, hold(&world, "met").await, hold(&world, "approved").await);
    let begin = world.now;
    world.now = begin.plus(REVIEW_CASE_KEPT - secs(1));
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(world.store.reviews().list(None, None, None, 10).await.unwrap().len(), 3);
    hold(&world, "met").await;
    decide(&world, approved, true).await;
    world.now = begin.plus(REVIEW_CASE_KEPT);
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(world.store.reviews().find(lost).await.unwrap(), None);
    assert_eq!(case(&world, met).await.seen, 2);
    assert_eq!(screen(&world, "approved").await, PASSED);
    world.now = begin.plus(REVIEW_CASE_KEPT + APPROVAL_LASTS);
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(world.store.reviews().find(approved).await.unwrap(), None);
    world.restart().await;
    assert!(hold(&world, "lost").await > approved, "case ids are not reused");
    world.assert_audit_clean();
}

#[tokio::test]
async fn debug_output_contains_no_text() {
    let world = World::new().await;
    let screened = screened(&world, ALICE, "SECRET");
    let id = hold(&world, "SECRET").await;
    let printed = format!("{screened:?} {:?}", case(&world, id).await);
    assert!(printed.contains("(6 bytes)") && !printed.contains("SECRET"), "{printed}");
}

#[tokio::test]
async fn old_case_behind_many_new_ones_is_deleted_by_a_later_call() {
    let mut world = World::new().await;
    let begin = world.now;
    world.now = begin.plus(REVIEW_CASE_KEPT);
    let cases = "WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
         INSERT INTO review (id, account, digest, source, dest, text, rules, opened_at, last_at, seen, state,
             decided_by, reason)
         SELECT i, 1, CAST('000000000' || (1000000 + i) AS BLOB), 'ACME', 4915112345678, '', '', ?3, ?3, 1, 2, '', '' FROM n";
    world.raw().change_with(cases, &[1, 6_000, world.now.as_millis()]);
    world.raw().change_with(cases, &[6_001, 6_001, begin.as_millis()]);
    let rows = |world: &World| -> i64 { world.raw().number("SELECT count(*) FROM review") };
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 6_001, "one call does not read all rows");
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(rows(&world), 6_000);
}
