//! A failed fsync ends the process at once, and everything acknowledged is on disk afterwards. The process is
//! this test binary again, running one test under `strace`, which makes the N-th fsync of each thread fail.

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_store::{Acceptance, Inbound, Store};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const STORY: &str = "faults::fsync::child_process_prints_what_was_acknowledged";
const FOLDER: &str = "HERMOD_STORY_FOLDER";
const SENT: u64 = 12;
/// sysexits.h: EX_IOERR.
const DISK_FAILED: i32 = 74;

#[expect(clippy::disallowed_methods, reason = "the parent test passes the folder in a variable")]
fn folder_from_parent() -> Option<PathBuf> {
    std::env::var(FOLDER).ok().map(PathBuf::from)
}

/// Runs by itself as an ordinary test, and as the child process of the next test.
#[tokio::test]
async fn child_process_prints_what_was_acknowledged() {
    if on_postgres("files of the embedded store") {
        return;
    }
    let own = TempDir::new().unwrap();
    let folder = folder_from_parent().unwrap_or_else(|| own.path().to_owned());
    let Ok(store) = Store::open(&options(&folder, noon())) else { std::process::exit(DISK_FAILED) };
    let world = World { folder: TempDir::new().unwrap(), store, now: noon() };
    world.pay_in(ALICE, 1_000_000_000).await;
    println!("\npaid in");
    let link = world.link_with_slots(100).await;
    for number in 0..SENT {
        let message = world.send(Acceptance { key: Some(key(number)), ..world.sms() }).await;
        println!("acknowledged {message}");
        let job = link.take_job().await;
        if number % 6 == 0 {
            println!("received {}", world.store.inbound().receive(inbound()).await.expect("an answer").id);
        }
        if number % 4 == 0 {
            link.accept(&job, &format!("id{number}")).await;
        }
    }
    world.store.close().await.unwrap();
    println!("closed");
    assert_eq!(Store::audit(&folder).unwrap().messages, SENT);
}

fn inbound() -> Inbound {
    Inbound {
        account: ALICE,
        from: "+4915112345678".to_owned(),
        to: "12345".to_owned(),
        text: "hi".to_owned(),
        received_at: noon(),
    }
}

fn strace() -> &'static str {
    let there = || Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success());
    if !there() {
        let _ = Command::new("apt-get").args(["install", "-y", "-q", "strace"]).output();
    }
    assert!(
        there(),
        "this test makes fsync fail with strace: install it (apt-get install strace) and allow ptrace"
    );
    "strace"
}

fn run_child_with_failing_fsync(folder: &Path, number: u32) -> (Output, bool) {
    let log = folder.join("strace.log");
    let output = Command::new(strace())
        .args(["-f", "-o"])
        .arg(&log)
        .arg(format!("-einject=fsync,fdatasync:error=EIO:when={number}"))
        .arg("-etrace=fsync,fdatasync")
        .arg(std::env::current_exe().expect("this binary"))
        .args([STORY, "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder.join("data"))
        .output()
        .expect("strace runs");
    let injected = std::fs::read_to_string(&log).expect("what strace saw").contains("(INJECTED)");
    (output, injected)
}

#[test]
fn failed_fsync_ends_the_process_and_no_acknowledged_message_is_lost() {
    if on_postgres("files of the embedded store") {
        return;
    }
    let mut failed = 0;
    // The first faults hit the opening, the next ones the commits, the last ones the final checkpoint.
    for number in [1, 2, 5, 8, 11, 14, 16, 17, 18] {
        let folder = TempDir::new().unwrap();
        let (output, injected) = run_child_with_failing_fsync(folder.path(), number);
        let printed = String::from_utf8_lossy(&output.stdout);
        let expected = if injected { DISK_FAILED } else { 0 };
        assert_eq!(
            output.status.code(),
            Some(expected),
            "fsync {number}: {printed} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        failed += u32::from(injected);
        let acknowledged: Vec<MessageId> = printed
            .lines()
            .filter_map(|line| line.strip_prefix("acknowledged "))
            .map(|id| MessageId::parse(id).unwrap())
            .collect();
        let received = printed.lines().filter(|line| line.starts_with("received ")).count();
        check_store(&folder.path().join("data"), printed.contains("paid in"), &acknowledged, received);
    }
    assert!(failed >= 7, "only {failed} faults were injected");
}

fn check_store(folder: &Path, paid_in: bool, acknowledged: &[MessageId], received: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = Store::open(&options(folder, noon())).expect("it opens again");
        for id in acknowledged {
            assert!(
                store.messages().find(ALICE, *id).await.expect("an answer").is_some(),
                "{id} was acknowledged and is lost"
            );
        }
        let report = Store::audit(folder).expect("an audit");
        assert!(report.is_clean(), "{:?}", report.violations);
        let stored = i64::try_from(report.messages).expect("few");
        assert!(
            stored <= i64::try_from(acknowledged.len()).expect("few") + 1,
            "one acceptance may have been in progress"
        );
        let balance = store.money().balance(ALICE).await.expect("an answer").balance.as_micros();
        assert!(balance == 1_000_000_000 - stored * PRICE || (!paid_in && balance == 0), "{balance}");
        let inbound = store.inbound().list(ALICE, 0, 100).await.expect("an answer").len();
        assert!((received..=received + 1).contains(&inbound), "{inbound} of {received}");
        store.close().await.expect("it closes");
    });
}
