//! A full disk and a failing fsync under the real binary.

mod wal;

use crate::gateways::{self, Served};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::{Customer, HttpAnswer};
use crate::store_access::audit_clean;
use hermod_simulator::carrier::{CarrierOptions, Script, SimulatedCarrier};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The fdatasync call that fails, and all after it: well after the start, well before the end of the test.
const FAILING_SYNC: u32 = 150;
/// sysexits.h: EX_IOERR.
const EXIT_DISK_FAILED: i32 = 74;

#[tokio::test]
async fn full_disk_rejects_messages_and_accepts_again_with_free_space() {
    let carrier = SimulatedCarrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
    let disk = SmallDisk::mount("80m");
    let gateway = Served::start(&disk.path, carrier.addr());
    let alice = Customer::new("alice", gateway.address());
    let message = alice.send("+4915112345678", "there is room").await.accepted();
    alice.status_of(&message).becomes("delivered").await;

    for round in 0..3 {
        let ballast = disk.fill_up_to(8 << 20);
        let refused = until(&alice, |answer| answer.status == 503).await;
        assert_eq!(refused.headers["x-error-code"], "GATEWAY_UNAVAILABLE");
        assert_eq!(refused.headers["retry-after"], "10");
        assert_eq!(alice.get_message(&message).await.status, 200, "reads work on a full disk");
        disk_alarm_is(&disk, true).await;
        std::fs::remove_file(ballast).expect("the ballast is removed");
        let accepted = until(&alice, |answer| answer.status == 202).await.accepted();
        alice.status_of(&accepted).becomes("delivered").await;
        disk_alarm_is(&disk, false).await;
        println!("round {round}: rejected and accepted again");
    }
    gateway.stop().await;
    audit_clean(&gateways::data_folder(&disk.path));
    carrier.stop().await;
}

#[tokio::test]
async fn failed_fsync_ends_the_process_and_no_acknowledged_message_is_lost() {
    let carrier = SimulatedCarrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inject = format!("inject=fsync,fdatasync:error=EIO:when={FAILING_SYNC}+");
    let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", &inject];
    let mut gateway = Served::start_under(&strace, folder.path(), carrier.addr());
    let alice = Customer::new("alice", gateway.address());
    let mut acknowledged = Vec::new();
    for n in 0..2 * FAILING_SYNC {
        match alice.try_send("+4915112345678", &format!("sync {n}")).await {
            Ok(answer) if answer.status == 202 => acknowledged.push(answer.accepted()),
            // The process has ended or is ending.
            Ok(_) | Err(_) => break,
        }
    }
    assert_eq!(gateway.exit_code(), Some(EXIT_DISK_FAILED));
    assert!(acknowledged.len() > 10, "fsync failed too early for this test: {}", acknowledged.len());

    let gateway = Served::start(folder.path(), carrier.addr());
    let alice = Customer::new("alice", gateway.address());
    for message in &acknowledged {
        assert_eq!(alice.get_message(message).await.status, 200, "message {message} was acknowledged");
    }
    gateway.wait_until_no_open_parts(folder.path()).await;
    gateway.stop().await;
    audit_clean(&gateways::data_folder(folder.path()));
    carrier.stop().await;
}

/// Sends until a response satisfies `wanted`.
async fn until(alice: &Customer, wanted: impl Fn(&HttpAnswer) -> bool) -> HttpAnswer {
    let started = now();
    loop {
        let answer = alice.send("+4915112345678", "is there room?").await;
        if wanted(&answer) {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "still {} after {PATIENCE:?}: {}", answer.status, answer.body);
        pause(Duration::from_millis(100)).await;
    }
}

/// Waits until `hermod alarms` lists the disk alarm, or no alarm.
async fn disk_alarm_is(disk: &SmallDisk, raised: bool) {
    let started = now();
    loop {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermod"));
        command.args(["alarms", "--data-dir"]).arg(gateways::data_folder(&disk.path));
        let printed = command.output().expect("the binary runs").stdout;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        if printed.contains("disk-low") == raised {
            assert!(!raised || printed.contains("new messages are rejected with 503"), "{printed}");
            return;
        }
        assert!(started.elapsed() < PATIENCE, "raised should be {raised}: {printed}");
        pause(Duration::from_millis(100)).await;
    }
}

/// A small tmpfs.
struct SmallDisk {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl SmallDisk {
    fn mount(size: &str) -> SmallDisk {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("disk");
        std::fs::create_dir(&path).expect("a folder to mount on");
        let options = format!("size={size}");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&path).status();
        assert!(
            mounted.is_ok_and(|status| status.success()),
            "mounting a small disk needs root: run the tests as root"
        );
        SmallDisk { path, _folder: folder }
    }

    /// Fills the disk until `free` bytes are left. Returns the file that takes the rest.
    fn fill_up_to(&self, free: u64) -> PathBuf {
        let path = self.path.join("ballast");
        let room = free_bytes(&self.path).saturating_sub(free);
        std::fs::write(&path, vec![0; usize::try_from(room).expect("a small disk")]).expect("ballast fits");
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("-l").arg(&self.path).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

fn free_bytes(path: &Path) -> u64 {
    let printed =
        Command::new("df").args(["--output=avail", "-B1"]).arg(path).output().expect("df is everywhere");
    let text = String::from_utf8_lossy(&printed.stdout).into_owned();
    text.lines().last().and_then(|line| line.trim().parse().ok()).expect("df prints a number")
}
