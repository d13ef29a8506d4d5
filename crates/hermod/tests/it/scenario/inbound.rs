//! Scenario steps about unassigned MO messages and given-up reports.

use super::Scenario;
use hermod_store::ReportGiveUpReason;

impl Scenario {
    /// Returns the texts of unassigned messages.
    pub(crate) async fn unassigned_texts(&self) -> Vec<String> {
        let unowned = self.gateway().store.unassigned_inbound(None, 100).await.expect("the store answers");
        unowned.into_iter().map(|message| message.text).collect()
    }

    /// Returns the given-up reports with their reasons.
    pub(crate) async fn given_up(&self) -> Vec<String> {
        let given_up = self.gateway().store.given_up(None, None, 100).await.expect("the store answers");
        let told = given_up.into_iter().map(|report| {
            let what = report.status.map_or("MO", |status| status.word());
            match report.reason {
                ReportGiveUpReason::TooOld => format!("{what} too old"),
                ReportGiveUpReason::Refused(status) => {
                    format!("{what} the customer refused it with 0x{status:02X}")
                }
            }
        });
        told.collect()
    }
}
