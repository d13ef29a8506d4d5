//! Concatenation of MO parts: any order, any link, missing parts, repeated parts.

use super::*;
use hermod_store::{
    CONCATENATED_OCTETS_MAX, CONCATENATION_WAIT, LinkKind, PART_REPEATS_KNOWN,
    UNFINISHED_PARTS_PER_CARRIER_MAX,
};

fn count_unfinished_parts(world: &World) -> i64 {
    world.raw().number("SELECT count(*) FROM inbound_part")
}

#[tokio::test]
async fn parts_in_every_order_over_two_links_become_one_message() {
    let orders = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]];
    let world = World::with_numbers().await;
    let links = [world.link().await, world.link_of(ACME, LinkKind::ReceivesOnly).await];
    for (order, reference) in orders.into_iter().zip(1..) {
        for (no, link) in order.into_iter().zip(links.iter().cycle()) {
            link.receive_mo(piece(reference, no, 3, &format!("<{reference}-{no}>"))).await;
        }
    }
    let expect: Vec<String> = (1..=6).map(|it| format!("<{it}-1><{it}-2><{it}-3>")).collect();
    assert_eq!(world.inbound_texts(ALICE).await, expect);
    assert_eq!(count_unfinished_parts(&world), 0);
    world.assert_audit_clean();
}

#[tokio::test]
async fn character_split_between_two_parts_is_joined() {
    let world = World::with_numbers().await;
    for (no, octets) in [(2, &b"\xde\x00\x00!"[..]), (1, b"\x04\x16\xd8\x3d")] {
        let halves = MoSegment {
            data_coding: 8,
            alphabet: Alphabet::Ucs2,
            header: Box::default(),
            octets: octets.into(),
        };
        world.receive_mo(InboundPart { segment: halves, ..piece(1, no, 2, "") }).await;
    }
    assert_eq!(world.inbound_texts(ALICE).await, ["Ж😀!"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn parts_of_different_messages_are_not_joined() {
    let world = World::with_numbers().await;
    let link = world.link().await;
    let other = world.link_to(OTHER, 0).await;
    link.receive_mo(piece(1, 1, 2, "a1")).await;
    link.receive_mo(piece(2, 1, 2, "b1")).await;
    link.receive_mo(piece(1, 1, 3, "c1")).await;
    other.receive_mo(piece(1, 2, 2, "other carrier's")).await;
    link.receive_mo(InboundPart { source: SmppAddress::new(1, 1, b"4915100000000"), ..piece(1, 2, 2, "d2") })
        .await;
    assert!(world.inbound_texts(ALICE).await.is_empty());
    world.assert_audit_clean();
    link.receive_mo(piece(2, 2, 2, "b2")).await;
    link.receive_mo(piece(1, 2, 2, "a2")).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["b1b2", "a1a2"]);
    assert_eq!(count_unfinished_parts(&world), 3);
    world.assert_audit_clean();
}

#[tokio::test]
async fn incomplete_message_is_delivered_after_ten_minutes_and_so_is_its_late_part() {
    let mut world = World::with_numbers().await;
    world.receive_mo(piece(1, 3, 3, "three")).await;
    world.advance(secs(60)).await;
    world.receive_mo(piece(1, 1, 3, "one ")).await;
    let began = world.now.minus(secs(60));
    // The ten minutes count from the first part, over a restart too.
    world.advance(CONCATENATION_WAIT - secs(61)).await;
    world.restart().await;
    world.store.set_catalogue(catalogue(Vec::new()));
    assert!(world.inbound_texts(ALICE).await.is_empty());
    world.advance(secs(1)).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["one three"]);
    let record = world.store.inbound().list(ALICE, 0, 1).await.unwrap().remove(0);
    assert_eq!(record.received_at, began);
    let missing: i64 = world.raw().number("SELECT missing FROM inbound");
    assert_eq!(missing, 1);

    // Repeats of delivered parts are dropped for a while; a new part waits for ten minutes.
    world.advance(secs(300)).await;
    world.receive_mo(piece(1, 1, 3, "one ")).await;
    world.receive_mo(piece(1, 3, 3, "three")).await;
    world.receive_mo(piece(1, 2, 3, "two ")).await;
    assert_eq!(world.inbound_texts(ALICE).await.len(), 1);
    world.advance(CONCATENATION_WAIT).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["one three", "two "]);
    world.advance(PART_REPEATS_KNOWN).await;
    world.sweep(world.now).await;
    for (no, words) in [(1, "one "), (2, "two "), (3, "three")] {
        world.receive_mo(piece(1, no, 3, words)).await;
    }
    assert_eq!(
        world.inbound_texts(ALICE).await.last().unwrap(),
        "one two three",
        "after that time the parts are a new message"
    );
    world.assert_audit_clean();
}

