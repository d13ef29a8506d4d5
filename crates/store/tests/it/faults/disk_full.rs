//! A full disk: tests on a small tmpfs.

use crate::mo::text;
use crate::reports::CONNECTION;
use crate::webhook_queue::results::settled;
use crate::world::*;
use crate::world::{block, within};
use hermod_domain::carrier::IdConversion;
use hermod_domain::lifecycle::{DeliveryOutcome, MessageState};
use hermod_store::{
    AcceptOutcome, Acceptance, AfterAttempt, LinkKind, LinkNumber, MoRecord, OpenOptions, REPEATS_KNOWN,
    ReportOutcome, Store, StoreError, SubmitResponse, WebhookState,
};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

const DISK_BYTES: u64 = 12 * 1024 * 1024;
pub(super) const LOW_WATER_BYTES: u64 = 4 * 1024 * 1024;

/// A tmpfs that is unmounted on drop.
pub(super) struct SmallDisk {
    mount_point: TempDir,
}

impl SmallDisk {
    fn new() -> SmallDisk {
        SmallDisk::of(DISK_BYTES)
    }

    pub(super) fn of(bytes: u64) -> SmallDisk {
        let mount_point = TempDir::new().expect("a temporary folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "hermod-test"])
            .arg(mount_point.path())
            .output();
        let result = mounted.as_ref().map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
        let done = mounted.as_ref().is_ok_and(|output| output.status.success());
        assert!(
            done,
            "this test fills a disk of its own: it needs the right to mount a tmpfs (root): {result:?}"
        );
        SmallDisk { mount_point }
    }

    /// Its name is that of no other folder: on PostgreSQL it is the name of a schema.
    pub(super) fn folder(&self) -> PathBuf {
        let path = self.mount_point.path();
        path.join(path.file_name().expect("a name"))
    }

    fn filler(&self) -> PathBuf {
        self.mount_point.path().join("filler")
    }

    /// Fills the disk until `leave` bytes are free.
    fn fill(&self, leave: u64) {
        let mut filler = File::options().create(true).append(true).open(self.filler()).expect("a file");
        let chunk = [7; 4096];
        while self.free() > leave {
            if filler.write_all(&chunk).is_err() {
                break;
            }
        }
    }

    fn free(&self) -> u64 {
        let disk = rustix::fs::statvfs(self.mount_point.path()).expect("a file system");
        disk.f_bavail * disk.f_frsize
    }

    fn make_room(&self) {
        std::fs::remove_file(self.filler()).expect("the filler is there");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let path: &Path = self.mount_point.path();
        let unmounted = Command::new("umount").arg("--lazy").arg(path).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "umount {}", path.display());
    }
}

pub(super) async fn opened_on(disk: &SmallDisk, low_water_bytes: u64) -> World {
    let options = OpenOptions { low_water_bytes, ..options(&disk.folder(), noon()) };
    let store = Store::open(&options).expect("a new store");
    let world = World { folder: TempDir::new().expect("unused"), store, now: noon() };
    world.pay_in(ALICE, 1_000_000_000).await;
    world
}

#[tokio::test]
async fn below_the_low_water_mark_new_messages_are_rejected_and_everything_else_works() {
    let disk = SmallDisk::new();
    let world = opened_on(&disk, LOW_WATER_BYTES).await;
    let link = world.link_with_slots(1).await;
    let message = world.send(Acceptance { key: Some(key(1)), ..world.sms() }).await;
    for _ in 0..3 {
        disk.fill(LOW_WATER_BYTES / 2);
        world.store.measure_disk();
        assert!(!world.store.is_accepting());
        let refused = world.store.accept(world.sms()).await;
        assert!(matches!(refused, Err(StoreError::DiskLow)), "{refused:?}");
        assert_eq!(world.state(message).await, MessageState::Queued, "reads work");
        disk.make_room();
        world.store.measure_disk();
        assert!(world.store.is_accepting());
        world.send(world.sms()).await;
    }
    // There is still room to finish accepted messages.
    disk.fill(LOW_WATER_BYTES / 2);
    world.store.measure_disk();
    link.accept(&link.take_job().await, "id").await;
    link.receipt("id", DeliveryOutcome::Delivered).await;
    world.flush().await;
    assert_eq!(world.state(message).await, MessageState::Delivered);
    world.store.close().await.unwrap();
    assert_audit_clean(&disk.folder());
}

