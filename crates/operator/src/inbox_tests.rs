//! Unit tests of `inbox.rs`.

use super::*;

#[test]
fn thread_is_listed_once_by_its_newest_message() {
    let parties = |id: u64, from: &str| InboundParties { id, from: from.to_owned(), to: "70707".to_owned() };
    let looked_at = [parties(9, "+491"), parties(8, "+492"), parties(7, "+491"), parties(2, "+493")];
    assert_eq!(threads_in(&looked_at), [(9, 2), (8, 1), (2, 1)]);
    assert_eq!(next_slice(&looked_at), None);
    let (page, next) = page_of_threads(&looked_at, InboxCursor::default(), 2);
    assert_eq!((page.len(), next), (2, Some(InboxCursor { slice: None, before: Some(8) })));
    // The thread of message 7 was on the first page, by its newest message.
    assert_eq!(page_of_threads(&looked_at, next.unwrap(), 2), (vec![(2, 1)], None));
}
