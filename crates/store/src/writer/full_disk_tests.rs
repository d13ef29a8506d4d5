//! Tests of what the writer keeps while the disk is full.

use super::*;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::HookKind;
use hermod_engine::ops::{Endpoint, EventId, HookNext, HookSettled};
use hermod_engine::webhooks::HookEnds;

fn posted(event: u64) -> HookEnds {
    let endpoint = Endpoint { account: AccountId::new(1), kind: HookKind::Dlr };
    let next = HookNext::Done;
    let settled = HookSettled { endpoint, event: EventId(event), failures: 0, attempt: None, next };
    HookEnds { settled: vec![settled], now: Timestamp::EPOCH }
}

#[test]
fn what_is_tried_again_is_not_counted_as_kept() {
    let mut full_disk = FullDisk::default();
    let ops = u64::try_from(BATCH_OPS_MAX).unwrap() + 3;
    full_disk.put_back((0..ops).map(|event| Op::Command(posted(event).into(), None)).collect());
    let one = posted(0).weight();
    assert_eq!(full_disk.hook_bytes, (BATCH_OPS_MAX + 3) * one);
    let first = full_disk.take();
    assert_eq!((first.len(), full_disk.hook_bytes), (BATCH_OPS_MAX, 3 * one));
    full_disk.put_back(first);
    assert_eq!(full_disk.hook_bytes, (BATCH_OPS_MAX + 3) * one);
    assert_eq!((full_disk.take().len(), full_disk.take().len(), full_disk.hook_bytes), (BATCH_OPS_MAX, 3, 0));
}