#[tokio::test]
async fn report_answered_on_a_full_disk_is_settled_later_and_an_unanswered_one_is_sent_again() {
    if on_postgres("the disk of the embedded store") {
        return;
    }
    let disk = SmallDisk::new();
    let mut world = opened_on(&disk, 0).await;
    let link = world.link().await;
    for id in ["a", "b", "c"] {
        world.send_accepted_as(&link, world.smpp_message(1), id).await;
        link.receipt(id, DeliveryOutcome::Delivered).await;
    }
    world.flush().await;
    let port = world.store.open_receiver(CONNECTION);
    let reports = world.take_reports(&port, 3).await;
    assert_eq!(reports.len(), 3);
    disk.fill(0);
    send_until_full(&world).await;
    world.settle(&port, &[reports[0].id], ReportOutcome::Accepted).await;
    world.settle(&port, &[reports[1].id], ReportOutcome::Refused(8)).await;
    assert_eq!(world.store.reports().waiting(CONNECTION).await.unwrap(), 3, "nothing could be written");
    disk.make_room();
    wait_until_accepting(&world).await;
    assert_eq!(world.store.reports().waiting(CONNECTION).await.unwrap(), 1);
    assert_eq!(world.store.reports().given_up(None, None, 10).await.unwrap().len(), 1);
    world.store.close().await.unwrap();
    world.store = Store::open(&options(&disk.folder(), world.now)).expect("it opens again");
    let port = world.store.open_receiver(CONNECTION);
    assert_eq!(world.take_reports(&port, 10).await, reports[2..], "it was not answered");
    world.store.close().await.unwrap();
    assert_audit_clean(&disk.folder());
}

#[tokio::test]
async fn webhook_result_on_a_full_disk_is_kept_and_confirmed_when_written() {
    if on_postgres("the disk of the embedded store") {
        return;
    }
    let disk = SmallDisk::new();
    let mut world = opened_on(&disk, 0).await;
    world.enable_webhooks();
    for id in ["a", "b"] {
        world.send_with_receipts(world.sms(), id, &[DeliveryOutcome::Delivered]).await;
    }
    let due = world.due_events().await;
    disk.fill(0);
    send_until_full(&world).await;
    let (store, now) = (world.store.clone(), world.now);
    let done = vec![settled(&due[0], 200, AfterAttempt::Delivered, now)];
    let waits = within(Duration::from_millis(700), store.webhooks().settle(done, now)).await;
    assert!(waits.is_err(), "it is not durable yet: {waits:?}");
    let done = vec![settled(&due[1], 200, AfterAttempt::Delivered, now)];
    let writing = tokio::task::JoinSet::from_iter([async move { store.webhooks().settle(done, now).await }]);
    assert_eq!(world.due_events().await, due, "nothing could be written");
    disk.make_room();
    wait_until_accepting(&world).await;
    assert!(writing.join_all().await[0].is_ok());
    assert_eq!(world.due_events().await, []);
    world.store.close().await.unwrap();
    world.store = Store::open(&options(&disk.folder(), world.now)).expect("it opens again");
    assert_eq!(
        world.state_of(due[0].id).await,
        Some(WebhookState::Delivered),
        "also without a caller waiting"
    );
    world.store.close().await.unwrap();
    assert_audit_clean(&disk.folder());
}

#[tokio::test]
async fn mo_message_received_on_a_full_disk_is_detected_as_duplicate_after_it_is_written() {
    if on_postgres("the disk of the embedded store") {
        return;
    }
    let disk = SmallDisk::new();
    let mut world = opened_on(&disk, 0).await;
    let link = world.link().await;
    let brought = || vec![MoRecord { sequence: 9, part: text("4915112345678", "80800", "hello") }];
    disk.fill(0);
    send_until_full(&world).await;
    link.port.record(vec![], vec![], brought(), 0, world.now).await.expect("it is kept");
    world.now = world.now.plus(REPEATS_KNOWN);
    world.store.tick(world.now).await.expect("a tick");
    disk.make_room();
    assert_eq!(link.take_handout().await.received, [9]);
    link.port.record(vec![], vec![], brought(), 0, world.now).await.expect("the answer was lost");
    assert_eq!(link.take_handout().await.received, [9]);
    assert_eq!(world.store.inbound().unassigned(None, 10).await.unwrap().len(), 1);
    world.store.close().await.unwrap();
    assert_audit_clean(&disk.folder());
}

