//! Delivery reports: sent as registered_delivery asks, once the change is durable, in order, at least once.

use crate::world::within;
use crate::world::*;
use hermod_domain::ids::{ConnectionId, MessageId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::origin::{Origin, RegisteredDelivery, SmppAddress};
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_domain::text::SmsOptions;
use hermod_store::{Acceptance, DlrReport, ReceiverPort, Report, ReportContent, ReportId, ReportOutcome};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const CONNECTION: ConnectionId = ConnectionId::new(1);

pub(crate) fn origin(registered_delivery: u8) -> Origin {
    Origin {
        registered_delivery: RegisteredDelivery::from_octet(registered_delivery),
        short_id: false,
        on_transmitter: false,
        reference: Some(7),
        source: SmppAddress::new(5, 0, b"Hermod"),
        destination: SmppAddress::new(1, 1, b"4915112345678"),
        quote: b"hello".iter().copied().collect(),
    }
}

/// Returns the report's news of a sent message.
pub(crate) fn news(report: &Report) -> &DlrReport {
    report.dlr().expect("the report is about a sent message")
}

impl World {
    /// Returns a message of Alice's submitted over SMPP with this registered_delivery.
    pub(crate) fn smpp_message(&self, registered_delivery: u8) -> Acceptance {
        Acceptance { origin: Some(Arc::new(origin(registered_delivery))), ..self.sms() }
    }

    /// Sends a message that the carrier accepts under `id`.
    pub(crate) async fn send_accepted_as(&self, link: &Link, acceptance: Acceptance, id: &str) -> MessageId {
        let message = self.send(acceptance).await;
        link.add_slots(1).await;
        link.accept(&link.take_job().await, id).await;
        message
    }

    pub(crate) async fn take_reports(&self, port: &ReceiverPort, most: u32) -> Vec<Report> {
        let taken = within(PATIENCE, port.take(most, self.now)).await;
        taken.expect("there are reports")
    }

    pub(crate) async fn assert_no_reports(&self, port: &ReceiverPort) {
        // A read of the tables may be in progress: it must return no report either.
        let taken = within(Duration::from_millis(100), port.take(100, self.now)).await;
        assert!(taken.is_err(), "told: {taken:?}");
    }

    pub(crate) async fn settle(&self, port: &ReceiverPort, ids: &[ReportId], delivery: ReportOutcome) {
        let outcomes = ids.iter().map(|id| (*id, delivery)).collect();
        port.settle(outcomes, self.now).await.expect("the store is there");
        self.flush().await;
    }

    /// Takes `count` reports and answers all of them.
    pub(crate) async fn take_and_answer_reports(
        &self,
        port: &ReceiverPort,
        count: usize,
    ) -> Vec<(MessageId, ReportStatus)> {
        let mut told = Vec::new();
        while told.len() < count {
            let reports = self.take_reports(port, 100).await;
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
async fn delivery_is_reported_once_it_is_durable() {
    let world = World::new().await;
    let (link, port) = (world.link().await, world.store.open_receiver(CONNECTION));
    world.assert_no_reports(&port).await;
    let message = world.send_accepted_as(&link, Acceptance { parts: 1, ..world.smpp_message(1) }, "id").await;
    link.receipt("id", DeliveryOutcome::Delivered).await;
    let reports = world.take_reports(&port, 10).await;
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
    assert_eq!(world.store.reports().waiting(CONNECTION).await.unwrap(), 1);
    world.assert_no_reports(&port).await;
    world.settle(&port, &[reports[0].id], ReportOutcome::Accepted).await;
    assert_eq!(world.store.reports().waiting(CONNECTION).await.unwrap(), 0);
    world.assert_no_reports(&port).await;
    world.assert_audit_clean();
}

/// More ranges of reports than one query counts.
#[tokio::test]
async fn answers_out_of_order_delete_just_their_reports() {
    const REPORTS: usize = 132;
    let world = World::new().await;
    let (link, port) = (world.link().await, world.store.open_receiver(CONNECTION));
    for number in 0..REPORTS {
        let id = format!("id-{number}");
        world.send_accepted_as(&link, Acceptance { parts: 1, ..world.smpp_message(1) }, &id).await;
        link.receipt(&id, DeliveryOutcome::Delivered).await;
    }
    let mut ids = Vec::new();
    while ids.len() < REPORTS {
        ids.extend(world.take_reports(&port, 100).await.iter().map(|report| report.id));
    }
    let (even, odd): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| id.0 % 2 == 0);
    world.settle(&port, &even, ReportOutcome::Accepted).await;
    assert_eq!(world.store.reports().waiting(CONNECTION).await.unwrap(), odd.len() as u64);
    // One that is answered twice is not counted twice.
    let again: Vec<_> = odd.iter().chain(&even[..3]).copied().collect();
    world.settle(&port, &again, ReportOutcome::Accepted).await;
    assert_eq!(world.store.reports().waiting(CONNECTION).await.unwrap(), 0);
    world.assert_audit_clean();
}

#[tokio::test]
async fn reports_are_those_that_registered_delivery_asks_for() {
    // (registered_delivery, receipts of the carrier, reports)
    let cases: &[(u8, &[DeliveryOutcome], &[&str])] = &[
        (0x00, &[DeliveryOutcome::Enroute, DeliveryOutcome::Delivered], &[]),
        (0x01, &[DeliveryOutcome::Enroute, DeliveryOutcome::Delivered], &["DELIVRD"]),
        (0x01, &[DeliveryOutcome::Undeliverable], &["UNDELIV"]),
        (0x02, &[DeliveryOutcome::Delivered], &[]),
        (0x02, &[DeliveryOutcome::Rejected], &["REJECTD"]),
        (0x03, &[DeliveryOutcome::Delivered], &["DELIVRD"]),
        (0x03, &[DeliveryOutcome::Expired], &[]),
        (
            0x10,
            &[DeliveryOutcome::Enroute, DeliveryOutcome::Accepted, DeliveryOutcome::Delivered],
            &["ENROUTE"],
        ),
        (
            0x11,
            &[DeliveryOutcome::Accepted, DeliveryOutcome::Enroute, DeliveryOutcome::Expired],
            &["ACCEPTD", "EXPIRED"],
        ),
        (
            0x11,
            &[DeliveryOutcome::NoChange, DeliveryOutcome::Delivered, DeliveryOutcome::Undeliverable],
            &["DELIVRD"],
        ),
    ];
    let world = World::new().await;
    let (link, port) = (world.link().await, world.store.open_receiver(CONNECTION));
    for (place, (wish, verdicts, expect)) in cases.iter().enumerate() {
        let id = format!("id{place}");
        world.send_accepted_as(&link, world.smpp_message(*wish), &id).await;
        for verdict in *verdicts {
            link.receipt(&id, *verdict).await;
        }
        world.flush().await;
        let told = world.take_and_answer_reports(&port, expect.len()).await;
        let words: Vec<_> = told.iter().map(|(_, told)| told.word()).collect();
        assert_eq!(words, *expect, "case {place}");
        world.assert_no_reports(&port).await;
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn expiry_in_the_queue_and_rejection_by_the_carrier_are_reported() {
    let world = World::new().await;
    let port = world.store.open_receiver(CONNECTION);
    let expired = world.send(world.smpp_message(1)).await;
    world.sweep(world.now.plus(VALIDITY)).await;
    let told = world.take_and_answer_reports(&port, 1).await;
    assert_eq!(told, [(expired, ReportStatus::Final(DlrCode::Expired))]);

    let link = world.link_with_slots(1).await;
    let refused = world.send(world.smpp_message(2)).await;
    link.answer(&link.take_job().await, crate::world::refused(11)).await;
    let reports = world.take_reports(&port, 10).await;
    let shown: Vec<_> =
        reports.iter().map(|report| (report.message, news(report).status, news(report).err)).collect();
    assert_eq!(shown, [(refused, ReportStatus::Final(DlrCode::Undeliv), 10_011)]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn long_message_makes_one_report_with_its_part_counts() {
    let world = World::new().await;
    let link = world.link_with_slots(6).await;
    let port = world.store.open_receiver(CONNECTION);
    for (last, whole, expect) in [
        (DeliveryOutcome::Delivered, false, ("DELIVRD", 3, 3)),
        (DeliveryOutcome::Undeliverable, false, ("UNDELIV", 3, 2)),
        (DeliveryOutcome::Delivered, true, ("DELIVRD", 3, 3)),
        (DeliveryOutcome::Expired, true, ("EXPIRED", 3, 0)),
    ] {
        let message = world.send(Acceptance { parts: 3, whole, ..world.smpp_message(1) }).await;
        let jobs = link.take_jobs(if whole { 1 } else { 3 }).await;
        link.add_slots(u32::try_from(jobs.len()).unwrap()).await;
        for (place, job) in jobs.iter().enumerate() {
            let id = format!("{message}-{place}");
            link.accept(job, &id).await;
            let verdict = if place + 1 == jobs.len() { last } else { DeliveryOutcome::Delivered };
            link.receipt(&id, verdict).await;
        }
        let reports = world.take_reports(&port, 10).await;
        let shown: Vec<_> = reports
            .iter()
            .map(|report| (news(report).status.word(), news(report).parts, news(report).delivered))
            .collect();
        assert_eq!(shown, [expect]);
    }
    world.assert_audit_clean();
}

#[tokio::test]
async fn message_without_receipt_in_time_is_reported_unknown_once_and_corrected_once() {
    let mut world = World::new().await;
    let link = world.link_with_slots(2).await;
    let port = world.store.open_receiver(CONNECTION);
    let message = world.send(Acceptance { parts: 2, ..world.smpp_message(1) }).await;
    for (job, id) in link.take_jobs(2).await.iter().zip(["a", "b"]) {
        link.accept(job, id).await;
    }
    world.advance(VALIDITY + RECEIPT_WAIT).await;
    world.sweep(world.now).await;
    world.sweep(world.now).await;
    let unknown = ReportStatus::Final(DlrCode::Unknown);
    assert_eq!(world.take_and_answer_reports(&port, 1).await, [(message, unknown)]);
    link.receipt("a", DeliveryOutcome::Delivered).await;
    link.receipt("b", DeliveryOutcome::Delivered).await;
    assert_eq!(world.take_and_answer_reports(&port, 1).await, [(message, DELIVERED)]);
    world.assert_no_reports(&port).await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn unanswered_report_is_sent_again_after_a_kill_and_an_answered_one_is_not() {
    let mut world = World::new().await;
    let link = world.link().await;
    let port = world.store.open_receiver(CONNECTION);
    let mut sent = Vec::new();
    for id in ["a", "b", "c"] {
        sent.push(world.send_accepted_as(&link, world.smpp_message(0x11), id).await);
        link.receipt(id, DeliveryOutcome::Accepted).await;
        link.receipt(id, DeliveryOutcome::Delivered).await;
    }
    let first = world.take_reports(&port, 1).await;
    world.settle(&port, &[first[0].id], ReportOutcome::Accepted).await;
    let under_way = world.take_reports(&port, 3).await;
    assert_eq!(under_way.len(), 3);
    world.kill();

    let port = world.store.open_receiver(CONNECTION);
    assert_eq!(world.store.reports().waiting(CONNECTION).await.unwrap(), 5);
    let told = world.take_and_answer_reports(&port, 5).await;
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
    assert_eq!(sorted, expect_sorted, "in order for each message: {told:?}");
    world.restart().await;
    let port = world.store.open_receiver(CONNECTION);
    world.assert_no_reports(&port).await;
    world.assert_audit_clean();
}

#[tokio::test]
async fn shape_and_origin_survive_a_restart() {
    let mut world = World::new().await;
    let header: Box<[u8]> = [5, 0, 3, 9, 2, 1].into();
    let options = Arc::new(SmsOptions { header, class: Some(1), protocol_id: 3, ..SmsOptions::default() });
    let acceptance = Acceptance { options: Some(options.clone()), ..world.smpp_message(1) };
    // Without a link the message waits in the tables. A default options is stored as none.
    let message = world.send(acceptance).await;
    world.send(Acceptance { options: Some(Arc::default()), ..world.sms() }).await;
    world.restart().await;
    let link = world.link_with_slots(2).await;
    let jobs = link.take_jobs(2).await;
    assert_eq!((jobs[0].message, jobs[0].options.as_ref()), (message, Some(&options)));
    assert_eq!(jobs[1].options, None);
    link.accept(&jobs[0], "id").await;
    world.flush().await;
    world.restart().await;
    let port = world.store.open_receiver(CONNECTION);
    world.link().await.receipt("id", DeliveryOutcome::Delivered).await;
    let reports = world.take_reports(&port, 1).await;
    assert_eq!((reports[0].message, &*news(&reports[0]).origin), (message, &origin(1)));
    world.assert_audit_clean();
}
