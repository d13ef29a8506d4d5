//! Reports: a customer who asked to be told is told once the change is durable, in order, at least once.

use crate::world::within;
use crate::world::*;
use hermod_domain::ids::{ConnectionId, MessageId};
use hermod_domain::lifecycle::Verdict;
use hermod_domain::origin::{Origin, RegisteredDelivery, WrittenAddress};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::text::Shape;
use hermod_store::{Acceptance, DlrReport, ReceiverPort, Report, ReportContent, ReportId, ReportOutcome};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const CONNECTION: ConnectionId = ConnectionId::new(1);
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn origin(registered_delivery: u8) -> Origin {
    Origin {
        wish: RegisteredDelivery::of_registered_delivery(registered_delivery),
        short_id: false,
        on_transmitter: false,
        reference: Some(7),
        source: WrittenAddress::new(5, 0, b"Hermod"),
        destination: WrittenAddress::new(1, 1, b"4915112345678"),
        quote: b"hello".iter().copied().collect(),
    }
}

/// What a report says about a message that was sent.
pub(crate) fn news(report: &Report) -> &DlrReport {
    report.dlr().expect("it is about a message that was sent")
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
        let taken = within(PATIENCE, port.take(most, self.now)).await;
        taken.expect("something is to be told")
    }

    pub(crate) async fn tells_nothing(&self, port: &ReceiverPort) {
        // A read of the tables may be under way: it must come to nothing too.
        let taken = within(Duration::from_millis(100), port.take(100, self.now)).await;
        assert!(taken.is_err(), "told: {taken:?}");
    }

    pub(crate) async fn settle(&self, port: &ReceiverPort, ids: &[ReportId], delivery: ReportOutcome) {
        let outcomes = ids.iter().map(|id| (*id, delivery)).collect();
        port.settle(outcomes, self.now).await.expect("the store is there");
        self.settles().await;
    }

    /// So many reports, all of them answered.
    pub(crate) async fn is_told(&self, port: &ReceiverPort, count: usize) -> Vec<(MessageId, ReportStatus)> {
        let mut told = Vec::new();
        while told.len() < count {
            let reports = self.takes(port, 100).await;
            let ids: Vec<_> = reports.iter().map(|report| report.id).collect();
            told.extend(reports.iter().map(|report| (report.message, news(report).status)));
            self.settle(port, &ids, ReportOutcome::Accepted).await;
        }
        assert_eq!(told.len(), count);
        told
    }
}

const DELIVERED: ReportStatus = ReportStatus::Final(DlrCode::Delivrd);

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
        at: world.now,
        content: ReportContent::Dlr(DlrReport {
            alias: None,
            origin: Arc::new(origin(1)),
            status: DELIVERED,
            err: 0,
            parts: 1,
            delivered: 1,
        }),
    };
    assert_eq!(reports, [expect]);
    assert_eq!(world.store.reports_waiting(CONNECTION).await.unwrap(), 1);
    world.tells_nothing(&port).await;
    world.settle(&port, &[reports[0].id], ReportOutcome::Accepted).await;
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

#[tokio::test]
async fn an_end_in_our_own_queue_and_a_carriers_refusal_are_told_too() {
    let world = World::new().await;
    let port = world.store.open_receiver(CONNECTION);
    let expired = world.sends(world.smpp(1)).await;
    world.sweeps(world.now.plus(VALIDITY)).await;
    let told = world.is_told(&port, 1).await;
    assert_eq!(told, [(expired, ReportStatus::Final(DlrCode::Expired))]);

    let link = world.link_with_room(1).await;
    let refused = world.sends(world.smpp(2)).await;
    link.answers(&link.takes_job().await, crate::world::refused(11)).await;
    let reports = world.takes(&port, 10).await;
    let shown: Vec<_> =
        reports.iter().map(|report| (report.message, news(report).status, news(report).err)).collect();
    assert_eq!(shown, [(refused, ReportStatus::Final(DlrCode::Undeliv), 10_011)]);
    world.books_are_sound();
}

