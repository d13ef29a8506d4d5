//! The crash rig with the record: after each kill the next process catches up, and then the record agrees with the store.

use super::{Chance, Customer};
use crate::gateways::{Served, data_folder};
use crate::real_time::{PATIENCE, now, pause};
use crate::store_access::{audit_clean, number_from};
use hermod_simulator::carrier::{CarrierOptions, Outcome, RecordMode, Script, SimulatedCarrier};
use hermod_store::RecordAudit;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const CYCLES: u64 = 5;
/// The lifetime of a process before it is killed, drawn for each cycle.
const LIFE_MS: std::ops::Range<u64> = 300..2_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn record_agrees_with_the_store_again_after_each_kill() {
    let cycles = number_from("HERMOD_CRASH_CYCLES").unwrap_or(CYCLES);
    let mut chance = Chance(number_from("HERMOD_CRASH_SEED").unwrap_or(20_261_118));
    let script = Script::new().receipt_after(Duration::from_millis(50), Outcome::Delivered);
    let options = CarrierOptions { record: RecordMode::Compact, ..CarrierOptions::new(script) };
    let carrier = SimulatedCarrier::start(options).await.expect("a free port");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let customer = Customer::default();
    for cycle in 0..cycles {
        let gateway = Served::start(folder.path(), carrier.addr());
        let life = Duration::from_millis(chance.within(LIFE_MS));
        customer.send_until_killed(gateway, life).await;

        let gateway = Served::start(folder.path(), carrier.addr());
        let waited = wait_until_caught_up(folder.path()).await;
        gateway.stop().await;
        let audit = audit_clean(&data_folder(folder.path()));
        println!("cycle {}: {} messages, caught up after {waited:?}", cycle + 1, audit.messages);
        assert_eq!(audit.record, RecordAudit::Compared { messages: audit.messages });
    }
    carrier.stop().await;
}

/// PendingQueries the gateway, as an operator would. Returns how long it took.
async fn wait_until_caught_up(folder: &Path) -> Duration {
    let started = now();
    loop {
        let mut status = Command::new(env!("CARGO_BIN_EXE_hermod"));
        status.args(["record", "status", "--json", "--data-dir"]).arg(data_folder(folder));
        let output = status.output().expect("the binary starts");
        let status: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a status in JSON");
        let waited = started.elapsed();
        if status["catching_up"] == 0 {
            return waited;
        }
        assert!(waited < PATIENCE, "the record is still behind after {waited:?}: {status}");
        pause(Duration::from_millis(100)).await;
    }
}
