//! Delivery statistics per day, carrier and country, and the receipt wait of each carrier.

use crate::world::*;
use hermod_domain::carrier::{IdConversion, Profile};
use hermod_domain::catalogue::{Carrier, Catalogue, Documents};
use hermod_domain::ids::CarrierId;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_domain::phone::Msisdn;
use hermod_domain::receipt::DlrCode;
use hermod_domain::time::Day;
use hermod_store::{Acceptance, DeliveryFigures, DeliveryRow, LinkKind};
use std::sync::Arc;

/// Returns a catalogue of carriers with these receipt waits in seconds.
fn receipt_waits(carriers: &[(CarrierId, u32)]) -> Arc<Catalogue> {
    let carrier = |(id, receipt_wait_s): &(CarrierId, u32)| {
        let carrier = Carrier {
            address: "127.0.0.1:2775".to_owned(),
            system_id: "hermod".to_owned(),
            password: String::new(),
            system_type: String::new(),
            window: 10,
            parts_per_second: 100,
            response_timeout_ms: 60_000,
            enquire_link_ms: 30_000,
            disabled: false,
            draining: None,
            tls: None,
            profile: Profile { receipt_wait_s: *receipt_wait_s, ..Profile::default() },
        };
        (*id, format!("carrier-{}", id.get()), carrier)
    };
    let carriers = carriers.iter().map(carrier).collect();
    Arc::new(Catalogue::build(Documents { carriers, ..Documents::default() }).expect("a catalogue"))
}

async fn figures(world: &World) -> Vec<DeliveryRow> {
    world
        .store
        .receipts()
        .delivery_figures(Day::new(0), Day::new(99_999), None)
        .await
        .expect("the store answers")
}

#[tokio::test]
async fn parts_are_counted_by_day_carrier_and_country_once_each() {
    let mut world = World::new().await;
    let mut link = world.link_with_slots(10).await;
    let american = Msisdn::from_number(12_125_550_123).unwrap();
    world.send(Acceptance { parts: 2, ..world.sms() }).await;
    for to in [american, american, american] {
        world.send(Acceptance { to, ..world.sms() }).await;
    }
    for (count, job) in link.take_jobs(5).await.iter().enumerate() {
        link.accept(job, &format!("r{count}")).await;
    }
    link.now = link.now.plus(secs(20));
    for (remote, verdict) in [
        ("r0", DeliveryOutcome::Enroute),
        ("r0", DeliveryOutcome::Delivered),
        ("r0", DeliveryOutcome::Delivered),
        ("r1", DeliveryOutcome::Delivered),
        ("r2", DeliveryOutcome::Undeliverable),
        ("r2", DeliveryOutcome::Delivered),
        ("r3", DeliveryOutcome::Rejected),
    ] {
        link.receipt(remote, verdict).await;
    }
    world.flush().await;
    world.advance(secs(60)).await;
    let rows = figures(&world).await;
    let countries: Vec<_> = rows.iter().map(|row| row.country.map(|code| code.to_string())).collect();
    assert_eq!(countries, [Some("DE".to_owned()), Some("US".to_owned())]);
    assert!(rows.iter().all(|row| row.day == noon().day() && row.carrier == ACME));
    let german = DeliveryFigures {
        sent: 2,
        delivered: 2,
        times: [0, 0, 2, 0, 0, 0],
        time_ms: 40_000,
        ..DeliveryFigures::default()
    };
    assert_eq!(rows[0].figures, german);
    let american = DeliveryFigures { sent: 3, failed: 1, rejected: 1, ..DeliveryFigures::default() };
    assert_eq!(rows[1].figures, american);

    // The last receipt arrives the next day and counts for the day its part was sent. Closing the store loses no figures.
    world.now = world.now.plus(secs(24 * 3600));
    let link = world.link().await;
    link.receipt("r4", DeliveryOutcome::Delivered).await;
    world.restart().await;
    let late = DeliveryFigures { delivered: 1, times: [0, 0, 0, 0, 0, 1], time_ms: 86_460_000, ..american };
    assert_eq!(figures(&world).await[1].figures, late);
    let (today, tomorrow) = (noon().day(), noon().day().next());
    assert_eq!(world.store.receipts().delivery_figures(tomorrow, tomorrow, None).await.unwrap(), []);
    assert_eq!(
        world.store.receipts().delivery_figures(today, today, Some(CarrierId::new(9))).await.unwrap(),
        []
    );
    world.assert_audit_clean();
}

#[tokio::test]
async fn receipts_are_waited_for_as_long_as_their_carrier_is_configured() {
    let mut world = World::new().await;
    let quick = CarrierId::new(2);
    let mut messages = Vec::new();
    for carrier in [ACME, quick] {
        let link = world.link_with_ids(carrier, LinkKind::Sends, IdConversion::None).await;
        link.add_slots(1).await;
        messages.push(world.send(Acceptance { carrier, ..world.sms() }).await);
        link.accept(&link.take_job().await, "a").await;
    }
    world.flush().await;
    world.now = world.now.plus(VALIDITY + secs(3600));
    let waits = || receipt_waits(&[(ACME, 48 * 3600), (quick, 3600)]);
    world.store.set_catalogue(waits());
    assert_eq!(world.store.sweep(world.now).await.unwrap(), 1);
    let unknown = (MessageState::Submitted, DlrCode::Unknown);
    let seen = world.record(messages[1]).await;
    assert_eq!((seen.state, seen.dlr), unknown);
    world.now = world.now.plus(secs(47 * 3600));
    assert_eq!(world.store.sweep(world.now).await.unwrap(), 1);

    // One final receipt replaces UNKNOWN; later receipts do not.
    world.restart().await;
    let link = world.link_with_ids(quick, LinkKind::Sends, IdConversion::None).await;
    link.receipt("a", DeliveryOutcome::Enroute).await;
    world.flush().await;
    let seen = world.record(messages[1]).await;
    assert_eq!((seen.state, seen.dlr), unknown);
    link.receipt("a", DeliveryOutcome::Undeliverable).await;
    link.receipt("a", DeliveryOutcome::Delivered).await;
    world.flush().await;
    let seen = world.record(messages[1]).await;
    assert_eq!((seen.state, seen.dlr), (MessageState::Undeliverable, DlrCode::Undeliv));
    world.store.set_catalogue(waits());
    assert_eq!(world.store.sweep(world.now).await.unwrap(), 0);
    world.assert_audit_clean();
}
