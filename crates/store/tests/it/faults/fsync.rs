//! A failed fsync ends the process at once, and nothing was acknowledged that is not there afterwards. The process is
//! this test binary again, running one story under `strace`, which makes the N-th fsync of each thread fail.

use crate::world::*;
use hermod_domain::ids::MessageId;
use hermod_store::{Acceptance, Inbound, Store};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const STORY: &str = "faults::fsync::a_story_that_says_what_was_acknowledged";
const FOLDER: &str = "HERMOD_STORY_FOLDER";
const SENT: u64 = 12;
/// sysexits.h: EX_IOERR.
const DISK_FAILED: i32 = 74;

#[expect(clippy::disallowed_methods, reason = "how the test that starts this one says where")]
fn folder_of_the_story() -> Option<PathBuf> {
    std::env::var(FOLDER).ok().map(PathBuf::from)
}

/// By itself an ordinary test; under `strace` the witness of one.
#[tokio::test]
async fn a_story_that_says_what_was_acknowledged() {
    let own = TempDir::new().unwrap();
    let folder = folder_of_the_story().unwrap_or_else(|| own.path().to_owned());
    let Ok(store) = Store::open(&options(&folder, noon())) else { std::process::exit(DISK_FAILED) };
    let world = World { folder: TempDir::new().unwrap(), store, now: noon() };
    world.pays_in(ALICE, 1_000_000_000).await;
    println!("\npaid in");
    let link = world.link_with_room(100).await;
    for number in 0..SENT {
        let message = world.sends(Acceptance { key: Some(key(number)), ..world.sms() }).await;
        println!("acknowledged {message}");
        let job = link.takes_job().await;
        if number % 6 == 0 {
            println!("received {}", world.store.receive(inbound()).await.expect("an answer").id);
        }
        if number % 4 == 0 {
            link.accepts(&job, &format!("id{number}")).await;
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

fn story_with_failing_fsync(folder: &Path, number: u32) -> (Output, bool) {
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
fn a_failed_fsync_ends_the_process_and_nothing_acknowledged_is_lost() {
    let mut failed = 0;
    // The first few hit the opening, the next the commits, the last the checkpoint at the end.
    for number in [1, 2, 5, 8, 11, 14, 16, 17, 18] {
        let folder = TempDir::new().unwrap();
        let (output, injected) = story_with_failing_fsync(folder.path(), number);
        let told = String::from_utf8_lossy(&output.stdout);
        let expected = if injected { DISK_FAILED } else { 0 };
        assert_eq!(
            output.status.code(),
            Some(expected),
            "fsync {number}: {told} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        failed += u32::from(injected);
        let acknowledged: Vec<MessageId> = told
            .lines()
            .filter_map(|line| line.strip_prefix("acknowledged "))
            .map(|id| MessageId::parse(id).unwrap())
            .collect();
        let received = told.lines().filter(|line| line.starts_with("received ")).count();
        check_what_is_left(&folder.path().join("data"), told.contains("paid in"), &acknowledged, received);
    }
    assert!(failed >= 7, "only {failed} of the faults were met");
}

fn check_what_is_left(folder: &Path, paid_in: bool, acknowledged: &[MessageId], received: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = Store::open(&options(folder, noon())).expect("it opens again");
        for id in acknowledged {
            assert!(
                store.message(ALICE, *id).await.expect("an answer").is_some(),
                "{id} was acknowledged and is lost"
            );
        }
        let report = Store::audit(folder).expect("an audit");
        assert!(report.is_clean(), "{:?}", report.violations);
        let stored = i64::try_from(report.messages).expect("few");
        assert!(stored <= i64::try_from(acknowledged.len()).expect("few") + 1, "one may have been under way");
        let balance = store.balance(ALICE).await.expect("an answer").balance.as_micros();
        assert!(balance == 1_000_000_000 - stored * PRICE || (!paid_in && balance == 0), "{balance}");
        let inbound = store.inbound(ALICE, 0, 100).await.expect("an answer").len();
        assert!((received..=received + 1).contains(&inbound), "{inbound} of {received}");
        store.close().await.expect("it closes");
    });
}
