//! Purges data that is past its retention, in short transactions.

use crate::error::StoreError;
use crate::sql::purging;
use crate::store::Store;
use hermod_domain::time::Timestamp;
use hermod_engine::commands::{ExpireKeys, PurgeCarrierIds, PurgeInbound, PurgeRecords, PurgeTexts};
use hermod_engine::ops::{Purged, Retention};

/// The first error of a purge.
#[derive(Default)]
struct FirstError(Option<StoreError>);

impl FirstError {
    /// Returns the count of a step, or 0 if it failed.
    fn count(&mut self, done: Result<u64, StoreError>) -> u64 {
        done.unwrap_or_else(|error| {
            self.0.get_or_insert(error);
            0
        })
    }
}

impl Store {
    /// Deletes a bounded number of rows of each kind that are past their retention, in one short transaction per kind. Call it
    /// again after a pause until it returns nothing. An error in one kind does not stop the others; it is returned if no
    /// other kind deleted anything, and logged otherwise.
    pub async fn purge(&self, keep: Retention, now: Timestamp) -> Result<Purged, StoreError> {
        let mut errors = FirstError::default();
        let texts = self.request(PurgeTexts { keep, now }).await;
        let keys = self.request(ExpireKeys { keep, now }).await;
        let carrier_ids = self.request(PurgeCarrierIds { now }).await;
        let records = self.request(PurgeRecords { keep, now }).await;
        let purged = Purged {
            texts: errors.count(texts),
            keys: errors.count(keys.map(u64::from)),
            messages: errors.count(records),
            inbound: errors.count(self.purge_inbound(now.minus(keep.inbound)).await),
            carrier_ids: errors.count(carrier_ids),
            webhook_events: errors.count(self.purge_webhooks(now).await),
            given_up_reports: errors.count(self.purge_given_up(now).await),
        };
        self.purge_record(keep, now);
        if purged.texts > 0 {
            // The database has deleted them; the journal may still have them if few messages are sent.
            self.inner.access.shared.disk.request_daily_truncation(now);
        }
        match errors.0 {
            Some(error) if purged.is_nothing() => Err(error),
            Some(error) => {
                tracing::error!(%error, "Purging one kind of data failed; it is retried with the next call");
                Ok(purged)
            }
            None => Ok(purged),
        }
    }

    async fn purge_inbound(&self, before: Timestamp) -> Result<u64, StoreError> {
        // A reader finds the account, because there may be many.
        let old = self.read(move |database| purging::account_with_old_inbound(database, before)).await?;
        let Some(account) = old else { return Ok(0) };
        self.request(PurgeInbound { account, before }).await
    }
}
