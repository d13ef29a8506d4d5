//! Long messages: their parts come in any order, over any link, and not all of them.

use super::*;
use hermod_store::{
    JOINED_OCTETS_MAX, JOINING_WAIT, LinkKind, PART_REPEATS_KNOWN, UNFINISHED_PARTS_PER_CARRIER_MAX,
};

fn waiting(world: &World) -> i64 {
    world.raw().query_row("SELECT count(*) FROM inbound_part", [], |row| row.get(0)).expect("a count")
}

#[tokio::test]
async fn parts_become_one_message_in_every_order_and_over_two_links() {
    let orders = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]];
    let world = World::with_numbers().await;
    let links = [world.link().await, world.link_of(ACME, LinkKind::ReceivesOnly).await];
    for (order, reference) in orders.into_iter().zip(1..) {
        for (no, link) in order.into_iter().zip(links.iter().cycle()) {
            link.brings(piece(reference, no, 3, &format!("<{reference}-{no}>"))).await;
        }
    }
    let expect: Vec<String> = (1..=6).map(|it| format!("<{it}-1><{it}-2><{it}-3>")).collect();
    assert_eq!(world.reads(ALICE).await, expect);
    assert_eq!(waiting(&world), 0);
    world.books_are_sound();
}

#[tokio::test]
async fn a_character_may_begin_in_one_part_and_end_in_the_next() {
    let world = World::with_numbers().await;
    for (no, octets) in [(2, &b"\xde\x00\x00!"[..]), (1, b"\x04\x16\xd8\x3d")] {
        let halves =
            Piece { data_coding: 8, alphabet: Alphabet::Ucs2, header: Box::default(), octets: octets.into() };
        world.brings(InboundPart { piece: halves, ..piece(1, no, 2, "") }).await;
    }
    assert_eq!(world.reads(ALICE).await, ["Ж😀!"]);
    world.books_are_sound();
}

#[tokio::test]
async fn parts_of_different_messages_are_kept_apart() {
    let world = World::with_numbers().await;
    let link = world.link().await;
    let other = world.link_to(OTHER, 0).await;
    link.brings(piece(1, 1, 2, "a1")).await;
    link.brings(piece(2, 1, 2, "b1")).await;
    link.brings(piece(1, 1, 3, "c1")).await;
    other.brings(piece(1, 2, 2, "other carrier's")).await;
    link.brings(InboundPart { source: WrittenAddress::new(1, 1, b"4915100000000"), ..piece(1, 2, 2, "d2") })
        .await;
    assert!(world.reads(ALICE).await.is_empty());
    world.books_are_sound();
    link.brings(piece(2, 2, 2, "b2")).await;
    link.brings(piece(1, 2, 2, "a2")).await;
    assert_eq!(world.reads(ALICE).await, ["b1b2", "a1a2"]);
    assert_eq!(waiting(&world), 3);
    world.books_are_sound();
}

#[tokio::test]
async fn after_ten_minutes_what_has_come_is_delivered_and_a_late_part_in_its_turn() {
    let mut world = World::with_numbers().await;
    world.brings(piece(1, 3, 3, "three")).await;
    world.passes(secs(60)).await;
    world.brings(piece(1, 1, 3, "one ")).await;
    let began = world.now.minus(secs(60));
    // It counts from the first part that came, and a restart changes nothing.
    world.passes(JOINING_WAIT - secs(61)).await;
    world.restarts().await;
    world.store.set_catalogue(catalogue(Vec::new()));
    assert!(world.reads(ALICE).await.is_empty());
    world.passes(secs(1)).await;
    assert_eq!(world.reads(ALICE).await, ["one three"]);
    let record = world.store.inbound(ALICE, 0, 1).await.unwrap().remove(0);
    assert_eq!(record.received_at, began);
    let missing: i64 = world.raw().query_row("SELECT missing FROM inbound", [], |row| row.get(0)).unwrap();
    assert_eq!(missing, 1);

    // Repeats of what was delivered are swallowed for a while; what is new waits in its turn.
    world.passes(secs(300)).await;
    world.brings(piece(1, 1, 3, "one ")).await;
    world.brings(piece(1, 3, 3, "three")).await;
    world.brings(piece(1, 2, 3, "two ")).await;
    assert_eq!(world.reads(ALICE).await.len(), 1);
    world.passes(JOINING_WAIT).await;
    assert_eq!(world.reads(ALICE).await, ["one three", "two "]);
    world.passes(PART_REPEATS_KNOWN).await;
    world.sweeps(world.now).await;
    for (no, words) in [(1, "one "), (2, "two "), (3, "three")] {
        world.brings(piece(1, no, 3, words)).await;
    }
    assert_eq!(world.reads(ALICE).await.last().unwrap(), "one two three", "later it is another message");
    world.books_are_sound();
}

