//! Receiver ports: how binds of a connection share its reports, retries, and reports that are given up.

use crate::reports::{CONNECTION, news};
use crate::world::within;
use crate::world::*;
use hermod_domain::ids::{ConnectionId, MessageId};
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_store::{
    Acceptance, GIVEN_UP_KEPT, GivenUpReport, REPORT_KEPT, REPORTS_IN_MEMORY_MAX, ReportGiveUpReason,
    ReportId, ReportOutcome,
};
use std::time::Duration;
use tokio::task::JoinSet;

impl World {
    /// Lets `count` messages with reports expire in the queue. Returns them in order.
    async fn expire_with_reports(&mut self, count: usize) -> Vec<MessageId> {
        let mut sent = Vec::new();
        while sent.len() < count {
            let mut sending = JoinSet::new();
            for _ in sent.len()..count.min(sent.len() + 1_000) {
                let (store, acceptance) = (self.store.clone(), self.smpp_message(1));
                sending.spawn(async move { store.accept(acceptance).await.expect("the store answers") });
            }
            for outcome in sending.join_all().await {
                match outcome {
                    hermod_store::AcceptOutcome::Accepted { message, .. } => sent.push(message),
                    other => panic!("not accepted: {other:?}"),
                }
            }
        }
        sent.sort_unstable();
        self.advance(VALIDITY).await;
        self.sweep(self.now).await;
        sent
    }

    async fn given_up(&self) -> Vec<GivenUpReport> {
        self.store.reports().given_up(Some(ALICE), None, 1_000).await.expect("the store answers")
    }
}

#[tokio::test]
async fn ten_thousand_reports_without_a_bind_wait_and_are_delivered_in_order() {
    const REPORTS: usize = 10_000;
    const { assert!(REPORTS > 2 * REPORTS_IN_MEMORY_MAX) };
    let mut world = World::new().await;
    let sent = world.expire_with_reports(REPORTS).await;
    let port = world.store.open_receiver(CONNECTION);
    let mut told = Vec::new();
    while told.len() < REPORTS / 2 {
        told.extend(take_some(&world, &port).await);
    }
    drop(port);
    world.restart().await;
    let port = world.store.open_receiver(CONNECTION);
    while told.len() < REPORTS {
        told.extend(take_some(&world, &port).await);
    }
    assert_eq!(told, sent, "in order and once each");
    world.flush().await;
    assert_eq!(world.store.reports().waiting(CONNECTION).await.unwrap(), 0);
    world.assert_audit_clean();
}

async fn take_some(world: &World, port: &hermod_store::ReceiverPort) -> Vec<MessageId> {
    let reports = world.take_reports(port, 100).await;
    let outcomes = reports.iter().map(|report| (report.id, ReportOutcome::Accepted)).collect();
    port.settle(outcomes, world.now).await.expect("the store is there");
    reports.iter().map(|report| report.message).collect()
}

#[tokio::test]
async fn binds_of_a_connection_share_its_reports_and_other_connections_get_none() {
    let mut world = World::new().await;
    let ports = [world.store.open_receiver(CONNECTION), world.store.open_receiver(CONNECTION)];
    let stranger = world.store.open_receiver(ConnectionId::new(2));
    let sent = world.expire_with_reports(3).await;
    let first = world.take_reports(&ports[0], 2).await;
    let second = world.take_reports(&ports[1], 2).await;
    assert_eq!((first.len(), second.len()), (2, 1));
    world.assert_no_reports(&stranger).await;
    // The first bind is lost. Its reports go to the other one after a delay.
    let [lost, other] = ports;
    drop(lost);
    world.assert_no_reports(&other).await;
    world.advance(secs(29)).await;
    world.assert_no_reports(&other).await;
    world.advance(secs(1)).await;
    let again = world.take_reports(&other, 10).await;
    assert_eq!(again.iter().map(|report| report.message).collect::<Vec<_>>(), sent[..2]);
    world.assert_audit_clean();
}

#[tokio::test]
async fn cancelled_take_loses_no_report() {
    let mut world = World::new().await;
    let port = world.store.open_receiver(CONNECTION);
    for _ in 0..20 {
        let waited = within(Duration::from_millis(1), port.take(10, world.now)).await;
        assert!(waited.is_err());
    }
    let sent = world.expire_with_reports(1).await;
    let other = world.store.open_receiver(CONNECTION);
    let (told, _) = tokio::join!(world.take_reports(&other, 1), async {
        let waited = within(Duration::ZERO, port.take(0, world.now)).await;
        assert!(waited.is_err(), "without room there are no reports");
    });
    assert_eq!(told[0].message, sent[0]);
    world.settle(&other, &[told[0].id], ReportOutcome::NotSent).await;
    assert_eq!(world.take_reports(&port, 1).await, told, "the unsent report goes to the next bind at once");
}

