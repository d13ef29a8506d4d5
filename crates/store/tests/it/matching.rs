//! Receipts whose ids are written otherwise than in the answer: matched, kept until they can be, or given up in sight.

use crate::world::*;
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::lifecycle::{MessageState, Verdict};
use hermod_domain::phone::Msisdn;
use hermod_domain::time::Day;
use hermod_store::{
    Acceptance, LATE_LINES_MAX, LinkKind, PARKED_KEPT, ParkedReceipt, ReceiptLoss, ReceiptOutcome,
    ReceiptRecord, Rematched,
};

const DAY: u64 = 24 * 3600;

fn number(number: u64) -> Msisdn {
    Msisdn::from_number(491_510_000_000 + number).expect("a number")
}

fn about(to: Msisdn, receipt: ReceiptRecord) -> ReceiptRecord {
    ReceiptRecord { source: Some(to), ..receipt }
}

async fn link_with(world: &World, ids: IdConversion) -> Link {
    let link = world.link_with_ids(ACME, LinkKind::Sends, ids).await;
    link.has_room(10).await;
    link
}

/// One message that the carrier took under this id.
async fn submits(world: &World, link: &Link, to: Msisdn, id: &str) -> MessageId {
    let message = world.sends(Acceptance { to, ..world.sms() }).await;
    link.accepts(&link.takes_job().await, id).await;
    world.settles().await;
    message
}

async fn says(link: &Link, record: ReceiptRecord) -> ReceiptOutcome {
    link.says(Vec::new(), vec![record]).await;
    link.takes_fates().await.remove(0)
}

async fn waits(world: &World) -> Vec<ParkedReceipt> {
    world.store.parked(ACME, 10).await.expect("the store answers")
}

/// As carriers are known to write their ids: conversion, in the answer, in the receipt.
const WRITTEN: [(IdConversion, &str, &str); 8] = [
    (IdConversion::None, "77", "77"),
    (IdConversion::None, "0a1B", "0A1b"),
    (IdConversion::None, "0000077", "77"),
    (IdConversion::None, "77", "0000077"),
    (IdConversion::HexToDecimal, "812FC7470000001B", "9308878062554710043"),
    (IdConversion::HexToDecimal, "0812fc7470000001b", "9308878062554710043"),
    (IdConversion::DecimalToHex, "9308878062554710043", "812fc7470000001b"),
    (IdConversion::DecimalToHex, "27", "0000001B"),
];

#[tokio::test]
async fn a_receipt_after_the_answer_finds_its_part_however_the_id_is_written() {
    for (ids, in_answer, in_receipt) in WRITTEN {
        for restart in [false, true] {
            let mut world = World::new().await;
            let mut link = link_with(&world, ids).await;
            let message = submits(&world, &link, number(1), in_answer).await;
            if restart {
                world.restarts().await;
                link = link_with(&world, ids).await;
            }
            let fate = says(&link, receipt(1, in_receipt, Verdict::Delivered)).await;
            assert_eq!(fate, ReceiptOutcome::Applied, "{in_answer} {in_receipt} {restart}");
            assert_eq!(world.state(message).await, MessageState::Delivered);
            world.books_are_sound();
        }
    }
}

#[tokio::test]
async fn a_receipt_before_the_answer_waits_however_the_id_is_written() {
    for (ids, in_answer, in_receipt) in WRITTEN {
        for restart in [false, true] {
            let mut world = World::new().await;
            let mut link = link_with(&world, ids).await;
            let fate = says(&link, receipt(1, in_receipt, Verdict::Delivered)).await;
            assert_eq!(fate, ReceiptOutcome::Parked, "{in_answer} {in_receipt}");
            if restart {
                world.restarts().await;
                link = link_with(&world, ids).await;
            }
            let message = submits(&world, &link, number(1), in_answer).await;
            assert_eq!(
                world.state(message).await,
                MessageState::Delivered,
                "{in_answer} {in_receipt} {restart}"
            );
            assert_eq!(waits(&world).await, []);
            world.books_are_sound();
        }
    }
}

