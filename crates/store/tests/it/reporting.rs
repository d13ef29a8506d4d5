//! Reports: a customer who asked to be told is told once the change is durable, in order, at least once.

use crate::world::*;
use hermod_domain::ids::{ConnectionId, MessageId};
use hermod_domain::lifecycle::Verdict;
use hermod_domain::origin::{Origin, ReceiptWish, Told, WrittenAddress};
use hermod_domain::receipt::DlrCode;
use hermod_store::{Acceptance, Delivery, ReceiverPort, Report, ReportId};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const CONNECTION: ConnectionId = ConnectionId::new(1);
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn origin(registered_delivery: u8) -> Origin {
    Origin {
        wish: ReceiptWish::of_registered_delivery(registered_delivery),
        short_id: false,
        on_transmitter: false,
        reference: Some(7),
        source: WrittenAddress::new(5, 0, b"Hermod"),
        destination: WrittenAddress::new(1, 1, b"4915112345678"),
        quote: b"hello".iter().copied().collect(),
    }
}

impl World {
    /// A message of Alice's that came over SMPP, with this wish.
    pub(crate) fn smpp(&self, registered_delivery: u8) -> Acceptance {
        Acceptance { origin: Some(Arc::new(origin(registered_delivery))), ..self.sms() }
    }

    /// Sends it and has the carrier take it under this id.
    pub(crate) async fn sent_as(&self, link: &Link, acceptance: Acceptance, id: &str) -> MessageId {
        let message = self.sends(acceptance).await;
        link.has_room(1).await;
        link.accepts(&link.takes_job().await, id).await;
        message
    }

    pub(crate) async fn takes(&self, port: &ReceiverPort, most: u32) -> Vec<Report> {
        let taken = tokio::time::timeout(PATIENCE, port.take(most, self.now)).await;
        taken.expect("something is to be told")
    }

    pub(crate) async fn tells_nothing(&self, port: &ReceiverPort) {
        // A read of the tables may be under way: it must come to nothing too.
        let taken = tokio::time::timeout(Duration::from_millis(100), port.take(100, self.now)).await;
        assert!(taken.is_err(), "told: {taken:?}");
    }

    pub(crate) async fn settle(&self, port: &ReceiverPort, ids: &[ReportId], delivery: Delivery) {
        let outcomes = ids.iter().map(|id| (*id, delivery)).collect();
        port.settle(outcomes, self.now).await.expect("the store is there");
        self.settles().await;
    }

    /// So many reports, all of them answered.
    pub(crate) async fn is_told(&self, port: &ReceiverPort, count: usize) -> Vec<(MessageId, Told)> {
        let mut told = Vec::new();
        while told.len() < count {
            let reports = self.takes(port, 100).await;
            let ids: Vec<_> = reports.iter().map(|report| report.id).collect();
            told.extend(reports.iter().map(|report| (report.message, report.told)));
            self.settle(port, &ids, Delivery::Done).await;
        }
        assert_eq!(told.len(), count);
        told
    }
}

const DELIVERED: Told = Told::Final(DlrCode::Delivrd);

#[tokio::test]
async fn a_delivery_is_told_once_it_is_durable() {
    let world = World::new().await;
    let (link, port) = (world.link().await, world.store.open_receiver(CONNECTION));
    world.tells_nothing(&port).await;
    let message = world.sent_as(&link, Acceptance { parts: 1, ..world.smpp(1) }, "id").await;
    link.receipt("id", Verdict::Delivered).await;
    let reports = world.takes(&port, 10).await;
    let expect = Report {
        id: reports[0].id,
        account: ALICE,
        connection: CONNECTION,
        message,
        alias: None,
        origin: Arc::new(origin(1)),
        told: DELIVERED,
        err: 0,
        parts: 1,
        delivered: 1,
        at: world.now,
    };
    assert_eq!(reports, [expect]);
    assert_eq!(world.store.reports_waiting(CONNECTION).await.unwrap(), 1);
    world.tells_nothing(&port).await;
    world.settle(&port, &[reports[0].id], Delivery::Done).await;
    assert_eq!(world.store.reports_waiting(CONNECTION).await.unwrap(), 0);
    world.tells_nothing(&port).await;
    world.books_are_sound();
}

#[tokio::test]
async fn everybody_is_told_what_they_asked_for_and_nothing_else() {
    // What was asked for, what the carrier says, what is told.
    let cases: &[(u8, &[Verdict], &[&str])] = &[
        (0x00, &[Verdict::Enroute, Verdict::Delivered], &[]),
        (0x01, &[Verdict::Enroute, Verdict::Delivered], &["DELIVRD"]),
        (0x01, &[Verdict::Undeliverable], &["UNDELIV"]),
        (0x02, &[Verdict::Delivered], &[]),
        (0x02, &[Verdict::Rejected], &["REJECTD"]),
        (0x03, &[Verdict::Delivered], &["DELIVRD"]),
        (0x03, &[Verdict::Expired], &[]),
        (0x10, &[Verdict::Enroute, Verdict::Accepted, Verdict::Delivered], &["ENROUTE"]),
        (0x11, &[Verdict::Accepted, Verdict::Enroute, Verdict::Expired], &["ACCEPTD", "EXPIRED"]),
        (0x11, &[Verdict::NoNews, Verdict::Delivered, Verdict::Undeliverable], &["DELIVRD"]),
    ];
    let world = World::new().await;
    let (link, port) = (world.link().await, world.store.open_receiver(CONNECTION));
    for (place, (wish, verdicts, expect)) in cases.iter().enumerate() {
        let id = format!("id{place}");
        world.sent_as(&link, world.smpp(*wish), &id).await;
        for verdict in *verdicts {
            link.receipt(&id, *verdict).await;
        }
        world.settles().await;
        let told = world.is_told(&port, expect.len()).await;
        let words: Vec<_> = told.iter().map(|(_, told)| told.word()).collect();
        assert_eq!(words, *expect, "case {place}");
        world.tells_nothing(&port).await;
    }
    world.books_are_sound();
}
