//! What customers are told: everything the model owes them, each message's in order, and once if it was answered.

use super::Pair;
use super::books::Owed;
use crate::reporting::CONNECTION;
use hermod_domain::ids::MessageId;
use hermod_domain::origin::Told;
use hermod_store::Delivery;

#[derive(Clone, Copy, Debug)]
pub(super) enum Heard {
    Everything,
    /// Not a byte of it was sent.
    NotYet,
}

impl Pair {
    pub(super) async fn hears(&mut self, heard: Heard) {
        let port = self.world.store.open_receiver(CONNECTION);
        let mut told: Vec<(MessageId, Told)> = Vec::new();
        while told.len() < self.books.owed.len() {
            let reports = self.world.takes(&port, 5).await;
            told.extend(reports.iter().map(|report| (report.message, report.told)));
            let ids: Vec<_> = reports.iter().map(|report| report.id).collect();
            match heard {
                Heard::Everything => self.world.settle(&port, &ids, Delivery::Done).await,
                Heard::NotYet => {
                    self.world.settle(&port, &ids, Delivery::NotSent).await;
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

    pub(super) async fn compares_reports(&self) {
        let waiting = self.world.store.reports_waiting(CONNECTION).await.expect("the store answers");
        assert_eq!(waiting, u64::try_from(self.books.owed.len()).expect("few"));
    }
}
