//! Customers who submit on transmitters: when nobody has been there to take reports for a minute, their webhook is told.

use super::{DELIVERED, DLRS, EXPIRED, catalogue, is_quiet, many_connections, webhooks, woken};
use crate::reporting::{CONNECTION, origin};
use crate::world::*;
use hermod_domain::catalogue::Connection;
use hermod_domain::ids::ConnectionId;
use hermod_domain::lifecycle::Verdict;
use hermod_domain::origin::Origin;
use hermod_domain::receipt::ReportStatus;
use hermod_store::{Acceptance, RECEIVER_AWAY_MAX, REPORT_KEPT, ReportGiveUpReason, ReportOutcome};
use std::sync::Arc;

impl World {
    /// A message of Alice's that came on a transmitter, with this wish.
    fn transmitted(&self, registered_delivery: u8) -> Acceptance {
        let origin = Origin { on_transmitter: true, ..origin(registered_delivery) };
        Acceptance { origin: Some(Arc::new(origin)), ..self.sms() }
    }

    async fn waiting_reports(&self) -> u64 {
        self.store.reports_waiting(CONNECTION).await.expect("the store answers")
    }
}

#[tokio::test]
async fn after_a_minute_without_a_receiver_every_change_goes_to_the_webhook() {
    let mut world = World::with_webhooks().await;
    let verdicts = [Verdict::Enroute, Verdict::Delivered];
    world.passes(RECEIVER_AWAY_MAX - secs(1)).await;
    let early = world.goes(world.transmitted(1), "a", &verdicts).await;
    // What no bind is to be told has nothing to wait for.
    let at_once = vec![(early, ReportStatus::Enroute)];
    assert_eq!((world.waiting_reports().await, world.says().await), (1, at_once), "a minute since the start");
    world.passes(secs(1)).await;
    let moved = vec![(early, ReportStatus::Enroute), (early, DELIVERED)];
    assert_eq!((world.waiting_reports().await, world.says().await), (0, moved));
    // Whatever registered_delivery said.
    let late = world.goes(world.transmitted(0), "b", &verdicts).await;
    let expect = [
        (early, ReportStatus::Enroute),
        (early, DELIVERED),
        (late, ReportStatus::Enroute),
        (late, DELIVERED),
    ];
    assert_eq!(world.says().await, expect);
    // Somebody comes: reports again, and only what was asked for.
    let port = world.store.open_receiver(CONNECTION);
    let told = world.goes(world.transmitted(1), "c", &verdicts).await;
    world.goes(world.transmitted(0), "d", &verdicts).await;
    assert_eq!(world.is_told(&port, 1).await, [(told, DELIVERED)]);
    world.tells_nothing(&port).await;
    assert_eq!(world.says().await, expect);
    // They leave: it counts from there.
    drop(port);
    world.passes(RECEIVER_AWAY_MAX - secs(1)).await;
    world.goes(world.transmitted(1), "e", &verdicts).await;
    assert_eq!((world.waiting_reports().await, world.due().await.len()), (1, 5));
    world.passes(secs(1)).await;
    assert_eq!((world.waiting_reports().await, world.due().await.len()), (0, 6));
    world.books_are_sound();
}

#[tokio::test]
async fn what_nobody_asked_for_is_posted_at_once_while_nobody_is_bound_and_not_told_otherwise() {
    let mut world = World::with_webhooks().await;
    let verdicts = [Verdict::Enroute, Verdict::Delivered];
    let posted = |message| vec![(message, ReportStatus::Enroute), (message, DELIVERED)];
    // Right after the start.
    let first = world.goes(world.transmitted(0), "a", &verdicts).await;
    assert_eq!((world.waiting_reports().await, world.says().await), (0, posted(first)));
    world.has_posted(&world.due().await).await;
    // On a transceiver, or with somebody there, nothing was asked for and nothing is told.
    world.goes(world.smpp(0), "b", &verdicts).await;
    let port = world.store.open_receiver(CONNECTION);
    world.goes(world.transmitted(0), "c", &verdicts).await;
    assert_eq!((world.waiting_reports().await, world.says().await), (0, vec![]));
    // Right after they left.
    drop(port);
    let last = world.goes(world.transmitted(0), "d", &verdicts).await;
    assert_eq!((world.waiting_reports().await, world.says().await), (0, posted(last)));
    world.passes(RECEIVER_AWAY_MAX).await;
    assert_eq!(world.says().await, posted(last), "once");
    world.books_are_sound();
}

