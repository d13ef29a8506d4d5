//! Unit tests of `nodes.rs`.

use super::*;
use crate::clock::Clock;
use crate::secrets::Pepper;
use hermod_domain::catalogue::Catalogue;
use hermod_domain::time::Timestamp;
use hermod_store::{OpenOptions, Store};
use std::time::Duration;

const ACME: CarrierId = CarrierId::new(1);

fn node() -> (Gateway, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::manual(Timestamp::from_millis(1_794_700_800_000));
    let options = OpenOptions {
        folder: folder.path().to_owned(),
        server: None,
        low_water_bytes: 0,
        in_doubt_wait: Duration::from_secs(1),
        record: false,
        now: clock.now(),
    };
    let store = Store::open(&options).unwrap();
    let minute = Duration::from_secs(60);
    let gateway = Gateway::new(clock, store, Pepper::new(b"pepper"), Catalogue::default(), minute);
    gateway.carriers.open(ACME, "acme");
    (gateway, folder)
}

fn queue_at(gateway: &Gateway) -> u64 {
    gateway.carriers.get(ACME).unwrap().queue().waiting
}

#[test]
fn queues_are_those_of_the_node_with_the_engine() {
    let ((engine, _a), (other, _b)) = (node(), node());
    let waiting = |waiting| QueueStatus { waiting, ..QueueStatus::default() };
    engine.carriers.get(ACME).unwrap().set_queue(waiting(7));
    other.carriers.get(ACME).unwrap().set_queue(waiting(2));
    let written = |gateway, runs_engine| serde_json::to_vec(&notice_of(gateway, runs_engine)).unwrap();
    let (of_engine, of_other) = (written(&engine, true), written(&other, false));
    take_in_notices(&engine, true, &[of_other.clone(), of_engine.clone()]);
    take_in_notices(&other, false, std::slice::from_ref(&of_other));
    assert_eq!((queue_at(&engine), queue_at(&other)), (7, 2));
    take_in_notices(&other, false, &[b"of another release".to_vec(), of_other, of_engine]);
    assert_eq!(queue_at(&other), 7);
}