#[tokio::test]
async fn days_between_answer_and_receipt_change_nothing_in_either_order() {
    let mut world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    says(&link, receipt(1, "early", Verdict::Delivered)).await;
    let late = submits(&world, &link, number(1), "late").await;
    world.passes(secs(2 * DAY)).await;
    let link = link_with(&world, IdConversion::None).await;
    let early = submits(&world, &link, number(2), "early").await;
    assert_eq!(world.state(early).await, MessageState::Delivered);
    assert_eq!(says(&link, receipt(1, "late", Verdict::Delivered)).await, ReceiptOutcome::Applied);
    assert_eq!(world.state(late).await, MessageState::Delivered);
    world.books_are_sound();
}

#[tokio::test]
async fn a_corrected_conversion_brings_parked_receipts_home() {
    let mut world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    let message = submits(&world, &link, number(1), "1B").await;
    let stranger = receipt(2, "999", Verdict::Delivered);
    for record in [receipt(1, "27", Verdict::Undeliverable), stranger] {
        assert_eq!(says(&link, record).await, ReceiptOutcome::Parked);
    }
    let nothing = Rematched { tried: 2, matched: 0 };
    assert_eq!(world.store.rematch(ACME, IdConversion::None, world.now).await.unwrap(), nothing);
    assert_eq!(
        world.store.rematch(ACME, IdConversion::DecimalToHex, world.now).await.unwrap(),
        nothing,
        "the wrong way round"
    );
    world.restarts().await;
    let corrected = world.store.rematch(ACME, IdConversion::HexToDecimal, world.now).await.unwrap();
    assert_eq!(corrected, Rematched { tried: 2, matched: 1 });
    assert_eq!(world.state(message).await, MessageState::Undeliverable);
    let left: Vec<String> = waits(&world).await.iter().map(|parked| parked.remote.to_text()).collect();
    assert_eq!(left, ["999"]);
    let none = world.store.rematch(CarrierId::new(9), IdConversion::None, world.now).await.unwrap();
    assert_eq!(none, Rematched::default());
    world.books_are_sound();
}

#[tokio::test]
async fn nobody_guesses_which_of_two_parts_a_receipt_is_about() {
    let world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    let first = submits(&world, &link, number(1), "a1").await;
    let second = submits(&world, &link, number(2), "0a1").await;
    assert_eq!(says(&link, receipt(1, "A1", Verdict::Delivered)).await, ReceiptOutcome::Ambiguous);
    assert_eq!(says(&link, receipt(1, "00A1", Verdict::Delivered)).await, ReceiptOutcome::Ambiguous);
    assert!(waits(&world).await.iter().all(|parked| parked.ambiguous));
    // More of the same makes it no clearer.
    submits(&world, &link, number(3), "000a1").await;
    for message in [first, second] {
        assert_eq!(world.state(message).await, MessageState::Submitted);
    }
    // The number does, and so does an id that is written just so.
    assert_eq!(
        says(&link, about(number(2), receipt(1, "A1", Verdict::Delivered))).await,
        ReceiptOutcome::Applied
    );
    assert_eq!(world.state(second).await, MessageState::Delivered);
    assert_eq!(says(&link, receipt(1, "a1", Verdict::Delivered)).await, ReceiptOutcome::Applied);
    assert_eq!(world.state(first).await, MessageState::Delivered);
    world.books_are_sound();
}

#[tokio::test]
async fn an_answer_makes_a_waiting_receipt_ambiguous_or_is_the_one_it_waited_for() {
    let world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    // Both could be it, and both answers come in one read.
    says(&link, about(number(2), receipt(1, "A1", Verdict::Delivered))).await;
    let first = world.sends(Acceptance { to: number(1), ..world.sms() }).await;
    let second = world.sends(Acceptance { to: number(2), ..world.sms() }).await;
    let jobs = link.takes_jobs(2).await;
    link.accepts(&jobs[1], "0a1").await;
    link.accepts(&jobs[0], "00a1").await;
    world.settles().await;
    assert_eq!(world.state(first).await, MessageState::Submitted);
    assert_eq!(world.state(second).await, MessageState::Delivered);
    assert_eq!(waits(&world).await, []);
    world.books_are_sound();
}

