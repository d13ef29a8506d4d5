//! Matching of receipts whose ids are formatted differently than in the submit_sm_resp: matched, parked or given up.

use crate::world::*;
use hermod_domain::carrier::IdConversion;
use hermod_domain::ids::{CarrierId, MessageId};
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
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

async fn link_with(world: &World, ids: IdConversion) -> Link {
    let link = world.link_with_ids(ACME, LinkKind::Sends, ids).await;
    link.add_slots(10).await;
    link
}

/// Sends a message that the carrier accepts under `id`.
async fn send_submitted(world: &World, link: &Link, to: Msisdn, id: &str) -> MessageId {
    world.send_submitted(link, Acceptance { to, ..world.sms() }, id).await
}

async fn send_receipt(link: &Link, record: ReceiptRecord) -> ReceiptOutcome {
    link.respond(Vec::new(), vec![record]).await;
    link.take_fates().await.remove(0)
}

async fn parked(world: &World) -> Vec<ParkedReceipt> {
    world.store.receipts().parked(ACME, 10).await.expect("the store answers")
}

/// Id formats of real carriers: (conversion, id in the response, id in the receipt).
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
async fn receipt_after_its_response_is_matched_in_every_id_format() {
    for (ids, in_answer, in_receipt) in WRITTEN {
        for restart in [false, true] {
            let mut world = World::new().await;
            let mut link = link_with(&world, ids).await;
            let message = send_submitted(&world, &link, number(1), in_answer).await;
            if restart {
                world.restart().await;
                link = link_with(&world, ids).await;
            }
            let fate = send_receipt(&link, receipt(1, in_receipt, DeliveryOutcome::Delivered)).await;
            assert_eq!(fate, ReceiptOutcome::Applied, "{in_answer} {in_receipt} {restart}");
            assert_eq!(world.state(message).await, MessageState::Delivered);
            world.assert_audit_clean();
        }
    }
}

#[tokio::test]
async fn receipt_before_its_response_is_parked_and_matched_in_every_id_format() {
    for (ids, in_answer, in_receipt) in WRITTEN {
        for restart in [false, true] {
            let mut world = World::new().await;
            let mut link = link_with(&world, ids).await;
            let fate = send_receipt(&link, receipt(1, in_receipt, DeliveryOutcome::Delivered)).await;
            assert_eq!(fate, ReceiptOutcome::Parked, "{in_answer} {in_receipt}");
            if restart {
                world.restart().await;
                link = link_with(&world, ids).await;
            }
            let message = send_submitted(&world, &link, number(1), in_answer).await;
            assert_eq!(
                world.state(message).await,
                MessageState::Delivered,
                "{in_answer} {in_receipt} {restart}"
            );
            assert_eq!(parked(&world).await, []);
            world.assert_audit_clean();
        }
    }
}

#[tokio::test]
async fn receipt_is_matched_over_several_days_in_both_orders() {
    let mut world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    send_receipt(&link, receipt(1, "early", DeliveryOutcome::Delivered)).await;
    let late = send_submitted(&world, &link, number(1), "late").await;
    world.advance(secs(2 * DAY)).await;
    let link = link_with(&world, IdConversion::None).await;
    let early = send_submitted(&world, &link, number(2), "early").await;
    assert_eq!(world.state(early).await, MessageState::Delivered);
    assert_eq!(
        send_receipt(&link, receipt(1, "late", DeliveryOutcome::Delivered)).await,
        ReceiptOutcome::Applied
    );
    assert_eq!(world.state(late).await, MessageState::Delivered);
    world.assert_audit_clean();
}

#[tokio::test]
async fn corrected_id_conversion_matches_parked_receipts() {
    let mut world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    let message = send_submitted(&world, &link, number(1), "1B").await;
    let stranger = receipt(2, "999", DeliveryOutcome::Delivered);
    for record in [receipt(1, "27", DeliveryOutcome::Undeliverable), stranger] {
        assert_eq!(send_receipt(&link, record).await, ReceiptOutcome::Parked);
    }
    let nothing = Rematched { tried: 2, matched: 0 };
    assert_eq!(world.store.receipts().rematch(ACME, IdConversion::None, world.now).await.unwrap(), nothing);
    assert_eq!(
        world.store.receipts().rematch(ACME, IdConversion::DecimalToHex, world.now).await.unwrap(),
        nothing,
        "the conversion is reversed"
    );
    world.restart().await;
    let corrected =
        world.store.receipts().rematch(ACME, IdConversion::HexToDecimal, world.now).await.unwrap();
    assert_eq!(corrected, Rematched { tried: 2, matched: 1 });
    assert_eq!(world.state(message).await, MessageState::Undeliverable);
    let left: Vec<String> = parked(&world).await.iter().map(|parked| parked.remote.to_text()).collect();
    assert_eq!(left, ["999"]);
    let none =
        world.store.receipts().rematch(CarrierId::new(9), IdConversion::None, world.now).await.unwrap();
    assert_eq!(none, Rematched::default());
    world.assert_audit_clean();
}

