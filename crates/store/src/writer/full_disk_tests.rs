//! Unit tests of `full_disk.rs`.

use super::*;
use hermod_domain::ids::AccountId;
use hermod_domain::time::Timestamp;
use hermod_domain::webhook::WebhookKind;
use hermod_engine::ops::{AfterAttempt, Endpoint, EventId, SettledAttempt};
use hermod_engine::webhooks::WebhookResults;

fn posted(event: u64) -> WebhookResults {
    let endpoint = Endpoint { account: AccountId::new(1), kind: WebhookKind::Dlr };
    let next = AfterAttempt::Delivered;
    let settled = SettledAttempt { endpoint, event: EventId(event), failures: 0, attempt: None, next };
    WebhookResults { settled: vec![settled], now: Timestamp::EPOCH }
}

#[test]
fn operations_taken_for_a_retry_do_not_count_as_kept() {
    let mut full_disk = FullDisk::default();
    let ops = u64::try_from(BATCH_OPS_MAX).unwrap() + 3;
    full_disk.put_back((0..ops).map(|event| Op::Command(posted(event).into(), None)).collect());
    let one = posted(0).weight();
    assert_eq!(full_disk.webhook_bytes, (BATCH_OPS_MAX + 3) * one);
    let first = full_disk.take();
    assert_eq!((first.len(), full_disk.webhook_bytes), (BATCH_OPS_MAX, 3 * one));
    full_disk.put_back(first);
    assert_eq!(full_disk.webhook_bytes, (BATCH_OPS_MAX + 3) * one);
    assert_eq!(
        (full_disk.take().len(), full_disk.take().len(), full_disk.webhook_bytes),
        (BATCH_OPS_MAX, 3, 0)
    );
}
