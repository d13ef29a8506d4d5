//! Searches through the store: what was just committed, erased numbers, texts, and a store without a record.

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::phone::Msisdn;
use hermod_domain::text::MessageText;
use hermod_store::record::{
    Count, MessageFilter, RecipientFilter, RecordedMessage, Scope, SearchLimits, TextQuery,
};
use hermod_store::{Acceptance, Store, StoreError};

const PAGE: SearchLimits = SearchLimits { before: None, rows: 100 };

fn ids(rows: &[RecordedMessage]) -> Vec<MessageId> {
    rows.iter().map(|row| row.id).collect()
}

fn to(number: u64) -> Acceptance {
    Acceptance { to: Msisdn::from_number(number).expect("a number"), ..sms(noon()) }
}

fn exactly(number: u64) -> MessageFilter {
    let recipient = RecipientFilter::Exact(Msisdn::from_number(number).expect("a number"));
    MessageFilter { recipient: Some(recipient), ..MessageFilter::default() }
}

async fn search(store: &Store, filter: MessageFilter) -> Vec<MessageId> {
    store.record().flush().await.expect("the record is complete");
    ids(&store.record().search_messages(Scope::All, filter, PAGE).await.expect("a page").rows)
}

#[tokio::test]
async fn message_is_found_by_its_properties_and_shown_with_its_end() {
    let world = World::with_record().await;
    let link = world.link_with_slots(1).await;
    let message = world.send(to(4_915_100_000_001)).await;
    world.send(to(4_915_100_000_002)).await;
    let job = link.take_job().await;
    link.accept(&job, "id-1").await;
    link.receipt("id-1", DeliveryOutcome::Undeliverable).await;
    world.flush().await;
    assert_eq!(search(&world.store, exactly(4_915_100_000_001)).await, [message]);
    let found = world
        .store
        .record()
        .search_messages(Scope::All, exactly(4_915_100_000_001), PAGE)
        .await
        .expect("the record answers");
    let row = &found.rows[0];
    assert!(row.state.is_final() && row.settled_at.is_some() && row.code.is_some());
    assert_eq!((found.next, found.searched_to), (None, None));
    assert!(!found.status.is_off);
}

#[tokio::test]
async fn cursor_goes_through_messages_of_one_millisecond() {
    let world = World::with_record().await;
    let mut sent = Vec::new();
    for _ in 0..25 {
        sent.push(world.send(world.sms()).await);
    }
    world.store.record().flush().await.expect("the record answers");
    for scope in [Scope::All, Scope::Account(ALICE)] {
        let (mut found, mut before) = (Vec::new(), None);
        loop {
            let limits = SearchLimits { before, rows: 4 };
            let page = world
                .store
                .record()
                .search_messages(scope, MessageFilter::default(), limits)
                .await
                .expect("the record answers");
            found.extend(ids(&page.rows));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        found.reverse();
        assert_eq!(found, sent);
        let counted = world
            .store
            .record()
            .count_messages(scope, MessageFilter::default())
            .await
            .expect("the record answers");
        assert_eq!(counted, Count::Exactly(25));
    }
}

#[tokio::test]
async fn texts_are_searched_within_a_week_of_one_account() {
    let world = World::with_record().await;
    let text = |words: &str| Acceptance { text: MessageText::parse(words).expect("a text"), ..world.sms() };
    let code = world.send(text("Your CODE is 1234")).await;
    world.send(text("Thank you")).await;
    let trouble = world.send(text("Kein Ärger mit dem Code")).await;
    world.store.record().flush().await.expect("the record answers");
    let query =
        |words: &str| TextQuery { text: words.to_owned(), from: noon(), until: noon().plus(secs(60)) };
    let find = async |words: &str| {
        let page = world
            .store
            .record()
            .search_text(ALICE, query(words), None, 10)
            .await
            .expect("the record answers");
        assert_eq!((page.next, page.looked_at, page.searched_to), (None, 3, noon()));
        ids(&page.rows)
    };
    assert_eq!(find("code").await, [trouble, code]);
    assert_eq!(find("ÄRGER").await, [trouble]);
    assert_eq!(find("nothing").await, []);
    let first =
        world.store.record().search_text(ALICE, query("code"), None, 1).await.expect("the record answers");
    assert_eq!(ids(&first.rows), [trouble]);
    let second = world
        .store
        .record()
        .search_text(ALICE, query("code"), first.next, 1)
        .await
        .expect("the record answers");
    assert_eq!(ids(&second.rows), [code]);
    let long = TextQuery { until: noon().plus(secs(8 * 86_400)), ..query("code") };
    let failed = world.store.record().search_text(ALICE, long, None, 1).await;
    assert!(matches!(failed, Err(StoreError::TextRangeTooLong)), "{failed:?}");
}

#[tokio::test]
async fn queries_without_a_record_say_how_to_switch_it_on() {
    let world = World::new().await;
    let failed = world.store.record().search_messages(Scope::All, MessageFilter::default(), PAGE).await;
    let Err(error @ StoreError::RecordOff) = failed else { panic!("{failed:?}") };
    assert!(error.to_string().contains("[record]"), "{error}");
}
