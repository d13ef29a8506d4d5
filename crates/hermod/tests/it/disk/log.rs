//! Readers that keep the database's log from being emptied: the real binary on a small disk, and another process that
//! reads its database or copies it.

use super::SmallDisk;
use crate::assembly::{self, Served};
use crate::real_time::{PATIENCE, now, pause};
use crate::scenario::Customer;
use hermod_simulator::carrier::{Carrier, CarrierOptions, Script};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What a log may keep on a disk that is nearly full.
const SMALL_LOG_BYTES: u64 = 4 << 20;
const MESSAGES_MAX: usize = 20_000;
const SLOWER_FROM_LOG_BYTES: u64 = 20 << 20;

fn log_bytes(data: &Path) -> u64 {
    std::fs::metadata(data.join("hermod.db-wal")).map_or(0, |file| file.len())
}

/// A snapshot of the live database, held by this process. It leaves without tidying up, like one that is killed.
fn holds_a_snapshot(data: &Path) -> Connection {
    let reader = Connection::open(data.join("hermod.db")).expect("the database opens");
    reader.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).expect("a setting");
    reader.execute_batch("BEGIN; SELECT count(*) FROM message").expect("a snapshot");
    reader
}

/// Sends until the disk is nearly full. Slower towards the end: the gateway looks at the disk once a second, and a disk
/// this small must not be full before that.
async fn sends_until_refused(alice: &Customer, data: &Path) {
    for _ in 0..MESSAGES_MAX {
        if log_bytes(data) > SLOWER_FROM_LOG_BYTES {
            pause(Duration::from_millis(10)).await;
        }
        if alice.sends("+4915112345678", "the log grows").await.status == 503 {
            return;
        }
    }
    panic!("the log never filled the disk");
}

fn alarms(data: &Path) -> String {
    let folder = data.to_str().expect("UTF-8");
    let printed = Command::new(env!("CARGO_BIN_EXE_hermod")).args(["alarms", "--data-dir", folder]).output();
    String::from_utf8(printed.expect("the binary runs").stdout).expect("UTF-8")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gateway_refused_by_a_long_read_accepts_again_once_the_reader_has_gone_or_after_a_restart() {
    let carrier = Carrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
    let disk = SmallDisk::mount("64m");
    let data = assembly::data_folder(&disk.path);
    let gateway = Served::start(&disk.path, carrier.addr());
    let alice = Customer::new("alice", gateway.address());

    let reader = holds_a_snapshot(&data);
    sends_until_refused(&alice, &data).await;
    assert!(log_bytes(&data) > 2 * SMALL_LOG_BYTES, "it is the log that fills the disk");
    let started = now();
    while !alarms(&data).contains("store-log-large") {
        assert!(started.elapsed() < PATIENCE, "no alarm: {}", alarms(&data));
        pause(Duration::from_millis(200)).await;
    }
    drop(reader);
    let started = now();
    while alice.sends("+4915112345678", "is there room?").await.status != 202 {
        assert!(started.elapsed() < PATIENCE, "still refused with {} bytes of log", log_bytes(&data));
        pause(Duration::from_millis(100)).await;
    }
    let started = now();
    while log_bytes(&data) >= SMALL_LOG_BYTES || alarms(&data).contains("store-log-large") {
        assert!(started.elapsed() < PATIENCE, "{} bytes of log, {}", log_bytes(&data), alarms(&data));
        pause(Duration::from_millis(200)).await;
    }

    let reader = holds_a_snapshot(&data);
    sends_until_refused(&alice, &data).await;
    gateway.kill();
    drop(reader);
    assert!(log_bytes(&data) > 2 * SMALL_LOG_BYTES, "a kill leaves the log behind");
    let gateway = Served::start(&disk.path, carrier.addr());
    let alice = Customer::new("alice", gateway.address());
    assert_eq!(alice.sends("+4915112345678", "after the restart").await.status, 202);
    assert!(log_bytes(&data) < SMALL_LOG_BYTES, "{} bytes", log_bytes(&data));
    gateway.stop().await;
    let report = hermod_store::Store::audit(&data).expect("an audit");
    assert!(report.is_clean(), "{:#?}", report.violations);
    carrier.stop().await;
}

/// A child that does not outlive the test, even if it is stopped.
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
async fn stopped_backup_keeps_nothing_from_being_sent_and_completes_when_it_goes_on() {
    let carrier = Carrier::start(CarrierOptions::new(Script::new())).await.expect("a free port");
    // Room for less log than the messages below write.
    let disk = SmallDisk::mount("96m");
    let data = assembly::data_folder(&disk.path);
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let copy = elsewhere.path().join("monday");
    let gateway = Served::start(&disk.path, carrier.addr());
    let alice = Customer::new("alice", gateway.address());
    let first = alice.sends("+4915112345678", "before the backup").await.accepted();
    alice.sees(&first).becomes("delivered").await;

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
        let answer = alice.sends("+4915112345678", &format!("while it stands still {number}")).await;
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