#[tokio::test]
async fn a_receipt_nobody_claims_is_given_up_after_three_days_in_sight() {
    let mut world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    let odd = ReceiptRecord { word: Some("BORKED".into()), ..receipt(1, "0ff", Verdict::NoNews) };
    says(&link, about(number(1), odd)).await;
    let parked_at = world.now;
    let shown = ParkedReceipt {
        remote: remote("0ff"),
        verdict: Verdict::NoNews,
        err: 0,
        word: Some("BORKED".into()),
        source: Some(number(1)),
        at: parked_at,
        ambiguous: false,
    };
    assert_eq!(waits(&world).await, [shown]);
    submits(&world, &link, number(2), "0Ae").await;
    let tied = world.store.recent_carrier_ids(ACME, 5).await.unwrap();
    assert_eq!((tied[0].remote.clone(), tied[0].at), (remote("0Ae"), Some(world.now)));
    world.now = parked_at.plus(PARKED_KEPT);
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(waits(&world).await.len(), 1);
    world.restarts().await;
    world.now = world.now.plus(secs(1));
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(waits(&world).await, []);
    let given_up = ReceiptLoss { day: world.now.day(), carrier: ACME, too_old: 1, crowded_out: 0 };
    let days = (Day::new(0), Day::new(99_999));
    assert_eq!(world.store.receipt_losses(days.0, days.1).await.unwrap(), [given_up]);
    world.books_are_sound();
}

#[tokio::test]
async fn a_word_nobody_knows_changes_nothing_and_is_in_the_timeline() {
    let world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    let message = submits(&world, &link, number(1), "a").await;
    let before = world.sees(message).await;
    let word = "x".repeat(1_000);
    let odd = ReceiptRecord { word: Some(word.into()), ..receipt(1, "a", Verdict::NoNews) };
    assert_eq!(says(&link, odd).await, ReceiptOutcome::Unchanged);
    assert_eq!(world.sees(message).await, before);
    assert_eq!(world.timeline(message), ["unknown_receipt"]);
    let detail: String = world
        .raw()
        .query_row("SELECT detail FROM timeline WHERE message = ?1", [message.as_i64()], |row| row.get(0))
        .unwrap();
    assert_eq!(detail, format!("NoNews err 0 word \"{}\"", "x".repeat(32)));
    // It may be parked, too, and then be the answer's.
    let early = ReceiptRecord { word: Some("ODD".into()), ..receipt(1, "b", Verdict::NoNews) };
    assert_eq!(says(&link, early).await, ReceiptOutcome::Parked);
    let second = submits(&world, &link, number(2), "b").await;
    assert_eq!(world.timeline(second), ["unknown_receipt"]);
    assert_eq!(world.state(second).await, MessageState::Submitted);
    world.books_are_sound();
}

#[tokio::test]
async fn a_carrier_that_repeats_itself_fills_no_disk() {
    let world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    let message = submits(&world, &link, number(1), "a").await;
    link.receipt("a", Verdict::Delivered).await;
    assert_eq!(link.takes_fates().await, [ReceiptOutcome::Applied]);
    let before = world.sees(message).await;
    let verdicts = [Verdict::Delivered, Verdict::Enroute, Verdict::Undeliverable];
    for verdict in verdicts.into_iter().cycle().take(30) {
        assert_eq!(says(&link, receipt(1, "a", verdict)).await, ReceiptOutcome::Unchanged);
    }
    assert_eq!(world.sees(message).await, before);
    assert_eq!(world.timeline(message).len(), usize::try_from(LATE_LINES_MAX).unwrap());
    world.books_are_sound();
}