#[tokio::test]
async fn everyone_who_is_away_has_a_turn_however_many_there_are_and_whatever_changes() {
    const CONNECTIONS: u32 = 100;
    let mut world = World::new().await;
    let crowd = || many_connections(webhooks(true, true), CONNECTIONS);
    world.store.set_catalogue(crowd());
    for number in 1..=CONNECTIONS {
        let connection = ConnectionId::new(number);
        for base in [world.smpp(1), world.transmitted(1)] {
            world.sends(Acceptance { connection, validity: secs(1), ..base }).await;
        }
    }
    world.passes(secs(1)).await;
    world.sweeps(world.now).await;
    world.passes(RECEIVER_AWAY_MAX).await;
    // All the time there are new reports, and the catalogue is edited.
    for round in 0..5 {
        world.goes(world.smpp(1), &format!("id{round}"), &[Verdict::Delivered]).await;
        world.store.set_catalogue(crowd());
        world.passes(secs(1)).await;
    }
    let figures = world.store.webhook_figures(ALICE).await.unwrap();
    assert_eq!(figures[0].waiting, u64::from(CONNECTIONS));
    world.books_are_sound();
}

#[tokio::test]
async fn a_damaged_report_does_not_keep_the_others_from_moving() {
    let mut world = World::with_webhooks().await;
    for id in ["a", "b", "c"] {
        world.goes(world.transmitted(1), id, &[Verdict::Delivered]).await;
    }
    let raw = world.raw();
    raw.execute("UPDATE report SET told = 99 WHERE id = (SELECT min(id) FROM report)", []).unwrap();
    world.passes(RECEIVER_AWAY_MAX).await;
    assert_eq!((world.waiting_reports().await, world.due().await.len()), (1, 2));
}

#[tokio::test]
async fn a_damaged_report_does_not_keep_the_others_from_being_given_up() {
    let mut world = World::new().await;
    world.goes(world.smpp(1), "a", &[Verdict::Delivered]).await;
    let readable = world.goes(world.smpp(1), "b", &[Verdict::Delivered]).await;
    let raw = world.raw();
    raw.execute("UPDATE report SET told = 99 WHERE id = (SELECT min(id) FROM report)", []).unwrap();
    world.passes(REPORT_KEPT).await;
    world.sweeps(world.now).await;
    let given_up = world.store.given_up(Some(ALICE), None, 9).await.unwrap();
    assert_eq!(given_up.iter().map(|report| report.message).collect::<Vec<_>>(), [readable]);
    assert_eq!(world.waiting_reports().await, 0);
}

#[tokio::test]
async fn what_came_on_a_transceiver_waits_for_one() {
    let mut world = World::with_webhooks().await;
    world.goes(world.smpp(1), "a", &[Verdict::Delivered]).await;
    world.passes(RECEIVER_AWAY_MAX).await;
    let message = world.goes(world.smpp(1), "b", &[Verdict::Delivered]).await;
    world.passes(RECEIVER_AWAY_MAX).await;
    assert_eq!((world.waiting_reports().await, world.due().await.len()), (2, 0));
    let port = world.store.open_receiver(CONNECTION);
    assert_eq!(world.is_told(&port, 2).await[1], (message, DELIVERED));
    world.books_are_sound();
}

#[tokio::test]
async fn without_a_webhook_they_are_held_until_there_is_one_or_they_are_given_up() {
    let mut world = World::new().await;
    world.store.set_catalogue(catalogue(Some(webhooks(false, true)), |_| {}));
    world.passes(RECEIVER_AWAY_MAX).await;
    let held = world.goes(world.transmitted(1), "a", &[Verdict::Delivered]).await;
    world.passes(REPORT_KEPT - secs(1)).await;
    world.sweeps(world.now).await;
    assert_eq!((world.waiting_reports().await, world.due().await.len()), (1, 0));
    world.passes(secs(1)).await;
    world.sweeps(world.now).await;
    let given_up = world.store.given_up(Some(ALICE), None, 9).await.unwrap();
    assert_eq!((given_up[0].message, given_up[0].reason), (held, ReportGiveUpReason::TooOld));

    let moved = world.goes(world.transmitted(1), "b", &[Verdict::Delivered]).await;
    world.passes(secs(60)).await;
    assert_eq!(world.waiting_reports().await, 1);
    world.tells_alice();
    world.passes(secs(1)).await;
    assert_eq!((world.waiting_reports().await, world.says().await), (0, vec![(moved, DELIVERED)]));
    assert_eq!(woken(&world.store).await, [DLRS]);
    world.books_are_sound();
}

