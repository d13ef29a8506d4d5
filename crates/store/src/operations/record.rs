//! Operations on the record: how far it is, what is happening now, searches, histories of messages, statistics and the request log.

use crate::error::StoreError;
use crate::operations::RecordStore;
use crate::record::database::erasing;
use crate::record::database::purging::RecordRetention;
use crate::record::database::requests::FoundRequests;
use crate::record::database::search::Found;
use crate::record::database::text::{Needle, TextMatches};
use crate::record::database::timeline::{add_lines, has_gap};
use crate::record::database::{text, timeline};
use crate::record::{
    Count, Currencies, Figures, LiveWatch, MessageFilter, MessageHistory, MessagePage, RecordErasure,
    RecordStatus, RequestEntry, RequestFilter, RequestGroup, RequestPage, Resolution, RunningRecord, Scope,
    SearchLimits, StatisticRow, StatisticsQuery, TextPage, TextQuery, WATCHERS_MAX,
};
use crate::sql::nodes;
use hermod_domain::ids::{AccountId, MessageId};
use hermod_domain::money::Currency;
use hermod_domain::time::Timestamp;
use hermod_engine::ops::Retention;
use std::time::Duration;

/// The longest time range of a text search.
const TEXT_RANGE_MAX: Duration = Duration::from_secs(7 * 86_400);
/// Pauses between two looks whether the feed has what another node has committed, and how many.
const ENGINE_POLL: Duration = Duration::from_millis(5);
const ENGINE_POLLS_MAX: usize = 600;

impl<'s> RecordStore<'s> {
    /// Whether the store keeps the record.
    pub fn is_kept(self) -> bool {
        self.0.inner.access.shared.feed.is_followed()
    }

    /// Adds a line to the request log of the record. Does not wait.
    pub fn note_request(self, entry: RequestEntry) {
        self.0.inner.access.shared.feed.push_request(entry);
    }

    /// Returns how far the record is.
    pub fn status(self) -> RecordStatus {
        match &self.0.inner.record {
            Some(record) => record.following.status(&self.0.inner.access.shared.feed),
            None => RecordStatus { is_off: true, ..RecordStatus::default() },
        }
    }

    /// Waits until everything that was committed before this call is in the record.
    pub async fn flush(self) -> Result<(), StoreError> {
        let record = self.running()?;
        self.wait_for_the_engine().await?;
        record.following.complete(&self.0.inner.access.shared.feed).await
    }

    /// Waits until the feed has what the engine of another node has committed. Not for long: without a connection it is read from
    /// the tables.
    #[expect(clippy::disallowed_methods, reason = "another process commits in real time")]
    async fn wait_for_the_engine(self) -> Result<(), StoreError> {
        if self.0.runs_engine() {
            return Ok(());
        }
        let feed = &self.0.inner.access.shared.feed;
        let commits = self.0.read(nodes::commits).await?;
        for _ in 0..ENGINE_POLLS_MAX {
            if feed.sequence() >= commits {
                break;
            }
            tokio::time::sleep(ENGINE_POLL).await;
        }
        Ok(())
    }

    /// Deletes the record, and makes the follower fill it again from the store. [`RecordStore::status`] says how far it is.
    pub async fn rebuild(self) -> Result<(), StoreError> {
        self.running()?.following.rebuild(&self.0.inner.access.shared.feed);
        Ok(())
    }

    /// Begins to watch what is recorded. Frames after the number `after` that are still kept come first.
    pub fn watch(self, scope: Scope, after: Option<u64>) -> Result<LiveWatch, StoreError> {
        let hub = &self.running()?.following.hub;
        hub.watch(scope, after).map_err(|_| StoreError::TooManyWatchers(WATCHERS_MAX))
    }

    /// Makes the follower delete what is past its retention. [`Store::purge`](crate::operations::Store::purge) does it on the node with
    /// the engine.
    pub fn purge(self, keep: Retention, now: Timestamp) {
        if let Some(record) = &self.0.inner.record {
            let Retention { messages, requests, .. } = keep;
            let [messages_before, requests_before] = [messages, requests].map(|period| now.minus(period));
            record.following.purge(RecordRetention { messages_before, requests_before, now });
        }
    }

    /// Erases in the record, also in one that is not kept now.
    pub(super) async fn erase(self, erased: RecordErasure) -> Result<(), StoreError> {
        if let Some(record) = &self.0.inner.record {
            self.wait_for_the_engine().await?;
            record.following.erase(&self.0.inner.access.shared.feed, erased).await?;
            return Ok(());
        }
        let folder = self.0.inner.access.shared.disk.folder().to_owned();
        let erasing = tokio::task::spawn_blocking(move || erasing::erase_in_unused(&folder, &erased));
        erasing.await.map_err(|_| StoreError::damaged("the task that erased in the record panicked"))??;
        Ok(())
    }