#[tokio::test]
async fn a_kill_between_two_parts_loses_neither_and_doubles_neither() {
    let mut world = World::with_numbers().await;
    world.brings(piece(1, 2, 2, "two")).await;
    world.is_killed();
    world.store.set_catalogue(catalogue(Vec::new()));
    // The answer may have been lost with the process.
    world.brings(piece(1, 2, 2, "two")).await;
    world.brings(piece(1, 1, 2, "one ")).await;
    assert_eq!(world.reads(ALICE).await, ["one two"]);
    world.is_killed();
    world.store.set_catalogue(catalogue(Vec::new()));
    world.brings(piece(1, 1, 2, "one ")).await;
    assert_eq!(world.reads(ALICE).await, ["one two"]);
    world.books_are_sound();
}

#[tokio::test]
async fn a_handset_that_always_uses_the_same_reference_loses_nothing() {
    let mut world = World::with_numbers().await;
    for words in ["first", "second"] {
        for no in 1..=2 {
            world.brings(piece(0, no, 2, &format!("{words}{no}"))).await;
        }
    }
    assert_eq!(world.reads(ALICE).await, ["first1first2", "second1second2"]);
    // A message that is not complete makes room for the next of the same number.
    world.brings(piece(0, 1, 2, "third1")).await;
    world.brings(piece(0, 1, 2, "fourth1")).await;
    assert_eq!(world.reads(ALICE).await.last().unwrap(), "third1");
    world.passes(JOINING_WAIT).await;
    assert_eq!(world.reads(ALICE).await.last().unwrap(), "fourth1");
    world.books_are_sound();
}

#[tokio::test]
async fn a_part_like_that_of_an_earlier_message_is_taken_where_it_is_lacking_and_after_a_while_anyway() {
    let mut world = World::with_numbers().await;
    for (no, words) in [(1, "Dear all, "), (2, "yes"), (2, "no"), (1, "Dear all, ")] {
        world.brings(piece(0, no, 2, words)).await;
    }
    assert_eq!(world.reads(ALICE).await, ["Dear all, yes", "Dear all, no"]);
    world.brings(piece(0, 1, 2, "Dear all, ")).await;
    assert_eq!(waiting(&world), 0, "no message lacks it: it is brought again");
    assert_eq!(PART_REPEATS_KNOWN, secs(1_200));
    world.passes(PART_REPEATS_KNOWN).await;
    for (no, words) in [(1, "Dear all, "), (2, "yes")] {
        world.brings(piece(0, no, 2, words)).await;
    }
    assert_eq!(world.reads(ALICE).await, ["Dear all, yes", "Dear all, no", "Dear all, yes"]);
    world.books_are_sound();
}

#[tokio::test]
async fn no_message_grows_without_end() {
    let world = World::with_numbers().await;
    let long = "x".repeat(JOINED_OCTETS_MAX / 2);
    for no in 1..=3 {
        world.brings(piece(1, no, 255, &format!("{long}{no}"))).await;
    }
    let lengths: Vec<usize> = world.reads(ALICE).await.iter().map(String::len).collect();
    assert_eq!(lengths, [long.len() + 1; 2], "two of them are too much, so each goes when the next comes");
    world.books_are_sound();
}

#[tokio::test]
async fn beyond_the_limit_the_oldest_message_is_delivered_as_it_is() {
    let mut world = World::with_numbers().await;
    let link = world.link().await;
    let limit = u16::try_from(UNFINISHED_PARTS_PER_CARRIER_MAX).expect("a small number");
    let parts = (0..limit).map(|reference| {
        let part = piece(reference, 1, 2, &reference.to_string());
        MoRecord { sequence: u32::from(reference) + 1, part }
    });
    for some in parts.collect::<Vec<_>>().chunks(500) {
        link.port.record(vec![], vec![], some.to_vec(), 0, link.now).await.unwrap();
        assert_eq!(link.takes().await.received.len(), some.len());
    }
    assert!(world.reads(ALICE).await.is_empty());
    link.brings(piece(limit, 1, 2, "one too many")).await;
    assert_eq!(world.reads(ALICE).await, ["0"]);
    assert_eq!(waiting(&world), i64::from(limit));
    // Another carrier has room of its own.
    world.link_to(OTHER, 0).await.brings(piece(limit, 2, 2, "another's")).await;
    assert_eq!(world.reads(ALICE).await.len(), 1);
    world.restarts().await;
    world.store.set_catalogue(catalogue(Vec::new()));
    world.brings(piece(limit + 1, 1, 2, "the limit is known after a restart")).await;
    assert_eq!(world.reads(ALICE).await, ["0", "1"]);
    world.books_are_sound();
}