#[tokio::test]
async fn a_backlog_moves_in_steps_and_none_of_it_twice_over_a_kill() {
    const REPORTS: usize = 5_000;
    let mut world = World::with_webhooks().await;
    let mut sending = tokio::task::JoinSet::new();
    for place in 0..REPORTS {
        // Every third came on a transceiver and stays.
        let base = if place % 3 == 0 { world.smpp(1) } else { world.transmitted(1) };
        let (store, acceptance) = (world.store.clone(), Acceptance { validity: secs(1), ..base });
        sending.spawn(async move { store.accept(acceptance).await.expect("the store answers") });
    }
    sending.join_all().await;
    world.passes(secs(1)).await;
    world.sweeps(world.now).await;
    let stay = u64::try_from(REPORTS.div_ceil(3)).unwrap();
    let all = u64::try_from(REPORTS).unwrap();
    assert_eq!(world.waiting_reports().await, all);
    is_quiet(&world.store).await;
    world.passes(RECEIVER_AWAY_MAX).await;
    let left = world.waiting_reports().await;
    assert!(stay < left && left < all, "one tick moves some of them: {left}");
    // A kill, and the minute begins again.
    world.is_killed();
    world.tells_alice();
    assert_eq!(world.waiting_reports().await, left);
    world.passes(secs(59)).await;
    assert_eq!(world.waiting_reports().await, left);
    for _ in 0..4 {
        world.passes(secs(1)).await;
    }
    assert_eq!(world.waiting_reports().await, stay);
    let figures = world.store.webhook_figures(ALICE).await.unwrap();
    assert_eq!(figures[0].waiting, all - stay);
    assert!(world.says().await.iter().all(|(_, told)| *told == EXPIRED));
    world.books_are_sound();
}

#[tokio::test]
async fn what_a_webhook_tells_already_does_not_move_there_again() {
    let mut world = World::new().await;
    let too = |connection: &mut Connection| connection.webhooks_too = true;
    // Before both were asked for, and after.
    world.tells_alice();
    let before = world.goes(world.transmitted(1), "a", &[Verdict::Delivered]).await;
    world.store.set_catalogue(catalogue(Some(webhooks(true, true)), too));
    let both = world.goes(world.transmitted(1), "b", &[Verdict::Delivered]).await;
    assert_eq!((world.waiting_reports().await, world.says().await), (2, vec![(both, DELIVERED)]));
    world.passes(RECEIVER_AWAY_MAX).await;
    assert_eq!(world.waiting_reports().await, 1, "it still waits for a bind");
    assert_eq!(world.says().await, [(both, DELIVERED), (before, DELIVERED)]);
    let once = world.goes(world.transmitted(1), "c", &[Verdict::Delivered]).await;
    assert_eq!((world.waiting_reports().await, world.says().await[2]), (1, (once, DELIVERED)));
    world.books_are_sound();
}

#[tokio::test]
async fn a_report_that_a_lost_bind_had_is_moved_as_well() {
    let mut world = World::with_webhooks().await;
    let port = world.store.open_receiver(CONNECTION);
    let message = world.goes(world.transmitted(1), "a", &[Verdict::Delivered]).await;
    let taken = world.takes(&port, 1).await;
    world.settle(&port, &[taken[0].id], ReportOutcome::RetryLater).await;
    drop(port);
    world.passes(RECEIVER_AWAY_MAX).await;
    assert_eq!((world.waiting_reports().await, world.says().await), (0, vec![(message, DELIVERED)]));
    let port = world.store.open_receiver(CONNECTION);
    world.passes(secs(7200)).await;
    world.tells_nothing(&port).await;
    world.books_are_sound();
}
