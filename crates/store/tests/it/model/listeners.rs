//! What customers are told: everything the model owes them, each message's in order, and once if it was answered; and what
//! Alice's webhook is told.

use super::Pair;
use super::books::Owed;
use crate::hooking::{dlr, settling::settled};
use crate::reporting::{CONNECTION, news};
use crate::world::{ALICE, secs};
use hermod_domain::ids::MessageId;
use hermod_domain::receipt::ReportStatus;
use hermod_store::{AfterAttempt, ReportOutcome, WebhookFilter, WebhookStatus};

#[derive(Clone, Copy, Debug)]
pub(super) enum Heard {
    Everything,
    /// Not a byte of it was sent.
    NotYet,
}

impl Pair {
    pub(super) async fn hears(&mut self, heard: Heard) {
        self.is_posted_to(heard).await;
        let port = self.world.store.open_receiver(CONNECTION);
        let mut told: Vec<(MessageId, ReportStatus)> = Vec::new();
        while told.len() < self.books.owed.len() {
            let reports = self.world.takes(&port, 5).await;
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
        // Which message comes first is not the model's business.
        owed.sort_by_key(|(message, _)| *message);
        told.sort_by_key(|(message, _)| *message);
        assert_eq!(told, owed);
    }

    /// The webhook takes everything that is due, or nothing.
    async fn is_posted_to(&mut self, heard: Heard) {
        let due = self.world.due().await;
        match heard {
            Heard::Everything => {
                let posted: Vec<_> =
                    due.iter().map(|event| (dlr(event).message, dlr(event).status)).collect();
                self.world.has_posted(&due).await;
                self.books.posts.retain(|post| !posted.contains(post));
            }
            Heard::NotYet => {
                let later = AfterAttempt::RetryAt(self.world.now.plus(secs(50)));
                let failed = due.iter().map(|event| settled(event, 500, later, self.world.now)).collect();
                self.world.settles_all(failed).await;
            }
        }
    }

    pub(super) async fn compares_reports(&self) {
        // After a restart the store has yet to hear who has a webhook.
        self.world.tells_alice();
        let waiting = WebhookFilter { kind: None, status: Some(WebhookStatus::Waiting) };
        let waiting =
            self.world.store.webhook_events(ALICE, waiting, None, 500).await.expect("the store answers");
        let mut shown: Vec<_> =
            waiting.iter().map(|record| (record.message, record.status.map(ReportStatus::as_u8))).collect();
        let mut posts: Vec<_> =
            self.books.posts.iter().map(|(message, told)| (*message, Some(told.as_u8()))).collect();
        shown.sort_unstable();
        posts.sort_unstable();
        assert_eq!(shown, posts);
        let waiting = self.world.store.reports_waiting(CONNECTION).await.expect("the store answers");
        assert_eq!(waiting, u64::try_from(self.books.owed.len()).expect("few"));
    }
}
