//! Readers that keep the write-ahead log from being truncated: the real binary on a small disk, and another process that
//! reads its database or copies it.

use super::SmallDisk;
use crate::gateways::{self, Served};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::Customer;
use crate::store_access::audit_clean;
use hermod_simulator::carrier::{CarrierOptions, Script, SimulatedCarrier};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The size to which the log is truncated on a nearly full disk.
const SMALL_LOG_BYTES: u64 = 4 << 20;
const MESSAGES_MAX: usize = 20_000;
const SLOWER_FROM_LOG_BYTES: u64 = 20 << 20;

fn log_bytes(data: &Path) -> u64 {
    std::fs::metadata(data.join("hermod.db-wal")).map_or(0, |file| file.len())
}

/// Holds a snapshot of the database. The connection closes without a checkpoint, like that of a killed process.
fn hold_snapshot(data: &Path) -> Connection {
    let reader = Connection::open(data.join("hermod.db")).expect("the database opens");
    reader.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).expect("a setting");
    reader.execute_batch("BEGIN; SELECT count(*) FROM message").expect("a snapshot");
    reader
}

/// Sends until the disk is nearly full. Slower towards the end: the gateway checks the disk once a second, and a disk
/// this small must not be full before that.
async fn send_until_rejected(alice: &Customer, data: &Path) {
    for _ in 0..MESSAGES_MAX {
        if log_bytes(data) > SLOWER_FROM_LOG_BYTES {
            pause(Duration::from_millis(10)).await;
        }
        let reply = alice.send("+4915112345678", "the log grows").await;
        if reply.status == 503 {
            return;
        }
        // A read makes the writer flush, which makes the log longer.
        alice.status_record(&reply.accepted()).await;
    }
    panic!("the log never filled the disk");
}

fn alarms(data: &Path) -> String {
    let folder = data.to_str().expect("UTF-8");
    let printed = Command::new(env!("CARGO_BIN_EXE_hermod")).args(["alarms", "--data-dir", folder]).output();
    String::from_utf8(printed.expect("the binary runs").stdout).expect("UTF-8")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gateway_with_a_disk_filled_by_a_long_read_accepts_again_after_the_reader_ends_or_a_restart() {
    let carrier = SimulatedCarrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
    let disk = SmallDisk::mount("64m");
    let data = gateways::data_folder(&disk.path);
    let gateway = Served::start(&disk.path, carrier.addr());
    let alice = Customer::new("alice", gateway.address());

    let reader = hold_snapshot(&data);
    send_until_rejected(&alice, &data).await;
    assert!(log_bytes(&data) > 2 * SMALL_LOG_BYTES, "the log fills the disk");
    let started = now();
    while !alarms(&data).contains("store-log-large") {
        assert!(started.elapsed() < PATIENCE, "no alarm: {}", alarms(&data));
        pause(Duration::from_millis(200)).await;
    }
    drop(reader);
    let started = now();
    while alice.send("+4915112345678", "is there room?").await.status != 202 {
        assert!(started.elapsed() < PATIENCE, "still rejected with {} bytes of log", log_bytes(&data));
        pause(Duration::from_millis(100)).await;
    }
    let started = now();
    while log_bytes(&data) >= SMALL_LOG_BYTES || alarms(&data).contains("store-log-large") {
        assert!(started.elapsed() < PATIENCE, "{} bytes of log, {}", log_bytes(&data), alarms(&data));
        pause(Duration::from_millis(200)).await;
    }

    let reader = hold_snapshot(&data);
    send_until_rejected(&alice, &data).await;
    gateway.kill();
    drop(reader);
    assert!(log_bytes(&data) > 2 * SMALL_LOG_BYTES, "the log is as large after a kill");
    let gateway = Served::start(&disk.path, carrier.addr());
    let alice = Customer::new("alice", gateway.address());
    assert_eq!(alice.send("+4915112345678", "after the restart").await.status, 202);
    assert!(log_bytes(&data) < SMALL_LOG_BYTES, "{} bytes", log_bytes(&data));
    gateway.stop().await;
    audit_clean(&data);
    carrier.stop().await;
}

/// A child process that is killed on drop, also when stopped by SIGSTOP.
struct Stoppable(Child);

impl Stoppable {
    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
        assert!(sent.expect("kill is everywhere").success());
    }
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suspended_backup_does_not_stop_sending_and_completes_when_resumed() {
    let carrier = SimulatedCarrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
    // The disk has less space than the log of the messages below needs.
    let disk = SmallDisk::mount("96m");
    let data = gateways::data_folder(&disk.path);
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let copy = elsewhere.path().join("monday");
    let gateway = Served::start(&disk.path, carrier.addr());
    let alice = Customer::new("alice", gateway.address());
    let first = alice.send("+4915112345678", "before the backup").await.accepted();
    alice.status_of(&first).becomes("delivered").await;

    let mut command = Command::new(env!("CARGO_BIN_EXE_hermod"));
    command.args(["backup", "--data-dir"]).arg(&data).arg(&copy).stdout(Stdio::null());
    let mut backup = Stoppable(command.spawn().expect("the binary starts"));
    let draft = elsewhere.path().join("monday.partial");
    while !draft.exists() && !copy.exists() {
        pause(Duration::from_millis(1)).await;
    }
    backup.signal("-STOP");
    let written = std::fs::metadata(data.join("hermod.db")).expect("a database").len();
    for number in 0..2_000 {
        let answer = alice.send("+4915112345678", &format!("during the suspension {number}")).await;
        assert_eq!(answer.status, 202, "after {number} messages and {} bytes of log", log_bytes(&data));
    }
    backup.signal("-CONT");
    let status = tokio::task::spawn_blocking(move || backup.0.wait()).await.expect("no panic");
    assert!(status.expect("it ends").success());
    println!("the database had {written} bytes; the log has {}", log_bytes(&data));
    let report = hermod_store::Store::audit(&copy).expect("an audit of the copy");
    assert!(report.is_clean() && report.messages >= 1, "{report:#?}");
    assert!(copy.join("pepper.key").exists() && copy.join("operator.token").exists());
    gateway.stop().await;
    carrier.stop().await;
}