#[tokio::test]
async fn a_long_message_is_told_of_once_with_its_parts_counted() {
    let world = World::new().await;
    let link = world.link_with_room(6).await;
    let port = world.store.open_receiver(CONNECTION);
    for (last, whole, expect) in [
        (Verdict::Delivered, false, ("DELIVRD", 3, 3)),
        (Verdict::Undeliverable, false, ("UNDELIV", 3, 2)),
        (Verdict::Delivered, true, ("DELIVRD", 3, 3)),
        (Verdict::Expired, true, ("EXPIRED", 3, 0)),
    ] {
        let message = world.sends(Acceptance { parts: 3, whole, ..world.smpp(1) }).await;
        let jobs = link.takes_jobs(if whole { 1 } else { 3 }).await;
        link.has_room(u32::try_from(jobs.len()).unwrap()).await;
        for (place, job) in jobs.iter().enumerate() {
            let id = format!("{message}-{place}");
            link.accepts(job, &id).await;
            let verdict = if place + 1 == jobs.len() { last } else { Verdict::Delivered };
            link.receipt(&id, verdict).await;
        }
        let reports = world.takes(&port, 10).await;
        let shown: Vec<_> = reports
            .iter()
            .map(|report| (news(report).status.word(), news(report).parts, news(report).delivered))
            .collect();
        assert_eq!(shown, [expect]);
    }
    world.books_are_sound();
}

#[tokio::test]
async fn no_receipt_in_time_is_told_once_and_may_be_corrected_once() {
    let mut world = World::new().await;
    let link = world.link_with_room(2).await;
    let port = world.store.open_receiver(CONNECTION);
    let message = world.sends(Acceptance { parts: 2, ..world.smpp(1) }).await;
    for (job, id) in link.takes_jobs(2).await.iter().zip(["a", "b"]) {
        link.accepts(job, id).await;
    }
    world.passes(VALIDITY + RECEIPT_WAIT).await;
    world.sweeps(world.now).await;
    world.sweeps(world.now).await;
    let unknown = ReportStatus::Final(DlrCode::Unknown);
    assert_eq!(world.is_told(&port, 1).await, [(message, unknown)]);
    link.receipt("a", Verdict::Delivered).await;
    link.receipt("b", Verdict::Delivered).await;
    assert_eq!(world.is_told(&port, 1).await, [(message, DELIVERED)]);
    world.tells_nothing(&port).await;
    world.books_are_sound();
}

#[tokio::test]
async fn what_is_not_answered_before_a_kill_is_told_again_and_what_is_answered_is_not() {
    let mut world = World::new().await;
    let link = world.link().await;
    let port = world.store.open_receiver(CONNECTION);
    let mut sent = Vec::new();
    for id in ["a", "b", "c"] {
        sent.push(world.sent_as(&link, world.smpp(0x11), id).await);
        link.receipt(id, Verdict::Accepted).await;
        link.receipt(id, Verdict::Delivered).await;
    }
    let first = world.takes(&port, 1).await;
    world.settle(&port, &[first[0].id], ReportOutcome::Accepted).await;
    let under_way = world.takes(&port, 3).await;
    assert_eq!(under_way.len(), 3);
    world.is_killed();

    let port = world.store.open_receiver(CONNECTION);
    assert_eq!(world.store.reports_waiting(CONNECTION).await.unwrap(), 5);
    let told = world.is_told(&port, 5).await;
    let expect = [
        (sent[0], DELIVERED),
        (sent[1], ReportStatus::Accepted),
        (sent[2], ReportStatus::Accepted),
        (sent[1], DELIVERED),
        (sent[2], DELIVERED),
    ];
    let mut sorted = told.clone();
    sorted.sort_by_key(|(message, _)| *message);
    let mut expect_sorted = expect.to_vec();
    expect_sorted.sort_by_key(|(message, _)| *message);
    assert_eq!(sorted, expect_sorted, "each message's in order: {told:?}");
    world.restarts().await;
    let port = world.store.open_receiver(CONNECTION);
    world.tells_nothing(&port).await;
    world.books_are_sound();
}

#[tokio::test]
async fn shapes_and_origins_come_back_from_the_tables() {
    let mut world = World::new().await;
    let header: Box<[u8]> = [5, 0, 3, 9, 2, 1].into();
    let shape = Arc::new(Shape { header, class: Some(1), protocol_id: 3, ..Shape::default() });
    let acceptance = Acceptance { shape: Some(shape.clone()), ..world.smpp(1) };
    // Without a link it waits in the tables; and the plain shape is none.
    let message = world.sends(acceptance).await;
    world.sends(Acceptance { shape: Some(Arc::default()), ..world.sms() }).await;
    world.restarts().await;
    let link = world.link_with_room(2).await;
    let jobs = link.takes_jobs(2).await;
    assert_eq!((jobs[0].message, jobs[0].shape.as_ref()), (message, Some(&shape)));
    assert_eq!(jobs[1].shape, None);
    link.accepts(&jobs[0], "id").await;
    world.settles().await;
    world.restarts().await;
    let port = world.store.open_receiver(CONNECTION);
    world.link().await.receipt("id", Verdict::Delivered).await;
    let reports = world.takes(&port, 1).await;
    assert_eq!((reports[0].message, &*news(&reports[0]).origin), (message, &origin(1)));
    world.books_are_sound();
}