    /// Returns the record. Fails with [`StoreError::RecordOff`] if the store keeps none.
    pub(super) fn running(self) -> Result<&'s RunningRecord, StoreError> {
        self.0.inner.record.as_ref().ok_or(StoreError::RecordOff)
    }
}

/// Each fails with [`StoreError::RecordOff`] if the store keeps no record.
impl RecordStore<'_> {
    /// Returns a page of the messages that a filter finds, newest first.
    pub async fn search_messages(
        self,
        scope: Scope,
        filter: MessageFilter,
        limits: SearchLimits,
    ) -> Result<MessagePage, StoreError> {
        let Found { rows, next, searched_to } = self.running()?.readers.search(scope, filter, limits).await?;
        Ok(MessagePage { rows, next, searched_to, status: self.status() })
    }

    /// Counts the messages that a filter finds. A search that would have to look at too many rows returns how many it
    /// found until then.
    pub async fn count_messages(self, scope: Scope, filter: MessageFilter) -> Result<Count, StoreError> {
        self.running()?.readers.count(scope, filter).await
    }

    /// Returns everything that happened to one message; none if there is none with this id in the scope. Where steps are
    /// missing, it has the lines of the store's own timeline. If the record does not have the message yet, this waits until
    /// the record has everything that was committed before.
    pub async fn message_history(
        self,
        scope: Scope,
        id: MessageId,
    ) -> Result<Option<MessageHistory>, StoreError> {
        let (record, status) = (&self.running()?.readers, self.status());
        let mut found = record.history(scope, id).await?;
        if found.is_none() && !status.lag.is_zero() && status.catching_up == 0 {
            self.flush().await?;
            found = record.history(scope, id).await?;
        }
        let Some(mut history) = found else { return Ok(None) };
        history.status = self.status();
        if has_gap(&history) {
            add_lines(&mut history, self.0.read(move |database| timeline::stored_lines(database, id)).await?);
        }
        Ok(Some(history))
    }

    /// Searches the texts of one account's messages, newest first, in one slice: it ends after a limited number of texts
    /// or a limited time. The next slice begins `before` the message in [`TextPage::next`].
    pub async fn search_text(
        self,
        account: AccountId,
        query: TextQuery,
        before: Option<MessageId>,
        rows: u32,
    ) -> Result<TextPage, StoreError> {
        if query.until.since(query.from) > TEXT_RANGE_MAX {
            return Err(StoreError::TextRangeTooLong);
        }
        let record = &self.running()?.readers;
        let (from, needle) = (query.from, Needle::new(&query.text));
        let candidates = record.text_candidates(account, query, before).await?;
        let TextMatches { ids, looked_at, next } = self
            .0
            .read(move |database| text::match_texts(database, account, &candidates, &needle, rows))
            .await?;
        let rows = record.messages(account, ids).await?;
        let searched_to = next.map_or(from, MessageId::accepted_at);
        Ok(TextPage { rows, next, searched_to, looked_at, status: self.status() })
    }

    /// Returns the figures of each interval and value, oldest first, at most
    /// [`STATISTICS_ROWS_MAX`](crate::record::STATISTICS_ROWS_MAX).
    pub async fn statistics(
        self,
        scope: Scope,
        query: StatisticsQuery,
    ) -> Result<Vec<StatisticRow>, StoreError> {
        self.running()?.readers.statistics(scope, query).await
    }

    /// Returns the figures of each interval, value and currency over all accounts, oldest first.
    pub async fn statistics_by_currency(
        self,
        query: StatisticsQuery,
        currencies: Currencies,
    ) -> Result<Vec<(StatisticRow, Option<Currency>)>, StoreError> {
        self.running()?.readers.statistics_by_currency(query, currencies).await
    }

    /// Returns the figures of each of these accounts, the intervals of a time range added up.
    pub async fn account_figures(
        self,
        accounts: Vec<AccountId>,
        (resolution, from, until): (Resolution, Timestamp, Timestamp),
    ) -> Result<Vec<Figures>, StoreError> {
        self.running()?.readers.account_figures(accounts, (resolution, from, until)).await
    }

    /// Returns a page of the request log, newest first: lines with numbers below `before`.
    pub async fn request_log(
        self,
        scope: Scope,
        filter: RequestFilter,
        before: Option<u64>,
        rows: u32,
    ) -> Result<RequestPage, StoreError> {
        let FoundRequests { rows, next, .. } =
            self.running()?.readers.request_log(scope, filter, before, rows).await?;
        Ok(RequestPage { rows, next, status: self.status() })
    }

    /// Returns the rejected requests of a time range grouped by code, the most frequent first, each with its last example.
    pub async fn refusal_groups(
        self,
        scope: Scope,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<RequestGroup>, StoreError> {
        self.running()?.readers.refusal_groups(scope, from, until).await
    }
}
