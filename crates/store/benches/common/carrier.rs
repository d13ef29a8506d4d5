//! A carrier that accepts every part and delivers it.

use hermod_domain::ids::RemoteId;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::receipt::ReceiptWords;
use hermod_store::{Job, ReceiptRecord, ResponseRecord, SubmitResponse};

fn remote(job: &Job) -> RemoteId {
    let mixed = job.message.as_i64().cast_unsigned().wrapping_mul(0xD6E8_FEB8_6659_FD93);
    RemoteId::from_text(&format!("{mixed:016x}")).expect("an id")
}

pub(crate) fn response(job: &Job) -> ResponseRecord {
    let response = SubmitResponse::Accepted(remote(job));
    let Job { message, part, account, to, .. } = *job;
    ResponseRecord { message, part, account, to, response, failover_to: None }
}

pub(crate) fn receipt(job: &Job) -> ReceiptRecord {
    ReceiptRecord {
        sequence: 1,
        remote: Some(remote(job)),
        verdict: DeliveryOutcome::Delivered,
        err: 0,
        word: None,
        words: ReceiptWords::default(),
        source: Some(job.to),
        sender: Some(job.from),
    }
}
