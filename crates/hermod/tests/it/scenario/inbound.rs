//! Scenario steps about unassigned MO messages, given-up reports and webhook events.

use super::Scenario;
use crate::real_time::{PATIENCE, now, pause};
use crate::store_access::account_id;
use hermod_store::{ReportGiveUpReason, WebhookFilter, WebhookRecord};
use std::time::Duration;

impl Scenario {
    /// Returns the texts of unassigned messages.
    pub(crate) async fn unassigned_texts(&self) -> Vec<String> {
        let unowned = self.gateway().store.inbound().unassigned(None, 100).await.expect("the store answers");
        unowned.into_iter().map(|message| message.text).collect()
    }

    /// Waits until alice's only webhook event is so, and returns it.
    pub(crate) async fn wait_for_webhook_event(
        &self,
        is_so: impl Fn(&WebhookRecord) -> bool,
    ) -> WebhookRecord {
        let store = &self.gateway().store;
        let (account, started) = (account_id(store).await, now());
        loop {
            let events = store.webhooks().list(account, WebhookFilter::default(), None, 10).await;
            let mut events = events.expect("the store answers");
            assert!(events.len() < 2, "{events:?}");
            if let Some(event) = events.pop_if(|event| is_so(event)) {
                return event;
            }
            assert!(started.elapsed() < PATIENCE, "still {events:?}");
            pause(Duration::from_millis(20)).await;
        }
    }

    /// Returns the given-up reports with their reasons.
    pub(crate) async fn given_up(&self) -> Vec<String> {
        let given_up =
            self.gateway().store.reports().given_up(None, None, 100).await.expect("the store answers");
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