#[tokio::test]
async fn bind_that_reconnects_at_once_does_not_get_answered_reports_again() {
    let mut world = World::new().await;
    let sent = world.expire_with_reports(500).await;
    let mut told = Vec::new();
    while told.len() < sent.len() {
        let port = world.store.open_receiver(CONNECTION);
        told.extend(take_some(&world, &port).await);
    }
    assert_eq!(told, sent);
}

#[tokio::test]
async fn report_answered_with_later_is_retried_on_the_schedule_and_replaced_by_a_newer_one() {
    let mut world = World::new().await;
    let link = world.link().await;
    let port = world.store.open_receiver(CONNECTION);
    let message = world.send_accepted_as(&link, world.smpp_message(0x11), "id").await;
    link.receipt("id", DeliveryOutcome::Enroute).await;
    for wait in [30, 60, 300] {
        let reports = world.take_reports(&port, 1).await;
        assert_eq!((reports[0].message, news(&reports[0]).status), (message, ReportStatus::Enroute));
        world.settle(&port, &[reports[0].id], ReportOutcome::RetryLater).await;
        world.advance(secs(wait - 1)).await;
        world.assert_no_reports(&port).await;
        world.advance(secs(1)).await;
    }
    let reports = world.take_reports(&port, 1).await;
    world.settle(&port, &[reports[0].id], ReportOutcome::RetryLater).await;
    link.receipt("id", DeliveryOutcome::Delivered).await;
    let told = world.take_and_answer_reports(&port, 1).await;
    assert_eq!(told, [(message, ReportStatus::Final(DlrCode::Delivrd))]);
    world.advance(secs(100_000)).await;
    world.assert_no_reports(&port).await;
    assert_eq!(
        world.store.reports().waiting(CONNECTION).await.unwrap(),
        0,
        "the intermediate report is dropped"
    );
    world.assert_audit_clean();
}

#[tokio::test]
async fn report_rejected_or_too_old_is_given_up_and_listed_for_a_while() {
    let mut world = World::new().await;
    let sent = world.expire_with_reports(3).await;
    let at = world.now;
    let port = world.store.open_receiver(CONNECTION);
    let reports = world.take_reports(&port, 2).await;
    world.settle(&port, &[reports[0].id], ReportOutcome::Refused(0x45)).await;
    world.settle(&port, &[reports[1].id], ReportOutcome::RetryLater).await;
    world.advance(REPORT_KEPT - secs(1)).await;
    world.sweep(world.now).await;
    assert_eq!(world.given_up().await.len(), 1);
    world.advance(secs(1)).await;
    world.sweep(world.now).await;
    world.assert_no_reports(&port).await;
    world.restart().await;
    let report = |place: usize, given_up_at, why| GivenUpReport {
        id: ReportId(reports[0].id.0 + u64::try_from(place).unwrap()),
        account: ALICE,
        connection: CONNECTION,
        message: sent[place],
        status: Some(ReportStatus::Final(DlrCode::Expired)),
        at,
        given_up_at,
        reason: why,
    };
    let expect = [
        report(0, at, ReportGiveUpReason::Refused(0x45)),
        report(1, at.plus(REPORT_KEPT), ReportGiveUpReason::TooOld),
        report(2, at.plus(REPORT_KEPT), ReportGiveUpReason::TooOld),
    ];
    assert_eq!(world.given_up().await, expect);
    assert_eq!(world.store.reports().given_up(None, Some(expect[0].id), 1).await.unwrap(), expect[1..2]);
    assert_eq!(world.store.reports().given_up(Some(BOB), None, 10).await.unwrap(), []);
    assert_eq!(world.store.reports().waiting(CONNECTION).await.unwrap(), 0);
    // Ids in the list of given-up reports are not reused.
    world.send(Acceptance { validity: secs(1), ..world.smpp_message(1) }).await;
    world.advance(secs(1)).await;
    world.sweep(world.now).await;
    let port = world.store.open_receiver(CONNECTION);
    assert!(world.take_reports(&port, 1).await[0].id > expect[2].id);
    world.assert_audit_clean();

    world.advance(GIVEN_UP_KEPT - secs(100)).await;
    world.purge_all().await;
    assert_eq!(world.given_up().await, expect);
    world.advance(secs(100)).await;
    world.purge_all().await;
    assert!(world.given_up().await.is_empty());
}