/// Sends until the disk is full. Returns the number of accepted messages.
async fn send_until_full(world: &World) -> i64 {
    for accepted in 0.. {
        match world.store.accept(world.sms()).await {
            Ok(outcome) => assert!(matches!(outcome, AcceptOutcome::Accepted { .. })),
            Err(StoreError::DiskLow) => return accepted,
            Err(other) => panic!("not DiskLow: {other:?}"),
        }
        assert!(accepted < 10_000, "the disk never fills");
    }
    0
}

#[tokio::test]
async fn full_disk_rejects_messages_and_keeps_responses_and_receipts_in_memory() {
    if on_postgres("the disk of the embedded store") {
        return;
    }
    let disk = SmallDisk::new();
    let world = opened_on(&disk, 0).await;
    let mut paid = 1_000_000_000;
    for round in 0..3 {
        let link = world.link_with_slots(1).await;
        let message = world.send(Acceptance { key: Some(key(round)), ..world.sms() }).await;
        let job = link.take_job().await;
        assert_eq!(job.message, message);
        disk.fill(0);
        paid -= PRICE + send_until_full(&world).await * PRICE;
        assert_eq!(world.balance(ALICE).await, paid, "rejected messages are not charged");
        assert_eq!(world.store.find_key(key(round)).await.unwrap().map(|found| found.message), Some(message));
        // The response, the receipt and the next slot wait in memory.
        let id = format!("id{round}");
        link.respond(
            vec![answer(&job, SubmitResponse::Accepted(remote(&id)))],
            vec![receipt(9, &id, DeliveryOutcome::Delivered)],
        )
        .await;
        let other = world
            .store
            .open_link(ACME, LinkNumber(1), LinkKind::Sends, IdConversion::None)
            .await
            .expect("opening a link needs no disk space");
        other.close().await.expect("closing a link needs no disk space");
        assert_eq!(world.state(message).await, MessageState::Queued);
        link.assert_idle().await;

        disk.make_room();
        let handout = link.take_handout().await;
        assert_eq!(sequences(&handout), [9], "recorded once there is room");
        assert_eq!(world.state(message).await, MessageState::Delivered);
        wait_until_accepting(&world).await;
        paid -= PRICE;
        // Sends the rest of the backlog before the next round.
        drain(&world, &link, handout.jobs).await;
    }
    world.store.close().await.unwrap();
    assert_audit_clean(&disk.folder());
}

pub(super) async fn wait_until_accepting(world: &World) {
    let accepts = async {
        world.store.measure_disk();
        while world.store.accept(world.sms()).await.is_err() {
            tokio::task::spawn_blocking(|| block(Duration::from_millis(100))).await.expect("a pause");
            world.store.measure_disk();
        }
    };
    within(PATIENCE, accepts).await.expect("the store accepts once the disk has room");
}

async fn drain(world: &World, link: &Link, mut jobs: Vec<hermod_store::Job>) {
    loop {
        let answers: Vec<_> = jobs.iter().map(|job| answer(job, refused(11))).collect();
        link.port.record(answers, Vec::new(), Vec::new(), 500, world.now).await.expect("a report");
        world.flush().await;
        match within(Duration::ZERO, link.port.handout()).await {
            Ok(handout) => jobs = handout.jobs,
            Err(_) => break,
        }
    }
    link.close().await.expect("it closes");
}

/// The reserve is there, and nothing else: neither the record nor the journal can grow.
#[tokio::test]
async fn store_starts_on_a_full_disk_without_its_record_rejects_messages_and_goes_on_with_space() {
    if on_postgres("the disk of the embedded store") {
        return;
    }
    let disk = SmallDisk::new();
    let world = opened_on(&disk, LOW_WATER_BYTES).await;
    let message = world.send(world.sms()).await;
    world.store.close().await.unwrap();
    disk.fill(0);
    let options =
        OpenOptions { low_water_bytes: LOW_WATER_BYTES, record: true, ..options(&disk.folder(), noon()) };
    let store = Store::open(&options).expect("it starts on a full disk");
    let world = World { store, ..world };
    let refused = world.store.accept(world.sms()).await;
    assert!(matches!(refused, Err(StoreError::DiskLow)), "{refused:?}");
    assert_eq!(world.state(message).await, MessageState::Queued, "reads work");
    disk.make_room();
    wait_until_accepting(&world).await;
    world.store.record().flush().await.expect("the record is made");
    world.store.close().await.unwrap();
    assert_audit_clean(&disk.folder());
}
