//! Reports to binds and webhook events: all that the model expects, in order per message, and once if answered.

use super::Pair;
use super::expected::Owed;
use crate::reports::{CONNECTION, news};
use crate::webhook_queue::{dlr, results::settled};
use crate::world::{ALICE, secs};
use hermod_domain::ids::MessageId;
use hermod_domain::receipt::ReportStatus;
use hermod_store::{AfterAttempt, ReportOutcome, WebhookFilter, WebhookStatus};

#[derive(Clone, Copy, Debug)]
pub(super) enum Heard {
    Everything,
    /// The report was not sent.
    NotYet,
}

impl Pair {
    pub(super) async fn receive_reports(&mut self, heard: Heard) {
        self.post_events(heard).await;
        let port = self.world.store.open_receiver(CONNECTION);
        let mut told: Vec<(MessageId, ReportStatus)> = Vec::new();
        while told.len() < self.books.owed.len() {
            let reports = self.world.take_reports(&port, 5).await;
            told.extend(reports.iter().map(|report| (report.message, news(report).status)));
            let ids: Vec<_> = reports.iter().map(|report| report.id).collect();
            match heard {
                Heard::Everything => self.world.settle(&port, &ids, ReportOutcome::Accepted).await,
                Heard::NotYet => {
                    self.world.settle(&port, &ids, ReportOutcome::NotSent).await;
                    return;
                }
            }
        }
        let mut owed: Vec<_> =
            self.books.owed.drain(..).map(|Owed { message, told, .. }| (message, told)).collect();
        // The model does not define the order between messages.
        owed.sort_by_key(|(message, _)| *message);
        told.sort_by_key(|(message, _)| *message);
        assert_eq!(told, owed);
    }

    /// The webhook accepts all due events, or none.
    async fn post_events(&mut self, heard: Heard) {
        let due = self.world.due_events().await;
        match heard {
            Heard::Everything => {
                let posted: Vec<_> =
                    due.iter().map(|event| (dlr(event).message, dlr(event).status)).collect();
                self.world.settle_as_delivered(&due).await;
                self.books.posts.retain(|post| !posted.contains(post));
            }
            Heard::NotYet => {
                let later = AfterAttempt::RetryAt(self.world.now.plus(secs(50)));
                let failed = due.iter().map(|event| settled(event, 500, later, self.world.now)).collect();
                self.world.settle_events(failed).await;
            }
        }
    }

    pub(super) async fn compare_reports(&self) {
        let waiting = WebhookFilter { kind: None, status: Some(WebhookStatus::Waiting) };
        let waiting =
            self.world.store.webhooks().list(ALICE, waiting, None, 500).await.expect("the store answers");
        let mut shown: Vec<_> =
            waiting.iter().map(|record| (record.message, record.status.map(ReportStatus::as_u8))).collect();
        let mut posts: Vec<_> =
            self.books.posts.iter().map(|(message, told)| (*message, Some(told.as_u8()))).collect();
        shown.sort_unstable();
        posts.sort_unstable();
        assert_eq!(shown, posts);
        let waiting = self.world.store.reports().waiting(CONNECTION).await.expect("the store answers");
        assert_eq!(waiting, u64::try_from(self.books.owed.len()).expect("few"));
    }
}
