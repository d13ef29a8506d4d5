//! A link to a carrier, driven by a test.

use crate::world::{PATIENCE, answer, receipt, remote, sequences, within};
use hermod_domain::ids::CarrierId;
use hermod_domain::lifecycle::DeliveryOutcome;
use hermod_domain::time::Timestamp;
use hermod_store::{
    Handout, Job, LinkPort, ReceiptOutcome, ReceiptRecord, ResponseRecord, StoreError, SubmitResponse,
};
use std::time::Duration;

/// A bound link, driven by the test.
pub(crate) struct Link {
    pub(crate) port: LinkPort,
    pub(crate) carrier: CarrierId,
    pub(crate) now: Timestamp,
}

impl Link {
    pub(crate) async fn add_slots(&self, slots: u32) {
        self.port.record(Vec::new(), Vec::new(), Vec::new(), slots, self.now).await.expect("a report");
    }

    /// Returns the next handout; panics if there is none.
    pub(crate) async fn take_handout(&self) -> Handout {
        let handed = within(PATIENCE, self.port.handout()).await;
        handed.expect("a handout")
    }

    /// Returns the sequence numbers of recorded receipts.
    pub(crate) async fn take_recorded(&self) -> Vec<u32> {
        sequences(&self.take_handout().await)
    }

    /// Returns the fates of recorded receipts.
    pub(crate) async fn take_fates(&self) -> Vec<ReceiptOutcome> {
        self.take_handout().await.recorded.iter().map(|recorded| recorded.outcome).collect()
    }

    /// Takes `count` jobs, in any number of handouts.
    pub(crate) async fn take_jobs(&self, count: usize) -> Vec<Job> {
        let mut jobs = Vec::new();
        while jobs.len() < count {
            jobs.extend(self.take_handout().await.jobs);
        }
        assert_eq!(jobs.len(), count);
        jobs
    }

    pub(crate) async fn take_job(&self) -> Job {
        self.take_jobs(1).await.remove(0)
    }

    /// Asserts that there is no handout. Call it after `flush`.
    pub(crate) async fn assert_idle(&self) {
        let handed = within(Duration::ZERO, self.port.handout()).await;
        assert!(handed.is_err(), "handed out: {handed:?}");
    }

    pub(crate) async fn answer(&self, job: &Job, said: SubmitResponse) {
        self.respond(vec![answer(job, said)], Vec::new()).await;
    }

    pub(crate) async fn accept(&self, job: &Job, id: &str) {
        self.answer(job, SubmitResponse::Accepted(remote(id))).await;
    }

    pub(crate) async fn receipt(&self, id: &str, verdict: DeliveryOutcome) {
        self.respond(Vec::new(), vec![receipt(1, id, verdict)]).await;
    }

    pub(crate) async fn respond(&self, answers: Vec<ResponseRecord>, receipts: Vec<ReceiptRecord>) {
        self.port.record(answers, receipts, Vec::new(), 0, self.now).await.expect("a report");
    }

    pub(crate) async fn close(&self) -> Result<Handout, StoreError> {
        self.port.close().await
    }
}