#[tokio::test]
async fn receipt_that_fits_two_parts_is_ambiguous_until_the_number_or_exact_id_decides() {
    let world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    let first = send_submitted(&world, &link, number(1), "a1").await;
    let second = send_submitted(&world, &link, number(2), "0a1").await;
    assert_eq!(
        send_receipt(&link, receipt(1, "A1", DeliveryOutcome::Delivered)).await,
        ReceiptOutcome::Ambiguous
    );
    assert_eq!(
        send_receipt(&link, receipt(1, "00A1", DeliveryOutcome::Delivered)).await,
        ReceiptOutcome::Ambiguous
    );
    assert!(parked(&world).await.iter().all(|parked| parked.ambiguous));
    // A third candidate does not resolve the ambiguity.
    send_submitted(&world, &link, number(3), "000a1").await;
    for message in [first, second] {
        assert_eq!(world.state(message).await, MessageState::Submitted);
    }
    // The recipient's number resolves it, and so does the exact id.
    assert_eq!(
        send_receipt(&link, about(number(2), receipt(1, "A1", DeliveryOutcome::Delivered))).await,
        ReceiptOutcome::Applied
    );
    assert_eq!(world.state(second).await, MessageState::Delivered);
    assert_eq!(
        send_receipt(&link, receipt(1, "a1", DeliveryOutcome::Delivered)).await,
        ReceiptOutcome::Applied
    );
    assert_eq!(world.state(first).await, MessageState::Delivered);
    world.assert_audit_clean();
}

#[tokio::test]
async fn response_settles_a_parked_receipt_or_makes_it_ambiguous() {
    let world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    // Both parts match, and both responses arrive in one batch.
    send_receipt(&link, about(number(2), receipt(1, "A1", DeliveryOutcome::Delivered))).await;
    let first = world.send(Acceptance { to: number(1), ..world.sms() }).await;
    let second = world.send(Acceptance { to: number(2), ..world.sms() }).await;
    let jobs = link.take_jobs(2).await;
    link.accept(&jobs[1], "0a1").await;
    link.accept(&jobs[0], "00a1").await;
    world.flush().await;
    assert_eq!(world.state(first).await, MessageState::Submitted);
    assert_eq!(world.state(second).await, MessageState::Delivered);
    assert_eq!(parked(&world).await, []);
    world.assert_audit_clean();
}

#[tokio::test]
async fn unmatched_receipt_is_listed_and_given_up_after_three_days() {
    let mut world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    let odd = ReceiptRecord { word: Some("BORKED".into()), ..receipt(1, "0ff", DeliveryOutcome::NoChange) };
    send_receipt(&link, about(number(1), odd)).await;
    let parked_at = world.now;
    let shown = ParkedReceipt {
        remote: remote("0ff"),
        verdict: DeliveryOutcome::NoChange,
        err: 0,
        word: Some("BORKED".into()),
        source: Some(number(1)),
        at: parked_at,
        ambiguous: false,
    };
    assert_eq!(parked(&world).await, [shown]);
    send_submitted(&world, &link, number(2), "0Ae").await;
    let tied = world.store.receipts().recent_carrier_ids(ACME, 5).await.unwrap();
    assert_eq!((tied[0].remote.clone(), tied[0].at), (remote("0Ae"), world.now));
    world.now = parked_at.plus(PARKED_KEPT);
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(parked(&world).await.len(), 1);
    world.restart().await;
    world.now = world.now.plus(secs(1));
    world.store.delete_expired(world.now).await.unwrap();
    assert_eq!(parked(&world).await, []);
    let given_up = ReceiptLoss { day: world.now.day(), carrier: ACME, too_old: 1, crowded_out: 0 };
    let days = (Day::new(0), Day::new(99_999));
    assert_eq!(world.store.receipts().losses(days.0, days.1).await.unwrap(), [given_up]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn unknown_receipt_status_changes_nothing_and_is_in_the_timeline() {
    let world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    let message = send_submitted(&world, &link, number(1), "a").await;
    let before = world.record(message).await;
    let word = "x".repeat(1_000);
    let odd = ReceiptRecord { word: Some(word.into()), ..receipt(1, "a", DeliveryOutcome::NoChange) };
    assert_eq!(send_receipt(&link, odd).await, ReceiptOutcome::Unchanged);
    assert_eq!(world.record(message).await, before);
    assert_eq!(world.timeline(message), ["unknown_receipt"]);
    let query = format!("SELECT detail FROM timeline WHERE message = {}", message.as_i64());
    let detail = world.raw().texts(&query);
    assert_eq!(detail, [format!("NoChange err 0 word \"{}\"", "x".repeat(32))]);
    // It can be parked, and then matched by its response.
    let early = ReceiptRecord { word: Some("ODD".into()), ..receipt(1, "b", DeliveryOutcome::NoChange) };
    assert_eq!(send_receipt(&link, early).await, ReceiptOutcome::Parked);
    let second = send_submitted(&world, &link, number(2), "b").await;
    assert_eq!(world.timeline(second), ["unknown_receipt"]);
    assert_eq!(world.state(second).await, MessageState::Submitted);
    world.assert_audit_clean();
}

#[tokio::test]
async fn repeated_receipts_add_a_bounded_number_of_rows() {
    let world = World::new().await;
    let link = link_with(&world, IdConversion::None).await;
    let message = send_submitted(&world, &link, number(1), "a").await;
    link.receipt("a", DeliveryOutcome::Delivered).await;
    assert_eq!(link.take_fates().await, [ReceiptOutcome::Applied]);
    let before = world.record(message).await;
    let verdicts = [DeliveryOutcome::Delivered, DeliveryOutcome::Enroute, DeliveryOutcome::Undeliverable];
    for verdict in verdicts.into_iter().cycle().take(30) {
        assert_eq!(send_receipt(&link, receipt(1, "a", verdict)).await, ReceiptOutcome::Unchanged);
    }
    assert_eq!(world.record(message).await, before);
    assert_eq!(world.timeline(message).len(), usize::try_from(LATE_LINES_MAX).unwrap());
    world.assert_audit_clean();
}
