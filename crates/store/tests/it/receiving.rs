//! Ports: the binds that reports are told to, how they share them, and what happens to those nobody takes.

use crate::reporting::{CONNECTION, news};
use crate::world::within;
use crate::world::*;
use hermod_domain::ids::{ConnectionId, MessageId};
use hermod_domain::lifecycle::Verdict;
use hermod_domain::receipt::{DlrCode, ReportStatus};
use hermod_store::{
    Acceptance, GIVEN_UP_KEPT, GivenUpReport, REPORT_KEPT, REPORTS_IN_MEMORY_MAX, ReportGiveUpReason,
    ReportId, ReportOutcome,
};
use std::time::Duration;
use tokio::task::JoinSet;

impl World {
    /// So many messages that end in our own queue, each with a report, in order.
    async fn expire(&mut self, count: usize) -> Vec<MessageId> {
        let mut sent = Vec::new();
        while sent.len() < count {
            let mut sending = JoinSet::new();
            for _ in sent.len()..count.min(sent.len() + 1_000) {
                let (store, acceptance) = (self.store.clone(), self.smpp(1));
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
        self.passes(VALIDITY).await;
        self.sweeps(self.now).await;
        sent
    }

    async fn given_up(&self) -> Vec<GivenUpReport> {
        self.store.given_up(Some(ALICE), None, 1_000).await.expect("the store answers")
    }
}

#[tokio::test]
async fn ten_thousand_reports_wait_for_nobody_and_are_told_in_order() {
    const REPORTS: usize = 10_000;
    const { assert!(REPORTS > 2 * REPORTS_IN_MEMORY_MAX) };
    let mut world = World::new().await;
    let sent = world.expire(REPORTS).await;
    let port = world.store.open_receiver(CONNECTION);
    let mut told = Vec::new();
    while told.len() < REPORTS / 2 {
        told.extend(take_some(&world, &port).await);
    }
    drop(port);
    world.restarts().await;
    let port = world.store.open_receiver(CONNECTION);
    while told.len() < REPORTS {
        told.extend(take_some(&world, &port).await);
    }
    assert_eq!(told, sent, "in order, and none of them twice");
    world.settles().await;
    assert_eq!(world.store.reports_waiting(CONNECTION).await.unwrap(), 0);
    world.books_are_sound();
}

async fn take_some(world: &World, port: &hermod_store::ReceiverPort) -> Vec<MessageId> {
    let reports = world.takes(port, 100).await;
    let outcomes = reports.iter().map(|report| (report.id, ReportOutcome::Accepted)).collect();
    port.settle(outcomes, world.now).await.expect("the store is there");
    reports.iter().map(|report| report.message).collect()
}

#[tokio::test]
async fn binds_of_a_connection_share_its_reports_and_others_see_none_of_them() {
    let mut world = World::new().await;
    let ports = [world.store.open_receiver(CONNECTION), world.store.open_receiver(CONNECTION)];
    let stranger = world.store.open_receiver(ConnectionId::new(2));
    let sent = world.expire(3).await;
    let first = world.takes(&ports[0], 2).await;
    let second = world.takes(&ports[1], 2).await;
    assert_eq!((first.len(), second.len()), (2, 1));
    world.tells_nothing(&stranger).await;
    // The first bind is lost. What it had taken goes to the other one, but not at once.
    let [lost, other] = ports;
    drop(lost);
    world.tells_nothing(&other).await;
    world.passes(secs(29)).await;
    world.tells_nothing(&other).await;
    world.passes(secs(1)).await;
    let again = world.takes(&other, 10).await;
    assert_eq!(again.iter().map(|report| report.message).collect::<Vec<_>>(), sent[..2]);
    world.books_are_sound();
}

#[tokio::test]
async fn who_stops_waiting_loses_nothing() {
    let mut world = World::new().await;
    let port = world.store.open_receiver(CONNECTION);
    for _ in 0..20 {
        let waited = within(Duration::from_millis(1), port.take(10, world.now)).await;
        assert!(waited.is_err());
    }
    let sent = world.expire(1).await;
    let other = world.store.open_receiver(CONNECTION);
    let (told, _) = tokio::join!(world.takes(&other, 1), async {
        let waited = within(Duration::ZERO, port.take(0, world.now)).await;
        assert!(waited.is_err(), "no room, no reports");
    });
    assert_eq!(told[0].message, sent[0]);
    world.settle(&other, &[told[0].id], ReportOutcome::NotSent).await;
    assert_eq!(world.takes(&port, 1).await, told, "at once, and to whoever comes");
}

#[tokio::test]
async fn a_bind_that_comes_back_at_once_is_not_told_what_it_has_answered() {
    let mut world = World::new().await;
    let sent = world.expire(500).await;
    let mut told = Vec::new();
    while told.len() < sent.len() {
        let port = world.store.open_receiver(CONNECTION);
        told.extend(take_some(&world, &port).await);
    }
    assert_eq!(told, sent);
}

#[tokio::test]
async fn later_means_on_the_schedule_and_a_newer_word_goes_first() {
    let mut world = World::new().await;
    let link = world.link().await;
    let port = world.store.open_receiver(CONNECTION);
    let message = world.sent_as(&link, world.smpp(0x11), "id").await;
    link.receipt("id", Verdict::Enroute).await;
    for wait in [30, 60, 300] {
        let reports = world.takes(&port, 1).await;
        assert_eq!((reports[0].message, news(&reports[0]).status), (message, ReportStatus::Enroute));
        world.settle(&port, &[reports[0].id], ReportOutcome::RetryLater).await;
        world.passes(secs(wait - 1)).await;
        world.tells_nothing(&port).await;
        world.passes(secs(1)).await;
    }
    let reports = world.takes(&port, 1).await;
    world.settle(&port, &[reports[0].id], ReportOutcome::RetryLater).await;
    link.receipt("id", Verdict::Delivered).await;
    let told = world.is_told(&port, 1).await;
    assert_eq!(told, [(message, ReportStatus::Final(DlrCode::Delivrd))]);
    world.passes(secs(100_000)).await;
    world.tells_nothing(&port).await;
    assert_eq!(world.store.reports_waiting(CONNECTION).await.unwrap(), 0, "the notice is dropped");
    world.books_are_sound();
}

#[tokio::test]
async fn what_is_refused_for_good_or_too_old_is_given_up_and_listed_for_a_while() {
    let mut world = World::new().await;
    let sent = world.expire(3).await;
    let at = world.now;
    let port = world.store.open_receiver(CONNECTION);
    let reports = world.takes(&port, 2).await;
    world.settle(&port, &[reports[0].id], ReportOutcome::Refused(0x45)).await;
    world.settle(&port, &[reports[1].id], ReportOutcome::RetryLater).await;
    world.passes(REPORT_KEPT - secs(1)).await;
    world.sweeps(world.now).await;
    assert_eq!(world.given_up().await.len(), 1);
    world.passes(secs(1)).await;
    world.sweeps(world.now).await;
    world.tells_nothing(&port).await;
    world.restarts().await;
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
    assert_eq!(world.store.given_up(None, Some(expect[0].id), 1).await.unwrap(), expect[1..2]);
    assert_eq!(world.store.given_up(Some(BOB), None, 10).await.unwrap(), []);
    assert_eq!(world.store.reports_waiting(CONNECTION).await.unwrap(), 0);
    // Ids are not used again while they stand in the list.
    world.sends(Acceptance { validity: secs(1), ..world.smpp(1) }).await;
    world.passes(secs(1)).await;
    world.sweeps(world.now).await;
    let port = world.store.open_receiver(CONNECTION);
    assert!(world.takes(&port, 1).await[0].id > expect[2].id);
    world.books_are_sound();

    world.passes(GIVEN_UP_KEPT - secs(100)).await;
    world.purges().await;
    assert_eq!(world.given_up().await, expect);
    world.passes(secs(100)).await;
    world.purges().await;
    assert!(world.given_up().await.is_empty());
}