#[tokio::test]
async fn kill_between_two_parts_neither_loses_nor_duplicates_a_part() {
    let mut world = World::with_numbers().await;
    world.receive_mo(piece(1, 2, 2, "two")).await;
    world.kill();
    world.store.set_catalogue(catalogue(Vec::new()));
    // The carrier repeats the part, because its response was lost with the process.
    world.receive_mo(piece(1, 2, 2, "two")).await;
    world.receive_mo(piece(1, 1, 2, "one ")).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["one two"]);
    world.kill();
    world.store.set_catalogue(catalogue(Vec::new()));
    world.receive_mo(piece(1, 1, 2, "one ")).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["one two"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn messages_with_the_same_reference_are_all_delivered() {
    let mut world = World::with_numbers().await;
    for words in ["first", "second"] {
        for no in 1..=2 {
            world.receive_mo(piece(0, no, 2, &format!("{words}{no}"))).await;
        }
    }
    assert_eq!(world.inbound_texts(ALICE).await, ["first1first2", "second1second2"]);
    // An incomplete message is delivered when the next one with its reference begins.
    world.receive_mo(piece(0, 1, 2, "third1")).await;
    world.receive_mo(piece(0, 1, 2, "fourth1")).await;
    assert_eq!(world.inbound_texts(ALICE).await.last().unwrap(), "third1");
    world.advance(CONCATENATION_WAIT).await;
    assert_eq!(world.inbound_texts(ALICE).await.last().unwrap(), "fourth1");
    world.assert_audit_clean();
}

#[tokio::test]
async fn part_equal_to_an_earlier_one_is_joined_if_a_message_lacks_it_or_after_the_repeat_window() {
    let mut world = World::with_numbers().await;
    for (no, words) in [(1, "Dear all, "), (2, "yes"), (2, "no"), (1, "Dear all, ")] {
        world.receive_mo(piece(0, no, 2, words)).await;
    }
    assert_eq!(world.inbound_texts(ALICE).await, ["Dear all, yes", "Dear all, no"]);
    world.receive_mo(piece(0, 1, 2, "Dear all, ")).await;
    assert_eq!(count_unfinished_parts(&world), 0, "no message lacks the part, so it is a repeat");
    assert_eq!(PART_REPEATS_KNOWN, secs(1_200));
    world.advance(PART_REPEATS_KNOWN).await;
    for (no, words) in [(1, "Dear all, "), (2, "yes")] {
        world.receive_mo(piece(0, no, 2, words)).await;
    }
    assert_eq!(world.inbound_texts(ALICE).await, ["Dear all, yes", "Dear all, no", "Dear all, yes"]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_over_the_size_limit_is_delivered_incomplete() {
    let world = World::with_numbers().await;
    let long = "x".repeat(CONCATENATED_OCTETS_MAX / 2);
    for no in 1..=3 {
        world.receive_mo(piece(1, no, 255, &format!("{long}{no}"))).await;
    }
    let lengths: Vec<usize> = world.inbound_texts(ALICE).await.iter().map(String::len).collect();
    assert_eq!(
        lengths,
        [long.len() + 1; 2],
        "two parts exceed the limit, so each is delivered when the next arrives"
    );
    world.assert_audit_clean();
}

#[tokio::test]
async fn oldest_incomplete_message_over_the_part_limit_is_delivered() {
    let mut world = World::with_numbers().await;
    let link = world.link().await;
    let limit = u16::try_from(UNFINISHED_PARTS_PER_CARRIER_MAX).expect("a small number");
    let parts = (0..limit).map(|reference| {
        let part = piece(reference, 1, 2, &reference.to_string());
        MoRecord { sequence: u32::from(reference) + 1, part }
    });
    for some in parts.collect::<Vec<_>>().chunks(500) {
        link.port.record(vec![], vec![], some.to_vec(), 0, link.now).await.unwrap();
        assert_eq!(link.take_handout().await.received.len(), some.len());
    }
    assert!(world.inbound_texts(ALICE).await.is_empty());
    link.receive_mo(piece(limit, 1, 2, "one too many")).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["0"]);
    assert_eq!(count_unfinished_parts(&world), i64::from(limit));
    // Each carrier has its own limit.
    world.link_to(OTHER, 0).await.receive_mo(piece(limit, 2, 2, "another's")).await;
    assert_eq!(world.inbound_texts(ALICE).await.len(), 1);
    world.restart().await;
    world.store.set_catalogue(catalogue(Vec::new()));
    world.receive_mo(piece(limit + 1, 1, 2, "the limit is known after a restart")).await;
    assert_eq!(world.inbound_texts(ALICE).await, ["0", "1"]);
    world.assert_audit_clean();
}
